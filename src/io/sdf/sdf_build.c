// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_build.c — bodies, joints, loops and couplings of the description.
 *
 * All coordinates are zero in the pose of the file. A joint that the tree runs through from child to parent is reversed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/sdf/sdf_reader.h"

/* Of `to` in `from` by the poses of the file, where few of them lead there: exact, and without the way over the world. */
static bool find_path(const Sdf *s, int from, int to, CalPlacement *X) {
	enum { MOST_STEPS = 4 };
	*X = placement_identity();
	for (int i = 0; i < MOST_STEPS && to != from; i++) {
		const SdfFrame *f = &s->frames[to];
		if (f->kind == SDF_MODEL || f->kind == SDF_WORLD)
			return false;
		*X = placement_mul(f->given, *X);
		to = f->relative_to;
	}
	return to == from;
}

static CalPlacement between(const Sdf *s, int from, int to) {
	CalPlacement X;
	if (find_path(s, from, to, &X))
		return X;
	if (find_path(s, to, from, &X))
		return placement_inverse(X);
	return placement_mul(placement_inverse(s->frames[from].in_world), s->frames[to].in_world);
}

static int link_frame(const Sdf *s, int frame) {
	const int link = s->frames[frame].link;
	return link == SDF_NONE ? SDF_WORLD_FRAME : s->links[link].frame;
}

static CalNodeId node_of(const Sdf *s, int frame) {
	const int link = s->frames[frame].link;
	return link == SDF_NONE ? (CalNodeId){0} : cal_desc_body_node(s->im->desc, s->links[link].body);
}

static bool add_body(Sdf *s, SdfLink *link) {
	const SdfFrame *f = &s->frames[link->frame];
	char place[240];
	const CalBodyDef def = {.name = import_body_name(s->im, f->full_name),
	                        .mass = link->mass.mass,
	                        .com = link->mass.com,
	                        .inertia = link->mass.inertia,
	                        .idealized = 1, // published robots violate the triangle inequality: a warning
	                        .place = xml_place(f->element, place, sizeof place)};
	if (!def.name || !import_ok(s->im, cal_desc_add_body(s->im->desc, &def, &link->body, s->im->error)))
		return false;
	return strcmp(def.name, f->full_name) == 0 ||
	       import_note(s->im, CAL_IMPORT_CHANGED, f->element, NULL, "its name is \"%.100s\" here", def.name);
}

/* ---- roots ---------------------------------------------------------------------------------------------- */

static bool set_free_pose(Sdf *s, CalJointId joint, const SdfFrame *f) {
	const CalPlacement at = f->in_world;
	const double q[7] = {at.position.x,    at.position.y,    at.position.z,   at.orientation.w,
	                     at.orientation.x, at.orientation.y, at.orientation.z};
	char place[240];
	const CalStateDef state = {.q = q, .place = xml_place(f->element, place, sizeof place)};
	return import_ok(s->im, cal_setup_set_state(s->im->setup, joint, &state, s->im->error));
}

/* A link that no joint carries: free, or fixed where it is static or the caller wants it. */
static bool attach_root(Sdf *s, const SdfLink *link) {
	const SdfFrame *f = &s->frames[link->frame];
	const bool fixed = f->is_static || s->im->options->base == CAL_BASE_FIXED;
	char name[240], place[240];
	CalJointId joint;
	CalJointDef def = cal_joint_def(fixed ? CAL_JOINT_WELD : CAL_JOINT_FREE);
	snprintf(name, sizeof name, "%.200s_%s", f->full_name, fixed ? "fixed" : "free");
	def.name = import_joint_name(s->im, name);
	def.place = xml_place(f->element, place, sizeof place);
	if (fixed)
		def.inboard = f->in_world;
	return def.name &&
	       import_ok(s->im, cal_desc_attach(s->im->desc, (CalNodeId){0}, &def,
	                                        cal_desc_body_node(s->im->desc, link->body), &joint, s->im->error)) &&
	       (fixed || set_free_pose(s, joint, f));
}

/* ---- joints of the tree --------------------------------------------------------------------------------- */

static const CalJointType joint_types[] = {
	[SDF_FIXED] = CAL_JOINT_WELD,          [SDF_REVOLUTE] = CAL_JOINT_REVOLUTE,   [SDF_CONTINUOUS] = CAL_JOINT_REVOLUTE,
	[SDF_PRISMATIC] = CAL_JOINT_PRISMATIC, [SDF_SCREW] = CAL_JOINT_SCREW,         [SDF_BALL] = CAL_JOINT_SPHERICAL,
	[SDF_UNIVERSAL] = CAL_JOINT_UNIVERSAL, [SDF_REVOLUTE2] = CAL_JOINT_UNIVERSAL,
};

