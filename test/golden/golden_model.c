// SPDX-License-Identifier: Apache-2.0
/*
 * golden_model.c — the description of a golden case, through the public builder.
 *
 * The body frame of the schema is ours, parent_offset and child_offset are the joint's placements on
 * its two sides, and an element list is a joint of that type or a sequence. `free` inside a longer list is
 * three translations and a spherical element. Lumped masses on the nodes of a rigid body are added to it;
 * those of a flexible body stay on its nodes (golden_flex.c).
 */
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"

static const struct {
	const char *name;
	CalJointType type;
	int nq, nu;
} element_types[] = {
	{"revolute", CAL_JOINT_REVOLUTE, 1, 1}, {"prismatic", CAL_JOINT_PRISMATIC, 1, 1},
	{"screw", CAL_JOINT_SCREW, 1, 1},       {"spherical", CAL_JOINT_SPHERICAL, 4, 3},
	{"free", CAL_JOINT_FREE, 7, 6},
};

static int element_find(const char *type) {
	for (int i = 0; i < (int)(sizeof element_types / sizeof element_types[0]); i++) {
		if (strcmp(element_types[i].name, type) == 0)
			return i;
	}
	return -1;
}

int golden_element_nq(const char *type) {
	const int i = element_find(type);
	return i < 0 ? -1 : element_types[i].nq;
}

int golden_element_nu(const char *type) {
	const int i = element_find(type);
	return i < 0 ? -1 : element_types[i].nu;
}

const TreeNode *golden_elements(const TreeNode *body) { return tree_get(tree_get(body, "joint"), "elements"); }

/* ---- mass properties ---------------------------------------------------------------------- */

/* A mass with its center and its inertia about that center. */
typedef struct Lump {
	double mass, com[3], inertia[9];
} Lump;

/* a += b, both in the body frame. */
static void lump_add(Lump *a, const Lump *b) {
	const double mass = a->mass + b->mass;
	double com[3];
	for (int i = 0; i < 3; i++)
		com[i] = mass != 0 ? (a->mass * a->com[i] + b->mass * b->com[i]) / mass : 0;
	const Lump *parts[2] = {a, b};
	double inertia[9] = {0};
	for (int k = 0; k < 2; k++) {
		const Lump *p = parts[k];
		const double d[3] = {p->com[0] - com[0], p->com[1] - com[1], p->com[2] - com[2]};
		const double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
		for (int i = 0; i < 9; i++)
			inertia[i] += p->inertia[i] + p->mass * ((i % 4 == 0 ? dd : 0) - d[i / 3] * d[i % 3]);
	}
	a->mass = mass;
	memcpy(a->com, com, sizeof com);
	memcpy(a->inertia, inertia, sizeof inertia);
}

/* The rigid part, and for a rigid body its lumped nodes too. */
static CalStatus read_mass(GoldenCase *c, const TreeNode *body, CalBodyDef *def) {
	Lump total = {0};
	int modes;
	const TreeNode *rigid = tree_get(body, "rigid"), *nodes = tree_get(body, "nodes");
	CalStatus status = golden_modes(c, body, &modes);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(rigid, "mass"), 0, &total.mass);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(rigid, "com"), total.com, 3);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(rigid, "inertia"), total.inertia, 9);
	for (int i = 0; status == CAL_OK && modes == 0 && nodes && i < nodes->count; i++) {
		Lump lump = {0};
		if (!tree_get(nodes->items[i], "m") && !tree_get(nodes->items[i], "J"))
			continue;
		status = golden_number(c, tree_get(nodes->items[i], "m"), 0, &lump.mass);
		if (status == CAL_OK)
			status = golden_numbers(c, tree_get(nodes->items[i], "p"), lump.com, 3);
		if (status == CAL_OK)
			status = golden_numbers(c, tree_get(nodes->items[i], "J"), lump.inertia, 9);
		lump_add(&total, &lump);
	}
	def->mass = total.mass;
	def->idealized = 1; // the schema allows any positive inertia, e.g. t01
	def->com = (CalVec3){total.com[0], total.com[1], total.com[2]};
	for (int i = 0; i < 9; i++)
		def->inertia.m[i / 3][i % 3] = total.inertia[i];
	return status;
}

