// SPDX-License-Identifier: Apache-2.0
/*
 * test_closed_forms.c — systems whose motion is known: pendulums, tops, the double pendulum, a rigid pair.
 *
 * Elliptic integrals and Jacobi's functions are computed by the arithmetic-geometric mean. Motions in time
 * use the adaptive integrator at tight tolerances; the rest are accelerations at one instant.
 */
#include "support/random_tree.h"

#include <calder/integrate.h>

#include <math.h>

static const double PI = 3.14159265358979323846;

/* ---- elliptic functions --------------------------------------------------------------------- */

/* Complete integral of the first kind, parameter m = k^2. */
static double elliptic_K(double m) {
	double a = 1, b = sqrt(1 - m);
	for (int i = 0; i < 40 && fabs(a - b) > 1e-16 * a; i++) {
		double mean = (a + b) / 2;
		b = sqrt(a * b);
		a = mean;
	}
	return PI / (2 * a);
}

/* sn, cn, dn of (u | m) by the descending AGM scale (Abramowitz & Stegun 16.4). */
static void jacobi(double u, double m, double *sn, double *cn, double *dn) {
	double a[32] = {1}, c[32] = {sqrt(m)}, b = sqrt(1 - m);
	int n = 0;
	while (n < 30 && c[n] > 1e-17) {
		a[n + 1] = (a[n] + b) / 2;
		c[n + 1] = (a[n] - b) / 2;
		b = sqrt(a[n] * b);
		n++;
	}
	double phi = ldexp(a[n] * u, n), previous = phi;
	for (; n > 0; n--) {
		previous = phi;
		phi = (phi + asin(c[n] * sin(phi) / a[n])) / 2;
	}
	*sn = sin(phi);
	*cn = cos(phi);
	*dn = fabs(cos(previous - phi)) > 0.1 ? *cn / cos(previous - phi) : sqrt(1 - m * *sn * *sn);
}

static void jacobi_functions_are_right(void **state) {
	(void)state;
	double sn, cn, dn, want[3] = {0.8030018248956442, 0.5959765676721407, 0.8231610016315963};
	/* A&S: K(0.5) = 1.854074677301372 */
	assert_true(fabs(elliptic_K(0.5) - 1.8540746773013719) < 1e-15);
	jacobi(1, 0.5, &sn, &cn, &dn);
	check_close(0, "sn, cn, dn of (1|.5)", 3, (double[]){sn, cn, dn}, want, 1e-14);
	jacobi(elliptic_K(0.7), 0.7, &sn, &cn, &dn);
	check_close(0, "at K", 3, (double[]){sn, cn, dn}, (double[]){1, 0, sqrt(0.3)}, 1e-14);
	jacobi(17.3, 0.7, &sn, &cn, &dn);
	check_close(0, "identities", 2, (double[]){sn * sn + cn * cn, dn * dn + 0.7 * sn * sn}, (double[]){1, 1}, 1e-13);
}

/* ---- helpers -------------------------------------------------------------------------------- */

static void set_body(RefModel *m, int i, double mass, CalVec3 com, double Ix, double Iy, double Iz) {
	m->bodies[i].mass = mass;
	m->bodies[i].com = com;
	m->bodies[i].inertia = (CalMat3){{{Ix, 0, 0}, {0, Iy, 0}, {0, 0, Iz}}};
}

static Fixture *system_create(RefModel *m) {
	ref_model_index(m);
	return fixture_create(m, 0, CAL_SOLVER_AUTO);
}

static void advance(Fixture *f, double t) {
	CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-13, .atol = 1e-14};
	CalIntegrator *integrator;
	check_ok(0, cal_integrator_create(f->model, f->work, &options, &integrator));
	check_ok(0, cal_integrator_advance(integrator, &f->state, t));
	cal_integrator_destroy(integrator);
}

/* ---- pendulums ------------------------------------------------------------------------------ */

/* A hinge about y with the body below it; g along -z. The angle is from the downward vertical. */
static Fixture *pendulum_create(double mass, double length, double inertia) {
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){0, 0, -9.81};
	ref_model_add_body(m, -1, CAL_JOINT_REVOLUTE);
	m->bodies[0].joint.axis = (CalVec3){0, 1, 0};
	set_body(m, 0, mass, (CalVec3){0, 0, -length}, inertia, inertia, inertia);
	return system_create(m);
}

/* Benchmark A01 of the IFToMM library: a point mass released from the horizontal. */
static void simple_pendulum_follows_the_elliptic_sine(void **state) {
	(void)state;
	Fixture *f = pendulum_create(1, 1, 0);
	double k2 = 0.5, w = sqrt(9.81);
	f->state.q[0] = PI / 2;
	const double times[] = {0.5, 1.3, 5};
	for (int i = 0; i < 3; i++) {
		double sn, cn, dn;
		advance(f, times[i]);
		jacobi(elliptic_K(k2) + w * times[i], k2, &sn, &cn, &dn);
		double want = 2 * asin(sqrt(k2) * sn);
		check_close_scaled(0, "angle", 1, f->state.q, &want, 1, 1e-10);
	}
	fixture_destroy(f);
}

