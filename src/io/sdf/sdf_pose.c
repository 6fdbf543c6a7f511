// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_pose.c — poses of all frames, and the links that they are attached to.
 *
 * Each frame is placed in its scope: what its pose is relative to stands in the same model or deeper, so the pose of the
 * scope itself is not needed for it. That of a model with a placement frame P follows from the pose given for P:
 * X_model = X_given inv(X_P in the model). A search with a stack of its own visits what a frame depends on first; a frame
 * that is met again on the way depends on itself.
 */
#include <math.h>

#include "base/memory.h"
#include "io/sdf/sdf_reader.h"

/* ---- <pose> ------------------------------------------------------------------------------------------- */

static bool read_rotation(Sdf *s, XmlElement *e, const double *v, int count, CalQuat *q) {
	static const char *const formats[] = {"euler_rpy", "quat_xyzw", NULL};
	int format = 0;
	bool degrees = false;
	if (!import_word(s->im, e, "rotation_format", formats, &format, NULL) ||
	    !import_bool(s->im, e, "degrees", &degrees, NULL))
		return false;
	if (count != (format == 0 ? 6 : 7))
		return import_fail(s->im, e, "<pose>: expected %d numbers, as its rotation_format is %s", format == 0 ? 6 : 7,
		                   formats[format]);
	if (format == 1) {
		*q = (CalQuat){v[6], v[3], v[4], v[5]};
		const double norm = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
		if (!(norm > 0.25))
			return import_fail(s->im, e, "<pose>: the quaternion has the length %g; a rotation has the length 1",
			                   sqrt(norm));
		return import_question_length(s->im, e, NULL, v + 3, 4);
	}
	const double unit = degrees ? 3.14159265358979323846 / 180 : 1;
	*q = import_rpy((CalVec3){unit * v[3], unit * v[4], unit * v[5]});
	return degrees || import_question_radians(s->im, e, NULL, (CalVec3){v[3], v[4], v[5]});
}

bool sdf_read_pose(Sdf *s, XmlElement *owner, int version, CalPlacement *pose, const char **relative) {
	XmlElement *e = xml_child(owner, "pose");
	double v[7] = {0};
	int count = 0;
	*pose = placement_identity();
	*relative = NULL;
	if (!e)
		return true;
	const char *given = xml_get(e, "relative_to"), *old = version < 107 ? xml_get(e, "frame") : NULL;
	if (given && given[0])
		*relative = given;
	if (old && old[0] &&
	    !import_note(
			s->im, CAL_IMPORT_CHANGED, e, "frame",
			"files before SDFormat 1.7 name frames of poses, but no program agreed on what that means; taken: none "
			"is named"))
		return false;
	if (!import_list(s->im, e, NULL, v, 6, 7, &count) || (count && !read_rotation(s, e, v, count, &pose->orientation)))
		return false;
	pose->position = (CalVec3){v[0], v[1], v[2]};
	return true;
}

bool sdf_read_pose_on_link(Sdf *s, const SdfFrame *link, XmlElement *owner, CalPlacement *placement) {
	const char *relative;
	if (!sdf_read_pose(s, owner, link->version, placement, &relative))
		return false;
	if (relative) {
		const int to = sdf_find_required(s, link->scope, owner, relative);
		if (to == SDF_NONE)
			return false;
		*placement =
			placement_mul(placement_mul(placement_inverse(link->in_world), s->frames[to].in_world), *placement);
	}
	return true;
}

/* ---- what names mean --------------------------------------------------------------------------------- */

static int first_link(const Sdf *s, int model) {
	for (int i = model + 1; i < s->frame_count; i++) { // what is in a model follows it
		int around = s->frames[i].scope;
		while (around > model)
			around = s->frames[around].scope;
		if (around != model)
			return SDF_NONE;
		if (s->frames[i].kind == SDF_LINK)
			return i;
	}
	return SDF_NONE;
}

static bool name_model(Sdf *s, int i) {
	SdfFrame *f = &s->frames[i];
	const char *canonical = xml_get(f->element, "canonical_link"), *placed = xml_get(f->element, "placement_frame");
	f->placement_frame = i;
	f->attached_to = canonical && canonical[0] ? sdf_find_required(s, i, f->element, canonical) : first_link(s, i);
	if (s->im->status == CAL_OK && placed && placed[0])
		f->placement_frame = sdf_find_required(s, i, f->element, placed);
	return s->im->status == CAL_OK;
}

/* The link or frame that a joint is posed on: its child. */
static bool name_joint(Sdf *s, SdfFrame *f) {
	XmlElement *child = xml_child(f->element, "child");
	if (!child || !xml_content(child)[0])
		return import_fail(s->im, f->element, "joint \"%.80s\" needs a <child>", f->name);
	f->attached_to = sdf_find_required(s, f->scope, child, child->text);
	return f->attached_to != SDF_NONE;
}

