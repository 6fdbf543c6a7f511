// SPDX-License-Identifier: Apache-2.0
/*
 * export_tree.c — the links of a file: those of all bodies, depth first from the ground, each after its parent.
 */
#include <calder/flex.h>
#include <string.h>

#include "io/export/export.h"

/* ---- order ------------------------------------------------------------------------------------------- */

/* Joints that a body (0: the ground) carries, in the order of the description. */
typedef struct Children {
	uint32_t *first; // [bodies + 1] joint; 0: none
	uint32_t *next;  // [joints + 1] of the same body
	uint32_t *child; // [joints + 1] body
	uint32_t *above; // [bodies + 1] joint that carries it
} Children;

static bool list_children(Export *ex, Children *c) {
	const size_t bodies = (size_t)cal_desc_body_count(ex->desc) + 1,
				 joints = (size_t)cal_desc_joint_count(ex->desc) + 1;
	c->first = pool_array(&ex->pool, bodies, sizeof *c->first);
	c->above = pool_array(&ex->pool, bodies, sizeof *c->above);
	c->next = pool_array(&ex->pool, joints, sizeof *c->next);
	c->child = pool_array(&ex->pool, joints, sizeof *c->child);
	if (!c->first || !c->above || !c->next || !c->child) {
		export_no_memory(ex);
		return false;
	}
	for (uint32_t i = (uint32_t)joints - 1; i > 0; i--) {
		CalNodeId inboard, outboard;
		CalBodyId parent = {0}, child = {0};
		cal_desc_joint(ex->desc, (CalJointId){i}, &inboard, &outboard);
		cal_desc_node(ex->desc, inboard, &parent);
		cal_desc_node(ex->desc, outboard, &child);
		c->next[i] = c->first[parent.value];
		c->first[parent.value] = i;
		c->child[i] = child.value;
		c->above[child.value] = i;
	}
	return true;
}

/* The joint after this one, depth first; 0: none. */
static uint32_t joint_after(const Export *ex, const Children *c, uint32_t joint) {
	if (c->first[c->child[joint]])
		return c->first[c->child[joint]];
	while (joint && !c->next[joint]) {
		CalNodeId inboard;
		CalBodyId parent = {0};
		cal_desc_joint(ex->desc, (CalJointId){joint}, &inboard, NULL);
		cal_desc_node(ex->desc, inboard, &parent);
		joint = c->above[parent.value];
	}
	return c->next[joint];
}

/* ---- masses ------------------------------------------------------------------------------------------ */

static MassProperties moved(MassProperties m, const dpose *X) {
	return export_is_neutral(X) ? m : mass_moved(m, placement_of(X));
}

/* A flexible body is written rigid, with the mass that is lumped at its nodes. */
static MassProperties body_mass(const CalDesc *desc, CalBodyId id, const CalBodyDef *body) {
	MassProperties m = {body->mass, body->com, body->inertia};
	CalFlexDef flex = {0};
	cal_flex_body(desc, id, NULL, &flex);
	for (int i = 0; i < flex.node_count; i++) {
		const CalFlexNode *node = &flex.nodes[i];
		const CalVec3 at = cal_desc_node(desc, node->node, NULL)->placement.position;
		m = mass_sum(m, (MassProperties){node->mass, at, node->inertia});
	}
	return m;
}

static void set_mass(Export *ex, ExportLink *link) {
	const CalBodyDef *body = cal_desc_body(ex->desc, link->body);
	if (!body)
		return;
	link->mass = moved(body_mass(ex->desc, link->body, body), &link->X_LB);
	link->carried = link->mass;
}

static void add_carried(Export *ex) {
	for (int i = ex->link_count - 1; i >= 0; i--) {
		const ExportLink *link = &ex->links[i];
		if (link->parent == EXPORT_GROUND)
			continue;
		const dpose X = export_on_parent(link);
		ExportLink *parent = &ex->links[link->parent];
		parent->carried = mass_sum(parent->carried, mass_moved(link->carried, placement_of(&X)));
	}
}

dpose export_on_parent(const ExportLink *link) { return dpose_mul(link->X_PF, link->X_ML); }

dpose export_link_pose(const ExportLink *link) {
	const double *q = link->q;
	if (link->motion != EXPORT_FREE)
		return export_on_parent(link);
	return (dpose){dquat_matrix((CalQuat){q[3], q[4], q[5], q[6]}), {q[0], q[1], q[2]}};
}

dpose export_link_in_file(const Export *ex, int link) {
	dpose X = dpose_identity();
	for (; link != EXPORT_GROUND; link = ex->links[link].parent)
		X = dpose_mul(export_link_pose(&ex->links[link]), X);
	return X;
}

