// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_action.c — what events do: each action is a map with one verb and what belongs to it (docs/scenarios.md).
 *
 * Names are checked here as far as the file allows: an object is in the description, or an action of some event makes it.
 * Whether the action is possible when it comes is for the simulation to say.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/model/model_file_event.h"

typedef struct ActionInput {
	const TreeNode *verbs[CAL_ACTION_COUNT];
	const TreeNode *group, *dof, *mode, *fit, *tolerance, *loop, *kinematic, *if_refused, *value;
	int propagation; // CalPropagation; -1: not given
} ActionInput;

#define VERB(kind) offsetof(ActionInput, verbs[kind])

static const Field action_keys[] = {
	{"attach", FIELD_MAP, VERB(CAL_ACTION_ATTACH), .flags = FIELD_AS_TREE, .doc = "connects two nodes by a joint",
     .table = &attach_table},
	{"detach", FIELD_JOINT, VERB(CAL_ACTION_DETACH), .flags = FIELD_AS_TREE, .doc = "the joint to open"},
	{"reattach", FIELD_JOINT, VERB(CAL_ACTION_REATTACH), .flags = FIELD_AS_TREE,
     .doc = "the open joint to close again between its nodes"},
	{"reroot", FIELD_BODY, VERB(CAL_ACTION_REROOT), .flags = FIELD_AS_TREE,
     .doc = "the body that becomes the root of its tree"},
	{"split", FIELD_BODY, VERB(CAL_ACTION_SPLIT), .flags = FIELD_AS_TREE,
     .doc = "everything that joints and closed loops connect to this body becomes a group of its own, if its group "
            "has several such parts"},
	{"lock", FIELD_JOINT, VERB(CAL_ACTION_LOCK), .flags = FIELD_AS_TREE,
     .doc = "the joint to stop and lock; it must be in the tree"},
	{"unlock", FIELD_JOINT, VERB(CAL_ACTION_UNLOCK), .flags = FIELD_AS_TREE, .doc = "the joint to unlock"},
	{"lock_modes", FIELD_BODY, VERB(CAL_ACTION_LOCK_MODES), .flags = FIELD_AS_TREE,
     .doc = "a flexible body: an impulse stops its modes, which then keep their values"},
	{"unlock_modes", FIELD_BODY, VERB(CAL_ACTION_UNLOCK_MODES), .flags = FIELD_AS_TREE,
     .doc = "a flexible body, whose modes move again"},
	{"open", FIELD_LOOP, VERB(CAL_ACTION_OPEN), .flags = FIELD_AS_TREE, .doc = "the loop to open"},
	{"close", FIELD_LOOP, VERB(CAL_ACTION_CLOSE), .flags = FIELD_AS_TREE, .doc = "the open loop to close"},
	{"add_body", FIELD_MAP, VERB(CAL_ACTION_ADD_BODY), .flags = FIELD_AS_TREE, .doc = "adds a free-flying body",
     .table = &add_body_table},
	{"remove_body", FIELD_BODY, VERB(CAL_ACTION_REMOVE_BODY), .flags = FIELD_AS_TREE,
     .doc = "a body that carries no other; its momentum is removed with it"},
	{"switch_on", FIELD_DEVICE, VERB(CAL_ACTION_SWITCH_ON), .flags = FIELD_AS_TREE,
     .doc = "the device or component to switch on"},
	{"switch_off", FIELD_DEVICE, VERB(CAL_ACTION_SWITCH_OFF), .flags = FIELD_AS_TREE,
     .doc = "the device to switch off; it keeps its states. A component is let go"},
	{"release", FIELD_GROUP, VERB(CAL_ACTION_RELEASE), .flags = FIELD_AS_TREE,
     .doc = "a group with given motion: it moves by its dynamics from then on"},
	{"propagate", FIELD_GROUP, VERB(CAL_ACTION_PROPAGATE), .flags = FIELD_AS_TREE,
     .doc =
         "the group to switch: from then on it is propagated as `as` says. An impulse stops what is held, without changing the "
         "momentum of the group"},
	{"set", FIELD_TEXT, VERB(CAL_ACTION_SET), .flags = FIELD_AS_TREE,
     .doc = "the [parameter](parameters.md) to change, as `device:servo.proportional` or `body:arm.mass`"},
	{"stop", FIELD_TEXT, VERB(CAL_ACTION_STOP), .flags = FIELD_AS_TREE, .doc = "the reason: the run ends normally",
     .words = FIELD_WORDS("true")},
	{"note", FIELD_TEXT, VERB(CAL_ACTION_NOTE), .flags = FIELD_AS_TREE, .doc = "for the log"},
	{"group", FIELD_GROUP, offsetof(ActionInput, group), .flags = FIELD_AS_TREE,
     .doc = "with `detach`: the group that the separated part becomes; required if a new group is made. With "
            "`split`: the new group; default the name of the body"},
	{"as", FIELD_CHOICE, offsetof(ActionInput, propagation),
     .doc =
         "with `propagate`, required: `flexible` (a given motion ends), `rigid` (modes keep their values) or `kinematic` "
         "(by the [motion](#motion) of the group if it has one; otherwise joints and modes stand still, and a free "
         "root keeps its velocity)",
     .word_at = propagation_word},
	{"value", FIELD_NUMBER, offsetof(ActionInput, value), .flags = FIELD_AS_TREE,
     .doc = "with `set`, required: a plain number in SI units"},
	{"dof", FIELD_DOF, offsetof(ActionInput, dof), .flags = FIELD_AS_TREE,
     .doc = "with `lock` and `unlock`: which degree of freedom; default all"},
	{"mode", FIELD_MODE, offsetof(ActionInput, mode), .flags = FIELD_AS_TREE,
     .doc = "with `lock_modes` and `unlock_modes`: which mode; default all"},
	{"fit", FIELD_CHOICE, offsetof(ActionInput, fit), .flags = FIELD_AS_TREE,
     .doc = "with `reattach`: as of [attach](#attach)", .words = FIELD_WORDS("none", "from", "to")},
	{"tolerance", FIELD_NUMBER, offsetof(ActionInput, tolerance), DIM_LENGTH, .flags = FIELD_AS_TREE,
     .doc = "with `reattach`: as of [attach](#attach)"},
	{"loop", FIELD_FLAG, offsetof(ActionInput, loop), .flags = FIELD_AS_TREE,
     .doc = "with `reattach`: as of [attach](#attach)"},
	{"kinematic", FIELD_FLAG, offsetof(ActionInput, kinematic), .flags = FIELD_AS_TREE,
     .doc = "with `reattach`: as of [attach](#attach)"},
	{"if_refused", FIELD_CHOICE, offsetof(ActionInput, if_refused), .flags = FIELD_AS_TREE,
     .doc = "default `fail`; `ignore`: the refusal is recorded, and the run continues",
     .words = FIELD_WORDS("fail", "ignore")},
};
const FieldTable action_table = {FIELDS("action", action_keys), .doc = "One verb, and what belongs to it."};

