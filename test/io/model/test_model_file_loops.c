// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_loops.c — loops in native files: every type and key, what is refused and where, a run that starts
 * from an open state, and one that cannot be closed.
 */
#include <math.h>

#include <calder/calder.h>
#include "support/model_file_support.h"

#define HEAD                                                         \
	"calder: 1\n"                                                    \
	"bodies:\n"                                                      \
	"  a: {mass: 1, box: [1, 1, 1], nodes: {end: [1, 0, 0]}}\n"      \
	"  b: {mass: 1, box: [1, 1, 1], nodes: {end: [1, 0, 0]}}\n"      \
	"joints:\n"                                                      \
	"  ja: {type: revolute, to: a, axis: z}\n"                       \
	"  jb: {type: revolute, to: b, axis: z, inboard: [0.5, 0, 0]}\n" \
	"loops:\n"

/* What a type needs beyond its sides. */
static const char *needs(CalLoopType type) {
	switch (type) {
	case CAL_LOOP_DISTANCE:
		return ", length: 30 cm";
	case CAL_LOOP_SCREW:
		return ", pitch: 5 mm/rev";
	case CAL_LOOP_DISK:
	case CAL_LOOP_BALL:
		return ", radius: 20 cm";
	case CAL_LOOP_DIRECTIONS:
		return ", translation: xz, rotation: y";
	case CAL_LOOP_COUPLING:
		return ", terms: [{joint: ja, factor: 2}, {joint: jb, dof: 1, factor: -1}]";
	default:
		return "";
	}
}

static void every_type_is_read(void **state) {
	(void)state;
	for (int type = 0; type < CAL_LOOP_TYPE_COUNT; type++) {
		char text[1000];
		const int coupling = type == CAL_LOOP_COUPLING, alone = type == CAL_LOOP_KNIFE || coupling;
		snprintf(text, sizeof text, HEAD "  tie: {type: %s%s%s%s, stabilisation: {frequency: 10}}\n",
		         cal_loop_type_name((CalLoopType)type), coupling ? "" : ", from: a/end, a: {at: [0, 1 mm, 0]}",
		         alone ? "" : ", to: b/end, b: [0, 0, 2 mm], applied_wrench: {force: [0, 0, 1 kN]}",
		         needs((CalLoopType)type));
		CalSetup *file = file_of(text);
		CalModel *model = model_of(file, NULL);
		CalLoopInfo info;
		assert_int_equal(cal_model_loop_count(model), 1);
		assert_int_equal(cal_model_loop(model, cal_model_find_loop(model, "tie"), &info), CAL_OK);
		assert_int_equal(info.type, type);
		assert_int_equal(info.node_a, coupling ? -1 : cal_model_find_node(model, "a/end"));
		assert_int_equal(info.node_b, alone ? -1 : cal_model_find_node(model, "b/end"));
		assert_near(info.a.position.y, coupling ? 0 : 1e-3, 1e-18);
		assert_near(info.b.position.z, alone ? 0 : 2e-3, 1e-18);
		assert_true(info.frequency == 10 && info.damping == 1 && !info.driven);
		cal_model_destroy(model);
		cal_setup_destroy(file);
	}
}

/* Residuals of two rods at given angles: what the values of the file have become. */
static void residuals(const char *loop, double t, double qa, double qb, int rows, double *g) {
	char text[1200];
	CalWork *work;
	CalState s;
	CalBodyInfo a, b;
	snprintf(text, sizeof text, HEAD "  tie: %s\n", loop);
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_model_row_count(model), rows);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	assert_int_equal(cal_model_body(model, cal_model_find_body(model, "a"), &a), CAL_OK);
	assert_int_equal(cal_model_body(model, cal_model_find_body(model, "b"), &b), CAL_OK);
	s.t = t, s.q[a.q] = qa, s.q[b.q] = qb;
	assert_int_equal(cal_loop_residual(model, &s, work, g, NULL), CAL_OK);
	cal_state_destroy(&s);
	cal_work_destroy(work);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

static void values_arrive_in_their_rows(void **state) {
	(void)state;
	double g[6];
	residuals("{type: coupling, terms: [{joint: ja, factor: 2}, {joint: jb, factor: -3}], drive: {offset: 0.25}}", 0,
	          0.5, 0.1, 1, g);
	assert_near(g[0], 2 * 0.5 - 3 * 0.1 - 0.25, 1e-15);
	residuals(
		"{type: angle, to: b, drive: {offset: 10 deg, speed: 30 deg/s, amplitude: 0.1, frequency: 2, phase: 0.3}}", 2,
		0, 1.5, 1, g);
	assert_near(g[0], 1.5 - acos(-1) * 70 / 180 - 0.1 * sin(4.3), 1e-15);
	residuals("{type: revolute, from: a, to: b, drive: [{row: dz, offset: 3 mm}, {row: rx, offset: 1 deg}]}", 0, 0, 0,
	          5, g);
	assert_near(g[0], 0.5, 1e-15);
	assert_near(g[2], -3e-3, 1e-18);
	assert_near(g[3], -acos(-1) / 180, 1e-17);
	residuals("{type: screw, to: b, b: [0, 0, 1 cm], pitch: 2 cm/rad}", 0, 0, 0.25, 5, g);
	assert_near(g[2], 0.01 - 0.02 * 0.25, 1e-16);
	residuals("{type: directions, from: a, to: b, translation: x, rotation: z}", 0, 0, 0.25, 2, g);
	assert_near(g[0], 0.5, 1e-15);
	assert_near(g[1], -sin(0.25), 1e-15);
	residuals("{type: ball, to: b, b: [0, 0, 2 cm], radius: 5 mm}", 0, 0, 0, 3, g);
	assert_near(g[2], 0.015, 1e-17);
}

