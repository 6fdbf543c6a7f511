// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_tree.c — bodies, joints and sites of the file as bodies, joints and nodes of the description.
 *
 * A joint of the file is a joint of the description, whose coordinate is that of MuJoCo: zero is `ref` away from the pose in
 * the file. Several joints of one body follow each other over massless bodies, which have the frame of the body. A body
 * without joints is welded to its parent, so that it keeps its name, and its sites their body.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };

/* ---- names --------------------------------------------------------------------------------------------------- */

/* The name, unless a model file does not take it: that of the ground, or with '/' at an end or doubled. */
static const char *sound_label(Mjcf *m, MjcfKind kind, const MjcfObject *object, const char *what) {
	if (strcmp(object->name, "ground") != 0 && name_slashes_are_sound(object->name))
		return object->name;
	char *sound = xml_text(m->im->tree, object->name);
	if (!sound)
		return import_no_memory(m->im), NULL;
	for (char *at = sound; *at; at++)
		*at = *at == '/' ? '_' : *at;
	const char *label = mjcf_label(m, kind, mjcf_format(m, "%s_%s", sound, what));
	return label && import_note(m->im, CAL_IMPORT_CHANGED, object->element, "name", "the %s is called \"%s\" here",
	                            what, label)
	           ? label
	           : NULL;
}

static const char *body_label(Mjcf *m, int index) {
	const MjcfObject *object = &mjcf_body(m, index)->object;
	return object->name ? sound_label(m, MJCF_BODIES, object, "body")
	                    : mjcf_label(m, MJCF_BODIES, mjcf_numbered(m, "body", index));
}

static const char *joint_label(Mjcf *m, const MjcfJoint *joint, const char *body, int which, int count) {
	if (joint->object.name)
		return sound_label(m, MJCF_JOINTS, &joint->object, "joint");
	return mjcf_label(m, MJCF_JOINTS, count == 1 ? body : mjcf_format(m, "%s_%d", body, which + 1));
}

/* ---- joints ------------------------------------------------------------------------------------------------ */

static CalJointType type_of(int type) {
	static const CalJointType types[] = {CAL_JOINT_FREE, CAL_JOINT_SPHERICAL, CAL_JOINT_PRISMATIC, CAL_JOINT_REVOLUTE};
	return types[type];
}

/* Springs and dampers; those of higher order are devices. */
static void set_dofs(const Mjcf *m, const MjcfJoint *joint, CalJointDef *def) {
	const MjcfJointAttributes *a = &joint->a;
	const MjcfFlags *on = &m->option.on;
	const int count = a->type == MJCF_FREE ? 6 : a->type == MJCF_BALL ? 3 : 1;
	for (int i = 0; i < count; i++) {
		CalDofDef *dof = &def->dof[i];
		dof->rotor_inertia = a->armature;
		dof->damping = on->damper ? a->damping[0] : 0;
		if (a->type == MJCF_FREE)
			continue; // its springs are about the frame of the world: a bushing (mjcf_joint.c)
		dof->stiffness = on->spring ? a->stiffness[0] : 0;
		dof->rest = dof->stiffness > 0 && a->type != MJCF_BALL ? a->springref : 0;
	}
}

/* Frame of the joint where its coordinate is zero: `ref` before the pose of the file. */
static CalPlacement zero_pose(const MjcfJointAttributes *a) {
	const dvec3 back = dscale(-a->ref, dvec_in(a->axis));
	if (a->type == MJCF_SLIDE)
		return (CalPlacement){dvec_out(back), {1, 0, 0, 0}};
	return (CalPlacement){a->pos, a->type == MJCF_BALL || a->ref == 0 ? (CalQuat){1, 0, 0, 0} : dquat_exp(back)};
}

