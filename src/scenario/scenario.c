// SPDX-License-Identifier: Apache-2.0
/*
 * scenario.c — a simulation set up as its description says, and the events of the description in it.
 *
 * Whether an event is armed and when it is due follow from how often, and when last, events have happened: the simulation
 * counts that, and a scenario that is made anew for a simulation in the middle of its run continues where the other was.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "scenario/scenario.h"

/* ---- when events happen ------------------------------------------------------------------------------ */

/* After the event that it waits for, and not yet again since. */
static bool is_armed(const EventRun *run) {
	const CalScenario *s = run->scenario;
	double own, other;
	const int64_t count = cal_sim_event_happened(s->sim, run->number, &own);
	if (run->def->once && count > 0)
		return false;
	if (run->after < 0)
		return true;
	if (cal_sim_event_happened(s->sim, s->events[run->after].number, &other) == 0)
		return false;
	return count == 0 || own < other;
}

static double time_after(const EventRun *run) {
	double last;
	if (!is_armed(run))
		return INFINITY;
	cal_sim_event_happened(run->scenario->sim, run->scenario->events[run->after].number, &last);
	return last + run->def->delay;
}

/* start + k every, the first one that is not past: computed from the time alone. */
static double time_periodic(const EventRun *run) {
	const CalSetupEvent *def = run->def;
	const double t = cal_sim_time(run->scenario->sim);
	double last, k = fmax(0, floor((t - def->start) / def->every) - 1);
	cal_sim_event_happened(run->scenario->sim, run->number, &last);
	while (def->start + k * def->every < t || def->start + k * def->every <= last)
		k++;
	return def->start + k * def->every;
}

static double when_due(void *user, const CalSim *sim) {
	const EventRun *run = user;
	(void)sim;
	return run->def->every > 0 ? time_periodic(run) : time_after(run);
}

/* Whether the formula counts now; after a change of topology its objects are looked up again. */
static bool is_watched(EventRun *run, const CalEvalContext *context) {
	const int64_t generation = cal_sim_generation(run->scenario->sim);
	if (!is_armed(run))
		return false;
	if (run->generation != generation) {
		run->bound = cal_expression_bind(run->expression, context, NULL) == CAL_OK;
		run->generation = generation;
	}
	return run->bound;
}

static int value_of(void *user, CalEvalContext *context, double *value) {
	EventRun *run = user;
	*value = run->rest;
	return is_watched(run, context) && cal_expression_value(run->expression, context, value) != CAL_OK;
}

static double clear_of(void *user, CalEvalContext *context, double span) {
	EventRun *run = user;
	return is_watched(run, context) ? cal_expression_keeps_sign(run->expression, context, span) : span;
}

static CalStatus event_action(void *user, CalSim *sim, CalError *error) {
	(void)sim;
	return scenario_run_actions(user, error);
}

/* ---- setting up ---------------------------------------------------------------------------------------- */

static CalStatus no_memory(const CalScenario *s, CalError *error) { return setup_no_memory(s->setup, error); }

static CalStatus set_state(CalScenario *s, int group, CalError *error) {
	const CalModel *model = cal_sim_model(s->sim, group);
	CalStatus status = cal_setup_apply_state(s->setup, model, cal_sim_state(s->sim, group), error);
	if (status != CAL_OK)
		return status;
	const size_t nu = (size_t)cal_model_u_count(model);
	uint8_t *flags = memory_alloc(&s->allocator, 2 * nu + 1);
	if (!flags)
		return no_memory(s, error);
	status = cal_setup_frozen(s->setup, model, flags, error);
	if (status == CAL_OK)
		status = cal_sim_set_frozen(s->sim, group, flags);
	if (status == CAL_OK)
		status = cal_setup_stated(s->setup, model, flags, flags + nu, error);
	if (status == CAL_OK)
		status = cal_sim_set_stated(s->sim, group, flags, flags + nu);
	memory_free(&s->allocator, flags);
	return status;
}

/* Names of objects that only an action makes are bound later. */
static bool names_what_is_made(const CalSetup *setup, const char *text) {
	for (int i = 0; i < setup->made_count; i++)
		if (strstr(text, setup->made[i].name))
			return true;
	return false;
}

/* A formula that is to be bound, and what stands in the way. */
typedef struct Binding {
	CalExpression *expression;
	CalError *error;
} Binding;

