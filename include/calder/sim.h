// SPDX-License-Identifier: Apache-2.0
/*
 * calder/sim.h — a simulation: every group of a description with its state, integrator and monitors.
 *
 * A CalSim compiles the groups that have bodies and advances them together in time, with the devices that act on and
 * between them: at every stage of a step all groups and devices are at the same instant. It is what the command line runs
 * on. Observing (cal_sim_observe, cal_sim_monitor) uses memory of its own and never changes the course of the run. All
 * memory is taken by cal_sim_create and by the calls that add something; nothing else allocates.
 * Groups are counted 0 .. cal_sim_group_count()-1 here, in the order of the description.
 */
#ifndef CALDER_SIM_H
#define CALDER_SIM_H

#include <calder/device.h>
#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What becomes of devices and subsystems that are code in shared objects. */
typedef enum CalPluginPolicy {
	CAL_PLUGIN_LOAD,   // it is loaded, and runs with the rights of this process
	CAL_PLUGIN_REFUSE, // an error, CAL_ERR_UNSUPPORTED
	CAL_PLUGIN_SKIP,   // it is not loaded; a device that does nothing and whose outputs are 0 stands in its place
} CalPluginPolicy;

/** Where accelerations come from. */
typedef enum CalFormulation {
	CAL_FORMULATION_ORDER_N, // the recursion, or `solver`
	CAL_FORMULATION_SYSTEM,  // system matrices that are held between updates, and their modes (calder/linear.h)
} CalFormulation;

/** What becomes of modes above the frequency that is retained. */
typedef enum CalUnretained {
	CAL_UNRETAINED_FROZEN,  // they keep their displacement
	CAL_UNRETAINED_BOUNDED, // they have the retained frequency instead of their own, and their static response
} CalUnretained;

/** docs/modes.md */
typedef struct CalFormulationOptions {
	CalFormulation kind;
	double update;            // time between updates of the matrices [s]; > 0 for CAL_FORMULATION_SYSTEM
	double retain;            // frequency up to which modes of the system are retained [rad/s]; 0: all are
	CalUnretained unretained; // what becomes of the others
} CalFormulationOptions;

typedef struct CalSimOptions {
	CalIntegratorOptions method; // for every group; its input and user are every group's first input
	CalSolver solver;            // for every group
	CalAllocator allocator;      // {0}: malloc
	int input_wrenches;          // most wrenches of an input on a group that devices act on too; 0: 64
	double event_tolerance;      // events are located to this [s]; 0: 1e-12 s; never below round-off in the time
	int threads;         // that share the work of a step, the caller's among them, as far as there are processors; 0: 1
	int branches;        // workers that each group is divided for (calder/branches.h); 0: as many as threads
	int branches_forced; // nonzero: divide groups even where it is not faster
	CalCrossLoops cross_loops; // whether loops may span branches (calder/loops.h)
	int not_pinned;            // nonzero: threads may be moved from processor to processor, and be more than these
	CalPluginPolicy plugins;   // of cal_sim_load_device() and cal_sim_load_subsystem()
	const volatile int *stop;  // once it is nonzero an advance ends after the step at hand, with CAL_OK; NULL: none
	CalFormulationOptions formulation; // {0}: order N
	double
		assembly_limit; // how far cal_sim_restart() moves what was stated to close loops [rad]; 0: 0.1; INFINITY: any
} CalSimOptions;

/**
 * The description is not needed after the call. States are neutral, at t = 0. With the same `branches` the results have the
 * same bits for any number of threads. Threads start with the first group that is worth cutting. They call functions
 * of user-defined joints and of driven loops; all other functions of the caller are called from his thread.
 */
