// SPDX-License-Identifier: Apache-2.0
/*
 * branches.c — table 2 of Huynh et al.: 49 and 128 bodies by branches on several processors.
 *
 * Wall-clock time, since several processors work. All ways to run a system take turns, round by round, so that what else the
 * machine does for a while hits all of them; the table has the best and the median round and the middle half of all. The
 * point of the system must end where it does in one piece. Numbers of threads that this machine has no processors for are
 * not measured. Loops of the 49 bodies are cut in rows of their own: by default Calder does not, where it is not faster.
 */
#define _GNU_SOURCE // sched_getaffinity

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "papers.h"

enum { ROUNDS = 100, RUNS = 3, WAYS = 5 };
static const int threads[RUNS] = {1, 2, 4};
static const double damping_time = 2e-5; // as in updates.c
static const double frequency_bound = 200 * 2 * 3.14159265358979323846;
static const double loop_frequency = 10;

typedef struct Target {
	const char *title, *model, *point;
	double published[RUNS];
	bool loops;       // it is also run with its loops cut
	int64_t steps[3]; // of a round, by scale
} Target;

static const Target targets[] = {
	{"49 bodies, three loops", "49", "top", {0.256, 0.231, 0.256}, true, {1, 20, 200}},
	{"128 bodies, chain", "128chain", "f127/n4", {1.25, 0.665, 0.388}, false, {1, 20, 200}},
	{"128 bodies, star", "128star", "f127/n4", {NAN, NAN, NAN}, false, {1, 20, 200}},
};

/* One way to run a system. */
typedef struct Way {
	int run; // of RUNS
	bool cut_loops;
	bool measured;
	PaperRun at;
	CalVec3 start, end;   // of the point
	double ratio[ROUNDS]; // wall time by simulated time
	int branches;
} Way;

/* How far two ways to solve may be apart after a motion: as in updates.c, with more steps. */
static double tolerance(double moved) { return 1e-12 + 1e-8 * moved; }

static int processors(void) {
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static CalStatus open_way(const PaperModel *paper, const Target *target, Way *way, CalError *error) {
	const int workers = threads[way->run];
	const PaperWay how = {.solver = CAL_SOLVER_RECURSIVE,
	                      .loops = CAL_LOOPS_ELIMINATION,
	                      .projection = -1,
	                      .branches = workers,
	                      .threads = workers,
	                      .cut_loops = way->cut_loops};
	CalStatus status = paper_run_open(paper, &how, &way->at, error);
	if (status == CAL_OK)
		status = paper_run_place(&way->at, target->point, &way->start);
	way->branches = way->at.branches ? cal_branches_count(way->at.branches) : 1;
	return status;
}

static CalStatus measure_round(int64_t steps, int round, Way *ways, int count) {
	CalStatus status = CAL_OK;
	for (int k = 0; k < count && status == CAL_OK; k++) {
		Way *way = &ways[(k + round) % count];
		if (!way->measured)
			continue;
		const double begin = wall_seconds();
		status = paper_run_step(&way->at, steps);
		way->ratio[round] = (wall_seconds() - begin) / ((double)steps * way->at.paper->step);
	}
	return status;
}

static int by_size(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_line(FILE *out, const Target *target, const Way *way, const Way *one) {
	char text[6][40], branches[16], spread[40] = "–";
	const double *r = way->ratio, *first = one->ratio;
	const double median = way->measured ? r[ROUNDS / 2] : NAN, best = way->measured ? r[0] : NAN;
	snprintf(branches, sizeof branches,
	         !way->measured      ? "not measured"
	         : way->branches > 1 ? "%d"
	                             : "one piece",
	         way->branches);
	if (way->measured)
		snprintf(spread, sizeof spread, "%.3g – %.3g", r[ROUNDS / 4], r[3 * ROUNDS / 4]);
	fprintf(out, "| %s%s | %d | %s | %s | %s | %s | %s | %s | %s | %s |\n", target->title,
	        way->cut_loops ? ", loops cut" : "", threads[way->run], branches,
	        paper_number(text[0], sizeof text[0], "%.3g", best), paper_number(text[1], sizeof text[1], "%.3g", median),
	        spread, paper_number(text[2], sizeof text[2], "%.2f", first[0] / best),
	        paper_number(text[3], sizeof text[3], "%.2f", first[ROUNDS / 2] / median),
	        paper_number(text[4], sizeof text[4], "%.3g", target->published[way->run]),
	        paper_number(text[5], sizeof text[5], "%.2f", target->published[0] / target->published[way->run]));
	fflush(out);
}

/* The point of the system is where it is in one piece. */
static int check_end(const Target *target, Way *way, const Way *one) {
	if (!way->measured)
		return 0;
	const CalStatus status = paper_run_place(&way->at, target->point, &way->end);
	const double off = distance(way->end, one->end);
	if (status == CAL_OK && off <= tolerance(distance(one->start, one->end)))
		return 0;
	fprintf(stderr, "papers: %s by %d threads is off by %g m\n", target->title, threads[way->run], off);
	return 1;
}

static int measure_target(FILE *out, const PaperJob *job, const Target *target, const PaperModel *paper, Way *ways) {
	const int count = target->loops ? WAYS : RUNS;
	CalError error = {0};
	CalStatus status = CAL_OK;
	for (int k = 0; k < count && status == CAL_OK; k++) {
		ways[k] = (Way){.run = k < RUNS ? k : k - RUNS + 1, .cut_loops = k >= RUNS};
		ways[k].measured = threads[ways[k].run] <= processors();
		if (ways[k].measured)
			status = open_way(paper, target, &ways[k], &error);
	}
	for (int round = 0; round < ROUNDS && status == CAL_OK; round++)
		status = measure_round(target->steps[job->scale], round, ways, count);
	int failed = status != CAL_OK ? paper_fail(target->title, status, &error) : 0;
	for (int k = 0; k < count && !failed; k++) {
		failed = check_end(target, &ways[k], &ways[0]);
		qsort(ways[k].ratio, ROUNDS, sizeof *ways[k].ratio, by_size);
		if (!failed)
			print_line(out, target, &ways[k], &ways[0]);
	}
	for (int k = 0; k < count; k++)
		paper_run_close(&ways[k].at);
	return failed;
}

static int write_target(FILE *out, const PaperJob *job, const Target *target, const PaperModel *paper) {
	Way *ways = calloc(WAYS, sizeof *ways);
	const int failed =
		ways ? measure_target(out, job, target, paper, ways) : paper_fail(target->title, CAL_ERR_MEMORY, NULL);
	free(ways);
	return failed;
}

int write_branches(const PaperJob *job) {
	const PaperOptions options = {damping_time, frequency_bound, loop_frequency};
	FILE *out = paper_file(job, "branches.md");
	int failed = out == NULL;
	if (out)
		fprintf(
			out,
			"| system | threads | branches | wall time / simulated time, best | median | middle half | speedup, best | "
			"median | paper | paper speedup |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int i = 0; !failed && i < (int)(sizeof targets / sizeof *targets); i++) {
		PaperModel paper;
		CalError error;
		const CalStatus status = paper_model(targets[i].model, &options, &paper, &error);
		failed = status != CAL_OK ? paper_fail(targets[i].title, status, &error)
		                          : write_target(out, job, &targets[i], &paper);
		paper_model_free(&paper);
	}
	if (out)
		fclose(out);
	return failed;
}
