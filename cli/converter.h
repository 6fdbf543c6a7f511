// SPDX-License-Identifier: Apache-2.0
/*
 * converter.h — pictures as PNG and PDF: our SVG through rsvg-convert (librsvg), which has to be installed.
 */
#ifndef CALDER_CLI_CONVERTER_H
#define CALDER_CLI_CONVERTER_H

#include <stdbool.h>
#include <stdio.h>

/** Does the name of a file ask for PNG or PDF? */
bool converter_is_asked(const char *path);
/**
 * A stream whose SVG becomes the picture at path; NULL after saying why there is none. PNG: twice as large in pixels. PDF: one
 * page of the size of the picture, text as text with its fonts embedded, for \includegraphics.
 */
FILE *converter_open(const char *path);
/** Ends the stream and waits for the picture. Returns an exit code. */
int converter_close(const char *path);

#endif