CAL_API CalStatus cal_sim_create(const CalDesc *desc, const CalSimOptions *options, CalSim **sim, CalError *error);
CAL_API void cal_sim_destroy(CalSim *sim); // accepts NULL
/**
 * Gives the threads that share the work of a step the scheduling policy and priority of the caller's thread: to be called
 * when that has taken a real-time priority, so that it does not wait for threads that come after everybody else's.
 * CAL_ERR_UNSUPPORTED: not permitted.
 */
CAL_API CalStatus cal_sim_follow_priority(CalSim *sim);

/** Groups that have bodies, by their index. */
CAL_API int cal_sim_group_count(const CalSim *sim);
CAL_API int cal_sim_find_group(const CalSim *sim, const char *name); // -1 if there is none
CAL_API const CalModel *cal_sim_model(const CalSim *sim, int group); // NULL outside the range
/** The state may be written between advances; call cal_sim_restart() after that. */
CAL_API CalState *cal_sim_state(CalSim *sim, int group);
/** How a group is divided at present; NULL: in one piece. For its counts and infos: it is solved by the simulation. */
CAL_API const CalBranches *cal_sim_branches(const CalSim *sim, int group);
CAL_API double cal_sim_time(const CalSim *sim);
/** Grows whenever bodies changed groups (calder/transition.h): indices of groups, nodes and speeds are then to be asked for
 * anew. */
CAL_API int64_t cal_sim_generation(const CalSim *sim);

/** The next time after t at which the input jumps, or INFINITY. Steps end there. */
typedef double (*CalSwitchFn)(void *user, double t);

/** What acts on a group from now on. input NULL: nothing; next_switch NULL: the input is smooth. */
CAL_API CalStatus cal_sim_set_input(CalSim *sim, int group, CalInputFn input, CalSwitchFn next_switch, void *user);

/**
 * From now on the group moves as a function of time, without dynamics (NULL: by its dynamics again). Devices and
 * observers see the motion; what pushes the group does not change it. In a run that has started the group is put there at
 * once, and what it loses or gains in energy counts as supplied (CalSimBalance).
 */
CAL_API CalStatus cal_sim_set_motion(CalSim *sim, int group, CalMotionFn motion, void *user);

/** frozen[nu] nonzero: cal_sim_restart() does not move it when it closes loops; NULL: none is frozen. Copied. */
CAL_API CalStatus cal_sim_set_frozen(CalSim *sim, int group, const uint8_t *frozen);

/**
 * Which coordinates q[nu] and speeds u[nu] of the state were given on purpose (nonzero): closing loops moves the others
 * first. Both NULL: those that are not neutral (zero, identity), as it is without this call. Copied.
 */
CAL_API CalStatus cal_sim_set_stated(CalSim *sim, int group, const uint8_t *q, const uint8_t *u);

/**
 * Moves the state of a group to the nearest one that closes its loops, in the coordinates of the user: an angle counts in
 * rad, a length in units of the lever arm of the loops. What is frozen or driven at this time stays. Joint coordinates
 * that nobody stated move alone if that is enough; otherwise those that were stated move too, with 10^4 times the weight;
 * modes deform only if no motion of the joints closes the loops. Speeds likewise. CAL_NOT_CONVERGED: error names the rows that
 * are left, how far they are off, and whether they can be reached. left may be NULL. cal_sim_assembly() says what moved.
 */
CAL_API CalStatus cal_sim_assemble(CalSim *sim, int group, CalProjectReport *left, CalError *error);

