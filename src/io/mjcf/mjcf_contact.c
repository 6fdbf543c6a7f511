// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_contact.c — geoms that may touch as contact devices.
 *
 * Which pairs may touch is decided as in MuJoCo: not geoms of one body or of bodies welded together, nor of parent and child
 * unless the parent is fixed to the world; not of excluded bodies; and contype of one must meet conaffinity of the other.
 * Geoms of one body with equal bits are a class. Up to 32 classes have a bit of a device's layers each. More of them share the
 * bits: layers have half of all bits set, so that none holds another, and a class refuses the layers of its parent. Where it
 * would refuse too much, classes are put in blocks and each pair of blocks gets a device.
 *
 * The law is Calder's (docs/contact.md), with one stiffness for the whole model: all of its mass would swing on one point at
 * 100 rad/s, so that its weight sinks it by 1 mm.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400, BLOCK = 16, MAX_CLASSES = 256 };

/** Geoms of one body with equal bits. */
typedef struct Class {
	int body, contype, conaffinity;
	int weld, carrier; // the body that its own is welded to, itself if it has joints; and what carries that
} Class;

/** Layers and mask of the shapes of a class in a device. */
typedef struct Code {
	uint32_t layers, mask; // mask 0: it touches nothing there
} Code;

typedef struct Exclusion {
	int a, b; // bodies
} Exclusion;

typedef struct Contacts {
	Class *classes;
	int class_count, class_capacity;
	int *class_of;           // [geoms] -1: it touches nothing
	Code codes[MAX_CLASSES]; // in the device that is made next
	Exclusion *exclusions;
	int exclusion_count, exclusion_capacity;
	NameIndex excluded;    // by both bodies, the smaller number first
	int *weld;             // [bodies] as that of a class
	CalShapeDef *shapes;   // [geoms]
	CalShapeDef *touching; // [geoms] those of the device that is made next
	CalNodeId *nodes;      // [geoms] their nodes
	int approximated, left_out, rolling;
	const XmlElement *first_approximated, *first_left_out, *first_rolling;
} Contacts;

/* ---- shapes --------------------------------------------------------------------------------------------------- */

static void capsule(CalShapeDef *shape, double radius, double length) {
	shape->type = length > 0 ? CAL_SHAPE_CAPSULE : CAL_SHAPE_SPHERE;
	shape->radius = radius;
	shape->length = fmax(length, 0);
}

/* A capsule along the longest axis, of the mean of the other two. */
static void shape_ellipsoid(const MjcfGeom *geom, CalShapeDef *shape) {
	const double *s = geom->a.size;
	const int longest = s[0] >= s[1] && s[0] >= s[2] ? 0 : s[1] >= s[2] ? 1 : 2;
	const double radius = 0.5 * (s[0] + s[1] + s[2] - s[longest]);
	const MjcfOrientation along = {MJCF_ZAXIS, {longest == 0, longest == 1, longest == 2}};
	const CalPlacement turn = {.orientation = mjcf_quaternion(NULL, &along)};
	shape->placement = placement_mul(geom->pose, turn);
	capsule(shape, radius, 2 * (s[longest] - radius));
}

/* Type, size and place of a geom for which has_shape() holds. */
static void shape_of(const MjcfGeom *geom, CalShapeDef *shape) {
	const double *s = geom->a.size;
	shape->placement = geom->pose;
	switch (geom->a.type) {
	case MJCF_SPHERE:
		capsule(shape, s[0], 0);
		return;
	case MJCF_CAPSULE:
		capsule(shape, s[0], 2 * s[1]);
		return;
	case MJCF_CYLINDER:
		capsule(shape, s[0], 2 * (s[1] - s[0]));
		return;
	case MJCF_ELLIPSOID:
		shape_ellipsoid(geom, shape);
		return;
	case MJCF_BOX:
		shape->type = CAL_SHAPE_BOX;
		shape->half = (CalVec3){s[0], s[1], s[2]};
		return;
	default:
		shape->type = CAL_SHAPE_PLANE;
	}
}

