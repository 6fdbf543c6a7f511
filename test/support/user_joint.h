// SPDX-License-Identifier: Apache-2.0
/*
 * user_joint.h — joints of the caller's own for the tests, each a table of functions over RefElements.
 *
 * SLIDER leaves every optional function NULL; CAM needs a bias acceleration; CAM_TURN has two speeds of which one
 * moves the other's axis; BALL has a quaternion with speeds in inboard components, so that it must bring its
 * own manifold functions.
 */
#ifndef TEST_SUPPORT_USER_JOINT_H
#define TEST_SUPPORT_USER_JOINT_H

#include "reference/reference.h"
#include "support/rng.h"

typedef enum UserJoint { USER_SLIDER, USER_CAM, USER_CAM_TURN, USER_BALL, USER_JOINT_COUNT } UserJoint;

/** Functions of the kind; their data is a RefElements of matching shape. */
const CalJointOps *user_joint_ops(UserJoint kind);
/** Random parameters for the kind, to be released with free(). */
RefElements *user_joint_random(Rng *r, UserJoint kind);

#endif