/* ---- what actions make ---------------------------------------------------------------------------- */

static const Made *find_made(const ModelFile *file, char what, const char *name) {
	for (int i = 0; i < file->made_count; i++)
		if (file->made[i].what == what && strcmp(file->made[i].name, name) == 0)
			return &file->made[i];
	return NULL;
}

static void note_made(ModelFile *file, char what, const char *name, const TreeNode *map) {
	if (!find_made(file, what, name))
		file->made[file->made_count++] = (Made){what, name, map};
}

static const char *text_of(const TreeNode *node) { return node && node->kind == TREE_SCALAR ? node->text : NULL; }

static const TreeNode *nth_action(const TreeNode *node, int i) {
	return node->kind == TREE_LIST ? node->items[i] : node;
}

static int action_count(const TreeNode *node) { return !node ? 0 : node->kind == TREE_LIST ? node->count : 1; }

static void note_action(ModelFile *file, const TreeNode *action, const char *event) {
	const TreeNode *attach = tree_get(action, "attach"), *body = tree_get(action, "add_body");
	const char *group = text_of(tree_get(action, "group")), *name = text_of(tree_get(attach, "name"));
	if (attach)
		note_made(file, 'j', name ? name : event, attach);
	name = text_of(tree_get(body, "name"));
	if (name) {
		const char *home = text_of(tree_get(body, "group"));
		note_made(file, 'b', name, body);
		group = home ? home : name;
	}
	name = text_of(tree_get(action, "split"));
	if (name && !group)
		group = name;
	if (group && !cal_desc_find_group(file->desc, group).value)
		note_made(file, 'g', group, NULL);
}

