// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_contact.c — the device "contact": shapes on nodes and their materials (calder/contact.h, docs/contact.md).
 *
 * Each shape is checked by the contact module as soon as it is read, and all together at the end, so that a mistake is
 * reported where it stands and not when a simulation begins. Meshes belong to the setup; a file that is named twice at the
 * same scale is read once. Owners and layers are words in a file, numbers and bits in the library.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/model/model_file.h"

enum { LAYERS_MAX = 32 };

struct FileMesh {
	FileMesh *next;
	const char *path;
	CalVec3 scale;
	CalMesh *mesh;
};

/* ---- materials ----------------------------------------------------------------------------------- */

typedef struct MaterialInput {
	CalContactMaterial material;
	const TreeNode *stiffness;
} MaterialInput;

/* A modulus or "rigid"; likewise a stiffness below. */
static bool read_or_rigid(Reader *r, const TreeNode *node, Dimension dimension, const char *key, double *out) {
	*out = INFINITY;
	if (node->kind == TREE_SCALAR && strcmp(node->text, "rigid") == 0)
		return true;
	if (!read_quantity(r, node, dimension, out))
		return false;
	return *out > 0 || reader_fail(r, node, "the key \"%s\" must be greater than zero, or rigid", key);
}

static bool key_modulus(Reader *r, const TreeNode *value, const Field *key, void *target) {
	MaterialInput *in = target;
	return read_or_rigid(r, value, key->dimension, key->name, &in->material.modulus);
}

static bool key_exponent(Reader *r, const TreeNode *value, const Field *key, void *target) {
	MaterialInput *in = target;
	if (!field_read(r, value, key, target))
		return false;
	return (in->material.exponent >= 1 && in->material.exponent <= 4) ||
	       reader_fail(r, value, "the key \"exponent\" must be from 1 to 4");
}

static bool key_restitution(Reader *r, const TreeNode *value, const Field *key, void *target) {
	MaterialInput *in = target;
	if (!field_read(r, value, key, target))
		return false;
	return (in->material.restitution > 0 && in->material.restitution <= 1) ||
	       reader_fail(r, value, "the key \"restitution\" must be greater than zero and at most 1");
}

#define OF(member) offsetof(MaterialInput, material.member)
static const Field contact_material_keys[] = {
	{"modulus", FIELD_NUMBER, OF(modulus), DIM_STRESS, .doc = "E/(1 - nu^2)", .words = FIELD_WORDS("rigid"),
     .read = key_modulus},
	{"stiffness", FIELD_NUMBER, offsetof(MaterialInput, stiffness), .flags = FIELD_AS_TREE,
     .doc = "of one point of contact: with `exponent` 1 in [N/m], otherwise a plain number "
            "[N/m^exponent]",
     .words = FIELD_WORDS("rigid")},
	{"exponent", FIELD_NUMBER, OF(exponent), .doc = "of the depth in the force, 1 to 4; default 1.5",
     .read = key_exponent},
	{"dissipation", FIELD_NOT_NEGATIVE, OF(dissipation), DIM_SLOWNESS,
     .doc = "per closing speed; default 0; or instead"},
	{"restitution", FIELD_NUMBER, OF(restitution), .doc = "of an impact, above 0 to 1, at", .read = key_restitution},
	{"impact_speed", FIELD_POSITIVE, OF(impact_speed), DIM_SPEED, .doc = "needed with it"},
	{"friction_static", FIELD_NOT_NEGATIVE, OF(friction_static), .doc = "coefficient; default as `friction_dynamic`"},
	{"friction_dynamic", FIELD_NOT_NEGATIVE, OF(friction_dynamic), .doc = "coefficient; default 0"},
	{"transition_speed", FIELD_POSITIVE, OF(transition_speed), DIM_SPEED,
     .doc = "slip at which friction is nearly full; default 1 mm/s"},
	{"stribeck_speed", FIELD_POSITIVE, OF(stribeck_speed), DIM_SPEED,
     .doc = "slip over which static friction becomes dynamic; default 10 times `transition_speed`"},
	{"torsion_radius", FIELD_NOT_NEGATIVE, OF(torsion_radius), DIM_LENGTH,
     .doc = "of the patch that resists spin about the normal; default none"},
};
#undef OF
const FieldTable contact_material_table = {FIELDS("contact_material", contact_material_keys),
                                           .doc = "What a surface does when it is pressed and rubbed."};

