// SPDX-License-Identifier: Apache-2.0
/*
 * advance.c — moving all groups of a simulation forward in time.
 *
 * Where an input jumps (CalSwitchFn), steps end and the integrator starts afresh behind it, so that a
 * method keeps its order across jumps (docs/decisions/0005). Groups do not act on each other; each
 * advances on its own to the end.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include <calder/sim.h>

#include "base/error.h"
#include "sim/group.h"

typedef struct Clocks {
	double wall, cpu; // [s]
} Clocks;

static double seconds(clockid_t clock) {
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Clocks clocks_now(void) { return (Clocks){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)}; }

static void clocks_add(CalSim *sim, Clocks since) {
	Clocks now = clocks_now();
	sim->wall_s += now.wall - since.wall;
	sim->cpu_s += now.cpu - since.cpu;
}

/* ---- failures ---------------------------------------------------------------------------------- */

static const char *remedy(CalStatus status) {
	switch (status) {
	case CAL_SINGULAR:
		return "give the bodies beyond the joint mass and inertia, or the joint a rotor inertia";
	case CAL_NOT_FINITE:
		return "the motion or a load grew without bound; try a smaller step and look at the loads";
	case CAL_STEP_TOO_SMALL:
		return "loosen rtol and atol, or look for a jump in the loads or a very stiff spring";
	case CAL_TOO_MANY_STEPS:
		return "raise max_steps, or loosen rtol and atol";
	case CAL_NOT_CONVERGED:
		return "take a smaller step; if that does not help, look for a motion that the loops do not allow";
	case CAL_ERR_USER:
		return "see what the input function refuses at this time";
	default:
		return "check the arguments of the call";
	}
}

static CalStatus report(const SimGroup *group, CalStatus status, CalError *error) {
	if (!error || status == CAL_OK)
		return status;
	char joint[160] = "";
	int dof = cal_work_culprit(group->work);
	if ((status == CAL_SINGULAR || status == CAL_NOT_FINITE) && dof >= 0) {
		char name[96] = "";
		cal_model_dof_name(group->model, dof, name, sizeof name);
		snprintf(joint, sizeof joint, ", joint \"%s\"", name);
	}
	if (status == CAL_NOT_CONVERGED)
		group_worst_row(group, joint, sizeof joint);
	return error_set(error, status, "group \"%s\", t = %.9g s%s: %s; %s", cal_model_name(group->model), group->state.t,
	                 joint, cal_status_text(status), remedy(status));
}

/* ---- one group --------------------------------------------------------------------------------- */

/* A stretch of time without a jump of the input inside. */
typedef struct Stretch {
	double end;
	bool jump; // the input jumps at its end
} Stretch;

static Stretch stretch_from(const SimGroup *group, double limit) {
	double next = group->next_switch ? group->next_switch(group->user, group->state.t) : INFINITY;
	bool jump = next > group->state.t && next <= limit;
	return (Stretch){.end = jump ? next : limit, .jump = jump};
}

/* Behind a jump the last evaluation, from the left of it, must not be used again. */
static void stretch_leave(SimGroup *group, Stretch stretch) {
	if (stretch.jump && group->state.t == stretch.end)
		cal_integrator_reset(group->integrator);
}

static CalStatus group_advance(SimGroup *group, double t_end) {
	CalStatus status = CAL_OK;
	while (group->state.t < t_end && status == CAL_OK) {
		Stretch stretch = stretch_from(group, t_end);
		status = cal_integrator_advance(group->integrator, &group->state, stretch.end);
		stretch_leave(group, stretch);
	}
	return status;
}

/* One step; a remainder of a few roundings is swallowed, so that no step has the size of one. */
static CalStatus group_step(SimGroup *group, const CalIntegratorOptions *method, double t_limit) {
	Stretch stretch = stretch_from(group, t_limit);
	double t = group->state.t, h = stretch.end - t;
	double rounding = 4 * DBL_EPSILON * fmax(fabs(t), fabs(stretch.end));
	if (method_is_fixed(method->method) && method->step + rounding < h)
		h = method->step;
	CalStatus status = cal_integrator_step(group->integrator, &group->state, h);
	if (status == CAL_OK && fabs(stretch.end - group->state.t) <= rounding)
		group->state.t = stretch.end;
	stretch_leave(group, stretch);
	return status;
}

