// SPDX-License-Identifier: Apache-2.0
/*
 * interface_join.c — two branches become one [THEORY (6.4)-(6.6)].
 *
 * The outer one needs the wrench F = M (A + c) + b on its base, which accelerates by A beyond the c that the inner one
 * has there at u' = 0; the inner one gives A = Gamma'A_0 + beta - Lambda F. Together
 *   (1 + M Lambda) F = M (Gamma'A_0 + beta + c) + b
 * Neither M nor Lambda is inverted: either may be singular. All eigenvalues of M Lambda are real and not negative.
 * Where the outer one has an interface of its own, on which x acts, Gamma_c x is added on the right: F = N A_0 + f + G
 * x, and for that interface
 *   Gamma = Gamma_a G,  Lambda = Lambda_c + Gamma_c'Lambda_a G,  beta = beta_c + Gamma_c'(beta_a + c - Lambda_a f)
 */
#include <math.h>
#include <stdbool.h>

#include "component/interface.h"
#include "math/octet.h"

#if CAL_LANES == 1

enum { W = INTERFACE_WIDTH };
static const double PIVOT_FIT = 8; // times a pivot may be what it eliminates

INLINE void store_spatial(spatial s, double *x) {
	x[0] = s.a.x, x[1] = s.a.y, x[2] = s.a.z, x[3] = s.l.x, x[4] = s.l.y, x[5] = s.l.z;
}

INLINE spatial load_spatial(const double *x) { return (spatial){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

/* A X = (B, C), C there or not: X replaces B and C. */
typedef struct Equations {
	octet A[6], B[6], C[6];
} Equations;

/* Row j eliminates a number from the rows below; whether it was fit to, by its size beside theirs. */
INLINE bool eliminate_column(Equations *e, int j, int with_c) {
	const double pivot = octet_at(e->A[j], j), d = 1.0 / pivot, limit = PIVOT_FIT * fabs(pivot);
	bool fit = limit > 0;
	e->A[j] = octet_times(d, e->A[j]);
	e->B[j] = octet_times(d, e->B[j]);
	if (with_c)
		e->C[j] = octet_times(d, e->C[j]);
#pragma GCC unroll 6
	for (int i = j + 1; i < 6; ++i) {
		const double f = octet_at(e->A[i], j);
		fit = fit && fabs(f) <= limit;
		e->A[i] = octet_msub(e->A[i], f, e->A[j]);
		e->B[i] = octet_msub(e->B[i], f, e->B[j]);
		if (with_c)
			e->C[i] = octet_msub(e->C[i], f, e->C[j]);
	}
	return fit;
}

INLINE void substitute(Equations *e, int j, int with_c) {
#pragma GCC unroll 6
	for (int i = 0; i < j; ++i) {
		const double f = octet_at(e->A[i], j);
		e->B[i] = octet_msub(e->B[i], f, e->B[j]);
		if (with_c)
			e->C[i] = octet_msub(e->C[i], f, e->C[j]);
	}
}

/* By rows as they come, all of it in registers: false, if that is not safe. */
INLINE bool solve_in_place(Equations *e, int with_c) {
	bool fit = eliminate_column(e, 0, with_c);
	fit &= eliminate_column(e, 1, with_c);
	fit &= eliminate_column(e, 2, with_c);
	fit &= eliminate_column(e, 3, with_c);
	fit &= eliminate_column(e, 4, with_c);
	fit &= eliminate_column(e, 5, with_c);
	substitute(e, 5, with_c);
	substitute(e, 4, with_c);
	substitute(e, 3, with_c);
	substitute(e, 2, with_c);
	substitute(e, 1, with_c);
	return fit;
}

/* By the largest row each time. */
static void solve_pivoted(Equations *e) {
	double a[6][OCTET];
	octet *A = e->A, *B = e->B, *C = e->C;
	for (int j = 0; j < 6; ++j) {
		for (int i = j; i < 6; ++i)
			octet_store(a[i], A[i]);
		int p = j;
		for (int i = j + 1; i < 6; ++i)
			p = fabs(a[i][j]) > fabs(a[p][j]) ? i : p;
		const double d = 1.0 / a[p][j];
		const octet row = octet_times(d, A[p]), right = octet_times(d, B[p]), further = octet_times(d, C[p]);
		a[p][j] = a[j][j];
		A[p] = A[j], B[p] = B[j], C[p] = C[j];
		A[j] = row, B[j] = right, C[j] = further;
		for (int i = j + 1; i < 6; ++i) {
			A[i] = octet_msub(A[i], a[i][j], row);
			B[i] = octet_msub(B[i], a[i][j], right);
			C[i] = octet_msub(C[i], a[i][j], further);
		}
	}
	for (int j = 5; j > 0; --j) {
		for (int i = 0; i < j; ++i) {
			octet_store(a[i], A[i]);
			B[i] = octet_msub(B[i], a[i][j], B[j]);
			C[i] = octet_msub(C[i], a[i][j], C[j]);
		}
	}
}

/* M += G N G' and b += G f; the mean of what should be symmetric. */
static void add_wrench_to_base(const double *G, const octet NG[6], ArticulatedBody *body) {
	double added[6][8];
#pragma GCC unroll 6
	for (int i = 0; i < 6; ++i) {
		octet sum = octet_zero();
#pragma GCC unroll 6
		for (int k = 0; k < 6; ++k)
			sum = octet_madd(sum, G[i * W + k], NG[k]);
		octet_store(added[i], sum);
	}
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < i; ++j)
			added[j][i] = 0.5 * (added[i][j] + added[j][i]);
	}
	ArticulatedInertia *m = &body->M;
	m->I.xx += added[0][0], m->I.yy += added[1][1], m->I.zz += added[2][2];
	m->I.xy += added[0][1], m->I.xz += added[0][2], m->I.yz += added[1][2];
	m->H.x = add(m->H.x, vec(added[0][3], added[1][3], added[2][3]));
	m->H.y = add(m->H.y, vec(added[0][4], added[1][4], added[2][4]));
	m->H.z = add(m->H.z, vec(added[0][5], added[1][5], added[2][5]));
	m->M.xx += added[3][3], m->M.yy += added[4][4], m->M.zz += added[5][5];
	m->M.xy += added[3][4], m->M.xz += added[3][5], m->M.yz += added[4][5];
	body->b = spatial_add(body->b,
	                      (spatial){{added[0][6], added[1][6], added[2][6]}, {added[3][6], added[4][6], added[5][6]}});
}

