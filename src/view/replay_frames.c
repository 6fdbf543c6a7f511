// SPDX-License-Identifier: Apache-2.0
/*
 * replay_frames.c — poses, velocities and modal coordinates of a replay document, in steps (packing.h).
 *
 * The step of positions follows from the size of the mechanism, not from how far it moves: a vehicle that flies away is drawn as
 * finely as it was at the start.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "view/arrows.h"
#include "view/flexible_shapes.h"
#include "view/packing.h"
#include "view/replay_run.h"

/* The largest magnitude in columns of the rows that are shown; what is not finite does not count. */
static double largest_in(const Run *run, int first, int count) {
	const CalResultsTable *table = &run->tables[run->frames];
	double largest = 0;
	for (size_t i = 0; i < run_shown_count(run, table) && first >= 0; i++)
		for (int k = 0; k < count; k++) {
			const double size = fabs(run_shown_row(run, table, i)[first + k]);
			largest = isfinite(size) ? fmax(largest, size) : largest;
		}
	return largest;
}

/* The size of the mechanism: of the box around all bodies at the start, and how far nodes are from their bodies [m]. */
static double mechanism_size(const Run *run) {
	const CalDesc *desc = cal_setup_desc(run->setup);
	const double *row = run_shown_row(run, &run->tables[run->frames], 0);
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
	for (int b = 0; b < run->body_count; b++)
		for (int k = 0; k < 3 && run->bodies[b].pose >= 0; k++) {
			low[k] = fmin(low[k], row[run->bodies[b].pose + k]);
			high[k] = fmax(high[k], row[run->bodies[b].pose + k]);
		}
	for (int k = 0; k < 3; k++)
		size = high[k] > low[k] && isfinite(high[k] - low[k]) ? fmax(size, high[k] - low[k]) : size;
	for (int i = 1; i <= cal_desc_node_count(desc); i++) {
		const CalVec3 at = cal_desc_node(desc, (CalNodeId){(uint32_t)i}, NULL)->placement.position;
		size = fmax(size, fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z))));
	}
	return size > 0 && isfinite(size) ? size : 1;
}

/* Of positions: by the size of the mechanism, and so that the farthest one takes 30 bits [m]. */
static double position_step(const Run *run) {
	double farthest = 0;
	for (int b = 0; b < run->body_count; b++)
		farthest = fmax(farthest, largest_in(run, run->bodies[b].pose, 3));
	const double step = packing_step_of(mechanism_size(run)), least = farthest / (1 << 30);
	return step >= least ? step : 10 * packing_step(least);
}

/* The sign of a quaternion that makes it the nearest to the one before, as the viewer sees no difference. */
static double sign_beside(const double *before, const double *now, double sign) {
	double along = 0;
	for (int k = 3; k < 7; k++)
		along += before[k] * now[k];
	return along < 0 ? -sign : sign;
}

static void write_pose(Packing *packing, const Run *run, int body, const double *scale) {
	const CalResultsTable *table = &run->tables[run->frames];
	const int column = run->bodies[body].pose;
	const size_t count = run_shown_count(run, table);
	for (int k = 0; k < 7; k++) {
		double sign = 1;
		for (size_t i = 0; i < count; i++) {
			const double *pose = column >= 0 ? run_shown_row(run, table, i) + column : NULL;
			if (pose && k >= 3 && i > 0)
				sign = sign_beside(run_shown_row(run, table, i - 1) + column, pose, sign);
			packing_put_step(packing, pose ? (k < 3 ? pose[k] : sign * pose[k]) : (double)NAN, scale[k]);
		}
	}
}

static void write_poses(JsonWriter *d, const Run *run) {
	const double step = position_step(run), turn = PACKING_ROTATION_STEP;
	const double scale[] = {step, step, step, turn, turn, turn, turn};
	json_writer_key(d, "error");
	json_writer_open(d, '{');
	json_writer_put_number(d, "position", step / 2);
	json_writer_put_number(d, "rotation", 2 * turn);
	json_writer_put_number(d, "relative", PACKING_RELATIVE);
	json_writer_close(d);
	json_writer_key(d, "pose");
	const size_t count = run_shown_count(run, &run->tables[run->frames]);
	Packing packing = packing_steps(d, 3, (size_t[]){count, (size_t)run->body_count, 7}, scale);
	for (int b = 0; b < run->body_count; b++)
		write_pose(&packing, run, b, scale);
	packing_end(&packing);
}

