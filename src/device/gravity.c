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
 * In orbit the world's origin is at R, a state of the device with its velocity, R'' = g(R), and bodies at r = R + x feel
 * g(r) - g(R). For the point mass this is Encke's form, -mu/R^3 (x - F(q) r) with q = x.(x + 2 R)/R^2 and
 * F = 1 - (1 + q)^-3/2 without cancellation.
 */
#include <string.h>

#include "device/device.h"
#include "device/device_type.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/kinematics.h"
#include "sim/sim_internal.h"

enum { NAME_LENGTH = 96, ORBIT_STATES = 6 };

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

static int gravity_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Gravity *s = device->data;
	const double start[ORBIT_STATES] = {s->def.position.x, s->def.position.y, s->def.position.z,
	                                    s->def.velocity.x, s->def.velocity.y, s->def.velocity.z};
	(void)context;
	if (s->def.orbit)
		memcpy(x, start, sizeof start);
	return 0;
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
	const CalVec3 r = v_add(R, x);
	const double R2 = v_dot(R, R), q = v_dot(x, v_add(x, v_scale(2, R))) / R2, p = (1 + q) * sqrt(1 + q);
	const double F = q * (3 + q * (3 + q)) / (p * (1 + p));
	const CalVec3 g = v_scale(-s->def.mu / (R2 * sqrt(R2)), v_sub(x, v_scale(F, r)));
	return s->def.j2 != 0 ? v_add(g, v_sub(oblate(s, r), oblate(s, R))) : g;
}

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

/* Accelerations at the center: all, and what of it is due to the second moment. */
typedef struct Pull {
	CalVec3 g, second;
} Pull;

static double power(CalSpatial f, CalSpatial v) { return v_dot(f.angular, v.angular) + v_dot(f.linear, v.linear); }

/* What a link carries, world axes, about its origin. */
static Pull pull_link(const CalDevice *device, CalEvalContext *context, CalNodeRef node_ref, CalVec3 origin,
                      Composite c, bool rigid) {
	const Gravity *s = device->data;
	const CalVec3 offset = v_scale(1 / c.m, vec_out(c.mc)), center = v_add(origin, offset);
	const CalVec3 R = s->def.orbit ? (CalVec3){device->x[0], device->x[1], device->x[2]} : s->def.position;
	// the world's origin is at R; without an orbit the planet's center at -R
	const CalVec3 r = v_add(R, center), g = s->def.orbit ? field_beside(s, R, center) : field_at(s, r);
	const Second second = second_of(s, r, about_center(&c));
	CalSpatial wrench = second.wrench, v;
	CalPose pose;
	wrench.linear = v_add(wrench.linear, v_scale(c.m, g));
	cal_context_node_motion(context, node_ref, &pose, &v);
	const CalSpatial pull = cal_wrench_shift(wrench, center, pose.r);
	cal_context_apply_wrench(context, node_ref, CAL_FRAME_WORLD, pull);
	if (s->def.orbit) // the frame is accelerated: there is no potential
		cal_context_add_supplied_power(context, power(pull, v));
	else
		cal_context_add_stored_energy(context, potential(s, c.m, r) + (rigid ? second.potential : 0));
	if (!s->def.orbit && !rigid)
		cal_context_add_supplied_power(context, power(cal_wrench_shift(second.wrench, center, pose.r), v));
	const CalVec3 extra = v_scale(1 / c.m, second.wrench.linear);
	return (Pull){v_add(g, extra), extra};
}

static void pull_flexible(const CalDevice *device, CalEvalContext *context, int group, const CalModel *model,
                          CalWork *work, int f) {
	const Flex *flex = &model->flexes[f];
	flexible_own_x1(model, f, &flex->own, 0, work, &work->links[flex->link]);
	const FlexWork *w = &work->flex[f];
	if (!(w->own.m > 0))
		return;
	const CalNodeRef node_ref = {group, model->bodies[flex->body].node};
	const Pull pull = pull_link(device, context, node_ref, vec_out(work->position[flex->link]), w->own, false);
	const CalVec3 supplied = ((const Gravity *)device->data)->def.orbit ? pull.g : pull.second;
	for (int k = 0; k < flex->m; k++) {
		const CalDofRef mode = {group, flex->u + k, -1};
		const vec3 moved = rows_mode(w->E, flex->n, k).l;
		cal_context_apply_effort(context, mode, dot(moved, vec_in(pull.g)));
		cal_context_add_supplied_power(context, dot(moved, vec_in(supplied)) * cal_context_u(context, mode));
	}
}

static void pull_group(const CalDevice *device, CalEvalContext *context, int group) {
	const CalModel *model = cal_context_model(context, group);
	CalWork *work = context_work(context, group);
	for (int i = 0; work && i < model->link_count; i++) {
		const Composite c = link_inertia(&model->links[i], &work->links[i].R);
		const CalNodeRef node_ref = {group, model->bodies[model->links[i].body].node};
		if (c.m > 0)
			pull_link(device, context, node_ref, vec_out(work->position[i]), c, true);
	}
	for (int f = 0; work && f < model->flex_count; f++)
		pull_flexible(device, context, group, model, work, f);
}

static int gravity_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Gravity *s = device->data;
	for (int i = 0; i < cal_context_group_count(context); i++)
		if (s->group < 0 || s->group == i)
			pull_group(device, context, i);
	if (s->def.orbit) {
		const CalVec3 g = field_at(s, (CalVec3){device->x[0], device->x[1], device->x[2]});
		const double rates[ORBIT_STATES] = {device->x[3], device->x[4], device->x[5], g.x, g.y, g.z};
		memcpy(xdot, rates, sizeof rates);
	}
	return 0;
}

static int gravity_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Gravity *s = device->data;
	(void)context;
	memset(output, 0, ORBIT_STATES * sizeof *output);
	if (s->def.orbit)
		memcpy(output, device->x, ORBIT_STATES * sizeof *output);
	return 0;
}

static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz"};
static const char *const units[] = {"m", "m", "m", "m/s", "m/s", "m/s"};
static const CalDeviceOps ops = {.type = "gravity",
                                 .bind = gravity_bind,
                                 .start = gravity_start,
                                 .evaluate = gravity_evaluate,
                                 .outputs = gravity_outputs,
                                 .output_count = ORBIT_STATES,
                                 .output_names = names,
                                 .output_units = units};

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
	device_check(&d, v_norm(def->position) > 0, "the world's origin is at the center of the planet; give its position");
	device_check(&d, !def->group || strlen(def->group) < NAME_LENGTH, "the name of the group is too long");
	if (d.status == CAL_OK && def->group)
		memcpy(data.group_name, def->group, strlen(def->group) + 1);
	for (int i = 0; d.status == CAL_OK && i < sim->group_count; i++)
		d.def.wrench_count += sim->groups[i].model->link_count + sim->groups[i].model->flex_count;
	d.def.nx = def->orbit ? ORBIT_STATES : 0;
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
	{"position", FIELD_VECTOR, AT(position), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "of the world's origin from the center of the planet"},
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
