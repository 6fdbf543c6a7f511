// SPDX-License-Identifier: Apache-2.0
/*
 * live_command.c — see live_command.h.
 */
#include "live_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What follows `"key":`, NULL: the key is not there. */
static const char *value_of(const char *text, const char *key) {
	char quoted[40];
	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	for (const char *at = text; (at = strstr(at, quoted)) != NULL;) {
		at += strlen(quoted);
		at += strspn(at, " \t\n");
		if (*at == ':') // otherwise it is a value
			return at + 1 + strspn(at + 1, " \t\n");
	}
	return NULL;
}

bool command_is(const char *text, const char *name) {
	const char *at = value_of(text, "command");
	return at && *at == '"' && strncmp(at + 1, name, strlen(name)) == 0 && at[1 + strlen(name)] == '"';
}

bool command_number(const char *text, const char *key, double *value) {
	const char *at = value_of(text, key);
	char *end;
	*value = at ? strtod(at, &end) : NAN;
	return at && end != at && isfinite(*value);
}

bool command_index(const char *text, const char *key, int count, int *index) {
	double value;
	const bool good = command_number(text, key, &value) && value >= 0 && value < count && value == floor(value);
	*index = good ? (int)value : -1;
	return good;
}

bool command_vector(const char *text, const char *key, CalVec3 *v) {
	const char *at = value_of(text, key);
	double values[3];
	for (int i = 0; i < 3; i++) {
		char *end;
		if (!at || (at = strchr(at, i ? ',' : '[')) == NULL)
			return false;
		values[i] = strtod(at + 1, &end);
		if (end == at + 1 || !isfinite(values[i]))
			return false;
		at = end;
	}
	*v = (CalVec3){values[0], values[1], values[2]};
	return true;
}
