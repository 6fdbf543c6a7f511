// SPDX-License-Identifier: Apache-2.0
/*
 * sampler.c — a sampler and the names that are added to it.
 */
#include "quantity/sampler.h"

#include <ctype.h>
#include <string.h>

#include <calder/distribute.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- names -------------------------------------------------------------------------------------------------- */

SampledText sampled_text(const char *name) {
	const size_t length = strcspn(name, ":");
	SampledText text = {.rest = name[length] ? name + length + 1 : NULL};
	text.quantity = quantity_of_word(name, length);
	if (!text.quantity)
		text.quantity = quantity_of_short(name, length, &text.component);
	return text;
}

static const SampledName *find_name(const CalSampler *sampler, const char *text) {
	const uint32_t hash = name_hash(0, text, strlen(text));
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&sampler->index, hash, &cursor)) != 0)
		if ((int)value <= sampler->name_count && strcmp(sampler->names[value - 1].text, text) == 0)
			return &sampler->names[value - 1];
	return NULL;
}

static void add_name(CalSampler *sampler, const char *text, int first, int count) {
	if (sampler->failed || find_name(sampler, text))
		return;
	SampledName *names = array_reserve(&sampler->allocator, sampler->names, sampler->name_count, 1,
	                                   &sampler->name_capacity, sizeof *names);
	sampler->names = names ? names : sampler->names;
	if (!names || !name_index_reserve(&sampler->allocator, &sampler->index)) {
		sampler->failed = true;
		return;
	}
	names[sampler->name_count++] = (SampledName){text, first, count};
	name_index_insert(&sampler->index, name_hash(0, text, strlen(text)), (uint32_t)sampler->name_count);
}

bool sampler_node_names(const CalModel *model, int index, const char **body, const char **node) {
	CalNodeInfo info;
	CalBodyInfo of;
	if (cal_model_node(model, index, &info) != CAL_OK || info.body < 0 ||
	    cal_model_body(model, info.body, &of) != CAL_OK)
		return false;
	const bool own = of.node == index;
	if (!own && of.modes > 0 && strncmp(info.name, "mass", 4) == 0 && isdigit((unsigned char)info.name[4]))
		return false;
	*body = of.name;
	*node = own ? "" : info.name;
	return true;
}

/* ---- one object --------------------------------------------------------------------------------------------- */

/* The group that has an object of that name, and its index there; names are unique: any order finds the same. */
static bool find_object(CalSampler *sampler, CalSim *sim, int (*find)(const CalModel *model, const char *name),
                        const char *name, int *group, int *index) {
	const int count = cal_sim_group_count(sim);
	for (int k = 0; k < count; k++) {
		*group = (sampler->hint + k) % count;
		*index = find(cal_sim_model(sim, *group), name);
		if (*index >= 0)
			return true;
	}
	return false;
}

/* Was anything added since? An object without a single column is found as well, unless a component was asked for. */
static NameFault added_since(const CalSampler *sampler, const ColumnOrder *order, int columns) {
	return order->component && sampler->column_count == columns && !sampler->failed ? NAME_NO_COMPONENT : NAME_FOUND;
}

/* All coordinates of a joint, and modes of its body; one of either by name. */
static NameFault add_coordinates(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	const int columns = sampler->column_count;
	int group, index;
	bool known = false;
	if (find_object(sampler, order->sim, cal_model_find_joint, object, &group, &index)) {
		known = true;
		if (columns_are_unknown(order, group, index))
			return NAME_EMBEDDED;
		columns_of_joint(sampler, order, group, index);
		if (!order->component)
			columns_of_modes(sampler, order, group, index);
	}
	if (order->component && sampler->column_count == columns &&
	    find_object(sampler, order->sim, cal_model_find_body, object, &group, &index)) {
		known = true;
		columns_of_modes(sampler, order, group, index);
	}
	return known ? added_since(sampler, order, columns) : NAME_NO_OBJECT;
}

static bool node_of_path(CalSampler *sampler, CalSim *sim, const char *path, CalNodeId *node) {
	int group, index;
	CalNodeInfo info;
	*node = (CalNodeId){0};
	if (strcmp(path, "ground") == 0)
		return true;
	if (!find_object(sampler, sim, cal_model_find_node, path, &group, &index) ||
	    cal_model_node(cal_sim_model(sim, group), index, &info) != CAL_OK)
		return false;
	*node = info.id;
	return true;
}

