// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_check.c — what a native file cannot hold, found before anything is written.
 *
 * The builder takes more than the reader: functions, names with any character, numbers that only the validation of the
 * whole description refuses. Each is reported by the name of its object.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "io/model/writer/model_file_write.h"

enum {
	NAME_MAX_LENGTH = 500,
	MODES_MAX = 1000
}; // keys of YAML have 1024 characters, and most escapes take two for a byte

/* ---- names --------------------------------------------------------------------------------------------- */

/* Length of the character of UTF-8 at p that a YAML file may hold, or 0. */
static int character_length(const unsigned char *p) {
	if (p[0] < 0x80)
		return p[0] >= ' ';
	const int length = p[0] >= 0xF0 && p[0] < 0xF5   ? 4
	                   : p[0] >= 0xE0 && p[0] < 0xF0 ? 3
	                   : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
	                                                 : 0;
	unsigned code = length ? p[0] & (0xFFu >> (length + 1)) : 0;
	for (int i = 1; i < length; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3F);
	}
	static const unsigned least[] = {0, 0, 0xA0, 0x800, 0x10000};
	const bool refused = code < least[length] || (code >= 0xD800 && code < 0xE000) || code == 0xFEFF ||
	                     code > 0x10FFFF || code == 0xFFFE || code == 0xFFFF;
	return refused ? 0 : length;
}

CalStatus write_check_name(const Writer *w, const char *kind, const char *name) {
	size_t written = 0;
	for (const unsigned char *p = (const unsigned char *)name; *p;) {
		const int length = strchr(",\"", *p) ? 0 : character_length(p);
		written += *p == 0x7F ? 4 : 2 * (size_t)length; // "\\x7F"
		if (!length)
			return error_set(w->error, CAL_ERR_UNSUPPORTED,
			                 "%s \"%.*s\": a name in a file cannot hold , \" or control characters and must be UTF-8; "
			                 "rename it",
			                 kind, NAME_MAX_LENGTH, name);
		p += length;
	}
	if (written > 2 * NAME_MAX_LENGTH)
		return error_set(w->error, CAL_ERR_UNSUPPORTED,
		                 "%s \"%.60s...\": a name in a file has at most %d bytes, half as many of 0x7F; rename it",
		                 kind, name, NAME_MAX_LENGTH);
	return CAL_OK;
}

static CalStatus check_names(const Writer *w) {
	CalStatus status = CAL_OK;
	for (int i = 1; i <= cal_desc_group_count(w->desc) && status == CAL_OK; i++)
		status = write_check_name(w, "group", cal_desc_group(w->desc, (CalGroupId){(uint32_t)i})->name);
	for (int i = 1; i <= cal_desc_node_count(w->desc) && status == CAL_OK; i++)
		status = write_check_name(w, "node", cal_desc_node(w->desc, (CalNodeId){(uint32_t)i}, NULL)->name);
	return status;
}

/* ---- bodies --------------------------------------------------------------------------------------------- */

static CalStatus refuse_object(const Writer *w, const char *kind, const char *name, const char *what) {
	return error_set(w->error, CAL_ERR_UNSUPPORTED, "%s \"%s\": %s", kind, name, what);
}

/* As the reader checks it. */
static bool is_symmetric(const CalMat3 *inertia) {
	const double(*m)[3] = inertia->m;
	const double bound = 1e-9 * (fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]));
	return fabs(m[0][1] - m[1][0]) <= bound && fabs(m[0][2] - m[2][0]) <= bound && fabs(m[1][2] - m[2][1]) <= bound;
}

static CalStatus check_flexible(const Writer *w, const char *name, const CalFlexDef *flex) {
	if (flex->modes > MODES_MAX)
		return error_set(w->error, CAL_ERR_UNSUPPORTED,
		                 "body \"%s\": a flexible body in a file has at most %d modes, not %d", name, MODES_MAX,
		                 flex->modes);
	for (int i = 0; i < flex->node_count; i++) {
		const CalFlexNode *node = &flex->nodes[i];
		const char *what = node->mass < 0                  ? "its mass is negative"
		                   : !is_symmetric(&node->inertia) ? "its rotary inertia is not symmetric"
		                                                   : NULL;
		if (what)
			return error_set(w->error, CAL_ERR_UNSUPPORTED, "body \"%s\", node \"%s\": %s; a file cannot hold that",
			                 name, cal_desc_node(w->desc, node->node, NULL)->name, what);
	}
	return CAL_OK;
}

