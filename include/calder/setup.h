// SPDX-License-Identifier: Apache-2.0
/*
 * calder/setup.h — the description of a simulation: a model (calder/build.h) with its initial state, loads, devices,
 * motions, events, visuals and run settings (docs/setup.md).
 *
 * Readers of files fill a setup, and so can C programs; cal_setup_simulate() and cal_scenario_create() (calder/scenario.h)
 * run it. A setup owns its memory: every call copies what it is given, texts, tables and lists included, unless it says
 * otherwise. Build the model first, through cal_setup_edit_desc(): objects are given by the ids of the description, which
 * must be there. What can be checked at once is refused with a message that begins with the `place` of the definition, if it
 * has one, and leaves the setup unchanged; cal_setup_check() checks what several calls give together.
 *
 * Lists and texts that the functions below return belong to the setup; they stay valid until something is added.
 */
#ifndef CALDER_SETUP_H
#define CALDER_SETUP_H

#include <calder/devices.h>
#include <calder/motion.h>
#include <calder/subsystem.h>
#include <calder/transition.h>
#include <calder/view.h>
#include <calder/visual.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalSetup CalSetup;

/** A new setup with an empty description. allocator NULL: malloc. */
CAL_API CalStatus cal_setup_create(const CalAllocator *allocator, CalSetup **setup);
CAL_API void cal_setup_destroy(CalSetup *setup); // accepts NULL

/** The description; it lives as long as the setup. */
CAL_API const CalDesc *cal_setup_desc(const CalSetup *setup);
/** The same, to be filled by the calls of calder/build.h. Add nothing to it once a simulation of the setup was made. */
CAL_API CalDesc *cal_setup_edit_desc(CalSetup *setup);

/**
 * The name that stands for the setup in messages, "setup" by default. It is the path of its file if it has one: files that
 * the model names are in the same folder.
 */
CAL_API CalStatus cal_setup_set_name(CalSetup *setup, const char *name, CalError *error);
CAL_API const char *cal_setup_name(const CalSetup *setup);
CAL_API CalStatus cal_setup_set_title(CalSetup *setup, const char *title, CalError *error);

typedef void (*CalDestroyFn)(void *object);
/**
 * Hands an object over that definitions refer to and that is not copied (a CalMesh, a CalDriveFunction, data of user
 * joints): destroy(object) is called by cal_setup_destroy(), after the description is gone. On failure it stays the
 * caller's. What is not handed over must outlive the setup and its simulations.
 */
CAL_API CalStatus cal_setup_keep(CalSetup *setup, void *object, CalDestroyFn destroy, CalError *error);

/** Checks what single calls cannot: events and objects that events name. Called by cal_scenario_create(). */
CAL_API CalStatus cal_setup_check(const CalSetup *setup, CalError *error);

/* ---- initial state -------------------------------------------------------------------------------- */

/** Coordinates and speeds of a joint, and of the modes of the body that it carries. */
typedef struct CalStateDef {
	const double *q;          // [coordinates of the joint]; NULL: not given. Quaternions (w, x, y, z) are made unit
	const double *u;          // [speeds of the joint]; NULL: not given
	const double *eta;        // [modes of the body]; NULL: not given
	const double *eta_dot;    // [modes of the body]; NULL: not given
	const uint8_t *assumed_q; // [speeds] 1: this coordinate of q is filled in, not known; NULL: none is
	const uint8_t *assumed_u; // [speeds] likewise of u
	const uint8_t *frozen;    // [speeds] 1: closing loops must not move it; NULL: none
	int frozen_modes;         // nonzero: nor the modes
	int guess;                // nonzero: all of it is a guess, which closing loops moves first
	const char *place;        // for messages; may be NULL
} CalStateDef;
/** Each joint has one state: a second one replaces the first. */
CAL_API CalStatus cal_setup_set_state(CalSetup *setup, CalJointId joint, const CalStateDef *def, CalError *error);
CAL_API int cal_setup_state_count(const CalSetup *setup);
/** State `index` in the order given; def may be NULL. */
CAL_API CalStatus cal_setup_state(const CalSetup *setup, int index, CalJointId *joint, CalStateDef *def);

/** Sets q and u of the joints that the setup gives; the others stay as they are. */
CAL_API CalStatus cal_setup_apply_state(const CalSetup *setup, const CalModel *model, CalState *state, CalError *error);
/** q[nu], u[nu]: 1 where the state gives the coordinate, the speed (cal_sim_set_stated), else 0. */
CAL_API CalStatus cal_setup_stated(const CalSetup *setup, const CalModel *model, uint8_t *q, uint8_t *u,
                                   CalError *error);
