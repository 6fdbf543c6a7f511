// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_model.c — see fmu_model.h.
 *
 * Inputs are one device, which applies them in every evaluation. When one was changed an event is due at once, which does
 * nothing: integrators start anew after it, so that no rate from before the change is used.
 */
#define _POSIX_C_SOURCE 200809L // strdup

#include "fmu_model.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 100000, MOST_BYTES = 1 << 28 };

/** An input, and where it acts. */
typedef struct Input {
	int is_wrench;
	char *object;  // joint or node
	int component; // dof of the joint; mx, my, mz, fx, fy, fz of the wrench
	double value;
	CalDofRef dof_ref;
	CalNodeRef node_ref;
	int is_there; // its object is in the simulation
} Input;

struct FmuModel {
	CalSetup *setup;
	char *name, *token;
	FmuVariable *variables; // [variable_count]
	char *text;             // of the list: names, units and token are in it
	int variable_count, input_count;
	Input *inputs; // [input_count], variables 1 ..
	// after the start
	CalSim *sim;
	CalScenario *scenario;
	CalSampler *outputs;
	double *row; // of them
	int fresh;   // nonzero: row is of the present moment
	int changed; // nonzero: an input was set since the last step
	double start_time, tolerance;
};

static CalStatus fail(CalError *error, CalStatus status, const char *format, ...) {
	va_list args;
	if (!error)
		return status;
	*error = (CalError){.status = status, .count = 1};
	va_start(args, format);
	vsnprintf(error->text, sizeof error->text, format, args);
	va_end(args);
	return status;
}

static CalStatus out_of_memory(const FmuModel *model, CalError *error) {
	return fail(error, CAL_ERR_MEMORY, "%s: out of memory", model->name);
}

/* ---- the list of variables ---------------------------------------------------------------------------- */

/* Ends the text at the first of `ends` and returns what follows; NULL: there is none. */
static char *cut(char *text, char end) {
	char *at = strchr(text, end);
	if (!at)
		return NULL;
	*at = 0;
	return at + 1;
}

static CalStatus read_variable(FmuModel *model, char *line, CalError *error) {
	FmuVariable *v = &model->variables[model->variable_count];
	char *unit = cut(line, '\t'), *name = unit ? cut(unit, '\t') : NULL;
	const int is_input = strcmp(line, "input") == 0;
	if (!name || !*name || (!is_input && strcmp(line, "output") != 0))
		return fail(error, CAL_ERR_INPUT, "%s: variable %d is not written as KIND, UNIT, NAME", model->name,
		            model->variable_count);
	if (is_input && model->input_count + 1 < model->variable_count)
		return fail(error, CAL_ERR_INPUT, "%s: input \"%.100s\" comes after an output", model->name, name);
	*v = (FmuVariable){is_input ? FMU_INPUT : FMU_OUTPUT, name, unit};
	model->input_count += is_input;
	model->variable_count++;
	return CAL_OK;
}

static CalStatus read_variables(FmuModel *model, CalError *error) {
	static const char head[] = "calder-fmu 1 ";
	char *line = model->text, *next = cut(line, '\n');
	int lines = 1;
	if (strncmp(line, head, sizeof head - 1) != 0)
		return fail(error, CAL_ERR_INPUT, "%s: the list of variables is not of this version of Calder", model->name);
	for (const char *at = next; at && *at; at++)
		lines += *at == '\n';
	model->token = line + sizeof head - 1;
	model->variables = calloc((size_t)lines + 1, sizeof *model->variables);
	if (lines > MOST_VARIABLES)
		return fail(error, CAL_ERR_INPUT, "%s: more than %d variables", model->name, MOST_VARIABLES);
	if (!model->variables)
		return out_of_memory(model, error);
	model->variables[model->variable_count++] = (FmuVariable){FMU_TIME, "time", "s"};
	CalStatus status = CAL_OK;
	while (status == CAL_OK && next && *next) {
		line = next;
		next = cut(line, '\n');
		status = read_variable(model, line, error);
	}
	return status;
}

