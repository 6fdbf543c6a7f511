// SPDX-License-Identifier: Apache-2.0
/*
 * linearize.c — `calder linearize`: A, B, C and D of a model at a state of its run, with names; poles, Bode plot and step
 * responses (docs/linearize.md).
 */
#define _GNU_SOURCE // getopt_long

#include <stdlib.h>
#include <string.h>

#include "linearize.h"
#include "options.h"
#include "output.h"

static const char help[] =
	"usage: calder linearize [OPTION]... FILE\n"
	"\n"
	"Linearizes a model at the state in which its run starts, with loads, devices and loops: x' = A x + B u,\n"
	"y = C x + D u. Prints states, inputs, outputs and poles (docs/linearize.md).\n"
	"  --input NAME        force:JOINT, force:JOINT.DOF, wrench:NODE.fx (mx .. fz), device:DEVICE.COMMAND; may be repeated\n"
	"  --output NAME       a quantity, as calder signals lists them: q:JOINT, pose:NODE.x, device:WHEEL.speed; may be repeated\n"
	"  --at T              at a time of the run, e.g. 2.5 or 100ms (0: the initial state)\n"
	"  --trim              at the equilibrium that calder trim finds from there\n"
	"  --every T           at several times of the run, that of --at first: a system that varies with time\n"
	"  --until T           the last of them (the end of the run)\n"
	"  --independent DOF   a degree of freedom whose coordinate is a state of a group with loops; may be repeated\n"
	"  -o OUT              write all of it: .json, .csv, .h5 or .mat (MATLAB level 5); may be repeated\n"
	"  --json              print all of it as JSON\n"
	"  --transfer          transfer functions of every output to every input, by zeros, poles and gain\n"
	"  --bode OUT.svg      frequency response of every output to every input\n"
	"  --from F, --to F    its frequencies, '0.1 Hz' or '300 rad/s' (a tenth of the slowest pole to ten times the fastest)\n"
	"  --step-plot OUT.svg response of every output to a unit step of every input\n"
	"  --duration T        of the step responses (until the slowest pole has decayed)\n"
	"\n"
	"example: calder linearize examples/pendulum.yaml --input force:hinge --output q:hinge -o pendulum.mat\n";

enum { MOST_NAMES = 256, MOST_FILES = 8 };

typedef struct Names {
	const char *of[MOST_NAMES];
	int count;
} Names;

typedef struct Request {
	const char *path;
	Names inputs, outputs, independent;
	const char *files[MOST_FILES];
	int file_count;
	const char *bode, *step;
	double at, every, until; // [s]; every 0: one time
	PlotRange range;
	bool json, trim, transfer;
} Request;

/* ---- the work -------------------------------------------------------------------------------------- */

static int write_files(const Request *r, const LinearModel *model) {
	CalError error = {0};
	int code = EXIT_OK;
	for (int i = 0; i < r->file_count && code == EXIT_OK; i++)
		code = say_status(r->files[i], cal_state_space_write(&model->space, r->files[i], &error), &error);
	if (code == EXIT_OK && r->bode)
		code = linearize_bode(model, &r->range, r->bode);
	if (code == EXIT_OK && r->step)
		code = linearize_step(model, &r->range, r->step);
	return code;
}

static CalStateSpaceOptions options_of(const Request *r) {
	return (CalStateSpaceOptions){.inputs = r->inputs.of,
	                              .input_count = r->inputs.count,
	                              .outputs = r->outputs.of,
	                              .output_count = r->outputs.count,
	                              .independent = r->independent.of,
	                              .independent_count = r->independent.count};
}

static int show_series(const Request *r, const Loaded *loaded) {
	const CalStateSpaceOptions options = options_of(r);
	return linearize_series(&(LinearSeries){.path = r->path,
	                                        .options = &options,
	                                        .first = r->at,
	                                        .every = r->every,
	                                        .until = r->until > 0 ? r->until : loaded->settings.duration,
	                                        .files = r->files,
	                                        .file_count = r->file_count,
	                                        .json = r->json},
	                        loaded->sim);
}

static int show_model(const Request *r, CalSim *sim, const char *title) {
	CalError error = {0};
	LinearModel model = {.path = r->path, .title = title, .transfer = r->transfer};
	const CalStateSpaceOptions options = options_of(r);
	int code = say_status(input_name(r->path), cal_sim_state_space(sim, &options, &model.space, &error), &error);
	if (code != EXIT_OK)
		return code;
	model.poles = calloc((size_t)model.space.state_count + 1, sizeof *model.poles);
	code = say_status(input_name(r->path),
	                  model.poles ? cal_state_space_poles(&model.space, model.poles) : CAL_ERR_MEMORY, NULL);
	if (code == EXIT_OK)
		code = say_status(input_name(r->path), (r->json ? linearize_json : linearize_print)(&model), NULL);
	if (code == EXIT_OK && model.space.warning[0])
		say_warning(input_name(r->path), model.space.warning);
	if (code == EXIT_OK)
		code = write_files(r, &model);
	free(model.poles);
	cal_state_space_release(&model.space);
	return code;
}

static int check_outputs(const Request *r, const CalSetup *setup) {
	Written outputs[MOST_FILES + 2];
	int count = 0, code = EXIT_OK;
	for (int i = 0; i < r->file_count; i++)
		outputs[count++] = (Written){r->files[i], "-o"};
	outputs[count++] = (Written){r->bode, "--bode"};
	outputs[count++] = (Written){r->step, "--step-plot"};
	code = outputs_differ("linearize", outputs, count);
	for (int i = 0; i < count && code == EXIT_OK; i++)
		code = output_spares_model("linearize", outputs[i], r->path, setup);
	return code;
}