/* The columns of the outer one, seen from the base of the inner one. */
static void carry_columns(const InterfaceColumns *inner, const InterfaceColumns *outer, const octet G[6],
                          const double N[6][8], const double d[8], const InterfaceColumns *out) {
	double e[6];
	octet T[6];
	for (int k = 0; k < 6; ++k) {
		e[k] = d[k];
		T[k] = octet_zero();
#pragma GCC unroll 6
		for (int j = 0; j < 6; ++j) {
			e[k] -= inner->Lambda[k * W + j] * N[j][6];
			T[k] = octet_madd(T[k], inner->Lambda[k * W + j], G[j]);
		}
	}
	octet beta = octet_load(outer->beta);
	for (int i = 0; i < 6; ++i) {
		octet gamma = octet_zero(), Lambda = octet_load(outer->Lambda + i * W);
#pragma GCC unroll 6
		for (int k = 0; k < 6; ++k) {
			gamma = octet_madd(gamma, inner->gamma[i * W + k], G[k]);
			Lambda = octet_madd(Lambda, outer->gamma[k * W + i], T[k]);
		}
		beta = octet_madd(beta, e[i], octet_load(outer->gamma + i * W));
		octet_store(out->gamma + i * W, gamma);
		octet_store(out->Lambda + i * W, Lambda);
	}
	octet_store(out->beta, beta);
#pragma GCC unroll 6
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < i; ++j)
			out->Lambda[i * W + j] = out->Lambda[j * W + i] = 0.5 * (out->Lambda[i * W + j] + out->Lambda[j * W + i]);
	}
}

/* right: Gamma' in rows of six, then beta + c. Constants come from tables: what is put together number by number on the way
 * would have to reach the cache before it can be read as a whole. */
INLINE void set_up_equations(const InterfaceColumns *inner, double right[6][OCTET], const ArticulatedBody *outer,
                             const InterfaceColumns *outer_columns, Equations *e) {
	static const double one[7][OCTET] = {
		{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 1}};
	double M[6][6], b[6];
	articulated_rows(&outer->M, M);
	store_spatial(outer->b, b);
#pragma GCC unroll 6
	for (int i = 0; i < 6; ++i) {
		e->A[i] = octet_load(one[i]);
		e->B[i] = octet_times(b[i], octet_load(one[6]));
		e->C[i] = outer_columns ? octet_load(outer_columns->gamma + i * W) : octet_zero();
#pragma GCC unroll 6
		for (int k = 0; k < 6; ++k) {
			e->A[i] = octet_madd(e->A[i], M[i][k], octet_load(inner->Lambda + k * W));
			e->B[i] = octet_madd(e->B[i], M[i][k], octet_load(right[k]));
		}
	}
}

void LANED(interface_join)(const InterfaceColumns *inner, spatial c, const ArticulatedBody *outer,
                           const InterfaceColumns *outer_columns, InterfaceJoin *join, ArticulatedBody *body,
                           const InterfaceColumns *out) {
	double right[6][OCTET];
	store_spatial(c, join->d);
	for (int k = 0; k < 6; ++k) {
		for (int j = 0; j < 6; ++j)
			right[k][j] = inner->gamma[j * W + k];
		join->d[k] += inner->beta[k];
		right[k][6] = join->d[k];
		right[k][7] = 0;
	}
	Equations e;
	set_up_equations(inner, right, outer, out ? outer_columns : NULL, &e);
	const bool fit = out ? solve_in_place(&e, 1) : solve_in_place(&e, 0);
	if (UNLIKELY(!fit)) {
		set_up_equations(inner, right, outer, out ? outer_columns : NULL, &e);
		solve_pivoted(&e);
	}
	for (int i = 0; i < 6; ++i) {
		octet_store(join->N[i], e.B[i]);
		if (out)
			octet_store(join->G[i], e.C[i]);
	}
	add_wrench_to_base(inner->gamma, e.B, body);
	if (out)
		carry_columns(inner, outer_columns, e.C, (const double(*)[8])join->N, join->d, out);
}

spatial LANED(interface_split)(const InterfaceColumns *inner, const InterfaceJoin *join, spatial A0, const double *x,
                               double F[INTERFACE_WIDTH]) {
	double a0[6], A[6];
	store_spatial(A0, a0);
	for (int i = 0; i < 6; ++i) {
		F[i] = join->N[i][6];
		A[i] = join->d[i];
		for (int k = 0; k < 6; ++k) {
			F[i] += join->N[i][k] * a0[k];
			A[i] += inner->gamma[k * W + i] * a0[k];
		}
		for (int k = 0; x && k < 6; ++k)
			F[i] += join->G[i][k] * x[k];
	}
	F[6] = F[7] = 0;
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < 6; ++k)
			A[i] -= inner->Lambda[i * W + k] * F[k];
	}
	return load_spatial(A);
}

#endif