/* ---- all groups -------------------------------------------------------------------------------- */

static CalStatus begin(CalSim *sim, double t_end, CalError *error) {
	double t = cal_sim_time(sim);
	if (!isfinite(t_end) || t_end < t)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cannot advance from t = %.9g s to t = %.9g s; time only runs forward", t, t_end);
	return sim->started ? CAL_OK : cal_sim_restart(sim, error);
}

CalStatus cal_sim_advance(CalSim *sim, double t_end, CalError *error) {
	CalStatus status = begin(sim, t_end, error);
	if (status != CAL_OK)
		return status;
	Clocks since = clocks_now();
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = report(&sim->groups[i], group_advance(&sim->groups[i], t_end), error);
	clocks_add(sim, since);
	return status;
}

CalStatus cal_sim_step(CalSim *sim, double t_limit, CalError *error) {
	CalStatus status = begin(sim, t_limit, error);
	if (status != CAL_OK || t_limit == cal_sim_time(sim))
		return status;
	Clocks since = clocks_now();
	status = report(&sim->groups[0], group_step(&sim->groups[0], &sim->method, t_limit), error);
	for (int i = 1; i < sim->group_count && status == CAL_OK; i++)
		status = report(&sim->groups[i], group_advance(&sim->groups[i], cal_sim_time(sim)), error);
	clocks_add(sim, since);
	return status;
}

static CalStatus assemble(SimGroup *group, CalProjectReport *left, CalError *error) {
	const CalStatus status = group_assemble(group, left, error);
	return status == CAL_NOT_CONVERGED ? status : report(group, status, error); // that has been told
}

CalStatus cal_sim_assemble(CalSim *sim, int group, CalProjectReport *left, CalError *error) {
	CalProjectReport own;
	if (!sim || group < 0 || group >= sim->group_count)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_assemble: there is no group %d", group);
	return assemble(&sim->groups[group], left ? left : &own, error);
}

CalStatus cal_sim_restart(CalSim *sim, CalError *error) {
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		if (group->state.t != cal_sim_time(sim))
			return error_set(error, CAL_ERR_ARGUMENT,
			                 "group \"%s\" is at t = %.9g s and group \"%s\" at %.9g s; give all "
			                 "states the same time",
			                 cal_model_name(group->model), group->state.t, cal_model_name(sim->groups[0].model),
			                 cal_sim_time(sim));
		CalStatus status = report(group, cal_config_normalize(group->model, group->state.q), error);
		if (status == CAL_OK) {
			CalProjectReport left;
			status = assemble(group, &left, error);
		}
		if (status == CAL_OK)
			status = report(group, group_start(group), error);
		if (status != CAL_OK)
			return status;
		cal_integrator_reset(group->integrator);
		group->start_stats = cal_integrator_stats(group->integrator);
	}
	sim->started = 1;
	sim->start_time = cal_sim_time(sim);
	sim->wall_s = 0;
	sim->cpu_s = 0;
	return CAL_OK;
}

CalSimStats cal_sim_stats(const CalSim *sim) {
	CalSimStats stats = {.wall_s = sim->wall_s, .cpu_s = sim->cpu_s};
	if (!sim->started)
		return stats;
	for (int i = 0; i < sim->group_count; i++) {
		CalIntegratorStats now = cal_integrator_stats(sim->groups[i].integrator);
		const CalIntegratorStats *start = &sim->groups[i].start_stats;
		stats.steps += now.steps - start->steps;
		stats.rejected += now.rejected - start->rejected;
		stats.evaluations += now.evaluations - start->evaluations;
	}
	stats.time = cal_sim_time(sim) - sim->start_time;
	stats.real_time_factor = sim->wall_s > 0 ? stats.time / sim->wall_s : 0;
	return stats;
}
