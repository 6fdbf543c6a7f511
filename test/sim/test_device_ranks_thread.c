// SPDX-License-Identifier: Apache-2.0
/*
 * test_device_ranks_thread.c — devices on nodes and devices with states on several ranks: the same motion as on one, no gather
 * within an advance, exactly the messages that are needed, the same bits for any number of ranks, and failures and doubts
 * of one rank on all of them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_tree.h"
#include "support/thread_ranks.h"

enum { MOST_RANKS = 5, ADVANCES = 4, MOST_COLUMNS = 256, MOST_BODIES = 64 };

typedef struct Job {
	const Fixture *f;
	void (*prepare)(CalSim *sim);
	double *state[MOST_RANKS]; // [nq + nu] at the end
	double sample[MOST_RANKS][MOST_COLUMNS];
	int columns;
	CalStatus status[MOST_RANKS];
	CalError error[MOST_RANKS];
	CalDistributionInfo info[MOST_RANKS];
	CalSimBalance balance[MOST_RANKS];
	int doubts[MOST_RANKS];
	int bodies, rank_of[MOST_BODIES];
} Job;

static Fixture *model_of(uint64_t seed) {
	const TreeOptions options = {.bodies = 8 + (int)(seed % 8),
	                             .chain = seed % 2 == 0,
	                             .flexible = seed % 3 ? 0.4 : 0,
	                             .max_modes = 3,
	                             .springs = 1,
	                             .joints = TREE_ONE_DOF | 1 << CAL_JOINT_SPHERICAL,
	                             .rate = 0.3};
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

static CalNodeId node_of(const CalSim *sim, int body) {
	CalBodyInfo info;
	CalNodeInfo node;
	const CalModel *model = cal_sim_model(sim, 0);
	cal_model_body(model, body, &info);
	cal_model_node(model, info.node, &node);
	return node.id;
}

static void keep_sample(Job *job, int r, CalSim *sim) {
	static const char *const names[] = {"q", "u", "udot", "device"};
	CalSampler *sampler = NULL;
	CalStatus status = cal_sampler_create(NULL, &sampler, NULL);
	for (size_t i = 0; i < sizeof names / sizeof *names && status == CAL_OK; i++)
		status = cal_sampler_add(sampler, sim, names[i], &job->error[r]);
	if (r == 0)
		job->columns = cal_sampler_column_count(sampler);
	if (status == CAL_OK)
		status = cal_sampler_column_count(sampler) <= MOST_COLUMNS ? cal_sampler_sample(sampler, sim, job->sample[r])
		                                                           : CAL_ERR_MEMORY;
	job->status[r] = job->status[r] == CAL_OK ? status : job->status[r];
	cal_sampler_destroy(sampler);
}

static void work(void *user, const CalTransport *transport) {
	Job *job = user;
	const Fixture *f = job->f;
	const int r = transport ? transport->rank : 0;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-5}};
	const CalDistribution how = {.transport = transport, .branches = 5, .forced = 1};
	CalSim *sim = NULL;
	CalStatus status = cal_sim_create(f->desc, &options, &sim, &job->error[r]);
	if (status != CAL_OK) {
		job->status[r] = status;
		return;
	}
	CalState *state = cal_sim_state(sim, 0);
	memcpy(state->q, f->state.q, (size_t)f->nq * sizeof(double));
	memcpy(state->u, f->state.u, (size_t)f->nu * sizeof(double));
	job->prepare(sim);
	status = cal_sim_restart(sim, &job->error[r]);
	if (status == CAL_OK && transport)
		status = cal_sim_distribute(sim, &how, &job->error[r]);
	for (int k = 1; k <= ADVANCES && status == CAL_OK; k++)
		status = cal_sim_advance(sim, k * 5e-5, &job->error[r]);
	job->status[r] = status;
	state = cal_sim_state(sim, 0);
	memcpy(job->state[r], state->q, (size_t)f->nq * sizeof(double));
	memcpy(job->state[r] + f->nq, state->u, (size_t)f->nu * sizeof(double));
	if (status == CAL_OK)
		keep_sample(job, r, sim);
	cal_sim_balance(sim, &job->balance[r]);
	job->doubts[r] = cal_sim_doubt_count(sim);
	if (transport)
		cal_sim_distribution(sim, &job->info[r]);
	for (int b = 0; r == 0 && transport && b < cal_model_body_count(cal_sim_model(sim, 0)); b++) {
		CalBodyInfo info;
		cal_model_body(cal_sim_model(sim, 0), b, &info);
		job->rank_of[b] = cal_sim_rank_of(sim, info.id);
		job->bodies = b + 1;
	}
	cal_sim_destroy(sim);
}

/* On so many ranks; 0: without any, in one piece. */
static Job run(const Fixture *f, void (*prepare)(CalSim *sim), int size) {
	Job job = {.f = f, .prepare = prepare};
	for (int r = 0; r < (size ? size : 1); r++)
		job.state[r] = test_doubles(f->nq + f->nu);
	if (size)
		thread_ranks_run(size, work, &job);
	else
		work(&job, NULL);
	return job;
}

