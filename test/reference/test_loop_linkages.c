// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_linkages.c — mechanisms with loops whose motion is known in closed form.
 *
 * Linkages of one dof with the angle t of the crank: from the positions of all links as functions of t follow
 * J(t), the inertia seen by the crank, and V(t), so that J t'' = torque - J' t'^2/2 - V'. The rest are textbook
 * problems: gears, a point on a string, rolling and sliding.
 */
#include "reference/run.h"
#include "support/random_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81;

/* ---- parallelograms ------------------------------------------------------------------------- */

/* th'' = -c cos(th), c = g ((N+1)/2 + N) / ((N+1)/3 + N) [IFToMM A02] */
static double windows_constant(int windows) {
	double n = windows;
	return gravity * ((n + 1) / 2 + n) / ((n + 1) / 3 + n);
}

static void windows_accelerate_as_one_pendulum(void **state) {
	(void)state;
	static const RefLoopType types[] = {REF_LOOP_REVOLUTE, REF_LOOP_SPHERICAL, REF_LOOP_CYLINDRICAL};
	for (int n = 1; n <= 4; n++)
		for (int k = 0; k < 3; k++) {
			double angle = 0.3 + 0.7 * k, rate = -1.3, udot[16], want[16];
			RefModel *m = loop_windows(n, angle, rate, types[k]);
			double q[16], u[16];
			RefSolution s = {.udot = udot};
			ref_model_start(m, q, u);
			assert_int_equal(refq_loop_forward(m, 0, q, u, NULL, &s), 0);
			for (int i = 0; i < m->nu; i++)
				want[i] = (i % 2 == 0 ? -1 : 1) * windows_constant(n) * cos(angle);
			check_close(0, "windows", m->nu, udot, want, 1e-14);
			assert_int_equal(s.rank, 2 * n);
			ref_model_destroy(m);
		}
}

/*
 * Stretched flat every window loses one of its two rows: the chain could leave the parallelogram here. What is left
 * is solved without contradiction; a single window has no other way to move.
 */
static void flat_windows_lose_a_row_each(void **state) {
	(void)state;
	for (int n = 1; n <= 4; n++) {
		RefModel *m = loop_windows(n, 0, -2, REF_LOOP_REVOLUTE);
		double q[16], u[16], udot[16], mismatch[32], want = -windows_constant(1);
		RefSolution s = {.udot = udot, .mismatch = mismatch};
		ref_model_start(m, q, u);
		assert_int_equal(refq_loop_forward(m, 0, q, u, NULL, &s), 0);
		assert_int_equal(s.rank, n);
		check_that(0, max_abs(5 * n, mismatch) < 1e-30 && max_abs(m->nu, udot) < 20);
		if (n == 1)
			check_close(0, "one window", 1, udot, &want, 1e-14);
		ref_model_destroy(m);
	}
}

static void windows_follow_their_pendulum(void **state) {
	(void)state;
	RefModel *m = loop_windows(2, acos(0), -1, REF_LOOP_REVOLUTE);
	double q[16], u[16], c = windows_constant(2), want = 0.5 + c;
	RefRun run = {0};
	ref_model_start(m, q, u);
	assert_int_equal(ref_run(m, &run, 0, 0.6, 40, q, u), 0);
	double level = 0.5 * u[0] * u[0] + c * sin(q[0]); /* first integral */
	check_close(0, "level", 1, &level, &want, 1e-11);
	for (int i = 0; i < m->nu; i++)
		check_that(0, fabs(q[i] - (i % 2 == 0 ? q[0] : -q[0])) < 1e-11 && q[0] > 0 && q[0] < 0.7);
	ref_model_destroy(m);
}

/* ---- linkages of one dof ---------------------------------------------------------------- */

/* A uniform rod, its joint at x on its parent's axis; the joint turns about z. */
static int add_rod(RefModel *m, int parent, double x, double length, double mass) {
	int i = ref_model_add_body(m, parent, CAL_JOINT_REVOLUTE);
	RefBody *b = &m->bodies[i];
	b->joint.inboard.position.x = x;
	b->mass = mass;
	b->com.x = length / 2;
	b->inertia.m[1][1] = b->inertia.m[2][2] = mass * length * length / 12;
	return i;
}