/** What closing the loops of a group did to the state that was given. Pointers are valid until the next change of groups. */
typedef struct CalAssembly {
	double residual, rate;           // of the given state: the largest of a row [m or 1], and its rate
	int row, rate_row;               // where (cal_model_row_name), -1: none
	double length;                   // that counts like 1 rad [m]
	const double *q_given, *u_given; // [nq], [nu] before; NULL, as all that follow: no loops, or not assembled yet
	const double *q, *u;             // [nq], [nu] after
	const double *change;            // [nu] of positions (cal_config_difference)
	const uint8_t *stated_q;         // [nu] nonzero: the coordinate was stated
	const uint8_t *stated_u;         // [nu] nonzero: the speed was
	const uint8_t *angle;            // [nu] nonzero: an angle; otherwise a length or a modal coordinate
	double moved;                    // largest change of a stated coordinate [rad, or m over length]
	double speed_moved;              // largest change of a stated speed, as part of the fastest
	int moved_dof, speed_moved_dof;  // which, -1: none
	int doubtful;                    // nonzero: one of them is above 1e-3: a run should warn of it
} CalAssembly;
CAL_API CalStatus cal_sim_assembly(const CalSim *sim, int group, CalAssembly *assembly);
/** The same in words, "" if nothing moved by more than 1e-6; returns the length as snprintf does. */
CAL_API int cal_sim_assembly_text(const CalSim *sim, int group, char *buffer, size_t size);
/** CAL_ERR_ARGUMENT, and why, if the last assembly moved what was stated beyond CalSimOptions.assembly_limit. */
CAL_API CalStatus cal_sim_check_assembly(const CalSim *sim, int group, CalError *error);

/**
 * Makes the present states the start: drift, steps and clocks count from here. Times must agree. Loops are closed as by
 * cal_sim_assemble(). If that would move what was stated further than CalSimOptions.assembly_limit, the status is
 * CAL_ERR_ARGUMENT, error says what would move, and the state stays as it is; a state that cal_sim_assemble() left is
 * taken as it is.
 */
CAL_API CalStatus cal_sim_restart(CalSim *sim, CalError *error);

/* ---- devices ------------------------------------------------------------------------------ */

/** Adds a device; *device (may be NULL) is its number. Devices act in the order in which they were added. */
CAL_API CalStatus cal_sim_add_device(CalSim *sim, const CalDeviceDef *def, int *device, CalError *error);
/**
 * Adds the device that a shared object makes of `arguments` (CalDevicePluginFn). Present where the library was built with
 * the system's loader; otherwise CAL_ERR_UNSUPPORTED.
 */
CAL_API CalStatus cal_sim_load_device(CalSim *sim, const char *name, const char *path, const char *arguments,
                                      int *device, CalError *error);

typedef struct CalDeviceInfo {
	const char *name;
	const CalDeviceOps *ops;
	int active;    // it has found its objects and is not switched off
	double *x, *d; // [nx], [nd]; may be written between advances once the run has started (cal_sim_restart)
	int nx, nd;
	int not_loaded;       // nonzero: it stands in the place of code (CAL_PLUGIN_SKIP)
	double sample_period; // [s]; 0: it does not sample
} CalDeviceInfo;
/** Devices in the order in which they were added, counted from 0. */
CAL_API int cal_sim_device_count(const CalSim *sim);
CAL_API int cal_sim_find_device(const CalSim *sim, const char *name); // -1 if there is none
CAL_API CalStatus cal_sim_device(CalSim *sim, int device, CalDeviceInfo *info);
/** Switches a device off (it acts no more, its states stay), or on again. */
CAL_API CalStatus cal_sim_switch_device(CalSim *sim, int device, int on);
/** The same, and error says why not: a drive whose joint is not where its function is stays off (CAL_ERR_ARGUMENT). */
CAL_API CalStatus cal_sim_switch(CalSim *sim, int device, int on, CalError *error);
/** output[ops->output_count] at the present state. */
CAL_API CalStatus cal_sim_device_outputs(CalSim *sim, int device, double *output);
/**
 * The same within cal_sim_inspect(): many devices share one evaluation context and its kinematics. CAL_ERR_STAGE before
 * cal_sim_restart().
 */
CAL_API CalStatus cal_context_device_outputs(CalEvalContext *context, int device, double *output);

/* ---- events ------------------------------------------------------------------------------- */

