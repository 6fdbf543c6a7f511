// SPDX-License-Identifier: Apache-2.0
/*
 * quantity.h — an entry of the catalogue (quantity_list.c) as the library sees it: what public code may know of it, and how
 * it is evaluated.
 *
 * There are two ways to a value. A sampler reads a simulation between steps: element() is the value at a place in the
 * state, among accelerations or constraint equations, values() are all components of an object. A formula reads an
 * instant within a step: read(), and course() for the time ahead. What lacks read() cannot be in a formula.
 */
#ifndef CALDER_QUANTITY_QUANTITY_H
#define CALDER_QUANTITY_QUANTITY_H

#include <stdbool.h>

#include <calder/quantity.h>

/* ---- sampling ----------------------------------------------------------------------------------------------- */

/* When a quantity is taken. Those of one phase share what it computes: once for a group, or once for all. */
typedef enum QuantityPhase {
	PHASE_MOTION,     // of a group: after its kinematics
	PHASE_OBSERVE,    // of a group: after its forward dynamics
	PHASE_MULTIPLIER, // of a group: multipliers of all loops
	PHASE_REACTION,   // of a group: reactions of all joints
	PHASE_RESIDUAL,   // of a group: residuals of all loops, which take the forces of loops from the workspace: last
	PHASE_OWN,        // at once: monitors of groups, energy balance, events
	PHASE_CONTEXT,    // in an evaluation context of all groups: devices, pairs of nodes
	PHASE_COUNT
} QuantityPhase;

/* The simulation as a quantity sees it. */
typedef struct Sampling {
	CalSim *sim;
	const CalSimView *view;  // of the object's group, up to PHASE_RESIDUAL
	const double *rows;      // of its constraint equations, PHASE_MULTIPLIER and PHASE_RESIDUAL
	CalEvalContext *context; // PHASE_CONTEXT
} Sampling;

/* The object of a quantity; ids are {0} where they mean nothing. */
typedef struct SampledObject {
	CalJointId joint;  //
	CalBodyId body;    // of modal coordinates
	CalNodeId node[2]; // the second: from which the first is seen
	CalLoopId loop;    //
	int number;        // of the device or event; of a group: place of its name
	bool pair;         // two nodes
	int group;         // where it is now, -1: nowhere
	int index;         // node, loop or body there
} SampledObject;

typedef double ElementFn(const Sampling *s, int at);
typedef CalStatus ValuesFn(const Sampling *s, const SampledObject *object, double *values);

/* ---- reading in a formula ------------------------------------------------------------------------------------- */

/* A quantity ahead: v + d t, give or take spread t + bend t^2/2. */
typedef struct Course {
	double v, d, spread, bend;
} Course;

/* Where a component is now. */
typedef struct QuantityRef {
	int component;          //
	CalDofRef dof_ref;      // u -1: part of a quaternion
	int turn_u;             // of part of a quaternion: first speed of the angular velocity
	CalNodeRef node_ref[2]; // {-1, -1}: the world
	int device;             // component -1: not loaded, its outputs are 0
} QuantityRef;

typedef CalStatus ReadFn(const QuantityRef *ref, CalEvalContext *context, double *value);
typedef CalStatus CourseFn(const QuantityRef *ref, CalEvalContext *context, Course *course);

/* ---- the list ------------------------------------------------------------------------------------------------- */

typedef enum CoordinateOrder { ORDER_Q, ORDER_U, ORDER_UDOT, ORDER_FORCE } CoordinateOrder;

typedef struct Quantity {
	CalQuantityInfo info;
	QuantityPhase phase;
	CoordinateOrder order;       // of coordinates
	ElementFn *element;          // one of the two
	ValuesFn *values;            //
	ReadFn *read;                // NULL: not in formulas
	CourseFn *course;            //
	const struct Quantity *side; // in formulas: a value that changes its sign where components from first_sided on jump
	int first_sided;             //
} Quantity;

