// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_body.c — bodies with their joints, geoms and sites as lists, in the order of MuJoCo's numbers: depth first.
 *
 * A body's element is passed twice: first for what belongs to the body itself, then for its children, so that the joints of
 * a body are neighbors in the list wherever they stand in the file. <frame> elements are transparent: what is inside belongs
 * to the body around them, placed by them.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

static const double deg = 3.14159265358979323846 / 180;

/** Where elements are read: the body that they belong to, the frame that they are placed in, their class. */
typedef struct Scope {
	MjcfFile *file;
	int body;
	CalPlacement frame; // in the body
	int class_index;
} Scope;

static CalPlacement in_frame(const Scope *s, CalPlacement pose) { return placement_mul(s->frame, pose); }

/* ---- inertials ------------------------------------------------------------------------------------------- */

static bool read_moments(Mjcf *m, XmlElement *e, const MjcfOrientation *turn, CalMat3 *inertia) {
	double diagonal[3] = {0}, full[6];
	bool has_diagonal, has_full;
	if (!import_numbers(m->im, e, "diaginertia", diagonal, 3, &has_diagonal) ||
	    !import_numbers(m->im, e, "fullinertia", full, 6, &has_full))
		return false;
	if (has_full && (has_diagonal || turn->kind != MJCF_TURN_NONE))
		return import_fail(m->im, e, "<inertial> has fullinertia and %s; fullinertia is in the axes of the body",
		                   has_diagonal ? "diaginertia" : "an orientation");
	*inertia = has_full
	               ? (CalMat3){{{full[0], full[3], full[4]}, {full[3], full[1], full[5]}, {full[4], full[5], full[2]}}}
	               : (CalMat3){{{diagonal[0], 0, 0}, {0, diagonal[1], 0}, {0, 0, diagonal[2]}}};
	return true;
}

static bool read_inertial(Mjcf *m, const Scope *s, XmlElement *e) {
	MassProperties mass = {0};
	MjcfOrientation turn = {0};
	CalVec3 pos = {0};
	bool has_pos, has_mass;
	if (!(import_vec3(m->im, e, "pos", &pos, &has_pos) && import_number(m->im, e, "mass", &mass.mass, &has_mass) &&
	      mjcf_apply_orientation(m, &turn, e) && read_moments(m, e, &turn, &mass.inertia)))
		return false;
	if (!has_pos || !has_mass)
		return import_fail(m->im, e, "<inertial> has no %s; MJCF requires it", has_pos ? "mass" : "pos");
	if (mass.mass < 0)
		return import_fail(m->im, e, "the mass of <inertial> must not be negative");
	MjcfBody *body = mjcf_body(m, s->body);
	if (body->has_inertial)
		return import_fail(m->im, e, "the body has an <inertial> already");
	const CalPlacement pose = {pos, mjcf_quaternion(&s->file->compiler, &turn)};
	body->has_inertial = true;
	body->mass = mass_moved(mass, in_frame(s, pose));
	return true;
}

/* ---- joints ------------------------------------------------------------------------------------------------ */

static void angles_to_rad(MjcfJointAttributes *a, const MjcfCompiler *c, bool limited) {
	if (!c->degrees || (a->type != MJCF_HINGE && a->type != MJCF_BALL))
		return;
	for (int i = 0; i < 2 && limited; i++)
		a->range[i] *= deg;
	if (a->type == MJCF_HINGE) {
		a->ref *= deg;
		a->springref *= deg;
	}
}

static bool place_joint(Mjcf *m, const Scope *s, MjcfJoint *joint) {
	MjcfJointAttributes *a = &joint->a;
	const dvec3 axis = dmat_mul_vec(dquat_matrix(s->frame.orientation), dvec_in(a->axis));
	const double length = sqrt(ddot(axis, axis));
	if (a->type == MJCF_FREE || a->type == MJCF_BALL)
		a->ref = 0;
	else if (!(length > 1e-14))
		return import_fail(m->im, joint->object.element, "the axis of a joint must not be zero");
	a->axis = dvec_out(axis);
	import_unit(&a->axis.x, 3);
	a->pos = in_frame(s, (CalPlacement){.position = a->pos}).position;
	return true;
}

