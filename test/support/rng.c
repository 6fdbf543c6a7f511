// SPDX-License-Identifier: Apache-2.0
/*
 * rng.c — counter-based random numbers and the random vectors, rotations and inertias made of them.
 */
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t test_seed(void) {
	static uint64_t seed;
	static int known;
	if (!known) {
		const char *text = getenv("CALDER_TEST_SEED");
		seed = text && *text ? strtoull(text, NULL, 0) : UINT64_C(20240607);
		known = 1;
		printf("seed %llu (CALDER_TEST_SEED overrides)\n", (unsigned long long)seed);
		fflush(stdout);
	}
	return seed;
}

static uint64_t mix(uint64_t x) {
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

Rng rng_make(uint64_t seed) { return (Rng){mix(seed + UINT64_C(0x9e3779b97f4a7c15)), 0}; }

uint64_t rng_next(Rng *r) { return mix(r->seed + ++r->counter * UINT64_C(0x9e3779b97f4a7c15)); }

double rng_uniform(Rng *r, double low, double high) {
	return low + (high - low) * ((double)(rng_next(r) >> 11) * 0x1p-53);
}

int rng_int(Rng *r, int count) { return (int)(rng_next(r) % (uint64_t)count); }

int rng_chance(Rng *r, double probability) { return rng_uniform(r, 0, 1) < probability; }

CalVec3 rng_vector(Rng *r, double size) {
	double x = rng_uniform(r, -size, size), y = rng_uniform(r, -size, size);
	return (CalVec3){x, y, rng_uniform(r, -size, size)};
}

CalVec3 rng_direction(Rng *r) {
	for (;;) {
		CalVec3 a = rng_vector(r, 1);
		double n = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
		if (n > 0.1 && n <= 1)
			return (CalVec3){a.x / n, a.y / n, a.z / n};
	}
}

CalQuat rng_quat(Rng *r) {
	for (;;) {
		double w = rng_uniform(r, -1, 1);
		CalVec3 a = rng_vector(r, 1);
		double n = sqrt(w * w + a.x * a.x + a.y * a.y + a.z * a.z);
		if (n > 0.1 && n <= 1)
			return (CalQuat){w / n, a.x / n, a.y / n, a.z / n};
	}
}

CalQuat rng_quat_within(Rng *r, double max_angle) {
	CalVec3 a = rng_direction(r);
	double half = rng_uniform(r, 0, max_angle) / 2, s = sin(half);
	return (CalQuat){cos(half), s * a.x, s * a.y, s * a.z};
}

CalPlacement rng_placement(Rng *r) {
	CalVec3 position = rng_vector(r, 0.5);
	return (CalPlacement){position, rng_quat(r)};
}

void rng_mass(Rng *r, double scale, double *mass, CalVec3 *com, CalMat3 *inertia) {
	enum { POINTS = 6 };
	double m[POINTS], total = 0;
	CalVec3 p[POINTS], c = {0, 0, 0};
	for (int k = 0; k < POINTS; k++) {
		m[k] = scale * rng_uniform(r, 0.2, 1);
		p[k] = rng_vector(r, 0.4);
		total += m[k];
		c = (CalVec3){c.x + m[k] * p[k].x, c.y + m[k] * p[k].y, c.z + m[k] * p[k].z};
	}
	c = (CalVec3){c.x / total, c.y / total, c.z / total};
	*inertia = (CalMat3){{{0}}};
	for (int k = 0; k < POINTS; k++) {
		double d[3] = {p[k].x - c.x, p[k].y - c.y, p[k].z - c.z};
		double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				inertia->m[i][j] += m[k] * ((i == j ? dd : 0) - d[i] * d[j]);
	}
	*mass = total;
	*com = c;
}

void rng_fill(Rng *r, double size, int count, double *x) {
	for (int i = 0; i < count; i++)
		x[i] = rng_uniform(r, -size, size);
}
