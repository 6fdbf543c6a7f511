// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_actuator_build.c — actuators as devices.
 *
 * The scalar force is f = clamp(gain w + b0 + b1 l + b2 l'), with the activation w, which is the input (ctrl), and the length
 * l of the transmission: gear q of a joint, gear sum c q of a fixed tendon, 0 of a site. Inputs are constant here: those of
 * the keyframe "home", else 0. On a joint or a site this is a device of type actuator, whose input a user can edit. On the
 * joints of a tendon it is a load by formula on each; the clamped sum of several actuators on a joint with actuatorfrcrange
 * is one, too. An activation with dynamics is a function of time.
 */
#include <math.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };

/* ---- the scalar force ----------------------------------------------------------------------------------------- */

static const char *sum_of(Mjcf *m, const XmlElement *e, const MjcfTransmission *t, const char *f) {
	const char *sum = NULL;
	for (int i = 0; i < t->count; i++) {
		const char *name = mjcf_quoted(m, e, mjcf_joint(m, t->terms[i].joint)->label);
		if (!name || !(sum = mjcf_format(m, "%s%s(%.17g)*%s(%s)", sum ? sum : "", sum ? " + " : "", t->terms[i].factor,
		                                 f, name)))
			return NULL;
	}
	return t->count ? mjcf_format(m, "(%s)", sum) : "0";
}

/* The input within its range, and the range of a servo that inherits that of its joint. */
static bool complete_control(Mjcf *m, MjcfActuator *actuator, const MjcfTransmission *t, double *control) {
	MjcfActuatorAttributes *a = &actuator->a;
	bool limited;
	if (a->inherit_range > 0 && t->count == 1 && mjcf_joint(m, t->terms[0].joint)->limited) {
		const double *r = mjcf_joint(m, t->terms[0].joint)->a.range;
		const double middle = 0.5 * (r[0] + r[1]), half = 0.5 * (r[1] - r[0]) * a->inherit_range;
		double *range = a->dyn_type == MJCF_DYN_INTEGRATOR ? a->act_range : a->ctrl_range;
		range[0] = middle - half, range[1] = middle + half;
		*(a->dyn_type == MJCF_DYN_INTEGRATOR ? &a->act_limited : &a->ctrl_limited) = MJCF_TRUE;
	}
	if (!mjcf_limited(m, actuator->object.file, actuator->object.element, a->ctrl_limited, a->ctrl_range, "ctrlrange",
	                  &limited))
		return false;
	if (limited && m->option.on.clamp_control)
		*control = fmin(fmax(*control, a->ctrl_range[0]), a->ctrl_range[1]);
	return true;
}

/* A damping ratio as damping, with the inertia that the transmission feels at qpos0. */
static void complete_damping(const Mjcf *m, MjcfActuatorAttributes *a, const MjcfTransmission *t) {
	double mass = 0;
	if (a->bias[2] <= 0 || a->bias_type != MJCF_BIAS_AFFINE || a->gain[0] != -a->bias[1])
		return;
	for (int i = 0; i < t->count; i++) {
		const double f = t->terms[i].factor;
		mass += f * f > 1e-15 ? mjcf_joint(m, t->terms[i].joint)->inertia / (f * f) : 0;
	}
	a->bias[2] = -a->bias[2] * 2 * sqrt(fmax(a->gain[0] * mass, 0));
}

/* The activation w as a function of time, from its value at the start: w' = c, or w' = (c - w) / tau. */
static const char *activation_formula(Mjcf *m, const MjcfActuator *actuator, double control) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const double start = actuator->activation;
	if (a->dyn_type == MJCF_DYN_NONE)
		return mjcf_format(m, "(%.17g)", control);
	if (start == 0)
		return a->dyn_type == MJCF_DYN_INTEGRATOR ? mjcf_format(m, "(%.17g)*t", control)
		                                          : mjcf_format(m, "(%.17g)*(1 - exp(-t/%.17g))", control, a->dyn[0]);
	return a->dyn_type == MJCF_DYN_INTEGRATOR
	           ? mjcf_format(m, "((%.17g) + (%.17g)*t)", start, control)
	           : mjcf_format(m, "((%.17g) + (%.17g)*exp(-t/%.17g))", control, start - control, a->dyn[0]);
}

