// SPDX-License-Identifier: Apache-2.0
/*
 * results_assembly.h — what closing loops moved at the start of a run, in an HDF5 file.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_ASSEMBLY_H
#define CALDER_IO_RESULTS_RESULTS_ASSEMBLY_H

#include <calder/sim.h>
#include <stdbool.h>

#include "io/results/results_hdf5.h"

/** The dataset "assembly", if something moved; sim may be NULL. False: it cannot be written. */
bool assembly_write(hid_t file, CalSim *sim, const CalAllocator *allocator);

#endif
