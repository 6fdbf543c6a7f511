// SPDX-License-Identifier: Apache-2.0
/*
 * sampler_columns.c — objects to columns: their names and units.
 *
 * The name of a column is WORD:OBJECT.COMPONENT, of what has a single component WORD:OBJECT, of what has no object
 * WORD:COMPONENT. Coordinates of joints know their unit; for joints of the user's own it follows from the motion: a
 * degree of freedom that turns its body is an angle.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "quantity/sampler.h"

/* Of coordinates, speeds, accelerations and forces. */
static const char *const angle_units[] = {"rad", "rad/s", "rad/s^2", "N m"};
static const char *const length_units[] = {"m", "m/s", "m/s^2", "N"};
static const char *const modal_units[] = {"1", "1/s", "1/s^2", "J"};

/* ---- parts -------------------------------------------------------------------------------------------------- */

const char *sampler_text(CalSampler *sampler, const char *format, ...) {
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	const int length = vsnprintf(NULL, 0, format, args);
	char *text = length >= 0 ? memory_alloc(&sampler->allocator, (size_t)length + 1) : NULL;
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	char **texts = text ? array_reserve(&sampler->allocator, sampler->texts, sampler->text_count, 1,
	                                    &sampler->text_capacity, sizeof *texts)
	                    : NULL;
	if (!texts) {
		memory_free(&sampler->allocator, text);
		sampler->failed = true;
		return "";
	}
	sampler->texts = texts;
	return texts[sampler->text_count++] = text;
}

bool sampler_reserve_values(CalSampler *sampler, int count) {
	if (count <= sampler->value_capacity)
		return true;
	double *values =
		array_reserve(&sampler->allocator, sampler->values, 0, count, &sampler->value_capacity, sizeof *values);
	if (values)
		sampler->values = values;
	return values != NULL;
}

/* Appends the column `name`, whose own part begins at label. */
static void add_column(CalSampler *sampler, const Quantity *quantity, const char *name, size_t label,
                       const char *unit) {
	CalSamplerColumn *columns = array_reserve(&sampler->allocator, sampler->columns, sampler->column_count, 1,
	                                          &sampler->column_capacity, sizeof *columns);
	sampler->columns = columns ? columns : sampler->columns;
	ColumnPlace *places = array_reserve(&sampler->allocator, sampler->places, sampler->column_count, 1,
	                                    &sampler->place_capacity, sizeof *places);
	sampler->places = places ? places : sampler->places;
	if (!columns || !places) {
		sampler->failed = true;
		return;
	}
	places[sampler->column_count] = (ColumnPlace){.at = -1, .dof = -1};
	columns[sampler->column_count++] =
		(CalSamplerColumn){.name = name,
	                       .unit = unit,
	                       .quantity = quantity ? cal_quantity_find(quantity->info.word) : -1,
	                       .label = (int)label};
}

/* Starts an item of which columns follow; NULL: out of memory. */
static SampledItem *add_item(CalSampler *sampler, const ColumnOrder *order, SampledObject object) {
	SampledItem *items = array_reserve(&sampler->allocator, sampler->items, sampler->item_count, 1,
	                                   &sampler->item_capacity, sizeof *items);
	if (!items) {
		sampler->failed = true;
		return NULL;
	}
	sampler->items = items;
	object.group = object.index = -1;
	items[sampler->item_count] = (SampledItem){
		.quantity = order->quantity, .object = object, .first = sampler->column_count, .only = -1, .next = -1};
	return &items[sampler->item_count++];
}

/* The item is complete; one without columns goes. */
static void end_item(CalSampler *sampler) {
	SampledItem *item = &sampler->items[sampler->item_count - 1];
	item->count = sampler->column_count - item->first;
	if (item->count == 0)
		sampler->item_count--;
}

static bool is_wanted(const ColumnOrder *order, const char *component) {
	return !order->component || strcmp(order->component, component) == 0;
}

/* Columns of the components of the list. before: "pose:arm/tip", or "momentum" where a colon follows. */
static void add_listed(CalSampler *sampler, const ColumnOrder *order, SampledObject object, const char *before) {
	const CalQuantityInfo *info = &order->quantity->info;
	const char *mark = strchr(before, ':') ? "." : ":";
	SampledItem *item = add_item(sampler, order, object);
	for (int i = 0; item && i < info->component_count; i++) {
		const char *component = info->components[i];
		if (!is_wanted(order, component))
			continue;
		item->only = order->component ? i : -1;
		if (component[0])
			add_column(sampler, order->quantity, sampler_text(sampler, "%s%s%s", before, mark, component),
			           strlen(before) + 1, info->units[i]);
		else
			add_column(sampler, order->quantity, before, strcspn(before, ":") + 1, info->units[i]);
	}
	if (item)
		end_item(sampler);
}

