// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.c — what a step costs on 1 to 16 ranks, a model of it, and what that predicts for a million bodies on a thousand ranks.
 *
 *   ranks [--quick]
 *
 * Chains of rigid bodies with hinges, open and closed by one loop, Euler–Cromer: one evaluation of the dynamics a step, and a
 * projection where there is a loop. Ranks are processes with a transport in shared memory. Numbers of ranks take turns in
 * several passes; each rank times batches of steps, and the table has the best and the median batch of all passes. Runs whose
 * loops left a doubt sent everything (docs/distributed.md), and are not fitted.
 */
#define _GNU_SOURCE // clock_gettime, MAP_ANONYMOUS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <calder/calder.h>

#include "fit.h"
#include "shared_ranks.h"

enum { PASSES = 5, BATCHES = 12, MOST = PASSES * BATCHES, SIZES = 5, MODELS = 3 };
static const int sizes[SIZES] = {1, 2, 4, 8, 16};
static const int bodies[MODELS] = {256, 1024, 4096};

typedef struct Job {
	const CalDesc *desc;
	int steps; // of a batch
	int batches;
	double *seconds;           // [batches] of a step; shared, written by rank 0
	CalDistributionInfo *info; // likewise
} Job;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- models ------------------------------------------------------------------------------------------------ */

static CalStatus add_link(CalDesc *desc, int i, CalNodeId *tip, CalError *error) {
	char name[32];
	snprintf(name, sizeof name, "b%d", i);
	CalBodyDef body = cal_body_def();
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalNodeDef node = cal_node_def();
	CalBodyId id;
	body.name = hinge.name = name;
	body.mass = 1;
	body.com.x = 0.05;
	body.inertia = (CalMat3){{{1e-3, 0, 0}, {0, 2e-3, 0}, {0, 0, 2e-3}}};
	hinge.axis = i % 2 ? (CalVec3){0, 1, 0} : (CalVec3){0, 0, 1};
	hinge.dof[0].damping = 0.1;
	node.name = "tip";
	node.placement.position.x = 0.1;
	CalStatus status = cal_desc_add_body(desc, &body, &id, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, *tip, &hinge, cal_desc_body_node(desc, id), NULL, error);
	if (status == CAL_OK)
		status = cal_desc_add_node(desc, id, &node, tip, error);
	return status;
}

/* A zigzag in the plane of the hinges about z; those about y are at zero. */
static double start_angle(int i) { return i % 2 ? 0 : i % 4 ? 0.8 : i ? -0.8 : -0.4; }

static CalStatus build_chain(int count, int closed, CalDesc **desc, CalError *error) {
	CalNodeId tip = {0};
	CalStatus status = cal_desc_create(NULL, desc);
	for (int i = 0; i < count && status == CAL_OK; i++)
		status = add_link(*desc, i, &tip, error);
	if (status != CAL_OK || !closed)
		return status;
	double angle = 0, x = 0, y = 0; // of the tip, at the start
	for (int i = 0; i < count; i++) {
		angle += start_angle(i);
		x += 0.1 * cos(angle);
		y += 0.1 * sin(angle);
	}
	CalLoopDef loop = cal_loop_def(CAL_LOOP_DISTANCE);
	loop.name = "tie";
	loop.length = hypot(x, y);
	return cal_desc_close_loop(*desc, (CalNodeId){0}, &loop, tip, NULL, error);
}

/* ---- measuring --------------------------------------------------------------------------------------------- */

static int measure_rank(void *user, const CalTransport *transport) {
	const Job *job = user;
	const double step = 1e-5;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_EULER_CROMER, .step = step}};
	const CalDistribution how = {
		.transport = transport, .forced = 1, .cross_loops = CAL_CROSS_LOOPS_ALWAYS, .inputs_of_time = 1};
	CalSim *sim = NULL;
	CalError error = {0};
	CalStatus status = cal_sim_create(job->desc, &options, &sim, &error);
	for (int i = 0; status == CAL_OK && i < cal_model_q_count(cal_sim_model(sim, 0)); i++)
		cal_sim_state(sim, 0)->q[i] = start_angle(i);
	if (status == CAL_OK)
		status = cal_sim_restart(sim, &error);
	if (status == CAL_OK)
		status = cal_sim_distribute(sim, &how, &error);
	for (int k = 0; k < job->batches && status == CAL_OK; k++) {
		const double start = now();
		status = cal_sim_advance(sim, step * job->steps * (k + 1), &error);
		if (transport->rank == 0)
			job->seconds[k] = (now() - start) / job->steps;
	}
	if (status == CAL_OK && transport->rank == 0)
		cal_sim_distribution(sim, job->info);
	if (status != CAL_OK)
		fprintf(stderr, "ranks: rank %d: %s\n", transport->rank, error.text);
	cal_sim_destroy(sim);
	return status != CAL_OK;
}

typedef struct Shared {
	double seconds[BATCHES];
	CalDistributionInfo info;
} Shared;

typedef struct Row {
	int bodies, ranks, count;
	double seconds[MOST];
	CalDistributionInfo info;
} Row;

