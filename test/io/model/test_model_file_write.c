// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_write.c — what is written reads back as the same: definitions field by field, forward dynamics to the
 * bit.
 *
 * Examples, and random systems with every type of joint and of loop; what a file cannot hold is refused by name.
 */
#include "desc_compare.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>

#include <calder/calder.h>

#include "support/random_loop.h"

/* ---- writing and reading ------------------------------------------------------------------------------ */

typedef struct Text {
	FILE *stream;
	char *text;
	size_t length;
} Text;

/* What has been written to the stream, ended by a zero. */
static void text_read(Text *t) {
	const long length = ftell(t->stream);
	assert_true(length >= 0);
	t->length = (size_t)length;
	t->text = calloc(t->length + 1, 1);
	assert_non_null(t->text);
	rewind(t->stream);
	assert_int_equal(fread(t->text, 1, t->length, t->stream), t->length);
	fclose(t->stream);
}

static Text desc_text(const CalDesc *desc) {
	Text t = {.stream = tmpfile()};
	CalError error = {0};
	assert_non_null(t.stream);
	if (cal_desc_write(desc, t.stream, &error) != CAL_OK)
		fail_msg("%s", error.text);
	text_read(&t);
	return t;
}

static CalSetup *text_parse(const Text *t, const char *name) {
	CalSetup *file = NULL;
	CalError error = {0};
	if (cal_model_file_parse(t->text, t->length, name, NULL, &file, &error) != CAL_OK)
		fail_msg("%s\n%s", error.text, t->length < 20000 ? t->text : "");
	return file;
}

/* ---- comparing dynamics ----------------------------------------------------------------------------------- */

/* The neutral state moved by at most size, with speeds up to 1. Modal coordinates of examples are in kg^1/2 m. */
typedef struct Sample {
	uint64_t seed;
	double size;
} Sample;

/* Accelerations of one group in a state; loops included. Caller frees. */
static double *accelerations(const CalDesc *desc, uint32_t group, Sample sample, int *count, CalStatus *status) {
	CalModel *model;
	CalState state;
	CalWork *work;
	CalError error = {0};
	const CalCompileOptions options = {.group = {group}};
	if (cal_model_compile(desc, &options, &model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	const int nu = *count = cal_model_u_count(model);
	double *step = calloc((size_t)nu + 1, sizeof *step), *udot = calloc((size_t)nu + 1, sizeof *udot);
	assert_true(step && udot);
	Rng rng = rng_make(sample.seed);
	for (int i = 0; i < nu; i++) {
		step[i] = rng_uniform(&rng, -sample.size, sample.size);
		state.u[i] = rng_uniform(&rng, -1, 1);
	}
	state.t = 0.7;
	cal_config_integrate(model, state.q, step, state.q);
	const CalInput input = {.tau = step};
	*status = cal_forward_dynamics(model, &state, &input, work, udot);
	free(step);
	cal_work_destroy(work);
	cal_state_destroy(&state);
	cal_model_destroy(model);
	return udot;
}

static bool has_bodies(const CalDesc *desc, uint32_t group) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_body_count(desc); i++) {
		if (cal_desc_body(desc, (CalBodyId){i})->group.value == group)
			return true;
	}
	return false;
}

static void compare_dynamics(const CalDesc *a, const CalDesc *b, Sample sample) {
	for (uint32_t group = 1; group <= (uint32_t)cal_desc_group_count(a); group++) {
		int m, n;
		CalStatus p, q;
		if (!has_bodies(a, group))
			continue;
		double *x = accelerations(a, group, sample, &m, &p), *y = accelerations(b, group, sample, &n, &q);
		assert_int_equal(m, n);
		assert_int_equal(p, q);
		if (p != CAL_OK)
			fail_msg("group \"%s\" of %s: %s", cal_desc_group(a, (CalGroupId){group})->name,
			         cal_desc_body(a, (CalBodyId){1})->place, cal_status_text(p));
		assert_array(x, y, (size_t)m, "the acceleration", cal_desc_group(a, (CalGroupId){group})->name);
		free(x);
		free(y);
	}
}

