// SPDX-License-Identifier: Apache-2.0
/*
 * live.c — a running simulation for the viewer: the document that begins, and a block of bytes for every moment. Arrows are
 * the strongest points of every contact, as its outputs have them (device/contact.c).
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/flex.h>
#include <calder/parameter.h>
#include <calder/replay.h>

#include "base/error.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "math/placement.h"
#include "view/flexible_shapes.h"
#include "view/scene.h"
#include "view/view_settings.h"

enum { CONTACT_ARROWS = 4, CONTACT_OUTPUTS = 28 }; // shown of each contact; outputs of one, of which these come last

struct CalLive {
	const CalSetup *setup;
	int bodies, eta_count, signal_count, contact_count;
	CalReplaySignal *signals; // their texts come last in the block
	int *eta_at;              // [bodies] first modal coordinate of each among those of all
	const char **contacts;    // [contact_count] names of devices, of the setup
	uint32_t sequence;
};

static size_t text_size(const CalReplaySignal *signals, int count) {
	size_t size = 0;
	for (int i = 0; i < count; i++)
		size += strlen(signals[i].name) + strlen(signals[i].unit) + 2;
	return size;
}

static const char *copy_text(char **at, const char *text) {
	const size_t size = strlen(text) + 1;
	char *copy = memcpy(*at, text, size);
	*at += size;
	return copy;
}

/* Devices that are contacts; names: where those go, NULL: nowhere. Returns how many. */
static int find_contacts(const CalSetup *setup, const char **names) {
	int count = 0;
	for (int i = 0; i < cal_setup_device_count(setup); i++) {
		const char *type, *name;
		if (cal_setup_device(setup, i, &type, &name, NULL) != CAL_OK || strcmp(type, "contact") != 0)
			continue;
		if (names)
			names[count] = name;
		count++;
	}
	return count;
}

/* The object itself, and its arrays after it. */
static char *layout_live(CalLive *live, size_t text, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *live);
	CURSOR_ARRAY(cursor, live->signals, live->signal_count);
	CURSOR_ARRAY(cursor, live->eta_at, live->bodies);
	CURSOR_ARRAY(cursor, live->contacts, live->contact_count);
	return cursor_array(cursor, text, 1);
}

CalStatus cal_live_create(const CalSetup *setup, const CalReplaySignal *signals, int signal_count, CalLive **live,
                          CalError *error) {
	if (!setup || !live || signal_count < 0 || (signal_count && !signals))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_live_create: give a setup, signals and a place for the result");
	for (int i = 0; i < signal_count; i++)
		if (!signals[i].name || !signals[i].unit)
			return error_set(error, CAL_ERR_ARGUMENT, "cal_live_create: signal %d needs a name and a unit", i);
	const CalDesc *desc = cal_setup_desc(setup);
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t size = text_size(signals, signal_count);
	CalLive counted = {.setup = setup,
	                   .bodies = cal_desc_body_count(desc),
	                   .signal_count = signal_count,
	                   .contact_count = find_contacts(setup, NULL)};
	Cursor cursor = {.align = sizeof(double)};
	layout_live(&counted, size, &cursor);
	CalLive *made = *live = cursor_alloc_at_start(&cursor, &allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "out of memory for a live view");
	*made = counted;
	char *text = layout_live(made, size, &cursor);
	for (int i = 0; i < signal_count; i++) {
		made->signals[i].name = copy_text(&text, signals[i].name);
		made->signals[i].unit = copy_text(&text, signals[i].unit);
	}
	find_contacts(setup, made->contacts);
	for (int i = 0; i < made->bodies; i++) {
		made->eta_at[i] = made->eta_count;
		made->eta_count += flexible_modes(desc, (CalBodyId){(uint32_t)i + 1});
	}
	return CAL_OK;
}

void cal_live_destroy(CalLive *live) {
	const CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, live);
}

/* Dragging by a meter then gives the whole 2 m/s^2. */
static double total_mass(const CalDesc *desc) {
	double mass = 0;
	for (int i = 1; i <= cal_desc_body_count(desc); i++) {
		CalBodyDef rigid;
		CalFlexDef flex;
		if (cal_flex_body(desc, (CalBodyId){(uint32_t)i}, &rigid, &flex) != CAL_OK)
			continue;
		mass += rigid.mass;
		for (int k = 0; flex.modes && k < flex.node_count; k++)
			mass += flex.nodes[k].mass;
	}
	return mass;
}

