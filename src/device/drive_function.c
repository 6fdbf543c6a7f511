// SPDX-License-Identifier: Apache-2.0
/*
 * drive_function.c — formulas and tables of time as functions of constraint equations (CalDrive), and of devices
 * (TimeFunction). Derivatives of formulas are exact: they are propagated through every operation.
 *
 * They are evaluated by several threads at a time and never change. The identity is a hash over what makes the function:
 * the text of the formula, or the numbers of the table.
 */
#include <math.h>
#include <string.h>

#include <calder/motion.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/serializer.h"
#include "device/device.h"

struct CalDriveFunction {
	CalAllocator allocator;
	CalExpression *formula; // NULL: the table
	CalTable table;         // numbers after this struct
	const char *text;       // of the formula, after this struct
	uint64_t identity;
};

/* ---- what a row calls ---------------------------------------------------------------------------- */

static void evaluate(const void *user, double t, double *value, double *rate, double *acceleration) {
	const CalDriveFunction *f = user;
	double jet[3] = {NAN, NAN, NAN};
	if (f->formula) {
		(void)cal_expression_jet(f->formula, t, jet);
	} else {
		const TableValue at = table_value(&f->table, t);
		jet[0] = at.value, jet[1] = at.rate, jet[2] = at.acceleration;
	}
	*value = jet[0], *rate = jet[1], *acceleration = jet[2];
}

static double next_switch(const void *user, double t) {
	const CalDriveFunction *f = user;
	return f->formula ? cal_expression_next_switch(f->formula, t) : table_next(&f->table, t);
}

CalDrive cal_drive_function_of(const CalDriveFunction *drive) {
	if (!drive)
		return (CalDrive){0};
	return (CalDrive){.fn = evaluate, .next_switch = next_switch, .user = drive, .identity = drive->identity};
}

int cal_drive_function_get(const CalDrive *drive, CalTimeFunction *function) {
	if (!drive || !function || drive->fn != evaluate || !drive->user)
		return 0;
	const CalDriveFunction *f = drive->user;
	*function = (CalTimeFunction){.formula = f->text, .table = f->table};
	return 1;
}

/* ---- making -------------------------------------------------------------------------------------- */

static CalStatus check_table(const CalTable *table, CalError *error) {
	if (table->count < 1 || table->count >= 100000000 || !table->time || !table->value)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "there is no function to follow: no formula, and no points of a table");
	if (table->count > 1 && (table->shape == CAL_TABLE_STEP || table->shape == CAL_TABLE_LINEAR))
		return error_set(
			error, CAL_ERR_ARGUMENT,
			"the speed of its table jumps, which takes infinite force; take the shape cubic, smooth or spline");
	for (int i = 0; i < table->count; i++) {
		if (!isfinite(table->time[i]) || !isfinite(table->value[i]))
			return error_set(error, CAL_ERR_ARGUMENT, "point %d of its table is not finite", i + 1);
		if (i > 0 && !(table->time[i] > table->time[i - 1]))
			return error_set(error, CAL_ERR_ARGUMENT, "the times of its table do not ascend: %g s is followed by %g s",
			                 table->time[i - 1], table->time[i]);
	}
	return CAL_OK;
}

static CalStatus take_formula(CalDriveFunction *made, const char *text, CalError *error) {
	const CalStatus status = cal_expression_create(text, &made->allocator, &made->formula, error);
	if (status != CAL_OK)
		return status;
	if (!cal_expression_is_of_time(made->formula) || cal_expression_is_condition(made->formula))
		return error_set(error, CAL_ERR_ARGUMENT, "\"%.200s\" is no number that depends on the time t alone", text);
	made->identity = serializer_hash(SERIALIZER_HASH_START, text, strlen(text));
	made->text = memcpy(made + 1, text, strlen(text) + 1);
	return CAL_OK;
}

