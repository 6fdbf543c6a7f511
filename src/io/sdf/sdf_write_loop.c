// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_write_loop.c — loops as joints, couplings as mimics.
 *
 * A joint of SDFormat has one frame, where parent and child are in the pose of the file (sdf_write_zero.c). A loop can be
 * written if it is closed there, up to the motion that it leaves. Its frame is A, with the origin and axes that B has by
 * then.
 */
#include <math.h>

#include "io/sdf/sdf_write.h"

static const double closed = 1e-10; // lengths [m] and angles of a loop that count as none

/* ---- frames ------------------------------------------------------------------------------------------ */

typedef struct Sides {
	int a, b;    // links
	dpose A, B;  // frames in the ground, all coordinates zero
	dpose X_LbB; // B on its link
} Sides;

static Sides find_sides(const Export *ex, CalLoopId id, const CalLoopDef *def) {
	CalNodeId a, b;
	Sides s;
	cal_desc_loop(ex->desc, id, &a, &b);
	const dpose A = dpose_mul(export_node_pose(ex, a, &s.a), pose_of(def->a));
	s.X_LbB = dpose_mul(export_node_pose(ex, b, &s.b), pose_of(def->b));
	s.A = dpose_mul(export_link_in_file(ex, s.a), A);
	s.B = dpose_mul(export_link_in_file(ex, s.b), s.X_LbB);
	return s;
}

static double length_of(dvec3 v) { return sqrt(ddot(v, v)); }

/* Whether the equations of a loop hold there (calder/loops.h). */
static bool is_closed(const Sides *s, CalLoopType type, double pitch) {
	const dvec3 d = dmat_tmul_vec(s->A.R, dadd(s->B.r, dscale(-1, s->A.r)));
	const dmat3 R = dmat_mul(dmat_transpose(s->A.R), s->B.R), I = dmat_identity();
	const double turned = length_of(dadd(R.x, dscale(-1, I.x))) + length_of(dadd(R.y, dscale(-1, I.y)));
	const double tilted = length_of(dadd(R.z, dscale(-1, I.z)));
	switch (type) {
	case CAL_LOOP_WELD:
		return length_of(d) < closed && turned < closed;
	case CAL_LOOP_REVOLUTE:
		return length_of(d) < closed && tilted < closed;
	case CAL_LOOP_SPHERICAL:
		return length_of(d) < closed;
	case CAL_LOOP_UNIVERSAL:
		return length_of(d) < closed && fabs(R.y.x) < closed;
	case CAL_LOOP_PRISMATIC:
		return fabs(d.x) + fabs(d.y) < closed && turned < closed;
	case CAL_LOOP_SCREW:
		return fabs(d.x) + fabs(d.y) < closed && tilted < closed &&
		       fabs(d.z - pitch * portable_atan2(R.x.y - R.y.x, R.x.x + R.y.y)) < closed;
	default:
		return false;
	}
}

/* ---- joints ------------------------------------------------------------------------------------------ */

static const char *type_of(CalLoopType type) {
	switch (type) {
	case CAL_LOOP_WELD:
		return "fixed";
	case CAL_LOOP_REVOLUTE:
		return "revolute";
	case CAL_LOOP_PRISMATIC:
		return "prismatic";
	case CAL_LOOP_SCREW:
		return "screw";
	case CAL_LOOP_SPHERICAL:
		return "ball";
	case CAL_LOOP_UNIVERSAL:
		return "universal";
	default:
		return NULL;
	}
}

static void put_direction(Export *ex, const char *element, dvec3 v) {
	export_open(ex, element);
	export_numbers(ex, "xyz", (const double[3]){v.x, v.y, v.z}, 3);
	export_close(ex, element);
}

/* In axes of B; of a universal loop x of A and y of B. */
static void put_axes(Export *ex, const CalLoopDef *def, const Sides *s) {
	if (def->type == CAL_LOOP_UNIVERSAL) {
		put_direction(ex, "axis", dmat_tmul_vec(s->B.R, s->A.R.x));
		put_direction(ex, "axis2", (dvec3){0, 1, 0});
	} else if (def->type != CAL_LOOP_WELD && def->type != CAL_LOOP_SPHERICAL) {
		put_direction(ex, "axis", (dvec3){0, 0, 1});
	}
	if (def->type == CAL_LOOP_SCREW)
		export_number(ex, "thread_pitch", -1 / def->pitch);
}

static void put_loop(Export *ex, const CalLoopDef *def, const Sides *s) {
	export_open(ex, "joint");
	export_attribute(ex, "name", export_name(ex, &ex->joint_names, "loop", def->name, def->place));
	export_attribute(ex, "type", type_of(def->type));
	sdf_put_pose(ex, &s->X_LbB, NULL);
	export_text(ex, "parent", sdf_link_name(ex, s->a));
	export_text(ex, "child", sdf_link_name(ex, s->b));
	put_axes(ex, def, s);
	export_open(ex, "physics");
	export_open(ex, "simbody");
	export_text(ex, "must_be_loop_joint", "true");
	export_close(ex, "simbody");
	export_close(ex, "physics");
	export_close(ex, "joint");
}

static void refuse_loop(Export *ex, const CalLoopDef *def, const char *why) {
	export_note(ex, CAL_IMPORT_MISSING, "loop", def->name, def->place, "%s; it is of type %s", why,
	            cal_loop_type_name(def->type));
}

bool sdf_loop_is_closed(const Export *ex, CalLoopId id) {
	const CalLoopDef *def = cal_desc_loop(ex->desc, id, NULL, NULL);
	if (!type_of(def->type) || export_loop_is_open(ex, id))
		return true;
	const Sides s = find_sides(ex, id, def);
	return is_closed(&s, def->type, def->pitch);
}

void sdf_put_loops(Export *ex) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc) && ex->status == CAL_OK; i++) {
		const CalLoopId id = {i};
		const CalLoopDef *def = cal_desc_loop(ex->desc, id, NULL, NULL);
		if (def->type == CAL_LOOP_COUPLING || !export_loop_is_plain(ex, id))
			continue;
		if (!type_of(def->type) || export_loop_is_open(ex, id)) {
			refuse_loop(ex, def,
			            type_of(def->type) ? "SDFormat has no loops that are open at first"
			                               : "SDFormat has no joint that leaves the same motion");
			continue;
		}
		const Sides s = find_sides(ex, id, def);
		if (is_closed(&s, def->type, def->pitch))
			put_loop(ex, def, &s);
		else
			refuse_loop(
				ex, def,
				"SDFormat has loops that are closed in the pose of the file, and this one is not at zero coordinates nor "
				"at the initial state with ball joints at zero; write MJCF");
	}
}

/* ---- couplings --------------------------------------------------------------------------------------- */

void sdf_sort_couplings(Export *ex) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc); i++) {
		const CalLoopDef *def = cal_desc_loop(ex->desc, (CalLoopId){i}, NULL, NULL);
		if (def->type == CAL_LOOP_COUPLING && export_loop_is_plain(ex, (CalLoopId){i}) &&
		    (export_loop_is_open(ex, (CalLoopId){i}) || !export_make_mimic(ex, def, false)))
			refuse_loop(ex, def, "SDFormat has couplings in which a joint follows one other, and nothing else");
	}
}
