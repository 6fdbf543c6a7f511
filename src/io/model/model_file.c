// SPDX-License-Identifier: Apache-2.0
/*
 * model_file.c — cal_file_read() and what a file offers (docs/format.md).
 *
 * Sections are read in a fixed order whatever their order in the file: groups, ground, bodies, joints, pendulums,
 * loops, state, loads, devices, motions, events, border, run; subsystems are put in their place before. The first mistake stops the reading; its message carries file, line and column.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/model/model_file.h"

enum { FORMAT_VERSION = 1 };

static const Field file_keys[] = {
	{"calder", FIELD_NUMBER, offsetof(Sections, version), .flags = FIELD_REQUIRED, .doc = "version of the format, `1`"},
	{"title", FIELD_TEXT, offsetof(Sections, title), .doc = "for people"},
	{"define", FIELD_ANYTHING, 0, .flags = FIELD_MAY_BE_EMPTY, .doc = "not read: a place for YAML anchors"},
	{"gravity", FIELD_VECTOR, offsetof(Sections, gravity), DIM_ACCELERATION,
     .doc = "gravitational acceleration of the group `main`; default none"},
	{"groups", FIELD_ITEMS, offsetof(Sections, groups), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "further groups", .table = &group_table, .names = FIELD_GROUP},
	{"ground", FIELD_MAP, offsetof(Sections, ground), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "nodes fixed in the world", .table = &ground_table},
	{"bodies", FIELD_ITEMS, offsetof(Sections, bodies), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "rigid and flexible bodies", .table = &body_table},
	{"joints", FIELD_ITEMS, offsetof(Sections, joints), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "every body has exactly one joint that carries it", .table = &joint_table},
	{"pendulums", FIELD_ITEMS, offsetof(Sections, pendulums), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "point masses that swing from nodes: slosh, hooks", .table = &pendulum_table},
	{"loops", FIELD_ITEMS, offsetof(Sections, loops), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "further ties between nodes: [closed loops](loops.md)", .table = &loop_table},
	{"state", FIELD_BY_NAME, offsetof(Sections, state), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "initial state", .table = &state_table, .names = FIELD_JOINT},
	{"loads", FIELD_LIST, offsetof(Sections, loads), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "forces and prescribed accelerations by time intervals", .table = &load_table},
	{"devices", FIELD_DEVICES, offsetof(Sections, devices), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "what acts beyond joints and loads"},
	{"group_motions", FIELD_BY_GROUP, offsetof(Sections, motions), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "whole groups that move as given functions of time, without dynamics. One joint within the "
            "dynamics: the device [joint_drive](#joint_drive)",
     .table = &motion_table},
	{"motions", FIELD_BY_GROUP, offsetof(Sections, old_motions), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "the older name of `group_motions`", .table = &motion_table},
	{"events", FIELD_ITEMS, offsetof(Sections, events), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "what happens in a run, and what is done then", .table = &event_table},
	{"run", FIELD_MAP, offsetof(Sections, run), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE, .doc = "run settings",
     .table = &run_table},
	{"border", FIELD_NODES, offsetof(Sections, border), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "those at which others may attach this file as a [subsystem](#subsystem)"},
	{"subsystems", FIELD_ITEMS, offsetof(Sections, subsystems), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "other files, each as often as one likes", .table = &subsystem_table},
};
const FieldTable file_table = {FIELDS("file", file_keys), .doc = "The map at the top."};

static bool read_sections(Reader *r) {
	Sections s = {0};
	const TreeNode *root = tree_root(r->file->tree);
	if (root->kind != TREE_MAP)
		return reader_fail(r, root, "not a Calder file: expected a map that starts with \"calder: 1\"");
	if (!model_file_expand(r))
		return false;
	root = tree_root(r->file->tree);
	if (!fields_read(r, root, &file_table, &s))
		return false;
	if (s.version != FORMAT_VERSION)
		return reader_fail(r, tree_get(root, "calder"), "format version %g is not known; this build reads version %d",
		                   s.version, FORMAT_VERSION);
	const CalStatus status = cal_desc_set_gravity(r->file->desc, (CalGroupId){0}, s.gravity);
	if (status != CAL_OK)
		return reader_fail(r, tree_get(root, "gravity"), "%s", cal_status_text(status));
	return model_file_read_bodies(r, &s) && model_file_read_joints(r, &s) && model_file_read_pendulums(r, &s) &&
	       model_file_read_loops(r, &s) && model_file_read_state(r, &s) && model_file_read_loads(r, &s) &&
	       model_file_read_devices(r, &s) && model_file_read_motions(r, &s) && model_file_read_events(r, &s) &&
	       model_file_read_border(r, &s) && model_file_read_boxes(r, &s) && model_file_read_run(r, &s);
}

CalStatus model_file_file_from_tree(Tree *tree, const CalAllocator *allocator, CalFile **file, CalError *error) {
	Reader r = {.error = error};
	CalFile *made = tree_array(tree, 1, sizeof *made);
	if (!made) {
		r.status = tree_error(error, tree_name(tree), NULL, CAL_ERR_MEMORY, "out of memory");
		tree_destroy(tree);
		return r.status;
	}
	r.file = made;
	made->tree = tree;
	made->allocator = allocator_or_default(allocator);
	r.status = cal_desc_create(&made->allocator, &made->desc);
	if (r.status != CAL_OK)
		tree_error(error, tree_name(tree), NULL, r.status, "%s", cal_status_text(r.status));
	else
		read_sections(&r);
	if (r.status != CAL_OK) {
		cal_file_destroy(made);
		return r.status;
	}
	*file = made;
	return CAL_OK;
}

CalStatus cal_file_read(const char *path, const CalAllocator *allocator, CalFile **file, CalError *error) {
	Tree *tree;
	if (!path || !file)
		return tree_error(error, "cal_file_read", NULL, CAL_ERR_ARGUMENT, "path or file is NULL");
	*file = NULL;
	const CalStatus status = tree_read(path, allocator, &tree, error);
	return status == CAL_OK ? model_file_file_from_tree(tree, allocator, file, error) : status;
}

CalStatus cal_file_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator,
                         CalFile **file, CalError *error) {
	Tree *tree;
	if (!file || (!text && length))
		return tree_error(error, "cal_file_parse", NULL, CAL_ERR_ARGUMENT, "text or file is NULL");
	*file = NULL;
	const CalStatus status = tree_parse(text, length, name ? name : "text", allocator, &tree, error);
	return status == CAL_OK ? model_file_file_from_tree(tree, allocator, file, error) : status;
}

void cal_file_trim(CalFile *file) {
	if (!file)
		return;
	for (int i = 0; i < file->made_count; i++)
		file->made[i].map = NULL;
	tree_forget_nodes(file->tree);
}

void cal_file_destroy(CalFile *file) {
	if (!file)
		return;
	cal_desc_destroy(file->desc);
	model_file_free_meshes(file);
	model_file_free_drives(file);
	tree_destroy(file->tree); // the file itself lies in the tree's memory
}

static int text_count(const FileText *text) {
	int count = 0;
	for (; text; text = text->next)
		count++;
	return count;
}

/* The chain begins with the last one. */
static const char *text_at(const FileText *text, int index) {
	for (int left = text_count(text) - 1 - index; text && index >= 0; text = text->next)
		if (left-- == 0)
			return text->text;
	return NULL;
}

