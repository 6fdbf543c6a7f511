// SPDX-License-Identifier: Apache-2.0
/*
 * test_batch_threads.c — every state of a batch has the bits of the single call, whatever the number of states and threads
 * and whatever fails beside it: random rigid and flexible trees and mechanisms with loops, all algorithms, roll-outs.
 */
#include "batch/batch_case.h"

enum { MODELS = 15, THREAD_COUNTS = 4 };
static const int thread_counts[THREAD_COUNTS] = {1, 2, 3, 7};

/* ---- algorithms ------------------------------------------------------------------------------- */

/* One algorithm as a batch and as a single call; results of two kinds at most, of width[k] numbers. */
typedef struct Algorithm {
	const char *name;
	CalStatus (*batch)(CalBatch *batch, Case *c, double *x, double *y, CalStatus *status);
	CalStatus (*single)(Case *c, const CalState *state, const CalInput *input, int i, double *x, double *y);
	size_t (*width)(const Case *c, int kind);
} Algorithm;

static size_t width_nu(const Case *c, int kind) { return kind ? 0 : (size_t)c->nu; }
static size_t width_two(const Case *c, int kind) { return (void)kind, (size_t)c->nu; }
static size_t width_square(const Case *c, int kind) { return kind ? 0 : (size_t)c->nu * (size_t)c->nu; }
static size_t width_energy(const Case *c, int kind) { return (void)c, kind ? 0 : 4; }
static size_t width_momentum(const Case *c, int kind) { return (void)c, kind ? 0 : 13; }
static size_t width_nodes(const Case *c, int kind) { return (void)c, kind ? 3 * 6 : 3 * 12; }
static size_t width_jacobian(const Case *c, int kind) { return kind ? 0 : 6 * (size_t)c->nu; }

static CalStatus batch_forward(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_forward(b, &c->states, &c->input, x, status);
}
static CalStatus single_forward(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)i, (void)y;
	return cal_forward_dynamics(c->model, s, input, c->work, x);
}
static CalStatus batch_hybrid(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	return cal_batch_hybrid(b, &c->states, &c->input, x, y, status);
}
static CalStatus single_hybrid(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)i;
	return cal_hybrid_dynamics(c->model, s, input, c->work, x, y);
}
static CalStatus batch_inverse(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_inverse(b, &c->states, &c->input.udot, &c->input, x, status);
}
static CalStatus single_inverse(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)y;
	return cal_inverse_dynamics(c->model, s, c->udot + i * c->nu, input, c->work, x);
}
static CalStatus batch_at_rest(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_inverse(b, &(CalBatchStates){.count = STATES, .t = c->states.t, .q = c->states.q}, NULL, NULL, x,
	                         status);
}
static CalStatus single_at_rest(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)input, (void)i, (void)y;
	double *u = test_doubles(c->nu + 1);
	const CalStatus status =
		cal_inverse_dynamics(c->model, &(CalState){.t = s->t, .q = s->q, .u = u}, NULL, NULL, c->work, x);
	free(u);
	return status;
}

/* An algorithm of the state alone, with one result. */
#define STATE_ALGORITHM(name, batched, call, type)                                                                   \
	static CalStatus batch_##name(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {                   \
		(void)y;                                                                                                     \
		return batched(b, &c->states, (type *)(void *)x, status);                                                    \
	}                                                                                                                \
	static CalStatus single_##name(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) { \
		(void)input, (void)i, (void)y;                                                                               \
		return call(c->model, s, c->work, (type *)(void *)x);                                                        \
	}
STATE_ALGORITHM(bias, cal_batch_bias_forces, cal_bias_forces, double)
STATE_ALGORITHM(gravity, cal_batch_gravity_forces, cal_gravity_forces, double)
STATE_ALGORITHM(elastic, cal_batch_elastic_forces, cal_elastic_forces, double)
STATE_ALGORITHM(mass, cal_batch_mass_matrix, cal_mass_matrix, double)
STATE_ALGORITHM(energy, cal_batch_energy, cal_energy, CalEnergy)
STATE_ALGORITHM(momentum, cal_batch_momentum, cal_momentum, CalMomentum)

static CalStatus batch_nodes(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	return cal_batch_nodes(b, &c->states, c->nodes, 3, (CalPose *)(void *)x, (CalSpatial *)(void *)y, status);
}
static CalStatus single_nodes(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)input, (void)i;
	CalStatus status = cal_kinematics(c->model, s, NULL, c->work);
	for (int k = 0; k < 3 && status == CAL_OK; k++) {
		status = cal_node_pose(c->model, c->work, c->nodes[k], (CalPose *)(void *)x + k);
		if (status == CAL_OK)
			status = cal_node_velocity(c->model, c->work, c->nodes[k], (CalSpatial *)(void *)y + k);
	}
	return status;
}
static CalStatus batch_jacobian(CalBatch *b, Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_jacobian(b, &c->states, c->nodes[0], x, status);
}
static CalStatus single_jacobian(Case *c, const CalState *s, const CalInput *input, int i, double *x, double *y) {
	(void)input, (void)i, (void)y;
	const CalStatus status = cal_kinematics(c->model, s, NULL, c->work);
	return status == CAL_OK ? cal_node_jacobian(c->model, c->work, c->nodes[0], x) : status;
}

