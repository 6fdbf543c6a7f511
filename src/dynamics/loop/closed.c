// SPDX-License-Identifier: Apache-2.0
/*
 * closed.c — the inverse of the mass matrix with loops held [THEORY (5.22), (5.23)]:
 *   M_c = M^-1 - M^-1 G'(G M^-1 G')^+ G M^-1
 *
 * M_c b is the forward dynamics of b alone: at rest, without gravity, rows that do not accelerate by themselves. Where loops
 * are eliminated in the sweeps, one product is one inward and one outward sweep; by cut joints it is a solve with the
 * tree's factor and one with that of G M^-1 G'. Wrenches on nodes act on their links, not as generalized forces: on a
 * light link the moments about its joints cancel, and rounding them would leave it forces that it does not have.
 */
#include "dynamics/loop/closed.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/loop/loop_coupled.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_refine.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/columns.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kernels.h"
#include "dynamics/tree/kinematics.h"
#include "dynamics/tree/mass.h"
#include "math/eigen.h"
#include "math/finite.h"

#if CAL_LANES == 1

static const double NO_COMPLIANCE = 1e-10; // of the largest eigenvalue: round-off of directions that loops hold

/* ---- preparation ---------------------------------------------------------------------------------------- */

/* h D + h^2 K of joints beside their rotors; NULL: M alone. */
static const double *closed_rotor(const CalWork *work) { return work->closed_step != 0 ? work->rotor : NULL; }

/* Factors of the tree, held dofs aside. */
static CalStatus prepare_tree(const CalModel *model, const double *q, CalWork *work) {
	const FactorKernels *kernels = factor_kernels(model->isa);
	kernels->pose(model, q, work->closed_held, work);
	work->failed_dof = kernels->factor(model, work->closed_held, closed_rotor(work), work);
	if (work->failed_dof < 0)
		return CAL_OK;
	return isnan(work->dofs[work->failed_dof].D_inv) ? CAL_NOT_FINITE : CAL_SINGULAR;
}

/* Constraint equations at rest; by cut joints their factor too. */
static CalStatus prepare_rows(const CalModel *model, const double *q, double t, CalWork *work) {
	LoopWork *w = &work->loops;
	kinematics_outward(model, q, w->rest, work);
	loop_rows(model, &(LoopContext){.t = t, .q = q, .u = w->rest, .plain = 1}, work);
	w->time = t;
	if (model->loop_schedule)
		return CAL_OK;
	loop_jacobian(model, work);
	return loop_factor(model, q, work->closed_held, closed_rotor(work), 0, work);
}

static CalStatus prepare(const CalModel *model, const double *q, double t, double h, CalWork *work) {
	work->loops.acting = 0;
	work->closed_step = h;
	if (h != 0)
		forces_implicit_inertia(model, h, work->rotor);
	work->implicit_step = h;
	const CalStatus status = model->row_count ? prepare_rows(model, q, t, work) : prepare_tree(model, q, work);
	work->implicit_step = 0;
	work->stage = status == CAL_OK ? STAGE_POSE | STAGE_CLOSED : 0;
	return status;
}

CalStatus closed_factor(const CalModel *model, const CalState *state, const uint8_t *held, double h, CalWork *work) {
	if (held)
		memcpy(work->held, held, (size_t)model->nu);
	work->closed_held = held ? work->held : NULL;
	if (model->row_count > 0)
		memcpy(work->loops.factored_q, state->q, sizeof(double) * (size_t)model->nq);
	return prepare(model, state->q, state->t, h, work);
}

CalStatus cal_closed_factor(const CalModel *model, const CalState *state, const uint8_t *held, CalWork *work) {
	if (!model || !state || !work || work->model != model)
		return CAL_ERR_ARGUMENT;
	return closed_factor(model, state, held, 0, work);
}

/* ---- one product ---------------------------------------------------------------------------------------- */

/* Multipliers of redundant equations are zero while accelerations are refined (forward.c). */
static void refine(const CalModel *model, CalWork *work, double *x) {
	LoopWork *w = &work->loops;
	const CalState at = {.t = w->time, .q = w->factored_q, .u = w->rest};
	if (model->loop_schedule)
		loop_take_basic_x1(model, w);
	loop_refine(
		model,
		&(LoopRefine){
			.state = &at, .prescribed = work->closed_held, .rotor = closed_rotor(work), .udot = x, .at_rest = 1},
		work);
}

