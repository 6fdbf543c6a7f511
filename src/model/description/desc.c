// SPDX-License-Identifier: Apache-2.0
/*
 * desc.c — the description: adding groups, bodies, nodes and attachments, and finding them by name.
 *
 * Every adding call has the same order: check the arguments, make room in the array and in the name
 * index, copy the strings, and only then commit, which cannot fail. So a refused or failed call
 * leaves the description as it was (spare capacity aside) and leaks nothing.
 */
#include "model/description/desc.h"
#include "model/description/usable.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "loop/loop_type.h"

/* ---- defaults ------------------------------------------------------------------------------ */

static const CalPlacement placement_identity = {.orientation = {1, 0, 0, 0}};

CalGroupDef cal_group_def(void) { return (CalGroupDef){0}; }

const char *cal_propagation_name(CalPropagation propagation) {
	static const char *const names[] = {
#define PROPAGATION_NAME(name, text) text,
		CAL_PROPAGATION_LIST(PROPAGATION_NAME)
#undef PROPAGATION_NAME
	};
	return (int)propagation >= 0 && propagation < CAL_PROPAGATION_COUNT ? names[propagation] : NULL;
}

CalBodyDef cal_body_def(void) { return (CalBodyDef){0}; }

CalNodeDef cal_node_def(void) { return (CalNodeDef){.placement = placement_identity}; }

CalJointDef cal_joint_def(CalJointType type) {
	CalJointDef def = {.type = type, .axis = {0, 0, 1}, .inboard = placement_identity, .outboard = placement_identity};
	for (int i = 0; i < CAL_JOINT_MAX_DOF; i++) {
		def.dof[i].gear_ratio = 1;
	}
	return def;
}

CalLoopDef cal_loop_def(CalLoopType type) {
	return (CalLoopDef){.type = type, .a = placement_identity, .b = placement_identity};
}

/* ---- strings, ids -------------------------------------------------------------------------- */

bool desc_strings_copy(const CalAllocator *allocator, const char *name, const char *place, const char **name_out,
                       const char **place_out) {
	const size_t name_size = strlen(name) + 1, place_size = place ? strlen(place) + 1 : 0;
	char *block = memory_alloc(allocator, name_size + place_size);
	if (!block) {
		return false;
	}
	memcpy(block, name, name_size);
	if (place) {
		memcpy(block + name_size, place, place_size);
	}
	*name_out = block;
	*place_out = place ? block + name_size : NULL;
	return true;
}

static bool strings_copy(const CalDesc *desc, const char *name, const char *place, const char **name_out,
                         const char **place_out) {
	return desc_strings_copy(&desc->allocator, name, place, name_out, place_out);
}

static void strings_free(const CalDesc *desc, const char *name) {
	memory_free(&desc->allocator, (void *)(uintptr_t)name);
}

static CalStatus no_memory(CalError *error, const char *kind, const char *name) {
	return error_set(error, CAL_ERR_MEMORY, "%s \"%s\": out of memory", kind, name);
}

static CalStatus no_such_id(CalError *error, const char *place, const char *name, const char *kind, uint32_t value) {
	return error_set(error, CAL_ERR_ARGUMENT, "%s%s\"%s\": the description has no %s with id %u", PLACE_ARGS(place),
	                 name, kind, (unsigned)value);
}

/** An id at most `count`; 0 stands for the ground or for the default. */
static bool id_is_known(uint32_t value, int count) { return value <= (uint32_t)count; }

/* ---- finding ------------------------------------------------------------------------------- */

static bool name_is(const char *stored, const char *name, size_t length) {
	return strncmp(stored, name, length) == 0 && stored[length] == '\0';
}

static uint32_t find_group(const CalDesc *desc, const char *name, size_t length) {
	uint32_t hash = name_hash(0, name, length), cursor = 0, id;
	while ((id = name_index_next(&desc->group_names, hash, &cursor)) != 0) {
		if (name_is(desc->groups[id - 1].name, name, length)) {
			break;
		}
	}
	return id;
}

