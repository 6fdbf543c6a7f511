// SPDX-License-Identifier: Apache-2.0
/*
 * test_export.c — what writers of robot files report, refuse and survive: losses, names, rotations, NULL, memory, full disks.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "support/failing_allocator.h"
#include "support/round_trip.h"

static const CalFormat robot_formats[] = {CAL_FORMAT_URDF, CAL_FORMAT_MJCF, CAL_FORMAT_SDF};

#define FOR_EACH_FORMAT(format) for (const CalFormat *format = robot_formats; format < robot_formats + 3; format++)

/* ---- the report ------------------------------------------------------------------------------------------ */

static const char lossy[] =
	"calder: 1\n"
	"gravity: [0, 0, -9.81]\n"
	"bodies:\n"
	"  boom: {beam: {length: 2 m, modes: 2, section: {shape: tube, diameter: 100 mm, thickness: 3 mm, "
	"youngs_modulus: 70 GPa, density: 2700}}}\n"
	"  tip: {mass: 1 kg, inertia: [1, 1, 1]}\n"
	"joints:\n"
	"  root: {type: revolute, to: boom, axis: y}\n"
	"  end: {type: revolute, from: boom, to: tip, axis: y}\n"
	"devices:\n"
	"  left: {type: wheel, node: tip, inertia: 0.1}\n"
	"loads: [{joint: end, effort: 1, end: 1 s}]\n"
	"events:\n"
	"  half: {at: 2 s, do: {note: half of it is over}}\n";

static void losses_are_listed(void **state) {
	(void)state;
	CalSetup *setup = file_of(lossy);
	FOR_EACH_FORMAT(format) {
		Written refused = write_setup(setup, *format, 0), w = write_setup(setup, *format, 1);
		assert_int_equal(refused.status, CAL_ERR_UNSUPPORTED);
		assert_int_equal(refused.length, 0);
		assert_non_null(strstr(refused.error.text, "t.yaml:4:"));
		assert_non_null(strstr(refused.error.text, "body \"boom\""));
		assert_non_null(strstr(refused.error.text, "--partial"));
		assert_int_equal(written_count(&refused, CAL_IMPORT_MISSING), written_count(&w, CAL_IMPORT_MISSING));
		assert_int_equal(w.status, CAL_OK);
		written_expect_note(&w, CAL_IMPORT_MISSING, "body \"boom\"", "flexible");
		written_expect_note(&w, CAL_IMPORT_MISSING, "device \"left\"", "wheel");
		written_expect_note(&w, CAL_IMPORT_MISSING, "event \"half\"", "no events");
		written_expect_note(&w, CAL_IMPORT_MISSING, "load", "no loads");
		written_expect_note(&w, CAL_IMPORT_IGNORED, "run", "duration");
		CalSetup *again = read_again(&w, 0);
		assert_int_equal(cal_desc_joint_count(cal_setup_desc(again)) >= 2, 1);
		cal_setup_destroy(again);
		written_free(&refused);
		written_free(&w);
	}
	cal_setup_destroy(setup);
}

static void model_files_have_an_empty_report(void **state) {
	(void)state;
	CalSetup *setup = file_of(lossy);
	Written w = write_setup(setup, CAL_FORMAT_MODEL, 0);
	CalExportNote note;
	assert_int_equal(w.status, CAL_OK);
	assert_non_null(w.report);
	assert_int_equal(cal_export_note_count(w.report), 0);
	assert_int_equal(cal_export_note(w.report, 0, &note), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(w.text, "calder: 1"));
	written_free(&w);
	cal_setup_destroy(setup);
	assert_string_equal(cal_format_name(CAL_FORMAT_SDF), "sdf");
	assert_null(cal_format_name(CAL_FORMAT_COUNT));
}

/* ---- what acts along joints ------------------------------------------------------------------------------ */