/* The tip of one body (at x = length) on a point of another, by a loop about z. */
static void close_at(RefModel *m, int body_a, double xa, int body_b, double xb) {
	int a = ref_model_add_node(m, body_a, (CalPlacement){{xa, 0, 0}, {1, 0, 0, 0}});
	int b = ref_model_add_node(m, body_b, (CalPlacement){{xb, 0, 0}, {1, 0, 0, 0}});
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_REVOLUTE);
	l->node_a = a;
	l->node_b = b;
}

/* Values, first and second derivatives with respect to the crank's angle. */
typedef struct Curve {
	double x, d, dd;
} Curve;

/* J += m x'^2 and J'/2 += m x' x'' of each, V' += m g y' of the height y. */
typedef struct Reduced {
	double J, half_slope, V_slope;
} Reduced;

static void add_inertia(Reduced *r, double m, Curve x) {
	r->J += m * x.d * x.d;
	r->half_slope += m * x.d * x.dd;
}

static Curve cosine(double a, Curve t) {
	return (Curve){a * cos(t.x), -a * sin(t.x) * t.d, -a * cos(t.x) * t.d * t.d - a * sin(t.x) * t.dd};
}
static Curve sine(double a, Curve t) {
	return (Curve){a * sin(t.x), a * cos(t.x) * t.d, -a * sin(t.x) * t.d * t.d + a * cos(t.x) * t.dd};
}
static Curve sum(Curve a, Curve b) { return (Curve){a.x + b.x, a.d + b.d, a.dd + b.dd}; }

/* A uniform rod at the angle t with its end at (x, y). */
static void add_link(Reduced *r, double mass, double length, Curve t, Curve x, Curve y) {
	Curve gx = sum(x, cosine(length / 2, t)), gy = sum(y, sine(length / 2, t));
	add_inertia(r, mass, gx);
	add_inertia(r, mass, gy);
	add_inertia(r, mass * length * length / 12, t);
	r->V_slope += mass * gravity * gy.d;
}

static void check_linkage(RefModel *m, const double *q, const double *u, const Reduced *r, double torque,
                          const Curve *coordinate) {
	double tau[4] = {torque, 0, 0, 0}, udot[4], want[4], t1 = u[0];
	double t2 = (torque - r->half_slope * t1 * t1 - r->V_slope) / r->J;
	CalInput in = {.tau = tau};
	RefSolution s = {.udot = udot};
	double residual[8], rate[8];
	refq_loop_rows(m, 0, q, u, residual, rate, NULL, NULL);
	check_that(0, max_abs(5, residual) < 1e-14 && max_abs(5, rate) < 1e-14);
	assert_int_equal(refq_loop_forward(m, 0, q, u, &in, &s), 0);
	assert_int_equal(s.rank, 2);
	for (int i = 0; i < m->nu; i++)
		want[i] = coordinate[i].d * t2 + coordinate[i].dd * t1 * t1;
	check_close(0, "linkage", m->nu, udot, want, 1e-12);
	ref_model_destroy(m);
}

static void a_slider_crank_moves_as_its_closed_form(void **state) {
	(void)state;
	const double r = 0.3, l = 0.8, mass[3] = {1.2, 0.7, 2.5};
	for (int k = 0; k < 8; k++) {
		RefModel *m = ref_model_create();
		m->gravity = (CalVec3){0, -gravity, 0};
		int crank = add_rod(m, -1, 0, r, mass[0]), rod = add_rod(m, crank, r, l, mass[1]);
		int slider = ref_model_add_body(m, -1, CAL_JOINT_PRISMATIC);
		m->bodies[slider].joint.axis = (CalVec3){1, 0, 0};
		m->bodies[slider].mass = mass[2];
		close_at(m, rod, l, slider, 0);
		ref_model_index(m);
		Curve t = {0.4 + 0.75 * k, 1, 0}, p = {.x = asin(-r / l * sin(t.x))}; /* l sin p = -r sin t */
		p.d = -r * cos(t.x) / (l * cos(p.x));
		p.dd = (r * sin(t.x) + l * sin(p.x) * p.d * p.d) / (l * cos(p.x));
		Curve x = cosine(r, t), y = sine(r, t), s = sum(x, cosine(l, p)), zero = {0, 0, 0};
		Reduced reduced = {0};
		add_link(&reduced, mass[0], r, t, zero, zero);
		add_link(&reduced, mass[1], l, p, x, y);
		add_inertia(&reduced, mass[2], s);
		double w = 2.2 - 0.5 * k, q[3] = {t.x, p.x - t.x, s.x}, u[3] = {w, (p.d - 1) * w, s.d * w};
		check_linkage(m, q, u, &reduced, 1.5, (Curve[]){t, {p.x - t.x, p.d - 1, p.dd}, s});
	}
}

