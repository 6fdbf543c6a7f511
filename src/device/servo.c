// SPDX-License-Identifier: Apache-2.0
/*
 * servo.c — a joint that follows a reference: PID control, motor, gear.
 *
 *   command  tau_c = kp e + ki int(e) + kd e' + J r''           e = r(t) - q; clipped to the effort limit
 *   motor    tau_m = tau_c, at most  stall (1 - w/free_speed)   in the direction in which it turns, w its speed
 *   gear     rigid: tau_m acts on the joint. Flexible: on a rotor (angle th, inertia I, on the joint's side of the gear),
 *            I th'' = tau_m - tau_g, with tau_g = k s + c s' on the joint; with backlash b the gear touches only where
 *            |th - q| > b/2, s is the depth beyond it, and tau_g pushes but never pulls
 * The integral stands still while a limit holds and e would drive it on. With a sample period the command is computed at
 * the sample times and held between them; the motor's limit always acts at once.
 * States x: integral (if ki is not zero and control is continuous), then th, th'. Discrete: command, integral.
 */
#include "device/device.h"

typedef struct Servo {
	CalServoDef def;
	Table reference;
	CalFreedom at;
	int integral, rotor; // places in x, -1: none
} Servo;

enum { COMMAND, INTEGRAL, DISCRETE };

static int servo_bind(const CalDevice *device, const CalScene *scene) {
	Servo *s = device->data;
	return bind_freedom(scene, s->def.joint, s->def.dof, &s->at);
}

/* What control sees. */
static void measured(const CalDevice *device, CalScene *scene, double *q, double *u) {
	const Servo *s = device->data;
	const bool rotor = s->def.rotor_feedback && s->rotor >= 0;
	*q = rotor ? device->x[s->rotor] : cal_scene_q(scene, s->at);
	*u = rotor ? device->x[s->rotor + 1] : cal_scene_u(scene, s->at);
}

static double clip(double x, double limit) { return limit > 0 ? fmin(fmax(x, -limit), limit) : x; }

/* The command, and the rate of the integral. */
static double command_of(const CalDevice *device, CalScene *scene, double integral, double *integral_rate) {
	const Servo *s = device->data;
	const CalServoDef *def = &s->def;
	const TableValue r = table_at(device, s->reference, cal_scene_time(scene));
	double q, u;
	measured(device, scene, &q, &u);
	const double e = r.value - q, wanted = def->proportional * e + def->integral * integral +
	                                       def->derivative * (r.rate - u) + def->inertia * r.acceleration;
	const double given = clip(wanted, def->effort_limit);
	*integral_rate = given != wanted && e * def->integral * wanted > 0 ? 0 : e;
	return given;
}

static double motor_of(const CalServoDef *def, double command, double speed) {
	if (!(def->stall_effort > 0))
		return command;
	const double lost = def->free_speed > 0 ? speed / def->free_speed : 0;
	const double most = def->stall_effort * fmin(1, fmax(0, 1 - lost));
	const double least = -def->stall_effort * fmin(1, fmax(0, 1 + lost));
	return fmin(fmax(command, least), most);
}

typedef struct Gear {
	double s, s_rate; // depth of the contact, signed; 0: in the play
	double effort;    // on the joint
} Gear;

static Gear gear_of(const CalServoDef *def, double angle, double rate) {
	const double half = 0.5 * def->backlash;
	if (fabs(angle) < half)
		return (Gear){0, 0, 0};
	const double s = angle > 0 ? angle - half : angle + half;
	double effort = def->gear_stiffness * s + def->gear_damping * rate;
	if (half > 0 && effort * s <= 0)
		effort = 0;
	return (Gear){s, rate, effort};
}

static double present_command(const CalDevice *device, CalScene *scene, double *integral_rate) {
	const Servo *s = device->data;
	*integral_rate = 0;
	if (s->def.sample_period > 0)
		return device->d[COMMAND];
	return command_of(device, scene, s->integral >= 0 ? device->x[s->integral] : 0, integral_rate);
}