static const char forces[] =
	"calder: 1\n"
	"gravity: [0, 0, -9.81]\n"
	"bodies:\n"
	"  a: {mass: 1 kg, com: [0.1, 0, 0], inertia: [0.1, 0.2, 0.25], nodes: {tip: [0.5, 0.1, 0]}}\n"
	"  b: {mass: 2 kg, com: [0, 0.1, 0.3], inertia: [0.3, 0.2, 0.25]}\n"
	"joints:\n"
	"  first: {type: revolute, to: a, axis: y, dof: [{damping: 0.3}]}\n"
	"  second: {type: prismatic, from: a/tip, to: b, axis: [0.6, 0, 0.8], dof: [{damping: 0.7}]}\n"
	"loops:\n"
	"  tie: {type: coupling, terms: [{joint: second, factor: 2}, {joint: first, factor: -0.5}], drive: {offset: 0.25}}\n"
	"devices:\n"
	"  stop: {type: limit, joint: first, lower: -0.5 rad, upper: 0.75 rad, stiffness: 1234, damping: 5}\n"
	"  drag: {type: friction, joint: second, coulomb: 0.125, smoothing_speed: 0.001}\n"
	"loads: [{name: push, joint: first, effort: 1.5}]\n"
	"state:\n"
	"  first: {q: 0.2 rad, u: 0.4}\n";

static const CalLimitDef *limit_of(const CalSetup *setup) {
	const char *type;
	const void *def;
	for (int i = 0; cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "limit") == 0)
			return def;
	fail_msg("the stop is gone");
	return NULL;
}

static const CalFrictionDef *friction_of(const CalSetup *setup) {
	const char *type;
	const void *def;
	for (int i = 0; cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "friction") == 0)
			return def;
	fail_msg("the friction is gone");
	return NULL;
}

