// SPDX-License-Identifier: Apache-2.0
/*
 * test_threads.c — simulations in branches: the same bits for any number of threads, and nearly those of a run in one
 * piece. Random rigid and flexible chains and trees with loads, prescribed motion, loops and devices, stars of natural
 * branches, all methods; changes of topology; checkpoints that change hands between runs with different numbers of threads;
 * no allocation in a step; lack of memory at any point.
 */
#include "support/interpose.h"

#include <stdatomic.h>

#include "support/failing_allocator.h"
#include "support/random_loop.h"
#include "transition/walker.h"
#include "support/methods.h"

enum { BRANCHES = 4, MOST_THREADS = 4, CASES = 40 };
enum { STEPS = 4 };

/* ---- scenarios -------------------------------------------------------------------------------------------------- */

/* What a simulation is made of; devices act on the first and the last body of the description. */
typedef struct Scenario {
	uint64_t seed;
	CalMethod method;
	double step; // small enough for its fastest modes
	const CalDesc *desc;
	const CalState *start; // NULL: as make() leaves it
	const CalInput *input; // NULL: nothing acts
} Scenario;

static int hand_out(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	*input = *(const CalInput *)user;
	return 0;
}

static void add_some_devices(CalSim *sim, uint64_t seed) {
	const CalModel *model = cal_sim_model(sim, 0);
	CalBodyInfo first, last;
	CalNodeInfo a, b;
	check_ok(seed, cal_model_body(model, 0, &first));
	check_ok(seed, cal_model_body(model, cal_model_body_count(model) - 1, &last));
	check_ok(seed, cal_model_node(model, first.node, &a));
	check_ok(seed, cal_model_node(model, last.node, &b));
	const CalSpringDef spring = {.name = "spring", .a = a.id, .b = b.id, .stiffness = 30, .length = 0.1, .damping = 1};
	const CalWheelDef wheel = {.name = "wheel", .node = b.id, .inertia = 0.01, .speed = 20};
	rig_ok(cal_sim_add_spring(sim, &spring, NULL, &rig_error));
	rig_ok(cal_sim_add_wheel(sim, &wheel, NULL, &rig_error));
}

/* branches 0: in one piece. */
static CalSim *sim_of(const Scenario *s, int branches, int threads) {
	const bool adaptive = cal_method_info(s->method)->adaptive;
	const CalSimOptions options = {
		.method = {.method = s->method, .step = adaptive ? 0 : s->step, .rtol = 1e-9, .atol = 1e-11},
		.solver = CAL_SOLVER_RECURSIVE,
		.branches = branches,
		.threads = threads,
		.branches_forced = 1,
		.not_pinned = 1};
	CalSim *sim;
	rig_ok(cal_sim_create(s->desc, &options, &sim, &rig_error));
	const CalModel *model = cal_sim_model(sim, 0);
	CalState *state = cal_sim_state(sim, 0);
	Rng r = rng_make(s->seed);
	if (s->start)
		cal_state_copy(model, s->start, state);
	for (int k = 0; !s->start && k < cal_model_u_count(model); k++)
		state->u[k] = rng_uniform(&r, -0.1, 0.1);
	if (s->input)
		assert_int_equal(cal_sim_set_input(sim, 0, hand_out, NULL, (void *)(uintptr_t)s->input), CAL_OK);
	add_some_devices(sim, s->seed);
	return sim;
}

static CalStatus run(CalSim *sim, double duration) {
	CalError error = {0};
	CalStatus status = cal_sim_restart(sim, &error);
	const double end = cal_sim_time(sim) + duration;
	status = status == CAL_OK ? cal_sim_advance(sim, end, &error) : status;
	if (status != CAL_OK)
		print_message("%s\n", error.text);
	return status;
}

/* Same bits of everything that a checkpoint holds, for all numbers of threads. Returns the number of branches. */
static int check_threads(const Scenario *s) {
	CalSim *first = sim_of(s, BRANCHES, 1);
	check_ok(s->seed, run(first, STEPS * s->step));
	const CalBranches *cut = cal_sim_branches(first, 0);
	for (int threads = 2; threads <= MOST_THREADS; threads++) {
		CalSim *sim = sim_of(s, BRANCHES, threads);
		check_ok(s->seed, run(sim, STEPS * s->step));
		check_same(first, sim);
		if (cut)
			check_that(s->seed, cal_branches_count(cal_sim_branches(sim, 0)) == cal_branches_count(cut));
		cal_sim_destroy(sim);
	}
	const int count = cut ? cal_branches_count(cut) : 1;
	cal_sim_destroy(first);
	return count;
}

