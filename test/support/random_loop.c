// SPDX-License-Identifier: Apache-2.0
/*
 * random_loop.c — loops that are closed where they are made, then moved on by projection.
 *
 * The frame B of a new loop is put where the loop holds in the present state, displaced along its free directions.
 * A loop whose rows depend on those before (or nearly so) is taken back. At the end the state is disturbed and
 * projected, so that nothing depends on the configuration in which the loops were made.
 */
#include "support/random_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- poses ---------------------------------------------------------------------------------- */

static CalQuat quat_multiply(CalQuat a, CalQuat b) {
	return (CalQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	                 a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
}

static CalVec3 quat_rotate(CalQuat q, CalVec3 a) {
	CalQuat r = quat_multiply(quat_multiply(q, (CalQuat){0, a.x, a.y, a.z}), (CalQuat){q.w, -q.x, -q.y, -q.z});
	return (CalVec3){r.x, r.y, r.z};
}

/* Largest component first: Shepperd's method. */
CalQuat quat_of_rotation(const CalMat3 *R) {
	double t = R->m[0][0] + R->m[1][1] + R->m[2][2], x[4];
	int k = 3;
	for (int i = 0; i < 3; i++)
		k = R->m[i][i] > (k == 3 ? t : R->m[k][k]) ? i : k;
	if (k == 3) {
		x[3] = 1 + t;
		for (int i = 0; i < 3; i++)
			x[i] = R->m[(i + 2) % 3][(i + 1) % 3] - R->m[(i + 1) % 3][(i + 2) % 3];
	} else {
		int i = (k + 1) % 3, j = (k + 2) % 3;
		x[k] = 1 + R->m[k][k] - R->m[i][i] - R->m[j][j];
		x[i] = R->m[i][k] + R->m[k][i];
		x[j] = R->m[j][k] + R->m[k][j];
		x[3] = R->m[j][i] - R->m[i][j];
	}
	double n = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
	return (CalQuat){x[3] / n, x[0] / n, x[1] / n, x[2] / n};
}

CalPlacement placement_compose(CalPlacement a, CalPlacement b) {
	CalVec3 r = quat_rotate(a.orientation, b.position);
	return (CalPlacement){{a.position.x + r.x, a.position.y + r.y, a.position.z + r.z},
	                      quat_multiply(a.orientation, b.orientation)};
}

CalPlacement placement_invert(CalPlacement a) {
	CalQuat q = {a.orientation.w, -a.orientation.x, -a.orientation.y, -a.orientation.z};
	CalVec3 r = quat_rotate(q, a.position);
	return (CalPlacement){{-r.x, -r.y, -r.z}, q};
}

static CalQuat turn(int axis, double angle) {
	double s = sin(angle / 2);
	return (CalQuat){cos(angle / 2), axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
}

static CalPlacement node_placement(const RefModel *m, int node, const double *q) {
	RefMotion *nodes = test_alloc((size_t)m->node_count + 1, sizeof *nodes);
	double *u = test_doubles(m->nu);
	CalPlacement p = {{0, 0, 0}, {1, 0, 0, 0}};
	ref_kinematics(m, q, u, NULL, NULL, nodes);
	if (node >= 0)
		p = (CalPlacement){nodes[node].pose.r, quat_of_rotation(&nodes[node].pose.R)};
	free(nodes), free(u);
	return p;
}

/* ---- displacement along the free directions ------------------------------------------------- */

static CalQuat free_rotation(Rng *r, int locked) {
	switch (locked) {
	case 0:
		return rng_quat(r);
	case REF_XYZ:
		return (CalQuat){1, 0, 0, 0};
	case REF_X:
	case REF_Y:
	case REF_Z: { /* about an axis of A, then about one of B */
		int k = locked == REF_X ? 0 : locked == REF_Y ? 1 : 2;
		CalQuat first = turn((k + 1) % 3, rng_uniform(r, -1.2, 1.2));
		return quat_multiply(first, turn((k + 2) % 3, rng_uniform(r, -1.2, 1.2)));
	}
	default:
		return turn(locked & REF_X ? (locked & REF_Y ? 2 : 1) : 0, rng_uniform(r, -2.5, 2.5));
	}
}

/* B in A, and those numbers of the loop that follow from it. */
static CalPlacement free_displacement(Rng *r, RefLoop *l) {
	int translation, rotation;
	ref_loop_directions(l, &translation, &rotation);
	CalPlacement p = {rng_vector(r, 0.4), free_rotation(r, rotation)};
	p.position.x = translation & REF_X ? 0 : p.position.x;
	p.position.y = translation & REF_Y ? 0 : p.position.y;
	p.position.z = translation & REF_Z ? 0 : p.position.z;
	if (l->type == REF_LOOP_SCREW) {
		double angle = rng_uniform(r, -2.5, 2.5);
		l->pitch = rng_uniform(r, 0.1, 0.3) * (rng_chance(r, 0.5) ? 1 : -1);
		p.orientation = turn(2, angle);
		p.position.z = l->pitch * angle;
	} else if (l->type == REF_LOOP_DISTANCE) {
		l->length = rng_uniform(r, 0.3, 1.5);
		CalVec3 e = rng_direction(r);
		p.position = (CalVec3){l->length * e.x, l->length * e.y, l->length * e.z};
	} else if (l->type == REF_LOOP_ANGLE) {
		l->drive[0].offset = rng_uniform(r, -2.5, 2.5);
		CalQuat tilt = rng_chance(r, 0.5) ? turn(1, rng_uniform(r, -0.4, 0.4)) : turn(1, 0);
		p.orientation = quat_multiply(turn(2, l->drive[0].offset), tilt); /* a tilt about y has no twist */
	} else if (l->type == REF_LOOP_DISK || l->type == REF_LOOP_BALL) {
		CalVec3 axis = quat_rotate(p.orientation, (CalVec3){0, 0, 1});
		while (l->type == REF_LOOP_DISK && fabs(axis.z) > 0.8) {
			p.orientation = rng_quat(r);
			axis = quat_rotate(p.orientation, (CalVec3){0, 0, 1});
		}
		l->radius = rng_uniform(r, 0.2, 0.8);
		p.position.z = l->radius * (l->type == REF_LOOP_DISK ? sqrt(1 - axis.z * axis.z) : 1);
	}
	return p;
}

/* ---- ends ----------------------------------------------------------------------------------- */

static int random_end(Rng *r, RefModel *m, int body) {
	if (body < 0 && rng_chance(r, 0.5))
		return -1;
	int node = body >= 0 && rng_chance(r, 0.7) ? random_flex_node(r, m, body) : -1;
	return node >= 0 ? node : ref_model_add_node(m, body, rng_placement(r));
}

static void random_ends(Rng *r, RefModel *m, RefLoop *l, const double *q) {
	int b = rng_int(r, m->body_count), a = rng_chance(r, 0.3) ? -1 : rng_int(r, m->body_count);
	int swap = l->type != REF_LOOP_KNIFE && rng_chance(r, 0.5);
	l->node_a = random_end(r, m, swap ? b : a);
	l->node_b = random_end(r, m, swap ? a : b);
	if (l->type == REF_LOOP_KNIFE && a < 0) {
		l->node_a = random_end(r, m, b);
		l->node_b = -1;
	}
	l->frame_a = rng_chance(r, 0.8) ? rng_placement(r) : (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}};
	CalPlacement A = placement_compose(node_placement(m, l->node_a, q), l->frame_a);
	CalPlacement B = placement_compose(A, free_displacement(r, l));
	l->frame_b = placement_compose(placement_invert(node_placement(m, l->node_b, q)), B);
}

/* Two or three scalar coordinates of any bodies; nonzero if there are none. */
static int random_terms(Rng *r, const RefModel *m, RefLoop *l, const double *q) {
	int want = 2 + rng_int(r, 2);
	for (int tries = 0; tries < 30 && l->term_count < want; tries++) {
		const RefBody *b = &m->bodies[rng_int(r, m->body_count)];
		if (b->nu + b->modes == 0)
			continue;
		int dof = rng_int(r, b->nu + b->modes), iq = b->q + b->nq + dof - b->nu, at = b->q, first = 0, scalar = 1;
		for (int k = 0; dof < b->nu && k < b->elements.count; k++) {
			const RefElement *e = &b->elements.element[k];
			if (dof >= first && dof < first + ref_element_nu(e))
				iq = at, scalar = e->kind == REF_CAM;
			first += ref_element_nu(e), at += ref_element_nq(e);
		}
		for (int k = 0; k < l->term_count; k++)
			scalar &= strcmp(l->term[k].body, b->name) != 0 || l->term[k].dof != dof;
		if (!scalar)
			continue;
		RefTerm *term = &l->term[l->term_count++];
		*term = (RefTerm){.dof = dof, .factor = rng_uniform(r, 0.3, 2) * (rng_chance(r, 0.5) ? 1 : -1)};
		snprintf(term->body, sizeof term->body, "%s", b->name);
		l->drive[0].offset += term->factor * q[iq];
	}
	return l->term_count < 2;
}

/* ---- loops ---------------------------------------------------------------------------------- */

static RefLoopType random_loop_type(Rng *r, unsigned set) {
	for (;;) {
		int type = rng_int(r, REF_LOOP_TYPE_COUNT);
		if (set & 1u << type)
			return (RefLoopType)type;
	}
}

/* s(0) stays as it is. */
static void random_drive(Rng *r, RefLoop *l) {
	RefDrive *d = &l->drive[rng_int(r, ref_loop_row_count(l))];
	d->amplitude = rng_uniform(r, 0.05, 0.2);
	d->frequency = rng_uniform(r, 1, 4);
	d->phase = rng_uniform(r, 0, 6);
	d->offset -= d->amplitude * sin(d->phase);
	d->speed = rng_uniform(r, -0.3, 0.3);
	d->acceleration = rng_uniform(r, -0.5, 0.5);
}

/* The rows are independent, not nearly dependent, and leave a dof. */
static int rows_are_sound(const RefModel *m, const double *q) {
	double *u = test_doubles(m->nu);
	RefSolution s = {0};
	int sound = ref_loop_forward(m, 0, q, u, NULL, &s) == 0 && s.rank == ref_model_rows(m) && s.kept > 1e-5;
	free(u);
	return sound && s.rank < m->nu;
}

static int add_loop(Rng *r, RefModel *m, const LoopOptions *o, const double *q) {
	int nodes = m->node_count, failed = 0;
	RefLoop *l = ref_model_add_loop(m, random_loop_type(r, o->types ? o->types : LOOP_ANY_TYPE));
	if (l->type == REF_LOOP_DIRECTIONS) {
		l->translation = rng_int(r, 8);
		l->rotation = rng_int(r, 8);
		failed = l->translation + l->rotation == 0;
	}
	if (l->type == REF_LOOP_COUPLING)
		failed = random_terms(r, m, l, q);
	else if (!failed)
		random_ends(r, m, l, q);
	if (!failed && rows_are_sound(m, q))
		return 1;
	m->loop_count--;
	m->node_count = nodes;
	memset(m->nodes + nodes, 0, sizeof *m->nodes * 2);
	return 0;
}

static void add_extras(Rng *r, RefLoop *l, const LoopOptions *o) {
	if (o->driven && rng_chance(r, 0.6))
		random_drive(r, l);
	if (o->known && l->type != REF_LOOP_KNIFE && l->type != REF_LOOP_COUPLING)
		l->applied_wrench = (CalSpatial){rng_vector(r, 2), rng_vector(r, 5)};
	if (o->stabilised) {
		l->frequency = rng_uniform(r, 2, 20);
		l->damping = rng_uniform(r, 0.5, 1.5);
	}
}

/* The same relation again: frames that coincide everywhere do so when both are moved alike. */
static void add_double(Rng *r, RefModel *m, int of) {
	RefLoop *copy = ref_model_add_loop(m, m->loops[of].type);
	char name[sizeof copy->name];
	memcpy(name, copy->name, sizeof name);
	*copy = m->loops[of];
	memcpy(copy->name, name, sizeof name);
	copy->applied_wrench = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	CalPlacement move = {{0, 0, 0}, {1, 0, 0, 0}};
	int driven = 0;
	for (int k = 0; k < REF_LOOP_MAX_ROWS; k++)
		driven |= copy->drive[k].amplitude != 0;
	if (copy->type == REF_LOOP_WELD && !driven)
		move = rng_placement(r);
	if (copy->type == REF_LOOP_REVOLUTE && !driven)
		move.position.z = rng_uniform(r, -0.5, 0.5);
	copy->frame_a = placement_compose(copy->frame_a, move);
	copy->frame_b = placement_compose(copy->frame_b, move);
}

/* ---- state ---------------------------------------------------------------------------------- */

static void random_coordinates(Rng *r, const RefModel *m, double *q) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		double *x = q + b->q;
		for (int k = 0; k < b->elements.count; k++) {
			const RefElement *e = &b->elements.element[k];
			CalQuat o = rng_quat_within(r, 1.9);
			if (e->kind == REF_CAM)
				*x = rng_uniform(r, -1.2, 1.2);
			else
				x[0] = o.w, x[1] = o.x, x[2] = o.y, x[3] = o.z;
			x += ref_element_nq(e);
		}
		rng_fill(r, 0.4, b->modes, x);
	}
}

