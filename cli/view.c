// SPDX-License-Identifier: Apache-2.0
/*
 * view.c — `calder view`: a result file as a page, served to the browser of this machine or written to a file.
 */
#define _GNU_SOURCE // getopt_long

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "doubts.h"
#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "server.h"
#include "view_campaign.h"

static const char help[] =
	"usage: calder view [OPTION]... RUN.h5|MODEL|CAMPAIGN_FOLDER\n"
	"\n"
	"Shows a run in the browser (docs/viewer.md): serves it on this machine until Ctrl-C, or writes it as one HTML file\n"
	"that opens from disk, without network. A model is run first, as it says itself. Of a campaign (docs/sweep.md) all\n"
	"cases are shown, and some of them are run again to be replayed.\n"
	"  -o, --html FILE     write this file (- for stdout) instead of serving\n"
	"      --json FILE     write the data alone (docs/replay.md)\n"
	"      --port PORT     serve on this port (any that is free)\n"
	"      --no-browser    only print the address\n"
	"  -g, --ghost RUN2.h5 a second run of the same bodies, drawn transparent beside the first\n"
	"      --title TEXT    instead of the run's\n"
	"      --camera NAME   a camera of the model's key view, instead of its story\n"
	"      --start T       the moment that is shown first, e.g. 2.5 or 100ms\n"
	"      --speed FACTOR  seconds of the run per second\n"
	"      --plot SIGNALS  a plot of these signals, separated by commas; may be repeated\n"
	"      --trail NODE    draws the path of a node or body; may be repeated\n"
	"      --arrows FACTOR of the length of arrows; 0: none\n"
	"      --deformation F factor of deformations\n"
	"      --case K        of a campaign: this case can be replayed; may be repeated (those with extreme outputs)\n"
	"      --frames N      at most so many moments (3000); a longer run is thinned out\n"
	"\n"
	"example: calder run examples/pendulum.yaml -o pendulum.h5 && calder view pendulum.h5 --html pendulum.html\n";

enum { MOST_TEXTS = 16 };

enum {
	OPTION_CAMERA = 256,
	OPTION_START,
	OPTION_SPEED,
	OPTION_PLOT,
	OPTION_TRAIL,
	OPTION_ARROWS,
	OPTION_DEFORMATION,
	OPTION_CASE
};

typedef struct ViewOptions {
	const char *path, *html, *json;
	int port;
	bool no_browser;
	CalReplayOptions replay;
	CalViewSettings view;
	const char *plots[MOST_TEXTS], *trails[MOST_TEXTS];
	CampaignView campaign; // of a folder
} ViewOptions;

static bool model_dof(const char *text, int least, int most, int *value) {
	char *end;
	errno = 0;
	const long number = strtol(text, &end, 10);
	*value = (int)number;
	return end != text && !*end && errno == 0 && number >= least && number <= most;
}

static int parse_factor(const char *option, const char *text, bool zero, double *value) {
	char *end;
	*value = strtod(text, &end);
	if (end == text || *end || !isfinite(*value) || *value < 0 || (*value == 0 && !zero))
		return say_usage("view", "--%s takes a number %s zero, not '%s'", option, zero ? "from" : "above", text);
	return -1;
}

static int parse_case(CampaignView *campaign, const char *text) {
	int number;
	if (campaign->case_count == CAMPAIGN_REPLAYS || !model_dof(text, 0, 1 << 30, &number))
		return say_usage("view", "--case takes the number of a case, up to %d times, not '%s'", CAMPAIGN_REPLAYS, text);
	campaign->cases[campaign->case_count++] = number;
	return -1;
}

/* Options of how the run is looked at; -1: done. */
static int parse_look(ViewOptions *o, int option, const char *value) {
	CalViewSettings *view = &o->view;
	o->replay.view = view;
	switch (option) {
	case OPTION_CAMERA:
		view->camera = value;
		return -1;
	case OPTION_START:
		return option_quantity("view", "start", value, "s", &view->start) == EXIT_OK ? -1 : EXIT_USAGE;
	case OPTION_SPEED:
		return parse_factor("speed", value, false, &view->speed);
	case OPTION_ARROWS:
		return parse_factor("arrows", value, true, &view->arrows);
	case OPTION_DEFORMATION:
		return parse_factor("deformation", value, false, &view->deformation);
	case OPTION_CASE:
		return parse_case(&o->campaign, value);
	default:
		break;
	}
	int *count = option == OPTION_PLOT ? &view->plot_count : &view->trail_count;
	if (*count == MOST_TEXTS)
		return say_usage("view", "more than %d plots or trails", MOST_TEXTS);
	(option == OPTION_PLOT ? o->plots : o->trails)[(*count)++] = value;
	return -1;
}

