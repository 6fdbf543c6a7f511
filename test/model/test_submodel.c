// SPDX-License-Identifier: Apache-2.0
/*
 * test_submodel.c — pieces of random models as models of their own: all links as one piece give the bits of the whole
 * model; two pieces have all parts of it, numbered from 0 and parents first, with a place for what arrives at the
 * interface.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "model/submodel.h"
#include "support/random_tree.h"

enum { TREES = 60 };

static Fixture *tree_of(uint64_t seed) {
	TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
	options.bodies = 2 + (int)(seed % 11);
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

static CalModel *submodel_of(uint64_t seed, const CalModel *whole, const PieceMap *map, int piece,
                             const uint8_t *marks) {
	CalModel *model;
	check_ok(seed, submodel_create(whole, map, piece, marks, &model));
	return model;
}

static void one_piece_gives_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = tree_of(seed);
		int *piece_of = calloc((size_t)f->model->link_count + 1, sizeof *piece_of);
		uint8_t *marks = calloc((size_t)f->model->link_count + 1, 1);
		PieceMap map = {0};
		check_ok(seed, piece_map_create(f->model, piece_of, 1, true, &map));
		CalModel *model = submodel_of(seed, f->model, &map, 0, marks);
		CalWork *work;
		check_ok(seed, cal_work_create(model, &work));
		double *want = fixture_doubles(f, f->nu), *got = fixture_doubles(f, f->nu);
		CalInput input = f->input;
		input.wrench_count = 0; // nodes of the ground have other numbers
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &input, f->work, want));
		check_ok(seed, cal_forward_dynamics(model, &f->state, &input, work, got));
		check_that(seed, memcmp(want, got, sizeof *want * (size_t)f->nu) == 0);
		cal_work_destroy(work);
		cal_model_destroy(model);
		piece_map_free(f->model, &map);
		free(piece_of);
		free(marks);
		fixture_destroy(f);
	}
}

/* Numbers of a submodel are its own. */
static void check_numbers(uint64_t seed, const CalModel *model) {
	for (int i = 0; i < model->link_count; i++) {
		const Link *link = &model->links[i];
		check_that(seed, link->parent >= -1 && link->parent < i);
		check_that(seed, link->u >= 0 && link->u + link->nu <= model->nu);
		check_that(seed, link->q >= 0 && link->q + link->nq <= model->nq);
		check_that(seed, link->flex < model->flex_count && link->flex_body < model->flex_count);
		check_that(seed, link->accumulator < model->accumulator_count);
		check_that(seed, link->flex_body < 0 || model->flexes[link->flex_body].link == i);
		check_that(seed,
		           link->special == (link->flex_body >= 0 || link->motion == PRIMITIVE_NODE)); // there are no loops
	}
	for (int k = 0; k < model->nu; k++) {
		const Dof *dof = &model->dofs[k];
		check_that(seed, dof->link >= 0 && dof->link < model->link_count && model->dof_parent[k] < k);
	}
	for (int i = 0; i < model->node_count; i++)
		check_that(seed, model->nodes[i].link >= 0 && model->nodes[i].link < model->link_count);
}

static void check_sums(uint64_t seed, const CalModel *whole, const CalModel *a, const CalModel *b) {
	check_that(seed, a->link_count + b->link_count == whole->link_count);
	check_that(seed, a->nu + b->nu == whole->nu && a->nq + b->nq == whole->nq);
	check_that(seed, a->flex_count + b->flex_count == whole->flex_count);
	check_that(seed, a->trig_count + b->trig_count == whole->trig_count);
	check_that(seed, a->modal_columns + b->modal_columns == whole->modal_columns);
	check_that(seed, a->spring_count + b->spring_count == whole->spring_count);
}

/* The first link of the joint of some body that is the child of another; -1: there is none. */
static int some_joint(uint64_t seed, const CalModel *model) {
	for (int k = 0; k < model->body_count; k++) {
		const Body *body = &model->bodies[((int)(seed % 7) + k) % model->body_count];
		if (body->nlink > 0 && model->links[body->first_link].parent >= 0)
			return body->first_link;
	}
	return -1;
}

static int compare_pieces(uint64_t seed, const Fixture *f, int *piece_of, uint8_t *marks) {
	const CalModel *whole = f->model;
	const int first = some_joint(seed, whole);
	if (first < 0)
		return 0;
	const int base = whole->links[first].parent;
	for (int i = first; i < whole->link_count; i++)
		piece_of[i] = i == first || (whole->links[i].parent >= 0 && piece_of[whole->links[i].parent]);
	PieceMap map = {0};
	check_ok(seed, piece_map_create(whole, piece_of, 2, true, &map));
	marks[map.link[base].own] = INTERFACE_ARRIVAL;
	CalModel *inner = submodel_of(seed, whole, &map, 0, marks);
	memset(marks, 0, (size_t)whole->link_count);
	CalModel *outer = submodel_of(seed, whole, &map, 1, marks);
	check_numbers(seed, inner);
	check_numbers(seed, outer);
	check_sums(seed, whole, inner, outer);
	const Link *at = &inner->links[map.link[base].own];
	check_that(seed, at->accumulator >= 0 && outer->links[0].parent == -1);
	check_that(seed, at->motion != PRIMITIVE_NODE || !inner->flexes[at->flex].fused);
	cal_model_destroy(inner);
	cal_model_destroy(outer);
	piece_map_free(whole, &map);
	return 1;
}

static void two_pieces_have_all_parts(void **state) {
	(void)state;
	int compared = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = tree_of(seed);
		int *piece_of = calloc((size_t)f->model->link_count + 1, sizeof *piece_of);
		uint8_t *marks = calloc((size_t)f->model->link_count + 1, 1);
		compared += compare_pieces(seed, f, piece_of, marks);
		free(piece_of);
		free(marks);
		fixture_destroy(f);
	}
	assert_true(compared > TREES / 2);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_piece_gives_the_same_bits),
		cmocka_unit_test(two_pieces_have_all_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
