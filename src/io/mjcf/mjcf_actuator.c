// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_actuator.c — actuators as applied loads.
 *
 * The scalar force is f = clamp(gain w + b0 + b1 l + b2 l'), with the activation w, which is the input (ctrl), and the length
 * l of the transmission: gear q of a joint, gear sum c q of a fixed tendon, 0 of a site. Inputs are constant here: those of
 * the keyframe "home", else 0; they stand in the formula of the load, where a user can edit them. An activation with
 * dynamics is then a function of time. A joint with actuatorfrcrange gets one load, the clamped sum of all its actuators.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { PLACE_MAX = 400 };
enum { BIAS_NONE, BIAS_AFFINE, BIAS_OTHER };
enum { DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT, DYN_OTHER };

static const char *const kinds[] = {"general",     "motor", "position", "velocity", "intvelocity", "damper", "cylinder",
                                    "orientation", "pid",   "muscle",   "adhesion", "dcmotor",     "plugin", NULL};
enum { GENERAL, MOTOR, POSITION, VELOCITY, INTVELOCITY, DAMPER, CYLINDER, FIRST_UNSUPPORTED };

static int kind_of(const XmlElement *element) {
	for (int i = 0; kinds[i]; i++)
		if (xml_is(element, kinds[i]))
			return i;
	return -1;
}

bool mjcf_is_actuator(const XmlElement *element) { return kind_of(element) >= 0; }
bool mjcf_is_unsupported_actuator(const XmlElement *element) { return kind_of(element) >= FIRST_UNSUPPORTED; }
bool mjcf_has_activation(const MjcfActuatorAttributes *a) { return a->dyn_type != DYN_NONE; }

/* ---- attributes ---------------------------------------------------------------------------------------------- */

static bool apply_general(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	static const char *const gains[] = {"fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user", NULL};
	static const char *const biases[] = {"none", "affine", "muscle", "dcmotor", "so3", "user", NULL};
	static const char *const dynamics[] = {"none",    "integrator", "filter", "filterexact", "muscle",
	                                       "dcmotor", "pid",        "user",   NULL};
	double more[10]; // parameters beyond those that are used
	for (int i = 0; i < 10; i++)
		more[i] = NAN;
	if (!(import_word(m->im, e, "gaintype", gains, &a->gain_type, NULL) &&
	      import_word(m->im, e, "biastype", biases, &a->bias_type, NULL) &&
	      import_word(m->im, e, "dyntype", dynamics, &a->dyn_type, NULL) &&
	      mjcf_apply_numbers(m, e, "gainprm", more, 10)))
		return false;
	for (int i = 0; i < 3; i++)
		a->gain[i] = isnan(more[i]) ? a->gain[i] : more[i], more[i] = NAN;
	if (!mjcf_apply_numbers(m, e, "biasprm", more, 10))
		return false;
	for (int i = 0; i < 3; i++)
		a->bias[i] = isnan(more[i]) ? a->bias[i] : more[i], more[i] = NAN;
	if (!mjcf_apply_numbers(m, e, "dynprm", more, 10))
		return false;
	a->dyn[0] = isnan(more[0]) ? a->dyn[0] : more[0];
	return true;
}

static bool apply_servo(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e, bool integrates) {
	double kp = a->gain[0], kv = 0, ratio = 0, tau = 0;
	bool has_kv, has_ratio, has_tau;
	if (!(import_number(m->im, e, "kp", &kp, NULL) && import_number(m->im, e, "kv", &kv, &has_kv) &&
	      import_number(m->im, e, "dampratio", &ratio, &has_ratio) &&
	      import_number(m->im, e, "timeconst", &tau, &has_tau) &&
	      import_number(m->im, e, "inheritrange", &a->inherit_range, NULL)))
		return false;
	if (has_kv && has_ratio)
		return import_fail(m->im, e, "<%.40s> has kv and dampratio; there can be one of them", e->name);
	if (kv < 0 || ratio < 0 || tau < 0)
		return import_fail(m->im, e, "kv, dampratio and timeconst must not be negative");
	a->gain[0] = kp;
	a->bias[1] = -kp;
	a->bias[2] = has_kv ? -kv : has_ratio ? ratio : a->bias[2]; // positive: a damping ratio
	a->gain_type = MJCF_GAIN_FIXED;
	a->bias_type = BIAS_AFFINE;
	if (has_tau) {
		a->dyn[0] = tau;
		a->dyn_type = tau == 0 ? DYN_NONE : DYN_FILTEREXACT;
	}
	if (integrates)
		a->dyn_type = DYN_INTEGRATOR;
	return true;
}

static bool apply_velocity(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	double kv = a->gain[0];
	if (!import_number(m->im, e, "kv", &kv, NULL))
		return false;
	memset(a->bias, 0, sizeof a->bias);
	a->gain[0] = kv;
	a->bias[2] = -kv;
	a->gain_type = MJCF_GAIN_FIXED;
	a->bias_type = BIAS_AFFINE;
	a->dyn_type = DYN_NONE;
	return true;
}

static bool apply_damper(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	double kv = a->gain_type == MJCF_GAIN_AFFINE ? -a->gain[2] : 0;
	if (!import_number(m->im, e, "kv", &kv, NULL))
		return false;
	a->gain[0] = a->gain[1] = 0;
	a->gain[2] = -kv;
	a->gain_type = MJCF_GAIN_AFFINE;
	a->bias_type = BIAS_NONE;
	a->dyn_type = DYN_NONE;
	return true;
}

static bool apply_cylinder(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	double diameter = -1;
	if (!(import_number(m->im, e, "timeconst", &a->dyn[0], NULL) &&
	      import_numbers(m->im, e, "bias", a->bias, 3, NULL) && import_number(m->im, e, "area", &a->gain[0], NULL) &&
	      import_number(m->im, e, "diameter", &diameter, NULL)))
		return false;
	if (diameter >= 0)
		a->gain[0] = 3.14159265358979323846 / 4 * diameter * diameter;
	a->gain_type = MJCF_GAIN_FIXED;
	a->bias_type = BIAS_AFFINE;
	a->dyn_type = DYN_FILTER;
	return true;
}

static bool apply_kind(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e, int kind) {
	switch (kind) {
	case GENERAL:
		return apply_general(m, a, e);
	case MOTOR:
		a->gain[0] = 1;
		a->gain_type = MJCF_GAIN_FIXED, a->bias_type = BIAS_NONE, a->dyn_type = DYN_NONE;
		return true;
	case POSITION:
	case INTVELOCITY:
		return apply_servo(m, a, e, kind == INTVELOCITY);
	case VELOCITY:
		return apply_velocity(m, a, e);
	case DAMPER:
		return apply_damper(m, a, e);
	case CYLINDER:
		return apply_cylinder(m, a, e);
	default: // named where an actuator is built of it
		a->gain_type = MJCF_GAIN_OTHER, a->bias_type = BIAS_OTHER, a->dyn_type = DYN_OTHER;
		return true;
	}
}

bool mjcf_apply_actuator(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	return mjcf_apply_switch(m, e, "ctrllimited", &a->ctrl_limited) &&
	       mjcf_apply_switch(m, e, "forcelimited", &a->force_limited) &&
	       mjcf_apply_switch(m, e, "actlimited", &a->act_limited) &&
	       import_numbers(m->im, e, "actrange", a->act_range, 2, NULL) &&
	       import_integer(m->im, e, "group", &a->group, NULL) &&
	       import_numbers(m->im, e, "ctrlrange", a->ctrl_range, 2, NULL) &&
	       import_numbers(m->im, e, "forcerange", a->force_range, 2, NULL) &&
	       mjcf_apply_numbers(m, e, "gear", a->gear, 6) && mjcf_apply_numbers(m, e, "damping", a->damping, 3) &&
	       import_number(m->im, e, "armature", &a->armature, NULL) && apply_kind(m, a, e, kind_of(e));
}

/* Rotor and damper of an actuator on a joint, as the joint feels them. */
static bool reflect(Mjcf *m, MjcfActuator *actuator) {
	const double gear = actuator->a.gear[0];
	int index;
	if (actuator->a.armature == 0 && actuator->a.damping[0] == 0 && actuator->a.damping[1] == 0 &&
	    actuator->a.damping[2] == 0)
		return true;
	XmlElement *e = actuator->object.element;
	if (!mjcf_refer(m, MJCF_JOINTS, actuator->object.file, e, "joint", &index))
		return false;
	if (index < 0 || !mjcf_is_scalar(mjcf_joint(m, index)) || actuator->a.damping[1] != 0 ||
	    actuator->a.damping[2] != 0)
		return mjcf_missing_attribute(m, e, "armature",
		                              "inertia and damping of an actuator are possible on hinges and slides "
		                              "only, and linear");
	mjcf_joint(m, index)->a.armature += gear * gear * actuator->a.armature;
	mjcf_joint(m, index)->a.damping[0] += gear * gear * actuator->a.damping[0];
	return true;
}

static bool read_actuator(Mjcf *m, MjcfFile *file, XmlElement *e) {
	const MjcfClass *class = mjcf_class_of(m, file, e, 0);
	const int index = class ? mjcf_add(m, MJCF_ACTUATORS, file, e) : -1;
	if (index < 0)
		return false;
	MjcfActuator *actuator = mjcf_actuator(m, index);
	actuator->a = class->defaults.actuator;
	return mjcf_apply_actuator(m, &actuator->a, e) && reflect(m, actuator);
}

bool mjcf_read_actuators(Mjcf *m, MjcfFile *file) {
	for (XmlElement *section = xml_child(file->root, "actuator"); section; section = xml_again(section))
		for (XmlElement *e = section->first; e; e = e->next) {
			bool out;
			if (!mjcf_is_actuator(e))
				continue;
			if (!mjcf_is_left_out(m, file, e, &out) || (!out && !read_actuator(m, file, e)))
				return false;
		}
	return true;
}

/* ---- the scalar force ----------------------------------------------------------------------------------------- */

/** Joints that an actuator acts on, with the derivative of its length; or a site. */
typedef struct Transmission {
	int count;
	MjcfTendonTerm *terms; // of joints: length = sum of factor q
	int site;              // -1: none
} Transmission;

static const char *sum_of(Mjcf *m, const XmlElement *e, const Transmission *t, const char *f) {
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
static bool complete_control(Mjcf *m, MjcfActuator *actuator, const Transmission *t, double *control) {
	MjcfActuatorAttributes *a = &actuator->a;
	bool limited;
	if (a->inherit_range > 0 && t->count == 1 && mjcf_joint(m, t->terms[0].joint)->limited) {
		const double *r = mjcf_joint(m, t->terms[0].joint)->a.range;
		const double middle = 0.5 * (r[0] + r[1]), half = 0.5 * (r[1] - r[0]) * a->inherit_range;
		double *range = a->dyn_type == DYN_INTEGRATOR ? a->act_range : a->ctrl_range;
		range[0] = middle - half, range[1] = middle + half;
		*(a->dyn_type == DYN_INTEGRATOR ? &a->act_limited : &a->ctrl_limited) = MJCF_TRUE;
	}
	if (!mjcf_limited(m, actuator->object.file, actuator->object.element, a->ctrl_limited, a->ctrl_range, "ctrlrange",
	                  &limited))
		return false;
	if (limited && m->option.on.clamp_control)
		*control = fmin(fmax(*control, a->ctrl_range[0]), a->ctrl_range[1]);
	return true;
}

/* A damping ratio as damping, with the inertia that the transmission feels at qpos0. */
static void complete_damping(const Mjcf *m, MjcfActuatorAttributes *a, const Transmission *t) {
	double mass = 0;
	if (a->bias[2] <= 0 || a->bias_type != BIAS_AFFINE || a->gain[0] != -a->bias[1])
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
	if (a->dyn_type == DYN_NONE)
		return mjcf_format(m, "(%.17g)", control);
	if (start == 0)
		return a->dyn_type == DYN_INTEGRATOR ? mjcf_format(m, "(%.17g)*t", control)
		                                     : mjcf_format(m, "(%.17g)*(1 - exp(-t/%.17g))", control, a->dyn[0]);
	return a->dyn_type == DYN_INTEGRATOR
	           ? mjcf_format(m, "((%.17g) + (%.17g)*t)", start, control)
	           : mjcf_format(m, "((%.17g) + (%.17g)*exp(-t/%.17g))", control, start - control, a->dyn[0]);
}

/* gain w: a number, or a function of time and state. */
static const char *drive_formula(Mjcf *m, const MjcfActuator *actuator, double control, const char *L, const char *V) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const char *w = activation_formula(m, actuator, control);
	bool limited;
	if (!w || !mjcf_limited(m, actuator->object.file, actuator->object.element, a->act_limited, a->act_range,
	                        "actrange", &limited))
		return NULL;
	if (limited && a->dyn_type != DYN_NONE &&
	    !(w = mjcf_format(m, "clamp(%s, %.17g, %.17g)", w, a->act_range[0], a->act_range[1])))
		return NULL;
	if (a->gain_type == MJCF_GAIN_FIXED)
		return mjcf_format(m, "(%.17g)*%s", a->gain[0], w);
	return mjcf_format(m, "((%.17g) + (%.17g)*%s + (%.17g)*%s)*%s", a->gain[0], a->gain[1], L, a->gain[2], V, w);
}

static bool is_constant(const MjcfActuator *actuator, double control) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const bool constant_bias = a->bias_type == BIAS_NONE || (a->bias[1] == 0 && a->bias[2] == 0);
	const bool idle = control == 0 && (a->dyn_type == DYN_NONE || actuator->activation == 0);
	return constant_bias && (idle || (a->gain_type == MJCF_GAIN_FIXED && a->dyn_type == DYN_NONE));
}

