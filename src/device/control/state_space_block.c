// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_block.c — a sampled linear controller with several inputs and outputs by its matrices:
 *
 *   x[k+1] = A x[k] + B u[k],  y[k] = C x[k] + D u[k]
 *
 * Given in continuous time, x' = A x + B u, it is sampled exactly for held inputs, or by Tustin's rule.
 */
#include "device/control/linear_block.h"

#include <stdio.h>
#include <string.h>

typedef struct StateSpaceDef {
	const char *name;
	SampledKeys keys;
	LoadValueList inputs;
	NumberMatrix A, B, C, D;
	NumberList initial;
	int discretization; // Discretization
	const char *place;
} StateSpaceDef;

static const char *const names[SAMPLED_MOST_OUTPUTS] = {"y1", "y2",  "y3",  "y4",  "y5",  "y6",  "y7",  "y8",
                                                        "y9", "y10", "y11", "y12", "y13", "y14", "y15", "y16"};
static const char *const units[SAMPLED_MOST_OUTPUTS] = {"1", "1", "1", "1", "1", "1", "1", "1",
                                                        "1", "1", "1", "1", "1", "1", "1", "1"};
/* By the number of outputs. */
#define OPS(count) LINEAR_BLOCK_OPS("state_space", count, names, units)
static const CalDeviceOps ops[SAMPLED_MOST_OUTPUTS] = {OPS(1),  OPS(2),  OPS(3),  OPS(4),  OPS(5),  OPS(6),
                                                       OPS(7),  OPS(8),  OPS(9),  OPS(10), OPS(11), OPS(12),
                                                       OPS(13), OPS(14), OPS(15), OPS(16)};
#undef OPS

/* ---- making ------------------------------------------------------------------------------------- */

static void check_size(DeviceBuilder *d, const char *name, const NumberMatrix *given, int rows, int columns,
                       const char *why) {
	device_check(d, given->rows == rows && given->columns == columns,
	             "%s has %d rows and %d columns; it needs %d and %d (%s)", name, given->rows, given->columns, rows,
	             columns, why);
}

static void check_finite(DeviceBuilder *d, const char *name, const double *numbers, int count) {
	for (int i = 0; i < count; i++)
		device_check(d, isfinite(numbers[i]), "number %d of %s is not finite", i + 1, name);
}

static void check_def(DeviceBuilder *d, const StateSpaceDef *def, int n, int m, int p) {
	device_check(d, m >= 1 && m <= SAMPLED_MOST_INPUTS, "it has %d inputs; give 1 to %d", m, SAMPLED_MOST_INPUTS);
	device_check(d, n <= LINEAR_MOST_STATES, "A has %d rows; at most %d states are possible", n, LINEAR_MOST_STATES);
	device_check(d, p >= 1, "it has no outputs; give C, D or both");
	device_check(d, p <= SAMPLED_MOST_OUTPUTS, "C has %d rows; at most %d outputs are possible", p,
	             SAMPLED_MOST_OUTPUTS);
	check_size(d, "A", &def->A, n, n, "it is square, one row for each state");
	if (n > 0) {
		check_size(d, "B", &def->B, n, m, "a row for each state, a column for each input");
		check_size(d, "C", &def->C, p, n, "a row for each output, a column for each state");
	}
	device_check(d, n > 0 || (def->B.rows == 0 && def->C.rows == 0), "B and C need states; give A");
	if (def->D.rows > 0)
		check_size(d, "D", &def->D, p, m, "a row for each output, a column for each input");
	device_check(d, def->initial.count == 0 || def->initial.count == n,
	             "initial has %d numbers; give one for each of the %d states", def->initial.count, n);
	check_finite(d, "A", def->A.value, def->A.rows * def->A.columns);
	check_finite(d, "B", def->B.value, def->B.rows * def->B.columns);
	check_finite(d, "C", def->C.value, def->C.rows * def->C.columns);
	check_finite(d, "D", def->D.value, def->D.rows * def->D.columns);
	check_finite(d, "initial", def->initial.value, def->initial.count);
}

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof *to);
}

static void copy_matrix(double *to, const NumberMatrix *from) {
	copy_numbers(to, from->value, from->rows * from->columns);
}

static CalStatus add_state_space(CalSim *sim, const void *given, int *device, CalError *error) {
	const StateSpaceDef *def = given;
	const int n = def->A.rows, m = def->inputs.count, p = def->C.rows > 0 ? def->C.rows : def->D.rows;
	const int kind = p >= 1 && p <= SAMPLED_MOST_OUTPUTS ? p - 1 : 0;
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	check_def(&d, def, n, m, p);
	LinearBlock *block = linear_block_alloc(&d, n, m, p);
	if (!block)
		return d.status;
	copy_matrix(block->system.A, &def->A);
	copy_matrix(block->system.B, &def->B);
	copy_matrix(block->system.C, &def->C);
	copy_matrix(block->system.D, &def->D);
	copy_numbers(linear_block_initial(block), def->initial.value, def->initial.count);
	sampled_take(&d, &block->s, &def->keys, p, n);
	for (int i = 0; i < m; i++) {
		char name[24];
		snprintf(name, sizeof name, "input %d", i + 1);
		sampled_take_input(&d, &block->s, name, &def->inputs.value[i]);
	}
	linear_block_discretize(&d, block, (Discretization)def->discretization, def->keys.sample_period);
	return sampled_add_device(&d, &block->s, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(StateSpaceDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(StateSpaceDef),
	{"inputs", FIELD_LOAD_LIST, AT(inputs), .flags = FIELD_REQUIRED, .doc = "u, SI"},
	{"A", FIELD_MATRIX, AT(A), .doc = "one row for each state; default no states"},
	{"B", FIELD_MATRIX, AT(B), .doc = "a row for each state, a column for each input"},
	{"C", FIELD_MATRIX, AT(C), .doc = "a row for each output, a column for each state"},
	{"D", FIELD_MATRIX, AT(D), .doc = "a row for each output, a column for each input; default zero"},
	{"initial", FIELD_NUMBERS, AT(initial), .doc = "state x at the first sample; default zero"},
	{"discretization", FIELD_CHOICE, AT(discretization),
     .doc = "`none`: the matrices are those of the samples; `hold`, `tustin`: they are those of continuous time; "
            "default `none`",
     .words = FIELD_WORDS("none", "hold", "tustin")},
	SAMPLED_FIELDS(StateSpaceDef, keys),
};
#undef AT

const DeviceType state_space_type = {
	.table = {FIELDS("state_space", fields),
              .doc = "A sampled linear controller or filter by its matrices, with several inputs and outputs."},
	DEVICE_DEF(StateSpaceDef),
	.add = add_state_space,
	.ops = &ops[0],
	.sampled = true};
