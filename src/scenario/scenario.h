// SPDX-License-Identifier: Apache-2.0
/*
 * scenario.h — what the files of a scenario share.
 */
#ifndef CALDER_SCENARIO_SCENARIO_H
#define CALDER_SCENARIO_SCENARIO_H

#include <calder/expression.h>
#include <calder/parameter.h>
#include <calder/scenario.h>

#include "setup/setup.h"

/* ---- loads on all groups (scenario_loads.c) ------------------------------------------------------- */

/** The loads of a setup on a simulation whose topology may change. */
typedef struct SimLoads SimLoads;

/** *loads is NULL if the setup has none. */
CalStatus sim_loads_create(const CalSetup *setup, CalSim *sim, SimLoads **loads, CalError *error);
void sim_loads_destroy(SimLoads *loads); // accepts NULL
/** Their objects are to be looked up again. loads NULL: nothing to do. */
void sim_loads_renew(SimLoads *loads);
/** Makes them the input of every group, also of those that are new. loads NULL: nothing to do. */
CalStatus sim_loads_apply(SimLoads *loads);

/* ---- the scenario ----------------------------------------------------------------------------------- */

/** An event in a run. */
typedef struct EventRun {
	struct CalScenario *scenario;
	const CalSetupEvent *def;
	const ActionNote *notes;   // of its actions
	int after;                 // event that has to happen before, -1: none
	int number;                // in the simulation
	int first;                 // number of its first action among all
	CalExpression *expression; // NULL: none
	double rest;               // its value while it is not armed, or its objects are not there
	int64_t generation;        // for which the expression is bound
	bool bound;
} EventRun;

typedef struct LogEntry {
	double time, kinetic_lost, misfit, impulse, linear_jump, angular_jump, energy, value;
	int action, changed, imposed;
	CalStatus refused;
	char why[sizeof((CalError){0}.text)]; // of a refusal, whole; of a parameter that no event set: what was done
} LogEntry;

struct CalScenario {
	CalAllocator allocator;
	const CalSetup *setup;
	CalSim *sim;
	SimLoads *loads;
	EventRun *events; // [setup->event_count]
	int action_count;
	LogEntry *log; // [CAL_SCENARIO_LOG], entry i at i modulo that
	int64_t logged;
};

/** Does what an event says; a refusal is logged, and ends the event unless it is to be ignored. */
CalStatus scenario_run_actions(EventRun *run, CalError *error);

#endif
