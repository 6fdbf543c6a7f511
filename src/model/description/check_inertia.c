// SPDX-License-Identifier: Apache-2.0
/*
 * check_inertia.c — mass properties that no body can have, and the mistake that is the likely cause.
 *
 * The principal moments of a mass distribution are a = sum m(y^2+z^2), b, c >= 0 with a + b >= c: no
 * moment exceeds the sum of the other two. Thin rods and plates sit exactly on these limits, so two
 * tolerances are needed. (1) 1e-9 of the largest moment covers arithmetic (rotating a matrix,
 * parallel-axis shifts that cancel). (2) Matrices are often copied from a listing with few digits:
 * if every number is a decimal with at most s significant digits or at most k decimals, each is
 * known to half a unit of the last place only, and moments move by no more than those units add up
 * to. That much, but never more than 1 %, is accepted with a warning; beyond it is an error.
 * When a matrix fails, the usual slips are tried in turn and the one that repairs it is named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/eigen3.h"
#include "math/portable.h"
#include "model/description/check.h"

static const double ARITHMETIC = 1e-9;   // relative to the largest moment
static const double MAX_ROUNDING = 1e-2; // relative to the largest moment
// Ratios of the radius of gyration to the body's own dimensions that suggest millimeters for meters.
static const double GYRATION_MAX_NODES = 100, GYRATION_MAX_ORIGIN = 1000, GYRATION_MIN = 1e-3;
static const double GYRATION_OF_POINT = 1e10; // dimensions that are rounding: the body has no nodes and no offset

typedef struct Moments {
	double p[3];   // principal moments, ascending
	double size;   // the largest in absolute value
	double excess; // of the largest over the sum of the others, > 0: violated
} Moments;

static Moments moments_of(const CalMat3 *inertia) {
	Moments m;
	eigen3_values(inertia, m.p);
	m.size = fmax(fabs(m.p[0]), fabs(m.p[2]));
	m.excess = m.p[2] - (m.p[0] + m.p[1]);
	return m;
}

static bool moments_are_possible(const Moments *m, double tolerance) {
	return m->p[0] >= -tolerance && m->excess <= tolerance;
}

static bool inertia_is_possible(const CalMat3 *inertia) {
	Moments m = moments_of(inertia);
	return moments_are_possible(&m, ARITHMETIC * m.size);
}

/* ---- rounding ------------------------------------------------------------------------------ */

/** Significant digits (1..17) of the shortest decimal that reads back as x, and its decimal exponent. */
static int decimal_digits(double x, int *exponent) {
	for (int digits = 1; digits <= 17; digits++) {
		char text[40];
		snprintf(text, sizeof text, "%.*e", digits - 1, x);
		if (strtod(text, NULL) == x) {
			const char *e = text;
			while (*e != 'e') {
				e++;
			}
			*exponent = atoi(e + 1);
			return digits;
		}
	}
	*exponent = 0;
	return 17;
}

/**
 * How far the moments may be off because the matrix was printed with few digits. The numbers of one
 * matrix are taken to be printed alike, so the longest shows the format: either s significant digits
 * each, or k decimals each; the coarser of both readings counts. With half units d_ij,
 * c - (a + b) = 2c - trace moves by at most sum d_ii + 2 |d|, |d| the Frobenius norm.
 */
static double rounding_allowance(const CalMat3 *inertia) {
	int significant = 0, decimals = -400, exponent[3][3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			exponent[i][j] = 0;
			if (inertia->m[i][j] != 0) {
				int digits = decimal_digits(inertia->m[i][j], &exponent[i][j]);
				significant = digits > significant ? digits : significant;
				int places = digits - 1 - exponent[i][j];
				decimals = places > decimals ? places : decimals;
			}
		}
	}
	double trace = 0, square = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			bool zero = inertia->m[i][j] == 0;
			double d =
				0.5 * fmax(portable_pow(10, -decimals), zero ? 0 : portable_pow(10, exponent[i][j] - significant + 1));
			trace += i == j ? d : 0;
			square += d * d;
		}
	}
	return trace + 2 * sqrt(square);
}

/* ---- likely causes ------------------------------------------------------------------------- */

static CalMat3 symmetric(double xx, double yy, double zz, double xy, double xz, double yz) {
	return (CalMat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
}

/** I + m (c.c 1 - c c'). */
static CalMat3 shifted(const CalBodyDef *body) {
	CalMat3 I = body->inertia;
	double c[3] = {body->com.x, body->com.y, body->com.z};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			double square = i == j ? c[0] * c[0] + c[1] * c[1] + c[2] * c[2] : 0;
			I.m[i][j] += body->mass * (square - c[i] * c[j]);
		}
	}
	return I;
}

