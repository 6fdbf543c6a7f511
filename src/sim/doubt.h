// SPDX-License-Identifier: Apache-2.0
/*
 * doubt.h — what a simulation keeps of the doubts about its run, and how the library adds to them.
 */
#ifndef CALDER_SIM_DOUBT_H
#define CALDER_SIM_DOUBT_H

#include <calder/doubt.h>

typedef struct SimDoubts {
	CalDoubt items[CAL_MAX_DOUBTS];
	int count;
	int64_t left_out; // for which there was no room
} SimDoubts;

/** The same, with the sentence made here. */
#if defined(__GNUC__)
__attribute__((format(printf, 7, 8)))
#endif
void doubts_note(SimDoubts *doubts, CalDoubtKind kind, const char *object, double time, double value, double limit,
                 const char *format, ...);
/** One that is about the run as a whole: it takes the place of the one before, and is counted once. */
#if defined(__GNUC__)
__attribute__((format(printf, 7, 8)))
#endif
void doubts_set(SimDoubts *doubts, CalDoubtKind kind, const char *object, double time, double value, double limit,
                const char *format, ...);
/** Takes one back, if there is one of this kind about this object. */
void doubts_drop(SimDoubts *doubts, CalDoubtKind kind, const char *object);

#endif
