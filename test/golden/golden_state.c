// SPDX-License-Identifier: Apache-2.0
/*
 * golden_state.c — a case of kind "state": everything that its `expected` holds.
 *
 * Accelerations, and what follows from them, are checked to the tolerance of the file, the rest (which
 * needs no solution of a linear system) by 1e-11. Both solvers compute the accelerations. The scale of a
 * quantity is its own maximum; a thousandth of its natural size stands below it as a floor.
 */
#include <math.h>
#include <string.h>

#include "golden/golden.h"

static const double exact = 1e-11; // tolerance of what needs no linear solve
static const double small = 1e-3;  // floor of a scale, in natural units

static GoldenSizes natural_sizes(const TreeNode *root) {
	const TreeNode *e = tree_get(root, "expected"), *bodies = tree_get(e, "bodies"), *nodes = tree_get(e, "nodes");
	static const char *const forces[] = {"bias",        "gen_gravity",  "gen_applied",
	                                     "gen_elastic", "gen_external", "gen_constraint"};
	GoldenSizes s = {0};
	s.length = fmax(golden_pool_magnitude(bodies, "r"), golden_pool_magnitude(nodes, "r"));
	s.length = fmax(s.length, golden_magnitude(tree_get(e, "com")));
	s.length = s.length > 0 ? s.length : 1;
	s.mass = golden_magnitude(tree_get(e, "mass"));
	s.gravity = golden_magnitude(tree_get(tree_get(root, "model"), "gravity"));
	s.energy = golden_magnitude(tree_get(e, "kinetic_energy"));
	s.momentum = sqrt(2 * s.energy * s.mass);
	s.velocity = fmax(golden_pool_magnitude(bodies, "v"), golden_pool_magnitude(bodies, "w"));
	s.acceleration = fmax(s.gravity, golden_pool_magnitude(bodies, "a"));
	s.force = s.mass * s.acceleration;
	s.force = fmax(s.force, golden_pool_magnitude(bodies, "joint_force"));
	s.generalized = s.force * s.length;
	for (int i = 0; i < (int)(sizeof forces / sizeof forces[0]); i++)
		s.generalized = fmax(s.generalized, golden_magnitude(tree_get(e, forces[i])));
	return s;
}

/* ---- generalized quantities ---------------------------------------------------------------- */

static CalStatus check_forces(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	double *x = c->scratch;
	const double floor = small * s->generalized;
	CalStatus status = golden_numeric(c, cal_bias_forces(c->model, &c->state, c->work, x), "cal_bias_forces");
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "bias", "", tree_get(e, "bias"), x, floor, exact);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_gravity_forces(c->model, &c->state, c->work, x), "cal_gravity_forces");
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "gen_gravity", "", tree_get(e, "gen_gravity"), x, floor, exact);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_elastic_forces(c->model, &c->state, c->work, x), "cal_elastic_forces");
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "gen_elastic", "", tree_get(e, "gen_elastic"), x, floor, exact);
	if (status == CAL_OK)
		status =
			golden_numeric(c, cal_external_forces(c->model, &c->state, &c->input, c->work, x), "cal_external_forces");
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "gen_external", "", tree_get(e, "gen_external"), x, floor, exact);
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "gen_applied", "", tree_get(e, "gen_applied"), c->tau, floor, exact);
	return status;
}

static CalStatus check_mass_matrix(GoldenCase *c, const TreeNode *expected) {
	if (!expected)
		return CAL_OK;
	const CalStatus status =
		golden_numeric(c, cal_mass_matrix(c->model, &c->state, c->work, c->square), "cal_mass_matrix");
	return status == CAL_OK ? golden_compare_matrix(c, "mass_matrix", expected, c->square, c->speed, c->nu, exact)
	                        : status;
}