/* Written, read, compared; and written again it is the same text. */
static void round_trip(const CalDesc *desc, Sample sample) {
	Text text = desc_text(desc);
	CalSetup *file = text_parse(&text, "written.yaml");
	compare_desc(desc, cal_setup_desc(file));
	compare_dynamics(desc, cal_setup_desc(file), sample);
	Text again = desc_text(cal_setup_desc(file));
	assert_string_equal(text.text, again.text);
	cal_setup_destroy(file);
	free(text.text);
	free(again.text);
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void examples_come_back(void **state) {
	(void)state;
	DIR *folder = opendir(SOURCE_DIR "/examples");
	assert_non_null(folder);
	int count = 0;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		const char *dot = strrchr(entry->d_name, '.');
		char path[512];
		CalSetup *file;
		CalError error = {0};
		if (!dot || strcmp(dot, ".yaml") != 0)
			continue;
		snprintf(path, sizeof path, SOURCE_DIR "/examples/%s", entry->d_name);
		if (cal_model_file_read(path, NULL, &file, &error) != CAL_OK)
			fail_msg("%s", error.text);
		round_trip(cal_setup_desc(file), (Sample){5, 1e-3});
		cal_setup_destroy(file);
		count++;
	}
	closedir(folder);
	assert_true(count >= 19);
}

/* With title, state, loads, devices and run settings. */
static void whole_files_come_back(void **state) {
	(void)state;
	static const char *const names[] = {"pendulum", "slew", "flexible_arm", "stewart", "heavy_top"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[512];
		CalSetup *file;
		CalError error = {0};
		snprintf(path, sizeof path, SOURCE_DIR "/examples/%s.yaml", names[i]);
		assert_int_equal(cal_model_file_read(path, NULL, &file, &error), CAL_OK);
		Text text = {.stream = tmpfile()};
		assert_int_equal(cal_model_file_write(file, text.stream, &error), CAL_OK);
		text_read(&text);
		CalSetup *again = text_parse(&text, path);
		const CalRunSettings p = cal_setup_run(file), q = cal_setup_run(again);
		assert_string_equal(p.title, q.title);
		assert_true(p.duration == q.duration && p.method.method == q.method.method);
		assert_int_equal(p.stream_count, q.stream_count);
		assert_int_equal(cal_setup_device_count(file), cal_setup_device_count(again));
		CalModel *a = model_of(file, NULL), *b = model_of(again, NULL);
		CalState x, y;
		CalSetupLoads *f, *g;
		assert_int_equal(cal_state_create(a, &x), CAL_OK);
		assert_int_equal(cal_state_create(b, &y), CAL_OK);
		assert_int_equal(cal_setup_apply_state(file, a, &x, &error), CAL_OK);
		assert_int_equal(cal_setup_apply_state(again, b, &y, &error), CAL_OK);
		assert_array(x.q, y.q, (size_t)cal_model_q_count(a), "q", names[i]);
		assert_array(x.u, y.u, (size_t)cal_model_u_count(a), "u", names[i]);
		assert_int_equal(cal_setup_loads_create(file, a, &f, &error), CAL_OK);
		assert_int_equal(cal_setup_loads_create(again, b, &g, &error), CAL_OK);
		assert_true(cal_setup_loads_next_switch(f, 0) == cal_setup_loads_next_switch(g, 0));
		cal_setup_loads_destroy(f);
		cal_setup_loads_destroy(g);
		cal_state_destroy(&x);
		cal_state_destroy(&y);
		cal_model_destroy(a);
		cal_model_destroy(b);
		cal_setup_destroy(again);
		cal_setup_destroy(file);
		free(text.text);
	}
}

enum { CASES = 60, NO_USER = TREE_ANY_JOINT & ~(1 << CAL_JOINT_USER) };

/* Every type of joint, springs, rotors, prescribed dofs, flexible bodies. */
static void random_trees_come_back(void **state) {
	(void)state;
	unsigned seen = 0;
	for (uint64_t k = 0; k < CASES; k++) {
		const uint64_t seed = test_seed() + k;
		TreeOptions options = k % 2 ? tree_flexible(seed) : tree_any(seed);
		options.geometric = k % 4 == 1;
		options.joints = NO_USER;
		options.prescribed = 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_AUTO);
		for (uint32_t i = 1; i <= (uint32_t)cal_desc_joint_count(f->desc); i++)
			seen |= 1u << cal_desc_joint(f->desc, (CalJointId){i}, NULL, NULL)->type;
		round_trip(f->desc, (Sample){seed, 0.3});
		fixture_destroy(f);
	}
	assert_int_equal(seen, NO_USER);
}

/* Every type of loop, with drives, applied wrenches and stabilisation. */
static void random_loops_come_back(void **state) {
	(void)state;
	unsigned seen = 0;
	int driven = 0, known = 0, stabilised = 0;
	for (uint64_t k = 0; k < 2 * CASES; k++) {
		const uint64_t seed = test_seed() + k;
		LoopOptions options = loop_any(seed);
		options.tree.joints = NO_USER;
		options.driven = options.known = options.stabilised = 1;
		Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_AUTO);
		fixture_close_loops(f);
		for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(f->desc); i++) {
			const CalLoopDef *def = cal_desc_loop(f->desc, (CalLoopId){i}, NULL, NULL);
			seen |= 1u << def->type;
			driven += def->drive[0].offset != 0 || def->drive[0].amplitude != 0;
			known += def->applied_wrench.linear.x != 0;
			stabilised += def->frequency > 0;
		}
		round_trip(f->desc, (Sample){seed, 0.3});
		fixture_destroy(f);
	}
	assert_int_equal(seen, (1u << CAL_LOOP_TYPE_COUNT) - 1);
	assert_true(driven > 10 && known > 10 && stabilised > 10);
}

