// SPDX-License-Identifier: Apache-2.0
/*
 * outlook.c — when shapes that move can touch next (conservative advancement).
 *
 * Two convex shapes that are a gap g apart along n stay apart as long as they have not come closer by g along n. A point of
 * a shape moves with its center, at v, and turns about it, at most at |w| rho with rho the reach of the shape; both change
 * by accelerations of at most A. With r the closing speed of the two along n, turning included,
 *   r tau + A tau^2 / 2 < g
 * means that they do not touch before tau. Meshes are not convex: there r is the closing speed in any direction. A is taken
 * twice as large as it is at the instant, since it changes on the way.
 *
 * Shapes that touch are left to the error control of the method, which sees their force. It does so only if no step leads
 * from one side of a shape to the other: a step may not take a point of contact deeper by more than DEEPER of the sizes.
 */
#include <limits.h>
#include <string.h>

#include "contact/set.h"

static const double DEEPER = 0.25;          // of both sizes, in one step
static const double UNSEEN = 1e-6;          // of the smaller size: contacts that never get so deep may be missed
static const double TOUCHING = 1e-9;        // of the smaller size: closer is touching
static const double BEND_MARGIN = 2;        // accelerations on the way are at most so much larger
enum { PAIRS_OF_SHAPE = 8, HALVINGS = 40 }; // beyond so many pairs in reach the look ahead is shortened

/* ---- how a shape moves ------------------------------------------------------------------------------ */

static SetCourse course_of(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                           const CalSpatial *accelerations, const CalContactWork *work, int i) {
	const Shape *s = &set->shapes[i];
	if (s->node_index < 0)
		return (SetCourse){.v = vec_zero()};
	const vec3 r = sub(frame_point(&work->frame[i], s->center), vec_in(poses[s->node_index].r));
	const spatial v = motion_shift(spatial_in(velocities[s->node_index]), r);
	const spatial a = accelerations ? spatial_in(accelerations[s->node_index]) : spatial_zero();
	const vec3 bend = add(add(a.l, cross(a.a, r)), cross(v.a, cross(v.a, r)));
	const double turn = norm(v.a);
	return (SetCourse){.v = v.l, .spin = turn * s->extent, .bend = norm(bend) + (turn * turn + norm(a.a)) * s->extent};
}

/* Time until `gap` is used up at the closing speed r and acceleration `bend`. */
static double time_to(double gap, double r, double bend) {
	if (bend == 0)
		return r > 0 ? gap / r : INFINITY;
	const double root = sqrt(r * r + 2 * bend * gap);
	return r > 0 ? 2 * gap / (r + root) : (root - r) / bend;
}

static double pair_bend(const SetCourse *a, const SetCourse *b) { return BEND_MARGIN * (a->bend + b->bend); }

static double smaller_size(const Shape *a, const Shape *b) { return fmin(a->size, b->size); }

/* What a shape may cover within a time. */
static Bounds swept_bounds(const Bounds *b, const SetCourse *c, double span) {
	const double grow = c->spin * span + 0.5 * BEND_MARGIN * c->bend * span * span;
	const vec3 way = scale(span, c->v), all = vec(grow, grow, grow);
	const vec3 down = vec(fmin(way.x, 0), fmin(way.y, 0), fmin(way.z, 0));
	const vec3 up = vec(fmax(way.x, 0), fmax(way.y, 0), fmax(way.z, 0));
	return (Bounds){sub(add(b->lower, down), all), add(add(b->upper, up), all)};
}

/* ---- pairs -------------------------------------------------------------------------------------------- */

/* One look ahead on its way. */
typedef struct Look {
	const CalContactSet *set;
	const CalPose *poses;
	const CalSpatial *velocities;
	CalContactWork *work;
	CalContactLookahead *out;
} Look;

static void note_contact_free(const Look *k, int a, int b, double clear) {
	if (clear < k->out->contact_free) {
		k->out->contact_free = clear;
		k->out->a = a;
		k->out->b = b;
	}
}

/* Points that get deeper bound the step; a pair that parts may come back. */
static void look_ahead_touching(const Look *k, int a, int b) {
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	const double bend = pair_bend(&k->work->course[a], &k->work->course[b]), deeper = DEEPER * (sa->size + sb->size);
	const Manifold *m = &k->work->manifold;
	for (int i = 0; i < m->count; i++) {
		const Touch *t = &m->touch[i];
		overlap_note(k->set, a, b, t->depth, &k->out->overlap);
		const vec3 va = contact_velocity(k->poses, k->velocities, sa, t->p).l;
		const vec3 vb = contact_velocity(k->poses, k->velocities, sb, t->p).l;
		const double r = dot(sub(va, vb), t->n);
		k->out->max_step = fmin(k->out->max_step, time_to(deeper, r, bend));
		if (r < 0 && r * r > 2 * bend * UNSEEN * smaller_size(sa, sb))
			note_contact_free(k, a, b, bend > 0 ? -r / bend : INFINITY);
	}
}

