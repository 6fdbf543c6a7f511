// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_body.c — groups, the ground, bodies and their nodes; and nodes found by their path.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/name_index.h"
#include "io/model/model_file.h"

/* ---- groups --------------------------------------------------------------------------------- */

typedef struct GroupInput {
	CalGroupDef def;
	const char *gravity_of;
} GroupInput;

const char *propagation_word(int i) { return cal_propagation_name((CalPropagation)i); }

static const Field group_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"gravity", FIELD_VECTOR, offsetof(GroupInput, def.gravity), DIM_ACCELERATION, .doc = "default none"},
	{"gravity_of", FIELD_GROUP, offsetof(GroupInput, gravity_of), .flags = FIELD_AS_TEXT,
     .doc = "the gravity of another group, instead of `gravity`"},
	{"propagation", FIELD_CHOICE, offsetof(GroupInput, def.propagation),
     .doc = "default `flexible`; `rigid`: modes keep their values; `kinematic`: all speeds stay as they are, and "
            "nothing acts on the group. Can change in a run: [action](#action) `propagate`",
     .word_at = propagation_word},
};
const FieldTable group_table = {FIELDS("group", group_keys), .may_be_empty = true,
                                .doc = "An independent system with its own gravity."};

static bool find_group_item(Reader *r, const Sections *s, const char *name, Item *item) {
	const int count = items_count(r, s->groups, "groups");
	for (int i = 0; i < count; i++)
		if (items_get(r, s->groups, i, "group", item) && strcmp(item->name, name) == 0)
			return true;
	return false;
}

/* Its gravity is its own, or that of the group that it names, which may name another one. */
static bool read_group_def(Reader *r, const Sections *s, const Item *item, CalGroupDef *def) {
	Item at = *item;
	for (int depth = 0; depth <= s->groups->count; depth++) {
		GroupInput in = {.def = cal_group_def()};
		if (!tree_is_null(at.value) && !fields_read(r, at.value, &group_table, &in))
			return false;
		const TreeNode *named = in.gravity_of ? tree_get(at.value, "gravity_of") : NULL;
		if (named && tree_get(at.value, "gravity"))
			return reader_fail(r, named, "give \"gravity\" or \"gravity_of\", one of the two");
		def->propagation = depth == 0 ? in.def.propagation : def->propagation;
		def->gravity = named ? s->gravity : in.def.gravity;
		if (!named || strcmp(in.gravity_of, "main") == 0)
			return true;
		if (!find_group_item(r, s, in.gravity_of, &at))
			return reader_fail(r, named, "there is no group \"%.80s\"", in.gravity_of);
	}
	return reader_fail(r, item->place, "the groups that \"gravity_of\" names form a ring");
}

static bool read_group(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	CalGroupDef def = cal_group_def();
	reader_subject(r, "group", item->name);
	if (!read_group_def(r, s, item, &def))
		return false;
	if (strcmp(item->name, "main") == 0)
		return reader_fail(r, item->place,
		                   "this group is always there; set its gravity and propagation by these keys of the file");
	def.name = item->name;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	const CalStatus status = cal_desc_add_group(r->file->desc, &def, NULL, r->error);
	return status == CAL_OK || reader_refused(r, item->place, status);
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static const Field node_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"at", FIELD_VECTOR, offsetof(CalPlacement, position), DIM_LENGTH,
     .doc = "position in the body frame; default the origin"},
	{"orientation", FIELD_ORIENTATION, offsetof(CalPlacement, orientation),
     .doc = "in the body frame; default that of the body"},
};
const FieldTable node_table = {FIELDS("node", node_keys), .brief = FIELD_VECTOR, .may_be_empty = true,
                               .doc = "A frame fixed on a body."};

bool model_file_read_node_def(Reader *r, const Item *item, CalNodeDef *def) {
	*def = cal_node_def();
	def->name = item->name;
	if (item->value->kind == TREE_LIST)
		return read_vector(r, item->value, DIM_LENGTH, &def->placement.position);
	return tree_is_null(item->value) || fields_read(r, item->value, &node_table, &def->placement);
}

