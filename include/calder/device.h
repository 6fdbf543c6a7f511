// SPDX-License-Identifier: Apache-2.0
/*
 * calder/device.h — devices: what acts on the bodies of a simulation beyond joints, loops and gravity.
 *
 * A device is a struct of functions (CalDeviceOps) and its data. It reads the motion of nodes and joints of any group,
 * applies forces to nodes and degrees of freedom, and may have continuous states x (integrated with q and u, at the
 * same stages), discrete states d (changed at its own sample times and at events only) and functions whose zero
 * crossings are events. The built-in ones (calder/devices.h) use nothing but this header; docs/devices.md shows how to
 * write one, in C or as a shared object (cal_sim_load_device).
 *
 * A CalEvalContext is the simulation at one instant as a device sees it. Components are in world axes, the axes of the
 * frame that all groups share.
 */
#ifndef CALDER_DEVICE_H
#define CALDER_DEVICE_H

#include <calder/doubt.h>
#include <calder/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalSim CalSim;
typedef struct CalEvalContext CalEvalContext;

/* ---- what a device sees --------------------------------------------------------------------- */

/** A node of a group. Group -1: the origin of the world. */
typedef struct CalNodeRef {
	int group, node;
} CalNodeRef;

/** A degree of freedom of a group and its coordinate (-1: part of a quaternion). */
typedef struct CalDofRef {
	int group, u, q;
} CalDofRef;

/** The instant of the evaluation [s], and the groups at it. */
CAL_API double cal_context_time(const CalEvalContext *context);
CAL_API int cal_context_group_count(const CalEvalContext *context);
CAL_API const CalModel *cal_context_model(const CalEvalContext *context, int group); // NULL outside the range
CAL_API const CalState *cal_context_state(const CalEvalContext *context, int group); // q, u; NULL outside the range

/* Places of objects, for bind(). 0: no group has it. */
CAL_API int cal_context_find_node(const CalEvalContext *context, CalNodeId node,
                                  CalNodeRef *node_ref); // {0}: the ground's origin
CAL_API int cal_context_find_dof(const CalEvalContext *context, CalJointId joint, int dof, CalDofRef *dof_ref);
CAL_API int cal_context_find_mode(const CalEvalContext *context, CalBodyId body, int mode, CalDofRef *dof_ref);
/** The same by name: "body/node" or "body"; a joint. */
CAL_API int cal_context_find_node_by_name(const CalEvalContext *context, const char *path, CalNodeRef *node_ref);
CAL_API int cal_context_find_dof_by_name(const CalEvalContext *context, const char *joint, int dof, CalDofRef *dof_ref);
CAL_API int cal_context_find_group(const CalEvalContext *context, const char *name); // -1: none

/**
 * Pose and velocity (of the origin) of a node; either may be NULL. The first call for a group in an evaluation costs its
 * kinematics. On failure the evaluation fails with that status; the outputs are then at rest at the origin.
 */
CAL_API CalStatus cal_context_node_motion(CalEvalContext *context, CalNodeRef node_ref, CalPose *pose,
                                          CalSpatial *velocity);
CAL_API double cal_context_q(const CalEvalContext *context, CalDofRef dof_ref);
CAL_API double cal_context_u(const CalEvalContext *context, CalDofRef dof_ref);
/* Accelerations, in lookahead() only: as large as the step ahead has them, with their signs. Zero elsewhere. */
CAL_API double cal_context_udot(const CalEvalContext *context, CalDofRef dof_ref);
CAL_API CalStatus cal_context_node_acceleration(CalEvalContext *context, CalNodeRef node_ref, CalSpatial *acceleration);
/** The step of a method with fixed steps [s]; 0: the method chooses its own. */
CAL_API double cal_context_fixed_step(const CalEvalContext *context);

/* ---- what a device does (in evaluate() only; elsewhere the run ends with CAL_ERR_STAGE) ------- */

