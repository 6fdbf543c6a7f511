// SPDX-License-Identifier: Apache-2.0
/*
 * linkages.h — models that the tables build themselves, since their size is a parameter or they are too small for a file.
 */
#ifndef BENCH_TABLES_LINKAGES_H
#define BENCH_TABLES_LINKAGES_H

#include <calder/calder.h>

/** A point mass of 1 kg on a massless rod of 1 m (IFToMM A01), body "v", its mass at "v/end". NULL: no memory. */
CalDesc *linkage_pendulum(void);
/**
 * N four-bar windows (IFToMM A02): standing rods "v0" .. "vN", level rods "h1" .. "hN", all of 1 m and 1 kg; the right
 * hinge of each level rod is a loop between bodies. NULL: no memory.
 */
CalDesc *linkage_windows(int windows);

/** Rods named v.. at the angle th from level, the others level, and the rates that belong to them. */
void linkage_set_angle(const CalModel *model, double th, double rate, CalState *state);

#endif
