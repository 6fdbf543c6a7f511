// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_build.c — bodies, joints, couplings and devices of the lists that were read.
 *
 * A mimic is a coupling of two coordinates, a joint whose limits are equal a coupling of one. A joint that moves no inertia
 * has no acceleration: it is found here, where its place in the file is known.
 */
#include <stdio.h>
#include <string.h>

#include "io/urdf/urdf_reader.h"

enum { PLACE = 400 };

/* ---- what joints move ---------------------------------------------------------------------------------- */

/* a'(I + m (c.c 1 - c c')) a */
static double inertia_about(const MassProperties *m, CalVec3 a) {
	const double v[3] = {a.x, a.y, a.z}, along = a.x * m->com.x + a.y * m->com.y + a.z * m->com.z;
	const double square = m->com.x * m->com.x + m->com.y * m->com.y + m->com.z * m->com.z;
	double sum = m->mass * (square - along * along);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			sum += v[i] * m->inertia.m[i][j] * v[j];
	return sum;
}

static bool weigh_joint(Urdf *u, UrdfJoint *joint) {
	const MassProperties *m = &u->links[joint->child].outboard;
	const bool turns = joint->type == URDF_REVOLUTE || joint->type == URDF_CONTINUOUS;
	const double ratio = joint->dof.gear_ratio == 0 ? 1 : joint->dof.gear_ratio;
	joint->inertia = turns ? inertia_about(m, joint->axis) : m->mass;
	joint->inertia += joint->dof.rotor_inertia * ratio * ratio;
	if (joint->inertia > 0 || joint->type == URDF_FIXED)
		return true;
	joint->type = URDF_FIXED; // of a partial model
	joint->dof = (CalDofDef){0};
	joint->mimic.element = NULL;
	return import_missing(
		u->im, joint->element,
		"joint \"%.80s\" moves link \"%.80s\" and what it carries, which have no inertia about its axis: "
		"its acceleration is not determined; give their mass in <inertial>, or make the joint fixed, as "
		"a partial model does",
		joint->name, u->links[joint->child].name);
}

/* Leaves first. */
bool urdf_weigh_joints(Urdf *u) {
	for (int i = 0; i < u->link_count; i++)
		u->links[i].outboard = u->links[i].mass;
	for (int i = u->link_count - 1; i > 0; i--) {
		const UrdfLink *link = &u->links[u->order[i]];
		UrdfJoint *joint = &u->joints[link->joint];
		UrdfLink *parent = &u->links[joint->parent];
		if (!weigh_joint(u, joint))
			return false;
		parent->outboard = mass_sum(parent->outboard, mass_moved(link->outboard, joint->origin));
	}
	return true;
}

/* ---- bodies ----------------------------------------------------------------------------------------------- */

/* Whether tr(I)/2 1 - I, the second moments, is clearly positive: the triangle inequality holds. */
static bool is_realizable(const CalMat3 *I) {
	const double half = (I->m[0][0] + I->m[1][1] + I->m[2][2]) / 2, least = 1e-6 * half;
	const double x = half - I->m[0][0], y = half - I->m[1][1], z = half - I->m[2][2];
	const double a = -I->m[0][1], b = -I->m[0][2], c = -I->m[1][2];
	const double minor = x * y - a * a, det = x * (y * z - c * c) - a * (a * z - c * b) + b * (a * c - y * b);
	return half == 0 || (x > least && minor > least * half && det > least * half * half);
}

/* Slashes at odd places, and "ground", are no names of Calder. */
static bool report_name(Urdf *u, const XmlElement *e, const char *name, const char *taken) {
	return strcmp(name, taken) == 0 ||
	       import_note(u->im, CAL_IMPORT_CHANGED, e, "name", "Calder has no such name; taken: \"%.80s\"", taken);
}

static bool add_body(Urdf *u, UrdfLink *link) {
	char place[PLACE];
	CalBodyDef def = cal_body_def();
	def.name = import_body_name(u->im, link->name);
	if (!def.name || !report_name(u, link->element, link->name, def.name))
		return false;
	def.mass = link->mass.mass;
	def.com = link->mass.com;
	def.inertia = link->mass.inertia;
	def.idealized = !is_realizable(&link->mass.inertia); // published robots violate it: a warning then
	def.place = xml_place(link->element, place, sizeof place);
	return import_ok(u->im, cal_desc_add_body(u->im->desc, &def, &link->body, u->im->error));
}

/* ---- joints ----------------------------------------------------------------------------------------------- */

static CalNodeId node_of(const Urdf *u, int link) {
	const CalBodyId body = u->links[link].body;
	return body.value ? cal_desc_body_node(u->im->desc, body) : (CalNodeId){0};
}

static CalJointType type_of(UrdfJointType type) {
	static const CalJointType types[] = {CAL_JOINT_WELD,      CAL_JOINT_REVOLUTE, CAL_JOINT_REVOLUTE,
	                                     CAL_JOINT_PRISMATIC, CAL_JOINT_PLANAR,   CAL_JOINT_FREE};
	return types[type];
}

