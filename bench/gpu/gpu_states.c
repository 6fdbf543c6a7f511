// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_states.c — time of forward dynamics and of steps on a device, both modes, with states in device memory.
 *
 * usage: gpu_states [LOG2_STATES [ROUNDS]]
 *
 * Prints the median of ROUNDS: picoseconds per body and state of forward dynamics, million Euler-Cromer and RK4 steps per second,
 * by the time of the kernels; and what a call takes in all with arrays of the host.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "gpu_models.h"

enum { STEPS = 50, ROUNDS_MOST = 101 };

static double wall(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *x, int n) {
	qsort(x, (size_t)n, sizeof *x, by_size);
	return x[n / 2];
}

/* A column array on the device. */
static double *device_columns(const double *rows, int count, int width) {
	const size_t bytes = sizeof(double) * (size_t)count * (size_t)width;
	double *columns = numbers((size_t)count * (size_t)width), *there = NULL;
	for (size_t i = 0; i < (size_t)count; i++)
		for (size_t k = 0; k < (size_t)width; k++)
			columns[k * (size_t)count + i] = rows[i * (size_t)width + k];
	if (cudaMalloc((void **)&there, bytes) != cudaSuccess ||
	    cudaMemcpy(there, columns, bytes, cudaMemcpyHostToDevice) != cudaSuccess)
		exit(1);
	free(columns);
	return there;
}

static CalBatch *batch_on_device(const CalModel *model, int fast) {
	CalBatch *batch = NULL;
	CalError error = {0};
	if (cal_batch_create(model, NULL, &batch) != CAL_OK ||
	    cal_batch_to_device(batch, &(CalBatchDevice){.fast = fast, .columns = 1}, &error) != CAL_OK) {
		printf("%s\n", error.text);
		exit(1);
	}
	return batch;
}

static void stop_at(CalStatus status, const CalBatch *batch) {
	if (status == CAL_OK)
		return;
	printf("%s: %s\n", cal_status_text(status), cal_batch_device_error(batch));
	exit(1);
}

/* Forward dynamics of all states, and steps of the first `few` of them. */
static void time_model(const char *name, const CalModel *model, const States *s, int few, int fast, int rounds) {
	const int n = s->count, bodies = cal_model_body_count(model);
	CalBatch *batch = batch_on_device(model, fast);
	double *q = device_columns(s->q, n, s->nq), *u = device_columns(s->u, n, s->nu);
	double *tau = device_columns(s->tau, n, s->nu), *udot = device_columns(s->tau, n, s->nu);
	double *q_end = device_columns(s->q, n, s->nq), *host = numbers((size_t)n * (size_t)s->nu);
	double forward[ROUNDS_MOST], cromer[ROUNDS_MOST], rk4[ROUNDS_MOST], whole[ROUNDS_MOST];
	const CalBatchStates all = {.count = n, .q = {q, n, 0}, .u = {u, n, 0}},
						 rows = {.count = n, .q = {s->q, s->nq, 0}, .u = {s->u, s->nu, 0}};
	const CalBatchStates some = {.count = few, .q = {q, n, 0}, .u = {u, n, 0}};
	const CalBatchInput input = {.tau = {tau, n, 0}}, host_input = {.tau = {s->tau, s->nu, 0}};
	const CalBatchRollout steps = {.method = CAL_METHOD_EULER_CROMER, .step = 1e-4, .steps = STEPS};
	const CalBatchRollout kutta = {.method = CAL_METHOD_RK4, .step = 1e-4, .steps = STEPS / 5};
	const int has_rk4 = s->nq == s->nu;
	for (int k = -1; k < rounds; k++) { // the first warms up
		const int at = k < 0 ? 0 : k;
		stop_at(cal_batch_forward(batch, &all, &input, udot, NULL), batch);
		forward[at] = cal_batch_device_seconds(batch);
		stop_at(cal_batch_rollout(batch, &some, &input, &steps, q_end, udot, NULL), batch);
		cromer[at] = cal_batch_device_seconds(batch);
		rk4[at] = 0;
		if (has_rk4)
			stop_at(cal_batch_rollout(batch, &some, &input, &kutta, q_end, udot, NULL), batch);
		rk4[at] = cal_batch_device_seconds(batch);
		const double begin = wall();
		if (k < 3)
			stop_at(cal_batch_forward(batch, &rows, &host_input, host, NULL), batch);
		whole[k < 0 ? 0 : k < 3 ? k : 2] = k < 3 ? wall() - begin : whole[2];
	}
	printf("%-9s %-5s %7d %9.1f %9d %9.1f", name, fast ? "fast" : "exact", n,
	       1e12 * median(forward, rounds) / ((double)n * bodies), few,
	       1e-6 * few * (double)STEPS / median(cromer, rounds));
	printf(has_rk4 ? " %8.1f" : "        -", 1e-6 * few * (double)(STEPS / 5) / median(rk4, rounds));
	printf(" %9.0f\n", 1e12 * median(whole, rounds < 3 ? rounds : 3) / ((double)n * bodies));
	fflush(stdout);
	cudaFree(q), cudaFree(u), cudaFree(tau), cudaFree(udot), cudaFree(q_end), free(host);
	cal_batch_destroy(batch);
}

int main(int argc, char **argv) {
	const int states = 1 << (argc > 1 ? atoi(argv[1]) : 18), rounds = argc > 2 ? atoi(argv[2]) : 21;
	struct {
		const char *name;
		CalModel *model;
	} cases[] = {{"chain32", make_chain(32)}, {"humanoid", make_humanoid()}, {"chain7", make_chain(7)}};
	if (rounds < 1 || rounds > ROUNDS_MOST)
		return 1;
	printf("%-9s %-5s %7s %9s %9s %9s %8s %9s\n", "model", "mode", "states", "ps/body", "systems", "M steps/s",
	       "M rk4/s", "ps host");
	for (int k = 0; k < 3; k++) {
		States s = make_states(cases[k].model, states, 1);
		for (int fast = 0; fast < 2; fast++) {
			time_model(cases[k].name, cases[k].model, &s, 1 << 16, fast, rounds);
			if (k == 1)
				time_model(cases[k].name, cases[k].model, &s, 1 << 12, fast, rounds);
		}
		free_states(&s);
		cal_model_destroy(cases[k].model);
	}
	return 0;
}