/* The accelerations of the file need the forces of the file, those of its constraints among them. */
static CalStatus check_inverse(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	double *udot = c->scratch, *tau = c->scratch + c->nu, *constraint = udot;
	const TreeNode *speeds = tree_get(e, "prescribed_speeds"), *given = tree_get(e, "udot");
	if (!given || !tree_get(e, "gen_applied"))
		return CAL_OK;
	CalStatus status = golden_numbers(c, given, tau, c->nu);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < c->nu; i++)
		udot[c->speed[i]] = tau[i];
	status = golden_numeric(c, cal_inverse_dynamics(c->model, &c->state, udot, &c->input, c->work, tau),
	                        "cal_inverse_dynamics");
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(e, "gen_constraint"), constraint, c->nu);
	for (int i = 0; status == CAL_OK && i < c->nu; i++)
		tau[c->speed[i]] -= constraint[i];
	for (int i = 0; status == CAL_OK && speeds && i < speeds->count; i++) {
		double at, force;
		const TreeNode *forces = tree_get(e, "prescribed_force");
		status = golden_number(c, speeds->items[i], -1, &at);
		if (status == CAL_OK && (!(at >= 0 && at < c->nu) || !forces || forces->count != speeds->count))
			status = golden_fail(c, speeds, "prescribed_speeds and prescribed_force do not fit the model");
		if (status == CAL_OK)
			status = golden_number(c, forces->items[i], 0, &force);
		if (status == CAL_OK)
			tau[c->speed[(int)at]] -= force;
	}
	if (status != CAL_OK)
		return status;
	return golden_compare_speeds(c, "inverse dynamics", "", tree_get(e, "gen_applied"), tau, s->generalized, exact);
}

static CalStatus check_udot(GoldenCase *c, const TreeNode *e, const char *solver, const GoldenSizes *s, double *udot) {
	double *force = c->scratch;
	const TreeNode *speeds = tree_get(e, "prescribed_speeds"), *forces = tree_get(e, "prescribed_force");
	CalStatus status = golden_numeric(c, cal_hybrid_dynamics(c->model, &c->state, &c->input, c->work, udot, force),
	                                  "cal_hybrid_dynamics");
	if (status == CAL_OK)
		status =
			golden_compare_speeds(c, "udot", solver, tree_get(e, "udot"), udot, small * s->acceleration, c->tolerance);
	const double scale = golden_magnitude(forces);
	for (int i = 0; status == CAL_OK && speeds && forces && i < speeds->count && i < forces->count; i++) {
		double at;
		status = golden_number(c, speeds->items[i], -1, &at);
		if (status == CAL_OK && !(at >= 0 && at < c->nu))
			status = golden_fail(c, speeds, "prescribed_speeds names a speed that is not there");
		if (status == CAL_OK)
			status = golden_compare(c, "prescribed_force", solver, forces->items[i], &force[c->speed[(int)at]], 1,
			                        scale, c->tolerance);
	}
	return status;
}

/* ---- energy and momentum -------------------------------------------------------------------- */

static CalStatus check_energy(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	CalEnergy energy;
	const double weight = s->mass * s->gravity * s->length;
	const double sum = s->energy + weight + golden_magnitude(tree_get(e, "strain_energy"));
	CalStatus status = golden_numeric(c, cal_energy(c->model, &c->state, c->work, &energy), "cal_energy");
	energy.elastic += c->spring_energy;
	energy.total += c->spring_energy;
	if (status == CAL_OK)
		status = golden_compare(c, "kinetic_energy", "", tree_get(e, "kinetic_energy"), &energy.kinetic, 1, small * sum,
		                        exact);
	if (status == CAL_OK)
		status = golden_compare(c, "gravity_energy", "", tree_get(e, "gravity_energy"), &energy.gravity, 1, small * sum,
		                        exact);
	if (status == CAL_OK)
		status = golden_compare(c, "strain_energy", "", tree_get(e, "strain_energy"), &energy.elastic, 1, small * sum,
		                        exact);
	if (status == CAL_OK)
		status = golden_compare(c, "total_energy", "", tree_get(e, "total_energy"), &energy.total, 1, sum, exact);
	return status;
}

static CalStatus check_momentum(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	CalMomentum p;
	const double linear = small * s->momentum;
	const double angular = fmax(linear * s->length, small * golden_magnitude(tree_get(e, "angular_momentum_origin")));
	CalStatus status = golden_numeric(c, cal_momentum(c->model, &c->state, c->work, &p), "cal_momentum");
	if (status == CAL_OK)
		status = golden_compare(c, "mass", "", tree_get(e, "mass"), &p.mass, 1, 0, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "com", "", tree_get(e, "com"), p.com, small * s->length, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "linear_momentum", "", tree_get(e, "linear_momentum"), p.linear, linear, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "angular_momentum_origin", "", tree_get(e, "angular_momentum_origin"),
		                            p.angular_origin, angular, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "angular_momentum_com", "", tree_get(e, "angular_momentum_com"), p.angular_com,
		                            angular, exact);
	return status;
}

