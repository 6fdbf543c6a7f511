// SPDX-License-Identifier: Apache-2.0
/*
 * batch_states.c — many states of a chain of 32 bodies: a loop over the single call against calder/batch.h, one by one and side by
 * side in registers, with 1, 2, 4, ... threads.
 *
 * usage: batch_states [STATES [ROUNDS]]
 *
 * The ways take turns in every round; the best round of each counts: CPU time of one thread, wall-clock time of several. All
 * of them must give the same bits.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime, sysconf
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <calder/calder.h>

enum { BODIES = 32, THREADS_MOST = 64, WAYS_MOST = 12, STEPS = 10 };

typedef enum Algorithm { FORWARD, INVERSE, ROLLOUT } Algorithm;
static const char *const names[] = {"forward", "inverse", "rollout"};

/* One thread: its CPU time, which other work on the machine changes little; several: the time that passes. */
enum { CPU, WALL, CLOCKS };

static double seconds(int clock) {
	struct timespec t;
	clock_gettime(clock == CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Revolute joints about x, y and z in turn; bodies with generic centers of mass and inertias. */
static CalStatus describe_chain(CalDesc *desc, CalError *error) {
	static const CalVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	CalNodeId tip = {0};
	CalStatus status = cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	for (int i = 0; i < BODIES && status == CAL_OK; i++) {
		char body_name[16], joint_name[16];
		CalBodyDef body = cal_body_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		CalBodyId id;
		snprintf(body_name, sizeof body_name, "b%d", i);
		snprintf(joint_name, sizeof joint_name, "j%d", i);
		body.name = body_name, body.mass = 1 + 0.01 * i, body.com = (CalVec3){0.05, -0.03, 0.1 + 0.001 * i};
		body.inertia = (CalMat3){{{0.05, 0.004, -0.003}, {0.004, 0.06, 0.005}, {-0.003, 0.005, 0.04}}};
		joint.name = joint_name, joint.axis = axes[i % 3];
		joint.inboard.position = (CalVec3){0.01 * (i > 0), 0.02 * (i > 0), 0.2 * (i > 0)};
		status = cal_desc_add_body(desc, &body, &id, error);
		if (status == CAL_OK)
			status = cal_desc_attach(desc, tip, &joint, cal_desc_body_node(desc, id), NULL, error);
		tip = cal_desc_body_node(desc, id);
	}
	return status;
}

typedef struct Bench {
	const CalModel *model;
	CalWork *work;
	int count;
	double *q, *u, *tau, *udot, *q_end, *u_end; // [count][BODIES]
	double *want, *want_end;                    // of the loop
} Bench;

static double *numbers(int count) {
	double *x = calloc((size_t)count * BODIES, sizeof *x);
	if (!x)
		exit(1);
	return x;
}

static Bench bench_of(const CalModel *model, int count) {
	Bench b = {.model = model, .count = count};
	double **lists[] = {&b.q, &b.u, &b.tau, &b.udot, &b.q_end, &b.u_end, &b.want, &b.want_end};
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		*lists[k] = numbers(count);
	for (int i = 0; i < count * BODIES; i++)
		b.q[i] = sin(1.1 * i), b.u[i] = cos(1.7 * i), b.tau[i] = sin(2.3 * i);
	if (cal_work_create(model, &b.work) != CAL_OK)
		exit(1);
	return b;
}

/* ---- the loop in C ------------------------------------------------------------------------------ */

static void loop_forward(Bench *b) {
	for (int i = 0; i < b->count; i++) {
		const CalState state = {.q = b->q + i * BODIES, .u = b->u + i * BODIES};
		const CalInput input = {.tau = b->tau + i * BODIES};
		cal_forward_dynamics(b->model, &state, &input, b->work, b->want + i * BODIES);
	}
}

static void loop_inverse(Bench *b) {
	for (int i = 0; i < b->count; i++) {
		const CalState state = {.q = b->q + i * BODIES, .u = b->u + i * BODIES};
		cal_inverse_dynamics(b->model, &state, b->tau + i * BODIES, NULL, b->work, b->want + i * BODIES);
	}
}

static int give_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	input->tau = user;
	return 0;
}

static void loop_rollout(Bench *b) {
	for (int i = 0; i < b->count; i++) {
		CalState state = {.q = b->want_end + i * BODIES, .u = b->u_end + i * BODIES};
		const CalIntegratorOptions options = {
			.method = CAL_METHOD_RK4, .step = 1e-3, .input = give_input, .user = b->tau + i * BODIES};
		CalIntegrator *integrator;
		memcpy(state.q, b->q + i * BODIES, BODIES * sizeof(double));
		memcpy(state.u, b->u + i * BODIES, BODIES * sizeof(double));
		if (cal_integrator_create(b->model, b->work, &options, &integrator) != CAL_OK)
			exit(1);
		cal_integrator_advance(integrator, &state, STEPS * 1e-3);
		cal_integrator_destroy(integrator);
	}
}

/* ---- the batch -------------------------------------------------------------------------------------- */

static CalStatus run_batch(Bench *b, CalBatch *batch, Algorithm algorithm) {
	const CalBatchStates states = {.count = b->count, .q = {b->q, BODIES, 0}, .u = {b->u, BODIES, 0}};
	const CalBatchInput input = {.tau = {b->tau, BODIES, 0}};
	const CalBatchRollout steps = {.method = CAL_METHOD_RK4, .step = 1e-3, .steps = STEPS};
	if (algorithm == ROLLOUT)
		return cal_batch_rollout(batch, &states, &input, &steps, b->q_end, b->u_end, NULL);
	return algorithm == FORWARD ? cal_batch_forward(batch, &states, &input, b->udot, NULL)
	                            : cal_batch_inverse(batch, &states, &input.tau, NULL, b->udot, NULL);
}

static void run_loop(Bench *b, Algorithm algorithm) {
	if (algorithm == ROLLOUT)
		loop_rollout(b);
	else if (algorithm == FORWARD)
		loop_forward(b);
	else
		loop_inverse(b);
}

static int same_bits(const Bench *b, Algorithm algorithm) {
	const size_t size = (size_t)b->count * BODIES * sizeof(double);
	return algorithm == ROLLOUT ? memcmp(b->q_end, b->want_end, size) == 0 : memcmp(b->udot, b->want, size) == 0;
}

/* One round of a way, without a batch the loop; the least seconds by either clock are kept. 0: bits differ, or a call failed. */
static int run_way(Bench *b, CalBatch *batch, Algorithm algorithm, double *best) {
	const double begin[CLOCKS] = {seconds(CPU), seconds(WALL)};
	int good = 1;
	if (batch)
		good = run_batch(b, batch, algorithm) == CAL_OK;
	else
		run_loop(b, algorithm);
	for (int clock = 0; clock < CLOCKS; clock++)
		best[clock] = fmin(best[clock], seconds(clock) - begin[clock]);
	return good && (!batch || same_bits(b, algorithm));
}

static void print_way(const char *name, const CalBatch *batch, const double *best, const double *loop,
                      double per_body) {
	const int threads = cal_batch_threads(batch), clock = threads > 1 ? WALL : CPU;
	printf("%-9s batch, %d lanes, %2d threads %8.2f ns per body and evaluation, %.3f of the loop (%s time)\n", name,
	       cal_batch_lanes(batch), threads, best[clock] * per_body, best[clock] / loop[clock],
	       clock == CPU ? "CPU" : "wall-clock");
}

/* batches[0] is the loop, without one: then lanes that the processor has, then threads. Returns their number. */
static int make_ways(const CalModel *model, CalBatch **batches) {
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int ways = 1;
	for (int lanes = 1; lanes <= 8; lanes *= 2) {
		if (cal_batch_create(model, &(CalBatchOptions){.lanes = lanes}, &batches[ways]) != CAL_OK)
			exit(1);
		if (cal_batch_lanes(batches[ways]) == lanes)
			ways++;
		else
			cal_batch_destroy(batches[ways]);
	}
	for (int threads = 2; threads <= processors && threads <= THREADS_MOST && ways <= WAYS_MOST; threads *= 2, ways++)
		if (cal_batch_create(model, &(CalBatchOptions){.threads = threads}, &batches[ways]) != CAL_OK)
			exit(1);
	return ways;
}

/* Prints a line for each way; 0 if bits differ or a call fails. */
static int compare(Bench *b, Algorithm algorithm, int rounds) {
	CalBatch *batches[WAYS_MOST + 1] = {NULL};
	double best[WAYS_MOST + 1][CLOCKS];
	const int ways = make_ways(b->model, batches);
	int good = 1;
	for (int way = 0; way < ways; way++)
		best[way][CPU] = best[way][WALL] = INFINITY;
	for (int round = 0; round < rounds; round++)
		for (int way = 0; way < ways; way++)
			good &= run_way(b, way ? batches[way] : NULL, algorithm, best[way]);
	const double per_body = 1e9 / ((double)b->count * BODIES * (algorithm == ROLLOUT ? 4 * STEPS : 1));
	printf("%-9s loop                       %8.2f ns per body and evaluation (CPU time)\n", names[algorithm],
	       best[0][CPU] * per_body);
	for (int way = 1; way < ways; way++) {
		print_way(names[algorithm], batches[way], best[way], best[0], per_body);
		cal_batch_destroy(batches[way]);
	}
	return good;
}

int main(int argc, char **argv) {
	const int count = argc > 1 ? atoi(argv[1]) : 10000, rounds = argc > 2 ? atoi(argv[2]) : 40;
	CalDesc *desc = NULL;
	CalModel *model = NULL;
	CalError error = {.text = "out of memory"};
	if (count < 1 || rounds < 1)
		return fprintf(stderr, "usage: batch_states [STATES [ROUNDS]]\n"), 2;
	if (cal_desc_create(NULL, &desc) != CAL_OK || describe_chain(desc, &error) != CAL_OK ||
	    cal_model_compile(desc, NULL, &model, &error) != CAL_OK)
		return fprintf(stderr, "%s\n", error.text), 1;
	Bench b = bench_of(model, count);
	printf("%d states of a chain of %d bodies; best of %d rounds\n", count, BODIES, rounds);
	int good = compare(&b, FORWARD, rounds);
	good &= compare(&b, INVERSE, rounds);
	b.count = count / STEPS > 0 ? count / STEPS : 1;
	good &= compare(&b, ROLLOUT, rounds);
	if (!good)
		printf("a state failed, or has other bits than the loop\n");
	cal_work_destroy(b.work);
	free(b.q), free(b.u), free(b.tau), free(b.udot), free(b.q_end), free(b.u_end), free(b.want), free(b.want_end);
	cal_model_destroy(model);
	cal_desc_destroy(desc);
	return !good;
}
