// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_linear.c — modes eliminated through the few forces that reach them [THEORY 4.3, (4.12)-(4.17)].
 *
 * Modal coordinates in which the body's own modal mass is diagonal, weights w_k = 1/M_k (1/(M_k + h d + h^2 k) in an
 * implicit step). The joints on the body are its ports, stacked: columns Phi (6p x m), inertia M^a (block diagonal) and
 * force b^a at the nodes. With g = be - tau and everything weighted by w:
 *   X~ = X - Phi E',  W = Phi Phi',  N = (1 + M^a W)^-1 M^a,  a0 = -(W b^a + Phi g)
 *   M^ = M_rr - E E' + X~'N X~,   b^ = b - E g + X~'(b^a + N a0)
 *   outward   F = b^a + N (X~ A + a0),   eta_ddot = -w (E'A + Phi'F + g)
 * All sums over modes are linear in m; the rest has size 6p. M^a is positive, if singular: with M^a = L D L' and
 * G = L D,  N = G Q^-1 G',  Q = D + G'W G, where a dof with D = 0 has no part. Nothing cancels, as it would in
 * N = M^a - M^a Phi(1 + Phi'M^a Phi)^-1 Phi'M^a. With Q = L2 D2 L2' only R = L2^-1 G'X~ and r = L2^-1 G'a0 are kept, in
 * one array of rows [R r]:
 *   X~'N X~ = R'D2^-1 R,   N(X~ A + a0) = G L2'^-1 D2^-1 (R A + r)
 * A tip needs none of this.
 */
#include "dynamics/flex/flexible_linear.h"

#if CAL_LANES == 1

INLINE void spatial_to_array(spatial s, double out[6]) {
	out[0] = s.a.x, out[1] = s.a.y, out[2] = s.a.z, out[3] = s.l.x, out[4] = s.l.y, out[5] = s.l.z;
}

INLINE spatial spatial_from_array(const double v[6]) { return (spatial){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}; }

void LANED(linear_node)(const Link *link, CalWork *work, ArticulatedBody *total) {
	FlexPort *port = &work->flex[link->flex].port[link->port];
	const ArticulatedInertia *M = &total->M;
	const double A[6][8] = {{M->I.xx, M->I.xy, M->I.xz, M->H.x.x, M->H.y.x, M->H.z.x},
	                        {M->I.xy, M->I.yy, M->I.yz, M->H.x.y, M->H.y.y, M->H.z.y},
	                        {M->I.xz, M->I.yz, M->I.zz, M->H.x.z, M->H.y.z, M->H.z.z},
	                        {M->H.x.x, M->H.x.y, M->H.x.z, M->M.xx, M->M.xy, M->M.xz},
	                        {M->H.y.x, M->H.y.y, M->H.y.z, M->M.xy, M->M.yy, M->M.yz},
	                        {M->H.z.x, M->H.z.y, M->H.z.z, M->M.xz, M->M.yz, M->M.zz}};
	memcpy(port->G, A, sizeof A);
	spatial_to_array(total->b, port->b);
	*total = (ArticulatedBody){articulated_zero(), spatial_zero()};
}

/* ---- sums over modes ------------------------------------------------------------------------- */

/* 1/M_k of each mode, in an implicit step 1/(M_k + h d + h^2 k); padding keeps its zeros. */
static void fill_weights(const Flex *flex, double h, double *weight) {
	for (int k = 0; k < flex->m; ++k) {
		const int at = k * (flex->m + 1);
		const double d = flex->D ? flex->D[at] : 0.0;
		weight[k] = 1.0 / (flex->Mee[k * (flex->n + 1)] + h * d + h * h * flex->K[at]);
	}
}

/* sums[j] = sum_k row_k rows_jk for six rows. */
static void gram(const double *row, const double *rows, int n, double sums[6]) {
	pvec3 a = pvec_zero(), l = pvec_zero();
	for (int k = 0; k < n; k += PACK) {
		const pack x = pack_load(row + k);
		a = pvec_mac(a, pvec_load(rows + k, n), x);
		l = pvec_mac(l, pvec_load(rows + 3 * n + k, n), x);
	}
	spatial_to_array(pspatial_sum(a, l), sums);
}

/* out = w row, and sum w row g */
static double weighted_dot(const double *weight, const double *row, const double *g, int n, double *out) {
	pack sum = pack_zero();
	for (int k = 0; k < n; k += PACK) {
		const pack x = pack_mul(pack_load(weight + k), pack_load(row + k));
		pack_store(out + k, x);
		sum = pack_mac(sum, x, pack_load(g + k));
	}
	return pack_sum(sum);
}

INLINE const double *port_rows(const CalModel *model, const CalWork *work, const Flex *flex, int s) {
	return work->modal_columns + model->links[flex->ports[s]].columns;
}

/* W (all of it), X~ and Phi g of the ports. */
static void sum_ports(const CalModel *model, const Flex *flex, const CalWork *work, FlexWork *w, double *Phi_g) {
	const int stride = row_length(6 * flex->port_count);
	for (int s = 0; s < flex->port_count; ++s) {
		const vec3 r = work->links[flex->ports[s]].r;
		const double X[6][6] = {{1, 0, 0, 0, 0, 0},      {0, 1, 0, 0, 0, 0},      {0, 0, 1, 0, 0, 0},
		                        {0, r.z, -r.y, 1, 0, 0}, {-r.z, 0, r.x, 0, 1, 0}, {r.y, -r.x, 0, 0, 0, 1}};
		for (int i = 0; i < 6; ++i) {
			const int row = 6 * s + i;
			double sums[6];
			Phi_g[row] =
				weighted_dot(w->weight, port_rows(model, work, flex, s) + i * flex->n, w->y, flex->n, w->scratch);
			for (int t = 0; t < flex->port_count; ++t)
				gram(w->scratch, port_rows(model, work, flex, t), flex->n, w->W + row * stride + 6 * t);
			gram(w->scratch, w->E, flex->n, sums);
			for (int j = 0; j < 6; ++j)
				w->X[8 * row + j] = X[i][j] - sums[j];
		}
	}
}

/* M_rr - E E' and b - E g. */
static void subtract_modes(const Flex *flex, FlexWork *w, ArticulatedBody *total) {
	double G[6][6], g[6];
	for (int i = 0; i < 6; ++i) {
		g[i] = weighted_dot(w->weight, w->E + i * flex->n, w->y, flex->n, w->scratch);
		gram(w->scratch, w->E, flex->n, G[i]);
	}
	ArticulatedInertia *a = &total->M;
	a->I = sym_add(a->I, (sym3){-G[0][0], -G[1][1], -G[2][2], -G[1][0], -G[2][0], -G[2][1]});
	a->H.x = sub(a->H.x, vec(G[3][0], G[3][1], G[3][2]));
	a->H.y = sub(a->H.y, vec(G[4][0], G[4][1], G[4][2]));
	a->H.z = sub(a->H.z, vec(G[5][0], G[5][1], G[5][2]));
	a->M = sym_add(a->M, (sym3){-G[3][3], -G[4][4], -G[5][5], -G[4][3], -G[5][3], -G[5][4]});
	total->b = spatial_sub(total->b, spatial_from_array(g));
}

/* ---- the system of the ports ------------------------------------------------------------------ */

/* Eight numbers in a row: six and two that nobody reads, or six and one more. */
typedef struct Eight {
	pack lo, hi;
} Eight;

INLINE Eight eight_load(const double *x) { return (Eight){pack_load(x), pack_load(x + PACK)}; }
INLINE void eight_store(double *x, Eight v) {
	pack_store(x, v.lo);
	pack_store(x + PACK, v.hi);
}
INLINE Eight eight_times(double s, Eight v) { return (Eight){pack_times(s, v.lo), pack_times(s, v.hi)}; }
INLINE Eight eight_madd(Eight a, double s, Eight v) {
	return (Eight){pack_madd(a.lo, s, v.lo), pack_madd(a.hi, s, v.hi)};
}

/*
 * M^a = L D L' of one port, in place: row j becomes that of G' = D L', from the diagonal on. A dof without inertia
 * gets a row of zeros: the joint outboard of the port leaves one for each of its own.
 */
INLINE void factor_port(double G[6][8]) {
	double diagonal[6];
	for (int j = 0; j < 6; ++j)
		diagonal[j] = G[j][j];
#pragma GCC unroll 6
	for (int j = 0; j < 6; ++j) {
		const int dead = !(G[j][j] > SINGULAR_RATIO * diagonal[j]);
		const double inverse = dead ? 0.0 : 1.0 / G[j][j];
		const Eight row = eight_times(dead ? 0.0 : 1.0, eight_load(G[j]));
		eight_store(G[j], row);
#pragma GCC unroll 6
		for (int i = j + 1; i < 6; ++i)
			eight_store(G[i], eight_madd(eight_load(G[i]), -inverse * G[j][i], row));
#pragma GCC unroll 6
		for (int k = 0; k < j; ++k)
			G[j][k] = 0;
	}
}

/* out = G'x for rows of eight. */
INLINE void port_transposed(double G[6][8], double x[6][8], double out[6][8]) {
#pragma GCC unroll 6
	for (int j = 0; j < 6; ++j) {
		Eight sum = eight_times(G[j][j], eight_load(x[j]));
#pragma GCC unroll 6
		for (int i = j + 1; i < 6; ++i)
			sum = eight_madd(sum, G[j][i], eight_load(x[i]));
		eight_store(out[j], sum);
	}
}

/* Q = D + G'W G: block (s, t) is G_s'W_st G_t. */
INLINE void form_block(FlexPort *port, int s, int t, int stride, const double *W, double *Q) {
	double T[6][8], out[6][8];
	for (int i = 0; i < 6; ++i) { // (G_t'W_ts)' row by row: W is symmetric
		const double *row = W + (6 * t + i) * stride + 6 * s;
		for (int j = 0; j < 6; ++j)
			T[i][j] = row[j];
		T[i][6] = T[i][7] = 0;
	}
	port_transposed(port[t].G, T, out); // G_t'W_ts
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < 6; ++j)
			T[i][j] = out[j][i];
	}
	port_transposed(port[s].G, T, out);
	for (int i = 0; i < 6; ++i) {
		memcpy(Q + (6 * s + i) * stride + 6 * t, out[i], 6 * sizeof(double));
		if (s == t)
			Q[(6 * s + i) * (stride + 1)] += port[s].G[i][i] > 0 ? port[s].G[i][i] : 1.0;
	}
}

