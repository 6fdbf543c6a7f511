// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_linear.c — modes eliminated through the few forces that reach them [THEORY 4, "Linear in the number of
 * modes"].
 *
 * Modal coordinates in which the body's own modal mass is diagonal, weights w_k = 1/M_k (1, or 1/(1 + h d + h^2 k)
 * in an implicit step). The joints on the body are its ports, stacked: columns S (6n x m), inertia M^a (block
 * diagonal) and force b^a at the nodes. With g = be - tau and everything weighted by w:
 *   X~ = X - S E',  W = S S',  N = (1 + M^a W)^-1 M^a
 *   M^ = M_rr - E E' + X~'N X~,   b^ = b - E g + X~'F0,   F0 = (1 + M^a W)^-1 b^a - N S g
 *   outward   F = N X~ A + F0,   eta_ddot = -w (E'A + S'F + g)
 * All sums over modes are linear in m; the systems are of size 6n. A tip needs no system at all. The alternative
 * N = M^a - M^a S(1 + S'M^aS)^-1 S'M^a would cancel.
 */
#include "dynamics/flexible_linear.h"

#if CAL_LANES == 1

enum { MAX_ROWS = 6 * FLEX_MAX_PORTS };

typedef struct Ports {
	int n;                            // 6 times their number
	double X[MAX_ROWS][6];            // X~
	double A[MAX_ROWS][MAX_ROWS];     // 1 + M^a W
	double N[MAX_ROWS][MAX_ROWS + 1]; // right-hand sides M^a and b^a, then N and (1 + M^a W)^-1 b^a
	double W[MAX_ROWS][MAX_ROWS];     //
	double Sg[MAX_ROWS];              // S g
} Ports;

INLINE void spread(spatial s, double out[6]) {
	out[0] = s.a.x, out[1] = s.a.y, out[2] = s.a.z, out[3] = s.l.x, out[4] = s.l.y, out[5] = s.l.z;
}

static double weight(const Flex *flex, double h, int k) {
	const double d = flex->D ? flex->D[k * (flex->m + 1)] : 0.0;
	return 1.0 / (1.0 + h * d + h * h * flex->K[k * (flex->m + 1)]);
}

void linear_node(const Link *link, CalWork *work, Slot *total) {
	work->flex[link->flex].port[link->port] = *total;
	*total = (Slot){artic_zero(), spatial_zero()};
}

/* X(r) of each port, and the block rows of M^a and b^a. */
static void fill_ports(const Flex *flex, const CalWork *work, const FlexWork *w, Ports *p) {
	p->n = 6 * flex->port_count;
	for (int s = 0; s < flex->port_count; ++s) {
		const vec3 r = work->links[flex->ports[s]].r;
		const double X[6][6] = {{1, 0, 0, 0, 0, 0},      {0, 1, 0, 0, 0, 0},      {0, 0, 1, 0, 0, 0},
		                        {0, r.z, -r.y, 1, 0, 0}, {-r.z, 0, r.x, 0, 1, 0}, {r.y, -r.x, 0, 0, 0, 1}};
		memcpy(p->X[6 * s], X, sizeof X);
		for (int i = 0; i < 6; ++i) {
			memset(p->N[6 * s + i], 0, sizeof(double) * (size_t)(p->n + 1));
			memset(p->W[6 * s + i], 0, sizeof(double) * (size_t)p->n);
			p->Sg[6 * s + i] = 0;
		}
		for (int j = 0; j < 6; ++j) {
			double unit[6] = {0}, column[6];
			unit[j] = 1;
			spread(artic_mul(&w->port[s].M, (spatial){{unit[0], unit[1], unit[2]}, {unit[3], unit[4], unit[5]}}),
			       column);
			for (int i = 0; i < 6; ++i)
				p->N[6 * s + i][6 * s + j] = column[i];
		}
		double b[6];
		spread(w->port[s].b, b);
		for (int i = 0; i < 6; ++i)
			p->N[6 * s + i][p->n] = b[i];
	}
}

/* One mode: its column at all ports, into W, X~ and S g. */
INLINE void add_mode(const CalModel *model, const Flex *flex, const CalWork *work, int k, double wk, spatial E,
                     double g, Ports *p) {
	double S[MAX_ROWS], e[6];
	for (int s = 0; s < flex->port_count; ++s)
		spread(work->modal_columns[model->links[flex->ports[s]].columns + k], S + 6 * s);
	spread(E, e);
	for (int i = 0; i < p->n; ++i) {
		const double wS = wk * S[i];
		for (int j = 0; j <= i; ++j)
			p->W[i][j] += wS * S[j];
		for (int j = 0; j < 6; ++j)
			p->X[i][j] -= wS * e[j];
		p->Sg[i] += wS * g;
	}
}

/* A = 1 + M^a W, block row by block row; N still holds M^a. */
static void form_system(Ports *p) {
	for (int i = 0; i < p->n; ++i) {
		const int block = i / 6 * 6;
		for (int j = 0; j < p->n; ++j) {
			double sum = i == j;
			for (int l = block; l < block + 6; ++l)
				sum += p->N[i][l] * (l >= j ? p->W[l][j] : p->W[j][l]);
			p->A[i][j] = sum;
		}
	}
}

/* Solves A [N | n_b] = [M^a | b^a] by elimination with row pivots. Returns nonzero if A is singular. */
static int solve_system(Ports *p) {
	const int n = p->n;
	for (int k = 0; k < n; ++k) {
		int pivot = k;
		for (int i = k + 1; i < n; ++i) {
			if (fabs(p->A[i][k]) > fabs(p->A[pivot][k]))
				pivot = i;
		}
		if (!(fabs(p->A[pivot][k]) > 0))
			return 1;
		for (int j = k; j < n; ++j) {
			const double t = p->A[k][j];
			p->A[k][j] = p->A[pivot][j], p->A[pivot][j] = t;
		}
		for (int j = 0; j <= n; ++j) {
			const double t = p->N[k][j];
			p->N[k][j] = p->N[pivot][j], p->N[pivot][j] = t;
		}
		for (int i = k + 1; i < n; ++i) {
			const double f = p->A[i][k] / p->A[k][k];
			for (int j = k + 1; j < n; ++j)
				p->A[i][j] -= f * p->A[k][j];
			for (int j = 0; j <= n; ++j)
				p->N[i][j] -= f * p->N[k][j];
		}
	}
	for (int k = n - 1; k >= 0; --k) {
		for (int j = 0; j <= n; ++j) {
			double sum = p->N[k][j];
			for (int l = k + 1; l < n; ++l)
				sum -= p->A[k][l] * p->N[l][j];
			p->N[k][j] = sum / p->A[k][k];
		}
	}
	for (int i = 0; i < n; ++i) { // N is symmetric; round-off is not
		for (int j = 0; j < i; ++j)
			p->N[i][j] = p->N[j][i] = 0.5 * (p->N[i][j] + p->N[j][i]);
	}
	return 0;
}

/* X~'N X~ and X~'F0 at the body; N X~ and F0 are kept for the way out. */
static void return_to_body(const Ports *p, FlexWork *w, Slot *total) {
	double M[6][6] = {{0}}, b[6] = {0};
	for (int i = 0; i < p->n; ++i) {
		double NX[6] = {0}, F0 = p->N[i][p->n];
		for (int l = 0; l < p->n; ++l) {
			F0 -= p->N[i][l] * p->Sg[l];
			for (int j = 0; j < 6; ++j)
				NX[j] += p->N[i][l] * p->X[l][j];
		}
		w->NX[i] = (spatial){{NX[0], NX[1], NX[2]}, {NX[3], NX[4], NX[5]}};
		w->F0[i] = F0;
		for (int r = 0; r < 6; ++r) {
			b[r] += p->X[i][r] * F0;
			for (int c = 0; c <= r; ++c)
				M[r][c] += p->X[i][r] * NX[c];
		}
	}
	Artic *a = &total->M;
	a->I = sym_add(a->I, (sym3){M[0][0], M[1][1], M[2][2], M[1][0], M[2][0], M[2][1]});
	a->H.x = add(a->H.x, vec(M[3][0], M[3][1], M[3][2]));
	a->H.y = add(a->H.y, vec(M[4][0], M[4][1], M[4][2]));
	a->H.z = add(a->H.z, vec(M[5][0], M[5][1], M[5][2]));
	a->M = sym_add(a->M, (sym3){M[3][3], M[4][4], M[5][5], M[4][3], M[5][3], M[5][4]});
	total->b = spatial_add(total->b, (spatial){{b[0], b[1], b[2]}, {b[3], b[4], b[5]}});
}

int linear_eliminate(const CalModel *model, int f, const double *tau, CalWork *work, Slot *total) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const int ports = flex->port_count > 0;
	Ports p;
	p.n = 0;
	if (ports)
		fill_ports(flex, work, w, &p);
	for (int k = 0; k < flex->m; ++k) {
		const double wk = work->implicit_step != 0 ? weight(flex, work->implicit_step, k) : 1.0;
		const spatial E = w->E[k];
		w->y[k] = w->be[k] - tau[flex->u + k];
		const double wg = wk * w->y[k];
		const spatial wE = {scale(wk, E.a), scale(wk, E.l)};
		total->M = artic_sub_outer(total->M, E, wE);
		total->b = spatial_madd(total->b, -wg, E);
		if (ports)
			add_mode(model, flex, work, k, wk, E, w->y[k], &p);
	}
	if (!ports)
		return 0;
	form_system(&p);
	if (solve_system(&p))
		return 1;
	return_to_body(&p, w, total);
	return 0;
}

void linear_accelerate(const CalModel *model, int f, CalWork *work, spatial A, double *udot) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	spatial F[FLEX_MAX_PORTS];
	for (int s = 0; s < flex->port_count; ++s) {
		double v[6];
		for (int i = 0; i < 6; ++i)
			v[i] = spatial_dot(w->NX[6 * s + i], A) + w->F0[6 * s + i];
		F[s] = (spatial){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
	}
	for (int k = 0; k < flex->m; ++k) {
		double sum = w->y[k] + spatial_dot(w->E[k], A);
		for (int s = 0; s < flex->port_count; ++s)
			sum += spatial_dot(work->modal_columns[model->links[flex->ports[s]].columns + k], F[s]);
		const double wk = work->implicit_step != 0 ? weight(flex, work->implicit_step, k) : 1.0;
		w->x[k] = -wk * sum;
		udot[flex->u + k] = w->x[k];
	}
}

#endif
