// SPDX-License-Identifier: Apache-2.0
/*
 * iftomm.c — the problems A01 to A05 of the IFToMM library of multibody benchmarks: error, steps, CPU time.
 *
 *   iftomm [--short] [EXAMPLES]     EXAMPLES: folder with andrews.yaml, bricard.yaml, flyball_governor.yaml
 *
 * Prints a table in Markdown; docs/iftomm.md explains it. --short: fewer lines, and only the start of the
 * long ones. Exit status 1: an error limit was not met; 77: built without libyaml.
 *
 * Problems: M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "A benchmarking framework for MBS simulation software",
 * Multibody System Dynamics 16 (2006), 179-190. Limits for the energy of A01 and A02 are those in use there, the others
 * are choices of our own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkages.h"
#include "reference.h"

typedef struct Run Run;

/* A point at a time, where there is a reference for it. */
typedef struct Sample {
	double t;
	CalVec3 r;
} Sample;

typedef struct Problem {
	const char *id;    // as in the table
	const char *point; // what is compared
	const char *file;  // in the folder of examples, or NULL: built here
	int windows;       // of A02; 0: the pendulum
	const char *node;  // path of the point
	double duration;   // [s]
	Reference (*motion)(const struct Problem *problem);
	CalVec3 (*place)(const Reference *motion); // of the point
	const Sample *samples;                     // instead of motion
	int sample_count;
	const char *conserved;               // the invariant
	double (*change)(const Run *run);    // of the invariant since the start
	double place_limit, conserved_limit; // [m], of the invariant's unit
} Problem;

/* How a problem is solved. */
typedef struct Way {
	CalMethod method;
	double step;       // fixed
	double rtol, atol; // adaptive
	double duration;   // 0: that of the problem
	int brief;         // 1: part of the short table too, 2: only there
} Way;

struct Run {
	const Problem *problem;
	CalSetup *file;
	CalDesc *desc; // own one, or NULL
	CalSetupLoads *loads;
	CalSim *sim;
	CalWork *work;
	double *g; // residuals
	double q0; // first coordinate at the start
	Reference motion;
	double place, change, residual; // largest errors so far; place -1: never compared
	CalError error;
};

/* ---- the problems ------------------------------------------------------------------------------- */

static Reference pendulum_motion(const Problem *problem) {
	(void)problem;
	return reference_pendulum(9.81, acos(-1), 0);
}

static Reference windows_motion(const Problem *problem) {
	return reference_pendulum(reference_windows(problem->windows), acos(0), -1);
}

static Reference governor_motion(const Problem *problem) {
	(void)problem;
	return reference_governor();
}

static CalVec3 rod_end(const Reference *motion) { return (CalVec3){cos(motion->y[0]), sin(motion->y[0]), 0}; }

static CalVec3 slider_place(const Reference *motion) { return (CalVec3){0, 0, motion->y[0]}; }

static CalSimMonitor monitor(const Run *run) {
	CalSimMonitor m = {.energy_change = NAN, .angular_change = {NAN, NAN, NAN}};
	cal_sim_monitor(run->sim, 0, &m);
	return m;
}

static double energy(const Run *run) { return monitor(run).energy_change; }

/* Less the work of the motor. */
static double energy_balance(const Run *run) {
	return monitor(run).energy_change - 0.033 * (cal_sim_state(run->sim, 0)->q[0] - run->q0);
}

static double spin_momentum(const Run *run) { return monitor(run).angular_change.z; }

/* F = OF (cos, sin) of the crank's angle, from a solution of order eight with a tolerance of 1e-13. */
static const Sample andrews_samples[] = {
	{0.005, {0.21107638590327127, 0, 0}},
	{0.01, {2.160113131531555, 0, 0}},
	{0.02, {8.184905889661922, 0, 0}},
	{0.03, {15.810771195154443, 0, 0}},
};

