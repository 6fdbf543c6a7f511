// SPDX-License-Identifier: Apache-2.0
/*
 * linear_names.c — names of inputs, outputs and states of a linearized simulation.
 *
 * Outputs are quantities. Inputs are the forces and wrenches among these, and the commands of devices, which are found by
 * asking: a device whose command is displaced says so. States have the names of their coordinates and speeds; the three
 * displacements of a quaternion are rx, ry and rz.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/linear_system.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "quantity/sampler.h"

/* ---- independent coordinates -------------------------------------------------------------------------- */

/* The group and degree of freedom of a name; false: there is none, and the nearest is offered. */
static bool find_dof(LinearSystem *s, const char *name, Suggestion *suggestion, LinearGroup **group, int *dof) {
	for (int g = 0; g < s->group_count; g++)
		for (int u = 0; s->groups[g].model && u < s->groups[g].nu; u++) {
			char *text = s->spare[suggestion->best == s->spare[0]]; // not where the nearest is
			cal_model_dof_name(s->groups[g].model, u, text, LINEAR_NAME);
			if (strcmp(text, name) == 0) {
				*group = &s->groups[g];
				*dof = u;
				return true;
			}
			suggestion_offer(suggestion, text);
		}
	return false;
}

CalStatus linear_independent_find(LinearSystem *s, const char *const *names, int count, CalError *error) {
	for (int i = 0; i < count; i++) {
		LinearGroup *group = NULL;
		int dof = 0;
		char hint[200];
		if (!names[i])
			return error_null(error, "cal_sim_state_space", "a name of an independent coordinate");
		Suggestion suggestion = {.word = names[i]};
		if (!find_dof(s, names[i], &suggestion, &group, &dof))
			return error_set(error, CAL_ERR_INPUT, "independent \"%.100s\": no degree of freedom has this name%s",
			                 names[i], suggestion_text(&suggestion, hint, sizeof hint));
		group->chosen += !group->independent[dof];
		group->independent[dof] = 1;
	}
	return CAL_OK;
}

/* ---- inputs that are quantities -------------------------------------------------------------------- */

static CalStatus refuse_word(const char *name, CalError *error) {
	return error_set(error, CAL_ERR_INPUT,
	                 "input \"%.100s\": inputs are force:JOINT, force:JOINT.DOF, wrench:NODE.fx (mx .. fz) and "
	                 "device:DEVICE.COMMAND",
	                 name);
}

static CalSpatial unit_wrench(int component) {
	CalSpatial f = {0};
	double *of[] = {&f.angular.x, &f.angular.y, &f.angular.z, &f.linear.x, &f.linear.y, &f.linear.z};
	*of[component] = 1;
	return f;
}

/* The probe of a column of of_inputs. */
static CalStatus probe_of_column(const LinearSystem *s, int column, SimProbe *probe, CalError *error) {
	const SampledItem *item = sampler_item_of(s->of_inputs, column);
	const ColumnPlace *place = &s->of_inputs->places[column];
	const char *name = s->of_inputs->columns[column].name;
	*probe = (SimProbe){.group = item->object.group};
	if (probe->group < 0 || !s->groups[probe->group].model)
		return error_set(error, CAL_ERR_INPUT, "input \"%.100s\": the motion of its group is given; nothing acts on it",
		                 name);
	if (item->quantity->info.about == CAL_ABOUT_NODE) {
		const int component = item->only >= 0 ? item->only : column - item->first;
		probe->kind = PROBE_WRENCH;
		probe->wrench = (CalWrench){item->object.index, CAL_FRAME_WORLD, unit_wrench(component)};
		return CAL_OK;
	}
	if (place->at < 0 || place->mechanism > 0)
		return error_set(error, CAL_ERR_INPUT, "input \"%.100s\": it is no degree of freedom of its own", name);
	probe->kind = PROBE_EFFORT;
	probe->dof = place->at;
	return CAL_OK;
}

static bool is_force(const char *name) {
	const SampledText text = sampled_text(name);
	return text.quantity && !text.component &&
	       (strcmp(text.quantity->info.word, "force") == 0 || strcmp(text.quantity->info.word, "wrench") == 0);
}

static CalStatus add_input(LinearSystem *s, const LinearInput *input, const char *name, CalError *error) {
	for (int i = 0; i < s->input_count; i++)
		if (s->inputs[i].column == input->column &&
		    (s->inputs[i].probe.kind == PROBE_COMMAND) == (input->probe.kind == PROBE_COMMAND) &&
		    (input->probe.kind != PROBE_COMMAND || strcmp(s->inputs[i].probe.name, input->probe.name) == 0))
			return error_set(error, CAL_ERR_INPUT, "input \"%.100s\" is named twice", name);
	LinearInput *more = array_reserve(&s->allocator, s->inputs, s->input_count, 1, &s->input_capacity, sizeof *more);
	if (!more)
		return error_set(error, CAL_ERR_MEMORY, "out of memory for inputs");
	s->inputs = more;
	s->inputs[s->input_count++] = *input;
	return CAL_OK;
}

