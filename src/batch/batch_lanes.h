// SPDX-License-Identifier: Apache-2.0
/*
 * batch_lanes.h — algorithms for as many states of a call as there are lanes (EvaluateLanesFn).
 */
#ifndef CALDER_BATCH_BATCH_LANES_H
#define CALDER_BATCH_BATCH_LANES_H

#include "batch/batch.h"

bool batch_forward_lanes(const BatchCall *call, BatchWorker *worker, int first);
bool batch_hybrid_lanes(const BatchCall *call, BatchWorker *worker, int first);
bool batch_inverse_lanes(const BatchCall *call, BatchWorker *worker, int first);
bool batch_bias_lanes(const BatchCall *call, BatchWorker *worker, int first);
bool batch_gravity_lanes(const BatchCall *call, BatchWorker *worker, int first);

#endif
