// SPDX-License-Identifier: Apache-2.0
/*
 * flex_form.h — the numbers of a flexible body as the compiler wants them, before it knows what carries the body: shapes in
 * rows, modal matrices with the frequency bound applied, blocks of the inertia invariants. Axes of B, points not used.
 *
 * A form depends on its body alone. A description that is compiled again and again keeps it (DescBody.form); otherwise
 * every compilation makes its own and takes the same steps from there, so that the models have the same bits.
 */
#ifndef CALDER_MODEL_COMPILE_FLEX_FORM_H
#define CALDER_MODEL_COMPILE_FLEX_FORM_H

#include <calder/model.h>

#include "model/description/desc.h"

typedef struct FlexForm {
	int m, n;            // modes, and the length of their rows
	int shape_count;     // nodes that move
	int invariants;      // nonzero: masses with first-order shapes enter by invariants
	int diagonal;        // stiffness and damping are, exactly
	int mass_diagonal;   // the modal mass is, to round-off
	int rotary;          // rotary inertias have a moment of some mode
	size_t number_count; //
	/*
	 * For each node that moves, in turn: phi, psi [3][n], and phi2 [m][3][n] where it is given, symmetric in the modes. Then
	 * from the places below on: M_ee [m][n], s1 [3][n], c [3][n], K [m][m], and where they are given D [m][m] and the
	 * geometric stiffness [m][12][n].
	 */
	double *numbers;
	size_t Mee, s1, c, K, D, geometric; // D, geometric 0: none
	// of the invariants, as in FlexInvariants: all kept blocks of G
	int block_count;
	int32_t *first; // [9 packs + 1]
	int32_t *mode;  // [block_count]
	double *G;      // [block_count][PACK]
} FlexForm;

/* Whether the modes move a listed node. */
static inline int flex_node_moves(const CalFlexNode *node) { return node->phi || node->psi || node->phi2; }

/* Of a body that is flexible; one block, to be released by memory_free(). NULL: memory is short. */
FlexForm *flex_form_create(const CalDesc *desc, int body, CalModalInertia how, const CalAllocator *allocator);
/* Bytes that flex_form_create() takes at most, scratch included. */
size_t flex_form_room(int modes, int nodes, int second_order);

/* Blocks of the invariants (compile_invariants.c): their number, -1: they are not faster; and their values. */
int invariants_count(const CalFlexDef *def, CalModalInertia how);
void invariants_make(const CalFlexDef *def, CalModalInertia how, FlexForm *form);

#endif
