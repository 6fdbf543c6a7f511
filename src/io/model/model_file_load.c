// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_load.c — loads: efforts and driven dofs of joints and modes, wrenches on nodes, each over an interval.
 *
 * Numbers and accelerations become loads of the setup (inputs of the models), tables and formulas devices of type
 * applied_load: one for each degree of freedom or mode, or for a node.
 */
#include <math.h>
#include <string.h>

#include "io/model/model_file.h"

typedef struct LoadInput {
	const char *name, *joint, *body, *node, *frame;
	const TreeNode *mode, *effort, *acceleration, *lock, *force, *moment;
	double start, end;
} LoadInput;

static const Field load_keys[] = {
	{"name", FIELD_OBJECT, offsetof(LoadInput, name), .flags = FIELD_AS_TEXT,
     .doc = "of the device that a load by tables or formulas is; default `load` and its number in the list"},
	{"joint", FIELD_JOINT, offsetof(LoadInput, joint), .flags = FIELD_AS_TEXT, .doc = "on which it acts, or"},
	{"body", FIELD_BODY, offsetof(LoadInput, body), .flags = FIELD_AS_TEXT,
     .doc = "flexible, for its modes: all of them, or with"},
	{"mode", FIELD_MODE, offsetof(LoadInput, mode), .flags = FIELD_AS_TREE,
     .doc = "of a modal coordinate: the column of its shapes, `eta1` being the first"},
	{"effort", FIELD_LOAD_LIST, offsetof(LoadInput, effort), DIM_TORQUE, .flags = FIELD_BY_DOF | FIELD_AS_TREE,
     .doc = "generalized force on each degree of freedom or mode"},
	{"acceleration", FIELD_NUMBERS, offsetof(LoadInput, acceleration), DIM_ANGULAR_ACCELERATION,
     .flags = FIELD_BY_DOF | FIELD_AS_TREE,
     .doc = "given acceleration of each degree of freedom or mode; `free` in a list leaves one free"},
	{"lock", FIELD_FLAGS, offsetof(LoadInput, lock), .flags = FIELD_AS_TREE,
     .doc = "zero acceleration: the speed keeps the value that it has when the lock begins"},
	{"node", FIELD_NODE, offsetof(LoadInput, node), .flags = FIELD_AS_TEXT, .doc = "on which it acts"},
	{"frame", FIELD_CHOICE, offsetof(LoadInput, frame), .flags = FIELD_AS_TEXT,
     .doc = "axes of the components; default `world`", .words = FIELD_WORDS("world", "node")},
	{"force", FIELD_LOAD_VALUES, offsetof(LoadInput, force), DIM_FORCE, .flags = FIELD_AS_TREE,
     .doc = "at the node's origin, for x, y and z"},
	{"moment", FIELD_LOAD_VALUES, offsetof(LoadInput, moment), DIM_TORQUE, .flags = FIELD_AS_TREE,
     .doc = "on the node, for x, y and z"},
	{"start", FIELD_NUMBER, offsetof(LoadInput, start), DIM_TIME, .doc = "default from the beginning"},
	{"end", FIELD_NUMBER, offsetof(LoadInput, end), DIM_TIME, .doc = "default none"},
};
const FieldTable load_table = {
	FIELDS("load", load_keys),
	.doc = "Something that acts on a joint, on the modes of a body or on a node while `start` <= t < "
		   "`end`."};

/* ---- tables and formulas ------------------------------------------------------------------------ */

static bool is_number(const CalLoadValue *value) { return !value->formula && value->table.count == 0; }

static CalLoadValue no_value(void) { return (CalLoadValue){.table.shape = CAL_TABLE_LINEAR}; }

/* Points of a table, not a list of components. */
static bool is_points(const TreeNode *node) {
	const TreeNode *first = node->kind == TREE_LIST && node->count > 0 ? node->items[0] : NULL;
	return first && first->kind == TREE_LIST && first->count > 0 && first->items[0]->kind == TREE_SCALAR;
}

