// SPDX-License-Identifier: Apache-2.0
/*
 * test_ahead.c — nothing is jumped over: contacts, stops, cables, backlash and pulses that fall between the stages of an
 * adaptive step, against closed forms; fixed steps that are too long are reported; what chatters ends with its name.
 *
 * Models are texts, as users write them. Elastic impacts on something fixed turn a speed round; those of equal masses
 * exchange speeds.
 */
#include "rig.h"
#include "support/methods.h"
#include "support/run.h"

#define PI 3.14159265358979323846

/* The simulation of a text, at its start. */
static Run run_of(const char *text) {
	CalSetup *file = NULL;
	CalError error = {0};
	if (cal_model_file_parse(text, strlen(text), "test", NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return run_file(file);
}

static void run_to(Run *r, double t) {
	if (cal_sim_advance(r->sim, t, &r->error) != CAL_OK)
		fail_msg("%s", r->error.text);
}

static const CalState *now_of(const Run *r) { return cal_sim_state(r->sim, 0); }

/* ---- contact ------------------------------------------------------------------------------------- */

static const char wall_text[] =
	"{calder: 1, bodies: {a: {mass: 1, sphere: %g}}, joints: {f: {type: free, to: a}},"
	" state: {f: {at: [-10, 0, 0], velocity: [%g, 0, 0]}}, devices: {c: {type: contact, material: {stiffness: %g},"
	" shapes: {a: {type: sphere, node: a, radius: %g}, w: {type: box, half: [0.001, 5, 5]}}}}, run: {%s duration: 1}}";

static Run ball_at_wall(double radius, double speed, double stiffness, const char *method) {
	char text[1000];
	snprintf(text, sizeof text, wall_text, radius, speed, stiffness, radius, method);
	return run_of(text);
}

/* A wall of 2 mm, 10 m away, in one advance, at 1 m/s to 10 km/s. */
static void a_thin_wall_throws_a_ball_back(void **state) {
	(void)state;
	const double radii[] = {0.001, 0.1};
	for (int k = 0; k < 10; k++) {
		const double speed = pow(10, k / 2), radius = radii[k % 2];
		Run r = ball_at_wall(radius, speed, 1e9 * speed * speed, "");
		run_to(&r, 20 / speed);
		check_near(now_of(&r)->u[0] / speed, -1, 1e-6);
		check_near(now_of(&r)->q[0], -10 - 2 * (radius + 0.001), 1e-2);
		assert_int_equal(cal_sim_doubt_count(r.sim), 0);
		run_end(&r);
	}
}

/* Two groups that meet at 1 km/s: 1 kg at 500 m/s and 2 kg at -500 m/s. */
static void bodies_of_two_groups_meet(void **state) {
	(void)state;
	Run r = run_of(
		"{calder: 1, groups: {o: {}}, bodies: {a: {mass: 1, sphere: 0.05}, b: {group: o, mass: 2, sphere: 0.05}},"
		" joints: {f: {type: free, to: a}, h: {type: free, to: b}}, state: {f: {at: [-500, 0, 0], velocity: "
		"[500, 0, 0]}, h: {at: [500, 0, 0], velocity: [-500, 0, 0]}}, devices: {c: {type: contact, material: "
		"{stiffness: 1e10}, shapes: {a: {type: sphere, node: a, radius: 0.05}, b: {type: sphere, node: b, radius: "
		"0.05}}}}, run: {duration: 2}}");
	run_to(&r, 2);
	check_near(cal_sim_state(r.sim, 0)->u[0], 500 - 4000.0 / 3, 1e-3);
	check_near(cal_sim_state(r.sim, 1)->u[0], -500 + 2000.0 / 3, 1e-3);
	run_end(&r);
}

/* A steady spin has no error that would hold the step: the tips still hit a post of 4 mm, from both sides. */
static void the_tip_of_a_spinning_bar_hits_a_post(void **state) {
	(void)state;
	Run r = run_of(
		"{calder: 1, bodies: {bar: {mass: 1, inertia: [0.1, 0.34, 0.34]}}, joints: {h: {type: revolute, axis: z, "
		"to: bar}}, state: {h: {u: 100}}, devices: {c: {type: contact, material: {stiffness: 1e11, exponent: 1}, "
		"shapes: {tip: {type: capsule, node: bar, radius: 0.01, length: 2, orientation: {axis: y, angle: 90 deg}}, "
		"w: {type: box, at: [0, 1.02, 0], half: [0.002, 0.05, 1]}}}}, run: {duration: 1}}");
	for (int k = 1; k <= 5; k++) {
		run_to(&r, 0.1 * k);
		assert_true(fabs(now_of(&r)->q[0]) < 0.5 * PI);
		check_near(fabs(now_of(&r)->u[0]), 100, 1e-3);
	}
	run_end(&r);
}

/* A force that grows with time drives a ball against a wall of 1 cm; the first step would be exact and far too long. */
static void growing_forces_do_not_hide_a_wall(void **state) {
	(void)state;
	Run r = run_of(
		"{calder: 1, bodies: {a: {mass: 1, sphere: 0.01}}, joints: {x: {type: prismatic, axis: x, to: a}}, devices: "
		"{l: {type: applied_load, joint: x, effort: [[0, 0], [20, 2000]]}, c: {type: contact, material: {stiffness: "
		"1e9}, shapes: {a: {type: sphere, node: a, radius: 0.01}, w: {type: box, at: [5, 0, 0], half: [0.005, 5, "
		"5]}}}}, run: {duration: 2}}");
	const double hit = cbrt(6 * (5 - 0.015) / 100); // 100 t^3 / 6 = 4.985
	run_to(&r, 0.9 * hit);
	check_near(now_of(&r)->q[0], 100 * pow(0.9 * hit, 3) / 6, 1e-9);
	run_to(&r, 2);
	assert_true(now_of(&r)->q[0] < 5);
	run_end(&r);
}

/* Two balls that overlap by 10 um in passing deflect as they do with steps that cannot miss it. */
static void grazing_contacts_are_found(void **state) {
	(void)state;
	double u[2];
	for (int k = 0; k < 2; k++) {
		char text[1000];
		snprintf(
			text, sizeof text,
			"{calder: 1, bodies: {a: {mass: 1, sphere: 0.1}}, joints: {f: {type: free, to: a}}, state: {f: {at: [-2, "
			"0.19999, 0], velocity: [1, 0, 0]}}, devices: {c: {type: contact, material: {stiffness: 1e6}, shapes: {a: "
			"{type: sphere, node: a, radius: 0.1}, b: {type: sphere, radius: 0.1}}}}, run: {%s duration: 4}}",
			k ? "max_step: 1 ms," : "");
		Run r = run_of(text);
		run_to(&r, 4);
		u[k] = now_of(&r)->u[1];
		run_end(&r);
	}
	assert_true(u[1] > 1e-5);
	check_near(u[0] / u[1], 1, 1e-3);
}

static CalMesh *plate(double half) {
	CalVec3 v[8];
	static const int faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
	                              2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
	for (int i = 0; i < 8; i++)
		v[i] = (CalVec3){i & 1 ? half : -half, i & 2 ? 2 : -2, i & 4 ? 2 : -2};
	CalMesh *mesh = NULL;
	assert_int_equal(cal_mesh_create("plate", v, 8, faces, 12, NULL, &mesh, NULL), CAL_OK);
	return mesh;
}

/* The plate is a mesh that flies, tumbling, towards a ball at rest: momentum and energy are those of an elastic impact. */
static void meshes_are_met(void **state) {
	(void)state;
	for (int k = 0; k < 3; k++) {
		const double speed = pow(10, k);
		CalMesh *mesh = plate(0.005);
		Rig rig = rig_new();
		const CalBodyId a =
			rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "a", cal_joint_def(CAL_JOINT_FREE), 1, unit_moments);
		const CalBodyId b =
			rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "b", cal_joint_def(CAL_JOINT_FREE), 1, unit_moments);
		const CalContactMaterial material = {.stiffness = 1e7 * speed * speed};
		const CalShapeDef shapes[2] = {
			{.name = "plate", .type = CAL_SHAPE_MESH, .mesh = mesh, .material = material},
			{.name = "ball", .type = CAL_SHAPE_SPHERE, .radius = 0.05, .material = material}};
		const CalNodeId nodes[2] = {rig_frame(&rig, a), rig_frame(&rig, b)};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_contact(rig.sim,
		                           &(CalContactDef){.name = "c", .shapes = shapes, .nodes = nodes, .shape_count = 2},
		                           NULL, &rig_error));
		CalState *s = cal_sim_state(rig.sim, 0);
		s->q[0] = -20;
		s->u[0] = speed;
		rig_advance(&rig, 40 / speed);
		check_near(s->u[6] / speed, 1, 1e-5); // equal masses, centers in line: speeds are exchanged
		check_near(s->u[0] / speed, 0, 1e-5);
		rig_free(&rig);
		cal_mesh_destroy(mesh);
	}
}

