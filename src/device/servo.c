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
#include "device/device_type.h"
#include "sim/sim_internal.h"

extern const DeviceType servo_type;

/*
 * What steps end at. Sides of the play: above zero the gear touches, or pushes. Limits of the command and of the motor, at
 * which the effort bends; whether the integral is held; the speeds at which the limit of the motor bends.
 */
typedef enum ServoValue {
	UPPER_SIDE,
	LOWER_SIDE,
	UPPER_PUSH,
	LOWER_PUSH,
	UPPER_LIMIT,
	LOWER_LIMIT,
	INTEGRAL_HELD,
	UPPER_MOTOR,
	LOWER_MOTOR,
	STANDSTILL,
	FREE_SPEED,
	SERVO_VALUES
} ServoValue;

typedef struct Servo {
	CalServoDef def;
	TimeFunction reference;
	CalDofRef at;
	int integral, rotor;             // places in x, -1: none
	DofKind kind;                    //
	int value_count;                 //
	ServoValue values[SERVO_VALUES]; // [value_count]
} Servo;

enum { COMMAND, INTEGRAL, DISCRETE };

static int servo_bind(const CalDevice *device, const CalEvalContext *context) {
	Servo *s = device->data;
	return bind_dof(context, s->def.joint, s->def.dof, &s->at);
}

/* What control sees. */
static inline void measured(const CalDevice *device, CalEvalContext *context, double *q, double *u) {
	const Servo *s = device->data;
	const bool rotor = s->def.rotor_feedback && s->rotor >= 0;
	*q = rotor ? device->x[s->rotor] : context_q(context, s->at);
	*u = rotor ? device->x[s->rotor + 1] : context_u(context, s->at);
}

/* What is not a number stays so, and is refused. */
static inline double clip(double x, double limit) {
	if (!(limit > 0) || !(x > limit || x < -limit))
		return x;
	return x > 0 ? limit : -limit;
}

static inline TableValue reference_of(const CalDevice *device, const CalEvalContext *context) {
	TableValue r = time_function_at(device, &((Servo *)device->data)->reference, context->t);
	context_probe(context, device, "reference", &r.value);
	return r;
}

/* The command at a reference and what is measured, and the rate of the integral. */
static inline double command_at(const CalServoDef *def, TableValue r, double q, double u, double integral,
                                double *integral_rate) {
	const double e = r.value - q, wanted = def->proportional * e + def->integral * integral +
	                                       def->derivative * (r.rate - u) + def->inertia * r.acceleration;
	const double given = clip(wanted, def->effort_limit);
	*integral_rate = given != wanted && e * def->integral * wanted > 0 ? 0 : e;
	return given;
}

/* Of a reference that has no value it is not a number. */
static inline double command_of(const CalDevice *device, CalEvalContext *context, double integral,
                                double *integral_rate) {
	const Servo *s = device->data;
	const TableValue r = reference_of(device, context);
	double q, u;
	measured(device, context, &q, &u);
	return command_at(&s->def, r, q, u, integral, integral_rate);
}

static double limit_motor(const CalServoDef *def, double command, double speed) {
	const double lost = def->free_speed > 0 ? speed / def->free_speed : 0;
	const double most = def->stall_effort * fmin(1, fmax(0, 1 - lost));
	const double least = -def->stall_effort * fmin(1, fmax(0, 1 + lost));
	return fmin(fmax(command, least), most);
}

static inline double motor_of(const CalServoDef *def, double command, double speed) {
	return def->stall_effort > 0 ? limit_motor(def, command, speed) : command;
}

typedef struct Gear {
	double s, s_rate; // depth of the contact, signed; 0: in the play
	double effort;    // on the joint
} Gear;

static Gear gear_of(const CalServoDef *def, double angle, double rate) {
	const double half = 0.5 * def->backlash;
	if (fabs(angle) < half)
		return (Gear){0, 0, 0};
	const double side = angle > 0 ? 1 : -1, s = angle - side * half;
	double effort = def->gear_stiffness * s + def->gear_damping * rate;
	if (half > 0 && effort * side <= 0) // by its side: s may be 0, where a step begins
		effort = 0;
	return (Gear){s, rate, effort};
}