static void job_free(Job *job) {
	for (int r = 0; r < MOST_RANKS; r++)
		free(job->state[r]);
}

/* As without ranks, the same on all of them, without a gather but those after advances. */
static void check_job(const Job *job, int size, const Job *serial) {
	const Fixture *f = job->f;
	const size_t bytes = (size_t)(f->nq + f->nu) * sizeof(double);
	for (int r = 0; r < size; r++) {
		if (job->status[r] != CAL_OK)
			print_message("rank %d: %s\n", r, job->error[r].text);
		check_ok(f->seed, job->status[r]);
		check_that(f->seed, memcmp(job->state[r], job->state[0], bytes) == 0);
		check_that(f->seed, memcmp(job->sample[r], job->sample[0], sizeof job->sample[0]) == 0);
		check_that(f->seed, job->info[r].interface_only && job->info[r].gathers == 2 + 2 * ADVANCES);
	}
	check_close(f->seed, "q", f->nq, job->state[0], serial->state[0], 1e-10);
	check_close(f->seed, "u", f->nu, job->state[0] + f->nq, serial->state[0] + f->nq, 1e-10);
	check_close_scaled(f->seed, "sample", serial->columns, job->sample[0], serial->sample[0], 1e-8, 1e-8);
	check_close_scaled(f->seed, "dissipated", 1, &job->balance[0].dissipated, &serial->balance[0].dissipated, 1e-9,
	                   1e-10);
	check_close_scaled(f->seed, "supplied", 1, &job->balance[0].supplied, &serial->balance[0].supplied, 1e-9, 1e-10);
	check_that(f->seed, serial->balance[0].dissipated > 0);
}

/* ---- devices on one node --------------------------------------------------------------------------------------- */

/* Of three kinds, two of them with states, on every body: all branches are to know where they are. */
static void add_on_nodes(CalSim *sim) {
	for (int b = 0; b < cal_model_body_count(cal_sim_model(sim, 0)); b++) {
		char name[32];
		snprintf(name, sizeof name, "device %d", b);
		const CalNodeId node = node_of(sim, b);
		const CalSloshDef slosh = {.name = name,
		                           .node = node,
		                           .mass = 0.1,
		                           .stiffness = {300, 200, 100},
		                           .damping = {3, 2, 1},
		                           .velocity = {0.3, -0.2, 0.1}};
		const CalWheelDef wheel = {.name = name,
		                           .node = node,
		                           .axis = {1, 2, 3},
		                           .inertia = 0.01,
		                           .speed = 50,
		                           .torque = {.number = 0.2},
		                           .drag = 0.01};
		const CalAppliedLoadDef load = {.name = name,
		                                .node = node,
		                                .frame = CAL_FRAME_NODE,
		                                .force = {{.number = 3}, {.number = -2}, {.number = 1}}};
		if (b % 3 == 0)
			cal_sim_add_slosh(sim, &slosh, NULL, NULL);
		else if (b % 3 == 1)
			cal_sim_add_wheel(sim, &wheel, NULL, NULL);
		else
			cal_sim_add_applied_load(sim, &load, NULL, NULL);
	}
}

static void sum_messages(const Job *job, int size, int64_t *messages, int64_t *numbers) {
	*messages = *numbers = 0;
	for (int r = 0; r < size; r++) {
		*messages += job->info[r].messages;
		*numbers += job->info[r].numbers;
	}
}

/* Beside the three messages of an interface there is one, for where it is. */
static void devices_on_one_node_act_where_it_is(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = model_of(seed);
		Job serial = run(f, add_on_nodes, 0), job = run(f, add_on_nodes, 3);
		int64_t messages, numbers;
		check_job(&job, 3, &serial);
		sum_messages(&job, 3, &messages, &numbers);
		const int64_t crossings = job.info[0].interfaces * job.info[0].evaluations;
		check_that(seed, messages == 4 * crossings && numbers == (45 + 18) * crossings);
		job_free(&serial);
		job_free(&job);
		fixture_destroy(f);
	}
}

/* ---- devices between two nodes ----------------------------------------------------------------------------------- */

static int other_end(int body, int count) { return (body * 3 + 2) % count; }

/* Springs and bushings between bodies that are far from each other, and springs to the ground. */
static void add_between_nodes(CalSim *sim) {
	const int count = cal_model_body_count(cal_sim_model(sim, 0));
	for (int b = 0; b < count; b++) {
		char name[2][32];
		snprintf(name[0], sizeof name[0], "tie %d", b);
		snprintf(name[1], sizeof name[1], "anchor %d", b);
		const CalNodeId a = node_of(sim, b), other = node_of(sim, other_end(b, count));
		const CalSpringDef spring = {.name = name[0], .a = a, .b = other, .stiffness = 50, .damping = 2, .length = 0.1};
		const CalBushingDef bushing = {.name = name[0],
		                               .a = a,
		                               .b = other,
		                               .rest = {.orientation = {1, 0, 0, 0}},
		                               .stiffness = {20, 30, 40},
		                               .damping = {1, 2, 3},
		                               .angular_damping = {0.1, 0.2, 0.3}};
		const CalSpringDef anchor = {.name = name[1], .a = {0}, .b = a, .stiffness = 10, .damping = 1, .length = 0.2};
		if (other_end(b, count) != b && b % 2)
			cal_sim_add_spring(sim, &spring, NULL, NULL);
		else if (other_end(b, count) != b)
			cal_sim_add_bushing(sim, &bushing, NULL, NULL);
		cal_sim_add_spring(sim, &anchor, NULL, NULL);
	}
}

