// SPDX-License-Identifier: Apache-2.0
/*
 * text.h — texts put together in a buffer of fixed size, for places where files are read and printf would take most of the
 * time: names of devices, places in files.
 *
 * Every function takes the length so far and returns the new one, at most size - 1; what does not fit is cut off. The text
 * always ends with a zero.
 */
#ifndef CALDER_BASE_TEXT_H
#define CALDER_BASE_TEXT_H

#include <stddef.h>

/** Appends up to `most` bytes of `more`. */
size_t text_append_some(char *text, size_t size, size_t length, const char *more, size_t most);
size_t text_append(char *text, size_t size, size_t length, const char *more);
size_t text_append_int(char *text, size_t size, size_t length, int number);

#endif
