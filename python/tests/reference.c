// SPDX-License-Identifier: Apache-2.0
/*
 * reference.c — every algorithm of the C library on one model and state, printed as bits (%a), for test_bits.py.
 * usage: reference MODEL NODE; q, u, tau and udot of the default group on stdin.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

static void print(const char *name, const double *x, int count) {
	printf("%s", name);
	for (int i = 0; i < count; i++)
		printf(" %a", x[i]);
	printf("\n");
}

static void read_numbers(double *x, int count) {
	for (int i = 0; i < count; i++)
		if (scanf("%la", &x[i]) != 1)
			exit(3);
}

static void must(CalStatus status, const char *what) {
	if (status != CAL_OK) {
		fprintf(stderr, "%s: %s\n", what, cal_status_text(status));
		exit(4);
	}
}

typedef struct Case {
	const CalModel *model;
	CalState state;
	CalInput input;
	CalWork *work;
	double *out, *udot;
	int nu, node;
} Case;

static void print_forces(Case *c) {
	must(cal_forward_dynamics(c->model, &c->state, &c->input, c->work, c->out), "forward");
	print("forward", c->out, c->nu);
	if (cal_model_row_count(c->model) > 0) {
		must(cal_loop_multipliers(c->model, c->work, c->out), "multipliers");
		print("multipliers", c->out, cal_model_row_count(c->model));
	}
	must(cal_implicit_dynamics(c->model, &c->state, &c->state, &c->input, 1e-3, c->work, c->out), "implicit");
	print("implicit", c->out, c->nu);
	must(cal_inverse_dynamics(c->model, &c->state, c->udot, NULL, c->work, c->out), "inverse");
	print("inverse", c->out, c->nu);
	must(cal_bias_forces(c->model, &c->state, c->work, c->out), "bias");
	print("bias", c->out, c->nu);
	must(cal_gravity_forces(c->model, &c->state, c->work, c->out), "gravity");
	print("gravity", c->out, c->nu);
	must(cal_elastic_forces(c->model, &c->state, c->work, c->out), "elastic");
	print("elastic", c->out, c->nu);
}

static void print_mass(Case *c) {
	double one;
	must(cal_mass_matrix(c->model, &c->state, c->work, c->out), "mass matrix");
	print("mass_matrix", c->out, c->nu * c->nu);
	must(cal_mass_mul(c->model, &c->state, c->udot, c->work, c->out), "mass mul");
	print("mass_mul", c->out, c->nu);
	must(cal_mass_trace(c->model, &c->state, c->work, &one), "trace");
	print("mass_trace", &one, 1);
	must(cal_mass_factor(c->model, &c->state, c->work), "factor");
	must(cal_mass_solve(c->model, c->work, c->udot, c->out), "solve");
	print("mass_solve", c->out, c->nu);
	must(cal_mass_inverse(c->model, c->work, c->out), "inverse");
	print("mass_inverse", c->out, c->nu * c->nu);
	must(cal_mass_logdet(c->model, c->work, &one), "logdet");
	print("mass_logdet", &one, 1);
	must(cal_innovations_mul(c->model, c->work, c->udot, c->out), "innovations");
	print("innovations", c->out, c->nu);
	must(cal_innovations_solve_transpose(c->model, c->work, c->udot, c->out), "innovations");
	print("innovations_solve_transpose", c->out, c->nu);
	must(cal_innovations_mul_transpose(c->model, c->work, c->udot, c->out), "innovations");
	print("innovations_transpose", c->out, c->nu);
	must(cal_innovations_solve(c->model, c->work, c->udot, c->out), "innovations");
	print("innovations_solve", c->out, c->nu);
	must(cal_innovations_diagonal(c->model, c->work, c->out), "diagonal");
	print("innovations_diagonal", c->out, c->nu);
}

static void print_operators(Case *c) {
	const int links = cal_model_link_count(c->model);
	CalSpatial *x = calloc(2 * (size_t)links + 1, sizeof *x);
	must(cal_operator_joint_transpose(c->model, c->work, c->udot, x), "columns");
	print("columns_transpose", &x[0].angular.x, 6 * links);
	must(cal_operator_scatter(c->model, c->work, x, x + links), "scatter");
	print("scatter", &x[links].angular.x, 6 * links);
	must(cal_operator_gather(c->model, c->work, x, x + links), "gather");
	print("gather", &x[links].angular.x, 6 * links);
	must(cal_operator_gather_articulated(c->model, c->work, x, x + links), "psi");
	print("gather_articulated", &x[links].angular.x, 6 * links);
	must(cal_operator_scatter_articulated(c->model, c->work, x, x + links), "psi");
	print("scatter_articulated", &x[links].angular.x, 6 * links);
	must(cal_operator_joint(c->model, c->work, x, c->out), "joint");
	print("columns", c->out, c->nu);
	must(cal_link_articulated_inertia(c->model, c->work, links - 1, c->out), "articulated");
	print("articulated", c->out, 36);
	must(cal_link_inertia(c->model, c->work, links - 1, c->out), "link");
	print("link", c->out, 36);
	free(x);
}

static void print_node(Case *c) {
	CalPose pose;
	CalSpatial v;
	double *scratch = calloc((size_t)c->nu + 100, sizeof *scratch);
	int rank;
	must(cal_node_compliance(c->model, c->work, &c->node, 1, scratch, c->out), "compliance");
	print("compliance", c->out, 36);
	must(cal_node_compliance_tree(c->model, c->work, &c->node, 1, scratch, c->out), "compliance of the tree");
	print("compliance_tree", c->out, 36);
	must(cal_node_inertia(c->model, c->work, &c->node, 1, scratch, c->out, &rank), "inertia");
	print("operational_inertia", c->out, 36);
	must(cal_kinematics(c->model, &c->state, c->udot, c->work), "kinematics");
	must(cal_node_pose(c->model, c->work, c->node, &pose), "pose");
	print("position", &pose.r.x, 3);
	print("rotation", &pose.R.m[0][0], 9);
	must(cal_node_velocity(c->model, c->work, c->node, &v), "velocity");
	print("velocity", &v.angular.x, 6);
	must(cal_node_acceleration(c->model, c->work, c->node, &v), "acceleration");
	print("acceleration", &v.angular.x, 6);
	must(cal_node_bias(c->model, c->work, c->node, &v), "bias");
	print("node_bias", &v.angular.x, 6);
	must(cal_node_jacobian(c->model, c->work, c->node, c->out), "jacobian");
	print("jacobian", c->out, 6 * c->nu);
	free(scratch);
}

static void print_totals(Case *c) {
	CalEnergy e;
	CalMomentum p;
	CalLinear linear;
	must(cal_energy(c->model, &c->state, c->work, &e), "energy");
	print("energy", &e.kinetic, 4);
	must(cal_momentum(c->model, &c->state, c->work, &p), "momentum");
	print("momentum", &p.mass, 13);
	must(cal_closed_factor(c->model, &c->state, NULL, c->work), "closed factor");
	must(cal_closed_solve(c->model, c->work, c->udot, c->out), "closed solve");
	print("closed_solve", c->out, c->nu);
	must(cal_impulse(c->model, &c->state, NULL, c->work, c->out, NULL, NULL), "impulse");
	print("impulse", c->out, c->nu);
	must(cal_linearize(c->model, &c->state, NULL, NULL, NULL, c->work, &linear, NULL), "linearize");
	print("K", linear.K, linear.count * linear.count);
	print("C", linear.C, linear.count * linear.count);
	cal_linear_release(&linear);
	const int rows = cal_model_row_count(c->model);
	if (rows > 0) {
		double *g = calloc(2 * (size_t)rows, sizeof *g);
		must(cal_loop_residual(c->model, &c->state, c->work, g, g + rows), "residual");
		print("residual", g, 2 * rows);
		free(g);
		double *G = calloc((size_t)rows * (size_t)c->nu + (size_t)rows, sizeof *G);
		must(cal_loop_jacobian(c->model, &c->state, c->work, G, G + rows * c->nu), "loop Jacobian");
		print("loop_jacobian", G, rows * c->nu + rows);
		free(G);
	}
}

int main(int argc, char **argv) {
	CalSetup *setup;
	CalModel *model;
	CalError error = {0};
	if (argc != 3 || cal_model_read(argv[1], NULL, NULL, &setup, &error) != CAL_OK ||
	    cal_model_compile(cal_setup_desc(setup), NULL, &model, &error) != CAL_OK) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	Case c = {.model = model, .nu = cal_model_u_count(model), .node = cal_model_find_node(model, argv[2])};
	double *tau = calloc((size_t)c.nu, sizeof *tau);
	c.udot = calloc((size_t)c.nu, sizeof *c.udot);
	c.out = calloc((size_t)(c.nu * c.nu + 6 * c.nu + 64), sizeof *c.out);
	must(cal_state_create(model, &c.state), "state");
	must(cal_work_create(model, &c.work), "work");
	read_numbers(c.state.q, cal_model_q_count(model));
	read_numbers(c.state.u, c.nu);
	read_numbers(tau, c.nu);
	read_numbers(c.udot, c.nu);
	c.input = (CalInput){.tau = tau};
	print_forces(&c);
	print_mass(&c);
	print_operators(&c);
	print_node(&c);
	print_totals(&c);
	cal_work_destroy(c.work);
	cal_state_destroy(&c.state);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
	free(tau);
	free(c.udot);
	free(c.out);
	return 0;
}
