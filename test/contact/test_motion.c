// SPDX-License-Identifier: Apache-2.0
/*
 * test_motion.c — bodies that bounce, roll, slide, rest and collide, against closed forms.
 *
 * Inclines are made by tilting gravity: the plane is z = 0 and "down the slope" is +x.
 */
#include "contact/world.h"

static const double G = 9.81;

static CalVec3 slope(double angle) { return (CalVec3){G * sin(angle), 0, -G * cos(angle)}; }

static const CalIntegratorOptions precise = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13};

static void check_near(double got, double want, double relative, const char *what) {
	if (!(fabs(got - want) <= relative * fabs(want)))
		fail_msg("%s: %.12g instead of %.12g (relative %.3g, allowed %.3g)", what, got, want, fabs(got / want - 1),
		         relative);
}

/* ---- bouncing ---------------------------------------------------------------------------------- */

static const FreeBody ball_body = {2, {0.008, 0.008, 0.008}}; // 2 kg, radius 0.1 m, solid

static World *ball_on_plane(CalVec3 gravity, CalContactMaterial m) {
	CalShapeDef shapes[2] = {shape_def("ball", CAL_SHAPE_SPHERE, 0, m), shape_def("floor", CAL_SHAPE_PLANE, -1, m)};
	shapes[0].radius = 0.1;
	return world_create(gravity, &ball_body, 1, shapes, 2);
}

/* Without gravity, from first touch until it has left: the speed it leaves with over that it came with. */
static double bounce(CalContactMaterial m, double speed) {
	World *w = ball_on_plane((CalVec3){0, 0, 0}, m);
	CalState *s = &w->system.state;
	s->q[2] = 0.1;
	s->u[2] = -speed;
	CalIntegrator *integrator = world_integrator(w, precise);
	for (int i = 0; i < 100000 && !(s->q[2] > 0.1 && s->u[2] > 0); i++)
		assert_int_equal(cal_integrator_step(integrator, s, 1e-4), CAL_OK);
	const double restitution = s->u[2] / speed;
	cal_integrator_destroy(integrator);
	world_destroy(w);
	return restitution;
}

static void bounce_has_the_restitution_of_theory(void **state) {
	(void)state;
	const double speeds[] = {0.02, 0.1, 0.5, 2, 5};
	for (int i = 0; i < 5; i++) {
		for (int hertz = 0; hertz < 2; hertz++) {
			const CalContactMaterial m = {
				.modulus = hertz ? 2e8 : 0, .stiffness = 1e6, .exponent = 1, .dissipation = 0.4};
			const double e = cal_contact_restitution(0.4, speeds[i]);
			check_near(bounce(m, speeds[i]), e, 1e-7, hertz ? "restitution, Hertz" : "restitution, linear");
		}
	}
}

/* A material that asks for e at a speed gets it there, and bounces higher at lower speeds. */
static void restitution_can_be_asked_for(void **state) {
	(void)state;
	const CalContactMaterial m = {.modulus = 2e8, .restitution = 0.6, .impact_speed = 1.5};
	check_near(bounce(m, 1.5), 0.6, 1e-7, "restitution at the speed asked for");
	assert_true(bounce(m, 0.3) > 0.85);
}

static void restitution_and_dissipation_are_inverse(void **state) {
	(void)state;
	for (double e = 0.05; e <= 1; e += 0.05) {
		const double c = cal_contact_dissipation(e, 0.7);
		check_near(cal_contact_restitution(c, 0.7), e, 1e-12, "restitution");
	}
	check_near(1 - cal_contact_restitution(1e-5, 1), 1e-5, 2e-5, "1 - e = c v to first order");
	assert_true(cal_contact_restitution(0, 3) == 1);
	assert_true(isnan(cal_contact_dissipation(0, 1)));
	assert_true(isnan(cal_contact_restitution(-1, 1)));
}

/* ---- rolling ----------------------------------------------------------------------------------- */

static const CalContactMaterial gripping = {.modulus = 1e9,
                                            .stiffness = 1e6,
                                            .exponent = 1,
                                            .dissipation = 1,
                                            .friction_dynamic = 0.6,
                                            .transition_speed = 1e-4};

/* Depth at which a Hertz contact of radius 0.1 between two sides of this modulus carries the load. */
static double hertz_depth(double load, double modulus) {
	return pow(load / (4.0 / 3 * modulus / 2 * sqrt(0.1)), 2.0 / 3);
}

