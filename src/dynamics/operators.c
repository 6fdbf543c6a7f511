// SPDX-License-Identifier: Apache-2.0
/*
 * operators.c — the spatial operators as products with vectors: gather y = A x, scatter y = A'x, their
 * articulated versions psi, the joint map H, and the innovations factors of M = L D L'.
 *
 * With E the one-step shift from each link to its parent, A = (1 - E)^-1. A joint of several freedoms is
 * worked off column by column as in articulated.c: (1 - G H) = prod (1 - K_k P_k'), and L is unit triangular
 * column by column, so that D is a diagonal.
 *   L^-1 x  is the residual eps of the inward force sweep with tau = x;  L the same sweep run backwards
 *   (x -> eps given);  the transposes are the outward sweeps.
 */
#include <calder/operators.h>
#include "dynamics/composite.h"
#include "dynamics/sweep.h"

static CalStatus check(const CalModel *model, const CalWork *work, const void *x, const void *y) {
	if (!model || !work || work->model != model || !x || !y)
		return CAL_ERR_ARGUMENT;
	if (model->flex_count > 0)
		return CAL_ERR_UNSUPPORTED;
	return work->stage & STAGE_FACTOR ? CAL_OK : CAL_ERR_STAGE;
}

/* ---- gather and scatter -------------------------------------------------------------------- */

/* (1 - K_n P_n') ... (1 - K_1 P_1') f: takes out of f what the joint's freedoms do not carry. */
static spatial project_force(const CalWork *work, const Link *link, int i, spatial f) {
	for (int k = 0; k < link->nu; ++k) {
		f = spatial_madd(f, -spatial_dot(link_column(work, link, i, k), f), work->dofs[link->u + k].K);
	}
	return f;
}

/* The transpose, on motions. */
static spatial project_motion(const CalWork *work, const Link *link, int i, spatial m) {
	for (int k = link->nu - 1; k >= 0; --k) {
		m = spatial_madd(m, -spatial_dot(work->dofs[link->u + k].K, m), link_column(work, link, i, k));
	}
	return m;
}

static void gather(const CalModel *model, const CalWork *work, int articulated, const CalSpatial *x, CalSpatial *y) {
	if (x != y)
		memcpy(y, x, sizeof *y * (size_t)model->link_count);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		if (link->parent < 0)
			continue;
		spatial f = spatial_in(y[i]);
		if (articulated)
			f = project_force(work, link, i, f);
		y[link->parent] = spatial_out(spatial_add(spatial_in(y[link->parent]), force_shift(f, work->links[i].r)));
	}
}

static void scatter(const CalModel *model, const CalWork *work, int articulated, const CalSpatial *x, CalSpatial *y) {
	if (x != y)
		memcpy(y, x, sizeof *y * (size_t)model->link_count);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (link->parent < 0)
			continue;
		spatial m = motion_shift(spatial_in(y[link->parent]), work->links[i].r);
		if (articulated)
			m = project_motion(work, link, i, m);
		y[i] = spatial_out(spatial_add(spatial_in(y[i]), m));
	}
}

CalStatus cal_operator_gather(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		gather(model, work, 0, x, y);
	return status;
}

CalStatus cal_operator_scatter(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		scatter(model, work, 0, x, y);
	return status;
}

CalStatus cal_operator_gather_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                          CalSpatial *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		gather(model, work, 1, x, y);
	return status;
}

CalStatus cal_operator_scatter_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                           CalSpatial *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		scatter(model, work, 1, x, y);
	return status;
}

/* ---- joint map ----------------------------------------------------------------------------- */

CalStatus cal_operator_joint(const CalModel *model, const CalWork *work, const CalSpatial *x, double *y) {
	const CalStatus status = check(model, work, x, y);
	for (int i = 0; status == CAL_OK && i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			y[link->u + k] = spatial_dot(link_column(work, link, i, k), spatial_in(x[i]));
		}
	}
	return status;
}

CalStatus cal_operator_joint_transpose(const CalModel *model, const CalWork *work, const double *x, CalSpatial *y) {
	const CalStatus status = check(model, work, x, y);
	for (int i = 0; status == CAL_OK && i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial sum = spatial_zero();
		for (int k = 0; k < link->nu; ++k)
			sum = spatial_madd(sum, x[link->u + k], link_column(work, link, i, k));
		y[i] = spatial_out(sum);
	}
	return status;
}

/* ---- innovations --------------------------------------------------------------------------- */

/*
 * Inward: z gathers what the joints outboard pass on, z^a = z + sum K_k e_k.
 * solve: e_k = x_k - P_k'z (y = e, the residuals);  mul: e_k = x_k given, y_k = e_k + P_k'z.
 */
