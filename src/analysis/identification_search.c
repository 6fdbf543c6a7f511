// SPDX-License-Identifier: Apache-2.0
/*
 * identification_search.c — the physically possible parameters that meet the equations best [THEORY 10.6].
 *
 * A body can exist if its pseudo-inertia J = [Sigma h; h' m] is positive semidefinite (Wensing, Kim and Slotine 2018): positive
 * mass, moments of inertia that satisfy the triangle inequalities, and a center of mass within them. Minimized is
 *   |R1 (b - b_ls)|^2/2 + (sum tr(P dJ P dJ) + sum (df/f0)^2)/(2 prior^2) + mu (sum tr(P J) - log det J + sum f/f0 - log f)
 * P the inverse of the model's J, f friction and rotors: a convex function, by Newton's method for mu towards zero. The second
 * term, which does not depend on the choice of frames, decides where the equations do not. The third, the logarithmic divergence
 * from the model, is least there: it keeps bodies possible, and what is not determined where it is.
 */
#include <math.h>
#include <string.h>

#include "analysis/identification.h"
#include "math/eigen.h"
#include "math/portable.h"

enum { MOST_ITERATIONS = 500, MOST_HALVINGS = 40 };
static const double least_barrier = 1e-4; // as part of the weight of the prior
static const double barrier_factor = 0.1, near_limit = 1e-3;
static const double good_enough =
	0.01; // variances by which the function may be above its least where round-off stops the search
static const double least_eigenvalue = 1e-7; // of a pseudo-inertia, as part of the prior's

/* ---- pseudo-inertia ------------------------------------------------------------------------------------------ */

void pseudo_inertia(const double p[CAL_INERTIAL_PARAMETERS], double J[16]) {
	const double half = 0.5 * (p[4] + p[5] + p[6]);
	const double from[16] = {half - p[4], -p[7], -p[8],       p[1], -p[7], half - p[5], -p[9], p[2],
	                         -p[8],       -p[9], half - p[6], p[3], p[1],  p[2],        p[3],  p[0]};
	memcpy(J, from, sizeof from);
}

void pseudo_inertia_parameters(const double J[16], double p[CAL_INERTIAL_PARAMETERS]) {
	const double trace = J[0] + J[5] + J[10];
	const double from[CAL_INERTIAL_PARAMETERS] = {J[15],        J[3],          J[7],  J[11], trace - J[0],
	                                              trace - J[5], trace - J[10], -J[1], -J[2], -J[6]};
	memcpy(p, from, sizeof from);
}

/* The inverse, and the logarithm of the determinant; false: J is not positive definite. */
static bool invert(const double J[16], double inverse[16], double *logdet) {
	double L[16];
	memcpy(L, J, sizeof L);
	if (cholesky_factor(4, L, NULL, 0) >= 0)
		return false;
	*logdet = 0;
	for (int i = 0; i < 4; i++) {
		double column[4] = {0};
		*logdet += 2 * portable_log(L[5 * i]);
		column[i] = 1;
		cholesky_solve(4, L, column);
		for (int k = 0; k < 4; k++)
			inverse[4 * k + i] = column[k];
	}
	return true;
}

/* Unlike the model's it may be neither a rod nor a point nor without mass. */
void inertia_prior(InertiaPrior *prior, const double p[CAL_INERTIAL_PARAMETERS], double mass, double length) {
	static const double LEAST = 0.01, LIGHTEST = 1e-3;
	double ignored;
	pseudo_inertia(p, prior->J);
	const double m = fmax(p[0], LIGHTEST * mass), second = prior->J[0] + prior->J[5] + prior->J[10];
	const double square = fmax(second / m, LEAST * length * length);
	for (int i = 0; i < 3; i++)
		prior->J[5 * i] += LEAST * m * square;
	prior->J[15] += LEAST * m;
	for (double more = LEAST * m; !invert(prior->J, prior->inverse, &ignored); more *= 2) // of no body that can exist
		for (int i = 0; i < 4; i++)
			prior->J[5 * i] += more * (i < 3 ? square : 1);
}

