// SPDX-License-Identifier: Apache-2.0
/*
 * spin_up.c — a beam on a hub that is spun up past the beam's first frequency (Kane, Ryan and Banerjee 1987).
 *
 * Shows what second-order shapes are for. A beam that bends is drawn in; in rotation the centrifugal force works
 * against that, and the beam gets stiffer. A model with first-order shapes alone does the opposite: it gets softer as
 * the speed rises, and beyond its first frequency, here 3.80 rad/s, nothing holds it any more.
 *
 * The hub's speed is 0.4 (t - 15/(2 pi) sin(2 pi t/15)) rad/s up to 15 s and 6 rad/s from then on. Writes CSV: the
 * deflection of the tip in the turning frame, with second-order shapes and with first-order shapes alone, and the speed
 * of the hub. Look at the lag of 0.576 m at t = 6.8 s and at the steady turning after 15 s. The other beam is given up
 * when its tip is off by a fifth of its length: no beam bends so far and stays linear.
 *
 *   spin_up >spin_up.csv && calder plot spin_up.csv -o spin_up.svg
 */
#include <calder/calder.h>
#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;
static const double length = 10; // of the beam [m]

/* What prescribes the speed of the hub: its acceleration. */
static int spin(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	double *udot = user;
	(void)model;
	udot[0] = state->t < 15 ? 0.4 * (1 - cos(2 * pi * state->t / 15)) : 0;
	input->udot = udot;
	return 0;
}

/* One beam with three modes of bending in the plane, clamped on a hub that turns about z. */
static CalStatus create(int second_order, double *udot, CalSim **sim, CalError *error) {
	CalBeamDef beam = cal_beam_def();
	beam.name = "beam", beam.length = length, beam.deformation = CAL_BEAM_BEND_Y;
	beam.root = (CalSection){.shape = CAL_SECTION_DIRECT,
	                         .EA = 2.8e7,
	                         .GJ = 1e4,
	                         .EIy = 1.4e4,
	                         .EIz = 1.4e4,
	                         .rhoA = 1.2,
	                         .rhoIy = 6e-4,
	                         .rhoIz = 6e-4};
	beam.choice.modes = 3, beam.second_order = second_order;
	CalJointDef hub = cal_joint_def(CAL_JOINT_REVOLUTE);
	hub.name = "hub", hub.dof[0].prescribed = 1;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .input = spin, .user = udot}};
	CalDesc *desc = NULL;
	CalStatus status = cal_desc_create(NULL, &desc);
	if (status == CAL_OK)
		status = cal_beam_add(desc, &beam, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, (CalNodeId){0}, &hub, cal_desc_find_node(desc, "beam/root"), NULL, error);
	if (status == CAL_OK)
		status = cal_sim_create(desc, &options, sim, error);
	cal_desc_destroy(desc);
	return status;
}

/* Deflection of the tip at time t, across the axis that the beam would have undeformed. */
static CalStatus tip_at(CalSim *sim, double t, double *tip, CalError *error) {
	CalSimView view;
	CalPose root, end;
	CalStatus status = cal_sim_advance(sim, t, error);
	if (status == CAL_OK)
		status = cal_sim_observe(sim, 0, &view);
	if (status == CAL_OK)
		status = cal_node_pose(view.model, view.work, cal_model_find_node(view.model, "beam/root"), &root);
	if (status == CAL_OK)
		status = cal_node_pose(view.model, view.work, cal_model_find_node(view.model, "beam/tip"), &end);
	if (status == CAL_OK)
		*tip = root.R.m[0][1] * end.r.x + root.R.m[1][1] * end.r.y;
	return status;
}

int main(void) {
	double udot[2][8] = {{0}}, tip[2] = {0};
	CalSim *sim[2] = {NULL, NULL};
	CalError error = {0};
	CalStatus status = create(1, udot[0], &sim[0], &error);
	if (status == CAL_OK)
		status = create(0, udot[1], &sim[1], &error);
	puts("t [s],tip deflection:second order [m],tip deflection:first order [m],speed:hub [rad/s]");
	for (int i = 0; i <= 400 && status == CAL_OK; i++) {
		const double t = 0.05 * i;
		status = tip_at(sim[0], t, &tip[0], &error);
		if (status == CAL_OK && fabs(tip[1]) < length / 5)
			status = tip_at(sim[1], t, &tip[1], &error);
		printf("%.2f,%.9f,", t, tip[0]);
		if (fabs(tip[1]) < length / 5)
			printf("%.9f", tip[1]);
		printf(",%.9f\n", cal_sim_state(sim[0], 0)->u[0]);
	}
	if (status != CAL_OK)
		fprintf(stderr, "spin_up: %s\n", error.text[0] ? error.text : cal_status_text(status));
	cal_sim_destroy(sim[0]);
	cal_sim_destroy(sim[1]);
	return status == CAL_OK ? 0 : 1;
}
