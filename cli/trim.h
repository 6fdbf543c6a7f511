// SPDX-License-Identifier: Apache-2.0
/*
 * trim.h — the parts of `calder trim`: paths of equilibria.
 */
#ifndef CALDER_CLI_TRIM_H
#define CALDER_CLI_TRIM_H

#include "cli.h"

typedef struct TrimPathRequest {
	const char *path;            // of the model
	const char *out;             // of the table of points; NULL: none
	const char *input;           // the parameter
	double from, to, step, back; //
	bool json;
} TrimPathRequest;

/** Follows, prints and writes; returns an exit code. */
int trim_path_file(const TrimPathRequest *request, CalSim *sim);

#endif