static void sphere_rolls_with_five_sevenths(void **state) {
	(void)state;
	const double angle = 0.3, depth = hertz_depth(2 * G * cos(angle), 1e9), lever = 0.1 - depth / 2;
	World *w = ball_on_plane(slope(angle), gripping);
	CalState *s = &w->system.state;
	s->q[2] = 0.1 - depth;
	world_advance(w, precise, 0.3);
	const double early = s->u[0];
	world_advance(w, precise, 0.3);
	const double a = (s->u[0] - early) / 0.3, ratio = 2 * lever * lever / 0.008;
	check_near(a, G * sin(angle) * ratio / (1 + ratio), 1e-7, "acceleration with the lever of the contact point");
	check_near(a, 5.0 / 7 * G * sin(angle), 1e-4, "acceleration of a rigid ball");
	check_near(s->u[4] * lever, s->u[0], 1e-4, "it rolls");
	world_destroy(w);
}

static void sphere_slips_beyond_the_friction_limit(void **state) {
	(void)state;
	const double angle = 1.2, mu = 0.6; // tan = 2.57 > 7/2 mu
	assert_true(tan(angle) > 3.5 * mu);
	World *w = ball_on_plane(slope(angle), gripping);
	CalState *s = &w->system.state;
	s->q[2] = 0.1 - hertz_depth(2 * G * cos(angle), 1e9);
	world_advance(w, precise, 0.1);
	const double v = s->u[0], spin = s->u[4];
	world_advance(w, precise, 0.4);
	check_near((s->u[0] - v) / 0.4, G * (sin(angle) - mu * cos(angle)), 1e-6, "acceleration while slipping");
	check_near((s->u[4] - spin) / 0.4, mu * 2 * G * cos(angle) * 0.1 / 0.008, 1e-4, "spin-up while slipping");
	world_destroy(w);
}

/* Axis along y; inertia about it is that of a solid cylinder with end caps, here just a number. */
static void capsule_rolls(void **state) {
	(void)state;
	const double angle = 0.25, mass = 3, inertia = 0.02, r = 0.12;
	CalShapeDef shapes[2] = {shape_def("log", CAL_SHAPE_CAPSULE, 0, gripping),
	                         shape_def("floor", CAL_SHAPE_PLANE, -1, gripping)};
	shapes[0].radius = r;
	shapes[0].length = 0.5;
	shapes[0].placement.orientation = (CalQuat){sqrt(0.5), sqrt(0.5), 0, 0}; // z to -y
	const FreeBody body = {mass, {0.1, inertia, 0.1}};
	World *w = world_create(slope(angle), &body, 1, shapes, 2);
	CalState *s = &w->system.state;
	const double depth = pow(0.5 * mass * G * cos(angle) / (4.0 / 3 * 0.5e9 * sqrt(r)), 2.0 / 3), lever = r - depth / 2;
	s->q[2] = r - depth;
	world_advance(w, precise, 0.2);
	assert_int_equal(w->summary.points, 2);
	const double early = s->u[0];
	world_advance(w, precise, 0.4);
	check_near((s->u[0] - early) / 0.4, G * sin(angle) / (1 + inertia / (mass * lever * lever)), 1e-7, "acceleration");
	assert_true(fabs(s->u[1]) < 1e-9 && fabs(s->u[5]) < 1e-9);
	world_destroy(w);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static const FreeBody block_body = {4, {0.05, 0.06, 0.08}};
static const CalContactMaterial wooden = {.stiffness = 2e5, .exponent = 1, .dissipation = 3, .friction_dynamic = 0.5};

static World *block_on_plane(double angle, CalContactMaterial m) {
	CalShapeDef shapes[2] = {shape_def("block", CAL_SHAPE_BOX, 0, m), shape_def("floor", CAL_SHAPE_PLANE, -1, m)};
	shapes[0].half = (CalVec3){0.3, 0.2, 0.05};
	World *w = world_create(slope(angle), &block_body, 1, shapes, 2);
	const double k = m.stiffness * pow(2, -m.exponent);
	w->system.state.q[2] = 0.05 - pow(4 * G * cos(angle) / 4 / k, 1 / m.exponent);
	return w;
}

static void block_rests_on_four_points_at_the_static_depth(void **state) {
	(void)state;
	const double exponents[] = {1, 1.5, 2};
	for (int i = 0; i < 3; i++) {
		CalContactMaterial m = wooden;
		m.exponent = exponents[i];
		m.stiffness = 2e5 * pow(2e4, 0.5 * i); // about the same depth
		World *w = block_on_plane(0, m);
		w->system.state.q[2] += 1e-5; // and settles from there
		world_advance(w, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 2e-4}, 2);
		world_observe(w);
		assert_int_equal(w->summary.points, 4);
		const double depth = pow(G / (m.stiffness * pow(2, -m.exponent)), 1 / m.exponent);
		for (int k = 0; k < 4; k++) {
			check_near(world_point(w, k).depth, depth, 1e-9, "static depth");
			check_near(world_point(w, k).force, G, 1e-9, "a quarter of the weight");
			assert_true(world_point(w, k).weight == 1);
		}
		world_destroy(w);
	}
}

