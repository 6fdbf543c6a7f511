// SPDX-License-Identifier: Apache-2.0
/*
 * examine.c — what there is to doubt in a run so far: its energy balance, its step, the steps that were cut short.
 *
 * The balance of a run is complete if everything that acts accounts for its work. Its error is then one of the integration,
 * and is measured by the energy E that has moved: kinetic energy, dissipated and supplied.
 *   adaptive methods   rtol E in each step, and 1000 times that for jumps of forces
 *   fixed steps        1 % of E: there is no tolerance that says how much is meant
 * Round-off comes on top of both: 1e-13 of all energies for each of the first ten steps, by the square root of the number
 * of steps from there on.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "component/branch_step.h"
#include "model/work.h"
#include "sim/sim_internal.h"

static const double fixed_share = 0.01, partition_assign = 0.01, jump_steps = 1e3, round_off = 1e-13;
enum { PROBE_EVALUATIONS = 2500 }; // from one look at the stability to the next: it costs some 20 to 60 of them

/* ---- balance ------------------------------------------------------------------------------------- */

/* What weights are worth at their distance from the origin, where energies may cancel: round-off is of this size. */
static double weight_energy(CalSim *sim) {
	double sum = 0;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		const CalVec3 g = cal_model_gravity(group->model);
		balance_hold(sim, group);
		const CalMomentum *m = &group->momentum;
		sum += m->mass * sqrt((g.x * g.x + g.y * g.y + g.z * g.z) *
		                      (m->com.x * m->com.x + m->com.y * m->com.y + m->com.z * m->com.z));
	}
	return sum;
}

static double kinetic_energy(CalSim *sim) {
	double sum = 0;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		if (group->motion)
			continue;
		balance_hold(sim, group);
		sum += group->energy.kinetic;
	}
	return sum;
}

static void note_fixed(CalSim *sim, double error, double moved, double allowed) {
	doubts_note(
		&sim->doubts, CAL_DOUBT_BALANCE, "", cal_sim_time(sim), error, allowed,
		"energy balance error %.3g J at t = %.6g s, %.2g %% of the %.4g J that moved: a step of %g s is too large "
		"for %s; take a smaller one, or the method %s",
		error, cal_sim_time(sim), 100 * error / moved, moved, sim->method.step, cal_method_name(sim->method.method),
		cal_method_name(CAL_METHOD_DEFAULT));
}

static void note_adaptive(CalSim *sim, double error, double moved, double allowed) {
	const CalIntegratorOptions used = cal_integrator_options(&sim->method);
	doubts_note(
		&sim->doubts, CAL_DOUBT_BALANCE, "", cal_sim_time(sim), error, allowed,
		"energy balance error %.3g J at t = %.6g s, %.2g of the %.4g J that moved; rtol %g explains %.2g J: take a "
		"smaller rtol, or look for forces that jump",
		error, cal_sim_time(sim), error / moved, moved, used.rtol, allowed);
}

static void note_held(CalSim *sim, double error, double moved, double allowed) {
	doubts_note(
		&sim->doubts, CAL_DOUBT_BALANCE, "", cal_sim_time(sim), error, allowed,
		"energy balance error %.3g J at t = %.6g s, %.2g %% of the %.4g J that moved, with system matrices that are "
		"held for %g s: update them more often, retain more modes, take a smaller step, or formulation order-n",
		error, cal_sim_time(sim), 100 * error / moved, moved, sim->formulation.options.update);
}

static CalStatus examine_balance(CalSim *sim) {
	CalSimBalance b;
	const CalStatus status = cal_sim_balance(sim, &b);
	if (status != CAL_OK || !b.complete)
		return status;
	const bool held = sim->formulation.forms, fixed = held || method_is_fixed(sim->method.method);
	const double steps = (double)(sim_counts(sim).steps - sim->start_stats.steps), error = fabs(b.error);
	sim->energy_moved = fmax(sim->energy_moved, kinetic_energy(sim) + fabs(b.dissipated) + fabs(b.supplied));
	const double moved = sim->energy_moved,
				 all = moved + fabs(b.groups) + fabs(b.stored) + fabs(sim->start_energy) + weight_energy(sim);
	const double share = fixed ? fixed_share : cal_integrator_options(&sim->method).rtol * (jump_steps + steps);
	const double allowed = share * moved + round_off * (10 + sqrt(steps)) * all;
	if (error > allowed || !isfinite(error))
		(held ? note_held : fixed ? note_fixed : note_adaptive)(sim, error, fmax(moved, DBL_MIN), allowed);
	return CAL_OK;
}

