// SPDX-License-Identifier: Apache-2.0
/*
 * turns.c — see turns.h.
 */
#include "view/turns.h"

#include <math.h>

#include "math/portable.h"
#include "math/quat.h"
#include "math/vec.h"

static dvec3 vec_at(const double *row, int column) { return (dvec3){row[column], row[column + 1], row[column + 2]}; }

static double length(dvec3 a) { return sqrt(ddot(a, a)); }

/* The rotation that the velocities of two rows predict: dt (w0 + w1)/2. */
static dvec3 predicted(BodyColumns body, const double *from, const double *to) {
	if (body.velocity < 0)
		return (dvec3){0, 0, 0};
	return dscale(0.5 * (to[0] - from[0]), dadd(vec_at(from, body.velocity + 3), vec_at(to, body.velocity + 3)));
}

static CalQuat quat_at(const double *row, int column) {
	return (CalQuat){row[column], row[column + 1], row[column + 2], row[column + 3]};
}

double turns_residual(BodyColumns body, const double *from, const double *to) {
	const CalQuat turned = dquat_mul(dquat_exp(predicted(body, from, to)), quat_at(from, body.pose + 3));
	const CalQuat back = {turned.w, -turned.x, -turned.y, -turned.z};
	const CalQuat left = dquat_mul(quat_at(to, body.pose + 3), back);
	return 2 * portable_atan2(sqrt(left.x * left.x + left.y * left.y + left.z * left.z), fabs(left.w));
}

double turns_angle(BodyColumns body, const double *from, const double *to) {
	const double angle = length(predicted(body, from, to));
	return isfinite(angle) ? angle : 0;
}

/* Half way, an even acceleration has turned by dt (3 w0 + w1)/8 and an even turn by dt (w0 + w1)/4. */
double turns_sway(BodyColumns body, const double *from, const double *to) {
	if (body.velocity < 0)
		return 0;
	const dvec3 change = dadd(vec_at(to, body.velocity + 3), dscale(-1, vec_at(from, body.velocity + 3)));
	const double sway = 0.125 * (to[0] - from[0]) * length(change);
	return isfinite(sway) ? sway : 0;
}

/* How far the position is from what the velocities of two rows predict, in the distance that they go [1]. */
static double turns_detour(BodyColumns body, const double *from, const double *to) {
	if (body.velocity < 0)
		return 0;
	const double half = 0.5 * (to[0] - from[0]);
	const dvec3 v0 = vec_at(from, body.velocity), v1 = vec_at(to, body.velocity);
	const dvec3 went = dadd(vec_at(to, body.pose), dscale(-1, vec_at(from, body.pose)));
	const double way = half * (length(v0) + length(v1));
	return way > 0 ? length(dadd(went, dscale(-half, dadd(v0, v1)))) / way : 0;
}

static const double *row_at(const CalResultsTable *table, size_t row) {
	return table->rows + row * (size_t)table->column_count;
}

double turns_fastest(BodyColumns body, const CalResultsTable *table) {
	double most = 0;
	for (size_t i = 0; i + 1 < table->row_count && body.velocity >= 0; i++)
		most = fmax(most, turns_angle(body, row_at(table, i), row_at(table, i + 1)));
	return most;
}

/* Poses alone do not show whole turns. Where they are far apart in time and differ, there may have been some. */
static double doubt_of_poses(double residual, double gap) {
	static const double noticeable = 0.02, close = 0.05; // [rad], [s]
	return residual > noticeable && gap > close ? fmax(residual, 2 * TURNS_LIMIT) : residual;
}

/*
 * Rows in between know better: their predictions added up are how often the body has turned, and where one of them
 * is in doubt itself, so is the whole. A body that moves on an arc of more than a quarter turn is in doubt as well unless its
 * position goes where the velocities say: 1 is a detour as long as the way.
 */
double turns_doubt(BodyColumns body, const CalResultsTable *table, size_t from, size_t to) {
	const double *first = row_at(table, from), *last = row_at(table, to);
	if (!(last[0] > first[0]) || body.pose < 0) // a jump
		return 0;
	dvec3 sum = {0, 0, 0};
	double doubt = turns_residual(body, first, last), turned = 0;
	for (size_t i = from; i < to; i++) {
		const double *a = row_at(table, i), *b = row_at(table, i + 1);
		if (b[0] > a[0])
			doubt = fmax(doubt, body.velocity >= 0 ? turns_residual(body, a, b)
			                                       : doubt_of_poses(turns_residual(body, a, b), b[0] - a[0]));
		sum = dadd(sum, predicted(body, a, b));
		turned += turns_angle(body, a, b);
	}
	doubt = fmax(doubt, length(dadd(sum, dscale(-1, predicted(body, first, last)))));
	if (turned > TURNS_LIMIT && turns_detour(body, first, last) > 0.5)
		doubt = fmax(doubt, turned);
	return isfinite(doubt) ? doubt : 0;
}