static const char *title_of(const Request *r, const Loaded *loaded) {
	const char *title = loaded->settings.title;
	return title && title[0] ? title : input_name(r->path);
}

static int linearize_file(const Request *r) {
	CalSetup *setup = NULL;
	Loaded loaded = {.refuses_code = true}; // without it, another model would be linearized
	CalError error = {0};
	CalTrim trim;
	int code = input_open(r->path, &setup);
	if (code == EXIT_OK)
		code = check_outputs(r, setup);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		return code;
	}
	code = loaded_at(&loaded, setup, input_name(r->path), r->at);
	if (code == EXIT_OK && r->trim)
		code = say_status(input_name(r->path), cal_sim_trim(loaded.sim, NULL, &trim, &error), &error);
	if (code == EXIT_OK)
		code = r->every > 0 ? show_series(r, &loaded) : show_model(r, loaded.sim, title_of(r, &loaded));
	loaded_destroy(&loaded);
	return code;
}

/* ---- command line ------------------------------------------------------------------------------------ */

static bool add_name(Names *names, const char *name) {
	if (names->count == MOST_NAMES)
		return false;
	names->of[names->count++] = name;
	return true;
}

static bool add_file(Request *r, const char *path) {
	if (r->file_count == MOST_FILES)
		return false;
	r->files[r->file_count++] = path;
	return true;
}

/* False: no value for it. */
static bool set_option(Request *r, int option, const char *text) {
	switch (option) {
	case 'i':
		return add_name(&r->inputs, text);
	case 'u':
		return add_name(&r->outputs, text);
	case 'n':
		return add_name(&r->independent, text);
	case 'o':
		return add_file(r, text);
	case 'b':
		r->bode = text;
		return true;
	case 's':
		r->step = text;
		return true;
	case 'f':
		return option_frequency(text, &r->range.from);
	case 't':
		return option_frequency(text, &r->range.to);
	default:
		r->json |= option == 'j';
		r->trim |= option == 'r';
		r->transfer |= option == 'z';
		return true;
	}
}

static int check_request(const Request *r) {
	if ((r->bode || r->step || r->transfer) && (r->inputs.count == 0 || r->outputs.count == 0))
		return say_usage("linearize", "%s needs at least one --input and one --output",
		                 r->bode   ? "--bode"
		                 : r->step ? "--step-plot"
		                           : "--transfer");
	if (r->every > 0 && (r->bode || r->step || r->trim || r->transfer))
		return say_usage("linearize", "--every takes neither --bode nor --step-plot nor --trim nor --transfer");
	if (r->every == 0 && r->until > 0)
		return say_usage("linearize", "--until is that of --every");
	if (!r->bode && (r->range.from > 0 || r->range.to > 0))
		return say_usage("linearize", "--from and --to are frequencies of --bode");
	if (!r->step && r->range.duration > 0)
		return say_usage("linearize", "--duration is that of --step-plot");
	if (r->range.from > 0 && r->range.to > 0 && r->range.from >= r->range.to)
		return say_usage("linearize", "--from is not below --to");
	return EXIT_OK;
}

static int read_options(int argc, char **argv, Request *r, bool *done) {
	static const struct option options[] = {{"input", required_argument, NULL, 'i'},
	                                        {"output", required_argument, NULL, 'u'},
	                                        {"independent", required_argument, NULL, 'n'},
	                                        {"at", required_argument, NULL, 'a'},
	                                        {"trim", no_argument, NULL, 'r'},
	                                        {"every", required_argument, NULL, 'e'},
	                                        {"until", required_argument, NULL, 'l'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"transfer", no_argument, NULL, 'z'},
	                                        {"bode", required_argument, NULL, 'b'},
	                                        {"from", required_argument, NULL, 'f'},
	                                        {"to", required_argument, NULL, 't'},
	                                        {"step-plot", required_argument, NULL, 's'},
	                                        {"duration", required_argument, NULL, 'd'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			*done = true;
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("linearize", argv, options);
		if (option == 'a' && option_quantity("linearize", "at", optarg, "s", &r->at) != EXIT_OK)
			return EXIT_USAGE;
		if (option == 'e' && option_quantity("linearize", "every", optarg, "s", &r->every) != EXIT_OK)
			return EXIT_USAGE;
		if (option == 'e' && r->every == 0)
			return say_usage("linearize", "--every takes a time above zero");
		if (option == 'l' && option_quantity("linearize", "until", optarg, "s", &r->until) != EXIT_OK)
			return EXIT_USAGE;
		if (option == 'd' && option_quantity("linearize", "duration", optarg, "s", &r->range.duration) != EXIT_OK)
			return EXIT_USAGE;
		if (!set_option(r, option, optarg))
			return say_usage("linearize", "--%s: '%s' is no value for it%s", option_name(options, option), optarg,
			                 option == 'f' || option == 't'
			                     ? "; write a frequency with its unit, '50 Hz' or '300 rad/s'"
			                     : ", or there are too many");
	}
	if (argc - optind != 1)
		return say_usage("linearize", "name one model file");
	r->path = argv[optind];
	return check_request(r);
}

int command_linearize(int argc, char **argv) {
	Request request = {0};
	bool done = false;
	const int code = read_options(argc, argv, &request, &done);
	return code != EXIT_OK || done ? code : linearize_file(&request);
}