/* Whether a geom can touch at all; counted for the report. */
static bool has_shape(Contacts *c, const MjcfGeom *geom) {
	const int type = geom->a.type;
	if (type == MJCF_MESH || type == MJCF_HFIELD || type == MJCF_SDF) {
		if (c->left_out++ == 0)
			c->first_left_out = geom->object.element;
		return false;
	}
	if ((type == MJCF_ELLIPSOID || type == MJCF_CYLINDER) && c->approximated++ == 0)
		c->first_approximated = geom->object.element;
	if (geom->a.condim > 3 && c->rolling++ == 0)
		c->first_rolling = geom->object.element;
	return true;
}

static bool make_shape(Mjcf *m, int index, CalShapeDef *shape) {
	const MjcfGeom *geom = mjcf_geom(m, index);
	shape_of(geom, shape);
	shape->margin = fmax(geom->a.margin, 0);
	shape->material = (CalContactMaterial){.stiffness = 2 * m->total_mass * MJCF_CONTACT_FREQUENCY *
	                                                    MJCF_CONTACT_FREQUENCY, // two in series
	                                       .exponent = 1,
	                                       .restitution = MJCF_CONTACT_RESTITUTION,
	                                       .impact_speed = MJCF_CONTACT_IMPACT,
	                                       .friction_dynamic = geom->a.condim > 1 ? fmax(geom->a.friction[0], 0) : 0};
	return (shape->name = geom->object.name ? geom->object.name : mjcf_numbered(m, "geom", index)) != NULL;
}

/* ---- which may touch ------------------------------------------------------------------------------------------ */

static uint32_t pair_hash(Exclusion x) { return name_hash((uint32_t)x.a, (const char *)&x.b, sizeof x.b); }

static Exclusion ordered(int a, int b) { return a < b ? (Exclusion){a, b} : (Exclusion){b, a}; }

static bool is_excluded(const Contacts *c, int a, int b) {
	const Exclusion x = ordered(a, b);
	uint32_t cursor = 0, value;
	while (c->exclusion_count && (value = name_index_next(&c->excluded, pair_hash(x), &cursor)) != 0)
		if (c->exclusions[value - 1].a == x.a && c->exclusions[value - 1].b == x.b)
			return true;
	return false;
}

static bool may_touch(const Mjcf *m, const Contacts *c, int i, int k) {
	const Class *a = &c->classes[i], *b = &c->classes[k];
	if (a->weld == b->weld || !((a->contype & b->conaffinity) | (b->contype & a->conaffinity)))
		return false;
	if ((a->carrier == b->weld || b->carrier == a->weld) && m->option.on.filter_parent && a->weld != 0 && b->weld != 0)
		return false;
	return !c->exclusion_count || !is_excluded(c, a->body, b->body);
}

static bool read_exclusion(Mjcf *m, MjcfFile *file, Contacts *c, XmlElement *e) {
	int a, b;
	void *items = c->exclusions;
	xml_get(e, "name");
	if (!import_required(m->im, e, "body1") || !import_required(m->im, e, "body2") ||
	    !mjcf_refer(m, MJCF_BODIES, file, e, "body1", &a) || !mjcf_refer(m, MJCF_BODIES, file, e, "body2", &b) ||
	    !mjcf_grow(m, &items, c->exclusion_count, &c->exclusion_capacity, sizeof *c->exclusions))
		return false;
	c->exclusions = items;
	if (is_excluded(c, a, b))
		return true;
	if (!name_index_reserve(&m->im->allocator, &c->excluded))
		return import_no_memory(m->im);
	c->exclusions[c->exclusion_count++] = ordered(a, b);
	name_index_insert(&c->excluded, pair_hash(ordered(a, b)), (uint32_t)c->exclusion_count);
	return true;
}

static bool read_exclusions(Mjcf *m, MjcfFile *file, Contacts *c) {
	for (XmlElement *section = xml_child(file->root, "contact"); section; section = xml_again(section))
		for (XmlElement *e = xml_child(section, "exclude"); e; e = xml_again(e)) {
			bool out;
			if (!mjcf_is_left_out(m, file, e, &out) || (!out && !read_exclusion(m, file, c, e)))
				return false;
		}
	return true;
}

