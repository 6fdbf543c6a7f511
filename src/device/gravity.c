// SPDX-License-Identifier: Apache-2.0
/*
 * gravity.c — the gravity of a planet on all bodies: point mass, gravity gradient, oblateness, orbiting frame.
 *
 * With r the place from the planet's centre, k its pole and z = r.k:
 *   g(r) = -mu r/r^3 - 3/2 J2 mu R^2/r^5 ((1 - 5 z^2/r^2) r + 2 z k)
 * Everything that a link carries is one mass m with the centre c and the second moment S about it: force m g(c) at c, and
 * the moment of the gradient G = mu/r^3 (3 n n' - 1), n = r/|r|: sum m x times (G x) = axial part of S G. Modes of a
 * flexible body get g(c).(sum m phi), which is exact for a field that is uniform over it.
 *
 * In orbit the world's origin is at R, a state of the device with its velocity, R'' = g(R), and bodies at r = R + x feel
 * g(r) - g(R). For the point mass this is Encke's form, -mu/R^3 (x - F(q) r) with q = x.(x + 2 R)/R^2 and
 * F = 1 - (1 + q)^-3/2 without cancellation.
 */
#include <string.h>

#include "device/device.h"
#include "dynamics/flexible.h"
#include "dynamics/kinematics.h"
#include "sim/group.h"

enum { NAME_LENGTH = 96, ORBIT_STATES = 6 };

typedef struct Gravity {
	CalGravityDef def;
	CalVec3 pole; // of length one
	char group_name[NAME_LENGTH];
	int group; // -1: all
} Gravity;

static int gravity_bind(const CalDevice *device, const CalScene *scene) {
	Gravity *s = device->data;
	s->group = s->group_name[0] ? cal_scene_find_group(scene, s->group_name) : -1;
	return s->group_name[0] && s->group < 0 ? -1 : 0;
}

