// SPDX-License-Identifier: Apache-2.0
/*
 * fmi2.c — a model as a unit of FMI 2.0 for co-simulation.
 */
#include "fmi2_interface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_instance.h"

static void log_message(const FmuInstance *instance, FmuLevel level, const char *text) {
	void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
	if (!instance->logger)
		return;
	memcpy(&logger, &instance->logger, sizeof logger);
	logger(instance->environment, instance->name, (fmi2Status)level,
	       level == FMU_WARNING ? "logStatusWarning" : "logStatusError", "%s", text);
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[]) {
	(void)c, (void)on, (void)count, (void)categories; // warnings and errors are all that there is
	return fmi2OK;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static int hex(char c) {
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* The path of a URI, file:///tmp/a%20b; from malloc. What is no URI of a file is taken as a path. */
static char *path_of_uri(const char *uri) {
	if (strncmp(uri, "file:", 5) != 0) {
		const size_t size = strlen(uri) + 1;
		char *path = malloc(size);
		return path ? memcpy(path, uri, size) : NULL;
	}
	uri += 5;
	if (strncmp(uri, "//", 2) == 0) // of this host, named or not
		uri = strchr(uri + 2, '/') ? strchr(uri + 2, '/') : "";
	char *path = malloc(strlen(uri) + 1), *to = path;
	for (; path && *uri; uri++) {
		const int high = *uri == '%' ? hex(uri[1]) : -1, low = high >= 0 ? hex(uri[2]) : -1;
		*to++ = low >= 0 ? (char)(16 * high + low) : *uri;
		uri += low >= 0 ? 2 : 0;
	}
	if (path)
		*to = 0;
	return path;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
	void (*logger)(void) = NULL;
	(void)visible, (void)logging;
	if (callbacks)
		memcpy(&logger, &callbacks->logger, sizeof logger);
	const FmuInstance without = {.logger = logger,
	                             .environment = callbacks ? callbacks->componentEnvironment : NULL,
	                             .name = (char *)(name ? name : ""),
	                             .log = log_message};
	if (type != fmi2CoSimulation || !resources) {
		fmu_error(&without, resources ? "this unit is for co-simulation" : "the location of the resources is needed");
		return NULL;
	}
	char *folder = path_of_uri(resources);
	FmuInstance *instance = fmu_instantiate(name, guid, folder, log_message, without.environment, logger);
	free(folder);
	return instance;
}

void fmi2FreeInstance(fmi2Component c) { fmu_free(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
	return (fmi2Status)fmu_set_up(c, has_tolerance ? tolerance : 0, start, has_stop ? stop : INFINITY);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return (fmi2Status)fmu_initialize(c); }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return (fmi2Status)fmu_end_initialization(c); }
fmi2Status fmi2Terminate(fmi2Component c) { return (fmi2Status)fmu_terminate(c); }
fmi2Status fmi2Reset(fmi2Component c) { return (fmi2Status)fmu_reset(c); }

/* ---- variables --------------------------------------------------------------------------------------------- */

/* Of types that no variable has: right only for no variable at all. */
static fmi2Status no_variables(fmi2Component c, size_t count) {
	return count == 0 ? fmi2OK : (fmi2Status)fmu_error(c, "all variables of this unit are of type Real");
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[]) {
	return (fmi2Status)fmu_get(c, vr, count, value);
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real value[]) {
	return (fmi2Status)fmu_set(c, vr, count, value);
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Integer value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Boolean value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Boolean value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2String value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}

/* ---- states and derivatives ------------------------------------------------------------------------------------ */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) { return (fmi2Status)fmu_take_state(c, state); }
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) { return (fmi2Status)fmu_set_state(c, state); }
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
	(void)c;
	fmu_free_state(state);
	return fmi2OK;
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
	if (!state || !size)
		return (fmi2Status)fmu_error(c, "there is no state");
	*size = fmu_state_size(state);
	return fmi2OK;
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
	return (fmi2Status)fmu_serialize(c, state, bytes, size);
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
	return (fmi2Status)fmu_deserialize(c, bytes, size, state);
}
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknown_count,
                                        const fmi2ValueReference known[], size_t known_count, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
	return (fmi2Status)fmu_derivative(c, unknown, unknown_count, known, known_count, seed, sensitivity);
}
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                       const fmi2Integer order[], const fmi2Real value[]) {
	(void)vr, (void)order, (void)value;
	return count == 0 ? fmi2OK : (fmi2Status)fmu_error(c, "inputs are held between communication points");
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                        const fmi2Integer order[], fmi2Real value[]) {
	(void)vr, (void)order, (void)value;
	return count == 0 ? fmi2OK : (fmi2Status)fmu_error(c, "outputs have no derivatives; speeds are outputs");
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real step, fmi2Boolean no_return) {
	(void)no_return;
	return (fmi2Status)fmu_step(c, t, step);
}
fmi2Status fmi2CancelStep(fmi2Component c) {
	return (fmi2Status)fmu_error(c, "steps are done when fmi2DoStep returns");
}

static fmi2Status no_status(fmi2Component c) { return (fmi2Status)fmu_error(c, "there is no such status"); }

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
	(void)kind, (void)value; // no step is ever pending
	return no_status(c);
}
fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value) {
	const FmuInstance *instance = c;
	if (!instance || !value || kind != fmi2LastSuccessfulTime)
		return no_status(c);
	*value = fmu_model_time(instance->model);
	return fmi2OK;
}
fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value) {
	(void)kind, (void)value;
	return no_status(c);
}
fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
	const FmuInstance *instance = c;
	if (!instance || !value || kind != fmi2Terminated)
		return no_status(c);
	*value = instance->stopped;
	return fmi2OK;
}
fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
	(void)kind, (void)value;
	return no_status(c);
}
