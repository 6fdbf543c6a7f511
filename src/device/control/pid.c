// SPDX-License-Identifier: Apache-2.0
/*
 * pid.c — a sampled PID controller with a filtered derivative, limits and anti-windup.
 *
 * At the samples t = offset + k T, with the measured signal y, the set point r, the error e = r - y and the feedforward f:
 *
 *   D[k] = (Tf D[k-1] + T kd w[k])/(Tf + T)     w[k] = (v[k] - v[k-1])/T, v = e or -y; or w = -(measured rate)
 *   I[k] = I[k-1] + ki T e[k]
 *   v[k] = kp e[k] + I[k] + D[k] + f[k],  output = v clipped to lower..upper
 *
 * Clamping: I keeps I[k-1] where v would be beyond a limit and ki e drives it further. Back-calculation: after the sample
 * I += (T/Tt) (output - v). In the first sample v[k-1] is v[k].
 */
#include "device/control/sampled.h"

extern const DeviceType pid_type;

#include <float.h>
#include <string.h>

typedef enum DerivativeOf { OF_ERROR, OF_MEASUREMENT } DerivativeOf;
typedef enum AntiWindup { CLAMPING, BACK_CALCULATION, NO_ANTI_WINDUP } AntiWindup;

typedef struct PidDef {
	const char *name;
	SampledKeys keys;
	CalLoadValue measured, set_point, measured_rate, feedforward;
	double proportional, integral, derivative;
	double derivative_filter; // Tf [s]
	int derivative_of;        // DerivativeOf
	double lower, upper;      //
	int anti_windup;          // AntiWindup
	double tracking_time;     // Tt [s]
	CalJointId joint;         // {0}: none
	int dof;                  //
	const char *place;
} PidDef;

enum { MEASURED, SET_POINT, FEEDFORWARD, RATE, PID_INPUTS }; // the last one may be missing
enum { OUTPUT, PID_ERROR, INTEGRAL_TERM, DERIVATIVE_TERM, UNLIMITED, PID_OUTPUTS };
enum { INTEGRAL, DERIVATIVE, LAST, HAS_LAST, PID_STATES };

typedef struct Pid {
	Sampled s; // first
	PidDef def;
	bool rate;
	CalDofRef at;
} Pid;

static Pid *pid_of(const CalDevice *device) { return (Pid *)(void *)sampled_of(device); }

static int pid_bind(const CalDevice *device, const CalEvalContext *context) {
	Pid *pid = pid_of(device);
	if (pid->def.joint.value && bind_dof(context, pid->def.joint, pid->def.dof, &pid->at) != 0)
		return -1;
	return sampled_bind(device, context);
}

/* The rate of the error as the derivative term sees it. */
static double rate_of(const Pid *pid, const double *u, double *x) {
	const double v = pid->def.derivative_of == OF_ERROR ? u[SET_POINT] - u[MEASURED] : -u[MEASURED];
	const double rate = pid->rate ? -u[RATE] : x[HAS_LAST] != 0 ? (v - x[LAST]) / pid->s.period : 0;
	x[LAST] = v;
	x[HAS_LAST] = 1;
	return rate;
}

static double clip(const PidDef *def, double v) { return fmin(fmax(v, def->lower), def->upper); }

static int pid_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Pid *pid = pid_of(device);
	const PidDef *def = &pid->def;
	const double T = pid->s.period, Tf = def->derivative_filter;
	double u[PID_INPUTS] = {0}, *state = sampled_states(device);
	(void)x;
	if (sampled_read(device, context, u) != 0)
		return 1;
	const double e = u[SET_POINT] - u[MEASURED];
	state[DERIVATIVE] = (Tf * state[DERIVATIVE] + T * def->derivative * rate_of(pid, u, state)) / (Tf + T);
	const double rest = def->proportional * e + state[DERIVATIVE] + u[FEEDFORWARD];
	const double grown = state[INTEGRAL] + def->integral * T * e;
	const double beyond_limits = rest + grown - clip(def, rest + grown);
	const bool held = def->anti_windup == CLAMPING && beyond_limits * def->integral * e > 0;
	const double integral = held ? state[INTEGRAL] : grown, wanted = rest + integral, given = clip(def, wanted);
	const double y[PID_OUTPUTS] = {given, e, integral, state[DERIVATIVE], wanted};
	state[INTEGRAL] = integral + (def->anti_windup == BACK_CALCULATION ? T / def->tracking_time * (given - wanted) : 0);
	sampled_hold(device, y);
	return 0;
}

static int pid_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Pid *pid = pid_of(device);
	(void)xdot;
	if (!pid->def.joint.value)
		return 0;
	cal_context_apply_effort(context, pid->at, device->d[OUTPUT]);
	cal_context_add_supplied_power(context, device->d[OUTPUT] * cal_context_u(context, pid->at));
	return 0;
}

static double *pid_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	PidDef *def = &pid_of(device)->def;
	double *number = device_parameter(&pid_type, def, DOF_KIND_EITHER, index, about);
	if (number == &def->lower)
		about->high = fmin(nextafter(def->upper, -INFINITY), DBL_MAX);
	if (number == &def->upper)
		about->low = fmax(def->lower, -DBL_MAX), about->above = 1;
	return number;
}

