// SPDX-License-Identifier: Apache-2.0
/*
 * formulation.c — runs with system matrices that are held between updates (`formulation: system`, docs/modes.md).
 *
 * Updates are made between steps, every CalFormulationOptions.update seconds and after events: each group's matrices are
 * formed at its state, and speeds lose what is in modes that are not retained. Just before that the accelerations of the
 * retained modes are compared with those of order N at the same state: this is the error of the delay. Of the modes that
 * are not retained the strain energy of the deflections is noted that they should have and have not.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "linear/system_form.h"
#include "model/model.h"
#include "sim/sim_internal.h"

static const double doubtful = 0.05; // part of the accelerations, from which on an error is a doubt

/* ---- making --------------------------------------------------------------------------------- */

CalStatus formulation_check(const CalSimOptions *options, CalError *error) {
	const CalFormulationOptions *f = &options->formulation;
	const CalMethodInfo *info = cal_method_info(options->method.method);
	if (f->kind == CAL_FORMULATION_ORDER_N)
		return CAL_OK;
	if (f->kind != CAL_FORMULATION_SYSTEM || (int)f->unretained < 0 || f->unretained > CAL_UNRETAINED_BOUNDED)
		return error_set(error, CAL_ERR_ARGUMENT, "formulation: unknown kind, or unknown treatment of other modes");
	if (!(f->update > 0) || !isfinite(f->update))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "formulation system: give the time between updates of the matrices, e.g. update: 10 ms");
	if (!(f->retain >= 0) || !isfinite(f->retain))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "formulation system: the retained frequency must not be negative (it is %g rad/s)", f->retain);
	if (info && !info->held_matrices)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "formulation system: the method %s does not work with matrices that are held; take "
		                 "euler-cromer, rk4 or dopri5",
		                 info->name);
	if (options->threads > 1 || options->branches > 1)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "formulation system: the system matrices are solved by one thread; leave out threads and "
		                 "branches, or take formulation order-n");
	return CAL_OK;
}

CalStatus formulation_refuse(const CalSim *sim, const char *what, CalError *error) {
	if (sim->formulation.options.kind == CAL_FORMULATION_ORDER_N)
		return CAL_OK;
	return error_set(error, CAL_ERR_UNSUPPORTED, "%s: not with formulation system; take formulation order-n", what);
}

CalStatus formulation_create(CalSim *sim, CalError *error) {
	SimFormulation *f = &sim->formulation;
	CalStatus status = CAL_OK;
	f->due = true;
	if (f->options.kind == CAL_FORMULATION_ORDER_N)
		return CAL_OK;
	f->forms = memory_alloc(&sim->allocator, (size_t)sim->group_count * sizeof *f->forms);
	if (f->forms)
		memset(f->forms, 0, (size_t)sim->group_count * sizeof *f->forms);
	for (int i = 0; f->forms && i < sim->group_count && status == CAL_OK; i++)
		status = cal_system_form_create(sim->groups[i].model, &f->options, &sim->allocator, &f->forms[i]);
	if (f->forms && status == CAL_OK)
		return CAL_OK;
	status = f->forms ? status : CAL_ERR_MEMORY;
	return error_set(error, status, "formulation system: cannot make the matrices: %s", cal_status_text(status));
}

void formulation_release(CalSim *sim) {
	for (int i = 0; sim->formulation.forms && i < sim->group_count; i++)
		cal_system_form_destroy(sim->formulation.forms[i]);
	memory_free(&sim->allocator, sim->formulation.forms);
	sim->formulation.forms = NULL;
}

void formulation_restart(CalSim *sim) {
	const SimFormulation was = sim->formulation;
	sim->formulation = (SimFormulation){.options = was.options, .forms = was.forms, .due = true};
}

/* ---- errors --------------------------------------------------------------------------------- */

/*
 * Squares of norms over the retained modes, at the present state: of the error, and of the accelerations of order N. Forces
 * on the other modes are left out of both: they are far from the equilibrium that they would be in if these moved.
 */
