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
#include "dynamics/tree/columns.h"
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
	const FactorKernels *kernels = factor_kernels(model->isa);
	kernels->pose(model, state->q, NULL, work);
	work->failed_dof = kernels->factor(model, NULL, NULL, work);
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
	factor_kernels(model->isa)->solve(model, NULL, work, 1, b, x); // the bits of cal_mass_solve_many()
	return CAL_OK;
}

CalStatus cal_mass_solve_many(const CalModel *model, CalWork *work, int count, const double *b, double *x) {
	const CalStatus status = check_arguments(model, work, x);
	if (status != CAL_OK || !b || count < 0)
		return status != CAL_OK ? status : CAL_ERR_ARGUMENT;
	factor_kernels(model->isa)->solve(model, NULL, work, count, b, x);
	return CAL_OK;
}

CalStatus cal_mass_inverse(const CalModel *model, CalWork *work, double *Minv) {
	const CalStatus status = check_arguments(model, work, Minv);
	if (status != CAL_OK)
		return status;
	factor_kernels(model->isa)->inverse(model, work, Minv);
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

/* ---- compliance ------------------------------------------------------------------------------------------- */

/* The links between nodes and the ground, ascending, to work->column.links. Returns their number. */
static int list_paths(const CalModel *model, CalWork *work, const int *nodes, int count) {
	int *links = work->column.links, listed = 0;
	memset(links, 0, sizeof *links * (size_t)model->link_count);
	for (int k = 0; k < count; ++k)
		for (int i = model->nodes[nodes[k]].link; i >= 0 && !links[i]; i = model->links[i].parent)
			links[i] = 1;
	for (int i = 0; i < model->link_count; ++i)
		if (links[i])
			links[listed++] = i;
	return listed;
}

/* No generalized forces on the dofs of a link and on the modes that it carries. */
static void clear_rows(const CalModel *model, const CalWork *work, int i) {
	const Link *link = &model->links[i];
	memset(work->column.x + (ptrdiff_t)PACK * link->u, 0, sizeof(double) * PACK * (size_t)link->nu);
	if (link->flex_body < 0)
		return;
	const Flex *flex = &model->flexes[link->flex_body];
	memset(work->column.x + (ptrdiff_t)PACK * flex->u, 0, sizeof(double) * PACK * (size_t)flex->m);
	memset(work->column.modal + (ptrdiff_t)PACK * flex->u, 0, sizeof(double) * PACK * (size_t)flex->m);
}

/*
 * Residual forces of unit wrenches at a node on a link, along axes `first` and three more, to column.x of its path. The
 * rows of the path are clear.
 */
static void carry_wrenches(const CalModel *model, const uint8_t *held, CalWork *work, int node, const NodePlace *place,
                           int first) {
	const int link = model->nodes[node].link;
	double *motion = work->column.motion + (ptrdiff_t)(6 * PACK) * link;
	ColumnHeads heads = {.count = 1, .link = {link}};
	memset(motion, 0, sizeof(double) * 6 * PACK);
	for (int lane = 0; lane < PACK && first + lane < 6; ++lane) {
		const spatial f = unit_wrench(first + lane), b = force_shift(f, place->c);
		const double components[6] = {b.a.x, b.a.y, b.a.z, b.l.x, b.l.y, b.l.z};
		for (int k = 0; k < 6; ++k)
			motion[PACK * k + lane] = -components[k];
		for (int k = 0; place->flex && k < place->flex->m; ++k)
			work->column.x[PACK * (place->flex->u + k) + lane] = spatial_dot(kinematics_node_column(place, k), f);
	}
	factor_kernels(model->isa)->inward(model, held, work, &heads);
}

/* What the solve left, at a node: accelerations along six axes for right-hand side `lane`. */
static void node_response(const CalModel *model, const CalWork *work, int node, int lane, double out[6]) {
	const int link = model->nodes[node].link;
	memset(out, 0, sizeof(double) * 6);
	if (link < 0)
		return;
	const double *A = work->column.motion + (ptrdiff_t)(6 * PACK) * link + lane;
	const NodePlace place = kinematics_node(model, work, node);
	const spatial of_link = {{A[0], A[PACK], A[2 * PACK]}, {A[3 * PACK], A[4 * PACK], A[5 * PACK]}};
	spatial sum = motion_shift(of_link, place.c);
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		sum = spatial_madd(sum, work->column.x[PACK * (place.flex->u + k) + lane], kinematics_node_column(&place, k));
	const double a[6] = {sum.a.x, sum.a.y, sum.a.z, sum.l.x, sum.l.y, sum.l.z};
	memcpy(out, a, sizeof a);
}

void compliance_tree(const CalModel *model, const uint8_t *held, CalWork *work, const int *nodes, int count,
                     double *C) {
	const size_t n = 6 * (size_t)count;
	const int listed = list_paths(model, work, nodes, count), *links = work->column.links;
	const FactorKernels *kernels = factor_kernels(model->isa);
	kernels->read(model, held, work, links, listed);
	memset(C, 0, sizeof(double) * n * n);
	for (int a = 0; a < count; ++a) {
		if (model->nodes[nodes[a]].link < 0)
			continue;
		const NodePlace place = kinematics_node(model, work, nodes[a]);
		for (int first = 0; first < 6; first += PACK) {
			for (int k = 0; k < listed; ++k)
				clear_rows(model, work, links[k]);
			carry_wrenches(model, held, work, nodes[a], &place, first);
			kernels->outward(model, held, work, links, listed);
			for (int row = first; row < 6 && row < first + PACK; ++row)
				for (int j = 0; j < count; ++j)
					node_response(model, work, nodes[j], row - first,
					              C + (6 * (size_t)a + (size_t)row) * n + 6 * (size_t)j);
		}
	}
	make_symmetric(n, C);
}

CalStatus cal_node_compliance_tree(const CalModel *model, CalWork *work, const int *nodes, int count, double *scratch,
                                   double *C) {
	CalStatus status = check_arguments(model, work, C);
	if (status == CAL_OK)
		status = check_compliance(model, nodes, count, scratch);
	if (status == CAL_OK)
		compliance_tree(model, NULL, work, nodes, count, C);
	return status;
}

/* ---- compliance by columns -------------------------------------------------------------------------------- */

/* Residual forces of four wrenches to g[u * stride] of the dofs on the path from a link on; zero where held. */
static void take_columns(const CalModel *model, const uint8_t *held, const CalWork *work, int link, int width,
                         double *g, size_t stride) {
	for (int i = link; i >= 0; i = model->links[i].parent) {
		const int flex = model->links[i].flex_body;
		for (int u = model->links[i].u; u < model->links[i].u + model->links[i].nu; ++u)
			for (int k = 0; k < width; ++k)
				g[(size_t)u * stride + (size_t)k] = held && held[u] ? 0 : work->column.x[PACK * u + k];
		for (int j = 0; flex >= 0 && j < model->flexes[flex].m; ++j)
			for (int k = 0; k < width; ++k) {
				const int u = model->flexes[flex].u + j;
				g[(size_t)u * stride + (size_t)k] = work->column.x[PACK * u + k];
			}
	}
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
	const size_t n = 6 * (size_t)count;
	const int listed = list_paths(model, work, nodes, count);
	factor_kernels(model->isa)->read(model, held, work, work->column.links, listed);
	memset(columns, 0, sizeof(double) * (size_t)model->nu * n);
	memset(C, 0, sizeof(double) * n * n);
	for (int a = 0; a < count; ++a) {
		const int link = model->nodes[nodes[a]].link;
		if (link < 0)
			continue;
		const NodePlace place = kinematics_node(model, work, nodes[a]);
		for (int first = 0; first < 6; first += PACK) {
			for (int i = link; i >= 0; i = model->links[i].parent)
				clear_rows(model, work, i);
			carry_wrenches(model, held, work, nodes[a], &place, first);
			take_columns(model, held, work, link, 6 - first < PACK ? 6 - first : PACK,
			             columns + 6 * (size_t)a + (size_t)first, n);
		}
		sum_columns(model, work, link, a, n, columns, C);
	}
	for (size_t r = 0; r < n; ++r)
		for (size_t c = r + 1; c < n; ++c)
			C[r * n + c] = C[c * n + r];
}
