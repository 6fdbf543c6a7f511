// SPDX-License-Identifier: Apache-2.0
/*
 * export_setup.c — what no robot file has: flexible bodies, several groups, loads over time, motions, events, subsystems.
 */
#include <calder/flex.h>

#include "io/export/export.h"

static bool is_same(CalVec3 a, CalVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static void check_groups(Export *ex) {
	const CalGroupDef *first = cal_desc_group(ex->desc, (CalGroupId){1});
	const int count = cal_desc_group_count(ex->desc);
	for (int i = 1; i <= count; i++) {
		const CalGroupDef *group = cal_desc_group(ex->desc, (CalGroupId){(uint32_t)i});
		if (group->propagation != CAL_PROPAGATE_FLEXIBLE)
			export_note(ex, CAL_IMPORT_MISSING, "group", group->name, group->place,
			            "%s cannot say that the propagation is %s", ex->format->name,
			            cal_propagation_name(group->propagation));
		if (i > 1)
			export_note(ex, is_same(first->gravity, group->gravity) ? CAL_IMPORT_CHANGED : CAL_IMPORT_MISSING, "group",
			            group->name, group->place,
			            is_same(first->gravity, group->gravity)
			                ? "%s has no groups; its bodies are among the others"
			                : "%s has no groups: its bodies are among the others, with another gravity",
			            ex->format->name);
	}
	if (!ex->format->has_gravity && !is_same(first->gravity, (CalVec3){0, 0, -9.81}))
		export_note(ex, CAL_IMPORT_MISSING, "group", first->name, first->place,
		            "%s has no gravity: programs choose it, Calder 9.81 m/s^2 along -z; here it is (%g, %g, %g)",
		            ex->format->name, first->gravity.x, first->gravity.y, first->gravity.z);
}

static void check_bodies(Export *ex) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_body_count(ex->desc); i++) {
		CalFlexDef flex = {0};
		const CalBodyDef *body = cal_desc_body(ex->desc, (CalBodyId){i});
		cal_flex_body(ex->desc, (CalBodyId){i}, NULL, &flex);
		if (flex.modes)
			export_note(ex, CAL_IMPORT_MISSING, "body", body->name, body->place,
			            "%s has no flexible bodies; a partial file has it rigid and undeformed", ex->format->name);
		const double *m = &body->inertia.m[0][0];
		if (body->mass == 0 && (m[0] != 0 || m[4] != 0 || m[8] != 0))
			export_note(ex, CAL_IMPORT_MISSING, "body", body->name, body->place,
			            "it has inertia but no mass, which readers of %s refuse; a partial file has neither",
			            ex->format->name);
	}
}

static void check_lists(Export *ex) {
	CalLoadDef load;
	CalSetupEvent event;
	CalMotionDef motion;
	CalSubsystemUse use;
	for (int i = 0; cal_setup_load(ex->setup, i, &load) == CAL_OK; i++)
		if (!ex->format->takes_load || !ex->format->takes_load(ex, &load))
			export_note(ex, CAL_IMPORT_MISSING, "load", NULL, load.place, "%s has no loads like this one",
			            ex->format->name);
	for (int i = 0; cal_setup_event(ex->setup, i, &event) == CAL_OK; i++)
		export_note(ex, CAL_IMPORT_MISSING, "event", event.name, event.place, "%s has no events", ex->format->name);
	for (int i = 0; cal_setup_motion(ex->setup, i, &motion) == CAL_OK; i++)
		export_note(ex, CAL_IMPORT_MISSING, "motion", NULL, motion.place, "%s has no prescribed motions",
		            ex->format->name);
	for (int i = 0; cal_setup_subsystem(ex->setup, i, &use) == CAL_OK; i++)
		export_note(ex, CAL_IMPORT_MISSING, "subsystem", use.name, use.place, "%s has no compiled subsystems",
		            ex->format->name);
}

void export_check_setup(Export *ex) {
	if (ex->status != CAL_OK)
		return;
	check_groups(ex);
	check_bodies(ex);
	check_lists(ex);
	export_note(ex, CAL_IMPORT_IGNORED, "run", NULL, NULL, "%s has no duration, outputs and threads of a run",
	            ex->format->name);
}