static uint32_t find_body(const CalDesc *desc, const char *name, size_t length) {
	uint32_t hash = name_hash(0, name, length), cursor = 0, id;
	while ((id = name_index_next(&desc->body_names, hash, &cursor)) != 0) {
		if (name_is(desc->bodies[id - 1].def.name, name, length)) {
			break;
		}
	}
	return id;
}

static uint32_t find_node(const CalDesc *desc, CalBodyId body, const char *name) {
	size_t length = strlen(name);
	uint32_t hash = name_hash(body.value, name, length), cursor = 0, id;
	while ((id = name_index_next(&desc->node_names, hash, &cursor)) != 0) {
		const DescNode *node = &desc->nodes[id - 1];
		if (node->body.value == body.value && name_is(node->def.name, name, length)) {
			break;
		}
	}
	return id;
}

static uint32_t find_joint(const CalDesc *desc, const char *name, size_t length) {
	uint32_t hash = name_hash(0, name, length), cursor = 0, id;
	while ((id = name_index_next(&desc->joint_names, hash, &cursor)) != 0) {
		if (name_is(desc->joints[id - 1].def.name, name, length)) {
			break;
		}
	}
	return id;
}

static uint32_t find_loop(const CalDesc *desc, const char *name, size_t length) {
	uint32_t hash = name_hash(0, name, length), cursor = 0, id;
	while ((id = name_index_next(&desc->loop_names, hash, &cursor)) != 0) {
		if (name_is(desc->loops[id - 1].def.name, name, length)) {
			break;
		}
	}
	return id;
}

CalGroupId cal_desc_find_group(const CalDesc *desc, const char *name) {
	return (CalGroupId){desc && name ? find_group(desc, name, strlen(name)) : 0};
}

CalBodyId cal_desc_find_body(const CalDesc *desc, const char *name) {
	return (CalBodyId){desc && name ? find_body(desc, name, strlen(name)) : 0};
}

CalJointId cal_desc_find_joint(const CalDesc *desc, const char *name) {
	return (CalJointId){desc && name ? find_joint(desc, name, strlen(name)) : 0};
}

CalLoopId cal_desc_find_loop(const CalDesc *desc, const char *name) {
	return (CalLoopId){desc && name ? find_loop(desc, name, strlen(name)) : 0};
}

CalNodeId cal_desc_find_node(const CalDesc *desc, const char *path) {
	if (!desc || !path) {
		return (CalNodeId){0};
	}
	CalBodyId body = {find_body(desc, path, strlen(path))};
	const char *slash = body.value ? NULL : name_path_split(path);
	if (!slash) {
		return cal_desc_body_node(desc, body);
	}
	size_t length = (size_t)(slash - path);
	bool ground = name_is("ground", path, length);
	body.value = ground ? 0 : find_body(desc, path, length);
	if (!ground && body.value == 0) {
		return (CalNodeId){0};
	}
	return (CalNodeId){find_node(desc, body, slash + 1)};
}

CalNodeId cal_desc_body_node(const CalDesc *desc, CalBodyId body) {
	if (!desc || body.value == 0 || !id_is_known(body.value, desc->body_count)) {
		return (CalNodeId){0};
	}
	return desc_body(desc, body)->frame;
}

int cal_desc_group_count(const CalDesc *desc) { return desc ? desc->group_count : 0; }
int cal_desc_body_count(const CalDesc *desc) { return desc ? desc->body_count : 0; }
int cal_desc_joint_count(const CalDesc *desc) { return desc ? desc->joint_count : 0; }
int cal_desc_loop_count(const CalDesc *desc) { return desc ? desc->loop_count : 0; }

/* ---- checks of names and numbers ----------------------------------------------------------- */

/* What a '/' in a name is: SLASH_ANY a letter, SLASH_PARTS between names, SLASH_NONE not allowed. */
typedef enum Slash { SLASH_ANY, SLASH_PARTS, SLASH_NONE } Slash;

