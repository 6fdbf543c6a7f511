// SPDX-License-Identifier: Apache-2.0
/*
 * set.c — checking the definitions of shapes and digesting them into a set.
 *
 * Whatever would make an evaluation meaningless is refused here, by name: an evaluation itself has nothing to refuse but
 * numbers that are not finite.
 */
#include "contact/set.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "contact/mesh.h"
#include "math/quat.h"

static const char *const type_names[CAL_SHAPE_COUNT] = {
#define SHAPE_NAME(name, text) [name] = text,
	CAL_SHAPE_LIST(SHAPE_NAME)
#undef SHAPE_NAME
};

const char *cal_shape_type_name(CalShapeType type) {
	return (int)type >= 0 && type < CAL_SHAPE_COUNT ? type_names[type] : NULL;
}

/* ---- checking ---------------------------------------------------------------------------------- */

typedef struct Range {
	const char *name;
	double value;
	double low, high; // allowed, both included
	int infinite;     // INFINITY is allowed
} Range;

static CalStatus check_ranges(const CalShapeDef *d, const Range *ranges, int count, CalError *error) {
	for (int i = 0; i < count; i++) {
		const Range *r = &ranges[i];
		const int fine = r->value >= r->low && r->value <= r->high && (isfinite(r->value) || r->infinite);
		if (!fine)
			return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": %s is %g; it must be within %g ... %g",
			                 PLACE_ARGS(d->place), d->name, r->name, r->value, r->low, r->high);
	}
	return CAL_OK;
}

static CalStatus check_material(const CalShapeDef *d, CalError *error) {
	const CalContactMaterial *m = &d->material;
	const Range ranges[] = {
		{"modulus", m->modulus, 0, INFINITY, 1},
		{"stiffness", m->stiffness, 0, INFINITY, 1},
		{"dissipation", m->dissipation, 0, INFINITY, 0},
		{"restitution", m->restitution, 0, 1, 0},
		{"impact_speed", m->impact_speed, 0, INFINITY, 0},
		{"friction_static", m->friction_static, 0, INFINITY, 0},
		{"friction_dynamic", m->friction_dynamic, 0, INFINITY, 0},
		{"transition_speed", m->transition_speed, 0, INFINITY, 0},
		{"stribeck_speed", m->stribeck_speed, 0, INFINITY, 0},
		{"torsion_radius", m->torsion_radius, 0, INFINITY, 0},
		{"exponent", m->exponent == 0 ? 1.5 : m->exponent, 1, 4, 0},
	};
	const CalStatus status = check_ranges(d, ranges, (int)(sizeof ranges / sizeof *ranges), error);
	if (status != CAL_OK)
		return status;
	if (m->restitution > 0 && (m->dissipation > 0 || m->impact_speed == 0))
		return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": restitution needs impact_speed, and no dissipation",
		                 PLACE_ARGS(d->place), d->name);
	if (m->friction_static > 0 && m->friction_static < m->friction_dynamic)
		return error_set(error, CAL_ERR_INPUT,
		                 "%s%sshape \"%s\": friction_static %g is below friction_dynamic %g; are they exchanged?",
		                 PLACE_ARGS(d->place), d->name, m->friction_static, m->friction_dynamic);
	return CAL_OK;
}

static CalStatus check_mesh(const CalShapeDef *d, CalError *error) {
	if (!d->mesh)
		return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": a mesh shape needs a mesh", PLACE_ARGS(d->place),
		                 d->name);
	const CalMeshInfo info = cal_mesh_info(d->mesh);
	if (!info.closed && d->thickness == 0)
		return error_set(
			error, CAL_ERR_INPUT,
			"%s%sshape \"%s\": its mesh is not closed (%d open edges, %d where triangles disagree); repair "
			"it, or give a thickness: how deep below the surface counts as inside",
			PLACE_ARGS(d->place), d->name, info.open_edges, info.odd_edges);
	return CAL_OK;
}

