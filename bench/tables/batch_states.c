// SPDX-License-Identifier: Apache-2.0
/*
 * batch_states.c — many states of a chain of 32 bodies: a loop over the single call against calder/batch.h with 1, 2, 4, ... threads.
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

enum { BODIES = 32, THREADS_MOST = 64, WAYS_MOST = 8, STEPS = 10 };

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

static CalStatus run_batch(Bench *b, CalBatch *batch, int rollout) {
	const CalBatchStates states = {.count = b->count, .q = {b->q, BODIES, 0}, .u = {b->u, BODIES, 0}};
	const CalBatchInput input = {.tau = {b->tau, BODIES, 0}};
	const CalBatchRollout steps = {.method = CAL_METHOD_RK4, .step = 1e-3, .steps = STEPS};
	return rollout ? cal_batch_rollout(batch, &states, &input, &steps, b->q_end, b->u_end, NULL)
	               : cal_batch_forward(batch, &states, &input, b->udot, NULL);
}

static int same_bits(const Bench *b, int rollout) {
	const size_t size = (size_t)b->count * BODIES * sizeof(double);
	return memcmp(rollout ? b->q_end : b->udot, rollout ? b->want_end : b->want, size) == 0;
}

/* One round of a way, 0 being the loop; the least seconds by either clock are kept. 0: bits differ, or a call failed. */
static int run_way(Bench *b, CalBatch *batch, int rollout, double *best) {
	const double begin[CLOCKS] = {seconds(CPU), seconds(WALL)};
	int good = 1;
	if (batch)
		good = run_batch(b, batch, rollout) == CAL_OK;
	else if (rollout)
		loop_rollout(b);
	else
		loop_forward(b);
	for (int clock = 0; clock < CLOCKS; clock++)
		best[clock] = fmin(best[clock], seconds(clock) - begin[clock]);
	return good && (!batch || same_bits(b, rollout));
}

static void print_way(const char *name, int threads, const double *best, const double *loop, double per_body) {
	const int clock = threads > 1 ? WALL : CPU;
	printf("%-9s batch, %2d threads %8.2f ns per body and evaluation, %.3f of the loop (%s time)\n", name, threads,
	       best[clock] * per_body, best[clock] / loop[clock], clock == CPU ? "CPU" : "wall-clock");
}

/* Prints a line for each way; 0 if bits differ or a call fails. */
static int compare(Bench *b, int rollout, int rounds) {
	CalBatch *batches[WAYS_MOST + 1] = {NULL}; // [0]: the loop
	double best[WAYS_MOST + 1][CLOCKS];
	int ways = 1, good = 1;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	for (int threads = 1; threads <= processors && threads <= THREADS_MOST && ways <= WAYS_MOST; threads *= 2, ways++)
		if (cal_batch_create(b->model, &(CalBatchOptions){.threads = threads}, &batches[ways]) != CAL_OK)
			exit(1);
	for (int way = 0; way < ways; way++)
		best[way][CPU] = best[way][WALL] = INFINITY;
	for (int round = 0; round < rounds; round++)
		for (int way = 0; way < ways; way++)
			good &= run_way(b, batches[way], rollout, best[way]);
	const double per_body = 1e9 / ((double)b->count * BODIES * (rollout ? 4 * STEPS : 1));
	const char *name = rollout ? "rollout" : "forward";
	printf("%-9s loop              %8.2f ns per body and evaluation (CPU time)\n", name, best[0][CPU] * per_body);
	for (int way = 1; way < ways; way++) {
		print_way(name, cal_batch_threads(batches[way]), best[way], best[0], per_body);
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
	int good = compare(&b, 0, rounds);
	b.count = count / STEPS > 0 ? count / STEPS : 1;
	good &= compare(&b, 1, rounds);
	if (!good)
		printf("a state failed, or has other bits than the loop\n");
	cal_work_destroy(b.work);
	free(b.q), free(b.u), free(b.tau), free(b.udot), free(b.q_end), free(b.u_end), free(b.want), free(b.want_end);
	cal_model_destroy(model);
	cal_desc_destroy(desc);
	return !good;
}
