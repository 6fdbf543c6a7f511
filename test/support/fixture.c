// SPDX-License-Identifier: Apache-2.0
/*
 * fixture.c — the library's side of a RefModel: description, compiled model, state, workspace, inputs.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *fixture_doubles(Fixture *f, int count) {
	f->pool = realloc(f->pool, sizeof *f->pool * (size_t)(f->pool_count + 1));
	assert_non_null(f->pool);
	double *x = test_doubles(count);
	f->pool[f->pool_count++] = x;
	return x;
}

static CalNodeId node_of(const CalDesc *desc, const CalBodyId *bodies, const CalNodeId *nodes, int body, int node) {
	if (node >= 0)
		return nodes[node];
	return body < 0 ? (CalNodeId){0} : cal_desc_body_node(desc, bodies[body]);
}

static void check_added(const Fixture *f, CalStatus status, const CalError *error) {
	if (status != CAL_OK)
		check_fail_at(__FILE__, __LINE__, f->seed, "description refused: %s", error->text);
}

static void describe_parts(Fixture *f, CalBodyId *bodies, CalNodeId *nodes) {
	const RefModel *m = f->ref;
	CalError error = {0};
	for (int i = 0; i < m->body_count; i++) {
		CalBodyDef def = cal_body_def();
		def.name = m->bodies[i].name;
		def.mass = m->bodies[i].mass;
		def.com = m->bodies[i].com;
		def.inertia = m->bodies[i].inertia;
		check_added(f, cal_desc_add_body(f->desc, &def, &bodies[i], &error), &error);
	}
	for (int i = 0; i < m->node_count; i++) {
		CalNodeDef def = cal_node_def();
		def.name = m->nodes[i].name;
		def.placement = m->nodes[i].placement;
		CalBodyId body = m->nodes[i].body < 0 ? (CalBodyId){0} : bodies[m->nodes[i].body];
		check_added(f, cal_desc_add_node(f->desc, body, &def, &nodes[i], &error), &error);
	}
	for (int i = 0; i < m->body_count; i++)
		if (m->bodies[i].modes > 0)
			fixture_describe_flexible(f, i, bodies[i], nodes);
}

static void describe_joints(Fixture *f, const CalBodyId *bodies, const CalNodeId *nodes) {
	const RefModel *m = f->ref;
	Rng r = rng_make(~f->seed);
	int *order = test_alloc((size_t)m->body_count, sizeof *order);
	CalError error = {0};
	for (int i = 0; i < m->body_count; i++) {
		int k = rng_int(&r, i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (int k = 0; k < m->body_count; k++) {
		const RefBody *b = &m->bodies[order[k]];
		CalJointDef def = b->joint;
		CalJointId id;
		def.name = b->joint_name;
		CalNodeId inboard = node_of(f->desc, bodies, nodes, b->parent, b->parent_node);
		CalNodeId outboard = node_of(f->desc, bodies, nodes, order[k], b->head_node);
		check_added(f, cal_desc_attach(f->desc, inboard, &def, outboard, &id, &error), &error);
	}
	free(order);
}

/* Brings ref into the order of the model. */
static void sort_reference(Fixture *f, const CalBodyId *bodies) {
	RefModel *m = f->ref;
	RefBody *sorted = test_alloc((size_t)m->body_count + 1, sizeof *sorted);
	for (int i = 0; i < m->body_count; i++) {
		int k = cal_model_body_index(f->model, bodies[i]);
		check_that(f->seed, k >= 0 && k < m->body_count);
		f->body_of_ref[i] = k;
		sorted[k] = m->bodies[i];
	}
	for (int k = 0; k < m->body_count; k++) {
		sorted[k].parent = sorted[k].parent < 0 ? -1 : f->body_of_ref[sorted[k].parent];
		check_that(f->seed, sorted[k].parent < k);
	}
	for (int i = 0; i < m->node_count; i++)
		if (m->nodes[i].body >= 0)
			m->nodes[i].body = f->body_of_ref[m->nodes[i].body];
	free(m->bodies);
	m->bodies = sorted;
	ref_model_index(m);
}

