// SPDX-License-Identifier: Apache-2.0
/*
 * calder/loops.h — closed loops: constraints between nodes of a tree.
 *
 * A loop ties frame A to frame B (CalLoopDef). With d = R_A'(r_B - r_A) and S = R_A'R_B its rows are, in this order:
 *   weld         dx dy dz  (S32-S23)/2 (S13-S31)/2 (S21-S12)/2     revolute     dx dy dz  -S23 S13
 *   prismatic    dx dy  (S32-S23)/2 (S13-S31)/2 (S21-S12)/2        cylindrical  dx dy  -S23 S13
 *   universal    dx dy dz  S12                                     spherical    dx dy dz
 *   planar       dz  -S23 S13                                      inplane      dz
 *   distance     |r_B - r_A| - length                              knife        y_A.v_A = 0 (speeds only)
 * All vanish on the constraint. Constrained motion: M udot + h = Q + G'lambda, G udot = gamma. Redundant and singular
 * constraints are normal: lambda is then the solution of smallest norm, and udot is the one that exists.
 *
 * cal_forward_dynamics(), cal_hybrid_dynamics(), cal_implicit_dynamics() and the integrators obey the loops of a model by
 * themselves; cal_reactions() counts the forces that the last of these found. Everything else is about the tree alone.
 */
#ifndef CALDER_LOOPS_H
#define CALDER_LOOPS_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A loop of the model. */
typedef struct CalLoopInfo {
	const char *name;   //
	CalLoopId id;       // in the description
	CalLoopType type;   //
	int node_a, node_b; // node indices, -1: the ground's origin
	CalPlacement a, b;  // frames on them
	int row, rows;      // its rows are row .. row + rows - 1
} CalLoopInfo;

CAL_API int cal_model_loop_count(const CalModel *model);
CAL_API int cal_model_row_count(const CalModel *model); // rows of all loops
CAL_API CalStatus cal_model_loop(const CalModel *model, int loop, CalLoopInfo *info);
CAL_API int cal_model_find_loop(const CalModel *model, const char *name); // -1: none
/** "loop.dx", "loop.rx" ...; returns the length as snprintf does. */
CAL_API int cal_model_row_name(const CalModel *model, int row, char *buffer, size_t size);

/** Residuals g[rows] (of knife rows: zero) and their rates[rows] = G u; either may be NULL. */
CAL_API CalStatus cal_loop_residual(const CalModel *model, const CalState *state, CalWork *work, double *g,
                                    double *rate);
/** G[rows nu] and gamma[rows] (without stabilisation); gamma may be NULL. */
CAL_API CalStatus cal_loop_jacobian(const CalModel *model, const CalState *state, CalWork *work, double *G,
                                    double *gamma);

/* After forward or hybrid dynamics of a model with loops: */

/** lambda[rows]. */
CAL_API CalStatus cal_loop_multipliers(const CalModel *model, const CalWork *work, double *lambda);
/** The wrench on the side of B (on A: the opposite) at the origin of frame B, world axes, and that point. */
CAL_API CalStatus cal_loop_wrench(const CalModel *model, const CalWork *work, int loop, CalSpatial *wrench,
                                  CalVec3 *point);
/** Rank of G M^-1 G', and for each row (independent may be NULL) whether it was taken as independent. */
CAL_API CalStatus cal_loop_rank(const CalModel *model, const CalWork *work, int *rank, uint8_t *independent);

/** How a state is brought back to the constraints. */
typedef struct CalProjectOptions {
	const uint8_t *frozen; // [nu] nonzero: not moved; NULL: those described as prescribed
	double tolerance;      // of every residual; 0: 1e-12
	int max_iterations;    // 0: 20
	int euclidean;         // nonzero: smallest change in coordinates; 0: smallest in the metric of M
} CalProjectOptions;

/** What a projection did. */
typedef struct CalProjectReport {
	int iterations;
	double residual, rate; // largest that is left
	int row;               // where, -1: nowhere
	int reachable;         // 0: rows that cannot be met from here, however the free coordinates move
} CalProjectReport;

/**
 * Projects the positions of state on the constraints by Gauss and Newton, then its speeds. CAL_NOT_CONVERGED leaves the
 * best state found and says in report (may be NULL) which row is left, and whether it can be met at all. Speeds of knife
 * rows are met too.
 */
CAL_API CalStatus cal_loop_project(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                   CalWork *work, CalProjectReport *report);

#ifdef __cplusplus
}
#endif
#endif
