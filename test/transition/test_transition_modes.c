// SPDX-License-Identifier: Apache-2.0
/*
 * test_transition_modes.c — flexible bodies in changes of topology: they come in with a modal state, their modes are locked
 * and unlocked, checkpoints hold both; a failing allocation leaves everything as it was.
 */
#include "support/interpose.h"

#include <math.h>
#include <string.h>

#include "base/serializer.h"
#include "sim/sim_internal.h"
#include "support/small_system.h"
#include "transition/checkpoint_bytes.h"

static void expect(CalStatus got, CalStatus want, const CalError *error, const char *word) {
	if (got != want || !strstr(error->text, word))
		fail_msg("status %d (wanted %d), \"%s\" lacks \"%s\"", got, want, error->text, word);
}

static void same_momentum(CalMomentum got, CalMomentum want) {
	check_close_scaled(0, "linear momentum", 3, &got.linear.x, &want.linear.x, 1, 1e-13);
	check_close_scaled(0, "angular momentum", 3, &got.angular_origin.x, &want.angular_origin.x, 1, 1e-13);
}

/* ---- a flexible body comes in ------------------------------------------------------------------------------ */

/* Two equal flexible boxes: one described, one added later with the same state. */
typedef struct Twins {
	System s;
	SmallFlex flex;
	CalNodeDef nodes[5];
	CalNewBody made;
	CalNodeId described[5], added[5];
	CalBodyId first, second;
} Twins;

static const double ETA[3] = {0.02, -0.03, 0.01}, ETA_DOT[3] = {0.5, 0.2, -0.4};

/* Status of the reservation. */
static CalStatus twins_create(Twins *t, size_t memory) {
	static const char *const names[] = {"n0", "n1", "n2", "n3", "n4"};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	const CalSimCapacity room = {.groups = 1, .bodies = 1, .nodes = 5, .joints = 1, .modes = 3, .memory = memory};
	*t = (Twins){.s = system_begin()};
	t->first = add_flexible_box(&t->s, "first", 1, 2, t->described);
	join(&t->s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(t->s.desc, t->first));
	check_ok(0, cal_sim_create(t->s.desc, &options, &t->s.sim, &t->s.error));
	small_flex(&t->flex);
	for (int n = 0; n < 5; n++) {
		t->nodes[n] = cal_node_def();
		t->nodes[n].name = names[n];
		t->nodes[n].placement.position = t->flex.position[n];
		t->flex.nodes[n].node.value = (uint32_t)n + 1;
	}
	t->made = (CalNewBody){.body = {.name = "second", .mass = 2},
	                       .group = "other",
	                       .placement = {.position = {3, 1, 2}},
	                       .velocity = {{0.1, 0.2, 0.3}, {-1, 0.5, 0.2}},
	                       .nodes = t->nodes,
	                       .node_count = 5,
	                       .flex = &t->flex.def,
	                       .eta = ETA,
	                       .eta_dot = ETA_DOT};
	for (int i = 0; i < 3; i++)
		t->made.body.inertia.m[i][i] = 2 * (1 + 0.1 * i) / 12;
	return cal_sim_reserve(t->s.sim, t->s.desc, &room, &t->s.error);
}

static CalStatus twins_add(Twins *t, CalTransition *report) {
	return cal_sim_add_body(t->s.sim, &t->made, &t->second, t->added, report, &t->s.error);
}

