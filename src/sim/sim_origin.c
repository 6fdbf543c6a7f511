// SPDX-License-Identifier: Apache-2.0
/*
 * sim_origin.c — what a simulation was made of: fingerprints that show whether a checkpoint is of the same one, and
 * the functions of its groups, which a checkpoint knows by the group that had them at the start.
 *
 * A fingerprint is a hash over all names and numbers. Devices enter by name, type, sizes and tables: their data is a
 * struct of their own, with pointers in it.
 */
#include <string.h>

#include "model/description/desc_fields.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

/* ---- fingerprints ---------------------------------------------------------------------------------------------- */

SimOrigin origin_of(const CalDesc *desc) {
	Serializer a = serializer_hasher();
	for (int i = 0; i < desc->group_count; i++)
		walk_group(&a, &desc->groups[i], true);
	for (int i = 0; i < desc->body_count; i++)
		walk_body(&a, &desc->bodies[i], true);
	for (int i = 0; i < desc->node_count; i++)
		walk_node(&a, &desc->nodes[i], true);
	for (int i = 0; i < desc->joint_count; i++) {
		walk_joint(&a, &desc->joints[i].def, true);
		serializer_u32(&a, &desc->joints[i].inboard.value);
		serializer_u32(&a, &desc->joints[i].outboard.value);
	}
	for (int i = 0; i < desc->loop_count; i++)
		walk_loop(&a, &desc->loops[i], true);
	return (SimOrigin){.description = a.hash,
	                   .groups = desc->group_count,
	                   .bodies = desc->body_count,
	                   .nodes = desc->node_count,
	                   .joints = desc->joint_count,
	                   .loops = desc->loop_count};
}

static uint64_t options_hash(const CalSim *sim) {
	Serializer a = serializer_hasher();
	CalIntegratorOptions o = sim->method;
	int method = (int)o.method, solver = (int)sim->solver, wrenches = sim->input_wrenches;
	double tolerance = sim->event_tolerance;
	serializer_int(&a, &method);
	serializer_double(&a, &o.step);
	serializer_double(&a, &o.rtol);
	serializer_double(&a, &o.atol);
	serializer_double(&a, &o.min_step);
	serializer_double(&a, &o.max_step);
	serializer_i64(&a, &o.max_steps);
	serializer_int(&a, &o.projection);
	if (o.euclidean)
		serializer_int(&a, &o.euclidean);
	serializer_int(&a, &solver);
	serializer_int(&a, &wrenches);
	serializer_double(&a, &tolerance);
	CalFormulationOptions f = sim->formulation.options;
	int unretained = (int)f.unretained;
	if (f.kind != CAL_FORMULATION_ORDER_N) {
		serializer_double(&a, &f.update);
		serializer_double(&a, &f.retain);
		serializer_int(&a, &unretained);
	}
	return a.hash;
}

/* How much memory was reserved makes no difference, how many objects may come does. */
static uint64_t capacity_hash(const CalSim *sim) {
	const Topology *t = sim->topology;
	Serializer a = serializer_hasher();
	if (!t)
		return 0;
	int slots[] = {t->desc->group_capacity, t->body_slots, t->desc->node_capacity, t->joint_slots, t->loop_slots};
	for (int i = 0; i < 5; i++)
		serializer_int(&a, &slots[i]);
	return a.hash;
}

static uint64_t devices_hash(const CalSim *sim) {
	Serializer a = serializer_hasher();
	for (int i = 0; i < sim->device_count; i++) {
		CalDeviceDef def = sim->devices[i].def;
		const char *type = def.ops->type;
		serializer_string(&a, &def.name);
		serializer_string(&a, &type);
		serializer_int(&a, &def.nx);
		serializer_int(&a, &def.nd);
		serializer_int(&a, &def.event_count);
		serializer_int(&a, &def.wrench_count);
		serializer_double(&a, &def.sample_period);
		serializer_double(&a, &def.sample_offset);
		serializer_int(&a, &def.table_count);
		serializer_doubles(&a, (double *)(uintptr_t)def.table, def.table_count);
	}
	return a.hash;
}

