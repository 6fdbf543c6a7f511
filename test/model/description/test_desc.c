// SPDX-License-Identifier: Apache-2.0
/*
 * test_desc.c — the description: defaults, names, ids, refusals, and failure without a trace.
 *
 * Every refusal is checked for what its message names (object, place, remedy) and for leaving the description
 * as it was; every adding call is made to run out of memory at each of its allocations in turn.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "model/description/desc.h"

/** Fails unless the text contains every one of the parts (NULL-terminated list). */
static void assert_says(const char *text, ...) {
	va_list parts;
	va_start(parts, text);
	for (const char *part = va_arg(parts, const char *); part; part = va_arg(parts, const char *)) {
		if (!strstr(text, part)) {
			print_error("\"%s\"\ndoes not say \"%s\"\n", text, part);
		}
		assert_non_null(strstr(text, part));
	}
	va_end(parts);
}

static void assert_vec(CalVec3 v, double x, double y, double z) {
	assert_true(fabs(v.x - x) < 1e-15 && fabs(v.y - y) < 1e-15 && fabs(v.z - z) < 1e-15);
}

typedef struct Counts {
	int groups, bodies, nodes, joints;
} Counts;

static Counts counts_of(const CalDesc *d) {
	return (Counts){d->group_count, d->body_count, d->node_count, d->joint_count};
}

static void assert_same_counts(const CalDesc *d, Counts before) {
	Counts now = counts_of(d);
	assert_memory_equal(&now, &before, sizeof now);
}

static CalBodyId add_body(CalDesc *desc, const char *name) {
	CalBodyDef def = cal_body_def();
	CalBodyId id = {0};
	def.name = name;
	def.mass = 1;
	assert_int_equal(cal_desc_add_body(desc, &def, &id, NULL), CAL_OK);
	return id;
}

static CalJointDef joint_named(CalJointType type, const char *name) {
	CalJointDef def = cal_joint_def(type);
	def.name = name;
	def.place = "arm.yaml:9:5";
	return def;
}

static CalDesc *desc_new(void) {
	CalDesc *desc = NULL;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	return desc;
}

static void new_description_has_the_main_group(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	assert_int_equal(cal_desc_group_count(desc), 1);
	assert_int_equal(cal_desc_find_group(desc, "main").value, 1);
	assert_int_equal(cal_desc_body_count(desc), 0);
	assert_int_equal(cal_desc_joint_count(desc), 0);
	assert_vec(desc->groups[0].gravity, 0, 0, 0);
	cal_desc_destroy(desc);
	cal_desc_destroy(NULL);
	assert_int_equal(cal_desc_create(NULL, NULL), CAL_ERR_ARGUMENT);
	CalAllocator half = {.alloc = failing_alloc};
	assert_int_equal(cal_desc_create(&half, &desc), CAL_ERR_ARGUMENT);
}

static void joint_type_names_follow_the_list(void **state) {
	(void)state;
#define NAME_TEST(type, name) assert_string_equal(cal_joint_type_name(type), #name);
	CAL_JOINT_TYPE_LIST(NAME_TEST)
#undef NAME_TEST
	assert_null(cal_joint_type_name(CAL_JOINT_TYPE_COUNT));
	assert_null(cal_joint_type_name((CalJointType)-1));
}

static void names_are_found_again(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	char name[32];
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "body%d", i);
		CalBodyId body = add_body(desc, name);
		assert_int_equal(body.value, i + 1);
		CalNodeDef tip = cal_node_def();
		tip.name = "tip";
		assert_int_equal(cal_desc_add_node(desc, body, &tip, NULL, NULL), CAL_OK);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "body%d", i);
		CalBodyId body = cal_desc_find_body(desc, name);
		assert_int_equal(body.value, i + 1);
		assert_int_equal(cal_desc_find_node(desc, name).value, cal_desc_body_node(desc, body).value);
		snprintf(name, sizeof name, "body%d/head", i);
		assert_int_equal(cal_desc_find_node(desc, name).value, cal_desc_body_node(desc, body).value);
		snprintf(name, sizeof name, "body%d/tip", i);
		CalNodeId tip = cal_desc_find_node(desc, name);
		assert_int_equal(desc_node(desc, tip)->body.value, body.value);
		assert_string_equal(desc_node(desc, tip)->def.name, "tip");
	}
	CalNodeDef pad = cal_node_def();
	CalNodeId pad_id;
	pad.name = "pad";
	assert_int_equal(cal_desc_add_node(desc, (CalBodyId){0}, &pad, &pad_id, NULL), CAL_OK);
	assert_int_equal(cal_desc_find_node(desc, "ground/pad").value, pad_id.value);
	assert_int_equal(cal_desc_find_node(desc, "ground").value, 0);
	assert_int_equal(cal_desc_find_node(desc, "ground/tip").value, 0);
	assert_int_equal(cal_desc_find_node(desc, "nobody/tip").value, 0);
	assert_int_equal(cal_desc_find_node(desc, "body1/").value, 0);
	assert_int_equal(cal_desc_find_body(desc, "body").value, 0);
	assert_int_equal(cal_desc_find_joint(desc, "body1").value, 0);
	assert_int_equal(cal_desc_body_node(desc, (CalBodyId){501}).value, 0);
	cal_desc_destroy(desc);
}