static void expect_near(double a, double b) {
	if (!(fabs(a - b) <= 1e-12 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static void stops_friction_and_couplings_come_back(void **state) {
	(void)state;
	CalSetup *setup = file_of(forces);
	FOR_EACH_FORMAT(format) {
		Written w = write_setup(setup, *format, 1);
		CalSetup *again = read_again(&w, 0);
		const CalLimitDef *limit = limit_of(again);
		expect_near(limit->lower, -0.5);
		expect_near(limit->upper, 0.75);
		if (*format == CAL_FORMAT_URDF) {
			written_expect_note(&w, CAL_IMPORT_CHANGED, "device \"stop\"", "how hard");
		} else {
			expect_near(limit->stiffness, 1234);
			expect_near(limit->damping, 5);
		}
		expect_near(friction_of(again)->coulomb, 0.125);
		expect_near(friction_of(again)->smoothing_speed, 1e-3);
		assert_int_equal(cal_desc_loop_count(cal_setup_desc(again)), 1);
		expect_same_dynamics(cal_format_name(*format), setup, again, 0.3, 1e-12);
		if (*format != CAL_FORMAT_MJCF)
			written_expect_note(&w, CAL_IMPORT_MISSING, "load", "no loads");
		else
			assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
		cal_setup_destroy(again);
		written_free(&w);
	}
	cal_setup_destroy(setup);
}

/* The forces of loads, and the state, at the start of a run. */
static void mjcf_holds_loads_and_state(void **state) {
	(void)state;
	CalSetup *setup = file_of(forces), *again;
	Written w = write_setup(setup, CAL_FORMAT_MJCF, 0);
	CalStateDef start;
	CalJointId joint;
	again = read_again(&w, 0);
	const CalDesc *desc = cal_setup_desc(again);
	double found = 0, rate = 0;
	for (int i = 0; cal_setup_state(again, i, &joint, &start) == CAL_OK; i++)
		if (strcmp(cal_desc_joint(desc, joint, NULL, NULL)->name, "first") == 0) {
			found = start.q[0];
			rate = start.u ? start.u[0] : 0;
		}
	expect_near(found, 0.2);
	expect_near(rate, 0.4);
	const char *type;
	const void *def;
	int loads = 0;
	for (int i = 0; cal_setup_device(again, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "applied_load") == 0) {
			loads++;
			expect_near(((const CalAppliedLoadDef *)def)->effort.number, 1.5);
		}
	assert_int_equal(loads, 1);
	cal_setup_destroy(again);
	cal_setup_destroy(setup);
	written_free(&w);
}

/* Servos are written as they were read: gear, gain, bias, input, and the range before the gear. */
static void mjcf_actuators_come_back(void **state) {
	(void)state;
	static const char text[] =
		"<mujoco><compiler angle=\"radian\"/><worldbody><body name=\"a\"><inertial pos=\"0.1 0 0\" mass=\"1\" "
		"diaginertia=\"0.1 0.1 0.1\"/><joint name=\"it's\" axis=\"0 1 0\"/></body></worldbody>"
		"<actuator><position name=\"servo\" joint=\"it's\" kp=\"30\" kv=\"2\" gear=\"3\" forcerange=\"-5 4\"/></actuator>"
		"<keyframe><key name=\"home\" qpos=\"0.2\" ctrl=\"0.5\"/></keyframe></mujoco>";
	Robot first = robot_of(text);
	Written w = write_setup(first.setup, CAL_FORMAT_MJCF, 0);
	assert_int_equal(w.status, CAL_OK);
	assert_non_null(strstr(w.text, "gear=\"3\" gainprm=\"30\" biastype=\"affine\" biasprm=\"0 -30 -2\""));
	assert_non_null(strstr(w.text, "forcerange=\"-5 4\""));
	assert_non_null(strstr(w.text, "ctrl=\"0.5\""));
	CalSetup *again = read_again(&w, 0);
	assert_int_equal(cal_setup_device_count(again), 1);
	cal_setup_destroy(again);
	written_free(&w);
	robot_close(&first);
}

static const CalContactDef *contact_of(const CalSetup *setup) {
	const char *type;
	const void *def, *found = NULL;
	int count = 0;
	for (int i = 0; cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "contact") == 0) {
			found = def;
			count++;
		}
	assert_int_equal(count, 1);
	return found;
}

/* A child does not touch its parent: by the filter first, by layers and masks then. */
static void mjcf_contact_comes_back(void **state) {
	(void)state;
	static const char text[] =
		"<mujoco><worldbody><geom name=\"floor\" type=\"plane\" size=\"0 0 1\"/>"
		"<body name=\"a\" pos=\"0 0 1\"><freejoint/><geom name=\"box\" type=\"box\" size=\"0.1 0.2 0.3\" friction=\"0.7\"/>"
		"<body name=\"b\" pos=\"0 0 0.5\"><joint axis=\"0 1 0\"/><geom name=\"ball\" size=\"0.1\" margin=\"0.01\"/>"
		"<geom name=\"leg\" type=\"capsule\" size=\"0.05\" fromto=\"0 0 0 0 0 0.4\" condim=\"1\"/>"
		"</body></body></worldbody></mujoco>";
	Robot first = robot_of(text);
	Written w = write_setup(first.setup, CAL_FORMAT_MJCF, 0);
	CalSetup *again = read_again(&w, 0);
	const CalContactDef *a = contact_of(first.setup), *b = contact_of(again);
	assert_int_equal(a->shape_count, b->shape_count);
	for (int i = 0; i < a->shape_count; i++) {
		int k = 0;
		while (k < b->shape_count && strcmp(a->shapes[i].name, b->shapes[k].name) != 0)
			k++;
		assert_true(k < b->shape_count);
		const CalShapeDef *s = &a->shapes[i], *t = &b->shapes[k];
		assert_int_equal(s->type, t->type);
		expect_near(t->radius, s->radius);
		expect_near(t->length, s->length);
		expect_near(t->half.y, s->half.y);
		expect_near(t->margin, s->margin);
		expect_near(t->material.stiffness, s->material.stiffness);
		expect_near(t->material.friction_dynamic, s->material.friction_dynamic);
		for (int n = 0; n < i; n++) { // the same pairs
			int o = 0;
			while (strcmp(a->shapes[n].name, b->shapes[o].name) != 0)
				o++;
			assert_int_equal((s->layers & a->shapes[n].mask) != 0, (t->layers & b->shapes[o].mask) != 0);
		}
	}
	assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
	cal_setup_destroy(again);
	written_free(&w);
	robot_close(&first);
}

/* ---- names ----------------------------------------------------------------------------------------------- */

static const char *const hostile[] = {"world",    "a<b>&\"c'",   "tab\tline\n", " blank ",      "a::b",
                                      "__x__",    "bad\xff\xfe", "\x01",        "${dollar}",    "$(find it)",
                                      "\xc3\xa9", "world_1",     "-->",         "<![CDATA[x]]>"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static CalSetup *hostile_setup(void) {
	CalSetup *setup = NULL;
	CalError error = {0};
	assert_int_equal(cal_setup_create(NULL, &setup), CAL_OK);
	CalDesc *desc = cal_setup_edit_desc(setup);
	CalNodeId on = {0};
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81}), CAL_OK);
	for (int i = 0; i < HOSTILE; i++) {
		CalBodyId id;
		const CalBodyDef body = {
			.name = hostile[i], .mass = 1, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, .com = {0.1 * i, 0, 0}};
		const CalNodeDef node = {.name = hostile[i], .placement.position = {1, 0, 0}};
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		joint.name = hostile[i];
		joint.axis = (CalVec3){0, 1, 0};
		if (cal_desc_add_body(desc, &body, &id, &error) != CAL_OK ||
		    cal_desc_attach(desc, on, &joint, cal_desc_body_node(desc, id), NULL, &error) != CAL_OK ||
		    cal_desc_add_node(desc, id, &node, &on, &error) != CAL_OK)
			fail_msg("%s", error.text);
	}
	assert_int_equal(cal_setup_set_title(setup, "a \"title\" & more", &error), CAL_OK);
	return setup;
}