enum { QUANTITY_VALUES_MOST = 16 }; // of values() with components of the list

const Quantity *quantity_at(int quantity);
/* The entry whose word is the first `length` characters; NULL: there is none. */
const Quantity *quantity_of_word(const char *text, size_t length);
/* Short forms: x(A) is pose(A.x). NULL: it is none. *component: its name. */
const Quantity *quantity_of_short(const char *text, size_t length, const char **component);
/* The component of that name, -1: there is none. Of quantities whose components are in the list. */
int quantity_component(const Quantity *quantity, const char *name);
/* Values (quantity_values.c). */
ElementFn element_q, element_u, element_udot, element_force, element_row;
ValuesFn values_pose, values_velocity, values_body_rate, values_node, values_acceleration, values_wrench,
	values_deflection;
ValuesFn values_reaction, values_loop, values_device, values_event;
ValuesFn values_energy, values_momentum, values_balance, values_total_momentum, values_formulation;

/* The quaternion of R with w >= 0. */
void put_quaternion(double *to, const CalMat3 *R);

/* Of two nodes, or of one seen from the world (quantity_nodes.c). */
ValuesFn values_distance, values_range_rate, values_angle;
/* The pose and velocity of the first node seen from the second, within a context: of pairs. */
CalStatus relative_pose(const Sampling *s, const SampledObject *object, double values[7]);
CalStatus relative_velocity(const Sampling *s, const SampledObject *object, double values[6]);
CalStatus relative_body_rate(const Sampling *s, const SampledObject *object, double values[3]);
ReadFn read_pose, read_side, read_velocity, read_body_rate, read_distance, read_range_rate, read_angle;
CourseFn course_pose, course_side, course_velocity, course_body_rate, course_distance, course_range_rate, course_angle;

/* Coordinates, speeds and outputs of devices in formulas (quantity_read.c). */
ReadFn read_q, read_u, read_device;
CourseFn course_q, course_u, course_device;

/* ---- finding a component for a formula (quantity_read.c) -------------------------------------------------------- */

/* As it stands in a formula: object[1] NULL unless two were given. The last one may end in ".COMPONENT". */
typedef struct QuantityText {
	const Quantity *quantity;
	char *object[2];       // cut at the dot for a moment, and made whole again
	const char *component; // that a short form stands for; NULL: it is in the text
} QuantityText;

/* CAL_ERR_MODEL: error says what is missing. Does not allocate. */
CalStatus quantity_bind(const QuantityText *text, const CalEvalContext *context, QuantityRef *ref, CalError *error);

/* ---- names of coordinates (quantity_coordinate.c) ---------------------------------------------------------------- */

/* Coordinate or speed i of a joint as it was defined, whichever way it is passed now. */
typedef struct JointCoordinate {
	CalCoordinateInfo info;
	int dof; // of a coordinate: the degree of freedom that it belongs to, -1: part of a quaternion; of a speed: i
} JointCoordinate;

/* False: the joint has none of that number. body: its index in the group's model. */
bool joint_coordinate(const CalSim *sim, int group, int body, bool speed, int i, JointCoordinate *coordinate);
/* The one of that name, -1: there is none. */
int joint_coordinate_find(const CalSim *sim, int group, int body, bool speed, const char *name);
/* Where it is now, u -1 of part of a quaternion; false: nowhere. */
/* Where a coordinate of a dependent joint of an embedded mechanism is; false: it is no such joint. */
bool dependent_coordinate_place(const CalModel *model, int index, bool speed, int i, int *mechanism, int *at);
bool joint_coordinate_place(const CalSim *sim, CalJointId joint, int i, int dof, CalDofRef *ref);
/* A mode of a body, "eta3", or its speed, "etadot3"; mode counts from 0. */
bool mode_info(const CalModel *model, const CalBodyInfo *body, bool speed, int mode, CalCoordinateInfo *info);
/* The mode of that name, -1: there is none. */
int mode_find(const CalModel *model, int body, bool speed, const char *name);

#endif
