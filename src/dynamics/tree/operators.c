// SPDX-License-Identifier: Apache-2.0
/*
 * operators.c — the spatial operators as products with vectors: gather y = A x, scatter y = A'x, their
 * articulated versions psi, the joint map H, and the innovations factors of M = L D L'.
 *
 * With E the one-step shift from each link to its parent, A = (1 - E)^-1. A joint of several dofs is
 * worked off column by column as in articulated.c: (1 - G H) = prod (1 - K_k S_k'), and L is unit triangular
 * column by column, so that D is a diagonal.
 *   L^-1 x  is the residual eps of the inward force sweep with tau = x;  L the same sweep run backwards
 *   (x -> eps given);  the transposes are the outward sweeps.
 * The modes of a flexible body are one stage more between its links, as flexible.c eliminates them: forces on the FLEX
 * and NODE links make up the modal force Phi'f; with M_ee = L_ee D L_ee', the residual is e = L_ee^-1 (x - Phi'f), and
 * K e is left on the link that carries the head.
 */
#include <calder/operators.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/sweep.h"

static CalStatus check_arguments(const CalModel *model, const CalWork *work, const void *x, const void *y) {
	if (!model || !work || work->model != model || !x || !y)
		return CAL_ERR_ARGUMENT;
	return work->stage & STAGE_FACTOR ? CAL_OK : CAL_ERR_STAGE;
}

/* ---- modes --------------------------------------------------------------------------------- */

static void clear_modal_forces(const CalModel *model, const CalWork *work) {
	for (int f = 0; f < model->flex_count; ++f)
		memset(work->flex[f].be, 0, sizeof(double) * (size_t)model->flexes[f].m);
}

/* be += Phi'f for a force on a FLEX or NODE link. */
static void add_modal_force(const CalModel *model, const CalWork *work, const Link *link, spatial f) {
	const FlexWork *w = &work->flex[link->flex];
	for (int k = 0; k < model->flexes[link->flex].m; ++k)
		w->be[k] += spatial_dot(flexible_column(model, link, work, k), f);
}

/* Phi x: motion of a FLEX or NODE link by modal speeds. */
static spatial modal_motion(const CalModel *model, const CalWork *work, const Link *link, const double *x) {
	spatial sum = spatial_zero();
	for (int k = 0; k < model->flexes[link->flex].m; ++k)
		sum = spatial_madd(sum, x[k], flexible_column(model, link, work, k));
	return sum;
}

/* f + s K e */
static spatial add_gains(const Flex *flex, const FlexWork *w, spatial f, double s, const double *e) {
	for (int k = 0; k < flex->m; ++k)
		f = spatial_madd(f, s * e[k], rows_mode(w->K, flex->n, k));
	return f;
}

/* In place: L_ee x, L_ee^-1 x and the transposes. Column j of L_ee is in row j, from mode j + 1 on. */
static void modal_mul(const Flex *flex, const FlexWork *w, double *x) {
	for (int k = flex->m - 1; k > 0; --k) {
		for (int j = 0; j < k; ++j)
			x[k] += w->M[j * flex->n + k] * x[j];
	}
}

static void modal_solve(const Flex *flex, const FlexWork *w, double *x) {
	for (int k = 1; k < flex->m; ++k) {
		for (int j = 0; j < k; ++j)
			x[k] -= w->M[j * flex->n + k] * x[j];
	}
}

static void modal_mul_transpose(const Flex *flex, const FlexWork *w, double *x) {
	for (int j = 0; j < flex->m; ++j) {
		for (int k = j + 1; k < flex->m; ++k)
			x[j] += w->M[j * flex->n + k] * x[k];
	}
}

static void modal_solve_transpose(const Flex *flex, const FlexWork *w, double *x) {
	for (int j = flex->m - 2; j >= 0; --j) {
		for (int k = j + 1; k < flex->m; ++k)
			x[j] -= w->M[j * flex->n + k] * x[k];
	}
}

/* ---- gather and scatter -------------------------------------------------------------------- */