/* A load that varies. number: of its degree of freedom or mode if there are several, from 1, else 0. */
static bool add_device(Reader *r, const TreeNode *map, const LoadInput *in, const CalLoadDef *load, int number,
                       CalAppliedLoadDef *def) {
	def->name = number > 0 ? reader_text(r, "%s_%d", in->name, number) : in->name;
	def->start = load->start;
	def->end = load->end;
	def->place = load->place;
	return def->name && reader_added(r, map, cal_setup_add_device(r->file->setup, "applied_load", def, r->error));
}

/* ---- dofs of a joint, or modes of a body ------------------------------------------------------ */

/* The dofs that a load is about. Those after the joint's are modes, whose units are those of the shapes. */
typedef struct LoadedDofs {
	const char *what; // "joint" or "body"
	const char *name;
	const JointRecord *joint;
	int first, count;
} LoadedDofs;

static Dimension dimension_of(const LoadedDofs *f, int i, Dimension angular, Dimension linear) {
	const JointShape *shape = &f->joint->shape;
	const int dof = f->first + i;
	return dof >= shape->nu ? DIM_NUMBER : shape->linear[dof] ? linear : angular;
}

static bool check_count(Reader *r, const TreeNode *node, const char *key, const LoadedDofs *f) {
	const int given = node->kind == TREE_LIST ? node->count : node->kind == TREE_SCALAR ? 1 : -1;
	if (given == f->count && given > 0)
		return true;
	const bool one = f->count == 1, joint = f->what[0] == 'j';
	return reader_fail(r, node, "\"%s\" on %s \"%.80s\" takes one value for each of its %d %s%s", key, f->what, f->name,
	                   f->count,
	                   joint ? one ? "degree of freedom" : "degrees of freedom"
	                   : one ? "mode"
	                         : "modes",
	                   one ? "" : " (a list)");
}

static const TreeNode *component(const TreeNode *node, int i) {
	return node->kind == TREE_LIST ? node->items[i] : node;
}

static bool is_free(const TreeNode *node) { return node->kind == TREE_SCALAR && strcmp(node->text, "free") == 0; }

static bool add_effort(Reader *r, const TreeNode *map, const LoadInput *in, const LoadedDofs *f, const CalLoadDef *load,
                       int i, CalLoadValue effort) {
	CalAppliedLoadDef def = {.effort = effort};
	if (load->body.value) {
		def.body = load->body;
		def.mode = f->first + i - f->joint->shape.nu;
	} else {
		def.joint = load->joint;
		def.dof = i;
	}
	return add_device(r, map, in, load, f->count > 1 ? i + 1 : 0, &def);
}

/* Numbers go to the load, the rest to devices. */
static bool read_effort(Reader *r, const TreeNode *map, const LoadInput *in, const LoadedDofs *f,
                        const CalLoadDef *load, CalDofLoad *dofs) {
	const TreeNode *node = in->effort;
	const bool whole = f->count == 1 && (node->kind == TREE_MAP || is_points(node));
	if (!whole && !check_count(r, node, "effort", f))
		return false;
	for (int i = 0; i < f->count; i++) {
		CalLoadValue effort = no_value();
		const TreeNode *value = whole ? node : component(node, i);
		if (!model_file_read_load_value(r, value, dimension_of(f, i, DIM_TORQUE, DIM_FORCE), &effort))
			return false;
		dofs[i].effort = effort.number;
		dofs[i].has_effort = is_number(&effort);
		if (!dofs[i].has_effort && !add_effort(r, map, in, f, load, i, effort))
			return false;
	}
	return true;
}

static bool read_acceleration(Reader *r, const TreeNode *node, const LoadedDofs *f, CalDofLoad *dofs) {
	if (!check_count(r, node, "acceleration", f))
		return false;
	for (int i = 0; i < f->count; i++) {
		const Dimension dimension = dimension_of(f, i, DIM_ANGULAR_ACCELERATION, DIM_ACCELERATION);
		if (is_free(component(node, i)))
			continue;
		if (!read_quantity(r, component(node, i), dimension, &dofs[i].acceleration))
			return false;
		dofs[i].has_acceleration = 1;
	}
	return true;
}

