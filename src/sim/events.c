// SPDX-License-Identifier: Apache-2.0
/*
 * events.c — what happens in a run: at times, and where values change sign.
 *
 * Values are checked after every step. One has crossed upwards if it was below zero and is not any more, downwards the
 * other way round; a value that is zero at the start of a step crosses nothing in it. The crossing is located by false
 * position (the Illinois rule) on the solution within the step: the dense output of an adaptive method, the step itself
 * with a smaller size otherwise. Then the step is taken again up to just before the first crossing, and from there by a very
 * short one, so that the value is on its new side when the event happens, and is not seen a second time. Where the value
 * has crossed before that, because the dense output of a step with a jump inside is wrong, it is located once more.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include <calder/sim.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/sim_internal.h"

/* ---- the list ------------------------------------------------------------------------------------ */

CalStatus cal_sim_add_event(CalSim *sim, const CalEventDef *def, int *event, CalError *error) {
	if (!sim || !def || !def->name || !def->name[0])
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_add_event: give a simulation and an event with a name");
	if (!def->value && !def->when && !isfinite(def->time))
		return error_set(error, CAL_ERR_ARGUMENT, "event \"%s\": give it a value to watch, or a time that is finite",
		                 def->name);
	SimEvent *events =
		array_reserve(&sim->allocator, sim->events, sim->event_count, 1, &sim->event_capacity, sizeof *sim->events);
	char *name = string_copy(&sim->allocator, def->name);
	if (events)
		sim->events = events;
	CalStatus status =
		events && name && name_index_reserve(&sim->allocator, &sim->event_names) ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK) {
		SimEvent *added = &sim->events[sim->event_count++];
		*added = (SimEvent){.def = *def, .last = NAN, .memory = name};
		added->def.name = name;
		status = sim->adding ? CAL_OK : sim_bind(sim);
		sim->event_count -= status != CAL_OK;
	}
	if (status != CAL_OK) {
		memory_free(&sim->allocator, name);
		return error_set(error, status, "event \"%s\": %s", def->name, cal_status_text(status));
	}
	name_index_insert(&sim->event_names, name_hash(0, name, strlen(name)), (uint32_t)sim->event_count);
	if (event)
		*event = sim->event_count - 1;
	return CAL_OK;
}

int cal_sim_find_event(const CalSim *sim, const char *name) {
	uint32_t cursor = 0, value, hash = sim && name ? name_hash(0, name, strlen(name)) : 0;
	while (sim && name && (value = name_index_next(&sim->event_names, hash, &cursor)) != 0)
		if (strcmp(sim->events[value - 1].def.name, name) == 0)
			return (int)value - 1;
	return -1;
}

int cal_sim_event_count(const CalSim *sim) { return sim ? sim->event_count : 0; }

const char *cal_sim_event_name(const CalSim *sim, int event) {
	return sim && event >= 0 && event < sim->event_count ? sim->events[event].def.name : NULL;
}

int64_t cal_sim_event_happened(const CalSim *sim, int event, double *time) {
	const bool known = sim && event >= 0 && event < sim->event_count;
	if (time)
		*time = known ? sim->events[event].last : NAN;
	return known ? sim->events[event].happened : 0;
}

/* ---- values -------------------------------------------------------------------------------------- */

CalStatus events_values(CalSim *sim, double *value) {
	CalEvalContext context = context_now(sim, false);
	int left = sim->system.value_count; // of devices
	for (int i = 0; i < sim->event_count; i++)
		left -= sim->events[i].value_at >= 0;
	for (int i = 0; left > 0 && i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const int count = device_values(sim, device);
		if (count == 0)
			continue;
		left -= count;
		if (!device->active) {
			memset(value + device->value_at, 0, sizeof(double) * (size_t)count); // crosses nothing
			continue;
		}
		const CalDevice view = context_device(&context, device);
		int code = device->def.ops->values(&view, &context, value + device->value_at);
		if (context_failed(&context, i, code) != CAL_OK)
			return context.status;
	}
	for (int i = 0; i < sim->event_count; i++) {
		const SimEvent *event = &sim->events[i];
		if (event->value_at < 0)
			continue;
		if (event->def.value(event->def.user, &context, &value[event->value_at]) != 0)
			return CAL_ERR_USER;
		if (context.status != CAL_OK)
			return context.status;
	}
	return CAL_OK;
}

/* +1: upwards, -1: downwards, 0: not. */
static int crossing(double from, double to) {
	if (from < 0 && to >= 0)
		return 1;
	return from > 0 && to <= 0 ? -1 : 0;
}

