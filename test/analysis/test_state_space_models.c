// SPDX-License-Identifier: Apache-2.0
/*
 * test_state_space_models.c — linearized simulations against differences of the equations of motion (random trees, rigid and
 * flexible; devices), a four-bar against the same linkage in independent coordinates, the modes of the system, and the
 * step response of the non-linear run, from which it differs by the square of the input.
 */
#include "analysis/state_space_support.h"
#include "support/random_loop.h"

/* ---- differences of the equations of motion ------------------------------------------------------- */

/* (u, udot) of the run at a displaced state; states are x in the order of the space. */
typedef struct Displaced {
	CalSim *sim;
	const CalStateSpace *space;
	const CalModel *model;
	CalState about;
} Displaced;

static void put_displaced(const Displaced *d, int state, double h) {
	CalState *s = cal_sim_state(d->sim, 0);
	const int nu = cal_model_u_count(d->model);
	double *way = test_doubles(nu);
	cal_state_copy(d->model, &d->about, s);
	const CalStatePlace at = d->space->places[state];
	if (at.kind == CAL_STATE_COORDINATE) {
		way[at.index] = h;
		cal_config_integrate(d->model, d->about.q, way, s->q);
	} else
		s->u[at.index] += h;
	free(way);
}

static void read_accelerations(const Displaced *d, double *udot) {
	CalSimView view;
	assert_int_equal(cal_sim_observe(d->sim, 0, &view), CAL_OK);
	memcpy(udot, view.udot, (size_t)cal_model_u_count(d->model) * sizeof *udot);
}

/* Rows of the speeds against central differences with Richardson's step; error about 1e-9 of the accelerations. */
static void check_rows_of_speeds(const Displaced *d, uint64_t seed, double tolerance) {
	const CalStateSpace *s = d->space;
	const int n = s->state_count, nu = cal_model_u_count(d->model);
	double *f = test_doubles(4 * nu), *got = test_doubles(n), *want = test_doubles(n);
	static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
	double largest = 0;
	for (int i = 0; i < n * n; i++)
		largest = fmax(largest, fabs(s->A[i]));
	for (int j = 0; j < n; j++) {
		const double h = 1e-3;
		for (int p = 0; p < 4; p++) {
			put_displaced(d, j, at[p] * h);
			read_accelerations(d, f + p * nu);
		}
		int rows = 0;
		for (int i = 0; i < n; i++) {
			if (s->places[i].kind != CAL_STATE_SPEED)
				continue;
			want[rows] = 0;
			for (int p = 0; p < 4; p++)
				want[rows] += weight[p] * f[p * nu + s->places[i].index] / (12 * h);
			got[rows++] = s->A[i * n + j];
		}
		check_close_scaled(seed, s->states[j].name, rows, got, want, largest, tolerance);
	}
	cal_state_copy(d->model, &d->about, cal_sim_state(d->sim, 0));
	free(f), free(got), free(want);
}

/* B of a force on each independent speed: accelerations change by those of M^-1. */
static void check_forces(const Displaced *d, uint64_t seed) {
	const CalStateSpace *s = d->space;
	const int n = s->state_count, nu = cal_model_u_count(d->model);
	double *udot = test_doubles(2 * nu), *tau = test_doubles(nu);
	CalWork *work = NULL;
	assert_int_equal(cal_work_create(d->model, &work), CAL_OK);
	for (int j = 0; j < s->input_count; j++) {
		double got[64], want[64];
		int rows = 0;
		memset(tau, 0, (size_t)nu * sizeof *tau);
		tau[s->places[n / 2 + j].index] = 1;
		const CalInput input = {.tau = tau};
		check_ok(seed, cal_forward_dynamics(d->model, &d->about, NULL, work, udot));
		check_ok(seed, cal_forward_dynamics(d->model, &d->about, &input, work, udot + nu));
		for (int i = 0; i < n && rows < 64; i++)
			if (s->places[i].kind == CAL_STATE_SPEED) {
				want[rows] = udot[nu + s->places[i].index] - udot[s->places[i].index];
				got[rows++] = s->B[i * s->input_count + j];
			}
		check_close_scaled(seed, "B", rows, got, want, max_abs(nu, udot), 1e-9);
	}
	cal_work_destroy(work);
	free(udot), free(tau);
}

