// SPDX-License-Identifier: Apache-2.0
/*
 * format_types.h — the types of joints and loops in Markdown, as they stand in docs/format.md.
 */
#ifndef CALDER_IO_MODEL_SCHEMA_FORMAT_TYPES_H
#define CALDER_IO_MODEL_SCHEMA_FORMAT_TYPES_H

#include <stdio.h>

/* Each table between <!-- fields: NAME --> and <!-- end -->, NAME joint_types and loop_types. */
void format_write_types(FILE *out);

#endif
