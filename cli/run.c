// SPDX-License-Identifier: Apache-2.0
/*
 * run.c — `calder run`: integrates a model, records signals, and says how well it went.
 *
 * The file gives the method, the duration, and the streams with their signals and intervals; options override each of
 * them. Signals named behind FILE are those of the plot; they are recorded too, in the first stream.
 */
#define _GNU_SOURCE // getopt_long, isatty, fileno, SIGXFSZ

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "branches.h"
#include "checkpoint.h"
#include "live.h"
#include "ranks.h"
#include "replay.h"
#include "record.h"
#include "summary.h"

static const char help[] =
	"usage: calder run [OPTION]... FILE [SIGNAL]...\n"
	"\n"
	"Integrates the model in FILE (YAML or JSON, docs/format.md; - reads stdin) and prints a summary.\n"
	"  -o, --out FILE         samples as HDF5 (FILE ends in .h5 or .hdf5) or CSV (- for stdout); docs/results.md\n"
	"  -p, --plot FILE        picture (SVG; PNG if FILE ends so) of the SIGNALs named behind FILE, or of those of the file\n"
	"  -s, --signal SIGNAL    record this signal instead of those of the file; may be repeated\n"
	"  -d, --duration S       end after S seconds\n"
	"  -i, --interval S       one sample every S seconds (0: every step)\n"
	"  -m, --method NAME      euler-cromer, rk4, implicit, implicit-midpoint or dopri5\n"
	"      --step S           step size (dopri5: first step)\n"
	"      --rtol R, --atol A tolerances of dopri5\n"
	"      --threads N        share the work of a step among N threads, where that pays; docs/parallel.md\n"
	"      --branches P       cut the model for P workers (default N): the same bits for any number of threads\n"
	"      --replay S         what `calder view` needs every S seconds (default: with other samples, 60 a second at most)\n"
	"      --no-replay        HDF5 without that\n"
	"      --flush S          hand what is sampled to the disk every S seconds of wall time (1)\n"
	"      --when-full MODE   if the disk is too slow: wait, losing nothing (default), or drop, never waiting\n"
	"      --real-time[=R]    paced to the wall clock, R simulated seconds a second (1): counts late steps, drops\n"
	"                         samples rather than wait for the disk, locks memory and takes priority if permitted\n"
	"      --ahead S          steps may be ready up to S seconds (of wall time) before they are due (0); docs/realtime.md\n"
	"      --checkpoint FILE  keep a checkpoint: at the end, and when interrupted (Ctrl-C, SIGTERM); docs/checkpoints.md\n"
	"      --checkpoint-every S  and every S simulated seconds, at the next sample\n"
	"      --restart FILE     go on from a checkpoint of the same model, bit by bit; -o gets the samples from there on\n"
	"      --live[=PORT]      in the browser while it runs, at real time unless the page asks for another speed: pause, step,\n"
	"                         push bodies, move joints (docs/viewer.md); --no-browser only says the address\n"
	"      --distribute[=forced]  on the ranks that mpirun started (mpirun -np 4 calder run ...); forced: the model is cut\n"
	"                         even where that does not pay (docs/distributed.md)\n"
	"      --lost-after S     silence of another rank that is taken for its end (60)\n"
	"      --json             summary as JSON\n"
	"  -q, --quiet            no progress bar and no summary\n"
	"signals: q, u, udot, force (all joints), q:JOINT and so on, pose, velocity, acceleration (all nodes),\n"
	"         pose:BODY/NODE and so on, node:BODY/NODE (pose and velocity), wrench:BODY/NODE (loads),\n"
	"         deflection:BODY/NODE, reaction (all joints), reaction:JOINT, energy, momentum, loop:LOOP (its\n"
	"         wrench), residual (of all loops), residual:LOOP; and single columns of them: momentum:Lz,\n"
	"         u:flight.3, residual:pin:dx; device (outputs of all), device:NAME, event (how often each has\n"
	"         happened), event:NAME, balance (energy account), total_momentum (of all groups together)\n"
	"\n"
	"example: calder run examples/pendulum.yaml -o pendulum.h5 --plot pendulum.svg q energy\n";

enum { MAX_SIGNALS = 256 };

