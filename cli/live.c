// SPDX-License-Identifier: Apache-2.0
/*
 * live.c — a run that is watched: pace, ticks, and who obeys which command.
 *
 * Pause, steps and speed are obeyed at once, by the server's threads (live_control.h), all others between steps: what a page
 * does to bodies and joints (live_hand.h), to parameters and moments (live_lab.h).
 */
#define _GNU_SOURCE // open_memstream

#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "interrupt.h"
#include "live_control.h"
#include "live_hand.h"
#include "live_lab.h"
#include "page.h"
#include "server.h"

struct Live {
	const CalSetup *setup;
	CalLive *view;
	Server *server;
	CalSampler *sampler;
	CalScenario *scenario; // whose log the pages get
	int64_t sent_entries;  // entries of it so far
	char *document, *title;
	int parameter_count;       // that pages know of
	double *sent, *documented; // [parameter_count] what pages got last; what the document says
	bool stale;                // the document does not say what parameters are now
	unsigned char *tick;
	double *row;       // [column_count]
	double wall, t;    // when the pace began, and the simulated time then
	double next_tick;  // wall time
	double next_state; //
	double state_wall, state_t;
	Control *control; // how it runs
	Hand *hand;       // what pages do to bodies and joints
	Lab *lab;         // what they change
	char end[512];    // the message that the run is over
};

/* ---- texts --------------------------------------------------------------------------------------------- */

static void send_error(Live *live, const char *why) {
	char *text = NULL, shortened[600];
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		return;
	snprintf(shortened, sizeof shortened, "%s", why);
	fputs("{\"error\":", out);
	json_string(out, shortened);
	fputc('}', out);
	if (fclose(out) == 0)
		server_say(live->server, text);
	free(text);
}

/* *document is from malloc. */
static CalStatus make_document(const Live *live, const CalSim *sim, char **document, CalError *error) {
	size_t length = 0;
	FILE *out = open_memstream(document, &length);
	if (!out)
		return CAL_ERR_MEMORY;
	fputs("{\"document\":", out);
	const CalStatus status = cal_live_document(live->view, sim, live->title, out, error);
	fputc('}', out);
	return fclose(out) == 0 ? status : CAL_ERR_MEMORY;
}

static void send_parameter(Live *live, int index, double value) {
	char text[200];
	snprintf(text, sizeof text, "{\"parameter\":{\"index\":%d,\"value\":", index);
	const size_t used = strlen(text);
	snprintf(text + used, sizeof text - used, isfinite(value) ? "%.17g}}" : "null}}", value);
	server_say(live->server, text);
	if (index < live->parameter_count)
		live->sent[index] = value;
	live->stale = true;
}

/* Those that are not as `known`, which become it. */
static void send_parameters(Live *live, CalSim *sim, double *known) {
	for (int i = 0; i < live->parameter_count; i++) {
		CalParameter p;
		if (cal_sim_parameter(sim, i, &p) != CAL_OK || p.value == known[i])
			continue;
		send_parameter(live, i, p.value);
		known[i] = p.value;
	}
}

/* Once per second at most: pages that came in the meantime have the document before, and get what is not as it says. */
static void renew_document(Live *live, CalSim *sim) {
	char *document = NULL;
	CalError ignored;
	if (!live->stale)
		return;
	if (make_document(live, sim, &document, &ignored) == CAL_OK && server_set_document(live->server, document)) {
		send_parameters(live, sim, live->documented);
		live->stale = false;
	}
	free(document);
}

/* ---- ticks --------------------------------------------------------------------------------------------- */

static CalStatus send_tick(Live *live, CalSim *sim) {
	CalStatus status = cal_sampler_sample(live->sampler, sim, live->row);
	if (status == CAL_OK)
		status = cal_live_tick(live->view, sim, live->row + 1, live->tick); // without the time
	if (status == CAL_OK)
		server_tick(live->server, live->tick);
	return status;
}

