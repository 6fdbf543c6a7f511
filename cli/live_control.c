// SPDX-License-Identifier: Apache-2.0
/*
 * live_control.c — see live_control.h.
 */
#include "live_control.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "live_command.h"

enum { MAX_TICKS = 1000000 };

struct Control {
	pthread_mutex_t lock; // guards the rest
	ControlState state;
	Server *server; // NULL: there is none yet
};

Control *control_create(void) {
	Control *made = calloc(1, sizeof *made);
	if (!made)
		return NULL;
	pthread_mutex_init(&made->lock, NULL);
	made->state = (ControlState){.speed = 1, .step_end = -INFINITY, .text = ""};
	return made;
}

void control_destroy(Control *control) {
	if (control)
		pthread_mutex_destroy(&control->lock);
	free(control);
}

void control_set_server(Control *control, Server *server) {
	pthread_mutex_lock(&control->lock);
	control->server = server;
	pthread_mutex_unlock(&control->lock);
}

/* As much simulated time as passes between two ticks: solver steps may be too short to be seen. */
static void allow_steps(ControlState *state, const char *command) {
	double count;
	if (!command_number(command, "count", &count) || !(count >= 1 && count <= MAX_TICKS))
		count = 1;
	const double tick = (state->speed > 0 ? state->speed : 1) / TICKS_PER_SECOND;
	state->step_end = fmax(state->step_end, state->t) + count * tick;
}

/* False: the command is about something else, or makes no sense. */
static bool change_state(ControlState *state, const char *command) {
	double value;
	if (command_is(command, "pause")) {
		state->paused = true;
		state->step_end = -INFINITY;
	} else if (command_is(command, "resume")) {
		state->paused = false;
	} else if (command_is(command, "step")) {
		allow_steps(state, command);
		return true;
	} else if (command_is(command, "speed") && command_number(command, "value", &value) && value >= 0) {
		state->speed = value;
	} else {
		return false;
	}
	return state->anew = true;
}

bool control_obey(void *user, const char *command) {
	Control *control = user;
	pthread_mutex_lock(&control->lock);
	const bool done = change_state(&control->state, command);
	pthread_mutex_unlock(&control->lock);
	if (done)
		control_say(control);
	return done;
}

ControlState control_take(Control *control) {
	pthread_mutex_lock(&control->lock);
	const ControlState state = control->state;
	control->state.anew = false;
	pthread_mutex_unlock(&control->lock);
	return state;
}

void control_note(Control *control, bool busy, double t) {
	pthread_mutex_lock(&control->lock);
	control->state.busy = busy;
	control->state.t = t;
	pthread_mutex_unlock(&control->lock);
}

void control_rest(Control *control, bool paused, const char *text) {
	pthread_mutex_lock(&control->lock);
	control->state.paused = paused;
	control->state.step_end = -INFINITY;
	control->state.anew = true;
	control->state.text = text;
	pthread_mutex_unlock(&control->lock);
	control_say(control);
}

void control_set_factor(Control *control, double factor) {
	pthread_mutex_lock(&control->lock);
	control->state.factor = factor;
	pthread_mutex_unlock(&control->lock);
}

void control_say(Control *control) {
	char text[400];
	pthread_mutex_lock(&control->lock);
	const ControlState state = control->state;
	Server *server = control->server;
	pthread_mutex_unlock(&control->lock);
	snprintf(text, sizeof text,
	         "{\"state\":{\"running\":%s,\"speed\":%.6g,\"real_time_factor\":%.6g,\"busy\":%s,\"text\":\"%s\"}}",
	         state.paused ? "false" : "true", state.speed, state.factor, state.busy ? "true" : "false", state.text);
	if (server)
		server_say(server, text);
}