/* inboard: the frame of the body at qpos0 in that of the inboard node. */
static CalJointDef joint_def(const Mjcf *m, const MjcfJoint *joint, CalPlacement inboard) {
	CalJointDef def = cal_joint_def(type_of(joint->a.type));
	def.name = joint->label;
	if (joint->a.type != MJCF_FREE) {
		def.inboard = placement_mul(inboard, zero_pose(&joint->a));
		if (joint->a.type != MJCF_SLIDE)
			def.outboard.position = dvec_out(dscale(-1, dvec_in(joint->a.pos)));
	}
	if (joint->a.type == MJCF_SLIDE || joint->a.type == MJCF_HINGE)
		def.axis = joint->a.axis;
	set_dofs(m, joint, &def);
	return def;
}

static bool attach_joint(Mjcf *m, CalJointDef *def, const XmlElement *element, CalNodeId inboard, CalBodyId outboard,
                         CalJointId *id) {
	char place[PLACE_MAX];
	def->place = xml_place(element, place, sizeof place);
	return import_ok(
		m->im, cal_desc_attach(m->im->desc, inboard, def, cal_desc_body_node(m->im->desc, outboard), id, m->im->error));
}

static bool weld_body(Mjcf *m, MjcfBody *body, const char *label, CalNodeId parent) {
	CalJointDef def = cal_joint_def(CAL_JOINT_WELD);
	CalJointId id;
	if (!(def.name = mjcf_label(m, MJCF_JOINTS, label)))
		return false;
	def.inboard = body->pose;
	return attach_joint(m, &def, body->object.element, parent, body->id, &id);
}

/* A mocap body is moved from outside: a free joint with prescribed accelerations, which are zero unless loads give them. */
static bool free_mocap_body(Mjcf *m, MjcfBody *body, const char *label) {
	const double *q = m->mocap + 7 * (size_t)m->mocap_built++;
	CalJointDef def = cal_joint_def(CAL_JOINT_FREE);
	CalJointId id;
	if (!(def.name = mjcf_label(m, MJCF_JOINTS, label)))
		return false;
	for (int i = 0; i < 6; i++)
		def.dof[i].prescribed = 1;
	return attach_joint(m, &def, body->object.element, (CalNodeId){0}, body->id, &id) &&
	       import_ok(m->im, cal_setup_set_state(m->im->setup, id, &(CalStateDef){.q = q}, m->im->error)) &&
	       import_note(
			   m->im, CAL_IMPORT_CHANGED, body->object.element, "mocap",
			   "the body is on the free joint \"%s\" with prescribed accelerations: it rests until a load moves it",
			   def.name);
}

/* ---- bodies --------------------------------------------------------------------------------------------------- */

static bool add_body(Mjcf *m, const XmlElement *element, const char *label, const MassProperties *mass, CalBodyId *id) {
	char place[PLACE_MAX];
	CalBodyDef def = cal_body_def();
	def.name = label;
	def.mass = mass->mass;
	def.com = mass->com;
	def.inertia = mass->inertia;
	def.place = xml_place(element, place, sizeof place);
	return import_ok(m->im, cal_desc_add_body(m->im->desc, &def, id, m->im->error));
}

/* Joint `which` of a body, and the massless body that it carries unless it is the last one. */
static bool build_joint(Mjcf *m, MjcfBody *body, const char *label, int which, CalNodeId *inboard, CalPlacement *pose) {
	static const MassProperties nothing = {0};
	MjcfJoint *joint = mjcf_joint(m, body->first_joint + which);
	const bool is_last = which == body->joint_count - 1;
	if (!(joint->label = joint_label(m, joint, label, which, body->joint_count)))
		return false;
	joint->carried = body->id;
	if (!is_last) {
		const char *between = mjcf_format(m, "%s_%s", label, joint->label);
		if (!between || !(between = mjcf_label(m, MJCF_BODIES, between)) ||
		    !add_body(m, joint->object.element, between, &nothing, &joint->carried))
			return false;
	}
	CalJointDef def = joint_def(m, joint, *pose);
	if (!attach_joint(m, &def, joint->object.element, joint->a.type == MJCF_FREE ? (CalNodeId){0} : *inboard,
	                  joint->carried, &joint->id))
		return false;
	*inboard = cal_desc_body_node(m->im->desc, joint->carried);
	*pose = placement_identity();
	return true;
}

