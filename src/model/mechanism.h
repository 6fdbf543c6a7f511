// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism.h — an embedded mechanism in a compiled model: the model of its own bodies, and its independent coordinates.
 *
 * In the sweeps a mechanism is a link of functions (Flex.ops): its frame B is that of the base, its dofs are the
 * independent coordinates, and each of its bodies is a node that carries the body. The functions come from above
 * (component/mechanism_link.c) by way of the description: they solve loops, which the compiler cannot.
 */
#ifndef CALDER_MODEL_MECHANISM_H
#define CALDER_MODEL_MECHANISM_H

#include "model/model.h"

typedef struct Mechanism {
	CalAllocator allocator;
	int id;               // in the description
	const char *name;     // of its first loop
	CalModel *model;      // of its bodies, the base being the ground, with unit inertias; joints as they are
	CalLinkOps ops;       // of its link; scratch_size is its own
	int dofs;             // independent coordinates
	int *dof, *at;        // [dofs] speed and coordinate in `model` of each
	uint8_t *turns;       // [dofs] an angle: whole turns do not matter
	uint8_t *independent; // [nu of model]
	double *q;            // [nq of model] where the loops are closed
	double *start;        // [dofs] the independent coordinates there
	int counted;          // by the compiler
	int flex;             // of the model that has it; -1: not placed yet
	int base;             // body there, -1: the ground
	int *body;            // [bodies of model] there
} Mechanism;

/* What evaluates mechanisms. */
typedef struct MechanismFunctions {
	CalLinkOps link;                                    // scratch_size: see below
	size_t (*scratch_size)(const Mechanism *mechanism); //
} MechanismFunctions;

/*
 * Of a description whose joints and loops of the mechanism are marked, with the coordinates that are marked as independent
 * (model/compile/compile_mechanism.c). Its functions are not set.
 */
CalStatus mechanism_create(const CalDesc *desc, int id, const CalAllocator *allocator, Mechanism **mechanism,
                           CalError *error);
void mechanism_destroy(Mechanism *mechanism); // NULL: nothing happens

#endif
