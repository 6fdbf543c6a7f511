// SPDX-License-Identifier: Apache-2.0
/*
 * kepler.c — Kepler's problem by universal variables (Battin, An Introduction to the Mathematics and Methods of
 * Astrodynamics, 4.5).
 *
 * With a the reciprocal of the semi-major axis, s = r.v/sqrt(mu), z = a X^2 and Stumpff's functions C(z), S(z), X solves
 *   F(X) = s X^2 C + (1 - a r) X^3 S + r X - sqrt(mu) dt = 0,  F'(X) = the new distance r1 > 0,
 * so F rises and has one zero. Laguerre's iteration of degree 5 finds it from any start (Conway 1986). The new state is
 * f r + g v and f' r + g' v. Whole revolutions of an ellipse are taken off before.
 */
#include "device/kepler.h"

#include <math.h>

#include "device/device.h"
#include "math/portable.h"

#define PI 3.14159265358979323846

/* C = (1 - cos sqrt z)/z and S = (sqrt z - sin sqrt z)/z^(3/2), for z < 0 with hyperbolic functions. */
typedef struct Stumpff {
	double C, S;
} Stumpff;

/* (-z)^k/(2k + 2)! and (-z)^k/(2k + 3)!, from the smallest term on: 14 terms are enough for |z| <= 1. */
static Stumpff stumpff_series(double z) {
	double C = 1, S = 1;
	for (int k = 14; k >= 1; k--) {
		C = 1 - z * C / ((2 * k + 1) * (2 * k + 2));
		S = 1 - z * S / ((2 * k + 2) * (2 * k + 3));
	}
	return (Stumpff){C / 2, S / 6};
}

static Stumpff stumpff(double z) {
	if (fabs(z) <= 1)
		return stumpff_series(z);
	const double w = sqrt(fabs(z)), half = z > 0 ? portable_sin(w / 2) : portable_sinh(w / 2);
	const double full = z > 0 ? portable_sin(w) : portable_sinh(w);
	return (Stumpff){2 * half * half / fabs(z), fabs(w - full) / (fabs(z) * w)};
}

/* The orbit in units in which mu is 1: times are multiplied by sqrt(mu). */
typedef struct Orbit {
	double r, s, a; // distance, r.v/sqrt(mu), reciprocal of the semi-major axis
} Orbit;

static Orbit orbit_of(double mu, OrbitState at) {
	const double r = v_norm(at.r);
	return (Orbit){r, v_dot(at.r, at.v) / sqrt(mu), 2 / r - v_dot(at.v, at.v) / mu};
}

/* F, F', F'' at X. */
static void equation_at(Orbit o, double time, double X, double F[3]) {
	const double z = o.a * X * X, b = 1 - o.a * o.r;
	const Stumpff f = stumpff(z);
	F[0] = o.s * X * X * f.C + b * X * X * X * f.S + o.r * X - time;
	F[1] = o.s * X * (1 - z * f.S) + b * X * X * f.C + o.r;
	F[2] = o.s * (1 - z * f.C) + b * X * (1 - z * f.S);
}

static double solve(Orbit o, double time) {
	enum { MOST = 60 };
	double X = o.a > 0 ? o.a * time : time / o.r, last = INFINITY;
	if (o.a <= 0 && fabs(o.a * X * X) > 100) // sinh() of a far start would be out of reach
		X = copysign(10 / sqrt(-o.a), time);
	for (int i = 0; i < MOST; i++) {
		double F[3];
		equation_at(o, time, X, F);
		const double root = sqrt(fabs(16 * F[1] * F[1] - 20 * F[0] * F[2]));
		const double change = 5 * F[0] / (F[1] + copysign(root, F[1]));
		X -= change;
		if (fabs(change) <= 1e-16 * fabs(X) || (fabs(change) <= 1e-13 * fabs(X) && fabs(change) >= last))
			break;
		last = fabs(change);
	}
	return X;
}

bool kepler_state(double mu, OrbitState start, double dt, OrbitState *state) {
	const Orbit o = orbit_of(mu, start);
	const double root = sqrt(mu);
	if (o.a > 0) {
		const double period = 2 * PI / (o.a * sqrt(o.a) * root);
		dt -= period * floor(dt / period + 0.5);
	}
	const double X = solve(o, root * dt);
	const Stumpff c = stumpff(o.a * X * X);
	const double f = 1 - X * X * c.C / o.r, g = dt - X * X * X * c.S / root;
	state->r = v_add(v_scale(f, start.r), v_scale(g, start.v));
	const double r = v_norm(state->r);
	const double fdot = root / (r * o.r) * X * (o.a * X * X * c.S - 1), gdot = 1 - X * X * c.C / r;
	state->v = v_add(v_scale(fdot, start.r), v_scale(gdot, start.v));
	return r > 0 && isfinite(r + v_norm(state->v));
}
