// SPDX-License-Identifier: Apache-2.0
/*
 * sim_internal.h — what a simulation holds: groups, devices, events, and all of them as one system; what its files
 * share.
 *
 * Each group has a state of its own and two workspaces: the integrator uses one, observers the other, so that looking at
 * a run cannot change it. Each device has its states. For a step they are gathered into one state (SimSystem.now), and
 * scattered again after it. Everything of a group is in one block that cal_sim_create() takes; what depends on all
 * groups and devices is in a second one (sim_system.c), which is taken anew only when it has become too small.
 */
#ifndef CALDER_SIM_SIM_INTERNAL_H
#define CALDER_SIM_SIM_INTERNAL_H

#include <math.h>
#include <stdbool.h>

#include <calder/linear.h>
#include <calder/loops.h>
#include <calder/sim.h>

#include "base/name_index.h"
#include "base/serializer.h"
#include "model/model_index.h"
#include "sim/doubt.h"

typedef struct SimGroup {
	CalModel *model;
	CalState state;
	CalWork *work;         // of the integrator
	CalBranches *branches; // of the model; NULL: by one thread, in one piece
	CalWork *view_work;    // of the observers
	double *udot, *force;  // [nu] results of the last observation
	double *given;         // [nu] accelerations that are given, by a motion or by drives
	uint8_t *root_dof;     // [nu] nonzero: a dof of a joint on the ground, not a mode of the body on it
	uint8_t *frozen;       // [nu] nonzero: not moved when loops are closed
	uint8_t *held;         // [nu] scratch: those, and what is driven
	void *memory;          // the block that all of the above but the model are in
	const uint8_t *own;    // [nu] nonzero: advanced on this rank; NULL: all are

	struct Assembly *assembly; // what closing the loops did to the given state (assemble.h); NULL: no loops

	uint8_t *driven;     // [nu] nonzero: a device drives it
	uint8_t *prescribed; // [nu] of the input at hand, where devices drive
	double *drive_force; // [nu] scratch of the integrator: forces of prescribed dofs
	double *power;       // [CAL_POWER_COUNT] that was supplied in the last evaluation [W]; NAN: not found
	int drive_count;     // of driven ones
	int own_drive;       // the input at hand points to prescribed and given

	CalInputFn input;        // NULL: nothing acts
	CalSwitchFn next_switch; // NULL: the input is smooth
	void *user;              //
	CalMotionFn motion;      // NULL: it moves by its dynamics
	void *motion_user;       //
	int input_from;          // whose input it has: FUNCTION_*, or 1 + the number of the group that had it at the start
	int motion_from;         // likewise

	// in the block of the system
	double *tau;           // [nu] efforts of the input and of devices
	CalWrench *wrenches;   // [SimSystem.wrench_capacity] likewise
	int own_tau;           // the input at hand points to tau
	int own_wrenches;      // and to wrenches
	bool kinematics_known; // of the evaluation at hand, in its workspace

	int energy_free, momentum_free; // structure alone would conserve them
	int loops_move;                 // constraint equations are driven, not only offset: they may change the energy
	int worked;                     // something was seen that may change the energy
	int pushed;                     // PUSHED_BY_*: what was seen that may change the momentum
	int unaccounted;                // something acted since the start whose work nobody adds up
	CalEnergy start_energy;         //
	CalMomentum start_momentum;     //
	double energy_scale;            // largest kinetic energy seen [J]
	int kept_q, kept_u;             // where SimSystem.held has a copy of q and u,
	bool state_kept;                // if it has one,
	bool energy_known;              // and whether the next two are of that state
	CalEnergy energy;               //
	CalMomentum momentum;           //
} SimGroup;

/* Where a function comes from, for checkpoints. */
enum { FUNCTION_NONE = 0, FUNCTION_LATE = -1 }; // there is none; it was given during the run

/* What was given to a group before the run, or at its start. */
typedef struct SimFunctions {
	CalInputFn input;
	CalSwitchFn next_switch;
	void *user;
	CalMotionFn motion;
	void *motion_user;
} SimFunctions;

