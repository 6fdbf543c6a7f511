// SPDX-License-Identifier: Apache-2.0
/*
 * csv.h — reading a table of numbers with one header line, as `calder run -o` writes it.
 */
#ifndef CALDER_CLI_CSV_H
#define CALDER_CLI_CSV_H

#include "panels.h"

typedef struct Csv {
	Column *columns;
	int column_count;
	double *rows; // [count][column_count]; NAN where a cell is empty
	size_t count;
	char *text; // the file; units point into it
} Csv;

/** Reads a file, "-" is stdin. Returns an exit code; the message has been printed. */
int csv_read(const char *path, Csv *csv);
void csv_free(Csv *csv);

#endif
