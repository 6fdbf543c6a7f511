// SPDX-License-Identifier: Apache-2.0
/*
 * identification_reduce.c — which combinations the equations determine, and their values by weighted least squares.
 *
 * Householder's triangle with the longest column first [Golub and Van Loan, 5.4], columns scaled to unit length: where what is
 * left of all columns is nothing, the rest depend on those before. That is so at every state for parameters that never act
 * alone, noise or not. The weights are the variances of the residuals of each class, which follow from a solution with other
 * weights, and in turn. A class whose equations decide most of the combinations has few degrees of freedom left.
 */
#include <math.h>
#include <string.h>

#include "analysis/identification.h"
#include "base/error.h"
#include "math/eigen.h"

enum { REWEIGHTINGS = 10 };
static const double least_deviation = 1e-6; // of residuals, as part of the forces: no recording is more exact
static const double least_share = 1e-3;     // of a class whose equations all go into combinations, as part of them
static const double no_factor = 1e-7;       // of scaled combinations, that counts as zero

static void swap_columns(int n, double *F, int i, int j) {
	for (int k = 0; k < n && i != j; k++) {
		const double a = F[k * n + i];
		F[k * n + i] = F[k * n + j];
		F[k * n + j] = a;
	}
}

/* Sum of squares of a column from row k on. */
static double rest_of(int n, const double *F, int column, int k) {
	double sum = 0;
	for (int i = k; i < n; i++)
		sum += F[i * n + column] * F[i * n + column];
	return sum;
}

/* Reflects columns k ... so that column k is zero below row k. */
static void reflect(int n, double *F, int k, double *v) {
	const double length = sqrt(rest_of(n, F, k, k)), head = F[k * n + k];
	if (length == 0)
		return;
	const double to = head > 0 ? -length : length;
	double square = 0;
	for (int i = k; i < n; i++) {
		v[i] = F[i * n + k] - (i == k ? to : 0);
		square += v[i] * v[i];
	}
	for (int j = k; j < n && square > 0; j++) {
		double dot = 0;
		for (int i = k; i < n; i++)
			dot += v[i] * F[i * n + j];
		for (int i = k; i < n; i++)
			F[i * n + j] -= 2 * dot / square * v[i];
	}
	F[k * n + k] = to;
	for (int i = k + 1; i < n; i++)
		F[i * n + k] = 0;
}

/* The triangle of F with p columns and the right-hand side. rank < 0: columns by length; returns the rank. */
static int triangularize(CalIdentification *id, int rank) {
	const int p = id->p, n = p + 1;
	for (int k = 0; k < p && k != rank; k++) {
		int best = k;
		for (int j = k + 1; j < p && rank < 0; j++)
			if (rest_of(n, id->F, j, k) > rest_of(n, id->F, best, k))
				best = j;
		if (rank < 0 && !(rest_of(n, id->F, best, k) > id->tolerance * id->tolerance))
			return k;
		swap_columns(n, id->F, k, best);
		const int other = id->order[k];
		id->order[k] = id->order[best];
		id->order[best] = other;
		reflect(n, id->F, k, id->equation);
	}
	return rank < 0 ? p : rank;
}

void identification_fold(int n, double *R, double *row) {
	for (int k = 0; k < n; k++) {
		double *own = R + (size_t)k * (size_t)n;
		if (row[k] == 0)
			continue;
		const double length = sqrt(own[k] * own[k] + row[k] * row[k]), c = own[k] / length, s = row[k] / length;
		for (int j = k; j < n; j++) {
			const double a = own[j], b = row[j];
			own[j] = c * a + s * b;
			row[j] = c * b - s * a;
		}
	}
}

/* Columns that are compared: masses, first moments, moments of inertia, and each kind of the others. */
static int unit_of(const struct Unknown *unknown) {
	if (unknown->kind != CAL_IDENTIFIED_INERTIAL)
		return 2 + (int)unknown->kind;
	return unknown->index == 0 ? 0 : unknown->index < 4 ? 1 : 2;
}

