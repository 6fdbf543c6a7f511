// SPDX-License-Identifier: Apache-2.0
/*
 * run.c — `calder run`: integrates a model, records signals, and says how well it went.
 *
 * The file gives the method, the duration, the sampling and the signals; options override each of them.
 * Signals named behind FILE are those of the plot; they are recorded too.
 */
#define _GNU_SOURCE // getopt_long, isatty, fileno

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "summary.h"

static const char help[] =
	"usage: calder run [OPTION]... FILE [SIGNAL]...\n"
	"\n"
	"Integrates the model in FILE (YAML or JSON, docs/format.md; - reads stdin) and prints a summary.\n"
	"  -o, --output FILE      samples as CSV (- for stdout)\n"
	"  -p, --plot FILE        picture (SVG) of the SIGNALs named behind FILE, or of those of the file\n"
	"  -s, --signal SIGNAL    record this signal instead of those of the file; may be repeated\n"
	"  -d, --duration S       end after S seconds\n"
	"  -i, --interval S       one sample every S seconds (0: every step)\n"
	"  -m, --method NAME      euler-cromer, rk4, implicit, implicit-midpoint or dopri5\n"
	"      --step S           step size (dopri5: first step)\n"
	"      --rtol R, --atol A tolerances of dopri5\n"
	"      --json             summary as JSON\n"
	"  -q, --quiet            no progress bar and no summary\n"
	"signals: q, u, udot (all joints), q:JOINT, u:JOINT, udot:JOINT, energy, momentum, node:BODY/NODE,\n"
	"         deflection:BODY/NODE, reaction:JOINT, loop:LOOP (its wrench), residual (of all loops),\n"
	"         residual:LOOP; and single columns of them: momentum:Lz, u:flight.3, residual:pin:dx\n"
	"\n"
	"example: calder run examples/pendulum.yaml -o pendulum.csv --plot pendulum.svg q energy\n";

enum { MAX_SIGNALS = 256 };

typedef struct RunOptions {
	const char *path;
	const char *csv, *svg;
	const char *recorded[MAX_SIGNALS]; // by --signal
	int recorded_count;
	const char *plotted[MAX_SIGNALS]; // behind FILE
	int plotted_count;
	const char *method;
	double duration, interval, step, rtol, atol; // NAN: as the file says
	bool json, quiet;
} RunOptions;

/* ---- options ----------------------------------------------------------------------------------- */

static bool parse_number(const char *text, double *value) {
	char *end;
	errno = 0;
	*value = strtod(text, &end);
	return end != text && *end == 0 && errno == 0 && isfinite(*value) && *value >= 0;
}

enum { OPTION_STEP = 256, OPTION_RTOL, OPTION_ATOL };

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"plot", required_argument, NULL, 'p'},
	{"signal", required_argument, NULL, 's'},
	{"duration", required_argument, NULL, 'd'},
	{"interval", required_argument, NULL, 'i'},
	{"method", required_argument, NULL, 'm'},
	{"step", required_argument, NULL, OPTION_STEP},
	{"rtol", required_argument, NULL, OPTION_RTOL},
	{"atol", required_argument, NULL, OPTION_ATOL},
	{"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static double *number_option(RunOptions *options, int option) {
	switch (option) {
	case 'd':
		return &options->duration;
	case 'i':
		return &options->interval;
	case OPTION_STEP:
		return &options->step;
	case OPTION_RTOL:
		return &options->rtol;
	case OPTION_ATOL:
		return &options->atol;
	default:
		return NULL;
	}
}

static int set_option(RunOptions *options, int option, const char *value) {
	double *number = number_option(options, option);
	if (number)
		return parse_number(value, number) ? EXIT_OK
		                                   : say_usage("run", "'%s' is not a number that is zero or more", value);
	switch (option) {
	case 'o':
		options->csv = value;
		return EXIT_OK;
	case 'p':
		options->svg = value;
		return EXIT_OK;
	case 'm':
		options->method = value;
		return EXIT_OK;
	case 's':
		if (options->recorded_count == MAX_SIGNALS)
			return say_usage("run", "more than %d signals", MAX_SIGNALS);
		options->recorded[options->recorded_count++] = value;
		return EXIT_OK;
	case 'j':
		options->json = true;
		return EXIT_OK;
	case 'q':
		options->quiet = true;
		return EXIT_OK;
	default:
		return say_usage("run", "that option is not known, or lacks its value");
	}
}