static void check_layout(const Fixture *f) {
	for (int i = 0; i < f->nb; i++) {
		const RefBody *b = &f->ref->bodies[i];
		CalBodyInfo info;
		check_ok(f->seed, cal_model_body(f->model, i, &info));
		check_that(f->seed, strcmp(info.name, b->name) == 0 && strcmp(info.joint, b->joint_name) == 0);
		check_that(f->seed, info.q == b->q && info.nq == b->nq && info.u == b->u && info.nu == b->nu);
		check_that(f->seed, info.parent == b->parent && info.type == b->joint.type && info.modes == b->modes);
	}
}

Fixture *fixture_create(RefModel *ref, uint64_t seed, CalSolver solver) {
	CalError error = {0};
	Fixture *f = fixture_try(ref, seed, solver, &error);
	if (!f)
		check_fail_at(__FILE__, __LINE__, seed, "model refused: %s", error.text);
	return f;
}

Fixture *fixture_try(RefModel *ref, uint64_t seed, CalSolver solver, CalError *error) {
	Fixture *f = test_alloc(1, sizeof *f);
	CalBodyId *bodies = test_alloc((size_t)ref->body_count, sizeof *bodies);
	CalNodeId *nodes = test_alloc((size_t)ref->node_count, sizeof *nodes);
	CalCompileOptions options = {.solver = solver};
	f->seed = seed;
	f->rate = 1;
	f->ref = ref;
	f->node = test_alloc((size_t)ref->node_count, sizeof *f->node);
	f->body_of_ref = test_alloc((size_t)ref->body_count, sizeof *f->body_of_ref);
	check_ok(seed, cal_desc_create(NULL, &f->desc));
	check_ok(seed, cal_desc_set_gravity(f->desc, (CalGroupId){0}, ref->gravity));
	describe_parts(f, bodies, nodes);
	describe_joints(f, bodies, nodes);
	if (cal_model_compile(f->desc, &options, &f->model, error) != CAL_OK) {
		free(bodies), free(nodes);
		fixture_destroy(f);
		return NULL;
	}
	sort_reference(f, bodies);
	for (int i = 0; i < ref->node_count; i++)
		f->node[i] = cal_model_node_index(f->model, nodes[i]);
	f->nb = ref->body_count, f->nq = ref->nq, f->nu = ref->nu;
	check_that(seed, cal_model_body_count(f->model) == f->nb);
	check_that(seed, cal_model_q_count(f->model) == f->nq && cal_model_u_count(f->model) == f->nu);
	check_layout(f);
	check_ok(seed, cal_state_create(f->model, &f->state));
	check_ok(seed, cal_work_create(f->model, &f->work));
	f->tau = fixture_doubles(f, f->nu);
	f->udot = fixture_doubles(f, f->nu);
	f->prescribed = test_alloc((size_t)f->nu + 1, 1);
	free(bodies), free(nodes);
	return f;
}

Fixture *fixture_random(uint64_t seed, TreeOptions options, CalSolver solver) {
	Rng r = rng_make(seed);
	Fixture *f = fixture_create(random_tree(&r, options), seed, solver);
	if (options.rate > 0)
		f->rate = options.rate;
	fixture_sample(f, &r);
	return f;
}

void fixture_destroy(Fixture *f) {
	if (!f)
		return;
	cal_work_destroy(f->work);
	cal_state_destroy(&f->state);
	cal_model_destroy(f->model);
	cal_desc_destroy(f->desc);
	ref_model_destroy(f->ref);
	for (int i = 0; i < f->pool_count; i++)
		free(f->pool[i]);
	free(f->pool), free(f->prescribed), free(f->node), free(f->body_of_ref), free(f);
}

