// SPDX-License-Identifier: Apache-2.0
/*
 * pendulum.c — the pendulum of six bodies of Kasper and Vlasenko and the drift of its constraints.
 *
 * Two triangles of three bars each, hinged at every corner, make a double pendulum: eight hinges, two dofs. The paper
 * gives the method (absolute coordinates, Runge and Kutta, 5 ms, 20 s), not the data: bars of 0.5 m and 1 kg here. As in
 * the paper all bars are free bodies and all hinges constraints; one line of the table has six hinges as joints of a tree
 * instead, and two that close the triangles. The check is the same pendulum of two rigid triangles, without any
 * constraint, in steps twenty times as small.
 */
#include <math.h>
#include <stdlib.h>

#include "papers.h"

enum { SAMPLES = 1001, WAYS = 6, LINES = 5, TWIN = 20 };
static const double pi = 3.14159265358979323846;
static const double bar_length = 0.5, bar_mass = 1, bar_radius = 0.02;
static const double step = 5e-3;
static const double closed = 1e-12; // limit of the drift with a projection after every step [m]

/* How the hinges are held together. */
typedef struct Way {
	const char *name, *label; // in the table, in the figure
	double frequency;         // of critically damped gains [rad/s]
	int projection;           // steps from one to the next, -1: none
	int tree;                 // six hinges are joints; otherwise all are constraints between free bodies
} Way;

static const Way ways[WAYS] = {
	{"none", "none", 0, -1, 0}, // the first LINES are in the figure
	{"Baumgarte, 10 rad/s", "gains 10 rad/s", 10, -1, 0},
	{"Baumgarte, 50 rad/s", "gains 50 rad/s", 50, -1, 0},
	{"projection every 20 steps", "every 20 steps", 0, 20, 0},
	{"projection every step", "every step", 0, 1, 0},
	{"tree of joints, none", "tree", 0, -1, 1},
};

/* One run of either pendulum. */
typedef struct Swing {
	CalModel *model;
	CalWork *work;
	CalState state;
	CalIntegrator *integrator;
	int tip;        // node
	double energy0; //
	double drift;   // of the state [m, rad]
	double rate;    // of that [m/s, rad/s]
	double energy;  // change since the start [J]
	CalVec3 place;  // of the lowest corner
	double cpu;     // of the steps [s]
	double *rows;   // residuals, then rates
} Swing;

/* What a run showed. */
typedef struct Result {
	double drift, last, rate, energy, distance, cpu; // largest of each; last: drift at the end
} Result;

/* ---- the two pendulums -------------------------------------------------------------------------- */

static CalDesc *under_gravity(CalStatus *status) {
	CalDesc *desc = NULL;
	*status = cal_desc_create(NULL, &desc);
	if (*status == CAL_OK)
		*status = cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, -9.81, 0});
	return desc;
}

/* A body on a joint (a hinge: about z), with its node "end". */
static CalNodeId attach_body(CalDesc *desc, CalBodyDef body, CalJointType type, CalNodeId on, CalPlacement end,
                             CalNodeId *head, CalStatus *status) {
	CalJointDef joint = cal_joint_def(type);
	CalNodeDef node = cal_node_def();
	CalNodeId tip = {0};
	CalBodyId id = {0};
	joint.name = body.name, node.name = "end", node.placement = end;
	if (*status == CAL_OK)
		*status = cal_desc_add_body(desc, &body, &id, NULL);
	if (*status == CAL_OK)
		*status = cal_desc_add_node(desc, id, &node, &tip, NULL);
	*head = cal_desc_body_node(desc, id);
	if (*status == CAL_OK)
		*status = cal_desc_attach(desc, on, &joint, *head, NULL, NULL);
	return tip;
}

static double bar_inertia(void) { return bar_mass * (bar_length * bar_length / 12 + bar_radius * bar_radius / 4); }

static void close_hinge(CalDesc *desc, const char *name, const Way *way, CalNodeId a, CalNodeId b, CalStatus *status) {
	CalLoopDef hinge = cal_loop_def(CAL_LOOP_REVOLUTE);
	hinge.name = name, hinge.frequency = way->frequency, hinge.damping = way->frequency > 0;
	if (*status == CAL_OK)
		*status = cal_desc_close_loop(desc, a, &hinge, b, NULL, NULL);
}