/** frozen[nu]: 1 where closing loops must not move it (cal_sim_set_frozen), else 0. */
CAL_API CalStatus cal_setup_frozen(const CalSetup *setup, const CalModel *model, uint8_t *frozen, CalError *error);

/* ---- loads ---------------------------------------------------------------------------------------- */

/** What a load does to one degree of freedom or mode. */
typedef struct CalDofLoad {
	int has_effort;       // nonzero: effort is applied
	int has_acceleration; // nonzero: acceleration is prescribed, 0 for a lock; of two such loads the later one counts
	double effort;        // [N m] or [N]
	double acceleration;  // [rad/s^2] or [m/s^2]
} CalDofLoad;

/**
 * A constant load over an interval: on a joint, on the modes of a body, or on a node. Efforts and wrenches add up. A load by
 * tables or formulas is a device: cal_setup_add_device() with a CalAppliedLoadDef.
 */
typedef struct CalLoadDef {
	CalJointId joint;       // a load on all its degrees of freedom; {0}: none
	CalBodyId body;         // a load on modes; {0}: none
	int mode;               // which of them, from 0; -1: all
	const CalDofLoad *dofs; // [dof_count], of both
	int dof_count;          //
	CalNodeId node;         // a wrench; {0}: none
	CalFrame frame;         // of its components
	CalSpatial wrench;      // at the node [N m, N]
	double start, end;      // it acts for start <= t < end [s]
	const char *place;      // for messages; may be NULL
} CalLoadDef;
CAL_API CalLoadDef cal_load_def(void); // at all times, on all modes
CAL_API CalStatus cal_setup_add_load(CalSetup *setup, const CalLoadDef *def, CalError *error);
CAL_API int cal_setup_load_count(const CalSetup *setup);
CAL_API CalStatus cal_setup_load(const CalSetup *setup, int index, CalLoadDef *def);

/** Loads of a setup bound to a model that does not change its topology; a scenario does this by itself. */
typedef struct CalSetupLoads CalSetupLoads;
CAL_API CalStatus cal_setup_loads_create(const CalSetup *setup, const CalModel *model, CalSetupLoads **loads,
                                         CalError *error);
CAL_API void cal_setup_loads_destroy(CalSetupLoads *loads); // accepts NULL
/** A CalInputFn: user is the CalSetupLoads. Does not allocate. */
CAL_API int cal_setup_loads_input(void *user, const CalModel *model, const CalState *state, CalInput *input);
/** The next time after t at which a load switches, or INFINITY. */
CAL_API double cal_setup_loads_next_switch(const CalSetupLoads *loads, double t);

/* ---- devices, motions, compiled subsystems -------------------------------------------------------- */

/**
 * A device of a type by name (docs/devices.md), with its definition of calder/devices.h: "spring" with a CalSpringDef, and so
 * on; "control_moment_gyro" with a CalCmgDef, "applied_load" with a CalAppliedLoadDef, "shared" with a CalSharedDeviceDef.
 * Numbers are checked when it is added to a simulation. Meshes are not copied (cal_setup_keep).
 */
CAL_API CalStatus cal_setup_add_device(CalSetup *setup, const char *type, const void *def, CalError *error);
/** The same by the names of its fields (cal_sim_add_device_of_type): for types without a definition in calder/devices.h too. */
CAL_API CalStatus cal_setup_add_device_of_type(CalSetup *setup, const char *type, const char *name,
                                               const CalFieldValue *values, int count, CalError *error);
CAL_API int cal_setup_device_count(const CalSetup *setup);
/** Name and definition of device `index`, of which type; any place may be NULL. */
CAL_API CalStatus cal_setup_device(const CalSetup *setup, int index, const char **type, const char **name,
                                   const void **def);
/** Where a file defines device `index`, "arm.urdf:12:3"; NULL: not known. */
CAL_API const char *cal_setup_device_place(const CalSetup *setup, int index);
/** Types of devices by number from 0; NULL: no more. */
CAL_API const char *cal_setup_device_type(int index);
/** Adds all devices and compiled subsystems to a simulation of the description. */
CAL_API CalStatus cal_setup_apply_devices(const CalSetup *setup, CalSim *sim, CalError *error);

