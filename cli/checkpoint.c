// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.c — see checkpoint.h.
 *
 * A checkpoint that cannot be written in the middle of a run is a warning: the one before is still there. At the end it is
 * an error. The path is reserved from the beginning of the run to its end.
 */
#include <math.h>

#include "checkpoint.h"
#include "interrupt.h"

static int resume_run(const Checkpoints *c, CalSim *sim, Record *record) {
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

/* The first multiple of the interval after t. */
static double next_after(const Checkpoints *c, const Record *record, double t) {
	return c->every > 0 ? record->start + (floor((t - record->start) / c->every) + 1) * c->every : INFINITY;
}

int checkpoints_begin(Checkpoints *c, CalSim *sim, Record *record) {
	CalError error = {0};
	int code = EXIT_OK;
	if (c->path && !c->elsewhere)
		code = say_status(c->path, cal_output_open(c->path, NULL, &c->output, &error), &error);
	if (code == EXIT_OK && c->restart)
		code = resume_run(c, sim, record);
	c->next = next_after(c, record, cal_sim_time(sim));
	interrupt_listen();
	return code;
}

bool checkpoints_look(Checkpoints *c, CalSim *sim, const Record *record) {
	c->signal = c->on_ranks ? c->signal : interrupt_caught();
	if (c->signal)
		return true;
	if (!c->output)
		return false;
	const double t = cal_sim_time(sim);
	if (t >= c->next && t < record->end) {
		CalError error = {0};
		if (cal_checkpoint_save_to(sim, c->output, &error) != CAL_OK)
			say_warning(c->path, error.text);
		c->next = next_after(c, record, t);
	}
	return false;
}

int checkpoints_finish(const Checkpoints *c, CalSim *sim) {
	CalError error = {0};
	int code = EXIT_OK;
	if (c->output)
		code = say_status(c->path, cal_checkpoint_save_to(sim, c->output, &error), &error);
	if (code != EXIT_OK || !c->signal)
		return code;
	if (!c->elsewhere)
		fprintf(stderr, "calder run: interrupted at t = %.9g s%s%s\n", cal_sim_time(sim),
		        c->path ? "; resume with --restart " : "", c->path ? c->path : "");
	return 128 + c->signal;
}

void checkpoints_end(Checkpoints *c) {
	cal_output_close(c->output);
	c->output = NULL;
}