static const Algorithm algorithms[] = {
	{"forward", batch_forward, single_forward, width_nu},
	{"hybrid", batch_hybrid, single_hybrid, width_two},
	{"inverse", batch_inverse, single_inverse, width_nu},
	{"inverse at rest", batch_at_rest, single_at_rest, width_nu},
	{"bias forces", batch_bias, single_bias, width_nu},
	{"gravity forces", batch_gravity, single_gravity, width_nu},
	{"elastic forces", batch_elastic, single_elastic, width_nu},
	{"mass matrix", batch_mass, single_mass, width_square},
	{"energy", batch_energy, single_energy, width_energy},
	{"momentum", batch_momentum, single_momentum, width_momentum},
	{"nodes", batch_nodes, single_nodes, width_nodes},
	{"jacobian", batch_jacobian, single_jacobian, width_jacobian},
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* Results of single calls for all states. */
typedef struct Expected {
	double *x, *y;
	CalStatus status[STATES], first;
} Expected;

static Expected expect(Case *c, const Algorithm *a) {
	const size_t wx = a->width(c, 0), wy = a->width(c, 1);
	Expected e = {.x = fixture_doubles(c->f, (int)(STATES * wx) + 1),
	              .y = fixture_doubles(c->f, (int)(STATES * wy) + 1)};
	for (int i = 0; i < STATES; i++) {
		CalWrench wrenches[WRENCHED];
		const CalState state = case_state(c, i);
		const CalInput input = case_input(c, i, -1, wrenches);
		e.status[i] = a->single(c, &state, &input, i, e.x + (size_t)i * wx, e.y + (size_t)i * wy);
		e.first = e.first == CAL_OK ? e.status[i] : e.first;
	}
	return e;
}

/* The first `count` states of a case. */
static void compare(Case *c, const Algorithm *a, const Expected *e, CalBatch *batch, int count) {
	const size_t wx = a->width(c, 0), wy = a->width(c, 1);
	double *x = test_doubles((int)(STATES * wx) + 1), *y = test_doubles((int)(STATES * wy) + 1);
	CalStatus status[STATES], first = CAL_OK;
	c->states.count = count;
	const CalStatus returned = a->batch(batch, c, x, y, status);
	for (int i = 0; i < STATES; i++) {
		const bool within = i < count || a->batch == batch_at_rest; // which takes all states
		if (!within)
			continue;
		check_status(c->seed, status[i], e->status[i]);
		check_rows(c, a->name, status[i], wx, x + (size_t)i * wx, e->x + (size_t)i * wx);
		check_rows(c, a->name, status[i], wy, y + (size_t)i * wy, e->y + (size_t)i * wy);
		first = first == CAL_OK ? status[i] : first;
	}
	check_status(c->seed, returned, first);
	if (count < STATES)
		check_status(c->seed, a->batch(batch, c, x, y, NULL), first); // nobody asks for the statuses
	free(x), free(y);
}

static void states_have_the_bits_of_single_calls(void **state) {
	(void)state;
	int failed = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + MODELS; seed++) {
		Case c;
		CalBatch *batches[THREAD_COUNTS];
		case_create(&c, seed);
		for (int t = 0; t < THREAD_COUNTS; t++) {
			check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.threads = thread_counts[t]}, &batches[t]));
			assert_int_equal(cal_batch_threads(batches[t]), thread_counts[t]);
		}
		for (int k = 0; k < ALGORITHMS; k++) {
			const Expected e = expect(&c, &algorithms[k]);
			failed += e.first != CAL_OK;
			for (int t = 0; t < THREAD_COUNTS; t++) {
				compare(&c, &algorithms[k], &e, batches[t], STATES);
				compare(&c, &algorithms[k], &e, batches[t], 1 + (int)(seed % 9));
			}
		}
		for (int t = 0; t < THREAD_COUNTS; t++)
			cal_batch_destroy(batches[t]);
		case_destroy(&c);
	}
	print_message("%d calls with states that fail\n", failed);
	assert_true(failed >= MODELS);
}

/* ---- roll-outs -------------------------------------------------------------------------------- */

static int give_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	*input = *(const CalInput *)user;
	return 0;
}

