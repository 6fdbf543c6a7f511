// SPDX-License-Identifier: Apache-2.0
/*
 * invariants_mass.c — from inertia invariants to point masses and rotors; see invariants.h.
 *
 * With the shapes' sums N, the coupling C to positions from the center of mass, and the rotary sums P = sum J psi,
 * R = sum psi'J psi, the second moment S of positions must be at least C N^+ C' and the rotary inertia at least
 * P R^+ P'. Both together give the inertia, tr(S) 1 - S + sum J. What it has beyond the least, X, is put into S as far
 * as X is that of a mass, into rotary inertia as far as it is not; half of it if there are rotors to carry. So if any
 * body has the invariants, one is found. A body without rotors usually is one of points alone, which is tried first:
 * the least of a body with nearly dependent shapes is not known to the last digits.
 *
 * Numbers that were written with few digits may miss that by their last one. So a second attempt takes what is below
 * INVARIANTS_ROUNDED for zero, and measures each component of a shape by all of them.
 */
#include "flexgen/invariants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flexgen/mass_condensation.h"
#include "math/eigen.h"

static const char *const AXIS = "xyz";

/* How fine an attempt is. */
typedef struct Care {
	double noise;  // relative error that the sums may have
	double rotary; // share of the whole up to which rotary parts are round-off
	double floor;  // a component is measured by its own size, but by no less than this share of all components'
} Care;

static double size_of(double own, double whole, const Care *care) {
	return sqrt(fmax(fmax(own, care->floor * care->floor * whole), 0));
}

static double shape_size(const CalFlexInvariants *in, int k, const Care *care) {
	return size_of(invariants_shape(in, k, k), invariants_whole(in, k), care);
}

/* ---- what masses can have ------------------------------------------------------------------ */

static CalStatus solve_shapes(Invariants *v, const Care *care) {
	InertiaGram *g = &v->shapes;
	int n = g->n, m = v->m;
	g->G[0] = v->in->mass;
	g->scale[0] = sqrt(v->in->mass);
	for (int k = 1; k < n; k++) {
		g->scale[k] = shape_size(v->in, k - 1, care);
		g->G[k * n] = v->in->linear[k - 1];
		for (int l = 1; l <= k; l++) {
			g->G[k * n + l] = invariants_shape(v->in, k - 1, l - 1);
		}
	}
	CalStatus status = inertia_gram_solve(g);
	if (status == CAL_OK && g->lowest < -care->noise) {
		int k = g->worst_function > 0 ? g->worst_function - 1 : 0;
		return invariants_refuse(v, CAL_ERR_MODEL,
		                         "no masses have these moments of shapes: together with the others, that of mode %d "
		                         "along %c is too small by %.2g of itself; are linear, shape and mass of one body, "
		                         "in the same order of modes?",
		                         k % m + 1, AXIS[k / m], -g->lowest);
	}
	return status;
}

static CalStatus solve_spins(Invariants *v, const Care *care) {
	InertiaGram *g = &v->spins;
	int m = v->m;
	memcpy(g->G, v->spin, (size_t)m * (size_t)m * sizeof(double));
	for (int a = 0; a < m; a++) {
		g->scale[a] = sqrt(v->modal[a * m + a]);
	}
	CalStatus status = inertia_gram_solve(g);
	if (status == CAL_OK && g->lowest < -care->noise) {
		return invariants_refuse(v, CAL_ERR_MODEL,
		                         "modal_mass is less than the moments of shapes xx + yy + zz, mostly for mode %d, by "
		                         "%.2g of it; are they of the same scaling of the modes?",
		                         g->worst_function + 1, -g->lowest);
	}
	return status;
}

/** least = x G^+ x' for the rows x of a solved Gram, x[3][n] without its first `skip` columns, which are zero. */
static void least_square(const InertiaGram *g, const double *x, int skip, double noise, double least[3][3]) {
	int n = g->n, width = n - skip;
	memset(least, 0, 9 * sizeof(double));
	for (int k = 0; k < n; k++) {
		if (!(g->values[k] > noise)) {
			continue;
		}
		double along[3] = {0};
		for (int l = skip; l < n; l++) {
			for (int i = 0; i < 3 && g->scale[l] > 0; i++) {
				along[i] += x[i * width + l - skip] / g->scale[l] * g->G[l * n + k];
			}
		}
		for (int i = 0; i < 9; i++) {
			least[i / 3][i % 3] += along[i / 3] * along[i % 3] / g->values[k];
		}
	}
}

