// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_actuator.c — actuators as the file has them: kinds, defaults and attributes. Each kind is a short form of "general":
 * gain, bias and dynamics of the activation.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

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
bool mjcf_has_activation(const MjcfActuatorAttributes *a) { return a->dyn_type != MJCF_DYN_NONE; }

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
	a->bias_type = MJCF_BIAS_AFFINE;
	if (has_tau) {
		a->dyn[0] = tau;
		a->dyn_type = tau == 0 ? MJCF_DYN_NONE : MJCF_DYN_FILTEREXACT;
	}
	if (integrates)
		a->dyn_type = MJCF_DYN_INTEGRATOR;
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
	a->bias_type = MJCF_BIAS_AFFINE;
	a->dyn_type = MJCF_DYN_NONE;
	return true;
}

static bool apply_damper(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e) {
	double kv = a->gain_type == MJCF_GAIN_AFFINE ? -a->gain[2] : 0;
	if (!import_number(m->im, e, "kv", &kv, NULL))
		return false;
	a->gain[0] = a->gain[1] = 0;
	a->gain[2] = -kv;
	a->gain_type = MJCF_GAIN_AFFINE;
	a->bias_type = MJCF_BIAS_NONE;
	a->dyn_type = MJCF_DYN_NONE;
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
	a->bias_type = MJCF_BIAS_AFFINE;
	a->dyn_type = MJCF_DYN_FILTER;
	return true;
}

static bool apply_kind(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *e, int kind) {
	switch (kind) {
	case GENERAL:
		return apply_general(m, a, e);
	case MOTOR:
		a->gain[0] = 1;
		a->gain_type = MJCF_GAIN_FIXED, a->bias_type = MJCF_BIAS_NONE, a->dyn_type = MJCF_DYN_NONE;
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
		a->gain_type = MJCF_GAIN_OTHER, a->bias_type = MJCF_BIAS_OTHER, a->dyn_type = MJCF_DYN_OTHER;
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
