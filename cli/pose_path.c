// SPDX-License-Identifier: Apache-2.0
/*
 * pose_path.c — `calder pose --path`: joint coordinates along a path of nodes, as a table that `calder inverse` follows.
 *
 * The first point is sought as a single pose is; every other one from the solution of the point before it, so that the arm stays in its
 * configuration.
 */
#include "pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "output.h"

enum { X, Y, Z, QW, QX, QY, QZ, ROLL, PITCH, YAW, COMPONENTS };
static const char *const component_names[COMPONENTS] = {"x", "y", "z", "qw", "qx", "qy", "qz", "roll", "pitch", "yaw"};
static const char *const component_units[COMPONENTS] = {"m", "m", "m", "", "", "", "", "rad", "rad", "rad"};

/* Of one node: its columns, -1: none, and what one of their unit is in SI. */
typedef struct NodePath {
	int column[COMPONENTS];
	double scale[COMPONENTS];
	bool quaternion, rpy;
} NodePath;

typedef struct Way {
	Csv csv;
	NodePath nodes[POSE_NODES];
	double time_scale;
	CalSampler *sampler;
	double *row, *last; // [columns of the sampler]
	int not_reached;    // points
	double first_missed;
	CalReach worst; // of all points
	double step, step_time;
	int step_column; // the coordinate that moves farthest from one point to the next, -1: none
	OutputFile out;
} Way;

/* ---- columns ------------------------------------------------------------------------------------------------ */

/* The component that a column is of a node: "pose:lower/tip.x", or "x" where there is one node. -1: none. */
static int component_of(const char *name, const char *node, bool only) {
	const size_t length = strlen(node);
	if (strncmp(name, "pose:", 5) == 0 && strncmp(name + 5, node, length) == 0 && name[5 + length] == '.')
		name += 6 + length;
	else if (!only)
		return -1;
	for (int k = 0; k < COMPONENTS; k++)
		if (strcmp(name, component_names[k]) == 0)
			return k;
	return -1;
}

static int count_columns(const NodePath *n, int first, int last) {
	int count = 0;
	for (int k = first; k <= last; k++)
		count += n->column[k] >= 0;
	return count;
}

static int find_columns(Way *w, const Request *r, int node) {
	NodePath *n = &w->nodes[node];
	char text[400];
	for (int k = 0; k < COMPONENTS; k++)
		n->column[k] = -1;
	for (int i = 1; i < w->csv.column_count; i++) {
		const int k = component_of(w->csv.columns[i].name, r->wanted[node].node, r->count == 1);
		if (k < 0)
			continue;
		if (n->column[k] >= 0) {
			snprintf(text, sizeof text, "column \"%.120s\" is there twice", w->csv.columns[i].name);
			say_error(r->way, text);
			return EXIT_INPUT;
		}
		n->column[k] = i;
		n->scale[k] = 1;
		const bool bare = k >= QW && k <= QZ && strcmp(w->csv.columns[i].unit, "1") == 0; // as calder run writes it
		if (!bare && !column_scale(&w->csv.columns[i], component_units[k], r->way, &n->scale[k]))
			return EXIT_INPUT;
	}
	const int q = count_columns(n, QW, QZ), rpy = count_columns(n, ROLL, YAW);
	n->quaternion = q == 4, n->rpy = rpy == 3;
	const char *wrong =
		(q > 0 && q < 4) || (rpy > 0 && rpy < 3)
			? "its orientation is not complete: qw, qx, qy and qz, or roll, pitch and yaw"
		: q > 0 && rpy > 0 ? "its orientation is there twice, as a quaternion and as roll, pitch and yaw"
		: q + rpy + count_columns(n, X, Z) == 0
			? "no column is of this node: x, y, z, qw, qx, qy, qz, roll, pitch or yaw, after \"pose:NODE.\" "
			  "where there are several nodes"
			: NULL;
	if (!wrong)
		return EXIT_OK;
	snprintf(text, sizeof text, "node \"%.120s\": %s", r->wanted[node].node, wrong);
	say_error(r->way, text);
	return EXIT_INPUT;
}

