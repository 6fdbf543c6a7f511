// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_expand.c — <include> and <replicate>, written out in the tree.
 *
 * An include stands for the children of another file's root, wherever it is; a file can be included once, so that there are
 * no cycles. A replica is a copy of what is inside <replicate> within a <frame>, with a number after every name, and with it
 * copies of the elements elsewhere that refer to a name inside. The number of elements is bounded (XML_MAX_ELEMENTS).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

/* ---- includes --------------------------------------------------------------------------------------------- */

enum { MAX_INCLUDES = 1000, PATH_MAX_LENGTH = 4096, MAX_REPLICA_WORK = 1 << 24 };

typedef struct Includes {
	const char *paths[MAX_INCLUDES];
	int count;
} Includes;

static bool locate_include(Mjcf *m, XmlElement *e, const char *file, char *path) {
	char tried[600] = "";
	bool found = false;
	// beside the main file, then beside the file that includes
	if (!import_locate(m->im, xml_root(m->im->tree), file, path, PATH_MAX_LENGTH, &found, NULL, 0) ||
	    (!found && !import_locate(m->im, e, file, path, PATH_MAX_LENGTH, &found, tried, sizeof tried)))
		return false;
	return found || import_fail(m->im, e, "<include file=\"%.200s\">: there is no such file%s%.200s", file,
	                            tried[0] ? "; tried " : "", tried);
}

static bool is_repeated(const Includes *done, const char *path) {
	for (int i = 0; i < done->count; i++)
		if (strcmp(done->paths[i], path) == 0)
			return true;
	return false;
}

/* Of the two elements nothing is left but what is inside the root. */
static bool check_included(Mjcf *m, const XmlElement *include, XmlElement *root) {
	if (!xml_is(root, "mujoco") && !xml_is(root, "mujocoinclude"))
		return import_fail(m->im, include,
		                   "<include file=\"%.200s\">: its root is <%.40s>, not <mujoco> or <mujocoinclude>",
		                   xml_peek(include, "file"), root->name);
	return (!xml_get(root, "model") ||
	        import_note(m->im, CAL_IMPORT_IGNORED, root, "model", "the title is that of the main file")) &&
	       import_report_parts(m->im, root) && import_report_parts(m->im, include);
}

static bool include_file(Mjcf *m, XmlElement *e, Includes *done) {
	char path[PATH_MAX_LENGTH];
	const char *file = import_required(m->im, e, "file");
	XmlTree *other;
	if (!file || !locate_include(m, e, file, path))
		return false;
	if (is_repeated(done, path) || strcmp(path, m->im->path) == 0)
		return import_fail(m->im, e, "<include file=\"%.200s\">: a file can be included once", file);
	if (done->count == MAX_INCLUDES)
		return import_fail(m->im, e, "more than %d included files", MAX_INCLUDES);
	if (!(done->paths[done->count++] = xml_text(m->im->tree, path)))
		return import_no_memory(m->im);
	if (!import_read(m->im, e, path, &other))
		return false;
	if (!check_included(m, e, xml_root(other))) {
		xml_destroy(other);
		return false;
	}
	if (xml_replace(m->im->tree, e, other) != CAL_OK) {
		xml_destroy(other);
		return import_fail(m->im, e, "the file with all that it includes has more than %d elements", XML_MAX_ELEMENTS);
	}
	return import_ok(m->im, cal_setup_add_source(m->im->setup, path, m->im->error));
}

/* depth: of the children; an included file may be as deep again. */
static bool include_below(Mjcf *m, XmlElement *element, Includes *done, int depth) {
	XmlElement *before = NULL;
	for (XmlElement *e = element->first; e;) {
		if (!xml_is(e, "include")) {
			if (!include_below(m, e, done, depth + 1))
				return false;
			before = e;
			e = e->next;
			continue;
		}
		if (depth > XML_MAX_DEPTH)
			return import_fail(m->im, e, "included files are nested deeper than %d levels", XML_MAX_DEPTH);
		if (!include_file(m, e, done))
			return false;
		e = before ? before->next : element->first;
	}
	return true;
}