static CalStatus name_check(const char *kind, const char *name, const char *place, Slash slash, const char *reserved,
                            const char *meaning, CalError *error) {
	if (!name || name[0] == '\0') {
		return error_set(error, CAL_ERR_MODEL, "%s%sa %s has no name; give it one", PLACE_ARGS(place), kind);
	}
	if (slash == SLASH_NONE && strchr(name, '/')) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%s%s \"%s\": the name contains '/', which separates body and node; rename it",
		                 PLACE_ARGS(place), kind, name);
	}
	if (slash == SLASH_PARTS && !name_slashes_are_sound(name)) {
		return error_set(
			error, CAL_ERR_MODEL,
			"%s%s%s \"%s\": a '/' stands between two names, of which the first is not \"ground\"; rename it",
			PLACE_ARGS(place), kind, name);
	}
	if (reserved && strcmp(name, reserved) == 0) {
		return error_set(error, CAL_ERR_MODEL, "%s%s%s \"%s\": this name is reserved for %s; rename it",
		                 PLACE_ARGS(place), kind, name, meaning);
	}
	return CAL_OK;
}

static CalStatus duplicate(const char *kind, const char *name, const char *place, const char *owner,
                           const char *first_place, CalError *error) {
	return error_set(error, CAL_ERR_MODEL,
	                 "%s%s%s \"%s\"%s%s%s: the name is already in use%s%s%s; rename one of the two", PLACE_ARGS(place),
	                 kind, name, owner ? " of \"" : "", owner ? owner : "", owner ? "\"" : "", first_place ? " (" : "",
	                 first_place ? first_place : "", first_place ? ")" : "");
}

static CalStatus not_finite(const char *kind, const char *name, const char *place, const char *what, CalError *error) {
	return error_set(error, CAL_ERR_MODEL, "%s%s%s \"%s\": %s " NUMBER_WRONG, PLACE_ARGS(place), kind, name, what);
}

static bool mat_is_finite(const CalMat3 *a) {
	bool finite = true;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			finite = finite && number_is_usable(a->m[i][j]);
		}
	}
	return finite;
}

const char *body_def_not_finite(const CalBodyDef *def) {
	return !number_is_usable(def->mass)    ? "mass"
	       : !vec_is_usable(def->com)      ? "center of mass"
	       : !mat_is_finite(&def->inertia) ? "inertia"
	                                       : NULL;
}

static CalStatus body_check(const CalDesc *desc, const CalBodyDef *def, CalError *error) {
	CalStatus status = name_check("body", def->name, def->place, SLASH_PARTS, "ground", "the ground", error);
	if (status != CAL_OK) {
		return status;
	}
	uint32_t twin = find_body(desc, def->name, strlen(def->name));
	if (twin) {
		return duplicate("body", def->name, def->place, NULL, desc->bodies[twin - 1].def.place, error);
	}
	if (cal_desc_find_node(desc, def->name).value) {
		return error_set(error, CAL_ERR_MODEL, "%s%sbody \"%s\": a node has this path already; rename one of the two",
		                 PLACE_ARGS(def->place), def->name);
	}
	if (!id_is_known(def->group.value, desc->group_count)) {
		return no_such_id(error, def->place, def->name, "group", def->group.value);
	}
	const char *what = body_def_not_finite(def);
	return what ? not_finite("body", def->name, def->place, what, error) : CAL_OK;
}

/* ---- creating and adding ------------------------------------------------------------------- */

/** Whether a node is the frame of its body, which has a constant name and the place of the body. */
static bool is_own_frame(const CalDesc *desc, uint32_t node) {
	const uint32_t body = desc->nodes[node - 1].body.value;
	return body && desc->bodies[body - 1].frame.value == node;
}

