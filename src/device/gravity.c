// SPDX-License-Identifier: Apache-2.0
/*
 * gravity.c — the gravity of a planet on all bodies: point mass, gravity gradient, oblateness, orbiting frame.
 *
 * With r the place from the planet's center, k its pole and z = r.k:
 *   g(r) = -mu r/r^3 - 3/2 J2 mu R^2/r^5 ((1 - 5 z^2/r^2) r + 2 z k)
 * Everything that a link carries is one mass m with the center c and the second moment S about it: force m g(c) at c, and
 * what the point mass makes of S, the potential U2 = -mu/(2 r^3) (3 n'Sn - tr S), n = r/|r|: the moment 3 mu/r^3 Sn x n,
 * and the force 3 mu/r^4 (Sn - 5/2 n'Sn n + 1/2 tr S n), without which neither energy nor angular momentum about the planet
 * would be kept. Modes of a flexible body get the force at c over m times sum m phi, which is exact for a field that is
 * uniform over it; what U2 does to S by deformation is neglected, so that its work is supplied and not stored.
 *
 * In orbit the world's origin is at R, which falls freely, R'' = g(R), and bodies at r = R + x feel g(r) - g(R), for the
 * point mass in Encke's form without cancellation (orbit_segment.c).
 *
 * R depends on the time alone, and the device computes it by itself, to round-off with any method and any step: it is
 * Kepler's orbit, or with oblateness a sequence of segments about Kepler orbits, each solved at a sample time of the device
 * and kept in its discrete states. As states under the integrator's error control R was 2 to 400 times less accurate
 * than a body in the same orbit: states are held to rtol |R|, a body's position to rtol of its way in a step.
 */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/device_type.h"
#include "device/gravity.h"
#include "device/orbit_segment.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/kinematics.h"
#include "sim/sim_internal.h"

enum { NAME_LENGTH = 96, ORBIT_VALUES = 6, DISCRETE = sizeof(OrbitSegment) / sizeof(double) };
typedef struct Gravity {
	CalGravityDef def;
	CalVec3 pole; // of length one
	char group_name[NAME_LENGTH];
	int group; // -1: all
} Gravity;

static int gravity_bind(const CalDevice *device, const CalEvalContext *context) {
	Gravity *s = device->data;
	s->group = s->group_name[0] ? cal_context_find_group(context, s->group_name) : -1;
	return s->group_name[0] && s->group < 0 ? -1 : 0;
}

/* ---- the field ----------------------------------------------------------------------------------- */

static CalVec3 oblate(const Gravity *s, CalVec3 r) {
	const double r2 = v_dot(r, r), z = v_dot(r, s->pole);
	const double k = -1.5 * s->def.j2 * s->def.mu * s->def.radius * s->def.radius / (r2 * r2 * sqrt(r2));
	return v_scale(k, v_add(v_scale(1 - 5 * z * z / r2, r), v_scale(2 * z, s->pole)));
}

static CalVec3 field_at(const Gravity *s, CalVec3 r) {
	const double length = v_norm(r);
	const CalVec3 g = v_scale(-s->def.mu / (length * length * length), r);
	return s->def.j2 != 0 ? v_add(g, oblate(s, r)) : g;
}

/* g(R + x) - g(R) */
static CalVec3 field_beside(const Gravity *s, CalVec3 R, CalVec3 x) {
	const CalVec3 g = point_mass_beside(s->def.mu, R, x);
	return s->def.j2 != 0 ? v_add(g, v_sub(oblate(s, v_add(R, x)), oblate(s, R))) : g;
}

/* ---- the orbit ----------------------------------------------------------------------------------- */

/* Within the planet segments need not be exact. */
static double segment_length(const Gravity *s) {
	return orbit_segment_length(s->def.mu, (OrbitState){s->def.position, s->def.velocity}, 0.1 * s->def.radius);
}

static CalVec3 oblateness(const void *user, CalVec3 r) { return oblate(user, r); }