static void a_flexible_body_comes_in_like_its_twin(void **state) {
	(void)state;
	Twins t;
	CalTransition report;
	check_ok(0, twins_create(&t, 0));
	if (twins_add(&t, &report) != CAL_OK)
		fail_msg("%s", t.s.error.text);
	assert_true(report.group == 1 && cal_sim_group_count(t.s.sim) == 2);
	const CalModel *a = cal_sim_model(t.s.sim, 0), *b = cal_sim_model(t.s.sim, 1);
	CalState *from = cal_sim_state(t.s.sim, 1), *to = cal_sim_state(t.s.sim, 0);
	assert_true(cal_model_q_count(a) == cal_model_q_count(b) && cal_model_u_count(b) == 9);
	assert_memory_equal(from->q + 7, ETA, sizeof ETA);
	assert_memory_equal(from->u + 6, ETA_DOT, sizeof ETA_DOT);
	// given the same state, the same bits come out for as long as it runs
	memcpy(to->q, from->q, 10 * sizeof(double));
	memcpy(to->u, from->u, 9 * sizeof(double));
	check_ok(0, cal_sim_restart(t.s.sim, &t.s.error));
	check_ok(0, cal_sim_advance(t.s.sim, 0.05, &t.s.error));
	assert_memory_equal(cal_sim_state(t.s.sim, 0)->q, cal_sim_state(t.s.sim, 1)->q, 10 * sizeof(double));
	assert_memory_equal(cal_sim_state(t.s.sim, 0)->u, cal_sim_state(t.s.sim, 1)->u, 9 * sizeof(double));
	assert_true(fabs(cal_sim_state(t.s.sim, 1)->q[7] - ETA[0]) > 1e-4);
	system_end(&t.s);
}

static void a_flexible_body_that_came_in_is_attached(void **state) {
	(void)state;
	Twins t;
	CalTransition report;
	CalJointDef latch = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalJointId id;
	double before, after;
	check_ok(0, twins_create(&t, 0));
	if (interpose_active())
		interpose_begin(0);
	const CalStatus added = twins_add(&t, NULL);
	latch.name = "latch";
	const CalMomentum p = momentum(t.s.sim, &before);
	const CalStatus attached = cal_sim_attach(t.s.sim, t.described[4], &latch, t.added[3],
	                                          &(CalAttachOptions){.fit = CAL_FIT_AT_A}, &id, &report, &t.s.error);
	if (interpose_active())
		assert_int_equal(interpose_end().calls, 0);
	check_ok(0, added);
	if (attached != CAL_OK)
		fail_msg("%s", t.s.error.text);
	same_momentum(momentum(t.s.sim, &after), p);
	assert_true(report.kinetic_lost > 0.01 && fabs(before - after - report.kinetic_lost) < 1e-13 * before);
	check_ok(0, cal_sim_reroot(t.s.sim, t.second, &report, &t.s.error));
	same_momentum(momentum(t.s.sim, &after), p);
	check_ok(0, cal_sim_advance(t.s.sim, 0.02, &t.s.error));
	const CalMomentum later = momentum(t.s.sim, &after); // but for the error of the integration
	check_ok(0, cal_sim_detach(t.s.sim, id, "other", &report, &t.s.error));
	same_momentum(momentum(t.s.sim, &after), later);
	check_ok(0, cal_sim_remove_body(t.s.sim, t.first, &report, &t.s.error));
	system_end(&t.s);
}

static void wrong_flexible_bodies_are_refused_by_name(void **state) {
	(void)state;
	Twins t;
	const double bad[3] = {0, NAN, 0};
	check_ok(0, twins_create(&t, 0));
	CalError *e = &t.s.error;
	const size_t left = cal_sim_memory_left(t.s.sim);
	t.flex.nodes[2].node.value = 6;
	expect(twins_add(&t, NULL), CAL_ERR_ARGUMENT, e, "flexible node 3 of 5");
	t.flex.nodes[2].node.value = 2;
	expect(twins_add(&t, NULL), CAL_ERR_MODEL, e, "twice");
	t.flex.nodes[2].node.value = 3;
	t.made.eta_dot = bad;
	expect(twins_add(&t, NULL), CAL_ERR_MODEL, e, "not finite");
	t.made.eta_dot = NULL;
	t.flex.stiffness[4] = -1;
	expect(twins_add(&t, NULL), CAL_ERR_MODEL, e, "stiffness");
	t.flex.stiffness[4] = 200;
	t.flex.def.modes = 4;
	expect(twins_add(&t, NULL), CAL_ERR_MEMORY, e, "CalSimCapacity.modes");
	t.flex.def.modes = 0;
	expect(twins_add(&t, NULL), CAL_ERR_MODEL, e, "modes");
	t.flex.def.modes = 3;
	assert_int_equal(cal_sim_memory_left(t.s.sim), left);
	check_ok(0, twins_add(&t, NULL));
	system_end(&t.s);
}

