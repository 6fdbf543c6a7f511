// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_attributes.c — attributes of elements over those of their default class.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

static const double deg = 3.14159265358979323846 / 180;

bool mjcf_apply_switch(Mjcf *m, XmlElement *element, const char *attribute, int *value) {
	static const char *const words[] = {"false", "true", "auto", NULL};
	return import_word(m->im, element, attribute, words, value, NULL);
}

bool mjcf_apply_numbers(Mjcf *m, XmlElement *element, const char *attribute, double *values, int count) {
	int given;
	return !xml_peek(element, attribute) || import_list(m->im, element, attribute, values, 1, count, &given);
}

static void apply_text(XmlElement *element, const char *attribute, const char **text) {
	const char *given = xml_get(element, attribute);
	if (given)
		*text = given;
}

/* ---- orientations ---------------------------------------------------------------------------------------- */

/* Vectors of other lengths are fine in MJCF, but are often mistakes; the second axis of xyaxes only gives the plane. */
static bool question_turn(Mjcf *m, const XmlElement *e, const char *attribute, const MjcfOrientation *turn) {
	return turn->kind == MJCF_EULER ||
	       import_question_length(m->im, e, attribute, turn->v, turn->kind == MJCF_QUAT ? 4 : 3);
}

bool mjcf_apply_orientation(Mjcf *m, MjcfOrientation *turn, XmlElement *element) {
	static const struct {
		const char *attribute;
		MjcfTurn kind;
		int count;
	} forms[] = {{"quat", MJCF_QUAT, 4},
	             {"axisangle", MJCF_AXISANGLE, 4},
	             {"xyaxes", MJCF_XYAXES, 6},
	             {"zaxis", MJCF_ZAXIS, 3},
	             {"euler", MJCF_EULER, 3}};
	const char *before = NULL;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (!xml_peek(element, forms[i].attribute))
			continue;
		if (before)
			return import_fail(m->im, element, "<%.40s> has both %s and %s; there can be one orientation",
			                   element->name, before, forms[i].attribute);
		before = forms[i].attribute;
		turn->kind = forms[i].kind;
		if (!import_numbers(m->im, element, before, turn->v, forms[i].count, NULL) ||
		    !question_turn(m, element, before, turn))
			return false;
	}
	return true;
}

static dvec3 unit(dvec3 v, dvec3 otherwise) {
	const double length = sqrt(ddot(v, v));
	return length > 0 ? dscale(1 / length, v) : otherwise;
}

/* The smallest turn that takes z to v. */
static CalQuat quat_of_zaxis(dvec3 v) {
	const dvec3 z = unit(v, (dvec3){0, 0, 1}), across = {-z.y, z.x, 0};
	const double s = sqrt(ddot(across, across));
	const double angle = portable_atan2(s, z.z);
	return dquat_exp(dscale(angle, s > 0 ? dscale(1 / s, across) : (dvec3){1, 0, 0}));
}

static CalQuat quat_of_xyaxes(const double v[6]) {
	const dvec3 x = unit((dvec3){v[0], v[1], v[2]}, (dvec3){1, 0, 0}), along = {v[3], v[4], v[5]};
	const dvec3 y = unit(dadd(along, dscale(-ddot(x, along), x)), (dvec3){0, 1, 0});
	return quat_of_matrix((dmat3){x, y, dcross(x, y)});
}

static CalQuat quat_of_euler(const MjcfCompiler *c, const double v[3]) {
	CalQuat q = {1, 0, 0, 0};
	for (int i = 0; i < 3; i++) {
		const char axis = c->euler[i];
		const bool fixed = axis < 'a';
		const double angle = c->degrees ? v[i] * deg : v[i];
		const int which = axis - (fixed ? 'X' : 'x');
		const CalQuat turn = dquat_exp((dvec3){which == 0 ? angle : 0, which == 1 ? angle : 0, which == 2 ? angle : 0});
		q = fixed ? dquat_mul(turn, q) : dquat_mul(q, turn);
	}
	return q;
}

CalQuat mjcf_quaternion(const MjcfCompiler *c, const MjcfOrientation *turn) {
	const double *v = turn->v;
	CalQuat q = {v[0], v[1], v[2], v[3]};
	switch (turn->kind) {
	case MJCF_QUAT:
		import_unit(&q.w, 4);
		return q.w != 0 || q.x != 0 || q.y != 0 || q.z != 0 ? q : (CalQuat){1, 0, 0, 0};
	case MJCF_AXISANGLE:
		return dquat_exp(dscale(c->degrees ? v[3] * deg : v[3], unit((dvec3){v[0], v[1], v[2]}, (dvec3){0, 0, 1})));
	case MJCF_XYAXES:
		return quat_of_xyaxes(v);
	case MJCF_ZAXIS:
		return quat_of_zaxis((dvec3){v[0], v[1], v[2]});
	case MJCF_EULER:
		return quat_of_euler(c, v);
	default:
		return (CalQuat){1, 0, 0, 0};
	}
}

