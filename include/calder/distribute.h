// SPDX-License-Identifier: Apache-2.0
/*
 * calder/distribute.h — one simulation on the ranks of several processes.
 *
 * Every rank makes the same simulation and calls the same functions in the same order; each solves and advances its own
 * branches (calder/branches.h), and they exchange what crosses an interface. How messages travel is the
 * caller's: a CalTransport, on MPI or anything else. After every call of cal_sim_advance() and cal_sim_step() the
 * states of all ranks are the same, to the bit, so that each may look at anything, and any may write a checkpoint.
 */
#ifndef CALDER_DISTRIBUTE_H
#define CALDER_DISTRIBUTE_H

#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalSim CalSim;

/**
 * Messages between ranks. Functions return 0, or, where another rank is gone or stays silent for too long, 1 + that rank
 * (-1: not known which). After that nothing is asked for any more. They should not allocate: they are called in a step.
 */
typedef struct CalTransport {
	int rank, size;
	void *user; // handed to the functions
	/** The numbers are copied; must not wait until the other receives them. */
	int (*send)(void *user, int to, int tag, const double *x, int count);
	/** Messages of one rank with one tag arrive in the order in which they were sent. */
	int (*receive)(void *user, int from, int tag, double *x, int count);
	/** Rank r has x[starts[r]] .. x[starts[r + 1] - 1]; afterwards all have everything. All ranks call it with these starts. */
	int (*gather)(void *user, const int *starts, double *x);
} CalTransport;

/** How a simulation is put on ranks. */
typedef struct CalDistribution {
	const CalTransport *transport; // copied; what it points to has to outlive the simulation
	int branches;                  // to divide each group for; 0: as many as ranks
	int forced;                    // nonzero: divide even where it is not faster
	CalCrossLoops cross_loops;     // whether loops may span branches, and so ranks
	int inputs_of_time;            // nonzero: inputs of groups are functions of time and look at no state
	uint64_t fingerprint;          // of whatever else has to be the same on all ranks
} CalDistribution;

/**
 * Puts a simulation on ranks; all call it, before or between advances, with the same states. A rank with another model,
 * other options or another version is refused on all ranks (CAL_ERR_MODEL), by name. A simulation whose topology is to
 * change is reserved (cal_sim_reserve()) before; all ranks make the same changes, and each divides the new groups anew.
 *
 * Where nothing reads the whole state within an advance (a method with fixed steps, no devices, events or compiled
 * subsystems, inputs of time alone) only what crosses interfaces is sent: three messages for each interface between two
 * ranks and evaluation, 45 numbers, and more where loops span ranks (docs/distributed.md). Otherwise accelerations of all
 * go to all after each evaluation.
 * CAL_ERR_LOST of an advance: a rank is gone; all states are those before the advance, and can be saved.
 */
CAL_API CalStatus cal_sim_distribute(CalSim *sim, const CalDistribution *how, CalError *error);

/** What was done on this rank since cal_sim_distribute(). */
typedef struct CalDistributionInfo {
	int rank, size;            //
	int busy;                  // ranks that have branches
	int branches, own;         // of all groups; on this rank
	int interfaces;            // between branches of different ranks
	int interface_only;        // in the last advance only what crosses interfaces was sent
	int lost;                  // 1 + the rank that is gone, -1: not known which, 0: none
	int64_t evaluations;       // of the dynamics of a group
	int64_t corrections;       // of its state by projections: each sends as much as an evaluation
	int64_t residuals;         // of its loops, in projections: outward messages alone, and their measures
	int64_t messages, numbers; // sent across interfaces by this rank
	int64_t gathers, gathered; // calls of gather(), and the numbers that this rank gave
} CalDistributionInfo;
CAL_API CalStatus cal_sim_distribution(const CalSim *sim, CalDistributionInfo *info);
/** The rank that solves a body now; 0 where the simulation is not distributed, or has no such body. */
CAL_API int cal_sim_rank_of(const CalSim *sim, CalBodyId body);

#ifdef __cplusplus
}
#endif
#endif
