// SPDX-License-Identifier: Apache-2.0
/*
 * run_options.c — the options of `calder run`, and how they override what the file says.
 */
#define _GNU_SOURCE // getopt_long

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "options.h"
#include "run_options.h"

/* A format: the names of the methods. */
static const char help[] =
	"usage: calder run [OPTION]... FILE [SIGNAL]...\n"
	"\n"
	"Integrates the model in FILE (YAML or JSON, docs/format.md; - reads stdin) and prints a summary.\n"
	"  -o, --out FILE         samples as HDF5 (FILE ends in .h5 or .hdf5) or CSV (- for stdout); docs/results.md\n"
	"  -p, --plot FILE        picture (SVG; PNG, PDF by the ending) of the SIGNALs named after FILE, or of those of the file\n"
	"  -s, --signal SIGNAL    record this signal instead of those of the file; may be repeated\n"
	"  -d, --duration S       end after S seconds\n"
	"  -i, --interval S       one sample every S seconds (0: every step)\n"
	"  -m, --method NAME      %s\n"
	"      --step S           step size (adaptive methods: first step); `calder methods` says which are adaptive\n"
	"      --rtol R, --atol A tolerances of adaptive methods\n"
	"      --whole-steps      sample at ends of steps: no bit changes with the interval (default where a device of the model\n"
	"                         samples); --whole-steps=no: at the exact times\n"
	"      --assemble[=A]     start even if closing loops moves what the state gives, by at most A rad (default: by any\n"
	"                         amount; without the option: by 0.1 rad, or as the file says); docs/loops.md\n"
	"      --formulation F    order-n, or system: system matrices that are held between updates (docs/modes.md), with\n"
	"      --update S         the time between updates,\n"
	"      --retain F         the frequency up to which modes are retained, '40 Hz' or '250 rad/s' (all), and\n"
	"      --unretained MODE  the others: frozen (default), or bounded to that frequency\n"
	"      --threads N        share the work of a step among N threads, where that is faster; docs/parallel.md\n"
	"      --branches P       partition the model for P workers (default N): the same bits for any number of threads\n"
	"      --cross-loops WHEN whether closed loops may span branches: auto (where that is faster), never, always\n"
	"      --replay S         what `calder view` needs every S seconds (default: with other samples, 60 a second at most)\n"
	"      --no-replay        HDF5 without that\n"
	"      --flush S          write samples to disk every S seconds of wall time (1)\n"
	"      --when-full MODE   if the disk is too slow: wait, losing nothing (default), or drop, never waiting\n"
	"      --real-time[=R]    paced to the wall clock, R simulated seconds a second (1): counts late steps, drops\n"
	"                         samples rather than wait for the disk, locks memory and takes priority if permitted\n"
	"      --ahead S          steps may be ready S seconds of wall time before they are due (0); docs/realtime.md\n"
	"      --checkpoint FILE  keep a checkpoint: at the end, and when interrupted (Ctrl-C, SIGTERM); docs/checkpoints.md\n"
	"      --checkpoint-every S  and every S simulated seconds, at the next sample\n"
	"      --restart FILE     resume from a checkpoint of the same model, bit-identically; -o gets the samples from there on\n"
	"      --live[=PORT]      in the browser while it runs (docs/viewer.md): pause, step, push bodies, move joints,\n"
	"                         change parameters, go back\n"
	"      --no-browser       with --live: only print the address\n"
	"      --wait             with --live: start when a page has connected\n"
	"      --stay             with --live: at the end wait for a page to go back, until Ctrl-C\n"
	"      --distribute[=forced]  on the ranks that mpirun started (mpirun -np 4 calder run ...); forced: partition the\n"
	"                         model even where that is not faster (docs/distributed.md)\n"
	"      --lost-after S     a rank silent for S seconds counts as lost (60)\n"
	"      --parts            each rank records its own bodies: FILE.rank0.h5, ..., which FILE.h5 joins\n"
	"      --strict           exit code 1 if there is something to doubt in the results (docs/doubts.md)\n"
	"      --no-code          refuse models that name a shared object (library: ...)\n"
	"      --json             summary as JSON\n"
	"  -q, --quiet            no progress bar and no summary\n"
	"Times are in seconds, or have a unit: --step 20ms, --duration '2 min'. Ctrl-C and SIGTERM end a run cleanly: files are\n"
	"closed, and the exit code is 130 or 143.\n";