/* Where the world's origin is; without an orbit at rest. Nonzero after saying that it is nowhere. */
static int origin_now(const CalDevice *device, CalEvalContext *context, OrbitState *origin) {
	const Gravity *s = device->data;
	OrbitSegment segment;
	*origin = (OrbitState){.r = s->def.position};
	if (!s->def.orbit)
		return 0;
	memcpy(&segment, device->d, sizeof segment);
	if (orbit_segment_state(s->def.mu, &segment, cal_context_time(context), origin))
		return 0;
	cal_context_explain_failure(context, "the orbit of the world's origin leads through the center of the planet");
	return 1;
}

/* The segment that begins now. */
static int begin_segment(const CalDevice *device, CalEvalContext *context, OrbitState now) {
	const Gravity *s = device->data;
	OrbitSegment segment = {.epoch = cal_context_time(context), .start = now};
	if (s->def.j2 != 0) {
		segment.length = segment_length(s);
		if (!orbit_segment_solve(s->def.mu, oblateness, s, &segment)) {
			cal_context_explain_failure(context,
			                            "the orbit of the world's origin leads through the center of the planet");
			return 1;
		}
	}
	memcpy(device->d, &segment, sizeof segment);
	return 0;
}

static int gravity_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Gravity *s = device->data;
	(void)x;
	return s->def.orbit ? begin_segment(device, context, (OrbitState){s->def.position, s->def.velocity}) : 0;
}

static int gravity_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	OrbitState origin;
	(void)x;
	return origin_now(device, context, &origin) != 0 ? 1 : begin_segment(device, context, origin);
}

/* ---- energy and second moments ------------------------------------------------------------------- */

/* Of a mass at r. */
static double potential(const Gravity *s, double m, CalVec3 r) {
	const double r2 = v_dot(r, r), z = v_dot(r, s->pole);
	const double flat = s->def.j2 * s->def.radius * s->def.radius * (3 * z * z / r2 - 1) / (2 * r2);
	return -s->def.mu * m / sqrt(r2) * (1 - flat);
}

/* What the second moment S about the center at r adds: wrench at the center and potential U2. */
typedef struct Second {
	CalSpatial wrench;
	double potential;
} Second;

static Second second_of(const Gravity *s, CalVec3 r, sym3 S) {
	const double length = v_norm(r), w = s->def.mu / (length * length * length), trace = S.xx + S.yy + S.zz;
	const CalVec3 n = v_scale(1 / length, r);
	const CalVec3 Sn = {S.xx * n.x + S.xy * n.y + S.xz * n.z, S.xy * n.x + S.yy * n.y + S.yz * n.z,
	                    S.xz * n.x + S.yz * n.y + S.zz * n.z};
	const double nSn = v_dot(n, Sn);
	const CalVec3 force = v_add(Sn, v_scale(0.5 * trace - 2.5 * nSn, n));
	return (Second){.wrench = {v_scale(3 * w, v_cross(Sn, n)), v_scale(3 * w / length, force)},
	                .potential = -0.5 * w * (3 * nSn - trace)};
}

/* ---- on a link ----------------------------------------------------------------------------------- */

/* Second moment about the center mc/m. */
static sym3 about_center(const Composite *c) {
	const double k = 1 / c->m;
	return (sym3){c->Sigma.xx - k * c->mc.x * c->mc.x, c->Sigma.yy - k * c->mc.y * c->mc.y,
	              c->Sigma.zz - k * c->mc.z * c->mc.z, c->Sigma.xy - k * c->mc.x * c->mc.y,
	              c->Sigma.xz - k * c->mc.x * c->mc.z, c->Sigma.yz - k * c->mc.y * c->mc.z};
}

/* An evaluation of the field for the bodies of a group. */
typedef struct Evaluation {
	const Gravity *gravity;
	CalEvalContext *context;
	CalVec3 R; // of the world's origin from the center of the planet
	int group;
} Evaluation;

/* What a body carries as one mass, world axes, about `origin`. */
typedef struct Carried {
	int body;
	CalVec3 origin;
	Composite inertia;
	bool rigid;
} Carried;

static CalVec3 center_of(const Carried *c) {
	return v_add(c->origin, v_scale(1 / c->inertia.m, vec_out(c->inertia.mc)));
}

