// SPDX-License-Identifier: Apache-2.0
/*
 * png.h — pictures as PNG: our SVG through rsvg-convert (librsvg), which has to be installed.
 */
#ifndef CALDER_CLI_PNG_H
#define CALDER_CLI_PNG_H

#include <stdbool.h>
#include <stdio.h>

/** Does the name of a file ask for PNG? */
bool png_is_asked(const char *path);
/** A stream whose SVG becomes the PNG at path, twice as large in pixels; NULL after saying why there is none. */
FILE *png_open(const char *path);
/** Ends the stream and waits for the picture. Returns an exit code. */
int png_close(FILE *stream, const char *path);

#endif