int cal_file_source_count(const CalFile *file) { return text_count(file ? file->sources : NULL); }
const char *cal_file_source(const CalFile *file, int index) { return text_at(file ? file->sources : NULL, index); }
int cal_file_warning_count(const CalFile *file) { return text_count(file ? file->warnings : NULL); }
const char *cal_file_warning(const CalFile *file, int index) { return text_at(file ? file->warnings : NULL, index); }

const CalDesc *cal_file_desc(const CalFile *file) { return file ? file->desc : NULL; }

CalRunSettings cal_file_run(const CalFile *file) {
	return file ? file->run : (CalRunSettings){.title = "", .method.method = CAL_METHOD_DOPRI5};
}

/* The body whose joint an entry is of; false after telling that model and file do not belong together. *body -1: of another
 * group. */
static bool find_entry(const CalFile *file, const CalModel *model, const StateEntry *entry, int *body,
                       CalBodyInfo *info, CalError *error) {
	*body = cal_model_find_joint(model, entry->joint);
	if (*body < 0)
		return true;
	if (cal_model_body(model, *body, info) == CAL_OK && (!entry->nq || entry->nq == info->nq) &&
	    (!entry->nu || entry->nu == info->nu) && entry->modes == info->modes)
		return true;
	tree_error(error, tree_name(file->tree), NULL, CAL_ERR_ARGUMENT,
	           "joint \"%.80s\": the model was not compiled from this file", entry->joint);
	return false;
}