/* ---- links ------------------------------------------------------------------------------------------- */

static int count_links(const Export *ex) {
	int count = 0;
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_joint_count(ex->desc); i++)
		count += export_joint_link_count(ex, (CalJointId){i});
	return count;
}

static void add_links(Export *ex, CalJointId id) {
	CalNodeId inboard;
	CalBodyId parent = {0};
	cal_desc_joint(ex->desc, id, &inboard, NULL);
	cal_desc_node(ex->desc, inboard, &parent);
	const int above = parent.value ? ex->link_of_body[parent.value] : EXPORT_GROUND, first = ex->link_count;
	ex->link_of_joint[id.value] = first;
	ex->link_count += export_joint_links(ex, id, &ex->links[first], above);
	for (int i = first; i < ex->link_count; i++) {
		ExportLink *link = &ex->links[i];
		link->depth = link->parent == EXPORT_GROUND ? 0 : ex->links[link->parent].depth + 1;
		if (link->parent != EXPORT_GROUND)
			ex->links[link->parent].children++;
		set_mass(ex, link);
		if (link->body.value)
			ex->link_of_body[link->body.value] = i;
	}
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

dpose export_node_pose(const Export *ex, CalNodeId id, int *link) {
	CalBodyId body = {0};
	const CalNodeDef *node = cal_desc_node(ex->desc, id, &body);
	const dpose X = node ? pose_of(node->placement) : dpose_identity();
	*link = body.value ? ex->link_of_body[body.value] : EXPORT_GROUND;
	return *link == EXPORT_GROUND ? X : dpose_mul(ex->links[*link].X_LB, X);
}

/* Nodes are named within their body: where another has the same name, or is a link, the body stands before it. */
static void name_node(Export *ex, ExportNode *node) {
	CalBodyId body = {0};
	const CalNodeDef *def = cal_desc_node(ex->desc, node->id, &body);
	const CalBodyDef *owner = cal_desc_body(ex->desc, body);
	ExportNames *names = ex->format->nodes_are_links ? &ex->link_names : &ex->node_names;
	const char *path = export_format(ex, "%s/%s", owner ? owner->name : "ground", def->name);
	if (!ex->format->nodes_are_links && export_name_is_free(ex, names, def->name))
		node->name = export_new_name(ex, names, def->name);
	else
		node->name = export_new_name(ex, names, export_format(ex, "%s_%s", owner ? owner->name : "ground", def->name));
	if (node->name && path && strcmp(node->name, def->name) != 0)
		export_note(ex, CAL_IMPORT_CHANGED, "node", path, def->place, "it is %s \"%.100s\" in the file",
		            ex->format->nodes_are_links ? "a link without mass" : "called", node->name);
}

static void list_nodes(Export *ex) {
	const int count = cal_desc_node_count(ex->desc);
	ex->nodes = pool_array(&ex->pool, (size_t)count + 1, sizeof *ex->nodes);
	if (!ex->nodes) {
		export_no_memory(ex);
		return;
	}
	for (uint32_t i = 1; i <= (uint32_t)count && ex->status == CAL_OK; i++) {
		CalBodyId body = {0};
		cal_desc_node(ex->desc, (CalNodeId){i}, &body);
		if (body.value && cal_desc_body_node(ex->desc, body).value == i)
			continue;
		ExportNode *node = &ex->nodes[ex->node_count++];
		node->id = (CalNodeId){i};
		node->X_LN = export_node_pose(ex, node->id, &node->link);
		name_node(ex, node);
	}
}

void export_make_tree(Export *ex) {
	Children children;
	if (!list_children(ex, &children))
		return;
	ex->links = pool_array(&ex->pool, (size_t)count_links(ex) + 1, sizeof *ex->links);
	ex->link_of_body = pool_array(&ex->pool, (size_t)cal_desc_body_count(ex->desc) + 1, sizeof *ex->link_of_body);
	ex->link_of_joint = pool_array(&ex->pool, (size_t)cal_desc_joint_count(ex->desc) + 1, sizeof *ex->link_of_joint);
	if (!ex->links || !ex->link_of_body || !ex->link_of_joint) {
		export_no_memory(ex);
		return;
	}
	for (uint32_t i = children.first[0]; i && ex->status == CAL_OK; i = joint_after(ex, &children, i))
		add_links(ex, (CalJointId){i});
	if (ex->status != CAL_OK)
		return;
	add_carried(ex);
	list_nodes(ex);
}
