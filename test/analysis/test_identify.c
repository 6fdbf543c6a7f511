// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify.c — parameters that are known but hidden: a true model makes the forces by inverse dynamics, another model with
 * wrong masses finds them. Number and names of base parameters against published ones, coverage of confidence intervals over
 * many noises, physically possible results from bad data, loops, friction and rotors, rates of samples.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "math/philox.h"
#include "math/quantile.h"
#include "support/check.h"
#include "support/model_file_support.h"
#include "support/rng.h"
#include "support/run.h"

enum { MOST = 8, P = CAL_INERTIAL_PARAMETERS };

/* A serial chain of revolute joints; the axes of joint i in its body by the caller. */
typedef struct Chain {
	CalDesc *desc;
	CalModel *model;
	CalBodyId bodies[MOST];
	int count;
} Chain;

static void give_mass(Rng *r, CalBodyDef *def) { rng_mass(r, 0.3, &def->mass, &def->com, &def->inertia); }

static void compile(Chain *chain) {
	CalError error = {0};
	cal_model_destroy(chain->model);
	if (cal_model_compile(chain->desc, NULL, &chain->model, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/* Random placements and axes, masses by seed; the same geometry for other masses. */
static Chain chain_make(uint64_t geometry, uint64_t masses, int count) {
	Chain chain = {.count = count};
	Rng g = rng_make(geometry), m = rng_make(masses);
	CalError error = {0};
	CalNodeId at = {0};
	check_ok(geometry, cal_desc_create(NULL, &chain.desc));
	check_ok(geometry, cal_desc_set_gravity(chain.desc, (CalGroupId){0}, (CalVec3){1, -2, -9}));
	for (int i = 0; i < count; i++) {
		char body[16], joint[16];
		snprintf(body, sizeof body, "b%d", i + 1);
		snprintf(joint, sizeof joint, "j%d", i + 1);
		CalBodyDef def = cal_body_def();
		def.name = body;
		give_mass(&m, &def);
		check_ok(geometry, cal_desc_add_body(chain.desc, &def, &chain.bodies[i], &error));
		CalJointDef hinge = cal_joint_def(i == 2 ? CAL_JOINT_PRISMATIC : CAL_JOINT_REVOLUTE);
		hinge.name = joint;
		hinge.axis = rng_direction(&g);
		hinge.inboard = rng_placement(&g);
		check_ok(geometry, cal_desc_attach(chain.desc, at, &hinge, cal_desc_body_node(chain.desc, chain.bodies[i]),
		                                   NULL, &error));
		at = cal_desc_body_node(chain.desc, chain.bodies[i]);
	}
	compile(&chain);
	return chain;
}

static void chain_destroy(Chain *chain) {
	cal_model_destroy(chain->model);
	cal_desc_destroy(chain->desc);
}

/* A recording of n instants at random, and the forces of a model. */
typedef struct Motion {
	int n, nu;
	double *q, *u, *udot, *tau;
} Motion;

static Motion motion_make(const CalModel *truth, int n, uint64_t seed) {
	const int nu = cal_model_u_count(truth);
	Motion m = {n, nu, test_doubles(n * nu), test_doubles(n * nu), test_doubles(n * nu), test_doubles(n * nu)};
	Rng r = rng_make(seed);
	CalWork *work;
	rng_fill(&r, 2, n * nu, m.q);
	rng_fill(&r, 3, n * nu, m.u);
	rng_fill(&r, 10, n * nu, m.udot);
	check_ok(seed, cal_work_create(truth, &work));
	for (int i = 0; i < n; i++)
		check_ok(seed, cal_inverse_dynamics(truth, &(CalState){.q = m.q + i * nu, .u = m.u + i * nu}, m.udot + i * nu,
		                                    NULL, work, m.tau + i * nu));
	cal_work_destroy(work);
	return m;
}

static void motion_free(Motion *m) { free(m->q), free(m->u), free(m->udot), free(m->tau); }

/* noise: standard deviation of each force, by counters: seed, instant, degree of freedom. */
static void add_all(CalIdentification *id, const Motion *m, double noise, uint64_t seed) {
	double tau[MOST];
	for (int i = 0; i < m->n; i++) {
		for (int k = 0; k < m->nu; k++)
			tau[k] = m->tau[i * m->nu + k] +
			         noise * (1 + k) * quantile_normal(unit_interval(draw(seed, (uint64_t)i, (uint64_t)k).a));
		check_ok(seed, cal_identification_add(id, &(CalState){.q = m->q + i * m->nu, .u = m->u + i * m->nu},
		                                      m->udot + i * m->nu, NULL, tau, NULL));
	}
}

static CalIdentification *identify(const CalModel *model, const CalIdentificationOptions *options, const Motion *m,
                                   double noise, uint64_t seed) {
	CalIdentification *id;
	CalError error = {0};
	if (cal_identification_create(model, options, &id, &error) != CAL_OK)
		fail_msg("%s", error.text);
	add_all(id, m, noise, seed);
	if (cal_identification_solve(id, &error) != CAL_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
	return id;
}

/* All parameters of a model, as a combination takes them. */
static double combined(const CalIdentification *id, const CalModel *model, int index) {
	CalCombination c;
	CalIdentified all;
	double sum = 0, p[P];
	check_ok(0, cal_identification_result(id, &all));
	check_ok(0, cal_identification_combination(id, index, &c));
	for (int k = 0; k < all.parameters; k++) {
		CalIdentifiedParameter parameter;
		check_ok(0, cal_identification_parameter(id, k, &parameter));
		assert_int_equal(parameter.kind, CAL_IDENTIFIED_INERTIAL);
		check_ok(0, cal_inertial_parameters(model, parameter.object, p));
		sum += c.factor[k] * p[parameter.index];
	}
	return sum;
}

/* ---- exact data -------------------------------------------------------------------------------------- */

/*
 * Forces of motions that were not recorded, and mass properties that can exist. Forces count as known to 1e-6 at best: what the
 * prior moves badly excited combinations by stays below a tenth of that.
 */
static void hidden_parameters_are_found(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		const int count = 1 + (int)(seed % 6);
		Chain truth = chain_make(seed, seed + 1000, count), guess = chain_make(seed, seed + 2000, count);
		Motion recorded = motion_make(truth.model, 60, seed), other = motion_make(truth.model, 20, seed + 1);
		CalIdentification *id = identify(guess.model, NULL, &recorded, 0, seed);
		double tau[MOST];
		for (int i = 0; i < other.n; i++) {
			const CalState at = {.q = other.q + i * count, .u = other.u + i * count};
			check_ok(seed, cal_identification_predict(id, &at, other.udot + i * count, NULL, tau));
			check_close_scaled(seed, "tau", count, tau, other.tau + i * count, max_abs(other.n * count, other.tau),
			                   1e-7);
		}
		CalIdentified all;
		check_ok(seed, cal_identification_result(id, &all));
		for (int k = 0; k < all.combinations; k++) {
			CalCombination c;
			const double want = combined(id, truth.model, k);
			check_ok(seed, cal_identification_combination(id, k, &c));
			check_that(seed, fabs(c.value - want) < 1e-7 * (1 + fabs(want)) &&
			                     fabs(c.consistent - want) < 1e-6 * (1 + fabs(want)));
		}
		for (int b = 0; b < count; b++) { // the model takes them without complaint
			CalBodyDef def = cal_body_def();
			CalError error = {0};
			check_ok(seed, cal_identification_body(id, b, &def));
			check_ok(seed, cal_desc_set_mass_properties(guess.desc, guess.bodies[b], &def, &error));
		}
		check_ok(seed, cal_desc_check(guess.desc, NULL, NULL));
		cal_identification_destroy(id);
		motion_free(&recorded), motion_free(&other);
		chain_destroy(&truth), chain_destroy(&guess);
	}
}

/* One unknown body at the end of a free chain has all of its ten parameters determined. */
static void payload_is_found_in_full(void **state) {
	(void)state;
	const uint64_t seed = test_seed();
	Chain truth = chain_make(seed, seed + 1, 6), guess = chain_make(seed, seed + 1, 6);
	CalBodyDef def = *cal_desc_body(guess.desc, guess.bodies[5]);
	CalError error = {0};
	def.mass = 0.5, def.com = (CalVec3){0}, def.inertia = (CalMat3){{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}};
	check_ok(seed, cal_desc_set_mass_properties(guess.desc, guess.bodies[5], &def, &error));
	compile(&guess);
	Motion m = motion_make(truth.model, 40, seed);
	const uint8_t unknown[6] = {[5] = 1};
	CalIdentification *id = identify(guess.model, &(CalIdentificationOptions){.bodies = unknown}, &m, 0, seed);
	double want[P];
	check_ok(seed, cal_inertial_parameters(truth.model, 5, want));
	for (int k = 0; k < P; k++) {
		CalIdentifiedParameter p;
		check_ok(seed, cal_identification_parameter(id, k, &p));
		check_that(seed, p.determined && fabs(p.value - want[k]) < 1e-7);
	}
	cal_identification_destroy(id);
	motion_free(&m);
	chain_destroy(&truth), chain_destroy(&guess);
}

/* ---- combinations --------------------------------------------------------------------------------------- */

static CalModel *rank_model(const char *text, CalSetup **setup) {
	CalError error = {0};
	CalModel *model;
	*setup = file_of(text);
	if (cal_model_compile(cal_setup_desc(*setup), NULL, &model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return model;
}

/* Rank of a model under random motions. */
static int rank_of(const char *text) {
	CalSetup *setup;
	CalModel *model = rank_model(text, &setup);
	Motion m = motion_make(model, 60, test_seed());
	CalIdentification *id = identify(model, NULL, &m, 0, 0);
	CalIdentified all;
	check_ok(0, cal_identification_result(id, &all));
	cal_identification_destroy(id);
	motion_free(&m);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
	return all.combinations;
}

/* A joint of the PUMA 560 in Craig's convention: turn about x by alpha, along x by a, then along z by d. */
#define PUMA_JOINT(name, from, to, alpha, at) \
	"  " name ": {type: revolute, from: " from ", to: " to ", inboard: {at: " at ", orientation: {x: " alpha " deg}}}\n"

/* Gautier and Khalil 1990: 36 base parameters of the PUMA 560 without its motors. A planar arm with two links: 6. */
static void ranks_are_published_ones(void **state) {
	(void)state;
	assert_int_equal(
		rank_of("calder: 1\ngravity: [0, -9.81, 0]\nbodies: {upper: {mass: 3, com: [0.4, 0, 0], inertia: [1, 1, 1]},\n"
	            "  lower: {mass: 2, com: [0.3, 0, 0], inertia: [1, 1, 1]}}\n"
	            "joints: {a: {type: revolute, to: upper}, b: {type: revolute, from: upper, to: lower,\n"
	            "  inboard: [0.9, 0, 0]}}\n"),
		6);
	assert_int_equal(
		rank_of("calder: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {mass: 3, inertia: [1, 1, 1]}, b: {mass: 3, "
	            "inertia: [1, 1, 1]}, c: {mass: 3, inertia: [1, 1, 1]},\n"
	            "  d: {mass: 3, inertia: [1, 1, 1]}, e: {mass: 3, inertia: [1, 1, 1]}, f: {mass: 3, inertia: [1, 1, "
	            "1]}}\njoints:\n" PUMA_JOINT("j1", "ground", "a", "0", "[0, 0, 0]")
	                PUMA_JOINT("j2", "a", "b", "-90", "[0, 0, 0]") PUMA_JOINT("j3", "b", "c", "0", "[0.4318, 0, 0.15]")
	                    PUMA_JOINT("j4", "c", "d", "-90", "[-0.0203, 0.4318, 0]") PUMA_JOINT(
							"j5", "d", "e", "90", "[0, 0, 0]") PUMA_JOINT("j6", "e", "f", "-90", "[0, 0, 0]")),
		36);
}

/* The text says what the factors are: a hidden mass can be moved along it without any force. */
static void combinations_have_names(void **state) {
	(void)state;
	CalSetup *setup;
	CalModel *model = rank_model(
		"calder: 1\ngravity: [0, -9.81, 0]\nbodies: {upper: {mass: 3, com: [0.4, 0, 0], inertia: [1, 1, 1]},\n"
		"  lower: {mass: 2, com: [0.3, 0, 0], inertia: [1, 1, 1]}}\n"
		"joints: {a: {type: revolute, to: upper}, b: {type: revolute, from: upper, to: lower,\n"
		"  inboard: [0.9, 0, 0]}}\n",
		&setup);
	Motion m = motion_make(model, 60, 1);
	CalIdentification *id = identify(model, NULL, &m, 0, 0);
	char all[600] = "", one[100];
	for (int k = 0; cal_identification_combination_text(id, k, one, sizeof one) >= 0; k++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s;", one);
	assert_non_null(strstr(all, "upper.mx + 0.9 lower.mass;"));
	assert_non_null(strstr(all, "upper.Izz + 0.81 lower.mass;"));
	assert_int_equal(cal_identification_combination_text(id, 0, one, 4), (int)strcspn(all, ";"));
	cal_identification_destroy(id);
	motion_free(&m);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
}

/* ---- noise ------------------------------------------------------------------------------------------------ */

/*
 * 95 % intervals of combinations contain the true values in 95 % of recordings, and squares of errors are variances: 400 noises,
 * forces of each joint with their own deviation, which is not known beforehand. Of 400 x combinations draws (those of one
 * noise depend on each other) 4 deviations are allowed for independent noises.
 */
static void intervals_cover_the_truth(void **state) {
	(void)state;
	enum { NOISES = 400 };
	const uint64_t seed = test_seed();
	Chain truth = chain_make(seed, seed + 1, 4), guess = chain_make(seed, seed + 2, 4);
	Motion m = motion_make(truth.model, 200, seed);
	int inside = 0, count = 0;
	double squares = 0;
	for (uint64_t k = 0; k < NOISES; k++) {
		CalIdentification *id = identify(guess.model, NULL, &m, 0.5, seed + k);
		CalIdentified all;
		check_ok(seed, cal_identification_result(id, &all));
		for (int i = 0; i < all.combinations; i++) {
			CalCombination c;
			check_ok(seed, cal_identification_combination(id, i, &c));
			const double error = (c.value - combined(id, truth.model, i)) / c.deviation;
			inside += fabs(error) < 1.959964;
			squares += error * error;
			count++;
		}
		for (int u = 0; u < 4; u++) { // the noise itself
			CalForceFit fit;
			check_ok(seed, cal_identification_fit(id, u, &fit));
			check_that(seed, fabs(fit.residual / (0.5 * (1 + u)) - 1) < 0.45 && fit.model > fit.residual);
		}
		cal_identification_destroy(id);
	}
	const double part = (double)inside / count, variance = squares / count;
	printf("%d intervals: %.2f %% cover the truth; mean square of errors %.3f variances\n", count, 100 * part,
	       variance);
	check_that(seed, fabs(part - 0.95) < 4 * sqrt(0.95 * 0.05 / NOISES) && fabs(variance - 1) < 4 * sqrt(2.0 / NOISES));
	motion_free(&m);
	chain_destroy(&truth), chain_destroy(&guess);
}

/* Smallest eigenvalue of the pseudo-inertia by bisection on determinants is more than a test needs: triangle and mass. */
static bool is_possible(const CalBodyDef *def) {
	const double a = def->inertia.m[0][0], b = def->inertia.m[1][1], c = def->inertia.m[2][2];
	const CalMat3 *I = &def->inertia;
	const double s = 0.5 * (a + b + c), S[3][3] = {{s - a, -I->m[0][1], -I->m[0][2]},
	                                               {-I->m[0][1], s - b, -I->m[1][2]},
	                                               {-I->m[0][2], -I->m[1][2], s - c}};
	const double minor = S[0][0] * S[1][1] - S[0][1] * S[0][1];
	const double determinant = S[0][0] * (S[1][1] * S[2][2] - S[1][2] * S[1][2]) -
	                           S[0][1] * (S[0][1] * S[2][2] - S[1][2] * S[0][2]) +
	                           S[0][2] * (S[0][1] * S[1][2] - S[1][1] * S[0][2]);
	return def->mass > 0 && S[0][0] > 0 && minor > 0 && determinant > 0;
}

/* Sum of squares over the deviations of the noise. */
static double misfit(const CalIdentification *id, const Motion *m, double noise) {
	double sum = 0;
	for (int u = 0; u < m->nu; u++) {
		CalForceFit fit;
		check_ok(0, cal_identification_fit(id, u, &fit));
		sum += (double)fit.equations * fit.residual * fit.residual / (noise * noise * (1 + u) * (1 + u));
	}
	return sum;
}

/*
 * Few samples with much noise: least squares alone give bodies that cannot exist. What is found can, and it meets the equations
 * better than the true model, which can exist too.
 */
static void results_are_physically_possible(void **state) {
	(void)state;
	const double noise = 5;
	int impossible = 0, bodies = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Chain truth = chain_make(seed, seed + 1, 5);
		Motion m = motion_make(truth.model, 30, seed);
		const CalIdentificationOptions free_options = {.unconstrained = 1, .prior = 1e5};
		CalIdentification *free_of = identify(truth.model, &free_options, &m, noise, seed);
		CalIdentification *id = identify(truth.model, NULL, &m, noise, seed);
		CalIdentified without, with;
		double true_misfit = 0;
		for (int b = 0; b < 5; b++) {
			CalBodyDef def = cal_body_def(), other = cal_body_def();
			check_ok(seed, cal_identification_body(id, b, &def));
			check_ok(seed, cal_identification_body(free_of, b, &other));
			check_that(seed, is_possible(&def));
			impossible += !is_possible(&other);
			bodies++;
		}
		for (int u = 0; u < 5; u++) {
			CalForceFit fit;
			check_ok(seed, cal_identification_fit(id, u, &fit));
			true_misfit += (double)fit.equations * fit.model * fit.model / (noise * noise * (1 + u) * (1 + u));
		}
		check_ok(seed, cal_identification_result(free_of, &without));
		check_ok(seed, cal_identification_result(id, &with));
		// weights are those of the residuals, not of the noise: a little more may be left in the measure of the noise
		check_that(seed, misfit(free_of, &m, noise) < misfit(id, &m, noise) * 1.02 &&
		                     misfit(id, &m, noise) < true_misfit * 1.02);
		check_that(seed, without.conflict < 1e-3 && with.conflict > without.conflict &&
		                     with.conflict < 3 * with.combinations);
		cal_identification_destroy(free_of), cal_identification_destroy(id);
		motion_free(&m);
		chain_destroy(&truth);
	}
	printf("least squares alone: %d of %d bodies cannot exist\n", impossible, bodies);
	assert_true(impossible > bodies / 2);
}

/* A strong prior keeps what a short recording does not know, a weak one leaves it to the recording. */
static void prior_decides_what_the_motion_does_not(void **state) {
	(void)state;
	const uint64_t seed = test_seed();
	Chain truth = chain_make(seed, seed + 1, 4), guess = chain_make(seed, seed + 2, 4);
	Motion m = motion_make(truth.model, 60, seed);
	CalIdentification *strong = identify(guess.model, &(CalIdentificationOptions){.prior = 1e-6}, &m, 0.1, seed);
	CalIdentification *weak = identify(guess.model, NULL, &m, 0.1, seed);
	for (int k = 0; k < 40; k++) {
		CalIdentifiedParameter s, w;
		check_ok(seed, cal_identification_parameter(strong, k, &s));
		check_ok(seed, cal_identification_parameter(weak, k, &w));
		check_that(seed, fabs(s.value - s.model) < 1e-3 * (1 + fabs(s.model)));
		check_that(seed, s.deviation < w.deviation);
	}
	cal_identification_destroy(strong), cal_identification_destroy(weak);
	motion_free(&m);
	chain_destroy(&truth), chain_destroy(&guess);
}

/* ---- joints, loops ----------------------------------------------------------------------------------------- */

static void friction_and_rotors_are_found(void **state) {
	(void)state;
	const uint64_t seed = test_seed();
	Chain truth = chain_make(seed, seed + 1, 4), guess = chain_make(seed, seed + 2, 4);
	Motion m = motion_make(truth.model, 80, seed);
	const double viscous[] = {0.3, 0, 0.7, 0}, coulomb[] = {0, 1.1, 0.4, 0}, rotor[] = {0.2, 0, 0, 0.5};
	for (int i = 0; i < m.n; i++)
		for (int u = 0; u < 4; u++) {
			const double speed = m.u[i * 4 + u];
			m.tau[i * 4 + u] += viscous[u] * speed + coulomb[u] * tanh(speed / 0.05) + rotor[u] * m.udot[i * 4 + u];
		}
	static const uint8_t yes[] = {1, 1, 1, 1};
	const CalIdentificationOptions options = {.viscous = yes, .coulomb = yes, .rotor = yes, .friction_speed = 0.05};
	CalIdentification *id = identify(guess.model, &options, &m, 0, seed);
	for (int k = 40; k < 52; k++) {
		CalIdentifiedParameter p;
		char name[32];
		const int u = (k - 40) % 4, kind = (k - 40) / 4;
		const double want = kind == 0 ? viscous[u] : kind == 1 ? coulomb[u] : rotor[u];
		check_ok(seed, cal_identification_parameter(id, k, &p));
		snprintf(name, sizeof name, "j%d.%s", u + 1, kind == 0 ? "viscous" : kind == 1 ? "coulomb" : "rotor");
		assert_string_equal(p.name, name);
		assert_string_equal(p.unit, kind == 0 && u == 2   ? "N s/m"
		                            : kind == 0           ? "N m s/rad"
		                            : kind == 1 && u == 2 ? "N"
		                            : kind == 1           ? "N m"
		                            : u == 2              ? "kg"
		                                                  : "kg m^2");
		check_that(seed, p.value > 0);
		if (p.determined) // the rotor of the first joint acts as the moment of inertia of its body does
			check_that(seed, fabs(p.value - want) < 2e-6);
		else
			check_that(seed, kind == 2 && u == 0);
	}
	cal_identification_destroy(id);
	motion_free(&m);
	chain_destroy(&truth), chain_destroy(&guess);
}

/* What is in the model counts as known: dampers and rotors of joints, springs. */
static void what_is_known_is_taken_away(void **state) {
	(void)state;
	static const char format[] =
		"calder: 1\ngravity: [0, -9.81, 0]\nbodies: {a: {mass: 3, com: [0.4, 0.1, 0], inertia: [1, 1, 1]},\n"
		"  b: {mass: %g, com: [0.3, 0, 0], inertia: [1, 1, 1]}}\n"
		"joints: {a: {type: revolute, to: a, dof: {stiffness: 20, rest: 0.3, damping: 2}},\n"
		"  b: {type: revolute, from: a, to: b, inboard: [0.9, 0, 0], dof: {damping: 1, rotor_inertia: 0.1, gear_ratio: 3}}}\n";
	char text[800];
	CalSetup *setups[2];
	snprintf(text, sizeof text, format, 2.0);
	CalModel *truth = rank_model(text, &setups[0]);
	snprintf(text, sizeof text, format, 1.0);
	CalModel *guess = rank_model(text, &setups[1]);
	Motion m = motion_make(truth, 60, test_seed());
	const uint8_t unknown[] = {0, 1};
	CalIdentification *id = identify(guess, &(CalIdentificationOptions){.bodies = unknown}, &m, 0, 0);
	CalIdentifiedParameter mass;
	check_ok(0, cal_identification_parameter(id, 0, &mass));
	assert_near(mass.value, 2, 1e-8);
	assert_true(mass.determined);
	cal_identification_destroy(id);
	motion_free(&m);
	cal_model_destroy(truth), cal_model_destroy(guess);
	cal_setup_destroy(setups[0]), cal_setup_destroy(setups[1]);
}

/* A four-bar: the torque of its crank alone is known, the other hinges are free. The reference is the simulation. */
static void linkages_give_equations_of_independent_speeds(void **state) {
	(void)state;
	static const char text[] =
		"calder: 1\ngravity: [0, -9.81, 0]\nground: {nodes: {b: [0.5, 0, 0]}}\nbodies:\n"
		"  crank: {mass: 1, com: [0.1, 0.02, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.2, 0, 0]}}\n"
		"  coupler: {mass: %g, com: [0.25, 0, 0], inertia: [0.2, 0.2, 0.2], nodes: {end: [0.5, 0, 0]}}\n"
		"  rocker: {mass: 2, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.4, 0, 0]}}\n"
		"joints:\n  crank: {type: revolute, to: crank}\n  pin: {type: revolute, from: crank/end, to: coupler}\n"
		"  rocker: {type: revolute, from: ground/b, to: rocker}\n"
		"loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end}}\n"
		"state: {crank: {q: 90 deg, u: 8}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n"
		"loads: [{joint: crank, effort: \"5*sin(7*t) - 0.2*u(crank)\"}]\n";
	char of[1200];
	CalSetup *setup;
	snprintf(of, sizeof of, text, 1.0);
	CalModel *guess = rank_model(of, &setup);
	const uint8_t unknown[] = {0, 1, 0};
	CalIdentification *id;
	CalError error = {0};
	check_ok(0, cal_identification_create(guess, &(CalIdentificationOptions){.bodies = unknown}, &id, &error));
	snprintf(of, sizeof of, text, 2.5);
	Run run = run_file(file_of(of));
	for (int i = 0; i < 300; i++) {
		CalSimView view;
		check_ok(0, cal_sim_advance(run.sim, 0.01 * i, &error));
		check_ok(0, cal_sim_observe(run.sim, 0, &view));
		check_ok(0, cal_identification_add(id, view.state, view.udot, NULL, view.input.tau, NULL));
		if (i == 0) {
			const uint8_t some[] = {1, 0, 1};
			assert_int_equal(cal_identification_add(id, view.state, view.udot, NULL, view.input.tau, some),
			                 CAL_ERR_ARGUMENT);
		}
	}
	check_ok(0, cal_identification_solve(id, &error));
	CalIdentified all;
	size_t equations = 0;
	check_ok(0, cal_identification_result(id, &all));
	for (int u = 0; u < 3; u++) { // another speed is independent where the crank no longer determines the rest well
		CalForceFit fit;
		check_ok(0, cal_identification_fit(id, u, &fit));
		assert_true(fit.residual <= 1e-6 * fit.force && fit.model >= 0.1 * fit.force);
		equations += fit.equations;
	}
	assert_int_equal(all.equations, 300);
	assert_int_equal(equations, 300);
	for (int k = 0; k < all.combinations; k++) {
		static const double want[] = {2.5, 0.625, 0, 0, 0.2, 0.35625, 0.35625, 0, 0, 0}; // about the origin: I + m c^2
		CalCombination c;
		double sum = 0;
		check_ok(0, cal_identification_combination(id, k, &c));
		for (int i = 0; i < P; i++)
			sum += c.factor[i] * want[i];
		assert_near(c.consistent, sum, 1e-6);
	}
	cal_identification_destroy(id);
	run_end(&run);
	cal_model_destroy(guess);
	cal_setup_destroy(setup);
}

/* ---- rates of samples -------------------------------------------------------------------------------------- */

/* Exact for polynomials of its degree at any times; without lag for others. */
static void rates_of_polynomials_are_exact(void **state) {
	(void)state;
	enum { N = 60 };
	double t[N], x[N], smooth[N], rate[N], second[N];
	Rng r = rng_make(test_seed());
	for (int degree = 2; degree <= 5; degree++) {
		double c[6];
		rng_fill(&r, 1, 6, c);
		for (int i = 0; i < N; i++) {
			t[i] = i == 0 ? 3 : t[i - 1] + rng_uniform(&r, 0.01, 0.03);
			x[i] = 0;
			for (int k = degree; k >= 0; k--)
				x[i] = x[i] * t[i] + c[k];
		}
		check_ok(0, cal_estimate_rates(N, t, x, degree == 3 ? 0 : 0.3, degree, smooth, rate, second));
		for (int i = 0; i < N; i++) {
			double v = 0, a = 0;
			for (int k = degree; k >= 1; k--)
				v = v * t[i] + k * c[k];
			for (int k = degree; k >= 2; k--)
				a = a * t[i] + k * (k - 1) * c[k];
			assert_near(smooth[i], x[i], 1e-9 * (1 + fabs(x[i])));
			assert_near(rate[i], v, 1e-8 * (1 + fabs(v) + fabs(x[i])));
			assert_near(second[i], a, 2e-6 * (1 + fabs(a) + fabs(x[i])));
		}
	}
	double unordered[] = {0, 1, 1, 2};
	assert_int_equal(cal_estimate_rates(4, unordered, x, 0, 2, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_estimate_rates(3, t, x, 0, 3, smooth, NULL, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_estimate_rates(N, t, x, 0, 6, smooth, NULL, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_estimate_rates(N, t, x, (double)NAN, 2, smooth, NULL, NULL), CAL_ERR_ARGUMENT);
}

/* ---- what is refused ------------------------------------------------------------------------------------------ */

static void mistakes_are_said(void **state) {
	(void)state;
	Chain chain = chain_make(1, 2, 3);
	CalIdentification *id;
	CalError error = {0};
	static const uint8_t none[8] = {0};
	assert_int_equal(cal_identification_create(chain.model, &(CalIdentificationOptions){.bodies = none}, &id, &error),
	                 CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "nothing is unknown"));
	assert_int_equal(cal_identification_create(chain.model, &(CalIdentificationOptions){.prior = -1}, &id, &error),
	                 CAL_ERR_ARGUMENT);
	check_ok(0, cal_identification_create(chain.model, NULL, &id, &error));
	double zero[3] = {0}, bad[3] = {0, (double)NAN, 0};
	const CalState rest = {.q = zero, .u = zero};
	CalIdentified all;
	assert_int_equal(cal_identification_result(id, &all), CAL_ERR_STAGE);
	assert_int_equal(cal_identification_solve(id, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_identification_add(id, &rest, zero, NULL, bad, NULL), CAL_NOT_FINITE);
	assert_int_equal(cal_identification_add(id, &rest, bad, NULL, zero, NULL), CAL_NOT_FINITE);
	const uint8_t but_one[] = {1, 0, 1};
	check_ok(0, cal_identification_add(id, &rest, zero, NULL, bad, but_one));
	assert_int_equal(cal_identification_solve(id, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "record more of the motion"));
	cal_identification_destroy(id);
	chain_destroy(&chain);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_parameters_are_found),
		cmocka_unit_test(payload_is_found_in_full),
		cmocka_unit_test(ranks_are_published_ones),
		cmocka_unit_test(combinations_have_names),
		cmocka_unit_test(intervals_cover_the_truth),
		cmocka_unit_test(results_are_physically_possible),
		cmocka_unit_test(prior_decides_what_the_motion_does_not),
		cmocka_unit_test(friction_and_rotors_are_found),
		cmocka_unit_test(what_is_known_is_taken_away),
		cmocka_unit_test(linkages_give_equations_of_independent_speeds),
		cmocka_unit_test(rates_of_polynomials_are_exact),
		cmocka_unit_test(mistakes_are_said),
	};
	NEEDS_YAML();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
