// SPDX-License-Identifier: Apache-2.0
/*
 * setup.h — what a CalSetup holds, and what its files share.
 *
 * Lists grow as arrays of the allocator; what their entries point to is copied into a pool, which is released as a whole.
 * A call that fails may leave unused bytes in the pool, nothing else.
 */
#ifndef CALDER_SETUP_SETUP_H
#define CALDER_SETUP_SETUP_H

#include <calder/setup.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/memory_pool.h"
#include "base/name_index.h"
#include "base/suggest.h"

/** The state of a joint. */
typedef struct StateEntry {
	CalJointId joint;
	const char *name;  // of the joint
	int nq, nu, modes; // of the joint, and of the body that it carries
	CalStateDef def;   //
} StateEntry;

typedef struct LoadEntry {
	CalLoadDef def;   //
	CalJointId joint; // of a load on dofs or modes: the joint, or that which carries the body; {0}: a wrench
	const char *name; // of that joint
	int first;        // of its dofs, counted from the first speed of the joint on; modes follow the speeds
	int nu, modes;    // speeds of the joint, modes of the body that it carries
} LoadEntry;

typedef struct DeviceType DeviceType; // device/device_type.h

typedef struct DeviceEntry {
	const DeviceType *type;
	const char *name;
	const void *def; // its definition
} DeviceEntry;

/** What is known of an action besides its definition. */
typedef struct ActionNote {
	const char *text; // in words
	int line;         // that its place names; 0: none
} ActionNote;

typedef struct EventEntry {
	CalSetupEvent def;
	ActionNote *notes; // [def.action_count]
} EventEntry;

/** A joint, a body or a group that an action makes; each name once. */
typedef struct MadeObject {
	char what;                  // 'j', 'b' or 'g'
	const char *name;           //
	const CalActionDef *action; // the first that makes it
} MadeObject;

typedef struct VisualList {
	CalVisual *items;
	int count, capacity;
} VisualList;

typedef struct TextList {
	const char **items;
	int count, capacity;
} TextList;

/** An object that the setup destroys. */
typedef struct KeptObject KeptObject;
struct KeptObject {
	KeptObject *next;
	void *object;
	CalDestroyFn destroy;
};

struct CalSetup {
	CalAllocator allocator;
	Pool pool; // of what entries point to
	CalDesc *desc;
	const char *name;
	KeptObject *kept;  // the last one first
	KeptObject source; // what the reader leaves for the writer; object NULL: nothing
	StateEntry *states;
	int state_count, state_capacity;
	int *state_of; // [state_of_count] by joint: index in states + 1, 0: none
	int state_of_count, state_of_capacity;
	LoadEntry *loads;
	int load_count, load_capacity;
	DeviceEntry *devices;
	int device_count, device_capacity;
	NameIndex device_names; // values: index + 1
	CalMotionDef *motions;
	int motion_count, motion_capacity;
	CalSubsystemUse *subsystems; // compiled
	int subsystem_count, subsystem_capacity;
	CalLoopId *open_loops;
	int open_loop_count, open_loop_capacity;
	EventEntry *events;
	int event_count, event_capacity;
	NameIndex event_names; // values: index + 1
	MadeObject *made;
	int made_count, made_capacity;
	VisualList *visuals; // [visual_count] by body, the ground's first
	int visual_count, visual_capacity;
	CalSetupInstance *instances;
	int instance_count, instance_capacity;
	TextList interface_nodes, sources, warnings;
	const char *format; // of the robot file; NULL: none
	CalImportNote *import_notes;
	int import_note_count, import_note_capacity;
	CalRunSettings run;
	CalViewSettings view; // if has_view
	bool has_view;
};

/* ---- copies (setup.c) ------------------------------------------------------------------------- */

/** "NAME: out of memory" and CAL_ERR_MEMORY. */
CalStatus setup_no_memory(const CalSetup *setup, CalError *error);
/** Puts a copy in the place of *text, or of *items [count] of size bytes each; NULL stays. False: out of memory. */
bool setup_copy_text(CalSetup *setup, const char **text);
void *setup_copy_array(CalSetup *setup, const void *items, size_t count, size_t size);
bool setup_copy_doubles(CalSetup *setup, const double **values, size_t count);
bool setup_copy_table(CalSetup *setup, CalTable *table);
bool setup_copy_function(CalSetup *setup, CalTimeFunction *function);
/** Appends a copy; false: out of memory. */
bool setup_append_text(CalSetup *setup, TextList *list, const char *text);

/** Makes room for one more in a list of the setup; false: out of memory. */
#define SETUP_ROOM(setup, list)                                                                             \
	setup_room(setup, (void **)(void *)&(setup)->list##s, (setup)->list##_count, &(setup)->list##_capacity, \
	           sizeof *(setup)->list##s)
bool setup_room(const CalSetup *setup, void **array, int count, int *capacity, size_t size);

/** Index + 1 of a name, 0: it is not there; name_at(setup, index) is the name of an entry. */
uint32_t setup_find_name(const CalSetup *setup, const NameIndex *index, const char *name,
                         const char *(*name_at)(const CalSetup *setup, uint32_t index));

/** What the reader leaves for the writer; released before, or with the setup. */
void setup_set_source(CalSetup *setup, void *source, CalDestroyFn destroy);

/* ---- the description as the setup needs it (setup_state.c) ---------------------------------------- */

/** The body that a joint carries, {0}: none. */
CalBodyId setup_joint_body(const CalDesc *desc, CalJointId joint);
/** The joint that carries a body, {0}: none. */
CalJointId setup_body_joint(const CalDesc *desc, CalBodyId body);
/** Modes of a body, 0: it is rigid. */
int setup_body_modes(const CalDesc *desc, CalBodyId body);
int setup_joint_speeds(const CalDesc *desc, CalJointId joint);
bool setup_has_node(const CalDesc *desc, CalNodeId node); // the ground too

/* ---- devices (setup_device.c) ---------------------------------------------------------------------- */

/** Index of a device, -1: there is none of that name. */
int setup_find_device(const CalSetup *setup, const char *name);
/** CAL_ERR_MODEL: devices that are not sampled read each other in a ring (setup_device_loops.c). */
CalStatus setup_check_device_loops(const CalSetup *setup, CalError *error);

/* ---- actions (setup_action.c) ---------------------------------------------------------------------- */

/** Puts a copy in the place of an action, with the names that were left out, and checks what can be checked at once. */
CalStatus setup_copy_action(CalSetup *setup, const CalSetupEvent *event, CalActionDef *action, ActionNote *note,
                            CalError *error);
/** Notes what an action makes; false: out of memory. */
bool setup_note_made(CalSetup *setup, const CalActionDef *action);
const MadeObject *setup_find_made(const CalSetup *setup, char what, const char *name);
/** Checks the names of its objects. */
CalStatus setup_check_action(const CalSetup *setup, const EventEntry *event, const CalActionDef *action,
                             CalError *error);

#endif
