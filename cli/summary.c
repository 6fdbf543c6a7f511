// SPDX-License-Identifier: Apache-2.0
/*
 * summary.c — the physics summary of a run, as text and as JSON.
 *
 * Energy and momentum are always shown with how much they changed; the change is called drift only where
 * nothing acted that may change them. Relative energy drift refers to the largest kinetic energy, which,
 * unlike the total, does not depend on where potential energies are zero.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubts.h"
#include "summary.h"

static double length(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* The record of a group by its name, made if there is none; NULL: out of memory. */
static Drift *drift_of(Summary *summary, const char *name) {
	const int found = name_table_find(&summary->drift_names, name);
	if (found >= 0)
		return &summary->drift[found];
	if (summary->drift_count == summary->drift_capacity) {
		int capacity = 2 * summary->drift_capacity + 4;
		Drift *more = realloc(summary->drift, (size_t)capacity * sizeof *more);
		if (!more)
			return NULL;
		summary->drift = more;
		summary->drift_capacity = capacity;
	}
	const size_t size = strlen(name) + 1;
	char *copy = malloc(size);
	if (!copy || !name_table_add(&summary->drift_names, memcpy(copy, name, size), summary->drift_count)) {
		free(copy);
		return NULL;
	}
	Drift *made = &summary->drift[summary->drift_count++];
	*made = (Drift){.name = copy};
	return made;
}

static CalVec3 minus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

static CalStatus watch_group(Summary *summary, CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	CalSimMonitor now;
	CalStatus status = cal_sim_monitor(sim, group, &now);
	Drift *drift = status == CAL_OK ? drift_of(summary, cal_model_name(model)) : NULL;
	if (!drift)
		return status == CAL_OK ? CAL_ERR_MEMORY : status;
	drift->energy = fmax(drift->energy, fabs(now.energy_change));
	drift->scale = fmax(drift->scale, now.energy_scale); // the monitor's own starts anew when the topology changes
	drift->worked |= !now.energy_conserved;
	drift->pushed |= !now.momentum_conserved;
	drift->linear = fmax(drift->linear, length(now.linear_change));
	drift->angular = fmax(drift->angular, length(now.angular_change));
	if (now.residual > drift->residual) {
		drift->residual = now.residual;
		cal_model_row_name(model, now.residual_row, drift->residual_row, sizeof drift->residual_row);
	}
	summary->total.pushed |= drift->pushed;
	summary->total.held |= !now.momentum_free || now.momentum_loaded;
	return CAL_OK;
}

static CalStatus watch_total(TotalDrift *total, CalSim *sim) {
	CalSimBalance now;
	CalStatus status = cal_sim_balance(sim, &now);
	if (status != CAL_OK)
		return status;
	if (!total->started) {
		total->start_linear = now.linear;
		total->start_angular = now.angular;
		total->started = true;
	}
	total->incomplete |= !now.complete;
	total->linear = fmax(total->linear, length(minus(now.linear, total->start_linear)));
	total->angular = fmax(total->angular, length(minus(now.angular, total->start_angular)));
	return CAL_OK;
}

CalStatus summary_watch(Summary *summary, CalSim *sim) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < cal_sim_group_count(sim) && status == CAL_OK; i++)
		status = watch_group(summary, sim, i);
	const bool wanted = cal_sim_group_count(sim) > 1 || cal_sim_device_count(sim) > 0 ||
	                    cal_scenario_action_count(summary->scenario) > 0;
	summary->total.devices = cal_sim_device_count(sim) > 0;
	return status == CAL_OK && wanted ? watch_total(&summary->total, sim) : status;
}

void summary_free(Summary *summary) {
	for (int i = 0; i < summary->drift_count; i++)
		free(summary->drift[i].name);
	free(summary->drift);
	name_table_free(&summary->drift_names);
	summary->drift = NULL;
}

/* Of a group at the end; one that is new since the last sample has not drifted. */
static const Drift *drift_at(const Summary *summary, const CalModel *model) {
	static const Drift none;
	const int found = name_table_find(&summary->drift_names, cal_model_name(model));
	return found >= 0 ? &summary->drift[found] : &none;
}