static CalJointDef define_joint(Sdf *s, const SdfJoint *joint) {
	CalJointDef def = cal_joint_def(joint_types[joint->type]);
	def.inboard = between(s, link_frame(s, joint->parent), joint->frame);
	def.outboard = between(s, joint->frame, link_frame(s, joint->child));
	def.pitch = joint->pitch;
	if (joint->axis_count > 0)
		def.axis = joint->axis[0].xyz;
	if (joint->axis_count > 1)
		def.axis2 = joint->axis[1].xyz;
	for (int i = 0; i < joint->axis_count; i++) {
		def.dof[i].damping = joint->axis[i].damping;
		def.dof[i].stiffness = joint->axis[i].stiffness;
		def.dof[i].rest = joint->axis[i].rest;
	}
	return def;
}

/* Degree of freedom of an axis: reversing a joint with two axes exchanges them. */
static int dof_of(const SdfJoint *joint, int axis) {
	return joint->reversed && joint->axis_count == 2 ? 1 - axis : axis;
}

static bool add_forces(Sdf *s, const SdfJoint *joint) {
	double q[2] = {0};
	bool starts = false;
	for (int i = 0; i < joint->axis_count; i++) {
		const SdfAxis *axis = &joint->axis[i];
		const int dof = dof_of(joint, i);
		q[dof] = axis->start;
		starts = starts || axis->start != 0;
		if (!import_limit(s->im, axis->element, joint->joint, dof, axis->lower, axis->upper, axis->limit_stiffness,
		                  axis->limit_damping) ||
		    !import_friction(s->im, axis->element, joint->joint, dof, axis->friction))
			return false;
	}
	char place[240];
	const CalStateDef state = {.q = q, .place = xml_place(s->frames[joint->frame].element, place, sizeof place)};
	return !starts || import_ok(s->im, cal_setup_set_state(s->im->setup, joint->joint, &state, s->im->error));
}

static bool attach_joint(Sdf *s, SdfJoint *joint) {
	const SdfFrame *f = &s->frames[joint->frame];
	char place[240];
	CalJointDef def = define_joint(s, joint), turned;
	CalNodeId in = node_of(s, joint->parent), out = node_of(s, joint->child);
	def.name = import_joint_name(s->im, f->full_name);
	def.place = xml_place(f->element, place, sizeof place);
	if (!def.name)
		return false;
	if (joint->reversed) {
		if (!import_ok(s->im, cal_joint_def_reverse(&def, &turned, s->im->error)))
			return false;
		const CalNodeId swap = in;
		in = out, out = swap, def = turned;
	}
	return import_ok(s->im, cal_desc_attach(s->im->desc, in, &def, out, &joint->joint, s->im->error)) &&
	       add_forces(s, joint);
}

/* ---- loops ---------------------------------------------------------------------------------------------- */

static const CalLoopType loop_types[] = {
	[SDF_FIXED] = CAL_LOOP_WELD,          [SDF_REVOLUTE] = CAL_LOOP_REVOLUTE,   [SDF_CONTINUOUS] = CAL_LOOP_REVOLUTE,
	[SDF_PRISMATIC] = CAL_LOOP_PRISMATIC, [SDF_SCREW] = CAL_LOOP_SCREW,         [SDF_BALL] = CAL_LOOP_SPHERICAL,
	[SDF_UNIVERSAL] = CAL_LOOP_UNIVERSAL, [SDF_REVOLUTE2] = CAL_LOOP_UNIVERSAL,
};

/* Axes with z along a direction. */
static dmat3 axes_along(dvec3 z) {
	const dvec3 least = fabs(z.x) < 0.6 ? (dvec3){1, 0, 0} : (dvec3){0, 1, 0};
	dvec3 x = dcross(least, z);
	x = dscale(1 / sqrt(ddot(x, x)), x);
	return (dmat3){x, dcross(z, x), z};
}

static dmat3 loop_axes(const SdfJoint *joint) {
	if (joint->axis_count == 0)
		return dmat_identity();
	const dvec3 first = dvec_in(joint->axis[0].xyz);
	if (joint->axis_count == 1)
		return axes_along(first);
	const dvec3 second = dvec_in(joint->axis[1].xyz);
	return (dmat3){first, second, dcross(first, second)};
}

/* Forces along a joint that closes a loop have no coordinate to act on. */
static bool report_forces(Sdf *s, const SdfJoint *joint) {
	for (int i = 0; i < joint->axis_count; i++)
		if (joint->axis[i].acts &&
		    !import_missing(
				s->im, joint->axis[i].element,
				"joint \"%.80s\" closes a loop, and so do the other joints of that loop with forces: its damping, "
				"friction, spring, limits and mimic are left out",
				s->frames[joint->frame].name))
			return false;
	return true;
}

