// SPDX-License-Identifier: Apache-2.0
/*
 * transitions.c — how long does a change of topology take? A free-flying chain of flexible bodies, four modes each, catches
 * another body, lets it go, turns over, is cut in two, is joined again, locks a joint and the modes of a body.
 *
 *   transitions [BODIES [REPETITIONS]]     128, 50
 *
 * Prints a table in Markdown, in microseconds: median, 99 of 100 and the slowest by the wall clock, and the same of the
 * processor time of the thread, which does not count what else the machine does meanwhile.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <calder/calder.h>

enum { MODES = 4, MOST = 1000 };

typedef struct Chain {
	CalDesc *desc;
	CalSim *sim;
	CalJointId middle; // joint in the middle
	CalNodeId tip;     // of the last body
	CalBodyId first, last;
	CalNodeId port; // of the body to be caught
	CalError error;
} Chain;

static double now_us(clockid_t clock) {
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static CalStatus add_node(Chain *c, CalBodyId body, const char *name, double x, CalNodeId *id) {
	CalNodeDef def = cal_node_def();
	def.name = name;
	def.placement.position.x = x;
	return cal_desc_add_node(c->desc, body, &def, id, &c->error);
}

/* Two bending shapes in each of two planes, on two nodes that carry the mass. */
static CalStatus make_flexible(Chain *c, CalBodyId body, CalNodeId middle, CalNodeId tip) {
	static const double shape[2][2] = {{0.3, -0.6}, {1, 1}}, slope[2][2] = {{1.2, 0.5}, {1.4, 4.8}};
	double phi[2][3][MODES] = {0}, psi[2][3][MODES] = {0}, K[MODES][MODES] = {0};
	CalFlexNode nodes[2] = {{.node = middle, .mass = 1}, {.node = tip, .mass = 0.5}};
	for (int n = 0; n < 2; n++) {
		for (int k = 0; k < 2; k++) {
			phi[n][1][k] = phi[n][2][2 + k] = shape[n][k];
			psi[n][2][k] = slope[n][k], psi[n][1][2 + k] = -slope[n][k];
		}
		nodes[n].phi = &phi[n][0][0], nodes[n].psi = &psi[n][0][0];
	}
	for (int k = 0; k < MODES; k++)
		K[k][k] = k % 2 ? 4e4 : 1e3;
	return cal_desc_set_flexible(c->desc, body,
	                             &(CalFlexDef){.modes = MODES, .stiffness = &K[0][0], .node_count = 2, .nodes = nodes},
	                             &c->error);
}

static CalStatus add_link(Chain *c, int i, CalNodeId on, CalJointId *joint, CalNodeId *tip) {
	char name[32], joint_name[32];
	CalBodyDef def = cal_body_def();
	CalJointDef join = cal_joint_def(i ? CAL_JOINT_REVOLUTE : CAL_JOINT_FREE);
	CalNodeId middle;
	snprintf(name, sizeof name, "b%d", i), snprintf(joint_name, sizeof joint_name, "j%d", i);
	def.name = name, def.mass = 0.5;
	for (int k = 0; k < 3; k++)
		def.inertia.m[k][k] = 0.01;
	join.name = joint_name;
	join.axis = i % 2 ? (CalVec3){0, 1, 0} : (CalVec3){0, 0, 1};
	CalStatus status = cal_desc_add_body(c->desc, &def, &c->last, &c->error);
	if (status == CAL_OK)
		status = add_node(c, c->last, "middle", 0.5, &middle);
	if (status == CAL_OK)
		status = add_node(c, c->last, "tip", 1, tip);
	if (status == CAL_OK)
		status = make_flexible(c, c->last, middle, *tip);
	return status == CAL_OK
	           ? cal_desc_attach(c->desc, on, &join, cal_desc_body_node(c->desc, c->last), joint, &c->error)
	           : status;
}

static CalStatus add_target(Chain *c) {
	CalGroupId group;
	CalBodyId body = {0};
	CalJointDef free_joint = cal_joint_def(CAL_JOINT_FREE);
	CalStatus status = cal_desc_add_group(c->desc, &(CalGroupDef){.name = "target"}, &group, &c->error);
	CalBodyDef def = {.name = "target", .group = group, .mass = 5};
	for (int k = 0; k < 3; k++)
		def.inertia.m[k][k] = 1;
	if (status == CAL_OK)
		status = cal_desc_add_body(c->desc, &def, &body, &c->error);
	c->port = cal_desc_body_node(c->desc, body);
	free_joint.name = "visitor";
	return status == CAL_OK
	           ? cal_desc_attach(c->desc, (CalNodeId){0}, &free_joint, c->port, &(CalJointId){0}, &c->error)
	           : status;
}

