// SPDX-License-Identifier: Apache-2.0
/*
 * test_joint_types.c — every joint type of the list goes through the same: names, files, and the motion of the
 * sequence that its row (joint_rows.h) says it is.
 *
 * The other tests that go through all types: test_joint.c (pose, velocity, acceleration against numerical derivatives,
 * dynamics against the dense reference), test_pose_solve.c (coordinates from poses, reversal), transition/test_transition.c
 * (joints that become loops).
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <calder/calder.h>

#include "io/model/desc_compare.h"
#include "reference/joint_rows.h"
#include "support/model_file_support.h"
#include "support/random_tree.h"

enum { CASES = 20 };

static const JointRow *row_of(CalJointType type) {
	for (int i = 0; i < JOINT_ROWS; i++)
		if (joint_rows[i].type == type)
			return &joint_rows[i];
	fail_msg("joint type \"%s\" has no row in test/reference/joint_rows.h", cal_joint_type_name(type));
	return NULL;
}

static void every_type_of_the_list_has_its_row(void **state) {
	(void)state;
	assert_int_equal(JOINT_ROWS, CAL_JOINT_TYPE_COUNT);
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++) {
		CalJointTypeInfo info;
		const JointRow *row = row_of((CalJointType)i);
		assert_string_equal(cal_joint_type_name(row->type), row->name);
		assert_int_equal(cal_joint_type_info(row->type, &info), CAL_OK);
		assert_int_equal(info.reversible, row->reversible);
		assert_true(strlen(info.coordinates) > 0 && strlen(info.speeds) > 0);
	}
	CalJointTypeInfo info;
	assert_int_equal(cal_joint_type_info(CAL_JOINT_TYPE_COUNT, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_joint_type_info((CalJointType)-1, &info), CAL_ERR_ARGUMENT);
}

/* ---- names --------------------------------------------------------------------------------------- */

/* A body on a moving one, by a joint with all keys of its row. */
static CalSetup *file_of_row(const JointRow *row, bool reversed) {
	char text[700];
	snprintf(
		text, sizeof text,
		"calder: 1\ngravity: [1, 2, -9]\n"
		"bodies: {base: {mass: 2, inertia: [1, 2, 2.5]}, b: {mass: 1, com: [0.1, 0.2, 0.3], inertia: [1, 1.5, 2]}}\n"
		"joints:\n  root: {type: revolute, to: base, axis: y}\n"
		"  j: {inboard: [0.3, 0, 0.1], outboard: [0, 0.2, 0], from: %s, to: %s, type: %s%s%s}\n",
		reversed ? "b" : "base", reversed ? "base, reversed: true" : "b", row->name, row->keys[0] ? ", " : "",
		row->keys);
	return file_of(text);
}