static int servo_evaluate(const CalDevice *device, CalScene *scene, double *xdot) {
	const Servo *s = device->data;
	const CalServoDef *def = &s->def;
	double integral_rate;
	const double command = present_command(device, scene, &integral_rate);
	if (s->integral >= 0)
		xdot[s->integral] = integral_rate;
	const double q = cal_scene_q(scene, s->at), u = cal_scene_u(scene, s->at);
	if (s->rotor < 0) {
		const double effort = motor_of(def, command, u);
		cal_scene_effort(scene, s->at, effort);
		cal_scene_supply(scene, effort * u);
		return 0;
	}
	const double *rotor = device->x + s->rotor;
	const double effort = motor_of(def, command, rotor[1]);
	const Gear gear = gear_of(def, rotor[0] - q, rotor[1] - u);
	xdot[s->rotor] = rotor[1];
	xdot[s->rotor + 1] = (effort - gear.effort) / def->rotor_inertia;
	cal_scene_effort(scene, s->at, gear.effort);
	cal_scene_supply(scene, effort * rotor[1]);
	cal_scene_store(scene, 0.5 * (def->rotor_inertia * rotor[1] * rotor[1] + def->gear_stiffness * gear.s * gear.s));
	cal_scene_dissipate(scene, gear.effort * (rotor[1] - u) - def->gear_stiffness * gear.s * gear.s_rate);
	return 0;
}

/* How far the rotor is beyond each side of the play, and the rate of that. */
static void depths_of(const CalDevice *device, CalScene *scene, double depth[2], double rate[2]) {
	const Servo *s = device->data;
	const double *rotor = device->x + s->rotor, angle = rotor[0] - cal_scene_q(scene, s->at);
	depth[0] = angle - 0.5 * s->def.backlash;
	depth[1] = -angle - 0.5 * s->def.backlash;
	rate[0] = rotor[1] - cal_scene_u(scene, s->at);
	rate[1] = -rate[0];
}

/* Above zero: the gear touches on this side of its play; with damping, a second pair: it pushes. */
static int servo_values(const CalDevice *device, CalScene *scene, double *value) {
	const CalServoDef *def = &((const Servo *)device->data)->def;
	double depth[2], rate[2];
	depths_of(device, scene, depth, rate);
	for (int i = 0; i < 2; i++) {
		value[i] = depth[i];
		if (def->gear_damping > 0)
			value[2 + i] = pushes(def->gear_stiffness, def->gear_damping, depth[i], rate[i]);
	}
	return 0;
}

/* The motor alone moves the rotor in the play. */
static int servo_outlook(const CalDevice *device, CalScene *scene, CalOutlook *outlook) {
	const Servo *s = device->data;
	if (s->rotor < 0 || !(s->def.backlash > 0))
		return 0;
	const double k = s->def.gear_stiffness, c = s->def.gear_damping,
				 command = present_command(device, scene, &(double){0});
	double depth[2], rate[2];
	depths_of(device, scene, depth, rate);
	const Gear gear = gear_of(&s->def, depth[0] + 0.5 * s->def.backlash, rate[0]);
	const double pushed = fabs(motor_of(&s->def, command, device->x[s->rotor + 1])) + fabs(gear.effort);
	const double bend = pushed / s->def.rotor_inertia + fabs(cal_scene_udot(scene, s->at));
	for (int i = 0; i < 2; i++) {
		const double meets = keeps_sign(depth[i], rate[i], bend);
		outlook->clear = fmin(outlook->clear, fmin(meets, keeps_pushing(k, c, depth[i], rate[i], bend)));
	}
	return 0;
}

static const char *servo_value_text(const CalDevice *device, int event) {
	(void)device;
	return event % 2 == 0 ? "upper side of the backlash" : "lower side of the backlash";
}

/* The rotor starts with the joint. */
static int servo_start(const CalDevice *device, CalScene *scene, double *x) {
	const Servo *s = device->data;
	if (s->rotor >= 0) {
		x[s->rotor] = cal_scene_q(scene, s->at);
		x[s->rotor + 1] = cal_scene_u(scene, s->at);
	}
	return 0;
}

