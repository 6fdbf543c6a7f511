// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_subsystem.c — the sections "subsystems" and "interface": files within files (docs/subsystems.md).
 *
 * A file that uses others is put together as one tree before anything of it is read: each instance is the other file's
 * sections with other names, its joint on the ground replaced by the one that attaches it. Subsystems of a library stay;
 * they are no part of the description.
 */
#include <string.h>

#include "io/model/subsystem/model_file_part.h"

enum { DEPTH_MAX = 16 };

typedef struct SubsystemInput {
	const char *file, *library, *arguments;
	const TreeNode *attach, *set;
	int component;
} SubsystemInput;

static const Field subsystem_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"file", FIELD_FILE, offsetof(SubsystemInput, file), .flags = FIELD_AS_TEXT,
     .doc = "a model file or a robot file (URDF, MJCF, SDFormat); or instead"},
	{"library", FIELD_FILE, offsetof(SubsystemInput, library), .flags = FIELD_AS_TEXT,
     .doc = "a shared object: a compiled subsystem, of which only the interface nodes are visible"},
	{"arguments", FIELD_TEXT, offsetof(SubsystemInput, arguments), .doc = "that the shared object gets; default empty"},
	{"component", FIELD_FLAG, offsetof(SubsystemInput, component),
     .doc =
         "the file is kept as a component: a group of its own in the run, which the rest sees at its interface nodes only. "
         "Without `file`: nodes of this file that are in another group are its interface"},
	{"attach", FIELD_MAPS, offsetof(SubsystemInput, attach), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "default: the file is used as it is, on the ground", .table = &attachment_table},
	{"set", FIELD_ANYTHING, offsetof(SubsystemInput, set), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "map from places in the file to new values: `bodies.boom.mass: 12 kg`. The last part of a place may be "
            "a new key"},
};
const FieldTable subsystem_table = {FIELDS("subsystem", subsystem_keys),
                                    .doc = "Another file as a part of this one, or a compiled subsystem."};

typedef struct Attachment {
	const TreeNode *place, *interface, *joint;
	const char *to, *name, *node;
} Attachment;

static const Field attachment_keys[] = {
	{"interface", FIELD_TEXT, offsetof(Attachment, interface), .former = "border", .flags = FIELD_AS_TREE,
     .doc = "path of an interface node in the other file; of a compiled subsystem its name, or its "
            "number from 1. Default the first one"},
	{"to", FIELD_NODE, offsetof(Attachment, to), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "of this file, of another of its subsystems (`arm2/boom/tip`), or `ground`"},
	{"joint", FIELD_TIE, offsetof(Attachment, joint), .flags = FIELD_AS_TREE,
     .doc = "type of the joint, or a map as of a [joint](#joint) without `from`, `to`, `name` and "
            "`reversed`: it leads from `to` to the interface node. For a loop as of a [loop](#loop). "
            "Default `weld`",
     .table = &loop_table},
	{"name", FIELD_TEXT, offsetof(Attachment, name), .doc = "of a loop; default the path of the interface node"},
	{"node", FIELD_NODE, offsetof(Attachment, node), .flags = FIELD_AS_TEXT,
     .doc = "of a component without `file`: its interface node, instead of `interface`"},
};
const FieldTable attachment_table = {FIELDS("attachment", attachment_keys),
                                     .doc = "A tie between an interface node of a subsystem and a node."};

/* One subsystem of a file while the file is put together. */
typedef struct Instance {
	Item item;
	SubsystemInput in;
	Attachment *attach;
	int attach_count;
	Part part;
	const char *group; // of the nodes that carry it; NULL: not known yet
} Instance;

/* The files that are open, from the outermost one. */
typedef struct Stack {
	const char *paths[DEPTH_MAX];
	int depth;
} Stack;

static bool part_read(Reader *r, const TreeNode *root, Stack *stack, Part *part);

/* ---- the sections of one file ------------------------------------------------------------------------------ */