/* tr(A E_k) of the matrices that the parameters stand for, A symmetric. */
static void traces(const double A[16], double trace[CAL_INERTIAL_PARAMETERS]) {
	const double half = 0.5 * (A[0] + A[5] + A[10]);
	const double from[CAL_INERTIAL_PARAMETERS] = {A[15],       2 * A[3],     2 * A[7],  2 * A[11], half - A[0],
	                                              half - A[5], half - A[10], -2 * A[1], -2 * A[2], -2 * A[6]};
	memcpy(trace, from, sizeof from);
}

static double trace_of_product(const double A[16], const double B[16]) {
	double sum = 0;
	for (int i = 0; i < 16; i++) // both symmetric
		sum += A[i] * B[i];
	return sum;
}

/* H[k][l] = tr(A E_k A E_l). */
static void trace_products(const double A[16], double H[CAL_INERTIAL_PARAMETERS][CAL_INERTIAL_PARAMETERS]) {
	for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++) {
		double unit[CAL_INERTIAL_PARAMETERS] = {0}, E[16], AE[16] = {0}, AEA[16] = {0};
		unit[k] = 1;
		pseudo_inertia(unit, E);
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				for (int m = 0; m < 4; m++)
					AE[4 * i + j] += A[4 * i + m] * E[4 * m + j];
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				for (int m = 0; m < 4; m++)
					AEA[4 * i + j] += AE[4 * i + m] * A[4 * m + j];
		traces(AEA, H[k]);
	}
}

/* ---- parameters and unknowns of the search --------------------------------------------------------------------- */

static int dependent_count(const CalIdentification *id) { return id->p - id->rank; }

/* pi of x = (b, z). */
static void to_parameters(const CalIdentification *id, const double *x, double *pi) {
	const int r = id->rank, count = dependent_count(id);
	for (int i = 0; i < id->p; i++) {
		double scaled = x[i];
		for (int d = 0; d < count && i < r; d++)
			scaled -= id->K[i * count + d] * x[r + d];
		pi[id->order[i]] = scaled / id->scale[id->order[i]];
	}
}

static void from_parameters(const CalIdentification *id, const double *pi, double *x) {
	const int r = id->rank, count = dependent_count(id);
	for (int i = 0; i < id->p; i++)
		x[i] = pi[id->order[i]] * id->scale[id->order[i]];
	for (int i = 0; i < r; i++)
		for (int d = 0; d < count; d++)
			x[i] += id->K[i * count + d] * x[r + d];
}

/* A gradient by pi becomes one by x. */
static void gradient_by_x(const CalIdentification *id, const double *by_pi, double *g) {
	const int r = id->rank, count = dependent_count(id);
	for (int i = 0; i < id->p; i++)
		g[i] = by_pi[id->order[i]] / id->scale[id->order[i]];
	for (int d = 0; d < count; d++)
		for (int i = 0; i < r; i++)
			g[r + d] -= id->K[i * count + d] * g[i];
}

