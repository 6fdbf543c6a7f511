// SPDX-License-Identifier: Apache-2.0
/*
 * balance.c — energy and momentum of all groups and devices together.
 *
 * Energy that is dissipated or supplied is integrated beside the states (sim_evaluate_inputs), by the same method; what
 * the groups and devices hold is computed when asked for. The difference is the error of the integration, if everything
 * that does work is in the accounts.
 */
#include <math.h>
#include <string.h>

#include <calder/sim.h>

#include "dynamics/tree/energy.h"
#include "model/model.h"
#include "sim/sim_internal.h"

static void add_to(CalVec3 *sum, CalVec3 v) { *sum = (CalVec3){sum->x + v.x, sum->y + v.y, sum->z + v.z}; }

/* ---- what is held now -------------------------------------------------------------------------- */

/* *same becomes false if the bits differ; then `kept` is a copy of the present ones. */
static void keep_numbers(double *kept, const double *present, int count, bool *same) {
	const size_t size = (size_t)count * sizeof(double);
	if (count == 0 || (*same && memcmp(kept, present, size) == 0))
		return;
	memcpy(kept, present, size);
	*same = false;
}

/* Forgets what was held in another state of this group: its own energy, and what devices hold. */
static void renew_group(CalSim *sim, SimGroup *group) {
	SimHoldings *held = &sim->system.held;
	bool same = group->state_kept;
	keep_numbers(held->at.q + group->kept_q, group->state.q, group->model->nq, &same);
	keep_numbers(held->at.u + group->kept_u, group->state.u, group->model->nu, &same);
	group->state_kept = true;
	group->energy_known &= same;
	held->devices_known &= same;
}

/* Forgets what devices held at other states than the present ones. */
static void renew_devices(CalSim *sim) {
	SimHoldings *held = &sim->system.held;
	int d = 0;
	for (int i = 0; i < sim->group_count; i++)
		renew_group(sim, &sim->groups[i]);
	bool same = held->devices_known; // otherwise there may be nothing to compare with yet
	keep_numbers(&held->at.t, &sim->groups[0].state.t, 1, &same);
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		keep_numbers(held->at.x + device->x_at, device->x, device->def.nx, &same);
		keep_numbers(held->d + d, device->is.d, device->def.nd, &same);
		d += device->def.nd;
	}
	held->devices_known = same;
}

void balance_hold(CalSim *sim, SimGroup *group) {
	renew_group(sim, group);
	if (!group->energy_known)
		energy_and_momentum(group->model, &group->state, group->view_work, &group->energy, &group->momentum);
	group->energy_known = true;
}

static CalStatus hold_devices(CalSim *sim) {
	SimHoldings *held = &sim->system.held;
	CalEvalContext context;
	renew_devices(sim);
	if (held->devices_known)
		return CAL_OK;
	const CalStatus status = sim_evaluate_for_observers(sim, false, &context);
	held->stored = context.stored;
	held->linear = context.linear;
	held->angular = context.angular;
	held->devices_known = status == CAL_OK;
	return status;
}

/* Everything but the differences since the start. */
static CalStatus present(CalSim *sim, CalSimBalance *balance) {
	*balance = (CalSimBalance){.complete = !sim->unaccounted};
	const CalStatus status = hold_devices(sim);
	balance->stored = sim->system.held.stored;
	balance->linear = sim->system.held.linear;
	balance->angular = sim->system.held.angular;
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++) {
		SimGroup *group = &sim->groups[i];
		balance->complete &= !group->unaccounted;
		if (group->motion)
			continue;
		balance_hold(sim, group);
		balance->groups += group->energy.total;
		add_to(&balance->linear, group->momentum.linear);
		add_to(&balance->angular, group->momentum.angular_origin);
	}
	for (int i = 0; i < sim->device_count; i++)
		balance->complete &= sim->devices[i].def.accounts != 0;
	return status;
}

/* ---- energies ---------------------------------------------------------------------------------- */

double balance_scale(void *user, const CalState *state) {
	CalSim *sim = user;
	double kinetic = 0;
	int q = 0, u = 0;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		const CalState own = {.t = state->t, .q = state->q + q, .u = state->u + u};
		CalEnergy energy = {0};
		if (!group->motion && cal_energy(group->model, &own, group->view_work, &energy) == CAL_OK)
			kinetic += energy.kinetic;
		q += group->model->nq;
		u += group->model->nu;
	}
	return kinetic;
}

CalStatus balance_start(CalSim *sim) {
	CalSimBalance balance;
	memset(sim->account, 0, sizeof sim->account);
	sim->unaccounted = 0;
	CalStatus status = present(sim, &balance);
	sim->start_energy = balance.groups + balance.stored;
	return status;
}

double balance_energy(SimGroup *group) {
	CalEnergy energy = {0};
	CalMomentum momentum;
	if (!group->motion)
		energy_and_momentum(group->model, &group->state, group->view_work, &energy, &momentum);
	return energy.total;
}

/* If a device fails here, it fails in the next step too, which says so. */
double balance_stored(CalSim *sim) {
	CalEvalContext context;
	return sim->started && sim->device_count > 0 && sim_evaluate_for_observers(sim, false, &context) == CAL_OK
	           ? context.stored
	           : 0;
}

void balance_add_loss(CalSim *sim, double lost) {
	if (lost >= 0)
		sim->account[ACCOUNT_DISSIPATED] += lost;
	else
		sim->account[ACCOUNT_SUPPLIED] -= lost;
}

CalStatus cal_sim_balance(CalSim *sim, CalSimBalance *balance) {
	if (!sim || !balance)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status == CAL_OK)
		status = present(sim, balance);
	balance->dissipated = sim->account[ACCOUNT_DISSIPATED];
	balance->supplied = sim->account[ACCOUNT_SUPPLIED];
	balance->error = balance->groups + balance->stored + balance->dissipated - balance->supplied - sim->start_energy;
	return status;
}