static bool close_loop(Sdf *s, SdfJoint *joint) {
	const SdfFrame *f = &s->frames[joint->frame];
	char place[240];
	CalLoopId id;
	CalLoopDef def = cal_loop_def(loop_types[joint->type]);
	const CalPlacement axes = {.orientation = quat_of_matrix(loop_axes(joint))};
	if (joint->axis_count == 2 && fabs(ddot(dvec_in(joint->axis[0].xyz), dvec_in(joint->axis[1].xyz))) > 1e-9)
		return import_fail(s->im, f->element, "joint \"%.80s\" closes a loop, and its axes are not perpendicular",
		                   f->name);
	def.name = import_loop_name(s->im, f->full_name);
	if (!def.name)
		return false;
	def.a = placement_mul(between(s, link_frame(s, joint->parent), joint->frame), axes);
	def.b = placement_mul(between(s, link_frame(s, joint->child), joint->frame), axes);
	def.pitch = joint->pitch;
	def.place = xml_place(f->element, place, sizeof place);
	return report_forces(s, joint) &&
	       import_ok(s->im, cal_desc_close_loop(s->im->desc, node_of(s, joint->parent), &def, node_of(s, joint->child),
	                                            &id, s->im->error));
}

/* ---- couplings ------------------------------------------------------------------------------------------ */

/* The coordinate of an axis of a joint of the tree, as a term. */
static CalLoopTerm term_of(const Sdf *s, const SdfJoint *joint, int axis, double factor) {
	const int link = s->frames[joint->reversed ? joint->parent : joint->child].link;
	return (CalLoopTerm){.body = s->links[link].body, .dof = dof_of(joint, axis), .factor = factor};
}

static bool couple(Sdf *s, const XmlElement *element, const char *name, CalLoopTerm a, CalLoopTerm b, double sum) {
	char full[240], place[240];
	CalLoopId id;
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	snprintf(full, sizeof full, "%.200s_coupling", name);
	def.name = import_loop_name(s->im, full);
	if (!def.name)
		return false;
	def.term_count = b.factor != 0 ? 2 : 1;
	def.term[0] = a;
	def.term[1] = b;
	def.drive[0].offset = sum;
	def.place = xml_place(element, place, sizeof place);
	return import_ok(s->im, cal_desc_close_loop(s->im->desc, (CalNodeId){0}, &def, (CalNodeId){0}, &id, s->im->error));
}

static bool mimic_number(Sdf *s, XmlElement *mimic, const char *name, double *value) {
	XmlElement *e = xml_child(mimic, name);
	return !e || import_number(s->im, e, NULL, value, NULL);
}

/* q = multiplier (leader - reference) + offset */
static bool add_mimic(Sdf *s, const SdfJoint *joint, int axis) {
	XmlElement *mimic = joint->axis[axis].mimic;
	static const char *const axes[] = {"axis", "axis2", NULL};
	double multiplier = 1, offset = 0, reference = 0;
	int which = 0;
	const char *name = import_required(s->im, mimic, "joint");
	if (!name || !import_word(s->im, mimic, "axis", axes, &which, NULL) ||
	    !mimic_number(s, mimic, "multiplier", &multiplier) || !mimic_number(s, mimic, "offset", &offset) ||
	    !mimic_number(s, mimic, "reference", &reference))
		return false;
	const int found = sdf_find(s, s->frames[joint->frame].scope, name);
	const bool is_joint = found != SDF_NONE && s->frames[found].kind == SDF_JOINT;
	const SdfJoint *leader = is_joint ? &s->joints[s->frames[found].joint] : NULL;
	if (!leader || leader->use != SDF_USE_TREE || which >= leader->axis_count || leader == joint)
		return import_fail(s->im, mimic, "\"%.80s\" is no joint with the axis that joint \"%.80s\" should follow", name,
		                   s->frames[joint->frame].name);
	return couple(s, mimic, s->frames[joint->frame].full_name, term_of(s, joint, axis, 1),
	              term_of(s, leader, which, -multiplier), offset - multiplier * reference);
}

/* The joint of the tree by which a link turns about an axis of a gearbox against the reference body; its sense: 1 or -1. */
static const SdfJoint *find_gear(const Sdf *s, const SdfJoint *gearbox, int end, int axis, double *sense) {
	const int reference = s->frames[gearbox->reference].link, link = s->frames[end].link;
	const dvec3 about = dmat_mul_vec(sdf_axes(s, gearbox->frame), dvec_in(gearbox->axis[axis].xyz));
	const int carriers[] = {link == SDF_NONE ? SDF_NONE : s->links[link].parent_joint,
	                        reference == SDF_NONE ? SDF_NONE : s->links[reference].parent_joint};
	for (int i = 0; i < 2; i++) { // of two links that a joint of the tree ties, one is carried by it
		const SdfJoint *joint = carriers[i] == SDF_NONE ? NULL : &s->joints[carriers[i]];
		if (!joint || (joint->type != SDF_REVOLUTE && joint->type != SDF_CONTINUOUS))
			continue;
		const int parent = s->frames[joint->parent].link, child = s->frames[joint->child].link;
		const double same = ddot(about, dmat_mul_vec(sdf_axes(s, joint->frame), dvec_in(joint->axis[0].xyz)));
		const bool outward = parent == reference && child == link, inward = child == reference && parent == link;
		if ((outward || inward) && fabs(same) > 1 - 1e-9) {
			*sense = (same > 0) == outward ? 1 : -1;
			return joint;
		}
	}
	return NULL;
}

