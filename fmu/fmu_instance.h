// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_instance.h — what the functions of both versions of the interface share: an instance, its mode, its messages. Levels have
 * the numbers of fmi2Status and fmi3Status.
 */
#ifndef CALDER_FMU_FMU_INSTANCE_H
#define CALDER_FMU_FMU_INSTANCE_H

#include "fmu_model.h"

typedef enum FmuLevel { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL } FmuLevel;

typedef enum FmuMode {
	FMU_INSTANTIATED, // nothing was computed yet
	FMU_INITIALIZING, // the model is at its start
	FMU_STEPPING,
	FMU_ENDED, // terminated, or failed: to be reset or freed
} FmuMode;

typedef struct FmuInstance FmuInstance;
typedef void (*FmuLogFn)(const FmuInstance *instance, FmuLevel level, const char *text);

struct FmuInstance {
	FmuModel *model;
	FmuMode mode;
	char *name;                    // of the instance
	FmuLogFn log;                  //
	void *environment;             // of the importer
	void (*logger)(void);          // of the importer, of the type of its version; NULL: none
	double start, tolerance, stop; // stop INFINITY: not given
	int stopped;                   // an event of the model has ended the run
};

/** NULL: not made, for a reason that was logged. folder: the resources of the unit. */
FmuInstance *fmu_instantiate(const char *name, const char *token, const char *folder, FmuLogFn log, void *environment,
                             void (*logger)(void));
void fmu_free(FmuInstance *instance); // accepts NULL

/** Logs an error and returns it. */
FmuLevel fmu_error(const FmuInstance *instance, const char *text);

/** Before the initialization. tolerance 0, stop INFINITY: not given. */
FmuLevel fmu_set_up(FmuInstance *instance, double tolerance, double start, double stop);
FmuLevel fmu_initialize(FmuInstance *instance);
FmuLevel fmu_end_initialization(FmuInstance *instance);
FmuLevel fmu_terminate(FmuInstance *instance);
FmuLevel fmu_reset(FmuInstance *instance);

FmuLevel fmu_get(FmuInstance *instance, const unsigned *variables, size_t count, double *values);
FmuLevel fmu_set(FmuInstance *instance, const unsigned *variables, size_t count, const double *values);
/** From t to t + step. FMU_DISCARD: only to fmu_model_time(). */
FmuLevel fmu_step(FmuInstance *instance, double t, double step);

FmuLevel fmu_take_state(FmuInstance *instance, void **state);
FmuLevel fmu_set_state(FmuInstance *instance, const void *state);
FmuLevel fmu_serialize(const FmuInstance *instance, const void *state, void *bytes, size_t size);
FmuLevel fmu_deserialize(FmuInstance *instance, const void *bytes, size_t size, void **state);
size_t fmu_state_size(const void *state);
void fmu_free_state(void **state); // accepts NULL and one that holds NULL

FmuLevel fmu_derivative(FmuInstance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                        size_t known_count, const double *seed, double *sensitivity);

#endif
