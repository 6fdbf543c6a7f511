// SPDX-License-Identifier: Apache-2.0
/*
 * cases.c — table 2 and figures 2 and 3 of Ghosh and Quiocho: 16 cases by order N and by a dense mass matrix.
 *
 * Order N is the recursion of the library, loops eliminated where they close; dense is system.c with an update in every step.
 * Both stabilise loops by the same gains, as the paper does. "Projected" is the recursion with the library's default
 * instead: no gains, a projection after every step. How far the two ways part is measured beside how far the recursion
 * parts from itself when one joint starts 1e-15 rad off: what the motion amplifies, no way of solving can keep.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "papers.h"
#include "system.h"

enum { CASES = 16, SAMPLES = 1000, STOPS = 3 };

static const PaperWay recursion = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = -1};
static const PaperWay projection = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = 1};
static const PaperOptions options = {.damping = 2e-3, .stabilisation = 100};
static const double whole = 100; // simulated in the paper [s]
/* Factor on the drive of models.c by scale: gentle where the run is long, so that the motion does not amplify round-off; not
 * where it is short, so that there is a motion to compare. */
static const double load[] = {1, 0.005, 0.005};
static const double same =
	1e-10; // of the paper: places of the two ways at all stops [m]; in short, also velocities, relative
static const double nudge = 1e-15;
static const double stops[3][STOPS] = {
	{0.02, NAN, NAN}, {2, 20, 100}, {2, 20, 100}}; // times of comparison by scale [s]

/* CPU seconds of the paper; its rows 1 to 4 and 9 are missing in the copy that we have. */
static const struct {
	double order_n, dense;
} published[CASES] = {
	{NAN, NAN},     {NAN, NAN},      {NAN, NAN},       {NAN, NAN},       {166.8, 174.0}, {277.9, 423.6},
	{275.9, 478.0}, {408.6, 1127.9}, {NAN, NAN},       {48.0, 18.4},     {59.4, 22.7},   {133.8, 57.4},
	{613.4, 567.6}, {937.2, 1402.0}, {1037.9, 1551.2}, {2257.3, 4063.9},
};

/* What the figures show of a case. */
typedef struct Track {
	int count;
	double t[SAMPLES];
	CalVec3 top, object;     // at the start
	double line[7][SAMPLES]; // displacements of top plate and object, acceleration of the pitch joint
} Track;

/* Place and velocity of every body. */
typedef struct Snapshot {
	int count;
	CalVec3 *place, *velocity;
} Snapshot;

/* At the stops that a run reaches. */
typedef struct Shots {
	int count;
	Snapshot at[STOPS];
} Shots;

typedef struct Case {
	int number;
	const double *stops;
	int bodies, speeds, modes, rows;
	double total;                       // simulated by order N [s]
	double stretch;                     // simulated by the other ways [s]
	double order_n, projected, dense;   // CPU seconds for the whole
	double residual;                    // of loops, order N, largest seen
	double places[STOPS], moved[STOPS]; // how far dense and a moved start are off at the stops [m]; NAN: not run
	double velocities;                  // the same of dense at the last stop reached, relative
	Track *track[2];                    // of order N and of dense; NULL: not wanted
} Case;

/* ---- samples ------------------------------------------------------------------------------------ */

static void snapshot_free(Snapshot *s) { free(s->place), free(s->velocity); }

static CalStatus take(PaperRun *run, Snapshot *s) {
	const size_t n = (size_t)cal_model_body_count(run->model);
	*s = (Snapshot){(int)n, calloc(n, sizeof *s->place), calloc(n, sizeof *s->velocity)};
	if (!s->place || !s->velocity)
		return CAL_ERR_MEMORY;
	CalStatus status = cal_kinematics(run->model, &run->state, NULL, run->work);
	for (int i = 0; status == CAL_OK && i < s->count; i++) {
		CalBodyInfo info;
		CalPose pose;
		CalSpatial v;
		cal_model_body(run->model, i, &info);
		cal_node_pose(run->model, run->work, info.node, &pose);
		status = cal_node_velocity(run->model, run->work, info.node, &v);
		s->place[i] = pose.r;
		s->velocity[i] = v.linear;
	}
	return status;
}