/* A joint stands for its own degrees of freedom here, without the modes of the body that it carries. */
static CalStatus add_force(LinearSystem *s, const char *name, CalError *error) {
	int first = 0, count = 0;
	if (!is_force(name))
		return refuse_word(name, error);
	CalStatus status = cal_sampler_add(s->of_inputs, s->sim, name, error);
	if (status == CAL_OK)
		status = cal_sampler_find(s->of_inputs, name, &first, &count);
	for (int i = first; status == CAL_OK && i < first + count; i++) {
		LinearInput input = {.column = i};
		if (strncmp(s->of_inputs->columns[i].name, name, strlen(name)) != 0)
			continue;
		status = probe_of_column(s, i, &input.probe, error);
		if (status == CAL_OK)
			status = add_input(s, &input, s->of_inputs->columns[i].name, error);
	}
	return status;
}

/* ---- commands of devices ----------------------------------------------------------------------------- */

/* The device whose name the text begins with, before a dot; the command follows. -1: there is none. */
static int device_of(const CalSim *sim, const char *text, const char **command) {
	for (int i = 0; i < sim->device_count; i++) {
		const size_t length = strlen(sim->devices[i].def.name);
		if (strncmp(text, sim->devices[i].def.name, length) != 0 || text[length] != '.' || !text[length + 1])
			continue;
		*command = text + length + 1;
		return i;
	}
	return -1;
}

static CalStatus refuse_device(const CalSim *sim, const char *name, CalError *error) {
	const char *text = name + strlen("device:");
	char device[100], hint[160];
	snprintf(device, sizeof device, "%.*s", (int)strcspn(text, "."), text);
	Suggestion suggestion = {.word = device};
	for (int i = 0; i < sim->device_count; i++)
		suggestion_offer(&suggestion, sim->devices[i].def.name);
	return error_set(error, CAL_ERR_INPUT, "input \"%.100s\": no device has this name%s; write device:DEVICE.COMMAND",
	                 name, suggestion_text(&suggestion, hint, sizeof hint));
}

/* Asks the device at the present state; probe->met says whether it has the command. */
static CalStatus ask_device(CalSim *sim, SimProbe *probe) {
	CalEvalContext context;
	const SimProbe kept = sim->probe;
	sim->probe = *probe;
	const CalStatus status = sim_evaluate_for_observers(sim, true, &context);
	*probe = sim->probe;
	sim->probe = kept;
	return status;
}

static CalStatus add_command(LinearSystem *s, const char *name, CalError *error) {
	const char *command;
	const int device = device_of(s->sim, name + strlen("device:"), &command);
	if (device < 0)
		return refuse_device(s->sim, name, error);
	const SimDevice *d = &s->sim->devices[device];
	if (!d->active)
		return error_set(error, CAL_ERR_INPUT,
		                 "input \"%.100s\": the device is switched off, or its objects are not there", name);
	LinearInput input = {.probe = {.kind = PROBE_COMMAND, .data = d->is.data, .name = command}, .column = device};
	const CalStatus status = ask_device(s->sim, &input.probe);
	if (status != CAL_OK)
		return error_set(error, status, "input \"%.100s\": %s", name, cal_status_text(status));
	if (!input.probe.met)
		return error_set(error, CAL_ERR_INPUT, "input \"%.100s\": device \"%.60s\" takes %s%s", name, d->def.name,
		                 input.probe.others[0] ? "" : "no command at this state", input.probe.others);
	return add_input(s, &input, name, error);
}

CalStatus linear_inputs_find(LinearSystem *s, const char *const *names, int count, CalError *error) {
	CalStatus status = cal_sampler_create(&s->allocator, &s->of_inputs, error);
	for (int i = 0; i < count && status == CAL_OK; i++) {
		if (!names[i])
			status = error_null(error, "cal_sim_state_space", "a name of an input");
		else if (strncmp(names[i], "device:", 7) == 0)
			status = add_command(s, names[i], error);
		else
			status = add_force(s, names[i], error);
	}
	return status;
}

static const char *output_unit(const CalDeviceOps *ops, const char *name) {
	for (int i = 0; i < ops->output_count; i++)
		if (strcmp(ops->output_names[i], name) == 0)
			return ops->output_units[i];
	return "1";
}

