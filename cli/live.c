// SPDX-License-Identifier: Apache-2.0
/*
 * live.c — a run that is watched: pace, ticks, commands.
 *
 * The page's hand is a device that pushes a body at a point; a slider is one that pulls a joint to a place, like a
 * critically damped spring. Both read what the last command said, so that nothing is added while the simulation runs.
 */
#define _GNU_SOURCE // open_memstream

#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "interrupt.h"
#include "page.h"
#include "server.h"

enum { TICKS_PER_SECOND = 60, MAX_SLIDERS = 256, MAX_TICKS = 1000000 };

typedef struct Slider {
	CalJointId joint;
	int dof;
	bool on;
	double target;
	double inertia; // that the joint feels [kg m^2] or [kg]
} Slider;

struct Live {
	const CalSetup *setup;
	CalLive *view;
	Server *server;
	CalSampler *sampler;
	const CalScenario *scenario; // whose log the pages get
	int64_t sent_entries;        // entries of it so far
	char *document;
	unsigned char *tick;
	double *row; // [column_count]
	bool paused;
	double step_end;   // simulated time up to which steps are taken while paused
	double speed;      // 0: as fast as it can
	double wall, t;    // when the pace began, and the simulated time then
	double next_tick;  // wall time
	double next_state; //
	double state_wall, state_t;
	// what the page does
	bool pushing;
	CalBodyId body;
	CalVec3 point, force; // in the body frame; world axes
	Slider sliders[MAX_SLIDERS];
	int slider_count;
	char end[512]; // the message that the run is over
};

/* ---- the page's hand ------------------------------------------------------------------------------- */

static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static CalVec3 turned(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
	                 R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
	                 R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}

static int push_body(const Live *live, CalEvalContext *context) {
	CalNodeRef node_ref;
	CalPose pose;
	const CalNodeId node = cal_desc_body_node(cal_setup_desc(live->setup), live->body);
	if (!cal_context_find_node(context, node, &node_ref) ||
	    cal_context_node_motion(context, node_ref, &pose, NULL) != CAL_OK)
		return 0;
	const CalVec3 arm = turned(&pose.R, live->point);
	return cal_context_apply_wrench(context, node_ref, CAL_FRAME_WORLD,
	                                (CalSpatial){cross(arm, live->force), live->force});
}

/* As a spring of 3 rad/s with critical damping. */
static int pull_joint(const Slider *slider, CalEvalContext *context) {
	static const double frequency = 3;
	CalDofRef dof_ref;
	if (!cal_context_find_dof(context, slider->joint, slider->dof, &dof_ref) || dof_ref.q < 0)
		return 0;
	const double off = slider->target - cal_context_q(context, dof_ref), rate = cal_context_u(context, dof_ref);
	return cal_context_apply_effort(context, dof_ref, slider->inertia * frequency * (frequency * off - 2 * rate));
}

static int hand_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Live *live = *(Live *const *)device->data;
	int failed = 0;
	(void)xdot;
	if (live->pushing)
		failed = push_body(live, context);
	for (int i = 0; i < live->slider_count && !failed; i++)
		if (live->sliders[i].on)
			failed = pull_joint(&live->sliders[i], context);
	return failed;
}

static const CalDeviceOps hand_ops = {.type = "hand", .evaluate = hand_evaluate};

/* ---- commands ---------------------------------------------------------------------------------------- */

/* What follows `"key":`, NULL: the key is not there. Commands are flat and come from our own page. */
static const char *value_of(const char *text, const char *key) {
	char quoted[40];
	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	for (const char *at = text; (at = strstr(at, quoted)) != NULL;) {
		at += strlen(quoted);
		at += strspn(at, " \t\n");
		if (*at == ':') // otherwise it is a value
			return at + 1 + strspn(at + 1, " \t\n");
	}
	return NULL;
}

static bool number_of(const char *text, const char *key, double *value) {
	const char *at = value_of(text, key);
	char *end;
	*value = at ? strtod(at, &end) : NAN;
	return at && end != at && isfinite(*value);
}

static bool vector_of(const char *text, const char *key, CalVec3 *v) {
	const char *at = value_of(text, key);
	double values[3];
	for (int i = 0; i < 3; i++) {
		char *end;
		if (!at || (at = strchr(at, i ? ',' : '[')) == NULL)
			return false;
		values[i] = strtod(at + 1, &end);
		if (end == at + 1 || !isfinite(values[i]))
			return false;
		at = end;
	}
	*v = (CalVec3){values[0], values[1], values[2]};
	return true;
}

