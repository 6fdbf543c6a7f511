// SPDX-License-Identifier: Apache-2.0
/*
 * scenario_act.c — the actions of an event, done to a running simulation, and their log.
 *
 * Objects are looked up by name each time: a joint that an earlier action made is found in the simulation, so that nothing
 * has to be remembered here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scenario/scenario.h"

/* ---- names ----------------------------------------------------------------------------------------- */

static CalStatus not_there(const char *what, const char *name, CalError *error) {
	return error_set(error, CAL_ERR_MODEL, "there is no %s \"%s\" at this time", what, name);
}

static CalStatus find_joint(const CalSim *sim, const char *name, CalJointId *joint, CalError *error) {
	*joint = cal_sim_find_joint(sim, name);
	return joint->value ? CAL_OK : not_there("joint", name, error);
}

static CalStatus find_body(const CalSim *sim, const char *name, CalBodyId *body, CalError *error) {
	*body = cal_sim_find_body(sim, name);
	return body->value ? CAL_OK : not_there("body", name, error);
}

static CalStatus find_loop(const CalSim *sim, const char *name, CalLoopId *loop, CalError *error) {
	*loop = cal_sim_find_loop(sim, name);
	return loop->value ? CAL_OK : not_there("loop", name, error);
}

static CalStatus find_node(const CalSim *sim, const char *path, CalNodeId *node, CalError *error) {
	return cal_sim_find_node(sim, path, node) ? CAL_OK : not_there("node", path, error);
}

/* ---- one action -------------------------------------------------------------------------------------- */

/* A joint that is there already and open is attached again. */
static CalStatus attach_nodes(CalSim *sim, const CalActionDef *action, CalTransition *report, CalError *error) {
	const CalJointId known = cal_sim_find_joint(sim, action->name);
	CalNodeId from = {0}, to = {0};
	if (known.value)
		return cal_sim_reattach(sim, known, &action->options, report, error);
	CalStatus status = find_node(sim, action->from, &from, error);
	if (status == CAL_OK)
		status = find_node(sim, action->to, &to, error);
	if (status != CAL_OK)
		return status;
	return cal_sim_attach(sim, from, &action->joint, to, &action->options, NULL, report, error);
}

static CalStatus on_joint(CalSim *sim, const CalActionDef *action, CalTransition *report, CalError *error) {
	CalJointId joint;
	const CalStatus status = find_joint(sim, action->name, &joint, error);
	if (status != CAL_OK)
		return status;
	switch (action->kind) {
	case CAL_ACTION_DETACH:
		return cal_sim_detach(sim, joint, action->group, report, error);
	case CAL_ACTION_REATTACH:
		return cal_sim_reattach(sim, joint, &action->options, report, error);
	case CAL_ACTION_LOCK:
		return cal_sim_lock(sim, joint, action->dof, report, error);
	default:
		return cal_sim_unlock(sim, joint, action->dof, report, error);
	}
}

static CalStatus on_body(CalSim *sim, const CalActionDef *action, CalTransition *report, CalError *error) {
	CalBodyId body;
	const CalStatus status = find_body(sim, action->name, &body, error);
	if (status != CAL_OK)
		return status;
	switch (action->kind) {
	case CAL_ACTION_REROOT:
		return cal_sim_reroot(sim, body, report, error);
	case CAL_ACTION_SPLIT:
		return cal_sim_split(sim, body, action->group, report, error);
	case CAL_ACTION_LOCK_MODES:
		return cal_sim_lock_modes(sim, body, action->dof, report, error);
	case CAL_ACTION_UNLOCK_MODES:
		return cal_sim_unlock_modes(sim, body, action->dof, report, error);
	default:
		return cal_sim_remove_body(sim, body, report, error);
	}
}

static CalStatus on_loop(CalSim *sim, const CalActionDef *action, CalTransition *report, CalError *error) {
	CalLoopId loop;
	const CalStatus status = find_loop(sim, action->name, &loop, error);
	if (status != CAL_OK)
		return status;
	return action->kind == CAL_ACTION_OPEN ? cal_sim_open_loop(sim, loop, report, error)
	                                       : cal_sim_reclose_loop(sim, loop, report, error);
}