/* ---- steps --------------------------------------------------------------------------------------- */

void examine_note_shortened_step(CalSim *sim) {
	const double last = sim_counts(sim).last_step;
	const bool whole = last > sim->method.step * (1 - 1e-6), rounding = last < sim->method.step * 1e-6;
	if (!method_is_fixed(sim->method.method) || whole || rounding)
		return;
	sim->shortened_smallest = sim->shortened_steps == 0 ? last : fmin(sim->shortened_smallest, last);
	sim->shortened_steps++;
}

/* A few are no matter: the end of a run, the first sample after an event. */
static void examine_steps(CalSim *sim) {
	const int64_t steps = sim_counts(sim).steps - sim->start_stats.steps;
	if (sim->shortened_steps < 2 || (double)sim->shortened_steps < partition_assign * (double)steps)
		return;
	doubts_set(
		&sim->doubts, CAL_DOUBT_STEPS, "", cal_sim_time(sim), sim->method.step, sim->shortened_smallest,
		"%lld of %lld steps are shorter than the %g s that were asked for, down to %.3g s: samples are taken between "
		"steps; make their interval a multiple of the step",
		(long long)sim->shortened_steps, (long long)steps, sim->method.step, sim->shortened_smallest);
}

/* ---- light links in loops ----------------------------------------------------------------------- */

static const double known_digits = 1e-9; // of accelerations, the error that nobody minds

/* Workspaces of forward dynamics: of the model in one piece, and of what its branches hand over. */
static int group_works(const SimGroup *group, CalWork *works[2]) {
	CalWork *whole = group->branches ? branches_whole(group->branches) : NULL;
	works[0] = group->work;
	works[1] = whole;
	return whole ? 2 : 1;
}

void examine_forget_loops(SimGroup *group) {
	CalWork *works[2];
	for (int i = group_works(group, works) - 1; i >= 0; i--)
		works[i]->loops.worst = 0;
}

bool group_lost_digits(const SimGroup *group) {
	CalWork *works[2];
	bool lost = false;
	for (int i = group_works(group, works) - 1; i >= 0; i--)
		lost |= works[i]->loops.hopeless != 0;
	return lost;
}

static void examine_loops(CalSim *sim, const SimGroup *group) {
	CalWork *works[2];
	double worst = 0;
	char object[96];
	for (int i = group_works(group, works) - 1; i >= 0; i--)
		worst = fmax(worst, works[i]->loops.worst);
	if (!(worst > known_digits))
		return;
	snprintf(object, sizeof object, "group \"%s\"", cal_model_name(group->model));
	doubts_set(
		&sim->doubts, CAL_DOUBT_ACCURACY, object, cal_sim_time(sim), worst, known_digits,
		"%s: accelerations may have a relative error of up to %.2g: inertias along a loop differ by more than the "
		"numbers can resolve; give its lightest bodies more mass, or leave them out",
		object, worst);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

CalStatus cal_sim_examine(CalSim *sim) {
	if (!sim)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status == CAL_OK)
		status = examine_balance(sim);
	if (status != CAL_OK)
		return status;
	examine_steps(sim);
	accuracy_check(sim);
	formulation_examine(sim);
	for (int i = 0; i < sim->group_count; i++)
		examine_loops(sim, &sim->groups[i]);
	const int64_t evaluations = sim_counts(sim).evaluations;
	if (sim->formulation.forms && sim->formulation.due) // the matrices of the next step are not there yet
		return CAL_OK;
	if (sim->probed && evaluations - sim->probed_at < PROBE_EVALUATIONS)
		return CAL_OK;
	stability_examine(sim);
	accuracy_probe(sim);
	sim->probed = true;
	sim->probed_at = evaluations;
	return CAL_OK;
}
