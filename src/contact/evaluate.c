// SPDX-License-Identifier: Apache-2.0
/*
 * evaluate.c — the workspace, and from poses and velocities of nodes to wrenches on them.
 *
 * Sweep along one axis; each pair whose bounds overlap goes through the narrow phase and its points act at once. Equal
 * and opposite forces act at one point, so linear and angular momentum are kept to round-off.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "contact/set.h"
#include "math/finite.h"

/* ---- workspace --------------------------------------------------------------------------------- */

/* The workspace itself, and its arrays after it. */
static void layout_work(CalContactWork *w, Cursor *cursor) {
	const size_t n = (size_t)w->shape_count;
	cursor_array(cursor, 1, sizeof *w);
	CURSOR_ARRAY(cursor, w->frame, n);
	CURSOR_ARRAY(cursor, w->bounds, n);
	CURSOR_ARRAY(cursor, w->order, n);
	CURSOR_ARRAY(cursor, w->out, w->node_count);
	CURSOR_ARRAY(cursor, w->course, n);
	CURSOR_ARRAY(cursor, w->ahead, n);
	CURSOR_ARRAY(cursor, w->ahead_order, n);
	CURSOR_ARRAY(cursor, w->pace, n);
	CURSOR_ARRAY(cursor, w->mark, n);
	CURSOR_ARRAY(cursor, w->points, w->max_points);
}

size_t cal_contact_work_size(const CalContactSet *set, int max_points) {
	if (!set || max_points < 0)
		return 0;
	CalContactWork layout = {.shape_count = set->shape_count, .node_count = set->node_count, .max_points = max_points};
	Cursor cursor = {0};
	layout_work(&layout, &cursor);
	return cursor_size(&cursor);
}

CalStatus cal_contact_work_init(const CalContactSet *set, int max_points, void *memory, size_t size,
                                CalContactWork **work) {
	if (!set || max_points < 0 || !memory || !work || (uintptr_t)memory % MEMORY_ALIGNMENT != 0 ||
	    size < cal_contact_work_size(set, max_points))
		return CAL_ERR_ARGUMENT;
	CalContactWork *w = memory;
	*w = (CalContactWork){.shape_count = set->shape_count,
	                      .node_count = set->node_count,
	                      .max_points = max_points,
	                      .failed_node = -1,
	                      .near_a = -1};
	Cursor cursor = cursor_over(memory, size);
	layout_work(w, &cursor);
	memset(w->out, 0, (size_t)set->node_count * sizeof *w->out);
	for (int i = 0; i < set->shape_count; i++)
		w->order[i] = w->ahead_order[i] = i;
	*work = w;
	return CAL_OK;
}

CalStatus cal_contact_work_create(const CalContactSet *set, int max_points, CalContactWork **work) {
	if (!set || max_points < 0 || !work)
		return CAL_ERR_ARGUMENT;
	const size_t size = cal_contact_work_size(set, max_points);
	void *memory = memory_alloc_aligned(size);
	if (!memory)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_contact_work_init(set, max_points, memory, size, work);
	if (status == CAL_OK)
		(*work)->owned = memory;
	else
		memory_free_aligned(memory);
	return status;
}

void cal_contact_work_destroy(CalContactWork *work) {
	if (work)
		memory_free_aligned(work->owned);
}

CalStatus cal_contact_exclude_node(CalContactWork *work, int node_index, int out) {
	if (!work || node_index < 0 || node_index >= work->node_count)
		return CAL_ERR_ARGUMENT;
	work->out[node_index] = out != 0;
	work->room = 0;
	return CAL_OK;
}

int cal_contact_point_count(const CalContactWork *work) { return work ? work->point_count : 0; }

CalStatus cal_contact_point(const CalContactWork *work, int index, CalContactPoint *point) {
	if (!work || !point || index < 0 || index >= work->point_count)
		return CAL_ERR_ARGUMENT;
	*point = work->points[index];
	return CAL_OK;
}

int cal_contact_failed_node(const CalContactWork *work) { return work ? work->failed_node : -1; }

/* ---- overlap ----------------------------------------------------------------------------------- */

/*
 * The normal of a pair jumps where one has come through to the other's middle: at the depth of both half thicknesses. The
 * center of a round shape within a box or a mesh may be near to two faces long before.
 */
static double overlap_limit(const Shape *a, const Shape *b) {
	const double half = 0.5 * (a->size + b->size);
	return isfinite(half) && shape_is_round(a) != shape_is_round(b) ? fmin(half, shape_is_round(a) ? a->size : b->size)
	                                                                : half;
}

void overlap_note(const CalContactSet *set, int a, int b, double depth, CalContactOverlap *most) {
	const double limit = overlap_limit(&set->shapes[a], &set->shapes[b]);
	if (most->a < 0 || depth * most->limit > most->depth * limit)
		*most = (CalContactOverlap){a, b, depth, limit};
}

/* ---- evaluation -------------------------------------------------------------------------------- */

/* One evaluation on its way. */
typedef struct Evaluation {
	const CalContactSet *set;
	const CalPose *poses;
	const CalSpatial *velocities;
	CalContactWork *work;
	CalSpatial *wrenches;
	CalContactSummary sum;
} Evaluation;

static void apply_force(Evaluation *e, const Shape *s, vec3 p, spatial f) {
	if (s->node_index < 0)
		return;
	const spatial at_node = force_shift(f, sub(p, vec_in(e->poses[s->node_index].r)));
	e->wrenches[s->node_index] = spatial_out(spatial_add(spatial_in(e->wrenches[s->node_index]), at_node));
}

