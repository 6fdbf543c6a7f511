// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_model.h — a model as a compiled subsystem, with what acts in it.
 */
#ifndef CALDER_SIM_SUBSYSTEM_SUBSYSTEM_MODEL_H
#define CALDER_SIM_SUBSYSTEM_SUBSYSTEM_MODEL_H

#include <calder/subsystem.h>

/** Forces at an instant, and hidden states after q and u. `at` has them in x. All functions but explain are required. */
typedef struct ModelActing {
	int nx, wrench_count; // states; most wrenches of an input
	int event_count;      //
	void *user;           // handed to the functions
	CalStatus (*start)(void *user, const CalState *at, double *x);
	/** An input that is valid until the next call, rates of the states, and all that is held, lost and supplied by it. */
	CalStatus (*evaluate)(void *user, const CalState *at, CalInput *input, double *xdot, CalSubsystemEnergy *energy);
	CalStatus (*values)(void *user, const CalState *at, double *value);
	CalStatus (*lookahead)(void *user, const CalState *at, const double *udot, CalLookahead *lookahead);
	double (*next_switch)(void *user, double t);
	int (*doubt)(void *user, int index, CalDoubt *doubt);
	const char *(*explain)(void *user); // after a failure: why, or ""
} ModelActing;

/** cal_subsystem_from_model() with what acts (copied), NULL: nothing. `caller` is for messages. */
CalStatus subsystem_of_model(const char *caller, const CalModel *model, const int *nodes, int count,
                             const CalModelSubsystemOptions *options, const ModelActing *acting, CalSubsystemDef *def,
                             CalError *error);

#endif