/* ---- stops, cables, backlash ---------------------------------------------------------------------- */

/* Each turns the speed round within half a period of its spring and mass. */
static void stops_and_cables_take_half_a_period(void **state) {
	(void)state;
	Run stop = run_of(
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {q: -10, u: "
		"1}}, devices: {l: {type: limit, joint: x, upper: 0, stiffness: 1e5}}, run: {duration: 20}}");
	run_to(&stop, 20);
	check_near(now_of(&stop)->u[0], -1, 1e-8);
	check_near(now_of(&stop)->q[0], -10 + PI / sqrt(1e5), 1e-8);
	run_end(&stop);
	Run cable = run_of(
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {q: 0.5, "
		"u: 1}}, devices: {l: {type: spring, to: a, stiffness: 1e5, length: 10, cable: true}}, run: {duration: "
		"25}}");
	run_to(&cable, 25);
	check_near(now_of(&cable)->u[0], -1, 1e-8);
	check_near(now_of(&cable)->q[0], 10 - (25 - 9.5 - PI / sqrt(1e5)), 1e-8);
	run_end(&cable);
}

/*
 * Joint and rotor fly together against a stop; the rotor moves on through half of the play of 4 m, throws the joint forward,
 * which meets the stop again. q(20) = -8 + both times of contact.
 */
static void backlash_is_not_skipped(void **state) {
	(void)state;
	Run r = run_of(
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {u: 1}}, "
		"devices: {l: {type: limit, joint: x, upper: 5, stiffness: 1e8}, s: {type: servo, joint: x, rotor_inertia: 1, "
		"gear_stiffness: 1e8, backlash: 4}}, run: {duration: 20}}");
	run_to(&r, 20);
	check_near(now_of(&r)->u[0], -1, 1e-7);
	check_near(now_of(&r)->q[0], -8 + PI * 1e-4 + PI * sqrt(0.5e-8), 1e-7);
	run_end(&r);
}

/* ---- formulas --------------------------------------------------------------------------------------- */

static const char formula_text[] =
	"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: "
	"{x: {u: %g}}, devices: {l: {type: applied_load, joint: x, effort: '%s'}}, run: {duration: 20}}";

static Run by_formula(const char *formula, double speed) {
	char text[1000];
	snprintf(text, sizeof text, formula_text, speed, formula);
	return run_of(text);
}

static void pulses_in_time_are_seen(void **state) {
	(void)state;
	const struct {
		const char *formula;
		double impulse;
	} cases[] = {
		{"if(t > 5 and t < 5.01, 100, 0)", 1},
		{"if(abs(t-5) < 0.005, 100, 0)", 1},
		{"100*max(0, 1-abs(t-5)/0.01)", 1},
		{"100*max(0, 1-abs(t-5)/1e-6)", 1e-4},
		{"100*smooth(t, 7, 7.01)*smooth(-t, -7.02, -7.01)", 1},
		{"if(sin(pi*t/10) > 0.99999, 100, 0)", 100 * 2 * acos(0.99999) * 10 / PI},
		{"if(mod(t, 2) < 0.001, 1000, 0)", 10},
		{"if(mod(t - 1, 2) < 0.001, 1000, 0)", 10},
		{"100*exp(-((t-5)/0.01)^2)", 0.01 * sqrt(PI) * 100},
		{"100*exp(-((t-13.7)/0.0001)^2)", 1e-4 * sqrt(PI) * 100},
		{"1e-6/((t - 3)^2 + 1e-6)", 1e-3 * (atan(17e3) + atan(3e3))},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Run r = by_formula(cases[i].formula, 0);
		run_to(&r, 20);
		if (!(fabs(now_of(&r)->u[0] - cases[i].impulse) < 1e-7 * (1 + cases[i].impulse)))
			fail_msg("%s: %.12g, wanted %.12g", cases[i].formula, now_of(&r)->u[0], cases[i].impulse);
		run_end(&r);
	}
}

/* The work of a force along the way is what the kinetic energy gains. */
static void pulses_in_place_are_seen(void **state) {
	(void)state;
	const struct {
		const char *formula;
		double work;
	} cases[] = {
		{"if(q(x) > 5 and q(x) < 5.1, 2, 0)", 0.2},
		{"if(x(a) > 5 and x(a) < 5.001, 2, 0)", 0.002},
		{"2*max(0, 1 - abs(q(x) - 5)/0.01)", 0.02},
		{"if(distance(a, ground) > 5, if(q(x) < 5.01, 2, 0), 0)", 0.02},
		{"2*exp(-((q(x) - 5)/0.01)^2)", 0.02 * sqrt(PI)},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Run r = by_formula(cases[i].formula, 1);
		run_to(&r, 20);
		const double wanted = sqrt(1 + 2 * cases[i].work);
		if (!(fabs(now_of(&r)->u[0] - wanted) < 1e-7))
			fail_msg("%s: %.12g, wanted %.12g", cases[i].formula, now_of(&r)->u[0], wanted);
		run_end(&r);
	}
}

/* CVODE evaluates at the ends of its steps alone: a pulse of 20 ms anywhere between them does its work all the same. */
static void smooth_pulses_are_seen_by_every_adaptive_method(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		if (!cal_method_info((CalMethod)method)->adaptive)
			continue;
		for (int k = 0; k < 12; k++) {
			char text[1000];
			const double at = 3 + 0.83 * k;
			snprintf(
				text, sizeof text,
				"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {u: 1}}, "
				"devices: {l: {type: applied_load, joint: x, effort: '50*(tanh((q(x) - %g)/0.003) - tanh((q(x) - "
				"%g)/0.003))'}}, run: {method: %s, duration: 20}}",
				at, at + 0.02, cal_method_name((CalMethod)method));
			Run r = run_of(text);
			run_to(&r, 20);
			if (!(fabs(now_of(&r)->u[0] - sqrt(5)) < 1e-6)) // 100 N over 20 mm: 2 J
				fail_msg("%s, pulse at %g m: %.9g m/s", cal_method_name((CalMethod)method), at, now_of(&r)->u[0]);
			run_end(&r);
		}
	}
}

