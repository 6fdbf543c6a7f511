// SPDX-License-Identifier: Apache-2.0
/*
 * reverse.c — inboard and outboard exchanged: X_FJ = E_1 E_2 ... E_k becomes X_JF = E_k^-1 ... E_1^-1.
 *
 * E(axis, q)^-1 = E(-axis, q), so that angles, lengths and their springs, dampers and motors stay what they are. A
 * rotation in space turns back by the conjugate quaternion, and its speeds are then those of the other side, in other
 * axes: springs, dampers, rotors and drives follow only if they treat all three axes alike.
 */
#include <string.h>

#include "joint/pose_solve.h"

/* ---- types ------------------------------------------------------------------------------------------ */

CalVec3 joint_opposite(CalVec3 axis) { return (CalVec3){-axis.x, -axis.y, -axis.z}; }

void joint_reverse_axis(const CalJointDef *def, CalJointDef *out) { out->axis = joint_opposite(def->axis); }

void joint_reverse_sequence(const CalJointDef *def, CalJointDef *out) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	out->type = CAL_JOINT_SEQUENCE;
	out->element_count = count;
	for (int i = 0; i < count; ++i) {
		const JointElement *from = &element[count - 1 - i];
		out->elements[i] = (CalElement){joint_type_of_element(from->motion), joint_opposite(from->axis), from->pitch};
	}
}

#if CAL_LANES == 1

/* ---- definitions ------------------------------------------------------------------------------------ */

static int same_axes(const CalDofDef *d) {
	for (int k = 1; k < 3; ++k) {
		if (d[k].stiffness != d[0].stiffness || d[k].damping != d[0].damping || d[k].prescribed != d[0].prescribed ||
		    d[k].rotor_inertia * d[k].gear_ratio * d[k].gear_ratio !=
		        d[0].rotor_inertia * d[0].gear_ratio * d[0].gear_ratio)
			return 0;
	}
	return 1;
}

static int plain(const CalDofDef *d) {
	return d->stiffness == 0 && d->damping == 0 && d->rotor_inertia == 0 && !d->prescribed;
}

/* What an element does not allow, or NULL. */
static const char *element_refuses(const JointElement *element, const CalDofDef *d) {
	if (element->motion == PRIMITIVE_USER)
		return "is one of the caller's own, which works in one direction only";
	if (element->motion == PRIMITIVE_SPHERICAL && !same_axes(d))
		return "has springs, dampers, rotors or drives that differ among the axes of a rotation in space";
	for (int k = 0; element->motion == PRIMITIVE_FREE && k < 6; ++k) {
		if (!plain(&d[k]))
			return "is free but has springs, dampers, rotors or drives";
	}
	return NULL;
}

/* The first coordinate and speed of an element in the order of the reversed joint. */
typedef struct ElementPlace {
	int q, u;
} ElementPlace;

static ElementPlace reversed_place(const CalJointDef *def, const JointElement *element, int count, int i) {
	const int commutes = joint_type(def->type)->commutes;
	const int first = commutes ? 0 : i + 1, end = commutes ? i : count;
	ElementPlace place = {0, 0};
	for (int k = first; k < end; ++k) {
		place.q += primitive_q_count(element[k].motion, def->ops);
		place.u += primitive_u_count(element[k].motion, def->ops);
	}
	return place;
}

const char *joint_reverse(const CalJointDef *def, CalJointDef *out) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	*out = *def;
	int u = 0;
	for (int i = 0; i < count; ++i) {
		const char *why = element_refuses(&element[i], def->dof + u);
		if (why)
			return why;
		const int to = reversed_place(def, element, count, i).u, n = primitive_u_count(element[i].motion, def->ops);
		for (int k = 0; k < n; ++k) {
			out->dof[to + k] = def->dof[u + k];
			if (element[i].motion == PRIMITIVE_SPHERICAL)
				out->dof[to + k].rest = -def->dof[u + k].rest;
		}
		u += n;
	}
	if (joint_type(def->type)->reverse)
		joint_type(def->type)->reverse(def, out);
	const dpose inboard = dpose_inverse(pose_of(def->outboard)), outboard = dpose_inverse(pose_of(def->inboard));
	out->inboard = (CalPlacement){dvec_out(inboard.r), def->outboard.orientation};
	out->outboard = (CalPlacement){dvec_out(outboard.r), def->inboard.orientation};
	CalQuat *turned[] = {&out->inboard.orientation, &out->outboard.orientation};
	for (int i = 0; i < 2; ++i)
		*turned[i] = (CalQuat){turned[i]->w, -turned[i]->x, -turned[i]->y, -turned[i]->z};
	return NULL;
}

int joint_reverse_dof(const CalJointDef *def, int dof) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	for (int i = 0; i < count; ++i) {
		const int n = primitive_u_count(element[i].motion, def->ops);
		if (dof < n)
			return reversed_place(def, element, count, i).u + dof;
		dof -= n;
	}
	return -1;
}

/* ---- states ----------------------------------------------------------------------------------------- */

static void reverse_turn(const double *q, const double *u, double *q_out, double *u_out) {
	const CalQuat turn = {q[0], q[1], q[2], q[3]};
	const dvec3 w = dmat_mul_vec(dquat_matrix(turn), (dvec3){u[0], u[1], u[2]});
	q_out[0] = q[0], q_out[1] = -q[1], q_out[2] = -q[2], q_out[3] = -q[3];
	u_out[0] = -w.x, u_out[1] = -w.y, u_out[2] = -w.z;
}

/* r' = -R'r, v' = -R'v - w x r', w the angular velocity in the outboard frame. */
static void reverse_free(const double *q, const double *u, double *q_out, double *u_out) {
	const dmat3 R = dquat_matrix((CalQuat){q[3], q[4], q[5], q[6]});
	const dvec3 r = dscale(-1, dmat_tmul_vec(R, (dvec3){q[0], q[1], q[2]})), w = {u[3], u[4], u[5]};
	const dvec3 v = dadd(dmat_tmul_vec(R, (dvec3){u[0], u[1], u[2]}), dcross(w, r));
	q_out[0] = r.x, q_out[1] = r.y, q_out[2] = r.z;
	u_out[0] = -v.x, u_out[1] = -v.y, u_out[2] = -v.z;
	reverse_turn(q + 3, u + 3, q_out + 3, u_out + 3);
}

void joint_reverse_state(const CalJointDef *def, const double *q, const double *u, double *q_out, double *u_out) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	for (int i = 0; i < count; ++i) {
		const int nq = primitive_q_count(element[i].motion, def->ops),
				  nu = primitive_u_count(element[i].motion, def->ops);
		const ElementPlace place = reversed_place(def, element, count, i);
		double *to_q = q_out + place.q, *to_u = u_out + place.u;
		if (element[i].motion == PRIMITIVE_SPHERICAL) {
			reverse_turn(q, u, to_q, to_u);
		} else if (element[i].motion == PRIMITIVE_FREE) {
			reverse_free(q, u, to_q, to_u);
		} else {
			memcpy(to_q, q, sizeof(double) * (size_t)nq);
			memcpy(to_u, u, sizeof(double) * (size_t)nu);
		}
		q += nq;
		u += nu;
	}
}

#endif