/* What a simulation was made of, for checkpoints. */
typedef struct SimOrigin {
	uint64_t description;                     // fingerprint
	int groups, bodies, nodes, joints, loops; // of the description
	SimFunctions *functions;                  // [function_count]
	int function_count;                       // groups of the simulation
} SimOrigin;

struct Topology; // topology/topology.h

typedef struct SimDevice {
	CalDeviceDef def;                // its name, data and table are in memory
	CalDevice is;                    // what its functions get; x: of the evaluation at hand
	double *x;                       // [nx] between steps
	int x_at;                        // place of x among the states of all devices
	int value_at;                    // place of its values among those of all
	bool off;                        // switched off
	bool active;                     // it has found its objects and is not switched off
	CalDofRef on;                    // all that it reads and acts on (CalDeviceOps.one_dof); group -1: it may be more
	CalNodeRef at[CAL_DEVICE_NODES]; // the same by nodes (CalDeviceOps.nodes)
	int at_count;                    // 0: it may be more
	bool started;                    // its initial states are set
	bool fresh;                      // scratch: since the call at hand
	bool not_loaded;                 // it stands in the place of a shared object
	void *library;                   // that its functions come from (cal_sim_load_device), NULL: none
	void (*close_library)(void *library);
	void *memory;
} SimDevice;

typedef struct SimEvent {
	CalEventDef def; // its name is in memory
	int value_at;    // place of its value, -1: by time
	int64_t happened;
	double last; // when, NAN: never
	bool spent;  // by time: it is past
	bool due;    // scratch
	double was;  // scratch: its value before actions
	void *memory;
} SimEvent;

enum { ACCOUNT_DISSIPATED, ACCOUNT_SUPPLIED, ACCOUNTS }; // energies that are states after those of the devices

enum { PROBES = 6 }; // vectors that stability.c needs; accuracy.c keeps a state there

enum { PUSHED_BY_DEVICE = 1, PUSHED_BY_INPUT = 2, PUSHED_BY_ANY = 3 };

/* What the method takes from oscillations (accuracy.c). */
typedef struct SimDamping {
	double total; // sum of the shares of the amplitude, of steps up to the last row
	double loss;  // share of the amplitude in a step of the last row, 0: none that counts
	double speed; // amplitude of that oscillation
	int64_t at;   // steps then
	double worst; // the largest loss of all rows until there is a doubt,
	double rate;  // of that oscillation [rad/s],
	char object[96];
} SimDamping;

/* Errors of fixed steps over jumps of forces (jumps.c). */
typedef struct SimJumps {
	int64_t count;    // steps over jumps,
	int64_t measured; // of which so many were taken again
	double sum;       // of their errors
	double time;      // of the first
	double worst;     // error of one, and
	char object[96];  // its device
} SimJumps;

/*
 * What groups (SimGroup.energy) and devices hold at a state (balance.c). Observers ask for it several times a sample; it is
 * kept as long as the states are these, bit by bit, since devices are functions of them: of a group its own state, of devices
 * those of all groups and devices. sim_bind() begins anew.
 */
typedef struct SimHoldings {
	CalState at;             // states of groups and devices,
	double *d;               // [nd] with the discrete ones
	int nd;                  //
	bool devices_known;      // what devices hold there:
	double stored;           // [J]
	CalVec3 linear, angular; // momentum
} SimHoldings;

enum { TRAIL = 5 }; // states in a row from which an oscillation is detected