/* "known" is the older name of "applied_wrench": it counts, with a warning, and is written by the new name. */
static void known_is_the_older_name_of_an_applied_wrench(void **state) {
	(void)state;
	for (int older = 0; older < 2; older++) {
		char text[400], written[2000] = "";
		CalError error = {0};
		snprintf(text, sizeof text,
		         "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: free, to: a}}\n"
		         "loops: {l: {type: revolute, to: a, %s: {force: [0, 0, 1 kN], moment: [1, 2, 3]}}}\n",
		         older ? "known" : "applied_wrench");
		CalSetup *file = file_of(text);
		const CalLoopDef *def = cal_desc_loop(cal_setup_desc(file), (CalLoopId){1}, NULL, NULL);
		assert_true(def->applied_wrench.linear.z == 1000 && def->applied_wrench.angular.y == 2);
		assert_int_equal(cal_setup_warning_count(file), older);
		if (older)
			assert_non_null(strstr(cal_setup_warning(file, 0), "\"known\" is now called \"applied_wrench\""));
		FILE *stream = tmpfile();
		assert_non_null(stream);
		assert_int_equal(cal_model_file_write(file, stream, &error), CAL_OK);
		rewind(stream);
		assert_true(fread(written, 1, sizeof written - 1, stream) > 0);
		assert_non_null(strstr(written, "applied_wrench: {force: [0, 0, 1000]"));
		fclose(stream);
		cal_setup_destroy(file);
	}
}

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	static const struct {
		const char *loop, *place, *text;
	} bad[] = {
		{"{type: revolut, from: a, to: b}", "t.yaml:9:15", "did you mean \"revolute\""},
		{"{type: weld, from: a, to: b/ned}", "t.yaml:9:34", "ned"},
		{"{type: weld, from: a, to: b, length: 1}", "t.yaml:9:", "a weld loop has no \"length\""},
		{"{type: distance, from: a, to: b}", "t.yaml:9:", "needs the key \"length\""},
		{"{type: knife, from: a, to: b}", "t.yaml:9:", "a knife has one side"},
		{"{type: weld, from: a, to: b, pitch: 1}", "t.yaml:9:", "a weld loop has no \"pitch\""},
		{"{type: screw, from: a, to: b}", "t.yaml:9:", "a screw loop needs the key \"pitch\""},
		{"{type: screw, from: a, to: b, pitch: 0}", "t.yaml:9:", "a screw needs a finite pitch other than zero"},
		{"{type: disk, from: a, to: b}", "t.yaml:9:", "a disk loop needs the key \"radius\""},
		{"{type: ball, from: a, to: b, radius: 1 kg}", "t.yaml:9:45", "length"},
		{"{type: directions, from: a, to: b}", "t.yaml:9:", "a directions loop locks axes"},
		{"{type: directions, from: a, to: b, translation: xw}", "t.yaml:9:56", "names axes of A"},
		{"{type: coupling, from: a}", "t.yaml:9:", "a coupling loop has no \"from\""},
		{"{type: coupling}", "t.yaml:9:", "a coupling loop needs the key \"terms\""},
		{"{type: coupling, terms: []}", "t.yaml:9:", "1 to 4 terms, not 0"},
		{"{type: coupling, terms: [{joint: jc, factor: 1}]}", "t.yaml:9:41", "unknown joint \"jc\""},
		{"{type: coupling, terms: [{joint: ja, dof: 2, factor: 1}]}", "t.yaml:9:50", "a whole number from 1 to 1"},
		{"{type: coupling, terms: [{joint: ja, mode: 1, factor: 1}]}",
	     "t.yaml:9:", "a degree of freedom of a \"joint\""},
		{"{type: coupling, terms: [{body: a, factor: 1}]}", "t.yaml:9:", "has no modes to couple"},
		{"{type: coupling, terms: [{joint: ja, factor: 0}]}", "t.yaml:9:", "the factor of term 1 is 0"},
		{"{type: coupling, terms: [{joint: ja, factor: 1}, {joint: ja, factor: 2}]}", "t.yaml:9:", "add their factors"},
		{"{type: weld, from: a, to: b, drive: {speed: 1}}", "t.yaml:9:", "which \"row\" is driven: dx, dy, dz, rx"},
		{"{type: weld, from: a, to: b, drive: {row: qx}}", "t.yaml:9:50", "its rows are dx, dy, dz, rx, ry, rz"},
		{"{type: weld, from: a, to: b, drive: {row: rx, speed: 1 m/s}}", "t.yaml:9:61", "an angular speed"},
		{"{type: weld, from: a, to: b, drive: [{row: rx}, {row: rx}]}", "t.yaml:9:", "row rx is driven twice"},
		{"{type: weld, from: a, to: b, stabilisation: {damping: 1}}", "t.yaml:9:", "\"frequency\""},
		{"{type: knife, from: a, applied_wrench: {force: [1, 0, 0]}}", "t.yaml:9:", "remove \"applied_wrench\""},
		{"{type: knife, from: a, known: {force: [1, 0, 0]}}", "t.yaml:9:", "remove \"applied_wrench\""},
		{"{type: weld, to: a, known: {force: [1, 0, 0]}, applied_wrench: {force: [1, 0, 0]}}",
	     "t.yaml:9:", "former name of \"applied_wrench\""},
		{"{type: weld}", "t.yaml:9:", "both sides are on the ground"},
		{"{type: weld, form: a}", "t.yaml:9:", "did you mean \"from\""},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[1000];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, HEAD "  tie: %s\n", bad[i].loop);
		assert_int_not_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_OK);
		if (!strstr(error.text, bad[i].place) || !strstr(error.text, bad[i].text))
			fail_msg("%s\n  should say %s ... %s", error.text, bad[i].place, bad[i].text);
	}
}