/* A bar hinged to a node, by a joint or by a constraint; returns its far end. */
static CalNodeId hang_bar(CalDesc *desc, const char *name, const Way *way, CalNodeId on, CalNodeId *head,
                          CalStatus *status) {
	const double J = bar_inertia();
	const CalPlacement end = {.position = {bar_length, 0, 0}};
	CalBodyDef bar = cal_body_def();
	bar.name = name, bar.mass = bar_mass, bar.com.x = bar_length / 2;
	bar.inertia = (CalMat3){{{bar_mass * bar_radius * bar_radius / 2, 0, 0}, {0, J, 0}, {0, 0, J}}};
	if (way->tree)
		return attach_body(desc, bar, CAL_JOINT_REVOLUTE, on, end, head, status);
	const CalNodeId far = attach_body(desc, bar, CAL_JOINT_FREE, (CalNodeId){0}, end, head, status);
	close_hinge(desc, name, way, on, *head, status);
	return far;
}

/* Three bars: along one side, on along the second, and from the start along the third. Returns the third corner. */
static CalNodeId hang_triangle(CalDesc *desc, const char *const names[4], const Way *way, CalNodeId on,
                               CalStatus *status) {
	CalNodeId first, head;
	const CalNodeId second = hang_bar(desc, names[0], way, on, &first, status);
	const CalNodeId a = hang_bar(desc, names[1], way, second, &head, status);
	const CalNodeId b = hang_bar(desc, names[2], way, first, &head, status);
	close_hinge(desc, names[3], way, a, b, status);
	return b;
}

static CalDesc *six_bars(const Way *way, CalStatus *status) {
	static const char *const upper[] = {"upper1", "upper2", "upper3", "upper"};
	static const char *const lower[] = {"lower1", "lower2", "lower3", "lower"};
	CalDesc *desc = under_gravity(status);
	if (*status == CAL_OK)
		hang_triangle(desc, lower, way, hang_triangle(desc, upper, way, (CalNodeId){0}, status), status);
	return desc;
}

/* The same bars as two rigid bodies; the frames of their corners as the bars have them. */
static CalDesc *two_triangles(CalStatus *status) {
	const double L = bar_length, m = bar_mass, high = L * sqrt(3) / 2;
	const double polar = 3 * (bar_inertia() + m * high * high / 9); // each bar is a third of the height from the middle
	const CalPlacement corner = {{L / 2, -high, 0}, {cos(-pi / 6), 0, 0, sin(-pi / 6)}};
	CalDesc *desc = under_gravity(status);
	CalBodyDef triangle = cal_body_def();
	CalNodeId head;
	triangle.mass = 3 * m, triangle.com = (CalVec3){L / 2, -high / 3, 0};
	triangle.inertia = (CalMat3){{{polar / 2, 0, 0}, {0, polar / 2, 0}, {0, 0, polar}}};
	triangle.name = "upper1";
	const CalNodeId middle = attach_body(desc, triangle, CAL_JOINT_REVOLUTE, (CalNodeId){0}, corner, &head, status);
	triangle.name = "lower1";
	attach_body(desc, triangle, CAL_JOINT_REVOLUTE, middle, corner, &head, status);
	return desc;
}

/* ---- swinging ----------------------------------------------------------------------------------- */

/* A bar from a place at an angle to the horizontal; `relative`: to the bar that carries it. */
static void set_bar(const CalModel *model, CalState *state, const char *joint, CalVec3 at, double angle,
                    double relative) {
	CalBodyInfo info;
	if (cal_model_body(model, cal_model_find_joint(model, joint), &info) != CAL_OK)
		return; // the rigid twin has the first bars only
	double *q = state->q + info.q;
	if (info.nq == 1) {
		q[0] = relative;
		return;
	}
	const double place[7] = {at.x, at.y, at.z, cos(angle / 2), 0, 0, sin(angle / 2)};
	for (int i = 0; i < 7; i++)
		q[i] = place[i];
}

static CalVec3 along(CalVec3 from, double angle) {
	return (CalVec3){from.x + bar_length * cos(angle), from.y + bar_length * sin(angle), from.z};
}

static void set_start(const CalModel *model, CalState *state) {
	static const char *const names[2][3] = {{"upper1", "upper2", "upper3"}, {"lower1", "lower2", "lower3"}};
	static const double turns[2] = {10, 20}; // of the first bars [deg]
	CalVec3 at = {0, 0, 0};
	double angle = 0;
	for (int k = 0; k < 2; k++) {
		const double turn = turns[k] * pi / 180, first = angle + turn, third = first - pi / 3;
		set_bar(model, state, names[k][0], at, first, turn);
		set_bar(model, state, names[k][1], along(at, first), first - 2 * pi / 3, -2 * pi / 3);
		set_bar(model, state, names[k][2], at, third, -pi / 3);
		at = along(at, third);
		angle = third;
	}
}

