// SPDX-License-Identifier: Apache-2.0
/*
 * setup_motion.c — what else moves or holds parts of the model: groups that move as given, compiled subsystems, loops that
 * start open.
 */
#include <string.h>

#include "setup/setup.h"

/* ---- motions --------------------------------------------------------------------------------------- */

static const char *check_motion(const CalSetup *setup, const CalMotionDef *def) {
	const CalDesc *desc = setup->desc;
	const CalGroupId group = cal_desc_find_group(desc, def->group);
	if (!group.value)
		return "there is no such group in the description; add it first";
	for (int i = 0; i < setup->motion_count; i++)
		if (strcmp(setup->motions[i].group, def->group) == 0)
			return "the group has a motion already; give all its joints in one";
	if (def->joint_count > 0 && !def->joints)
		return "joints is NULL";
	for (int i = 0; i < def->joint_count; i++) {
		const CalBodyDef *body = cal_desc_body(desc, setup_joint_body(desc, def->joints[i].joint));
		if (!body)
			return "a joint that it moves is not in the description; attach it first";
		if ((body->group.value ? body->group.value : 1) != group.value)
			return "a joint that it moves is in another group";
	}
	return NULL;
}

static bool copy_motion(CalSetup *setup, CalMotionDef *def) {
	const size_t count = def->joint_count > 0 ? (size_t)def->joint_count : 0;
	CalJointMotion *joints = setup_copy_array(setup, def->joints, count, sizeof *joints);
	bool copied = joints && setup_copy_text(setup, &def->name) && setup_copy_text(setup, &def->group) &&
	              setup_copy_text(setup, &def->place);
	for (size_t i = 0; i < count && copied; i++) {
		copied = setup_copy_function(setup, &joints[i].angle);
		for (int k = 0; k < CAL_JOINT_MAX_DOF && copied; k++)
			copied = setup_copy_function(setup, &joints[i].q[k]);
	}
	def->joints = joints;
	return copied;
}

CalStatus cal_setup_add_motion(CalSetup *setup, const CalMotionDef *def, CalError *error) {
	if (!setup || !def)
		return error_null(error, "cal_setup_add_motion", !setup ? "setup" : "def");
	if (!def->name || !def->name[0] || !def->group)
		return error_set(error, CAL_ERR_MODEL, "%s%sa motion needs a name and a group", PLACE_ARGS(def->place));
	const char *wrong = check_motion(setup, def);
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "%s%smotion of group \"%.80s\": %s", PLACE_ARGS(def->place), def->group,
		                 wrong);
	CalMotionDef own = *def;
	if (!copy_motion(setup, &own) || !SETUP_ROOM(setup, motion))
		return setup_no_memory(setup, error);
	setup->motions[setup->motion_count++] = own;
	return CAL_OK;
}

int cal_setup_motion_count(const CalSetup *setup) { return setup ? setup->motion_count : 0; }

CalStatus cal_setup_motion(const CalSetup *setup, int index, CalMotionDef *def) {
	if (!setup || !def || index < 0 || index >= setup->motion_count)
		return CAL_ERR_ARGUMENT;
	*def = setup->motions[index];
	return CAL_OK;
}

CalStatus cal_setup_apply_motions(const CalSetup *setup, CalSim *sim, CalError *error) {
	if (!setup || !sim)
		return error_null(error, "cal_setup_apply_motions", !setup ? "setup" : "sim");
	CalStatus status = CAL_OK;
	for (int i = 0; i < setup->motion_count && status == CAL_OK; i++)
		status = cal_sim_add_motion(sim, &setup->motions[i], NULL, error);
	return status;
}

/* ---- compiled subsystems --------------------------------------------------------------------------------- */