static bool read_node(Reader *r, const Item *item, const char *owner, CalBodyId body) {
	char place[256], path[128];
	CalNodeDef def;
	snprintf(path, sizeof path, "%.60s/%.60s", owner, item->name);
	reader_subject(r, "node", path);
	if (!model_file_read_node_def(r, item, &def))
		return false;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	const CalStatus status = cal_desc_add_node(r->file->desc, body, &def, NULL, r->error);
	reader_subject(r, "body", owner);
	return status == CAL_OK || reader_refused(r, item->place, status);
}

static bool read_nodes(Reader *r, const TreeNode *section, const char *owner, CalBodyId body) {
	const int count = items_count(r, section, "nodes");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, section, i, "node", &item) || !read_node(r, &item, owner, body))
			return false;
	}
	return count >= 0;
}

typedef struct GroundInput {
	const TreeNode *nodes, *visual;
} GroundInput;

static const Field ground_keys[] = {
	{"nodes", FIELD_ITEMS, offsetof(GroundInput, nodes), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "in the world frame", .table = &node_table},
	{"visual", FIELD_MAPS, offsetof(GroundInput, visual), .flags = FIELD_AS_TREE,
     .doc = "what is drawn there; default nothing", .table = &visual_table},
};
const FieldTable ground_table = {FIELDS("ground", ground_keys), .doc = "What is fixed in the world."};

/* ---- bodies ----------------------------------------------------------------------------------- */

static const Field body_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"group", FIELD_GROUP, offsetof(BodyInput, group), .flags = FIELD_AS_TEXT,
     .doc = "that the body belongs to; default `main`"},
	{"mass", FIELD_NUMBER, offsetof(BodyInput, mass), DIM_MASS, .doc = "not negative; default 0"},
	{"density", FIELD_POSITIVE, offsetof(BodyInput, density), DIM_DENSITY,
     .doc = "instead of `mass`, with a shape that has a volume"},
	{"com", FIELD_VECTOR, offsetof(BodyInput, com), DIM_LENGTH,
     .doc = "center of mass in the body frame, also the center of the shape; default the origin"},
	{"inertia", FIELD_MAP, offsetof(BodyInput, inertia), DIM_INERTIA, .flags = FIELD_AS_TREE,
     .doc = "about the center of mass, body axes", .table = &inertia_table},
	{"mass_node", FIELD_TEXT, offsetof(BodyInput, mass_node),
     .doc = "a node of this body, or `head` (its own frame): `com` is then the position in the frame of that node, and "
            "`inertia` is about its origin, in its axes"},
	{"idealized", FIELD_FLAG, offsetof(BodyInput, idealized),
     .doc = "an inertia that violates the triangle inequality is a warning, not an error (textbook "
            "tops)"},
	{"box", FIELD_MAP, offsetof(BodyInput, box), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "homogeneous box",
     .table = &box_table},
	{"sphere", FIELD_MAP, offsetof(BodyInput, sphere), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "homogeneous sphere",
     .table = &sphere_table},
	{"cylinder", FIELD_MAP, offsetof(BodyInput, cylinder), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "solid or hollow",
     .table = &cylinder_table},
	{"rod", FIELD_MAP, offsetof(BodyInput, rod), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "thin",
     .table = &rod_table},
	{"mesh", FIELD_MAP, offsetof(BodyInput, mesh), .flags = FIELD_AS_TREE,
     .doc = "the solid within a triangle mesh: it gives the center of mass, and is drawn", .table = &mass_mesh_table},
	{"nodes", FIELD_ITEMS, offsetof(BodyInput, nodes), .flags = FIELD_MAY_BE_EMPTY | FIELD_LOCAL | FIELD_AS_TREE,
     .doc = "frames fixed on the body", .table = &node_table},
	{"flexible", FIELD_MAP, offsetof(BodyInput, flexible), .flags = FIELD_AS_TREE,
     .doc = "modes of the body. The keys above are then its rigid part", .table = &flexible_table},
	{"beam", FIELD_MAP, offsetof(BodyInput, beam), .flags = FIELD_AS_TREE, .doc = "a flexible beam",
     .table = &beam_table},
	{"panel", FIELD_MAP, offsetof(BodyInput, panel), .flags = FIELD_AS_TREE, .doc = "a flexible panel",
     .table = &panel_table},
	{"modal", FIELD_MAP, offsetof(BodyInput, modal), .flags = FIELD_AS_TREE,
     .doc = "a flexible body in a file of its own", .table = &modal_table},
	{"visual", FIELD_MAPS, offsetof(BodyInput, visual), .flags = FIELD_AS_TREE,
     .doc = "how the body is drawn; default its shape, if its mass is given by one", .table = &visual_table},
};
const FieldTable body_table = {
	FIELDS("body", body_keys),
	.doc = "A body, rigid unless it has one of the keys `flexible`, `beam`, `panel` and `modal`."};