static void check_against_one_piece(const Scenario *s, double tolerance) {
	CalSim *whole = sim_of(s, 0, 4), *cut = sim_of(s, BRANCHES, 2);
	const CalModel *model = cal_sim_model(whole, 0);
	CalDeviceInfo a, b;
	check_ok(s->seed, run(whole, STEPS * s->step));
	check_ok(s->seed, run(cut, STEPS * s->step));
	check_close(s->seed, "q", cal_model_q_count(model), cal_sim_state(cut, 0)->q, cal_sim_state(whole, 0)->q,
	            tolerance);
	check_close(s->seed, "u", cal_model_u_count(model), cal_sim_state(cut, 0)->u, cal_sim_state(whole, 0)->u,
	            tolerance);
	check_ok(s->seed, cal_sim_device(whole, 1, &a));
	check_ok(s->seed, cal_sim_device(cut, 1, &b));
	check_close(s->seed, "device", a.nx, b.x, a.x, tolerance);
	cal_sim_destroy(whole);
	cal_sim_destroy(cut);
}

/* ---- random trees ----------------------------------------------------------------------------------------------------- */

static TreeOptions tree_of(uint64_t seed) {
	TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
	options.bodies = 8 + (int)(seed % 9);
	options.chain = seed % 3 == 0;
	options.max_modes = 4;
	options.rate = 0.5;
	return options;
}

static void random_trees(void **state) {
	(void)state;
	int several = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_of(seed), CAL_SOLVER_RECURSIVE);
		const Scenario s = {seed, method_of_seed(seed), 1e-3, f->desc, &f->state, &f->input};
		if (seed % 4 == 0) {
			Rng r = rng_make(seed);
			fixture_prescribe(f, &r);
		}
		several += check_threads(&s) > 1;
		check_against_one_piece(&s, 1e-10);
		fixture_destroy(f);
	}
	print_message("%d of %d partitioned into several branches\n", several, CASES);
	assert_true(several > CASES * 3 / 4);
}

static void random_loops(void **state) {
	(void)state;
	int several = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES / 2; seed++) {
		LoopOptions options = loop_any(seed);
		options.tree = tree_of(seed);
		options.loops = 1;
		options.redundant = 0;
		Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE);
		fixture_close_loops(f);
		const Scenario s = {seed, method_of_seed(seed), 1e-3, f->desc, &f->state, &f->input};
		several += check_threads(&s) > 1;
		check_against_one_piece(&s, 1e-10);
		fixture_destroy(f);
	}
	print_message("%d of %d partitioned into several branches\n", several, CASES / 2);
	assert_true(several > CASES / 6);
}

/* ---- stars ---------------------------------------------------------------------------------------------------------- */

static CalNodeId add_beam(Rig *rig, CalNodeId on, const char *name) {
	char text[64];
	CalBodyId id;
	CalBeamDef beam = cal_beam_def();
	CalJointDef joint = rig_joint(CAL_JOINT_UNIVERSAL, 0, 0, 1);
	beam.name = joint.name = name;
	beam.length = 1;
	beam.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                         .height = 0.03,
	                         .thickness = 0.002,
	                         .youngs_modulus = 7e9,
	                         .poissons_ratio = 0.3,
	                         .density = 2700};
	rig_ok(cal_beam_add(rig->desc, &beam, &id, &rig_error));
	snprintf(text, sizeof text, "%s/root", name);
	rig_ok(cal_desc_attach(rig->desc, on, &joint, cal_desc_find_node(rig->desc, text), NULL, &rig_error));
	snprintf(text, sizeof text, "%s/tip", name);
	return cal_desc_find_node(rig->desc, text);
}

/* A free hub with arms of three beams each. */
static Rig star_create(int arms) {
	Rig rig = rig_new();
	const CalBodyId hub = rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "hub", cal_joint_def(CAL_JOINT_FREE), 50,
	                               (CalVec3){10, 11, 12});
	for (int i = 0; i < arms; i++) {
		char name[32];
		snprintf(name, sizeof name, "port%d", i);
		CalNodeId on = rig_node(&rig, hub, name, (CalVec3){cos(i), sin(i), 0.1 * i});
		for (int k = 0; k < 3; k++) {
			snprintf(name, sizeof name, "arm%d_%d", i, k);
			on = add_beam(&rig, on, name);
		}
	}
	return rig;
}

static void stars(void **state) {
	(void)state;
	Rig rig = star_create(6);
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		const Scenario s = {test_seed(), (CalMethod)method, 1e-4, rig.desc, NULL, NULL};
		assert_true(check_threads(&s) > 2);
		check_against_one_piece(&s, 1e-10);
	}
	rig_free(&rig);
}

