// SPDX-License-Identifier: Apache-2.0
/*
 * flex_builder.h — a flexible body while a generator puts it together, and its way into a description.
 *
 * Everything is computed in a builder first, so that a description is touched only by calls that have nothing left
 * to refuse but names and memory. Shapes are stored as CalFlexDef wants them.
 */
#ifndef CALDER_FLEXGEN_FLEX_BUILDER_H
#define CALDER_FLEXGEN_FLEX_BUILDER_H

#include <stdbool.h>

#include <calder/flex.h>

typedef struct FlexBuilderNode {
	char name[32];
	CalVec3 p;
	double mass;
	CalMat3 inertia;
	double *phi, *psi; // [3][modes]
	double *phi2;      // [3][modes][modes]; NULL without second-order shapes
} FlexBuilderNode;

typedef struct FlexBuilder {
	int modes, node_count;
	FlexBuilderNode *nodes;
	double *stiffness; // [modes][modes]
	double *geometric; // [CAL_FLEX_GEOMETRIC][modes][modes]; NULL without second-order shapes
	void *memory;
} FlexBuilder;

/** All zero. */
CalStatus flex_builder_create(int nodes, int modes, bool second_order, FlexBuilder *builder);
void flex_builder_free(FlexBuilder *builder); // accepts {0}

/** Fills in nodes[node_count] but their ids; shapes point into the builder, or are NULL where all are zero. */
void flex_builder_flex_nodes(const FlexBuilder *builder, CalFlexNode *nodes);
/** Adds the nodes to a body and fills in the ids. */
CalStatus flex_builder_add_nodes(const FlexBuilder *builder, CalDesc *desc, CalBodyId body, const char *place,
                                 CalFlexNode *nodes, CalError *error);
/** Adds body, nodes and flexibility; of the choice: damping_ratio and bound. */
CalStatus flex_builder_add(const FlexBuilder *builder, CalDesc *desc, const CalBodyDef *body,
                           const CalFlexChoice *choice, CalBodyId *id, CalError *error);

/** What is wrong with a choice, or NULL. */
const char *choice_fault(const CalFlexChoice *choice);

#endif
