// SPDX-License-Identifier: Apache-2.0
/*
 * live_lab.h — what a page changes in a live run: its parameters, and which moment it is at. Moments are checkpoints in
 * memory: the start, and those that a page keeps.
 */
#ifndef CALDER_CLI_LIVE_LAB_H
#define CALDER_CLI_LIVE_LAB_H

#include "cli.h"

typedef struct Lab Lab;

/** scenario may be NULL: there is none to log changes. NULL: memory is short. */
Lab *lab_create(CalSim *sim, CalScenario *scenario);
void lab_destroy(Lab *lab); // accepts NULL
/** No return to an earlier moment from now on, because of `why`. */
void lab_forbid_returns(Lab *lab, const char *why);
/** Once the simulation has started: keeps the start. */
void lab_keep_start(Lab *lab);

typedef enum LabResult {
	LAB_NOTHING,   // the command is about something else
	LAB_REFUSED,   // error says why
	LAB_PARAMETER, // it was changed
	LAB_MOMENTS,   // there are other moments to return to
	LAB_RETURNED,  // the simulation is at another moment
} LabResult;
/** Between steps: does what a command says; *parameter: which one it is about. */
LabResult lab_obey(Lab *lab, const char *command, int *parameter, CalError *error);
/** The message about the moments that are kept. */
void lab_write_moments(const Lab *lab, char *text, size_t size);

#endif
