// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_equality.c — loops as equalities.
 *
 * A spherical loop is a `connect`, a weld a `weld`. A revolute loop is two `connect` at points of its axis, one equation more
 * than it needs. If a loop is closed at qpos0, they tie bodies, whose second anchor is where the first one is by then, which
 * all versions of MuJoCo read; otherwise sites: those of the nodes, or of the frames on them. Couplings of one or two joints
 * are `joint`, of more `tendon`.
 */
#include <math.h>

#include "io/mjcf/mjcf_write.h"

static const double arm = 0.1;        // between the two points of a revolute loop [m]
static const double closed = 0x1p-46; // lengths [m, or of the distance from the origin] and angles that count as none

/* ---- sites ------------------------------------------------------------------------------------------- */

static bool is_neutral(const CalPlacement *p) {
	const dpose X = pose_of(*p);
	return export_is_neutral(&X);
}

/* A frame on a node, `along` its z axis. */
static int place_frame(MjcfOut *m, CalNodeId node, const CalPlacement *frame, double along, const char *name) {
	int link;
	if (along == 0 && is_neutral(frame))
		return mjcf_site_of(m, node, name);
	dpose X = dpose_mul(export_node_pose(m->ex, node, &link), pose_of(*frame));
	X.r = dadd(X.r, dscale(along, X.R.z));
	return mjcf_add_site(m, link, export_new_name(m->ex, &m->ex->node_names, name), X);
}

static bool is_equality(CalLoopType type) {
	return type == CAL_LOOP_SPHERICAL || type == CAL_LOOP_WELD || type == CAL_LOOP_REVOLUTE;
}

/* The sites of a loop are the last ones that were made for it: the names say which. */
typedef struct LoopSites {
	bool by_bodies; // no sites
	int a[2], b[2];
} LoopSites;

typedef struct LoopFrame {
	int link;
	dpose X_L, X_0; // on the link; in the ground at qpos0
} LoopFrame;

static LoopFrame find_frame(const Export *ex, CalNodeId node, const CalPlacement *placement) {
	LoopFrame f;
	f.X_L = dpose_mul(export_node_pose(ex, node, &f.link), pose_of(*placement));
	f.X_0 = f.link == EXPORT_GROUND ? f.X_L : dpose_mul(export_link_in_file(ex, f.link), f.X_L);
	return f;
}

static double distance(dvec3 a, dvec3 b) {
	const dvec3 d = dadd(a, dscale(-1, b));
	return sqrt(ddot(d, d));
}

/* Whether the loop is closed at qpos0, to round-off: the anchor in the second body is then that of the first. */
static bool is_closed(CalLoopType type, const LoopFrame *a, const LoopFrame *b) {
	const double most = closed * fmax(1, sqrt(ddot(a->X_0.r, a->X_0.r)));
	if (!(distance(a->X_0.r, b->X_0.r) <= most))
		return false;
	return type == CAL_LOOP_SPHERICAL || (distance(a->X_0.R.z, b->X_0.R.z) <= closed &&
	                                      (type == CAL_LOOP_REVOLUTE || distance(a->X_0.R.x, b->X_0.R.x) <= closed));
}

static void place_loop(MjcfOut *m, CalLoopId id, LoopSites *sites) {
	CalNodeId a, b;
	const CalLoopDef *def = cal_desc_loop(m->ex->desc, id, &a, &b);
	const LoopFrame A = find_frame(m->ex, a, &def->a), B = find_frame(m->ex, b, &def->b);
	const int count = def->type == CAL_LOOP_REVOLUTE ? 2 : 1;
	sites->by_bodies = is_closed(def->type, &A, &B);
	for (int i = 0; i < count && !sites->by_bodies; i++) {
		sites->a[i] = place_frame(m, a, &def->a, i * arm, export_format(m->ex, "%s_a%s", def->name, i ? "2" : ""));
		sites->b[i] = place_frame(m, b, &def->b, i * arm, export_format(m->ex, "%s_b%s", def->name, i ? "2" : ""));
	}
}

void mjcf_place_loops(MjcfOut *m) {
	const uint32_t count = (uint32_t)cal_desc_loop_count(m->ex->desc);
	m->loop_sites = pool_array(&m->ex->pool, count + 1, sizeof(LoopSites));
	if (!m->loop_sites) {
		export_no_memory(m->ex);
		return;
	}
	for (uint32_t i = 1; i <= count && m->ex->status == CAL_OK; i++)
		if (is_equality(cal_desc_loop(m->ex->desc, (CalLoopId){i}, NULL, NULL)->type))
			place_loop(m, (CalLoopId){i}, &((LoopSites *)m->loop_sites)[i]);
}

/* ---- loops ------------------------------------------------------------------------------------------- */