/* Lengths of the columns of F; 0 where one is nothing but round-off beside others of its unit. */
static void find_column_scales(CalIdentification *id) {
	double most[2 + CAL_IDENTIFIED_ROTOR + 1] = {0};
	for (int k = 0; k < id->p; k++) {
		double *longest = &most[unit_of(&id->unknowns[k])];
		id->scale[k] = sqrt(rest_of(id->p + 1, id->F, k, 0));
		*longest = fmax(*longest, id->scale[k]);
	}
	for (int k = 0; k < id->p; k++)
		if (!(id->scale[k] > id->tolerance * most[unit_of(&id->unknowns[k])]))
			id->scale[k] = 0;
}

/* All classes with their weights as one triangle, columns by unknown; then the columns in order and scaled. */
static void gather(CalIdentification *id) {
	const size_t n = (size_t)id->p + 1, p = (size_t)id->p;
	memset(id->F, 0, n * n * sizeof *id->F);
	for (int u = 0; u < id->nu; u++) {
		const RowClass *class = &id->rows[u];
		const double weight = 1 / sqrt(class->variance);
		for (size_t i = 0; class->R && i < n; i++) {
			for (size_t k = 0; k < n; k++)
				id->equation[k] = weight * class->R[i * n + k];
			identification_fold((int)n, id->F, id->equation);
		}
	}
	find_column_scales(id);
	for (size_t i = 0; i < n; i++) {
		memcpy(id->equation, id->F + i * n, n * sizeof *id->equation);
		for (size_t k = 0; k < p; k++)
			id->F[i * n + k] = id->scale[id->order[k]] > 0 ? id->equation[id->order[k]] / id->scale[id->order[k]] : 0;
	}
	for (size_t k = 0; k < p; k++)
		id->scale[k] = id->scale[k] > 0 ? id->scale[k] : 1;
}

/* x = R1^-1 of column `column` of F, in order. */
static void solve_triangle(const CalIdentification *id, int column, double *x) {
	const int n = id->p + 1;
	for (int i = id->rank - 1; i >= 0; i--) {
		x[i] = id->F[i * n + column];
		for (int k = i + 1; k < id->rank; k++)
			x[i] -= id->F[i * n + k] * x[k];
		x[i] /= id->F[i * n + i];
	}
}

/* b, and parameters that give these combinations: the dependent ones zero. */
static void solve_least_squares(CalIdentification *id) {
	solve_triangle(id, id->p, id->b);
	memset(id->pi, 0, (size_t)id->p * sizeof *id->pi);
	for (int i = 0; i < id->rank; i++)
		id->pi[id->order[i]] = id->b[i] / id->scale[id->order[i]];
}

double identification_residual(const CalIdentification *id, const RowClass *class, const double *pi) {
	const size_t p = (size_t)id->p, n = p + 1;
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		double left = -class->R[i * n + p];
		for (size_t k = i; k < p; k++)
			left += class->R[i * n + k] * pi[k];
		sum += left * left;
	}
	return sum;
}

/* Degrees of freedom that the combinations take from a class: the trace of its part of R1^-T R'R R1^-1. */
static double taken_by(CalIdentification *id, const RowClass *class) {
	const size_t n = (size_t)id->p + 1, r = (size_t)id->rank;
	double sum = 0;
	for (size_t row = 0; row < n - 1; row++) {
		for (size_t i = 0; i < r; i++) { // of R1' x = row
			const int unknown = id->order[i];
			double x = class->R[row * n + (size_t)unknown] / id->scale[unknown];
			for (size_t k = 0; k < i; k++)
				x -= id->F[k * n + i] * id->vector[k];
			id->vector[i] = x / id->F[i * n + i];
			sum += id->vector[i] * id->vector[i];
		}
	}
	return sum;
}

