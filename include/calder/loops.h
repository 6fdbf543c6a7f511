// SPDX-License-Identifier: Apache-2.0
/*
 * calder/loops.h — closed loops: constraints between nodes of a tree.
 *
 * A loop ties frame A to frame B (CalLoopDef). With a_i, b_i their axes, d = R_A'(r_B - r_A),
 * R = R_A'R_B (R_ij = a_i.b_j) and the twist theta = atan2(R21 - R12, R11 + R22) its rows are, in this order:
 *   weld         dx dy dz  (R32-R23)/2 (R13-R31)/2 (R21-R12)/2     revolute     dx dy dz  -R23 R13
 *   prismatic    dx dy  (R32-R23)/2 (R13-R31)/2 (R21-R12)/2        cylindrical  dx dy  -R23 R13
 *   universal    dx dy dz  R12                                     spherical    dx dy dz
 *   planar       dz  -R23 R13                                      inplane      dz
 *   distance     |r_B - r_A| - length                              angle        theta, modulo a turn
 *   screw        dx dy (dz - pitch theta)  -R23 R13                coupling     sum of factor times coordinate
 *   directions   the translations that are locked, in the order x y z, then the rotations:
 *                three as for weld; two: x,y -R23 R13, y,z -R31 R21, x,z R32 -R12; one: x R23, y R31, z R12
 * and with speeds instead of positions (nonholonomic):
 *   knife        a_y.v_A
 *   disk         a_x.v a_y.v, then dz - radius sqrt(1 - R33^2); v: velocity of the point of B at c relative to A, with
 *                c = r_B - radius p the contact and p the direction of a_z - R33 b_z
 *   ball         a_x.v a_y.v, then dz - radius; the same with p = a_z
 * A row g that is driven (CalDrive) has the residual g - s(t) instead, with t of the state; a row of speeds the rate
 * a.v - s'(t). Residuals vanish on the constraint. Constrained motion: M udot + h = Q + G'lambda with G udot = gamma - 2
 * damping frequency rate - frequency^2 residual (the latter two: stabilisation, if any), gamma = -(dG/dt) u + s''.
 * Redundant and singular constraints are normal: lambda is then the solution of smallest norm, and udot is the one that
 * exists. A multiplier acts on B as a wrench at the origin of B, on A as the opposite at the same point; that of a
 * coupling acts on its coordinates.
 *
 * cal_forward_dynamics(), cal_hybrid_dynamics(), cal_implicit_dynamics() and the integrators obey the loops of a model by
 * themselves; cal_reactions() counts the forces that the last of these found. Applied wrenches of loops
 * (CalLoopDef.applied_wrench) are applied forces like springs: all dynamics count them, inverse dynamics and cal_external_forces() too.
 * cal_node_compliance() and the calls of calder/closed.h hold the loops. Everything else is about the tree alone.
 */
#ifndef CALDER_LOOPS_H
#define CALDER_LOOPS_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Loops of a model that is divided into branches (calder/branches.h). A loop that spans branches adds columns for its
 * multipliers to all of them, and one dense system for all loops: it pays where loops tie large parts together. Models
 * with couplings, or with applied wrenches on loops, close each loop within a branch.
 */
typedef enum CalCrossLoops {
	CAL_CROSS_LOOPS_AUTO,   // loops span branches where the count of flops says that this is faster
	CAL_CROSS_LOOPS_NEVER,  // each loop is closed within one branch
	CAL_CROSS_LOOPS_ALWAYS, // loops may span branches
} CalCrossLoops;
/** "auto", "never", "always", as files and the command line have it; NULL beyond. */
CAL_API const char *cal_cross_loops_name(CalCrossLoops cross_loops);

/** A loop of the model. */
typedef struct CalLoopInfo {
	const char *name;          //
	CalLoopId id;              // in the description
	CalLoopType type;          //
	int node_a, node_b;        // node indices, -1: the ground's origin
	CalPlacement a, b;         // frames on them
	int row, rows;             // its rows are row .. row + rows - 1
	int driven;                // which of them a drive moves or offsets, 1 << i of row i; 0: none
	double frequency, damping; // of its stabilisation; frequency 0: none
	int closes;                // body on which it closes: the innermost that both sides share; -1: on the ground
	int cluster;               // loops that have joints in common have the same; -1: solved by cut joints
	int eliminated; // body on which its equations are eliminated: `closes`, or one outboard of it; -1: the ground
} CalLoopInfo;

/** Loops of a model, counted from 0, and one of them. */
CAL_API int cal_model_loop_count(const CalModel *model);
CAL_API int cal_model_row_count(const CalModel *model); // constraint equations of all loops
CAL_API CalStatus cal_model_loop(const CalModel *model, int loop, CalLoopInfo *info);
CAL_API int cal_model_find_loop(const CalModel *model, const char *name); // -1: none
CAL_API int cal_model_loop_index(const CalModel *model, CalLoopId id);    // likewise
/** What the loops of a model cost in an evaluation; docs/loops.md, "Cost". */
typedef struct CalLoopCost {
	CalLoopSolver solver; // EARLY: some loops are eliminated before they close; COUPLED: on links of both sides
	int early;            // how many
	int carried;          // constraint equations open on one link, at most; COUPLED: and 6 per link; by cut joints: all
	int couplings;        // pairs of loops (COUPLED: and links) coupled when they are eliminated, fill included
	double products;      // multiplications for the coupling of equations: in the sweep, in the elimination
} CalLoopCost;
CAL_API CalStatus cal_model_loop_cost(const CalModel *model, CalLoopCost *cost);
/** "loop.dx", "loop.rx" ...; returns the length as snprintf does. */
CAL_API int cal_model_row_name(const CalModel *model, int row, char *buffer, size_t size);

