// SPDX-License-Identifier: Apache-2.0
/*
 * calder/base.h — what every other header needs: status codes, errors, allocator, small vectors.
 *
 * Conventions of the whole API: SI units and radians; right-handed frames; quaternions (w,x,y,z);
 * spatial vectors angular-first; `R` maps components in the moving frame to the reference frame.
 * Status 0 is success, > 0 recoverable (numerics), < 0 fatal (the call or the input is wrong).
 * The library never prints, exits, or keeps global state.
 *
 * NULL: a function that returns CalStatus answers CAL_ERR_ARGUMENT (or another negative status) where a pointer that it
 * needs is NULL. Every other function treats it as an empty object: counts and numbers are 0, indices -1, pointers NULL,
 * structures all zero; a function that returns nothing does nothing. An array of zero elements may be NULL, and so may
 * error, options, allocator, user and input in any call, unless it says otherwise, and what a comment says may be NULL.
 * Pointers that are not NULL must point to a living object of their type: that cannot be checked.
 */
#ifndef CALDER_BASE_H
#define CALDER_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAL_API __attribute__((visibility("default")))
#else
#define CAL_API
#endif

#define CAL_VERSION_MAJOR 0
#define CAL_VERSION_MINOR 1
#define CAL_VERSION_PATCH 0

/** "major.minor.patch" of the library that is linked (compare with CAL_VERSION_*). */
CAL_API const char *cal_version(void);

/* One line per status: name, value, text. Drives the enum and cal_status_text(). */
#define CAL_STATUS_LIST(X)                                                                     \
	X(CAL_OK, 0, "ok")                                                                         \
	X(CAL_SINGULAR, 1, "the articulated inertia of a joint is singular in this configuration") \
	X(CAL_NOT_FINITE, 2, "a number is not finite")                                             \
	X(CAL_STEP_TOO_SMALL, 3, "the step size fell below its minimum")                           \
	X(CAL_TOO_MANY_STEPS, 4, "the step limit was reached before the end time")                 \
	X(CAL_NOT_CONVERGED, 5, "an iteration did not converge")                                   \
	X(CAL_STOPPED, 6, "an event stopped the run")                                              \
	X(CAL_ERR_ARGUMENT, -1, "an argument is not valid")                                        \
	X(CAL_ERR_MEMORY, -2, "out of memory")                                                     \
	X(CAL_ERR_MODEL, -3, "the model description is not valid")                                 \
	X(CAL_ERR_INPUT, -4, "the input file is not valid")                                        \
	X(CAL_ERR_IO, -5, "a file could not be read or written")                                   \
	X(CAL_ERR_STAGE, -6, "the workspace does not hold what this call needs")                   \
	X(CAL_ERR_UNSUPPORTED, -7, "this build or this model does not support the call")           \
	X(CAL_ERR_USER, -8, "a user-supplied function reported an error")                          \
	X(CAL_ERR_LOST, -9, "another rank of a distributed run is gone, or silent for too long")   \
	X(CAL_ERR_DEVICE, -10, "a GPU reported an error")

typedef enum CalStatus {
#define CAL_STATUS_ENUM(name, value, text) name = (value),
	CAL_STATUS_LIST(CAL_STATUS_ENUM)
#undef CAL_STATUS_ENUM
} CalStatus;

/** A sentence for a status; never NULL. */
CAL_API const char *cal_status_text(CalStatus status);

/** What went wrong, in words a person can act on. Give one to any build-time call, or NULL. */
typedef struct CalError {
	CalStatus status; // status of the first error
	int count;        // number of errors found (the text is that of the first)
	char text[768];   // "place: object: what is wrong; what to do about it"
} CalError;

/** Memory source of build-time objects. Zero-initialized: malloc and free. */
typedef struct CalAllocator {
	void *(*alloc)(void *user, size_t size); // returns NULL on failure; aligned for any type
	void (*free)(void *user, void *memory);  // accepts NULL
	void *user;                              // handed to both
} CalAllocator;

typedef struct CalVec3 {
	double x, y, z;
} CalVec3;

/** Row-major 3x3: m[row][column]. */
typedef struct CalMat3 {
	double m[3][3];
} CalMat3;

/** Unit quaternion of a rotation, Hamilton, scalar first. */
typedef struct CalQuat {
	double w, x, y, z;
} CalQuat;

/** Pose of a frame in another: v_ref = R v + r. */
typedef struct CalPose {
	CalMat3 R; // orientation: frame components to reference components
	CalVec3 r; // position of the frame's origin [m]
} CalPose;

/** Motion (w, v) [rad/s, m/s], acceleration (alpha, a) or wrench (moment, force) [N m, N] at a point. */
typedef struct CalSpatial {
	CalVec3 angular;
	CalVec3 linear;
} CalSpatial;

/** A placement as people write it: position and quaternion (normalized when read). */
typedef struct CalPlacement {
	CalVec3 position;    // [m]
	CalQuat orientation; // {0}: identity
} CalPlacement;

#ifdef __cplusplus
}
#endif
#endif
