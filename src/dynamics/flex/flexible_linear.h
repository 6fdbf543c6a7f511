// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_linear.h — elimination of many modes at a cost linear in their number, for forward dynamics.
 */
#ifndef CALDER_DYNAMICS_FLEX_FLEXIBLE_LINEAR_H
#define CALDER_DYNAMICS_FLEX_FLEXIBLE_LINEAR_H

#include "model/work.h"

#if CAL_LANES == 1
/* Inward through a NODE: its inertia and force wait for the body; nothing goes to the parent link. */
void LANED(linear_node)(const Link *link, CalWork *work, ArticulatedBody *total);
/* At the body: total holds its rigid side with own terms; becomes M^ and b^. Returns nonzero if singular. */
int LANED(linear_eliminate)(const CalModel *model, int f, const double *tau, CalWork *work, ArticulatedBody *total);
/* Outward: modal accelerations from A of B. */
void LANED(linear_accelerate)(const CalModel *model, int f, CalWork *work, spatial A, double *udot);
#endif

#endif
