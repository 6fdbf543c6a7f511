// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops.c — closed loops: the equations of constrained motion on random trees with loops of joint types, chains of
 * four-bars against their closed form through singular positions, and what projections and errors do.
 *
 * A random loop is closed where the tree stands: both frames at one point, their axes those of the world.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_tree.h"

enum { TREES = 150 };

/* ---- random trees ------------------------------------------------------------------------------- */

static CalVec3 transposed_mul(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
	                 R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
	                 R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z};
}

/* Quaternion of R', from the largest of its parts. */
static CalQuat quat_of_transposed(const CalMat3 *R) {
	const double d[4] = {1 + R->m[0][0] + R->m[1][1] + R->m[2][2], 1 + R->m[0][0] - R->m[1][1] - R->m[2][2],
	                     1 - R->m[0][0] + R->m[1][1] - R->m[2][2], 1 - R->m[0][0] - R->m[1][1] + R->m[2][2]};
	const double x = R->m[1][2] - R->m[2][1], y = R->m[2][0] - R->m[0][2], z = R->m[0][1] - R->m[1][0];
	const double xy = R->m[0][1] + R->m[1][0], xz = R->m[0][2] + R->m[2][0], yz = R->m[1][2] + R->m[2][1];
	if (d[0] >= d[1] && d[0] >= d[2] && d[0] >= d[3])
		return (CalQuat){d[0], x, y, z};
	if (d[1] >= d[2] && d[1] >= d[3])
		return (CalQuat){x, d[1], xy, xz};
	return d[2] >= d[3] ? (CalQuat){y, xy, d[2], yz} : (CalQuat){z, xz, yz, d[3]};
}

/* A frame on a node at a point of the world, with the world's axes. */
static CalPlacement frame_at(const CalPose *node, CalVec3 point) {
	const CalVec3 r = {point.x - node->r.x, point.y - node->r.y, point.z - node->r.z};
	return (CalPlacement){transposed_mul(&node->R, r), quat_of_transposed(&node->R)};
}

/* Ties two random nodes where they stand. */
static void close_here(Fixture *f, Rng *r, int index, CalLoopType type) {
	CalLoopDef def = cal_loop_def(type);
	CalPose pose[2];
	CalNodeId id[2];
	CalError error = {0};
	char name[16];
	snprintf(name, sizeof name, "loop%d", index);
	int on[2] = {-1, -1};
	for (int side = 0, tries = 0; side < 2; tries++) { // the first on a body, the second on another or on the ground
		CalNodeInfo info;
		const int node = f->node[rng_int(r, f->ref->node_count)];
		check_ok(f->seed, cal_model_node(f->model, node, &info));
		if (side == 0 ? info.body < 0 : info.body == on[0] && tries < 30)
			continue;
		check_ok(f->seed, cal_node_pose(f->model, f->work, node, &pose[side]));
		id[side] = info.id;
		on[side++] = info.body;
	}
	if (on[0] == on[1]) {
		id[1] = (CalNodeId){0};
		pose[1] = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	}
	const CalVec3 point = rng_vector(r, 1);
	def.name = name;
	def.a = frame_at(&pose[0], point);
	def.length = 0.7;
	def.b = frame_at(&pose[1], type == CAL_LOOP_DISTANCE ? (CalVec3){point.x, point.y + 0.7, point.z} : point);
	check_ok(f->seed, cal_desc_close_loop(f->desc, id[0], &def, id[1], NULL, &error));
}

/* The tree of a fixture with loops: a model of its own, at a state that satisfies them. */
typedef struct Closed {
	CalModel *model;
	CalWork *work;
	CalState state;
	int n, m;
	double *G, *gamma, *udot, *lambda, *tau, *rate;
} Closed;

static double *numbers(size_t count) {
	double *x = calloc(count + 1, sizeof *x);
	assert_non_null(x);
	return x;
}

