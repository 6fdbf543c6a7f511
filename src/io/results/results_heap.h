// SPDX-License-Identifier: Apache-2.0
/*
 * results_heap.h — texts of an HDF5 file are objects of global heaps, which HDF5 1.10 copies by lengths that it does not
 * compare with the size of the heap. A damaged or crafted file is recognized here, before HDF5 opens it.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_HEAP_H
#define CALDER_IO_RESULTS_RESULTS_HEAP_H

#include <stdbool.h>
#include <stdio.h>

/** Whether all objects of all global heaps are within their heap, and these within the file. */
bool heaps_are_sound(FILE *file);

#endif
