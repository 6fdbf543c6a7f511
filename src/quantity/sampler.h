// SPDX-License-Identifier: Apache-2.0
/*
 * sampler.h — a sampler: columns, the objects that they are about, and where these are now.
 */
#ifndef CALDER_QUANTITY_SAMPLER_H
#define CALDER_QUANTITY_SAMPLER_H

#include "base/name_index.h"
#include "quantity/quantity.h"

/* A quantity of one object. */
typedef struct SampledItem {
	const Quantity *quantity;
	SampledObject object;
	int first, count; // its columns
	int only;         // the one of its values that is wanted, or -1: all of them
	int next;         // next item of the same group, -1: none
	bool unwanted;    // no column of it is selected
} SampledItem;

/* Of a column with a coordinate, a speed or a constraint equation: which one of its object, and where it is now. */
typedef struct ColumnPlace {
	int of;        // place among those of the joint as defined, of the body's modes, of the loop's equations
	int dof;       // of coordinates: dof that it belongs to, -1: part of a quaternion
	int at;        // in the state of the group or among its equations, -1: nowhere
	int mechanism; // of a dependent joint: its embedded mechanism, from 1, in whose model `at` is; 0: none
} ColumnPlace;

/* A name that was added, or of a column: its columns. */
typedef struct SampledName {
	const char *text;
	int first, count;
} SampledName;

struct CalSampler {
	CalAllocator allocator;
	SampledItem *items;
	int item_count, item_capacity;
	CalSamplerColumn *columns; // the first is the time
	int column_count, column_capacity;
	ColumnPlace *places; // [column_count]
	int place_capacity;
	SampledName *names;
	int name_count, name_capacity;
	NameIndex index;   // of names; values: their number + 1
	int *first, *last; // [group_count] items of each group of the simulation, -1: none; linked by SampledItem.next
	int group_count, first_capacity, last_capacity;
	int hint;            // group in which the last object was found
	const char **groups; // names of groups
	int named_count, named_capacity;
	char **texts; // names of columns and groups, of any length
	int text_count, text_capacity;
	double *values; // [value_capacity] scratch: equations of a group, values of an object
	int value_capacity;
	int64_t generation; // of the topology that objects and places are of
	bool failed;        // out of memory
};

/* What is to be added: the name in its parts. */
typedef enum NameFault { NAME_FOUND, NAME_UNKNOWN, NAME_NO_OBJECT, NAME_NO_COMPONENT, NAME_EMBEDDED } NameFault;

typedef struct SampledText {
	const Quantity *quantity; // NULL: the word is none
	const char *rest;         // after the colon, NULL: there is none
	const char *component;    // of a short form
} SampledText;

/* The parts of a name as far as the catalogue knows them. */
SampledText sampled_text(const char *name);

/* The path of a node is body/node, or the body's name alone: *node is then "". False: it is none that quantities of all nodes
   count (ground, mass points). */
bool sampler_node_names(const CalModel *model, int index, const char **body, const char **node);

/* A text that lives as long as the sampler; "" when out of memory. */
const char *sampler_text(CalSampler *sampler, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;
/* Room for so many values in `values`; false: out of memory. */
bool sampler_reserve_values(CalSampler *sampler, int count);

/* Columns (sampler_columns.c): of the only component of that name, or of all for NULL. */
typedef struct ColumnOrder {
	CalSim *sim;
	const Quantity *quantity;
	const char *component; // NULL: all
	bool of_all;           // the word stood alone
} ColumnOrder;

void columns_of_time(CalSampler *sampler);
void columns_of_joint(CalSampler *sampler, const ColumnOrder *order, int group, int body);
void columns_of_modes(CalSampler *sampler, const ColumnOrder *order, int group, int body);
void columns_of_node(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int node, const char *path);
void columns_of_nodes(CalSampler *sampler, const ColumnOrder *order, const CalNodeId node[2], const char *paths);
bool columns_are_unknown(const ColumnOrder *order, int group, int body);
void columns_of_reaction(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int body);
void columns_of_loop(CalSampler *sampler, const ColumnOrder *order, const CalModel *model, int loop);
void columns_of_group(CalSampler *sampler, const ColumnOrder *order, int group);
void columns_of_device(CalSampler *sampler, const ColumnOrder *order, int device);
void columns_of_event(CalSampler *sampler, const ColumnOrder *order, int event);
void columns_of_system(CalSampler *sampler, const ColumnOrder *order);

/* Looks up the objects from number `from` on (sampler_place.c). */
void sampler_place(CalSampler *sampler, CalSim *sim, int from);

/* The item that a column belongs to, after sampler_place(); NULL: the time. */
const SampledItem *sampler_item_of(const CalSampler *sampler, int column);

/* What is wrong with a name that was not found, and the nearest one that there is (sampler_error.c). */
CalStatus sampler_refuse(const CalSampler *sampler, CalSim *sim, const char *name, NameFault fault, CalError *error);

#endif