/* ---- inputs --------------------------------------------------------------------------------------------- */

static CalStatus no_input(const FmuModel *model, const char *name, CalError *error) {
	return fail(error, CAL_ERR_INPUT,
	            "%s: input \"%.100s\": inputs are force:JOINT, force:JOINT.DOF and wrench:NODE.fx (mx .. fz)",
	            model->name, name);
}

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
static CalStatus find_effort(FmuModel *model, Input *input, const char *name, CalError *error) {
	input->object = strdup(name + strlen("force:"));
	if (!input->object)
		return out_of_memory(model, error);
	char *dot = strrchr(input->object, '.');
	if (cal_desc_find_joint(cal_setup_desc(model->setup), input->object).value == 0 && dot)
		*dot = 0;
	input->component = dof_of(model->sim, input->object, name);
	return input->component >= 0 ? CAL_OK : no_input(model, name, error);
}

static CalStatus find_wrench(FmuModel *model, Input *input, const char *name, CalError *error) {
	static const char *const components[] = {"mx", "my", "mz", "fx", "fy", "fz"};
	input->is_wrench = 1;
	input->object = strdup(name + strlen("wrench:"));
	if (!input->object)
		return out_of_memory(model, error);
	char *component = strrchr(input->object, '.');
	if (!component)
		return no_input(model, name, error);
	*component++ = 0;
	while (input->component < 6 && strcmp(component, components[input->component]) != 0)
		input->component++;
	const CalDesc *desc = cal_setup_desc(model->setup);
	const int there = cal_desc_find_node(desc, input->object).value || cal_desc_find_body(desc, input->object).value;
	return input->component < 6 && there ? CAL_OK : no_input(model, name, error);
}

/* Names are looked up once, at the first start: they need the columns of a simulation. */
static CalStatus find_inputs(FmuModel *model, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < model->input_count && status == CAL_OK; i++) {
		Input *input = &model->inputs[i];
		const char *name = model->variables[i + 1].name;
		if (input->object)
			continue;
		if (strncmp(name, "force:", 6) == 0)
			status = find_effort(model, input, name, error);
		else if (strncmp(name, "wrench:", 7) == 0)
			status = find_wrench(model, input, name, error);
		else
			status = no_input(model, name, error);
	}
	return status;
}

/* ---- the device that applies them -------------------------------------------------------------------------- */

static FmuModel *model_of(const CalDevice *device) { return *(FmuModel *const *)device->data; }

static int inputs_bind(const CalDevice *device, const CalEvalContext *context) {
	FmuModel *model = model_of(device);
	for (int i = 0; i < model->input_count; i++) {
		Input *input = &model->inputs[i];
		input->is_there = input->is_wrench
		                      ? cal_context_find_node_by_name(context, input->object, &input->node_ref)
		                      : cal_context_find_dof_by_name(context, input->object, input->component, &input->dof_ref);
	}
	return 0;
}

static int apply_wrench(const Input *input, CalEvalContext *context) {
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

static int apply_effort(const Input *input, CalEvalContext *context) {
	cal_context_add_supplied_power(context, input->value * cal_context_u(context, input->dof_ref));
	return cal_context_apply_effort(context, input->dof_ref, input->value) != CAL_OK;
}

static int inputs_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const FmuModel *model = model_of(device);
	int failed = 0;
	(void)xdot;
	for (int i = 0; i < model->input_count && !failed; i++) {
		const Input *input = &model->inputs[i];
		if (input->is_there && input->value != 0)
			failed = input->is_wrench ? apply_wrench(input, context) : apply_effort(input, context);
	}
	return failed;
}

static const CalDeviceOps inputs_ops = {.type = "fmu_inputs", .bind = inputs_bind, .evaluate = inputs_evaluate};

static double next_change(void *user, const CalSim *sim) {
	const FmuModel *model = user;
	return model->changed ? cal_sim_time(sim) : INFINITY;
}

