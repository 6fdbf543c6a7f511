// SPDX-License-Identifier: Apache-2.0
/*
 * setup_action.c — what events do: copies of actions, what they make, and the names of their objects.
 *
 * An object is in the description, or an action of some event makes it. Whether an action is possible when it comes is for
 * the simulation to say.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "setup/setup.h"

static const char *const action_names[] = {
#define ACTION_NAME(name, text) text,
	CAL_ACTION_LIST(ACTION_NAME)
#undef ACTION_NAME
};

const char *cal_action_name(CalActionKind kind) {
	return (int)kind >= 0 && kind < CAL_ACTION_COUNT ? action_names[kind] : NULL;
}

CalActionDef cal_action_def(CalActionKind kind) {
	CalActionDef def = {.kind = kind, .dof = -1, .joint = cal_joint_def(CAL_JOINT_WELD), .body.body = cal_body_def()};
	def.body.placement.orientation.w = 1;
	return def;
}

static bool about_dof(CalActionKind kind) { return kind == CAL_ACTION_LOCK || kind == CAL_ACTION_UNLOCK; }
static bool about_modes(CalActionKind kind) { return kind == CAL_ACTION_LOCK_MODES || kind == CAL_ACTION_UNLOCK_MODES; }

/* ---- what actions make --------------------------------------------------------------------------- */

const MadeObject *setup_find_made(const CalSetup *setup, char what, const char *name) {
	for (int i = 0; i < setup->made_count; i++)
		if (setup->made[i].what == what && strcmp(setup->made[i].name, name) == 0)
			return &setup->made[i];
	return NULL;
}

static bool note_object(CalSetup *setup, char what, const char *name, const CalActionDef *action) {
	if (setup_find_made(setup, what, name))
		return true;
	if (!setup_room(setup, (void **)(void *)&setup->made, setup->made_count, &setup->made_capacity,
	                sizeof *setup->made))
		return false;
	setup->made[setup->made_count++] = (MadeObject){what, name, action};
	return true;
}

bool setup_note_made(CalSetup *setup, const CalActionDef *action) {
	const char *group = action->kind == CAL_ACTION_ADD_BODY ? action->body.group : action->group;
	if (action->kind == CAL_ACTION_ATTACH && !note_object(setup, 'j', action->name, action))
		return false;
	if (action->kind == CAL_ACTION_ADD_BODY && !note_object(setup, 'b', action->name, action))
		return false;
	return !group || cal_desc_find_group(setup->desc, group).value || note_object(setup, 'g', group, action);
}

static bool has_second_order(const CalFlexDef *flex) {
	for (int i = 0; flex && i < flex->node_count; i++)
		if (flex->nodes[i].phi2)
			return true;
	return flex && flex->geometric;
}

CalSimCapacity cal_setup_capacity(const CalSetup *setup) {
	CalSimCapacity capacity = {0};
	for (int i = 0; setup && i < setup->made_count; i++) {
		const MadeObject *made = &setup->made[i];
		const CalNewBody *body = made->what == 'b' ? &made->action->body : NULL;
		capacity.joints += made->what == 'j';
		capacity.bodies += made->what == 'b';
		capacity.groups += made->what == 'g';
		capacity.nodes += body ? body->node_count : 0;
		capacity.modes += body && body->flex ? body->flex->modes : 0;
		capacity.second_order |= body && has_second_order(body->flex);
	}
	return capacity;
}

/* ---- one action ---------------------------------------------------------------------------------------- */

static CalStatus refuse(const CalSetupEvent *event, const CalActionDef *def, CalError *error, const char *wrong,
                        const char *name) {
	char text[300];
	const char *place = def->place ? def->place : event->place;
	snprintf(text, sizeof text, wrong, name);
	return error_set(error, CAL_ERR_MODEL, "%s%sevent \"%.80s\": %s: %s", PLACE_ARGS(place), event->name,
	                 cal_action_name(def->kind), text);
}

