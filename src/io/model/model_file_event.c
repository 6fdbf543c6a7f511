// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_event.c — events: when something happens (docs/scenarios.md). model_file_action.c reads what.
 *
 * An event happens at a time, periodically, when a formula says so, or after another event; the last may be combined with a
 * formula. Formulas are parsed here and bound to a simulation by cal_scenario_create().
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/expression.h>

#include "io/model/model_file_event.h"

typedef struct EventInput {
	double at, every, start, delay;
	const TreeNode *at_node, *every_node, *start_node, *delay_node, *when, *direction, *once, *actions;
	const char *after;
} EventInput;

/* A time, and the note that it was given. */
static bool key_time(Reader *r, const TreeNode *value, const Field *key, void *target) {
	static const struct {
		size_t number, node;
	} notes[] = {{offsetof(EventInput, at), offsetof(EventInput, at_node)},
	             {offsetof(EventInput, every), offsetof(EventInput, every_node)},
	             {offsetof(EventInput, start), offsetof(EventInput, start_node)},
	             {offsetof(EventInput, delay), offsetof(EventInput, delay_node)}};
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		if (notes[i].number == key->offset)
			*(const TreeNode **)(void *)((char *)target + notes[i].node) = value;
	return field_read(r, value, key, target);
}

static const Field event_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"at", FIELD_NOT_NEGATIVE, offsetof(EventInput, at), DIM_TIME, .doc = "once, at this time", .read = key_time},
	{"every", FIELD_POSITIVE, offsetof(EventInput, every), DIM_TIME, .doc = "repeatedly, with this period",
     .read = key_time},
	{"start", FIELD_NOT_NEGATIVE, offsetof(EventInput, start), DIM_TIME,
     .doc = "with `every`: the first time; default one period", .read = key_time},
	{"when", FIELD_FORMULA, offsetof(EventInput, when), .flags = FIELD_AS_TREE,
     .doc = "a condition: the event happens when it becomes true; or a number: it happens when the number crosses "
            "zero"},
	{"direction", FIELD_CHOICE, offsetof(EventInput, direction), .flags = FIELD_AS_TREE,
     .doc = "with `when`. `up` (default of a condition): it becomes true, or the number rises through "
            "zero; `down`: it becomes false, or the number falls; `both`: default of a number",
     .words = FIELD_WORDS("up", "down", "both")},
	{"after", FIELD_EVENT, offsetof(EventInput, after), .flags = FIELD_AS_TEXT,
     .doc = "this event happens after that one; with `when` it is watched for only from then on"},
	{"delay", FIELD_NOT_NEGATIVE, offsetof(EventInput, delay), DIM_TIME,
     .doc = "with `after` alone: this much later; default 0", .read = key_time},
	{"once", FIELD_FLAG, offsetof(EventInput, once), .flags = FIELD_AS_TREE,
     .doc = "with `when` and `after`: only the first time; default true. Otherwise every time, with "
            "`after` once each time that the other happened"},
	{"do", FIELD_MAPS, offsetof(EventInput, actions), .flags = FIELD_AS_TREE,
     .doc = "executed in this order; default none: the event is only recorded", .table = &action_table},
};
const FieldTable event_table = {FIELDS("event", event_keys),
                                .doc = "Something that happens in the run and what is then done."};

/* ---- when --------------------------------------------------------------------------------------- */

static bool check_combination(Reader *r, const Item *item, const EventInput *in) {
	const int ways = (in->at_node != NULL) + (in->every_node != NULL) + (in->when != NULL);
	if (ways == 0 && !in->after)
		return reader_fail(r, item->place,
		                   "when does it happen? Give \"at\" (a time), \"every\" (a period), \"when\" (a condition) or "
		                   "\"after\" (another event)");
	if (ways > 1)
		return reader_fail(r, item->place, "give only one of \"at\", \"every\" and \"when\"");
	if (in->after && (in->at_node || in->every_node))
		return reader_fail(r, tree_get(item->value, "after"),
		                   "\"after\" goes alone, with \"delay\", or with \"when\"; remove \"%s\"",
		                   in->at_node ? "at" : "every");
	if (in->start_node && !in->every_node)
		return reader_fail(r, in->start_node, "\"start\" is the first time of \"every\"; give a period, or use \"at\"");
	if (in->delay_node && !in->after)
		return reader_fail(r, in->delay_node, "\"delay\" counts from the event that \"after\" names; name one");
	if (in->delay_node && in->when)
		return reader_fail(r, in->delay_node,
		                   "\"delay\" and \"when\" do not go together; let an event of its own wait, and name that in "
		                   "\"after\"");
	if (in->direction && !in->when)
		return reader_fail(r, in->direction, "\"direction\" belongs to \"when\"");
	if (in->once && (in->at_node || in->every_node))
		return reader_fail(r, in->once,
		                   "\"once\" belongs to \"when\" and \"after\"; \"at\" happens once, \"every\" ever");
	return true;
}