static void a_four_bar_moves_as_its_closed_form(void **state) {
	(void)state;
	const double a = 0.25, b = 0.9, c = 0.7, d = 0.8, mass[3] = {0.5, 1.1, 0.8};
	for (int k = 0; k < 8; k++) {
		RefModel *m = ref_model_create();
		m->gravity = (CalVec3){0, -gravity, 0};
		int crank = add_rod(m, -1, 0, a, mass[0]), coupler = add_rod(m, crank, a, b, mass[1]);
		int rocker = add_rod(m, -1, d, c, mass[2]);
		close_at(m, coupler, b, rocker, c);
		ref_model_index(m);
		/* a e^it + b e^ip = d + c e^is: the tip of the crank as seen from the pivot of the rocker, and the triangle */
		Curve t = {0.3 + 0.8 * k, 1, 0}, p = {0}, s = {0};
		double x = a * cos(t.x) - d, y = a * sin(t.x), e = sqrt(x * x + y * y);
		s.x = atan2(y, x) - acos((c * c + e * e - b * b) / (2 * c * e));
		p.x = atan2(c * sin(s.x) - y, c * cos(s.x) - x);
		double ps = p.x - s.x, ts = t.x - s.x, tp = t.x - p.x;
		p.d = -a * sin(ts) / (b * sin(ps));
		s.d = -a * sin(tp) / (c * sin(ps));
		p.dd = -(a * cos(ts) * (1 - s.d) + b * p.d * cos(ps) * (p.d - s.d)) / (b * sin(ps));
		s.dd = -(a * cos(tp) * (1 - p.d) + c * s.d * cos(ps) * (p.d - s.d)) / (c * sin(ps));
		Curve zero = {0, 0, 0}, base = {d, 0, 0};
		Reduced reduced = {0};
		add_link(&reduced, mass[0], a, t, zero, zero);
		add_link(&reduced, mass[1], b, p, cosine(a, t), sine(a, t));
		add_link(&reduced, mass[2], c, s, base, zero);
		double w = 1.5 - 0.4 * k, q[3] = {t.x, p.x - t.x, s.x}, u[3] = {w, (p.d - 1) * w, s.d * w};
		check_linkage(m, q, u, &reduced, -0.8, (Curve[]){t, {p.x - t.x, p.d - 1, p.dd}, s});
	}
}

/* ---- other constraints ---------------------------------------------------------------------- */

static int add_disk(RefModel *m, CalJointType joint, double mass, double diameter_inertia, double axis_inertia) {
	int i = ref_model_add_body(m, -1, joint);
	m->bodies[i].mass = mass;
	m->bodies[i].inertia.m[0][0] = m->bodies[i].inertia.m[1][1] = diameter_inertia;
	m->bodies[i].inertia.m[2][2] = axis_inertia;
	return i;
}

/* q0 + n q1 = constant: (I0 + I1/n^2) q0'' = torque. */
static void gears_share_the_torque(void **state) {
	(void)state;
	const double n = 2.5, I0 = 0.3, I1 = 1.7, torque = 4;
	RefModel *m = ref_model_create();
	add_disk(m, CAL_JOINT_REVOLUTE, 1, I0, I0);
	add_disk(m, CAL_JOINT_REVOLUTE, 1, I1, I1);
	ref_model_index(m);
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_COUPLING);
	l->term_count = 2;
	l->term[0] = (RefTerm){"body0", 0, 1};
	l->term[1] = (RefTerm){"body1", 0, n};
	l->drive[0].offset = 0.5 + n * 0.2;
	double q[2] = {0.5, 0.2}, u[2] = {n, -1}, tau[2] = {torque, 0}, udot[2], lambda, residual, rate;
	double x = torque / (I0 + I1 / (n * n)), want[2] = {x, -x / n}, tooth = I0 * x - torque;
	RefSolution s = {.udot = udot, .lambda = &lambda};
	CalInput in = {.tau = tau};
	refq_loop_rows(m, 0, q, u, &residual, &rate, NULL, NULL);
	check_that(0, fabs(residual) < 1e-15 && fabs(rate) < 1e-15);
	assert_int_equal(refq_loop_forward(m, 0, q, u, &in, &s), 0);
	check_close(0, "gears", 2, udot, want, 1e-14);
	check_close(0, "tooth force", 1, &lambda, &tooth, 1e-14);
	ref_model_destroy(m);
}