CalSignalName linear_input_name(const LinearSystem *s, int input, char *text) {
	const LinearInput *of = &s->inputs[input];
	if (of->probe.kind == PROBE_COMMAND) {
		const CalDeviceDef *device = &s->sim->devices[of->column].def;
		snprintf(text, LINEAR_NAME, "device:%.80s.%.60s", device->name, of->probe.name);
		return (CalSignalName){text, output_unit(device->ops, of->probe.name)};
	}
	const CalSamplerColumn *column = &s->of_inputs->columns[of->column];
	return (CalSignalName){column->name, column->unit};
}

/* ---- outputs -------------------------------------------------------------------------------------------- */

CalStatus linear_outputs_find(LinearSystem *s, const char *const *names, int count, CalError *error) {
	CalStatus status = cal_sampler_create(&s->allocator, &s->outputs, error);
	for (int i = 0; i < count && status == CAL_OK; i++)
		status = names[i] ? cal_sampler_add(s->outputs, s->sim, names[i], error)
		                  : error_null(error, "cal_sim_state_space", "a name of an output");
	s->output_count = status == CAL_OK ? cal_sampler_column_count(s->outputs) - 1 : 0;
	if (status == CAL_OK)
		status = cal_sampler_create(&s->allocator, &s->of_states, error);
	if (status == CAL_OK && s->coordinate_count > 0)
		status = cal_sampler_add(s->of_states, s->sim, "q", error);
	if (status == CAL_OK && s->coordinate_count > 0)
		status = cal_sampler_add(s->of_states, s->sim, "u", error);
	return status;
}

/* ---- states --------------------------------------------------------------------------------------------- */

CalStatePlace linear_state_place(const LinearSystem *s, int state) {
	const int coordinates = s->coordinate_count;
	if (state >= 2 * coordinates) {
		const int i = state - 2 * coordinates;
		return (CalStatePlace){CAL_STATE_DEVICE, s->device[i], s->device_state[i]};
	}
	const CalStateKind kind = state < coordinates ? CAL_STATE_COORDINATE : CAL_STATE_SPEED;
	const int k = state % coordinates;
	int group = s->group_count - 1;
	while (!s->groups[group].model || s->groups[group].first > k)
		group--;
	return (CalStatePlace){kind, group, s->groups[group].dof[k - s->groups[group].first]};
}

/* The column of a coordinate or speed; NULL: there is none. */
static const CalSamplerColumn *column_at(const CalSampler *names, CoordinateOrder order, int group, int at) {
	for (int i = 0; i < names->item_count; i++) {
		const SampledItem *item = &names->items[i];
		if (!item->quantity->element || item->quantity->order != order || item->object.group != group)
			continue;
		for (int c = item->first; c < item->first + item->count; c++)
			if (names->places[c].at == at && names->places[c].mechanism == 0)
				return &names->columns[c];
	}
	return NULL;
}

/* "u:ball.wx", "rad/s" to "q:ball.rx", "rad". */
static CalSignalName displacement_name(const CalSamplerColumn *speed, char *text) {
	const bool turns = strcmp(speed->unit, "rad/s") == 0;
	snprintf(text, LINEAR_NAME, "q%.150s", speed->name + 1);
	char *component = strrchr(text, '.');
	if (turns && component && component[1] == 'w')
		component[1] = 'r';
	return (CalSignalName){text, turns ? "rad" : strcmp(speed->unit, "m/s") == 0 ? "m" : "1"};
}

static CalSignalName device_state_name(const LinearSystem *s, const CalStatePlace *place, char *text) {
	const CalDeviceDef *device = &s->sim->devices[place->object].def;
	if (device->nx == 1)
		snprintf(text, LINEAR_NAME, "x:%.150s", device->name);
	else
		snprintf(text, LINEAR_NAME, "x:%.140s.%d", device->name, place->index + 1);
	return (CalSignalName){text, "1"};
}

CalSignalName linear_state_name(const LinearSystem *s, int state, char *text) {
	const CalStatePlace place = linear_state_place(s, state);
	CalDofInfo dof = {.q = -1};
	if (place.kind == CAL_STATE_DEVICE)
		return device_state_name(s, &place, text);
	const CalSamplerColumn *speed = column_at(s->of_states, ORDER_U, place.object, place.index);
	if (place.kind == CAL_STATE_SPEED && speed)
		return (CalSignalName){speed->name, speed->unit};
	cal_model_dof(s->groups[place.object].model, place.index, &dof);
	const CalSamplerColumn *q = dof.q >= 0 ? column_at(s->of_states, ORDER_Q, place.object, dof.q) : NULL;
	if (q)
		return (CalSignalName){q->name, q->unit};
	if (speed)
		return displacement_name(speed, text);
	snprintf(text, LINEAR_NAME, "%c:%d", place.kind == CAL_STATE_SPEED ? 'u' : 'q', place.index);
	return (CalSignalName){text, "1"};
}
