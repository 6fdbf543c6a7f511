// SPDX-License-Identifier: Apache-2.0
/*
 * device.h — what the built-in devices share: vectors of the public types, tables, checks, adding.
 *
 * A built-in device is one file: its definition with what bind() found is the data, its tables are the table.
 */
#ifndef CALDER_DEVICE_DEVICE_H
#define CALDER_DEVICE_DEVICE_H

#include <math.h>
#include <stdbool.h>

#include <calder/devices.h>
#include <calder/expression.h>

#include "base/error.h"

/* ---- vectors ----------------------------------------------------------------------------------- */

static inline CalVec3 v_add(CalVec3 a, CalVec3 b) { return (CalVec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline CalVec3 v_sub(CalVec3 a, CalVec3 b) { return (CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline CalVec3 v_scale(double s, CalVec3 a) { return (CalVec3){s * a.x, s * a.y, s * a.z}; }
static inline CalVec3 v_times(CalVec3 a, CalVec3 b) { return (CalVec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline double v_dot(CalVec3 a, CalVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline CalVec3 v_cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double v_norm(CalVec3 a) { return sqrt(v_dot(a, a)); }
/* R v and R' v. */
static inline CalVec3 v_turn(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
	                 R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
	                 R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}
static inline CalVec3 v_unturn(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
	                 R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
	                 R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z};
}
/** a / |a|, or `fallback` if a is zero. */
CalVec3 v_unit(CalVec3 a, CalVec3 fallback);

/* ---- tables ------------------------------------------------------------------------------------ */

/**
 * The piece of a linear or cubic table that was asked for last, for from <= t < to: value + a (t - from), or with
 * s = (t - from)/h value + s (a + s (c2 + s c3)). A run asks for the same one thousands of times.
 */
typedef struct TablePiece {
	double from, to; // both zero: none yet
	double h, value, a, c2, c3;
} TablePiece;

/** A table in the table of a device: `count` times from `at` on, then as many values. */
typedef struct Table {
	CalTableShape shape;
	int at, count;
	TablePiece piece; // of linear and cubic ones
} Table;

typedef struct TableValue {
	double value, rate, acceleration;
} TableValue;

TableValue table_value(const CalTable *table, double t);
/** The next time after t at which the table or its rate jumps, or INFINITY. */
double table_next(const CalTable *table, double t);
/** Of a table of a device: first the piece that contains t, then any t. */
static inline bool table_piece_has(const TablePiece *piece, double t) { return piece->from <= t && t < piece->to; }
static inline TableValue table_piece_value(CalTableShape shape, const TablePiece *p, double t) {
	const double a = p->a, c2 = p->c2, c3 = p->c3, h = p->h, s = (t - p->from) / h;
	if (shape != CAL_TABLE_CUBIC)
		return (TableValue){p->value + a * (t - p->from), a, 0};
	return (TableValue){p->value + s * (a + s * (c2 + s * c3)), (a + s * (2 * c2 + s * 3 * c3)) / h,
	                    (2 * c2 + 6 * s * c3) / (h * h)};
}
TableValue table_find(const CalDevice *device, Table *table, double t);
static inline TableValue table_at(const CalDevice *device, Table *table, double t) {
	if (table_piece_has(&table->piece, t))
		return table_piece_value(table->shape, &table->piece, t);
	return table_find(device, table, t);
}
double table_next_switch(const CalDevice *device, Table *table, double t);
/** The largest acceleration of a table at three places from t to t + span, and how fast it changes between them. */
void table_ahead(const CalDevice *device, Table *table, double t, double span, double *acceleration, double *jerk);

/* ---- looking ahead ----------------------------------------------------------------------------- */

/**
 * For how long a value keeps its sign that changes at a rate, which changes itself by at most |bend|: what value + rate t
 * -+ bend t^2/2 leaves of it. Accelerations ahead are known at a few places only: `bend` counts twice.
 */
double keeps_sign(double value, double rate, double bend);
/** What is beyond a limit; 0 at the limit to round-off: something may rest there. */
double beyond(double x, double limit);
/** Above zero where a spring k with a damper c pushes that cannot pull: where depth > 0 and k depth + c rate > 0. */
double is_pushing(double k, double c, double depth, double rate);
/** For how long the sign of pushes() stays beyond the depth 0, the rate changing by at most |bend|. */
double keeps_pushing(double k, double c, double depth, double rate, double bend);

/* ---- making ------------------------------------------------------------------------------------ */

enum { DEVICE_MOST_TABLES = 40 };

/** Collects what is wrong with a definition, and its tables. */
typedef struct DeviceBuilder {
	CalSim *sim;
	CalDeviceDef def;
	const char *place;
	const CalTable *tables[DEVICE_MOST_TABLES];
	int tables_count;
	CalError *error;
	CalStatus status; // of the first mistake
} DeviceBuilder;

/** place and name are of the definition; data is complete when device_add() is called. */
DeviceBuilder device_builder(CalSim *sim, const CalDeviceOps *ops, const char *name, const char *place,
                             CalError *error);
/** Notes a mistake unless `good`: "place: device "name" (type): text". */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void device_check(DeviceBuilder *d, bool good, const char *format, ...);
/** Not negative and finite. */
void device_not_negative(DeviceBuilder *d, const char *what, double value);
void device_not_negatives(DeviceBuilder *d, const char *what, CalVec3 value);
void device_check_table(DeviceBuilder *d, const char *what, const CalTable *table);
/** Checks a table and takes it along. */
Table device_table(DeviceBuilder *d, const char *what, const CalTable *table);
/** Adds the device, unless there was a mistake. */
CalStatus device_add(DeviceBuilder *d, const void *data, size_t size, int *device);

/* ---- functions of time -------------------------------------------------------------------------- */

/* A formula of t or a table, with rate and acceleration. */
typedef struct TimeFunction {
	CalExpression *formula; // NULL: the table
	Table table;
} TimeFunction;

/** Notes what is wrong with it. `what`: the name of the key. Released by the device's destroy() or where adding fails. */
TimeFunction time_function_take(DeviceBuilder *d, const char *what, const CalTimeFunction *given);
void time_function_release(TimeFunction *function);
/** Not a number where the formula has no value. */
TableValue time_formula_at(const CalExpression *formula, double t);
static inline TableValue time_function_at(const CalDevice *device, TimeFunction *function, double t) {
	return function->formula ? time_formula_at(function->formula, t) : table_at(device, &function->table, t);
}
double time_function_next_switch(const CalDevice *device, TimeFunction *function, double t);
/** As table_ahead(). */
void time_function_ahead(const CalDevice *device, TimeFunction *function, double t, double span, double *acceleration,
                         double *jerk);

/* ---- objects ------------------------------------------------------------------------------------ */

/** A dof with a coordinate of its own; 0 or -1 as bind() returns it. */
int bind_dof(const CalEvalContext *context, CalJointId joint, int dof, CalDofRef *dof_ref);
/** What a dof does, for the units of outputs: it turns, it slides, or it is a user's and may do either. */
typedef enum DofKind { DOF_KIND_TURNS, DOF_KIND_SLIDES, DOF_KIND_EITHER, DOF_KIND_KINDS } DofKind;
DofKind dof_kind(const CalSim *sim, CalJointId joint, int dof);
/** A node; 0 or -1. */
int bind_node(const CalEvalContext *context, CalNodeId node, CalNodeRef *node_ref);

/* ---- parameters -------------------------------------------------------------------------------- */

struct DeviceType;
/**
 * For CalDeviceOps.parameter: the fields of a definition that are tuned (FIELD_TUNED...), those of vectors by component; kind:
 * what the dof does that it acts on.
 */
double *device_parameter(const struct DeviceType *type, void *def, DofKind kind, int index, CalDeviceParameter *about);
/** For a parameter whose zero means that something is not there at all: it stays zero, or above zero. */
void device_parameter_keeps_zero(double value, CalDeviceParameter *about);

#endif
