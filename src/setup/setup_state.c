// SPDX-License-Identifier: Apache-2.0
/*
 * setup_state.c — the initial state: coordinates and speeds of joints and of the modes of the bodies that they carry, and
 * what of it the closing of loops must not move.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include <calder/flex.h>

#include "math/portable.h"
#include "setup/setup.h"

/* ---- the description ------------------------------------------------------------------------------- */

CalBodyId setup_joint_body(const CalDesc *desc, CalJointId joint) {
	CalNodeId outboard = {0};
	CalBodyId body = {0};
	if (cal_desc_joint(desc, joint, NULL, &outboard))
		cal_desc_node(desc, outboard, &body);
	return body;
}

CalJointId setup_body_joint(const CalDesc *desc, CalBodyId body) {
	for (uint32_t i = (uint32_t)cal_desc_joint_count(desc); body.value && i > 0; i--)
		if (setup_joint_body(desc, (CalJointId){i}).value == body.value)
			return (CalJointId){i};
	return (CalJointId){0};
}

int setup_body_modes(const CalDesc *desc, CalBodyId body) {
	CalFlexDef flex = {0};
	return body.value && cal_flex_body(desc, body, NULL, &flex) == CAL_OK ? flex.modes : 0;
}

int setup_joint_speeds(const CalDesc *desc, CalJointId joint) {
	const CalJointDef *def = cal_desc_joint(desc, joint, NULL, NULL);
	return def ? cal_joint_speed_count(def) : 0;
}

bool setup_has_node(const CalDesc *desc, CalNodeId node) {
	return node.value == 0 || cal_desc_node(desc, node, NULL) != NULL;
}

/* ---- adding ------------------------------------------------------------------------------------------ */

