// SPDX-License-Identifier: Apache-2.0
/*
 * fe_bulk.h — cards of NASTRAN bulk data: small field (8 columns), large field (16, "GRID*") and free field (commas), with
 * continuations, comments and INCLUDE.
 */
#ifndef CALDER_IO_FE_FE_BULK_H
#define CALDER_IO_FE_FE_BULK_H

#include "fe/fe_model.h"

enum { BULK_FIELDS = 512, BULK_FIELD_SIZE = 24 };

/* One card with its continuations, as fields without the first (the card's name). */
typedef struct BulkCard {
	char name[16]; // in upper case
	char field[BULK_FIELDS][BULK_FIELD_SIZE];
	int count;
	int line; // where it starts
} BulkCard;

typedef CalStatus (*BulkReader)(void *user, FeText *text, const BulkCard *card);

/** A line that is no part of any card, such as a table of results: true if it was taken; *status if it is wrong. */
typedef bool (*BulkLineReader)(void *user, FeText *text, CalStatus *status);

/** Hands every card of a file, and of those that it includes, to `reader`. GRID cards become nodes of the model first. Every line is
 * shown to `lines` before, if that is not NULL. */
CalStatus fe_bulk_read(CalFeModel *fe, const char *path, BulkReader reader, BulkLineReader lines, void *user,
                       CalError *error);
/** "path:line: error: NAME: what", at the line where the card starts. */
CalStatus fe_bulk_error(FeText *text, const BulkCard *card, const char *what);

#endif
