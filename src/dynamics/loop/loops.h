// SPDX-License-Identifier: Apache-2.0
/*
 * loops.h — constraints that close loops: their equations and derivatives, the forces that hold them.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOPS_H
#define CALDER_DYNAMICS_LOOP_LOOPS_H

#include "dynamics/loop/loop_rows.h"
#include "dynamics/tree/articulated.h"
#include "model/loop_blocks.h"

#if CAL_LANES == 1
/* Directions, values, rates and accelerations of all constraints, from what an outward sweep and kinematics_origins left in
 * work; of LOOP_MOTION, kinematics_accelerate too. */
void loop_rows(const CalModel *model, const LoopContext *at, CalWork *work);
/* The motion of one frame of a loop (side 0: A, 1: B), from the same. */
void loop_frame(const CalModel *model, const CalWork *work, const Loop *loop, int side, LoopDepth depth, LoopFrame *f);
/* G from the directions. */
void loop_jacobian(const CalModel *model, CalWork *work);
/* X = M^-1 G' and the factor of G X', prescribed degrees of freedom held (NULL: none); euclidean: with LoopWork.weight for M.
 * rotor as in SweepInput. */
CalStatus loop_factor(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                      int euclidean, CalWork *work);
/* lambda = (G M^-1 G')^+ z. */
void loop_solve(const CalModel *model, CalWork *work, const double *z, double *lambda);
/*
 * work->loops.dq = -W^-1 G'(G W^-1 G')^+ z with z[m] of work->loops, the equations those at q; W = M, or
 * LoopWork.weight if euclidean; frozen (NULL: none) are zero. Leaves only poses in work.
 */
CalStatus loop_correct(const CalModel *model, const double *q, const uint8_t *frozen, int euclidean, CalWork *work);
/*
 * The same in the metric of M with the factors of the last forward dynamics, at its q, and with the forces
 * work->loops.refined.residual in addition: lambda of work->loops too (basic, where loops are eliminated:
 * loop_elimination.h), and what both do to force[nu] of what is prescribed.
 */
CalStatus loop_correct_again(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                             CalWork *work, double *force);
/* x = M_c x with the factors of loop_factor() in the metric of M, and lambda of the rows that do not accelerate. */
void loop_hold(const CalModel *model, const uint8_t *prescribed, CalWork *work, double *x);
/*
 * G u = z, G udot = lambda (both of work->loops, by rows of blocks, frozen speeds on the right) solved for dependent speeds:
 * row r of block b with a pivot (order[b->row + r] >= 0, a column of the block; else -1) reads
 *   u_pivot + sum over the other columns of X_rk u_k = z_r   in the end.
 * chosen[nu] (NULL: none) are independent. Needs loop_jacobian(); returns the rank.
 */
int loop_eliminate_speeds(const CalModel *model, const uint8_t *frozen, const uint8_t *chosen, LoopWork *w,
                          double *least);
/*
 * Inertias along the columns of a loop that differ by more cost forces of the light ones too many digits; where models are
 * refined in full, it is worth a closer look before that.
 */
INLINE double loop_uneven(const CalModel *model) { return model->flex_count > 0 ? 1e7 : 1e4; }
INLINE double loop_somewhat_uneven(const CalModel *model) { return model->flex_count > 0 ? 1e7 : 1e3; }
/* By cut joints: whether a speed moves any equation, after loop_factor(). */
int loop_moves_rows(const CalModel *model, const LoopWork *w, int k);
/* Of the longest loop [m]. */
double loop_longest_reach(const CalModel *model);
/* What a speed is large or small beside: 1 rad/s, or this length in a second. */
double loop_column_unit(const CalModel *model, int k, double length);
/* The multipliers that bring the accelerations of the constraints to zero, udot being the accelerations without them. */
CalStatus loop_forces(const CalModel *model, const CalState *state, const uint8_t *prescribed, const double *rotor,
                      const double *udot, CalWork *work);
/* Wrench of a loop on B at the origin of its frame B (KNIFE: on A). */
INLINE spatial loop_wrench(const Loop *loop, const LoopWork *w) {
	spatial sum = spatial_zero();
	for (int row = loop->row; row < loop->row + loop->rows; ++row)
		sum = spatial_madd(sum, w->lambda[row], w->row[row].direction);
	return sum;
}
/* Sum of the squares of the residuals in work, in units of their equations. */
double loop_squared_residual(const CalModel *model, const CalWork *work);
/* The largest of these residuals, and which it is; what round-off leaves of them far from the origin. */
double loop_largest_value(const CalModel *model, const CalWork *work, int *where);
double loop_round_off(const CalModel *model, const CalWork *work);
/* Equations without position: no direction. */
void loop_drop_speed_rows(const CalModel *model, LoopWork *w);

typedef enum LoopVerdict { LOOP_CLOSED, LOOP_UNREACHABLE, LOOP_UNDECIDED } LoopVerdict;
/*
 * From a state that a projection cannot improve: its positions move to the next minimum of the residuals, or (go) to the
 * best that can be found anywhere; the equations there are left in work. Says whether they are closed, or can be closed at all.
 * Adds to *steps how many it took.
 */
LoopVerdict loop_search(const CalModel *model, CalState *state, const uint8_t *frozen, double tolerance, int go,
                        CalWork *work, int *steps);
/* udot += M^-1 G'lambda, by cut joints with lambda of the last loop_forces(). */
void loop_add_motion(const CalModel *model, LoopWork *w, double *udot);
/* Adds the forces of lambda to wrenches at the link origins, and to the generalized forces of modes and couplings. */
void apply_multipliers(const CalModel *model, const CalWork *work, spatial *external, double *tau);
#endif

#endif