/* The unit of a stiffness depends on the exponent: [N/m] for 1, otherwise a plain number. */
static bool read_material(Reader *r, const TreeNode *map, CalContactMaterial *material) {
	MaterialInput in = {0};
	if (!fields_read(r, map, &contact_material_table, &in))
		return false;
	const Dimension dimension = in.material.exponent == 1 ? DIM_STIFFNESS : DIM_NUMBER;
	if (in.stiffness && !read_or_rigid(r, in.stiffness, dimension, "stiffness", &in.material.stiffness))
		return false;
	if (in.material.restitution > 0 && (in.material.dissipation > 0 || !(in.material.impact_speed > 0)))
		return reader_fail(r, tree_get(map, "restitution"),
		                   "\"restitution\" needs the \"impact_speed\" at which it holds, and no \"dissipation\"");
	*material = in.material;
	return true;
}

/* ---- meshes ---------------------------------------------------------------------------------------- */

static void destroy_mesh(void *mesh) { cal_mesh_destroy(mesh); }

static const CalMesh *find_mesh(const ModelFile *file, const char *path, CalVec3 scale) {
	for (const FileMesh *m = file->meshes; m; m = m->next)
		if (m->scale.x == scale.x && m->scale.y == scale.y && m->scale.z == scale.z && strcmp(m->path, path) == 0)
			return m->mesh;
	return NULL;
}

/* The file is sought beside the model. What is wrong inside it is reported at the key that names it. */
static bool read_mesh(Reader *r, const TreeNode *node, const char *name, CalVec3 scale, const CalMesh **mesh) {
	char path[1024];
	if (!reader_path(r, node, NULL, name, path, sizeof path))
		return false;
	*mesh = find_mesh(r->file, path, scale);
	if (*mesh)
		return true;
	FileMesh *kept = reader_array(r, 1, sizeof *kept);
	const char *text = reader_text(r, "%s", path);
	CalError error = {0};
	if (!kept || !text)
		return false;
	*kept = (FileMesh){.path = text, .scale = scale};
	const CalStatus status = cal_mesh_read(path, scale, &r->file->allocator, &kept->mesh, &error);
	if (status != CAL_OK) {
		reader_fail(r, node, "%s", error.text);
		r->status = status;
		if (r->error)
			r->error->status = status;
		return false;
	}
	if (!reader_added(r, node, cal_setup_keep(r->file->setup, kept->mesh, destroy_mesh, r->error))) {
		cal_mesh_destroy(kept->mesh);
		return false;
	}
	kept->next = r->file->meshes;
	r->file->meshes = kept;
	*mesh = kept->mesh;
	return true;
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

typedef struct ShapeInput {
	CalShapeDef def;
	const char *type, *node, *mesh, *owner;
	const TreeNode *layers, *mask, *material;
	CalVec3 scale; // of the mesh; {0}: not given
} ShapeInput;

static const char *type_word(int i) { return i < CAL_SHAPE_COUNT ? cal_shape_type_name((CalShapeType)i) : NULL; }

#define OF(member) offsetof(ShapeInput, member)
static const Field contact_shape_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"type", FIELD_CHOICE, OF(type), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "`capsule`: all within `radius` of a line of `length` along z; `plane`: the half space z <= "
            "0",
     .word_at = type_word},
	{"node", FIELD_NODE, OF(node), .flags = FIELD_AS_TEXT, .doc = "that it is fixed to; default `ground`"},
	{"at", FIELD_VECTOR, OF(def.placement.position), DIM_LENGTH, .doc = "place in the node; default its origin"},
	{"orientation", FIELD_ORIENTATION, OF(def.placement.orientation), .doc = "in the node; default that of the node"},
	{"radius", FIELD_POSITIVE, OF(def.radius), DIM_LENGTH, .doc = "sphere, capsule: required there"},
	{"length", FIELD_NOT_NEGATIVE, OF(def.length), DIM_LENGTH,
     .doc = "capsule: between the centers of its ends, required there"},
	{"half", FIELD_VECTOR, OF(def.half), DIM_LENGTH, .doc = "box: half its extents, required there"},
	{"mesh", FIELD_FILE, OF(mesh), .flags = FIELD_AS_TEXT,
     .doc = "mesh: an `.stl`, `.obj`, `.gltf` or `.glb` file; required there"},
	{"scale", FIELD_SCALE, OF(scale),
     .doc = "mesh: factor of its lengths, or three along its axes; default 1, for a mesh in mm 0.001"},
	{"thickness", FIELD_POSITIVE, OF(def.thickness), DIM_LENGTH,
     .doc = "mesh: depth below the surface that counts as inside; default all of a closed mesh, "
            "required for an open one"},
	{"margin", FIELD_NOT_NEGATIVE, OF(def.margin), DIM_LENGTH, .doc = "the shape grows by it on all sides; default 0"},
	{"patch", FIELD_POSITIVE, OF(def.patch), DIM_LENGTH,
     .doc = "contact points closer to each other than this share their stiffness; default from the size of the shape"},
	{"owner", FIELD_TEXT, OF(owner), .doc = "any word: shapes with the same one do not touch"},
	{"layers", FIELD_TEXTS, OF(layers), .flags = FIELD_AS_TREE,
     .doc = "any words, up to 31 in a device besides `default`: the layers that the shape is in; "
            "default `[default]`"},
	{"mask", FIELD_TEXTS, OF(mask), .flags = FIELD_AS_TREE,
     .doc = "the layers that it touches; default all. Both sides must agree"},
	{"material", FIELD_MATERIAL, OF(material), .flags = FIELD_AS_TREE, .doc = "default that of the device"},
};
#undef OF
const FieldTable contact_shape_table = {FIELDS("contact_shape", contact_shape_keys),
                                        .doc = "A shape that touches others."};

