// SPDX-License-Identifier: Apache-2.0
/*
 * branches.c — table 2 of Huynh et al.: 49 and 128 bodies by branches on several processors.
 *
 * Wall-clock time, since several processors work. A run is looked at in equal parts, and the fastest one counts, so that what
 * else the machine does for a while does not. The point of the system must end where it does in one piece. Numbers of
 * threads that this machine has no processors for are not measured.
 */
#define _GNU_SOURCE // sched_getaffinity

#include <math.h>
#include <sched.h>

#include "papers.h"

enum { PARTS = 100, RUNS = 3 };
static const int threads[RUNS] = {1, 2, 4};
static const double damping_time = 2e-5; // as in updates.c
static const double frequency_bound = 200 * 2 * 3.14159265358979323846;
static const double loop_frequency = 10;

typedef struct Target {
	const char *title, *model, *point;
	double published[RUNS];
	int64_t steps[3]; // of a part, by scale
} Target;

static const Target targets[] = {
	{"49 bodies, three loops", "49", "top", {0.256, 0.231, 0.256}, {1, 20, 200}},
	{"128 bodies, chain", "128chain", "f127/n4", {1.25, 0.665, 0.388}, {1, 20, 200}},
	{"128 bodies, star", "128star", "f127/n4", {NAN, NAN, NAN}, {1, 20, 200}},
};

typedef struct Result {
	double ratio;  // wall time by simulated time
	int branches;  //
	CalVec3 place; // of the point at the end
	double moved;  // from its start
} Result;

/* How far two ways to solve may be apart after a motion: as in updates.c, with more steps. */
static double tolerance(double moved) { return 1e-12 + 1e-8 * moved; }

static int processors(void) {
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static CalStatus follow(PaperRun *run, const Target *target, int64_t steps, Result *result) {
	double fastest = INFINITY;
	CalVec3 start;
	CalStatus status = paper_run_place(run, target->point, &start);
	for (int i = 0; status == CAL_OK && i < PARTS; i++) {
		const double begin = wall_seconds();
		status = paper_run_step(run, steps);
		fastest = fmin(fastest, wall_seconds() - begin);
	}
	if (status == CAL_OK)
		status = paper_run_place(run, target->point, &result->place);
	if (status != CAL_OK)
		return status;
	result->ratio = fastest / ((double)steps * run->paper->step);
	result->moved = distance(start, result->place);
	result->branches = run->branches ? cal_branches_count(run->branches) : 1;
	return CAL_OK;
}

static CalStatus measure(const PaperModel *paper, const Target *target, PaperScale scale, int workers, Result *result,
                         CalError *error) {
	const PaperWay way = {.solver = CAL_SOLVER_RECURSIVE,
	                      .loops = CAL_LOOPS_ELIMINATION,
	                      .projection = -1,
	                      .branches = workers,
	                      .threads = workers};
	PaperRun run = {0};
	CalStatus status = paper_run_open(paper, &way, &run, error);
	if (status == CAL_OK)
		status = follow(&run, target, target->steps[scale], result);
	paper_run_close(&run);
	return status;
}

static void print_line(FILE *out, const Target *target, int k, const Result *result, double one) {
	char text[5][32];
	const double ours = result ? result->ratio : NAN;
	snprintf(text[4], sizeof text[4], result ? result->branches > 1 ? "%d" : "one piece" : "not measured",
	         result ? result->branches : 0);
	fprintf(out, "| %s | %d | %s | %s | %s | %s | %s |\n", target->title, threads[k],
	        paper_number(text[0], sizeof text[0], "%.3g", ours),
	        paper_number(text[1], sizeof text[1], "%.2f", one / ours),
	        paper_number(text[2], sizeof text[2], "%.3g", target->published[k]),
	        paper_number(text[3], sizeof text[3], "%.2f", target->published[0] / target->published[k]), text[4]);
	fflush(out);
}

static int write_target(FILE *out, const PaperJob *job, const Target *target, const PaperModel *paper) {
	Result one = {0};
	for (int k = 0; k < RUNS; k++) {
		Result result = {0};
		CalError error = {0};
		if (threads[k] > processors()) {
			print_line(out, target, k, NULL, one.ratio);
			continue;
		}
		const CalStatus status = measure(paper, target, job->scale, threads[k], &result, &error);
		if (status != CAL_OK)
			return paper_fail(target->title, status, &error);
		one = k == 0 ? result : one;
		if (!(distance(result.place, one.place) <= tolerance(one.moved))) {
			fprintf(stderr, "papers: %s by %d threads is off by %g m\n", target->title, threads[k],
			        distance(result.place, one.place));
			return 1;
		}
		print_line(out, target, k, &result, one.ratio);
	}
	return 0;
}

int write_branches(const PaperJob *job) {
	const PaperOptions options = {damping_time, frequency_bound, loop_frequency};
	FILE *out = paper_file(job, "branches.md");
	int failed = out == NULL;
	if (out)
		fprintf(out, "| system | threads | wall time / simulated time | speedup | paper | paper speedup | branches |\n"
		             "| --- | --- | --- | --- | --- | --- | --- |\n");
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