/* Memory of all sizes: wherever it runs out, nothing has changed, and nothing is lost. */
static void too_little_memory_for_modes_changes_nothing(void **state) {
	(void)state;
	int refused = 0, done = 0;
	for (size_t memory = 80000; memory < 400000 && done < 3; memory += 1024) {
		Twins t;
		if (twins_create(&t, memory) != CAL_OK) {
			system_end(&t.s);
			continue;
		}
		const size_t left = cal_sim_memory_left(t.s.sim);
		const CalStatus status = twins_add(&t, NULL);
		if (status != CAL_OK) {
			expect(status, CAL_ERR_MEMORY, &t.s.error, "CalSimCapacity.memory");
			assert_int_equal(cal_sim_memory_left(t.s.sim), left);
		}
		refused += status != CAL_OK, done += status == CAL_OK;
		assert_int_equal(cal_sim_group_count(t.s.sim), status == CAL_OK ? 2 : 1);
		check_ok(0, cal_sim_advance(t.s.sim, 0.002, &t.s.error));
		system_end(&t.s);
	}
	assert_true(refused > 10 && done == 3);
}

/* ---- checkpoints ----------------------------------------------------------------------------------------------- */

static void check_same(CalSim *a, CalSim *b) {
	const Bytes x = take_without_clocks(a), y = take_without_clocks(b);
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.at, y.at, x.size);
	free(x.at);
	free(y.at);
}

