// SPDX-License-Identifier: Apache-2.0
/*
 * distribute.c — a simulation on several ranks (calder/distribute.h).
 *
 * Every rank goes through the same calls. Where nothing reads the whole state within an advance, a rank advances its
 * own branches and receives what crosses their interfaces; the ranks meet after the advance: they bring their states
 * together, add up their accounts, and learn whether something went wrong anywhere. If it did, all go back to where the
 * advance began and take it once more, now with all accelerations for all ranks after each evaluation: then it ends as
 * it does on one rank, at the last good state and with the same words. That is also the way of simulations in which
 * something does look.
 */
#include <stdio.h>
#include <string.h>

#include <calder/distribute.h>
#include <calder/sim.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "component/branch_step.h"
#include "component/partition.h"
#include "integrate/scheme.h"
#include "sim/device_ranks.h"
#include "topology/topology.h"

/* What a rank sends to the others after an advance, of each group what was seen of its inputs, then states of devices. */
enum { NOTE_FAILED, NOTE_ACCOUNT, NOTE_GROUPS = NOTE_ACCOUNT + ACCOUNTS, NOTES_OF_GROUP = 3 };

/* Fingerprints that must agree, two numbers each. */
enum { MATCH_VERSION, MATCH_ORIGIN, MATCH_CALLER = MATCH_ORIGIN + ORIGIN_COUNT, MATCH_WAY, MATCH_STATE, MATCH_COUNT };

static const char *const what_differs[MATCH_COUNT] = {
	[MATCH_VERSION] = "another version of Calder",
	[MATCH_ORIGIN + ORIGIN_DESCRIPTION] = "another model",
	[MATCH_ORIGIN + ORIGIN_OPTIONS] = "another method, step or tolerance",
	[MATCH_ORIGIN + ORIGIN_CAPACITY] = "room for other changes of topology",
	[MATCH_ORIGIN + ORIGIN_DEVICES] = "other devices",
	[MATCH_ORIGIN + ORIGIN_EVENTS] = "other events",
	[MATCH_CALLER] = "another input file, or other options",
	[MATCH_WAY] = "another way of cutting",
	[MATCH_STATE] = "another state to begin with",
};

typedef struct SimRanks {
	CalTransport transport;
	CalDistribution how;
	int *rank_of;             // [pieces] scratch
	int *starts;              // [size + 1]
	double *notes;            // [size][width]
	int width;                // of what a rank gives
	uint8_t *own;             // [nu] of all groups
	double *q, *u, *x;        // as the advance at hand began; x: states of devices
	double t;                 //
	double account[ACCOUNTS]; //
	double *seen;             // [groups][NOTES_OF_GROUP]
	CalIntegratorStats stats; //
	bool interface_only;      // the last advance
	bool failed;              // here, in the advance at hand
	int lost;                 // as CalTransport says
	int64_t gathers, gathered;
	DeviceRanks devices;      // who evaluates them
	CalDistributionInfo past; // counts of groups that are no more
	void *memory;             // of the arrays
} SimRanks;

/* ---- messages ------------------------------------------------------------------------------------------ */

/* All ranks give `width` numbers. */
static CalStatus gather_notes(SimRanks *d, int width) {
	for (int r = 0; r <= d->transport.size; ++r)
		d->starts[r] = r * width;
	if (!d->lost)
		d->lost = d->transport.gather(d->transport.user, d->starts, d->notes);
	d->gathers++;
	d->gathered += width;
	return d->lost ? CAL_ERR_LOST : CAL_OK;
}

static CalStatus error_lost(const CalSim *sim, CalError *error) {
	CalDistributionInfo info = {0};
	cal_sim_distribution(sim, &info);
	char who[32] = "some rank";
	if (info.lost > 0)
		snprintf(who, sizeof who, "rank %d", info.lost - 1);
	return error_set(error, CAL_ERR_LOST,
	                 "nothing came from %s: it is gone, too slow, or waits for another that is; rank %d of %d stops at "
	                 "t = %.9g s, where all states are known",
	                 who, info.rank, info.size, cal_sim_time(sim));
}

