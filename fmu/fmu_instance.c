// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_instance.c — see fmu_instance.h. Importers are programs with mistakes of their own: what is called in a wrong order, or with
 * NULL, is an error with a message.
 */
#define _POSIX_C_SOURCE 200809L // strdup

#include "fmu_instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FmuLevel fmu_error(const FmuInstance *instance, const char *text) {
	if (instance && instance->log)
		instance->log(instance, FMU_ERROR, text);
	return FMU_ERROR;
}

/* A call that failed: nothing is known of the state of the model afterwards only if it could have changed it. */
static FmuLevel report(const FmuInstance *instance, CalStatus status, const CalError *error) {
	return status == CAL_OK ? FMU_OK : fmu_error(instance, error->text[0] ? error->text : cal_status_text(status));
}

static int is_in(const FmuInstance *instance, FmuMode first, FmuMode last) {
	return instance && instance->mode >= first && instance->mode <= last;
}

static FmuLevel out_of_order(const FmuInstance *instance, const char *what) {
	char text[160];
	snprintf(text, sizeof text, "%s is not possible %s", what,
	         !instance                            ? "without an instance"
	         : instance->mode == FMU_INSTANTIATED ? "before the initialization"
	         : instance->mode == FMU_INITIALIZING ? "in the initialization mode"
	         : instance->mode == FMU_STEPPING     ? "after the initialization"
	                                              : "after the end or an error: reset the unit first");
	return fmu_error(instance, text);
}

/* ---- life ------------------------------------------------------------------------------------------------ */

FmuInstance *fmu_instantiate(const char *name, const char *token, const char *folder, FmuLogFn log, void *environment,
                             void (*logger)(void)) {
	CalError error = {0};
	FmuInstance *instance = calloc(1, sizeof *instance);
	if (!instance)
		return NULL;
	*instance = (FmuInstance){
		.log = log, .environment = environment, .logger = logger, .stop = INFINITY, .name = strdup(name ? name : "")};
	CalStatus status = CAL_ERR_MEMORY;
	if (instance->name && folder)
		status = fmu_model_open(folder, &instance->model, &error);
	else if (!folder)
		snprintf(error.text, sizeof error.text, "the path of the resources is needed");
	if (status == CAL_OK && (!token || strcmp(token, fmu_model_token(instance->model)) != 0)) {
		status = CAL_ERR_INPUT;
		snprintf(error.text, sizeof error.text, "the token is \"%.60s\", that of modelDescription.xml is \"%.60s\"",
		         token ? token : "", fmu_model_token(instance->model));
	}
	if (report(instance, status, &error) == FMU_OK)
		return instance;
	fmu_free(instance);
	return NULL;
}

void fmu_free(FmuInstance *instance) {
	if (!instance)
		return;
	fmu_model_destroy(instance->model);
	free(instance->name);
	free(instance);
}

FmuLevel fmu_set_up(FmuInstance *instance, double tolerance, double start, double stop) {
	if (!is_in(instance, FMU_INSTANTIATED, FMU_INSTANTIATED))
		return out_of_order(instance, "the initialization");
	instance->tolerance = tolerance;
	instance->start = start;
	instance->stop = stop;
	return FMU_OK;
}

FmuLevel fmu_initialize(FmuInstance *instance) {
	CalError error = {0};
	if (!is_in(instance, FMU_INSTANTIATED, FMU_INSTANTIATED))
		return out_of_order(instance, "the initialization");
	const CalStatus status = fmu_model_start(instance->model, instance->start, instance->tolerance, &error);
	instance->mode = status == CAL_OK ? FMU_INITIALIZING : FMU_ENDED;
	return report(instance, status, &error);
}

FmuLevel fmu_end_initialization(FmuInstance *instance) {
	if (!is_in(instance, FMU_INITIALIZING, FMU_INITIALIZING))
		return out_of_order(instance, "the end of the initialization");
	instance->mode = FMU_STEPPING;
	return FMU_OK;
}

