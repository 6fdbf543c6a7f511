// SPDX-License-Identifier: Apache-2.0
/*
 * run.c — compiling, starting, driving and stepping the systems of the papers.
 */
#define _POSIX_C_SOURCE 199309L // clock_gettime

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "run.h"

double cpu_seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double wall_seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

double distance(CalVec3 a, CalVec3 b) {
	const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
	return sqrt(x * x + y * y + z * z);
}

const CalInput *paper_drive(const PaperRun *run, double t) {
	const PaperModel *paper = run->paper;
	return &run->drive[paper->hold > 0 && (int64_t)floor((t + paper->step / 2) / paper->hold) % 2 != 0];
}

static int give_drive(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model;
	*input = *paper_drive(user, state->t);
	return 0;
}

static CalVec3 scaled(CalVec3 v, double s) { return (CalVec3){s * v.x, s * v.y, s * v.z}; }

static CalStatus prepare_drive(PaperRun *run, int side, double *tau) {
	const PaperModel *paper = run->paper;
	const double sign = side == 0 ? 1 : -1;
	CalBodyInfo info;
	for (int i = 0; i < paper->torque_count; i++) {
		const int body = cal_model_find_joint(run->model, paper->torque_joint[i]);
		const CalStatus status = cal_model_body(run->model, body, &info);
		if (status != CAL_OK)
			return status;
		tau[info.u] = sign * paper->torque;
	}
	for (int i = 0; i < paper->load_count; i++) {
		const PaperLoad *load = &paper->load[i];
		const CalSpatial f = {scaled(load->f.angular, sign), scaled(load->f.linear, sign)};
		run->wrenches[side][i] = (CalWrench){cal_model_find_node(run->model, load->node), CAL_FRAME_WORLD, f};
	}
	run->drive[side] = (CalInput){.tau = tau, .wrenches = run->wrenches[side], .wrench_count = paper->load_count};
	return CAL_OK;
}

/* There are none where a partition would not be faster. */
static CalStatus cut(PaperRun *run, const PaperWay *way, CalError *error) {
	const CalBranchOptions options = {.branches = way->branches,
	                                  .threads = way->threads,
	                                  .forced = way->cut_loops,
	                                  .cross_loops = way->cut_loops ? CAL_CROSS_LOOPS_ALWAYS : CAL_CROSS_LOOPS_AUTO};
	const CalStatus status =
		way->branches > 1 ? cal_branches_create(run->model, &options, &run->branches, error) : CAL_OK;
	if (run->branches && cal_branches_count(run->branches) == 1) {
		cal_branches_destroy(run->branches);
		run->branches = NULL;
	}
	return status;
}

CalStatus paper_run_open(const PaperModel *paper, const PaperWay *way, PaperRun *run, CalError *error) {
	const CalCompileOptions options = {.solver = way->solver, .loops = way->loops};
	*run = (PaperRun){.paper = paper};
	CalStatus status = cal_model_compile(paper->desc, &options, &run->model, error);
	if (status != CAL_OK)
		return status;
	const size_t n = (size_t)cal_model_u_count(run->model);
	const CalIntegratorOptions stepping = {.method = CAL_METHOD_EULER_CROMER,
	                                       .step = paper->step,
	                                       .projection = way->projection,
	                                       .input = give_drive,
	                                       .user = run};
	run->memory = calloc(3 * n, sizeof *run->memory);
	status = run->memory ? cal_work_create(run->model, &run->work) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_state_create(run->model, &run->state);
	if (status == CAL_OK)
		status = cut(run, way, error);
	if (status == CAL_OK) {
		const CalSystemPart part = {.model = run->model, .work = run->work, .branches = run->branches};
		status = cal_integrator_create_system(&(CalSystem){.parts = &part, .count = 1}, &stepping, &run->integrator);
	}
	if (status == CAL_OK)
		status = prepare_drive(run, 0, run->memory);
	if (status == CAL_OK)
		status = prepare_drive(run, 1, run->memory + n);
	if (status != CAL_OK)
		return status;
	run->udot = run->memory + 2 * n;
	paper_set_start(paper, run->model, &run->state);
	return CAL_OK;
}

void paper_run_close(PaperRun *run) {
	cal_integrator_destroy(run->integrator);
	cal_branches_destroy(run->branches);
	cal_state_destroy(&run->state);
	cal_work_destroy(run->work);
	free(run->memory);
	cal_model_destroy(run->model);
}

CalStatus paper_run_step(PaperRun *run, int64_t steps) {
	CalStatus status = CAL_OK;
	for (int64_t i = 0; status == CAL_OK && i < steps; i++)
		status = cal_integrator_step(run->integrator, &run->state, run->paper->step);
	return status;
}

CalStatus paper_run_residual(PaperRun *run, double *residual, double *rate) {
	const size_t rows = (size_t)cal_model_row_count(run->model);
	double *g = calloc(2 * rows + 1, sizeof *g);
	CalStatus status = g ? CAL_OK : CAL_ERR_MEMORY;
	*residual = *rate = 0;
	if (status == CAL_OK && rows > 0)
		status = cal_loop_residual(run->model, &run->state, run->work, g, g + rows);
	for (size_t i = 0; status == CAL_OK && i < rows; i++) {
		*residual = larger(*residual, fabs(g[i]));
		*rate = larger(*rate, fabs(g[rows + i]));
	}
	free(g);
	return status;
}

CalStatus paper_run_place(PaperRun *run, const char *node, CalVec3 *place) {
	CalPose pose = {0};
	CalStatus status = cal_kinematics(run->model, &run->state, NULL, run->work);
	if (status == CAL_OK)
		status = cal_node_pose(run->model, run->work, cal_model_find_node(run->model, node), &pose);
	*place = pose.r;
	return status;
}