/** All groups and devices as one system. */
typedef struct SimSystem {
	int nq, nu, nx;             // of all; nx with the accounts
	int value_count;            // values whose signs are watched, of devices and events
	int wrench_capacity;        // of each group
	CalState now, before;       // states of all; the one before the step at hand
	CalState after;             // at its end, while it is watched from within
	double *udot, *udot_at;     // [nu] largest accelerations ahead, and scratch
	bool watching;              // a device or an event uses the lookahead: steps are watched from within
	bool all_ahead;             // and all do that have values
	int chattered;              // changes of sign that followed one another at once
	double crossed_at;          // the last one
	int crossed_value;          // and which value it was
	int64_t stalled;            // steps since stalled_at
	double stalled_at;          // a time since which next to nothing has passed
	CalState *states;           // [group_count] the states of the groups, for contexts between steps
	CalInput *inputs;           // [group_count] of observers
	double *xdot;               // [nx] of observers
	double *value, *value_next; // [value_count] at the start and at the end of a step
	double *value_end;          // [value_count] scratch
	double *probe;              // [PROBES (2 nu + nx)] scratch of stability.c and accuracy.c
	double *trail;              // [TRAIL nu] speeds after steps in a row (accuracy.c)
	double trail_time;          // of the last one
	int trail_count;            // below 0: so many steps until the next row
	bool values_known;          // value is that of the present states
	int soft_count;             // values that fixed steps do not end at (jumps.c),
	double *soft_value;         // [soft_count] at the start of a step
	double *soft_next;          // [soft_count] and at its end
	CalState soft_start;        // the state at its start; only where there are such values
	bool soft_known;            // both are those of the present states
	SimHoldings held;           //
	CalIntegrator *integrator;  //
	void *memory;               // the block that all of the above are in
	size_t capacity;            // its size

	int *group_of[MODEL_KIND_COUNT]; // [id_count] group that has the object of an id, -1: none; in the block too
	int id_count[MODEL_KIND_COUNT];  // largest id + 1
} SimSystem;

/* Sums of squares, of errors of accelerations and of accelerations (formulation.c). */
typedef struct SimErrorSums {
	double error, all;
} SimErrorSums;

/* System matrices that are held between updates (formulation.c). */
typedef struct SimFormulation {
	CalFormulationOptions options;
	CalSystemForm **forms;       // [group_count]; NULL: order N
	bool due;                    // there is an update before the next step, whatever the time is
	double next;                 // time of the next one
	int64_t updates;             //
	SimErrorSums delayed;        // of retained modes, before updates
	SimErrorSums last;           // before the last one
	double largest, largest_all; // error, acceleration
	double largest_time;         // of the former
	double missing_energy;       // the largest [J]
	double energy_removed;       // [J]
	double energy;               // kinetic and strain energy, the largest [J]
} SimFormulation;

/* An input beside those of the run, while the simulation is linearized (analysis/). */
typedef enum SimProbeKind {
	PROBE_NONE,
	PROBE_EFFORT,  // on degree of freedom `dof` of `group`
	PROBE_WRENCH,  // `wrench` times value on a node of `group`
	PROBE_COMMAND, // added to the command `name` of a device
} SimProbeKind;

typedef struct SimProbe {
	SimProbeKind kind;
	double value;
	int group, dof;
	CalWrench wrench; // of value 1
	const void *data; // of the device
	const char *name; //
	bool met;         // the device has asked for the command
	char others[120]; // commands that it has asked for beside it, for messages
} SimProbe;

