// SPDX-License-Identifier: Apache-2.0
/*
 * assemble_report.c — what closing the loops moved, in numbers and in words, and whether that was too much.
 *
 * A change of a stated coordinate by more than 1e-3 rad (or of the length that counts like 1 rad), or of a stated speed by
 * more than 1e-3 of the fastest, is worth a warning.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"
#include "sim/assemble.h"

enum { NAMED = 6 };                  // coordinates that a message names
static const double DOUBTFUL = 1e-3; // change of what was stated [rad], that of speeds as part of the fastest
static const double VISIBLE = 1e-6;  // change that is reported at all

/* ---- numbers ------------------------------------------------------------------------------------- */

/* Angles in rad, lengths in the length that counts like 1 rad. */
static double size_of(const Assembly *a, int dof, double change) {
	return fabs(change) / (a->angle[dof] ? 1 : a->length);
}

double assembly_moved(const SimGroup *group, int *dof) {
	const Assembly *a = group->assembly;
	double most = 0;
	*dof = -1;
	for (int k = 0; a && a->known && k < group->model->nu; k++)
		if (a->stated_q[k] && size_of(a, k, a->change[k]) > most) {
			most = size_of(a, k, a->change[k]);
			*dof = k;
		}
	return most;
}

double assembly_speed_moved(const SimGroup *group, int *dof) {
	const Assembly *a = group->assembly;
	double most = 0, fastest = 0;
	*dof = -1;
	for (int k = 0; a && a->known && k < group->model->nu; k++) {
		fastest = fmax(fastest, fmax(size_of(a, k, a->u_given[k]), size_of(a, k, a->u[k])));
		if (a->stated_u[k] && size_of(a, k, a->speed_change[k]) > most) {
			most = size_of(a, k, a->speed_change[k]);
			*dof = k;
		}
	}
	return fastest > 0 ? most / fastest : 0;
}

/* ---- words --------------------------------------------------------------------------------------- */

typedef struct Text {
	char *text;
	size_t size, used;
} Text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(Text *out, const char *format, ...) {
	va_list args;
	va_start(args, format);
	const size_t room = out->used < out->size ? out->size - out->used : 0;
	const int length = vsnprintf(room ? out->text + out->used : NULL, room, format, args);
	va_end(args);
	out->used += length > 0 ? (size_t)length : 0;
}

/* The coordinate or speed of a degree of freedom before and after: "crank -50.0 → -173.9 deg". */
static void add_change(Text *out, const SimGroup *group, int k, bool speed) {
	static const double degree = 0.017453292519943295;
	const Assembly *a = group->assembly;
	char name[96] = "";
	cal_model_dof_name(group->model, k, name, sizeof name);
	const Dof *dof = &group->model->dofs[k];
	const Body *body = &group->model->bodies[dof->body];
	const bool mode = k >= body->u + body->nu;
	const char *unit = mode ? (speed ? "/s" : "") : a->angle[k] ? (speed ? " rad/s" : " deg") : speed ? " m/s" : " m";
	const double scale = a->angle[k] && !speed ? degree : 1;
	if (!speed && dof->q < 0)
		append(out, "%s turned by %.4g deg", name, a->change[k] / degree);
	else if (!speed && a->angle[k])
		append(out, "%s %.1f → %.1f%s", name, a->q_given[dof->q] / scale, a->q[dof->q] / scale, unit);
	else if (!speed)
		append(out, "%s %.6g → %.6g%s", name, a->q_given[dof->q], a->q[dof->q], unit);
	else
		append(out, "%s %.6g → %.6g%s", name, a->u_given[k], a->u[k], unit);
}

/* Changes of what was stated, or of the rest, beyond `least`; returns how many there are. */
static int add_changes(Text *out, const SimGroup *group, bool stated, double least) {
	const Assembly *a = group->assembly;
	double fastest = 0;
	int count = 0;
	for (int k = 0; k < group->model->nu; k++)
		fastest = fmax(fastest, fmax(size_of(a, k, a->u_given[k]), size_of(a, k, a->u[k])));
	for (int speed = 0; speed < 2; speed++) {
		const uint8_t *which = speed ? a->stated_u : a->stated_q;
		const double *change = speed ? a->speed_change : a->change;
		for (int k = 0; k < group->model->nu; k++) {
			if ((which[k] != 0) != stated || !(size_of(a, k, change[k]) > least * (speed ? fastest : 1)))
				continue;
			if (count < NAMED) {
				append(out, "%s", count ? ", " : "");
				add_change(out, group, k, speed);
			}
			count++;
		}
	}
	if (count > NAMED)
		append(out, " and %d more", count - NAMED);
	return count;
}

/* initial state violates loop "pin" by 0.239 m */
static void add_violation(Text *out, const SimGroup *group) {
	const Assembly *a = group->assembly;
	const bool position = a->residual > ASSEMBLY_CLOSED;
	const int row = position ? a->row : a->rate_row;
	char name[96] = "";
	cal_model_row_name(group->model, row, name, sizeof name);
	const bool length = assembly_row_unit(name)[0] != 0;
	for (int l = 0; l < group->model->loop_count; l++) {
		const Loop *loop = &group->model->loops[l];
		if (row >= loop->row && row < loop->row + loop->rows)
			append(out, "initial state violates loop \"%s\" by %.3g%s", loop->name, position ? a->residual : a->rate,
			       position ? (length ? " m" : " rad")
			       : length ? " m/s"
			                : " rad/s");
	}
}

