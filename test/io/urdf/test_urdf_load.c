// SPDX-License-Identifier: Apache-2.0
/*
 * test_urdf_load.c — loading as such: a converted robot moves in the same way, memory may run short at any time, its use is
 * linear in the size of the file, and hostile files are refused.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "io/urdf/urdf_support.h"
#include "support/robot_memory.h"

/* An arm with everything that becomes part of a model. */
static const char arm[] = URDF_1(
	"1",
	"<material name='red'><color rgba='1 0 0 1'/></material>" LINK(
		"base",
		"<inertial><origin xyz='.1 .2 .3' rpy='.3 .2 .1'/><mass value='3'/><inertia ixx='.3' iyy='.2' izz='.25' "
		"ixy='.01' ixz='-.02' iyz='.03'/></inertial><visual><geometry><box size='1 1 1'/></geometry><material "
		"name='red'/></visual>") BODY("b") BODY("c") BODY("d") BODY("e") BODY("f") LINK("tool", "")
		JOINT("j1", "revolute", "base", "b",
              "<origin xyz='.1 0 .3' rpy='.1 .2 .3'/><axis xyz='0 .6 .8'/><limit lower='.2' upper='2' effort='1' "
              "velocity='1'/><dynamics damping='.3' friction='.1'/>")
			JOINT("j2", "prismatic", "b", "c", "<origin xyz='0 0 .4'/><axis xyz='0 0 1'/>" LIMIT) JOINT(
				"j3", "continuous", "c", "d", "<axis xyz='0 1 0'/><mimic joint='j1' multiplier='-.5' offset='.1'/>")
				JOINT("j4", "planar", "d", "e", "<axis xyz='1 1 0'/>") JOINT("j5", "floating", "base", "f", "") JOINT(
					"t", "fixed", "e", "tool",
					"<origin quat_xyzw='0 0 .6 .8' xyz='1 0 0'/>") "<transmission name='t'><type>transmission_interface/SimpleTransmission</type><joint "
																   "name='j2'/><actuator name='m'><mechanicalReduction>20</mechanicalReduction><rotorInertia>1e-3"
																   "</rotorInertia></actuator></transmission>");

/* ---- conversion ---------------------------------------------------------------------------------------- */

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

/* Mass matrix, inverse and forward dynamics of both at random states. */
static void conversion_keeps_the_dynamics(void **state) {
	(void)state;
	enum { NU = 12 };
	Robot r = robot_of(arm), back = converted(&r);
	uint64_t seed = 88172645463325252u;
	print_message("seed %llu\n", (unsigned long long)seed);
	assert_int_equal(cal_model_u_count(r.model), NU);
	assert_int_equal(cal_model_u_count(back.model), NU);
	assert_int_equal(cal_setup_device_count(r.setup), cal_setup_device_count(back.setup));
	compare(r.state.q, back.state.q, cal_model_q_count(r.model), "initial coordinates");
	for (int k = 0; k < 20; k++) {
		double dq[NU], udot[NU], tau[2][NU], a[2][NU], M[2][NU * NU];
		for (int i = 0; i < NU; i++) {
			dq[i] = next_random(&seed);
			udot[i] = next_random(&seed);
			r.state.u[i] = back.state.u[i] = next_random(&seed);
		}
		cal_config_integrate(r.model, r.state.q, dq, r.state.q);
		cal_config_integrate(back.model, back.state.q, dq, back.state.q);
		const CalInput input = {.tau = udot};
		Robot *const both[] = {&r, &back};
		for (int i = 0; i < 2; i++) {
			const Robot *one = both[i];
			assert_int_equal(cal_mass_matrix(one->model, &one->state, one->work, M[i]), CAL_OK);
			assert_int_equal(cal_inverse_dynamics(one->model, &one->state, udot, &input, one->work, tau[i]), CAL_OK);
			assert_int_equal(cal_forward_dynamics(one->model, &one->state, &input, one->work, a[i]), CAL_OK);
		}
		compare(M[0], M[1], NU * NU, "mass matrices");
		compare(tau[0], tau[1], NU, "inverse dynamics");
		compare(a[0], a[1], NU, "forward dynamics");
	}
	robot_close(&r);
	robot_close(&back);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
	(void)state;
	robot_expect_failures(arm);
}

