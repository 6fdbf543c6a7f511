// SPDX-License-Identifier: Apache-2.0
/*
 * linearize.c — the linear equations of motion about a state [THEORY 9.1].
 *
 * With r(q, u) = ID(q, u, udot0) - tau - G'lambda0, the forces that are missing at the accelerations and multipliers of the
 * state, displacements delta and changes of speed nu obey M nu' + C nu + K delta = G' dlambda with
 *   K = dr/d(delta),  C = dr/du.
 * Elastic forces are left out of what is differenced, and their matrices are added. delta' = nu + B delta: the axes of a
 * rotation turn with its speed, so that in delta
 *   C := C - M B(u0),   K := K - C B(u0) - M B(udot0),
 * and N'(..)N of all three is what loops and prescribed speeds leave.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "dynamics/tree/forces.h"
#include "linear/differences.h"
#include "linear/system_matrices.h"
#include "linear/turning.h"
#include "model/model.h"

/* Memory while a model is linearized. */
typedef struct Linearization {
	const CalModel *model;
	const CalState *state;
	CalInputFn input;
	void *user;
	CalWork *work;
	int nu, rows;
	bool structural;
	CalState at;             // displaced
	double *M, *C, *K;       // [nu nu]
	double *B;               // [nu nu]
	double *scratch;         // [nu nu + 2 nu]
	double *udot;            // [nu]
	double *lambda;          // [rows]
	double *G;               // [rows nu] of the displaced state
	double *force, *elastic; // [nu]
	double *column, *spare;  // [nu]
	TurningScratch turning;  //
	NullSpace space;
	NullSpaceRates rates;
} Linearization;

static void layout(Linearization *l, Cursor *cursor) {
	const size_t nu = (size_t)l->nu, rows = (size_t)l->rows, nq = (size_t)cal_model_q_count(l->model);
	double **const square[] = {&l->M, &l->C, &l->K, &l->B};
	for (size_t i = 0; i < sizeof square / sizeof *square; i++)
		CURSOR_ARRAY(cursor, *square[i], nu * nu);
	CURSOR_ARRAY(cursor, l->scratch, nu * nu + 2 * nu);
	double **const vectors[] = {&l->udot, &l->force, &l->elastic, &l->column, &l->spare, &l->at.u};
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		CURSOR_ARRAY(cursor, *vectors[i], nu);
	CURSOR_ARRAY(cursor, l->at.q, nq);
	turning_layout(l->model, cursor, &l->turning);
	CURSOR_ARRAY(cursor, l->lambda, rows);
	CURSOR_ARRAY(cursor, l->G, rows * nu);
	null_space_layout(l->model, cursor, &l->space);
	double **const moving[] = {&l->rates.first, &l->rates.second};
	for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
		CURSOR_ARRAY(cursor, *moving[i], rows > 0 ? nu * nu : 0);
}

/* ---- forces --------------------------------------------------------------------------------- */

static CalStatus input_at(const Linearization *l, const CalState *state, CalInput *input) {
	*input = (CalInput){0};
	return l->input && l->input(l->user, l->model, state, input) != 0 ? CAL_ERR_USER : CAL_OK;
}

/* r without elastic forces. */
static CalStatus missing_force(void *user, const CalState *state, double *r) {
	Linearization *l = user;
	CalInput input;
	CalStatus status = input_at(l, state, &input);
	if (status == CAL_OK)
		status = cal_inverse_dynamics(l->model, state, l->udot, &input, l->work, r);
	for (int i = 0; input.tau && i < l->nu; i++)
		r[i] -= input.tau[i];
	if (status == CAL_OK)
		status = cal_elastic_forces(l->model, state, l->work, l->elastic);
	for (int i = 0; i < l->nu; i++)
		r[i] += l->elastic[i];
	if (status == CAL_OK && l->rows > 0)
		status = cal_loop_jacobian(l->model, state, l->work, l->G, NULL);
	for (int k = 0; k < l->rows && status == CAL_OK; k++)
		for (int i = 0; i < l->nu; i++)
			r[i] -= l->G[(size_t)k * (size_t)l->nu + (size_t)i] * l->lambda[k];
	return status;
}

/* Accelerations, multipliers and what is prescribed at the state itself. */
static CalStatus find_motion(Linearization *l) {
	CalInput input;
	CalStatus status = input_at(l, l->state, &input);
	memset(l->udot, 0, (size_t)l->nu * sizeof *l->udot);
	if (status == CAL_OK && !l->structural)
		status = cal_forward_dynamics(l->model, l->state, &input, l->work, l->udot);
	if (status == CAL_OK && l->rows > 0 && !l->structural)
		status = cal_loop_multipliers(l->model, l->work, l->lambda);
	const uint8_t *prescribed = forces_prescribed(l->model, &input);
	for (int i = 0; i < l->nu; i++)
		l->space.frozen[i] = prescribed ? prescribed[i] : 0;
	return status;
}

/* ---- scales --------------------------------------------------------------------------------- */

