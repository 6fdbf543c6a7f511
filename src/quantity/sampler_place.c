// SPDX-License-Identifier: Apache-2.0
/*
 * sampler_place.c — where the objects of a sampler are now.
 *
 * Models are made anew by every change of topology, with other indices; ids stay. An object that is in no group any more
 * keeps its columns, without a place.
 */
#include <string.h>

#include <calder/transition.h>

#include "base/memory.h"
#include "quantity/sampler.h"

/* Searches the groups from the one on where the last object was, which is where most are; -1: no group has it. */
typedef int FindFn(const CalModel *model, const SampledObject *object);

static void find_in_groups(CalSim *sim, SampledObject *object, FindFn *find, int *hint) {
	const int count = cal_sim_group_count(sim);
	for (int k = 0; k < count; k++) {
		const int group = (*hint + k) % count, index = find(cal_sim_model(sim, group), object);
		if (index < 0)
			continue;
		object->group = *hint = group;
		object->index = index;
		return;
	}
}

static int joint_in(const CalModel *model, const SampledObject *object) {
	return cal_model_joint_index(model, object->joint);
}
static int node_in(const CalModel *model, const SampledObject *object) {
	return cal_model_node_index(model, object->node[0]);
}
static int loop_in(const CalModel *model, const SampledObject *object) {
	return cal_model_loop_index(model, object->loop);
}

/* By its name, beginning where the last one was. */
static void place_group(const CalSampler *sampler, CalSim *sim, SampledObject *object, int *hint) {
	const int count = cal_sim_group_count(sim);
	for (int k = 0; k < count && object->group < 0; k++) {
		const int group = (*hint + k) % count;
		if (strcmp(cal_model_name(cal_sim_model(sim, group)), sampler->groups[object->number]) == 0)
			object->group = *hint = group;
	}
}

static void place_joint(CalSampler *sampler, CalSim *sim, SampledItem *item, int *hint) {
	const bool speed = item->quantity->order != ORDER_Q;
	find_in_groups(sim, &item->object, joint_in, hint);
	for (int i = item->first; item->quantity->element && i < item->first + item->count; i++) {
		ColumnPlace *place = &sampler->places[i];
		CalDofRef ref;
		place->mechanism = 0;
		if (item->object.group >= 0 &&
		    dependent_coordinate_place(cal_sim_model(sim, item->object.group), item->object.index, speed, place->of,
		                               &place->mechanism, &place->at))
			continue;
		if (joint_coordinate_place(sim, item->object.joint, place->of, place->dof, &ref))
			place->at = speed ? ref.u : ref.q;
	}
}

static void place_modes(CalSampler *sampler, CalSim *sim, SampledItem *item) {
	CalBodyInfo body;
	SampledObject *object = &item->object;
	object->group = cal_sim_group_of(sim, object->body);
	const CalModel *model = cal_sim_model(sim, object->group);
	if (!model || cal_model_body(model, cal_model_body_index(model, object->body), &body) != CAL_OK)
		return;
	for (int i = item->first; i < item->first + item->count; i++)
		sampler->places[i].at =
			sampler->places[i].of + (item->quantity->order == ORDER_Q ? body.q + body.nq : body.u + body.nu);
}

static void place_loop(CalSampler *sampler, CalSim *sim, SampledItem *item, int *hint) {
	CalLoopInfo loop;
	find_in_groups(sim, &item->object, loop_in, hint);
	if (!item->quantity->element || item->object.group < 0 ||
	    cal_model_loop(cal_sim_model(sim, item->object.group), item->object.index, &loop) != CAL_OK)
		return;
	for (int k = item->first; k < item->first + item->count; k++)
		sampler->places[k].at = loop.row + sampler->places[k].of;
}

static void place_item(CalSampler *sampler, CalSim *sim, SampledItem *item, int *hint) {
	SampledObject *object = &item->object;
	object->group = object->index = item->next = -1;
	for (int k = item->first; k < item->first + item->count; k++)
		sampler->places[k].at = -1;
	if (object->pair)
		return;
	switch (item->quantity->info.about) {
	case CAL_ABOUT_COORDINATE:
	case CAL_ABOUT_JOINT:
		if (object->body.value)
			place_modes(sampler, sim, item);
		else
			place_joint(sampler, sim, item, hint);
		break;
	case CAL_ABOUT_NODE:
		find_in_groups(sim, object, node_in, hint);
		break;
	case CAL_ABOUT_LOOP:
		place_loop(sampler, sim, item, hint);
		break;
	case CAL_ABOUT_GROUP:
		place_group(sampler, sim, object, hint);
		break;
	default:
		break;
	}
}

static bool reserve(CalSampler *sampler, int **array, int count, int *capacity) {
	int *more = array_reserve(&sampler->allocator, *array, 0, count, capacity, sizeof *more);
	if (more)
		*array = more;
	return more != NULL;
}

/* Empties the lists of items of each group. */
static bool reset_groups(CalSampler *sampler, int count) {
	if ((count > sampler->first_capacity && !reserve(sampler, &sampler->first, count, &sampler->first_capacity)) ||
	    (count > sampler->last_capacity && !reserve(sampler, &sampler->last, count, &sampler->last_capacity)))
		return false;
	sampler->group_count = count;
	for (int g = 0; g < count; g++)
		sampler->first[g] = sampler->last[g] = -1;
	return true;
}

static void append_to_group(CalSampler *sampler, int number) {
	const int group = sampler->items[number].object.group;
	if (group < 0)
		return;
	if (sampler->last[group] >= 0)
		sampler->items[sampler->last[group]].next = number;
	else
		sampler->first[group] = number;
	sampler->last[group] = number;
}

void sampler_place(CalSampler *sampler, CalSim *sim, int from) {
	if (from == 0 && !reset_groups(sampler, cal_sim_group_count(sim))) {
		sampler->failed = true;
		return;
	}
	int most_rows = 0;
	for (int i = from; i < sampler->item_count; i++) {
		SampledItem *item = &sampler->items[i];
		place_item(sampler, sim, item, &sampler->hint);
		append_to_group(sampler, i);
		const int group = item->object.group, rows = group >= 0 ? cal_model_row_count(cal_sim_model(sim, group)) : 0;
		most_rows = rows > most_rows ? rows : most_rows;
	}
	sampler->generation = cal_sim_generation(sim);
	sampler->failed |= !sampler_reserve_values(sampler, most_rows);
}

const SampledItem *sampler_item_of(const CalSampler *sampler, int column) {
	for (int i = 0; i < sampler->item_count; i++)
		if (column >= sampler->items[i].first && column < sampler->items[i].first + sampler->items[i].count)
			return &sampler->items[i];
	return NULL;
}