/* Largest M_ii (M^-1)_ii: how much the degrees of freedom can stand in for each other. */
static double coupling(const RefModel *m, const double *q) {
	int n = m->nu;
	double *M = test_doubles(n * n), *Minv = test_doubles(n * n), logdet, worst = 1;
	ref_mass_matrix(m, q, M);
	if (ref_mass_inverse(m, q, Minv, &logdet) != 0)
		worst = INFINITY;
	for (int i = 0; i < n; i++)
		worst = fmax(worst, M[i * n + i] * Minv[i * n + i]);
	free(M), free(Minv);
	return worst;
}

/* Moves q to another configuration on the constraints if there is one nearby. */
static void disturb(Rng *r, const RefModel *m, double *q) {
	double *dq = test_doubles(m->nu), *next = test_doubles(m->nq);
	rng_fill(r, 0.1, m->nu, dq);
	ref_config_integrate(m, q, dq, next);
	RefProjection p = ref_project_position(m, 0, next, REF_EUCLIDEAN, NULL, 20, next);
	if (p.residual < 1e-12 && coupling(m, next) < 1e4)
		memcpy(q, next, sizeof *q * (size_t)m->nq);
	refq_project_position(m, 0, q, REF_EUCLIDEAN, NULL, 5, q);
	free(dq), free(next);
}

