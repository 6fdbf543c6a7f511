// SPDX-License-Identifier: Apache-2.0
/*
 * test_interface_join.c — two branches become one: the wrench between them, what they are to their base and the
 * acceleration between them, against the same equations solved in long double with full pivoting. Inertias and
 * compliances of any rank, also such as make the elimination without pivots fail; the same bits on every instruction
 * set.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "component/interface_kernels.h"
#include "support/check.h"
#include "support/rng.h"

enum { CASES = 4000, W = INTERFACE_WIDTH };

typedef struct Side {
	_Alignas(64) double gamma[6 * W], Lambda[6 * W], beta[W];
} Side;

typedef struct Pair {
	Side inner, outer;
	ArticulatedBody slot; // of the inner one
	double M[6][6];       // of the outer one
	double b[6];
	spatial c;
} Pair;

static double number(Rng *rng) { return rng_uniform(rng, -1, 1); }

/* A sum of `rank` squares of very different size. */
static void fill_psd(Rng *rng, int rank, double A[6][6]) {
	memset(A, 0, 36 * sizeof(double));
	for (int n = 0; n < rank; n++) {
		double v[6];
		const double size = pow(10, rng_uniform(rng, -2, 2));
		for (int i = 0; i < 6; i++)
			v[i] = number(rng);
		for (int i = 0; i < 6; i++)
			for (int j = 0; j < 6; j++)
				A[i][j] += size * v[i] * v[j];
	}
}

static ArticulatedInertia articulated_of(double M[6][6]) {
	return (ArticulatedInertia){{M[0][0], M[1][1], M[2][2], M[0][1], M[0][2], M[1][2]},
	                            {{M[0][3], M[1][3], M[2][3]}, {M[0][4], M[1][4], M[2][4]}, {M[0][5], M[1][5], M[2][5]}},
	                            {M[3][3], M[4][4], M[5][5], M[3][4], M[3][5], M[4][5]}};
}

static void fill_side(Rng *rng, Side *side) {
	double Lambda[6][6];
	*side = (Side){0};
	fill_psd(rng, rng_int(rng, 7), Lambda);
	for (int i = 0; i < 6; i++) {
		side->beta[i] = number(rng);
		for (int j = 0; j < 6; j++) {
			side->gamma[i * W + j] = number(rng);
			side->Lambda[i * W + j] = Lambda[i][j];
		}
	}
}

/* Ones such that the first pivot of 1 + M Lambda vanishes, or nearly. */
static void spoil_pivot(Rng *rng, Pair *p) {
	const int other = 1 + rng_int(rng, 5);
	const double off = rng_chance(rng, 0.5) ? 0 : 1e-12;
	memset(p->M, 0, sizeof p->M);
	memset(p->inner.Lambda, 0, sizeof p->inner.Lambda);
	p->M[0][0] = p->M[0][other] = p->M[other][0] = p->M[other][other] = 1;
	p->inner.Lambda[0] = 1 + off;
	p->inner.Lambda[other] = p->inner.Lambda[other * W] = -2;
	p->inner.Lambda[other * W + other] = 4;
}

static Pair make_pair(Rng *rng) {
	Pair p = {0};
	double own[6][6];
	fill_side(rng, &p.inner);
	fill_side(rng, &p.outer);
	fill_psd(rng, rng_int(rng, 7), p.M);
	fill_psd(rng, 6, own);
	for (int i = 0; i < 6; i++)
		p.b[i] = number(rng);
	if (rng_chance(rng, 0.2))
		spoil_pivot(rng, &p);
	p.slot = (ArticulatedBody){articulated_of(own),
	                           {{number(rng), number(rng), number(rng)}, {number(rng), number(rng), number(rng)}}};
	p.c = (spatial){{number(rng), number(rng), number(rng)}, {number(rng), number(rng), number(rng)}};
	return p;
}

/* ---- the reference -------------------------------------------------------------------------------- */