/* What MuJoCo allows: a free joint alone and under the world, six degrees of freedom, no rotation after a ball. */
static bool check_sequence(Mjcf *m, int body, const MjcfJoint *joint) {
	static const int dofs[] = {6, 3, 1, 1};
	const MjcfBody *b = mjcf_body(m, body);
	const XmlElement *e = joint->object.element;
	int count = dofs[joint->a.type];
	if (b->parent < 0)
		return import_fail(m->im, e, "the world cannot have joints; put it into a <body>");
	if (b->is_mocap)
		return import_fail(m->im, e, "a mocap body cannot have joints");
	for (int i = b->first_joint; i < b->first_joint + b->joint_count; i++) {
		const int before = mjcf_joint(m, i)->a.type;
		count += dofs[before];
		if (before == MJCF_FREE || joint->a.type == MJCF_FREE)
			return import_fail(m->im, e, "a body with a free joint has no other joint");
		if (before == MJCF_BALL && joint->a.type != MJCF_SLIDE)
			return import_fail(m->im, e, "no other rotation may follow a ball joint");
	}
	if (joint->a.type == MJCF_FREE && b->parent != 0)
		return import_fail(m->im, e, "a free joint is possible on bodies of the world only");
	return count <= 6 ||
	       import_fail(m->im, e, "the joints of a body have at most 6 degrees of freedom; here are %d", count);
}

static bool note_alignment(Mjcf *m, const Scope *s, XmlElement *e) {
	int align = MJCF_AUTO;
	if (!mjcf_apply_switch(m, e, "align", &align))
		return false;
	return !(align == MJCF_TRUE || (align == MJCF_AUTO && s->file->compiler.align_free)) ||
	       import_note(
			   m->im, CAL_IMPORT_CHANGED, e, align == MJCF_TRUE ? "align" : NULL,
			   "MuJoCo moves the frame of a free body without children to its center of mass and principal axes; "
			   "here it stays as written: the motion is the same, its coordinates are not");
}

static bool read_joint(Mjcf *m, Scope *s, XmlElement *e) {
	const bool is_free = xml_is(e, "freejoint");
	const int index = mjcf_add(m, MJCF_JOINTS, s->file, e);
	const MjcfClass *class = index < 0 || is_free ? NULL : mjcf_class_of(m, s->file, e, s->class_index);
	if (index < 0 || (!is_free && !class))
		return false;
	MjcfJoint *joint = mjcf_joint(m, index);
	joint->a = is_free ? mjcf_defaults().joint : class->defaults.joint;
	joint->body = s->body;
	if (is_free)
		joint->a.type = MJCF_FREE;
	else if (!mjcf_apply_joint(m, &joint->a, e))
		return false;
	if (!mjcf_limited(m, s->file, e, joint->a.limited, joint->a.range, "range", &joint->limited) ||
	    !check_sequence(m, s->body, joint) || !place_joint(m, s, joint))
		return false;
	angles_to_rad(&joint->a, &s->file->compiler, joint->limited);
	MjcfBody *body = mjcf_body(m, s->body);
	if (body->joint_count++ == 0)
		body->first_joint = index;
	joint->q_first = m->nq, joint->u_first = m->nu;
	m->nq += joint->a.type == MJCF_FREE ? 7 : joint->a.type == MJCF_BALL ? 4 : 1;
	m->nu += joint->a.type == MJCF_FREE ? 6 : joint->a.type == MJCF_BALL ? 3 : 1;
	return joint->a.type != MJCF_FREE || note_alignment(m, s, e);
}

/* ---- geoms and sites ------------------------------------------------------------------------------------- */

/* Middle and axis of a segment, and half of its length. */
static CalPlacement segment_pose(const double v[6], double *half) {
	const dvec3 a = {v[0], v[1], v[2]}, b = {v[3], v[4], v[5]}, d = dadd(b, dscale(-1, a));
	const MjcfOrientation along = {MJCF_ZAXIS, {d.x, d.y, d.z}};
	*half = 0.5 * sqrt(ddot(d, d));
	return (CalPlacement){dvec_out(dscale(0.5, dadd(a, b))), mjcf_quaternion(NULL, &along)};
}