/* A tree of n links in which each carries three. */
static char *tree_of(int n) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	fputs("<robot name='tree'>", out);
	for (int i = 0; i < n; i++) {
		fprintf(out, "<link name='l%d'>" INERTIAL "</link>", i);
		if (i)
			fprintf(out, "<joint name='j%d' type='revolute'><parent link='l%d'/><child link='l%d'/>" LIMIT "</joint>",
			        i, (i - 1) / 3, i);
	}
	fputs("</robot>", out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void memory_is_linear_in_the_links(void **state) {
	(void)state;
	robot_expect_linear(robot_meter(tree_of(1000), 1000), robot_meter(tree_of(16000), 16000));
}

/* A chain: neither the tree nor the order of its links is found by recursion. */
static void long_chains_are_read(void **state) {
	(void)state;
	enum { N = 20000 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	fputs("<robot name='chain'>", out);
	for (int i = N - 1; i >= 0; i--) { // the root last, and mimics along the chain
		fprintf(out, "<link name='l%d'>" INERTIAL "</link>", i);
		if (i)
			fprintf(out, "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>", i, i - 1, i);
		if (i > 1)
			fprintf(out, "<mimic joint='j%d'/>", i - 1);
		fputs(i ? "</joint>" : "", out);
	}
	fputs("</robot>", out);
	assert_int_equal(fclose(out), 0);
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, length, "t.urdf", NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_desc_loop_count(cal_setup_desc(setup)), N - 2);
	cal_setup_destroy(setup);
	free(text);
}

/* ---- hostile files ---------------------------------------------------------------------------------------- */

/* "/_/_" and "//__" are no names of Calder, and all want to be "____"; motors without names, "motor". No search through all. */
static void names_that_want_the_same_are_found(void **state) {
	(void)state;
	enum { BITS = 16, N = 1 << BITS };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	fputs("<robot name='names'><link name='a'/>", out);
	for (int i = 0; i < N; i++) {
		char name[BITS + 2] = "/";
		for (int k = 0; k < BITS; k++)
			name[k + 1] = i >> k & 1 ? '/' : '_';
		fprintf(
			out,
			"<link name='%s'>" INERTIAL
			"</link><joint name='j%d' type='continuous'><parent link='a'/><child link='%s'/>"
			"</joint><transmission><joint name='j%d'><mechanicalReduction>2</mechanicalReduction></joint></transmission>",
			name, i, name, i);
	}
	fputs("</robot>", out);
	assert_int_equal(fclose(out), 0);
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, length, "t.urdf", NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_desc_body_count(cal_setup_desc(setup)), N + 1);
	assert_int_equal(cal_setup_device_count(setup), N);
	cal_setup_destroy(setup);
	free(text);
}

static void hostile_files_are_refused(void **state) {
	(void)state;
	robot_refuse("<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><robot name='&b;'/>", "document type");
	robot_refuse("<robot name='r'><link name='a'>", "t.xml:1:");
	robot_refuse("<robot name='r'>\x01</robot>", "t.xml:1:");
	enum { DEEP = 100000 };
	char *text = malloc(8 * DEEP + 64), *at = text + sprintf(text, "<robot name='r'>");
	for (int i = 0; i < DEEP; i++)
		at += sprintf(at, "<link>");
	robot_refuse(text, "nested more than");
	free(text);
	// names of any bytes and length go through messages, never into a format
	text = malloc(70000);
	at = text + sprintf(text, "<robot name='r'><link name='%%s%%n");
	memset(at, 'x', 65000);
	sprintf(at + 65000, "'/><link name='b'/></robot>");
	robot_refuse(text, "2 links are the child of no joint, \"%s%nxxx");
	free(text);
}

int main(void) {
	NEEDS_EXPAT();
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversion_keeps_the_dynamics),      cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(memory_is_linear_in_the_links),      cmocka_unit_test(long_chains_are_read),
		cmocka_unit_test(names_that_want_the_same_are_found), cmocka_unit_test(hostile_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
