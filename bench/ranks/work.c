// SPDX-License-Identifier: Apache-2.0
/*
 * work.c — the work of branches with loops that span them, relative to the model in one piece: as the partition predicts it,
 * and evaluations of both for a profiler that counts instructions.
 *
 *   valgrind --tool=callgrind --callgrind-out-file=work.out ranks_work CHAINS LINKS BRANCHES
 *   callgrind_annotate --inclusive=yes work.out | grep -E 'cal_(branches_forward|forward_dynamics) '
 *
 * Chains of hinges from the ground that are welded together at their tips.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <calder/calder.h>

enum { EVALUATIONS = 50 };

static CalStatus add_link(CalDesc *desc, int chain, int i, CalNodeId *tip, CalError *error) {
	char name[40];
	snprintf(name, sizeof name, "c%db%d", chain, i);
	CalBodyDef body = cal_body_def();
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalNodeDef node = cal_node_def();
	CalBodyId id;
	body.name = hinge.name = name;
	body.mass = 1;
	body.com.x = 0.05;
	body.inertia = (CalMat3){{{1e-3, 0, 0}, {0, 2e-3, 0}, {0, 0, 2e-3}}};
	hinge.axis = (CalVec3){i % 3 == 0, i % 3 == 1, i % 3 == 2};
	node.name = "tip";
	node.placement.position.x = 0.1;
	CalStatus status = cal_desc_add_body(desc, &body, &id, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, *tip, &hinge, cal_desc_body_node(desc, id), NULL, error);
	return status == CAL_OK ? cal_desc_add_node(desc, id, &node, tip, error) : status;
}

static CalStatus build(int chains, int links, CalDesc **desc, CalError *error) {
	CalNodeId first = {0};
	CalStatus status = cal_desc_create(NULL, desc);
	for (int c = 0; c < chains && status == CAL_OK; c++) {
		CalNodeId tip = {0};
		for (int i = 0; i < links && status == CAL_OK; i++)
			status = add_link(*desc, c, i, &tip, error);
		char name[16];
		snprintf(name, sizeof name, "weld%d", c);
		CalLoopDef weld = cal_loop_def(CAL_LOOP_WELD);
		weld.name = name;
		if (c == 0)
			first = tip;
		else if (status == CAL_OK)
			status = cal_desc_close_loop(*desc, first, &weld, tip, NULL, error);
	}
	return status;
}

/* All chains have the same angles, so that their tips meet. */
static void set_angles(const CalModel *model, int links, CalState *state) {
	for (int i = 0; i < cal_model_q_count(model); i++)
		state->q[i] = 0.3 * sin(1.0 + i % links);
}

static CalStatus compare(const CalModel *model, int links, int count, CalError *error) {
	const CalBranchOptions options = {.branches = count, .forced = 1, .cross_loops = CAL_CROSS_LOOPS_ALWAYS};
	CalBranches *branches = NULL;
	CalWork *work = NULL;
	CalState state = {0};
	double *udot = calloc((size_t)cal_model_u_count(model) + 1, sizeof *udot);
	CalStatus status = udot ? cal_branches_create(model, &options, &branches, error) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_work_create(model, &work);
	if (status == CAL_OK)
		status = cal_state_create(model, &state);
	if (status == CAL_OK)
		set_angles(model, links, &state);
	for (int k = 0; k < EVALUATIONS && status == CAL_OK; k++) {
		status = cal_forward_dynamics(model, &state, NULL, work, udot);
		if (status == CAL_OK)
			status = cal_branches_forward(branches, &state, NULL, udot);
	}
	if (status == CAL_OK)
		printf("%d branches%s, predicted work %.2f of one piece\n", cal_branches_count(branches),
		       cal_branches_cross_loops(branches) ? ", loops span them" : "", cal_branches_work(branches));
	cal_state_destroy(&state);
	cal_work_destroy(work);
	cal_branches_destroy(branches);
	free(udot);
	return status;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return fprintf(stderr, "usage: ranks_work CHAINS LINKS BRANCHES\n"), 2;
	const int chains = atoi(argv[1]), links = atoi(argv[2]), count = atoi(argv[3]);
	CalDesc *desc = NULL;
	CalModel *model = NULL;
	CalError error = {0};
	CalStatus status = build(chains, links, &desc, &error);
	if (status == CAL_OK)
		status = cal_model_compile(desc, NULL, &model, &error);
	if (status == CAL_OK)
		status = compare(model, links, count, &error);
	if (status != CAL_OK)
		fprintf(stderr, "ranks_work: %s\n", error.text[0] ? error.text : cal_status_text(status));
	cal_model_destroy(model);
	cal_desc_destroy(desc);
	return status != CAL_OK;
}