static void hostile_names_are_held_or_changed(void **state) {
	(void)state;
	CalSetup *setup = hostile_setup();
	FOR_EACH_FORMAT(format) {
		Written w = write_setup(setup, *format, 0);
		CalSetup *again = read_again(&w, 0);
		const CalDesc *desc = cal_setup_desc(again);
		assert_true(cal_desc_body_count(desc) >= HOSTILE);
		assert_true(cal_desc_find_body(desc, "a<b>&\"c'").value && cal_desc_find_body(desc, "-->").value);
		assert_true(cal_desc_find_body(desc, "\xc3\xa9").value != 0);
		assert_string_equal(cal_setup_run(again).title, *format == CAL_FORMAT_SDF ? "" : "a \"title\" & more");
		written_expect_note(&w, CAL_IMPORT_CHANGED, "body \"world\"", "world_1");
		written_expect_note(&w, CAL_IMPORT_CHANGED, "body \"bad", "bad__");
		written_expect_note(&w, CAL_IMPORT_CHANGED, "joint \"\x01\"", "\"_");
		cal_setup_destroy(again);
		written_free(&w);
	}
	cal_setup_destroy(setup);
}

/* ---- rotations ------------------------------------------------------------------------------------------- */

/* Pitch at a right angle, and near it by all powers of ten. */
static void rotations_come_back_at_gimbal_lock(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	for (int i = 0; i < 200; i++) {
		char text[600];
		const double near = i % 20 == 0 ? 0 : pow(10, -(i % 20)), sign = i % 2 ? 1 : -1;
		const double h = (sign * (3.14159265358979323846 / 2) + near) / 2, roll = rng_uniform(&rng, -2, 2);
		const double yaw = rng_uniform(&rng, -2, 2);
		const CalQuat x = {cos(roll), sin(roll), 0, 0}, y = {cos(h), 0, sin(h), 0}, z = {cos(yaw), 0, 0, sin(yaw)};
		const CalQuat yx = {y.w * x.w, y.w * x.x, y.y * x.w, -y.y * x.x};
		const CalQuat q = {z.w * yx.w - z.z * yx.z, z.w * yx.x - z.z * yx.y, z.w * yx.y + z.z * yx.x,
		                   z.w * yx.z + z.z * yx.w};
		snprintf(text, sizeof text,
		         "calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n  a: {mass: 1 kg, inertia: [1, 1, 1]}\njoints:\n"
		         "  j: {type: revolute, to: a, inboard: {at: [1, 2, 3], orientation: [%.17g, %.17g, %.17g, "
		         "%.17g]}}\n",
		         q.w, q.x, q.y, q.z);
		CalSetup *setup = file_of(text);
		FOR_EACH_FORMAT(format) {
			Written w = write_setup(setup, *format, 0);
			CalSetup *again = read_again(&w, 0);
			const CalQuat b = cal_desc_joint(cal_setup_desc(again), (CalJointId){1}, NULL, NULL)->inboard.orientation;
			const double sign_b = q.w * b.w + q.x * b.x + q.y * b.y + q.z * b.z < 0 ? -1 : 1;
			const double d[4] = {q.w - sign_b * b.w, q.x - sign_b * b.x, q.y - sign_b * b.y, q.z - sign_b * b.z};
			const double off = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
			if (!(off < 1e-15))
				fail_msg("%s: case %d is off by %g", cal_format_name(*format), i, off);
			cal_setup_destroy(again);
			written_free(&w);
		}
		cal_setup_destroy(setup);
	}
}

