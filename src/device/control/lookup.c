// SPDX-License-Identifier: Apache-2.0
/*
 * lookup.c — a sampled look-up table of one or two inputs:
 *
 *   y = v_i + (v_i+1 - v_i) s,   s = (x - x_i)/(x_i+1 - x_i)
 *
 * and with two inputs the same between two such values at y_k and y_k+1 (bilinear). Beyond its ends the value there is held.
 */
#include "device/control/sampled.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NUMBERS = 1000000 };

typedef struct LookupDef {
	const char *name;
	SampledKeys keys;
	LoadValueList inputs;
	NumberList x, y, values;
	NumberMatrix table;
	int interpolation; // 1: steps
	const char *place;
} LookupDef;

typedef struct Lookup {
	Sampled s;  // first
	int nx, ny; // ny 1: one input
	bool steps;
	double numbers[]; // x[nx], y[ny], values[nx][ny]
} Lookup;

/* ---- in a run ----------------------------------------------------------------------------------- */

/* The piece of a grid at which x is, and how far in it, 0 ... 1. */
static int find_piece(const double *grid, int count, bool steps, double x, double *part) {
	int low = 0, high = count - 1;
	*part = 0;
	if (!(x > grid[0]) || count == 1)
		return 0;
	if (x >= grid[count - 1])
		return count - 1;
	while (high - low > 1) {
		const int middle = (low + high) / 2;
		*(grid[middle] <= x ? &low : &high) = middle;
	}
	*part = steps ? 0 : (x - grid[low]) / (grid[low + 1] - grid[low]);
	return low;
}

static double between(double a, double b, double part) { return part == 0 ? a : a + (b - a) * part; }

static double value_of(const Lookup *t, const double *u) {
	const double *x = t->numbers, *y = x + t->nx, *v = y + t->ny;
	double across = 0, along = 0;
	const int i = find_piece(x, t->nx, t->steps, u[0], &along);
	const int k = t->ny > 1 ? find_piece(y, t->ny, t->steps, u[1], &across) : 0;
	const double *row = v + (ptrdiff_t)i * t->ny, *next = along > 0 ? row + t->ny : row;
	const int right = across > 0 ? k + 1 : k;
	return between(between(row[k], row[right], across), between(next[k], next[right], across), along);
}

static int lookup_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	double u[2] = {0};
	(void)x;
	if (sampled_read(device, context, u) != 0)
		return 1;
	const double y = value_of((const Lookup *)(const void *)sampled_of(device), u);
	sampled_hold(device, &y);
	return 0;
}

static int lookup_start(const CalDevice *device, CalEvalContext *context, double *x) {
	(void)context, (void)x;
	memset(device->d, 0, (size_t)(sampled_of(device)->delay + 1) * sizeof *device->d);
	return 0;
}

static const char *const names[] = {"y"}, *const units[] = {"1"};
static const CalDeviceOps ops = {.type = "lookup",
                                 .bind = sampled_bind,
                                 .start = lookup_start,
                                 .evaluate = sampled_evaluate,
                                 .sample = lookup_sample,
                                 .outputs = sampled_outputs,
                                 .destroy = sampled_destroy,
                                 .output_count = 1,
                                 .output_names = names,
                                 .output_units = units};

/* ---- making ------------------------------------------------------------------------------------- */

/* Differences of two such numbers are finite. */
static bool is_moderate(double x) { return fabs(x) <= DBL_MAX / 2; }

static void check_grid(DeviceBuilder *d, const char *name, const NumberList *grid) {
	device_check(d, grid->count >= 1, "%s has no points", name);
	for (int i = 0; i < grid->count; i++) {
		device_check(d, is_moderate(grid->value[i]),
		             "point %d of %s is %g; give a number of a size that can be doubled", i + 1, name, grid->value[i]);
		device_check(d, i == 0 || grid->value[i] > grid->value[i - 1], "%s does not ascend: %g is followed by %g", name,
		             i ? grid->value[i - 1] : 0, grid->value[i]);
	}
}

