// SPDX-License-Identifier: Apache-2.0
/*
 * forces.h — generalized forces of springs and dampers, and wrenches at nodes, for the algorithms.
 */
#ifndef CALDER_DYNAMICS_TREE_FORCES_H
#define CALDER_DYNAMICS_TREE_FORCES_H

#include <calder/dynamics.h>
#include "model/work.h"

/* Q[nu] += springs and dampers of joints, modes and links of the caller's own; work: scratch of the latter. */
void forces_add_elastic(const CalModel *model, const double *q, const double *u, const CalWork *work, double *Q);
/* Potential energy of the joint springs. */
double forces_elastic_energy(const CalModel *model, const double *q, const CalWork *work);
/* Power that dampers of joints, modes and links of the caller's own take. own[nu]: of these speeds alone; NULL: of all. */
double forces_damping_power(const CalModel *model, const double *q, const double *u, const uint8_t *own,
                            const CalWork *work);
/* work->tau = applied + elastic; applied may be NULL. */
void forces_total(const CalModel *model, const CalState *state, const double *applied, CalWork *work);
/* The same with linear springs, dampers and modes of `elastic` a time h later; work->rotor: with h D + h^2 K of joints. */
void forces_total_implicit(const CalModel *model, const CalState *state, const CalState *elastic, double h,
                           const double *applied, CalWork *work);
/* rotor[nu] of that alone. */
void forces_implicit_inertia(const CalModel *model, double h, double *rotor);

/* Every wrench refers to a node of the model and is finite in number; CAL_ERR_ARGUMENT otherwise. */
CalStatus forces_check(const CalModel *model, const CalInput *input);
/* A wrench in world axes at the origin of its node's link; needs poses. */
spatial forces_wrench_at_link(const CalModel *model, const CalWork *work, const CalWrench *wrench);

/* The applied wrench of a loop on its side B, at the point of the world where the origin of B is. Needs poses. */
spatial forces_applied_wrench(const CalModel *model, const CalWork *work, const Loop *loop, vec3 *point);
/*
 * All wrenches of the input and the known ones of loops at their links' origins, in work->force; NULL if there are none.
 * Needs poses.
 */
const spatial *forces_collect(const CalModel *model, const CalInput *input, CalWork *work);
/* tau[nu] += what the same wrenches do on the modes of flexible bodies. Needs poses. */
void forces_add_modal(const CalModel *model, const CalWork *work, const CalInput *input, double *tau);
/* The same of a single wrench. */
void forces_add_wrench_modal(const CalModel *model, const CalWork *work, const CalWrench *wrench, double *tau);

/* Power of the same wrenches [W]. Needs poses and velocities. */
double forces_power(const CalModel *model, const CalWork *work, const CalInput *input);

/* Springs, dampers or modes: forces_add_elastic() adds something. */
INLINE int forces_any_elastic(const CalModel *model) {
	return model->any_damping || model->spring_count || model->ball_spring_count || model->user_spring_count ||
	       model->flex_count;
}
/* What input prescribes: NULL if nothing is. */
const uint8_t *forces_prescribed(const CalModel *model, const CalInput *input);

#endif
