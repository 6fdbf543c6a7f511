// SPDX-License-Identifier: Apache-2.0
/*
 * load_component.c — numbers, tables and formulas as components of loads and commands of actuators.
 */
#include "device/load_component.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/sim_internal.h"

/* ---- values ------------------------------------------------------------------------------------- */

int load_component_bind(LoadComponent *c, const CalEvalContext *context) {
	c->why = (CalError){0};
	return c->formula && cal_expression_bind(c->formula, context, &c->why) != CAL_OK ? -1 : 0;
}

static int evaluate_formula(const LoadComponent *c, CalEvalContext *context, double *value) {
	char why[200];
	const CalStatus status = cal_expression_value(c->formula, context, value);
	if (status == CAL_OK && isfinite(*value))
		return 0;
	if (status == CAL_OK)
		snprintf(why, sizeof why, "%s = %.100s is %g at t = %.9g s", c->name, cal_expression_text(c->formula), *value,
		         cal_context_time(context));
	else
		snprintf(why, sizeof why, "%s = %.100s has no value at t = %.9g s: %.50s", c->name,
		         cal_expression_text(c->formula), cal_context_time(context), cal_status_text(status));
	cal_context_explain_failure(context, why);
	return 1;
}

int load_component_value(const CalDevice *device, LoadComponent *c, CalEvalContext *context, double *value) {
	*value = c->table.count ? table_at(device, &c->table, context->t).value : c->number;
	if (c->formula && evaluate_formula(c, context, value) != 0)
		return 1;
	if (c->is_clipped)
		*value = fmin(fmax(*value, c->low), c->high);
	context_probe(context, device, c->name, value);
	return 0;
}

/* ---- steps -------------------------------------------------------------------------------------- */

double load_component_next_switch(const CalDevice *device, LoadComponent *c, double t) {
	if (c->formula)
		return fmin(table_next_switch(device, &c->table, t), cal_expression_next_switch(c->formula, t));
	return load_component_varies(c) ? table_next_switch(device, &c->table, t) : INFINITY;
}

int load_component_kink_count(const LoadComponent *c) { return cal_expression_kink_count(c->formula); }

int load_component_kinks(const LoadComponent *c, CalEvalContext *context, double *value) {
	return c->formula && cal_expression_kinks(c->formula, context, value) != CAL_OK;
}

/* "sign() of effort = -3*sign(u(hinge))" */
const char *load_component_kink_text(LoadComponent *c, int kink) {
	snprintf(c->text, sizeof c->text, "%s of %s = %.150s", cal_expression_kink_text(c->formula, kink), c->name,
	         cal_expression_text(c->formula));
	return c->text;
}

void load_component_lookahead(const LoadComponent *c, CalEvalContext *context, CalLookahead *lookahead) {
	if (!c->formula)
		return;
	lookahead->event_free = fmin(lookahead->event_free, cal_expression_clear(c->formula, context, lookahead->horizon));
	lookahead->max_step = fmin(lookahead->max_step, cal_expression_unseen(c->formula, context, lookahead->horizon));
}

void load_component_doubt_peaks(const CalDevice *device, LoadComponent *c, CalEvalContext *context, double span) {
	const double step = cal_context_fixed_step(context), t = cal_context_time(context);
	if (!c->formula || !(step > 0))
		return;
	span = fmin(fmin(step, span), load_component_next_switch(device, c, t) - t);
	const double unseen = cal_expression_unseen(c->formula, context, span);
	if (!(unseen < span))
		return;
	const char *text = cal_expression_text(c->formula);
	CalDoubt doubt = {.kind = CAL_DOUBT_FORMULA, .time = t, .value = step, .limit = unseen};
	snprintf(doubt.object, sizeof doubt.object, "%s = %.80s", c->name, text);
	snprintf(doubt.text, sizeof doubt.text,
	         "%s = %.200s has a peak between two steps of %.4g s, and may not have acted; take a shorter step, or %s",
	         c->name, text, step, cal_method_name(CAL_METHOD_DEFAULT));
	cal_context_add_doubt(context, &doubt);
}

/* ---- making ------------------------------------------------------------------------------------- */

