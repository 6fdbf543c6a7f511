// SPDX-License-Identifier: Apache-2.0
/*
 * inverse_solve.c — the forces that a motion takes.
 *
 * Joints follow a trajectory as drives (joint_drive) of the simulation; all other degrees of freedom, modes of flexible bodies
 * among them, move by the dynamics, and loops stay closed. The forces are those of the driven joints; where others are named
 * to act in their place, generalized forces tau of smallest norm on these with X'tau = Q, Q being what the independent speeds
 * need (calder/closed.h).
 *
 * What the motion is between its samples is a guess. At each of them the forces are found once more with the plain second
 * difference of its neighbors in the place of the spline's acceleration; by how much they change is the error of sampling. The
 * difference has an error of h^2, the spline one of h^3 or less, so this is on the safe side.
 */
#include "inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- degrees of freedom ----------------------------------------------------------------------------- */

static bool is_named(const CalModel *model, int u, const CalDofInfo *info, const char *name) {
	char text[160] = "";
	cal_model_dof_name(model, u, text, sizeof text);
	if (strcmp(text, name) == 0)
		return true;
	if (info->q < 0)
		return false;
	cal_model_q_name(model, info->q, text, sizeof text);
	return strcmp(text, name) == 0;
}

/* The dof of a coordinate or speed by its name, in any group. */
static bool find_dof(const CalSim *sim, const char *name, Dof *found) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		CalDofInfo info;
		CalCoordinateInfo speed;
		for (int u = 0; u < cal_model_u_count(model) && cal_model_dof(model, u, &info) == CAL_OK; u++) {
			if (!is_named(model, u, &info, name))
				continue;
			*found = (Dof){.group = g, .u = u, .q = info.q};
			snprintf(found->name, sizeof found->name, "%s", name);
			found->turns = cal_model_speed(model, u, &speed) == CAL_OK && speed.kind == CAL_COORDINATE_ANGLE;
			return true;
		}
	}
	return false;
}

/* Drives of the model are followed too: they are the first. */
static int count_own_drives(const CalSetup *setup) {
	int count = 0;
	const char *type;
	for (int i = 0; cal_setup_device(setup, i, &type, NULL, NULL) == CAL_OK; i++)
		count += strcmp(type, "joint_drive") == 0;
	return count;
}

static int find_followed(Inverse *in, const CalSetup *setup, const char *path) {
	char text[300];
	const char *type;
	const void *def;
	const size_t count = (size_t)count_own_drives(setup); // those of the trajectory are among them
	in->followed = calloc(count + 1, sizeof *in->followed);
	if (!in->followed)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++) {
		if (strcmp(type, "joint_drive") != 0)
			continue;
		const CalJointDriveDef *drive = def;
		CalCoordinateInfo info;
		const CalJointDef *joint = cal_desc_joint(cal_setup_desc(setup), drive->joint, NULL, NULL);
		const bool several = cal_joint_coordinate_count(joint) > 1;
		if (cal_joint_coordinate(joint, drive->dof, &info) != CAL_OK)
			continue;
		snprintf(text, sizeof text, "%.120s%s%s", joint->name, several ? "." : "", several ? info.name : "");
		if (find_dof(in->sim, text, &in->followed[in->followed_count]))
			in->followed_count++;
	}
	if (in->followed_count)
		return EXIT_OK;
	say_error(
		path,
		"no joint follows a motion: name the table of one, give --drive, or put joint_drive devices into the model");
	return EXIT_INPUT;
}

static int find_acting(Inverse *in, const InverseRequest *r) {
	char text[300];
	const int count = r->actuator_count ? r->actuator_count : in->followed_count;
	in->acting = calloc((size_t)count + 1, sizeof *in->acting);
	if (!in->acting)
		return say_status(r->path, CAL_ERR_MEMORY, NULL);
	for (; in->acting_count < count; in->acting_count++) {
		if (!r->actuator_count) {
			in->acting[in->acting_count] = in->followed[in->acting_count];
			continue;
		}
		if (find_dof(in->sim, r->actuators[in->acting_count], &in->acting[in->acting_count]))
			continue;
		snprintf(text, sizeof text, "--actuators: there is no degree of freedom \"%.160s\"; calder info lists them",
		         r->actuators[in->acting_count]);
		say_error(r->path, text);
		return EXIT_INPUT;
	}
	return EXIT_OK;
}

