// SPDX-License-Identifier: Apache-2.0
/*
 * test_distribute_thread.c — simulations on ranks: the same motion as on one, by every method, sending interfaces alone where
 * nothing reads the whole state; ranks that do not match, that are lost, and steps that fail on one of them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/failing_allocator.h"
#include "support/interpose.h"
#include "support/random_loop.h"
#include "support/thread_ranks.h"
#include "support/methods.h"

enum { MOST_RANKS = 7, ADVANCES = 4 };

typedef struct Task Task;
struct Task {
	const Fixture *f;
	CalIntegratorOptions method;
	double advance;     // time of each
	CalInputFn input;   // of every group, NULL: none
	int inputs_of_time; //
	void (*vary)(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how); // NULL: not
	void (*prepare)(CalSim *sim);                                                                  // NULL: not
	int leaver, leaves_at;                // rank that is gone before this advance; 0: none
	double *state[MOST_RANKS];            // [nq + nu] at the end
	double t[MOST_RANKS];                 //
	CalStatus status[MOST_RANKS];         //
	CalError error[MOST_RANKS];           //
	CalDistributionInfo info[MOST_RANKS]; //
	CalSimStats stats[MOST_RANKS];        //
	CalSimBalance balance[MOST_RANKS];    //
	void *checkpoint[MOST_RANKS];         // of what is left after a failure
	size_t checkpoint_size[MOST_RANKS];   //
};

static CalStatus make_sim(const Task *task, const CalSimOptions *options, CalSim **sim, CalError *error) {
	CalStatus status = cal_sim_create(task->f->desc, options, sim, error);
	if (status != CAL_OK)
		return status;
	CalState *state = cal_sim_state(*sim, 0);
	memcpy(state->q, task->f->state.q, (size_t)task->f->nq * sizeof(double));
	memcpy(state->u, task->f->state.u, (size_t)task->f->nu * sizeof(double));
	if (task->input)
		cal_sim_set_input(*sim, 0, task->input, NULL, (void *)(uintptr_t)task->f);
	if (task->prepare)
		task->prepare(*sim);
	return cal_sim_restart(*sim, error);
}

static void keep(Task *task, int r, CalSim *sim) {
	const CalState *state = cal_sim_state(sim, 0);
	memcpy(task->state[r], state->q, (size_t)task->f->nq * sizeof(double));
	memcpy(task->state[r] + task->f->nq, state->u, (size_t)task->f->nu * sizeof(double));
	task->t[r] = cal_sim_time(sim);
	task->stats[r] = cal_sim_stats(sim);
	cal_sim_balance(sim, &task->balance[r]);
	if (task->status[r] != CAL_ERR_LOST)
		return;
	size_t size = cal_checkpoint_size(sim);
	task->checkpoint[r] = test_alloc(size, 1);
	if (cal_checkpoint_take(sim, task->checkpoint[r], size, &task->checkpoint_size[r]) != CAL_OK)
		task->checkpoint_size[r] = 0;
}

/* Without a transport: on one rank, uncut. */
static void work(void *user, const CalTransport *transport) {
	Task *task = user;
	const int r = transport ? transport->rank : 0;
	CalSimOptions options = {.method = task->method};
	CalDistribution how = {.transport = transport, .branches = 5, .forced = 1, .inputs_of_time = task->inputs_of_time};
	CalSim *sim = NULL;
	if (task->vary)
		task->vary(transport, task, &options, &how);
	CalStatus status = make_sim(task, &options, &sim, &task->error[r]);
	if (status == CAL_OK && transport)
		status = cal_sim_distribute(sim, &how, &task->error[r]);
	for (int k = 1; k <= ADVANCES && status == CAL_OK; k++) {
		if (transport && task->leaver == r && task->leaves_at == k)
			break;
		status = cal_sim_advance(sim, k * task->advance, &task->error[r]);
	}
	task->status[r] = status;
	if (sim)
		keep(task, r, sim);
	if (sim && transport)
		cal_sim_distribution(sim, &task->info[r]);
	cal_sim_destroy(sim);
}

