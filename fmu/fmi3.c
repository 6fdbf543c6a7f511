// SPDX-License-Identifier: Apache-2.0
/*
 * fmi3.c — a model as a unit of FMI 3.0 for co-simulation.
 */
#include "fmi3_interface.h"

#include <math.h>
#include <string.h>

#include "fmu_instance.h"

static void log_message(const FmuInstance *instance, FmuLevel level, const char *text) {
	fmi3LogMessageCallback logger;
	if (!instance->logger)
		return;
	memcpy(&logger, &instance->logger, sizeof logger);
	logger(instance->environment, (fmi3Status)level, level == FMU_WARNING ? "logStatusWarning" : "logStatusError",
	       text);
}

static fmi3Status not_there(fmi3Instance c, const char *what) { return (fmi3Status)fmu_error(c, what); }

const char *fmi3GetVersion(void) { return "3.0"; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[]) {
	(void)c, (void)on, (void)count, (void)categories; // warnings and errors are all that there is
	return fmi3OK;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                         const fmi3ValueReference required[], size_t required_count,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate) {
	void (*logger)(void) = NULL;
	(void)visible, (void)logging, (void)early_return, (void)required, (void)intermediate;
	memcpy(&logger, &log, sizeof logger);
	const FmuInstance without = {.logger = logger, .environment = environment, .log = log_message};
	if (event_mode || required_count > 0) {
		fmu_error(&without, event_mode ? "this unit has no event mode: its events happen within steps"
		                               : "this unit has no intermediate updates");
		return NULL;
	}
	return fmu_instantiate(name, token, resources, log_message, environment, logger);
}

static fmi3Instance not_of_this_type(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
	if (log)
		log(environment, fmi3Error, "logStatusError", "this unit is for co-simulation");
	return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
	(void)name, (void)token, (void)resources, (void)visible, (void)logging;
	return not_of_this_type(environment, log);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock) {
	(void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
	return not_of_this_type(environment, log);
}

void fmi3FreeInstance(fmi3Instance c) { fmu_free(c); }

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
	const FmuLevel level = fmu_set_up(c, has_tolerance ? tolerance : 0, start, has_stop ? stop : INFINITY);
	return (fmi3Status)(level == FMU_OK ? fmu_initialize(c) : level);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return (fmi3Status)fmu_end_initialization(c); }
fmi3Status fmi3Terminate(fmi3Instance c) { return (fmi3Status)fmu_terminate(c); }
fmi3Status fmi3Reset(fmi3Instance c) { return (fmi3Status)fmu_reset(c); }

static fmi3Status no_mode(fmi3Instance c) { return not_there(c, "this unit has no such mode"); }
fmi3Status fmi3EnterEventMode(fmi3Instance c) { return no_mode(c); }
fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) { return no_mode(c); }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) { return no_mode(c); }
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) { return no_mode(c); }
fmi3Status fmi3EnterStepMode(fmi3Instance c) { return no_mode(c); }

/* ---- variables --------------------------------------------------------------------------------------------- */

/* Of types that no variable has: right only for no variable at all. */
static fmi3Status no_variables(fmi3Instance c, size_t count) {
	return count == 0 ? fmi3OK : not_there(c, "all variables of this unit are of type Float64");
}

#define REFUSE_ACCESS(name, type)                                                                             \
	fmi3Status fmi3Get##name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, type value[],       \
	                         size_t value_count) {                                                            \
		(void)vr, (void)value, (void)value_count;                                                             \
		return no_variables(c, count);                                                                        \
	}                                                                                                         \
	fmi3Status fmi3Set##name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const type value[], \
	                         size_t value_count) {                                                            \
		(void)vr, (void)value, (void)value_count;                                                             \
		return no_variables(c, count);                                                                        \
	}
REFUSE_ACCESS(Float32, fmi3Float32)
REFUSE_ACCESS(Int8, fmi3Int8)
REFUSE_ACCESS(UInt8, fmi3UInt8)
REFUSE_ACCESS(Int16, fmi3Int16)
REFUSE_ACCESS(UInt16, fmi3UInt16)
REFUSE_ACCESS(Int32, fmi3Int32)
REFUSE_ACCESS(UInt32, fmi3UInt32)
REFUSE_ACCESS(Int64, fmi3Int64)
REFUSE_ACCESS(UInt64, fmi3UInt64)
REFUSE_ACCESS(Boolean, fmi3Boolean)
REFUSE_ACCESS(String, fmi3String)

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 value[],
                          size_t value_count) {
	return value_count == count ? (fmi3Status)fmu_get(c, vr, count, value)
	                            : not_there(c, "every variable has one value");
}
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 value[],
                          size_t value_count) {
	return value_count == count ? (fmi3Status)fmu_set(c, vr, count, value)
	                            : not_there(c, "every variable has one value");
}
fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t size[], fmi3Binary value[],
                         size_t value_count) {
	(void)vr, (void)size, (void)value, (void)value_count;
	return no_variables(c, count);
}
fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t size[],
                         const fmi3Binary value[], size_t value_count) {
	(void)vr, (void)size, (void)value, (void)value_count;
	return no_variables(c, count);
}
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}
fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Clock value[]) {
	(void)vr, (void)value;
	return no_variables(c, count);
}

