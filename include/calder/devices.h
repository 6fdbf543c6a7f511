// SPDX-License-Identifier: Apache-2.0
/*
 * calder/devices.h — the built-in devices; their equations are in docs/devices.md.
 *
 * Each has a definition and a call that adds it to a simulation. Definitions that are zero-initialized mean "none"
 * throughout: no stiffness, no limit, no table. Names and tables are copied. Nodes and joints are ids of the description
 * from which the simulation was made; node {0} is the ground's origin. A joint's degree of freedom is counted from 0 and
 * must have a coordinate of its own (not part of a quaternion).
 * *device (may be NULL) is the number of the device in the simulation.
 */
#ifndef CALDER_DEVICES_H
#define CALDER_DEVICES_H

#include <calder/contact.h>
#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_TABLE_SHAPE_LIST(X)                                                               \
	X(CAL_TABLE_STEP, "step")     /* each value holds from its time on */                     \
	X(CAL_TABLE_LINEAR, "linear") /* straight lines */                                        \
	X(CAL_TABLE_CUBIC, "cubic")   /* cubic pieces, rate continuous, at rest at both ends */   \
	X(CAL_TABLE_SMOOTH, "smooth") /* quintic pieces, at rest at every point (minimum jerk) */ \
	X(CAL_TABLE_SPLINE, "spline") /* quintic pieces, rate and acceleration continuous */

typedef enum CalTableShape {
#define CAL_TABLE_SHAPE_ENUM(name, text) name,
	CAL_TABLE_SHAPE_LIST(CAL_TABLE_SHAPE_ENUM)
#undef CAL_TABLE_SHAPE_ENUM
		CAL_TABLE_SHAPE_COUNT
} CalTableShape;
CAL_API const char *cal_table_shape_name(CalTableShape shape); // NULL outside the list

/**
 * A function of time by its values. Before the first time the first value is held, after the last the last one; a spline continues
 * at the rate that it has there.
 */
typedef struct CalTable {
	CalTableShape shape;
	int count;           // 0: zero at all times
	const double *time;  // [count] ascending [s]
	const double *value; // [count]
} CalTable;

/** A function of time: a formula of t alone, or else a table. Neither (count 0): there is none. */
typedef struct CalTimeFunction {
	const char *formula; // "30 deg * sin(2*t)", or NULL
	CalTable
		table; // of a motion, linear: the rate jumps at the points; CAL_TABLE_STEP of several points is refused: it has no rate
} CalTimeFunction;

/**
 * A component of a load: a formula (calder/expression.h), or else a table, or else a number. A formula may depend on anything in
 * the simulation: time, states, outputs of devices that were added before. {0}: zero.
 */
typedef struct CalLoadValue {
	double number;       // counts if there is neither of the others
	CalTable table;      // count 0: none
	const char *formula; // NULL: none
} CalLoadValue;

/**
 * The value of one field of a device, by the name that it has in files (docs/format.md). Of the members the one counts that the
 * field asks for; numbers are SI.
 */
typedef struct CalFieldValue {
	const char *field;  // "stiffness"
	double number;      // a number; a flag: nonzero; a degree of freedom, from 0
	CalVec3 vector;     // a vector or an axis
	const char *text;   // a text, a word, a path, the name of a group, a formula (also of a function or a component)
	const char *xyz[3]; // three formulas; where NULL, the component of the vector
	CalNodeId node;     //
	CalJointId joint;   //
	CalBodyId body;     //
	CalTable table;     // a table, or a function of time by its values
	CalPlacement placement;
	const double *numbers;          // [rows][columns] a list of numbers, in one row, or a matrix
	int rows, columns;              //
	const CalLoadValue *components; // [component_count] a list of numbers, tables and formulas
	int component_count;            //
} CalFieldValue;

/**
 * Adds a device of any type that files know, also of those without a definition below. What is not given is as in a file that
 * does not give it. CAL_ERR_ARGUMENT: there is no such type or field, a required one is missing, or the device refuses its values.
 */
CAL_API CalStatus cal_sim_add_device_of_type(CalSim *sim, const char *type, const char *name,
                                             const CalFieldValue *values, int count, int *device, CalError *error);

/** A spring and damper along the line between two nodes. */
typedef struct CalSpringDef {
	const char *name;  // required
	CalNodeId a, b;    //
	double stiffness;  // [N/m], >= 0
	double damping;    // [N s/m], >= 0
	double length;     // unstretched [m], >= 0
	int cable;         // nonzero: it only pulls
	int strut;         // nonzero: it only pushes
	const char *place; // for messages; may be NULL
} CalSpringDef;
CAL_API CalStatus cal_sim_add_spring(CalSim *sim, const CalSpringDef *def, int *device, CalError *error);