/** A wrench on a node at its origin. On the ground: nothing happens. */
CAL_API CalStatus cal_context_apply_wrench(CalEvalContext *context, CalNodeRef node_ref, CalFrame frame,
                                           CalSpatial wrench);
/** A wrench on node b that acts at `point`, and the opposite on node a at the same point. World axes. */
CAL_API CalStatus cal_context_apply_wrench_pair(CalEvalContext *context, CalNodeRef a, CalNodeRef b, CalVec3 point,
                                                CalSpatial wrench);
/** A generalized force. */
CAL_API CalStatus cal_context_apply_effort(CalEvalContext *context, CalDofRef dof_ref, double effort);

/* Accounts of energy and momentum (CalSimBalance). Power in W, positive. */
CAL_API void cal_context_add_stored_energy(CalEvalContext *context, double energy);   // held in the device now [J]
CAL_API void cal_context_add_dissipated_power(CalEvalContext *context, double power); // lost to heat
CAL_API void cal_context_add_supplied_power(CalEvalContext *context,
                                            double power); // brought in from outside (negative: taken out)
CAL_API void cal_context_add_momentum(CalEvalContext *context, CalVec3 linear,
                                      CalVec3 angular); // momentum held, about the world's origin

/**
 * Adds something to doubt about the run (calder/doubt.h). In evaluate(), which is also called for steps that are tried and
 * rejected, it belongs only if that cannot be the cause.
 */
CAL_API CalStatus cal_context_add_doubt(CalEvalContext *context, const CalDoubt *doubt);

/** Says why a function of the device is about to fail; the message of the run then includes it. Copied. */
CAL_API void cal_context_explain_failure(CalEvalContext *context, const char *why);

/* ---- a device ------------------------------------------------------------------------------- */

/** A device as its functions see it. */
typedef struct CalDevice {
	void *data;          // its copy of CalDeviceDef.data
	const double *table; // its copy of CalDeviceDef.table
	int table_count;     //
	const double *x;     // [nx] continuous states at the instant of the evaluation
	double *d;           // [nd] discrete states; only start(), sample() and event() may write them
} CalDevice;

/** What a device knows of the time ahead. */
typedef struct CalLookahead {
	double horizon; // how far ahead the question goes [s], > 0
	double
		event_free; // for so long no value changes sign, at the speeds and accelerations of the context; horizon before
	double max_step; // steps from here are to be no longer [s]; INFINITY before
} CalLookahead;

enum { CAL_DEVICE_NODES = 2 }; // most nodes of CalDeviceOps.nodes

/** A number of a device that may change in a run. Zero: from -INFINITY to INFINITY, without unit. */
typedef struct CalDeviceParameter {
	char name[128];    // unique in the device
	char unit[32];     // SI; "": none, or that of a gain
	double low, high;  // the range that it must be in; both 0: any finite number
	int above;         // nonzero: it must be above low
	const char *fixed; // why it cannot be changed; NULL: it can
} CalDeviceParameter;

/**
 * The functions of a device. All return 0, or nonzero to stop the run with CAL_ERR_USER. None may allocate. Only type
 * and evaluate are required.
 */