/* By the sweeps, under work->tau and the wrenches in refined.external. */
static void solve_eliminated(const CalModel *model, CalWork *work, double *x) {
	LoopWork *w = &work->loops;
	const SweepInput in = {.q = w->factored_q,
	                       .u = w->rest,
	                       .tau = work->tau,
	                       .prescribed = work->closed_held,
	                       .rotor = closed_rotor(work),
	                       .external = w->refined.external,
	                       .loops = loop_hooks(model)};
	memset(w->z, 0, sizeof(double) * (size_t)model->row_count);
	forward_kernels(model->isa)->outward_in(model, (dvec3){0, 0, 0}, &in, work);
	work->failed_dof = loop_solve_motion(model, &in, work, x, NULL);
	if (work->failed_dof < 0 && (w->doubtful || w->uneven))
		refine(model, work, x);
}

/* By cut joints under the generalized forces b, which are what work->tau and the wrenches amount to. */
static void solve_cut_joint(const CalModel *model, CalWork *work, const double *b, double *x) {
	LoopWork *w = &work->loops;
	work->failed_dof = -1;
	memcpy(x, b, sizeof(double) * (size_t)model->nu);
	loop_hold(model, work->closed_held, work, x);
	if (w->doubtful || w->uneven)
		refine(model, work, x);
}

static CalStatus check_product(const CalModel *model, CalWork *work, const double *x) {
	const int finite = all_finite(x, model->nu);
	work->stage = work->failed_dof < 0 && finite ? STAGE_POSE | STAGE_CLOSED : 0;
	if (work->failed_dof >= 0)
		return isnan(work->dofs[work->failed_dof].D_inv) ? CAL_NOT_FINITE : CAL_SINGULAR;
	if (!finite)
		return CAL_NOT_FINITE;
	return work->loops.hopeless ? CAL_NOT_CONVERGED : CAL_OK;
}

/* Under work->tau and the wrenches in refined.external; b: what they amount to, which cut joints read. */
static CalStatus solve_loaded(const CalModel *model, CalWork *work, const double *b, double *x) {
	work->implicit_step = work->closed_step;
	if (model->loop_schedule)
		solve_eliminated(model, work, x);
	else
		solve_cut_joint(model, work, b, x);
	work->implicit_step = 0;
	return check_product(model, work, x);
}

static void clear_loads(const CalModel *model, CalWork *work) {
	memset(work->tau, 0, sizeof(double) * (size_t)model->nu);
	for (int i = 0; i < model->link_count; ++i)
		work->loops.refined.external[i] = spatial_zero();
}

CalStatus cal_closed_solve(const CalModel *model, CalWork *work, const double *b, double *x) {
	if (!model || !work || work->model != model || !b || !x)
		return CAL_ERR_ARGUMENT;
	if (!(work->stage & STAGE_CLOSED))
		return CAL_ERR_STAGE;
	if (model->row_count == 0) {
		factor_solve_x1(model, work->closed_held, work, b, x);
		return CAL_OK;
	}
	clear_loads(model, work);
	memcpy(work->tau, b, sizeof(double) * (size_t)model->nu);
	return solve_loaded(model, work, work->tau, x);
}

/* ---- operational space ------------------------------------------------------------------------------------ */

/* A wrench at a node: on its link, and on the modes that move it. */
static void add_load(const CalModel *model, CalWork *work, int node, spatial f) {
	const int link = model->nodes[node].link;
	if (link < 0)
		return;
	const NodePlace place = kinematics_node(model, work, node);
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		work->tau[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), f);
	spatial *external = &work->loops.refined.external[link];
	*external = spatial_add(*external, force_shift(f, place.c));
}

CalStatus closed_response(const CalModel *model, CalWork *work, const CalWrench *wrenches, int count, double *x) {
	double *b = work->jump;
	memset(b, 0, sizeof(double) * (size_t)model->nu);
	for (int i = 0; i < count && !model->loop_schedule; ++i)
		wrench_force(model, work, wrenches[i].node, spatial_in(wrenches[i].f), b);
	if (model->row_count == 0) {
		factor_solve_x1(model, work->closed_held, work, b, x);
		return all_finite(x, model->nu) ? CAL_OK : CAL_NOT_FINITE;
	}
	clear_loads(model, work);
	for (int i = 0; i < count; ++i)
		add_load(model, work, wrenches[i].node, spatial_in(wrenches[i].f));
	return solve_loaded(model, work, b, x);
}

/* J x of a node; needs poses alone. */
static void node_motion(const CalModel *model, const CalWork *work, int node, const double *x, double out[6]) {
	const int first = model->nodes[node].link;
	spatial A = spatial_zero();
	memset(out, 0, sizeof(double) * 6);
	if (first < 0)
		return;
	const NodePlace place = kinematics_node(model, work, node);
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		A = spatial_madd(A, x[place.flex->u + k], kinematics_node_column(&place, k));
	vec3 c = place.c;
	for (int i = first; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			A = spatial_madd(A, x[link->u + k], motion_shift(link_column(work, link, i, k), c));
		for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
			A = spatial_madd(A, x[model->flexes[link->flex].u + k],
			                 motion_shift(flexible_column(model, link, work, k), c));
		c = add(c, work->links[i].r);
	}
	const double a[6] = {A.a.x, A.a.y, A.a.z, A.l.x, A.l.y, A.l.z};
	memcpy(out, a, sizeof a);
}