bool mjcf_include(Mjcf *m, XmlElement *root) {
	if (!xml_may_hold(m->im->tree, "include"))
		return true;
	Includes *done = xml_array(m->im->tree, 1, sizeof *done);
	if (!done)
		return import_no_memory(m->im);
	return include_below(m, root, done, 1);
}

/* ---- replicas: names ------------------------------------------------------------------------------------- */

/* Names inside a <replicate>, by the kind of the element that has them. */
typedef struct NameSet {
	NameIndex index;
	const char **names;
	int count, capacity;
} NameSet;

static const struct {
	const char *attribute, *kind;
} references[] = {
	{"joint", "joint"},       {"joint1", "joint"},  {"joint2", "joint"},   {"jointinparent", "joint"},
	{"body", "body"},         {"body1", "body"},    {"body2", "body"},     {"site", "site"},
	{"site1", "site"},        {"site2", "site"},    {"cranksite", "site"}, {"slidersite", "site"},
	{"refsite", "site"},      {"sidesite", "site"}, {"geom", "geom"},      {"geom1", "geom"},
	{"geom2", "geom"},        {"tendon", "tendon"}, {"tendon1", "tendon"}, {"tendon2", "tendon"},
	{"actuator", "actuator"},
};

static const char *kind_of(const XmlElement *e) {
	static const char *const kinds[] = {"joint", "body", "site", "geom"};
	if (xml_is(e, "freejoint"))
		return "joint";
	if (e->parent && (xml_is(e->parent, "tendon") || xml_is(e->parent, "actuator")))
		return e->parent->name;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (xml_is(e, kinds[i]))
			return kinds[i];
	return NULL;
}

bool mjcf_references_resolve(const Mjcf *m, const MjcfFile *file, const XmlElement *element) {
	static const struct {
		const char *name;
		MjcfKind kind;
	} kinds[] = {{"joint", MJCF_JOINTS}, {"body", MJCF_BODIES},    {"site", MJCF_SITES},
	             {"geom", MJCF_GEOMS},   {"tendon", MJCF_TENDONS}, {"actuator", MJCF_ACTUATORS}};
	for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
		const char *name = xml_peek(element, references[i].attribute);
		for (size_t k = 0; name && k < sizeof kinds / sizeof *kinds; k++)
			if (strcmp(kinds[k].name, references[i].kind) == 0 && mjcf_find(m, kinds[k].kind, file, name) < 0 &&
			    !(kinds[k].kind == MJCF_BODIES && strcmp(name, "world") == 0))
				return false;
	}
	for (const XmlElement *child = element->first; child; child = child->next)
		if (!mjcf_references_resolve(m, file, child))
			return false;
	return true;
}

static uint32_t hash_in_kind(const char *kind, const char *name) {
	return name_hash((uint32_t)(unsigned char)kind[0] << 8 | (unsigned char)kind[1], name, strlen(name));
}

static bool set_has(const NameSet *set, const char *kind, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&set->index, hash_in_kind(kind, name), &cursor)) != 0)
		if (strcmp(set->names[value - 1], name) == 0)
			return true;
	return false;
}

static bool add_name(Mjcf *m, NameSet *set, const XmlElement *e) {
	const char *kind = kind_of(e), *name = xml_peek(e, "name");
	void *names = set->names;
	if (!kind || !name || set_has(set, kind, name))
		return true;
	if (!mjcf_grow(m, &names, set->count, &set->capacity, sizeof *set->names))
		return false;
	set->names = names;
	if (!name_index_reserve(&m->im->allocator, &set->index))
		return import_no_memory(m->im);
	set->names[set->count++] = name;
	name_index_insert(&set->index, hash_in_kind(kind, name), (uint32_t)set->count);
	return true;
}

static bool collect_names(Mjcf *m, NameSet *set, const XmlElement *element) {
	for (const XmlElement *e = element->first; e; e = e->next)
		if (!add_name(m, set, e) || !collect_names(m, set, e))
			return false;
	return true;
}