/* Which sizes belong to which type. */
static const struct {
	const char *key;
	CalShapeType types[2];
	bool required;
} sizes[] = {
	{"radius", {CAL_SHAPE_SPHERE, CAL_SHAPE_CAPSULE}, true}, {"length", {CAL_SHAPE_CAPSULE, CAL_SHAPE_CAPSULE}, true},
	{"half", {CAL_SHAPE_BOX, CAL_SHAPE_BOX}, true},          {"mesh", {CAL_SHAPE_MESH, CAL_SHAPE_MESH}, true},
	{"scale", {CAL_SHAPE_MESH, CAL_SHAPE_MESH}, false},      {"thickness", {CAL_SHAPE_MESH, CAL_SHAPE_MESH}, false},
};

static bool check_sizes(Reader *r, const TreeNode *map, CalShapeType type) {
	const char *word = cal_shape_type_name(type);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		const TreeNode *value = tree_get(map, sizes[i].key);
		const bool fits = sizes[i].types[0] == type || sizes[i].types[1] == type;
		if (value && !fits)
			return reader_fail(r, value, "a %s has no \"%s\"; remove it", word, sizes[i].key);
		if (!value && fits && sizes[i].required)
			return reader_fail(r, map, "a %s needs the key \"%s\"", word, sizes[i].key);
	}
	return true;
}

static bool find_type(Reader *r, const TreeNode *node, const char *word, CalShapeType *type) {
	Suggestion suggestion = {.word = word};
	for (int i = 0; i < CAL_SHAPE_COUNT; i++) {
		*type = (CalShapeType)i;
		if (strcmp(cal_shape_type_name(*type), word) == 0)
			return true;
		suggestion_offer(&suggestion, cal_shape_type_name(*type));
	}
	if (suggestion.best)
		return reader_unknown(r, node, "type of shape", &suggestion);
	return reader_fail(r, node, "unknown type of shape \"%.40s\"; write sphere, capsule, box, plane or mesh", word);
}

/* ---- layers and owners ------------------------------------------------------------------------------- */

/* What the shapes of one device share. Layer 0 is that of shapes that name none. */
typedef struct ContactRead {
	const Sections *sections;
	int count, owner_count, layer_count;
	ShapeInput *shapes;  // [count]
	const char **owners; // [count]
	const char *layers[LAYERS_MAX];
	CalContactMaterial material;
} ContactRead;