static const char *named(CalSampler *sampler, const ColumnOrder *order, const char *object) {
	return sampler_text(sampler, "%s:%s", order->quantity->info.word, object);
}

void columns_of_time(CalSampler *sampler) { add_column(sampler, NULL, "t", 0, "s"); }

/* ---- coordinates -------------------------------------------------------------------------------------------- */

/* For joints whose type does not say it: does the dof turn the body? The Jacobian shows it. */
static bool dof_turns_body(CalSampler *sampler, CalSim *sim, int group, const Body *body, int u) {
	CalSimView view;
	const int nu = cal_model_u_count(cal_sim_model(sim, group));
	bool turns = false;
	if (!sampler_reserve_values(sampler, 6 * nu)) {
		sampler->failed = true;
		return false;
	}
	memset(sampler->values, 0, 6 * (size_t)nu * sizeof *sampler->values);
	if (cal_sim_observe_motion(sim, group, &view) == CAL_OK &&
	    cal_node_jacobian(view.model, view.work, body->head_node, sampler->values) == CAL_OK)
		for (int row = 0; row < 3; row++)
			turns |= fabs(sampler->values[row * nu + u]) > 1e-12;
	return turns;
}

static const char *coordinate_unit(CalSampler *sampler, const ColumnOrder *order, int group, const Body *body,
                                   const JointCoordinate *c) {
	const CoordinateOrder rank = order->quantity->order;
	const CalCoordinateKind kind = c->info.kind;
	if (kind == CAL_COORDINATE_QUATERNION || (kind == CAL_COORDINATE_USER && c->dof < 0))
		return "1";
	if (kind == CAL_COORDINATE_ANGLE)
		return angle_units[rank];
	if (kind == CAL_COORDINATE_LENGTH)
		return length_units[rank];
	const bool turns = dof_turns_body(sampler, order->sim, group, body, body->u + c->dof);
	return turns ? angle_units[rank] : length_units[rank];
}

void columns_of_joint(CalSampler *sampler, const ColumnOrder *order, int group, int body) {
	const Body *b = &cal_sim_model(order->sim, group)->bodies[body];
	const char *word = order->quantity->info.word;
	const bool speed = order->quantity->order != ORDER_Q;
	JointCoordinate c;
	const bool single = !joint_coordinate(order->sim, group, body, speed, 1, &c);
	SampledItem *item = add_item(sampler, order, (SampledObject){.joint = b->joint_id});
	for (int i = 0; item && joint_coordinate(order->sim, group, body, speed, i, &c) && !sampler->failed; i++) {
		if (!is_wanted(order, c.info.name))
			continue;
		const char *unit = coordinate_unit(sampler, order, group, b, &c);
		add_column(sampler, order->quantity,
		           sampler_text(sampler, "%s:%s%s%s", word, b->joint, single ? "" : ".", single ? "" : c.info.name),
		           strlen(word) + 1, unit);
		if (sampler->failed)
			return;
		sampler->places[sampler->column_count - 1].of = i;
		sampler->places[sampler->column_count - 1].dof = c.dof;
	}
	if (item)
		end_item(sampler);
}

/* They are an item of their own: joint and body may part. */
void columns_of_modes(CalSampler *sampler, const ColumnOrder *order, int group, int body) {
	const char *word = order->quantity->info.word;
	const bool speed = order->quantity->order != ORDER_Q;
	CalBodyInfo info;
	if (cal_model_body(cal_sim_model(order->sim, group), body, &info) != CAL_OK || info.modes == 0)
		return;
	SampledItem *item = add_item(sampler, order, (SampledObject){.body = info.id});
	for (int i = 0; item && i < info.modes && !sampler->failed; i++) {
		CalCoordinateInfo mode;
		if (!mode_info(cal_sim_model(order->sim, group), &info, speed, i, &mode) || !is_wanted(order, mode.name))
			continue;
		add_column(sampler, order->quantity, sampler_text(sampler, "%s:%s.%s", word, info.name, mode.name),
		           strlen(word) + 1, modal_units[order->quantity->order]);
		if (!sampler->failed)
			sampler->places[sampler->column_count - 1].of = i;
	}
	if (item)
		end_item(sampler);
}

/* ---- nodes, joints, loops ----------------------------------------------------------------------------------- */

void columns_of_node(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int node, const char *path) {
	CalNodeInfo info = {0};
	cal_model_node(model, node, &info);
	add_listed(sampler, order, (SampledObject){.node = {info.id}}, named(sampler, order, path));
}

void columns_of_nodes(CalSampler *sampler, const ColumnOrder *order, const CalNodeId node[2], const char *paths) {
	add_listed(sampler, order, (SampledObject){.node = {node[0], node[1]}, .pair = true}, named(sampler, order, paths));
}