static const char help_signals[] =
	"signals: a quantity of all objects (q, u, pose, energy, reaction, device, balance), of one (q:JOINT, pose:BODY/NODE,\n"
	"         device:NAME), or a single component (u:flight.wz, pose:arm/tip.x, momentum:Lz); 'calder signals' lists them\n"
	"\n"
	"example: calder run examples/pendulum.yaml -o pendulum.h5 --plot pendulum.svg q energy\n";

static void print_help(void) {
	char names[200];
	cal_method_names(names, sizeof names);
	printf(help, names);
	fputs(help_signals, stdout);
}

static bool parse_number(const char *text, double *value) {
	char *end;
	errno = 0;
	*value = strtod(text, &end);
	return end != text && *end == 0 && errno == 0 && isfinite(*value) && *value >= 0;
}

enum {
	OPTION_STEP = 256,
	OPTION_RTOL,
	OPTION_ATOL,
	OPTION_WHOLE_STEPS,
	OPTION_ASSEMBLE,
	OPTION_FORMULATION,
	OPTION_UPDATE,
	OPTION_RETAIN,
	OPTION_UNRETAINED,
	OPTION_THREADS,
	OPTION_BRANCHES,
	OPTION_CROSS_LOOPS,
	OPTION_FLUSH,
	OPTION_REPLAY,
	OPTION_NO_REPLAY,
	OPTION_LIVE,
	OPTION_NO_BROWSER,
	OPTION_WAIT,
	OPTION_STAY,
	OPTION_WHEN_FULL,
	OPTION_REAL_TIME,
	OPTION_AHEAD,
	OPTION_CHECKPOINT,
	OPTION_CHECKPOINT_EVERY,
	OPTION_RESTART,
	OPTION_DISTRIBUTE,
	OPTION_LOST_AFTER,
	OPTION_PARTS,
	OPTION_STRICT,
	OPTION_NO_CODE
};

