// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_new_body.c — the action "add_body": a body, rigid or flexible, that appears in a run.
 *
 * It is read as any other body, into a description of its own, from which the action takes definition, nodes and modes.
 * These descriptions live until the setup has copied all events.
 */
#include "io/model/model_file_event.h"

typedef struct NewBodyInput {
	BodyInput body;
	const char *name;
	CalPlacement placement;
	CalVec3 velocity, angular_velocity;
	const TreeNode *eta, *eta_dot;
} NewBodyInput;

static const Field add_body_keys[] = {
	{"name", FIELD_OBJECT, offsetof(NewBodyInput, name), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "different from the names of all other bodies, including removed ones"},
	{"group", FIELD_GROUP, offsetof(NewBodyInput, body.group), .flags = FIELD_AS_TEXT,
     .doc = "its group, new or without bodies; default the body's name"},
	{"mass", FIELD_NUMBER, offsetof(NewBodyInput, body.mass), DIM_MASS, .doc = "as of a [body](#body)"},
	{"density", FIELD_POSITIVE, offsetof(NewBodyInput, body.density), DIM_DENSITY, .doc = "as of a body"},
	{"com", FIELD_VECTOR, offsetof(NewBodyInput, body.com), DIM_LENGTH, .doc = "as of a body"},
	{"inertia", FIELD_MAP, offsetof(NewBodyInput, body.inertia), DIM_INERTIA, .flags = FIELD_AS_TREE,
     .doc = "as of a body", .table = &inertia_table},
	{"mass_node", FIELD_TEXT, offsetof(NewBodyInput, body.mass_node), .doc = "as of a body"},
	{"idealized", FIELD_FLAG, offsetof(NewBodyInput, body.idealized), .doc = "as of a body"},
	{"box", FIELD_MAP, offsetof(NewBodyInput, body.box), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &box_table},
	{"sphere", FIELD_MAP, offsetof(NewBodyInput, body.sphere), DIM_LENGTH, .flags = FIELD_AS_TREE,
     .doc = "as of a body", .table = &sphere_table},
	{"cylinder", FIELD_MAP, offsetof(NewBodyInput, body.cylinder), DIM_LENGTH, .flags = FIELD_AS_TREE,
     .doc = "as of a body", .table = &cylinder_table},
	{"rod", FIELD_MAP, offsetof(NewBodyInput, body.rod), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &rod_table},
	{"mesh", FIELD_MAP, offsetof(NewBodyInput, body.mesh), .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &mass_mesh_table},
	{"nodes", FIELD_ITEMS, offsetof(NewBodyInput, body.nodes),
     .flags = FIELD_MAY_BE_EMPTY | FIELD_LOCAL | FIELD_AS_TREE, .doc = "as of a body", .table = &node_table},
	{"flexible", FIELD_MAP, offsetof(NewBodyInput, body.flexible), .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &flexible_table},
	{"beam", FIELD_MAP, offsetof(NewBodyInput, body.beam), .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &beam_table},
	{"panel", FIELD_MAP, offsetof(NewBodyInput, body.panel), .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &panel_table},
	{"modal", FIELD_MAP, offsetof(NewBodyInput, body.modal), .flags = FIELD_AS_TREE, .doc = "as of a body",
     .table = &modal_table},
	{"eta", FIELD_NUMBERS, offsetof(NewBodyInput, eta), .flags = FIELD_AS_TREE,
     .doc = "modal coordinates at that time; default 0"},
	{"eta_dot", FIELD_NUMBERS, offsetof(NewBodyInput, eta_dot), .flags = FIELD_AS_TREE,
     .doc = "modal speeds at that time; default 0"},
	{"at", FIELD_VECTOR, offsetof(NewBodyInput, placement.position), DIM_LENGTH,
     .doc = "of its frame in the world; default the origin"},
	{"orientation", FIELD_ORIENTATION, offsetof(NewBodyInput, placement.orientation),
     .doc = "of its frame in the world"},
	{"velocity", FIELD_VECTOR, offsetof(NewBodyInput, velocity), DIM_SPEED, .doc = "world axes; default 0"},
	{"angular_velocity", FIELD_VECTOR, offsetof(NewBodyInput, angular_velocity), DIM_RATE,
     .doc = "world axes; default 0"},
};
const FieldTable add_body_table = {
	FIELDS("add_body", add_body_keys),
	.doc =
		"A body that appears, flying freely, as a group of its own; flexible with one of the keys `flexible`, `beam`, "
		"`panel` and `modal`."};

