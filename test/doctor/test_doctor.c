// SPDX-License-Identifier: Apache-2.0
/*
 * test_doctor.c — planted faults, one per row, each found with its kind and its object; and not a word about healthy models.
 *
 * The healthy link of most rows is a box of 0.6 x 0.1 x 0.2 m and 6.48 kg about (0.3, 0, 0): inertia [0.027, 0.216, 0.1998].
 */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/calder.h>

#define HINGE "joints: {hinge: {type: revolute, to: link, axis: y}}\n"
#define BOX "visual: {box: [0.6, 0.1, 0.2], at: [0.3, 0, 0]}"
#define TURNED "visual: {box: [0.6, 0.1, 0.2], at: [0.3, 0, 0], orientation: {z: 30 deg}}"
#define LINK(numbers, shape) "calder: 1\nbodies:\n  link: {" numbers ", " shape "}\n" HINGE
#define GIVEN "mass: 6.48, com: [0.3, 0, 0], inertia: "

enum { DESCRIPTION = -1 }; // found by cal_desc_check()

typedef struct Fault {
	const char *name;
	int kind;
	const char *object; // that the finding names
	const char *words;  // in evidence, cause or fix
	int proposal;       // nonzero: there is one
	const char *text;
} Fault;

#define TWO(a, b, more) "calder: 1\nbodies:\n  " a "\n  " b "\njoints: {one: {type: revolute, to: " more "}\n"

