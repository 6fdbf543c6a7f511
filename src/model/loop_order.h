// SPDX-License-Identifier: Apache-2.0
/*
 * loop_order.h — which links loops reach, and in which order they are eliminated: what the plan is made of.
 *
 * Loops of a link and couplings are kept as lists: loops that have nothing to do with each other cost in proportion to
 * their number.
 */
#ifndef CALDER_MODEL_LOOP_ORDER_H
#define CALDER_MODEL_LOOP_ORDER_H

#include <stdbool.h>

#include "model/loop_place.h"
#include "model/model.h"

/* A loop on a link. */
typedef struct LoopReach {
	int loop;
	int kind;  // OPEN, CLOSES
	int place; // of the loop in the order of elimination, once that is known
} LoopReach;
enum { OPEN = 1, CLOSES = 2 };

/* Loops that are left and coupled with one, in ascending order. */
typedef struct Coupled {
	int *loop;
	int count, capacity;
} Coupled;

/* One that may be eliminated next; out of date if its degree has changed since. */
typedef struct Candidate {
	int degree, loop;
} Candidate;

typedef struct LoopOrder {
	const CalModel *model;
	int loops, links;
	int *shared;        // [loops] the link on which it closes
	int *closes;        // [loops] the link on which it is eliminated: the same, or one outboard of it (loop_place.h)
	LoopPlace *early;   // [loops] places that were found
	int *first;         // [links + 1] of its loops in `reach`
	LoopReach *reach;   // those that close there first, then by `place`; until that is known by loop
	Coupled *coupled;   // [loops] those eliminated later; in the end their places
	int *order, *place; // [loops] of the elimination, and its inverse; place -1: left
	int *slot, slots;   // [loops] of the equations in the workspace, and their number
	int *closing;       // [links + 1] first of the loops that close on a link (the last: on the ground), -1: none
	int *next;          // [loops] the next that closes there, -1: none
	Candidate *heap;    // least degree first, then the first loop
	int heap_count, heap_capacity;
	int *merged;              // [loops] scratch
	double late_work;         // products of the sweep, if no loop were eliminated before it closes
	const LoopSchedule *late; // a plan whose links are to be listed too, NULL: none
	bool failed;              // no memory
} LoopOrder;

/* Of a model with loops, each eliminated where it closes, or (early) sooner; false: no memory. To be released in any case. */
bool loop_order_find(LoopOrder *order, const CalModel *model, bool early);
void loop_order_release(LoopOrder *order);
/* The number of equations of a loop, with padding. */
int loop_width(const CalModel *model, int loop);
int loop_node_link(const CalModel *model, int node);       // -1: the ground
int loop_common_link(const CalModel *model, int a, int b); // the outermost that carries both; -1: the ground
int loop_dof_is_modal(const CalModel *model,
                      int u); // a mode, which belongs to the link itself, not to the joint inboard of it

#endif