static void strings_are_copied(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	char name[] = "boom", place[] = "arm.yaml:3:1";
	CalBodyDef def = cal_body_def();
	def.name = name;
	def.place = place;
	CalBodyId id;
	assert_int_equal(cal_desc_add_body(desc, &def, &id, NULL), CAL_OK);
	name[0] = place[0] = '?';
	assert_string_equal(desc_body(desc, id)->def.name, "boom");
	assert_string_equal(desc_body(desc, id)->def.place, "arm.yaml:3:1");
	assert_int_equal(desc_body(desc, id)->def.group.value, 1);
	cal_desc_destroy(desc);
}

static void bad_names_are_refused(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalBodyId arm = add_body(desc, "arm");
	CalError error;
	CalBodyDef body = cal_body_def();
	body.place = "arm.yaml:4:1";
	Counts before = counts_of(desc);
	const struct {
		const char *name, *says;
	} bodies[] = {{NULL, "no name"},   {"", "no name"},        {"a/", "'/'"},    {"a//b", "'/'"},
	              {"ground/b", "'/'"}, {"ground", "reserved"}, {"arm", "in use"}};
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		body.name = bodies[i].name;
		assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_MODEL);
		assert_says(error.text, "arm.yaml:4:1: ", "body", bodies[i].says, NULL);
	}
	CalNodeDef node = cal_node_def();
	node.place = "arm.yaml:5:1";
	const struct { const char *name, *says; } nodes[] = {{NULL, "no name"}, {"a/b", "'/'"}, {"head", "reserved"}};
	for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
		node.name = nodes[i].name;
		assert_int_equal(cal_desc_add_node(desc, arm, &node, NULL, &error), CAL_ERR_MODEL);
		assert_says(error.text, "arm.yaml:5:1: ", "node", nodes[i].says, NULL);
	}
	assert_same_counts(desc, before);
	cal_desc_destroy(desc);
}

static void duplicates_name_both_places(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalError error;
	CalGroupDef group = cal_group_def();
	CalBodyDef body = cal_body_def();
	CalNodeDef node = cal_node_def();
	CalJointDef joint = joint_named(CAL_JOINT_WELD, "j");
	CalBodyId id;
	group.name = "g";
	body.name = "b";
	node.name = "n";
	group.place = body.place = node.place = joint.place = "a.yaml:1:1";
	assert_int_equal(cal_desc_add_group(desc, &group, NULL, &error), CAL_OK);
	assert_int_equal(cal_desc_add_body(desc, &body, &id, &error), CAL_OK);
	assert_int_equal(cal_desc_add_node(desc, id, &node, NULL, &error), CAL_OK);
	CalNodeId head = cal_desc_body_node(desc, id);
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_OK);
	Counts before = counts_of(desc);
	group.place = body.place = node.place = joint.place = "b.yaml:2:2";
	assert_int_equal(cal_desc_add_group(desc, &group, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "b.yaml:2:2: group \"g\"", "(a.yaml:1:1)", "rename", NULL);
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "b.yaml:2:2: body \"b\"", "(a.yaml:1:1)", "rename", NULL);
	assert_int_equal(cal_desc_add_node(desc, id, &node, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "b.yaml:2:2: node \"n\" of \"b\"", "(a.yaml:1:1)", "rename", NULL);
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "b.yaml:2:2: joint \"j\"", "(a.yaml:1:1)", "rename", NULL);
	assert_same_counts(desc, before);
	cal_desc_destroy(desc);
}