static bool name_frame_of(Sdf *s, SdfFrame *f) {
	const char *to = xml_get(f->element, "attached_to");
	f->attached_to = to && to[0] ? sdf_find_required(s, f->scope, f->element, to) : f->scope;
	return f->attached_to != SDF_NONE;
}

/* What its pose is relative to, where the file does not say. */
static int default_relative(const SdfFrame *f) {
	return f->kind == SDF_JOINT || f->kind == SDF_FRAME ? f->attached_to : f->scope;
}

static bool find_names(Sdf *s, int i) {
	SdfFrame *f = &s->frames[i];
	const char *relative;
	if ((f->kind == SDF_MODEL && !name_model(s, i)) || (f->kind == SDF_JOINT && !name_joint(s, f)) ||
	    (f->kind == SDF_FRAME && !name_frame_of(s, f)))
		return false;
	if (!sdf_read_pose(s, f->element, f->version, &f->given, &relative))
		return false;
	f->relative_to = relative ? sdf_find_required(s, f->scope, f->element, relative) : default_relative(f);
	return f->relative_to != SDF_NONE;
}

/* ---- poses -------------------------------------------------------------------------------------------- */

/* A frame on the way from `from` up to a scope whose own pose is not known yet; SDF_NONE: all are. */
static int unknown_between(const Sdf *s, int from, int scope) {
	for (int i = from; i != scope && i != SDF_WORLD_FRAME; i = s->frames[i].scope)
		if (s->frames[i].state != 2)
			return i;
	return SDF_NONE;
}

static int dependency(const Sdf *s, int i) {
	const SdfFrame *f = &s->frames[i];
	const int first = unknown_between(s, f->relative_to, f->scope);
	return first != SDF_NONE || f->kind != SDF_MODEL ? first : unknown_between(s, f->placement_frame, i);
}

static CalPlacement pose_between(const Sdf *s, int from, int scope) {
	CalPlacement X = placement_identity();
	for (int i = from; i != scope && i != SDF_WORLD_FRAME; i = s->frames[i].scope)
		X = placement_mul(s->frames[i].in_scope, X);
	return X;
}

static void place(Sdf *s, int i) {
	SdfFrame *f = &s->frames[i];
	f->in_scope = placement_mul(pose_between(s, f->relative_to, f->scope), f->given);
	if (f->kind == SDF_MODEL)
		f->in_scope = placement_mul(f->in_scope, placement_inverse(pose_between(s, f->placement_frame, i)));
	f->state = 2;
}

static bool visit(Sdf *s, int start, int *stack) {
	int depth = 0;
	stack[depth] = start;
	s->frames[start].state = 1;
	while (depth >= 0) {
		const int i = stack[depth], next = dependency(s, i);
		if (next == SDF_NONE) {
			place(s, i);
			depth--;
		} else if (s->frames[next].state == 1) {
			return import_fail(s->im, s->frames[next].element, "the pose of \"%.80s\" depends on itself",
			                   s->frames[next].name);
		} else {
			s->frames[next].state = 1;
			stack[++depth] = next;
		}
	}
	return true;
}

/* ---- links that frames move with ---------------------------------------------------------------------- */

static bool is_known(const SdfFrame *f) { return f->kind == SDF_LINK || f->kind == SDF_WORLD || f->state == 3; }

/* Follows the attachments to a link, then gives it to all on the way. */
static bool attach(Sdf *s, int start) {
	int end = start, steps = 0, link = SDF_NONE;
	while (end != SDF_NONE && !is_known(&s->frames[end])) {
		end = s->frames[end].attached_to;
		if (++steps > s->frame_count)
			return import_fail(s->im, s->frames[start].element, "\"%.80s\" is attached to itself",
			                   s->frames[start].name);
	}
	link = end == SDF_NONE ? SDF_NONE : s->frames[end].link;
	for (int i = start; i != end; i = s->frames[i].attached_to) {
		s->frames[i].link = link;
		s->frames[i].state = 3;
	}
	return true;
}

bool sdf_find_poses(Sdf *s) {
	int *stack = xml_array(s->im->tree, (size_t)s->frame_count + 1, sizeof *stack);
	if (!stack)
		return import_no_memory(s->im);
	for (int i = 1; i < s->frame_count; i++)
		if (!find_names(s, i))
			return false;
	for (int i = 1; i < s->frame_count; i++)
		if (s->frames[i].state == 0 && !visit(s, i, stack))
			return false;
	for (int i = 1; i < s->frame_count; i++) // scopes come first
		s->frames[i].in_world = placement_mul(s->frames[s->frames[i].scope].in_world, s->frames[i].in_scope);
	for (int i = 1; i < s->frame_count; i++)
		if (!attach(s, i))
			return false;
	return true;
}