/* ---- do they agree? -------------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
	const unsigned char *b = bytes;
	for (size_t i = 0; i < size; ++i)
		hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_states(const CalSim *sim) {
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (int i = 0; i < sim->group_count; ++i) {
		const SimGroup *g = &sim->groups[i];
		hash = hash_bytes(hash, &g->state.t, sizeof g->state.t);
		hash = hash_bytes(hash, g->state.q, (size_t)g->model->nq * sizeof(double));
		hash = hash_bytes(hash, g->state.u, (size_t)g->model->nu * sizeof(double));
	}
	return hash;
}

static void list_fingerprints(const CalSim *sim, const CalDistribution *how, uint64_t hash[MATCH_COUNT]) {
	const uint64_t start = UINT64_C(0xcbf29ce484222325);
	const Fingerprints made_of = fingerprints_of(sim);
	hash[MATCH_VERSION] = hash_bytes(start, cal_version(), strlen(cal_version()));
	memcpy(hash + MATCH_ORIGIN, made_of.of, sizeof made_of.of);
	hash[MATCH_CALLER] = how->fingerprint;
	hash[MATCH_WAY] = (uint64_t)how->cross_loops << 60 | (uint64_t)how->branches << 34 |
	                  (uint64_t)how->transport->size << 2 | (how->forced ? 2U : 0U) | (how->inputs_of_time ? 1U : 0U);
	hash[MATCH_STATE] = hash_states(sim);
}

/* The first difference from rank 0, the same on all ranks. */
static CalStatus compare_ranks(CalSim *sim, SimRanks *d, CalError *error) {
	uint64_t hash[MATCH_COUNT];
	enum { WIDTH = 2 * MATCH_COUNT };
	list_fingerprints(sim, &d->how, hash);
	double *own = d->notes + (size_t)d->transport.rank * WIDTH;
	for (int k = 0; k < MATCH_COUNT; ++k) {
		own[2 * k] = (double)(hash[k] >> 32);
		own[2 * k + 1] = (double)(hash[k] & UINT32_MAX);
	}
	if (gather_notes(d, WIDTH) != CAL_OK)
		return error_lost(sim, error);
	for (int k = 0; k < MATCH_COUNT; ++k) {
		for (int r = 1; r < d->transport.size; ++r) {
			const double *theirs = d->notes + (ptrdiff_t)r * WIDTH + 2 * k, *first = d->notes + 2 * k;
			if (theirs[0] != first[0] || theirs[1] != first[1])
				return error_set(error, CAL_ERR_MODEL, "rank %d has %s than rank 0; start all ranks alike", r,
				                 what_differs[k]);
		}
	}
	return CAL_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------ */

static int count_u(const CalSim *sim) {
	int nu = 0;
	for (int i = 0; i < sim->group_count; ++i)
		nu += sim->groups[i].model->nu;
	return nu;
}

static int count_q(const CalSim *sim) {
	int nq = 0;
	for (int i = 0; i < sim->group_count; ++i)
		nq += sim->groups[i].model->nq;
	return nq;
}

static int note_width(const CalSim *sim) {
	return NOTE_GROUPS + NOTES_OF_GROUP * sim->group_count + device_states_count(sim);
}

static void layout_ranks(const CalSim *sim, SimRanks *d, Cursor *cursor) {
	const int most = d->width > 2 * MATCH_COUNT ? d->width : 2 * MATCH_COUNT;
	const size_t size = (size_t)d->transport.size, nu = (size_t)count_u(sim);
	size_t links = 1;
	for (int i = 0; i < sim->group_count; ++i)
		links += (size_t)sim->groups[i].model->link_count + 1;
	CURSOR_ARRAY(cursor, d->q, count_q(sim));
	CURSOR_ARRAY(cursor, d->u, nu);
	CURSOR_ARRAY(cursor, d->x, device_states_count(sim));
	CURSOR_ARRAY(cursor, d->notes, size * (size_t)most);
	CURSOR_ARRAY(cursor, d->seen, sim->group_count * NOTES_OF_GROUP);
	CURSOR_ARRAY(cursor, d->rank_of, links);
	CURSOR_ARRAY(cursor, d->starts, size + 1);
	CURSOR_ARRAY(cursor, d->own, nu);
}

/* Arrays for the groups that there are now. */
static CalStatus make_arrays(const CalSim *sim, SimRanks *d) {
	d->width = note_width(sim);
	Cursor cursor = {.align = sizeof(double)};
	layout_ranks(sim, d, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &sim->allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	memory_free(&sim->allocator, d->memory);
	d->memory = memory;
	cursor_clear(&cursor);
	layout_ranks(sim, d, &cursor);
	return CAL_OK;
}

static SimRanks *create_ranks(const CalSim *sim, const CalDistribution *how) {
	SimRanks *d = memory_alloc(&sim->allocator, sizeof *d);
	if (!d)
		return NULL;
	*d = (SimRanks){.transport = *how->transport, .how = *how};
	d->how.transport = &d->transport;
	if (make_arrays(sim, d) == CAL_OK)
		return d;
	memory_free(&sim->allocator, d);
	return NULL;
}

static CalStatus partition_groups(CalSim *sim, const SimRanks *d) {
	const CalBranchOptions options = {.branches = d->how.branches,
	                                  .forced = d->how.forced,
	                                  .cross_loops = d->how.cross_loops,
	                                  .transport = &d->transport};
	CalStatus status = CAL_OK;
	if (sim->topology) // memory that is reserved for changes of topology does not know of branches
		arena_bypass(sim->topology->arena, true);
	for (int i = 0; i < sim->group_count && status == CAL_OK; ++i) {
		SimGroup *group = &sim->groups[i];
		if (!group->branches)
			status = branches_create(group->model, &options, NULL, &group->branches);
	}
	if (sim->topology)
		arena_bypass(sim->topology->arena, false);
	return status;
}

/* Branches of all groups in turn are assigned as if they were of one. */
static CalStatus assign_ranks(CalSim *sim, SimRanks *d) {
	int count = 0;
	for (int i = 0; i < sim->group_count; ++i)
		count += cal_branches_count(sim->groups[i].branches);
	PartitionPiece *pieces = memory_alloc(&sim->allocator, ((size_t)count + 1) * sizeof *pieces);
	if (!pieces)
		return CAL_ERR_MEMORY;
	int at = 0;
	for (int i = 0; i < sim->group_count; ++i) {
		for (int k = 0; k < cal_branches_count(sim->groups[i].branches); ++k) {
			CalBranchInfo info = {0};
			cal_branches_info(sim->groups[i].branches, k, &info);
			pieces[at++] = (PartitionPiece){.flops = info.flops};
		}
	}
	partition_assign(&(Partition){.count = count, .pieces = pieces}, d->transport.size, d->rank_of);
	memory_free(&sim->allocator, pieces);
	int u = 0;
	at = 0;
	for (int i = 0; i < sim->group_count; ++i) {
		branches_place(sim->groups[i].branches, d->rank_of + at, d->own + u);
		at += cal_branches_count(sim->groups[i].branches);
		u += sim->groups[i].model->nu;
	}
	return CAL_OK;
}

/* Who evaluates devices. */
static CalStatus plan_devices(CalSim *sim, SimRanks *d) {
	CalStatus status = CAL_OK;
	if (d->width != note_width(sim)) { // devices with other states
		status = make_arrays(sim, d);
		if (status == CAL_OK)
			status = assign_ranks(sim, d);
	}
	return status == CAL_OK ? device_ranks_plan(sim, &d->transport, &d->devices) : status;
}

static CalStatus check_distribution(const CalSim *sim, const CalDistribution *how, CalError *error) {
	const CalTransport *t = how ? how->transport : NULL;
	if (!sim || !t || t->size < 1 || t->rank < 0 || t->rank >= t->size || !t->send || !t->receive || !t->gather ||
	    how->branches < 0 || how->branches > WORKER_POOL_MAX || !cal_cross_loops_name(how->cross_loops))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_distribute: give a simulation and a transport with a rank below its size and three "
		                 "functions, between 0 and %d branches, and one of CAL_CROSS_LOOPS_*",
		                 WORKER_POOL_MAX);
	if (sim->ranks || sim->moving)
		return error_set(error, CAL_ERR_STAGE, "cal_sim_distribute: %s",
		                 sim->moving ? "not within an advance" : "the simulation is distributed already");
	const CalStatus status = formulation_refuse(sim, "ranks", error);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < sim->group_count; ++i) {
		if (sim->groups[i].branches)
			return error_set(
				error, CAL_ERR_UNSUPPORTED,
				"group \"%s\" is solved by threads; a rank works with one: leave them out and start more ranks",
				cal_model_name(sim->groups[i].model));
	}
	return CAL_OK;
}

