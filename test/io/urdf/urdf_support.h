// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_support.h — pieces of URDF files for tests.
 */
#ifndef TEST_IO_URDF_SUPPORT_H
#define TEST_IO_URDF_SUPPORT_H

#include <stdbool.h>

#include "support/robot.h"

#define URDF(inside) "<robot name='r'>" inside "</robot>"
#define URDF_1(minor, inside) "<robot name='r' version='1." minor "'>" inside "</robot>"
#define INERTIA "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/>"
#define INERTIAL "<inertial><mass value='1'/>" INERTIA "</inertial>"
#define LINK(name, inside) "<link name='" name "'>" inside "</link>"
#define BODY(name) LINK(name, INERTIAL)
#define JOINT(name, type, parent, child, inside) \
	"<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" inside "</joint>"
#define LIMIT "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
#define HALF_PI "1.5707963267948966"

/* Two links with a joint between them. */
#define PAIR(type, inside) URDF(BODY("a") BODY("b") JOINT("j", type, "a", "b", inside))

static inline const CalJointDef *joint_of(const Robot *r, const char *name) {
	const CalDesc *desc = cal_setup_desc(r->setup);
	const CalJointDef *def = cal_desc_joint(desc, cal_desc_find_joint(desc, name), NULL, NULL);
	if (!def)
		fail_msg("there is no joint %s", name);
	return def;
}

/** The device of a type on a joint; NULL: there is none. */
static inline const void *device_of(const Robot *r, const char *type, const char *joint) {
	const CalJointId id = cal_desc_find_joint(cal_setup_desc(r->setup), joint);
	const char *found;
	const void *def;
	for (int i = 0; cal_setup_device(r->setup, i, &found, NULL, &def) == CAL_OK; i++) {
		if (strcmp(found, type) != 0)
			continue;
		const CalJointId on =
			strcmp(type, "limit") == 0 ? ((const CalLimitDef *)def)->joint : ((const CalFrictionDef *)def)->joint;
		if (on.value == id.value)
			return def;
	}
	return NULL;
}

static inline int note_count(const Robot *r) { return cal_setup_import_note_count(r->setup); }

#endif
