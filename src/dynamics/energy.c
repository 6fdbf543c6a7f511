// SPDX-License-Identifier: Apache-2.0
/*
 * energy.c — energies and momenta as sums over the links, at the links' own origins.
 *
 * With second moments S about the origin, I = tr S 1 - S:
 *   T = 1/2 (m v.v + 2 v.(w x mc) + w.I w),  p = m v + w x mc,  L_O = I w + mc x v
 * Bodies that are welded to the ground have no link; they count in mass, centre and gravity energy.
 */
#include <calder/dynamics.h>
#include "dynamics/forces.h"
#include "dynamics/kinematics.h"

static int arguments_ok(const CalModel *model, const CalState *state, const CalWork *work, const void *out) {
	return model && state && work && work->model == model && out;
}

/* Mass and first moment about the world's origin of the bodies fixed to the ground. */
static double grounded_mass(const CalModel *model, vec3 *moment) {
	double mass = 0;
	*moment = vec_zero();
	for (int i = 0; i < model->body_count; ++i) {
		const Body *body = &model->bodies[i];
		if (body->link >= 0)
			continue;
		const dvec3 com = dadd(body->in_link.r, dmat_mul_vec(body->in_link.R, body->com));
		mass += body->mass;
		*moment = add(*moment, vec_from(dscale(body->mass, com)));
	}
	return mass;
}

CalStatus cal_energy(const CalModel *model, const CalState *state, CalWork *work, CalEnergy *energy) {
	if (!arguments_ok(model, state, work, energy))
		return CAL_ERR_ARGUMENT;
	kinematics_outward(model, state->q, state->u, work);
	vec3 moment;
	grounded_mass(model, &moment);
	double twice = 0;
	for (int i = 0; i < model->link_count; ++i) {
		const LinkWork *l = &work->links[i];
		const Composite c = link_inertia(&model->links[i], &l->R);
		const vec3 v = work->velocity[i];
		const vec3 Iw = sym_mul_vec(inertia_from_second_moment(c.S), l->w);
		twice += c.m * dot(v, v) + 2.0 * dot(v, cross(l->w, c.mc)) + dot(l->w, Iw);
		moment = add(moment, madd(c.mc, c.m, work->position[i]));
	}
	for (int i = 0; i < model->nu; ++i)
		twice += model->rotor[i] * state->u[i] * state->u[i];
	energy->kinetic = 0.5 * twice;
	energy->gravity = -dot(vec_from(model->gravity), moment);
	energy->elastic = forces_elastic_energy(model, state->q);
	energy->total = energy->kinetic + energy->gravity + energy->elastic;
	return CAL_OK;
}

CalStatus cal_momentum(const CalModel *model, const CalState *state, CalWork *work, CalMomentum *momentum) {
	if (!arguments_ok(model, state, work, momentum))
		return CAL_ERR_ARGUMENT;
	kinematics_outward(model, state->q, state->u, work);
	vec3 moment, linear = vec_zero(), angular = vec_zero();
	double mass = grounded_mass(model, &moment);
	for (int i = 0; i < model->link_count; ++i) {
		const LinkWork *l = &work->links[i];
		const Composite c = link_inertia(&model->links[i], &l->R);
		const vec3 v = work->velocity[i], x = work->position[i];
		const vec3 p = madd(cross(l->w, c.mc), c.m, v);
		const vec3 L = add(sym_mul_vec(inertia_from_second_moment(c.S), l->w), cross(c.mc, v));
		mass += c.m;
		moment = add(moment, madd(c.mc, c.m, x));
		linear = add(linear, p);
		angular = add(angular, add(L, cross(x, p)));
	}
	const vec3 com = mass > 0 ? scale(1.0 / mass, moment) : vec_zero();
	*momentum =
		(CalMomentum){mass, vec_out(com), vec_out(linear), vec_out(angular), vec_out(sub(angular, cross(com, linear)))};
	return CAL_OK;
}
