// SPDX-License-Identifier: Apache-2.0
/*
 * friction.c — friction of a joint: Coulomb and Stribeck, smoothed or with bristles.
 *
 *   g(v) = Fc + (Fs - Fc) exp(-(v/vs)^2)
 * smoothed by a speed v0: F = g(v) tanh(v/v0) + Fv v; at rest the joint creeps under a load.
 * LuGre (Canudas de Wit et al. 1995), with the bristles' deflection z as state: z' = v - s0 |v|/g(v) z,
 *   F = s0 z + s1 z' + Fv v; at rest the joint holds as a spring s0 up to Fs.
 * F acts against the motion. Bristles store s0 z^2/2; the rest of F v is lost.
 */
#include "device/device.h"
#include "device/device_type.h"
#include "math/portable.h"

extern const DeviceType friction_type;

typedef struct Friction {
	CalFrictionDef def;
	CalDofRef at;
	DofKind kind;
} Friction;

static int friction_bind(const CalDevice *device, const CalEvalContext *context) {
	Friction *s = device->data;
	return bind_dof(context, s->def.joint, s->def.dof, &s->at);
}

static double level(const CalFrictionDef *def, double v) {
	const double ratio = def->stribeck_speed > 0 ? v / def->stribeck_speed : 0;
	return def->stiction > def->coulomb ? def->coulomb + (def->stiction - def->coulomb) * portable_exp(-ratio * ratio)
	                                    : def->coulomb;
}

/* The force against the motion; z_rate of the bristles. */
static double force_of(const CalDevice *device, double v, double *z_rate) {
	const CalFrictionDef *def = &((const Friction *)device->data)->def;
	const double g = level(def, v);
	*z_rate = 0;
	if (!(def->bristle_stiffness > 0))
		return g * portable_tanh(v / def->smoothing_speed) + def->viscous * v;
	const double z = device->x[0];
	*z_rate = v - def->bristle_stiffness * fabs(v) / g * z;
	return def->bristle_stiffness * z + def->bristle_damping * *z_rate + def->viscous * v;
}

static int friction_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Friction *s = device->data;
	const double v = cal_context_u(context, s->at);
	double z_rate;
	const double force = force_of(device, v, &z_rate);
	cal_context_apply_effort(context, s->at, -force);
	if (s->def.bristle_stiffness > 0) {
		const double z = device->x[0];
		xdot[0] = z_rate;
		cal_context_add_stored_energy(context, 0.5 * s->def.bristle_stiffness * z * z);
		cal_context_add_dissipated_power(context, force * v - s->def.bristle_stiffness * z * z_rate);
	} else {
		cal_context_add_dissipated_power(context, force * v);
	}
	return 0;
}

static int friction_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Friction *s = device->data;
	double z_rate;
	output[0] = -force_of(device, cal_context_u(context, s->at), &z_rate);
	return 0;
}

static int friction_one_dof(const CalDevice *device, CalDofRef *dof_ref) {
	*dof_ref = ((const Friction *)device->data)->at;
	return 0;
}

/* Breakaway friction is not below sliding friction, nor above it without a Stribeck velocity. */
static double *friction_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Friction *s = device->data;
	CalFrictionDef *def = &s->def;
	double *number = device_parameter(&friction_type, def, s->kind, index, about);
	const bool bound = def->stiction > 0 && (number == &def->coulomb || number == &def->stiction);
	if (bound && number == &def->coulomb)
		about->high = def->stiction;
	if (bound && number == &def->stiction)
		about->low = def->coulomb, about->above = 0;
	if (bound && !(def->stribeck_speed > 0))
		about->fixed = "stiction and coulomb are the same without a stribeck_speed";
	return number;
}

static const char *const names[] = {"effort"};
static const char *const units[DOF_KIND_KINDS][1] = {{"N m"}, {"N"}, {"N m|N"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                               \
	{                                                                                                           \
		.type = "friction", .bind = friction_bind, .evaluate = friction_evaluate, .outputs = friction_outputs,  \
		.one_dof = friction_one_dof, .parameter = friction_parameter, .output_count = 1, .output_names = names, \
		.output_units = units[kind]                                                                             \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

CalStatus cal_sim_add_friction(CalSim *sim, const CalFrictionDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	const DofKind kind = dof_kind(sim, def->joint, def->dof);
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	const Friction data = {.def = *def, .kind = kind};
	device_check(&d, isfinite(def->coulomb) && def->coulomb > 0, "coulomb is %g; give a force above zero",
	             def->coulomb);
	device_check(&d, def->stiction == 0 || (isfinite(def->stiction) && def->stiction >= def->coulomb),
	             "stiction %g is below coulomb %g; it is the larger of the two", def->stiction, def->coulomb);
	device_check(&d, !(def->stiction > def->coulomb) || (isfinite(def->stribeck_speed) && def->stribeck_speed > 0),
	             "stiction differs from coulomb; give the stribeck speed between them, above zero");
	device_not_negative(&d, "viscous", def->viscous);
	device_not_negative(&d, "bristle stiffness", def->bristle_stiffness);
	device_not_negative(&d, "bristle damping", def->bristle_damping);
	device_check(&d, def->bristle_stiffness > 0 || (isfinite(def->smoothing_speed) && def->smoothing_speed > 0),
	             "give a smoothing speed above zero, or a bristle stiffness for friction that holds");
	d.def.nx = def->bristle_stiffness > 0 ? 1 : 0;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalFrictionDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalFrictionDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"coulomb", FIELD_NUMBER, AT(coulomb), DIM_TORQUE, .flags = FIELD_REQUIRED | FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "sliding friction, > 0"},
	{"stiction", FIELD_NUMBER, AT(stiction), DIM_TORQUE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "breakaway friction; default as `coulomb`"},
	{"stribeck_speed", FIELD_NUMBER, AT(stribeck_speed), DIM_RATE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "Stribeck velocity"},
	{"viscous", FIELD_NUMBER, AT(viscous), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF | FIELD_TUNED_FROM_0,
     .doc = "friction per speed; default 0"},
	{"smoothing_speed", FIELD_NUMBER, AT(smoothing_speed), DIM_RATE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "below it friction falls to zero"},
	{"bristle_stiffness", FIELD_NUMBER, AT(bristle_stiffness), DIM_ANGULAR_STIFFNESS,
     .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0, .doc = "> 0: LuGre, with one state"},
	{"bristle_damping", FIELD_NUMBER, AT(bristle_damping), DIM_ANGULAR_DAMPING,
     .flags = FIELD_BY_DOF | FIELD_TUNED_FROM_0, .doc = "default 0"},
};
#undef AT
DEVICE_ADD(add_friction, CalFrictionDef, cal_sim_add_friction)

const DeviceType friction_type = {
	.table = {FIELDS("friction", fields),
              .doc = "Friction of a joint. With `smoothing_speed` it falls to zero at rest, with `bristle_stiffness` "
                     "it holds (LuGre)."},
	DEVICE_DEF(CalFrictionDef),
	.add = add_friction,
	.ops = &ops[DOF_KIND_EITHER]};