/* Q = L2 D2 L2' in place: rows become those of L2', 1/D2 on the diagonal. Then R = L2^-1 R, r the seventh in its rows. */
INLINE int factor_system(int size, int stride, double *Q, double *R) {
	for (int j = 0; j < size; ++j) {
		double *row = Q + j * stride;
		if (!(row[j] > 0))
			return 1;
		const double inverse = 1.0 / row[j];
		const Eight Rj = eight_load(R + 8 * j);
		for (int i = j + 1; i < size; ++i) {
			const double l = row[i] * inverse;
			for (int k = (j + 1) / PACK * PACK; k < stride; k += PACK)
				pack_store(Q + i * stride + k, pack_msub(pack_load(Q + i * stride + k), l, pack_load(row + k)));
			eight_store(R + 8 * i, eight_madd(eight_load(R + 8 * i), -l, Rj));
		}
		for (int k = j / PACK * PACK; k < stride; k += PACK)
			pack_store(row + k, pack_times(inverse, pack_load(row + k)));
		row[j] = inverse;
	}
	return 0;
}

/* M^ += R'D2^-1 R and b^ += X~'b^a + R'D2^-1 r. */
static void add_ports_to_body(int size, int stride, const FlexWork *w, ArticulatedBody *total) {
	ArticulatedInertia M = total->M;
	spatial b = total->b;
	for (int i = 0; i < size; ++i) {
		const spatial R = spatial_from_array(w->R + 8 * i);
		const double minus = -w->Q[i * (stride + 1)];
		M = articulated_sub_outer(M, R, (spatial){scale(minus, R.a), scale(minus, R.l)});
		b = spatial_madd(b, -minus * w->R[8 * i + 6], R);
		b = spatial_madd(b, w->port[i / 6].b[i % 6], spatial_from_array(w->X + 8 * i));
	}
	*total = (ArticulatedBody){M, b};
}