static void note_status(DeviceBuilder *d, CalStatus status, const char *name, const char *text) {
	if (status == CAL_ERR_MEMORY && d->status == CAL_OK)
		d->status = error_set(d->error, status, "device \"%s\": %s", d->def.name, text);
	device_check(d, status == CAL_OK, "%s: %s", name, text);
}

/* Clipped within the formula, whose kinks are then those of clamp() too. */
static void clip_formula(DeviceBuilder *d, LoadComponent *c) {
	const CalAllocator allocator = allocator_or_default(NULL);
	const char *text = cal_expression_text(c->formula);
	const size_t size = strlen(text) + 80;
	char *clipped = memory_alloc(&allocator, size);
	CalExpression *made = NULL;
	CalError error = {0};
	if (!clipped) {
		note_status(d, CAL_ERR_MEMORY, c->name, cal_status_text(CAL_ERR_MEMORY));
		return;
	}
	snprintf(clipped, size, "clamp(%s, %.17g, %.17g)", text, c->low, c->high);
	note_status(d, cal_expression_create(clipped, NULL, &made, &error), c->name, error.text);
	cal_expression_destroy(c->formula);
	c->formula = made;
	memory_free(&allocator, clipped);
}

static void parse_formula(DeviceBuilder *d, LoadComponent *c, const char *text) {
	CalError error = {0};
	if (d->status != CAL_OK)
		return;
	note_status(d, cal_expression_create(text, NULL, &c->formula, &error), c->name, error.text);
	device_check(d, !cal_expression_is_condition(c->formula),
	             "%s = %.200s is a condition; write if(condition, a, b) to make a number of it", c->name, text);
	if (d->status == CAL_OK && c->is_clipped)
		clip_formula(d, c);
}

void load_component_take(DeviceBuilder *d, LoadComponent *c, const char *name, const char *what,
                         const CalLoadValue *value, double low, double high) {
	*c = (LoadComponent){
		.name = name, .number = value->number, .low = low, .high = high, .is_clipped = isfinite(low) || isfinite(high)};
	device_check(d, isfinite(value->number), "%s is not a finite number", what);
	if (value->formula)
		parse_formula(d, c, value->formula);
	else
		c->table = device_table(d, what, &value->table);
	d->def.event_count += load_component_kink_count(c);
}

LoadComponent *load_component_create(DeviceBuilder *d, const char *name, const CalLoadValue *value, double low,
                                     double high) {
	const CalAllocator allocator = allocator_or_default(NULL);
	LoadComponent *made = d->status == CAL_OK ? memory_alloc(&allocator, sizeof *made) : NULL;
	if (made)
		load_component_take(d, made, name, name, value, low, high);
	else if (d->status == CAL_OK)
		d->status =
			error_set(d->error, CAL_ERR_MEMORY, "device \"%s\": %s", d->def.name, cal_status_text(CAL_ERR_MEMORY));
	return made;
}

void load_component_release(LoadComponent *c) { cal_expression_destroy(c->formula); }

void load_component_destroy(LoadComponent *c) {
	const CalAllocator allocator = allocator_or_default(NULL);
	if (c)
		load_component_release(c);
	memory_free(&allocator, c);
}

CalStatus load_component_add_device(DeviceBuilder *d, const void *data, size_t size, LoadComponent *c, int *device) {
	const CalStatus status = device_add(d, data, size, device);
	if (status == CAL_ERR_ARGUMENT && d->status == CAL_OK && c->why.status != CAL_OK)
		device_check(d, false, "%s", c->why.text);
	if (status != CAL_OK)
		load_component_destroy(c);
	return status;
}

double *load_component_parameter(LoadComponent *c, const char *unit, CalDeviceParameter *about) {
	*about = (CalDeviceParameter){.low = fmax(c->low, -DBL_MAX), .high = fmin(c->high, DBL_MAX)};
	snprintf(about->name, sizeof about->name, "%s", c->name);
	snprintf(about->unit, sizeof about->unit, "%s", unit);
	about->fixed = c->formula ? "it is a formula" : c->table.count > 0 ? "it is a table" : NULL;
	return &c->number;
}