static const Fault faults[] = {
	{"kg mm^2", CAL_DIAGNOSIS_UNIT, "body \"link\"", "kg mm^2", 1, LINK(GIVEN "[27000, 216000, 199800]", BOX)},
	{"g m^2", CAL_DIAGNOSIS_UNIT, "body \"link\"", "g m^2", 1, LINK(GIVEN "[27, 216, 199.8]", BOX)},
	{"kg cm^2", CAL_DIAGNOSIS_UNIT, "body \"link\"", "kg cm^2", 1, LINK(GIVEN "[270, 2160, 1998]", BOX)},
	{"divided twice", CAL_DIAGNOSIS_UNIT, "body \"link\"", "1000", 1, LINK(GIVEN "[2.7e-5, 2.16e-4, 1.998e-4]", BOX)},
	{"g mm^2", DESCRIPTION, "body \"link\"", "millimeters", 0, LINK(GIVEN "[2.7e7, 2.16e8, 1.998e8]", BOX)},
	{"about the origin", CAL_DIAGNOSIS_ORIGIN, "body \"link\"", "instead of the center of mass", 1,
     LINK(GIVEN "[0.027, 0.7992, 0.783]", BOX)},
	{"about the origin, no shapes", CAL_DIAGNOSIS_ORIGIN, "body \"link\"", "parallel-axis", 1,
     LINK("mass: 1, com: [0.5, 0, 0], inertia: [0.001, 0.334, 0.334], nodes: {end: [1, 0, 0]}", "visual: []")},
	{"sign of products", CAL_DIAGNOSIS_SIGN, "body \"link\"", "wrong sign", 1,
     LINK(GIVEN "{xx: 0.07425, yy: 0.16875, zz: 0.1998, xy: 0.0818394}", TURNED)},
	{"principal axes", CAL_DIAGNOSIS_PRINCIPAL, "body \"link\"", "principal axes", 1,
     LINK(GIVEN "[0.027, 0.216, 0.1998]", TURNED)},
	{"lost rotation", CAL_DIAGNOSIS_ROTATION, "body \"link\"", "rotation", 1,
     LINK(GIVEN "{xx: 0.2033394, yy: 0.0396606, zz: 0.1998, xy: -0.04725}", TURNED)},
	{"exchanged axes", CAL_DIAGNOSIS_AXES, "body \"link\"", "about y, x, z", 1,
     LINK(GIVEN "[0.216, 0.027, 0.1998]", BOX)},
	{"axes in turn", CAL_DIAGNOSIS_AXES, "body \"link\"", "wrong axes", 1, LINK(GIVEN "[0.216, 0.1998, 0.027]", BOX)},
	{"gyration too large", CAL_DIAGNOSIS_LARGE, "body \"link\"", "farthest corner", 1,
     LINK(GIVEN "[2.7, 21.6, 19.98]", BOX)},
	{"gyration too small", CAL_DIAGNOSIS_SMALL, "body \"link\"", "0.01 of", 1,
     LINK(GIVEN "[2.7e-4, 2.16e-3, 1.998e-3]", BOX)},
	{"placeholder 1e-6", CAL_DIAGNOSIS_PLACEHOLDER, "body \"link\"", "1e-06", 1, LINK(GIVEN "[1e-6, 1e-6, 1e-6]", BOX)},
	{"placeholder 0.001", CAL_DIAGNOSIS_PLACEHOLDER, "body \"link\"", "0.001", 1,
     LINK("mass: 60, inertia: [0.001, 0.001, 0.001]", "visual: {box: [0.5, 0.4, 0.3]}")},
	{"placeholder 1", CAL_DIAGNOSIS_PLACEHOLDER, "body \"link\"", "placeholder", 1,
     LINK("mass: 0.1, com: [0.02, 0, 0], inertia: [1, 1, 1]", "visual: {box: [0.05, 0.03, 0.03]}")},
	{"placeholder without shapes", CAL_DIAGNOSIS_PLACEHOLDER, "body \"link\"", "placeholder", 0,
     LINK("mass: 5, com: [0.3, 0, 0], inertia: [1e-5, 1e-5, 1e-5], nodes: {end: [0.6, 0, 0]}", "visual: []")},
	{"copied to another mass", CAL_DIAGNOSIS_COPIED, "body \"b\"", "mass differs", 0,
     TWO("a: {mass: 2, inertia: [0.031, 0.047, 0.052]}", "b: {mass: 5, inertia: [0.031, 0.047, 0.052]}",
         "a}, two: {type: revolute, from: a, to: b}")},
	{"copied to another size", CAL_DIAGNOSIS_COPIED, "body \"b\"", "size differs", 0,
     TWO("a: {mass: 2, inertia: [0.003, 0.004, 0.004], visual: {box: [0.14, 0.08, 0.1]}}",
         "b: {mass: 2, inertia: [0.003, 0.004, 0.004], visual: {box: [0.2, 0.1, 0.1]}}",
         "a}, two: {type: revolute, from: a, to: b}")},
	{"mirror pair", CAL_DIAGNOSIS_MIRROR, "body \"right_thigh\"", "left_thigh", 0,
     TWO("left_thigh: {mass: 2, com: [0.01, 0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0.001, xz: 0.0007, yz: -0.002}}",
         "right_thigh: {mass: 2, com: [0.01, -0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0.001, xz: 0.0007, yz: 0.002}}",
         "left_thigh}, two: {type: revolute, to: right_thigh}")},
	{"mirror pair by letters", CAL_DIAGNOSIS_MIRROR, "body \"FR_hip\"", "FL_hip", 0,
     TWO("FL_hip: {mass: 2, com: [0.01, 0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0, xz: 0.0007, yz: -0.002}}",
         "FR_hip: {mass: 2, com: [0.01, -0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0, xz: -0.0007, yz: 0.002}}",
         "FL_hip}, two: {type: revolute, to: FR_hip}")},
	{"massless tip", DESCRIPTION, "joint \"wrist\"", "nothing that it carries", 0,
     TWO("arm: {mass: 2, box: [0.5, 0.1, 0.1]}", "tip: {nodes: {end: [0.1, 0, 0]}}",
         "arm}, wrist: {type: revolute, from: arm, to: tip}")},
	{"mass ratio", CAL_DIAGNOSIS_RATIO, "body \"flange\"", "carries 40 kg", 0,
     TWO("flange: {mass: 1e-5, sphere: 0.001}", "load: {mass: 40, box: [0.5, 0.4, 0.3]}",
         "flange}, two: {type: revolute, from: flange, to: load}")},
	{"limit and state", CAL_DIAGNOSIS_LIMIT_STATE, "joint \"hinge\"", "starts at 2", 0,
     LINK(
		 GIVEN "[0.027, 0.216, 0.1998]",
		 BOX) "state: {hinge: {q: 2}}\ndevices: {stop: {type: limit, joint: hinge, lower: -1, upper: 1, stiffness: 100}}\n"},
	{"limit and no state", CAL_DIAGNOSIS_LIMIT_STATE, "joint \"hinge\"", "no initial state", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]",
          BOX) "devices: {stop: {type: limit, joint: hinge, lower: 0.5, upper: 2, stiffness: 100}}\n"},
	{"degrees twice", CAL_DIAGNOSIS_RADIANS, "joint \"hinge\"", "compiler angle", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]",
          BOX) "devices: {stop: {type: limit, joint: hinge, lower: -0.0274156, upper: 0.0548311, stiffness: 100}}\n"},
	{"gravity in mm/s^2", CAL_DIAGNOSIS_GRAVITY, "group \"main\"", "mm/s^2", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]", BOX) "gravity: [0, 0, -9810]\n"},
	{"gravity in ft/s^2", CAL_DIAGNOSIS_GRAVITY, "group \"main\"", "ft/s^2", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]", BOX) "gravity: [0, -32.174, 0]\n"},
	{"mass in g", CAL_DIAGNOSIS_DENSITY, "body \"link\"", "grams", 1,
     LINK("mass: 6480, com: [0.3, 0, 0], inertia: [27, 216, 199.8]", BOX)},
	{"shapes in mm", CAL_DIAGNOSIS_DENSITY, "body \"link\"", "millimeters", 0,
     LINK("mass: 6.48, inertia: [0.027, 0.216, 0.1998]", "visual: {box: [600, 100, 200]}")},
	{"center of mass in mm", CAL_DIAGNOSIS_CENTER, "body \"link\"", "millimeters", 1,
     LINK("mass: 6.48, com: [60, 0, 0], inertia: [0.027, 0.216, 0.1998]",
          "visual: {box: [0.6, 0.1, 0.2], at: [0.06, 0, 0]}")},
	{"center of mass at the origin", CAL_DIAGNOSIS_CENTER, "body \"link\"", "origin", 1,
     LINK("mass: 6.48, inertia: [0.027, 0.216, 0.1998]", "visual: {box: [0.6, 0.1, 0.2], at: [3, 0, 0]}")},
	{"center of mass left at zero", CAL_DIAGNOSIS_CENTER, "body \"link\"", "was not written", 1,
     LINK("mass: 6.48, inertia: [0.0272, 0.214, 0.2]", BOX)},
	{"mesh in mm", CAL_DIAGNOSIS_MESH_UNIT, "body \"link\"", "millimeters", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998], nodes: {end: [0.6, 0, 0]}", "visual: {mesh: doctor_mm.obj}")},
	{"mesh inside out", CAL_DIAGNOSIS_MESH_INSIDE_OUT, "body \"link\"", "doctor_inverted.obj", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]", "visual: {mesh: doctor_inverted.obj}")},
	{"sign of products of a mesh", CAL_DIAGNOSIS_SIGN, "body \"link\"", "wrong sign", 1,
     LINK(
		 "mass: 1, com: [0.25, 0.5, 0.75], inertia: {xx: 0.4875, yy: 0.375, zz: 0.1875, xy: -0.025, xz: -0.0375, yz: -0.075}",
		 "visual: {mesh: doctor_corner.obj}")},
	{"effort of zero", CAL_DIAGNOSIS_EFFORT, "servo \"c\"", "3 of 4", 0,
     LINK(GIVEN "[0.027, 0.216, 0.1998]",
          BOX) "devices:\n  a: {type: servo, joint: hinge, reference: 0, proportional: 1, effort_limit: 5}\n"
               "  b: {type: servo, joint: hinge, reference: 0, proportional: 1, effort_limit: 5}\n"
               "  c: {type: servo, joint: hinge, reference: 0, proportional: 1}\n"
               "  d: {type: servo, joint: hinge, reference: 0, proportional: 1, effort_limit: 5}\n"},
	{"triangle inequality", DESCRIPTION, "body \"link\"", "triangle inequality by", 0,
     LINK(GIVEN "[0.027, 0.1, 0.1998]", BOX)},
	{"negated products", DESCRIPTION, "body \"link\"", "products of inertia negated", 0,
     LINK("mass: 1, inertia: {xx: 2, yy: 2, zz: 2, xy: 0.99, xz: 0.99, yz: 0.99}", "visual: []")},
	{"mass is missing", DESCRIPTION, "body \"link\"", "mass is zero", 0, LINK("inertia: [1, 1, 1]", BOX)},
	{"nothing connects it", DESCRIPTION, "body \"loose\"", "not attached", 0,
     TWO("link: {mass: 1, box: [1, 1, 1]}", "loose: {mass: 1, box: [1, 1, 1]}", "link}")},
};

