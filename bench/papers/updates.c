// SPDX-License-Identifier: Apache-2.0
/*
 * updates.c — table 1 of Huynh et al.: system matrices that are updated periodically, for 49 and 128 bodies.
 *
 * Beside the cost this measures what the paper leaves open, the error of the delay: the distance of one point from where the
 * same steps with accelerations that are exact at each of them bring it. These come from the recursion; that an update
 * before every step gives the same is a limit.
 */
#include <math.h>
#include <stdlib.h>

#include "papers.h"
#include "system.h"

enum { SAMPLES = 20, INTERVALS = 6 };
static const int intervals[INTERVALS] = {1, 5, 10, 100, 1000, 2000}; // [steps], of 1 ms
static const double damping_time = 2e-5;                             // of the booms: 1 % of critical at 160 Hz
static const double frequency_bound = 200 * 2 * 3.14159265358979323846;
static const double loop_frequency = 10; // gains of the loops [rad/s]; stronger ones bear less delay
static const double lost = 1e3;          // [m]: further off than this, a run has diverged

typedef struct Target {
	const char *title, *model, *point;
	double load; // factor on the drive
	double published[INTERVALS];
	double published_recursion;
	double time[3];  // simulated, by scale [s]
	double dense[3]; // of which with an update every 1 and 5 ms [s]
} Target;

#define NOT_GIVEN \
	{ NAN, NAN, NAN, NAN, NAN, NAN }
static const Target targets[] = {
	{"49 bodies, three loops",
     "49",
     "top",
     1,
     {1.35, 0.372, 0.250, 0.139, 0.128, NAN},
     0.256,
     {0.02, 10, 20},
     {0.02, 10, 20}},
	{"128 bodies, chain",
     "128chain",
     "f127/n4",
     0.1,
     {NAN, NAN, 26.1, 5.62, 3.56, 3.46},
     1.25,
     {0.02, 4, 20},
     {0.003, 0.2, 20}},
	{"128 bodies, chain, ten times the load",
     "128chain",
     "f127/n4",
     1,
     NOT_GIVEN,
     NAN,
     {0.02, 4, 20},
     {0.003, 0.2, 20}},
	{"128 bodies, star", "128star", "f127/n4", 0.1, NOT_GIVEN, NAN, {0.02, 4, 20}, {0.003, 0.2, 20}},
};

/* How far an update before every step may be off after a motion: round-off of the place, and what the motion makes of it. */
static double tolerance(double moved) { return 1e-12 + 1e-10 * moved; }

/* Where the point should be, at equal times. */
typedef struct Path {
	CalVec3 start, at[SAMPLES];
	double moved; // largest distance from the start
	double cpu;   // of the steps
} Path;

static int64_t steps_to(const Target *target, const PaperRun *run, PaperScale scale, int sample) {
	return llround(target->time[scale] / run->paper->step * sample / SAMPLES);
}

/* The recursion, every step. */
static CalStatus follow(const Target *target, PaperScale scale, PaperRun *run, Path *path) {
	CalStatus status = paper_run_place(run, target->point, &path->start);
	for (int i = 0; status == CAL_OK && i < SAMPLES; i++) {
		const double begin = cpu_seconds();
		status = paper_run_step(run, steps_to(target, run, scale, i + 1) - steps_to(target, run, scale, i));
		path->cpu += cpu_seconds() - begin;
		if (status == CAL_OK)
			status = paper_run_place(run, target->point, &path->at[i]);
		path->moved = larger(path->moved, distance(path->at[i], path->start));
	}
	return status;
}

typedef struct Line {
	double ratio;     // CPU time by simulated time
	double simulated; // [s]
	double error;     // largest distance from the path [m]; NAN: not compared
	int broken;       // the run did not get further
	int exact;        // what the others are compared with
} Line;

/* Matrices from the state every `interval` steps. */
static CalStatus delay(const Target *target, PaperScale scale, int interval, const Path *path, System *system,
                       Line *line) {
	PaperRun *run = system->run;
	const double limit = interval < 10 ? target->dense[scale] : target->time[scale];
	double cpu = 0;
	CalStatus status = CAL_OK;
	paper_set_start(run->paper, run->model, &run->state);
	*line = (Line){.error = NAN};
	for (int i = 0; status == CAL_OK && i < SAMPLES; i++) {
		const int64_t first = steps_to(target, run, scale, i), all = steps_to(target, run, scale, i + 1);
		const int64_t last = all < llround(limit / run->paper->step) ? all : llround(limit / run->paper->step);
		CalVec3 place;
		if (last <= first)
			break;
		const double begin = cpu_seconds();
		status = system_step(system, first, last - first, interval);
		cpu += cpu_seconds() - begin;
		line->simulated = (double)last * run->paper->step;
		if (status == CAL_OK)
			status = paper_run_place(run, target->point, &place);
		if (status != CAL_OK || last < all)
			continue;
		const double error = distance(place, path->at[i]);
		if (!(error < lost))
			status = CAL_NOT_FINITE;
		line->error = isnan(line->error) ? error : larger(line->error, error);
	}
	line->ratio = cpu / line->simulated;
	line->broken = status > 0; // the delay can do that: a result, not a failure
	return line->broken ? CAL_OK : status;
}

