// SPDX-License-Identifier: Apache-2.0
/*
 * test_device_types.c — the types of devices: every table of fields is sound, and a definition can be copied by it.
 */
#include "rig.h"

#include <calder/motion.h>

#include "device/device_type.h"

static void every_field_is_within_its_definition_and_documented(void **state) {
	(void)state;
	int count = 0;
	for (const DeviceType *type; (type = device_type(count)); count++) {
		const FieldTable *table = &type->table;
		assert_ptr_equal(device_type_find(table->what), type);
		assert_true(table->doc && table->doc[0]);
		assert_true(type->name < type->size && type->place < type->size && type->add);
		for (int i = 0; i < table->count; i++) {
			const Field *field = &table->fields[i];
			if (!field->doc || !field->doc[0] || field->offset >= type->size)
				fail_msg("%s.%s has no documentation, or no place in the definition", table->what, field->name);
			if (field_find(table, field->name) != field)
				fail_msg("%s.%s is listed twice", table->what, field->name);
		}
	}
	assert_true(count > 10);
	assert_null(device_type_find("no such device"));
}

/* ---- copies --------------------------------------------------------------------------------------- */

typedef struct Pool {
	_Alignas(max_align_t) char bytes[4096];
	size_t used;
	int left; // calls that still succeed
} Pool;

static void *pool_get(void *user, size_t size) {
	Pool *pool = user;
	if (pool->left-- <= 0)
		return NULL;
	void *at = pool->bytes + pool->used;
	pool->used += (size + 15) / 16 * 16;
	assert_true(pool->used <= sizeof pool->bytes);
	return at;
}

static int is_in(const Pool *pool, const void *p) {
	return (const char *)p >= pool->bytes && (const char *)p < pool->bytes + pool->used;
}

/* Copies once for every number of calls that succeed; the last one succeeds with all. Returns their number. */
static int copy_until_it_succeeds(const char *type, const void *from, void *to, Pool *pool) {
	for (int calls = 0; calls < 100; calls++) {
		*pool = (Pool){.left = calls};
		if (device_def_copy(device_type_find(type), from, to, (FieldMemory){pool_get, pool}))
			return calls;
	}
	fail_msg("%s: no copy", type);
	return 0;
}

static void tables_texts_and_formulas_are_copied(void **state) {
	(void)state;
	static Pool pool;
	const double time[] = {0, 1, 3}, value[] = {2, -1, 5};
	const CalTable table = {CAL_TABLE_CUBIC, 3, time, value};
	const CalServoDef servo = {
		.name = "motor", .dof = 2, .reference.table = table, .proportional = 7, .place = "a.yaml:3:1"};
	CalServoDef servo2;
	assert_int_equal(copy_until_it_succeeds("servo", &servo, &servo2, &pool), 4);
	assert_string_equal(servo2.name, "motor");
	assert_string_equal(servo2.place, "a.yaml:3:1");
	assert_true(is_in(&pool, servo2.name) && is_in(&pool, servo2.place) && is_in(&pool, servo2.reference.table.time));
	assert_int_equal(servo2.dof, 2);
	assert_true(servo2.proportional == 7 && servo2.reference.table.shape == CAL_TABLE_CUBIC);
	assert_memory_equal(servo2.reference.table.value, value, sizeof value);

	const CalJointDriveDef drive = {.name = "d", .q = {.formula = "sin(t)", .table.shape = CAL_TABLE_SMOOTH}};
	CalJointDriveDef drive2;
	assert_int_equal(copy_until_it_succeeds("joint_drive", &drive, &drive2, &pool), 2);
	assert_string_equal(drive2.q.formula, "sin(t)");
	assert_true(is_in(&pool, drive2.q.formula) && !drive2.q.table.time && !drive2.place);

	const CalAppliedLoadDef load = {.name = "l",
	                                .effort = {.table = table},
	                                .moment = {{.formula = "1"}, {0}, {.number = 3}},
	                                .force = {{0}, {.formula = "t"}, {0}},
	                                .end = 4};
	CalAppliedLoadDef load2;
	assert_int_equal(copy_until_it_succeeds("applied_load", &load, &load2, &pool), 5);
	assert_string_equal(load2.moment[0].formula, "1");
	assert_string_equal(load2.force[1].formula, "t");
	assert_true(is_in(&pool, load2.force[1].formula) && !load2.force[0].formula &&
	            is_in(&pool, load2.effort.table.time));
	assert_memory_equal(load2.effort.table.value, value, sizeof value);
	assert_true(load2.moment[2].number == 3 && load2.end == 4);
}