/* Reactions of joints within an embedded mechanism, and efforts on the dependent ones. */
bool columns_are_unknown(const ColumnOrder *order, int group, int body) {
	CalBodyInfo info = {0};
	cal_model_body(cal_sim_model(order->sim, group), body, &info);
	return info.mechanism &&
	       (order->quantity->info.about == CAL_ABOUT_JOINT || (order->quantity->order == ORDER_FORCE && info.nu == 0));
}

void columns_of_reaction(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int body) {
	CalBodyInfo info = {0};
	cal_model_body(model, body, &info);
	add_listed(sampler, order, (SampledObject){.joint = info.joint_id}, named(sampler, order, info.joint));
}

/* Directions d.. are lengths; the others are sines, or have no position. Forces of a coupling are those of its terms. */
static const char *row_unit(const Quantity *quantity, const char *direction) {
	if (quantity->phase == PHASE_RESIDUAL)
		return direction[0] == 'd' ? "m" : "1";
	return direction[0] == 'c' ? "N m|N" : direction[0] == 'd' || direction[0] == 'v' ? "N" : "N m";
}

/* Equations of a loop: those of all loops share a panel, those of one have it as their title. */
static void add_rows(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, const CalLoopInfo *info) {
	const char *word = order->quantity->info.word;
	const Loop *loop = &model->loops[cal_model_loop_index(model, info->id)];
	const CalLoopDef def = {.type = loop->type, .translation = loop->translation, .rotation = loop->rotation};
	SampledItem *item = add_item(sampler, order, (SampledObject){.loop = info->id});
	for (int row = 0; item && row < info->rows && !sampler->failed; row++) {
		const char *direction = cal_loop_row_name(&def, row);
		if (!is_wanted(order, direction))
			continue;
		add_column(sampler, order->quantity, sampler_text(sampler, "%s:%s.%s", word, info->name, direction),
		           strlen(word) + 1 + (order->of_all ? 0 : strlen(info->name) + 1),
		           row_unit(order->quantity, direction));
		if (!sampler->failed)
			sampler->places[sampler->column_count - 1].of = row;
	}
	if (item)
		end_item(sampler);
}

void columns_of_loop(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int loop) {
	CalLoopInfo info = {0};
	if (cal_model_loop(model, loop, &info) != CAL_OK)
		return;
	if (order->quantity->element)
		add_rows(sampler, order, model, &info);
	else
		add_listed(sampler, order, (SampledObject){.loop = info.id}, named(sampler, order, info.name));
}

/* ---- groups, devices, events, everything --------------------------------------------------------------------- */

void columns_of_group(CalSampler *sampler, const ColumnOrder *order, int group) {
	const char *word = order->quantity->info.word, *name = cal_model_name(cal_sim_model(order->sim, group));
	const char **groups = array_reserve(&sampler->allocator, sampler->groups, sampler->named_count, 1,
	                                    &sampler->named_capacity, sizeof *groups);
	const char *kept = sampler_text(sampler, "%s:%s", word, name);
	if (!groups) {
		sampler->failed = true;
		return;
	}
	sampler->groups = groups;
	groups[sampler->named_count] = kept + (kept[0] ? strlen(word) + 1 : 0);
	add_listed(sampler, order, (SampledObject){.number = sampler->named_count++},
	           cal_sim_group_count(order->sim) > 1 ? kept : word);
}

void columns_of_device(CalSampler *sampler, const ColumnOrder *order, int device) {
	CalDeviceInfo info;
	if (cal_sim_device(order->sim, device, &info) != CAL_OK)
		return;
	SampledItem *item = add_item(sampler, order, (SampledObject){.number = device});
	for (int i = 0; item && i < info.ops->output_count && !sampler->failed; i++) {
		if (!is_wanted(order, info.ops->output_names[i]))
			continue;
		item->only = order->component ? i : -1;
		add_column(sampler, order->quantity,
		           sampler_text(sampler, "device:%s.%s", info.name, info.ops->output_names[i]),
		           strlen("device:") + strlen(info.name) + 1, info.ops->output_units[i]);
	}
	sampler->failed |= !sampler_reserve_values(sampler, info.ops->output_count);
	if (item)
		end_item(sampler);
}

void columns_of_event(CalSampler *sampler, const ColumnOrder *order, int event) {
	add_listed(sampler, order, (SampledObject){.number = event},
	           named(sampler, order, cal_sim_event_name(order->sim, event)));
}

void columns_of_system(CalSampler *sampler, const ColumnOrder *order) {
	add_listed(sampler, order, (SampledObject){0}, order->quantity->info.word);
}
