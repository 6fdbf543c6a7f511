// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_sweep.c — derivatives of inverse dynamics, O(N depth) [THEORY 10.1].
 *
 * Inward over the links, with the subtree of each at its origin (derivative.h). For dof i of the link, S = (theta, x):
 *   F1 = forces of S as acceleration, F3 of its coordinate, F4 of its speed;  g = N'theta + 2 p x x
 *   within the link       M = S'F1,  dtau/dq = S'F3,  dtau/du = S'F4;    then F3 += (theta x n + x x f, theta x f)
 *   on the way inward     n += r x f of all three,  g += 2 r' x f1
 *   at dof j further in   M_ji = S_j'F1,  dtau_j/dq_i = S_j'F3,  dtau_j/du_i = S_j'F4,
 *                         dtau_i/dq_j = F1'acceleration_j + g.theta'_j,   dtau_i/du_j = F1'speed_j + g.theta_j
 * The dofs outboard of a link are neighbors in the rows, and taken four at a time. A pair of dofs takes 39 multiplications
 * where the inner one is a rotation. What rows of dofs further out have against this one is kept transposed.
 */
#include "derivative/derivative_kernels.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/sweep.h"
#include "math/pack.h"

/* ---- the links' own inertias ---------------------------------------------------------------- */

/* -2 [w]x Sigma: N of a rigid body that turns with w. */
INLINE mat3 rigid_rate_matrix(vec3 w, sym3 S) {
	const vec3 v = scale(-2.0, w);
	return (mat3){cross(v, vec(S.xx, S.xy, S.xz)), cross(v, vec(S.xy, S.yy, S.yz)), cross(v, vec(S.xz, S.yz, S.zz))};
}

void LANED(derivative_own)(const CalModel *model, CalDerivatives *d) {
	const mat3 none = {vec_zero(), vec_zero(), vec_zero()};
	for (int i = 0; i < model->link_count; ++i) {
		const LinkWork *l = &d->work->links[i];
		Subtree *s = &d->subtree[i];
		s->c = link_inertia(&model->links[i], &l->R);
		s->f = link_inertia_force(&s->c, l->w, l->al, l->a);
		s->p = cross(l->w, s->c.mc);
		s->N = rigid_rate_matrix(l->w, s->c.Sigma);
		s->Nw = none;
		s->w = spatial_zero();
	}
}

/* ---- dofs of a link --------------------------------------------------------------------------- */

INLINE void put_vec(double *rows, int stride, vec3 v) {
	rows[0] = v.x;
	rows[stride] = v.y;
	rows[2 * stride] = v.z;
}

/* S'F with S = (theta, 0) or complete. */
INLINE double meet(int rotation, spatial S, spatial F) { return rotation ? dot(S.a, F.a) : spatial_dot(S, F); }

/*
 * Dof k of a link: its forces, its column within the link, its rows. The first `inboard` columns of the link are fixed in
 * its parent: a turn of the link does not turn them.
 */
INLINE void put_dof(CalDerivatives *d, const Subtree *s, const LinkColumns *c, int k, int rotation, int inboard) {
	const DofMotion *all = d->motions + c->motion, *m = &all[k];
	const int stride = d->stride, u = c->u + k;
	const spatial F1 = rotation ? composite_mul_rotation(&s->c, m->S.a) : composite_mul(&s->c, m->S);
	const spatial F4 = subtree_force(s, m->speed, m->S.a);
	spatial F3 = subtree_force(s, m->acceleration, m->rate);
	double *rows = d->rows + u;
	if (UNLIKELY(d->world)) {
		F3 = spatial_add(F3, subtree_world(s, m->S.a));
		put_vec(rows + ROW_H * stride, stride, subtree_world_row(s, m->S));
	}
	for (int j = 0; j < c->count; ++j) {
		const size_t at = (size_t)(c->u + j) * (size_t)stride, wide = 2 * at + (size_t)u;
		d->M[at + (size_t)u] = 0.5 * meet(rotation, all[j].S, F1);
		d->dq[wide] = meet(rotation, all[j].S, F3);
		d->du[wide] = meet(rotation, all[j].S, F4);
	}
	F3.a = add(F3.a, cross(m->S.a, s->f.a));
	if (!rotation)
		F3.a = add(F3.a, cross(m->S.l, s->f.l));
	F3.l = add(F3.l, cross(m->S.a, s->f.l));
	for (int j = 0; j < inboard; ++j)
		d->dq[2 * (size_t)(c->u + j) * (size_t)stride + (size_t)u] = dot(all[j].S.l, F3.l);
	const vec3 g = rotation ? mat_tmul_vec(s->N, m->S.a) : subtree_rate_row(s, m->S);
	put_vec(rows + ROW_N1 * stride, stride, F1.a);
	put_vec(rows + ROW_F1 * stride, stride, F1.l);
	put_vec(rows + ROW_G * stride, stride, g);
	put_vec(rows + ROW_N3 * stride, stride, F3.a);
	put_vec(rows + ROW_F3 * stride, stride, F3.l);
	put_vec(rows + ROW_N4 * stride, stride, F4.a);
	put_vec(rows + ROW_F4 * stride, stride, F4.l);
}