static void look_ahead_separated(const Look *k, int a, int b) {
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	const SetCourse *ca = &k->work->course[a], *cb = &k->work->course[b];
	const double bend = pair_bend(ca, cb), small = smaller_size(sa, sb), span = k->out->horizon;
	const vec3 v = sub(ca->v, cb->v);
	const double fastest = norm(v) + ca->spin + cb->spin, reach = fastest * span + 0.5 * bend * span * span;
	vec3 n;
	const double gap = shapes_gap(sa, &k->work->frame[a], sb, &k->work->frame[b], reach, &n);
	const bool directed = dot(n, n) > 0;
	const double r = directed ? dot(v, n) + ca->spin + cb->spin : fastest;
	if (gap > TOUCHING * small)
		note_contact_free(k, a, b, time_to(gap + UNSEEN * small, r, bend));
	else
		k->out->max_step = fmin(k->out->max_step, time_to(DEEPER * (sa->size + sb->size), r, bend));
}

static bool is_excluded(const CalContactWork *work, const Shape *s) {
	return s->node_index >= 0 && work->out[s->node_index];
}

static bool may_touch(const Look *k, int a, int b) {
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	return shapes_may_touch(sa, sb) && !is_excluded(k->work, sa) && !is_excluded(k->work, sb);
}