static bool needs_size(int type, int which) {
	switch (type) {
	case MJCF_SPHERE:
		return which < 1;
	case MJCF_CAPSULE:
	case MJCF_CYLINDER:
		return which < 2;
	case MJCF_ELLIPSOID:
	case MJCF_BOX:
		return true;
	default:
		return false;
	}
}

/* MuJoCo refuses such a geom. */
static bool note_two_places(Mjcf *m, const XmlElement *e, const MjcfPlaceAttributes *place) {
	return (place->pos.x == 0 && place->pos.y == 0 && place->pos.z == 0 && place->turn.kind == MJCF_TURN_NONE) ||
	       import_note(m->im, CAL_IMPORT_ASSUMED, e, "fromto",
	                   "it has a position or an orientation as well, of its own or of its class; taken: fromto");
}

static bool complete_geom(Mjcf *m, const Scope *s, const MjcfPlaceAttributes *place, MjcfGeom *geom) {
	MjcfGeomAttributes *a = &geom->a;
	CalPlacement pose = {place->pos, mjcf_quaternion(&s->file->compiler, &place->turn)};
	if (!isnan(place->fromto[0]) &&
	    (a->type == MJCF_CAPSULE || a->type == MJCF_CYLINDER || a->type == MJCF_BOX || a->type == MJCF_ELLIPSOID)) {
		const bool round = a->type == MJCF_CAPSULE || a->type == MJCF_CYLINDER;
		double half;
		if (!note_two_places(m, geom->object.element, place))
			return false;
		pose = segment_pose(place->fromto, &half);
		a->size[1] = round ? half : a->size[0];
		a->size[2] = round ? 0 : half;
	}
	for (int i = 0; i < 3; i++) {
		if (needs_size(a->type, i) && !(a->size[i] > 0) && !mjcf_is_fitted(a))
			return import_fail(m->im, geom->object.element, "the size of the geom is not complete or not above zero");
		if (isnan(a->size[i]))
			a->size[i] = 0;
	}
	geom->pose = in_frame(s, pose);
	return true;
}

static bool read_geom(Mjcf *m, Scope *s, XmlElement *e) {
	const int index = mjcf_add(m, MJCF_GEOMS, s->file, e);
	const MjcfClass *class = index < 0 ? NULL : mjcf_class_of(m, s->file, e, s->class_index);
	if (!class)
		return false;
	MjcfGeom *geom = mjcf_geom(m, index);
	MjcfPlaceAttributes place = class->defaults.geom_place;
	geom->a = class->defaults.geom;
	geom->body = s->body;
	if (!mjcf_apply_geom(m, &geom->a, &place, e) || !complete_geom(m, s, &place, geom))
		return false;
	XmlElement *plugin = xml_child(e, "plugin");
	return !plugin || import_missing(m->im, plugin, "plugins of MuJoCo are not available");
}

static bool read_site(Mjcf *m, Scope *s, XmlElement *e) {
	const int index = mjcf_add(m, MJCF_SITES, s->file, e);
	const MjcfClass *class = index < 0 ? NULL : mjcf_class_of(m, s->file, e, s->class_index);
	if (!class)
		return false;
	MjcfSite *site = mjcf_site(m, index);
	MjcfPlaceAttributes a = class->defaults.site;
	double half;
	if (!mjcf_apply_place(m, &a, e) || (!isnan(a.fromto[0]) && !note_two_places(m, e, &a)))
		return false;
	site->body = s->body;
	site->pose = in_frame(s, !isnan(a.fromto[0]) ? segment_pose(a.fromto, &half)
	                                             : (CalPlacement){a.pos, mjcf_quaternion(&s->file->compiler, &a.turn)});
	return true;
}

/* ---- bodies -------------------------------------------------------------------------------------------------- */

