// SPDX-License-Identifier: Apache-2.0
/*
 * signals_resolve.c — where the objects of signals are now.
 *
 * Models are made anew by every change of topology, with other indices; ids stay. An object that is in no group any more
 * keeps its columns, without a place.
 */
#include <stdlib.h>

#include "signals.h"

bool signals_make_room(SignalSet *set, int count) {
	if (count <= 0 || count <= set->value_capacity)
		return true;
	double *more = realloc(set->values, (size_t)count * sizeof *more);
	if (!more)
		return false;
	set->values = more;
	set->value_capacity = count;
	return true;
}

/* The group in whose tree a joint is, and the body that it carries. */
static void find_joint(CalSim *sim, Signal *signal, CalBodyInfo *body) {
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		for (int i = 0; i < cal_model_body_count(cal_sim_model(sim, g)); i++)
			if (cal_model_body(cal_sim_model(sim, g), i, body) == CAL_OK &&
			    body->joint_id.value == signal->joint.value) {
				signal->group = g;
				signal->index = i;
				return;
			}
}

static bool is_reversed(CalSim *sim, CalJointId joint) {
	CalJointState state;
	int reversed = 0;
	return cal_sim_joint_state(sim, joint, &state, &reversed) == CAL_OK && reversed;
}

/* Freedoms of a joint that is passed in the other direction may come in another order. */
static void place_joint(SignalSet *set, CalSim *sim, Signal *signal) {
	CalBodyInfo body = {0};
	find_joint(sim, signal, &body);
	bool lost = signal->group < 0 || (body.type == CAL_JOINT_SEQUENCE && is_reversed(sim, signal->joint));
	for (int i = signal->first; i < signal->first + signal->count; i++) {
		ColumnPlace *place = &set->places[i];
		CalFreedom freedom;
		if (place->dof >= 0)
			place->at = !cal_sim_find_freedom(sim, signal->joint, place->dof, &freedom) ? -1
			            : signal->kind == SIGNAL_Q                                      ? freedom.q
			                                                                            : freedom.u;
		else
			place->at = lost ? -1 : body.q + place->of;
	}
}

static void place_modes(SignalSet *set, CalSim *sim, Signal *signal) {
	CalBodyInfo body;
	signal->group = cal_sim_group_of(sim, signal->body);
	const CalModel *model = cal_sim_model(sim, signal->group);
	bool there = model && cal_model_body(model, cal_model_body_index(model, signal->body), &body) == CAL_OK;
	for (int i = signal->first; i < signal->first + signal->count; i++)
		set->places[i].at =
			!there ? -1 : set->places[i].of + (signal->kind == SIGNAL_Q ? body.q + body.nq : body.u + body.nu);
}

static void place_node(CalSim *sim, Signal *signal) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		int node = cal_model_node_index(cal_sim_model(sim, g), signal->node);
		if (node < 0)
			continue;
		signal->group = g;
		signal->index = node;
		return;
	}
}

static void place_loop(SignalSet *set, CalSim *sim, Signal *signal) {
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		for (int i = 0; i < cal_model_loop_count(cal_sim_model(sim, g)); i++) {
			CalLoopInfo loop;
			if (cal_model_loop(cal_sim_model(sim, g), i, &loop) != CAL_OK || loop.id.value != signal->loop.value)
				continue;
			signal->group = g;
			signal->index = i;
			for (int k = signal->first; signal->kind == SIGNAL_RESIDUAL && k < signal->first + signal->count; k++)
				set->places[k].at = loop.row + set->places[k].of;
		}
}

static int most_rows(CalSim *sim) {
	int most = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		int rows = cal_model_row_count(cal_sim_model(sim, g));
		most = rows > most ? rows : most;
	}
	return most;
}

void signals_resolve(SignalSet *set, CalSim *sim) {
	for (int i = 0; i < set->signal_count; i++) {
		Signal *signal = &set->signals[i];
		signal->group = signal->index = -1;
		for (int k = signal->first; k < signal->first + signal->count; k++)
			set->places[k].at = -1;
		if (signal->body.value)
			place_modes(set, sim, signal);
		else if (signal->joint.value)
			place_joint(set, sim, signal);
		else if (signal_is_of_node(signal->kind))
			place_node(sim, signal);
		else if (signal_is_of_loop(signal->kind))
			place_loop(set, sim, signal);
		else if (signal->kind == SIGNAL_ENERGY || signal->kind == SIGNAL_MOMENTUM)
			signal->group = cal_sim_find_group(sim, set->groups[signal->number]);
	}
	set->generation = cal_sim_generation(sim);
	set->failed |= !signals_make_room(set, most_rows(sim));
}
