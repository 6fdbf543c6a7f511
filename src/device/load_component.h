// SPDX-License-Identifier: Apache-2.0
/*
 * load_component.h — what a CalLoadValue is in a device: a number, a table over time or a formula over the simulation.
 * Components of loads and commands of actuators are all of this kind (decision 0038).
 *
 * A device that has one forwards bind, values, lookahead, value_text and next_switch, counts its kinks among its events, and
 * releases it when it is destroyed. A component is not in the data of the device, which are copied, but beside it: the
 * caller can read why a formula could not be bound.
 */
#ifndef CALDER_DEVICE_LOAD_COMPONENT_H
#define CALDER_DEVICE_LOAD_COMPONENT_H

#include <calder/expression.h>

#include "device/device.h"

typedef struct LoadComponent {
	const char *name; // "torque", static
	double number;
	Table table;            // count 0: the number
	CalExpression *formula; // NULL: the table
	double low, high;       // to which values are clipped,
	bool is_clipped;        // if one of them is finite
	CalError why;           // it could not be bound
	char text[200];         // of a kink, for messages
} LoadComponent;

/* ---- making ----------------------------------------------------------------------------------------------------- */

/** Takes a value, whose tables and kinks the device gets; what: its name in messages. A formula is clipped to low..high. */
void load_component_take(DeviceBuilder *d, LoadComponent *c, const char *name, const char *what,
                         const CalLoadValue *value, double low, double high);
/** The same in memory of its own, for an actuator with one command; NULL after noting a mistake. */
LoadComponent *load_component_create(DeviceBuilder *d, const char *name, const CalLoadValue *value, double low,
                                     double high);
/** Adds the device; on failure says why a component could not be bound, and releases it. */
CalStatus load_component_add_device(DeviceBuilder *d, const void *data, size_t size, LoadComponent *c, int *device);
void load_component_release(LoadComponent *c); // what is in it
void load_component_destroy(LoadComponent *c); // accepts NULL

/** For CalDeviceOps.parameter: the number, in a unit; a table or a formula cannot be changed. */
double *load_component_parameter(LoadComponent *c, const char *unit, CalDeviceParameter *about);

/* ---- in a run --------------------------------------------------------------------------------------------------- */

/** 0 or -1, as bind() returns it. */
int load_component_bind(LoadComponent *c, const CalEvalContext *context);
/** Nonzero after saying that a formula has no finite value. */
int load_component_value(const CalDevice *device, LoadComponent *c, CalEvalContext *context, double *value);
double load_component_next_switch(const CalDevice *device, LoadComponent *c, double t);
/** It is no number, which never switches. */
static inline bool load_component_varies(const LoadComponent *c) { return c->formula || c->table.count > 0; }
/** How many values it has that change their sign where a formula jumps or bends; those; and what they are. */
int load_component_kink_count(const LoadComponent *c);
int load_component_kinks(const LoadComponent *c, CalEvalContext *context, double *value);
const char *load_component_kink_text(LoadComponent *c, int kink);
void load_component_lookahead(const LoadComponent *c, CalEvalContext *context, CalLookahead *lookahead);
/** With fixed steps nothing ends a step at a peak of a formula: it is reported that it may have been passed. */
void load_component_doubt_peaks(const CalDevice *device, LoadComponent *c, CalEvalContext *context, double span);

#endif
