// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_inputs.c — see fmu_inputs.h.
 */
#define _POSIX_C_SOURCE 200809L // strdup

#include "fmu_inputs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------------------- */

/* Which of the columns "force:JOINT..." the name is; -1: none of them. */
static int dof_of(CalSim *sim, const char *joint, const char *name) {
	CalSampler *sampler = NULL;
	char all[320];
	int first = 0, count = 0, dof = -1;
	snprintf(all, sizeof all, "force:%s", joint);
	if (cal_sampler_create(NULL, &sampler, NULL) == CAL_OK && cal_sampler_add(sampler, sim, all, NULL) == CAL_OK &&
	    cal_sampler_find(sampler, all, &first, &count) == CAL_OK)
		for (int i = 0; i < count && dof < 0; i++) {
			CalSamplerColumn column;
			if (cal_sampler_column(sampler, first + i, &column) == CAL_OK && strcmp(column.name, name) == 0)
				dof = i;
		}
	cal_sampler_destroy(sampler);
	return dof;
}

/* A joint may have dots in its name: the whole first. */
static bool find_effort(FmuInput *input, CalSim *sim, const CalDesc *desc, const char *name) {
	char *dot = strrchr(input->object, '.');
	if (cal_desc_find_joint(desc, input->object).value == 0 && dot)
		*dot = 0;
	input->component = dof_of(sim, input->object, name);
	return input->component >= 0;
}

static bool find_wrench(FmuInput *input, const CalDesc *desc) {
	static const char *const components[] = {"mx", "my", "mz", "fx", "fy", "fz"};
	char *component = strrchr(input->object, '.');
	if (!component)
		return false;
	*component++ = 0;
	input->is_wrench = 1;
	input->component = 0;
	while (input->component < 6 && strcmp(component, components[input->component]) != 0)
		input->component++;
	return input->component < 6 &&
	       (cal_desc_find_node(desc, input->object).value || cal_desc_find_body(desc, input->object).value);
}

CalStatus fmu_input_find(FmuInput *input, CalSim *sim, const CalDesc *desc, const char *name, CalError *error) {
	const bool effort = strncmp(name, "force:", 6) == 0, wrench = strncmp(name, "wrench:", 7) == 0;
	input->object = effort || wrench ? strdup(strchr(name, ':') + 1) : NULL;
	if ((effort || wrench) && !input->object)
		return CAL_ERR_MEMORY;
	if (effort ? find_effort(input, sim, desc, name) : wrench && find_wrench(input, desc))
		return CAL_OK;
	free(input->object);
	input->object = NULL;
	if (error) {
		*error = (CalError){.status = CAL_ERR_INPUT, .count = 1};
		snprintf(error->text, sizeof error->text,
		         "input \"%.100s\": inputs are force:JOINT, force:JOINT.DOF and wrench:NODE.fx (mx .. fz)", name);
	}
	return CAL_ERR_INPUT;
}

/* ---- the device ------------------------------------------------------------------------------------------- */

static FmuInputs *inputs_of(const CalDevice *device) { return *(FmuInputs *const *)device->data; }

static int inputs_bind(const CalDevice *device, const CalEvalContext *context) {
	FmuInputs *inputs = inputs_of(device);
	for (int i = 0; i < inputs->count; i++) {
		FmuInput *input = &inputs->of[i];
		input->is_there = input->is_wrench
		                      ? cal_context_find_node_by_name(context, input->object, &input->node_ref)
		                      : cal_context_find_dof_by_name(context, input->object, input->component, &input->dof_ref);
	}
	return 0;
}

static int apply_wrench(const FmuInput *input, CalEvalContext *context) {
	CalSpatial force = {0}, velocity = {0};
	double *const component[] = {&force.angular.x, &force.angular.y, &force.angular.z,
	                             &force.linear.x,  &force.linear.y,  &force.linear.z};
	const double *const rate[] = {&velocity.angular.x, &velocity.angular.y, &velocity.angular.z,
	                              &velocity.linear.x,  &velocity.linear.y,  &velocity.linear.z};
	*component[input->component] = input->value;
	if (cal_context_node_motion(context, input->node_ref, NULL, &velocity) != CAL_OK)
		return 1;
	cal_context_add_supplied_power(context, input->value * *rate[input->component]);
	return cal_context_apply_wrench(context, input->node_ref, CAL_FRAME_WORLD, force) != CAL_OK;
}

static int apply_effort(const FmuInput *input, CalEvalContext *context) {
	cal_context_add_supplied_power(context, input->value * cal_context_u(context, input->dof_ref));
	return cal_context_apply_effort(context, input->dof_ref, input->value) != CAL_OK;
}

static int inputs_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const FmuInputs *inputs = inputs_of(device);
	int failed = 0;
	(void)xdot;
	for (int i = 0; i < inputs->count && !failed; i++) {
		const FmuInput *input = &inputs->of[i];
		if (input->is_there && input->value != 0)
			failed = input->is_wrench ? apply_wrench(input, context) : apply_effort(input, context);
	}
	return failed;
}

static const CalDeviceOps inputs_ops = {.type = "fmu_inputs", .bind = inputs_bind, .evaluate = inputs_evaluate};

/* ---- the event --------------------------------------------------------------------------------------------- */

static double next_change(void *user, const CalSim *sim) {
	const FmuInputs *inputs = user;
	return inputs->changed ? cal_sim_time(sim) : INFINITY;
}

static CalStatus take_change(void *user, CalSim *sim, CalError *error) {
	FmuInputs *inputs = user;
	(void)sim, (void)error;
	inputs->changed = 0;
	return CAL_OK;
}

CalStatus fmu_inputs_add(FmuInputs *inputs, CalSim *sim, CalError *error) {
	int wrenches = 0;
	for (int i = 0; i < inputs->count; i++)
		wrenches += inputs->of[i].is_wrench;
	const CalDeviceDef device = {.name = "inputs of the unit",
	                             .ops = &inputs_ops,
	                             .data = &inputs,
	                             .data_size = sizeof inputs,
	                             .wrench_count = wrenches,
	                             .accounts = 1};
	const CalEventDef event = {
		.name = "inputs of the unit", .when = next_change, .action = take_change, .user = inputs};
	const CalStatus status = cal_sim_add_device(sim, &device, NULL, error);
	return status == CAL_OK ? cal_sim_add_event(sim, &event, NULL, error) : status;
}

void fmu_inputs_release(FmuInputs *inputs) {
	for (int i = 0; inputs->of && i < inputs->count; i++)
		free(inputs->of[i].object);
	free(inputs->of);
	*inputs = (FmuInputs){0};
}
