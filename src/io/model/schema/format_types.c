// SPDX-License-Identifier: Apache-2.0
/*
 * format_types.c — the types of joints and loops in Markdown, from the tables of src/joint and src/loop.
 */
#include "io/model/schema/format_types.h"

#include <calder/build.h>

typedef struct TypeKey {
	int uses;
	const char *key;
} TypeKey;

static void write_keys(const TypeKey *keys, int count, int uses, FILE *out) {
	int written = 0;
	for (int i = 0; i < count; i++) {
		if (uses & keys[i].uses)
			fprintf(out, "%s`%s`", written++ ? ", " : "", keys[i].key);
	}
}

/* ---- joints -------------------------------------------------------------------------------------- */

enum { REVERSIBLE = 1 << 16 }; // beside CAL_JOINT_USES_*

static const TypeKey joint_keys[] = {{CAL_JOINT_USES_AXIS, "axis"},
                                     {CAL_JOINT_USES_AXIS2, "axis2"},
                                     {CAL_JOINT_USES_PITCH, "pitch"},
                                     {CAL_JOINT_USES_ELEMENTS, "elements"},
                                     {REVERSIBLE, "reversed"}};

/* Of a sequence they depend on its elements. */
static void write_names(const char *names, const char *example, FILE *out) {
	if (!names)
		fprintf(out, "with the number of the element: %s", example);
	else if (names[0])
		fprintf(out, "`%s`", names);
}

static void write_joint_type(CalJointType type, FILE *out) {
	CalJointTypeInfo info;
	if (cal_joint_type_info(type, &info) != CAL_OK || info.uses & CAL_JOINT_USES_OPS)
		return; // of C functions: not in files
	fprintf(out, "| `%s` | %s", cal_joint_type_name(type), info.coordinates);
	fprintf(out, " | ");
	write_names(info.coordinate_names, "`angle1`, `length2`", out);
	fprintf(out, " | %s | ", info.speeds);
	write_names(info.speed_names, "`rate1`, `speed2`", out);
	fprintf(out, " | ");
	write_keys(joint_keys, sizeof joint_keys / sizeof joint_keys[0], info.uses | (info.reversible ? REVERSIBLE : 0),
	           out);
	fprintf(out, " |\n");
}

/* ---- loops --------------------------------------------------------------------------------------- */

static const TypeKey loop_keys[] = {
	{CAL_LOOP_USES_A, "from"},        {CAL_LOOP_USES_B, "to"},          {CAL_LOOP_USES_LENGTH, "length"},
	{CAL_LOOP_USES_PITCH, "pitch"},   {CAL_LOOP_USES_RADIUS, "radius"}, {CAL_LOOP_USES_AXES, "translation"},
	{CAL_LOOP_USES_AXES, "rotation"}, {CAL_LOOP_USES_TERMS, "terms"},   {CAL_LOOP_USES_B, "applied_wrench"}};

static void write_loop_type(CalLoopType type, FILE *out) {
	CalLoopTypeInfo info;
	const CalLoopDef def = {.type = type};
	const char *name;
	if (cal_loop_type_info(type, &info) != CAL_OK)
		return;
	fprintf(out, "| `%s` | %s | %s | ", cal_loop_type_name(type), info.vanishes, info.motion);
	if (info.uses & CAL_LOOP_USES_AXES)
		fprintf(out, "`dx` … `rz`; one rotation alone: `yz`, `zx` or `xy`");
	for (int row = 0; (name = cal_loop_row_name(&def, row)) != NULL; row++)
		fprintf(out, "%s%s", row ? " " : "`", name);
	fprintf(out, "%s | ", info.uses & CAL_LOOP_USES_AXES ? "" : "`");
	write_keys(loop_keys, sizeof loop_keys / sizeof loop_keys[0], info.uses, out);
	fprintf(out, " |\n");
}

void format_write_types(FILE *out) {
	fprintf(out, "<!-- fields: joint_types -->\n"
	             "| type | coordinates q | their names | speeds u | their names | keys of its own |\n"
	             "| --- | --- | --- | --- | --- | --- |\n");
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++)
		write_joint_type((CalJointType)i, out);
	fprintf(out, "<!-- end -->\n\n<!-- fields: loop_types -->\n"
	             "| type | what vanishes | motion that is left | equations | keys of its own |\n"
	             "| --- | --- | --- | --- | --- |\n");
	for (int i = 0; i < CAL_LOOP_TYPE_COUNT; i++)
		write_loop_type((CalLoopType)i, out);
	fprintf(out, "<!-- end -->\n\n");
}