/* Whether more is followed than the loops of a group leave free. */
static int check_loops(const Inverse *in, int group, const char *path) {
	const CalModel *model = cal_sim_model(in->sim, group);
	const size_t nu = (size_t)cal_model_u_count(model);
	CalMobility all = {0}, left = {0};
	CalWork *work = NULL;
	uint8_t *held = calloc(nu + 1, 1);
	CalDofInfo info;
	CalStatus status = held ? cal_work_create(model, &work) : CAL_ERR_MEMORY;
	for (int u = 0; status == CAL_OK && u < (int)nu && cal_model_dof(model, u, &info) == CAL_OK; u++)
		held[u] = info.prescribed != 0;
	if (status == CAL_OK)
		status = cal_loop_mobility(model, cal_sim_state(in->sim, group), held, work, &all, NULL, NULL);
	for (int i = 0; status == CAL_OK && i < in->followed_count; i++)
		if (in->followed[i].group == group)
			held[in->followed[i].u] = 1;
	if (status == CAL_OK)
		status = cal_loop_mobility(model, cal_sim_state(in->sim, group), held, work, &left, NULL, NULL);
	cal_work_destroy(work);
	free(held);
	if (status != CAL_OK || left.rank == all.rank)
		return say_status(path, status, NULL);
	char text[400];
	snprintf(
		text, sizeof text,
		"group \"%.80s\": the loops leave %d degree%s of freedom, and the motion gives more; name those to follow with "
		"--joints, the others then follow from the loops",
		cal_model_name(model), all.mobility, plural(all.mobility));
	say_error(path, text);
	return EXIT_INPUT;
}

/* ---- other actuators ---------------------------------------------------------------------------------- */

static void actuation_free(Actuation *a) {
	cal_projection_destroy(a->projection);
	cal_work_destroy(a->work);
	free(a->actuated), free(a->vdot), free(a->Q), free(a->own), free(a->tau);
}

static CalStatus actuation_create(const Inverse *in, int group, Actuation *a) {
	const CalModel *model = cal_sim_model(in->sim, group);
	const size_t nu = (size_t)cal_model_u_count(model) + 1;
	a->actuated = calloc(nu, 1);
	a->vdot = calloc(nu, sizeof(double)), a->Q = calloc(nu, sizeof(double));
	a->own = calloc(nu, sizeof(double)), a->tau = calloc(nu, sizeof(double));
	if (!a->actuated || !a->vdot || !a->Q || !a->own || !a->tau)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < in->acting_count; i++)
		if (in->acting[i].group == group)
			a->actuated[in->acting[i].u] = 1;
	CalStatus status = cal_work_create(model, &a->work);
	return status == CAL_OK ? cal_projection_create(model, &a->projection) : status;
}