/* Force by formula, or where that is NULL as a number. False after an error. */
static bool scalar_force(Mjcf *m, MjcfActuator *actuator, const Transmission *t, double control, const char **formula,
                         double *number) {
	const MjcfActuatorAttributes *a = &actuator->a;
	const XmlElement *e = actuator->object.element;
	const double b0 = a->bias_type == BIAS_AFFINE ? a->bias[0] : 0;
	bool limited;
	*formula = NULL;
	if (!mjcf_limited(m, actuator->object.file, e, a->force_limited, a->force_range, "forcerange", &limited))
		return false;
	if (is_constant(actuator, control)) {
		*number = (a->gain_type == MJCF_GAIN_FIXED ? a->gain[0] * control : 0) + b0;
		*number = limited ? fmin(fmax(*number, a->force_range[0]), a->force_range[1]) : *number;
		return true;
	}
	const char *L = sum_of(m, e, t, "q"), *V = L ? sum_of(m, e, t, "u") : NULL;
	const char *f = V ? drive_formula(m, actuator, control, L, V) : NULL;
	if (f && a->bias_type == BIAS_AFFINE)
		f = mjcf_format(m, "%s + (%.17g) + (%.17g)*%s + (%.17g)*%s", f, b0, a->bias[1], L, a->bias[2], V);
	if (f && limited)
		f = mjcf_format(m, "clamp(%s, %.17g, %.17g)", f, a->force_range[0], a->force_range[1]);
	return (*formula = f) != NULL;
}

