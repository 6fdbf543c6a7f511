// SPDX-License-Identifier: Apache-2.0
/*
 * broad.c — bounding boxes of the shapes, and their order along one axis for sweeping.
 *
 * The axis is that along which the boxes are spread most. The order is by lower bound, then by index: a function of the
 * poses only, whatever order the workspace held before. Insertion sort, because from one step to the next little moves.
 */
#include "contact/mesh.h"
#include "contact/set.h"

static vec3 extent(const Frame *f, vec3 half) {
	return vec(fabs(f->R.x.x) * half.x + fabs(f->R.y.x) * half.y + fabs(f->R.z.x) * half.z,
	           fabs(f->R.x.y) * half.x + fabs(f->R.y.y) * half.y + fabs(f->R.z.y) * half.z,
	           fabs(f->R.x.z) * half.x + fabs(f->R.y.z) * half.y + fabs(f->R.z.z) * half.z);
}

static Bounds bounds_about(vec3 c, vec3 size) { return (Bounds){sub(c, size), add(c, size)}; }

static Bounds bounds_of(const Shape *s, const Frame *f) {
	switch (s->type) {
	case CAL_SHAPE_SPHERE:
		return bounds_about(f->r, vec(s->radius, s->radius, s->radius));
	case CAL_SHAPE_CAPSULE:
		return bounds_about(f->r, vec(fabs(f->R.z.x) * s->reach + s->radius, fabs(f->R.z.y) * s->reach + s->radius,
		                              fabs(f->R.z.z) * s->reach + s->radius));
	case CAL_SHAPE_BOX:
		return bounds_about(f->r, extent(f, s->half));
	case CAL_SHAPE_MESH: {
		const MeshNode *root = &s->mesh->node[0];
		const double reach = mesh_reach(s);
		const vec3 grow = vec(reach, reach, reach);
		const vec3 half = scale(0.5, sub(root->upper, root->lower));
		return bounds_about(frame_point(f, lerp(root->lower, root->upper, 0.5)), add(grow, extent(f, half)));
	}
	default:
		return (Bounds){vec(-INFINITY, -INFINITY, -INFINITY), vec(INFINITY, INFINITY, INFINITY)};
	}
}

/* The axis along which the centers vary most; planes do not count. */
static int widest_axis(const CalContactSet *set, const CalContactWork *work) {
	vec3 sum = vec_zero(), squares = vec_zero();
	double count = 0;
	for (int i = 0; i < set->shape_count; i++) {
		if (set->shapes[i].type == CAL_SHAPE_PLANE)
			continue;
		const vec3 c = lerp(work->bounds[i].lower, work->bounds[i].upper, 0.5);
		sum = add(sum, c);
		squares = add(squares, vec(c.x * c.x, c.y * c.y, c.z * c.z));
		count++;
	}
	const double x = squares.x * count - sum.x * sum.x, y = squares.y * count - sum.y * sum.y;
	const double z = squares.z * count - sum.z * sum.z;
	return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

static bool comes_before(const CalContactWork *work, int axis, int a, int b) {
	const double x = component(work->bounds[a].lower, axis), y = component(work->bounds[b].lower, axis);
	return x < y || (x == y && a < b);
}

int broad_prepare(const CalContactSet *set, const CalPose *poses, CalContactWork *work) {
	for (int i = 0; i < set->shape_count; i++) {
		const Shape *s = &set->shapes[i];
		if (s->node_index >= 0) {
			const Frame node = frame_from(&poses[s->node_index]);
			work->frame[i] = frame_mul(&node, &s->place);
		} else {
			work->frame[i] = s->place;
		}
		work->bounds[i] = bounds_of(s, &work->frame[i]);
	}
	const int axis = widest_axis(set, work);
	for (int i = 1; i < set->shape_count; i++) {
		const int shape = work->order[i];
		int j = i;
		for (; j > 0 && comes_before(work, axis, shape, work->order[j - 1]); j--)
			work->order[j] = work->order[j - 1];
		work->order[j] = shape;
	}
	return axis;
}

static bool above_plane(const Shape *plane, const Frame *f, const Bounds *b) {
	const vec3 up = f->R.z;
	const vec3 lowest =
		vec(up.x > 0 ? b->lower.x : b->upper.x, up.y > 0 ? b->lower.y : b->upper.y, up.z > 0 ? b->lower.z : b->upper.z);
	return dot(up, sub(lowest, f->r)) >= plane->margin;
}

bool broad_overlap(const CalContactSet *set, const CalContactWork *work, int a, int b) {
	const Bounds *x = &work->bounds[a], *y = &work->bounds[b];
	if (set->shapes[a].type == CAL_SHAPE_PLANE)
		return !above_plane(&set->shapes[a], &work->frame[a], y);
	if (set->shapes[b].type == CAL_SHAPE_PLANE)
		return !above_plane(&set->shapes[b], &work->frame[b], x);
	return x->lower.x < y->upper.x && y->lower.x < x->upper.x && x->lower.y < y->upper.y && y->lower.y < x->upper.y &&
	       x->lower.z < y->upper.z && y->lower.z < x->upper.z;
}