static CalStatus bind_now(void *user, CalEvalContext *context) {
	const Binding *binding = user;
	return cal_expression_bind(binding->expression, context, binding->error);
}

static CalStatus make_expression(CalScenario *s, EventRun *run, CalError *error) {
	const CalSetupEvent *def = run->def;
	CalError own = {0};
	CalStatus status = cal_expression_create(def->when, &s->allocator, &run->expression, &own);
	if (status == CAL_OK) {
		status = cal_sim_inspect(s->sim, bind_now, &(Binding){run->expression, &own});
		run->bound = status == CAL_OK;
		run->generation = cal_sim_generation(s->sim);
		if (status != CAL_OK && names_what_is_made(s->setup, own.text))
			status = CAL_OK;
	}
	// a condition that is true when it is armed has become true; of other formulas only crossings count
	const bool condition = status == CAL_OK && cal_expression_is_condition(run->expression);
	run->rest = condition && def->direction ? -1.0 * def->direction : (double)NAN;
	return status == CAL_OK
	           ? CAL_OK
	           : error_set(error, status, "%s%sevent \"%s\": %s", PLACE_ARGS(def->when_place), def->name, own.text);
}

static CalStatus add_event(CalScenario *s, int index, CalError *error) {
	const EventEntry *entry = &s->setup->events[index];
	const CalSetupEvent *given = &entry->def;
	EventRun *run = &s->events[index];
	*run = (EventRun){.scenario = s,
	                  .def = given,
	                  .notes = entry->notes,
	                  .after = given->after ? cal_setup_find_event(s->setup, given->after) : -1,
	                  .first = s->action_count};
	s->action_count += given->action_count > 0 ? given->action_count : 1;
	CalEventDef def = {.name = given->name,
	                   .place = given->place,
	                   .time = given->at,
	                   .direction = given->when ? given->direction : 0,
	                   .once = given->once,
	                   .action = event_action,
	                   .user = run};
	CalStatus status = given->when ? make_expression(s, run, error) : CAL_OK;
	if (given->when) {
		def.value = value_of;
		def.event_free = clear_of;
		def.level = !isnan(run->rest);
	} else if (isnan(given->at)) {
		def.when = when_due;
	}
	return status == CAL_OK ? cal_sim_add_event(s->sim, &def, &run->number, error) : status;
}

static CalStatus add_events(CalScenario *s, CalError *error) {
	CalStatus status = CAL_OK;
	cal_sim_begin_adding(s->sim);
	for (int i = 0; i < s->setup->event_count && status == CAL_OK; i++)
		status = add_event(s, i, error);
	const CalStatus bound = cal_sim_end_adding(s->sim);
	return status != CAL_OK || bound == CAL_OK ? status : no_memory(s, error);
}

/* Parameters of devices need no description. */
static bool changes_description(const CalActionDef *action) {
	return action->kind <= CAL_ACTION_REMOVE_BODY ||
	       (action->kind == CAL_ACTION_SET && strncmp(action->name, "device:", strlen("device:")) != 0);
}

/* Does something change the topology, or numbers of the description? */
static bool has_changes(const CalSetup *setup) {
	for (int i = 0; i < setup->event_count; i++)
		for (int k = 0; k < setup->events[i].def.action_count; k++)
			if (changes_description(&setup->events[i].def.actions[k]))
				return true;
	return setup->open_loop_count > 0;
}

/* Parameters that actions set are known from the start. */
static CalStatus check_parameter(const CalScenario *s, const CalSetupEvent *event, const CalActionDef *action,
                                 CalError *error) {
	if (action->kind != CAL_ACTION_SET || cal_sim_find_parameter(s->sim, action->name) >= 0)
		return CAL_OK;
	Suggestion suggestion = {.word = action->name};
	CalParameter p, best;
	char hint[300];
	for (int i = 0; cal_sim_parameter(s->sim, i, &p) == CAL_OK; i++) {
		suggestion_offer(&suggestion, p.name);
		if (suggestion.best == p.name)
			best = p, suggestion.best = best.name;
	}
	return error_set(error, CAL_ERR_MODEL,
	                 "%s%sevent \"%.80s\": there is no parameter \"%.200s\"%s; `calder parameters` lists them",
	                 PLACE_ARGS(action->place ? action->place : event->place), event->name, action->name,
	                 suggestion_text(&suggestion, hint, sizeof hint));
}

