// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_springdamper.c — stiffness and damping of joints that give a time constant and a damping ratio instead.
 *
 * MuJoCo takes the inertia of a joint as the inverse of the mean of (M^-1)_ii over its degrees of freedom at qpos0: what the
 * joint feels while all others are free. M is built by composite inertias in world axes about the world's origin,
 * M_ik = S_i . I_k S_k for i on the path of k, and factored as M = L'DL along paths, which fills nothing in [Featherstone 2008,
 * ch. 6.5]. With L'y = e_i, which is zero off the path of i: (M^-1)_ii = sum y_k^2 / D_k.
 */
#include "io/mjcf/mjcf_internal.h"

enum { MOST_ENTRIES = 1 << 26 };

typedef struct Wrench {
	dvec3 moment, force;
} Wrench;

/** Mass, first moment and inertia about the world's origin. */
typedef struct Composite {
	double mass;
	dvec3 first;
	dmat3 about_origin;
} Composite;

typedef struct Dof {
	int parent, depth; // -1: none; dofs before it on its path
	int body;
	dvec3 w, v; // motion of what it carries, v at the world's origin
	double armature;
	double *row; // [depth + 1] M, then L and D, by depth of the other dof
} Dof;

typedef struct Dofs {
	Dof *list;
	int count;
	int *first; // [joints]
} Dofs;

static int dof_count(const MjcfJoint *joint) {
	static const int counts[] = {[MJCF_FREE] = 6, [MJCF_BALL] = 3, [MJCF_SLIDE] = 1, [MJCF_HINGE] = 1};
	return counts[joint->a.type];
}

static bool is_by_time(const MjcfJoint *joint) {
	return joint->a.spring_damper[0] > 0 && joint->a.spring_damper[1] > 0;
}

/* ---- motions and masses ------------------------------------------------------------------------------------ */