static void set_start(Rng *r, RefModel *m, double *q, double rate) {
	double *u = test_doubles(m->nu);
	disturb(r, m, q);
	rng_fill(r, rate, m->nu, u);
	refq_project_velocity(m, 0, q, u, REF_EUCLIDEAN, NULL, u, NULL);
	ref_model_set_start(m, q, u);
	free(u);
}

LoopOptions loop_any(uint64_t seed) {
	Rng r = rng_make(seed * 41 + 13);
	LoopOptions o = {.tree = rng_chance(&r, 0.5) ? tree_flexible(seed) : tree_any(seed)};
	o.tree.bodies = 2 + rng_int(&r, 5);
	o.tree.max_modes = 4;
	o.tree.rate = 1;
	o.redundant = rng_chance(&r, 0.33);
	o.driven = rng_chance(&r, 0.4);
	o.known = rng_chance(&r, 0.4);
	return o;
}

RefModel *random_loop(Rng *r, LoopOptions o) {
	for (int tries = 0;; tries++) {
		assert_true(tries < 200);
		RefModel *m = random_tree(r, o.tree);
		double *q = test_doubles(m->nq);
		int wanted = o.loops ? o.loops : 1 + rng_int(r, 4), made = 0;
		random_coordinates(r, m, q);
		if (m->nu > 1 && coupling(m, q) < 1e4)
			for (int k = 0; k < 8 * wanted && made < wanted; k++)
				made += add_loop(r, m, &o, q);
		for (int i = 0; i < made; i++)
			add_extras(r, &m->loops[i], &o);
		for (int i = 0; o.redundant && i < made; i++)
			add_double(r, m, i);
		if (made > 0)
			set_start(r, m, q, o.tree.rate > 0 ? o.tree.rate : 1);
		free(q);
		if (made > 0)
			return m;
		ref_model_destroy(m);
	}
}

