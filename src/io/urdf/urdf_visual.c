// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_visual.c — what links look like: shapes, materials, meshes. Collision shapes are named in the report.
 *
 * A material of a visual that has only a name means that of the robot. Meshes are identified by path and scale.
 */
#include <math.h>
#include <string.h>

#include "io/urdf/urdf_reader.h"

/* ---- materials ------------------------------------------------------------------------------------------ */

static XmlElement *find_material(const Urdf *u, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&u->material_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(xml_peek(u->materials[value - 1], "name"), name) == 0)
			return u->materials[value - 1];
	return NULL;
}

static bool list_materials(Urdf *u) {
	int count = 0;
	for (XmlElement *e = xml_child(u->robot, "material"); e; e = xml_again(e))
		count++;
	u->materials = xml_array(u->im->tree, (size_t)count + 1, sizeof(XmlElement *));
	if (!u->materials)
		return import_no_memory(u->im);
	for (XmlElement *e = xml_child(u->robot, "material"); e; e = xml_again(e)) {
		const char *name = xml_get(e, "name");
		if (!name || !name[0] || find_material(u, name)) {
			if (!import_ignore(u->im, e,
			                   name && name[0] ? "there is a material of this name already"
			                                   : "a material of the robot without a name: nothing can refer to it"))
				return false;
			continue;
		}
		if (!name_index_reserve(&u->im->allocator, &u->material_names))
			return import_no_memory(u->im);
		u->materials[u->material_count++] = e;
		name_index_insert(&u->material_names, name_hash(0, name, strlen(name)), (uint32_t)u->material_count);
	}
	return true;
}

/* 0xrrggbb of <color> in a material; -1: it has none. */
static bool read_color(Urdf *u, XmlElement *material, int *color) {
	XmlElement *e = xml_child(material, "color"), *texture = xml_child(material, "texture");
	double rgba[4] = {0, 0, 0, 1};
	int count = 0;
	if (texture && !texture->text_used && !import_ignore(u->im, texture, "textures are not drawn"))
		return false;
	if (!e || !import_list(u->im, e, "rgba", rgba, 3, 4, &count) || count == 0)
		return u->im->status == CAL_OK;
	*color = 0;
	for (int i = 0; i < 3; i++)
		*color = *color << 8 | (int)lround(255 * fmin(fmax(rgba[i], 0), 1));
	return true;
}

static bool read_material(Urdf *u, XmlElement *visual, int *color) {
	XmlElement *e = xml_child(visual, "material");
	if (!e)
		return true;
	const char *name = xml_get(e, "name");
	if (!read_color(u, e, color))
		return false;
	XmlElement *shared = *color < 0 && name ? find_material(u, name) : NULL;
	if (shared)
		return read_color(u, shared, color);
	return *color >= 0 || !name || !name[0] || e->first ||
	       import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL,
	                   "there is no material \"%.80s\" in the robot; taken: a color of the viewer", name);
}

/* ---- shapes ------------------------------------------------------------------------------------------------ */

/* Published files have shapes without size, which do not act on the motion: *drawn false, and a line of the report. */
static bool check_size(Urdf *u, const XmlElement *e, const char *attribute, double least, bool *drawn) {
	if (least > 0)
		return true;
	if (least < 0)
		return import_fail(u->im, e, "<%.40s>: %s is below zero", e->name, attribute);
	*drawn = false;
	return import_note(u->im, CAL_IMPORT_IGNORED, e, attribute, "the shape has no size; it is not drawn");
}

static bool read_length(Urdf *u, XmlElement *e, const char *attribute, double *value, bool *drawn) {
	bool given = false;
	if (!import_number(u->im, e, attribute, value, &given))
		return false;
	return given ? check_size(u, e, attribute, *value, drawn)
	             : import_fail(u->im, e, "<%.40s> needs a %s above zero", e->name, attribute);
}

static bool read_mesh(Urdf *u, XmlElement *e, CalVisual *visual, bool *drawn) {
	char path[1024], tried[400];
	CalVec3 scale = {1, 1, 1};
	bool found = false;
	const char *uri = import_required(u->im, e, "filename");
	*drawn = false;
	if (!uri || !import_vec3(u->im, e, "scale", &scale, NULL))
		return false;
	if (!import_locate(u->im, e, uri, path, sizeof path, &found, tried, sizeof tried))
		return false;
	if (!found)
		return import_note(u->im, CAL_IMPORT_IGNORED, e, "filename", "%.120s was not found; tried: %s", uri, tried);
	return import_visual_mesh(u->im, e, path, scale, visual, drawn);
}

/* *drawn false: it cannot be, and that is in the report. */
static bool read_geometry(Urdf *u, XmlElement *owner, CalVisual *visual, bool *drawn) {
	XmlElement *geometry = xml_child(owner, "geometry"), *e;
	*drawn = true;
	if ((e = xml_child(geometry, "box"))) {
		visual->kind = CAL_VISUAL_BOX;
		bool given = false;
		if (!import_vec3(u->im, e, "size", &visual->size, &given))
			return false;
		return given ? check_size(u, e, "size", fmin(visual->size.x, fmin(visual->size.y, visual->size.z)), drawn)
		             : import_fail(u->im, e, "<box> needs size=\"x y z\", all above zero");
	}
	if ((e = xml_child(geometry, "sphere"))) {
		visual->kind = CAL_VISUAL_SPHERE;
		return read_length(u, e, "radius", &visual->size.x, drawn);
	}
	if ((e = xml_child(geometry, "cylinder")) || (e = xml_child(geometry, "capsule"))) {
		visual->kind = xml_is(e, "capsule") ? CAL_VISUAL_CAPSULE : CAL_VISUAL_CYLINDER;
		return read_length(u, e, "radius", &visual->size.x, drawn) &&
		       read_length(u, e, "length", &visual->size.z, drawn);
	}
	if ((e = xml_child(geometry, "mesh")))
		return read_mesh(u, e, visual, drawn);
	*drawn = false;
	return import_ignore(u->im, owner, "it has no shape that is known: box, sphere, cylinder, capsule or mesh");
}

static bool read_visual(Urdf *u, const UrdfLink *link, XmlElement *e) {
	CalVisual visual = {.color = -1};
	bool drawn = false;
	xml_get(e, "name");
	if (!urdf_read_origin(u, e, &visual.placement) || !read_geometry(u, e, &visual, &drawn) ||
	    !read_material(u, e, &visual.color))
		return false;
	return !drawn || import_ok(u->im, cal_setup_add_visual(u->im->setup, link->body, &visual, u->im->error));
}

static bool ignore_collisions(Urdf *u, const UrdfLink *link) {
	for (XmlElement *e = xml_child(link->element, "collision"); e; e = xml_again(e))
		if (!import_collision(u->im, e, link->name))
			return false;
	return true;
}

/* Those that a visual took a color or a texture from have a child that was looked at. */
static bool ignore_unused_materials(Urdf *u) {
	for (int i = 0; i < u->material_count; i++) {
		const XmlElement *part = u->materials[i]->first;
		while (part && !part->used)
			part = part->next;
		if (!part && !import_ignore(u->im, u->materials[i], "no visual takes its color from it"))
			return false;
	}
	return true;
}

bool urdf_read_visuals(Urdf *u) {
	if (!list_materials(u))
		return false;
	for (int i = 0; i < u->link_count; i++) {
		const UrdfLink *link = &u->links[i];
		for (XmlElement *e = xml_child(link->element, "visual"); e; e = xml_again(e))
			if (!read_visual(u, link, e))
				return false;
		if (!ignore_collisions(u, link))
			return false;
	}
	return ignore_unused_materials(u);
}