/**
 * Something that happens in a run: at a time, or where a value changes sign. The action is called between steps and may
 * change anything: states, inputs, motions, devices, topology. A status other than CAL_OK ends the advance with it;
 * CAL_STOPPED is for an end in order: everything is as the action left it, and another advance continues from there. Events
 * of one instant happen in the order in which they were added, those of devices first; then those that the actions
 * themselves made due, by their times or because a value jumped across zero, again in order, until none is left.
 */
typedef struct CalEventDef {
	const char *name;                              // required; copied
	const char *place;                             // in a file, for messages; NULL: none; not copied
	double time;                                   // without value and `when`: when, once [s]
	double (*when)(void *user, const CalSim *sim); // without value: when next [s], asked between steps
	int (*value)(void *user, CalEvalContext *context, double *value); // NULL: by time; nonzero return: CAL_ERR_USER
	double (*event_free)(void *user, CalEvalContext *context,
	                     double span); // within span, as CalLookahead.event_free; NULL: not known
	int direction;                     // +1: only upwards, -1: only downwards, 0: both
	int once;                          // nonzero: by value, only the first time
	int level; // nonzero: by value with a direction, also at the start if the value is beyond zero then
	CalStatus (*action)(void *user, CalSim *sim, CalError *error); // NULL: steps only end there
	void *user;                                                    // handed to both
} CalEventDef;
CAL_API CalStatus cal_sim_add_event(CalSim *sim, const CalEventDef *def, int *event, CalError *error);
/**
 * Many devices and events at once. Each that is added has everything laid out anew, which for N of them takes the square of N;
 * between these two calls it is done once, at the end. Nothing but adding and finding is allowed there.
 */
CAL_API void cal_sim_begin_adding(CalSim *sim);
CAL_API CalStatus cal_sim_end_adding(CalSim *sim);
CAL_API int cal_sim_event_count(const CalSim *sim);
CAL_API const char *cal_sim_event_name(const CalSim *sim, int event); // NULL outside the range
CAL_API int cal_sim_find_event(const CalSim *sim, const char *name);  // the first of that name, -1 if there is none
/** How often an event has happened since the start, and when last (NAN: never); time may be NULL. */
CAL_API int64_t cal_sim_event_happened(const CalSim *sim, int event, double *time);

/* ---- stepping ----------------------------------------------------------------------------- */

/** Advances everything until its time is t_end exactly. On failure all hold their last good state. */
CAL_API CalStatus cal_sim_advance(CalSim *sim, double t_end, CalError *error);
/** One step of all groups, at most to t_limit; it ends early where something jumps or happens. */
CAL_API CalStatus cal_sim_step(CalSim *sim, double t_limit, CalError *error);
/**
 * Whole steps up to the first one that ends at t or later, at t_limit at most: no step ends at t because of the call. With the
 * same t_limit a run has the same bits, whatever the times t of its calls.
 */
CAL_API CalStatus cal_sim_advance_past(CalSim *sim, double t, double t_limit, CalError *error);

/**
 * Observes the simulation at ends of steps without changing where they end: called after the first step that ends at `due` or
 * later; returns when it wants to be called next (INFINITY: not again). It may observe, monitor and read, and must not change
 * anything. One at a time; NULL: none. Not called for a simulation on ranks.
 */
typedef double (*CalWatchFn)(void *user, CalSim *sim);
CAL_API void cal_sim_watch(CalSim *sim, CalWatchFn watch, void *user, double due);

/* ---- observing ---------------------------------------------------------------------------- */

/**
 * A group at its present state: accelerations, forces of prescribed degrees of freedom, and a workspace that holds its
 * kinematics with accelerations (for cal_node_xxx; cal_reactions takes udot and input). Valid until the next
 * call on the simulation.
 */
