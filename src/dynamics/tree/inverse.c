// SPDX-License-Identifier: Apache-2.0
/*
 * inverse.c — inverse dynamics by Newton and Euler, O(N) [THEORY 4.6; SOA: tau = H A (M A'(H'udot + a) + b)].
 *
 * Unlike the articulated sweeps this one stays in link axes: only vectors cross a joint, and inertias need
 * no rotation. With Q the orientation of a link in its parent and d its origin there:
 *
 *   outward   w = Q'w' + S_w u,  al = Q'al' + S_w udot + Q'w' x S_w u,  a = Q'(a' + al' x d + w' x (w' x d)) + ...
 *             f = m a + al x mc + w x (w x mc),  n = I al + w x I w + mc x a
 *   inward    tau = S'(n, f);  f' += Q f,  n' += Q n + d x Q f
 *
 * The ground accelerates with -gravity. A vector is one register, Q its three cyclic diagonals (math/trio.h), so that Q v
 * and Q'v are three products each and no joint needs an orientation in the world. Motions and forces are carried from
 * link to link in registers; memory is read where a link has more than one child (Link.accumulator).
 */
#include <calder/dynamics.h>
#include "dynamics/tree/articulated.h"
#include "dynamics/tree/dense.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/inverse.h"
#include "dynamics/tree/kernels.h"
#include "math/trio.h"

/* ---- outward ----------------------------------------------------------------------------------- */

/* Motion of a link in its own axes: angular velocity and acceleration, acceleration of its origin. */
typedef struct LocalMotion {
	trio w, al, a;
} LocalMotion;

INLINE trio_mat constant_matrix(const CyclicMat *m) {
	return (trio_mat){trio_dload_any(&m->d), trio_dload_any(&m->n), trio_dload_any(&m->p)};
}

/* E Rz(angle) */
INLINE trio_mat turned_about_z(const LocalLink *k, real s, real c) {
	const real one = real_from(1);
	const trio all = trio_all(s);
	const trio_mat E = constant_matrix(&k->E), F = constant_matrix(&k->F);
	return (trio_mat){trio_mac(trio_mul(trio_set(c, c, one), E.d), all, F.d),
	                  trio_mac(trio_mul(trio_set(c, one, c), E.n), all, F.n),
	                  trio_mac(trio_mul(trio_set(one, c, c), E.p), all, F.p)};
}

/* Acceleration of the point d of the base. */
INLINE trio point_acceleration(const LocalMotion *base, trio d) {
	return trio_add(base->a, trio_field(base->w, base->al, d));
}

INLINE void store_frame(LocalWork *l, trio_mat Q, trio d) {
	trio_store_wide(&l->Qd, Q.d), trio_store_wide(&l->Qn, Q.n), trio_store_wide(&l->Qp, Q.p);
	trio_store_wide(&l->d, d);
}

INLINE LocalMotion local_rotation(const LocalLink *k, const LocalMotion *base, real s, real c, real u, real udot,
                                  LocalWork *l) {
	const real zero = real_from(0);
	const trio_mat Q = turned_about_z(k, s, c);
	const trio w = trio_mat_tmul(Q, base->w), al = trio_mat_tmul(Q, base->al), p = trio_dload_any(&k->p);
	store_frame(l, Q, p);
	return (LocalMotion){trio_add(w, trio_set(zero, zero, u)),
	                     trio_add(trio_madd(al, u, trio_cross_z(w)), trio_set(zero, zero, udot)),
	                     trio_mat_tmul(Q, point_acceleration(base, p))};
}

static LocalMotion local_translation(const LocalLink *k, const LocalMotion *base, real q, real u, real udot,
                                     LocalWork *l) {
	const real zero = real_from(0);
	const trio_mat E = constant_matrix(&k->E);
	const trio slide = trio_set(zero, zero, q);
	const trio d = trio_add(trio_dvec(k->p), trio_mat_mul(E, slide, trio_next(slide), trio_prev(slide)));
	const trio w = trio_mat_tmul(E, base->w), a = trio_mat_tmul(E, point_acceleration(base, d));
	store_frame(l, E, d);
	return (LocalMotion){w, trio_mat_tmul(E, base->al),
	                     trio_add(trio_madd(a, 2.0 * u, trio_cross_z(w)), trio_set(zero, zero, udot))};
}