/* A x = r by full pivoting. */
static void solve_exactly(long double A[6][6], long double r[6]) {
	int order[6] = {0, 1, 2, 3, 4, 5};
	for (int j = 0; j < 6; j++) {
		int row = j, column = j;
		for (int i = j; i < 6; i++)
			for (int k = j; k < 6; k++)
				if (fabsl(A[i][k]) > fabsl(A[row][column]))
					row = i, column = k;
		for (int k = 0; k < 6; k++) {
			const long double x = A[j][k];
			A[j][k] = A[row][k], A[row][k] = x;
		}
		const long double x = r[j];
		r[j] = r[row], r[row] = x;
		for (int i = 0; i < 6; i++) {
			const long double y = A[i][j];
			A[i][j] = A[i][column], A[i][column] = y;
		}
		const int moved = order[j];
		order[j] = order[column], order[column] = moved;
		for (int i = 0; i < 6; i++) {
			const long double f = i == j ? 0 : A[i][j] / A[j][j];
			for (int k = j; k < 6 && f != 0; k++)
				A[i][k] -= f * A[j][k];
			r[i] -= f * r[j];
		}
	}
	long double x[6];
	for (int j = 0; j < 6; j++)
		x[order[j]] = r[j] / A[j][j];
	memcpy(r, x, sizeof x);
}

/* The wrench between the two for a base that accelerates by A0 and a wrench x on the outer one's cut; then that cut, the base. */
typedef struct Outcome {
	double F[6], between[6], cut[6], base[6];
} Outcome;

static Outcome expected(const Pair *p, const double A0[6], const double x[6]) {
	const double c[6] = {p->c.a.x, p->c.a.y, p->c.a.z, p->c.l.x, p->c.l.y, p->c.l.z};
	const double own[6] = {p->slot.b.a.x, p->slot.b.a.y, p->slot.b.a.z, p->slot.b.l.x, p->slot.b.l.y, p->slot.b.l.z};
	long double A[6][6], F[6], free_[6];
	for (int i = 0; i < 6; i++) {
		free_[i] = (long double)p->inner.beta[i] + c[i];
		for (int k = 0; k < 6; k++)
			free_[i] += (long double)p->inner.gamma[k * W + i] * A0[k];
	}
	for (int i = 0; i < 6; i++) {
		F[i] = p->b[i];
		for (int k = 0; k < 6; k++) {
			F[i] += p->M[i][k] * free_[k] + (long double)p->outer.gamma[i * W + k] * x[k];
			A[i][k] = i == k;
			for (int j = 0; j < 6; j++)
				A[i][k] += (long double)p->M[i][j] * p->inner.Lambda[j * W + k];
		}
	}
	solve_exactly(A, F);
	Outcome o;
	double M0[6][6];
	articulated_rows(&p->slot.M, M0);
	long double between[6];
	for (int i = 0; i < 6; i++) {
		between[i] = free_[i];
		for (int k = 0; k < 6; k++)
			between[i] -= (long double)p->inner.Lambda[i * W + k] * F[k];
	}
	for (int i = 0; i < 6; i++) {
		long double cut = p->outer.beta[i], base = own[i];
		for (int k = 0; k < 6; k++) {
			cut += (long double)p->outer.gamma[k * W + i] * between[k] - (long double)p->outer.Lambda[i * W + k] * x[k];
			base += (long double)M0[i][k] * A0[k] + (long double)p->inner.gamma[i * W + k] * F[k];
		}
		o.F[i] = (double)F[i], o.between[i] = (double)between[i], o.cut[i] = (double)cut, o.base[i] = (double)base;
	}
	return o;
}

/* ---- what is tested ---------------------------------------------------------------------------------- */

typedef struct Made {
	InterfaceJoin join;
	Side columns;
	ArticulatedBody slot;
} Made;