static void print_line(FILE *out, const Target *target, const char *update, const Line *line, double moved,
                       double published) {
	char theirs[32], error[32];
	const char *what = line->broken ? "diverges" : paper_number(error, sizeof error, "%.1e", line->error);
	if (line->exact)
		what = "reference";
	fprintf(out, "| %s | %s | %.3g | %s | %g s | %s | %.2g |\n", target->title, update, line->ratio,
	        paper_number(theirs, sizeof theirs, "%.3g", published), line->simulated, what, moved);
}

/* ---- the table ---------------------------------------------------------------------------------- */

enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct Study {
	const PaperJob *job;
	Path paths[TARGETS];
	Line lines[TARGETS][INTERVALS];
} Study;

/* A system of the table, open. */
typedef struct Subject {
	PaperModel paper;
	PaperRun run;
	System system;
} Subject;

static CalStatus open_subject(const Target *target, Subject *s, CalError *error) {
	static const PaperWay way = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = -1};
	const PaperOptions options = {damping_time, frequency_bound, loop_frequency};
	*s = (Subject){0};
	CalStatus status = paper_model(target->model, &options, &s->paper, error);
	paper_scale_drive(&s->paper, target->load);
	if (status == CAL_OK)
		status = paper_run_open(&s->paper, &way, &s->run, error);
	if (status == CAL_OK)
		status = system_open(&s->run, &s->system);
	return status;
}

static void close_subject(Subject *s) {
	system_close(&s->system);
	paper_run_close(&s->run);
	paper_model_free(&s->paper);
}

static int run_path(void *user, int index) {
	Study *study = user;
	const Target *target = &targets[index];
	Subject subject;
	CalError error;
	CalStatus status = open_subject(target, &subject, &error);
	if (status == CAL_OK)
		status = follow(target, study->job->scale, &subject.run, &study->paths[index]);
	close_subject(&subject);
	return status == CAL_OK ? 0 : paper_fail(target->title, status, &error);
}

/* The short intervals of all systems first: they take longest. */
static int run_delay(void *user, int index) {
	Study *study = user;
	const int which = index % TARGETS, k = index / TARGETS;
	const Target *target = &targets[which];
	const Path *path = &study->paths[which];
	Line *line = &study->lines[which][k];
	Subject subject;
	CalError error;
	CalStatus status = open_subject(target, &subject, &error);
	if (status == CAL_OK)
		status = delay(target, study->job->scale, intervals[k], path, &subject.system, line);
	close_subject(&subject);
	if (status != CAL_OK)
		return paper_fail(target->title, status, &error);
	if (intervals[k] != 1 || study->job->scale == PAPER_FULL || line->error <= tolerance(path->moved))
		return 0;
	fprintf(stderr, "papers: %s: an update before every step is off by %g m\n", target->title, line->error);
	return 1;
}

static void print_target(FILE *out, const Study *study, int which) {
	const Target *target = &targets[which];
	const Path *path = &study->paths[which];
	const double duration = target->time[study->job->scale];
	for (int k = 0; k < INTERVALS; k++) {
		char update[32];
		snprintf(update, sizeof update, "%d ms", intervals[k]);
		print_line(out, target, update, &study->lines[which][k], path->moved, target->published[k]);
	}
	const Line line = {.ratio = path->cpu / duration, .simulated = duration, .exact = 1};
	print_line(out, target, "none: order N", &line, path->moved, target->published_recursion);
}

int write_updates(const PaperJob *job) {
	FILE *out = paper_file(job, "updates.md");
	Study study = {.job = job};
	int failed =
		!out || paper_share(job, TARGETS, run_path, &study) || paper_share(job, TARGETS * INTERVALS, run_delay, &study);
	if (out)
		fprintf(out, "| system | update | CPU time / simulated time | paper | simulated | largest position error [m] | "
		             "motion of the point [m] |\n| --- | --- | --- | --- | --- | --- | --- |\n");
	for (int i = 0; !failed && i < TARGETS; i++)
		print_target(out, &study, i);
	if (out)
		failed |= fclose(out) != 0;
	return failed;
}