static void shots_free(Shots *shots) {
	for (int i = 0; i < shots->count; i++)
		snapshot_free(&shots->at[i]);
}

static CalStatus shoot(PaperRun *run, Shots *shots) { return take(run, &shots->at[shots->count++]); }

/* Stops within the stretch. */
static int stop_count(const Case *c) {
	int count = 0;
	while (count < STOPS && c->stops[count] <= c->stretch * (1 + 1e-9))
		count++;
	return count;
}

static double places_apart(const Snapshot *a, const Snapshot *b) {
	double worst = 0;
	for (int i = 0; i < a->count; i++)
		worst = larger(worst, distance(a->place[i], b->place[i]));
	return worst;
}

static double velocities_apart(const Snapshot *a, const Snapshot *b) {
	double worst = 0, largest = 0;
	for (int i = 0; i < a->count; i++) {
		worst = larger(worst, distance(a->velocity[i], b->velocity[i]));
		largest = larger(largest, distance(a->velocity[i], (CalVec3){0, 0, 0}));
	}
	return worst / largest;
}

/* Where things are, for the figures. */
static CalStatus track(PaperRun *run, Track *k) {
	CalVec3 top, object;
	CalBodyInfo pitch;
	CalStatus status = paper_run_place(run, "top", &top);
	if (status == CAL_OK)
		status = paper_run_place(run, "object", &object);
	if (status == CAL_OK)
		status = cal_model_body(run->model, cal_model_find_joint(run->model, "leg2_3a"), &pitch);
	if (status == CAL_OK)
		status = cal_forward_dynamics(run->model, &run->state, paper_drive(run, run->state.t), run->work, run->udot);
	if (status != CAL_OK)
		return status;
	if (k->count == 0)
		k->top = top, k->object = object;
	const double values[7] = {top.x - k->top.x,       top.y - k->top.y,       top.z - k->top.z,  object.x - k->object.x,
	                          object.y - k->object.y, object.z - k->object.z, run->udot[pitch.u]};
	for (int i = 0; i < 7; i++)
		k->line[i][k->count] = values[i];
	k->t[k->count++] = run->state.t;
	return CAL_OK;
}

/* ---- runs --------------------------------------------------------------------------------------- */

/* One run of a case: how, and what it gives. */
typedef struct Way {
	bool dense;   // by the mass matrix; otherwise the recursion
	double nudge; // of the first joint of leg 1 at the start [rad]
	double end;   // [s]
	Track *track; // NULL: none
	double cpu;   // of the steps [s]
	double residual;
	Shots shots;
} Way;

static CalStatus make_steps(PaperRun *run, System *system, int64_t first, int64_t count) {
	return system->form ? system_step(system, first, count, 1) : paper_run_step(run, count);
}

/* To `end`, sampled a thousand times in 100 s; the samples are not counted. */
static CalStatus advance(Way *way, PaperRun *run, System *system, double end) {
	const double h = run->paper->step;
	const int64_t every = llround(whole / SAMPLES / h), last = llround(end / h);
	CalStatus status = CAL_OK;
	for (int64_t done = llround(run->state.t / h); status == CAL_OK && done < last;) {
		const int64_t steps = every - done % every < last - done ? every - done % every : last - done;
		double residual = 0, rate = 0;
		if (way->track && done % every == 0 && way->track->count < SAMPLES)
			status = track(run, way->track);
		const double begin = cpu_seconds();
		if (status == CAL_OK)
			status = make_steps(run, system, done, steps);
		way->cpu += cpu_seconds() - begin;
		if (status == CAL_OK)
			status = paper_run_residual(run, &residual, &rate);
		way->residual = larger(way->residual, residual);
		done += steps;
	}
	return status;
}

