// SPDX-License-Identifier: Apache-2.0
/*
 * jumps.c — what jumps of forces cost a fixed step.
 *
 * A device whose values have no event() states by their signs where its force begins, ends or jumps. Adaptive methods end a
 * step there, fixed steps do not: over a jump J of an acceleration, a step h of any order has an error of up to h J/2 in
 * speed, and the run is of first order. Where a value changes its sign in a step, the step is taken again in three parts: up to
 * just before the zero of the value, over it, and on to the end. The difference of speeds is the error, up to a twentieth
 * of h J. (Halves would not do: where the jump is in the first or last quarter, both the implicit midpoint rule and its
 * halves let the force act from the nearest end of the step.) The sum over all jumps deserves a doubt above 1 % of the largest
 * speed of the run. Methods of first order are not worse off at jumps than elsewhere: they are not checked.
 *
 * The steps have no effect on the run. They cost at most a tenth of it: jumps beyond that count with the mean of the
 * others.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/scheme.h"
#include "sim/sim_internal.h"

static const double jump_share = 0.01; // of the largest speed, that the errors at jumps may reach
static const double slowest = 1e-9;    // a largest speed below this is rest
static const double around = 0.05;     // of a step, on both sides of a jump: there it is taken to be

/* Values of a device that fixed steps do not end at. */
static int soft_values(const SimDevice *device) {
	const CalDeviceOps *ops = device->def.ops;
	return ops->lookahead && !ops->event ? device->def.event_count : 0;
}

int jumps_value_count(const CalSim *sim) {
	int count = 0;
	if (!method_is_fixed(sim->method.method) || cal_method_order(sim->method.method) < 2)
		return 0;
	for (int i = 0; i < sim->device_count; i++)
		count += soft_values(&sim->devices[i]);
	return count;
}

static void copy_state(const SimSystem *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

/* Of the present states of the groups; false: a device failed, which its evaluation will report. */
static bool evaluate_values(CalSim *sim, double *value) {
	CalEvalContext context = context_now(sim, false);
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const int count = soft_values(device);
		if (count == 0)
			continue;
		memset(value, 0, sizeof(double) * (size_t)count); // of one that rests: crosses nothing
		const CalDevice view = context_device(&context, device);
		if (device->active && (device->def.ops->values(&view, &context, value) != 0 || context.status != CAL_OK))
			return false;
		value += count;
	}
	return true;
}

/* The device of the first value that changed its sign, -1: none; *place: where in the step, 0 to 1, along a straight line. */
static int crossed_device(const CalSim *sim, double *place) {
	const SimSystem *w = &sim->system;
	int device = -1;
	*place = 1;
	for (int i = 0, k = 0; i < sim->device_count; i++)
		for (const int end = k + soft_values(&sim->devices[i]); k < end; k++) {
			const double from = w->soft_value[k], to = w->soft_next[k];
			if (from * to < 0 && (device < 0 || from / (from - to) < *place)) {
				device = i;
				*place = from / (from - to);
			}
		}
	return device;
}

/* The largest difference of a speed between the step that was taken and the same in parts; NAN: they failed. */
static double error_of_step(CalSim *sim, double place) {
	SimSystem *w = &sim->system;
	const CalIntegratorStats stats = w->integrator->stats;
	const double h = w->now.t - w->soft_start.t;
	const double ends[] = {fmax(place - around, 0), fmin(place + around, 1), 1};
	CalStatus status = CAL_OK;
	copy_state(w, &w->soft_start, &w->after);
	for (int i = 0; i < 3 && status == CAL_OK; i++) {
		const double part = ends[i] - (i > 0 ? ends[i - 1] : 0);
		status = part > 0 ? cal_integrator_step(w->integrator, &w->after, part * h) : CAL_OK;
	}
	w->integrator->stats = stats;
	sim_scatter(sim);
	double error = status == CAL_OK ? 0 : NAN;
	for (int i = 0; i < w->nu; i++)
		error = fmax(error, fabs(w->after.u[i] - w->now.u[i]));
	return status == CAL_OK ? error : NAN;
}

static void name_worst(CalSim *sim, int device, double error) {
	SimJumps *j = &sim->jumps;
	if (!(error > j->worst))
		return;
	doubts_drop(&sim->doubts, CAL_DOUBT_ACCURACY, j->object);
	j->worst = error;
	snprintf(j->object, sizeof j->object, "device \"%s\"", sim->devices[device].def.name);
}

static void note_jump(CalSim *sim, int device, double place) {
	SimJumps *j = &sim->jumps;
	const int64_t steps = sim_counts(sim).steps - sim->start_stats.steps;
	const bool measured = j->measured < 10 + steps / 30;
	const double error = measured ? error_of_step(sim, place) : j->sum / (double)j->measured;
	if (!isfinite(error))
		return;
	if (j->count++ == 0)
		j->time = sim->system.soft_start.t;
	if (measured) {
		j->measured++;
		name_worst(sim, device, error);
	}
	j->sum += error;
}

void jumps_begin(CalSim *sim) {
	SimSystem *w = &sim->system;
	if (w->soft_count == 0 || w->soft_known || sim->ranks || sim->subsystems)
		return;
	sim_gather(sim);
	copy_state(w, &w->now, &w->soft_start);
	w->soft_known = evaluate_values(sim, w->soft_value);
}

void jumps_note_step(CalSim *sim) {
	SimSystem *w = &sim->system;
	if (w->soft_count == 0 || !w->soft_known)
		return;
	w->soft_known = evaluate_values(sim, w->soft_next);
	double place;
	const int device = w->soft_known ? crossed_device(sim, &place) : -1;
	if (device >= 0)
		note_jump(sim, device, place);
	double *old = w->soft_value;
	w->soft_value = w->soft_next;
	w->soft_next = old;
	copy_state(w, &w->now, &w->soft_start);
}

void jumps_check(CalSim *sim) {
	const SimJumps *j = &sim->jumps;
	const double limit = jump_share * fmax(sim->fastest, slowest);
	if (!j->object[0])
		return;
	if (!(j->sum > limit)) {
		doubts_drop(&sim->doubts, CAL_DOUBT_ACCURACY, j->object);
		return;
	}
	doubts_set(
		&sim->doubts, CAL_DOUBT_ACCURACY, j->object, j->time, j->sum, limit,
		"a force jumps within %lld of the steps of %g s, most at %s, first at t = %.6g s: there %s has errors of first "
		"order in the step, up to %.2g of speeds in all (the largest speed is %.3g); take a smaller step, or the method "
		"%s, which ends its steps where forces jump",
		(long long)j->count, sim->method.step, j->object, j->time, cal_method_name(sim->method.method), j->sum,
		sim->fastest, cal_method_name(CAL_METHOD_DEFAULT));
}