void cal_desc_destroy(CalDesc *desc) {
	if (!desc) {
		return;
	}
	for (int i = 0; i < desc->group_count; i++) {
		strings_free(desc, desc->groups[i].name);
	}
	for (int i = 0; i < desc->body_count; i++) {
		strings_free(desc, desc->bodies[i].def.name);
		memory_free(&desc->allocator, desc->bodies[i].flex);
	}
	for (int i = 0; i < desc->node_count; i++) {
		if (!is_own_frame(desc, (uint32_t)i + 1)) {
			strings_free(desc, desc->nodes[i].def.name);
		}
	}
	for (int i = 0; i < desc->joint_count; i++) {
		strings_free(desc, desc->joints[i].def.name);
	}
	for (int i = 0; i < desc->loop_count; i++) {
		strings_free(desc, desc->loops[i].def.name);
	}
	CalAllocator allocator = desc->allocator;
	memory_free(&allocator, desc->groups);
	memory_free(&allocator, desc->bodies);
	memory_free(&allocator, desc->nodes);
	memory_free(&allocator, desc->joints);
	memory_free(&allocator, desc->loops);
	name_index_free(&allocator, &desc->group_names);
	name_index_free(&allocator, &desc->body_names);
	name_index_free(&allocator, &desc->node_names);
	name_index_free(&allocator, &desc->joint_names);
	name_index_free(&allocator, &desc->loop_names);
	memory_free(&allocator, desc);
}

/** Room for `more` in an array. */
#define RESERVE_ARRAY(desc, array, one, more)                                                                      \
	((grown = array_reserve(&(desc)->allocator, (desc)->array, (desc)->one##_count, more, &(desc)->one##_capacity, \
	                        sizeof *(desc)->array)) != NULL &&                                                     \
	 ((desc)->array = grown) != NULL)
