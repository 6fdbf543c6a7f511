// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_inputs.h — the inputs of a unit: forces on joints and wrenches on nodes, by name.
 *
 * They are one device, which applies them in every evaluation. When one was set an event is due at once, which does nothing:
 * integrators start anew after it, so that no rate from before is used.
 */
#ifndef CALDER_FMU_FMU_INPUTS_H
#define CALDER_FMU_FMU_INPUTS_H

#include <calder/calder.h>

/** An input, and where it acts. */
typedef struct FmuInput {
	int is_wrench;
	char *object;  // joint or node; NULL: not looked up yet
	int component; // dof of the joint; mx, my, mz, fx, fy, fz of the wrench
	double value;
	CalDofRef dof_ref;
	CalNodeRef node_ref;
	int is_there; // its object is in the simulation
} FmuInput;

typedef struct FmuInputs {
	FmuInput *of; // [count]
	int count;
	int changed; // nonzero: something was set since the last step
} FmuInputs;

/** CAL_ERR_INPUT: the name is none of an input. */
CalStatus fmu_input_find(FmuInput *input, CalSim *sim, const CalDesc *desc, const char *name, CalError *error);
/** Adds the device and the event to a simulation; inputs must outlive it. */
CalStatus fmu_inputs_add(FmuInputs *inputs, CalSim *sim, CalError *error);
void fmu_inputs_release(FmuInputs *inputs);

#endif