static void numbers_that_are_not_finite_are_refused(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalBodyId arm = add_body(desc, "arm");
	CalNodeId head = cal_desc_body_node(desc, arm);
	Counts before = counts_of(desc);
	CalError error;
	CalBodyDef body = cal_body_def();
	body.name = "b";
	body.inertia.m[1][2] = NAN;
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "body \"b\": inertia is not finite", NULL);
	body.com.y = INFINITY;
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "center of mass is not finite", NULL);
	body.mass = -INFINITY;
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "mass is not finite", NULL);
	CalNodeDef node = cal_node_def();
	node.name = "n";
	node.placement.position.z = NAN;
	assert_int_equal(cal_desc_add_node(desc, arm, &node, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "node \"n\" of \"arm\": position is not finite", NULL);
	node.placement.position.z = 1.1e50; // finite, but m z^2 and its square are not
	assert_int_equal(cal_desc_add_node(desc, arm, &node, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "node \"n\" of \"arm\": position is not finite, or above 1e50", NULL);
	CalGroupDef group = cal_group_def();
	group.name = "g";
	group.gravity.x = NAN;
	assert_int_equal(cal_desc_add_group(desc, &group, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "group \"g\": gravity is not finite", NULL);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, NAN}), CAL_ERR_ARGUMENT);
	CalJointDef joint = joint_named(CAL_JOINT_REVOLUTE, "j");
	joint.dof[0].damping = NAN;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "arm.yaml:9:5: joint \"j\": damping of degree of freedom 1 is not finite", NULL);
	joint = joint_named(CAL_JOINT_REVOLUTE, "j");
	joint.axis.x = INFINITY;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "joint \"j\": axis is not finite", NULL);
	joint = joint_named(CAL_JOINT_SCREW, "j");
	joint.pitch = NAN;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "joint \"j\": pitch is not finite", NULL);
	joint = joint_named(CAL_JOINT_WELD, "j");
	joint.outboard.orientation.w = NAN;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "joint \"j\": outboard orientation is not finite", NULL);
	assert_same_counts(desc, before);
	cal_desc_destroy(desc);
}

static void unknown_ids_are_refused(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalBodyId arm = add_body(desc, "arm");
	CalNodeId head = cal_desc_body_node(desc, arm), nowhere = {99};
	CalError error;
	CalBodyDef body = cal_body_def();
	body.name = "b";
	body.group.value = 2;
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, &error), CAL_ERR_ARGUMENT);
	assert_says(error.text, "no group with id 2", NULL);
	CalNodeDef node = cal_node_def();
	node.name = "n";
	assert_int_equal(cal_desc_add_node(desc, (CalBodyId){7}, &node, NULL, &error), CAL_ERR_ARGUMENT);
	assert_says(error.text, "no body with id 7", NULL);
	CalJointDef joint = joint_named(CAL_JOINT_WELD, "j");
	assert_int_equal(cal_desc_attach(desc, nowhere, &joint, head, NULL, &error), CAL_ERR_ARGUMENT);
	assert_says(error.text, "no node with id 99", NULL);
	assert_int_equal(cal_desc_attach(desc, head, &joint, nowhere, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_attach(desc, head, &joint, (CalNodeId){0}, NULL, &error), CAL_ERR_MODEL);
	assert_says(error.text, "joint \"j\"", "outboard side is the ground", "exchange", NULL);
	joint.type = CAL_JOINT_TYPE_COUNT;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, head, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){2}, (CalVec3){0, 0, -9}), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9}), CAL_OK);
	assert_vec(desc->groups[0].gravity, 0, 0, -9);
	assert_int_equal(cal_desc_add_body(NULL, &body, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_desc_add_body(desc, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	cal_desc_destroy(desc);
}

/** What is stored for a joint definition. */
static CalJointDef stored(CalJointDef def) {
	CalDesc *desc = desc_new();
	CalBodyId arm = add_body(desc, "arm");
	CalJointId id = {0};
	CalError error = {0};
	def.name = "j";
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &def, cal_desc_body_node(desc, arm), &id, &error), CAL_OK);
	assert_int_equal(cal_desc_find_joint(desc, "j").value, id.value);
	CalJointDef result = desc_joint(desc, id)->def;
	result.name = result.place = NULL;
	cal_desc_destroy(desc);
	return result;
}