/* P3, likewise. */
static const Sample bricard_samples[] = {
	{1, {0.2744813192646285, -0.8867079387346697, -0.46233000268736785}},
	{2, {-0.7781353730333004, -0.9803526834432602, -0.19725267061720697}},
	{5, {0.9999327423020672, -0.999999997738353, -6.7255436201548e-05}},
	{7, {-0.7849130566002172, -0.9814035822609617, -0.19195574678999372}},
	{10, {0.9997309873029178, -0.9999999638258169, -0.00026897651617807726}},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const Problem pendulum = {.id = "A01 pendulum",
                                 .point = "P1",
                                 .node = "v/end",
                                 .duration = 10,
                                 .motion = pendulum_motion,
                                 .place = rod_end,
                                 .conserved = "E",
                                 .change = energy,
                                 .place_limit = 1e-5,
                                 .conserved_limit = 5e-5};
static const Problem two_windows = {.id = "A02 four-bars, N = 2",
                                    .point = "B0",
                                    .windows = 2,
                                    .node = "v0/end",
                                    .duration = 10,
                                    .motion = windows_motion,
                                    .place = rod_end,
                                    .conserved = "E",
                                    .change = energy,
                                    .place_limit = 1e-4,
                                    .conserved_limit = 0.1};
static const Problem forty_windows = {.id = "A02 four-bars, N = 40",
                                      .point = "B0",
                                      .windows = 40,
                                      .node = "v0/end",
                                      .duration = 10,
                                      .motion = windows_motion,
                                      .place = rod_end,
                                      .conserved = "E",
                                      .change = energy,
                                      .place_limit = 1e-4,
                                      .conserved_limit = 0.1};
static const Problem andrews = {.id = "A03 Andrews",
                                .point = "F",
                                .file = "andrews.yaml",
                                .node = "OF/F",
                                .duration = 0.05,
                                .samples = andrews_samples,
                                .sample_count = COUNT(andrews_samples),
                                .conserved = "E - work",
                                .change = energy_balance,
                                .place_limit = 1e-8,
                                .conserved_limit = 1e-6};
static const Problem bricard = {.id = "A04 Bricard",
                                .point = "P3",
                                .file = "bricard.yaml",
                                .node = "rod2/end",
                                .duration = 10,
                                .samples = bricard_samples,
                                .sample_count = COUNT(bricard_samples),
                                .conserved = "E",
                                .change = energy,
                                .place_limit = 1e-5,
                                .conserved_limit = 1e-5};
static const Problem governor = {.id = "A05 governor",
                                 .point = "s",
                                 .file = "flyball_governor.yaml",
                                 .node = "slider",
                                 .duration = 10,
                                 .motion = governor_motion,
                                 .place = slider_place,
                                 .conserved = "Lz",
                                 .change = spin_momentum,
                                 .place_limit = 1e-4,
                                 .conserved_limit = 1e-3};

static const struct {
	const Problem *problem;
	Way way;
} lines[] = {
	{&pendulum, {CAL_METHOD_RK4, .step = 10e-3, .brief = 1}},
	{&pendulum, {CAL_METHOD_RK4, .step = 2e-3}},
	{&pendulum, {CAL_METHOD_DOPRI5, .rtol = 1e-8, .atol = 1e-10, .brief = 1}},
	{&two_windows, {CAL_METHOD_RK4, .step = 10e-3, .brief = 1}},
	{&two_windows, {CAL_METHOD_RK4, .step = 2e-3}},
	{&two_windows, {CAL_METHOD_DOPRI5, .rtol = 1e-6, .atol = 1e-8, .brief = 1}},
	{&two_windows, {CAL_METHOD_DOPRI5, .rtol = 1e-10, .atol = 1e-13, .brief = 1}},
	{&forty_windows, {CAL_METHOD_RK4, .step = 10e-3, .duration = 0.05, .brief = 2}},
	{&forty_windows, {CAL_METHOD_RK4, .step = 10e-3}},
	{&forty_windows, {CAL_METHOD_RK4, .step = 5e-3}},
	{&forty_windows, {CAL_METHOD_DOPRI5, .rtol = 1e-6, .atol = 1e-8}},
	{&forty_windows, {CAL_METHOD_DOPRI5, .rtol = 1e-10, .atol = 1e-13}},
	{&andrews, {CAL_METHOD_RK4, .step = 50e-6, .brief = 1}},
	{&andrews, {CAL_METHOD_RK4, .step = 10e-6}},
	{&andrews, {CAL_METHOD_DOPRI5, .rtol = 1e-8, .atol = 1e-10, .brief = 1}},
	{&bricard, {CAL_METHOD_RK4, .step = 10e-3, .brief = 1}},
	{&bricard, {CAL_METHOD_RK4, .step = 2e-3}},
	{&bricard, {CAL_METHOD_DOPRI5, .rtol = 1e-8, .atol = 1e-10, .brief = 1}},
	{&governor, {CAL_METHOD_RK4, .step = 250e-6}},
	{&governor, {CAL_METHOD_DOPRI5, .rtol = 1e-6, .atol = 1e-8, .duration = 2, .brief = 2}},
	{&governor, {CAL_METHOD_DOPRI5, .rtol = 1e-6, .atol = 1e-8}},
	{&governor, {CAL_METHOD_IMPLICIT_MIDPOINT, .step = 2e-3, .brief = 1}},
	{&governor, {CAL_METHOD_IMPLICIT_MIDPOINT, .step = 0.5e-3}},
};

/* ---- one run ------------------------------------------------------------------------------------ */

static double loads_switch(void *loads, double t) { return cal_setup_loads_next_switch(loads, t); }

/* The description, from its file or built. */
static CalStatus describe(Run *run, const char *folder, const CalDesc **desc) {
	const Problem *p = run->problem;
	if (p->file) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", folder, p->file);
		const CalStatus status = cal_model_file_read(path, NULL, &run->file, &run->error);
		*desc = status == CAL_OK ? cal_setup_desc(run->file) : NULL;
		return status;
	}
	*desc = run->desc = p->windows ? linkage_windows(p->windows) : linkage_pendulum();
	return *desc ? CAL_OK : CAL_ERR_MEMORY;
}