/* The seventh column of X~: a0 = -(W b^a + Phi g). */
INLINE void free_acceleration(int size, int stride, const double *Phi_g, FlexWork *w) {
	for (int i = 0; i < size; ++i) {
		double sum = Phi_g[i];
		for (int j = 0; j < size; ++j)
			sum += w->W[i * stride + j] * w->port[j / 6].b[j % 6];
		w->X[8 * i + 6] = -sum;
	}
}

/* Everything at the ports; size and stride are constants where there is one. */
INLINE int eliminate_ports(const CalModel *model, const Flex *flex, const CalWork *work, int ports, FlexWork *w) {
	const int size = 6 * ports, stride = row_length(size);
	double Phi_g[6 * FLEX_MAX_PORTS] = {0};
	sum_ports(model, flex, work, w, Phi_g);
	free_acceleration(size, stride, Phi_g, w);
	for (int s = 0; s < ports; ++s)
		factor_port(w->port[s].G);
	for (int s = 0; s < ports; ++s) {
		for (int t = 0; t < ports; ++t)
			form_block(w->port, s, t, stride, w->W, w->Q);
		port_transposed(w->port[s].G, (double(*)[8])(w->X + 48 * s), (double(*)[8])(w->R + 48 * s));
	}
	return factor_system(size, stride, w->Q, w->R);
}

