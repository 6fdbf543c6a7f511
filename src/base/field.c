// SPDX-License-Identifier: Apache-2.0
/*
 * field.c — looking up fields of a table.
 */
#include "base/field.h"

#include <string.h>

const Field *field_find(const FieldTable *table, const char *name) {
	for (int i = 0; i < table->count; i++)
		if (strcmp(table->fields[i].name, name) == 0 ||
		    (table->fields[i].former && strcmp(table->fields[i].former, name) == 0))
			return &table->fields[i];
	return NULL;
}

Dimension dimension_of_sliding(Dimension turning) {
	static const struct {
		Dimension turning, sliding;
	} pairs[] = {{DIM_ANGLE, DIM_LENGTH},
	             {DIM_RATE, DIM_SPEED},
	             {DIM_ANGULAR_ACCELERATION, DIM_ACCELERATION},
	             {DIM_TORQUE, DIM_FORCE},
	             {DIM_ANGULAR_STIFFNESS, DIM_STIFFNESS},
	             {DIM_ANGULAR_DAMPING, DIM_DAMPING},
	             {DIM_INERTIA, DIM_MASS}};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (pairs[i].turning == turning)
			return pairs[i].sliding;
	return turning;
}

const char *field_word(const Field *field, int i) {
	if (field->word_at)
		return field->word_at(i);
	return field->words ? field->words[i] : NULL;
}