static CalStatus take_change(void *user, CalSim *sim, CalError *error) {
	FmuModel *model = user;
	(void)sim, (void)error;
	model->changed = 0;
	return CAL_OK;
}

static CalStatus add_inputs(FmuModel *model, CalError *error) {
	int wrenches = 0;
	for (int i = 0; i < model->input_count; i++)
		wrenches += model->inputs[i].is_wrench;
	const CalDeviceDef device = {.name = "inputs of the unit",
	                             .ops = &inputs_ops,
	                             .data = &model,
	                             .data_size = sizeof model,
	                             .wrench_count = wrenches,
	                             .accounts = 1};
	const CalEventDef event = {.name = "inputs of the unit", .when = next_change, .action = take_change, .user = model};
	const CalStatus status = cal_sim_add_device(model->sim, &device, NULL, error);
	return status == CAL_OK ? cal_sim_add_event(model->sim, &event, NULL, error) : status;
}

/* ---- making --------------------------------------------------------------------------------------------- */

CalStatus fmu_model_create(const char *text, const char *variables, const char *name, FmuModel **made,
                           CalError *error) {
	FmuModel *model = *made = calloc(1, sizeof *model);
	if (!model)
		return fail(error, CAL_ERR_MEMORY, "%s: out of memory", name);
	model->name = strdup(name);
	model->text = strdup(variables);
	CalStatus status = model->name && model->text ? read_variables(model, error)
	                                              : fail(error, CAL_ERR_MEMORY, "%s: out of memory", name);
	if (status == CAL_OK)
		status = cal_model_file_parse(text, strlen(text), name, NULL, &model->setup, error);
	if (status == CAL_OK) {
		cal_model_file_trim(model->setup);
		model->inputs = calloc((size_t)model->input_count + 1, sizeof *model->inputs);
		status = model->inputs ? CAL_OK : out_of_memory(model, error);
	}
	if (status != CAL_OK) {
		fmu_model_destroy(model);
		*made = NULL;
	}
	return status;
}

/* All of a file with a zero after it, from malloc; NULL: error says why. */
static char *read_file(const char *folder, const char *name, CalError *error) {
	char path[4096];
	const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "rb") : NULL;
	char *text = NULL;
	long size = -1;
	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && size <= MOST_BYTES)
		text = malloc((size_t)size + 1);
	if (text) {
		rewind(file);
		text[fread(text, 1, (size_t)size, file)] = 0;
	}
	if (!text)
		fail(error, CAL_ERR_IO, "%.600s: cannot be read: %s", path,
		     errno ? strerror(errno) : "it is no model of a unit");
	if (file)
		fclose(file);
	return text;
}

CalStatus fmu_model_open(const char *folder, FmuModel **made, CalError *error) {
	CalError why = {0};
	*made = NULL;
	errno = 0;
	char *model = read_file(folder, FMU_MODEL_FILE, &why), *variables = NULL;
	CalStatus status = CAL_ERR_IO;
	if (model)
		variables = read_file(folder, FMU_VARIABLES_FILE, &why);
	if (variables)
		status = fmu_model_create(model, variables, FMU_MODEL_FILE, made, &why);
	if (status != CAL_OK && error)
		*error = why;
	free(model), free(variables);
	return status;
}

static void end_simulation(FmuModel *model) {
	cal_sampler_destroy(model->outputs);
	free(model->row);
	cal_scenario_destroy(model->scenario);
	cal_sim_destroy(model->sim);
	model->outputs = NULL, model->row = NULL, model->scenario = NULL, model->sim = NULL;
	model->fresh = 0;
}

void fmu_model_destroy(FmuModel *model) {
	if (!model)
		return;
	end_simulation(model);
	for (int i = 0; model->inputs && i < model->input_count; i++)
		free(model->inputs[i].object);
	cal_setup_destroy(model->setup);
	free(model->inputs);
	free(model->variables);
	free(model->text);
	free(model->name);
	free(model);
}

