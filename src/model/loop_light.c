// SPDX-License-Identifier: Apache-2.0
/*
 * loop_light.c — whether masses along loops differ so much that round-off of forces may show in accelerations.
 *
 * Round-off of a force moves a link by no more than its own inertia lets it: all that other links do is to hold it. So
 * nothing is to be feared where no link on the path of a loop is much lighter than another one whose forces it may pass on:
 * a link on a path, or one outboard of such a link. Found once for each model; where it is not so, every evaluation takes
 * a closer look (dynamics/loop/loop_round_off.c).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/loop_order.h"
#include "model/loop_plan.h"

/* Times lighter than another, in mass or in moments of inertia: somewhat, and by much (loop_uneven()). */
static const double LIGHT = 300, VERY_LIGHT = 1e4;

typedef struct Extent {
	double least, most;
} Extent;

static void extend(Extent *e, double least, double most) {
	if (least > 0 && least < e->least)
		e->least = least;
	if (most > e->most)
		e->most = most;
}

/* Links between those at the two ends of a loop, or up to the joints of its terms; the one on which it closes is not. */
static void mark_path(const CalModel *model, const Loop *loop, int closes, uint8_t *on_path) {
	const int ends[] = {loop_node_link(model, loop->plus), loop_node_link(model, loop->minus)};
	for (int side = 0; side < 2 && loop->term_count == 0; ++side) {
		for (int i = ends[side]; i >= 0 && i != closes; i = model->links[i].parent)
			on_path[i] = 1;
	}
	for (int k = 0; k < loop->term_count; ++k) {
		for (int i = model->dofs[loop->term[k].u].link; i >= 0 && i != closes; i = model->links[i].parent)
			on_path[i] = 1;
	}
}

/* Moments of inertia of a rigid link about its origin; the least of those that its joint turns it about, 0: about none. */
static Extent moments_of(const Link *link) {
	const mat3 axes = {vec(1, 0, 0), vec(0, 1, 0), vec(0, 0, 1)};
	const sym3 I = inertia_from_second_moment(second_moment_rotate(&link->inertia, axes));
	const double least = fmin(I.xx, fmin(I.yy, I.zz)), most = fmax(I.xx, fmax(I.yy, I.zz));
	const int turns = link->motion != PRIMITIVE_TRANSLATION;
	return (Extent){link->motion == PRIMITIVE_ROTATION ? I.zz : turns ? least : 0, most};
}

/* A flexible body counts as heavy as its rigid part, and never as light. */
static void weigh_link(const CalModel *model, const Link *link, int on_path, Extent *mass, Extent *moment) {
	if (link->flex_body >= 0) {
		extend(mass, 0, model->flexes[link->flex_body].all.m);
		return;
	}
	if (!(link->inertia.m > 0))
		return;
	const Extent own = moments_of(link);
	extend(mass, on_path ? link->inertia.m : 0, link->inertia.m);
	extend(moment, on_path ? own.least : 0, own.most);
}

static int how_light(Extent e) { return e.most > VERY_LIGHT * e.least ? 2 : e.most > LIGHT * e.least; }

CalStatus loop_find_light(CalModel *model) {
	const int count = model->link_count;
	uint8_t *on_path = memory_alloc(&model->allocator, 2 * (size_t)(count + 1)), *carried = on_path + count;
	Extent mass = {INFINITY, 0}, moment = {INFINITY, 0};
	if (!on_path)
		return CAL_ERR_MEMORY;
	memset(on_path, 0, 2 * (size_t)(count + 1));
	for (int l = 0; l < model->loop_count; ++l)
		mark_path(model, &model->loops[l], loop_closes(model, &model->loops[l]), on_path);
	for (int i = 0; i < count; ++i) {
		const int parent = model->links[i].parent;
		carried[i] = on_path[i] || (parent >= 0 && carried[parent]);
		if (carried[i])
			weigh_link(model, &model->links[i], on_path[i], &mass, &moment);
	}
	memory_free(&model->allocator, on_path);
	model->light_loops = how_light(mass) > how_light(moment) ? how_light(mass) : how_light(moment);
	return CAL_OK;
}
