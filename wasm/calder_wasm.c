// SPDX-License-Identifier: Apache-2.0
/*
 * calder_wasm.c — see calder_wasm.h. The same file is compiled for this machine, to compare.
 */
#define _GNU_SOURCE // open_memstream

#include "calder_wasm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live_hand.h"
#include "live_lab.h"

struct CalderRun {
	CalSetup *setup;
	CalSim *sim;
	CalScenario *scenario;
	CalSampler *sampler;
	double *row; // [row_capacity]
	int row_capacity;
	double *state; // [state_capacity]
	int state_capacity;
	Hand *hand; // NULL: nobody touches the run
	Lab *lab;   //
	CalLive *live;
	unsigned char *tick;
	int64_t said_entries; // of the scenario's log
	char *text;           // that was returned last
	unsigned char *saved;
	bool stopped;
	CalParameter parameter;
	CalError error;
};

static int refused(CalderRun *run, CalStatus status, const char *text) {
	run->error.status = status;
	snprintf(run->error.text, sizeof run->error.text, "%s", text ? text : cal_status_text(status));
	return (int)status;
}

/* The status of a call of the library; its error has a sentence of its own or is that of the status. */
static int concluded(CalderRun *run, CalStatus status) {
	if (status == CAL_OK)
		run->error = (CalError){0};
	else if (!run->error.text[0])
		refused(run, status, NULL);
	return (int)status;
}

static void begin(CalderRun *run) { run->error = (CalError){0}; }

static int not_loaded(CalderRun *run) { return refused(run, CAL_ERR_ARGUMENT, "no model is loaded"); }

/* ---- texts ------------------------------------------------------------------------------------------ */

typedef struct Text {
	FILE *out; // NULL: out of memory
	char *text;
	size_t length;
} Text;

static void text_open(Text *text) {
	*text = (Text){0};
	text->out = open_memstream(&text->text, &text->length);
}

/* The run owns it then. */
static const char *text_close(CalderRun *run, Text *text) {
	const bool good = text->out && fclose(text->out) == 0;
	if (!good) {
		free(text->text);
		refused(run, CAL_ERR_MEMORY, NULL);
		return NULL;
	}
	free(run->text);
	return run->text = text->text;
}

const char *calder_version(void) { return cal_version(); }

const char *calder_error(const CalderRun *run) { return run->error.text; }

const char *calder_notes(CalderRun *run) {
	Text text;
	text_open(&text);
	int count = 0;
	if (text.out)
		putc('[', text.out);
	for (int i = 0; text.out && run->setup && i < cal_setup_warning_count(run->setup); i++) {
		fprintf(text.out, "%s{\"kind\":\"warning\",\"place\":\"\",\"text\":", count++ ? "," : "");
		json_string(text.out, cal_setup_warning(run->setup, i));
		putc('}', text.out);
	}
	for (int i = 0; text.out && run->setup && i < cal_setup_import_note_count(run->setup); i++) {
		CalImportNote note;
		char place[600];
		if (cal_setup_import_note(run->setup, i, &note) != CAL_OK)
			continue;
		snprintf(place, sizeof place, "%s:%d:%d", note.file, note.line, note.column);
		fprintf(text.out, "%s{\"kind\":\"%s\",\"place\":", count++ ? "," : "", cal_import_name(note.kind));
		json_string(text.out, place);
		fputs(",\"element\":", text.out);
		json_string(text.out, note.element);
		fputs(",\"text\":", text.out);
		json_string(text.out, note.text);
		putc('}', text.out);
	}
	if (text.out)
		putc(']', text.out);
	return text_close(run, &text);
}

const char *calder_doubts(CalderRun *run) {
	Text text;
	text_open(&text);
	if (text.out)
		putc('[', text.out);
	for (int i = 0; text.out && run->sim && i < cal_sim_doubt_count(run->sim); i++) {
		CalDoubt doubt;
		if (cal_sim_doubt(run->sim, i, &doubt) != CAL_OK)
			continue;
		fprintf(text.out, "%s{\"kind\":\"%s\",\"object\":", i ? "," : "", cal_doubt_name(doubt.kind));
		json_string(text.out, doubt.object);
		fputs(",\"time\":", text.out);
		json_number(text.out, doubt.time);
		fputs(",\"text\":", text.out);
		json_string(text.out, doubt.text);
		putc('}', text.out);
	}
	if (text.out)
		putc(']', text.out);
	return text_close(run, &text);
}

