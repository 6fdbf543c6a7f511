// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_write.h — what the parts of the writer of SDFormat share (docs/export.md).
 */
#ifndef CALDER_IO_SDF_SDF_WRITE_H
#define CALDER_IO_SDF_SDF_WRITE_H

#include "io/export/export.h"

/** The name of a link, "world" for the ground. */
const char *sdf_link_name(const Export *ex, int link);
/** <pose>, relative to a link or frame where `relative_to` is not NULL; nothing for the identity. */
void sdf_put_pose(Export *ex, const dpose *X, const char *relative_to);

/** The same for frames that the motion depends on: where short angles have not the same bits, as a quaternion, `given` or of X. */
void sdf_put_frame(Export *ex, const dpose *X, CalQuat given, const char *relative_to);

/* ---- sdf_write_joint.c ---- */

void sdf_put_joint(Export *ex, const ExportLink *link);
void sdf_check_start(Export *ex, const ExportLink *link);

/* ---- sdf_write_loop.c ---- */

/** Couplings become axes that follow others; what is no joint in SDFormat is noted. Before joints are written. */
void sdf_sort_couplings(Export *ex);
void sdf_put_loops(Export *ex);
/** Whether a loop that could be a joint is closed in the pose of the file; true of others. */
bool sdf_loop_is_closed(const Export *ex, CalLoopId id);

/* ---- sdf_write_zero.c ---- */

/** Moves the zero of coordinates to where loops are closed, if they are not at zero. After sdf_sort_couplings(). */
void sdf_choose_zero(Export *ex);

#endif
