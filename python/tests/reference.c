// SPDX-License-Identifier: Apache-2.0
/*
 * reference.c — every algorithm of the C library on one model and state, printed as bits (%a), for test_bits.py.
 * usage: reference MODEL NODE      q, u, tau and udot of the default group on stdin
 *        reference --mesh FILE
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

static void print_integers(const char *name, const int *x, int count) {
	printf("%s", name);
	for (int i = 0; i < count; i++)
		printf(" %a", (double)x[i]);
	printf("\n");
}

static void print_bytes(const char *name, const uint8_t *x, int count) {
	printf("%s", name);
	for (int i = 0; i < count; i++)
		printf(" %a", (double)x[i]);
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

static void print_sparse_mass(Case *c) {
	const int count = (int)cal_mass_sparse_count(c->model);
	size_t *row = calloc((size_t)c->nu + 1, sizeof *row);
	int *column = calloc((size_t)count, sizeof *column);
	double *values = calloc((size_t)(c->nu + 1 + count), sizeof *values);
	must(cal_mass_sparse_pattern(c->model, row, column), "pattern");
	for (int i = 0; i <= c->nu; i++)
		values[i] = (double)row[i];
	for (int i = 0; i < count; i++)
		values[c->nu + 1 + i] = column[i];
	print("mass_sparse_pattern", values, c->nu + 1 + count);
	must(cal_mass_sparse(c->model, &c->state, c->work, values), "sparse");
	print("mass_sparse", values, count);
	must(cal_mass_sparse_mul(c->model, values, c->udot, c->out), "sparse mul");
	print("mass_sparse_mul", c->out, c->nu);
	must(cal_mass_sparse_factor(c->model, c->work, values), "sparse factor");
	print("mass_sparse_factor", values, count);
	must(cal_mass_sparse_solve(c->model, values, c->udot, c->out), "sparse solve");
	print("mass_sparse_solve", c->out, c->nu);
	free(row), free(column), free(values);
}

static void print_many_solves(Case *c) {
	double *b = calloc(5 * (size_t)c->nu, sizeof *b);
	for (int k = 0; k < 5; k++)
		memcpy(b + k * c->nu, k % 2 ? c->input.tau : c->udot, sizeof *b * (size_t)c->nu);
	must(cal_mass_solve_many(c->model, c->work, 5, b, b), "many solves");
	print("mass_solve_many", b, 5 * c->nu);
	free(b);
}

static void print_mass(Case *c) {
	double one;
	must(cal_mass_matrix(c->model, &c->state, c->work, c->out), "mass matrix");
	print("mass_matrix", c->out, c->nu * c->nu);
	memset(c->out, 0, sizeof *c->out * (size_t)(c->nu * c->nu));
	must(cal_mass_matrix_lower(c->model, &c->state, c->work, c->out), "lower triangle");
	print("mass_lower", c->out, c->nu * c->nu);
	print_sparse_mass(c);
	must(cal_mass_mul(c->model, &c->state, c->udot, c->work, c->out), "mass mul");
	print("mass_mul", c->out, c->nu);
	must(cal_mass_trace(c->model, &c->state, c->work, &one), "trace");
	print("mass_trace", &one, 1);
	must(cal_mass_factor(c->model, &c->state, c->work), "factor");
	must(cal_mass_solve(c->model, c->work, c->udot, c->out), "solve");
	print("mass_solve", c->out, c->nu);
	print_many_solves(c);
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

/* Of the node and of node 0; of its path. */
static void print_jacobians(Case *c) {
	const int nodes[] = {c->node, 0};
	int count, *dofs = calloc((size_t)c->nu + 1, sizeof *dofs);
	double *J = calloc(12 * (size_t)c->nu, sizeof *J);
	must(cal_node_jacobians(c->model, c->work, nodes, 2, J), "jacobians");
	print("jacobians", J, 12 * c->nu);
	must(cal_node_path(c->model, c->node, &count, dofs), "path");
	print_integers("node_path", dofs, count);
	must(cal_node_jacobian_path(c->model, c->work, c->node, J), "jacobian of the path");
	print("jacobian_path", J, 6 * count);
	free(J);
	free(dofs);
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
	print_jacobians(c);
	free(scratch);
}

