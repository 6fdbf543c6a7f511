// SPDX-License-Identifier: Apache-2.0
/*
 * urdf.h — the reader of URDF files (docs/urdf.md).
 */
#ifndef CALDER_IO_URDF_URDF_H
#define CALDER_IO_URDF_URDF_H

#include "io/import/import.h"

/** Fills im->setup from im->tree, whose root is <robot>. False: im->status and im->error are set. */
bool urdf_import(Import *im);

#endif
