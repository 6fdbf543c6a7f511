// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf.h — the reader of MJCF files (docs/mjcf.md).
 */
#ifndef CALDER_IO_MJCF_MJCF_H
#define CALDER_IO_MJCF_MJCF_H

#include "io/import/import.h"

/** Fills im->setup from im->tree, whose root is <mujoco>. False: im->status and im->error are set. */
bool mjcf_import(Import *im);

#endif
