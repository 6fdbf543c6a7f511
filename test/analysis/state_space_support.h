// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_support.h — linearized systems of model texts, and their entries by name.
 */
#ifndef TEST_ANALYSIS_STATE_SPACE_SUPPORT_H
#define TEST_ANALYSIS_STATE_SPACE_SUPPORT_H

#include <math.h>

#include "support/model_file_support.h"
#include "support/run.h"

#include <calder/calder.h>

typedef struct Linearized {
	Run run;
	CalStateSpace space;
} Linearized;

enum { MOST_NAMES = 8 };

static inline int count_names(const char *const *names) {
	int count = 0;
	while (count < MOST_NAMES && names[count])
		count++;
	return count;
}

/** With these independent coordinates. All lists are ended by NULL. */
static inline Linearized linearized_in(const char *text, const char *const *independent, const char *const *inputs,
                                       const char *const *outputs) {
	Linearized l = {.run = run_file(file_of(text))};
	CalError error = {0};
	const CalStateSpaceOptions options = {.inputs = inputs,
	                                      .input_count = count_names(inputs),
	                                      .outputs = outputs,
	                                      .output_count = count_names(outputs),
	                                      .independent = independent,
	                                      .independent_count = count_names(independent)};
	if (cal_sim_state_space(l.run.sim, &options, &l.space, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return l;
}

/** At time t of its run. */
static inline Linearized linearized_at(const char *text, double t, const char *const *inputs,
                                       const char *const *outputs) {
	Linearized l = {.run = run_file(file_of(text))};
	CalError error = {0};
	const CalStateSpaceOptions options = {
		.inputs = inputs, .input_count = count_names(inputs), .outputs = outputs, .output_count = count_names(outputs)};
	if ((t > 0 && cal_sim_advance(l.run.sim, t, &error) != CAL_OK) ||
	    cal_sim_state_space(l.run.sim, &options, &l.space, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return l;
}

#define NAMES(...) ((const char *const[MOST_NAMES + 1]){__VA_ARGS__})
#define linearized(text, inputs, outputs) linearized_at(text, 0, inputs, outputs)

static inline void linearized_end(Linearized *l) {
	cal_state_space_release(&l->space);
	run_end(&l->run);
}

static inline int find_signal(const CalSignalName *names, int count, const char *name) {
	for (int i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0)
			return i;
	fail_msg("there is no \"%s\"", name);
	return -1;
}

/** d(rate of state `row`)/d(state `column`). */
static inline double entry_a(const Linearized *l, const char *row, const char *column) {
	const CalStateSpace *s = &l->space;
	return s->A[find_signal(s->states, s->state_count, row) * s->state_count +
	            find_signal(s->states, s->state_count, column)];
}

static inline double entry_b(const Linearized *l, const char *row, const char *column) {
	const CalStateSpace *s = &l->space;
	return s->B[find_signal(s->states, s->state_count, row) * s->input_count +
	            find_signal(s->inputs, s->input_count, column)];
}

static inline double entry_c(const Linearized *l, const char *row, const char *column) {
	const CalStateSpace *s = &l->space;
	return s->C[find_signal(s->outputs, s->output_count, row) * s->state_count +
	            find_signal(s->states, s->state_count, column)];
}

static inline double entry_d(const Linearized *l, const char *row, const char *column) {
	const CalStateSpace *s = &l->space;
	return s->D[find_signal(s->outputs, s->output_count, row) * s->input_count +
	            find_signal(s->inputs, s->input_count, column)];
}

static inline const char *unit_of(const CalSignalName *names, int count, const char *name) {
	return names[find_signal(names, count, name)].unit;
}

#endif
