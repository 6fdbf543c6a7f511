// SPDX-License-Identifier: Apache-2.0
/*
 * modal.h — a flexible body in the coordinates that the recursion wants [THEORY 2.3, 2.4].
 *
 * A body comes with any modal coordinates eta, a full stiffness K and damping D. The recursion works in xi,
 * eta = C xi, where M_ee = 1 and K = diag(w2). The body-level frequency bound is applied on the way: free-body
 * modes above it get mass, no stiffness is touched, so that static deflections stay what they were.
 *
 * Everything here is at eta = 0. Matrices are row-major; the 6-vectors are angular first, about B's origin.
 * Nothing allocates: the caller gives the scratch that modal_scratch_size() asks for.
 */
#ifndef CALDER_FLEXBODY_MODAL_H
#define CALDER_FLEXBODY_MODAL_H

#include <stdbool.h>

#include <calder/build.h>

/** A body's rigid part, its flexibility, and where the nodes of flex are when it is undeformed. */
typedef struct ModalBody {
	const CalBodyDef *body;
	const CalFlexDef *flex;
	const CalVec3 *position; // [flex->node_count] in B [m]
} ModalBody;

/** Mass, center of mass and inertia about it of the whole body: rigid part and lumped nodes. */
typedef struct ModalRigid {
	double mass;
	CalVec3 com;
	CalMat3 inertia;
} ModalRigid;

ModalRigid modal_rigid(const ModalBody *b);

/** The mass matrices, m = flex->modes: rr[36], re[6*m], ee[m*m]. Each may be NULL. */
void modal_mass(const ModalBody *b, double *rr, double *re, double *ee);

/** Why a body has no canonical form. Modes are numbered from 0. */
typedef enum ModalFault {
	MODAL_SOUND,
	MODAL_STIFFNESS_ASYMMETRIC, // (mode, other): amount = |K_ij - K_ji|
	MODAL_STIFFNESS_NEGATIVE,   // amount = the most negative w^2; mode takes the largest part in it
	MODAL_MASSLESS,             // mode moves no mass
	MODAL_DEPENDENT,            // mode moves the masses as a combination of the modes before it does
	MODAL_RIGID,                // mode (with those before it) is a motion of the whole body
	MODAL_NUMERICS,             // numbers too large, too small or not finite
} ModalFault;

/** The canonical form. The arrays are the caller's; D and free_w2 may be NULL. */
typedef struct ModalForm {
	double *C;       // [m*m] eta = C xi
	double *w2;      // [m] ascending, >= 0
	double *D;       // [m*m] C'DC, after the bound
	double *free_w2; // [m] of the free body before the bound, ascending; NaN if it has none (MODAL_RIGID)
	bool identity;   // C is the identity, to the last bit
	int bounded;     // modes that got mass
	int clamped;     // values of w2 that round-off made negative and that are taken as zero
	ModalFault fault;
	int mode, other; // of the fault
	double amount;   // of the fault
} ModalForm;

/** Doubles of scratch for a body of m modes. */
size_t modal_scratch_size(int m);

/**
 * Fills in *form. CAL_ERR_MODEL or CAL_NOT_CONVERGED with form->fault on failure. A shape that is a rigid motion
 * is a fault only if flex->frequency_bound > 0; asked for free_w2 without a bound, the call succeeds, with
 * form->fault == MODAL_RIGID as a note.
 */
CalStatus modal_canonicalize(const ModalBody *b, ModalForm *form, double *scratch);

#endif
