// SPDX-License-Identifier: Apache-2.0
/*
 * model_file.c — reading a model file into a setup (docs/format.md).
 *
 * Sections are read in a fixed order whatever their order in the file: groups, ground, bodies, joints, pendulums,
 * loops, state, devices, loads, motions, events, interface, run, view; subsystems are put in their place before. The first mistake stops the reading; its message carries file,
 * line and column. What a section says goes to the setup by the public calls.
 */
#include "base/memory.h"
#include "io/model/model_file.h"
#include "setup/setup.h"

enum { FORMAT_VERSION = 1 };

static const Field file_keys[] = {
	{"calder", FIELD_NUMBER, offsetof(Sections, version), .flags = FIELD_REQUIRED, .doc = "version of the format, `1`"},
	{"title", FIELD_TEXT, offsetof(Sections, title), .doc = "for people"},
	{"define", FIELD_ANYTHING, 0, .flags = FIELD_MAY_BE_EMPTY, .doc = "not read: a place for YAML anchors"},
	{"gravity", FIELD_VECTOR, offsetof(Sections, gravity), DIM_ACCELERATION,
     .doc = "gravitational acceleration of the group `main`; default none"},
	{"propagation", FIELD_CHOICE, offsetof(Sections, propagation),
     .doc = "of the group `main`, as of a [group](#group); default `flexible`", .word_at = propagation_word},
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
     .doc = "constraints between nodes or coordinates: [closed loops](loops.md)", .table = &loop_table},
	{"state", FIELD_BY_NAME, offsetof(Sections, state), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "initial state", .table = &state_table, .names = FIELD_JOINT},
	{"loads", FIELD_LIST, offsetof(Sections, loads), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "forces and prescribed accelerations by time intervals", .table = &load_table},
	{"devices", FIELD_DEVICES, offsetof(Sections, devices), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "springs, friction, motors and all else that acts beyond joints and loads"},
	{"group_motions", FIELD_BY_GROUP, offsetof(Sections, motions), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "whole groups that move as given functions of time, without dynamics. To drive a single joint of a "
            "group with dynamics, use the device [joint_drive](#joint_drive)",
     .table = &motion_table},
	{"motions", FIELD_BY_GROUP, offsetof(Sections, old_motions), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "former name of `group_motions`", .table = &motion_table},
	{"events", FIELD_ITEMS, offsetof(Sections, events), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "times and conditions in a run, and the actions that they trigger", .table = &event_table},
	{"run", FIELD_MAP, offsetof(Sections, run), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE, .doc = "run settings",
     .table = &run_table},
	{"view", FIELD_MAP, offsetof(Sections, view), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "how a run is looked at in the [viewer](viewer.md)", .table = &view_table},
	{"interface", FIELD_NODES, offsetof(Sections, interface), .former = "border",
     .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "nodes at which other files can attach this file as a [subsystem](#subsystem)"},
	{"subsystems", FIELD_ITEMS, offsetof(Sections, subsystems), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "other files and compiled subsystems, each used as often as needed", .table = &subsystem_table},
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
	cal_desc_set_propagation(r->file->desc, (CalGroupId){0}, (CalPropagation)s.propagation); // a word of the list
	return model_file_read_bodies(r, &s) && model_file_read_joints(r, &s) && model_file_read_pendulums(r, &s) &&
	       model_file_read_loops(r, &s) && model_file_read_state(r, &s) && model_file_embed_loops(r, &s) &&
	       model_file_read_joint_devices(r, &s) && model_file_read_devices(r, &s) && model_file_check_efforts(r, &s) &&
	       model_file_read_loads(r, &s) && model_file_read_motions(r, &s) && model_file_read_events(r, &s) &&
	       model_file_read_interface(r, &s) && model_file_read_boxes(r, &s) && model_file_read_run(r, &s) &&
	       model_file_read_view(r, &s);
}

static void destroy_tree(void *tree) { tree_destroy(tree); }

CalStatus model_file_setup_from_tree(Tree *tree, const ModelFileTranslator *translator, const CalAllocator *allocator,
                                     CalSetup **setup, CalError *error) {
	Reader r = {.error = error};
	CalSetup *made = NULL;
	r.file = tree_array(tree, 1, sizeof *r.file);
	r.status = r.file ? cal_setup_create(allocator, &made) : CAL_ERR_MEMORY;
	if (r.status == CAL_OK)
		r.status = cal_setup_set_name(made, tree_name(tree), NULL);
	if (r.status != CAL_OK) {
		tree_error(error, tree_name(tree), NULL, r.status, "%s", cal_status_text(r.status));
		cal_setup_destroy(made);
		tree_destroy(tree);
		return r.status;
	}
	*r.file = (ModelFile){.tree = tree,
	                      .allocator = allocator_or_default(allocator),
	                      .translator = translator,
	                      .setup = made,
	                      .desc = cal_setup_edit_desc(made)};
	setup_set_source(made, tree, destroy_tree);
	const bool read = read_sections(&r);
	r.file->translator = NULL; // it is the caller's
	if (read)
		*setup = made;
	else
		cal_setup_destroy(made);
	return r.status;
}

CalStatus cal_model_file_read(const char *path, const CalAllocator *allocator, CalSetup **setup, CalError *error) {
	Tree *tree;
	if (!path || !setup)
		return tree_error(error, "cal_model_file_read", NULL, CAL_ERR_ARGUMENT, "path or setup is NULL");
	*setup = NULL;
	const CalStatus status = tree_read(path, allocator, &tree, error);
	return status == CAL_OK ? model_file_setup_from_tree(tree, NULL, allocator, setup, error) : status;
}

CalStatus cal_model_file_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator,
                               CalSetup **setup, CalError *error) {
	Tree *tree;
	if (!setup || (!text && length))
		return tree_error(error, "cal_model_file_parse", NULL, CAL_ERR_ARGUMENT, "text or setup is NULL");
	*setup = NULL;
	const CalStatus status = tree_parse(text, length, name ? name : "text", allocator, &tree, error);
	return status == CAL_OK ? model_file_setup_from_tree(tree, NULL, allocator, setup, error) : status;
}

void cal_model_file_trim(CalSetup *setup) {
	if (setup)
		setup_set_source(setup, NULL, NULL);
}