/* A point mass on a string: the tension is m (v^2/L + g cos(angle)), the multiplier its negative. */
static void a_string_carries_its_tension(void **state) {
	(void)state;
	const double L = 1.4, mass = 0.6, angle = 0.7, w = 1.9;
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){0, 0, -gravity};
	int i = add_disk(m, CAL_JOINT_FREE, mass, 1, 1),
		node = ref_model_add_node(m, i, (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}});
	ref_model_index(m);
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_DISTANCE);
	l->node_b = node;
	l->length = L;
	double q[7] = {L * sin(angle), 0, -L * cos(angle), 1, 0, 0, 0}, u[6] = {L * w * cos(angle), 0, L * w * sin(angle)};
	double udot[6], lambda, t2 = -gravity / L * sin(angle), tension = mass * (L * w * w + gravity * cos(angle));
	double want[6] = {L * (cos(angle) * t2 - sin(angle) * w * w), 0, L * (sin(angle) * t2 + cos(angle) * w * w)};
	RefSolution s = {.udot = udot, .lambda = &lambda};
	assert_int_equal(refq_loop_forward(m, 0, q, u, NULL, &s), 0);
	check_close(0, "pendulum", 6, udot, want, 1e-14);
	check_that(0, fabs(lambda + tension) < 1e-13);
	ref_model_destroy(m);
}

/* A ball on a plane at an angle rolls down with 5/7 g sin(angle); friction 2/7 m g sin(angle). */
static void a_ball_rolls_down_a_plane(void **state) {
	(void)state;
	const double R = 0.2, mass = 3, angle = 0.35;
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){gravity * sin(angle), 0, -gravity * cos(angle)};
	int i = add_disk(m, CAL_JOINT_FREE, mass, 0.4 * mass * R * R, 0.4 * mass * R * R);
	int node = ref_model_add_node(m, i, (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}});
	ref_model_index(m);
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_BALL);
	l->node_b = node;
	l->radius = R;
	double q[7] = {1, 2, R, 1, 0, 0, 0}, u[6] = {0.5, -0.3, 0, 0.3 / R, 0.5 / R, 1.1}, udot[6], lambda[3], g[6];
	double a = 5.0 / 7 * gravity * sin(angle), want[6] = {a, 0, 0, 0, a / R, 0};
	double force[3] = {-2.0 / 7 * mass * gravity * sin(angle), 0, mass * gravity * cos(angle)};
	RefSolution s = {.udot = udot, .lambda = lambda};
	refq_loop_rows(m, 0, q, u, g, g + 3, NULL, NULL);
	check_that(0, max_abs(6, g) < 1e-15);
	assert_int_equal(refq_loop_forward(m, 0, q, u, NULL, &s), 0);
	check_close(0, "ball", 6, udot, want, 1e-14);
	check_close(0, "forces", 3, lambda, force, 1e-14);
	ref_model_destroy(m);
}

/*
 * A disk that rolls on a circle, its axis k at the constant angle b from the vertical n, which it goes around at the
 * rate W. k = (sin b, 0, cos b); p = (-cos b, 0, sin b) points from the contact to the center. With the angular velocity
 * w = h k + W sin b p the center has the velocity w x R p = (0, -R h, 0) and the acceleration (W R h, 0, 0), so that the
 * contact pushes with F = m (W R h, 0, g). Angular momentum about the center, H = I3 h k + I1 W sin b p, turns with W n:
 * the y component of W n x H = -R p x F determines h.
 */
static void a_disk_rolls_on_a_circle(void **state) {
	(void)state;
	const double R = 0.4, mass = 2, I1 = mass * R * R / 4, I3 = 2 * I1, b = 1.1, W = 1.6;
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){0, 0, -gravity};
	int i = add_disk(m, CAL_JOINT_FREE, mass, I1, I3);
	int node = ref_model_add_node(m, i, (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}});
	ref_model_index(m);
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_DISK);
	l->node_b = node;
	l->radius = R;
	double h = (I1 * W * W * sin(b) * cos(b) - mass * gravity * R * cos(b)) / ((I3 + mass * R * R) * W * sin(b));
	double half = b / 2, q[7] = {0.3, -0.2, R * sin(b), cos(half), 0, sin(half), 0};
	double u[6] = {0, -R * h, 0, -W * sin(b), 0, h}, udot[6], lambda[3], g[6];
	double want[6] = {W * R * h, 0, 0, 0, 0, 0}, force[3] = {mass * W * R * h, 0, mass * gravity};
	/* axes of the body: x along -p, z along k; the components of w turn back with the spin h - W cos b about z */
	want[4] = (h - W * cos(b)) * W * sin(b);
	RefSolution s = {.udot = udot, .lambda = lambda};
	refq_loop_rows(m, 0, q, u, g, g + 3, NULL, NULL);
	check_that(0, max_abs(6, g) < 1e-15);
	assert_int_equal(refq_loop_forward(m, 0, q, u, NULL, &s), 0);
	check_close(0, "disk", 6, udot, want, 1e-13);
	check_close(0, "forces", 3, lambda, force, 1e-13);
	ref_model_destroy(m);
}