typedef struct RunOptions {
	const char *path;
	const char *out, *svg;
	const char *recorded[MAX_SIGNALS]; // by --signal
	int recorded_count;
	const char *plotted[MAX_SIGNALS]; // behind FILE
	int plotted_count;
	const char *method;
	double duration, interval, step, rtol, atol; // NAN: as the file says
	double threads, branches;                    // likewise
	double flush;                                // [s]; 0: default
	CalResultsFull when_full;
	bool when_full_set;
	double real_time; // rate; 0: as fast as it can
	double ahead;     // [s] of the wall clock
	bool live, no_browser;
	double live_port; // 0: any that is free
	double replay;    // interval of the viewer's stream; 0: along with the others
	bool no_replay;
	Checkpoints checkpoints;
	double lost_after; // [s]
	RunRanks *ranks;   // NULL: one process
	bool distribute, cut_forced;
	bool json, quiet;
} RunOptions;

/* ---- options ----------------------------------------------------------------------------------- */

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
	OPTION_THREADS,
	OPTION_BRANCHES,
	OPTION_FLUSH,
	OPTION_REPLAY,
	OPTION_NO_REPLAY,
	OPTION_LIVE,
	OPTION_NO_BROWSER,
	OPTION_WHEN_FULL,
	OPTION_REAL_TIME,
	OPTION_AHEAD,
	OPTION_CHECKPOINT,
	OPTION_CHECKPOINT_EVERY,
	OPTION_RESTART,
	OPTION_DISTRIBUTE,
	OPTION_LOST_AFTER
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
	{"threads", required_argument, NULL, OPTION_THREADS},
	{"branches", required_argument, NULL, OPTION_BRANCHES},
	{"flush", required_argument, NULL, OPTION_FLUSH},
	{"replay", required_argument, NULL, OPTION_REPLAY},
	{"no-replay", no_argument, NULL, OPTION_NO_REPLAY},
	{"live", optional_argument, NULL, OPTION_LIVE},
	{"no-browser", no_argument, NULL, OPTION_NO_BROWSER},
	{"when-full", required_argument, NULL, OPTION_WHEN_FULL},
	{"real-time", optional_argument, NULL, OPTION_REAL_TIME},
	{"ahead", required_argument, NULL, OPTION_AHEAD},
	{"checkpoint", required_argument, NULL, OPTION_CHECKPOINT},
	{"checkpoint-every", required_argument, NULL, OPTION_CHECKPOINT_EVERY},
	{"restart", required_argument, NULL, OPTION_RESTART},
	{"distribute", optional_argument, NULL, OPTION_DISTRIBUTE},
	{"lost-after", required_argument, NULL, OPTION_LOST_AFTER},
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
	case OPTION_THREADS:
		return &options->threads;
	case OPTION_BRANCHES:
		return &options->branches;
	case OPTION_FLUSH:
		return &options->flush;
	case OPTION_REPLAY:
		return &options->replay;
	case OPTION_CHECKPOINT_EVERY:
		return &options->checkpoints.every;
	case OPTION_AHEAD:
		return &options->ahead;
	case OPTION_LOST_AFTER:
		return &options->lost_after;
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
		options->out = value;
		return EXIT_OK;
	case 'p':
		options->svg = value;
		return EXIT_OK;
	case 'm':
		options->method = value;
		return EXIT_OK;
	case OPTION_CHECKPOINT:
		options->checkpoints.path = value;
		return EXIT_OK;
	case OPTION_RESTART:
		options->checkpoints.restart = value;
		return EXIT_OK;
	case OPTION_DISTRIBUTE:
		options->distribute = true;
		options->cut_forced = value != NULL;
		return !value || strcmp(value, "forced") == 0
		           ? EXIT_OK
		           : say_usage("run", "--distribute stands alone, or is --distribute=forced, not '%s'", value);
	case 's':
		if (options->recorded_count == MAX_SIGNALS)
			return say_usage("run", "more than %d signals", MAX_SIGNALS);
		options->recorded[options->recorded_count++] = value;
		return EXIT_OK;
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
	case OPTION_NO_BROWSER:
		options->no_browser = true;
		return EXIT_OK;
	case OPTION_NO_REPLAY:
		options->no_replay = true;
		return EXIT_OK;
	case OPTION_WHEN_FULL:
		options->when_full_set = true;
		options->when_full = strcmp(value, "drop") == 0 ? CAL_RESULTS_DROP : CAL_RESULTS_WAIT;
		return strcmp(value, "drop") == 0 || strcmp(value, "wait") == 0
		           ? EXIT_OK
		           : say_usage("run", "--when-full is wait or drop, not '%s'", value);
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

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Exit code, or -1 to go on. */
static int parse_options(RunOptions *options, int argc, char **argv) {
	*options = (RunOptions){.duration = NAN,
	                        .interval = NAN,
	                        .step = NAN,
	                        .rtol = NAN,
	                        .atol = NAN,
	                        .threads = NAN,
	                        .branches = NAN,
	                        .lost_after = 60};
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
	if (options->live && options->real_time > 0)
		return say_usage("run", "--live has a pace of its own; leave --real-time out");
	if (options->ahead > 0 && options->real_time == 0)
		return say_usage("run", "--ahead needs --real-time: without a pace there is nothing to be ahead of");
	if (options->plotted_count && !options->svg)
		return say_usage("run", "signals behind FILE are for a plot; add --plot FILE.svg, or use --signal");
	int on_stdout = options->json + is_stdout(options->out) + is_stdout(options->svg);
	if (on_stdout > 1)
		return say_usage("run", "only one of CSV, plot and JSON summary can go to stdout");
	if (options->checkpoints.every > 0 && !options->checkpoints.path)
		return say_usage("run", "--checkpoint-every needs --checkpoint FILE");
	if (options->distribute && (options->live || options->real_time > 0 || strcmp(options->path, "-") == 0))
		return say_usage("run", "--distribute goes with a model file, and without --live and --real-time");
	return -1;
}