/* What link i carries. */
static Carried carried_by_link(const CalModel *model, const CalWork *work, int i) {
	return (Carried){model->links[i].body, vec_out(work->position[i]),
	                 link_inertia(&model->links[i], &work->links[i].R), true};
}

/* Of a flexible body, as it is deformed. */
static Carried carried_by_flex(const CalModel *model, CalWork *work, int f) {
	const Flex *flex = &model->flexes[f];
	flexible_own_x1(model, f, &flex->own, 0, work, &work->links[flex->link]);
	return (Carried){flex->body, vec_out(work->position[flex->link]), work->flex[f].own, false};
}

/* Accelerations at the center: all, and what of it is due to the second moment. */
typedef struct Pull {
	CalVec3 g, second;
} Pull;

static double power(CalSpatial f, CalSpatial v) { return v_dot(f.angular, v.angular) + v_dot(f.linear, v.linear); }

/* A force at `lever` from a point, there. */
static CalSpatial at_lever(CalSpatial wrench, CalVec3 lever) {
	return (CalSpatial){v_add(wrench.angular, v_cross(lever, wrench.linear)), wrench.linear};
}

static int refuse_center(const Evaluation *e, int body) {
	char why[200];
	snprintf(why, sizeof why, "body \"%.100s\" is at the center of the planet, where its gravity is infinite",
	         cal_context_model(e->context, e->group)->bodies[body].name);
	cal_context_explain_failure(e->context, why);
	return 1;
}

/* In the accelerated frame of an orbit there is no potential: all work is supplied. */
static void account(const Evaluation *e, const Carried *c, CalVec3 r, const Second *second, double all,
                    double of_second) {
	const Gravity *s = e->gravity;
	if (s->def.orbit) {
		cal_context_add_supplied_power(e->context, all);
		return;
	}
	cal_context_add_stored_energy(e->context, potential(s, c->inertia.m, r) + (c->rigid ? second->potential : 0));
	if (!c->rigid)
		cal_context_add_supplied_power(e->context, of_second);
}

/* Nonzero after saying that the body is at the center. Levers are taken from differences: places may be large. */
static int pull_carried(const Evaluation *e, const Carried *c, Pull *pull) {
	const Gravity *s = e->gravity;
	const CalNodeRef node = {e->group, cal_context_model(e->context, e->group)->bodies[c->body].node};
	const double m = c->inertia.m;
	const CalVec3 offset = v_scale(1 / m, vec_out(c->inertia.mc)), center = v_add(c->origin, offset);
	const CalVec3 r = v_add(e->R, center), g = s->def.orbit ? field_beside(s, e->R, center) : field_at(s, r);
	const Second second = second_of(s, r, about_center(&c->inertia));
	if (isfinite(v_norm(r)) && !isfinite(v_norm(g) + v_norm(second.wrench.linear)))
		return refuse_center(e, c->body);
	CalSpatial v;
	CalPose pose;
	cal_context_node_motion(e->context, node, &pose, &v);
	const CalVec3 lever = v_add(offset, v_sub(c->origin, pose.r));
	const CalSpatial of_second = at_lever(second.wrench, lever),
					 of_field = at_lever((CalSpatial){.linear = v_scale(m, g)}, lever);
	const CalSpatial all = {v_add(of_field.angular, of_second.angular), v_add(of_field.linear, of_second.linear)};
	cal_context_apply_wrench(e->context, node, CAL_FRAME_WORLD, all);
	account(e, c, r, &second, power(all, v), power(of_second, v));
	const CalVec3 extra = v_scale(1 / m, second.wrench.linear);
	*pull = (Pull){v_add(g, extra), extra};
	return 0;
}

static int pull_flexible(const Evaluation *e, const CalModel *model, CalWork *work, int f) {
	const Flex *flex = &model->flexes[f];
	const FlexWork *w = &work->flex[f];
	const Carried c = carried_by_flex(model, work, f);
	Pull pull;
	if (!(c.inertia.m > 0))
		return 0;
	if (pull_carried(e, &c, &pull) != 0)
		return 1;
	const CalVec3 supplied = e->gravity->def.orbit ? pull.g : pull.second;
	for (int k = 0; k < flex->m; k++) {
		const CalDofRef mode = {e->group, flex->u + k, -1};
		const vec3 moved = rows_mode(w->E, flex->n, k).l;
		cal_context_apply_effort(e->context, mode, dot(moved, vec_in(pull.g)));
		cal_context_add_supplied_power(e->context, dot(moved, vec_in(supplied)) * cal_context_u(e->context, mode));
	}
	return 0;
}

