// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_case.c — one case of a campaign, from its model to its outputs.
 *
 * Samples are taken at multiples of the interval, at the times that outputs ask for, and at the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubts.h"
#include "campaign.h"

/* A signal that outputs are made of: a sampler of its own, whose second column it is. */
typedef struct Watched {
	const char *name;
	CalSampler *sampler;
	double row[2];
} Watched;

typedef struct CaseRun {
	const CalPlan *plan;
	CalPlanInfo info;
	Loaded loaded;
	Watched *watched; // [watched_count]
	int watched_count;
	int *of;                               // [output_count] which of them; -1: the time
	CalStatisticAccumulator *accumulators; // [output_count]
	double interval;                       // [s], 0: every step
	int64_t sample;                        // number of the next one
	CalSampler *series;                    //
	double *row;                           // of the series
	CalResults *results;
	double series_interval; // [s], 0: whenever a sample is taken
	int64_t series_sample;  // number of the next one
} CaseRun;

/* ---- setting up --------------------------------------------------------------------------------- */

static CalStatus set_error(CalError *error, const char *what, const char *name, const char *text) {
	snprintf(error->text, sizeof error->text, "%s \"%.100s\": %.500s", what, name, text);
	return CAL_ERR_INPUT;
}

/* Outputs are single numbers. */
static CalStatus check_single(const Watched *w, const CalPlanOutput *output, CalError *error) {
	char text[512];
	const int count = cal_sampler_column_count(w->sampler);
	if (count == 2)
		return CAL_OK;
	size_t used =
		(size_t)snprintf(text, sizeof text, "\"%.80s\" is %d numbers and one is wanted:", output->signal, count - 1);
	for (int i = 1; i < count && i <= 8 && used < sizeof text; i++) {
		CalSamplerColumn column;
		cal_sampler_column(w->sampler, i, &column);
		used += (size_t)snprintf(text + used, sizeof text - used, " %.40s%s", column.name,
		                         i + 1 == count ? ""
		                         : i == 8       ? ", ..."
		                                        : ",");
	}
	return set_error(error, "output", output->name, text);
}

/* Adds a signal of an output or of the series. */
static CalStatus add_signal(CaseRun *run, CalSampler *sampler, const char *signal, const char *what, const char *name,
                            CalError *error) {
	CalError why = {0};
	const CalStatus status = cal_sampler_add(sampler, run->loaded.sim, signal, &why);
	return status == CAL_ERR_INPUT ? set_error(error, what, name, why.text) : status;
}

static CalStatus watch(CaseRun *run, const CalPlanOutput *output, int *which, CalError *error) {
	*which = -1;
	if (strcmp(output->signal, "t") == 0)
		return CAL_OK;
	for (int i = 0; i < run->watched_count; i++)
		if (run->watched[i].name && strcmp(run->watched[i].name, output->signal) == 0) {
			*which = i;
			return CAL_OK;
		}
	Watched *w = &run->watched[ *which = run->watched_count++];
	w->name = output->signal;
	CalStatus status = cal_sampler_create(NULL, &w->sampler, NULL);
	if (status == CAL_OK)
		status = add_signal(run, w->sampler, output->signal, "output", output->name, error);
	return status == CAL_OK ? check_single(w, output, error) : status;
}

static CalStatus watch_series(CaseRun *run, CalError *error) {
	CalStatus status = cal_sampler_create(NULL, &run->series, NULL);
	for (int i = 0; i < run->info.series.signal_count && status == CAL_OK; i++) {
		const char *name = run->info.series.signals[i];
		status = add_signal(run, run->series, name, "series", name, error);
	}
	return status;
}

static CalStatus watch_all(CaseRun *run, CalError *error) {
	const size_t count = (size_t)run->info.output_count;
	run->watched = calloc(count, sizeof *run->watched);
	run->of = calloc(count, sizeof *run->of);
	run->accumulators = calloc(count, sizeof *run->accumulators);
	CalStatus status = run->watched && run->of && run->accumulators ? CAL_OK : CAL_ERR_MEMORY;
	for (int i = 0; i < run->info.output_count && status == CAL_OK; i++) {
		CalPlanOutput output;
		cal_plan_output(run->plan, i, &output);
		status = watch(run, &output, &run->of[i], error);
	}
	return status == CAL_OK ? watch_series(run, error) : status;
}

