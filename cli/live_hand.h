// SPDX-License-Identifier: Apache-2.0
/*
 * live_hand.h — what a page does to a simulation: a push on a body at a point, and sliders that pull joints to a place, like
 * critically damped springs. Both are one device, which reads what the last command said; it accounts for its work.
 */
#ifndef CALDER_CLI_LIVE_HAND_H
#define CALDER_CLI_LIVE_HAND_H

#include "cli.h"

typedef struct Hand Hand;

/** Before the simulation starts. NULL: error says why not. */
Hand *hand_create(const CalSetup *setup, CalSim *sim, CalError *error);
void hand_destroy(Hand *hand); // accepts NULL; the simulation must not be advanced after it
/** Between steps: does what a command says if it is about the hand. */
void hand_obey(Hand *hand, CalSim *sim, const char *command);

#endif