/* Angles and lengths within 1.2, modal coordinates within 0.6, quaternions anywhere but within reach of a spring. */
static void sample_coordinates(Fixture *f, Rng *r) {
	for (int i = 0; i < f->nb; i++) {
		const RefBody *b = &f->ref->bodies[i];
		double *q = f->state.q + b->q;
		int sprung = 0;
		for (int k = 0; k < b->nu; k++)
			sprung |= b->joint.dof[k].stiffness > 0;
		for (int k = 0; k < b->elements.count; k++) {
			const RefElement *e = &b->elements.element[k];
			if (e->kind == REF_CAM) {
				*q = rng_uniform(r, -1.2, 1.2);
			} else {
				CalQuat o = sprung ? rng_quat_within(r, 1.9) : rng_quat(r);
				q[0] = o.w, q[1] = o.x, q[2] = o.y, q[3] = o.z;
			}
			q += ref_element_nq(e);
		}
		rng_fill(r, 0.6, b->modes, q);
	}
}

/* Largest M_ii (M^-1)_ii: how much the degrees of freedom can stand in for each other. */
static double coupling(const Fixture *f) {
	size_t n = (size_t)f->nu;
	double *M = test_doubles((int)(n * n)), *Minv = test_doubles((int)(n * n)), logdet, worst = 1;
	ref_mass_matrix(f->ref, f->state.q, M);
	if (ref_mass_inverse(f->ref, f->state.q, Minv, &logdet) != 0)
		worst = INFINITY;
	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, M[i * n + i] * Minv[i * n + i]);
	free(M), free(Minv);
	return worst;
}

void fixture_sample(Fixture *f, Rng *r) {
	int tries = 0;
	do {
		check_that(f->seed, tries++ < 100);
		sample_coordinates(f, r);
	} while (f->nu <= 80 && !(coupling(f) < 1e4));
	rng_fill(r, f->rate, f->nu, f->state.u);
	rng_fill(r, 5, f->nu, f->tau);
	rng_fill(r, 2, f->nu, f->udot);
	int count = f->ref->node_count > 0 ? rng_int(r, 5) : 0;
	for (int k = 0; k < count; k++) {
		CalWrench *w = &f->ref_wrenches[k];
		w->node = rng_int(r, f->ref->node_count);
		w->frame = rng_chance(r, 0.5) ? CAL_FRAME_WORLD : CAL_FRAME_NODE;
		w->f.angular = rng_vector(r, 2);
		w->f.linear = rng_vector(r, 5);
		f->wrenches[k] = *w;
		f->wrenches[k].node = f->node[w->node];
	}
	f->ref_input = (CalInput){.tau = f->tau, .udot = f->udot, .wrenches = f->ref_wrenches, .wrench_count = count};
	f->input = f->ref_input;
	f->input.wrenches = f->wrenches;
}

void fixture_prescribe(Fixture *f, Rng *r) {
	for (int i = 0; i < f->nu; i++)
		f->prescribed[i] = (uint8_t)rng_chance(r, 0.35);
	f->ref_input.prescribed = f->input.prescribed = f->prescribed;
}

double fixture_force_scale(Fixture *f, const double *udot) {
	int n = f->nu;
	double *M = test_doubles(n * n), *x = test_doubles(n), worst = 0;
	double *sum = test_doubles(n);
	ref_mass_matrix(f->ref, f->state.q, M);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			sum[i] += fabs(M[i * n + j] * udot[j]);
	for (int part = 0; part < 4; part++) {
		if (part == 0)
			ref_bias_forces(f->ref, f->state.q, f->state.u, x);
		else if (part == 1)
			ref_gravity_forces(f->ref, f->state.q, x);
		else if (part == 2)
			ref_elastic_forces(f->ref, f->state.q, f->state.u, x);
		else
			ref_external_forces(f->ref, f->state.q, &f->ref_input, x);
		for (int i = 0; i < n; i++)
			sum[i] += fabs(x[i]);
	}
	for (int i = 0; i < n; i++)
		worst = fmax(worst, sum[i]);
	free(M), free(x), free(sum);
	return worst;
}