struct CalSim {
	CalAllocator allocator;
	CalIntegratorOptions method;
	CalPluginPolicy plugins;  // of shared objects
	const volatile int *stop; // nonzero: advances end after the step at hand; NULL: none
	int input_wrenches;
	double event_tolerance;
	double assembly_limit; // cal_sim_restart() refuses to move what was stated further
	CalSolver solver;
	CalBranchOptions partition; // of every group; branches below 2: in one piece
	struct WorkerPool *pool;    // NULL: the caller's thread alone
	struct Topology *topology;  // NULL until cal_sim_reserve()
	SimOrigin origin;           //
	SimGroup *groups;
	CalSystemPart *parts; // [group_count] for the integrator
	int group_count;
	SimDevice *devices;
	int device_count, device_capacity;
	SimEvent *events;
	int event_count, event_capacity;
	NameIndex device_names, event_names; // values: index + 1
	SimSystem system;
	struct SimSubsystems *subsystems; // compiled subsystems (subsystem.h), NULL: none
	struct SimRanks *ranks;           // it is distributed (distribute.c), NULL: all is here
	double account[ACCOUNTS];         // between steps
	double start_energy;              // of groups and devices
	int unaccounted;                  // SimGroup.unaccounted, of groups that are no more
	int refused_group;                // whose input refused, -1: none
	int failed_device;                // that failed, -1: none
	char why_failed[320];             // in its own words, or ""
	int64_t generation;               // counts changes of topology
	int started;                      // cal_sim_restart() has taken the monitors' start
	bool moving;                      // within an advance
	bool inputs_known;                // system.inputs are those of the present states (cal_sim_observe_also)
	bool restored;                    // from a checkpoint, and not advanced since
	bool adding; // between cal_sim_begin_adding() and cal_sim_end_adding(): new devices and events have no place yet
	double start_time;
	double wall_s, cpu_s;
	CalIntegratorStats past; // of integrators before the present one
	CalIntegratorStats start_stats;
	SimFormulation formulation;
	SimProbe probe; // of observers alone
	SimDoubts doubts;
	double energy_moved;       // the largest of kinetic energy and accounts that was seen [J]
	int64_t shortened_steps;   // fixed steps that the end of an advance cut short
	double shortened_smallest; // the shortest of them [s]
	int64_t probed_at;         // evaluations at the last check of the stability
	bool probed;               // there was one
	CalDoubt coarse;           // value: the largest change in a step that it does not resolve; 0: none (accuracy.c)
	int64_t coarse_at;         // steps then
	SimDamping damping;        //
	SimJumps jumps;            //
	double fastest;            // the largest speed that was seen
	CalWatchFn watch;          // NULL: nobody watches
	void *watch_user;
	double watch_due;                            // the first step that ends then or later is shown
	bool (*comes)(void *user, const char *name); // while devices are added: whether one of that name will be; NULL: no
	void *comes_user;
};

/** The simulation at one instant as devices see it. */
struct CalEvalContext {
	CalSim *sim;
	double t;
	const CalState *parts; // [group_count]
	const double *x;       // of all devices
	const double *udot;    // [nu of all] accelerations ahead; NULL: not known
	CalInput *inputs;      // [group_count]; NULL: no force can be applied
	bool viewing;          // on the observers' workspaces
	bool partial;     // forces of ties are not wanted, or inputs of groups, on which they depend, were not asked for
	CalStatus status; // of the first failure
	int device;       // at hand
	int room;         // wrenches that it may still apply
	int asking;       // devices whose outputs are being asked for, one by the other
	double stored, dissipated, supplied;
	CalVec3 linear, angular;
};

enum {
	CONTEXT_OUTPUTS = 64,
	CONTEXT_MAX_DEPTH = 8
}; // outputs of a device that others can read; devices that ask each other

/** Methods that need a step size; the others choose their own. */
static inline bool method_is_fixed(CalMethod method) {
	const CalMethodInfo *info = cal_method_info(method);
	return info && !info->adaptive;
}

/* ---- groups (sim.c, group_partition.c, monitor.c, assemble.c) --------------------------------------- */

/** Takes the memory of a group that has its model, and sets up everything in it at the neutral state. */
CalStatus group_place(SimGroup *group, const CalSim *sim);
/** Divides a group that has its model into branches, where that pays; makes the worker pool with the first one. */
CalStatus group_partition(SimGroup *group, CalSim *sim);
/** Releases its branches, its model and its memory. */
void group_release(SimGroup *group, const CalSim *sim);
/** Asks the group's input and notes what it may change. */
int group_input(SimGroup *group, const CalState *state, CalInput *input);
/** Decides energy_free and momentum_free, and fills root_dof. */
void group_classify(SimGroup *group);
/** Moves the state to the nearest one that the loops allow; an error names the rows that are left. Notes what moved. */
CalStatus group_assemble(SimGroup *group, CalProjectReport *left, CalError *error);
/** ", row pin.dx is off by 0.2 m" of the row with the largest residual that the integrator's workspace holds, or "". */
void group_worst_row(const SimGroup *group, char *text, size_t size);
/** Its last forward dynamics had no result because inertias along a loop differ by too much. */
bool group_lost_digits(const SimGroup *group);
/** Errors of accelerations so far are those of an earlier run. */
void examine_forget_loops(SimGroup *group);
/** Takes the present state as the start of the monitors. */
CalStatus group_start(SimGroup *group);
/** Sets the state of a group whose motion is given. */
CalStatus group_impose(SimGroup *group);