/* ---- refusals -------------------------------------------------------------------------------------------- */

static void null_and_bad_arguments_are_refused(void **state) {
	(void)state;
	CalSetup *setup = file_of(forces);
	CalError error = {0};
	CalExportReport *report = (CalExportReport *)&error;
	FILE *out = tmpfile();
	assert_non_null(out);
	assert_int_equal(cal_model_write(NULL, CAL_FORMAT_URDF, NULL, out, NULL, &report, &error), CAL_ERR_ARGUMENT);
	assert_null(report);
	assert_int_equal(cal_model_write(setup, CAL_FORMAT_URDF, NULL, NULL, NULL, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_model_write(setup, CAL_FORMAT_COUNT, NULL, out, NULL, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_model_write(setup, CAL_FORMAT_MJCF, NULL, out, NULL, NULL, NULL), CAL_OK);
	assert_int_equal(cal_export_note_count(NULL), 0);
	cal_export_report_destroy(NULL);
	fclose(out);
	cal_setup_destroy(setup);
}

static void unsound_descriptions_are_refused(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	assert_int_equal(cal_setup_create(NULL, &setup), CAL_OK);
	const CalBodyDef body = {.name = "lost", .mass = 1, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	assert_int_equal(cal_desc_add_body(cal_setup_edit_desc(setup), &body, NULL, &error), CAL_OK);
	FOR_EACH_FORMAT(format) {
		Written w = write_setup(setup, *format, 1);
		assert_true(w.status < 0);
		assert_non_null(strstr(w.error.text, "lost"));
		assert_int_equal(w.length, 0);
		written_free(&w);
	}
	cal_setup_destroy(setup);
}

static void full_disks_are_named(void **state) {
	(void)state;
	CalSetup *setup = file_of(forces);
	FOR_EACH_FORMAT(format) {
		CalError error = {0};
		CalExportReport *report = NULL;
		FILE *out = fopen("/dev/full", "w");
		if (!out)
			break; // not there on every system
		assert_int_equal(cal_model_write(setup, *format, &(CalWriteOptions){.partial = 1}, out, NULL, &report, &error),
		                 CAL_ERR_IO);
		assert_non_null(strstr(error.text, "cannot be written"));
		assert_null(report);
		fclose(out);
	}
	cal_setup_destroy(setup);
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	CalSetup *setups[] = {file_of(forces), file_of(lossy), hostile_setup()};
	for (int s = 0; s < 3; s++)
		FOR_EACH_FORMAT(format) {
			CalStatus status = CAL_ERR_MEMORY;
			long failures = 0;
			for (long k = 1; status != CAL_OK; k++) {
				FailingAllocator counter = {.fail_at = k};
				const CalAllocator allocator = failing_allocator(&counter);
				CalExportReport *report = NULL;
				CalError error = {0};
				FILE *out = tmpfile();
				assert_non_null(out);
				status = cal_model_write(setups[s], *format, &(CalWriteOptions){.partial = 1}, out, &allocator, &report,
				                         &error);
				fclose(out);
				if (status != CAL_OK) {
					failures++;
					if (status != CAL_ERR_MEMORY || !strstr(error.text, "out of memory"))
						fail_msg("allocation %ld: %s", k, error.text);
					assert_null(report);
				}
				cal_export_report_destroy(report);
				assert_int_equal(counter.live, 0);
			}
			assert_true(failures > 5);
		}
	for (int s = 0; s < 3; s++)
		cal_setup_destroy(setups[s]);
}

int main(void) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_listed),
		cmocka_unit_test(model_files_have_an_empty_report),
		cmocka_unit_test(stops_friction_and_couplings_come_back),
		cmocka_unit_test(mjcf_holds_loads_and_state),
		cmocka_unit_test(mjcf_actuators_come_back),
		cmocka_unit_test(mjcf_contact_comes_back),
		cmocka_unit_test(hostile_names_are_held_or_changed),
		cmocka_unit_test(rotations_come_back_at_gimbal_lock),
		cmocka_unit_test(null_and_bad_arguments_are_refused),
		cmocka_unit_test(unsound_descriptions_are_refused),
		cmocka_unit_test(full_disks_are_named),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