static void take_table(CalDriveFunction *made, const CalTable *table) {
	const size_t bytes = (size_t)table->count * sizeof(double);
	double *time = (double *)(void *)(made + 1), *value = time + table->count;
	const int shape = (int)table->shape;
	memcpy(time, table->time, bytes);
	memcpy(value, table->value, bytes);
	made->table = (CalTable){table->shape, table->count, time, value};
	made->identity = serializer_hash(SERIALIZER_HASH_START, &shape, sizeof shape);
	made->identity = serializer_hash(made->identity, time, 2 * bytes);
}

CalStatus cal_drive_function_create(const CalTimeFunction *function, const CalAllocator *allocator,
                                    CalDriveFunction **drive, CalError *error) {
	if (!function || !drive)
		return error_null(error, __func__, "function or drive");
	*drive = NULL;
	CalStatus status = function->formula ? CAL_OK : check_table(&function->table, error);
	if (status != CAL_OK)
		return status;
	const CalAllocator own = allocator_or_default(allocator);
	const size_t size =
		function->formula ? strlen(function->formula) + 1 : 2 * (size_t)function->table.count * sizeof(double);
	CalDriveFunction *made = memory_alloc(&own, sizeof *made + size);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "out of memory for a function of time");
	*made = (CalDriveFunction){.allocator = own};
	if (function->formula)
		status = take_formula(made, function->formula, error);
	else
		take_table(made, &function->table);
	if (status != CAL_OK) {
		cal_drive_function_destroy(made);
		return status;
	}
	*drive = made;
	return CAL_OK;
}

void cal_drive_function_destroy(CalDriveFunction *drive) {
	if (!drive)
		return;
	const CalAllocator allocator = drive->allocator;
	cal_expression_destroy(drive->formula);
	memory_free(&allocator, drive);
}

/* ---- of devices --------------------------------------------------------------------------------- */

TimeFunction time_function_take(DeviceBuilder *d, const char *what, const CalTimeFunction *given) {
	TimeFunction made = {0};
	CalError error = {0};
	if (!given->formula) {
		made.table = device_table(d, what, &given->table);
		return made;
	}
	const CalStatus status = cal_expression_create(given->formula, NULL, &made.formula, &error);
	if (status == CAL_ERR_MEMORY && d->status == CAL_OK)
		d->status = error_set(d->error, status, "device \"%s\": %s", d->def.name, error.text);
	device_check(d, status == CAL_OK, "%s: %s", what, error.text);
	device_check(d, cal_expression_is_of_time(made.formula) && !cal_expression_is_condition(made.formula),
	             "%s: \"%.200s\" is no number that depends on the time t alone", what, given->formula);
	return made;
}

void time_function_release(TimeFunction *function) {
	cal_expression_destroy(function->formula);
	function->formula = NULL;
}

TableValue time_formula_at(const CalExpression *formula, double t) {
	double jet[3] = {NAN, NAN, NAN};
	if (cal_expression_jet(formula, t, jet) != CAL_OK)
		jet[0] = NAN;
	return (TableValue){jet[0], jet[1], jet[2]};
}

double time_function_next_switch(const CalDevice *device, TimeFunction *function, double t) {
	return function->formula ? cal_expression_next_switch(function->formula, t)
	                         : table_next_switch(device, &function->table, t);
}

void time_function_ahead(const CalDevice *device, TimeFunction *function, double t, double span, double *acceleration,
                         double *jerk) {
	if (!function->formula) {
		table_ahead(device, &function->table, t, span, acceleration, jerk);
		return;
	}
	double before = time_function_at(device, function, t).acceleration;
	*acceleration = fabs(before);
	*jerk = 0;
	for (int k = 1; k < 3 && span > 0; k++) {
		const double here = time_function_at(device, function, t + 0.5 * k * span).acceleration;
		*acceleration = fmax(*acceleration, fabs(here));
		*jerk = fmax(*jerk, fabs(here - before) / (0.5 * span));
		before = here;
	}
}