static void say_doubt(void *user, const char *text) {
	const FmuInstance *instance = user;
	if (instance->log)
		instance->log(instance, FMU_WARNING, text);
}

FmuLevel fmu_terminate(FmuInstance *instance) {
	if (!is_in(instance, FMU_STEPPING, FMU_STEPPING))
		return out_of_order(instance, "the end");
	instance->mode = FMU_ENDED;
	return fmu_model_doubts(instance->model, say_doubt, instance) > 0 ? FMU_WARNING : FMU_OK;
}

FmuLevel fmu_reset(FmuInstance *instance) {
	if (!instance)
		return FMU_ERROR;
	fmu_model_reset(instance->model);
	instance->mode = FMU_INSTANTIATED;
	instance->stopped = 0;
	return FMU_OK;
}

/* ---- variables --------------------------------------------------------------------------------------------- */

FmuLevel fmu_get(FmuInstance *instance, const unsigned *variables, size_t count, double *values) {
	CalError error = {0};
	CalStatus status = CAL_OK;
	if (!instance || (count > 0 && (!variables || !values)))
		return fmu_error(instance, "variables or values are NULL");
	for (size_t i = 0; i < count && status == CAL_OK; i++)
		status = fmu_model_get(instance->model, variables[i], &values[i], &error);
	return report(instance, status, &error);
}