static void set_motion(const Mjcf *m, const MjcfJoint *joint, int k, Dof *dof) {
	const dpose X = mjcf_body(m, joint->body)->world;
	const dvec3 axes[] = {X.R.x, X.R.y, X.R.z}, unit[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	const bool is_free = joint->a.type == MJCF_FREE, turns = joint->a.type != MJCF_SLIDE && !(is_free && k < 3);
	const dvec3 point = is_free ? X.r : dadd(X.r, dmat_mul_vec(X.R, dvec_in(joint->a.pos)));
	const dvec3 axis = mjcf_is_scalar(joint) ? dmat_mul_vec(X.R, dvec_in(joint->a.axis))
	                   : turns               ? axes[k % 3]
	                                         : unit[k];
	dof->w = turns ? axis : (dvec3){0, 0, 0};
	dof->v = turns ? dcross(point, axis) : axis;
}

/* The last dof of a body or of those that carry it; -1: none. */
static int last_dof(const Mjcf *m, const Dofs *d, int body) {
	for (; body > 0; body = mjcf_body(m, body)->parent) {
		const MjcfBody *b = mjcf_body(m, body);
		const int last = b->first_joint + b->joint_count - 1;
		if (b->joint_count)
			return d->first[last] + dof_count(mjcf_joint(m, last)) - 1;
	}
	return -1;
}

static bool list_dofs(Mjcf *m, Dofs *d) {
	const int joints = m->lists[MJCF_JOINTS].count;
	d->first = xml_array(m->im->tree, (size_t)joints + 1, sizeof *d->first);
	d->list = xml_array(m->im->tree, 6 * (size_t)joints + 1, sizeof *d->list);
	if (!d->first || !d->list)
		return import_no_memory(m->im);
	long entries = 0;
	for (int i = 0; i < joints; i++) {
		const MjcfJoint *joint = mjcf_joint(m, i);
		const MjcfBody *body = mjcf_body(m, joint->body);
		d->first[i] = d->count;
		for (int k = 0; k < dof_count(joint); k++) {
			Dof *dof = &d->list[d->count];
			dof->parent = k || i > body->first_joint ? d->count - 1 : last_dof(m, d, body->parent);
			dof->depth = dof->parent < 0 ? 0 : d->list[dof->parent].depth + 1;
			dof->body = joint->body;
			dof->armature = joint->a.armature;
			set_motion(m, joint, k, dof);
			entries += dof->depth + 1;
			d->count++;
		}
		if (entries > MOST_ENTRIES)
			return import_fail(m->im, joint->object.element,
			                   "springdamper needs the mass matrix, which has more than %d entries; give stiffness and "
			                   "damping instead",
			                   MOST_ENTRIES);
	}
	return true;
}

/* Of each body with all that it carries. */
static Composite *add_up_masses(Mjcf *m) {
	const int count = m->lists[MJCF_BODIES].count;
	Composite *c = xml_array(m->im->tree, (size_t)count, sizeof *c);
	for (int i = count - 1; c && i > 0; i--) {
		const MassProperties p = mass_moved(mjcf_body(m, i)->mass, mjcf_placement(mjcf_body(m, i)->world));
		const dvec3 r = dvec_in(p.com);
		const dmat3 I = dmat_in(&p.inertia);
		Composite *own = &c[i], *parent = &c[mjcf_body(m, i)->parent];
		const double rr = ddot(r, r);
		own->mass += p.mass;
		own->first = dadd(own->first, dscale(p.mass, r));
		for (int k = 0; k < 3; k++) { // I - m r r' + m (r.r) 1, by columns
			const dvec3 unit = {k == 0, k == 1, k == 2};
			const dvec3 column = dmat_mul_vec(I, unit), shift = dadd(dscale(rr, unit), dscale(-ddot(r, unit), r));
			dvec3 *sum = k == 0 ? &own->about_origin.x : k == 1 ? &own->about_origin.y : &own->about_origin.z;
			*sum = dadd(*sum, dadd(column, dscale(p.mass, shift)));
		}
		parent->mass += own->mass;
		parent->first = dadd(parent->first, own->first);
		parent->about_origin.x = dadd(parent->about_origin.x, own->about_origin.x);
		parent->about_origin.y = dadd(parent->about_origin.y, own->about_origin.y);
		parent->about_origin.z = dadd(parent->about_origin.z, own->about_origin.z);
	}
	return c;
}

/* ---- the mass matrix ---------------------------------------------------------------------------------------- */

static bool fill_rows(Mjcf *m, Dofs *d) {
	const Composite *c = add_up_masses(m);
	if (!c)
		return import_no_memory(m->im);
	for (int i = 0; i < d->count; i++) {
		Dof *dof = &d->list[i];
		const Composite *b = &c[dof->body];
		const Wrench f = {dadd(dmat_mul_vec(b->about_origin, dof->w), dcross(b->first, dof->v)),
		                  dadd(dscale(b->mass, dof->v), dscale(-1, dcross(b->first, dof->w)))};
		if (!(dof->row = xml_array(m->im->tree, (size_t)dof->depth + 1, sizeof *dof->row)))
			return import_no_memory(m->im);
		for (int k = i; k >= 0; k = d->list[k].parent)
			dof->row[d->list[k].depth] = ddot(d->list[k].w, f.moment) + ddot(d->list[k].v, f.force);
		dof->row[dof->depth] += dof->armature;
	}
	return true;
}

static void factor(Dofs *d) {
	for (int i = d->count - 1; i >= 0; i--) {
		double *row = d->list[i].row;
		const double pivot = row[d->list[i].depth];
		for (int k = d->list[i].parent; k >= 0 && pivot > 0; k = d->list[k].parent) {
			Dof *dof = &d->list[k];
			const double l = row[dof->depth] / pivot;
			for (int j = 0; j <= dof->depth; j++)
				dof->row[j] -= l * row[j];
			row[dof->depth] = l;
		}
	}
}

/* (M^-1)_ii; y has room for a path. 0: there is no inertia. */
static double inverse_entry(const Dofs *d, int i, double *y) {
	double sum = 0;
	for (int k = 0; k < d->list[i].depth; k++)
		y[k] = 0;
	y[d->list[i].depth] = 1;
	for (int k = i; k >= 0; k = d->list[k].parent) {
		const Dof *dof = &d->list[k];
		if (!(dof->row[dof->depth] > 0))
			return 0;
		sum += y[dof->depth] * y[dof->depth] / dof->row[dof->depth];
		for (int j = 0; j < dof->depth; j++)
			y[j] -= dof->row[j] * y[dof->depth];
	}
	return sum;
}

/* ---- joints ------------------------------------------------------------------------------------------------- */

static bool resolve(Mjcf *m, const Dofs *d, int index, double *y) {
	MjcfJoint *joint = mjcf_joint(m, index);
	MjcfJointAttributes *a = &joint->a;
	const double tau = a->spring_damper[0], ratio = a->spring_damper[1];
	double sum = 0;
	for (int k = 0; k < dof_count(joint); k++)
		sum += inverse_entry(d, d->first[index] + k, y);
	if (!(sum > 0))
		return import_fail(
			m->im, joint->object.element,
			"springdamper: the joint has no inertia of its own: it carries no mass, or another joint before it "
			"moves in the same way");
	const double inertia = dof_count(joint) / sum;
	a->stiffness[0] = inertia / (tau * tau * ratio * ratio);
	a->damping[0] = 2 * inertia / tau;
	a->stiffness[1] = a->stiffness[2] = a->damping[1] = a->damping[2] = 0;
	return true;
}

bool mjcf_resolve_springdampers(Mjcf *m) {
	const int joints = m->lists[MJCF_JOINTS].count;
	Dofs d = {0};
	int by_time = 0;
	for (int i = 0; i < joints; i++)
		by_time += is_by_time(mjcf_joint(m, i));
	if (!by_time)
		return true;
	double *y = xml_array(m->im->tree, 6 * (size_t)joints + 1, sizeof *y);
	if (!y)
		return import_no_memory(m->im);
	if (!list_dofs(m, &d) || !fill_rows(m, &d))
		return false;
	factor(&d);
	for (int i = 0; i < joints; i++)
		if (is_by_time(mjcf_joint(m, i)) && !resolve(m, &d, i, y))
			return false;
	return true;
}