/* "A, B" as "A,B". */
static NameFault add_nodes(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	const char *comma = strchr(object, ','), *second = comma + 1 + strspn(comma + 1, " \t");
	const int columns = sampler->column_count;
	size_t length = (size_t)(comma - object);
	while (length > 0 && strchr(" \t", object[length - 1]))
		length--;
	const char *first = sampler_text(sampler, "%.*s", (int)length, object);
	CalNodeId node[2];
	if (sampler->failed || !node_of_path(sampler, order->sim, first, &node[0]) ||
	    !node_of_path(sampler, order->sim, second, &node[1]))
		return sampler->failed ? NAME_FOUND : NAME_NO_OBJECT;
	columns_of_nodes(sampler, order, node, sampler_text(sampler, "%s,%s", first, second));
	return added_since(sampler, order, columns);
}

static NameFault add_node(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	const CalQuantityInfo *info = &order->quantity->info;
	const int columns = sampler->column_count;
	int group, index;
	const bool pair = strchr(object, ',') && (info->relative || info->about == CAL_ABOUT_NODES);
	if (info->about == CAL_ABOUT_NODES ||
	    !find_object(sampler, order->sim, cal_model_find_node, object, &group, &index))
		return pair ? add_nodes(sampler, order, object) : NAME_NO_OBJECT;
	columns_of_node(sampler, order, cal_sim_model(order->sim, group), index, object);
	return added_since(sampler, order, columns);
}

/* Of a device, an event or a group. */
static NameFault add_numbered(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	const CalQuantityAbout about = order->quantity->info.about;
	const int columns = sampler->column_count;
	const int number = about == CAL_ABOUT_DEVICE  ? cal_sim_find_device(order->sim, object)
	                   : about == CAL_ABOUT_EVENT ? cal_sim_find_event(order->sim, object)
	                                              : cal_sim_find_group(order->sim, object);
	if (number < 0)
		return NAME_NO_OBJECT;
	if (about == CAL_ABOUT_DEVICE)
		columns_of_device(sampler, order, number);
	else if (about == CAL_ABOUT_EVENT)
		columns_of_event(sampler, order, number);
	else
		columns_of_group(sampler, order, number);
	return added_since(sampler, order, columns);
}

static NameFault add_in_model(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	const bool loop = order->quantity->info.about == CAL_ABOUT_LOOP;
	const int columns = sampler->column_count;
	int group, index;
	if (!find_object(sampler, order->sim, loop ? cal_model_find_loop : cal_model_find_joint, object, &group, &index))
		return NAME_NO_OBJECT;
	if (!loop && columns_are_unknown(order, group, index))
		return NAME_EMBEDDED;
	if (loop)
		columns_of_loop(sampler, order, cal_sim_model(order->sim, group), index);
	else
		columns_of_reaction(sampler, order, cal_sim_model(order->sim, group), index);
	return added_since(sampler, order, columns);
}

static NameFault add_object(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	switch (order->quantity->info.about) {
	case CAL_ABOUT_COORDINATE:
		return add_coordinates(sampler, order, object);
	case CAL_ABOUT_NODE:
	case CAL_ABOUT_NODES:
		return add_node(sampler, order, object);
	case CAL_ABOUT_JOINT:
	case CAL_ABOUT_LOOP:
		return add_in_model(sampler, order, object);
	case CAL_ABOUT_SYSTEM:
		return NAME_NO_OBJECT;
	default:
		return add_numbered(sampler, order, object);
	}
}

/* "OBJECT.COMPONENT", where no object has the whole as its name. */
static NameFault add_component(CalSampler *sampler, ColumnOrder order, const char *rest) {
	const char *dot = strrchr(rest, '.');
	if (!dot || order.quantity->info.component_count == 1)
		return NAME_NO_OBJECT;
	order.component = dot + 1;
	return add_object(sampler, &order, sampler_text(sampler, "%.*s", (int)(dot - rest), rest));
}

/* ---- all objects -------------------------------------------------------------------------------------------- */

static void add_all_nodes(CalSampler *sampler, const ColumnOrder *order, const CalModel *model) {
	for (int i = 0; i < cal_model_node_count(model) && !sampler->failed; i++) {
		const char *body, *node;
		if (sampler_node_names(model, i, &body, &node))
			columns_of_node(sampler, order, model, i, sampler_text(sampler, "%s%s%s", body, node[0] ? "/" : "", node));
	}
}