static CalStatus switch_device(CalSim *sim, const CalActionDef *action, CalError *error) {
	const int device = cal_sim_find_device(sim, action->name);
	if (device < 0)
		return not_there("device", action->name, error);
	return cal_sim_switch(sim, device, action->kind == CAL_ACTION_SWITCH_ON, error);
}

static CalStatus on_group(CalSim *sim, const CalActionDef *action, CalTransition *report, CalError *error) {
	const int group = cal_sim_find_group(sim, action->name);
	if (group < 0)
		return not_there("group", action->name, error);
	if (action->kind == CAL_ACTION_RELEASE)
		return cal_sim_set_motion(sim, group, NULL, NULL);
	if (action->propagation == CAL_PROPAGATE_KINEMATIC && cal_sim_find_motion(sim, group) >= 0)
		return cal_sim_is_moved(sim, group) ? CAL_OK : cal_sim_resume_motion(sim, group, error);
	return cal_sim_set_propagation(sim, group, action->propagation, report, error);
}

static CalStatus set_parameter(CalSim *sim, const CalActionDef *action, double *energy, CalError *error) {
	const int index = cal_sim_find_parameter(sim, action->name);
	return index < 0 ? not_there("parameter", action->name, error)
	                 : cal_sim_set_parameter(sim, index, action->value, energy, error);
}

static CalStatus perform(CalSim *sim, const CalActionDef *action, CalTransition *report, double *energy,
                         CalError *error) {
	switch (action->kind) {
	case CAL_ACTION_ATTACH:
		return attach_nodes(sim, action, report, error);
	case CAL_ACTION_DETACH:
	case CAL_ACTION_REATTACH:
	case CAL_ACTION_LOCK:
	case CAL_ACTION_UNLOCK:
		return on_joint(sim, action, report, error);
	case CAL_ACTION_REROOT:
	case CAL_ACTION_SPLIT:
	case CAL_ACTION_LOCK_MODES:
	case CAL_ACTION_UNLOCK_MODES:
	case CAL_ACTION_REMOVE_BODY:
		return on_body(sim, action, report, error);
	case CAL_ACTION_OPEN:
	case CAL_ACTION_CLOSE:
		return on_loop(sim, action, report, error);
	case CAL_ACTION_ADD_BODY:
		return cal_sim_add_body(sim, &action->body, NULL, NULL, report, error);
	case CAL_ACTION_SWITCH_ON:
	case CAL_ACTION_SWITCH_OFF:
		return switch_device(sim, action, error);
	case CAL_ACTION_SET:
		return set_parameter(sim, action, energy, error);
	case CAL_ACTION_RELEASE:
	case CAL_ACTION_PROPAGATE:
		return on_group(sim, action, report, error);
	default:
		return CAL_OK;
	}
}

/* ---- the log ------------------------------------------------------------------------------------------- */

static LogEntry *log_action(CalScenario *s, int action, const CalTransition *report, CalStatus refused,
                            const char *why) {
	LogEntry *entry = &s->log[s->logged++ % CAL_SCENARIO_LOG];
	const CalVec3 p = report->impulse.linear;
	*entry = (LogEntry){.time = cal_sim_time(s->sim), .action = action, .refused = refused};
	if (refused == CAL_OK) {
		entry->kinetic_lost = report->kinetic_lost;
		entry->misfit = report->misfit;
		entry->impulse = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
	}
	snprintf(entry->why, sizeof entry->why, "%s", why);
	return entry;
}