static void look_ahead_pair(const Look *k, int i, int j) {
	const int a = i < j ? i : j, b = i < j ? j : i;
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	if (broad_overlap(k->set, k->work, a, b) &&
	    shapes_touch(sa, &k->work->frame[a], sb, &k->work->frame[b], &k->work->manifold))
		look_ahead_touching(k, a, b);
	else
		look_ahead_separated(k, a, b);
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

typedef void PairFn(const Look *k, int i, int j);

static bool ahead_before(const CalContactWork *w, int axis, int a, int b) {
	const double x = component(w->ahead[a].lower, axis), y = component(w->ahead[b].lower, axis);
	return x < y || (x == y && a < b);
}

static void sort_ahead(CalContactWork *w, int axis) {
	for (int i = 1; i < w->shape_count; i++) {
		const int shape = w->ahead_order[i];
		int j = i;
		for (; j > 0 && ahead_before(w, axis, shape, w->ahead_order[j - 1]); j--)
			w->ahead_order[j] = w->ahead_order[j - 1];
		w->ahead_order[j] = shape;
	}
}

static bool bounds_meet(const Bounds *x, const Bounds *y) {
	return x->lower.x < y->upper.x && y->lower.x < x->upper.x && x->lower.y < y->upper.y && y->lower.y < x->upper.y &&
	       x->lower.z < y->upper.z && y->lower.z < x->upper.z;
}

/* Calls run (NULL: none) for all pairs that can meet within the horizon; stops beyond `most`. Returns how many. */
static int sweep_ahead(const Look *k, int axis, int most, PairFn *run) {
	CalContactWork *w = k->work;
	int count = 0;
	for (int i = 0; i < w->shape_count; i++)
		w->ahead[i] = swept_bounds(&w->bounds[i], &w->course[i], k->out->horizon);
	sort_ahead(w, axis);
	for (int i = 0; i < w->shape_count && count <= most; i++) {
		const int a = w->ahead_order[i];
		const double end = component(w->ahead[a].upper, axis);
		for (int j = i + 1; j < w->shape_count && component(w->ahead[w->ahead_order[j]].lower, axis) < end; j++) {
			const int b = w->ahead_order[j];
			if (!bounds_meet(&w->ahead[a], &w->ahead[b]) || !may_touch(k, a, b))
				continue;
			count++;
			if (run)
				run(k, a, b);
		}
	}
	return count;
}

/* ---- room ------------------------------------------------------------------------------------------------ */

/* A lower bound of the gap of two shapes, from their boxes alone. */
static double subsystems_gap(const CalContactSet *set, const CalContactWork *w, int a, int b) {
	const bool first = set->shapes[a].type == CAL_SHAPE_PLANE;
	if (first || set->shapes[b].type == CAL_SHAPE_PLANE) {
		const int plane = first ? a : b, other = first ? b : a;
		const Bounds *box = &w->bounds[other];
		const vec3 up = w->frame[plane].R.z, half = scale(0.5, sub(box->upper, box->lower));
		const double center = dot(up, sub(lerp(box->lower, box->upper, 0.5), w->frame[plane].r));
		return center - fabs(up.x) * half.x - fabs(up.y) * half.y - fabs(up.z) * half.z - set->shapes[plane].margin;
	}
	const Bounds *x = &w->bounds[a], *y = &w->bounds[b];
	const double dx = fmax(x->lower.x - y->upper.x, y->lower.x - x->upper.x);
	const double dy = fmax(x->lower.y - y->upper.y, y->lower.y - x->upper.y);
	return fmax(fmax(dx, dy), fmax(x->lower.z - y->upper.z, y->lower.z - x->upper.z));
}

/*
 * How far all may move before any can touch, up to some travels of this span: while it lasts the next lookaheads need
 * no more than the poses.
 */
static double room_around(const Look *k, int axis) {
	enum { TRAVELS = 32 };
	CalContactWork *w = k->work;
	double most = 0;
	for (int i = 0; i < w->shape_count; i++) {
		const SetCourse *c = &w->course[i];
		w->pace[i] = norm(c->v) + c->spin;
		most = fmax(most, w->pace[i] + c->bend * k->out->horizon);
	}
	double room = TRAVELS * most * k->out->horizon;
	for (int i = 0; i < w->shape_count; i++) {
		const vec3 all = vec(room, room, room);
		w->ahead[i] = (Bounds){sub(w->bounds[i].lower, all), add(w->bounds[i].upper, all)};
	}
	sort_ahead(w, axis);
	for (int i = 0; i < w->shape_count && room > 0; i++) {
		const int a = w->ahead_order[i];
		const double end = component(w->ahead[a].upper, axis);
		for (int j = i + 1; j < w->shape_count && component(w->ahead[w->ahead_order[j]].lower, axis) < end; j++)
			if (may_touch(k, a, w->ahead_order[j]))
				room = fmin(room, 0.5 * subsystems_gap(k->set, w, a, w->ahead_order[j]));
	}
	return fmax(room, 0);
}

CalStatus cal_contact_look_ahead(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                                 const CalSpatial *accelerations, CalContactWork *work,
                                 CalContactLookahead *lookahead) {
	if (!set || !work || work->shape_count != set->shape_count || !lookahead || !(lookahead->horizon > 0) ||
	    (set->node_count > 0 && (!poses || !velocities)))
		return CAL_ERR_ARGUMENT;
	const int axis = broad_prepare(set, poses, work), most = PAIRS_OF_SHAPE * (set->shape_count + 4);
	const Look look = {set, poses, velocities, work, lookahead};
	for (int i = 0; i < set->shape_count; i++)
		work->course[i] = course_of(set, poses, velocities, accelerations, work, i);
	for (int k = 0; k < HALVINGS && sweep_ahead(&look, axis, most, NULL) > most; k++)
		lookahead->horizon *= 0.25;
	lookahead->contact_free = lookahead->horizon;
	lookahead->max_step = INFINITY;
	lookahead->a = lookahead->b = -1;
	lookahead->overlap = (CalContactOverlap){-1, -1, 0, INFINITY};
	sweep_ahead(&look, axis, INT_MAX, look_ahead_pair);
	work->near_a = lookahead->a;
	work->near_b = lookahead->b;
	memcpy(work->mark, work->frame, (size_t)set->shape_count * sizeof *work->mark);
	work->room = lookahead->a < 0 && isinf(lookahead->max_step) ? room_around(&look, axis) : 0;
	return CAL_OK;
}

static double rotation_distance(const mat3 *a, const mat3 *b) {
	const vec3 x = sub(a->x, b->x), y = sub(a->y, b->y), z = sub(a->z, b->z);
	return sqrt(dot(x, x) + dot(y, y) + dot(z, z));
}

int cal_contact_has_room(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities, double span,
                         CalContactWork *work) {
	if (!set || !work || work->shape_count != set->shape_count || (set->node_count > 0 && (!poses || !velocities)))
		return 0;
	if (!(work->room > 0) || work->near_a >= 0)
		return 0;
	for (int i = 0; i < set->shape_count; i++) {
		const Shape *s = &set->shapes[i];
		if (s->node_index < 0)
			continue;
		const Frame node = frame_from(&poses[s->node_index]), now = frame_mul(&node, &s->place);
		const vec3 center = frame_point(&now, s->center), from = frame_point(&work->mark[i], s->center);
		const spatial v = motion_shift(spatial_in(velocities[s->node_index]), sub(center, node.r));
		const double pace = norm(v.l) + norm(v.a) * s->extent;
		const double moved = norm(sub(center, from)) + rotation_distance(&now.R, &work->mark[i].R) * s->extent;
		if (!(moved + 2 * span * fmax(pace, work->pace[i]) < work->room))
			return 0;
		work->pace[i] = pace;
	}
	return 1;
}

/* ---- since then ------------------------------------------------------------------------------------------ */

static double pair_gap(CalContactWork *w, const Frame *frame, const Shape *sa, int a, const Shape *sb, int b) {
	vec3 n;
	if (shapes_touch(sa, &frame[a], sb, &frame[b], &w->manifold)) {
		double deepest = 0;
		for (int i = 0; i < w->manifold.count; i++)
			deepest = fmax(deepest, w->manifold.touch[i].depth);
		return -deepest;
	}
	return shapes_gap(sa, &frame[a], sb, &frame[b], INFINITY, &n) - TOUCHING * smaller_size(sa, sb);
}

/* Of a pair that was apart at the mark. */
static void gap_since(const Look *k, int i, int j, double *least) {
	const int a = i < j ? i : j, b = i < j ? j : i;
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	if (pair_gap(k->work, k->work->mark, sa, a, sb, b) > 0)
		*least = fmin(*least, pair_gap(k->work, k->work->frame, sa, a, sb, b));
}

int cal_contact_in_reach(const CalContactWork *work) { return work && work->near_a >= 0; }

CalStatus cal_contact_gap(const CalContactSet *set, const CalPose *poses, CalContactWork *work, double *gap) {
	if (!set || !work || work->shape_count != set->shape_count || !gap || (set->node_count > 0 && !poses))
		return CAL_ERR_ARGUMENT;
	*gap = INFINITY;
	if (work->near_a < 0)
		return CAL_OK;
	const int axis = broad_prepare(set, poses, work);
	const Look look = {.set = set, .poses = poses, .work = work};
	gap_since(&look, work->near_a, work->near_b, gap);
	for (int i = 0; i < work->shape_count; i++) {
		const int a = work->order[i];
		const double end = component(work->bounds[a].upper, axis);
		for (int j = i + 1; j < work->shape_count && component(work->bounds[work->order[j]].lower, axis) < end; j++) {
			const int b = work->order[j];
			if (may_touch(&look, a, b) && broad_overlap(set, work, a < b ? a : b, a < b ? b : a))
				gap_since(&look, a, b, gap);
		}
	}
	return CAL_OK;
}

/* ---- fixed steps ----------------------------------------------------------------------------------------- */

/* No point of a shape moves faster. */
static double fastest_point(const CalContactSet *set, const CalSpatial *velocities, int i) {
	const Shape *s = &set->shapes[i];
	if (s->node_index < 0)
		return 0;
	const spatial v = spatial_in(velocities[s->node_index]);
	return norm(v.l) + norm(v.a) * (norm(s->place.r) + norm(s->center) + s->extent);
}

static void tunneling_of_pair(const Look *k, int i, int j, double step, CalContactTunneling *leap) {
	const int a = i < j ? i : j, b = i < j ? j : i;
	const Shape *sa = &k->set->shapes[a], *sb = &k->set->shapes[b];
	const SetCourse *ca = &k->work->course[a], *cb = &k->work->course[b];
	const double size = sa->size + sb->size;
	const vec3 v = sub(ca->v, cb->v);
	vec3 n;
	const double fastest = norm(v) + ca->spin + cb->spin;
	if (!(fastest * step > size))
		return;
	const double gap = shapes_gap(sa, &k->work->frame[a], sb, &k->work->frame[b], fastest * step, &n);
	const double r = dot(n, n) > 0 ? dot(v, n) + ca->spin + cb->spin : fastest;
	if (r * step > size && gap < r * step && r / size > leap->speed / leap->size)
		*leap = (CalContactTunneling){.a = a, .b = b, .speed = r, .size = size};
}

int cal_contact_tunneling(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities, double step,
                          CalContactWork *work, CalContactTunneling *leap) {
	double most = 0;
	if (!set || !leap || !work || work->shape_count != set->shape_count ||
	    (set->node_count > 0 && (!poses || !velocities)))
		return 0;
	*leap = (CalContactTunneling){-1, -1, 0, 1};
	for (int i = 0; i < set->shape_count; i++)
		most = fmax(most, fastest_point(set, velocities, i));
	if (!(2 * most * step > set->smallest))
		return 0;
	broad_prepare(set, poses, work);
	for (int i = 0; i < set->shape_count; i++)
		work->course[i] = course_of(set, poses, velocities, NULL, work, i);
	const Look look = {.set = set, .poses = poses, .velocities = velocities, .work = work};
	for (int i = 0; i < set->shape_count; i++)
		for (int j = i + 1; j < set->shape_count; j++)
			if (may_touch(&look, i, j))
				tunneling_of_pair(&look, i, j, step, leap);
	return leap->a >= 0;
}