static bool all_finite(const double *values, int count) {
	for (int i = 0; values && i < count; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

/* Makes the quaternions of q unit and returns the norm of one that is far from it, or 1. A unit one stays as it is, to the
 * bit. */
static double unit_quaternions(const CalJointDef *def, double *q) {
	CalCoordinateInfo info;
	for (int i = 0; cal_joint_coordinate(def, i, &info) == CAL_OK;
	     i += info.kind == CAL_COORDINATE_QUATERNION ? 4 : 1) {
		if (info.kind != CAL_COORDINATE_QUATERNION)
			continue;
		const double norm = portable_hypot(portable_hypot(q[i], q[i + 1]), portable_hypot(q[i + 2], q[i + 3]));
		if (!(fabs(norm - 1) < 1e-3))
			return norm;
		for (int k = i; k < i + 4 && fabs(norm - 1) > 8 * DBL_EPSILON; k++)
			q[k] /= norm;
	}
	return 1;
}

static CalStatus check_state(const StateEntry *entry, CalError *error) {
	const CalStateDef *def = &entry->def;
	const char *wrong = (def->eta || def->eta_dot) && !entry->modes
	                        ? "the body that this joint carries is rigid; remove eta and eta_dot"
	                    : def->guess && (def->frozen || def->frozen_modes)
	                        ? "a guess is what closing loops moves first; it cannot be frozen too"
	                    : !all_finite(def->q, entry->nq) || !all_finite(def->u, entry->nu) ||
	                            !all_finite(def->eta, entry->modes) || !all_finite(def->eta_dot, entry->modes)
	                        ? "a number is not finite"
	                        : NULL;
	return wrong ? error_set(error, CAL_ERR_MODEL, "%s%sstate of joint \"%.80s\": %s", PLACE_ARGS(def->place),
	                         entry->name, wrong)
	             : CAL_OK;
}

static CalStatus copy_state(CalSetup *setup, const CalJointDef *joint, StateEntry *entry, CalError *error) {
	CalStateDef *def = &entry->def;
	const size_t nq = (size_t)entry->nq, nu = (size_t)entry->nu, modes = (size_t)entry->modes;
	const uint8_t **flags[] = {&def->assumed_q, &def->assumed_u, &def->frozen};
	double *q = def->q ? setup_copy_array(setup, def->q, nq, sizeof *q) : NULL;
	bool copied = (!def->q || q) && setup_copy_doubles(setup, &def->u, nu) &&
	              setup_copy_doubles(setup, &def->eta, modes) && setup_copy_doubles(setup, &def->eta_dot, modes) &&
	              setup_copy_text(setup, &def->place) && setup_copy_text(setup, &entry->name);
	for (int i = 0; i < 3 && copied; i++)
		if (*flags[i])
			copied = (*flags[i] = setup_copy_array(setup, *flags[i], nu, 1)) != NULL;
	if (!copied)
		return setup_no_memory(setup, error);
	const double norm = q ? unit_quaternions(joint, q) : 1;
	if (!(fabs(norm - 1) < 1e-3))
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sstate of joint \"%.80s\": the quaternion (w, x, y, z) in q has the norm %g; it must be 1 "
		                 "(within 0.001)",
		                 PLACE_ARGS(def->place), entry->name, norm);
	def->q = q;
	return CAL_OK;
}

/* Room for the state of a joint in the list by joints; new places are empty. */
static bool reserve_joint(CalSetup *setup, CalJointId joint) {
	const int count = (int)joint.value;
	if (count <= setup->state_of_count)
		return true;
	int *moved = array_reserve(&setup->allocator, setup->state_of, setup->state_of_count, count - setup->state_of_count,
	                           &setup->state_of_capacity, sizeof *moved);
	if (!moved)
		return false;
	setup->state_of = moved;
	memset(moved + setup->state_of_count, 0, (size_t)(count - setup->state_of_count) * sizeof *moved);
	setup->state_of_count = count;
	return true;
}

CalStatus cal_setup_set_state(CalSetup *setup, CalJointId joint, const CalStateDef *def, CalError *error) {
	if (!setup || !def)
		return error_null(error, "cal_setup_set_state", !setup ? "setup" : "def");
	const CalJointDef *described = cal_desc_joint(setup->desc, joint, NULL, NULL);
	if (!described)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "%s%sa state: there is no joint %u in the description; attach it first",
		                 PLACE_ARGS(def->place), joint.value);
	StateEntry entry = {.joint = joint,
	                    .name = described->name,
	                    .nq = cal_joint_coordinate_count(described),
	                    .nu = cal_joint_speed_count(described),
	                    .modes = setup_body_modes(setup->desc, setup_joint_body(setup->desc, joint)),
	                    .def = *def};
	CalStatus status = check_state(&entry, error);
	if (status == CAL_OK)
		status = copy_state(setup, described, &entry, error);
	if (status != CAL_OK)
		return status;
	if (!reserve_joint(setup, joint) || !SETUP_ROOM(setup, state))
		return setup_no_memory(setup, error);
	int *place = &setup->state_of[joint.value - 1];
	if (!*place)
		*place = ++setup->state_count;
	setup->states[*place - 1] = entry;
	return CAL_OK;
}

int cal_setup_state_count(const CalSetup *setup) { return setup ? setup->state_count : 0; }

CalStatus cal_setup_state(const CalSetup *setup, int index, CalJointId *joint, CalStateDef *def) {
	if (!setup || !joint || !def || index < 0 || index >= setup->state_count)
		return CAL_ERR_ARGUMENT;
	*joint = setup->states[index].joint;
	*def = setup->states[index].def;
	return CAL_OK;
}

/* ---- setting it ---------------------------------------------------------------------------------------- */

/* Goes through the entries whose joints are in a model. */
typedef struct EntryWalk {
	const CalSetup *setup;
	const CalModel *model;
	CalError *error;
	int next;         // index of the entry to try next
	CalBodyInfo info; // the body of the entry that was returned
	CalStatus status; // after the last: CAL_OK, or reported that model and setup do not belong together
} EntryWalk;

static bool moves(const StateEntry *entry) {
	bool any = false;
	for (int k = 0; entry->def.u && k < entry->nu; k++)
		any |= entry->def.u[k] != 0;
	return any;
}

