// SPDX-License-Identifier: Apache-2.0
/*
 * loops.c — forces of closed loops by cut joints [THEORY (5.6)]: the tree moves without them, then
 *   G M^-1 G' lambda = -(second derivatives of the constraints)
 * M^-1 G' by the recursion, one column for each equation; the system by pivoted Cholesky with the smallest solution.
 */
#include <calder/loops.h>
#include "dynamics/tree/kinematics.h"
#include "dynamics/tree/kernels.h"
#include "dynamics/loop/loop_coupled.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_sweep.h"
#include "math/min_norm.h"

#if CAL_LANES == 1

/*
 * An equation whose pivot is below this part of what it came with is redundant. Chosen to be well above round-off
 * and well below what a mechanism has left next to a singular position.
 */
static const double DEPENDENT = 1e-11;
// with less left, round-off of others may be a good part of what is (loop_elimination.c)
static const double DOUBTFUL = 1e-4;

static double product(const double *a, const double *b, int n) {
	double sum = 0;
	for (int i = 0; i < n; ++i)
		sum += a[i] * b[i];
	return sum;
}

static double *scratch_of(const LoopBlock *b, LoopWork *w) { return w->scratch + b->square + 2 * (size_t)b->row; }

/* G M^-1 G' from G and X. */
static void multiply(const LoopBlock *b, LoopWork *w) {
	double *Lambda = w->Lambda + b->square;
	const int m = b->rows;
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j <= i; ++j)
			Lambda[i * m + j] = Lambda[j * m + i] =
				product(loop_block_row(b, w->G, i), loop_block_row(b, w->X, j), b->columns);
	}
}

static int is_of_joint(const CalModel *model, int k) {
	const Link *link = &model->links[model->dofs[k].link];
	return k >= link->u && k < link->u + link->nu;
}

double loop_column_unit(const CalModel *model, int k, double length) {
	const Link *link = &model->links[model->dofs[k].link];
	return is_of_joint(model, k) &&
	               primitive_column_kind((JointPrimitive)link->motion, k - link->u) == COLUMN_TRANSLATION
	           ? length
	           : 1;
}

double loop_longest_reach(const CalModel *model) {
	double length = 0;
	for (int l = 0; l < model->loop_count; ++l)
		length = fmax(length, model->loops[l].reach);
	return length;
}

/* Rows of G whose gains are nothing but round-off, which light links would make as large as any, become zero. */
static void leave_out_round_off(const CalModel *model, const LoopBlock *b, double length, LoopWork *w) {
	const int32_t *column = model->blocks->columns + b->column;
	double *size = scratch_of(b, w), most = 0;
	for (int i = 0; i < b->rows; ++i) {
		const double *G = loop_block_row(b, w->G, i);
		size[i] = 0;
		for (int k = 0; k < b->columns; ++k)
			size[i] = fmax(size[i], fabs(G[k]) * loop_column_unit(model, column[k], length));
		size[i] /= w->unit[b->row + i];
		most = fmax(most, size[i]);
	}
	for (int i = 0; i < b->rows; ++i) {
		if (size[i] <= LOOP_ROUND_OFF * most)
			memset(loop_block_row(b, w->G, i), 0, sizeof(double) * (size_t)b->columns);
	}
}

/* Rank of G, rows and columns in their units: that of geometry, whatever the masses. Uses up scratch and order. */
static int geometric_rank(const CalModel *model, const LoopBlock *b, const uint8_t *held, double length, LoopWork *w) {
	const int32_t *column = model->blocks->columns + b->column;
	const int m = b->rows;
	const double *unit_of = w->unit + b->row;
	double *square = scratch_of(b, w);
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j <= i; ++j) {
			const double *G = loop_block_row(b, w->G, i), *H = loop_block_row(b, w->G, j);
			double sum = 0;
			for (int k = 0; k < b->columns; ++k) {
				const double unit = held && held[column[k]] ? 0 : loop_column_unit(model, column[k], length);
				sum += G[k] * unit * (H[k] * unit);
			}
			square[i * m + j] = square[j * m + i] = sum / (unit_of[i] * unit_of[j]);
		}
	}
	return min_norm_rank(m, square, DEPENDENT, w->order + b->row, square + m * m);
}

/*
 * Factors Lambda. Where masses may have made some small, geometry says how many are independent. Round-off of light chains
 * in M^-1 makes redundant equations look independent: beyond that number one counts only if it has not lost digits.
 * Returns the rank.
 */
