// SPDX-License-Identifier: Apache-2.0
/*
 * text.c — see text.h.
 */
#include "base/text.h"

#include <string.h>

static size_t append_bytes(char *text, size_t size, size_t length, const char *more, size_t count) {
	const size_t room = size - 1 - length;
	count = count < room ? count : room;
	memcpy(text + length, more, count);
	text[length + count] = '\0';
	return length + count;
}

size_t text_append(char *text, size_t size, size_t length, const char *more) {
	return append_bytes(text, size, length, more, strlen(more));
}

size_t text_append_some(char *text, size_t size, size_t length, const char *more, size_t most) {
	const char *end = memchr(more, '\0', most);
	return append_bytes(text, size, length, more, end ? (size_t)(end - more) : most);
}

size_t text_append_int(char *text, size_t size, size_t length, int number) {
	char digits[16];
	size_t at = sizeof digits;
	unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		digits[--at] = '-';
	return append_bytes(text, size, length, digits + at, sizeof digits - at);
}
