// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_support.h — what tests of MJCF files look at: masses, degrees of freedom, devices.
 */
#ifndef TEST_IO_MJCF_SUPPORT_H
#define TEST_IO_MJCF_SUPPORT_H

#include <stdbool.h>

#include <calder/devices.h>
#include <calder/scenario.h>

#include "support/robot.h"

#define MJCF(inside) "<mujoco>" inside "</mujoco>"
#define WORLD(inside) MJCF("<worldbody>" inside "</worldbody>")
#define UNIT "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
#define PI 3.14159265358979323846

/** Within 1e-12 of the larger one. */
static inline void expect_near(const char *what, double value, double expected) {
	if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
		fail_msg("%s is %.17g instead of %.17g", what, value, expected);
}

static inline CalBodyInfo body_info(const Robot *r, const char *name) {
	CalBodyInfo info;
	const int body = cal_model_find_body(r->model, name);
	if (body < 0)
		fail_msg("there is no body %s", name);
	assert_int_equal(cal_model_body(r->model, body, &info), CAL_OK);
	return info;
}

static inline void expect_mass(const Robot *r, const char *body, double mass) {
	expect_near(body, body_info(r, body).mass, mass);
}

/** xx, yy, zz, xy, xz, yz about the center of mass. */
static inline void expect_inertia(const Robot *r, const char *body, const double expected[6]) {
	const CalMat3 I = body_info(r, body).inertia;
	const double got[6] = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]};
	for (int i = 0; i < 6; i++)
		expect_near(body, got[i], expected[i]);
}

static inline CalDofInfo dof_of(const Robot *r, const char *joint, int which) {
	CalBodyInfo info;
	CalDofInfo dof;
	const int body = cal_model_find_joint(r->model, joint);
	if (body < 0)
		fail_msg("there is no joint %s", joint);
	assert_int_equal(cal_model_body(r->model, body, &info), CAL_OK);
	assert_int_equal(cal_model_dof(r->model, info.u + which, &dof), CAL_OK);
	return dof;
}

/** Definition of a device; NULL: there is none of that name. */
static inline const void *device_of(const Robot *r, const char *name) {
	const char *own;
	const void *def;
	for (int i = 0; cal_setup_device(r->setup, i, NULL, &own, &def) == CAL_OK; i++)
		if (strcmp(own, name) == 0)
			return def;
	return NULL;
}

static inline const CalLimitDef *limit_of(const Robot *r, const char *name) {
	const CalLimitDef *limit = device_of(r, name);
	if (!limit)
		fail_msg("there is no limit %s", name);
	return limit;
}

/** Output of a device at the start of a run; of an applied load 0 is its effort, then mx my mz fx fy fz. */
static inline double output_of(const Robot *r, const char *device, int output) {
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error = {0};
	double values[16] = {0};
	if (cal_setup_simulate(r->setup, NULL, &sim, &scenario, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const int index = cal_sim_find_device(sim, device);
	if (index < 0)
		fail_msg("there is no device %s", device);
	cal_state_copy(r->model, &r->state, cal_sim_state(sim, 0));
	assert_int_equal(cal_sim_device_outputs(sim, index, values), CAL_OK);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	return values[output];
}

#endif