/* It creeps: friction mu N s / sqrt(s^2 + vt^2) balances the weight at s = vt phi / sqrt(1 - phi^2), phi = tan/mu. */
static void block_sticks_below_the_friction_angle(void **state) {
	(void)state;
	const double angle = 0.35, phi = tan(angle) / 0.5;
	assert_true(phi < 1);
	World *w = block_on_plane(angle, wooden);
	// Friction damps turning about z at the rate mu N r^2 / (vt I) = 3.0e4/s; RK4 needs h below 2.78 over that.
	world_advance(w, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 5e-5}, 1);
	check_near(w->system.state.u[0], 1e-3 * phi / sqrt(1 - phi * phi), 1e-6, "creep speed");
	assert_true(w->system.state.q[0] < 1e-2);
	world_destroy(w);
}

static void block_slides_above_the_friction_angle(void **state) {
	(void)state;
	const double angle = 0.6;
	World *w = block_on_plane(angle, wooden);
	CalState *s = &w->system.state;
	const CalIntegratorOptions rk4 = {.method = CAL_METHOD_RK4, .step = 2e-4};
	world_advance(w, rk4, 1.5);
	const double v = s->u[0], t = s->t;
	world_advance(w, rk4, 0.5);
	check_near((s->u[0] - v) / (s->t - t), G * (sin(angle) - 0.5 * cos(angle)), 1e-6, "acceleration");
	world_destroy(w);
}

/* A spinning ball on its spot: the patch brakes it with mu N radius, and without it nothing does. */
static void torsional_friction_brakes_spin(void **state) {
	(void)state;
	for (int i = 0; i < 2; i++) {
		CalContactMaterial m = gripping;
		m.torsion_radius = i ? 0.01 : 0;
		World *w = ball_on_plane(slope(0), m);
		CalState *s = &w->system.state;
		s->q[2] = 0.1 - hertz_depth(2 * G, 1e9);
		s->u[5] = 50;
		world_advance(w, precise, 0.2);
		const double want = 50 - i * 0.6 * 2 * G * 0.01 / 0.008 * 0.2;
		check_near(s->u[5], want, 1e-6, "spin");
		world_destroy(w);
	}
}

/* mu_s holds what mu_d could not; once it moves, mu_d applies. */
static void static_friction_exceeds_dynamic(void **state) {
	(void)state;
	CalContactMaterial m = wooden;
	m.friction_static = 0.8;
	m.friction_dynamic = 0.3;
	m.stribeck_speed = 0.05;
	const double angle = 0.5; // tan = 0.546
	World *w = block_on_plane(angle, m);
	CalState *s = &w->system.state;
	const CalIntegratorOptions rk4 = {.method = CAL_METHOD_RK4, .step = 1e-4};
	world_advance(w, rk4, 1);
	assert_true(s->u[0] < 2e-3);
	s->u[0] = 2;
	world_advance(w, rk4, 1);
	const double v = s->u[0], t = s->t;
	world_advance(w, rk4, 0.5);
	const double x = v / 0.05, mu = 0.3 + 0.5 / (1 + x * x);
	check_near((s->u[0] - v) / (s->t - t), G * (sin(angle) - mu * cos(angle)), 1e-3, "acceleration");
	world_destroy(w);
}

/* ---- collisions -------------------------------------------------------------------------------- */

