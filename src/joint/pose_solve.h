// SPDX-License-Identifier: Apache-2.0
/*
 * pose_solve.h — a joint the other way round: coordinates from a pose, speeds from a velocity, inboard and outboard
 * exchanged. What changes of topology are made of.
 *
 * A pose X_FJ is that of the moved frame J in the joint frame F; velocities are those of J relative to F at the origin of J,
 * components in F. Definitions are complete (joint_def_resolve).
 */
#ifndef CALDER_JOINT_POSE_SOLVE_H
#define CALDER_JOINT_POSE_SOLVE_H

#include "joint/joint_type.h"
#include "math/placement.h"

#if CAL_LANES == 1
/* The pose at q, and the columns S[nu] (or NULL). */
void joint_evaluate(const CalJointDef *def, const double *q, dpose *X, spatial *S);
/* Coordinates whose pose comes nearest to X. Returns what is left: the larger of distance [m] and angle [rad]. */
double joint_solve_pose(const CalJointDef *def, const dpose *X, double *q);
/* u[nu] whose velocity S u comes nearest to V, radians and meters counting alike. */
void joint_solve_speeds(const CalJointDef *def, const double *q, spatial V, double *u);
/* Wrenches at the origin of J that do no work in the joint: C[6], orthonormal. Returns how many. */
int joint_directions(const CalJointDef *def, const double *q, spatial *C);

/*
 * The same joint seen from the other side: F and J, inboard and outboard exchanged, coordinates and speeds with the same
 * meaning. Returns NULL, or why it cannot be.
 */
const char *joint_reverse(const CalJointDef *def, CalJointDef *reversed);
/* Coordinates and speeds of joint_reverse(def) in the state q, u of def; neither aliases. */
void joint_reverse_state(const CalJointDef *def, const double *q, const double *u, double *q_out, double *u_out);
/* Where degree of freedom `dof` of def is in joint_reverse(def). */
int joint_reverse_dof(const CalJointDef *def, int dof);

/* Angle of the turn of R about a unit vector that is nearest to it. */
double twist_about(dmat3 R, CalVec3 axis);
dmat3 matrix_about(CalVec3 axis, double angle);
#endif

#endif
