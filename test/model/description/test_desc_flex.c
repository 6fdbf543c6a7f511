// SPDX-License-Identifier: Apache-2.0
/*
 * test_desc_flex.c — flexible bodies in a description: copied whole, refused with a sentence, failing without a
 * trace, and checked.
 *
 * The fixture is a boom on a revolute joint with a root and a tip node and two modes; each test spoils one thing
 * in it and reads what is said about it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <calder/flex.h>
#include <calder/model.h>

#include "support/failing_allocator.h"
#include "model/description/desc.h"
#include "findings.h"

enum { MODES = 2, NODES = 2 };

typedef struct Boom {
	FailingAllocator allocator;
	CalDesc *desc;
	CalBodyId body, other;
	CalNodeId root, tip, stranger;
	double phi[NODES][3 * MODES], psi[NODES][3 * MODES], phi2[3 * MODES * MODES];
	double K[MODES * MODES], D[MODES * MODES];
	CalFlexNode nodes[NODES];
	CalFlexDef flex; // ready for cal_desc_set_flexible
	CalError error;
} Boom;

static CalNodeId add_node(CalDesc *desc, CalBodyId body, const char *name, CalVec3 at) {
	CalNodeDef def = cal_node_def();
	CalNodeId id = {0};
	def.name = name;
	def.placement.position = at;
	assert_int_equal(cal_desc_add_node(desc, body, &def, &id, NULL), CAL_OK);
	return id;
}

static CalBodyId add_body(CalDesc *desc, const char *name, const char *place) {
	CalBodyDef def = cal_body_def();
	CalBodyId id = {0};
	def.name = name;
	def.place = place;
	def.mass = 3;
	def.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	assert_int_equal(cal_desc_add_body(desc, &def, &id, NULL), CAL_OK);
	return id;
}

static void attach(CalDesc *desc, const char *name, CalNodeId inboard, CalNodeId outboard) {
	CalJointDef def = cal_joint_def(CAL_JOINT_REVOLUTE);
	def.name = name;
	assert_int_equal(cal_desc_attach(desc, inboard, &def, outboard, NULL, NULL), CAL_OK);
}

/** Masses of 1 and 2 kg at x = 1 and 2 m; mode 1 moves the first along y, mode 2 the second: w^2 = 100 and 450. */
static void boom_make(Boom *b) {
	memset(b, 0, sizeof *b);
	CalAllocator allocator = failing_allocator(&b->allocator);
	assert_int_equal(cal_desc_create(&allocator, &b->desc), CAL_OK);
	b->body = add_body(b->desc, "boom", "arm.yaml:7:3");
	b->other = add_body(b->desc, "hand", NULL);
	b->root = add_node(b->desc, b->body, "root", (CalVec3){1, 0, 0});
	b->tip = add_node(b->desc, b->body, "tip", (CalVec3){2, 0, 0});
	b->stranger = add_node(b->desc, b->other, "palm", (CalVec3){0, 0, 0});
	attach(b->desc, "shoulder", (CalNodeId){0}, cal_desc_body_node(b->desc, b->body));
	attach(b->desc, "wrist", b->tip, b->stranger);
	b->phi[0][2] = b->phi[1][3] = 1;
	b->K[0] = 100, b->K[3] = 900;
	b->D[0] = b->D[3] = 0.1;
	b->nodes[0] = (CalFlexNode){.node = b->root, .mass = 1, .phi = b->phi[0]};
	b->nodes[1] = (CalFlexNode){.node = b->tip, .mass = 2, .phi = b->phi[1], .psi = b->psi[1]};
	b->flex = (CalFlexDef){.modes = MODES, .stiffness = b->K, .damping = b->D, .node_count = NODES, .nodes = b->nodes};
}

/** Destroys the description; nothing may be left. */
static void boom_end(Boom *b) {
	cal_desc_destroy(b->desc);
	assert_int_equal(b->allocator.live, 0);
}

/** Fails unless the text contains every one of the parts (NULL-terminated list). */
static void assert_parts(const char *text, va_list parts) {
	for (const char *part = va_arg(parts, const char *); part; part = va_arg(parts, const char *)) {
		if (!strstr(text, part)) {
			print_error("\"%s\"\ndoes not say \"%s\"\n", text, part);
		}
		assert_non_null(strstr(text, part));
	}
}

/* ---- setting ------------------------------------------------------------------------------- */