static int servo_sample(const CalDevice *device, CalScene *scene, double *x) {
	const Servo *s = device->data;
	double integral_rate;
	(void)x;
	device->d[COMMAND] = command_of(device, scene, device->d[INTEGRAL], &integral_rate);
	device->d[INTEGRAL] += integral_rate * s->def.sample_period;
	return 0;
}

static double servo_next_switch(const CalDevice *device, double t) {
	return table_next_switch(device, ((const Servo *)device->data)->reference, t);
}

static int servo_outputs(const CalDevice *device, CalScene *scene, double *output) {
	const Servo *s = device->data;
	const TableValue r = table_at(device, s->reference, cal_scene_time(scene));
	const double q = cal_scene_q(scene, s->at), u = cal_scene_u(scene, s->at);
	double rate;
	output[0] = r.value;
	output[1] = r.value - q;
	output[2] = motor_of(&s->def, present_command(device, scene, &rate), s->rotor >= 0 ? device->x[s->rotor + 1] : u);
	output[3] = s->rotor >= 0 ? device->x[s->rotor] : q;
	return 0;
}

static const char *const names[] = {"reference", "error", "effort", "rotor"};
static const char *const units[FREEDOM_KINDS][4] = {
	{"rad", "rad", "N m", "rad"}, {"m", "m", "N", "m"}, {"rad|m", "rad|m", "N m|N", "rad|m"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                                      \
	{                                                                                                                  \
		.type = "servo", .bind = servo_bind, .start = servo_start, .evaluate = servo_evaluate, .sample = servo_sample, \
		.values = servo_values, .outlook = servo_outlook, .value_text = servo_value_text, .outputs = servo_outputs,    \
		.next_switch = servo_next_switch, .output_count = 4, .output_names = names, .output_units = units[kind]        \
	}
static const CalDeviceOps ops[FREEDOM_KINDS] = {OPS(FREEDOM_TURNS), OPS(FREEDOM_SLIDES), OPS(FREEDOM_EITHER)};
#undef OPS

static void check_gains(DeviceDraft *d, const CalServoDef *def) {
	device_not_negative(d, "proportional", def->proportional);
	device_not_negative(d, "integral", def->integral);
	device_not_negative(d, "derivative", def->derivative);
	device_not_negative(d, "inertia", def->inertia);
	device_not_negative(d, "effort limit", def->effort_limit);
	device_not_negative(d, "stall effort", def->stall_effort);
	device_not_negative(d, "free speed", def->free_speed);
	device_not_negative(d, "sample period", def->sample_period);
	device_not_negative(d, "gear stiffness", def->gear_stiffness);
	device_not_negative(d, "gear damping", def->gear_damping);
	device_not_negative(d, "backlash", def->backlash);
	const bool flexible = def->gear_stiffness > 0;
	device_check(d, flexible || (def->gear_damping == 0 && def->backlash == 0 && !def->rotor_feedback),
	             "gear damping, backlash and rotor feedback need a gear stiffness");
	device_check(d, !flexible || (isfinite(def->rotor_inertia) && def->rotor_inertia > 0),
	             "a flexible gear needs a rotor inertia above zero");
	device_check(d, flexible || def->rotor_inertia == 0,
	             "the rotor of a rigid gear belongs to the joint; give its dof a rotor_inertia");
}

CalStatus cal_sim_add_servo(CalSim *sim, const CalServoDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceDraft d = device_draft(sim, &ops[freedom_kind(sim, def->joint, def->dof)], def->name, def->place, error);
	Servo data = {.def = *def, .integral = -1, .rotor = -1};
	check_gains(&d, def);
	data.reference = device_table(&d, "reference", &def->reference);
	d.def.sample_period = def->sample_period;
	d.def.nd = def->sample_period > 0 ? DISCRETE : 0;
	if (def->integral > 0 && !(def->sample_period > 0))
		data.integral = d.def.nx++;
	if (def->gear_stiffness > 0) {
		data.rotor = d.def.nx;
		d.def.event_count = !(def->backlash > 0) ? 0 : def->gear_damping > 0 ? 4 : 2;
		d.def.nx += 2;
	}
	return device_add(&d, &data, sizeof data, device);
}
