// SPDX-License-Identifier: Apache-2.0
/*
 * test_model.c — the compiled model: order, counts, what it states about bodies, nodes and degrees of freedom.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 60 };

/* A body's subtree is contiguous and its parent comes first. */
static void bodies_are_depth_first(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, (TreeOptions){.bodies = 20, .massless = 1}, CAL_SOLVER_RECURSIVE);
		for (int i = 0; i < f->nb; i++) {
			int inside = 1;
			check_that(seed, f->ref->bodies[i].parent < i);
			for (int k = i + 1; k < f->nb; k++) {
				int up = k;
				while (up > i)
					up = f->ref->bodies[up].parent;
				check_that(seed, up != i || inside);
				inside = inside && up == i;
			}
		}
		fixture_destroy(f);
	}
}

static void model_repeats_what_was_described(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int u = 0, links = 0;
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			CalBodyInfo info;
			check_ok(seed, cal_model_body(f->model, i, &info));
			check_that(seed, info.mass == b->mass && memcmp(&info.com, &b->com, sizeof b->com) == 0);
			check_that(seed, memcmp(&info.inertia, &b->inertia, sizeof b->inertia) == 0);
			check_that(seed, cal_model_find_body(f->model, b->name) == i);
			check_that(seed, cal_model_find_joint(f->model, b->joint_name) == i);
			check_that(seed, cal_model_find_node(f->model, b->name) == info.node);
			check_that(seed, cal_model_body_index(f->model, info.id) == i);
			check_that(seed, info.head_node == (b->head_node >= 0 ? f->node[b->head_node] : info.node));
			check_that(seed, b->parent_node < 0 || info.inboard_node == f->node[b->parent_node]);
			check_that(seed, (info.nlink == 0) == (b->nu == 0));
			for (int k = 0; k < b->nu; k++, u++) {
				const CalDofDef *def = &b->joint.dof[k];
				double ratio = def->gear_ratio != 0 ? def->gear_ratio : 1;
				double reflected = ratio * ratio * def->rotor_inertia;
				CalDofInfo dof;
				check_ok(seed, cal_model_dof(f->model, u, &dof));
				check_that(seed, dof.body == i && dof.index == k && dof.q < f->nq);
				check_that(seed, dof.stiffness == def->stiffness && dof.damping == def->damping);
				check_that(seed, dof.rest == def->rest && (dof.prescribed != 0) == (def->prescribed != 0));
				check_close(seed, "reflected inertia", 1, &dof.reflected_inertia, &reflected, 1e-15);
			}
			links += info.nlink;
		}
		check_that(seed, u == f->nu && links == cal_model_link_count(f->model));
		CalVec3 g = cal_model_gravity(f->model);
		check_that(seed, memcmp(&g, &f->ref->gravity, sizeof g) == 0);
		fixture_destroy(f);
	}
}

static void nodes_are_found_by_name_and_id(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		for (int i = 0; i < f->ref->node_count; i++) {
			const RefNode *n = &f->ref->nodes[i];
			char path[80];
			CalNodeInfo info;
			CalVec3 p = n->placement.position;
			snprintf(path, sizeof path, "%s/%s", n->body < 0 ? "ground" : f->ref->bodies[n->body].name, n->name);
			check_that(seed, f->node[i] >= 0 && cal_model_find_node(f->model, path) == f->node[i]);
			check_ok(seed, cal_model_node(f->model, f->node[i], &info));
			check_that(seed, info.body == n->body && strcmp(info.name, n->name) == 0);
			check_close_scaled(seed, "position", 3, &info.pose.r.x, &p.x, 1, 0);
		}
		check_that(seed, cal_model_find_node(f->model, "no/such") == -1);
		check_that(seed, cal_model_find_body(f->model, "no such") == -1);
		check_that(seed, cal_model_find_joint(f->model, "no such") == -1);
		check_that(seed, cal_model_body_index(f->model, (CalBodyId){0}) == -1);
		check_that(seed, cal_model_body_index(f->model, (CalBodyId){999999}) == -1);
		fixture_destroy(f);
	}
}

