// SPDX-License-Identifier: Apache-2.0
/*
 * test_mjcf_load.c — loading as such: a converted model moves in the same way, memory may run short at any time, and its use
 * is linear in the size of the file.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "mjcf_support.h"
#include "support/robot_memory.h"

/* Something of everything that becomes part of a model. */
static const char robot[] = MJCF(
	"<compiler boundinertia='1e-6' balanceinertia='true'/><option timestep='.01'/><default><joint damping='1' armature='.1'/>"
	"<default class='c'><geom type='capsule' size='.1 .2' rgba='1 0 0 1'/></default></default><asset><material name='red' rgba='1 0 "
	"0 1'/></asset><worldbody><geom type='plane' size='9 9 1' pos='0 0 -9' material='red'/><body name='a' childclass='c' euler='10 20 30' "
	"gravcomp='.5'><joint name='x' type='slide' axis='1 0 0' range='-1 1' damping='1 .1'/><joint name='y' axis='0 1 0' ref='20' stiffness='1 .1' "
	"springref='9' frictionloss='.1'/><joint name='b' type='ball'/><geom/><site name='s' zaxis='1 1 0'/><frame pos='1 0 0'><body name='d' "
	"xyaxes='1 0 0 0 1 0'><joint name='z' springdamper='.1 1'/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 .1 0 0'/></body></frame>"
	"</body><body name='f' pos='0 0 5'><freejoint/><geom type='box' size='.1 .2 .3' shellinertia='true'/></body><replicate count='2' "
	"offset='3 0 0'><body name='r' pos='0 5 0'><joint name='r'/><geom size='.3'/><site name='r'/></body></replicate></worldbody><tendon>"
	"<fixed name='t' stiffness='1' damping='.1' range='-1 1'><joint joint='x' coef='1'/><joint joint='z' coef='-1'/></fixed><spatial "
	"name='p' stiffness='2'><site site='r0'/><site site='r1'/></spatial></tendon><equality><joint joint1='z' joint2='y' polycoef='0 2'/>"
	"<connect body1='r0' body2='d' anchor='1 0 0' active='false'/></equality><actuator><motor name='m' joint='x' gear='2'/><position "
	"name='k' joint='z' kp='3' dampratio='1' forcerange='-1 1'/><velocity name='v' tendon='t' kv='1'/><general name='w' site='s' "
	"gear='1 0 0 0 0 1' dyntype='filter' gainprm='2'/></actuator><contact><exclude body1='a' body2='f'/></contact><sensor/><keyframe><key "
	"name='home' qpos='.1 .2 1 0 0 0 -.2981317007977318' ctrl='1 2 3 4'/></keyframe>");

/* ---- conversion ---------------------------------------------------------------------------------------------- */

static double next_random(uint64_t *x) { // in (-1, 1)
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (double)(*x >> 11) / 4503599627370496.0 - 1;
}

static Robot converted(const Robot *r) {
	char *text = NULL;
	size_t length = 0;
	CalError error = {0};
	FILE *out = open_memstream(&text, &length);
	if (cal_model_file_write(r->setup, out, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(fclose(out), 0);
	Robot back = robot_of(text);
	free(text);
	return back;
}

static void compare(const double *a, const double *b, int count, const char *what) {
	double scale = 0, most = 0;
	for (int i = 0; i < count; i++) {
		scale = fmax(scale, fabs(a[i]));
		most = fmax(most, fabs(a[i] - b[i]));
	}
	if (!(most <= 1e-12 * scale))
		fail_msg("%s differ by %g of %g", what, most, scale);
}

/* Efforts and wrenches of all loads. */
static void compare_loads(const Robot *a, const Robot *b) {
	const char *name, *type;
	for (int i = 0; cal_setup_device(a->setup, i, &type, &name, NULL) == CAL_OK; i++)
		for (int k = 0; k < 7 && strcmp(type, "applied_load") == 0; k++)
			expect_near(name, output_of(b, name, k), output_of(a, name, k));
}

static void conversion_keeps_the_dynamics(void **state) {
	(void)state;
	enum { NU = 14 };
	Robot r = robot_of(robot), back = converted(&r);
	uint64_t seed = 88172645463325252u;
	print_message("seed %llu\n", (unsigned long long)seed);
	assert_int_equal(cal_model_u_count(r.model), NU);
	assert_int_equal(cal_model_u_count(back.model), NU);
	assert_int_equal(cal_setup_device_count(r.setup), cal_setup_device_count(back.setup));
	assert_int_equal(cal_setup_open_loop_count(back.setup), 1);
	compare(r.state.q, back.state.q, cal_model_q_count(r.model), "initial coordinates");
	compare_loads(&r, &back);
	for (int k = 0; k < 10; k++) {
		double dq[NU], tau[NU], a[2][NU], M[2][NU * NU];
		for (int i = 0; i < NU; i++) {
			dq[i] = next_random(&seed);
			tau[i] = next_random(&seed);
			r.state.u[i] = back.state.u[i] = next_random(&seed);
		}
		cal_config_integrate(r.model, r.state.q, dq, r.state.q);
		cal_config_integrate(back.model, back.state.q, dq, back.state.q);
		const CalInput input = {.tau = tau};
		const Robot *const both[] = {&r, &back};
		for (int i = 0; i < 2; i++) {
			assert_int_equal(cal_mass_matrix(both[i]->model, &both[i]->state, both[i]->work, M[i]), CAL_OK);
			assert_int_equal(cal_forward_dynamics(both[i]->model, &both[i]->state, &input, both[i]->work, a[i]),
			                 CAL_OK);
		}
		compare(M[0], M[1], NU * NU, "mass matrices");
		compare(a[0], a[1], NU, "forward dynamics");
	}
	robot_close(&r);
	robot_close(&back);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
	(void)state;
	robot_expect_failures(robot);
}

/* n bodies with joints, limits, sites and actuators, in chains of ten. */
static char *forest_of(int n) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	fputs("<mujoco><worldbody>", out);
	for (int i = 0; i < n; i++) {
		fprintf(out, "<body pos='1 0 0'><joint name='j%d' range='-1 1'/>" UNIT "<site/>", i);
		for (int k = 0; (i + 1) % 10 == 0 && k < 10; k++)
			fputs("</body>", out);
	}
	fputs("</worldbody><actuator>", out);
	for (int i = 0; i < n; i++)
		fprintf(out, "<motor joint='j%d'/>", i);
	fputs("</actuator></mujoco>", out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void memory_is_linear_in_the_bodies(void **state) {
	(void)state;
	robot_expect_linear(robot_meter(forest_of(1000), 1000), robot_meter(forest_of(16000), 16000));
}

/* Formulas of tendons grow with their joints, and each joint has one: what would fill the memory is refused. */
static void long_formulas_are_refused(void **state) {
	(void)state;
	enum { N = 5000 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	fputs("<mujoco><worldbody><body><joint name='j'/>" UNIT "</body></worldbody><tendon><fixed name='t' stiffness='1'>",
	      out);
	for (int i = 0; i < N; i++)
		fputs("<joint joint='j' coef='1'/>", out);
	fputs("</fixed></tendon></mujoco>", out);
	assert_int_equal(fclose(out), 0);
	robot_refuse(text, "formula");
	free(text);
}

int main(void) {
	NEEDS_EXPAT();
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversion_keeps_the_dynamics),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(memory_is_linear_in_the_bodies),
		cmocka_unit_test(long_formulas_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