FmuLevel fmu_set(FmuInstance *instance, const unsigned *variables, size_t count, const double *values) {
	CalError error = {0};
	CalStatus status = CAL_OK;
	if (!is_in(instance, FMU_INSTANTIATED, FMU_STEPPING))
		return out_of_order(instance, "setting a variable");
	if (count > 0 && (!variables || !values))
		return fmu_error(instance, "variables or values are NULL");
	for (size_t i = 0; i < count && status == CAL_OK; i++)
		status = fmu_model_set(instance->model, variables[i], values[i], &error);
	return report(instance, status, &error);
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

/* Times of importers are sums and products of steps: they agree to round-off. */
static int is_later(double a, double b) { return a - b > 1e-9 * fmax(1, fmax(fabs(a), fabs(b))); }

static FmuLevel check_step(const FmuInstance *instance, double t, double step) {
	char text[200];
	const double now = fmu_model_time(instance->model);
	if (!(step >= 0) || !isfinite(t + step))
		snprintf(text, sizeof text, "a step of %g s from %g s is none", step, t);
	else if (is_later(t, now) || is_later(now, t))
		snprintf(text, sizeof text, "the step begins at %.17g s, but the unit is at %.17g s", t, now);
	else if (is_later(t + step, instance->stop))
		snprintf(text, sizeof text, "the step ends at %.17g s, after the stop time %.17g s", t + step, instance->stop);
	else
		return FMU_OK;
	return fmu_error(instance, text);
}

FmuLevel fmu_step(FmuInstance *instance, double t, double step) {
	CalError error = {0};
	if (!is_in(instance, FMU_STEPPING, FMU_STEPPING))
		return out_of_order(instance, "a step");
	if (check_step(instance, t, step) != FMU_OK)
		return FMU_ERROR;
	if (instance->stopped)
		return FMU_DISCARD;
	const double end = t + step;
	const CalStatus status =
		end > fmu_model_time(instance->model) ? fmu_model_advance(instance->model, end, &error) : CAL_OK;
	instance->stopped = status == CAL_STOPPED;
	if (status == CAL_OK || status == CAL_STOPPED)
		return status == CAL_OK ? FMU_OK : FMU_DISCARD;
	report(instance, status, &error);
	if (status > 0) // the model has kept its last good state
		return FMU_DISCARD;
	instance->mode = FMU_ENDED;
	return FMU_ERROR;
}

/* ---- states -------------------------------------------------------------------------------------------------- */

/** A snapshot, and where the instance was. */
typedef struct FmuState {
	FmuMode mode;
	int stopped;
	FmuSnapshot *snapshot;
} FmuState;

/* Before the bytes of the snapshot where a state is a row of bytes. */
typedef struct StateHead {
	int mode, stopped;
} StateHead;

size_t fmu_state_size(const void *state) {
	return state ? sizeof(StateHead) + ((const FmuState *)state)->snapshot->size : 0;
}

void fmu_free_state(void **state) {
	FmuState *of = state ? *state : NULL;
	if (of)
		free(of->snapshot);
	free(of);
	if (state)
		*state = NULL;
}

FmuLevel fmu_take_state(FmuInstance *instance, void **state) {
	CalError error = {0};
	if (!is_in(instance, FMU_INSTANTIATED, FMU_STEPPING) || !state)
		return out_of_order(instance, "taking a state");
	FmuState *made = calloc(1, sizeof *made);
	if (!made)
		return fmu_error(instance, cal_status_text(CAL_ERR_MEMORY));
	*made = (FmuState){instance->mode, instance->stopped, fmu_model_take(instance->model, &error)};
	if (!made->snapshot) {
		free(made);
		return fmu_error(instance, error.text);
	}
	fmu_free_state(state); // one that is there is replaced
	*state = made;
	return FMU_OK;
}

FmuLevel fmu_set_state(FmuInstance *instance, const void *state) {
	const FmuState *from = state;
	CalError error = {0};
	if (!instance || !from)
		return fmu_error(instance, "there is no state to set");
	const CalStatus status = fmu_model_restore(instance->model, from->snapshot->bytes, from->snapshot->size, &error);
	if (status == CAL_OK) {
		instance->mode = from->mode;
		instance->stopped = from->stopped;
	}
	return report(instance, status, &error);
}

FmuLevel fmu_serialize(const FmuInstance *instance, const void *state, void *bytes, size_t size) {
	const FmuState *from = state;
	if (!from || !bytes || size < fmu_state_size(state))
		return fmu_error(instance, "there is no room for the state");
	const StateHead head = {(int)from->mode, from->stopped};
	memcpy(bytes, &head, sizeof head);
	memcpy((unsigned char *)bytes + sizeof head, from->snapshot->bytes, from->snapshot->size);
	return FMU_OK;
}

/* Whether the bytes are of this unit shows when the state is set. */
FmuLevel fmu_deserialize(FmuInstance *instance, const void *bytes, size_t size, void **state) {
	StateHead head;
	if (!instance || !bytes || !state || size < sizeof head)
		return fmu_error(instance, "there is no state in these bytes");
	memcpy(&head, bytes, sizeof head);
	if (head.mode < FMU_INSTANTIATED || head.mode > FMU_STEPPING)
		return fmu_error(instance, "there is no state in these bytes");
	const size_t length = size - sizeof head;
	FmuState *made = calloc(1, sizeof *made);
	FmuSnapshot *snapshot = malloc(sizeof *snapshot + length);
	if (!made || !snapshot) {
		free(made), free(snapshot);
		return fmu_error(instance, cal_status_text(CAL_ERR_MEMORY));
	}
	snapshot->size = length;
	memcpy(snapshot->bytes, (const unsigned char *)bytes + sizeof head, length);
	*made = (FmuState){(FmuMode)head.mode, head.stopped != 0, snapshot};
	fmu_free_state(state);
	*state = made;
	return FMU_OK;
}

/* ---- derivatives --------------------------------------------------------------------------------------------- */

FmuLevel fmu_derivative(FmuInstance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                        size_t known_count, const double *seed, double *sensitivity) {
	CalError error = {0};
	if (!is_in(instance, FMU_INITIALIZING, FMU_STEPPING))
		return out_of_order(instance, "a derivative");
	if ((unknown_count > 0 && (!unknowns || !sensitivity)) || (known_count > 0 && (!knowns || !seed)))
		return fmu_error(instance, "variables, seed or sensitivity are NULL");
	return report(
		instance,
		fmu_model_sensitivity(instance->model, unknowns, unknown_count, knowns, known_count, seed, sensitivity, &error),
		&error);
}
