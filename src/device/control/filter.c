// SPDX-License-Identifier: Apache-2.0
/*
 * filter.c — sampled low-pass, high-pass and notch filters with the corner frequency w and the damping ratio z:
 *
 *   low_pass   w/(s + w)                      or  w^2/(s^2 + 2 z w s + w^2)
 *   high_pass  s/(s + w)                      or  s^2/(s^2 + 2 z w s + w^2)
 *   notch      (s^2 + w^2)/(s^2 + 2 z w s + w^2)
 *
 * Tustin's rule with the period 2 tan(w T/2)/w in the place of T: the response at w is exact.
 */
#include "device/control/linear_block.h"

#include "math/portable.h"

typedef enum FilterKind { LOW_PASS, HIGH_PASS, NOTCH } FilterKind;

typedef struct FilterDef {
	const char *name;
	SampledKeys keys;
	CalLoadValue input;
	int kind;         // FilterKind
	double frequency; // [rad/s]
	int order;        // 1 or 2
	double damping;   // ratio
	const char *place;
} FilterDef;

static const char *const names[] = {"y"}, *const units[] = {"1"};
static const CalDeviceOps ops = LINEAR_BLOCK_OPS("filter", 1, names, units);

static void check_def(DeviceBuilder *d, const FilterDef *def) {
	const double most = 3.14159265358979323846 / def->keys.sample_period;
	device_check(d, isfinite(def->frequency) && def->frequency > 0,
	             "frequency is %g rad/s; give a number greater than zero", def->frequency);
	device_check(
		d, !(def->keys.sample_period > 0) || def->frequency < most,
		"frequency %.6g rad/s is not below pi/sample_period = %.6g rad/s, the highest that samples can show; take a "
		"shorter sample_period",
		def->frequency, most);
	device_check(d, def->order == 1 || def->order == 2, "order is %d; give 1 or 2", def->order);
	device_check(d, def->kind != NOTCH || def->order == 2, "a notch is of order 2");
	device_check(d, isfinite(def->damping) && def->damping > 0, "damping is %g; give a ratio greater than zero",
	             def->damping);
}

static void fill_system(const FilterDef *def, StateMatrices *system) {
	const double w = def->frequency, full = w * w;
	const double first[3][2] = {{0, w}, {1, 0}, {0, 0}};
	const double second[3][3] = {{0, 0, full}, {1, 0, 0}, {1, 0, full}};
	if (def->order == 1)
		system_of_transfer(first[def->kind], (const double[]){1, w}, system);
	else
		system_of_transfer(second[def->kind], (const double[]){1, 2 * def->damping * w, full}, system);
}

static CalStatus add_filter(CalSim *sim, const void *given, int *device, CalError *error) {
	const FilterDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	check_def(&d, def);
	LinearBlock *block = linear_block_alloc(&d, def->order, 1, 1);
	if (!block)
		return d.status;
	fill_system(def, &block->system);
	sampled_take(&d, &block->s, &def->keys, 1, def->order);
	sampled_take_input(&d, &block->s, "input", &def->input);
	linear_block_discretize(&d, block, BY_TUSTIN,
	                        2 * portable_tan(0.5 * def->frequency * def->keys.sample_period) / def->frequency);
	return sampled_add_device(&d, &block->s, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(FilterDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(FilterDef),
	{"input", FIELD_LOAD_VALUE, AT(input), .flags = FIELD_REQUIRED, .doc = "SI"},
	{"kind", FIELD_CHOICE, AT(kind), .doc = "default `low_pass`",
     .words = FIELD_WORDS("low_pass", "high_pass", "notch")},
	{"frequency", FIELD_NUMBER, AT(frequency), DIM_RATE, .flags = FIELD_REQUIRED,
     .doc = "corner of a pass, center of a notch"},
	{"order", FIELD_WHOLE, AT(order), .doc = "1 or 2; default 2"},
	{"damping", FIELD_NUMBER, AT(damping),
     .doc = "ratio, of order 2; of a notch half its relative width; default 0.7071"},
	SAMPLED_FIELDS(FilterDef, keys),
};
#undef AT
static const FilterDef start = {.input.table.shape = CAL_TABLE_LINEAR, .order = 2, .damping = 0.70710678118654752};

const DeviceType filter_type = {
	.table = {FIELDS("filter", fields), .doc = "A sampled low-pass, high-pass or notch filter."},
	DEVICE_DEF(FilterDef),
	.add = add_filter,
	.ops = &ops,
	.start = &start,
	.sampled = true};