const char *fmu_model_token(const FmuModel *model) { return model->token; }
int fmu_model_variable_count(const FmuModel *model) { return model->variable_count; }
FmuVariable fmu_model_variable(const FmuModel *model, int number) { return model->variables[number]; }
CalRunSettings fmu_model_run(const FmuModel *model) { return cal_setup_run(model->setup); }

/* ---- a run ------------------------------------------------------------------------------------------------ */

static CalStatus add_outputs(FmuModel *model, CalError *error) {
	CalStatus status = cal_sampler_create(NULL, &model->outputs, error);
	for (int i = model->input_count + 1; i < model->variable_count && status == CAL_OK; i++) {
		CalError why = {0};
		const char *name = model->variables[i].name;
		status = cal_sampler_add(model->outputs, model->sim, name, &why);
		if (status != CAL_OK)
			return fail(error, status, "%s: output \"%.100s\": %.400s", model->name, name, why.text);
		if (cal_sampler_column_count(model->outputs) != i - model->input_count + 1)
			return fail(error, CAL_ERR_INPUT, "%s: output \"%.100s\" is not one number", model->name, name);
	}
	if (status == CAL_OK)
		model->row = calloc((size_t)cal_sampler_column_count(model->outputs), sizeof *model->row);
	return status == CAL_OK && !model->row ? out_of_memory(model, error) : status;
}

static CalStatus build(FmuModel *model, double time, double tolerance, CalError *error) {
	CalSimOptions options = cal_setup_options(model->setup);
	options.plugins = CAL_PLUGIN_REFUSE; // a unit holds no code but the library's
	if (tolerance > 0)
		options.method.rtol = tolerance;
	CalStatus status = cal_sim_create(cal_setup_desc(model->setup), &options, &model->sim, error);
	if (status == CAL_OK)
		status = cal_scenario_create(model->setup, model->sim, &model->scenario, error);
	if (status == CAL_OK)
		status = find_inputs(model, error);
	if (status == CAL_OK && model->input_count > 0)
		status = add_inputs(model, error);
	for (int g = 0; status == CAL_OK && g < cal_sim_group_count(model->sim); g++)
		cal_sim_state(model->sim, g)->t = time;
	if (status == CAL_OK)
		status = cal_sim_restart(model->sim, error);
	return status == CAL_OK ? add_outputs(model, error) : status;
}

CalStatus fmu_model_start(FmuModel *model, double time, double tolerance, CalError *error) {
	if (!isfinite(time) || !isfinite(tolerance) || tolerance < 0)
		return fail(error, CAL_ERR_ARGUMENT, "%s: start time and tolerance must be finite numbers", model->name);
	end_simulation(model);
	model->start_time = time;
	model->tolerance = tolerance;
	model->changed = 0;
	const CalStatus status = build(model, time, tolerance, error);
	if (status != CAL_OK)
		end_simulation(model);
	return status;
}

void fmu_model_reset(FmuModel *model) {
	end_simulation(model);
	for (int i = 0; i < model->input_count; i++)
		model->inputs[i].value = 0;
}

double fmu_model_time(const FmuModel *model) { return model->sim ? cal_sim_time(model->sim) : model->start_time; }

static CalStatus sample(FmuModel *model, CalError *error) {
	if (!model->sim)
		return fail(error, CAL_ERR_STAGE, "%s: outputs have values from the initialization on", model->name);
	const CalStatus status = model->fresh ? CAL_OK : cal_sampler_sample(model->outputs, model->sim, model->row);
	model->fresh = status == CAL_OK;
	return status == CAL_OK ? status : fail(error, status, "%s: %s", model->name, cal_status_text(status));
}

