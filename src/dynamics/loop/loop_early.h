// SPDX-License-Identifier: Apache-2.0
/*
 * loop_early.h — what joints inboard of an early place can still do about the equations of a loop [THEORY 5.9].
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_EARLY_H
#define CALDER_DYNAMICS_LOOP_LOOP_EARLY_H

#include "model/work.h"

#if CAL_LANES == 1
/* Whether any column between the ground and a link, its own included, works on a wrench at its origin [THEORY (5.32)]. */
int loop_reaches(const CalModel *model, CalWork *work, int link, spatial wrench);
#endif

#endif
