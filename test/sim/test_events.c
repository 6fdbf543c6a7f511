// SPDX-License-Identifier: Apache-2.0
/*
 * test_events.c — events by C calls beyond single times and crossings: times that are asked for, levels at the start, what
 * actions make due at the same instant, an end in order.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <calder/calder.h>

#include "wheel.h"

typedef struct World {
	CalSim *sim;
	char log[400];
	int number;   // of the event that `when` is about
	double level; // that value_of_level() returns
} World;

static World world_create(void) { return (World){.sim = wheel_create(1)}; }

static CalStatus note(World *w, const char *what) {
	const size_t used = strlen(w->log);
	snprintf(w->log + used, sizeof w->log - used, "%.6g %s|", cal_sim_time(w->sim), what);
	return CAL_OK;
}

#define NOTE(word)                                                           \
	static CalStatus note_##word(void *user, CalSim *sim, CalError *error) { \
		(void)sim, (void)error;                                              \
		return note(user, #word);                                            \
	}
NOTE(tick)
NOTE(time)
NOTE(level)
NOTE(fallen)

/* At 0.25 s, then 0.5 s after each time, three times. */
static double three_times(void *user, const CalSim *sim) {
	const World *w = user;
	double last;
	const int64_t count = cal_sim_event_happened(sim, w->number, &last);
	return count == 0 ? 0.25 : count < 3 ? last + 0.5 : INFINITY;
}

static void an_event_may_say_when_it_is_next(void **state) {
	(void)state;
	World w = world_create();
	CalError error;
	const CalEventDef tick = {.name = "tick", .when = three_times, .action = note_tick, .user = &w};
	check_ok(0, cal_sim_add_event(w.sim, &tick, &w.number, &error));
	assert_string_equal(cal_sim_event_name(w.sim, w.number), "tick");
	assert_null(cal_sim_event_name(w.sim, w.number + 1));
	check_ok(0, cal_sim_advance(w.sim, 0.6, &error));
	check_ok(0, cal_sim_advance(w.sim, 3, &error));
	assert_string_equal(w.log, "0.25 tick|0.75 tick|1.25 tick|");
	cal_sim_destroy(w.sim);
}

static int value_of_level(void *user, CalEvalContext *context, double *value) {
	(void)context;
	*value = ((const World *)user)->level;
	return 0;
}

static CalStatus lower(void *user, CalSim *sim, CalError *error) {
	(void)sim, (void)error;
	((World *)user)->level = -1;
	return note(user, "lower");
}

static void levels_count_at_the_start_and_jumps_at_their_instant(void **state) {
	(void)state;
	World w = world_create();
	CalError error;
	const CalEventDef defs[] = {
		{.name = "fallen",
	     .value = value_of_level,
	     .direction = -1,
	     .once = 1,
	     .level = 1,
	     .action = note_fallen,
	     .user = &w},
		{.name = "level", .value = value_of_level, .direction = 1, .level = 1, .action = note_level, .user = &w},
		{.name = "none", .value = value_of_level, .direction = 1, .action = note_level, .user = &w},
		{.name = "lower", .time = 1, .action = lower, .user = &w},
		{.name = "time", .time = 1, .action = note_time, .user = &w},
	};
	w.level = 1;
	for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
		check_ok(0, cal_sim_add_event(w.sim, &defs[i], NULL, &error));
	check_ok(0, cal_sim_advance(w.sim, 2, &error));
	assert_string_equal(w.log, "0 level|1 lower|1 time|1 fallen|");
	cal_sim_destroy(w.sim);
}

static CalStatus stop(void *user, CalSim *sim, CalError *error) {
	(void)sim, (void)error;
	note(user, "stop");
	return CAL_STOPPED;
}

static void a_stop_is_an_end_in_order(void **state) {
	(void)state;
	World w = world_create();
	CalError error = {0};
	const CalEventDef defs[] = {{.name = "stop", .place = "x.yaml:3:1", .time = 1, .action = stop, .user = &w},
	                            {.name = "time", .time = 1, .action = note_time, .user = &w}};
	check_ok(0, cal_sim_add_event(w.sim, &defs[0], NULL, &error));
	check_ok(0, cal_sim_add_event(w.sim, &defs[1], NULL, &error));
	assert_int_equal(cal_sim_advance(w.sim, 2, &error), CAL_STOPPED);
	assert_string_equal(error.text, "x.yaml:3:1: event \"stop\", t = 1 s: an event stopped the run");
	assert_true(cal_sim_time(w.sim) == 1);
	check_ok(0, cal_sim_advance(w.sim, 2, &error)); // continues from there
	assert_string_equal(w.log, "1 stop|1 time|");
	const double q = cal_sim_state(w.sim, 0)->q[0], want = 2;
	check_close_scaled(0, "angle", 1, &q, &want, 1, 1e-14);
	cal_sim_destroy(w.sim);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_may_say_when_it_is_next),
		cmocka_unit_test(levels_count_at_the_start_and_jumps_at_their_instant),
		cmocka_unit_test(a_stop_is_an_end_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