/* Exit code, or -1 to go on. */
static int parse_options(RunOptions *options, int argc, char **argv) {
	*options = (RunOptions){.duration = NAN, .interval = NAN, .step = NAN, .rtol = NAN, .atol = NAN};
	for (int option; (option = getopt_long(argc, argv, "o:p:s:d:i:m:qh", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		int code = set_option(options, option, optarg);
		if (code != EXIT_OK)
			return code;
	}
	if (optind == argc)
		return say_usage("run", "name a model file (or - for stdin)");
	options->path = argv[optind++];
	if (argc - optind > MAX_SIGNALS)
		return say_usage("run", "more than %d signals", MAX_SIGNALS);
	for (; optind < argc; optind++)
		options->plotted[options->plotted_count++] = argv[optind];
	if (options->plotted_count && !options->svg)
		return say_usage("run", "signals behind FILE are for a plot; add --plot FILE.svg, or use --signal");
	int on_stdout = options->json + (options->csv && strcmp(options->csv, "-") == 0) +
	                (options->svg && strcmp(options->svg, "-") == 0);
	if (on_stdout > 1)
		return say_usage("run", "only one of CSV, plot and JSON summary can go to stdout");
	return -1;
}

static void override(double *setting, double option) {
	if (!isnan(option))
		*setting = option;
}

static int apply(const RunOptions *options, CalRunSettings *settings) {
	if (options->method && cal_method_find(options->method, &settings->method.method) != 0)
		return say_usage("run", "there is no method '%s'; use euler-cromer, rk4, implicit, implicit-midpoint or dopri5",
		                 options->method);
	override(&settings->duration, options->duration);
	override(&settings->output_interval, options->interval);
	override(&settings->method.step, options->step);
	override(&settings->method.rtol, options->rtol);
	override(&settings->method.atol, options->atol);
	if (settings->duration > 0)
		return EXIT_OK;
	say_error(input_name(options->path),
	          "there is no time to simulate; give run: {duration: ...} in the file, or --duration");
	return EXIT_INPUT;
}

/* ---- signals ----------------------------------------------------------------------------------- */

static const char *const default_recorded[] = {"q", "u", "energy", "momentum"};
static const char *const default_plotted[] = {"q", "energy"};

typedef struct Names {
	const char *const *items;
	int count;
} Names;

static Names recorded_names(const RunOptions *options, const CalRunSettings *settings) {
	if (options->recorded_count)
		return (Names){options->recorded, options->recorded_count};
	if (settings->signal_count)
		return (Names){settings->signals, settings->signal_count};
	return (Names){default_recorded, sizeof default_recorded / sizeof default_recorded[0]};
}

static Names plotted_names(const RunOptions *options, const CalRunSettings *settings) {
	if (!options->svg)
		return (Names){NULL, 0};
	if (options->plotted_count)
		return (Names){options->plotted, options->plotted_count};
	if (options->recorded_count || settings->signal_count)
		return recorded_names(options, settings);
	return (Names){default_plotted, sizeof default_plotted / sizeof default_plotted[0]};
}

static int add_signals(SignalSet *set, CalSim *sim, Names names, const char *path) {
	for (int i = 0; i < names.count; i++) {
		SignalFound found = signals_add(set, sim, names.items[i]);
		if (found == SIGNAL_FOUND)
			continue;
		char text[256];
		signals_complain(text, sizeof text, names.items[i], found);
		say_error(path, text);
		return EXIT_INPUT;
	}
	return set->failed ? say_status(path, CAL_ERR_MEMORY, NULL) : EXIT_OK;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static void show_progress(double t, double duration) {
	enum { CELLS = 40 };
	int done = duration > 0 ? (int)(CELLS * t / duration) : CELLS;
	char bar[CELLS + 1];
	memset(bar, '.', CELLS);
	memset(bar, '#', (size_t)(done < 0 ? 0 : done > CELLS ? CELLS : done));
	bar[CELLS] = 0;
	fprintf(stderr, "\r[%s] t = %.4g of %.4g s ", bar, t, duration);
}

static void clear_progress(void) { fprintf(stderr, "\r%70s\r", ""); }

static int take_sample(Record *record, Summary *summary, CalSim *sim) {
	int code = record_sample(record, sim, summary->path);
	if (code == EXIT_OK)
		code = say_status(summary->path, summary_watch(summary, sim), NULL);
	return code;
}

/* Samples at multiples of the interval and at the end; with interval 0 after every step. */
static int integrate(const CalRunSettings *settings, Record *record, Summary *summary, CalSim *sim, bool progress) {
	double start = cal_sim_time(sim), end = start + settings->duration, interval = settings->output_interval;
	double shown = -INFINITY;
	int code = take_sample(record, summary, sim);
	for (int64_t k = 1; code == EXIT_OK && cal_sim_time(sim) < end; k++) {
		CalError error = {0};
		double next = start + (double)k * interval;
		bool is_last = next > end - 1e-9 * interval;
		CalStatus status =
			interval > 0 ? cal_sim_advance(sim, is_last ? end : next, &error) : cal_sim_step(sim, end, &error);
		if (progress && cal_sim_time(sim) - shown > 0.01 * settings->duration) {
			shown = cal_sim_time(sim);
			show_progress(shown - start, settings->duration);
		}
		if (status != CAL_OK) {
			if (progress)
				clear_progress();
			return say_status(summary->path, status, &error);
		}
		code = take_sample(record, summary, sim);
	}
	if (progress)
		clear_progress();
	return code;
}

static void print_summary(const RunOptions *options, const Summary *summary, CalSim *sim) {
	bool stdout_taken =
		(options->csv && strcmp(options->csv, "-") == 0) || (options->svg && strcmp(options->svg, "-") == 0);
	if (options->json)
		summary_print_json(summary, sim, stdout);
	else if (!options->quiet)
		summary_print(summary, sim, stdout_taken ? stderr : stdout);
}

/* All that needs the record to be open: the samples, then the picture, also of a run that failed halfway. */
static int run_recorded(const RunOptions *options, const CalRunSettings *settings, Record *record, Summary *summary,
                        CalSim *sim) {
	Names recorded = recorded_names(options, settings), plotted = plotted_names(options, settings);
	bool progress = !options->quiet && isatty(fileno(stderr)) && !getenv("CI");
	int code = add_signals(&record->set, sim, recorded, summary->path);
	if (code == EXIT_OK)
		code = add_signals(&record->set, sim, plotted, summary->path);
	if (code == EXIT_OK)
		code = record_open(record, options->csv, options->svg != NULL);
	if (code == EXIT_OK)
		code = integrate(settings, record, summary, sim, progress);
	summary->samples = record->count;
	if (!options->svg || record->count == 0)
		return code;
	const char *title = summary->title[0] ? summary->title : summary->path;
	int plot_code = record_plot(record, options->svg, title, plotted.items, plotted.count);
	return code == EXIT_OK ? plot_code : code;
}

static int run_loaded(const RunOptions *options, const CalRunSettings *settings, Loaded *loaded) {
	Record record = {0};
	Summary summary = {.path = input_name(options->path),
	                   .title = settings->title ? settings->title : "",
	                   .method = settings->method.method,
	                   .csv = options->csv,
	                   .svg = options->svg};
	summary.drift = calloc((size_t)cal_sim_group_count(loaded->sim), sizeof *summary.drift);
	if (!summary.drift)
		return say_status(summary.path, CAL_ERR_MEMORY, NULL);
	signals_init(&record.set);
	int code = run_recorded(options, settings, &record, &summary, loaded->sim);
	int close_code = record_close(&record, options->csv);
	code = code == EXIT_OK ? close_code : code;
	if (code == EXIT_OK)
		print_summary(options, &summary, loaded->sim);
	free(summary.drift);
	return code;
}

int command_run(int argc, char **argv) {
	RunOptions options;
	int code = parse_options(&options, argc, argv);
	if (code >= 0)
		return code;
	CalFile *file;
	code = input_open(options.path, &file);
	if (code != EXIT_OK)
		return code;
	CalRunSettings settings = cal_file_run(file);
	code = apply(&options, &settings);
	if (code != EXIT_OK) {
		cal_file_destroy(file);
		return code;
	}
	Loaded loaded;
	code = loaded_create(&loaded, file, input_name(options.path), &settings.method);
	if (code == EXIT_OK)
		code = run_loaded(&options, &settings, &loaded);
	loaded_destroy(&loaded);
	return code;
}
