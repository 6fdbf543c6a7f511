// SPDX-License-Identifier: Apache-2.0
/*
 * inverse.c — inverse dynamics by Newton and Euler, O(N) [THEORY 4.6; SOA: tau = H A (M A'(H'udot + a) + b)].
 *
 * Unlike the articulated sweeps this one stays in link axes: only vectors cross a joint, and inertias need
 * no rotation. With Q the orientation of a link in its parent and d its origin there:
 *
 *   outward   w = Q'w' + S_w u,  al = Q'al' + S_w udot + Q'w' x S_w u,  a = Q'(a' + W'd) + ...
 *             W = [al]x + [w]x[w]x,  f = m a + W mc,  n = skew part of W Sigma + mc x a
 *   inward    tau = S'(n, f);  f' += Q f,  n' += Q n + d x Q f
 *
 * The ground accelerates with -gravity. By hand count, for a rotation: outward 83 mul 72 add, inward 24 mul 21 add,
 * and one sine-cosine.
 */
#include <calder/dynamics.h>
#include "dynamics/tree/articulated.h"
#include "dynamics/tree/dense.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/inverse.h"

/* Orientation after a rotation about z: E Rz(angle). */
INLINE mat3 local_turn(const Link *link, real s, real c) {
	const dmat3 *E = &link->E;
	if (LIKELY(link->pure_rx)) {
		const double ca = E->y.y, sa = E->y.z;
		return (mat3){{c, s * ca, s * sa}, {-s, c * ca, c * sa}, {real_from(0), real_from(-sa), real_from(ca)}};
	}
	return (mat3){{c * E->x.x + s * E->y.x, c * E->x.y + s * E->y.y, c * E->x.z + s * E->y.z},
	              {c * E->y.x - s * E->x.x, c * E->y.y - s * E->x.y, c * E->y.z - s * E->x.z},
	              vec_from(E->z)};
}

INLINE void local_rotation(const Link *link, const LocalWork *base, real s, real c, real u, real udot, LocalWork *l) {
	l->Q = local_turn(link, s, c);
	const vec3 w = mat_tmul_vec(l->Q, base->w), al = mat_tmul_vec(l->Q, base->al);
	l->w = vec(w.x, w.y, w.z + u);
	l->al = vec(al.x + w.y * u, al.y - w.x * u, al.z + udot);
	l->a = mat_tmul_vec(l->Q, add(base->a, mat_mul_dvec(base->W, link->p)));
}

/* Any motion. Components: inboard frame F first, then the link's own axes by R'. */
static void local_general(const Link *link, const LocalWork *base, const real *q, const real *u, const real *udot,
                          CalWork *work, LocalWork *l) {
	RelativeMotion rel;
	LANED(primitive_evaluate)((JointPrimitive)link->motion, &link->data, q, u, &rel);
	const mat3 E = mat_from(link->E);
	spatial v = spatial_zero(), acc = rel.Sdot_u; // relative velocity and acceleration, in F
	for (int k = 0; k < link->nu; ++k) {
		v = spatial_madd(v, u[k], rel.S[k]);
		if (udot)
			acc = spatial_madd(acc, udot[k], rel.S[k]);
		work->columns[link->u + k] = (spatial){mat_tmul_vec(rel.R, rel.S[k].a), mat_tmul_vec(rel.R, rel.S[k].l)};
	}
	l->Q = mat_mul(E, rel.R);
	l->d = add(vec_from(link->p), mat_mul_vec(E, rel.r));
	const vec3 w = mat_tmul_vec(E, base->w), al = mat_tmul_vec(E, base->al);
	const vec3 a = mat_tmul_vec(E, add(base->a, mat_mul_vec(base->W, l->d)));
	l->w = mat_tmul_vec(rel.R, add(w, v.a));
	l->al = mat_tmul_vec(rel.R, add(add(al, acc.a), cross(w, v.a)));
	l->a = mat_tmul_vec(rel.R, add(add(a, acc.l), scale(real_from(2.0), cross(w, v.l))));
}