static bool find_group(Reader *r, const Sections *s, const TreeNode *body, const char *name, CalGroupId *id) {
	*id = cal_desc_find_group(r->file->desc, name);
	if (id->value)
		return true;
	Suggestion suggestion = {.word = name};
	suggestion_offer(&suggestion, "main");
	for (int i = 0; s->groups && s->groups->kind == TREE_MAP && i < s->groups->count; i++)
		suggestion_offer(&suggestion, tree_key(s->groups, i)->text);
	return reader_unknown(r, tree_get(body, "group"), "group", &suggestion);
}

/* What else to do about a key beside "beam", "panel" or "modal". */
static const char *advice(const BodyInput *input, const char *key) {
	if (input->modal && strcmp(key, "mass") == 0)
		return " (to have its mass checked, write {file: ..., mass: ...})";
	if (!input->modal && strcmp(key, "nodes") == 0)
		return " (its own nodes are root, tip and those of its grid)";
	return "";
}

/* A beam, a panel or a modal file: it brings mass, nodes and modes with it; only group and visuals are left to give. */
static bool add_generated(Reader *r, const Item *item, const BodyInput *input, CalGroupId group) {
	const char *what = input->beam ? "beam" : input->panel ? "panel" : "modal";
	for (int i = 0; i < body_table.count; i++) {
		const char *key = body_keys[i].name;
		const TreeNode *value = tree_get(item->value, key);
		if (value && strcmp(key, "name") != 0 && strcmp(key, "group") != 0 && strcmp(key, "visual") != 0 &&
		    strcmp(key, what) != 0)
			return reader_fail(r, value, "the %s gives this body its mass, nodes and modes; remove \"%s\"%s",
			                   input->modal ? "modal file" : what, key, advice(input, key));
	}
	return input->beam    ? model_file_read_beam(r, input->beam, item, group)
	       : input->panel ? model_file_read_panel(r, input->panel, item, group)
	                      : model_file_read_modal(r, input->modal, item, group);
}