/*
 * Is there more to say of all groups and devices together than of one group? Not where the ground, gravity, given motions or
 * loads act besides, which are in no balance.
 */
static bool has_total(const Summary *summary) {
	const TotalDrift *total = &summary->total;
	return total->started && (total->pushed ? !total->held && !total->incomplete : summary->drift_count > 1);
}

/* Why the momentum of a group changes. */
static const char *pushed_by(const Summary *summary) {
	return has_total(summary) ? "devices act on it; see \"all groups\" below" : "external forces act";
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_cut(const CalBranches *branches, FILE *out) {
	if (!branches) {
		fprintf(out, "  parallel    in one piece, by one thread: a partition would not be faster\n");
		return;
	}
	const int threads = cal_branches_threads(branches);
	fprintf(out, "  parallel    %d branches on %d %s%s\n", cal_branches_count(branches), threads,
	        threads == 1 ? "thread" : "threads", cal_branches_cross_loops(branches) ? "; loops span branches" : "");
}

static void print_group(const Summary *summary, CalSim *sim, int group, FILE *out) {
	const CalModel *model = cal_sim_model(sim, group);
	const Drift *drift = drift_at(summary, model);
	int bodies = cal_model_body_count(model), dofs = cal_model_u_count(model);
	CalSimMonitor now = {0};
	fprintf(out, "  group       \"%s\": %d %s, %d %s of freedom\n", cal_model_name(model), bodies,
	        bodies == 1 ? "body" : "bodies", dofs, dofs == 1 ? "degree" : "degrees");
	if (summary->cut)
		print_cut(cal_sim_branches(sim, group), out);
	if (cal_sim_monitor(sim, group, &now) != CAL_OK) {
		fprintf(out, "  energy      not finite at the end\n");
		return;
	}
	fprintf(out, "  energy      %.9g J, largest kinetic %.6g J\n", now.energy.total, drift->scale);
	if (!drift->worked)
		fprintf(out, "              drift %.2e J, %.2e of the largest kinetic energy\n", drift->energy,
		        drift->scale > 0 ? drift->energy / drift->scale : 0.0);
	else
		fprintf(out, "              changed by up to %.6g J (loads, devices, dampers or driven joints do work)\n",
		        drift->energy);
	fprintf(out, "  momentum    linear %.6g kg m/s, angular %.6g kg m^2/s about the origin\n",
	        length(now.momentum.linear), length(now.momentum.angular_origin));
	if (!drift->pushed)
		fprintf(out, "              drift %.2e kg m/s and %.2e kg m^2/s\n", drift->linear, drift->angular);
	else
		fprintf(out, "              changed by up to %.6g kg m/s and %.6g kg m^2/s (%s)\n", drift->linear,
		        drift->angular, pushed_by(summary));
	if (cal_model_row_count(model) > 0)
		fprintf(out, "  loops       closed to %.2e%s%s%s\n", drift->residual, drift->residual > 0 ? " (" : "",
		        drift->residual_row, drift->residual > 0 ? ")" : "");
}

/* What closing the loops moved at the start; where that had been stated, a doubt says it. */
static void print_start(const CalSim *sim, int group, FILE *out) {
	CalAssembly assembly;
	char text[900] = "";
	if (cal_sim_assembly(sim, group, &assembly) == CAL_OK && !assembly.doubtful)
		cal_sim_assembly_text(sim, group, text, sizeof text);
	if (text[0])
		fprintf(out, "  start       %s\n", text);
}

static void print_stream(const SummaryStream *stream, FILE *out) {
	fprintf(out, "  wrote       %s (%s: %lld record%s)\n", stream->file, stream->name, (long long)stream->count.written,
	        plural(stream->count.written));
	if (stream->count.dropped)
		fprintf(out, "              DROPPED %lld record%s: the disk was slower than the simulation\n",
		        (long long)stream->count.dropped, plural(stream->count.dropped));
}

static void print_ranks(const CalDistributionInfo *ranks, FILE *out) {
	const double evaluations = ranks->evaluations > 0 ? (double)ranks->evaluations : 1;
	fprintf(out, "  ranks       %d, of which %d %s %d %s; %d %s between ranks\n", ranks->size, ranks->busy,
	        ranks->busy == 1 ? "has" : "have", ranks->branches, ranks->branches == 1 ? "branch" : "branches",
	        ranks->interfaces, ranks->interfaces == 1 ? "interface" : "interfaces");
	fprintf(out, "              %g messages of %g numbers in total per evaluation; %lld gathers of %lld numbers\n",
	        (double)ranks->messages / evaluations, (double)ranks->numbers / evaluations, (long long)ranks->gathers,
	        (long long)ranks->gathered);
}

static void print_event(const CalScenarioEntry *entry, FILE *out) {
	static const double kept = 1e-6;
	fprintf(out, "  event       t = %.6f s, %s%s%s", entry->time, entry->event, entry->text[0] ? ": " : "",
	        entry->text);
	if (entry->refused != CAL_OK)
		fprintf(out, "; REFUSED: %s", entry->why);
	else if (entry->kinetic_lost != 0)
		fprintf(out, "; %s %.6g J", entry->kinetic_lost > 0 ? "lost" : "gained", fabs(entry->kinetic_lost));
	if ((entry->changed || entry->imposed) && entry->linear_jump < kept &&
	    entry->angular_jump < kept) // nothing is on the ground
		fprintf(out, "; momentum kept to %.1e kg m/s, %.1e kg m^2/s", entry->linear_jump, entry->angular_jump);
	else if (entry->imposed)
		fprintf(out, "; momentum changed by %.6g kg m/s, %.6g kg m^2/s", entry->linear_jump, entry->angular_jump);
	putc('\n', out);
}

enum { MOST_EVENTS = 40 }; // that are printed: the last ones

static void print_events(const CalScenario *scenario, FILE *out) {
	int64_t count = cal_scenario_entry_count(scenario);
	if (count > MOST_EVENTS)
		fprintf(out, "  event       %lld earlier ones are not shown\n", (long long)(count - MOST_EVENTS));
	for (int64_t i = count > MOST_EVENTS ? count - MOST_EVENTS : 0; i < count; i++) {
		CalScenarioEntry entry;
		if (cal_scenario_entry(scenario, i, &entry) == CAL_OK)
			print_event(&entry, out);
	}
	const char *why = "";
	if (cal_scenario_stopped(scenario, &why))
		fprintf(out, "  stopped     %s\n", why);
}

/* Where something came in or was lost, and everything that acts is in the accounts. */
static void print_balance(CalSim *sim, FILE *out) {
	CalSimBalance b;
	if (cal_sim_balance(sim, &b) != CAL_OK || !b.complete || (b.supplied == 0 && b.dissipated == 0))
		return;
	fprintf(out, "  balance     %.6g J supplied, %.6g J lost, %.6g J in devices; energy balance error %.2e J\n",
	        b.supplied, b.dissipated, b.stored, fabs(b.error));
}

static void print_formulation(const CalSim *sim, FILE *out) {
	static const double two_pi = 6.283185307179586;
	const CalFormulationReport r = cal_sim_formulation(sim);
	if (r.updates == 0)
		return;
	fprintf(out, "  formulation system matrices, %lld update%s; %d of %d modes retained", (long long)r.updates,
	        plural(r.updates), r.retained, r.modes);
	if (r.highest > 0 || r.next > 0)
		fprintf(out, ", up to %.4g Hz", r.highest / two_pi);
	if (r.next > 0)
		fprintf(out, " (next %.4g Hz)", r.next / two_pi);
	fprintf(
		out,
		"\n              before updates accelerations differ from order N by %.2e (rms), at most %.2e at t = %.4g s\n",
		r.error, r.largest, r.largest_time);
	if (r.next > 0)
		fprintf(out,
		        "              modes above that: %.4g J of deflections missing at most, %.4g J of motion removed\n",
		        r.missing_energy, r.energy_removed);
}

void summary_print(const Summary *summary, CalSim *sim, FILE *out) {
	CalSimStats stats = cal_sim_stats(sim);
	fprintf(out, "%s%s%s\n", summary->path, summary->title[0] ? ": " : "", summary->title);
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		print_group(summary, sim, i, out);
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		print_start(sim, i, out);
	if (has_total(summary))
		fprintf(out, "  all groups  momentum changed by up to %.2e kg m/s and %.2e kg m^2/s about the origin%s\n",
		        summary->total.linear, summary->total.angular, summary->total.devices ? ", with devices" : "");
	print_balance(sim, out);
	print_events(summary->scenario, out);
	fprintf(out, "  time        %.9g s simulated, %zu sample%s\n", stats.time, summary->samples,
	        plural((long long)summary->samples));
	print_formulation(sim, out);
	fprintf(out, "  steps       %lld by %s", (long long)stats.steps, cal_method_name(summary->method));
	if (stats.rejected)
		fprintf(out, ", %lld rejected", (long long)stats.rejected);
	fprintf(out, ", %lld evaluation%s of the dynamics\n", (long long)stats.evaluations, plural(stats.evaluations));
	fprintf(out, "  speed       %.*f x real time (%.4g s wall, %.4g s CPU)\n", stats.real_time_factor < 100 ? 2 : 0,
	        stats.real_time_factor, stats.wall_s, stats.cpu_s);
	if (summary->paced)
		realtime_print(summary->paced, out);
	if (summary->ranks.size > 0)
		print_ranks(&summary->ranks, out);
	for (int i = 0; i < summary->stream_count; i++)
		print_stream(&summary->streams[i], out);
	if (summary->svg)
		fprintf(out, "  wrote       %s\n", summary->svg);
	CalDoubt doubts[CAL_MAX_DOUBTS];
	doubts_print(doubts, doubts_of(sim, doubts), out);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_field(FILE *out, const char *name, double value) {
	fprintf(out, ", \"%s\": ", name);
	json_number(out, value);
}

/* Coordinates and speeds that closing the loops moved at the start. */
static void json_start(const CalSim *sim, int group, FILE *out) {
	const CalModel *model = cal_sim_model(sim, group);
	CalAssembly a;
	int said = 0;
	fputs(", \"assembly\": [", out);
	const bool known = cal_sim_assembly(sim, group, &a) == CAL_OK && a.q;
	for (int i = 0; known && i < 2 * cal_model_u_count(model); i++) {
		const int u = i / 2, speed = i % 2;
		CalDofInfo dof = {.q = -1};
		char name[128] = "";
		(void)cal_model_dof(model, u, &dof);
		if (!(fabs(speed ? a.u[u] - a.u_given[u] : a.change[u]) > 1e-12))
			continue;
		cal_model_dof_name(model, u, name, sizeof name);
		fprintf(out, "%s\n      {\"dof\": ", said++ ? "," : "");
		json_string(out, name);
		fprintf(out, ", \"of\": \"%s\", \"stated\": %s", speed ? "u" : "q",
		        (speed ? a.stated_u : a.stated_q)[u] ? "true" : "false");
		json_field(out, "given", speed ? a.u_given[u] : dof.q >= 0 ? a.q_given[dof.q] : 0);
		json_field(out, "assembled", speed ? a.u[u] : dof.q >= 0 ? a.q[dof.q] : a.change[u]);
		fputc('}', out);
	}
	fputc(']', out);
}

static void json_group(const Summary *summary, CalSim *sim, int group, FILE *out) {
	const CalModel *model = cal_sim_model(sim, group);
	const Drift *drift = drift_at(summary, model);
	CalSimMonitor now = {0};
	CalStatus status = cal_sim_monitor(sim, group, &now);
	fprintf(out, "%s\n    {\"name\": ", group ? "," : "");
	json_string(out, cal_model_name(model));
	fprintf(out, ", \"bodies\": %d, \"dof\": %d, \"finite\": %s,\n     \"energy_conserved\": %s",
	        cal_model_body_count(model), cal_model_u_count(model), status == CAL_OK ? "true" : "false",
	        drift->worked ? "false" : "true");
	json_field(out, "energy", now.energy.total);
	json_field(out, "energy_change", drift->energy);
	json_field(out, "largest_kinetic_energy", drift->scale);
	fprintf(out, ",\n     \"momentum_conserved\": %s", drift->pushed ? "false" : "true");
	fprintf(out, ", \"linear_momentum\": ");
	json_vec3(out, now.momentum.linear);
	fprintf(out, ", \"angular_momentum\": ");
	json_vec3(out, now.momentum.angular_origin);
	json_field(out, "linear_change", drift->linear);
	json_field(out, "angular_change", drift->angular);
	if (cal_model_row_count(model) > 0)
		json_field(out, "largest_residual", drift->residual);
	json_start(sim, group, out);
	const CalBranches *branches = cal_sim_branches(sim, group);
	fprintf(out, ", \"branches\": %d, \"threads\": %d}", branches ? cal_branches_count(branches) : 1,
	        branches ? cal_branches_threads(branches) : 1);
}

static void json_events(const CalScenario *scenario, FILE *out) {
	const char *why = "";
	fprintf(out, ",\n  \"events\": [");
	for (int64_t first = cal_scenario_dropped(scenario), i = first; i < cal_scenario_entry_count(scenario); i++) {
		CalScenarioEntry entry;
		if (cal_scenario_entry(scenario, i, &entry) != CAL_OK)
			continue;
		fprintf(out, "%s\n    {\"event\": ", i > first ? "," : "");
		json_string(out, entry.event);
		fprintf(out, ", \"action\": ");
		json_string(out, entry.text);
		json_field(out, "time", entry.time);
		json_field(out, "kinetic_lost", entry.kinetic_lost);
		json_field(out, "misfit", entry.misfit);
		json_field(out, "impulse", entry.impulse);
		json_field(out, "linear_jump", entry.linear_jump);
		json_field(out, "angular_jump", entry.angular_jump);
		fprintf(out, ", \"refused\": ");
		json_string(out, entry.why);
		putc('}', out);
	}
	fprintf(out, "], \"events_dropped\": %lld, \"stopped\": ", (long long)cal_scenario_dropped(scenario));
	if (cal_scenario_stopped(scenario, &why))
		json_string(out, why);
	else
		fputs("null", out);
}

static void json_ranks(const CalDistributionInfo *ranks, FILE *out) {
	fprintf(
		out,
		",\n  \"ranks\": {\"size\": %d, \"busy\": %d, \"branches\": %d, \"interfaces\": %d, \"interface_only\": %s, "
		"\"evaluations\": %lld, \"corrections\": %lld, \"residuals\": %lld, \"messages\": %lld, \"numbers\": %lld, \"gathers\": %lld, \"gathered\": %lld}",
		ranks->size, ranks->busy, ranks->branches, ranks->interfaces, ranks->interface_only ? "true" : "false",
		(long long)ranks->evaluations, (long long)ranks->corrections, (long long)ranks->residuals,
		(long long)ranks->messages, (long long)ranks->numbers, (long long)ranks->gathers, (long long)ranks->gathered);
}

static void json_formulation(const CalSim *sim, FILE *out) {
	const CalFormulationReport r = cal_sim_formulation(sim);
	if (r.updates == 0)
		return;
	fprintf(out, ",\n  \"formulation\": {\"updates\": %lld, \"modes\": %d, \"retained\": %d", (long long)r.updates,
	        r.modes, r.retained);
	json_field(out, "highest", r.highest);
	json_field(out, "next", r.next);
	json_field(out, "error", r.error);
	json_field(out, "last_error", r.last);
	json_field(out, "largest_error", r.largest);
	json_field(out, "largest_error_time", r.largest_time);
	json_field(out, "missing_energy", r.missing_energy);
	json_field(out, "energy_removed", r.energy_removed);
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
	json_formulation(sim, out);
	if (summary->paced)
		realtime_print_json(summary->paced, out);
	if (summary->ranks.size > 0)
		json_ranks(&summary->ranks, out);
	if (has_total(summary)) {
		json_field(out, "total_linear_change", summary->total.linear);
		json_field(out, "total_angular_change", summary->total.angular);
	}
	json_events(summary->scenario, out);
	CalDoubt doubts[CAL_MAX_DOUBTS];
	fprintf(out, ",\n  \"doubts\": ");
	doubts_print_json(doubts, doubts_of(sim, doubts), out);
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