/* ---- what it acts on ------------------------------------------------------------------------------------------- */

static bool tendon_transmission(Mjcf *m, MjcfActuator *actuator, int tendon_index, Transmission *t, const char **why) {
	const MjcfTendon *tendon = mjcf_tendon(m, tendon_index);
	if (tendon->is_spatial)
		*why = "Calder has no spatial tendons";
	if (!(t->terms = xml_array(m->im->tree, (size_t)tendon->term_count + 1, sizeof *t->terms)))
		return import_no_memory(m->im);
	for (int i = 0; i < tendon->term_count; i++)
		t->terms[t->count++] = (MjcfTendonTerm){tendon->terms[i].joint, actuator->a.gear[0] * tendon->terms[i].factor};
	return true;
}

static bool joint_transmission(Mjcf *m, MjcfActuator *actuator, int joint, Transmission *t, const char **why) {
	if (!mjcf_is_scalar(mjcf_joint(m, joint)))
		*why = "actuators of ball and free joints are not taken over; use one on a site";
	if (!(t->terms = xml_array(m->im->tree, 1, sizeof *t->terms)))
		return import_no_memory(m->im);
	t->terms[t->count++] = (MjcfTendonTerm){joint, actuator->a.gear[0]};
	return true;
}

/* *why: the reason for which it cannot be taken over; NULL: it can. */
static bool find_transmission(Mjcf *m, MjcfActuator *actuator, Transmission *t, const char **why) {
	XmlElement *e = actuator->object.element;
	const MjcfFile *file = actuator->object.file;
	int joint, parent_joint, tendon, reference;
	if (!mjcf_refer(m, MJCF_JOINTS, file, e, "joint", &joint) ||
	    !mjcf_refer(m, MJCF_JOINTS, file, e, "jointinparent", &parent_joint) ||
	    !mjcf_refer(m, MJCF_TENDONS, file, e, "tendon", &tendon) ||
	    !mjcf_refer(m, MJCF_SITES, file, e, "site", &t->site) ||
	    !mjcf_refer(m, MJCF_SITES, file, e, "refsite", &reference))
		return false;
	if (xml_peek(e, "cranksite"))
		*why = "Calder has no actuators over a slider-crank; model its links and a loop";
	else if (xml_peek(e, "body"))
		*why = "Calder has no adhesion";
	else if (joint >= 0 || parent_joint >= 0)
		return joint_transmission(m, actuator, joint >= 0 ? joint : parent_joint, t, why);
	else if (tendon >= 0)
		return tendon_transmission(m, actuator, tendon, t, why);
	else if (t->site >= 0 && (reference >= 0 || (actuator->a.bias_type != BIAS_NONE &&
	                                             (actuator->a.bias[1] != 0 || actuator->a.bias[2] != 0))))
		*why = "of actuators on sites Calder has forces that do not depend on the motion";
	else if (t->site < 0)
		return import_fail(m->im, e, "the actuator has no joint, tendon or site to act on");
	return true;
}

