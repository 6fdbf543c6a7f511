// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_joint.c — limits, dry friction and springs of higher order of joints as devices, weight compensation, and the initial
 * state.
 *
 * MuJoCo's limits are compliant constraints: beyond the limit by r, at the speed v, the acceleration aimed at is
 * -b v - k r, with b = 2/(d tau) and k = 1/(d tau z)^2 of a time constant tau, a damping ratio z and the impedance d
 * (solreflimit, solimplimit). Here a spring and damper push back with these factors times the inertia that the joint feels
 * at qpos0.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };

bool mjcf_add_effort(Mjcf *m, const XmlElement *element, const char *name, const MjcfJoint *joint, const char *formula,
                     double number) {
	char place[PLACE_MAX];
	const CalAppliedLoadDef def = {.name = mjcf_device_label(m, name),
	                               .joint = joint->id,
	                               .effort = {.formula = formula, .number = number},
	                               .place = xml_place(element, place, sizeof place)};
	return def.name && import_ok(m->im, cal_setup_add_device(m->im->setup, "applied_load", &def, m->im->error));
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static void stop_factors(const MjcfJointAttributes *a, double timestep, double *k, double *b) {
	const double d = fmin(fmax(a->solimp[1], 1e-4), 0.9999);
	if (a->solref[0] <= 0 && a->solref[1] <= 0) { // stiffness and damping themselves, negative
		*k = -a->solref[0] / (d * d);
		*b = -a->solref[1] / d;
		return;
	}
	const double tau = fmax(a->solref[0], 2 * timestep), ratio = fmax(a->solref[1], 1e-4);
	*k = 1 / (d * d * tau * tau * ratio * ratio);
	*b = 2 / (d * tau);
}

static bool add_limit(Mjcf *m, const MjcfJoint *joint) {
	double k, b;
	const XmlElement *e = joint->object.element;
	if (!joint->limited || !m->option.on.limit || joint->a.type == MJCF_FREE)
		return true;
	if (joint->a.type == MJCF_BALL)
		return mjcf_missing_attribute(m, e, "range", "Calder has no limit for the angle of a ball joint");
	stop_factors(&joint->a, m->option.timestep, &k, &b);
	return import_limit(m->im, e, joint->id, 0, joint->a.range[0], joint->a.range[1], fmax(k, 0) * joint->inertia,
	                    fmax(b, 0) * joint->inertia);
}

/* ---- friction, polynomials --------------------------------------------------------------------------------- */

static bool add_friction(Mjcf *m, const MjcfJoint *joint) {
	const XmlElement *e = joint->object.element;
	if (!(joint->a.frictionloss > 0) || !m->option.on.frictionloss)
		return true;
	if (!mjcf_is_scalar(joint))
		return mjcf_missing_attribute(m, e, "frictionloss", "Calder has dry friction of hinges and slides only");
	return import_friction(m->im, e, joint->id, 0, joint->a.frictionloss);
}

static bool add_polynomial_damping(Mjcf *m, const MjcfJoint *joint) {
	const double *d = joint->a.damping;
	if ((d[1] == 0 && d[2] == 0) || !m->option.on.damper)
		return true;
	if (!mjcf_is_scalar(joint))
		return mjcf_missing_attribute(m, joint->object.element, "damping",
		                              "damping by a polynomial is possible of hinges and slides only");
	const char *u = mjcf_quoted(m, joint->object.element, joint->label);
	const char *name = mjcf_format(m, "%s_damping", joint->label);
	const char *formula = u ? mjcf_format(m, "-(%.17g)*u(%s)*abs(u(%s)) - (%.17g)*u(%s)^3", d[1], u, u, d[2], u) : NULL;
	return name && formula && mjcf_add_effort(m, joint->object.element, name, joint, formula, 0);
}

static bool add_polynomial_stiffness(Mjcf *m, const MjcfJoint *joint) {
	const double *k = joint->a.stiffness;
	if ((k[1] == 0 && k[2] == 0) || !m->option.on.spring)
		return true;
	if (!mjcf_is_scalar(joint))
		return mjcf_missing_attribute(m, joint->object.element, "stiffness",
		                              "a spring by a polynomial is possible of hinges and slides only");
	const char *q = mjcf_quoted(m, joint->object.element, joint->label);
	const char *name = mjcf_format(m, "%s_spring", joint->label);
	const char *formula = q ? mjcf_format(m, "-(%.17g)*(q(%s) - (%.17g))^2 - (%.17g)*(q(%s) - (%.17g))^3", k[1], q,
	                                      joint->a.springref, k[2], q, joint->a.springref)
	                        : NULL;
	return name && formula && mjcf_add_effort(m, joint->object.element, name, joint, formula, 0);
}

static bool check_free_spring(Mjcf *m, const MjcfJoint *joint) {
	return joint->a.type != MJCF_FREE || !m->option.on.spring || joint->a.stiffness[0] == 0 ||
	       mjcf_missing_attribute(m, joint->object.element, "stiffness", "Calder has no springs of free joints");
}

/* Weight compensation by the actuator of a joint counts among the efforts that the joint limits. */
static bool note_gravcomp(Mjcf *m, const MjcfJoint *joint) {
	bool limited = false;
	return !joint->a.actuator_gravcomp ||
	       (mjcf_limited(m, joint->object.file, joint->object.element, joint->a.force_limited, joint->a.force_range,
	                     "actuatorfrcrange", &limited) &&
	        (!limited || import_note(m->im, CAL_IMPORT_CHANGED, joint->object.element, "actuatorgravcomp",
	                                 "the weight compensation is not limited by actuatorfrcrange")));
}

/* ---- weight compensation ---------------------------------------------------------------------------------- */

static bool add_gravcomp(Mjcf *m, const MjcfBody *body) {
	const CalBodyDef *def = cal_desc_body(m->im->desc, body->id);
	if (body->gravcomp * body->mass.mass == 0 || !m->option.on.gravity || body->is_static || !def)
		return true;
	const char *name = mjcf_format(m, "%s_gravcomp", def->name), *label = name ? mjcf_device_label(m, name) : NULL;
	return label && import_lift_weight(m->im, body->object.element, body->id, label, body->gravcomp);
}

static bool note_friction(Mjcf *m) {
	int count = 0;
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++)
		count += mjcf_is_scalar(mjcf_joint(m, i)) && mjcf_joint(m, i)->a.frictionloss > 0;
	return !count || !m->option.on.frictionloss ||
	       import_note(
			   m->im, CAL_IMPORT_CHANGED, m->file.root, NULL,
			   "dry friction (frictionloss) of %d joint%s falls to zero below %g rad/s or m/s: there is no true "
			   "stiction",
			   count, count == 1 ? "" : "s", IMPORT_FRICTION_SPEED);
}