static void check_tree(uint64_t seed, TreeOptions options) {
	Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
	CalSim *sim = NULL;
	CalError error = {0};
	const CalSimOptions how = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalStateSpace names = {0}, space = {0};
	check_ok(seed, cal_sim_create(f->desc, &how, &sim, &error));
	const CalModel *model = cal_sim_model(sim, 0);
	check_that(seed, cal_model_u_count(model) == f->nu);
	cal_state_copy(model, &f->state, cal_sim_state(sim, 0));
	check_ok(seed, cal_sim_state_space(sim, NULL, &names, &error));
	const char *inputs[5]; // forces on the first speeds, by the names of these: "u:j" to "force:j"
	char texts[5][160];
	const int count = names.state_count / 2 < 5 ? names.state_count / 2 : 5;
	for (int i = 0; i < count; i++) {
		snprintf(texts[i], sizeof texts[i], "force%.150s", names.states[names.state_count / 2 + i].name + 1);
		inputs[i] = texts[i];
	}
	const CalStateSpaceOptions asked = {.inputs = inputs, .input_count = count};
	if (cal_sim_state_space(sim, &asked, &space, &error) != CAL_OK)
		check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
	check_that(seed, space.input_count == count);
	Displaced d = {.sim = sim, .space = &space, .model = model};
	check_ok(seed, cal_state_create(model, &d.about));
	cal_state_copy(model, &f->state, &d.about);
	check_rows_of_speeds(&d, seed, 1e-7);
	check_forces(&d, seed);
	cal_state_destroy(&d.about);
	cal_state_space_release(&names);
	cal_state_space_release(&space);
	cal_sim_destroy(sim);
	fixture_destroy(f);
}

static void random_trees_agree_with_differences(void **state) {
	(void)state;
	for (uint64_t i = 0; i < 25; i++) {
		TreeOptions rigid = tree_any(test_seed() + i), flexible = tree_flexible(test_seed() + i);
		rigid.prescribed = flexible.prescribed = 0;
		rigid.joints = flexible.joints = TREE_ANY_JOINT & ~(1u << CAL_JOINT_USER);
		check_tree(test_seed() + i, rigid);
		if (i % 3 == 0)
			check_tree(test_seed() + i, flexible);
	}
}

/* Bushings, springs, drag and formulas in space, moving; states of devices stay. */
static void devices_agree_with_differences(void **state) {
	(void)state;
	Linearized l = linearized_at(
		"calder: 1\ngravity: [0, 0, -9.8]\n"
		"ground: {nodes: {post: [0, 1, 2]}}\n"
		"bodies: {a: {mass: 2, inertia: [0.1, 0.2, 0.25], nodes: {tip: [0.3, 0.1, 0]}},\n"
		"  b: {mass: 1, inertia: [0.1, 0.1, 0.15], nodes: {tip: [0, 0.4, 0.1]}}}\n"
		"joints: {fly: {type: free, to: a}, ball: {type: spherical, from: a/tip, to: b}}\n"
		"state: {fly: {u: [0.2, 0, 0.1, 1, -2, 0.5]}, ball: {u: [1, 2, -1]}}\n"
		"devices:\n"
		"  line: {type: spring, from: ground/post, to: b/tip, length: 1 m, stiffness: 120 N/m, damping: 3 N*s/m}\n"
		"  mount: {type: bushing, from: ground, to: a, stiffness: [80, 90, 70], damping: [2, 2, 2],\n"
		"    angular_stiffness: [9, 8, 7]}\n"
		"loads: [{node: a/tip, force: ['3*sin(2*pose(b/tip.z)) - velocity(a.vy)^2', 0, 0], frame: node}]\n"
		"run: {duration: 1 s}\n",
		0.3, NAMES(NULL), NAMES(NULL));
	Displaced d = {.sim = l.run.sim, .space = &l.space, .model = cal_sim_model(l.run.sim, 0)};
	assert_int_equal(cal_state_create(d.model, &d.about), CAL_OK);
	cal_state_copy(d.model, cal_sim_state(d.sim, 0), &d.about);
	check_rows_of_speeds(&d, 0, 1e-8);
	cal_state_destroy(&d.about);
	linearized_end(&l);
}