/* Of the residuals of each class. F is that of the present weights, the variances of classes; 1 at first. */
static void find_variances(CalIdentification *id) {
	double most = 0;
	for (int u = 0; u < id->nu; u++)
		if (id->rows[u].count > 0)
			most = fmax(most, id->rows[u].force / (double)id->rows[u].count);
	for (int u = 0; u < id->nu; u++) {
		RowClass *class = &id->rows[u];
		if (class->count == 0)
			continue;
		const double count = (double)class->count, own = class->force / count;
		const double least = own > 0 ? own : most > 0 ? most : 1, left = count - taken_by(id, class) / class->variance;
		class->variance = fmax(identification_residual(id, class, id->pi) / fmax(left, least_share * count),
		                       least_deviation * least_deviation * least);
	}
}

/* K, and the combinations by unknown without the scales. */
static void find_factors(CalIdentification *id) {
	const size_t p = (size_t)id->p, r = (size_t)id->rank;
	memset(id->factor, 0, p * p * sizeof *id->factor);
	for (size_t d = 0; d < p - r; d++) {
		solve_triangle(id, (int)(r + d), id->vector);
		for (size_t i = 0; i < r; i++) {
			const int own = id->order[i], other = id->order[r + d];
			id->K[i * (p - r) + d] = id->vector[i];
			if (fabs(id->vector[i]) > no_factor)
				id->factor[i * p + (size_t)other] = id->vector[i] * id->scale[other] / id->scale[own];
		}
	}
	for (size_t i = 0; i < r; i++)
		id->factor[i * p + (size_t)id->order[i]] = 1;
}

/* Deviations of b: lengths of the rows of R1^-1. */
static void find_deviations(CalIdentification *id) {
	const int r = id->rank, n = id->p + 1;
	memset(id->combination_deviation, 0, (size_t)id->p * sizeof *id->combination_deviation);
	for (int k = 0; k < r; k++) { // column k of the inverse
		for (int i = k; i >= 0; i--) {
			double x = i == k ? 1 : 0;
			for (int j = i + 1; j <= k; j++)
				x -= id->F[i * n + j] * id->vector[j];
			id->vector[i] = x / id->F[i * n + i];
			id->combination_deviation[i] += id->vector[i] * id->vector[i];
		}
	}
	for (int i = 0; i < r; i++)
		id->combination_deviation[i] = sqrt(id->combination_deviation[i]);
}

/* R1'R1, and the condition of R1 from its eigenvalues. */
static CalStatus find_condition(CalIdentification *id) {
	const int r = id->rank, n = id->p + 1;
	for (int i = 0; i < r; i++)
		for (int j = 0; j <= i; j++) {
			double sum = 0;
			for (int k = 0; k <= j; k++)
				sum += id->F[k * n + i] * id->F[k * n + j];
			id->data[i * r + j] = id->data[j * r + i] = sum;
		}
	memcpy(id->H, id->data, (size_t)r * (size_t)r * sizeof *id->H);
	const CalStatus status = eigen_symmetric(r, id->H, id->vector, id->equation);
	if (status == CAL_OK)
		id->result.condition = id->vector[0] > 0 ? sqrt(id->vector[r - 1] / id->vector[0]) : INFINITY;
	return status;
}

CalStatus identification_reduce(CalIdentification *id, CalError *error) {
	for (int u = 0; u < id->nu; u++)
		id->result.equations += id->rows[u].count;
	for (int k = 0; k < id->p; k++)
		id->order[k] = k;
	for (int u = 0; u < id->nu; u++)
		id->rows[u].variance = 1;
	gather(id); // in the order of the unknowns
	id->rank = triangularize(id, -1);
	id->result.combinations = id->rank;
	if (id->result.equations <= (size_t)id->rank || id->rank == 0)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "%zu equations do not determine %d combinations of parameters: record more of the motion",
		                 id->result.equations, id->rank);
	solve_least_squares(id);
	for (int i = 0; i < REWEIGHTINGS; i++) {
		find_variances(id);
		gather(id);
		triangularize(id, id->rank);
		solve_least_squares(id);
	}
	find_factors(id);
	find_deviations(id);
	const CalStatus status = find_condition(id);
	return status == CAL_OK ? status : error_set(error, status, "combinations: %s", cal_status_text(status));
}
