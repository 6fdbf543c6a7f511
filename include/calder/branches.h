// SPDX-License-Identifier: Apache-2.0
/*
 * calder/branches.h — forward dynamics of one model by several threads.
 *
 * The model is divided into branches [THEORY 6]: natural subtrees, and long chains in pieces. Each is solved by the
 * recursion; where they were separated they are joined by what crosses the interface alone. The result depends on how
 * the model is divided, in the last digits, and not on the number of threads: the same partition gives the same bits.
 * How many branches there are can be fixed apart from the number of threads.
 */
#ifndef CALDER_BRANCHES_H
#define CALDER_BRANCHES_H

#include <calder/distribute.h>
#include <calder/dynamics.h>
#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalBranchOptions {
	int branches; // workers to divide for; 0: as many as threads. Where that is not faster there is one branch
	int threads;  // the caller's among them; 0: 1
	int forced;   // nonzero: divide even where it is not faster
	CalCrossLoops cross_loops; // whether loops may span branches
	int not_pinned;            // nonzero: threads may be moved from processor to processor
	const CalTransport
		*transport; // to ranks among which the branches are assigned, one thread each; NULL: all are here
} CalBranchOptions;

/** A model divided into branches, with its workspace and threads. Calls with one of them must not overlap. */
typedef struct CalBranches CalBranches;

/** Divides a model into branches; NULL options: as many branches as threads, of which there is one. */
CAL_API CalStatus cal_branches_create(const CalModel *model, const CalBranchOptions *options, CalBranches **branches,
                                      CalError *error);
CAL_API void cal_branches_destroy(CalBranches *branches); // accepts NULL

/** Branches that were made, and threads that work on them. */
CAL_API int cal_branches_count(const CalBranches *branches);
CAL_API int cal_branches_threads(const CalBranches *branches);
/**
 * What the partition was chosen for: the speedup of as many workers as it was made for over one in one piece,
 * by counts of flops with the waits of the workers for each other. 1 in one piece.
 */
CAL_API double cal_branches_speedup(const CalBranches *branches);
/** By the same counts: the work of all branches, joins and loops that span them, relative to the model in one piece. */
CAL_API double cal_branches_work(const CalBranches *branches);

typedef struct CalBranchInfo {
	int parent;     // parent branch, -1: the ground
	int first_body; // body of the model whose joint it begins with
	int bodies;     //
	int dofs;       // modes included
	int loops;      //
	int decoupled;  // nonzero: solved at the same time as its parent branch, and joined with it
	int thread;     // -1: on another rank
	int rank;       //
	double flops;   // estimate
} CalBranchInfo;

/** One branch, 0 .. cal_branches_count() - 1. */
CAL_API CalStatus cal_branches_info(const CalBranches *branches, int branch, CalBranchInfo *info);

/**
 * As cal_forward_dynamics() and cal_implicit_dynamics(), and by these where light links leave a doubt about loops: as
 * accurate as they are, refused as they do. With a transport all ranks call these with the same arguments.
 */
CAL_API CalStatus cal_branches_forward(CalBranches *branches, const CalState *state, const CalInput *input,
                                       double *udot);
CAL_API CalStatus cal_branches_implicit(CalBranches *branches, const CalState *state, const CalState *elastic,
                                        const CalInput *input, double h, double *udot);
/** Nonzero: loops may span these branches. */
CAL_API int cal_branches_cross_loops(const CalBranches *branches);
/** After either, with loops that span branches: lambda[rows], as cal_loop_multipliers() gives them. */
CAL_API CalStatus cal_branches_multipliers(const CalBranches *branches, double *lambda);
/**
 * As cal_loop_project(), over the same assembly of branches: positions, then speeds, with the smallest motion that the
 * inertia allows (options->euclidean and search are not done here). CAL_NOT_CONVERGED: state is the best that was found.
 * report may be NULL.
 */
CAL_API CalStatus cal_branches_project(CalBranches *branches, CalState *state, const CalProjectOptions *options,
                                       CalProjectReport *report);
/** As cal_loop_error(), of the last evaluation. */
CAL_API double cal_branches_error(const CalBranches *branches);
/** Degree of freedom of the last numerical failure, -1: none. */
CAL_API int cal_branches_failed_dof(const CalBranches *branches);

#ifdef __cplusplus
}
#endif
#endif
