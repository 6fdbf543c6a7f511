// SPDX-License-Identifier: Apache-2.0
/*
 * packing.h — arrays of a replay document that are small: whole numbers, of which each column is coded by second differences
 * (docs/replay.md, "Differences").
 *
 * A quantity over time is smooth, so that what is left of a number after a line through the two before it is small, and takes a
 * byte where a float takes four; one that does not change takes a few bytes in all. Two ways to whole numbers:
 *
 * - steps of a size of 1, 2 or 5 times a power of ten: an absolute error of half a step, for poses and what is drawn with them;
 * - the bits of a 32-bit float without its last four: a relative error of 2^-20 = 9.5e-7 at any size, for signals, of which
 *   small values count as well (an error that decays, on a logarithmic axis).
 */
#ifndef CALDER_VIEW_PACKING_H
#define CALDER_VIEW_PACKING_H

#include "view/json_writer.h"

#define PACKING_RELATIVE 1e-6      // error of a step, of the largest value
#define PACKING_ROTATION_STEP 2e-6 // of a component of a quaternion: at most 4e-6 rad
enum { PACKING_DROPPED = 4 };      // bits of floats

/** Columns of an array, one after the other, each with all of its rows. */
typedef struct Packing {
	JsonWriter *d;
	int64_t last, slope; // of the rows before
	uint64_t zeros;      // rows on a line that are not written yet
	size_t row, row_count;
} Packing;

/** The largest step, 1, 2 or 5 times a power of ten, not above `most`; of zero and of what is not finite: 1. */
double packing_step(double most);
/** The step of values up to `largest`: their error is at most PACKING_RELATIVE of it. */
double packing_step_of(double largest);

/** An array of steps, shape[rank] as of json_writer_array(); scale: [shape[rank - 1]], the step of each last index. */
Packing packing_steps(JsonWriter *d, int rank, const size_t *shape, const double *scale);
/** An array of floats without their last bits. */
Packing packing_floats(JsonWriter *d, int rank, const size_t *shape);
/** The next number: row after row of the first column, then of the next one. Not finite: a gap. */
void packing_put_step(Packing *packing, double value, double step);
void packing_put_float(Packing *packing, double value);
void packing_end(Packing *packing);

#endif