static void send_state(Live *live, CalSim *sim, double wall) {
	char text[1000];
	const double span = wall - live->state_wall;
	control_set_factor(live->control, span > 0 ? (cal_sim_time(sim) - live->state_t) / span : 0);
	control_say(live->control);
	renew_document(live, sim);
	lab_write_moments(live->lab, text, sizeof text);
	server_say(live->server, text);
	live->state_wall = wall;
	live->state_t = cal_sim_time(sim);
	live->next_state = wall + 1;
}

/* What happened since the last time; a message that finds no memory is lost. */
static void send_events(Live *live) {
	for (; live->sent_entries < cal_scenario_entry_count(live->scenario); live->sent_entries++) {
		CalScenarioEntry entry;
		char *text = NULL;
		size_t length = 0;
		FILE *out = cal_scenario_entry(live->scenario, live->sent_entries, &entry) == CAL_OK
		                ? open_memstream(&text, &length)
		                : NULL;
		if (!out)
			continue;
		fputs("{\"event\":{\"t\":", out);
		json_number(out, entry.time);
		fputs(",\"name\":", out);
		json_string(out, entry.event);
		fputs(",\"text\":", out);
		json_string(out, entry.text);
		fputs(",\"kinetic_lost\":", out);
		json_number(out, entry.kinetic_lost);
		fputs("}}", out);
		if (fclose(out) == 0)
			server_say(live->server, text);
		free(text);
	}
}

static CalStatus send_updates(Live *live, CalSim *sim, bool at_once) {
	const double wall = clock_now();
	send_events(live);
	if (wall >= live->next_state)
		send_state(live, sim, wall);
	if (!at_once && wall < live->next_tick)
		return CAL_OK;
	live->next_tick = wall + 1.0 / TICKS_PER_SECOND;
	return send_tick(live, sim);
}

/* ---- commands --------------------------------------------------------------------------------------- */

static void begin_pace(Live *live, CalSim *sim) {
	live->wall = clock_now();
	live->t = cal_sim_time(sim);
}

/* True: the simulation is at another moment. */
static bool obey(Live *live, CalSim *sim, const char *command) {
	CalError error;
	int parameter = -1;
	hand_obey(live->hand, sim, command);
	const LabResult result = lab_obey(live->lab, command, &parameter, &error);
	if (result == LAB_REFUSED)
		send_error(live, error.text);
	CalParameter p;
	if (parameter >= 0 && cal_sim_parameter(sim, parameter, &p) == CAL_OK) // also one that is as it was
		send_parameter(live, parameter, p.value);
	if (result == LAB_RETURNED)
		send_parameters(live, sim, live->sent);
	live->next_state = 0; // pages get what became of it
	return result == LAB_RETURNED;
}

/* True: the simulation is at another moment. */
static bool read_commands(Live *live, CalSim *sim) {
	char text[SERVER_COMMAND_SIZE];
	bool returned = false;
	while (server_command(live->server, text))
		returned |= obey(live, sim, text);
	if (returned) {
		control_note(live->control, false, cal_sim_time(sim));
		begin_pace(live, sim);
	}
	return returned;
}

/* ---- pace --------------------------------------------------------------------------------------------- */

/*
 * Waits for a time that commands may move; as long as it is to come, pages are answered and updated. *returned: it ended
 * since the simulation is at another moment.
 */
static CalStatus wait_until(Live *live, CalSim *sim, double (*until)(Live *live, const CalSim *sim), bool *returned) {
	static const double slice = 0.01; // [s]
	CalStatus status = CAL_OK;
	for (double now = clock_now(), end;
	     status == CAL_OK && !interrupt_caught() && !*returned && (end = until(live, sim)) > now; now = clock_now()) {
		clock_sleep_until(fmin(end, now + slice));
		*returned = read_commands(live, sim);
		status = end > now + slice || *returned ? send_updates(live, sim, *returned) : CAL_OK;
	}
	return status;
}

/* How it is to run; the pace begins anew where somebody changed that. */
static ControlState take_control(Live *live, const CalSim *sim) {
	const ControlState state = control_take(live->control);
	if (state.anew) {
		live->wall = clock_now();
		live->t = cal_sim_time(sim);
	}
	return state;
}

static double end_of_pause(Live *live, const CalSim *sim) {
	const ControlState state = take_control(live, sim);
	return state.paused && cal_sim_time(sim) >= state.step_end ? INFINITY : 0;
}