/* H by scaled parameters in order becomes one by x: H K and K'H are subtracted. */
static void hessian_by_x(CalIdentification *id) {
	const int p = id->p, r = id->rank, count = dependent_count(id);
	for (int row = 0; row < p; row++)
		for (int d = 0; d < count; d++)
			for (int i = 0; i < r; i++)
				id->H[row * p + r + d] -= id->H[row * p + i] * id->K[i * count + d];
	for (int d = 0; d < count; d++)
		for (int i = 0; i < r; i++)
			for (int column = 0; column < p; column++)
				id->H[(r + d) * p + column] -= id->K[i * count + d] * id->H[i * p + column];
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static double prior_weight(const CalIdentification *id) { return 1 / (id->prior * id->prior); }

/* |R1 (b - b_ls)|^2. */
static double conflict_of(const CalIdentification *id, const double *x) {
	double sum = 0;
	for (int i = 0; i < id->rank; i++) {
		double row = 0;
		for (int k = i; k < id->rank; k++)
			row += id->F[i * (id->p + 1) + k] * (x[k] - id->b[k]);
		sum += row * row;
	}
	return sum;
}

static double prior_of_body(const InertiaPrior *body, const double *pi, const double *start) {
	double change[CAL_INERTIAL_PARAMETERS], D[16], PD[16] = {0}, sum = 0;
	for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++)
		change[k] = pi[body->first + k] - start[body->first + k];
	pseudo_inertia(change, D);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			for (int m = 0; m < 4; m++)
				PD[4 * i + j] += body->inverse[4 * i + m] * D[4 * m + j];
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			sum += PD[4 * i + j] * PD[4 * j + i];
	return sum;
}

/* The function at x; INFINITY where bodies cannot exist. */
static double value_at(CalIdentification *id, const double *x, double barrier) {
	const double weight = prior_weight(id);
	double sum = 0.5 * conflict_of(id, x), inverse[16];
	to_parameters(id, x, id->pi);
	for (int i = 0; i < id->body_unknowns; i++) {
		const InertiaPrior *body = &id->bodies[i];
		double J[16], logdet = 0;
		pseudo_inertia(id->pi + body->first, J);
		if (!id->unconstrained && !invert(J, inverse, &logdet))
			return INFINITY;
		sum += 0.5 * weight * prior_of_body(body, id->pi, id->start) +
		       barrier * (trace_of_product(body->inverse, J) - logdet);
	}
	for (int k = CAL_INERTIAL_PARAMETERS * id->body_unknowns; k < id->p; k++) {
		const double part = id->pi[k] / id->spread[k], change = part - id->start[k] / id->spread[k];
		if (!id->unconstrained && !(id->pi[k] > 0))
			return INFINITY;
		sum += 0.5 * weight * change * change + (id->unconstrained ? 0 : barrier * (part - portable_log(part)));
	}
	return sum;
}

/* One body's part of the gradient and of H; place[k] of unknown k in the order. */
static void add_body(CalIdentification *id, const InertiaPrior *body, const int *place, double barrier) {
	const double weight = prior_weight(id);
	double J[16], inverse[16], logdet, trace[CAL_INERTIAL_PARAMETERS], prior_trace[CAL_INERTIAL_PARAMETERS];
	double from_prior[CAL_INERTIAL_PARAMETERS][CAL_INERTIAL_PARAMETERS];
	double from_barrier[CAL_INERTIAL_PARAMETERS][CAL_INERTIAL_PARAMETERS] = {{0}};
	trace_products(body->inverse, from_prior);
	traces(body->inverse, prior_trace);
	memcpy(trace, prior_trace, sizeof trace);
	pseudo_inertia(id->pi + body->first, J);
	if (barrier > 0 && invert(J, inverse, &logdet)) {
		traces(inverse, trace);
		trace_products(inverse, from_barrier);
	}
	for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++) {
		const int a = body->first + k;
		id->slope[a] = barrier * (prior_trace[k] - trace[k]);
		for (int l = 0; l < CAL_INERTIAL_PARAMETERS; l++) {
			const int b = body->first + l;
			id->slope[a] += weight * from_prior[k][l] * (id->pi[b] - id->start[b]);
			id->H[place[a] * id->p + place[b]] =
				(weight * from_prior[k][l] + barrier * from_barrier[k][l]) / (id->scale[a] * id->scale[b]);
		}
	}
}