static CalStatus check_sizes(const CalShapeDef *d, CalError *error) {
	const double tiny = 1e-300;
	const int round = d->type == CAL_SHAPE_SPHERE || d->type == CAL_SHAPE_CAPSULE, box = d->type == CAL_SHAPE_BOX;
	const CalQuat q = d->placement.orientation;
	const Range ranges[] = {
		{"radius", round ? d->radius : 1, tiny, INFINITY, 0},
		{"length", d->type == CAL_SHAPE_CAPSULE ? d->length : 0, 0, INFINITY, 0},
		{"half.x", box ? d->half.x : 1, tiny, INFINITY, 0},
		{"half.y", box ? d->half.y : 1, tiny, INFINITY, 0},
		{"half.z", box ? d->half.z : 1, tiny, INFINITY, 0},
		{"thickness", d->thickness, 0, INFINITY, 0},
		{"margin", d->margin, 0, INFINITY, 0},
		{"patch", d->patch, 0, INFINITY, 0},
		{"placement.position.x", d->placement.position.x, -INFINITY, INFINITY, 0},
		{"placement.position.y", d->placement.position.y, -INFINITY, INFINITY, 0},
		{"placement.position.z", d->placement.position.z, -INFINITY, INFINITY, 0},
		{"placement.orientation", q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 0, INFINITY, 0},
	};
	return check_ranges(d, ranges, (int)(sizeof ranges / sizeof *ranges), error);
}

static CalStatus check_shape(const CalShapeDef *defs, int index, CalError *error) {
	const CalShapeDef *d = &defs[index];
	if (!d->name || !d->name[0])
		return error_set(error, CAL_ERR_INPUT, "%s%sshape %d has no name", PLACE_ARGS(d->place), index);
	for (int i = 0; i < index; i++)
		if (strcmp(defs[i].name, d->name) == 0)
			return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": there is another one of this name",
			                 PLACE_ARGS(d->place), d->name);
	if (!cal_shape_type_name(d->type))
		return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": there is no type %d", PLACE_ARGS(d->place), d->name,
		                 (int)d->type);
	if (d->node < -1)
		return error_set(error, CAL_ERR_INPUT, "%s%sshape \"%s\": there is no node %d; -1 is the world",
		                 PLACE_ARGS(d->place), d->name, d->node);
	CalStatus status = check_sizes(d, error);
	if (status == CAL_OK)
		status = check_material(d, error);
	if (status == CAL_OK && d->type == CAL_SHAPE_MESH)
		status = check_mesh(d, error);
	return status;
}

/* ---- digesting --------------------------------------------------------------------------------- */

static double default_patch(const CalShapeDef *d) {
	if (d->type == CAL_SHAPE_BOX)
		return fmin(d->half.x, fmin(d->half.y, d->half.z)) + d->margin;
	if (d->type == CAL_SHAPE_PLANE)
		return INFINITY;
	if (d->type == CAL_SHAPE_MESH) {
		const CalMeshInfo info = cal_mesh_info(d->mesh);
		return 0.05 * norm(sub(vec_in(info.upper), vec_in(info.lower)));
	}
	return d->radius + d->margin;
}

static int node_index_of(CalContactSet *set, int group, int node) {
	if (node < 0)
		return -1;
	for (int i = 0; i < set->node_count; i++)
		if (set->nodes[i].group == group && set->nodes[i].node == node)
			return i;
	set->nodes[set->node_count] = (ShapeNode){group, node};
	return set->node_count++;
}