/* The place of a word in a list, at its end if it is new; -1: the list is full. */
static int place_of(const char **words, int *count, int most, const char *word) {
	for (int i = 0; i < *count; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	if (*count == most)
		return -1;
	words[*count] = word;
	return (*count)++;
}

static bool set_layers(Reader *r, ContactRead *c, const TreeNode *node, uint32_t *bits) {
	if (!node) {
		*bits = 1;
		return true;
	}
	if (!read_list(r, node, "names of layers, e.g. [robot, tools]"))
		return false;
	if (!node->count)
		return reader_fail(r, node, "the list of layers is empty; leave \"layers\" out, or name one");
	for (int i = 0; i < node->count; i++) {
		const char *word = NULL;
		if (!read_text(r, node->items[i], &word))
			return false;
		const int bit = place_of(c->layers, &c->layer_count, LAYERS_MAX, word);
		if (bit < 0)
			return reader_fail(r, node->items[i], "a contact has at most %d layers, \"default\" among them",
			                   LAYERS_MAX);
		*bits |= (uint32_t)1 << bit;
	}
	return true;
}

/* Once the layers of all shapes are known. */
static bool set_mask(Reader *r, const ContactRead *c, const TreeNode *node, uint32_t *mask) {
	if (!node)
		return true;
	if (!read_list(r, node, "names of the layers that it touches"))
		return false;
	if (!node->count)
		return reader_fail(r, node, "a shape that touches nothing has no effect; name a layer, or remove the shape");
	for (int i = 0; i < node->count; i++) {
		Suggestion suggestion = {0};
		int bit = 0;
		if (!read_text(r, node->items[i], &suggestion.word))
			return false;
		for (; bit < c->layer_count && strcmp(c->layers[bit], suggestion.word) != 0; bit++)
			suggestion_offer(&suggestion, c->layers[bit]);
		if (bit == c->layer_count)
			return reader_unknown(r, node->items[i], "layer", &suggestion);
		*mask |= (uint32_t)1 << bit;
	}
	return true;
}

/* ---- one shape --------------------------------------------------------------------------------------- */

static bool fill_shape(Reader *r, ContactRead *c, const Item *item, ShapeInput *in, CalNodeId *node) {
	const TreeNode *map = item->value;
	CalShapeDef *def = &in->def;
	char place[256];
	def->placement.orientation = (CalQuat){1, 0, 0, 0};
	def->material = c->material;
	if (!fields_read(r, map, &contact_shape_table, in) || !find_type(r, tree_get(map, "type"), in->type, &def->type) ||
	    !check_sizes(r, map, def->type) ||
	    (in->node && !model_file_find_node(r, c->sections, tree_get(map, "node"), in->node, node)) ||
	    (in->mesh && !read_mesh(r, tree_get(map, "mesh"), in->mesh, in->scale, &def->mesh)) ||
	    (in->material && !read_material(r, in->material, &def->material)) ||
	    !set_layers(r, c, in->layers, &def->layers))
		return false;
	def->owner = in->owner ? place_of(c->owners, &c->owner_count, c->count, in->owner) + 1 : 0;
	def->node = node->value ? (int)node->value : -1;
	def->name = item->name;
	def->place = reader_text(r, "%s", tree_place(r->file->tree, item->place, place, sizeof place));
	return def->place != NULL;
}

/* What the contact module says of one shape, or of all; the set itself is made when a simulation is. */
static bool check_shapes(Reader *r, const TreeNode *place, const CalShapeDef *shapes, int count) {
	CalContactSet *set = NULL;
	CalError error = {0};
	const CalStatus status = cal_contact_set_create(shapes, count, &r->file->allocator, &set, &error);
	cal_contact_set_destroy(set);
	if (status == CAL_OK)
		return true;
	if (r->error)
		*r->error = error;
	return reader_refused(r, place, status);
}

static bool read_shapes(Reader *r, ContactRead *c, const TreeNode *section, CalShapeDef *defs, CalNodeId *nodes) {
	Item item;
	for (int i = 0; i < c->count; i++) {
		if (!items_get(r, section, i, "shape", &item))
			return false;
		reader_subject(r, "shape", item.name);
		if (!fill_shape(r, c, &item, &c->shapes[i], &nodes[i]) || !check_shapes(r, item.place, &c->shapes[i].def, 1))
			return false;
	}
	for (int i = 0; i < c->count; i++) {
		reader_subject(r, "shape", c->shapes[i].def.name);
		if (!set_mask(r, c, c->shapes[i].mask, &c->shapes[i].def.mask))
			return false;
		defs[i] = c->shapes[i].def;
	}
	return true;
}

bool model_file_read_contact(Reader *r, const TreeNode *shapes, CalContactDef *def) {
	const Item *item = r->item;
	const TreeNode *material = tree_get(item->value, "material");
	ContactRead c = {.sections = r->sections, .layers = {"default"}, .layer_count = 1};
	c.count = items_count(r, shapes, "shapes");
	if (c.count < 0 || (material && !read_material(r, material, &c.material)))
		return false;
	if (c.count < 2)
		return reader_fail(r, shapes, "a contact needs two shapes at least; it has %d", c.count);
	c.shapes = reader_array(r, (size_t)c.count, sizeof *c.shapes);
	c.owners = reader_array(r, (size_t)c.count, sizeof *c.owners);
	CalShapeDef *defs = reader_array(r, (size_t)c.count, sizeof *defs);
	CalNodeId *nodes = reader_array(r, (size_t)c.count, sizeof *nodes);
	if (!c.shapes || !c.owners || !defs || !nodes || !read_shapes(r, &c, shapes, defs, nodes))
		return false;
	reader_subject(r, "device", item->name);
	if (!check_shapes(r, item->place, defs, c.count))
		return false;
	*def = (CalContactDef){.shapes = defs, .nodes = nodes, .shape_count = c.count};
	return true;
}