/* Three numbers in sequence, or zeros. */
INLINE trio load_three(const real *x) { return x ? trio_set(x[0], x[1], x[2]) : trio_zero(); }

/* The turn of a ball with angular velocity u, angular acceleration udot in its own axes; a: of the origin, base axes. */
INLINE LocalMotion turn_ball(const LocalLink *k, const LocalMotion *base, const real *q, trio u, trio udot, trio d,
                             trio a, LocalWork *l) {
	const trio_mat Q = trio_mat_mul_mat(constant_matrix(&k->E), trio_mat_quat(q[0], load_three(q + 1)));
	const trio w = trio_mat_tmul(Q, base->w), al = trio_mat_tmul(Q, base->al);
	store_frame(l, Q, d);
	return (LocalMotion){trio_add(w, u), trio_add(trio_add(al, trio_cross(w, u)), udot), trio_mat_tmul(Q, a)};
}

INLINE LocalMotion local_ball(const LocalLink *k, const LocalMotion *base, const real *q, const real *u,
                              const real *udot, LocalWork *l) {
	const trio p = trio_dload_any(&k->p);
	return turn_ball(k, base, q, load_three(u), load_three(udot), p, point_acceleration(base, p), l);
}

/* Velocity v of the origin in the axes of the inboard frame, then as a ball. */
static LocalMotion local_free(const LocalLink *k, const LocalMotion *base, const real *q, const real *u,
                              const real *udot, LocalWork *l) {
	const trio_mat E = constant_matrix(&k->E);
	const trio r = load_three(q), v = load_three(u), vdot = load_three(udot);
	const trio d = trio_add(trio_dvec(k->p), trio_mat_mul(E, r, trio_next(r), trio_prev(r)));
	const trio Ev = trio_mat_mul(E, v, trio_next(v), trio_prev(v));
	const trio Evdot = trio_mat_mul(E, vdot, trio_next(vdot), trio_prev(vdot));
	const trio own = trio_madd(Evdot, real_from(2), trio_cross(base->w, Ev));
	const trio a = trio_add(point_acceleration(base, d), own);
	return turn_ball(k, base, q + 3, load_three(u + 3), load_three(udot ? udot + 3 : NULL), d, a, l);
}

/* Any other motion. Components: inboard frame F first, then the link's own axes by R'. */
static LocalMotion local_general(const Link *link, const LocalMotion *base, const real *q, const real *u,
                                 const real *udot, CalWork *work, LocalWork *l) {
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
	const trio d = trio_from(add(vec_from(link->p), mat_mul_vec(E, rel.r)));
	const vec3 w = mat_tmul_vec(E, trio_vec(base->w)), al = mat_tmul_vec(E, trio_vec(base->al));
	const vec3 a = mat_tmul_vec(E, trio_vec(point_acceleration(base, d)));
	store_frame(l, trio_mat_from(mat_mul(E, rel.R)), d);
	const vec3 al_F = add(add(al, acc.a), cross(w, v.a)),
			   a_F = add(add(a, acc.l), scale(real_from(2.0), cross(w, v.l)));
	return (LocalMotion){trio_from(mat_tmul_vec(rel.R, add(w, v.a))), trio_from(mat_tmul_vec(rel.R, al_F)),
	                     trio_from(mat_tmul_vec(rel.R, a_F))};
}