static void record_point(Evaluation *e, const CalContactPoint *point) {
	CalContactWork *w = e->work;
	e->sum.points++;
	if (w->point_count < w->max_points)
		w->points[w->point_count++] = *point;
	else
		e->sum.unrecorded++;
}

static void apply_contact(Evaluation *e, int a, int b, const PairLaw *law, const Touch *t) {
	const Shape *sa = &e->set->shapes[a], *sb = &e->set->shapes[b];
	const spatial v = spatial_sub(contact_velocity(e->poses, e->velocities, sa, t->p),
	                              contact_velocity(e->poses, e->velocities, sb, t->p));
	const double speed = dot(v.l, t->n), spin = dot(v.a, t->n);
	const vec3 slip = madd(v.l, -speed, t->n);
	const double slip2 = dot(slip, slip);
	const PointForce f = law_evaluate(law, t->weight, t->depth, t->radius, speed, sqrt(slip2), spin);
	const vec3 friction = scale(-f.friction, slip);
	const spatial on_a = {scale(-f.torsion * spin, t->n), madd(friction, -f.normal, t->n)};
	apply_force(e, sa, t->p, on_a);
	apply_force(e, sb, t->p, (spatial){neg(on_a.a), neg(on_a.l)});
	e->sum.stored += f.stored;
	e->sum.dissipated += f.dissipated;
	e->sum.friction += f.friction * slip2 + f.torsion * spin * spin;
	e->sum.deepest = fmax(e->sum.deepest, t->depth);
	record_point(e, &(CalContactPoint){.a = a,
	                                   .b = b,
	                                   .position = vec_out(t->p),
	                                   .normal = vec_out(t->n),
	                                   .depth = t->depth,
	                                   .weight = t->weight,
	                                   .speed = speed,
	                                   .force = f.normal,
	                                   .slip = vec_out(slip),
	                                   .friction = vec_out(friction)});
}

static bool is_excluded(const CalContactWork *work, const Shape *s) {
	return s->node_index >= 0 && work->out[s->node_index];
}

static void evaluate_pair(Evaluation *e, int i, int j) {
	const int a = i < j ? i : j, b = i < j ? j : i;
	const Shape *sa = &e->set->shapes[a], *sb = &e->set->shapes[b];
	if (!shapes_may_touch(sa, sb) || is_excluded(e->work, sa) || is_excluded(e->work, sb) ||
	    !broad_overlap(e->set, e->work, a, b))
		return;
	Manifold *m = &e->work->manifold;
	e->sum.pairs++;
	if (!shapes_touch(sa, &e->work->frame[a], sb, &e->work->frame[b], m))
		return;
	const PairLaw law = law_combine(sa, sb);
	e->sum.touching++;
	e->sum.dropped += m->dropped;
	for (int k = 0; k < m->count; k++) {
		apply_contact(e, a, b, &law, &m->touch[k]);
		overlap_note(e->set, a, b, m->touch[k].depth, &e->sum.overlap);
	}
}

static void sweep_pairs(Evaluation *e, int axis) {
	const CalContactWork *w = e->work;
	for (int i = 0; i < w->shape_count; i++) {
		const double end = component(w->bounds[w->order[i]].upper, axis);
		for (int j = i + 1; j < w->shape_count && component(w->bounds[w->order[j]].lower, axis) < end; j++)
			evaluate_pair(e, w->order[i], w->order[j]);
	}
}

static bool nodes_are_finite(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                             int *failed_node) {
	for (int i = 0; i < set->node_count; i++) {
		if (!all_finite(&poses[i].R.m[0][0], 9) || !all_finite(&poses[i].r.x, 3) ||
		    !all_finite(&velocities[i].angular.x, 3) || !all_finite(&velocities[i].linear.x, 3)) {
			*failed_node = i;
			return false;
		}
	}
	return true;
}

static bool forces_are_finite(const CalContactSet *set, const CalSpatial *wrenches) {
	for (int i = 0; i < set->node_count; i++)
		if (!all_finite(&wrenches[i].angular.x, 3) || !all_finite(&wrenches[i].linear.x, 3))
			return false;
	return true;
}

CalStatus cal_contact_evaluate(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                               CalContactWork *work, CalSpatial *wrenches, CalContactSummary *summary) {
	if (!set || !work || work->shape_count != set->shape_count ||
	    (set->node_count > 0 && (!poses || !velocities || !wrenches)))
		return CAL_ERR_ARGUMENT;
	const size_t bytes = (size_t)set->node_count * sizeof *wrenches;
	Evaluation e = {.set = set,
	                .poses = poses,
	                .velocities = velocities,
	                .work = work,
	                .wrenches = wrenches,
	                .sum.overlap = {-1, -1, 0, INFINITY}};
	CalStatus status = CAL_OK;
	if (bytes > 0)
		memset(wrenches, 0, bytes);
	work->point_count = 0;
	work->failed_node = -1;
	if (!nodes_are_finite(set, poses, velocities, &work->failed_node)) {
		status = CAL_NOT_FINITE;
	} else {
		sweep_pairs(&e, broad_prepare(set, poses, work));
		if (!forces_are_finite(set, wrenches))
			status = CAL_NOT_FINITE;
	}
	if (status != CAL_OK && bytes > 0)
		memset(wrenches, 0, bytes);
	if (summary)
		*summary = e.sum;
	return status;
}