static void override(double *setting, double option) {
	if (!isnan(option))
		*setting = option;
}

/* Threads or branches; an option that is not given leaves what the file says. */
static bool override_workers(int *setting, double option) { return isnan(option) || branches_parse(option, setting); }

static int apply(const RunOptions *options, CalRunSettings *settings) {
	if (!override_workers(&settings->threads, options->threads) ||
	    !override_workers(&settings->branches, options->branches))
		return say_usage("run", "--threads and --branches take a whole number from 1 to %d", BRANCHES_MOST);
	if (options->method && cal_method_find(options->method, &settings->method.method) != 0)
		return say_usage("run", "there is no method '%s'; use euler-cromer, rk4, implicit, implicit-midpoint or dopri5",
		                 options->method);
	override(&settings->duration, options->duration);
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

/* Of a stream of the file, or of the only one where there is none. */
static Names recorded_names(const RunOptions *options, const CalRunSettings *settings, int stream) {
	if (options->recorded_count)
		return (Names){options->recorded, options->recorded_count};
	if (stream < settings->stream_count && settings->streams[stream].signal_count)
		return (Names){settings->streams[stream].signals, settings->streams[stream].signal_count};
	return (Names){default_recorded, sizeof default_recorded / sizeof default_recorded[0]};
}

static Names plotted_names(const RunOptions *options, const CalRunSettings *settings) {
	if (!options->svg)
		return (Names){NULL, 0};
	if (options->plotted_count)
		return (Names){options->plotted, options->plotted_count};
	if (options->recorded_count || (settings->stream_count && settings->streams[0].signal_count))
		return recorded_names(options, settings, 0);
	return (Names){default_plotted, sizeof default_plotted / sizeof default_plotted[0]};
}

static int add_signals(SignalSet *set, CalSim *sim, Names names, const char *path) {
	for (int i = 0; i < names.count; i++) {
		SignalFound found = signals_add(set, sim, names.items[i]);
		if (found == SIGNAL_FOUND)
			continue;
		char text[512];
		signals_complain(text, sizeof text, sim, names.items[i], found);
		say_error(path, text);
		return EXIT_INPUT;
	}
	return set->failed ? say_status(path, CAL_ERR_MEMORY, NULL) : EXIT_OK;
}

/* ---- streams ----------------------------------------------------------------------------------- */

static int set_stream(const RunOptions *options, const CalRunSettings *settings, RecordStream *stream, int index,
                      bool several) {
	const CalRunStream *from = index < settings->stream_count ? &settings->streams[index] : NULL;
	bool of_file = from && !options->recorded_count;
	stream->name = of_file ? from->name : "main";
	stream->interval = !isnan(options->interval) ? options->interval : from ? from->interval : 0;
	if (of_file && from->file)
		return record_set_path(stream, from->file, false);
	return options->out ? record_set_path(stream, options->out, several) : EXIT_OK;
}

/* Signals that are named by an option make a single stream, with the interval of the first one of the file. */
static int set_streams(const RunOptions *options, const CalRunSettings *settings, Record *record, CalSim *sim,
                       const char *path) {
	int count = options->recorded_count || settings->stream_count < 1 ? 1 : settings->stream_count, homeless = 0;
	double start = cal_sim_time(sim);
	int code = record_create(record, count, start, start + settings->duration);
	for (int i = 0; i < count; i++)
		homeless += options->recorded_count || i >= settings->stream_count || !settings->streams[i].file;
	if (code == EXIT_OK && homeless > 1 && is_stdout(options->out))
		return say_usage("run", "%d streams cannot all go to stdout; name a file with -o", homeless);
	for (int i = 0; i < count && code == EXIT_OK; i++) {
		code = set_stream(options, settings, &record->streams[i], i, homeless > 1);
		if (code == EXIT_OK)
			code = add_signals(&record->streams[i].set, sim, recorded_names(options, settings, i), path);
	}
	if (code == EXIT_OK)
		code = add_signals(&record->streams[0].set, sim, plotted_names(options, settings), path);
	const char *h5 = NULL;
	for (int i = 0; i < count && code == EXIT_OK && !h5; i++)
		h5 = record->streams[i].path && cal_results_is_hdf5(record->streams[i].path) ? record->streams[i].path : NULL;
	if (!h5 || options->no_replay)
		return code;
	return replay_set_stream(record, record_add(record), sim, options->replay, h5, path);
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
		code = record_events(record);
	if (code == EXIT_OK)
		code = say_status(summary->path, summary_watch(summary, sim), NULL);
	return code;
}

/* What sets the pace of a run: nothing, the clock, or a page that watches it. */
typedef struct Pace {
	RealTime clock;
	Live *page; // NULL: none
} Pace;

static bool is_paced(const Pace *pace) { return pace->page || pace->clock.rate > 0; }

static CalStatus advance(Pace *pace, CalSim *sim, double next, bool every_step, CalError *error) {
	if (pace->page)
		return live_step(pace->page, sim, next, error);
	if (pace->clock.rate > 0)
		return realtime_step(&pace->clock, sim, next, error);
	return every_step ? cal_sim_step(sim, next, error) : cal_sim_advance(sim, next, error);
}

static int integrate(Record *record, Summary *summary, CalSim *sim, Pace *pace, Checkpoints *kept, RunRanks *ranks,
                     bool progress) {
	double start = record->start, end = record->end, shown = -INFINITY;
	bool every_step = record_wants_steps(record);
	int code = ranks_agree(ranks, take_sample(record, summary, sim));
	if (pace->clock.rate > 0)
		realtime_start(&pace->clock, sim);
	while (code == EXIT_OK && cal_sim_time(sim) < end) {
		CalError error = {0};
		double next = record_next(record);
		CalStatus status = advance(pace, sim, next, every_step, &error);
		if (progress && cal_sim_time(sim) - shown > 0.01 * (end - start)) {
			shown = cal_sim_time(sim);
			show_progress(shown - start, end - start);
		}
		if (status == CAL_STOPPED) { // an end in order: the last sample is now
			record->end = cal_sim_time(sim);
			code = ranks_agree(ranks, take_sample(record, summary, sim));
			break;
		}
		if (status != CAL_OK) {
			if (progress)
				clear_progress();
			record_events(record);
			return ranks_failed(ranks, sim, summary->path, kept->path, status, &error);
		}
		if (every_step || !is_paced(pace) || cal_sim_time(sim) >= next)
			code = take_sample(record, summary, sim);
		kept->signal = checkpoints_caught();
		code = ranks_meet(ranks, code, &kept->signal);
		if (code == EXIT_OK && checkpoints_look(kept, sim, record))
			break;
	}
	if (pace->clock.rate > 0)
		realtime_end(&pace->clock, sim);
	if (progress)
		clear_progress();
	return code == EXIT_LOST ? ranks_failed(ranks, sim, summary->path, kept->path, CAL_ERR_LOST, NULL) : code;
}

static void print_summary(const RunOptions *options, const Summary *summary, CalSim *sim) {
	bool stdout_taken = is_stdout(options->svg);
	for (int i = 0; summary->streams && i < summary->stream_count; i++)
		stdout_taken |= is_stdout(summary->streams[i].file);
	if (options->json)
		summary_print_json(summary, sim, stdout);
	else if (!options->quiet)
		summary_print(summary, sim, stdout_taken ? stderr : stdout);
}

/* What was read: the file, and its text for the results. */
typedef struct Input {
	const char *path; // how messages call it
	char *text;
	CalFile *file;
} Input;

/* A file that cannot be opened is left to the library, which says why. */
/* Results hold the whole model: with subsystems, the text that has them written out. */
static void write_out(Input *input) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const bool written = out && cal_file_write(input->file, out, NULL) == CAL_OK;
	if (out && fclose(out) == 0 && written) {
		free(input->text);
		input->text = text;
	} else {
		free(text);
	}
}

