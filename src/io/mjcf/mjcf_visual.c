// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_visual.c — geoms as visuals: those of the groups 0 to 2, which MuJoCo shows, and of bodies without such all others.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { SHOWN_GROUPS = 3 };
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

/* What a geom looks like; false: nothing that can be shown. */
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
		visual->size.x = cbrt(a->size[0] * a->size[1] * a->size[2]);
		return true;
	default:
		return false;
	}
}

static bool add_visual(Mjcf *m, const MjcfGeom *geom) {
	CalVisual visual = {.placement = mjcf_placement(geom->pose)};
	bool visible = false;
	if (!color_of(m, geom, &visual.color, &visible))
		return false;
	if (!visible || !shape_of(&geom->a, &visual))
		return true;
	return import_ok(m->im, cal_setup_add_visual(m->im->setup, mjcf_body(m, geom->body)->id, &visual, m->im->error));
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