static void run(Task *task, int size) {
	for (int r = 0; r < (size ? size : 1); r++)
		task->state[r] = test_doubles(task->f->nq + task->f->nu);
	if (size)
		thread_ranks_run(size, work, task);
	else
		work(task, NULL);
}

static void task_free(Task *task) {
	for (int r = 0; r < MOST_RANKS; r++) {
		free(task->state[r]);
		free(task->checkpoint[r]);
	}
}

static Fixture *model_of(uint64_t seed) {
	const TreeOptions options = {.bodies = 6 + (int)(seed % 12),
	                             .chain = seed % 2 == 0,
	                             .flexible = seed % 3 ? 0.4 : 0,
	                             .max_modes = 3,
	                             .springs = 1,
	                             .joints = seed % 5 ? TREE_ONE_DOF | 1 << CAL_JOINT_SPHERICAL : 0,
	                             .rate = 0.3};
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

/* Steps that suit models of any stiffness. */
static Task task_of(const Fixture *f, CalMethod method) {
	return (Task){.f = f,
	              .method = {.method = method,
	                         .step = cal_method_info(method)->adaptive ? 0 : 1e-5,
	                         .rtol = 1e-10,
	                         .atol = 1e-10},
	              .advance = 5e-5};
}

/* All ranks have the same bits, and the run without ranks has the same numbers. */
static void check_ranks(const Task *task, int size, const Task *serial) {
	const Fixture *f = task->f;
	const size_t bytes = (size_t)(f->nq + f->nu) * sizeof(double);
	for (int r = 0; r < size; r++) {
		if (task->status[r] != CAL_OK)
			print_message("rank %d: %s\n", r, task->error[r].text);
		check_ok(f->seed, task->status[r]);
		check_that(f->seed, memcmp(task->state[r], task->state[0], bytes) == 0 && task->t[r] == task->t[0]);
		const CalSimBalance *own = &task->balance[r], *first = &task->balance[0];
		check_that(f->seed, own->dissipated == first->dissipated && own->supplied == first->supplied &&
		                        own->error == first->error && own->complete == first->complete);
		check_that(f->seed, task->stats[r].steps == serial->stats[0].steps);
	}
	check_close(f->seed, "q", f->nq, task->state[0], serial->state[0], 1e-10);
	check_close(f->seed, "u", f->nu, task->state[0] + f->nq, serial->state[0] + f->nq, 1e-10);
	check_close_scaled(f->seed, "dissipated", 1, &task->balance[0].dissipated, &serial->balance[0].dissipated, 1e-9,
	                   1e-10);
}

static void check_counts(const Task *task, int size) {
	int64_t messages = 0, numbers = 0, own = 0;
	for (int r = 0; r < size; r++) {
		messages += task->info[r].messages;
		numbers += task->info[r].numbers;
		own += task->info[r].own;
	}
	const int64_t crossings = task->info[0].interfaces * task->info[0].evaluations;
	check_that(task->f->seed, messages == 3 * crossings && numbers == 45 * crossings);
	check_that(task->f->seed, own == task->info[0].branches);
}

static void ranks_move_as_one(void **state) {
	(void)state;
	static const int sizes[] = {1, 2, 3, 4, 7};
	int interfaces = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Fixture *f = model_of(seed);
		for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
			const int size = sizes[(seed + (uint64_t)method) % 5];
			Task serial = task_of(f, (CalMethod)method), task = task_of(f, (CalMethod)method);
			run(&serial, 0);
			run(&task, size);
			check_ranks(&task, size, &serial);
			check_counts(&task, size);
			const bool fixed = !cal_method_info((CalMethod)method)->adaptive;
			check_that(seed, task.info[0].interface_only == fixed);
			// where interfaces suffice: two at the start, then notes and states after every advance
			check_that(seed, !fixed || task.info[0].gathers == 2 + 2 * ADVANCES);
			interfaces += task.info[0].interfaces;
			task_free(&serial);
			task_free(&task);
		}
		fixture_destroy(f);
	}
	print_message("%d interfaces between ranks\n", interfaces);
	assert_true(interfaces > 40);
}

