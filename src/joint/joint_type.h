// SPDX-License-Identifier: Apache-2.0
/*
 * joint_type.h — what a joint type is: all that the library knows about it.
 *
 * A joint type is one file in this folder, which defines the constant joint_NAME, and one line in CAL_JOINT_TYPE_LIST
 * (calder/build.h). Everything else asks this table: model files, writer, checks, compiler, topology changes, viewer,
 * pages. test/reference/joint_rows.h has a row for each type, which every test of joints goes through.
 */
#ifndef CALDER_JOINT_JOINT_TYPE_H
#define CALDER_JOINT_JOINT_TYPE_H

#include "joint/primitive.h"

/* One primitive of a joint: acts in the frame left by the one before it. */
typedef struct JointElement {
	JointPrimitive motion;
	CalVec3 axis; // unit; in the running frame
	double pitch; // SCREW [m/rad]
} JointElement;

typedef struct JointType {
	const char *coordinates, *speeds; // what q and u are, in a few words of Markdown
	// Words, one for each coordinate and speed; NULL: from those of its elements, or numbers for the caller's own
	const char *coordinate_names, *speed_names;
	int uses;               // set of CAL_JOINT_USES_*
	int perpendicular;      // axis2 is made perpendicular to axis
	int commutes;           // reverse() keeps the order of its elements
	JointPrimitive element; // what it is in a sequence; FIXED: it cannot be there

	/* Its elements; returns their number. */
	int (*elements)(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]);
	/* q from a pose; NULL: by iteration. */
	void (*solve)(const CalJointDef *def, const dpose *X, double *q);
	/* Type, axes and elements the other way round; NULL: the same. */
	void (*reverse)(const CalJointDef *def, CalJointDef *out);
	/*
	 * The loop that leaves the same motion: its type, and the axes of its frames A and B (at q = 0) in the joint frame.
	 * Returns NULL, or why this joint has none. The function is NULL: no joint of the type has.
	 */
	const char *(*as_loop)(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes);
	/* What the equations of that loop cannot see of q goes into its drives; NULL: nothing. */
	void (*loop_offset)(const CalJointDef *def, const double *q, CalLoopDef *loop);
} JointType;

#define JOINT_TYPE_DECLARE(type, name) extern const JointType joint_##name;
CAL_JOINT_TYPE_LIST(JOINT_TYPE_DECLARE)
#undef JOINT_TYPE_DECLARE

/* NULL: no such type. */
const JointType *joint_type(CalJointType type);
/* Whether a joint has a type and as many elements of a sequence, or functions, as it says. */
int joint_is_countable(const CalJointDef *def);
/* Elements of a joint of any type. */
int joint_elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]);
/* Coordinates and speeds of a joint. */
int joint_coordinate_count(const CalJointDef *def);
int joint_speed_count(const CalJointDef *def);
/* Coordinate of the joint whose rate is speed `dof`, -1: there is none (part of a quaternion, or the caller's own). */
int joint_coordinate_of(const CalJointDef *def, int dof);

/*
 * Name and kind of a coordinate (speeds = 0) or a speed of a joint: number `i` of the joint and `of_element` of its element
 * `element`, which makes `motion`.
 */
CalCoordinateInfo joint_coordinate_info(const JointType *type, int speeds, int i, JointPrimitive motion, int element,
                                        int of_element);

/* The type whose joints are one element of this motion; CAL_JOINT_TYPE_COUNT: none. */
CalJointType joint_type_of_element(JointPrimitive motion);

/* "revolute, screw and planar": names of the types that have what is asked for. */
typedef int (*JointTypeTest)(const JointType *type);
int joint_type_is_element(const JointType *type);
int joint_type_is_loop(const JointType *type);
const char *joint_type_list(JointTypeTest has, char *text, size_t size);

/* For JointType.elements: one element of the given motion, about or along axis. */
int joint_one_element(JointPrimitive motion, const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]);
/* For JointType.reverse: an axis the other way; the first axis, and any elements as a sequence of their inverses. */
CalVec3 joint_opposite(CalVec3 axis);
void joint_reverse_axis(const CalJointDef *def, CalJointDef *out);
void joint_reverse_sequence(const CalJointDef *def, CalJointDef *out);
/* For JointType.as_loop: a frame whose z is the axis. */
dmat3 joint_axes_z(CalVec3 axis);

#endif