/* ---- checkpoints (sim_origin.c) ----------------------------------------------------------- */

/** What a description is, without the functions. */
SimOrigin origin_of(const CalDesc *desc);
/** Notes who gave the functions of a group. */
void origin_note_input(CalSim *sim, int group);
void origin_note_motion(CalSim *sim, int group);
/** Gives a restored group the functions that it had. */
void origin_give(const CalSim *sim, SimGroup *group);
/** True if a function that was given during the run has not been given again. */
bool group_lacks_function(const SimGroup *group);

enum { ORIGIN_DESCRIPTION, ORIGIN_OPTIONS, ORIGIN_CAPACITY, ORIGIN_DEVICES, ORIGIN_EVENTS, ORIGIN_COUNT };

/* Fingerprints of all that a simulation is made of. */
typedef struct Fingerprints {
	uint64_t of[ORIGIN_COUNT];
} Fingerprints;
Fingerprints fingerprints_of(const CalSim *sim);

/* ---- the system (sim_system.c) ----------------------------------------------------------------- */

/** Lays out everything that depends on all groups and devices, binds devices, makes the integrator. */
CalStatus sim_bind(CalSim *sim);
void sim_release_integrator(CalSim *sim);
/** Memory for a system of so many groups and dofs (of all groups, 7 for each body that flies freely), and taking it. */
size_t sim_room(CalSim *sim, int groups, int dofs);
CalStatus sim_make_room(CalSim *sim, size_t size);
/** Makes sure that sim_bind() will have room with these groups beside the present ones. */
CalStatus sim_fit(CalSim *sim, const SimGroup *made, int count);
/** States of groups and devices to system.now, and back. */
void sim_gather(CalSim *sim);
/* The group that has a body, joint, node or loop; of nodes of the ground the first group. -1: none has. */
int sim_group_of(const CalSim *sim, ModelKind kind, uint32_t id);
/* A joint as it was given, whichever way it is passed now; NULL: before cal_sim_reserve(), when it is as in its model. */
const CalJointDef *sim_joint_def(const CalSim *sim, CalJointId joint);
void sim_scatter(CalSim *sim);
/** Counts since the simulation was made. */
CalIntegratorStats sim_counts(const CalSim *sim);

/* ---- evaluation contexts (eval_context.c) ---------------------------------------------------- */

/** A context at the present states of groups and devices on which no force can be applied. */
CalEvalContext context_now(CalSim *sim, bool viewing);
/* The states of a device that a call in a scene of context_now() has changed, for the devices after it. */
void scene_renew_device(CalEvalContext *context, const SimDevice *device);
/** The same while devices are added; nothing is gathered, and no states of devices are in it. */
CalEvalContext context_adding(CalSim *sim);
/** A device's view of a context. */
CalDevice context_device(const CalEvalContext *context, const SimDevice *device);
/** The workspace of a group with its kinematics; NULL after noting that they failed. */
CalWork *context_work(CalEvalContext *context, int group);
/** Notes the failure of a device and returns its status. */
CalStatus context_failed(CalEvalContext *context, int device, int code);
/**
 * An output of a device, of the first CONTEXT_OUTPUTS; 0 while it rests. CAL_ERR_USER if devices ask each other in a
 * ring.
 */
CalStatus context_output(CalEvalContext *context, int device, int output, double *value);
/**
 * A group with its accelerations for a device that samples: forces of devices are those of the instant, of devices before it
 * that sample at the same time already the new ones. What the context knew of kinematics is computed anew.
 */