/* The item of a list without its key "name", which is the key of the pair. */
static bool add_named(Reader *r, PartList *list, const TreeNode *section, int i, const char *what) {
	Item item;
	if (!items_get(r, section, i, what, &item))
		return false;
	if (section->kind == TREE_MAP)
		return part_append(r, list, (PartItem){tree_key(section, i), section->items[i]});
	const TreeNode *value = map_with(r, item.value, "name", NULL);
	return value && part_append(r, list, (PartItem){tree_get(item.value, "name"), value});
}

static bool add_section(Reader *r, Part *part, PartSection kind, const TreeNode *section) {
	const char *name = part_section_name(kind);
	PartList *list = &part->lists[kind];
	const bool plain = kind == PART_LOADS || kind == PART_VISUALS;
	reader_subject(r, name, NULL);
	if (!section || tree_is_null(section))
		return true;
	if (plain && section->kind == TREE_MAP) // one visual
		return part_append(r, list, (PartItem){section, section});
	if (plain && !read_list(r, section, name))
		return false;
	const int count = items_count(r, section, name);
	for (int i = 0; i < count; i++) {
		if (plain ? !part_append(r, list, (PartItem){section->items[i], section->items[i]})
		          : !add_named(r, list, section, i, name))
			return false;
	}
	return count >= 0;
}

static bool add_sections(Reader *r, const TreeNode *root, Part *part) {
	const TreeNode *ground = tree_get(root, "ground");
	for (int i = 0; i < PART_SECTION_COUNT; i++) {
		const char *name = part_section_name((PartSection)i);
		const TreeNode *section = i == PART_NODES     ? tree_get(ground, "nodes")
		                          : i == PART_VISUALS ? tree_get(ground, "visual")
		                          : i == PART_BOXES   ? NULL
		                                              : tree_get(root, name);
		if (!add_section(r, part, (PartSection)i, section))
			return false;
	}
	part->root = root;
	part->interface = field_value(root, field_find(&file_table, "interface"));
	reader_subject(r, "interface", NULL);
	return !part->interface || tree_is_null(part->interface) || read_list(r, part->interface, "paths of nodes");
}

static bool reserve_instances(Reader *r, Part *part, int more) {
	if (part->instance_count + more <= part->instance_capacity)
		return true;
	const int capacity = 2 * (part->instance_count + more);
	CalSetupInstance *all = reader_array(r, (size_t)capacity, sizeof *all);
	if (!all)
		return false;
	if (part->instance_count)
		memcpy(all, part->instances, (size_t)part->instance_count * sizeof *all);
	part->instances = all;
	part->instance_capacity = capacity;
	return true;
}

static bool append_part(Reader *r, Part *to, const Part *from) {
	for (int k = 0; k < PART_SECTION_COUNT; k++)
		for (int i = 0; i < from->lists[k].count; i++)
			if (!part_append(r, &to->lists[k], from->lists[k].items[i]))
				return false;
	if (from->instance_count == 0)
		return true;
	if (!reserve_instances(r, to, from->instance_count))
		return false;
	memcpy(to->instances + to->instance_count, from->instances, (size_t)from->instance_count * sizeof *to->instances);
	to->instance_count += from->instance_count;
	return true;
}

/* ---- other files ------------------------------------------------------------------------------------------- */

/* The reader of the other file says "place: error: text"; one "error: " is enough. */
static bool refused_inside(Reader *r, const TreeNode *node, CalStatus status, const CalError *error) {
	const char *mark = strstr(error->text, ": error: ");
	reader_fail(r, node, "%.*s%s", mark ? (int)(mark - error->text) + 2 : 0, error->text,
	            mark ? mark + strlen(": error: ") : error->text);
	r->status = status;
	if (r->error)
		r->error->status = status;
	return false;
}