/* The same without the fault. */
static const char *const healthy[] = {
	LINK(GIVEN "[0.027, 0.216, 0.1998]", BOX),
	LINK(GIVEN "[0.031, 0.21, 0.23]", BOX), // not homogeneous
	LINK(GIVEN "{xx: 0.07425, yy: 0.16875, zz: 0.1998, xy: -0.0818394}", TURNED),
	LINK("mass: 1, com: [0.5, 0, 0], inertia: [0.001, 0.084, 0.084], nodes: {end: [1, 0, 0]}", "visual: []"),
	LINK("mass: 6.48, inertia: [0.03, 0.25, 0.24]", BOX), // heavy at its joint
	LINK("mass: 60, inertia: [1.25, 1.7, 2.05]", "visual: {box: [0.5, 0.4, 0.3]}"),
	LINK("mass: 1, inertia: [1, 1, 1], nodes: {end: [1, 0, 0]}", "visual: []"),
	LINK(GIVEN "[0.027, 0.216, 0.1998], nodes: {end: [0.6, 0, 0]}", "visual: {mesh: doctor_mm.obj, scale: 0.001}"),
	LINK(
		"mass: 1, com: [0.25, 0.5, 0.75], inertia: {xx: 0.4875, yy: 0.375, zz: 0.1875, xy: 0.025, xz: 0.0375, yz: 0.075}",
		"visual: {mesh: doctor_corner.obj}"),
	LINK(GIVEN "[0.027, 0.216, 0.1998]",
         BOX) "gravity: [0, 0, -9.81]\nstate: {hinge: {q: 0.5}}\n"
			  "devices: {stop: {type: limit, joint: hinge, lower: -1.5708, upper: 1.5708, stiffness: 100}}\n",
	TWO("a: {mass: 2, inertia: [0.031, 0.047, 0.052]}", "b: {mass: 2, inertia: [0.031, 0.047, 0.052]}",
        "a}, two: {type: revolute, from: a, to: b}"),
	TWO("left_thigh: {mass: 2, com: [0.01, 0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0.001, xz: 0.0007, yz: -0.002}}",
        "right_thigh: {mass: 2, com: [0.01, -0.05, -0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: -0.001, xz: 0.0007, yz: 0.002}}",
        "left_thigh}, two: {type: revolute, to: right_thigh}"),
	TWO("l_arm: {mass: 2, com: [0.01, 0.05, 0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0.001, xz: 0.0007, yz: -0.002}}",
        "r_arm: {mass: 2, com: [-0.01, -0.05, 0.1], inertia: {xx: 0.02, yy: 0.022, zz: 0.005, xy: 0.001, xz: -0.0007, yz: 0.002}}",
        "l_arm}, two: {type: revolute, to: r_arm}"), // turned by half a turn
	// shapes that are four small feet only, and a center among the nodes
	LINK("mass: 0.6, com: [0.04, 0, -0.02], inertia: [2.2e-4, 1.6e-3, 1.7e-3], nodes: {toe: [0.2, 0, 0]}",
         "visual: [{sphere: 0.005, at: [-0.05, 0.025, -0.03]}, {sphere: 0.005, at: [-0.05, -0.025, -0.03]}, "
         "{sphere: 0.005, at: [0.12, 0.03, -0.03]}, {sphere: 0.005, at: [0.12, -0.03, -0.03]}]"),
	LINK(
		"mass: 1.7, com: [-0.022, 0, 0.0003], inertia: [0.0006, 0.0016, 0.0019], nodes: {l: [-0.07, 0.06, 0], r: [-0.07, -0.06, 0]}",
		"visual: {box: [0.03, 0.01, 0.01], at: [0.08, 0, 0.05]}"),
	LINK("mass: 1, com: [2e-17, 0, 0], inertia: [0.01, 0.01, 0.01]", "visual: {sphere: 0.15}"), // rounding
	TWO("arm: {mass: 2, box: [0.5, 0.1, 0.1]}", "tip: {nodes: {end: [0.1, 0, 0]}}",
        "arm}, wrist: {type: weld, from: arm, to: tip}"),
	TWO("wheel_l: {mass: 3, cylinder: {radius: 0.3, length: 0.05}}",
        "wheel_r: {mass: 3, cylinder: {radius: 0.3, length: 0.05}}", "wheel_l}, two: {type: revolute, to: wheel_r}"),
};

