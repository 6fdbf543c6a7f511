// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_model.c — see fmu_model.h.
 */
#define _POSIX_C_SOURCE 200809L // strdup

#include "fmu_model.h"
#include "fmu_inputs.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 100000, MOST_BYTES = 1 << 28 };

struct FmuModel {
	CalSetup *setup;
	char *name, *token;
	FmuVariable *variables; // [variable_count]
	char *text;             // of the list: names, units and token are in it
	int variable_count, parameter_count;
	FmuInputs inputs; // variables 1 .., then the parameters
	double *values;   // [parameter_count] as the importer wants them
	// after the start
	CalSim *sim;
	CalScenario *scenario;
	CalSampler *outputs;
	double *row; // of them
	int *places; // [parameter_count] of the parameters in the simulation
	int fresh;   // nonzero: row is of the present moment
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

/* The kind that a line begins with; FMU_TIME: none that may stand in a list. */
static FmuVariableKind kind_of(const char *word) {
	return strcmp(word, "input") == 0       ? FMU_INPUT
	       : strcmp(word, "parameter") == 0 ? FMU_PARAMETER
	       : strcmp(word, "output") == 0    ? FMU_OUTPUT
	                                        : FMU_TIME;
}

static CalStatus read_variable(FmuModel *model, char *line, CalError *error) {
	FmuVariable *v = &model->variables[model->variable_count];
	char *unit = cut(line, '\t'), *name = unit ? cut(unit, '\t') : NULL, *start = name ? cut(name, '\t') : NULL;
	const FmuVariableKind kind = kind_of(line);
	char *end = start;
	*v = (FmuVariable){kind, name, unit, start ? strtod(start, &end) : 0};
	if (!name || !*name || kind == FMU_TIME || (kind == FMU_PARAMETER) != (start != NULL) ||
	    (start && (*end || end == start)) || !isfinite(v->start))
		return fail(error, CAL_ERR_INPUT,
		            "%s: variable %d is not written as KIND, UNIT, NAME and, of a parameter, VALUE", model->name,
		            model->variable_count);
	if (model->variables[model->variable_count - 1].kind > kind)
		return fail(error, CAL_ERR_INPUT, "%s: \"%.100s\" is not in the order of inputs, parameters and outputs",
		            model->name, name);
	model->inputs.count += kind == FMU_INPUT;
	model->parameter_count += kind == FMU_PARAMETER;
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
	model->variables[model->variable_count++] = (FmuVariable){FMU_TIME, "time", "s", 0};
	CalStatus status = CAL_OK;
	while (status == CAL_OK && next && *next) {
		line = next;
		next = cut(line, '\n');
		status = read_variable(model, line, error);
	}
	return status;
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
		model->inputs.of = calloc((size_t)model->inputs.count + 1, sizeof *model->inputs.of);
		model->values = calloc((size_t)model->parameter_count + 1, sizeof *model->values);
		model->places = calloc((size_t)model->parameter_count + 1, sizeof *model->places);
		status = model->inputs.of && model->values && model->places ? CAL_OK : out_of_memory(model, error);
		if (status == CAL_OK)
			fmu_model_reset(model);
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
	fmu_inputs_release(&model->inputs);
	cal_setup_destroy(model->setup);
	free(model->values);
	free(model->places);
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
	const int before = model->inputs.count + model->parameter_count;
	for (int i = before + 1; i < model->variable_count && status == CAL_OK; i++) {
		CalError why = {0};
		const char *name = model->variables[i].name;
		status = cal_sampler_add(model->outputs, model->sim, name, &why);
		if (status != CAL_OK)
			return fail(error, status, "%s: output \"%.100s\": %.400s", model->name, name, why.text);
		if (cal_sampler_column_count(model->outputs) != i - before + 1)
			return fail(error, CAL_ERR_INPUT, "%s: output \"%.100s\" is not one number", model->name, name);
	}
	if (status == CAL_OK)
		model->row = calloc((size_t)cal_sampler_column_count(model->outputs), sizeof *model->row);
	return status == CAL_OK && !model->row ? out_of_memory(model, error) : status;
}

/* Names are looked up at the first start: they need the columns of a simulation. */
static CalStatus find_inputs(FmuModel *model, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < model->inputs.count && status == CAL_OK; i++) {
		CalError why = {0};
		FmuInput *input = &model->inputs.of[i];
		if (!input->object)
			status =
				fmu_input_find(input, model->sim, cal_setup_desc(model->setup), model->variables[i + 1].name, &why);
		if (status != CAL_OK)
			fail(error, status, "%s: %.700s", model->name, why.text[0] ? why.text : cal_status_text(status));
	}
	return status;
}