static int device_crossing(const CalSim *sim, int k) {
	return crossing(sim->system.value[k], sim->system.value_next[k]);
}

/* As far as the event wants to know. */
static int wanted_crossing(const SimEvent *event, double from, double to) {
	if (event->value_at < 0 || (event->def.once && event->happened > 0))
		return 0;
	const int way = crossing(from, to);
	return event->def.direction == 0 || event->def.direction == way ? way : 0;
}

static int event_crossing(const CalSim *sim, const SimEvent *event) {
	if (event->value_at < 0)
		return 0;
	return wanted_crossing(event, sim->system.value[event->value_at], sim->system.value_next[event->value_at]);
}

/* Whether value k of all has crossed, as far as somebody wants to know. */
static bool watched_crossing(const CalSim *sim, int k) {
	for (int i = 0; i < sim->event_count; i++)
		if (sim->events[i].value_at == k)
			return event_crossing(sim, &sim->events[i]) != 0;
	return device_crossing(sim, k) != 0; // of devices all are
}

bool events_crossed(const CalSim *sim) {
	for (int k = 0; k < sim->system.value_count; k++)
		if (watched_crossing(sim, k))
			return true;
	return false;
}

int events_owner(const CalSim *sim, int k, int *device, int *event) {
	*device = *event = -1;
	for (int i = 0; i < sim->event_count; i++)
		if (sim->events[i].value_at == k)
			*event = i;
	for (int i = 0; i < sim->device_count; i++) {
		const int at = sim->devices[i].value_at;
		if (k < at || k >= at + device_values(sim, &sim->devices[i]))
			continue;
		*device = i;
		return k - at;
	}
	return 0;
}

/* ---- locating ------------------------------------------------------------------------------------ */

static void copy_state(const SimSystem *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

CalStatus events_state_at(CalSim *sim, double s) {
	SimSystem *w = &sim->system;
	CalStatus status;
	if (method_is_fixed(sim->method.method)) {
		copy_state(w, &w->before, &w->now);
		status = cal_integrator_step(w->integrator, &w->now, s);
	} else {
		status = cal_integrator_interpolate(w->integrator, w->before.t + s, &w->now);
	}
	if (status == CAL_OK)
		sim_scatter(sim);
	return status;
}

/* The same, and its values in value_next. */
static CalStatus values_at(CalSim *sim, double s) {
	const CalStatus status = events_state_at(sim, s);
	return status == CAL_OK ? events_values(sim, sim->system.value_next) : status;
}

double events_tolerance(const CalSim *sim) {
	const double wanted = sim->event_tolerance > 0 ? sim->event_tolerance : 1e-12;
	return fmax(wanted, 8 * DBL_EPSILON * fabs(sim->system.before.t));
}

/* The time from the start of the step to just after the crossing of value k, which is in (from, *s]. */
static CalStatus locate_one(CalSim *sim, int k, double from, double *s, double end_value) {
	const double start_value = sim->system.value[k], tol = events_tolerance(sim);
	double a = from, fa = start_value, b = *s, fb = end_value;
	int last = 0; // which end moved
	for (int i = 0; i < 200 && b - a > tol && fb != 0; i++) {
		double c = (a * fb - b * fa) / (fb - fa);
		c = c > a && c < b ? fmin(fmax(c, a + 0.4 * tol), b - 0.4 * tol) : 0.5 * (a + b);
		const CalStatus status = values_at(sim, c);
		if (status != CAL_OK)
			return status;
		const double fc = sim->system.value_next[k];
		const int end = crossing(start_value, fc) ? 1 : -1;
		if (end == 1) {
			b = c;
			fb = fc;
			fa = last == end ? 0.5 * fa : fa;
		} else {
			a = c;
			fa = fc;
			fb = last == end ? 0.5 * fb : fb;
		}
		last = end;
	}
	*s = b;
	return CAL_OK;
}

/* Whether the value of a device has crossed and is zero: on which side its force is then, only the device knows. */
static bool stands_on_zero(const CalSim *sim) {
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const int count = device->active ? device_values(sim, device) : 0;
		for (int k = device->value_at; k < device->value_at + count; k++)
			if (sim->system.value_next[k] == 0 && device_crossing(sim, k) != 0)
				return true;
	}
	return false;
}