static void find_welds(const Mjcf *m, Contacts *c) {
	for (int i = 0; i < m->lists[MJCF_BODIES].count; i++) {
		const MjcfBody *body = mjcf_body(m, i);
		const bool moves = body->joint_count || body->is_mocap;
		c->weld[i] = i == 0 || moves ? i : c->weld[body->parent];
	}
}

static bool add_to_class(Mjcf *m, Contacts *c, int index) {
	const MjcfGeom *geom = mjcf_geom(m, index);
	const int weld = c->weld[geom->body], carrier = weld ? c->weld[mjcf_body(m, weld)->parent] : 0;
	const Class own = {geom->body, geom->a.contype, geom->a.conaffinity, weld, carrier};
	// geoms of a body follow each other: its classes are among the last
	for (int i = c->class_count - 1; i >= 0 && c->classes[i].body == own.body; i--)
		if (c->classes[i].contype == own.contype && c->classes[i].conaffinity == own.conaffinity)
			return c->class_of[index] = i, true;
	void *classes = c->classes;
	if (!mjcf_grow(m, &classes, c->class_count, &c->class_capacity, sizeof *c->classes))
		return false;
	c->classes = classes;
	c->classes[c->class_count] = own;
	c->class_of[index] = c->class_count++;
	return true;
}

static bool find_classes(Mjcf *m, Contacts *c) {
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++) {
		const MjcfGeom *geom = mjcf_geom(m, i);
		c->class_of[i] = -1;
		if ((geom->a.contype || geom->a.conaffinity) && has_shape(c, geom) && !add_to_class(m, c, i))
			return false;
	}
	return true;
}

static bool make_shapes(Mjcf *m, Contacts *c) {
	const int geoms = m->lists[MJCF_GEOMS].count;
	c->shapes = xml_array(m->im->tree, (size_t)geoms + 1, sizeof *c->shapes);
	c->touching = xml_array(m->im->tree, (size_t)geoms + 1, sizeof *c->touching);
	c->nodes = xml_array(m->im->tree, (size_t)geoms + 1, sizeof *c->nodes);
	if (!c->shapes || !c->touching || !c->nodes)
		return import_no_memory(m->im);
	for (int i = 0; i < geoms; i++)
		if (c->class_of[i] >= 0 && !make_shape(m, i, &c->shapes[i]))
			return false;
	return true;
}

/* ---- layers and masks ----------------------------------------------------------------------------------------- */

/* The next larger word with as many bits set. */
static uint32_t next_word(uint32_t word) {
	const uint32_t lowest = word & (~word + 1), carried = word + lowest;
	return carried | (word ^ carried) / lowest >> 2;
}

/*
 * All classes in one device. Both sides must agree, so that of two classes that may not touch the later one refuses: in a tree
 * with the filter of parents the child refuses its parent, and only that word is within what it refuses. False: some class
 * refuses so many that it would miss others.
 */
static bool share_bits(const Mjcf *m, Contacts *c) {
	uint32_t word = 0xffff;
	for (int i = 0; i < c->class_count; i++, word = next_word(word)) {
		bool touches[MAX_CLASSES];
		uint32_t refused = 0;
		for (int k = 0; k < i; k++)
			if (!(touches[k] = may_touch(m, c, i, k)))
				refused |= c->codes[k].layers;
		c->codes[i] = (Code){word, ~refused};
		for (int k = 0; k < i; k++)
			if (touches[k] && (!(c->codes[k].layers & ~refused) || !(word & c->codes[k].mask)))
				return false;
	}
	return true;
}

/* Bit of a class in the device of two blocks; -1: it is in neither. */
static int bit_of(int class_index, int first, int second) {
	const int block = class_index / BLOCK, within = class_index % BLOCK;
	return block == first ? within : block == second ? BLOCK + within : -1;
}

static int class_of_bit(int bit, int first, int second) { return (bit < BLOCK ? first : second) * BLOCK + bit % BLOCK; }

/* Each pair of classes is in one device: across two blocks in theirs, within a block in the first that has it. */
static bool is_in_device(int i, int k, int first, int second) {
	const int a = i / BLOCK, b = k / BLOCK;
	if (a != b)
		return (a == first && b == second) || (a == second && b == first);
	return a == first ? first == 0 && second <= 1 : a == second && first == 0;
}