static bool is_command(const char *text, const char *name) {
	const char *at = value_of(text, "command");
	return at && *at == '"' && strncmp(at + 1, name, strlen(name)) == 0 && at[1 + strlen(name)] == '"';
}

static void begin_pace(Live *live, CalSim *sim) {
	live->wall = clock_now();
	live->t = cal_sim_time(sim);
}

static void set_pointer_force(Live *live, const char *text) {
	double body;
	CalVec3 point, force;
	if (!number_of(text, "body", &body) || !vector_of(text, "point", &point) || !vector_of(text, "force", &force))
		return;
	if (body < 0 || body >= cal_desc_body_count(cal_setup_desc(live->setup)))
		return;
	live->body = (CalBodyId){(uint32_t)body + 1};
	live->point = point;
	live->force = force;
	live->pushing = true;
}

/* The diagonal of the mass matrix: what the joint feels of everything that it carries. */
static double inertia_of(CalSim *sim, CalJointId joint, int dof) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimView view;
		CalBodyInfo info;
		if (cal_sim_observe(sim, g, &view) != CAL_OK)
			continue;
		const int nu = cal_model_u_count(view.model);
		for (int i = 0; i < cal_model_body_count(view.model); i++) {
			cal_model_body(view.model, i, &info);
			if (info.joint_id.value != joint.value || dof >= info.nu)
				continue;
			double *M = malloc((size_t)nu * (size_t)nu * sizeof *M), inertia = 1;
			if (M && cal_mass_matrix(view.model, view.state, view.work, M) == CAL_OK)
				inertia = M[(info.u + dof) * (nu + 1)];
			free(M);
			return inertia;
		}
	}
	return 1;
}

/* The slider that a command names; NULL: there is none yet, or no such joint, which *valid says. */
static Slider *find_slider(Live *live, const char *text, CalJointId *id, int *dof, bool *valid) {
	double joint, number;
	*valid = number_of(text, "joint", &joint) && number_of(text, "dof", &number) && joint >= 0 &&
	         joint < cal_desc_joint_count(cal_setup_desc(live->setup)) && number >= 0 && number < CAL_JOINT_MAX_DOF;
	if (!*valid)
		return NULL;
	*id = (CalJointId){(uint32_t)joint + 1};
	*dof = (int)number;
	for (int i = 0; i < live->slider_count; i++)
		if (live->sliders[i].joint.value == id->value && live->sliders[i].dof == *dof)
			return &live->sliders[i];
	return NULL;
}

static void set_joint_target(Live *live, CalSim *sim, const char *text) {
	double value;
	CalJointId id;
	int dof;
	bool valid;
	Slider *slider = find_slider(live, text, &id, &dof, &valid);
	if (!valid || !number_of(text, "value", &value))
		return;
	if (!slider && live->slider_count < MAX_SLIDERS) {
		slider = &live->sliders[live->slider_count++];
		*slider = (Slider){.joint = id, .dof = dof, .inertia = inertia_of(sim, id, dof)};
	}
	if (slider) {
		slider->on = true;
		slider->target = value;
	}
}

static void release_joint(Live *live, const char *text) {
	CalJointId id;
	int dof;
	bool valid;
	Slider *slider = find_slider(live, text, &id, &dof, &valid);
	if (slider)
		slider->on = false;
}

/* As much simulated time as passes between two ticks: solver steps may be too short to be seen. */
static void allow_steps(Live *live, CalSim *sim, const char *text) {
	double count;
	if (!number_of(text, "count", &count) || !(count >= 1 && count <= MAX_TICKS))
		count = 1;
	const double tick = (live->speed > 0 ? live->speed : 1) / TICKS_PER_SECOND;
	live->step_end = fmax(live->step_end, cal_sim_time(sim)) + count * tick;
}