typedef struct CalDeviceOps {
	const char *type; // "bushing"
	/** Finds its objects; called when the device is added and after every change of topology. Nonzero: not there, and
	 * the device rests until they are. */
	int (*bind)(const CalDevice *device, const CalEvalContext *context);
	/** Initial states; x and d are zero before. Called once, when the run starts. */
	int (*start)(const CalDevice *device, CalEvalContext *context, double *x);
	/** Forces, accounts and xdot[nx] (zero before) at any instant; must be a pure function of state, x, d and time. */
	int (*evaluate)(const CalDevice *device, CalEvalContext *context, double *xdot);
	/** At the sample times offset + k period; x may be changed too. */
	int (*sample)(const CalDevice *device, CalEvalContext *context, double *x);
	/** value[event_count]: a run stops where one changes sign, to the tolerance of events. */
	int (*values)(const CalDevice *device, CalEvalContext *context, double *value);
	/** Value `event` has changed sign, upwards if rising; d and x may be changed. NULL: steps only end there. */
	int (*event)(const CalDevice *device, CalEvalContext *context, int event, int rising, double *x);
	/**
	 * For how long nothing of the device begins or ends: bounds from distances, speeds and accelerations. Adaptive methods
	 * ask within their steps, and look at values() again where the bounds end; without it they do so after steps only,
	 * and two changes of sign in one step go unseen. A device that has it and no event() is watched by adaptive methods
	 * alone: fixed steps do not end where its values change their sign.
	 */
	int (*lookahead)(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead);
	/** What a value is, for messages; NULL or "": messages give its number. */
	const char *(*value_text)(const CalDevice *device, int event);
	/** output[output_count], for records. */
	int (*outputs)(const CalDevice *device, CalEvalContext *context, double *output);
	/** The next time after t at which the device jumps by itself, or INFINITY. */
	double (*next_switch)(const CalDevice *device, double t);
	/** Releases what data points to; called with the copy. */
	void (*destroy)(void *data);
	int output_count;
	const char *const *output_names; // [output_count]
	const char *const *output_units; // [output_count]
	/**
	 * A degree of freedom that follows a function of time instead of its dynamics, which give the force that this takes:
	 * its coordinate, speed and acceleration at t in jet. Pure; nonzero: not defined.
	 */
	int (*drive)(const CalDevice *device, double t, CalDofRef *dof_ref, double jet[3]);
	/**
	 * An adaptive method cannot continue from here: its steps fell below `step` [s]. Nonzero after
	 * cal_context_explain_failure() if the device is the reason; the run ends with its name and that text.
	 */
	int (*explain_small_step)(const CalDevice *device, CalEvalContext *context, double step);
	/**
	 * The degree of freedom whose coordinate and speed are all that evaluate() reads of the motion, and on which its effort
	 * is all that it does: on several ranks only the one that solves it evaluates the device. Nonzero: it reads or does
	 * more. Asked after bind(); NULL: all ranks need all states.
	 */
	int (*one_dof)(const CalDevice *device, CalDofRef *dof_ref);
	/**
	 * The nodes whose motion is all that evaluate() reads beside time and states of its own, and on which its wrenches are all
	 * that it does: on several ranks those that have the nodes evaluate the device, and send each other how they move.
	 * Returns how many it writes to node_refs[CAL_DEVICE_NODES]; 0: it reads or does more. Asked after bind(); NULL: as 0.
	 */
	int (*nodes)(const CalDevice *device, CalNodeRef *node_refs);
	/**
	 * Parameter `index`, from 0, that may change in a run (calder/parameter.h): fills *about and returns where its number is in
	 * the data of the device; NULL: there is none. How many there are and what they are called must not change. NULL: none.
	 */
	double *(*parameter)(const CalDevice *device, int index, CalDeviceParameter *about);
} CalDeviceOps;

/** A device to be added. Name, data and table are copied; ops must outlive the simulation. */
typedef struct CalDeviceDef {
	const char *name;                    // required, unique among the devices of a simulation
	const CalDeviceOps *ops;             // required
	const void *data;                    // [data_size] bytes, may be NULL
	size_t data_size;                    //
	const double *table;                 // [table_count]
	int table_count;                     //
	int nx, nd;                          // continuous and discrete states
	int event_count;                     // of ops->values
	int wrench_count;                    // at most this many are applied in one evaluation (a pair: two)
	double sample_period, sample_offset; // period 0: sample() is never called [s]
	int accounts;                        // nonzero: it reports its energy completely
} CalDeviceDef;

#define CAL_DEVICE_API_VERSION 6 // version of the structs above

/**
 * A shared object exports this under the name calder_device. version is CAL_DEVICE_API_VERSION of the library; fills
 * *def from the text that the model file gives. Memory that def points to must stay until the call returns 0; returns
 * nonzero after writing why into message.
 */
typedef int (*CalDevicePluginFn)(int version, const char *arguments, CalDeviceDef *def, char *message,
                                 size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