/** The slip that would explain an impossible inertia, as a question; "" if none is known. */
static const char *likely_cause(const CalBodyDef *body, const Moments *moments) {
	const double(*I)[3] = body->inertia.m;
	double xx = I[0][0], yy = I[1][1], zz = I[2][2], xy = I[0][1], xz = I[0][2], yz = I[1][2];
	CalMat3 negated = symmetric(xx, yy, zz, -xy, -xz, -yz);
	if (inertia_is_possible(&negated)) {
		return "; are the products of inertia negated?";
	}
	CalMat3 by_rows = symmetric(xx, xy, yz, yy, zz, xz);
	if (inertia_is_possible(&by_rows)) {
		return "; were six numbers in the order xx, xy, xz, yy, yz, zz read as xx, yy, zz, xy, xz, yz?";
	}
	CalMat3 diagonal_first = symmetric(xx, xy, xz, yy, yz, zz);
	if (inertia_is_possible(&diagonal_first)) {
		return "; were six numbers in the order xx, yy, zz, xy, xz, yz read as xx, xy, xz, yy, yz, zz?";
	}
	CalMat3 about_origin = shifted(body);
	if (body->mass > 0 && inertia_is_possible(&about_origin)) {
		return "; it must be about the center of mass: was the parallel-axis term subtracted once too often?";
	}
	if (moments->p[0] >= 0) {
		return "; is it the matrix of second moments S = sum m r r', of which the inertia is trace(S) 1 - S?";
	}
	return "; check the numbers and their signs";
}

/* ---- checks -------------------------------------------------------------------------------- */

/** False if the matrix is not symmetric, so that it has no principal moments. */
static bool check_symmetry(Check *check, const CalBodyDef *body) {
	static const char axis[] = "xyz";
	const double(*I)[3] = body->inertia.m;
	double size = 0, worst = 0;
	int row = 0, column = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			size = fmax(size, fabs(I[i][j]));
			double difference = fabs(I[i][j] - I[j][i]);
			if (difference > worst) {
				worst = difference;
				row = i;
				column = j;
			}
		}
	}
	if (worst <= ARITHMETIC * size) {
		return true;
	}
	check_error(check, body->place,
	            "body \"%s\": inertia is not symmetric: %c%c is %.10g but %c%c is %.10g, %.3g%% of the largest element "
	            "apart; a slip between row and column?",
	            body->name, axis[row], axis[column], I[row][column], axis[column], axis[row], I[column][row],
	            100 * worst / size);
	return false;
}

static void check_moments(Check *check, const CalBodyDef *body, const Moments *m) {
	if (moments_are_possible(m, ARITHMETIC * m->size)) {
		return;
	}
	double allowance = fmin(rounding_allowance(&body->inertia), MAX_ROUNDING * m->size);
	bool rounding = moments_are_possible(m, allowance);
	bool idealized = body->idealized && m->p[0] >= -ARITHMETIC * m->size;
	const char *cause = rounding || idealized ? "" : likely_cause(body, m);
	void (*report)(Check *, const char *, const char *, ...) = rounding || idealized ? check_warning : check_error;
	const char *excuse = rounding ? "; rounded digits explain it" : idealized ? "; accepted as idealized" : "";
	if (m->p[0] < -ARITHMETIC * m->size) {
		report(check, body->place,
		       "body \"%s\": inertia is not positive: its principal moments are %.6g, %.6g and %.6g kg m^2%s%s",
		       body->name, m->p[0], m->p[1], m->p[2], excuse, cause);
	} else if (m->p[0] + m->p[1] <= ARITHMETIC * m->size) {
		report(check, body->place,
		       "body \"%s\": inertia violates the triangle inequality: only one of its principal moments, %.6g kg m^2, "
		       "is not zero%s%s",
		       body->name, m->p[2], excuse, cause);
	} else {
		report(check, body->place,
		       "body \"%s\": inertia violates the triangle inequality by %.3g%% (principal moments %.6g, %.6g and %.6g "
		       "kg m^2)%s%s",
		       body->name, 100 * m->excess / (m->p[0] + m->p[1]), m->p[0], m->p[1], m->p[2], excuse, cause);
	}
}

/** Radius of gyration against the body's own dimensions: they differ by 1000 when units are mixed. */
static void check_units(Check *check, const CalBodyDef *body, const Moments *m, BodyExtent extent) {
	if (!(m->p[2] > 0) || !(extent.reach > 0)) {
		return;
	}
	double gyration = sqrt(m->p[2] / body->mass), ratio = gyration / extent.reach;
	double most = extent.has_node ? GYRATION_MAX_NODES : GYRATION_MAX_ORIGIN;
	if ((ratio > most && ratio < GYRATION_OF_POINT) || ratio < GYRATION_MIN) {
		check_warning(check, body->place,
		              "body \"%s\": its radius of gyration, %.3g m, is %s than its nodes and center of mass suggest "
		              "(%.3g m); are lengths or inertia in millimeters?",
		              body->name, gyration, ratio > 1 ? "far larger" : "far smaller", extent.reach);
	}
}

void check_mass_properties(Check *check, const CalBodyDef *body, BodyExtent extent) {
	if (body->mass < 0) {
		check_error(check, body->place, "body \"%s\": mass is %g kg; it must not be negative", body->name, body->mass);
	}
	if (!check_symmetry(check, body)) {
		return;
	}
	Moments m = moments_of(&body->inertia);
	if (body->mass == 0 && m.size > 0) {
		check_error(check, body->place,
		            "body \"%s\": mass is zero but inertia is not; give the mass, or remove the inertia", body->name);
	}
	check_moments(check, body, &m);
	if (body->mass > 0) {
		check_units(check, body, &m, extent);
	}
}