static int factor_rows(const CalModel *model, const LoopBlock *b, const uint8_t *held, double length, LoopWork *w) {
	MinNormRows rows = {.tolerance = DEPENDENT, .unit = w->unit + b->row};
	double *Lambda = w->Lambda + b->square, *scratch = scratch_of(b, w);
	int *order = w->order + b->row;
	uint8_t *independent = w->independent + b->row;
	multiply(b, w);
	int rank = min_norm_factor_rows(b->rows, Lambda, &rows, order, independent, scratch);
	if (rank < b->rows || rows.left < DOUBTFUL) {
		rows.known = geometric_rank(model, b, held, length, w);
		rows.tolerance = DOUBTFUL;
		multiply(b, w);
		rank = min_norm_factor_rows(b->rows, Lambda, &rows, order, independent, scratch);
	}
	w->doubtful |= rows.left < DOUBTFUL;
	w->hopeless |= rank < rows.known; // independent equations that masses have left nothing of
	return rank;
}

/* X = W^-1 G' of a block with diagonal weights. */
static void divide_by_weights(const CalModel *model, const LoopBlock *b, const uint8_t *held, LoopWork *w) {
	const int32_t *column = model->blocks->columns + b->column;
	for (int i = 0; i < b->rows; ++i) {
		const double *G = loop_block_row(b, w->G, i);
		double *X = loop_block_row(b, w->X, i);
		for (int k = 0; k < b->columns; ++k)
			X[k] = held && held[column[k]] ? 0 : G[k] / (w->weight ? w->weight[column[k]] : 1);
	}
}

/* X = M^-1 G': the one block of cut joints has all columns. */
static CalStatus divide_by_mass(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                                CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopBlock *all = model->blocks->blocks;
	pose_outward_x1(model, q, prescribed, work);
	const int failed_dof = factor_inward_x1(model, prescribed, rotor, work);
	if (failed_dof >= 0) {
		work->failed_dof = failed_dof;
		return CAL_SINGULAR;
	}
	for (int i = 0; i < all->rows; ++i)
		factor_solve_x1(model, prescribed, work, loop_block_row(all, w->G, i), loop_block_row(all, w->X, i));
	return CAL_OK;
}

int loop_moves_rows(const CalModel *model, const LoopWork *w, int k) {
	const LoopBlock *all = model->blocks->blocks;
	for (int i = 0; i < all->rows; ++i) {
		if (loop_block_row(all, w->G, i)[k] != 0)
			return 1;
	}
	return 0;
}

/* By how much inertias along the columns of all loops together differ, joints alone. */
static double spread_of_columns(const CalModel *model, const CalWork *work) {
	const double length = loop_longest_reach(model);
	double most = 0, least = INFINITY;
	for (int k = 0; k < model->nu; ++k) {
		const double unit = loop_column_unit(model, k, length), mobility = work->dofs[k].D_inv / (unit * unit);
		if (!(mobility > 0) || !is_of_joint(model, k) || !loop_moves_rows(model, &work->loops, k))
			continue;
		most = fmax(most, mobility);
		least = fmin(least, mobility);
	}
	return most > 0 ? most / least : 1;
}

CalStatus loop_factor(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                      int euclidean, CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopBlocks *blocks = model->blocks;
	const double length = loop_longest_reach(model);
	for (int l = 0; l < model->loop_count; ++l)
		memcpy(w->unit + blocks->row_at[l], model->loops[l].unit, sizeof(double) * (size_t)model->loops[l].rows);
	for (int i = 0; i < blocks->count; ++i)
		leave_out_round_off(model, &blocks->blocks[i], length, w);
	const CalStatus status = euclidean ? CAL_OK : divide_by_mass(model, q, prescribed, rotor, work);
	if (status != CAL_OK)
		return status;
	w->rank = w->doubtful = w->hopeless = 0;
	for (int i = 0; i < blocks->count; ++i) {
		if (euclidean)
			divide_by_weights(model, &blocks->blocks[i], prescribed, w);
		w->block_rank[i] = factor_rows(model, &blocks->blocks[i], prescribed, length, w);
		w->rank += w->block_rank[i];
	}
	w->error = 0;
	const double spread = euclidean ? 1 : spread_of_columns(model, work);
	w->uneven =
		spread > loop_uneven(model) ? 2 : spread > loop_somewhat_uneven(model) || (model->light_loops && !euclidean);
	return CAL_OK;
}

void loop_solve(const CalModel *model, CalWork *work, const double *z, double *lambda) {
	LoopWork *w = &work->loops;
	const LoopBlocks *blocks = model->blocks;
	const int m = model->row_count;
	for (int i = 0; i < m; ++i)
		w->gathered[i] = z[blocks->rows[i]];
	for (int i = 0; i < blocks->count; ++i) {
		const LoopBlock *b = &blocks->blocks[i];
		min_norm_solve(b->rows, w->block_rank[i], w->Lambda + b->square, w->order + b->row, scratch_of(b, w),
		               w->gathered + b->row, w->gathered + m + b->row);
	}
	for (int i = 0; i < m; ++i)
		lambda[blocks->rows[i]] = w->gathered[m + i];
}

