// SPDX-License-Identifier: Apache-2.0
/*
 * live_control.h — pause, steps and speed of a live run. The server's threads obey them the moment they come, also while a
 * step is computed that takes long; the simulation reads them between steps.
 */
#ifndef CALDER_CLI_LIVE_CONTROL_H
#define CALDER_CLI_LIVE_CONTROL_H

#include "cli.h"
#include "server.h"

enum { TICKS_PER_SECOND = 60 };

/** How it is to run, and how it does. */
typedef struct ControlState {
	bool paused;
	double speed;     // simulated time per wall time; 0: as fast as it can
	double step_end;  // simulated time up to which steps are taken while paused
	bool anew;        // the pace begins anew: somebody changed how it runs
	double t;         // simulated time after the last step
	bool busy;        // a step is being computed
	double factor;    // simulated time per wall time over the last second
	const char *text; // why it rests; "": it does not, or because of a pause
} ControlState;

typedef struct Control Control;

Control *control_create(void);          // NULL: memory is short
void control_destroy(Control *control); // accepts NULL
/** Where control_obey() reports to pages what became of it. */
void control_set_server(Control *control, Server *server);
/** For ServerOptions.at_once: pause, resume, step and speed; any other command is not done. */
bool control_obey(void *control, const char *command);

/** A copy; `anew` is false from now on. */
ControlState control_take(Control *control);
/** A step begins, or has ended at t. */
void control_note(Control *control, bool busy, double t);
/** Stops all steps that were asked for, or pauses. */
void control_rest(Control *control, bool paused, const char *text);
void control_set_factor(Control *control, double factor);
/** The state for all pages. */
void control_say(Control *control);

#endif