bool mjcf_build_joint_devices(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++) {
		const MjcfJoint *joint = mjcf_joint(m, i);
		if (!(add_limit(m, joint) && add_friction(m, joint) && add_polynomial_damping(m, joint) &&
		      add_polynomial_stiffness(m, joint) && check_free_spring(m, joint) && note_gravcomp(m, joint)))
			return false;
	}
	for (int i = 1; i < m->lists[MJCF_BODIES].count; i++)
		if (!add_gravcomp(m, mjcf_body(m, i)))
			return false;
	return note_friction(m);
}

/* ---- the initial state ------------------------------------------------------------------------------------- */

static bool is_zero(const double *values, int count) {
	for (int i = 0; i < count; i++)
		if (values[i] != 0)
			return false;
	return true;
}

bool mjcf_build_state(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++) {
		const MjcfJoint *joint = mjcf_joint(m, i);
		const int nu = joint->a.type == MJCF_FREE ? 6 : joint->a.type == MJCF_BALL ? 3 : 1;
		const double *q = m->qpos + joint->q_first, *u = m->qvel + joint->u_first;
		const bool moves = !is_zero(u, nu);
		const bool neutral = (joint->a.type == MJCF_BALL && q[0] == 1) || (mjcf_is_scalar(joint) && q[0] == 0);
		if (neutral && !moves && !m->by_key)
			continue;
		const CalStateDef def = {.q = q, .u = moves ? u : NULL, .guess = cal_desc_loop_count(m->im->desc) > 0};
		if (!import_ok(m->im, cal_setup_set_state(m->im->setup, joint->id, &def, m->im->error)))
			return false;
	}
	return true;
}
