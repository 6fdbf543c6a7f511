// SPDX-License-Identifier: Apache-2.0
/*
 * wheel.h — a simulation of one body on a revolute joint, inertia 1 kg m^2, by DOPRI5.
 */
#ifndef TEST_SIM_WHEEL_H
#define TEST_SIM_WHEEL_H

#include <calder/calder.h>

#include "support/check.h"

/** At its start, with a speed [rad/s]. */
static inline CalSim *wheel_create(double speed) {
	CalDesc *desc;
	CalError error;
	CalSim *sim;
	CalBodyDef wheel = cal_body_def();
	CalBodyId id;
	wheel.name = "wheel";
	wheel.mass = 1;
	for (int i = 0; i < 3; i++)
		wheel.inertia.m[i][i] = 1;
	CalJointDef axle = cal_joint_def(CAL_JOINT_REVOLUTE);
	axle.name = "axle";
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_add_body(desc, &wheel, &id, &error));
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &axle, cal_desc_body_node(desc, id), NULL, &error));
	check_ok(0, cal_sim_create(desc, &(CalSimOptions){.method = {.method = CAL_METHOD_DOPRI5}}, &sim, &error));
	cal_desc_destroy(desc);
	cal_sim_state(sim, 0)->u[0] = speed;
	check_ok(0, cal_sim_restart(sim, &error));
	return sim;
}

#endif
