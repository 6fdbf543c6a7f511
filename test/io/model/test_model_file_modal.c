// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_modal.c — flexible bodies of a description read back by cal_flex_body(), cal_flex_node() and
 * cal_flex_modal(), and the way of a beam in a file through a modal file into another description.
 */
#define _POSIX_C_SOURCE 200809L // mkstemp
#include <math.h>
#include <unistd.h>

#include <calder/fe.h>

#include "model_file_flex_support.h"
#include "support/failing_allocator.h"

#define TUBE "{shape: tube, diameter: 0.1, thickness: 0.005, youngs_modulus: 70 GPa, density: 2700}"
#define BODIES                                                                                                                        \
	"calder: 1\nbodies:\n"                                                                                                            \
	"  boom: {beam: {length: 2, section: " TUBE ", elements: 2, damping_ratio: 0.01, masses: [{x: 2, mass: 1}]}}\n"                   \
	"  curved: {beam: {length: 2, section: " TUBE ", second_order: true, frequency_bound: 500}}\n"                                    \
	"  hand: {mass: 2, com: [0.1, 0, 0], inertia: [1, 2, 3], nodes: {fix: [0, 0, 3], p: {at: [1, 0, 0], orientation: {z: 90 deg}}}, " \
	"flexible: {stiffness: [[5, 1], [1, 7]], nodes: {p: {mass: 1, inertia: [1, 1, 1], phi: [[1, 0], [0, 1], [0, 0]], "                \
	"psi: [[0, 0], [0, 0], [1, 0]]}}}}\n"                                                                                             \
	"  rigid: {mass: 1, nodes: {t: [0, 0, 1]}}\n"

static CalBodyId find(const CalSetup *file, const char *name) { return cal_desc_find_body(cal_setup_desc(file), name); }

static void nodes_come_in_order(void **state) {
	(void)state;
	CalSetup *file = file_of(BODIES);
	const CalDesc *desc = cal_setup_desc(file);
	CalFlexNodeInfo info;
	CalBodyDef rigid;
	CalFlexDef flex;
	assert_int_equal(cal_flex_body(desc, find(file, "hand"), &rigid, &flex), CAL_OK);
	assert_string_equal(rigid.name, "hand");
	assert_near(rigid.inertia.m[1][1], 2, 0);
	assert_int_equal(flex.modes, 2);
	assert_int_equal(flex.node_count, 1);
	assert_int_equal(cal_flex_node(desc, find(file, "hand"), 0, &info), CAL_OK);
	assert_string_equal(info.name, "p"); // listed ones first, whatever their order in the body
	assert_near(info.flex.mass, 1, 0);
	assert_near(info.flex.psi[4], 1, 0);
	assert_null(info.flex.phi2);
	assert_int_equal(info.flex.node.value, cal_desc_find_node(desc, "hand/p").value);
	assert_int_equal(cal_flex_node(desc, find(file, "hand"), 1, &info), CAL_OK);
	assert_string_equal(info.name, "fix");
	assert_null(info.flex.phi);
	assert_near(info.placement.position.z, 3, 0);
	assert_int_equal(cal_flex_node(desc, find(file, "hand"), 2, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_node(desc, find(file, "hand"), -1, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_body(desc, find(file, "rigid"), NULL, &flex), CAL_OK);
	assert_int_equal(flex.modes, 0);
	assert_int_equal(cal_flex_node(desc, find(file, "rigid"), 0, &info), CAL_OK);
	assert_string_equal(info.name, "t");
	assert_int_equal(cal_flex_node(desc, find(file, "rigid"), 1, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_body(desc, (CalBodyId){0}, &rigid, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_body(desc, (CalBodyId){99}, &rigid, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_body(NULL, (CalBodyId){1}, &rigid, NULL), CAL_ERR_ARGUMENT);
	cal_setup_destroy(file);
}

/* Names, kinds and the node at the origin that a picture needs. */
static void a_modal_body_has_it_all(void **state) {
	(void)state;
	CalSetup *file = file_of(BODIES);
	CalError error = {0};
	CalModal *modal;
	CalModalNode node;
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "hand"), 0, NULL, &modal, &error), CAL_OK);
	CalModalInfo info = cal_modal_info(modal);
	assert_string_equal(info.name, "hand");
	assert_near(info.mass, 3, 1e-15);
	assert_near(info.rigid_mass, 2, 0);
	assert_int_equal(info.modes, 2);
	assert_near(info.stiffness[1], 1, 0);
	assert_null(info.damping);
	assert_string_equal(info.notes, "");
	static const struct {
		const char *name;
		CalModalNodeKind kind;
	} nodes[] = {{"p", CAL_MODAL_FRAME}, {"fix", CAL_MODAL_FRAME}, {"origin", CAL_MODAL_DISPLAY}};
	assert_int_equal(info.node_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cal_modal_node(modal, i, &node), CAL_OK);
		assert_string_equal(node.name, nodes[i].name);
		assert_int_equal(node.kind, nodes[i].kind);
	}
	assert_int_equal(cal_modal_node(modal, 0, &node), CAL_OK);
	assert_near(node.placement.orientation.z, sqrt(0.5), 1e-15);
	assert_int_equal(cal_modal_set_name(modal, "fist"), CAL_OK);
	assert_string_equal(cal_modal_info(modal).name, "fist");
	assert_int_equal(cal_modal_set_name(modal, NULL), CAL_ERR_ARGUMENT);
	cal_modal_destroy(modal);
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "boom"), 0, NULL, &modal, &error), CAL_OK);
	assert_int_equal(cal_modal_node(modal, 0, &node), CAL_OK);
	assert_string_equal(node.name, "root");
	assert_int_equal(node.kind, CAL_MODAL_FRAME);
	assert_int_equal(cal_modal_node(modal, 3, &node), CAL_OK);
	assert_string_equal(node.name, "mass1");
	assert_int_equal(node.kind, CAL_MODAL_MASS);
	cal_modal_destroy(modal);
	cal_setup_destroy(file);
}