static void everything_is_copied(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.phi2[1] = 4; // of x: mode 1 with mode 2 only
	b.nodes[1].phi2 = b.phi2;
	b.nodes[1].inertia.m[2][2] = 0.25;
	b.flex.frequency_bound = 12;
	assert_int_equal(cal_desc_set_flexible(b.desc, b.body, &b.flex, &b.error), CAL_OK);
	memset(b.phi, 0xff, sizeof b.phi);
	memset(b.psi, 0xff, sizeof b.psi);
	memset(b.phi2, 0xff, sizeof b.phi2);
	memset(b.K, 0xff, sizeof b.K);
	memset(b.D, 0xff, sizeof b.D);
	memset(b.nodes, 0xff, sizeof b.nodes);
	const CalFlexDef *flex = desc_body(b.desc, b.body)->flex;
	assert_int_equal(flex->modes, MODES);
	assert_int_equal(flex->node_count, NODES);
	assert_true(flex->frequency_bound == 12);
	assert_true(flex->stiffness[0] == 100 && flex->stiffness[1] == 0 && flex->stiffness[3] == 900);
	assert_true(flex->damping[0] == 0.1 && flex->damping[3] == 0.1);
	assert_true(flex->nodes[0].mass == 1 && flex->nodes[0].phi[2] == 1 && flex->nodes[0].phi[3] == 0);
	assert_true(flex->nodes[1].mass == 2 && flex->nodes[1].phi[3] == 1 && flex->nodes[1].inertia.m[2][2] == 0.25);
	assert_int_equal(flex->nodes[1].node.value, b.tip.value);
	assert_null(flex->nodes[0].psi);
	assert_null(flex->nodes[0].phi2);
	for (int i = 0; i < 3 * MODES; i++) {
		assert_true(flex->nodes[1].psi[i] == 0);
	}
	for (int i = 0; i < 3 * MODES * MODES; i++) { // symmetric, and the same quadratic form
		assert_true(flex->nodes[1].phi2[i] == (i == 1 || i == 2 ? 2 : 0));
	}
	assert_null(desc_body(b.desc, b.other)->flex);
	boom_end(&b);
}

/** Sets the fixture's definition, which must be refused with a text that has these parts, and ends it. */
static void assert_refused(Boom *b, CalStatus status, ...) {
	va_list parts;
	va_start(parts, status);
	assert_int_equal(cal_desc_set_flexible(b->desc, b->body, &b->flex, &b->error), status);
	assert_int_equal(b->error.status, status);
	assert_parts(b->error.text, parts);
	va_end(parts);
	if (b->body.value == 1) {
		assert_null(desc_body(b->desc, b->body)->flex);
	}
	boom_end(b);
}

static void bad_arguments_are_refused(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	assert_int_equal(cal_desc_set_flexible(NULL, b.body, &b.flex, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_set_flexible(b.desc, b.body, NULL, &b.error), CAL_ERR_ARGUMENT);
	b.body.value = 77;
	assert_refused(&b, CAL_ERR_ARGUMENT, "no body with id 77", NULL);
	boom_make(&b);
	b.body.value = 0;
	assert_refused(&b, CAL_ERR_ARGUMENT, "ground is rigid", NULL);
	boom_make(&b);
	b.flex.modes = 0;
	assert_refused(&b, CAL_ERR_MODEL, "arm.yaml:7:3", "\"boom\"", "0 modes", NULL);
	boom_make(&b);
	b.flex.modes = 100000;
	assert_refused(&b, CAL_ERR_MODEL, "\"boom\"", "100000 modes", NULL);
	boom_make(&b);
	b.flex.stiffness = NULL;
	assert_refused(&b, CAL_ERR_MODEL, "\"boom\"", "stiffness is missing", "2 x 2", NULL);
	boom_make(&b);
	b.flex.nodes = NULL;
	assert_refused(&b, CAL_ERR_ARGUMENT, "\"boom\"", "2 flexible nodes", NULL);
	boom_make(&b);
	b.flex.node_count = -1;
	assert_refused(&b, CAL_ERR_ARGUMENT, "-1 flexible nodes", NULL);
	boom_make(&b);
	b.flex.frequency_bound = -3;
	assert_refused(&b, CAL_ERR_MODEL, "frequency bound is -3", "positive", NULL);
}

static void bad_nodes_are_refused(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.nodes[1].node.value = 99;
	assert_refused(&b, CAL_ERR_ARGUMENT, "arm.yaml:7:3", "node 2 of 2", "does not exist", "99", NULL);
	boom_make(&b);
	b.nodes[0].node.value = 0;
	assert_refused(&b, CAL_ERR_ARGUMENT, "node 1 of 2", "does not exist", NULL);
	boom_make(&b);
	b.nodes[1].node = b.stranger;
	assert_refused(&b, CAL_ERR_MODEL, "\"boom\"", "\"palm\" belongs to \"hand\"", NULL);
	boom_make(&b);
	b.nodes[1].node = b.root;
	assert_refused(&b, CAL_ERR_MODEL, "\"boom\"", "\"root\" is listed twice", NULL);
}

static void numbers_that_are_not_finite_are_refused(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.K[2] = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"boom\"", "stiffness is not finite", NULL);
	boom_make(&b);
	b.D[1] = INFINITY;
	assert_refused(&b, CAL_ERR_MODEL, "damping is not finite", NULL);
	boom_make(&b);
	b.flex.frequency_bound = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "frequency bound", NULL);
	boom_make(&b);
	b.nodes[0].mass = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"root\"", "mass is not finite", NULL);
	boom_make(&b);
	b.nodes[0].inertia.m[1][2] = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"root\"", "rotary inertia is not finite", NULL);
	boom_make(&b);
	b.phi[1][5] = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"tip\"", "translational shape is not finite", NULL);
	boom_make(&b);
	b.psi[1][0] = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"tip\"", "slope is not finite", NULL);
	boom_make(&b);
	b.nodes[0].phi2 = b.phi2;
	b.phi2[11] = NAN;
	assert_refused(&b, CAL_ERR_MODEL, "\"root\"", "second-order shape is not finite", NULL);
}