static int pull_group(const Evaluation *e) {
	const CalModel *model = cal_context_model(e->context, e->group);
	CalWork *work = context_work(e->context, e->group);
	int failed = 0;
	for (int i = 0; work && i < model->link_count && !failed; i++) {
		const Carried c = carried_by_link(model, work, i);
		Pull ignored;
		if (c.inertia.m > 0)
			failed = pull_carried(e, &c, &ignored);
	}
	for (int f = 0; work && f < model->flex_count && !failed; f++)
		failed = pull_flexible(e, model, work, f);
	return failed;
}

static int gravity_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Gravity *s = device->data;
	OrbitState origin;
	(void)xdot;
	if (origin_now(device, context, &origin) != 0)
		return 1;
	for (int i = 0; i < cal_context_group_count(context); i++)
		if ((s->group < 0 || s->group == i) && pull_group(&(Evaluation){s, context, origin.r, i}) != 0)
			return 1;
	return 0;
}

/* ---- a fall into the center ---------------------------------------------------------------------- */

/* The body that is nearest to the center of the planet. */
typedef struct Nearest {
	double distance;
	const char *body;
} Nearest;

static void look_at(const Evaluation *e, const Carried *c, Nearest *nearest) {
	const double r = c->inertia.m > 0 ? v_norm(v_add(e->R, center_of(c))) : INFINITY;
	if (r < nearest->distance)
		*nearest = (Nearest){r, cal_context_model(e->context, e->group)->bodies[c->body].name};
}

static void look_at_group(const Evaluation *e, Nearest *nearest) {
	const CalModel *model = cal_context_model(e->context, e->group);
	CalWork *work = context_work(e->context, e->group);
	for (int i = 0; work && i < model->link_count; i++) {
		const Carried c = carried_by_link(model, work, i);
		look_at(e, &c, nearest);
	}
	for (int f = 0; work && f < model->flex_count; f++) {
		const Carried c = carried_by_flex(model, work, f);
		look_at(e, &c, nearest);
	}
}

/* The field at the distance r changes within the time sqrt(r^3/mu). Where that is near the smallest step, it is the reason. */
static int gravity_explain_small_step(const CalDevice *device, CalEvalContext *context, double step) {
	const Gravity *s = device->data;
	Nearest nearest = {.distance = INFINITY};
	OrbitState origin;
	char why[300];
	if (origin_now(device, context, &origin) != 0)
		return 1;
	for (int i = 0; i < cal_context_group_count(context); i++)
		if (s->group < 0 || s->group == i)
			look_at_group(&(Evaluation){s, context, origin.r, i}, &nearest);
	const double r = nearest.distance;
	if (!(sqrt(r * r * r / s->def.mu) < 1e6 * step))
		return 0;
	snprintf(
		why, sizeof why,
		"body \"%.100s\" falls into the center of the planet, where its gravity is infinite: at %.3g m from it no step is "
		"small enough; end the run before, by an event of its distance",
		nearest.body, r);
	cal_context_explain_failure(context, why);
	return 1;
}

static int gravity_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Gravity *s = device->data;
	OrbitState origin;
	memset(output, 0, ORBIT_VALUES * sizeof *output);
	if (!s->def.orbit)
		return 0;
	if (origin_now(device, context, &origin) != 0)
		return 1;
	const double values[ORBIT_VALUES] = {origin.r.x, origin.r.y, origin.r.z, origin.v.x, origin.v.y, origin.v.z};
	memcpy(output, values, sizeof values);
	return 0;
}

static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz"};
static const char *const units[] = {"m", "m", "m", "m/s", "m/s", "m/s"};
static const CalDeviceOps ops = {.type = "gravity",
                                 .bind = gravity_bind,
                                 .start = gravity_start,
                                 .evaluate = gravity_evaluate,
                                 .sample = gravity_sample,
                                 .explain_small_step = gravity_explain_small_step,
                                 .outputs = gravity_outputs,
                                 .output_count = ORBIT_VALUES,
                                 .output_names = names,
                                 .output_units = units};