static int read_input(const char *path, Input *input) {
	*input = (Input){.path = input_name(path)};
	bool from_stdin = strcmp(path, "-") == 0;
	FILE *in = from_stdin ? stdin : fopen(path, "rb");
	size_t length = 0;
	if (!in)
		return input_open(path, &input->file);
	input->text = input_read(in, &length);
	bool bad = ferror(in) != 0;
	if (!from_stdin)
		fclose(in);
	if (bad && !from_stdin)
		return input_open(path, &input->file);
	CalError error = {0};
	CalStatus status =
		input->text ? cal_file_parse(input->text, length, input->path, NULL, &input->file, &error) : CAL_ERR_MEMORY;
	if (status == CAL_OK && cal_file_instance_count(input->file) > 0)
		write_out(input);
	return say_status(input->path, status, &error);
}

static void input_free(Input *input) {
	cal_file_destroy(input->file);
	free(input->text);
}

/* All that needs the record to be open: the samples, then the picture, also of a run that failed halfway. */
static int run_recorded(const RunOptions *options, const CalRunSettings *settings, const Input *input, Record *record,
                        Summary *summary, Pace *pace, CalSim *sim) {
	Checkpoints kept = options->checkpoints;
	kept.on_ranks = options->ranks != NULL;
	kept.elsewhere = !ranks_is_first(options->ranks);
	Names plotted = plotted_names(options, settings);
	bool progress = !options->quiet && !kept.elsewhere && isatty(fileno(stderr)) && !getenv("CI");
	const bool drop = options->real_time > 0 && !options->when_full_set;
	CalResultsOptions results = {.when_full = drop ? CAL_RESULTS_DROP : options->when_full,
	                             .flush_s = options->flush,
	                             .sim = sim,
	                             .method = &settings->method,
	                             .title = summary->title,
	                             .model_name = input->path,
	                             .model_text = input->text};
	int code = set_streams(options, settings, record, sim, summary->path);
	record->scenario = summary->scenario;
	record->keep = options->svg && !kept.elsewhere;
	ranks_share_files(options->ranks, record);
	if (code == EXIT_OK)
		code = checkpoints_begin(&kept, sim, record);
	if (code == EXIT_OK)
		code = record_open(record, &results, summary->path);
	code = ranks_agree_aloud(options->ranks, code, true);
	if (code != EXIT_OK)
		return code;
	if (pace->page)
		code = live_open(pace->page, &record->streams[0].set, sim, summary->scenario, summary->title,
		                 (int)options->live_port, !options->no_browser, summary->path);
	if (code == EXIT_OK)
		code = integrate(record, summary, sim, pace, &kept, options->ranks, progress);
	live_end(pace->page, sim, code == EXIT_OK ? "the run is over" : "the run has failed");
	int finish_code = record_finish(record, summary->path);
	code = code == EXIT_OK ? finish_code : code;
	if (code == EXIT_OK)
		code = checkpoints_finish(&kept, sim);
	summary->samples = record_taken(record);
	if (record->keep && record->kept > 0) {
		const char *title = summary->title[0] ? summary->title : summary->path;
		int plot_code = record_plot(record, options->svg, title, plotted.items, plotted.count);
		code = code == EXIT_OK ? plot_code : code;
	}
	return code == EXIT_LOST ? code : ranks_agree(options->ranks, code);
}

