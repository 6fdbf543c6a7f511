// SPDX-License-Identifier: Apache-2.0
/*
 * energy.c — energies and momenta as sums over the links, at the links' own origins.
 *
 * With second moments Sigma about the origin, I = tr Sigma 1 - Sigma:
 *   T = 1/2 (m v.v + 2 v.(w x mc) + w.I w),  p = m v + w x mc,  L_O = I w + mc x v
 * Bodies that are welded to the ground have no link; they count in mass, center and gravity energy.
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/energy.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

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

/* Poses and velocities; of the masses of flexible bodies, inertia and E in work->flex, at the origin of B. */
static void prepare_kinematics(const CalModel *model, const CalState *state, CalWork *work) {
	kinematics_reach(model, state->q, state->u, work);
	for (int f = 0; f < model->flex_count; ++f)
		flexible_own_x1(model, f, &model->flexes[f].own, 0, work, &work->links[model->flexes[f].link]);
	work->stage &= ~STAGE_SWEPT; // work->flex has inertias alone
}

/* V'M_rrV + 2 V'E eta_dot + eta_dot'M_ee eta_dot of the masses; their first moment is added to *moment. */
static double twice_modal_energy(const CalModel *model, const CalWork *work, int f, vec3 *moment) {
	const Flex *flex = &model->flexes[f];
	const FlexWork *w = &work->flex[f];
	const LinkWork *l = &work->links[flex->link];
	const spatial V = {l->w, work->velocity[flex->link]};
	const vec3 Iw = sym_mul_vec(inertia_from_second_moment(w->own.Sigma), V.a);
	double twice = w->own.m * dot(V.l, V.l) + 2.0 * dot(V.l, cross(V.a, w->own.mc)) + dot(V.a, Iw);
	for (int k = 0; k < flex->m; ++k) {
		twice += 2.0 * w->eta_dot[k] * spatial_dot(rows_mode(w->E, flex->n, k), V);
		for (int j = 0; j < flex->m; ++j)
			twice += w->eta_dot[k] * flexible_mass(w, flex->n, k, j) * w->eta_dot[j];
	}
	*moment = add(*moment, madd(w->own.mc, w->own.m, work->position[flex->link]));
	return twice;
}

/* Sums over the links, which are all that most models have. */
typedef struct LinkSums {
	double twice;         // the kinetic energy
	double mass;          // with bodies fixed to the ground, as the next one
	vec3 moment;          //
	vec3 linear, angular; // about the world's origin
} LinkSums;

static LinkSums sum_links(const CalModel *model, const CalWork *work) {
	LinkSums s = {.linear = vec_zero(), .angular = vec_zero()};
	s.mass = grounded_mass(model, &s.moment);
	for (int i = 0; i < model->link_count; ++i) {
		const LinkWork *l = &work->links[i];
		const Composite c = link_inertia(&model->links[i], &l->R);
		const vec3 v = work->velocity[i], x = work->position[i];
		const vec3 Iw = sym_mul_vec(inertia_from_second_moment(c.Sigma), l->w), turning = cross(l->w, c.mc);
		const vec3 p = madd(turning, c.m, v);
		s.twice += c.m * dot(v, v) + 2.0 * dot(v, turning) + dot(l->w, Iw);
		s.mass += c.m;
		s.moment = add(s.moment, madd(c.mc, c.m, x));
		s.linear = add(s.linear, p);
		s.angular = add(s.angular, add(add(Iw, cross(c.mc, v)), cross(x, p)));
	}
	return s;
}

static void sum_energy(const CalModel *model, const CalState *state, const CalWork *work, const LinkSums *links,
                       CalEnergy *energy) {
	vec3 moment = links->moment;
	double twice = links->twice;
	for (int f = 0; f < model->flex_count; ++f)
		twice += twice_modal_energy(model, work, f, &moment);
	for (int i = 0; i < model->nu; ++i)
		twice += model->rotor[i] * state->u[i] * state->u[i];
	energy->kinetic = 0.5 * twice;
	energy->gravity = -dot(vec_from(model->gravity), moment);
	energy->elastic = forces_elastic_energy(model, state->q, work);
	energy->total = energy->kinetic + energy->gravity + energy->elastic;
}

static void sum_momentum(const CalModel *model, const CalWork *work, const LinkSums *links, CalMomentum *momentum) {
	vec3 moment = links->moment, linear = links->linear, angular = links->angular;
	double mass = links->mass;
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		const FlexWork *w = &work->flex[f];
		const LinkWork *l = &work->links[flex->link];
		const vec3 v = work->velocity[flex->link], x = work->position[flex->link];
		const vec3 Iw = sym_mul_vec(inertia_from_second_moment(w->own.Sigma), l->w);
		spatial h = {add(Iw, cross(w->own.mc, v)), madd(cross(l->w, w->own.mc), w->own.m, v)};
		h = spatial_add(h, rows_sum_spatial(w->E, flex->n, w->eta_dot));
		mass += w->own.m;
		moment = add(moment, madd(w->own.mc, w->own.m, x));
		linear = add(linear, h.l);
		angular = add(angular, force_shift(h, x).a);
	}
	const vec3 com = mass > 0 ? scale(1.0 / mass, moment) : vec_zero();
	*momentum =
		(CalMomentum){mass, vec_out(com), vec_out(linear), vec_out(angular), vec_out(sub(angular, cross(com, linear)))};
}

/* ---- the calls ------------------------------------------------------------------------------------- */

CalStatus cal_energy(const CalModel *model, const CalState *state, CalWork *work, CalEnergy *energy) {
	if (!arguments_ok(model, state, work, energy))
		return CAL_ERR_ARGUMENT;
	prepare_kinematics(model, state, work);
	const LinkSums links = sum_links(model, work);
	sum_energy(model, state, work, &links, energy);
	return CAL_OK;
}

CalStatus cal_momentum(const CalModel *model, const CalState *state, CalWork *work, CalMomentum *momentum) {
	if (!arguments_ok(model, state, work, momentum))
		return CAL_ERR_ARGUMENT;
	prepare_kinematics(model, state, work);
	const LinkSums links = sum_links(model, work);
	sum_momentum(model, work, &links, momentum);
	return CAL_OK;
}

void energy_and_momentum(const CalModel *model, const CalState *state, CalWork *work, CalEnergy *energy,
                         CalMomentum *momentum) {
	prepare_kinematics(model, state, work);
	const LinkSums links = sum_links(model, work);
	sum_energy(model, state, work, &links, energy);
	sum_momentum(model, work, &links, momentum);
}
