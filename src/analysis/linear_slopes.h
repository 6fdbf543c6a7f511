// SPDX-License-Identifier: Apache-2.0
/*
 * linear_slopes.h — slopes of what is read of a simulation along one direction after the other.
 */
#ifndef CALDER_ANALYSIS_LINEAR_SLOPES_H
#define CALDER_ANALYSIS_LINEAR_SLOPES_H

#include "analysis/linear_system.h"

/** Groups and states of devices; release whatever happens. */
CalStatus linear_system_create(LinearSystem *system, CalSim *sim, const CalAllocator *allocator);
void linear_system_release(LinearSystem *system);
/** Analytical derivatives of all groups at the state, and their independent coordinates. */
CalStatus linear_system_find(LinearSystem *system);
/** Room for what is read, with inputs and outputs known, and read[0] at the state. */
CalStatus linear_system_begin(LinearSystem *system);
/** slope[read_count] along a direction; the simulation is as before. */
CalStatus linear_system_slope(LinearSystem *system, const LinearDirection *direction);

#endif