/* Round-off in differences of weights and inertia forces, by the inertia that they move. */
static double squared_floor(Linearization *l, const double *scale, double *force) {
	static const double lost = 1e-9;
	const size_t nu = (size_t)l->nu;
	double floor = 0;
	if (cal_gravity_forces(l->model, l->state, l->work, force) != CAL_OK)
		memset(force, 0, nu * sizeof *force);
	for (size_t i = 0; i < nu; i++) {
		double inertia = 0;
		for (size_t j = 0; j < nu; j++)
			inertia += fabs(l->M[i * nu + j] * l->udot[j]);
		floor = fmax(floor, lost * fmax(fabs(force[i]), inertia) / (l->M[i * nu + i] * scale[i]));
	}
	return floor;
}

/* ---- matrices ------------------------------------------------------------------------------- */

/* C -= A B. */
static void subtract_product(size_t n, const double *A, const double *B, double *C) {
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; A[i * n + k] != 0 && j < n; j++)
				C[i * n + j] -= A[i * n + k] * B[k * n + j];
}

static void add_turning(Linearization *l) {
	const size_t nu = (size_t)l->nu;
	if (turning_matrix(l->model, l->state->q, l->state->u, &l->turning, l->B)) {
		subtract_product(nu, l->C, l->B, l->K);
		subtract_product(nu, l->M, l->B, l->C);
	}
	if (turning_matrix(l->model, l->state->q, l->udot, &l->turning, l->B))
		subtract_product(nu, l->M, l->B, l->K);
}

static CalStatus add_differences(Linearization *l, const double *scale, bool speed, double *A) {
	const size_t nu = (size_t)l->nu;
	CalStatus status = CAL_OK;
	for (size_t k = 0; k < nu && status == CAL_OK; k++) {
		const double step = DIFFERENCE_STEP * scale[k] * (speed ? fmax(1, fabs(l->state->u[k]) / scale[k]) : 1);
		const Difference d = {l->model, l->state, &l->at, (int)k, step, speed};
		if (l->space.frozen[k])
			continue;
		status = difference_column(&d, missing_force, l, l->column, l->spare);
		for (size_t i = 0; i < nu && status == CAL_OK; i++)
			A[i * nu + k] += l->column[i];
	}
	return status;
}

static CalStatus fill_matrices(Linearization *l, double *floor) {
	double *scale = l->force;
	CalStatus status = find_motion(l);
	if (status == CAL_OK)
		status = cal_mass_matrix(l->model, l->state, l->work, l->M);
	if (status == CAL_OK)
		status = elastic_matrices(l->model, l->state, l->work, &l->at, l->scratch, l->K, l->C);
	if (status != CAL_OK)
		return status;
	if (l->structural)
		return null_space_find(l->model, l->state, l->work, &l->space);
	difference_scales(l->model, l->M, scale);
	status = add_differences(l, scale, false, l->K);
	if (status == CAL_OK)
		status = add_differences(l, scale, true, l->C);
	if (status != CAL_OK)
		return status;
	add_turning(l);
	*floor = squared_floor(l, scale, l->column);
	return null_space_find(l->model, l->state, l->work, &l->space);
}

/* ---- results -------------------------------------------------------------------------------- */

typedef struct Results {
	int *dof;
	double *N, *M, *C, *K, *udot, *inertia;
} Results;

static void layout_results(Results *r, int nu, int n, Cursor *cursor) {
	CURSOR_ARRAY(cursor, r->dof, n);
	CURSOR_ARRAY(cursor, r->udot, nu);
	CURSOR_ARRAY(cursor, r->inertia, nu);
	CURSOR_ARRAY(cursor, r->N, (size_t)nu * (size_t)n);
	double **const square[] = {&r->M, &r->C, &r->K};
	for (size_t i = 0; i < sizeof square / sizeof *square; i++)
		CURSOR_ARRAY(cursor, *square[i], (size_t)n * (size_t)n);
}

/* N moves with the state: 2 N'M N_t is damping, N'(M N_tt + C N_t) stiffness. */
static CalStatus add_moving(Linearization *l, const Results *r) {
	const int n = l->space.count;
	NullSpaceRates *rates = &l->rates;
	bool moves = false;
	if (l->structural || l->rows == 0)
		return CAL_OK;
	difference_scales(l->model, l->M, l->force);
	*rates = (NullSpaceRates){.udot = l->udot,
	                          .scale = l->force,
	                          .at = l->at,
	                          .way = l->column,
	                          .first = rates->first,
	                          .second = rates->second};
	const CalStatus status = null_space_rates(l->model, l->state, l->work, &l->space, rates, &moves);
	if (status != CAL_OK || !moves)
		return status;
	null_space_add(l->nu, n, r->N, 2, l->M, rates->first, l->scratch, r->C);
	null_space_add(l->nu, n, r->N, 1, l->M, rates->second, l->scratch, r->K);
	null_space_add(l->nu, n, r->N, 1, l->C, rates->first, l->scratch, r->K);
	return CAL_OK;
}

/*
 * Displacements of a group with a nonholonomic loop are not all of N y. At rest in equilibrium those that are not stay as they
 * are, and (9.5) holds for the others; where something moves, they steer.
 */