bool model_file_read_made(Reader *r, const Sections *s) {
	size_t most = 0;
	for (int i = 0; i < s->events->count; i++)
		most += 3 * (size_t)action_count(tree_get(s->events->items[i], "do"));
	r->file->made = reader_array(r, most, sizeof *r->file->made);
	r->file->new_bodies = reader_array(r, most, sizeof(CalDesc *));
	for (int i = 0; r->file->made && r->file->new_bodies && i < s->events->count; i++) {
		const TreeNode *actions = tree_get(s->events->items[i], "do");
		Item item;
		if (!items_get(r, s->events, i, "event", &item))
			return false;
		for (int k = 0; k < action_count(actions); k++)
			note_action(r->file, nth_action(actions, k), item.name);
	}
	return r->file->made && r->file->new_bodies;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void offer_made(Suggestion *suggestion, const ModelFile *file, char what) {
	for (int i = 0; i < file->made_count; i++)
		if (file->made[i].what == what)
			suggestion_offer(suggestion, file->made[i].name);
}

/* Names of a section that has been read. */
static void offer_section(Reader *r, Suggestion *suggestion, const TreeNode *section, const char *what) {
	for (int i = 0; section && section->kind != TREE_SCALAR && i < section->count; i++) {
		Item item;
		if (items_get(r, section, i, what, &item))
			suggestion_offer(suggestion, item.name);
	}
}

static bool find_joint(Reader *r, const Sections *s, const TreeNode *node, const char *name) {
	Suggestion suggestion = {.word = name};
	if (cal_desc_find_joint(r->file->desc, name).value || find_made(r->file, 'j', name))
		return true;
	offer_section(r, &suggestion, s->joints, "joint");
	offer_made(&suggestion, r->file, 'j');
	return reader_unknown(r, node, "joint", &suggestion);
}

static bool find_body(Reader *r, const Sections *s, const TreeNode *node, const char *name) {
	Suggestion suggestion = {.word = name};
	if (cal_desc_find_body(r->file->desc, name).value || find_made(r->file, 'b', name))
		return true;
	offer_section(r, &suggestion, s->bodies, "body");
	offer_made(&suggestion, r->file, 'b');
	return reader_unknown(r, node, "body", &suggestion);
}

static bool find_listed(Reader *r, const TreeNode *section, const TreeNode *node, const char *what, const char *name) {
	Suggestion suggestion = {.word = name};
	if (model_file_find_item(section, name))
		return true;
	offer_section(r, &suggestion, section, what);
	return reader_unknown(r, node, what, &suggestion);
}

static bool find_group(Reader *r, const Sections *s, const TreeNode *node, const char *name) {
	Suggestion suggestion = {.word = name};
	if (cal_desc_find_group(r->file->desc, name).value || find_made(r->file, 'g', name))
		return true;
	suggestion_offer(&suggestion, "main");
	offer_section(r, &suggestion, s->groups, "group");
	offer_made(&suggestion, r->file, 'g');
	return reader_unknown(r, node, "group", &suggestion);
}

/* A path; *id is {0} for the ground, and for nodes of bodies that actions add. */
static bool find_path(Reader *r, const Sections *s, const TreeNode *node, const char *path, CalNodeId *id) {
	char body[128];
	const size_t length = strcspn(path, "/");
	*id = cal_desc_find_node(r->file->desc, path);
	if (id->value || length >= sizeof body)
		return id->value || model_file_find_node(r, s, node, path, id);
	memcpy(body, path, length);
	body[length] = 0;
	const Made *made = find_made(r->file, 'b', body);
	if (!made)
		return model_file_find_node(r, s, node, path, id);
	if (!path[length] || model_file_find_item(tree_get(made->map, "nodes"), path + length + 1) ||
	    model_file_is_flexible(made->map)) // which may bring nodes with it: the setup knows them all
		return true;
	Suggestion suggestion = {.word = path + length + 1};
	offer_section(r, &suggestion, tree_get(made->map, "nodes"), "node");
	return reader_unknown(r, node, "node of the new body", &suggestion);
}

/* ---- attach ------------------------------------------------------------------------------------------- */

typedef struct AttachInput {
	JointInput joint;
	const char *name;
	const TreeNode *fit, *tolerance, *loop, *kinematic;
} AttachInput;

static const Field attach_keys[] = {
	{"name", FIELD_OBJECT, offsetof(AttachInput, name), .flags = FIELD_AS_TEXT,
     .doc = "of the joint; default that of the event"},
	{"type", FIELD_CHOICE, offsetof(AttachInput, joint.type), .doc = "as of a [joint](#joint); default `weld`",
     .word_at = model_file_joint_word, .read = key_joint_type},
	{"from", FIELD_NODE, offsetof(AttachInput, joint.from), .flags = FIELD_AS_TEXT,
     .doc = "the first node; default `ground`"},
	{"to", FIELD_NODE, offsetof(AttachInput, joint.to), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "the second node"},
	{"axis", FIELD_AXIS, offsetof(AttachInput, joint.axis), .doc = "as of a joint"},
	{"axis2", FIELD_AXIS, offsetof(AttachInput, joint.axis2), .doc = "as of a joint"},
	{"pitch", FIELD_NUMBER, offsetof(AttachInput, joint.pitch), DIM_PITCH, .doc = "as of a joint"},
	{"elements", FIELD_LIST, offsetof(AttachInput, joint.elements), .flags = FIELD_AS_TREE, .doc = "as of a joint",
     .table = &element_table},
	{"inboard", FIELD_PLACEMENT, offsetof(AttachInput, joint.inboard), DIM_LENGTH, .doc = "as of a joint"},
	{"outboard", FIELD_PLACEMENT, offsetof(AttachInput, joint.outboard), DIM_LENGTH, .doc = "as of a joint"},
	{"dof", FIELD_MAPS, offsetof(AttachInput, joint.dof), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "as of a joint", .table = &dof_table},
	{"fit", FIELD_CHOICE, offsetof(AttachInput, fit), .flags = FIELD_AS_TREE,
     .doc = "`none` (default): the nodes have to be where the joint allows; `from`, `to`: they may be "
            "anywhere, and the joint is made to fit, at its zero, where its placement puts it on that "
            "node",
     .words = FIELD_WORDS("none", "from", "to")},
	{"tolerance", FIELD_NUMBER, offsetof(AttachInput, tolerance), DIM_LENGTH, .flags = FIELD_AS_TREE,
     .doc = "largest position error of the nodes with `fit: none`, also as an angle [rad]; default 1 µm. The error "
            "stays: nothing jumps"},
	{"loop", FIELD_FLAG, offsetof(AttachInput, loop), .flags = FIELD_AS_TREE,
     .doc = "makes a loop even where the joint can be part of the tree; default false"},
	{"kinematic", FIELD_FLAG, offsetof(AttachInput, kinematic), .flags = FIELD_AS_TREE,
     .doc =
         "without an impulse: the part that is attached takes over the motion of the node that carries it, and momentum "
         "and energy change by what the log reports; default false"},
};
const FieldTable attach_table = {FIELDS("attach", attach_keys),
                                 .doc = "A joint between two nodes of any groups, closed by an inelastic impulse, or "
                                        "kinematically."};

static bool read_options(Reader *r, const TreeNode *fit, const TreeNode *tolerance, const TreeNode *loop,
                         const TreeNode *kinematic, CalAttachOptions *options) {
	const char *word = "none";
	if (fit && !read_text(r, fit, &word))
		return false;
	if (strcmp(word, "none") != 0 && strcmp(word, "from") != 0 && strcmp(word, "to") != 0)
		return reader_fail(r, fit, "unknown fit \"%.40s\"; write none, from or to", word);
	options->fit = word[0] == 'f' ? CAL_FIT_AT_A : word[0] == 't' ? CAL_FIT_AT_B : CAL_FIT_NONE;
	if (tolerance && !read_quantity(r, tolerance, DIM_LENGTH, &options->tolerance))
		return false;
	if (!(options->tolerance >= 0))
		return reader_fail(r, tolerance, "\"tolerance\" must not be negative");
	return (!loop || read_flag(r, loop, &options->loop)) &&
	       (!kinematic || read_flag(r, kinematic, &options->kinematic));
}

static bool on_ground(const Reader *r, const char *path, CalNodeId id) {
	CalBodyId body = {1};
	if (id.value)
		cal_desc_node(r->file->desc, id, &body);
	return strcmp(path, "ground") == 0 || body.value == 0;
}

static bool check_sides(Reader *r, const Sections *s, const TreeNode *map, const CalActionDef *action) {
	CalNodeId a, b;
	const TreeNode *from = tree_get(map, "from"), *to = tree_get(map, "to");
	if ((from && !find_path(r, s, from, action->from, &a)) || !find_path(r, s, to, action->to, &b))
		return false;
	if (!from)
		a = (CalNodeId){0};
	if (strcmp(action->from, action->to) == 0 || (a.value && a.value == b.value))
		return reader_fail(r, to, "this would attach node \"%.80s\" to itself", action->to);
	if (on_ground(r, action->from, a) && on_ground(r, action->to, b))
		return reader_fail(r, to, "both sides are on the ground; one must be on a body");
	return true;
}

static const char *side_of(const TreeNode *map, const char *key) {
	const char *text = text_of(tree_get(map, key));
	return text ? text : "ground";
}

/* A name that stands for one joint: between the same nodes wherever it is given. */
static bool check_joint_name(Reader *r, const TreeNode *map, const CalActionDef *action) {
	const Made *first = find_made(r->file, 'j', action->name);
	const TreeNode *place = tree_get(map, "name");
	if (!place)
		place = map;
	if (cal_desc_find_joint(r->file->desc, action->name).value)
		return reader_fail(r, place,
		                   "joint \"%.80s\" is in the file already; write reattach: %.80s, or take another \"name\"",
		                   action->name, action->name);
	if (first && first->map->kind == TREE_MAP &&
	    (strcmp(side_of(first->map, "from"), action->from) != 0 || strcmp(side_of(first->map, "to"), action->to) != 0))
		return reader_fail(r, place, "joint \"%.80s\" is between other nodes in line %d; take another \"name\"",
		                   action->name, first->map->line);
	return true;
}

static bool read_attach(Reader *r, const Sections *s, const TreeNode *map, const char *event, CalActionDef *action) {
	AttachInput in = {
		.joint = {.type = CAL_JOINT_WELD, .inboard.orientation = {1, 0, 0, 0}, .outboard.orientation = {1, 0, 0, 0}}};
	JointShape shape;
	if (!fields_read(r, map, &attach_table, &in))
		return false;
	action->name = in.name ? in.name : event;
	action->from = in.joint.from ? in.joint.from : "ground";
	action->to = in.joint.to;
	if (!model_file_check_name(r, in.name ? tree_get(map, "name") : map, action->name) ||
	    !check_sides(r, s, map, action) || !check_joint_name(r, map, action) ||
	    !read_options(r, in.fit, in.tolerance, in.loop, in.kinematic, &action->options) ||
	    !model_file_joint_def(r, map, &in.joint, &action->joint, &shape))
		return false;
	action->joint.name = action->name;
	action->joint.place = model_file_keep_place(r, map);
	return action->joint.place != NULL;
}

/* ---- one action --------------------------------------------------------------------------------------------- */

static bool about_modes(CalActionKind kind) { return kind == CAL_ACTION_LOCK_MODES || kind == CAL_ACTION_UNLOCK_MODES; }

static bool find_verb(Reader *r, const TreeNode *map, const ActionInput *in, CalActionKind *kind) {
	int found = 0;
	for (int i = 0; i < CAL_ACTION_COUNT; i++) {
		if (!in->verbs[i])
			continue;
		if (found++)
			return reader_fail(r, in->verbs[i], "an action does one thing: write \"%s\" and \"%s\" as two, in a list",
			                   cal_action_name(*kind), cal_action_name((CalActionKind)i));
		*kind = (CalActionKind)i;
	}
	return found || reader_fail(r, map,
	                            "this action does nothing; give one of attach, detach, reattach, reroot, split, lock, "
	                            "unlock, lock_modes, unlock_modes, open, close, propagate, add_body, remove_body, "
	                            "switch_on, switch_off, release, set, stop and note");
}

/* Keys that belong to some verbs only. */
static bool check_keys(Reader *r, const TreeNode *map, const ActionInput *in, CalActionKind kind) {
	const bool re = kind == CAL_ACTION_REATTACH, lock = kind == CAL_ACTION_LOCK || kind == CAL_ACTION_UNLOCK;
	const struct {
		const TreeNode *node;
		const char *key, *where;
		bool fits;
	} keys[] = {{in->group, "group", "detach and split", kind == CAL_ACTION_DETACH || kind == CAL_ACTION_SPLIT},
	            {in->value, "value", "set", kind == CAL_ACTION_SET},
	            {in->dof, "dof", "lock and unlock", lock},
	            {in->mode, "mode", "lock_modes and unlock_modes", about_modes(kind)},
	            {in->fit, "fit", "reattach (of attach: inside its map)", re},
	            {in->tolerance, "tolerance", "reattach (of attach: inside its map)", re},
	            {in->loop, "loop", "reattach (of attach: inside its map)", re},
	            {in->kinematic, "kinematic", "reattach (of attach: inside its map)", re}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].node && !keys[i].fits)
			return reader_fail(r, keys[i].node, "\"%s\" belongs to %s, not to %s", keys[i].key, keys[i].where,
			                   cal_action_name(kind));
	if (in->propagation >= 0 && kind != CAL_ACTION_PROPAGATE)
		return reader_fail(r, tree_get(map, "as"), "\"as\" belongs to propagate, not to %s", cal_action_name(kind));
	return in->propagation >= 0 || kind != CAL_ACTION_PROPAGATE ||
	       reader_fail(r, map, "say how the group is to be propagated: \"as\" is flexible, rigid or kinematic");
}