/* dq = -X'lambda */
static void combine(const CalModel *model, LoopWork *w) {
	memset(w->dq, 0, sizeof(double) * (size_t)model->nu);
	for (int i = 0; i < model->blocks->count; ++i) {
		const LoopBlock *b = &model->blocks->blocks[i];
		const int32_t *column = model->blocks->columns + b->column;
		for (int r = 0; r < b->rows; ++r) {
			const double *X = loop_block_row(b, w->X, r), lambda = w->lambda[model->blocks->rows[b->row + r]];
			for (int k = 0; k < b->columns; ++k)
				w->dq[column[k]] -= lambda * X[k];
		}
	}
}

/*
 * The motion of the tree at rest under work->tau and the forces of loops that accelerate their constraints by -z. Continues
 * from kinematics at rest, if work has these.
 */
static CalStatus correct_locally(const CalModel *model, const double *q, const uint8_t *frozen, const double *rotor,
                                 CalWork *work, double *force) {
	LoopWork *w = &work->loops;
	const dvec3 weightless = {0, 0, 0};
	const SweepInput in = {
		.q = q, .u = w->rest, .tau = work->tau, .prescribed = frozen, .rotor = rotor, .loops = loop_hooks(model)};
	if (kinematics_has_begun(model, weightless, q, w->rest, work))
		forward_kernels(model->isa)->outward_rest(model, &in, work);
	else
		forward_kernels(model->isa)->outward_in(model, weightless, &in, work);
	work->stage &= ~(STAGE_SWEPT | STAGE_REACHED);
	work->failed_dof = loop_solve_motion(model, &in, work, w->dq, force);
	return work->failed_dof >= 0 ? CAL_SINGULAR : CAL_OK;
}

CalStatus loop_correct(const CalModel *model, const double *q, const uint8_t *frozen, int euclidean, CalWork *work) {
	LoopWork *w = &work->loops;
	if (model->loop_schedule && !euclidean) {
		memset(work->tau, 0, sizeof(double) * (size_t)model->nu);
		return correct_locally(model, q, frozen, NULL, work, NULL);
	}
	work->stage &= ~(STAGE_SWEPT | STAGE_REACHED);
	loop_jacobian(model, work);
	const CalStatus status = loop_factor(model, q, frozen, NULL, euclidean, work);
	if (status != CAL_OK)
		return status;
	loop_solve(model, work, w->z, w->lambda);
	combine(model, w);
	return CAL_OK;
}

/* dq and lambda with the factors of cut joints: the motion under b that accelerates the rows by -z. */
static void correct_cut_joint(const CalModel *model, const uint8_t *prescribed, const double *b, CalWork *work) {
	LoopWork *w = &work->loops;
	double *free = work->rhs; // what moves without loops
	factor_solve_x1(model, prescribed, work, b, free);
	const LoopBlock *all = model->blocks->blocks;
	for (int i = 0; i < model->row_count; ++i)
		w->z[model->blocks->rows[i]] += product(loop_block_row(all, w->G, i), free, model->nu);
	loop_solve(model, work, w->z, w->lambda);
	combine(model, w);
	for (int k = 0; k < model->nu; ++k)
		w->dq[k] += free[k];
	for (int i = 0; i < model->row_count; ++i)
		w->lambda[i] = -w->lambda[i];
}

void loop_hold(const CalModel *model, const uint8_t *prescribed, CalWork *work, double *x) {
	memset(work->loops.z, 0, sizeof(double) * (size_t)model->row_count);
	correct_cut_joint(model, prescribed, x, work);
	memcpy(x, work->loops.dq, sizeof(double) * (size_t)model->nu);
}

CalStatus loop_correct_again(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                             CalWork *work, double *force) {
	LoopWork *w = &work->loops;
	const double *residual = w->refined.residual;
	if (model->loop_schedule) {
		memcpy(work->tau, residual, sizeof(double) * (size_t)model->nu);
		const CalStatus status = correct_locally(model, q, prescribed, rotor, work, force);
		loop_take_basic_x1(model, w);
		return status;
	}
	correct_cut_joint(model, prescribed, residual, work);
	memset(force, 0, sizeof(double) * (size_t)model->nu); // found with all multipliers in the end
	return CAL_OK;
}