/* Force that the link's own inertia needs: n = I al + w x I w + mc x a, f = m a + al x mc + w x (w x mc). */
INLINE void store_force(const LocalLink *k, const LocalMotion *m, LocalWork *l) {
	const trio w1 = trio_next(m->w), al1 = trio_next(m->al), mc = trio_dload_any(&k->mc), mc1 = trio_next(mc);
	const trio_sym I = {trio_dload_any(&k->Id), trio_dload_any(&k->In)};
	const trio Iw = trio_sym_mul(I, m->w, w1, trio_prev(m->w)), Ial = trio_sym_mul(I, m->al, al1, trio_prev(m->al));
	const trio turning = trio_twist(m->w, w1, Iw, trio_next(Iw)), moving = trio_twist(mc, mc1, m->a, trio_next(m->a));
	const trio field = trio_twist_field(m->w, w1, m->al, al1, mc, mc1);
	trio_store_wide(&l->n, trio_add(Ial, trio_next(trio_add(turning, moving))));
	trio_store_wide(&l->f, trio_madd(trio_next(field), real_from(k->m), m->a));
}

/* For children other than the next link; before the force, which is next in memory. */
INLINE void store_motion(const LocalMotion *m, LocalWork *l) {
	trio_store_wide(&l->w, m->w), trio_store_wide(&l->al, m->al), trio_store_wide(&l->a, m->a);
}

INLINE LocalMotion load_motion(const LocalWork *l) {
	return (LocalMotion){trio_load_wide(&l->w), trio_load_wide(&l->al), trio_load_wide(&l->a)};
}

static LocalMotion local_other(const CalModel *model, int i, const LocalMotion *base, const real *q, const real *u,
                               const real *udot, CalWork *work) {
	const Link *link = &model->links[i];
	const LocalLink *k = &model->local_links[i];
	const real *given = udot ? udot + link->u : NULL;
	if (link->motion == PRIMITIVE_TRANSLATION)
		return local_translation(k, base, q[link->q], u[link->u], given ? *given : real_from(0), &work->local[i]);
	if (link->motion == PRIMITIVE_SPHERICAL)
		return local_ball(k, base, q + link->q, u + link->u, given, &work->local[i]);
	if (link->motion == PRIMITIVE_FREE)
		return local_free(k, base, q + link->q, u + link->u, given, &work->local[i]);
	return local_general(link, base, q + link->q, u + link->u, given, work, &work->local[i]);
}

void LANED(inverse_outward)(const CalModel *model, dvec3 gravity, const real *q, const real *u, const real *udot,
                            CalWork *work) {
	sweep_trig(model, q, work);
	const LocalMotion ground = {trio_zero(), trio_zero(), trio_neg(trio_dvec(gravity))};
	LocalMotion m = ground; // of link i - 1, then of link i
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		const LocalLink *k = &model->local_links[i];
		if (UNLIKELY(link->parent != i - 1))
			m = link->parent >= 0 ? load_motion(&work->local[link->parent]) : ground;
		if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
			const real acc = udot ? udot[link->u] : real_from(0);
			const real s = work->sine[link->trig], c = work->cosine[link->trig];
			m = local_rotation(k, &m, s, c, u[link->u], acc, &work->local[i]);
		} else {
			m = local_other(model, i, &m, q, u, udot, work);
		}
		if (UNLIKELY(link->accumulator >= 0))
			store_motion(&m, &work->local[i]);
		store_force(k, &m, &work->local[i]);
	}
}

/* ---- inward ------------------------------------------------------------------------------------ */

/* Moment and force at a link's origin. */
typedef struct LocalForce {
	trio n, f;
} LocalForce;

INLINE LocalForce force_add(LocalForce a, LocalForce b) { return (LocalForce){trio_add(a.n, b.n), trio_add(a.f, b.f)}; }

INLINE LocalForce load_force(const LocalWork *l) { return (LocalForce){trio_load_wide(&l->n), trio_load_wide(&l->f)}; }

/* What link i passes to its parent, at the parent's origin, in its axes: f' = Q f, n' = Q n + d x Q f. */
INLINE LocalForce to_parent(const LocalWork *l, LocalForce own) {
	const trio_mat Q = {trio_load_any(&l->Qd), trio_load_any(&l->Qn), trio_load_any(&l->Qp)};
	const trio d = trio_load_any(&l->d);
	const trio f = trio_mat_mul(Q, own.f, trio_next(own.f), trio_prev(own.f));
	const trio n = trio_mat_mul(Q, own.n, trio_next(own.n), trio_prev(own.n));
	return (LocalForce){trio_add(n, trio_next(trio_twist(d, trio_next(d), f, trio_next(f)))), f};
}

