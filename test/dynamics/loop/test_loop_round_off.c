// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_round_off.c — how far round-off moves the joints of loops: the diagonal of M^-1 from the compliances of the links
 * against solves with M, by sweeps and by cut joints; the same bits for every width of registers; and which models are looked
 * at. Writes to the model's internals to choose the kernels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "base/cpu.h"
#include "dynamics/loop/loop_round_off.h"
#include "model/model.h"
#include "model/work.h"
#include "support/light_loop.h"

/* The largest of M^-1 on the diagonal; all joints are on loops, and all of them turn. */
static double largest_mobility(const CalModel *model, const CalState *s, CalWork *work) {
	const int n = cal_model_u_count(model);
	double *b = test_doubles(n), *x = test_doubles(n), most = 0;
	check_ok(0, cal_mass_factor(model, s, work));
	for (int k = 0; k < n; k++) {
		b[k] = 1;
		check_ok(0, cal_mass_solve(model, work, b, x));
		b[k] = 0;
		most = fmax(most, x[k]);
	}
	free(b), free(x);
	return most;
}

static void compare(RefModel *(*make)(Rng *), uint64_t seed, int decades, CalLoopSolver way) {
	Fixture *f = light_fixture(make, seed, decades);
	CalModel *model;
	CalWork *work;
	double *udot = test_doubles(f->nu);
	check_ok(seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE, .loops = way},
	                                 &model, NULL));
	check_ok(seed, cal_work_create(model, &work));
	if (way == CAL_LOOPS_CUT_JOINT)
		check_ok(seed, cal_closed_factor(model, &f->state, NULL, work)); // leaves the factor of the tree
	else
		check_ok(seed, cal_forward_dynamics(model, &f->state, NULL, work, udot));
	const LoopRoundOff found = loop_round_off_of(model, NULL, work);
	const double want = largest_mobility(model, &f->state, work);
	check_that(seed, fabs(found.moved * found.least - want) < 1e-6 * want);
	check_that(seed, found.acceleration == 0 && found.spread <= found.moved * (1 + 1e-9));
	free(udot);
	cal_work_destroy(work);
	cal_model_destroy(model);
	fixture_destroy(f);
}

static void compliances_give_the_inverse_of_the_mass_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		for (int decades = 0; decades <= 3; decades += 3) {
			for (int way = CAL_LOOPS_ELIMINATION; way <= CAL_LOOPS_CUT_JOINT; way++) {
				compare(light_ring, seed, decades, (CalLoopSolver)way);
				compare(light_ladder, seed, decades, (CalLoopSolver)way);
				compare(light_feet, seed, decades, (CalLoopSolver)way);
				compare(light_spatial, seed, decades, (CalLoopSolver)way);
			}
		}
	}
}

/* Forces of one on every equation. */
static void compare_widths(RefModel *(*make)(Rng *), uint64_t seed) {
	Fixture *f = light_fixture(make, seed, 3);
	CalModel *model;
	CalWork *work;
	LoopRoundOff first = {0};
	check_ok(seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, NULL));
	check_ok(seed, cal_work_create(model, &work));
	double *udot = test_doubles(f->nu), *ones = test_doubles(cal_model_row_count(model));
	for (int i = 0; i < cal_model_row_count(model); i++)
		ones[i] = 1;
	check_ok(seed, cal_forward_dynamics(model, &f->state, NULL, work, udot));
	for (int isa = CPU_BASELINE; isa <= (int)cpu_isa(); isa++) {
		model->isa = (CpuIsa)isa;
		const LoopRoundOff found = loop_round_off_of(model, ones, work);
		first = isa == CPU_BASELINE ? found : first;
		check_that(seed, memcmp(&first, &found, sizeof first) == 0);
		check_that(seed, found.moved >= 1 && found.acceleration > 0);
	}
	free(udot), free(ones);
	cal_work_destroy(work);
	cal_model_destroy(model);
	fixture_destroy(f);
}

static void every_width_has_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		compare_widths(light_ring, seed);
		compare_widths(light_free_ladder, seed);
		compare_widths(light_feet, seed);
		compare_widths(light_spatial, seed);
		compare_widths(light_carriers, seed);
	}
}

/* Ordinary mechanisms are not looked at; those that branches leave to the model in one piece are known as such. */
static void models_with_light_links_are_known(void **state) {
	static const struct { int decades, light; } cases[] = {{0, 0}, {2, 0}, {3, 1}, {6, 2}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Fixture *f = light_fixture(light_ladder, 7, cases[i].decades);
		CalModel *model;
		check_ok(7, cal_model_compile(f->desc, NULL, &model, NULL));
		assert_int_equal(model->light_loops, cases[i].light);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compliances_give_the_inverse_of_the_mass_matrix),
		cmocka_unit_test(every_width_has_the_same_bits),
		cmocka_unit_test(models_with_light_links_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
