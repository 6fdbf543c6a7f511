// SPDX-License-Identifier: Apache-2.0
/*
 * setup_run.c — run settings, and what bodies look like.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "setup/setup.h"

/* ---- run settings ------------------------------------------------------------------------------------ */

static bool name_stream(CalSetup *setup, CalRunStream *stream, int index) {
	char name[24] = "main";
	if (stream->name)
		return setup_copy_text(setup, &stream->name);
	if (index)
		snprintf(name, sizeof name, "stream%d", index + 1);
	return (stream->name = pool_text(&setup->pool, name, strlen(name))) != NULL;
}

static bool copy_stream(CalSetup *setup, CalRunStream *stream, int index) {
	const size_t count = stream->signal_count > 0 ? (size_t)stream->signal_count : 0;
	const char **signals = setup_copy_array(setup, (const void *)stream->signals, count, sizeof *signals);
	bool copied = signals && name_stream(setup, stream, index) && setup_copy_text(setup, &stream->file);
	for (size_t i = 0; i < count && copied; i++)
		copied = setup_copy_text(setup, &signals[i]);
	stream->signals = signals;
	return copied;
}

static bool is_not_negative(double value) { return value >= 0 && isfinite(value); }

static const char *check_stream(const CalRunStream *stream) {
	if (stream->name && (!stream->name[0] || strchr(stream->name, '/') || strcmp(stream->name, ".") == 0))
		return "the name of an output may not be empty nor hold a '/'";
	if (!is_not_negative(stream->interval))
		return "the interval of an output must not be negative";
	if (stream->signal_count > 0 && !stream->signals)
		return "signals of an output are NULL";
	for (int i = 0; i < stream->signal_count; i++)
		if (!stream->signals[i])
			return "a signal is NULL";
	return NULL;
}

static const char *check_run(const CalRunSettings *run) {
	const char *wrong = !is_not_negative(run->duration) ? "the duration must be a number of seconds, not negative"
	                    : !cal_method_name(run->method.method)    ? "unknown method of integration"
	                    : run->threads < 0 || run->branches < 0   ? "threads and branches must not be negative"
	                    : !cal_cross_loops_name(run->cross_loops) ? "cross_loops is none of CAL_CROSS_LOOPS_*"
	                    : run->stream_count > 0 && !run->streams  ? "streams is NULL"
	                                                              : NULL;
	for (int i = 0; i < run->stream_count && !wrong; i++)
		wrong = check_stream(&run->streams[i]);
	return wrong;
}

static const char *doubled_name(const CalRunStream *streams, int count) {
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (strcmp(streams[i].name, streams[k].name) == 0)
				return streams[i].name;
	return NULL;
}

CalStatus cal_setup_set_run(CalSetup *setup, const CalRunSettings *run, CalError *error) {
	if (!setup || !run)
		return error_null(error, "cal_setup_set_run", !setup ? "setup" : "run");
	const char *wrong = check_run(run);
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "run settings: %s", wrong);
	CalRunSettings own = *run;
	const size_t count = own.stream_count > 0 ? (size_t)own.stream_count : 0;
	CalRunStream *streams = setup_copy_array(setup, own.streams, count, sizeof *streams);
	bool copied = streams && setup_copy_text(setup, &own.title);
	for (size_t i = 0; i < count && copied; i++)
		copied = copy_stream(setup, &streams[i], (int)i);
	if (!copied)
		return setup_no_memory(setup, error);
	const char *doubled = doubled_name(streams, (int)count);
	if (doubled)
		return error_set(error, CAL_ERR_MODEL, "run settings: two outputs are called \"%.80s\"; rename one", doubled);
	own.streams = streams;
	own.stream_count = (int)count;
	own.method.input = NULL;
	own.method.user = NULL;
	if (!own.title)
		own.title = setup->run.title;
	setup->run = own;
	return CAL_OK;
}

/* Whether a formula reads an output of a device, of which nobody knows how fast it changes. */
static bool reads_device(const char *formula) {
	for (const char *at = formula; at && (at = strstr(at, "device")); at++)
		if (at[strlen("device") + strspn(at + strlen("device"), " \t\r\n")] == '(')
			return true;
	return false;
}

