// SPDX-License-Identifier: Apache-2.0
/*
 * calder/motion.h — groups that move as given functions of time without dynamics, and joints that do so within them.
 *
 * A target that tumbles, a platform that shakes, a door that opens on a schedule: devices and observers see it move, and
 * what pushes it does not change it. Functions are tables or formulas of t, with rate and acceleration exact. Where more
 * is wanted, cal_sim_set_motion() takes any C function.
 */
#ifndef CALDER_MOTION_H
#define CALDER_MOTION_H

#include <calder/devices.h>
#include <calder/expression.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How one joint moves. What has no function stays as it is in the state when the motion is added. */
typedef struct CalJointMotion {
	CalJointId joint;
	CalTimeFunction q[CAL_JOINT_MAX_DOF]; // by degree of freedom; none for those of a quaternion
	CalVec3 axis;                         // of a free or spherical joint, in its inboard frame; normalized; {0}: z
	CalTimeFunction angle;                // about it, from the orientation in the state on [rad]
} CalJointMotion;

/** A motion is a device of the simulation without effect on others; steps end where a table or a formula has a kink. */
typedef struct CalMotionDef {
	const char *name;             // required, unique among the devices
	const char *group;            // required
	const CalJointMotion *joints; // [joint_count]
	int joint_count;              //
	const char *place;            // for messages; may be NULL
} CalMotionDef;

/**
 * From now on the group moves so, until cal_sim_set_motion() says otherwise or a change of topology concerns it. All is
 * copied and belongs to the simulation. Modes of flexible bodies stay as they are. Loops are not looked at: they
 * must agree with the functions.
 */
CAL_API CalStatus cal_sim_add_motion(CalSim *sim, const CalMotionDef *def, int *device, CalError *error);
/** The device of the motion that was added last for a group, also while it is released; -1: there is none. */
CAL_API int cal_sim_find_motion(const CalSim *sim, int group);
/**
 * Lets a group that was released follow that motion again: it is put at once where the functions say at this time, and what
 * that does to its energy counts as supplied. The group must have the joints that it had.
 */
CAL_API CalStatus cal_sim_resume_motion(CalSim *sim, int group, CalError *error);
/** Nonzero: all of the group moves as given, by a motion (cal_sim_set_motion). */
CAL_API int cal_sim_is_moved(const CalSim *sim, int group);

/**
 * One degree of freedom of a joint that follows a function of time while the rest of its group moves by its dynamics.
 * Coordinate, speed and acceleration are those of the function at every stage of a step; nothing is integrated, so nothing
 * drifts. Outputs: the force that this takes [N m or N], and its power [W], which counts as supplied energy. Tables are
 * cubic, smooth or splines; a formula should have a continuous rate (a jump of it is a doubt of the run). Steps end at kinks.
 */
typedef struct CalJointDriveDef {
	const char *name;  // required, unique among the devices
	CalJointId joint;  // required
	int dof;           // which of its degrees of freedom, from 0; none of a quaternion
	CalTimeFunction q; // required
	const char *place; // for messages; may be NULL
} CalJointDriveDef;
/** The device can be switched off, which sets the joint free, and on again where the joint then is on the function. */
CAL_API CalStatus cal_sim_add_joint_drive(CalSim *sim, const CalJointDriveDef *def, int *device, CalError *error);

/**
 * A function of time that drives a constraint equation (CalDrive): the formula is parsed and the table copied once. Functions
 * whose speed jumps are refused as for joints: tables are cubic, smooth or splines. It must outlive every model and simulation.
 */
typedef struct CalDriveFunction CalDriveFunction;
CAL_API CalStatus cal_drive_function_create(const CalTimeFunction *function, const CalAllocator *allocator,
                                            CalDriveFunction **drive, CalError *error);
CAL_API void cal_drive_function_destroy(CalDriveFunction *drive); // accepts NULL
/** The drive of a row that follows it; add an offset or a speed where wanted. */
CAL_API CalDrive cal_drive_function_of(const CalDriveFunction *drive);
/** The formula or table of such a drive, for writers; 0: it is a C function of another kind, or none. */
CAL_API int cal_drive_function_get(const CalDrive *drive, CalTimeFunction *function);

#ifdef __cplusplus
}
#endif
#endif
