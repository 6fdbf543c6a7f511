// SPDX-License-Identifier: Apache-2.0
/*
 * test_geometric.c — geometric stiffness per unit acceleration field against second-order shapes of the masses it
 * stands for.
 *
 * A body whose masses have phi2 and one with the matrices 2 sum m phi2, 2 sum m phi2 p' differ by products of phi2 with
 * deflections: with deflections, their rates and accelerations of the size e the forces that a motion needs differ by
 * e^2, while the effect of both is of order e. Balances of energy and momentum: test_flexible_balance.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_tree.h"

enum { MODES = 5, NODES = 9, NU = 6 + MODES };

typedef enum Kind { FIRST_ORDER, SHAPES, MATRICES } Kind;

typedef struct Sample {
	double K[MODES * MODES], mass[NODES], phi[NODES][3 * MODES], phi2[NODES][3 * MODES * MODES];
	double geometric[CAL_FLEX_GEOMETRIC * MODES * MODES];
	CalVec3 p[NODES];
	CalPlacement mount; // of the body frame on the joint, so that points are seen from elsewhere
} Sample;

static void add_moments(Sample *s, int node) {
	enum { SQUARE = MODES * MODES };
	const double p[3] = {s->p[node].x, s->p[node].y, s->p[node].z};
	for (int k = 0; k < 3 * SQUARE; k++) {
		const double twice = 2 * s->mass[node] * s->phi2[node][k];
		s->geometric[k] += twice;
		for (int j = 0; j < 3; j++)
			s->geometric[(3 + 3 * (k / SQUARE) + j) * SQUARE + k % SQUARE] += twice * p[j];
	}
}

static Sample *sample_create(uint64_t seed, int turned) {
	Sample *s = test_alloc(1, sizeof *s);
	Rng r = rng_make(seed);
	for (int k = 0; k < MODES; k++)
		s->K[k * (MODES + 1)] = 40 + 10 * k;
	s->mount = rng_placement(&r);
	if (turned) // by right angles: the model keeps shapes in the axes of the link
		s->mount.orientation = (CalQuat){0.5, 0.5, 0.5, 0.5};
	for (int i = 0; i < NODES; i++) {
		s->mass[i] = rng_uniform(&r, 0.5, 1);
		s->p[i] = rng_placement(&r).position;
		rng_fill(&r, 0.5, 3 * MODES, s->phi[i]);
		for (int k = 0; k < 3 * MODES * MODES; k++) {
			const int axis = k / (MODES * MODES), a = k / MODES % MODES, b = k % MODES;
			const double value = rng_uniform(&r, -0.3, 0.3);
			if (b <= a)
				s->phi2[i][k] = s->phi2[i][(axis * MODES + b) * MODES + a] = value;
		}
		add_moments(s, i);
	}
	return s;
}

static CalModel *model_of(const Sample *s, Kind kind, CalModalInertia how) {
	CalDesc *desc;
	CalError error = {0};
	CalBodyId body;
	CalModel *model;
	CalFlexNode nodes[NODES];
	CalBodyDef def = cal_body_def();
	def.name = "flyer";
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_add_body(desc, &def, &body, &error));
	for (int i = 0; i < NODES; i++) {
		CalNodeDef node = cal_node_def();
		const char name[2] = {(char)('a' + i), 0};
		node.name = name, node.placement.position = s->p[i];
		nodes[i] = (CalFlexNode){.mass = s->mass[i], .phi = s->phi[i], .phi2 = kind == SHAPES ? s->phi2[i] : NULL};
		check_ok(0, cal_desc_add_node(desc, body, &node, &nodes[i].node, &error));
	}
	const CalFlexDef flex = {.modes = MODES,
	                         .stiffness = s->K,
	                         .node_count = NODES,
	                         .nodes = nodes,
	                         .geometric = kind == MATRICES ? s->geometric : NULL};
	check_ok(0, cal_desc_set_flexible(desc, body, &flex, &error));
	CalNodeDef mount = cal_node_def();
	CalNodeId on;
	CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
	joint.name = "joint";
	mount.name = "mount", mount.placement = s->mount;
	check_ok(0, cal_desc_add_node(desc, body, &mount, &on, &error));
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, on, NULL, &error));
	check_ok(0, cal_model_compile(desc, &(CalCompileOptions){.modal_inertia = how}, &model, &error));
	cal_desc_destroy(desc);
	return model;
}

/* Forces that the motion needs: deflections, their rates and accelerations times e. */
static void forces(const Sample *s, Kind kind, CalModalInertia how, uint64_t seed, double e, double tau[NU]) {
	CalModel *model = model_of(s, kind, how);
	CalState state;
	CalWork *work;
	Rng r = rng_make(seed);
	double udot[NU];
	check_ok(seed, cal_state_create(model, &state));
	check_ok(seed, cal_work_create(model, &work));
	assert_int_equal(cal_model_u_count(model), NU);
	rng_fill(&r, 1, NU, state.u);
	rng_fill(&r, 2, NU, udot);
	rng_fill(&r, 1, MODES, state.q + cal_model_q_count(model) - MODES);
	for (int k = 0; k < MODES; k++) {
		state.q[cal_model_q_count(model) - MODES + k] *= e;
		state.u[6 + k] *= e;
		udot[6 + k] *= e;
	}
	check_ok(seed, cal_inverse_dynamics(model, &state, udot, NULL, work, tau));
	cal_state_destroy(&state);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static double distance(const double a[NU], const double b[NU]) {
	double sum = 0;
	for (int i = 0; i < NU; i++)
		sum = fmax(sum, fabs(a[i] - b[i]));
	return sum;
}

static void matrices_are_the_first_order_of_shapes(void **state) {
	(void)state;
	static const CalModalInertia ways[] = {CAL_MODAL_INERTIA_SUMS, CAL_MODAL_INERTIA_DENSE_INVARIANTS};
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Sample *s = sample_create(seed, seed % 3 == 0);
		double gap[2], effect = 0;
		for (int i = 0; i < 2; i++) {
			const double e = i ? 1e-4 : 2e-4;
			double shapes[NU], matrices[NU], none[NU];
			forces(s, SHAPES, CAL_MODAL_INERTIA_AUTO, seed, e, shapes);
			forces(s, MATRICES, ways[seed % 2], seed, e, matrices);
			forces(s, FIRST_ORDER, CAL_MODAL_INERTIA_AUTO, seed, e, none);
			gap[i] = distance(shapes, matrices);
			effect = distance(matrices, none);
		}
		print_message("seed %llu: effect %.3g, difference %.3g and %.3g with half the deflection\n",
		              (unsigned long long)seed, effect, gap[0], gap[1]);
		check_that(seed, effect > 1e-5 && gap[1] < 5e-3 * effect);
		check_close(seed, "order of the difference", 1, &gap[0], &(double){4 * gap[1]}, 0.02);
		free(s);
	}
}

