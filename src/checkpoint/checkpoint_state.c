// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_state.c — what a run carries from step to step, field by field.
 *
 * Not here: what is computed before it is used (workspaces, branches, ranks, observations, energies that are held, values of events), what the assembly of
 * the start moved, what devices drive, what follows from the model (frozen flags apart), and what the simulation is
 * made of (sim_origin.c).
 */
#include <float.h>
#include <math.h>

#include "checkpoint/checkpoint.h"
#include "integrate/scheme.h"
#include "model/model.h"

/* A field that is new belongs into a walk below, unless it is one of those. */
_Static_assert(sizeof(void *) != 8 || sizeof(SimGroup) == 880, "a field of SimGroup is new");
_Static_assert(sizeof(void *) != 8 || sizeof(SimDevice) == 208, "a field of SimDevice is new");
_Static_assert(sizeof(void *) != 8 || sizeof(SimEvent) == 128, "a field of SimEvent is new");
_Static_assert(sizeof(void *) != 8 || sizeof(CalSim) == 1304 + sizeof(SimDoubts) + sizeof(CalDoubt) +
                                                            sizeof(SimDamping) + sizeof(SimJumps) +
                                                            sizeof(SimFormulation) + sizeof(SimHoldings) +
                                                            sizeof(SimProbe),
               "a field of CalSim is new");
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

void walk_entry(Serializer *a, GroupEntry *entry) {
	serializer_u32(a, &entry->group);
	serializer_int(a, &entry->nq);
	serializer_int(a, &entry->nu);
	serializer_int(a, &entry->input_from);
	serializer_int(a, &entry->motion_from);
}

static void walk_group_state(Serializer *a, SimGroup *group) {
	serializer_finite(a, &group->state.t, 1);
	serializer_finite(a, group->state.q, group->model->nq);
	serializer_finite(a, group->state.u, group->model->nu);
	serializer_bytes(a, group->frozen, (size_t)group->model->nu);
	serializer_int_within(a, &group->worked, 0, 1);
	serializer_int_within(a, &group->pushed, 0, PUSHED_BY_ANY);
	serializer_int_within(a, &group->unaccounted, 0, 1);
	serializer_doubles(a, &group->start_energy.kinetic, 4);
	serializer_doubles(a, &group->start_momentum.mass, 13);
	serializer_double(a, &group->energy_scale);
}

/* Within a device ranges may depend on other parameters: only what it can never come to is refused. */
static void walk_parameters(Serializer *a, SimDevice *device) {
	CalDeviceParameter about;
	double *number;
	for (int i = 0; (number = device_parameter_at(device, i, &about)) != NULL; i++) {
		const double least = about.low < 0 ? -INFINITY : about.above && about.low == 0 ? DBL_TRUE_MIN : 0;
		serializer_double_within(a, number, about.fixed ? *number : least, about.fixed ? *number : INFINITY);
	}
}

static void walk_device(Serializer *a, SimDevice *device) {
	serializer_bool(a, &device->off);
	serializer_bool(a, &device->started);
	serializer_finite(a, device->x, device->def.nx);
	serializer_doubles(a, device->is.d, device->def.nd);
	walk_parameters(a, device);
}

static void walk_event(Serializer *a, SimEvent *event) {
	serializer_i64_within(a, &event->happened, 0, INT64_MAX / 2);
	serializer_double(a, &event->last);
	serializer_bool(a, &event->spent);
}

void walk_states(Serializer *a, CalSim *sim) {
	for (int i = 0; i < sim->group_count; i++)
		walk_group_state(a, &sim->groups[i]);
	for (int i = 0; i < sim->device_count; i++)
		walk_device(a, &sim->devices[i]);
	for (int i = 0; i < sim->event_count; i++)
		walk_event(a, &sim->events[i]);
	serializer_finite(a, sim->account, ACCOUNTS);
}

/* An index for messages, -1: none; one that is no longer valid is not written. */
static void walk_index(Serializer *a, int *index, int count) {
	int value = *index < count ? *index : -1;
	serializer_int_within(a, &value, -1, count - 1);
	if (a->mode == SERIALIZER_READ)
		*index = value;
}

static void walk_doubt(Serializer *a, CalDoubt *doubt) {
	int kind = (int)doubt->kind;
	serializer_int_within(a, &kind, 0, CAL_DOUBT_KINDS - 1);
	serializer_text(a, doubt->object, sizeof doubt->object);
	serializer_double(a, &doubt->time);
	serializer_double(a, &doubt->value);
	serializer_double(a, &doubt->limit);
	serializer_i64_within(a, &doubt->count, 0, INT64_MAX / 2);
	serializer_text(a, doubt->text, sizeof doubt->text);
	if (a->mode == SERIALIZER_READ)
		doubt->kind = (CalDoubtKind)kind;
}

/* Always all of them: the size of a checkpoint does not depend on what there is to doubt. */
static void walk_doubts(Serializer *a, SimDoubts *doubts) {
	serializer_int_within(a, &doubts->count, 0, CAL_MAX_DOUBTS);
	serializer_i64_within(a, &doubts->left_out, 0, INT64_MAX / 2);
	for (int i = 0; i < CAL_MAX_DOUBTS; i++)
		walk_doubt(a, &doubts->items[i]);
}

void walk_rest(Serializer *a, CalSim *sim, CalIntegrator *integrator) {
	serializer_double(a, &sim->start_energy);
	serializer_int_within(a, &sim->unaccounted, 0, 1);
	walk_index(a, &sim->refused_group, sim->group_count);
	walk_index(a, &sim->failed_device, sim->device_count);
	serializer_i64_within(a, &sim->generation, sim->generation, sim->generation); // check: that of the header
	serializer_int_within(a, &sim->started, 0, 1);
	serializer_finite(a, &sim->start_time, 1);
	serializer_finite(a, &sim->wall_s, 1);
	serializer_finite(a, &sim->cpu_s, 1);
	stats_walk(&sim->past, a);
	stats_walk(&sim->start_stats, a);
	walk_doubts(a, &sim->doubts);
	serializer_finite(a, &sim->energy_moved, 1);
	serializer_i64_within(a, &sim->shortened_steps, 0, INT64_MAX / 4);
	serializer_finite(a, &sim->shortened_smallest, 1);
	serializer_i64_within(a, &sim->probed_at, 0, INT64_MAX / 4);
	serializer_bool(a, &sim->probed);
	walk_doubt(a, &sim->coarse);
	serializer_i64_within(a, &sim->coarse_at, 0, INT64_MAX / 4);
	accuracy_walk(sim, integrator->nu, a);
	serializer_i64_within(a, &sim->jumps.count, 0, INT64_MAX / 4);
	serializer_i64_within(a, &sim->jumps.measured, 0, INT64_MAX / 4);
	serializer_double_within(a, &sim->jumps.sum, 0, DBL_MAX);
	serializer_double_within(a, &sim->jumps.time, -DBL_MAX, DBL_MAX);
	serializer_double_within(a, &sim->jumps.worst, 0, DBL_MAX);
	serializer_text(a, sim->jumps.object, sizeof sim->jumps.object);
	formulation_walk(sim, a);
	integrator_walk(integrator, a);
}
