// SPDX-License-Identifier: Apache-2.0
/*
 * user_link.c — links of the caller's own [THEORY 4.7]: SKO links whose columns and inertia are functions of coordinates.
 *
 * Such a link is a body frame B with dofs of its own, as a flexible body is one with modes: F = M_rr A + E x + b on B,
 * tau = M x + E'A + be on the dofs, and nodes that move in B by columns S(q). So it takes the way of a flexible body through
 * every sweep (flexible.c) with other terms. Its functions speak in the axes of B and about B's origin; the sweeps in
 * world axes and about the origin of the link that carries B. What a function refuses becomes not a number.
 */
#include "dynamics/flex/user_link.h"
#include "dynamics/flex/flexible.h"

#if CAL_LANES == 1

static spatial turn(const mat3 *R, spatial s) { return (spatial){mat_mul_vec(*R, s.a), mat_mul_vec(*R, s.l)}; }

static spatial column_of(const double *rows, int m, int k) {
	return (spatial){{rows[k], rows[m + k], rows[2 * m + k]}, {rows[3 * m + k], rows[4 * m + k], rows[5 * m + k]}};
}

static void store_column(real *rows, int n, int k, spatial s) {
	const double six[6] = {s.a.x, s.a.y, s.a.z, s.l.x, s.l.y, s.l.z};
	for (int i = 0; i < 6; ++i)
		rows[i * n + k] = six[i];
}

/* ---- inertia --------------------------------------------------------------------------------------------- */

/* B's motion in its own axes, from that of the link's origin at -c. */
static CalLinkBase base_motion(const LinkWork *l, const mat3 *axes, vec3 c) {
	const vec3 a = add(l->a, add(cross(l->al, c), cross(l->w, cross(l->w, c))));
	return (CalLinkBase){vec_out(mat_tmul_vec(*axes, l->w)), vec_out(mat_tmul_vec(*axes, l->al)),
	                     vec_out(mat_tmul_vec(*axes, a))};
}

/* m, mc and Sigma in world axes, about a point at -c. */
static Composite composite_at(const CalLinkInertia *in, const mat3 *axes, vec3 c) {
	const dmat3 R = {
		{axes->x.x, axes->x.y, axes->x.z}, {axes->y.x, axes->y.y, axes->y.z}, {axes->z.x, axes->z.y, axes->z.z}};
	const dmat3 I = dmat_mul(R, dmat_mul(dmat_in(&in->inertia), dmat_transpose(R)));
	const double half = 0.5 * (I.x.x + I.y.y + I.z.z), m = in->mass;
	const vec3 mc = mat_mul_vec(*axes, vec_in(in->first_moment));
	return (Composite){m,
	                   madd(mc, m, c),
	                   {half - I.x.x + 2 * mc.x * c.x + m * c.x * c.x, half - I.y.y + 2 * mc.y * c.y + m * c.y * c.y,
	                    half - I.z.z + 2 * mc.z * c.z + m * c.z * c.z, -I.x.y + mc.x * c.y + mc.y * c.x + m * c.x * c.y,
	                    -I.x.z + mc.x * c.z + mc.z * c.x + m * c.x * c.z,
	                    -I.y.z + mc.y * c.z + mc.z * c.y + m * c.y * c.z}};
}

/* What the prescribed accelerations of dofs need. */
static void add_accelerated(const Flex *flex, const CalLinkInertia *in, FlexWork *w, spatial *b) {
	for (int k = 0; k < flex->m; ++k) {
		*b = spatial_madd(*b, w->eta_ddot[k], rows_mode(w->E, flex->n, k));
		for (int j = 0; j < flex->m; ++j)
			w->be[j] += in->M[j * flex->m + k] * w->eta_ddot[k];
	}
}

