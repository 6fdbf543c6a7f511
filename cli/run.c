// SPDX-License-Identifier: Apache-2.0
/*
 * run.c — `calder run`: integrates a model, records signals, and says how well it went.
 *
 * The file gives the method, the duration, and the streams with their signals and intervals; options override each of
 * them. Signals named after FILE are those of the plot; they are recorded too, in the first stream.
 */
#define _GNU_SOURCE // isatty, fileno, open_memstream

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "doubts.h"
#include "interrupt.h"
#include "live.h"
#include "output.h"
#include "ranks.h"
#include "read_options.h"
#include "replay.h"
#include "record.h"
#include "run_options.h"
#include "summary.h"

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

static int add_signals(CalSampler *sampler, CalSim *sim, Names names, const char *path) {
	for (int i = 0; i < names.count; i++) {
		CalError error = {0};
		const CalStatus status = cal_sampler_add(sampler, sim, names.items[i], &error);
		if (status != CAL_OK)
			return say_status(path, status, &error);
	}
	return EXIT_OK;
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

/* Whether a controller, a filter or a sensor samples: such a run has the same bits for any outputs. */
static bool samples(CalSim *sim) {
	CalDeviceInfo info;
	for (int i = 0; cal_sim_device(sim, i, &info) == CAL_OK; i++)
		if (info.sample_period > 0)
			return true;
	return false;
}

/* Signals that are named by an option make a single stream, with the interval of the first one of the file. */
static int set_streams(const RunOptions *options, const CalRunSettings *settings, Record *record, CalSim *sim,
                       const char *path) {
	int count = options->recorded_count || settings->stream_count < 1 ? 1 : settings->stream_count, homeless = 0;
	double start = cal_sim_time(sim);
	int code = record_create(record, count, start, start + settings->duration);
	record->whole_steps = settings->whole_steps ? settings->whole_steps > 0 : samples(sim);
	for (int i = 0; i < count; i++)
		homeless += options->recorded_count || i >= settings->stream_count || !settings->streams[i].file;
	if (code == EXIT_OK && homeless > 1 && is_stdout(options->out))
		return say_usage("run", "%d streams cannot all go to stdout; name a file with -o", homeless);
	for (int i = 0; i < count && code == EXIT_OK; i++) {
		code = set_stream(options, settings, &record->streams[i], i, homeless > 1);
		if (code == EXIT_OK)
			code = add_signals(record->streams[i].sampler, sim, recorded_names(options, settings, i), path);
	}
	if (code == EXIT_OK)
		code = add_signals(record->streams[0].sampler, sim, plotted_names(options, settings), path);
	const char *h5 = NULL;
	for (int i = 0; i < count && code == EXIT_OK && !h5; i++)
		h5 = record->streams[i].path && cal_results_is_hdf5(record->streams[i].path) ? record->streams[i].path : NULL;
	if (!h5 || options->no_replay)
		return code;
	RecordStream *replay = record_add(record);
	if (!replay)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	return replay_set_stream(record, replay, sim, options->replay, h5, path);
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

/* At the start, at the end, and some times between unless the clock sets the pace. */
static CalStatus examine(const Record *record, Summary *summary, CalSim *sim) {
	enum { TIMES = 200 };
	const double t = cal_sim_time(sim),
				 next = record->start + summary->examined * (record->end - record->start) / TIMES;
	if (t < record->end && (t < next || (summary->paced && summary->examined > 0)))
		return CAL_OK;
	summary->examined++;
	return cal_sim_examine(sim);
}

static int take_sample(Record *record, Summary *summary, CalSim *sim) {
	int code = record_sample(record, sim, summary->path);
	if (code == EXIT_OK)
		code = record_events(record);
	if (code == EXIT_OK)
		code = say_status(summary->path, summary_watch(summary, sim), NULL);
	if (code == EXIT_OK)
		code = say_status(summary->path, examine(record, summary, sim), NULL);
	return code;
}

/* What sets the pace of a run: nothing, the clock, or a page that watches it. */
typedef struct Pace {
	RealTime clock;
	Live *page;   // NULL: none
	bool lingers; // at the end it waits for a page to return to another moment
} Pace;

static CalStatus advance(Pace *pace, CalSim *sim, const Record *record, bool every_step, CalError *error) {
	const double next = record_next(record);
	if (pace->page)
		return live_step(pace->page, sim, next, error);
	if (pace->clock.rate > 0)
		return realtime_step(&pace->clock, sim, next, error);
	if (record->whole_steps)
		return every_step ? cal_sim_step(sim, record->end, error)
		                  : cal_sim_advance_past(sim, record_next_step(record), record->end, error);
	return every_step ? cal_sim_step(sim, next, error) : cal_sim_advance(sim, next, error);
}

static int integrate(Record *record, Summary *summary, CalSim *sim, Pace *pace, Checkpoints *kept, RunRanks *ranks,
                     bool progress) {
	double start = record->start, end = record->end, shown = -INFINITY;
	bool every_step = record_wants_steps(record);
	int code = ranks_agree(ranks, take_sample(record, summary, sim));
	if (pace->clock.rate > 0)
		realtime_start(&pace->clock, sim);
	while (code == EXIT_OK && (cal_sim_time(sim) < end || (pace->lingers && live_linger(pace->page, sim)))) {
		CalError error = {0};
		const double before = cal_sim_time(sim);
		const double next = record->whole_steps ? record_next_step(record) : record_next(record);
		record_watch(record, sim, summary->path);
		CalStatus status = advance(pace, sim, record, every_step, &error);
		if (progress && cal_sim_time(sim) - shown > 0.01 * (end - start)) {
			shown = cal_sim_time(sim);
			show_progress(shown - start, end - start);
		}
		if (status == CAL_STOPPED) { // an end in order: the last sample is now
			record->end = cal_sim_time(sim);
			code = ranks_agree(ranks, take_sample(record, summary, sim));
			break;
		}
		if (cal_sim_time(sim) < before)
			record_return(record, cal_sim_time(sim));
		if (status != CAL_OK && pace->lingers && live_recover(pace->page, sim, error.text)) {
			record_return(record, cal_sim_time(sim));
			continue;
		}
		if (status != CAL_OK) {
			if (progress)
				clear_progress();
			record_events(record);
			return ranks_failed(ranks, sim, summary->path, kept->path, status, &error);
		}
		code = record->watched;
		if (code == EXIT_OK && (cal_sim_time(sim) >= next || (every_step && cal_sim_time(sim) > before)))
			code = take_sample(record, summary, sim);
		kept->signal = interrupt_caught();
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
	CalSetup *setup;
	const CalSetup *model; // the same, whoever owns it
} Input;

/* Results hold the whole model as a model file: of one with subsystems and of a robot file, the text that is written out. */
static void write_out(Input *input) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const bool written = out && cal_model_file_write(input->setup, out, NULL) == CAL_OK;
	if (out && fclose(out) == 0 && written) {
		free(input->text);
		input->text = text;
	} else {
		free(text);
	}
}

/* A file that cannot be opened is left to the library, which says why. */
static int read_input(const char *path, Input *input) {
	*input = (Input){.path = input_name(path)};
	bool from_stdin = strcmp(path, "-") == 0;
	struct stat about;
	const bool readable =
		from_stdin || (stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)));
	FILE *in = from_stdin ? stdin : readable ? fopen(path, "rb") : NULL;
	size_t length = 0;
	if (!in)
		return input_open(path, &input->setup);
	input->text = input_read(in, INPUT_MOST, &length);
	bool bad = ferror(in) != 0;
	if (!from_stdin)
		fclose(in);
	if (bad && !from_stdin)
		return input_open(path, &input->setup);
	CalError error = {0};
	CalStatus status =
		input->text ? cal_model_parse(input->text, length, input->path, read_options(), NULL, &input->setup, &error)
					: CAL_ERR_MEMORY;
	if (status == CAL_OK && (cal_setup_instance_count(input->setup) > 0 || cal_setup_format(input->setup)[0]))
		write_out(input);
	if (status == CAL_OK)
		import_remark(input->path, input->setup);
	say_file_warnings(input->path, input->setup);
	return say_status(input->path, status, &error);
}

