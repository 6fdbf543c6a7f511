// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.c — what a step costs on 1 to 16 ranks, a model of it, and what that predicts for a million bodies on a thousand ranks.
 *
 *   ranks [--quick]
 *
 * Chains of rigid bodies with hinges, open and closed by one loop, Euler–Cromer: one evaluation of the dynamics a step, and a
 * projection where there is a loop. Ranks are processes with a transport in shared memory. Numbers of ranks take turns in
 * several passes; each rank times batches of steps, and the table has the best and the median batch of all passes. Runs whose
 * loops left a doubt sent everything (docs/distributed.md), and are not fitted. Tables stand between the marks of the page that
 * they are for (./dev bench-tables).
 */
#define _GNU_SOURCE // clock_gettime, MAP_ANONYMOUS

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <calder/calder.h>

#include "rank_model.h"
#include "shared_ranks.h"

enum { PASSES = 5, BATCHES = 12, MOST = PASSES * BATCHES, MOST_RANKS = 16, SIZES = 5, MODELS = 3 };
static const int sizes[SIZES] = {1, 2, 4, 8, MOST_RANKS};
static const int bodies[2][MODELS] = {{256, 1024, 4096}, {16, 32, 64}}; // open, closed: longer loops leave a doubt

typedef struct Job {
	const CalDesc *desc;
	int steps; // of a batch
	int batches;
	double *seconds;           // [batches] of a step; shared, written by rank 0
	CalDistributionInfo *info; // [ranks] shared
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
	if (status == CAL_OK)
		cal_sim_distribution(sim, &job->info[transport->rank]);
	if (status != CAL_OK)
		fprintf(stderr, "ranks: rank %d: %s\n", transport->rank, error.text);
	cal_sim_destroy(sim);
	return status != CAL_OK;
}

typedef struct Shared {
	double seconds[BATCHES];
	CalDistributionInfo info[MOST_RANKS];
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
	Job job = {desc, steps, BATCHES, shared->seconds, shared->info};
	if (shared_ranks_run(row->ranks, measure_rank, &job) != 0)
		return 1;
	for (int k = 1; k < BATCHES; k++) // the first one warms up
		row->seconds[row->count++] = shared->seconds[k];
	row->info = shared->info[0];
	for (int r = 1; r < row->ranks; r++) {
		row->info.messages += shared->info[r].messages;
		row->info.numbers += shared->info[r].numbers;
	}
	return 0;
}

static void print_row(const Row *row, const Row *one, double model) {
	const double best = row->seconds[0], median = row->seconds[row->count / 2];
	printf("| %d | %d | %.1f | %.1f | %.1f – %.1f | %.2f | %.2f | %.0f %% | %s | ", row->bodies, row->ranks, 1e6 * best,
	       1e6 * median, 1e6 * row->seconds[row->count / 4], 1e6 * row->seconds[3 * row->count / 4],
	       one->seconds[0] / best, one->seconds[one->count / 2] / median, 100 * one->seconds[0] / best / row->ranks,
	       row->info.interface_only ? "interfaces" : "everything");
	if (row->info.interface_only && isfinite(model))
		printf("%.1f |\n", 1e6 * model);
	else
		printf("– |\n");
}

/* ---- the transport ------------------------------------------------------------------------------------------ */

enum { SHORT = 1, LONG = 513, ROUND_TRIPS = 100, TRIES = 400 };

/* The time of a message with so many numbers there and back, by two, on rank 0: the best of several. */
static double time_message(const CalTransport *t, int count) {
	static double x[LONG];
	double best = INFINITY;
	const int other = 1 - t->rank;
	for (int k = 0; k < TRIES; k++) {
		const double start = now();
		for (int i = 0; i < ROUND_TRIPS; i++) {
			if (t->rank == 0)
				t->send(t->user, other, 1, x, count);
			t->receive(t->user, other, 1, x, count);
			if (t->rank == 1)
				t->send(t->user, other, 1, x, count);
		}
		best = fmin(best, (now() - start) / (2 * ROUND_TRIPS));
	}
	return best;
}

static int measure_messages(void *user, const CalTransport *transport) {
	RankNetwork *network = user; // shared
	const double one = time_message(transport, SHORT), many = time_message(transport, LONG);
	if (transport->rank == 0) {
		network->per_number = fmax(0, (many - one) / (LONG - SHORT));
		network->latency = one - SHORT * network->per_number;
	}
	return 0;
}

/* ---- one table ---------------------------------------------------------------------------------------------- */

typedef struct Table {
	Row rows[MODELS][SIZES];
	RankModel model;
	bool fitted;
} Table;

/* All sizes of a model, in turns. */
static int measure_model(int count, int m, int closed, int quick, Shared *shared, Table *table) {
	CalDesc *desc = NULL;
	CalError error = {0};
	int failed = build_chain(count, closed, &desc, &error) != CAL_OK;
	if (failed)
		fprintf(stderr, "ranks: %s\n", error.text);
	for (int pass = 0; pass < (quick ? 1 : PASSES) && !failed; pass++) {
		for (int s = 0; s < SIZES && !failed; s++) {
			Row *row = &table->rows[m][s];
			row->bodies = count, row->ranks = sizes[s];
			if (sizes[s] <= shared_ranks_processors())
				failed = measure(desc, quick ? 20 : 200000 / count, shared, row);
		}
	}
	cal_desc_destroy(desc);
	return failed;
}