/* ---- loops ------------------------------------------------------------------------------------------- */

#define FOUR_BAR(speed, how)                                                                       \
	"calder: 1\ngravity: [0, -9.81, 0]\nground: {nodes: {a: [0, 0, 0], b: [0.5, 0, 0]}}\n"         \
	"bodies:\n"                                                                                    \
	"  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"     \
	"  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n" \
	"  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\n"    \
	"joints:\n"                                                                                    \
	"  crank: {type: revolute, from: ground/a, to: crank, dof: {stiffness: 30, damping: 0.3}}\n"   \
	"  pin: {type: revolute, from: crank/end, to: coupler}\n"                                      \
	"  rocker: {type: revolute, from: ground/b, to: rocker}\n"                                     \
	"loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end" how "}}\n"                 \
	"state: {crank: {q: 90 deg" speed "}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n"

/* At rest and in motion; the embedded linkage has the crank as its only coordinate. */
static void four_bar_agrees_with_the_embedded_linkage(void **state) {
	static const char *const texts[2][2] = {{FOUR_BAR("", ""), FOUR_BAR("", ", embed: true")},
	                                        {FOUR_BAR(", u: 6 rad/s", ""), FOUR_BAR(", u: 6 rad/s", ", embed: true")}};
	(void)state;
	for (int i = 0; i < 2; i++) {
		Linearized loop =
			linearized_in(texts[i][0], NAMES("crank"), NAMES("force:crank"), NAMES("q:rocker", "u:rocker"));
		Linearized embedded = linearized(texts[i][1], NAMES("force:crank"), NAMES("q:rocker", "u:rocker"));
		assert_int_equal(loop.space.state_count, 2);
		assert_int_equal(embedded.space.state_count, 2);
		assert_string_equal(loop.space.states[0].name, "q:crank");
		const double size = max_abs(4, embedded.space.A);
		check_close_scaled(0, "A", 4, loop.space.A, embedded.space.A, size, 1e-8);
		check_close(0, "B", 2, loop.space.B, embedded.space.B, 1e-10);
		check_close_scaled(0, "C", 4, loop.space.C, embedded.space.C, 1, 1e-8);
		CalPole a[2], b[2];
		assert_int_equal(cal_state_space_poles(&loop.space, a), CAL_OK);
		assert_int_equal(cal_state_space_poles(&embedded.space, b), CAL_OK);
		for (int k = 0; k < 2; k++) {
			assert_near(a[k].real, b[k].real, 1e-7 * fabs(b[k].frequency));
			assert_near(a[k].imag, b[k].imag, 1e-7 * fabs(b[k].frequency));
		}
		linearized_end(&loop);
		linearized_end(&embedded);
	}
}

