// SPDX-License-Identifier: Apache-2.0
/*
 * doctor_geometry.c — the shapes of bodies: bounding boxes and solids of visuals, meshes of files among them, and of contact
 * shapes. Planes have no size. A mesh that cannot be read is left out: who draws it says so.
 */
#include <calder/mesh.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "doctor/doctor.h"
#include "math/placement.h"

double box_reach(CalVec3 lower, CalVec3 upper, CalVec3 p) {
	const double x = fmax(fabs(upper.x - p.x), fabs(lower.x - p.x)), y = fmax(fabs(upper.y - p.y), fabs(lower.y - p.y)),
				 z = fmax(fabs(upper.z - p.z), fabs(lower.z - p.z));
	return sqrt(x * x + y * y + z * z);
}

static double largest_side(CalVec3 lower, CalVec3 upper) {
	return fmax(upper.x - lower.x, fmax(upper.y - lower.y, upper.z - lower.z));
}

double geometry_size(const Geometry *g) {
	return g->has_box ? largest_side(g->lower, g->upper) : largest_side(g->low_node, g->high_node);
}

static void grow_box(CalVec3 *lower, CalVec3 *upper, CalVec3 p) {
	*lower = (CalVec3){fmin(lower->x, p.x), fmin(lower->y, p.y), fmin(lower->z, p.z)};
	*upper = (CalVec3){fmax(upper->x, p.x), fmax(upper->y, p.y), fmax(upper->z, p.z)};
}

static void add_box(Geometry *g, CalPlacement at, CalVec3 lower, CalVec3 upper) {
	const dpose X = pose_of(at);
	for (int i = 0; i < 8; i++) {
		const dvec3 corner = {i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z};
		const CalVec3 p = dvec_out(dadd(X.r, dmat_mul_vec(X.R, corner)));
		if (!g->has_box)
			g->lower = g->upper = p;
		g->has_box = true;
		grow_box(&g->lower, &g->upper, p);
	}
}

static void add_solid(Geometry *g, MassProperties m, CalPlacement at) {
	if (!(m.mass > 0) || !isfinite(m.mass))
		return;
	const MassProperties moved = mass_moved(m, at);
	g->solid = g->has_solid ? mass_sum(g->solid, moved) : moved;
	g->has_solid = true;
}

/* Half sides of the box about a primitive, whose center is its origin. */
static CalVec3 half_box(CalVisualKind kind, CalVec3 size) {
	switch (kind) {
	case CAL_VISUAL_BOX:
		return (CalVec3){size.x / 2, size.y / 2, size.z / 2};
	case CAL_VISUAL_SPHERE:
		return (CalVec3){size.x, size.x, size.x};
	case CAL_VISUAL_CAPSULE:
		return (CalVec3){size.x, size.x, size.z / 2 + size.x};
	default:
		return (CalVec3){size.x, size.x, size.z / 2};
	}
}

static void add_primitive(Geometry *g, CalVisualKind kind, CalVec3 size, CalPlacement at) {
	const CalVec3 h = half_box(kind, size);
	add_box(g, at, (CalVec3){-h.x, -h.y, -h.z}, h);
	add_solid(g, mass_of_shape(kind, size), at);
}

/* ---- meshes ------------------------------------------------------------------------------------------ */

static void question_unit(const Doctor *doctor, Patient *p, const CalVisual *v, const CalMeshCheck *check) {
	Finding f = {0};
	const double size = largest_side(check->lower, check->upper);
	const double nodes = fmax(largest_side(p->shape.low_node, p->shape.high_node),
	                          2 * box_reach(p->def->com, p->def->com, (CalVec3){0, 0, 0}));
	const double factor = cal_mesh_question_unit(check->lower, check->upper, nodes);
	if (factor == 1 || !(nodes > 0) || size < 20 * nodes)
		return;
	FINDING(f.evidence, "the mesh \"%.100s\" is %.3g m long, but nodes and center of mass of the body span %.3g m",
	        v->file, size, nodes);
	FINDING(f.cause, "the file is in %s", factor == 0.001 ? "millimeters" : factor == 0.01 ? "centimeters" : "inches");
	FINDING(f.fix, "scale the mesh by %g", factor);
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_MESH_UNIT, false);
}

static void report_inside_out(const Doctor *doctor, Patient *p, const CalVisual *v, const CalMeshCheck *check) {
	Finding f = {0};
	FINDING(f.evidence, "the mesh \"%.100s\" is closed, and its volume is %.3g m^3", v->file, check->volume);
	FINDING(f.cause,
	        "its triangles are clockwise seen from outside: it is inside out, or was mirrored without reversing them");
	FINDING(f.fix, "reverse the order of the vertices in the program that made it");
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_MESH_INSIDE_OUT, false);
}