CalStatus cal_file_state(const CalFile *file, const CalModel *model, CalState *state, CalError *error) {
	if (!file || !model || !state || !state->q || !state->u)
		return tree_error(error, "cal_file_state", NULL, CAL_ERR_ARGUMENT, "file, model or state is NULL");
	for (int i = 0; i < file->state_count; i++) {
		const StateEntry *entry = &file->states[i];
		CalBodyInfo info;
		int body;
		if (!find_entry(file, model, entry, &body, &info, error))
			return CAL_ERR_ARGUMENT;
		if (body < 0)
			continue;
		if (entry->nq)
			memcpy(state->q + info.q, entry->q, (size_t)entry->nq * sizeof *entry->q);
		if (entry->nu)
			memcpy(state->u + info.u, entry->u, (size_t)entry->nu * sizeof *entry->u);
		if (entry->eta)
			memcpy(state->q + info.q + info.nq, entry->eta, (size_t)entry->modes * sizeof *entry->eta);
		if (entry->eta_dot)
			memcpy(state->u + info.u + info.nu, entry->eta_dot, (size_t)entry->modes * sizeof *entry->eta_dot);
	}
	return CAL_OK;
}

CalStatus cal_file_stated(const CalFile *file, const CalModel *model, uint8_t *q, uint8_t *u, CalError *error) {
	if (!file || !model || !q || !u)
		return tree_error(error, "cal_file_stated", NULL, CAL_ERR_ARGUMENT, "file, model or a list is NULL");
	memset(q, 0, (size_t)cal_model_u_count(model));
	memset(u, 0, (size_t)cal_model_u_count(model));
	for (int i = 0; i < file->state_count; i++) {
		const StateEntry *entry = &file->states[i];
		CalBodyInfo info;
		int body;
		if (!find_entry(file, model, entry, &body, &info, error))
			return CAL_ERR_ARGUMENT;
		if (entry->guess)
			continue;
		for (int k = 0; body >= 0 && k < info.nu; k++) {
			q[info.u + k] = entry->stated_q[k];
			u[info.u + k] = entry->stated_u[k];
		}
		for (int k = info.u + info.nu; body >= 0 && k < info.u + info.nu + info.modes; k++) {
			q[k] = entry->eta != NULL;
			u[k] = entry->eta_dot != NULL;
		}
	}
	return CAL_OK;
}

CalStatus cal_file_frozen(const CalFile *file, const CalModel *model, uint8_t *frozen, CalError *error) {
	if (!file || !model || !frozen)
		return tree_error(error, "cal_file_frozen", NULL, CAL_ERR_ARGUMENT, "file, model or frozen is NULL");
	memset(frozen, 0, (size_t)cal_model_u_count(model));
	for (int i = 0; i < file->state_count; i++) {
		const StateEntry *entry = &file->states[i];
		CalBodyInfo info;
		int body;
		if (!find_entry(file, model, entry, &body, &info, error))
			return CAL_ERR_ARGUMENT;
		for (int k = 0; body >= 0 && k < info.nu; k++)
			frozen[info.u + k] = entry->frozen[k];
		for (int k = 0; body >= 0 && k < info.modes; k++)
			frozen[info.u + info.nu + k] = entry->frozen_modes;
	}
	return CAL_OK;
}
