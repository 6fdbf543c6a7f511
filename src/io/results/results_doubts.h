// SPDX-License-Identifier: Apache-2.0
/*
 * results_doubts.h — the dataset /doubts of an HDF5 result file. To be used between hdf5_enter() and hdf5_leave().
 */
#ifndef CALDER_IO_RESULTS_RESULTS_DOUBTS_H
#define CALDER_IO_RESULTS_RESULTS_DOUBTS_H

#include <stdbool.h>

#include <calder/doubt.h>
#include <hdf5.h>

/** An empty list that grows: no object can be added to the file later. -1: it cannot be made. */
hid_t doubts_dataset(hid_t file);
bool doubts_write(hid_t dataset, const CalDoubt *doubts, int count);
/** From malloc. Files of earlier versions have none: that is an empty list. */
bool doubts_read(hid_t file, CalDoubt **doubts, int *count);

#endif
