// SPDX-License-Identifier: Apache-2.0
/*
 * dense.c — forward dynamics by mass matrix and Cholesky, for very small systems and as the second opinion.
 *
 * The outward sweep of articulated.c has left the accelerations at udot = 0; gathering the forces they need
 * gives the bias, composite inertias give M. Rows and columns of prescribed degrees of freedom are
 * removed (their udot is already in b); then M = L L' in place and two triangular solves.
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/dense.h"

/* Forces on a flexible body's link act on its modes, through a node and through the head. */
static void gather_modes(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work, const spatial *b,
                         double *rhs) {
	const int f = link->flex_body >= 0 ? link->flex_body : link->flex;
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	for (int k = 0; k < flex->m; ++k) {
		if (link->flex >= 0)
			w->be[k] += spatial_dot(flexible_column(model, link, work, k), *b);
		if (link->flex_body >= 0)
			rhs[flex->u + k] = in->tau[flex->u + k] - w->be[k];
	}
}

void dense_gather(const CalModel *model, const SweepInput *in, CalWork *work, double *rhs) {
	for (int i = 0; i < model->link_count; ++i) {
		const FlexWork *w = model->links[i].flex_body >= 0 ? &work->flex[model->links[i].flex_body] : NULL;
		work->composite[i] = w ? w->own : link_inertia(&model->links[i], &work->links[i].R);
		const spatial b =
			w ? w->b : link_inertia_force(&work->composite[i], work->links[i].w, work->links[i].al, work->links[i].a);
		work->force[i] = in->external ? spatial_sub(b, in->external[i]) : b; // external may be this very array
	}
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		const spatial b = work->force[i];
		for (int k = 0; k < link->nu; ++k) {
			rhs[link->u + k] = in->tau[link->u + k] - spatial_dot(link_column(work, link, i, k), b);
		}
		if (link->flex >= 0 || link->flex_body >= 0)
			gather_modes(model, link, in, work, &b, rhs);
		if (link->parent < 0)
			continue;
		work->force[link->parent] = spatial_add(work->force[link->parent], force_shift(b, work->links[i].r));
	}
}

/* Removes row and column i from the lower triangle; the system stays positive definite. */
static void clear_prescribed(double *M, int n, int i) {
	for (int j = 0; j < i; ++j)
		M[i * n + j] = 0;
	for (int j = i + 1; j < n; ++j)
		M[j * n + i] = 0;
	M[i * n + i] = 1;
}

/* M = L L' in the lower triangle; the upper one is neither read nor written. Returns the first row whose pivot is not positive, or -1. */
static int cholesky(double *M, int n) {
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j <= i; ++j) {
			double s = M[i * n + j];
			for (int k = 0; k < j; ++k)
				s -= M[i * n + k] * M[j * n + k];
			if (i != j) {
				M[i * n + j] = s / M[j * n + j];
			} else if (s > SINGULAR_RATIO * M[i * n + i]) {
				M[i * n + i] = sqrt(s);
			} else {
				return i;
			}
		}
	}
	return -1;
}

static void cholesky_solve(const double *L, int n, double *x) {
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < i; ++k)
			x[i] -= L[i * n + k] * x[k];
		x[i] /= L[i * n + i];
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k)
			x[i] -= L[k * n + i] * x[k];
		x[i] /= L[i * n + i];
	}
}

/* Modal accelerations beyond the prescribed ones. */
static void keep_modal(const CalModel *model, const uint8_t *prescribed, CalWork *work, const double *udot) {
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		for (int k = 0; k < flex->m; ++k)
			work->flex[f].x[k] = prescribed && prescribed[flex->u + k] ? 0.0 : udot[flex->u + k];
	}
}

/* A of every link from udot; prescribed ones are in the bias accelerations. */
static void scatter_accelerations(const CalModel *model, const uint8_t *prescribed, CalWork *work, const double *udot) {
	work->links[-1].A = spatial_zero();
	keep_modal(model, prescribed, work, udot);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		LinkWork *l = &work->links[i];
		l->A = motion_shift(work->links[link->parent].A, l->r);
		for (int k = 0; k < link->nu; ++k) {
			if (prescribed && prescribed[link->u + k])
				continue;
			l->A = spatial_madd(l->A, udot[link->u + k], link_column(work, link, i, k));
		}
		if (link->flex >= 0)
			l->A = spatial_add(l->A, flexible_columns(model, link, work, work->flex[link->flex].x));
	}
}

/* force = M_pf udot_f + rotor udot_p - rhs on prescribed rows; the upper triangle still holds M. */
static void prescribed_forces(const CalModel *model, const SweepInput *in, CalWork *work, const double *udot,
                              double *force) {
	const int n = model->nu;
	const double *M = work->dense, *rhs = work->dense + n * n;
	memset(force, 0, sizeof(double) * (size_t)n);
	for (int i = 0; in->prescribed && i < n; ++i) {
		if (!in->prescribed[i])
			continue;
		force[i] = model->rotor[i] * udot[i] - rhs[i];
		for (int j = 0; j < n; ++j) {
			if (!in->prescribed[j])
				force[i] += (j > i ? M[i * n + j] : M[j * n + i]) * udot[j];
		}
	}
}

int dense_solve(const CalModel *model, const SweepInput *in, CalWork *work, double *udot, double *force) {
	const int n = model->nu;
	double *M = work->dense, *rhs = work->dense + n * n;
	memset(M, 0, sizeof(double) * (size_t)(n * n));
	dense_gather(model, in, work, rhs);
	composite_matrix_x1(model, MASS_DENSE, work, M);
	for (int i = 0; i < n; ++i) {
		udot[i] = rhs[i];
		if (!in->prescribed || !in->prescribed[i])
			continue;
		udot[i] = in->udot ? in->udot[i] : 0.0;
		clear_prescribed(M, n, i);
	}
	const int bad = cholesky(M, n);
	if (bad >= 0) {
		work->dofs[bad].D_inv = M[bad * n + bad] != M[bad * n + bad] ? NAN : INFINITY;
		for (int i = 0; i < n; ++i)
			udot[i] = NAN;
		return bad;
	}
	cholesky_solve(M, n, udot);
	scatter_accelerations(model, in->prescribed, work, udot);
	if (force)
		prescribed_forces(model, in, work, udot, force);
	return -1;
}