static const char *check_use(const CalSetup *setup, const CalSubsystemUse *use) {
	if (use->library && !use->library[0])
		return "its library is an empty path";
	if (!use->library && use->tie_count < 1)
		return "a component needs ties, a compiled subsystem a library: the path of a shared object";
	if (use->tie_count > 0 && !use->ties)
		return "ties is NULL";
	for (int i = 0; i < setup->subsystem_count; i++)
		if (strcmp(setup->subsystems[i].name, use->name) == 0)
			return "there is another subsystem of that name; rename one";
	for (int i = 0; i < use->tie_count; i++)
		if (!setup_has_node(setup->desc, use->ties[i].node))
			return "a node that it is attached to is not in the description; add it first";
	for (int i = 0; !use->library && i < use->tie_count; i++)
		if (!use->ties[i].inner.value || !setup_has_node(setup->desc, use->ties[i].inner))
			return "an interface node of a component is a node of a body in the description; give it as `inner`";
	return NULL;
}

static bool copy_use(CalSetup *setup, CalSubsystemUse *use) {
	const size_t count = use->tie_count > 0 ? (size_t)use->tie_count : 0;
	CalSubsystemTie *ties = setup_copy_array(setup, use->ties, count, sizeof *ties);
	if (!use->file)
		use->file = use->library ? use->library : "";
	if (!use->arguments)
		use->arguments = "";
	bool copied = ties && setup_copy_text(setup, &use->name) &&
	              (!use->library || setup_copy_text(setup, &use->library)) && setup_copy_text(setup, &use->file) &&
	              setup_copy_text(setup, &use->arguments) && setup_copy_text(setup, &use->place);
	for (size_t i = 0; i < count && copied; i++)
		copied = setup_copy_text(setup, &ties[i].name) && setup_copy_text(setup, &ties[i].joint.name) &&
		         setup_copy_text(setup, &ties[i].joint.place);
	use->ties = ties;
	return copied;
}

CalStatus cal_setup_add_subsystem(CalSetup *setup, const CalSubsystemUse *use, CalError *error) {
	if (!setup || !use)
		return error_null(error, "cal_setup_add_subsystem", !setup ? "setup" : "use");
	if (!use->name || !use->name[0])
		return error_set(error, CAL_ERR_MODEL, "%s%sa subsystem has no name; give it one", PLACE_ARGS(use->place));
	const char *wrong = check_use(setup, use);
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "%s%ssubsystem \"%.80s\": %s", PLACE_ARGS(use->place), use->name, wrong);
	CalSubsystemUse own = *use;
	if (!copy_use(setup, &own) || !SETUP_ROOM(setup, subsystem))
		return setup_no_memory(setup, error);
	setup->subsystems[setup->subsystem_count++] = own;
	return CAL_OK;
}

int cal_setup_subsystem_count(const CalSetup *setup) { return setup ? setup->subsystem_count : 0; }

CalStatus cal_setup_subsystem(const CalSetup *setup, int index, CalSubsystemUse *use) {
	if (!setup || !use || index < 0 || index >= setup->subsystem_count)
		return CAL_ERR_ARGUMENT;
	*use = setup->subsystems[index];
	return CAL_OK;
}

/* ---- open loops --------------------------------------------------------------------------------------------- */

CalStatus cal_setup_open_loop(CalSetup *setup, CalLoopId loop, CalError *error) {
	if (!setup)
		return error_null(error, "cal_setup_open_loop", "setup");
	if (!cal_desc_loop(setup->desc, loop, NULL, NULL))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_setup_open_loop: there is no loop %u in the description",
		                 loop.value);
	for (int i = 0; i < setup->open_loop_count; i++)
		if (setup->open_loops[i].value == loop.value)
			return CAL_OK;
	if (!SETUP_ROOM(setup, open_loop))
		return setup_no_memory(setup, error);
	setup->open_loops[setup->open_loop_count++] = loop;
	return CAL_OK;
}

int cal_setup_open_loop_count(const CalSetup *setup) { return setup ? setup->open_loop_count : 0; }

CalLoopId cal_setup_opened_loop(const CalSetup *setup, int index) {
	return setup && index >= 0 && index < setup->open_loop_count ? setup->open_loops[index] : (CalLoopId){0};
}
