// SPDX-License-Identifier: Apache-2.0
/*
 * test_transition_groups.c — groups that come apart where a loop was all that tied them, and the memory of the whole: a
 * change after a device came is refused, if there is no room, with everything as it was.
 */
#include "support/interpose.h"

#include <string.h>

#include "support/small_system.h"

static void expect(CalStatus got, CalStatus want, const CalError *error, const char *word) {
	if (got != want || !strstr(error->text, word))
		fail_msg("status %d (wanted %d), \"%s\" lacks \"%s\"", got, want, error->text, word);
}

/* ---- splitting ---------------------------------------------------------------------------------------------- */

/* Two arms on the ground, two links each, in two groups; their tips meet. */
typedef struct Arms {
	System s;
	CalBodyId link[2][2];
	CalNodeId tip[2];
} Arms;

static Arms arms_create_with(const CalSimCapacity *capacity) {
	static const char *const bodies[2][2] = {{"a0", "a1"}, {"b0", "b1"}}, *const joints[2][2] = {{"ja0", "ja1"},
	                                                                                             {"jb0", "jb1"}};
	Arms a = {.s = system_begin()};
	const uint32_t group[2] = {1, add_group(&a.s, "other").value};
	for (int i = 0; i < 2; i++) {
		CalNodeId on = {0};
		for (int k = 0; k < 2; k++) {
			a.link[i][k] = add_box(&a.s, bodies[i][k], group[i], 1 + k);
			join(&a.s, on, CAL_JOINT_REVOLUTE, joints[i][k], cal_desc_body_node(a.s.desc, a.link[i][k]));
			on = add_node(&a.s, a.link[i][k], "tip", (CalVec3){1, 0, 0});
		}
		a.tip[i] = on;
	}
	system_start(&a.s, capacity);
	for (int i = 0; i < 2; i++) {
		CalState *at = cal_sim_state(a.s.sim, i);
		at->q[0] = 0.3, at->q[1] = -0.2, at->u[0] = i ? 1 : -1, at->u[1] = 0.5;
	}
	check_ok(0, cal_sim_restart(a.s.sim, &a.s.error));
	return a;
}

static Arms arms_create(void) { return arms_create_with(&(CalSimCapacity){.groups = 1, .joints = 1, .loops = 1}); }

static CalStatus arms_tie(Arms *a, CalJointId *id, CalTransition *t) {
	CalJointDef pin = cal_joint_def(CAL_JOINT_REVOLUTE);
	pin.name = "pin";
	return cal_sim_attach(a->s.sim, a->tip[0], &pin, a->tip[1], NULL, id, t, &a->s.error);
}

static void groups_are(const Arms *a, int count, int of_second) {
	assert_int_equal(cal_sim_group_count(a->s.sim), count);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(cal_sim_group_of(a->s.sim, a->link[0][k]), 0);
		assert_int_equal(cal_sim_group_of(a->s.sim, a->link[1][k]), of_second);
	}
}

static void opening_the_last_tie_makes_two_groups(void **state) {
	(void)state;
	Arms a = arms_create();
	CalJointId pin;
	CalTransition t;
	double before, after;
	check_ok(0, arms_tie(&a, &pin, &t));
	groups_are(&a, 1, 0);
	momentum(a.s.sim, &before);
	check_ok(0, cal_sim_detach(a.s.sim, pin, "other", &t, &a.s.error)); // with a name: two groups
	groups_are(&a, 2, 1);
	assert_true(t.group == 0 && t.other == 1 && t.kinetic_lost == 0);
	assert_int_equal(cal_model_row_count(cal_sim_model(a.s.sim, 0)), 0);
	momentum(a.s.sim, &after);
	check_close(0, "energy", 1, &after, &before, 1e-14);
	check_ok(0, cal_sim_reattach(a.s.sim, pin, NULL, &t, &a.s.error));
	groups_are(&a, 1, 0);
	expect(cal_sim_split(a.s.sim, a.link[1][0], "part", &t, &a.s.error), CAL_ERR_MODEL, &a.s.error, "nothing to split");
	expect(cal_sim_detach(a.s.sim, pin, "main", &t, &a.s.error), CAL_ERR_MODEL, &a.s.error, "main");
	check_ok(0, cal_sim_detach(a.s.sim, pin, NULL, &t, &a.s.error)); // without: one, for now
	groups_are(&a, 1, 0);
	assert_int_equal(t.other, -1);
	expect(cal_sim_split(a.s.sim, a.link[1][0], NULL, &t, &a.s.error), CAL_ERR_ARGUMENT, &a.s.error, "name");
	check_ok(0, cal_sim_split(a.s.sim, a.link[1][1], "part", &t, &a.s.error));
	groups_are(&a, 2, 1);
	assert_true(t.group == 0 && t.other == 1 && cal_sim_find_group(a.s.sim, "part") == 1);
	check_ok(0, cal_sim_advance(a.s.sim, 0.01, &a.s.error));
	system_end(&a.s);
}

