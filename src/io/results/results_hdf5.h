// SPDX-License-Identifier: Apache-2.0
/*
 * results_hdf5.h — what the files that use HDF5 share: the turn of one thread in the library, and the driver.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_HDF5_H
#define CALDER_IO_RESULTS_RESULTS_HDF5_H

#include <hdf5.h>
#include <stdbool.h>

#define HDF5_RESULTS_FORMAT "calder-results"
enum { HDF5_RESULTS_VERSION = 1 }; // of the layout, docs/results.md

/** What HDF5 did on an error before; it is silent between enter and leave. */
typedef struct Hdf5Turn {
	H5E_auto2_t print;
	void *user;
} Hdf5Turn;

/** HDF5 may be built for one thread only: every use of it is between these two. */
void hdf5_enter(Hdf5Turn *turn);
void hdf5_leave(const Hdf5Turn *turn);

/** An attribute; count < 0: one value and not a list of them. */
bool hdf5_put_attribute(hid_t object, const char *name, hid_t type, int count, const void *values);
bool hdf5_put_texts(hid_t object, const char *name, int count, const char *const *texts);
/** A dataset of texts; count < 0: one. Negative: it cannot be written. */
hid_t hdf5_put_text_dataset(hid_t place, const char *name, int count, const char *const *texts);

/** The driver of a file (results_hdf5_file.c); it must outlive the file, which HDF5 closes through it. */
typedef struct CrashSafe {
	hid_t driver; //
	int cause;    // errno of the first failure; 0: none
} CrashSafe;

/** Makes a file access list use a new driver; 0: it cannot. To be released in any case, after the file is closed. */
int crash_safe_create(hid_t access, CrashSafe *state);
void crash_safe_release(CrashSafe *state);

/**
 * A file that is written in one go, by that driver: HDF5 itself crashes at the end of a process that could not close a file
 * for want of room. `access` is changed. Negative: it cannot be created. In any case to be closed.
 */
hid_t hdf5_create_whole(const char *path, hid_t create, hid_t access, CrashSafe *state);
/** False: not all of it has been written; state->cause is the errno, if it is known. */
bool hdf5_close_whole(hid_t file, CrashSafe *state);

#endif