/* "body" and the "values" of columns of the frames, each with the step of its place. */
static void write_track(JsonWriter *d, const Run *run, int body, int first, int width, const double *scale) {
	const CalResultsTable *table = &run->tables[run->frames];
	const size_t count = run_shown_count(run, table);
	json_writer_open(d, '{');
	json_writer_put_number(d, "body", body);
	json_writer_key(d, "values");
	Packing packing = packing_steps(d, 2, (size_t[]){count, (size_t)width}, scale);
	for (int k = 0; k < width; k++)
		for (size_t i = 0; i < count; i++)
			packing_put_step(&packing, run_shown_row(run, table, i)[first + k], scale[k]);
	packing_end(&packing);
	json_writer_close(d);
}

/* Velocities of a body that turns by some degrees between frames, or unevenly by half of one: of others the poses say enough. */
static void write_velocity(JsonWriter *d, const Run *run, int body) {
	static const double far = 0.1, uneven = 0.008; // [rad]
	const CalResultsTable *table = &run->tables[run->frames];
	const BodyColumns columns = run->bodies[body];
	const size_t count = run_shown_count(run, table);
	bool needed = false;
	for (size_t i = 0; i + 1 < count && columns.pose >= 0 && !needed; i++) {
		const double *from = run_shown_row(run, table, i), *to = run_shown_row(run, table, i + 1);
		needed = turns_angle(columns, from, to) > far || turns_sway(columns, from, to) > uneven;
	}
	if (!needed)
		return;
	const double linear = packing_step_of(largest_in(run, columns.velocity, 3));
	const double angular = packing_step_of(largest_in(run, columns.velocity + 3, 3));
	write_track(d, run, body, columns.velocity, 6, (double[]){linear, linear, linear, angular, angular, angular});
}

/* Modes of a body whose coordinates were recorded with its pose. */
static CalStatus write_eta(JsonWriter *d, const Run *run, int body) {
	const int modes = flexible_modes(cal_setup_desc(run->setup), (CalBodyId){(uint32_t)body + 1});
	const int first = modes ? run_eta_column(run, run_body_name(run, body), 0) : -1;
	for (int a = 1; a < modes; a++)
		if (first < 0 || run_eta_column(run, run_body_name(run, body), a) != first + a)
			return CAL_OK;
	if (first < 0)
		return CAL_OK;
	double *scale = malloc((size_t)modes * sizeof *scale);
	if (!scale)
		return error_set(run->error, CAL_ERR_MEMORY, "out of memory for the frames");
	const double step = packing_step_of(largest_in(run, first, modes));
	for (int a = 0; a < modes; a++)
		scale[a] = step;
	write_track(d, run, body, first, modes, scale);
	free(scale);
	return CAL_OK;
}

static const double *frame_row(const void *user, size_t frame) {
	const Run *run = user;
	return run_shown_row(run, &run->tables[run->frames], frame);
}

static void write_arrows(JsonWriter *d, const Run *run, const int *pose) {
	const CalResultsTable *frames = &run->tables[run->frames];
	const ArrowSource source = {.desc = cal_setup_desc(run->setup),
	                            .tables = run->tables,
	                            .count = run->about.stream_count,
	                            .frames = frames,
	                            .pose = pose,
	                            .frame_count = run_shown_count(run, frames),
	                            .row = frame_row,
	                            .user = run};
	arrows_write(d, &source);
}

CalStatus frames_write(JsonWriter *d, const Run *run) {
	int *pose = malloc((size_t)(run->body_count + 1) * sizeof *pose);
	if (!pose)
		return error_set(run->error, CAL_ERR_MEMORY, "out of memory for the frames");
	for (int b = 0; b < run->body_count; b++)
		pose[b] = run->bodies[b].pose;
	json_writer_key(d, "frames");
	json_writer_open(d, '{');
	json_writer_key(d, "t");
	run_write_times(d, run, &run->tables[run->frames]);
	write_poses(d, run);
	json_writer_key(d, "velocity");
	json_writer_open(d, '[');
	for (int b = 0; b < run->body_count; b++)
		write_velocity(d, run, b);
	json_writer_close(d);
	json_writer_key(d, "eta");
	json_writer_open(d, '[');
	CalStatus status = CAL_OK;
	for (int b = 0; b < run->body_count && status == CAL_OK; b++)
		status = write_eta(d, run, b);
	json_writer_close(d);
	json_writer_close(d);
	write_arrows(d, run, pose);
	free(pose);
	return status;
}