static bool check_recursion(Reader *r, const TreeNode *node, const Stack *stack, const char *path) {
	char chain[400] = "";
	size_t used = 0;
	bool again = false;
	for (int i = 0; i < stack->depth; i++) {
		again |= strcmp(stack->paths[i], path) == 0;
		if (again && used < sizeof chain)
			used += (size_t)snprintf(chain + used, sizeof chain - used, "%.100s -> ", stack->paths[i]);
	}
	if (again)
		return reader_fail(r, node, "a file cannot be a part of itself: %s%.100s", chain, path);
	return stack->depth < DEPTH_MAX ||
	       reader_fail(r, node, "subsystems are nested more than %d deep, down to %.200s", DEPTH_MAX, path);
}

/* A file, read once however often it is used; NULL after reporting. */
static Tree *open_tree(Reader *r, const TreeNode *node, const char *path) {
	for (Tree *known = r->file->tree->adopted; known; known = known->adopted)
		if (strcmp(known->name, path) == 0)
			return known;
	Tree *tree;
	CalError error = {0};
	const CalStatus status = robot_is_likely(path) ? robot_read(r, path, &tree, &error)
	                                               : tree_read(path, &r->file->allocator, &tree, &error);
	if (status != CAL_OK) {
		refused_inside(r, node, status, &error);
		return NULL;
	}
	tree_adopt(r->file->tree, tree);
	return tree;
}

/* The path of the file that an instance uses. */
static bool path_of(Reader *r, const TreeNode *node, const char *file, char *path, size_t size) {
	const char *host = node->file ? node->file : tree_name(r->file->tree);
	return reader_path(r, node, host, file, path, size);
}

/*
 * How many items a file has with its subsystems written out, without writing them out: a few files that use each other several
 * times stand for a model of any size. Counts each file once. What is wrong in them is reported when they are read.
 */
static bool add_weights(Reader *r, const TreeNode *root, Stack *stack, size_t *weight) {
	const TreeNode *section = tree_get(root, "subsystems");
	*weight = root->weight;
	for (int i = 0; section && section->kind != TREE_SCALAR && i < section->count; i++) {
		const TreeNode *node = tree_get(section->items[i], "file");
		const TreeNode *name = section->kind == TREE_MAP ? tree_key(section, i) : tree_get(section->items[i], "name");
		char path[1024];
		if (!node || node->kind != TREE_SCALAR)
			continue;
		reader_subject(r, "subsystem", name && name->kind == TREE_SCALAR ? name->text : NULL);
		if (!path_of(r, node, node->text, path, sizeof path) || !check_recursion(r, node, stack, path))
			return false;
		Tree *tree = open_tree(r, node, path);
		if (!tree)
			return false;
		stack->paths[stack->depth++] = tree->name;
		const bool added = tree->written_out || add_weights(r, tree->root, stack, &tree->written_out);
		stack->depth--;
		*weight += tree->written_out;
		if (!added)
			return false;
		if (*weight > TREE_MAX_NODES)
			return reader_fail(
				r, node,
				"with its subsystems written out, this file has more than %d items; use fewer instances, or "
				"subsystems of a library (docs/subsystems.md)",
				TREE_MAX_NODES);
	}
	return true;
}

static bool check_file(Reader *r, const TreeNode *root) {
	Sections s = {0};
	r->subject[0] = '\0';
	if (root->kind != TREE_MAP)
		return reader_fail(r, root, "not a Calder file: expected a map that starts with \"calder: 1\"");
	if (!fields_read(r, root, &file_table, &s))
		return false;
	return s.version == 1 || reader_fail(r, tree_get(root, "calder"),
	                                     "format version %g is not known; this build reads "
	                                     "version 1",
	                                     s.version);
}

static bool open_instance(Reader *r, Instance *it, Stack *stack) {
	char path[1024];
	const TreeNode *node = tree_get(it->item.value, "file");
	if (!path_of(r, node, it->in.file, path, sizeof path) || !check_recursion(r, node, stack, path))
		return false;
	const Tree *tree = open_tree(r, node, path);
	const TreeNode *root = tree ? part_with_settings(r, tree->root, it->in.set) : NULL;
	if (!root || !check_file(r, root))
		return false;
	stack->paths[stack->depth++] = reader_text(r, "%s", path);
	const bool read = stack->paths[stack->depth - 1] && part_read(r, root, stack, &it->part);
	stack->depth--;
	reader_subject(r, "subsystem", it->item.name);
	return read;
}