static bool read_dof(Reader *r, const TreeNode *node, const char *joint, int *dof) {
	const CalJointId id = cal_desc_find_joint(r->file->desc, joint);
	const int count = id.value ? r->file->joints[id.value - 1].shape.nu : CAL_JOINT_MAX_DOF;
	return read_index(r, node, "dof", count, "the degrees of freedom of joint", joint, dof);
}

/* Which mode of a body that is flexible; node NULL: all of them. Of a body that an action adds the simulation counts them. */
static bool read_mode(Reader *r, const TreeNode *place, const TreeNode *node, const char *body, int *mode) {
	const CalBodyId id = cal_desc_find_body(r->file->desc, body);
	const Made *made = find_made(r->file, 'b', body);
	int count = !id.value && made && model_file_is_flexible(made->map) ? INT_MAX : 0;
	for (int i = 0; id.value && i < cal_desc_joint_count(r->file->desc); i++)
		count += r->file->joints[i].body.value == id.value ? r->file->joints[i].modes : 0;
	if (count == 0)
		return reader_fail(r, place, "body \"%.80s\" is rigid: it has no modes", body);
	return !node || read_index(r, node, "mode", count, "those of body", body, mode);
}

/* The object that a verb with a plain name is about. */
static bool find_object(Reader *r, const Sections *s, const TreeNode *node, CalActionKind kind, const char *name) {
	switch (kind) {
	case CAL_ACTION_DETACH:
	case CAL_ACTION_REATTACH:
	case CAL_ACTION_LOCK:
	case CAL_ACTION_UNLOCK:
		return find_joint(r, s, node, name);
	case CAL_ACTION_REROOT:
	case CAL_ACTION_SPLIT:
	case CAL_ACTION_LOCK_MODES:
	case CAL_ACTION_UNLOCK_MODES:
	case CAL_ACTION_REMOVE_BODY:
		return find_body(r, s, node, name);
	case CAL_ACTION_OPEN:
	case CAL_ACTION_CLOSE:
		return find_listed(r, s->loops, node, "loop", name);
	case CAL_ACTION_SWITCH_ON:
	case CAL_ACTION_SWITCH_OFF:
		return model_file_find_device(r, s, node, name);
	case CAL_ACTION_RELEASE:
	case CAL_ACTION_PROPAGATE:
		return find_group(r, s, node, name);
	default:
		return true;
	}
}

