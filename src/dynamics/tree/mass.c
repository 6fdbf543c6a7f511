// SPDX-License-Identifier: Apache-2.0
/*
 * mass.c — the inverse of the mass matrix by its factors M = L D L' (articulated.c): products, all of it,
 * determinant, and operational-space compliance of the tree.
 *
 * One solve is one inward and one outward sweep. The compliance J M^-1 J' of k nodes needs 6k solves, each
 * started by a unit wrench at a node; entries are taken from the accelerations of the nodes. Loops: loop/closed.c.
 */
#include <calder/dynamics.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/articulated.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/joint_elimination.h"
#include "dynamics/tree/kinematics.h"
#include "dynamics/tree/mass.h"
#include "math/portable.h"

static CalStatus check_arguments(const CalModel *model, const CalWork *work, const void *out) {
	if (!model || !work || work->model != model || !out)
		return CAL_ERR_ARGUMENT;
	return work->stage & STAGE_FACTOR ? CAL_OK : CAL_ERR_STAGE;
}

CalStatus cal_mass_factor(const CalModel *model, const CalState *state, CalWork *work) {
	if (!model || !state || !work || work->model != model)
		return CAL_ERR_ARGUMENT;
	if (model->row_count > 0)
		memcpy(work->loops.factored_q, state->q, sizeof(double) * (size_t)model->nq);
	pose_outward_x1(model, state->q, NULL, work);
	work->failed_dof = factor_inward_x1(model, NULL, NULL, work);
	if (model->flex_count == 0) // for the operators; with modes this sweep would reach into the factors
		composite_inward_x1(model, work);
	if (work->failed_dof >= 0) {
		const double d = work->dofs[work->failed_dof].D_inv;
		work->stage = 0;
		return d != d ? CAL_NOT_FINITE : CAL_SINGULAR;
	}
	work->stage = STAGE_POSE | STAGE_FACTOR;
	return CAL_OK;
}

CalStatus cal_mass_solve(const CalModel *model, CalWork *work, const double *b, double *x) {
	const CalStatus status = check_arguments(model, work, x);
	if (status != CAL_OK || !b)
		return status != CAL_OK ? status : CAL_ERR_ARGUMENT;
	factor_solve_x1(model, NULL, work, b, x);
	return CAL_OK;
}

CalStatus cal_mass_inverse(const CalModel *model, CalWork *work, double *Minv) {
	const CalStatus status = check_arguments(model, work, Minv);
	if (status != CAL_OK)
		return status;
	const size_t n = (size_t)model->nu;
	for (size_t i = 0; i < n; ++i) {
		memset(work->rhs, 0, sizeof(double) * n);
		work->rhs[i] = 1.0;
		factor_solve_x1(model, NULL, work, work->rhs, Minv + i * n);
	}
	for (size_t i = 0; i < n; ++i) {
		for (size_t j = 0; j < i; ++j) {
			const double mean = 0.5 * (Minv[i * n + j] + Minv[j * n + i]);
			Minv[i * n + j] = Minv[j * n + i] = mean;
		}
	}
	return CAL_OK;
}

CalStatus cal_mass_logdet(const CalModel *model, const CalWork *work, double *logdet) {
	const CalStatus status = check_arguments(model, work, logdet);
	if (status != CAL_OK)
		return status;
	double sum = 0;
	for (int i = 0; i < model->link_count; ++i) {
		for (int k = 0; k < model->links[i].nu; ++k)
			sum -= portable_log(work->dofs[model->links[i].u + k].D_inv);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			sum -= portable_log(work->flex[f].inverse[k]);
	}
	*logdet = sum;
	return CAL_OK;
}

spatial unit_wrench(int row) {
	double e[6] = {0};
	e[row] = 1.0;
	return (spatial){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}};
}

void wrench_force(const CalModel *model, const CalWork *work, int node, spatial f, double *Q) {
	const Node *n = &model->nodes[node];
	if (n->link < 0)
		return;
	const NodePlace place = kinematics_node(model, work, node);
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		Q[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), f);
	f = force_shift(f, place.c);
	for (int i = n->link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			Q[link->u + k] += spatial_dot(link_column(work, link, i, k), f);
		for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
			Q[model->flexes[link->flex].u + k] += spatial_dot(flexible_column(model, link, work, k), f);
		f = force_shift(f, work->links[i].r);
	}
}

/* What the solve left in A, at a node. */
static void node_response(const CalModel *model, const CalWork *work, int node, double out[6]) {
	const Node *n = &model->nodes[node];
	memset(out, 0, sizeof(double) * 6);
	if (n->link < 0)
		return;
	const LinkWork *l = &work->links[n->link];
	const NodePlace place = kinematics_node(model, work, node);
	spatial A = motion_shift(l->A, place.c);
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		A = spatial_madd(A, place.work->x[k], kinematics_node_column(&place, k));
	const double a[6] = {A.a.x, A.a.y, A.a.z, A.l.x, A.l.y, A.l.z};
	memcpy(out, a, sizeof a);
}

CalStatus check_compliance(const CalModel *model, const int *nodes, int count, const double *scratch) {
	if (!nodes || count < 0 || !scratch)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < count; ++i) {
		if (nodes[i] < 0 || nodes[i] >= model->node_count)
			return CAL_ERR_ARGUMENT;
	}
	return CAL_OK;
}