/* Force that a link's own inertia needs, in its axes: Sigma = zz 1 + [2ha d e; d 2hb f; e f 0]. */
INLINE spatial local_inertia_force(const DInertia *in, const LocalWork *l) {
	const mat3 *W = &l->W;
	const double xx = in->zz + 2.0 * in->ha, yy = in->zz + 2.0 * in->hb, zz = in->zz;
	const double xy = in->d, xz = in->e, yz = in->f;
	const vec3 a = l->a;
	const real nx = (W->x.z * xy + W->y.z * yy + W->z.z * yz) - (W->x.y * xz + W->y.y * yz + W->z.y * zz);
	const real ny = (W->x.x * xz + W->y.x * yz + W->z.x * zz) - (W->x.z * xx + W->y.z * xy + W->z.z * xz);
	const real nz = (W->x.y * xx + W->y.y * xy + W->z.y * xz) - (W->x.x * xy + W->y.x * yy + W->z.x * yz);
	const dvec3 mc = in->mc;
	const vec3 f = mat_mul_dvec(*W, mc);
	return (spatial){{nx + (mc.y * a.z - mc.z * a.y), ny + (mc.z * a.x - mc.x * a.z), nz + (mc.x * a.y - mc.y * a.x)},
	                 {f.x + in->m * a.x, f.y + in->m * a.y, f.z + in->m * a.z}};
}

INLINE void local_ground(CalWork *work, dvec3 gravity) {
	LocalWork *ground = &work->local[-1];
	ground->w = ground->al = vec_zero();
	ground->a = vec_from((dvec3){-gravity.x, -gravity.y, -gravity.z});
	ground->W = (mat3){vec_zero(), vec_zero(), vec_zero()};
}

void LANED(inverse_outward)(const CalModel *model, dvec3 gravity, const real *q, const real *u, const real *udot,
                            CalWork *work) {
	local_ground(work, gravity);
	sweep_trig(model, q, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		const LocalWork *base = &work->local[link->parent];
		LocalWork *l = &work->local[i];
		if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
			const real acc = udot ? udot[link->u] : real_from(0);
			local_rotation(link, base, work->sine[link->trig], work->cosine[link->trig], u[link->u], acc, l);
		} else {
			local_general(link, base, q + link->q, u + link->u, udot ? udot + link->u : NULL, work, l);
		}
		l->W = acceleration_field(l->w, l->al);
		l->f = local_inertia_force(&link->inertia, l);
	}
}

void LANED(inverse_inward)(const CalModel *model, CalWork *work, real *tau) {
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		const LocalWork *l = &work->local[i];
		LocalWork *parent = &work->local[link->parent]; // the ground gathers what nobody reads
		const vec3 f = mat_mul_vec(l->Q, l->f.l);
		vec3 n = mat_mul_vec(l->Q, l->f.a);
		if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
			tau[link->u] = l->f.a.z;
			const dvec3 d = link->p;
			n = vec(n.x + (f.z * d.y - f.y * d.z), n.y + (f.x * d.z - f.z * d.x), n.z + (f.y * d.x - f.x * d.y));
		} else {
			for (int k = 0; k < link->nu; ++k)
				tau[link->u + k] = spatial_dot(work->columns[link->u + k], l->f);
			n = add(n, cross(l->d, f));
		}
		parent->f.a = add(parent->f.a, n);
		parent->f.l = add(parent->f.l, f);
	}
}

#if CAL_LANES == 1

/* Orientation of a link in the world. */
static mat3 world_orientation(const CalModel *model, const CalWork *work, int link) {
	mat3 R = mat_from(dmat_identity());
	for (; link >= 0; link = model->links[link].parent)
		R = mat_mul(work->local[link].Q, R);
	return R;
}

/* A wrench of the input lowers the force that its link needs. */
static void subtract_wrench(const CalModel *model, CalWork *work, const CalWrench *wrench) {
	const Node *node = &model->nodes[wrench->node];
	if (node->link < 0)
		return; // on the ground
	const mat3 R = wrench->frame == CAL_FRAME_NODE ? mat_from(dmat_transpose(node->in_link.R))
	                                               : world_orientation(model, work, node->link);
	const spatial f = spatial_in(wrench->f);
	const spatial local = {mat_tmul_vec(R, f.a), mat_tmul_vec(R, f.l)};
	LocalWork *l = &work->local[node->link];
	l->f = spatial_sub(l->f, force_shift(local, vec_from(node->in_link.r)));
}

/*
 * With flexible bodies and applied wrenches in loops: in world axes, with every degree of freedom prescribed. What is left
 * over in the equations is the force; the sweeps are those of forward dynamics. applied: wrenches count.
 */
