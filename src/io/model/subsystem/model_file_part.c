// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_part.c — parts: their lists, the bodies of paths, and which of its joints carries a part.
 *
 * A part that is attached by a node of its root body gets another joint in the place of the one on the ground. By a node of
 * a body further out, the joints in between are passed the other way round besides ("reversed"), and what the state says
 * about the modes of the bodies between goes to the joints that carry them then.
 */
#include "io/model/subsystem/model_file_part.h"

#include <string.h>

static const char *const section_names[PART_SECTION_COUNT] = {
	[PART_GROUPS] = "groups",       [PART_BODIES] = "bodies",
	[PART_JOINTS] = "joints",       [PART_LOOPS] = "loops",
	[PART_PENDULUMS] = "pendulums", [PART_STATE] = "state",
	[PART_DEVICES] = "devices",     [PART_MOTIONS] = "motions",
	[PART_EVENTS] = "events",       [PART_LOADS] = "loads",
	[PART_NODES] = "ground.nodes",  [PART_VISUALS] = "ground.visual",
	[PART_BOXES] = "subsystems",    [PART_GROUP_MOTIONS] = "group_motions",
};

const char *part_section_name(PartSection section) { return section_names[section]; }

bool part_failed(Reader *r) {
	if (r->status == CAL_OK)
		r->status = tree_error(r->error, tree_name(r->file->tree), NULL, CAL_ERR_MEMORY, "out of memory");
	return false;
}