/** Room for `more` in an array and in the index of its names. */
#define RESERVE_MANY(desc, array, one, more)                  \
	((more) == 0 || (RESERVE_ARRAY(desc, array, one, more) && \
	                 name_index_reserve_many(&(desc)->allocator, &(desc)->one##_names, (uint32_t)(more))))
#define RESERVE(desc, array, one) RESERVE_MANY(desc, array, one, 1)

static CalStatus group_append(CalDesc *desc, const CalGroupDef *def, CalGroupId *id, CalError *error) {
	CalGroupDef group = *def;
	void *grown;
	if (!RESERVE(desc, groups, group) || !strings_copy(desc, def->name, def->place, &group.name, &group.place)) {
		return no_memory(error, "group", def->name);
	}
	desc->groups[desc->group_count++] = group;
	uint32_t value = (uint32_t)desc->group_count;
	name_index_insert(&desc->group_names, name_hash(0, group.name, strlen(group.name)), value);
	if (id) {
		id->value = value;
	}
	return CAL_OK;
}

CalStatus cal_desc_add_group(CalDesc *desc, const CalGroupDef *def, CalGroupId *id, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_add_group: desc or def is NULL");
	}
	CalStatus status = name_check("group", def->name, def->place, SLASH_ANY, NULL, NULL, error);
	if (status != CAL_OK) {
		return status;
	}
	uint32_t twin = find_group(desc, def->name, strlen(def->name));
	if (twin) {
		return duplicate("group", def->name, def->place, NULL, desc->groups[twin - 1].place, error);
	}
	if (!vec_is_usable(def->gravity)) {
		return not_finite("group", def->name, def->place, "gravity", error);
	}
	if (!cal_propagation_name(def->propagation)) {
		return error_set(error, CAL_ERR_MODEL, "%s%sgroup \"%s\": unknown propagation %d", PLACE_ARGS(def->place),
		                 def->name, (int)def->propagation);
	}
	return group_append(desc, def, id, error);
}

CalStatus cal_desc_create(const CalAllocator *allocator, CalDesc **desc) {
	if (!desc || !allocator_is_valid(allocator)) {
		return CAL_ERR_ARGUMENT;
	}
	*desc = NULL;
	CalAllocator source = allocator_or_default(allocator);
	CalDesc *made = memory_alloc(&source, sizeof *made);
	if (!made) {
		return CAL_ERR_MEMORY;
	}
	*made = (CalDesc){.allocator = source};
	CalGroupDef group = cal_group_def();
	group.name = "main";
	CalStatus status = group_append(made, &group, NULL, NULL);
	if (status != CAL_OK) {
		cal_desc_destroy(made);
		return status;
	}
	*desc = made;
	return CAL_OK;
}

CalStatus cal_desc_reserve(CalDesc *desc, int bodies, int nodes, int joints) {
	void *grown;
	if (!desc || bodies < 0 || nodes < 0 || joints < 0)
		return CAL_ERR_ARGUMENT;
	const bool enough = RESERVE_MANY(desc, bodies, body, bodies) && RESERVE_MANY(desc, nodes, node, nodes) &&
	                    RESERVE_MANY(desc, joints, joint, joints);
	return enough ? CAL_OK : CAL_ERR_MEMORY;
}

/** Appends a node for which there is room; its strings are owned by now. */
static CalNodeId node_append(CalDesc *desc, CalNodeDef def, CalBodyId body) {
	desc->nodes[desc->node_count++] = (DescNode){.def = def, .body = body};
	CalNodeId id = {(uint32_t)desc->node_count};
	name_index_insert(&desc->node_names, name_hash(body.value, def.name, strlen(def.name)), id.value);
	return id;
}

CalStatus cal_desc_add_body(CalDesc *desc, const CalBodyDef *def, CalBodyId *id, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_add_body: desc or def is NULL");
	}
	CalStatus status = body_check(desc, def, error);
	if (status != CAL_OK) {
		return status;
	}
	CalBodyDef body = *def;
	body.group.value = def->group.value ? def->group.value : 1;
	CalNodeDef frame = cal_node_def();
	void *grown;
	if (!RESERVE(desc, bodies, body) || !RESERVE(desc, nodes, node) ||
	    !strings_copy(desc, def->name, def->place, &body.name, &body.place)) {
		return no_memory(error, "body", def->name);
	}
	frame.name = "head";
	frame.place = body.place;
	CalBodyId made = {(uint32_t)desc->body_count + 1};
	CalNodeId frame_id = node_append(desc, frame, made);
	desc->bodies[desc->body_count++] = (DescBody){.def = body, .frame = frame_id};
	name_index_insert(&desc->body_names, name_hash(0, body.name, strlen(body.name)), made.value);
	if (id) {
		*id = made;
	}
	return CAL_OK;
}

/* Whether there is a body "owner/name"; names of absurd length are not looked at. */
static bool is_body_of(const CalDesc *desc, const char *owner, const char *name) {
	char path[1200];
	const int length = snprintf(path, sizeof path, "%s/%s", owner, name);
	return length > 0 && (size_t)length < sizeof path && find_body(desc, path, (size_t)length);
}

CalStatus cal_desc_add_node(CalDesc *desc, CalBodyId body, const CalNodeDef *def, CalNodeId *id, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_add_node: desc or def is NULL");
	}
	const Slash slash = body.value ? SLASH_NONE : SLASH_PARTS;
	CalStatus status = name_check("node", def->name, def->place, slash, "head", "the body's own frame", error);
	if (status != CAL_OK) {
		return status;
	}
	if (!id_is_known(body.value, desc->body_count)) {
		return no_such_id(error, def->place, def->name, "body", body.value);
	}
	const char *owner = body.value ? desc_body(desc, body)->def.name : "ground";
	uint32_t twin = find_node(desc, body, def->name);
	if (twin) {
		return duplicate("node", def->name, def->place, owner, desc->nodes[twin - 1].def.place, error);
	}
	if (body.value && is_body_of(desc, owner, def->name)) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%snode \"%s\" of \"%s\": the body \"%s/%s\" has the same path; rename one of the two",
		                 PLACE_ARGS(def->place), def->name, owner, owner, def->name);
	}
	CalNodeDef node = *def;
	const char *wrong = placement_resolve(&node.placement);
	if (wrong) {
		return error_set(error, CAL_ERR_MODEL, "%s%snode \"%s\" of \"%s\": %s", PLACE_ARGS(def->place), def->name,
		                 owner, wrong);
	}
	void *grown;
	if (!RESERVE(desc, nodes, node) || !strings_copy(desc, def->name, def->place, &node.name, &node.place)) {
		return no_memory(error, "node", def->name);
	}
	CalNodeId made = node_append(desc, node, body);
	if (id) {
		*id = made;
	}
	return CAL_OK;
}