/* ---- one instance ------------------------------------------------------------------------------------------ */

static bool read_attachments(Reader *r, Instance *it) {
	const TreeNode *node = it->in.attach;
	if (!node || tree_is_null(node))
		return true;
	const bool list = node->kind == TREE_LIST;
	it->attach_count = list ? node->count : 1;
	it->attach = reader_array(r, (size_t)it->attach_count, sizeof *it->attach);
	for (int i = 0; it->attach && i < it->attach_count; i++) {
		it->attach[i].place = list ? node->items[i] : node;
		if (!fields_read(r, it->attach[i].place, &attachment_table, &it->attach[i]))
			return false;
	}
	return it->attach != NULL;
}

static bool read_instance(Reader *r, const TreeNode *section, int index, Instance *it) {
	if (!items_get(r, section, index, "subsystem", &it->item))
		return false;
	reader_subject(r, "subsystem", it->item.name);
	if (!fields_read(r, it->item.value, &subsystem_table, &it->in))
		return false;
	if (strpbrk(it->item.name, it->in.file ? "/()'" : "()'") || strcmp(it->item.name, "ground") == 0)
		return reader_fail(r, it->item.place,
		                   "the name of a subsystem cannot hold / ( ) ' nor be \"ground\"; rename it");
	if (it->in.file ? it->in.library != NULL : !it->in.library == !it->in.component)
		return reader_fail(
			r, it->item.place,
			"give \"file\", \"library\" for a shared object, or \"component: true\" for a group of this file");
	if (it->in.file && it->in.arguments)
		return reader_fail(r, tree_get(it->item.value, "arguments"),
		                   "\"arguments\" are for a \"library\"; for a file "
		                   "use \"set\"");
	if (it->in.library && it->in.set)
		return reader_fail(r, tree_get(it->item.value, "set"),
		                   "\"set\" is for a \"file\"; a library has \"arguments\"");
	return read_attachments(r, it);
}

/* The interface node of an attachment; default the first. NULL after reporting. */
static const char *interface_of(Reader *r, const Instance *it, const Attachment *a) {
	const TreeNode *interface = it->part.interface;
	const int count = interface && !tree_is_null(interface) ? interface->count : 0;
	Suggestion suggestion = {0};
	if (count == 0) {
		reader_fail(r, a->place, "%.200s has no \"interface\", a list of the nodes at which it can be attached",
		            it->in.file);
		return NULL;
	}
	if (a->interface && !read_text(r, a->interface, &suggestion.word))
		return NULL;
	for (int i = 0; i < count; i++) {
		const char *path = interface->items[i]->kind == TREE_SCALAR ? interface->items[i]->text : "";
		if (!a->interface || strcmp(path, suggestion.word) == 0)
			return path;
		suggestion_offer(&suggestion, path);
	}
	reader_unknown(r, a->interface, "interface node", &suggestion);
	return NULL;
}

/* "joint" of an attachment as the map of a joint or a loop between the two nodes. NULL after reporting. */
static const TreeNode *tie_of(Reader *r, const Attachment *a, const char *interface) {
	const TreeNode *joint = a->joint;
	const TreeNode *map = joint && joint->kind == TREE_MAP ? joint : NULL;
	const char *const given[] = {"from", "to", "name", "reversed"};
	for (int i = 0; map && i < 4; i++)
		if (tree_get(map, given[i])) {
			reader_fail(r, tree_get(map, given[i]),
			            "\"%s\" is not given here: the joint is from \"to\" to the interface node", given[i]);
			return NULL;
		}
	if (!map) {
		const TreeNode *pairs[2] = {make_scalar(r, a->place, "type"), joint ? joint : make_scalar(r, a->place, "weld")};
		map = pairs[0] && pairs[1] ? tree_make_map(r->file->tree, joint ? joint : a->place, pairs, 1, r->error) : NULL;
	}
	const TreeNode *to = tree_get(a->place, "to"),
				   *head = make_scalar(r, a->interface ? a->interface : a->place, interface);
	map = map && head ? map_with(r, map, "to", head) : NULL;
	if (!map)
		part_failed(r);
	return map ? map_with(r, map, "from", to) : NULL;
}