static double present_command(const CalDevice *device, CalEvalContext *context) {
	const Servo *s = device->data;
	double ignored;
	if (s->def.sample_period > 0)
		return device->d[COMMAND];
	return command_of(device, context, s->integral >= 0 ? device->x[s->integral] : 0, &ignored);
}

static int servo_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Servo *s = device->data;
	const CalServoDef *def = &s->def;
	double integral_rate = 0;
	const double command =
		def->sample_period > 0
			? device->d[COMMAND]
			: command_of(device, context, s->integral >= 0 ? device->x[s->integral] : 0, &integral_rate);
	if (!isfinite(command)) {
		cal_context_explain_failure(
			context, "its command is not finite: has the reference a value, a rate and an acceleration?");
		return 1;
	}
	if (s->integral >= 0)
		xdot[s->integral] = integral_rate;
	const double u = context_u(context, s->at);
	if (s->rotor < 0) {
		const double effort = motor_of(def, command, u);
		context_apply_effort(context, s->at, effort);
		context->supplied += effort * u;
		return 0;
	}
	const double *rotor = device->x + s->rotor;
	const double effort = motor_of(def, command, rotor[1]);
	const Gear gear = gear_of(def, rotor[0] - cal_context_q(context, s->at), rotor[1] - u);
	xdot[s->rotor] = rotor[1];
	xdot[s->rotor + 1] = (effort - gear.effort) / def->rotor_inertia;
	context_apply_effort(context, s->at, gear.effort);
	cal_context_add_supplied_power(context, effort * rotor[1]);
	cal_context_add_stored_energy(
		context, 0.5 * (def->rotor_inertia * rotor[1] * rotor[1] + def->gear_stiffness * gear.s * gear.s));
	cal_context_add_dissipated_power(context,
	                                 gear.effort * (rotor[1] - u) - def->gear_stiffness * gear.s * gear.s_rate);
	return 0;
}

/* ---- where the effort jumps or bends ------------------------------------------------------------ */

static bool has_value(const Servo *s, ServoValue value) {
	const CalServoDef *def = &s->def;
	switch (value) {
	case UPPER_SIDE:
	case LOWER_SIDE:
		return s->rotor >= 0 && def->backlash > 0;
	case UPPER_PUSH:
	case LOWER_PUSH:
		return s->rotor >= 0 && def->backlash > 0 && def->gear_damping > 0;
	case UPPER_LIMIT:
	case LOWER_LIMIT:
		return def->effort_limit > 0 && !(def->sample_period > 0);
	case INTEGRAL_HELD:
		return def->effort_limit > 0 && s->integral >= 0;
	case UPPER_MOTOR:
	case LOWER_MOTOR:
		return def->stall_effort > 0;
	default:
		return def->stall_effort > 0 && def->free_speed > 0;
	}
}

/* A value and how it continues: it changes at `rate` give or take `spread`, and the rate by at most `bend`. */
typedef struct Course {
	double value, rate, spread, bend;
} Course;

static Course less(Course c, double limit) {
	c.value = beyond(c.value, limit);
	return c;
}

/* What its values are made of; accelerations of the step ahead are zero where nobody asks for it. */
typedef struct Present {
	double joint, motor;      // sizes of the accelerations of the joint and of what the motor turns
	double speed;             // of the motor
	double e, e_rate;         // as control sees it
	double e_bend;            // size of its acceleration
	Course wanted;            // command without its limit
	Course command;           //
	double integral_rate;     //
	double depth[2], rate[2]; // of the play
} Present;

/* How far the rotor is beyond each side of the play, and the rate of that. */
static void set_play(const CalDevice *device, CalEvalContext *context, Present *p) {
	const Servo *s = device->data;
	const double *rotor = device->x + s->rotor, angle = rotor[0] - cal_context_q(context, s->at);
	p->depth[0] = angle - 0.5 * s->def.backlash;
	p->depth[1] = -angle - 0.5 * s->def.backlash;
	p->rate[0] = rotor[1] - cal_context_u(context, s->at);
	p->rate[1] = -p->rate[0];
}