CalStatus fmu_model_get(FmuModel *model, unsigned number, double *value, CalError *error) {
	if (number >= (unsigned)model->variable_count)
		return fail(error, CAL_ERR_ARGUMENT, "%s: there is no variable %u", model->name, number);
	if (number == 0) {
		*value = fmu_model_time(model);
		return CAL_OK;
	}
	if (number <= (unsigned)model->input_count) {
		*value = model->inputs[number - 1].value;
		return CAL_OK;
	}
	const CalStatus status = sample(model, error);
	if (status == CAL_OK)
		*value = model->row[number - (unsigned)model->input_count];
	return status;
}

CalStatus fmu_model_set(FmuModel *model, unsigned number, double value, CalError *error) {
	if (number >= (unsigned)model->variable_count)
		return fail(error, CAL_ERR_ARGUMENT, "%s: there is no variable %u", model->name, number);
	if (number == 0 || number > (unsigned)model->input_count)
		return fail(error, CAL_ERR_ARGUMENT, "%s: \"%.100s\" is no input", model->name, model->variables[number].name);
	if (!isfinite(value))
		return fail(error, CAL_ERR_ARGUMENT, "%s: input \"%.100s\": %g is not a finite number", model->name,
		            model->variables[number].name, value);
	Input *input = &model->inputs[number - 1];
	if (input->value == value)
		return CAL_OK;
	input->value = value;
	model->fresh = 0;
	model->changed = 1;
	return CAL_OK;
}

CalStatus fmu_model_advance(FmuModel *model, double time, CalError *error) {
	CalError why = {0};
	if (!model->sim)
		return fail(error, CAL_ERR_STAGE, "%s: there is no step before the initialization", model->name);
	model->fresh = 0;
	const CalStatus status = cal_sim_advance(model->sim, time, &why);
	if (status != CAL_OK)
		fail(error, status, "%s: %s", model->name, why.text[0] ? why.text : cal_status_text(status));
	return status;
}

int fmu_model_doubts(FmuModel *model, FmuSayFn say, void *user) {
	int count = 0;
	if (!model->sim || cal_sim_examine(model->sim) != CAL_OK)
		return 0;
	for (; count < cal_sim_doubt_count(model->sim); count++) {
		CalDoubt doubt;
		if (cal_sim_doubt(model->sim, count, &doubt) == CAL_OK)
			say(user, doubt.text);
	}
	return count;
}

/* ---- sensitivities ---------------------------------------------------------------------------------------------- */

/* Names of variables of one kind. */
static CalStatus names_of(const FmuModel *model, FmuVariableKind kind, const unsigned *numbers, size_t count,
                          const char **names, CalError *error) {
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] >= (unsigned)model->variable_count || model->variables[numbers[i]].kind != kind)
			return fail(error, CAL_ERR_ARGUMENT, "%s: variable %u is no %s", model->name, numbers[i],
			            kind == FMU_INPUT ? "input" : "output");
		names[i] = model->variables[numbers[i]].name;
	}
	return CAL_OK;
}

CalStatus fmu_model_sensitivity(FmuModel *model, const unsigned *outputs, size_t output_count, const unsigned *inputs,
                                size_t input_count, const double *seed, double *sensitivity, CalError *error) {
	if (!model->sim)
		return fail(error, CAL_ERR_STAGE, "%s: there are derivatives from the initialization on", model->name);
	const char **names = calloc(output_count + input_count + 1, sizeof *names);
	CalStateSpace space = {0};
	if (!names)
		return out_of_memory(model, error);
	CalStatus status = names_of(model, FMU_OUTPUT, outputs, output_count, names, error);
	if (status == CAL_OK)
		status = names_of(model, FMU_INPUT, inputs, input_count, names + output_count, error);
	if (status == CAL_OK) {
		const CalStateSpaceOptions options = {.inputs = names + output_count,
		                                      .input_count = (int)input_count,
		                                      .outputs = names,
		                                      .output_count = (int)output_count};
		status = cal_sim_state_space(model->sim, &options, &space, error);
	}
	for (size_t i = 0; i < output_count && status == CAL_OK; i++) {
		sensitivity[i] = 0;
		for (size_t k = 0; k < input_count; k++)
			sensitivity[i] += space.D[i * input_count + k] * seed[k];
	}
	cal_state_space_release(&space);
	free(names);
	return status;
}