/* (1 - K_n S_n') ... (1 - K_1 S_1') f: takes out of f what the joint's dofs do not carry. */
static spatial project_force(const CalWork *work, const Link *link, int i, spatial f) {
	for (int k = 0; k < link->nu; ++k) {
		f = spatial_madd(f, -spatial_dot(link_column(work, link, i, k), f), work->dofs[link->u + k].gain);
	}
	return f;
}

/* The transpose, on motions. */
static spatial project_motion(const CalWork *work, const Link *link, int i, spatial m) {
	for (int k = link->nu - 1; k >= 0; --k) {
		m = spatial_madd(m, -spatial_dot(work->dofs[link->u + k].gain, m), link_column(work, link, i, k));
	}
	return m;
}

/* f - K L_ee^-1 be: takes out of f, on the link of a flexible body's head, what the modes do not carry. */
static spatial project_modal_force(const CalModel *model, const CalWork *work, int index, spatial f) {
	const Flex *flex = &model->flexes[index];
	const FlexWork *w = &work->flex[index];
	memcpy(w->y, w->be, sizeof(double) * (size_t)flex->m);
	modal_solve(flex, w, w->y);
	return add_gains(flex, w, f, -1.0, w->y);
}

/* The transpose: modal speeds y = -L_ee^-T K'm, of the modes under the motion m of that link. */
static void modal_response(const CalModel *model, const CalWork *work, int index, spatial m) {
	const Flex *flex = &model->flexes[index];
	const FlexWork *w = &work->flex[index];
	for (int k = 0; k < flex->m; ++k)
		w->y[k] = -spatial_dot(rows_mode(w->K, flex->n, k), m);
	modal_solve_transpose(flex, w, w->y);
}

/* y = x, the same array or another. */
static CalStatus begin_with(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y) {
	const CalStatus status = check_arguments(model, work, x, y);
	if (status == CAL_OK && x != y)
		memcpy(y, x, sizeof *y * (size_t)model->link_count);
	return status;
}

static CalStatus gather_wrenches(const CalModel *model, const CalWork *work, int articulated, const CalSpatial *x,
                                 CalSpatial *y) {
	const CalStatus status = begin_with(model, work, x, y);
	if (status != CAL_OK)
		return status;
	if (articulated)
		clear_modal_forces(model, work);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		spatial f = spatial_in(y[i]);
		if (articulated && link->flex >= 0)
			add_modal_force(model, work, link, f);
		if (articulated && link->flex_body >= 0) {
			f = project_modal_force(model, work, link->flex_body, f);
			if (link->motion != PRIMITIVE_FLEX) // the head is on this link: so is what its modes leave
				y[i] = spatial_out(f);
		}
		if (link->parent < 0)
			continue;
		if (articulated)
			f = project_force(work, link, i, f);
		y[link->parent] = spatial_out(spatial_add(spatial_in(y[link->parent]), force_shift(f, work->links[i].r)));
	}
	return CAL_OK;
}

/* Motion of a link, at its own origin, under the motion m of its parent, if the dofs between them move freely. */
static spatial articulated_motion(const CalModel *model, const CalWork *work, const Link *link, int i, spatial m) {
	if (link->motion == PRIMITIVE_FLEX)
		modal_response(model, work, link->flex_body, m);
	if (link->flex >= 0)
		return spatial_add(m, modal_motion(model, work, link, work->flex[link->flex].y));
	return project_motion(work, link, i, m);
}

static CalStatus scatter_motions(const CalModel *model, const CalWork *work, int articulated, const CalSpatial *x,
                                 CalSpatial *y) {
	const CalStatus status = begin_with(model, work, x, y);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial m = link->parent >= 0 ? motion_shift(spatial_in(y[link->parent]), work->links[i].r) : spatial_zero();
		if (articulated)
			m = articulated_motion(model, work, link, i, m);
		if (link->parent >= 0)
			y[i] = spatial_out(spatial_add(spatial_in(y[i]), m));
		if (articulated && link->flex_body >= 0 && link->motion != PRIMITIVE_FLEX)
			modal_response(model, work, link->flex_body, spatial_in(y[i]));
	}
	return CAL_OK;
}

CalStatus cal_operator_gather(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y) {
	return gather_wrenches(model, work, 0, x, y);
}

CalStatus cal_operator_scatter(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y) {
	return scatter_motions(model, work, 0, x, y);
}

