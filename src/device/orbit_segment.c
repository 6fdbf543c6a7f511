// SPDX-License-Identifier: Apache-2.0
/*
 * orbit_segment.c — free fall r'' = -mu r/r^3 + p(r) by collocation about a Kepler orbit.
 *
 * r = K(t) + e with Kepler's orbit K of the state at the start (Encke), e'' = p(K + e) + g(K + e) - g(K), e = e' = 0 at the
 * start. e'' is a polynomial through Chebyshev nodes of the segment; integrated twice it gives e at the nodes, and so on
 * until nothing changes: with 0.4 rad of the orbit each round leaves a tenth of the error. A harmonic 4 of the orbit is
 * missed by 1e-13 of itself (twelve nodes).
 */
#include "device/orbit_segment.h"

#include <math.h>

#include "device/device.h"
#include "math/portable.h"

#define PI 3.14159265358979323846

CalVec3 point_mass_beside(double mu, CalVec3 R, CalVec3 x) {
	const CalVec3 r = v_add(R, x);
	const double R2 = v_dot(R, R), q = v_dot(x, v_add(x, v_scale(2, R))) / R2, p = (1 + q) * sqrt(1 + q);
	const double F = q * (3 + q * (3 + q)) / (p * (1 + p));
	return v_scale(-mu / (R2 * sqrt(R2)), v_sub(x, v_scale(F, r)));
}

double orbit_segment_length(double mu, OrbitState state, double least) {
	const double r = v_norm(state.r), v2 = v_dot(state.v, state.v);
	const CalVec3 h = v_cross(state.r, state.v);
	const double p = v_dot(h, h) / mu, e = sqrt(fmax(0, 1 + p * (v2 / mu - 2 / r)));
	const double nearest = fmax(p / (1 + e), least);
	return 0.4 * nearest * sqrt(nearest / mu);
}

/* ---- series of Chebyshev polynomials ----------------------------------------------------------------- */

static double node_at(int i) { return portable_cos(PI * (i + 0.5) / SEGMENT_NODES); }

/* Of the polynomial that has these values at the nodes. */
static void series_through(const CalVec3 value[SEGMENT_NODES], CalVec3 series[SEGMENT_NODES]) {
	for (int j = 0; j < SEGMENT_NODES; j++) {
		CalVec3 sum = {0, 0, 0};
		for (int i = 0; i < SEGMENT_NODES; i++)
			sum = v_add(sum, v_scale(portable_cos(PI * j * (i + 0.5) / SEGMENT_NODES), value[i]));
		series[j] = v_scale((j ? 2.0 : 1.0) / SEGMENT_NODES, sum);
	}
}

/* integral[count + 1] over x times `scale`, zero at x = -1. */
static void integrate_series(const CalVec3 *series, int count, double scale, CalVec3 *integral) {
	const CalVec3 zero = {0, 0, 0};
	CalVec3 at_start = zero;
	for (int j = 1; j <= count; j++) {
		const CalVec3 before = v_scale(j == 1 ? 2 : 1, series[j - 1]), after = j + 1 < count ? series[j + 1] : zero;
		integral[j] = v_scale(scale / (2 * j), v_sub(before, after));
		at_start = v_add(at_start, v_scale(j % 2 ? -1 : 1, integral[j]));
	}
	integral[0] = v_scale(-1, at_start);
}

/* Clenshaw's sum. */
static CalVec3 series_at(const CalVec3 *series, int count, double x) {
	CalVec3 b1 = {0, 0, 0}, b2 = b1;
	for (int j = count - 1; j >= 1; j--) {
		const CalVec3 b = v_add(series[j], v_sub(v_scale(2 * x, b1), b2));
		b2 = b1, b1 = b;
	}
	return v_add(series[0], v_sub(v_scale(x, b1), b2));
}

/* ---- segments ------------------------------------------------------------------------------------------ */

bool orbit_segment_solve(double mu, PerturbationFn *perturbation, const void *user, OrbitSegment *segment) {
	enum { ROUNDS = 16 };
	OrbitState kepler[SEGMENT_NODES];
	CalVec3 acceleration[SEGMENT_NODES], series[SEGMENT_NODES];
	for (int i = 0; i < SEGMENT_NODES; i++)
		if (!kepler_state(mu, segment->start, 0.5 * segment->length * (1 + node_at(i)), &kepler[i]))
			return false;
	for (int i = 0; i < SEGMENT_NODES + 2; i++)
		segment->off[i] = (CalVec3){0, 0, 0};
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SEGMENT_NODES; i++) {
			const CalVec3 e = series_at(segment->off, SEGMENT_NODES + 2, node_at(i)), K = kepler[i].r;
			acceleration[i] = v_add(perturbation(user, v_add(K, e)), point_mass_beside(mu, K, e));
		}
		series_through(acceleration, series);
		integrate_series(series, SEGMENT_NODES, 0.5 * segment->length, segment->rate);
		integrate_series(segment->rate, SEGMENT_NODES + 1, 0.5 * segment->length, segment->off);
	}
	return true;
}

bool orbit_segment_state(double mu, const OrbitSegment *segment, double t, OrbitState *state) {
	const double since = t - segment->epoch;
	if (!kepler_state(mu, segment->start, since, state))
		return false;
	if (segment->length > 0) {
		const double x = fmin(fmax(2 * since / segment->length - 1, -1), 1);
		state->r = v_add(state->r, series_at(segment->off, SEGMENT_NODES + 2, x));
		state->v = v_add(state->v, series_at(segment->rate, SEGMENT_NODES + 1, x));
	}
	return true;
}
