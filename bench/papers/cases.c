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
#include <stdlib.h>

#include "papers.h"
#include "system.h"

enum { CASES = 16, SAMPLES = 1000, STOPS = 3 };

static const PaperWay recursion = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = -1};
static const PaperWay projection = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = 1};
static const PaperOptions options = {.damping = 2e-3, .stabilisation = 100};
static const double whole = 100;  // simulated in the paper [s]
static const double same = 1e-10; // velocities of the two ways, relative, at the first stop
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
	double velocities;                  // the same of dense at the first stop, relative
	Track *track;
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

/* Order N to `end`, sampled a thousand times in all; the samples are not counted. */
static CalStatus run_order_n(Case *c, PaperRun *run, double end) {
	const double h = run->paper->step;
	const int64_t every = llround(whole / SAMPLES / h), last = llround(end / h);
	CalStatus status = CAL_OK;
	for (int64_t done = llround(run->state.t / h); status == CAL_OK && done < last;) {
		const int64_t steps = every - done % every < last - done ? every - done % every : last - done;
		double residual = 0, rate = 0;
		if (c->track && done % every == 0 && c->track->count < SAMPLES)
			status = track(run, c->track);
		const double begin = cpu_seconds();
		if (status == CAL_OK)
			status = paper_run_step(run, steps);
		c->order_n += cpu_seconds() - begin;
		if (status == CAL_OK)
			status = paper_run_residual(run, &residual, &rate);
		c->residual = larger(c->residual, residual);
		done += steps;
	}
	return status;
}

static CalStatus run_dense(Case *c, const PaperModel *paper, Shots *shots) {
	PaperRun run;
	System system = {0};
	CalError error;
	CalStatus status = paper_run_open(paper, &recursion, &run, &error);
	if (status == CAL_OK)
		status = system_open(&run, &system);
	int64_t done = 0;
	for (int i = 0; status == CAL_OK && i < stop_count(c); i++) {
		const int64_t next = llround(c->stops[i] / paper->step);
		const double begin = cpu_seconds();
		status = system_step(&system, done, next - done, 1);
		c->dense += cpu_seconds() - begin;
		done = next;
		if (status == CAL_OK)
			status = shoot(&run, shots);
	}
	c->dense *= whole / c->stretch;
	system_close(&system);
	paper_run_close(&run);
	return status;
}

/* Order N from a start that is a little off. */
static CalStatus run_moved(const Case *c, const PaperModel *paper, Shots *shots) {
	PaperRun run;
	CalBodyInfo joint;
	CalError error;
	CalStatus status = paper_run_open(paper, &recursion, &run, &error);
	if (status == CAL_OK)
		status = cal_model_body(run.model, cal_model_find_joint(run.model, "leg1_1"), &joint);
	if (status == CAL_OK)
		run.state.q[joint.q] += nudge;
	int64_t done = 0;
	for (int i = 0; status == CAL_OK && i < stop_count(c); i++) {
		const int64_t next = llround(c->stops[i] / paper->step);
		status = paper_run_step(&run, next - done);
		done = next;
		if (status == CAL_OK)
			status = shoot(&run, shots);
	}
	paper_run_close(&run);
	return status;
}