bool part_append(Reader *r, PartList *list, PartItem item) {
	if (list->count == list->capacity) {
		const int capacity = list->capacity ? 2 * list->capacity : 8;
		PartItem *items = reader_array(r, (size_t)capacity, sizeof *items);
		if (!items)
			return false;
		if (list->count)
			memcpy(items, list->items, (size_t)list->count * sizeof *items);
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = item;
	return true;
}

/* Keys that are not in the index yet; the table is in the pool of the file, and is made anew when it is half full. */
static bool index_items(Reader *r, PartList *list) {
	if (list->indexed == list->count)
		return true;
	if (2 * (uint64_t)list->count > list->index.capacity) {
		uint32_t capacity = 16;
		while (capacity < 4 * (uint64_t)list->count)
			capacity *= 2;
		list->index = (NameIndex){.slots = reader_array(r, capacity, sizeof(NameSlot)), .capacity = capacity};
		list->indexed = 0;
		if (!list->index.slots) {
			list->index = (NameIndex){0};
			return false;
		}
	}
	for (; list->indexed < list->count; list->indexed++) {
		const char *key = list->items[list->indexed].key->text;
		name_index_insert(&list->index, name_hash(0, key, strlen(key)), (uint32_t)list->indexed + 1);
	}
	return true;
}

/* The first item whose key is the first `length` characters of a name; NULL: there is none, or no memory. */
static PartItem *find_item(Reader *r, PartList *list, const char *name, size_t length) {
	uint32_t cursor = 0, value;
	if (!index_items(r, list))
		return NULL;
	while ((value = name_index_next(&list->index, name_hash(0, name, length), &cursor)) != 0) {
		const char *key = list->items[value - 1].key->text;
		if (strncmp(key, name, length) == 0 && key[length] == '\0')
			return &list->items[value - 1];
	}
	return NULL;
}

const TreeNode *part_find(Reader *r, PartList *list, const char *name) {
	const PartItem *item = find_item(r, list, name, strlen(name));
	return item ? item->value : NULL;
}

/* The name as the part has it, of a body of `length` bytes. */
static const char *find_body(Reader *r, Part *part, const char *name, size_t length) {
	static const PartSection kinds[] = {PART_BODIES, PART_PENDULUMS};
	for (int k = 0; k < 2; k++) {
		const PartItem *item = find_item(r, &part->lists[kinds[k]], name, length);
		if (item)
			return item->key->text;
	}
	return NULL;
}

const char *part_body_of(Reader *r, Part *part, const char *path) {
	const char *body = find_body(r, part, path, strlen(path));
	const char *slash = body ? NULL : name_path_split(path);
	return slash ? find_body(r, part, path, (size_t)(slash - path)) : body;
}

/* ---- maps that differ in one pair ------------------------------------------------------------------------ */

const TreeNode *make_scalar(Reader *r, const TreeNode *like, const char *text) {
	const TreeNode *made = tree_make_scalar(r->file->tree, like, text);
	if (!made)
		part_failed(r);
	return made;
}

const TreeNode *map_with(Reader *r, const TreeNode *map, const char *key, const TreeNode *value) {
	const TreeNode **pairs = reader_array(r, 2 * (size_t)map->count + 2, sizeof *pairs);
	int count = 0;
	if (!pairs)
		return NULL;
	bool there = false;
	for (int i = 0; i < map->count; i++) {
		const bool it = strcmp(tree_key(map, i)->text, key) == 0;
		there |= it;
		if (it && !value)
			continue;
		pairs[2 * count] = tree_key(map, i);
		pairs[2 * count++ + 1] = it ? value : map->items[i];
	}
	if (value && !there) {
		pairs[2 * count] = make_scalar(r, value, key);
		if (!pairs[2 * count])
			return NULL;
		pairs[2 * count++ + 1] = value;
	}
	const TreeNode *made = tree_make_map(r->file->tree, map, pairs, count, r->error);
	if (!made && r->status == CAL_OK)
		r->status = r->error ? r->error->status : CAL_ERR_MEMORY;
	return made;
}

/* ---- the joint that carries ------------------------------------------------------------------------------ */

static const char *text_of(const TreeNode *map, const char *key) {
	const TreeNode *node = tree_get(map, key);
	return node && node->kind == TREE_SCALAR ? node->text : NULL;
}

static bool is_reversed(const TreeNode *joint) {
	const char *text = text_of(joint, "reversed");
	return text && (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0);
}

/* Position of the joint that carries the body, or -1. */
static int carrier_of(Reader *r, Part *part, const char *body) {
	const PartList *joints = &part->lists[PART_JOINTS];
	for (int i = 0; i < joints->count; i++) {
		const TreeNode *map = joints->items[i].value;
		const char *path = text_of(map, is_reversed(map) ? "from" : "to");
		const char *carried = path ? part_body_of(r, part, path) : NULL;
		if (carried && strcmp(carried, body) == 0)
			return i;
	}
	return -1;
}

/* From the interface's body to the joint on the ground; -1 after reporting. */
static int chain_find(Reader *r, Part *part, const TreeNode *place, const char *interface, int *chain) {
	const char *body = part_body_of(r, part, interface);
	const PartList *joints = &part->lists[PART_JOINTS];
	if (!body || part_find(r, &part->lists[PART_PENDULUMS], body)) {
		reader_fail(r, place, "the interface node \"%.80s\" is not on a body that a joint carries", interface);
		return -1;
	}
	for (int count = 0; count < joints->count; count++) {
		const int joint = carrier_of(r, part, body);
		if (joint < 0) {
			reader_fail(r, place, "no joint carries the body \"%.80s\"", body);
			return -1;
		}
		chain[count] = joint;
		const TreeNode *map = joints->items[joint].value;
		const char *path = text_of(map, is_reversed(map) ? "to" : "from");
		body = path ? part_body_of(r, part, path) : NULL;
		if (!body)
			return count + 1;
	}
	reader_fail(r, place, "the joints that carry the interface node \"%.80s\" form a ring", interface);
	return -1;
}

static bool can_reverse(const TreeNode *joint) {
	const char *type = text_of(joint, "type");
	for (int i = 0; type && i < CAL_JOINT_TYPE_COUNT; i++)
		if (strcmp(cal_joint_type_name((CalJointType)i), type) == 0)
			return model_file_can_reverse((CalJointType)i);
	return true; // the reader reports what is wrong
}

static bool turn_round(Reader *r, const TreeNode *place, const char *interface, PartItem *joint) {
	if (!can_reverse(joint->value))
		return reader_fail(
			r, place,
			"to be carried by \"%.60s\", the joint \"%.60s\" has to be passed the other way round, which a "
			"%.20s joint cannot; attach a node of the root body first, or exchange its sides",
			interface, joint->key->text, text_of(joint->value, "type"));
	if (is_reversed(joint->value)) {
		joint->value = map_with(r, joint->value, "reversed", NULL);
	} else {
		const TreeNode *flag = make_scalar(r, joint->key, "true");
		joint->value = flag ? map_with(r, joint->value, "reversed", flag) : NULL;
	}
	return joint->value != NULL;
}

static const TreeNode *empty_map(Reader *r, const TreeNode *like) {
	const TreeNode *made = tree_make_map(r->file->tree, like, NULL, 0, r->error);
	if (!made)
		part_failed(r);
	return made;
}

/* A state with the modal part of another one; own: whether it keeps the rest of its own. NULL: no memory. */
static const TreeNode *mixed_state(Reader *r, const TreeNode *place, const TreeNode *state, bool own,
                                   const TreeNode *modal) {
	static const char *const keys[] = {"eta", "eta_dot"};
	const TreeNode *made = own && state && state->kind == TREE_MAP ? state : empty_map(r, state ? state : place);
	for (int k = 0; made && k < 2; k++) {
		const TreeNode *value = tree_get(modal, keys[k]);
		if (value || tree_get(made, keys[k]))
			made = map_with(r, made, keys[k], value);
	}
	return made;
}

/*
 * The joints of chain[] carry other bodies than before, each that of the next one, and the last one, which is replaced,
 * that of the first. Its own coordinates go.
 */
static bool shift_states(Reader *r, Part *part, const int *chain, int count) {
	PartList *states = &part->lists[PART_STATE];
	const PartItem *joints = part->lists[PART_JOINTS].items;
	const TreeNode *first = part_find(r, states, joints[chain[0]].key->text);
	for (int i = 0; i < count; i++) {
		const TreeNode *key = joints[chain[i]].key;
		PartItem *item = find_item(r, states, key->text, strlen(key->text));
		const TreeNode *modal = i + 1 < count ? part_find(r, states, joints[chain[i + 1]].key->text) : first;
		const TreeNode *made = mixed_state(r, key, item ? item->value : NULL, i + 1 < count, modal);
		if (!made)
			return false;
		if (item)
			item->value = made;
		else if (made->count > 0 && !part_append(r, states, (PartItem){key, made}))
			return false;
	}
	return true;
}

bool part_carry(Reader *r, Part *part, const TreeNode *place, const char *interface, const TreeNode *joint,
                const char **carrier) {
	PartList *joints = &part->lists[PART_JOINTS];
	int *chain = reader_array(r, (size_t)joints->count + 1, sizeof *chain);
	const int count = chain ? chain_find(r, part, place, interface, chain) : -1;
	if (count < 0)
		return false;
	for (int i = 0; i + 1 < count; i++)
		if (!turn_round(r, place, interface, &joints->items[chain[i]]))
			return false;
	if (!shift_states(r, part, chain, count))
		return false;
	PartItem *root = &joints->items[chain[count - 1]];
	*carrier = root->key->text;
	*root = (PartItem){make_scalar(r, place, root->key->text), joint};
	return root->key != NULL;
}
