// SPDX-License-Identifier: Apache-2.0
/*
 * identify.h — what `calder identify` asks for, and a recording as instants of one group of the model.
 */
#ifndef CALDER_CLI_IDENTIFY_H
#define CALDER_CLI_IDENTIFY_H

#include "cli.h"

enum { IDENTIFY_NAMES = 64 }; // of each kind

typedef struct NameList {
	char *text;                        // cut at commas; from malloc
	const char *names[IDENTIFY_NAMES]; //
	int count;
} NameList;

typedef struct IdentifyRequest {
	const char *path, *data, *output, *plot, *stream;
	NameList bodies, friction, rotors, unactuated; // what is unknown; joints without a motor
	double friction_speed, prior, level, window;   // 0: not given
	bool json;
} IdentifyRequest;

/* A recording: q[count][nq], u, udot and tau[count][nu]. */
typedef struct Recording {
	CalModel *model;
	int nq, nu;
	size_t count, left_out; // left_out: rows that had gaps or no room for a window
	double *time, *q, *u, *udot, *tau;
	uint8_t *measured; // [nu] a column, or nothing acts there
	uint8_t *recorded; // [nu] a column
	bool estimated;    // speeds or accelerations are from coordinates
	double window;     // of these estimates [s]
} Recording;

/** Reads the columns of the group of the first column of a force, and compiles the group. Returns an exit code. */
int recording_read(Recording *recording, const IdentifyRequest *request, const CalDesc *desc);
/** The group of the model without a recording: random instants and their forces, enough to find which parameters could be determined. */
int recording_random(Recording *recording, const CalDesc *desc, const char *path);
void recording_free(Recording *recording);
/** An instant of it. */
CalState recording_state(const Recording *recording, size_t row);

/** Degrees of freedom by names of joints or degrees of freedom, "all": of all joints; chosen[nu]. Returns an exit code. */
int choose_dofs(const char *option, const NameList *names, const CalModel *model, const char *path, uint8_t *chosen);

/** Tables for people, or everything as JSON. */
void identify_print(const IdentifyRequest *request, const CalIdentification *id, const Recording *recording);

#endif