static void stored_joints_are_unit_and_complete(void **state) {
	(void)state;
	CalJointDef bare = {.type = CAL_JOINT_REVOLUTE};
	CalJointDef j = stored(bare);
	assert_vec(j.axis, 0, 0, 1);
	assert_true(j.inboard.orientation.w == 1 && j.outboard.orientation.w == 1);
	assert_true(j.dof[0].gear_ratio == 1);
	bare.axis = (CalVec3){3, 0, 4};
	bare.inboard.orientation = (CalQuat){0, 2, 0, 0};
	bare.dof[0].gear_ratio = -60;
	j = stored(bare);
	assert_vec(j.axis, 0.6, 0, 0.8);
	assert_true(j.inboard.orientation.x == 1);
	assert_true(j.dof[0].gear_ratio == -60);
	CalJointDef universal = {.type = CAL_JOINT_UNIVERSAL};
	assert_vec(stored(universal).axis2, 1, 0, 0);
	universal.axis = (CalVec3){1, 2, 2};
	j = stored(universal);
	assert_true(fabs(j.axis.x * j.axis2.x + j.axis.y * j.axis2.y + j.axis.z * j.axis2.z) < 1e-15);
	universal.axis2 = (CalVec3){0, 5, 0}; // need not be perpendicular
	assert_vec(stored(universal).axis2, 0, 1, 0);
	CalJointDef planar = {.type = CAL_JOINT_PLANAR, .axis2 = {1, 0, 1}};
	assert_vec(stored(planar).axis2, 1, 0, 0);
	CalJointDef sequence = {.type = CAL_JOINT_SEQUENCE, .element_count = 2};
	sequence.elements[0] = (CalElement){.type = CAL_JOINT_REVOLUTE, .axis = {0, 2, 0}};
	sequence.elements[1] = (CalElement){.type = CAL_JOINT_SPHERICAL}; // needs no axis
	assert_vec(stored(sequence).elements[0].axis, 0, 1, 0);
}

static void assert_refused(CalJointDef def, const char *says) {
	CalDesc *desc = desc_new();
	CalBodyId arm = add_body(desc, "arm");
	CalError error = {0};
	def.name = "j";
	def.place = "arm.yaml:9:5";
	CalStatus status = cal_desc_attach(desc, (CalNodeId){0}, &def, cal_desc_body_node(desc, arm), NULL, &error);
	assert_int_equal(status, CAL_ERR_MODEL);
	assert_says(error.text, "arm.yaml:9:5: joint \"j\": ", says, NULL);
	assert_int_equal(cal_desc_joint_count(desc), 0);
	cal_desc_destroy(desc);
}

static void joints_without_direction_are_refused(void **state) {
	(void)state;
	assert_refused((CalJointDef){.type = CAL_JOINT_REVOLUTE, .axis = {1e-12, 0, 0}}, "axis gives no direction");
	assert_refused((CalJointDef){.type = CAL_JOINT_UNIVERSAL, .axis = {0, 1, 0}, .axis2 = {0, -2, 1e-9}},
	               "axis2 is parallel to axis");
	assert_refused((CalJointDef){.type = CAL_JOINT_PLANAR, .axis2 = {0, 0, 3}}, "axis2 is parallel to axis");
	assert_refused((CalJointDef){.type = CAL_JOINT_WELD, .inboard.orientation = {1e-9, 0, 0, 0}},
	               "inboard orientation is a quaternion of almost zero");
	assert_refused((CalJointDef){.type = CAL_JOINT_SEQUENCE, .element_count = 7}, "0 to 6 elements, not 7");
	assert_refused((CalJointDef){.type = CAL_JOINT_SEQUENCE, .element_count = -1}, "0 to 6 elements, not -1");
	assert_refused(
		(CalJointDef){.type = CAL_JOINT_SEQUENCE, .element_count = 1, .elements = {{.type = CAL_JOINT_REVOLUTE}}},
		"axis of element 1 gives no direction");
}

/* ---- running out of memory ----------------------------------------------------------------- */

typedef CalStatus (*AddFn)(CalDesc *desc, int number, CalError *error);

static CalStatus add_some_group(CalDesc *desc, int number, CalError *error) {
	char name[32];
	snprintf(name, sizeof name, "group%d", number);
	CalGroupDef def = cal_group_def();
	def.name = name;
	def.place = "here";
	return cal_desc_add_group(desc, &def, NULL, error);
}

static CalStatus add_some_body(CalDesc *desc, int number, CalError *error) {
	char name[32];
	snprintf(name, sizeof name, "body%d", number);
	CalBodyDef def = cal_body_def();
	def.name = name;
	def.place = "here";
	return cal_desc_add_body(desc, &def, NULL, error);
}

static CalStatus add_some_node(CalDesc *desc, int number, CalError *error) {
	char name[32];
	snprintf(name, sizeof name, "node%d", number);
	CalNodeDef def = cal_node_def();
	def.name = name;
	def.place = "here";
	return cal_desc_add_node(desc, (CalBodyId){1}, &def, NULL, error);
}