/* Gradient and H at x; id->pi belongs to x. */
static void differentiate(CalIdentification *id, const double *x, const int *place, double barrier) {
	const int p = id->p, r = id->rank;
	const double weight = prior_weight(id);
	memset(id->H, 0, (size_t)p * (size_t)p * sizeof *id->H);
	for (int i = 0; i < id->body_unknowns; i++)
		add_body(id, &id->bodies[i], place, barrier);
	for (int k = CAL_INERTIAL_PARAMETERS * id->body_unknowns; k < p; k++) {
		const double square = id->spread[k] * id->spread[k], pi = id->pi[k];
		id->slope[k] =
			weight * (pi - id->start[k]) / square + (barrier > 0 ? barrier * (1 / id->spread[k] - 1 / pi) : 0);
		id->H[place[k] * p + place[k]] =
			(weight / square + (barrier > 0 ? barrier / (pi * pi) : 0)) / (id->scale[k] * id->scale[k]);
	}
	gradient_by_x(id, id->slope, id->gradient);
	hessian_by_x(id);
	for (int i = 0; i < r; i++)
		for (int k = 0; k < r; k++) {
			id->H[i * p + k] += id->data[i * r + k];
			id->gradient[i] += id->data[i * r + k] * (x[k] - id->b[k]);
		}
}

/* H with a unit diagonal as L L'; the square roots of the diagonal into id->vector. False: it is not definite. */
static bool factor_hessian(CalIdentification *id) {
	const int p = id->p;
	for (int i = 0; i < p; i++)
		id->vector[i] = sqrt(id->H[i * p + i]);
	for (int i = 0; i < p; i++)
		for (int k = 0; k <= i; k++)
			id->H[i * p + k] /= id->vector[i] * id->vector[k];
	return cholesky_factor(p, id->H, NULL, 0) < 0;
}

/* ---- the search ---------------------------------------------------------------------------------------------------- */

/* How large friction and rotors could be at most: what would explain all of the force. */
static void find_spreads(CalIdentification *id) {
	for (int k = CAL_INERTIAL_PARAMETERS * id->body_unknowns; k < id->p; k++) {
		const RowClass *class = &id->rows[id->unknowns[k].object];
		double square = 0;
		for (int i = 0; class->R && i <= k; i++)
			square += class->R[i * (id->p + 1) + k] * class->R[i * (id->p + 1) + k];
		id->spread[k] = square > 0 && class->force > 0 ? sqrt(class->force / square) : 1;
		id->spread[k] = fmax(id->spread[k], id->start[k]);
	}
}

static void start_search(CalIdentification *id) {
	memcpy(id->pi, id->start, (size_t)id->p * sizeof *id->pi);
	for (int i = 0; i < id->body_unknowns; i++)
		pseudo_inertia_parameters(id->bodies[i].J, id->pi + id->bodies[i].first);
	for (int k = CAL_INERTIAL_PARAMETERS * id->body_unknowns; k < id->p; k++)
		id->pi[k] += 0.01 * id->spread[k];
	from_parameters(id, id->pi, id->x);
}

/* One Newton step for this barrier; *decrement: what it would gain, twice, were the function quadratic. False: no step. */
static bool take_step(CalIdentification *id, const int *place, double barrier, double *decrement) {
	const double before = value_at(id, id->x, barrier);
	differentiate(id, id->x, place, barrier);
	if (!factor_hessian(id))
		return false;
	for (int i = 0; i < id->p; i++)
		id->step[i] = -id->gradient[i] / id->vector[i];
	cholesky_solve(id->p, id->H, id->step);
	*decrement = 0;
	for (int i = 0; i < id->p; i++) {
		id->step[i] /= id->vector[i];
		*decrement -= id->gradient[i] * id->step[i];
	}
	const double round_off = 1e-13 * fabs(before);
	double part = 1;
	for (int halving = 0; halving < MOST_HALVINGS; halving++, part /= 2) {
		for (int i = 0; i < id->p; i++)
			id->next[i] = id->x[i] + part * id->step[i];
		if (value_at(id, id->next, barrier) <= before - 0.1 * part * *decrement + round_off) {
			memcpy(id->x, id->next, (size_t)id->p * sizeof *id->x);
			return true;
		}
	}
	return false;
}