/* angle of the child = -ratio angle of the parent, both against the reference body */
static bool add_gearbox(Sdf *s, const SdfJoint *joint) {
	double sense1 = 1, sense2 = 1;
	const SdfFrame *f = &s->frames[joint->frame];
	const SdfJoint *first = find_gear(s, joint, joint->parent, 0, &sense1),
				   *second = find_gear(s, joint, joint->child, 1, &sense2);
	if (!first || !second)
		return import_missing(s->im, f->element,
		                      "gearbox \"%.80s\": its links do not turn about its axes by joints on the reference body",
		                      f->name);
	return couple(s, f->element, f->full_name, term_of(s, second, 0, sense2),
	              term_of(s, first, 0, sense1 * joint->ratio), 0);
}

/* ---- weight --------------------------------------------------------------------------------------------- */

static bool lift_weights(Sdf *s) {
	for (int i = 0; i < s->link_count; i++) {
		const SdfLink *link = &s->links[i];
		const char *name = cal_desc_body(s->im->desc, link->body)->name;
		const size_t size = strlen(name) + sizeof "_gravcomp";
		if (!link->weightless || !(link->mass.mass > 0))
			continue;
		char *label = xml_array(s->im->tree, size, 1);
		if (!label)
			return import_no_memory(s->im);
		snprintf(label, size, "%s_gravcomp", name);
		if (!import_lift_weight(s->im, s->frames[link->frame].element, link->body, label, 1))
			return false;
	}
	return true;
}

/* ---- nodes ---------------------------------------------------------------------------------------------- */

/* Frames of the file are nodes of the links that they are attached to. */
static bool add_node(Sdf *s, const SdfFrame *f) {
	char place[240];
	const int index = (int)(f - s->frames);
	const CalNodeDef def = {.name = f->name,
	                        .placement = between(s, link_frame(s, index), index),
	                        .place = xml_place(f->element, place, sizeof place)};
	CalNodeId id;
	const CalBodyId body = f->link == SDF_NONE ? (CalBodyId){0} : s->links[f->link].body;
	CalError refused = {0};
	const CalStatus status = cal_desc_add_node(s->im->desc, body, &def, &id, &refused);
	if (status == CAL_OK)
		return true;
	if (status == CAL_ERR_MEMORY)
		return import_no_memory(s->im);
	return import_note(s->im, CAL_IMPORT_IGNORED, f->element, NULL, "it is no node: %.300s", refused.text);
}

/* A joint carries every link; frames that are no link or joint are nodes. */
static bool reserve_tree(Sdf *s) {
	const int nodes = s->frame_count - s->joint_count;
	return import_ok(s->im, cal_desc_reserve(s->im->desc, s->link_count, nodes, s->link_count)) ||
	       import_no_memory(s->im);
}

bool sdf_build(Sdf *s) {
	if (!reserve_tree(s))
		return false;
	for (int i = 0; i < s->link_count; i++)
		if (!add_body(s, &s->links[i]))
			return false;
	for (int i = 0; i < s->link_count; i++)
		if (s->links[i].parent_joint == SDF_NONE && !attach_root(s, &s->links[i]))
			return false;
	for (int i = 0; i < s->joint_count; i++) {
		SdfJoint *joint = &s->joints[i];
		if ((joint->use == SDF_USE_TREE && !attach_joint(s, joint)) ||
		    (joint->use == SDF_USE_LOOP && !close_loop(s, joint)))
			return false;
	}
	for (int i = 0; i < s->joint_count; i++) {
		const SdfJoint *joint = &s->joints[i];
		if (joint->use == SDF_USE_COUPLING && !add_gearbox(s, joint))
			return false;
		for (int k = 0; joint->use == SDF_USE_TREE && k < joint->axis_count; k++)
			if (joint->axis[k].mimic && !add_mimic(s, joint, k))
				return false;
	}
	for (int i = 1; i < s->frame_count; i++)
		if (s->frames[i].kind == SDF_FRAME && !add_node(s, &s->frames[i]))
			return false;
	return lift_weights(s);
}