static CalStatus attach_check(const CalDesc *desc, CalNodeId inboard, const CalJointDef *def, CalNodeId outboard,
                              CalError *error) {
	CalStatus status = name_check("joint", def->name, def->place, SLASH_ANY, NULL, NULL, error);
	if (status != CAL_OK) {
		return status;
	}
	uint32_t twin = find_joint(desc, def->name, strlen(def->name));
	if (twin) {
		return duplicate("joint", def->name, def->place, NULL, desc->joints[twin - 1].def.place, error);
	}
	if (!id_is_known(inboard.value, desc->node_count)) {
		return no_such_id(error, def->place, def->name, "node", inboard.value);
	}
	if (!id_is_known(outboard.value, desc->node_count)) {
		return no_such_id(error, def->place, def->name, "node", outboard.value);
	}
	if (outboard.value == 0 || desc_node(desc, outboard)->body.value == 0) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sjoint \"%s\": its outboard side is the ground; exchange the two nodes, the ground is "
		                 "always inboard",
		                 PLACE_ARGS(def->place), def->name);
	}
	return CAL_OK;
}

CalStatus cal_desc_attach(CalDesc *desc, CalNodeId inboard, const CalJointDef *joint, CalNodeId outboard,
                          CalJointId *id, CalError *error) {
	if (!desc || !joint) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_attach: desc or joint is NULL");
	}
	CalStatus status = attach_check(desc, inboard, joint, outboard, error);
	if (status != CAL_OK) {
		return status;
	}
	CalJointDef def = *joint;
	status = joint_def_resolve(&def, error);
	if (status != CAL_OK) {
		return status;
	}
	void *grown;
	if (!RESERVE(desc, joints, joint) || !strings_copy(desc, joint->name, joint->place, &def.name, &def.place)) {
		return no_memory(error, "joint", joint->name);
	}
	DescJoint *added = &desc->joints[desc->joint_count++];
	added->def = def;
	added->inboard = inboard;
	added->outboard = outboard;
	added->embedding = (DescEmbedding){0};
	uint32_t value = (uint32_t)desc->joint_count;
	name_index_insert(&desc->joint_names, name_hash(0, def.name, strlen(def.name)), value);
	if (id) {
		id->value = value;
	}
	return CAL_OK;
}

/** The group of a node's body; 0 for the ground. */
static uint32_t group_of(const CalDesc *desc, CalNodeId node) {
	const CalBodyId body = node.value ? desc_node(desc, node)->body : (CalBodyId){0};
	return body.value ? desc_body(desc, body)->def.group.value : 0;
}

static CalStatus two_groups(const CalDesc *desc, const CalLoopDef *def, uint32_t one, uint32_t other, CalError *error) {
	return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": its sides belong to the groups \"%s\" and \"%s\"",
	                 PLACE_ARGS(def->place), def->name, desc->groups[one - 1].name, desc->groups[other - 1].name);
}

static CalStatus sides_check(const CalDesc *desc, CalNodeId a, const CalLoopDef *def, CalNodeId b, CalError *error) {
	if (!id_is_known(a.value, desc->node_count) || !id_is_known(b.value, desc->node_count)) {
		return no_such_id(error, def->place, def->name, "node",
		                  id_is_known(a.value, desc->node_count) ? b.value : a.value);
	}
	const uint32_t group_a = group_of(desc, a), group_b = loop_type_has_two_sides(def->type) ? group_of(desc, b) : 0;
	if (group_a == 0 && group_b == 0) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sloop \"%s\": both sides are on the ground; one of them must be on a body",
		                 PLACE_ARGS(def->place), def->name);
	}
	return group_a && group_b && group_a != group_b ? two_groups(desc, def, group_a, group_b, error) : CAL_OK;
}