CalStatus cal_operator_gather_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                          CalSpatial *y) {
	return gather_wrenches(model, work, 1, x, y);
}

CalStatus cal_operator_scatter_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                           CalSpatial *y) {
	return scatter_motions(model, work, 1, x, y);
}

/* ---- joint map ----------------------------------------------------------------------------- */

CalStatus cal_operator_joint(const CalModel *model, const CalWork *work, const CalSpatial *x, double *y) {
	const CalStatus status = check_arguments(model, work, x, y);
	if (status != CAL_OK)
		return status;
	clear_modal_forces(model, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			y[link->u + k] = spatial_dot(link_column(work, link, i, k), spatial_in(x[i]));
		}
		if (link->flex >= 0)
			add_modal_force(model, work, link, spatial_in(x[i]));
	}
	for (int f = 0; f < model->flex_count; ++f)
		memcpy(y + model->flexes[f].u, work->flex[f].be, sizeof(double) * (size_t)model->flexes[f].m);
	return CAL_OK;
}

CalStatus cal_operator_joint_transpose(const CalModel *model, const CalWork *work, const double *x, CalSpatial *y) {
	const CalStatus status = check_arguments(model, work, x, y);
	for (int i = 0; status == CAL_OK && i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial sum = spatial_zero();
		for (int k = 0; k < link->nu; ++k)
			sum = spatial_madd(sum, x[link->u + k], link_column(work, link, i, k));
		if (link->flex >= 0)
			sum = modal_motion(model, work, link, x + model->flexes[link->flex].u);
		y[i] = spatial_out(sum);
	}
	return status;
}

/* ---- innovations --------------------------------------------------------------------------- */

/* The modes of one body, f on the link that carries its head. solve and mul as below. Returns f + K e. */
static spatial innovations_modes_inward(const CalModel *model, const CalWork *work, int index, int solve,
                                        const double *x, double *y, spatial f) {
	const Flex *flex = &model->flexes[index];
	const FlexWork *w = &work->flex[index];
	double *e = w->y;
	for (int k = 0; k < flex->m; ++k)
		e[k] = solve ? x[flex->u + k] - w->be[k] : x[flex->u + k];
	if (solve)
		modal_solve(flex, w, e);
	f = add_gains(flex, w, f, 1.0, e);
	if (!solve)
		modal_mul(flex, w, e);
	for (int k = 0; k < flex->m; ++k)
		y[flex->u + k] = solve ? e[k] : e[k] + w->be[k];
	return f;
}

/*
 * Inward: z gathers what the dofs outboard pass on, z^a = z + sum K_k e_k.
 * solve: e_k = x_k - S_k'z (y = e, the residuals);  mul: e_k = x_k given, y_k = e_k + S_k'z.
 */
static CalStatus innovations_inward(const CalModel *model, const CalWork *work, int solve, const double *x, double *y) {
	const CalStatus status = check_arguments(model, work, x, y);
	if (status != CAL_OK)
		return status;
	spatial *z = work->force;
	for (int i = 0; i < model->link_count; ++i)
		z[i] = spatial_zero();
	clear_modal_forces(model, work);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		spatial f = z[i];
		if (link->flex >= 0)
			add_modal_force(model, work, link, f);
		if (link->flex_body >= 0)
			f = innovations_modes_inward(model, work, link->flex_body, solve, x, y, f);
		for (int k = 0; k < link->nu; ++k) {
			const int u = link->u + k;
			const double Pz = spatial_dot(link_column(work, link, i, k), f);
			const double e = solve ? x[u] - Pz : x[u];
			y[u] = solve ? e : e + Pz;
			f = spatial_madd(f, e, work->dofs[u].gain);
		}
		if (link->parent >= 0)
			z[link->parent] = spatial_add(z[link->parent], force_shift(f, work->links[i].r));
	}
	return CAL_OK;
}

