// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_equality.c — equalities as loops and couplings.
 *
 * They are rigid here: MuJoCo's are compliant (solref, solimp). What `connect` ties on the second body is found at qpos0.
 * Polynomials of joints and tendons are taken over up to the first degree.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };

/** A side of an equality: a node and a frame on it. */
typedef struct Side {
	CalNodeId node;
	dpose world; // of the node's body at qpos0
	dpose frame; // on the node
	const char *name;
} Side;

static const char *loop_label(Mjcf *m, const MjcfFile *file, XmlElement *e, const char *base) {
	const char *name = xml_get(e, "name");
	const char *first = name ? mjcf_format(m, "%s%s", file->prefix, name) : base, *label = first;
	const int count = cal_desc_loop_count(m->im->desc);
	for (int i = 2; label && cal_desc_find_loop(m->im->desc, label).value; i = mjcf_next_number(i, count))
		label = mjcf_format(m, "%s_%d", first, i);
	return label;
}

static const char *node_body_name(const Mjcf *m, int body) {
	const CalBodyDef *def = cal_desc_body(m->im->desc, mjcf_body(m, body)->id);
	return def && body ? def->name : "ground";
}

static bool site_side(Mjcf *m, const MjcfFile *file, XmlElement *e, const char *attribute, Side *side) {
	int index;
	if (!mjcf_refer(m, MJCF_SITES, file, e, attribute, &index))
		return false;
	if (index < 0)
		return import_fail(m->im, e, "<%.40s> has one site only; it needs site1 and site2", e->name);
	const MjcfSite *site = mjcf_site(m, index);
	*side = (Side){.node = site->id, .frame = dpose_identity(), .name = node_body_name(m, site->body)};
	side->world = dpose_mul(mjcf_body(m, site->body)->world, pose_of(site->pose));
	return true;
}

static bool body_side(Mjcf *m, const MjcfFile *file, XmlElement *e, const char *attribute, Side *side) {
	int index;
	if (!mjcf_refer(m, MJCF_BODIES, file, e, attribute, &index))
		return false;
	index = index < 0 ? 0 : index; // body2 is the world unless given
	const MjcfBody *body = mjcf_body(m, index);
	*side =
		(Side){.node = body->node, .world = body->world, .frame = dpose_identity(), .name = node_body_name(m, index)};
	return true;
}

/* Both sides; by_sites: the frames of the sites are those that are tied. */
static bool read_sides(Mjcf *m, const MjcfFile *file, XmlElement *e, Side *a, Side *b, bool *by_sites) {
	*by_sites = xml_peek(e, "site1") || xml_peek(e, "site2");
	if (*by_sites)
		return site_side(m, file, e, "site1", a) && site_side(m, file, e, "site2", b);
	if (!xml_peek(e, "body1"))
		return import_fail(m->im, e, "<%.40s> needs body1, or site1 and site2", e->name);
	return body_side(m, file, e, "body1", a) && body_side(m, file, e, "body2", b);
}

static bool is_active(Mjcf *m, MjcfFile *file, XmlElement *e, bool *active) {
	const MjcfClass *class = mjcf_class_of(m, file, e, 0);
	if (!class)
		return false;
	*active = class->defaults.equality_active;
	return import_bool(m->im, e, "active", active, NULL);
}

static bool close_loop(Mjcf *m, MjcfFile *file, XmlElement *e, CalLoopDef *def, CalNodeId a, CalNodeId b,
                       const char *base) {
	char place[PLACE_MAX];
	CalLoopId id;
	bool active;
	if (!base || !is_active(m, file, e, &active) || !(def->name = loop_label(m, file, e, base)))
		return false;
	def->place = xml_place(e, place, sizeof place);
	if (!import_ok(m->im, cal_desc_close_loop(m->im->desc, a, def, b, &id, m->im->error)))
		return false;
	return active || import_ok(m->im, cal_setup_open_loop(m->im->setup, id, m->im->error));
}

/* ---- connect, weld --------------------------------------------------------------------------------------------- */

static dpose other_frame(const Side *a, const Side *b) {
	return dpose_mul(dpose_inverse(b->world), dpose_mul(a->world, a->frame));
}

static bool read_connect(Mjcf *m, MjcfFile *file, XmlElement *e) {
	CalLoopDef def = cal_loop_def(CAL_LOOP_SPHERICAL);
	CalVec3 anchor = {0};
	Side a = {0}, b = {0};
	bool by_sites, given;
	if (!read_sides(m, file, e, &a, &b, &by_sites) || !import_vec3(m->im, e, "anchor", &anchor, &given))
		return false;
	if (!by_sites && !given)
		return import_fail(m->im, e, "<connect> of bodies needs an anchor");
	if (!by_sites) {
		a.frame.r = dvec_in(anchor);
		b.frame = other_frame(&a, &b);
	}
	def.a = mjcf_placement(a.frame);
	def.b = mjcf_placement(b.frame);
	return close_loop(m, file, e, &def, a.node, b.node, mjcf_format(m, "%s_%s", a.name, b.name));
}