/* udot = M^-1(tau - bias) and tau = M udot + bias, both with the terms in them; and u'M u / 2 is the kinetic energy. */
static void dynamics_agree_with_each_other(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Sample *s = sample_create(seed, seed % 3 == 0);
		CalModel *model = model_of(s, MATRICES, CAL_MODAL_INERTIA_AUTO);
		CalState x;
		CalWork *work;
		CalEnergy energy;
		Rng r = rng_make(seed);
		double udot[NU], tau[NU], M[NU * NU], kinetic = 0;
		check_ok(seed, cal_state_create(model, &x));
		check_ok(seed, cal_work_create(model, &work));
		rng_fill(&r, 1, NU, x.u);
		rng_fill(&r, 0.2, MODES, x.q + cal_model_q_count(model) - MODES);
		check_ok(seed, cal_forward_dynamics(model, &x, NULL, work, udot));
		check_ok(seed, cal_inverse_dynamics(model, &x, udot, NULL, work, tau));
		check_close_scaled(seed, "tau", NU, tau, (double[NU]){0}, 100, 1e-12);
		check_ok(seed, cal_mass_matrix(model, &x, work, M));
		check_ok(seed, cal_energy(model, &x, work, &energy));
		for (int i = 0; i < NU * NU; i++)
			kinetic += 0.5 * x.u[i / NU] * M[i] * x.u[i % NU];
		check_close(seed, "kinetic energy", 1, &kinetic, &energy.kinetic, 1e-12);
		cal_state_destroy(&x);
		cal_work_destroy(work);
		cal_model_destroy(model);
		free(s);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matrices_are_the_first_order_of_shapes),
		cmocka_unit_test(dynamics_agree_with_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