static CalShapeDef random_shape(Rng *r, const char *name, int node, CalContactMaterial m) {
	static const CalShapeType types[] = {CAL_SHAPE_SPHERE, CAL_SHAPE_CAPSULE, CAL_SHAPE_BOX};
	CalShapeDef d = shape_def(name, types[rng_int(r, 3)], node, m);
	d.radius = rng_uniform(r, 0.1, 0.3);
	d.length = rng_uniform(r, 0.2, 0.6);
	d.half = (CalVec3){rng_uniform(r, 0.1, 0.3), rng_uniform(r, 0.1, 0.3), rng_uniform(r, 0.1, 0.3)};
	return d;
}

/* Two bodies on their way towards each other, turning; `round`: their moments of inertia are all the same. */
static World *random_collision(uint64_t seed, CalContactMaterial m, int round) {
	Rng r = rng_make(seed);
	FreeBody bodies[2];
	CalShapeDef shapes[2];
	for (int i = 0; i < 2; i++) {
		const double mass = rng_uniform(&r, 0.5, 3), x = 0.02 * mass, more = round ? 1 : 1.5;
		bodies[i] = (FreeBody){mass, {x, x * rng_uniform(&r, 1, more), x * rng_uniform(&r, 1, more)}};
		shapes[i] = random_shape(&r, i ? "b" : "a", i, m);
	}
	World *w = world_create((CalVec3){0, 0, 0}, bodies, 2, shapes, 2);
	CalState *s = &w->system.state;
	for (int i = 0; i < 2; i++) {
		const CalQuat q = rng_quat(&r);
		const CalVec3 offset = rng_vector(&r, 0.1), spin = rng_vector(&r, 2);
		s->q[7 * i] = (i ? 1.5 : -1.5) + offset.x;
		s->q[7 * i + 1] = offset.y;
		s->q[7 * i + 2] = offset.z;
		s->q[7 * i + 3] = q.w, s->q[7 * i + 4] = q.x, s->q[7 * i + 5] = q.y, s->q[7 * i + 6] = q.z;
		s->u[6 * i] = i ? -2 : 2;
		s->u[6 * i + 3] = spin.x, s->u[6 * i + 4] = spin.y, s->u[6 * i + 5] = spin.z;
	}
	return w;
}

static void momentum_of(World *w, double out[6], double *scale) {
	CalMomentum m;
	assert_int_equal(cal_momentum(w->system.model, &w->system.state, w->kinematics, &m), CAL_OK);
	const double all[6] = {m.linear.x,         m.linear.y,         m.linear.z,
	                       m.angular_origin.x, m.angular_origin.y, m.angular_origin.z};
	memcpy(out, all, sizeof all);
	*scale = m.mass * 2;
}

/*
 * Euler-Cromer keeps what the forces keep to round-off: linear momentum, and angular momentum of bodies without
 * gyroscopic moments, for which the turning of the axes is exact. wrenches_are_equal_and_opposite has any body.
 */
static void collisions_conserve_momentum(void **state) {
	(void)state;
	int touched = 0;
	for (int c = 0; c < 40; c++) {
		const uint64_t seed = test_seed() + (uint64_t)c;
		World *w = random_collision(
			seed,
			(CalContactMaterial){
				.stiffness = 1e5, .exponent = 1, .dissipation = 0.2, .friction_dynamic = 0.4, .torsion_radius = 0.02},
			1);
		double before[6], after[6], scale;
		momentum_of(w, before, &scale);
		CalIntegrator *integrator = world_integrator(w, (CalIntegratorOptions){.method = CAL_METHOD_EULER_CROMER});
		int hits = 0;
		for (int i = 0; i < 2000; i++) {
			assert_int_equal(cal_integrator_step(integrator, &w->system.state, 5e-4), CAL_OK);
			hits += w->summary.points > 0;
			momentum_of(w, after, &scale);
			check_close_scaled(seed, "linear and angular momentum", 6, after, before, scale, 1e-12);
		}
		touched += hits > 0;
		cal_integrator_destroy(integrator);
		world_destroy(w);
	}
	assert_true(touched > 20);
}