static void print_linear(const CalLinear *linear) {
	const int n = linear->count;
	CalSystemModes modes;
	CalError error = {0};
	double *x = calloc(4 * (size_t)n * (size_t)n + 8 * (size_t)n, sizeof *x);
	print("K", linear->K, n * n);
	print("C", linear->C, n * n);
	print("M", linear->M, n * n);
	print("N", linear->N, linear->nu * n);
	must(cal_linear_state_matrix(linear, x), "state matrix");
	print("A", x, 4 * n * n);
	must(cal_linear_modes(linear, NULL, NULL, &modes, &error), "modes");
	for (int i = 0; i < modes.count; i++)
		memcpy(x + 4 * i,
		       (const double[]){modes.mode[i].frequency, modes.mode[i].damping, modes.mode[i].real, modes.mode[i].imag},
		       4 * sizeof *x);
	print("modes", x, 4 * modes.count);
	print("mode_shape", modes.mode[modes.count - 1].shape, linear->nu);
	print("mode_shares", modes.mode[modes.count - 1].participation, linear->nu);
	cal_system_modes_release(&modes);
	free(x);
}

/* The last speed stops, or is held. */
static void print_locked(Case *c) {
	uint8_t *last = calloc((size_t)c->nu, 1);
	double *force = calloc((size_t)c->nu, sizeof *force);
	CalImpulseReport report;
	last[c->nu - 1] = 1;
	const CalImpulse impulse = {.locked = last, .speed = c->udot};
	must(cal_impulse(c->model, &c->state, &impulse, c->work, c->out, force, &report), "impulse of a lock");
	print("locked", c->out, c->nu);
	print("locked_impulse", force, c->nu);
	print("locked_lost", &report.kinetic_lost, 1);
	must(cal_closed_factor(c->model, &c->state, last, c->work), "closed factor");
	must(cal_closed_solve(c->model, c->work, c->udot, c->out), "closed solve");
	print("held_solve", c->out, c->nu);
	free(last);
	free(force);
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
	print_linear(&linear);
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

/* ---- given motion, wrenches, reactions ---------------------------------------------------------- */

/* The first degree of freedom moves as given; one wrench in world axes, one in those of the node. */
static CalInput given_input(const Case *c, CalWrench wrenches[2], uint8_t *prescribed) {
	const CalSpatial f = {{0.1, -0.2, 0.3}, {1.5, -2.5, 0.7}};
	wrenches[0] = (CalWrench){.node = c->node, .f = f};
	wrenches[1] = (CalWrench){.node = c->node, .frame = CAL_FRAME_NODE, .f = f};
	prescribed[0] = 1;
	return (CalInput){
		.tau = c->input.tau, .wrenches = wrenches, .wrench_count = 2, .prescribed = prescribed, .udot = c->udot};
}

static void print_reactions(Case *c) {
	const int bodies = cal_model_body_count(c->model);
	CalSpatial *through = calloc((size_t)bodies, sizeof *through);
	must(cal_reactions(c->model, &c->state, c->out, &c->input, c->work), "reactions");
	for (int i = 0; i < bodies; i++)
		must(cal_joint_reaction(c->model, c->work, i, &through[i]), "reaction");
	print("reactions", &through[0].angular.x, 6 * bodies);
	free(through);
}

static void print_given(Case *c) {
	CalWrench wrenches[2];
	uint8_t *prescribed = calloc((size_t)c->nu, 1);
	double *force = calloc((size_t)c->nu, sizeof *force);
	CalInput input = given_input(c, wrenches, prescribed);
	must(cal_hybrid_dynamics(c->model, &c->state, &input, c->work, c->out, force), "hybrid");
	print("hybrid", c->out, c->nu);
	print("hybrid_force", force, c->nu);
	must(cal_external_forces(c->model, &c->state, &input, c->work, c->out), "external");
	print("external", c->out, c->nu);
	must(cal_inverse_dynamics(c->model, &c->state, c->udot, &input, c->work, c->out), "inverse");
	print("inverse_wrenches", c->out, c->nu);
	must(cal_forward_dynamics(c->model, &c->state, &c->input, c->work, c->out), "forward");
	if (cal_model_mechanism_count(c->model) == 0) // reactions of joints inside of one are not known
		print_reactions(c);
	free(prescribed);
	free(force);
}

static void print_wrenches(Case *c) {
	const CalSpatial f = {{0.1, -0.2, 0.3}, {1.5, -2.5, 0.7}};
	CalPose pose;
	must(cal_kinematics(c->model, &c->state, NULL, c->work), "kinematics");
	must(cal_node_pose(c->model, c->work, c->node, &pose), "pose");
	CalSpatial moved = cal_wrench_shift(f, pose.r, (CalVec3){0.3, 0.2, -0.1});
	print("wrench_shift", &moved.angular.x, 6);
	moved = cal_wrench_express(f, &pose.R);
	print("wrench_express", &moved.angular.x, 6);
	cal_config_rate(c->model, c->udot, c->state.u, c->out);
	print("config_rate", c->out, c->nu);
}

/* ---- bodies and links ---------------------------------------------------------------------------- */

static void print_flexible(Case *c) {
	double *E = calloc(6 * (size_t)c->nu, sizeof *E), *M = c->out;
	must(cal_mass_factor(c->model, &c->state, c->work), "factor");
	must(cal_link_composite_inertia(c->model, c->work, 0, c->out), "composite");
	print("composite", c->out, 36);
	for (int i = 0; i < cal_model_body_count(c->model); i++) {
		CalBodyInfo info;
		int carrier, head;
		char name[64];
		must(cal_model_body(c->model, i, &info), "body");
		if (info.modes == 0)
			continue;
		must(cal_flex_links(c->model, i, &carrier, &head), "links");
		snprintf(name, sizeof name, "flex_links:%d", i);
		print_integers(name, (const int[]){carrier, head}, 2);
		must(cal_flex_inertia(c->model, c->work, i, E, M), "flex inertia");
		snprintf(name, sizeof name, "flex_E:%d", i);
		print(name, E, 6 * info.modes);
		snprintf(name, sizeof name, "flex_M:%d", i);
		print(name, M, info.modes * info.modes);
	}
	free(E);
}

/* ---- loops ----------------------------------------------------------------------------------------- */

static void print_loop_wrenches(Case *c, const char *name) {
	const int loops = cal_model_loop_count(c->model);
	double *x = calloc(9 * (size_t)loops, sizeof *x);
	for (int i = 0; i < loops; i++) {
		CalSpatial f;
		CalVec3 p;
		must(cal_loop_wrench(c->model, c->work, i, &f, &p), "wrench of a loop");
		memcpy(x + 9 * i, &f, sizeof f);
		memcpy(x + 9 * i + 6, &p, sizeof p);
	}
	print(name, x, 9 * loops);
	free(x);
}

static void print_loops(Case *c) {
	const int rows = cal_model_row_count(c->model);
	uint8_t *row = calloc((size_t)rows, 1), *speed = calloc((size_t)c->nu, 1);
	double *lambda = calloc((size_t)rows, sizeof *lambda), error;
	int rank, count;
	CalMobility m;
	must(cal_forward_dynamics(c->model, &c->state, &c->input, c->work, c->out), "forward");
	print_loop_wrenches(c, "loop_wrenches");
	must(cal_loop_error(c->model, c->work, &error), "error");
	print("loop_error", &error, 1);
	must(cal_loop_rank(c->model, c->work, &rank, row), "rank");
	print_integers("rank", &rank, 1);
	print_bytes("rank_rows", row, rows);
	must(cal_loop_mobility(c->model, &c->state, NULL, c->work, &m, row, speed), "mobility");
	print_integers("mobility", (const int[]){m.dofs, m.rank, m.mobility}, 3);
	print_bytes("mobility_rows", row, rows);
	print_bytes("mobility_speeds", speed, c->nu);
	must(cal_loop_independent(c->model, &c->state, c->work, speed, &count), "independent");
	print_bytes("independent_speeds", speed, c->nu);
	must(cal_impulse(c->model, &c->state, NULL, c->work, c->out, NULL, NULL), "impulse");
	must(cal_loop_multipliers(c->model, c->work, lambda), "impulses");
	print("loop_impulses", lambda, rows);
	print_loop_wrenches(c, "loop_impulse_wrenches");
	free(row);
	free(speed);
	free(lambda);
}

/* A state off the loops, brought back. */
static void print_projected_state(Case *c) {
	CalState s;
	CalProjectReport report;
	must(cal_state_create(c->model, &s), "state");
	cal_state_copy(c->model, &c->state, &s);
	for (int i = 0; i < c->nu; i++)
		c->out[i] = 0.01 * c->udot[i];
	cal_config_integrate(c->model, s.q, c->out, s.q);
	must(cal_loop_project(c->model, &s, NULL, c->work, &report), "project");
	print("project_q", s.q, cal_model_q_count(c->model));
	print("project_u", s.u, c->nu);
	print("project_left", (const double[]){report.iterations, report.residual, report.rate}, 3);
	cal_state_destroy(&s);
}

static void print_mechanisms(Case *c) {
	for (int i = 0; i < cal_model_mechanism_count(c->model); i++) {
		CalMechanismInfo info;
		const double *q, *u, *a;
		must(cal_model_mechanism(c->model, i, &info), "mechanism");
		must(cal_mechanism_motion(c->model, i, &c->state, c->udot, c->work, &q, &u, &a), "motion of a mechanism");
		print("mechanism_q", q, cal_model_q_count(info.model));
		print("mechanism_u", u, cal_model_u_count(info.model));
		print("mechanism_udot", a, cal_model_u_count(info.model));
	}
}

/* ---- independent speeds ---------------------------------------------------------------------------- */

static void print_factor(Case *c, CalProjection *p, int n) {
	double one;
	must(cal_projected_factor(p, &c->state, c->work), "projected factor");
	must(cal_projected_solve(p, c->udot, c->out), "projected solve");
	print("projected_solve", c->out, n);
	must(cal_projected_logdet(p, &one), "projected logdet");
	print("projected_logdet", &one, 1);
	must(cal_projected_innovations_diagonal(p, c->out), "projected diagonal");
	print("projected_diagonal", c->out, n);
	must(cal_projected_innovations_mul(p, c->udot, c->out), "L");
	print("projected_innovations", c->out, n);
	must(cal_projected_innovations_mul_transpose(p, c->udot, c->out), "L'");
	print("projected_innovations_transpose", c->out, n);
	must(cal_projected_innovations_solve(p, c->udot, c->out), "L^-1");
	print("projected_innovations_solve", c->out, n);
	must(cal_projected_innovations_solve_transpose(p, c->udot, c->out), "L'^-1");
	print("projected_innovations_solve_transpose", c->out, n);
}

static void print_independent(Case *c) {
	CalProjection *p;
	double *second = calloc((size_t)c->nu, sizeof *second);
	must(cal_projection_create(c->model, &p), "projection");
	must(cal_projection_update(p, &c->state, NULL, c->work), "update");
	const int n = cal_projection_count(p);
	print("projection_map", cal_projection_map(p), c->nu * n);
	print("projection_drift", cal_projection_drift(p), c->nu);
	print("projection_bias", cal_projection_bias(p), c->nu);
	must(cal_projection_speeds(p, c->udot, c->out), "speeds");
	print("projection_speeds", c->out, c->nu);
	must(cal_projection_accelerations(p, c->udot, c->out), "accelerations");
	print("projection_accelerations", c->out, c->nu);
	must(cal_projection_forces(p, c->input.tau, c->out), "forces");
	print("projection_forces", c->out, n);
	must(cal_projected_mass(p, &c->state, c->work, c->out), "projected mass");
	print("projected_mass", c->out, n * n);
	must(cal_projected_inverse_dynamics(p, &c->state, c->udot, NULL, c->work, c->out), "projected inverse");
	print("projected_inverse", c->out, n);
	must(cal_projected_actuation(p, NULL, c->out, second), "actuation");
	print("projected_actuation", second, c->nu);
	must(cal_projected_forward_dynamics(p, &c->state, &c->input, c->work, second, c->out), "projected forward");
	print("projected_forward", second, n);
	print("projected_udot", c->out, c->nu);
	print_factor(c, p, n);
	cal_projection_destroy(p);
	free(second);
}

/* ---- held matrices, branches ------------------------------------------------------------------------ */

static void print_form(Case *c) {
	const CalFormulationOptions options = {
		.kind = CAL_FORMULATION_SYSTEM, .retain = 10, .unretained = CAL_UNRETAINED_FROZEN};
	CalSystemForm *form;
	double *x = calloc((size_t)c->nu, sizeof *x), one;
	must(cal_system_form_create(c->model, &options, NULL, &form), "form");
	must(cal_system_form_update(form, &c->state, NULL, c->work), "form update");
	const CalSystemFormInfo info = cal_system_form_info(form);
	print("form_info",
	      (const double[]){info.modes, info.retained, info.highest, info.next, info.time, (double)info.updates}, 6);
	must(cal_system_form_dynamics(form, &c->state, &c->input, c->work, c->out, x), "form dynamics");
	print("form_udot", c->out, c->nu);
	print("form_force", x, c->nu);
	one = cal_system_form_missing_energy(form);
	print("form_missing", &one, 1);
	memcpy(x, c->input.tau, sizeof *x * (size_t)c->nu);
	cal_system_form_filter(form, x);
	print("form_filter", x, c->nu);
	one = cal_system_form_norm(form, c->udot);
	print("form_norm", &one, 1);
	memcpy(x, c->state.u, sizeof *x * (size_t)c->nu);
	one = cal_system_form_project(form, x);
	print("form_project", x, c->nu);
	print("form_lost", &one, 1);
	cal_system_form_destroy(form);
	free(x);
}

static void print_branches(Case *c) {
	const CalBranchOptions options = {
		.threads = 1, .branches = 2, .forced = 1, .cross_loops = CAL_CROSS_LOOPS_ALWAYS, .not_pinned = 1};
	CalBranches *b;
	CalError error = {0};
	must(cal_branches_create(c->model, &options, &b, &error), "branches");
	must(cal_branches_forward(b, &c->state, &c->input, c->out), "forward in branches");
	print("branches_forward", c->out, c->nu);
	print("branches_about",
	      (const double[]){cal_branches_count(b), cal_branches_work(b), cal_branches_speedup(b), cal_branches_error(b),
	                       cal_branches_cross_loops(b)},
	      5);
	if (cal_branches_cross_loops(b)) {
		must(cal_branches_multipliers(b, c->out), "multipliers in branches");
		print("branches_multipliers", c->out, cal_model_row_count(c->model));
	}
	must(cal_branches_implicit(b, &c->state, &c->state, &c->input, 1e-3, c->out), "implicit in branches");
	print("branches_implicit", c->out, c->nu);
	cal_branches_destroy(b);
}

/* Mass properties of a mesh in mm, by every solid that there is. */
static int print_mesh(const char *path) {
	CalMeshFile *file;
	CalMeshCheck check;
	CalError error = {0};
	must(cal_mesh_file_read(path, (CalVec3){1e-3, 1e-3, 1e-3}, NULL, &file, &error), "mesh");
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	must(cal_mesh_check(&mesh, NULL, &check, &error), "mesh");
	print("mesh", (const double[]){check.volume, check.area, cal_mesh_question_unit(check.lower, check.upper, 1.0)}, 3);
	for (int i = 0; i < CAL_MESH_SOLID_COUNT; i++) {
		const CalMeshMassOptions options = {.solid = (CalMeshSolid)i, .density = 2700};
		CalMassProperties p;
		must(cal_mesh_mass_properties(path, &mesh, &options, NULL, &p, &error), "mass properties");
		print(cal_mesh_solid_name(options.solid), &p.mass, 13);
	}
	cal_mesh_file_destroy(file);
	return 0;
}

int main(int argc, char **argv) {
	if (argc == 3 && strcmp(argv[1], "--mesh") == 0)
		return print_mesh(argv[2]);
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
	print_locked(&c);
	print_given(&c);
	print_wrenches(&c);
	print_flexible(&c);
	print_independent(&c);
	print_form(&c);
	print_branches(&c);
	print_mechanisms(&c);
	if (cal_model_row_count(model) > 0) {
		print_loops(&c);
		print_projected_state(&c);
	}
	cal_work_destroy(c.work);
	cal_state_destroy(&c.state);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
	free(tau);
	free(c.udot);
	free(c.out);
	return 0;
}
