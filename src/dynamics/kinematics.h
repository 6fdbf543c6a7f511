// SPDX-License-Identifier: Apache-2.0
/*
 * kinematics.h — the outward sweeps behind cal_kinematics, for the algorithms that start from them.
 */
#ifndef CALDER_DYNAMICS_KINEMATICS_H
#define CALDER_DYNAMICS_KINEMATICS_H

#include "dynamics/sweep.h"

#if CAL_LANES == 1
/* Poses, velocities, and accelerations at udot = 0 without gravity. */
void kinematics_outward(const CalModel *model, const double *q, const double *u, CalWork *work);
/* What udot adds. */
void kinematics_accelerate(const CalModel *model, const double *udot, CalWork *work);
/* Position of a link's origin; needs poses only. */
vec3 kinematics_position(const CalModel *model, const CalWork *work, int link);
#endif

#endif
