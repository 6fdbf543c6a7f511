// SPDX-License-Identifier: Apache-2.0
/*
 * doubt.c — the list of what there is to doubt in a run.
 *
 * It has room for CAL_MAX_DOUBTS doubts, so that adding one does not allocate: it may happen within a step. Each pair
 * of a kind and an object has one entry, which counts how often it was seen and keeps the worst of it.
 */
#include "sim/doubt.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <calder/sim.h>

#include "sim/sim_internal.h"

const char *cal_doubt_name(CalDoubtKind kind) {
	static const char *const names[] = {
#define CAL_DOUBT_NAME(kind, text) text,
		CAL_DOUBT_LIST(CAL_DOUBT_NAME)
#undef CAL_DOUBT_NAME
	};
	return (int)kind >= 0 && kind < CAL_DOUBT_KINDS ? names[kind] : NULL;
}

static CalDoubt *find(SimDoubts *doubts, const CalDoubt *doubt) {
	for (int i = 0; i < doubts->count; i++)
		if (doubts->items[i].kind == doubt->kind && strcmp(doubts->items[i].object, doubt->object) == 0)
			return &doubts->items[i];
	return NULL;
}

/* Adds a doubt, or counts it if there is one of its kind about its object; the text of the larger value is kept. */
static void doubts_add(SimDoubts *doubts, const CalDoubt *doubt) {
	const int64_t count = doubt->count > 0 ? doubt->count : 1;
	CalDoubt *known = find(doubts, doubt);
	if (!known && doubts->count == CAL_MAX_DOUBTS) {
		doubts->left_out += count;
		return;
	}
	const CalDoubt before = known ? *known : (CalDoubt){.time = doubt->time};
	if (!known)
		known = &doubts->items[doubts->count++];
	else if (!(doubt->value > before.value) && !isnan(doubt->value)) {
		known->count += count;
		return;
	}
	*known = *doubt;
	known->object[sizeof known->object - 1] = known->text[sizeof known->text - 1] = 0;
	known->time = before.time;
	known->count = before.count + count;
}

static CalDoubt make_doubt(CalDoubtKind kind, const char *object, double time, double value, double limit) {
	CalDoubt doubt = {.kind = kind, .time = time, .value = value, .limit = limit, .count = 1};
	snprintf(doubt.object, sizeof doubt.object, "%s", object);
	return doubt;
}

void doubts_note(SimDoubts *doubts, CalDoubtKind kind, const char *object, double time, double value, double limit,
                 const char *format, ...) {
	CalDoubt doubt = make_doubt(kind, object, time, value, limit);
	va_list args;
	va_start(args, format);
	vsnprintf(doubt.text, sizeof doubt.text, format, args);
	va_end(args);
	doubts_add(doubts, &doubt);
}

void doubts_set(SimDoubts *doubts, CalDoubtKind kind, const char *object, double time, double value, double limit,
                const char *format, ...) {
	CalDoubt doubt = make_doubt(kind, object, time, value, limit), *known = find(doubts, &doubt);
	va_list args;
	va_start(args, format);
	vsnprintf(doubt.text, sizeof doubt.text, format, args);
	va_end(args);
	doubt.time = known ? known->time : time;
	if (known)
		*known = doubt;
	else
		doubts_add(doubts, &doubt);
}

void doubts_drop(SimDoubts *doubts, CalDoubtKind kind, const char *object) {
	const CalDoubt wanted = make_doubt(kind, object, 0, 0, 0);
	CalDoubt *known = find(doubts, &wanted);
	if (known)
		memmove(known, known + 1, (size_t)(doubts->items + --doubts->count - known) * sizeof *known);
}

/* ---- of a simulation ----------------------------------------------------------------------------- */

CalStatus cal_sim_add_doubt(CalSim *sim, const CalDoubt *doubt) {
	if (!sim || !doubt || !cal_doubt_name(doubt->kind))
		return CAL_ERR_ARGUMENT;
	doubts_add(&sim->doubts, doubt);
	return CAL_OK;
}

CalStatus cal_context_add_doubt(CalEvalContext *context, const CalDoubt *doubt) {
	if (!context)
		return CAL_ERR_ARGUMENT;
	if (!context->viewing && distribute_is_partial(context->sim)) { // other ranks are to see it too: with all states
		distribute_note_failure(context->sim);
		return CAL_OK;
	}
	return cal_sim_add_doubt(context->sim, doubt);
}

int cal_sim_doubt_count(const CalSim *sim) { return sim ? sim->doubts.count : 0; }

int64_t cal_sim_doubts_left_out(const CalSim *sim) { return sim ? sim->doubts.left_out : 0; }

CalStatus cal_sim_doubt(const CalSim *sim, int index, CalDoubt *doubt) {
	if (!sim || !doubt || index < 0 || index >= sim->doubts.count)
		return CAL_ERR_ARGUMENT;
	*doubt = sim->doubts.items[index];
	return CAL_OK;
}
