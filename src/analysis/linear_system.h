// SPDX-License-Identifier: Apache-2.0
/*
 * linear_system.h — a simulation while it is linearized: groups, states of devices, inputs, and what is read at each
 * displaced state.
 */
#ifndef CALDER_ANALYSIS_LINEAR_SYSTEM_H
#define CALDER_ANALYSIS_LINEAR_SYSTEM_H

#include <calder/state_space.h>

#include "analysis/linear_group.h"
#include "sim/sim_internal.h"

enum { LINEAR_WARNING = 400, LINEAR_NAME = 160 }; // characters

/* An input: what is put on the simulation. */
typedef struct LinearInput {
	SimProbe probe;
	int column; // of LinearSystem.of_inputs; of a command: its device
} LinearInput;

typedef enum DirectionKind { DIRECTION_COORDINATE, DIRECTION_SPEED, DIRECTION_DEVICE, DIRECTION_INPUT } DirectionKind;

/* What is displaced. */
typedef struct LinearDirection {
	DirectionKind kind;
	int group; // of a coordinate or speed
	int index; // independent coordinate or speed, state of a device, input
} LinearDirection;

typedef struct LinearSystem {
	CalSim *sim;
	CalAllocator allocator;
	LinearGroup *groups;  // [group_count]
	int group_count;      //
	int coordinate_count; // independent ones of all groups
	int device_states;    // of active devices
	int *device;          // [device_states] device of each,
	int *device_state;    // [device_states] and which of its states
	LinearInput *inputs;  // [input_count]
	int input_count, input_capacity;
	CalSampler *outputs;   // its first column is the time
	CalSampler *of_inputs; // names of inputs that are quantities
	CalSampler *of_states; // names of all coordinates and speeds
	double *row;           // [output_count + 1]
	int output_count;      //
	int device_at;         // where rates of devices are among what is read, after the forces on all groups;
	int output_at;         // outputs,
	int speed_at;          // and changes of the speeds of the group that is displaced
	int read_count;        //
	double *read[5];       // [read_count] at the state and at -2h, -h, h, 2h
	double *slope;         // [read_count]
	int kink_count;        // directions along which something jumps or bends,
	LinearDirection kink;  // the first of them,
	int kink_read;         // and what does there
	int failed_group;      // whose dynamics failed, -1: none
	char spare[2][LINEAR_NAME];
	void *memory, *reading;
} LinearSystem;

/** n of the states. */
static inline int linear_system_states(const LinearSystem *s) { return 2 * s->coordinate_count + s->device_states; }

/** Marks the degrees of freedom that the caller wants as coordinates of groups. CAL_ERR_INPUT: one is not known. */
CalStatus linear_independent_find(LinearSystem *system, const char *const *names, int count, CalError *error);
/** Resolves the names; CAL_ERR_INPUT and a sentence if one is not known (linear_names.c). */
CalStatus linear_inputs_find(LinearSystem *system, const char *const *names, int count, CalError *error);
CalStatus linear_outputs_find(LinearSystem *system, const char *const *names, int count, CalError *error);
/** Name and unit of input `input`; text[LINEAR_NAME]: where it is written unless it lives as long as the system. */
CalSignalName linear_input_name(const LinearSystem *system, int input, char *text);
/** The same of state `state`. */
CalSignalName linear_state_name(const LinearSystem *system, int state, char *text);
CalStatePlace linear_state_place(const LinearSystem *system, int state);

#endif