/* The names in one line, as a row has them. */
static void join_names(const CalJointDef *def, CalStatus (*part)(const CalJointDef *, int, CalCoordinateInfo *),
                       char *text, size_t size) {
	CalCoordinateInfo info;
	size_t used = 0;
	text[0] = '\0';
	for (int i = 0; part(def, i, &info) == CAL_OK; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", info.name);
}

static int count_words(const char *text) {
	int count = *text != '\0';
	for (; *text; text++)
		count += *text == ' ';
	return count;
}

static void check_names(const CalJointDef *def, const JointRow *row) {
	CalCoordinateInfo info;
	char text[200];
	join_names(def, cal_joint_coordinate, text, sizeof text);
	assert_string_equal(text, row->coordinates);
	assert_int_equal(cal_joint_coordinate_count(def), count_words(text));
	join_names(def, cal_joint_speed, text, sizeof text);
	assert_string_equal(text, row->speeds);
	assert_int_equal(cal_joint_speed_count(def), count_words(text));
	for (int i = 0; cal_joint_coordinate(def, i, &info) == CAL_OK; i++) {
		CalCoordinateInfo other;
		for (int k = 0; cal_joint_speed(def, k, &other) == CAL_OK; k++)
			assert_string_not_equal(info.name, other.name);
		for (int k = 0; k < i && cal_joint_coordinate(def, k, &other) == CAL_OK; k++)
			assert_string_not_equal(info.name, other.name);
	}
	assert_int_equal(cal_joint_coordinate(def, -1, &info), CAL_ERR_ARGUMENT);
}

/* The compiled model has the same names and kinds as the definition. */
static void check_model_names(const CalModel *model, const CalJointDef *def) {
	CalBodyInfo body;
	assert_int_equal(cal_model_body(model, cal_model_find_joint(model, "j"), &body), CAL_OK);
	for (int i = 0; i < body.nq; i++) {
		CalCoordinateInfo a, b;
		assert_int_equal(cal_joint_coordinate(def, i, &a), CAL_OK);
		assert_int_equal(cal_model_coordinate(model, body.q + i, &b), CAL_OK);
		assert_string_equal(a.name, b.name);
		assert_int_equal(a.kind, b.kind);
	}
	for (int i = 0; i < body.nu; i++) {
		CalCoordinateInfo a, b;
		assert_int_equal(cal_joint_speed(def, i, &a), CAL_OK);
		assert_int_equal(cal_model_speed(model, body.u + i, &b), CAL_OK);
		assert_string_equal(a.name, b.name);
		assert_int_equal(a.kind, b.kind);
	}
}

static void coordinates_and_speeds_have_names(void **state) {
	(void)state;
	for (int i = 0; i < JOINT_ROWS; i++) {
		if (!joint_rows[i].keys)
			continue;
		CalSetup *file = file_of_row(&joint_rows[i], false);
		CalModel *model = model_of(file, NULL);
		const CalDesc *desc = cal_setup_desc(file);
		const CalJointDef *def = cal_desc_joint(desc, cal_desc_find_joint(desc, "j"), NULL, NULL);
		check_names(def, &joint_rows[i]);
		check_model_names(model, def);
		cal_model_destroy(model);
		cal_setup_destroy(file);
	}
	CalJointDef user = cal_joint_def(CAL_JOINT_USER);
	assert_int_equal(cal_joint_speed_count(&user), -1);
	user.ops = user_joint_ops(USER_CAM_TURN);
	check_names(&user, row_of(CAL_JOINT_USER));
}

static void modes_have_names_too(void **state) {
	(void)state;
	CalSetup *file =
		file_of("calder: 1\nbodies: {boom: {nodes: {root: [0, 0, 0]}, flexible: {stiffness: [4, 5], nodes: "
	            "{root: {mass: 1, inertia: [1, 1, 1], phi: [[1, 0], [0, 1], [0, 0]]}}}}}\n"
	            "joints: {j: {type: cylindrical, to: boom}}\n");
	CalModel *model = model_of(file, NULL);
	static const char *const q[] = {"angle", "length", "eta1", "eta2"}, *const u[] = {"rate", "speed", "etadot1"};
	CalCoordinateInfo info;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(cal_model_coordinate(model, i, &info), CAL_OK);
		assert_string_equal(info.name, q[i]);
		assert_int_equal(info.kind == CAL_COORDINATE_MODE, i >= 2);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cal_model_speed(model, i, &info), CAL_OK);
		assert_string_equal(info.name, u[i]);
	}
	assert_int_equal(cal_model_coordinate(model, cal_model_q_count(model), &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_model_speed(model, -1, &info), CAL_ERR_ARGUMENT);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* ---- files --------------------------------------------------------------------------------------- */

static CalSetup *write_and_read(const CalDesc *desc) {
	char text[4000] = "";
	FILE *stream = tmpfile();
	CalError error = {0};
	assert_non_null(stream);
	if (cal_desc_write(desc, stream, &error) != CAL_OK)
		fail_msg("%s", error.text);
	rewind(stream);
	assert_true(fread(text, 1, sizeof text - 1, stream) > 0);
	fclose(stream);
	return file_of(text);
}

static void files_read_and_write_every_type(void **state) {
	(void)state;
	for (int i = 0; i < JOINT_ROWS; i++) {
		if (!joint_rows[i].keys)
			continue;
		for (int reversed = 0; reversed <= joint_rows[i].reversible; reversed++) {
			CalSetup *file = file_of_row(&joint_rows[i], reversed);
			CalSetup *back = write_and_read(cal_setup_desc(file));
			compare_desc(cal_setup_desc(file), cal_setup_desc(back));
			cal_setup_destroy(back);
			cal_setup_destroy(file);
		}
	}
}

/* A key that the row does not have is refused by name. */
static void files_refuse_keys_of_other_types(void **state) {
	(void)state;
	static const struct {
		const char *key, *value;
	} keys[] = {{"axis: ", "x"}, {"axis2: ", "y"}, {"pitch: ", "1 mm/rev"}, {"elements: ", "[{type: revolute}]"}};
	for (int i = 0; i < JOINT_ROWS; i++) {
		for (int k = 0; joint_rows[i].keys && k < 4; k++) {
			char text[500], name[16];
			CalSetup *file = NULL;
			CalError error = {0};
			snprintf(name, sizeof name, "\"%.*s\"", (int)strlen(keys[k].key) - 2, keys[k].key);
			if (strncmp(joint_rows[i].keys, keys[k].key, strlen(keys[k].key)) == 0 ||
			    (strstr(joint_rows[i].keys, keys[k].key) && !strstr(joint_rows[i].keys, "elements")))
				continue;
			snprintf(
				text, sizeof text,
				"calder: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {%s%s, type: %s, to: b%s%s}}\n",
				keys[k].key, keys[k].value, joint_rows[i].name, joint_rows[i].keys[0] ? ", " : "", joint_rows[i].keys);
			assert_int_not_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_OK);
			assert_non_null(strstr(error.text, name));
		}
	}
}