static bool read_direction(Reader *r, const TreeNode *node, int *direction) {
	static const char *const words[] = {"down", "both", "up"};
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < 3; i++) {
		if (strcmp(words[i], suggestion.word) == 0) {
			*direction = i - 1;
			return true;
		}
		suggestion_offer(&suggestion, words[i]);
	}
	return suggestion.best
	           ? reader_unknown(r, node, "direction", &suggestion)
	           : reader_fail(r, node, "unknown direction \"%.40s\"; write up, down or both", suggestion.word);
}

const char *model_file_keep_place(Reader *r, const TreeNode *node) {
	char place[256];
	return reader_text(r, "%s", tree_place(r->file->tree, node, place, sizeof place));
}

/* Syntax is checked here, with the place in the file; names when it is bound. */
static bool read_when(Reader *r, const EventInput *in, CalSetupEvent *event) {
	CalExpression *parsed = NULL;
	CalError error = {0};
	if (!read_text(r, in->when, &event->when))
		return false;
	const CalStatus status = cal_expression_create(event->when, &r->file->allocator, &parsed, &error);
	if (status == CAL_ERR_MEMORY) {
		r->status = tree_error(r->error, tree_name(r->file->tree), NULL, status, "out of memory");
		return false;
	}
	if (status != CAL_OK)
		return reader_fail(r, in->when, "%s", error.text);
	event->direction = cal_expression_is_condition(parsed) ? 1 : 0;
	cal_expression_destroy(parsed);
	event->when_place = model_file_keep_place(r, in->when);
	return event->when_place && (!in->direction || read_direction(r, in->direction, &event->direction));
}

static int find_event(const Reader *r, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&r->file->event_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(r->file->events[value - 1], name) == 0)
			break;
	return (int)value - 1;
}

static bool read_after(Reader *r, const Item *item, const EventInput *in, CalSetupEvent *event) {
	const TreeNode *node = tree_get(item->value, "after");
	const bool known = find_event(r, in->after) >= 0;
	event->after = in->after;
	if (known && strcmp(in->after, item->name) == 0)
		return reader_fail(r, node, "an event cannot come after itself; use \"every\" for one that repeats");
	if (known)
		return true;
	Suggestion suggestion = {.word = in->after};
	for (int i = 0; i < r->file->event_count; i++)
		suggestion_offer(&suggestion, r->file->events[i]);
	return reader_unknown(r, node, "event", &suggestion);
}

static bool read_once(Reader *r, const EventInput *in, CalSetupEvent *event) {
	int once = 1;
	if (in->once && !read_flag(r, in->once, &once))
		return false;
	event->once = once;
	return true;
}

/* ---- the section -------------------------------------------------------------------------------- */

static bool read_event(Reader *r, const Sections *s, const Item *item) {
	EventInput in = {0};
	CalSetupEvent event = cal_setup_event_def();
	reader_subject(r, "event", item->name);
	if (!fields_read(r, item->value, &event_table, &in) || !check_combination(r, item, &in) ||
	    !read_once(r, &in, &event))
		return false;
	event.name = item->name;
	event.at = in.at_node ? in.at : NAN;
	event.every = in.every;
	event.start = in.start_node ? in.start : in.every;
	event.delay = in.delay;
	event.direction = 0;
	event.place = model_file_keep_place(r, item->place);
	if (!event.place || (in.when && !read_when(r, &in, &event)) || (in.after && !read_after(r, item, &in, &event)))
		return false;
	if (in.actions && !model_file_read_actions(r, s, item, in.actions, &event))
		return false;
	return reader_added(r, item->place, cal_setup_add_event(r->file->setup, &event, r->error));
}

/* Every name is known before the first event is read: events may name later ones. */
static bool read_names(Reader *r, const Sections *s, int count) {
	uint32_t capacity = 16;
	while (capacity < 2 * ((uint64_t)count + 1))
		capacity *= 2;
	r->file->event_names = (NameIndex){.slots = reader_array(r, capacity, sizeof(NameSlot)), .capacity = capacity};
	if (!r->file->event_names.slots)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		reader_subject(r, "events", NULL);
		if (!items_get(r, s->events, i, "event", &item))
			return false;
		if (find_event(r, item.name) >= 0)
			return reader_fail(r, item.place, "two events are called \"%.80s\"; rename one", item.name);
		r->file->events[i] = item.name;
		name_index_insert(&r->file->event_names, name_hash(0, item.name, strlen(item.name)), (uint32_t)i + 1);
	}
	return true;
}

bool model_file_read_events(Reader *r, const Sections *s) {
	reader_subject(r, "events", NULL);
	const int count = items_count(r, s->events, "events");
	if (count <= 0)
		return count == 0;
	r->file->events = reader_array(r, (size_t)count, sizeof *r->file->events);
	r->file->event_count = count;
	if (!r->file->events || !read_names(r, s, count) || !model_file_read_made(r, s))
		return false;
	bool read = true;
	for (int i = 0; i < count && read; i++) {
		Item item;
		reader_subject(r, "events", NULL);
		read = items_get(r, s->events, i, "event", &item) && read_event(r, s, &item);
	}
	while (r->file->new_body_count > 0)
		cal_desc_destroy(r->file->new_bodies[--r->file->new_body_count]);
	return read;
}