/* Continuous control: wanted = kp e + ki int(e) + kd e' + J r''. The speed is known to change by its acceleration alone. */
static void set_control(const CalDevice *device, CalEvalContext *context, double span, Present *p) {
	Servo *s = device->data;
	const CalServoDef *def = &s->def;
	const double t = context->t, integral = s->integral >= 0 ? device->x[s->integral] : 0;
	const TableValue r = time_function_at(device, &s->reference, t);
	const double turning = def->rotor_feedback && s->rotor >= 0 ? p->motor : p->joint;
	double q, u, acceleration = fabs(r.acceleration), jerk = 0;
	TableValue commanded = r;
	context_probe(context, device, "reference", &commanded.value);
	if (span > 0)
		time_function_ahead(device, &s->reference, t, span, &acceleration, &jerk);
	measured(device, context, &q, &u);
	p->e = r.value - q;
	p->e_rate = r.rate - u;
	p->e_bend = acceleration + turning;
	const double command = command_at(def, commanded, q, u, integral, &p->integral_rate);
	p->wanted = (Course){
		.value = def->proportional * p->e + def->integral * integral + def->derivative * p->e_rate +
	             def->inertia * r.acceleration,
		.rate = def->proportional * p->e_rate + def->integral * p->integral_rate + def->derivative * r.acceleration,
		.spread = 2 * (def->derivative * turning + def->inertia * jerk),
		.bend = def->proportional * p->e_bend + def->integral * fabs(p->e_rate) + def->derivative * jerk};
	p->command = command == p->wanted.value ? p->wanted : (Course){.value = command};
}

static Present present_of(const CalDevice *device, CalEvalContext *context, double span) {
	const Servo *s = device->data;
	Present p = {.joint = fabs(cal_context_udot(context, s->at)), .speed = context_u(context, s->at)};
	p.motor = p.joint;
	if (s->rotor >= 0) {
		set_play(device, context, &p);
		p.speed = device->x[s->rotor + 1];
		const Gear gear = gear_of(&s->def, p.depth[0] + 0.5 * s->def.backlash, p.rate[0]);
		const double effort = motor_of(&s->def, present_command(device, context), p.speed);
		p.motor = (fabs(effort) + fabs(gear.effort)) / s->def.rotor_inertia;
	}
	if (s->def.sample_period > 0)
		p.command = (Course){.value = device->d[COMMAND]};
	else
		set_control(device, context, span, &p);
	return p;
}

/* Beyond what the motor can do at its speed, upwards and downwards. */
static Course motor_course(const CalServoDef *def, const Present *p, double side) {
	const double lost = def->free_speed > 0 ? side * p->speed / def->free_speed : 0;
	Course c = less(p->command, side * def->stall_effort * fmin(1, fmax(0, 1 - lost)));
	c.spread += def->free_speed > 0 ? 2 * def->stall_effort / def->free_speed * p->motor : 0;
	return c;
}

/* Where the limit of the motor bends with its speed, as long as it holds; NaN crosses nothing. */
static Course speed_course(const CalServoDef *def, const Present *p, double distance) {
	const bool holds = motor_course(def, p, 1).value > 0 || motor_course(def, p, -1).value < 0;
	return (Course){.value = holds ? distance : (double)NAN, .spread = 2 * p->motor};
}

/* The integral stands still above zero: the command is at its limit, and the error drives it on. */
static Course held_course(const CalServoDef *def, const Present *p) {
	const double side = p->wanted.value > 0 ? 1 : -1;
	if (fabs(p->wanted.value) <= def->effort_limit)
		return (Course){.value = -1};
	return (Course){.value = side * p->e, .rate = side * p->e_rate, .bend = p->e_bend};
}

static Course course_of(const CalServoDef *def, const Present *p, ServoValue value) {
	const int side = value == LOWER_SIDE || value == LOWER_PUSH;
	const double k = def->gear_stiffness, c = def->gear_damping;
	switch (value) {
	case UPPER_SIDE:
	case LOWER_SIDE:
		return (Course){.value = p->depth[side], .rate = p->rate[side], .bend = p->motor + p->joint};
	case UPPER_PUSH:
	case LOWER_PUSH:
		return (Course){.value = is_pushing(k, c, p->depth[side], p->rate[side])};
	case UPPER_LIMIT:
		return less(p->wanted, def->effort_limit);
	case LOWER_LIMIT:
		return less(p->wanted, -def->effort_limit);
	case INTEGRAL_HELD:
		return held_course(def, p);
	case UPPER_MOTOR:
	case LOWER_MOTOR:
		return motor_course(def, p, value == UPPER_MOTOR ? 1 : -1);
	case STANDSTILL:
		return speed_course(def, p, p->speed);
	default:
		return speed_course(def, p, fabs(p->speed) - def->free_speed);
	}
}

