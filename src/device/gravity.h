// SPDX-License-Identifier: Apache-2.0
/*
 * gravity.h — the fields of planets (devices of type gravity) at a place, for what is to feel no gravity.
 */
#ifndef CALDER_DEVICE_GRAVITY_H
#define CALDER_DEVICE_GRAVITY_H

#include <calder/devices.h>

/** Of all planets that act on a group, at a place of the world; with an orbit relative to the world's origin. Nonzero: failed. */
int gravity_field(CalEvalContext *context, int group, CalVec3 place, CalVec3 *g);

#endif
