// SPDX-License-Identifier: Apache-2.0
/*
 * check.h — between the parts of desc_check_structure: who reports, and what each part checks.
 *
 * A check never stops at the first finding; each part reports whatever it sees and continues, so that a
 * person can mend a description in one round.
 */
#ifndef CALDER_MODEL_DESCRIPTION_CHECK_H
#define CALDER_MODEL_DESCRIPTION_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "model/description/desc.h"

typedef struct Check {
	const CalDesc *desc;
	CalGroupId group;    // {0}: all groups
	CalFindingFn report; // may be NULL
	void *user;
	bool failed; // an error was reported
} Check;

/** Distances of a body's marked points (nodes and frame origin) from its center of mass. */
typedef struct BodyExtent {
	double reach;  // the largest [m]
	bool has_node; // there is a node besides the body's own frame
} BodyExtent;

void check_error(Check *check, const char *place, const char *format, ...) ERROR_PRINTF(3, 4);
void check_warning(Check *check, const char *place, const char *format, ...) ERROR_PRINTF(3, 4);

/** Mass, center of mass and inertia of one body (check_inertia.c). */
void check_mass_properties(Check *check, const CalBodyDef *body, BodyExtent extent);
/** Type, elements, functions and DOF properties of one joint (check_joint.c). */
void check_joint(Check *check, const CalJointDef *joint);
/** Sides and terms of one loop (check_loop.c); carriers: the joints that carry the bodies of its terms, sound. */
void check_loop(Check *check, const DescLoop *loop, const CalJointDef *const *carriers);
/** Masses, modes, stiffness and damping of one flexible body (check_flex.c). False if memory is short. */
bool check_flexibility(Check *check, const DescBody *body);
/** Whether the modes move a node that a joint is attached to. */
void check_interface(Check *check, const CalJointDef *joint, CalNodeId node);

#endif