static CalStatus add_body(GoldenCase *c, const TreeNode *body, CalBodyId *id) {
	char place[256];
	CalBodyDef def = cal_body_def();
	def.place = tree_place(c->tree, body, place, sizeof place);
	CalStatus status = golden_text(c, tree_get(body, "name"), NULL, &def.name);
	if (status == CAL_OK)
		status = read_mass(c, body, &def);
	return status == CAL_OK ? cal_desc_add_body(c->desc, &def, id, &c->error) : status;
}

static CalStatus add_nodes(GoldenCase *c, const TreeNode *nodes, CalBodyId body, CalNodeId *ids) {
	for (int i = 0; nodes && i < nodes->count; i++) {
		double p[3];
		char place[256];
		CalNodeDef def = cal_node_def();
		def.place = tree_place(c->tree, nodes->items[i], place, sizeof place);
		CalStatus status = golden_text(c, tree_get(nodes->items[i], "name"), NULL, &def.name);
		if (status == CAL_OK)
			status = golden_numbers(c, tree_get(nodes->items[i], "p"), p, 3);
		if (status != CAL_OK)
			return status;
		def.placement.position = (CalVec3){p[0], p[1], p[2]};
		status = cal_desc_add_node(c->desc, body, &def, &ids[i], &c->error);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus add_whole_body(GoldenCase *c, const TreeNode *body) {
	const TreeNode *nodes = tree_get(body, "nodes");
	CalBodyId id;
	CalNodeId *ids = tree_array(c->tree, nodes ? (size_t)nodes->count + 1 : 1, sizeof *ids);
	if (!ids)
		return tree_error(&c->error, tree_name(c->tree), NULL, CAL_ERR_MEMORY, "out of memory");
	CalStatus status = add_body(c, body, &id);
	if (status == CAL_OK)
		status = add_nodes(c, nodes, id, ids);
	return status == CAL_OK ? golden_add_flexibility(c, body, id, ids) : status;
}

/* ---- joints ------------------------------------------------------------------------------- */

CalStatus golden_placement(GoldenCase *c, const TreeNode *node, CalPlacement *placement) {
	double r[3], quat[4] = {1, 0, 0, 0};
	CalStatus status = golden_numbers(c, tree_get(node, "r"), r, 3);
	if (status == CAL_OK && tree_get(node, "quat"))
		status = golden_numbers(c, tree_get(node, "quat"), quat, 4);
	placement->position = (CalVec3){r[0], r[1], r[2]};
	placement->orientation = (CalQuat){quat[0], quat[1], quat[2], quat[3]};
	return status;
}

/* Appends elements; `free` becomes three translations and a ball. */
static CalStatus append_element(GoldenCase *c, const TreeNode *node, CalElement element, CalJointDef *def) {
	const int free = element.type == CAL_JOINT_FREE;
	if (def->element_count + (free ? 4 : 1) > CAL_JOINT_MAX_ELEMENTS)
		return golden_fail(c, node, "the joint has more elements than a sequence can have");
	CalElement *out = def->elements + def->element_count;
	def->element_count += free ? 4 : 1;
	if (!free) {
		*out = element;
		return CAL_OK;
	}
	for (int i = 0; i < 3; i++)
		out[i] = (CalElement){CAL_JOINT_PRISMATIC, {i == 0, i == 1, i == 2}, 0};
	out[3] = (CalElement){.type = CAL_JOINT_SPHERICAL};
	return CAL_OK;
}

static CalStatus read_element(GoldenCase *c, const TreeNode *node, CalElement *element, CalDofDef *dof, int *nu) {
	const char *type;
	double axis[3];
	CalStatus status = golden_text(c, tree_get(node, "type"), NULL, &type);
	if (status != CAL_OK)
		return status;
	const int kind = element_find(type);
	if (kind < 0)
		return golden_fail(c, node, "unknown type of joint element");
	*nu = element_types[kind].nu;
	status = golden_numbers(c, tree_get(node, "axis"), axis, 3);
	*element = (CalElement){element_types[kind].type, {axis[0], axis[1], axis[2]}, 0};
	if (status == CAL_OK)
		status = golden_number(c, tree_get(node, "pitch"), 0, &element->pitch);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(node, "k"), 0, &dof->stiffness);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(node, "d"), 0, &dof->damping);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(node, "q_rest"), 0, &dof->rest);
	return status;
}

