// SPDX-License-Identifier: Apache-2.0
/*
 * number.h — decimal numbers in text, and the units that may follow them.
 *
 * Numbers do not depend on the locale and are the double nearest to the decimal text. Files and formulas know the same
 * units.
 */
#ifndef CALDER_BASE_NUMBER_H
#define CALDER_BASE_NUMBER_H

#include <stddef.h>

typedef struct Unit {
	double factor;     // to SI
	int kg, m, s, rad; // exponents
} Unit;

/** NULL: there is no such unit. The name need not end after `length`. */
const Unit *unit_find(const char *name, size_t length);

/**
 * The decimal number at the start of text: its value, and the rest of the text. NULL if there is none.
 * A number too large for a double becomes infinite.
 */
const char *number_parse(const char *text, double *value);

enum { NUMBER_TEXT = 40 };
/** The fewest of 15 to 17 digits that read back as the same number, with a point whatever the locale. */
void number_format(double value, char text[NUMBER_TEXT]);

#endif
