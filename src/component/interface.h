// SPDX-License-Identifier: Apache-2.0
/*
 * interface.h — a branch seen from its interface [THEORY (6.1)-(6.3)]: what unknown forces do to it, and how it
 * accelerates where they act.
 *
 * Unknowns x act on the branch as b += Gamma x, with columns Gamma that begin on the links where the forces act: the
 * six components of the wrench that a branch beyond the interface needs, the multipliers of loops. Carried inwards like
 * any force,
 *   g = S'Gamma,  Gamma^a = X'(Gamma - K g),  Lambda += g'g d,  beta += g'd eps
 * they leave, with A the acceleration of the base of the branch, the accelerations along the columns
 *   a = Gamma'A + beta - Lambda x
 * and x known, eps -= g x gives everything inside. The sweep without them comes first and is not changed by them.
 */
#ifndef CALDER_COMPONENT_INTERFACE_H
#define CALDER_COMPONENT_INTERFACE_H

#include "dynamics/tree/articulated.h"

#if CAL_LANES == 1

/* Eight columns that begin on one link. */
typedef struct InterfaceForce {
	int32_t link;   //
	int32_t column; // the first of the eight
	int32_t adds;   // to what another force brings to the same columns
	double *gamma;  // [6][8] wrenches at the link's origin
	double *modal;  // [m][8] what they do on the modes of the body that the link carries; NULL: nothing
} InterfaceForce;

enum { INTERFACE_WIDTH = 8 }; // width of the columns of an interface: six, and two of zeros

typedef struct Interface {
	int width;  // columns, a multiple of eight
	int points; // the columns are those of points, six of eight for each
	int force_count;
	InterfaceForce *forces; // those that add come after the one that they add to
	int path_count;
	int32_t *path;  // links that any column passes
	double *gain;   // [nu][width] g of the dofs of these links and of the modes that they carry, zero elsewhere
	double *gamma;  // [6][width] at the origin of the base
	double *Lambda; // [width][width]
	double *beta;   // [width]
	double *modal;  // [most modes of a body][8] scratch
} Interface;

/*
 * The columns of an interface as seen from a base, of one branch or of several that are joined: six rows each, and one.
 */
typedef struct InterfaceColumns {
	double *gamma, *Lambda, *beta; // [6][INTERFACE_WIDTH], [6][INTERFACE_WIDTH], [INTERFACE_WIDTH]
} InterfaceColumns;

/*
 * An inner component joined with the outer one on its interface: F = N (A_0, 1) + G x, x on the interface of the outer
 * one.
 */
typedef struct InterfaceJoin {
	double N[6][8]; // in rows of six, then what is there at A_0 = 0 and x = 0
	double G[6][8]; // not used where the outer one has no interface
	double d[8];    // acceleration at the interface for A_0 = 0 and F = 0
} InterfaceJoin;

/* Outward: R and w of some links, each after its parent; sines, cosines and modal coordinates included. */
void LANED(base_path_outward)(const CalModel *model, const SweepInput *in, const int32_t *links, int count,
                              CalWork *work);
/* After the inward sweep: Gamma, Lambda, beta and the gains. */
void LANED(interface_inward)(const CalModel *model, const uint8_t *prescribed, CalWork *work, Interface *interface);
/*
 * Inertia and force of the outer one become part of those of the inner one (body), its columns those of both (out;
 * NULL: the outer one has none). c: what the base link of the outer one accelerates by at u' = 0, beyond (0, -gravity).
 */
void LANED(interface_join)(const InterfaceColumns *inner, spatial c, const ArticulatedBody *outer,
                           const InterfaceColumns *outer_columns, InterfaceJoin *join, ArticulatedBody *body,
                           const InterfaceColumns *out);
/*
 * With A_0 and x (NULL: the outer one has no interface) known: the wrench F[8] between them, and the acceleration
 * there.
 */
spatial LANED(interface_split)(const InterfaceColumns *inner, const InterfaceJoin *join, spatial A0, const double *x,
                               double F[INTERFACE_WIDTH]);
/* Before the last sweep: x acts. */
void LANED(interface_apply)(const CalModel *model, const double *x, const Interface *interface, CalWork *work);

#endif

#endif
