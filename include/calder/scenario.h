// SPDX-License-Identifier: Apache-2.0
/*
 * calder/scenario.h — everything of a setup that happens in a run: initial state, loads, devices, events and what
 * they do (docs/scenarios.md).
 *
 * A scenario sets a simulation of the setup's description up and is then driven by cal_sim_advance() alone. Loads, formulas
 * and actions follow their objects through changes of topology. All memory is taken by cal_scenario_create(), that of the
 * changes included (cal_sim_reserve); nothing allocates in the run. What a run has come to is held by the simulation: which
 * events happened and when, what is attached, which devices are on. Only the log of what was done is kept here.
 */
#ifndef CALDER_SCENARIO_H
#define CALDER_SCENARIO_H

#include <calder/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalScenario CalScenario;

/**
 * Sets up a simulation of cal_setup_desc(setup), new or reserved by the caller with room for what the actions add. States of
 * loops are not closed yet: cal_sim_restart(). Setup and simulation must outlive the scenario, and the simulation may not run
 * on without it.
 */
CAL_API CalStatus cal_scenario_create(const CalSetup *setup, CalSim *sim, CalScenario **scenario, CalError *error);
/** Options of a simulation as the run settings of a setup say. */
CAL_API CalSimOptions cal_setup_options(const CalSetup *setup);
/**
 * A simulation of a setup and its scenario, ready for cal_sim_advance(): loops are closed. options NULL: as the run settings
 * say. Destroy the scenario first, then the simulation, then the setup.
 */
CAL_API CalStatus cal_setup_simulate(const CalSetup *setup, const CalSimOptions *options, CalSim **sim,
                                     CalScenario **scenario, CalError *error);
CAL_API void cal_scenario_destroy(CalScenario *scenario); // accepts NULL

/**
 * To be called when the simulation was changed by other means than its run, as by restoring a checkpoint: all groups get
 * the loads of the setup again, and everything is looked up anew.
 */
CAL_API CalStatus cal_scenario_resume(CalScenario *scenario);

/** Nonzero once an event has stopped the run (CAL_STOPPED); *why (may be NULL): the text of its action, or its name. */
CAL_API int cal_scenario_stopped(const CalScenario *scenario, const char **why);

/**
 * Changes a parameter between advances, as cal_sim_set_parameter(), and logs it: event "parameter", action number
 * cal_scenario_action_count() + parameter.
 */
CAL_API CalStatus cal_scenario_set_parameter(CalScenario *scenario, int parameter, double value, CalError *error);

/* ---- what will happen --------------------------------------------------------- */

/** Actions of all events in the order of the setup; an event without any counts as one, with the text "". */
CAL_API int cal_scenario_action_count(const CalScenario *scenario);
/** In words, e.g. "attach latch: hand/palm to port"; either place may be NULL. */
CAL_API CalStatus cal_scenario_action(const CalScenario *scenario, int action, const char **event, const char **text);

/* ---- what has happened ---------------------------------------------------------------------- */

typedef struct CalScenarioEntry {
	double time;         // [s]
	int action;          // number among the actions; those that set parameters by themselves count after them
	const char *event;   // name
	const char *text;    // of the action, in words
	double kinetic_lost; // kinetic energy before less that after [J]
	double misfit;       // of an attach: how far the nodes were off [m, rad]
	double impulse;      // of an attach in the tree: size of the force's impulse [N s]
	double
		linear_jump; // of a change of topology: by how much it changed the momentum of all groups and devices [kg m/s]
	double angular_jump; // and the angular one about the origin [kg m^2/s]; where nothing is on the ground, round-off
	int changed;         // nonzero: it was a change of topology
	/*
	 * Nonzero: it gave bodies a motion or took one from them (propagate, release, a kinematic attach), so that the jumps are
	 * its doing; at the end of a kinematic propagation they are those since it began.
	 */
	int imposed;
	double energy;     // of `set`: by how much it made the energy of groups and devices grow [J]
	double value;      // of `set`: what the parameter became
	CalStatus refused; // CAL_OK: it was done; otherwise it was not, and the run continued or ended
	const char *why;   // of a refusal; ""
} CalScenarioEntry;

/** Entries since cal_scenario_create(). The last CAL_SCENARIO_LOG of them are kept. */
#define CAL_SCENARIO_LOG 1024
CAL_API int64_t cal_scenario_entry_count(const CalScenario *scenario);
/** CAL_ERR_ARGUMENT: it is not kept any more, or there is none. Texts are valid until the next advance. */
CAL_API CalStatus cal_scenario_entry(const CalScenario *scenario, int64_t index, CalScenarioEntry *entry);
/** How many are not kept any more. */
CAL_API int64_t cal_scenario_dropped(const CalScenario *scenario);

#ifdef __cplusplus
}
#endif
#endif
