// SPDX-License-Identifier: Apache-2.0
/*
 * derivative.h — what the derivatives of one evaluation are made of [THEORY 10].
 *
 * A change of one coordinate moves everything outboard of it as one rigid body: a point at r from the link's origin by
 * theta x r + x. Variation and time derivative commute, so that its acceleration changes by the second time derivative of
 * that displacement,
 *   x'' + theta'' x r + 2 theta' x r' + theta x r'',
 * and the force that the subtree needs changes, in axes that follow theta, by
 *   moment  I theta'' + mc x a + N theta',   force  m a + theta'' x mc + 2 theta' x p,   a = x'' - theta x (a of the origin)
 * with p = sum m r' and N = 2 sum m (r.r' 1 - r' r') of the subtree. No velocity of a point in the world occurs: nothing
 * depends on how fast or how far away the model as a whole is. World axes, each link at its own origin.
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_H
#define CALDER_DERIVATIVE_DERIVATIVE_H

#include <calder/derivatives.h>
#include "dynamics/tree/kinematics.h"
#include "model/work.h"

/* What a unit of a dof does to its link: by a coordinate (a, l), rate, acceleration; by a speed (a, l) and speed. */
typedef struct DofMotion {
	spatial S;            // theta, x: column of the dof
	vec3 rate;            // theta'
	spatial acceleration; // theta'', x'' - theta x (acceleration of the origin)
	spatial speed;        // of a unit of speed: what it adds to the accelerations beside 2 theta x r'
} DofMotion;

/* A link and all outboard of it. */
typedef struct Subtree {
	Composite c; // mass, mc, Sigma
	vec3 p;      // sum m r'
	mat3 N;      // 2 sum m (r.r' 1 - r' r'), and what rotary inertias of flexible bodies add
	spatial f;   // force that it needs
	mat3 Nw;     // of wrenches that keep their world axes: sum c.f 1 - f c'
	spatial w;   // their moments and forces, summed
} Subtree;

/* Dofs begin .. end - 1, which are neighbors in all rows. */
typedef struct DerivativeRun {
	int32_t begin, end;
} DerivativeRun;

/* Columns of a link: of its joint, or of the modes that move it. */
typedef struct LinkColumns {
	int32_t u, count; // first dof and number
	int32_t motion;   // first of CalDerivatives.motions
	int32_t run, run_count;
} LinkColumns;

/*
 * Rows over all dofs, each of `stride` numbers: forces at the origin of the link that the sweep has come to. A unit of the
 * dof's acceleration needs (n1, f1), of its coordinate (n3, f3), of its speed (n4, f4); the force on the dof changes by g
 * per theta', and by h per theta of what wrenches in world axes do.
 */
enum {
	ROW_N1 = 0,
	ROW_F1 = 3,
	ROW_G = 6,
	ROW_N3 = 9,
	ROW_F3 = 12,
	ROW_N4 = 15,
	ROW_F4 = 18,
	ROW_H = 21,
	ROW_COUNT = 24
};

struct CalDerivatives {
	const CalModel *model;
	void *memory;                      // to be freed, or NULL
	CalWork *work;                     // of the sweeps
	int n, stride;                     // dofs; length of rows, a multiple of four
	int exact;                         // 0: by differences of inverse dynamics
	int world;                         // in this call: some wrench keeps its world axes
	int failed_dof;                    // of the last failure, -1: none
	LinkColumns *columns;              // [links]
	DerivativeRun *runs;               // of all links
	DofMotion *motions;                // [dofs, then modes of each FLEX and NODE link, then those of one node]
	int spare;                         // where those begin
	Subtree *subtree;                  // [links]
	vec3 *rate;                        // [links] of r: velocity of the origin from that of the parent's
	double *rows;                      // [ROW_COUNT][stride]
	double *M;                         // [n][stride] halved within links, before it is assembled
	double *dq, *du;                   // rows of both side by side: [n][2 stride], du from the middle on
	double *dq_low, *du_low;           // [n][stride] the same, of dofs further out, transposed
	double *L, *Lt;                    // [n][stride] M = L'D L with unit L, and transposed
	double *D_inv;                     // [n] 1/D, 0 where held
	double *inverse;                   // [n][stride] M^-1
	double *udot;                      // [n]
	double *scratch;                   // [2 n]
	int32_t *ancestors;                // of each dof, nearest first: where L has entries
	int32_t *ancestor_first;           // [n + 1]
	int32_t *descends;                 // [n] last dof that moves with this one
	double *own;                       // [2][6 + most modes] forces of a flexible body
	CalState at;                       // displaced, of differences
	CalState moved;                    // along a direction (derivative_along.c),
	double *moved_force;               // [n] with udot or tau
	struct FrameVariation *variations; // [2][n] of a node, of two frames of a loop
	// of loops; m: constraint equations
	int rank;             // of the equations
	double *G, *GX;       // [m][n], [m][stride] G and G M^-1
	double *Lambda;       // [m][m] G M^-1 G', then its factor
	double *loop_scratch; // [(m + 2) m]
	double *ordered;      // [m][2 stride]
	double *lambda;       // [m]
	double *unit;         // [m] of the rows
	double *dz;           // [m][2 stride] dz/dq and dz/du
	int *order;           // [m]
	uint8_t *independent; // [m]
};