/** Springs and dampers between two nodes along and about the axes of the first. */
typedef struct CalBushingDef {
	const char *name;
	CalNodeId a, b;
	CalPlacement rest;          // of b in a, where it is free
	CalVec3 stiffness, damping; // [N/m], [N s/m], >= 0
	CalVec3 angular_stiffness;  // on the rotation vector [N m/rad], >= 0
	CalVec3 angular_damping;    // [N m s/rad], >= 0
	const char *place;
} CalBushingDef;
CAL_API CalStatus cal_sim_add_bushing(CalSim *sim, const CalBushingDef *def, int *device, CalError *error);

/** Stops of a joint: a spring and damper beyond each, which only push back. */
typedef struct CalLimitDef {
	const char *name;
	CalJointId joint;
	int dof;
	double lower, upper; // [rad] or [m]; -INFINITY, INFINITY: none
	double stiffness;    // [N m/rad] or [N/m], > 0
	double damping;      // >= 0
	const char *place;
} CalLimitDef;
CAL_API CalStatus cal_sim_add_limit(CalSim *sim, const CalLimitDef *def, int *device, CalError *error);

/** Friction of a joint: Coulomb with Stribeck's drop, smoothed by a speed, or with bristles (LuGre). */
typedef struct CalFrictionDef {
	const char *name;
	CalJointId joint;
	int dof;
	double coulomb;           // while it slides [N m] or [N], > 0
	double stiction;          // breakaway friction; 0: as coulomb
	double stribeck_speed;    // Stribeck velocity; > 0 where the two differ
	double viscous;           // per speed, >= 0
	double smoothing_speed;   // without bristles, > 0: below it friction falls to zero
	double bristle_stiffness; // > 0: LuGre, with one state
	double bristle_damping;   // >= 0
	const char *place;
} CalFrictionDef;
CAL_API CalStatus cal_sim_add_friction(CalSim *sim, const CalFrictionDef *def, int *device, CalError *error);

/**
 * A joint that follows a reference: PID control, a motor with a line of torque over speed, and a gear that may be
 * flexible and have backlash. All quantities on the joint's side of the gear.
 */
typedef struct CalServoDef {
	const char *name;
	CalJointId joint;
	int dof;
	CalTimeFunction reference; // of the coordinate, with its rate and acceleration
	double proportional;       // [N m/rad]
	double integral;           // [N m/(rad s)]
	double derivative;         // [N m s/rad]
	double inertia;            // effort per acceleration of the reference [kg m^2]
	double effort_limit;       // of the controller; 0: none
	double stall_effort;       // of the motor at rest; 0: no limit
	double free_speed;         // at which the motor has no effort left; 0: the stall effort at all speeds
	double sample_period;      // of the controller, 0: continuous [s]
	double rotor_inertia;      // of the rotor, as the joint feels it, > 0 with a gear [kg m^2]
	double gear_stiffness;     // > 0: a flexible gear with a rotor of its own (two states) [N m/rad]
	double gear_damping;       // [N m s/rad]
	double backlash;           // free play of the gear, from one side to the other [rad]
	int rotor_feedback;        // nonzero: control sees the rotor instead of the joint
	const char *place;
} CalServoDef;
CAL_API CalStatus cal_sim_add_servo(CalSim *sim, const CalServoDef *def, int *device, CalError *error);

/**
 * A reaction wheel on a node. The body it sits on must contain the mass of the wheel and its inertia across the axis, but
 * not the one about the axis: that is the wheel's.
 */
typedef struct CalWheelDef {
	const char *name;
	CalNodeId node;
	CalVec3 axis;        // in the node; normalized; {0}: z
	double inertia;      // about the axis [kg m^2], > 0
	double speed;        // at the start, relative to the body [rad/s]
	CalLoadValue torque; // of the motor on the wheel [N m]
	double max_torque;   // 0: none
	double max_speed;    // beyond it the motor does not drive any further; 0: none [rad/s]
	double drag;         // of the bearing [N m s/rad], >= 0
	const char *place;
} CalWheelDef;
CAL_API CalStatus cal_sim_add_wheel(CalSim *sim, const CalWheelDef *def, int *device, CalError *error);

/** A control moment gyro: a rotor of constant momentum whose axis turns about the gimbal's at a given rate. */
typedef struct CalCmgDef {
	const char *name;
	CalNodeId node;
	CalVec3 gimbal, spin; // in the node, perpendicular: axis of the gimbal, and of the rotor at angle zero
	double momentum;      // [N m s], not zero
	double angle;         // at the start [rad]
	CalLoadValue rate;    // of the gimbal [rad/s]
	const char *place;
} CalCmgDef;
CAL_API CalStatus cal_sim_add_cmg(CalSim *sim, const CalCmgDef *def, int *device, CalError *error);