/* ---- frames and joints ----------------------------------------------------------------------- */

/* Largest values of each field over all bodies or nodes: one scale for all of them. */
typedef struct FrameScales {
	GoldenMotionScales motion;
	double a, alpha;
} FrameScales;

static FrameScales frame_scales(const TreeNode *pool, const GoldenSizes *s) {
	FrameScales f;
	GoldenMotionScales *m = &f.motion;
	m->r = fmax(golden_pool_magnitude(pool, "r"), small * s->length);
	m->w = golden_pool_magnitude(pool, "w");
	m->v = fmax(golden_pool_magnitude(pool, "v"), small * m->w * s->length);
	m->w = fmax(m->w, small * m->v / s->length);
	f.a = fmax(golden_pool_magnitude(pool, "a"), small * s->gravity);
	f.alpha = fmax(golden_pool_magnitude(pool, "alpha"), small * f.a / s->length);
	f.a = fmax(f.a, small * f.alpha * s->length);
	return f;
}

CalStatus golden_compare_motion(GoldenCase *c, const char *object, const TreeNode *e, int node,
                                const GoldenMotionScales *scales, double tolerance) {
	CalPose pose;
	CalSpatial v;
	CalStatus status = golden_numeric(c, cal_node_pose(c->model, c->work, node, &pose), "cal_node_pose");
	if (status == CAL_OK)
		status = golden_numeric(c, cal_node_velocity(c->model, c->work, node, &v), "cal_node_velocity");
	if (status == CAL_OK)
		status = golden_compare_vec(c, "r", object, tree_get(e, "r"), pose.r, scales->r, tolerance);
	if (status == CAL_OK)
		status = golden_compare(c, "R", object, tree_get(e, "R"), &pose.R.m[0][0], 9, 1, tolerance);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "v", object, tree_get(e, "v"), v.linear, scales->v, tolerance);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "w", object, tree_get(e, "w"), v.angular, scales->w, tolerance);
	return status;
}

static CalStatus check_frame(GoldenCase *c, const char *object, const TreeNode *e, int node, const FrameScales *f) {
	CalSpatial a;
	CalStatus status = golden_compare_motion(c, object, e, node, &f->motion, exact);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_node_acceleration(c->model, c->work, node, &a), "cal_node_acceleration");
	if (status == CAL_OK)
		status = golden_compare_vec(c, "a", object, tree_get(e, "a"), a.linear, f->a, c->tolerance);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "alpha", object, tree_get(e, "alpha"), a.angular, f->alpha, c->tolerance);
	return status;
}

static CalStatus check_frames(GoldenCase *c, const TreeNode *e, const double *udot, const GoldenSizes *s) {
	const TreeNode *bodies = tree_get(e, "bodies"), *nodes = tree_get(e, "nodes");
	const FrameScales body_scales = frame_scales(bodies, s), node_scales = frame_scales(nodes, s);
	CalStatus status = golden_numeric(c, cal_kinematics(c->model, &c->state, udot, c->work), "cal_kinematics");
	for (int i = 0; status == CAL_OK && bodies && bodies->kind == TREE_MAP && i < bodies->count; i++) {
		const int node = cal_model_find_node(c->model, tree_key(bodies, i)->text);
		status = node < 0 ? golden_fail(c, tree_key(bodies, i), "unknown body")
		                  : check_frame(c, tree_key(bodies, i)->text, bodies->items[i], node, &body_scales);
	}
	for (int i = 0; status == CAL_OK && nodes && nodes->kind == TREE_MAP && i < nodes->count; i++) {
		const int node = cal_model_find_node(c->model, tree_key(nodes, i)->text);
		status = node < 0 ? golden_fail(c, tree_key(nodes, i), "unknown node")
		                  : check_frame(c, tree_key(nodes, i)->text, nodes->items[i], node, &node_scales);
	}
	return status;
}