static CalDesc *desc_of(const CalBodyDef *body, CalBodyId *id) {
	CalDesc *desc;
	CalError error;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_desc_add_body(desc, body, id, &error), CAL_OK);
	return desc;
}

/* Axes in any direction, planar joints with almost parallel ones: what is stored stays the same when read again. */
static void axes_come_back(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	int refused = 0; // axes that are too close to each other
	for (int k = 0; k < 3000; k++) {
		const CalBodyDef body = {.name = "b", .mass = 1};
		CalBodyId id;
		CalDesc *desc = desc_of(&body, &id);
		CalJointDef def = cal_joint_def(k % 2 ? CAL_JOINT_PLANAR : CAL_JOINT_UNIVERSAL);
		def.name = "j";
		def.axis = rng_vector(&rng, 3);
		def.axis2 = rng_vector(&rng, 1);
		if (k % 3 == 0) {
			const double near = pow(10, rng_uniform(&rng, -5, -1));
			def.axis2 = (CalVec3){def.axis.x + near * def.axis2.x, def.axis.y + near * def.axis2.y,
			                      def.axis.z + near * def.axis2.z};
		}
		def.inboard = rng_placement(&rng);
		CalError error = {0};
		if (cal_desc_attach(desc, (CalNodeId){0}, &def, cal_desc_body_node(desc, id), NULL, &error) != CAL_OK) {
			assert_non_null(strstr(error.text, "parallel"));
			refused++;
		}
		Text text = desc_text(desc);
		CalSetup *file = text_parse(&text, "written.yaml");
		compare_desc(desc, cal_setup_desc(file));
		cal_setup_destroy(file);
		cal_desc_destroy(desc);
		free(text.text);
	}
	assert_true(refused < 100);
}

/* Groups, the ground's nodes, names that need quotes, numbers at the ends of the range, the sign of zero. */
static void odd_names_and_numbers_come_back(void **state) {
	(void)state;
	static const char *const names[] = {
		"yes", "null", "a: b", "# x", "- y", "*z", "Größe \\n", " 1 ", "[k]", "x'y", "\x7F", "a\xE2\x80\xA8 b", "<<"};
	CalBodyId id;
	CalNodeId node;
	CalGroupId group;
	CalError error;
	const CalBodyDef first = {.name = "~",
	                          .mass = 5e-324,
	                          .com = {-0.0, 9.9999999999999993e49, 0.1},
	                          .inertia = {{{1, 1e-300, 0}, {1e-300, 1, -0.0}, {0, -0.0, 1. / 3}}},
	                          .idealized = 1};
	CalDesc *desc = desc_of(&first, &id);
	const CalGroupDef space = {.name = "off", .gravity = {0, 0, -1. / 3}};
	assert_int_equal(cal_desc_add_group(desc, &space, &group, &error), CAL_OK);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const CalBodyDef body = {.name = names[i], .group = group};
		CalNodeDef on = cal_node_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
		assert_int_equal(cal_desc_add_body(desc, &body, &id, &error), CAL_OK);
		on.name = joint.name = names[i];
		assert_int_equal(cal_desc_add_node(desc, (CalBodyId){0}, &on, &node, &error), CAL_OK);
		on.placement.position.x = (double)i / 7;
		CalNodeId far;
		assert_int_equal(cal_desc_add_node(desc, id, &on, &far, &error), CAL_OK);
		assert_int_equal(cal_desc_attach(desc, node, &joint, far, NULL, &error), CAL_OK);
	}
	Text text = desc_text(desc);
	CalSetup *file = text_parse(&text, "written.yaml");
	compare_desc(desc, cal_setup_desc(file));
	cal_setup_destroy(file);
	cal_desc_destroy(desc);
	free(text.text);
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

/* Refused with a message that holds all of these words, and nothing written; the description is destroyed. */
static void assert_refused(CalDesc *desc, const char *object, const char *why) {
	FILE *out = tmpfile();
	CalError error = {0};
	assert_int_equal(cal_desc_write(desc, out, &error), CAL_ERR_UNSUPPORTED);
	if (!strstr(error.text, object) || !strstr(error.text, why))
		fail_msg("\"%s\" lacks %s or %s", error.text, object, why);
	assert_int_equal(ftell(out), 0);
	fclose(out);
	cal_desc_destroy(desc);
}