/* An attachment of a component as its ties are given: with the node of its own. NULL after reporting. */
static const TreeNode *component_tie(Reader *r, const Attachment *a, const char *path) {
	static const char *const other[] = {"interface", "border", "name"};
	const TreeNode *map = a->place, *node = make_scalar(r, a->interface ? a->interface : a->place, path);
	for (int i = 0; map && i < 3; i++)
		map = tree_get(map, other[i]) ? map_with(r, map, other[i], NULL) : map;
	return map && node ? map_with(r, map, "node", node) : NULL;
}

/* A map of one pair. NULL after reporting. */
static const TreeNode *single_map(Reader *r, const TreeNode *like, const char *key, const TreeNode *value) {
	const TreeNode *pairs[2] = {make_scalar(r, like, key), value};
	const TreeNode *map = pairs[0] && value ? tree_make_map(r->file->tree, like, pairs, 1, r->error) : NULL;
	if (!map)
		part_failed(r);
	return map;
}

/* The body of a node is carried by a free joint on the ground, of the name that comes out. */
static bool carry_freely(Reader *r, Instance *it, const TreeNode *place, const char *path, const char **name) {
	const TreeNode *joint = single_map(r, place, "type", make_scalar(r, place, "free"));
	joint = joint ? map_with(r, joint, "to", make_scalar(r, place, path)) : NULL;
	return joint && part_carry(r, &it->part, place, path, joint, name);
}

/*
 * A component is carried by a free joint on the ground, in a group of its own with the propagation of its file and the
 * gravity of the group that it is attached to; its attachments are ties, which stay in the section "subsystems".
 */
static bool keep_component(Reader *r, Instance *it, const Scope *scope, CalSetupInstance *record) {
	const TreeNode *place = it->item.place;
	const TreeNode **ties = reader_array(r, (size_t)it->attach_count + 1, sizeof *ties);
	if (it->attach_count == 0)
		return reader_fail(r, place, "a component needs \"attach\": the nodes that its interface is tied to");
	for (int i = 0; ties && i < it->attach_count; i++) {
		const Attachment *a = &it->attach[i];
		const char *interface = interface_of(r, it, a), *path = interface ? scope_path(scope, interface) : NULL;
		ties[i] = path ? component_tie(r, a, path) : NULL;
		if (!ties[i] || (i == 0 && !carry_freely(r, it, a->place, path, &record->joint)))
			return false;
	}
	const TreeNode *list = ties ? tree_make_list(r->file->tree, it->in.attach, ties, it->attach_count) : NULL;
	const TreeNode *own = single_map(r, place, "component", make_scalar(r, place, "true"));
	own = own && list ? map_with(r, own, "attach", list) : NULL;
	const TreeNode *group = single_map(r, place, "gravity_of", make_scalar(r, place, it->group));
	const TreeNode *propagation = tree_get(it->part.root, "propagation");
	group = group && propagation ? map_with(r, group, "propagation", propagation) : group;
	const TreeNode *name = make_scalar(r, place, it->item.name);
	record->is_component = 1;
	return own && group && name && part_append(r, &it->part.lists[PART_BOXES], (PartItem){name, own}) &&
	       part_append(r, &it->part.lists[PART_GROUPS], (PartItem){name, group});
}

