// SPDX-License-Identifier: Apache-2.0
/*
 * info_results.h — `calder info` of a result file.
 */
#ifndef CALDER_CLI_INFO_RESULTS_H
#define CALDER_CLI_INFO_RESULTS_H

#include "cli.h"

/** Prints what an HDF5 result file stores about its run. Returns an exit code. */
int info_results(const char *path, bool json);

#endif