/* The first status of a rank that is not CAL_OK. */
static CalStatus check_agreement(const CalSim *sim, SimRanks *d, CalStatus own, CalError *error) {
	d->notes[d->transport.rank] = (double)own;
	if (gather_notes(d, 1) != CAL_OK)
		return error_lost(sim, error);
	for (int r = 0; r < d->transport.size; ++r) {
		const CalStatus status = (CalStatus)d->notes[r];
		if (status != CAL_OK)
			return error_set(error, status, "cal_sim_distribute: rank %d: %s", r, cal_status_text(status));
	}
	return CAL_OK;
}

CalStatus cal_sim_distribute(CalSim *sim, const CalDistribution *how, CalError *error) {
	CalStatus status = check_distribution(sim, how, error);
	if (status != CAL_OK)
		return status;
	SimRanks *d = create_ranks(sim, how);
	sim->ranks = d;
	if (!d)
		return error_set(error, CAL_ERR_MEMORY, "cal_sim_distribute: %s", cal_status_text(CAL_ERR_MEMORY));
	status = compare_ranks(sim, d, error);
	if (status == CAL_OK) {
		status = partition_groups(sim, d);
		if (status == CAL_OK)
			status = assign_ranks(sim, d);
		if (status == CAL_OK)
			status = sim_bind(sim);
		if (status == CAL_OK)
			status = plan_devices(sim, d);
		status = check_agreement(sim, d, status, error);
	}
	if (status == CAL_OK)
		return CAL_OK;
	distribute_end(sim);
	sim_bind(sim); // needs no more than it had
	return status;
}