/* On to t, and the values there. */
static CalStatus move_on(CalSim *sim, double t) {
	SimSystem *w = &sim->system;
	const CalStatus status = method_is_fixed(sim->method.method)
	                             ? cal_integrator_step(w->integrator, &w->now, t - w->now.t)
	                             : cal_integrator_advance(w->integrator, &w->now, t);
	if (status != CAL_OK)
		return status;
	sim_scatter(sim);
	return events_values(sim, w->value_next);
}

/*
 * The step once more, to just before the crossing at t: a step to beyond it has its last stages after the jump, where
 * they are wrong by a part of the jump and of the step. Late: the value has crossed even so.
 */
static CalStatus approach(CalSim *sim, double t, bool *late) {
	SimSystem *w = &sim->system;
	copy_state(w, &w->before, &w->now);
	sim_scatter(sim);
	cal_integrator_renew(w->integrator);
	*late = false;
	if (!(t - events_tolerance(sim) > w->before.t))
		return CAL_OK;
	const CalStatus status = move_on(sim, t - events_tolerance(sim));
	*late = status == CAL_OK && events_crossed(sim);
	return status;
}

/*
 * Over the crossing by steps that begin very short: solution and dense output differ by the error of a step. A value that
 * has become zero is followed a little too, so that the next step does not begin with the force from before a jump. Where
 * the value does not cross soon, the run continues from here.
 */
static CalStatus pass(CalSim *sim, double t_end) {
	enum { MOST_PASSES = 12, MOST_ON_ZERO = 4 }; // a value may stay zero
	SimSystem *w = &sim->system;
	double more = events_tolerance(sim);
	int on_zero = 0;
	for (int i = 0; i < MOST_PASSES && w->now.t < t_end; i++, more *= 2) {
		const CalStatus status = move_on(sim, fmin(w->now.t + more, t_end));
		if (status != CAL_OK)
			return status;
		if (events_crossed(sim) && !(stands_on_zero(sim) && on_zero++ < MOST_ON_ZERO))
			return CAL_OK;
	}
	return CAL_OK;
}

/* The first crossing between two times of the step: value is known at or before the first, value_next at the second. */
static CalStatus locate_first(CalSim *sim, double from, double to, double *first) {
	SimSystem *w = &sim->system;
	double *end_value = w->value_end;
	CalStatus status = CAL_OK;
	*first = to;
	memcpy(end_value, w->value_next, (size_t)w->value_count * sizeof(double));
	for (int k = 0; k < w->value_count && status == CAL_OK; k++) {
		memcpy(w->value_next, end_value, (size_t)w->value_count * sizeof(double)); // look() overwrites it
		if (!watched_crossing(sim, k))
			continue;
		double s = to;
		status = locate_one(sim, k, from, &s, end_value[k]);
		if (s <= *first) {
			*first = s;
			w->crossed_value = k;
		}
	}
	return status;
}

CalStatus events_locate(CalSim *sim, double from, double to, double t_end) {
	enum { MOST_TIMES = 8 };
	SimSystem *w = &sim->system;
	bool late = true;
	CalStatus status = CAL_OK;
	for (int i = 0; i < MOST_TIMES && late && status == CAL_OK; i++) {
		double first;
		status = locate_first(sim, from, to, &first);
		if (status == CAL_OK)
			status = approach(sim, w->before.t + first, &late);
		// the next one is on the dense output of this step, of which less is after the jump
		to = w->now.t - w->before.t;
		from = fmax(0, to - cal_integrator_stats(w->integrator).last_step);
	}
	if (status == CAL_OK && !late)
		status = pass(sim, t_end);
	if (status != CAL_OK) {
		copy_state(w, &w->before, &w->now);
		sim_scatter(sim);
	}
	return status;
}

/* ---- happening ----------------------------------------------------------------------------------- */

static CalStatus device_events(CalSim *sim) {
	CalEvalContext context = context_now(sim, false);
	for (int i = 0; i < sim->device_count; i++) {
		SimDevice *device = &sim->devices[i];
		const int count = device_values(sim, device);
		for (int k = 0; device->active && k < count; k++) {
			const int way = device_crossing(sim, device->value_at + k);
			if (way == 0 || !device->def.ops->event)
				continue;
			const CalDevice view = context_device(&context, device);
			int code = device->def.ops->event(&view, &context, k, way > 0, device->x);
			scene_renew_device(&context, device);
			if (context_failed(&context, i, code) != CAL_OK)
				return context.status;
		}
	}
	return CAL_OK;
}

/* Of an event by time; not finite: never again. */
static double event_time(const CalSim *sim, const SimEvent *event) {
	if (event->def.when)
		return event->def.when(event->def.user, sim);
	return event->spent ? INFINITY : event->def.time;
}

