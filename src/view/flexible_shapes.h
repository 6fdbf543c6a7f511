// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_shapes.h — flexible bodies in pictures: the points that are drawn and how the modes move them.
 */
#ifndef CALDER_VIEW_FLEXIBLE_SHAPES_H
#define CALDER_VIEW_FLEXIBLE_SHAPES_H

#include <calder/replay.h>

#include "view/json_writer.h"

bool flexible_is(const CalDesc *desc, CalBodyId body);
/** Number of its modal coordinates, 0: it is rigid. */
int flexible_modes(const CalDesc *desc, CalBodyId body);
/** The key flexible, unless the body is rigid. */
CalStatus flexible_write(JsonWriter *d, const CalDesc *desc, CalBodyId body, CalError *error);
/** The key shapes of a node, unless its body does not move it. */
void flexible_write_node(JsonWriter *d, const CalDesc *desc, CalBodyId body, CalNodeId node);

#endif