typedef struct CalSimView {
	const CalModel *model;
	const CalState *state;
	CalInput input;      // what acts now
	const double *udot;  // [nu]
	const double *force; // [nu] of prescribed degrees of freedom, beyond input.tau
	CalWork *work;
} CalSimView;
CAL_API CalStatus cal_sim_observe(CalSim *sim, int group, CalSimView *view);
/**
 * Another group at the same state, after cal_sim_observe(): what acts on it is known already, devices and components are not
 * evaluated again. Earlier views stay valid. After a state was changed call cal_sim_observe().
 */
CAL_API CalStatus cal_sim_observe_also(CalSim *sim, int group, CalSimView *view);
/**
 * Poses and velocities alone, which cost no forces and no dynamics: udot and force are NULL, input is empty, and the workspace
 * holds kinematics without accelerations.
 */
CAL_API CalStatus cal_sim_observe_motion(CalSim *sim, int group, CalSimView *view);

/** Calls inspect() with the simulation at its present instant, for formulas and the like; no force can be applied. */
typedef CalStatus (*CalInspectFn)(void *user, CalEvalContext *context);
CAL_API CalStatus cal_sim_inspect(CalSim *sim, CalInspectFn inspect, void *user);

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
	int energy_conserved;   // no damper, load, torque or driven degree of freedom acted: energy_change is drift
	int momentum_conserved; // free base, no gravity, only internal torques acted: the changes are drift
	int momentum_free;      // only loads and devices can change it: free base, no gravity, no given motion
	int momentum_loaded;    // loads of the input acted on it, not only devices
} CalSimMonitor;
CAL_API CalStatus cal_sim_monitor(CalSim *sim, int group, CalSimMonitor *monitor);

/**
 * Energy and momentum of all groups and devices. error is what the balance misses since the start: groups + stored +
 * dissipated - supplied is constant. It is an error of the integration only if `complete`. Groups whose motion is given
 * are left out: what devices do to them is taken from `supplied`, their energy is added to it when they are released.
 */
typedef struct CalSimBalance {
	double groups;     // kinetic, of gravity and elastic [J]
	double stored;     // in devices [J]
	double dissipated; // by devices, dampers of joints and modes, and changes of topology, since the start [J]
	double
		supplied; // by devices, loads, applied wrenches of loops, drives, and groups that came in, since the start [J]
	double error; // [J]
	/*
	 * Nothing else acted: all devices account, no loop is driven beside compiled subsystems, and on several ranks that
	 * advance apart there are no wrenches and no prescribed degrees of freedom that move.
	 */
	int complete;
	CalVec3 linear, angular; // momentum of groups and devices; angular about the world's origin
} CalSimBalance;
CAL_API CalStatus cal_sim_balance(CalSim *sim, CalSimBalance *balance);

/* ---- what to doubt (calder/doubt.h) ------------------------------------------------------- */

/**
 * Checks the run so far for reasons to doubt it: an energy balance whose error is more than method and tolerance explain, a
 * fixed step beyond what is stable at the present state, fixed steps that were cut short. To be called between advances
 * every now and then, and at the end; changes nothing in the run. A status other than CAL_OK: the present state cannot be
 * evaluated.
 */
CAL_API CalStatus cal_sim_examine(CalSim *sim);
/**
 * Adds a doubt. One of the same kind about the same object is counted, and the sentence of the larger value kept.
 * cal_sim_restart() forgets the doubts of a run that had started. Does not allocate.
 */
CAL_API CalStatus cal_sim_add_doubt(CalSim *sim, const CalDoubt *doubt);
CAL_API int cal_sim_doubt_count(const CalSim *sim);
CAL_API CalStatus cal_sim_doubt(const CalSim *sim, int index, CalDoubt *doubt);
/** How often there was no room for another one (CAL_MAX_DOUBTS). */
CAL_API int64_t cal_sim_doubts_left_out(const CalSim *sim);

/** Counts and clocks since the start. */
typedef struct CalSimStats {
	int64_t steps;           // accepted
	int64_t rejected;        // adaptive methods
	int64_t evaluations;     // forward dynamics calls, all groups together
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