static Closed closed_create(Fixture *f, Rng *r, int loops) {
	Closed c;
	check_ok(f->seed, cal_kinematics(f->model, &f->state, NULL, f->work));
	for (int i = 0; i < loops; i++)
		close_here(f, r, i, (CalLoopType)rng_int(r, CAL_LOOP_KNIFE + 1));
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &c.model, NULL));
	check_ok(f->seed, cal_work_create(c.model, &c.work));
	check_ok(f->seed, cal_state_create(c.model, &c.state));
	cal_state_copy(c.model, &f->state, &c.state);
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model);
	c.G = numbers((size_t)(c.m * c.n)), c.gamma = numbers((size_t)c.m), c.udot = numbers((size_t)c.n);
	c.lambda = numbers((size_t)c.m), c.tau = numbers((size_t)c.n), c.rate = numbers((size_t)c.m);
	return c;
}

static void closed_destroy(Closed *c) {
	cal_work_destroy(c->work);
	cal_state_destroy(&c->state);
	cal_model_destroy(c->model);
	free(c->G), free(c->gamma), free(c->udot), free(c->lambda), free(c->tau), free(c->rate);
}

/* G u is the rate of the rows, and their derivative along the motion is G udot - gamma. */
static void check_derivatives(uint64_t seed, Closed *c) {
	double *value[2] = {numbers((size_t)c->m), numbers((size_t)c->m)}, *dq = numbers((size_t)c->n);
	double *rate[2] = {numbers((size_t)c->m), numbers((size_t)c->m)}, *x = numbers((size_t)c->m);
	const double h = 1e-5;
	CalState moved;
	check_ok(seed, cal_state_create(c->model, &moved));
	check_ok(seed, cal_loop_residual(c->model, &c->state, c->work, NULL, c->rate));
	check_ok(seed, cal_loop_jacobian(c->model, &c->state, c->work, c->G, c->gamma));
	double scale = 1;
	for (int i = 0; i < c->m; i++) {
		x[i] = 0;
		for (int k = 0; k < c->n; k++) {
			x[i] += c->G[i * c->n + k] * c->state.u[k];
			scale = fmax(scale, fabs(c->G[i * c->n + k] * c->state.u[k]));
		}
	}
	check_close_scaled(seed, "G u", c->m, x, c->rate, scale, 1e-13);
	for (int side = 0; side < 2; side++) {
		for (int k = 0; k < c->n; k++)
			dq[k] = (side ? h : -h) * c->state.u[k];
		cal_config_integrate(c->model, c->state.q, dq, moved.q);
		memcpy(moved.u, c->state.u, sizeof(double) * (size_t)c->n);
		check_ok(seed, cal_loop_residual(c->model, &moved, c->work, value[side], rate[side]));
	}
	for (int i = 0; i < c->m; i++) {
		value[0][i] = (value[1][i] - value[0][i]) / (2 * h);
		rate[0][i] = -(rate[1][i] - rate[0][i]) / (2 * h);
	}
	for (int l = 0; l < cal_model_loop_count(c->model); l++) {
		CalLoopInfo info;
		check_ok(seed, cal_model_loop(c->model, l, &info));
		if (info.type == CAL_LOOP_KNIFE) // has no position
			value[0][info.row] = c->rate[info.row];
	}
	check_close_scaled(seed, "rates by differences", c->m, value[0], c->rate, scale, 1e-6);
	check_close_scaled(seed, "gamma by differences", c->m, rate[0], c->gamma, scale * scale, 1e-6);
	for (int i = 0; i < 2; i++)
		free(value[i]), free(rate[i]);
	free(dq), free(x);
	cal_state_destroy(&moved);
}

/*
 * M udot + h = Q + G'lambda, and G udot = gamma. Where rows depend on others, a loop closed at random cannot keep them
 * all; what is left then has no part that any force could change. Returns whether no row depended.
 */