void make_symmetric(size_t n, double *C) {
	for (size_t i = 0; i < n; ++i) {
		for (size_t j = 0; j < i; ++j)
			C[i * n + j] = C[j * n + i] = 0.5 * (C[i * n + j] + C[j * n + i]);
	}
}

CalStatus cal_node_compliance_tree(const CalModel *model, CalWork *work, const int *nodes, int count, double *scratch,
                                   double *C) {
	CalStatus status = check_arguments(model, work, C);
	if (status == CAL_OK)
		status = check_compliance(model, nodes, count, scratch);
	if (status != CAL_OK)
		return status;
	const size_t n = 6 * (size_t)count;
	for (size_t row = 0; row < n; ++row) {
		memset(scratch, 0, sizeof(double) * (size_t)model->nu);
		wrench_force(model, work, nodes[row / 6], unit_wrench((int)(row % 6)), scratch);
		factor_solve_x1(model, NULL, work, scratch, scratch);
		for (int j = 0; j < count; ++j)
			node_response(model, work, nodes[j], C + row * n + 6 * (size_t)j);
	}
	make_symmetric(n, C);
	return CAL_OK;
}

/* ---- compliance by columns -------------------------------------------------------------------------------- */

/* Residual forces of a unit wrench at a node, to g[u * stride] of the dofs on the path; tau[nu] is zero and stays so. */
static void carry_column(const CalModel *model, const uint8_t *held, const NodePlace *place, int first, spatial f,
                         CalWork *work, double *tau, double *g, size_t stride) {
	const spatial at_link = force_shift(f, place->c);
	spatial b = {neg(at_link.a), neg(at_link.l)};
	for (int i = first; i >= 0; i = model->links[i].parent)
		if (model->links[i].flex_body >= 0)
			memset(work->flex[model->links[i].flex_body].be, 0,
			       sizeof(real) * (size_t)model->flexes[model->links[i].flex_body].n);
	for (int k = 0; place->flex && k < place->flex->m; ++k)
		tau[place->flex->u + k] = spatial_dot(kinematics_node_column(place, k), f);
	for (int i = first; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		if (link->motion == PRIMITIVE_NODE)
			flexible_node_x1(model, link, NULL, &b, work);
		if (link->flex_body >= 0) {
			const Flex *flex = &model->flexes[link->flex_body];
			flexible_reduce_x1(model, link, held, tau, work, &b);
			for (int k = 0; k < flex->m; ++k)
				g[(size_t)(flex->u + k) * stride] = work->flex[link->flex_body].y[k];
		}
		TrioSpatial left = trio_spatial_from(b);
		reduce_force(link, i, held, tau, work, &left);
		for (int u = link->u; u < link->u + link->nu; ++u)
			g[(size_t)u * stride] = held && held[u] ? 0 : work->dofs[u].eps;
		b = trio_spatial_out(trio_force_shift(left, trio_from(work->links[i].r)));
	}
	for (int k = 0; place->flex && k < place->flex->m; ++k)
		tau[place->flex->u + k] = 0;
}

/* C += g'g d of one dof, for the rows of node a and the columns of all nodes up to it. */
static void add_dof(const double *restrict g, double d, int a, size_t n, double *restrict C) {
	const size_t columns = 6 * ((size_t)a + 1);
	for (size_t r = 6 * (size_t)a; r < columns; ++r) {
		const double x = d * g[r];
		for (size_t c = 0; c < columns; ++c)
			C[r * n + c] += x * g[c];
	}
}

static void sum_columns(const CalModel *model, const CalWork *work, int first, int a, size_t n, const double *g,
                        double *C) {
	for (int i = first; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int u = link->u; u < link->u + link->nu; ++u)
			add_dof(g + (size_t)u * n, work->dofs[u].D_inv, a, n, C);
		if (link->flex_body < 0)
			continue;
		const Flex *flex = &model->flexes[link->flex_body];
		for (int k = 0; k < flex->m; ++k)
			add_dof(g + (size_t)(flex->u + k) * n, work->flex[link->flex_body].inverse[k], a, n, C);
	}
}

void compliance_columns(const CalModel *model, const uint8_t *held, CalWork *work, const int *nodes, int count,
                        double *columns, double *C) {
	const size_t n = 6 * (size_t)count, nu = (size_t)model->nu;
	double *tau = columns + nu * n;
	memset(columns, 0, sizeof(double) * nu * (n + 1));
	memset(C, 0, sizeof(double) * n * n);
	for (int a = 0; a < count; ++a) {
		const int first = model->nodes[nodes[a]].link;
		if (first < 0)
			continue;
		const NodePlace place = kinematics_node(model, work, nodes[a]);
		for (int r = 0; r < 6; ++r)
			carry_column(model, held, &place, first, unit_wrench(r), work, tau, columns + 6 * a + r, n);
		sum_columns(model, work, first, a, n, columns, C);
	}
	for (size_t r = 0; r < n; ++r)
		for (size_t c = r + 1; c < n; ++c)
			C[r * n + c] = C[c * n + r];
}