static void files_reverse_what_keeps_its_coordinates(void **state) {
	(void)state;
	for (int i = 0; i < JOINT_ROWS; i++) {
		char text[500];
		CalSetup *file = NULL;
		CalError error = {0};
		if (!joint_rows[i].keys || joint_rows[i].reversible)
			continue;
		snprintf(text, sizeof text,
		         "calder: 1\nbodies: {a: {mass: 1}, b: {mass: 1}}\njoints: {root: {type: free, to: b}, j: {type: %s, "
		         "from: a, to: b, reversed: true%s%s}}\n",
		         joint_rows[i].name, joint_rows[i].keys[0] ? ", " : "", joint_rows[i].keys);
		assert_int_not_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_OK);
		assert_non_null(strstr(error.text, "cannot be reversed"));
	}
}

/* ---- motion -------------------------------------------------------------------------------------- */

/* The joint of a row as a sequence of its elementary motions. */
static CalJointDef as_sequence(const CalJointDef *def, const char *motion) {
	const CalVec3 a = def->axis, b = def->axis2;
	const CalVec3 c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
	CalJointDef out = *def;
	out.type = CAL_JOINT_SEQUENCE;
	out.element_count = 0;
	for (const char *p = motion; *p; p += 1 + (p[1] == ' ')) {
		CalElement *e = &out.elements[out.element_count++];
		*e = (CalElement){.type = CAL_JOINT_SPHERICAL, .axis = {0, 0, 1}};
		if (*p == 'B')
			continue;
		e->type = *p == 'R' ? CAL_JOINT_REVOLUTE : *p == 'T' ? CAL_JOINT_PRISMATIC : CAL_JOINT_SCREW;
		e->pitch = *p == 'H' ? def->pitch : 0;
		++p;
		e->axis = *p == 'a' ? a : *p == 'b' ? b : *p == 'c' ? c : (CalVec3){*p == 'x', *p == 'y', *p == 'z'};
	}
	return out;
}

/* The tree of a file with joint "j" in the place of the one there. */
static CalDesc *desc_with(const CalDesc *from, const CalJointDef *joint) {
	CalDesc *desc;
	CalError error = {0};
	CalBodyId id[2];
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_set_gravity(desc, (CalGroupId){0}, cal_desc_group(from, (CalGroupId){1})->gravity));
	for (int i = 0; i < 2; i++)
		check_ok(0, cal_desc_add_body(desc, cal_desc_body(from, (CalBodyId){(uint32_t)i + 1}), &id[i], &error));
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, cal_desc_joint(from, (CalJointId){1}, NULL, NULL),
	                            cal_desc_body_node(desc, id[0]), NULL, &error));
	check_ok(0, cal_desc_attach(desc, cal_desc_body_node(desc, id[0]), joint, cal_desc_body_node(desc, id[1]), NULL,
	                            &error));
	return desc;
}

typedef struct System {
	CalDesc *desc;
	CalModel *model;
	CalWork *work;
	CalState state;
	double udot[8], tau[8], after[8], force[8];
	CalSpatial reaction;
} System;

static void system_create(System *s, CalDesc *desc) {
	CalError error = {0};
	*s = (System){.desc = desc};
	check_ok(0, cal_model_compile(desc, NULL, &s->model, &error));
	check_ok(0, cal_work_create(s->model, &s->work));
	check_ok(0, cal_state_create(s->model, &s->state));
}

static void system_destroy(System *s) {
	cal_state_destroy(&s->state);
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
	cal_desc_destroy(s->desc);
}

/* Forward dynamics, inverse dynamics that gives the forces back, a reaction, and the impulse of the base's stop. */
static void system_evaluate(uint64_t seed, System *s, const double *tau) {
	const int nu = cal_model_u_count(s->model), base = cal_model_find_joint(s->model, "root");
	const CalInput input = {.tau = tau};
	CalBodyInfo body;
	uint8_t locked[8] = {0};
	check_ok(seed, cal_model_body(s->model, base, &body));
	locked[body.u] = 1;
	check_ok(seed, cal_forward_dynamics(s->model, &s->state, &input, s->work, s->udot));
	check_ok(seed, cal_inverse_dynamics(s->model, &s->state, s->udot, &(CalInput){0}, s->work, s->tau));
	check_close_scaled(seed, "forces given back", nu, s->tau, tau, 10, 1e-12);
	check_ok(seed, cal_reactions(s->model, &s->state, s->udot, &input, s->work));
	check_ok(seed, cal_joint_reaction(s->model, s->work, cal_model_find_joint(s->model, "j"), &s->reaction));
	check_ok(seed,
	         cal_impulse(s->model, &s->state, &(CalImpulse){.locked = locked}, s->work, s->after, s->force, NULL));
}

