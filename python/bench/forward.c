// SPDX-License-Identifier: Apache-2.0
/* forward.c — time of one forward dynamics in C, for overhead.py. usage: forward MODEL CALLS; prints the best of 60 runs in s of CPU time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <calder/calder.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
	CalSetup *setup;
	CalModel *model;
	CalState state;
	CalWork *work;
	if (argc != 3 || cal_model_read(argv[1], NULL, NULL, &setup, NULL) != CAL_OK ||
	    cal_model_compile(cal_setup_desc(setup), NULL, &model, NULL) != CAL_OK ||
	    cal_state_create(model, &state) != CAL_OK || cal_work_create(model, &work) != CAL_OK)
		return 2;
	const int calls = atoi(argv[2]);
	double *tau = calloc(2 * (size_t)cal_model_u_count(model) + 1, sizeof *tau), best = 1e9;
	double *udot = tau + cal_model_u_count(model);
	const CalInput input = {.tau = tau};
	for (int run = 0; run < 60; run++) {
		const double start = now();
		for (int i = 0; i < calls; i++)
			cal_forward_dynamics(model, &state, &input, work, udot);
		const double taken = (now() - start) / calls;
		best = taken < best ? taken : best;
	}
	printf("%.9g\n", best);
	return 0;
}
