// SPDX-License-Identifier: Apache-2.0
/*
 * loop.c — what bench/python/overhead.py compares with: forward dynamics of many states in a plain loop in C.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include <stdlib.h>
#include <time.h>

#include <calder/calder.h>

typedef struct Loop {
	CalSetup *setup;
	CalModel *model;
	CalWork *work;
} Loop;

/* NULL: the text is no model. Lives as long as the process. */
Loop *loop_open(const char *text, size_t length) {
	Loop *loop = calloc(1, sizeof *loop);
	if (!loop || cal_model_parse(text, length, "chain", NULL, NULL, &loop->setup, NULL) != CAL_OK ||
	    cal_model_compile(cal_setup_desc(loop->setup), NULL, &loop->model, NULL) != CAL_OK ||
	    cal_work_create(loop->model, &loop->work) != CAL_OK)
		return NULL;
	return loop;
}

static double cpu_seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds for rows [count][stride]; with a stride of 0 all states are the same. Negative: a state failed. */
double loop_forward(const Loop *loop, int count, int stride, double *q, double *u, const double *tau, double *udot) {
	int failed = 0;
	const double begin = cpu_seconds();
	for (int i = 0; i < count; i++) {
		const CalState state = {.q = q + i * stride, .u = u + i * stride};
		const CalInput input = {.tau = tau + i * stride};
		failed |= cal_forward_dynamics(loop->model, &state, &input, loop->work, udot + i * stride) != CAL_OK;
	}
	return failed ? -1 : cpu_seconds() - begin;
}