static void count(Case *c, const CalModel *model) {
	c->bodies = cal_model_body_count(model);
	c->speeds = cal_model_u_count(model);
	c->rows = cal_model_row_count(model);
	c->modes = 0;
	for (int i = 0; i < c->bodies; i++) {
		CalBodyInfo info;
		cal_model_body(model, i, &info);
		c->modes += info.modes;
	}
}

static CalStatus open_way(const PaperModel *paper, const Way *way, PaperRun *run, System *system, CalError *error) {
	CalBodyInfo joint;
	CalStatus status = paper_run_open(paper, &recursion, run, error);
	if (status == CAL_OK)
		status = cal_model_body(run->model, cal_model_find_joint(run->model, "leg1_1"), &joint);
	if (status == CAL_OK)
		run->state.q[joint.q] += way->nudge;
	if (status == CAL_OK && way->dense)
		status = system_open(run, system);
	return status;
}

static CalStatus run_way(Case *c, const PaperModel *paper, Way *way, CalError *error) {
	PaperRun run;
	System system = {0};
	CalStatus status = open_way(paper, way, &run, &system, error);
	if (status == CAL_OK)
		count(c, run.model);
	for (int i = 0; status == CAL_OK && i < stop_count(c); i++) {
		status = advance(way, &run, &system, c->stops[i]);
		if (status == CAL_OK)
			status = shoot(&run, &way->shots);
	}
	if (status == CAL_OK)
		status = advance(way, &run, &system, way->end);
	way->cpu *= whole / way->end;
	system_close(&system);
	paper_run_close(&run);
	return status;
}

/* The same without gains. */
static CalStatus run_projected(Case *c, const char *name, double factor) {
	static const PaperOptions plain = {.damping = 2e-3};
	PaperModel paper;
	PaperRun run = {0};
	CalError error;
	CalStatus status = paper_model(name, &plain, &paper, &error);
	paper_scale_drive(&paper, factor);
	if (status == CAL_OK)
		status = paper_run_open(&paper, &projection, &run, &error);
	const double begin = cpu_seconds();
	if (status == CAL_OK)
		status = paper_run_step(&run, llround(c->stretch / paper.step));
	c->projected = (cpu_seconds() - begin) * whole / c->stretch;
	paper_run_close(&run);
	paper_model_free(&paper);
	return status;
}

/* Differences at the stops, and whether they are within the limit. */
static void compare(Case *c, const Way *mine, const Way *dense, const Way *moved) {
	for (int i = 0; i < STOPS; i++) {
		const bool reached = i < stop_count(c);
		c->places[i] = reached ? places_apart(&mine->shots.at[i], &dense->shots.at[i]) : NAN;
		c->moved[i] = reached ? places_apart(&mine->shots.at[i], &moved->shots.at[i]) : NAN;
	}
	const int last = stop_count(c) - 1;
	c->velocities = velocities_apart(&mine->shots.at[last], &dense->shots.at[last]);
	c->order_n = mine->cpu, c->dense = dense->cpu, c->residual = mine->residual;
}

static CalStatus run_ways(Case *c, const PaperModel *paper, CalError *error) {
	Way mine = {.end = c->total, .track = c->track[0]},
		dense = {.dense = true, .end = c->stretch, .track = c->track[1]}, moved = {.nudge = nudge, .end = c->stretch};
	CalStatus status = run_way(c, paper, &mine, error);
	if (status == CAL_OK)
		status = run_way(c, paper, &dense, error);
	if (status == CAL_OK)
		status = run_way(c, paper, &moved, error);
	if (status == CAL_OK)
		compare(c, &mine, &dense, &moved);
	shots_free(&mine.shots);
	shots_free(&dense.shots);
	shots_free(&moved.shots);
	return status;
}

