// SPDX-License-Identifier: Apache-2.0
/*
 * transfer_function.c — a sampled transfer function by the coefficients of its numerator and denominator, highest power
 * first, of s or of z. It becomes a linear block in controllable canonical form; of s it is sampled exactly for a held input,
 * or by Tustin's rule.
 */
#include "device/control/linear_block.h"

#include <string.h>

enum { MOST_ORDER = 32 };

typedef struct TransferFunctionDef {
	const char *name;
	SampledKeys keys;
	CalLoadValue input;
	NumberList numerator, denominator;
	int discretization; // DISCRETE_ALREADY: in z
	const char *place;
} TransferFunctionDef;

static const char *const names[] = {"y"}, *const units[] = {"1"};
static const CalDeviceOps ops = LINEAR_BLOCK_OPS("transfer_function", 1, names, units);

static void check_list(DeviceBuilder *d, const char *name, const NumberList *list) {
	device_check(d, list->count >= 1 && list->count <= MOST_ORDER + 1, "%s has %d coefficients; give 1 to %d", name,
	             list->count, MOST_ORDER + 1);
	for (int i = 0; i < list->count && d->status == CAL_OK; i++)
		device_check(d, isfinite(list->value[i]), "coefficient %d of the %s is not finite", i + 1, name);
}

static void check_def(DeviceBuilder *d, const TransferFunctionDef *def) {
	check_list(d, "numerator", &def->numerator);
	check_list(d, "denominator", &def->denominator);
	device_check(
		d, def->numerator.count <= def->denominator.count,
		"the numerator (order %d) is of higher order than the denominator (order %d): its output would need the "
		"future of its input; add a filter, e.g. a factor of the denominator",
		def->numerator.count - 1, def->denominator.count - 1);
	device_check(d, d->status != CAL_OK || def->denominator.value[0] != 0,
	             "the first coefficient of the denominator is zero; leave it out");
}

static CalStatus add_transfer_function(CalSim *sim, const void *given, int *device, CalError *error) {
	const TransferFunctionDef *def = given;
	const int n = def->denominator.count - 1;
	double numerator[MOST_ORDER + 1] = {0};
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	check_def(&d, def);
	LinearBlock *block = linear_block_alloc(&d, n, 1, 1);
	if (!block)
		return d.status;
	memcpy(numerator + n + 1 - def->numerator.count, def->numerator.value,
	       (size_t)def->numerator.count * sizeof(double));
	system_of_transfer(numerator, def->denominator.value, &block->system);
	sampled_take(&d, &block->s, &def->keys, 1, n);
	sampled_take_input(&d, &block->s, "input", &def->input);
	linear_block_discretize(&d, block, (Discretization)def->discretization, def->keys.sample_period);
	return sampled_add_device(&d, &block->s, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(TransferFunctionDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(TransferFunctionDef),
	{"input", FIELD_LOAD_VALUE, AT(input), .flags = FIELD_REQUIRED, .doc = "SI"},
	{"numerator", FIELD_NUMBERS, AT(numerator), .flags = FIELD_REQUIRED, .doc = "coefficients, highest power first"},
	{"denominator", FIELD_NUMBERS, AT(denominator), .flags = FIELD_REQUIRED,
     .doc = "coefficients, highest power first; at least as many as the numerator has"},
	{"discretization", FIELD_CHOICE, AT(discretization),
     .doc = "`none`: coefficients of powers of z; of powers of s: `hold` (exact for an input that is held), `tustin`; "
            "default `hold`",
     .words = FIELD_WORDS("none", "hold", "tustin")},
	SAMPLED_FIELDS(TransferFunctionDef, keys),
};
#undef AT
static const TransferFunctionDef start = {.input.table.shape = CAL_TABLE_LINEAR, .discretization = BY_HOLD};

const DeviceType transfer_function_type = {
	.table = {FIELDS("transfer_function", fields), .doc = "A sampled transfer function of one input."},
	DEVICE_DEF(TransferFunctionDef),
	.add = add_transfer_function,
	.ops = &ops,
	.start = &start,
	.sampled = true};