/* Where the swing is, how far its loops are apart, and its energy. */
static CalStatus look(Swing *s) {
	CalEnergy energy = {0};
	CalPose pose = {0};
	CalStatus status = cal_kinematics(s->model, &s->state, NULL, s->work);
	if (status == CAL_OK)
		status = cal_node_pose(s->model, s->work, s->tip, &pose);
	if (status == CAL_OK)
		status = cal_energy(s->model, &s->state, s->work, &energy);
	const int rows = cal_model_row_count(s->model);
	if (status == CAL_OK && rows > 0)
		status = cal_loop_residual(s->model, &s->state, s->work, s->rows, s->rows + rows);
	s->place = pose.r, s->energy = energy.total - s->energy0, s->drift = s->rate = 0;
	for (int i = 0; i < rows; i++) {
		s->drift = larger(s->drift, fabs(s->rows[i]));
		s->rate = larger(s->rate, fabs(s->rows[rows + i]));
	}
	return status;
}

static CalStatus swing_open(CalDesc *desc, int projection, const char *tip, Swing *s) {
	const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = step, .projection = projection};
	CalStatus status = cal_model_compile(desc, NULL, &s->model, NULL);
	if (status == CAL_OK)
		status = cal_work_create(s->model, &s->work);
	if (status == CAL_OK)
		status = cal_state_create(s->model, &s->state);
	if (status == CAL_OK)
		status = cal_integrator_create(s->model, s->work, &options, &s->integrator);
	if (status == CAL_OK)
		s->rows = calloc(2 * (size_t)cal_model_row_count(s->model) + 1, sizeof *s->rows);
	if (status != CAL_OK || !s->rows)
		return status != CAL_OK ? status : CAL_ERR_MEMORY;
	set_start(s->model, &s->state);
	s->tip = cal_model_find_node(s->model, tip);
	status = look(s);
	s->energy0 = s->energy;
	s->energy = 0;
	return status;
}

static void swing_close(Swing *s) {
	cal_integrator_destroy(s->integrator);
	cal_state_destroy(&s->state);
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
	free(s->rows);
}

static CalStatus swing_step(Swing *s, double h, int steps) {
	const double begin = cpu_seconds();
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < steps; i++)
		status = cal_integrator_step(s->integrator, &s->state, h);
	s->cpu += cpu_seconds() - begin;
	return status == CAL_OK ? look(s) : status;
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* The lowest corner of the rigid twin after every step, and its angles. */
typedef struct Twin {
	int steps;
	CalVec3 *place; // [steps + 1]
	double *angles; // [2 (steps + 1)]
} Twin;

/* Steps from one sample of the figures to the next. */
static int sample_distance(const Twin *twin) {
	return twin->steps >= SAMPLES ? (twin->steps + SAMPLES - 2) / (SAMPLES - 1) : 1;
}

static CalStatus follow_twin(Twin *twin) {
	Swing s = {0};
	CalStatus status;
	CalDesc *desc = two_triangles(&status);
	if (status == CAL_OK)
		status = swing_open(desc, -1, "lower1/end", &s);
	for (int i = 0; status == CAL_OK && i <= twin->steps; i++) {
		if (i > 0)
			status = swing_step(&s, step / TWIN, TWIN);
		twin->place[i] = s.place;
		twin->angles[2 * i] = s.state.q[0], twin->angles[2 * i + 1] = s.state.q[1];
	}
	swing_close(&s);
	cal_desc_destroy(desc);
	return status;
}

/* log10 of the drift and the change of energy, for the figure; NULL: not wanted. */
typedef struct Lines {
	double drift[LINES][SAMPLES], energy[LINES][SAMPLES];
	int count;
} Lines;

