// SPDX-License-Identifier: Apache-2.0
/*
 * test_user_link.c — links of the caller's own: a slider on a spring along x of a body, as two functions, against the same
 * as a body on a prismatic joint. Forward and inverse dynamics, mass matrix, kinematics, energy, with a body on the slider.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/check.h"
#include "support/rng.h"

enum { MOST = 16 };

/* ---- the functions of a slider ------------------------------------------------------------------------------- */

typedef struct Slider {
	double mass, J[3], stiffness; // inertia about its own center, principal axes
} Slider;

static CalVec3 cross3(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static CalVec3 add3(CalVec3 a, CalVec3 b) { return (CalVec3){a.x + b.x, a.y + b.y, a.z + b.z}; }

/* m (a + al x p + w x (w x p) + 2 w x v) at p = (q, 0, 0), and J al + w x J w. */
static void slider_forces(const Slider *s, double q, double u, const CalLinkBase *b, CalLinkInertia *out) {
	const CalVec3 p = {q, 0, 0}, v = {2 * u, 0, 0};
	const CalVec3 a = add3(add3(b->a, cross3(b->al, p)), add3(cross3(b->w, cross3(b->w, p)), cross3(b->w, v)));
	const CalVec3 f = {s->mass * a.x, s->mass * a.y, s->mass * a.z};
	const CalVec3 Jal = {s->J[0] * b->al.x, s->J[1] * b->al.y, s->J[2] * b->al.z};
	const CalVec3 Jw = {s->J[0] * b->w.x, s->J[1] * b->w.y, s->J[2] * b->w.z};
	out->force = (CalSpatial){add3(cross3(p, f), add3(Jal, cross3(b->w, Jw))), f};
	out->dof_force[0] = f.x;
}

static int slider_inertia(const void *data, void *scratch, const double *q, const double *u, const CalLinkBase *base,
                          CalLinkInertia *out) {
	const Slider *s = data;
	const double mp = s->mass * q[0] * q[0];
	(void)scratch;
	out->mass = s->mass;
	out->first_moment.x = s->mass * q[0];
	for (int i = 0; i < 3; i++)
		out->inertia.m[i][i] = s->J[i] + (i ? mp : 0);
	out->E[3] = out->M[0] = s->mass;
	if (base)
		slider_forces(s, q[0], u ? u[0] : 0, base, out);
	return 0;
}

static int slider_node(const void *data, void *scratch, int node, const double *q, const double *u, CalLinkNode *out) {
	(void)data, (void)scratch, (void)node, (void)u;
	out->pose = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, .r = {q[0], 0, 0}};
	out->S[3] = 1;
	return 0;
}

static int slider_spring(const void *data, void *scratch, const double *q, const double *u, double *force) {
	(void)scratch, (void)u;
	force[0] -= ((const Slider *)data)->stiffness * q[0];
	return 0;
}

static double slider_potential(const void *data, void *scratch, const double *q) {
	(void)scratch;
	return 0.5 * ((const Slider *)data)->stiffness * q[0] * q[0];
}

static const CalLinkOps slider_ops = {.name = "slider",
                                      .inertia = slider_inertia,
                                      .node = slider_node,
                                      .elastic = slider_spring,
                                      .potential = slider_potential};
static const Slider slider = {1.7, {0.02, 0.05, 0.06}, 40};

/* ---- the machine --------------------------------------------------------------------------------------------- */

typedef struct Machine {
	CalDesc *desc;
	CalModel *model;
	CalWork *work;
	CalState state;
	int nu;
} Machine;

static CalBodyId add_body(CalDesc *desc, const char *name, double mass, CalVec3 com, const double *J) {
	CalBodyDef def = {.name = name, .mass = mass, .com = com};
	CalBodyId id;
	for (int i = 0; i < 3; i++)
		def.inertia.m[i][i] = J[i];
	check_ok(0, cal_desc_add_body(desc, &def, &id, NULL));
	return id;
}

static void attach(CalDesc *desc, CalNodeId from, CalJointType type, const char *name, CalVec3 axis, CalBodyId to) {
	CalJointDef joint = cal_joint_def(type);
	joint.name = name;
	joint.axis = axis;
	joint.dof[0].stiffness = type == CAL_JOINT_PRISMATIC ? slider.stiffness : 0;
	check_ok(0, cal_desc_attach(desc, from, &joint, cal_desc_body_node(desc, to), NULL, NULL));
}

static CalDesc *new_desc(void) {
	CalDesc *desc;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){1, 2, -9.81}));
	return desc;
}

