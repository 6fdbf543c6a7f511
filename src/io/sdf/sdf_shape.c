// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_shape.c — shapes of links: what they look like, and the volumes that mass follows from.
 */
#include <math.h>
#include <string.h>

#include "io/import/import_mesh.h"
#include "io/sdf/sdf_reader.h"

static bool child_length(Sdf *s, XmlElement *owner, const char *name, double *value) {
	XmlElement *e = xml_child(owner, name);
	if (e && !import_number(s->im, e, NULL, value, NULL))
		return false;
	return *value > 0 || import_fail(s->im, owner, "<%.40s> needs a <%s> above zero", owner->name, name);
}

static bool child_sizes(Sdf *s, XmlElement *owner, const char *name, CalVec3 *size) {
	XmlElement *e = xml_child(owner, name);
	if (e && !import_vec3(s->im, e, NULL, size, NULL))
		return false;
	return (size->x > 0 && size->y > 0 && size->z > 0) ||
	       import_fail(s->im, owner, "<%.40s> needs a <%s> of three lengths above zero", owner->name, name);
}

static bool read_round(Sdf *s, XmlElement *e, CalVisualKind kind, CalVisual *visual) {
	visual->kind = kind;
	visual->size = (CalVec3){1, 0, 1}; // of the format
	return child_length(s, e, "radius", &visual->size.x) && child_length(s, e, "length", &visual->size.z);
}

static bool read_plane(Sdf *s, XmlElement *e, CalVisual *visual) {
	double size[2] = {1, 1};
	CalVec3 normal = {0, 0, 1};
	XmlElement *sides = xml_child(e, "size"), *up = xml_child(e, "normal");
	if ((sides && !import_numbers(s->im, sides, NULL, size, 2, NULL)) ||
	    (up && !import_vec3(s->im, up, NULL, &normal, NULL)))
		return false;
	visual->kind = CAL_VISUAL_PLANE;
	visual->size = (CalVec3){size[0], size[1], 0};
	return normal.z > 0.999999 * sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z) ||
	       import_note(s->im, CAL_IMPORT_CHANGED, e, NULL, "a plane is drawn across z of its frame, not of its normal");
}

typedef struct MeshFile {
	XmlElement *uri;
	CalVec3 scale;
	char path[1024], tried[400]; // tried: where it was sought, if it was not found
	bool found;
} MeshFile;

static bool find_mesh(Sdf *s, XmlElement *e, MeshFile *mesh) {
	*mesh = (MeshFile){.uri = xml_child(e, "uri"), .scale = {1, 1, 1}};
	XmlElement *factor = xml_child(e, "scale");
	if (!mesh->uri || !xml_content(mesh->uri)[0])
		return import_fail(s->im, e, "<mesh> needs a <uri>");
	return (!factor || import_vec3(s->im, factor, NULL, &mesh->scale, NULL)) &&
	       import_locate(s->im, mesh->uri, mesh->uri->text, mesh->path, sizeof mesh->path, &mesh->found, mesh->tried,
	                     sizeof mesh->tried);
}

static bool read_mesh(Sdf *s, XmlElement *e, CalVisual *visual, bool *known) {
	MeshFile mesh;
	*known = false;
	if (!find_mesh(s, e, &mesh))
		return false;
	if (!mesh.found)
		return import_note(s->im, CAL_IMPORT_IGNORED, mesh.uri, NULL, "%.120s was not found; tried: %s", mesh.uri->text,
		                   mesh.tried);
	return import_visual_mesh(s->im, mesh.uri, mesh.path, mesh.scale, visual, known);
}

bool sdf_read_mesh_mass(Sdf *s, XmlElement *e, MassProperties *mass) {
	MeshFile mesh;
	XmlElement *part = xml_child(e, "submesh");
	if (part)
		return import_fail(s->im, part,
		                   "the mass of a part of a mesh is not known; give the link an <inertial> with "
		                   "numbers instead of auto");
	if (!find_mesh(s, e, &mesh))
		return false;
	if (!mesh.found)
		return import_fail(s->im, mesh.uri,
		                   "the mass is that of %.120s, which was not found; tried: %s. Name its folder "
		                   "with --root, or give the link an <inertial> with numbers instead of auto",
		                   mesh.uri->text, mesh.tried);
	const MeshMass options = {.scale = mesh.scale, .solid = CAL_MESH_EXACT};
	return mass_of_mesh(s->im, mesh.uri, mesh.path, &options, mass);
}

