// SPDX-License-Identifier: Apache-2.0
/*
 * replay.h — what the viewer needs of a run (docs/replay.md), as one more stream of its HDF5 file: poses of all bodies,
 * modal coordinates, and the accounts by which one sees that a run is sound.
 *
 * Unless it is given an interval, it is taken along with the samples of other streams, so that no step ends earlier for it:
 * a run is the same with and without.
 */
#ifndef CALDER_CLI_REPLAY_H
#define CALDER_CLI_REPLAY_H

#include "record.h"

/** Fills a stream of the record with the signals; interval 0: along with the others. Returns an exit code. */
int replay_set_stream(Record *record, RecordStream *stream, CalSim *sim, double interval, const char *h5_path,
                      const char *path);

#endif