static Made join(const InterfaceKernels *kernels, const Pair *p, bool with_columns) {
	Made m = {.slot = p->slot};
	Pair in = *p; // the kernels take pointers to what they do not write
	const ArticulatedBody outer = {articulated_of(in.M), {{p->b[0], p->b[1], p->b[2]}, {p->b[3], p->b[4], p->b[5]}}};
	const InterfaceColumns a = {in.inner.gamma, in.inner.Lambda, in.inner.beta};
	const InterfaceColumns c = {in.outer.gamma, in.outer.Lambda, in.outer.beta};
	const InterfaceColumns out = {m.columns.gamma, m.columns.Lambda, m.columns.beta};
	kernels->join(&a, p->c, &outer, &c, &m.join, &m.slot, with_columns ? &out : NULL);
	return m;
}

static Outcome found(const InterfaceKernels *kernels, const Pair *p, const Made *m, const double A0[6],
                     const double x[INTERFACE_WIDTH]) {
	Pair in = *p;
	const InterfaceColumns a = {in.inner.gamma, in.inner.Lambda, in.inner.beta};
	double F[INTERFACE_WIDTH], M[6][6];
	const spatial base = {{A0[0], A0[1], A0[2]}, {A0[3], A0[4], A0[5]}};
	const spatial A = kernels->split(&a, &m->join, base, x, F);
	const double *b = &m->slot.b.a.x;
	Outcome o = {.between = {A.a.x, A.a.y, A.a.z, A.l.x, A.l.y, A.l.z}};
	articulated_rows(&m->slot.M, M);
	for (int i = 0; i < 6; i++) {
		o.F[i] = F[i];
		o.cut[i] = m->columns.beta[i];
		o.base[i] = b[i];
		for (int k = 0; k < 6; k++) {
			o.cut[i] += m->columns.gamma[k * W + i] * A0[k];
			o.base[i] += M[i][k] * A0[k];
			if (x) {
				o.cut[i] -= m->columns.Lambda[i * W + k] * x[k];
				o.base[i] += m->columns.gamma[i * W + k] * x[k];
			}
		}
	}
	return o;
}

static double largest(const double *x) {
	double most = 0;
	for (int i = 0; i < 6; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

static void check_near(const char *what, int n, const double *got, const double *want, double scale) {
	for (int i = 0; i < 6; i++)
		if (!(fabs(got[i] - want[i]) <= 1e-9 * scale))
			fail_msg("case %d: %s %d is %.15g, expected %.15g (of %.3g)", n, what, i, got[i], want[i], scale);
}

static void joined_branches_act_as_both_do(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	for (int n = 0; n < CASES; n++) {
		const Pair p = make_pair(&rng);
		const bool with_columns = n % 2;
		double A0[6], x[INTERFACE_WIDTH] = {0};
		for (int i = 0; i < 6; i++) {
			A0[i] = number(&rng);
			x[i] = with_columns ? number(&rng) : 0;
		}
		const Outcome want = expected(&p, A0, x);
		const double scale = 1 + largest(want.F) + largest(want.between) + largest(want.base) + largest(want.cut);
		Made first = {0};
		for (int isa = 0; isa <= (int)cpu_isa(); isa++) {
			const InterfaceKernels *kernels = interface_kernels((CpuIsa)isa);
			const Made m = join(kernels, &p, with_columns);
			const Outcome got = found(kernels, &p, &m, A0, with_columns ? x : NULL);
			check_near("wrench", n, got.F, want.F, scale);
			check_near("acceleration between them", n, got.between, want.between, scale);
			check_near("base", n, got.base, want.base, scale);
			if (with_columns)
				check_near("cut", n, got.cut, want.cut, scale);
			if (isa == 0)
				first = m;
			assert_memory_equal(&first.slot, &m.slot, sizeof m.slot);
			assert_memory_equal(&first.join.N, &m.join.N, sizeof m.join.N);
			assert_memory_equal(&first.columns, &m.columns, sizeof m.columns);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(joined_branches_act_as_both_do)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