static void physical_pendulum_has_its_period(void **state) {
	(void)state;
	const double mass = 2, length = 0.7, inertia = 0.3, start = 2.5;
	Fixture *f = pendulum_create(mass, length, inertia);
	double w = sqrt(mass * 9.81 * length / (inertia + mass * length * length)), k = sin(start / 2);
	double period = 4 * elliptic_K(k * k) / w, zero = 0;
	f->state.q[0] = start;
	advance(f, period);
	check_close(0, "angle after a period", 1, f->state.q, &start, 1e-11);
	check_close_scaled(0, "speed after a period", 1, f->state.u, &zero, 1, 1e-9);
	advance(f, 1.5 * period);
	double opposite = -start;
	check_close(0, "angle after half a period more", 1, f->state.q, &opposite, 1e-11);
	fixture_destroy(f);
}

/* Two point masses on massless rods, textbook accelerations of the absolute angles. */
static void double_pendulum_has_textbook_accelerations(void **state) {
	(void)state;
	const double m1 = 1.3, m2 = 0.7, l1 = 0.9, l2 = 1.4, g = 9.81;
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){0, 0, -g};
	for (int i = 0; i < 2; i++) {
		ref_model_add_body(m, i - 1, CAL_JOINT_REVOLUTE);
		m->bodies[i].joint.axis = (CalVec3){0, 1, 0};
	}
	set_body(m, 0, m1, (CalVec3){0, 0, -l1}, 0, 0, 0);
	set_body(m, 1, m2, (CalVec3){0, 0, -l2}, 0, 0, 0);
	m->bodies[1].joint.inboard.position = (CalVec3){0, 0, -l1};
	Fixture *f = system_create(m);
	Rng r = rng_make(test_seed());
	for (int k = 0; k < 20; k++) {
		double a = rng_uniform(&r, -3, 3), b = rng_uniform(&r, -3, 3), ad = rng_uniform(&r, -4, 4);
		double bd = rng_uniform(&r, -4, 4), d = a - b, den = 2 * m1 + m2 - m2 * cos(2 * d);
		double add = (-g * (2 * m1 + m2) * sin(a) - m2 * g * sin(a - 2 * b) -
		              2 * sin(d) * m2 * (bd * bd * l2 + ad * ad * l1 * cos(d))) /
		             (l1 * den);
		double bdd =
			2 * sin(d) * (ad * ad * l1 * (m1 + m2) + g * (m1 + m2) * cos(a) + bd * bd * l2 * m2 * cos(d)) / (l2 * den);
		double udot[2], want[2] = {add, bdd - add};
		f->state.q[0] = a, f->state.q[1] = b - a, f->state.u[0] = ad, f->state.u[1] = bd - ad;
		check_ok(0, cal_forward_dynamics(f->model, &f->state, NULL, f->work, udot));
		check_close(test_seed(), "udot", 2, udot, want, 1e-12);
	}
	fixture_destroy(f);
}

/* ---- tops ----------------------------------------------------------------------------------- */

/* Torque-free top I1 > I2 > I3 with w2(0) = 0: w = (A1 dn, -A2 sn, A3 cn)(lambda t | m). */
static void free_top_follows_jacobi_functions(void **state) {
	(void)state;
	const double I1 = 2.8, I2 = 2, I3 = 1, w1 = 1.2, w3 = 0.6;
	RefModel *model = ref_model_create();
	ref_model_add_body(model, -1, CAL_JOINT_FREE);
	set_body(model, 0, 5, (CalVec3){0, 0, 0}, I1, I2, I3);
	Fixture *f = system_create(model);
	double T2 = I1 * w1 * w1 + I3 * w3 * w3, H2 = I1 * I1 * w1 * w1 + I3 * I3 * w3 * w3;
	double A2 = sqrt((T2 * I1 - H2) / (I2 * (I1 - I2))), lambda = sqrt((I1 - I2) * (H2 - T2 * I3) / (I1 * I2 * I3));
	double m = (I2 - I3) * (T2 * I1 - H2) / ((I1 - I2) * (H2 - T2 * I3));
	f->state.u[3] = w1, f->state.u[5] = w3;
	for (int k = 1; k <= 4; k++) {
		double sn, cn, dn, t = 5.0 * k;
		advance(f, t);
		jacobi(lambda * t, m, &sn, &cn, &dn);
		check_close(0, "w", 3, f->state.u + 3, (double[]){w1 * dn, -A2 * sn, w3 * cn}, 1e-10);
	}
	fixture_destroy(f);
}

/*
 * Steady precession W of a top with spin s at inclination th: (A-C) cos th W^2 - C s W + m g l = 0, A about
 * the pivot. The angular velocity is W z + s e, and its rate W z x s e.
 */
