// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_visual.c — geoms as visuals: those of the groups 0 to 2, which MuJoCo shows, and of bodies without such all others.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { SHOWN_GROUPS = 3, PATH_MAX_LENGTH = 4096 };
static const double plane_size = 20; // of one without end [m]

static int color_part(double value) { return (int)lround(255 * fmin(fmax(value, 0), 1)); }

static bool color_of(Mjcf *m, const MjcfGeom *geom, int *color, bool *visible) {
	const double *rgba = geom->a.rgba;
	if (geom->a.material && !geom->a.rgba_given) {
		const int index = mjcf_find(m, MJCF_MATERIALS, geom->object.file, geom->a.material);
		if (index < 0)
			return import_fail(m->im, geom->object.element, "material=\"%.100s\": there is no such material",
			                   geom->a.material);
		rgba = mjcf_material(m, index)->rgba;
	}
	*color = color_part(rgba[0]) << 16 | color_part(rgba[1]) << 8 | color_part(rgba[2]);
	*visible = rgba[3] > 0;
	return true;
}

/* The visual of a geom; false: nothing that can be shown. */
static bool shape_of(const MjcfGeomAttributes *a, CalVisual *visual) {
	visual->size = (CalVec3){a->size[0], 0, 2 * a->size[1]};
	switch (a->type) {
	case MJCF_PLANE:
		visual->kind = CAL_VISUAL_PLANE;
		visual->size =
			(CalVec3){a->size[0] > 0 ? 2 * a->size[0] : plane_size, a->size[1] > 0 ? 2 * a->size[1] : plane_size, 0};
		return true;
	case MJCF_SPHERE:
		visual->kind = CAL_VISUAL_SPHERE;
		return true;
	case MJCF_CAPSULE:
		visual->kind = CAL_VISUAL_CAPSULE;
		return true;
	case MJCF_CYLINDER:
		visual->kind = CAL_VISUAL_CYLINDER;
		return true;
	case MJCF_BOX:
		visual->kind = CAL_VISUAL_BOX;
		visual->size = (CalVec3){2 * a->size[0], 2 * a->size[1], 2 * a->size[2]};
		return true;
	case MJCF_ELLIPSOID: // by its mean radius
		visual->kind = CAL_VISUAL_SPHERE;
		visual->size.x = portable_pow(a->size[0] * a->size[1] * a->size[2], 1.0 / 3.0);
		return true;
	default:
		return false;
	}
}

/* ---- meshes -------------------------------------------------------------------------------------------- */

static bool is_turned(CalQuat q) { return q.x != 0 || q.y != 0 || q.z != 0; }
static bool is_uniform(CalVec3 scale) { return scale.x == scale.y && scale.x == scale.z; }

/*
 * Where the scaled coordinates of the file are in the geom: MuJoCo moves by -refpos, turns by refquat backwards, then scales.
 * A turn before three different factors is no placement.
 */
static CalPlacement pose_of_file(const MjcfMeshAttributes *a) {
	CalPlacement back = placement_inverse((CalPlacement){a->refpos, a->refquat});
	back.position = (CalVec3){a->scale.x * back.position.x, a->scale.y * back.position.y, a->scale.z * back.position.z};
	return back;
}

/* *drawn false: it cannot be, which is reported. */
static bool mesh_shape(Mjcf *m, const MjcfGeom *geom, CalVisual *visual, bool *drawn) {
	char path[PATH_MAX_LENGTH];
	bool found;
	const int index = geom->a.mesh ? mjcf_find(m, MJCF_MESHES, geom->object.file, geom->a.mesh) : -1;
	*drawn = false;
	if (index < 0)
		return import_fail(m->im, geom->object.element, "mesh=\"%.100s\": there is no such mesh in <asset>",
		                   geom->a.mesh ? geom->a.mesh : "");
	const MjcfMesh *mesh = mjcf_mesh(m, index);
	XmlElement *e = mesh->object.element;
	if (!mesh->a.file)
		return import_note(m->im, CAL_IMPORT_IGNORED, e, NULL, "a mesh without a file is not drawn");
	if (!mjcf_locate_mesh(m, mesh, path, sizeof path, &found))
		return false;
	if (!found)
		return import_note(m->im, CAL_IMPORT_IGNORED, e, "file", "%.120s: there is no such file; it is not drawn",
		                   mesh->a.file);
	if (is_turned(mesh->a.refquat) && !is_uniform(mesh->a.scale))
		return import_note(m->im, CAL_IMPORT_IGNORED, e, "scale",
		                   "a mesh that refquat turns is drawn with one scale for all axes only; it is not drawn");
	visual->placement = placement_mul(geom->pose, pose_of_file(&mesh->a));
	return import_visual_mesh(m->im, e, path, mesh->a.scale, visual, drawn);
}

static bool add_visual(Mjcf *m, const MjcfGeom *geom) {
	CalVisual visual = {.placement = geom->pose};
	bool visible = false, drawn;
	if (!color_of(m, geom, &visual.color, &visible))
		return false;
	if (!visible)
		return true;
	if (geom->a.type != MJCF_MESH)
		drawn = shape_of(&geom->a, &visual);
	else if (!mesh_shape(m, geom, &visual, &drawn))
		return false;
	return !drawn ||
	       import_ok(m->im, cal_setup_add_visual(m->im->setup, mjcf_body(m, geom->body)->id, &visual, m->im->error));
}

bool mjcf_build_visuals(Mjcf *m) {
	bool *shown = xml_array(m->im->tree, (size_t)m->lists[MJCF_BODIES].count, sizeof *shown);
	if (!shown)
		return import_no_memory(m->im);
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++)
		if (mjcf_geom(m, i)->a.group < SHOWN_GROUPS)
			shown[mjcf_geom(m, i)->body] = true;
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++) {
		const MjcfGeom *geom = mjcf_geom(m, i);
		if ((geom->a.group < SHOWN_GROUPS || !shown[geom->body]) && !add_visual(m, geom))
			return false;
	}
	return true;
}
