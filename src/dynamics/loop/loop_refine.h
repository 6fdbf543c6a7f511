// SPDX-License-Identifier: Apache-2.0
/*
 * loop_refine.h — accelerations of models with loops made good where light links have cost digits.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_REFINE_H
#define CALDER_DYNAMICS_LOOP_LOOP_REFINE_H

#include "dynamics/loop/loop_residual.h"

#if CAL_LANES == 1
/*
 * Corrects udot and lambda of the last forward dynamics by what they leave of the equations, again and again as long as it
 * becomes less; work->tau is what was applied. The motion is that of the new udot; work->loops.error is an estimate of the
 * relative error that is left in udot and lambda.
 */
void loop_refine(const CalModel *model, const LoopRefine *at, CalWork *work);
#endif

#endif