/* The same within its range; NULL after an error. */
static const char *limited_activation(Mjcf *m, const MjcfActuator *actuator, double control) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const char *w = activation_formula(m, actuator, control);
	bool limited;
	if (!w || !mjcf_limited(m, actuator->object.file, actuator->object.element, a->act_limited, a->act_range,
	                        "actrange", &limited))
		return NULL;
	return limited && a->dyn_type != MJCF_DYN_NONE
	           ? mjcf_format(m, "clamp(%s, %.17g, %.17g)", w, a->act_range[0], a->act_range[1])
	           : w;
}

/* gain w. */
static const char *drive_formula(Mjcf *m, const MjcfActuator *actuator, double control, const char *L, const char *V) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const char *w = limited_activation(m, actuator, control);
	if (!w || a->gain_type == MJCF_GAIN_FIXED)
		return w ? mjcf_format(m, "(%.17g)*%s", a->gain[0], w) : NULL;
	return mjcf_format(m, "((%.17g) + (%.17g)*%s + (%.17g)*%s)*%s", a->gain[0], a->gain[1], L, a->gain[2], V, w);
}

/* Force by formula; NULL after an error. */
static const char *force_formula(Mjcf *m, MjcfActuator *actuator, double control) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const MjcfTransmission *t = &actuator->transmission;
	const XmlElement *e = actuator->object.element;
	bool limited;
	if (!mjcf_limited(m, actuator->object.file, e, a->force_limited, a->force_range, "forcerange", &limited))
		return NULL;
	const char *L = sum_of(m, e, t, "q"), *V = L ? sum_of(m, e, t, "u") : NULL;
	const char *f = V ? drive_formula(m, actuator, control, L, V) : NULL;
	if (f && a->bias_type == MJCF_BIAS_AFFINE)
		f = mjcf_format(m, "%s + (%.17g) + (%.17g)*%s + (%.17g)*%s", f, a->bias[0], a->bias[1], L, a->bias[2], V);
	return f && limited ? mjcf_format(m, "clamp(%s, %.17g, %.17g)", f, a->force_range[0], a->force_range[1]) : f;
}

/* ---- what it acts on ------------------------------------------------------------------------------------------- */

static bool tendon_transmission(Mjcf *m, MjcfActuator *actuator, int tendon_index, MjcfTransmission *t,
                                const char **why) {
	const MjcfTendon *tendon = mjcf_tendon(m, tendon_index);
	if (tendon->is_spatial)
		*why = "Calder has no spatial tendons";
	if (!(t->terms = xml_array(m->im->tree, (size_t)tendon->term_count + 1, sizeof *t->terms)))
		return import_no_memory(m->im);
	for (int i = 0; i < tendon->term_count; i++)
		t->terms[t->count++] = (MjcfTendonTerm){tendon->terms[i].joint, actuator->a.gear[0] * tendon->terms[i].factor};
	return true;
}

static bool joint_transmission(Mjcf *m, MjcfActuator *actuator, int joint, MjcfTransmission *t, const char **why) {
	if (!mjcf_is_scalar(mjcf_joint(m, joint)))
		*why = "actuators of ball and free joints are not taken over; use one on a site";
	if (!(t->terms = xml_array(m->im->tree, 1, sizeof *t->terms)))
		return import_no_memory(m->im);
	t->terms[t->count++] = (MjcfTendonTerm){joint, actuator->a.gear[0]};
	return true;
}

static bool depends_on_motion(const MjcfActuatorAttributes *a) {
	return (a->bias_type != MJCF_BIAS_NONE && (a->bias[1] != 0 || a->bias[2] != 0)) ||
	       (a->gain_type != MJCF_GAIN_FIXED && (a->gain[1] != 0 || a->gain[2] != 0));
}

enum { ON_NOTHING = -1, ON_JOINT, ON_PARENT_JOINT, ON_TENDON, ON_CRANK, ON_SITE, ON_BODY };

/* What it acts on: of several, as in MuJoCo, the last one of this list. */
static bool find_target(Mjcf *m, const XmlElement *e, int *target) {
	static const char *const attributes[] = {"joint", "jointinparent", "tendon", "cranksite", "site", "body"};
	*target = ON_NOTHING;
	for (int i = ON_BODY; i >= 0; i--) {
		if (!xml_peek(e, attributes[i]))
			continue;
		if (*target == ON_NOTHING)
			*target = i;
		else if (!import_note(m->im, CAL_IMPORT_IGNORED, e, attributes[i], "as in MuJoCo, the actuator acts on its %s",
		                      attributes[*target]))
			return false;
	}
	return *target == ON_SITE || !xml_peek(e, "refsite") ||
	       import_note(m->im, CAL_IMPORT_IGNORED, e, "refsite", "it counts beside a site only");
}