/* ---- four dofs further out at a link ------------------------------------------------------------ */

typedef struct OuterDofs {
	pspatial F1, F3, F4;
	pvec3 g;
} OuterDofs;

INLINE OuterDofs load_outer(const double *rows, int stride) {
	return (OuterDofs){{pvec_load(rows + ROW_N1 * stride, stride), pvec_load(rows + ROW_F1 * stride, stride)},
	                   {pvec_load(rows + ROW_N3 * stride, stride), pvec_load(rows + ROW_F3 * stride, stride)},
	                   {pvec_load(rows + ROW_N4 * stride, stride), pvec_load(rows + ROW_F4 * stride, stride)},
	                   pvec_load(rows + ROW_G * stride, stride)};
}

/* n + r x f, in the lanes of the mask. */
INLINE pvec3 moment_at(pvec3 n, vec3 r, pvec3 f, int masked, pack mask) {
	const pvec3 c = pvec_cross(r, f);
	return pvec_add(n, masked ? pvec_scale(c, mask) : c);
}

INLINE void shift_outer(OuterDofs *o, vec3 r, vec3 twice_rate, int masked, pack mask, double *rows, int stride) {
	o->F1.a = moment_at(o->F1.a, r, o->F1.l, masked, mask);
	o->F3.a = moment_at(o->F3.a, r, o->F3.l, masked, mask);
	o->F4.a = moment_at(o->F4.a, r, o->F4.l, masked, mask);
	o->g = moment_at(o->g, twice_rate, o->F1.l, masked, mask);
	pvec_store(rows + ROW_N1 * stride, stride, o->F1.a);
	pvec_store(rows + ROW_N3 * stride, stride, o->F3.a);
	pvec_store(rows + ROW_N4 * stride, stride, o->F4.a);
	pvec_store(rows + ROW_G * stride, stride, o->g);
}

INLINE void add_to(double *at, pack x, int masked, pack mask) {
	pack_store(at, pack_add(pack_load(at), masked ? pack_mul(x, mask) : x));
}

INLINE pack meet_outer(int rotation, spatial S, pspatial F) {
	return rotation ? pvec_dot(S.a, F.a) : pspatial_dot(S, F);
}

/* One dof j of the link against four dofs further out, from `at` on. */
INLINE void meet_dof(CalDerivatives *d, const DofMotion *m, int j, int at, const OuterDofs *o, int rotation, int masked,
                     pack mask) {
	const size_t row = (size_t)j * (size_t)d->stride + (size_t)at, wide = row + (size_t)j * (size_t)d->stride;
	pack low = pack_add(pspatial_dot(m->acceleration, o->F1), pvec_dot(m->rate, o->g));
	if (UNLIKELY(d->world))
		low = pack_add(low, pvec_dot(m->S.a, pvec_load(d->rows + ROW_H * d->stride + at, d->stride)));
	add_to(d->M + row, meet_outer(rotation, m->S, o->F1), masked, mask);
	add_to(d->dq + wide, meet_outer(rotation, m->S, o->F3), masked, mask);
	add_to(d->du + wide, meet_outer(rotation, m->S, o->F4), masked, mask);
	add_to(d->dq_low + row, low, masked, mask);
	add_to(d->du_low + row, pack_add(meet_outer(rotation, m->speed, o->F1), pvec_dot(m->S.a, o->g)), masked, mask);
}

/* How a run of dofs gets to the link whose dofs it meets; r NULL: it is there. */
typedef struct Passage {
	const vec3 *r, *rate;
	const LinkColumns *to; // NULL: the ground
	int rotation;          // `to` is one rotation
} Passage;