/* The same without gains. */
static CalStatus run_projected(Case *c, const char *name) {
	static const PaperOptions plain = {.damping = 2e-3};
	PaperModel paper;
	PaperRun run = {0};
	CalError error;
	CalStatus status = paper_model(name, &plain, &paper, &error);
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

static void count(Case *c, const CalModel *model) {
	c->bodies = cal_model_body_count(model);
	c->speeds = cal_model_u_count(model);
	c->rows = cal_model_row_count(model);
	for (int i = 0; i < c->bodies; i++) {
		CalBodyInfo info;
		cal_model_body(model, i, &info);
		c->modes += info.modes;
	}
}

static CalStatus run_all(Case *c, const PaperModel *paper, CalError *error) {
	PaperRun run;
	Shots mine = {0}, dense = {0}, moved = {0};
	CalStatus status = paper_run_open(paper, &recursion, &run, error);
	if (status == CAL_OK)
		count(c, run.model);
	for (int i = 0; status == CAL_OK && i < stop_count(c); i++) {
		status = run_order_n(c, &run, c->stops[i]);
		if (status == CAL_OK)
			status = shoot(&run, &mine);
	}
	if (status == CAL_OK)
		status = run_order_n(c, &run, c->total);
	c->order_n *= whole / c->total;
	if (status == CAL_OK)
		status = run_dense(c, paper, &dense);
	if (status == CAL_OK)
		status = run_moved(c, paper, &moved);
	for (int i = 0; i < STOPS; i++) {
		const int run_too = status == CAL_OK && i < stop_count(c);
		c->places[i] = run_too ? places_apart(&mine.at[i], &dense.at[i]) : NAN;
		c->moved[i] = run_too ? places_apart(&mine.at[i], &moved.at[i]) : NAN;
	}
	if (status == CAL_OK)
		c->velocities = velocities_apart(&mine.at[0], &dense.at[0]);
	shots_free(&mine);
	shots_free(&dense);
	shots_free(&moved);
	paper_run_close(&run);
	return status;
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
	if (status == CAL_OK)
		status = run_all(c, &paper, &error);
	if (status == CAL_OK && c->rows > 0)
		status = run_projected(c, name);
	paper_model_free(&paper);
	if (status != CAL_OK)
		return fprintf(stderr, "papers: case %d\n", c->number), paper_fail("cases", status, &error);
	if (!(c->velocities <= same))
		return fprintf(stderr, "papers: case %d: order N and dense differ by %g\n", c->number, c->velocities), 1;
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
	fflush(out);
}

static void print_agreement_head(FILE *out, PaperScale scale) {
	char text[32];
	fprintf(out, "| case ");
	for (int i = 0; i < STOPS; i++)
		fprintf(out, "| after %s s [m] ", paper_number(text, sizeof text, "%g", stops[scale][i]));
	fprintf(out, "| relative velocity difference after %g s | loop residual |\n| --- | --- | --- | --- | --- | --- |\n",
	        stops[scale][0]);
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
	fflush(out);
}

static int write_figures(const PaperJob *job, const Track *rigid, const Track *flexible) {
	FILE *places = paper_file(job, "displacements.csv"), *pitch = paper_file(job, "pitch.csv");
	int failed = !places || !pitch;
	if (!failed) {
		fprintf(places,
		        "t [s],top plate:x [m],top plate:y [m],top plate:z [m],object:x [m],object:y [m],object:z [m]\n");
		fprintf(pitch, "t [s],case 12 rigid:leg 2 [rad/s^2],case 16 flexible:leg 2 [rad/s^2]\n");
		for (int i = 0; i < flexible->count; i++) {
			fprintf(places, "%.4f", flexible->t[i]);
			for (int k = 0; k < 6; k++)
				fprintf(places, ",%.9g", flexible->line[k][i]);
			fprintf(places, "\n");
		}
		for (int i = 0; i < rigid->count && i < flexible->count; i++)
			fprintf(pitch, "%.4f,%.9g,%.9g\n", rigid->t[i], rigid->line[6][i], flexible->line[6][i]);
	}
	if (places)
		failed |= fclose(places) != 0;
	if (pitch)
		failed |= fclose(pitch) != 0;
	return failed;
}

int write_cases(const PaperJob *job) {
	FILE *out = paper_file(job, "cases.md"), *agreement = paper_file(job, "agreement.md");
	Track *tracks = calloc(2, sizeof *tracks);
	int failed = !out || !agreement || !tracks;
	if (!failed) {
		fputs(head, out);
		print_agreement_head(agreement, job->scale);
	}
	for (int i = 1; !failed && i <= CASES; i++) {
		Case c = {.number = i, .track = i == 12 ? &tracks[0] : i == 16 ? &tracks[1] : NULL};
		failed = run_case(job, &c);
		if (failed)
			break;
		print_case(out, &c);
		print_agreement(agreement, &c);
	}
	if (!failed)
		failed = write_figures(job, &tracks[0], &tracks[1]);
	free(tracks);
	if (out)
		failed |= fclose(out) != 0;
	if (agreement)
		failed |= fclose(agreement) != 0;
	return failed;
}