static void second_order_is_left_out_on_purpose_only(void **state) {
	(void)state;
	CalSetup *file = file_of(BODIES);
	CalError error = {0};
	CalModal *modal;
	CalModalNode tip;
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "curved"), 0, NULL, &modal, &error), CAL_OK);
	assert_null(strstr(cal_modal_info(modal).notes, "second-order"));
	assert_int_equal(cal_modal_node(modal, 8, &tip), CAL_OK);
	assert_string_equal(tip.name, "tip");
	assert_non_null(tip.phi2);
	cal_modal_destroy(modal);
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "curved"), 1, NULL, &modal, &error), CAL_OK);
	assert_int_equal(cal_modal_node(modal, 8, &tip), CAL_OK);
	assert_null(tip.phi2);
	assert_non_null(strstr(cal_modal_info(modal).notes, "second-order shapes and geometric stiffness are left out"));
	assert_non_null(strstr(cal_modal_info(modal).notes, "frequency bound of 500 rad/s"));
	cal_modal_destroy(modal);
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "rigid"), 0, NULL, &modal, &error),
	                 CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "body \"rigid\" is rigid"));
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), (CalBodyId){0}, 0, NULL, &modal, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "boom"), 0, NULL, NULL, &error), CAL_ERR_ARGUMENT);
	cal_setup_destroy(file);
}

