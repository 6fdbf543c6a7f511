// SPDX-License-Identifier: Apache-2.0
/*
 * desc_pendulum.c — a pendulum on a node: liquid in a tank, a hook on its rope.
 *
 * A point mass at the distance `length` from the pivot, on a universal joint with both axes across the direction in
 * which it hangs. A spherical joint would leave the spin about that line without inertia. The second angle must
 * stay below a right angle: there the mass is on the first axis.
 */
#include <math.h>

#include <calder/build.h>

#include "base/error.h"
#include "math/portable.h"
#include "model/description/usable.h"

CalPendulumDef cal_pendulum_def(void) { return (CalPendulumDef){.down = {0, 0, -1}}; }

static CalVec3 unit_vector(CalVec3 v, double norm) { return (CalVec3){v.x / norm, v.y / norm, v.z / norm}; }

static double norm_of(CalVec3 v) { return portable_hypot(portable_hypot(v.x, v.y), v.z); }

/* The axis of the node that is most across d, made perpendicular to it. */
static CalVec3 perpendicular(CalVec3 d) {
	const CalVec3 a = fabs(d.x) <= fabs(d.y) && fabs(d.x) <= fabs(d.z) ? (CalVec3){1, 0, 0}
	                  : fabs(d.y) <= fabs(d.z)                         ? (CalVec3){0, 1, 0}
	                                                                   : (CalVec3){0, 0, 1};
	const double along = a.x * d.x + a.y * d.y + a.z * d.z;
	const CalVec3 v = {a.x - along * d.x, a.y - along * d.y, a.z - along * d.z};
	return unit_vector(v, norm_of(v));
}

static CalStatus check_pendulum(const CalDesc *desc, const CalPendulumDef *def, CalError *error) {
	const char *name = def->name ? def->name : "";
	if (!name[0])
		return error_set(error, CAL_ERR_MODEL, "%s%sa pendulum has no name", PLACE_ARGS(def->place));
	if (cal_desc_find_joint(desc, name).value)
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%spendulum \"%s\": there is a joint of that name, and its own would have it; rename one",
		                 PLACE_ARGS(def->place), name);
	if (def->node.value && !cal_desc_node(desc, def->node, NULL))
		return error_set(error, CAL_ERR_MODEL, "%s%spendulum \"%s\": there is no node %u", PLACE_ARGS(def->place), name,
		                 (unsigned)def->node.value);
	const double norm = norm_of(def->down);
	const double numbers[] = {def->mass,      def->length,  norm,         def->damping,
	                          def->stiffness, def->pivot.x, def->pivot.y, def->pivot.z};
	const char *wrong = !(def->mass > 0)         ? "its mass must be above zero"
	                    : !(def->length > 0)     ? "its length must be above zero"
	                    : !(norm > 0)            ? "\"down\" is no direction"
	                    : !(def->damping >= 0)   ? "its damping must not be negative"
	                    : !(def->stiffness >= 0) ? "its stiffness must not be negative"
	                                             : NULL;
	for (size_t i = 0; !wrong && i < sizeof numbers / sizeof *numbers; i++)
		wrong = number_is_usable(numbers[i]) ? NULL : "a number " NUMBER_WRONG;
	return wrong ? error_set(error, CAL_ERR_MODEL, "%s%spendulum \"%s\": %s", PLACE_ARGS(def->place), name, wrong)
	             : CAL_OK;
}

CalStatus cal_desc_add_pendulum(CalDesc *desc, const CalPendulumDef *def, CalBodyId *id, CalError *error) {
	if (!desc || !def)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_add_pendulum: desc or def is NULL");
	CalStatus status = check_pendulum(desc, def, error);
	if (status != CAL_OK)
		return status;
	const CalVec3 down = unit_vector(def->down, norm_of(def->down)), first = perpendicular(down);
	const CalVec3 com = {def->length * down.x, def->length * down.y, def->length * down.z};
	CalBodyDef body = cal_body_def();
	CalNodeDef mass = cal_node_def();
	CalJointDef joint = cal_joint_def(CAL_JOINT_UNIVERSAL);
	CalBodyId carrier = {0}, made = {0};
	if (def->node.value)
		cal_desc_node(desc, def->node, &carrier);
	body.name = joint.name = def->name;
	body.place = mass.place = joint.place = def->place;
	body.group = carrier.value ? cal_desc_body(desc, carrier)->group : def->group;
	body.mass = def->mass;
	body.com = mass.placement.position = com;
	mass.name = "mass";
	joint.axis = first;
	joint.axis2 = (CalVec3){down.y * first.z - down.z * first.y, down.z * first.x - down.x * first.z,
	                        down.x * first.y - down.y * first.x};
	joint.inboard.position = def->pivot;
	joint.dof[0] = joint.dof[1] = (CalDofDef){.damping = def->damping, .stiffness = def->stiffness};
	status = cal_desc_add_body(desc, &body, &made, error);
	if (status == CAL_OK)
		status = cal_desc_add_node(desc, made, &mass, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, def->node, &joint, cal_desc_body_node(desc, made), NULL, error);
	if (status == CAL_OK && id)
		*id = made;
	return status;
}