static int describe(const SimGroup *group, char *buffer, size_t size) {
	const Assembly *a = group->assembly;
	Text out = {buffer, size, 0};
	int dof, speed_dof;
	if (size > 0)
		buffer[0] = 0;
	if (!a || !a->known)
		return 0;
	const bool doubtful = assembly_moved(group, &dof) > DOUBTFUL || assembly_speed_moved(group, &speed_dof) > DOUBTFUL;
	char scrap[1];
	Text counted = {scrap, sizeof scrap, 0};
	if (!doubtful && add_changes(&counted, group, true, VISIBLE) + add_changes(&counted, group, false, VISIBLE) == 0)
		return 0;
	add_violation(&out, group);
	append(&out, doubtful ? "; assembled state differs: " : "; assembled: ");
	const size_t before = out.used;
	add_changes(&out, group, true, doubtful ? DOUBTFUL : VISIBLE);
	if (!doubtful) {
		append(&out, out.used > before ? ", " : "");
		const size_t stated = out.used;
		if (add_changes(&out, group, false, VISIBLE) == 0 && stated > before)
			out.used = stated - 2;
		if (out.used < size)
			buffer[out.used] = 0;
	} else {
		append(&out, ". Use \"frozen: true\" to hold a coordinate.");
	}
	return (int)out.used;
}

CalStatus assembly_check(const SimGroup *group, double limit, CalError *error) {
	int dof, speed_dof;
	const double moved = assembly_moved(group, &dof), speed = assembly_speed_moved(group, &speed_dof);
	if (moved <= limit && speed <= limit)
		return CAL_OK;
	char text[900];
	describe(group, text, sizeof text);
	return error_set(error, CAL_ERR_ARGUMENT,
	                 "group \"%s\": %s The run does not start: what the state gives may move by %.3g rad (lengths by "
	                 "%.3g m, speeds by %.3g of the fastest) at most; give a state that closes the loops, or allow it: "
	                 "--assemble, or run: {assemble: any}",
	                 cal_model_name(group->model), text, limit, limit * group->assembly->length, limit);
}

void assembly_doubt(const SimGroup *group, SimDoubts *doubts) {
	int dof, speed_dof;
	const double moved = fmax(assembly_moved(group, &dof), assembly_speed_moved(group, &speed_dof));
	char object[96], text[360];
	if (!(moved > DOUBTFUL))
		return;
	snprintf(object, sizeof object, "group \"%.80s\"", cal_model_name(group->model));
	describe(group, text, sizeof text);
	doubts_note(doubts, CAL_DOUBT_ASSEMBLY, object, group->state.t, moved, DOUBTFUL, "%s: %s", object, text);
}

/* ---- public -------------------------------------------------------------------------------------- */

static const SimGroup *group_of(const CalSim *sim, int group) {
	return sim && group >= 0 && group < sim->group_count ? &sim->groups[group] : NULL;
}

CalStatus cal_sim_set_stated(CalSim *sim, int group, const uint8_t *q, const uint8_t *u) {
	const SimGroup *g = group_of(sim, group);
	if (!g || !q != !u)
		return CAL_ERR_ARGUMENT;
	Assembly *a = g->assembly;
	if (!a)
		return CAL_OK;
	a->stated_known = q != NULL;
	for (int k = 0; q && k < g->model->nu; k++) {
		a->stated_q[k] = q[k] != 0;
		a->stated_u[k] = u[k] != 0;
	}
	return CAL_OK;
}

CalStatus cal_sim_assembly(const CalSim *sim, int group, CalAssembly *assembly) {
	const SimGroup *g = group_of(sim, group);
	if (!g || !assembly)
		return CAL_ERR_ARGUMENT;
	const Assembly *a = g->assembly;
	*assembly = (CalAssembly){.row = -1, .rate_row = -1, .moved_dof = -1, .speed_moved_dof = -1};
	if (!a || !a->known)
		return CAL_OK;
	*assembly = (CalAssembly){.residual = a->residual,
	                          .rate = a->rate,
	                          .row = a->residual > 0 ? a->row : -1,
	                          .rate_row = a->rate > 0 ? a->rate_row : -1,
	                          .length = a->length,
	                          .q_given = a->q_given,
	                          .u_given = a->u_given,
	                          .q = a->q,
	                          .u = a->u,
	                          .change = a->change,
	                          .stated_q = a->stated_q,
	                          .stated_u = a->stated_u,
	                          .angle = a->angle};
	assembly->moved = assembly_moved(g, &assembly->moved_dof);
	assembly->speed_moved = assembly_speed_moved(g, &assembly->speed_moved_dof);
	assembly->doubtful = assembly->moved > DOUBTFUL || assembly->speed_moved > DOUBTFUL;
	return CAL_OK;
}

int cal_sim_assembly_text(const CalSim *sim, int group, char *buffer, size_t size) {
	const SimGroup *g = group_of(sim, group);
	return g && (buffer || size == 0) ? describe(g, buffer, size) : -1;
}

CalStatus cal_sim_check_assembly(const CalSim *sim, int group, CalError *error) {
	const SimGroup *g = group_of(sim, group);
	if (!g)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_check_assembly: there is no group %d", group);
	return assembly_check(g, sim->assembly_limit, error);
}
