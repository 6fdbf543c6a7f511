// SPDX-License-Identifier: Apache-2.0
/*
 * import_joint.c — stops and friction of joints.
 *
 * Robot files give the place of a stop but seldom how hard it is; a stop of Calder is a spring with a damper. Its stiffness
 * k = J (2 pi f)^2 follows from the inertia J of all that the joint carries, about its axis at zero coordinates: the same f
 * for a finger and for a crane. J is found once, when the whole tree is there, from the tips inward.
 */
#include <math.h>

#include "base/memory.h"
#include "base/error.h"
#include "io/import/import.h"
#include "math/placement.h"

typedef struct ImportLimit ImportLimit;
struct ImportLimit {
	ImportLimit *next;
	const XmlElement *element;
	CalJointId joint;
	int dof;
	double lower, upper, stiffness, damping;
};

bool import_limit(Import *im, const XmlElement *element, CalJointId joint, int dof, double lower, double upper,
                  double stiffness, double damping) {
	if (lower == -INFINITY && upper == INFINITY)
		return true;
	if (lower == upper)
		return import_note(
			im, CAL_IMPORT_ASSUMED, element, NULL,
			"joint \"%.80s\": both limits are %g, which exporters write where they do not know them; taken: no "
			"limits. A joint that is locked is a fixed one",
			cal_desc_joint(im->desc, joint, NULL, NULL)->name, lower);
	ImportLimit *limit = xml_array(im->tree, 1, sizeof *limit);
	if (!limit)
		return import_no_memory(im);
	*limit = (ImportLimit){im->limits, element, joint, dof, lower, upper, stiffness, damping};
	im->limits = limit;
	return true;
}

/* "elbow/friction", and with the number of the degree of freedom where there are several. */
static const char *device_name(const Import *im, CalJointId joint, int dof, const char *what, char *name, size_t size) {
	const CalJointDef *def = cal_desc_joint(im->desc, joint, NULL, NULL);
	enum { JOINT_MAX = 150 };
	size_t length = text_append_some(name, size, 0, def->name, JOINT_MAX);
	length = text_append(name, size, length, "/");
	length = text_append(name, size, length, what);
	if (cal_joint_speed_count(def) > 1)
		text_append_int(name, size, length, dof + 1);
	return name;
}

bool import_friction(Import *im, const XmlElement *element, CalJointId joint, int dof, double coulomb) {
	if (coulomb == 0)
		return true;
	char name[200], place[240];
	const CalFrictionDef def = {.name = device_name(im, joint, dof, "friction", name, sizeof name),
	                            .joint = joint,
	                            .dof = dof,
	                            .coulomb = coulomb,
	                            .smoothing_speed = IMPORT_FRICTION_SPEED,
	                            .place = xml_place(element, place, sizeof place)};
	return import_ok(im, cal_setup_add_device(im->setup, "friction", &def, im->error)) &&
	       import_note(im, CAL_IMPORT_CHANGED, element, NULL,
	                   "Coulomb friction is smoothed: below %g rad/s or m/s it falls to zero, so that the joint creeps",
	                   IMPORT_FRICTION_SPEED);
}

/* ---- what a joint carries ---------------------------------------------------------------------------- */

/* A body with all that it carries, while the inertias are added up. */
typedef struct Carried {
	MassProperties mass; // of both, in the body frame
	uint32_t joint;      // that carries it; 0: none
	uint32_t parent;     // body, 0: the ground
	int children;        // not added yet
} Carried;

static CalPlacement placement_to(CalPlacement a, dpose b) {
	const dpose X = dpose_mul(pose_of(a), b);
	return placement_of(&X);
}

/* Of the body frame in the frame that the joint moves, at any coordinates. */
static CalPlacement body_in_joint(const CalJointDef *def, const CalNodeDef *outboard) {
	return placement_to(def->outboard, dpose_inverse(pose_of(outboard->placement)));
}

/* Of the joint frame in the body that carries it. */
static CalPlacement joint_in_parent(const CalJointDef *def, const CalNodeDef *inboard) {
	return inboard ? placement_to(inboard->placement, pose_of(def->inboard)) : def->inboard;
}

static void find_carried(const CalDesc *desc, Carried *bodies) {
	for (int i = 1; i <= cal_desc_body_count(desc); i++) {
		const CalBodyDef *def = cal_desc_body(desc, (CalBodyId){(uint32_t)i});
		bodies[i].mass = (MassProperties){def->mass, def->com, def->inertia};
	}
	for (int i = 1; i <= cal_desc_joint_count(desc); i++) {
		CalNodeId inboard, outboard;
		CalBodyId parent = {0}, child = {0};
		cal_desc_joint(desc, (CalJointId){(uint32_t)i}, &inboard, &outboard);
		cal_desc_node(desc, inboard, &parent);
		cal_desc_node(desc, outboard, &child);
		bodies[child.value].joint = (uint32_t)i;
		bodies[child.value].parent = parent.value;
		bodies[parent.value].children++;
	}
}

