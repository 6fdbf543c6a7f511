// SPDX-License-Identifier: Apache-2.0
/*
 * setup_event.c — events: when something happens (docs/scenarios.md). setup_action.c has what.
 *
 * Events may name others that are added later, and their actions objects that later actions make: such names are checked by
 * cal_setup_check().
 */
#include <math.h>
#include <string.h>

#include "setup/setup.h"

CalSetupEvent cal_setup_event_def(void) { return (CalSetupEvent){.at = NAN, .start = NAN, .direction = 1, .once = 1}; }

static const char *event_name(const CalSetup *setup, uint32_t index) { return setup->events[index].def.name; }

int cal_setup_find_event(const CalSetup *setup, const char *name) {
	return setup && name ? (int)setup_find_name(setup, &setup->event_names, name, event_name) - 1 : -1;
}

static bool is_time(double t) { return t >= 0 && isfinite(t); }

static const char *check_when(const CalSetup *setup, const CalSetupEvent *def) {
	const int ways = !isnan(def->at) + (def->every != 0) + (def->when != NULL);
	if (cal_setup_find_event(setup, def->name) >= 0)
		return "there is another event of that name; rename one";
	if (ways == 0 && !def->after)
		return "when does it happen? Give a time, a period, a formula or another event";
	if (ways > 1)
		return "give only one of a time, a period and a formula";
	if (def->after && (!isnan(def->at) || def->every != 0))
		return "an event after another one has no time and no period of its own";
	if (def->after && strcmp(def->after, def->name) == 0)
		return "an event cannot come after itself; use a period for one that repeats";
	if (def->delay != 0 && (!def->after || def->when))
		return "a delay counts from another event, and does not go with a formula";
	if (!is_time(def->every) || !is_time(def->delay) || !(isnan(def->start) || is_time(def->start)) ||
	    !(isnan(def->at) || is_time(def->at)))
		return "its times must be finite and not negative";
	if (def->direction < -1 || def->direction > 1)
		return "its direction is -1, 0 or 1";
	return def->action_count < 0 || (def->action_count > 0 && !def->actions) ? "actions is NULL" : NULL;
}

static CalStatus check_formula(const CalSetup *setup, const CalSetupEvent *def, CalError *error) {
	CalExpression *parsed = NULL;
	CalError own = {0};
	const CalStatus status = cal_expression_create(def->when, &setup->allocator, &parsed, &own);
	cal_expression_destroy(parsed);
	if (status == CAL_ERR_MEMORY)
		return setup_no_memory(setup, error);
	return status == CAL_OK
	           ? CAL_OK
	           : error_set(error, status, "%s%sevent \"%.80s\": %s",
	                       PLACE_ARGS(def->when_place ? def->when_place : def->place), def->name, own.text);
}

static bool copy_event(CalSetup *setup, EventEntry *event) {
	CalSetupEvent *def = &event->def;
	if (!def->when_place)
		def->when_place = def->place;
	if (isnan(def->start))
		def->start = def->every;
	return setup_copy_text(setup, &def->name) && setup_copy_text(setup, &def->when) &&
	       setup_copy_text(setup, &def->after) && setup_copy_text(setup, &def->place) &&
	       setup_copy_text(setup, &def->when_place);
}

static CalStatus copy_actions(CalSetup *setup, EventEntry *event, CalError *error) {
	const size_t count = (size_t)event->def.action_count;
	CalActionDef *actions = setup_copy_array(setup, event->def.actions, count, sizeof *actions);
	const int made = setup->made_count;
	CalStatus status = CAL_OK;
	event->notes = pool_array(&setup->pool, count, sizeof *event->notes);
	event->def.actions = actions;
	if (!actions || !event->notes)
		return setup_no_memory(setup, error);
	for (size_t i = 0; i < count && status == CAL_OK; i++) {
		status = setup_copy_action(setup, &event->def, &actions[i], &event->notes[i], error);
		if (status == CAL_OK && !setup_note_made(setup, &actions[i]))
			status = setup_no_memory(setup, error);
	}
	if (status != CAL_OK)
		setup->made_count = made;
	return status;
}

CalStatus cal_setup_add_event(CalSetup *setup, const CalSetupEvent *def, CalError *error) {
	if (!setup || !def)
		return error_null(error, "cal_setup_add_event", !setup ? "setup" : "def");
	if (!def->name || !def->name[0])
		return error_set(error, CAL_ERR_MODEL, "%s%san event has no name; give it one", PLACE_ARGS(def->place));
	const char *wrong = check_when(setup, def);
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "%s%sevent \"%.80s\": %s", PLACE_ARGS(def->place), def->name, wrong);
	EventEntry event = {.def = *def};
	CalStatus status = def->when ? check_formula(setup, def, error) : CAL_OK;
	if (status != CAL_OK)
		return status;
	if (!copy_event(setup, &event) || !SETUP_ROOM(setup, event) ||
	    !name_index_reserve(&setup->allocator, &setup->event_names))
		return setup_no_memory(setup, error);
	status = copy_actions(setup, &event, error);
	if (status != CAL_OK)
		return status;
	setup->events[setup->event_count++] = event;
	name_index_insert(&setup->event_names, name_hash(0, def->name, strlen(def->name)), (uint32_t)setup->event_count);
	return CAL_OK;
}

int cal_setup_event_count(const CalSetup *setup) { return setup ? setup->event_count : 0; }

CalStatus cal_setup_event(const CalSetup *setup, int index, CalSetupEvent *def) {
	if (!setup || !def || index < 0 || index >= setup->event_count)
		return CAL_ERR_ARGUMENT;
	*def = setup->events[index].def;
	return CAL_OK;
}

CalStatus cal_setup_check(const CalSetup *setup, CalError *error) {
	if (!setup)
		return error_null(error, "cal_setup_check", "setup");
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < setup->event_count; i++) {
		const EventEntry *event = &setup->events[i];
		if (event->def.after && cal_setup_find_event(setup, event->def.after) < 0) {
			Suggestion suggestion = {.word = event->def.after};
			char hint[128];
			for (int k = 0; k < setup->event_count; k++)
				suggestion_offer(&suggestion, setup->events[k].def.name);
			status = error_set(error, CAL_ERR_MODEL, "%s%sevent \"%.80s\": unknown event \"%.80s\"%s",
			                   PLACE_ARGS(event->def.place), event->def.name, event->def.after,
			                   suggestion_text(&suggestion, hint, sizeof hint));
		}
		for (int k = 0; k < event->def.action_count && status == CAL_OK; k++)
			status = setup_check_action(setup, event, &event->def.actions[k], error);
	}
	return status;
}