/* State i after each of STEPS steps, q[STEPS][nq] and u[STEPS][nu]; NaN from where it failed. */
static CalStatus roll_alone(Case *c, const CalBatchRollout *r, int varying, int i, double *q, double *u) {
	CalInput input;
	CalWrench wrenches[WRENCHED];
	CalState state;
	CalIntegrator *integrator;
	const CalIntegratorOptions options = {
		.method = r->method, .step = fabs(r->step), .projection = r->projection, .input = give_input, .user = &input};
	const CalState start = case_state(c, i);
	CalStatus status = CAL_OK;
	check_ok(c->seed, cal_state_create(c->model, &state));
	cal_state_copy(c->model, &start, &state);
	check_ok(c->seed, cal_integrator_create(c->model, c->work, &options, &integrator));
	for (int k = 0; k < STEPS; k++) {
		input = case_input(c, i, varying ? k : -1, wrenches);
		if (status == CAL_OK)
			status = cal_integrator_advance(integrator, &state, start.t + (k + 1) * r->step);
		for (int j = 0; j < c->nq; j++)
			q[k * c->nq + j] = status == CAL_OK ? state.q[j] : NAN;
		for (int j = 0; j < c->nu; j++)
			u[k * c->nu + j] = status == CAL_OK ? state.u[j] : NAN;
	}
	cal_integrator_destroy(integrator);
	cal_state_destroy(&state);
	return status;
}

static uint64_t bits_of(double x) {
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static bool same_numbers(const double *a, const double *b, int count) {
	for (int k = 0; k < count; k++) {
		if (bits_of(a[k]) != bits_of(b[k]) && !(isnan(a[k]) && isnan(b[k])))
			return false;
	}
	return true;
}

static void compare_rollout(Case *c, const CalBatchRollout *r, int varying, CalBatch *batch) {
	const int rows = (int)cal_batch_rollout_rows(r), every = r->every ? (int)r->every : STEPS;
	double *q = test_doubles(rows * STATES * c->nq + 1), *u = test_doubles(rows * STATES * c->nu + 1);
	double *want_q = test_doubles(STEPS * c->nq + 1), *want_u = test_doubles(STEPS * c->nu + 1);
	CalStatus status[STATES], first = CAL_OK;
	CalBatchInput input = c->input;
	if (varying) {
		input.tau = (CalBatchArray){c->tau_steps, c->nu, STATES * c->nu};
		input.wrench = (CalBatchArray){c->wrench_steps, 6 * WRENCHED, STATES * 6 * WRENCHED};
	}
	const CalStatus returned = cal_batch_rollout(batch, &c->states, &input, r, q, u, status);
	for (int i = 0; i < STATES; i++) {
		check_status(c->seed, status[i], roll_alone(c, r, varying, i, want_q, want_u));
		first = first == CAL_OK ? status[i] : first;
		for (int row = 0; row < rows; row++) {
			const int step = (row + 1) * every - 1, at = row * STATES + i;
			check_that(c->seed, same_numbers(q + at * c->nq, want_q + step * c->nq, c->nq));
			check_that(c->seed, same_numbers(u + at * c->nu, want_u + step * c->nu, c->nu));
		}
	}
	check_status(c->seed, returned, first);
	free(q), free(u), free(want_q), free(want_u);
}

static void rollouts_have_the_bits_of_single_runs(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_EULER_CROMER, CAL_METHOD_IMPLICIT,
	                                    CAL_METHOD_IMPLICIT_MIDPOINT};
	for (uint64_t seed = test_seed(); seed < test_seed() + MODELS; seed++) {
		Case c;
		case_create(&c, seed);
		CalBatch *batch;
		check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.threads = thread_counts[seed % 4]}, &batch));
		for (int m = 0; m < 4; m++) {
			const CalBatchRollout rollout = {.method = methods[m],
			                                 .step = m == 1 ? -1e-3 : 1e-3,
			                                 .steps = STEPS,
			                                 .every = (int)((seed + (uint64_t)m) % 3),
			                                 .projection = seed % 2 == 0 ? 4 : 0};
			compare_rollout(&c, &rollout, (int)(seed / 3 + (uint64_t)m) % 2, batch);
		}
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

/* All steps at once have the bits of one run to the end: rounding of the time included. */
static void a_rollout_is_one_run(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Case c;
		case_create(&c, seed);
		double *q = fixture_doubles(c.f, STATES * c.nq + 1), *u = fixture_doubles(c.f, STATES * c.nu + 1);
		const CalBatchRollout rollout = {.method = CAL_METHOD_RK4, .step = 1e-3, .steps = 50};
		CalBatch *batch;
		CalStatus status[STATES];
		check_ok(seed, cal_batch_create(c.model, NULL, &batch));
		(void)cal_batch_rollout(batch, &c.states, NULL, &rollout, q, u, status);
		for (int i = 0; i < STATES; i++) {
			const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = 1e-3};
			CalState run = case_state(&c, i);
			CalIntegrator *integrator;
			check_ok(seed, cal_integrator_create(c.model, c.work, &options, &integrator));
			check_status(seed, cal_integrator_advance(integrator, &run, run.t + 50 * 1e-3), status[i]);
			check_rows(&c, "q", status[i], (size_t)c.nq, q + i * c.nq, run.q);
			check_rows(&c, "u", status[i], (size_t)c.nu, u + i * c.nu, run.u);
			cal_integrator_destroy(integrator);
		}
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_have_the_bits_of_single_calls),
		cmocka_unit_test(rollouts_have_the_bits_of_single_runs),
		cmocka_unit_test(a_rollout_is_one_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