static bool read_named(Reader *r, const Sections *s, const ActionInput *in, CalActionDef *action) {
	const TreeNode *node = in->verbs[action->kind];
	if (!read_text(r, node, &action->name))
		return false;
	if (action->kind == CAL_ACTION_SET && !in->value)
		return reader_fail(r, node, "give the \"value\" that \"%.200s\" gets", action->name);
	if (in->value && !read_quantity(r, in->value, DIM_NUMBER, &action->value))
		return false;
	if (action->kind == CAL_ACTION_STOP && strcmp(action->name, "false") == 0)
		return reader_fail(r, node, "\"stop\" is true, or a text that says why");
	if (action->kind == CAL_ACTION_STOP && strcmp(action->name, "true") == 0)
		action->name = "";
	if (action->kind == CAL_ACTION_SPLIT)
		action->group = action->name;
	return find_object(r, s, node, action->kind, action->name) &&
	       (!in->group ||
	        (read_text(r, in->group, &action->group) && model_file_check_name(r, in->group, action->group))) &&
	       (!in->dof || read_dof(r, in->dof, action->name, &action->dof)) &&
	       (!about_modes(action->kind) || read_mode(r, node, in->mode, action->name, &action->dof)) &&
	       read_options(r, in->fit, in->tolerance, in->loop, in->kinematic, &action->options);
}