/* ---- snapshots ---------------------------------------------------------------------------------------------- */

typedef struct SnapshotHead {
	char magic[8];
	double start_time, tolerance;
	uint64_t checkpoint; // bytes that follow the inputs; 0: it has not started
	uint32_t input_count, changed;
} SnapshotHead;

static const char magic[8] = "CALFMU1";

FmuSnapshot *fmu_model_take(FmuModel *model, CalError *error) {
	const size_t inputs = sizeof(double) * (size_t)model->input_count;
	const size_t checkpoint = model->sim ? cal_checkpoint_size(model->sim) : 0;
	FmuSnapshot *snapshot = malloc(sizeof *snapshot + sizeof(SnapshotHead) + inputs + checkpoint);
	if (!snapshot) {
		out_of_memory(model, error);
		return NULL;
	}
	SnapshotHead head = {.start_time = model->start_time,
	                     .tolerance = model->tolerance,
	                     .checkpoint = checkpoint,
	                     .input_count = (uint32_t)model->input_count,
	                     .changed = (uint32_t)model->changed};
	unsigned char *at = snapshot->bytes + sizeof head;
	memcpy(head.magic, magic, sizeof magic);
	memcpy(snapshot->bytes, &head, sizeof head);
	for (int i = 0; i < model->input_count; i++, at += sizeof(double))
		memcpy(at, &model->inputs[i].value, sizeof(double));
	const CalStatus status = checkpoint ? cal_checkpoint_take(model->sim, at, checkpoint, NULL) : CAL_OK;
	snapshot->size = sizeof head + inputs + checkpoint;
	if (status == CAL_OK)
		return snapshot;
	fail(error, status, "%s: %s", model->name, cal_status_text(status));
	free(snapshot);
	return NULL;
}

static int is_of(const FmuModel *model, const SnapshotHead *head, size_t size) {
	const size_t fixed = sizeof *head + sizeof(double) * (size_t)model->input_count;
	return memcmp(head->magic, magic, sizeof magic) == 0 && head->input_count == (uint32_t)model->input_count &&
	       size >= fixed && head->checkpoint == size - fixed && isfinite(head->start_time) &&
	       isfinite(head->tolerance) && head->tolerance >= 0;
}

static int are_finite(const unsigned char *bytes, int count) {
	int finite = 1;
	for (int i = 0; i < count; i++) {
		double value;
		memcpy(&value, bytes + sizeof value * (size_t)i, sizeof value);
		finite &= isfinite(value) != 0;
	}
	return finite;
}

CalStatus fmu_model_restore(FmuModel *model, const void *bytes, size_t size, CalError *error) {
	SnapshotHead head = {0};
	const unsigned char *at = (const unsigned char *)bytes + sizeof head;
	if (size >= sizeof head)
		memcpy(&head, bytes, sizeof head);
	if (!is_of(model, &head, size) || !are_finite(at, model->input_count))
		return fail(error, CAL_ERR_INPUT, "%s: this is not a state of this unit", model->name);
	CalStatus status = CAL_OK;
	if (!head.checkpoint)
		end_simulation(model);
	else if (!model->sim || model->start_time != head.start_time || model->tolerance != head.tolerance)
		status = fmu_model_start(model, head.start_time, head.tolerance, error);
	if (status == CAL_OK && head.checkpoint)
		status = cal_checkpoint_restore(model->sim, at + sizeof(double) * (size_t)model->input_count, head.checkpoint,
		                                error);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < model->input_count; i++, at += sizeof(double))
		memcpy(&model->inputs[i].value, at, sizeof(double));
	model->changed = head.changed != 0;
	model->fresh = 0;
	return CAL_OK;
}