/* ---- inputs -------------------------------------------------------------------------------------------- */

static int push_by_time(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	const Fixture *f = user;
	(void)model, (void)state;
	*input = (CalInput){.tau = f->tau};
	return 0;
}

static int push_with_wrenches(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	const Fixture *f = user;
	(void)model, (void)state;
	*input = f->input;
	return 0;
}

static void inputs_act_on_all_ranks(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Fixture *f = model_of(seed);
		for (int of_time = 0; of_time < 2; of_time++) {
			Task serial = task_of(f, CAL_METHOD_RK4), task = serial;
			serial.input = task.input = of_time ? push_by_time : push_with_wrenches;
			task.inputs_of_time = of_time;
			run(&serial, 0);
			run(&task, 3);
			check_ranks(&task, 3, &serial);
			check_that(seed, task.info[0].interface_only == of_time);
			check_close_scaled(seed, "supplied", 1, &task.balance[0].supplied, &serial.balance[0].supplied, 1e-9,
			                   1e-10);
			task_free(&serial);
			task_free(&task);
		}
		fixture_destroy(f);
	}
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

/* Friction and limits on every joint with an axis, with bristles or without, and motors on every other. */
static void add_joint_devices(CalSim *sim, double bristles) {
	const CalModel *model = cal_sim_model(sim, 0);
	for (int u = 0; u < cal_model_u_count(model); u++) {
		CalDofInfo dof;
		CalBodyInfo body;
		char name[3][32];
		if (cal_model_dof(model, u, &dof) != CAL_OK || dof.q < 0 || cal_model_body(model, dof.body, &body) != CAL_OK ||
		    dof.index >= body.nu)
			continue;
		snprintf(name[0], sizeof name[0], "friction %d", u);
		snprintf(name[1], sizeof name[1], "motor %d", u);
		const CalFrictionDef friction = {.name = name[0],
		                                 .joint = body.joint_id,
		                                 .dof = dof.index,
		                                 .coulomb = 0.3 + 0.1 * u,
		                                 .viscous = 0.2,
		                                 .smoothing_speed = 0.05,
		                                 .bristle_stiffness = bristles};
		const CalServoDef servo = {
			.name = name[1], .joint = body.joint_id, .dof = dof.index, .proportional = 30, .derivative = 2};
		snprintf(name[2], sizeof name[2], "limit %d", u);
		const double q = cal_sim_state(sim, 0)->q[dof.q];
		const CalLimitDef limit = {.name = name[2],
		                           .joint = body.joint_id,
		                           .dof = dof.index,
		                           .lower = q + 0.01,
		                           .upper = q + 1,
		                           .stiffness = 40,
		                           .damping = 1};
		cal_sim_add_friction(sim, &friction, NULL, NULL);
		cal_sim_add_limit(sim, &limit, NULL, NULL);
		if (u % 2)
			cal_sim_add_servo(sim, &servo, NULL, NULL);
	}
}

static void add_plain_devices(CalSim *sim) { add_joint_devices(sim, 0); }
static void add_devices_with_states(CalSim *sim) { add_joint_devices(sim, 2e3); }

/*
 * Devices that read and move one degree of freedom are evaluated where it is solved, without a gather: messages are those of
 * interfaces, and balances add up. So are their states, which all ranks get after the advance.
 */
static void joint_devices_act_where_their_joint_is(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = model_of(seed);
		for (int states = 0; states < 2; states++) {
			Task serial = task_of(f, CAL_METHOD_RK4), task = serial;
			serial.prepare = task.prepare = states ? add_devices_with_states : add_plain_devices;
			run(&serial, 0);
			run(&task, 3);
			check_ranks(&task, 3, &serial);
			check_counts(&task, 3);
			check_that(seed, task.info[0].interface_only && task.info[0].gathers == 2 + 2 * ADVANCES);
			check_that(seed, serial.balance[0].dissipated > 0 && serial.balance[0].supplied != 0);
			check_close_scaled(seed, "supplied", 1, &task.balance[0].supplied, &serial.balance[0].supplied, 1e-9,
			                   1e-10);
			task_free(&serial);
			task_free(&task);
		}
		fixture_destroy(f);
	}
}

