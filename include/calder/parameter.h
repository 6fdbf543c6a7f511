// SPDX-License-Identifier: Apache-2.0
/*
 * calder/parameter.h — numbers of a simulation that may change while it runs: gains, friction, springs and dampers, loads,
 * masses, gravity (docs/parameters.md).
 *
 * Parameters of devices can always be changed; those of the model (joints, bodies, groups) after cal_sim_reserve(), since the
 * models of their groups are made anew. Positions, speeds and states of devices stay as they are. What the change does to the
 * energy of groups and devices is in the accounts of cal_sim_balance(), as supplied or dissipated: the error of the balance
 * does not jump. A change is part of a checkpoint. From there on a run has the same bits whoever made the change: the
 * action `set` of an event, a page of a live run, or this call between two advances.
 */
#ifndef CALDER_PARAMETER_H
#define CALDER_PARAMETER_H

#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalParameter {
	/* "device:NAME.KEY", "joint:NAME.damping" (of several dofs: "joint:NAME.damping2"), "body:NAME.mass", "group:NAME.gravity.z". */
	char name[256];
	char unit[32];     // SI; "": none, or that of a gain
	double value;      // now
	double low, high;  // the range that it must be in
	int above;         // nonzero: it must be above low
	const char *fixed; // why it cannot be changed now; NULL: it can
} CalParameter;

/** How many there are, and what they are called, stays the same in a run. */
CAL_API int cal_sim_parameter_count(const CalSim *sim);
CAL_API CalStatus cal_sim_parameter(const CalSim *sim, int index, CalParameter *parameter);
CAL_API int cal_sim_find_parameter(const CalSim *sim, const char *name); // -1: there is none

/**
 * Changes a parameter between advances, or in the action of an event. Refused with a reason, and nothing is changed: it is
 * fixed, or the value is outside its range. *energy (may be NULL): by how much it made the energy of groups and devices
 * grow [J]. The present value changes nothing.
 */
CAL_API CalStatus cal_sim_set_parameter(CalSim *sim, int index, double value, double *energy, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