static int check_motion(uint64_t seed, Closed *c, const Fixture *f) {
	double *x = numbers((size_t)c->m), *need = numbers((size_t)c->n);
	const CalInput input = {.tau = f->tau};
	check_ok(seed, cal_forward_dynamics(c->model, &c->state, &input, c->work, c->udot));
	int rank;
	check_ok(seed, cal_loop_multipliers(c->model, c->work, c->lambda));
	check_ok(seed, cal_loop_rank(c->model, c->work, &rank, NULL));
	check_ok(seed, cal_inverse_dynamics(c->model, &c->state, c->udot, NULL, c->work, need));
	check_ok(seed, cal_loop_jacobian(c->model, &c->state, c->work, c->G, c->gamma));
	double scale = 1, force = 1;
	for (int i = 0; i < c->m; i++) {
		for (int k = 0; k < c->n; k++) {
			x[i] += c->G[i * c->n + k] * c->udot[k];
			c->tau[k] += c->G[i * c->n + k] * c->lambda[i];
			scale = fmax(scale, fabs(c->G[i * c->n + k] * c->udot[k]));
			force = fmax(force, fabs(c->G[i * c->n + k] * c->lambda[i]));
		}
	}
	for (int k = 0; k < c->n; k++)
		c->tau[k] += f->tau[k];
	check_status(seed, cal_loop_rank(c->model, c->work, &rank, NULL), CAL_ERR_STAGE); // the rows were formed anew
	if (rank == c->m)
		check_close_scaled(seed, "G udot", c->m, x, c->gamma, scale, 1e-8);
	check_close_scaled(seed, "equations of motion", c->n, need, c->tau, force, 1e-9);
	for (int k = 0; k < c->n; k++)
		need[k] = 0;
	for (int i = 0; i < c->m; i++) {
		for (int k = 0; k < c->n; k++)
			need[k] += c->G[i * c->n + k] * (x[i] - c->gamma[i]);
	}
	check_that(seed, max_abs(c->n, need) <= 1e-7 * (1 + scale));
	free(x), free(need);
	return rank == c->m;
}

static void random_loops_obey_their_equations(void **state) {
	(void)state;
	int full = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		Rng r = rng_make(seed);
		options.springs = 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		Closed c = closed_create(f, &r, 1 + (int)(seed % 3));
		check_ok(seed, cal_loop_residual(c.model, &c.state, c.work, c.lambda, NULL));
		check_that(seed, max_abs(c.m, c.lambda) < 1e-12);
		check_derivatives(seed, &c);
		check_ok(seed, cal_loop_project(c.model, &c.state, NULL, c.work, NULL));
		full += check_motion(seed, &c, f);
		closed_destroy(&c);
		fixture_destroy(f);
	}
	assert_true(full > TREES / 4 && full < TREES);
}

/* ---- four-bars ------------------------------------------------------------------------------------ */

/* windows + 1 standing rods hinged to the ground, one across each window, closed by a hinge between bodies. */
static CalModel *four_bars(int windows) {
	CalDesc *desc;
	CalModel *model;
	CalError error = {0};
	CalNodeId top[16];
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, -9.81, 0}));
	CalBodyDef rod = cal_body_def();
	rod.mass = 1, rod.com = (CalVec3){0.5, 0, 0};
	rod.inertia = (CalMat3){{{0, 0, 0}, {0, 1 / 12.0, 0}, {0, 0, 1 / 12.0}}};
	for (int i = 0; i < 2 * windows + 1; i++) {
		const int across = i > windows, window = across ? i - windows : i;
		CalBodyId body;
		CalNodeId end;
		CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
		CalNodeDef node = cal_node_def();
		char name[16];
		snprintf(name, sizeof name, "%s%d", across ? "h" : "v", window);
		rod.name = hinge.name = name, node.name = "end", node.placement.position = (CalVec3){1, 0, 0};
		if (!across)
			hinge.inboard.position = (CalVec3){window, 0, 0};
		check_ok(0, cal_desc_add_body(desc, &rod, &body, &error));
		check_ok(0, cal_desc_add_node(desc, body, &node, &end, &error));
		check_ok(0, cal_desc_attach(desc, across ? top[window - 1] : (CalNodeId){0}, &hinge,
		                            cal_desc_body_node(desc, body), NULL, &error));
		if (!across) {
			top[window] = end;
			continue;
		}
		CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
		loop.name = name;
		check_ok(0, cal_desc_close_loop(desc, end, &loop, top[window], NULL, &error));
	}
	check_ok(0, cal_model_compile(desc, NULL, &model, &error));
	cal_desc_destroy(desc);
	return model;
}