static void restore(CalSim *sim, Bytes b) {
	CalError error = {0};
	if (cal_checkpoint_restore(sim, b.at, b.size, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/* A mode of the body that came in and one of the other are locked. */
static void lock_two(Twins *t) {
	check_ok(0, twins_add(t, NULL));
	check_ok(0, cal_sim_lock_modes(t->s.sim, t->second, 1, NULL, &t->s.error));
	check_ok(0, cal_sim_lock_modes(t->s.sim, t->first, 0, NULL, &t->s.error));
	check_ok(0, cal_sim_advance(t->s.sim, 0.01, &t->s.error));
}

static void go_on(CalSim *sim, CalBodyId first, CalBodyId second) {
	CalError error = {0};
	check_ok(0, cal_sim_advance(sim, 0.02, &error));
	check_ok(0, cal_sim_unlock_modes(sim, second, -1, NULL, &error));
	check_ok(0, cal_sim_lock_modes(sim, second, 2, NULL, &error));
	check_ok(0, cal_sim_reroot(sim, first, NULL, &error));
	check_ok(0, cal_sim_advance(sim, 0.03, &error));
	check_ok(0, cal_sim_remove_body(sim, first, NULL, &error));
	check_ok(0, cal_sim_advance(sim, 0.04, &error));
}

static void checkpoints_hold_bodies_that_came_in_and_locked_modes(void **state) {
	(void)state;
	Twins whole, fresh;
	check_ok(0, twins_create(&whole, 0));
	check_ok(0, twins_create(&fresh, 0));
	const Bytes before = take_without_clocks(whole.s.sim);
	lock_two(&whole);
	const Bytes locked = take_without_clocks(whole.s.sim);
	const double held = cal_sim_state(whole.s.sim, 1)->q[8];
	restore(fresh.s.sim, locked);
	check_same(fresh.s.sim, whole.s.sim);
	go_on(whole.s.sim, whole.first, whole.second);
	go_on(fresh.s.sim, whole.first, whole.second);
	check_same(fresh.s.sim, whole.s.sim);
	assert_true(fabs(cal_sim_state(whole.s.sim, 0)->q[8] - held) > 1e-6); // it was let go
	// there and back again: nothing of the reserve is lost
	size_t left[2] = {0, 0};
	for (int i = 0; i < 20; i++) {
		restore(fresh.s.sim, i % 2 ? before : locked);
		const size_t now = cal_sim_memory_left(fresh.s.sim);
		assert_true(i < 4 || now == left[i % 2]); // by then pieces are where they fit
		left[i % 2] = now;
	}
	restore(fresh.s.sim, locked);
	go_on(fresh.s.sim, whole.first, whole.second);
	check_same(fresh.s.sim, whole.s.sim);
	free(before.at);
	free(locked.at);
	system_end(&whole.s);
	system_end(&fresh.s);
}

/* A checkpoint with a right checksum whose flexible body names a node that there is not. */
static void a_forged_node_of_a_flexible_body_is_refused(void **state) {
	(void)state;
	enum { CHECKSUM = 96, HEADER = 104 }; // of the header of a checkpoint
	Twins whole, fresh;
	check_ok(0, twins_create(&whole, 0));
	check_ok(0, twins_create(&fresh, 0));
	lock_two(&whole);
	const Bytes locked = take_without_clocks(whole.s.sim);
	const uint32_t node = whole.added[2].value, wrong = 100000000;
	char wanted[sizeof node + sizeof(double)];
	memcpy(wanted, &node, sizeof node);
	memcpy(wanted + sizeof node, &whole.flex.nodes[2].mass, sizeof(double));
	size_t at = HEADER;
	while (at + sizeof wanted < locked.size && memcmp(locked.at + at, wanted, sizeof wanted) != 0)
		at++;
	assert_true(at + sizeof wanted < locked.size);
	memcpy(locked.at + at, &wrong, sizeof wrong);
	const uint64_t sum = serializer_hash(serializer_hash(SERIALIZER_HASH_START, locked.at, CHECKSUM),
	                                     locked.at + HEADER, locked.size - HEADER);
	memcpy(locked.at + CHECKSUM, &sum, sizeof sum);
	expect(cal_checkpoint_restore(fresh.s.sim, locked.at, locked.size, &fresh.s.error), CAL_ERR_INPUT, &fresh.s.error,
	       "flexible node 3 of 5 does not exist");
	check_ok(0, cal_sim_advance(fresh.s.sim, 0.002, &fresh.s.error));
	free(locked.at);
	system_end(&whole.s);
	system_end(&fresh.s);
}

/* Memory of all sizes: a restore is done, or nothing has changed. */
static void a_restore_without_room_for_modes_changes_nothing(void **state) {
	(void)state;
	Twins whole;
	int refused = 0, done = 0;
	check_ok(0, twins_create(&whole, 0));
	lock_two(&whole);
	const Bytes locked = take_without_clocks(whole.s.sim);
	for (size_t memory = 80000; memory < 400000 && done < 3; memory += 1024) {
		Twins t;
		if (twins_create(&t, memory) != CAL_OK) {
			system_end(&t.s);
			continue;
		}
		const Bytes was = take_without_clocks(t.s.sim);
		const size_t left = cal_sim_memory_left(t.s.sim);
		const CalStatus status = cal_checkpoint_restore(t.s.sim, locked.at, locked.size, &t.s.error);
		const Bytes is = take_without_clocks(t.s.sim), *want = status == CAL_OK ? &locked : &was;
		if (status != CAL_OK) {
			expect(status, CAL_ERR_MEMORY, &t.s.error, "CalSimCapacity.memory");
			assert_int_equal(cal_sim_memory_left(t.s.sim), left);
		}
		assert_int_equal(is.size, want->size);
		assert_memory_equal(is.at, want->at, is.size);
		check_ok(0, cal_sim_advance(t.s.sim, 0.012, &t.s.error));
		refused += status != CAL_OK, done += status == CAL_OK;
		free(was.at);
		free(is.at);
		system_end(&t.s);
	}
	assert_true(refused > 10 && done == 3);
	free(locked.at);
	system_end(&whole.s);
}

/* ---- locked modes --------------------------------------------------------------------------------------------- */

typedef struct Pair {
	System s;
	CalBodyId body[2];
	CalJointId hinge;
} Pair;

/* A rigid box that carries a flexible one; everything moves. */
static Pair pair_create(void) {
	Pair p = {.s = system_begin()};
	CalNodeId nodes[5];
	p.body[0] = add_box(&p.s, "rigid", 1, 3), p.body[1] = add_flexible_box(&p.s, "soft", 1, 1, nodes);
	join(&p.s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(p.s.desc, p.body[0]));
	p.hinge = join(&p.s, cal_desc_body_node(p.s.desc, p.body[0]), CAL_JOINT_REVOLUTE, "hinge", nodes[0]);
	system_start(&p.s, NULL);
	CalState *at = cal_sim_state(p.s.sim, 0);
	for (int k = 0; k < 10; k++)
		at->u[k] = 0.3 * sin(k + 1);
	for (int k = 0; k < 3; k++)
		at->q[8 + k] = 0.02 * cos(k);
	check_ok(0, cal_sim_restart(p.s.sim, &p.s.error));
	return p;
}

/* Coordinates and speeds of the modes, wherever the body is in the model. */
static void modes_of(const Pair *p, double eta[3], double eta_dot[3]) {
	const CalModel *model = cal_sim_model(p->s.sim, 0);
	const CalState *at = cal_sim_state(p->s.sim, 0);
	CalBodyInfo info;
	check_ok(0, cal_model_body(model, cal_model_body_index(model, p->body[1]), &info));
	memcpy(eta, at->q + info.q + info.nq, 3 * sizeof(double));
	memcpy(eta_dot, at->u + info.u + info.nu, 3 * sizeof(double));
}

static void locked_modes_stop_and_stay(void **state) {
	(void)state;
	Pair p = pair_create();
	CalTransition t;
	double before, after, eta[3], was[3], rate[3];
	const CalMomentum start = momentum(p.s.sim, &before);
	modes_of(&p, was, rate);
	check_ok(0, cal_sim_lock_modes(p.s.sim, p.body[1], 1, &t, &p.s.error));
	modes_of(&p, eta, rate);
	assert_memory_equal(eta, was, sizeof eta);
	assert_true(rate[1] == 0 && rate[0] != 0 && t.kinetic_lost > 0 && t.group == 0);
	same_momentum(momentum(p.s.sim, &after), start);
	assert_true(fabs(before - after - t.kinetic_lost) < 1e-13 * before);
	before = after;
	check_ok(0, cal_sim_lock_modes(p.s.sim, p.body[1], -1, &t, &p.s.error));
	same_momentum(momentum(p.s.sim, &after), start);
	assert_true(fabs(before - after - t.kinetic_lost) < 1e-13 * before);
	// re-rooting, detaching and attaching leave the lock as it is; so does time
	check_ok(0, cal_sim_reroot(p.s.sim, p.body[1], &t, &p.s.error));
	same_momentum(momentum(p.s.sim, &after), start);
	check_ok(0, cal_sim_advance(p.s.sim, 0.05, &p.s.error));
	modes_of(&p, eta, rate);
	assert_memory_equal(eta, was, sizeof eta);
	assert_true(rate[0] == 0 && rate[1] == 0 && rate[2] == 0);
	CalDofInfo dof;
	const CalModel *model = cal_sim_model(p.s.sim, 0);
	int locked = 0;
	for (int u = 0; u < cal_model_u_count(model); u++)
		locked += cal_model_dof(model, u, &dof) == CAL_OK && dof.prescribed;
	assert_int_equal(locked, 3);
	// and once unlocked they move
	const CalMomentum later = momentum(p.s.sim, &after);
	check_ok(0, cal_sim_unlock_modes(p.s.sim, p.body[1], -1, &t, &p.s.error));
	same_momentum(momentum(p.s.sim, &after), later);
	assert_true(t.kinetic_lost == 0);
	check_ok(0, cal_sim_advance(p.s.sim, 0.1, &p.s.error));
	modes_of(&p, eta, rate);
	assert_true(fabs(eta[0] - was[0]) > 1e-5 && fabs(rate[1]) > 1e-5);
	system_end(&p.s);
}

/* A body whose modes are all locked at rest moves like the rigid body of the same masses. */
static void locked_modes_make_a_rigid_body(void **state) {
	(void)state;
	Pair p = pair_create();
	CalState *at = cal_sim_state(p.s.sim, 0);
	memset(at->q + 8, 0, 3 * sizeof(double));
	memset(at->u + 7, 0, 3 * sizeof(double));
	CalTransition t;
	double energy, later;
	check_ok(0, cal_sim_lock_modes(p.s.sim, p.body[1], -1, &t, &p.s.error));
	assert_true(fabs(t.kinetic_lost) < 1e-15);
	System r = system_begin();
	SmallFlex flex;
	small_flex(&flex);
	const CalBodyId rigid = add_box(&r, "rigid", 1, 3), base = add_box(&r, "soft", 1, 1);
	const CalNodeId hinge = add_node(&r, base, "n0", flex.position[0]);
	join(&r, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(r.desc, rigid));
	join(&r, cal_desc_body_node(r.desc, rigid), CAL_JOINT_REVOLUTE, "hinge", hinge);
	static const char *const names[] = {"m0", "m1", "m2", "m3", "m4"};
	for (int n = 0; n < 5; n++) { // the masses, as points welded on
		CalBodyDef point = cal_body_def();
		CalBodyId id;
		point.name = names[n], point.mass = flex.nodes[n].mass;
		check_ok(0, cal_desc_add_body(r.desc, &point, &id, &r.error));
		join(&r, add_node(&r, base, names[n], flex.position[n]), CAL_JOINT_WELD, names[n],
		     cal_desc_body_node(r.desc, id));
	}
	system_start(&r, NULL);
	CalState *same = cal_sim_state(r.sim, 0);
	at = cal_sim_state(p.s.sim, 0);
	memcpy(same->q, at->q, 8 * sizeof(double));
	memcpy(same->u, at->u, 7 * sizeof(double));
	check_ok(0, cal_sim_restart(r.sim, &r.error));
	momentum(r.sim, &energy), momentum(p.s.sim, &later);
	check_close(0, "energy", 1, &later, &energy, 1e-14);
	check_ok(0, cal_sim_advance(p.s.sim, 0.2, &p.s.error));
	check_ok(0, cal_sim_advance(r.sim, 0.2, &r.error));
	check_close_scaled(0, "coordinates", 8, cal_sim_state(p.s.sim, 0)->q, cal_sim_state(r.sim, 0)->q, 1, 1e-13);
	check_close_scaled(0, "speeds", 7, cal_sim_state(p.s.sim, 0)->u, cal_sim_state(r.sim, 0)->u, 1, 1e-13);
	system_end(&r);
	system_end(&p.s);
}

static void wrong_modes_are_refused_by_name(void **state) {
	(void)state;
	Pair p = pair_create();
	CalError *e = &p.s.error;
	expect(cal_sim_lock_modes(p.s.sim, p.body[0], -1, NULL, e), CAL_ERR_MODEL, e, "rigid");
	expect(cal_sim_lock_modes(p.s.sim, p.body[1], 3, NULL, e), CAL_ERR_ARGUMENT, e, "3 modes");
	expect(cal_sim_unlock_modes(p.s.sim, (CalBodyId){9}, 0, NULL, e), CAL_ERR_ARGUMENT, e, "body");
	system_end(&p.s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flexible_body_comes_in_like_its_twin),
		cmocka_unit_test(a_flexible_body_that_came_in_is_attached),
		cmocka_unit_test(wrong_flexible_bodies_are_refused_by_name),
		cmocka_unit_test(too_little_memory_for_modes_changes_nothing),
		cmocka_unit_test(checkpoints_hold_bodies_that_came_in_and_locked_modes),
		cmocka_unit_test(a_forged_node_of_a_flexible_body_is_refused),
		cmocka_unit_test(a_restore_without_room_for_modes_changes_nothing),
		cmocka_unit_test(locked_modes_stop_and_stay),
		cmocka_unit_test(locked_modes_make_a_rigid_body),
		cmocka_unit_test(wrong_modes_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
