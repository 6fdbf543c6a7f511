// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_state.c — what a run carries from step to step, field by field.
 *
 * Not here: what is computed before it is used (workspaces, branches, ranks, observations, values of events), what follows from the model
 * (frozen flags apart), and what the simulation is made of (checkpoint_origin.c).
 */
#include "integrate/scheme.h"
#include "model/model.h"
#include "sim/checkpoint.h"

/* A field that is new belongs into a walk below, unless it is one of those. */
_Static_assert(sizeof(void *) != 8 || sizeof(SimGroup) == 376, "a field of SimGroup is new");
_Static_assert(sizeof(void *) != 8 || sizeof(SimDevice) == 176, "a field of SimDevice is new");
_Static_assert(sizeof(void *) != 8 || sizeof(SimEvent) == 120, "a field of SimEvent is new");
_Static_assert(sizeof(void *) != 8 || sizeof(CalSim) == 976 + sizeof(SimDoubts), "a field of CalSim is new");
_Static_assert(sizeof(CalEnergy) == 4 * sizeof(double) && sizeof(CalMomentum) == 13 * sizeof(double) &&
                   sizeof(CalIntegratorStats) == 32,
               "a field of a monitor is new");
_Static_assert(sizeof(void *) != 8 || sizeof(CalDoubt) == 536, "a field of CalDoubt is new");

GroupEntry entry_of(const CalSim *sim, int group) {
	const SimGroup *g = &sim->groups[group];
	const uint32_t body = g->model->bodies[0].id.value;
	return (GroupEntry){.group = sim->topology ? topology_group(sim->topology, body) : (uint32_t)group + 1,
	                    .nq = g->model->nq,
	                    .nu = g->model->nu,
	                    .input_from = g->input_from,
	                    .motion_from = g->motion_from};
}

void walk_entry(Archive *a, GroupEntry *entry) {
	archive_u32(a, &entry->group);
	archive_int(a, &entry->nq);
	archive_int(a, &entry->nu);
	archive_int(a, &entry->input_from);
	archive_int(a, &entry->motion_from);
}

static void walk_group_state(Archive *a, SimGroup *group) {
	archive_double(a, &group->state.t);
	archive_doubles(a, group->state.q, group->model->nq);
	archive_doubles(a, group->state.u, group->model->nu);
	archive_bytes(a, group->frozen, (size_t)group->model->nu);
	archive_int(a, &group->worked);
	archive_int(a, &group->pushed);
	archive_int(a, &group->unaccounted);
	archive_doubles(a, &group->start_energy.kinetic, 4);
	archive_doubles(a, &group->start_momentum.mass, 13);
	archive_double(a, &group->energy_scale);
}

static void walk_device(Archive *a, SimDevice *device) {
	archive_bool(a, &device->off);
	archive_bool(a, &device->started);
	archive_doubles(a, device->x, device->def.nx);
	archive_doubles(a, device->is.d, device->def.nd);
}

static void walk_event(Archive *a, SimEvent *event) {
	archive_i64(a, &event->happened);
	archive_double(a, &event->last);
	archive_bool(a, &event->spent);
}

void walk_states(Archive *a, CalSim *sim) {
	for (int i = 0; i < sim->group_count; i++)
		walk_group_state(a, &sim->groups[i]);
	for (int i = 0; i < sim->device_count; i++)
		walk_device(a, &sim->devices[i]);
	for (int i = 0; i < sim->event_count; i++)
		walk_event(a, &sim->events[i]);
	archive_doubles(a, sim->account, ACCOUNTS);
}

static void walk_stats(Archive *a, CalIntegratorStats *stats) {
	archive_i64(a, &stats->steps);
	archive_i64(a, &stats->rejected);
	archive_i64(a, &stats->evaluations);
	archive_double(a, &stats->last_step);
}

static void walk_doubt(Archive *a, CalDoubt *doubt) {
	int kind = (int)doubt->kind;
	archive_int(a, &kind);
	archive_bytes(a, doubt->object, sizeof doubt->object);
	archive_double(a, &doubt->time);
	archive_double(a, &doubt->value);
	archive_double(a, &doubt->limit);
	archive_i64(a, &doubt->count);
	archive_bytes(a, doubt->text, sizeof doubt->text);
	if (a->mode != ARCHIVE_READ)
		return;
	doubt->kind = kind >= 0 && kind < CAL_DOUBT_KINDS ? (CalDoubtKind)kind : CAL_DOUBT_OTHER;
	doubt->object[sizeof doubt->object - 1] = doubt->text[sizeof doubt->text - 1] = 0;
}

/* Always all of them: the size of a checkpoint does not depend on what there is to doubt. */
static void walk_doubts(Archive *a, SimDoubts *doubts) {
	archive_int(a, &doubts->count);
	archive_i64(a, &doubts->left_out);
	for (int i = 0; i < CAL_DOUBTS_MOST; i++)
		walk_doubt(a, &doubts->items[i]);
	if (a->mode == ARCHIVE_READ && (doubts->count < 0 || doubts->count > CAL_DOUBTS_MOST))
		doubts->count = 0;
}

void walk_rest(Archive *a, CalSim *sim, CalIntegrator *integrator) {
	archive_double(a, &sim->start_energy);
	archive_int(a, &sim->unaccounted);
	archive_int(a, &sim->refused_group);
	archive_int(a, &sim->failed_device);
	archive_i64(a, &sim->generation);
	archive_int(a, &sim->started);
	archive_double(a, &sim->start_time);
	archive_double(a, &sim->wall_s);
	archive_double(a, &sim->cpu_s);
	walk_stats(a, &sim->past);
	walk_stats(a, &sim->start_stats);
	walk_doubts(a, &sim->doubts);
	archive_double(a, &sim->energy_moved);
	archive_i64(a, &sim->cut_steps);
	archive_double(a, &sim->cut_smallest);
	archive_i64(a, &sim->probed_at);
	archive_bool(a, &sim->probed);
	integrator_walk(integrator, a);
}
