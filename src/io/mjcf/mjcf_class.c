// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_class.c — default classes.
 *
 * A class starts as a copy of the one around it. Classes of a file are a list whose first is the top one, whatever its name;
 * several top-level <default> elements are one. An element has the class that it names, and nothing of the childclass around
 * it then; otherwise the nearest childclass; otherwise the top class.
 */
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { MAX_CLASSES = 4096 };

static int find_class(const MjcfFile *file, const char *name) {
	for (int i = file->class_count - 1; i >= 0; i--)
		if (file->classes[i].name && strcmp(file->classes[i].name, name) == 0)
			return i;
	return -1;
}

static bool apply_material(Mjcf *m, MjcfDefaults *d, XmlElement *e) {
	return import_numbers(m->im, e, "rgba", d->rgba, 4, NULL);
}

static bool apply_equality(Mjcf *m, MjcfDefaults *d, XmlElement *e) {
	return import_bool(m->im, e, "active", &d->equality_active, NULL);
}

static bool apply_default(Mjcf *m, MjcfDefaults *d, XmlElement *e) {
	e->used = true;
	if (xml_is(e, "joint"))
		return mjcf_apply_joint(m, &d->joint, e);
	if (xml_is(e, "geom"))
		return mjcf_apply_geom(m, &d->geom, &d->geom_place, e);
	if (xml_is(e, "site"))
		return mjcf_apply_place(m, &d->site, e);
	if (xml_is(e, "mesh"))
		return mjcf_apply_mesh(m, &d->mesh, e);
	if (xml_is(e, "tendon"))
		return mjcf_apply_tendon(m, &d->tendon, e);
	if (xml_is(e, "material"))
		return apply_material(m, d, e);
	if (xml_is(e, "equality"))
		return apply_equality(m, d, e);
	if (mjcf_is_actuator(e))
		return mjcf_apply_actuator(m, &d->actuator, e) &&
		       (!mjcf_is_unsupported_actuator(e) ||
		        import_ignore(m->im, e, "Calder has no actuator of this kind; those that it is for are named"));
	e->used = false; // what is left is reported with the rest
	return !xml_is(e, "pair") || import_ignore(m->im, e, "pairs of geoms have no defaults here");
}

/* Class `index` from its element, and those inside. */
static bool read_class(Mjcf *m, MjcfFile *file, XmlElement *element, int index);

static bool add_class(Mjcf *m, MjcfFile *file, XmlElement *element, int parent) {
	const char *name = import_required(m->im, element, "class");
	void *classes = file->classes;
	if (!name)
		return false;
	if (find_class(file, name) >= 0)
		return import_fail(m->im, element, "default class \"%.100s\" is there already", name);
	if (file->class_count == MAX_CLASSES)
		return import_fail(m->im, element, "more than %d default classes", MAX_CLASSES);
	if (!mjcf_grow(m, &classes, file->class_count, &file->class_capacity, sizeof *file->classes))
		return false;
	file->classes = classes;
	file->classes[file->class_count] = (MjcfClass){name, file->classes[parent].defaults};
	return read_class(m, file, element, file->class_count++);
}

static bool read_class(Mjcf *m, MjcfFile *file, XmlElement *element, int index) {
	for (XmlElement *e = element->first; e; e = e->next)
		if (!xml_is(e, "default") && !apply_default(m, &file->classes[index].defaults, e))
			return false;
	for (XmlElement *e = xml_child(element, "default"); e; e = xml_again(e))
		if (!add_class(m, file, e, index))
			return false;
	return true;
}

bool mjcf_read_classes(Mjcf *m, MjcfFile *file) {
	void *classes = NULL;
	if (!mjcf_grow(m, &classes, 0, &file->class_capacity, sizeof *file->classes))
		return false;
	file->classes = classes;
	file->class_count = 1;
	file->classes[0] = (MjcfClass){"main", mjcf_defaults()};
	for (XmlElement *e = xml_child(file->root, "default"); e; e = xml_again(e)) {
		const char *name = xml_get(e, "class");
		if (name)
			file->classes[0].name = name;
		if (!read_class(m, file, e, 0))
			return false;
	}
	return true;
}

static bool unknown_class(Mjcf *m, const MjcfFile *file, const XmlElement *element, const char *attribute,
                          const char *name) {
	const char *names[64];
	int count = 0;
	for (int i = 0; i < file->class_count && count < 64; i++)
		if (file->classes[i].name)
			names[count++] = file->classes[i].name;
	const char *like = cal_name_nearest(name, names, count);
	return import_fail(m->im, element, "%s=\"%.100s\": there is no such default class%s%.100s%s", attribute, name,
	                   like ? "; did you mean \"" : "", like ? like : "", like ? "\"?" : "");
}

const MjcfClass *mjcf_class_of(Mjcf *m, MjcfFile *file, XmlElement *element, int around) {
	const char *name = xml_get(element, "class");
	const int index = name ? find_class(file, name) : around;
	if (index >= 0)
		return &file->classes[index];
	unknown_class(m, file, element, "class", name);
	return NULL;
}

bool mjcf_childclass(Mjcf *m, MjcfFile *file, XmlElement *element, int around, int *inside) {
	const char *name = xml_get(element, "childclass");
	*inside = name ? find_class(file, name) : around;
	return *inside >= 0 || unknown_class(m, file, element, "childclass", name);
}
