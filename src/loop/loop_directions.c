// SPDX-License-Identifier: Apache-2.0
/*
 * loop_directions.c — types that lock axes of A and nothing else. Two locked rotations keep the third axes of A and B
 * parallel; one alone keeps two axes perpendicular.
 */
#include "loop/loop_type.h"

enum { BOTH_SIDES = CAL_LOOP_USES_A | CAL_LOOP_USES_B };

const LoopType loop_type_weld = {
	.vanishes = "all relative motion",
	.motion = "none",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_XYZ,
	.rotation = CAL_AXIS_XYZ,
};

const LoopType loop_type_revolute = {
	.vanishes = "all but the angle about z of A",
	.motion = "angle about z",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_XYZ,
	.rotation = CAL_AXIS_X | CAL_AXIS_Y,
};

const LoopType loop_type_prismatic = {
	.vanishes = "all but the length along z of A",
	.motion = "length along z",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_X | CAL_AXIS_Y,
	.rotation = CAL_AXIS_XYZ,
};

const LoopType loop_type_cylindrical = {
	.vanishes = "all but angle about and length along z of A",
	.motion = "angle about z, length along z",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_X | CAL_AXIS_Y,
	.rotation = CAL_AXIS_X | CAL_AXIS_Y,
};

const LoopType loop_type_universal = {
	.vanishes = "the distance of the origins; x of A stays perpendicular to y of B",
	.motion = "angles about x of A and y of B",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_XYZ,
	.rotation = CAL_AXIS_Z,
};

const LoopType loop_type_spherical = {
	.vanishes = "the distance of the origins",
	.motion = "all rotations",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_XYZ,
};

const LoopType loop_type_planar = {
	.vanishes = "the distance of B's origin from the plane x-y of A, and the tilt of the z axes",
	.motion = "lengths along x and y, angle about z",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_Z,
	.rotation = CAL_AXIS_X | CAL_AXIS_Y,
};

const LoopType loop_type_inplane = {
	.vanishes = "the distance of B's origin from the plane x-y of A",
	.motion = "all but the distance of B's origin from the x-y plane of A",
	.uses = BOTH_SIDES,
	.translation = CAL_AXIS_Z,
};

const LoopType loop_type_directions = {
	.vanishes = "motion along and about the axes named",
	.motion = "all but those listed in `translation` and `rotation`",
	.uses = BOTH_SIDES | CAL_LOOP_USES_AXES,
};