static int by_size(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int measure(const CalDesc *desc, int steps, Shared *shared, Row *row) {
	Job job = {desc, steps, BATCHES, shared->seconds, &shared->info};
	if (shared_ranks_run(row->ranks, measure_rank, &job) != 0)
		return 1;
	for (int k = 1; k < BATCHES; k++) // the first one warms up
		row->seconds[row->count++] = shared->seconds[k];
	row->info = shared->info;
	return 0;
}

static void print_row(const Row *row, const Row *one, double model) {
	const double best = row->seconds[0], median = row->seconds[row->count / 2];
	printf("| %d | %d | %.1f | %.1f | %.1f – %.1f | %.2f | %.2f | %.0f %% | %s | ", row->bodies, row->ranks, 1e6 * best,
	       1e6 * median, 1e6 * row->seconds[row->count / 4], 1e6 * row->seconds[3 * row->count / 4],
	       one->seconds[0] / best, one->seconds[one->count / 2] / median, 100 * one->seconds[0] / best / row->ranks,
	       row->info.interface_only ? "interfaces" : "everything");
	if (row->info.interface_only)
		printf("%.1f |\n", 1e6 * model);
	else
		printf("– |\n");
}

/* One table: all sizes of all models, in turns. *several: to runs on enough ranks to tell interfaces apart. */
static int measure_all(int closed, int quick, Shared *shared, RankModel *model, int *several) {
	Sample samples[MODELS * SIZES];
	static Row rows[MODELS][SIZES];
	int count = 0, failed = 0;
	memset(rows, 0, sizeof rows);
	for (int m = 0; m < MODELS && !failed; m++) {
		CalDesc *desc = NULL;
		CalError error = {0};
		failed = build_chain(bodies[m], closed, &desc, &error) != CAL_OK;
		for (int pass = 0; pass < (quick ? 1 : PASSES) && !failed; pass++) {
			for (int s = 0; s < SIZES && !failed; s++) {
				rows[m][s].bodies = bodies[m], rows[m][s].ranks = sizes[s];
				if (sizes[s] <= shared_ranks_processors())
					failed = measure(desc, quick ? 20 : 200000 / bodies[m], shared, &rows[m][s]);
			}
		}
		cal_desc_destroy(desc);
	}
	for (int m = 0; m < MODELS && !failed; m++) {
		for (int s = 0; s < SIZES; s++) {
			qsort(rows[m][s].seconds, (size_t)rows[m][s].count, sizeof(double), by_size);
			const CalDistributionInfo *info = &rows[m][s].info;
			if (!rows[m][s].count || info->busy != sizes[s] || !info->interface_only)
				continue;
			samples[count++] = (Sample){bodies[m], sizes[s], rows[m][s].seconds[0]};
			*several |= sizes[s] > 2;
		}
	}
	if (failed || rank_model_fit(samples, count, model) != 0)
		return 1;
	printf(
		"| bodies | ranks | µs per step, best | median | middle half | speedup, best | median | efficiency | sent | model, µs |\n"
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int m = 0; m < MODELS; m++) {
		for (int s = 0; s < SIZES; s++) {
			if (rows[m][s].count)
				print_row(&rows[m][s], &rows[m][0], rank_model_time(model, bodies[m], sizes[s]));
		}
	}
	return 0;
}

static void print_prediction(const char *what, double ranks, double one, double t) {
	printf("- %s, %.0f ranks: %.3g ms, speedup %.0f, efficiency %.0f %%\n", what, ranks, 1e3 * t, one / t,
	       100 * one / t / ranks);
}

static void print_model(const RankModel *m) {
	const double n = 1e6, R = 1e3, one = m->a * n, best = rank_model_best(m, n);
	printf("\nt(n, R) = %.3g ns n/R + [R > 1] (%.3g ns n/R + %.3g µs + %.3g µs (R - 1)), rms error %.0f %%\n\n",
	       1e9 * m->a, 1e9 * m->c, 1e6 * m->d, 1e6 * m->b, 100 * m->error);
	printf("1e6 bodies, one rank: %.3g ms\n", 1e3 * one);
	print_prediction("chain of ranks", R, one, rank_model_time(m, n, R));
	if (isfinite(best))
		print_prediction("chain of ranks, shortest step", best, one, rank_model_time(m, n, best));
	print_prediction("ranks joined in pairs, 2 log2 R interfaces in a row", R, one,
	                 (m->a + m->c) * n / R + m->d + 2 * m->b * log2(R));
	printf("\n");
}

int main(int argc, char **argv) {
	const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	Shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (int closed = 0; closed < 2; closed++) {
		RankModel model;
		int several = 0;
		printf("%s, %d processors\n\n", closed ? "Chain closed by a loop, projected every step" : "Chain",
		       shared_ranks_processors());
		fflush(stdout);
		if (measure_all(closed, quick, shared, &model, &several) != 0)
			return 1;
		if (several)
			print_model(&model);
		else
			printf("\nNo prediction: that takes runs on four ranks or more that sent interfaces alone.\n\n");
		fflush(stdout);
	}
	return 0;
}