/*
 * Newton's method for one barrier. Near the limit the barrier is stiff in directions that are no coordinates, and round-off may end
 * it early: *above is how far the function may then be above its least.
 */
static CalStatus center(CalIdentification *id, const int *place, double barrier, double *above) {
	for (double decrement = INFINITY; id->result.iterations < MOST_ITERATIONS;) {
		const bool took = take_step(id, place, barrier, &decrement);
		if (decrement < INFINITY)
			*above = decrement + barrier * id->p;
		if (!took)
			return CAL_NOT_CONVERGED;
		id->result.iterations++;
		if (!(decrement > 0.1 * barrier) || !(decrement > 1e-13 * fabs(value_at(id, id->x, barrier))))
			return CAL_OK;
	}
	return CAL_NOT_CONVERGED;
}

/* Standard deviations of the parameters: of equations and prior together, without the limits. */
static CalStatus find_parameter_deviations(CalIdentification *id, const int *place) {
	differentiate(id, id->x, place, 0);
	if (!factor_hessian(id))
		return CAL_NOT_CONVERGED;
	for (int k = 0; k < id->p; k++) {
		memset(id->slope, 0, (size_t)id->p * sizeof *id->slope);
		id->slope[k] = 1;
		gradient_by_x(id, id->slope, id->step);
		double square = 0;
		for (int i = 0; i < id->p; i++) { // L^-1 of it
			double x = id->step[i] / id->vector[i];
			for (int j = 0; j < i; j++)
				x -= id->H[i * id->p + j] * id->step[j];
			id->step[i] = x / id->H[i * id->p + i];
			square += id->step[i] * id->step[i];
		}
		id->deviation[k] = sqrt(square);
	}
	return CAL_OK;
}

/* The smallest eigenvalue of the pseudo-inertia of a body as part of the prior's. */
static double least_of(const InertiaPrior *body, const double J[16]) {
	double A[16], M[16], values[4], scratch[8];
	memcpy(A, J, sizeof A);
	memcpy(M, body->J, sizeof M);
	return eigen_generalized(4, A, M, values, scratch) == CAL_OK ? values[0] : 0;
}

/* Counts bodies at the limit, and keeps them away from it by more than round-off when their inertia is taken elsewhere. */
static void keep_possible(CalIdentification *id) {
	for (int i = 0; i < id->body_unknowns && !id->unconstrained; i++) {
		const InertiaPrior *body = &id->bodies[i];
		double J[16];
		pseudo_inertia(id->pi + body->first, J);
		const double least = least_of(body, J);
		id->result.at_limit += least < near_limit;
		if (least >= least_eigenvalue)
			continue;
		for (int k = 0; k < 16; k++)
			J[k] += (least_eigenvalue - least) * body->J[k];
		pseudo_inertia_parameters(J, id->pi + body->first);
	}
}

CalStatus identification_search(CalIdentification *id) {
	int *place = id->place;
	for (int i = 0; i < id->p; i++)
		place[id->order[i]] = i;
	find_spreads(id);
	start_search(id);
	const double least = least_barrier * prior_weight(id);
	double barrier = id->unconstrained ? 0 : fmax(1, 0.5 * conflict_of(id, id->x) / (double)id->p);
	double above = INFINITY;
	CalStatus status = center(id, place, barrier, &above);
	while (status == CAL_OK && barrier > least) {
		barrier = fmax(barrier * barrier_factor, least);
		status = center(id, place, barrier, &above);
	}
	if (status != CAL_OK && !(above < good_enough))
		return status;
	id->result.conflict = conflict_of(id, id->x);
	status = find_parameter_deviations(id, place);
	to_parameters(id, id->x, id->pi);
	keep_possible(id);
	return status;
}