const char *calder_model_text(CalderRun *run) {
	begin(run);
	Text text;
	text_open(&text);
	CalStatus status = CAL_ERR_ARGUMENT;
	if (text.out && run->setup)
		status = cal_model_file_write(run->setup, text.out, &run->error);
	const char *written = text_close(run, &text);
	if (!run->setup)
		not_loaded(run);
	else
		concluded(run, status);
	return status == CAL_OK ? written : NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

CalderRun *calder_new(void) { return calloc(1, sizeof(CalderRun)); }

static void unload(CalderRun *run) {
	cal_live_destroy(run->live);
	cal_sampler_destroy(run->sampler);
	lab_destroy(run->lab);
	cal_scenario_destroy(run->scenario);
	cal_sim_destroy(run->sim);
	hand_destroy(run->hand);
	cal_setup_destroy(run->setup);
	free(run->row);
	free(run->state);
	free(run->tick);
	free(run->text);
	free(run->saved);
	*run = (CalderRun){0};
}

void calder_delete(CalderRun *run) {
	if (run)
		unload(run);
	free(run);
}

static CalStatus prepare_interaction(CalderRun *run) {
	run->hand = hand_create(run->setup, run->sim, &run->error);
	if (!run->hand)
		return run->error.status != CAL_OK ? run->error.status : CAL_ERR_MEMORY;
	CalError ignored = {0}; // numbers of the model can be changed where there is memory for a description of it
	if (!cal_sim_reserved(run->sim, NULL))
		cal_sim_reserve(run->sim, cal_setup_desc(run->setup), NULL, &ignored);
	run->lab = lab_create(run->sim, run->scenario);
	if (!run->lab)
		return CAL_ERR_MEMORY;
	lab_keep_start(run->lab);
	return CAL_OK;
}

int calder_load(CalderRun *run, const char *text, size_t length, const char *name, int options) {
	unload(run);
	const CalReadOptions reading = {.base = options & CALDER_BASE_FREE ? CAL_BASE_FREE : CAL_BASE_DEFAULT,
	                                .partial = (options & CALDER_PARTIAL) != 0};
	CalStatus status = cal_model_parse(text, length, name, &reading, NULL, &run->setup, &run->error);
	if (status == CAL_OK)
		status = cal_setup_simulate(run->setup, NULL, &run->sim, &run->scenario, &run->error);
	if (status == CAL_OK && (options & CALDER_INTERACTIVE))
		status = prepare_interaction(run);
	if (status == CAL_OK)
		status = cal_sampler_create(NULL, &run->sampler, &run->error);
	if (status == CAL_OK)
		return CAL_OK;
	const CalError error = run->error;
	unload(run);
	run->error = error;
	return concluded(run, status);
}

/* ---- the run ---------------------------------------------------------------------------------------- */

const char *calder_title(CalderRun *run) { return run->setup ? cal_setup_run(run->setup).title : ""; }
double calder_time(CalderRun *run) { return run->sim ? cal_sim_time(run->sim) : NAN; }
double calder_duration(CalderRun *run) { return run->setup ? cal_setup_run(run->setup).duration : NAN; }

double calder_interval(CalderRun *run) {
	const CalRunSettings settings = run->setup ? cal_setup_run(run->setup) : (CalRunSettings){0};
	return settings.stream_count > 0 ? settings.streams[0].interval : 0;
}

static int advanced(CalderRun *run, CalStatus status) {
	if (status == CAL_STOPPED) {
		run->stopped = true;
		status = CAL_OK;
	}
	return concluded(run, status);
}

int calder_advance(CalderRun *run, double t) {
	begin(run);
	if (!run->sim)
		return not_loaded(run);
	return run->stopped ? CAL_OK : advanced(run, cal_sim_advance(run->sim, t, &run->error));
}

int calder_step(CalderRun *run, double t_limit) {
	begin(run);
	if (!run->sim)
		return not_loaded(run);
	return run->stopped ? CAL_OK : advanced(run, cal_sim_step(run->sim, t_limit, &run->error));
}

int calder_stopped(CalderRun *run) { return run->stopped; }

int calder_add_signal(CalderRun *run, const char *name) {
	begin(run);
	if (!run->sim)
		return not_loaded(run);
	return concluded(run, cal_sampler_add(run->sampler, run->sim, name, &run->error));
}

int calder_column_count(CalderRun *run) { return run->sampler ? cal_sampler_column_count(run->sampler) : 0; }

const char *calder_column_name(CalderRun *run, int column) {
	CalSamplerColumn info;
	return run->sampler && cal_sampler_column(run->sampler, column, &info) == CAL_OK ? info.name : "";
}

const char *calder_column_unit(CalderRun *run, int column) {
	CalSamplerColumn info;
	return run->sampler && cal_sampler_column(run->sampler, column, &info) == CAL_OK ? info.unit : "";
}

/* At least so many numbers. */
static double *numbers(double **memory, int *capacity, int count) {
	if (count <= *capacity)
		return *memory;
	double *larger = count > 0 ? realloc(*memory, (size_t)count * sizeof *larger) : NULL;
	if (larger) {
		*memory = larger;
		*capacity = count;
	}
	return larger;
}

const double *calder_sample(CalderRun *run) {
	begin(run);
	if (!run->sim) {
		not_loaded(run);
		return NULL;
	}
	double *row = numbers(&run->row, &run->row_capacity, calder_column_count(run));
	const CalStatus status = row ? cal_sampler_sample(run->sampler, run->sim, row) : CAL_ERR_MEMORY;
	return concluded(run, status) == CAL_OK ? row : NULL;
}

int calder_state_size(CalderRun *run) {
	int size = 0;
	for (int g = 0; run->sim && g < cal_sim_group_count(run->sim); g++) {
		const CalModel *model = cal_sim_model(run->sim, g);
		size += cal_model_q_count(model) + cal_model_u_count(model);
	}
	return size;
}

const double *calder_state(CalderRun *run) {
	begin(run);
	double *out = run->sim ? numbers(&run->state, &run->state_capacity, calder_state_size(run) + 1) : NULL;
	if (!out) {
		refused(run, CAL_ERR_MEMORY, run->sim ? NULL : "no model is loaded");
		return NULL;
	}
	for (int g = 0, at = 0; g < cal_sim_group_count(run->sim); g++) {
		const CalModel *model = cal_sim_model(run->sim, g);
		const CalState *state = cal_sim_state(run->sim, g);
		const int nq = cal_model_q_count(model), nu = cal_model_u_count(model);
		memcpy(out + at, state->q, (size_t)nq * sizeof *out);
		memcpy(out + at + nq, state->u, (size_t)nu * sizeof *out);
		at += nq + nu;
	}
	return out;
}

size_t calder_save(CalderRun *run) {
	begin(run);
	const size_t size = run->sim ? cal_checkpoint_size(run->sim) : 0;
	size_t used = 0;
	free(run->saved);
	run->saved = size ? malloc(size) : NULL;
	const CalStatus status = run->saved ? cal_checkpoint_take(run->sim, run->saved, size, &used)
	                         : run->sim ? CAL_ERR_MEMORY
	                                    : CAL_ERR_ARGUMENT;
	return concluded(run, status) == CAL_OK ? used : 0;
}

const unsigned char *calder_saved(CalderRun *run) { return run->saved; }

int calder_restore(CalderRun *run, const void *bytes, size_t size) {
	begin(run);
	if (!run->sim)
		return not_loaded(run);
	CalStatus status = cal_checkpoint_restore(run->sim, bytes, size, &run->error);
	if (status == CAL_OK)
		status = cal_scenario_resume(run->scenario);
	run->stopped = status == CAL_OK && cal_scenario_stopped(run->scenario, NULL);
	return concluded(run, status);
}

/* ---- parameters --------------------------------------------------------------------------------------- */

int calder_parameter_count(CalderRun *run) { return run->sim ? cal_sim_parameter_count(run->sim) : 0; }

static const CalParameter *find_parameter(CalderRun *run, int index) {
	return run->sim && cal_sim_parameter(run->sim, index, &run->parameter) == CAL_OK ? &run->parameter : NULL;
}

const char *calder_parameter_name(CalderRun *run, int index) {
	const CalParameter *p = find_parameter(run, index);
	return p ? p->name : "";
}

const char *calder_parameter_unit(CalderRun *run, int index) {
	const CalParameter *p = find_parameter(run, index);
	return p ? p->unit : "";
}

double calder_parameter(CalderRun *run, int index) {
	const CalParameter *p = find_parameter(run, index);
	return p ? p->value : NAN;
}

int calder_set_parameter(CalderRun *run, int index, double value) {
	begin(run);
	if (!run->sim)
		return not_loaded(run);
	return concluded(run, cal_scenario_set_parameter(run->scenario, index, value, &run->error));
}

/* ---- what the viewer shows -------------------------------------------------------------------------- */

static CalStatus make_live(CalderRun *run) {
	const int count = calder_column_count(run) - 1; // the time is not one
	CalReplaySignal *names = count >= 0 ? calloc((size_t)count + 1, sizeof *names) : NULL;
	if (!names)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < count; i++) {
		CalSamplerColumn column;
		cal_sampler_column(run->sampler, i + 1, &column);
		names[i] = (CalReplaySignal){column.name, column.unit};
	}
	cal_live_destroy(run->live);
	free(run->tick);
	run->live = NULL;
	run->tick = NULL;
	CalStatus status = cal_live_create(run->setup, names, count, &run->live, &run->error);
	free(names);
	if (status == CAL_OK)
		run->tick = malloc(cal_live_tick_size(run->live));
	return status == CAL_OK && !run->tick ? CAL_ERR_MEMORY : status;
}

