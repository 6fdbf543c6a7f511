// SPDX-License-Identifier: Apache-2.0
/*
 * view.c — `calder view`: a result file as a page that any browser opens.
 */
#define _GNU_SOURCE // getopt_long

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "page.h"

static const char help[] =
	"usage: calder view [OPTION]... RUN.h5\n"
	"\n"
	"Writes the run as one HTML file with the viewer in it; it opens from disk, without network (docs/viewer.md).\n"
	"  -o, --html FILE     the file to write (RUN.html); - for stdout\n"
	"      --json FILE     the data alone (docs/replay.md)\n"
	"  -g, --ghost RUN2.h5 a second run of the same bodies, drawn transparent beside the first\n"
	"      --title TEXT    instead of the run's\n"
	"      --frames N      at most so many moments (3000); a longer run is thinned out\n"
	"\n"
	"example: calder run examples/pendulum.yaml -o pendulum.h5 && calder view pendulum.h5\n";

typedef struct ViewOptions {
	const char *path, *html, *json;
	CalReplayOptions replay;
} ViewOptions;

static int parse_options(ViewOptions *o, int argc, char **argv) {
	static const struct option long_options[] = {
		{"html", required_argument, NULL, 'o'},
		{"json", required_argument, NULL, 'j'},
		{"ghost", required_argument, NULL, 'g'},
		{"title", required_argument, NULL, 't'},
		{"frames", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char *end;
	for (int option; (option = getopt_long(argc, argv, "o:g:h", long_options, NULL)) != -1;) {
		switch (option) {
		case 'h':
			fputs(help, stdout);
			return EXIT_OK;
		case 'o':
			o->html = optarg;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'g':
			o->replay.ghost = optarg;
			break;
		case 't':
			o->replay.title = optarg;
			break;
		case 'n':
			o->replay.max_frames = (int)strtol(optarg, &end, 10);
			if (end == optarg || *end || o->replay.max_frames < 2)
				return say_usage("view", "--frames takes a number of 2 or more, not '%s'", optarg);
			break;
		default:
			return say_usage("view", "that option is not known, or lacks its value");
		}
	}
	if (argc - optind != 1)
		return say_usage("view", "name one result file (HDF5)");
	if (o->html && o->json)
		return say_usage("view", "give either --html or --json");
	o->path = argv[optind];
	return -1;
}

/* "run.html" for "run.h5", from malloc. */
static char *page_name(const char *path) {
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	const size_t length = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
	char *name = malloc(length + sizeof ".html");
	if (name) {
		memcpy(name, path, length);
		strcpy(name + length, ".html");
	}
	return name;
}

/* What was written is removed again if it is not whole. */
static int write_file(const ViewOptions *o, const char *to) {
	const bool on_stdout = strcmp(to, "-") == 0;
	FILE *out = on_stdout ? stdout : fopen(to, "wb");
	if (!out) {
		say_error(to, strerror(errno));
		return EXIT_INPUT;
	}
	CalError error = {0};
	CalStatus status = cal_replay_write(o->path, &o->replay, out, &error);
	if (!on_stdout && fclose(out) != 0 && status == CAL_OK) {
		status = CAL_ERR_IO;
		snprintf(error.text, sizeof error.text, "%.300s: cannot be written: %s", to, strerror(errno));
	}
	if (status != CAL_OK && !on_stdout)
		remove(to);
	return say_status(o->path, status, &error);
}

int command_view(int argc, char **argv) {
	ViewOptions o = {0};
	int code = parse_options(&o, argc, argv);
	if (code >= 0)
		return code;
	char *own = o.html || o.json ? NULL : page_name(o.path);
	const char *to = o.json ? o.json : o.html ? o.html : own;
	if (!to)
		return say_status(o.path, CAL_ERR_MEMORY, NULL);
	if (!o.json) {
		o.replay.page = page_text();
		o.replay.page_length = page_length();
	}
	code = write_file(&o, to);
	if (code == EXIT_OK && own)
		printf("%s\n", own);
	free(own);
	return code;
}
