// SPDX-License-Identifier: Apache-2.0
/*
 * flexible.h — flexible bodies in the sweeps, over `real`: what FLEX and NODE links (flexbody/flex_body.h) do where
 * other links only have a pose and columns of their own.
 */
#ifndef CALDER_DYNAMICS_FLEX_FLEXIBLE_H
#define CALDER_DYNAMICS_FLEX_FLEXIBLE_H

#include "model/work.h"

/* Takes modal coordinates, rates and prescribed accelerations (each but q may be NULL: zero) into the workspace. */
void LANED(flexible_load)(const CalModel *model, const real *q, const real *u, const uint8_t *prescribed,
                          const real *udot, CalWork *work);

/* Pose and modal columns of a FLEX or NODE link; with rates also w, al and a at udot = 0. */
void LANED(flexible_motion)(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                            LinkWork *l);
/* Adds what the prescribed modal accelerations give to al and a of a FLEX or NODE link. */
void LANED(flexible_prescribe)(const Link *link, const CalModel *model, CalWork *work, LinkWork *l);
/*
 * Flexible body f on link l: inertia, E and modal mass; with motion also the forces they need. Of its masses and
 * `rigid`: &flex->all (and all else that the link carries), or &flex->own.
 */
void LANED(flexible_own)(const CalModel *model, int f, const FlexRigid *rigid, int motion, CalWork *work,
                         const LinkWork *l);

/* Inward through a NODE: inertia M and force b at its origin act on the modes. Either may be NULL. */
void LANED(flexible_node)(const CalModel *model, const Link *link, const ArticulatedInertia *M, const spatial *b,
                          CalWork *work);
/* FLEX, M complete: adds the columns of B on its head, so that E and the modal mass refer to the head. */
void LANED(flexible_head)(const CalModel *model, const Link *link, const ArticulatedInertia *M, CalWork *work);
/* Then: eliminates the modes of body f from M. Returns the singular degree of freedom, or -1. */
int LANED(flexible_eliminate)(const CalModel *model, int f, const uint8_t *prescribed, CalWork *work,
                              ArticulatedInertia *M);
/* The force side on the link that carries the body: y = L^-1(be - tau), and what is left of b. */
void LANED(flexible_reduce)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                            CalWork *work, spatial *b);
/* Both of a link whose `total` is complete, as forward dynamics wants them. */
int LANED(flexible_pass)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                         CalWork *work, ArticulatedBody *total);
/*
 * The same for a fused body (flexbody/flex_body.h), its node and its own terms included: `total` is what the node
 * carries, at its origin. external: wrenches on the links, or NULL.
 */
int LANED(flexible_fused)(const CalModel *model, const Link *link, const spatial *external, const real *tau,
                          CalWork *work, ArticulatedBody *total);
/* Outward: its modal accelerations, and A of its node, from A of the link that carries it. */
void LANED(flexible_fused_accelerate)(const CalModel *model, const Link *link, CalWork *work, const spatial *A,
                                      real *udot);
/* Outward: modal accelerations from A of the link that carries the body (of its head, for a FLEX link, whose A
 * becomes that of B). force: of prescribed modes, or NULL. */
void LANED(flexible_accelerate)(const CalModel *model, const Link *link, const uint8_t *prescribed, CalWork *work,
                                real *udot, real *force, spatial *A);

/* Axes of the body frame in the world. */
INLINE mat3 flexible_axes(const Flex *flex, const LinkWork *l) {
	return flex->turned ? mat_mul_dmat(l->R, flex->R) : l->R;
}

/* Phi x of a FLEX or NODE link; x is a row. */
INLINE spatial flexible_columns(const CalModel *model, const Link *link, const CalWork *work, const real *x) {
	return rows_sum_spatial(work->modal_columns + link->columns, model->flexes[link->flex].n, x);
}

/* Column k of Phi of a FLEX or NODE link. */
INLINE spatial flexible_column(const CalModel *model, const Link *link, const CalWork *work, int k) {
	return rows_mode(work->modal_columns + link->columns, model->flexes[link->flex].n, k);
}

/* Modal mass as it stands: rows start with the pack of the diagonal. */
INLINE real flexible_mass(const FlexWork *w, int n, int i, int j) { return i <= j ? w->M[i * n + j] : w->M[j * n + i]; }

#endif
