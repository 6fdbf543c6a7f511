// SPDX-License-Identifier: Apache-2.0
/*
 * join.c — two branches become one [THEORY 6].
 *
 * The outer one needs the wrench F = M (A + c) + b on its base, which accelerates by A beyond the c that the inner one has
 * there at u' = 0; the inner one gives A = Gamma'A_0 + beta - Phi F. Together
 *   (1 + M Phi) F = M (Gamma'A_0 + beta) + b + M c
 * Neither M nor Phi is inverted: either may be singular. All eigenvalues of M Phi are real and not negative.
 */
#include <math.h>

#include "branch/branch.h"

enum { W = BORDER_CUT, RIGHT = 8 };

static void unpack(const Artic *m, double M[6][8]) {
	const double all[6][6] = {{m->I.xx, m->I.xy, m->I.xz, m->H.x.x, m->H.y.x, m->H.z.x},
	                          {m->I.xy, m->I.yy, m->I.yz, m->H.x.y, m->H.y.y, m->H.z.y},
	                          {m->I.xz, m->I.yz, m->I.zz, m->H.x.z, m->H.y.z, m->H.z.z},
	                          {m->H.x.x, m->H.x.y, m->H.x.z, m->M.xx, m->M.xy, m->M.xz},
	                          {m->H.y.x, m->H.y.y, m->H.y.z, m->M.xy, m->M.yy, m->M.yz},
	                          {m->H.z.x, m->H.z.y, m->H.z.z, m->M.xz, m->M.yz, m->M.zz}};
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < 6; ++j)
			M[i][j] = all[i][j];
		M[i][6] = M[i][7] = 0;
	}
}

static void put(spatial s, double *x) {
	x[0] = s.a.x, x[1] = s.a.y, x[2] = s.a.z, x[3] = s.l.x, x[4] = s.l.y, x[5] = s.l.z;
}

static spatial get(const double *x) { return (spatial){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

/* A X = B by Gauss and Jordan with pivots from rows; X replaces B. */
static void solve(double A[6][8], double B[6][RIGHT]) {
	for (int j = 0; j < 6; ++j) {
		int p = j;
		for (int i = j + 1; i < 6; ++i)
			p = fabs(A[i][j]) > fabs(A[p][j]) ? i : p;
		for (int k = 0; k < 8 && p != j; ++k) {
			const double a = A[j][k], b = B[j][k];
			A[j][k] = A[p][k], A[p][k] = a;
			B[j][k] = B[p][k], B[p][k] = b;
		}
		const double d = 1.0 / A[j][j];
		for (int k = 0; k < 8; ++k)
			A[j][k] *= d, B[j][k] *= d;
		for (int i = 0; i < 6; ++i) {
			const double f = A[i][j];
			if (i == j)
				continue;
			for (int k = 0; k < 8; ++k)
				A[i][k] -= f * A[j][k], B[i][k] -= f * B[j][k];
		}
	}
}

/* M += G N G' and b += G f, the symmetric part of it. */
static void bring(const double G[6][8], const double NG[6][8], const double f[8], Slot *slot) {
	double S[6][8] = {{0}}, b[6] = {0};
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < 6; ++k) {
			for (int j = 0; j < 8; ++j)
				S[i][j] += G[i][k] * NG[k][j];
			b[i] += G[i][k] * f[k];
		}
	}
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < i; ++j)
			S[j][i] = 0.5 * (S[i][j] + S[j][i]);
	}
	Artic *m = &slot->M;
	m->I.xx += S[0][0], m->I.yy += S[1][1], m->I.zz += S[2][2];
	m->I.xy += S[0][1], m->I.xz += S[0][2], m->I.yz += S[1][2];
	m->H.x = add(m->H.x, vec(S[0][3], S[1][3], S[2][3]));
	m->H.y = add(m->H.y, vec(S[0][4], S[1][4], S[2][4]));
	m->H.z = add(m->H.z, vec(S[0][5], S[1][5], S[2][5]));
	m->M.xx += S[3][3], m->M.yy += S[4][4], m->M.zz += S[5][5];
	m->M.xy += S[3][4], m->M.xz += S[3][5], m->M.yz += S[4][5];
	slot->b = spatial_add(slot->b, get(b));
}

void branch_join(Branch *branch, const Branch *child) {
	const double(*Gamma)[W] = (const double(*)[W])(const void *)branch->border.gamma;
	const double(*Phi)[W] = (const double(*)[W])(const void *)branch->border.Phi;
	const LinkWork *seat = &branch->work->links[child->seat_link];
	Joint6 *join = &branch->join;
	const dvec3 g = branch->model.gravity;
	const spatial c = {seat->al, vec(seat->a.x + g.x, seat->a.y + g.y, seat->a.z + g.z)};
	double M[6][8], A[6][8], beta[8];
	unpack(&child->burden->slot.M, M);
	put(c, join->c);
	for (int k = 0; k < 6; ++k)
		beta[k] = branch->border.beta[k] + join->c[k];
	double b[6];
	put(child->burden->slot.b, b);
	for (int i = 0; i < 6; ++i) {
		double sum = b[i];
		for (int j = 0; j < 8; ++j) {
			A[i][j] = i == j ? 1 : 0;
			join->NG[i][j] = 0;
		}
		for (int k = 0; k < 6; ++k) {
			for (int j = 0; j < 8; ++j)
				A[i][j] += M[i][k] * Phi[k][j];
			for (int j = 0; j < 6; ++j)
				join->NG[i][j] += M[i][k] * Gamma[j][k];
			sum += M[i][k] * beta[k];
		}
		join->NG[i][6] = sum;
	}
	solve(A, join->NG);
	for (int i = 0; i < 6; ++i) {
		join->f[i] = join->NG[i][6];
		join->NG[i][6] = 0;
	}
	bring(Gamma, (const double(*)[8])join->NG, join->f, &branch->burden->slot);
}

spatial branch_part(const Branch *branch, double x[BORDER_CUT]) {
	const double(*Gamma)[W] = (const double(*)[W])(const void *)branch->border.gamma;
	const double(*Phi)[W] = (const double(*)[W])(const void *)branch->border.Phi;
	const Joint6 *join = &branch->join;
	double A0[6], A[6];
	put(branch->base.A, A0);
	for (int i = 0; i < 6; ++i) {
		x[i] = join->f[i];
		A[i] = branch->border.beta[i] + join->c[i];
		for (int k = 0; k < 6; ++k) {
			x[i] += join->NG[i][k] * A0[k];
			A[i] += Gamma[k][i] * A0[k];
		}
	}
	x[6] = x[7] = 0;
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < 6; ++k)
			A[i] -= Phi[i][k] * x[k];
	}
	return get(A);
}