static void put_sides(MjcfOut *m, CalLoopId id, const CalLoopDef *def, int which) {
	const LoopSites *s = &((const LoopSites *)m->loop_sites)[id.value];
	CalNodeId a, b;
	if (!s->by_bodies) {
		export_attribute(m->ex, "site1", m->sites[s->a[which]].name);
		export_attribute(m->ex, "site2", m->sites[s->b[which]].name);
		return;
	}
	cal_desc_loop(m->ex->desc, id, &a, &b);
	const LoopFrame A = find_frame(m->ex, a, &def->a), B = find_frame(m->ex, b, &def->b);
	export_attribute(m->ex, "body1", A.link == EXPORT_GROUND ? "world" : m->ex->links[A.link].name);
	export_attribute(m->ex, "body2", B.link == EXPORT_GROUND ? "world" : m->ex->links[B.link].name);
	if (def->type != CAL_LOOP_WELD)
		export_attribute_vector(m->ex, "anchor", dadd(A.X_L.r, dscale(which * arm, A.X_L.R.z)));
}

static void put_tie(MjcfOut *m, CalLoopId id, const CalLoopDef *def, const char *name, int which) {
	const char *element = def->type == CAL_LOOP_WELD ? "weld" : "connect";
	export_open(m->ex, element);
	export_attribute(m->ex, "name", export_new_name(m->ex, &m->loop_names, name));
	put_sides(m, id, def, which);
	if (export_loop_is_open(m->ex, id))
		export_attribute(m->ex, "active", "false");
	export_close(m->ex, element);
}

static void put_loop(MjcfOut *m, CalLoopId id, const CalLoopDef *def) {
	put_tie(m, id, def, def->name, 0);
	if (def->type != CAL_LOOP_REVOLUTE)
		return;
	put_tie(m, id, def, export_format(m->ex, "%s_axis", def->name), 1);
	export_note(
		m->ex, CAL_IMPORT_CHANGED, "loop", def->name, def->place,
		"a revolute loop is two points of its axis in MJCF, %g m apart: the motion is the same, one equation is "
		"redundant",
		arm);
}

/* ---- couplings --------------------------------------------------------------------------------------- */

static void put_coupling(MjcfOut *m, CalLoopId id, const CalLoopDef *def, const int *links) {
	Export *ex = m->ex;
	const double first = def->term[0].factor;
	const bool by_tendon = def->term_count > 2;
	const double polynomial[5] = {def->drive[0].offset / (by_tendon ? 1 : first),
	                              def->term_count == 2 ? -def->term[1].factor / first : 0, 0, 0, 0};
	export_open(ex, by_tendon ? "tendon" : "joint");
	export_attribute(ex, "name", export_new_name(ex, &m->loop_names, def->name));
	export_attribute(ex, by_tendon ? "tendon1" : "joint1",
	                 by_tendon ? export_sound_text(ex, def->name) : ex->links[links[0]].joint_name);
	if (def->term_count == 2)
		export_attribute(ex, "joint2", ex->links[links[1]].joint_name);
	export_attribute_numbers(ex, "polycoef", polynomial, 5);
	if (export_loop_is_open(ex, id))
		export_attribute(ex, "active", "false");
	export_close(ex, by_tendon ? "tendon" : "joint");
}

void mjcf_put_coupling_tendons(MjcfOut *m) {
	Export *ex = m->ex;
	int links[CAL_LOOP_MAX_TERMS];
	ExportAxis *axes[CAL_LOOP_MAX_TERMS];
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc); i++) {
		const CalLoopDef *def = cal_desc_loop(ex->desc, (CalLoopId){i}, NULL, NULL);
		if (def->type != CAL_LOOP_COUPLING || def->term_count < 3 || !export_coupling_axes(ex, def, links, axes))
			continue;
		export_open(ex, "fixed");
		export_attribute(ex, "name", export_sound_text(ex, def->name));
		export_new_name(ex, &m->tendon_names, def->name);
		for (int k = 0; k < def->term_count; k++) {
			export_open(ex, "joint");
			export_attribute(ex, "joint", ex->links[links[k]].joint_name);
			export_attribute_number(ex, "coef", def->term[k].factor);
			export_close(ex, "joint");
		}
		export_close(ex, "fixed");
	}
}

void mjcf_put_equalities(MjcfOut *m) {
	Export *ex = m->ex;
	int links[CAL_LOOP_MAX_TERMS];
	ExportAxis *axes[CAL_LOOP_MAX_TERMS];
	export_open(ex, "equality");
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc) && ex->status == CAL_OK; i++) {
		const CalLoopDef *def = cal_desc_loop(ex->desc, (CalLoopId){i}, NULL, NULL);
		if (!export_loop_is_plain(ex, (CalLoopId){i}))
			continue;
		if (is_equality(def->type))
			put_loop(m, (CalLoopId){i}, def);
		else if (def->type == CAL_LOOP_COUPLING && export_coupling_axes(ex, def, links, axes))
			put_coupling(m, (CalLoopId){i}, def, links);
		else
			export_note(ex, CAL_IMPORT_MISSING, "loop", def->name, def->place,
			            "MJCF has no equality like this loop, of type %s", cal_loop_type_name(def->type));
	}
	export_close(ex, "equality");
}
