// SPDX-License-Identifier: Apache-2.0
/*
 * forward_implicit.h — linearly implicit dynamics with the forces of prescribed dofs.
 */
#ifndef CALDER_DYNAMICS_FORWARD_IMPLICIT_H
#define CALDER_DYNAMICS_FORWARD_IMPLICIT_H

#include <calder/dynamics.h>

/** cal_implicit_dynamics(), and force[nu] as of cal_hybrid_dynamics() (NULL: not wanted). */
CalStatus implicit_hybrid(const CalModel *model, const CalState *state, const CalState *elastic, const CalInput *input,
                          double h, CalWork *work, double *udot, double *force);

#endif
