// SPDX-License-Identifier: Apache-2.0
/*
 * export_contact.c — shapes of contact devices as collision shapes of links, for formats that have such: URDF, SDFormat.
 *
 * They say where links touch, not how hard: a contact device is missing in these formats, and a partial file has its shapes
 * for the programs that read them. Calder's readers do not.
 */
#include <string.h>

#include "io/export/export.h"

/* The shape with its margin, as that of a visual; false: a format has none like it. */
static bool shape_of(const CalShapeDef *s, CalVisual *v) {
	const double r = s->radius + s->margin, m = 2 * s->margin;
	switch (s->type) {
	case CAL_SHAPE_SPHERE:
		*v = (CalVisual){.kind = CAL_VISUAL_SPHERE, .size = {r, 0, 0}, .color = -1};
		return true;
	case CAL_SHAPE_CAPSULE:
		*v = (CalVisual){
			.kind = s->length > 0 ? CAL_VISUAL_CAPSULE : CAL_VISUAL_SPHERE, .size = {r, 0, s->length}, .color = -1};
		return true;
	case CAL_SHAPE_BOX:
		*v = (CalVisual){
			.kind = CAL_VISUAL_BOX, .size = {2 * s->half.x + m, 2 * s->half.y + m, 2 * s->half.z + m}, .color = -1};
		return true;
	case CAL_SHAPE_PLANE:
		*v = (CalVisual){.kind = CAL_VISUAL_PLANE, .size = {100, 100, 0}, .color = -1};
		return true;
	default:
		return false;
	}
}

/* Devices may share shapes, as those that the reader of MJCF makes. */
static bool is_listed(const Export *ex, int link, const char *name) {
	for (int i = ex->first_collision[link + 1]; i >= 0; i = ex->collisions[i].next)
		if (strcmp(ex->collisions[i].name, name) == 0)
			return true;
	return false;
}

static void add_shape(Export *ex, const CalContactDef *def, int index) {
	const CalShapeDef *s = &def->shapes[index];
	ExportCollision *c = &ex->collisions[ex->collision_count];
	int link;
	const dpose X_LN = export_node_pose(ex, def->nodes[index], &link);
	const bool held = link != EXPORT_GROUND || ex->format->ground_is_link;
	if (!held || !shape_of(s, &c->shape) || !(ex->format->shapes >> c->shape.kind & 1)) {
		export_note(ex, CAL_IMPORT_IGNORED, "shape", s->name, s->place, "%s has no such collision shape %s",
		            ex->format->name, held ? "" : "of the ground");
		return;
	}
	if (is_listed(ex, link, s->name))
		return;
	c->name = s->name;
	c->X_L = dpose_mul(X_LN, pose_of(s->placement));
	c->friction = s->material.friction_dynamic;
	c->next = ex->first_collision[link + 1];
	ex->first_collision[link + 1] = ex->collision_count++;
}

static int count_shapes(const Export *ex) {
	const char *type;
	const void *def;
	int count = 0;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, NULL, &def) == CAL_OK; i++)
		count += strcmp(type, "contact") == 0 ? ((const CalContactDef *)def)->shape_count : 0;
	return count;
}

void export_list_collisions(Export *ex) {
	const char *type;
	const void *def;
	ex->first_collision = pool_array(&ex->pool, (size_t)ex->link_count + 1, sizeof *ex->first_collision);
	ex->collisions = pool_array(&ex->pool, (size_t)count_shapes(ex) + 1, sizeof *ex->collisions);
	if (!ex->first_collision || !ex->collisions) {
		export_no_memory(ex);
		return;
	}
	for (int i = 0; i <= ex->link_count; i++)
		ex->first_collision[i] = -1;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, NULL, &def) == CAL_OK && ex->status == CAL_OK; i++)
		for (int k = 0; strcmp(type, "contact") == 0 && k < ((const CalContactDef *)def)->shape_count; k++)
			add_shape(ex, def, k);
}