const char *calder_document(CalderRun *run) {
	begin(run);
	if (!run->sim) {
		not_loaded(run);
		return NULL;
	}
	Text text;
	text_open(&text);
	CalStatus status = text.out ? make_live(run) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_live_document(run->live, run->sim, calder_title(run), text.out, &run->error);
	const char *written = text_close(run, &text);
	return concluded(run, status) == CAL_OK ? written : NULL;
}

int calder_tick_size(CalderRun *run) { return run->live ? (int)cal_live_tick_size(run->live) : 0; }

const unsigned char *calder_tick(CalderRun *run) {
	if (!run->live) {
		refused(run, CAL_ERR_ARGUMENT, "a tick needs the document before it");
		return NULL;
	}
	const double *row = calder_sample(run);
	if (!row)
		return NULL;
	const CalStatus status = cal_live_tick(run->live, run->sim, row + 1, run->tick); // without the time
	return concluded(run, status) == CAL_OK ? run->tick : NULL;
}

static void say_parameter(CalderRun *run, FILE *out, int index, const char *before) {
	const CalParameter *p = find_parameter(run, index);
	if (!p)
		return;
	fprintf(out, "%s{\"parameter\":{\"index\":%d,\"value\":", before, index);
	json_number(out, p->value);
	fputs("}}", out);
}

