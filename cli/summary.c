// SPDX-License-Identifier: Apache-2.0
/*
 * summary.c — the physics summary of a run, as text and as JSON.
 *
 * Energy and momentum are always shown with how much they changed; the change is called drift only where
 * nothing acted that may change them. Relative energy drift refers to the largest kinetic energy, which,
 * unlike the total, does not depend on where potential energies are zero.
 */
#include <math.h>

#include "summary.h"

static double length(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

CalStatus summary_watch(Summary *summary, CalSim *sim) {
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		CalSimMonitor now;
		CalStatus status = cal_sim_monitor(sim, i, &now);
		if (status != CAL_OK)
			return status;
		Drift *drift = &summary->drift[i];
		drift->energy = fmax(drift->energy, fabs(now.energy_change));
		drift->linear = fmax(drift->linear, length(now.linear_change));
		drift->angular = fmax(drift->angular, length(now.angular_change));
		if (now.residual > drift->residual) {
			drift->residual = now.residual;
			drift->residual_row = now.residual_row;
		}
	}
	return CAL_OK;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_group(const Summary *summary, CalSim *sim, int group, FILE *out) {
	const CalModel *model = cal_sim_model(sim, group);
	const Drift *drift = &summary->drift[group];
	int bodies = cal_model_body_count(model), dofs = cal_model_u_count(model);
	CalSimMonitor now = {0};
	fprintf(out, "  group       \"%s\": %d %s, %d %s of freedom\n", cal_model_name(model), bodies,
	        bodies == 1 ? "body" : "bodies", dofs, dofs == 1 ? "degree" : "degrees");
	if (cal_sim_monitor(sim, group, &now) != CAL_OK) {
		fprintf(out, "  energy      not finite at the end\n");
		return;
	}
	fprintf(out, "  energy      %.9g J, largest kinetic %.6g J\n", now.energy.total, now.energy_scale);
	if (now.energy_conserved)
		fprintf(out, "              drift %.2e J, %.2e of the largest kinetic energy\n", drift->energy,
		        now.energy_scale > 0 ? drift->energy / now.energy_scale : 0.0);
	else
		fprintf(out, "              changed by up to %.6g J (loads, dampers or driven joints do work)\n",
		        drift->energy);
	fprintf(out, "  momentum    linear %.6g kg m/s, angular %.6g kg m^2/s about the origin\n",
	        length(now.momentum.linear), length(now.momentum.angular_origin));
	if (now.momentum_conserved)
		fprintf(out, "              drift %.2e kg m/s and %.2e kg m^2/s\n", drift->linear, drift->angular);
	else
		fprintf(out, "              changed by up to %.6g kg m/s and %.6g kg m^2/s (something acts from outside)\n",
		        drift->linear, drift->angular);
	if (cal_model_row_count(model) > 0) {
		char row[96] = "";
		cal_model_row_name(model, drift->residual_row, row, sizeof row);
		fprintf(out, "  loops       closed to %.2e (%s)\n", drift->residual, row);
	}
}

static void print_stream(const SummaryStream *stream, FILE *out) {
	fprintf(out, "  wrote       %s (%s: %lld records)\n", stream->file, stream->name, (long long)stream->count.written);
	if (stream->count.dropped)
		fprintf(out, "              DROPPED %lld records: the disk was slower than the simulation\n",
		        (long long)stream->count.dropped);
}

void summary_print(const Summary *summary, CalSim *sim, FILE *out) {
	CalSimStats stats = cal_sim_stats(sim);
	fprintf(out, "%s%s%s\n", summary->path, summary->title[0] ? ": " : "", summary->title);
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		print_group(summary, sim, i, out);
	fprintf(out, "  time        %.9g s simulated, %zu samples\n", stats.time, summary->samples);
	fprintf(out, "  steps       %lld by %s", (long long)stats.steps, cal_method_name(summary->method));
	if (stats.rejected)
		fprintf(out, ", %lld rejected", (long long)stats.rejected);
	fprintf(out, ", %lld evaluations of the dynamics\n", (long long)stats.evaluations);
	fprintf(out, "  real time   %.*f times faster (%.4g s wall, %.4g s CPU)\n", stats.real_time_factor < 100 ? 2 : 0,
	        stats.real_time_factor, stats.wall_s, stats.cpu_s);
	if (summary->paced)
		realtime_print(summary->paced, out);
	for (int i = 0; i < summary->stream_count; i++)
		print_stream(&summary->streams[i], out);
	if (summary->svg)
		fprintf(out, "  wrote       %s\n", summary->svg);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_field(FILE *out, const char *name, double value) {
	fprintf(out, ", \"%s\": ", name);
	json_number(out, value);
}

static void json_group(const Summary *summary, CalSim *sim, int group, FILE *out) {
	const CalModel *model = cal_sim_model(sim, group);
	const Drift *drift = &summary->drift[group];
	CalSimMonitor now = {0};
	CalStatus status = cal_sim_monitor(sim, group, &now);
	fprintf(out, "%s\n    {\"name\": ", group ? "," : "");
	json_string(out, cal_model_name(model));
	fprintf(out, ", \"bodies\": %d, \"dof\": %d, \"finite\": %s,\n     \"energy_conserved\": %s",
	        cal_model_body_count(model), cal_model_u_count(model), status == CAL_OK ? "true" : "false",
	        now.energy_conserved ? "true" : "false");
	json_field(out, "energy", now.energy.total);
	json_field(out, "energy_change", drift->energy);
	json_field(out, "largest_kinetic_energy", now.energy_scale);
	fprintf(out, ",\n     \"momentum_conserved\": %s", now.momentum_conserved ? "true" : "false");
	fprintf(out, ", \"linear_momentum\": ");
	json_vec3(out, now.momentum.linear);
	fprintf(out, ", \"angular_momentum\": ");
	json_vec3(out, now.momentum.angular_origin);
	json_field(out, "linear_change", drift->linear);
	json_field(out, "angular_change", drift->angular);
	if (cal_model_row_count(model) > 0)
		json_field(out, "largest_residual", drift->residual);
	putc('}', out);
}

void summary_print_json(const Summary *summary, CalSim *sim, FILE *out) {
	CalSimStats stats = cal_sim_stats(sim);
	fprintf(out, "{\n  \"file\": ");
	json_string(out, summary->path);
	fprintf(out, ", \"title\": ");
	json_string(out, summary->title);
	fprintf(out, ", \"method\": ");
	json_string(out, cal_method_name(summary->method));
	fprintf(out, ",\n  \"groups\": [");
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		json_group(summary, sim, i, out);
	fprintf(out, "],\n  \"samples\": %zu, \"steps\": %lld, \"rejected\": %lld, \"evaluations\": %lld", summary->samples,
	        (long long)stats.steps, (long long)stats.rejected, (long long)stats.evaluations);
	json_field(out, "time", stats.time);
	json_field(out, "wall_s", stats.wall_s);
	json_field(out, "cpu_s", stats.cpu_s);
	json_field(out, "real_time_factor", stats.real_time_factor);
	if (summary->paced)
		realtime_print_json(summary->paced, out);
	fprintf(out, ",\n  \"streams\": [");
	for (int i = 0; i < summary->stream_count; i++) {
		const SummaryStream *stream = &summary->streams[i];
		fprintf(out, "%s{\"name\": ", i ? ", " : "");
		json_string(out, stream->name);
		fprintf(out, ", \"file\": ");
		json_string(out, stream->file);
		fprintf(out, ", \"written\": %lld, \"dropped\": %lld}", (long long)stream->count.written,
		        (long long)stream->count.dropped);
	}
	fprintf(out, "]\n}\n");
}
