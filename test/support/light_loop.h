// SPDX-License-Identifier: Apache-2.0
/*
 * light_loop.h — linkages of links of about the same mass, some of which are then made lighter by many decades.
 *
 * All are made in a state on their constraints, with the rows that a planar mechanism in space has too many.
 */
#ifndef TEST_SUPPORT_LIGHT_LOOP_H
#define TEST_SUPPORT_LIGHT_LOOP_H

#include "support/random_loop.h"

RefModel *light_ring(Rng *r);        // bars one after the other, the last pinned to the ground
RefModel *light_ladder(Rng *r);      // cranks on the ground, joined by couplers
RefModel *light_free_ladder(Rng *r); // the same on a free body
RefModel *light_feet(Rng *r);        // a chain of bodies on legs of two links, their feet pinned to the ground
RefModel *light_spatial(Rng *r);     // crank and rocker about skew axes, the coupler with a ball at either end
RefModel *light_carriers(Rng *r);    // a chain of bodies, each with a four-bar of its own

/** Some bodies lighter by the given factor; the first of them is never the base of all. */
void make_light(RefModel *m, Rng *r, double factor);

/** A mechanism with light links, its loops closed. */
Fixture *light_fixture(RefModel *(*make)(Rng *), uint64_t seed, int decades);

#endif