static CalStatus attach_some_joint(CalDesc *desc, int number, CalError *error) {
	char name[32];
	snprintf(name, sizeof name, "joint%d", number);
	CalJointDef def = joint_named(CAL_JOINT_SPHERICAL, name);
	return cal_desc_attach(desc, (CalNodeId){0}, &def, cal_desc_body_node(desc, (CalBodyId){1}), NULL, error);
}

static void every_failed_allocation_leaves_no_trace(void **state) {
	(void)state;
	const AddFn adders[] = {add_some_group, add_some_body, add_some_node, attach_some_joint};
	for (size_t a = 0; a < sizeof adders / sizeof adders[0]; a++) {
		FailingAllocator counter = {0};
		CalAllocator allocator = failing_allocator(&counter);
		CalDesc *desc;
		assert_int_equal(cal_desc_create(&allocator, &desc), CAL_OK);
		add_body(desc, "arm");
		int failures = 0;
		for (int number = 0; number < 40; number++) { // enough to grow arrays and index several times
			for (int k = 1;; k++) {
				Counts before = counts_of(desc);
				CalError error = {0};
				counter.calls = 0;
				counter.fail_at = k;
				CalStatus status = adders[a](desc, number, &error);
				counter.fail_at = 0;
				if (status == CAL_OK) {
					break;
				}
				failures++;
				assert_int_equal(status, CAL_ERR_MEMORY);
				assert_int_equal(error.status, CAL_ERR_MEMORY);
				assert_says(error.text, "out of memory", NULL);
				assert_same_counts(desc, before);
			}
		}
		assert_true(failures > 40); // one for the texts of each, and those of growing arrays
		assert_int_equal(cal_desc_find_body(desc, "arm").value, 1);
		cal_desc_destroy(desc);
		assert_int_equal(counter.live, 0);
	}
}

/* What was reserved is neither moved nor larger; more can be added; a failure changes nothing. */
static void reserved_room_is_exact(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	CalAllocator allocator = failing_allocator(&counter);
	CalDesc *desc;
	assert_int_equal(cal_desc_create(&allocator, &desc), CAL_OK);
	assert_int_equal(cal_desc_reserve(desc, -1, 0, 0), CAL_ERR_ARGUMENT);
	counter.calls = 0;
	counter.fail_at = 2;
	assert_int_equal(cal_desc_reserve(desc, 50, 60, 50), CAL_ERR_MEMORY);
	counter.fail_at = 0;
	assert_int_equal(cal_desc_reserve(desc, 50, 60, 50), CAL_OK);
	const void *const arrays[] = {desc->bodies, desc->nodes, desc->joints};
	CalError error = {0};
	for (int i = 0; i < 50; i++)
		assert_int_equal(add_some_body(desc, i, &error), CAL_OK);
	assert_ptr_equal(desc->bodies, arrays[0]);
	assert_ptr_equal(desc->nodes, arrays[1]);
	assert_ptr_equal(desc->joints, arrays[2]);
	assert_int_equal(desc->body_capacity, 50);
	assert_int_equal(desc->node_capacity, 60);
	assert_int_equal(desc->joint_capacity, 50);
	assert_int_equal(add_some_body(desc, 50, &error), CAL_OK);
	assert_int_equal(cal_desc_body_count(desc), 51);
	cal_desc_destroy(desc);
	assert_int_equal(counter.live, 0);
}

static void creation_fails_without_a_trace(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	CalAllocator allocator = failing_allocator(&counter);
	CalDesc *desc = NULL;
	int k = 1;
	for (;; k++) {
		counter.calls = 0;
		counter.fail_at = k;
		if (cal_desc_create(&allocator, &desc) == CAL_OK) {
			break;
		}
		assert_null(desc);
		assert_int_equal(counter.live, 0);
	}
	assert_true(k > 3);
	cal_desc_destroy(desc);
	assert_int_equal(counter.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_description_has_the_main_group),
		cmocka_unit_test(joint_type_names_follow_the_list),
		cmocka_unit_test(names_are_found_again),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(bad_names_are_refused),
		cmocka_unit_test(duplicates_name_both_places),
		cmocka_unit_test(numbers_that_are_not_finite_are_refused),
		cmocka_unit_test(unknown_ids_are_refused),
		cmocka_unit_test(stored_joints_are_unit_and_complete),
		cmocka_unit_test(joints_without_direction_are_refused),
		cmocka_unit_test(every_failed_allocation_leaves_no_trace),
		cmocka_unit_test(reserved_room_is_exact),
		cmocka_unit_test(creation_fails_without_a_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
