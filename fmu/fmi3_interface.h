// SPDX-License-Identifier: Apache-2.0
/*
 * fmi3_interface.h — the binary interface of the Functional Mock-up Interface 3.0, declared from the standard
 * (https://fmi-standard.org). Names and types are the standard's. Everything but co-simulation with real numbers is there because
 * importers look for it, and answers with an error.
 */
#ifndef CALDER_FMU_FMI3_INTERFACE_H
#define CALDER_FMU_FMI3_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FMI3_EXPORT __attribute__((visibility("default")))

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef uint8_t fmi3Byte;
typedef bool fmi3Clock;
typedef const char *fmi3String;
typedef const fmi3Byte *fmi3Binary;

typedef enum fmi3Status { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum fmi3DependencyKind {
	fmi3Independent,
	fmi3Constant,
	fmi3Fixed,
	fmi3Tunable,
	fmi3Discrete,
	fmi3Dependent,
} fmi3DependencyKind;
typedef enum fmi3IntervalQualifier {
	fmi3IntervalNotYetKnown,
	fmi3IntervalUnchanged,
	fmi3IntervalChanged,
} fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                               fmi3Boolean set_requested, fmi3Boolean get_allowed,
                                               fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                               fmi3Boolean *return_requested, fmi3Float64 *return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* ---- all interface types -------------------------------------------------------------------------- */

FMI3_EXPORT const char *fmi3GetVersion(void);
FMI3_EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[]);
FMI3_EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log);
FMI3_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                                     fmi3Boolean early_return, const fmi3ValueReference required[],
                                                     size_t required_count, fmi3InstanceEnvironment environment,
                                                     fmi3LogMessageCallback log,
                                                     fmi3IntermediateUpdateCallback intermediate);
FMI3_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                           fmi3Boolean visible, fmi3Boolean logging,
                                                           fmi3InstanceEnvironment environment,
                                                           fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
                                                           fmi3LockPreemptionCallback lock,
                                                           fmi3UnlockPreemptionCallback unlock);
FMI3_EXPORT void fmi3FreeInstance(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                   fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop);
FMI3_EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3Terminate(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3Reset(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3EnterConfigurationMode(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3ExitConfigurationMode(fmi3Instance c);

/* Types whose values are arrays of numbers: their names, and the types of an element. */
#define FMI3_NUMBER_LIST(X) \
	X(Float32, fmi3Float32) \
	X(Float64, fmi3Float64) \
	X(Int8, fmi3Int8)       \
	X(UInt8, fmi3UInt8)     \
	X(Int16, fmi3Int16)     \
	X(UInt16, fmi3UInt16)   \
	X(Int32, fmi3Int32)     \
	X(UInt32, fmi3UInt32)   \
	X(Int64, fmi3Int64)     \
	X(UInt64, fmi3UInt64)   \
	X(Boolean, fmi3Boolean) \
	X(String, fmi3String)

#define FMI3_DECLARE_ACCESS(name, type)                                                                             \
	FMI3_EXPORT fmi3Status fmi3Get##name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, type value[], \
	                                     size_t value_count);                                                       \
	FMI3_EXPORT fmi3Status fmi3Set##name(fmi3Instance c, const fmi3ValueReference vr[], size_t count,               \
	                                     const type value[], size_t value_count);
FMI3_NUMBER_LIST(FMI3_DECLARE_ACCESS)
#undef FMI3_DECLARE_ACCESS

FMI3_EXPORT fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t size[],
                                     fmi3Binary value[], size_t value_count);
FMI3_EXPORT fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t size[],
                                     const fmi3Binary value[], size_t value_count);
FMI3_EXPORT fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock value[]);
FMI3_EXPORT fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                    const fmi3Clock value[]);

FMI3_EXPORT fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *count);
FMI3_EXPORT fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t of_dependent[],
                                                   fmi3ValueReference independent[], size_t of_independent[],
                                                   fmi3DependencyKind kind[], size_t count);

FMI3_EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state);
FMI3_EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state);
FMI3_EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state);
FMI3_EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size);
FMI3_EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size);
FMI3_EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                               fmi3FMUState *state);
FMI3_EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknown[],
                                                    size_t unknown_count, const fmi3ValueReference known[],
                                                    size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                    fmi3Float64 sensitivity[], size_t sensitivity_count);
FMI3_EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknown[],
                                                size_t unknown_count, const fmi3ValueReference known[],
                                                size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                fmi3Float64 sensitivity[], size_t sensitivity_count);

FMI3_EXPORT fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                              fmi3Float64 interval[], fmi3IntervalQualifier qualifier[]);
FMI3_EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                               fmi3UInt64 counter[], fmi3UInt64 resolution[],
                                               fmi3IntervalQualifier qualifier[]);
FMI3_EXPORT fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                           fmi3Float64 shift[]);
FMI3_EXPORT fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                            fmi3UInt64 counter[], fmi3UInt64 resolution[]);
FMI3_EXPORT fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                              const fmi3Float64 interval[]);
FMI3_EXPORT fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                               const fmi3UInt64 counter[], const fmi3UInt64 resolution[]);
FMI3_EXPORT fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                           const fmi3Float64 shift[]);
FMI3_EXPORT fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                            const fmi3UInt64 counter[], const fmi3UInt64 resolution[]);
FMI3_EXPORT fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                                fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                                fmi3Boolean *next_defined, fmi3Float64 *next);

/* ---- model exchange ---------------------------------------------------------------------------------- */

FMI3_EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_return, fmi3Boolean *event_mode,
                                                   fmi3Boolean *terminate);
FMI3_EXPORT fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time);
FMI3_EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t count);
FMI3_EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 xdot[], size_t count);
FMI3_EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 value[], size_t count);
FMI3_EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t count);
FMI3_EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominal[], size_t count);
FMI3_EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count);
FMI3_EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count);

/* ---- co-simulation, scheduled execution ---------------------------------------------------------------- */

FMI3_EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance c);
FMI3_EXPORT fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                                const fmi3Int32 order[], fmi3Float64 value[], size_t value_count);
FMI3_EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 step, fmi3Boolean no_return,
                                  fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early,
                                  fmi3Float64 *last);
FMI3_EXPORT fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time);

#ifdef __cplusplus
}
#endif
#endif