/* An output depends on all inputs, as far as modelDescription.xml says. */
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *count) {
	(void)vr, (void)count;
	return not_there(c, "dependencies are those of modelDescription.xml");
}
fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t of_dependent[],
                                       fmi3ValueReference independent[], size_t of_independent[],
                                       fmi3DependencyKind kind[], size_t count) {
	(void)dependent, (void)of_dependent, (void)independent, (void)of_independent, (void)kind, (void)count;
	return not_there(c, "dependencies are those of modelDescription.xml");
}

/* ---- states and derivatives ------------------------------------------------------------------------------------ */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) { return (fmi3Status)fmu_take_state(c, state); }
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) { return (fmi3Status)fmu_set_state(c, state); }
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
	(void)c;
	fmu_free_state(state);
	return fmi3OK;
}
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
	if (!state || !size)
		return not_there(c, "there is no state");
	*size = fmu_state_size(state);
	return fmi3OK;
}
fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
	return (fmi3Status)fmu_serialize(c, state, bytes, size);
}
fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
	return (fmi3Status)fmu_deserialize(c, bytes, size, state);
}
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t unknown_count,
                                        const fmi3ValueReference known[], size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
	if (seed_count != known_count || sensitivity_count != unknown_count)
		return not_there(c, "every variable has one value");
	return (fmi3Status)fmu_derivative(c, unknown, unknown_count, known, known_count, seed, sensitivity);
}
fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t unknown_count,
                                    const fmi3ValueReference known[], size_t known_count, const fmi3Float64 seed[],
                                    size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
	(void)unknown, (void)unknown_count, (void)known, (void)known_count, (void)seed, (void)seed_count;
	(void)sensitivity, (void)sensitivity_count;
	return not_there(c, "this unit has directional derivatives only");
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 step, fmi3Boolean no_return, fmi3Boolean *event_needed,
                      fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
	const FmuInstance *instance = c;
	(void)no_return;
	if (!event_needed || !terminate || !early || !last)
		return not_there(c, "a place for a result of the step is NULL");
	const FmuLevel level = fmu_step(c, t, step);
	*event_needed = *early = false;
	*terminate = instance && instance->stopped;
	*last = instance ? fmu_model_time(instance->model) : t;
	return *terminate && level == FMU_DISCARD ? fmi3OK : (fmi3Status)level;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                    const fmi3Int32 order[], fmi3Float64 value[], size_t value_count) {
	(void)vr, (void)order, (void)value, (void)value_count;
	return count == 0 ? fmi3OK : not_there(c, "outputs have no derivatives; speeds are outputs");
}

/* ---- clocks, event mode, model exchange ---------------------------------------------------------------------- */

static fmi3Status no_clocks(fmi3Instance c, size_t count) {
	return count == 0 ? fmi3OK : not_there(c, "this unit has no clocks");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 interval[],
                                  fmi3IntervalQualifier qualifier[]) {
	(void)vr, (void)interval, (void)qualifier;
	return no_clocks(c, count);
}
fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counter[],
                                   fmi3UInt64 resolution[], fmi3IntervalQualifier qualifier[]) {
	(void)vr, (void)counter, (void)resolution, (void)qualifier;
	return no_clocks(c, count);
}
fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 shift[]) {
	(void)vr, (void)shift;
	return no_clocks(c, count);
}
fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counter[],
                                fmi3UInt64 resolution[]) {
	(void)vr, (void)counter, (void)resolution;
	return no_clocks(c, count);
}
fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                  const fmi3Float64 interval[]) {
	(void)vr, (void)interval;
	return no_clocks(c, count);
}
fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                   const fmi3UInt64 counter[], const fmi3UInt64 resolution[]) {
	(void)vr, (void)counter, (void)resolution;
	return no_clocks(c, count);
}
fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 shift[]) {
	(void)vr, (void)shift;
	return no_clocks(c, count);
}
fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3UInt64 counter[],
                                const fmi3UInt64 resolution[]) {
	(void)vr, (void)counter, (void)resolution;
	return no_clocks(c, count);
}
fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time) {
	(void)clock, (void)time;
	return no_clocks(c, 1);
}
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) { return no_mode(c); }
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_defined, fmi3Float64 *next) {
	(void)again, (void)terminate, (void)nominals_changed, (void)values_changed, (void)next_defined, (void)next;
	return no_mode(c);
}

static fmi3Status no_exchange(fmi3Instance c) { return not_there(c, "this unit is for co-simulation"); }
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_return, fmi3Boolean *event_mode,
                                       fmi3Boolean *terminate) {
	(void)no_return, (void)event_mode, (void)terminate;
	return no_exchange(c);
}
fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
	(void)time;
	return no_exchange(c);
}
fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t count) {
	(void)x, (void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 xdot[], size_t count) {
	(void)xdot, (void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 value[], size_t count) {
	(void)value, (void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t count) {
	(void)x, (void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominal[], size_t count) {
	(void)nominal, (void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count) {
	(void)count;
	return no_exchange(c);
}
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count) {
	(void)count;
	return no_exchange(c);
}