/* A body that is given by its mass properties, and perhaps by modes. */
static bool add_given(Reader *r, const Item *item, const BodyInput *input, CalGroupId group, CalVec3 *center) {
	char place[256];
	CalBodyDef def = cal_body_def();
	CalBodyId id;
	if (!model_file_read_inertia(r, item->value, input, &def))
		return false;
	def.name = item->name;
	def.group = group;
	def.idealized = input->idealized;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	const CalBodyDef whole = def;
	*center = whole.com;
	if (tree_get(input->flexible, "invariants")) { // these hold the mass of all parts, the rigid ones too
		def.mass = 0;
		def.com = (CalVec3){0, 0, 0};
		def.inertia = (CalMat3){{{0}}};
	}
	const CalStatus status = cal_desc_add_body(r->file->desc, &def, &id, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	return read_nodes(r, input->nodes, item->name, id) &&
	       (!input->flexible || model_file_read_flexible(r, item, input, &whole, id));
}

bool model_file_add_body(Reader *r, const Item *item, const BodyInput *input, CalGroupId group, CalVec3 *center) {
	*center = (CalVec3){0, 0, 0};
	return input->beam || input->panel || input->modal ? add_generated(r, item, input, group)
	                                                   : add_given(r, item, input, group, center);
}

static bool read_body(Reader *r, const Sections *s, const Item *item) {
	BodyInput input = {0};
	CalGroupId group = {0};
	CalVec3 center;
	reader_subject(r, "body", item->name);
	return fields_read(r, item->value, &body_table, &input) &&
	       (!input.group || find_group(r, s, item->value, input.group, &group)) &&
	       model_file_add_body(r, item, &input, group, &center) &&
	       model_file_read_visual(r, &input, center, cal_desc_find_body(r->file->desc, item->name));
}

static int entry_count(const TreeNode *section) { return section && section->kind != TREE_SCALAR ? section->count : 0; }

/* Room for what the sections describe, so that a large description is not copied while it grows. */
static bool reserve_objects(Reader *r, const Sections *s) {
	enum { MOST = TREE_MAX_NODES };
	const int bodies = entry_count(s->bodies) + entry_count(s->pendulums);
	int nodes = bodies;
	for (int i = 0; i < entry_count(s->bodies) && nodes < MOST; i++) {
		const TreeNode *body = s->bodies->items[i];
		nodes += body->kind == TREE_MAP ? entry_count(tree_get(body, "nodes")) : 0;
	}
	const int joints = entry_count(s->joints) + entry_count(s->pendulums);
	const CalStatus status = cal_desc_reserve(r->file->desc, bodies, nodes < MOST ? nodes : MOST, joints);
	if (status != CAL_OK)
		r->status = tree_error(r->error, tree_name(r->file->tree), NULL, status, "out of memory");
	return status == CAL_OK;
}

bool model_file_read_bodies(Reader *r, const Sections *s) {
	Item item;
	GroundInput ground = {0};
	int count = items_count(r, s->groups, "groups");
	for (int i = 0; i < count; i++) {
		if (!items_get(r, s->groups, i, "group", &item) || !read_group(r, s, &item))
			return false;
	}
	reader_subject(r, "bodies", NULL);
	const int bodies = count < 0 ? -1 : items_count(r, s->bodies, "bodies");
	if (bodies < 0)
		return false;
	const size_t all = (size_t)bodies + (s->pendulums ? (size_t)s->pendulums->count : 0);
	r->file->modes = reader_array(r, all, sizeof *r->file->modes);
	if (!r->file->modes || !reserve_objects(r, s))
		return false;
	reader_subject(r, "ground", NULL);
	if ((s->ground && !fields_read(r, s->ground, &ground_table, &ground)) ||
	    !read_nodes(r, ground.nodes, "ground", (CalBodyId){0}) ||
	    (ground.visual && !model_file_read_ground_visual(r, ground.visual)))
		return false;
	reader_subject(r, "bodies", NULL);
	for (int i = 0; i < bodies; i++) {
		if (!items_get(r, s->bodies, i, "body", &item) || !read_body(r, s, &item))
			return false;
		reader_subject(r, "bodies", NULL);
	}
	return true;
}

/* ---- paths ------------------------------------------------------------------------------------ */

/* Name of item i of a section that has been read before, or NULL. */
static const char *item_name(const TreeNode *section, int i) {
	if (section->kind == TREE_MAP)
		return tree_key(section, i)->text;
	const TreeNode *name = tree_get(section->items[i], "name");
	return name && name->kind == TREE_SCALAR ? name->text : NULL;
}

static void offer_names(Suggestion *suggestion, const TreeNode *section) {
	for (int i = 0; section && i < section->count; i++) {
		const char *name = item_name(section, i);
		if (name)
			suggestion_offer(suggestion, name);
	}
}

const TreeNode *model_file_find_item(const TreeNode *section, const char *name) {
	for (int i = 0; section && i < section->count; i++) {
		const char *found = item_name(section, i);
		if (found && strcmp(found, name) == 0)
			return section->items[i];
	}
	return NULL;
}

bool model_file_find_body(Reader *r, const Sections *s, const TreeNode *node, const char *name, CalBodyId *id) {
	*id = cal_desc_find_body(r->file->desc, name);
	if (id->value)
		return true;
	Suggestion suggestion = {.word = name};
	offer_names(&suggestion, s->bodies);
	return reader_unknown(r, node, "body", &suggestion);
}

static bool is_mass_point(const char *name) { return strncmp(name, "mass", 4) == 0 && isdigit((unsigned char)name[4]); }

/* "; its nodes are a, b, c": of a flexible body, whose nodes need not stand in the file. Mass points are left out. */
static void list_nodes(const CalDesc *desc, CalBodyId id, char *text, size_t size) {
	CalFlexNodeInfo info;
	CalFlexDef flex = {0};
	size_t used = 0;
	cal_flex_body(desc, id, NULL, &flex);
	for (int i = 0; flex.modes && cal_flex_node(desc, id, i, &info) == CAL_OK; i++) {
		if (is_mass_point(info.name))
			continue;
		const bool fits = used + 80 < size;
		used += (size_t)snprintf(text + used, size - used, "%s%.60s", used ? ", " : "; its nodes are ",
		                         fits ? info.name : "...");
		if (!fits)
			break;
	}
}

/* Whether all of the path names a body: what is before its last '/' is no body, but a subsystem with bodies. */
static bool is_in_subsystem(const CalDesc *desc, const char *path) {
	const char *slash = strrchr(path, '/');
	const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
	bool found = false;
	for (int i = 1; slash && i <= cal_desc_body_count(desc); i++) {
		const char *name = cal_desc_body(desc, (CalBodyId){(uint32_t)i})->name;
		if (strncmp(name, path, length - 1) == 0 && name[length - 1] == '\0')
			return false;
		found |= strncmp(name, path, length) == 0;
	}
	return found;
}

/* Which half of the path is wrong, and what it may have been. */
static bool unknown_node(Reader *r, const Sections *s, const TreeNode *node, const char *path) {
	const char *slash = is_in_subsystem(r->file->desc, path) ? NULL : name_path_split(path);
	const char *body = reader_text(r, "%.*s", (int)(slash ? slash - path : (ptrdiff_t)strlen(path)), path);
	if (!body)
		return false;
	const bool ground = strcmp(body, "ground") == 0;
	Suggestion suggestion = {.word = body};
	if (!ground && !cal_desc_find_body(r->file->desc, body).value) {
		suggestion_offer(&suggestion, "ground");
		offer_names(&suggestion, s->bodies);
		return reader_unknown(r, node, "body", &suggestion);
	}
	suggestion.word = slash ? slash + 1 : "";
	offer_names(&suggestion, tree_get(ground ? s->ground : model_file_find_item(s->bodies, body), "nodes"));
	CalFlexNodeInfo info; // those that a beam, a panel or a modal file has brought
	const CalBodyId id = cal_desc_find_body(r->file->desc, body);
	for (int i = 0; id.value && cal_flex_node(r->file->desc, id, i, &info) == CAL_OK; i++)
		suggestion_offer(&suggestion, info.name);
	char hint[300];
	suggestion_text(&suggestion, hint, sizeof hint);
	if (!hint[0])
		list_nodes(r->file->desc, id, hint, sizeof hint);
	return reader_fail(r, node, "\"%.80s\" has no node \"%.80s\"%s", body, suggestion.word, hint);
}

bool model_file_find_node(Reader *r, const Sections *s, const TreeNode *node, const char *path, CalNodeId *id) {
	*id = cal_desc_find_node(r->file->desc, path);
	if (id->value || strcmp(path, "ground") == 0)
		return true;
	return unknown_node(r, s, node, path);
}