/* ---- what goes wrong ------------------------------------------------------------------------------------- */

/* Late in the run with what f->udot says, which is more than any speed can take. */
static int fails_late(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	const Fixture *f = user;
	(void)model;
	*input = (CalInput){.tau = state->t > 1.2e-4 ? f->udot : f->tau};
	return 0;
}

/* The last speed that turns something: what slides stays finite at any speed. */
static int last_rate(const Fixture *f) {
	CalCoordinateInfo info;
	int u = f->nu - 1;
	while (u > 0 && (cal_model_speed(f->model, u, &info) != CAL_OK || info.kind != CAL_COORDINATE_ANGLE))
		u--;
	return u;
}

/* A step that fails on one rank fails on all, as it does where all branches are in one place: same words, same state. */
static void a_failure_is_everybodys(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Fixture *f = model_of(seed);
		const int failing = last_rate(f);
		for (int i = 0; i < f->nu; i++)
			f->udot[i] = i == failing ? 1e305 : 0;
		Task one = task_of(f, CAL_METHOD_EULER_CROMER), task = one;
		one.inputs_of_time = task.inputs_of_time = 1;
		one.input = task.input = fails_late;
		run(&one, 1);
		run(&task, 4);
		for (int r = 0; r < 4; r++) {
			check_that(seed, one.status[0] == CAL_NOT_FINITE && task.status[r] == one.status[0]);
			check_that(seed, task.t[r] == one.t[0] && task.t[r] > 1e-4 && task.t[r] < 1.6e-4);
			check_that(seed, strcmp(task.error[r].text, one.error[0].text) == 0);
			check_that(seed, memcmp(task.state[r], one.state[0], (size_t)(f->nq + f->nu) * sizeof(double)) == 0);
			check_that(seed, task.stats[r].steps == one.stats[0].steps);
		}
		task_free(&one);
		task_free(&task);
		fixture_destroy(f);
	}
}

/* Who is left has the states before the advance, and a run that resumes from them ends like one that was not disturbed. */
static void a_lost_rank_leaves_a_checkpoint(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		Fixture *f = model_of(test_seed() + 1);
		Task serial = task_of(f, (CalMethod)method), task = serial;
		task.leaver = 1;
		task.leaves_at = 3;
		run(&serial, 0);
		run(&task, 3);
		assert_true(task.info[0].busy == 3);
		for (int r = 0; r < 3; r += 2) {
			assert_int_equal(task.status[r], CAL_ERR_LOST);
			assert_true(task.t[r] == 2 * task.advance && task.info[r].lost != 0);
			assert_non_null(strstr(task.error[r].text, ": it is gone"));
			CalSim *sim = NULL;
			CalError error = {0};
			const CalSimOptions options = {.method = task.method};
			check_ok(f->seed, make_sim(&task, &options, &sim, &error));
			check_ok(f->seed, cal_checkpoint_restore(sim, task.checkpoint[r], task.checkpoint_size[r], &error));
			for (int k = 3; k <= ADVANCES; k++)
				check_ok(f->seed, cal_sim_advance(sim, k * task.advance, &error));
			const double close = cal_method_info((CalMethod)method)->exact_resume ? 1e-10 : 1e-8; // rtol is 1e-10
			check_close(f->seed, "q", f->nq, cal_sim_state(sim, 0)->q, serial.state[0], close);
			check_close(f->seed, "u", f->nu, cal_sim_state(sim, 0)->u, serial.state[0] + f->nq, close);
			cal_sim_destroy(sim);
		}
		task_free(&serial);
		task_free(&task);
		fixture_destroy(f);
	}
}

/* ---- ranks that do not match -------------------------------------------------------------------------------- */

static void vary_step(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how) {
	(void)task, (void)how;
	options->method.step *= t->rank == 1 ? 2 : 1;
}

static void vary_fingerprint(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how) {
	(void)task, (void)options;
	how->fingerprint = t->rank == 2 ? 7 : 8;
}