/** A motion of a group; a group has one. */
CAL_API CalStatus cal_setup_add_motion(CalSetup *setup, const CalMotionDef *def, CalError *error);
CAL_API int cal_setup_motion_count(const CalSetup *setup);
CAL_API CalStatus cal_setup_motion(const CalSetup *setup, int index, CalMotionDef *def);
/** Sets the groups in motion; call it after cal_setup_apply_state(), whose values it keeps. */
CAL_API CalStatus cal_setup_apply_motions(const CalSetup *setup, CalSim *sim, CalError *error);

/** A compiled subsystem from a shared object, or a group of the description as a component (calder/subsystem.h). */
typedef struct CalSubsystemUse {
	const char *name;            // required, unlike those of devices
	const char *library;         // path as it is loaded; NULL: a component, that of ties[0].inner
	const char *file;            // the same as the user names it; NULL: library
	const char *arguments;       // NULL: ""
	const CalSubsystemTie *ties; // [tie_count]
	int tie_count;               //
	const char *place;           // for messages; may be NULL
} CalSubsystemUse;
CAL_API CalStatus cal_setup_add_subsystem(CalSetup *setup, const CalSubsystemUse *use, CalError *error);
CAL_API int cal_setup_subsystem_count(const CalSetup *setup);
CAL_API CalStatus cal_setup_subsystem(const CalSetup *setup, int index, CalSubsystemUse *use);

/** A loop that is open when the run starts; an event may close it. */
CAL_API CalStatus cal_setup_open_loop(CalSetup *setup, CalLoopId loop, CalError *error);
CAL_API int cal_setup_open_loop_count(const CalSetup *setup);
CAL_API CalLoopId cal_setup_opened_loop(const CalSetup *setup, int index); // {0}: no such

/* ---- events ----------------------------------------------------------------------------------------- */

#define CAL_ACTION_LIST(X)                                                                                 \
	X(CAL_ACTION_ATTACH, "attach")             /* a new joint `name` between `from` and `to` */            \
	X(CAL_ACTION_DETACH, "detach")             /* joint `name`; what comes off becomes group `group` */    \
	X(CAL_ACTION_REATTACH, "reattach")         /* an open joint */                                         \
	X(CAL_ACTION_REROOT, "reroot")             /* body `name` becomes the root of its tree */              \
	X(CAL_ACTION_SPLIT, "split")               /* what is tied to body `name` becomes group `group` */     \
	X(CAL_ACTION_LOCK, "lock")                 /* degree of freedom `dof` of joint `name` */               \
	X(CAL_ACTION_UNLOCK, "unlock")             /* likewise */                                              \
	X(CAL_ACTION_LOCK_MODES, "lock_modes")     /* mode `dof` of body `name` */                             \
	X(CAL_ACTION_UNLOCK_MODES, "unlock_modes") /* likewise */                                              \
	X(CAL_ACTION_OPEN, "open")                 /* loop `name` */                                           \
	X(CAL_ACTION_CLOSE, "close")               /* likewise */                                              \
	X(CAL_ACTION_PROPAGATE, "propagate")       /* group `name` from now on as `propagation` */             \
	X(CAL_ACTION_ADD_BODY, "add_body")         /* `body` */                                                \
	X(CAL_ACTION_REMOVE_BODY, "remove_body")   /* body `name` */                                           \
	X(CAL_ACTION_SWITCH_ON, "switch_on")       /* device `name` */                                         \
	X(CAL_ACTION_SWITCH_OFF, "switch_off")     /* likewise */                                              \
	X(CAL_ACTION_RELEASE, "release")           /* group `name`, whose motion ends: it moves by dynamics */ \
	X(CAL_ACTION_SET, "set")                   /* parameter `name` (calder/parameter.h) becomes `value` */ \
	X(CAL_ACTION_STOP, "stop")                 /* the run ends; `name`: why, may be NULL */                \
	X(CAL_ACTION_NOTE, "note")                 /* `name` goes to the log */

typedef enum CalActionKind {
#define CAL_ACTION_ENUM(name, text) name,
	CAL_ACTION_LIST(CAL_ACTION_ENUM)
#undef CAL_ACTION_ENUM
		CAL_ACTION_COUNT
} CalActionKind;
CAL_API const char *cal_action_name(CalActionKind kind); // "attach"; NULL outside the list