static void body_is_made_flexible_once(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	assert_int_equal(cal_desc_set_flexible(b.desc, b.body, &b.flex, NULL), CAL_OK);
	const CalFlexDef *before = desc_body(b.desc, b.body)->flex;
	assert_int_equal(cal_desc_set_flexible(b.desc, b.body, &b.flex, &b.error), CAL_ERR_MODEL);
	assert_non_null(strstr(b.error.text, "flexible already, with 2 modes"));
	assert_ptr_equal(desc_body(b.desc, b.body)->flex, before);
	boom_end(&b);
}

static void allocation_failure_leaves_no_trace(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	long live = b.allocator.live, failures = 0;
	for (;; failures++) {
		b.allocator.calls = 0;
		b.allocator.fail_at = failures + 1;
		CalStatus status = cal_desc_set_flexible(b.desc, b.body, &b.flex, &b.error);
		if (status == CAL_OK) {
			break;
		}
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_non_null(strstr(b.error.text, "\"boom\""));
		assert_null(desc_body(b.desc, b.body)->flex);
		assert_int_equal(b.allocator.live, live);
	}
	assert_true(failures >= 1);
	assert_int_equal(b.allocator.live, live + 1); // one block
	b.allocator.calls = 0;
	for (int k = 1; k <= 2; k++) { // and the check, which needs memory too
		b.allocator.calls = 0;
		b.allocator.fail_at = k;
		assert_int_equal(desc_check_structure(b.desc, (CalGroupId){0}, NULL, NULL), CAL_ERR_MEMORY);
		assert_int_equal(b.allocator.live, live + 1);
	}
	b.allocator.fail_at = 0;
	boom_end(&b);
}

/* ---- checking ------------------------------------------------------------------------------ */

/** Checks the fixture: so many errors and warnings, with these parts in their texts; ends it. */
static void assert_found(Boom *b, int errors, int warnings, ...) {
	va_list parts;
	va_start(parts, warnings);
	Findings f = {0};
	assert_int_equal(cal_desc_set_flexible(b->desc, b->body, &b->flex, NULL), CAL_OK);
	CalStatus status = desc_check_structure(b->desc, (CalGroupId){0}, findings_collect, &f);
	assert_findings(&f, errors, warnings);
	assert_int_equal(status, errors ? CAL_ERR_MODEL : CAL_OK);
	assert_parts(f.text, parts);
	va_end(parts);
	boom_end(b);
}

static void sound_body_raises_nothing(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	assert_found(&b, 0, 0, NULL);
	boom_make(&b);
	b.flex.frequency_bound = 25;
	assert_found(&b, 0, 0, NULL);
}

