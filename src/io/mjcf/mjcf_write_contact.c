// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_contact.c — shapes of a contact device as geoms that may touch.
 *
 * Layers and masks are contype and conaffinity. MuJoCo lets two geoms touch if one side wants it, Calder if both do: a device
 * in which the two differ cannot be written. Geoms of contact are not drawn; the filter of parents is off, since layers and
 * masks say all.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"
#include "io/mjcf/mjcf_write.h"

enum { MOST_SHAPES = 2000 };
static const uint32_t all_layers = 0x7fffffff; // integers of the file are signed

static uint32_t layers_of(const CalShapeDef *s) { return s->layers ? s->layers : 1; }
static uint32_t mask_of(const CalShapeDef *s) { return s->mask ? s->mask : all_layers; }

/* Whether both rules say the same of all pairs. */
static bool agrees(const CalContactDef *def) {
	for (int i = 0; i < def->shape_count; i++)
		for (int k = 0; k < i; k++) {
			const CalShapeDef *a = &def->shapes[i], *b = &def->shapes[k];
			if (((layers_of(a) & mask_of(b)) != 0) != ((layers_of(b) & mask_of(a)) != 0))
				return false;
		}
	return true;
}

static bool is_geom(const CalShapeDef *s) {
	return s->type != CAL_SHAPE_MESH && s->owner == 0 && layers_of(s) <= all_layers && mask_of(s) <= all_layers;
}

/* Files have one set of geoms: the first contact device. */
static bool is_first(const Export *ex, const CalContactDef *def) {
	const char *type;
	const void *device;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, NULL, &device) == CAL_OK; i++)
		if (strcmp(type, "contact") == 0)
			return device == def;
	return false;
}

bool mjcf_takes_contact(const Export *ex, const CalContactDef *def) {
	if (def->shape_count > MOST_SHAPES || !is_first(ex, def))
		return false;
	for (int i = 0; i < def->shape_count; i++)
		if (!is_geom(&def->shapes[i]))
			return false;
	return agrees(def);
}

/* ---- the law ------------------------------------------------------------------------------------------- */

/* Whether the reader takes this law for all shapes. */
static bool has_law_of_reader(const Export *ex, const CalContactDef *def) {
	double mass = 0;
	for (int i = 0; i < ex->link_count; i++)
		mass += ex->links[i].mass.mass;
	const double k = 2 * mass * MJCF_CONTACT_FREQUENCY * MJCF_CONTACT_FREQUENCY;
	for (int i = 0; i < def->shape_count; i++) {
		const CalContactMaterial *m = &def->shapes[i].material;
		if (fabs(m->stiffness - k) > 1e-9 * k || m->exponent != 1 || m->restitution != MJCF_CONTACT_RESTITUTION ||
		    m->impact_speed != MJCF_CONTACT_IMPACT || m->modulus != 0 || m->dissipation != 0 ||
		    m->friction_static != 0 || m->transition_speed != 0 || m->stribeck_speed != 0 || m->torsion_radius != 0 ||
		    def->shapes[i].patch != 0)
			return false;
	}
	return true;
}

void mjcf_find_contact(MjcfOut *m) {
	Export *ex = m->ex;
	const char *type;
	const void *device;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, NULL, &device) == CAL_OK; i++)
		if (strcmp(type, "contact") == 0 && mjcf_takes_contact(ex, device))
			m->contact = device;
	const int count = m->contact ? m->contact->shape_count : 0;
	m->next_shape = pool_array(&ex->pool, (size_t)count + 1, sizeof *m->next_shape);
	if (!m->next_shape) {
		export_no_memory(ex);
		return;
	}
	for (int i = count - 1; i >= 0; i--) {
		int link;
		export_node_pose(ex, m->contact->nodes[i], &link);
		m->next_shape[i] = m->first_shape[link + 1];
		m->first_shape[link + 1] = i;
	}
	if (m->contact && !has_law_of_reader(ex, m->contact))
		export_note(
			ex, CAL_IMPORT_CHANGED, "device", m->contact->name, m->contact->place,
			"MJCF has a law of contact of its own, with friction only: stiffness and dissipation are those that "
			"programs choose");
}

/* ---- geoms --------------------------------------------------------------------------------------------- */

static void put_size(Export *ex, const CalShapeDef *s) {
	static const char *const types[] = {[CAL_SHAPE_SPHERE] = "sphere",
	                                    [CAL_SHAPE_CAPSULE] = "capsule",
	                                    [CAL_SHAPE_BOX] = "box",
	                                    [CAL_SHAPE_PLANE] = "plane"};
	const bool round = s->type == CAL_SHAPE_SPHERE || (s->type == CAL_SHAPE_CAPSULE && s->length == 0);
	export_attribute(ex, "type", round ? "sphere" : types[s->type]);
	if (round)
		export_attribute_number(ex, "size", s->radius);
	else if (s->type == CAL_SHAPE_CAPSULE)
		export_attribute_numbers(ex, "size", (const double[2]){s->radius, s->length / 2}, 2);
	else if (s->type == CAL_SHAPE_BOX)
		export_attribute_numbers(ex, "size", &s->half.x, 3);
	else
		export_attribute_numbers(ex, "size", (const double[3]){0, 0, 1}, 3); // without end
}

static void put_shape(MjcfOut *m, int index) {
	Export *ex = m->ex;
	const CalShapeDef *s = &m->contact->shapes[index];
	int link;
	const dpose X = dpose_mul(export_node_pose(ex, m->contact->nodes[index], &link), pose_of(s->placement));
	export_open(ex, "geom");
	export_attribute(ex, "name", export_new_name(ex, &m->geom_names, s->name));
	put_size(ex, s);
	mjcf_put_pose(ex, &X, s->placement.orientation);
	export_attribute(ex, "rgba", "0.5 0.5 0.5 0");
	export_attribute(ex, "mass", "0");
	export_attribute_number(ex, "contype", layers_of(s));
	export_attribute_number(ex, "conaffinity", mask_of(s));
	if (s->margin != 0)
		export_attribute_number(ex, "margin", s->margin);
	if (s->material.friction_dynamic == 0)
		export_attribute(ex, "condim", "1");
	else
		export_attribute_number(ex, "friction", s->material.friction_dynamic);
	export_close(ex, "geom");
}

void mjcf_put_contact_geoms(MjcfOut *m, int link) {
	for (int i = m->first_shape[link + 1]; i >= 0; i = m->next_shape[i])
		put_shape(m, i);
}