/* How much each stream wrote, into streams[record->stream_count]. Returns an exit code. */
static int count_streams(const RunOptions *options, const Record *record, Summary *summary, SummaryStream *streams) {
	CalResultsCount *counts = calloc((size_t)record->stream_count, sizeof *counts);
	int code = counts ? EXIT_OK : say_status(summary->path, CAL_ERR_MEMORY, NULL);
	summary->streams = streams;
	if (code == EXIT_OK)
		code = ranks_count_streams(options->ranks, record, counts);
	for (int i = 0; code == EXIT_OK && streams && counts && i < record->stream_count; i++)
		if (record->streams[i].path && !record->streams[i].along)
			streams[summary->stream_count++] =
				(SummaryStream){.name = record->streams[i].name, .file = record->streams[i].path, .count = counts[i]};
	free(counts);
	return code;
}

static int run_loaded(const RunOptions *options, const CalRunSettings *settings, const Input *input, Loaded *loaded) {
	Record record = {0};
	Pace pace = {.clock = {.rate = options->real_time, .ahead = options->ahead}};
	Summary summary = {.path = input->path,
	                   .title = settings->title ? settings->title : "",
	                   .method = settings->method.method,
	                   .cut = settings->threads > 1 || settings->branches > 1,
	                   .svg = options->svg,
	                   .scenario = loaded->scenario,
	                   .paced = options->real_time > 0 ? &pace.clock : NULL};
	size_t most = (size_t)(settings->stream_count > 0 ? settings->stream_count : 1) + 1;
	SummaryStream *streams = calloc(most, sizeof *streams);
	int code = streams ? EXIT_OK : say_status(summary.path, CAL_ERR_MEMORY, NULL);
	if (code == EXIT_OK && options->live)
		code = live_create(&pace.page, loaded->file, loaded->sim, summary.path);
	if (code == EXIT_OK)
		code = run_recorded(options, settings, input, &record, &summary, &pace, loaded->sim);
	if (code == EXIT_OK)
		code = count_streams(options, &record, &summary, streams);
	if (code == EXIT_OK)
		code = ranks_sum_up(options->ranks, loaded->sim, &summary.ranks);
	if (code == EXIT_OK && ranks_is_first(options->ranks))
		print_summary(options, &summary, loaded->sim);
	record_free(&record);
	summary_free(&summary);
	live_destroy(pace.page);
	free(streams);
	return code;
}