static void shapes_are_copied_but_their_meshes(void **state) {
	(void)state;
	static Pool pool;
	const CalMesh *mesh = (const CalMesh *)(const void *)&pool; // not looked at
	const CalShapeDef shapes[] = {{.name = "ball", .radius = 2, .place = "p"}, {.name = "rock", .mesh = mesh}};
	const CalNodeId nodes[] = {{3}, {0}};
	const CalContactDef contact = {.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2};
	CalContactDef made;
	assert_int_equal(copy_until_it_succeeds("contact", &contact, &made, &pool), 6);
	assert_true(is_in(&pool, made.shapes) && is_in(&pool, made.nodes) && is_in(&pool, made.shapes[1].name));
	assert_string_equal(made.shapes[0].name, "ball");
	assert_string_equal(made.shapes[1].name, "rock");
	assert_true(made.shapes[0].radius == 2 && made.shapes[1].mesh == mesh && made.nodes[0].value == 3);
}

/* ---- by names --------------------------------------------------------------------------------------- */

static Rig slider(CalNodeId *node) {
	Rig rig = rig_new();
	const CalBodyId m = rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 2,
	                             (CalVec3){1, 1, 1});
	*node = rig_frame(&rig, m);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	return rig;
}

static double place_after(Rig *rig) {
	cal_sim_state(rig->sim, 0)->q[0] = 0.7;
	rig_advance(rig, 1.3);
	const double q = cal_sim_state(rig->sim, 0)->q[0];
	rig_free(rig);
	return q;
}

static void a_device_by_the_names_of_its_fields_is_that_of_its_definition(void **state) {
	(void)state;
	CalNodeId node;
	Rig one = slider(&node), two = slider(&node);
	const CalSpringDef spring = {.name = "s", .b = node, .stiffness = 8, .length = 0.4, .cable = 1};
	const CalFieldValue of_spring[] = {{.field = "to", .node = node},
	                                   {.field = "stiffness", .number = 8},
	                                   {.field = "length", .number = 0.4},
	                                   {.field = "cable", .number = 1}};
	const double time[] = {0, 1}, value[] = {1, 3};
	const CalAppliedLoadDef load = {
		.name = "l", .node = node, .frame = CAL_FRAME_NODE, .force = {{.table = {CAL_TABLE_LINEAR, 2, time, value}}}};
	const CalFieldValue of_load[] = {{.field = "joint", .joint = rig_joint_of(&two, "m")},
	                                 {.field = "dof", .number = 0},
	                                 {.field = "effort", .table = {CAL_TABLE_LINEAR, 2, time, value}}};
	rig_ok(cal_sim_add_spring(one.sim, &spring, NULL, &rig_error));
	rig_ok(cal_sim_add_applied_load(one.sim, &load, NULL, &rig_error));
	int device = -1;
	rig_ok(cal_sim_add_device_of_type(two.sim, "spring", "s", of_spring, 4, &device, &rig_error));
	assert_int_equal(device, 0);
	rig_ok(cal_sim_add_device_of_type(two.sim, "applied_load", "l", of_load, 3, &device, &rig_error));
	assert_int_equal(device, 1);
	const double a = place_after(&one), b = place_after(&two);
	assert_true(fabs(a - b) <= 1e-13 * fabs(a));
}

static void mistakes_in_names_are_reported(void **state) {
	(void)state;
	CalNodeId node;
	Rig rig = slider(&node);
	static const CalFieldValue wrong = {.field = "stifness", .number = 8}, some = {.field = "stiffness", .number = -8};
	static const CalFieldValue frame = {.field = "frame", .text = "moon"};
	static const struct {
		const char *type;
		const CalFieldValue *value;
		const char *want;
	} rows[] = {
		{"sprng", &some, "device \"d\": there is no type \"sprng\""},
		{"spring", &wrong, "device \"d\" (spring): unknown field \"stifness\"; did you mean \"stiffness\"?"},
		{"spring", &some, "device \"d\" (spring): stiffness is -8; give a number that is zero or more"},
		{"limit", &some, "device \"d\" (limit): give the field \"joint\""},
		{"applied_load", &frame, "device \"d\" (applied_load): no such value can be given to the field \"frame\""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CalError error = {0};
		assert_int_equal(cal_sim_add_device_of_type(rig.sim, rows[i].type, "d", rows[i].value, 1, NULL, &error),
		                 CAL_ERR_ARGUMENT);
		assert_string_equal(error.text, rows[i].want);
	}
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_within_its_definition_and_documented),
		cmocka_unit_test(tables_texts_and_formulas_are_copied),
		cmocka_unit_test(shapes_are_copied_but_their_meshes),
		cmocka_unit_test(a_device_by_the_names_of_its_fields_is_that_of_its_definition),
		cmocka_unit_test(mistakes_in_names_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