/* A loop of the description and a gear tie as a joint does; what is still tied is not split. */
static void every_loop_ties(void **state) {
	(void)state;
	Arms a = arms_create();
	CalJointId pin;
	CalLoopId rod;
	CalTransition t;
	CalLoopDef gear = cal_loop_def(CAL_LOOP_COUPLING);
	gear.name = "gear", gear.term_count = 2;
	gear.term[0] = (CalLoopTerm){a.link[0][0], 0, 1};
	gear.term[1] = (CalLoopTerm){a.link[1][0], 0, -1};
	check_ok(0, arms_tie(&a, &pin, &t));
	if (cal_sim_close_loop(a.s.sim, (CalNodeId){0}, &gear, (CalNodeId){0}, &rod, &t, &a.s.error) != CAL_OK)
		fail_msg("%s", a.s.error.text);
	check_ok(0, cal_sim_detach(a.s.sim, pin, "part", &t, &a.s.error));
	groups_are(&a, 1, 0); // the gear holds them together
	expect(cal_sim_split(a.s.sim, a.link[1][0], "part", &t, &a.s.error), CAL_ERR_MODEL, &a.s.error, "nothing to split");
	check_ok(0, cal_sim_open_loop(a.s.sim, rod, &t, &a.s.error));
	groups_are(&a, 1, 0);
	check_ok(0, cal_sim_split(a.s.sim, a.link[1][0], "part", &t, &a.s.error));
	groups_are(&a, 2, 1);
	system_end(&a.s);
}

/* ---- a device that came after the reservation ------------------------------------------------------------------ */

static int rest(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context;
	xdot[0] = 1;
	return 0;
}

static const CalDeviceOps BULKY = {.type = "bulky", .evaluate = rest};

typedef struct Couple {
	System s;
	CalJointId hinge;
	CalStatus reserved, added;
} Couple;

/* Two bodies, an adaptive method, so much memory; then a device that may push 500 wrenches. */
static Couple couple_create(size_t memory) {
	Couple c = {.s = system_begin()};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-8, .atol = 1e-10}};
	const CalDeviceDef device = {.name = "bulky", .ops = &BULKY, .nx = 1, .wrench_count = 500};
	const CalBodyId a = add_box(&c.s, "a", 1, 1), b = add_box(&c.s, "b", 1, 1);
	const CalNodeId tip = add_node(&c.s, a, "tip", (CalVec3){1, 0, 0});
	join(&c.s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(c.s.desc, a));
	c.hinge = join(&c.s, tip, CAL_JOINT_REVOLUTE, "hinge", cal_desc_body_node(c.s.desc, b));
	check_ok(0, cal_sim_create(c.s.desc, &options, &c.s.sim, &c.s.error));
	CalState *at = cal_sim_state(c.s.sim, 0);
	for (int k = 0; k < 7; k++)
		at->u[k] = 0.1 * (k + 1);
	c.reserved = cal_sim_reserve(c.s.sim, c.s.desc, &(CalSimCapacity){.groups = 1, .memory = memory}, &c.s.error);
	c.added = c.reserved == CAL_OK ? cal_sim_add_device(c.s.sim, &device, &(int){0}, &c.s.error) : c.reserved;
	if (c.added == CAL_OK)
		check_ok(0, cal_sim_advance(c.s.sim, 0.05, &c.s.error));
	return c;
}