static void write_parameters(JsonWriter *d, const CalSim *sim) {
	CalParameter p;
	json_writer_key(d, "parameters");
	json_writer_open(d, '[');
	for (int i = 0; i < CAL_LIVE_PARAMETERS && cal_sim_parameter(sim, i, &p) == CAL_OK; i++) {
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", p.name);
		json_writer_put_text(d, "unit", p.unit);
		json_writer_put_number(d, "value", p.value);
		if (p.low > -DBL_MAX)
			json_writer_put_number(d, "low", p.low);
		if (p.high < DBL_MAX)
			json_writer_put_number(d, "high", p.high);
		if (p.fixed)
			json_writer_put_text(d, "fixed", p.fixed);
		json_writer_close(d);
	}
	json_writer_close(d);
}

static void write_arrows(JsonWriter *d, const CalLive *live) {
	json_writer_key(d, "arrows");
	json_writer_open(d, '[');
	for (int i = 0; i < live->contact_count * CONTACT_ARROWS; i++) {
		char name[300];
		snprintf(name, sizeof name, "device:%.250s.x%d", live->contacts[i / CONTACT_ARROWS], i % CONTACT_ARROWS + 1);
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", name);
		json_writer_put_text(d, "kind", "contact");
		json_writer_put_text(d, "unit", "N");
		json_writer_close(d);
	}
	json_writer_close(d);
}

CalStatus cal_live_document(const CalLive *live, const CalSim *sim, const char *title, FILE *out, CalError *error) {
	if (!live || !out)
		return error_null(error, __func__, "live or out");
	JsonWriter d = {.out = out};
	json_writer_open(&d, '{');
	json_writer_put_text(&d, "format", "calder-replay");
	json_writer_put_number(&d, "version", 1);
	json_writer_put_text(&d, "title", title ? title : "");
	json_writer_put_text(&d, "software", "calder");
	json_writer_put_text(&d, "software_version", cal_version());
	const CalStatus status = scene_write(&d, live->setup, true, error);
	view_settings_write(&d, live->setup, NULL);
	json_writer_key(&d, "signals");
	json_writer_open(&d, '[');
	for (int i = 0; i < live->signal_count; i++) {
		json_writer_open(&d, '{');
		json_writer_put_text(&d, "name", live->signals[i].name);
		json_writer_put_text(&d, "unit", live->signals[i].unit);
		json_writer_close(&d);
	}
	json_writer_close(&d);
	write_arrows(&d, live);
	json_writer_key(&d, "live");
	json_writer_open(&d, '{');
	json_writer_put_number(&d, "force_per_meter", 2 * total_mass(cal_setup_desc(live->setup)));
	json_writer_key(&d, "velocity");
	json_writer_flag(&d, true);
	if (sim)
		write_parameters(&d, sim);
	json_writer_close(&d);
	json_writer_close(&d);
	return status;
}

/* ---- ticks ------------------------------------------------------------------------------------------- */

enum { TICK_MAGIC = 0x4b435443, TICK_HEADER = 16, POSE_SIZE = 7, VELOCITY_SIZE = 6, ARROW_SIZE = 6 };

size_t cal_live_tick_size(const CalLive *live) {
	if (!live)
		return 0;
	const size_t of_bodies = (size_t)live->bodies * (POSE_SIZE + VELOCITY_SIZE);
	const size_t arrows = (size_t)live->contact_count * CONTACT_ARROWS * ARROW_SIZE;
	return TICK_HEADER + (size_t)live->signal_count * 8 + (of_bodies + (size_t)live->eta_count + arrows) * 4;
}