static void obey(CalderRun *run, const char *command, FILE *out) {
	CalError error;
	int parameter = -1;
	hand_obey(run->hand, run->sim, command);
	const LabResult result = lab_obey(run->lab, command, &parameter, &error);
	char moments[1000];
	lab_write_moments(run->lab, moments, sizeof moments);
	fputs(moments, out);
	if (result == LAB_REFUSED) {
		fputs(",{\"error\":", out);
		json_string(out, error.text);
		putc('}', out);
	}
	if (parameter >= 0) // also one that is as it was
		say_parameter(run, out, parameter, ",");
	if (result != LAB_RETURNED)
		return;
	run->stopped = cal_scenario_stopped(run->scenario, NULL);
	const int count = calder_parameter_count(run);
	for (int i = 0; i < count && i < CAL_LIVE_PARAMETERS; i++)
		say_parameter(run, out, i, ",");
}

const char *calder_command(CalderRun *run, const char *command) {
	Text text;
	text_open(&text);
	if (text.out) {
		putc('[', text.out);
		if (run->hand && run->lab)
			obey(run, command, text.out);
		putc(']', text.out);
	}
	return text_close(run, &text);
}

const char *calder_events(CalderRun *run) {
	Text text;
	int count = 0;
	text_open(&text);
	if (text.out)
		putc('[', text.out);
	const int64_t entries = run->scenario ? cal_scenario_entry_count(run->scenario) : 0;
	for (; text.out && run->said_entries < entries; run->said_entries++) {
		CalScenarioEntry entry;
		if (cal_scenario_entry(run->scenario, run->said_entries, &entry) != CAL_OK)
			continue;
		fprintf(text.out, "%s{\"event\":{\"t\":", count++ ? "," : "");
		json_number(text.out, entry.time);
		fputs(",\"name\":", text.out);
		json_string(text.out, entry.event);
		fputs(",\"text\":", text.out);
		json_string(text.out, entry.text);
		fputs(",\"kinetic_lost\":", text.out);
		json_number(text.out, entry.kinetic_lost);
		fputs("}}", text.out);
	}
	if (text.out)
		putc(']', text.out);
	return text_close(run, &text);
}