static void random_state(Rng *r, const CalModel *model, CalState *state) {
	double dq[8];
	const int nu = cal_model_u_count(model);
	rng_fill(r, 1, nu, dq);
	rng_fill(r, 1, nu, state->u);
	cal_config_integrate(model, state->q, dq, state->q);
}

static void compare_motion(uint64_t seed, const JointRow *row) {
	CalSetup *file = file_of_row(row, false);
	const CalDesc *desc = cal_setup_desc(file);
	const CalJointDef *def = cal_desc_joint(desc, cal_desc_find_joint(desc, "j"), NULL, NULL);
	const CalJointDef sequence = as_sequence(def, row->motion);
	System own, other;
	double tau[8];
	Rng r = rng_make(seed);
	system_create(&own, desc_with(desc, def));
	system_create(&other, desc_with(desc, &sequence));
	const int nu = cal_model_u_count(own.model);
	assert_int_equal(cal_model_u_count(other.model), nu);
	assert_int_equal(cal_model_q_count(other.model), cal_model_q_count(own.model));
	random_state(&r, own.model, &own.state);
	cal_state_copy(own.model, &own.state, &other.state);
	rng_fill(&r, 5, nu, tau);
	system_evaluate(seed, &own, tau);
	system_evaluate(seed, &other, tau);
	check_close(seed, "accelerations", nu, own.udot, other.udot, 1e-12);
	check_close_scaled(seed, "reaction", 6, &own.reaction.angular.x, &other.reaction.angular.x, 1, 1e-12);
	check_close_scaled(seed, "speeds after an impulse", nu, own.after, other.after, 1, 1e-12);
	check_close_scaled(seed, "impulse", nu, own.force, other.force, 1, 1e-12);
	system_destroy(&other);
	system_destroy(&own);
	cal_setup_destroy(file);
}

static void a_joint_moves_as_the_sequence_of_its_row(void **state) {
	(void)state;
	for (int i = 0; i < JOINT_ROWS; i++)
		for (uint64_t seed = test_seed(); joint_rows[i].motion[0] != '*' && seed < test_seed() + CASES; seed++)
			compare_motion(seed, &joint_rows[i]);
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

static CalSim *sim_of_row(const CalSetup *file, uint64_t seed) {
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-2}};
	CalSim *sim;
	CalError error = {0};
	Rng r = rng_make(seed);
	check_ok(seed, cal_sim_create(cal_setup_desc(file), &options, &sim, &error));
	random_state(&r, cal_sim_model(sim, 0), cal_sim_state(sim, 0));
	check_ok(seed, cal_sim_restart(sim, &error));
	return sim;
}

static void a_checkpoint_continues_with_the_same_bits(void **state) {
	(void)state;
	for (int i = 0; i < JOINT_ROWS; i++) {
		if (!joint_rows[i].keys)
			continue;
		CalSetup *file = file_of_row(&joint_rows[i], false);
		CalSim *one = sim_of_row(file, test_seed()), *two = sim_of_row(file, test_seed() + 1);
		const CalModel *model = cal_sim_model(one, 0);
		const size_t size = cal_checkpoint_size(one);
		void *memory = test_alloc(1, size);
		size_t used;
		CalError error = {0};
		check_ok(0, cal_sim_advance(one, 0.1, &error));
		check_ok(0, cal_checkpoint_take(one, memory, size, &used));
		check_ok(0, cal_sim_advance(one, 0.2, &error));
		check_ok(0, cal_checkpoint_restore(two, memory, used, &error));
		check_ok(0, cal_sim_advance(two, 0.2, &error));
		assert_memory_equal(cal_sim_state(one, 0)->q, cal_sim_state(two, 0)->q,
		                    sizeof(double) * (size_t)cal_model_q_count(model));
		assert_memory_equal(cal_sim_state(one, 0)->u, cal_sim_state(two, 0)->u,
		                    sizeof(double) * (size_t)cal_model_u_count(model));
		free(memory);
		cal_sim_destroy(one);
		cal_sim_destroy(two);
		cal_setup_destroy(file);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_of_the_list_has_its_row),
		cmocka_unit_test(coordinates_and_speeds_have_names),
		cmocka_unit_test(modes_have_names_too),
		cmocka_unit_test(files_read_and_write_every_type),
		cmocka_unit_test(files_refuse_keys_of_other_types),
		cmocka_unit_test(files_reverse_what_keeps_its_coordinates),
		cmocka_unit_test(a_joint_moves_as_the_sequence_of_its_row),
		cmocka_unit_test(a_checkpoint_continues_with_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