static bool enter_frame(Mjcf *m, const Scope *s, XmlElement *e, Scope *inside) {
	CalPlacement pose;
	*inside = *s;
	e->used = true;
	xml_get(e, "name");
	if (!mjcf_read_pose(m, s->file, e, &pose) || !mjcf_childclass(m, s->file, e, s->class_index, &inside->class_index))
		return false;
	inside->frame = in_frame(s, pose);
	return true;
}

static bool read_own(Mjcf *m, Scope *s, XmlElement *element);

static bool read_own_element(Mjcf *m, Scope *s, XmlElement *e) {
	Scope inside;
	if (xml_is(e, "frame"))
		return enter_frame(m, s, e, &inside) && read_own(m, &inside, e);
	if (xml_is(e, "joint") || xml_is(e, "freejoint"))
		return read_joint(m, s, e);
	if (xml_is(e, "geom"))
		return read_geom(m, s, e);
	if (xml_is(e, "site"))
		return read_site(m, s, e);
	if (xml_is(e, "inertial"))
		return e->used = true, read_inertial(m, s, e);
	if (xml_is(e, "composite") || xml_is(e, "flexcomp"))
		return import_missing(m->im, e,
		                      "Calder has no such deformable objects; its flexible bodies have modes "
		                      "(docs/flexible.md)");
	if (xml_is(e, "plugin"))
		return import_missing(m->im, e, "plugins of MuJoCo are not available");
	return true;
}

static bool read_own(Mjcf *m, Scope *s, XmlElement *element) {
	for (XmlElement *e = element->first; e; e = e->next)
		if (!read_own_element(m, s, e))
			return false;
	return true;
}

static bool read_children(Mjcf *m, const Scope *s, XmlElement *element);

static bool check_mocap(Mjcf *m, const Scope *s, XmlElement *e, bool is_mocap) {
	return !is_mocap || s->body == 0 || import_fail(m->im, e, "a mocap body must be a child of the world");
}

static bool read_body(Mjcf *m, const Scope *s, XmlElement *e) {
	Scope own = {.file = s->file, .frame = placement_identity()};
	CalPlacement pose;
	bool is_mocap = false;
	double gravcomp = 0;
	own.body = mjcf_add(m, MJCF_BODIES, s->file, e);
	if (own.body < 0 || !mjcf_read_pose(m, s->file, e, &pose) ||
	    !mjcf_childclass(m, s->file, e, s->class_index, &own.class_index) ||
	    !import_bool(m->im, e, "mocap", &is_mocap, NULL) || !import_number(m->im, e, "gravcomp", &gravcomp, NULL) ||
	    !check_mocap(m, s, e, is_mocap))
		return false;
	MjcfBody *body = mjcf_body(m, own.body);
	body->parent = s->body;
	body->pose = in_frame(s, pose);
	body->is_mocap = is_mocap;
	body->gravcomp = gravcomp;
	body->world = dpose_mul(mjcf_body(m, s->body)->world, pose_of(body->pose));
	if (!read_own(m, &own, e))
		return false;
	body = mjcf_body(m, own.body);
	body->is_static = mjcf_body(m, s->body)->is_static && !body->joint_count && !is_mocap;
	return read_children(m, &own, e);
}

/* All of another model: what its world holds is placed in the scope. */
static bool read_worlds(Mjcf *m, Scope *s, XmlElement *root) {
	for (XmlElement *e = xml_child(root, "worldbody"); e; e = xml_again(e)) {
		Scope world = *s;
		if (!mjcf_childclass(m, s->file, e, 0, &world.class_index) || !read_own(m, &world, e) ||
		    !read_children(m, &world, e))
			return false;
	}
	return true;
}

/* A body, a frame or all of another model in the place of <attach>. */
static bool read_attached(Mjcf *m, const Scope *s, XmlElement *e) {
	const char *body = xml_get(e, "body"), *frame = xml_get(e, "frame");
	Scope own = *s, inside;
	if (!(own.file = mjcf_open_attached(m, s->file, e)))
		return false;
	own.class_index = 0;
	if (!body && !frame)
		return read_worlds(m, &own, e);
	XmlElement *part;
	if (!mjcf_attached_part(m, own.file, body ? "body" : "frame", body ? body : frame, &part))
		return false;
	if (!part)
		return import_fail(m->im, e, "the model to attach has no %s \"%.100s\"", body ? "body" : "frame",
		                   body ? body : frame);
	if (body)
		return read_body(m, &own, part);
	return enter_frame(m, &own, part, &inside) && read_own(m, &inside, part) && read_children(m, &inside, part);
}