static CalStatus check_reactions(GoldenCase *c, const TreeNode *e, double *udot, const GoldenSizes *s) {
	const TreeNode *bodies = tree_get(e, "bodies");
	const double force = fmax(golden_pool_magnitude(bodies, "joint_force"), small * s->force);
	const double moment = fmax(golden_pool_magnitude(bodies, "joint_moment"), small * s->force * s->length);
	CalStatus status = CAL_OK;
	if (c->rows > 0) // the loops' forces are those of the last forward dynamics
		status = golden_numeric(c, cal_hybrid_dynamics(c->model, &c->state, &c->input, c->work, udot, c->scratch),
		                        "cal_hybrid_dynamics");
	if (status == CAL_OK)
		status = golden_numeric(c, cal_reactions(c->model, &c->state, udot, &c->input, c->work), "cal_reactions");
	for (int i = 0; status == CAL_OK && bodies && bodies->kind == TREE_MAP && i < bodies->count; i++) {
		CalSpatial f;
		const char *name = tree_key(bodies, i)->text;
		const int body = cal_model_find_body(c->model, name);
		if (body < 0)
			return golden_fail(c, tree_key(bodies, i), "unknown body");
		status = golden_numeric(c, cal_joint_reaction(c->model, c->work, body, &f), "cal_joint_reaction");
		if (status == CAL_OK)
			status = golden_compare_vec(c, "joint_force", name, tree_get(bodies->items[i], "joint_force"), f.linear,
			                            force, c->tolerance);
		if (status == CAL_OK)
			status = golden_compare_vec(c, "joint_moment", name, tree_get(bodies->items[i], "joint_moment"), f.angular,
			                            moment, c->tolerance);
	}
	return status;
}

/* ---- the case -------------------------------------------------------------------------------- */

static CalStatus run_solver(GoldenCase *c, CalSolver solver, const TreeNode *e, const GoldenSizes *s) {
	const int recursive = solver == CAL_SOLVER_RECURSIVE;
	const char *label = recursive ? "(recursive)" : "(dense)";
	CalStatus status = golden_bind(c, solver);
	if (status == CAL_OK)
		status = golden_set_input(c, tree_get(c->root, "applied"), tree_get(c->root, "prescribed"));
	double *udot = status == CAL_OK ? c->scratch + c->nu : NULL;
	if (status == CAL_OK && recursive)
		status = check_inverse(c, e, s);
	if (status == CAL_OK)
		status = check_udot(c, e, label, s, udot);
	if (status == CAL_OK)
		status = golden_check_multipliers(c, e, label, s);
	if (status == CAL_OK && recursive)
		status = golden_check_rows(c, e, s);
	if (status == CAL_OK && recursive)
		status = check_frames(c, e, udot, s);
	if (status == CAL_OK && recursive)
		status = check_reactions(c, e, udot, s);
	if (status == CAL_OK && recursive)
		status = check_forces(c, e, s);
	if (status == CAL_OK && recursive)
		status = check_mass_matrix(c, tree_get(e, "mass_matrix"));
	if (status == CAL_OK && recursive)
		status = golden_compare_count(c, "n_speeds", "", tree_get(e, "n_speeds"), c->nu);
	if (status == CAL_OK && recursive)
		status = golden_compare_count(c, "constraint_rows", "", tree_get(e, "constraint_rows"), c->rows);
	if (status == CAL_OK && recursive)
		status = check_energy(c, e, s);
	if (status == CAL_OK && recursive)
		status = check_momentum(c, e, s);
	golden_unbind(c);
	return status;
}

/* max(1e-11, 100 x error of a plain double run), and at most 1e-10 unless the case is ill conditioned. */
static CalStatus read_tolerance(GoldenCase *c) {
	double error, condition;
	const TreeNode *accuracy = tree_get(c->root, "accuracy");
	CalStatus status = golden_number(c, tree_get(accuracy, "double_vs_mp_udot"), 0, &error);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(accuracy, "cond_mass_matrix"), 1, &condition);
	if (status != CAL_OK)
		return status;
	c->tolerance = fmax(1e-11, 100 * error);
	if (condition < 1e6)
		c->tolerance = fmin(c->tolerance, 1e-10);
	return CAL_OK;
}

CalStatus golden_run_state(GoldenCase *c) {
	const TreeNode *e = tree_get(c->root, "expected");
	if (!e || !tree_get(e, "udot"))
		return golden_fail(c, c->root, "the case has no expected.udot");
	const GoldenSizes sizes = natural_sizes(c->root);
	CalStatus status = golden_check_state_keys(c, e);
	if (status == CAL_OK)
		status = read_tolerance(c);
	if (status == CAL_OK)
		status = run_solver(c, CAL_SOLVER_DENSE, e, &sizes);
	if (status == CAL_OK)
		status = run_solver(c, CAL_SOLVER_RECURSIVE, e, &sizes);
	return status;
}
