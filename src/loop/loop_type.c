// SPDX-License-Identifier: Apache-2.0
/*
 * loop_type.c — the list of loop types, and what follows from it for the constraint equations.
 */
#include "loop/loop_type.h"

const LoopType *const loop_types[CAL_LOOP_TYPE_COUNT] = {
#define LOOP_TYPE_ENTRY(type, name) [type] = &loop_type_##name,
	CAL_LOOP_TYPE_LIST(LOOP_TYPE_ENTRY)
#undef LOOP_TYPE_ENTRY
};

static int is_in_list(CalLoopType type) { return (int)type >= 0 && type < CAL_LOOP_TYPE_COUNT; }

const char *cal_loop_type_name(CalLoopType type) {
	static const char *const names[CAL_LOOP_TYPE_COUNT] = {
#define LOOP_TYPE_NAME(type, name) [type] = #name,
		CAL_LOOP_TYPE_LIST(LOOP_TYPE_NAME)
#undef LOOP_TYPE_NAME
	};
	return is_in_list(type) ? names[type] : NULL;
}

CalStatus cal_loop_type_info(CalLoopType type, CalLoopTypeInfo *info) {
	if (!is_in_list(type) || !info)
		return CAL_ERR_ARGUMENT;
	const LoopType *t = loop_type(type);
	*info = (CalLoopTypeInfo){.vanishes = t->vanishes, .motion = t->motion, .uses = t->uses};
	return CAL_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

int loop_def_translation(const CalLoopDef *def) {
	const LoopType *type = loop_type(def->type);
	return type->uses & CAL_LOOP_USES_AXES ? def->translation : type->translation;
}

int loop_def_rotation(const CalLoopDef *def) {
	const LoopType *type = loop_type(def->type);
	return type->uses & CAL_LOOP_USES_AXES ? def->rotation : type->rotation;
}

static int axis_count(int set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1); }

/* Rows beside those that lock axes. */
static int further_rows(const LoopType *type) {
	int count = 0;
	while (count < CAL_LOOP_MAX_ROWS && type->rows[count])
		++count;
	return count;
}

int loop_def_rows(const CalLoopDef *def) {
	return axis_count(loop_def_translation(def)) + axis_count(loop_def_rotation(def)) +
	       further_rows(loop_type(def->type));
}

int loop_angle_rows(CalLoopType type, int rotation) {
	const LoopType *t = loop_type(type);
	return axis_count(rotation) + (t->kind == CAL_COORDINATE_ANGLE ? further_rows(t) : 0);
}

/* Of a row that locks an axis of A, or of one that two axes make alone: they stay perpendicular. */
static const char *direction_name(int translation, int rotation, int row) {
	static const char *const along[] = {"dx", "dy", "dz"}, *const about[] = {"rx", "ry", "rz"};
	static const char *const alone[] = {"yz", "zx", "xy"};
	for (int i = 0; i < 6; i++) {
		const int set = i < 3 ? translation : rotation, k = i % 3;
		if (set & 1 << k && row-- == 0)
			return i < 3 ? along[k] : axis_count(rotation) == 1 ? alone[k] : about[k];
	}
	return NULL;
}

const char *cal_loop_row_name(const CalLoopDef *def, int row) {
	if (!def || !is_in_list(def->type) || row < 0 || row >= loop_def_rows(def))
		return NULL;
	const int translation = loop_def_translation(def), rotation = loop_def_rotation(def);
	const char *name = direction_name(translation, rotation, row);
	return name ? name : loop_type(def->type)->rows[row - axis_count(translation) - axis_count(rotation)];
}

CalCoordinateKind cal_loop_row_kind(const CalLoopDef *def, int row) {
	if (!cal_loop_row_name(def, row))
		return CAL_COORDINATE_USER;
	const int translations = axis_count(loop_def_translation(def)), rotations = axis_count(loop_def_rotation(def));
	return row < translations               ? CAL_COORDINATE_LENGTH
	       : row < translations + rotations ? CAL_COORDINATE_ANGLE
	                                        : loop_type(def->type)->kind;
}