static void run_in_world(const CalModel *model, dvec3 gravity, const CalState *state, const double *u,
                         const double *udot, const CalInput *input, int applied, CalWork *work, double *tau) {
	memset(work->tau, 0, sizeof(double) * (size_t)model->nu);
	SweepInput in = {.q = state->q, .u = u, .tau = work->tau, .prescribed = work->all_prescribed, .udot = udot};
	forward_outward_in_x1(model, gravity, &in, work);
	if (applied) {
		in.external = forces_collect(model, input, work);
		forces_add_modal(model, work, input, work->tau);
	}
	dense_gather(model, &in, work, tau);
	for (int i = 0; i < model->nu; ++i)
		tau[i] = -tau[i];
	work->stage = 0;
}

static void run_inverse(const CalModel *model, dvec3 gravity, const CalState *state, const double *u,
                        const double *udot, const CalInput *input, int applied, CalWork *work, double *tau) {
	if (model->flex_count > 0 || (applied && model->any_applied_wrench)) {
		run_in_world(model, gravity, state, u, udot, input, applied, work, tau);
		return;
	}
	inverse_outward_x1(model, gravity, state->q, u, udot, work);
	for (int i = 0; input && i < input->wrench_count; ++i)
		subtract_wrench(model, work, &input->wrenches[i]);
	work->local[-1].f = spatial_zero();
	inverse_inward_x1(model, work, tau);
	work->stage = 0;
}

static int arguments_ok(const CalModel *model, const CalState *state, const CalWork *work, const double *out) {
	return model && state && work && work->model == model && out;
}

CalStatus cal_inverse_dynamics(const CalModel *model, const CalState *state, const double *udot, const CalInput *input,
                               CalWork *work, double *tau) {
	if (!arguments_ok(model, state, work, tau) || forces_check(model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	run_inverse(model, model->gravity, state, state->u, udot, input, 1, work, tau);
	if (model->any_rotor && udot) {
		for (int i = 0; i < model->nu; ++i)
			tau[i] += model->rotor[i] * udot[i];
	}
	if (model->any_damping || model->spring_count || model->ball_spring_count || model->user_spring_count ||
	    model->flex_count) {
		memset(work->rhs, 0, sizeof(double) * (size_t)model->nu);
		forces_add_elastic(model, state->q, state->u, work, work->rhs);
		for (int i = 0; i < model->nu; ++i)
			tau[i] -= work->rhs[i];
	}
	return CAL_OK;
}

CalStatus cal_bias_forces(const CalModel *model, const CalState *state, CalWork *work, double *h) {
	if (!arguments_ok(model, state, work, h))
		return CAL_ERR_ARGUMENT;
	run_inverse(model, (dvec3){0, 0, 0}, state, state->u, NULL, NULL, 0, work, h);
	return CAL_OK;
}

static const double *zero_speeds(const CalModel *model, CalWork *work) {
	memset(work->rhs, 0, sizeof(double) * (size_t)model->nu);
	return work->rhs;
}

CalStatus cal_mass_mul(const CalModel *model, const CalState *state, const double *x, CalWork *work, double *y) {
	if (!arguments_ok(model, state, work, y) || !x)
		return CAL_ERR_ARGUMENT;
	run_inverse(model, (dvec3){0, 0, 0}, state, zero_speeds(model, work), x, NULL, 0, work, y);
	for (int i = 0; i < model->nu; ++i)
		y[i] += model->rotor[i] * x[i];
	return CAL_OK;
}

CalStatus cal_gravity_forces(const CalModel *model, const CalState *state, CalWork *work, double *Q) {
	if (!arguments_ok(model, state, work, Q))
		return CAL_ERR_ARGUMENT;
	run_inverse(model, model->gravity, state, zero_speeds(model, work), NULL, NULL, 0, work, Q);
	for (int i = 0; i < model->nu; ++i)
		Q[i] = -Q[i];
	return CAL_OK;
}

CalStatus cal_external_forces(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work,
                              double *Q) {
	if (!arguments_ok(model, state, work, Q) || forces_check(model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	run_inverse(model, (dvec3){0, 0, 0}, state, zero_speeds(model, work), NULL, input, 1, work, Q);
	for (int i = 0; i < model->nu; ++i)
		Q[i] = -Q[i];
	return CAL_OK;
}

CalStatus cal_elastic_forces(const CalModel *model, const CalState *state, CalWork *work, double *Q) {
	if (!arguments_ok(model, state, work, Q))
		return CAL_ERR_ARGUMENT;
	memset(Q, 0, sizeof(double) * (size_t)model->nu);
	forces_add_elastic(model, state->q, state->u, work, Q);
	return CAL_OK;
}

#endif
