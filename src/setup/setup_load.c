// SPDX-License-Identifier: Apache-2.0
/*
 * setup_load.c — loads: efforts and driven dofs of joints and modes, wrenches on nodes, each over an interval. The scenario
 * applies them.
 */
#include <math.h>

#include <calder/mechanism.h>

#include "setup/setup.h"

CalLoadDef cal_load_def(void) { return (CalLoadDef){.mode = -1, .start = -INFINITY, .end = INFINITY}; }

/* "load on joint "hinge"", for messages. */
static CalStatus refuse(const CalSetup *setup, const CalLoadDef *def, CalError *error, const char *wrong) {
	const CalJointDef *joint = cal_desc_joint(setup->desc, def->joint, NULL, NULL);
	const CalBodyDef *body = def->body.value ? cal_desc_body(setup->desc, def->body) : NULL;
	const CalNodeDef *node = cal_desc_node(setup->desc, def->node, NULL);
	const char *what = joint ? " on joint " : body ? " on body " : node ? " on node " : "";
	const char *name = joint ? joint->name : body ? body->name : node ? node->name : "";
	const char *quote = name[0] ? "\"" : "";
	return error_set(error, CAL_ERR_MODEL, "%s%sload %d%s%s%.80s%s: %s", PLACE_ARGS(def->place), setup->load_count + 1,
	                 what, quote, name, quote, wrong);
}

/* The joint and the dofs that a load is about. */
static const char *find_dofs(const CalSetup *setup, LoadEntry *entry) {
	const CalLoadDef *def = &entry->def;
	const CalDesc *desc = setup->desc;
	entry->joint = def->body.value ? setup_body_joint(desc, def->body) : def->joint;
	const CalJointDef *joint = cal_desc_joint(desc, entry->joint, NULL, NULL);
	if (def->body.value && !cal_desc_body(desc, def->body))
		return "there is no such body in the description; add it first";
	if (!joint)
		return def->body.value ? "no joint carries the body; attach it first"
		                       : "there is no such joint in the description; attach it first";
	entry->name = joint->name;
	if (cal_desc_joint_mechanism(desc, entry->joint) && !cal_desc_joint_independent(desc, entry->joint))
		return "it is a dependent joint of an embedded loop; load the independent joint or a node, or do not embed the "
			   "loop";
	entry->nu = setup_joint_speeds(desc, entry->joint);
	entry->modes = setup_body_modes(desc, setup_joint_body(desc, entry->joint));
	if (def->body.value && (!entry->modes || def->mode < -1 || def->mode >= entry->modes))
		return entry->modes ? "it has no such mode; they count from 0, and -1 means all"
		                    : "the body is rigid: it has no modes to load; name a joint or a node";
	entry->first = !def->body.value ? 0 : entry->nu + (def->mode < 0 ? 0 : def->mode);
	const int count = !def->body.value ? entry->nu : def->mode < 0 ? entry->modes : 1;
	return def->dof_count != count || (count && !def->dofs)
	           ? "dofs must have one value for each degree of freedom of the joint, or for each mode that is loaded"
	           : NULL;
}

static bool is_finite(CalVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static const char *check_numbers(const CalLoadDef *def) {
	for (int i = 0; i < def->dof_count; i++)
		if (!isfinite(def->dofs[i].effort) || !isfinite(def->dofs[i].acceleration))
			return "a number is not finite";
	return is_finite(def->wrench.angular) && is_finite(def->wrench.linear) ? NULL : "a number is not finite";
}

static const char *check_load(const CalSetup *setup, LoadEntry *entry) {
	const CalLoadDef *def = &entry->def;
	CalBodyId body = {0};
	if (!!def->joint.value + !!def->body.value + !!def->node.value != 1)
		return "it acts on either a joint or the modes of a body or a node; give one of the three";
	if (!(def->start < def->end))
		return "it must end after it starts";
	if (def->node.value && (def->dof_count || def->dofs))
		return "dofs belong to a load on a joint or on modes; on a node give the wrench";
	if (def->node.value && !cal_desc_node(setup->desc, def->node, &body))
		return "there is no such node in the description; add it first";
	if (def->node.value && !body.value)
		return "a load on the ground moves nothing; name a node of a body";
	if (def->frame != CAL_FRAME_WORLD && def->frame != CAL_FRAME_NODE)
		return "its frame is that of the world or of the node";
	const char *wrong = def->node.value ? NULL : find_dofs(setup, entry);
	return wrong ? wrong : check_numbers(def);
}

CalStatus cal_setup_add_load(CalSetup *setup, const CalLoadDef *def, CalError *error) {
	if (!setup || !def)
		return error_null(error, "cal_setup_add_load", !setup ? "setup" : "def");
	LoadEntry entry = {.def = *def};
	const char *wrong = check_load(setup, &entry);
	if (wrong)
		return refuse(setup, def, error, wrong);
	const size_t count = (size_t)def->dof_count;
	if (def->dofs && !(entry.def.dofs = setup_copy_array(setup, def->dofs, count, sizeof *def->dofs)))
		return setup_no_memory(setup, error);
	if (!setup_copy_text(setup, &entry.name) || !setup_copy_text(setup, &entry.def.place) || !SETUP_ROOM(setup, load))
		return setup_no_memory(setup, error);
	setup->loads[setup->load_count++] = entry;
	return CAL_OK;
}

int cal_setup_load_count(const CalSetup *setup) { return setup ? setup->load_count : 0; }

CalStatus cal_setup_load(const CalSetup *setup, int index, CalLoadDef *def) {
	if (!setup || !def || index < 0 || index >= setup->load_count)
		return CAL_ERR_ARGUMENT;
	*def = setup->loads[index].def;
	return CAL_OK;
}