/* When the simulated time is due; at once while paused, so that the pause is noticed. */
static double when_due(Live *live, const CalSim *sim) {
	const ControlState state = take_control(live, sim);
	return state.speed > 0 && !state.paused ? live->wall + (cal_sim_time(sim) - live->t) / state.speed : 0;
}

static CalStatus step(Live *live, CalSim *sim, double t_limit, CalError *error) {
	control_note(live->control, true, cal_sim_time(sim));
	const CalStatus status = cal_sim_step(sim, t_limit, error);
	control_note(live->control, false, cal_sim_time(sim));
	return status;
}

CalStatus live_step(Live *live, CalSim *sim, double t_limit, CalError *error) {
	lab_keep_start(live->lab);
	bool returned = read_commands(live, sim);
	CalStatus status = returned ? send_updates(live, sim, true) : wait_until(live, sim, end_of_pause, &returned);
	if (status == CAL_OK && (interrupt_caught() || returned))
		return CAL_OK;
	if (status == CAL_OK)
		status = step(live, sim, t_limit, error);
	if (status != CAL_OK)
		return status;
	const bool stepped = end_of_pause(live, sim) > 0; // the page gets where it ended
	status = send_updates(live, sim, stepped);
	if (stepped || when_due(live, sim) < clock_now() - 0.5)
		begin_pace(live, sim); // it cannot keep up: the pace begins anew, instead of a hunt
	return status == CAL_OK ? wait_until(live, sim, when_due, &returned) : status;
}

/* True once a page has returned to another moment; false: a signal asks for an end. */
static bool wait_for_return(Live *live, CalSim *sim, const char *text) {
	const bool paused = control_take(live->control).paused;
	bool returned = false;
	lab_keep_start(live->lab);
	control_rest(live->control, true, text);
	send_tick(live, sim);
	while (!returned && !interrupt_caught()) {
		clock_pause(0.01);
		returned = read_commands(live, sim);
		send_updates(live, sim, returned);
	}
	control_rest(live->control, paused, "");
	return returned;
}

bool live_linger(Live *live, CalSim *sim) {
	return wait_for_return(live, sim, "the end of the run: go back to the start or to a moment");
}

bool live_recover(Live *live, CalSim *sim, const char *why) {
	send_error(live, why);
	return wait_for_return(live, sim, "the run has failed: go back to the start or to a moment");
}

/* ---- beginning and end ---------------------------------------------------------------------------------- */

/* Numbers of the model can be changed where there is memory for a description of it. */
static void reserve(const CalSetup *setup, CalSim *sim) {
	CalError ignored;
	if (!cal_sim_reserved(sim, NULL))
		cal_sim_reserve(sim, cal_setup_desc(setup), NULL, &ignored);
}

int live_create(Live **live, const CalSetup *setup, CalSim *sim, CalScenario *scenario, const char *path) {
	CalError error = {0};
	Live *made = *live = calloc(1, sizeof *made);
	if (!made)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	*made = (Live){.setup = setup, .scenario = scenario};
	made->hand = hand_create(setup, sim, &error);
	if (!made->hand)
		return say_status(path, error.status != CAL_OK ? error.status : CAL_ERR_MEMORY, &error);
	reserve(setup, sim);
	made->control = control_create();
	made->lab = lab_create(sim, scenario);
	return made->control && made->lab ? EXIT_OK : say_status(path, CAL_ERR_MEMORY, NULL);
}

static CalStatus note_parameters(Live *live, CalSim *sim) {
	const int count = cal_sim_parameter_count(sim);
	live->parameter_count = count < CAL_LIVE_PARAMETERS ? count : CAL_LIVE_PARAMETERS;
	live->sent = calloc((size_t)live->parameter_count + 1, sizeof *live->sent);
	live->documented = calloc((size_t)live->parameter_count + 1, sizeof *live->documented);
	for (int i = 0; live->sent && live->documented && i < live->parameter_count; i++) {
		CalParameter p;
		if (cal_sim_parameter(sim, i, &p) == CAL_OK)
			live->sent[i] = live->documented[i] = p.value;
	}
	return live->sent && live->documented ? CAL_OK : CAL_ERR_MEMORY;
}