/* *why: the reason for which it cannot be taken over; NULL: it can. */
static bool find_transmission(Mjcf *m, MjcfActuator *actuator, MjcfTransmission *t, const char **why) {
	XmlElement *e = actuator->object.element;
	const MjcfFile *file = actuator->object.file;
	int target, joint, parent_joint, tendon, site, reference;
	if (!find_target(m, e, &target) || !mjcf_refer(m, MJCF_JOINTS, file, e, "joint", &joint) ||
	    !mjcf_refer(m, MJCF_JOINTS, file, e, "jointinparent", &parent_joint) ||
	    !mjcf_refer(m, MJCF_TENDONS, file, e, "tendon", &tendon) ||
	    !mjcf_refer(m, MJCF_SITES, file, e, "site", &site) ||
	    !mjcf_refer(m, MJCF_SITES, file, e, "refsite", &reference))
		return false;
	switch (target) {
	case ON_JOINT:
	case ON_PARENT_JOINT:
		return joint_transmission(m, actuator, target == ON_JOINT ? joint : parent_joint, t, why);
	case ON_TENDON:
		return tendon_transmission(m, actuator, tendon, t, why);
	case ON_CRANK:
		*why = "Calder has no actuators over a slider-crank; model its links and a loop";
		return true;
	case ON_SITE:
		t->site = site;
		if (reference >= 0 || depends_on_motion(&actuator->a))
			*why = "of actuators on sites Calder has forces that do not depend on the motion";
		return true;
	case ON_BODY:
		*why = "Calder has no adhesion";
		return true;
	default:
		return import_fail(m->im, e, "the actuator has no joint, tendon or site to act on");
	}
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

/* The input: a number, or where it drives an activation a function of time. */
static bool set_control(Mjcf *m, const MjcfActuator *actuator, double control, CalActuatorDef *def) {
	const MjcfActuatorAttributes *a = &actuator->a;
	bool limited;
	def->control.number = control;
	if (a->dyn_type == MJCF_DYN_NONE) {
		if (!mjcf_limited(m, actuator->object.file, actuator->object.element, a->ctrl_limited, a->ctrl_range,
		                  "ctrlrange", &limited))
			return false;
		if (limited && m->option.on.clamp_control)
			def->control_lower = a->ctrl_range[0], def->control_upper = a->ctrl_range[1];
		return true;
	}
	if (control == 0 && actuator->activation == 0)
		return import_note(
			m->im, CAL_IMPORT_CHANGED, actuator->object.element, NULL,
			"its activation is 0 and stays 0 without input; the dynamics of the activation are left out");
	return (def->control.formula = limited_activation(m, actuator, control)) != NULL;
}

static bool set_force(Mjcf *m, const MjcfActuator *actuator, CalActuatorDef *def) {
	const MjcfActuatorAttributes *a = &actuator->a;
	bool limited;
	for (int i = 0; i < 3; i++) {
		def->gain[i] = i == 0 || a->gain_type == MJCF_GAIN_AFFINE ? a->gain[i] : 0;
		def->bias[i] = a->bias_type == MJCF_BIAS_AFFINE ? a->bias[i] : 0;
	}
	if (!mjcf_limited(m, actuator->object.file, actuator->object.element, a->force_limited, a->force_range,
	                  "forcerange", &limited))
		return false;
	def->lower = limited ? a->force_range[0] : -INFINITY;
	def->upper = limited ? a->force_range[1] : INFINITY;
	return true;
}

static bool add_actuator(Mjcf *m, const MjcfActuator *actuator, const char *name, double control, CalActuatorDef *def) {
	char place[PLACE_MAX];
	def->control_lower = -INFINITY, def->control_upper = INFINITY;
	def->name = mjcf_device_label(m, name);
	def->place = xml_place(actuator->object.element, place, sizeof place);
	return def->name && set_control(m, actuator, control, def) &&
	       import_ok(m->im, cal_setup_add_device(m->im->setup, "actuator", def, m->im->error));
}

/* Without gain there is no input: a constant force is a load. */
static bool is_load(const CalActuatorDef *def) {
	return def->gain[0] == 0 && def->gain[1] == 0 && def->gain[2] == 0 && def->bias[1] == 0 && def->bias[2] == 0;
}

static double constant_force(const CalActuatorDef *def) { return fmin(fmax(def->bias[0], def->lower), def->upper); }

static bool add_site_load(Mjcf *m, const MjcfActuator *actuator, const char *name, const CalActuatorDef *given) {
	char place[PLACE_MAX];
	const double *gear = actuator->a.gear, force = constant_force(given);
	CalAppliedLoadDef def = {.name = mjcf_device_label(m, name),
	                         .node = given->node,
	                         .frame = CAL_FRAME_NODE,
	                         .place = xml_place(actuator->object.element, place, sizeof place)};
	for (int i = 0; i < 3; i++) {
		def.force[i].number = gear[i] * force;
		def.moment[i].number = gear[i + 3] * force;
	}
	return def.name && import_ok(m->im, cal_setup_add_device(m->im->setup, "applied_load", &def, m->im->error));
}

/* MuJoCo limits what joints feel of it, too. */
static bool note_joint_limits(Mjcf *m, const MjcfActuator *actuator) {
	const MjcfBody *body = mjcf_body(m, mjcf_site(m, actuator->transmission.site)->body);
	for (; body->parent >= 0; body = mjcf_body(m, body->parent))
		for (int i = 0; i < body->joint_count; i++) {
			const MjcfJoint *joint = mjcf_joint(m, body->first_joint + i);
			bool limited;
			if (!mjcf_limited(m, joint->object.file, joint->object.element, joint->a.force_limited,
			                  joint->a.force_range, "actuatorfrcrange", &limited))
				return false;
			if (limited)
				return import_note(m->im, CAL_IMPORT_CHANGED, actuator->object.element, "site",
				                   "actuatorfrcrange of joint \"%.80s\" does not limit what it feels of this force",
				                   joint->label);
		}
	return true;
}

static bool add_site_actuator(Mjcf *m, const MjcfActuator *actuator, const char *name, double control) {
	const double *gear = actuator->a.gear;
	CalActuatorDef def = {.node = mjcf_site(m, actuator->transmission.site)->id,
	                      .force = {gear[0], gear[1], gear[2]},
	                      .moment = {gear[3], gear[4], gear[5]}};
	return note_joint_limits(m, actuator) && set_force(m, actuator, &def) &&
	       (is_load(&def) ? add_site_load(m, actuator, name, &def) : add_actuator(m, actuator, name, control, &def));
}

/* The range of the effort on a joint is one of the force; false: there would be nothing between the limits. */
static bool limit_by_joint(const MjcfJoint *joint, CalActuatorDef *def) {
	const double a = joint->a.force_range[0] / def->gear, b = joint->a.force_range[1] / def->gear;
	def->lower = fmax(def->lower, fmin(a, b));
	def->upper = fmin(def->upper, fmax(a, b));
	return def->lower < def->upper;
}

/* An actuator on one joint as a device of its own; *made stays false where it has to be part of a clamped sum. */
static bool add_joint_actuator(Mjcf *m, const MjcfActuator *actuator, const char *name, double control, bool *made) {
	const MjcfTendonTerm *term = &actuator->transmission.terms[0];
	const MjcfJoint *joint = mjcf_joint(m, term->joint);
	CalActuatorDef def = {.joint = joint->id, .gear = term->factor};
	bool limited;
	if (!set_force(m, actuator, &def) ||
	    !mjcf_limited(m, joint->object.file, joint->object.element, joint->a.force_limited, joint->a.force_range,
	                  "actuatorfrcrange", &limited))
		return false;
	if (limited && (joint->actuator_count > 1 || !limit_by_joint(joint, &def)))
		return true;
	*made = true;
	if (is_load(&def))
		return mjcf_add_effort(m, actuator->object.element, name, joint, NULL, def.gear * constant_force(&def));
	return add_actuator(m, actuator, name, control, &def);
}

/* The effort of one actuator on one joint: a load, or a summand of the clamped sum. */
static bool add_joint_effort(Mjcf *m, const MjcfActuator *actuator, const char *name, const MjcfTendonTerm *term,
                             const char *formula) {
	MjcfJoint *joint = mjcf_joint(m, term->joint);
	const char *effort = mjcf_format(m, "(%.17g)*(%s)", term->factor, formula);
	bool limited;
	if (!effort || !mjcf_limited(m, joint->object.file, joint->object.element, joint->a.force_limited,
	                             joint->a.force_range, "actuatorfrcrange", &limited))
		return false;
	if (!limited)
		return mjcf_add_effort(m, actuator->object.element, name, joint, effort, 0);
	joint->efforts = joint->efforts ? mjcf_format(m, "%s + %s", joint->efforts, effort) : effort;
	return joint->efforts != NULL;
}

static bool add_efforts(Mjcf *m, MjcfActuator *actuator, const char *name, double control) {
	const MjcfTransmission *t = &actuator->transmission;
	const char *formula = force_formula(m, actuator, control);
	for (int i = 0; formula && i < t->count; i++) {
		const char *device =
			t->count == 1 ? name : mjcf_format(m, "%s_%s", name, mjcf_joint(m, t->terms[i].joint)->label);
		if (!device || !add_joint_effort(m, actuator, device, &t->terms[i], formula))
			return false;
	}
	return formula != NULL;
}

static bool has_gear(const MjcfActuator *actuator) {
	const double *gear = actuator->a.gear;
	bool any = gear[0] != 0;
	for (int i = 1; i < 6 && actuator->transmission.site >= 0; i++)
		any = any || gear[i] != 0;
	return any;
}

/* Finds what it acts on, and notes it where it is left out. */
static bool prepare_actuator(Mjcf *m, MjcfActuator *actuator) {
	XmlElement *e = actuator->object.element;
	const MjcfActuatorAttributes *a = &actuator->a;
	MjcfTransmission *t = &actuator->transmission;
	const char *why = NULL;
	t->site = -1;
	if (!m->option.on.actuation || (a->group >= 0 && a->group < 31 && m->option.disabled_groups >> a->group & 1))
		return import_ignore(m->im, e, "<option> switches it off");
	if (a->gain_type >= MJCF_GAIN_OTHER || a->bias_type >= MJCF_BIAS_OTHER || a->dyn_type >= MJCF_DYN_OTHER)
		return import_missing(m->im, e, "Calder has no actuator of this kind");
	if (!find_transmission(m, actuator, t, &why))
		return false;
	if (why)
		return import_missing(m->im, e, "%s", why);
	if (!has_gear(actuator))
		return import_ignore(m->im, e, "its gear is 0: it has no effect");
	for (int i = 0; i < t->count; i++)
		mjcf_joint(m, t->terms[i].joint)->actuator_count++;
	return actuator->is_built = true;
}

static bool build_actuator(Mjcf *m, int index) {
	MjcfActuator *actuator = mjcf_actuator(m, index);
	const MjcfTransmission *t = &actuator->transmission;
	const char *name = actuator->object.name ? actuator->object.name : mjcf_format(m, "actuator%d", index);
	double control = m->control[index];
	bool made = false;
	if (!actuator->is_built)
		return true;
	complete_damping(m, &actuator->a, t);
	if (!name || !complete_control(m, actuator, t, &control))
		return false;
	if (t->site >= 0)
		return add_site_actuator(m, actuator, name, control);
	if (t->count == 1 && !add_joint_actuator(m, actuator, name, control, &made))
		return false;
	return made || add_efforts(m, actuator, name, control);
}

/* Sums of efforts on joints that limit them. */
static bool build_sum(Mjcf *m, const MjcfJoint *joint) {
	if (!joint->efforts)
		return true;
	const char *formula =
		mjcf_format(m, "clamp(%s, %.17g, %.17g)", joint->efforts, joint->a.force_range[0], joint->a.force_range[1]);
	const char *name = mjcf_format(m, "%s_actuators", joint->label);
	return formula && name && mjcf_add_effort(m, joint->object.element, name, joint, formula, 0);
}

bool mjcf_build_actuators(Mjcf *m) {
	const int count = m->lists[MJCF_ACTUATORS].count;
	for (int i = 0; i < count; i++)
		if (!prepare_actuator(m, mjcf_actuator(m, i)))
			return false;
	for (int i = 0; i < count; i++)
		if (!build_actuator(m, i))
			return false;
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++)
		if (!build_sum(m, mjcf_joint(m, i)))
			return false;
	return !count || m->by_key ||
	       import_note(
			   m->im, CAL_IMPORT_ASSUMED, mjcf_actuator(m, 0)->object.element->parent, NULL,
			   "the inputs (ctrl) of all actuators are 0; give them by a keyframe \"home\", or edit the actuators "
			   "of the converted model");
}
