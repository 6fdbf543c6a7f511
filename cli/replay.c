// SPDX-License-Identifier: Apache-2.0
/*
 * replay.c — the stream that the viewer needs.
 */
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* before: "pose:", then the name of the object; mode from 1, 0: none. */
static bool add_signal_of(RecordStream *stream, CalSim *sim, const char *before, const char *object, int mode) {
	const size_t size = strlen(before) + strlen(object) + 24;
	char *name = malloc(size);
	if (!name)
		return false;
	if (mode == 0)
		snprintf(name, size, "%s%s", before, object);
	else
		snprintf(name, size, "%s%s.eta%d", before, object, mode);
	const CalStatus status = cal_sampler_add(stream->sampler, sim, name, NULL);
	free(name);
	return status != CAL_ERR_MEMORY;
}

/* The velocity of a body, whose angular part is followed. */
static bool add_velocity(RecordStream *stream, CalSim *sim, const char *body) {
	const int first = cal_sampler_column_count(stream->sampler);
	if (!add_signal_of(stream, sim, "velocity:", body, 0))
		return false;
	if (cal_sampler_column_count(stream->sampler) == first + 6) // there, and not the node of another name
		stream->spins[stream->spin_count++] = first + 3;
	return true;
}

static bool add_body(RecordStream *stream, CalSim *sim, const CalBodyInfo *info) {
	bool done = add_signal_of(stream, sim, "pose:", info->name, 0) && add_velocity(stream, sim, info->name);
	for (int i = 0; i < info->modes && done; i++)
		done = add_signal_of(stream, sim, "q:", info->name, i + 1);
	return done;
}

int replay_set_stream(Record *record, RecordStream *stream, CalSim *sim, double interval, const char *h5_path,
                      const char *path) {
	static const double film = 1.0 / 60, moments = 2000;
	const double duration = record->end - record->start;
	stream->name = "replay";
	stream->along = !(interval > 0);
	stream->interval = interval > 0 ? interval : fmin(film, duration / moments);
	bool done = record_set_path(stream, h5_path, false) == EXIT_OK;
	int rows = 0, bodies = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		bodies += cal_model_body_count(cal_sim_model(sim, g));
	stream->spins = calloc((size_t)bodies + 1, sizeof *stream->spins);
	done = done && stream->spins;
	for (int g = 0; g < cal_sim_group_count(sim) && done; g++) {
		const CalModel *model = cal_sim_model(sim, g);
		rows += cal_model_row_count(model);
		for (int i = 0; i < cal_model_body_count(model) && done; i++) {
			CalBodyInfo info;
			done = cal_model_body(model, i, &info) == CAL_OK && add_body(stream, sim, &info);
		}
	}
	for (int i = 0; i < cal_sim_device_count(sim) && done; i++) {
		CalDeviceInfo info;
		if (cal_sim_device(sim, i, &info) == CAL_OK && strcmp(info.ops->type, "contact") == 0) // for arrows
			done = add_signal_of(stream, sim, "device:", info.name, 0);
	}
	done = done && add_signal_of(stream, sim, "balance", "", 0) && add_signal_of(stream, sim, "total_momentum", "", 0);
	if (done && rows > 0)
		done = add_signal_of(stream, sim, "residual", "", 0);
	return done ? EXIT_OK : say_status(path, CAL_ERR_MEMORY, NULL);
}
