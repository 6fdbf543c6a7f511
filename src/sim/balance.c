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

/* Everything but the differences since the start. */
static CalStatus present(CalSim *sim, CalSimBalance *balance) {
	*balance = (CalSimBalance){.complete = !sim->unaccounted};
	CalEvalContext context;
	CalStatus status =
		sim_evaluate_for_observers(sim, false, &context); // first: the calls below use the same workspaces
	balance->stored = context.stored;
	balance->linear = context.linear;
	balance->angular = context.angular;
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++) {
		SimGroup *group = &sim->groups[i];
		CalEnergy energy = {0};
		CalMomentum momentum = {0};
		if (group->motion) {
			balance->complete &= !group->unaccounted;
			continue;
		}
		status = cal_energy(group->model, &group->state, group->view_work, &energy);
		if (status == CAL_OK)
			status = cal_momentum(group->model, &group->state, group->view_work, &momentum);
		balance->groups += energy.total;
		add_to(&balance->linear, momentum.linear);
		add_to(&balance->angular, momentum.angular_origin);
		balance->complete &= !group->unaccounted;
	}
	for (int i = 0; i < sim->device_count; i++)
		balance->complete &= sim->devices[i].def.accounts != 0;
	return status;
}

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