static CalStatus start_state(Run *run) {
	const CalModel *model = cal_sim_model(run->sim, 0);
	CalState *state = cal_sim_state(run->sim, 0);
	CalStatus status = CAL_OK;
	if (run->file) {
		status = cal_setup_apply_state(run->file, model, state, &run->error);
		if (status == CAL_OK)
			status = cal_setup_loads_create(run->file, model, &run->loads, &run->error);
		if (status == CAL_OK)
			status = cal_sim_set_input(run->sim, 0, cal_setup_loads_input, loads_switch, run->loads);
	} else {
		linkage_set_angle(model, run->motion.y[0], run->motion.y[1], state);
	}
	if (status == CAL_OK)
		status = cal_sim_restart(run->sim, &run->error);
	run->q0 = state->q[0];
	return status;
}

static CalStatus start(Run *run, const char *folder, const Way *way) {
	const Problem *p = run->problem;
	const CalDesc *desc;
	const CalSimOptions options = {
		.method = {.method = way->method, .step = way->step, .rtol = way->rtol, .atol = way->atol}};
	CalStatus status = describe(run, folder, &desc);
	if (p->motion)
		run->motion = p->motion(p);
	if (status == CAL_OK)
		status = cal_sim_create(desc, &options, &run->sim, &run->error);
	if (status != CAL_OK)
		return status;
	const CalModel *model = cal_sim_model(run->sim, 0);
	run->g = calloc((size_t)cal_model_row_count(model) + 1, sizeof *run->g);
	status = run->g ? cal_work_create(model, &run->work) : CAL_ERR_MEMORY;
	return status == CAL_OK ? start_state(run) : status;
}

static void finish(Run *run) {
	cal_work_destroy(run->work);
	cal_setup_loads_destroy(run->loads);
	cal_sim_destroy(run->sim);
	cal_desc_destroy(run->desc);
	cal_setup_destroy(run->file);
	free(run->g);
}

/* Where the point should be at t; 0: nobody knows. */
static int expected(Run *run, double t, CalVec3 *r) {
	const Problem *p = run->problem;
	if (p->motion) {
		reference_advance(&run->motion, t);
		*r = p->place(&run->motion);
		return 1;
	}
	for (int i = 0; i < p->sample_count; i++) {
		const Sample *s = &p->samples[i];
		if (fabs(s->t - t) < 1e-9) {
			*r = p == &andrews ? (CalVec3){0.007 * cos(s->r.x), 0.007 * sin(s->r.x), 0} : s->r;
			return 1;
		}
	}
	return 0;
}