/* Of the wrenches themselves: forces and moments about any point cancel to round-off. */
static void wrenches_are_equal_and_opposite(void **state) {
	(void)state;
	for (int c = 0; c < 200; c++) {
		const uint64_t seed = test_seed() + (uint64_t)c;
		World *w = random_collision(
			seed,
			(CalContactMaterial){.stiffness = 1e5, .dissipation = 0.2, .friction_dynamic = 0.4, .torsion_radius = 0.02},
			0);
		CalState *s = &w->system.state;
		s->q[0] = -0.15;
		s->q[7] = 0.15;
		world_observe(w);
		const CalSpatial a = w->wrenches[0].f, b = w->wrenches[1].f;
		const double x[3] = {a.linear.x, a.linear.y, a.linear.z}, y[3] = {-b.linear.x, -b.linear.y, -b.linear.z};
		const CalSpatial at_a =
			cal_wrench_shift(b, (CalVec3){s->q[7], s->q[8], s->q[9]}, (CalVec3){s->q[0], s->q[1], s->q[2]});
		const double p[3] = {a.angular.x, a.angular.y, a.angular.z};
		const double q[3] = {-at_a.angular.x, -at_a.angular.y, -at_a.angular.z};
		check_close_scaled(seed, "force", 3, x, y, 1e-30, 1e-14);
		check_close_scaled(seed, "moment", 3, p, q, max_abs(3, x), 1e-13);
		world_destroy(w);
	}
}

/* ---- energy ------------------------------------------------------------------------------------ */

/* Kinetic + gravity + stored + what has turned to heat (Simpson's rule over steps of RK4) stays the same. */
static double energy_drift(World *w, double h, int steps, double *heat) {
	CalIntegrator *integrator = world_integrator(w, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = h});
	double start = 0, worst = 0, power[3] = {0};
	*heat = 0;
	for (int i = 0; i <= steps; i++) {
		CalEnergy energy;
		assert_int_equal(cal_energy(w->system.model, &w->system.state, w->kinematics, &energy), CAL_OK);
		world_observe(w);
		assert_true(w->summary.dissipated >= 0 && w->summary.friction >= 0);
		power[i % 2 ? 1 : i ? 2 : 0] = w->summary.dissipated + w->summary.friction;
		if (i > 0 && i % 2 == 0) {
			*heat += h / 3 * (power[0] + 4 * power[1] + power[2]);
			power[0] = power[2];
		}
		const double total = energy.total + w->summary.stored + *heat;
		if (i == 0)
			start = total;
		if (i % 2 == 0)
			worst = fmax(worst, fabs(total - start));
		if (i < steps)
			assert_int_equal(cal_integrator_step(integrator, &w->system.state, h), CAL_OK);
	}
	cal_integrator_destroy(integrator);
	return worst;
}

/* A block is thrown on the floor, turning: corners hit, slide and leave. */
static void energy_is_accounted_for(void **state) {
	(void)state;
	double drift[2], heat[2];
	for (int i = 0; i < 2; i++) {
		CalContactMaterial m = {
			.stiffness = 2e6, .dissipation = 0.3, .friction_dynamic = 0.4, .transition_speed = 0.02};
		World *w = block_on_plane(0, m);
		CalState *s = &w->system.state;
		s->q[2] = 0.25;
		s->u[0] = 1;
		s->u[3] = 2;
		s->u[4] = 3;
		drift[i] = energy_drift(w, i ? 1e-4 : 2e-4, i ? 10000 : 5000, &heat[i]);
		world_destroy(w);
	}
	assert_true(heat[1] > 5);
	check_near(heat[0], heat[1], 1e-3, "heat");
	if (!(drift[1] < 2e-5 * heat[1] && drift[1] < drift[0] / 4))
		fail_msg("energy drifts by %.3g J and %.3g J at half the step (heat %.3g J)", drift[0], drift[1], heat[1]);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounce_has_the_restitution_of_theory),
		cmocka_unit_test(restitution_can_be_asked_for),
		cmocka_unit_test(restitution_and_dissipation_are_inverse),
		cmocka_unit_test(sphere_rolls_with_five_sevenths),
		cmocka_unit_test(sphere_slips_beyond_the_friction_limit),
		cmocka_unit_test(capsule_rolls),
		cmocka_unit_test(block_rests_on_four_points_at_the_static_depth),
		cmocka_unit_test(block_sticks_below_the_friction_angle),
		cmocka_unit_test(block_slides_above_the_friction_angle),
		cmocka_unit_test(torsional_friction_brakes_spin),
		cmocka_unit_test(static_friction_exceeds_dynamic),
		cmocka_unit_test(collisions_conserve_momentum),
		cmocka_unit_test(wrenches_are_equal_and_opposite),
		cmocka_unit_test(energy_is_accounted_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