static void vary_never(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how) {
	(void)t, (void)task, (void)options;
	how->cross_loops = CAL_CROSS_LOOPS_NEVER;
}

static void vary_always(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how) {
	(void)t, (void)task, (void)options;
	how->cross_loops = CAL_CROSS_LOOPS_ALWAYS;
}

static void vary_cutting(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how) {
	(void)task, (void)options;
	how->branches = t->rank == 1 ? 3 : 4;
}

static void ranks_must_match(void **state) {
	(void)state;
	static const struct {
		void (*vary)(const CalTransport *t, Task *task, CalSimOptions *options, CalDistribution *how);
		const char *says;
	} cases[] = {{vary_step, "rank 1 has another method, step or tolerance than rank 0"},
	             {vary_fingerprint, "rank 2 has another input file, or other options than rank 0"},
	             {vary_cutting, "rank 1 has another way of cutting than rank 0"}};
	Fixture *f = model_of(test_seed());
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		Task task = task_of(f, CAL_METHOD_RK4);
		task.vary = cases[k].vary;
		run(&task, 3);
		for (int r = 0; r < 3; r++) {
			assert_int_equal(task.status[r], CAL_ERR_MODEL);
			assert_non_null(strstr(task.error[r].text, cases[k].says));
		}
		task_free(&task);
	}
	fixture_destroy(f);
}

/* More ranks than branches: some have nothing to do but to receive. */
static void idle_ranks_are_no_harm(void **state) {
	(void)state;
	const TreeOptions options = {.bodies = 2, .joints = 1 << CAL_JOINT_REVOLUTE, .chain = 1};
	Fixture *f = fixture_random(test_seed(), options, CAL_SOLVER_RECURSIVE);
	Task serial = task_of(f, CAL_METHOD_RK4), task = serial;
	run(&serial, 0);
	run(&task, 7);
	check_ranks(&task, 7, &serial);
	assert_true(task.info[0].busy <= 2 && task.info[6].own == 0);
	task_free(&serial);
	task_free(&task);
	fixture_destroy(f);
}

static int none(void *user, int other, int tag, double *x, int count) {
	(void)user, (void)other, (void)tag, (void)x, (void)count;
	return 0;
}
static int none_sent(void *user, int to, int tag, const double *x, int count) {
	(void)user, (void)to, (void)tag, (void)x, (void)count;
	return 0;
}
static int none_gathered(void *user, const int *starts, double *x) {
	(void)user, (void)starts, (void)x;
	return 0;
}

static const CalTransport alone_in_the_world = {.size = 1, .send = none_sent, .receive = none, .gather = none_gathered};

