// SPDX-License-Identifier: Apache-2.0
/*
 * signals.h — the quantities that `calder run` can record, by name.
 *
 *   q, u, udot             coordinates, speeds, accelerations of all joints; q:JOINT of one
 *   force                  generalized forces on the dofs of all joints: loads, and what driven ones need; force:JOINT
 *   energy, momentum       of each group (momentum: linear, and angular about the origin)
 *   pose                   position and quaternion (w,x,y,z) of all nodes; pose:PATH of one
 *   velocity, acceleration linear and angular, of all nodes, world axes; velocity:PATH of one
 *   node:PATH              pose and velocity of a node
 *   wrench:PATH            what loads apply at a node, moment and force, world axes
 *   deflection:PATH        how far a node of a flexible body is off its place, and turned (rotation vector), body axes
 *   reaction               wrench through every joint on its outboard body, world axes; reaction:JOINT of one
 *   loop:LOOP              wrench of a loop on its second side at the origin of frame B, world axes (knife: on its first)
 *   residual               how far the constraint equations of all loops are from zero; residual:LOOP of one
 *   multiplier             force of every constraint equation, of a driven one that of its drive; multiplier:LOOP of one
 *   device                 outputs of all devices; device:NAME of one
 *   event                  how often each event has happened so far; event:NAME of one
 *   balance                energy balance of all groups and devices
 *   total_momentum         of all groups and devices together: linear, and angular about the world's origin
 *
 * Columns stay what they are when the topology changes: objects are looked up again by their ids. What is not there, or is
 * a joint that has become a loop, is NaN. A joint that is passed in the other direction keeps its meaning.
 *
 * A signal becomes one or more columns, each with a name and a unit. The name of a column is a signal too, of that
 * column alone: momentum:Lz, node:arm/tip:x, u:flight.3.
 */
#ifndef CALDER_CLI_SIGNALS_H
#define CALDER_CLI_SIGNALS_H

#include "name_table.h"
#include "panels.h"

typedef enum SignalKind {
	SIGNAL_Q,
	SIGNAL_U,
	SIGNAL_UDOT,
	SIGNAL_FORCE,
	SIGNAL_ENERGY,
	SIGNAL_MOMENTUM,
	SIGNAL_NODE,
	SIGNAL_POSE,
	SIGNAL_VELOCITY,
	SIGNAL_ACCELERATION,
	SIGNAL_WRENCH,
	SIGNAL_DEFLECTION,
	SIGNAL_REACTION,
	SIGNAL_LOOP,
	SIGNAL_RESIDUAL,
	SIGNAL_MULTIPLIER,
	SIGNAL_DEVICE,
	SIGNAL_EVENT,
	SIGNAL_BALANCE,
	SIGNAL_TOTAL,
} SignalKind;

typedef struct Signal {
	SignalKind kind;
	const char *name; // as asked for; lives as long as the caller's
	CalJointId joint; // what it is about
	CalBodyId body;   // of modal coordinates
	CalNodeId node;   //
	CalLoopId loop;   //
	int number;       // of the device or event; of a group's energy: place of its name
	int group;        // where it is now, -1: nowhere
	int index;        // node, loop or body there
	int first, count; // its columns
	int only;         // the one of the values that is wanted, or -1: all of them
	int next;         // next signal of the same group, -1: none
} Signal;

/* Of a column with a coordinate, a speed or a row: which one of its object, and where it is now. */
typedef struct ColumnPlace {
	int of;  // place among those of the joint as defined, of the body's modes, of the loop's rows
	int dof; // of coordinates: dof that it belongs to, -1: part of a quaternion
	int at;  // in the state of the group or among its rows, -1: nowhere
} ColumnPlace;

typedef struct SignalSet {
	Signal *signals;
	int signal_count, signal_capacity;
	Column *columns; // the first is the time
	int column_count, column_capacity;
	ColumnPlace *places; // [column_count]
	int place_capacity;
	NameTable names;     // of signals (value -1) and columns: their place
	int *first, *last;   // [first_count] signals of each group of the simulation, -1: none; linked by Signal.next
	int first_count;     //
	int hint;            // group in which the last object was found
	const char **groups; // names of groups
	int group_count, group_capacity;
	char **texts; // names of columns and groups, of any length
	int text_count, text_capacity;
	char *scratch; // a name that is looked at
	size_t scratch_size;
	double *values;     // scratch: rows of a group, outputs of a device
	int value_capacity; //
	int64_t generation; // of the topology that group, index and places are of
	bool failed;        // out of memory
} SignalSet;

typedef enum SignalFound {
	SIGNAL_FOUND,
	SIGNAL_UNKNOWN,
	SIGNAL_NO_OBJECT,
	SIGNAL_NO_COLUMN,
	SIGNAL_NO_MEMORY,
} SignalFound;

/** The words that signals begin with. */
typedef struct SignalWord {
	const char *word;
	SignalKind kind;
	bool alone, with_object; // may stand alone, may be followed by ":OBJECT"
} SignalWord;
extern const SignalWord signal_words[];
extern const int signal_word_count;

/** Is it about a node, a loop, something that is in no group? Otherwise it is about a joint. */
static inline bool signal_is_of_node(SignalKind kind) { return kind >= SIGNAL_NODE && kind <= SIGNAL_DEFLECTION; }
static inline bool signal_is_of_rows(SignalKind kind) { return kind == SIGNAL_RESIDUAL || kind == SIGNAL_MULTIPLIER; }
static inline bool signal_is_of_loop(SignalKind kind) { return kind == SIGNAL_LOOP || signal_is_of_rows(kind); }
static inline bool signal_is_of_sim(SignalKind kind) { return kind >= SIGNAL_DEVICE; }
static inline bool signal_is_coordinate(SignalKind kind) { return kind <= SIGNAL_FORCE; }

/** The path of a node is body/node, or the body's name alone: *node is then "". False: it is none that signals of all nodes
    count (ground, mass points). */
bool signal_node_names(const CalModel *model, int index, const char **body, const char **node);

/** Starts with the time alone. */
void signals_init(SignalSet *set);
/** Adds a signal, or one of its columns, by name; what is already there is not added again. */
SignalFound signals_add(SignalSet *set, CalSim *sim, const char *name);
/** Says what is wrong with a name that was not found, in words, and the nearest one that there is. */
void signals_complain(char *text, size_t size, CalSim *sim, const char *name, SignalFound found);
/** Looks up the signals from number `from` on; called by signals_add() and, after a change of topology, by signals_sample(). */
void signals_resolve(SignalSet *set, CalSim *sim, int from);
/** Makes room for so many values in set->values; false: out of memory. */
bool signals_make_room(SignalSet *set, int count);
/** Fills row[column_count] with the values now. */
CalStatus signals_sample(SignalSet *set, CalSim *sim, double *row);
void signals_free(SignalSet *set);

#endif