/* Of one planet. */
static int add_field(const CalDevice *device, CalEvalContext *context, int group, CalVec3 place, CalVec3 *g) {
	const Gravity *s = device->data;
	OrbitState origin;
	if (s->group >= 0 && s->group != group)
		return 0;
	if (origin_now(device, context, &origin) != 0)
		return 1;
	*g = v_add(*g, s->def.orbit ? field_beside(s, origin.r, place) : field_at(s, v_add(origin.r, place)));
	return 0;
}

int gravity_field(CalEvalContext *context, int group, CalVec3 place, CalVec3 *g) {
	const CalSim *sim = context->sim;
	*g = (CalVec3){0, 0, 0};
	for (int i = 0; i < sim->device_count; i++) {
		const CalDevice view = context_device(context, &sim->devices[i]);
		if (sim->devices[i].active && sim->devices[i].def.ops == &ops &&
		    add_field(&view, context, group, place, g) != 0)
			return 1;
	}
	return 0;
}

CalStatus cal_sim_add_gravity(CalSim *sim, const CalGravityDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	const CalVec3 z = {0, 0, 1};
	Gravity data = {.def = *def, .pole = v_unit(def->pole, z)};
	device_check(&d, isfinite(def->mu) && def->mu > 0, "mu is %g; give a gravitational parameter above zero", def->mu);
	device_check(&d, isfinite(def->j2) && (def->j2 == 0 || (isfinite(def->radius) && def->radius > 0)),
	             "oblateness needs the planet's radius, above zero");
	device_check(&d, isfinite(v_norm(def->position)) && isfinite(v_norm(def->velocity)),
	             "position or velocity is not finite");
	device_check(&d, !def->orbit || v_norm(def->position) > 0,
	             "an orbit needs the position of the world's origin, which is not the center of the planet");
	device_check(&d, !def->group || strlen(def->group) < NAME_LENGTH, "the name of the group is too long");
	if (d.status == CAL_OK && def->group)
		memcpy(data.group_name, def->group, strlen(def->group) + 1);
	for (int i = 0; d.status == CAL_OK && i < sim->group_count; i++)
		d.def.wrench_count += sim->groups[i].model->link_count + sim->groups[i].model->flex_count;
	d.def.nd = def->orbit ? DISCRETE : 0;
	if (d.status == CAL_OK && def->orbit && def->j2 != 0)
		d.def.sample_period = segment_length(&data);
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalGravityDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalGravityDef),
	{"group", FIELD_GROUP, AT(group), .doc = "on whose bodies it acts; default all"},
	{"mu", FIELD_NUMBER, AT(mu), .flags = FIELD_REQUIRED, .doc = "gravitational parameter, a plain number [m^3/s^2]"},
	{"radius", FIELD_NUMBER, AT(radius), DIM_LENGTH, .doc = "of the planet at its equator; needed with `j2`"},
	{"j2", FIELD_NUMBER, AT(j2), .doc = "oblateness; default 0"},
	{"pole", FIELD_AXIS, AT(pole), .doc = "of the planet in the world; default `z`"},
	{"orbit", FIELD_FLAG, AT(orbit), .doc = "the world's origin is in orbit; default false"},
	{"position", FIELD_VECTOR, AT(position), DIM_LENGTH,
     .doc = "of the world's origin from the center of the planet; default 0, the center; with `orbit` required"},
	{"velocity", FIELD_VECTOR, AT(velocity), DIM_SPEED, .doc = "of the world's origin; with `orbit` only"},
};
#undef AT
DEVICE_ADD(add_gravity, CalGravityDef, cal_sim_add_gravity)

const DeviceType gravity_type = {
	.table = {FIELDS("gravity", fields),
              .doc = "The gravity of a planet on all bodies of a group, or of all groups. With `orbit` the world is a "
                     "frame without rotation whose origin falls freely around the planet."},
	DEVICE_DEF(CalGravityDef),
	.add = add_gravity,
	.ops = &ops};
