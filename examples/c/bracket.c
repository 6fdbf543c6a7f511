// SPDX-License-Identifier: Apache-2.0
/*
 * bracket.c — a finite-element bracket carries a motor whose rotor is a little out of balance and runs up.
 *
 * Shows the way from a CalculiX deck to a simulation. examples/fe/bracket.inp is an L of aluminium: `ccx bracket`
 * stores its matrices, `calder modes` reduces them to nine modes and writes a modal file. This program reads it, bolts
 * the foot to the ground and a motor of 0.8 kg to the hand. The rotor, 0.2 kg and 0.1 mm out of balance, turns about z
 * and gains ten revolutions per second each second. Writes CSV: the deflection of the hand over the speed of the rotor.
 * Look at its peaks, along x at 54 revolutions per second and along y at 87. CalculiX itself gives 51.7 Hz and 85.3 Hz
 * for the bracket with 1 kg on its hand: the peaks come late because the speed does not wait for a vibration to grow.
 *
 *   bracket bracket.json >bracket.csv && calder plot bracket.csv -o bracket.svg
 */
#include <calder/calder.h>
#include <stdio.h>

static const double turn = 6.283185307179586; // [rad]

/* The speed of the rotor is given, whatever torque it takes. */
static int run_up(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model;
	(void)state;
	input->udot = user;
	return 0;
}

/* Ground - foot, hand - motor, motor - rotor; only the shaft can turn, and the bracket bend. */
static CalStatus build(CalDesc *desc, const CalModal *modal, CalError *error) {
	CalBodyDef motor = cal_body_def(), rotor = cal_body_def();
	motor.name = "motor", motor.mass = 0.8;
	motor.inertia = (CalMat3){{{4e-4, 0, 0}, {0, 4e-4, 0}, {0, 0, 3e-4}}};
	rotor.name = "rotor", rotor.mass = 0.2, rotor.com = (CalVec3){1e-4, 0, 0};
	rotor.inertia = (CalMat3){{{4e-5, 0, 0}, {0, 4e-5, 0}, {0, 0, 6e-5}}};
	CalJointDef bolts = cal_joint_def(CAL_JOINT_WELD), mount = cal_joint_def(CAL_JOINT_WELD);
	CalJointDef shaft = cal_joint_def(CAL_JOINT_REVOLUTE);
	bolts.name = "bolts", mount.name = "mount", shaft.name = "shaft", shaft.dof[0].prescribed = 1;
	CalStatus status = cal_modal_add(modal, desc, "bracket", (CalGroupId){0}, 0, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_add_body(desc, &motor, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_add_body(desc, &rotor, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, (CalNodeId){0}, &bolts, cal_desc_find_node(desc, "bracket/foot"), NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, cal_desc_find_node(desc, "bracket/hand"), &mount,
		                         cal_desc_find_node(desc, "motor"), NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, cal_desc_find_node(desc, "motor"), &shaft, cal_desc_find_node(desc, "rotor"),
		                         NULL, error);
	return status;
}

/* Samples every millisecond; steps much longer than the fastest modes take, by a method that is implicit in them. */
static CalStatus simulate(const CalDesc *desc, CalError *error) {
	double udot[64] = {0};
	const CalSimOptions options = {
		.method = {.method = CAL_METHOD_IMPLICIT_MIDPOINT, .step = 2e-4, .input = run_up, .user = udot}};
	CalSim *sim = NULL;
	CalSimView view;
	CalNodeInfo hand = {0};
	CalBodyInfo rotor = {0};
	CalPose pose;
	CalStatus status = cal_sim_create(desc, &options, &sim, error);
	const CalModel *model = sim ? cal_sim_model(sim, 0) : NULL;
	const int node = model ? cal_model_find_node(model, "bracket/hand") : -1;
	if (status == CAL_OK)
		status = cal_model_node(model, node, &hand);
	if (status == CAL_OK)
		status = cal_model_body(model, cal_model_find_body(model, "rotor"), &rotor);
	if (status == CAL_OK && cal_model_u_count(model) > 64)
		status = CAL_ERR_ARGUMENT;
	if (status == CAL_OK)
		udot[rotor.u] = 10 * turn;
	CalPose rest = {0};
	puts("speed of the rotor [rev/s],hand:x [m],hand:y [m]");
	for (int i = 0; i <= 12000 && status == CAL_OK; i++) {
		status = cal_sim_advance(sim, 1e-3 * i, error);
		if (status == CAL_OK)
			status = cal_sim_observe(sim, 0, &view);
		if (status == CAL_OK)
			status = cal_node_pose(model, view.work, node, &pose);
		if (i == 0)
			rest = pose;
		if (status == CAL_OK)
			printf("%.6f,%.6e,%.6e\n", view.state->u[rotor.u] / turn, pose.r.x - rest.r.x, pose.r.y - rest.r.y);
	}
	cal_sim_destroy(sim);
	return status;
}

int main(int argc, char **argv) {
	CalModal *modal = NULL;
	CalDesc *desc = NULL;
	CalError error = {0};
	if (argc != 2)
		return fprintf(stderr, "usage: bracket MODAL_FILE\n"), 2;
	CalStatus status = cal_modal_read(argv[1], NULL, NULL, &modal, &error);
	if (status == CAL_OK)
		status = cal_desc_create(NULL, &desc);
	if (status == CAL_OK)
		status = build(desc, modal, &error);
	if (status == CAL_OK)
		status = simulate(desc, &error);
	if (status != CAL_OK)
		fprintf(stderr, "bracket: %s\n", error.text[0] ? error.text : cal_status_text(status));
	cal_desc_destroy(desc);
	cal_modal_destroy(modal);
	return status == CAL_OK ? 0 : 1;
}
