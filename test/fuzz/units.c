// SPDX-License-Identifier: Apache-2.0
/*
 * units.c — fuzz target: any text as a number with a unit. What is read and written again is the same unit.
 */
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void run(const uint8_t *data, size_t size) {
	char *text = fuzz_text((FuzzPart){data, size}), message[300], unit_text[UNIT_TEXT];
	double value;
	Unit unit, again;
	for (int i = 0; i < DIM_COUNT; i++)
		if (!quantity_parse(text, (Dimension)i, &value, message, sizeof message))
			fuzz_expect(message[0] && memchr(message, 0, sizeof message), "a message says what is wrong");
	if (quantity_parse_any(text, &value, &unit, message, sizeof message)) {
		char full[UNIT_TEXT + 8];
		unit_format(unit, unit_text);
		snprintf(full, sizeof full, "1 %s", unit_text);
		fuzz_expect(quantity_parse_any(full, &value, &again, message, sizeof message) && unit_same(unit, again),
		            "a unit that is written reads back");
	}
	free(text);
}

const FuzzTarget fuzz_units = {"units", NULL, run};
