// SPDX-License-Identifier: Apache-2.0
/*
 * table.c — functions of time by their values: steps, lines, cubic and quintic pieces, splines, with two derivatives.
 *
 * With s = (t - t_i)/h in a piece of length h: cubic pieces are those of Hermite with the slopes of the chords over two
 * pieces inside and zero at both ends; quintic ones run from rest to rest, value = v_i + dv (10 s^3 - 15 s^4 + 6 s^5).
 * Splines are quintic pieces with rate and acceleration at both ends, at each point those of the quartic through the five
 * points next to it: no equations for all points together, as for a cubic spline, and errors of O(h^4) and O(h^3).
 */
#include "device/device.h"

const char *cal_table_shape_name(CalTableShape shape) {
	static const char *const names[] = {
#define SHAPE_NAME(name, text) text,
		CAL_TABLE_SHAPE_LIST(SHAPE_NAME)
#undef SHAPE_NAME
	};
	return (int)shape >= 0 && shape < CAL_TABLE_SHAPE_COUNT ? names[shape] : NULL;
}

/* The piece that contains t, i: time[i] <= t < time[i + 1]. Found at once if all have the same length. */
static int piece_of(const double *time, int count, double t) {
	int low = 0, high = count - 1;
	const double guess = (t - time[0]) / (time[high] - time[0]) * high;
	const int i = guess > 0 && guess < high ? (int)guess : 0;
	if (time[i] <= t && t < time[i + 1])
		return i;
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;
		if (time[middle] <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double slope_at(const double *time, const double *value, int count, int i) {
	if (i == 0 || i == count - 1)
		return 0;
	return (value[i + 1] - value[i - 1]) / (time[i + 1] - time[i - 1]);
}

static TablePiece cubic_piece(const double *time, const double *value, int count, int i) {
	const double h = time[i + 1] - time[i], dv = value[i + 1] - value[i];
	const double a = h * slope_at(time, value, count, i), b = h * slope_at(time, value, count, i + 1);
	return (TablePiece){time[i], time[i + 1], h, value[i], a, .c2 = 3 * dv - 2 * a - b, .c3 = a + b - 2 * dv};
}

static TablePiece linear_piece(const double *time, const double *value, int i) {
	const double h = time[i + 1] - time[i];
	return (TablePiece){time[i], time[i + 1], h, value[i], (value[i + 1] - value[i]) / h, .c2 = 0};
}

static TableValue smooth(const double *time, const double *value, int i, double t) {
	const double h = time[i + 1] - time[i], s = (t - time[i]) / h, dv = value[i + 1] - value[i];
	return (TableValue){value[i] + dv * s * s * s * (10 + s * (-15 + s * 6)), dv / h * 30 * s * s * (1 + s * (-2 + s)),
	                    dv / (h * h) * 60 * s * (1 + s * (-3 + s * 2))};
}

/* Rate and acceleration at point i of the polynomial through the five points next to it, or through all of fewer: Newton's form. */
static TableValue spline_point(const double *time, const double *value, int count, int i) {
	enum { MOST = 5 };
	const int n = count < MOST ? count : MOST;
	const int first = i - MOST / 2 < 0 ? 0 : i - MOST / 2 > count - n ? count - n : i - MOST / 2;
	double z[MOST], c[MOST];
	for (int k = 0; k < n; k++)
		z[k] = time[first + k] - time[i], c[k] = value[first + k];
	for (int order = 1; order < n; order++)
		for (int k = n - 1; k >= order; k--)
			c[k] = (c[k] - c[k - 1]) / (z[k] - z[k - order]);
	TableValue at = {c[n - 1], 0, 0};
	for (int k = n - 2; k >= 0; k--) {
		at.acceleration = 2 * at.rate - z[k] * at.acceleration;
		at.rate = at.value - z[k] * at.rate;
		at.value = c[k] - z[k] * at.value;
	}
	return (TableValue){value[i], at.rate, at.acceleration};
}

static TableValue spline(const double *time, const double *value, int count, int i, double t) {
	const TableValue from = spline_point(time, value, count, i), to = spline_point(time, value, count, i + 1);
	const double h = time[i + 1] - time[i], s = (t - time[i]) / h, dv = to.value - from.value;
	const double v0 = h * from.rate, v1 = h * to.rate, a0 = h * h * from.acceleration, a1 = h * h * to.acceleration;
	const double c2 = a0 / 2, c3 = 10 * dv - 6 * v0 - 4 * v1 - (3 * a0 - a1) / 2;
	const double c4 = -15 * dv + 8 * v0 + 7 * v1 + (3 * a0 - 2 * a1) / 2, c5 = 6 * dv - 3 * (v0 + v1) - (a0 - a1) / 2;
	return (TableValue){from.value + s * (v0 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
	                    (v0 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h,
	                    (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / (h * h)};
}

/* Inside its points, the last one included, or at the rate of the nearest. */
static TableValue spline_value(const CalTable *table, double t) {
	const double *time = table->time, *value = table->value;
	const int count = table->count, last = count - 1;
	if (t >= time[0] && t <= time[last])
		return spline(time, value, count, t < time[last] ? piece_of(time, count, t) : last - 1, t);
	const int i = t < time[0] ? 0 : last;
	const double rate = spline_point(time, value, count, i).rate;
	return (TableValue){value[i] + rate * (t - time[i]), rate, 0};
}

static TablePiece polynomial_piece(const CalTable *table, int i) {
	return table->shape == CAL_TABLE_CUBIC ? cubic_piece(table->time, table->value, table->count, i)
	                                       : linear_piece(table->time, table->value, i);
}

TableValue table_value(const CalTable *table, double t) {
	const double *time = table->time, *value = table->value;
	if (table->shape == CAL_TABLE_SPLINE && table->count > 1)
		return spline_value(table, t);
	if (table->count == 0)
		return (TableValue){0, 0, 0};
	if (t < time[0] || table->count == 1)
		return (TableValue){value[0], 0, 0};
	if (t >= time[table->count - 1])
		return (TableValue){value[table->count - 1], 0, 0};
	const int i = piece_of(time, table->count, t);
	switch (table->shape) {
	case CAL_TABLE_LINEAR:
	case CAL_TABLE_CUBIC: {
		const TablePiece piece = polynomial_piece(table, i);
		return table_piece_value(table->shape, &piece, t);
	}
	case CAL_TABLE_SMOOTH:
		return smooth(time, value, i, t);
	default:
		return (TableValue){value[i], 0, 0};
	}
}

double table_next(const CalTable *table, double t) {
	const double *time = table->time;
	if (table->count < 2 || t >= time[table->count - 1])
		return INFINITY;
	return t < time[0] ? time[0] : time[piece_of(time, table->count, t) + 1];
}

static CalTable table_of(const CalDevice *device, const Table *table) {
	const double *time = device->table + table->at;
	return (CalTable){table->shape, table->count, time, time + table->count};
}

/* Makes table->piece the one that contains t; false: there is none, or the pieces of its shape are others. */
static bool take_piece(const CalDevice *device, Table *table, double t) {
	const CalTable all = table_of(device, table);
	const int count = all.count;
	if ((all.shape != CAL_TABLE_LINEAR && all.shape != CAL_TABLE_CUBIC) || count < 2 ||
	    !(all.time[0] <= t && t < all.time[count - 1]))
		return false;
	const int i = piece_of(all.time, count, t);
	table->piece = polynomial_piece(&all, i);
	return true;
}

TableValue table_find(const CalDevice *device, Table *table, double t) {
	if (take_piece(device, table, t))
		return table_piece_value(table->shape, &table->piece, t);
	const CalTable all = table_of(device, table);
	return table_value(&all, t);
}

double table_next_switch(const CalDevice *device, Table *table, double t) {
	if (table_piece_has(&table->piece, t))
		return table->piece.to;
	const CalTable all = table_of(device, table);
	return table_next(&all, t);
}

void table_ahead(const CalDevice *device, Table *table, double t, double span, double *acceleration, double *jerk) {
	double before = table_at(device, table, t).acceleration;
	*acceleration = fabs(before);
	*jerk = 0;
	for (int k = 1; k < 3 && span > 0; k++) {
		const double here = table_at(device, table, t + 0.5 * k * span).acceleration;
		*acceleration = fmax(*acceleration, fabs(here));
		*jerk = fmax(*jerk, fabs(here - before) / (0.5 * span));
		before = here;
	}
}
