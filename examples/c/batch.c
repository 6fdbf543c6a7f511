// SPDX-License-Identifier: Apache-2.0
/* batch.c — a thousand cart-poles at once: accelerations, then one second of each; the example of docs/batch.md. */
#include <calder/calder.h>
#include <stdio.h>

enum { COUNT = 1000, NQ = 2, NU = 2 }; // states; coordinates and speeds: the cart's position and the pole's angle

/* A cart of 1 kg on a rail along x with a pole of 0.1 kg, 1 m long, on a hinge. */
static CalStatus describe_cart_pole(CalDesc *desc, CalError *error) {
	CalBodyDef cart = cal_body_def(), pole = cal_body_def();
	cart.name = "cart", cart.mass = 1, cart.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	pole.name = "pole", pole.mass = 0.1, pole.com = (CalVec3){0, 0, 0.5};
	pole.inertia = (CalMat3){{{0.1 / 12, 0, 0}, {0, 0.1 / 12, 0}, {0, 0, 1e-5}}};
	CalJointDef rail = cal_joint_def(CAL_JOINT_PRISMATIC), hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	rail.name = "rail", rail.axis = (CalVec3){1, 0, 0};
	hinge.name = "hinge", hinge.axis = (CalVec3){0, 1, 0};
	CalBodyId cart_id, pole_id;
	CalStatus status = cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	if (status == CAL_OK)
		status = cal_desc_add_body(desc, &cart, &cart_id, error);
	if (status == CAL_OK)
		status = cal_desc_add_body(desc, &pole, &pole_id, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, (CalNodeId){0}, &rail, cal_desc_body_node(desc, cart_id), NULL, error);
	return status == CAL_OK ? cal_desc_attach(desc, cal_desc_body_node(desc, cart_id), &hinge,
	                                          cal_desc_body_node(desc, pole_id), NULL, error)
	                        : status;
}

/* Poles at angles from -0.5 to 0.5 rad, carts pushed by 1 N. */
static void fill_start(double (*q)[NQ], double (*tau)[NU]) {
	for (int i = 0; i < COUNT; i++) {
		q[i][1] = (double)i / (COUNT - 1) - 0.5;
		tau[i][0] = 1;
	}
}

static CalStatus run_batch(const CalModel *model, CalError *error) {
	static double q[COUNT][NQ], tau[COUNT][NU], udot[COUNT][NU], q_end[COUNT][NQ], u_end[COUNT][NU];
	static CalStatus status[COUNT];
	CalBatch *batch = NULL;
	fill_start(q, tau);
	const CalBatchStates start = {.count = COUNT, .q = {&q[0][0], NQ, 0}}; // at rest: without u
	const CalBatchInput input = {.tau = {&tau[0][0], NU, 0}};
	const CalBatchRollout rollout = {.method = CAL_METHOD_RK4, .step = 1e-2, .steps = 100};
	CalStatus failed = cal_batch_create(model, &(CalBatchOptions){.threads = 2}, &batch);
	if (failed == CAL_OK)
		failed = cal_batch_forward(batch, &start, &input, &udot[0][0], status);
	if (failed == CAL_OK)
		failed = cal_batch_rollout(batch, &start, &input, &rollout, &q_end[0][0], &u_end[0][0], status);
	for (int i = 0; i < COUNT && failed == CAL_OK; i += 333)
		printf("angle %+.3f rad: acceleration %+.6f rad/s^2, after 1 s %+.6f rad\n", q[i][1], udot[i][1], q_end[i][1]);
	cal_batch_destroy(batch);
	if (failed != CAL_OK)
		snprintf(error->text, sizeof error->text, "batch: %s", cal_status_text(failed));
	return failed;
}

int main(void) {
	CalDesc *desc = NULL;
	CalModel *model = NULL;
	CalError error = {.text = "out of memory"};
	CalStatus status = cal_desc_create(NULL, &desc);
	if (status == CAL_OK)
		status = describe_cart_pole(desc, &error);
	if (status == CAL_OK)
		status = cal_model_compile(desc, NULL, &model, &error);
	if (status == CAL_OK)
		status = run_batch(model, &error);
	if (status != CAL_OK)
		fprintf(stderr, "%s\n", error.text);
	cal_model_destroy(model);
	cal_desc_destroy(desc);
	return status != CAL_OK;
}