void distribute_end(CalSim *sim) {
	if (!sim->ranks)
		return;
	for (int i = 0; i < sim->group_count; ++i) {
		cal_branches_destroy(sim->groups[i].branches);
		sim->groups[i].branches = NULL;
		sim->groups[i].own = NULL;
	}
	device_ranks_free(sim, &sim->ranks->devices);
	memory_free(&sim->allocator, sim->ranks->memory);
	memory_free(&sim->allocator, sim->ranks);
	sim->ranks = NULL;
}

void distribute_keep_counts(const CalSim *sim, const SimGroup *group) {
	if (!sim->ranks || !group->branches)
		return;
	CalDistributionInfo counted = {0}, *past = &sim->ranks->past;
	branches_count_messages(group->branches, &counted);
	past->evaluations += counted.evaluations;
	past->corrections += counted.corrections;
	past->residuals += counted.residuals;
	past->messages += counted.messages;
	past->numbers += counted.numbers;
	past->gathers += counted.gathers;
	past->gathered += counted.gathered;
}

CalStatus cal_sim_distribution(const CalSim *sim, CalDistributionInfo *info) {
	if (!sim || !info || !sim->ranks)
		return CAL_ERR_ARGUMENT;
	const SimRanks *d = sim->ranks;
	*info = d->past;
	info->rank = d->transport.rank;
	info->size = d->transport.size;
	info->interface_only = d->interface_only;
	info->lost = d->lost ? d->lost : d->devices.lost;
	info->messages += d->devices.messages;
	info->numbers += d->devices.numbers;
	info->gathers += d->gathers;
	info->gathered += d->gathered;
	int last = -1;
	for (int i = 0; i < sim->group_count; ++i) {
		if (!sim->groups[i].branches)
			continue;
		branches_count_messages(sim->groups[i].branches, info);
		for (int k = 0; k < cal_branches_count(sim->groups[i].branches); ++k) {
			CalBranchInfo branch = {0};
			cal_branches_info(sim->groups[i].branches, k, &branch);
			info->busy += branch.rank != last;
			last = branch.rank;
		}
	}
	return CAL_OK;
}

int cal_sim_rank_of(const CalSim *sim, CalBodyId body) {
	for (int i = 0; sim && sim->ranks && i < sim->group_count; ++i) {
		const int index = cal_model_body_index(sim->groups[i].model, body);
		if (index >= 0)
			return branches_rank_of(sim->groups[i].branches, index);
	}
	return 0;
}

/* ---- advancing ----------------------------------------------------------------------------------------------- */