static void add_all_of_group(CalSampler *sampler, const ColumnOrder *order, int group) {
	const CalQuantityAbout about = order->quantity->info.about;
	const CalModel *model = cal_sim_model(order->sim, group);
	if (about == CAL_ABOUT_GROUP)
		columns_of_group(sampler, order, group);
	else if (about == CAL_ABOUT_NODE)
		add_all_nodes(sampler, order, model);
	for (int i = 0; about == CAL_ABOUT_LOOP && i < cal_model_loop_count(model); i++)
		columns_of_loop(sampler, order, model, i);
	for (int i = 0; about == CAL_ABOUT_JOINT && i < cal_model_body_count(model); i++)
		if (!columns_are_unknown(order, group, i))
			columns_of_reaction(sampler, order, model, i);
	for (int i = 0; about == CAL_ABOUT_COORDINATE && i < cal_model_body_count(model) && !sampler->failed; i++) {
		if (columns_are_unknown(order, group, i))
			continue;
		columns_of_joint(sampler, order, group, i);
		columns_of_modes(sampler, order, group, i);
	}
}

static NameFault add_all(CalSampler *sampler, const ColumnOrder *order) {
	const CalQuantityAbout about = order->quantity->info.about;
	const int columns = sampler->column_count;
	if (about == CAL_ABOUT_SYSTEM)
		columns_of_system(sampler, order);
	for (int i = 0; about == CAL_ABOUT_DEVICE && i < cal_sim_device_count(order->sim); i++)
		columns_of_device(sampler, order, i);
	for (int i = 0; about == CAL_ABOUT_EVENT && i < cal_sim_event_count(order->sim); i++)
		columns_of_event(sampler, order, i);
	for (int group = 0; group < cal_sim_group_count(order->sim) && !sampler->failed; group++)
		add_all_of_group(sampler, order, group);
	return added_since(sampler, order, columns);
}

static NameFault add_named(CalSampler *sampler, CalSim *sim, const char *name) {
	const SampledText text = sampled_text(name);
	ColumnOrder order = {.sim = sim, .quantity = text.quantity, .component = text.component, .of_all = !text.rest};
	if (!text.quantity || (!text.rest && (!text.quantity->info.of_all || text.component)))
		return NAME_UNKNOWN;
	if (!text.rest)
		return add_all(sampler, &order);
	const CalQuantityAbout about = text.quantity->info.about;
	if (about == CAL_ABOUT_SYSTEM || (about == CAL_ABOUT_GROUP && quantity_component(text.quantity, text.rest) >= 0)) {
		order.component = text.rest;
		return add_all(sampler, &order);
	}
	NameFault fault = add_object(sampler, &order, text.rest);
	if (fault == NAME_NO_OBJECT && !text.component)
		fault = add_component(sampler, order, text.rest);
	return fault;
}

/* ---- public ------------------------------------------------------------------------------------------------- */

CalStatus cal_sampler_create(const CalAllocator *allocator, CalSampler **sampler, CalError *error) {
	if (!sampler)
		return error_null(error, "cal_sampler_create", "sampler");
	*sampler = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sampler_create: give both functions of the allocator, or none");
	const CalAllocator own = allocator_or_default(allocator);
	CalSampler *made = memory_alloc(&own, sizeof *made);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "cal_sampler_create: %s", cal_status_text(CAL_ERR_MEMORY));
	*made = (CalSampler){.allocator = own, .generation = -1};
	columns_of_time(made);
	add_name(made, "t", 0, 1);
	if (made->failed || !sampler_reserve_values(made, QUANTITY_VALUES_MOST)) {
		cal_sampler_destroy(made);
		return error_set(error, CAL_ERR_MEMORY, "cal_sampler_create: %s", cal_status_text(CAL_ERR_MEMORY));
	}
	*sampler = made;
	return CAL_OK;
}

void cal_sampler_destroy(CalSampler *sampler) {
	if (!sampler)
		return;
	const CalAllocator allocator = sampler->allocator;
	for (int i = 0; i < sampler->text_count; i++)
		memory_free(&allocator, sampler->texts[i]);
	void *const arrays[] = {sampler->items, sampler->columns, sampler->places,         sampler->names, sampler->first,
	                        sampler->last,  sampler->texts,   (void *)sampler->groups, sampler->values};
	for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
		memory_free(&allocator, arrays[i]);
	name_index_free(&allocator, &sampler->index);
	memory_free(&allocator, sampler);
}

