// SPDX-License-Identifier: Apache-2.0
/*
 * calder/quantity.h — the catalogue of quantities: all that results, plots, campaigns, formulas and viewers can name.
 *
 * A name is WORD, WORD:OBJECT or WORD:OBJECT.COMPONENT: q, velocity:arm/tip, velocity:arm/tip.wz, q:flight.qw. Two nodes
 * are separated by a comma, the first seen from the second: distance:probe,port, pose:probe,port.x. What concerns no
 * object has components alone: momentum:Lz; with several groups momentum:GROUP.Lz. A name in a formula has parentheses
 * instead of the colon: velocity(arm/tip.wz). The name of every column is the name of a quantity, of that column alone.
 *
 * A CalSampler has columns, found by name in a simulation, and reads their values at any time of the run. Columns stay
 * what they are when the topology changes: objects are looked up again by their ids. A column is NaN as long as its object
 * is not there, or is a joint that has become a loop. A joint that is passed in the other direction keeps its meaning.
 */
#ifndef CALDER_QUANTITY_H
#define CALDER_QUANTITY_H

#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the catalogue ------------------------------------------------------------------------------------------ */

/** What a quantity is about. */
typedef enum CalQuantityAbout {
	CAL_ABOUT_SYSTEM,     // the whole simulation
	CAL_ABOUT_GROUP,      // a group
	CAL_ABOUT_COORDINATE, // coordinates or speeds of a joint, or modes of a body
	CAL_ABOUT_JOINT,      // a joint
	CAL_ABOUT_NODE,       // a node
	CAL_ABOUT_NODES,      // two nodes
	CAL_ABOUT_LOOP,       // a loop
	CAL_ABOUT_DEVICE,     // a device
	CAL_ABOUT_EVENT,      // an event
} CalQuantityAbout;

/** An entry of the catalogue. */
typedef struct CalQuantityInfo {
	const char *word;              // that its names begin with
	const char *doc;               // what it is, in one sentence
	CalQuantityAbout about;        //
	const char *object;            // how its object is written: "JOINT", "NODE", "A,B"; "": there is none
	int component_count;           // 0: they depend on the object
	const char *const *components; // [component_count] names; "" for a single one without
	const char *const *units;      // [component_count]
	int of_all;                    // nonzero: the word alone stands for all objects
	int relative;                  // nonzero: about one node, or about two
	int formula_count;             // formulas may read the first so many components; -1: all of them; 0: none
} CalQuantityInfo;

/** How many entries the catalogue has, one of them, from 0, and the one of a word (-1: there is none). */
CAL_API int cal_quantity_count(void);
CAL_API CalStatus cal_quantity(int quantity, CalQuantityInfo *info);
CAL_API int cal_quantity_find(const char *word);

/** The parts of the name of a column. */
typedef struct CalQuantityName {
	int quantity;          // -1: none of the catalogue
	const char *object;    // in the name that was given; NULL: none
	int object_length;     //
	const char *component; // in the name that was given, to its end; NULL: none
} CalQuantityName;

/**
 * Divides the name of a column without a simulation; names in result files of earlier versions (pose:hub:x, energy@arm:total)
 * too. Where names of objects hold dots, the last part of q:a.b may belong to the object: ask for the joint a.b first.
 */
CAL_API CalStatus cal_quantity_split(const char *name, CalQuantityName *parts);

/* ---- values -------------------------------------------------------------------------------------------------- */

typedef struct CalSampler CalSampler;

typedef struct CalSamplerColumn {
	const char *name; // "velocity:arm/tip.wz"; as long as the sampler
	const char *unit; // "rad/s"; "1": none
	int quantity;     // in the catalogue; -1: the time
	int label;        // where the part of the name begins that distinguishes it from those that it was added with
} CalSamplerColumn;

/** Starts with one column, the time. allocator NULL: malloc. */
CAL_API CalStatus cal_sampler_create(const CalAllocator *allocator, CalSampler **sampler, CalError *error);
CAL_API void cal_sampler_destroy(CalSampler *sampler); // accepts NULL
/**
 * Adds the columns of a name; those of a name that was added, or that is a column, are not added again. CAL_ERR_INPUT: error
 * says what is wrong with it and which name is nearest. Nothing is added then.
 */
CAL_API CalStatus cal_sampler_add(CalSampler *sampler, CalSim *sim, const char *name, CalError *error);
CAL_API int cal_sampler_column_count(const CalSampler *sampler);
CAL_API CalStatus cal_sampler_column(const CalSampler *sampler, int column, CalSamplerColumn *info);
/** The columns first .. first + count - 1 of a name that was added, or that is a column; count 0: there are none. */
CAL_API CalStatus cal_sampler_find(const CalSampler *sampler, const char *name, int *first, int *count);
/**
 * ranks[column_count]: the rank that solves the object of each column in a distributed simulation now (calder/distribute.h);
 * 0 for what belongs to no single body: the time, pairs of nodes, loops, groups, devices, events. CAL_ERR_STAGE: the topology has
 * changed since the last sample.
 */
CAL_API CalStatus cal_sampler_ranks(const CalSampler *sampler, const CalSim *sim, int *ranks);
/** From now on only objects with a column that is wanted[column_count] are sampled; columns of the others are NaN. */
CAL_API CalStatus cal_sampler_select(CalSampler *sampler, const unsigned char *wanted);
/**
 * row[column_count]: the values now; the first is the time. Does not change the course of the run. Allocates only where the
 * topology has changed and a group has more constraint equations, or there are more groups, than before.
 */
CAL_API CalStatus cal_sampler_sample(CalSampler *sampler, CalSim *sim, double *row);

#ifdef __cplusplus
}
#endif
#endif