/* A gate that is 1 mm wide and passed in a millisecond of a long step. */
static void events_between_the_ends_of_a_step_happen(void **state) {
	(void)state;
	Run r = run_of(
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {u: 1}}, "
		"events: {gate: {when: 'q(x) > 5 and q(x) < 5.001'}}, run: {duration: 20}}");
	double when;
	run_to(&r, 20);
	assert_int_equal(cal_sim_event_happened(r.sim, 0, &when), 1);
	check_near(when, 5, 1e-9);
	run_end(&r);
}

/* Friction by sign() stops the wheel after 5/3 s; then nothing moves it to either side. */
static void what_chatters_ends_with_its_name(void **state) {
	(void)state;
	const char *formulas[] = {"-3*sign(u(x))", "if(u(x) > 0, -3, 3)", "3 - 6*step(u(x), 0)"};
	for (int i = 0; i < 3; i++) {
		Run r = by_formula(formulas[i], 5);
		assert_int_equal(cal_sim_advance(r.sim, 20, &r.error), CAL_STEP_TOO_SMALL);
		check_near(cal_sim_time(r.sim), 5.0 / 3, 1e-9);
		assert_non_null(strstr(r.error.text, formulas[i]));
		assert_non_null(strstr(r.error.text, "device \"l\""));
		assert_non_null(strstr(r.error.text, "smooth_sign"));
		run_end(&r);
	}
	Run r = by_formula("-3*smooth_sign(u(x), 1 mm/s)", 5);
	run_to(&r, 20);
	check_near(now_of(&r)->u[0], 0, 1e-9);
	check_near(now_of(&r)->q[0], 25.0 / 6, 1e-5);
	run_end(&r);
}