static void degrees_of_freedom_have_names(void **state) {
	(void)state;
	RefModel *m = ref_model_create();
	Rng r = rng_make(test_seed());
	for (int i = 0; i < 2; i++) {
		ref_model_add_body(m, i - 1, i ? CAL_JOINT_SPHERICAL : CAL_JOINT_REVOLUTE);
		rng_mass(&r, 1, &m->bodies[i].mass, &m->bodies[i].com, &m->bodies[i].inertia);
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
	char name[32], tiny[4];
	assert_int_equal(cal_model_dof_name(f->model, 0, name, sizeof name), 6);
	assert_string_equal(name, "joint0");
	cal_model_dof_name(f->model, 2, name, sizeof name);
	assert_non_null(strstr(name, "joint1."));
	/* as snprintf: the whole length is returned, the buffer ends with a zero */
	assert_int_equal(cal_model_dof_name(f->model, 0, tiny, sizeof tiny), 6);
	assert_string_equal(tiny, "joi");
	for (int i = 0; i < f->nu; i++)
		for (int k = 0; k < i; k++) {
			char other[32];
			cal_model_dof_name(f->model, i, name, sizeof name);
			cal_model_dof_name(f->model, k, other, sizeof other);
			assert_string_not_equal(name, other);
		}
	for (int i = 0; i < f->nq; i++)
		assert_true(cal_model_q_name(f->model, i, name, sizeof name) > 0);
	fixture_destroy(f);
}

/* The order in which attachments are listed decides the order of siblings, never the dynamics. */
static void order_of_attachments_does_not_change_the_motion(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed), s = rng_make(seed);
		TreeOptions options = {.bodies = 8, .springs = 1};
		Fixture *f = fixture_create(random_tree(&r, options), seed, CAL_SOLVER_RECURSIVE);
		Fixture *g = fixture_create(random_tree(&s, options), seed + 12345, CAL_SOLVER_RECURSIVE);
		fixture_sample(f, &r);
		double *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu), *tau = fixture_doubles(f, f->nu);
		for (int i = 0; i < f->nb; i++) {
			const RefBody *x = &f->ref->bodies[f->body_of_ref[i]], *y = &g->ref->bodies[g->body_of_ref[i]];
			memcpy(g->state.q + y->q, f->state.q + x->q, sizeof(double) * (size_t)x->nq);
			memcpy(g->state.u + y->u, f->state.u + x->u, sizeof(double) * (size_t)x->nu);
			memcpy(tau + y->u, f->tau + x->u, sizeof(double) * (size_t)x->nu);
		}
		CalInput input = {.tau = tau};
		f->input.wrench_count = 0;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
		check_ok(seed, cal_forward_dynamics(g->model, &g->state, &input, g->work, b));
		for (int i = 0; i < f->nb; i++) {
			const RefBody *x = &f->ref->bodies[f->body_of_ref[i]], *y = &g->ref->bodies[g->body_of_ref[i]];
			check_close_scaled(seed, "udot", x->nu, b + y->u, a + x->u, max_abs(f->nu, a), 1e-11);
		}
		fixture_destroy(f);
		fixture_destroy(g);
	}
}

static void compiling_twice_gives_the_same_model(void **state) {
	(void)state;
	Fixture *f = fixture_random(test_seed(), (TreeOptions){.bodies = 12, .springs = 1}, CAL_SOLVER_AUTO);
	CalModel *again;
	CalWork *work;
	double *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu);
	check_ok(f->seed, cal_model_compile(f->desc, NULL, &again, NULL));
	assert_int_equal(cal_model_size(again), cal_model_size(f->model));
	check_ok(f->seed, cal_work_create(again, &work));
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
	check_ok(f->seed, cal_forward_dynamics(again, &f->state, &f->input, work, b));
	assert_memory_equal(a, b, sizeof *a * (size_t)f->nu);
	cal_work_destroy(work);
	cal_model_destroy(again);
	fixture_destroy(f);
}

/* The model does not look back at the description. */
static void model_outlives_its_description(void **state) {
	(void)state;
	Fixture *f = fixture_random(test_seed(), (TreeOptions){.bodies = 12, .springs = 1}, CAL_SOLVER_RECURSIVE);
	double *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu);
	CalBodyInfo info;
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
	cal_desc_destroy(f->desc);
	f->desc = NULL;
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, b));
	assert_memory_equal(a, b, sizeof *a * (size_t)f->nu);
	check_ok(f->seed, cal_model_body(f->model, 0, &info));
	assert_string_equal(info.name, f->ref->bodies[0].name);
	fixture_destroy(f);
}

/* Two groups of one description are two independent models. */
static void groups_compile_separately(void **state) {
	(void)state;
	CalDesc *desc;
	CalGroupDef group = cal_group_def();
	CalGroupId second;
	CalError error;
	group.name = "second", group.gravity = (CalVec3){0, 0, -1.62};
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_add_group(desc, &group, &second, &error));
	for (int i = 0; i < 3; i++) {
		CalBodyDef body = cal_body_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		CalBodyId id;
		CalJointId joint_id;
		char name[16];
		snprintf(name, sizeof name, "b%d", i);
		body.name = joint.name = name;
		body.group = i == 0 ? (CalGroupId){0} : second;
		body.mass = 1, body.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
		check_ok(0, cal_desc_add_body(desc, &body, &id, &error));
		check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, id), &joint_id, &error));
	}
	CalModel *first_model, *second_model;
	CalCompileOptions options = {.group = second};
	check_ok(0, cal_model_compile(desc, NULL, &first_model, &error));
	check_ok(0, cal_model_compile(desc, &options, &second_model, &error));
	assert_int_equal(cal_model_body_count(first_model), 1);
	assert_int_equal(cal_model_body_count(second_model), 2);
	assert_string_equal(cal_model_name(second_model), "second");
	assert_true(cal_model_gravity(second_model).z == -1.62 && cal_model_gravity(first_model).z == 0);
	assert_int_equal(cal_model_find_body(second_model, "b0"), -1);
	cal_model_destroy(first_model);
	cal_model_destroy(second_model);
	cal_desc_destroy(desc);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_are_depth_first),
		cmocka_unit_test(model_repeats_what_was_described),
		cmocka_unit_test(nodes_are_found_by_name_and_id),
		cmocka_unit_test(degrees_of_freedom_have_names),
		cmocka_unit_test(order_of_attachments_does_not_change_the_motion),
		cmocka_unit_test(compiling_twice_gives_the_same_model),
		cmocka_unit_test(model_outlives_its_description),
		cmocka_unit_test(groups_compile_separately),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