/* The first attachment carries the subsystem, the others close loops. */
static bool attach_instance(Reader *r, Instance *it, const Scope *scope, CalSetupInstance *record) {
	for (int i = 0; i < it->attach_count; i++) {
		const Attachment *a = &it->attach[i];
		const char *interface = interface_of(r, it, a);
		const char *path = interface ? scope_path(scope, interface) : NULL;
		const TreeNode *tie = path ? tie_of(r, a, path) : NULL;
		if (!tie)
			return false;
		if (i == 0 && a->name)
			return reader_fail(r, tree_get(a->place, "name"),
			                   "the first attachment has the name of the joint that it "
			                   "replaces; remove \"name\"");
		if (i == 0 && !part_carry(r, &it->part, a->place, path, tie, &record->joint))
			return false;
		const TreeNode *key = i > 0 ? make_scalar(r, a->place, a->name ? a->name : path) : NULL;
		if (i > 0 && !(key && part_append(r, &it->part.lists[PART_LOOPS], (PartItem){key, tie})))
			return false;
	}
	return true;
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

/* The instances of a file, and which of them has a name. */
typedef struct Instances {
	Instance *items;
	int count;
	NameIndex names; // values: place + 1
} Instances;

static bool index_instances(Reader *r, Instances *all) {
	uint32_t capacity = 16;
	while (capacity < 2 * ((uint64_t)all->count + 1))
		capacity *= 2;
	all->names = (NameIndex){.slots = reader_array(r, capacity, sizeof(NameSlot)), .capacity = capacity};
	for (int i = 0; all->names.slots && i < all->count; i++) {
		const char *name = all->items[i].item.name;
		name_index_insert(&all->names, name_hash(0, name, strlen(name)), (uint32_t)i + 1);
	}
	return all->names.slots != NULL;
}

static Instance *find_instance(const Instances *all, const char *name, size_t length) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&all->names, name_hash(0, name, length), &cursor)) != 0) {
		Instance *it = &all->items[value - 1];
		if (strncmp(it->item.name, name, length) == 0 && it->item.name[length] == '\0')
			return it;
	}
	return NULL;
}

/* The instance that a path leads into; *rest is the path there. NULL: none. */
static Instance *instance_of(const Instances *all, const char *path, const char **rest) {
	Instance *found = NULL;
	for (const char *slash = strchr(path, '/'); slash && !found; slash = strchr(slash + 1, '/')) {
		found = find_instance(all, path, (size_t)(slash - path));
		*rest = slash + 1;
	}
	return found;
}

static const char *body_group(Reader *r, Part *part, const char *path) {
	const char *body = part_body_of(r, part, path);
	const TreeNode *group = body ? tree_get(part_find(r, &part->lists[PART_BODIES], body), "group") : NULL;
	return group && group->kind == TREE_SCALAR ? group->text : "main";
}

/* The group of what carries the instance. depth: instances carried by each other are refused when joints are read. */
static const char *carrying_group(Reader *r, Part *host, const Instances *all, const Instance *it, int depth) {
	const char *to = it->attach_count ? it->attach[0].to : "ground", *rest;
	Instance *carrier = depth < all->count ? instance_of(all, to, &rest) : NULL;
	if (!carrier)
		return body_group(r, host, to);
	const char *group = body_group(r, &carrier->part, rest);
	if (strcmp(group, "main") == 0)
		return carrier->in.component ? carrier->item.name : carrying_group(r, host, all, carrier, depth + 1);
	return reader_text(r, "%s/%s", carrier->item.name, group);
}

/* ---- putting together ------------------------------------------------------------------------------------------ */

static const char *folder_of(Reader *r, const char *file) {
	const char *slash = strrchr(file, '/');
	return reader_text(r, "%.*s", slash ? (int)(slash - file) + 1 : 0, file);
}

/* The host's own state wins over that of the file. */
static bool drop_overridden(Reader *r, Part *host, Part *part) {
	PartList kept = {0};
	const PartList *states = &part->lists[PART_STATE];
	for (int i = 0; i < states->count; i++)
		if (!part_find(r, &host->lists[PART_STATE], states->items[i].key->text) &&
		    !part_append(r, &kept, states->items[i]))
			return false;
	part->lists[PART_STATE] = kept;
	return true;
}