static int servo_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Servo *s = device->data;
	const Present p = present_of(device, context, 0);
	for (int i = 0; i < s->value_count; i++)
		value[i] = course_of(&s->def, &p, s->values[i]).value;
	return 0;
}

/* What is zero or NaN crosses nothing. */
static int servo_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Servo *s = device->data;
	const double k = s->def.gear_stiffness, c = s->def.gear_damping;
	const Present p = present_of(device, context, lookahead->horizon);
	for (int i = 0; i < s->value_count; i++) {
		const ServoValue value = s->values[i];
		const Course course = course_of(&s->def, &p, value);
		const int side = value == LOWER_PUSH;
		double clear = INFINITY;
		if (value == UPPER_PUSH || value == LOWER_PUSH)
			clear = keeps_pushing(k, c, p.depth[side], p.rate[side], p.motor + p.joint);
		else if (course.value < 0 || course.value > 0)
			clear = keeps_sign(course.value, course.rate - copysign(course.spread, course.value), course.bend);
		lookahead->event_free = fmin(lookahead->event_free, clear);
	}
	return 0;
}

static const char *servo_value_text(const CalDevice *device, int event) {
	static const char *const texts[SERVO_VALUES] = {[UPPER_SIDE] = "upper side of the backlash",
	                                                [LOWER_SIDE] = "lower side of the backlash",
	                                                [UPPER_PUSH] = "upper side of the backlash",
	                                                [LOWER_PUSH] = "lower side of the backlash",
	                                                [UPPER_LIMIT] = "effort limit",
	                                                [LOWER_LIMIT] = "effort limit",
	                                                [INTEGRAL_HELD] = "integral at the effort limit",
	                                                [UPPER_MOTOR] = "stall effort",
	                                                [LOWER_MOTOR] = "stall effort",
	                                                [STANDSTILL] = "standstill of the motor",
	                                                [FREE_SPEED] = "free speed"};
	return texts[((const Servo *)device->data)->values[event]];
}

/* The rotor starts with the joint. */
static int servo_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Servo *s = device->data;
	if (s->rotor >= 0) {
		x[s->rotor] = cal_context_q(context, s->at);
		x[s->rotor + 1] = cal_context_u(context, s->at);
	}
	return 0;
}

static int servo_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Servo *s = device->data;
	double integral_rate;
	(void)x;
	device->d[COMMAND] = command_of(device, context, device->d[INTEGRAL], &integral_rate);
	device->d[INTEGRAL] += integral_rate * s->def.sample_period;
	return 0;
}

static double servo_next_switch(const CalDevice *device, double t) {
	return time_function_next_switch(device, &((Servo *)device->data)->reference, t);
}

static int servo_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Servo *s = device->data;
	const TableValue r = reference_of(device, context);
	const double q = cal_context_q(context, s->at), u = cal_context_u(context, s->at);
	output[0] = r.value;
	output[1] = r.value - q;
	output[2] = motor_of(&s->def, present_command(device, context), s->rotor >= 0 ? device->x[s->rotor + 1] : u);
	output[3] = s->rotor >= 0 ? device->x[s->rotor] : q;
	return 0;
}

static void servo_destroy(void *data) { time_function_release(&((Servo *)data)->reference); }

static int servo_one_dof(const CalDevice *device, CalDofRef *dof_ref) {
	*dof_ref = ((const Servo *)device->data)->at;
	return 0;
}

static double *servo_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Servo *s = device->data;
	return device_parameter(&servo_type, &s->def, s->kind, index, about);
}