/* Beam in a file, modal file, body again: the same to the last bit. */
static void goes_through_a_modal_file(const char *name) {
	char path[] = "modal_test_XXXXXX";
	const int descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	close(descriptor);
	CalSetup *file = file_of(BODIES);
	CalError error = {0};
	CalModal *modal, *again;
	CalDesc *desc;
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, name), 0, NULL, &modal, &error), CAL_OK);
	assert_int_equal(cal_modal_write(modal, path, &error), CAL_OK);
	if (cal_modal_read(path, NULL, NULL, &again, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_modal_add(again, desc, NULL, (CalGroupId){0}, 0, NULL, &error), CAL_OK);
	CalBodyDef a, b;
	CalFlexDef fa, fb;
	const CalBodyId ia = find(file, name), ib = cal_desc_find_body(desc, name);
	assert_int_equal(cal_flex_body(cal_setup_desc(file), ia, &a, &fa), CAL_OK);
	assert_int_equal(cal_flex_body(desc, ib, &b, &fb), CAL_OK);
	assert_int_equal(fa.modes, 4);
	assert_int_equal(fb.modes, 4);
	assert_same("stiffness", fb.stiffness, fa.stiffness, 16, 0);
	assert_int_equal(!fb.damping, !fa.damping);
	if (fa.damping)
		assert_same("damping", fb.damping, fa.damping, 16, 0);
	assert_int_equal(fb.node_count, fa.node_count);
	for (int i = 0; i < fa.node_count; i++) {
		CalFlexNodeInfo na, nb;
		assert_int_equal(cal_flex_node(cal_setup_desc(file), ia, i, &na), CAL_OK);
		assert_int_equal(cal_flex_node(desc, ib, i, &nb), CAL_OK);
		assert_string_equal(nb.name, na.name);
		assert_same("position", &nb.placement.position.x, &na.placement.position.x, 3, 0);
		assert_same("mass", &nb.flex.mass, &na.flex.mass, 1, 0);
		if (na.flex.phi)
			assert_same("phi", nb.flex.phi, na.flex.phi, 12, 0);
		if (na.flex.psi)
			assert_same("psi", nb.flex.psi, na.flex.psi, 12, 0);
		assert_int_equal(!nb.flex.phi2, !na.flex.phi2);
		if (na.flex.phi2)
			assert_same("phi2", nb.flex.phi2, na.flex.phi2, 48, 0);
	}
	cal_desc_destroy(desc);
	cal_modal_destroy(modal);
	cal_modal_destroy(again);
	cal_setup_destroy(file);
	unlink(path);
}

static void beams_go_through_a_modal_file(void **state) {
	(void)state;
	goes_through_a_modal_file("boom");
	goes_through_a_modal_file("curved");
}

/* What a reader would refuse is not written. */
static void an_unsprung_body_is_not_written(void **state) {
	(void)state;
	CalSetup *file = file_of("calder: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1], nodes: {p: [1, 0, 0]}, flexible: {"
	                         "stiffness: 0, unsprung: true, nodes: {p: {mass: 1, phi: [0, 1, 0]}}}}}\n");
	CalError error = {0};
	CalModal *modal = NULL;
	assert_int_equal(cal_flex_modal(cal_setup_desc(file), find(file, "b"), 0, NULL, &modal, &error), CAL_OK);
	static const char *const names[] = {"unsprung_test.json", "unsprung_test.sid"};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cal_modal_write(modal, names[i], &error), CAL_ERR_INPUT);
		assert_non_null(strstr(error.text, "the stiffness is singular: mode 1 has none"));
		assert_int_equal(access(names[i], F_OK), -1);
	}
	cal_modal_destroy(modal);
	cal_setup_destroy(file);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static void every_allocation_may_fail(void **state) {
	(void)state;
	CalSetup *file = file_of("calder: 1\nbodies: {big: {beam: {length: 2, section: " TUBE
	                         ", elements: 20, modes: 20, damping_ratio: 0.1}}}\n");
	long failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalError error = {0};
		CalModal *modal;
		const CalStatus status = cal_flex_modal(cal_setup_desc(file), find(file, "big"), 0, &allocator, &modal, &error);
		cal_modal_destroy(modal);
		assert_int_equal(counter.live, 0);
		if (status == CAL_OK)
			break;
		failures++;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_non_null(strstr(error.text, "body \"big\": out of memory"));
	}
	assert_true(failures >= 2);
	cal_setup_destroy(file);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_come_in_order),
		cmocka_unit_test(a_modal_body_has_it_all),
		cmocka_unit_test(second_order_is_left_out_on_purpose_only),
		cmocka_unit_test(beams_go_through_a_modal_file),
		cmocka_unit_test(an_unsprung_body_is_not_written),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