static void heavy_top_precesses_steadily(void **state) {
	(void)state;
	const double mass = 2, l = 0.6, A0 = 0.11, C = 0.08, g = 9.81, th = 0.5;
	RefModel *model = ref_model_create();
	model->gravity = (CalVec3){0, 0, -g};
	ref_model_add_body(model, -1, CAL_JOINT_SPHERICAL);
	set_body(model, 0, mass, (CalVec3){0, 0, l}, A0, A0, C);
	Fixture *f = system_create(model);
	double A = A0 + mass * l * l;
	for (int k = 1; k <= 6; k++) {
		double W = 0.7 * k, s = ((A - C) * cos(th) * W * W + mass * g * l) / (C * W), udot[3];
		/* turned by th about y: e = (sin th, 0, cos th); body axes x = (cos th, 0, -sin th), y */
		f->state.q[0] = cos(th / 2), f->state.q[1] = 0, f->state.q[2] = sin(th / 2), f->state.q[3] = 0;
		f->state.u[0] = -W * sin(th), f->state.u[1] = 0, f->state.u[2] = W * cos(th) + s;
		/* z x e = (0, sin th, 0) */
		double want[3] = {0, W * s * sin(th), 0};
		check_ok(0, cal_forward_dynamics(f->model, &f->state, NULL, f->work, udot));
		check_close(0, "udot", 3, udot, want, 1e-12);
	}
	fixture_destroy(f);
}

/* ---- rigid pair ----------------------------------------------------------------------------- */

/* Two bodies joined rigidly keep their momenta: numbers of the docking benchmark. */
static void rigid_pair_has_the_joint_momentum(void **state) {
	(void)state;
	const double v1[3] = {.02, 0, .01}, w1[3] = {.01, -.02, .005}, v2[3] = {-.08, .03, 0}, w2[3] = {0, .03, -.04};
	RefModel *apart = ref_model_create(), *pair = ref_model_create();
	for (int k = 0; k < 2; k++) {
		RefModel *m = k ? pair : apart;
		ref_model_add_body(m, -1, CAL_JOINT_FREE);
		ref_model_add_body(m, k ? 0 : -1, k ? CAL_JOINT_WELD : CAL_JOINT_FREE);
		set_body(m, 0, 1000, (CalVec3){0, 0, 0}, 800, 900, 700);
		set_body(m, 1, 400, (CalVec3){0, 0, 0}, 150, 120, 180);
		m->bodies[1].joint.inboard.position = (CalVec3){2.5, .3, -.2};
	}
	Fixture *a = system_create(apart), *b = system_create(pair);
	int second = a->body_of_ref[1], u2 = a->ref->bodies[second].u, u1 = a->ref->bodies[1 - second].u;
	for (int i = 0; i < 3; i++) {
		a->state.u[u1 + i] = v1[i], a->state.u[u1 + 3 + i] = w1[i];
		a->state.u[u2 + i] = v2[i], a->state.u[u2 + 3 + i] = w2[i];
	}
	CalMomentum before, after;
	CalEnergy energy;
	check_ok(0, cal_momentum(a->model, &a->state, a->work, &before));
	check_ok(0, cal_energy(a->model, &a->state, a->work, &energy));
	check_close(0, "energy before", 1, &energy.kinetic, &(double){2.13675}, 1e-12);
	double impulse[6];
	for (int i = 0; i < 3; i++)
		impulse[i] = (&before.linear.x)[i], impulse[i + 3] = (&before.angular_origin.x)[i];
	check_ok(0, cal_mass_factor(b->model, &b->state, b->work));
	check_ok(0, cal_mass_solve(b->model, b->work, impulse, b->state.u));
	check_ok(0, cal_momentum(b->model, &b->state, b->work, &after));
	check_ok(0, cal_energy(b->model, &b->state, b->work, &energy));
	check_close(0, "linear", 3, &after.linear.x, &before.linear.x, 1e-13);
	check_close(0, "angular", 3, &after.angular_origin.x, &before.angular_origin.x, 1e-13);
	double v[3] = {after.linear.x / after.mass, after.linear.y / after.mass, after.linear.z / after.mass};
	check_close(0, "v of the center", 3, v, (double[]){-.00857142857, .00857142857, .00714285714}, 1e-8);
	check_close(0, "w", 3, b->state.u + 3, (double[]){.00761121212, -2.572687e-5, .00936793392}, 1e-8);
	check_close(0, "energy after", 1, &energy.kinetic, &(double){0.295486403}, 1e-8);
	fixture_destroy(a);
	fixture_destroy(b);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jacobi_functions_are_right),
		cmocka_unit_test(simple_pendulum_follows_the_elliptic_sine),
		cmocka_unit_test(physical_pendulum_has_its_period),
		cmocka_unit_test(double_pendulum_has_textbook_accelerations),
		cmocka_unit_test(free_top_follows_jacobi_functions),
		cmocka_unit_test(heavy_top_precesses_steadily),
		cmocka_unit_test(rigid_pair_has_the_joint_momentum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