bool mjcf_read_pose(Mjcf *m, const MjcfFile *file, XmlElement *element, CalPlacement *pose) {
	MjcfOrientation turn = {0};
	*pose = placement_identity();
	if (!import_vec3(m->im, element, "pos", &pose->position, NULL) || !mjcf_apply_orientation(m, &turn, element))
		return false;
	pose->orientation = mjcf_quaternion(&file->compiler, &turn);
	return true;
}

/* ---- limits ------------------------------------------------------------------------------------------------ */

bool mjcf_limited(Mjcf *m, const MjcfFile *file, const XmlElement *element, int limited, const double range[2],
                  const char *what, bool *is) {
	const bool has_range = range[0] != 0 || range[1] != 0;
	if (limited == MJCF_AUTO && has_range && !file->compiler.autolimits)
		return import_fail(m->im, element,
		                   "%s has a range, and neither %slimited nor the compiler's autolimits says whether "
		                   "it counts",
		                   what, strcmp(what, "range") == 0 ? "" : what);
	*is = limited == MJCF_TRUE || (limited == MJCF_AUTO && has_range);
	if (*is && !(range[0] < range[1]))
		return import_fail(m->im, element, "%s is \"%g %g\": the first number must be below the second", what, range[0],
		                   range[1]);
	return true;
}

/* ---- joints, geoms, sites, meshes, tendons --------------------------------------------------------------- */

MjcfDefaults mjcf_defaults(void) {
	MjcfDefaults d = {
		.joint = {.type = MJCF_HINGE,
	              .limited = MJCF_AUTO,
	              .force_limited = MJCF_AUTO,
	              .axis = {0, 0, 1},
	              .solref = {0.02, 1},
	              .solimp = {0.9, 0.95, 0.001, 0.5, 2}},
		.geom = {.type = MJCF_SPHERE,
	             .contype = 1,
	             .conaffinity = 1,
	             .condim = 3,
	             .size = {NAN, NAN, NAN},
	             .friction = {1, 0.005, 0.0001},
	             .mass = NAN,
	             .density = 1000,
	             .fit_scale = 1,
	             .rgba = {0.5, 0.5, 0.5, 1}},
		.geom_place = {.fromto = {NAN}},
		.site = {.fromto = {NAN}},
		.mesh = {.scale = {1, 1, 1}, .refquat = {1, 0, 0, 0}, .inertia = 1},
		.tendon = {.limited = MJCF_AUTO, .force_limited = MJCF_AUTO, .solref = {0.02, 1}, .springlength = {-1, -1}},
		.actuator = {.ctrl_limited = MJCF_AUTO,
	                 .force_limited = MJCF_AUTO,
	                 .act_limited = MJCF_AUTO,
	                 .gear = {1, 0, 0, 0, 0, 0},
	                 .gain = {1, 0, 0},
	                 .dyn = {1}},
		.rgba = {1, 1, 1, 1},
		.equality_active = true,
	};
	return d;
}

static bool apply_axis(Mjcf *m, XmlElement *e, CalVec3 *axis) {
	bool given = false;
	return import_vec3(m->im, e, "axis", axis, &given) &&
	       (!given || import_question_length(m->im, e, "axis", &axis->x, 3));
}

/* The force of a stop is linear. */
static bool note_impedance(Mjcf *m, const XmlElement *e) {
	return !xml_peek(e, "solimplimit") ||
	       import_note(
			   m->im, CAL_IMPORT_CHANGED, e, "solimplimit",
			   "of the impedance, which grows over a distance in MuJoCo, the largest counts, its second number");
}

bool mjcf_apply_joint(Mjcf *m, MjcfJointAttributes *a, XmlElement *e) {
	static const char *const types[] = {"free", "ball", "slide", "hinge", NULL};
	Import *im = m->im;
	return import_word(im, e, "type", types, &a->type, NULL) && import_vec3(im, e, "pos", &a->pos, NULL) &&
	       apply_axis(m, e, &a->axis) && mjcf_apply_switch(m, e, "limited", &a->limited) &&
	       mjcf_apply_switch(m, e, "actuatorfrclimited", &a->force_limited) &&
	       import_numbers(im, e, "range", a->range, 2, NULL) &&
	       import_numbers(im, e, "actuatorfrcrange", a->force_range, 2, NULL) &&
	       import_numbers(im, e, "springdamper", a->spring_damper, 2, NULL) &&
	       mjcf_apply_numbers(m, e, "solreflimit", a->solref, 2) &&
	       mjcf_apply_numbers(m, e, "solimplimit", a->solimp, 5) && note_impedance(m, e) &&
	       import_number(im, e, "ref", &a->ref, NULL) && import_number(im, e, "springref", &a->springref, NULL) &&
	       import_number(im, e, "armature", &a->armature, NULL) &&
	       import_number(im, e, "frictionloss", &a->frictionloss, NULL) &&
	       mjcf_apply_numbers(m, e, "stiffness", a->stiffness, 3) &&
	       mjcf_apply_numbers(m, e, "damping", a->damping, 3) &&
	       import_bool(im, e, "actuatorgravcomp", &a->actuator_gravcomp, NULL);
}