static bool read_weld(Mjcf *m, MjcfFile *file, XmlElement *e) {
	CalLoopDef def = cal_loop_def(CAL_LOOP_WELD);
	double pose[7] = {0};
	Side a = {0}, b = {0};
	bool by_sites;
	if (!read_sides(m, file, e, &a, &b, &by_sites) || !import_numbers(m->im, e, "relpose", pose, 7, NULL))
		return false;
	const bool given = pose[3] != 0 || pose[4] != 0 || pose[5] != 0 || pose[6] != 0;
	if (!by_sites && given && !import_question_length(m->im, e, "relpose", pose + 3, 4))
		return false;
	if (!by_sites && given)
		a.frame = (dpose){dquat_matrix((CalQuat){pose[3], pose[4], pose[5], pose[6]}), {pose[0], pose[1], pose[2]}};
	else if (!by_sites)
		b.frame = other_frame(&a, &b);
	def.a = mjcf_placement(a.frame);
	def.b = mjcf_placement(b.frame);
	return close_loop(m, file, e, &def, a.node, b.node, mjcf_format(m, "%s_%s", a.name, b.name));
}

/* ---- distance, of MuJoCo before 2.2.2 ------------------------------------------------------------------------------ */

/* Surfaces of spheres are as far apart as their centers, less both radii; of other shapes the nearest points move. */
static bool read_distance(Mjcf *m, MjcfFile *file, XmlElement *e) {
	CalLoopDef def = cal_loop_def(CAL_LOOP_DISTANCE);
	const MjcfGeom *geoms[2];
	CalNodeId nodes[2];
	int index[2];
	if (!mjcf_refer(m, MJCF_GEOMS, file, e, "geom1", &index[0]) ||
	    !mjcf_refer(m, MJCF_GEOMS, file, e, "geom2", &index[1]) ||
	    !import_number(m->im, e, "distance", &def.length, NULL))
		return false;
	if (index[0] < 0 || index[1] < 0)
		return import_fail(m->im, e, "<distance> needs geom1 and geom2");
	for (int i = 0; i < 2; i++) {
		geoms[i] = mjcf_geom(m, index[i]);
		if (geoms[i]->a.type != MJCF_SPHERE)
			return import_missing(m->im, e, "Calder has distances of points, and so of spheres, not of other geoms");
		nodes[i] = mjcf_body(m, geoms[i]->body)->node;
		def.length += geoms[i]->a.size[0];
	}
	if (!(def.length > 0))
		return import_fail(m->im, e, "the centers of the spheres would be %g m apart; give a distance above that",
		                   def.length);
	def.a = geoms[0]->pose;
	def.b = geoms[1]->pose;
	return close_loop(m, file, e, &def, nodes[0], nodes[1],
	                  mjcf_format(m, "%s_%s", node_body_name(m, geoms[0]->body), node_body_name(m, geoms[1]->body)));
}

/* ---- joint, tendon -------------------------------------------------------------------------------------------- */

/* A term more; *fits false: there are too many. */
static bool add_term(Mjcf *m, XmlElement *e, CalLoopDef *def, int joint_index, double factor, bool *fits) {
	const MjcfJoint *joint = mjcf_joint(m, joint_index);
	if (!mjcf_is_scalar(joint))
		return import_fail(m->im, e, "<%.40s>: joint \"%.100s\" is not a hinge or a slide", e->name, joint->label);
	for (int i = 0; i < def->term_count; i++)
		if (def->term[i].body.value == joint->carried.value) {
			def->term[i].factor += factor;
			return true;
		}
	*fits = *fits && def->term_count < CAL_LOOP_MAX_TERMS;
	if (*fits)
		def->term[def->term_count++] = (CalLoopTerm){.body = joint->carried, .factor = factor};
	return true;
}

static void drop_zero_terms(CalLoopDef *def) {
	int count = 0;
	for (int i = 0; i < def->term_count; i++)
		if (def->term[i].factor != 0)
			def->term[count++] = def->term[i];
	def->term_count = count;
}

/* y - y0 = a0 + a1 (x - x0); *linear false: it has more, and was reported. */
static bool read_polynomial(Mjcf *m, XmlElement *e, double a[5], bool *linear) {
	const double defaults[5] = {0, 1, 0, 0, 0};
	memcpy(a, defaults, sizeof defaults);
	if (!mjcf_apply_numbers(m, e, "polycoef", a, 5))
		return false;
	*linear = a[2] == 0 && a[3] == 0 && a[4] == 0;
	return *linear ||
	       import_missing(m->im, e, "the polynomial \"%g %g %g %g %g\" is not linear, and Calder's couplings are", a[0],
	                      a[1], a[2], a[3], a[4]);
}

