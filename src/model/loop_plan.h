// SPDX-License-Identifier: Apache-2.0
/*
 * loop_plan.h — where loops meet in the tree, found once for a model.
 *
 * A loop *closes* at the innermost link that both its sides share (the ground: -1). Its *place*, where its equations are
 * eliminated, is that link, or one outboard of it (loop_place.h); it is *open* on the links outboard of its place, down to
 * its ends. The order keeps the coupling between loops local: links from the tips inwards, on one link (or on the ground)
 * by least degree. Two loops are coupled if they are
 * open on one joint or meet modes of one body, or through loops that are eliminated before them. A coupling is a block;
 * its first loop is the one that is eliminated first.
 */
#ifndef CALDER_MODEL_LOOP_PLAN_H
#define CALDER_MODEL_LOOP_PLAN_H

#include <calder/loops.h>
#include "model/model.h"

/*
 * Constraint equations are kept side by side, those of each loop padded with zeros to a whole number of packs (math/pack.h):
 * numbers of a loop are at LoopEnds.row_offset, wrenches of a link are six rows of its `width`.
 */

/* A loop on a link. */
typedef struct LoopHere {
	int32_t loop, rows, width; // width: its equations with padding
	int32_t first;             // of its equations, in the link's width
	int32_t row_offset;        // of its equations in the workspace
	int32_t to, to_width; // its wrenches on the parent link and the width there; -1: it closes here, or on the ground
	int32_t sets;         // nonzero: this is the first that comes to those there
} LoopHere;

/* Two different loops on a link: places in its list, and their block. */
typedef struct LoopPair {
	int32_t a, b, block;
} LoopPair;

/* A link that loops reach. */
typedef struct LoopLink {
	int32_t link;
	int32_t here, count,
		closing; // its loops: first in loop_schedule->here, number, how many of them (the first) are eliminated here
	int32_t width, open; // of all its loops; where the open ones begin
	int32_t gamma;       // its wrenches in the workspace
	int32_t gains;       // gains of its joint: for each column the width of the open loops
	int32_t modal;       // gains of the modes of the body that it carries: for each the width; -1: none
	int32_t joint_pairs, joint_pair_count; // pairs of open loops
	int32_t modal_pairs, modal_pair_count; // all pairs
	int32_t steps, step_count;             // of the elimination, here
} LoopLink;

/* A loop that is eliminated later and coupled with one. */
typedef struct LoopNext {
	int32_t loop, block;
	int32_t gamma; // its wrenches on the link where the first is eliminated; -1: on the ground
} LoopNext;

/* Elimination of one loop. */
typedef struct LoopStep {
	int32_t loop;
	int32_t early;        // link of its place, if joints inboard of it may move what is left of the loop; otherwise -1
	int32_t gamma, width; // its wrenches on the link of its place, and the width there; -1: on the ground
	int32_t next, count;  // those coupled with it: first in loop_schedule->next, number
	int32_t update;       // block of each pair of them (b before c), -1 - b: the diagonal of loop b
} LoopStep;

/* Where the equations of a loop are, and what it needs of lengths. */
typedef struct LoopEnds {
	int32_t closes;                   // link, -1: on the ground
	int32_t place;                    // link on which it is eliminated: the same, or outboard of it; -1: on the ground
	int32_t inert;                    // of an early place: equations that no joint ever moves, 1 << r each
	int32_t cluster;                  // loops that are coupled, if only through others, have the same
	int32_t row_offset, width;        // of its equations in the workspace
	int32_t gamma[2], gamma_width[2]; // wrenches of `plus` and `minus` on their links; -1: on the ground
	int32_t shared;                   // both ends are on one link
	int32_t modal[2];                 // gains of the modes that move these nodes, each `gamma_width` apart; -1: none do
	int32_t term[CAL_LOOP_MAX_TERMS]; // COUPLING: gain of the mode that a term names; -1: it is a dof of a joint
	double reach;                     // length of its path through the tree [m]
} LoopEnds;

struct LoopSchedule {
	size_t size;
	int link_count, step_count, ground_step; // the steps from ground_step on are on the ground
	int here_count, pair_count, next_count, update_count, block_count;
	int row_offset_count, gamma_count, gain_count, modal_count; // numbers in the workspace
	LoopLink *links;                                            // tips last
	LoopHere *here;
	LoopPair *pairs;
	LoopStep *steps;
	LoopNext *next;
	int32_t *updates;
	LoopEnds *ends;     // [loop_count]
	int32_t *at;        // [link_count of the model] index in links, -1: none
	LoopSchedule *late; // without early places and with the same links, for where these fail; NULL: none, or too large
	int late_first;     // where places fail, it is tried before refinement
	int early_count;    // loops that are eliminated before they close
	int32_t *joint_cluster,
		*modal_cluster; // [link_count] cluster of the loops that move with its joint, its modes; -1: none
};

/* The innermost link that both sides of a loop share; -1: the ground. */
int loop_closes(const CalModel *model, const Loop *loop);
/* Whether some links on the paths of loops are much lighter than others: model->light_loops. */
CalStatus loop_find_light(CalModel *model);
/* Makes the plan of a model with loops from its allocator. NULL: no memory. */
LoopSchedule *loop_schedule_create(const CalModel *model);
/* What it costs. */
void loop_schedule_cost(const CalModel *model, CalLoopCost *cost);
void loop_schedule_destroy(const CalAllocator *allocator, LoopSchedule *plan); // accepts NULL

/* Link.special, once the loops are scheduled (schedule NULL: none are). */
void links_mark_special(const LoopSchedule *schedule, Link *links, int count);

/* Some loop is open on a link: its joint keeps the gains of each column. */
static inline int loop_is_open(const CalModel *model, const Link *link) {
	if (link->loop_link < 0)
		return 0;
	const LoopSchedule *plan = model->loop_schedule, *late = plan->late ? plan->late : plan;
	return plan->links[link->loop_link].count > plan->links[link->loop_link].closing ||
	       late->links[link->loop_link].count > late->links[link->loop_link].closing;
}

#endif
