// SPDX-License-Identifier: Apache-2.0
/*
 * render.c — `calder render`: a run as a film or a picture, without a screen.
 *
 * The viewer's page is served on this machine and opened by a browser that draws in software. Its address says what to render
 * (docs/replay.md, "Addresses"); the page draws one frame after the other, each at its time, and posts it as PNG before it
 * draws the next one. Nothing depends on how fast that is: the same run gives the same frames.
 */
#define _GNU_SOURCE // getopt_long, open_memstream

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "browser.h"
#include "clock.h"
#include "doubts.h"
#include "film.h"
#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "server.h"

static const char help[] =
	"usage: calder render [OPTION]... RUN.h5 -o FILM.mp4|FILM.webm|PICTURE.png\n"
	"\n"
	"Draws a run frame by frame, without a screen: a film by ffmpeg, or a picture at one time. Each frame is drawn at its\n"
	"time, however long that takes: the same run gives the same film. Needs Chromium, and ffmpeg for films.\n"
	"  -o, --output FILE      .mp4 (H.264), .webm (VP9) or .png\n"
	"      --size WxH         in pixels (1280x720); even numbers for films\n"
	"      --fps N            frames per second of a film (30)\n"
	"      --from TIME        start (that of the run); the time of a picture (where the view settings of the model begin,\n"
	"                         else the middle of their story, else two fifths of the run)\n"
	"      --to TIME          end (that of the run)\n"
	"      --speed N          seconds of the run per second of the film (1)\n"
	"      --camera VIEW      iso, front, top, side, or x,y,z,a,b,c: from x y z towards a b c [m]\n"
	"      --follow BODY      the camera moves with this body\n"
	"      --theme NAME       light or dark (light)\n"
	"      --transparent      no background, in a PNG\n"
	"      --no-stamp         without the time in the corner\n"
	"      --captions         with what the story of the model (its view settings) and the events say\n"
	"\n"
	"example: calder run examples/walking_arm.yaml -o walk.h5 && calder render walk.h5 -o walk.mp4 --size 1920x1080\n";

typedef struct RenderOptions {
	const char *path, *output, *camera, *follow, *theme;
	int width, height;
	double fps, from, to, speed; // NAN: those of the run
	bool transparent, no_stamp, captions;
} RenderOptions;

/* What the page has posted, and how it ended. */
typedef struct Rendering {
	pthread_mutex_t lock;
	Film film;
	double heard; // when something came last [s]
	bool ended, failed;
	char message[300]; // why it failed
} Rendering;

/* ---- options -------------------------------------------------------------------------------------- */

static bool read_size(const char *text, int *width, int *height) {
	int used = 0;
	return sscanf(text, "%5dx%5d%n", width, height, &used) == 2 && !text[used] && *width >= 16 && *height >= 16 &&
	       *width <= 8192 && *height <= 8192;
}

static int check_options(const RenderOptions *o) {
	const FilmKind kind = o->output ? film_kind(o->output) : FILM_NONE;
	if (!o->output)
		return say_usage("render", "name the film or picture with -o");
	if (kind == FILM_NONE)
		return say_usage("render", "-o takes a file that ends in .mp4, .webm or .png, not '%s'", o->output);
	if (kind != FILM_PNG && (o->width % 2 || o->height % 2))
		return say_usage("render", "--size of a film needs even numbers, not %dx%d", o->width, o->height);
	if (kind != FILM_PNG && o->transparent)
		return say_usage("render", "--transparent is for PNG: films have no transparency");
	if (!(o->fps >= 0.1 && o->fps <= 1000))
		return say_usage("render", "--fps takes a number from 0.1 to 1000");
	if (!(o->speed > 0))
		return say_usage("render", "--speed takes a number above zero");
	if (o->to < o->from)
		return say_usage("render", "--to is before --from");
	if (o->theme && strcmp(o->theme, "light") != 0 && strcmp(o->theme, "dark") != 0)
		return say_usage("render", "--theme takes light or dark, not '%s'", o->theme);
	return -1;
}