static const char *const names[] = {"reference", "error", "effort", "rotor"};
static const char *const units[DOF_KIND_KINDS][4] = {
	{"rad", "rad", "N m", "rad"}, {"m", "m", "N", "m"}, {"rad|m", "rad|m", "N m|N", "rad|m"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                                      \
	{                                                                                                                  \
		.type = "servo", .bind = servo_bind, .start = servo_start, .evaluate = servo_evaluate, .sample = servo_sample, \
		.values = servo_values, .lookahead = servo_outlook, .value_text = servo_value_text, .outputs = servo_outputs,  \
		.next_switch = servo_next_switch, .one_dof = servo_one_dof, .destroy = servo_destroy,                          \
		.parameter = servo_parameter, .output_count = 4, .output_names = names, .output_units = units[kind]            \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

static void check_gains(DeviceBuilder *d, const CalServoDef *def) {
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
	const DofKind kind = dof_kind(sim, def->joint, def->dof);
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	Servo data = {.def = *def, .kind = kind, .integral = -1, .rotor = -1};
	check_gains(&d, def);
	data.reference = time_function_take(&d, "reference", &def->reference);
	d.def.sample_period = def->sample_period;
	d.def.nd = def->sample_period > 0 ? DISCRETE : 0;
	if (def->integral > 0 && !(def->sample_period > 0))
		data.integral = d.def.nx++;
	if (def->gear_stiffness > 0) {
		data.rotor = d.def.nx;
		d.def.nx += 2;
	}
	for (int k = 0; k < SERVO_VALUES; k++)
		if (has_value(&data, (ServoValue)k))
			data.values[data.value_count++] = (ServoValue)k;
	d.def.event_count = data.value_count;
	const CalStatus status = device_add(&d, &data, sizeof data, device);
	if (status != CAL_OK)
		time_function_release(&data.reference);
	return status;
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalServoDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalServoDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"reference", FIELD_FUNCTION, AT(reference), DIM_ANGLE, .flags = FIELD_BY_DOF,
     .doc = "of the coordinate; shape `smooth`; default 0"},
	{"proportional", FIELD_NUMBER, AT(proportional), DIM_ANGULAR_STIFFNESS, .flags = FIELD_BY_DOF | FIELD_TUNED_FROM_0,
     .doc = "gain; default 0"},
	{"integral", FIELD_NUMBER, AT(integral), .flags = FIELD_TUNED_ABOVE_0,
     .doc = "gain, a plain number [N m/(rad s) or N/(m s)]; default 0"},
	{"derivative", FIELD_NUMBER, AT(derivative), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF | FIELD_TUNED_FROM_0,
     .doc = "gain; default 0"},
	{"inertia", FIELD_NUMBER, AT(inertia), DIM_INERTIA, .flags = FIELD_BY_DOF | FIELD_TUNED_FROM_0,
     .doc = "effort per acceleration of the reference; default 0"},
	{"effort_limit", FIELD_NUMBER, AT(effort_limit), DIM_TORQUE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "of the controller; default none"},
	{"stall_effort", FIELD_NUMBER, AT(stall_effort), DIM_TORQUE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "of the motor at rest; default no limit"},
	{"free_speed", FIELD_NUMBER, AT(free_speed), DIM_RATE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "at which the motor has no effort left; default none"},
	{"sample_period", FIELD_NUMBER, AT(sample_period), DIM_TIME, .doc = "of the controller; default continuous"},
	{"rotor_inertia", FIELD_NUMBER, AT(rotor_inertia), DIM_INERTIA, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "of the rotor of a flexible gear, as the joint feels it; that of a rigid one belongs to [dof](#dof)"},
	{"gear_stiffness", FIELD_NUMBER, AT(gear_stiffness), DIM_ANGULAR_STIFFNESS,
     .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0, .doc = "default rigid"},
	{"gear_damping", FIELD_NUMBER, AT(gear_damping), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "default 0"},
	{"backlash", FIELD_NUMBER, AT(backlash), DIM_ANGLE, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "free play from one side to the other; default 0"},
	{"rotor_feedback", FIELD_FLAG, AT(rotor_feedback),
     .doc = "the control sees the rotor instead of the joint; default false"},
};
#undef AT
static const CalServoDef start = {.reference.table.shape = CAL_TABLE_SMOOTH};
DEVICE_ADD(add_servo, CalServoDef, cal_sim_add_servo)

const DeviceType servo_type = {
	.table = {FIELDS("servo", fields),
              .doc = "A joint that follows a reference: PID control, a motor, and a gear that may be flexible. All "
                     "quantities on the joint's side of the gear."},
	DEVICE_DEF(CalServoDef),
	.add = add_servo,
	.ops = &ops[DOF_KIND_EITHER],
	.start = &start};