static bool add_instance(Reader *r, Part *host, Instance *it, Part *to) {
	reader_subject(r, "subsystem", it->item.name);
	const Scope scope = {.r = r,
	                     .prefix = reader_text(r, "%s/", it->item.name),
	                     .main = it->in.component ? it->item.name : it->group,
	                     .folder = folder_of(r, it->in.file)};
	CalSetupInstance record = {.name = it->item.name, .file = it->in.file};
	if (!scope.prefix || !scope.main || !scope.folder)
		return false;
	if (part_find(r, &it->part.lists[PART_MOTIONS], "main") ||
	    part_find(r, &it->part.lists[PART_GROUP_MOTIONS], "main"))
		return reader_fail(
			r, it->item.place,
			"%.200s moves its group \"main\" as a function of time, which belongs to the file that uses it; "
			"give the bodies a group of their own there",
			it->in.file);
	if (part_body_of(r, host, it->item.name))
		return reader_fail(r, it->item.place, "a body has this name; rename one of the two");
	record.body_count = it->part.lists[PART_BODIES].count + it->part.lists[PART_PENDULUMS].count;
	record.interface_node_count =
		it->part.interface && !tree_is_null(it->part.interface) ? it->part.interface->count : 0;
	if (!part_rename(&scope, &it->part) ||
	    !(it->in.component ? keep_component : attach_instance)(r, it, &scope, &record) ||
	    !drop_overridden(r, host, &it->part))
		return false;
	Part own = {.instances = &record, .instance_count = 1};
	return append_part(r, to, &own) && append_part(r, to, &it->part);
}

/* Instances without a file stay: the map as it is, under its name. */
static bool add_subsystems(Reader *r, const Instance *all, int count, Part *part) {
	for (int i = 0; i < count; i++) {
		const Item *item = &all[i].item;
		const TreeNode *key = !all[i].in.file ? make_scalar(r, item->place, item->name) : NULL;
		const TreeNode *value = key ? map_with(r, item->value, "name", NULL) : NULL;
		if (!all[i].in.file && !(value && part_append(r, &part->lists[PART_BOXES], (PartItem){key, value})))
			return false;
	}
	return true;
}

static bool add_instances(Reader *r, const TreeNode *section, Stack *stack, Part *part) {
	reader_subject(r, "subsystems", NULL);
	const int count = items_count(r, section, "subsystems");
	Instance *all = count >= 0 ? reader_array(r, (size_t)count, sizeof *all) : NULL;
	Part inner = {0};
	for (int i = 0; all && i < count; i++) {
		if (!read_instance(r, section, i, &all[i]) || (all[i].in.file && !open_instance(r, &all[i], stack)))
			return false;
		reader_subject(r, "subsystems", NULL);
	}
	Instances instances = {.items = all, .count = count};
	if (all && !index_instances(r, &instances))
		return false;
	for (int i = 0; all && i < count; i++)
		all[i].group = all[i].in.file ? carrying_group(r, part, &instances, &all[i], 0) : NULL;
	for (int i = 0; all && i < count; i++)
		if (all[i].in.file && !add_instance(r, part, &all[i], &inner))
			return false;
	if (!all || !add_subsystems(r, all, count, part))
		return false;
	// Devices and events of the file itself may depend on those of its subsystems, which therefore come first.
	const PartSection first[] = {PART_DEVICES, PART_EVENTS};
	for (int k = 0; k < 2; k++) {
		const PartList own = part->lists[first[k]];
		part->lists[first[k]] = inner.lists[first[k]];
		inner.lists[first[k]] = own;
	}
	return append_part(r, part, &inner);
}

static bool part_read(Reader *r, const TreeNode *root, Stack *stack, Part *part) {
	return add_sections(r, root, part) && add_instances(r, tree_get(root, "subsystems"), stack, part);
}

