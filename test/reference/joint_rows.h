// SPDX-License-Identifier: Apache-2.0
/*
 * joint_rows.h — one row for each joint type: what all tests of joints expect of it, without looking into src/joint.
 *
 * `motion` is the joint as a chain of elementary motions, from the inboard to the outboard side:
 *   R turn, T slide, H helix (turn that advances by pitch), B ball (quaternion), then what they are about or along:
 *   a axis, b axis2, c axis x axis2; x y z of the joint frame. "*": the elements of the joint, or its functions, say.
 * `keys` is what a file says besides type and to, with every key that the type has.
 */
#ifndef CALDER_TEST_REFERENCE_JOINT_ROWS_H
#define CALDER_TEST_REFERENCE_JOINT_ROWS_H

#include <calder/build.h>

typedef struct JointRow {
	CalJointType type;
	const char *name;
	const char *motion;
	const char *coordinates, *speeds; // their names
	const char *keys;                 // NULL: not in files
	const char *loop;                 // type of loop that leaves the same motion; NULL: none
	int reversible;                   // `reversed: true` in files
} JointRow;

/* clang-format off */
static const JointRow joint_rows[] = {
	{CAL_JOINT_WELD, "weld", "", "", "", "", "weld", 1},
	{CAL_JOINT_REVOLUTE, "revolute", "Ra", "angle", "rate", "axis: [1, 2, 2]", "revolute", 1},
	{CAL_JOINT_PRISMATIC, "prismatic", "Ta", "length", "speed", "axis: [1, 2, 2]", "prismatic", 1},
	{CAL_JOINT_SCREW, "screw", "Ha", "angle", "rate", "axis: [1, 2, 2], pitch: 5 mm/rev", "screw", 1},
	{CAL_JOINT_UNIVERSAL, "universal", "Ra Rb", "angle1 angle2", "rate1 rate2", "axis: y, axis2: x", "universal", 0},
	{CAL_JOINT_CYLINDRICAL, "cylindrical", "Ra Ta", "angle length", "rate speed", "axis: [1, 2, 2]", "cylindrical", 1},
	{CAL_JOINT_PLANAR, "planar", "Tb Tc Ra", "x y angle", "vx vy rate", "axis: x, axis2: z", "planar", 0},
	{CAL_JOINT_SPHERICAL, "spherical", "B", "qw qx qy qz", "wx wy wz", "", "spherical", 0},
	{CAL_JOINT_FREE, "free", "Tx Ty Tz B", "x y z qw qx qy qz", "vx vy vz wx wy wz", "", NULL, 0},
	{CAL_JOINT_SEQUENCE, "sequence", "*", "angle1 length2 qw3 qx3 qy3 qz3", "rate1 speed2 wx3 wy3 wz3",
	 "elements: [{type: screw, axis: x, pitch: 1 cm/rev}, {type: prismatic, axis: y}, {type: spherical}]", NULL, 0},
	{CAL_JOINT_USER, "user", "*", "q1 q2", "u1 u2", NULL, NULL, 0},
	{CAL_JOINT_PIN_SLOT, "pin_slot", "Tb Ra", "length angle", "speed rate", "axis: z, axis2: [1, 0, 0.5]", "directions", 0},
};
/* clang-format on */
enum { JOINT_ROWS = sizeof joint_rows / sizeof joint_rows[0] };

/* Types that can be loops; returns their number. */
static inline int joint_rows_of_loops(CalJointType types[CAL_JOINT_TYPE_COUNT]) {
	int count = 0;
	for (int i = 0; i < JOINT_ROWS; i++)
		if (joint_rows[i].loop)
			types[count++] = joint_rows[i].type;
	return count;
}

#endif
