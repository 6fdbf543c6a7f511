// SPDX-License-Identifier: Apache-2.0
/*
 * trim_search.h — Newton's method for equilibria: what a search has, and its parts for paths of equilibria.
 */
#ifndef CALDER_ANALYSIS_TRIM_SEARCH_H
#define CALDER_ANALYSIS_TRIM_SEARCH_H

#include "analysis/trim_state.h"

typedef struct TrimSearch {
	CalSim *sim;
	TrimState *state;
	CalAllocator allocator;
	const char *parameter; // an input of the linearization; NULL: none
	CalStateSpace space;   // at the present state
	int coordinates, n;    // unknowns: coordinates and states of devices
	double *J, *H;         // [n n]
	double *r, *next;      // [n]
	double *g, *d;         // [n]
	double damping;
	void *memory;
} TrimSearch;

/** space at the present state, and room for its unknowns. */
CalStatus trim_search_linearize(TrimSearch *search, CalError *error);
/** r and J of space: rows of speeds and devices, columns of coordinates and devices. */
void trim_search_jacobian(TrimSearch *search);
/** To an equilibrium from the present state, which is at rest; space is then that of the equilibrium. */
CalStatus trim_search_run(TrimSearch *search, const CalTrimOptions *options, CalTrim *trim, CalError *error);
void trim_search_release(TrimSearch *search);
/** The largest |r_i|, and which it is. */
double trim_largest(int n, const double *r, int *where);
/** stability, growth and zero_poles. */
CalStatus trim_find_stability(const CalStateSpace *space, CalTrim *trim);

#endif
