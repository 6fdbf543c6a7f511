// SPDX-License-Identifier: Apache-2.0
/*
 * calder/trim.h — equilibria of a simulation: states in which nothing accelerates (docs/trim.md).
 *
 * Speeds are zero, but for those of driven and prescribed degrees of freedom: with a driven spin an equilibrium is a steady
 * rotation. Unknown are the independent coordinates of all groups and the continuous states of devices; gravity, springs,
 * loads, devices, contact and loops act as they do at the present time.
 */
#ifndef CALDER_TRIM_H
#define CALDER_TRIM_H

#include <calder/state_space.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What becomes of small displacements, by the poles (cal_state_space_poles). */
typedef enum CalStability {
	CAL_STABILITY_STABLE, // none grows; without damping they stay
	CAL_STABILITY_NEUTRAL, // none grows, but poles are zero, or too near to it to know (below 1e-6 1/s, or 1e-7 of the largest)
	CAL_STABILITY_UNSTABLE, // one grows
} CalStability;
/** "stable", "neutral", "unstable"; NULL beyond. */
CAL_API const char *cal_stability_name(CalStability stability);

typedef struct CalTrimOptions {
	int start;              // 0: from the present state; k > 0: from another one, drawn at random about it
	uint64_t seed;          // of these
	double spread;          // their distance: angles [rad], lengths as many of their scale (calder/linear.h); 0: pi
	int max_iterations;     // 0: 200
	double tolerance;       // of accelerations that count as zero [rad/s^2, m/s^2]; 0: 1e-9
	CalAllocator allocator; // {0}: malloc
} CalTrimOptions;

typedef struct CalTrim {
	int iterations;         //
	double residual;        // largest acceleration or rate of a device that is left
	CalStability stability; //
	double growth;          // largest real part of a pole [1/s]
	int zero_poles;         // poles that are zero
} CalTrim;

/**
 * Moves the simulation to an equilibrium by Newton's method with damping (Levenberg and Marquardt) on the configurations that
 * the loops allow, and makes it the start (cal_sim_restart). CAL_NOT_CONVERGED: none was found from there, error says what
 * accelerates most; the state is then as before. A start that cannot be assembled counts as one from which none was found.
 */
CAL_API CalStatus cal_sim_trim(CalSim *sim, const CalTrimOptions *options, CalTrim *trim, CalError *error);

/** An equilibrium on a path. */
typedef struct CalTrimPoint {
	double value;           // of the parameter
	double residual;        // as in CalTrim
	CalStability stability; //
	double growth;          // largest real part of a pole [1/s]
	int zero_poles;         //
	int turns;              // nonzero: between this point and the one before the parameter turns back (a limit point)
} CalTrimPoint;

/** Called for each point with the simulation there; nonzero ends the path. */
typedef int (*CalTrimPointFn)(void *user, CalSim *sim, const CalTrimPoint *point);

#define CAL_TRIM_PATH_POINTS 1000 // at most, unless more are asked for

typedef struct CalTrimPathOptions {
	const char *input; // the parameter: an input as CalStateSpaceOptions has them, added to what acts
	double from, to;   // its values at the start, and where the path ends
	double back;       // how far it may come back beyond `from` before the path ends too, in parts of |to - from|
	double step;       // largest, as a distance: rad, m and parts of |to - from|; 0: 0.1
	int most;          // points; 0: CAL_TRIM_PATH_POINTS
	CalTrimPointFn point;
	void *user;             // handed to point
	CalAllocator allocator; // {0}: malloc
} CalTrimPathOptions;

/**
 * Follows an equilibrium while a parameter changes, by its arc length: past limit points, where there is none beyond and the
 * parameter turns back, to unstable branches. Starts with an equilibrium near the present state for `from`; the simulation is left
 * at the last point, without the parameter. CAL_NOT_CONVERGED: none there, or the path ends before.
 */
CAL_API CalStatus cal_sim_trim_path(CalSim *sim, const CalTrimPathOptions *options, int *points, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
