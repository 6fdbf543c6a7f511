// SPDX-License-Identifier: Apache-2.0
/*
 * live.h — `calder run --live`: the running simulation in a browser, which may pause it, push bodies, move joints, change
 * parameters and return to earlier moments.
 */
#ifndef CALDER_CLI_LIVE_H
#define CALDER_CLI_LIVE_H

#include "cli.h"

typedef struct Live Live;

/**
 * Before the run starts: adds the device by which a page acts on the simulation, and the memory for changes of its
 * parameters, which go to the log of the scenario. Returns an exit code.
 */
int live_create(Live **live, const CalSetup *setup, CalSim *sim, CalScenario *scenario, const char *path);
/**
 * Starts the server and says where; sampler: what pages can plot; writes: the run writes results, and cannot return to
 * earlier moments. Returns an exit code.
 */
int live_open(Live *live, CalSampler *sampler, CalSim *sim, const char *title, int port, bool browser, bool writes,
              const char *path);
/**
 * One step, at most to t_limit, when its time has come; obeys commands before it, and waits while it is paused. No step if a
 * signal asks for an end (interrupt.h), or if a page has returned to another moment: the simulation is there.
 */
CalStatus live_step(Live *live, CalSim *sim, double t_limit, CalError *error);
/** Waits until a page is connected, or a signal asks for an end. */
void live_wait(Live *live, CalSim *sim);
/** At the end of a run, or where it has failed: waits until a page returns to another moment. False: a signal asks for an end. */
bool live_linger(Live *live, CalSim *sim);
bool live_recover(Live *live, CalSim *sim, const char *why);
/** Informs the pages that the run is over, and why. */
void live_end(Live *live, CalSim *sim, const char *why);
/** After live_end(): shows the last moment, also to pages that come later, until a signal asks for an end. Accepts NULL. */
void live_stay(Live *live, CalSim *sim);
void live_destroy(Live *live); // accepts NULL; the simulation must not be advanced after it

#endif