static void innovations_inward(const CalModel *model, const CalWork *work, int solve, const double *x, double *y) {
	spatial *z = work->force;
	for (int i = 0; i < model->link_count; ++i)
		z[i] = spatial_zero();
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		spatial f = z[i];
		for (int k = 0; k < link->nu; ++k) {
			const int u = link->u + k;
			const double Pz = spatial_dot(link_column(work, link, i, k), f);
			const double e = solve ? x[u] - Pz : x[u];
			y[u] = solve ? e : e + Pz;
			f = spatial_madd(f, e, work->dofs[u].K);
		}
		if (link->parent >= 0)
			z[link->parent] = spatial_add(z[link->parent], force_shift(f, work->links[i].r));
	}
}

/*
 * Outward, the transposes: A gathers the joints inboard, A = X A' + sum P_k y_k.
 * solve: y_k = x_k - K_k'A;  mul: y_k = x_k + K_k'A with A built from x.
 */
static void innovations_outward(const CalModel *model, const CalWork *work, int solve, const double *x, double *y) {
	spatial *A = work->force;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial m = link->parent >= 0 ? motion_shift(A[link->parent], work->links[i].r) : spatial_zero();
		for (int k = link->nu - 1; k >= 0; --k) {
			const int u = link->u + k;
			const double KA = spatial_dot(work->dofs[u].K, m), given = x[u];
			y[u] = solve ? given - KA : given + KA;
			m = spatial_madd(m, solve ? y[u] : given, link_column(work, link, i, k));
		}
		A[i] = m;
	}
}

CalStatus cal_innovations_mul(const CalModel *model, const CalWork *work, const double *x, double *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		innovations_inward(model, work, 0, x, y);
	return status;
}

CalStatus cal_innovations_solve(const CalModel *model, const CalWork *work, const double *x, double *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		innovations_inward(model, work, 1, x, y);
	return status;
}

CalStatus cal_innovations_mul_transpose(const CalModel *model, const CalWork *work, const double *x, double *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		innovations_outward(model, work, 0, x, y);
	return status;
}

CalStatus cal_innovations_solve_transpose(const CalModel *model, const CalWork *work, const double *x, double *y) {
	const CalStatus status = check(model, work, x, y);
	if (status == CAL_OK)
		innovations_outward(model, work, 1, x, y);
	return status;
}

CalStatus cal_innovations_diagonal(const CalModel *model, const CalWork *work, double *d) {
	const CalStatus status = check(model, work, d, d);
	for (int i = 0; status == CAL_OK && i < model->nu; ++i)
		d[i] = 1.0 / work->dofs[i].d;
	return status;
}

/* ---- links --------------------------------------------------------------------------------- */

CalStatus cal_link_info(const CalModel *model, int link, int *parent, int *u, int *nu) {
	if (!model || link < 0 || link >= model->link_count || !parent || !u || !nu)
		return CAL_ERR_ARGUMENT;
	*parent = model->links[link].parent;
	*u = model->links[link].u;
	*nu = model->links[link].nu;
	return CAL_OK;
}

static void write_matrix(const Artic *a, double M[36]) {
	const double I[3][3] = {{a->I.xx, a->I.xy, a->I.xz}, {a->I.xy, a->I.yy, a->I.yz}, {a->I.xz, a->I.yz, a->I.zz}};
	const double m[3][3] = {{a->M.xx, a->M.xy, a->M.xz}, {a->M.xy, a->M.yy, a->M.yz}, {a->M.xz, a->M.yz, a->M.zz}};
	const CalMat3 H = mat_out(a->H);
	for (int r = 0; r < 3; ++r) {
		for (int c = 0; c < 3; ++c) {
			M[6 * r + c] = I[r][c];
			M[6 * r + 3 + c] = H.m[r][c];
			M[6 * (r + 3) + c] = H.m[c][r];
			M[6 * (r + 3) + 3 + c] = m[r][c];
		}
	}
}

static CalStatus check_link(const CalModel *model, const CalWork *work, int link, const double *out) {
	if (!model || link < 0 || link >= model->link_count)
		return CAL_ERR_ARGUMENT;
	return check(model, work, out, out);
}

CalStatus cal_link_inertia(const CalModel *model, const CalWork *work, int link, double M[36]) {
	const CalStatus status = check_link(model, work, link, M);
	if (status != CAL_OK)
		return status;
	const Composite c = link_inertia(&model->links[link], &work->links[link].R);
	const Artic a = artic_rigid(c.m, c.mc, c.S);
	write_matrix(&a, M);
	return CAL_OK;
}

CalStatus cal_link_composite_inertia(const CalModel *model, const CalWork *work, int link, double R[36]) {
	const CalStatus status = check_link(model, work, link, R);
	if (status != CAL_OK)
		return status;
	const Composite *c = &work->composite[link];
	const Artic a = artic_rigid(c->m, c->mc, c->S);
	write_matrix(&a, R);
	return CAL_OK;
}

CalStatus cal_link_articulated_inertia(const CalModel *model, const CalWork *work, int link, double P[36]) {
	const CalStatus status = check_link(model, work, link, P);
	if (status == CAL_OK)
		write_matrix(&work->articulated[link], P);
	return status;
}