CalStatus context_observe(CalEvalContext *context, int group, CalSimView *view);
/** Notes why a formula could not be bound (sim->why_failed). */
void context_note_unbound(const CalEvalContext *context, const char *why);
/** A CalSystemFn: inputs of all groups, devices, accounts. user is the CalSim. */
CalStatus sim_evaluate_inputs(void *user, const CalState *state, const CalState *parts, CalInput *inputs, double *xdot);
/** The same at the present states for observers, into system.inputs; inputs of groups only if asked for. */
CalStatus sim_evaluate_for_observers(CalSim *sim, bool with_inputs, CalEvalContext *context);
/**
 * What acts on the one group of a simulation at a state, states of devices in its x: the input is valid until the next call,
 * rates are in system.xdot, accounts in the context. States of the simulation are neither read nor changed.
 */
CalStatus sim_evaluate_at(CalSim *sim, const CalState *state, CalInput *input, CalEvalContext *context);

/** A device has this command: the probe, if it is on it, is added. Its limits do not matter to the probe. */
void context_probe(const CalEvalContext *context, const CalDevice *device, const char *name, double *command);

/** A CalSystemScaleFn: the kinetic energy of all groups. user is the CalSim. */
double balance_scale(void *user, const CalState *state);
/** Takes the present energy as the start of the balance. */
CalStatus balance_start(CalSim *sim);
/** Energy and momentum of a group at its present state. */
void balance_hold(CalSim *sim, SimGroup *group);
/** Energy of a group, or held in all devices, that counts in the balance now; of devices 0 before the start. */
double balance_energy(SimGroup *group);
double balance_stored(CalSim *sim);
/** Notes that groups and devices have lost energy at an instant: as dissipated, or as supplied where they gained it. */
void balance_add_loss(CalSim *sim, double lost);

/** Notes it if the last step was cut short by the end of an advance (examine.c). */
void examine_note_shortened_step(CalSim *sim);
/** Adds a doubt if the fixed step is beyond what is stable at the present state (stability.c). */
void stability_examine(CalSim *sim);
/** "joint \"elbow\"" or "mode 2 of body \"boom\"", of a speed among all groups (stability.c). */
void sim_name_dof(const CalSim *sim, int u, char *text, size_t size);
/** The model of degree of freedom u of all groups, and its number there; NULL: there is none. */
const CalModel *sim_model_of_dof(const CalSim *sim, int u, int *own);
/** Whether the next step is to be shown to accuracy_note_step(), and that. */
bool accuracy_wants_steps(const CalSim *sim);
void accuracy_note_step(CalSim *sim, const CalState *state);
/** Finds what a fixed step does not resolve at the present state (accuracy.c), */
void accuracy_probe(CalSim *sim);
/** and adds or withdraws the doubt that it deserves. */
void accuracy_check(CalSim *sim);
/** How many values of devices fixed steps of the method do not end at, though forces may jump there (jumps.c). */
int jumps_value_count(const CalSim *sim);
/** Before a step, unless the last one was noted; after one, with its end in the states of the groups and of the system. */
void jumps_begin(CalSim *sim);
void jumps_note_step(CalSim *sim);
/** Adds or withdraws the doubt about jumps. */
void jumps_check(CalSim *sim);