static void attach(CalDesc *desc, CalBodyId body, const CalJointDef *def) {
	CalError error = {0};
	if (cal_desc_attach(desc, (CalNodeId){0}, def, cal_desc_body_node(desc, body), NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static void drive(const void *user, double t, double *value, double *rate, double *acceleration) {
	(void)user;
	*value = t, *rate = 1, *acceleration = 0;
}

static void what_a_file_cannot_hold_is_refused(void **state) {
	(void)state;
	CalBodyId id;
	CalBodyDef body = {.name = "arm", .mass = 1};
	CalDesc *desc = desc_of(&body, &id);
	CalJointDef joint = cal_joint_def(CAL_JOINT_USER);
	joint.name = "cam";
	joint.ops = user_joint_ops(USER_SLIDER);
	attach(desc, id, &joint);
	assert_refused(desc, "joint \"cam\"", "C functions");

	desc = desc_of(&body, &id);
	joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	joint.name = "hinge";
	attach(desc, id, &joint);
	CalLoopDef loop = cal_loop_def(CAL_LOOP_ANGLE);
	loop.name = "motor";
	loop.drive[0].fn = drive;
	assert_int_equal(cal_desc_close_loop(desc, (CalNodeId){0}, &loop, cal_desc_body_node(desc, id), NULL, NULL),
	                 CAL_OK);
	assert_refused(desc, "loop \"motor\"", "C function");

	desc = desc_of(&body, &id);
	joint.dof[0].damping = -1;
	attach(desc, id, &joint);
	assert_refused(desc, "joint \"hinge\"", "negative");

	desc = desc_of(&body, &id);
	joint = cal_joint_def(CAL_JOINT_WELD);
	joint.name = "left, right";
	attach(desc, id, &joint);
	assert_refused(desc, "joint \"left, right\"", "rename");

	body.name = "caf\xE9"; // Latin-1
	assert_refused(desc_of(&body, &id), "body", "UTF-8");
	body.name = "skew";
	body.inertia.m[0][1] = 0.1;
	assert_refused(desc_of(&body, &id), "body \"skew\"", "not symmetric");
}

/* A coupling names a joint: a body that none carries cannot be named. */
static void terms_without_a_joint_are_refused(void **state) {
	(void)state;
	CalBodyId id;
	const CalBodyDef body = {.name = "lost", .mass = 1};
	CalDesc *desc = desc_of(&body, &id);
	CalLoopDef loop = cal_loop_def(CAL_LOOP_COUPLING);
	loop.name = "gear";
	loop.term_count = 1;
	loop.term[0] = (CalLoopTerm){id, 0, 2};
	assert_int_equal(cal_desc_close_loop(desc, (CalNodeId){0}, &loop, (CalNodeId){0}, NULL, NULL), CAL_OK);
	assert_refused(desc, "loop \"gear\"", "\"lost\"");
}

static void bad_arguments_are_refused(void **state) {
	(void)state;
	CalError error = {0};
	CalBodyId id;
	const CalBodyDef body = {.name = "arm", .mass = 1};
	CalDesc *desc = desc_of(&body, &id);
	assert_int_equal(cal_desc_write(NULL, stdout, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_write(desc, NULL, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_model_file_write(NULL, stdout, &error), CAL_ERR_ARGUMENT);
	FILE *full = fopen("/dev/full", "w");
	if (full) {
		assert_int_equal(cal_desc_write(desc, full, &error), CAL_ERR_IO);
		fclose(full);
	}
	assert_null(cal_desc_group(desc, (CalGroupId){2}));
	assert_null(cal_desc_body(desc, (CalBodyId){0}));
	assert_null(cal_desc_node(desc, (CalNodeId){0}, NULL));
	assert_null(cal_desc_joint(desc, (CalJointId){1}, NULL, NULL));
	assert_null(cal_desc_loop(desc, (CalLoopId){1}, NULL, NULL));
	assert_string_equal(cal_desc_group(desc, (CalGroupId){0})->name, "main");
	cal_desc_destroy(desc);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_come_back),
		cmocka_unit_test(whole_files_come_back),
		cmocka_unit_test(random_trees_come_back),
		cmocka_unit_test(random_loops_come_back),
		cmocka_unit_test(axes_come_back),
		cmocka_unit_test(odd_names_and_numbers_come_back),
		cmocka_unit_test(what_a_file_cannot_hold_is_refused),
		cmocka_unit_test(terms_without_a_joint_are_refused),
		cmocka_unit_test(bad_arguments_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
