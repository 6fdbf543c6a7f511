// SPDX-License-Identifier: Apache-2.0
/*
 * small_system.h — simulations of a few bodies, made in a line or two, for tests of what is known in closed form.
 */
#ifndef TEST_SUPPORT_SMALL_SYSTEM_H
#define TEST_SUPPORT_SMALL_SYSTEM_H

#include <calder/calder.h>
#include "support/check.h"

typedef struct System {
	CalDesc *desc;
	CalSim *sim;
	CalError error;
} System;

System system_begin(void);
/** Makes the simulation (RK4, 1 ms), reserves and restarts. */
void system_start(System *s, const CalSimCapacity *capacity);
void system_end(System *s);

/** group 0: the default one. Inertias are those of a box of about 1 m. */
CalBodyId add_box(System *s, const char *name, uint32_t group, double mass);
CalNodeId add_node(System *s, CalBodyId body, const char *name, CalVec3 position);
CalJointId join(System *s, CalNodeId a, CalJointType type, const char *name, CalNodeId b);
CalGroupId add_group(System *s, const char *name);
/** A box with nodes "n0" ... "n4" that three modes move; nodes[5]: the last ones' ids, or NULL. */
CalBodyId add_flexible_box(System *s, const char *name, uint32_t group, double mass, CalNodeId *nodes);

/** Of all groups together, about the origin. */
CalMomentum momentum(CalSim *sim, double *kinetic);

/** Three modes on five nodes, whose ids are filled in by the caller. */
typedef struct SmallFlex {
	CalFlexDef def;
	CalFlexNode nodes[5];
	CalVec3 position[5];
	double phi[5][9], psi[5][9], stiffness[9];
} SmallFlex;
void small_flex(SmallFlex *flex);

#endif