/* The names that may be left out. */
static void fill_names(const CalSetupEvent *event, CalActionDef *def) {
	if (def->kind == CAL_ACTION_ATTACH) {
		def->name = def->name ? def->name : event->name;
		def->from = def->from ? def->from : "ground";
		def->to = def->to ? def->to : "ground";
		def->joint.name = def->name;
	}
	if (def->kind == CAL_ACTION_ADD_BODY) {
		def->name = def->body.body.name;
		def->body.group = def->body.group ? def->body.group : def->name;
	}
	if (def->kind == CAL_ACTION_SPLIT && !def->group)
		def->group = def->name;
	if (def->kind == CAL_ACTION_STOP && !def->name)
		def->name = "";
}

static bool on_ground(const char *path) { return strncmp(path, "ground", 6) == 0 && (!path[6] || path[6] == '/'); }

/* NULL, or a format for the name that is wrong. */
static const char *check_attach(const CalSetup *setup, const CalActionDef *def, const char **name) {
	const MadeObject *first = setup_find_made(setup, 'j', def->name);
	*name = def->name;
	if (cal_desc_find_joint(setup->desc, def->name).value)
		return "joint \"%.80s\" is in the description already; reattach it, or take another name";
	if (first && (strcmp(first->action->from, def->from) != 0 || strcmp(first->action->to, def->to) != 0))
		return "joint \"%.80s\" is between other nodes in another action; take another name";
	*name = def->to;
	if (strcmp(def->from, def->to) == 0)
		return "this would attach node \"%.80s\" to itself";
	if (on_ground(def->from) && on_ground(def->to))
		return "both sides are on the ground, node \"%.80s\" too; one must be on a body";
	*name = def->name;
	if (!cal_joint_type_name(def->joint.type))
		return "joint \"%.80s\" has an unknown type";
	return def->options.tolerance >= 0 ? NULL : "the tolerance of joint \"%.80s\" must not be negative";
}

static const char *check_body(const CalSetup *setup, const CalActionDef *def, const char **name) {
	const CalNewBody *body = &def->body;
	*name = def->name;
	if (cal_desc_find_body(setup->desc, def->name).value)
		return "there is a body \"%.80s\" already; take another name";
	if (body->node_count < 0 || (body->node_count > 0 && !body->nodes))
		return "the nodes of body \"%.80s\" are missing";
	for (int i = 0; i < body->node_count; i++)
		if (!body->nodes[i].name)
			return "a node of body \"%.80s\" has no name";
	const CalFlexDef *flex = body->flex;
	if (flex && (flex->modes <= 0 || !flex->stiffness || flex->node_count < 0 || (flex->node_count && !flex->nodes)))
		return "the flexibility of body \"%.80s\" needs modes, a stiffness and nodes";
	return NULL;
}

static const char *check_dof(const CalSetup *setup, const CalActionDef *def, const char **name) {
	const CalJointId joint = cal_desc_find_joint(setup->desc, def->name);
	const CalBodyId body = cal_desc_find_body(setup->desc, def->name);
	*name = def->name;
	if (about_dof(def->kind)) {
		const int count = joint.value ? setup_joint_speeds(setup->desc, joint) : CAL_JOINT_MAX_DOF;
		return def->dof < -1 || def->dof >= count
		           ? "joint \"%.80s\" has no such degree of freedom; they count from 0, and -1 means all"
		           : NULL;
	}
	const int modes = setup_body_modes(setup->desc, body);
	if (about_modes(def->kind) && body.value && modes == 0)
		return "body \"%.80s\" is rigid: it has no modes";
	return about_modes(def->kind) && (def->dof < -1 || (body.value && def->dof >= modes))
	           ? "body \"%.80s\" has no such mode; they count from 0, and -1 means all"
	           : NULL;
}

