// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.c — taking a checkpoint, and bringing a simulation back to one (calder/checkpoint.h).
 *
 * Taking walks over all parts once to count and once to write. Restoring first checks everything: header, checksum,
 * fingerprints, topology (checkpoint_check.c); then it makes all that needs memory beside what is there, topology and
 * groups, each group checked like one of a description; goes over the states without reading them; and only then
 * exchanges the two and reads. Whatever fails before leaves the simulation as it was. No byte is believed: a checkpoint
 * may be forged.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "integrate/scheme.h"
#include "model/compile/compile.h"
#include "transition/topology_edit.h"

enum { FORMAT = 5, BYTE_ORDER_MARK = 0x01020304 };

static const char magic[8] = {'C', 'A', 'L', 'D', 'E', 'R', 'C', 'P'};

typedef struct Header {
	char magic[8];
	uint32_t byte_order;
	uint32_t format;
	uint64_t size;     // of everything
	char software[16]; // version of the library
	Fingerprints fingerprints;
	int64_t generation; // of the topology
	double time;        //
	uint64_t checksum;  // of everything else
} Header;

static void walk_header(Serializer *a, Header *header) {
	serializer_bytes(a, header->magic, sizeof header->magic);
	serializer_u32(a, &header->byte_order);
	serializer_u32(a, &header->format);
	serializer_u64(a, &header->size);
	serializer_bytes(a, header->software, sizeof header->software);
	serializer_bytes(a, header->fingerprints.of, sizeof header->fingerprints.of);
	serializer_i64(a, &header->generation);
	serializer_double(a, &header->time);
	serializer_u64(a, &header->checksum);
}

static size_t header_size(void) {
	Serializer a = serializer_counter();
	Header header = {0};
	walk_header(&a, &header);
	return a.used;
}

/* Over all bytes but the checksum itself, the last field of the header. */
static uint64_t checksum_of(const char *bytes, size_t size) {
	const size_t header = header_size(), before = header - sizeof(uint64_t);
	return serializer_hash(serializer_hash(SERIALIZER_HASH_START, bytes, before), bytes + header, size - header);
}

/* ---- taking --------------------------------------------------------------------------------------------------- */

/* Everything after the header. Nothing is changed unless the archive reads. */
static void walk_body_of(Serializer *a, CalSim *sim) {
	int groups = sim->group_count;
	if (sim->topology) {
		TopologyImage image = image_of(sim->topology);
		image_walk(a, &sim->origin, &image);
	}
	serializer_int(a, &groups);
	for (int i = 0; i < groups; i++) {
		GroupEntry entry = entry_of(sim, i);
		walk_entry(a, &entry);
	}
	walk_states(a, sim);
	walk_rest(a, sim, sim->system.integrator);
}

static Serializer measured_size(const CalSim *sim) {
	Serializer a = serializer_counter();
	a.used = header_size();
	walk_body_of(&a, (CalSim *)(uintptr_t)sim);
	return a;
}

size_t cal_checkpoint_size(const CalSim *sim) { return sim ? measured_size(sim).used : 0; }

static Header header_of(const CalSim *sim, size_t size) {
	Header header = {.byte_order = BYTE_ORDER_MARK,
	                 .format = FORMAT,
	                 .size = size,
	                 .fingerprints = fingerprints_of(sim),
	                 .generation = sim->generation,
	                 .time = cal_sim_time(sim)};
	memcpy(header.magic, magic, sizeof magic);
	strncpy(header.software, cal_version(), sizeof header.software - 1);
	return header;
}