static int parse_options(ViewOptions *o, int argc, char **argv) {
	static const struct option long_options[] = {
		{"html", required_argument, NULL, 'o'},
		{"json", required_argument, NULL, 'j'},
		{"ghost", required_argument, NULL, 'g'},
		{"title", required_argument, NULL, 't'},
		{"frames", required_argument, NULL, 'n'},
		{"port", required_argument, NULL, 'p'},
		{"camera", required_argument, NULL, OPTION_CAMERA},
		{"start", required_argument, NULL, OPTION_START},
		{"speed", required_argument, NULL, OPTION_SPEED},
		{"plot", required_argument, NULL, OPTION_PLOT},
		{"trail", required_argument, NULL, OPTION_TRAIL},
		{"arrows", required_argument, NULL, OPTION_ARROWS},
		{"deformation", required_argument, NULL, OPTION_DEFORMATION},
		{"case", required_argument, NULL, OPTION_CASE},
		{"no-browser", no_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
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
			if (!model_dof(optarg, 2, 1 << 30, &o->replay.max_frames))
				return say_usage("view", "--frames takes a number of 2 or more, not '%s'", optarg);
			break;
		case 'p':
			if (!model_dof(optarg, 0, 65535, &o->port))
				return say_usage("view", "--port takes a number up to 65535, not '%s'", optarg);
			break;
		case 'b':
			o->no_browser = true;
			break;
		case '?':
		case ':':
			return option_wrong("view", argv, long_options);
		default: {
			const int code = parse_look(o, option, optarg);
			if (code >= 0)
				return code;
		}
		}
	}
	if (argc - optind != 1)
		return say_usage("view", "name one result file (HDF5), model or folder of a campaign");
	if (o->html && o->json)
		return say_usage("view", "give either --html or --json");
	o->path = argv[optind];
	return -1;
}

/* The page, or the document alone. Returns an exit code. */
static int produce(const ViewOptions *o, FILE *out) {
	CalError error = {0};
	if (o->campaign.folder)
		return campaign_view_write(&o->campaign, out);
	return say_status(o->path, cal_replay_write(o->path, &o->replay, out, &error), &error);
}

static int write_file(const ViewOptions *o, Written to) {
	OutputFile out;
	int code = output_spares_results("view", to, o->path, "the result file");
	if (code == EXIT_OK)
		code = output_spares_results("view", to, o->replay.ghost, "the second result file");
	if (code == EXIT_OK)
		code = output_open(&out, to.path);
	if (code != EXIT_OK)
		return code;
	return output_close(&out, produce(o, out.stream));
}

/* ---- serving ------------------------------------------------------------------------------------ */

static int serve_page(const ViewOptions *o) {
	char *page = NULL, message[300];
	size_t length = 0;
	FILE *out = open_memstream(&page, &length);
	int code = out ? produce(o, out) : say_status(o->path, CAL_ERR_MEMORY, NULL);
	if (out && fclose(out) != 0 && code == EXIT_OK)
		code = say_status(o->path, CAL_ERR_MEMORY, NULL);
	const ServerOptions options = {.port = o->port, .page = page, .page_length = length};
	Server *server = code == EXIT_OK ? server_start(&options, message, sizeof message) : NULL;
	if (code == EXIT_OK && !server) {
		say_error(o->path, message);
		code = EXIT_INPUT;
	}
	if (server) {
		interrupt_listen();
		page_open(server_port(server), !o->no_browser);
		while (!interrupt_caught())
			clock_sleep_until(clock_now() + 1);
	}
	server_stop(server);
	free(page);
	return code;
}

/* ---- models ------------------------------------------------------------------------------------- */

static bool is_model(const char *path) {
	struct stat about;
	return path && stat(path, &about) == 0 && S_ISREG(about.st_mode) && !cal_results_is_hdf5(path);
}

/* Runs it into a file of its own, which is gone when it was shown. */
static int run_model(const char *model, const char *result) {
	char *argv[] = {"run", "--quiet", "--no-code", "-o", (char *)result, (char *)model, NULL};
	optind = 0; // getopt_long() begins anew
	return command_run(6, argv);
}

static int show(ViewOptions *o) {
	if (o->json)
		return write_file(o, (Written){o->json, "--json"});
	o->replay.page = page_text();
	o->replay.page_length = page_length();
	return o->html ? write_file(o, (Written){o->html, "--html"}) : serve_page(o);
}

static int spare_model(const ViewOptions *o) {
	const Written to = {o->html ? o->html : o->json, o->html ? "--html" : "--json"};
	CalSetup *setup = NULL;
	int code = input_open_quietly(o->path, &setup);
	if (code == EXIT_OK)
		code = output_spares_model("view", to, o->path, setup);
	cal_setup_destroy(setup);
	return code;
}

static int show_model(const ViewOptions *o) {
	const char *parent = getenv("TMPDIR");
	char folder[1024], result[1100];
	snprintf(folder, sizeof folder, "%.900s/calder-XXXXXX", parent && parent[0] ? parent : "/tmp");
	if (!mkdtemp(folder)) {
		say_error(folder, "a folder for the run cannot be made; set TMPDIR");
		return EXIT_INPUT;
	}
	snprintf(result, sizeof result, "%s/run.h5", folder);
	int code = spare_model(o);
	if (code == EXIT_OK)
		code = run_model(o->path, result);
	ViewOptions shown = *o;
	shown.path = result;
	if (code == EXIT_OK)
		code = show(&shown);
	remove(result);
	rmdir(folder);
	return code;
}

int command_view(int argc, char **argv) {
	ViewOptions o = {.view = cal_view_settings_def()};
	o.view.plots = o.plots;
	o.view.trails = o.trails;
	const int code = parse_options(&o, argc, argv);
	if (code >= 0 || !o.path)
		return code;
	if (campaign_is_folder(o.path)) {
		o.campaign.folder = o.path;
		o.campaign.replay = &o.replay;
		return show(&o);
	}
	if (is_model(o.path))
		return show_model(&o);
	doubts_warn_file(o.path);
	return show(&o);
}
