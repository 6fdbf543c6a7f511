// SPDX-License-Identifier: Apache-2.0
/*
 * device_ranks.c — devices on several ranks that exchange interfaces alone.
 *
 * A device that names its joint (CalDeviceOps.one_dof) is evaluated where that is solved. One that names its nodes
 * (CalDeviceOps.nodes) is evaluated by the ranks that have them: each places its own branches (component/branch_places.c),
 * and where a device has nodes on two ranks each sends the other how its node moves, all devices of the two in one message.
 * Both then find the same forces and states, bit by bit, and apply what acts on their own nodes. The first of them is the
 * owner: its states and accounts are those that all ranks get after the advance.
 */
#include "sim/device_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "component/branch_step.h"

/* Not used otherwise: branch 0 has no base on another rank. */
enum { TAG = 0 };

_Static_assert(sizeof(CalPose) + sizeof(CalSpatial) == DEVICE_MOTION * sizeof(double), "motions are plain numbers");

/* ---- the plan ------------------------------------------------------------------------------------------------ */

bool device_is_local(const CalSim *sim, const SimDevice *device) {
	const CalDeviceDef *def = &device->def;
	const bool named = device->on.group >= 0 || device->at_count > 0;
	return !device->active ||
	       (named && def->nd == 0 && device_values(sim, device) == 0 && !(def->sample_period > 0) && !def->ops->drive);
}

/* The rank that has a node; -1: all know how it moves. */
static int rank_of_node(const CalSim *sim, CalNodeRef ref) {
	const SimGroup *group = ref.group >= 0 ? &sim->groups[ref.group] : NULL;
	return group && !group->motion ? branches_rank_of_node(group->branches, ref.node) : -1;
}

/* Ranks of the nodes of a device; returns the lowest, 0 if none has one. */
static int find_ranks(const CalSim *sim, const SimDevice *device, int rank[CAL_DEVICE_NODES]) {
	int owner = -1;
	if (device->on.group >= 0)
		return branches_rank_of_dof(sim->groups[device->on.group].branches, device->on.u);
	for (int k = 0; k < device->at_count; k++) {
		rank[k] = rank_of_node(sim, device->at[k]);
		owner = rank[k] >= 0 && (owner < 0 || rank[k] < owner) ? rank[k] : owner;
	}
	return owner < 0 ? 0 : owner;
}

static int count_branches(const CalSim *sim) {
	int count = 0;
	for (int i = 0; i < sim->group_count; i++)
		count += cal_branches_count(sim->groups[i].branches);
	return count;
}

static void layout_plan(const CalSim *sim, DeviceRanks *plan, Cursor *cursor) {
	const size_t devices = (size_t)sim->device_count, nodes = devices * CAL_DEVICE_NODES;
	CURSOR_ARRAY(cursor, plan->motion, nodes * DEVICE_MOTION);
	CURSOR_ARRAY(cursor, plan->packet, nodes * DEVICE_MOTION);
	CURSOR_ARRAY(cursor, plan->links, nodes);
	CURSOR_ARRAY(cursor, plan->owner, devices);
	CURSOR_ARRAY(cursor, plan->acts, devices);
	CURSOR_ARRAY(cursor, plan->wanted, count_branches(sim));
}

static void want_places(const CalSim *sim, const SimDevice *device, DeviceRanks *plan) {
	for (int k = 0; k < device->at_count; k++) {
		uint8_t *wanted = plan->wanted;
		if (rank_of_node(sim, device->at[k]) < 0)
			continue;
		for (int i = 0; i < device->at[k].group; i++)
			wanted += cal_branches_count(sim->groups[i].branches);
		branches_want_place(sim->groups[device->at[k].group].branches, device->at[k].node, wanted);
		plan->places = true;
	}
}

/* The links of a device whose nodes are on several ranks, this one among them. */
static void add_links(const SimDevice *device, const int *rank, int index, DeviceRanks *plan) {
	const int here = plan->transport.rank;
	for (int own = 0; own < device->at_count; own++)
		for (int remote = 0; remote < device->at_count && rank[own] == here; remote++)
			if (rank[remote] >= 0 && rank[remote] != here)
				plan->links[plan->link_count++] = (DeviceLink){rank[remote], index, own, remote};
}

static int compare_links(const void *a, const void *b) {
	const DeviceLink *x = a, *y = b;
	return x->peer != y->peer ? (x->peer > y->peer) - (x->peer < y->peer)
	                          : (x->device > y->device) - (x->device < y->device);
}

static void plan_device(const CalSim *sim, int index, DeviceRanks *plan) {
	const SimDevice *device = &sim->devices[index];
	int rank[CAL_DEVICE_NODES];
	plan->owner[index] = find_ranks(sim, device, rank);
	plan->acts[index] = plan->owner[index] == plan->transport.rank;
	if (device->on.group >= 0)
		return;
	for (int k = 0; k < device->at_count; k++)
		plan->acts[index] |= rank[k] == plan->transport.rank;
	want_places(sim, device, plan);
	add_links(device, rank, index, plan);
}