CalStatus cal_checkpoint_take(const CalSim *sim, void *memory, size_t size, size_t *used) {
	if (used)
		*used = 0;
	if (!sim || (!memory && size > 0))
		return CAL_ERR_ARGUMENT;
	if (sim->moving)
		return CAL_ERR_STAGE;
	const Serializer needed = measured_size(sim);
	if (used)
		*used = needed.used;
	if (needed.status != CAL_OK || size < needed.used || !memory)
		return needed.status != CAL_OK ? needed.status : CAL_ERR_MEMORY;
	Header header = header_of(sim, needed.used);
	Serializer a = serializer_writer(memory, needed.used);
	walk_header(&a, &header);
	walk_body_of(&a, (CalSim *)(uintptr_t)sim);
	header.checksum = checksum_of(memory, needed.used);
	memcpy((char *)memory + header_size() - sizeof header.checksum, &header.checksum, sizeof header.checksum);
	return CAL_OK;
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static CalStatus check_kind(const Header *header, size_t size, CalError *error) {
	if (size < sizeof magic || memcmp(header->magic, magic, sizeof magic) != 0)
		return error_set(error, CAL_ERR_INPUT, "not a Calder checkpoint");
	if (size < header_size())
		return error_set(error, CAL_ERR_INPUT, "the checkpoint is cut short: it has only %zu bytes", size);
	if (header->byte_order != BYTE_ORDER_MARK)
		return error_set(error, CAL_ERR_INPUT,
		                 "the checkpoint comes from a machine with another byte order; restart on one of that kind");
	if (header->format != FORMAT)
		return error_set(error, CAL_ERR_INPUT,
		                 "the checkpoint has format %u, this library reads format %d; restart with the version that "
		                 "wrote it",
		                 (unsigned)header->format, (int)FORMAT);
	if (header->size > size || header->size < header_size())
		return error_set(error, CAL_ERR_INPUT, "the checkpoint is cut short: it has %zu of %llu bytes", size,
		                 (unsigned long long)header->size);
	return CAL_OK;
}

static CalStatus check_content(const Header *header, const void *memory, CalError *error) {
	if (checksum_of(memory, (size_t)header->size) != header->checksum)
		return error_set(error, CAL_ERR_INPUT,
		                 "the checkpoint is damaged: its bytes do not give its checksum; take an older one");
	if (strncmp(header->software, cal_version(), sizeof header->software) != 0)
		return error_set(error, CAL_ERR_INPUT,
		                 "the checkpoint was written by version %.16s, this is %s; only the same version resumes "
		                 "bit-identically",
		                 header->software, cal_version());
	return CAL_OK;
}

static CalStatus check_origin(const Header *header, const CalSim *sim, CalError *error) {
	static const char *const differs[ORIGIN_COUNT] = {
		[ORIGIN_DESCRIPTION] = "another model: a name or a number of the description is not the same",
		[ORIGIN_OPTIONS] = "a run with other options; give the same method, step, tolerances and solver",
		[ORIGIN_CAPACITY] = "a simulation with other room for changes; call cal_sim_reserve() as there, or not at all",
		[ORIGIN_DEVICES] = "a simulation with other devices; add the same ones in the same order first",
		[ORIGIN_EVENTS] = "a simulation with other events; add the same ones in the same order first",
	};
	const Fingerprints own = fingerprints_of(sim);
	for (int i = 0; i < ORIGIN_COUNT; i++) {
		if (own.of[i] != header->fingerprints.of[i])
			return error_set(error, CAL_ERR_INPUT, "the checkpoint (t = %.9g s) is of %s", header->time, differs[i]);
	}
	return CAL_OK;
}

/* ---- restoring ----------------------------------------------------------------------------------------------------- */

typedef struct Restore {
	CalSim *sim;
	CalError *error;
	Serializer a;
	CalAllocator allocator; // of what is here
	int64_t generation;     // that it will have
	bool rebuild;           // groups are compiled anew
	TopologyImage was, will;
	int count; // groups
	GroupEntry *entry;
	SimGroup *made, *old; // [count], [group_count of the simulation]
	CalError why;         // of what a group is refused for
} Restore;

static CalStatus no_memory(Restore *r) {
	const Topology *t = r->sim->topology;
	return t ? error_set(
				   r->error, CAL_ERR_MEMORY,
				   "checkpoint: the memory reserved for changes (%zu bytes) does not hold the groups as they are and "
				   "as they will be; give cal_sim_reserve() a larger CalSimCapacity.memory",
				   t->memory)
	         : error_set(r->error, CAL_ERR_MEMORY, "checkpoint: %s", cal_status_text(CAL_ERR_MEMORY));
}

static CalStatus error_damaged(Restore *r) {
	return error_set(r->error, CAL_ERR_INPUT, "the checkpoint is damaged: %s",
	                 r->why.text[0] ? r->why.text : "its groups make no sense");
}

static CalStatus read_topology(Restore *r) {
	const Topology *t = r->sim->topology;
	if (r->generation < 0 || (r->generation > 0 && !t))
		return error_damaged(r);
	if (!t)
		return CAL_OK;
	const CalStatus status = image_read(&r->a, r->sim, &r->will, r->error);
	if (status != CAL_OK)
		return status;
	TopologyImage now = image_of(t);
	if (!r->rebuild && !image_same(&r->sim->origin, &now, &r->will))
		return error_damaged(r);
	return image_copy(r->sim->topology, &r->was) ? CAL_OK : no_memory(r);
}

static bool entry_is_sound(const Restore *r, const GroupEntry *entry) {
	const int functions = r->sim->origin.function_count, groups = r->sim->topology ? r->will.groups : r->count;
	return entry->group >= 1 && entry->group <= (uint32_t)groups && entry->input_from >= FUNCTION_LATE &&
	       entry->input_from <= functions && entry->motion_from >= FUNCTION_LATE && entry->motion_from <= functions;
}

static int entries_of(const Restore *r, uint32_t group) {
	int count = 0;
	for (int i = 0; i < r->count; i++)
		count += r->entry[i].group == group;
	return count;
}

/* Every group that has bodies is there once, and no other. */
static bool entries_are_complete(const Restore *r) {
	for (int i = 0; !r->rebuild && i < r->count; i++) {
		if (r->entry[i].group != entry_of(r->sim, i).group)
			return false;
	}
	for (uint32_t group = 1; r->rebuild && group <= (uint32_t)r->will.groups; group++) {
		int bodies = 0;
		for (int i = 0; i < r->will.bodies; i++)
			bodies += r->will.body[i].def.group.value == group;
		if (entries_of(r, group) != (bodies > 0 && group != r->sim->topology->parking.value))
			return false;
	}
	return true;
}

static CalStatus read_entries(Restore *r) {
	const CalSim *sim = r->sim;
	const int most = sim->topology ? sim->topology->desc->group_capacity : sim->group_count;
	serializer_int(&r->a, &r->count);
	if (r->a.status != CAL_OK || r->count < 1 || r->count > most || (!r->rebuild && r->count != sim->group_count)) {
		r->count = 0;
		return error_damaged(r);
	}
	r->entry = memory_alloc(&r->allocator, sizeof *r->entry * (size_t)r->count);
	r->made = memory_alloc(&r->allocator, sizeof *r->made * (size_t)r->count);
	r->old = memory_alloc(&r->allocator, sizeof *r->old * (size_t)sim->group_count);
	if (r->made)
		memset(r->made, 0, sizeof *r->made * (size_t)r->count);
	if (!r->entry || !r->made || !r->old)
		return no_memory(r);
	memcpy(r->old, sim->groups, sizeof *r->old * (size_t)sim->group_count);
	bool sound = true;
	for (int i = 0; i < r->count; i++) {
		walk_entry(&r->a, &r->entry[i]);
		sound &= entry_is_sound(r, &r->entry[i]);
	}
	return r->a.status == CAL_OK && sound && entries_are_complete(r) ? CAL_OK : error_damaged(r);
}

static CalStatus build_group(Restore *r, int i) {
	const Topology *t = r->sim->topology;
	SimGroup *made = &r->made[i];
	if (!r->rebuild) {
		*made = r->sim->groups[i];
		return CAL_OK;
	}
	const CalCompileOptions options = {
		.group = {r->entry[i].group}, .solver = r->sim->solver, .allocator = t->allocator};
	CalStatus status = desc_check_structure(t->desc, options.group, edit_keep_first_error, &r->why);
	if (status == CAL_OK)
		status = compile_checked(t->desc, &options, &made->model);
	if (status == CAL_OK)
		status = model_check_singular(made->model, t->desc, edit_keep_first_error, &r->why);
	if (status == CAL_OK)
		status = group_place(made, r->sim);
	if (status == CAL_OK)
		group_classify(made);
	return status;
}

static CalStatus build_groups(Restore *r) {
	const char *wrong = r->rebuild ? image_put(&r->will, r->sim->topology) : NULL;
	if (wrong)
		return error_set(r->error, CAL_ERR_INPUT, "the checkpoint is damaged: a loop %s", wrong);
	for (int i = 0; i < r->count; i++) {
		const CalStatus status = build_group(r, i);
		if (status != CAL_OK)
			return status == CAL_ERR_MEMORY ? no_memory(r) : error_damaged(r);
		if (r->rebuild && group_partition(&r->made[i], r->sim) != CAL_OK)
			return error_set(r->error, CAL_ERR_MEMORY, "checkpoint: group \"%s\": no memory for its branches",
			                 cal_model_name(r->made[i].model));
		if (r->made[i].model->nq != r->entry[i].nq || r->made[i].model->nu != r->entry[i].nu)
			return error_damaged(r);
		r->made[i].input_from = r->entry[i].input_from;
		r->made[i].motion_from = r->entry[i].motion_from;
		origin_give(r->sim, &r->made[i]);
	}
	return CAL_OK;
}

/* What is still to be read has the length that it must have, and values that a run could have come to. */
static CalStatus check_states(Restore *r) {
	CalSim will = *r->sim;
	CalIntegrator integrator = *r->sim->system.integrator;
	will.groups = r->made;
	will.group_count = r->count;
	will.generation = r->generation;
	integrator.nq = integrator.nu = 0;
	integrator.part_count = r->count;
	for (int i = 0; i < r->count; i++) {
		integrator.nq += r->entry[i].nq;
		integrator.nu += r->entry[i].nu;
	}
	Serializer rest = serializer_checker(&r->a);
	walk_states(&rest, &will);
	walk_rest(&rest, &will, &integrator);
	return rest.status == CAL_OK && rest.used == rest.size
	           ? CAL_OK
	           : error_set(r->error, CAL_ERR_INPUT, "the checkpoint is damaged: its states are none of a run");
}

static void place_groups(CalSim *sim, const SimGroup *groups, int count) {
	memcpy(sim->groups, groups, sizeof *groups * (size_t)count);
	sim->group_count = count;
}

/* The last step that can fail: it takes memory before it changes anything. */
static CalStatus swap_groups(Restore *r) {
	const int before = r->sim->group_count;
	place_groups(r->sim, r->made, r->count);
	if (sim_bind(r->sim) == CAL_OK)
		return CAL_OK;
	place_groups(r->sim, r->old, before);
	return no_memory(r);
}

static void release_groups(const CalSim *sim, SimGroup *groups, int count) {
	for (int i = 0; i < count; i++)
		group_release(&groups[i], sim);
}

static void release_restore(Restore *r) {
	memory_free(&r->allocator, r->entry);
	memory_free(&r->allocator, r->made);
	memory_free(&r->allocator, r->old);
}

static CalStatus abandon_restore(Restore *r, CalStatus status) {
	CalSim *sim = r->sim;
	if (r->rebuild && r->made)
		release_groups(sim, r->made, r->count);
	if (r->was.group) {
		image_put(&r->was, sim->topology);
		image_free(sim->topology, &r->was);
	}
	if (r->will.group)
		image_drop(sim, &r->will);
	release_restore(r);
	return status;
}

/* Devices are bound a second time, at their states and with those switched off that were. */
static void finish_restore(Restore *r, int old_count) {
	CalSim *sim = r->sim;
	if (r->rebuild)
		release_groups(sim, r->old, old_count);
	if (sim->topology) {
		image_put(&r->will, sim->topology);
		image_drop(sim, &r->was);
		image_free(sim->topology, &r->will);
	}
	walk_states(&r->a, sim);
	distribute_renew(sim);
	sim_bind(sim); // needs no more than before
	walk_rest(&r->a, sim, sim->system.integrator);
	formulation_restore(sim);
	sim->restored = true;
	release_restore(r);
}

static CalStatus restore(CalSim *sim, const Header *header, const void *memory, CalError *error) {
	Restore r = {.sim = sim,
	             .error = error,
	             .a = serializer_reader(memory, (size_t)header->size),
	             .allocator = sim->topology ? arena_allocated_after(sim->topology->arena) : sim->allocator,
	             .generation = header->generation,
	             .rebuild = header->generation != 0 || sim->generation != 0};
	r.a.used = header_size();
	CalStatus status = read_topology(&r);
	if (status == CAL_OK)
		status = read_entries(&r);
	if (status == CAL_OK)
		status = build_groups(&r);
	if (status == CAL_OK)
		status = check_states(&r);
	const int old_count = sim->group_count;
	if (status == CAL_OK)
		status = swap_groups(&r);
	if (status != CAL_OK)
		return abandon_restore(&r, status);
	finish_restore(&r, old_count);
	return CAL_OK;
}

CalStatus cal_checkpoint_restore(CalSim *sim, const void *memory, size_t size, CalError *error) {
	if (!sim || !memory)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_checkpoint_restore: give a simulation and a checkpoint");
	if (sim->moving)
		return error_set(error, CAL_ERR_STAGE,
		                 "cal_checkpoint_restore: the simulation is within an advance; restore between two of them");
	Header header = {0};
	Serializer a = serializer_reader(memory, size);
	walk_header(&a, &header);
	CalStatus status = check_kind(&header, size, error);
	if (status == CAL_OK)
		status = check_content(&header, memory, error);
	if (status == CAL_OK)
		status = check_origin(&header, sim, error);
	return status == CAL_OK ? restore(sim, &header, memory, error) : status;
}