static int check_agreement(const Case *c, PaperScale scale) {
	int failed = scale == PAPER_QUICK && !(c->velocities <= same);
	if (failed)
		fprintf(stderr, "papers: case %d: velocities of order N and dense differ by %g\n", c->number, c->velocities);
	for (int i = 0; i < stop_count(c); i++) {
		if (c->places[i] <= same)
			continue;
		fprintf(stderr, "papers: case %d: order N and dense differ by %g m after %g s\n", c->number, c->places[i],
		        c->stops[i]);
		failed = 1;
	}
	return failed;
}

static int run_case(const PaperJob *job, Case *c) {
	const int flexible = (c->number - 1) / 4 % 2;
	const double total[] = {stops[PAPER_QUICK][0], whole, whole};
	const double stretch[] = {stops[PAPER_QUICK][0], flexible ? 2 : whole, whole};
	PaperModel paper;
	CalError error;
	char name[PAPER_NAME];
	snprintf(name, sizeof name, "%d", c->number);
	c->stops = stops[job->scale], c->total = total[job->scale], c->stretch = stretch[job->scale];
	c->projected = NAN;
	CalStatus status = paper_model(name, &options, &paper, &error);
	paper_scale_drive(&paper, load[job->scale]);
	if (status == CAL_OK)
		status = run_ways(c, &paper, &error);
	if (status == CAL_OK && c->rows > 0)
		status = run_projected(c, name, load[job->scale]);
	paper_model_free(&paper);
	if (status != CAL_OK)
		return fprintf(stderr, "papers: case %d\n", c->number), paper_fail("cases", status, &error);
	return 0;
}

/* ---- the table and the figures ------------------------------------------------------------------ */

static const char head[] =
	"| case | | bodies | dof, rigid + modal | constraint equations | order N [s] | projected [s] | dense [s] | "
	"dense / order N | paper: order N [s] | paper: dense [s] | paper: dense / order N |\n"
	"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

static void print_case(FILE *out, const Case *c) {
	char text[5][32];
	const double n = published[c->number - 1].order_n, d = published[c->number - 1].dense;
	fprintf(out, "| %d | %s, configuration %d%s | %d | %d + %d | %d ", c->number,
	        (c->number - 1) / 4 % 2 ? "flexible" : "rigid", (c->number - 1) % 4 + 1, c->rows > 0 ? ", closed" : "",
	        c->bodies, c->speeds - c->modes, c->modes, c->rows);
	fprintf(out, "| %.2f | %s | %.2f | %.1f | %s | %s | %s |\n", c->order_n,
	        paper_number(text[0], sizeof text[0], "%.2f", c->projected), c->dense, c->dense / c->order_n,
	        paper_number(text[1], sizeof text[1], "%.1f", n), paper_number(text[2], sizeof text[2], "%.1f", d),
	        paper_number(text[3], sizeof text[3], "%.2f", d / n));
}

static void print_agreement_head(FILE *out, PaperScale scale) {
	char text[32];
	fprintf(out, "| case ");
	for (int i = 0; i < STOPS; i++)
		fprintf(out, "| after %s s [m] ", paper_number(text, sizeof text, "%g", stops[scale][i]));
	fprintf(out,
	        "| relative velocity difference at the end | loop residual |\n| --- | --- | --- | --- | --- | --- |\n");
}

static void print_agreement(FILE *out, const Case *c) {
	char text[32];
	fprintf(out, "| %d ", c->number);
	for (int i = 0; i < STOPS; i++) {
		if (isnan(c->places[i]))
			fprintf(out, "| – ");
		else
			fprintf(out, "| %.0e (%.0e) ", c->places[i], c->moved[i]);
	}
	fprintf(out, "| %.0e | %s |\n", c->velocities,
	        paper_number(text, sizeof text, "%.0e", c->rows > 0 ? c->residual : NAN));
}