/** What an event does. Objects go by name: some of them are made in the run. */
typedef struct CalActionDef {
	CalActionKind kind;         //
	const char *name;           // of the joint, loop, body, device or group that it is about; of STOP and NOTE: a text
	const char *group;          // DETACH, SPLIT: name of the part that comes off; NULL: none; of SPLIT: `name`
	int dof;                    // LOCK, UNLOCK, LOCK_MODES, UNLOCK_MODES: which, from 0; -1: all
	const char *from, *to;      // ATTACH: paths of nodes, "body/node"; NULL: "ground"
	CalJointDef joint;          // ATTACH: its name is not read
	CalAttachOptions options;   // ATTACH, REATTACH
	CalNewBody body;            // ADD_BODY; its group NULL: one of its own name
	CalPropagation propagation; // PROPAGATE; KINEMATIC: by the motion that was added for the group, if there is one
	double value;               // SET; SI
	int ignore;                 // nonzero: a refusal is logged, and the run continues
	const char *place;          // for messages; may be NULL
} CalActionDef;
CAL_API CalActionDef cal_action_def(CalActionKind kind); // dof -1; a weld

/** When something happens: at a time, periodically, when a formula says so, or after another event. */
typedef struct CalSetupEvent {
	const char *name;            // required, unique among events
	double at;                   // [s]; NAN: not at a time
	double every, start;         // period and first time [s]; every 0: not periodic; start NAN: as every
	const char *when;            // formula or condition (docs/expressions.md); NULL: none
	int direction;               // of `when`: +1 upward or becomes true, -1 downward or becomes false, 0 both
	const char *after;           // event that has to happen before, also a later one; NULL: none
	double delay;                // after that [s]
	int once;                    // of `when` and `after`: nonzero: once only
	const CalActionDef *actions; // [action_count]
	int action_count;            //
	const char *place;           // for messages; may be NULL
	const char *when_place;      // of the formula; NULL: place
} CalSetupEvent;
CAL_API CalSetupEvent cal_setup_event_def(void); // at no time; upward; once
/** Formulas are parsed here and bound to the simulation by cal_scenario_create(). */
CAL_API CalStatus cal_setup_add_event(CalSetup *setup, const CalSetupEvent *def, CalError *error);
CAL_API int cal_setup_event_count(const CalSetup *setup);
CAL_API CalStatus cal_setup_event(const CalSetup *setup, int index, CalSetupEvent *def);
CAL_API int cal_setup_find_event(const CalSetup *setup, const char *name); // -1: there is none
/** Room that the actions of all events need beyond what the description has. */
CAL_API CalSimCapacity cal_setup_capacity(const CalSetup *setup);

/* ---- visuals ------------------------------------------------------------------------------------------ */

/** A shape of a body ({0}: of the ground). */
CAL_API CalStatus cal_setup_add_visual(CalSetup *setup, CalBodyId body, const CalVisual *visual, CalError *error);
/** The shapes of a body ({0}: of the ground). Returns how many there are. */
CAL_API int cal_setup_visuals(const CalSetup *setup, CalBodyId body, const CalVisual **visuals);
/** Where a file is that the model names: in the folder of the setup's file, unless its path begins with '/'. 0, or -1: too
 * long. */
CAL_API int cal_setup_locate(const CalSetup *setup, const char *name, char *path, size_t size);

/* ---- view settings -------------------------------------------------------------------------------------- */

/** How runs are looked at; replaces what was set before. Bodies and events must have been added. */
CAL_API CalStatus cal_setup_set_view(CalSetup *setup, const CalViewSettings *view, CalError *error);
/** 0: none were set, and *view is cal_view_settings_def(). */
CAL_API int cal_setup_view(const CalSetup *setup, CalViewSettings *view);

/* ---- run settings --------------------------------------------------------------------------------------- */

/** Signals that are written at one rate. */
typedef struct CalRunStream {
	const char *name;           // "main", "stream2", ... where none is given (NULL)
	const char *file;           // where it is written; NULL: where the program's options say
	double interval;            // [s], 0: every step
	int signal_count;           // 0: the default set
	const char *const *signals; // names as given (docs/format.md), e.g. "q", "energy", "node:arm/tip"
} CalRunStream;

typedef struct CalRunSettings {
	const char *title;                 // may be ""; cal_setup_set_run() takes NULL for the title that the setup has
	double duration;                   // [s]
	CalIntegratorOptions method;       // input and user are not set
	int threads, branches;             // as in CalSimOptions; 0: nothing is said of them
	CalCrossLoops cross_loops;         // likewise
	double assembly_limit;             // likewise
	CalFormulationOptions formulation; // likewise
	int whole_steps; // 1: outputs are taken at the ends of steps, and change no bit of the run; -1: at their times exactly; 0: 1 where devices sample
	int stream_count;            // 0: nothing is said of output
	const CalRunStream *streams; //
} CalRunSettings;
/** How long and by which method to run, and what to record. */
CAL_API CalStatus cal_setup_set_run(CalSetup *setup, const CalRunSettings *run, CalError *error);
CAL_API CalRunSettings cal_setup_run(const CalSetup *setup);