Fixture *fixture_random_loop(uint64_t seed, LoopOptions options, CalSolver solver) {
	Rng r = rng_make(seed);
	Fixture *f = fixture_create(random_loop(&r, options), seed, solver);
	fixture_sample(f, &r);
	ref_model_start(f->ref, f->state.q, f->state.u);
	return f;
}

/* ---- linkages ------------------------------------------------------------------------------- */

RefModel *random_linkage(Rng *r, int bars, RefLoopType closing) {
	RefModel *m = ref_model_create();
	CalPlacement base = rng_placement(r), end = base;
	m->gravity = rng_vector(r, 10);
	for (int i = 0; i < bars; i++) {
		CalPlacement step = {{rng_uniform(r, 0.3, 1), rng_uniform(r, -1, 1), rng_uniform(r, -0.2, 0.2)}, {1, 0, 0, 0}};
		ref_model_add_body(m, i - 1, CAL_JOINT_REVOLUTE);
		RefBody *b = &m->bodies[i];
		b->joint.inboard = i == 0 ? base : step;
		end = i == 0 ? end : placement_compose(end, step);
		rng_mass(r, 1, &b->mass, &b->com, &b->inertia);
	}
	CalPlacement last = {{rng_uniform(r, 0.3, 1), rng_uniform(r, -1, 1), 0}, turn(2, rng_uniform(r, -2, 2))};
	int a = ref_model_add_node(m, -1, placement_compose(end, last)), b = ref_model_add_node(m, bars - 1, last);
	RefLoop *l = ref_model_add_loop(m, closing);
	l->node_a = a;
	l->node_b = b;
	l->frame_b.orientation = closing == REF_LOOP_WELD ? (CalQuat){1, 0, 0, 0} : turn(2, rng_uniform(r, -2, 2));
	ref_model_index(m);
	double *q = test_doubles(m->nq);
	set_start(r, m, q, 1);
	free(q);
	return m;
}