static void what_cannot_be_distributed_is_refused(void **state) {
	(void)state;
	Fixture *f = model_of(test_seed());
	Task task = task_of(f, CAL_METHOD_RK4);
	CalSim *sim;
	CalError error = {0};
	CalDistributionInfo info;
	const CalSimOptions options = {.method = task.method};
	const CalDistribution how = {.transport = &alone_in_the_world};
	check_ok(f->seed, make_sim(&task, &options, &sim, &error));
	assert_int_equal(cal_sim_distribution(sim, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_distribute(sim, &(CalDistribution){0}, &error), CAL_ERR_ARGUMENT);
	check_ok(f->seed, cal_sim_distribute(sim, &how, &error));
	assert_int_equal(cal_sim_distribute(sim, &how, &error), CAL_ERR_STAGE);
	assert_int_equal(cal_sim_reserve(sim, f->desc, NULL, &error), CAL_ERR_UNSUPPORTED);
	cal_sim_destroy(sim);
	check_ok(f->seed, make_sim(&task, &options, &sim, &error));
	const CalDistribution any = {.transport = &alone_in_the_world, .cross_loops = (CalCrossLoops)3};
	assert_int_equal(cal_sim_distribute(sim, &any, &error), CAL_ERR_ARGUMENT);
	cal_sim_destroy(sim);
	fixture_destroy(f);
}

static void memory_that_is_short_is_reported(void **state) {
	(void)state;
	Fixture *f = model_of(test_seed());
	Task task = task_of(f, CAL_METHOD_RK4);
	FailingAllocator counter = {0};
	CalSim *sim;
	CalError error = {0};
	const CalSimOptions options = {.method = task.method, .allocator = failing_allocator(&counter)};
	const CalDistribution how = {.transport = &alone_in_the_world, .branches = 4, .forced = 1};
	check_ok(f->seed, make_sim(&task, &options, &sim, &error));
	const long before = counter.live;
	CalStatus status = CAL_ERR_MEMORY;
	int failures = 0;
	for (int k = 1; status != CAL_OK; k++) {
		counter.calls = 0;
		counter.fail_at = k;
		status = cal_sim_distribute(sim, &how, NULL);
		check_that(f->seed, status == CAL_OK || (status == CAL_ERR_MEMORY && counter.live == before));
		failures += status != CAL_OK;
	}
	counter.fail_at = 0;
	check_that(f->seed, failures > 10);
	check_ok(f->seed, cal_sim_advance(sim, 1e-4, &error));
	cal_sim_destroy(sim);
	check_that(f->seed, counter.live == 0);
	fixture_destroy(f);
}

static void advances_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Fixture *f = model_of(test_seed());
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		Task task = task_of(f, (CalMethod)method);
		CalSim *sim;
		CalError error = {0};
		const CalSimOptions options = {.method = task.method};
		const CalDistribution how = {.transport = &alone_in_the_world, .branches = 4, .forced = 1};
		check_ok(f->seed, make_sim(&task, &options, &sim, &error));
		check_ok(f->seed, cal_sim_distribute(sim, &how, &error));
		interpose_begin(0);
		const CalStatus status = cal_sim_advance(sim, 1e-4, &error);
		const Interpose seen = interpose_end();
		check_ok(f->seed, status);
		check_that(f->seed, seen.calls == 0);
		cal_sim_destroy(sim);
	}
	fixture_destroy(f);
}

/* ---- loops ------------------------------------------------------------------------------------------------- */

/* A pendulum of so many bars whose last one is hinged to the ground again: one loop through all of them. */
static Fixture *closed_pendulum(uint64_t seed, int bars) {
	Rng rng = rng_make(seed);
	Fixture *f = fixture_create(random_linkage(&rng, bars, REF_LOOP_REVOLUTE), seed, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	return f;
}

/*
 * What a closed pendulum sends, exactly: the loop has an end outboard of every interface, so that where the base is, the
 * columns of its rows and its multipliers cross each of them; and a projection measures its residuals along a tree of ranks.
 */
static void check_loop_counts(const Task *task, int size) {
	enum { ROWS = 5, EVALUATION = 12 + 6 + (27 + ROWS * ROWS + 7 * ROWS + 5) + (6 + ROWS), RESIDUAL = 12 + 6 };
	int64_t messages = 0, numbers = 0;
	for (int r = 0; r < size; r++) {
		messages += task->info[r].messages;
		numbers += task->info[r].numbers;
	}
	const CalDistributionInfo *info = &task->info[0];
	const int64_t I = info->interfaces, sums = info->evaluations + info->corrections, up = info->busy - 1;
	check_that(task->f->seed, I > 0 && info->residuals > info->corrections);
	check_that(task->f->seed, messages == 4 * I * sums + (2 * I + 2 * up) * info->residuals);
	check_that(task->f->seed, numbers == EVALUATION * I * sums + (RESIDUAL * I + 14 * up) * info->residuals);
}

/* Messages of a step for each neighbor, which are those of interfaces and of the tree of ranks. */
static double messages_per_neighbor(const Task *task, int size) {
	int64_t messages = 0;
	for (int r = 0; r < size; r++)
		messages += task->info[r].messages;
	const int64_t neighbors = task->info[0].interfaces + task->info[0].busy - 1;
	return (double)messages / (double)(neighbors * task->stats[0].steps);
}

/* A distributed closed-loop pendulum: interface data alone, as many messages of a step with 6 bars as with 24, on 2 ranks as on 7. */
static void closed_loops_send_interfaces_alone(void **state) {
	(void)state;
	static const int sizes[] = {2, 3, 4, 7}, bars[] = {6, 12, 24};
	double most = 0;
	int64_t corrections = 0;
	for (int k = 0; k < 12; k++) {
		const uint64_t seed = test_seed() + (uint64_t)k;
		const int size = sizes[k % 4];
		Fixture *f = closed_pendulum(seed, bars[k / 4]);
		static const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_EULER_CROMER, CAL_METHOD_IMPLICIT};
		Task serial = task_of(f, methods[k % 3]), task = serial, one = serial;
		serial.method.step = task.method.step = one.method.step = 1e-3;
		serial.advance = task.advance = one.advance = 5e-3;
		task.vary = one.vary = vary_always;
		run(&serial, 0);
		run(&one, 1);
		run(&task, size);
		check_ranks(&task, size, &serial);
		check_that(seed, memcmp(task.state[0], one.state[0], (size_t)(f->nq + f->nu) * sizeof(double)) == 0);
		check_that(seed, task.info[0].interface_only && task.info[0].gathers == 2 + 2 * ADVANCES);
		check_loop_counts(&task, size);
		const double each = messages_per_neighbor(&task, size) / (methods[k % 3] == CAL_METHOD_RK4 ? 4 : 1);
		most = each > most ? each : most;
		corrections += task.info[0].corrections;
		task_free(&serial), task_free(&one), task_free(&task);
		fixture_destroy(f);
	}
	print_message("at most %.1f messages for each neighbor and evaluation of a step\n", most);
	assert_true(most < 20 && corrections > 100);
}