static void check_def(DeviceBuilder *d, const LookupDef *def) {
	const bool two = def->inputs.count == 2;
	const NumberMatrix *table = &def->table;
	device_check(d, def->inputs.count == 1 || two, "it has %d inputs; give 1 or 2", def->inputs.count);
	check_grid(d, "x", &def->x);
	if (two) {
		check_grid(d, "y", &def->y);
		device_check(d, def->values.count == 0, "values are for one input; with two give table");
		device_check(
			d, table->rows == def->x.count && table->columns == def->y.count,
			"table has %d rows and %d columns; it needs %d and %d: a row for each point of x, a column for each of y",
			table->rows, table->columns, def->x.count, def->y.count);
		device_check(d, (double)table->rows * table->columns <= MOST_NUMBERS, "table has more than %d numbers",
		             MOST_NUMBERS);
	} else {
		device_check(d, def->y.count == 0 && table->rows == 0, "y and table need a second input");
		device_check(d, def->values.count == def->x.count, "values has %d numbers and x %d points; give one for each",
		             def->values.count, def->x.count);
		device_check(d, def->values.count <= MOST_NUMBERS, "values has more than %d numbers", MOST_NUMBERS);
	}
	const double *v = two ? table->value : def->values.value;
	const int count = d->status != CAL_OK ? 0 : two ? table->rows * table->columns : def->values.count;
	for (int i = 0; i < count; i++)
		device_check(d, is_moderate(v[i]), "number %d of %s is %g; give one of a size that can be doubled", i + 1,
		             two ? "table" : "values", v[i]);
}

static CalStatus add_lookup(CalSim *sim, const void *given, int *device, CalError *error) {
	const LookupDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	check_def(&d, def);
	if (d.status != CAL_OK)
		return d.status;
	const bool two = def->inputs.count == 2;
	const size_t nx = (size_t)def->x.count, ny = two ? (size_t)def->y.count : 1;
	Lookup *table = sampled_alloc(&d, sizeof *table + (nx + ny + nx * ny) * sizeof(double));
	if (!table)
		return d.status;
	table->nx = (int)nx, table->ny = (int)ny, table->steps = def->interpolation == 1;
	memcpy(table->numbers, def->x.value, nx * sizeof(double));
	if (two)
		memcpy(table->numbers + nx, def->y.value, ny * sizeof(double));
	memcpy(table->numbers + nx + ny, two ? def->table.value : def->values.value, nx * ny * sizeof(double));
	sampled_take(&d, &table->s, &def->keys, 1, 0);
	for (int i = 0; i < def->inputs.count; i++) {
		char name[24];
		snprintf(name, sizeof name, "input %d", i + 1);
		sampled_take_input(&d, &table->s, name, &def->inputs.value[i]);
	}
	return sampled_add_device(&d, &table->s, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(LookupDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(LookupDef),
	{"inputs", FIELD_LOAD_LIST, AT(inputs), .flags = FIELD_REQUIRED, .doc = "one or two, SI"},
	{"x", FIELD_NUMBERS, AT(x), .flags = FIELD_REQUIRED, .doc = "points of the first input, ascending"},
	{"y", FIELD_NUMBERS, AT(y), .doc = "points of the second input"},
	{"values", FIELD_NUMBERS, AT(values), .doc = "with one input: the output at each point"},
	{"table", FIELD_MATRIX, AT(table), .doc = "with two inputs: a row for each point of x, a column for each of y"},
	{"interpolation", FIELD_CHOICE, AT(interpolation), .doc = "`step`: the value at the point below; default `linear`",
     .words = FIELD_WORDS("linear", "step")},
	SAMPLED_FIELDS(LookupDef, keys),
};
#undef AT

const DeviceType lookup_type = {
	.table = {FIELDS("lookup", fields),
              .doc = "A sampled look-up table of one or two inputs; beyond its ends the value there is held."},
	DEVICE_DEF(LookupDef),
	.add = add_lookup,
	.ops = &ops,
	.sampled = true};