/* Standing rods at angle th, the others level. */
static void set_angle(const CalModel *model, double th, double rate, CalState *s) {
	for (int b = 0; b < cal_model_body_count(model); b++) {
		CalBodyInfo info;
		check_ok(0, cal_model_body(model, b, &info));
		s->q[info.q] = info.name[0] == 'v' ? th : -th;
		s->u[info.u] = info.name[0] == 'v' ? rate : -rate;
	}
}

static void four_bars_have_their_closed_form(void **state) {
	(void)state;
	for (int windows = 1; windows <= 10; windows++) {
		CalModel *model = four_bars(windows);
		CalWork *work;
		CalState s;
		const double N = windows, th = 0.3 + 0.1 * N, c = 9.81 * ((N + 1) / 2 + N) / ((N + 1) / 3 + N);
		double *udot = numbers((size_t)cal_model_u_count(model));
		int rank;
		check_ok(0, cal_work_create(model, &work));
		check_ok(0, cal_state_create(model, &s));
		set_angle(model, th, -1, &s);
		check_ok(0, cal_forward_dynamics(model, &s, NULL, work, udot));
		for (int i = 0; i < cal_model_u_count(model); i++)
			assert_true(fabs(fabs(udot[i]) - fabs(c * cos(th))) < 1e-12 * c);
		check_ok(0, cal_loop_rank(model, work, &rank, NULL));
		assert_int_equal(rank, 2 * windows);
		assert_int_equal(cal_model_row_count(model), 5 * windows);
		free(udot);
		cal_state_destroy(&s);
		cal_work_destroy(work);
		cal_model_destroy(model);
	}
}