static CalStatus check_parameters(const CalScenario *s, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < s->setup->event_count; i++)
		for (int k = 0; k < s->setup->events[i].def.action_count && status == CAL_OK; k++)
			status = check_parameter(s, &s->setup->events[i].def, &s->setup->events[i].def.actions[k], error);
	return status;
}

static CalStatus open_loops(CalScenario *s, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < s->setup->open_loop_count && status == CAL_OK; i++)
		status = cal_sim_open_loop(s->sim, s->setup->open_loops[i], NULL, error);
	return status;
}

/* In the order in which later parts need earlier ones; the memory of changes last, when all sizes are known. */
static CalStatus set_up(CalScenario *s, CalError *error) {
	const CalSimCapacity capacity = cal_setup_capacity(s->setup);
	CalStatus status = CAL_OK;
	for (int i = 0; i < cal_sim_group_count(s->sim) && status == CAL_OK; i++)
		status = set_state(s, i, error);
	if (status == CAL_OK)
		status = sim_loads_create(s->setup, s->sim, &s->loads, error);
	if (status == CAL_OK) // what else acts on or moves groups belongs here: formulas may read it
		status = cal_setup_apply_devices(s->setup, s->sim, error);
	if (status == CAL_OK)
		status = cal_setup_apply_motions(s->setup, s->sim, error);
	if (status == CAL_OK && s->setup->event_count > 0)
		status = add_events(s, error);
	if (status == CAL_OK && has_changes(s->setup) && !cal_sim_reserved(s->sim, NULL))
		status = cal_sim_reserve(s->sim, s->setup->desc, &capacity, error);
	if (status == CAL_OK)
		status = check_parameters(s, error);
	if (status == CAL_OK)
		status = open_loops(s, error);
	return status == CAL_OK ? sim_loads_apply(s->loads) : status;
}

/* What the reader found suspicious is to be doubted in the results too. */
static void doubt_input(const CalSetup *setup, CalSim *sim) {
	for (int i = 0; i < cal_setup_warning_count(setup); i++) {
		CalDoubt doubt = {.kind = CAL_DOUBT_INPUT, .time = cal_sim_time(sim), .count = 1};
		const char *text = cal_setup_warning(setup, i), *mark = strstr(text, ": warning: ");
		const int place = mark ? (int)(mark - text) : 0;
		snprintf(doubt.object, sizeof doubt.object, "%.*s", place < 90 ? place : 90,
		         text + (place < 90 ? 0 : place - 90));
		snprintf(doubt.text, sizeof doubt.text, "%s", text);
		cal_sim_add_doubt(sim, &doubt);
	}
}

CalStatus cal_scenario_create(const CalSetup *setup, CalSim *sim, CalScenario **scenario, CalError *error) {
	if (!setup || !sim || !scenario)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_scenario_create: setup, simulation or scenario is NULL");
	*scenario = NULL;
	const CalStatus checked = cal_setup_check(setup, error);
	if (checked != CAL_OK)
		return checked;
	doubt_input(setup, sim);
	CalScenario *made = memory_alloc(&setup->allocator, sizeof *made);
	if (!made)
		return setup_no_memory(setup, error);
	*made = (CalScenario){.allocator = setup->allocator, .setup = setup, .sim = sim};
	const size_t events = (size_t)setup->event_count * sizeof *made->events;
	made->events = memory_alloc(&made->allocator, events + 1);
	made->log = memory_alloc(&made->allocator, CAL_SCENARIO_LOG * sizeof *made->log);
	if (made->events)
		memset(made->events, 0, events);
	const CalStatus status = made->events && made->log ? set_up(made, error) : no_memory(made, error);
	if (status == CAL_OK)
		*scenario = made;
	else
		cal_scenario_destroy(made);
	return status;
}

CalSimOptions cal_setup_options(const CalSetup *setup) {
	const CalRunSettings run = cal_setup_run(setup);
	return (CalSimOptions){.method = run.method,
	                       .threads = run.threads,
	                       .branches = run.branches ? run.branches : run.threads,
	                       .formulation = run.formulation,
	                       .assembly_limit = run.assembly_limit};
}

