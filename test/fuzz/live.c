// SPDX-License-Identifier: Apache-2.0
/*
 * live.c — fuzz target: what pages send to a live run. The first part of an input is the list of signals, by commas; each
 * further part (0x1e) is a message, after which the run takes a step.
 *
 * The web server, the clock and the page are played here: messages come from the input, time passes when the run waits.
 */
#include "../../cli/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/clock.h"
#include "../../cli/page.h"
#include "../../cli/server.h"
#include "fuzz.h"

/* ---- the server ----------------------------------------------------------------------------------------------- */

struct Server {
	FuzzPart rest;    // messages to come
	int due;          // of them, now
	size_t tick_size; //
	unsigned char *tick;
	bool (*at_once)(void *user, const char *command);
	void *user;
};

static struct Server server;
static double wall;

Server *server_start(const ServerOptions *options, char *message, size_t size) {
	(void)message, (void)size;
	server.tick_size = options->tick_size;
	server.tick = malloc(options->tick_size + 1);
	server.at_once = options->at_once;
	server.user = options->at_once_user;
	fuzz_expect(server.tick && options->document[0] == '{', "a live run has a document");
	return &server;
}

void server_stop(Server *s) {
	if (s)
		free(s->tick);
}

int server_port(const Server *s) { return (void)s, 0; }
int server_clients(Server *s) { return (void)s, 1; }
void server_tick(Server *s, const void *bytes) { memcpy(s->tick, bytes, s->tick_size); }
void server_say(Server *s, const char *text) {
	fuzz_expect(s && text[0] == '{' && text[strlen(text) - 1] == '}', "messages are objects");
}
bool server_set_document(Server *s, const char *document) {
	fuzz_expect(s && document[0] == '{', "a live run has a document");
	return true;
}

/* Once all are gone, the run gets the command to continue as fast as it can: it would never end otherwise. */
static bool next_command(Server *s, char *text) {
	FuzzPart part;
	if (!fuzz_next_part(&s->rest, &part)) {
		strcpy(text, s->due % 2 ? "{\"command\":\"resume\"}" : "{\"command\":\"speed\",\"value\":0}");
		return true;
	}
	if (part.size >= SERVER_COMMAND_SIZE)
		return false;
	if (part.size)
		memcpy(text, part.data, part.size);
	text[part.size] = 0;
	return true;
}

bool server_command(Server *s, char *text) {
	while (s->due > 0) {
		s->due--;
		if (next_command(s, text) && !s->at_once(s->user, text))
			return true;
	}
	return false;
}

double clock_now(void) { return wall += 1e-4; }
void clock_sleep_until(double when) {
	fuzz_expect(!isnan(when), "the time to wait for is a number");
	server.due += 2; // a run that waits polls for messages
	wall = when > wall ? when : wall;
}
void clock_pause(double seconds) { clock_sleep_until(clock_now() + seconds); }
const char *page_text(void) { return "<html>"; }
size_t page_length(void) { return 6; }
void page_open(int port, int browser) { (void)port, (void)browser; }

/* ---- the run ---------------------------------------------------------------------------------------------------- */

enum { STEPS = 24 };

static void add_signals(CalSampler *sampler, CalSim *sim, FuzzPart part) {
	char *names = fuzz_text(part), *rest = names;
	for (int i = 0; i < 8 && rest; i++) {
		char *name = rest, *comma = strchr(rest, ',');
		if (comma)
			*comma = 0;
		rest = comma ? comma + 1 : NULL;
		CalError error = {0};
		const CalStatus status = cal_sampler_add(sampler, sim, name, &error);
		fuzz_expect(status == CAL_OK || error.text[0], "a name that is refused has a message");
	}
	free(names);
}

static void run_live(Loaded *loaded, FuzzPart signals) {
	Live *live = NULL;
	CalError error = {0};
	CalSampler *sampler = NULL;
	fuzz_expect(cal_sampler_create(NULL, &sampler, NULL) == CAL_OK, "a sampler is made");
	if (live_create(&live, loaded->setup, loaded->sim, loaded->scenario, "fuzz") == EXIT_OK &&
	    cal_sim_restart(loaded->sim, &error) == CAL_OK) {
		add_signals(sampler, loaded->sim, signals);
		if (live_open(live, sampler, loaded->sim, "title", 0, false, false, "fuzz") == EXIT_OK) {
			for (int i = 0; i < STEPS; i++) {
				server.due++;
				if (live_step(live, loaded->sim, 1e9, &error) != CAL_OK)
					break;
			}
			live_end(live, loaded->sim, error.text);
		}
	}
	live_destroy(live);
	cal_sampler_destroy(sampler);
}

static void run(const uint8_t *data, size_t size) {
	const FuzzModel model = fuzz_model(size && data[0] & 1 ? FUZZ_FOUR_BAR : FUZZ_WHEELS);
	FuzzPart signals = {data, 0};
	CalSetup *file = NULL;
	CalError error;
	Loaded loaded = {0};
	wall = 0;
	server = (struct Server){.rest = {data, size}};
	if (!fuzz_next_part(&server.rest, &signals))
		return;
	fuzz_expect(cal_model_file_parse(model.text, model.length, model.name, NULL, &file, &error) == CAL_OK,
	            "an example is read");
	fuzz_expect(loaded_build(&loaded, file, NULL, &error) == CAL_OK, "an example is built");
	run_live(&loaded, signals);
	loaded_destroy(&loaded);
}

const FuzzTarget fuzz_live = {"live", NULL, run};
