// SPDX-License-Identifier: Apache-2.0
/*
 * csv.h — reading a table of numbers that `calder run -o` wrote: CSV with one header line, or a stream of an HDF5 file.
 */
#ifndef CALDER_CLI_CSV_H
#define CALDER_CLI_CSV_H

#include "panels.h"

typedef struct Csv {
	Column *columns;
	int column_count;
	double *rows; // [count][column_count]; NAN where a cell is empty
	size_t count;
	char *text;            // CSV: the file; units point into it
	CalResultsTable table; // HDF5: the stream; units point into it
	char title[200];       // HDF5: of the run; "": none
	char note[200];        // HDF5: streams that there are besides, in words; "": none, or one was asked for
} Csv;

/** Reads a file, "-" is stdin. Returns an exit code; the message has been printed. */
int csv_read(const char *path, Csv *csv);
/** The same from an HDF5 file; stream NULL: the first. */
int csv_from_hdf5(const char *path, const char *stream, Csv *csv);
void csv_free(Csv *csv);
/** SI numbers for one of a column that should be in `unit`; false after saying that its own unit does not fit. */
bool column_scale(const Column *column, const char *unit, const char *path, double *scale);

#endif
