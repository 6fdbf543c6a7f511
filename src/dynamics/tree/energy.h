// SPDX-License-Identifier: Apache-2.0
/*
 * energy.h — energy and momentum of one instant by one sweep, for monitors, which always want both.
 */
#ifndef CALDER_DYNAMICS_TREE_ENERGY_H
#define CALDER_DYNAMICS_TREE_ENERGY_H

#include <calder/dynamics.h>

/* What cal_energy() and cal_momentum() give, to the last bit. */
void energy_and_momentum(const CalModel *model, const CalState *state, CalWork *work, CalEnergy *energy,
                         CalMomentum *momentum);

#endif