/** tr(S) 1 - S: the inertia of masses with the second moment S. */
static void inertia_of(const double S[3][3], double J[3][3]) {
	double trace = S[0][0] + S[1][1] + S[2][2];
	for (int i = 0; i < 9; i++) {
		J[i / 3][i % 3] = (i % 4 == 0 ? trace : 0) - S[i / 3][i % 3];
	}
}

/** Principal second moments of masses with at most the moments of inertia x, ascending in x; the rest is rotary. */
static void distribute_mass(const double x[3], double s[3]) {
	for (int i = 0; i < 3; i++) {
		s[i] = (x[(i + 1) % 3] + x[(i + 2) % 3] - x[i]) / 2;
	}
	if (s[2] < 0) { // beyond the triangle inequality
		s[0] = x[1];
		s[1] = x[0];
		s[2] = 0;
	}
}

/** How the inertia is shared out. */
typedef struct Split {
	double S[3][3];     // second moment of the points about the center of mass
	double least[3][3]; // inertia that the other invariants need
	double beyond[9];   // eigenvectors of what is beyond it
	double x[3];        // and its moments, ascending
} Split;

static CalStatus split_moments(const Invariants *v, const Care *care, Split *out) {
	double rotary[3][3], x[3], s[3], scratch[6];
	const CalMat3 *inertia = &v->in->inertia;
	least_square(&v->shapes, v->couple, 1, care->noise, out->S);
	least_square(&v->spins, v->turn, 0, care->noise, rotary);
	inertia_of((const double(*)[3])out->S, out->least);
	for (int i = 0; i < 9; i++) {
		out->least[i / 3][i % 3] += v->rotary ? rotary[i / 3][i % 3] : 0;
		out->beyond[i] = (inertia->m[i / 3][i % 3] + inertia->m[i % 3][i / 3]) / 2 - out->least[i / 3][i % 3];
	}
	CalStatus status = eigen_symmetric(3, out->beyond, out->x, scratch);
	for (int i = 0; i < 3; i++) {
		x[i] = out->x[i] > 0 && v->rotary ? out->x[i] / 2 : out->x[i]; // less than nothing is for the points to check
	}
	distribute_mass(x, s);
	for (int i = 0; i < 9; i++) {
		for (int k = 0; k < 3; k++) {
			out->S[i / 3][i % 3] += s[k] * out->beyond[i / 3 * 3 + k] * out->beyond[i % 3 * 3 + k];
		}
	}
	return status;
}

static CalStatus too_small(const Invariants *v, const Split *split) {
	int axis = 0;
	for (int i = 1; i < 3; i++) {
		axis = fabs(split->beyond[3 * i]) > fabs(split->beyond[3 * axis]) ? i : axis;
	}
	return invariants_refuse(v, CAL_ERR_MODEL,
	                         "the inertia is too small for the moments of position and shape%s: about %c through the "
	                         "center of mass it is %.6g kg m^2, and these need at least %.6g; are positions from the "
	                         "body frame's origin, and all in the same units?",
	                         v->rotary ? " and the rotary inertia in angular" : "", AXIS[axis],
	                         v->in->inertia.m[axis][axis], split->least[axis][axis]);
}

/* ---- the masses ---------------------------------------------------------------------------- */

static CalStatus error_impossible(const Invariants *v, const InertiaGram *g, const char *what, int first) {
	int k = g->worst_function >= first ? (g->worst_function - first) % v->m + 1 : 0;
	char mode[40] = "";
	if (k > 0) {
		snprintf(mode, sizeof mode, ", mostly for mode %d", k);
	}
	return invariants_refuse(v, CAL_ERR_MODEL, "no %s have these invariants%s: they are off by %.2g of their size; %s",
	                         what, mode, -g->lowest, "are they of one body and in the same units?");
}

/** Refuses a moment of position and shape where one of the two vanishes: it has no size to be measured by. */
static CalStatus check_vanishing(const Invariants *v, const InertiaGram *g, const Care *care) {
	int shapes = 3 * v->m;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < shapes; k++) {
			double given = v->in->position[i * shapes + k], shift = v->com[i] * v->in->linear[k];
			bool vanish = g->scale[1 + i] * g->scale[4 + k] == 0;
			if (vanish && fabs(given - shift) > care->noise * (fabs(given) + fabs(shift))) {
				return invariants_refuse(v, CAL_ERR_MODEL,
				                         "position: %c%c of mode %d is %g, but %s; check position, shape and inertia",
				                         AXIS[i], AXIS[k / v->m], k % v->m + 1, given,
				                         g->scale[4 + k] == 0 ? "the mode has no moments of shape"
				                                              : "the inertia leaves the masses no extent");
			}
		}
	}
	return CAL_OK;
}