/* k < 0: the model as it stands. */
static CalStatus set_up(CaseRun *run, const CalPlan *plan, int64_t k, bool no_code, CalError *error) {
	CalSetup *setup = NULL;
	*run = (CaseRun){.plan = plan, .info = cal_plan_info(plan)};
	run->loaded.runs_code = !no_code;
	run->loaded.refuses_code = no_code;
	CalStatus status = cal_plan_open_case(plan, k, &setup, error);
	if (status != CAL_OK)
		return status;
	status = loaded_build(&run->loaded, setup, NULL, error);
	if (status == CAL_OK)
		status = cal_sim_restart(run->loaded.sim, error);
	if (status != CAL_OK)
		return status;
	const CalRunSettings *settings = &run->loaded.settings;
	run->interval = run->info.sample >= 0        ? run->info.sample
	                : settings->stream_count > 0 ? settings->streams[0].interval
	                                             : 0;
	run->series_interval = run->info.series.interval;
	if (settings->duration > 0)
		return watch_all(run, error);
	snprintf(error->text, sizeof error->text,
	         "%.300s: there is no time to simulate; give run: {duration: ...} in the model file", run->info.model_path);
	return CAL_ERR_INPUT;
}

static void tear_down(CaseRun *run) {
	cal_results_destroy(run->results);
	for (int i = 0; i < run->watched_count; i++)
		cal_sampler_destroy(run->watched[i].sampler);
	cal_sampler_destroy(run->series);
	free(run->watched);
	free(run->of);
	free(run->accumulators);
	free(run->row);
	loaded_destroy(&run->loaded);
}

/* ---- samples ------------------------------------------------------------------------------------ */

static CalStatus open_series(CaseRun *run, const char *path, CalError *error) {
	const int count = cal_sampler_column_count(run->series);
	CalResultsColumn *columns = calloc((size_t)count, sizeof *columns);
	run->row = calloc((size_t)count, sizeof *run->row);
	CalStatus status = CAL_ERR_MEMORY;
	if (columns && run->row) {
		for (int i = 0; i < count; i++) {
			CalSamplerColumn column;
			cal_sampler_column(run->series, i, &column);
			columns[i] = (CalResultsColumn){column.name, column.unit};
		}
		const CalResultsStream stream = {.name = "main", .path = path, .columns = columns, .column_count = count};
		const CalResultsOptions options = {.streams = &stream, .stream_count = 1, .flush_s = 60, .buffer_bytes = 65536};
		status = cal_results_create(&options, &run->results, error);
	}
	free(columns);
	return status;
}

/* The time of a sample; INFINITY: they are not taken by the clock. */
static double time_of(double interval, int64_t number) { return interval > 0 ? (double)number * interval : INFINITY; }

static CalStatus sample_series(CaseRun *run, double t, bool last) {
	const bool due = !(run->series_interval > 0) || t >= time_of(run->series_interval, run->series_sample);
	if (!run->results || !(due || last))
		return CAL_OK;
	while (t >= time_of(run->series_interval, run->series_sample))
		run->series_sample++;
	const CalStatus status = cal_sampler_sample(run->series, run->loaded.sim, run->row);
	return status == CAL_OK ? cal_results_put(run->results, 0, run->row) : status;
}

static CalStatus take_sample(CaseRun *run, bool last) {
	const double t = cal_sim_time(run->loaded.sim);
	CalStatus status = CAL_OK;
	while (t >= time_of(run->interval, run->sample))
		run->sample++;
	for (int i = 0; i < run->watched_count && status == CAL_OK; i++)
		status = cal_sampler_sample(run->watched[i].sampler, run->loaded.sim, run->watched[i].row);
	for (int i = 0; i < run->info.output_count && status == CAL_OK; i++) {
		CalPlanOutput output;
		cal_plan_output(run->plan, i, &output);
		cal_statistic_add(&run->accumulators[i], &output, t, run->of[i] < 0 ? t : run->watched[run->of[i]].row[1]);
	}
	return status == CAL_OK ? sample_series(run, t, last) : status;
}

/* The time of the next sample. */
static double next_sample(const CaseRun *run, double t, double end) {
	double next = fmin(end, time_of(run->interval, run->sample));
	if (run->results)
		next = fmin(next, time_of(run->series_interval, run->series_sample));
	for (int i = 0; i < run->info.output_count; i++) {
		CalPlanOutput output;
		cal_plan_output(run->plan, i, &output);
		if (output.statistic == CAL_STATISTIC_AT && output.at > t)
			next = fmin(next, output.at);
	}
	return next;
}