/* ---- running -------------------------------------------------------------------------------------------------- */

typedef struct Found {
	const Fault *fault;
	int hits, others;
	char last[2048];
	CalBodyId body;
	CalBodyDef proposal;
	int proposed;
} Found;

static void on_diagnosis(void *user, const CalDiagnosis *d) {
	Found *found = user;
	char text[2048];
	snprintf(text, sizeof text, "%s: %s; %s; %s [%s]", d->object, d->evidence, d->cause, d->fix,
	         cal_diagnosis_name(d->kind));
	const Fault *f = found->fault;
	const int hit = f && f->kind == (int)d->kind && strcmp(f->object, d->object) == 0 && strstr(text, f->words);
	found->hits += hit;
	found->others += !hit;
	snprintf(found->last, sizeof found->last, "%s", text);
	if (hit && d->proposal) {
		found->proposed = 1;
		found->proposal = *d->proposal;
		found->body = d->body;
	}
}

static void on_finding(void *user, const CalFinding *finding) {
	Found *found = user;
	const Fault *f = found->fault;
	if (f && f->kind == DESCRIPTION && strstr(finding->text, f->object) && strstr(finding->text, f->words))
		found->hits++;
	else if (!f || f->kind != DESCRIPTION)
		found->others += finding->status < 0;
}