static void masses_are_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.nodes[1].mass = -2;
	assert_found(&b, 1, 0, "arm.yaml:7:3: ", "\"boom\"", "\"tip\"", "mass is -2 kg", NULL);
	boom_make(&b);
	b.nodes[0].inertia = (CalMat3){{{1, 0.1, 0}, {0.2, 1, 0}, {0, 0, 1}}};
	assert_found(&b, 1, 0, "\"root\"", "rotary inertia is not symmetric", "10%", NULL);
	boom_make(&b);
	b.nodes[0].inertia = (CalMat3){{{1, 0, 0}, {0, -0.5, 0}, {0, 0, 1}}};
	assert_found(&b, 1, 0, "\"root\"", "rotary inertia is not positive", "-0.5", NULL);
	boom_make(&b);
	b.desc->bodies[0].def.mass = 0;
	b.desc->bodies[0].def.inertia = (CalMat3){{{0}}};
	b.nodes[0].mass = b.nodes[1].mass = 0;
	assert_found(&b, 1, 0, "\"boom\" is flexible but has no mass", NULL);
}

static void stiffness_is_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.K[1] = 40, b.K[2] = 50;
	assert_found(&b, 1, 0, "arm.yaml:7:3: ", "stiffness is not symmetric", "(1, 2) is 40", "(2, 1) is 50", "20%", NULL);
	boom_make(&b);
	b.K[3] = -900;
	assert_found(&b, 1, 0, "not positive semidefinite", "mode 2", "-450", NULL);
	boom_make(&b);
	b.K[3] = -1e-12; // too little for the frequencies to show it, but given
	assert_found(&b, 1, 1, "singular: mode 2 has none (-1e-12)", "round-off", NULL);
}

static void singular_stiffness_is_an_error_unless_meant(void **state) {
	(void)state;
	static const double singular[][4] = {{0, 0, 0, 900}, {100, 0, 0, 0}, {100, 300, 300, 900}, {0, 0, 0, 0}};
	static const char *const said[] = {"mode 1 has none (0)", "mode 2 has none (0)",
	                                   "modes 1 to 2 together can deflect without resistance", "mode 1 has none (0)"};
	for (int i = 0; i < 4; i++) {
		for (int meant = 0; meant < 2; meant++) {
			Boom b;
			boom_make(&b);
			memcpy(b.K, singular[i], sizeof b.K);
			b.flex.unsprung = meant;
			if (meant) {
				assert_found(&b, 0, 0, NULL);
			} else {
				assert_found(&b, 1, 0, "arm.yaml:7:3: body \"boom\": the stiffness is singular", said[i], "unsprung",
				             NULL);
			}
		}
	}
	Boom b;
	boom_make(&b); // soft is not singular: 1e-5 rad/s beside 1e7 rad/s
	b.K[0] = 1e-10, b.K[3] = 2e14;
	assert_found(&b, 0, 1, "frequencies reach from", NULL);
	boom_make(&b);
	b.K[3] = -900; // meant or not, it must not push
	b.flex.unsprung = 1;
	assert_found(&b, 1, 0, "not positive semidefinite", NULL);
}

/* The model is refused too, not only reported on. */
static void singular_stiffness_is_not_compiled(void **state) {
	(void)state;
	for (int meant = 0; meant < 2; meant++) {
		Boom b;
		CalModel *model = NULL;
		boom_make(&b);
		b.K[0] = 0;
		b.flex.unsprung = meant;
		assert_int_equal(cal_desc_set_flexible(b.desc, b.body, &b.flex, NULL), CAL_OK);
		assert_int_equal(cal_model_compile(b.desc, NULL, &model, &b.error), meant ? CAL_OK : CAL_ERR_MODEL);
		assert_int_equal(model != NULL, meant);
		assert_true(meant || strstr(b.error.text, "the stiffness is singular: mode 1 has none (0)"));
		cal_model_destroy(model);
		boom_end(&b);
	}
}

static void shapes_are_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.nodes[0].mass = 0;
	assert_found(&b, 1, 0, "\"boom\": mode 1 moves no mass", NULL);
	boom_make(&b);
	b.phi[0][3] = 1, b.phi[1][2] = 1; // both modes move both masses alike
	assert_found(&b, 1, 0, "mode 2 moves the masses as modes 1 to 1", "remove", NULL);
}