INLINE void pass_four(CalDerivatives *d, const Passage *p, int at, int rotation, int masked, pack mask) {
	double *rows = d->rows + at;
	OuterDofs o = load_outer(rows, d->stride);
	if (p->r)
		shift_outer(&o, *p->r, scale(2.0, *p->rate), masked, mask, rows, d->stride);
	if (rotation) {
		meet_dof(d, d->motions + p->to->motion, p->to->u, at, &o, 1, masked, mask);
		return;
	}
	for (int j = 0; j < p->to->count; ++j)
		meet_dof(d, d->motions + p->to->motion + j, p->to->u + j, at, &o, 0, masked, mask);
}

static void pass_part(CalDerivatives *d, const Passage *p, int at, DerivativeRun run) {
	const pack mask = pack_from(at >= run.begin && at < run.end, at + 1 >= run.begin && at + 1 < run.end,
	                            at + 2 >= run.begin && at + 2 < run.end, at + 3 >= run.begin && at + 3 < run.end);
	if (p->rotation)
		pass_four(d, p, at, 1, 1, mask);
	else
		pass_four(d, p, at, 0, 1, mask);
}

static void pass_run(CalDerivatives *d, const Passage *p, DerivativeRun run) {
	int at = run.begin / PACK * PACK;
	if (at < run.begin) {
		pass_part(d, p, at, run);
		at += PACK;
	}
	for (; at + PACK <= run.end && p->rotation; at += PACK)
		pass_four(d, p, at, 1, 0, pack_zero());
	for (; at + PACK <= run.end; at += PACK)
		pass_four(d, p, at, 0, 0, pack_zero());
	if (at < run.end)
		pass_part(d, p, at, run);
}

/* ---- from link to link --------------------------------------------------------------------------- */

/* Sigma about a point r further in. */
INLINE sym3 second_moment_at(const Composite *c, vec3 r) {
	const vec3 g = madd(c->mc, 0.5 * c->m, r);
	return (sym3){c->Sigma.xx + 2.0 * (g.x * r.x),       c->Sigma.yy + 2.0 * (g.y * r.y),
	              c->Sigma.zz + 2.0 * (g.z * r.z),       c->Sigma.xy + (g.x * r.y + r.x * g.y),
	              c->Sigma.xz + (g.x * r.z + r.x * g.z), c->Sigma.yz + (g.y * r.z + r.y * g.z)};
}

/* Adds the subtree of a child, whose origin is at r and moves with r', to that of its parent. */
INLINE void give_subtree(Subtree *to, const Subtree *s, vec3 r, vec3 rate, int world) {
	const vec3 p = madd(s->p, s->c.m, rate);
	const mat3 N = add_pair(add_pair(s->N, 2.0, s->c.mc, rate), 2.0, r, p);
	to->c.Sigma = sym_add(to->c.Sigma, second_moment_at(&s->c, r));
	to->c.mc = add(to->c.mc, madd(s->c.mc, s->c.m, r));
	to->c.m += s->c.m;
	to->p = add(to->p, p);
	to->N = mat_sum(to->N, N);
	to->f = spatial_add(to->f, force_shift(s->f, r));
	if (UNLIKELY(world)) {
		to->Nw = mat_sum(to->Nw, add_pair(s->Nw, 1.0, r, s->w.l));
		to->w = spatial_add(to->w, s->w);
	}
}

INLINE int is_rotation(const Link *link) { return link->motion == PRIMITIVE_ROTATION; }

void LANED(derivative_inward)(const CalModel *model, CalDerivatives *d) {
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		const LinkColumns *c = &d->columns[i];
		if (UNLIKELY(link->flex_body >= 0)) {
			const Flex *flex = &model->flexes[link->flex_body];
			pass_run(d, &(Passage){.to = c, .rotation = is_rotation(link)},
			         (DerivativeRun){flex->u, flex->u + flex->m});
		}
		if (UNLIKELY(link->flex >= 0)) {
			derivative_flex_link(model, i, d);
		} else if (LIKELY(is_rotation(link))) {
			put_dof(d, &d->subtree[i], c, 0, 1, 0);
		} else {
			for (int k = 0; k < c->count; ++k)
				put_dof(d, &d->subtree[i], c, k, 0, link->motion == PRIMITIVE_FREE ? 3 : 0);
		}
		if (link->parent < 0)
			continue;
		const vec3 *r = &d->work->links[i].r, *rate = &d->rate[i];
		give_subtree(&d->subtree[link->parent], &d->subtree[i], *r, *rate, d->world);
		const Passage p = {r, rate, &d->columns[link->parent], is_rotation(&model->links[link->parent])};
		for (int k = 0; k < c->run_count; ++k)
			pass_run(d, &p, d->runs[c->run + k]);
	}
}