/* The larger of two; once one is not a number, it stays so. */
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

static CalStatus compare(Run *run) {
	const CalModel *model = cal_sim_model(run->sim, 0);
	const CalState *state = cal_sim_state(run->sim, 0);
	const int node = cal_model_find_node(model, run->problem->node);
	CalPose pose;
	CalVec3 r;
	CalStatus status = cal_kinematics(model, state, NULL, run->work);
	if (status == CAL_OK)
		status = cal_node_pose(model, run->work, node, &pose);
	if (status == CAL_OK)
		status = cal_loop_residual(model, state, run->work, run->g, NULL);
	if (status != CAL_OK)
		return status;
	if (expected(run, state->t, &r)) {
		const double x = pose.r.x - r.x, y = pose.r.y - r.y, z = pose.r.z - r.z;
		run->place = larger(run->place, sqrt(x * x + y * y + z * z));
	}
	run->change = larger(run->change, fabs(run->problem->change(run)));
	for (int i = 0; i < cal_model_row_count(model); i++)
		run->residual = larger(run->residual, fabs(run->g[i]));
	return CAL_OK;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void print_head(void) {
	printf("| problem | method | step or tolerance | simulated | steps | CPU [s] | error of the point [m] | limit | "
	       "change of the invariant | limit | residual |\n"
	       "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

static void print_line(const Run *run, const Way *way, double duration) {
	const CalSimStats stats = cal_sim_stats(run->sim);
	const Problem *p = run->problem;
	char size[32];
	if (way->step > 0)
		snprintf(size, sizeof size, "%g ms", 1e3 * way->step);
	else
		snprintf(size, sizeof size, "rtol %g", way->rtol);
	printf("| %s | %s | %s | %g s | %lld | %.2g | %s: %.1e | %.0e | %s: %.1e | %.0e | %.0e |\n", p->id,
	       cal_method_name(way->method), size, duration, (long long)stats.steps, stats.cpu_s, p->point, run->place,
	       p->place_limit, p->conserved, run->change, p->conserved_limit, run->residual);
	fflush(stdout);
}

/* How many limits were not met; -1: could not be run, since there is no libyaml. */
static int solve(const Problem *problem, const Way *way, const char *folder) {
	const double duration = way->duration > 0 ? way->duration : problem->duration;
	const int samples = way->step > 0 ? (int)fmin(100, round(duration / way->step)) : 100;
	Run run = {.problem = problem, .place = -1};
	CalStatus status = start(&run, folder, way);
	for (int i = 1; status == CAL_OK && i <= samples; i++) {
		status = cal_sim_advance(run.sim, duration * i / samples, &run.error);
		if (status == CAL_OK)
			status = compare(&run);
	}
	int missed = !(run.place >= 0 && run.place <= problem->place_limit) + !(run.change <= problem->conserved_limit);
	if (status == CAL_OK)
		print_line(&run, way, duration);
	else
		fprintf(stderr, "iftomm: %s: %s\n", problem->id, run.error.text[0] ? run.error.text : cal_status_text(status));
	if (status != CAL_OK)
		missed = status == CAL_ERR_UNSUPPORTED ? -1 : 2;
	finish(&run);
	return missed;
}

int main(int argc, char **argv) {
	const int brief = argc > 1 && strcmp(argv[1], "--short") == 0;
	const char *folder = argc > 1 + brief ? argv[1 + brief] : "examples";
	int missed = 0;
	if (argc > 2 + brief || folder[0] == '-') {
		fprintf(stderr, "usage: iftomm [--short] [EXAMPLES]\n");
		return 2;
	}
	print_head();
	for (int i = 0; i < COUNT(lines); i++) {
		if (brief ? !lines[i].way.brief : lines[i].way.brief == 2)
			continue;
		const int here = solve(lines[i].problem, &lines[i].way, folder);
		if (here < 0)
			return 77;
		missed += here;
	}
	if (missed)
		fprintf(stderr, "iftomm: %d limits not met\n", missed);
	return missed > 0;
}