/* Sliding: from q + u = 0 on, where |u| < 10, each side pushes back; crossings follow one another after thousands of tolerances. */
static void sliding_motions_end_too(void **state) {
	(void)state;
	static const char *const loads[] = {"if(q(x) + u(x) > 0, -10, 10)", "if(u(x) > -q(x), -10, 10) + 0.1*q(y)"};
	for (int i = 0; i < 2; i++) {
		for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
			char text[1000];
			if (!cal_method_info((CalMethod)method)->adaptive)
				continue;
			snprintf(
				text, sizeof text,
				"{calder: 1, bodies: {a: {mass: 1}, b: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}, y: {type: "
				"prismatic, axis: x, from: a, to: b}}, state: {x: {u: 5}}, loads: [{joint: x, effort: '%s'}, {joint: y, "
				"effort: '-2*sign(u(y) - u(x))'}], run: {method: %s, duration: 20}}",
				loads[i], cal_method_name((CalMethod)method));
			Run r = run_of(text);
			assert_int_equal(cal_sim_advance(r.sim, 20, &r.error), CAL_STEP_TOO_SMALL);
			assert_true(cal_sim_time(r.sim) < 1);
			assert_non_null(strstr(r.error.text, "chattering"));
			run_end(&r);
		}
	}
}

/* A device with a jump that it does not declare: the run ends, with what to look for. */
static int jump_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device;
	(void)xdot;
	const CalDofRef x = {0, 0, 0};
	cal_context_apply_effort(context, x, cal_context_u(context, x) > 0 ? -3 : 3);
	return 0;
}