static bool add_site_load(Mjcf *m, MjcfActuator *actuator, const char *name, int site, const char *formula,
                          double number) {
	char place[PLACE_MAX];
	CalAppliedLoadDef def = {.name = mjcf_device_label(m, name),
	                         .node = mjcf_site(m, site)->id,
	                         .frame = CAL_FRAME_NODE,
	                         .place = xml_place(actuator->object.element, place, sizeof place)};
	for (int i = 0; i < 6; i++) {
		CalLoadValue *value = i < 3 ? &def.force[i] : &def.moment[i - 3];
		const double gear = actuator->a.gear[i];
		value->number = gear * number;
		if (formula && gear != 0 && !(value->formula = mjcf_format(m, "(%.17g)*(%s)", gear, formula)))
			return false;
	}
	return def.name && import_ok(m->im, cal_setup_add_device(m->im->setup, "applied_load", &def, m->im->error));
}

/* The effort of one actuator on one joint: a load, or a summand of the clamped sum. */
static bool add_joint_effort(Mjcf *m, MjcfActuator *actuator, const char *name, const MjcfTendonTerm *term,
                             const char *formula, double number) {
	MjcfJoint *joint = mjcf_joint(m, term->joint);
	const char *effort = formula ? mjcf_format(m, "(%.17g)*(%s)", term->factor, formula) : NULL;
	bool limited;
	if ((formula && !effort) || !mjcf_limited(m, joint->object.file, joint->object.element, joint->a.force_limited,
	                                          joint->a.force_range, "actuatorfrcrange", &limited))
		return false;
	if (!limited)
		return mjcf_add_effort(m, actuator->object.element, name, joint, effort, term->factor * number);
	if (!effort && !(effort = mjcf_format(m, "(%.17g)", term->factor * number)))
		return false;
	joint->efforts = joint->efforts ? mjcf_format(m, "%s + %s", joint->efforts, effort) : effort;
	return joint->efforts != NULL;
}