static void put_u32(uint8_t *at, uint32_t value) {
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put_f32(uint8_t *at, double value) {
	const float number = (float)value;
	uint32_t bits;
	memcpy(&bits, &number, sizeof bits);
	put_u32(at, bits);
}

static void put_f64(uint8_t *at, double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_u32(at, (uint32_t)bits);
	put_u32(at + 4, (uint32_t)(bits >> 32));
}

/* Where the parts of a tick are. */
typedef struct Tick {
	uint8_t *poses, *velocities, *etas;
} Tick;

static void put_all(uint8_t *to, int first, const double *values, int count) {
	for (int k = 0; k < count; k++)
		put_f32(to + 4 * (first + k), values[k]);
}

static CalStatus put_body(const CalLive *live, const CalSimView *view, int index, const Tick *tick) {
	CalBodyInfo info;
	CalPose pose;
	CalSpatial velocity;
	CalStatus status = cal_model_body(view->model, index, &info);
	if (status == CAL_OK)
		status = cal_node_pose(view->model, view->work, info.node, &pose);
	if (status == CAL_OK)
		status = cal_node_velocity(view->model, view->work, info.node, &velocity);
	const int at = status == CAL_OK ? (int)info.id.value - 1 : -1;
	if (at < 0 || at >= live->bodies)
		return status; // it was added while the simulation ran
	const CalQuat turn = quat_of_matrix(dmat_in(&pose.R));
	const CalVec3 v = velocity.linear, w = velocity.angular;
	put_all(tick->poses, POSE_SIZE * at, (double[]){pose.r.x, pose.r.y, pose.r.z, turn.w, turn.x, turn.y, turn.z},
	        POSE_SIZE);
	put_all(tick->velocities, VELOCITY_SIZE * at, (double[]){v.x, v.y, v.z, w.x, w.y, w.z}, VELOCITY_SIZE);
	put_all(tick->etas, live->eta_at[at], view->state->q + info.q + info.nq, info.modes);
	return CAL_OK;
}

typedef struct ArrowTick {
	const CalLive *live;
	CalSim *sim;
	uint8_t *to;
} ArrowTick;

/* At a place and a force each; zero: there are fewer points. */
static CalStatus put_arrows(void *user, CalEvalContext *context) {
	const ArrowTick *tick = user;
	double outputs[CONTACT_OUTPUTS];
	CalStatus status = CAL_OK;
	for (int i = 0; i < tick->live->contact_count && status == CAL_OK; i++) {
		const int device = cal_sim_find_device(tick->sim, tick->live->contacts[i]);
		memset(outputs, 0, sizeof outputs);
		if (device >= 0)
			status = cal_context_device_outputs(context, device, outputs);
		put_all(tick->to, i * CONTACT_ARROWS * ARROW_SIZE, outputs + CONTACT_OUTPUTS - CONTACT_ARROWS * ARROW_SIZE,
		        CONTACT_ARROWS * ARROW_SIZE);
	}
	return status;
}

/* Bodies that are in no group are not finite: not drawn. */
CalStatus cal_live_tick(CalLive *live, CalSim *sim, const double *signals, void *bytes) {
	if (!live || !sim || !bytes || (live->signal_count > 0 && !signals))
		return CAL_ERR_ARGUMENT;
	uint8_t *at = bytes, *values = at + TICK_HEADER, *poses = values + 8 * live->signal_count;
	uint8_t *velocities = poses + 4 * POSE_SIZE * live->bodies;
	const Tick tick = {poses, velocities, velocities + 4 * VELOCITY_SIZE * live->bodies};
	put_u32(at, TICK_MAGIC);
	put_u32(at + 4, live->sequence++);
	put_f64(at + 8, cal_sim_time(sim));
	for (int i = 0; i < live->signal_count; i++)
		put_f64(values + 8 * i, signals[i]);
	for (int i = 0; i < (POSE_SIZE + VELOCITY_SIZE) * live->bodies + live->eta_count; i++)
		put_f32(poses + 4 * i, (double)NAN);
	CalStatus status = CAL_OK;
	for (int g = 0; g < cal_sim_group_count(sim) && status == CAL_OK; g++) {
		CalSimView view;
		status = g == 0 ? cal_sim_observe(sim, g, &view) : cal_sim_observe_also(sim, g, &view);
		for (int i = 0; status == CAL_OK && i < cal_model_body_count(view.model); i++)
			status = put_body(live, &view, i, &tick);
	}
	if (status == CAL_OK && live->contact_count > 0)
		status = cal_sim_inspect(sim, put_arrows, &(ArrowTick){live, sim, tick.etas + 4 * live->eta_count});
	return status;
}