/** A coupling has coordinates instead of sides. */
static CalStatus terms_check(const CalDesc *desc, CalNodeId a, const CalLoopDef *def, CalNodeId b, CalError *error) {
	if (a.value || b.value) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sloop \"%s\": a coupling ties coordinates, not nodes; give no nodes, only terms",
		                 PLACE_ARGS(def->place), def->name);
	}
	for (int i = 0; i < def->term_count; i++) {
		const CalBodyId body = def->term[i].body;
		if (body.value == 0 || !id_is_known(body.value, desc->body_count)) {
			return no_such_id(error, def->place, def->name, "body", body.value);
		}
		const uint32_t group = desc_body(desc, body)->def.group.value;
		const uint32_t first = desc_body(desc, def->term[0].body)->def.group.value;
		if (group != first) {
			return two_groups(desc, def, first, group, error);
		}
	}
	return CAL_OK;
}

static CalStatus loop_check(const CalDesc *desc, CalNodeId a, const CalLoopDef *def, CalNodeId b, CalError *error) {
	CalStatus status = name_check("loop", def->name, def->place, SLASH_ANY, NULL, NULL, error);
	if (status != CAL_OK) {
		return status;
	}
	uint32_t twin = find_loop(desc, def->name, strlen(def->name));
	if (twin) {
		return duplicate("loop", def->name, def->place, NULL, desc->loops[twin - 1].def.place, error);
	}
	if (!cal_loop_type_name(def->type)) {
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sloop \"%s\": type %d is not one of CAL_LOOP_*",
		                 PLACE_ARGS(def->place), def->name, (int)def->type);
	}
	status = loop_def_check(def, error);
	if (status != CAL_OK) {
		return status;
	}
	return loop_type_has_terms(def->type) ? terms_check(desc, a, def, b, error) : sides_check(desc, a, def, b, error);
}

CalStatus cal_desc_close_loop(CalDesc *desc, CalNodeId a, const CalLoopDef *def, CalNodeId b, CalLoopId *id,
                              CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_close_loop: desc or def is NULL");
	}
	CalStatus status = loop_check(desc, a, def, b, error);
	if (status != CAL_OK) {
		return status;
	}
	CalLoopDef loop = *def;
	const char *wrong = placement_resolve(&loop.a);
	if (!wrong) {
		wrong = placement_resolve(&loop.b);
	}
	if (wrong) {
		return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": %s", PLACE_ARGS(def->place), def->name, wrong);
	}
	void *grown;
	if (!RESERVE(desc, loops, loop) || !strings_copy(desc, def->name, def->place, &loop.name, &loop.place)) {
		return no_memory(error, "loop", def->name);
	}
	desc->loops[desc->loop_count++] = (DescLoop){.def = loop, .a = a, .b = b};
	name_index_insert(&desc->loop_names, name_hash(0, loop.name, strlen(loop.name)), (uint32_t)desc->loop_count);
	if (id) {
		id->value = (uint32_t)desc->loop_count;
	}
	return CAL_OK;
}

CalStatus cal_desc_set_gravity(CalDesc *desc, CalGroupId group, CalVec3 gravity) {
	if (!desc || !id_is_known(group.value, desc->group_count) || !vec_is_usable(gravity)) {
		return CAL_ERR_ARGUMENT;
	}
	desc->groups[group.value ? group.value - 1 : 0].gravity = gravity;
	return CAL_OK;
}

CalStatus cal_desc_set_propagation(CalDesc *desc, CalGroupId group, CalPropagation propagation) {
	if (!desc || !id_is_known(group.value, desc->group_count) || !cal_propagation_name(propagation)) {
		return CAL_ERR_ARGUMENT;
	}
	desc->groups[group.value ? group.value - 1 : 0].propagation = propagation;
	return CAL_OK;
}