/* A section as a map, or a list where its items have no names. NULL after reporting. */
static const TreeNode *section_make(Reader *r, const TreeNode *root, const Part *part, PartSection kind) {
	const PartList *list = &part->lists[kind];
	const bool plain = kind == PART_LOADS || kind == PART_VISUALS;
	const TreeNode **nodes = reader_array(r, 2 * (size_t)list->count, sizeof *nodes);
	for (int i = 0; nodes && i < list->count; i++) {
		nodes[plain ? i : 2 * i] = plain ? list->items[i].value : list->items[i].key;
		if (!plain)
			nodes[2 * i + 1] = list->items[i].value;
	}
	const TreeNode *made = !nodes  ? NULL
	                       : plain ? tree_make_list(r->file->tree, root, nodes, list->count)
	                               : tree_make_map(r->file->tree, root, nodes, list->count, r->error);
	if (!made && r->error && r->error->status < 0 && r->status == CAL_OK)
		r->status = r->error->status;
	if (!made)
		part_failed(r);
	return made;
}

static const TreeNode *ground_make(Reader *r, const TreeNode *root, const Part *part) {
	static const PartSection kinds[] = {PART_NODES, PART_VISUALS};
	static const char *const names[] = {"nodes", "visual"};
	const TreeNode *ground = tree_make_map(r->file->tree, root, NULL, 0, r->error);
	for (int k = 0; ground && k < 2; k++) {
		if (part->lists[kinds[k]].count == 0)
			continue;
		const TreeNode *made = section_make(r, root, part, kinds[k]);
		ground = made ? map_with(r, ground, names[k], made) : NULL;
	}
	return ground;
}

/* What of "ground" is no node and no visual is refused by its own table. */
static bool root_make(Reader *r, const TreeNode *root, const Part *part) {
	const TreeNode *made = map_with(r, root, "subsystems", NULL);
	for (int k = 0; made && k < PART_SECTION_COUNT; k++) {
		if (k == PART_NODES || k == PART_VISUALS || (part->lists[k].count == 0 && k != PART_BODIES))
			continue;
		const TreeNode *section = section_make(r, root, part, (PartSection)k);
		made = section ? map_with(r, made, part_section_name((PartSection)k), section) : NULL;
	}
	if (made && (part->lists[PART_NODES].count || part->lists[PART_VISUALS].count)) {
		const TreeNode *ground = ground_make(r, root, part);
		made = ground ? map_with(r, made, "ground", ground) : NULL;
	}
	if (!made)
		return part_failed(r);
	tree_set_root(r->file->tree, made);
	return true;
}

bool model_file_expand(Reader *r) {
	const TreeNode *root = tree_root(r->file->tree);
	const TreeNode *section = tree_get(root, "subsystems");
	Stack stack = {.paths = {tree_name(r->file->tree)}, .depth = 1};
	Part part = {0};
	if (!section || tree_is_null(section))
		return true;
	size_t weight;
	if (!check_file(r, root) || !add_weights(r, root, &stack, &weight) || !part_read(r, root, &stack, &part) ||
	    !root_make(r, root, &part))
		return false;
	for (int i = 0; i < part.instance_count; i++)
		if (!reader_added(r, section, cal_setup_add_instance(r->file->setup, &part.instances[i], r->error)))
			return false;
	r->subject[0] = '\0';
	return true;
}

/* ---- interface ------------------------------------------------------------------------------------------------ */

bool model_file_read_interface(Reader *r, const Sections *s) {
	reader_subject(r, "interface", NULL);
	if (!s->interface || tree_is_null(s->interface))
		return true;
	if (!read_list(r, s->interface, "paths of nodes, e.g. [base, boom/tip]"))
		return false;
	for (int i = 0; i < s->interface->count; i++) {
		CalNodeId id;
		CalBodyId body = {0};
		const char *path;
		if (!read_text(r, s->interface->items[i], &path) ||
		    !model_file_find_node(r, s, s->interface->items[i], path, &id))
			return false;
		cal_desc_node(r->file->desc, id, &body);
		if (!body.value)
			return reader_fail(r, s->interface->items[i], "an interface node is one of a body, not of the ground");
		if (!reader_added(r, s->interface->items[i], cal_setup_add_interface_node(r->file->setup, path, r->error)))
			return false;
	}
	return true;
}