static double length(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double distance(CalVec3 a, CalVec3 b) { return length((CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}); }

/* What a change did to the momentum of everything goes to the last entry. */
static void note_momentum(CalScenario *s, const CalSimBalance *before) {
	LogEntry *entry = &s->log[(s->logged - 1) % CAL_SCENARIO_LOG];
	CalSimBalance after;
	if (cal_sim_balance(s->sim, &after) != CAL_OK)
		return;
	entry->linear_jump = distance(before->linear, after.linear);
	entry->angular_jump = distance(before->angular, after.angular);
}

/* The same of what a group did while it was kinematic; one that follows a motion is not among everything until then. */
static void note_kinematic(CalScenario *s, const CalTransition *report) {
	LogEntry *entry = &s->log[(s->logged - 1) % CAL_SCENARIO_LOG];
	entry->linear_jump = fmax(entry->linear_jump, length(report->linear_change));
	entry->angular_jump = fmax(entry->angular_jump, length(report->angular_change));
}

static bool gives_motion(const CalActionDef *action) {
	const bool attach = action->kind == CAL_ACTION_ATTACH || action->kind == CAL_ACTION_REATTACH;
	return action->kind == CAL_ACTION_RELEASE || action->kind == CAL_ACTION_PROPAGATE ||
	       (attach && action->options.kinematic);
}

/* Does action k of an event and notes it. */
static CalStatus run_action(const EventRun *run, int k, CalError *error) {
	CalScenario *s = run->scenario;
	const CalActionDef *action = &run->def->actions[k];
	const int64_t generation = cal_sim_generation(s->sim);
	CalSimBalance before;
	CalTransition report = {0};
	CalError own = {0};
	double energy = 0;
	CalStatus status = cal_sim_balance(s->sim, &before);
	if (status == CAL_OK)
		status = perform(s->sim, action, &report, &energy, &own);
	const bool changed = status == CAL_OK && cal_sim_generation(s->sim) != generation;
	if (changed)
		status = sim_loads_apply(s->loads);
	if (status != CAL_OK && !own.text[0])
		error_set(&own, status, "%s", cal_status_text(status));
	log_action(s, run->first + k, &report, status, own.text);
	LogEntry *entry = &s->log[(s->logged - 1) % CAL_SCENARIO_LOG];
	entry->changed = changed;
	entry->energy = energy;
	entry->value = action->value;
	entry->imposed = status == CAL_OK && gives_motion(action);
	if (changed || entry->imposed)
		note_momentum(s, &before);
	if (entry->imposed && action->kind == CAL_ACTION_PROPAGATE)
		note_kinematic(s, &report);
	if (status == CAL_OK || action->ignore)
		return CAL_OK;
	const ActionNote *note = &run->notes[k];
	return note->line ? error_set(error, status, "%s (line %d): %s", note->text, note->line, own.text)
	                  : error_set(error, status, "%s: %s", note->text, own.text);
}

CalStatus cal_scenario_set_parameter(CalScenario *scenario, int parameter, double value, CalError *error) {
	CalParameter was;
	double energy;
	if (!scenario || cal_sim_parameter(scenario->sim, parameter, &was) != CAL_OK)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_scenario_set_parameter: there is no such parameter");
	const int64_t generation = cal_sim_generation(scenario->sim);
	CalStatus status = cal_sim_set_parameter(scenario->sim, parameter, value, &energy, error);
	if (status == CAL_OK && cal_sim_generation(scenario->sim) != generation)
		status = sim_loads_apply(scenario->loads);
	if (status != CAL_OK || value == was.value)
		return status;
	LogEntry *entry = log_action(scenario, scenario->action_count + parameter, &(CalTransition){0}, CAL_OK, "");
	entry->energy = energy;
	entry->value = value;
	snprintf(entry->why, sizeof entry->why, "set %s to %.9g%s%s, from %.9g", was.name, value, was.unit[0] ? " " : "",
	         was.unit, was.value);
	return CAL_OK;
}

CalStatus scenario_run_actions(EventRun *run, CalError *error) {
	const CalSetupEvent *def = run->def;
	CalStatus status = CAL_OK;
	if (def->action_count == 0)
		log_action(run->scenario, run->first, &(CalTransition){0}, CAL_OK, "");
	for (int i = 0; i < def->action_count && status == CAL_OK; i++) {
		status = run_action(run, i, error);
		if (status == CAL_OK && def->actions[i].kind == CAL_ACTION_STOP)
			return error_set(error, CAL_STOPPED, "%s", run->notes[i].text);
	}
	return status;
}
