// SPDX-License-Identifier: Apache-2.0
/*
 * sampler_sample.c — the values of a sampler's columns now.
 *
 * Phases in order: for each group its kinematics, or one forward dynamics if a quantity needs that, then, where asked for, the
 * multipliers, reactions and residuals of all its joints and loops; then what stands for itself; then one evaluation context for devices and pairs of nodes. A
 * quantity of which one component is wanted is computed as a whole all the same.
 */
#include <math.h>
#include <string.h>

#include <calder/mechanism.h>

#include "quantity/sampler.h"

/* PHASE_COUNT: none. */
static QuantityPhase phase_of(const SampledItem *item) {
	return item->unwanted ? PHASE_COUNT : item->object.pair ? PHASE_CONTEXT : item->quantity->phase;
}

/* values: all that the quantity has. */
static void put_values(const SampledItem *item, const double *values, double *row) {
	if (item->only >= 0)
		row[item->first] = values[item->only];
	else
		memcpy(row + item->first, values, (size_t)item->count * sizeof *row);
}

/* Of a dependent joint of an embedded mechanism: its coordinate, speed or acceleration; efforts on it are not known. */
static double dependent_value(const Sampling *s, CoordinateOrder order, const ColumnPlace *place) {
	const CalSimView *view = s->view;
	const double *of[3] = {0};
	const int which = order == ORDER_Q ? 0 : order == ORDER_U ? 1 : order == ORDER_UDOT ? 2 : -1;
	if (which < 0 || cal_mechanism_motion(view->model, place->mechanism - 1, view->state, view->udot, view->work,
	                                      &of[0], &of[1], which == 2 ? &of[2] : NULL) != CAL_OK)
		return NAN;
	return of[which][place->at];
}

static CalStatus sample_item(const CalSampler *sampler, const Sampling *s, const SampledItem *item, double *row) {
	if (item->quantity->element) {
		for (int i = item->first; i < item->first + item->count; i++)
			if (sampler->places[i].mechanism > 0)
				row[i] = dependent_value(s, item->quantity->order, &sampler->places[i]);
			else if (sampler->places[i].at >= 0)
				row[i] = item->quantity->element(s, sampler->places[i].at);
		return CAL_OK;
	}
	const CalStatus status = item->quantity->values(s, &item->object, sampler->values);
	if (status == CAL_OK)
		put_values(item, sampler->values, row);
	return status;
}

/* What the items of a phase share. */
static CalStatus prepare(const CalSampler *sampler, QuantityPhase phase, const CalSimView *view) {
	switch (phase) {
	case PHASE_MULTIPLIER:
		return cal_loop_multipliers(view->model, view->work, sampler->values);
	case PHASE_REACTION:
		return cal_reactions(view->model, view->state, view->udot, &view->input, view->work);
	case PHASE_RESIDUAL:
		return cal_loop_residual(view->model, view->state, view->work, sampler->values, NULL);
	default:
		return CAL_OK;
	}
}

static CalStatus sample_phase(const CalSampler *sampler, const Sampling *s, int group, QuantityPhase phase,
                              double *row) {
	CalStatus status = prepare(sampler, phase, s->view);
	for (int i = sampler->first[group]; i >= 0 && status == CAL_OK; i = sampler->items[i].next)
		if (phase_of(&sampler->items[i]) == phase)
			status = sample_item(sampler, s, &sampler->items[i], row);
	return status;
}

/* *observed: the dynamics of another group have been since the sample began. */
static CalStatus sample_group(const CalSampler *sampler, CalSim *sim, int group, bool *observed, double *row) {
	bool wanted[PHASE_COUNT + 1] = {false}, any = false;
	CalSimView view;
	for (int i = sampler->first[group]; i >= 0; i = sampler->items[i].next)
		wanted[phase_of(&sampler->items[i])] = true;
	for (int phase = PHASE_MOTION; phase <= PHASE_RESIDUAL; phase++)
		any |= wanted[phase];
	if (!any)
		return CAL_OK;
	const bool dynamics = wanted[PHASE_OBSERVE] || wanted[PHASE_MULTIPLIER] || wanted[PHASE_REACTION];
	CalStatus status = !dynamics   ? cal_sim_observe_motion(sim, group, &view)
	                   : *observed ? cal_sim_observe_also(sim, group, &view)
	                               : cal_sim_observe(sim, group, &view);
	*observed |= dynamics;
	const Sampling s = {.sim = sim, .view = &view, .rows = sampler->values};
	for (int phase = PHASE_MOTION; phase <= PHASE_RESIDUAL && status == CAL_OK; phase++)
		if (wanted[phase])
			status = sample_phase(sampler, &s, group, (QuantityPhase)phase, row);
	return status;
}

/* Items that no group lists; those of groups that are gone stay NaN. */
static CalStatus sample_own(const CalSampler *sampler, const Sampling *s, QuantityPhase phase, double *row) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < sampler->item_count && status == CAL_OK; i++) {
		const SampledItem *item = &sampler->items[i];
		const bool there = item->quantity->info.about != CAL_ABOUT_GROUP || item->object.group >= 0;
		if (phase_of(item) == phase && there)
			status = sample_item(sampler, s, item, row);
	}
	return status;
}

typedef struct ContextRow {
	const CalSampler *sampler;
	CalSim *sim;
	double *row;
} ContextRow;

static CalStatus sample_context(void *user, CalEvalContext *context) {
	const ContextRow *to = user;
	const Sampling s = {.sim = to->sim, .context = context};
	return sample_own(to->sampler, &s, PHASE_CONTEXT, to->row);
}

CalStatus cal_sampler_sample(CalSampler *sampler, CalSim *sim, double *row) {
	CalStatus status = CAL_OK;
	bool context = false, observed = false;
	if (!sampler || !sim || !row)
		return CAL_ERR_ARGUMENT;
	if (sampler->generation != cal_sim_generation(sim))
		sampler_place(sampler, sim, 0);
	if (sampler->failed) {
		sampler->failed = false;
		sampler->generation = -1; // places are not known
		return CAL_ERR_MEMORY;
	}
	for (int i = 1; i < sampler->column_count; i++)
		row[i] = NAN;
	row[0] = cal_sim_time(sim);
	for (int group = 0; group < sampler->group_count && status == CAL_OK; group++)
		status = sample_group(sampler, sim, group, &observed, row);
	if (status == CAL_OK)
		status = sample_own(sampler, &(Sampling){.sim = sim}, PHASE_OWN, row);
	for (int i = 0; i < sampler->item_count && !context; i++)
		context = phase_of(&sampler->items[i]) == PHASE_CONTEXT;
	return context && status == CAL_OK ? cal_sim_inspect(sim, sample_context, &(ContextRow){sampler, sim, row})
	                                   : status;
}