static void undeclared_jumps_do_not_hang(void **state) {
	(void)state;
	static const CalDeviceOps ops = {.type = "jump", .evaluate = jump_evaluate};
	Run r = run_of(
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {u: 5}}}");
	assert_int_equal(cal_sim_add_device(r.sim, &(CalDeviceDef){.name = "j", .ops = &ops}, NULL, &r.error), CAL_OK);
	assert_int_equal(cal_sim_advance(r.sim, 20, &r.error), CAL_STEP_TOO_SMALL);
	assert_non_null(strstr(r.error.text, "jump in the loads"));
	run_end(&r);
}

/* ---- fixed steps, checkpoints -------------------------------------------------------------------------- */

static void fixed_steps_that_leap_are_reported(void **state) {
	(void)state;
	CalDoubt doubt;
	Run r = ball_at_wall(0.01, 10, 1e6, "method: rk4, step: 30 ms,");
	cal_sim_advance(r.sim, 2, NULL);
	assert_int_equal(cal_sim_doubt_count(r.sim), 1);
	assert_int_equal(cal_sim_doubt(r.sim, 0, &doubt), CAL_OK);
	assert_int_equal(doubt.kind, CAL_DOUBT_CONTACT);
	assert_non_null(strstr(doubt.text, "\"a\" and \"w\""));
	run_end(&r);
	r = ball_at_wall(0.01, 10, 1e9, "method: rk4, step: 0.05 ms,");
	run_to(&r, 1.1);
	check_near(now_of(&r)->u[0], -10, 0.1);
	assert_int_equal(cal_sim_doubt_count(r.sim), 0);
	run_end(&r);
}

/* A gate of 1 mm passed with steps of 20 mm; steps of 0.1 mm see it, and so do those that end at kinks of the time alone. */
static void fixed_steps_over_a_peak_are_reported(void **state) {
	(void)state;
	const struct {
		const char *formula, *step;
		int doubts;
	} cases[] = {{"if(q(x) > 5.003 and q(x) < 5.004, 2, 0)", "20 ms", 1},
	             {"if(q(x) > 5.003 and q(x) < 5.004, 2, 0)", "0.1 ms", 0},
	             {"if(t > 5.003 and t < 5.004, 2, 0)", "20 ms", 0},
	             {"2*exp(-((t - 5.007)/0.001)^2)", "20 ms", 1},
	             {"2*exp(-((t - 5.006)/0.0005)^2)", "20 ms", 1}, // where dopri5 has a stage, and rk4 none
	             {"-3*q(x) - 0.1*u(x) + sin(t)", "20 ms", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1000];
		CalDoubt doubt;
		snprintf(
			text, sizeof text,
			"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {u: 1}}, "
			"devices: {l: {type: applied_load, joint: x, effort: '%s'}}, run: {method: rk4, step: %s, duration: 6}}",
			cases[i].formula, cases[i].step);
		Run r = run_of(text);
		run_to(&r, 6);
		assert_int_equal(cal_sim_doubt_count(r.sim), cases[i].doubts);
		if (cases[i].doubts && cal_sim_doubt(r.sim, 0, &doubt) == CAL_OK)
			assert_int_equal(doubt.kind, CAL_DOUBT_FORMULA);
		run_end(&r);
	}
}