static bool read_refused(Reader *r, const TreeNode *node, int *ignore) {
	const char *word;
	if (!read_text(r, node, &word))
		return false;
	if (strcmp(word, "ignore") != 0 && strcmp(word, "fail") != 0)
		return reader_fail(r, node, "\"if_refused\" is fail or ignore, not \"%.40s\"", word);
	*ignore = word[0] == 'i';
	return true;
}

static bool read_action(Reader *r, const Sections *s, const TreeNode *map, const char *event, CalActionDef *action) {
	ActionInput in = {.propagation = -1};
	if (!fields_read(r, map, &action_table, &in) || !find_verb(r, map, &in, &action->kind) ||
	    !check_keys(r, map, &in, action->kind) || (in.if_refused && !read_refused(r, in.if_refused, &action->ignore)))
		return false;
	action->dof = -1;
	action->propagation = (CalPropagation)(in.propagation >= 0 ? in.propagation : 0);
	action->place = model_file_keep_place(r, map);
	const TreeNode *value = in.verbs[action->kind];
	return action->place && (action->kind == CAL_ACTION_ATTACH     ? read_attach(r, s, value, event, action)
	                         : action->kind == CAL_ACTION_ADD_BODY ? model_file_read_new_body(r, s, value, action)
	                                                               : read_named(r, s, &in, action));
}

bool model_file_read_actions(Reader *r, const Sections *s, const Item *item, const TreeNode *node,
                             CalSetupEvent *event) {
	const int count = action_count(node);
	CalActionDef *actions = reader_array(r, (size_t)count, sizeof *actions);
	for (int i = 0; actions && i < count; i++)
		if (!read_action(r, s, nth_action(node, i), item->name, &actions[i]))
			return false;
	event->actions = actions;
	event->action_count = count;
	return actions != NULL;
}