static Machine compile(CalDesc *desc) {
	Machine m = {.desc = desc};
	CalError error = {0};
	if (cal_model_compile(desc, NULL, &m.model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	check_ok(0, cal_work_create(m.model, &m.work));
	check_ok(0, cal_state_create(m.model, &m.state));
	m.nu = cal_model_u_count(m.model);
	return m;
}

/* Base, slider on it, arm on the slider. */
static Machine make_machine(int functions) {
	CalDesc *desc = new_desc();
	const double J[3] = {0.2, 0.3, 0.4};
	const CalBodyId base = add_body(desc, "base", 3, (CalVec3){0.1, -0.2, 0.05}, J);
	const CalBodyId arm = add_body(desc, "arm", 0.8, (CalVec3){0.2, 0.1, 0}, J);
	CalNodeId tip;
	attach(desc, (CalNodeId){0}, CAL_JOINT_FREE, "root", (CalVec3){0, 0, 1}, base);
	if (functions) {
		check_ok(0,
		         cal_desc_add_node(desc, base, &(CalNodeDef){.name = "tip", .placement.orientation.w = 1}, &tip, NULL));
		check_ok(0, cal_desc_set_link(desc, base, &(CalLinkDef){1, 1, &tip, &slider_ops, &slider}, NULL));
	} else {
		const CalBodyId body = add_body(desc, "slider", slider.mass, (CalVec3){0, 0, 0}, slider.J);
		attach(desc, cal_desc_body_node(desc, base), CAL_JOINT_PRISMATIC, "slide", (CalVec3){1, 0, 0}, body);
		tip = cal_desc_body_node(desc, body);
	}
	attach(desc, tip, CAL_JOINT_REVOLUTE, "elbow", (CalVec3){0, 0.6, 0.8}, arm);
	return compile(desc);
}

static void machine_destroy(Machine *m) {
	cal_work_destroy(m->work);
	cal_model_destroy(m->model);
	cal_desc_destroy(m->desc);
	cal_state_destroy(&m->state);
}

/* Both have root, slide and elbow in this order. */
static void functions_equal_joint(void **state) {
	(void)state;
	Machine m[2] = {make_machine(0), make_machine(1)};
	Rng r = rng_make(test_seed());
	check_that(0, m[0].nu == 8 && m[1].nu == 8);
	for (int i = 0; i < 20; i++) {
		double dq[MOST], u[MOST], tau[MOST], udot[2][MOST], Q[2][MOST], M[2][64];
		CalEnergy e[2];
		CalMomentum p[2];
		CalSpatial a[2];
		rng_fill(&r, 1, 8, dq);
		rng_fill(&r, 2, 8, u);
		rng_fill(&r, 5, 8, tau);
		for (int k = 0; k < 2; k++) {
			cal_config_neutral(m[k].model, m[k].state.q);
			cal_config_integrate(m[k].model, m[k].state.q, dq, m[k].state.q);
			memcpy(m[k].state.u, u, sizeof *u * 8);
			check_ok(0, cal_forward_dynamics(m[k].model, &m[k].state, &(CalInput){.tau = tau}, m[k].work, udot[k]));
			check_ok(0, cal_kinematics(m[k].model, &m[k].state, udot[k], m[k].work));
			check_ok(0, cal_node_acceleration(m[k].model, m[k].work, cal_model_find_node(m[k].model, "arm"), &a[k]));
			check_ok(0, cal_inverse_dynamics(m[k].model, &m[k].state, dq, NULL, m[k].work, Q[k]));
			check_ok(0, cal_mass_matrix(m[k].model, &m[k].state, m[k].work, M[k]));
			check_ok(0, cal_energy(m[k].model, &m[k].state, m[k].work, &e[k]));
			check_ok(0, cal_momentum(m[k].model, &m[k].state, m[k].work, &p[k]));
		}
		check_close_scaled(0, "udot", 8, udot[1], udot[0], max_abs(8, udot[0]), 1e-12);
		check_close_scaled(0, "acceleration", 6, &a[1].angular.x, &a[0].angular.x, 10, 1e-12);
		check_close_scaled(0, "inverse dynamics", 8, Q[1], Q[0], fmax(10, max_abs(8, Q[0])), 1e-12);
		check_close_scaled(0, "mass matrix", 64, M[1], M[0], max_abs(64, M[0]), 1e-13);
		check_close_scaled(0, "energy", 4, &e[1].kinetic, &e[0].kinetic, fmax(1, max_abs(4, &e[0].kinetic)), 1e-12);
		check_close_scaled(0, "momentum", 13, &p[1].mass, &p[0].mass, fmax(1, max_abs(13, &p[0].mass)), 1e-12);
	}
	machine_destroy(&m[0]);
	machine_destroy(&m[1]);
}

/* A link whose function refuses to say anything: the evaluation fails, nothing else does. */
static int refuse_inertia(const void *data, void *scratch, const double *q, const double *u, const CalLinkBase *base,
                          CalLinkInertia *out) {
	(void)data, (void)scratch, (void)q, (void)u, (void)base, (void)out;
	return 1;
}

static void functions_may_refuse(void **state) {
	(void)state;
	static const CalLinkOps ops = {.name = "none", .inertia = refuse_inertia};
	CalDesc *desc = new_desc();
	CalError error = {0};
	const CalBodyId body = add_body(desc, "link", 1, (CalVec3){0.1, 0, 0}, slider.J);
	check_status(0, cal_desc_set_link(desc, body, &(CalLinkDef){.dofs = 2}, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "body \"link\": a link of one's own needs"));
	const CalNodeId frame = cal_desc_body_node(desc, body);
	check_status(
		0,
		cal_desc_set_link(desc, body, &(CalLinkDef){.dofs = 2, .node_count = 1, .nodes = &frame, .ops = &ops}, &error),
		CAL_ERR_MODEL);
	check_ok(0, cal_desc_set_link(desc, body, &(CalLinkDef){.dofs = 2, .ops = &ops}, &error));
	attach(desc, (CalNodeId){0}, CAL_JOINT_REVOLUTE, "root", (CalVec3){0, 0, 1}, body);
	Machine m = compile(desc);
	double udot[3];
	check_status(0, cal_forward_dynamics(m.model, &m.state, NULL, m.work, udot), CAL_NOT_FINITE);
	machine_destroy(&m);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_equal_joint),
		cmocka_unit_test(functions_may_refuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