static uint32_t mask_of(const Mjcf *m, const Contacts *c, int class_index, int first, int second) {
	uint32_t mask = 0;
	for (int bit = 0; bit < 2 * BLOCK; bit++) {
		const int k = class_of_bit(bit, first, second);
		if (k < c->class_count && (bit < BLOCK || second != first) && is_in_device(class_index, k, first, second) &&
		    may_touch(m, c, class_index, k))
			mask |= 1u << bit;
	}
	return mask;
}

static void give_bits(const Mjcf *m, Contacts *c, int first, int second) {
	for (int i = 0; i < c->class_count; i++) {
		const int bit = bit_of(i, first, second);
		c->codes[i] = bit < 0 ? (Code){0, 0} : (Code){1u << bit, mask_of(m, c, i, first, second)};
	}
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static bool add_contact(Mjcf *m, const char *name, const XmlElement *element, CalShapeDef *shapes,
                        const CalNodeId *nodes, int count) {
	char place[PLACE_MAX];
	const CalContactDef def = {.name = mjcf_device_label(m, name),
	                           .shapes = shapes,
	                           .nodes = nodes,
	                           .shape_count = count,
	                           .place = xml_place(element, place, sizeof place)};
	return def.name && import_ok(m->im, cal_setup_add_device(m->im->setup, "contact", &def, m->im->error));
}

static bool add_coded(Mjcf *m, Contacts *c) {
	int count = 0;
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++) {
		const Code code = c->class_of[i] < 0 ? (Code){0, 0} : c->codes[c->class_of[i]];
		if (!code.mask)
			continue;
		c->touching[count] = c->shapes[i];
		c->touching[count].layers = code.layers;
		c->touching[count].mask = code.mask;
		c->nodes[count++] = mjcf_body(m, mjcf_geom(m, i)->body)->node;
	}
	return count < 2 || add_contact(m, "contact", m->file.root, c->touching, c->nodes, count);
}

static bool add_devices(Mjcf *m, Contacts *c) {
	const int blocks = (c->class_count + BLOCK - 1) / BLOCK;
	if (c->class_count > MAX_CLASSES)
		return import_note(m->im, CAL_IMPORT_CHANGED, m->file.root, NULL,
		                   "%d bodies have geoms that may touch; contact is taken over up to %d, and was left out",
		                   c->class_count, MAX_CLASSES);
	if (!make_shapes(m, c))
		return false;
	if (blocks <= 2) {
		give_bits(m, c, 0, blocks - 1);
		return add_coded(m, c);
	}
	if (share_bits(m, c))
		return add_coded(m, c);
	for (int i = 0; i < blocks; i++)
		for (int k = i + 1; k < blocks; k++) {
			give_bits(m, c, i, k);
			if (!add_coded(m, c))
				return false;
		}
	return true;
}

/* ---- pairs that the file lists -------------------------------------------------------------------------------- */

static bool read_pair(Mjcf *m, MjcfFile *file, Contacts *c, XmlElement *e) {
	double friction[5] = {NAN, 0, 0, 0, 0};
	int index[2], condim = 3;
	bool made = true;
	const char *own = xml_get(e, "name");
	if (!mjcf_class_of(m, file, e, 0) || !import_required(m->im, e, "geom1") || !import_required(m->im, e, "geom2") ||
	    !mjcf_refer(m, MJCF_GEOMS, file, e, "geom1", &index[0]) ||
	    !mjcf_refer(m, MJCF_GEOMS, file, e, "geom2", &index[1]) || !mjcf_apply_numbers(m, e, "friction", friction, 5) ||
	    !import_integer(m->im, e, "condim", &condim, NULL) || !mjcf_check_surface(m, e))
		return false;
	const int a = c->class_of[index[0]], b = c->class_of[index[1]];
	if (a >= 0 && b >= 0 && may_touch(m, c, a, b))
		return import_note(m->im, CAL_IMPORT_CHANGED, e, NULL, "the two geoms touch with the friction of their own");
	CalShapeDef shapes[2] = {0};
	CalNodeId nodes[2];
	for (int i = 0; i < 2 && (made = has_shape(c, mjcf_geom(m, index[i]))); i++) {
		if (!make_shape(m, index[i], &shapes[i]))
			return false;
		shapes[i].material.friction_dynamic = condim == 1 ? 0 : isnan(friction[0]) ? 1 : fmax(friction[0], 0);
		nodes[i] = mjcf_body(m, mjcf_geom(m, index[i])->body)->node;
	}
	const char *name = own ? own : made ? mjcf_format(m, "%s_%s", shapes[0].name, shapes[1].name) : "";
	return name && (!made || add_contact(m, name, e, shapes, nodes, 2));
}