/* Rows of the speeds of a closed system against differences along displacements that the loops allow. */
static void check_closed_rows(const Displaced *d, uint64_t seed) {
	const CalStateSpace *s = d->space;
	const int n = s->state_count, nu = cal_model_u_count(d->model);
	double *f = test_doubles(4 * nu), *v = test_doubles(nu), *way = test_doubles(nu), *N = test_doubles(nu * n + 1);
	uint8_t *chosen = test_alloc((size_t)nu, 1);
	static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
	const double h = 1e-3;
	CalWork *work = NULL;
	CalProjection *projection = NULL;
	CalState *state = cal_sim_state(d->sim, 0);
	for (int i = 0; i < n; i++)
		chosen[s->places[i].index] = 1;
	const CalProjectionOptions options = {.independent = chosen};
	check_ok(seed, cal_work_create(d->model, &work));
	check_ok(seed, cal_projection_create(d->model, &projection));
	check_ok(seed, cal_projection_update(projection, &d->about, &options, work));
	const int count = cal_projection_count(projection);
	check_that(seed, 2 * count == n);
	memcpy(N, cal_projection_map(projection), (size_t)(nu * count) * sizeof *N);
	for (int k = 0; k < count; k++)
		v[k] = d->about.u[s->places[k].index];
	for (int k = 0; k < count; k++) {
		double got[64], want[64] = {0};
		for (int p = 0; p < 4; p++) {
			for (int i = 0; i < nu; i++)
				way[i] = at[p] * h * N[i * count + k];
			cal_config_integrate(d->model, d->about.q, way, state->q);
			memcpy(state->u, d->about.u, (size_t)nu * sizeof(double));
			check_ok(seed, cal_loop_project(d->model, state, NULL, work, NULL));
			check_ok(seed, cal_projection_update(projection, state, &options, work));
			check_ok(seed, cal_projection_speeds(projection, v, state->u));
			read_accelerations(d, f + p * nu);
		}
		for (int i = 0; i < count && i < 64; i++) {
			for (int p = 0; p < 4; p++)
				want[i] += weight[p] * f[p * nu + s->places[count + i].index] / (12 * h);
			got[i] = s->A[(count + i) * n + k];
		}
		check_close_scaled(seed, s->states[k].name, count < 64 ? count : 64, got, want, max_abs(n * n, s->A), 1e-6);
	}
	cal_state_copy(d->model, &d->about, state);
	cal_projection_destroy(projection);
	cal_work_destroy(work);
	free(f), free(v), free(way), free(N), free(chosen);
}

static void random_loops_agree_with_differences(void **state) {
	(void)state;
	int compared = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
		LoopOptions options = {.tree = tree_any(seed), .loops = 1, .types = LOOP_JOINT_TYPES & ~LOOP_VELOCITY_TYPES};
		options.tree.bodies = 3 + (int)(seed % 3);
		options.tree.prescribed = 0;
		options.tree.joints = TREE_ANY_JOINT & ~(1u << CAL_JOINT_USER);
		Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE);
		fixture_close_loops(f);
		CalSim *sim = NULL;
		CalError error = {0};
		const CalSimOptions how = {.method = {.method = CAL_METHOD_DOPRI5}};
		CalStateSpace space = {0};
		check_ok(seed, cal_sim_create(f->desc, &how, &sim, &error));
		const CalModel *model = cal_sim_model(sim, 0);
		cal_state_copy(model, &f->state, cal_sim_state(sim, 0));
		cal_sim_state(sim, 0)->t = 0;
		if (cal_sim_restart(sim, &error) == CAL_OK) {
			if (cal_sim_state_space(sim, NULL, &space, &error) != CAL_OK)
				check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
			Displaced d = {.sim = sim, .space = &space, .model = model};
			check_ok(seed, cal_state_create(model, &d.about));
			cal_state_copy(model, cal_sim_state(sim, 0), &d.about);
			check_closed_rows(&d, seed);
			cal_state_destroy(&d.about);
			compared++;
		}
		cal_state_space_release(&space);
		cal_sim_destroy(sim);
		fixture_destroy(f);
	}
	print_message("%d systems with loops compared\n", compared);
	assert_true(compared >= 25);
}

/* ---- modes -------------------------------------------------------------------------------------------- */

