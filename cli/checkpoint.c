// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.c — see checkpoint.h.
 *
 * A checkpoint that cannot be written in the middle of a run is a warning: the one before is still there. At the end it is
 * an error. The first signal only leaves a note, which is read behind the next advance; the second one kills.
 */
#define _POSIX_C_SOURCE 200809L // sigaction

#include <math.h>
#include <signal.h>

#include "checkpoint.h"

static volatile sig_atomic_t caught; // the signal that asks the run to end, 0: none

static void note_signal(int number) { caught = number; }

int checkpoints_caught(void) { return caught; }

void checkpoints_listen(void) {
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int go_on(const Checkpoints *c, CalSim *sim, Record *record) {
	CalError error = {0};
	int code = say_status(c->restart, cal_checkpoint_load(sim, c->restart, &error), &error);
	if (code == EXIT_OK && record->scenario)
		code = say_status(c->restart, cal_scenario_resume(record->scenario), NULL);
	if (code != EXIT_OK)
		return code;
	if (cal_sim_time(sim) < record->start) {
		snprintf(
			error.text, sizeof error.text,
			"the checkpoint is at t = %.9g s, before the start of the run at t = %.9g s; restart the run that wrote it",
			cal_sim_time(sim), record->start);
		say_error(c->restart, error.text);
		return EXIT_INPUT;
	}
	if (cal_sim_time(sim) >= record->end) {
		snprintf(error.text, sizeof error.text,
		         "the checkpoint is at t = %.9g s and the run ends at t = %.9g s; give it a longer --duration",
		         cal_sim_time(sim), record->end);
		say_error(c->restart, error.text);
		return EXIT_INPUT;
	}
	record_resume(record, cal_sim_time(sim));
	return EXIT_OK;
}

/* The first multiple of the interval behind t. */
static double next_after(const Checkpoints *c, const Record *record, double t) {
	return c->every > 0 ? record->start + (floor((t - record->start) / c->every) + 1) * c->every : INFINITY;
}

int checkpoints_begin(Checkpoints *c, CalSim *sim, Record *record) {
	const int code = c->restart ? go_on(c, sim, record) : EXIT_OK;
	c->next = next_after(c, record, cal_sim_time(sim));
	if (c->path)
		checkpoints_listen();
	return code;
}

bool checkpoints_look(Checkpoints *c, CalSim *sim, const Record *record) {
	if (!c->path && !c->on_ranks)
		return false;
	c->signal = c->on_ranks ? c->signal : caught;
	if (c->signal)
		return true;
	if (c->elsewhere)
		return false;
	const double t = cal_sim_time(sim);
	if (t >= c->next && t < record->end) {
		CalError error = {0};
		if (cal_checkpoint_save(sim, c->path, &error) != CAL_OK)
			say_warning(c->path, error.text);
		c->next = next_after(c, record, t);
	}
	return false;
}

int checkpoints_finish(const Checkpoints *c, CalSim *sim) {
	CalError error = {0};
	int code = EXIT_OK;
	if (c->path && !c->elsewhere)
		code = say_status(c->path, cal_checkpoint_save(sim, c->path, &error), &error);
	if (code != EXIT_OK || !c->signal)
		return code;
	if (!c->elsewhere)
		fprintf(stderr, "calder run: interrupted at t = %.9g s%s%s\n", cal_sim_time(sim),
		        c->path ? "; go on with --restart " : "", c->path ? c->path : "");
	return 128 + c->signal;
}