static bool read_joint_equality(Mjcf *m, MjcfFile *file, XmlElement *e) {
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	double a[5];
	int y, x;
	bool linear, fits = true;
	if (!mjcf_refer(m, MJCF_JOINTS, file, e, "joint1", &y) || !mjcf_refer(m, MJCF_JOINTS, file, e, "joint2", &x) ||
	    !read_polynomial(m, e, a, &linear))
		return false;
	if (y < 0)
		return import_fail(m->im, e, "<joint> of an equality needs joint1");
	if (y == x)
		return import_fail(m->im, e, "joint1 and joint2 are the same joint; without joint2 it is held");
	if (!linear)
		return true;
	if (!add_term(m, e, &def, y, 1, &fits) || (x >= 0 && !add_term(m, e, &def, x, -a[1], &fits)))
		return false;
	def.drive[0].offset = mjcf_joint(m, y)->a.ref + a[0] - (x >= 0 ? a[1] * mjcf_joint(m, x)->a.ref : 0);
	drop_zero_terms(&def);
	const char *base =
		x >= 0 ? mjcf_format(m, "%s_%s", mjcf_joint(m, y)->label, mjcf_joint(m, x)->label) : mjcf_joint(m, y)->label;
	return close_loop(m, file, e, &def, (CalNodeId){0}, (CalNodeId){0}, base);
}

static bool add_tendon_terms(Mjcf *m, XmlElement *e, CalLoopDef *def, const MjcfTendon *tendon, double factor,
                             bool *fits) {
	for (int i = 0; i < tendon->term_count; i++)
		if (!add_term(m, e, def, tendon->terms[i].joint, factor * tendon->terms[i].factor, fits))
			return false;
	return true;
}

static bool read_tendon_equality(Mjcf *m, MjcfFile *file, XmlElement *e) {
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	double a[5];
	int y, x;
	bool linear, fits = true;
	if (!mjcf_refer(m, MJCF_TENDONS, file, e, "tendon1", &y) || !mjcf_refer(m, MJCF_TENDONS, file, e, "tendon2", &x) ||
	    !read_polynomial(m, e, a, &linear))
		return false;
	if (y < 0)
		return import_fail(m->im, e, "<tendon> of an equality needs tendon1");
	const MjcfTendon *first = mjcf_tendon(m, y), *second = x >= 0 ? mjcf_tendon(m, x) : NULL;
	if (first->is_spatial || (second && second->is_spatial))
		return import_missing(m->im, e, "Calder has no spatial tendons");
	if (!linear)
		return true;
	if (!add_tendon_terms(m, e, &def, first, 1, &fits) ||
	    (second && !add_tendon_terms(m, e, &def, second, -a[1], &fits)))
		return false;
	if (!fits)
		return import_missing(m->im, e, "it ties more than %d joints, which Calder's couplings cannot",
		                      CAL_LOOP_MAX_TERMS);
	def.drive[0].offset = first->length + a[0] - (second ? a[1] * second->length : 0);
	drop_zero_terms(&def);
	return close_loop(m, file, e, &def, (CalNodeId){0}, (CalNodeId){0},
	                  first->object.name ? first->object.name : "tendon");
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static bool read_equality(Mjcf *m, MjcfFile *file, XmlElement *e) {
	bool out;
	e->used = true;
	if (!mjcf_is_left_out(m, file, e, &out) || out)
		return out;
	if (!m->option.on.equality)
		return import_ignore(m->im, e, "a flag of <option> switches equalities off");
	if (xml_is(e, "connect"))
		return read_connect(m, file, e);
	if (xml_is(e, "weld"))
		return read_weld(m, file, e);
	if (xml_is(e, "joint"))
		return read_joint_equality(m, file, e);
	if (xml_is(e, "tendon"))
		return read_tendon_equality(m, file, e);
	if (xml_is(e, "distance"))
		return read_distance(m, file, e);
	if (xml_is(e, "flex") || xml_is(e, "flexvert") || xml_is(e, "flexstrain"))
		return import_missing(m->im, e, "Calder has no flex objects");
	e->used = false; // unknown
	return true;
}

bool mjcf_read_equalities(Mjcf *m, MjcfFile *file) {
	for (XmlElement *section = xml_child(file->root, "equality"); section; section = xml_again(section)) {
		const int before = cal_desc_loop_count(m->im->desc);
		for (XmlElement *e = section->first; e; e = e->next)
			if (!read_equality(m, file, e))
				return false;
		if (cal_desc_loop_count(m->im->desc) > before &&
		    !import_note(m->im, CAL_IMPORT_CHANGED, section, NULL,
		                 "equalities are rigid here; MuJoCo's are compliant by solref and solimp"))
			return false;
	}
	return true;
}
