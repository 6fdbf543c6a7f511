// SPDX-License-Identifier: Apache-2.0
/*
 * group.h — what a simulation holds for each of its groups, and what its files share.
 *
 * Two workspaces: the integrator owns one, observers use the other, so that looking at a run cannot
 * change it. Everything of a group lies in one block that cal_sim_create() takes.
 */
#ifndef CALDER_SIM_GROUP_H
#define CALDER_SIM_GROUP_H

#include <stdbool.h>

#include <calder/loops.h>
#include <calder/sim.h>

typedef struct SimGroup {
	CalModel *model;
	CalState state;
	CalWork *work;             // of the integrator
	CalWork *view_work;        // of the observers
	CalIntegrator *integrator; //
	double *udot, *force;      // [nu] results of the last observation
	uint8_t *root_dof;         // [nu] nonzero: a freedom of a joint on the ground, not a mode of the body on it
	uint8_t *frozen;           // [nu] nonzero: not moved when loops are closed
	uint8_t *held;             // [nu] scratch: those, and what is driven
	void *memory;              // the block that all of the above but the model lie in

	CalInputFn input;        // NULL: nothing acts
	CalSwitchFn next_switch; // NULL: the input is smooth
	void *user;              //

	int energy_free, momentum_free; // structure alone would conserve them
	int worked, pushed;             // an input was seen that may change the energy, the momentum
	CalEnergy start_energy;         //
	CalMomentum start_momentum;     //
	double energy_scale;            // largest kinetic energy seen [J]
	CalIntegratorStats start_stats; // of the integrator at the start
} SimGroup;

struct CalSim {
	CalAllocator allocator;
	CalIntegratorOptions method;
	SimGroup *groups;
	int group_count;
	int started; // cal_sim_restart() has taken the monitors' start
	double start_time;
	double wall_s, cpu_s;
};

/** Methods that need a step size; the others choose their own. */
static inline bool method_is_fixed(CalMethod method) { return method != CAL_METHOD_DOPRI5; }

/** A CalInputFn: user is the SimGroup. Asks the group's input and notes what it may change. */
int group_input(void *user, const CalModel *model, const CalState *state, CalInput *input);
/** Decides energy_free and momentum_free, and fills root_dof. */
void group_classify(SimGroup *group);
/** Moves the state to the nearest one that the loops allow; an error names the rows that are left. */
CalStatus group_assemble(SimGroup *group, CalProjectReport *left, CalError *error);
/** ", row pin.dx is off by 0.2 m" of the row with the largest residual that the integrator's workspace holds, or "". */
void group_worst_row(const SimGroup *group, char *text, size_t size);
/** Takes the present state as the start of the monitors. */
CalStatus group_start(SimGroup *group);

#endif
