// SPDX-License-Identifier: Apache-2.0
/*
 * calder/replay.h — pictures of a run: the document that the viewer shows (docs/replay.md), made of a result file.
 */
#ifndef CALDER_REPLAY_H
#define CALDER_REPLAY_H

#include <stdio.h>

#include <calder/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalReplayOptions {
	const char *title;  // NULL: that of the results
	const char *ghost;  // result file of a second run of the same bodies, drawn beside it; NULL: none
	const char *page;   // [page_length] the viewer's page, whose marker the document replaces; NULL: the document alone
	size_t page_length; //
	/* Says more than the model about how the run is looked at: what is not as in cal_view_settings_def() counts. Its
	   cameras and steps are not used. NULL: nothing. */
	const CalViewSettings *view;
	int max_frames; // more are thinned out; 0: 3000, or as many as bodies that turn fast need
} CalReplayOptions;

/**
 * Writes the run in an HDF5 result file as a replay. The model in the file is read again; files that it names are sought
 * where it says it was. The poses of bodies must have been recorded (stream "replay", which `calder run` adds).
 */
CAL_API CalStatus cal_replay_write(const char *results, const CalReplayOptions *options, FILE *out, CalError *error);

/* ---- a run in progress (docs/replay.md, "Live") ------------------------------------------ */

typedef struct CalReplaySignal {
	const char *name, *unit;
} CalReplaySignal;

/** The simulation of a setup as a page sees it while it runs. The setup must outlive it; signals are copied. */
typedef struct CalLive CalLive;
CAL_API CalStatus cal_live_create(const CalSetup *setup, const CalReplaySignal *signals, int signal_count,
                                  CalLive **live, CalError *error);
CAL_API void cal_live_destroy(CalLive *live); // accepts NULL
#define CAL_LIVE_PARAMETERS 1000
/**
 * The document without frames, with the first CAL_LIVE_PARAMETERS parameters of the simulation as they are now (sim NULL:
 * none); title may be NULL.
 */
CAL_API CalStatus cal_live_document(const CalLive *live, const CalSim *sim, const char *title, FILE *out,
                                    CalError *error);
/**
 * One tick: bytes[cal_live_tick_size()] with the poses and modal coordinates of all bodies now, the values of the
 * signals, and the strongest points of contacts. Does not allocate.
 */
CAL_API size_t cal_live_tick_size(const CalLive *live);
CAL_API CalStatus cal_live_tick(CalLive *live, CalSim *sim, const double *signals, void *bytes);

/**
 * Lines between places by which a shape is seen where no mesh is known: two are joined if no third is in the sphere of
 * which they are the poles. lines[capacity]; returns how many there are, perhaps more than fit.
 */
CAL_API int cal_wire_lines(const CalVec3 *places, int count, int (*lines)[2], int capacity);

#ifdef __cplusplus
}
#endif
#endif
