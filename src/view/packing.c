// SPDX-License-Identifier: Apache-2.0
/*
 * packing.c — see packing.h.
 */
#include "view/packing.h"

#include <math.h>
#include <string.h>

/* In the place of a value that is not finite, and of one that is beyond 31 bits: steps are chosen so that there is none. */
#define NO_NUMBER (-(INT64_C(1) << 31))

double packing_step(double most) {
	if (!(most > 0) || !isfinite(most))
		return 1;
	double above = 1, below = 1; // powers of ten: exact, and so is their quotient with a digit, rounded once
	while (1 / below > most)
		below *= 10;
	while (below == 1 && 10 * above <= most)
		above *= 10;
	const double steps[] = {5 * above / below, 2 * above / below};
	return steps[0] <= most ? steps[0] : steps[1] <= most ? steps[1] : above / below;
}

double packing_step_of(double largest) { return packing_step(2 * PACKING_RELATIVE * largest); }

/* ---- numbers as bytes ----------------------------------------------------------------------------- */

/* Seven bits a byte, the lowest first; the highest bit: another byte follows. */
static void put_varying(JsonWriter *d, uint64_t value) {
	for (; value > 127; value >>= 7)
		json_writer_byte(d, (uint8_t)(128 | (value & 127)));
	json_writer_byte(d, (uint8_t)value);
}

/* Zeros are a zero and how many more follow it. */
static void write_zeros(Packing *packing) {
	if (packing->zeros > 0) {
		put_varying(packing->d, 0);
		put_varying(packing->d, packing->zeros - 1);
	}
	packing->zeros = 0;
}

static void put_whole(Packing *packing, int64_t number) {
	const int64_t left = number - packing->last - packing->slope;
	if (left == 0) {
		packing->zeros++;
	} else {
		write_zeros(packing);
		put_varying(packing->d, left > 0 ? 2 * (uint64_t)left : 2 * (uint64_t)-left - 1);
	}
	packing->slope = packing->row > 0 ? number - packing->last : 0;
	packing->last = number;
	if (++packing->row < packing->row_count)
		return;
	write_zeros(packing);
	packing->row = 0;
	packing->last = packing->slope = 0;
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static Packing begin_array(JsonWriter *d, const char *type, int rank, const size_t *shape) {
	json_writer_array_head(d, type, rank, shape);
	json_writer_put_text(d, "coding", "differences");
	return (Packing){.d = d, .row_count = shape[0]};
}

Packing packing_steps(JsonWriter *d, int rank, const size_t *shape, const double *scale) {
	const Packing packing = begin_array(d, "i32", rank, shape);
	json_writer_key(d, "scale");
	if (rank > 1)
		json_writer_open(d, '[');
	for (size_t i = 0; i < (rank > 1 ? shape[rank - 1] : 1); i++)
		json_writer_number(d, scale[i]);
	if (rank > 1)
		json_writer_close(d);
	json_writer_array_data(d);
	return packing;
}

Packing packing_floats(JsonWriter *d, int rank, const size_t *shape) {
	const Packing packing = begin_array(d, "f32", rank, shape);
	json_writer_put_number(d, "dropped", PACKING_DROPPED);
	json_writer_array_data(d);
	return packing;
}

void packing_put_step(Packing *packing, double value, double step) {
	const double number = value / step;
	put_whole(packing, fabs(number) < 2147483647.0 ? (int64_t)floor(number + 0.5) : NO_NUMBER);
}

/* Bits of a float as a number that grows with it: those of negative ones count backwards. */
void packing_put_float(Packing *packing, double value) {
	enum { INFINITE = 0x7f800000, NAN_BITS = 0x7fc00000, HALF = 1 << (PACKING_DROPPED - 1) };
	const float narrow = (float)value;
	uint32_t bits;
	memcpy(&bits, &narrow, sizeof bits);
	int64_t size = isnan(narrow) ? NAN_BITS : (int64_t)(bits & 0x7fffffff);
	if (size < INFINITE && size + HALF < INFINITE)
		size += HALF; // to the nearest, unless that were infinite
	size >>= PACKING_DROPPED;
	put_whole(packing, bits >> 31 && !isnan(narrow) ? -size : size);
}

void packing_end(Packing *packing) { json_writer_array_end(packing->d); }