/* true locks every dof; a list says which. */
static bool read_lock(Reader *r, const TreeNode *node, const LoadedDofs *f, CalDofLoad *dofs) {
	if (node->kind == TREE_LIST && !check_count(r, node, "lock", f))
		return false;
	for (int i = 0; i < f->count; i++) {
		int locked;
		if (!read_flag(r, component(node, i), &locked))
			return false;
		dofs[i].has_acceleration |= locked;
	}
	return true;
}

static bool read_dof_load(Reader *r, const TreeNode *map, const LoadInput *in, const LoadedDofs *f, CalLoadDef *load) {
	if (in->force || in->moment || in->frame)
		return reader_fail(r, map, "force, moment and frame belong to a load on a node; on a %s give \"effort\"",
		                   f->what);
	if (in->lock && in->acceleration)
		return reader_fail(r, in->lock,
		                   "\"lock\" is an acceleration of zero; give one of \"lock\" and \"acceleration\"");
	if (!in->effort && !in->acceleration && !in->lock)
		return reader_fail(r, map, "a load on a %s needs \"effort\", \"acceleration\" or \"lock\"", f->what);
	CalDofLoad *dofs = reader_array(r, (size_t)f->count, sizeof *dofs);
	load->dofs = dofs;
	load->dof_count = f->count;
	return dofs && (!in->effort || read_effort(r, map, in, f, load, dofs)) &&
	       (!in->acceleration || read_acceleration(r, in->acceleration, f, dofs)) &&
	       (!in->lock || read_lock(r, in->lock, f, dofs));
}

static bool read_joint_load(Reader *r, const TreeNode *map, const LoadInput *in, CalLoadDef *load) {
	LoadedDofs f = {.what = "joint"};
	if (!model_file_find_joint(r, tree_get(map, "joint"), in->joint, &f.joint))
		return false;
	if (in->mode)
		return reader_fail(r, in->mode, "a mode is one of a body; name the \"body\" instead of the \"joint\"");
	f.name = f.joint->name;
	load->joint = cal_desc_find_joint(r->file->desc, f.name);
	f.count = f.joint->shape.nu;
	return read_dof_load(r, map, in, &f, load);
}

/* One mode of a body by its number from 1, or all of them. */
static bool read_modal_load(Reader *r, const Sections *s, const TreeNode *map, const LoadInput *in, CalLoadDef *load) {
	const TreeNode *node = tree_get(map, "body");
	LoadedDofs f = {.what = "body", .name = in->body};
	double mode = 0;
	if (!model_file_find_body(r, s, node, in->body, &load->body))
		return false;
	if (r->file->modes[load->body.value - 1] == 0)
		return reader_fail(r, node, "body \"%.80s\" is rigid: it has no modes to load; name a joint or a node",
		                   in->body);
	for (int i = 0; i < cal_desc_joint_count(r->file->desc); i++) {
		if (r->file->joints[i].body.value == load->body.value)
			f.joint = &r->file->joints[i];
	}
	if (!f.joint)
		return reader_fail(r, node, "no joint carries body \"%.80s\"; add one", in->body);
	f.first = f.joint->shape.nu;
	f.count = f.joint->modes;
	if (in->mode) {
		if (!read_quantity(r, in->mode, DIM_NUMBER, &mode))
			return false;
		if (!(mode >= 1 && mode <= f.count) || mode != (double)(int)mode)
			return reader_fail(r, in->mode, "\"mode\" must be a whole number from 1 to %d, the modes of body \"%.80s\"",
			                   f.count, in->body);
		load->mode = (int)mode - 1;
		f.first += load->mode;
		f.count = 1;
	}
	return read_dof_load(r, map, in, &f, load);
}

/* ---- wrenches ------------------------------------------------------------------------------------------ */

static bool read_three(Reader *r, const TreeNode *node, Dimension dimension, CalLoadValue values[3], CalVec3 *numbers) {
	if (node && (node->kind != TREE_LIST || node->count != 3))
		return read_vector(r, node, dimension, numbers); // says what is wrong
	for (int i = 0; i < 3; i++) {
		values[i] = no_value();
		if (node && !model_file_read_load_value(r, node->items[i], dimension, &values[i]))
			return false;
	}
	*numbers = (CalVec3){values[0].number, values[1].number, values[2].number};
	return true;
}