/* *mass, of density 1, stays zero where it is not known. */
bool sdf_read_shape(Sdf *s, XmlElement *owner, CalVisual *visual, bool *known, MassProperties *mass) {
	XmlElement *geometry = xml_child(owner, "geometry"), *e;
	*known = true;
	if ((e = xml_child(geometry, "ellipsoid"))) {
		CalVec3 radii = {1, 1, 1};
		*known = false;
		if (!child_sizes(s, e, "radii", &radii))
			return false;
		*mass = mass_of_ellipsoid(radii);
		return import_note(s->im, CAL_IMPORT_IGNORED, e, NULL, "ellipsoids are not drawn");
	}
	bool read = true;
	if ((e = xml_child(geometry, "box"))) {
		visual->kind = CAL_VISUAL_BOX;
		visual->size = (CalVec3){1, 1, 1};
		read = child_sizes(s, e, "size", &visual->size);
	} else if ((e = xml_child(geometry, "sphere"))) {
		visual->kind = CAL_VISUAL_SPHERE;
		visual->size.x = 1;
		read = child_length(s, e, "radius", &visual->size.x);
	} else if ((e = xml_child(geometry, "cylinder"))) {
		read = read_round(s, e, CAL_VISUAL_CYLINDER, visual);
	} else if ((e = xml_child(geometry, "capsule"))) {
		read = read_round(s, e, CAL_VISUAL_CAPSULE, visual);
	} else if ((e = xml_child(geometry, "cone"))) {
		read = read_round(s, e, CAL_VISUAL_CONE, visual);
	} else if ((e = xml_child(geometry, "plane"))) {
		read = read_plane(s, e, visual);
	} else if ((e = xml_child(geometry, "mesh"))) {
		return read_mesh(s, e, visual, known);
	} else {
		*known = false;
		return import_ignore(s->im, owner, "it has no shape that is known");
	}
	*mass = mass_of_shape(visual->kind, visual->size);
	return read;
}

/* ---- visuals ------------------------------------------------------------------------------------------ */

/* Children of a list of names, NULL after the last, are for pictures. owner may be NULL. */
static bool ignore_parts(Sdf *s, XmlElement *owner, const char *const *names) {
	for (; *names; names++)
		for (XmlElement *e = xml_child(owner, *names); e; e = xml_again(e))
			if (!import_ignore(s->im, e, "it is for pictures"))
				return false;
	return true;
}

static bool read_color(Sdf *s, XmlElement *visual, int *color) {
	static const char *const surface[] = {"specular", "emissive",     "shininess",    "script", "shader",
	                                      "lighting", "render_order", "double_sided", "pbr",    NULL};
	XmlElement *material = xml_child(visual, "material");
	XmlElement *diffuse = xml_child(material, "diffuse"), *ambient = xml_child(material, "ambient");
	XmlElement *e = diffuse ? diffuse : ambient;
	double rgba[4];
	int count = 0;
	if ((e && !import_list(s->im, e, NULL, rgba, 3, 4, &count)) ||
	    (diffuse && ambient && !import_ignore(s->im, ambient, "the color is that of <diffuse>")) ||
	    !ignore_parts(s, material, surface))
		return false;
	if (count == 0)
		return true;
	*color = 0;
	for (int i = 0; i < 3; i++)
		*color = *color << 8 | (int)lround(255 * fmin(fmax(rgba[i], 0), 1));
	return true;
}

static bool ignore_appearance(Sdf *s, XmlElement *visual) {
	static const char *const names[] = {"cast_shadows", "laser_retro", "transparency", "visibility_flags", "meta",
	                                    "plugin",       NULL};
	return ignore_parts(s, visual, names);
}

static bool read_visual(Sdf *s, const SdfFrame *f, XmlElement *e) {
	CalVisual visual = {.color = -1};
	MassProperties mass;
	bool known;
	xml_get(e, "name");
	if (!sdf_read_pose_on_link(s, f, e, &visual.placement) || !sdf_read_shape(s, e, &visual, &known, &mass) ||
	    !read_color(s, e, &visual.color) || !ignore_appearance(s, e))
		return false;
	if (!known)
		return true;
	return import_ok(s->im, cal_setup_add_visual(s->im->setup, s->links[f->link].body, &visual, s->im->error));
}

static bool ignore_collisions(Sdf *s, const SdfFrame *f) {
	for (XmlElement *e = xml_child(f->element, "collision"); e; e = xml_again(e))
		if (!import_collision(s->im, e, f->name))
			return false;
	return true;
}

bool sdf_read_visuals(Sdf *s) {
	for (int i = 0; i < s->link_count; i++) {
		const SdfFrame *f = &s->frames[s->links[i].frame];
		for (XmlElement *e = xml_child(f->element, "visual"); e; e = xml_again(e))
			if (!read_visual(s, f, e))
				return false;
		if (!ignore_collisions(s, f))
			return false;
	}
	return true;
}
