// SPDX-License-Identifier: Apache-2.0
/*
 * flex_builder.h — a flexible body while a generator puts it together, and its way into a description.
 *
 * Everything is computed in a draft first, so that a description is touched only by calls that have nothing left
 * to refuse but names and memory. Shapes are stored as CalFlexDef wants them.
 */
#ifndef CALDER_FLEXGEN_FLEX_BUILDER_H
#define CALDER_FLEXGEN_FLEX_BUILDER_H

#include <stdbool.h>

#include <calder/flex.h>

typedef struct DraftNode {
	char name[32];
	CalVec3 p;
	double mass;
	CalMat3 inertia;
	double *phi, *psi; // [3][modes]
	double *phi2;      // [3][modes][modes]; NULL without second-order shapes
} DraftNode;

typedef struct Draft {
	int modes, node_count;
	DraftNode *nodes;
	double *stiffness; // [modes][modes]
	void *memory;
} Draft;

/** All zero. */
CalStatus draft_create(int nodes, int modes, bool second_order, Draft *draft);
void draft_free(Draft *draft); // accepts {0}

/** Fills in nodes[node_count] but their ids; shapes point into the draft, or are NULL where all are zero. */
void draft_flex_nodes(const Draft *draft, CalFlexNode *nodes);
/** Adds the nodes to a body and fills in the ids. */
CalStatus draft_add_nodes(const Draft *draft, CalDesc *desc, CalBodyId body, const char *place, CalFlexNode *nodes,
                          CalError *error);
/** Adds body, nodes and flexibility; of the choice: damping_ratio and bound. */
CalStatus draft_add(const Draft *draft, CalDesc *desc, const CalBodyDef *body, const CalFlexChoice *choice,
                    CalBodyId *id, CalError *error);

/** What is wrong with a choice, or NULL. */
const char *choice_fault(const CalFlexChoice *choice);

#endif