/* Half of how thick a shape is: of a mesh, volume over area (a plate: half of its thickness). */
static double size_of(const Shape *s) {
	if (s->type == CAL_SHAPE_PLANE)
		return INFINITY;
	if (s->type == CAL_SHAPE_BOX)
		return fmin(s->half.x, fmin(s->half.y, s->half.z));
	if (s->type != CAL_SHAPE_MESH)
		return s->radius;
	double area = 0;
	for (int i = 0; i < s->mesh->info.triangles; i++) {
		const int *v = s->mesh->triangle[i].v;
		const vec3 a = s->mesh->vertex[v[0]];
		area += 0.5 * norm(cross(sub(s->mesh->vertex[v[1]], a), sub(s->mesh->vertex[v[2]], a)));
	}
	const double solid = s->mesh->info.closed && area > 0 ? s->mesh->info.volume / area : INFINITY;
	return fmin(solid, 0.5 * s->thickness) + s->margin;
}

/* What turns with it, and how far it reaches. */
static void set_extent(Shape *s) {
	if (s->type == CAL_SHAPE_CAPSULE)
		s->extent = s->reach;
	if (s->type == CAL_SHAPE_BOX)
		s->extent = norm(s->half);
	if (s->type == CAL_SHAPE_MESH) {
		const MeshNode *root = &s->mesh->node[0];
		s->center = lerp(root->lower, root->upper, 0.5);
		s->extent = norm(sub(root->upper, s->center)) + mesh_reach(s);
	}
}

static Shape shape_from(const CalShapeDef *d) {
	const vec3 grow = vec(d->margin, d->margin, d->margin);
	const dmat3 R = dquat_matrix(d->placement.orientation);
	Shape s = {.type = d->type,
	           .place = {mat_from(R), vec_in(d->placement.position)},
	           .radius = d->radius + d->margin,
	           .reach = 0.5 * d->length,
	           .half = add(vec_in(d->half), grow),
	           .mesh = d->mesh,
	           .thickness = d->thickness > 0 ? d->thickness : INFINITY,
	           .margin = d->margin,
	           .patch = d->patch > 0 ? d->patch : default_patch(d),
	           .owner = d->owner,
	           .layers = d->layers ? d->layers : 1,
	           .mask = d->mask ? d->mask : UINT32_MAX,
	           .material = material_complete(&d->material)};
	s.compliance = material_compliance(&s.material);
	s.size = size_of(&s);
	set_extent(&s);
	return s;
}

bool shapes_may_touch(const Shape *a, const Shape *b) {
	return a->node_index != b->node_index && !(a->type == CAL_SHAPE_PLANE && b->type == CAL_SHAPE_PLANE) &&
	       !(a->owner != 0 && a->owner == b->owner) && (a->layers & b->mask) && (b->layers & a->mask);
}

/* Two shapes that may touch must agree on a law with a finite stiffness. */
static CalStatus check_pair(const Shape *a, const Shape *b, CalError *error) {
	const CalContactMaterial *x = &a->material, *y = &b->material;
	if (x->modulus > 0 && y->modulus > 0 && (shape_is_round(a) || shape_is_round(b)))
		return isfinite(x->modulus) || isfinite(y->modulus)
		           ? CAL_OK
		           : error_set(
						 error, CAL_ERR_INPUT,
						 "shapes \"%s\" and \"%s\" may touch, and both have an infinite modulus; give one a finite",
						 a->name, b->name);
	if (!(x->stiffness > 0) || !(y->stiffness > 0))
		return error_set(error, CAL_ERR_INPUT,
		                 "shapes \"%s\" and \"%s\" may touch, but \"%s\" has no stiffness (a modulus is enough only if "
		                 "both have one and one of them is round); give it one, or keep them apart by layers and mask",
		                 a->name, b->name, x->stiffness > 0 ? b->name : a->name);
	if (!isfinite(x->stiffness) && !isfinite(y->stiffness))
		return error_set(error, CAL_ERR_INPUT,
		                 "shapes \"%s\" and \"%s\" may touch, and both have an infinite stiffness; give one a finite",
		                 a->name, b->name);
	if (isfinite(x->stiffness) && isfinite(y->stiffness) && x->exponent != y->exponent)
		return error_set(
			error, CAL_ERR_INPUT,
			"shapes \"%s\" and \"%s\" may touch, but their exponents differ (%g and %g); give both the same", a->name,
			b->name, x->exponent, y->exponent);
	return CAL_OK;
}