static int read_way(Way *w, const Request *r) {
	int code = cal_results_is_hdf5(r->way) ? csv_from_hdf5(r->way, r->stream, &w->csv) : csv_read(r->way, &w->csv);
	if (code == EXIT_OK && w->csv.count == 0) {
		say_error(r->way, "there is no row");
		return EXIT_INPUT;
	}
	if (code == EXIT_OK && !column_scale(&w->csv.columns[0], "s", r->way, &w->time_scale))
		return EXIT_INPUT;
	for (int i = 0; i < r->count && code == EXIT_OK; i++)
		code = find_columns(w, r, i);
	return code;
}

/* ---- targets ------------------------------------------------------------------------------------------------ */

static double value_of(const NodePath *n, const double *row, int k) { return n->scale[k] * row[n->column[k]]; }

/* False: a number is missing, or no quaternion. */
static bool set_target(const NodePath *n, const double *row, CalNodeTarget *t) {
	double *const place[3] = {&t->pose.r.x, &t->pose.r.y, &t->pose.r.z};
	double number[COMPONENTS] = {0};
	for (int k = 0; k < COMPONENTS; k++) {
		number[k] = n->column[k] >= 0 ? value_of(n, row, k) : 0;
		if (!isfinite(number[k]))
			return false;
	}
	for (int k = X; k <= Z; k++)
		if (n->column[k] >= 0) {
			*place[k] = number[k];
			t->translation |= CAL_AXIS_X << k;
		}
	if (n->rpy)
		t->pose.R = pose_matrix_of_rpy(number + ROLL);
	if (n->quaternion) {
		double w = number[QW], x = number[QX], y = number[QY], z = number[QZ];
		const double norm = sqrt(w * w + x * x + y * y + z * z);
		if (!(norm > 0.9 && norm < 1.1)) // digits of a table, but not something else
			return false;
		w /= norm, x /= norm, y /= norm, z /= norm;
		t->pose.R = (CalMat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
		                       {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
		                       {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
	}
	if (n->rpy || n->quaternion)
		t->rotation = CAL_AXIS_XYZ;
	return true;
}

static int say_row(const Request *r, size_t row, const char *what) {
	char text[200];
	snprintf(text, sizeof text, "row %zu: %s", row + 1, what);
	say_error(r->way, text);
	return EXIT_INPUT;
}

static int set_targets(Search *s, const Way *w, const Request *r, size_t row) {
	const double *at = w->csv.rows + row * (size_t)w->csv.column_count;
	if (!isfinite(at[0]) || (row > 0 && !(at[0] >= at[-w->csv.column_count])))
		return say_row(r, row, "its time is not after that of the row before");
	for (int i = 0; i < s->count; i++)
		if (!set_target(&w->nodes[i], at, &s->targets[i]))
			return say_row(r, row, "a number is missing, or qw qx qy qz is no quaternion of length 1");
	return EXIT_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static CalStatus add_signals(Way *w, const Search *s, CalSim *sim, CalError *error) {
	CalStatus status = cal_sampler_create(NULL, &w->sampler, error);
	for (int b = 0; b < cal_model_body_count(s->model) && status == CAL_OK; b++) {
		CalBodyInfo info;
		char name[512];
		status = cal_model_body(s->model, b, &info);
		if (status != CAL_OK || info.nq == 0)
			continue;
		snprintf(name, sizeof name, "q:%.480s", info.joint);
		status = cal_sampler_add(w->sampler, sim, name, error);
	}
	const size_t columns = status == CAL_OK ? (size_t)cal_sampler_column_count(w->sampler) : 0;
	w->row = calloc(2 * columns + 1, sizeof *w->row);
	w->last = w->row ? w->row + columns : NULL;
	return status == CAL_OK && !w->row ? CAL_ERR_MEMORY : status;
}

static void write_header(const Way *w) {
	for (int i = 0; i < cal_sampler_column_count(w->sampler); i++) {
		CalSamplerColumn column;
		cal_sampler_column(w->sampler, i, &column);
		fprintf(w->out.stream, "%s%s [%s]", i ? "," : "", column.name, column.unit);
	}
}

/* What was found, in the simulation, as a row of the table. */
static CalStatus write_row(Way *w, const Search *s, CalSim *sim, int group, double time, bool first) {
	const int columns = cal_sampler_column_count(w->sampler);
	cal_state_copy(s->model, &s->best, cal_sim_state(sim, group));
	memcpy(w->last, w->row, (size_t)columns * sizeof *w->row);
	const CalStatus status = cal_sampler_sample(w->sampler, sim, w->row);
	w->row[0] = time;
	for (int i = 0; i < columns && status == CAL_OK; i++) {
		const double step = fabs(w->row[i] - w->last[i]);
		if (i > 0 && !first && step > w->step)
			w->step = step, w->step_column = i, w->step_time = time;
		fprintf(w->out.stream, "%s%.17g", i ? "," : "\n", w->row[i]);
	}
	return status;
}

static int follow(Way *w, Search *s, const Request *r, CalSim *sim, int group) {
	int code = EXIT_OK;
	for (size_t i = 0; i < w->csv.count && code == EXIT_OK; i++) {
		const double time = w->time_scale * w->csv.rows[i * (size_t)w->csv.column_count];
		code = set_targets(s, w, r, i);
		if (code == EXIT_OK)
			code = say_status(r->path, pose_search(s, r, cal_sim_state(sim, group), i == 0 ? (int)r->starts : 0), NULL);
		if (code != EXIT_OK)
			break;
		if (!s->reached && w->not_reached++ == 0)
			w->first_missed = time;
		w->worst.distance = fmax(w->worst.distance, s->reach.distance);
		w->worst.angle = fmax(w->worst.angle, s->reach.angle);
		code = say_status(r->path, write_row(w, s, sim, group, time, i == 0), NULL);
	}
	fputs("\n", w->out.stream);
	return code;
}

/* ---- what is said ---------------------------------------------------------------------------------------------- */

static void say_result(const Way *w, const Request *r) {
	static const double jump = 0.5; // [rad, m] between two points
	char text[400];
	CalSamplerColumn column = {.name = "", .unit = ""};
	if (w->step_column > 0)
		cal_sampler_column(w->sampler, w->step_column, &column);
	if (r->output && strcmp(r->output, "-") != 0)
		printf(
			"%s: %zu points, %d not reached; at most %.3g m and %.3g rad from the path, %.3g %s from one point to the next "
			"(%s)\n",
			r->way, w->csv.count, w->not_reached, w->worst.distance, w->worst.angle, w->step, column.unit, column.name);
	if (w->not_reached > 0) {
		snprintf(
			text, sizeof text,
			"%d of %zu points are not reached, the first at t = %.9g s, by up to %.3g m and %.3g rad; the nearest that was "
			"found is written",
			w->not_reached, w->csv.count, w->first_missed, w->worst.distance, w->worst.angle);
		say_warning(r->way, text);
	}
	if (w->step > jump) {
		snprintf(
			text, sizeof text,
			"%.120s moves by %.3g %s between two points, at t = %.9g s: the path passes a singular position or a limit, or "
			"its points are too far apart",
			column.name, w->step, column.unit, w->step_time);
		say_warning(r->way, text);
	}
}

int pose_follow(Search *s, const Request *r, CalSim *sim, int group) {
	Way w = {.step_column = -1};
	CalError error = {0};
	int code = read_way(&w, r);
	if (code == EXIT_OK)
		code = say_status(r->path, add_signals(&w, s, sim, &error), &error);
	if (code == EXIT_OK)
		code = output_open(&w.out, r->output ? r->output : "-");
	if (w.out.stream) {
		write_header(&w);
		code = output_close(&w.out, follow(&w, s, r, sim, group));
	}
	if (code == EXIT_OK) {
		say_result(&w, r);
		code = w.not_reached ? EXIT_NUMERICS : EXIT_OK;
	}
	cal_sampler_destroy(w.sampler);
	free(w.row);
	csv_free(&w.csv);
	return code;
}