static int take_option(RenderOptions *o, int option) {
	switch (option) {
	case 'o':
		o->output = optarg;
		return EXIT_OK;
	case 's':
		return read_size(optarg, &o->width, &o->height)
		           ? EXIT_OK
		           : say_usage("render", "--size takes WIDTHxHEIGHT from 16x16 to 8192x8192, not '%s'", optarg);
	case 'r':
		return option_quantity("render", "fps", optarg, "", &o->fps);
	case 'a':
		return option_quantity("render", "from", optarg, "s", &o->from);
	case 'b':
		return option_quantity("render", "to", optarg, "s", &o->to);
	case 'v':
		return option_quantity("render", "speed", optarg, "", &o->speed);
	case 'c':
		o->camera = optarg;
		return EXIT_OK;
	case 'f':
		o->follow = optarg;
		return EXIT_OK;
	case 't':
		o->theme = optarg;
		return EXIT_OK;
	case 'x':
		o->transparent = true;
		return EXIT_OK;
	case 'w':
		o->captions = true;
		return EXIT_OK;
	default:
		o->no_stamp = true;
		return EXIT_OK;
	}
}

/* Exit code, or -1 to continue. */
static int parse_options(RenderOptions *o, int argc, char **argv) {
	static const struct option long_options[] = {
		{"output", required_argument, NULL, 'o'}, {"size", required_argument, NULL, 's'},
		{"fps", required_argument, NULL, 'r'},    {"from", required_argument, NULL, 'a'},
		{"to", required_argument, NULL, 'b'},     {"speed", required_argument, NULL, 'v'},
		{"camera", required_argument, NULL, 'c'}, {"follow", required_argument, NULL, 'f'},
		{"theme", required_argument, NULL, 't'},  {"transparent", no_argument, NULL, 'x'},
		{"no-stamp", no_argument, NULL, 'n'},     {"captions", no_argument, NULL, 'w'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	*o = (RenderOptions){.width = 1280, .height = 720, .fps = 30, .from = NAN, .to = NAN, .speed = 1};
	for (int option; (option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?' || option == ':')
			return option_wrong("render", argv, long_options);
		const int code = take_option(o, option);
		if (code != EXIT_OK)
			return code;
	}
	if (argc - optind != 1)
		return say_usage("render", "name one result file (HDF5)");
	o->path = argv[optind];
	return check_options(o);
}

/* ---- the address ------------------------------------------------------------------------------------ */

static void put_escaped(FILE *out, const char *key, const char *text) {
	fprintf(out, "&%s=", key);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;
		const bool plain =
			(c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._,", c);
		fprintf(out, plain ? "%c" : "%%%02x", c);
	}
}

/* The page with what it has to render; NULL: out of memory. From malloc. */
static char *address_of(const RenderOptions *o, int port, const char *key) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	fprintf(out, "http://127.0.0.1:%d/#render=%s&size=%dx%d&speed=%.17g&theme=%s", port, key, o->width, o->height,
	        o->speed, o->theme ? o->theme : "light");
	if (film_kind(o->output) != FILM_PNG)
		fprintf(out, "&fps=%.17g", o->fps);
	if (!isnan(o->from))
		fprintf(out, "&from=%.17g", o->from);
	if (!isnan(o->to))
		fprintf(out, "&to=%.17g", o->to);
	fprintf(out, "&stamp=%d&transparent=%d&captions=%d", !o->no_stamp, o->transparent, o->captions);
	if (o->camera)
		put_escaped(out, "cam", o->camera);
	if (o->follow)
		put_escaped(out, "follow", o->follow);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- what the page posts ------------------------------------------------------------------------------ */

static void note_failure(Rendering *r, const char *text, size_t length) {
	r->failed = true;
	snprintf(r->message, sizeof r->message, "%.*s", (int)(length < 280 ? length : 280), text);
}

/* "frame-N" in their order, "end", or "error" with the reason. */
static bool take_post(void *user, const char *name, const void *data, size_t length) {
	static const char not_written[] = "a frame could not be written; is the disk full, or has ffmpeg failed?";
	static const unsigned char signature[] = {0x89, 'P', 'N', 'G'};
	Rendering *r = user;
	char expected[40];
	pthread_mutex_lock(&r->lock);
	snprintf(expected, sizeof expected, "frame-%ld", r->film.frames);
	bool taken = !r->ended && !r->failed;
	r->heard = clock_now();
	if (taken && strcmp(name, "end") == 0) {
		r->ended = true;
	} else if (taken && strcmp(name, "error") == 0) {
		note_failure(r, data, length);
	} else {
		taken = taken && strcmp(name, expected) == 0 && length > 4 && memcmp(data, signature, 4) == 0;
		if (taken && !film_put(&r->film, data, length)) {
			note_failure(r, not_written, sizeof not_written - 1);
			taken = false;
		}
	}
	pthread_mutex_unlock(&r->lock);
	return taken;
}

/* Until the page has posted its last frame. Returns an exit code. */
static int wait_for_end(Rendering *r, Browser *browser, const RenderOptions *o) {
	static const double patience = 300; // [s] without a word
	for (;;) {
		clock_pause(0.02);
		pthread_mutex_lock(&r->lock);
		const bool ended = r->ended && r->film.frames > 0, failed = r->failed || (r->ended && !ended);
		const bool silent = clock_now() - r->heard > patience;
		pthread_mutex_unlock(&r->lock);
		if (ended)
			return EXIT_OK;
		if (interrupt_caught())
			return 128 + interrupt_caught();
		if (!failed && !silent && !child_ended(&browser->process))
			continue;
		say_error(o->output, r->message[0] ? r->message
		                     : silent      ? "cannot be rendered: the browser does not answer"
		                                   : "cannot be rendered: the browser has ended; does it start by itself?");
		return EXIT_INPUT;
	}
}

/* ---- the command ---------------------------------------------------------------------------------------- */

/* 128 bits that other users of this machine do not know. */
static bool make_key(char key[33]) {
	unsigned char bytes[16];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return false;
	for (int i = 0; i < 16; i++)
		snprintf(key + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static int render_page(const RenderOptions *o, Rendering *r, const char *page, size_t length) {
	char key[33], message[300];
	Browser browser = {0};
	if (!make_key(key))
		return say_status(o->path, CAL_ERR_IO, NULL);
	const ServerOptions options = {
		.page = page, .page_length = length, .upload = take_post, .upload_key = key, .upload_user = r};
	Server *server = server_start(&options, message, sizeof message);
	if (!server) {
		say_error(o->path, message);
		return EXIT_INPUT;
	}
	char *address = address_of(o, server_port(server), key);
	int code = address ? browser_start(&browser, o->output, address) : say_status(o->path, CAL_ERR_MEMORY, NULL);
	r->heard = clock_now();
	if (code == EXIT_OK)
		code = wait_for_end(r, &browser, o);
	browser_stop(&browser);
	server_stop(server);
	free(address);
	return code;
}

/* The page with the run in it, into *page from malloc. */
static int write_page(const RenderOptions *o, char **page, size_t *length) {
	const CalReplayOptions replay = {.page = page_text(), .page_length = page_length()};
	CalError error = {0};
	FILE *out = open_memstream(page, length);
	CalStatus status = out ? cal_replay_write(o->path, &replay, out, &error) : CAL_ERR_MEMORY;
	if (out && fclose(out) != 0 && status == CAL_OK)
		status = CAL_ERR_MEMORY;
	return say_status(o->path, status, &error);
}

int command_render(int argc, char **argv) {
	RenderOptions o;
	int code = parse_options(&o, argc, argv);
	if (code >= 0)
		return code;
	code = output_spares_results("render", (Written){o.output, "-o"}, o.path, "the result file");
	char *page = NULL;
	size_t length = 0;
	Rendering rendering = {0};
	if (code == EXIT_OK)
		code = write_page(&o, &page, &length);
	if (code == EXIT_OK) {
		doubts_warn_file(o.path);
		interrupt_listen();
		code = film_open(&rendering.film, o.output, o.fps);
	}
	if (code == EXIT_OK) {
		pthread_mutex_init(&rendering.lock, NULL);
		code = film_close(&rendering.film, render_page(&o, &rendering, page, length));
		pthread_mutex_destroy(&rendering.lock);
	}
	free(page);
	return code;
}