/* What runs that sent interfaces alone say. */
static void fit(Table *table, const RankNetwork *transport) {
	RankSample samples[MODELS * SIZES];
	RankNetwork network = *transport;
	int count = 0;
	for (int m = 0; m < MODELS; m++) {
		for (int s = 0; s < SIZES; s++) {
			Row *row = &table->rows[m][s];
			qsort(row->seconds, (size_t)row->count, sizeof(double), by_size);
			const CalDistributionInfo *info = &row->info;
			if (!row->count || info->busy != sizes[s] || !info->interface_only)
				continue;
			samples[count++] = (RankSample){row->bodies, sizes[s], row->seconds[0]};
			if (info->interfaces > 0) { // one evaluation a step
				const double crossings = (double)info->interfaces * (double)info->evaluations;
				network.messages = (double)info->messages / crossings;
				network.numbers = (double)info->numbers / crossings;
			}
		}
	}
	table->fitted = rank_model_fit(samples, count, &network, &table->model) == 0;
}

static void print_rows(const Table *table) {
	printf("%d processors.\n\n", shared_ranks_processors());
	printf("| bodies | ranks | µs per step, best | median | middle half | speedup, best | median | efficiency | sent | "
	       "model, µs |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int m = 0; m < MODELS; m++) {
		for (int s = 0; s < SIZES; s++) {
			const Row *row = &table->rows[m][s];
			if (row->count)
				print_row(row, &table->rows[m][0],
				          table->fitted ? rank_model_time(&table->model, row->bodies, sizes[s], RANKS_IN_A_ROW) : NAN);
		}
	}
}

/* ---- predictions ---------------------------------------------------------------------------------------------- */

static const double cluster_latency = 1.5e-6, cluster_per_number = 8 / 10e9; // given, not measured: 1.5 µs, 10 GB/s

static void print_prediction(const RankModel *m, const char *network, double ranks, RankShape shape) {
	const double n = 1e6, t = rank_model_time(m, n, ranks, shape);
	printf("| %s | %s | %.0f | %.3g | %.0f | %.0f %% |\n", network, shape == RANKS_IN_A_ROW ? "in a row" : "in pairs",
	       ranks, 1e3 * t, m->a * n / t, 100 * rank_model_efficiency(m, n, ranks, shape));
}

static void print_predictions(const RankModel *m) {
	const RankModel cluster = rank_model_on(m, cluster_latency, cluster_per_number), *const models[] = {m, &cluster};
	static const char *const names[] = {"as measured", "1.5 µs, 10 GB/s"};
	printf("| network | ranks joined | ranks | ms per step | speedup | efficiency |\n"
	       "| --- | --- | --- | --- | --- | --- |\n");
	for (int k = 0; k < 2; k++) {
		const double best = rank_model_best(models[k], 1e6);
		print_prediction(models[k], names[k], 1e3, RANKS_IN_A_ROW);
		if (isfinite(best))
			print_prediction(models[k], names[k], best, RANKS_IN_A_ROW);
		print_prediction(models[k], names[k], 1e3, RANKS_IN_PAIRS);
	}
}

static void print_constants(const RankModel *m) {
	printf(
		"a = %.3g ns, c = %.3g ns, d = %.3g µs, b = %.3g µs (%.1f messages of %.2g µs, %.0f numbers of %.2g ns, join "
		"%.3g µs); root mean square error %.0f %%. One rank takes %.3g ms for 1e6 bodies.\n",
		1e9 * m->a, 1e9 * m->c, 1e6 * m->d, 1e6 * rank_model_interface(m), m->network.messages,
		1e6 * m->network.latency, m->network.numbers, 1e9 * m->network.per_number, 1e6 * m->join, 100 * m->error,
		1e3 * m->a * 1e6);
}

/* Between the marks of the page. Closed chains are short: they predict nothing of a million bodies. */
static void print_table(const Table *table, int closed) {
	printf("<!-- table %s -->\n\n", closed ? "ranks-closed" : "ranks");
	print_rows(table);
	printf("\n<!-- end -->\n\n");
	fflush(stdout);
	if (closed)
		return;
	printf("<!-- table ranks-prediction -->\n\n");
	if (table->fitted) {
		print_constants(&table->model);
		if (table->model.composed)
			printf(
				"\nTwo ranks do not distinguish b from d: b is the measured time of its messages and a join of %.1f bodies.\n",
				RANK_JOIN_BODIES);
		printf("\n");
		print_predictions(&table->model);
	} else {
		printf("No prediction: that takes runs on two ranks or more that sent interfaces alone.\n");
	}
	printf("\n<!-- end -->\n\n");
	fflush(stdout);
}

/* In memory that ranks share. */
typedef struct Common {
	Shared shared;
	RankNetwork network;
} Common;

int main(int argc, char **argv) {
	static Table table;
	const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	Common *common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (common == MAP_FAILED || shared_ranks_run(2, measure_messages, &common->network) != 0)
		return 1;
	printf("%d processors; a message takes %.2g µs, a number in it %.2g ns\n\n", shared_ranks_processors(),
	       1e6 * common->network.latency, 1e9 * common->network.per_number);
	for (int closed = 0; closed < 2; closed++) {
		table = (Table){0};
		for (int m = 0; m < MODELS; m++) {
			if (measure_model(bodies[closed][m], m, closed, quick, &common->shared, &table) != 0)
				return 1;
		}
		fit(&table, &common->network);
		print_table(&table, closed);
	}
	return 0;
}