static const FmuVariable *parameter_at(const FmuModel *model, int index) {
	return &model->variables[1 + model->inputs.count + index];
}

/* Those of the model need room to be compiled anew. */
static CalStatus find_parameters(FmuModel *model, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < model->parameter_count && status == CAL_OK; i++)
		if (strncmp(parameter_at(model, i)->name, "device:", 7) != 0 && !cal_sim_reserved(model->sim, NULL))
			status = cal_sim_reserve(model->sim, cal_setup_desc(model->setup), NULL, error);
	for (int i = 0; i < model->parameter_count && status == CAL_OK; i++) {
		model->places[i] = cal_sim_find_parameter(model->sim, parameter_at(model, i)->name);
		if (model->places[i] < 0)
			return fail(error, CAL_ERR_INPUT, "%s: there is no parameter \"%.200s\"; `calder parameters` lists them",
			            model->name, parameter_at(model, i)->name);
	}
	return status;
}

/* What the importer set before the start. */
static CalStatus set_parameters(FmuModel *model, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < model->parameter_count && status == CAL_OK; i++)
		if (model->values[i] != parameter_at(model, i)->start)
			status = cal_scenario_set_parameter(model->scenario, model->places[i], model->values[i], error);
	return status;
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
	if (status == CAL_OK)
		status = find_parameters(model, error);
	if (status == CAL_OK && model->inputs.count + model->parameter_count > 0)
		status = fmu_inputs_add(&model->inputs, model->sim, error);
	for (int g = 0; status == CAL_OK && g < cal_sim_group_count(model->sim); g++)
		cal_sim_state(model->sim, g)->t = time;
	if (status == CAL_OK)
		status = cal_sim_restart(model->sim, error);
	if (status == CAL_OK)
		status = set_parameters(model, error);
	return status == CAL_OK ? add_outputs(model, error) : status;
}

CalStatus fmu_model_start(FmuModel *model, double time, double tolerance, CalError *error) {
	if (!isfinite(time) || !isfinite(tolerance) || tolerance < 0)
		return fail(error, CAL_ERR_ARGUMENT, "%s: start time and tolerance must be finite numbers", model->name);
	end_simulation(model);
	model->start_time = time;
	model->tolerance = tolerance;
	model->inputs.changed = 0;
	const CalStatus status = build(model, time, tolerance, error);
	if (status != CAL_OK)
		end_simulation(model);
	return status;
}

void fmu_model_reset(FmuModel *model) {
	end_simulation(model);
	for (int i = 0; i < model->inputs.count; i++)
		model->inputs.of[i].value = 0;
	for (int i = 0; i < model->parameter_count; i++)
		model->values[i] = parameter_at(model, i)->start;
}

double fmu_model_time(const FmuModel *model) { return model->sim ? cal_sim_time(model->sim) : model->start_time; }

static CalStatus sample(FmuModel *model, CalError *error) {
	if (!model->sim)
		return fail(error, CAL_ERR_STAGE, "%s: outputs have values from the initialization on", model->name);
	const CalStatus status = model->fresh ? CAL_OK : cal_sampler_sample(model->outputs, model->sim, model->row);
	model->fresh = status == CAL_OK;
	return status == CAL_OK ? status : fail(error, status, "%s: %s", model->name, cal_status_text(status));
}

static CalStatus check_variable(const FmuModel *model, unsigned number, CalError *error) {
	return number < (unsigned)model->variable_count
	           ? CAL_OK
	           : fail(error, CAL_ERR_ARGUMENT, "%s: there is no variable %u", model->name, number);
}

/* Where the value is that the importer sets. */
static double *value_at(FmuModel *model, unsigned number) {
	const unsigned inputs = (unsigned)model->inputs.count;
	return number <= inputs ? &model->inputs.of[number - 1].value : &model->values[number - inputs - 1];
}

