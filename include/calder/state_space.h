// SPDX-License-Identifier: Apache-2.0
/*
 * calder/state_space.h — a simulation linearized at its present state: x' = A x + B u, y = C x + D u, with names and units
 * (docs/linearize.md).
 *
 * States x, all small displacements from the present state: of each group the independent coordinates, displaced in the tangent
 * space (a ball joint has three, about the axes of its outboard frame; loops leave independent ones), then the changes of the
 * independent speeds, then the continuous states of devices. Where the state moves, x is counted from the motion: a spinning
 * body has constant coefficients in its own axes. Inputs and outputs go by name.
 * Exact are the dynamics of rigid and flexible trees (calder/derivatives.h); forces of devices, loads and formulas, outputs
 * and what loops do to speeds are differenced, by formulas of fourth order, with errors of about 1e-11 of the values.
 * Matrices are dense and row-major.
 */
#ifndef CALDER_STATE_SPACE_H
#define CALDER_STATE_SPACE_H

#include <calder/quantity.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a state is. */
typedef enum CalStateKind {
	CAL_STATE_COORDINATE, // displacement of a coordinate
	CAL_STATE_SPEED,      // change of a speed
	CAL_STATE_DEVICE,     // change of a state of a device
} CalStateKind;

/** A state, input or output. */
typedef struct CalSignalName {
	const char *name; // "q:hinge", "u:hinge", "x:wheel"; "force:hinge"; "pose:arm/tip.z"
	const char *unit; // "rad"; "1": none or not known
} CalSignalName;

/** Where a state is in the simulation. */
typedef struct CalStatePlace {
	CalStateKind kind;
	int object; // group, or device
	int index;  // speed of its model, or state of the device
} CalStatePlace;

typedef struct CalStateSpace {
	double time;                           // of the state [s]
	int state_count;                       // n
	int input_count;                       // m
	int output_count;                      // p
	const double *A;                       // [n n]
	const double *B;                       // [n m]
	const double *C;                       // [p n]
	const double *D;                       // [p m]
	const CalSignalName *states;           // [n]
	const CalSignalName *inputs, *outputs; // [m], [p]
	const CalStatePlace *places;           // [n]
	const double *rate;   // [n] of the state itself: speeds, accelerations, rates of devices; zero in equilibrium
	const double *value;  // [p] outputs at the state
	const char *warning;  // what the matrices do not show, e.g. a force that jumps there; "": nothing
	const double *origin; // [n] of the state: 0 for coordinates, then speeds and states of devices
	const double *q;      // of all groups at the state, one after the other, those whose motion is given left out
	int64_t generation;   // of the topology (cal_sim_generation)
	CalAllocator allocator;
	void *memory;
} CalStateSpace;

/**
 * inputs: "force:JOINT" or "force:JOINT.DOF", a generalized force on it; "wrench:NODE.fx" (mx .. fz), on a node in world axes;
 * "device:DEVICE.COMMAND", what a device takes as a number, table or formula in files: throttle of a thruster, torque of a
 * wheel, rate of a control moment gyro, reference of a servo, component of a load (fx, effort). All are added to what acts
 * in the run; limits of commands are left out.
 * outputs: names of quantities (calder/quantity.h), each with all of its columns.
 * independent: degrees of freedom ("joint", "joint.axis", as cal_model_dof_name() has them) whose coordinates are the states of
 * a group with loops; as many as its mobility. Groups without one of them: chosen by rank, near the ground.
 */
typedef struct CalStateSpaceOptions {
	const char *const *inputs;      // [input_count]
	int input_count;                //
	const char *const *outputs;     // [output_count]
	int output_count;               //
	const char *const *independent; // [independent_count]
	int independent_count;          //
	CalAllocator allocator;         // {0}: malloc
} CalStateSpaceOptions;

/**
 * At the present state; starts a run that has not started. Does not change the run. Groups whose motion is given have no
 * states, nor have devices that are inactive; sampled devices hold what they sampled last. CAL_ERR_INPUT: a name is not known.
 * CAL_ERR_UNSUPPORTED: compiled subsystems, ranks, or loops that constrain speeds alone (knife, disk, ball).
 * To be released by cal_state_space_release().
 */
CAL_API CalStatus cal_sim_state_space(CalSim *sim, const CalStateSpaceOptions *options, CalStateSpace *space,
                                      CalError *error);
CAL_API void cal_state_space_release(CalStateSpace *space); // accepts {0}

/** A pole: an eigenvalue of A. */
typedef struct CalPole {
	double real, imag; // [1/s]
	double frequency;  // |pole| [rad/s]
	double damping;    // ratio, -real/|pole|; 1 of a real one that decays, -1 of one that grows, 0 of zero
} CalPole;
/**
 * poles[n], by frequency; of a pair the one with positive imaginary part first. An m-fold pole has an error of about the m-th
 * root of round-off: rigid-body displacements are double poles at zero, and show as +-1e-8 of the largest.
 */
CAL_API CalStatus cal_state_space_poles(const CalStateSpace *space, CalPole *poles);
/**
 * One transfer function, from input to output, in zeros, poles and gain: H(s) = gain (s - zero) .. / (s - pole) .. with all poles of
 * cal_state_space_poles(); zeros[n] has room for as many, *count are there, sorted alike. A zero at a pole: the mode is not
 * reached by the input, or not seen in the output. gain 0, without zeros: the output does not depend on the input. Zeros beyond 1e10
 * of the largest pole are left out.
 */
CAL_API CalStatus cal_state_space_transfer(const CalStateSpace *space, int input, int output, CalPole *zeros,
                                           int *count, double *gain);
/** H[p m][2], real and imaginary part: C (i w - A)^-1 B + D at the frequency w [rad/s]. CAL_SINGULAR: at a pole. */
CAL_API CalStatus cal_state_space_response(const CalStateSpace *space, double frequency, double *H);
/**
 * y[count p]: outputs at the times 0, dt .. (count - 1) dt after input `input` steps from 0 to `size`, from x = 0, exactly
 * (matrix exponential). input -1: no input, from x0[n] (else may be NULL).
 */
CAL_API CalStatus cal_state_space_step(const CalStateSpace *space, int input, double size, const double *x0, double dt,
                                       int count, double *y);
/**
 * x[n]: how far the present state of the simulation is from that at which it was linearized, as a controller u = -K x needs it. The
 * topology must be the same. CAL_ERR_STAGE: it has changed.
 */
CAL_API CalStatus cal_state_space_deviation(const CalStateSpace *space, CalSim *sim, double *x);

/**
 * Writes everything to a file by its ending: .json, .csv, .mat (MATLAB level 5: A, B, C, D, names, units) or .h5 (where the
 * library has HDF5). CAL_ERR_INPUT: another ending.
 */
CAL_API CalStatus cal_state_space_write(const CalStateSpace *space, const char *path, CalError *error);
/**
 * The same of linearizations at several times of a run, a linear system that varies with time: all have the same states, inputs
 * and outputs. time has count elements, matrices have a third index (HDF5 and JSON: the first, MATLAB: the last, .csv: a column).
 */
CAL_API CalStatus cal_state_space_write_series(const CalStateSpace *spaces, int count, const char *path,
                                               CalError *error);

#ifdef __cplusplus
}
#endif
#endif