CalStatus loop_forces(const CalModel *model, const CalState *state, const uint8_t *prescribed, const double *rotor,
                      const double *udot, CalWork *work) {
	LoopWork *w = &work->loops;
	kinematics_outward(model, state->q, state->u, work);
	kinematics_accelerate(model, udot, work);
	loop_rows(model, &(LoopContext){state->t, state->q, state->u, udot, LOOP_MOTION, 0}, work);
	loop_jacobian(model, work);
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] = -w->row[i].acceleration;
	const CalStatus status = loop_factor(model, state->q, prescribed, rotor, 0, work);
	if (status != CAL_OK)
		return status;
	loop_solve(model, work, w->z, w->lambda);
	w->acting = 1;
	return CAL_OK;
}

void loop_add_motion(const CalModel *model, LoopWork *w, double *udot) {
	combine(model, w);
	for (int k = 0; k < model->nu; ++k)
		udot[k] -= w->dq[k];
}

/* ---- public -------------------------------------------------------------------------------------- */

static int arguments_ok(const CalModel *model, const CalState *state, const CalWork *work) {
	return model && state && work && work->model == model;
}

static void copy_numbers(double *to, const double *from, size_t count) {
	if (to)
		memcpy(to, from, sizeof(double) * count);
}

CalStatus cal_loop_residual(const CalModel *model, const CalState *state, CalWork *work, double *g, double *rate) {
	if (!arguments_ok(model, state, work))
		return CAL_ERR_ARGUMENT;
	work->loops.acting = 0;
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .plain = 1}, work);
	for (int i = 0; i < model->row_count; ++i) {
		if (g)
			g[i] = work->loops.row[i].value;
		if (rate)
			rate[i] = work->loops.row[i].rate;
	}
	return CAL_OK;
}

/* All columns of all equations. */
static void expand(const CalModel *model, LoopWork *w, double *G) {
	memset(G, 0, sizeof(double) * (size_t)model->row_count * (size_t)model->nu);
	for (int i = 0; model->blocks && i < model->blocks->count; ++i) {
		const LoopBlock *b = &model->blocks->blocks[i];
		for (int r = 0; r < b->rows; ++r) {
			const double *from = loop_block_row(b, w->G, r);
			double *to = G + (size_t)model->blocks->rows[b->row + r] * (size_t)model->nu;
			for (int k = 0; k < b->columns; ++k)
				to[model->blocks->columns[b->column + k]] = from[k];
		}
	}
}

CalStatus cal_loop_jacobian(const CalModel *model, const CalState *state, CalWork *work, double *G, double *gamma) {
	if (!arguments_ok(model, state, work) || !G)
		return CAL_ERR_ARGUMENT;
	work->loops.acting = 0;
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .plain = 1}, work);
	loop_jacobian(model, work);
	expand(model, &work->loops, G);
	for (int i = 0; gamma && i < model->row_count; ++i)
		gamma[i] = -work->loops.row[i].acceleration;
	return CAL_OK;
}

static CalStatus check_acting(const CalModel *model, const CalWork *work, const void *out) {
	if (!model || !work || work->model != model || !out)
		return CAL_ERR_ARGUMENT;
	return work->loops.acting ? CAL_OK : CAL_ERR_STAGE;
}

CalStatus cal_loop_multipliers(const CalModel *model, const CalWork *work, double *lambda) {
	const CalStatus status = check_acting(model, work, lambda);
	if (status == CAL_OK)
		copy_numbers(lambda, work->loops.lambda, (size_t)model->row_count);
	return status;
}

CalStatus cal_loop_wrench(const CalModel *model, const CalWork *work, int loop, CalSpatial *wrench, CalVec3 *point) {
	const CalStatus status = check_acting(model, work, wrench);
	if (status != CAL_OK || loop < 0 || loop >= model->loop_count)
		return status != CAL_OK ? status : CAL_ERR_ARGUMENT;
	*wrench = spatial_out(loop_wrench(&model->loops[loop], &work->loops));
	if (point)
		*point = vec_out(work->loops.point[loop]);
	return CAL_OK;
}

CalStatus cal_loop_error(const CalModel *model, const CalWork *work, double *error) {
	const CalStatus status = check_acting(model, work, error);
	if (status == CAL_OK)
		*error = work->loops.error;
	return status;
}

CalStatus cal_loop_rank(const CalModel *model, const CalWork *work, int *rank, uint8_t *independent) {
	const CalStatus status = check_acting(model, work, rank);
	if (status != CAL_OK)
		return status;
	*rank = work->loops.rank;
	if (independent)
		memcpy(independent, work->loops.independent, (size_t)model->row_count);
	return CAL_OK;
}

#endif