static bool build_actuator(Mjcf *m, int index) {
	MjcfActuator *actuator = mjcf_actuator(m, index);
	XmlElement *e = actuator->object.element;
	const MjcfActuatorAttributes *a = &actuator->a;
	const char *name = actuator->object.name ? actuator->object.name : mjcf_format(m, "actuator%d", index), *formula;
	const char *why = NULL;
	Transmission t = {.site = -1};
	double control = m->control[index], number = 0;
	if (!name)
		return false;
	if (!m->option.on.actuation || (a->group >= 0 && a->group < 31 && m->option.disabled_groups >> a->group & 1))
		return import_ignore(m->im, e, "<option> switches it off");
	if (a->gain_type >= MJCF_GAIN_OTHER || a->bias_type >= BIAS_OTHER || a->dyn_type >= DYN_OTHER)
		return import_missing(m->im, e, "Calder has no actuator of this kind");
	if (!find_transmission(m, actuator, &t, &why))
		return false;
	if (why)
		return import_missing(m->im, e, "%s", why);
	complete_damping(m, &actuator->a, &t);
	if (!complete_control(m, actuator, &t, &control) || !scalar_force(m, actuator, &t, control, &formula, &number))
		return false;
	if (t.site >= 0)
		return add_site_load(m, actuator, name, t.site, formula, number);
	for (int i = 0; i < t.count; i++) {
		const char *device =
			t.count == 1 ? name : mjcf_format(m, "%s_%s", name, mjcf_joint(m, t.terms[i].joint)->label);
		if (!device || !add_joint_effort(m, actuator, device, &t.terms[i], formula, number))
			return false;
	}
	return true;
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
		if (!build_actuator(m, i))
			return false;
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++)
		if (!build_sum(m, mjcf_joint(m, i)))
			return false;
	return !count || m->by_key ||
	       import_note(
			   m->im, CAL_IMPORT_ASSUMED, mjcf_actuator(m, 0)->object.element->parent, NULL,
			   "the inputs (ctrl) of all actuators are 0; give them by a keyframe \"home\", or edit the loads of the "
			   "converted model");
}