/* IFToMM A02: singular whenever the rods are level, four times in these 3 s. The closed form swings like a pendulum. */
static void two_windows_pass_singular_positions(void **state) {
	(void)state;
	CalModel *model = four_bars(2);
	CalWork *work;
	CalState s;
	CalIntegrator *ig;
	CalEnergy start, end;
	double g[10], th = acos(-1) / 2, rate = -1;
	const double h = 1e-3, c = 9.81 * 3.5 / 3;
	check_ok(0, cal_work_create(model, &work));
	check_ok(0, cal_state_create(model, &s));
	set_angle(model, th, rate, &s);
	check_ok(0, cal_energy(model, &s, work, &start));
	check_ok(0, cal_integrator_create(model, work, &(CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = h}, &ig));
	check_ok(0, cal_integrator_advance(ig, &s, 3));
	for (int i = 0; i < 3000; i++) { // the pendulum, by the same method
		const double a1 = -c * cos(th), a2 = -c * cos(th + h / 2 * rate), r2 = rate + h / 2 * a1;
		const double a3 = -c * cos(th + h / 2 * r2), r3 = rate + h / 2 * a2, r4 = rate + h * a3;
		const double a4 = -c * cos(th + h * r3);
		th += h / 6 * (rate + 2 * r2 + 2 * r3 + r4);
		rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
	}
	CalBodyInfo first;
	check_ok(0, cal_model_body(model, cal_model_find_body(model, "v0"), &first));
	assert_true(fabs(s.q[first.q] - th) < 1e-8 && fabs(s.u[first.u] - rate) < 1e-8);
	check_ok(0, cal_energy(model, &s, work, &end));
	assert_true(fabs(end.total - start.total) < 1e-9);
	check_ok(0, cal_loop_residual(model, &s, work, g, NULL));
	assert_true(max_abs(10, g) < 1e-12);
	cal_integrator_destroy(ig);
	cal_state_destroy(&s);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

/* ---- projection and errors -------------------------------------------------------------------------- */

static void an_open_state_is_assembled(void **state) {
	(void)state;
	CalModel *model = four_bars(2);
	CalWork *work;
	CalState s;
	CalProjectReport report;
	uint8_t frozen[5] = {0};
	CalBodyInfo first;
	check_ok(0, cal_work_create(model, &work));
	check_ok(0, cal_state_create(model, &s));
	check_ok(0, cal_model_body(model, cal_model_find_body(model, "v0"), &first));
	for (int euclidean = 0; euclidean < 2; euclidean++) {
		set_angle(model, 1.2, -1, &s);
		for (int i = 0; i < 5; i++)
			s.q[i] += 0.1 * sin(3 * i), s.u[i] += 0.3 * cos(i);
		frozen[first.u] = 1;
		const double held = s.q[first.q], held_rate = s.u[first.u];
		const CalProjectOptions options = {.frozen = frozen, .euclidean = euclidean};
		check_ok(0, cal_loop_project(model, &s, &options, work, &report));
		assert_true(report.residual <= 1e-12 && report.rate <= 1e-12 && report.row == -1);
		assert_true(report.iterations >= 2);
		assert_true(s.q[first.q] == held && s.u[first.u] == held_rate);
	}
	// everything frozen: unreachable, and the row is named
	set_angle(model, 1.2, 0, &s);
	s.q[0] += 0.1;
	memset(frozen, 1, sizeof frozen);
	check_status(0, cal_loop_project(model, &s, &(CalProjectOptions){.frozen = frozen}, work, &report),
	             CAL_NOT_CONVERGED);
	char name[32];
	assert_true(report.row >= 0 && !report.reachable);
	assert_true(cal_model_row_name(model, report.row, name, sizeof name) > 0);
	assert_true(name[0] == 'h' && strchr(name, '.') != NULL);
	cal_state_destroy(&s);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static void bad_loops_are_refused(void **state) {
	(void)state;
	CalDesc *desc;
	CalBodyId body;
	CalError error = {0};
	check_ok(0, cal_desc_create(NULL, &desc));
	CalBodyDef def = cal_body_def();
	def.name = "rod", def.mass = 1, def.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	check_ok(0, cal_desc_add_body(desc, &def, &body, &error));
	const CalNodeId node = cal_desc_body_node(desc, body);
	CalLoopDef loop = cal_loop_def(CAL_LOOP_DISTANCE);
	loop.name = "wire", loop.place = "arm.yaml:3:1";
	check_status(0, cal_desc_close_loop(desc, node, &loop, (CalNodeId){0}, NULL, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "arm.yaml:3:1"));
	assert_non_null(strstr(error.text, "\"wire\": its length is 0 m"));
	loop.length = 1;
	check_status(0, cal_desc_close_loop(desc, (CalNodeId){0}, &loop, (CalNodeId){0}, NULL, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "both sides are on the ground"));
	check_status(0, cal_desc_close_loop(desc, (CalNodeId){77}, &loop, node, NULL, &error), CAL_ERR_ARGUMENT);
	check_ok(0, cal_desc_close_loop(desc, node, &loop, (CalNodeId){0}, NULL, &error));
	check_status(0, cal_desc_close_loop(desc, node, &loop, (CalNodeId){0}, NULL, &error), CAL_ERR_MODEL);
	assert_int_equal(cal_desc_loop_count(desc), 1);
	assert_int_equal(cal_desc_find_loop(desc, "wire").value, 1);
	loop.name = "odd", loop.type = CAL_LOOP_TYPE_COUNT;
	check_status(0, cal_desc_close_loop(desc, node, &loop, (CalNodeId){0}, NULL, &error), CAL_ERR_ARGUMENT);
	cal_desc_destroy(desc);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_loops_obey_their_equations),
		cmocka_unit_test(four_bars_have_their_closed_form),
		cmocka_unit_test(two_windows_pass_singular_positions),
		cmocka_unit_test(an_open_state_is_assembled),
		cmocka_unit_test(bad_loops_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
