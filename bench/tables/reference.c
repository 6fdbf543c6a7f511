// SPDX-License-Identifier: Apache-2.0
/*
 * reference.c — equations of motion of the benchmarks in as few coordinates as they have dofs.
 */
#include <math.h>

#include "reference.h"

static const double gravity = 9.81;

static void runge_kutta_step(Reference *r, double h) {
	double k[4][REFERENCE_SIZE], y[REFERENCE_SIZE];
	static const double at[4] = {0, 0.5, 0.5, 1};
	for (int stage = 0; stage < 4; stage++) {
		for (int i = 0; i < REFERENCE_SIZE; i++)
			y[i] = r->y[i] + (stage ? at[stage] * h * k[stage - 1][i] : 0);
		r->rate(r, y, k[stage]);
	}
	for (int i = 0; i < REFERENCE_SIZE; i++)
		r->y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

void reference_advance(Reference *r, double t) {
	const long steps = lround(ceil((t - r->t) / r->step - 1e-9));
	const double h = steps > 0 ? (t - r->t) / (double)steps : 0;
	for (long i = 0; i < steps; i++)
		runge_kutta_step(r, h);
	r->t = t;
}

/* ---- pendulum ----------------------------------------------------------------------------------- */

static void pendulum_rate(const Reference *r, const double *y, double *dy) {
	dy[0] = y[1], dy[1] = -r->value * cos(y[0]);
	dy[2] = dy[3] = 0;
}

Reference reference_pendulum(double c, double th, double rate) {
	return (Reference){.y = {th, rate}, .step = 2e-4, .value = c, .rate = pendulum_rate};
}

/* N + 1 rods turn about their feet, N move along with their tops. */
double reference_windows(int windows) {
	const double n = windows;
	return gravity * ((n + 1) / 2 + n) / ((n + 1) / 3 + n);
}

/* ---- governor ----------------------------------------------------------------------------------- */

/*
 * A rod at the angle a below level, hinged at (0.05, 1) in the plane of x and z that turns with the shaft: 0.3 kg at 0.5 m,
 * 5 kg at 1 m. Inertias about z of all (Iz) and its derivative to a; J of a rod about its hinge. The spin follows from the
 * angular momentum about z, which nothing changes.
 */
static const double rod = 0.3, ball = 5, slider = 3, along = 5e-6, across = 0.0250025;
static const double stiffness = 8e5, damping = 4e4, slack = 0.5;

static double inertia_z(double a) {
	const double middle = 0.05 + 0.5 * cos(a), end = 0.05 + cos(a);
	const double one = along * sin(a) * sin(a) + across * cos(a) * cos(a) + rod * middle * middle + ball * end * end;
	return 5e-6 + 0.005 + 2 * one; // shaft, slider, rods
}

static double inertia_z_slope(double a) {
	const double middle = 0.05 + 0.5 * cos(a), end = 0.05 + cos(a);
	const double one = 2 * (along - across) * sin(a) * cos(a) - rod * middle * sin(a) - 2 * ball * end * sin(a);
	return 2 * one;
}

static void governor_rate(const Reference *r, const double *y, double *dy) {
	const double s = y[0], a = y[2], spin = r->value / inertia_z(a);
	// The spring goes from the slider's side to the middle of the rod.
	const double dx = 0.5 * cos(a), dz = 1 - 0.5 * sin(a) - s, l = sqrt(dx * dx + dz * dz);
	const double rate = (dx * -0.5 * sin(a) * y[3] + dz * (-0.5 * cos(a) * y[3] - y[1])) / l;
	const double pull = (stiffness * (l - slack) + damping * rate) / l;
	const double moment = pull * (dx * 0.5 * sin(a) + dz * 0.5 * cos(a)); // on a rod, towards larger a
	const double J = across + rod * 0.25 + ball, weight = (0.5 * rod + ball) * gravity * cos(a);
	dy[0] = y[1];
	dy[1] = 2 * pull * dz / slider - gravity;
	dy[2] = y[3];
	dy[3] = (0.25 * inertia_z_slope(a) * spin * spin + weight + moment) / J;
}

Reference reference_governor(void) {
	const double pi = acos(-1);
	return (Reference){
		.y = {0.5, 0, pi / 6, 0}, .step = 2e-5, .value = inertia_z(pi / 6) * 2 * pi, .rate = governor_rate};
}