static CalStatus read_elements(GoldenCase *c, const TreeNode *elements, CalJointDef *def) {
	int speeds = 0;
	CalElement element = {0};
	*def = cal_joint_def(CAL_JOINT_SEQUENCE);
	const int count = elements ? elements->count : 0;
	for (int i = 0; i < count; i++) {
		CalDofDef dof = {0};
		int nu = 0;
		CalStatus status = read_element(c, elements->items[i], &element, &dof, &nu);
		if (status == CAL_OK)
			status = append_element(c, elements->items[i], element, def);
		if (status == CAL_OK && speeds + nu > CAL_JOINT_MAX_DOF)
			status = golden_fail(c, elements->items[i], "the joint has more than six degrees of freedom");
		if (status != CAL_OK)
			return status;
		if (nu == 1)
			def->dof[speeds] = dof;
		speeds += nu;
	}
	if (count == 0)
		def->type = CAL_JOINT_WELD;
	if (count == 1) {
		def->type = element.type;
		def->axis = element.axis;
		def->pitch = element.pitch;
		def->element_count = 0;
	}
	return CAL_OK;
}

CalStatus golden_find_node(GoldenCase *c, const TreeNode *place, const char *body, const char *node, CalNodeId *id) {
	char path[256];
	snprintf(path, sizeof path, "%s/%s", body, node);
	*id = cal_desc_find_node(c->desc, strcmp(node, "head") == 0 ? body : path);
	return id->value ? CAL_OK : golden_fail(c, place, "unknown body or node");
}

static CalStatus add_joint(GoldenCase *c, const TreeNode *body) {
	const TreeNode *joint = tree_get(body, "joint"), *parent = tree_get(body, "parent");
	const char *name, *parent_name, *parent_node, *head;
	char place[256];
	CalJointDef def;
	CalNodeId inboard = {0}, outboard;
	CalStatus status = read_elements(c, tree_get(joint, "elements"), &def);
	if (status == CAL_OK)
		status = golden_placement(c, tree_get(joint, "parent_offset"), &def.inboard);
	if (status == CAL_OK)
		status = golden_placement(c, tree_get(joint, "child_offset"), &def.outboard);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(body, "name"), NULL, &name);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(body, "head"), "head", &head);
	if (status == CAL_OK)
		status = golden_find_node(c, body, name, head, &outboard);
	if (status == CAL_OK && parent && !tree_is_null(parent)) {
		status = golden_text(c, parent, NULL, &parent_name);
		if (status == CAL_OK)
			status = golden_text(c, tree_get(body, "parent_node"), "head", &parent_node);
		if (status == CAL_OK)
			status = golden_find_node(c, parent, parent_name, parent_node, &inboard);
	}
	if (status != CAL_OK)
		return status;
	def.name = name;
	def.place = tree_place(c->tree, joint ? joint : body, place, sizeof place);
	return cal_desc_attach(c->desc, inboard, &def, outboard, NULL, &c->error);
}

CalStatus golden_describe(GoldenCase *c) {
	double g[3];
	const TreeNode *model = tree_get(c->root, "model"), *bodies = tree_get(model, "bodies");
	if (!bodies || bodies->kind != TREE_LIST || bodies->count == 0)
		return golden_fail(c, c->root, "the case has no list model.bodies");
	CalStatus status = cal_desc_create(NULL, &c->desc);
	if (status != CAL_OK)
		return tree_error(&c->error, tree_name(c->tree), NULL, status, "out of memory");
	status = golden_numbers(c, tree_get(model, "gravity"), g, 3);
	if (status == CAL_OK)
		status = cal_desc_set_gravity(c->desc, (CalGroupId){0}, (CalVec3){g[0], g[1], g[2]});
	for (int i = 0; status == CAL_OK && i < bodies->count; i++)
		status = add_whole_body(c, bodies->items[i]);
	for (int i = 0; status == CAL_OK && i < bodies->count; i++)
		status = add_joint(c, bodies->items[i]);
	return status == CAL_OK ? golden_add_loops(c) : status;
}