static void input_free(Input *input) {
	cal_setup_destroy(input->setup);
	free(input->text);
}

/* No file that the run reads is written, and none twice; a checkpoint may take the place of the one that is gone on from. */
static int spare_files(const RunOptions *options, const Record *record, const Input *input) {
	const Written plot = {options->svg, "--plot"}, checkpoint = {options->checkpoints.path, "--checkpoint"};
	int code = outputs_differ("run", (const Written[]){plot, checkpoint}, 2);
	if (code == EXIT_OK)
		code = output_spares_model("run", plot, options->path, input->model);
	if (code == EXIT_OK)
		code = output_spares_model("run", checkpoint, options->path, input->model);
	if (code == EXIT_OK)
		code = output_spares("run", plot, options->checkpoints.restart, "the checkpoint");
	for (int i = 0; i < record->stream_count && code == EXIT_OK; i++) {
		const Written samples = {record->streams[i].path, "the output"};
		code = outputs_differ("run", (const Written[]){samples, plot}, 2);
		if (code == EXIT_OK)
			code = outputs_differ("run", (const Written[]){samples, checkpoint}, 2);
		if (code == EXIT_OK)
			code = output_spares_model("run", samples, options->path, input->model);
		if (code == EXIT_OK)
			code = output_spares("run", samples, options->checkpoints.restart, "the checkpoint");
	}
	return code;
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
	record->parameters = pace->page ? cal_sim_parameter_count(sim) : 0;
	record->keep = options->svg && !kept.elsewhere;
	if (code == EXIT_OK)
		code = ranks_share_files(options->ranks, record, sim);
	if (code == EXIT_OK)
		code = spare_files(options, record, input);
	if (code == EXIT_OK)
		code = checkpoints_begin(&kept, sim, record);
	if (code == EXIT_OK)
		code = record_open(record, &results, summary->path);
	code = ranks_agree_aloud(options->ranks, code, true);
	if (code != EXIT_OK) {
		checkpoints_end(&kept);
		return code;
	}
	if (pace->page)
		code = live_open(pace->page, record->streams[0].sampler, sim, summary->title, (int)options->live_port,
		                 !options->no_browser, record->results != NULL, summary->path);
	pace->lingers = pace->page && options->stay && !record->results;
	if (code == EXIT_OK && pace->page && options->wait)
		live_wait(pace->page, sim);
	if (code == EXIT_OK)
		code = integrate(record, summary, sim, pace, &kept, options->ranks, progress);
	live_end(pace->page, sim, code == EXIT_OK ? "the run is over" : "the run has failed");
	int finish_code = record_finish(record, sim, summary->path);
	code = code == EXIT_OK ? finish_code : code;
	if (code == EXIT_OK)
		code = checkpoints_finish(&kept, sim);
	checkpoints_end(&kept);
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
		code = live_create(&pace.page, loaded->setup, loaded->sim, loaded->scenario, summary.path);
	if (code == EXIT_OK)
		code = run_recorded(options, settings, input, &record, &summary, &pace, loaded->sim);
	if (code == EXIT_OK)
		code = count_streams(options, &record, &summary, streams);
	if (code == EXIT_OK)
		code = ranks_sum_up(options->ranks, loaded->sim, &summary.ranks);
	if (code == EXIT_OK && ranks_is_first(options->ranks))
		print_summary(options, &summary, loaded->sim);
	if (ranks_is_first(options->ranks))
		doubts_warn(loaded->sim, summary.path);
	if (code == EXIT_OK && options->strict && cal_sim_doubt_count(loaded->sim) > 0)
		code = EXIT_CHECK;
	if (options->stay)
		live_stay(pace.page, loaded->sim);
	record_free(&record);
	summary_free(&summary);
	live_destroy(pace.page);
	free(streams);
	return code;
}

