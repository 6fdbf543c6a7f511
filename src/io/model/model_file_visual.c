// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_visual.c — what bodies look like: the key `visual`, or else the shape that gives a body its mass.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/model_file.h"
#include "math/placement.h"

/* ---- shapes -------------------------------------------------------------------------------------- */

typedef struct VisualInput {
	const TreeNode *shape[CAL_VISUAL_COUNT]; // in the order of the kinds
	CalPlacement placement;
	CalVec3 scale;
	const TreeNode *color;
} VisualInput;

#define SHAPE(kind) offsetof(VisualInput, shape[CAL_VISUAL_##kind])
static const Field visual_keys[] = {
	{"box", FIELD_MAP, SHAPE(BOX), .flags = FIELD_AS_TREE, .doc = "a box", .table = &box_table},
	{"sphere", FIELD_MAP, SHAPE(SPHERE), .flags = FIELD_AS_TREE, .doc = "a sphere", .table = &sphere_table},
	{"cylinder", FIELD_MAP, SHAPE(CYLINDER), .flags = FIELD_AS_TREE, .doc = "a cylinder", .table = &cylinder_table},
	{"capsule", FIELD_MAP, SHAPE(CAPSULE), .flags = FIELD_AS_TREE,
     .doc = "a cylinder with half spheres beyond both ends", .table = &cylinder_table},
	{"cone", FIELD_MAP, SHAPE(CONE), .flags = FIELD_AS_TREE, .doc = "a cone whose tip points along the axis",
     .table = &cylinder_table},
	{"plane", FIELD_PAIR, SHAPE(PLANE), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "a rectangle perpendicular to z"},
	{"mesh", FIELD_FILE, SHAPE(MESH), .flags = FIELD_AS_TREE,
     .doc = "an STL, OBJ, glTF or GLB file, which is read when the model is drawn"},
	{"at", FIELD_VECTOR, offsetof(VisualInput, placement.position), DIM_LENGTH,
     .doc = "in the body frame; default the origin"},
	{"orientation", FIELD_ORIENTATION, offsetof(VisualInput, placement.orientation),
     .doc = "default along the body axes"},
	{"scale", FIELD_SCALE, offsetof(VisualInput, scale),
     .doc = "mesh: [m] for a unit of the file, or three factors along its axes; a negative one mirrors it; default 1"},
	{"color", FIELD_TEXT, offsetof(VisualInput, color), .flags = FIELD_AS_TREE,
     .doc = "`\"#rrggbb\"`; default the viewer's choice"},
};
const FieldTable visual_table = {FIELDS("visual", visual_keys),
                                 .doc = "A shape that is drawn, without any effect on the motion."};

static bool read_color(Reader *r, const TreeNode *node, int *color) {
	char *end = NULL;
	const char *text;
	if (!read_text(r, node, &text))
		return false;
	const long value = text[0] == '#' && strlen(text) == 7 ? strtol(text + 1, &end, 16) : -1;
	if (value < 0 || !end || *end || strspn(text + 1, "0123456789abcdefABCDEF") != 6)
		return reader_fail(r, node, "a color is written as \"#rrggbb\" in hexadecimal digits, not \"%.40s\"", text);
	*color = (int)value;
	return true;
}

static bool read_plane(Reader *r, const TreeNode *node, CalVec3 *size) {
	if (node->kind != TREE_LIST || node->count != 2)
		return reader_fail(r, node, "a plane is drawn as a rectangle; give its two sides, e.g. [10, 5]");
	return read_quantity(r, node->items[0], DIM_LENGTH, &size->x) &&
	       read_quantity(r, node->items[1], DIM_LENGTH, &size->y);
}

/* Whether there is such a mesh is found out by whoever draws it: a run does not need it. */
static bool read_mesh(Reader *r, const TreeNode *node, CalVec3 scale, CalVisual *out) {
	char path[1024];
	out->size = scale;
	return read_text(r, node, &out->file) && reader_path(r, node, NULL, out->file, path, sizeof path);
}