bool model_file_is_flexible(const TreeNode *body) {
	return tree_get(body, "flexible") || tree_get(body, "beam") || tree_get(body, "panel") || tree_get(body, "modal");
}

/* Reads it into a description of its own, with the readers of all bodies. */
static bool read_alone(Reader *r, const TreeNode *map, const NewBodyInput *in, CalDesc **desc) {
	ModelFile *file = r->file;
	CalDesc *whole = file->desc;
	const Item item = {.name = in->name, .place = map, .value = map};
	int *modes = file->modes, own_modes = 0;
	CalVec3 center;
	if (cal_desc_create(&file->allocator, desc) != CAL_OK) {
		r->status = tree_error(r->error, tree_name(file->tree), NULL, CAL_ERR_MEMORY, "out of memory");
		return false;
	}
	file->new_bodies[file->new_body_count++] = *desc;
	file->desc = *desc;
	file->modes = &own_modes;
	const bool added = model_file_add_body(r, &item, &in->body, (CalGroupId){0}, &center);
	file->desc = whole;
	file->modes = modes;
	return added;
}

/* Nodes of the only body of a description, but its own frame, which is the first. */
static bool take_nodes(Reader *r, const CalDesc *desc, CalNewBody *body) {
	const int count = cal_desc_node_count(desc) - 1;
	CalNodeDef *nodes = count > 0 ? reader_array(r, (size_t)count, sizeof *nodes) : NULL;
	if (count > 0 && !nodes)
		return false;
	for (int i = 0; i < count; i++)
		nodes[i] = *cal_desc_node(desc, (CalNodeId){(uint32_t)i + 2}, NULL);
	body->nodes = nodes;
	body->node_count = count;
	return true;
}

/* Its modes, whose nodes count from the body's own frame. */
static bool take_modes(Reader *r, const CalDesc *desc, const NewBodyInput *in, CalNewBody *body) {
	CalFlexDef *flex = reader_array(r, 1, sizeof *flex);
	if (!flex)
		return false;
	cal_flex_body(desc, (CalBodyId){1}, NULL, flex); // it is flexible
	CalFlexNode *nodes = reader_array(r, (size_t)flex->node_count, sizeof *nodes);
	if (!nodes)
		return false;
	for (int i = 0; i < flex->node_count; i++) {
		nodes[i] = flex->nodes[i];
		nodes[i].node.value -= 1;
	}
	flex->nodes = nodes;
	body->flex = flex;
	return model_file_read_modal_values(r, in->eta, "eta", flex->modes, &body->eta) &&
	       model_file_read_modal_values(r, in->eta_dot, "eta_dot", flex->modes, &body->eta_dot);
}

static bool take_body(Reader *r, const TreeNode *map, const NewBodyInput *in, CalNewBody *body) {
	CalDesc *desc;
	if (!read_alone(r, map, in, &desc))
		return false;
	body->body = *cal_desc_body(desc, (CalBodyId){1});
	if (!take_nodes(r, desc, body))
		return false;
	if (model_file_is_flexible(map))
		return take_modes(r, desc, in, body);
	return model_file_read_modal_values(r, in->eta, "eta", 0, &body->eta) &&
	       model_file_read_modal_values(r, in->eta_dot, "eta_dot", 0, &body->eta_dot);
}

bool model_file_read_new_body(Reader *r, const Sections *s, const TreeNode *map, CalActionDef *action) {
	NewBodyInput in = {.placement.orientation = {1, 0, 0, 0}};
	CalNewBody *body = &action->body;
	if (!fields_read(r, map, &add_body_table, &in))
		return false;
	if (cal_desc_find_body(r->file->desc, in.name).value)
		return reader_fail(r, tree_get(map, "name"), "there is a body \"%.80s\" already; take another \"name\"",
		                   in.name);
	action->name = in.name;
	body->group = in.body.group ? in.body.group : in.name;
	if (!model_file_check_name(r, tree_get(map, "name"), in.name) || !model_file_check_name(r, map, body->group) ||
	    !take_body(r, map, &in, body))
		return false;
	body->placement = in.placement;
	body->velocity = (CalSpatial){in.angular_velocity, in.velocity};
	const CalGroupId group = cal_desc_find_group(r->file->desc, body->group);
	body->gravity = group.value ? cal_desc_group(r->file->desc, group)->gravity : s->gravity;
	return true;
}