/* Adds a body to its parent, and the parent to its own where it was the last one missing. */
static void add_inward(const CalDesc *desc, Carried *bodies, uint32_t body) {
	while (body && bodies[body].children == 0 && bodies[body].joint) {
		Carried *b = &bodies[body];
		CalNodeId inboard, outboard;
		const CalJointDef *def = cal_desc_joint(desc, (CalJointId){b->joint}, &inboard, &outboard);
		const MassProperties in_joint = mass_moved(b->mass, body_in_joint(def, cal_desc_node(desc, outboard, NULL)));
		Carried *parent = &bodies[b->parent];
		parent->mass =
			mass_sum(parent->mass, mass_moved(in_joint, joint_in_parent(def, cal_desc_node(desc, inboard, NULL))));
		parent->children--;
		b->children = -1; // done
		body = b->parent;
	}
}

/* About or along the axis of a degree of freedom, in the frame that the joint moves. */
static double inertia_at(const CalDesc *desc, const Carried *bodies, const ImportLimit *limit) {
	CalNodeId outboard;
	CalBodyId body = {0};
	const CalJointDef *def = cal_desc_joint(desc, limit->joint, NULL, &outboard);
	const CalNodeDef *node = cal_desc_node(desc, outboard, &body);
	const MassProperties m = mass_moved(bodies[body.value].mass, body_in_joint(def, node));
	CalCoordinateInfo info = {0};
	const CalDofDef *dof = &def->dof[limit->dof];
	const double ratio = dof->gear_ratio == 0 ? 1 : dof->gear_ratio, reflected = dof->rotor_inertia * ratio * ratio;
	cal_joint_speed(def, limit->dof, &info);
	if (info.kind != CAL_COORDINATE_ANGLE)
		return m.mass + reflected;
	const dvec3 axis = dvec_in(limit->dof == 0 ? def->axis : def->axis2), c = dvec_in(m.com), d = dcross(axis, c);
	return ddot(axis, dmat_mul_vec(dmat_in(&m.inertia), axis)) + m.mass * ddot(d, d) + reflected;
}

/* ---- stops -------------------------------------------------------------------------------------------- */

static bool add_limit(Import *im, const Carried *bodies, ImportLimit *limit) {
	if (limit->stiffness == 0) {
		const double rate = 2 * 3.14159265358979323846 * IMPORT_LIMIT_FREQUENCY;
		double inertia = inertia_at(im->desc, bodies, limit);
		if (!(inertia > 0))
			inertia = 1; // a tip without mass: whatever the stop, nothing swings on it
		limit->stiffness = inertia * rate * rate;
		limit->damping = 2 * IMPORT_LIMIT_DAMPING * inertia * rate;
	}
	char name[200], place[240];
	const CalLimitDef def = {.name = device_name(im, limit->joint, limit->dof, "limit", name, sizeof name),
	                         .joint = limit->joint,
	                         .dof = limit->dof,
	                         .lower = limit->lower,
	                         .upper = limit->upper,
	                         .stiffness = limit->stiffness,
	                         .damping = limit->damping,
	                         .place = xml_place(limit->element, place, sizeof place)};
	return import_ok(im, cal_setup_add_device(im->setup, "limit", &def, im->error));
}

/* In the order in which they were given. */
static ImportLimit *reversed(ImportLimit *limit) {
	ImportLimit *last = NULL;
	while (limit) {
		ImportLimit *next = limit->next;
		limit->next = last;
		last = limit;
		limit = next;
	}
	return last;
}

bool import_finish(Import *im) {
	if (!im->limits)
		return true;
	const int count = cal_desc_body_count(im->desc);
	Carried *bodies = xml_array(im->tree, (size_t)count + 1, sizeof *bodies);
	if (!bodies)
		return import_no_memory(im);
	find_carried(im->desc, bodies);
	for (uint32_t i = 1; i <= (uint32_t)count; i++)
		if (bodies[i].children == 0)
			add_inward(im->desc, bodies, i);
	for (ImportLimit *limit = reversed(im->limits); limit; limit = limit->next)
		if (!add_limit(im, bodies, limit))
			return false;
	return import_note(im, CAL_IMPORT_CHANGED, xml_root(im->tree), NULL,
	                   "limits of joints are stops with a spring and a damper, chosen so that what the joint carries "
	                   "swings on them at %g Hz unless the file says how hard they are",
	                   IMPORT_LIMIT_FREQUENCY);
}