/* Branches project in the metric of the masses: with the other one all ranks know everything. */
static void euclidean_projections_gather(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 3; seed++) {
		Fixture *f = closed_pendulum(seed, 6);
		Task serial = task_of(f, CAL_METHOD_RK4), task = serial;
		serial.method.step = task.method.step = 1e-3;
		serial.method.euclidean = task.method.euclidean = 1;
		serial.advance = task.advance = 5e-3;
		task.vary = vary_always;
		run(&serial, 0);
		run(&task, 3);
		check_ranks(&task, 3, &serial);
		check_that(seed, !task.info[0].interface_only && task.info[0].interfaces > 0);
		task_free(&serial), task_free(&task);
		fixture_destroy(f);
	}
}

/* Loops that are closed within branches: nothing extra in an evaluation. */
static void loops_within_branches_send_nothing_extra(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++) {
		Fixture *f =
			fixture_create(loop_windows(3 + (int)(seed % 3), 0.7, 1.5, REF_LOOP_REVOLUTE), seed, CAL_SOLVER_RECURSIVE);
		ref_model_start(f->ref, f->state.q, f->state.u);
		fixture_close_loops(f);
		Task serial = task_of(f, CAL_METHOD_RK4), task = serial;
		serial.method.step = task.method.step = 1e-4;
		serial.advance = task.advance = 1e-3;
		task.vary = vary_never;
		run(&serial, 0);
		run(&task, 3);
		check_ranks(&task, 3, &serial);
		check_that(seed, task.info[0].interface_only && task.info[0].gathers == 2 + 2 * ADVANCES);
		task_free(&serial), task_free(&task);
		fixture_destroy(f);
	}
}

/* ---- observing --------------------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 1024 };

/* What each rank finds. */
typedef struct Observed {
	const Fixture *f;
	int calls[MOST_RANKS];                 // of the watcher
	int columns;                           //
	int rank_of[MOST_RANKS][MOST_COLUMNS]; // of columns
	bool sound[MOST_RANKS];                // columns that are selected have their values, the others none
} Observed;

static double count_call(void *user, CalSim *sim) {
	(void)sim;
	++*(int *)user;
	return 0;
}

