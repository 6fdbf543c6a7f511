// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_kept.c — sweeps with loops at the positions of the last one find its factors in place, with the bits of a workspace
 * that has none: forward dynamics after a projection, with other dofs held or other uses in between, and products with M_c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "model/work.h"
#include "support/random_loop.h"

enum { CASES = 60, USES = 4 };

typedef struct Kept {
	Fixture *f;
	CalModel *model;
	CalWork *work, *fresh;
	CalState state;
	double *got, *want; // [n + m]
	int *found;         // times that factors were in place
} Kept;

static Kept make(uint64_t seed, int *found) {
	Kept k = {.f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE), .found = found};
	fixture_close_loops(k.f);
	check_ok(seed, cal_model_compile(k.f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &k.model, NULL));
	check_ok(seed, cal_work_create(k.model, &k.work));
	check_ok(seed, cal_state_create(k.model, &k.state));
	cal_state_copy(k.model, &k.f->state, &k.state);
	k.state.t = k.f->state.t;
	k.got = test_doubles(k.f->nu + cal_model_row_count(k.model));
	k.want = test_doubles(k.f->nu + cal_model_row_count(k.model));
	return k;
}

static void destroy(Kept *k) {
	free(k->got), free(k->want);
	cal_state_destroy(&k->state);
	cal_work_destroy(k->work);
	cal_model_destroy(k->model);
	fixture_destroy(k->f);
}

/* Accelerations and multipliers of both workspaces, the second one new. */
static void compare_forward(Kept *k, const char *after) {
	const size_t size = sizeof(double) * (size_t)(k->f->nu + cal_model_row_count(k->model));
	memset(k->got, 0, size), memset(k->want, 0, size);
	check_ok(k->f->seed, cal_work_create(k->model, &k->fresh));
	*k->found += k->work->loops.kept.valid;
	const CalStatus got = cal_forward_dynamics(k->model, &k->state, NULL, k->work, k->got);
	const CalStatus want = cal_forward_dynamics(k->model, &k->state, NULL, k->fresh, k->want);
	if (want == CAL_OK) {
		cal_loop_multipliers(k->model, k->work, k->got + k->f->nu);
		cal_loop_multipliers(k->model, k->fresh, k->want + k->f->nu);
	}
	if (got != want || memcmp(k->got, k->want, size) != 0 || k->work->loops.error != k->fresh->loops.error)
		check_fail_at(__FILE__, __LINE__, k->f->seed, "other bits after %s", after);
	check_that(k->f->seed, !k->work->loops.kept.valid); // one call costs what the next one does
	cal_work_destroy(k->fresh);
}

/* Something else that uses the workspace. */
static void use_work(Kept *k, int use) {
	double *M = test_doubles(k->f->nu * k->f->nu);
	if (use == 1)
		cal_mass_factor(k->model, &k->state, k->work);
	else if (use == 2)
		cal_mass_matrix(k->model, &k->state, k->work, M);
	else if (use == 3)
		cal_bias_forces(k->model, &k->state, k->work, M);
	free(M);
}

static void after_a_projection(void **unused) {
	int found = 0;
	(void)unused;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Kept k = make(seed, &found);
		uint8_t *frozen = calloc((size_t)k.f->nu, 1);
		assert_non_null(frozen);
		frozen[seed % (uint64_t)k.f->nu] = 1;
		for (int use = 0; use < USES; use++) {
			for (int i = 0; i < k.f->nu; i++)
				k.state.u[i] += k.got[i] = 1e-3 * sin(i + use);
			if (use > 1) // positions move too
				cal_config_integrate(k.model, k.state.q, k.got, k.state.q);
			if (cal_loop_project(k.model, &k.state, &(CalProjectOptions){.frozen = use % 2 ? frozen : NULL}, k.work,
			                     NULL) < 0)
				break;
			use_work(&k, use);
			compare_forward(&k, use % 2 ? "a projection with a dof held" : "a projection");
		}
		free(frozen);
		destroy(&k);
	}
	assert_true(found > CASES);
}

/* The last of several products, and one by itself. */
static void products_of_one_factor(void **unused) {
	int found = 0;
	(void)unused;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Kept k = make(seed, &found);
		const size_t size = sizeof(double) * (size_t)k.f->nu;
		double *b = test_doubles(k.f->nu);
		check_ok(seed, cal_work_create(k.model, &k.fresh));
		if (cal_closed_factor(k.model, &k.state, NULL, k.work) == CAL_OK &&
		    cal_closed_factor(k.model, &k.state, NULL, k.fresh) == CAL_OK) {
			for (int i = 0; i < k.f->nu; i++) {
				b[i] = cos(i);
				found += k.work->loops.kept.valid;
				if (cal_closed_solve(k.model, k.work, b, k.got) != CAL_OK)
					break;
			}
			if (cal_closed_solve(k.model, k.fresh, b, k.want) == CAL_OK)
				check_that(seed,
				           cal_closed_solve(k.model, k.work, b, k.got) == CAL_OK && memcmp(k.got, k.want, size) == 0);
		}
		cal_work_destroy(k.fresh);
		compare_forward(&k, "products");
		free(b);
		destroy(&k);
	}
	assert_true(found > CASES);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_projection),
		cmocka_unit_test(products_of_one_factor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
