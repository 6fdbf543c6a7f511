// SPDX-License-Identifier: Apache-2.0
/*
 * export_shape.c — visuals: colors, scales of meshes, and shapes that a format has not.
 */
#include "io/export/export.h"

void export_color(int color, double rgba[4]) {
	rgba[0] = (color >> 16 & 255) / 255.0;
	rgba[1] = (color >> 8 & 255) / 255.0;
	rgba[2] = (color & 255) / 255.0;
	rgba[3] = 1;
}

dvec3 export_mesh_scale(const CalVisual *v) {
	return v->size.y == 0 && v->size.z == 0 ? (dvec3){v->size.x, v->size.x, v->size.x} : dvec_in(v->size);
}

bool export_has_shape(Export *ex, CalBodyId body, const CalVisual *v) {
	const CalBodyDef *def = cal_desc_body(ex->desc, body);
	if (ex->format->shapes >> v->kind & 1)
		return true;
	export_note(ex, CAL_IMPORT_IGNORED, "body", def ? def->name : "ground", def ? def->place : NULL,
	            "%s has no shape %s; it is not drawn", ex->format->name, cal_visual_name(v->kind));
	return false;
}
