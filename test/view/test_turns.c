// SPDX-License-Identifier: Apache-2.0
/*
 * test_turns.c — replays of bodies that turn far between two records: frames are kept where they are needed, velocities go
 * along, and a badge names the bodies whose motion between frames is a guess.
 */
#define _GNU_SOURCE // open_memstream, mkstemps

#include <math.h>
#include <unistd.h>

#include <calder/replay.h>
#include <calder/results.h>

#include "io/yaml/yaml_tree.h"
#include "support/model_file_support.h"
#include "view/turns.h"

static const char model[] = "calder: 1\n"
							"bodies: {rotor: {mass: 1, inertia: [1, 1, 1]}, still: {mass: 1, inertia: [1, 1, 1]}}\n"
							"joints: {a: {type: free, to: rotor}, b: {type: free, to: still}}\n";

/* A body that turns about z, at `arm` from it, by an angle that is known at every time; `still` stands where it is. */
typedef struct Motion {
	double step;  // [s] between rows
	int rows;     //
	double rate;  // [rad/s]
	double swing; // [rad] of a slow oscillation besides, with 1 rad/s
	double arm;   // [m]
	bool velocities;
} Motion;

static double angle_of(const Motion *m, double t) { return m->rate * t + m->swing * sin(t); }
static double rate_of(const Motion *m, double t) { return m->rate + m->swing * cos(t); }

enum { COLUMNS = 1 + 2 * 13 };

static void fill_row(const Motion *m, double t, double row[COLUMNS]) {
	const double angle = angle_of(m, t), rate = rate_of(m, t), x = m->arm * cos(angle), y = m->arm * sin(angle);
	const double rotor[13] = {x, y, 0, cos(angle / 2), 0, 0, sin(angle / 2), -rate * y, rate * x, 0, 0, 0, rate};
	const double still[13] = {5, 0, 0, 1};
	row[0] = t;
	memcpy(row + 1, rotor, sizeof rotor);
	memcpy(row + 14, still, sizeof still);
}

static void record(const char *path, const Motion *m) {
	static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"};
	static const char *const bodies[] = {"rotor", "still"};
	char names[COLUMNS][40] = {"t"};
	CalResultsColumn columns[COLUMNS];
	for (int i = 0; i < COLUMNS; i++) {
		const int part = (i - 1) % 13;
		if (i > 0)
			snprintf(names[i], sizeof names[i], "%s:%s:%s",
			         part < 7        ? "pose"
			         : m->velocities ? "velocity"
			                         : "other",
			         bodies[(i - 1) / 13], parts[part]);
		columns[i] = (CalResultsColumn){names[i], "1"};
	}
	const CalResultsStream stream = {.name = "replay", .path = path, .columns = columns, .column_count = COLUMNS};
	const CalResultsOptions options = {
		.streams = &stream, .stream_count = 1, .title = "", .model_name = "m.yaml", .model_text = model};
	CalResults *results = NULL;
	CalError error = {0};
	if (cal_results_create(&options, &results, &error) != CAL_OK)
		fail_msg("%s", error.text);
	for (int i = 0; i < m->rows; i++) {
		double row[COLUMNS];
		fill_row(m, m->step * i, row);
		assert_int_equal(cal_results_put(results, 0, row), CAL_OK);
	}
	assert_int_equal(cal_results_finish(results, &error), CAL_OK);
	cal_results_destroy(results);
}

/* What a document says. */
typedef struct Shown {
	int frames;
	int velocities; // bodies that have theirs in it
	bool badge;
	char text[800];
} Shown;

