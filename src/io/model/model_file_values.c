// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_values.c — values of keys: quantities, vectors, axes, orientations, placements, flags.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "io/model/model_file.h"
#include "math/portable.h"

/* More than a turn without a unit: degrees, more often than not. */
static bool check_angle(Reader *r, const TreeNode *node, double value) {
	static const double turn = 6.283185307179586;
	if (!(fabs(value) > 1.0000001 * turn) || !r->file->desc || !quantity_is_plain(node->text))
		return true;
	return reader_warn(r, node,
	                   "the angle %.40s is in rad, %.3g turns; write \"%.40s deg\", or \"%.40s rad\" if it is meant",
	                   node->text, fabs(value) / turn, node->text, node->text);
}

bool read_quantity(Reader *r, const TreeNode *node, Dimension dimension, double *out) {
	char message[256];
	if (node->kind != TREE_SCALAR)
		return reader_fail(r, node, "expected %s, e.g. \"%s\", not a list or a map", dimension_what(dimension),
		                   dimension_example(dimension));
	if (!quantity_parse(node->text, dimension, out, message, sizeof message))
		return reader_fail(r, node, "%s", message);
	return dimension != DIM_ANGLE || check_angle(r, node, *out);
}

bool read_list(Reader *r, const TreeNode *node, const char *what) {
	return node->kind == TREE_LIST || reader_fail(r, node, "expected a list of %s", what);
}

bool read_vector(Reader *r, const TreeNode *node, Dimension dimension, CalVec3 *out) {
	double x[3];
	if (node->kind != TREE_LIST || node->count != 3)
		return reader_fail(r, node, "expected a list of three numbers [x, y, z], each %s such as %s%s",
		                   dimension_what(dimension), dimension_example(dimension),
		                   node->kind == TREE_LIST && node->count > 3 && node->count <= 6
		                       ? "; commas separate numbers, their decimals follow a point"
		                       : "");
	for (int i = 0; i < 3; i++) {
		if (!read_quantity(r, node->items[i], dimension, &x[i]))
			return false;
	}
	*out = (CalVec3){x[0], x[1], x[2]};
	return true;
}

bool read_scale(Reader *r, const TreeNode *node, CalVec3 *out) {
	CalVec3 s;
	if (node->kind == TREE_LIST ? !read_vector(r, node, DIM_NUMBER, &s) : !read_quantity(r, node, DIM_NUMBER, &s.x))
		return false;
	if (node->kind != TREE_LIST)
		s.y = s.z = s.x;
	if (s.x == 0 || s.y == 0 || s.z == 0)
		return reader_fail(r, node, "a factor of 0 makes the mesh flat; take numbers that are not 0");
	*out = s;
	return true;
}

bool read_text(Reader *r, const TreeNode *node, const char **out) {
	if (node->kind != TREE_SCALAR)
		return reader_fail(r, node, "expected a text, not a list or a map");
	*out = node->text;
	return true;
}

bool read_flag(Reader *r, const TreeNode *node, int *out) {
	static const char *const words[] = {"false", "true", "no", "yes"};
	for (int i = 0; node->kind == TREE_SCALAR && i < 4; i++) {
		if (strcmp(node->text, words[i]) == 0) {
			*out = i % 2;
			return true;
		}
	}
	return reader_fail(r, node, "expected true or false");
}

bool read_index(Reader *r, const TreeNode *node, const char *key, int count, const char *whose, const char *name,
                int *index) {
	double number = 0;
	if (!read_quantity(r, node, DIM_NUMBER, &number))
		return false;
	if (!(number >= 1 && number <= count) || number != (double)(int)number)
		return reader_fail(r, node, "\"%s\" must be a whole number from 1 to %d, %s \"%.80s\"", key, count, whose,
		                   name);
	*index = (int)number - 1;
	return true;
}

bool read_axis(Reader *r, const TreeNode *node, CalVec3 *out) {
	if (node->kind == TREE_SCALAR) {
		const char *p = node->text;
		const double sign = *p == '-' ? -1 : 1;
		p += *p == '-' || *p == '+';
		if (*p >= 'x' && *p <= 'z' && !p[1]) {
			*out = (CalVec3){*p == 'x' ? sign : 0, *p == 'y' ? sign : 0, *p == 'z' ? sign : 0};
			return true;
		}
		return reader_fail(r, node, "\"%.40s\" is no axis; write x, y, z, -x, -y, -z or a list of three numbers",
		                   node->text);
	}
	if (!read_vector(r, node, DIM_NUMBER, out))
		return false;
	if (out->x == 0 && out->y == 0 && out->z == 0)
		return reader_fail(r, node, "an axis cannot be zero");
	return true;
}

/* ---- orientations and placements --------------------------------------------------------------- */

typedef struct RotationInput {
	const TreeNode *x, *y, *z, *angle;
	CalVec3 axis;
} RotationInput;

