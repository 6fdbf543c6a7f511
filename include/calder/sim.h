// SPDX-License-Identifier: Apache-2.0
/*
 * calder/sim.h — a simulation: every group of a description with its state, integrator and monitors.
 *
 * A CalSim compiles the groups that have bodies and advances them together in time. It is what the
 * command line runs on. Observing (cal_sim_observe, cal_sim_monitor) uses memory of its own and never
 * changes the course of the run. All memory is taken by cal_sim_create; nothing allocates later.
 * Groups are counted 0 .. cal_sim_group_count()-1 here, in the order of the description.
 */
#ifndef CALDER_SIM_H
#define CALDER_SIM_H

#include <calder/integrate.h>
#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalSim CalSim;

typedef struct CalSimOptions {
	CalIntegratorOptions method; // for every group; its input and user are every group's first input
	CalSolver solver;            // for every group
	CalAllocator allocator;      // {0}: malloc
} CalSimOptions;

/** The description is not needed after the call. States are neutral, at t = 0. */
CAL_API CalStatus cal_sim_create(const CalDesc *desc, const CalSimOptions *options, CalSim **sim, CalError *error);
CAL_API void cal_sim_destroy(CalSim *sim); // accepts NULL

CAL_API int cal_sim_group_count(const CalSim *sim);
CAL_API int cal_sim_find_group(const CalSim *sim, const char *name); // -1 if there is none
CAL_API const CalModel *cal_sim_model(const CalSim *sim, int group); // NULL outside the range
/** The state may be written between advances; call cal_sim_restart() after that. */
CAL_API CalState *cal_sim_state(CalSim *sim, int group);
CAL_API double cal_sim_time(const CalSim *sim);

/** The next time after t at which the input jumps, or INFINITY. Steps end there. */
typedef double (*CalSwitchFn)(void *user, double t);

/** What acts on a group from now on. input NULL: nothing; next_switch NULL: the input is smooth. */
CAL_API CalStatus cal_sim_set_input(CalSim *sim, int group, CalInputFn input, CalSwitchFn next_switch, void *user);

/** frozen[nu] nonzero: cal_sim_restart() does not move it when it closes loops; NULL: none is frozen. Copied. */
CAL_API CalStatus cal_sim_set_frozen(CalSim *sim, int group, const uint8_t *frozen);

/**
 * Moves the state of a group to the nearest one that closes its loops; what is frozen or driven at this time stays.
 * CAL_NOT_CONVERGED: error names the rows that are left, how far they are off, and whether they can be reached. left may be
 * NULL.
 */
CAL_API CalStatus cal_sim_assemble(CalSim *sim, int group, CalProjectReport *left, CalError *error);
/**
 * Makes the present states the start: drift, steps and clocks count from here. Times must agree. Loops are closed as by
 * cal_sim_assemble().
 */
CAL_API CalStatus cal_sim_restart(CalSim *sim, CalError *error);

/* ---- stepping ----------------------------------------------------------------------------- */

/** Advances every group until its time is t_end exactly. On failure each holds its last good state. */
CAL_API CalStatus cal_sim_advance(CalSim *sim, double t_end, CalError *error);
/** One step of the first group, at most to t_limit; the others follow to the time that it reached. */
CAL_API CalStatus cal_sim_step(CalSim *sim, double t_limit, CalError *error);

/* ---- observing ---------------------------------------------------------------------------- */

/**
 * A group at its present state: accelerations, forces of prescribed freedoms, and a workspace that holds its
 * kinematics with accelerations (for cal_node_xxx; cal_reactions takes udot and input). Valid until the next
 * call on the simulation.
 */
typedef struct CalSimView {
	const CalModel *model;
	const CalState *state;
	CalInput input;      // what acts now
	const double *udot;  // [nu]
	const double *force; // [nu] of prescribed freedoms, beyond input.tau
	CalWork *work;
} CalSimView;
CAL_API CalStatus cal_sim_observe(CalSim *sim, int group, CalSimView *view);

/**
 * Invariants of a group and how they changed since the start. A change is an error of the integration
 * only where nothing acted that may change the quantity: see the two flags.
 */
typedef struct CalSimMonitor {
	CalEnergy energy;       // now
	CalMomentum momentum;   // now
	double energy_change;   // total, now - start [J]
	double energy_scale;    // largest kinetic energy at the start and at the monitor calls so far [J]
	CalVec3 linear_change;  // [kg m/s]
	CalVec3 angular_change; // about the origin of the group's frame [kg m^2/s]
	double residual;        // of loops, the largest now; 0 without loops
	double residual_rate;   // of it, the largest now
	int residual_row;       // row of the former (cal_model_row_name), -1: all are zero
	int energy_conserved;   // no damper, load, torque or driven freedom acted: energy_change is drift
	int momentum_conserved; // free base, no gravity, only internal torques acted: the changes are drift
} CalSimMonitor;
CAL_API CalStatus cal_sim_monitor(CalSim *sim, int group, CalSimMonitor *monitor);

/** Counts and clocks since the start, all groups together. */
typedef struct CalSimStats {
	int64_t steps;           // accepted
	int64_t rejected;        // adaptive methods
	int64_t evaluations;     // forward dynamics calls
	double time;             // simulated [s]
	double wall_s;           // spent in cal_sim_advance and cal_sim_step
	double cpu_s;            // of the process, over the same calls
	double real_time_factor; // time / wall_s; 0 if nothing was simulated
} CalSimStats;
CAL_API CalSimStats cal_sim_stats(const CalSim *sim);

#ifdef __cplusplus
}
#endif
#endif