/* Force that a subtree needs if its base accelerates beyond its motion by `a` and turns relative to it by `rate`. */
INLINE spatial subtree_force(const Subtree *s, spatial a, vec3 rate) {
	const sym3 I = inertia_from_second_moment(s->c.Sigma);
	const vec3 n = add(add(sym_mul_vec(I, a.a), cross(s->c.mc, a.l)), mat_mul_vec(s->N, rate));
	const vec3 f = add(madd(cross(a.a, s->c.mc), s->c.m, a.l), scale(2.0, cross(rate, s->p)));
	return (spatial){n, f};
}

/* What wrenches in world axes change, where the others turn by theta with the subtree. */
INLINE spatial subtree_world(const Subtree *s, vec3 theta) {
	return (spatial){add(mat_mul_vec(s->Nw, theta), cross(theta, s->w.a)), cross(theta, s->w.l)};
}

/* Couplings of the dof S with theta' and, by wrenches in world axes, with theta. */
INLINE vec3 subtree_rate_row(const Subtree *s, spatial S) {
	return add(mat_tmul_vec(s->N, S.a), scale(2.0, cross(s->p, S.l)));
}
INLINE vec3 subtree_world_row(const Subtree *s, spatial S) {
	return add(mat_tmul_vec(s->Nw, S.a), add(cross(s->w.a, S.a), cross(s->w.l, S.l)));
}

INLINE mat3 mat_sum(mat3 a, mat3 b) { return (mat3){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }

/* m + x.y 1 - y x' times k */
INLINE mat3 add_pair(mat3 m, double k, vec3 x, vec3 y) {
	const double t = k * dot(x, y);
	const vec3 z = scale(k, y);
	return (mat3){{m.x.x + (t - z.x * x.x), m.x.y - z.y * x.x, m.x.z - z.z * x.x},
	              {m.y.x - z.x * x.y, m.y.y + (t - z.y * x.y), m.y.z - z.z * x.y},
	              {m.z.x - z.x * x.z, m.z.y - z.y * x.z, m.z.z + (t - z.z * x.z)}};
}

/* Where derivatives are taken. */
typedef struct DerivativePoint {
	const double *q, *u;
	const double *udot; // NULL: zero
	dvec3 gravity;
	const CalInput *input; // its wrenches; NULL: none
	const CalState *loops; // state whose loops act with d->lambda; NULL: they are open
} DerivativePoint;

/* Outward sweep and motions of joints' dofs. */
void derivative_outward(const CalModel *model, const DerivativePoint *at, CalDerivatives *d);
/* M, dq and du of inertia forces, gravity and wrenches. */
void derivative_inverse(const CalModel *model, const DerivativePoint *at, CalDerivatives *d);
/* The same, springs, dampers and rotors included, by differences (derivative_difference.c). loops: they act, and d->dz. */
CalStatus derivative_by_differences(const CalModel *model, const CalState *state, const double *udot,
                                    const CalInput *input, int loops, CalDerivatives *d);

/* Motion of joints' dofs, after an outward sweep with all accelerations (derivative_motion.c). */
void derivative_motions(const CalModel *model, const double *u, CalDerivatives *d);

/* Flexible bodies (derivative_flex.c): own terms, what modes do to FLEX and NODE links, and their blocks in the sweep. */
void derivative_flex_begin(const CalModel *model, CalDerivatives *d);
void derivative_flex_link(const CalModel *model, int i, CalDerivatives *d);
/* What a wrench on a node that modes move does to them; the link gets it besides. */
void derivative_flex_wrench(int link, const NodePlace *place, const Subtree *s, CalDerivatives *d);

/* Wrenches of the input, before the inward sweep; springs, dampers and rotors, after it (derivative_force.c). */
void derivative_wrenches(const CalModel *model, const CalInput *input, CalDerivatives *d);
void derivative_elastic(const CalModel *model, const double *q, CalDerivatives *d);
/* A wrench in world axes on a node (-1: none) at a point of the world. Needs positions of the links' origins. */
void derivative_world_wrench(const CalModel *model, int node, vec3 point, spatial wrench, CalDerivatives *d);

#endif