/* What depends on the whole tree: the compiler reports it, with the place of the loop. */
static void mistakes_of_the_tree_are_reported(void **state) {
	(void)state;
	static const struct {
		const char *loop, *text;
	} bad[] = {
		{"{type: weld, from: a, to: a/end}", "both of its sides are on the rigid body \"a\""},
		{"{type: coupling, terms: [{joint: jb, factor: 1}, {joint: jc, dof: 2, factor: 1}]}",
	     "term 2 names speed 1 of joint \"jc\" (spherical)"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[1000];
		CalModel *model = NULL;
		CalError error = {0};
		snprintf(text, sizeof text,
		         "calder: 1\n"
		         "bodies:\n"
		         "  a: {mass: 1, box: [1, 1, 1], nodes: {end: [1, 0, 0]}}\n"
		         "  b: {mass: 1, box: [1, 1, 1]}\n"
		         "  c: {mass: 1, box: [1, 1, 1]}\n"
		         "joints: {ja: {type: revolute, to: a}, jb: {type: revolute, to: b}, jc: {type: spherical, to: c}}\n"
		         "loops:\n"
		         "  tie: %s\n",
		         bad[i].loop);
		CalSetup *file = file_of(text);
		assert_int_equal(cal_model_compile(cal_setup_desc(file), NULL, &model, &error), CAL_ERR_MODEL);
		if (!strstr(error.text, "t.yaml:8:3: loop \"tie\": ") || !strstr(error.text, bad[i].text))
			fail_msg("%s\n  should say %s", error.text, bad[i].text);
		cal_setup_destroy(file);
	}
}

/* Rods from two pivots 0.5 m apart, tips 0.3 m apart: closed from an open state, energy kept; 3 m apart is too far. */
static void a_run_closes_its_loops(void **state) {
	(void)state;
	for (int far = 0; far < 2; far++) {
		char text[1000];
		CalError error = {0};
		CalSim *sim = NULL;
		const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}, .assembly_limit = INFINITY};
		snprintf(text, sizeof text,
		         HEAD "  tie: {type: distance, from: a/end, to: b/end, length: %s}\n"
		              "state: {ja: {q: 1, u: 2}, jb: {q: 0.9}}\n",
		         far ? "3 m" : "0.3 m");
		CalSetup *file = file_of(text);
		assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
		assert_int_equal(cal_setup_apply_state(file, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error), CAL_OK);
		const CalStatus status = cal_sim_restart(sim, &error);
		if (far) {
			assert_int_equal(status, CAL_NOT_CONVERGED);
			assert_non_null(strstr(error.text, "tie.distance is off by"));
		} else {
			CalWork *work;
			double g;
			assert_int_equal(status, CAL_OK);
			assert_int_equal(cal_sim_advance(sim, 1, &error), CAL_OK);
			assert_int_equal(cal_work_create(cal_sim_model(sim, 0), &work), CAL_OK);
			assert_int_equal(cal_loop_residual(cal_sim_model(sim, 0), cal_sim_state(sim, 0), work, &g, NULL), CAL_OK);
			assert_true(fabs(g) < 1e-12);
			cal_work_destroy(work);
		}
		cal_sim_destroy(sim);
		cal_setup_destroy(file);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_read),
		cmocka_unit_test(values_arrive_in_their_rows),
		cmocka_unit_test(known_is_the_older_name_of_an_applied_wrench),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(mistakes_of_the_tree_are_reported),
		cmocka_unit_test(a_run_closes_its_loops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