static CalStatus solve_points(Invariants *v, const double S[3][3], const Care *care) {
	InertiaGram *g = &v->points;
	int n = g->n, shapes = 3 * v->m;
	double trace = S[0][0] + S[1][1] + S[2][2];
	memset(g->G, 0, (size_t)n * (size_t)n * sizeof(double));
	g->G[0] = v->in->mass;
	g->scale[0] = sqrt(v->in->mass);
	for (int i = 0; i < 3; i++) {
		g->scale[1 + i] = size_of(S[i][i], trace, care);
		for (int j = 0; j <= i; j++) {
			g->G[(1 + i) * n + 1 + j] = S[i][j];
		}
	}
	for (int k = 0; k < shapes; k++) {
		double *row = g->G + (4 + k) * n;
		g->scale[4 + k] = shape_size(v->in, k, care);
		row[0] = v->in->linear[k];
		for (int i = 0; i < 3; i++) {
			row[1 + i] = v->couple[i * shapes + k];
		}
		for (int l = 0; l <= k; l++) {
			row[4 + l] = invariants_shape(v->in, k, l);
		}
	}
	CalStatus status = check_vanishing(v, g, care);
	if (status == CAL_OK) {
		status = inertia_gram_solve(g);
	}
	return status == CAL_OK && g->lowest < -care->noise ? error_impossible(v, g, "masses", 4) : status;
}

/** What the points leave of the inertia, with turn and spin; measured by the whole. */
static CalStatus solve_rotors(Invariants *v, const double S[3][3], const Care *care) {
	InertiaGram *g = &v->rotors;
	int n = g->n, m = v->m;
	double J[3][3];
	inertia_of(S, J);
	memset(g->G, 0, (size_t)n * (size_t)n * sizeof(double));
	g->floor = 1e-14; // the whole has the size 1
	for (int i = 0; i < 3; i++) {
		g->scale[i] = sqrt(fmax(v->in->inertia.m[i][i], 0));
		for (int j = 0; j <= i; j++) {
			g->G[i * n + j] = (v->in->inertia.m[i][j] + v->in->inertia.m[j][i]) / 2 - J[i][j];
		}
	}
	for (int a = 0; a < m; a++) {
		g->scale[3 + a] = sqrt(v->modal[a * m + a]);
		for (int i = 0; i < 3 && v->rotary; i++) {
			g->G[(3 + a) * n + i] = v->turn[i * m + a];
		}
		for (int b = 0; b <= a && v->rotary; b++) {
			g->G[(3 + a) * n + 3 + b] = v->spin[a * m + b];
		}
	}
	CalStatus status = inertia_gram_solve(g);
	return status == CAL_OK && g->lowest < -care->noise ? error_impossible(v, g, "rotary inertias", 3) : status;
}

static void write_points(Invariants *v, MassPoints *few, FlexBuilder *builder) {
	int m = v->m, width = 3 + 3 * m;
	mass_points_of_gram(&v->points, v->com, few);
	for (int k = 0; k < few->count; k++) {
		FlexBuilderNode *node = &builder->nodes[k];
		const double *f = few->f + k * width;
		node->mass = few->mass[k];
		node->p = (CalVec3){f[0], f[1], f[2]};
		memcpy(node->phi, f + 3, 3 * (size_t)m * sizeof(double));
	}
}

/** The axis about which the rotors have most inertia; false if they have none. */
static bool spin_axis(const InertiaGram *g, double *axis) {
	double J[9] = {0}, values[3], scratch[6];
	for (int i = 0; i < 9; i++) {
		for (int k = 0; k < g->rank; k++) {
			J[i] += g->G[i / 3 * g->rank + k] * g->G[i % 3 * g->rank + k];
		}
	}
	if (eigen_symmetric(3, J, values, scratch) != CAL_OK || !(values[2] > 0)) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		axis[i] = J[3 * i + 2];
	}
	return true;
}

static CalStatus write_rotors(Invariants *v, FlexBuilder *builder) {
	InertiaGram *g = &v->rotors;
	int m = v->m;
	inertia_gram_factor(g);
	if (g->rank == 0) {
		return CAL_OK;
	}
	double *axis = g->values;
	memset(axis, 0, (size_t)g->n * sizeof *axis);
	if (!spin_axis(g, axis)) {
		return invariants_refuse(
			v, CAL_ERR_MODEL,
			"modal_mass has more than the moments of shapes xx + yy + zz, which is rotary inertia, "
			"but the inertia leaves none; check modal_mass, shape and inertia");
	}
	inertia_gram_level(g, axis);
	for (int k = 0; k < g->rank; k++) {
		FlexBuilderNode *node = &builder->nodes[k];
		double a[3], square = 0;
		for (int i = 0; i < 3; i++) {
			a[i] = g->G[i * g->rank + k];
			square += a[i] * a[i];
		}
		for (int i = 0; i < 9; i++) {
			node->inertia.m[i / 3][i % 3] = a[i / 3] * a[i % 3];
		}
		for (int i = 0; i < 3 * m; i++) {
			node->psi[i] = a[i / m] * g->G[(3 + i % m) * g->rank + k] / square;
		}
	}
	return CAL_OK;
}