static CalStatus chain_create(Chain *c, int bodies) {
	CalNodeId on = {0};
	CalJointId joint;
	CalStatus status = cal_desc_create(NULL, &c->desc);
	for (int i = 0; i < bodies && status == CAL_OK; i++) {
		status = add_link(c, i, on, &joint, &on);
		if (i == 0)
			c->first = c->last;
		if (i == bodies / 2)
			c->middle = joint;
	}
	c->tip = on;
	if (status == CAL_OK)
		status = add_target(c);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-4}};
	if (status == CAL_OK)
		status = cal_sim_create(c->desc, &options, &c->sim, &c->error);
	if (status != CAL_OK)
		return status;
	CalState *state = cal_sim_state(c->sim, 0);
	for (int k = 0; k < cal_model_u_count(cal_sim_model(c->sim, 0)); k++)
		state->u[k] = 0.1 * sin(k), state->q[k + 1 > 6 ? k + 1 : 0] += 0.01 * cos(k);
	status = cal_sim_reserve(c->sim, c->desc, &(CalSimCapacity){.groups = 1, .joints = 1}, &c->error);
	return status == CAL_OK ? cal_sim_restart(c->sim, &c->error) : status;
}

typedef enum Kind { ATTACH, DETACH, REROOT, BACK, CUT, JOIN, LOCK, UNLOCK, STIFFEN, SOFTEN, KINDS } Kind;
static const char *const names[] = {
	"attach",         "detach",       "re-root at the tip", "re-root at the first body",   "cut in two",
	"join the parts", "lock a joint", "unlock it",          "lock the modes of the first", "unlock them"};

static CalStatus change(Chain *c, Kind kind, CalJointId *latch) {
	CalJointDef weld = cal_joint_def(CAL_JOINT_WELD);
	weld.name = "latch";
	switch (kind) {
	case ATTACH:
		return latch->value
		           ? cal_sim_reattach(c->sim, *latch, &(CalAttachOptions){.fit = CAL_FIT_AT_A}, NULL, &c->error)
		           : cal_sim_attach(c->sim, c->tip, &weld, c->port, &(CalAttachOptions){.fit = CAL_FIT_AT_A}, latch,
		                            NULL, &c->error);
	case DETACH:
		return cal_sim_detach(c->sim, *latch, "target", NULL, &c->error);
	case REROOT:
		return cal_sim_reroot(c->sim, c->last, NULL, &c->error);
	case BACK:
		return cal_sim_reroot(c->sim, c->first, NULL, &c->error);
	case CUT:
		return cal_sim_detach(c->sim, c->middle, "part", NULL, &c->error);
	case JOIN:
		return cal_sim_reattach(c->sim, c->middle, NULL, NULL, &c->error);
	case LOCK:
		return cal_sim_lock(c->sim, c->middle, 0, NULL, &c->error);
	case UNLOCK:
		return cal_sim_unlock(c->sim, c->middle, 0, NULL, &c->error);
	case STIFFEN:
		return cal_sim_lock_modes(c->sim, c->first, -1, NULL, &c->error);
	default:
		return cal_sim_unlock_modes(c->sim, c->first, -1, NULL, &c->error);
	}
}

static int by_size(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_times(double *times, int count) {
	qsort(times, (size_t)count, sizeof *times, by_size);
	printf(" %.0f | %.0f | %.0f |", times[count / 2], times[(count * 99 + 99) / 100 - 1], times[count - 1]);
}

int main(int argc, char **argv) {
	const int bodies = argc > 1 ? atoi(argv[1]) : 128, asked = argc > 2 ? atoi(argv[2]) : 50;
	const int repetitions = asked < 1 ? 1 : asked > MOST ? MOST : asked;
	static double wall[KINDS][MOST], processor[KINDS][MOST];
	Chain c = {0};
	CalJointId latch = {0};
	CalStatus status = bodies > 1 ? chain_create(&c, bodies) : CAL_ERR_ARGUMENT;
	for (int i = 0; i < repetitions && status == CAL_OK; i++) {
		for (int k = 0; k < KINDS && status == CAL_OK; k++) {
			const double since = now_us(CLOCK_MONOTONIC), used = now_us(CLOCK_THREAD_CPUTIME_ID);
			status = change(&c, (Kind)k, &latch);
			processor[k][i] = now_us(CLOCK_THREAD_CPUTIME_ID) - used;
			wall[k][i] = now_us(CLOCK_MONOTONIC) - since;
		}
	}
	if (status != CAL_OK)
		fprintf(stderr, "transitions: %s: %s\n", cal_status_text(status), c.error.text);
	else
		printf(
			"| change, %d bodies, %d degrees of freedom | median | 99 %% | slowest | processor: median | 99 %% | slowest |\n"
			"| --- | --- | --- | --- | --- | --- | --- |\n",
			bodies, cal_model_u_count(cal_sim_model(c.sim, 0)));
	for (int k = 0; k < KINDS && status == CAL_OK; k++) {
		printf("| %s |", names[k]);
		print_times(wall[k], repetitions);
		print_times(processor[k], repetitions);
		printf("\n");
	}
	cal_sim_destroy(c.sim);
	cal_desc_destroy(c.desc);
	return status == CAL_OK ? 0 : 1;
}