/* A change that is refused leaves what a run without it has, to the last bit and from then on. */
static void check_untouched(Couple *c, size_t memory) {
	Couple twin = couple_create(memory);
	assert_int_equal(cal_sim_memory_left(c->s.sim), cal_sim_memory_left(twin.s.sim));
	check_ok(0, cal_sim_advance(c->s.sim, 0.5, &c->s.error));
	check_ok(0, cal_sim_advance(twin.s.sim, 0.5, &twin.s.error));
	const CalState *x = cal_sim_state(c->s.sim, 0), *y = cal_sim_state(twin.s.sim, 0);
	assert_memory_equal(x->q, y->q, 8 * sizeof(double));
	assert_memory_equal(x->u, y->u, 7 * sizeof(double));
	assert_true(cal_sim_generation(c->s.sim) == cal_sim_generation(twin.s.sim));
	system_end(&twin.s);
}

static void a_change_after_a_device_came_has_room_or_changes_nothing(void **state) {
	(void)state;
	int refused = 0, done = 0;
	for (size_t memory = 100000; done < 3; memory += 4096) {
		assert_true(memory < 2000000);
		Couple c = couple_create(memory);
		if (c.added == CAL_OK) {
			if (interpose_active())
				interpose_begin(0);
			CalStatus status = cal_sim_detach(c.s.sim, c.hinge, "part", NULL, &c.s.error);
			const CalStatus first = status;
			if (status == CAL_OK)
				status = cal_sim_reattach(c.s.sim, c.hinge, NULL, NULL, &c.s.error);
			if (interpose_active())
				assert_int_equal(interpose_end().calls, 0);
			if (status != CAL_OK)
				expect(status, CAL_ERR_MEMORY, &c.s.error, "CalSimCapacity.memory");
			assert_int_equal(cal_sim_group_count(c.s.sim), first == CAL_OK && status != CAL_OK ? 2 : 1);
			if (first != CAL_OK)
				check_untouched(&c, memory);
			check_ok(0, cal_sim_advance(c.s.sim, 0.6, &c.s.error));
			refused += first != CAL_OK, done += status == CAL_OK;
		}
		system_end(&c.s);
	}
	assert_true(refused > 5 && done == 3);
}

/* A group without bodies, asked for with another gravity by a body that cannot be: every bit of a checkpoint stays. */
static void a_refused_body_leaves_the_gravity_of_its_group(void **state) {
	(void)state;
	Arms a = arms_create_with(&(CalSimCapacity){.groups = 1, .bodies = 2, .nodes = 2});
	CalNewBody body = {.group = "gone", .gravity = {0, 0, -1}, .placement.orientation = {1, 0, 0, 0}};
	const CalNodeDef twice[] = {{.name = "n", .placement.orientation = {1, 0, 0, 0}},
	                            {.name = "n", .placement.orientation = {1, 0, 0, 0}}};
	CalBodyId id;
	CalTransition t;
	size_t sizes[2];
	char *bytes[2];
	body.body = (CalBodyDef){.name = "x", .mass = 1, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	check_ok(0, cal_sim_add_body(a.s.sim, &body, &id, NULL, &t, &a.s.error));
	check_ok(0, cal_sim_remove_body(a.s.sim, id, &t, &a.s.error));
	body.body.name = "y", body.gravity = (CalVec3){0, 0, -2}, body.nodes = twice, body.node_count = 2;
	for (int i = 0; i < 2; i++) {
		sizes[i] = cal_checkpoint_size(a.s.sim);
		bytes[i] = test_alloc(1, sizes[i]);
		check_ok(0, cal_checkpoint_take(a.s.sim, bytes[i], sizes[i], NULL));
		expect(cal_sim_add_body(a.s.sim, &body, &id, NULL, &t, &a.s.error), CAL_ERR_MODEL, &a.s.error, "in use");
	}
	assert_int_equal(sizes[0], sizes[1]);
	assert_memory_equal(bytes[0], bytes[1], sizes[0]);
	free(bytes[0]);
	free(bytes[1]);
	system_end(&a.s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_the_last_tie_makes_two_groups),
		cmocka_unit_test(every_loop_ties),
		cmocka_unit_test(a_change_after_a_device_came_has_room_or_changes_nothing),
		cmocka_unit_test(a_refused_body_leaves_the_gravity_of_its_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