static bool read_children(Mjcf *m, const Scope *s, XmlElement *element) {
	for (XmlElement *e = element->first; e; e = e->next) {
		Scope inside;
		if (xml_is(e, "attach") && !read_attached(m, s, e))
			return false;
		if (xml_is(e, "body") && !read_body(m, s, e))
			return false;
		if (xml_is(e, "frame") && !(enter_frame(m, s, e, &inside) && read_children(m, &inside, e)))
			return false;
	}
	return true;
}

bool mjcf_read_bodies(Mjcf *m) {
	if (!mjcf_reserve_objects(m, m->file.root) || mjcf_add(m, MJCF_BODIES, &m->file, m->file.root) < 0)
		return false;
	*mjcf_body(m, 0) = (MjcfBody){.object = {.element = m->file.root, .file = &m->file},
	                              .parent = -1,
	                              .pose = placement_identity(),
	                              .world = dpose_identity(),
	                              .is_static = true};
	Scope world = {.file = &m->file, .frame = placement_identity()};
	return read_worlds(m, &world, m->file.root);
}

/* ---- assets ------------------------------------------------------------------------------------------------- */

/* The name of a mesh without one is that of its file, without folder and ending. */
static const char *stem_of(Mjcf *m, const char *file) {
	const char *base = strrchr(file, '/');
	base = base ? base + 1 : file;
	const char *dot = strrchr(base, '.');
	return mjcf_format(m, "%.*s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base);
}

static bool read_mesh(Mjcf *m, MjcfFile *file, XmlElement *e) {
	const MjcfClass *class = mjcf_class_of(m, file, e, 0);
	const char *path = xml_peek(e, "file");
	if (!class)
		return false;
	if (!xml_peek(e, "name") && path) {
		const char *name = stem_of(m, path);
		if (!name || !xml_set(m->im->tree, e, "name", name))
			return import_no_memory(m->im);
	}
	const int index = mjcf_add(m, MJCF_MESHES, file, e);
	if (index < 0)
		return false;
	mjcf_mesh(m, index)->a = class->defaults.mesh;
	return mjcf_apply_mesh(m, &mjcf_mesh(m, index)->a, e);
}

bool mjcf_locate_mesh(Mjcf *m, const MjcfMesh *mesh, char *path, size_t size, bool *found) {
	const MjcfFile *file = mesh->object.file;
	const char *base = strrchr(mesh->a.file, '/'), *name = mesh->a.file, *folder = file->compiler.mesh_folder;
	if (file->compiler.strip_path && base)
		name = base + 1;
	if (folder[0] && name[0] != '/')
		name = mjcf_format(m, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
	return name &&
	       import_locate(m->im, file->depth ? mesh->object.element : m->file.root, name, path, size, found, NULL, 0);
}

static bool read_material(Mjcf *m, MjcfFile *file, XmlElement *e) {
	const MjcfClass *class = mjcf_class_of(m, file, e, 0);
	const int index = class ? mjcf_add(m, MJCF_MATERIALS, file, e) : -1;
	if (index < 0)
		return false;
	MjcfMaterial *material = mjcf_material(m, index);
	memcpy(material->rgba, class->defaults.rgba, sizeof material->rgba);
	return import_numbers(m->im, e, "rgba", material->rgba, 4, NULL);
}

bool mjcf_read_assets(Mjcf *m, MjcfFile *file) {
	for (XmlElement *asset = xml_child(file->root, "asset"); asset; asset = xml_again(asset))
		for (XmlElement *e = asset->first; e; e = e->next)
			if ((xml_is(e, "mesh") && !read_mesh(m, file, e)) || (xml_is(e, "material") && !read_material(m, file, e)))
				return false;
	return true;
}
