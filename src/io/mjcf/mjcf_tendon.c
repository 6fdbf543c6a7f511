// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_tendon.c — tendons: fixed ones are weighted sums of joint coordinates, whose springs, dampers, limits and friction are
 * efforts by formula on each of their joints; a spatial one that runs straight between two sites is a spring.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };

static const char *tendon_name(Mjcf *m, const MjcfTendon *tendon) {
	const int index = (int)(tendon - mjcf_tendon(m, 0));
	return tendon->object.name ? tendon->object.name : mjcf_format(m, "tendon%d", index);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static bool read_term(Mjcf *m, MjcfFile *file, XmlElement *e, MjcfTendon *tendon) {
	MjcfTendonTerm *term = &tendon->terms[tendon->term_count];
	term->factor = 0;
	if (!import_required(m->im, e, "joint") || !mjcf_refer(m, MJCF_JOINTS, file, e, "joint", &term->joint) ||
	    !import_number(m->im, e, "coef", &term->factor, NULL))
		return false;
	const MjcfJoint *joint = mjcf_joint(m, term->joint);
	if (!mjcf_is_scalar(joint))
		return import_fail(m->im, e, "joint \"%.100s\" of a tendon is not a hinge or a slide", xml_peek(e, "joint"));
	tendon->length += term->factor * joint->a.springref;
	tendon->term_count++;
	return true;
}

static bool read_terms(Mjcf *m, MjcfFile *file, XmlElement *e, MjcfTendon *tendon) {
	int count = 0;
	for (const XmlElement *child = e->first; child; child = child->next)
		count++;
	if (!(tendon->terms = xml_array(m->im->tree, (size_t)count + 1, sizeof *tendon->terms)))
		return import_no_memory(m->im);
	for (XmlElement *child = xml_child(e, "joint"); child; child = xml_again(child))
		if (!read_term(m, file, child, tendon))
			return false;
	return tendon->term_count || import_fail(m->im, e, "the tendon has no joints");
}

static bool acts(const MjcfTendonAttributes *a, bool limited) {
	for (int i = 0; i < 3; i++)
		if (a->stiffness[i] != 0 || a->damping[i] != 0)
			return true;
	return limited || a->frictionloss != 0 || a->armature != 0;
}

static bool read_tendon(Mjcf *m, MjcfFile *file, XmlElement *e) {
	const MjcfClass *class = mjcf_class_of(m, file, e, 0);
	const int index = class ? mjcf_add(m, MJCF_TENDONS, file, e) : -1;
	if (index < 0)
		return false;
	MjcfTendon *tendon = mjcf_tendon(m, index);
	tendon->a = class->defaults.tendon;
	tendon->is_spatial = xml_is(e, "spatial");
	return mjcf_apply_tendon(m, &tendon->a, e) && (tendon->is_spatial || read_terms(m, file, e, tendon));
}

bool mjcf_read_tendons(Mjcf *m, MjcfFile *file) {
	for (XmlElement *section = xml_child(file->root, "tendon"); section; section = xml_again(section))
		for (XmlElement *e = section->first; e; e = e->next) {
			bool out;
			if (!xml_is(e, "fixed") && !xml_is(e, "spatial"))
				continue;
			if (!mjcf_is_left_out(m, file, e, &out) || (!out && !read_tendon(m, file, e)))
				return false;
		}
	return true;
}

/* ---- spatial tendons ------------------------------------------------------------------------------------------ */

/* The two sites of a tendon that is a straight line; false: it is something else. */
static bool is_line(Mjcf *m, const MjcfTendon *tendon, int sites[2], bool *line) {
	XmlElement *e = tendon->object.element;
	int count = 0;
	*line = false;
	for (XmlElement *child = e->first; child; child = child->next) {
		if (!xml_is(child, "site") || count == 2)
			return true;
		child->used = true;
		if (!mjcf_refer(m, MJCF_SITES, tendon->object.file, child, "site", &sites[count++]))
			return false;
	}
	*line = count == 2 && sites[0] >= 0 && sites[1] >= 0;
	return true;
}

/* What the joints of a body do from qpos0 to their springref, each about its own point and axis. */
static dpose spring_motion(const Mjcf *m, const MjcfBody *body) {
	dpose X = dpose_identity();
	for (int i = body->first_joint; i < body->first_joint + body->joint_count; i++) {
		const MjcfJointAttributes *a = &mjcf_joint(m, i)->a;
		const double by = a->springref - a->ref;
		const dvec3 axis = dvec_in(a->axis), at = dvec_in(a->pos);
		if (a->type == MJCF_SLIDE)
			X = dpose_mul(X, (dpose){dmat_identity(), dscale(by, axis)});
		if (a->type != MJCF_HINGE || by == 0)
			continue;
		const dmat3 R = dquat_matrix(dquat_exp(dscale(by, axis)));
		X = dpose_mul(X, (dpose){R, dadd(at, dscale(-1, dmat_mul_vec(R, at)))});
	}
	return X;
}

/* A site in the world with every joint at its springref, where MuJoCo measures tendons without springlength. */
static dvec3 site_at_spring(const Mjcf *m, const MjcfSite *site) {
	dpose X = pose_of(site->pose);
	for (int i = site->body; i > 0; i = mjcf_body(m, i)->parent)
		X = dpose_mul(dpose_mul(pose_of(mjcf_body(m, i)->pose), spring_motion(m, mjcf_body(m, i))), X);
	return X.r;
}

static bool is_measured(const MjcfTendonAttributes *a) { return a->springlength[0] == -1 && a->springlength[1] == -1; }

static double site_distance(const Mjcf *m, const int sites[2]) {
	const dvec3 a = site_at_spring(m, mjcf_site(m, sites[0])), b = site_at_spring(m, mjcf_site(m, sites[1]));
	const dvec3 d = dadd(b, dscale(-1, a));
	return sqrt(ddot(d, d));
}

/* Shorter than its upper length it does not act; a lower one that is above 0 would push (build_spatial()). */
static bool is_slack(const MjcfTendonAttributes *a) { return a->springlength[0] < a->springlength[1]; }

static bool build_spring(Mjcf *m, const MjcfTendon *tendon, const int sites[2]) {
	char place[PLACE_MAX];
	const MjcfTendonAttributes *a = &tendon->a;
	const char *name = tendon_name(m, tendon);
	const double rest = is_measured(a) ? site_distance(m, sites) : a->springlength[1];
	const CalSpringDef def = {.name = name ? mjcf_device_label(m, name) : NULL,
	                          .a = mjcf_site(m, sites[0])->id,
	                          .b = mjcf_site(m, sites[1])->id,
	                          .stiffness = m->option.on.spring ? a->stiffness[0] : 0,
	                          .damping = m->option.on.damper ? a->damping[0] : 0,
	                          .length = rest,
	                          .cable = is_slack(a),
	                          .place = xml_place(tendon->object.element, place, sizeof place)};
	return def.name && import_ok(m->im, cal_setup_add_device(m->im->setup, "spring", &def, m->im->error));
}

static bool build_spatial(Mjcf *m, const MjcfTendon *tendon) {
	XmlElement *e = tendon->object.element;
	const MjcfTendonAttributes *a = &tendon->a;
	int sites[2] = {-1, -1};
	bool limited, line;
	if (!mjcf_limited(m, tendon->object.file, e, a->limited, a->range, "range", &limited))
		return false;
	if (!acts(a, limited))
		return import_ignore(m->im, e,
		                     "a spatial tendon without spring, damper, limit or friction moves nothing by itself");
	if (!is_line(m, tendon, sites, &line))
		return false;
	const bool linear = a->stiffness[1] == 0 && a->stiffness[2] == 0 && a->damping[1] == 0 && a->damping[2] == 0;
	const bool pushes = a->springlength[0] > 0 && is_slack(a);
	if (line && linear && !limited && !pushes && a->frictionloss == 0 && a->armature == 0)
		return build_spring(m, tendon, sites) && (!is_slack(a) || a->damping[0] == 0 ||
		                                          import_note(m->im, CAL_IMPORT_CHANGED, e, "damping",
		                                                      "the damper does not act while the cable is slack"));
	return import_missing(m->im, e, "of spatial tendons Calder has linear springs and dampers between two sites only");
}

/* ---- fixed tendons -------------------------------------------------------------------------------------------- */

/* The sum of factor f(joint) over the joints; f: "q" or "u". */
static const char *sum_of(Mjcf *m, const MjcfTendon *tendon, const char *f) {
	const char *sum = NULL;
	for (int i = 0; i < tendon->term_count; i++) {
		const char *name = mjcf_quoted(m, tendon->object.element, mjcf_joint(m, tendon->terms[i].joint)->label);
		if (!name || !(sum = mjcf_format(m, "%s%s(%.17g)*%s(%s)", sum ? sum : "", sum ? " + " : "",
		                                 tendon->terms[i].factor, f, name)))
			return NULL;
	}
	return mjcf_format(m, "(%s)", sum);
}

static const char *append_force(Mjcf *m, const char *force, const char *more) {
	return more ? force ? mjcf_format(m, "%s %s", force, more) : more : NULL;
}

/* Stops of the length: springs and dampers that only push back, with the inertia that the tendon feels at qpos0. */
static const char *limit_force(Mjcf *m, const MjcfTendon *tendon, const char *L, const char *V) {
	const MjcfTendonAttributes *a = &tendon->a;
	const double tau = fmax(a->solref[0], 2 * m->option.timestep), ratio = fmax(a->solref[1], 1e-4);
	double give = 0;
	for (int i = 0; i < tendon->term_count; i++) {
		const double inertia = mjcf_joint(m, tendon->terms[i].joint)->inertia, c = tendon->terms[i].factor;
		give += inertia > 0 ? c * c / inertia : 0;
	}
	const double inertia = give > 0 ? 1 / give : 1, k = inertia / (tau * tau * ratio * ratio), d = 2 * inertia / tau;
	return mjcf_format(m,
	                   "- if(%s > %.17g, max(0, %.17g*(%s - (%.17g)) + %.17g*%s), 0) "
	                   "+ if(%s < %.17g, max(0, %.17g*((%.17g) - %s) - %.17g*%s), 0)",
	                   L, a->range[1], k, L, a->range[1], d, V, L, a->range[0], k, a->range[0], L, d, V);
}

/* Force along the tendon by formula; "": none. NULL after an error. */
static const char *tendon_force(Mjcf *m, const MjcfTendon *tendon, bool limited) {
	const MjcfTendonAttributes *a = &tendon->a;
	const char *L = sum_of(m, tendon, "q"), *V = L ? sum_of(m, tendon, "u") : NULL, *force = "";
	const double low = is_measured(a) ? tendon->length : a->springlength[0];
	const double high = is_measured(a) ? tendon->length : a->springlength[1];
	if (!V)
		return NULL;
	if (m->option.on.spring && (a->stiffness[0] != 0 || a->stiffness[1] != 0 || a->stiffness[2] != 0)) {
		const char *x = low == high ? mjcf_format(m, "(%s - (%.17g))", L, low)
		                            : mjcf_format(m, "(max(0, %s - (%.17g)) - max(0, (%.17g) - %s))", L, high, low, L);
		force = x ? append_force(m, force, mjcf_format(m, "- (%.17g)*%s", a->stiffness[0], x)) : NULL;
		if (force && a->stiffness[1] != 0)
			force = append_force(m, force, mjcf_format(m, "- (%.17g)*%s^2", a->stiffness[1], x));
		if (force && a->stiffness[2] != 0)
			force = append_force(m, force, mjcf_format(m, "- (%.17g)*%s^3", a->stiffness[2], x));
	}
	if (force && m->option.on.damper && a->damping[0] != 0)
		force = append_force(m, force, mjcf_format(m, "- (%.17g)*%s", a->damping[0], V));
	if (force && m->option.on.damper && (a->damping[1] != 0 || a->damping[2] != 0))
		force = append_force(
			m, force, mjcf_format(m, "- (%.17g)*%s*abs(%s) - (%.17g)*%s^3", a->damping[1], V, V, a->damping[2], V));
	if (force && m->option.on.frictionloss && a->frictionloss > 0)
		force = append_force(
			m, force, mjcf_format(m, "- (%.17g)*smooth_sign(%s, %g)", a->frictionloss, V, IMPORT_FRICTION_SPEED));
	if (force && limited)
		force = append_force(m, force, limit_force(m, tendon, L, V));
	return force;
}

static bool build_fixed(Mjcf *m, const MjcfTendon *tendon) {
	XmlElement *e = tendon->object.element;
	bool limited;
	if (!mjcf_limited(m, tendon->object.file, e, tendon->a.limited, tendon->a.range, "range", &limited))
		return false;
	limited = limited && m->option.on.limit;
	if (limited && !import_note(m->im, CAL_IMPORT_CHANGED, e, "range",
	                            "the limits of the tendon are springs and dampers, not constraints of a solver"))
		return false;
	if (tendon->a.armature != 0 && !mjcf_missing_attribute(m, e, "armature", "Calder has no inertia of tendons"))
		return false;
	if (!acts(&tendon->a, limited))
		return true;
	const char *force = tendon_force(m, tendon, limited), *name = tendon_name(m, tendon);
	for (int i = 0; force && force[0] && name && i < tendon->term_count; i++) {
		const MjcfJoint *joint = mjcf_joint(m, tendon->terms[i].joint);
		const char *effort = mjcf_format(m, "(%.17g)*(%s)", tendon->terms[i].factor, force);
		const char *device = mjcf_format(m, "%s_%s", name, joint->label);
		if (!effort || !device || !mjcf_add_effort(m, e, device, joint, effort, 0))
			return false;
	}
	return force && name;
}

bool mjcf_build_tendon_devices(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_TENDONS].count; i++) {
		const MjcfTendon *tendon = mjcf_tendon(m, i);
		if (tendon->is_spatial ? !build_spatial(m, tendon) : !build_fixed(m, tendon))
			return false;
	}
	return true;
}
