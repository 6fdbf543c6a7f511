// SPDX-License-Identifier: Apache-2.0
/* pendulum.c — a rod that swings from a hinge; the example of README.md. Prints its angle for one second. */
#include <calder/calder.h>
#include <stdio.h>

int main(void) {
	CalBodyDef rod = cal_body_def(); // 2 kg, 1 m long, along -z of its frame
	rod.name = "rod", rod.mass = 2, rod.com = (CalVec3){0, 0, -0.5};
	rod.inertia = (CalMat3){{{1 / 6.0, 0, 0}, {0, 1 / 6.0, 0}, {0, 0, 0.001}}};
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	hinge.name = "hinge", hinge.axis = (CalVec3){0, 1, 0};
	CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalDesc *desc = NULL;
	CalSim *sim = NULL;
	CalBodyId id;
	CalError error = {0};
	if (cal_desc_create(NULL, &desc) || cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81}) ||
	    cal_desc_add_body(desc, &rod, &id, &error) ||
	    cal_desc_attach(desc, (CalNodeId){0}, &hinge, cal_desc_body_node(desc, id), NULL, &error) ||
	    cal_sim_create(desc, &options, &sim, &error))
		return fprintf(stderr, "%s\n", error.text), 1;
	cal_sim_state(sim, 0)->q[0] = 1; // released one radian from the vertical
	for (int i = 1; i <= 5 && cal_sim_advance(sim, 0.2 * i, &error) == CAL_OK; i++)
		printf("t = %.1f s   angle = %+.9f rad\n", cal_sim_time(sim), cal_sim_state(sim, 0)->q[0]);
	cal_sim_destroy(sim);
	cal_desc_destroy(desc);
}
