// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_loop.c — loops: sides, frames, numbers of their type, terms, drives, stabilisation, applied wrenches.
 */
#include <calder/mechanism.h>

#include "io/model/writer/model_file_write.h"

static void put_axes(Writer *w, bool *first, const char *key, int set) {
	if (!set)
		return;
	put_key(w, first, key);
	fprintf(w->out, "\"%s%s%s\"", set & CAL_AXIS_X ? "x" : "", set & CAL_AXIS_Y ? "y" : "",
	        set & CAL_AXIS_Z ? "z" : "");
}

static void put_side(Writer *w, bool *first, const char *key, CalNodeId node) {
	if (!node.value)
		return;
	put_key(w, first, key);
	put_path(w, node);
}

/* A term counts the speeds of the joint that carries its body, then the modes of the body. */
static void put_term(Writer *w, const CalLoopTerm *term) {
	const CalJointDef *joint = cal_desc_joint(w->desc, (CalJointId){w->carrier[term->body.value]}, NULL, NULL);
	const int speeds = cal_joint_speed_count(joint);
	const bool of_joint = term->dof < speeds;
	bool first = true;
	fputc('{', w->out);
	put_key(w, &first, of_joint ? "joint" : "body");
	put_text(w, of_joint ? joint->name : cal_desc_body(w->desc, term->body)->name);
	put_key(w, &first, of_joint ? "dof" : "mode");
	fprintf(w->out, "%d", 1 + term->dof - (of_joint ? 0 : speeds));
	put_key(w, &first, "factor");
	put_number(w, term->factor);
	fputc('}', w->out);
}

static void put_terms(Writer *w, bool *first, const CalLoopDef *def) {
	put_key(w, first, "terms");
	for (int i = 0; i < def->term_count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_term(w, &def->term[i]);
	}
	fputc(']', w->out);
}

static bool is_driven(const CalDrive *d) {
	const double numbers[] = {d->offset, d->speed, d->acceleration, d->amplitude, d->frequency, d->phase};
	return d->fn || !all_zero(numbers, 6);
}

static bool is_angle(const CalLoopDef *def, int row) { return cal_loop_row_kind(def, row) == CAL_COORDINATE_ANGLE; }

static void put_drives(Writer *w, bool *first, const CalLoopDef *def) {
	bool any = false;
	for (int row = 0; row < CAL_LOOP_MAX_ROWS; row++) {
		const CalDrive *d = &def->drive[row];
		const char *name = cal_loop_row_name(def, row);
		bool inner = true;
		if (!name || !is_driven(d))
			continue;
		if (!any)
			put_key(w, first, "drive");
		fputs(any ? ", {" : "[{", w->out);
		any = true;
		put_key(w, &inner, "row");
		put_text(w, name);
		CalTimeFunction function;
		if (cal_drive_function_get(d, &function)) {
			put_key(w, &inner, "value");
			put_function(w, &function, is_angle(def, row));
		}
		put_quantity(w, &inner, "offset", d->offset);
		put_quantity(w, &inner, "speed", d->speed);
		put_quantity(w, &inner, "acceleration", d->acceleration);
		put_quantity(w, &inner, "amplitude", d->amplitude);
		put_quantity(w, &inner, "frequency", d->frequency);
		put_quantity(w, &inner, "phase", d->phase);
		fputc('}', w->out);
	}
	fputs(any ? "]" : "", w->out);
}

static void put_stabilisation(Writer *w, bool *first, const CalLoopDef *def) {
	bool inner = true;
	if (def->frequency == 0)
		return;
	put_key(w, first, "stabilisation");
	fputc('{', w->out);
	put_quantity(w, &inner, "frequency", def->frequency);
	put_key(w, &inner, "damping"); // its default is not zero
	put_number(w, def->damping);
	fputc('}', w->out);
}

static void put_applied_wrench(Writer *w, bool *first, const CalSpatial *wrench) {
	const CalVec3 f = wrench->linear, m = wrench->angular;
	const double numbers[] = {f.x, f.y, f.z, m.x, m.y, m.z};
	bool inner = true;
	if (all_zero(numbers, 6))
		return;
	put_key(w, first, "applied_wrench");
	fputc('{', w->out);
	put_vector(w, &inner, "force", f);
	put_vector(w, &inner, "moment", m);
	fputc('}', w->out);
}

/* What ties frames: two, or one alone. */
static void put_frames(Writer *w, bool *first, const CalLoopDef *def, int uses, CalNodeId a, CalNodeId b) {
	if (uses & CAL_LOOP_USES_A) {
		put_side(w, first, "from", a);
		put_placement(w, first, "a", &def->a);
	}
	if (uses & CAL_LOOP_USES_B) {
		put_side(w, first, "to", b);
		put_placement(w, first, "b", &def->b);
		put_applied_wrench(w, first, &def->applied_wrench);
	}
}

/* The numbers that only its type has. */
static void put_type(Writer *w, bool *first, const CalLoopDef *def, int uses) {
	if (uses & CAL_LOOP_USES_LENGTH)
		put_quantity(w, first, "length", def->length);
	if (uses & CAL_LOOP_USES_PITCH)
		put_quantity(w, first, "pitch", def->pitch);
	if (uses & CAL_LOOP_USES_RADIUS)
		put_quantity(w, first, "radius", def->radius);
	if (uses & CAL_LOOP_USES_AXES) {
		put_axes(w, first, "translation", def->translation);
		put_axes(w, first, "rotation", def->rotation);
	}
	if (uses & CAL_LOOP_USES_TERMS)
		put_terms(w, first, def);
}

/* All of a loop but its name and whether it starts open. */
static void put_loop(Writer *w, bool *first, const CalLoopDef *def, CalNodeId a, CalNodeId b) {
	CalLoopTypeInfo info = {0};
	cal_loop_type_info(def->type, &info);
	put_key(w, first, "type");
	fputs(cal_loop_type_name(def->type), w->out);
	put_type(w, first, def, info.uses);
	put_frames(w, first, def, info.uses, a, b);
	put_drives(w, first, def);
	put_stabilisation(w, first, def);
}

void put_tie(Writer *w, const CalLoopDef *def) {
	bool first = true;
	fputc('{', w->out);
	put_loop(w, &first, def, (CalNodeId){0}, (CalNodeId){0});
	fputc('}', w->out);
}

/* No part of the description. */
static bool starts_open(const Writer *w, CalLoopId id) {
	CalLoopId open;
	for (int i = 0; (open = cal_setup_opened_loop(w->setup, i)).value; i++)
		if (open.value == id.value)
			return true;
	return false;
}

static void write_loop(Writer *w, CalLoopId id) {
	CalNodeId a, b;
	const CalLoopDef *def = cal_desc_loop(w->desc, id, &a, &b);
	bool first = true;
	fputs("  ", w->out);
	put_text(w, def->name);
	fputs(": {", w->out);
	put_loop(w, &first, def, a, b);
	put_flag(w, &first, "open", starts_open(w, id));
	put_flag(w, &first, "embed", cal_desc_loop_mechanism(w->desc, id));
	fputs("}\n", w->out);
}

void write_loops(Writer *w) {
	const int count = cal_desc_loop_count(w->desc);
	fputs(count ? "loops:\n" : "", w->out);
	for (int i = 1; i <= count; i++)
		write_loop(w, (CalLoopId){(uint32_t)i});
}