/** Residuals g[rows] (of rows of speeds: zero) and their rates[rows] = G u - s'; either may be NULL. */
CAL_API CalStatus cal_loop_residual(const CalModel *model, const CalState *state, CalWork *work, double *g,
                                    double *rate);
/** G[rows nu] and gamma[rows] (without stabilisation); gamma may be NULL. */
CAL_API CalStatus cal_loop_jacobian(const CalModel *model, const CalState *state, CalWork *work, double *G,
                                    double *gamma);

/** What the loops leave of the degrees of freedom at a state. */
typedef struct CalMobility {
	int dofs;     // degrees of freedom that are not frozen
	int rank;     // independent equations over them
	int mobility; // dofs - rank: speeds that can be chosen freely
} CalMobility;

/**
 * Rank of G over the speeds that are not frozen ([nu] nonzero: frozen; NULL: those described as prescribed), and which
 * rows (NULL, or [rows]) are independent and which speeds (NULL, or [nu]; mobility of them) can be chosen: all others
 * follow from them, by factors that are at most 1 in SI units. Independent equations and speeds have a 1, all others a 0.
 * Of equally good choices the one nearest to the ground is taken. Speed rows (knife) count like the others.
 */
CAL_API CalStatus cal_loop_mobility(const CalModel *model, const CalState *state, const uint8_t *frozen, CalWork *work,
                                    CalMobility *mobility, uint8_t *rows, uint8_t *speeds);
/** Independent speeds alone: independent[nu], and how many they are. */
CAL_API CalStatus cal_loop_independent(const CalModel *model, const CalState *state, CalWork *work,
                                       uint8_t *independent, int *count);

/* After forward or hybrid dynamics of a model with loops: */

/** lambda[rows]. */
CAL_API CalStatus cal_loop_multipliers(const CalModel *model, const CalWork *work, double *lambda);
/**
 * The wrench on the side of B (on A: the opposite) at the origin of frame B, world axes, and that point. Known wrenches
 * are not part of it. KNIFE: on A at the origin of frame A; COUPLING: zero.
 */
CAL_API CalStatus cal_loop_wrench(const CalModel *model, const CalWork *work, int loop, CalSpatial *wrench,
                                  CalVec3 *point);
/**
 * An estimate of the relative error of accelerations and multipliers. These are refined where inertias along a loop differ by
 * more than 5e4, where round-off of forces would move light links by 5e-12, or where rows are nearly dependent. Refinement that
 * does not reach 1e-15 leaves more; with more than 1e-6 left forward dynamics returns CAL_NOT_CONVERGED. Models with flexible
 * bodies are refined in their rows alone: the estimate is then what round-off does to light links, and never ends a run.
 * 0: there was nothing to refine. docs/loops.md
 */
CAL_API CalStatus cal_loop_error(const CalModel *model, const CalWork *work, double *error);
/** Rank of G M^-1 G', and for each row (independent may be NULL) whether it was taken as independent. */
CAL_API CalStatus cal_loop_rank(const CalModel *model, const CalWork *work, int *rank, uint8_t *independent);

/** How a state is brought back to the constraints. */
typedef struct CalProjectOptions {
	const uint8_t *frozen; // [nu] nonzero: not moved; NULL: those described as prescribed
	double tolerance;      // of every residual: part of the length of the loop's way, or [rad]; 0: 1e-12; never below
						   // round-off in the positions
	int max_iterations;    // 0: 20; where they get stuck, at most 400 damped ones follow
	int euclidean;         // nonzero: smallest change in coordinates; 0: smallest in the metric of M
	const double *weight;  // [nu] > 0: of the coordinates in a Euclidean change; NULL: 1
	int search; // > 0: where they get stuck, also go to positions that are not near (assembly); < 0: give up there
} CalProjectOptions;

/** What a projection did. */
typedef struct CalProjectReport {
	int iterations;
	double residual, rate; // largest that is left
	int row;               // where, -1: nowhere
	int reachable;         // 0: no motion of the free coordinates that was tried meets the rows; 1: met, or not known
} CalProjectReport;

/**
 * Projects the positions of state on the constraints by Gauss and Newton, then its speeds. CAL_NOT_CONVERGED leaves the
 * best state found and says in report (may be NULL) which row is left, and whether it can be met at all: a singular or
 * contradictory position is distinguished from one that needs more iterations by damped steps and pushes to all sides. Rows of
 * speeds are met too, and drives where they are at state->t.
 */
CAL_API CalStatus cal_loop_project(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                   CalWork *work, CalProjectReport *report);

#ifdef __cplusplus
}
#endif
#endif