/* The modes of one body, m the motion of the link that carries its head; leaves the speeds that move on in w->y. */
static void innovations_modes_outward(const CalModel *model, const CalWork *work, int index, int solve, const double *x,
                                      double *y, spatial m) {
	const Flex *flex = &model->flexes[index];
	const FlexWork *w = &work->flex[index];
	double *v = w->y, *out = w->be;
	memcpy(v, x + flex->u, sizeof(double) * (size_t)flex->m);
	memcpy(out, v, sizeof(double) * (size_t)flex->m);
	if (!solve)
		modal_mul_transpose(flex, w, out);
	for (int k = 0; k < flex->m; ++k) {
		const double KA = spatial_dot(rows_mode(w->K, flex->n, k), m);
		out[k] = solve ? out[k] - KA : out[k] + KA;
	}
	if (solve) {
		modal_solve_transpose(flex, w, out);
		memcpy(v, out, sizeof(double) * (size_t)flex->m);
	}
	memcpy(y + flex->u, out, sizeof(double) * (size_t)flex->m);
}

/*
 * Outward, the transposes: A gathers the dofs inboard, A = X A' + sum S_k y_k.
 * solve: y_k = x_k - K_k'A;  mul: y_k = x_k + K_k'A with A built from x.
 */
static CalStatus innovations_outward(const CalModel *model, const CalWork *work, int solve, const double *x,
                                     double *y) {
	const CalStatus status = check_arguments(model, work, x, y);
	if (status != CAL_OK)
		return status;
	spatial *A = work->force;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial m = link->parent >= 0 ? motion_shift(A[link->parent], work->links[i].r) : spatial_zero();
		for (int k = link->nu - 1; k >= 0; --k) {
			const int u = link->u + k;
			const double KA = spatial_dot(work->dofs[u].gain, m), given = x[u];
			y[u] = solve ? given - KA : given + KA;
			m = spatial_madd(m, solve ? y[u] : given, link_column(work, link, i, k));
		}
		if (link->flex_body >= 0)
			innovations_modes_outward(model, work, link->flex_body, solve, x, y, m);
		if (link->flex >= 0)
			m = spatial_add(m, modal_motion(model, work, link, work->flex[link->flex].y));
		A[i] = m;
	}
	return CAL_OK;
}

CalStatus cal_innovations_mul(const CalModel *model, const CalWork *work, const double *x, double *y) {
	return innovations_inward(model, work, 0, x, y);
}

CalStatus cal_innovations_solve(const CalModel *model, const CalWork *work, const double *x, double *y) {
	return innovations_inward(model, work, 1, x, y);
}

CalStatus cal_innovations_mul_transpose(const CalModel *model, const CalWork *work, const double *x, double *y) {
	return innovations_outward(model, work, 0, x, y);
}

CalStatus cal_innovations_solve_transpose(const CalModel *model, const CalWork *work, const double *x, double *y) {
	return innovations_outward(model, work, 1, x, y);
}

CalStatus cal_innovations_diagonal(const CalModel *model, const CalWork *work, double *d) {
	const CalStatus status = check_arguments(model, work, d, d);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < model->link_count; ++i) {
		for (int u = model->links[i].u; u < model->links[i].u + model->links[i].nu; ++u)
			d[u] = 1.0 / work->dofs[u].D_inv;
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			d[model->flexes[f].u + k] = 1.0 / work->flex[f].inverse[k];
	}
	return CAL_OK;
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

static void write_matrix(const ArticulatedInertia *a, double M[36]) {
	double rows[6][6];
	articulated_rows(a, rows);
	memcpy(M, rows, sizeof rows);
}

static CalStatus check_link(const CalModel *model, const CalWork *work, int link, const double *out) {
	if (!model || link < 0 || link >= model->link_count)
		return CAL_ERR_ARGUMENT;
	return check_arguments(model, work, out, out);
}

/* Inertia of what link i itself carries, about its origin. */
static ArticulatedInertia own_inertia(const CalModel *model, const CalWork *work, int i) {
	const Link *link = &model->links[i];
	const Composite c = link->flex_body >= 0 ? work->flex[link->flex_body].own : link_inertia(link, &work->links[i].R);
	return articulated_rigid(c.m, c.mc, c.Sigma);
}

CalStatus cal_link_inertia(const CalModel *model, const CalWork *work, int link, double M[36]) {
	const CalStatus status = check_link(model, work, link, M);
	if (status != CAL_OK)
		return status;
	const ArticulatedInertia a = own_inertia(model, work, link);
	write_matrix(&a, M);
	return CAL_OK;
}