static CalStatus check_definition(const CalSetup *setup, const CalSetupEvent *event, const CalActionDef *def,
                                  CalError *error) {
	const char *name = "";
	if (!def->name)
		return refuse(event, def, error, "it needs a name%s", "");
	if (def->kind == CAL_ACTION_PROPAGATE && !cal_propagation_name(def->propagation))
		return refuse(event, def, error, "the propagation of group \"%.80s\" is none that there is", def->name);
	if (def->kind == CAL_ACTION_SET && !isfinite(def->value))
		return refuse(event, def, error, "the value of \"%.200s\" is not finite", def->name);
	const char *wrong = def->kind == CAL_ACTION_ATTACH     ? check_attach(setup, def, &name)
	                    : def->kind == CAL_ACTION_ADD_BODY ? check_body(setup, def, &name)
	                                                       : check_dof(setup, def, &name);
	return wrong ? refuse(event, def, error, wrong, name) : CAL_OK;
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

static bool copy_flex(CalSetup *setup, const CalFlexDef **flex) {
	CalFlexDef *own = setup_copy_array(setup, *flex, 1, sizeof *own);
	if (!own)
		return false;
	const size_t m = (size_t)own->modes, count = (size_t)own->node_count;
	CalFlexNode *nodes = setup_copy_array(setup, own->nodes, count, sizeof *nodes);
	bool copied = nodes && setup_copy_doubles(setup, &own->stiffness, m * m) &&
	              setup_copy_doubles(setup, &own->damping, m * m) &&
	              setup_copy_doubles(setup, &own->geometric, CAL_FLEX_GEOMETRIC * m * m);
	for (size_t i = 0; i < count && copied; i++)
		copied = setup_copy_doubles(setup, &nodes[i].phi, 3 * m) && setup_copy_doubles(setup, &nodes[i].psi, 3 * m) &&
		         setup_copy_doubles(setup, &nodes[i].phi2, 3 * m * m);
	own->nodes = nodes;
	*flex = own;
	return copied;
}

static bool copy_body(CalSetup *setup, CalNewBody *body) {
	const size_t count = (size_t)body->node_count, modes = body->flex ? (size_t)body->flex->modes : 0;
	CalNodeDef *nodes = setup_copy_array(setup, body->nodes, count, sizeof *nodes);
	bool copied = nodes && setup_copy_text(setup, &body->group) && setup_copy_text(setup, &body->body.name) &&
	              setup_copy_text(setup, &body->body.place) && (!body->flex || copy_flex(setup, &body->flex)) &&
	              setup_copy_doubles(setup, &body->eta, modes) && setup_copy_doubles(setup, &body->eta_dot, modes);
	for (size_t i = 0; i < count && copied; i++)
		copied = setup_copy_text(setup, &nodes[i].name) && setup_copy_text(setup, &nodes[i].place);
	body->nodes = nodes;
	return copied;
}

/* In words, for the log. */
static const char *describe(CalSetup *setup, const CalActionDef *def) {
	static const char *const words[CAL_ACTION_COUNT] = {
		[CAL_ACTION_REROOT] = "reroot at",         [CAL_ACTION_SPLIT] = "split off",
		[CAL_ACTION_LOCK_MODES] = "lock modes of", [CAL_ACTION_UNLOCK_MODES] = "unlock modes of",
		[CAL_ACTION_OPEN] = "open loop",           [CAL_ACTION_CLOSE] = "close loop",
		[CAL_ACTION_ADD_BODY] = "add body",        [CAL_ACTION_REMOVE_BODY] = "remove body",
		[CAL_ACTION_SWITCH_ON] = "switch on",      [CAL_ACTION_SWITCH_OFF] = "switch off",
		[CAL_ACTION_RELEASE] = "release group",    [CAL_ACTION_NOTE] = "note:",
	};
	const char *verb = words[def->kind] ? words[def->kind] : cal_action_name(def->kind);
	char text[400];
	if (def->kind == CAL_ACTION_ATTACH)
		snprintf(text, sizeof text, "%s %.80s: %.100s to %.100s", verb, def->name, def->from, def->to);
	else if (def->kind == CAL_ACTION_STOP)
		snprintf(text, sizeof text, "%s%s%.300s", verb, def->name[0] ? ": " : "", def->name);
	else if (def->kind == CAL_ACTION_SET)
		snprintf(text, sizeof text, "set %.300s to %.9g", def->name, def->value);
	else if (def->kind == CAL_ACTION_PROPAGATE)
		snprintf(text, sizeof text, "%s %.300s as %s", verb, def->name, cal_propagation_name(def->propagation));
	else if (def->dof >= 0 && (about_dof(def->kind) || about_modes(def->kind)))
		snprintf(text, sizeof text, "%s %.80s, %s %d", verb, def->name,
		         about_modes(def->kind) ? "mode" : "degree of freedom", def->dof + 1);
	else
		snprintf(text, sizeof text, "%s %.300s", verb, def->name);
	return pool_text(&setup->pool, text, strlen(text));
}

/* The line of "file:line:column"; 0: there is none. */
static int line_of(const char *place) {
	const char *column = place ? strrchr(place, ':') : NULL, *line = column;
	while (line && line > place && line[-1] != ':')
		line--;
	return line && line > place ? (int)strtol(line, NULL, 10) : 0;
}

static bool copy_texts(CalSetup *setup, CalActionDef *def) {
	return setup_copy_text(setup, &def->name) && setup_copy_text(setup, &def->group) &&
	       setup_copy_text(setup, &def->from) && setup_copy_text(setup, &def->to) &&
	       setup_copy_text(setup, &def->place) && setup_copy_text(setup, &def->joint.place);
}

CalStatus setup_copy_action(CalSetup *setup, const CalSetupEvent *event, CalActionDef *action, ActionNote *note,
                            CalError *error) {
	if (!cal_action_name(action->kind))
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sevent \"%.80s\": unknown kind of action %d",
		                 PLACE_ARGS(event->place), event->name, (int)action->kind);
	fill_names(event, action);
	const CalStatus status = check_definition(setup, event, action, error);
	if (status != CAL_OK)
		return status;
	if (!copy_texts(setup, action) || (action->kind == CAL_ACTION_ADD_BODY && !copy_body(setup, &action->body)))
		return setup_no_memory(setup, error);
	action->joint.name = action->name;
	*note = (ActionNote){describe(setup, action), line_of(action->place)};
	return note->text ? CAL_OK : setup_no_memory(setup, error);
}