/* Figure 2. Dense, drawn over order N, has gaps, so that both lines are seen. */
static void print_displacements(FILE *out, const Track *mine, const Track *dense) {
	static const char *const lines[] = {"top plate:x", "top plate:y", "top plate:z",
	                                    "object:x",    "object:y",    "object:z"};
	fprintf(out, "t [s]");
	for (int k = 0; k < 6; k++)
		fprintf(out, ",%s order N [m],%s dense [m]", lines[k], lines[k]);
	fprintf(out, ",order N less dense:top plate [m],order N less dense:object [m]\n");
	for (int i = 0; i < mine->count && i < dense->count; i++) {
		double d[6];
		fprintf(out, "%.4f", mine->t[i]);
		for (int k = 0; k < 6; k++) {
			fprintf(out, ",%.9g,", mine->line[k][i]);
			if (i / (SAMPLES / 50) % 2 == 0)
				fprintf(out, "%.9g", dense->line[k][i]);
			d[k] = mine->line[k][i] - dense->line[k][i];
		}
		fprintf(out, ",%.3g,%.3g\n", sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]),
		        sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]));
	}
}

/* Figure 3. */
static void print_pitch(FILE *out, const Track *rigid, const Track *flexible) {
	fprintf(out, "t [s],case 12 rigid:leg 2 [rad/s^2],case 16 flexible:leg 2 [rad/s^2]\n");
	for (int i = 0; i < rigid->count && i < flexible->count; i++)
		fprintf(out, "%.4f,%.9g,%.9g\n", rigid->t[i], rigid->line[6][i], flexible->line[6][i]);
}

static int write_figure(const PaperJob *job, const char *name, void (*print)(FILE *, const Track *, const Track *),
                        const Track *a, const Track *b) {
	FILE *out = paper_file(job, name);
	if (!out)
		return 1;
	print(out, a, b);
	return fclose(out) != 0;
}

/* Figure 2 only where dense was run as long as order N. */
static int write_figures(const PaperJob *job, const Track *rigid, const Track *flexible, const Track *dense) {
	int failed = write_figure(job, "pitch.csv", print_pitch, rigid, flexible);
	if (dense->count == flexible->count)
		failed |= write_figure(job, "displacements.csv", print_displacements, flexible, dense);
	return failed;
}

typedef struct Study {
	const PaperJob *job;
	Case cases[CASES];
	Track rigid, flexible, dense; // case 12, case 16 by order N and by dense
} Study;

/* The last ones take longest: they begin. */
static int run_one(void *user, int index) {
	Study *study = user;
	return run_case(study->job, &study->cases[CASES - 1 - index]);
}

static int write_study(const PaperJob *job, Study *study, FILE *out, FILE *agreement) {
	study->job = job;
	for (int i = 0; i < CASES; i++)
		study->cases[i].number = i + 1;
	study->cases[11].track[0] = &study->rigid;
	study->cases[15].track[0] = &study->flexible;
	study->cases[15].track[1] = &study->dense;
	if (paper_share(job, CASES, run_one, study))
		return 1;
	int failed = 0;
	fputs(head, out);
	print_agreement_head(agreement, job->scale);
	for (int i = 0; i < CASES; i++) {
		print_case(out, &study->cases[i]);
		print_agreement(agreement, &study->cases[i]);
		failed |= check_agreement(&study->cases[i], job->scale);
	}
	return failed | write_figures(job, &study->rigid, &study->flexible, &study->dense);
}

int write_cases(const PaperJob *job) {
	FILE *out = paper_file(job, "cases.md"), *agreement = paper_file(job, "agreement.md");
	Study *study = calloc(1, sizeof *study);
	int failed = !out || !agreement || !study || write_study(job, study, out, agreement);
	free(study);
	if (out)
		failed |= fclose(out) != 0;
	if (agreement)
		failed |= fclose(agreement) != 0;
	return failed;
}
