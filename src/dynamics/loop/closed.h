// SPDX-License-Identifier: Apache-2.0
/*
 * closed.h — M_c of calder/closed.h for the algorithms that are made of it: in linearly implicit steps too, under wrenches on
 * nodes, and as the compliance of nodes in one sweep along their paths where there are no loops.
 */
#ifndef CALDER_DYNAMICS_LOOP_CLOSED_H
#define CALDER_DYNAMICS_LOOP_CLOSED_H

#include <calder/closed.h>

#include "model/work.h"

#if CAL_LANES == 1
/* As cal_closed_factor(). h not 0: M + hD + h^2K of a linearly implicit step in place of M. */
CalStatus closed_factor(const CalModel *model, const CalState *state, const uint8_t *held, double h, CalWork *work);
/* x[nu] = M_c J'f of wrenches f on nodes, in world axes. After closed_factor(). */
CalStatus closed_response(const CalModel *model, CalWork *work, const CalWrench *wrenches, int count, double *x);
/* C[6 count][6 count] = J M_c J' of nodes, exactly symmetric. columns[nu (6 count + 1)] scratch. After closed_factor(). */
CalStatus closed_compliance(const CalModel *model, CalWork *work, const int *nodes, int count, double *columns,
                            double *C);
#endif

#endif