/** Points alone: the second moment of masses with the whole inertia. */
static void all_to_points(const Invariants *v, double S[3][3]) {
	const CalMat3 *I = &v->in->inertia;
	double half = (I->m[0][0] + I->m[1][1] + I->m[2][2]) / 2;
	for (int i = 0; i < 9; i++) {
		S[i / 3][i % 3] = (i % 4 == 0 ? half : 0) - (I->m[i / 3][i % 3] + I->m[i % 3][i / 3]) / 2;
	}
}

/** Sets v->rotary: whether turn or spin are more than round-off. */
static void find_rotors(Invariants *v, const Care *care) {
	int m = v->m;
	v->rotary = 0;
	for (int a = 0; a < m; a++) {
		for (int b = 0; b < m; b++) {
			double size = sqrt(v->modal[a * m + a] * v->modal[b * m + b]);
			v->rotary |= fabs(v->spin[a * m + b]) > care->rotary * size;
		}
		for (int i = 0; i < 3; i++) {
			double size = sqrt(v->in->inertia.m[i][i] * v->modal[a * m + a]);
			v->rotary |= fabs(v->turn[i * m + a]) > care->rotary * size;
		}
	}
}

static CalStatus points_alone(Invariants *v, const Care *care, double S[3][3]) {
	CalError *error = v->error;
	v->error = NULL;
	all_to_points(v, S);
	CalStatus status = solve_points(v, (const double(*)[3])S, care);
	v->error = error;
	return status;
}

static CalStatus points_and_rotors(Invariants *v, const Care *care, Split *out) {
	const double trace = v->in->inertia.m[0][0] + v->in->inertia.m[1][1] + v->in->inertia.m[2][2];
	CalStatus status = solve_shapes(v, care);
	if (status == CAL_OK) {
		status = solve_spins(v, care);
	}
	if (status == CAL_OK) {
		status = split_moments(v, care, out);
	}
	if (status == CAL_OK && out->x[0] < -1e-3 * trace) {
		return too_small(v, out);
	}
	if (status == CAL_OK) {
		status = solve_points(v, (const double(*)[3])out->S, care);
	}
	return status == CAL_ERR_MODEL && out->x[0] < -care->noise * trace ? too_small(v, out) : status;
}

static CalStatus try_mass_distribution(Invariants *v, const Care *care) {
	Split out = {0};
	find_rotors(v, care);
	CalStatus status = v->rotary ? CAL_ERR_MODEL : points_alone(v, care, out.S);
	if (status == CAL_ERR_MODEL) {
		status = points_and_rotors(v, care, &out);
	}
	return status == CAL_OK ? solve_rotors(v, (const double(*)[3])out.S, care) : status;
}

CalStatus invariants_masses(Invariants *v, FlexBuilder *builder) {
	const Care computed = {1e-12, 1e-14, 0.03};
	const Care rounded = {INVARIANTS_ROUNDED, INVARIANTS_ROUNDED, 1};
	CalError *error = v->error;
	v->error = NULL; // what the first attempt refuses, the second may take
	CalStatus status = try_mass_distribution(v, &computed);
	v->error = error;
	if (status == CAL_ERR_MODEL) {
		status = try_mass_distribution(v, &rounded);
	}
	if (status > 0) {
		return invariants_refuse(v, CAL_ERR_MODEL, "the invariants are too far apart in size to compute with");
	}
	if (status != CAL_OK) {
		return status;
	}
	int limit = mass_points_limit(v->m);
	if (flex_builder_create(limit, v->m, false, builder) != CAL_OK) {
		return invariants_refuse(v, CAL_ERR_MEMORY, "out of memory");
	}
	MassPoints few = {.modes = v->m, .mass = v->room, .f = v->room + limit};
	write_points(v, &few, builder);
	status = write_rotors(v, builder);
	builder->node_count = few.count > v->rotors.rank ? few.count : v->rotors.rank;
	for (int k = 0; k < builder->node_count; k++) {
		snprintf(builder->nodes[k].name, sizeof builder->nodes[k].name, "mass%d", k + 1);
	}
	return status;
}
