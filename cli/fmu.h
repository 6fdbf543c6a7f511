// SPDX-License-Identifier: Apache-2.0
/*
 * fmu.h — `calder fmu`: what it writes beside the model.
 */
#ifndef CALDER_CLI_FMU_H
#define CALDER_CLI_FMU_H

#include "cli.h"
#include "fmu/fmu_model.h"

/** What modelDescription.xml says beyond the variables. */
typedef struct FmuDescription {
	int version;            // of FMI: 2 or 3
	const char *model_name; // for people
	const char *identifier; // of the binary: a name in C
	int has_derivatives;    // nonzero: directional derivatives are provided
} FmuDescription;

/** The text of modelDescription.xml. */
void fmu_write_description(FILE *out, const FmuDescription *description, const FmuModel *model);

/** The shared object of every unit; NULL: this program was built without it. */
const void *fmu_binary(size_t *size);
/** The licenses of the libraries in it. */
const char *fmu_licenses(void);

#endif