static void poles_are_the_modes_of_the_system(void **state) {
	static const char *const examples[] = {"double_pendulum", "four_bar", "slider_crank"};
	(void)state;
	for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
		Run run = run_file(example_of(examples[e]));
		CalError error = {0};
		CalState *s = cal_sim_state(run.sim, 0);
		memset(s->u, 0, (size_t)cal_model_u_count(cal_sim_model(run.sim, 0)) * sizeof(double));
		assert_int_equal(cal_sim_restart(run.sim, &error), CAL_OK);
		CalLinear linear;
		CalSystemModes modes;
		CalStateSpace space;
		CalPole poles[32];
		if (cal_sim_linearize(run.sim, 0, NULL, &linear, &error) != CAL_OK ||
		    cal_linear_modes(&linear, NULL, NULL, &modes, &error) != CAL_OK ||
		    cal_sim_state_space(run.sim, NULL, &space, &error) != CAL_OK)
			fail_msg("%s", error.text);
		assert_int_equal(cal_state_space_poles(&space, poles), CAL_OK);
		int found = 0, expected = 0;
		for (int k = 0; k < modes.count; k++)
			expected += modes.mode[k].kind == CAL_MODE_APERIODIC ? 1 : 2;
		assert_int_equal(space.state_count, expected);
		for (int k = 0; k < modes.count; k++)
			for (int i = 0; i < space.state_count; i++)
				if (fabs(poles[i].real - modes.mode[k].real) < 1e-7 * poles[i].frequency &&
				    fabs(poles[i].imag - modes.mode[k].imag) < 1e-7 * poles[i].frequency) {
					found++;
					break;
				}
		assert_int_equal(found, modes.count);
		cal_state_space_release(&space);
		cal_system_modes_release(&modes);
		cal_linear_release(&linear);
		run_end(&run);
	}
}

/* ---- the non-linear run ---------------------------------------------------------------------------------- */

enum { STEPS = 41 };
static const double interval = 0.025;

/* An arm bent at the elbow by its springs, without gravity: at rest. Inertia depends on the elbow, so that errors are even. */
static void arm_text(char *text, size_t size, double torque) {
	snprintf(text, size,
	         "calder: 1\ngravity: [0, 0, 0]\n"
	         "bodies: {a: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0, -1]}, nodes: {tip: [0, 0, -1]}},\n"
	         "  b: {mass: 0.5, rod: {from: [0, 0, 0], to: [0, 0, -1]}, nodes: {tip: [0, 0, -1]}}}\n"
	         "joints: {s: {type: revolute, axis: y, to: a, dof: {rest: 0.4, stiffness: 20, damping: 0.3}},\n"
	         "  e: {type: revolute, axis: y, from: a/tip, to: b, dof: {rest: -1.1, stiffness: 4}}}\n"
	         "state: {s: {q: 0.4 rad}, e: {q: -1.1 rad}}\n"
	         "loads: [{joint: s, effort: %.17g}]\n"
	         "run: {duration: 1 s, method: dopri5, rtol: 1e-12, atol: 1e-13}\n",
	         torque);
}

/* The largest difference of the elbow from that of the linear model, whose output is y for a torque of 1. */
static double step_error(const double *y, double torque) {
	char text[900];
	arm_text(text, sizeof text, torque);
	Run run = run_file(file_of(text));
	CalError error = {0};
	double worst = 0;
	for (int i = 1; i < STEPS; i++) {
		assert_int_equal(cal_sim_advance(run.sim, i * interval, &error), CAL_OK);
		worst = fmax(worst, fabs(cal_sim_state(run.sim, 0)->q[1] + 1.1 - torque * y[i]));
	}
	run_end(&run);
	return worst;
}

static void step_response_differs_from_the_run_by_the_square_of_the_input(void **state) {
	char text[900];
	double y[STEPS], errors[3];
	(void)state;
	arm_text(text, sizeof text, 0);
	Linearized l = linearized(text, NAMES("force:s"), NAMES("q:e"));
	assert_int_equal(cal_state_space_step(&l.space, 0, 1, NULL, interval, STEPS, y), CAL_OK);
	for (int i = 0; i < 3; i++)
		errors[i] = step_error(y, 0.4 / (1 << 2 * i));
	for (int i = 0; i < 2; i++) {
		const double order = log2(errors[i] / errors[i + 1]) / 2;
		print_message("torque %g N m: error %.3g, order %.4f\n", 0.4 / (1 << 2 * i), errors[i], order);
		assert_near(order, 2, 0.05);
	}
	linearized_end(&l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees_agree_with_differences),
		cmocka_unit_test(devices_agree_with_differences),
		cmocka_unit_test(random_loops_agree_with_differences),
		cmocka_unit_test(four_bar_agrees_with_the_embedded_linkage),
		cmocka_unit_test(poles_are_the_modes_of_the_system),
		cmocka_unit_test(step_response_differs_from_the_run_by_the_square_of_the_input),
	};
	NEEDS_YAML();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
