// SPDX-License-Identifier: Apache-2.0
/*
 * model_check.h — CAL_ASSERT(model_is_consistent(model)): what the sweeps rely on. Defined where assertions are on.
 */
#ifndef CALDER_MODEL_MODEL_CHECK_H
#define CALDER_MODEL_MODEL_CHECK_H

#include <stdbool.h>

#include "base/assert.h"
#include "model/model.h"

bool model_is_consistent(const CalModel *model);

#endif