static void run_command(Live *live, CalSim *sim, const char *text) {
	double value;
	if (is_command(text, "pause")) {
		live->paused = true;
		live->step_end = -INFINITY;
	} else if (is_command(text, "resume")) {
		live->paused = false;
		begin_pace(live, sim);
	} else if (is_command(text, "step")) {
		allow_steps(live, sim, text);
	} else if (is_command(text, "speed") && number_of(text, "value", &value) && value >= 0) {
		live->speed = value;
		begin_pace(live, sim);
	} else if (is_command(text, "force")) {
		set_pointer_force(live, text);
	} else if (is_command(text, "release")) {
		live->pushing = false;
	} else if (is_command(text, "joint")) {
		set_joint_target(live, sim, text);
	} else if (is_command(text, "release_joint")) {
		release_joint(live, text);
	}
	live->next_state = 0; // pages get what became of it
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
	char text[256];
	const double span = wall - live->state_wall;
	const double factor = span > 0 ? (cal_sim_time(sim) - live->state_t) / span : 0;
	snprintf(text, sizeof text, "{\"state\":{\"running\":%s,\"speed\":%.6g,\"real_time_factor\":%.6g}}",
	         live->paused ? "false" : "true", live->speed, factor);
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

static void read_commands(Live *live, CalSim *sim) {
	char text[SERVER_COMMAND_SIZE];
	while (server_command(live->server, text))
		run_command(live, sim, text);
}

/* Waits for a time that commands may move; as long as it is to come, pages are answered and updated. */
static CalStatus wait_until(Live *live, CalSim *sim, double (*until)(const Live *live, const CalSim *sim)) {
	static const double slice = 0.01; // [s]
	CalStatus status = CAL_OK;
	for (double now = clock_now(), end; status == CAL_OK && !interrupt_caught() && (end = until(live, sim)) > now;
	     now = clock_now()) {
		clock_sleep_until(fmin(end, now + slice));
		read_commands(live, sim);
		status = end > now + slice ? send_updates(live, sim, false) : CAL_OK;
	}
	return status;
}

static double end_of_pause(const Live *live, const CalSim *sim) {
	return live->paused && cal_sim_time(sim) >= live->step_end ? INFINITY : 0;
}

/* When the simulated time is due; at once while paused, so that the pause is noticed. */
static double when_due(const Live *live, const CalSim *sim) {
	return live->speed > 0 && !live->paused ? live->wall + (cal_sim_time(sim) - live->t) / live->speed : 0;
}

CalStatus live_step(Live *live, CalSim *sim, double t_limit, CalError *error) {
	read_commands(live, sim);
	CalStatus status = wait_until(live, sim, end_of_pause);
	if (status == CAL_OK && interrupt_caught())
		return CAL_OK;
	if (status == CAL_OK)
		status = cal_sim_step(sim, t_limit, error);
	if (status != CAL_OK)
		return status;
	const bool stepped = live->paused && cal_sim_time(sim) >= live->step_end; // the page gets where it ended
	status = send_updates(live, sim, stepped);
	if (stepped || when_due(live, sim) < clock_now() - 0.5)
		begin_pace(live, sim); // it cannot keep up: the pace begins anew, instead of a hunt
	return status == CAL_OK ? wait_until(live, sim, when_due) : status;
}

/* ---- beginning and end ---------------------------------------------------------------------------------- */

int live_create(Live **live, const CalSetup *setup, CalSim *sim, const char *path) {
	Live *made = *live = calloc(1, sizeof *made);
	if (!made)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	*made = (Live){.setup = setup, .speed = 1, .step_end = -INFINITY};
	const CalDeviceDef hand = {
		.name = "live hand", .ops = &hand_ops, .data = &made, .data_size = sizeof made, .wrench_count = 1};
	CalError error = {0};
	return say_status(path, cal_sim_add_device(sim, &hand, NULL, &error), &error);
}

static CalStatus make_document(Live *live, const char *title, CalError *error) {
	size_t length = 0;
	FILE *out = open_memstream(&live->document, &length);
	if (!out)
		return CAL_ERR_MEMORY;
	fputs("{\"document\":", out);
	CalStatus status = cal_live_document(live->view, title, out, error);
	fputc('}', out);
	return fclose(out) == 0 ? status : CAL_ERR_MEMORY;
}

static CalStatus make_view(Live *live, CalSampler *sampler, const char *title, CalError *error) {
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
	return status == CAL_OK ? make_document(live, title, error) : status;
}

int live_open(Live *live, CalSampler *sampler, CalSim *sim, const CalScenario *scenario, const char *title, int port,
              bool browser, const char *path) {
	CalError error = {0};
	char message[300];
	const CalStatus status = make_view(live, sampler, title, &error);
	if (status != CAL_OK)
		return say_status(path, status, &error);
	const ServerOptions options = {.port = port,
	                               .page = page_text(),
	                               .page_length = page_length(),
	                               .document = live->document,
	                               .tick_size = cal_live_tick_size(live->view)};
	live->server = server_start(&options, message, sizeof message);
	if (!live->server) {
		say_error(path, message);
		return EXIT_INPUT;
	}
	live->scenario = scenario;
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
	free(live->document);
	free(live->tick);
	free(live->row);
	free(live);
}