/* Of all that has to be the same on every rank and that the simulation does not know: files and options. */
static uint64_t fingerprint(const RunOptions *options, const CalRunSettings *settings, const Input *input) {
	const double numbers[] = {settings->duration,         isnan(options->interval) ? -1 : options->interval,
	                          options->checkpoints.every, options->replay,
	                          options->no_replay,         options->parts};
	const char *texts[] = {input->text, options->out, options->svg, options->checkpoints.path,
	                       options->checkpoints.restart};
	uint64_t hash = ranks_hash(UINT64_C(0xcbf29ce484222325), numbers, sizeof numbers);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		hash = ranks_hash_text(hash, texts[i]);
	for (int i = 0; i < options->recorded_count; i++)
		hash = ranks_hash_text(hash, options->recorded[i]);
	for (int i = 0; i < options->plotted_count; i++)
		hash = ranks_hash_text(hash, options->plotted[i]);
	const char *path = options->checkpoints.restart;
	struct stat about;
	FILE *restart = path && stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
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
	CalRunSettings settings = cal_setup_run(input.setup);
	if (code == EXIT_OK)
		code = run_options_apply(options, &settings);
	Loaded loaded = {0};
	CalRunSettings here = settings; // a rank works with one thread, and cuts for all
	if (options->ranks) {
		options->ranks->branches = settings.branches;
		options->ranks->cross_loops = settings.cross_loops;
		here.threads = here.branches = 0;
	}
	loaded.runs_code = true;
	loaded.refuses_code = options->no_code;
	if (!options->checkpoints.path && !options->ranks) // a checkpoint is taken where an advance ends by itself
		loaded.stop = interrupt_flag();
	input.model = input.setup;
	if (code == EXIT_OK) {
		code = loaded_create(&loaded, input.setup, input.path, &here);
		input.setup = NULL; // loaded owns it
	}
	code = ranks_agree_aloud(options->ranks, code, false);
	if (code == EXIT_OK && options->ranks)
		code = ranks_distribute(options->ranks, loaded.sim, fingerprint(options, &settings, &input), input.path);
	if (code == EXIT_OK)
		code = run_loaded(options, &settings, &input, &loaded);
	loaded_destroy(&loaded);
	input_free(&input);
	return code;
}

int command_run(int argc, char **argv) {
	RunOptions options;
	int code = run_options_parse(&options, argc, argv);
	if (code >= 0 || !options.path)
		return code;
	RunRanks ranks = {.forced = options.branches_forced, .parts = options.parts, .lost_after = options.lost_after};
	options.ranks = options.distribute ? &ranks : NULL;
	code = ranks_open(options.ranks);
	if (code == EXIT_OK)
		code = load_and_run(&options);
	return ranks_close(options.ranks, code);
}
