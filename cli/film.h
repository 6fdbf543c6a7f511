// SPDX-License-Identifier: Apache-2.0
/*
 * film.h — where rendered frames go: one PNG file, or a film by ffmpeg, which has to be installed.
 */
#ifndef CALDER_CLI_FILM_H
#define CALDER_CLI_FILM_H

#include "child.h"
#include "cli.h"

typedef enum FilmKind { FILM_NONE, FILM_PNG, FILM_MP4, FILM_WEBM } FilmKind;

typedef struct Film {
	const char *path;
	FilmKind kind;
	CalOutput *place;
	Child encoder;
	long frames; // that were taken
} Film;

/** By the ending of the path; FILM_NONE: it is none of them. */
FilmKind film_kind(const char *path);
/** fps: of films. Returns an exit code. */
int film_open(Film *film, const char *path, double fps);
/** The next frame, as PNG. false: it could not be written. */
bool film_put(Film *film, const void *png, size_t length);
/** code: how it went so far; only what went well takes its place. Returns an exit code. */
int film_close(Film *film, int code);

#endif