/* Two ranks that share devices send each other one message, with 18 numbers for each node. */
static void devices_between_ranks_send_their_nodes(void **state) {
	(void)state;
	int spanning = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = model_of(seed);
		const int size = 2 + (int)(seed % 4);
		Job serial = run(f, add_between_nodes, 0), job = run(f, add_between_nodes, size);
		int64_t messages, numbers, pairs = 0, links = 0;
		bool meets[MOST_RANKS][MOST_RANKS] = {{0}};
		check_job(&job, size, &serial);
		for (int b = 0; b < job.bodies; b++) {
			const int here = job.rank_of[b], there = job.rank_of[other_end(b, job.bodies)];
			if (here == there)
				continue;
			links += 2;
			pairs += !meets[here][there] + !meets[there][here];
			meets[here][there] = meets[there][here] = true;
		}
		sum_messages(&job, size, &messages, &numbers);
		const int64_t evaluations = job.info[0].evaluations, crossings = job.info[0].interfaces * evaluations;
		check_that(seed, messages == 4 * crossings + pairs * evaluations);
		check_that(seed, numbers == (45 + 18) * crossings + 18 * links * evaluations);
		spanning += (int)links / 2;
		job_free(&serial);
		job_free(&job);
		fixture_destroy(f);
	}
	print_message("%d devices between two ranks\n", spanning);
	assert_true(spanning > 20);
}

/* The partition is the same, and so is everything else. */
static void bits_do_not_depend_on_ranks(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++) {
		Fixture *f = model_of(seed);
		Job one = run(f, add_between_nodes, 1);
		for (int size = 2; size <= MOST_RANKS; size++) {
			Job job = run(f, add_between_nodes, size);
			check_that(seed, memcmp(job.state[0], one.state[0], (size_t)(f->nq + f->nu) * sizeof(double)) == 0);
			job_free(&job);
		}
		job_free(&one);
		fixture_destroy(f);
	}
}

/* ---- what one rank finds ---------------------------------------------------------------------------------------- */

typedef struct Complaint {
	CalNodeId node;
	CalNodeRef at;
	bool fails; // or it has a doubt
} Complaint;

static int complaint_bind(const CalDevice *device, const CalEvalContext *context) {
	Complaint *c = device->data;
	return !cal_context_find_node(context, c->node, &c->at);
}

static int complaint_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Complaint *c = device->data;
	const CalDoubt doubt = {.kind = CAL_DOUBT_RANGE, .object = "device", .text = "late", .time = 1.2e-4};
	(void)xdot;
	if (cal_context_time(context) < 1.2e-4)
		return 0;
	if (c->fails)
		cal_context_explain_failure(context, "it is late");
	else
		cal_context_add_doubt(context, &doubt);
	return c->fails;
}

static int complaint_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	node_refs[0] = ((const Complaint *)device->data)->at;
	return 1;
}

static const CalDeviceOps complaint_ops = {
	.type = "complaint", .bind = complaint_bind, .evaluate = complaint_evaluate, .nodes = complaint_nodes};

static void add_complaint(CalSim *sim, bool fails) {
	const int last = cal_model_body_count(cal_sim_model(sim, 0)) - 1;
	const Complaint complaint = {.node = node_of(sim, last), .fails = fails};
	const CalDeviceDef def = {
		.name = "complaint", .ops = &complaint_ops, .data = &complaint, .data_size = sizeof complaint};
	add_between_nodes(sim);
	cal_sim_add_device(sim, &def, NULL, NULL);
}

static void add_failure(CalSim *sim) { add_complaint(sim, true); }
static void add_doubt(CalSim *sim) { add_complaint(sim, false); }

static void what_one_rank_finds_all_know(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++) {
		Fixture *f = model_of(seed);
		Job one = run(f, add_failure, 1), job = run(f, add_failure, 4), doubted = run(f, add_doubt, 4);
		for (int r = 0; r < 4; r++) {
			check_that(seed, job.status[r] == CAL_ERR_USER && strcmp(job.error[r].text, one.error[0].text) == 0);
			check_that(seed, strstr(job.error[r].text, "it is late") != NULL);
			check_that(seed, memcmp(job.state[r], one.state[0], (size_t)(f->nq + f->nu) * sizeof(double)) == 0);
			check_that(seed, doubted.status[r] == CAL_OK && doubted.doubts[r] == 1);
		}
		job_free(&one);
		job_free(&job);
		job_free(&doubted);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_on_one_node_act_where_it_is),
		cmocka_unit_test(devices_between_ranks_send_their_nodes),
		cmocka_unit_test(bits_do_not_depend_on_ranks),
		cmocka_unit_test(what_one_rank_finds_all_know),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