static bool is_steered(Linearization *l) {
	static const double at_rest = 1e-6;
	bool moves = false;
	if (l->structural || !nonholonomic_loop(l->model))
		return false;
	difference_scales(l->model, l->M, l->force);
	for (int i = 0; i < l->nu; i++)
		moves |= fmax(fabs(l->state->u[i]), fabs(l->udot[i])) > at_rest * l->force[i];
	return moves;
}

static double mean_acceleration(const Linearization *l) {
	const size_t nu = (size_t)l->nu;
	double sum = 0, trace = 0;
	for (size_t i = 0; i < nu; i++) {
		trace += l->M[i * nu + i];
		for (size_t j = 0; j < nu; j++)
			sum += l->udot[i] * l->M[i * nu + j] * l->udot[j];
	}
	return trace > 0 ? sqrt(fmax(0, sum) / trace) : 0;
}

static CalStatus keep_results(Linearization *l, const CalAllocator *allocator, CalLinear *linear) {
	const NullSpace *s = &l->space;
	const size_t n = (size_t)s->count;
	Results r;
	Cursor cursor = {0};
	layout_results(&r, l->nu, s->count, &cursor);
	void *memory = cursor_alloc(&cursor, allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	layout_results(&r, l->nu, s->count, &cursor);
	memcpy(r.dof, s->dof, n * sizeof *r.dof);
	memcpy(r.udot, l->udot, (size_t)l->nu * sizeof *r.udot);
	for (size_t i = 0; i < (size_t)l->nu; i++)
		r.inertia[i] = l->M[i * (size_t)l->nu + i];
	memcpy(r.N, s->N, (size_t)l->nu * n * sizeof *r.N);
	null_space_project(s, l->nu, l->M, l->scratch, r.M);
	null_space_project(s, l->nu, l->C, l->scratch, r.C);
	null_space_project(s, l->nu, l->K, l->scratch, r.K);
	const CalStatus status = add_moving(l, &r);
	if (status != CAL_OK) {
		memory_free(allocator, memory);
		return status;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			r.M[i * n + j] = r.M[j * n + i] = 0.5 * (r.M[i * n + j] + r.M[j * n + i]);
	linear->nu = l->nu;
	linear->count = s->count;
	linear->dof = r.dof;
	linear->N = r.N;
	linear->M = r.M;
	linear->C = r.C;
	linear->K = r.K;
	linear->udot = r.udot;
	linear->inertia = r.inertia;
	linear->imbalance = mean_acceleration(l);
	linear->allocator = *allocator;
	linear->memory = memory;
	return CAL_OK;
}

static CalStatus report_failure(const Linearization *l, CalStatus status, CalError *error) {
	if (status == CAL_ERR_UNSUPPORTED)
		return error_set(
			error, status,
			"cannot linearize group \"%s\" at t = %.9g s: loop \"%.100s\" constrains speeds and not positions "
			"(rolling, knife edge), and the group moves; its displacements and speeds differ in number then, which "
			"this does not know. Take a state at rest in equilibrium",
			cal_model_name(l->model), l->state->t, nonholonomic_loop(l->model));
	char name[96] = "";
	const int dof = cal_work_failed_dof(l->work);
	if (status == CAL_SINGULAR && dof >= 0)
		cal_model_dof_name(l->model, dof, name, sizeof name);
	return error_set(error, status, "cannot linearize group \"%s\" at t = %.9g s: %s%s%s%s", cal_model_name(l->model),
	                 l->state->t, cal_status_text(status), name[0] ? " (joint \"" : "", name, name[0] ? "\")" : "");
}

CalStatus cal_linearize(const CalModel *model, const CalState *state, CalInputFn input, void *user,
                        const CalLinearOptions *options, CalWork *work, CalLinear *linear, CalError *error) {
	if (!model || !state || !work || !linear)
		return error_null(error, __func__, !model ? "model" : !state ? "state" : !work ? "work" : "linear");
	*linear = (CalLinear){0};
	const CalAllocator from = allocator_or_default(options ? &options->allocator : NULL);
	Linearization l = {.model = model,
	                   .state = state,
	                   .input = input,
	                   .user = user,
	                   .work = work,
	                   .nu = cal_model_u_count(model),
	                   .rows = cal_model_row_count(model),
	                   .structural = options && options->structural};
	Cursor cursor = {0};
	layout(&l, &cursor);
	void *memory = cursor_alloc(&cursor, &from);
	if (!memory)
		return error_set(error, CAL_ERR_MEMORY, "cal_linearize: %s", cal_status_text(CAL_ERR_MEMORY));
	layout(&l, &cursor);
	CalStatus status = fill_matrices(&l, &linear->squared_floor);
	if (status == CAL_OK && is_steered(&l))
		status = CAL_ERR_UNSUPPORTED;
	if (status == CAL_OK)
		status = keep_results(&l, &from, linear);
	memory_free(&from, memory);
	return status == CAL_OK ? CAL_OK : report_failure(&l, status, error);
}

void cal_linear_release(CalLinear *linear) {
	if (!linear || !linear->memory)
		return;
	memory_free(&linear->allocator, linear->memory);
	*linear = (CalLinear){0};
}