/* ---- where it comes from ---------------------------------------------------------------------------------- */

/** A subsystem that was put together with others (docs/subsystems.md): its objects are in the description under NAME/... */
typedef struct CalSetupInstance {
	const char *name; // "arm1"; of a subsystem of a subsystem "arm1/gripper"
	const char *file; // as the file above it names it
	const char
		*joint; // that carries it; NULL: it was not attached and stands as in its own file, or is a compiled subsystem
	int body_count, interface_node_count; // 0 of a compiled subsystem
	int is_compiled;                      // nonzero: file is a shared object (calder/subsystem.h)
	int is_component;                     // nonzero: it is kept as a component, the group `name` of the simulation
} CalSetupInstance;
/** Compiled subsystems become instances by themselves. */
CAL_API CalStatus cal_setup_add_instance(CalSetup *setup, const CalSetupInstance *instance, CalError *error);
CAL_API int cal_setup_instance_count(const CalSetup *setup);
CAL_API CalStatus cal_setup_instance(const CalSetup *setup, int index, CalSetupInstance *instance);

/** Interface nodes: those at which the model can be attached as a subsystem. Paths in the order given; NULL: no such. */
CAL_API CalStatus cal_setup_add_interface_node(CalSetup *setup, const char *path, CalError *error);
CAL_API int cal_setup_interface_node_count(const CalSetup *setup);
CAL_API const char *cal_setup_interface_node(const CalSetup *setup, int index);

/**
 * Other files that the model was read from: subsystems, modal files, meshes, shared objects, each once, in the order in
 * which they are first named. Paths as they are opened; NULL: no such. For programs that must not overwrite what they read.
 */
CAL_API CalStatus cal_setup_add_source(CalSetup *setup, const char *path, CalError *error);
CAL_API int cal_setup_source_count(const CalSetup *setup);
CAL_API const char *cal_setup_source(const CalSetup *setup, int index);

/** What a reader finds suspicious, "file:line:col: warning: ...": 90 for an angle without unit. NULL: no such. */
CAL_API CalStatus cal_setup_add_warning(CalSetup *setup, const char *text, CalError *error);
CAL_API int cal_setup_warning_count(const CalSetup *setup);
CAL_API const char *cal_setup_warning(const CalSetup *setup, int index);

/** What became of a piece of a foreign file (URDF, MJCF, SDF) that is not in the setup as it stands in the file. */
#define CAL_IMPORT_LIST(X)                                                                                  \
	X(CAL_IMPORT_IGNORED, "ignored") /* it has no effect on the motion, and was left out */                 \
	X(CAL_IMPORT_ASSUMED, "assumed") /* the file leaves something open; the text says what was taken */     \
	X(CAL_IMPORT_CHANGED, "changed") /* taken over in another form; the text says how the motion differs */ \
	X(CAL_IMPORT_MISSING, "missing") /* it changes the motion, and Calder has no such thing */

typedef enum CalImportKind {
#define CAL_IMPORT_ENUM(name, text) name,
	CAL_IMPORT_LIST(CAL_IMPORT_ENUM)
#undef CAL_IMPORT_ENUM
		CAL_IMPORT_COUNT
} CalImportKind;
CAL_API const char *cal_import_name(CalImportKind kind); // NULL outside the list

/** The format of the robot file that it was read from, "urdf", "mjcf", "sdf"; "" (the default): none. */
CAL_API CalStatus cal_setup_set_format(CalSetup *setup, const char *format, CalError *error);
CAL_API const char *cal_setup_format(const CalSetup *setup);

/** One line of the import report. */
typedef struct CalImportNote {
	CalImportKind kind;
	const char *file;    // as it was opened
	int line, column;    // from 1
	const char *element; // "joint \"elbow\"", "joint \"elbow\"/safety_controller", with "@name" for an attribute
	const char *text;    // what and why, and the remedy if there is one
} CalImportNote;
CAL_API CalStatus cal_setup_add_import_note(CalSetup *setup, const CalImportNote *note, CalError *error);
CAL_API int cal_setup_import_note_count(const CalSetup *setup);
/** Note `index` in the order in which they were found. */
CAL_API CalStatus cal_setup_import_note(const CalSetup *setup, int index, CalImportNote *note);

#ifdef __cplusplus
}
#endif
#endif