static bool build_body(Mjcf *m, int index) {
	MjcfBody *body = mjcf_body(m, index);
	const char *label = body_label(m, index);
	CalNodeId inboard = mjcf_body(m, body->parent)->node;
	CalPlacement pose = body->pose;
	if (!label || !add_body(m, body->object.element, label, &body->mass, &body->id))
		return false;
	body->node = cal_desc_body_node(m->im->desc, body->id);
	if (body->is_mocap)
		return free_mocap_body(m, body, label);
	if (!body->joint_count)
		return weld_body(m, body, label, inboard);
	for (int i = 0; i < body->joint_count; i++)
		if (!build_joint(m, body, label, i, &inboard, &pose))
			return false;
	return true;
}

/* ---- sites ----------------------------------------------------------------------------------------------------- */

static bool node_is_taken(Mjcf *m, const MjcfSite *site, const char *name) {
	const CalBodyDef *body = cal_desc_body(m->im->desc, mjcf_body(m, site->body)->id);
	const char *path = mjcf_format(m, "%s/%s", body ? body->name : "ground", name);
	return path && cal_desc_find_node(m->im->desc, path).value != 0;
}

/* Nodes are named within their body, without '/'; each body has a node "head" already. */
static const char *site_label(Mjcf *m, const MjcfSite *site, int index) {
	const char *name = site->object.name;
	char *sound = xml_text(m->im->tree, name ? name : mjcf_numbered(m, "site", index));
	if (!sound)
		return import_no_memory(m->im), NULL;
	for (char *at = sound; *at; at++)
		*at = *at == '/' ? '_' : *at;
	const char *label = sound;
	for (int i = 2; label && (strcmp(label, "head") == 0 || node_is_taken(m, site, label));
	     i = mjcf_next_number(i, m->lists[MJCF_SITES].count))
		label = mjcf_format(m, "%s_%d", sound, i);
	if (label && name && strcmp(label, name) != 0 &&
	    !import_note(m->im, CAL_IMPORT_CHANGED, site->object.element, "name", "the node is called \"%s\" here", label))
		return NULL;
	return label;
}

static bool build_site(Mjcf *m, int index) {
	MjcfSite *site = mjcf_site(m, index);
	char place[PLACE_MAX];
	CalNodeDef def = cal_node_def();
	if (!(def.name = site_label(m, site, index)))
		return false;
	def.placement = site->pose;
	def.place = xml_place(site->object.element, place, sizeof place);
	return import_ok(m->im,
	                 cal_desc_add_node(m->im->desc, mjcf_body(m, site->body)->id, &def, &site->id, m->im->error));
}

/* Room for what is about to be added: a body for each of its joints, one at least. */
static bool reserve_tree(Mjcf *m) {
	int bodies = 0;
	for (int i = 1; i < m->lists[MJCF_BODIES].count; i++) {
		const int joints = mjcf_body(m, i)->joint_count;
		bodies += joints > 1 ? joints : 1;
	}
	return import_ok(m->im, cal_desc_reserve(m->im->desc, bodies, bodies + m->lists[MJCF_SITES].count, bodies)) ||
	       import_no_memory(m->im);
}

bool mjcf_build_tree(Mjcf *m) {
	const MjcfOption *o = &m->option;
	if (o->on.gravity && !import_gravity(m->im, o->gravity_element ? o->gravity_element : m->file.root, o->gravity))
		return false;
	if (!reserve_tree(m))
		return false;
	for (int i = 1; i < m->lists[MJCF_BODIES].count; i++)
		if (!build_body(m, i))
			return false;
	for (int i = 0; i < m->lists[MJCF_SITES].count; i++)
		if (!build_site(m, i))
			return false;
	return true;
}