/** The next time after t at which something jumps, or INFINITY. */
double sim_next_switch(const CalSim *sim, double t);
/** One step, or all of them, to the limit at most. */
CalStatus sim_move(CalSim *sim, double limit, bool single, CalError *error);
/** Parameter `index` of a device, its range complete; NULL: it has fewer (devices.c). */
double *device_parameter_at(const SimDevice *device, int index, CalDeviceParameter *about);
/** The same of a simulation on ranks (distribute.c). */
CalStatus distribute_move(CalSim *sim, double limit, bool single, CalError *error);
/** Of an evaluation whose accounts are not finite, on one rank of several. */
void distribute_note_failure(CalSim *sim);
void distribute_end(CalSim *sim);
/** Within an advance of which this rank knows the states of its own branches alone: */
bool distribute_is_partial(const CalSim *sim);
/** motions of nodes that devices read, before an evaluation at the states of the groups; */
CalStatus distribute_exchange_motions(CalSim *sim, const CalState *parts);
/** whether a device is evaluated here, whether its accounts count, and a node that it reads. */
bool distribute_has_device(const CalSim *sim, int device);
bool distribute_owns_device(const CalSim *sim, int device);
CalStatus distribute_node_motion(const CalSim *sim, int device, CalNodeRef node_ref, CalPose *pose,
                                 CalSpatial *velocity);
/**
 * With other groups than before (the same on all ranks): branches for those that have none, and where these are. If there
 * is no memory for them this rank counts as lost. Before sim_bind().
 */
void distribute_renew(CalSim *sim);
/** The same where devices were bound anew. */
void distribute_renew_devices(CalSim *sim);
/** Once all is as it is to be after a change: where to go back to if a rank is lost. */
void distribute_save(CalSim *sim);
/** Before a group is released: what its branches have sent. */
void distribute_keep_counts(const CalSim *sim, const SimGroup *group);

/* ---- held system matrices (formulation.c) -------------------------------------------------------- */

/** What does not go with CAL_FORMULATION_SYSTEM: options of a simulation; `what` in a simulation that has it. */
CalStatus formulation_check(const CalSimOptions *options, CalError *error);
CalStatus formulation_refuse(const CalSim *sim, const char *what, CalError *error);
CalStatus formulation_create(CalSim *sim, CalError *error);
void formulation_release(CalSim *sim);
/** Errors and updates are counted from here. */
void formulation_restart(CalSim *sim);
/** The time of the next update, or INFINITY; the limit, if it is there but for roundings. */
double formulation_next(const CalSim *sim, double limit);
/** Makes an update between steps, if one is due. */
CalStatus formulation_update(CalSim *sim);
/** Adds or withdraws the doubt that the errors deserve. */
void formulation_examine(CalSim *sim);
void formulation_walk(CalSim *sim, Serializer *archive);
void formulation_restore(CalSim *sim); // once it has been read

/* ---- devices (devices.c) ---------------------------------------------------------------------- */

/** How many of its values are watched by the method of the simulation. */
int device_values(const CalSim *sim, const SimDevice *device);
/** Initial states of devices that have none yet. */
CalStatus sim_start_devices(CalSim *sim);
/** The next time after t at which a device jumps or samples, or INFINITY. */
double devices_next_switch(const CalSim *sim, double t);
/** Calls sample() of those whose time is t. */
CalStatus devices_sample(CalSim *sim, double t);
/** Steps fell below `step`: notes the device that says that it is the reason as the one that failed, if there is one. */
void devices_explain_small_step(CalSim *sim, double step);

/* ---- drives (driven_dofs.c): devices that give degrees of freedom as functions of time ------------ */

/** Finds what the active devices drive, and informs the integrator; when devices have been bound. */
void drives_bind(CalSim *sim);
/** Accelerations of what a device drives, into the inputs of a context. */
CalStatus drives_act(CalEvalContext *context, const SimDevice *device);
/** A CalSystemDoneFn: the work of drives, into the accounts. user is the CalSim. */
void drives_account(void *user, double *xdot);
/** Sets the states of groups to their drives; a start that was given otherwise is a doubt. */
CalStatus drives_start(CalSim *sim);
CalStatus drives_start_group(CalSim *sim, int group); // what one group needs of it
/** How far from a kink at t a function is surely on one side of it: on the kink itself it may be on either. */
static inline double drive_beside(double t) { return 1e-12 * fmax(1, fabs(t)); }
/** At a time at which devices jump: a drive whose coordinate or speed does is a doubt. */
void drives_switch(CalSim *sim, double t);
/** Of a device that is switched on: CAL_ERR_ARGUMENT if it would make its joint jump. */
CalStatus drives_fit(CalSim *sim, int device, CalError *error);