static CalStatus make_view(Live *live, CalSampler *sampler, CalSim *sim, const char *title, CalError *error) {
	const int count = cal_sampler_column_count(sampler) - 1; // the time is not one
	CalReplaySignal *names = calloc((size_t)count + 1, sizeof *names);
	live->sampler = sampler;
	live->row = calloc((size_t)count + 1, sizeof *live->row);
	for (int i = 0; names && i < count; i++) {
		CalSamplerColumn column;
		cal_sampler_column(sampler, i + 1, &column);
		names[i] = (CalReplaySignal){column.name, column.unit};
	}
	CalStatus status =
		names && live->row ? cal_live_create(live->setup, names, count, &live->view, error) : CAL_ERR_MEMORY;
	free(names);
	if (status == CAL_OK)
		live->tick = malloc(cal_live_tick_size(live->view));
	if (status == CAL_OK && !live->tick)
		status = CAL_ERR_MEMORY;
	live->title = strdup(title);
	if (status == CAL_OK)
		status = note_parameters(live, sim);
	return status == CAL_OK ? make_document(live, sim, &live->document, error) : status;
}

int live_open(Live *live, CalSampler *sampler, CalSim *sim, const char *title, int port, bool browser, bool writes,
              const char *path) {
	CalError error = {0};
	char message[300];
	const CalStatus status = make_view(live, sampler, sim, title, &error);
	if (status != CAL_OK)
		return say_status(path, status, &error);
	const ServerOptions options = {.port = port,
	                               .page = page_text(),
	                               .page_length = page_length(),
	                               .document = live->document,
	                               .at_once = control_obey,
	                               .at_once_user = live->control,
	                               .tick_size = cal_live_tick_size(live->view)};
	live->server = server_start(&options, message, sizeof message);
	if (!live->server) {
		say_error(path, message);
		return EXIT_INPUT;
	}
	control_set_server(live->control, live->server);
	if (writes)
		lab_forbid_returns(live->lab,
		                   "this run writes results, and what is written cannot be taken back: run it without -o");
	page_open(server_port(live->server), browser);
	begin_pace(live, sim);
	live->state_wall = live->wall;
	live->state_t = live->t;
	return EXIT_OK;
}

void live_wait(Live *live, CalSim *sim) {
	while (server_clients(live->server) == 0 && !interrupt_caught())
		clock_pause(0.02);
	begin_pace(live, sim);
}

/* Pages get the last moment, then that it is the last one. */
void live_end(Live *live, CalSim *sim, const char *why) {
	if (!live || !live->server)
		return;
	char *text = live->end;
	size_t used = (size_t)snprintf(text, sizeof live->end, "{\"end\":\"");
	for (const char *p = why; *p && used + 8 < sizeof live->end; p++)
		used += (size_t)snprintf(text + used, sizeof live->end - used, *p == '"' || *p == '\\' ? "\\%c" : "%c",
		                         (unsigned char)*p < ' ' ? ' ' : *p);
	snprintf(text + used, sizeof live->end - used, "\"}");
	send_tick(live, sim);
	clock_pause(0.1);
	server_say(live->server, text);
	clock_pause(0.1);
}

void live_stay(Live *live, CalSim *sim) {
	if (!live || !live->server)
		return;
	for (int shown = 0; !interrupt_caught(); clock_pause(0.05)) {
		char text[SERVER_COMMAND_SIZE];
		while (server_command(live->server, text)) // there is nothing left to command
			;
		const int now = server_clients(live->server);
		if (now > shown) {
			send_tick(live, sim);
			server_say(live->server, live->end);
		}
		shown = now;
	}
}

void live_destroy(Live *live) {
	if (!live)
		return;
	server_stop(live->server);
	cal_live_destroy(live->view);
	hand_destroy(live->hand);
	lab_destroy(live->lab);
	control_destroy(live->control);
	free(live->document);
	free(live->title);
	free(live->sent);
	free(live->documented);
	free(live->tick);
	free(live->row);
	free(live);
}
