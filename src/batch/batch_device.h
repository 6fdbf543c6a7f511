// SPDX-License-Identifier: Apache-2.0
/*
 * batch_device.h — calls of a batch that a device evaluates.
 */
#ifndef CALDER_BATCH_BATCH_DEVICE_H
#define CALDER_BATCH_BATCH_DEVICE_H

#include "batch/batch.h"

/** Evaluates a call on the batch's device: its status; false: there is none, or the call is not one for it. */
bool batch_run_device(const BatchCall *call, CalStatus *status);

#endif