static bool append_suffix(Mjcf *m, XmlElement *e, const char *attribute, const char *suffix) {
	const char *text = xml_peek(e, attribute);
	if (!text)
		return true;
	const char *longer = mjcf_format(m, "%s%s", text, suffix);
	return longer && (xml_set(m->im->tree, e, attribute, longer) || import_no_memory(m->im));
}

/* Every name inside. */
static bool rename_inside(Mjcf *m, XmlElement *element, const char *suffix) {
	for (XmlElement *e = element->first; e; e = e->next)
		if (!append_suffix(m, e, "name", suffix) || !rename_inside(m, e, suffix))
			return false;
	return true;
}

/* ---- replicas: elements elsewhere that refer to a name inside ------------------------------------------------ */

static bool refers(const NameSet *set, const XmlElement *e) {
	for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
		const char *name = xml_peek(e, references[i].attribute);
		if (name && set_has(set, references[i].kind, name))
			return true;
	}
	for (const XmlElement *child = e->first; child; child = child->next)
		if (refers(set, child))
			return true;
	return false;
}

static bool rename_references(Mjcf *m, const NameSet *set, XmlElement *e, const char *suffix) {
	for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
		const char *name = xml_peek(e, references[i].attribute);
		if (name && set_has(set, references[i].kind, name) && !append_suffix(m, e, references[i].attribute, suffix))
			return false;
	}
	for (XmlElement *child = e->first; child; child = child->next)
		if (!rename_references(m, set, child, suffix))
			return false;
	return true;
}

static bool too_many(Mjcf *m, const XmlElement *e) {
	return import_fail(m->im, e, "the file with all its replicas has more than %d elements", XML_MAX_ELEMENTS);
}

/* Why xml_copy() gave nothing. */
static bool copy_failed(Mjcf *m, const XmlElement *e) {
	return xml_is_full(m->im->tree) ? too_many(m, e) : import_no_memory(m->im);
}

static bool copy_reference(Mjcf *m, const NameSet *set, XmlElement *e, const char *const *suffixes, int count) {
	XmlElement *after = e;
	for (int i = 0; i < count; i++) {
		XmlElement *copy = xml_copy(m->im->tree, e);
		if (!copy)
			return copy_failed(m, e);
		if (!append_suffix(m, copy, "name", suffixes[i]) || !rename_references(m, set, copy, suffixes[i]))
			return false;
		xml_insert(e->parent, after, copy);
		after = copy;
	}
	xml_remove(e);
	return true;
}

static bool copy_references(Mjcf *m, MjcfFile *file, NameSet *set, const char *const *suffixes, int count) {
	static const char *const sections[] = {"tendon", "actuator", "equality", "contact", "sensor"};
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		for (XmlElement *section = file->root->first; section; section = section->next) {
			XmlElement *next;
			for (XmlElement *e = xml_is(section, sections[i]) ? section->first : NULL; e; e = next) {
				next = e->next;
				if (m->replica_work++ > MAX_REPLICA_WORK)
					return too_many(m, e);
				if (refers(set, e) && (!add_name(m, set, e) || !copy_reference(m, set, e, suffixes, count)))
					return false;
			}
		}
	return true;
}

/* ---- replicas: copies -------------------------------------------------------------------------------------- */

typedef struct Replicas {
	int count;
	CalVec3 offset;
	double euler[3];
	const char **suffixes; // [count]
} Replicas;

/* The element itself is gone once it is written out. */
static bool note_replicate(Mjcf *m, XmlElement *e, int count) {
	if (count == 0)
		return import_ignore(m->im, e, "its count is 0");
	xml_get(e, "childclass");
	return import_report_parts(m->im, e);
}

