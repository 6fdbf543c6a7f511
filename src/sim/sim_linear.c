// SPDX-License-Identifier: Apache-2.0
/*
 * sim_linear.c — a group of a simulation linearized at its present state, with everything that acts on it.
 *
 * Displaced states are put into the group, and what acts there is asked for as observers do. The state is put back bit by
 * bit, and nothing of this has an effect on the run.
 */
#include <string.h>

#include <calder/linear.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/model.h"
#include "sim/sim_internal.h"

typedef struct DisplacedGroup {
	CalSim *sim;
	int group;
	CalStatus status; // of the last evaluation
} DisplacedGroup;

static int input_at(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	DisplacedGroup *d = user;
	CalEvalContext context;
	cal_state_copy(model, state, &d->sim->groups[d->group].state);
	d->status = sim_evaluate_for_observers(d->sim, true, &context);
	*input = d->sim->system.inputs[d->group];
	return d->status != CAL_OK;
}

static CalStatus check_group(const CalSim *sim, int group, CalError *error) {
	if (group < 0 || group >= sim->group_count)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_linearize: there is no group %d", group);
	if (sim->groups[group].motion)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "cal_sim_linearize: the motion of group \"%s\" is given: it has no equations of motion",
		                 cal_model_name(sim->groups[group].model));
	if (subsystems_first(sim))
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"cal_sim_linearize: subsystem \"%.100s\" is tied to the groups by constraints that this does not "
			"know; take it as part of its group (component: false), or the model without it",
			subsystems_first(sim));
	return CAL_OK;
}

CalStatus cal_sim_linearize(CalSim *sim, int group, const CalLinearOptions *options, CalLinear *linear,
                            CalError *error) {
	if (!sim || !linear)
		return error_null(error, __func__, !sim ? "sim" : "linear");
	*linear = (CalLinear){0};
	CalStatus status = check_group(sim, group, error);
	if (status == CAL_OK && !sim->started)
		status = cal_sim_restart(sim, error);
	if (status != CAL_OK)
		return status;
	SimGroup *g = &sim->groups[group];
	DisplacedGroup displaced = {.sim = sim, .group = group};
	CalWork *work = NULL;
	CalState state = {0};
	status = cal_work_create(g->model, &work);
	if (status == CAL_OK)
		status = cal_state_create(g->model, &state);
	if (status == CAL_OK) {
		cal_state_copy(g->model, &g->state, &state);
		status = cal_linearize(g->model, &state, input_at, &displaced, options, work, linear, error);
		cal_state_copy(g->model, &state, &g->state);
	} else
		error_set(error, status, "cal_sim_linearize: %s", cal_status_text(status));
	cal_state_destroy(&state);
	cal_work_destroy(work);
	return status;
}