/* tau of the actuators: X'tau = Q of the motion, less what devices and loads bring. */
static CalStatus find_actuation(Actuation *a, const CalSimView *view, const double *udot) {
	CalInput input = view->input;
	const CalProjectionOptions options = {.udot = udot};
	input.tau = NULL, input.prescribed = NULL, input.udot = NULL;
	CalStatus status = cal_projection_update(a->projection, view->state, &options, a->work);
	if (status != CAL_OK)
		return status;
	const uint8_t *independent = cal_projection_independent(a->projection);
	for (int u = 0, k = 0; u < cal_model_u_count(view->model); u++)
		if (independent[u])
			a->vdot[k++] = udot[u];
	status = cal_projected_inverse_dynamics(a->projection, view->state, a->vdot, &input, a->work, a->Q);
	if (status == CAL_OK && view->input.tau)
		status = cal_projection_forces(a->projection, view->input.tau, a->own);
	for (int k = 0; k < cal_projection_count(a->projection) && view->input.tau; k++)
		a->Q[k] -= a->own[k];
	return status == CAL_OK ? cal_projected_actuation(a->projection, a->actuated, a->Q, a->tau) : status;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void add_column(Inverse *in, const char *kind, const char *name, const char *unit) {
	char *text = in->names[in->column_count];
	snprintf(text, sizeof in->names[0], "%s%.160s", kind, name);
	in->columns[in->column_count++] = (Column){.name = text, .unit = unit, .label = panels_label(text)};
}

static int make_columns(Inverse *in, const char *path) {
	const size_t count = 1 + 3 * (size_t)in->followed_count + 2 * (size_t)in->acting_count;
	in->columns = calloc(count, sizeof *in->columns);
	in->names = calloc(count, sizeof *in->names);
	if (!in->columns || !in->names)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	add_column(in, "", "t", "s");
	for (int i = 0; i < in->followed_count; i++) {
		const Dof *dof = &in->followed[i];
		add_column(in, "q:", dof->name, dof->turns ? "rad" : "m");
		add_column(in, "u:", dof->name, dof->turns ? "rad/s" : "m/s");
		add_column(in, "udot:", dof->name, dof->turns ? "rad/s^2" : "m/s^2");
	}
	for (int i = 0; i < in->acting_count; i++) {
		add_column(in, "force:", in->acting[i].name, in->acting[i].turns ? "N m" : "N");
		add_column(in, "power:", in->acting[i].name, "W");
	}
	return EXIT_OK;
}

/* ---- how well the samples determine the forces ---------------------------------------------------------- */

/* The second difference of sample i and its neighbors. */
static double second_difference(const double *time, const double *value, int i) {
	const double h = time[i] - time[i - 1], k = time[i + 1] - time[i];
	return 2 * ((value[i + 1] - value[i]) / k - (value[i] - value[i - 1]) / h) / (h + k);
}

/* Accelerations of what is followed, by differences where the trajectory gives it, into in->udot. */
static void change_accelerations(const Inverse *in, int group, int point, const CalSimView *view) {
	const Trajectory *t = in->trajectory;
	memcpy(in->udot, view->udot, sizeof(double) * (size_t)cal_model_u_count(view->model));
	for (int k = 0; k < t->count; k++) {
		const Dof *dof = &in->followed[in->followed_count - t->count + k];
		if (dof->group == group && t->items[k].value)
			in->udot[dof->u] = second_difference(t->time, t->items[k].value, point);
	}
}

/* force[nu] is that of the row at this point of the trajectory. */
static CalStatus estimate_sampling(Inverse *in, int group, int point, const CalSimView *view, const double *force) {
	CalInput input = view->input;
	const size_t bytes = sizeof(double) * (size_t)cal_model_u_count(view->model);
	const Actuation *a = in->actuation ? &in->actuation[group] : NULL;
	memcpy(in->before, force, bytes);
	change_accelerations(in, group, point, view);
	input.udot = in->udot;
	CalStatus status = cal_hybrid_dynamics(view->model, view->state, &input, in->work[group], in->changed, in->other);
	if (status == CAL_OK && a)
		status = find_actuation(&in->actuation[group], view, in->changed);
	const double *now = a ? a->tau : in->other;
	for (int i = 0; i < in->acting_count && status == CAL_OK; i++)
		if (in->acting[i].group == group)
			in->sampling[i] = fmax(in->sampling[i], fabs(now[in->acting[i].u] - in->before[in->acting[i].u]));
	return status;
}

/* What concerns one group, into the row. */
static void fill_row(const Inverse *in, int group, const CalSimView *view, double *row) {
	const double *force = in->actuation ? in->actuation[group].tau : view->force;
	for (int i = 0; i < in->followed_count; i++) {
		const Dof *dof = &in->followed[i];
		if (dof->group != group)
			continue;
		row[1 + 3 * i] = view->state->q[dof->q];
		row[2 + 3 * i] = view->state->u[dof->u];
		row[3 + 3 * i] = view->udot[dof->u];
	}
	for (int i = 0; i < in->acting_count; i++) {
		const Dof *dof = &in->acting[i];
		double *at = row + 1 + (ptrdiff_t)3 * in->followed_count + (ptrdiff_t)2 * i;
		if (dof->group != group)
			continue;
		at[0] = force[dof->u];
		at[1] = force[dof->u] * view->state->u[dof->u];
	}
}

static int say_cannot(const Inverse *in, CalStatus status, int group, double t, const char *path) {
	char text[400];
	if (status != CAL_SINGULAR || !in->actuation)
		return say_status(path, status, NULL);
	snprintf(text, sizeof text,
	         "group \"%.80s\": the actuators cannot bring about this motion at t = %.9g s; name more of them",
	         cal_model_name(cal_sim_model(in->sim, group)), t);
	say_error(path, text);
	return EXIT_NUMERICS;
}

/* Whether something of a group follows or acts: others move by their dynamics, and need nothing. */
static bool is_concerned(const Inverse *in, int group) {
	bool concerned = false;
	for (int i = 0; i < in->followed_count; i++)
		concerned |= in->followed[i].group == group;
	for (int i = 0; i < in->acting_count; i++)
		concerned |= in->acting[i].group == group;
	return concerned;
}

/* One group at the present time. point: of the trajectory, -1: between points, or at its ends. */
static CalStatus observe_group(Inverse *in, int group, int point, double *row) {
	CalSimView view;
	CalStatus status = cal_sim_observe(in->sim, group, &view);
	if (status == CAL_OK && in->actuation)
		status = find_actuation(&in->actuation[group], &view, view.udot);
	if (status != CAL_OK)
		return status;
	fill_row(in, group, &view, row);
	if (point < 0)
		return CAL_OK;
	return estimate_sampling(in, group, point, &view, in->actuation ? in->actuation[group].tau : view.force);
}

static int take_row(Inverse *in, double t, int point, double *row, const char *path) {
	CalError error = {0};
	CalStatus status = cal_sim_time(in->sim) < t ? cal_sim_advance(in->sim, t, &error) : CAL_OK;
	if (status != CAL_OK)
		return say_status(path, status, &error);
	row[0] = cal_sim_time(in->sim);
	for (int g = 0; g < cal_sim_group_count(in->sim); g++) {
		if (cal_sim_model(in->sim, g) != in->models[g]) {
			say_error(path, "an event changes the topology during the motion; end the motion before it");
			return EXIT_INPUT;
		}
		if (is_concerned(in, g))
			status = observe_group(in, g, point, row);
		if (status != CAL_OK)
			return say_cannot(in, status, g, t, path);
	}
	return EXIT_OK;
}

static double time_at(const InverseTimes *times, size_t i) {
	if (times->given)
		return times->given[i];
	return i + 1 == times->count ? times->end : times->start + (double)i * times->interval;
}

int inverse_solve(Inverse *in, const InverseTimes *times, const char *path) {
	const size_t width = (size_t)in->column_count;
	in->rows = calloc(times->count * width + 1, sizeof *in->rows);
	if (!in->rows)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (; in->row_count < times->count; in->row_count++) {
		const size_t i = in->row_count;
		const bool inside = times->given && i > 0 && i + 1 < times->count;
		const int code = take_row(in, time_at(times, i), inside ? (int)i : -1, in->rows + i * width, path);
		if (code != EXIT_OK)
			return code;
	}
	return EXIT_OK;
}

/* ---- beginning and end ---------------------------------------------------------------------------------- */

void inverse_free(Inverse *in, int groups) {
	for (int g = 0; in->actuation && g < groups; g++)
		actuation_free(&in->actuation[g]);
	for (int g = 0; in->work && g < groups; g++)
		cal_work_destroy(in->work[g]);
	free(in->work), free(in->models), free(in->sampling), free(in->udot);
	free(in->actuation), free(in->followed), free(in->acting), free(in->columns), free(in->names), free(in->rows);
}

/* The state at the start of the motion: drives put their joints there, loops are closed. */
static int start_at(const Inverse *in, double t, const char *path) {
	CalError error = {0};
	int code = EXIT_OK;
	for (int i = 0; i < in->followed_count; i++) { // whatever the state says
		CalState *state = cal_sim_state(in->sim, in->followed[i].group);
		state->q[in->followed[i].q] = state->u[in->followed[i].u] = 0;
	}
	for (int g = 0; g < cal_sim_group_count(in->sim); g++)
		cal_sim_state(in->sim, g)->t = t;
	const CalStatus status = cal_sim_restart(in->sim, &error);
	for (int g = 0; g < cal_sim_group_count(in->sim) && code == EXIT_OK; g++)
		if (cal_model_loop_count(cal_sim_model(in->sim, g)) > 0)
			code = check_loops(in, g, path);
	return code == EXIT_OK ? say_status(path, status, &error) : code;
}

static CalStatus make_scratch(Inverse *in, int groups) {
	size_t nu = 1;
	in->models = calloc((size_t)groups + 1, sizeof *in->models);
	in->work = calloc((size_t)groups + 1, sizeof *in->work);
	in->sampling = calloc((size_t)in->acting_count + 1, sizeof *in->sampling);
	CalStatus status = in->models && in->work && in->sampling ? CAL_OK : CAL_ERR_MEMORY;
	for (int g = 0; g < groups && status == CAL_OK; g++) {
		in->models[g] = cal_sim_model(in->sim, g);
		nu += (size_t)cal_model_u_count(in->models[g]);
		status = cal_work_create(in->models[g], &in->work[g]);
	}
	in->udot = calloc(4 * nu, sizeof(double));
	if (status != CAL_OK || !in->udot)
		return status != CAL_OK ? status : CAL_ERR_MEMORY;
	in->changed = in->udot + nu, in->before = in->udot + 2 * nu, in->other = in->udot + 3 * nu;
	for (int i = 0; i < in->acting_count; i++)
		in->sampling[i] = NAN;
	return CAL_OK;
}

int inverse_prepare(Inverse *in, const InverseRequest *r, const CalSetup *setup, double start) {
	int code = find_followed(in, setup, r->path);
	if (code == EXIT_OK)
		code = find_acting(in, r);
	if (code == EXIT_OK)
		code = make_columns(in, r->path);
	if (code == EXIT_OK)
		code = start_at(in, start, r->path);
	const int groups = cal_sim_group_count(in->sim);
	if (code == EXIT_OK)
		code = say_status(r->path, make_scratch(in, groups), NULL);
	if (code == EXIT_OK && r->actuator_count) {
		in->actuation = calloc((size_t)groups + 1, sizeof *in->actuation);
		code = in->actuation ? EXIT_OK : say_status(r->path, CAL_ERR_MEMORY, NULL);
	}
	for (int g = 0; in->actuation && g < groups && code == EXIT_OK; g++)
		code = say_status(r->path, actuation_create(in, g, &in->actuation[g]), NULL);
	return code;
}