static bool read_shape(Reader *r, const TreeNode *node, const VisualInput *in, CalVisual *out) {
	switch (out->kind) {
	case CAL_VISUAL_PLANE:
		return read_plane(r, node, &out->size);
	case CAL_VISUAL_MESH:
		return read_mesh(r, node, in->scale, out);
	default:
		return model_file_read_outline(r, node, false, out);
	}
}

static bool is_identity(const CalPlacement *p) {
	return p->position.x == 0 && p->position.y == 0 && p->position.z == 0 && p->orientation.w == 1;
}

static bool read_visual(Reader *r, const TreeNode *map, CalVisual *out) {
	VisualInput in = {.placement.orientation = {1, 0, 0, 0}, .scale = {1, 1, 1}};
	int given = -1;
	if (!fields_read(r, map, &visual_table, &in))
		return false;
	for (int i = 0; i < CAL_VISUAL_COUNT; i++) {
		if (in.shape[i] && given >= 0)
			return reader_fail(r, in.shape[i], "a visual is one shape; write a list of them");
		given = in.shape[i] ? i : given;
	}
	if (given < 0)
		return reader_fail(r, map, "name a shape: box, sphere, cylinder, capsule, cone, plane or mesh");
	if (tree_get(map, "scale") && given != CAL_VISUAL_MESH)
		return reader_fail(r, tree_get(map, "scale"), "only a mesh is scaled");
	*out = (CalVisual){.kind = (CalVisualKind)given, .placement.orientation = {1, 0, 0, 0}, .color = -1};
	if (!read_shape(r, in.shape[given], &in, out) || (in.color && !read_color(r, in.color, &out->color)))
		return false;
	if (is_identity(&out->placement)) {
		out->placement = in.placement; // bit by bit, as the writer wrote it
		return true;
	}
	const dpose X = dpose_mul(pose_of(in.placement), pose_of(out->placement)); // the shape, and within it its outline
	out->placement = placement_of(&X);
	return true;
}

/* ---- bodies ---------------------------------------------------------------------------------------- */

static bool add_visual(Reader *r, const TreeNode *node, CalBodyId body, const CalVisual *visual) {
	return reader_added(r, node, cal_setup_add_visual(r->file->setup, body, visual, r->error));
}

static bool read_given(Reader *r, const TreeNode *node, CalBodyId body) {
	const int count = node->kind == TREE_LIST ? node->count : 1;
	for (int i = 0; i < count; i++) {
		const TreeNode *map = node->kind == TREE_LIST ? node->items[i] : node;
		CalVisual visual;
		if (!read_visual(r, map, &visual) || !add_visual(r, map, body, &visual))
			return false;
	}
	return true;
}

static bool read_of_mass(Reader *r, const BodyInput *body, CalVec3 center, CalBodyId id) {
	static const CalVisualKind kinds[] = {CAL_VISUAL_BOX, CAL_VISUAL_SPHERE, CAL_VISUAL_CYLINDER, CAL_VISUAL_CYLINDER};
	const TreeNode *shapes[] = {body->box, body->sphere, body->cylinder, body->rod};
	for (int i = 0; i < 4; i++) {
		if (!shapes[i])
			continue;
		CalVisual visual = {
			.kind = kinds[i], .placement = {.position = center, .orientation = {1, 0, 0, 0}}, .color = -1};
		return model_file_read_outline(r, shapes[i], shapes[i] == body->rod, &visual) &&
		       add_visual(r, shapes[i], id, &visual);
	}
	CalVisual visual = {.color = -1};
	return !body->mesh ||
	       (model_file_read_mesh_outline(r, body->mesh, &visual) && add_visual(r, body->mesh, id, &visual));
}

bool model_file_read_visual(Reader *r, const BodyInput *body, CalVec3 center, CalBodyId id) {
	return body->visual ? read_given(r, body->visual, id) : read_of_mass(r, body, center, id);
}

bool model_file_read_ground_visual(Reader *r, const TreeNode *node) { return read_given(r, node, (CalBodyId){0}); }