static int add_rod(RefModel *m, int parent, double x, const char *name, int number) {
	int i = ref_model_add_body(m, parent, CAL_JOINT_REVOLUTE);
	RefBody *b = &m->bodies[i];
	snprintf(b->name, sizeof b->name, "%s%d", name, number);
	b->joint.inboard.position.x = x;
	b->mass = 1;
	b->com.x = 0.5;
	b->inertia.m[1][1] = b->inertia.m[2][2] = 1.0 / 12;
	return i;
}

RefModel *loop_windows(int windows, double angle, double rate, RefLoopType closing) {
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){0, -9.81, 0};
	for (int i = 0; i <= windows; i++) {
		int crank = add_rod(m, -1, i, "k", i);
		if (i < windows)
			add_rod(m, crank, 1, "c", i + 1);
	}
	ref_model_index(m);
	double *q = test_doubles(m->nq), *u = test_doubles(m->nu);
	for (int i = 0; i < m->body_count; i++) { /* cranks are even */
		q[i] = i % 2 == 0 ? angle : -angle;
		u[i] = i % 2 == 0 ? rate : -rate;
	}
	for (int i = 1; i <= windows; i++) {
		CalPlacement tip = {{1, 0, 0}, {1, 0, 0, 0}};
		int a = ref_model_add_node(m, 2 * i - 1, tip), b = ref_model_add_node(m, 2 * i, tip);
		RefLoop *l = ref_model_add_loop(m, closing);
		l->node_a = a;
		l->node_b = b;
	}
	ref_model_set_start(m, q, u);
	free(q), free(u);
	return m;
}