/* What M_ee couples is M_12 = phi, over sqrt(M_11 M_22) = sqrt(2) here. */
static void orthogonality_is_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.phi[0][3] = 1e-6; // digits
	assert_found(&b, 0, 0, NULL);
	boom_make(&b);
	b.phi[0][3] = 1.3e-4; // 0.92e-4
	assert_found(&b, 0, 0, NULL);
	boom_make(&b);
	b.phi[0][3] = 1.5e-4;
	assert_found(&b, 0, 1, "arm.yaml:7:3: ", "modes 1 and 2 are not mass-orthogonal (0.000106 of", "digits", NULL);
	boom_make(&b);
	b.phi[0][3] = 0.4; // a diagonal stiffness says normal modes, the masses do not
	assert_found(&b, 0, 1, "those of normal modes, but modes 1 and 2 are not mass-orthogonal (0.272 of", NULL);
	boom_make(&b);
	b.phi[0][3] = 5e-3; // nearly normal modes, with any stiffness
	b.K[1] = b.K[2] = 10;
	assert_found(&b, 0, 1, "modes 1 and 2 are not mass-orthogonal (0.00354 of", NULL);
	boom_make(&b);
	b.phi[0][3] = 0.4; // plainly other shapes: nothing to say
	b.K[1] = b.K[2] = 10;
	assert_found(&b, 0, 0, NULL);
	boom_make(&b);
	b.K[1] = b.K[2] = 10; // orthogonal, but no normal modes: nothing to say
	assert_found(&b, 0, 0, NULL);
}

/* Normal modes of any boundary, also seen from a root that they move, and static shapes: all as they should be. */
static void generated_bodies_raise_nothing(void **state) {
	(void)state;
	for (int boundary = 0; boundary < CAL_FLEX_BOUNDARY_COUNT; boundary++) {
		for (int attached = 0; attached < 2; attached++) {
			CalDesc *desc = NULL;
			CalBeamDef beam = cal_beam_def();
			Findings f = {0};
			assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
			beam.name = "beam", beam.length = 2;
			beam.root =
				(CalSection){.EA = 1e6, .EIy = 140, .EIz = 100, .GJ = 100, .rhoA = 1, .rhoIy = 1e-3, .rhoIz = 1e-3};
			beam.choice.boundary = (CalFlexBoundary)boundary, beam.choice.attached = attached;
			assert_int_equal(cal_beam_add(desc, &beam, NULL, NULL), CAL_OK);
			attach(desc, "hinge", (CalNodeId){0}, cal_desc_find_node(desc, "beam/root"));
			assert_int_equal(desc_check_structure(desc, (CalGroupId){0}, findings_collect, &f), CAL_OK);
			if (f.warnings) {
				print_error("%s, %s: %s", cal_flex_boundary_name(beam.choice.boundary), attached ? "attached" : "free",
				            f.text);
			}
			assert_int_equal(f.warnings, 0);
			cal_desc_destroy(desc);
		}
	}
}

/* The frame of a body may carry mass, not shapes. */
static void shapes_at_the_frame_are_checked(void **state) {
	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		for (int moves = 0; moves < 2; moves++) {
			Boom b;
			boom_make(&b);
			CalFlexNode nodes[NODES + 1] = {b.nodes[0], b.nodes[1], {.mass = 0.5}};
			double numbers[3 * MODES * MODES] = {0};
			numbers[2] = moves ? 1e-3 : 0;
			nodes[NODES].node = cal_desc_body_node(b.desc, b.body);
			nodes[NODES].phi = kind == 0 ? numbers : NULL;
			nodes[NODES].psi = kind == 1 ? numbers : NULL;
			nodes[NODES].phi2 = kind == 2 ? numbers : NULL;
			b.flex.nodes = nodes;
			b.flex.node_count = NODES + 1;
			if (moves) {
				assert_found(&b, 1, 0, "arm.yaml:7:3: ", "\"boom\"", "own frame, node \"head\"", "a node of their own",
				             NULL);
			} else {
				assert_found(&b, 0, 0, NULL);
			}
		}
	}
}

static void rigid_shapes_are_checked(void **state) {
	(void)state;
	for (int bound = 0; bound < 2; bound++) { // two point masses alone have no bending
		Boom b;
		boom_make(&b);
		b.desc->bodies[0].def.mass = 0;
		b.desc->bodies[0].def.inertia = (CalMat3){{{0}}};
		b.flex.frequency_bound = bound ? 20 : 0;
		assert_found(&b, bound, !bound, "mode 1", "rigid motion", bound ? "bounded" : "singular", NULL);
	}
}

