// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_shape.c — mass, center of mass and inertia of a body: given as numbers or by a homogeneous shape.
 *
 * A shape is a box, a sphere, a (hollow) cylinder or a thin rod with its center at `com`; a cylinder or a
 * rod given by its two ends sets the center itself. With a density the shape also gives the mass.
 */
#include <calder/mesh.h>
#include <math.h>
#include <string.h>

#include "io/model/model_file.h"
#include "math/placement.h"
#include "math/portable.h"

#define PI 3.14159265358979323846

/* What a shape yields: volume (0: none), inertia per mass about its center in body axes, center. */
typedef struct Shape {
	double volume;
	CalMat3 inertia;
	bool has_center;
	CalVec3 center;
} Shape;

/* ---- tensors ------------------------------------------------------------------------------- */

static CalMat3 diagonal(double x, double y, double z) { return (CalMat3){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

/* across (1 - n n') + along n n' for a unit vector n. */
static CalMat3 axial(double along, double across, CalVec3 n) {
	const double v[3] = {n.x, n.y, n.z};
	CalMat3 out;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out.m[i][j] = (i == j ? across : 0) + (along - across) * v[i] * v[j];
	}
	return out;
}

/* R I R' for the rotation matrix of q. */
static CalMat3 rotated(CalMat3 I, CalQuat q) {
	const double R[3][3] = {
		{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
		{2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
		{2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}};
	CalMat3 out = {{{0}}};
	for (int i = 0; i < 3; i++) {
		for (int j = i; j < 3; j++) {
			for (int k = 0; k < 3; k++) {
				for (int l = 0; l < 3; l++)
					out.m[i][j] += R[i][k] * I.m[k][l] * R[j][l];
			}
			out.m[j][i] = out.m[i][j];
		}
	}
	return out;
}

/* ---- inertia as numbers ---------------------------------------------------------------------- */

typedef struct Products {
	double xx, yy, zz, xy, xz, yz;
} Products;

static const Field inertia_keys[] = {
	{"xx", FIELD_NUMBER, offsetof(Products, xx), DIM_INERTIA, .flags = FIELD_REQUIRED, .doc = "about x"},
	{"yy", FIELD_NUMBER, offsetof(Products, yy), DIM_INERTIA, .flags = FIELD_REQUIRED, .doc = "about y"},
	{"zz", FIELD_NUMBER, offsetof(Products, zz), DIM_INERTIA, .flags = FIELD_REQUIRED, .doc = "about z"},
	{"xy", FIELD_NUMBER, offsetof(Products, xy), DIM_INERTIA, .doc = "default 0"},
	{"xz", FIELD_NUMBER, offsetof(Products, xz), DIM_INERTIA, .doc = "default 0"},
	{"yz", FIELD_NUMBER, offsetof(Products, yz), DIM_INERTIA, .doc = "default 0"},
};
const FieldTable inertia_table = {FIELDS("inertia", inertia_keys), .brief = FIELD_TENSOR,
                                  .doc = "The elements of the inertia matrix."};

static bool read_matrix(Reader *r, const TreeNode *node, CalMat3 *out) {
	for (int i = 0; i < 3; i++) {
		CalVec3 row;
		if (!read_vector(r, node->items[i], DIM_INERTIA, &row))
			return false;
		out->m[i][0] = row.x;
		out->m[i][1] = row.y;
		out->m[i][2] = row.z;
	}
	const double size = fabs(out->m[0][0]) + fabs(out->m[1][1]) + fabs(out->m[2][2]);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < i; j++) {
			if (fabs(out->m[i][j] - out->m[j][i]) > 1e-9 * size)
				return reader_fail(r, node,
				                   "the inertia matrix is not symmetric: row %d column %d is %g, but row %d column "
				                   "%d is %g",
				                   i + 1, j + 1, out->m[i][j], j + 1, i + 1, out->m[j][i]);
			out->m[i][j] = out->m[j][i] = (out->m[i][j] + out->m[j][i]) / 2;
		}
	}
	return true;
}

bool model_file_read_tensor(Reader *r, const TreeNode *node, CalMat3 *out) {
	if (node->kind == TREE_MAP) {
		Products p = {0};
		if (!fields_read(r, node, &inertia_table, &p))
			return false;
		*out = (CalMat3){{{p.xx, p.xy, p.xz}, {p.xy, p.yy, p.yz}, {p.xz, p.yz, p.zz}}};
		return true;
	}
	if (node->kind != TREE_LIST || node->count != 3)
		return reader_fail(r, node,
		                   "an inertia is [xx, yy, zz], a map {xx, yy, zz, xy, xz, yz} or three rows of three "
		                   "numbers, in kg*m^2");
	if (node->items[0]->kind == TREE_LIST)
		return read_matrix(r, node, out);
	CalVec3 d;
	if (!read_vector(r, node, DIM_INERTIA, &d))
		return false;
	*out = diagonal(d.x, d.y, d.z);
	return true;
}

/* ---- shapes ----------------------------------------------------------------------------------- */

typedef struct ShapeInput {
	CalVec3 size, axis, from, to;
	CalQuat orientation;
	double radius, inner_radius, length;
} ShapeInput;

static const Field box_keys[] = {
	{"size", FIELD_VECTOR, offsetof(ShapeInput, size), DIM_LENGTH, .flags = FIELD_REQUIRED, .doc = "the three sides"},
	{"orientation", FIELD_ORIENTATION, offsetof(ShapeInput, orientation),
     .doc = "of its sides in the body frame; default along the body axes"},
};
const FieldTable box_table = {FIELDS("box", box_keys), .brief = FIELD_VECTOR, .doc = "A homogeneous box."};

static const Field sphere_keys[] = {
	{"radius", FIELD_POSITIVE, offsetof(ShapeInput, radius), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "of the sphere"},
};
const FieldTable sphere_table = {FIELDS("sphere", sphere_keys), .brief = FIELD_NUMBER, .doc = "A homogeneous sphere."};

static const Field cylinder_keys[] = {
	{"radius", FIELD_POSITIVE, offsetof(ShapeInput, radius), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "outer radius"},
	{"inner_radius", FIELD_NOT_NEGATIVE, offsetof(ShapeInput, inner_radius), DIM_LENGTH,
     .doc = "of the bore; default 0, solid"},
	{"length", FIELD_POSITIVE, offsetof(ShapeInput, length), DIM_LENGTH, .doc = "along `axis`"},
	{"axis", FIELD_AXIS, offsetof(ShapeInput, axis), .doc = "default `z`"},
	{"from", FIELD_VECTOR, offsetof(ShapeInput, from), DIM_LENGTH, .doc = "center of one end in the body frame"},
	{"to", FIELD_VECTOR, offsetof(ShapeInput, to), DIM_LENGTH, .doc = "center of the other end"},
};
const FieldTable cylinder_table = {FIELDS("cylinder", cylinder_keys),
                                   .doc = "A homogeneous cylinder, by `length` and `axis` or by its two ends."};

static const Field rod_keys[] = {
	{"length", FIELD_POSITIVE, offsetof(ShapeInput, length), DIM_LENGTH, .doc = "along `axis`"},
	{"axis", FIELD_AXIS, offsetof(ShapeInput, axis), .doc = "default `z`"},
	{"from", FIELD_VECTOR, offsetof(ShapeInput, from), DIM_LENGTH, .doc = "one end in the body frame"},
	{"to", FIELD_VECTOR, offsetof(ShapeInput, to), DIM_LENGTH, .doc = "the other end"},
};
const FieldTable rod_table = {FIELDS("rod", rod_keys), .doc = "A thin rod: no inertia about its axis."};

static bool read_box(Reader *r, const TreeNode *node, ShapeInput *in) {
	in->orientation = (CalQuat){1, 0, 0, 0};
	if (node->kind == TREE_LIST ? !read_vector(r, node, DIM_LENGTH, &in->size) : !fields_read(r, node, &box_table, in))
		return false;
	return (in->size.x >= 0 && in->size.y >= 0 && in->size.z >= 0) ||
	       reader_fail(r, node, "the sides of a box must not be negative");
}

static bool read_sphere(Reader *r, const TreeNode *node, ShapeInput *in) {
	return node->kind == TREE_SCALAR ? field_read(r, node, &sphere_keys[0], in)
	                                 : fields_read(r, node, &sphere_table, in);
}

static bool shape_box(Reader *r, const TreeNode *node, Shape *shape) {
	ShapeInput in = {0};
	if (!read_box(r, node, &in))
		return false;
	const CalVec3 s = in.size;
	const double x2 = s.x * s.x / 12, y2 = s.y * s.y / 12, z2 = s.z * s.z / 12;
	shape->volume = s.x * s.y * s.z;
	shape->inertia = rotated(diagonal(y2 + z2, x2 + z2, x2 + y2), in.orientation);
	return true;
}

static bool shape_sphere(Reader *r, const TreeNode *node, Shape *shape) {
	ShapeInput in = {0};
	if (!read_sphere(r, node, &in))
		return false;
	const double rr = in.radius * in.radius;
	shape->volume = 4 * PI / 3 * rr * in.radius;
	shape->inertia = diagonal(0.4 * rr, 0.4 * rr, 0.4 * rr);
	return true;
}

/* Length and direction from `length` and `axis` (z if absent) or from the two ends, which also give the center. */
static bool read_line(Reader *r, const TreeNode *node, ShapeInput *in, Shape *shape) {
	const bool ends = tree_get(node, "from") && tree_get(node, "to");
	const bool any_end = tree_get(node, "from") || tree_get(node, "to");
	if (ends == (tree_get(node, "length") != NULL) || any_end != ends || (ends && tree_get(node, "axis")))
		return reader_fail(r, node, "give either \"length\" (and \"axis\") or both ends \"from\" and \"to\"");
	if (ends) {
		in->axis = (CalVec3){in->to.x - in->from.x, in->to.y - in->from.y, in->to.z - in->from.z};
		shape->has_center = true;
		shape->center =
			(CalVec3){(in->from.x + in->to.x) / 2, (in->from.y + in->to.y) / 2, (in->from.z + in->to.z) / 2};
	} else if (!tree_get(node, "axis")) {
		in->axis = (CalVec3){0, 0, 1};
	}
	const double norm = portable_hypot(portable_hypot(in->axis.x, in->axis.y), in->axis.z);
	if (!(norm > 0))
		return reader_fail(r, node, "the two ends are the same point");
	if (ends)
		in->length = norm;
	in->axis = (CalVec3){in->axis.x / norm, in->axis.y / norm, in->axis.z / norm};
	return true;
}

static bool shape_cylinder(Reader *r, const TreeNode *node, Shape *shape) {
	ShapeInput in = {0};
	if (!fields_read(r, node, &cylinder_table, &in) || !read_line(r, node, &in, shape))
		return false;
	if (in.inner_radius >= in.radius)
		return reader_fail(r, node, "the inner radius must be smaller than the radius");
	const double rr = in.radius * in.radius + in.inner_radius * in.inner_radius;
	shape->volume = PI * (in.radius * in.radius - in.inner_radius * in.inner_radius) * in.length;
	shape->inertia = axial(rr / 2, rr / 4 + in.length * in.length / 12, in.axis);
	return true;
}

static bool shape_rod(Reader *r, const TreeNode *node, Shape *shape) {
	ShapeInput in = {0};
	if (!fields_read(r, node, &rod_table, &in) || !read_line(r, node, &in, shape))
		return false;
	shape->inertia = axial(0, in.length * in.length / 12, in.axis);
	return true;
}

/* ---- meshes ------------------------------------------------------------------------------------- */

typedef struct MeshInput {
	const char *file;
	CalVec3 scale;
	CalPlacement placement;
	int solid;
} MeshInput;

static const char *solid_word(int i) { return cal_mesh_solid_name((CalMeshSolid)i); }

static const Field mass_mesh_keys[] = {
	{"file", FIELD_FILE, offsetof(MeshInput, file), .flags = FIELD_AS_TEXT | FIELD_REQUIRED,
     .doc = "an `.stl`, `.obj`, `.gltf` or `.glb` file"},
	{"scale", FIELD_SCALE, offsetof(MeshInput, scale),
     .doc = "[m] for a unit of the file, or three factors along its axes; a negative one mirrors it; default 1"},
	{"at", FIELD_VECTOR, offsetof(MeshInput, placement.position), DIM_LENGTH,
     .doc = "its origin in the body frame; default the origin"},
	{"orientation", FIELD_ORIENTATION, offsetof(MeshInput, placement.orientation),
     .doc = "default along the body axes"},
	{"solid", FIELD_CHOICE, offsetof(MeshInput, solid),
     .doc =
         "default `exact`: the solid that the mesh bounds, which must be closed; `convex`: its convex hull; `legacy`: as "
         "MuJoCo does; `shell`: its surface, with `mass`",
     .word_at = solid_word},
};
const FieldTable mass_mesh_table = {FIELDS("mass_mesh", mass_mesh_keys), .brief = FIELD_FILE,
                                    .doc = "The solid within a triangle mesh ([meshes](meshes.md))."};

static bool read_mesh_input(Reader *r, const TreeNode *node, MeshInput *in) {
	*in = (MeshInput){.scale = {1, 1, 1}, .placement.orientation = {1, 0, 0, 0}};
	return node->kind == TREE_SCALAR ? read_text(r, node, &in->file) : fields_read(r, node, &mass_mesh_table, in);
}

/* What is wrong in the file is reported at the key that names it. */
static bool mesh_refused(Reader *r, const TreeNode *node, CalStatus status, const CalError *error) {
	if (status == CAL_OK)
		return true;
	reader_fail(r, node, "%s", error->text);
	r->status = status;
	if (r->error)
		r->error->status = status;
	return false;
}

static CalStatus integrate_mesh(Reader *r, const char *path, const MeshInput *in, CalMassProperties *m,
                                CalError *error) {
	CalMeshFile *file = NULL;
	CalStatus status = cal_mesh_file_read(path, in->scale, &r->file->allocator, &file, error);
	if (status == CAL_OK) {
		const CalTriangles mesh = cal_mesh_file_triangles(file);
		const CalMeshMassOptions options = {.solid = (CalMeshSolid)in->solid, .density = 1};
		status = cal_mesh_mass_properties(path, &mesh, &options, &r->file->allocator, m, error);
	}
	cal_mesh_file_destroy(file);
	return status;
}

static bool shape_mesh(Reader *r, const TreeNode *node, Shape *shape) {
	MeshInput in;
	char path[1024];
	CalMassProperties m = {0};
	CalError error = {0};
	if (!read_mesh_input(r, node, &in) || !reader_path(r, node, NULL, in.file, path, sizeof path) ||
	    !mesh_refused(r, node, integrate_mesh(r, path, &in, &m, &error), &error))
		return false;
	const dpose X = pose_of(in.placement);
	shape->volume = in.solid == CAL_MESH_SHELL ? 0 : m.mass;
	shape->has_center = true;
	shape->center = dvec_out(dadd(X.r, dmat_mul_vec(X.R, dvec_in(m.com))));
	for (int i = 0; i < 9; i++)
		m.inertia.m[i / 3][i % 3] /= m.mass;
	shape->inertia = rotated(m.inertia, in.placement.orientation);
	return true;
}

bool model_file_read_mesh_outline(Reader *r, const TreeNode *node, CalVisual *out) {
	MeshInput in;
	if (!read_mesh_input(r, node, &in))
		return false;
	out->kind = CAL_VISUAL_MESH;
	out->file = in.file;
	out->size = in.scale;
	out->placement = in.placement;
	return true;
}

/* ---- how they look ------------------------------------------------------------------------------ */

/* The shortest rotation that takes z to a unit vector. */
static CalQuat from_z(CalVec3 n) {
	if (n.z < -1 + 1e-12)
		return (CalQuat){0, 1, 0, 0};
	const double w = sqrt((1 + n.z) / 2);
	return (CalQuat){w, -n.y / (2 * w), n.x / (2 * w), 0};
}

bool model_file_read_outline(Reader *r, const TreeNode *node, bool rod, CalVisual *out) {
	ShapeInput in = {0};
	Shape shape = {0};
	if (out->kind == CAL_VISUAL_BOX) {
		if (!read_box(r, node, &in))
			return false;
		out->size = in.size;
		out->placement.orientation = in.orientation;
		return true;
	}
	if (out->kind == CAL_VISUAL_SPHERE) {
		if (!read_sphere(r, node, &in))
			return false;
		out->size.x = in.radius;
		return true;
	}
	if (!fields_read(r, node, rod ? &rod_table : &cylinder_table, &in) || !read_line(r, node, &in, &shape))
		return false;
	out->size = (CalVec3){rod ? 0.02 * in.length : in.radius, 0, in.length};
	out->placement.orientation = from_z(in.axis);
	if (shape.has_center)
		out->placement.position = shape.center;
	return true;
}

/* ---- the body ---------------------------------------------------------------------------------- */

static bool apply_shape(Reader *r, const TreeNode *body, const TreeNode *node, const BodyInput *in, const Shape *shape,
                        CalBodyDef *def) {
	const bool has_mass = tree_get(body, "mass") != NULL, has_density = tree_get(body, "density") != NULL;
	if (has_mass == has_density)
		return reader_fail(r, node, "a shape needs either \"mass\" or \"density\"");
	if (has_density && !(shape->volume > 0))
		return reader_fail(r, node, "this shape has no volume; give \"mass\" instead of \"density\"");
	if (shape->has_center && tree_get(body, "com"))
		return reader_fail(r, node, "the shape already gives the center of mass; remove \"com\"");
	def->mass = has_mass ? in->mass : in->density * shape->volume;
	if (shape->has_center)
		def->com = shape->center;
	for (int i = 0; i < 9; i++)
		def->inertia.m[i / 3][i % 3] = def->mass * shape->inertia.m[i / 3][i % 3];
	return true;
}

/* Where a node of the body is; "head": its own frame. */
static bool find_own_node(Reader *r, const TreeNode *node, const BodyInput *in, CalNodeDef *def) {
	Suggestion suggestion = {.word = in->mass_node};
	const int count = items_count(r, in->nodes, "nodes");
	*def = cal_node_def();
	if (count < 0 || strcmp(in->mass_node, "head") == 0)
		return count >= 0;
	suggestion_offer(&suggestion, "head");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, in->nodes, i, "node", &item))
			return false;
		if (strcmp(item.name, in->mass_node) == 0)
			return model_file_read_node_def(r, &item, def);
		suggestion_offer(&suggestion, item.name);
	}
	return reader_unknown(r, node, "node of this body", &suggestion);
}