static bool read_replicas(Mjcf *m, XmlElement *e, Replicas *r) {
	const char *separator = xml_get(e, "sep");
	char number[16];
	bool given;
	if (!import_integer(m->im, e, "count", &r->count, &given) || !import_vec3(m->im, e, "offset", &r->offset, NULL) ||
	    !import_numbers(m->im, e, "euler", r->euler, 3, NULL))
		return false;
	if (!given || r->count < 0 || r->count > XML_MAX_ELEMENTS)
		return import_fail(m->im, e, "<replicate> needs a count from 0 to %d", XML_MAX_ELEMENTS);
	if (!note_replicate(m, e, r->count))
		return false;
	const int digits = snprintf(number, sizeof number, "%d", r->count);
	if (!(r->suffixes = xml_array(m->im->tree, (size_t)r->count + 1, sizeof *r->suffixes)))
		return import_no_memory(m->im);
	for (int i = 0; i < r->count; i++)
		if (!(r->suffixes[i] = mjcf_format(m, "%s%0*d", separator ? separator : "", digits, i)))
			return false;
	return true;
}

static bool set_pose(Mjcf *m, XmlElement *frame, dvec3 r, CalQuat q) {
	const char *pos = mjcf_format(m, "%.17g %.17g %.17g", r.x, r.y, r.z);
	const char *quat = mjcf_format(m, "%.17g %.17g %.17g %.17g", q.w, q.x, q.y, q.z);
	return pos && quat &&
	       ((xml_set(m->im->tree, frame, "pos", pos) && xml_set(m->im->tree, frame, "quat", quat)) ||
	        import_no_memory(m->im));
}

/* Copy `i` as a <frame>; the attributes of <replicate> but childclass are not those of a frame. */
static XmlElement *copy_as_frame(Mjcf *m, XmlElement *e, const Replicas *r, int i) {
	const char *class = xml_peek(e, "childclass");
	XmlElement *frame = xml_copy(m->im->tree, e);
	if (!frame) {
		copy_failed(m, e);
		return NULL;
	}
	frame->name = "frame";
	frame->attribute_count = 0;
	if (class && !xml_set(m->im->tree, frame, "childclass", class))
		return import_no_memory(m->im), NULL;
	return rename_inside(m, frame, r->suffixes[i]) ? frame : NULL;
}

static bool write_copies(Mjcf *m, MjcfFile *file, XmlElement *e, const Replicas *r) {
	dvec3 at = {0, 0, 0};
	XmlElement *last = e;
	for (int i = 0; i < r->count; i++) {
		const MjcfOrientation turn = {MJCF_EULER, {i * r->euler[0], i * r->euler[1], i * r->euler[2]}};
		const CalQuat q = mjcf_quaternion(&file->compiler, &turn);
		XmlElement *frame = copy_as_frame(m, e, r, i);
		if (!frame || !set_pose(m, frame, at, q))
			return false;
		at = dadd(at, dmat_mul_vec(dquat_matrix(q), dvec_in(r->offset)));
		xml_insert(e->parent, last, frame);
		last = frame;
	}
	return true;
}

static bool replicate_element(Mjcf *m, MjcfFile *file, XmlElement *e) {
	Replicas r = {0};
	NameSet set = {0};
	const bool good = read_replicas(m, e, &r) && collect_names(m, &set, e) && write_copies(m, file, e, &r) &&
	                  (!set.count || copy_references(m, file, &set, r.suffixes, r.count));
	name_index_free(&m->im->allocator, &set.index);
	if (!good)
		return false;
	xml_remove(e);
	return true;
}

/* Innermost first: names get the number of the inner replica before that of the outer one. */
static bool replicate_below(Mjcf *m, MjcfFile *file, XmlElement *element) {
	XmlElement *next;
	for (XmlElement *e = element->first; e; e = next) {
		if (!replicate_below(m, file, e))
			return false;
		next = e->next;
		if (xml_is(e, "replicate") && !replicate_element(m, file, e))
			return false;
	}
	return true;
}

bool mjcf_replicate(Mjcf *m, MjcfFile *file) {
	if (!xml_may_hold(m->im->tree, "replicate"))
		return true;
	for (XmlElement *e = file->root->first; e; e = e->next)
		if (xml_is(e, "worldbody") && !replicate_below(m, file, e))
			return false;
	return true;
}