static const char *const names[PID_OUTPUTS] = {"output", "error", "integral", "derivative", "unlimited"};
static const char *const units[DOF_KIND_KINDS][PID_OUTPUTS] = {
	{"N m", "1", "N m", "N m", "N m"}, {"N", "1", "N", "N", "N"}, {"1", "1", "1", "1", "1"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                                    \
	{                                                                                                                \
		.type = "pid", .bind = pid_bind, .evaluate = pid_evaluate, .sample = pid_sample, .outputs = sampled_outputs, \
		.parameter = pid_parameter, .destroy = sampled_destroy, .output_count = PID_OUTPUTS, .output_names = names,  \
		.output_units = units[kind]                                                                                  \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

/* ---- making ------------------------------------------------------------------------------------- */

static bool is_given(const CalLoadValue *value) {
	return value->formula || value->table.count > 0 || value->number != 0;
}

static void check_def(DeviceBuilder *d, const PidDef *def) {
	device_check(d, isfinite(def->proportional) && isfinite(def->integral) && isfinite(def->derivative),
	             "a gain is not finite");
	device_not_negative(d, "derivative_filter", def->derivative_filter);
	device_check(d, def->lower < def->upper, "its lower limit %g is not below its upper limit %g", def->lower,
	             def->upper);
	device_check(d, !is_given(&def->measured_rate) || def->derivative_of == OF_ERROR,
	             "derivative_of has no meaning with a measured_rate; give one of them");
	const bool back = def->anti_windup == BACK_CALCULATION;
	device_check(d, !back || (isfinite(def->tracking_time) && def->tracking_time > 0),
	             "back_calculation needs a tracking_time greater than zero, of the order of the time in which the loop "
	             "settles");
	device_check(d, back || def->tracking_time == 0, "tracking_time belongs to anti_windup: back_calculation");
}

static CalStatus add_pid(CalSim *sim, const void *given, int *device, CalError *error) {
	const PidDef *def = given;
	const DofKind kind = def->joint.value ? dof_kind(sim, def->joint, def->dof) : DOF_KIND_EITHER;
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	check_def(&d, def);
	Pid *pid = sampled_alloc(&d, sizeof *pid);
	if (!pid)
		return d.status;
	pid->def = *def;
	pid->rate = is_given(&def->measured_rate);
	sampled_take(&d, &pid->s, &def->keys, PID_OUTPUTS, PID_STATES);
	sampled_take_input(&d, &pid->s, "measured", &def->measured);
	sampled_take_input(&d, &pid->s, "set_point", &def->set_point);
	sampled_take_input(&d, &pid->s, "feedforward", &def->feedforward);
	if (pid->rate)
		sampled_take_input(&d, &pid->s, "measured_rate", &def->measured_rate);
	return sampled_add_device(&d, &pid->s, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(PidDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(PidDef),
	{"measured", FIELD_LOAD_VALUE, AT(measured), .flags = FIELD_REQUIRED, .doc = "y, the signal to control"},
	{"set_point", FIELD_LOAD_VALUE, AT(set_point), .doc = "r; default 0"},
	SAMPLED_FIELDS(PidDef, keys),
	{"proportional", FIELD_NUMBER, AT(proportional), .flags = FIELD_TUNED, .doc = "gain kp, SI; default 0"},
	{"integral", FIELD_NUMBER, AT(integral), .flags = FIELD_TUNED, .doc = "gain ki, SI; default 0"},
	{"derivative", FIELD_NUMBER, AT(derivative), .flags = FIELD_TUNED, .doc = "gain kd, SI; default 0"},
	{"derivative_filter", FIELD_NUMBER, AT(derivative_filter), DIM_TIME, .flags = FIELD_TUNED_FROM_0,
     .doc = "time constant Tf of the low pass on the derivative; default 0: none"},
	{"derivative_of", FIELD_CHOICE, AT(derivative_of), .doc = "what is differenced; default `error`",
     .words = FIELD_WORDS("error", "measurement")},
	{"measured_rate", FIELD_LOAD_VALUE, AT(measured_rate), .flags = FIELD_ZERO_COUNTS,
     .doc = "rate of the measured signal, e.g. of a gyro, that takes the place of differences; default none"},
	{"feedforward", FIELD_LOAD_VALUE, AT(feedforward), .doc = "added to the output before it is limited; default 0"},
	{"lower", FIELD_NUMBER, AT(lower), .flags = FIELD_TUNED, .doc = "limit of the output, SI; default none"},
	{"upper", FIELD_NUMBER, AT(upper), .flags = FIELD_TUNED, .doc = "limit of the output, SI; default none"},
	{"anti_windup", FIELD_CHOICE, AT(anti_windup), .doc = "what the integral does at a limit; default `clamping`",
     .words = FIELD_WORDS("clamping", "back_calculation", "none")},
	{"tracking_time", FIELD_NUMBER, AT(tracking_time), DIM_TIME, .flags = FIELD_TUNED_ABOVE_0,
     .doc = "Tt, with which back-calculation returns the integral; needed by it"},
	{"joint", FIELD_JOINT, AT(joint), .doc = "on which the output acts as an effort; default none: formulas read it"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
};
#undef AT
#define LINEAR \
	{ .table.shape = CAL_TABLE_LINEAR }
static const PidDef start = {.measured = LINEAR,
                             .set_point = LINEAR,
                             .measured_rate = LINEAR,
                             .feedforward = LINEAR,
                             .lower = -INFINITY,
                             .upper = INFINITY};
#undef LINEAR

const DeviceType pid_type = {
	.table = {FIELDS("pid", fields), .doc = "A sampled PID controller with filtered derivative, limits and "
                                            "anti-windup. Its output acts on a joint, or is read by formulas."},
	DEVICE_DEF(PidDef),
	.add = add_pid,
	.ops = &ops[DOF_KIND_EITHER],
	.start = &start,
	.sampled = true};