static CalStatus integrate(CaseRun *run, CalError *error) {
	CalSim *sim = run->loaded.sim;
	const double end = run->loaded.settings.duration;
	CalStatus status = take_sample(run, false);
	if (status == CAL_OK)
		status = cal_sim_examine(sim);
	while (status == CAL_OK && cal_sim_time(sim) < end) {
		const double next = next_sample(run, cal_sim_time(sim), end);
		status = run->interval > 0 ? cal_sim_advance(sim, next, error) : cal_sim_step(sim, next, error);
		if (status == CAL_STOPPED) // an end in order
			return take_sample(run, true);
		if (status == CAL_OK)
			status = take_sample(run, cal_sim_time(sim) >= end);
	}
	return status;
}

/* ---- the case ----------------------------------------------------------------------------------- */

/* What there is to doubt goes to the series, and the first of it to the message of a case that is ok. */
static CalStatus report_doubts(const CaseRun *run, CaseOutcome *outcome) {
	CalDoubt doubts[CAL_MAX_DOUBTS];
	const CalStatus status = cal_sim_examine(run->loaded.sim);
	const int count = doubts_of(run->loaded.sim, doubts);
	if (count > 0)
		snprintf(outcome->message, sizeof outcome->message, "doubt (%s): %s", cal_doubt_name(doubts[0].kind),
		         doubts[0].text);
	if (status == CAL_OK && run->results)
		return cal_results_set_doubts(run->results, doubts, count);
	return status;
}

/* Values that are not finite have failed, those beyond a limit are reported. */
static void check_limits(const CaseRun *run, CaseOutcome *outcome) {
	for (int i = 0; i < run->info.output_count; i++) {
		CalPlanOutput output;
		cal_plan_output(run->plan, i, &output);
		const double value = outcome->outputs[i] = cal_statistic_value(&run->accumulators[i], &output);
		if (!isfinite(value) && outcome->status != CAL_CASE_FAILED) {
			outcome->status = CAL_CASE_FAILED;
			snprintf(outcome->message, sizeof outcome->message, "output \"%.100s\" is not a finite number",
			         output.name);
		}
		if (outcome->status != CAL_CASE_OK || (value > output.above && value < output.below))
			continue;
		const bool low = value <= output.above;
		outcome->status = CAL_CASE_LIMIT;
		snprintf(outcome->message, sizeof outcome->message, "output \"%.100s\" is %.9g and must be %s %.9g",
		         output.name, value, low ? "above" : "below", low ? output.above : output.below);
	}
}

void case_run(const CalPlan *plan, int64_t k, bool no_code, const char *series, CaseOutcome *outcome) {
	CaseRun run;
	CalError error = {0};
	CalStatus status = set_up(&run, plan, k, no_code, &error);
	if (status == CAL_OK && series)
		status = open_series(&run, series, &error);
	outcome->message[0] = 0;
	if (status == CAL_OK)
		status = integrate(&run, &error);
	if (status == CAL_OK)
		status = report_doubts(&run, outcome);
	if (run.results && cal_results_finish(run.results, status == CAL_OK ? &error : NULL) != CAL_OK && status == CAL_OK)
		status = CAL_ERR_IO;
	outcome->status = status == CAL_OK ? CAL_CASE_OK : CAL_CASE_FAILED;
	if (status == CAL_OK)
		check_limits(&run, outcome);
	else
		snprintf(outcome->message, sizeof outcome->message, "%s", error.text[0] ? error.text : cal_status_text(status));
	for (int i = 0; outcome->status == CAL_CASE_FAILED && i < run.info.output_count; i++)
		outcome->outputs[i] = status == CAL_OK ? outcome->outputs[i] : (double)NAN;
	tear_down(&run);
}

int case_check(const CalPlan *plan, bool no_code, char **units) {
	CaseRun run;
	CalError error = {0};
	CalStatus status = set_up(&run, plan, -1, no_code, &error);
	for (int i = 0; i < run.info.output_count && status == CAL_OK; i++) {
		CalSamplerColumn column = {.unit = "s"};
		if (run.of[i] >= 0)
			cal_sampler_column(run.watched[run.of[i]].sampler, 1, &column);
		const char *unit = column.unit;
		const size_t size = strlen(unit) + 1;
		units[i] = malloc(size);
		if (units[i])
			memcpy(units[i], unit, size);
		else
			status = CAL_ERR_MEMORY;
	}
	say_file_warnings(run.info.model_path, run.loaded.setup);
	const bool of_plan = strncmp(error.text, "output \"", 8) == 0 || strncmp(error.text, "series \"", 8) == 0;
	const int code = say_status(of_plan ? run.info.name : run.info.model_path, status, &error);
	tear_down(&run);
	return code;
}