static bool add_joint(Urdf *u, UrdfJoint *joint) {
	char place[PLACE];
	CalJointDef def = cal_joint_def(type_of(joint->type));
	def.name = import_joint_name(u->im, joint->name);
	if (!def.name || !report_name(u, joint->element, joint->name, def.name))
		return false;
	def.inboard = joint->origin;
	if (joint->type != URDF_FIXED && joint->type != URDF_FLOATING)
		def.axis = joint->axis;
	def.dof[0] = joint->dof;
	def.place = xml_place(joint->element, place, sizeof place);
	return import_ok(u->im, cal_desc_attach(u->im->desc, node_of(u, joint->parent), &def, node_of(u, joint->child),
	                                        &joint->id, u->im->error));
}

/* A name for the joint that holds the root: that of the link, unless a joint of the file has it. */
static const char *base_name(Urdf *u, const char *link) {
	const size_t size = strlen(link) + 32;
	char *name = xml_array(u->im->tree, size, 1);
	if (!name) {
		import_no_memory(u->im);
		return NULL;
	}
	snprintf(name, size, "%s", link);
	for (int i = 2; urdf_find_joint(u, name) >= 0; i++)
		snprintf(name, size, "%s_base%d", link, i);
	return name;
}

static bool add_base(Urdf *u) {
	const UrdfLink *root = &u->links[u->root];
	const bool is_free = u->im->options->base == CAL_BASE_FREE;
	char place[PLACE];
	CalJointDef def = cal_joint_def(is_free ? CAL_JOINT_FREE : CAL_JOINT_WELD);
	const char *name = base_name(u, root->name);
	def.name = name ? import_joint_name(u->im, name) : NULL;
	def.place = xml_place(root->element, place, sizeof place);
	if (!def.name)
		return false;
	if (is_free && root->outboard.mass == 0)
		return import_fail(u->im, root->element,
		                   "nothing has mass, so that a free base has no acceleration; give masses");
	if (u->im->options->base == CAL_BASE_DEFAULT &&
	    !import_note(
			u->im, CAL_IMPORT_ASSUMED, root->element, NULL,
			"URDF does not say how the root link \"%.80s\" is held; taken: fixed to the ground (--base free: it "
			"floats)",
			root->name))
		return false;
	return import_ok(u->im,
	                 cal_desc_attach(u->im->desc, (CalNodeId){0}, &def, node_of(u, u->root), NULL, u->im->error));
}

static bool add_tree(Urdf *u) {
	if (!import_ok(u->im, cal_desc_reserve(u->im->desc, u->link_count, u->link_count, u->joint_count + 1)))
		return import_no_memory(u->im);
	for (int i = 0; i < u->link_count; i++) {
		UrdfLink *link = &u->links[u->order[i]];
		if (i == 0 && u->root_is_ground)
			continue;
		if (!add_body(u, link) || !(i == 0 ? add_base(u) : add_joint(u, &u->joints[link->joint])))
			return false;
	}
	return true;
}

/* ---- couplings, stops, friction, start ---------------------------------------------------------------------------- */

static bool add_coupling(Urdf *u, const UrdfJoint *joint) {
	const UrdfMimic *mimic = &joint->mimic;
	const bool follows = mimic->element != NULL;
	char place[PLACE];
	if (!follows && !(joint->lower == joint->upper))
		return true;
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	def.name = cal_desc_joint(u->im->desc, joint->id, NULL, NULL)->name;
	def.term_count = 1;
	def.term[0] = (CalLoopTerm){.body = u->links[joint->child].body, .factor = 1};
	if (follows && mimic->multiplier != 0)
		def.term[def.term_count++] =
			(CalLoopTerm){.body = u->links[u->joints[mimic->leader].child].body, .factor = -mimic->multiplier};
	def.drive[0].offset = follows ? mimic->offset : joint->lower;
	def.place = xml_place(follows ? mimic->element : joint->limit, place, sizeof place);
	return import_ok(u->im, cal_desc_close_loop(u->im->desc, (CalNodeId){0}, &def, (CalNodeId){0}, NULL, u->im->error));
}

static bool add_limit(Urdf *u, const UrdfJoint *joint, CalJointId id) {
	return joint->lower == joint->upper || import_limit(u->im, joint->limit, id, 0, joint->lower, joint->upper, 0, 0);
}

static bool add_start(Urdf *u, const UrdfJoint *joint, CalJointId id) {
	char place[PLACE];
	if (joint->start == 0)
		return true;
	const CalStateDef def = {.q = &joint->start, .place = xml_place(joint->element, place, sizeof place)};
	return import_ok(u->im, cal_setup_set_state(u->im->setup, id, &def, u->im->error));
}

bool urdf_build(Urdf *u) {
	if (!add_tree(u))
		return false;
	for (int i = 0; i < u->joint_count; i++) {
		const UrdfJoint *joint = &u->joints[i];
		if (!urdf_is_scalar(joint))
			continue;
		const CalJointId id = joint->id;
		if (!add_coupling(u, joint) || !add_limit(u, joint, id) ||
		    !import_friction(u->im, joint->element, id, 0, joint->friction) || !add_start(u, joint, id))
			return false;
	}
	return true;
}