/* The sum over link i and all outboard of it, which follow it without a gap. */
static ArticulatedInertia sum_outboard(const CalModel *model, const CalWork *work, int i) {
	ArticulatedInertia sum = own_inertia(model, work, i);
	spatial *from = work->force; // from origin i to that of each link, in l
	from[i] = spatial_zero();
	for (int j = i + 1; j < model->link_count && model->links[j].parent >= i; ++j) {
		from[j].l = add(from[model->links[j].parent].l, work->links[j].r);
		sum = articulated_add(sum, articulated_shift(own_inertia(model, work, j), from[j].l));
	}
	return sum;
}

CalStatus cal_link_composite_inertia(const CalModel *model, const CalWork *work, int link, double R[36]) {
	const CalStatus status = check_link(model, work, link, R);
	if (status != CAL_OK)
		return status;
	const ArticulatedInertia a = sum_outboard(model, work, link);
	write_matrix(&a, R);
	return CAL_OK;
}

/* The factors keep what the link had before the modes that set out from it were eliminated: less K D K'. */
CalStatus cal_link_articulated_inertia(const CalModel *model, const CalWork *work, int link, double P[36]) {
	const CalStatus status = check_link(model, work, link, P);
	if (status != CAL_OK)
		return status;
	ArticulatedInertia a = work->articulated[link];
	const int carries = model->links[link].motion != PRIMITIVE_FLEX ? model->links[link].flex_body : -1;
	for (int k = 0; carries >= 0 && k < model->flexes[carries].m; ++k) {
		const FlexWork *w = &work->flex[carries];
		const spatial K = rows_mode(w->K, model->flexes[carries].n, k);
		const double D = 1.0 / w->inverse[k];
		a = articulated_sub_outer(a, (spatial){scale(D, K.a), scale(D, K.l)}, K);
	}
	write_matrix(&a, P);
	return CAL_OK;
}

/* ---- flexible bodies ----------------------------------------------------------------------- */

/* Index of a body's flexibility, -1: it has none, or there is no such body. */
static int flex_of(const CalModel *model, int body) {
	return model && body >= 0 && body < model->body_count ? model->bodies[body].flex : -1;
}

CalStatus cal_flex_links(const CalModel *model, int body, int *carrier, int *head) {
	const int f = flex_of(model, body);
	if (f < 0 || !carrier || !head)
		return CAL_ERR_ARGUMENT;
	const int link = model->flexes[f].link;
	*carrier = link;
	*head = model->links[link].motion == PRIMITIVE_FLEX ? model->links[link].parent : link;
	return CAL_OK;
}

/* Exchanges matrices of the same numbers of rows and columns; n: length of the rows of a. */
static void swap_blocks(int rows, int columns, double *a, int n, double *b) {
	for (int i = 0; i < rows * columns; ++i) {
		double *x = &a[i / columns * n + i % columns], *y = &b[i];
		const double kept = *x;
		*x = *y;
		*y = kept;
	}
}

/* The factors are where the terms are formed: the caller's arrays hold them meanwhile. */
CalStatus cal_flex_inertia(const CalModel *model, CalWork *work, int body, double *E, double *Mee) {
	const int f = flex_of(model, body);
	if (f < 0)
		return CAL_ERR_ARGUMENT;
	const CalStatus status = check_arguments(model, work, E, Mee);
	if (status != CAL_OK)
		return status;
	const Flex *flex = &model->flexes[f];
	const int m = flex->m, n = flex->n;
	memset(E, 0, sizeof *E * 6 * (size_t)m);
	memset(Mee, 0, sizeof *Mee * (size_t)m * (size_t)m);
	swap_blocks(6, m, work->flex[f].E, n, E);
	swap_blocks(m, m, work->flex[f].M, n, Mee);
	flexible_own_x1(model, f, &flex->all, 0, work, &work->links[flex->link]);
	swap_blocks(6, m, work->flex[f].E, n, E);
	swap_blocks(m, m, work->flex[f].M, n, Mee);
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j < i; ++j)
			Mee[i * m + j] = Mee[j * m + i];
	}
	return CAL_OK;
}