/* NULL: that was the last. */
static const StateEntry *next_entry(EntryWalk *walk) {
	const CalSetup *setup = walk->setup;
	while (walk->next < setup->state_count) {
		const StateEntry *entry = &setup->states[walk->next++];
		const CalBodyInfo *info = &walk->info;
		const int body = cal_model_find_joint(walk->model, entry->name);
		if (body < 0)
			continue;
		const CalStatus known = cal_model_body(walk->model, body, &walk->info);
		if (known == CAL_OK && info->mechanism && info->nu == 0 && !moves(entry))
			continue; // where the mechanism was closed from; it follows from the independent joints
		if (known == CAL_OK && info->mechanism && info->nu == 0) {
			walk->status = error_set(walk->error, CAL_ERR_MODEL,
			                         "%s%sstate of joint \"%.80s\": it is a dependent joint of an embedded loop, whose "
			                         "speed follows; give the speed of the independent joint",
			                         PLACE_ARGS(entry->def.place), entry->name);
			return NULL;
		}
		if (known == CAL_OK && entry->nq == info->nq && entry->nu == info->nu && entry->modes == info->modes)
			return entry;
		walk->status = error_set(walk->error, CAL_ERR_ARGUMENT,
		                         "%s: error: joint \"%.80s\": the model was not compiled from this setup", setup->name,
		                         entry->name);
		return NULL;
	}
	return NULL;
}

/* Copies values of an entry to where its body has them; NULL: none are given. */
static void copy_values(double *to, const double *from, int count) {
	if (from)
		memcpy(to, from, (size_t)count * sizeof *to);
}

CalStatus cal_setup_apply_state(const CalSetup *setup, const CalModel *model, CalState *state, CalError *error) {
	if (!setup || !model || !state || !state->q || !state->u)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_setup_apply_state: setup, model or state is NULL");
	EntryWalk walk = {.setup = setup, .model = model, .error = error};
	for (const StateEntry *entry; (entry = next_entry(&walk));) {
		double *q = state->q + walk.info.q, *u = state->u + walk.info.u;
		copy_values(q, entry->def.q, entry->nq);
		copy_values(u, entry->def.u, entry->nu);
		copy_values(q + entry->nq, entry->def.eta, entry->modes);
		copy_values(u + entry->nu, entry->def.eta_dot, entry->modes);
	}
	return walk.status;
}

CalStatus cal_setup_stated(const CalSetup *setup, const CalModel *model, uint8_t *q, uint8_t *u, CalError *error) {
	if (!setup || !model || !q || !u)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_setup_stated: setup, model or a list is NULL");
	memset(q, 0, (size_t)cal_model_u_count(model));
	memset(u, 0, (size_t)cal_model_u_count(model));
	EntryWalk walk = {.setup = setup, .model = model, .error = error};
	for (const StateEntry *entry; (entry = next_entry(&walk));) {
		const CalStateDef *def = &entry->def;
		const int joint = walk.info.u, modes = joint + entry->nu;
		for (int k = 0; k < entry->nu && !def->guess; k++) {
			q[joint + k] = def->q && !(def->assumed_q && def->assumed_q[k]);
			u[joint + k] = def->u && !(def->assumed_u && def->assumed_u[k]);
		}
		for (int k = 0; k < entry->modes && !def->guess; k++) {
			q[modes + k] = def->eta != NULL;
			u[modes + k] = def->eta_dot != NULL;
		}
	}
	return walk.status;
}

CalStatus cal_setup_frozen(const CalSetup *setup, const CalModel *model, uint8_t *frozen, CalError *error) {
	if (!setup || !model || !frozen)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_setup_frozen: setup, model or frozen is NULL");
	memset(frozen, 0, (size_t)cal_model_u_count(model));
	EntryWalk walk = {.setup = setup, .model = model, .error = error};
	for (const StateEntry *entry; (entry = next_entry(&walk));) {
		const int joint = walk.info.u, modes = joint + entry->nu;
		for (int k = 0; k < entry->nu; k++)
			frozen[joint + k] = entry->def.frozen && entry->def.frozen[k];
		for (int k = 0; k < entry->modes; k++)
			frozen[modes + k] = entry->def.frozen_modes != 0;
	}
	return walk.status;
}
