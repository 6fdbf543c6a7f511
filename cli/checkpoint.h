// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.h — checkpoints of `calder run`: when they are written, and how a run resumes from one.
 *
 * They are written where an advance ends (at a sample, or after a step), so that a run with them is the same as one
 * without. Every run ends in order when it is interrupted (interrupt.h); one that writes checkpoints leaves a last one.
 */
#ifndef CALDER_CLI_CHECKPOINT_H
#define CALDER_CLI_CHECKPOINT_H

#include "record.h"

typedef struct Checkpoints {
	const char *path;    // where they are written; NULL: nowhere
	double every;        // simulated time from one to the next [s]; 0: only at the end
	const char *restart; // what the run resumes from; NULL: it starts from the beginning
	double next;         // when the next one is due
	int signal;          // that ended the run, 0: none
	bool on_ranks;       // the run is distributed: signal is what all ranks agree on
	bool elsewhere;      // another rank writes them
	CalOutput *output;   // the path, reserved for this run; NULL: there is none, or it is elsewhere
} Checkpoints;

/** Reserves the path, resumes from a checkpoint if one is given, and starts to listen to signals. Returns an exit code. */
int checkpoints_begin(Checkpoints *c, CalSim *sim, Record *record);
/** After an advance: writes what is due. True: the run was interrupted, and ends here. */
bool checkpoints_look(Checkpoints *c, CalSim *sim, const Record *record);
/** At the end of a run that went well: the last one. Returns an exit code, 128 + signal if the run was interrupted. */
int checkpoints_finish(const Checkpoints *c, CalSim *sim);
/** Gives the path free, however the run ended. */
void checkpoints_end(Checkpoints *c);

#endif