static bool read_pairs(Mjcf *m, MjcfFile *file, Contacts *c) {
	for (XmlElement *section = xml_child(file->root, "contact"); section; section = xml_again(section))
		for (XmlElement *e = xml_child(section, "pair"); e; e = xml_again(e)) {
			bool out;
			if (!mjcf_is_left_out(m, file, e, &out) || (!out && !read_pair(m, file, c, e)))
				return false;
		}
	return true;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static bool note_contacts(Mjcf *m, const Contacts *c, int devices) {
	if (cal_setup_device_count(m->im->setup) > devices &&
	    !import_note(
			m->im, CAL_IMPORT_CHANGED, m->file.root, NULL,
			"contact follows Calder's law instead of MuJoCo's solver: %.3g N/m at each point, restitution %g at %g "
			"m/s; friction is the geometric mean of both sides, not the larger one",
			m->total_mass * MJCF_CONTACT_FREQUENCY * MJCF_CONTACT_FREQUENCY, MJCF_CONTACT_RESTITUTION,
			MJCF_CONTACT_IMPACT))
		return false;
	if (c->approximated && !import_note(m->im, CAL_IMPORT_CHANGED, c->first_approximated, NULL,
	                                    "%d cylinder%s and ellipsoids touch as capsules or spheres that fit",
	                                    c->approximated, c->approximated == 1 ? "" : "s"))
		return false;
	if (c->rolling && !import_note(m->im, CAL_IMPORT_CHANGED, c->first_rolling, NULL,
	                               "condim of %d geom%s is above 3: of friction there is the sliding one only, no "
	                               "torsional or rolling one",
	                               c->rolling, c->rolling == 1 ? "" : "s"))
		return false;
	return !c->left_out ||
	       import_note(m->im, CAL_IMPORT_CHANGED, c->first_left_out, NULL,
	                   "%d mesh%s and height fields touch nothing; add primitive geoms, or a contact device "
	                   "to the converted model",
	                   c->left_out, c->left_out == 1 ? "" : "es");
}

static bool build(Mjcf *m, Contacts *c) {
	const int devices = cal_setup_device_count(m->im->setup);
	for (int i = 0; i < m->file_count; i++)
		if (!read_exclusions(m, m->files[i], c))
			return false;
	if (!m->option.on.contact || !(m->total_mass > 0)) {
		for (int i = 0; i < m->file_count; i++)
			for (XmlElement *e = xml_child(m->files[i]->root, "contact"); e; e = xml_again(e))
				if (!import_ignore(m->im, e, "nothing touches: %s",
				                   m->option.on.contact ? "no body has mass" : "<option> switches contact off"))
					return false;
		return true;
	}
	if (!find_classes(m, c) || !add_devices(m, c))
		return false;
	for (int i = 0; i < m->file_count; i++)
		if (!read_pairs(m, m->files[i], c))
			return false;
	return note_contacts(m, c, devices);
}

bool mjcf_build_contact(Mjcf *m) {
	const size_t geoms = (size_t)m->lists[MJCF_GEOMS].count, bodies = (size_t)m->lists[MJCF_BODIES].count;
	Contacts c = {.class_of = xml_array(m->im->tree, geoms + 1, sizeof *c.class_of),
	              .weld = xml_array(m->im->tree, bodies, sizeof *c.weld)};
	if (!c.class_of || !c.weld)
		return import_no_memory(m->im);
	find_welds(m, &c);
	const bool good = build(m, &c);
	name_index_free(&m->im->allocator, &c.excluded);
	return good;
}