static void add_mesh(const Doctor *doctor, Patient *p, const CalVisual *v) {
	char path[1024];
	CalMeshFile *file = NULL;
	CalMeshCheck check;
	CalMassProperties m;
	if (cal_setup_locate(doctor->setup, v->file, path, sizeof path) != 0 ||
	    cal_mesh_file_read(path, v->size, NULL, &file, NULL) != CAL_OK)
		return;
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	if (cal_mesh_check(&mesh, NULL, &check, NULL) == CAL_OK) {
		add_box(&p->shape, v->placement, check.lower, check.upper);
		question_unit(doctor, p, v, &check);
		if (check.inside_out)
			report_inside_out(doctor, p, v, &check);
		const CalMeshMassOptions options = {.unchecked = 1};
		if (check.closed && cal_mesh_mass_properties(path, &mesh, &options, NULL, &m, NULL) == CAL_OK)
			add_solid(&p->shape, (MassProperties){m.mass, m.com, m.inertia}, v->placement);
	}
	cal_mesh_file_destroy(file);
}

/* ---- all shapes ---------------------------------------------------------------------------------------- */

static void add_visuals(const Doctor *doctor, Patient *p) {
	const CalVisual *visuals;
	const int count = cal_setup_visuals(doctor->setup, p->id, &visuals);
	for (int i = 0; i < count; i++) {
		const CalVisual *v = &visuals[i];
		if (v->kind == CAL_VISUAL_MESH)
			add_mesh(doctor, p, v);
		else if (v->kind != CAL_VISUAL_PLANE)
			add_primitive(&p->shape, v->kind, v->size, v->placement);
	}
}

static void add_contact_shape(Geometry *g, const CalShapeDef *s, CalPlacement at) {
	CalMeshInfo info;
	switch (s->type) {
	case CAL_SHAPE_SPHERE:
		add_primitive(g, CAL_VISUAL_SPHERE, (CalVec3){s->radius, 0, 0}, at);
		break;
	case CAL_SHAPE_CAPSULE:
		add_primitive(g, CAL_VISUAL_CAPSULE, (CalVec3){s->radius, 0, s->length}, at);
		break;
	case CAL_SHAPE_BOX:
		add_primitive(g, CAL_VISUAL_BOX, (CalVec3){2 * s->half.x, 2 * s->half.y, 2 * s->half.z}, at);
		break;
	case CAL_SHAPE_MESH:
		info = cal_mesh_info(s->mesh);
		add_box(g, at, info.lower, info.upper);
		break;
	default:
		break;
	}
}

/* Shapes of bodies without visuals: where both are given, they are the same thing twice. */
static void add_contact(Doctor *doctor, const CalContactDef *contact, const bool *seen) {
	for (int i = 0; i < contact->shape_count; i++) {
		CalBodyId body = {0};
		const CalNodeDef *node = cal_desc_node(doctor->desc, contact->nodes[i], &body);
		if (!node || !body.value || seen[body.value - 1])
			continue;
		const dpose X = dpose_mul(pose_of(node->placement), pose_of(contact->shapes[i].placement));
		add_contact_shape(&doctor->bodies[body.value - 1].shape, &contact->shapes[i], placement_of(&X));
	}
}

/* Where a joint is on one of its bodies. */
static void add_joint_side(Doctor *doctor, CalNodeId id, dpose side) {
	CalBodyId body = {0};
	const CalNodeDef *node = cal_desc_node(doctor->desc, id, &body);
	if (!node || !body.value)
		return;
	Geometry *g = &doctor->bodies[body.value - 1].shape;
	const dpose X = dpose_mul(pose_of(node->placement), side);
	grow_box(&g->low_node, &g->high_node, dvec_out(X.r));
}

static void add_joints(Doctor *doctor) {
	for (int i = 1; i <= cal_desc_joint_count(doctor->desc); i++) {
		CalNodeId inboard, outboard;
		const CalJointDef *joint = cal_desc_joint(doctor->desc, (CalJointId){(uint32_t)i}, &inboard, &outboard);
		add_joint_side(doctor, inboard, pose_of(joint->inboard));
		add_joint_side(doctor, outboard, dpose_inverse(pose_of(joint->outboard)));
	}
}

static void add_nodes(Doctor *doctor) {
	for (int i = 1; i <= cal_desc_node_count(doctor->desc); i++) {
		CalBodyId body = {0};
		const CalNodeDef *node = cal_desc_node(doctor->desc, (CalNodeId){(uint32_t)i}, &body);
		if (node && body.value) {
			Geometry *g = &doctor->bodies[body.value - 1].shape;
			grow_box(&g->low_node, &g->high_node, node->placement.position);
		}
	}
}

void doctor_measure(Doctor *doctor) {
	add_nodes(doctor);
	add_joints(doctor);
	for (int i = 0; i < doctor->count; i++)
		add_visuals(doctor, &doctor->bodies[i]);
	bool *seen = memory_alloc(&doctor->allocator, (size_t)doctor->count * sizeof *seen);
	for (int i = 0; seen && i < doctor->count; i++)
		seen[i] = doctor->bodies[i].shape.has_box;
	const char *type;
	const void *def;
	for (int i = 0; seen && cal_setup_device(doctor->setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "contact") == 0)
			add_contact(doctor, def, seen);
	memory_free(&doctor->allocator, seen);
}