static bool check_contact_number(Mjcf *m, XmlElement *e, const char *attribute, const char *why) {
	double v[6] = {0};
	if (!mjcf_apply_numbers(m, e, attribute, v, 6))
		return false;
	for (int i = 0; i < 6; i++)
		if (v[i] != 0)
			return mjcf_missing_attribute(m, e, attribute, "%s", why);
	return true;
}

bool mjcf_check_surface(Mjcf *m, XmlElement *e) {
	return check_contact_number(m, e, "surfacevel", "Calder has no surfaces that move in themselves, as of a belt") &&
	       check_contact_number(m, e, "adhesion", "Calder has no contact that pulls");
}

bool mjcf_apply_geom(Mjcf *m, MjcfGeomAttributes *a, MjcfPlaceAttributes *place, XmlElement *e) {
	static const char *const types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
	                                    "cylinder", "box",    "mesh",   "sdf",     NULL};
	Import *im = m->im;
	bool colored = false;
	const bool good =
		import_word(im, e, "type", types, &a->type, NULL) && import_integer(im, e, "contype", &a->contype, NULL) &&
		import_integer(im, e, "conaffinity", &a->conaffinity, NULL) &&
		import_integer(im, e, "condim", &a->condim, NULL) && import_integer(im, e, "group", &a->group, NULL) &&
		mjcf_apply_numbers(m, e, "size", a->size, 3) && mjcf_apply_numbers(m, e, "friction", a->friction, 3) &&
		import_number(im, e, "mass", &a->mass, NULL) && import_number(im, e, "density", &a->density, NULL) &&
		import_number(im, e, "margin", &a->margin, NULL) && import_number(im, e, "fitscale", &a->fit_scale, NULL) &&
		import_bool(im, e, "shellinertia", &a->shell, NULL) && import_numbers(im, e, "rgba", a->rgba, 4, &colored) &&
		mjcf_check_surface(m, e) && mjcf_apply_place(m, place, e);
	a->rgba_given = a->rgba_given || colored;
	apply_text(e, "mesh", &a->mesh);
	apply_text(e, "material", &a->material);
	apply_text(e, "hfield", &a->hfield);
	return good;
}

bool mjcf_apply_place(Mjcf *m, MjcfPlaceAttributes *a, XmlElement *e) {
	return import_vec3(m->im, e, "pos", &a->pos, NULL) && mjcf_apply_orientation(m, &a->turn, e) &&
	       import_numbers(m->im, e, "fromto", a->fromto, 6, NULL);
}

bool mjcf_apply_mesh(Mjcf *m, MjcfMeshAttributes *a, XmlElement *e) {
	static const char *const modes[] = {"convex", "legacy", "exact", "shell", NULL};
	double quat[4] = {a->refquat.w, a->refquat.x, a->refquat.y, a->refquat.z};
	apply_text(e, "file", &a->file);
	if (!(import_vec3(m->im, e, "scale", &a->scale, NULL) && import_vec3(m->im, e, "refpos", &a->refpos, NULL) &&
	      import_numbers(m->im, e, "refquat", quat, 4, NULL) &&
	      import_word(m->im, e, "inertia", modes, &a->inertia, NULL)))
		return false;
	a->refquat = mjcf_quaternion(NULL, &(MjcfOrientation){MJCF_QUAT, {quat[0], quat[1], quat[2], quat[3]}});
	return import_question_length(m->im, e, "refquat", quat, 4);
}

bool mjcf_apply_tendon(Mjcf *m, MjcfTendonAttributes *a, XmlElement *e) {
	Import *im = m->im;
	const bool one = xml_peek(e, "springlength") != NULL;
	double rest[2] = {NAN, NAN};
	if (!(mjcf_apply_switch(m, e, "limited", &a->limited) &&
	      mjcf_apply_switch(m, e, "actuatorfrclimited", &a->force_limited) &&
	      import_numbers(im, e, "range", a->range, 2, NULL) &&
	      import_numbers(im, e, "actuatorfrcrange", a->force_range, 2, NULL) &&
	      mjcf_apply_numbers(m, e, "solreflimit", a->solref, 2) && mjcf_apply_numbers(m, e, "springlength", rest, 2) &&
	      mjcf_apply_numbers(m, e, "stiffness", a->stiffness, 3) &&
	      mjcf_apply_numbers(m, e, "damping", a->damping, 3) &&
	      import_number(im, e, "frictionloss", &a->frictionloss, NULL) &&
	      import_number(im, e, "armature", &a->armature, NULL)))
		return false;
	if (one) {
		a->springlength[0] = rest[0];
		a->springlength[1] = isnan(rest[1]) ? rest[0] : rest[1];
	}
	return true;
}