static Shown show(const Motion *m, int max_frames) {
	char path[] = "turns-XXXXXX.h5", *text = NULL;
	size_t length = 0;
	CalError error = {0};
	Tree *tree;
	close(mkstemps(path, 3));
	record(path, m);
	FILE *out = open_memstream(&text, &length);
	if (cal_replay_write(path, &(CalReplayOptions){.max_frames = max_frames}, out, &error) != CAL_OK)
		fail_msg("%s", error.text);
	fclose(out);
	if (tree_parse(text, length, "document", NULL, &tree, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const TreeNode *root = tree_root(tree), *frames = tree_get(root, "frames"), *badges = tree_get(root, "badges");
	Shown shown = {.frames = atoi(tree_get(tree_get(frames, "t"), "shape")->items[0]->text),
	               .velocities = tree_get(frames, "velocity")->count};
	for (int i = 0; i < badges->count; i++)
		if (strcmp(tree_get(badges->items[i], "label")->text, "Turns") == 0) {
			shown.badge = true;
			snprintf(shown.text, sizeof shown.text, "%s", tree_get(badges->items[i], "text")->text);
		}
	assert_int_equal(tree_get(root, "signals")->count, m->velocities ? 0 : 12); // velocities are no signals here
	tree_destroy(tree);
	free(text);
	unlink(path);
	return shown;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

/* At 3 rad/s rows 0.25 s apart turn by 0.75 rad: two of them are less than a quarter turn, three are more. */
static void fast_bodies_keep_their_frames(void **state) {
	(void)state;
	const Motion fast = {.step = 0.25, .rows = 9001, .rate = 3, .arm = 1, .velocities = true};
	const Shown shown = show(&fast, 0);
	assert_int_equal(shown.frames, 4501);
	assert_int_equal(shown.velocities, 1); // the other stands still
	assert_false(shown.badge);
	Motion slow = fast;
	slow.rate = 0.1;
	assert_int_equal(show(&slow, 0).frames, 2251);  // thinned out to less than 3000
	assert_int_equal(show(&fast, 100).frames, 100); // as asked for
}

/* About its own axis a constant rate follows from the velocities, however far it turns between frames. */
static void a_rotor_turns_by_its_angular_velocity(void **state) {
	(void)state;
	const Motion rotor = {.step = 2, .rows = 50, .rate = 40, .velocities = true};
	const Shown shown = show(&rotor, 0);
	assert_false(shown.badge);
	assert_int_equal(shown.velocities, 1);
	Motion thin = rotor;
	thin.rows = 5000;
	assert_false(show(&thin, 50).badge);
}

static void what_frames_do_not_resolve_has_a_badge(void **state) {
	(void)state;
	const Motion cases[] = {
		{.step = 2, .rows = 50, .rate = 3, .arm = 1, .velocities = true}, // its place goes round between frames
		{.step = 2, .rows = 50, .rate = 3, .velocities = false},          // whole turns are not in poses
		{.step = 6, .rows = 50, .swing = 4, .velocities = true},          // it turns back between frames
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const Shown shown = show(&cases[i], 0);
		assert_true(shown.badge);
		assert_non_null(strstr(shown.text, "rotor"));
		assert_null(strstr(shown.text, "still"));
		assert_non_null(strstr(shown.text, "--replay"));
	}
	// the same motion with rows that resolve it, but fewer frames than they would need
	const Motion resolved = {.step = 0.05, .rows = 4000, .swing = 4, .velocities = true};
	assert_false(show(&resolved, 0).badge);
	assert_true(show(&resolved, 30).badge);
	const Motion slow = {.step = 0.02, .rows = 1000, .rate = 1, .velocities = false};
	assert_false(show(&slow, 0).badge);
}

/* Against a reference in closed form: the residual is the angle less the mean rate times the interval, modulo a turn. */
static void residuals_are_what_the_rates_miss(void **state) {
	(void)state;
	const BodyColumns body = {.pose = 1, .velocity = 8};
	const Motion m = {.rate = 3, .swing = 1.5, .velocities = true};
	for (int i = 0; i < 40; i++) {
		const double t0 = 0.37 * i, t1 = t0 + 0.1 * (1 + i % 20);
		double from[COLUMNS], to[COLUMNS];
		fill_row(&m, t0, from);
		fill_row(&m, t1, to);
		const double mean = 0.5 * (t1 - t0) * (rate_of(&m, t0) + rate_of(&m, t1));
		const double left = fabs(remainder(angle_of(&m, t1) - angle_of(&m, t0) - mean, 2 * 3.14159265358979323846));
		assert_near(turns_residual(body, from, to), left, 1e-9);
		assert_near(turns_angle(body, from, to), fabs(mean), 1e-12);
	}
}

/* A body that sways to and fro between two rows: an even turn has it at rest, and is off by its amplitude half way. */
static void an_uneven_turn_is_noticed(void **state) {
	(void)state;
	const BodyColumns body = {.pose = 1, .velocity = 8};
	double from[COLUMNS] = {0}, to[COLUMNS] = {0};
	const double acceleration = 6, dt = 0.2; // from 0.6 to -0.6 rad/s: the angle rises by a (dt/2)^2/2 and is back
	to[0] = dt;
	from[body.velocity + 4] = acceleration * dt / 2;
	to[body.velocity + 4] = -acceleration * dt / 2;
	assert_near(turns_angle(body, from, to), 0, 1e-15);
	assert_near(turns_sway(body, from, to), acceleration * dt * dt / 8, 1e-15);
	to[body.velocity + 4] = from[body.velocity + 4];
	assert_near(turns_sway(body, from, to), 0, 1e-15);
	assert_near(turns_sway((BodyColumns){.pose = 1, .velocity = -1}, from, to), 0, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_bodies_keep_their_frames),
		cmocka_unit_test(a_rotor_turns_by_its_angular_velocity),
		cmocka_unit_test(what_frames_do_not_resolve_has_a_badge),
		cmocka_unit_test(residuals_are_what_the_rates_miss),
		cmocka_unit_test(an_uneven_turn_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