/* ---- driven constraint equations (loop_drive.c) ------------------------------------------------------- */

struct Loop;

/** The next time after t at which the function of a row jumps or has a kink, or INFINITY; of one loop, and of all groups. */
double loop_next_switch(const struct Loop *loop, double t);
double loop_drives_next_switch(const CalSim *sim, double t);
/** At such a time: a function whose value or speed jumps is a doubt. */
void loop_drives_switch(CalSim *sim, double t);
/** Names a row whose function is not finite about now; false: there is none. */
bool loop_drives_fault(const CalSim *sim, char *text, size_t size);
bool loop_drives_fault_of(const CalSim *sim, int group, char *text, size_t size); // the same of one group

/* ---- compiled subsystems (subsystem.c) ----------------------------------------------------------------- */

/** Whether some of them clean up their states after every step, and that. */
bool subsystems_commit_steps(const CalSim *sim);
CalStatus subsystems_commit(CalSim *sim);
/** When devices have been bound: which ties there are at present, and what solves for them. */
CalStatus subsystems_plan(CalSim *sim);
/** Before the start: components go where they are attached. After it: ties are closed, or the one that is open is named. */
CalStatus subsystems_fit(CalSim *sim);
CalStatus subsystems_start(CalSim *sim);
/** Of a device that is switched on: CAL_ERR_ARGUMENT if it is a component whose ties are apart. Its speeds may differ. */
CalStatus subsystem_fits(CalSim *sim, int device, CalError *error);
/** Whether impulses reach all subsystems. */
bool subsystems_take_impulses(const CalSim *sim);
/**
 * After speeds of a group have jumped: those of all others that ties connect with it jump too. Returns the energy lost by
 * that, which the balance has.
 */
double subsystems_pass_impulse(CalSim *sim);
/** The name of the first one that is active; NULL: none is. */
const char *subsystems_first(const CalSim *sim);
void subsystems_release(CalSim *sim);

/* ---- events (events.c) ------------------------------------------------------------------------- */

/** Values at the present states. */
CalStatus events_values(CalSim *sim, double *value);
/** The next time event after t, or INFINITY. */
double events_next_time(const CalSim *sim, double t);
/** True if something is due at the present time without a crossing: by its time, or by its level at the start. */
bool events_due(const CalSim *sim);
/**
 * Lets happen what is due at the present time: values that changed sign since system.value, and what events_due()
 * means.
 */
CalStatus events_happen(CalSim *sim, bool crossed, CalError *error);
/** True if a value that is watched changed sign from system.value to system.value_next. */
bool events_crossed(const CalSim *sim);
/**
 * Moves everything from system.before to just after the first crossing, which is between two times from there:
 * system.value is known at the first, system.value_next at the second. t_end: end of the step that it was found in.
 */
CalStatus events_locate(CalSim *sim, double from, double to, double t_end);
/** Whose value k is: of a device, which returns its number there, or of an event; -1 each otherwise. */
int events_owner(const CalSim *sim, int k, int *device, int *event);
/** How exactly crossings are located now [s]. */
double events_tolerance(const CalSim *sim);
/** The solution a time s after the start of the step, in the states of all groups. */
CalStatus events_state_at(CalSim *sim, double s);

/* ---- watching a step (step_watch.c) ------------------------------------------------------------- */

/** Finds out whether a lookahead is in use, and the method is one that can be watched. */
void watch_prepare(CalSim *sim);
/** For how long, up to span, all is clear at the present states and the accelerations in system.udot. */
CalStatus watch_ahead(CalSim *sim, double span, CalLookahead *all);
/**
 * After a step from system.before to system.now: finds changes of sign within it, as closely as the devices ask.
 * The step is made shorter where that is needed. *crossed: everything is just after the first, and values are of both
 * sides.
 */
CalStatus watch_step(CalSim *sim, bool *crossed);

#endif