/* Nothing reads states of other ranks within an advance. */
static bool interfaces_suffice(const CalSim *sim) {
	bool suffice = method_is_fixed(sim->method.method) && sim->event_count == 0 && !sim->subsystems;
	for (int i = 0; i < sim->device_count; ++i)
		suffice &= device_is_local(sim, &sim->devices[i]);
	for (int i = 0; i < sim->group_count; ++i) {
		const SimGroup *group = &sim->groups[i];
		suffice &= !group->input || sim->ranks->how.inputs_of_time;
		suffice &= !sim->method.euclidean || group->model->row_count == 0; // branches project in the metric of M
	}
	return suffice;
}

static void set_whole(CalSim *sim, bool whole) {
	SimRanks *d = sim->ranks;
	int u = 0;
	for (int i = 0; i < sim->group_count; ++i) {
		SimGroup *group = &sim->groups[i];
		branches_set_whole(group->branches, whole);
		group->own = whole ? NULL : d->own + u;
		u += group->model->nu;
	}
	d->interface_only = !whole;
	d->failed = false;
}

/* The states as they are to `d`, or back again. */
static void copy_states(CalSim *sim, SimRanks *d, bool back) {
	double *q = d->q, *u = d->u, *seen = d->seen;
	for (int i = 0; i < sim->group_count; ++i, seen += NOTES_OF_GROUP) {
		SimGroup *g = &sim->groups[i];
		const size_t nq = (size_t)g->model->nq * sizeof(double), nu = (size_t)g->model->nu * sizeof(double);
		memcpy(back ? g->state.q : q, back ? q : g->state.q, nq);
		memcpy(back ? g->state.u : u, back ? u : g->state.u, nu);
		q += g->model->nq;
		u += g->model->nu;
		if (back) {
			g->state.t = d->t;
			g->worked = seen[0] != 0, g->pushed = (int)seen[1], g->unaccounted = seen[2] != 0;
		} else {
			seen[0] = g->worked, seen[1] = g->pushed, seen[2] = g->unaccounted;
		}
	}
}

static void save_states(CalSim *sim, SimRanks *d) {
	copy_states(sim, d, false);
	device_states_copy(sim, d->x, false);
	d->t = cal_sim_time(sim);
	memcpy(d->account, sim->account, sizeof d->account);
	d->stats = sim->system.integrator->stats;
}

static void restore_states(CalSim *sim, SimRanks *d) {
	copy_states(sim, d, true);
	device_states_copy(sim, d->x, true);
	memcpy(sim->account, d->account, sizeof d->account);
	sim->system.integrator->stats = d->stats;
	cal_integrator_reset(sim->system.integrator);
}

/* What happened on this rank. */
static void write_note(CalSim *sim, const SimRanks *d, bool failed, double *to) {
	for (int i = 0; i < sim->group_count; ++i) {
		const SimGroup *g = &sim->groups[i];
		double *of_group = to + NOTE_GROUPS + (ptrdiff_t)NOTES_OF_GROUP * i;
		failed |= branches_failed(g->branches);
		of_group[0] = g->worked, of_group[1] = g->pushed, of_group[2] = g->unaccounted;
	}
	to[NOTE_FAILED] = failed || d->failed;
	for (int k = 0; k < ACCOUNTS; ++k)
		to[NOTE_ACCOUNT + k] = sim->account[k] - d->account[k];
	device_states_copy(sim, to + NOTE_GROUPS + (ptrdiff_t)NOTES_OF_GROUP * sim->group_count, false);
}

/* Whether an advance failed on some rank; else what happened on all of them. */
static bool add_notes(CalSim *sim, const SimRanks *d) {
	bool failed = false;
	for (int r = 0; r < d->transport.size; ++r)
		failed |= d->notes[r * d->width + NOTE_FAILED] != 0;
	if (failed)
		return true;
	memcpy(sim->account, d->account, sizeof d->account);
	for (int r = 0; r < d->transport.size; ++r) {
		const double *from = d->notes + (ptrdiff_t)r * d->width;
		for (int k = 0; k < ACCOUNTS; ++k)
			sim->account[k] += from[NOTE_ACCOUNT + k];
		for (int i = 0; i < sim->group_count; ++i) {
			const double *of_group = from + NOTE_GROUPS + (ptrdiff_t)NOTES_OF_GROUP * i;
			SimGroup *g = &sim->groups[i];
			g->worked |= of_group[0] != 0, g->pushed |= (int)of_group[1], g->unaccounted |= of_group[2] != 0;
		}
	}
	return false;
}