/* max_steps is for one call, whatever cuts it into stretches: steps that are watched, and jumps of inputs. */
static void the_most_steps_are_of_all_stretches(void **state) {
	(void)state;
	const char *const devices[] = {
		"type: limit, upper: 5, stiffness: 1", "type: servo, proportional: 1, sample_period: 0.1",
		"type: applied_load, effort: {shape: step, points: [[0, 1], [2, 2], [3, 1], [4, 2]]}"};
	for (int i = 0; i < 6; i++) {
		char text[1000];
		snprintf(text, sizeof text,
		         "{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a, dof: {stiffness: "
		         "%d}}}, state: {x: {u: 1}}, devices: {d: {joint: x, %s}}, run: {max_steps: 40, duration: 6}}",
		         i % 2 ? 100 : 1, devices[i / 2]);
		Run r = run_of(text);
		const CalStatus status = cal_sim_advance(r.sim, i % 2 ? 6 : 0.05, &r.error);
		assert_int_equal(status, i % 2 ? CAL_TOO_MANY_STEPS : CAL_OK);
		assert_true(cal_sim_stats(r.sim).steps <= 40);
		run_end(&r);
	}
}

/* ---- limits of actuators --------------------------------------------------------------------------- */

#define ARM                                                                                                              \
	"{calder: 1, gravity: [0, 0, -9.81], bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], nodes: {tip: [0.5, 0, 0.1]}}}," \
	" joints: {z: {type: revolute, axis: y, to: a/tip}}, state: {z: {u: 2}}, devices: {d: {type: servo, joint: z,"
#define PATH \
	" reference: {points: [[0, 0], [0.7, 0.8], [1.5, -0.3], [2.5, 0.5]], shape: smooth}}}, run: {%s duration: 3}}"

/* The coordinate at ten times of a run. */
static void path_of(const char *model, const char *method, double q[10]) {
	char text[1500];
	snprintf(text, sizeof text, model, method); // NOLINT: formats of the table below
	Run r = run_of(text);
	for (int i = 0; i < 10; i++) {
		run_to(&r, 0.25 * (i + 1));
		q[i] = now_of(&r)->q[0];
	}
	run_end(&r);
}