int LANED(linear_eliminate)(const CalModel *model, int f, const double *tau, CalWork *work, ArticulatedBody *total) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const int size = 6 * flex->port_count;
	fill_weights(flex, work->implicit_step, w->weight);
	for (int k = 0; k < flex->m; ++k)
		w->y[k] = w->be[k] - tau[flex->u + k];
	subtract_modes(flex, w, total);
	if (size == 0)
		return 0;
	const int singular = flex->port_count == 1 ? eliminate_ports(model, flex, work, 1, w)
	                                           : eliminate_ports(model, flex, work, flex->port_count, w);
	if (singular)
		return 1;
	add_ports_to_body(size, row_length(size), w, total);
	return 0;
}

/* ---- outward ------------------------------------------------------------------------------------ */

/* Forces at the ports: F = b^a + G L2'^-1 D2^-1 (R A + r). */
static void port_forces(int ports, const FlexWork *w, spatial A, spatial *F) {
	const int size = 6 * ports, stride = row_length(size);
	double z[6 * FLEX_MAX_PORTS] = {0};
	for (int i = size - 1; i >= 0; --i) {
		const double *R = w->R + 8 * i, *row = w->Q + i * stride;
		z[i] = row[i] * (spatial_dot(spatial_from_array(R), A) + R[6]);
		for (int j = i + 1; j < size; ++j)
			z[i] -= row[j] * z[j];
	}
	for (int s = 0; s < ports; ++s) {
		double f[8];
		Eight sum = eight_load(w->port[s].b);
		for (int j = 0; j < 6; ++j)
			sum = eight_madd(sum, z[6 * s + j], eight_load(w->port[s].G[j]));
		eight_store(f, sum);
		F[s] = spatial_from_array(f);
	}
}

void LANED(linear_accelerate)(const CalModel *model, int f, CalWork *work, spatial A, double *udot) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const int n = flex->n;
	spatial F[FLEX_MAX_PORTS];
	port_forces(flex->port_count, w, A, F);
	for (int k = 0; k < n; k += PACK) {
		pack sum = pack_add(pack_load(w->y + k), pspatial_dot(A, pspatial_load(w->E + k, n)));
		for (int s = 0; s < flex->port_count; ++s)
			sum = pack_add(sum, pspatial_dot(F[s], pspatial_load(port_rows(model, work, flex, s) + k, n)));
		pack_store(w->x + k, pack_sub(pack_zero(), pack_mul(pack_load(w->weight + k), sum)));
	}
	memcpy(udot + flex->u, w->x, sizeof(double) * (size_t)flex->m);
}

#endif
