// SPDX-License-Identifier: Apache-2.0
/*
 * loop_drive.c — constraint equations driven by functions of time, as a simulation sees them.
 *
 * The dynamics obey the rows by themselves (dynamics/loop/loop_rows.c). Here: where steps have to end, what is doubtful
 * about a function, and what the rows supply. The power of a row is its multiplier times the rate of its function.
 */
#include <math.h>
#include <stdio.h>

#include "dynamics/loop/loop_rows.h"
#include "model/model.h"
#include "sim/sim_internal.h"

static const double JUMP = 1e-6; // of a value or a speed that the projection of a step takes without a word

double loop_next_switch(const Loop *loop, double t) {
	double next = INFINITY;
	for (int i = 0; loop->driven && i < loop->rows; i++) {
		const CalDrive *drive = &loop->drive[i];
		const double own = drive->fn && drive->next_switch ? drive->next_switch(drive->user, t) : INFINITY;
		next = own > t ? fmin(next, own) : next;
	}
	return next;
}

double loop_drives_next_switch(const CalSim *sim, double t) {
	double next = INFINITY;
	for (int g = 0; g < sim->group_count; g++) {
		const SimGroup *group = &sim->groups[g];
		for (int l = 0; group->loops_move && !group->motion && l < group->model->loop_count; l++)
			next = fmin(next, loop_next_switch(&group->model->loops[l], t));
	}
	return next;
}

static void name_row(const CalModel *model, int row, char *text, size_t size) {
	char name[96] = "";
	cal_model_row_name(model, row, name, sizeof name);
	snprintf(text, size, "row \"%.90s\"", name);
}

/* Of a row of speeds only the rate counts. */
static void doubt_jump(CalSim *sim, const CalModel *model, const Loop *loop, int i, double t) {
	double before[3], after[3];
	char object[110];
	loop_drive_at(&loop->drive[i], t - drive_beside(t), before);
	loop_drive_at(&loop->drive[i], t + drive_beside(t), after);
	const double jump = loop_row_is_speed(loop, i) ? 0 : fabs(after[0] - before[0]), kink = fabs(after[1] - before[1]);
	if (jump <= JUMP && kink <= JUMP * fmax(1, fabs(after[1])))
		return;
	name_row(model, loop->row + i, object, sizeof object);
	doubts_note(
		&sim->doubts, CAL_DOUBT_FORMULA, object, t, fmax(jump, kink), JUMP,
		"%s: its function jumps at t = %.6g s, by %.3g in its value and %.3g in its speed; the projection of the "
		"step makes up for it, which takes no impulse from anything. Use a function with a continuous rate",
		object, t, jump, kink);
}

void loop_drives_switch(CalSim *sim, double t) {
	for (int g = 0; g < sim->group_count; g++) {
		const SimGroup *group = &sim->groups[g];
		for (int l = 0; group->loops_move && !group->motion && l < group->model->loop_count; l++) {
			const Loop *loop = &group->model->loops[l];
			for (int i = 0; loop->driven && i < loop->rows; i++)
				if (loop->drive[i].fn)
					doubt_jump(sim, group->model, loop, i, t);
		}
	}
}

static bool is_finite_at(const CalDrive *drive, double t) {
	double jet[3];
	loop_drive_at(drive, t, jet);
	return isfinite(jet[0]) && isfinite(jet[1]) && isfinite(jet[2]);
}

static bool fault_of(const CalSim *sim, const CalModel *model, char *text, size_t size) {
	const double now = cal_sim_time(sim), ahead = now + fmax(sim->method.step, 1e-6 * fmax(1, fabs(now)));
	for (int l = 0; l < model->loop_count; l++)
		for (int i = 0; model->loops[l].driven && i < model->loops[l].rows; i++) {
			const CalDrive *drive = &model->loops[l].drive[i];
			const bool good = is_finite_at(drive, now);
			char row[110];
			if (good && (!text || is_finite_at(drive, ahead)))
				continue;
			name_row(model, model->loops[l].row + i, row, sizeof row);
			if (text)
				snprintf(text, size, "%s: its function is not finite at t = %.9g s, or its rate or acceleration is not",
				         row, good ? ahead : now);
			return true;
		}
	return false;
}

bool loop_drives_fault_of(const CalSim *sim, int group, char *text, size_t size) {
	const SimGroup *g = &sim->groups[group];
	return g->loops_move && !g->motion && fault_of(sim, g->model, text, size);
}

bool loop_drives_fault(const CalSim *sim, char *text, size_t size) {
	for (int g = 0; g < sim->group_count; g++)
		if (loop_drives_fault_of(sim, g, text, size))
			return true;
	return false;
}