/* ---- changes of topology, and checkpoints ------------------------------------------------------------------------------ */

static Run *walk_create(CalMethod method, int branches, int threads) {
	walker_branches = branches;
	walker_threads = threads;
	Run *made = run_create(method, 0);
	walker_branches = walker_threads = 0;
	return made;
}

/* Returns how often some group was in several branches. */
static int walk_to(Run *walk, double end) {
	int cut = 0;
	for (double t = cal_sim_time(walk->rig.sim) + 0.01; t < end + 0.005; t += 0.01) {
		rig_advance(&walk->rig, t < end ? t : end);
		for (int g = 0; g < cal_sim_group_count(walk->rig.sim); g++)
			cut += cal_sim_branches(walk->rig.sim, g) != NULL;
	}
	return cut;
}

static void check_walks_are_near(CalSim *a, CalSim *b, double tolerance) {
	assert_int_equal(cal_sim_group_count(a), cal_sim_group_count(b));
	for (int g = 0; g < cal_sim_group_count(a); g++) {
		const CalModel *model = cal_sim_model(a, g);
		check_close(0, "q", cal_model_q_count(model), cal_sim_state(a, g)->q, cal_sim_state(b, g)->q, tolerance);
		check_close(0, "u", cal_model_u_count(model), cal_sim_state(a, g)->u, cal_sim_state(b, g)->u, tolerance);
	}
}

static void threads_change_no_transition(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_IMPLICIT_MIDPOINT, CAL_METHOD_DOPRI5};
	for (int i = 0; i < 3; i++) {
		Run *one = walk_create(methods[i], BRANCHES, 1), *several = walk_create(methods[i], BRANCHES, 2 + i),
			*whole = walk_create(methods[i], 0, 0);
		assert_true(walk_to(one, 0.2) > 2);
		assert_int_equal(walk_to(whole, 0.2), 0);
		check_walks_are_near(one->rig.sim, whole->rig.sim, 1e-10);
		walk_to(several, 0.2); // as the others do: steps end there
		assert_true(walk_to(one, END) > 5);
		walk_to(several, END);
		check_same(one->rig.sim, several->rig.sim);
		run_destroy(one);
		run_destroy(several);
		run_destroy(whole);
	}
}

/* Taken with one number of threads and gone on from with another: what counts are the branches. */
static void checkpoints_know_nothing_of_threads(void **state) {
	(void)state;
	static const double times[] = {0.02, 0.142, 0.26, 0.4};
	for (int i = 0; i < 4; i++) {
		const CalMethod method = i % 2 ? CAL_METHOD_DOPRI5 : CAL_METHOD_RK4;
		Run *whole = walk_create(method, BRANCHES, 1 + i % 3), *fresh = walk_create(method, BRANCHES, 3 - i % 3);
		walk_to(fresh, i % 2 ? 0.05 : 0.01); // somewhere else
		walk_to(whole, times[i]);
		const Bytes bytes = take(whole->rig.sim);
		restore(fresh->rig.sim, bytes);
		const double end = times[i] + 0.05;
		rig_advance(&whole->rig, end);
		rig_advance(&fresh->rig, end);
		check_same(whole->rig.sim, fresh->rig.sim);
		free(bytes.at);
		run_destroy(whole);
		run_destroy(fresh);
	}
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static void *counting_alloc(void *user, size_t size) {
	atomic_fetch_add((atomic_int *)user, 1);
	return malloc(size);
}

static void counting_free(void *user, void *memory) {
	(void)user;
	free(memory);
}

/* Of the caller's thread whatever it is, of all threads what the library asks its allocator for. */
static void steps_do_not_allocate(void **state) {
	(void)state;
	Rig rig = star_create(4);
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		atomic_int calls = 0;
		const CalSimOptions options = {.method = {.method = (CalMethod)method, .step = 1e-3},
		                               .allocator = {counting_alloc, counting_free, &calls},
		                               .branches = BRANCHES,
		                               .threads = 3,
		                               .branches_forced = 1,
		                               .not_pinned = 1};
		rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
		assert_non_null(cal_sim_branches(rig.sim, 0));
		assert_int_equal(cal_branches_threads(cal_sim_branches(rig.sim, 0)), 3);
		rig_ok(cal_sim_restart(rig.sim, &rig_error));
		atomic_store(&calls, 0);
		interpose_begin(0);
		const CalStatus status = cal_sim_advance(rig.sim, 0.01, NULL);
		const Interpose seen = interpose_end();
		assert_int_equal(status, CAL_OK);
		assert_int_equal(seen.calls, 0);
		assert_int_equal(atomic_load(&calls), 0);
		cal_sim_destroy(rig.sim);
	}
	rig.sim = NULL;
	rig_free(&rig);
}

