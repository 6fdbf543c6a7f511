// SPDX-License-Identifier: Apache-2.0
/*
 * sdf.h — the reader of SDFormat files (docs/sdf.md).
 */
#ifndef CALDER_IO_SDF_SDF_H
#define CALDER_IO_SDF_SDF_H

#include "io/import/import.h"

/** Fills im->setup from im->tree, whose root is <sdf>. False: im->status and im->error are set. */
bool sdf_import(Import *im);

#endif