static CalStatus check_body(const Writer *w, CalBodyId id) {
	const CalBodyDef *body = cal_desc_body(w->desc, id);
	CalFlexDef flex = {0};
	CalStatus status = write_check_name(w, "body", body->name);
	if (status == CAL_OK && !is_symmetric(&body->inertia))
		status = refuse_object(w, "body", body->name, "its inertia is not symmetric; a file cannot hold that");
	cal_flex_body(w->desc, id, NULL, &flex);
	return status == CAL_OK ? check_flexible(w, body->name, &flex) : status;
}

/* ---- joints and loops ------------------------------------------------------------------------------------ */

static CalStatus check_joint(const Writer *w, CalJointId id) {
	const CalJointDef *def = cal_desc_joint(w->desc, id, NULL, NULL);
	CalStatus status = write_check_name(w, "joint", def->name);
	if (status != CAL_OK)
		return status;
	CalJointTypeInfo info = {0};
	cal_joint_type_info(def->type, &info);
	if (info.uses & CAL_JOINT_USES_OPS)
		return refuse_object(w, "joint", def->name,
		                     "a joint of type user is made of C functions, which a file cannot hold");
	const int speeds = cal_joint_speed_count(def);
	if (speeds < 0)
		return refuse_object(w, "joint", def->name, "an element of its sequence is of a type that cannot be there");
	if (speeds > CAL_JOINT_MAX_DOF)
		return refuse_object(w, "joint", def->name, "its elements have more than six degrees of freedom");
	for (int i = 0; i < speeds; i++) {
		const CalDofDef *d = &def->dof[i];
		if (d->stiffness < 0 || d->damping < 0 || d->rotor_inertia < 0)
			return refuse_object(w, "joint", def->name,
			                     "stiffness, damping and rotor inertia in a file must not be negative; correct them");
	}
	return CAL_OK;
}

static CalStatus check_terms(const Writer *w, const CalLoopDef *def) {
	for (int i = 0; i < def->term_count; i++) {
		const CalLoopTerm *term = &def->term[i];
		const CalJointDef *joint = cal_desc_joint(w->desc, (CalJointId){w->carrier[term->body.value]}, NULL, NULL);
		CalFlexDef flex = {0};
		cal_flex_body(w->desc, term->body, NULL, &flex);
		if (!joint || term->dof < 0 || term->dof >= cal_joint_speed_count(joint) + flex.modes)
			return error_set(
				w->error, CAL_ERR_UNSUPPORTED,
				"loop \"%s\": term %d is degree of freedom %d of body \"%s\", which has none of that number; a file "
				"names it by joint or mode",
				def->name, i + 1, term->dof + 1, cal_desc_body(w->desc, term->body)->name);
	}
	return CAL_OK;
}

/* Functions are formulas or tables, and without the numbers of a closed form. */
CalStatus write_check_drives(const Writer *w, const CalLoopDef *def) {
	for (int row = 0; row < CAL_LOOP_MAX_ROWS; row++) {
		const CalDrive *d = &def->drive[row];
		const double numbers[] = {d->offset, d->speed, d->acceleration, d->amplitude, d->frequency, d->phase};
		CalTimeFunction function;
		const bool held = cal_drive_function_get(d, &function);
		if (d->fn && (!held || !all_zero(numbers, 6)))
			return error_set(w->error, CAL_ERR_UNSUPPORTED,
			                 held ? "loop \"%s\": row %s is driven by a function and numbers, which a file cannot hold"
			                      : "loop \"%s\": row %s is driven by a C function, which a file cannot hold",
			                 def->name ? def->name : "", cal_loop_row_name(def, row));
	}
	return CAL_OK;
}

static CalStatus check_loop(const Writer *w, CalLoopId id) {
	const CalLoopDef *def = cal_desc_loop(w->desc, id, NULL, NULL);
	CalStatus status = write_check_name(w, "loop", def->name);
	if (status == CAL_OK)
		status = write_check_drives(w, def);
	if (status != CAL_OK)
		return status;
	CalLoopTypeInfo info = {0};
	cal_loop_type_info(def->type, &info);
	return info.uses & CAL_LOOP_USES_TERMS ? check_terms(w, def) : CAL_OK;
}

CalStatus write_check(const Writer *w) {
	CalStatus status = check_names(w);
	for (int i = 1; i <= cal_desc_body_count(w->desc) && status == CAL_OK; i++)
		status = check_body(w, (CalBodyId){(uint32_t)i});
	for (int i = 1; i <= cal_desc_joint_count(w->desc) && status == CAL_OK; i++)
		status = check_joint(w, (CalJointId){(uint32_t)i});
	for (int i = 1; i <= cal_desc_loop_count(w->desc) && status == CAL_OK; i++)
		status = check_loop(w, (CalLoopId){(uint32_t)i});
	return status;
}