static void lack_of_memory_is_reported(void **state) {
	(void)state;
	Rig rig = star_create(3);
	FailingAllocator memory = {0};
	CalStatus status = CAL_ERR_MEMORY;
	for (int k = 1; status != CAL_OK; k++) {
		const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3},
		                               .allocator = failing_allocator(&memory),
		                               .branches = BRANCHES,
		                               .threads = 2,
		                               .branches_forced = 1,
		                               .not_pinned = 1};
		CalError error = {0};
		memory.calls = 0;
		memory.fail_at = k;
		status = cal_sim_create(rig.desc, &options, &rig.sim, &error);
		assert_true(status == CAL_OK ? memory.calls < k : status == CAL_ERR_MEMORY && memory.live == 0);
	}
	assert_true(memory.calls > 20);
	assert_non_null(cal_sim_branches(rig.sim, 0));
	cal_sim_destroy(rig.sim);
	assert_int_equal(memory.live, 0);
	rig.sim = NULL;
	rig_free(&rig);
}

/* What is reserved for changes does not hold branches: a change that gets none is refused, and nothing has changed. */
static void a_change_without_branches_is_refused(void **state) {
	(void)state;
	Rig rig = star_create(4);
	FailingAllocator memory = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-4},
	                               .allocator = failing_allocator(&memory),
	                               .branches = BRANCHES,
	                               .threads = 2,
	                               .branches_forced = 1,
	                               .not_pinned = 1};
	const CalSimCapacity capacity = {.groups = 1, .joints = 1};
	rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
	rig_ok(cal_sim_reserve(rig.sim, rig.desc, &capacity, &rig_error));
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	rig_advance(&rig, 1e-3);
	const CalJointId joint = cal_desc_find_joint(rig.desc, "arm2_1");
	const long live = memory.live;
	int refused = 0;
	for (CalStatus status = CAL_ERR_MEMORY; status != CAL_OK; refused += status != CAL_OK) {
		CalError error = {0};
		memory.calls = 0;
		memory.fail_at = refused + 1;
		status = cal_sim_detach(rig.sim, joint, "part", NULL, &error);
		memory.fail_at = 0;
		if (status == CAL_OK)
			break;
		assert_true(status == CAL_ERR_MEMORY && strstr(error.text, "branches"));
		assert_int_equal(memory.live, live);
		assert_int_equal(cal_sim_group_count(rig.sim), 1);
	}
	assert_true(refused > 20);
	assert_int_equal(cal_sim_group_count(rig.sim), 2);
	assert_non_null(cal_sim_branches(rig.sim, 0));
	rig_advance(&rig, 2e-3);
	rig_ok(cal_sim_reattach(rig.sim, joint, NULL, NULL, &rig_error));
	rig_advance(&rig, 3e-3);
	cal_sim_destroy(rig.sim);
	assert_int_equal(memory.live, 0);
	rig.sim = NULL;
	rig_free(&rig);
}

/* ---- options -------------------------------------------------------------------------------------------------------- */

static void small_models_stay_in_one_piece(void **state) {
	(void)state;
	Rig rig = star_create(0);
	CalError error = {0};
	const CalIntegratorOptions method = {.method = CAL_METHOD_RK4, .step = 1e-3};
	const CalSimOptions options = {.method = method, .threads = 4}, bad = {.method = method, .threads = 1000},
						worse = {.method = method, .branches = -1};
	rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
	assert_null(cal_sim_branches(rig.sim, 0));
	assert_null(rig.sim->pool); // no thread was started
	assert_null(cal_sim_branches(rig.sim, 1));
	cal_sim_destroy(rig.sim);
	assert_int_equal(cal_sim_create(rig.desc, &bad, &rig.sim, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "threads"));
	assert_int_equal(cal_sim_create(rig.desc, &worse, &rig.sim, NULL), CAL_ERR_ARGUMENT);
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees),
		cmocka_unit_test(random_loops),
		cmocka_unit_test(stars),
		cmocka_unit_test(threads_change_no_transition),
		cmocka_unit_test(checkpoints_know_nothing_of_threads),
		cmocka_unit_test(steps_do_not_allocate),
		cmocka_unit_test(lack_of_memory_is_reported),
		cmocka_unit_test(a_change_without_branches_is_refused),
		cmocka_unit_test(small_models_stay_in_one_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