/* `fine` steps for each of the paper's. */
static CalStatus run_way(const Way *way, int index, int fine, const Twin *twin, Lines *lines, Result *r) {
	const int every = sample_distance(twin);
	Swing s = {0};
	CalStatus status;
	CalDesc *desc = six_bars(way, &status);
	if (status == CAL_OK)
		status = swing_open(desc, way->projection, "lower3/end", &s);
	for (int i = 0; status == CAL_OK && i <= twin->steps; i++) {
		if (i > 0)
			status = swing_step(&s, step / fine, fine);
		r->drift = larger(r->drift, s.drift), r->rate = larger(r->rate, s.rate);
		r->energy = larger(r->energy, fabs(s.energy));
		r->distance = larger(r->distance, distance(s.place, twin->place[i]));
		if (!lines || i % every != 0)
			continue;
		lines->count = i / every + 1;
		lines->drift[index][i / every] = log10(fmax(s.drift, 1e-17));
		lines->energy[index][i / every] = s.energy;
	}
	r->last = s.drift, r->cpu = s.cpu;
	swing_close(&s);
	cal_desc_destroy(desc);
	return status;
}

static void print_result(FILE *out, const Way *way, int fine, const Result *r) {
	fprintf(out, "| %s | %g ms | %.1e | %.1e | %.1e | %.1e | %.1e | %.3f |\n", way->name, 1e3 * step / fine, r->drift,
	        r->last, r->rate, r->energy, r->distance, r->cpu);
}

/* A table of columns over time: t, then `title`:label of every way. */
static int write_lines(const PaperJob *job, const Twin *twin, const Lines *lines) {
	FILE *out = paper_file(job, "drift.csv");
	if (!out)
		return 1;
	fprintf(out, "t [s]");
	for (int k = 0; k < LINES; k++)
		fprintf(out, ",log10 of the drift:%s [m]", ways[k].label);
	for (int k = 0; k < LINES; k++)
		fprintf(out, ",energy change:%s [J]", ways[k].label);
	for (int i = 0; i < lines->count; i++) {
		fprintf(out, "\n%.4f", step * i * sample_distance(twin));
		for (int k = 0; k < LINES; k++)
			fprintf(out, ",%.6g", lines->drift[k][i]);
		for (int k = 0; k < LINES; k++)
			fprintf(out, ",%.6g", lines->energy[k][i]);
	}
	fprintf(out, "\n");
	return fclose(out) != 0;
}

/* Both dofs, from where they start. */
static int write_oscillation(const PaperJob *job, const Twin *twin) {
	FILE *out = paper_file(job, "oscillation.csv");
	if (!out)
		return 1;
	fprintf(out, "t [s],deviation:upper triangle [rad],deviation:lower to upper [rad]\n");
	for (int i = 0; i <= twin->steps; i += sample_distance(twin))
		fprintf(out, "%.4f,%.9g,%.9g\n", step * i, twin->angles[2 * i] - twin->angles[0],
		        twin->angles[2 * i + 1] - twin->angles[1]);
	return fclose(out) != 0;
}

static int write_ways(FILE *out, const Twin *twin, Lines *lines) {
	fprintf(out,
	        "| stabilization | step | largest drift [m] | final drift [m] | largest rate [m/s] | energy change [J] | "
	        "distance from the rigid pendulum [m] | CPU [s] |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int k = 0; k < WAYS; k++)
		for (int fine = 1; fine <= 2; fine++) {
			Result r = {0};
			const CalStatus status = run_way(&ways[k], k, fine, twin, fine == 1 && k < LINES ? lines : NULL, &r);
			if (status != CAL_OK)
				return paper_fail(ways[k].name, status, NULL);
			print_result(out, &ways[k], fine, &r);
			if (ways[k].projection == 1 && !(r.drift <= closed))
				return fprintf(stderr, "papers: pendulum: projected loops are off by %g m\n", r.drift), 1;
		}
	return 0;
}

int write_pendulum(const PaperJob *job) {
	static const double duration[] = {0.5, 20, 20}; // by scale [s]
	const int steps = (int)lround(duration[job->scale] / step);
	Twin twin = {steps, calloc((size_t)steps + 1, sizeof *twin.place), calloc((size_t)steps + 1, 2 * sizeof(double))};
	Lines *lines = calloc(1, sizeof *lines);
	FILE *out = paper_file(job, "pendulum.md");
	int failed = !twin.place || !twin.angles || !lines || !out;
	if (!failed) {
		const CalStatus status = follow_twin(&twin);
		failed = status != CAL_OK ? paper_fail("pendulum", status, NULL) : write_ways(out, &twin, lines);
	}
	if (!failed)
		failed = write_lines(job, &twin, lines) || write_oscillation(job, &twin);
	if (out)
		failed |= fclose(out) != 0;
	free(lines);
	free(twin.place);
	free(twin.angles);
	return failed;
}