/* With loops one column after the other, x[nu] scratch. */
static CalStatus fill_compliance(const CalModel *model, CalWork *work, const int *nodes, int count, double *x,
                                 double *C) {
	const size_t n = 6 * (size_t)count;
	if (model->row_count == 0) {
		compliance_tree(model, work->closed_held, work, nodes, count, C);
		return all_finite(C, 36 * count * count) ? CAL_OK : CAL_NOT_FINITE;
	}
	for (size_t row = 0; row < n; ++row) {
		const CalWrench unit = {nodes[row / 6], CAL_FRAME_WORLD, spatial_out(unit_wrench((int)(row % 6)))};
		const CalStatus status = closed_response(model, work, &unit, 1, x);
		if (status != CAL_OK)
			return status;
		for (int j = 0; j < count; ++j)
			node_motion(model, work, nodes[j], x, C + row * n + 6 * (size_t)j);
	}
	make_symmetric(n, C);
	return CAL_OK;
}

CalStatus closed_compliance(const CalModel *model, CalWork *work, const int *nodes, int count, double *columns,
                            double *C) {
	if (model->row_count > 0)
		return fill_compliance(model, work, nodes, count, columns, C);
	compliance_columns(model, work->closed_held, work, nodes, count, columns, C);
	return all_finite(C, 36 * count * count) ? CAL_OK : CAL_NOT_FINITE;
}

/* After cal_mass_factor(), which is made again afterwards: the sweeps with loops use its memory. */
static CalStatus compliance_of_factor(const CalModel *model, CalWork *work, const int *nodes, int count,
                                      double *scratch, double *C) {
	work->closed_held = NULL;
	CalStatus status = prepare(model, work->loops.factored_q, 0, 0, work);
	if (status == CAL_OK)
		status = fill_compliance(model, work, nodes, count, scratch, C);
	const CalState at = {.q = work->loops.factored_q, .u = work->loops.rest};
	const CalStatus again = cal_mass_factor(model, &at, work);
	return status != CAL_OK ? status : again;
}

CalStatus cal_node_compliance(const CalModel *model, CalWork *work, const int *nodes, int count, double *scratch,
                              double *C) {
	if (!model || !work || work->model != model || !C)
		return CAL_ERR_ARGUMENT;
	if (!(work->stage & (STAGE_FACTOR | STAGE_CLOSED)))
		return CAL_ERR_STAGE;
	const CalStatus status = check_compliance(model, nodes, count, scratch);
	if (status != CAL_OK)
		return status;
	if (work->stage & STAGE_CLOSED)
		return fill_compliance(model, work, nodes, count, scratch, C);
	if (model->row_count == 0)
		return cal_node_compliance_tree(model, work, nodes, count, scratch, C);
	return compliance_of_factor(model, work, nodes, count, scratch, C);
}

/* A^+ = V W^+ V' of A = V W V' in place, and the rank; scratch[n (n + 3)]. */
static CalStatus pseudo_inverse(int n, double *A, double *scratch, int *rank) {
	double *V = scratch, *values = scratch + n * n;
	memcpy(V, A, sizeof(double) * (size_t)(n * n));
	const CalStatus status = eigen_symmetric(n, V, values, values + n);
	if (status != CAL_OK)
		return status;
	memset(A, 0, sizeof(double) * (size_t)(n * n));
	*rank = 0;
	for (int k = 0; k < n; ++k) {
		if (!(values[k] > NO_COMPLIANCE * values[n - 1]))
			continue;
		++*rank;
		for (int i = 0; i < n; ++i) {
			for (int j = 0; j <= i; ++j)
				A[i * n + j] += V[i * n + k] * V[j * n + k] / values[k];
		}
	}
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < i; ++j)
			A[j * n + i] = A[i * n + j];
	}
	return CAL_OK;
}

CalStatus cal_node_inertia(const CalModel *model, CalWork *work, const int *nodes, int count, double *scratch,
                           double *Lambda, int *rank) {
	int found = 0;
	CalStatus status = cal_node_compliance(model, work, nodes, count, scratch, Lambda);
	if (status == CAL_OK && count > 0)
		status = pseudo_inverse(6 * count, Lambda, scratch, &found);
	if (status == CAL_OK && rank)
		*rank = found;
	return status;
}

#endif
