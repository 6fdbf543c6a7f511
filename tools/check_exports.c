// SPDX-License-Identifier: Apache-2.0
/*
 * check_exports.c — MJCF that Calder wrote, in MuJoCo: compiled and run by tools/check_exports where MuJoCo is installed.
 *
 *   check_exports MODEL EXPORT.xml
 *
 * Reads MODEL by Calder and EXPORT.xml by MuJoCo, and compares mass matrices and, without loops, accelerations at a state near
 * the initial one: gravity, springs, dampers and rotors act, constraints and actuators do not. Joints are found by name. MuJoCo
 * finds the principal axes of an inertia to 1e-8 only, hence the bound.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <calder/calder.h>
#include <mujoco/mujoco.h>

static const double bound = 1e-6; // of the largest value

typedef struct Both {
	CalModel *calder;
	CalState state;
	CalWork *work;
	mjModel *mujoco;
	mjData *data;
	int nu;
	int *u_of; // [nu] from Calder to MuJoCo
} Both;

static void stop(const char *what, const char *why) {
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* Turns by up to 0.3 rad or m, speeds of up to 1. */
static void choose_state(Both *b, const CalSetup *setup) {
	double *dq = calloc((size_t)b->nu + 1, sizeof *dq),
		   *q = calloc((size_t)cal_model_q_count(b->calder) + 1, sizeof *q);
	CalError error = {0};
	cal_config_neutral(b->calder, b->state.q);
	if (!dq || !q || cal_setup_apply_state(setup, b->calder, &b->state, &error) != CAL_OK)
		stop("initial state", error.text);
	for (int i = 0; i < b->nu; i++) {
		dq[i] = 0.3 * sin(1 + 7.0 * i);
		b->state.u[i] = cos(2 + 5.0 * i);
	}
	cal_config_integrate(b->calder, b->state.q, dq, q);
	for (int i = 0; i < cal_model_q_count(b->calder); i++)
		b->state.q[i] = q[i];
	free(dq);
	free(q);
}

/* Coordinates and speeds of each joint where MuJoCo has them. A joint that is written as several has no counterpart: exit 77. */
static void copy_state(Both *b) {
	CalBodyInfo info;
	for (int i = 0; cal_model_body(b->calder, i, &info) == CAL_OK; i++) {
		if (info.nu == 0)
			continue;
		const int joint = mj_name2id(b->mujoco, mjOBJ_JOINT, info.joint);
		const int nq = joint < 0                                  ? 0
		               : b->mujoco->jnt_type[joint] == mjJNT_FREE ? 7
		               : b->mujoco->jnt_type[joint] == mjJNT_BALL ? 4
		                                                          : 1;
		if (nq != info.nq) {
			printf("not compared: joint %s has another form in the file\n", info.joint);
			exit(77);
		}
		for (int k = 0; k < info.nq; k++)
			b->data->qpos[b->mujoco->jnt_qposadr[joint] + k] = b->state.q[info.q + k];
		for (int k = 0; k < info.nu; k++) {
			b->u_of[info.u + k] = b->mujoco->jnt_dofadr[joint] + k;
			b->data->qvel[b->mujoco->jnt_dofadr[joint] + k] = b->state.u[info.u + k];
		}
	}
}

/* Largest difference over the largest value. */
static double compare(const double *a, const double *b, int rows, int columns, const int *u_of, int stride) {
	double worst = 0, scale = 0;
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++) {
			const double x = a[i * columns + k], y = b[u_of[i] * stride + (columns > 1 ? u_of[k] : 0)];
			worst = fmax(worst, isfinite(y) ? fabs(x - y) : INFINITY);
			scale = fmax(scale, fabs(x));
		}
	return scale > 0 ? worst / scale : worst;
}

static double compare_masses(Both *b) {
	const size_t n = (size_t)b->nu;
	double *A = calloc(n * n + 1, sizeof *A), *B = calloc(n * n + 1, sizeof *B), *unit = calloc(n + 1, sizeof *unit);
	if (!A || !B || !unit || cal_mass_matrix(b->calder, &b->state, b->work, A) != CAL_OK)
		stop("mass matrix", "it cannot be computed");
	for (size_t i = 0; i < n; i++) { // row by row: how M is stored differs from version to version
		unit[i] = 1;
		mj_mulM(b->mujoco, b->data, B + i * n, unit);
		unit[i] = 0;
	}
	const double worst = compare(A, B, b->nu, b->nu, b->u_of, b->nu);
	free(A);
	free(B);
	free(unit);
	return worst;
}

static double compare_accelerations(Both *b) {
	double *a = calloc((size_t)b->nu + 1, sizeof *a);
	if (!a || cal_forward_dynamics(b->calder, &b->state, NULL, b->work, a) != CAL_OK)
		stop("forward dynamics", "it cannot be computed");
	const double worst = compare(a, b->data->qacc, b->nu, 1, b->u_of, 1);
	free(a);
	return worst;
}

int main(int argc, char **argv) {
	Both b = {0};
	CalSetup *setup = NULL;
	CalError error = {0};
	char why[1000] = "";
	if (argc != 3)
		stop("usage", "check_exports MODEL EXPORT.xml");
	if (cal_model_read(argv[1], &(CalReadOptions){.partial = 1}, NULL, &setup, &error) != CAL_OK ||
	    cal_model_compile(cal_setup_desc(setup), &(CalCompileOptions){0}, &b.calder, &error) != CAL_OK)
		stop(argv[1], error.text);
	if (!(b.mujoco = mj_loadXML(argv[2], NULL, why, sizeof why)) || !(b.data = mj_makeData(b.mujoco)))
		stop(argv[2], why);
	b.nu = cal_model_u_count(b.calder);
	if (b.mujoco->nv != b.nu)
		stop(argv[2], "the number of degrees of freedom differs");
	b.u_of = calloc((size_t)b.nu + 1, sizeof *b.u_of);
	if (!b.u_of || cal_state_create(b.calder, &b.state) != CAL_OK || cal_work_create(b.calder, &b.work) != CAL_OK)
		stop(argv[1], "out of memory");
	choose_state(&b, setup);
	copy_state(&b);
	b.mujoco->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_ACTUATION;
	mj_forward(b.mujoco, b.data);
	const bool loops = cal_model_loop_count(b.calder) > 0;
	const double masses = compare_masses(&b), accelerations = loops ? 0 : compare_accelerations(&b);
	printf(loops ? "M %.1e qacc not compared: it has loops\n" : "M %.1e qacc %.1e\n", masses, accelerations);
	return masses <= bound && accelerations <= bound ? 0 : 1;
}