/* Chaplygin's sleigh: v = c tanh(mu c t), w = c sqrt(mu/a) sech(mu c t), mu = m a/(I + m a^2), center a ahead. */
static void a_sleigh_turns_as_its_closed_form(void **state) {
	(void)state;
	const double a = 0.5, mass = 2, I = 0.3, mu = mass * a / (I + mass * a * a), c = 1.4, t0 = -0.4, t1 = 0.9;
	RefModel *m = ref_model_create();
	int i = ref_model_add_body(m, -1, CAL_JOINT_PLANAR);
	m->bodies[i].mass = mass;
	m->bodies[i].com.x = a;
	m->bodies[i].inertia.m[0][0] = m->bodies[i].inertia.m[1][1] = m->bodies[i].inertia.m[2][2] = I;
	int node = ref_model_add_node(m, i, (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}});
	ref_model_index(m);
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_KNIFE);
	l->node_a = node;
	double v = c * tanh(mu * c * t0), angle = 0.6, q[3] = {0, 0, angle};
	double u[3] = {v * cos(angle), v * sin(angle), c * sqrt(mu / a) / cosh(mu * c * t0)};
	RefRun run = {0};
	assert_int_equal(ref_run(m, &run, t0, t1, 20, q, u), 0);
	v = c * tanh(mu * c * t1);
	double want[3] = {v * cos(q[2]), v * sin(q[2]), c * sqrt(mu / a) / cosh(mu * c * t1)};
	check_close(0, "sleigh", 3, u, want, 1e-12);
	ref_model_destroy(m);
}

/* A driven crank: the angle of the loop follows its law, and so do the rates. */
static void a_driven_angle_follows_its_law(void **state) {
	(void)state;
	RefModel *m = loop_windows(1, 1, 0, REF_LOOP_REVOLUTE);
	int tip = ref_model_add_node(m, 0, (CalPlacement){{0, 0, 0}, {1, 0, 0, 0}});
	RefLoop *l = ref_model_add_loop(m, REF_LOOP_ANGLE);
	l->node_b = tip;
	l->drive[0] = (RefDrive){.offset = 1, .speed = 0.5, .acceleration = -0.4, .amplitude = 0.1, .frequency = 3};
	double q[3], u[3], t = 0.8;
	RefRun run = {0};
	ref_model_start(m, q, u);
	ref_project_velocity(m, 0, q, u, REF_MASS, NULL, u, NULL);
	assert_int_equal(ref_run(m, &run, 0, t, 20, q, u), 0);
	double angle = 1 + 0.5 * t - 0.2 * t * t + 0.1 * sin(3 * t), rate = 0.5 - 0.4 * t + 0.3 * cos(3 * t);
	double want[6] = {angle, -angle, angle, rate, -rate, rate}, got[6] = {q[0], q[1], q[2], u[0], u[1], u[2]};
	check_close(0, "driven", 6, got, want, 1e-12);
	ref_model_destroy(m);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_accelerate_as_one_pendulum),
		cmocka_unit_test(flat_windows_lose_a_row_each),
		cmocka_unit_test(windows_follow_their_pendulum),
		cmocka_unit_test(a_slider_crank_moves_as_its_closed_form),
		cmocka_unit_test(a_four_bar_moves_as_its_closed_form),
		cmocka_unit_test(gears_share_the_torque),
		cmocka_unit_test(a_string_carries_its_tension),
		cmocka_unit_test(a_ball_rolls_down_a_plane),
		cmocka_unit_test(a_disk_rolls_on_a_circle),
		cmocka_unit_test(a_sleigh_turns_as_its_closed_form),
		cmocka_unit_test(a_driven_angle_follows_its_law),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