/* After an advance that exchanged interfaces alone. *failed: it is to be taken once more, in the other way. */
static CalStatus gather_states(CalSim *sim, SimRanks *d, CalStatus own, bool *failed) {
	write_note(sim, d, own != CAL_OK, d->notes + (ptrdiff_t)d->transport.rank * d->width);
	CalStatus status = own == CAL_ERR_LOST ? own : gather_notes(d, d->width);
	*failed = status == CAL_OK && add_notes(sim, d);
	if (status == CAL_OK && !*failed)
		device_states_take(sim, &d->devices, d->notes + NOTE_GROUPS + (ptrdiff_t)NOTES_OF_GROUP * sim->group_count,
		                   d->width);
	for (int i = 0; i < sim->group_count && status == CAL_OK && !*failed; ++i) {
		SimGroup *g = &sim->groups[i];
		status = g->motion ? CAL_OK : branches_bring_state(g->branches, g->state.q, g->state.u);
	}
	return status;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

bool distribute_is_partial(const CalSim *sim) { return sim->ranks && sim->ranks->interface_only && sim->moving; }

CalStatus distribute_exchange_motions(CalSim *sim, const CalState *parts) {
	DeviceRanks *devices = &sim->ranks->devices;
	device_ranks_exchange(sim, devices, parts);
	return devices->lost ? CAL_ERR_LOST : CAL_OK;
}

bool distribute_has_device(const CalSim *sim, int device) { return sim->ranks->devices.acts[device]; }

bool distribute_owns_device(const CalSim *sim, int device) {
	return sim->ranks->devices.owner[device] == sim->ranks->transport.rank;
}

CalStatus distribute_node_motion(const CalSim *sim, int device, CalNodeRef node_ref, CalPose *pose,
                                 CalSpatial *velocity) {
	return device_ranks_node_motion(sim, &sim->ranks->devices, device, node_ref, pose, velocity);
}

/* ---- changes of topology ------------------------------------------------------------------------------------ */

void distribute_renew(CalSim *sim) {
	SimRanks *d = sim->ranks;
	if (!d)
		return;
	CalStatus status = make_arrays(sim, d);
	if (status == CAL_OK)
		status = partition_groups(sim, d);
	if (status == CAL_OK)
		status = assign_ranks(sim, d);
	if (status != CAL_OK) {
		d->lost = d->lost ? d->lost : 1 + d->transport.rank; // others will wait for it in vain
		return;
	}
	set_whole(sim, !d->interface_only);
}

/* All groups have branches: while a checkpoint is restored they have none yet, and devices are bound again afterwards. */
static bool is_divided(const CalSim *sim) {
	bool divided = true;
	for (int i = 0; i < sim->group_count; ++i)
		divided &= sim->groups[i].branches != NULL;
	return divided;
}

void distribute_renew_devices(CalSim *sim) {
	SimRanks *d = sim->ranks;
	if (d && d->devices.memory && is_divided(sim) && plan_devices(sim, d) != CAL_OK)
		d->lost = d->lost ? d->lost : 1 + d->transport.rank; // others will wait for it in vain
}

void distribute_save(CalSim *sim) {
	if (sim->ranks)
		save_states(sim, sim->ranks);
}

void distribute_note_failure(CalSim *sim) { sim->ranks->failed = true; }

CalStatus distribute_move(CalSim *sim, double limit, bool single, CalError *error) {
	SimRanks *d = sim->ranks;
	CalError own = {0};
	bool again = false;
	set_whole(sim, !interfaces_suffice(sim));
	save_states(sim, d);
	CalStatus status = d->lost ? CAL_ERR_LOST : sim_move(sim, limit, single, &own);
	if (d->interface_only)
		status = gather_states(sim, d, status, &again);
	if (again) {
		restore_states(sim, d);
		set_whole(sim, true);
		own = (CalError){0};
		status = sim_move(sim, limit, single, &own);
	}
	if (status == CAL_ERR_LOST) {
		CalDistributionInfo info = {0};
		restore_states(sim, d);
		cal_sim_distribution(sim, &info);
		d->lost = info.lost;
		return error_lost(sim, error);
	}
	if (status != CAL_OK && error)
		*error = own;
	return status;
}