static CalSetup *parse(const char *text) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_file_parse(text, strlen(text), "doctor.yaml", NULL, &setup, &error) != CAL_OK)
		fail_msg("%s\n%s", error.text, text);
	return setup;
}

/* A corner (1, 2, 3) of a box; the box of the link in mm; and the box inside out. */
static void write_meshes(void) {
	static const int faces[12][3] = {{1, 3, 4}, {1, 4, 2}, {5, 6, 8}, {5, 8, 7}, {1, 2, 6}, {1, 6, 5},
	                                 {3, 7, 8}, {3, 8, 4}, {1, 5, 7}, {1, 7, 3}, {2, 4, 8}, {2, 8, 6}};
	FILE *corner = fopen("doctor_corner.obj", "w"), *mm = fopen("doctor_mm.obj", "w"),
		 *inverted = fopen("doctor_inverted.obj", "w");
	assert_true(corner && mm && inverted);
	fputs("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", corner);
	for (int i = 0; i < 8; i++) {
		fprintf(mm, "v %d %d %d\n", i & 1 ? 600 : 0, i & 2 ? 50 : -50, i & 4 ? 100 : -100);
		fprintf(inverted, "v %g %g %g\n", i & 1 ? 0.6 : 0, i & 2 ? 0.05 : -0.05, i & 4 ? 0.1 : -0.1);
	}
	for (int i = 0; i < 12; i++) {
		fprintf(mm, "f %d %d %d\n", faces[i][0], faces[i][1], faces[i][2]);
		fprintf(inverted, "f %d %d %d\n", faces[i][0], faces[i][2], faces[i][1]);
	}
	fclose(corner);
	fclose(mm);
	fclose(inverted);
}

static int prepare(void **unused) {
	(void)unused;
	write_meshes();
	return 0;
}

static int clean(void **unused) {
	(void)unused;
	remove("doctor_corner.obj");
	remove("doctor_mm.obj");
	remove("doctor_inverted.obj");
	return 0;
}

