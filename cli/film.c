// SPDX-License-Identifier: Apache-2.0
/*
 * film.c — see film.h.
 *
 * The same frames give the same bytes: one thread of the encoder, and no version or date in the file.
 */
#include "film.h"

#include <errno.h>
#include <string.h>

FilmKind film_kind(const char *path) {
	static const char *const endings[] = {[FILM_PNG] = ".png", [FILM_MP4] = ".mp4", [FILM_WEBM] = ".webm"};
	const size_t length = strlen(path);
	for (int i = FILM_PNG; i <= FILM_WEBM; i++) {
		const size_t size = strlen(endings[i]);
		if (length > size && strcmp(path + length - size, endings[i]) == 0)
			return (FilmKind)i;
	}
	return FILM_NONE;
}

static int start_encoder(Film *film, double fps) {
	char rate[32];
	snprintf(rate, sizeof rate, "%.9g", fps);
	const bool mp4 = film->kind == FILM_MP4;
	char *part = (char *)cal_output_part(film->place);
	char *const argv[] = {"ffmpeg",
	                      "-hide_banner",
	                      "-loglevel",
	                      "error",
	                      "-y",
	                      "-f",
	                      "image2pipe",
	                      "-framerate",
	                      rate,
	                      "-c:v",
	                      "png",
	                      "-i",
	                      "-",
	                      "-an",
	                      "-threads",
	                      "1",
	                      "-pix_fmt",
	                      "yuv420p",
	                      "-c:v",
	                      mp4 ? "libx264" : "libvpx-vp9",
	                      "-crf",
	                      mp4 ? "18" : "24",
	                      mp4 ? "-preset" : "-b:v",
	                      mp4 ? "medium" : "0",
	                      mp4 ? "-movflags" : "-cpu-used",
	                      mp4 ? "+faststart" : "2",
	                      "-map_metadata",
	                      "-1",
	                      "-fflags",
	                      "+bitexact",
	                      "-flags:v",
	                      "+bitexact",
	                      "-f",
	                      mp4 ? "mp4" : "webm",
	                      part,
	                      NULL};
	const int failed = child_start(&film->encoder, argv, true, false);
	if (failed)
		say_error(film->path, failed == ENOENT ? "films need ffmpeg (Debian: ffmpeg); install it, or ask for .png"
		                                       : strerror(failed));
	return failed ? EXIT_INPUT : EXIT_OK;
}

int film_open(Film *film, const char *path, double fps) {
	CalError error = {0};
	*film = (Film){.path = path, .kind = film_kind(path)};
	int code = say_status(path, cal_output_open(path, NULL, &film->place, &error), &error);
	if (code == EXIT_OK && film->kind != FILM_PNG)
		code = start_encoder(film, fps);
	if (code != EXIT_OK)
		cal_output_close(film->place);
	return code;
}

static bool write_file(const char *path, const void *data, size_t length) {
	FILE *out = fopen(path, "wb");
	const bool written = out && fwrite(data, 1, length, out) == length;
	return out && fclose(out) == 0 && written;
}

bool film_put(Film *film, const void *png, size_t length) {
	film->frames++;
	if (film->kind == FILM_PNG)
		return write_file(cal_output_part(film->place), png, length);
	return fwrite(png, 1, length, film->encoder.feed) == length;
}

int film_close(Film *film, int code) {
	CalError error = {0};
	const int ended = film->encoder.pid ? child_wait(&film->encoder) : 0;
	if (code == EXIT_OK && ended != 0) {
		say_error(film->path, "cannot be written: ffmpeg failed");
		code = EXIT_INPUT;
	}
	if (code == EXIT_OK)
		code = say_status(film->path, cal_output_publish(film->place, &error), &error);
	cal_output_close(film->place);
	return code;
}