void user_link_add(const Flex *flex, int motion, FlexWork *w, const LinkWork *l) {
	const int m = flex->m, n = flex->n;
	const mat3 axes = flexible_axes(flex, l);
	const vec3 c = mat_mul_dvec(axes, flex->origin);
	const CalLinkBase base = base_motion(l, &axes, c);
	CalLinkInertia in = {.E = w->user, .M = w->user + 6 * m, .dof_force = w->user + 6 * m + m * m};
	memset(w->user, 0, sizeof(double) * (size_t)(7 * m + m * m));
	if (flex->ops->inertia(flex->ops_data, w->user_scratch, w->eta, motion ? w->eta_dot : NULL, motion ? &base : NULL,
	                       &in) != 0)
		in.M[0] = in.mass = NAN;
	const Composite own = composite_at(&in, &axes, c);
	w->own = (Composite){w->own.m + own.m, add(w->own.mc, own.mc), sym_add(w->own.Sigma, own.Sigma)};
	for (int k = 0; k < m; ++k) {
		const spatial E = force_shift(turn(&axes, column_of(in.E, m, k)), c);
		store_column(w->E, n, k, spatial_add(rows_mode(w->E, n, k), E));
		for (int j = 0; j < m; ++j)
			w->M[j * n + k] += in.M[j * m + k];
		if (motion)
			w->be[k] += in.dof_force[k];
	}
	if (!motion)
		return;
	w->b = spatial_add(w->b, force_shift(turn(&axes, spatial_in(in.force)), c));
	if (w->accelerated)
		add_accelerated(flex, &in, w, &w->b);
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

/* A node in B at the coordinates of the workspace. */
static CalLinkNode evaluate_node(const Flex *flex, const FlexWork *w, int shape, int rates) {
	CalLinkNode node = {.S = w->user + 7 * flex->m + flex->m * flex->m};
	memset(node.S, 0, sizeof(double) * 6 * (size_t)flex->m);
	if (flex->ops->node(flex->ops_data, w->user_scratch, shape - flex->shape_first, w->eta, rates ? w->eta_dot : NULL,
	                    &node) != 0)
		node.pose.r.x = node.pose.R.m[0][0] = NAN;
	return node;
}

static spatial speed_of(const Flex *flex, const FlexWork *w, const double *S) {
	spatial v = spatial_zero();
	for (int k = 0; k < flex->m; ++k)
		v = spatial_madd(v, w->eta_dot[k], column_of(S, flex->m, k));
	return v;
}

static mat3 matrix_of(const CalMat3 *m) { return mat_from(dmat_in(m)); }

static void turn_columns(const Flex *flex, const double *S, const mat3 *axes, real *to) {
	for (int k = 0; k < flex->m; ++k)
		store_column(to, flex->n, k, turn(axes, column_of(S, flex->m, k)));
}

void user_link_motion(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                      LinkWork *l) {
	const Flex *flex = &model->flexes[link->flex];
	const FlexWork *w = &work->flex[link->flex];
	const mat3 axes = flexible_axes(flex, base);
	const CalLinkNode node = evaluate_node(flex, w, link->shape, rates);
	l->R = mat_mul(axes, matrix_of(&node.pose.R));
	l->r = mat_mul_vec(axes, add(vec_from(flex->origin), vec_in(node.pose.r)));
	turn_columns(flex, node.S, &axes, work->modal_columns + link->columns);
	if (!rates)
		return;
	const spatial v = turn(&axes, speed_of(flex, w, node.S)), rest = turn(&axes, spatial_in(node.bias));
	l->w = add(base->w, v.a);
	l->al = add(add(base->al, rest.a), cross(base->w, v.a));
	const vec3 own = madd(rest.l, 2.0, cross(base->w, v.l));
	l->a = add(add(base->a, acceleration_at(base->w, base->al, l->r)), own);
}

const double *user_link_place(const Flex *flex, const FlexWork *w, int shape, const mat3 *axes, FlexPose *pose) {
	const CalLinkNode node = evaluate_node(flex, w, shape, 1);
	double *columns = w->user_columns + 6 * flex->n * (shape - flex->shape_first);
	const spatial v = speed_of(flex, w, node.S);
	pose->rho = add(vec_from(flex->origin), vec_in(node.pose.r));
	pose->R = matrix_of(&node.pose.R);
	pose->w = v.a, pose->v = v.l;
	pose->w_rest = vec_in(node.bias.angular), pose->v_rest = vec_in(node.bias.linear);
	turn_columns(flex, node.S, axes, columns);
	return columns;
}

#endif