static bool due_by_time(const CalSim *sim, const SimEvent *event) {
	return event->value_at < 0 && event_time(sim, event) <= sim->groups[0].state.t;
}

/* Whether an event depends on the level of its value now. */
static bool asks_level(const CalSim *sim, const SimEvent *event) {
	return event->value_at >= 0 && event->def.level && event->def.direction != 0 && event->happened == 0 &&
	       sim->groups[0].state.t == sim->start_time;
}

bool events_due(const CalSim *sim) {
	for (int i = 0; i < sim->event_count; i++)
		if (due_by_time(sim, &sim->events[i]) || asks_level(sim, &sim->events[i]))
			return true;
	return false;
}

/* Keeps the present values of all events; known: they are in value_next. */
static CalStatus note_values(CalSim *sim, bool known) {
	const bool wanted = !known && sim->system.value_count > 0;
	const CalStatus status = wanted ? events_values(sim, sim->system.value_next) : CAL_OK;
	for (int i = 0; i < sim->event_count && status == CAL_OK; i++)
		if (sim->events[i].value_at >= 0)
			sim->events[i].was = sim->system.value_next[sim->events[i].value_at];
	return status;
}

/* What is due at the beginning of an instant. The values are in SimEvent.was. */
static void mark_first(CalSim *sim, bool crossed) {
	for (int i = 0; i < sim->event_count; i++) {
		SimEvent *event = &sim->events[i];
		const bool beyond = event->was * event->def.direction >= 0;
		event->due = due_by_time(sim, event) || (crossed && event_crossing(sim, event) != 0) ||
		             (asks_level(sim, event) && beyond);
	}
}

/* What actions have made due: by time, or because its value jumped. Returns how many. */
static CalStatus mark_next(CalSim *sim, int *count) {
	const CalStatus status = sim->system.value_count > 0 ? events_values(sim, sim->system.value_next) : CAL_OK;
	*count = 0;
	for (int i = 0; i < sim->event_count && status == CAL_OK; i++) {
		SimEvent *event = &sim->events[i];
		const double now = event->value_at < 0 ? 0 : sim->system.value_next[event->value_at];
		event->due = due_by_time(sim, event) || wanted_crossing(event, event->was, now) != 0;
		event->was = now;
		*count += event->due;
	}
	return status;
}

/* An action may add events: the list can move. */
static CalStatus call_action(CalSim *sim, CalError *error) {
	const double t = sim->groups[0].state.t;
	CalStatus status = CAL_OK;
	for (int i = 0; i < sim->event_count && status == CAL_OK; i++) {
		SimEvent *event = &sim->events[i];
		if (!event->due)
			continue;
		event->due = false;
		event->happened++;
		event->last = t;
		event->spent = event->value_at < 0;
		const CalEventDef def = event->def;
		CalError own = {0};
		status = def.action ? def.action(def.user, sim, &own) : CAL_OK;
		if (status != CAL_OK)
			error_set(error, status, "%s%sevent \"%s\", t = %.9g s: %s", def.place ? def.place : "",
			          def.place ? ": " : "", def.name, t, own.text[0] ? own.text : cal_status_text(status));
	}
	return status;
}

/* What is due is decided before the first action; what the actions make due follows in rounds. */
CalStatus events_happen(CalSim *sim, bool crossed, CalError *error) {
	enum { MOST_ROUNDS = 1000 };
	CalStatus status = note_values(sim, crossed);
	sim->formulation.due = true; // an event may have changed speeds, and what is prescribed
	if (status == CAL_OK && crossed)
		status = device_events(sim);
	mark_first(sim, crossed);
	for (int round = 0, count = 1; status == CAL_OK && count > 0; round++) {
		if (round == MOST_ROUNDS)
			return error_set(
				error, CAL_NOT_CONVERGED,
				"t = %.9g s: events make each other happen without end at this instant; give one of them a "
				"delay",
				sim->groups[0].state.t);
		status = call_action(sim, error);
		if (status == CAL_OK)
			status = mark_next(sim, &count);
	}
	return status;
}

double events_next_time(const CalSim *sim, double t) {
	double next = INFINITY;
	for (int i = 0; i < sim->event_count; i++) {
		const double time = sim->events[i].value_at < 0 ? event_time(sim, &sim->events[i]) : INFINITY;
		if (time > t)
			next = fmin(next, time);
	}
	return next;
}