/* Samples only what this rank has, beside a sampler of everything. */
static bool selects_its_own(CalSim *sim, CalSampler *sampler, CalSampler *all, const int *rank_of, int rank) {
	const int count = cal_sampler_column_count(sampler);
	unsigned char wanted[MOST_COLUMNS] = {0};
	double own[MOST_COLUMNS], whole[MOST_COLUMNS];
	for (int i = 0; i < count; i++)
		wanted[i] = rank_of[i] == rank;
	bool sound = cal_sampler_select(sampler, wanted) == CAL_OK && cal_sampler_sample(all, sim, whole) == CAL_OK &&
	             cal_sampler_sample(sampler, sim, own) == CAL_OK;
	for (int i = 1; i < count; i++)
		sound &= wanted[i] ? memcmp(&own[i], &whole[i], sizeof *own) == 0 : own[i] != own[i];
	return sound && own[0] == whole[0];
}

static void observe(void *user, const CalTransport *transport) {
	Observed *o = user;
	const int r = transport->rank;
	const Task task = task_of(o->f, CAL_METHOD_RK4);
	const CalSimOptions options = {.method = task.method};
	const CalDistribution how = {.transport = transport, .branches = 5, .forced = 1};
	CalSampler *samplers[2] = {NULL, NULL};
	CalSim *sim = NULL;
	CalStatus status = make_sim(&task, &options, &sim, NULL);
	if (status == CAL_OK)
		status = cal_sim_distribute(sim, &how, NULL);
	cal_sim_watch(sim, count_call, &o->calls[r], 0);
	if (status == CAL_OK)
		status = cal_sim_advance(sim, task.advance, NULL);
	static const char *const names[] = {"q", "u", "pose", "energy"};
	for (int k = 0; k < 2; k++) {
		cal_sampler_create(NULL, &samplers[k], NULL);
		for (size_t i = 0; i < sizeof names / sizeof *names && status == CAL_OK; i++)
			status = cal_sampler_add(samplers[k], sim, names[i], NULL);
	}
	const int count = cal_sampler_column_count(samplers[0]);
	if (r == 0)
		o->columns = count;
	o->sound[r] = status == CAL_OK && count <= MOST_COLUMNS &&
	              cal_sampler_ranks(samplers[0], sim, o->rank_of[r]) == CAL_OK &&
	              selects_its_own(sim, samplers[0], samplers[1], o->rank_of[r], r);
	cal_sampler_destroy(samplers[0]);
	cal_sampler_destroy(samplers[1]);
	cal_sim_destroy(sim);
}

/* All ranks agree on who records what, each has something, and nobody reads states that are not known. */
static void ranks_record_their_own(void **state) {
	(void)state;
	enum { RANKS = 3 };
	for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++) {
		Fixture *f = model_of(seed);
		Observed o = {.f = f};
		thread_ranks_run(RANKS, observe, &o);
		int columns[RANKS] = {0};
		for (int r = 0; r < RANKS; r++) {
			check_that(seed, o.sound[r] && o.calls[r] == 0);
			check_that(seed, memcmp(o.rank_of[r], o.rank_of[0], (size_t)o.columns * sizeof(int)) == 0);
		}
		for (int i = 0; i < o.columns; i++)
			columns[o.rank_of[0][i]]++;
		check_that(seed, o.rank_of[0][0] == 0 && o.rank_of[0][o.columns - 1] == 0); // the time, and the energy
		check_that(seed, columns[0] > 0 && columns[1] > 0 && columns[2] > 0);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_move_as_one),
		cmocka_unit_test(inputs_act_on_all_ranks),
		cmocka_unit_test(joint_devices_act_where_their_joint_is),
		cmocka_unit_test(closed_loops_send_interfaces_alone),
		cmocka_unit_test(euclidean_projections_gather),
		cmocka_unit_test(loops_within_branches_send_nothing_extra),
		cmocka_unit_test(ranks_record_their_own),
		cmocka_unit_test(a_failure_is_everybodys),
		cmocka_unit_test(a_lost_rank_leaves_a_checkpoint),
		cmocka_unit_test(ranks_must_match),
		cmocka_unit_test(idle_ranks_are_no_harm),
		cmocka_unit_test(what_cannot_be_distributed_is_refused),
		cmocka_unit_test(memory_that_is_short_is_reported),
		cmocka_unit_test(advances_do_not_allocate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