/* tau = S'F of a link that is no rotation; passed: its force in the axes of the parent. */
static void other_forces(const CalModel *model, int i, const CalWork *work, LocalForce own, LocalForce passed,
                         real *tau) {
	const Link *link = &model->links[i];
	const vec3 n = trio_vec(own.n);
	real *out = tau + link->u;
	if (link->motion == PRIMITIVE_TRANSLATION) {
		out[0] = trio_vec(own.f).z;
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		out[0] = n.x, out[1] = n.y, out[2] = n.z;
	} else if (link->motion == PRIMITIVE_FREE) {
		const vec3 f = trio_vec(trio_mat_tmul(constant_matrix(&model->local_links[i].E), passed.f));
		out[0] = f.x, out[1] = f.y, out[2] = f.z;
		out[3] = n.x, out[4] = n.y, out[5] = n.z;
	} else {
		for (int k = 0; k < link->nu; ++k)
			out[k] = spatial_dot(work->columns[link->u + k], (spatial){n, trio_vec(own.f)});
	}
}

void LANED(inverse_inward)(const CalModel *model, CalWork *work, real *tau) {
	LocalForce carry = {trio_zero(), trio_zero()}; // what link i + 1 passes to its parent
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		LocalForce own = load_force(&work->local[i]);
		if (LIKELY(i + 1 < model->link_count && link[1].parent == i))
			own = force_add(own, carry);
		carry = to_parent(&work->local[i], own);
		if (LIKELY(link->motion == PRIMITIVE_ROTATION))
			tau[link->u] = trio_vec(own.n).z;
		else
			other_forces(model, i, work, own, carry, tau);
		if (UNLIKELY(link->parent != i - 1 && link->parent >= 0)) {
			LocalWork *parent = &work->local[link->parent];
			const LocalForce sum = force_add(load_force(parent), carry);
			trio_store_wide(&parent->n, sum.n), trio_store_wide(&parent->f, sum.f);
		}
	}
}

#if CAL_LANES == 1 && !defined(CAL_ISA)

/* Orientation of a link in the world. */
static mat3 world_orientation(const CalModel *model, const CalWork *work, int link) {
	mat3 R = mat_from(dmat_identity());
	for (; link >= 0; link = model->links[link].parent) {
		const LocalWork *l = &work->local[link];
		R = mat_mul(trio_mat_out((trio_mat){trio_load(&l->Qd), trio_load(&l->Qn), trio_load(&l->Qp)}), R);
	}
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
	const spatial at_origin = force_shift(local, vec_from(node->in_link.r));
	l->n = sub(l->n, at_origin.a);
	l->f = sub(l->f, at_origin.l);
}

/*
 * With flexible bodies and applied wrenches in loops: in world axes, with every degree of freedom prescribed. What is left
 * over in the equations is the force; the sweeps are those of forward dynamics. applied: wrenches count.
 */
static void run_in_world(const CalModel *model, dvec3 gravity, const CalState *state, const double *u,
                         const double *udot, const CalInput *input, int applied, CalWork *work, double *tau) {
	memset(work->tau, 0, sizeof(double) * (size_t)model->nu);
	SweepInput in = {.q = state->q, .u = u, .tau = work->tau, .prescribed = work->all_prescribed, .udot = udot};
	forward_kernels(model->isa)->outward_in(model, gravity, &in, work);
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
	const InertiaKernels *kernels = inertia_kernels(model->isa);
	kernels->inverse_outward(model, gravity, state->q, u, udot, work);
	for (int i = 0; input && i < input->wrench_count; ++i)
		subtract_wrench(model, work, &input->wrenches[i]);
	kernels->inverse_inward(model, work, tau);
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
	if (forces_any_elastic(model)) {
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