/* ---- names of objects --------------------------------------------------------------------------------------- */

static void offer_made(const CalSetup *setup, char what, Suggestion *suggestion) {
	for (int i = 0; i < setup->made_count; i++)
		if (setup->made[i].what == what)
			suggestion_offer(suggestion, setup->made[i].name);
}

static bool find_joint(const CalSetup *setup, Suggestion *s) {
	if (cal_desc_find_joint(setup->desc, s->word).value || setup_find_made(setup, 'j', s->word))
		return true;
	for (int i = 1; i <= cal_desc_joint_count(setup->desc); i++)
		suggestion_offer(s, cal_desc_joint(setup->desc, (CalJointId){(uint32_t)i}, NULL, NULL)->name);
	offer_made(setup, 'j', s);
	return false;
}

static bool find_body(const CalSetup *setup, Suggestion *s) {
	if (cal_desc_find_body(setup->desc, s->word).value || setup_find_made(setup, 'b', s->word))
		return true;
	for (int i = 1; i <= cal_desc_body_count(setup->desc); i++)
		suggestion_offer(s, cal_desc_body(setup->desc, (CalBodyId){(uint32_t)i})->name);
	offer_made(setup, 'b', s);
	return false;
}

static bool find_group(const CalSetup *setup, Suggestion *s) {
	if (cal_desc_find_group(setup->desc, s->word).value || setup_find_made(setup, 'g', s->word))
		return true;
	for (int i = 1; i <= cal_desc_group_count(setup->desc); i++)
		suggestion_offer(s, cal_desc_group(setup->desc, (CalGroupId){(uint32_t)i})->name);
	offer_made(setup, 'g', s);
	return false;
}

static bool find_loop(const CalSetup *setup, Suggestion *s) {
	if (cal_desc_find_loop(setup->desc, s->word).value)
		return true;
	for (int i = 1; i <= cal_desc_loop_count(setup->desc); i++)
		suggestion_offer(s, cal_desc_loop(setup->desc, (CalLoopId){(uint32_t)i}, NULL, NULL)->name);
	return false;
}