CalStatus cal_setup_simulate(const CalSetup *setup, const CalSimOptions *options, CalSim **sim, CalScenario **scenario,
                             CalError *error) {
	if (!setup || !sim || !scenario)
		return error_null(error, "cal_setup_simulate", !setup ? "setup" : !sim ? "sim" : "scenario");
	const CalSimOptions own = options ? *options : cal_setup_options(setup);
	*sim = NULL;
	*scenario = NULL;
	CalStatus status = cal_sim_create(setup->desc, &own, sim, error);
	if (status == CAL_OK)
		status = cal_scenario_create(setup, *sim, scenario, error);
	if (status == CAL_OK)
		status = cal_sim_restart(*sim, error);
	if (status == CAL_OK)
		return CAL_OK;
	cal_scenario_destroy(*scenario);
	cal_sim_destroy(*sim);
	*sim = NULL;
	*scenario = NULL;
	return status;
}

CalStatus cal_scenario_resume(CalScenario *scenario) {
	if (!scenario)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < scenario->setup->event_count; i++)
		scenario->events[i].generation = -1;
	sim_loads_renew(scenario->loads);
	return sim_loads_apply(scenario->loads);
}

void cal_scenario_destroy(CalScenario *scenario) {
	if (!scenario)
		return;
	const CalAllocator allocator = scenario->allocator;
	for (int i = 0; scenario->events && i < scenario->setup->event_count; i++)
		cal_expression_destroy(scenario->events[i].expression);
	sim_loads_destroy(scenario->loads);
	memory_free(&allocator, scenario->events);
	memory_free(&allocator, scenario->log);
	memory_free(&allocator, scenario);
}

/* ---- what there is and was -------------------------------------------------------------------------------- */

static const CalActionDef *stop_of(const CalSetupEvent *def) {
	for (int i = 0; i < def->action_count; i++)
		if (def->actions[i].kind == CAL_ACTION_STOP)
			return &def->actions[i];
	return NULL;
}

int cal_scenario_stopped(const CalScenario *scenario, const char **why) {
	double latest = -INFINITY;
	int stopped = 0;
	for (int i = 0; scenario && i < scenario->setup->event_count; i++) {
		const CalSetupEvent *def = scenario->events[i].def;
		const CalActionDef *stop = stop_of(def);
		double last;
		if (!stop || cal_sim_event_happened(scenario->sim, scenario->events[i].number, &last) == 0 || last < latest)
			continue;
		latest = last;
		stopped = 1;
		if (why)
			*why = stop->name[0] ? stop->name : def->name;
	}
	return stopped;
}

int cal_scenario_action_count(const CalScenario *scenario) { return scenario ? scenario->action_count : 0; }

CalStatus cal_scenario_action(const CalScenario *scenario, int action, const char **event, const char **text) {
	if (!scenario || action < 0 || action >= scenario->action_count)
		return CAL_ERR_ARGUMENT;
	int i = 0;
	while (i + 1 < scenario->setup->event_count && scenario->events[i + 1].first <= action)
		i++;
	const EventRun *run = &scenario->events[i];
	if (event)
		*event = run->def->name;
	if (text)
		*text = run->def->action_count > 0 ? run->notes[action - run->first].text : "";
	return CAL_OK;
}

int64_t cal_scenario_entry_count(const CalScenario *scenario) { return scenario ? scenario->logged : 0; }

int64_t cal_scenario_dropped(const CalScenario *scenario) {
	const int64_t count = cal_scenario_entry_count(scenario);
	return count > CAL_SCENARIO_LOG ? count - CAL_SCENARIO_LOG : 0;
}

CalStatus cal_scenario_entry(const CalScenario *scenario, int64_t index, CalScenarioEntry *entry) {
	if (!scenario || !entry || index < cal_scenario_dropped(scenario) || index >= scenario->logged)
		return CAL_ERR_ARGUMENT;
	const LogEntry *from = &scenario->log[index % CAL_SCENARIO_LOG];
	*entry = (CalScenarioEntry){.time = from->time,
	                            .action = from->action,
	                            .kinetic_lost = from->kinetic_lost,
	                            .misfit = from->misfit,
	                            .impulse = from->impulse,
	                            .imposed = from->imposed,
	                            .linear_jump = from->linear_jump,
	                            .angular_jump = from->angular_jump,
	                            .changed = from->changed,
	                            .refused = from->refused,
	                            .energy = from->energy,
	                            .value = from->value,
	                            .why = from->why};
	if (from->action >= scenario->action_count) {
		entry->event = "parameter", entry->text = from->why, entry->why = "";
		return CAL_OK;
	}
	return cal_scenario_action(scenario, from->action, &entry->event, &entry->text);
}