/* What was read is in the frame of a node: as the body frame has it. */
static bool apply_mass_node(Reader *r, const TreeNode *body, const BodyInput *in, CalBodyDef *def) {
	const TreeNode *node = tree_get(body, "mass_node");
	CalNodeDef at;
	if (!find_own_node(r, node, in, &at))
		return false;
	const CalStatus status = cal_body_def_from_node(def, at.placement);
	return status == CAL_OK || reader_fail(r, node, "node \"%.80s\" has no orientation", in->mass_node);
}

/* Mass, center and inertia as numbers. */
static bool read_numbers(Reader *r, const TreeNode *body, const BodyInput *in, CalBodyDef *def) {
	if (tree_get(body, "density"))
		return reader_fail(r, tree_get(body, "density"), "a density needs a shape: box, sphere, cylinder or mesh");
	if (in->inertia && !model_file_read_tensor(r, in->inertia, &def->inertia))
		return false;
	return !in->mass_node || apply_mass_node(r, body, in, def);
}

bool model_file_read_inertia(Reader *r, const TreeNode *body, const BodyInput *in, CalBodyDef *def) {
	enum { SHAPES = 5 };
	const TreeNode *shapes[] = {in->box, in->sphere, in->cylinder, in->rod, in->mesh, in->inertia};
	bool (*const readers[SHAPES])(Reader *, const TreeNode *, Shape *) = {shape_box, shape_sphere, shape_cylinder,
	                                                                      shape_rod, shape_mesh};
	int given = -1;
	def->mass = in->mass;
	def->com = in->com;
	for (int i = 0; i <= SHAPES; i++) {
		if (shapes[i] && given >= 0)
			return reader_fail(r, shapes[i],
			                   "give only one of \"inertia\", \"box\", \"sphere\", \"cylinder\", \"rod\" and \"mesh\"");
		if (shapes[i])
			given = i;
	}
	if (given < 0 || given == SHAPES)
		return read_numbers(r, body, in, def);
	if (in->mass_node)
		return reader_fail(r, tree_get(body, "mass_node"),
		                   "a shape is placed in the body frame by \"com\"; give \"inertia\" as numbers, or remove "
		                   "\"mass_node\"");
	Shape shape = {0};
	return readers[given](r, shapes[given], &shape) && apply_shape(r, body, shapes[given], in, &shape, def);
}