/* Names of the columns from this one on, and the name that they were asked for by. */
static void add_names(CalSampler *sampler, const char *name, int from) {
	const int count = sampler->column_count - from;
	for (int i = from; i < sampler->column_count; i++)
		add_name(sampler, sampler->columns[i].name, i, 1);
	if (!find_name(sampler, name))
		add_name(sampler, sampler_text(sampler, "%s", name), from, count);
}

CalStatus cal_sampler_add(CalSampler *sampler, CalSim *sim, const char *name, CalError *error) {
	if (!sampler || !sim || !name)
		return error_null(error, "cal_sampler_add", !sampler ? "sampler" : !sim ? "sim" : "name");
	if (find_name(sampler, name))
		return CAL_OK;
	const int items = sampler->item_count, columns = sampler->column_count, names = sampler->name_count,
			  groups = sampler->named_count;
	const NameFault fault = add_named(sampler, sim, name);
	if (fault == NAME_FOUND)
		add_names(sampler, name, columns);
	if (!sampler->failed && fault == NAME_FOUND)
		sampler_place(sampler, sim, sampler->generation == cal_sim_generation(sim) ? items : 0);
	if (!sampler->failed && fault == NAME_FOUND)
		return CAL_OK;
	const bool no_memory = sampler->failed; // nothing stays of an attempt
	sampler->failed = false;
	sampler->item_count = items;
	sampler->column_count = columns;
	sampler->name_count = names;
	sampler->named_count = groups;
	sampler->generation = no_memory ? -1 : sampler->generation;
	if (no_memory)
		return error_set(error, CAL_ERR_MEMORY, "signal \"%.100s\": %s", name, cal_status_text(CAL_ERR_MEMORY));
	return sampler_refuse(sampler, sim, name, fault, error);
}

int cal_sampler_column_count(const CalSampler *sampler) { return sampler ? sampler->column_count : 0; }

CalStatus cal_sampler_column(const CalSampler *sampler, int column, CalSamplerColumn *info) {
	if (!sampler || !info || column < 0 || column >= sampler->column_count)
		return CAL_ERR_ARGUMENT;
	*info = sampler->columns[column];
	return CAL_OK;
}

/* The body that an object is part of, {0}: none, or several. */
static CalBodyId body_of(const CalSim *sim, const SampledItem *item) {
	const SampledObject *object = &item->object;
	const CalQuantityAbout about = item->quantity->info.about;
	const CalModel *model = object->group >= 0 ? cal_sim_model(sim, object->group) : NULL;
	const bool joint = about == CAL_ABOUT_COORDINATE || about == CAL_ABOUT_JOINT;
	CalNodeInfo node;
	CalBodyInfo body;
	int index = joint && !object->body.value ? object->index : -1;
	if (about == CAL_ABOUT_NODE && model && !object->pair && cal_model_node(model, object->index, &node) == CAL_OK)
		index = node.body;
	if (!object->body.value && index >= 0 && model && cal_model_body(model, index, &body) == CAL_OK)
		return body.id;
	return object->body;
}

CalStatus cal_sampler_ranks(const CalSampler *sampler, const CalSim *sim, int *ranks) {
	if (!sampler || !sim || !ranks)
		return CAL_ERR_ARGUMENT;
	if (sampler->item_count > 0 && sampler->generation != cal_sim_generation(sim))
		return CAL_ERR_STAGE; // cal_sampler_sample() looks up the objects
	ranks[0] = 0;
	for (int i = 0; i < sampler->item_count; i++) {
		const SampledItem *item = &sampler->items[i];
		const int rank = cal_sim_rank_of(sim, body_of(sim, item));
		for (int k = item->first; k < item->first + item->count; k++)
			ranks[k] = rank;
	}
	return CAL_OK;
}

CalStatus cal_sampler_select(CalSampler *sampler, const unsigned char *wanted) {
	if (!sampler || !wanted)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < sampler->item_count; i++) {
		SampledItem *item = &sampler->items[i];
		item->unwanted = true;
		for (int k = item->first; k < item->first + item->count && item->unwanted; k++)
			item->unwanted = !wanted[k];
	}
	return CAL_OK;
}

CalStatus cal_sampler_find(const CalSampler *sampler, const char *name, int *first, int *count) {
	if (!sampler || !name || !first || !count)
		return CAL_ERR_ARGUMENT;
	const SampledName *found = find_name(sampler, name);
	*first = found ? found->first : 0;
	*count = found ? found->count : 0;
	return CAL_OK;
}