CalStatus fmu_model_get(FmuModel *model, unsigned number, double *value, CalError *error) {
	CalStatus status = check_variable(model, number, error);
	if (status != CAL_OK)
		return status;
	const FmuVariableKind kind = model->variables[number].kind;
	if (kind == FMU_OUTPUT && (status = sample(model, error)) != CAL_OK)
		return status;
	*value = kind == FMU_TIME     ? fmu_model_time(model)
	         : kind == FMU_OUTPUT ? model->row[(int)number - model->inputs.count - model->parameter_count]
	                              : *value_at(model, number);
	return CAL_OK;
}

CalStatus fmu_model_set(FmuModel *model, unsigned number, double value, CalError *error) {
	CalStatus status = check_variable(model, number, error);
	if (status != CAL_OK)
		return status;
	const FmuVariable *v = &model->variables[number];
	if (v->kind != FMU_INPUT && v->kind != FMU_PARAMETER)
		return fail(error, CAL_ERR_ARGUMENT, "%s: \"%.100s\" is not an input or a parameter", model->name, v->name);
	if (!isfinite(value))
		return fail(error, CAL_ERR_ARGUMENT, "%s: \"%.100s\": %g is not a finite number", model->name, v->name, value);
	double *at = value_at(model, number);
	if (*at == value)
		return CAL_OK;
	if (v->kind == FMU_PARAMETER && model->sim)
		status = cal_scenario_set_parameter(model->scenario, model->places[number - 1 - (unsigned)model->inputs.count],
		                                    value, error);
	if (status != CAL_OK)
		return status;
	*at = value;
	model->fresh = 0;
	model->inputs.changed = 1;
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
	uint64_t checkpoint; // bytes that follow the values; 0: it has not started
	uint32_t value_count, changed;
} SnapshotHead;

static const char magic[8] = "CALFMU1";

/* Inputs and parameters. */
static int settable_count(const FmuModel *model) { return model->inputs.count + model->parameter_count; }

FmuSnapshot *fmu_model_take(FmuModel *model, CalError *error) {
	const size_t values = sizeof(double) * (size_t)settable_count(model);
	const size_t checkpoint = model->sim ? cal_checkpoint_size(model->sim) : 0;
	FmuSnapshot *snapshot = malloc(sizeof *snapshot + sizeof(SnapshotHead) + values + checkpoint);
	if (!snapshot) {
		out_of_memory(model, error);
		return NULL;
	}
	SnapshotHead head = {.start_time = model->start_time,
	                     .tolerance = model->tolerance,
	                     .checkpoint = checkpoint,
	                     .value_count = (uint32_t)settable_count(model),
	                     .changed = (uint32_t)model->inputs.changed};
	unsigned char *at = snapshot->bytes + sizeof head;
	memcpy(head.magic, magic, sizeof magic);
	memcpy(snapshot->bytes, &head, sizeof head);
	for (int i = 0; i < settable_count(model); i++, at += sizeof(double))
		memcpy(at, value_at(model, (unsigned)i + 1), sizeof(double));
	const CalStatus status = checkpoint ? cal_checkpoint_take(model->sim, at, checkpoint, NULL) : CAL_OK;
	snapshot->size = sizeof head + values + checkpoint;
	if (status == CAL_OK)
		return snapshot;
	fail(error, status, "%s: %s", model->name, cal_status_text(status));
	free(snapshot);
	return NULL;
}

static int is_of(const FmuModel *model, const SnapshotHead *head, size_t size) {
	const size_t fixed = sizeof *head + sizeof(double) * (size_t)settable_count(model);
	return memcmp(head->magic, magic, sizeof magic) == 0 && head->value_count == (uint32_t)settable_count(model) &&
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
	if (!is_of(model, &head, size) || !are_finite(at, settable_count(model)))
		return fail(error, CAL_ERR_INPUT, "%s: this is not a state of this unit", model->name);
	CalStatus status = CAL_OK;
	if (!head.checkpoint)
		end_simulation(model);
	else if (!model->sim || model->start_time != head.start_time || model->tolerance != head.tolerance)
		status = fmu_model_start(model, head.start_time, head.tolerance, error);
	if (status == CAL_OK && head.checkpoint)
		status = cal_checkpoint_restore(model->sim, at + sizeof(double) * (size_t)settable_count(model),
		                                head.checkpoint, error);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < settable_count(model); i++, at += sizeof(double))
		memcpy(value_at(model, (unsigned)i + 1), at, sizeof(double));
	model->inputs.changed = head.changed != 0;
	model->fresh = 0;
	return CAL_OK;
}