static uint64_t events_hash(const CalSim *sim) {
	Serializer a = serializer_hasher();
	for (int i = 0; i < sim->event_count; i++) {
		CalEventDef def = sim->events[i].def;
		bool watched = def.value != NULL, asked = def.when != NULL;
		serializer_string(&a, &def.name);
		serializer_bool(&a, &watched);
		serializer_bool(&a, &asked);
		serializer_int(&a, &def.level);
		serializer_double(&a, &def.time);
		serializer_int(&a, &def.direction);
		serializer_int(&a, &def.once);
	}
	return a.hash;
}

Fingerprints fingerprints_of(const CalSim *sim) {
	return (Fingerprints){.of = {[ORIGIN_DESCRIPTION] = sim->origin.description,
	                             [ORIGIN_OPTIONS] = options_hash(sim),
	                             [ORIGIN_CAPACITY] = capacity_hash(sim),
	                             [ORIGIN_DEVICES] = devices_hash(sim),
	                             [ORIGIN_EVENTS] = events_hash(sim)}};
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* In the place of a function that was given during the run, until it is given again. */
static int input_missing(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)user, (void)model, (void)state, (void)input;
	return 1;
}

static int motion_missing(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	(void)user, (void)model, (void)t, (void)q, (void)u, (void)udot;
	return 1;
}

bool group_lacks_function(const SimGroup *group) {
	return group->input == input_missing || group->motion == motion_missing;
}

/* Before the first step groups are those of the start. */
static bool before_run(const CalSim *sim) {
	return sim->generation == 0 && (!sim->started || sim->groups[0].state.t == sim->start_time);
}

void origin_note_input(CalSim *sim, int group) {
	SimGroup *g = &sim->groups[group];
	if (before_run(sim)) {
		SimFunctions *own = &sim->origin.functions[group];
		own->input = g->input, own->next_switch = g->next_switch, own->user = g->user;
		g->input_from = group + 1;
		return;
	}
	const SimFunctions *own = g->input_from > 0 ? &sim->origin.functions[g->input_from - 1] : NULL;
	if (!own || own->input != g->input || own->next_switch != g->next_switch || own->user != g->user)
		g->input_from = g->input || g->next_switch ? FUNCTION_LATE : FUNCTION_NONE;
}

void origin_note_motion(CalSim *sim, int group) {
	SimGroup *g = &sim->groups[group];
	if (before_run(sim)) {
		SimFunctions *own = &sim->origin.functions[group];
		own->motion = g->motion, own->motion_user = g->motion_user;
		g->motion_from = group + 1;
		return;
	}
	g->motion_from = g->motion ? FUNCTION_LATE : FUNCTION_NONE;
	for (int i = 0; g->motion && i < sim->origin.function_count; i++) { // one of the start may be given again
		const SimFunctions *own = &sim->origin.functions[i];
		if (own->motion == g->motion && own->motion_user == g->motion_user)
			g->motion_from = i + 1;
	}
}

void origin_give(const CalSim *sim, SimGroup *group) {
	const SimFunctions none = {0}, missing = {.input = input_missing, .motion = motion_missing};
	const SimFunctions *own = sim->origin.functions;
	const SimFunctions *input = group->input_from == FUNCTION_NONE   ? &none
	                            : group->input_from == FUNCTION_LATE ? &missing
	                                                                 : &own[group->input_from - 1];
	const SimFunctions *motion = group->motion_from == FUNCTION_NONE   ? &none
	                             : group->motion_from == FUNCTION_LATE ? &missing
	                                                                   : &own[group->motion_from - 1];
	group->input = input->input, group->next_switch = input->next_switch, group->user = input->user;
	group->motion = motion->motion, group->motion_user = motion->motion_user;
}
