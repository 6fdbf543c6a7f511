// SPDX-License-Identifier: Apache-2.0
/*
 * solvers.c — time of one forward dynamics by the dense solver over that by the recursion, for small chains of every
 * joint: what CAL_SOLVER_AUTO is to decide (docs/decisions/0036-recursion-always.md).
 *
 *   solvers                     the table: interleaved batches, the best of each
 *   solvers JOINT BODIES WAY    1000 evaluations, WAY recursive or dense: for valgrind --tool=callgrind
 *
 * Bodies are generic: no placement, center of mass or inertia is special.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <calder/calder.h>

enum { MOST = 4, ROUNDS = 100, BATCH = 300 };

typedef struct System {
	CalDesc *desc;
	CalModel *model;
	CalState state;
	CalWork *work;
	double *udot;
} System;

static void require(CalStatus status, const char *what) {
	if (status == CAL_OK)
		return;
	fprintf(stderr, "solvers: %s: %s\n", what, cal_status_text(status));
	exit(1);
}

static CalPlacement generic_placement(int i) {
	const double a = 0.3 + 0.2 * i;
	return (CalPlacement){.position = {0.1 + 0.05 * i, 0.4, -0.2},
	                      .orientation = {cos(a), sin(a) * 0.6, 0, sin(a) * 0.8}};
}

static CalNodeId add_body(CalDesc *desc, CalNodeId inboard, CalJointType type, int i) {
	char name[32], joint_name[32];
	snprintf(name, sizeof name, "body%d", i);
	snprintf(joint_name, sizeof joint_name, "joint%d", i);
	CalBodyDef body = cal_body_def();
	body.name = name;
	body.mass = 1 + 0.3 * i;
	body.com = (CalVec3){0.2, -0.1, 0.3};
	body.inertia = (CalMat3){{{0.2, 0.01, 0.02}, {0.01, 0.3, -0.01}, {0.02, -0.01, 0.25}}};
	CalJointDef joint = cal_joint_def(type);
	joint.name = joint_name;
	joint.axis = (CalVec3){0.48, 0.6, 0.64};
	joint.axis2 = (CalVec3){0.8, -0.64, 0};
	joint.pitch = type == CAL_JOINT_SCREW ? 0.1 : 0;
	joint.inboard = generic_placement(i);
	CalBodyId id;
	require(cal_desc_add_body(desc, &body, &id, NULL), "body");
	require(cal_desc_attach(desc, inboard, &joint, cal_desc_body_node(desc, id), NULL, NULL), "joint");
	return cal_desc_body_node(desc, id);
}

static System system_of(CalJointType type, int bodies, CalSolver solver) {
	System s = {0};
	CalNodeId at = {0};
	require(cal_desc_create(NULL, &s.desc), "description");
	for (int i = 0; i < bodies; ++i)
		at = add_body(s.desc, at, type, i);
	const CalCompileOptions options = {.solver = solver};
	require(cal_model_compile(s.desc, &options, &s.model, NULL), "model");
	require(cal_state_create(s.model, &s.state), "state");
	require(cal_work_create(s.model, &s.work), "workspace");
	const int nu = cal_model_u_count(s.model);
	s.udot = calloc((size_t)nu, sizeof *s.udot);
	require(s.udot ? CAL_OK : CAL_ERR_MEMORY, "accelerations");
	for (int k = 0; k < nu; ++k)
		s.state.u[k] = 0.3 + 0.1 * k;
	return s;
}

static void system_release(System *s) {
	free(s->udot);
	cal_work_destroy(s->work);
	cal_state_destroy(&s->state);
	cal_model_destroy(s->model);
	cal_desc_destroy(s->desc);
}

static void evaluate(System *s, int count) {
	for (int i = 0; i < count; ++i)
		require(cal_forward_dynamics(s->model, &s->state, NULL, s->work, s->udot), "forward dynamics");
}

static double batch(System *s) {
	struct timespec a = {0}, b = {0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	evaluate(s, BATCH);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec)) / BATCH;
}

static double ratio_of(CalJointType type, int bodies, double *recursive_s) {
	System recursive = system_of(type, bodies, CAL_SOLVER_RECURSIVE), dense = system_of(type, bodies, CAL_SOLVER_DENSE);
	double best[2] = {INFINITY, INFINITY};
	for (int i = 0; i < ROUNDS; ++i) {
		best[0] = fmin(best[0], batch(&recursive));
		best[1] = fmin(best[1], batch(&dense));
	}
	system_release(&recursive);
	system_release(&dense);
	*recursive_s = best[0];
	return best[1] / best[0];
}

static void print_table(void) {
	printf("time of the dense solver over that of the recursion (ns of the recursion), chains of 1 to %d bodies\n",
	       MOST);
	for (int type = CAL_JOINT_REVOLUTE; type <= CAL_JOINT_FREE; ++type) {
		printf("%-12s", cal_joint_type_name((CalJointType)type));
		for (int bodies = 1; bodies <= MOST; ++bodies) {
			double recursive_s;
			const double ratio = ratio_of((CalJointType)type, bodies, &recursive_s);
			printf("  %5.2f (%4.0f)", ratio, 1e9 * recursive_s);
			fflush(stdout);
		}
		printf("\n");
	}
}

static int evaluate_one(char **argv) {
	const int bodies = atoi(argv[2]);
	const CalSolver solver = strcmp(argv[3], "dense") ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE;
	for (int type = CAL_JOINT_REVOLUTE; type <= CAL_JOINT_FREE && bodies > 0; ++type) {
		if (strcmp(argv[1], cal_joint_type_name((CalJointType)type)))
			continue;
		System s = system_of((CalJointType)type, bodies, solver);
		evaluate(&s, 1000);
		system_release(&s);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv) {
	if (argc == 1)
		return print_table(), 0;
	const int status = argc == 4 ? evaluate_one(argv) : 2;
	if (status)
		fprintf(stderr, "usage: solvers [JOINT BODIES recursive|dense]\n");
	return status;
}