static const Field rotation_keys[] = {
	{"x", FIELD_NUMBER, offsetof(RotationInput, x), DIM_ANGLE, .flags = FIELD_AS_TREE, .doc = "about the x axis"},
	{"y", FIELD_NUMBER, offsetof(RotationInput, y), DIM_ANGLE, .flags = FIELD_AS_TREE, .doc = "about the y axis"},
	{"z", FIELD_NUMBER, offsetof(RotationInput, z), DIM_ANGLE, .flags = FIELD_AS_TREE, .doc = "about the z axis"},
	{"axis", FIELD_AXIS, offsetof(RotationInput, axis), .doc = "of the rotation"},
	{"angle", FIELD_NUMBER, offsetof(RotationInput, angle), DIM_ANGLE, .flags = FIELD_AS_TREE, .doc = "about `axis`"},
};
const FieldTable rotation_table = {FIELDS("rotation", rotation_keys),
                                   .doc = "Exactly one of `x`, `y`, `z`, or `axis` together with `angle`."};

static CalQuat quat_multiply(CalQuat a, CalQuat b) {
	return (CalQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* q := q times the rotation by angle about axis. */
static void quat_turn(CalQuat *q, CalVec3 axis, double angle) {
	const double length = portable_hypot(portable_hypot(axis.x, axis.y), axis.z), s = portable_sin(angle / 2) / length;
	*q = quat_multiply(*q, (CalQuat){portable_cos(angle / 2), s * axis.x, s * axis.y, s * axis.z});
}

/* One rotation: {z: 30 deg} or {axis: [1, 1, 0], angle: 30 deg}. */
static bool read_rotation(Reader *r, const TreeNode *node, CalQuat *q) {
	RotationInput input = {0};
	if (!fields_read(r, node, &rotation_table, &input))
		return false;
	const TreeNode *about[3] = {input.x, input.y, input.z};
	const int has_axis = input.axis.x != 0 || input.axis.y != 0 || input.axis.z != 0;
	const int count = !!input.x + !!input.y + !!input.z + (has_axis || input.angle);
	double angle = 0;
	if (count != 1 || (has_axis && !input.angle) || (!has_axis && input.angle))
		return reader_fail(r, node,
		                   "one rotation is {x: angle}, {y: angle}, {z: angle} or {axis: [x, y, z], angle: angle}; "
		                   "write several as a list, each about the axes left by the one before");
	for (int i = 0; i < 3; i++) {
		if (about[i]) {
			if (!read_quantity(r, about[i], DIM_ANGLE, &angle))
				return false;
			quat_turn(q, (CalVec3){i == 0, i == 1, i == 2}, angle);
		}
	}
	if (has_axis) {
		if (!read_quantity(r, input.angle, DIM_ANGLE, &angle))
			return false;
		quat_turn(q, input.axis, angle);
	}
	return true;
}

static bool read_quaternion(Reader *r, const TreeNode *node, CalQuat *out) {
	double x[4];
	if (node->count != 4)
		return reader_fail(r, node,
		                   "an orientation is a quaternion [w, x, y, z], a rotation such as {z: 30 deg}, or a list "
		                   "of rotations");
	for (int i = 0; i < 4; i++) {
		if (!read_quantity(r, node->items[i], DIM_NUMBER, &x[i]))
			return false;
	}
	const double norm = portable_hypot(portable_hypot(x[0], x[1]), portable_hypot(x[2], x[3]));
	if (!(fabs(norm - 1) < 1e-3))
		return reader_fail(r, node, "the quaternion [w, x, y, z] has the norm %g; it must be 1 (within 0.001)", norm);
	const double scale = fabs(norm - 1) > 8 * DBL_EPSILON ? norm : 1; // a unit one stays as it is, to the bit
	*out = (CalQuat){x[0] / scale, x[1] / scale, x[2] / scale, x[3] / scale};
	return true;
}

bool read_orientation(Reader *r, const TreeNode *node, CalQuat *out) {
	*out = (CalQuat){1, 0, 0, 0};
	if (node->kind == TREE_MAP)
		return read_rotation(r, node, out);
	if (node->kind == TREE_SCALAR || node->count == 0 || node->items[0]->kind != TREE_MAP)
		return read_quaternion(r, node, out);
	for (int i = 0; i < node->count; i++) {
		if (!read_rotation(r, node->items[i], out))
			return false;
	}
	return true;
}

static const Field placement_keys[] = {
	{"at", FIELD_VECTOR, offsetof(CalPlacement, position), DIM_LENGTH, .doc = "default the origin"},
	{"orientation", FIELD_ORIENTATION, offsetof(CalPlacement, orientation), .doc = "default none"},
};
const FieldTable placement_table = {FIELDS("placement", placement_keys), .brief = FIELD_VECTOR,
                                    .doc = "Where a joint sits on a node."};

bool read_placement(Reader *r, const TreeNode *node, CalPlacement *out) {
	*out = (CalPlacement){.orientation = {1, 0, 0, 0}};
	if (node->kind == TREE_LIST)
		return read_vector(r, node, DIM_LENGTH, &out->position);
	return fields_read(r, node, &placement_table, out);
}