/*
 * Where events wait for such formulas, adaptive steps have a bound: free flight would take one step from output to output,
 * and what becomes true and false again within a step is not seen. Given for all methods, since the caller may take another
 * one than the setup; fixed steps do not look at it.
 */
static double watch_step(const CalSetup *setup) {
	bool watched = false;
	for (int i = 0; i < setup->event_count; i++)
		watched |= reads_device(setup->events[i].def.when);
	return watched ? fmax(setup->run.duration / 100, setup->run.method.min_step) : 0;
}

CalRunSettings cal_setup_run(const CalSetup *setup) {
	if (!setup)
		return (CalRunSettings){.title = "", .method.method = CAL_METHOD_DEFAULT};
	CalRunSettings run = setup->run;
	if (!(run.method.max_step > 0))
		run.method.max_step = watch_step(setup);
	return run;
}

/* ---- visuals ----------------------------------------------------------------------------------------- */

const char *cal_visual_name(CalVisualKind kind) {
	static const char *const names[] = {
#define VISUAL_NAME(name, text) text,
		CAL_VISUAL_LIST(VISUAL_NAME)
#undef VISUAL_NAME
	};
	return (int)kind >= 0 && kind < CAL_VISUAL_COUNT ? names[kind] : NULL;
}

/* Lists for all bodies up to this one; new ones are empty. */
static bool reserve_body(CalSetup *setup, CalBodyId body) {
	const int count = (int)body.value + 1, more = count - setup->visual_count;
	if (more <= 0)
		return true;
	VisualList *moved = array_reserve(&setup->allocator, setup->visuals, setup->visual_count, more,
	                                  &setup->visual_capacity, sizeof *moved);
	if (!moved)
		return false;
	setup->visuals = moved;
	memset(moved + setup->visual_count, 0, (size_t)more * sizeof *moved);
	setup->visual_count = count;
	return true;
}

/* Room for one more. Most bodies have one: the first gets no room to spare. */
static bool reserve_visual(CalSetup *setup, VisualList *list) {
	if (list->capacity)
		return setup_room(setup, (void **)(void *)&list->items, list->count, &list->capacity, sizeof *list->items);
	list->items = memory_alloc(&setup->allocator, sizeof *list->items);
	list->capacity = list->items != NULL;
	return list->items != NULL;
}

CalStatus cal_setup_add_visual(CalSetup *setup, CalBodyId body, const CalVisual *visual, CalError *error) {
	if (!setup || !visual)
		return error_null(error, "cal_setup_add_visual", !setup ? "setup" : "visual");
	const CalBodyDef *def = body.value ? cal_desc_body(setup->desc, body) : NULL;
	if (body.value && !def)
		return error_set(error, CAL_ERR_ARGUMENT, "a visual: there is no body %u in the description; add it first",
		                 body.value);
	const char *wrong = !cal_visual_name(visual->kind)                     ? "unknown kind of shape"
	                    : visual->kind == CAL_VISUAL_MESH && !visual->file ? "a mesh needs a file"
	                                                                       : NULL;
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "visual of \"%.80s\": %s", def ? def->name : "ground", wrong);
	CalVisual own = *visual;
	if (own.kind == CAL_VISUAL_MESH && own.size.y == 0 && own.size.z == 0)
		own.size = (CalVec3){own.size.x, own.size.x, own.size.x};
	if (!setup_copy_text(setup, &own.file) || !reserve_body(setup, body))
		return setup_no_memory(setup, error);
	VisualList *list = &setup->visuals[body.value];
	if (!reserve_visual(setup, list))
		return setup_no_memory(setup, error);
	list->items[list->count++] = own;
	return CAL_OK;
}

int cal_setup_visuals(const CalSetup *setup, CalBodyId body, const CalVisual **visuals) {
	const bool has = setup && visuals && body.value < (uint32_t)setup->visual_count;
	if (visuals)
		*visuals = has ? setup->visuals[body.value].items : NULL;
	return has ? setup->visuals[body.value].count : 0;
}