CalStatus device_ranks_plan(const CalSim *sim, const CalTransport *transport, DeviceRanks *plan) {
	DeviceRanks made = {.transport = *transport,
	                    .lost = plan->lost,
	                    .messages = plan->messages,
	                    .numbers = plan->numbers,
	                    .memory = plan->memory,
	                    .size = plan->size};
	Cursor cursor = {.align = sizeof(double)};
	layout_plan(sim, &made, &cursor);
	if (cursor_size(&cursor) > made.size || !made.memory) {
		made.size = cursor_size(&cursor);
		made.memory = memory_alloc(&sim->allocator, made.size + 1);
		if (!made.memory)
			return CAL_ERR_MEMORY;
		memory_free(&sim->allocator, plan->memory);
	}
	memset(made.memory, 0, made.size + 1);
	cursor = (Cursor){.base = made.memory, .size = made.size, .align = sizeof(double)};
	layout_plan(sim, &made, &cursor);
	for (int i = 0; i < sim->device_count; i++)
		plan_device(sim, i, &made);
	qsort(made.links, (size_t)made.link_count, sizeof *made.links, compare_links);
	*plan = made;
	return CAL_OK;
}

void device_ranks_free(const CalSim *sim, DeviceRanks *plan) { memory_free(&sim->allocator, plan->memory); }

/* ---- motions ------------------------------------------------------------------------------------------------- */

static double *motion_of(const DeviceRanks *plan, int device, int node) {
	return plan->motion + ((size_t)device * CAL_DEVICE_NODES + (size_t)node) * DEVICE_MOTION;
}

/* The links with one peer, from the first of them. */
static int count_links(const DeviceRanks *plan, int first) {
	int end = first;
	while (end < plan->link_count && plan->links[end].peer == plan->links[first].peer)
		end++;
	return end - first;
}

static void send_motions(const CalSim *sim, DeviceRanks *plan, const DeviceLink *links, int count) {
	double *x = plan->packet;
	for (int i = 0; i < count; i++, x += DEVICE_MOTION) {
		const CalNodeRef at = sim->devices[links[i].device].at[links[i].own];
		CalPose pose;
		CalSpatial velocity;
		branches_node_motion(sim->groups[at.group].branches, at.node, &pose, &velocity);
		memcpy(x, &pose, sizeof pose);
		memcpy(x + sizeof pose / sizeof *x, &velocity, sizeof velocity);
	}
	plan->lost = plan->transport.send(plan->transport.user, links->peer, TAG, plan->packet, DEVICE_MOTION * count);
	plan->messages++;
	plan->numbers += (int64_t)DEVICE_MOTION * count;
}

static void receive_motions(DeviceRanks *plan, const DeviceLink *links, int count) {
	plan->lost = plan->transport.receive(plan->transport.user, links->peer, TAG, plan->packet, DEVICE_MOTION * count);
	for (int i = 0; i < count && !plan->lost; i++)
		memcpy(motion_of(plan, links[i].device, links[i].remote), plan->packet + (size_t)i * DEVICE_MOTION,
		       DEVICE_MOTION * sizeof(double));
}

void device_ranks_exchange(const CalSim *sim, DeviceRanks *plan, const CalState *parts) {
	const uint8_t *wanted = plan->wanted;
	for (int i = 0; plan->places && i < sim->group_count; i++) {
		branches_find_places(sim->groups[i].branches, &parts[i], wanted);
		wanted += cal_branches_count(sim->groups[i].branches);
	}
	for (int i = 0; i < plan->link_count && !plan->lost; i += count_links(plan, i))
		send_motions(sim, plan, &plan->links[i], count_links(plan, i));
	for (int i = 0; i < plan->link_count && !plan->lost; i += count_links(plan, i))
		receive_motions(plan, &plan->links[i], count_links(plan, i));
}

CalStatus device_ranks_node_motion(const CalSim *sim, const DeviceRanks *plan, int device, CalNodeRef node_ref,
                                   CalPose *pose, CalSpatial *velocity) {
	const SimDevice *of = &sim->devices[device];
	int k = 0;
	while (k < of->at_count && (of->at[k].group != node_ref.group || of->at[k].node != node_ref.node))
		k++;
	if (k == of->at_count) // it reads more than it has named
		return CAL_ERR_USER;
	const int rank = rank_of_node(sim, node_ref);
	if (rank == plan->transport.rank) {
		branches_node_motion(sim->groups[node_ref.group].branches, node_ref.node, pose, velocity);
		return CAL_OK;
	}
	const double *x = motion_of(plan, device, k);
	memcpy(pose, x, sizeof *pose);
	memcpy(velocity, x + sizeof *pose / sizeof *x, sizeof *velocity);
	return CAL_OK;
}

/* ---- states --------------------------------------------------------------------------------------------------- */

int device_states_count(const CalSim *sim) {
	int nx = 0;
	for (int i = 0; i < sim->device_count; i++)
		nx += sim->devices[i].def.nx;
	return nx;
}

void device_states_copy(CalSim *sim, double *x, bool back) {
	for (int i = 0; i < sim->device_count; x += sim->devices[i].def.nx, i++) {
		double *own = sim->devices[i].x;
		if (sim->devices[i].def.nx > 0)
			memcpy(back ? own : x, back ? x : own, (size_t)sim->devices[i].def.nx * sizeof(double));
	}
}

void device_states_take(CalSim *sim, const DeviceRanks *plan, const double *lists, int width) {
	for (int i = 0; i < sim->device_count; lists += sim->devices[i].def.nx, i++) {
		if (sim->devices[i].def.nx > 0)
			memcpy(sim->devices[i].x, lists + (ptrdiff_t)plan->owner[i] * width,
			       (size_t)sim->devices[i].def.nx * sizeof(double));
	}
}
