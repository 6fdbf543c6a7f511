// SPDX-License-Identifier: Apache-2.0
/*
 * json.c — JSON that commands write.
 */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

void json_string(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else
			putc(*c, out);
	}
	putc('"', out);
}

void json_number(FILE *out, double value) {
	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	char text[32];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

void json_vec3(FILE *out, CalVec3 value) {
	putc('[', out);
	json_number(out, value.x);
	fputs(", ", out);
	json_number(out, value.y);
	fputs(", ", out);
	json_number(out, value.z);
	putc(']', out);
}
