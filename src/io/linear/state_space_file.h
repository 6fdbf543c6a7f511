// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_file.h — the formats of linearized systems.
 */
#ifndef CALDER_IO_LINEAR_STATE_SPACE_FILE_H
#define CALDER_IO_LINEAR_STATE_SPACE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <calder/state_space.h>

#define STATE_SPACE_FORMAT "calder-linear"
enum { STATE_SPACE_VERSION = 1, STATE_SPACE_MATRICES = 6 };

/** A matrix by rows, with the names of its rows and columns (NULL: one column without a name). */
typedef struct NamedMatrix {
	const char *name; // "A"
	const double *of; // [rows columns]
	int rows, columns;
	const CalSignalName *row, *column;
} NamedMatrix;

/** What is written. */
typedef struct StateSpaceSeries {
	const CalStateSpace *spaces; // [count], alike
	int count;
	bool varies; // a third index; false: there is one
} StateSpaceSeries;

/** A, B, C, D, rate and value. */
void state_space_matrices(const CalStateSpace *space, NamedMatrix matrices[STATE_SPACE_MATRICES]);

/** Names of states, inputs and outputs. */
typedef struct NameGroup {
	const char *names, *units; // "states", "state_units"
	const CalSignalName *of;   // [count]
	int count;
} NameGroup;
void state_space_names(const CalStateSpace *space, NameGroup groups[3]);

/** MATLAB, level 5 (state_space_mat.c). user: a StateSpaceSeries. */
void state_space_put_mat(FILE *out, const void *user);
/** HDF5; CAL_ERR_UNSUPPORTED where the library is built without it. */
CalStatus state_space_write_hdf5(const StateSpaceSeries *series, const char *path, CalError *error);

#endif