/* Of all that has to be the same on every rank and that the simulation does not know: files and options. */
static uint64_t fingerprint(const RunOptions *options, const CalRunSettings *settings, const Input *input) {
	const double numbers[] = {settings->duration, isnan(options->interval) ? -1 : options->interval,
	                          options->checkpoints.every, options->replay, options->no_replay};
	const char *texts[] = {input->text, options->out, options->svg, options->checkpoints.path,
	                       options->checkpoints.restart};
	uint64_t hash = ranks_hash(UINT64_C(0xcbf29ce484222325), numbers, sizeof numbers);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		hash = ranks_hash_text(hash, texts[i]);
	for (int i = 0; i < options->recorded_count; i++)
		hash = ranks_hash_text(hash, options->recorded[i]);
	for (int i = 0; i < options->plotted_count; i++)
		hash = ranks_hash_text(hash, options->plotted[i]);
	FILE *restart = options->checkpoints.restart ? fopen(options->checkpoints.restart, "rb") : NULL;
	char bytes[4096];
	for (size_t got; restart && (got = fread(bytes, 1, sizeof bytes, restart)) > 0;)
		hash = ranks_hash(hash, bytes, got);
	if (restart)
		fclose(restart);
	return hash;
}

static int load_and_run(RunOptions *options) {
	Input input;
	int code = read_input(options->path, &input);
	CalRunSettings settings = cal_file_run(input.file);
	if (code == EXIT_OK)
		code = apply(options, &settings);
	Loaded loaded = {0};
	CalRunSettings here = settings; // a rank works with one thread, and cuts for all
	if (options->ranks) {
		options->ranks->branches = settings.branches;
		here.threads = here.branches = 0;
	}
	if (code == EXIT_OK) {
		code = loaded_create(&loaded, input.file, input.path, &here);
		input.file = NULL; // loaded owns it
	}
	code = ranks_agree_aloud(options->ranks, code, false);
	if (code == EXIT_OK)
		code = ranks_distribute(options->ranks, loaded.sim, fingerprint(options, &settings, &input), input.path);
	if (code == EXIT_OK)
		code = run_loaded(options, &settings, &input, &loaded);
	loaded_destroy(&loaded);
	input_free(&input);
	return code;
}

int command_run(int argc, char **argv) {
	RunOptions options;
	int code = parse_options(&options, argc, argv);
	if (code >= 0 || !options.path)
		return code;
	signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of a write, not the end
	RunRanks ranks = {.forced = options.cut_forced, .lost_after = options.lost_after};
	options.ranks = options.distribute ? &ranks : NULL;
	code = ranks_open(options.ranks);
	if (code == EXIT_OK)
		code = load_and_run(&options);
	return ranks_close(options.ranks, code);
}
