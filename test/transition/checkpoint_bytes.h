// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_bytes.h — the checkpoint of a simulation as bytes, for tests that compare or restore it.
 */
#ifndef TEST_TRANSITION_CHECKPOINT_BYTES_H
#define TEST_TRANSITION_CHECKPOINT_BYTES_H

#include <calder/checkpoint.h>

#include "sim/sim_internal.h"
#include "support/check.h"

typedef struct Bytes {
	char *at;
	size_t size;
} Bytes;

static inline Bytes take(const CalSim *sim) {
	Bytes bytes = {.size = cal_checkpoint_size(sim)};
	size_t used = 0;
	bytes.at = test_alloc(1, bytes.size);
	assert_int_equal(cal_checkpoint_take(sim, bytes.at, bytes.size, &used), CAL_OK);
	assert_int_equal(used, bytes.size);
	return bytes;
}

/* The clocks are all that may differ between simulations in the same state. */
static inline Bytes take_without_clocks(CalSim *sim) {
	sim->wall_s = sim->cpu_s = 0;
	return take(sim);
}

#endif