static CalStatus check_pairs(const CalContactSet *set, CalError *error) {
	for (int j = 1; j < set->shape_count; j++) {
		for (int i = 0; i < j; i++) {
			const Shape *a = &set->shapes[i], *b = &set->shapes[j];
			const CalStatus status = shapes_may_touch(a, b) ? check_pair(a, b, error) : CAL_OK;
			if (status != CAL_OK)
				return status;
		}
	}
	return CAL_OK;
}

/* ---- the set ----------------------------------------------------------------------------------- */

static size_t name_bytes(const CalShapeDef *defs, int count) {
	size_t bytes = 0;
	for (int i = 0; i < count; i++)
		bytes += strlen(defs[i].name) + 1;
	return bytes;
}

static void fill_shapes(CalContactSet *set, const CalShapeDef *defs, int count, char *names) {
	set->shape_count = count;
	set->smallest = INFINITY;
	for (int i = 0; i < count; i++) {
		const size_t size = strlen(defs[i].name) + 1;
		set->shapes[i] = shape_from(&defs[i]);
		set->smallest = fmin(set->smallest, set->shapes[i].size);
		set->shapes[i].node_index = node_index_of(set, defs[i].group, defs[i].node);
		set->shapes[i].name = memcpy(names, defs[i].name, size);
		names += size;
	}
}

/* The set itself, its arrays and the names of its shapes. */
static void layout_set(CalContactSet *s, const CalShapeDef *shapes, int count, char **names, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *s);
	CURSOR_ARRAY(cursor, s->shapes, count);
	CURSOR_ARRAY(cursor, s->nodes, count);
	CURSOR_ARRAY(cursor, *names, name_bytes(shapes, count));
}

CalStatus cal_contact_set_create(const CalShapeDef *shapes, int count, const CalAllocator *allocator,
                                 CalContactSet **set, CalError *error) {
	if (count < 0 || (count > 0 && !shapes) || !set || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_contact_set_create: shapes and set are needed");
	for (int i = 0; i < count; i++) {
		const CalStatus status = check_shape(shapes, i, error);
		if (status != CAL_OK)
			return status;
	}
	const CalAllocator from = allocator_or_default(allocator);
	CalContactSet made = {.allocator = from};
	char *names;
	Cursor cursor = {.align = 16};
	layout_set(&made, shapes, count, &names, &cursor);
	CalContactSet *s = cursor_alloc_at_start(&cursor, &from);
	if (!s)
		return error_set(error, CAL_ERR_MEMORY, "contact set of %d shapes: out of memory", count);
	layout_set(&made, shapes, count, &names, &cursor);
	*s = made;
	fill_shapes(s, shapes, count, names);
	const CalStatus status = check_pairs(s, error);
	if (status == CAL_OK)
		*set = s;
	else
		cal_contact_set_destroy(s);
	return status;
}

void cal_contact_set_destroy(CalContactSet *set) {
	if (set) {
		const CalAllocator allocator = set->allocator;
		memory_free(&allocator, set);
	}
}

const char *cal_contact_shape_name(const CalContactSet *set, int shape) {
	return set && shape >= 0 && shape < set->shape_count ? set->shapes[shape].name : NULL;
}

CalContactMaterial *cal_contact_material(CalContactSet *set, int shape) {
	return set && shape >= 0 && shape < set->shape_count ? &set->shapes[shape].material : NULL;
}

int cal_contact_node_count(const CalContactSet *set) { return set ? set->node_count : 0; }

CalStatus cal_contact_node(const CalContactSet *set, int node_index, int *group, int *node) {
	if (!set || !group || !node || node_index < 0 || node_index >= set->node_count)
		return CAL_ERR_ARGUMENT;
	*group = set->nodes[node_index].group;
	*node = set->nodes[node_index].node;
	return CAL_OK;
}