static void damping_is_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.D[1] = 0.05;
	assert_found(&b, 0, 1, "damping is not symmetric", "gyroscopic", NULL);
	boom_make(&b);
	b.D[3] = -0.1;
	assert_found(&b, 1, 0, "damping is negative", "mode 2", NULL);
}

static void frequencies_are_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	b.K[0] = b.K[3] = 1e16;
	assert_found(&b, 0, 1, "\"boom\"", "Hz", "millimeters", NULL);
	boom_make(&b);
	b.K[0] = b.K[3] = 1e-12;
	assert_found(&b, 0, 1, "\"boom\"", "Hz", NULL);
	boom_make(&b);
	b.flex.frequency_bound = 1;
	assert_found(&b, 0, 1, "all of its modes are above the frequency bound of 1 rad/s", NULL);
}

/* Masses with second-order shapes are always summed over, whatever was asked for. */
static void evaluation_is_reported(void **state) {
	(void)state;
	for (int i = 0; i < 3; i++) {
		Boom b;
		CalModel *model = NULL;
		CalFlexEvaluation how = {-1, -1, -1};
		const CalCompileOptions options = {.solver = i == 0 ? CAL_SOLVER_DENSE : CAL_SOLVER_RECURSIVE,
		                                   .modal_inertia =
		                                       i == 1 ? CAL_MODAL_INERTIA_SUMS : CAL_MODAL_INERTIA_INVARIANTS};
		boom_make(&b);
		b.nodes[1].phi2 = i == 2 ? b.phi2 : NULL;
		b.phi2[0] = -0.1;
		assert_int_equal(cal_desc_set_flexible(b.desc, b.body, &b.flex, NULL), CAL_OK);
		assert_int_equal(cal_model_compile(b.desc, &options, &model, NULL), CAL_OK);
		assert_int_equal(cal_flex_evaluation(model, 0, &how), CAL_OK);
		assert_int_equal(how.invariant_masses, i == 0 ? 2 : i == 1 ? 0 : 1);
		assert_int_equal(how.summed_masses, 2 - how.invariant_masses);
		assert_true(i == 1 || how.linear == 0);                                  // dense, and second order: no
		assert_int_equal(cal_flex_evaluation(model, 1, &how), CAL_ERR_ARGUMENT); // rigid
		assert_int_equal(cal_flex_evaluation(model, 2, &how), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_flex_evaluation(model, -1, &how), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_flex_evaluation(model, 0, NULL), CAL_ERR_ARGUMENT);
		cal_model_destroy(model);
		boom_end(&b);
	}
}

/** The wrist is on a node without shapes. */
static void interface_nodes_are_checked(void **state) {
	(void)state;
	Boom b;
	boom_make(&b);
	CalNodeId flange = add_node(b.desc, b.body, "flange", (CalVec3){2, 0, 0});
	b.desc->joints[1].inboard = flange;
	assert_found(&b, 1, 0, "\"wrist\"", "\"flange\"", "\"boom\"", "\"tip\" at the same place", NULL);
	boom_make(&b);
	flange = add_node(b.desc, b.body, "flange", (CalVec3){2, 0.1, 0});
	b.desc->joints[1].inboard = flange;
	assert_found(&b, 0, 1, "\"wrist\"", "\"flange\"", "do not move it", NULL);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_copied),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(bad_nodes_are_refused),
		cmocka_unit_test(numbers_that_are_not_finite_are_refused),
		cmocka_unit_test(body_is_made_flexible_once),
		cmocka_unit_test(allocation_failure_leaves_no_trace),
		cmocka_unit_test(sound_body_raises_nothing),
		cmocka_unit_test(masses_are_checked),
		cmocka_unit_test(stiffness_is_checked),
		cmocka_unit_test(singular_stiffness_is_an_error_unless_meant),
		cmocka_unit_test(singular_stiffness_is_not_compiled),
		cmocka_unit_test(shapes_are_checked),
		cmocka_unit_test(orthogonality_is_checked),
		cmocka_unit_test(shapes_at_the_frame_are_checked),
		cmocka_unit_test(generated_bodies_raise_nothing),
		cmocka_unit_test(rigid_shapes_are_checked),
		cmocka_unit_test(damping_is_checked),
		cmocka_unit_test(frequencies_are_checked),
		cmocka_unit_test(evaluation_is_reported),
		cmocka_unit_test(interface_nodes_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