static int gravity_start(const CalDevice *device, CalScene *scene, double *x) {
	const Gravity *s = device->data;
	const double start[ORBIT_STATES] = {s->def.position.x, s->def.position.y, s->def.position.z,
	                                    s->def.velocity.x, s->def.velocity.y, s->def.velocity.z};
	(void)scene;
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

static CalVec3 field(const Gravity *s, CalVec3 r) {
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

/* Of a mass and its second moment S about its centre at r. */
static double potential(const Gravity *s, double m, CalVec3 r, sym3 S) {
	const double r2 = v_dot(r, r), length = sqrt(r2), z = v_dot(r, s->pole), w = s->def.mu / (r2 * length);
	const CalVec3 n = v_scale(1 / length, r);
	const double nSn = S.xx * n.x * n.x + S.yy * n.y * n.y + S.zz * n.z * n.z +
	                   2 * (S.xy * n.x * n.y + S.xz * n.x * n.z + S.yz * n.y * n.z);
	const double flat = s->def.j2 * s->def.radius * s->def.radius * (3 * z * z / r2 - 1) / (2 * r2);
	return -s->def.mu * m / length * (1 - flat) - 0.5 * w * (3 * nSn - (S.xx + S.yy + S.zz));
}

/* ---- on a link ----------------------------------------------------------------------------------- */

/* Second moment about the centre mc/m. */
static sym3 about_centre(const Composite *c) {
	const double k = 1 / c->m;
	return (sym3){c->S.xx - k * c->mc.x * c->mc.x, c->S.yy - k * c->mc.y * c->mc.y, c->S.zz - k * c->mc.z * c->mc.z,
	              c->S.xy - k * c->mc.x * c->mc.y, c->S.xz - k * c->mc.x * c->mc.z, c->S.yz - k * c->mc.y * c->mc.z};
}

/* Axial part of S G: 3 mu/r^3 n x (S n) with the sign of x times (G x). */
static CalVec3 gradient_moment(const Gravity *s, CalVec3 r, sym3 S) {
	const double length = v_norm(r), w = 3 * s->def.mu / (length * length * length);
	const CalVec3 n = v_scale(1 / length, r);
	const CalVec3 Sn = {S.xx * n.x + S.xy * n.y + S.xz * n.z, S.xy * n.x + S.yy * n.y + S.yz * n.z,
	                    S.xz * n.x + S.yz * n.y + S.zz * n.z};
	return v_scale(w, v_cross(Sn, n));
}

/* What a link carries, world axes, about its origin. */
static CalVec3 pull_link(const CalDevice *device, CalScene *scene, CalSite site, CalVec3 origin, Composite c) {
	const Gravity *s = device->data;
	const CalVec3 offset = v_scale(1 / c.m, vec_out(c.mc)), centre = v_add(origin, offset);
	const CalVec3 R = s->def.orbit ? (CalVec3){device->x[0], device->x[1], device->x[2]} : s->def.position;
	// the world's origin is at R; without an orbit the planet's centre at -R
	const CalVec3 r = v_add(R, centre), g = s->def.orbit ? field_beside(s, R, centre) : field(s, r);
	const sym3 S = about_centre(&c);
	const CalSpatial wrench = {gradient_moment(s, r, S), v_scale(c.m, g)};
	CalPose pose;
	cal_scene_node(scene, site, &pose, NULL);
	cal_scene_push(scene, site, CAL_FRAME_WORLD, cal_wrench_shift(wrench, centre, pose.r));
	if (!s->def.orbit)
		cal_scene_store(scene, potential(s, c.m, r, S));
	return g;
}

static void pull_flexible(const CalDevice *device, CalScene *scene, int group, const CalModel *model, CalWork *work,
                          int f) {
	const Flex *flex = &model->flexes[f];
	flexible_own_x1(model, f, &flex->own, 0, work, &work->links[flex->link]);
	const FlexWork *w = &work->flex[f];
	if (!(w->own.m > 0))
		return;
	const CalSite site = {group, model->bodies[flex->body].node};
	const CalVec3 g = pull_link(device, scene, site, vec_out(work->position[flex->link]), w->own);
	for (int k = 0; k < flex->m; k++)
		cal_scene_effort(scene, (CalFreedom){group, flex->u + k, -1}, dot(rows_mode(w->E, flex->n, k).l, vec_in(g)));
}

static void pull_group(const CalDevice *device, CalScene *scene, int group) {
	const CalModel *model = cal_scene_model(scene, group);
	CalWork *work = scene_work(scene, group);
	for (int i = 0; work && i < model->link_count; i++) {
		const Composite c = link_inertia(&model->links[i], &work->links[i].R);
		const CalSite site = {group, model->bodies[model->links[i].body].node};
		if (c.m > 0)
			pull_link(device, scene, site, vec_out(work->position[i]), c);
	}
	for (int f = 0; work && f < model->flex_count; f++)
		pull_flexible(device, scene, group, model, work, f);
}

static int gravity_evaluate(const CalDevice *device, CalScene *scene, double *xdot) {
	const Gravity *s = device->data;
	for (int i = 0; i < cal_scene_group_count(scene); i++)
		if (s->group < 0 || s->group == i)
			pull_group(device, scene, i);
	if (s->def.orbit) {
		const CalVec3 g = field(s, (CalVec3){device->x[0], device->x[1], device->x[2]});
		const double rates[ORBIT_STATES] = {device->x[3], device->x[4], device->x[5], g.x, g.y, g.z};
		memcpy(xdot, rates, sizeof rates);
	}
	return 0;
}

static int gravity_outputs(const CalDevice *device, CalScene *scene, double *output) {
	const Gravity *s = device->data;
	(void)scene;
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
	DeviceDraft d = device_draft(sim, &ops, def->name, def->place, error);
	Gravity data = {.def = *def, .pole = v_unit(def->pole, (CalVec3){0, 0, 1})};
	device_check(&d, isfinite(def->mu) && def->mu > 0, "mu is %g; give a gravitational parameter above zero", def->mu);
	device_check(&d, isfinite(def->j2) && (def->j2 == 0 || (isfinite(def->radius) && def->radius > 0)),
	             "oblateness needs the planet's radius, above zero");
	device_check(&d, isfinite(v_norm(def->position)) && isfinite(v_norm(def->velocity)),
	             "position or velocity is not finite");
	device_check(&d, v_norm(def->position) > 0, "the world's origin is at the centre of the planet; give its position");
	device_check(&d, !def->group || strlen(def->group) < NAME_LENGTH, "the name of the group is too long");
	if (d.status == CAL_OK && def->group)
		memcpy(data.group_name, def->group, strlen(def->group) + 1);
	for (int i = 0; d.status == CAL_OK && i < sim->group_count; i++)
		d.def.wrench_count += sim->groups[i].model->link_count + sim->groups[i].model->flex_count;
	d.def.nx = def->orbit ? ORBIT_STATES : 0;
	d.def.accounts = !def->orbit; // the frame itself is accelerated
	return device_add(&d, &data, sizeof data, device);
}
