// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_model.h — a model as a functional mock-up unit sees it: a simulation with numbered variables (docs/fmi.md).
 *
 * Variable 0 is the time. Then come the inputs, forces on joints ("force:JOINT.DOF") and wrenches on nodes ("wrench:NODE.fx"), the
 * parameters (calder/parameter.h), and the outputs, single columns of quantities (calder/quantity.h). Inputs act as they are from
 * the moment at which they are set, and are added to what acts in the model. `calder fmu` makes the list of variables, and both
 * versions of the interface read it.
 */
#ifndef CALDER_FMU_FMU_MODEL_H
#define CALDER_FMU_FMU_MODEL_H

#include <calder/calder.h>

#define FMU_MODEL_FILE "model.yaml"
#define FMU_VARIABLES_FILE "variables.txt"

typedef struct FmuModel FmuModel;

/** What a variable is; its line in the list of variables begins with the word. */
typedef enum FmuVariableKind { FMU_TIME, FMU_INPUT, FMU_PARAMETER, FMU_OUTPUT } FmuVariableKind;

typedef struct FmuVariable {
	FmuVariableKind kind;
	const char *name, *unit; // "force:hinge", "N m"
	double start;            // of a parameter, in the model
} FmuVariable;

/**
 * model: the text of a model file; variables: the text of the list of variables:
 *   calder-fmu 1 TOKEN
 *   input <tab> UNIT <tab> NAME
 *   parameter <tab> UNIT <tab> NAME <tab> VALUE
 *   output <tab> UNIT <tab> NAME
 * name stands for the model in messages. *made is NULL on failure.
 */
CalStatus fmu_model_create(const char *model, const char *variables, const char *name, FmuModel **made,
                           CalError *error);
/** The same from the files of a folder. */
CalStatus fmu_model_open(const char *folder, FmuModel **made, CalError *error);
void fmu_model_destroy(FmuModel *model); // accepts NULL

const char *fmu_model_token(const FmuModel *model);
int fmu_model_variable_count(const FmuModel *model);
FmuVariable fmu_model_variable(const FmuModel *model, int number);
/** The run settings of the model file. */
CalRunSettings fmu_model_run(const FmuModel *model);

/** To the start of the model at a time. tolerance: relative, of a step; 0: that of the file. */
CalStatus fmu_model_start(FmuModel *model, double time, double tolerance, CalError *error);
/** Before fmu_model_start(), inputs zero, parameters as in the model. */
void fmu_model_reset(FmuModel *model);

/** CAL_ERR_ARGUMENT: there is no such variable; CAL_ERR_STAGE: outputs need a start. */
CalStatus fmu_model_get(FmuModel *model, unsigned number, double *value, CalError *error);
/** Only inputs and parameters, and only finite numbers; a parameter that is refused stays as it is. */
CalStatus fmu_model_set(FmuModel *model, unsigned number, double value, CalError *error);
double fmu_model_time(const FmuModel *model);

/** CAL_STOPPED: an event of the model has ended the run, at fmu_model_time(). */
CalStatus fmu_model_advance(FmuModel *model, double time, CalError *error);

/** Hands every doubt about the run so far (calder/doubt.h) to say(); returns how many there are. */
typedef void (*FmuSayFn)(void *user, const char *text);
int fmu_model_doubts(FmuModel *model, FmuSayFn say, void *user);

/** sensitivity[outputs] = d outputs / d inputs seed[inputs] at the present moment. */
CalStatus fmu_model_sensitivity(FmuModel *model, const unsigned *outputs, size_t output_count, const unsigned *inputs,
                                size_t input_count, const double *seed, double *sensitivity, CalError *error);

/** Everything that a model carries from one moment to the next, as bytes: for this model, in any instance of it. */
typedef struct FmuSnapshot {
	size_t size;
	unsigned char bytes[];
} FmuSnapshot;
/** From malloc; NULL: error says why. */
FmuSnapshot *fmu_model_take(FmuModel *model, CalError *error);
/** Refused with a reason where the bytes are not of this model; the model is then at its start or where it was. */
CalStatus fmu_model_restore(FmuModel *model, const void *bytes, size_t size, CalError *error);

#endif