static double largest_difference(const double a[10], const double b[10]) {
	double most = 0;
	for (int i = 0; i < 10; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

/* Where an effort meets a limit it bends. A step over a bend is wrong by more than its error says: against small steps. */
static void limits_of_actuators_are_met(void **state) {
	(void)state;
	static const struct {
		const char *what, *model;
		double known; // how well small steps know it
	} cases[] = {
		{"effort limit", ARM "proportional: 200, derivative: 15, effort_limit: 12," PATH, 1e-8},
		{"integral that is held", ARM "proportional: 100, derivative: 8, integral: 150, effort_limit: 12," PATH, 2e-5},
		{"stall effort", ARM "proportional: 300, derivative: 15, stall_effort: 20," PATH, 1e-8},
		{"free speed", ARM "proportional: 300, derivative: 15, stall_effort: 20, free_speed: 3," PATH, 1e-8},
		{"rotor",
	     ARM "proportional: 200, derivative: 15, stall_effort: 20, free_speed: 4, rotor_inertia: 0.1, "
	         "gear_stiffness: 900, gear_damping: 2, rotor_feedback: true," PATH,
	     1e-8},
		{"wheel",
	     "{calder: 1, bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5]}}, joints: {z: {type: revolute, axis: y, to: a}},"
	     " devices: {w: {type: wheel, node: a, axis: [0, 1, 0], inertia: 0.05, max_torque: 0.3,"
	     " torque: {points: [[0, 0], [0.7, 0.8], [1.5, -0.9], [2.5, 0.35]], shape: smooth}}}, run: {%s duration: 3}}",
	     1e-8},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double fine[10], q[10];
		path_of(cases[i].model, "method: rk4, step: 1e-4,", fine);
		for (int k = 4; k <= 7; k++) {
			char method[100];
			snprintf(method, sizeof method, "method: dopri5, rtol: 1e-%d, atol: 1e-%d,", k, k + 2);
			path_of(cases[i].model, method, q);
			const double off = largest_difference(q, fine), allowed = pow(10, -k) + cases[i].known;
			print_message("  %-22s rtol 1e-%d: %.1e\n", cases[i].what, k, off);
			if (!(off <= allowed))
				fail_msg("%s: off by %g at rtol 1e-%d", cases[i].what, off, k);
		}
	}
}

/* A start at next to no speed: 1 % of it is no step. */
static void steps_begin_at_next_to_no_speed(void **state) {
	(void)state;
	Run r = run_of("{calder: 1, bodies: {a: {mass: 1, sphere: 0.1}}, joints: {x: {type: prismatic, axis: x, to: a}}, "
	               "state: {x: {u: 9e-15}}, devices: {f: {type: applied_load, joint: x, effort: 11}}, "
	               "run: {method: dopri5, rtol: 1e-8, atol: 1e-10, duration: 2}}");
	run_to(&r, 2);
	check_near(now_of(&r)->q[0], 22, 1e-7);
	run_end(&r);
}

/* Restored before, at and after the impact, a resumed run is bit-identical. */
static void checkpoints_keep_the_bits(void **state) {
	(void)state;
	const double times[] = {0.3, 0.98999, 0.99001, 1.2};
	Run whole = ball_at_wall(0.1, 10, 1e8, "");
	for (int k = 0; k < 4; k++) {
		Run part = ball_at_wall(0.1, 10, 1e8, "");
		run_to(&whole, times[k]);
		const size_t size = cal_checkpoint_size(whole.sim);
		void *memory = malloc(size);
		assert_int_equal(cal_checkpoint_take(whole.sim, memory, size, NULL), CAL_OK);
		assert_int_equal(cal_checkpoint_restore(part.sim, memory, size, &part.error), CAL_OK);
		free(memory);
		const double next = k < 3 ? times[k + 1] : 1.5;
		run_to(&whole, next);
		run_to(&part, next);
		assert_memory_equal(now_of(&whole)->q, now_of(&part)->q, 7 * sizeof(double));
		assert_memory_equal(now_of(&whole)->u, now_of(&part)->u, 6 * sizeof(double));
		run_end(&part);
	}
	run_end(&whole);
}

/*
 * A force of 50 N that begins beyond x = b turns a mass round in 0.04 s. Where the step that ends there ends exactly at b,
 * nothing of the force beyond b may be in it, nor of that before in the next: all else is exact, so the speed is.
 */
static void a_jump_acts_from_where_it_is_met(void **state) {
	(void)state;
	const double rtol = 1e-6;
	for (int i = 0; i < 20; i++) {
		char text[600];
		snprintf(
			text, sizeof text,
			"{calder: 1, bodies: {a: {mass: 1, sphere: 0.1}}, joints: {x: {type: prismatic, to: a, axis: x}},"
			" state: {x: {u: 1}}, devices: {f: {type: applied_load, joint: x, effort: \"if(q(x) > %.3f, -50, 0)\"}},"
			" run: {rtol: %g, atol: %g, duration: 2}}",
			0.5 + 0.037 * i, rtol, 1e-3 * rtol);
		Run r = run_of(text);
		run_to(&r, 2);
		check_near(now_of(&r)->u[0], -1, 1e-3 * rtol);
		run_end(&r);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_acts_from_where_it_is_met),
		cmocka_unit_test(a_thin_wall_throws_a_ball_back),
		cmocka_unit_test(bodies_of_two_groups_meet),
		cmocka_unit_test(the_tip_of_a_spinning_bar_hits_a_post),
		cmocka_unit_test(growing_forces_do_not_hide_a_wall),
		cmocka_unit_test(grazing_contacts_are_found),
		cmocka_unit_test(meshes_are_met),
		cmocka_unit_test(stops_and_cables_take_half_a_period),
		cmocka_unit_test(backlash_is_not_skipped),
		cmocka_unit_test(pulses_in_time_are_seen),
		cmocka_unit_test(pulses_in_place_are_seen),
		cmocka_unit_test(smooth_pulses_are_seen_by_every_adaptive_method),
		cmocka_unit_test(events_between_the_ends_of_a_step_happen),
		cmocka_unit_test(what_chatters_ends_with_its_name),
		cmocka_unit_test(sliding_motions_end_too),
		cmocka_unit_test(undeclared_jumps_do_not_hang),
		cmocka_unit_test(fixed_steps_that_leap_are_reported),
		cmocka_unit_test(fixed_steps_over_a_peak_are_reported),
		cmocka_unit_test(the_most_steps_are_of_all_stretches),
		cmocka_unit_test(limits_of_actuators_are_met),
		cmocka_unit_test(steps_begin_at_next_to_no_speed),
		cmocka_unit_test(checkpoints_keep_the_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