static CalStatus compare_group(CalSim *sim, int group, SimErrorSums *sum) {
	SimGroup *g = &sim->groups[group];
	CalSystemForm *form = sim->formulation.forms[group];
	CalInput input = sim->system.inputs[group];
	CalStatus status = cal_system_form_dynamics(form, &g->state, &input, g->view_work, g->force, NULL);
	for (int i = 0; i < g->model->nu; i++)
		g->drive_force[i] = input.tau ? input.tau[i] : 0;
	cal_system_form_filter(form, g->drive_force);
	input.tau = g->drive_force;
	if (status == CAL_OK)
		status = cal_forward_dynamics(g->model, &g->state, &input, g->view_work, g->udot);
	for (int i = 0; i < g->model->nu; i++)
		g->force[i] -= g->udot[i];
	const double error = cal_system_form_norm(form, g->force), all = cal_system_form_norm(form, g->udot);
	sum->error += error * error;
	sum->all += all * all;
	return status;
}

static void note_delay(CalSim *sim, SimErrorSums now) {
	SimFormulation *f = &sim->formulation;
	f->last = now;
	f->delayed.error += now.error;
	f->delayed.all += now.all;
	f->largest_all = fmax(f->largest_all, sqrt(now.all));
	if (!(sqrt(now.error) > f->largest))
		return;
	f->largest = sqrt(now.error);
	f->largest_time = cal_sim_time(sim);
}

/* With the matrices of an update: what the modes that are not retained have not got, beside the energy that there is. */
static CalStatus measure_group(CalSim *sim, int group, SimErrorSums *sum) {
	SimGroup *g = &sim->groups[group];
	CalSystemForm *form = sim->formulation.forms[group];
	CalEnergy energy = {0};
	CalStatus status =
		cal_system_form_dynamics(form, &g->state, &sim->system.inputs[group], g->view_work, g->force, NULL);
	if (status == CAL_OK)
		status = cal_energy(g->model, &g->state, g->view_work, &energy);
	sum->error += cal_system_form_missing_energy(form);
	sum->all += energy.kinetic + energy.elastic;
	return status;
}

static double ratio(double part, double all) { return all > 0 ? part / all : 0; }

void formulation_examine(CalSim *sim) {
	const CalFormulationReport r = cal_sim_formulation(sim);
	const double missing = ratio(r.missing_energy, sim->formulation.energy);
	const double update = sim->formulation.options.update;
	doubts_drop(&sim->doubts, CAL_DOUBT_FORMULATION, "updates");
	doubts_drop(&sim->doubts, CAL_DOUBT_FORMULATION, "modes");
	if (r.error > doubtful)
		doubts_set(&sim->doubts, CAL_DOUBT_FORMULATION, "updates", r.largest_time, r.error, doubtful,
		           "accelerations by system matrices differ from those of order N by %.2g %%: update the matrices more "
		           "often than every %g s, or take formulation order-n",
		           100 * r.error, update);
	if (missing > doubtful)
		doubts_set(&sim->doubts, CAL_DOUBT_FORMULATION, "modes", cal_sim_time(sim), missing, doubtful,
		           "deflections of modes that are not retained would hold %.3g J, %.2g %% of the kinetic and strain "
		           "energy: retain a higher frequency than %.4g rad/s%s",
		           r.missing_energy, 100 * missing, sim->formulation.options.retain,
		           sim->formulation.options.unretained == CAL_UNRETAINED_FROZEN ? ", or take unretained: bounded" : "");
}

CalFormulationReport cal_sim_formulation(const CalSim *sim) {
	CalFormulationReport r = {0};
	if (!sim || !sim->formulation.forms)
		return r;
	const SimFormulation *f = &sim->formulation;
	for (int i = 0; i < sim->group_count; i++) {
		const CalSystemFormInfo info = cal_system_form_info(f->forms[i]);
		r.modes += info.modes;
		r.retained += info.retained;
		r.highest = fmax(r.highest, info.highest);
		r.next = r.next > 0 && info.next > 0 ? fmin(r.next, info.next) : fmax(r.next, info.next);
	}
	r.updates = f->updates;
	r.error = sqrt(ratio(f->delayed.error, f->delayed.all));
	r.last = sqrt(ratio(f->last.error, f->last.all));
	r.largest = ratio(f->largest, f->largest_all);
	r.largest_time = f->largest_time;
	r.missing_energy = f->missing_energy;
	r.energy_removed = f->energy_removed;
	return r;
}