/* With the proposal in its place there is nothing left to say of that kind. */
static void proposal_heals(CalSetup *setup, Found *found) {
	CalError error = {0};
	if (cal_desc_set_mass_properties(cal_setup_edit_desc(setup), found->body, &found->proposal, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Found after = {.fault = found->fault};
	assert_int_equal(cal_setup_diagnose(setup, on_diagnosis, &after, NULL), CAL_OK);
	if (after.hits)
		fail_msg("%s: the proposal does not heal: %s", found->fault->name, after.last);
	assert_true(cal_desc_check(cal_setup_desc(setup), NULL, NULL) == CAL_OK);
}

static void planted_faults_are_found(void **unused) {
	(void)unused;
	const int count = (int)(sizeof faults / sizeof *faults);
	assert_true(count >= 25);
	for (int i = 0; i < count; i++) {
		const Fault *f = &faults[i];
		CalSetup *setup = parse(f->text);
		Found found = {.fault = f};
		cal_desc_check(cal_setup_desc(setup), on_finding, &found);
		assert_int_equal(cal_setup_diagnose(setup, on_diagnosis, &found, NULL), CAL_OK);
		if (found.hits != 1 || (found.others && f->kind != CAL_DIAGNOSIS_MESH_UNIT))
			fail_msg("%s: found %d times, and %d others: %s", f->name, found.hits, found.others, found.last);
		assert_int_equal(found.proposed, f->proposal);
		if (found.proposed)
			proposal_heals(setup, &found);
		cal_setup_destroy(setup);
	}
	print_message("%d planted faults\n", count);
}

static void says_nothing(CalSetup *setup, const char *name) {
	Found found = {0};
	assert_int_equal(cal_setup_diagnose(setup, on_diagnosis, &found, NULL), CAL_OK);
	cal_desc_check(cal_setup_desc(setup), on_finding, &found);
	if (found.others)
		fail_msg("%s: %d findings: %s", name, found.others, found.last);
}

static void healthy_models_are_left_alone(void **unused) {
	(void)unused;
	glob_t list;
	int count = 0;
	for (size_t i = 0; i < sizeof healthy / sizeof *healthy; i++, count++) {
		CalSetup *setup = parse(healthy[i]);
		says_nothing(setup, healthy[i]);
		cal_setup_destroy(setup);
	}
	assert_int_equal(glob(SOURCE_DIR "/examples/*.yaml", 0, NULL, &list), 0);
	for (size_t i = 0; i < list.gl_pathc; i++, count++) {
		CalSetup *setup = NULL;
		CalError error = {0};
		if (cal_model_file_read(list.gl_pathv[i], NULL, &setup, &error) != CAL_OK)
			fail_msg("%s", error.text);
		says_nothing(setup, list.gl_pathv[i]);
		cal_setup_destroy(setup);
	}
	globfree(&list);
	print_message("%d healthy models\n", count);
	assert_true(count >= 20);
}

/* Of readers that do not question angles: limits and states in C. */
static void degrees_are_questioned(void **unused) {
	(void)unused;
	CalSetup *setup = parse(LINK(GIVEN "[0.027, 0.216, 0.1998]", BOX));
	const CalJointId hinge = cal_desc_find_joint(cal_setup_desc(setup), "hinge");
	const CalLimitDef limit = {.name = "stop", .joint = hinge, .lower = -90, .upper = 135, .stiffness = 100};
	const double q = 45;
	assert_int_equal(cal_setup_add_device(setup, "limit", &limit, NULL), CAL_OK);
	assert_int_equal(cal_setup_set_state(setup, hinge, &(CalStateDef){.q = &q}, NULL), CAL_OK);
	const Fault fault = {.kind = CAL_DIAGNOSIS_DEGREES, .object = "joint \"hinge\"", .words = "in degrees"};
	Found found = {.fault = &fault};
	assert_int_equal(cal_setup_diagnose(setup, on_diagnosis, &found, NULL), CAL_OK);
	assert_int_equal(found.hits, 2);
	assert_int_equal(found.others, 0);
	cal_setup_destroy(setup);
}

/* Empty limits, which a simulation refuses: the doctor says why they are there. */
static void empty_limits_are_named(void **unused) {
	(void)unused;
	CalSetup *setup = parse(LINK(GIVEN "[0.027, 0.216, 0.1998]", BOX));
	const CalLimitDef limit = {
		.name = "stop", .joint = cal_desc_find_joint(cal_setup_desc(setup), "hinge"), .stiffness = 100};
	assert_int_equal(cal_setup_add_device(setup, "limit", &limit, NULL), CAL_OK);
	const Fault fault = {.kind = CAL_DIAGNOSIS_LIMIT_EMPTY, .object = "joint \"hinge\"", .words = "never written"};
	Found found = {.fault = &fault};
	assert_int_equal(cal_setup_diagnose(setup, on_diagnosis, &found, NULL), CAL_OK);
	assert_int_equal(found.hits, 1);
	assert_int_equal(found.others, 0);
	cal_setup_destroy(setup);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(planted_faults_are_found, prepare, clean),
		cmocka_unit_test_setup_teardown(healthy_models_are_left_alone, prepare, clean),
		cmocka_unit_test(degrees_are_questioned),
		cmocka_unit_test(empty_limits_are_named),
	};
	return cmocka_run_group_tests_name("the doctor", tests, NULL, NULL);
}
