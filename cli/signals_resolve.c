// SPDX-License-Identifier: Apache-2.0
/*
 * signals_resolve.c — where the objects of signals are now.
 *
 * Models are made anew by every change of topology, with other indices; ids stay. An object that is in no group any more
 * keeps its columns, without a place.
 */
#include <stdlib.h>
#include <string.h>

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

/* Searches the groups from the one on where the last signal was, which is where most are; -1: no group has it. */
typedef int (*FindFn)(const CalModel *model, const Signal *signal);

static void find_in_groups(CalSim *sim, Signal *signal, FindFn find, int *hint) {
	const int count = cal_sim_group_count(sim);
	for (int k = 0; k < count; k++) {
		const int group = (*hint + k) % count, index = find(cal_sim_model(sim, group), signal);
		if (index < 0)
			continue;
		signal->group = *hint = group;
		signal->index = index;
		return;
	}
}

static int joint_in(const CalModel *model, const Signal *signal) { return cal_model_joint_index(model, signal->joint); }
static int node_in(const CalModel *model, const Signal *signal) { return cal_model_node_index(model, signal->node); }
static int loop_in(const CalModel *model, const Signal *signal) { return cal_model_loop_index(model, signal->loop); }

/* By its name, beginning where the last one was. */
static void place_group(const SignalSet *set, CalSim *sim, Signal *signal, int *hint) {
	const int count = cal_sim_group_count(sim);
	for (int k = 0; k < count && signal->group < 0; k++) {
		const int group = (*hint + k) % count;
		if (strcmp(cal_model_name(cal_sim_model(sim, group)), set->groups[signal->number]) == 0)
			signal->group = *hint = group;
	}
}

static bool is_reversed(CalSim *sim, CalJointId joint) {
	CalJointState state;
	int reversed = 0;
	return cal_sim_joint_state(sim, joint, &state, &reversed) == CAL_OK && reversed;
}

/* Dofs of a joint that is passed in the other direction may come in another order. */
static void place_joint(SignalSet *set, CalSim *sim, Signal *signal, int *hint) {
	CalBodyInfo body = {0};
	find_in_groups(sim, signal, joint_in, hint);
	if (signal->group >= 0)
		cal_model_body(cal_sim_model(sim, signal->group), signal->index, &body);
	bool lost = signal->group < 0 || (body.type == CAL_JOINT_SEQUENCE && is_reversed(sim, signal->joint));
	for (int i = signal->first; i < signal->first + signal->count; i++) {
		ColumnPlace *place = &set->places[i];
		CalDofRef dof;
		if (place->dof >= 0)
			place->at = !cal_sim_find_dof(sim, signal->joint, place->dof, &dof) ? -1
			            : signal->kind == SIGNAL_Q                              ? dof.q
			                                                                    : dof.u;
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

static void place_loop(SignalSet *set, CalSim *sim, Signal *signal, int *hint) {
	CalLoopInfo loop;
	find_in_groups(sim, signal, loop_in, hint);
	if (!signal_is_of_rows(signal->kind) || signal->group < 0 ||
	    cal_model_loop(cal_sim_model(sim, signal->group), signal->index, &loop) != CAL_OK)
		return;
	for (int k = signal->first; k < signal->first + signal->count; k++)
		set->places[k].at = loop.row + set->places[k].of;
}

static void place_signal(SignalSet *set, CalSim *sim, Signal *signal, int *hint) {
	signal->group = signal->index = signal->next = -1;
	for (int k = signal->first; k < signal->first + signal->count; k++)
		set->places[k].at = -1;
	if (signal->body.value)
		place_modes(set, sim, signal);
	else if (signal->joint.value)
		place_joint(set, sim, signal, hint);
	else if (signal_is_of_node(signal->kind))
		find_in_groups(sim, signal, node_in, hint);
	else if (signal_is_of_loop(signal->kind))
		place_loop(set, sim, signal, hint);
	else if (signal->kind == SIGNAL_ENERGY || signal->kind == SIGNAL_MOMENTUM)
		place_group(set, sim, signal, hint);
}

/* Empties the lists of signals of each group. */
static bool reset_groups(SignalSet *set, int count) {
	if (count > set->first_count) {
		int *first = realloc(set->first, (size_t)count * sizeof *first);
		set->first = first ? first : set->first;
		int *last = realloc(set->last, (size_t)count * sizeof *last);
		set->last = last ? last : set->last;
		if (!first || !last)
			return false;
	}
	set->first_count = count;
	for (int g = 0; g < count; g++)
		set->first[g] = set->last[g] = -1;
	return true;
}

static void append_to_group(SignalSet *set, int number) {
	const int group = set->signals[number].group;
	if (group < 0)
		return;
	if (set->last[group] >= 0)
		set->signals[set->last[group]].next = number;
	else
		set->first[group] = number;
	set->last[group] = number;
}

void signals_resolve(SignalSet *set, CalSim *sim, int from) {
	if (from == 0 && !reset_groups(set, cal_sim_group_count(sim))) {
		set->failed = true;
		return;
	}
	int most_rows = 0;
	for (int i = from; i < set->signal_count; i++) {
		const Signal *signal = &set->signals[i];
		place_signal(set, sim, &set->signals[i], &set->hint);
		append_to_group(set, i);
		const int rows = signal->group >= 0 ? cal_model_row_count(cal_sim_model(sim, signal->group)) : 0;
		most_rows = rows > most_rows ? rows : most_rows;
	}
	set->generation = cal_sim_generation(sim);
	set->failed |= !signals_make_room(set, most_rows);
}
