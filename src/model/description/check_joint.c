// SPDX-License-Identifier: Apache-2.0
/*
 * check_joint.c — what can be wrong with one joint: its elements, its functions, its DOF properties.
 *
 * Axes are unit and numbers finite by now (desc_joint.c). Springs, dampers and rotors must not feed
 * energy into the model; properties of degrees of freedom that the joint does not have are mistakes,
 * since nobody would notice that they are ignored.
 */
#include <math.h>

#include "joint/joint_type.h"
#include "math/portable.h"
#include "model/description/check.h"

/** |sin| of the angle between unit vectors. */
static double sine_between(CalVec3 a, CalVec3 b) {
	return portable_hypot(portable_hypot(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z), a.x * b.y - a.y * b.x);
}

/** Two rotations about one axis, or two translations along one, in direct succession. */
static bool elements_repeat(const CalElement *a, const CalElement *b) {
	return a->type == b->type && (a->type == CAL_JOINT_REVOLUTE || a->type == CAL_JOINT_PRISMATIC) &&
	       sine_between(a->axis, b->axis) < 1e-6;
}

static void refuse_element(Check *check, const CalJointDef *joint, int i) {
	const char *type = cal_joint_type_name(joint->elements[i].type);
	char types[200];
	check_error(check, joint->place, "joint \"%s\": element %d is of type \"%s\"; a sequence is made of %s elements",
	            joint->name, i + 1, type ? type : "unknown",
	            joint_type_list(joint_type_is_element, types, sizeof types));
}

/** False if the elements cannot even be counted. */
static bool check_elements(Check *check, const CalJointDef *joint) {
	bool countable = true;
	int nq = 0, nu = 0;
	for (int i = 0; i < joint->element_count; i++) {
		const CalElement *e = &joint->elements[i];
		const JointType *type = joint_type(e->type);
		if (!type || !joint_type_is_element(type)) {
			refuse_element(check, joint, i);
			countable = false;
			continue;
		}
		nu += primitive_u_count(type->element, NULL);
		nq += primitive_q_count(type->element, NULL);
		if (i > 0 && elements_repeat(&joint->elements[i - 1], e)) {
			check_error(check, joint->place,
			            "joint \"%s\": elements %d and %d move about or along the same axis, so the joint is singular "
			            "in every configuration; give them different axes or remove one",
			            joint->name, i, i + 1);
		}
	}
	if (countable && (nu > CAL_JOINT_MAX_DOF || nq > CAL_JOINT_MAX_COORDS)) {
		check_error(check, joint->place,
		            "joint \"%s\": the sequence has %d degrees of freedom and %d coordinates, more than %d and %d; "
		            "split it over two bodies",
		            joint->name, nu, nq, CAL_JOINT_MAX_DOF, CAL_JOINT_MAX_COORDS);
		countable = false;
	}
	return countable;
}

static void check_function(Check *check, const CalJointDef *joint, bool given, const char *function, const char *when) {
	if (!given) {
		check_error(check, joint->place, "joint \"%s\": its CalJointOps lacks the function %s, which is required%s",
		            joint->name, function, when);
	}
}

/** False if the joint's coordinates cannot be counted. */
static bool check_ops(Check *check, const CalJointDef *joint) {
	const CalJointOps *ops = joint->ops;
	if (!ops) {
		check_error(check, joint->place, "joint \"%s\": a user joint needs its functions; set ops to a CalJointOps",
		            joint->name);
		return false;
	}
	if (!ops->name || ops->name[0] == '\0') {
		check_error(check, joint->place, "joint \"%s\": its CalJointOps has no name; give it one", joint->name);
	}
	check_function(check, joint, ops->pose != NULL, "pose", "");
	check_function(check, joint, ops->columns != NULL, "columns", "");
	if (ops->nu < 0 || ops->nu > CAL_JOINT_MAX_DOF || ops->nq < ops->nu || ops->nq > CAL_JOINT_MAX_COORDS) {
		check_error(check, joint->place,
		            "joint \"%s\": its CalJointOps has nu = %d and nq = %d; needed are 0 <= nu <= %d and nu <= nq "
		            "<= %d",
		            joint->name, ops->nu, ops->nq, CAL_JOINT_MAX_DOF, CAL_JOINT_MAX_COORDS);
		return false;
	}
	bool all = ops->integrate && ops->difference && ops->rate;
	bool any = ops->integrate || ops->difference || ops->rate;
	if (ops->nq != ops->nu) {
		check_function(check, joint, ops->integrate != NULL, "integrate", " where nq differs from nu");
		check_function(check, joint, ops->difference != NULL, "difference", " where nq differs from nu");
		check_function(check, joint, ops->rate != NULL, "rate", " where nq differs from nu");
	} else if (any && !all) {
		check_warning(check, joint->place,
		              "joint \"%s\": its CalJointOps gives only some of integrate, difference and rate; do they agree "
		              "with plain addition for the others?",
		              joint->name);
	}
	return true;
}

static void check_not_negative(Check *check, const CalJointDef *joint, int dof, const char *what, double value) {
	if (value < 0) {
		check_error(check, joint->place, "joint \"%s\": %s of degree of freedom %d is %g; it must not be negative",
		            joint->name, what, dof + 1, value);
	}
}

static void check_dofs(Check *check, const CalJointDef *joint) {
	int nu = joint_speed_count(joint);
	for (int i = 0; i < CAL_JOINT_MAX_DOF; i++) {
		const CalDofDef *d = &joint->dof[i];
		bool used = d->stiffness != 0 || d->rest != 0 || d->damping != 0 || d->rotor_inertia != 0 || d->prescribed;
		if (i >= nu && used) {
			check_error(check, joint->place,
			            "joint \"%s\": properties are given for degree of freedom %d, but this %s joint has %d; remove "
			            "them",
			            joint->name, i + 1, cal_joint_type_name(joint->type), nu);
			continue;
		}
		check_not_negative(check, joint, i, "stiffness", d->stiffness);
		check_not_negative(check, joint, i, "damping", d->damping);
		check_not_negative(check, joint, i, "rotor inertia", d->rotor_inertia);
	}
}

void check_joint(Check *check, const CalJointDef *joint) {
	bool countable = true;
	const int uses = joint_type(joint->type)->uses;
	if (uses & CAL_JOINT_USES_ELEMENTS) {
		countable = check_elements(check, joint);
	} else if (uses & CAL_JOINT_USES_OPS) {
		countable = check_ops(check, joint);
	} else if (uses & CAL_JOINT_USES_PITCH && joint->pitch == 0) {
		check_warning(check, joint->place, "joint \"%s\": a %s of zero pitch does not advance; is the pitch missing?",
		              joint->name, cal_joint_type_name(joint->type));
	}
	if (countable) {
		check_dofs(check, joint);
	}
}
