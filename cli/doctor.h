// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.h — findings of the doctor (calder/doctor.h) as text and JSON, and the model with what it proposes.
 */
#ifndef CALDER_CLI_DOCTOR_H
#define CALDER_CLI_DOCTOR_H

#include "output.h"

/** "place: object: evidence; likely cause: ...; fix: ... [kind]" into text. */
const char *diagnosis_text(const CalDiagnosis *diagnosis, char *text, size_t size);
/** An object with all of its members. */
void diagnosis_json(const CalDiagnosis *diagnosis, FILE *out);

/** Mass properties that the doctor proposes: the first for each body. */
typedef struct Proposals {
	struct Proposal *items;
	int count, capacity;
} Proposals;

void proposals_add(Proposals *proposals, const CalDiagnosis *diagnosis);
/** Sets them in the setup, writes it as a model file and lists what was changed on stderr. Returns an exit code. */
int proposals_write(const Proposals *proposals, const char *path, CalSetup *setup, const char *output);
void proposals_free(Proposals *proposals);

#endif