/* Subsystems are devices too. */
static bool find_device(const CalSetup *setup, Suggestion *s) {
	bool found = setup_find_device(setup, s->word) >= 0;
	for (int i = 0; i < setup->subsystem_count && !found; i++)
		found = strcmp(setup->subsystems[i].name, s->word) == 0;
	for (int i = 0; i < setup->device_count && !found; i++)
		suggestion_offer(s, setup->devices[i].name);
	for (int i = 0; i < setup->subsystem_count && !found; i++)
		suggestion_offer(s, setup->subsystems[i].name);
	return found;
}

/* A node of the description, or of a body that an action adds. */
static bool find_node(const CalSetup *setup, Suggestion *s) {
	const char *slash = name_path_split(s->word);
	const size_t length = slash ? (size_t)(slash - s->word) : strlen(s->word);
	if (strcmp(s->word, "ground") == 0 || cal_desc_find_node(setup->desc, s->word).value)
		return true;
	for (int i = 0; i < setup->made_count; i++) {
		const MadeObject *made = &setup->made[i];
		if (made->what != 'b' || strlen(made->name) != length || strncmp(made->name, s->word, length) != 0)
			continue;
		for (int k = 0; slash && k < made->action->body.node_count; k++)
			if (strcmp(made->action->body.nodes[k].name, slash + 1) == 0)
				return true;
		return !slash;
	}
	return false;
}

static const struct {
	const char *what;
	bool (*find)(const CalSetup *setup, Suggestion *suggestion);
} objects[CAL_ACTION_COUNT] = {
	[CAL_ACTION_DETACH] = {"joint", find_joint},       [CAL_ACTION_REATTACH] = {"joint", find_joint},
	[CAL_ACTION_LOCK] = {"joint", find_joint},         [CAL_ACTION_UNLOCK] = {"joint", find_joint},
	[CAL_ACTION_REROOT] = {"body", find_body},         [CAL_ACTION_SPLIT] = {"body", find_body},
	[CAL_ACTION_LOCK_MODES] = {"body", find_body},     [CAL_ACTION_UNLOCK_MODES] = {"body", find_body},
	[CAL_ACTION_REMOVE_BODY] = {"body", find_body},    [CAL_ACTION_OPEN] = {"loop", find_loop},
	[CAL_ACTION_CLOSE] = {"loop", find_loop},          [CAL_ACTION_SWITCH_ON] = {"device", find_device},
	[CAL_ACTION_SWITCH_OFF] = {"device", find_device}, [CAL_ACTION_RELEASE] = {"group", find_group},
	[CAL_ACTION_PROPAGATE] = {"group", find_group},
};

static CalStatus unknown_name(const EventEntry *event, const CalActionDef *action, const char *what,
                              const Suggestion *suggestion, CalError *error) {
	char hint[128];
	const char *place = action->place ? action->place : event->def.place;
	return error_set(error, CAL_ERR_MODEL, "%s%sevent \"%.80s\": %s: unknown %s \"%.80s\"%s", PLACE_ARGS(place),
	                 event->def.name, cal_action_name(action->kind), what, suggestion->word,
	                 suggestion_text(suggestion, hint, sizeof hint));
}

CalStatus setup_check_action(const CalSetup *setup, const EventEntry *event, const CalActionDef *action,
                             CalError *error) {
	Suggestion name = {.word = action->name}, from = {.word = action->from}, to = {.word = action->to};
	if (objects[action->kind].find && !objects[action->kind].find(setup, &name))
		return unknown_name(event, action, objects[action->kind].what, &name, error);
	if (action->kind == CAL_ACTION_ATTACH && !find_node(setup, &from))
		return unknown_name(event, action, "node", &from, error);
	if (action->kind == CAL_ACTION_ATTACH && !find_node(setup, &to))
		return unknown_name(event, action, "node", &to, error);
	return CAL_OK;
}