static const struct option long_options[] = {
	{"out", required_argument, NULL, 'o'},
	{"output", required_argument, NULL, 'o'},
	{"plot", required_argument, NULL, 'p'},
	{"signal", required_argument, NULL, 's'},
	{"duration", required_argument, NULL, 'd'},
	{"interval", required_argument, NULL, 'i'},
	{"method", required_argument, NULL, 'm'},
	{"step", required_argument, NULL, OPTION_STEP},
	{"rtol", required_argument, NULL, OPTION_RTOL},
	{"atol", required_argument, NULL, OPTION_ATOL},
	{"whole-steps", optional_argument, NULL, OPTION_WHOLE_STEPS},
	{"assemble", optional_argument, NULL, OPTION_ASSEMBLE},
	{"formulation", required_argument, NULL, OPTION_FORMULATION},
	{"update", required_argument, NULL, OPTION_UPDATE},
	{"retain", required_argument, NULL, OPTION_RETAIN},
	{"unretained", required_argument, NULL, OPTION_UNRETAINED},
	{"threads", required_argument, NULL, OPTION_THREADS},
	{"branches", required_argument, NULL, OPTION_BRANCHES},
	{"cross-loops", required_argument, NULL, OPTION_CROSS_LOOPS},
	{"flush", required_argument, NULL, OPTION_FLUSH},
	{"replay", required_argument, NULL, OPTION_REPLAY},
	{"no-replay", no_argument, NULL, OPTION_NO_REPLAY},
	{"live", optional_argument, NULL, OPTION_LIVE},
	{"no-browser", no_argument, NULL, OPTION_NO_BROWSER},
	{"wait", no_argument, NULL, OPTION_WAIT},
	{"stay", no_argument, NULL, OPTION_STAY},
	{"when-full", required_argument, NULL, OPTION_WHEN_FULL},
	{"real-time", optional_argument, NULL, OPTION_REAL_TIME},
	{"ahead", required_argument, NULL, OPTION_AHEAD},
	{"checkpoint", required_argument, NULL, OPTION_CHECKPOINT},
	{"checkpoint-every", required_argument, NULL, OPTION_CHECKPOINT_EVERY},
	{"restart", required_argument, NULL, OPTION_RESTART},
	{"distribute", optional_argument, NULL, OPTION_DISTRIBUTE},
	{"lost-after", required_argument, NULL, OPTION_LOST_AFTER},
	{"parts", no_argument, NULL, OPTION_PARTS},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"no-code", no_argument, NULL, OPTION_NO_CODE},
	{"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* Options that are quantities: where they go, and what a number without unit is in. */
static const struct {
	int option;
	size_t offset;
	const char *unit;
} quantities[] = {
	{'d', offsetof(RunOptions, duration), "s"},
	{'i', offsetof(RunOptions, interval), "s"},
	{OPTION_STEP, offsetof(RunOptions, step), "s"},
	{OPTION_RTOL, offsetof(RunOptions, rtol), ""},
	{OPTION_ATOL, offsetof(RunOptions, atol), ""},
	{OPTION_UPDATE, offsetof(RunOptions, update), "s"},
	{OPTION_THREADS, offsetof(RunOptions, threads), ""},
	{OPTION_BRANCHES, offsetof(RunOptions, branches), ""},
	{OPTION_FLUSH, offsetof(RunOptions, flush), "s"},
	{OPTION_REPLAY, offsetof(RunOptions, replay), "s"},
	{OPTION_CHECKPOINT_EVERY, offsetof(RunOptions, checkpoints.every), "s"},
	{OPTION_AHEAD, offsetof(RunOptions, ahead), "s"},
	{OPTION_LOST_AFTER, offsetof(RunOptions, lost_after), "s"},
};

/* Exit code, or -1: it is no quantity. */
static int set_quantity(RunOptions *options, int option, const char *value) {
	for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
		if (quantities[i].option == option)
			return option_quantity("run", option_name(long_options, option), value, quantities[i].unit,
			                       (double *)(void *)((char *)options + quantities[i].offset));
	return -1;
}

/* --formulation, --unretained, --retain. */
static int set_formulation(RunOptions *options, int option, const char *value) {
	switch (option) {
	case OPTION_FORMULATION:
		options->formulation = strcmp(value, "system") == 0 ? CAL_FORMULATION_SYSTEM : CAL_FORMULATION_ORDER_N;
		return options->formulation || strcmp(value, "order-n") == 0
		           ? EXIT_OK
		           : say_usage("run", "--formulation is order-n or system, not '%s'", value);
	case OPTION_UNRETAINED:
		options->unretained = strcmp(value, "bounded") == 0 ? CAL_UNRETAINED_BOUNDED : CAL_UNRETAINED_FROZEN;
		return options->unretained || strcmp(value, "frozen") == 0
		           ? EXIT_OK
		           : say_usage("run", "--unretained is frozen or bounded, not '%s'", value);
	default:
		return option_frequency(value, &options->retain)
		           ? EXIT_OK
		           : say_usage("run", "--retain: write a frequency with its unit, '40 Hz' or '250 rad/s', not '%s'",
		                       value);
	}
}

/* Options without a value; false: it is another one. */
static bool set_flag(RunOptions *options, int option) {
	switch (option) {
	case OPTION_NO_BROWSER:
		options->no_browser = true;
		return true;
	case OPTION_WAIT:
		options->wait = true;
		return true;
	case OPTION_STAY:
		options->stay = true;
		return true;
	case OPTION_NO_REPLAY:
		options->no_replay = true;
		return true;
	case OPTION_PARTS:
		options->parts = true;
		return true;
	case OPTION_STRICT:
		options->strict = true;
		return true;
	case 'j':
		options->json = true;
		return true;
	case 'q':
		options->quiet = true;
		return true;
	case OPTION_NO_CODE:
		options->no_code = true;
		return true;
	default:
		return false;
	}
}

static int set_option(RunOptions *options, int option, const char *value) {
	const int code = set_quantity(options, option, value);
	if (code >= 0)
		return code;
	if (set_flag(options, option))
		return EXIT_OK;
	switch (option) {
	case 'o':
		options->out = value;
		return EXIT_OK;
	case 'p':
		options->svg = value;
		return EXIT_OK;
	case 'm':
		options->method = value;
		return EXIT_OK;
	case OPTION_CROSS_LOOPS:
		options->cross_loops = value;
		return EXIT_OK;
	case OPTION_CHECKPOINT:
		options->checkpoints.path = value;
		return EXIT_OK;
	case OPTION_RESTART:
		options->checkpoints.restart = value;
		return EXIT_OK;
	case OPTION_DISTRIBUTE:
		options->distribute = true;
		options->branches_forced = value != NULL;
		return !value || strcmp(value, "forced") == 0
		           ? EXIT_OK
		           : say_usage("run", "--distribute stands alone, or is --distribute=forced, not '%s'", value);
	case 's':
		if (options->recorded_count == MAX_SIGNALS)
			return say_usage("run", "more than %d signals", MAX_SIGNALS);
		options->recorded[options->recorded_count++] = value;
		return EXIT_OK;
	case OPTION_WHOLE_STEPS:
		options->whole_steps = value ? -1 : 1;
		return !value || strcmp(value, "no") == 0
		           ? EXIT_OK
		           : say_usage("run", "--whole-steps stands alone, or is --whole-steps=no, not '%s'", value);
	case OPTION_ASSEMBLE:
		options->assemble = INFINITY;
		return !value || (parse_number(value, &options->assemble) && options->assemble > 0)
		           ? EXIT_OK
		           : say_usage("run", "--assemble takes an angle above zero in rad, not '%s'", value);
	case OPTION_REAL_TIME:
		options->real_time = 1;
		return !value || (parse_number(value, &options->real_time) && options->real_time > 0)
		           ? EXIT_OK
		           : say_usage("run", "--real-time takes a rate above zero, not '%s'", value);
	case OPTION_LIVE:
		options->live = true;
		return !value || (parse_number(value, &options->live_port) && options->live_port <= 65535)
		           ? EXIT_OK
		           : say_usage("run", "--live takes the number of a port, not '%s'", value);
	case OPTION_WHEN_FULL:
		options->when_full_set = true;
		options->when_full = strcmp(value, "drop") == 0 ? CAL_RESULTS_DROP : CAL_RESULTS_WAIT;
		return strcmp(value, "drop") == 0 || strcmp(value, "wait") == 0
		           ? EXIT_OK
		           : say_usage("run", "--when-full is wait or drop, not '%s'", value);
	case OPTION_FORMULATION:
	case OPTION_UNRETAINED:
	case OPTION_RETAIN:
		return set_formulation(options, option, value);
	default:
		return EXIT_USAGE;
	}
}

/* Of a run on ranks. */
static int check_ranks(const RunOptions *options) {
	if (options->distribute && (options->live || options->real_time > 0 || strcmp(options->path, "-") == 0))
		return say_usage("run", "--distribute goes with a model file, and without --live and --real-time");
	if (options->parts && !options->distribute)
		return say_usage("run", "--parts is for the ranks of --distribute; without, one file has everything");
	if (options->parts && options->when_full == CAL_RESULTS_DROP)
		return say_usage("run", "--parts goes with --when-full wait: ranks would drop different records");
	return -1;
}

int run_options_parse(RunOptions *options, int argc, char **argv) {
	*options = (RunOptions){.duration = NAN,
	                        .interval = NAN,
	                        .step = NAN,
	                        .rtol = NAN,
	                        .atol = NAN,
	                        .assemble = NAN,
	                        .formulation = -1,
	                        .unretained = -1,
	                        .update = NAN,
	                        .retain = NAN,
	                        .threads = NAN,
	                        .branches = NAN,
	                        .lost_after = 60};
	for (int option; (option = getopt_long(argc, argv, "o:p:s:d:i:m:qh", long_options, NULL)) != -1;) {
		if (option == 'h') {
			print_help();
			return EXIT_OK;
		}
		const int code = option == '?' ? option_wrong("run", argv, long_options) : set_option(options, option, optarg);
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
	if ((options->wait || options->stay) && !options->live)
		return say_usage("run", "%s needs --live: there is no page without it", options->wait ? "--wait" : "--stay");
	if (options->live && options->real_time > 0)
		return say_usage("run", "--live has a pace of its own; leave --real-time out");
	if (options->ahead > 0 && options->real_time == 0)
		return say_usage("run", "--ahead needs --real-time: without a pace there is nothing to be ahead of");
	if (options->plotted_count && !options->svg)
		return say_usage("run", "signals after FILE are for a plot; add --plot FILE.svg, or use --signal");
	int on_stdout = options->json + is_stdout(options->out) + is_stdout(options->svg);
	if (on_stdout > 1)
		return say_usage("run", "only one of CSV, plot and JSON summary can go to stdout");
	if (options->checkpoints.every > 0 && !options->checkpoints.path)
		return say_usage("run", "--checkpoint-every needs --checkpoint FILE");
	return check_ranks(options);
}

static void override(double *setting, double option) {
	if (!isnan(option))
		*setting = option;
}

/* Threads or branches; an option that is not given leaves what the file says. */
static bool override_workers(int *setting, double option) { return isnan(option) || branches_parse(option, setting); }

static int apply_formulation(const RunOptions *options, CalFormulationOptions *f) {
	const bool asked = options->formulation == CAL_FORMULATION_SYSTEM;
	if (options->formulation == CAL_FORMULATION_ORDER_N)
		*f = (CalFormulationOptions){0};
	if (asked)
		f->kind = CAL_FORMULATION_SYSTEM;
	if (f->kind != CAL_FORMULATION_SYSTEM &&
	    (!isnan(options->update) || !isnan(options->retain) || options->unretained >= 0))
		return say_usage("run", "--update, --retain and --unretained need --formulation system");
	override(&f->update, options->update);
	override(&f->retain, options->retain);
	if (options->unretained >= 0)
		f->unretained = (CalUnretained)options->unretained;
	return EXIT_OK;
}

int run_options_apply(const RunOptions *options, CalRunSettings *settings) {
	if (!override_workers(&settings->threads, options->threads) ||
	    !override_workers(&settings->branches, options->branches))
		return say_usage("run", "--threads and --branches take a whole number from 1 to %d", BRANCHES_MOST);
	if (options->cross_loops && !cross_loops_parse(options->cross_loops, &settings->cross_loops))
		return say_usage("run", "--cross-loops is auto, never or always, not '%s'", options->cross_loops);
	if (options->method && cal_method_find(options->method, &settings->method.method) != 0) {
		char names[200];
		cal_method_names(names, sizeof names);
		return say_usage("run", "there is no method '%s'; use %s", options->method, names);
	}
	override(&settings->duration, options->duration);
	override(&settings->method.step, options->step);
	override(&settings->method.rtol, options->rtol);
	override(&settings->method.atol, options->atol);
	override(&settings->assembly_limit, options->assemble);
	if (options->whole_steps)
		settings->whole_steps = options->whole_steps;
	const int code = apply_formulation(options, &settings->formulation);
	if (code != EXIT_OK)
		return code;
	if (settings->duration > 0)
		return EXIT_OK;
	say_error(input_name(options->path),
	          "there is no time to simulate; give run: {duration: ...} in the file, or --duration");
	return EXIT_INPUT;
}