/** A thruster that is fixed on a node. */
typedef struct CalThrusterDef {
	const char *name;
	CalNodeId node;
	CalVec3 direction;     // of the force on the node, in its axes; normalized; {0}: z
	double thrust;         // [N]
	CalLoadValue throttle; // fraction of it, 0 to 1, to which a formula is clipped; {0}: 1 at all times
	const char *place;
} CalThrusterDef;
CAL_API CalStatus cal_sim_add_thruster(CalSim *sim, const CalThrusterDef *def, int *device, CalError *error);

/** Liquid in a tank: a mass on three springs and dampers about a node, along its axes. */
typedef struct CalSloshDef {
	const char *name;
	CalNodeId node;
	double mass;                // [kg], > 0; not part of the body
	CalVec3 stiffness, damping; // along the axes of the node [N/m], [N s/m]
	CalVec3 position;           // from the node at the start, in its axes [m]
	CalVec3 velocity;           // relative to the node at the start, in its axes [m/s]
	const char *place;
} CalSloshDef;
CAL_API CalStatus cal_sim_add_slosh(CalSim *sim, const CalSloshDef *def, int *device, CalError *error);

/** Contact between shapes on nodes of any groups (calder/contact.h). Meshes must outlive the simulation. */
typedef struct CalContactDef {
	const char *name;
	const CalShapeDef *shapes; // [shape_count], >= 2; their group and node are not read
	const CalNodeId *nodes;    // [shape_count] that they are fixed to; {0}: the world
	int shape_count;
	const char *place;
} CalContactDef;
CAL_API CalStatus cal_sim_add_contact(CalSim *sim, const CalContactDef *def, int *device, CalError *error);

/**
 * The gravity of a planet on all bodies of a group, or of all groups. With an orbit the world is a frame without rotation
 * whose origin falls freely around the planet: bodies feel only the difference to the origin, without loss of digits.
 */
typedef struct CalGravityDef {
	const char *name;
	const char *group; // NULL: all
	double mu;         // gravitational parameter [m^3/s^2], > 0
	double radius, j2; // equatorial radius [m] and oblateness; j2 0: a sphere
	CalVec3 pole;      // axis of the planet, world axes; {0}: z
	int orbit;         // nonzero: the world's origin is in orbit
	CalVec3 position;  // of the world's origin from the center of the planet [m]; in orbit not zero
	CalVec3 velocity;  // of the world's origin in orbit [m/s]
	const char *place;
} CalGravityDef;
CAL_API CalStatus cal_sim_add_gravity(CalSim *sim, const CalGravityDef *def, int *device, CalError *error);

/** A load over an interval: a wrench on a node, or an effort on a degree of freedom of a joint or on a mode of a body. */
typedef struct CalAppliedLoadDef {
	const char *name;       // required
	CalNodeId node;         // of a wrench, {0}: none
	CalFrame frame;         // axes of its components
	CalJointId joint;       // of an effort, {0}: none
	int dof;                // of the joint, from 0
	CalBodyId body;         // of an effort on a mode, {0}: none
	int mode;               // of the body, from 0
	CalLoadValue effort;    // [N m] or [N]
	CalLoadValue moment[3]; // [N m]
	CalLoadValue force[3];  // [N]
	double start, end;      // it acts for start <= t < end [s]; both 0: at all times
	const char *place;
} CalAppliedLoadDef;
CAL_API CalStatus cal_sim_add_applied_load(CalSim *sim, const CalAppliedLoadDef *def, int *device, CalError *error);

/**
 * An actuator as in MJCF: f = (gain[0] + gain[1] l + gain[2] l') c + bias[0] + bias[1] l + bias[2] l' with the input c and the
 * length l = gear q of a joint (on a node 0), c and f within their ranges. The effort gear f acts on the joint, or f times a
 * wrench on the node.
 */
typedef struct CalActuatorDef {
	const char *name;
	CalJointId joint;                    // on which it acts, {0}: none
	int dof;                             // of the joint, from 0
	double gear;                         // 0: 1
	CalNodeId node;                      // on which it acts, {0}: none
	CalVec3 force, moment;               // on the node, in its axes, for f = 1
	CalLoadValue control;                // input c
	double control_lower, control_upper; // range of c, either may be infinite; both 0: none
	double gain[3], bias[3];             // constant, per length, per speed of the length
	double lower, upper;                 // range of f, likewise
	const char *place;
} CalActuatorDef;
CAL_API CalStatus cal_sim_add_actuator(CalSim *sim, const CalActuatorDef *def, int *device, CalError *error);

/** A device from a shared object, as a setup holds it; a simulation loads one by cal_sim_load_device(). */
typedef struct CalSharedDeviceDef {
	const char *name;
	const char *library;   // path; without a slash it is in the current folder
	const char *arguments; // that the device gets; NULL: ""
	const char *place;
} CalSharedDeviceDef;

#ifdef __cplusplus
}
#endif
#endif