/* One device if any component is a table or a formula; load->node is {0} then. */
static bool read_wrench(Reader *r, const TreeNode *map, const LoadInput *in, CalLoadDef *load) {
	CalAppliedLoadDef def = {.node = load->node, .frame = load->frame};
	bool numbers = true;
	if (!read_three(r, in->force, DIM_FORCE, def.force, &load->wrench.linear) ||
	    !read_three(r, in->moment, DIM_TORQUE, def.moment, &load->wrench.angular))
		return false;
	for (int i = 0; i < 3; i++)
		numbers &= is_number(&def.force[i]) && is_number(&def.moment[i]);
	if (numbers)
		return true;
	load->node = (CalNodeId){0};
	return add_device(r, map, in, load, 0, &def);
}

static bool read_node_load(Reader *r, const Sections *s, const TreeNode *map, const LoadInput *in, CalLoadDef *load) {
	if (!model_file_find_node(r, s, tree_get(map, "node"), in->node, &load->node))
		return false;
	if (strncmp(in->node, "ground", 6) == 0 && (!in->node[6] || in->node[6] == '/'))
		return reader_fail(r, tree_get(map, "node"), "a load on the ground moves nothing; name a node of a body");
	if (in->effort || in->acceleration || in->lock || in->mode)
		return reader_fail(r, map,
		                   "effort, acceleration, lock and mode belong to a load on a joint or a body; on a node give "
		                   "\"force\" and \"moment\"");
	if (!in->force && !in->moment)
		return reader_fail(r, map, "a load on a node needs \"force\", \"moment\" or both");
	if (in->frame && strcmp(in->frame, "world") != 0 && strcmp(in->frame, "node") != 0)
		return reader_fail(r, tree_get(map, "frame"), "unknown frame \"%.40s\"; write world or node", in->frame);
	load->frame = in->frame && strcmp(in->frame, "node") == 0 ? CAL_FRAME_NODE : CAL_FRAME_WORLD;
	return read_wrench(r, map, in, load);
}

/* Whether something is left of a load when its tables and formulas are devices. */
static bool has_numbers(const LoadInput *in, const CalLoadDef *load) {
	bool any = in->node ? load->node.value != 0 : !in->effort;
	for (int i = 0; i < load->dof_count; i++)
		any |= load->dofs[i].has_effort || load->dofs[i].has_acceleration;
	return any;
}

static bool read_load(Reader *r, const Sections *s, const TreeNode *map, int number) {
	char place[256];
	LoadInput in = {.start = -INFINITY, .end = INFINITY};
	CalLoadDef load = cal_load_def();
	if (!fields_read(r, map, &load_table, &in))
		return false;
	if (!!in.joint + !!in.body + !!in.node != 1)
		return reader_fail(r, map,
		                   "a load acts on either a \"joint\" or a \"node\" or the modes of a \"body\"; name one");
	if (!(in.start < in.end))
		return reader_fail(r, map, "the load ends (%g s) before it starts (%g s)", in.end, in.start);
	load.start = in.start;
	load.end = in.end;
	load.place = tree_place(r->file->tree, map, place, sizeof place);
	if (!in.name && !(in.name = reader_text(r, "load%d", number)))
		return false;
	if (in.joint  ? !read_joint_load(r, map, &in, &load)
	    : in.body ? !read_modal_load(r, s, map, &in, &load)
	              : !read_node_load(r, s, map, &in, &load))
		return false;
	return !has_numbers(&in, &load) || reader_added(r, map, cal_setup_add_load(r->file->setup, &load, r->error));
}

bool model_file_read_loads(Reader *r, const Sections *s) {
	reader_subject(r, "loads", NULL);
	if (!s->loads)
		return true;
	if (!read_list(r, s->loads, "loads, e.g. - {joint: hinge, effort: 2 N*m}"))
		return false;
	for (int i = 0; i < s->loads->count; i++)
		if (!read_load(r, s, s->loads->items[i], i + 1))
			return false;
	return true;
}