/* ---- updates -------------------------------------------------------------------------------- */

static const double same_time = 1e-9; // of the time between updates: roundings

double formulation_next(const CalSim *sim, double limit) {
	const SimFormulation *f = &sim->formulation;
	if (!f->forms)
		return INFINITY;
	return fabs(f->next - limit) <= same_time * f->options.update ? limit : f->next;
}

static bool is_due(const CalSim *sim) {
	const SimFormulation *f = &sim->formulation;
	return f->forms && (f->due || cal_sim_time(sim) >= f->next - same_time * f->options.update);
}

static CalStatus update_group(CalSim *sim, int group, SimErrorSums *sum) {
	SimGroup *g = &sim->groups[group];
	SimFormulation *f = &sim->formulation;
	CalSystemForm *form = f->forms[group];
	const CalInput *input = &sim->system.inputs[group];
	const uint8_t *prescribed = input->prescribed ? input->prescribed : g->model->prescribed;
	(void)sum;
	CalStatus status = cal_system_form_update(form, &g->state, prescribed, g->view_work);
	if (status == CAL_OK)
		f->energy_removed += cal_system_form_project(form, g->state.u);
	return status;
}

typedef CalStatus (*GroupFn)(CalSim *sim, int group, SimErrorSums *sum);

/* All groups that move by their dynamics. */
static CalStatus each_group(CalSim *sim, GroupFn run, SimErrorSums *sum) {
	CalEvalContext context;
	CalStatus status = sim_evaluate_for_observers(sim, true, &context);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = sim->groups[i].motion ? CAL_OK : run(sim, i, sum);
	return status;
}

CalStatus formulation_update(CalSim *sim) {
	SimFormulation *f = &sim->formulation;
	SimErrorSums delay = {0}, missing = {0};
	if (!is_due(sim))
		return CAL_OK;
	const double removed = f->energy_removed, update = f->options.update;
	CalStatus status = CAL_OK;
	if (f->updates > 0 && !f->due && (status = each_group(sim, compare_group, &delay)) == CAL_OK)
		note_delay(sim, delay);
	if (status == CAL_OK)
		status = each_group(sim, update_group, NULL);
	if (status == CAL_OK)
		status = each_group(sim, measure_group, &missing);
	if (status != CAL_OK)
		return status;
	f->missing_energy = fmax(f->missing_energy, missing.error);
	f->energy = fmax(f->energy, missing.all);
	f->updates++;
	f->next = sim->start_time + update * (floor((cal_sim_time(sim) - sim->start_time) / update + same_time) + 1);
	f->due = false;
	balance_add_loss(sim, f->energy_removed - removed);
	cal_integrator_renew(sim->system.integrator);
	sim->system.values_known = false;
	return CAL_OK;
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

void formulation_walk(CalSim *sim, Serializer *a) {
	SimFormulation *f = &sim->formulation;
	if (!f->forms)
		return;
	double *const numbers[] = {&f->next,     &f->missing_energy, &f->energy,        &f->last.error,
	                           &f->last.all, &f->delayed.error,  &f->delayed.all,   &f->largest_all,
	                           &f->largest,  &f->largest_time,   &f->energy_removed};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		serializer_finite(a, numbers[i], 1);
	serializer_i64_within(a, &f->updates, 0, INT64_MAX / 4);
	serializer_bool(a, &f->due);
	for (int i = 0; i < sim->group_count; i++)
		system_form_walk(f->forms[i], a);
}

void formulation_restore(CalSim *sim) {
	for (int i = 0; sim->formulation.forms && i < sim->group_count; i++)
		system_form_restore(sim->formulation.forms[i], sim->groups[i].view_work);
}
