// SPDX-License-Identifier: Apache-2.0
/*
 * linear_block.c — the sampled linear system that state_space, transfer_function and filter are.
 */
#include "device/control/linear_block.h"

#include <string.h>

#include "base/memory.h"

static LinearBlock *block_of(const CalDevice *device) { return (LinearBlock *)(void *)sampled_of(device); }

LinearBlock *linear_block_alloc(DeviceBuilder *d, int n, int m, int p) {
	const size_t states = (size_t)n, inputs = (size_t)m, outputs = (size_t)p;
	const size_t count = (states + outputs) * (states + inputs) + states;
	LinearBlock *made = sampled_alloc(d, sizeof *made + count * sizeof(double));
	if (!made)
		return NULL;
	double *A = made->numbers, *B = A + states * states, *C = B + states * inputs, *D = C + outputs * states;
	made->system = (StateMatrices){n, m, p, A, B, C, D};
	return made;
}

double *linear_block_initial(LinearBlock *block) {
	return block->system.D + (ptrdiff_t)block->system.p * block->system.m;
}

void linear_block_discretize(DeviceBuilder *d, LinearBlock *block, Discretization by, double T) {
	const StateMatrices *s = &block->system;
	const CalAllocator allocator = allocator_or_default(NULL);
	if (by == DISCRETE_ALREADY || d->status != CAL_OK)
		return;
	double *scratch = memory_alloc(&allocator, discretize_scratch(s->n, s->m, s->p) * sizeof(double));
	if (!scratch) {
		d->status =
			error_set(d->error, CAL_ERR_MEMORY, "device \"%s\": %s", d->def.name, cal_status_text(CAL_ERR_MEMORY));
		return;
	}
	bool good = true;
	if (by == BY_HOLD)
		discretize_hold(&block->system, T, scratch);
	else
		good = discretize_tustin(&block->system, T, scratch);
	memory_free(&allocator, scratch);
	device_check(d, good,
	             "Tustin's rule has no solution: the system has the pole 2/T; take another sample_period or hold");
	for (int i = 0; i < (s->n + s->p) * (s->n + s->m); i++)
		device_check(
			d, isfinite(block->numbers[i]),
			"the discretized system is not finite: it grows too fast for its sample_period; take a shorter one");
}

int linear_block_start(const CalDevice *device, CalEvalContext *context, double *x) {
	LinearBlock *block = block_of(device);
	(void)context, (void)x;
	memcpy(sampled_states(device), linear_block_initial(block), (size_t)block->system.n * sizeof(double));
	return 0;
}

/* out += M v, M rows x columns. */
static void add_product(int rows, int columns, const double *M, const double *v, double *out) {
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++)
			out[i] += M[i * columns + k] * v[k];
}

int linear_block_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const StateMatrices *s = &block_of(device)->system;
	double u[SAMPLED_MOST_INPUTS] = {0}, y[SAMPLED_MOST_OUTPUTS] = {0}, next[LINEAR_MOST_STATES] = {0};
	double *state = sampled_states(device);
	(void)x;
	if (sampled_read(device, context, u) != 0)
		return 1;
	add_product(s->p, s->n, s->C, state, y);
	add_product(s->p, s->m, s->D, u, y);
	add_product(s->n, s->n, s->A, state, next);
	add_product(s->n, s->m, s->B, u, next);
	memcpy(state, next, (size_t)s->n * sizeof(double));
	sampled_hold(device, y);
	return 0;
}
