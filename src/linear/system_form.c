// SPDX-License-Identifier: Apache-2.0
/*
 * system_form.c — accelerations from system matrices that are held from one update to the next [THEORY 9.3].
 *
 *   update      M, K, G at the state;  M phi w^2 = K phi over the motions N that G leaves, phi'M phi = 1;
 *               R = N phi;  M = L L';  Y = L^-1 G';  W = Y'Y;  P = L^-T Y W^+
 *   evaluation  f = tau - ID(q, u, 0),  udot = R diag(weight) R' f + P (gamma - stabilization)
 * or, if all modes are retained and none has to be known, L L' udot = f + G'lambda.
 * R'M P = 0: what the loops demand and what the modes do not are apart. Everything is over the free speeds; a prescribed one
 * moves as it is given, and the forces that this takes are part of f.
 *
 * flops of an update 9 n^3 or so, without modes n^3/3; of an evaluation 4 n r, without modes 2 n^2, beside inverse
 * dynamics. n: speeds, r: modes with a weight.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "dynamics/tree/forces.h"
#include "linear/system_form.h"
#include "linear/system_matrices.h"
#include "math/dense_factor.h"
#include "math/eigen.h"
#include "math/min_norm.h"
#include "model/model.h"
#include "model/work.h"

struct CalSystemForm {
	const CalModel *model;
	CalFormulationOptions options;
	CalAllocator allocator;
	void *memory;
	int nu, rows;
	int free;   // speeds that are not prescribed
	int acting; // modes with a weight above zero, the first ones
	CalSystemFormInfo info;
	bool known;        // there was an update
	CalState at;       // of the last update: t and q
	CalState moved;    // scratch
	NullSpace space;   //
	int *speed;        // [free]
	double *M, *K;     // [nu nu]
	double *L;         // [free free]
	double *Y;         // [rows free] rows of Y'
	double *W;         // [rows rows] factored
	int rank;          // of W
	int *order;        // [rows]
	uint8_t *which;    // [rows]
	double *loops;     // [(rows + 2) rows] scratch of the factors of W
	double *P;         // [rows free] columns of P
	double *R;         // [modes nu] modes, one after another
	double *reduced;   // [nu nu] scratch: N'KN, then phi
	double *squared;   // [nu]
	double *weight;    // [nu]
	double *scratch;   // [nu nu + 2 nu]
	double *f, *z;     // [nu]
	double *G, *gamma; // [rows nu], [rows] of the state at hand
	double *g, *rate;  // [rows]
	double *lambda;    // [rows]
};

static void layout(CalSystemForm *form, Cursor *cursor) {
	const size_t nu = (size_t)form->nu, rows = (size_t)form->rows;
	cursor_array(cursor, 1, sizeof *form);
	double **const square[] = {&form->M, &form->K, &form->L, &form->R, &form->reduced};
	for (size_t i = 0; i < sizeof square / sizeof *square; i++)
		CURSOR_ARRAY(cursor, *square[i], nu * nu);
	double **const wide[] = {&form->Y, &form->P, &form->G};
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		CURSOR_ARRAY(cursor, *wide[i], rows * nu);
	double **const speeds[] = {&form->squared, &form->weight, &form->f, &form->z, &form->moved.u, &form->at.u};
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		CURSOR_ARRAY(cursor, *speeds[i], nu);
	double **const of_rows[] = {&form->gamma, &form->g, &form->rate, &form->lambda};
	for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
		CURSOR_ARRAY(cursor, *of_rows[i], rows);
	CURSOR_ARRAY(cursor, form->at.q, cal_model_q_count(form->model));
	CURSOR_ARRAY(cursor, form->moved.q, cal_model_q_count(form->model));
	CURSOR_ARRAY(cursor, form->scratch, nu * nu + 2 * nu);
	CURSOR_ARRAY(cursor, form->W, rows * rows);
	CURSOR_ARRAY(cursor, form->loops, (rows + 2) * rows);
	CURSOR_ARRAY(cursor, form->order, rows);
	CURSOR_ARRAY(cursor, form->speed, nu);
	CURSOR_ARRAY(cursor, form->which, rows);
	null_space_layout(form->model, cursor, &form->space);
}

CalStatus cal_system_form_create(const CalModel *model, const CalFormulationOptions *options,
                                 const CalAllocator *allocator, CalSystemForm **form) {
	if (!model || !options || !form || !(options->retain >= 0) || !isfinite(options->retain))
		return CAL_ERR_ARGUMENT;
	CalSystemForm layout_of = {.model = model,
	                           .options = *options,
	                           .allocator = allocator_or_default(allocator),
	                           .nu = cal_model_u_count(model),
	                           .rows = cal_model_row_count(model)};
	Cursor cursor = {0};
	*form = NULL;
	layout(&layout_of, &cursor);
	layout_of.memory = cursor_alloc(&cursor, &layout_of.allocator);
	if (!layout_of.memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	CalSystemForm *made = (CalSystemForm *)(void *)cursor.base;
	layout(&layout_of, &cursor);
	*made = layout_of;
	*form = made;
	return CAL_OK;
}

void cal_system_form_destroy(CalSystemForm *form) {
	if (form) {
		const CalAllocator allocator = form->allocator;
		memory_free(&allocator, form->memory);
	}
}

/* Otherwise all are retained, and nobody has to know them. */
static bool has_modes(const CalSystemForm *s) { return s->options.retain > 0; }

/* ---- update --------------------------------------------------------------------------------- */

static double dot_product(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* M over the free speeds, factored. */
static bool factor_free(CalSystemForm *s) {
	s->free = 0;
	for (int i = 0; i < s->nu; i++)
		if (!s->space.frozen[i])
			s->speed[s->free++] = i;
	for (int i = 0; i < s->free; i++)
		for (int k = 0; k < s->free; k++)
			s->L[(size_t)i * (size_t)s->free + (size_t)k] =
				s->M[(size_t)s->speed[i] * (size_t)s->nu + (size_t)s->speed[k]];
	return factor_lower(s->L, s->free) < 0;
}

/* Y, W and P. */
static void factor_loops(CalSystemForm *s) {
	const size_t n = (size_t)s->free;
	for (int r = 0; r < s->rows; r++) {
		double *y = s->Y + (size_t)r * n;
		for (size_t i = 0; i < n; i++)
			y[i] = s->space.G[(size_t)r * (size_t)s->nu + (size_t)s->speed[i]];
		factor_forward(s->L, s->free, y);
		for (int k = 0; k <= r; k++)
			s->W[r * s->rows + k] = s->W[k * s->rows + r] = dot_product(s->free, y, s->Y + (size_t)k * n);
	}
	MinNormRows rows = {.tolerance = 1e-12, .known = s->space.rank};
	s->rank = min_norm_factor_rows(s->rows, s->W, &rows, s->order, s->which, s->loops);
	for (int r = 0; r < s->rows && has_modes(s); r++) { // column r of W^+, then P
		double *p = s->P + (size_t)r * n;
		memset(s->lambda, 0, (size_t)s->rows * sizeof *s->lambda);
		s->lambda[r] = 1;
		min_norm_solve(s->rows, s->rank, s->W, s->order, s->loops, s->lambda, s->lambda);
		memset(p, 0, n * sizeof *p);
		for (int k = 0; k < s->rows; k++)
			for (size_t i = 0; s->lambda[k] != 0 && i < n; i++)
				p[i] += s->lambda[k] * s->Y[(size_t)k * n + i];
		factor_backward(s->L, s->free, p);
	}
}

/* Rows of R: modes in the speeds of the model, ascending. */
static void fill_modes(CalSystemForm *s) {
	const size_t n = (size_t)s->space.count, nu = (size_t)s->nu;
	for (size_t k = 0; k < n; k++) {
		double *mode = s->R + k * nu;
		memset(mode, 0, nu * sizeof *mode);
		for (size_t j = 0; j < n; j++)
			mode[s->space.dof[j]] = s->reduced[j * n + k];
		for (int d = 0; d < s->space.rank; d++) {
			const double *N = s->space.N + (size_t)s->space.dependent[d] * n;
			double sum = 0;
			for (size_t j = 0; j < n; j++)
				sum += N[j] * s->reduced[j * n + k];
			mode[s->space.dependent[d]] = sum;
		}
	}
}

static void weigh_modes(CalSystemForm *s) {
	const double bound = s->options.retain > 0 ? s->options.retain * s->options.retain : INFINITY;
	CalSystemFormInfo *info = &s->info;
	info->modes = s->space.count;
	info->retained = s->acting = 0;
	info->highest = info->next = 0;
	for (int k = 0; k < s->space.count; k++) {
		const bool kept = s->squared[k] <= bound;
		const double w = sqrt(fmax(0, s->squared[k]));
		s->weight[k] = kept ? 1 : s->options.unretained == CAL_UNRETAINED_BOUNDED ? bound / s->squared[k] : 0;
		s->acting += s->weight[k] > 0;
		info->retained += kept;
		info->highest = kept ? w : info->highest;
		info->next = !kept && info->next == 0 ? w : info->next;
	}
}

static void note_state(CalSystemForm *s, const CalState *state, const uint8_t *prescribed) {
	cal_state_copy(s->model, state, &s->at);
	for (int i = 0; i < s->nu; i++)
		s->space.frozen[i] = prescribed ? prescribed[i] != 0 : s->model->prescribed && s->model->prescribed[i];
}

/* Whether degrees of freedom are prescribed that were not at the update, or the other way around. */
static bool holds_other(const CalSystemForm *s, const uint8_t *prescribed) {
	for (int i = 0; i < s->nu; i++)
		if ((prescribed && prescribed[i]) != (s->space.frozen[i] != 0))
			return true;
	return false;
}

static CalStatus find_modes(CalSystemForm *s) {
	double *reduced_mass = s->R; // until the modes are there
	null_space_project(&s->space, s->nu, s->K, s->scratch, s->reduced);
	null_space_project(&s->space, s->nu, s->M, s->scratch, reduced_mass);
	const CalStatus status = eigen_generalized(s->space.count, s->reduced, reduced_mass, s->squared, s->scratch);
	s->known = status == CAL_OK;
	if (status != CAL_OK)
		return status;
	fill_modes(s);
	weigh_modes(s);
	return CAL_OK;
}

static CalStatus form_at(CalSystemForm *s, CalWork *work) {
	CalStatus status = cal_mass_matrix(s->model, &s->at, work, s->M);
	if (status == CAL_OK && has_modes(s))
		status = elastic_matrices(s->model, &s->at, work, &s->moved, s->scratch, s->K, NULL);
	if (status == CAL_OK)
		status = null_space_find(s->model, &s->at, work, &s->space);
	if (status != CAL_OK)
		return status;
	if (!factor_free(s))
		return CAL_SINGULAR;
	if (s->rows > 0)
		factor_loops(s);
	s->known = true;
	if (!has_modes(s)) {
		s->info.modes = s->info.retained = s->acting = s->space.count;
		return CAL_OK;
	}
	return find_modes(s);
}

CalStatus cal_system_form_update(CalSystemForm *form, const CalState *state, const uint8_t *prescribed, CalWork *work) {
	if (!form || !state || !work || work->model != form->model)
		return CAL_ERR_ARGUMENT;
	form->known = false;
	note_state(form, state, prescribed);
	const CalStatus status = form_at(form, work);
	form->info.time = state->t;
	form->info.updates += status == CAL_OK;
	return status;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* What the rows demand of udot: gamma, stabilization, and what prescribed accelerations do to them already. */
static CalStatus loop_terms(CalSystemForm *s, const CalState *state, CalWork *work, const double *given) {
	CalStatus status = cal_loop_jacobian(s->model, state, work, s->G, s->gamma);
	if (status == CAL_OK)
		status = cal_loop_residual(s->model, state, work, s->g, s->rate);
	for (int i = 0; i < s->model->loop_count && status == CAL_OK; i++) {
		CalLoopInfo loop;
		status = cal_model_loop(s->model, i, &loop);
		for (int r = loop.row; r < loop.row + loop.rows && status == CAL_OK; r++)
			s->gamma[r] -= 2 * loop.damping * loop.frequency * s->rate[r] + loop.frequency * loop.frequency * s->g[r] +
			               dot_product(s->nu, s->G + (size_t)r * (size_t)s->nu, given);
	}
	return status;
}

/* Multipliers W^+ (gamma - Y' L^-1 f), for the power of driven constraint equations and the forces of prescribed speeds. */
static void find_multipliers(CalSystemForm *s, CalWork *work) {
	for (int r = 0; r < s->rows; r++)
		s->lambda[r] = s->gamma[r] - dot_product(s->free, s->Y + (size_t)r * (size_t)s->free, s->z);
	min_norm_solve(s->rows, s->rank, s->W, s->order, s->loops, s->lambda, s->lambda);
	memcpy(work->loops.lambda, s->lambda, (size_t)s->rows * sizeof *s->lambda);
}

/* udot += M^-1 (f + G'lambda) by the factor of M; z is L^-1 f. */
static void solve_accelerations(const CalSystemForm *s, double *udot) {
	for (int r = 0; r < s->rows; r++)
		for (int i = 0; i < s->free; i++)
			s->z[i] += s->lambda[r] * s->Y[(size_t)r * (size_t)s->free + (size_t)i];
	factor_backward(s->L, s->free, s->z);
	for (int i = 0; i < s->free; i++)
		udot[s->speed[i]] += s->z[i];
}

/* udot += R diag(weight) R' f + P gamma. */
static void add_accelerations(const CalSystemForm *s, double *udot) {
	for (int k = 0; k < s->acting; k++) {
		const double *mode = s->R + (size_t)k * (size_t)s->nu;
		const double along = s->weight[k] * dot_product(s->nu, mode, s->f);
		for (int i = 0; i < s->nu; i++)
			udot[i] += along * mode[i];
	}
	for (int r = 0; r < s->rows; r++)
		for (int i = 0; i < s->free; i++)
			udot[s->speed[i]] += s->gamma[r] * s->P[(size_t)r * (size_t)s->free + (size_t)i];
}

/* What prescribed speeds need beyond tau, at the accelerations that were found. */
static CalStatus find_forces(CalSystemForm *s, const CalState *state, const CalInput *input, CalWork *work,
                             const double *udot, double *force) {
	const CalStatus status = cal_inverse_dynamics(s->model, state, udot, input, work, force);
	for (int i = 0; i < s->nu && status == CAL_OK; i++) {
		force[i] -= input->tau ? input->tau[i] : 0;
		for (int r = 0; r < s->rows; r++)
			force[i] -= s->G[(size_t)r * (size_t)s->nu + (size_t)i] * s->lambda[r];
		force[i] = s->space.frozen[i] ? force[i] : 0;
	}
	return status;
}

CalStatus cal_system_form_dynamics(CalSystemForm *form, const CalState *state, const CalInput *input, CalWork *work,
                                   double *udot, double *force) {
	const CalInput none = {0};
	if (!form || !state || !work || !udot || work->model != form->model)
		return CAL_ERR_ARGUMENT;
	input = input ? input : &none;
	const uint8_t *prescribed = forces_prescribed(form->model, input);
	CalStatus status = CAL_OK;
	if (!form->known || holds_other(form, prescribed))
		status = cal_system_form_update(form, state, prescribed, work);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < form->nu; i++)
		udot[i] = form->space.frozen[i] && input->udot ? input->udot[i] : 0;
	status = cal_inverse_dynamics(form->model, state, udot, input, work, form->f);
	for (int i = 0; i < form->nu; i++)
		form->f[i] = (input->tau ? input->tau[i] : 0) - form->f[i];
	if (!has_modes(form) || form->rows > 0) { // z = L^-1 f
		for (int i = 0; i < form->free; i++)
			form->z[i] = form->f[form->speed[i]];
		factor_forward(form->L, form->free, form->z);
	}
	if (status == CAL_OK && form->rows > 0) {
		status = loop_terms(form, state, work, udot);
		if (status == CAL_OK)
			find_multipliers(form, work);
	}
	if (status != CAL_OK)
		return status;
	(has_modes(form) ? add_accelerations : solve_accelerations)(form, udot);
	for (int i = 0; i < form->nu; i++)
		if (!isfinite(udot[i]))
			return CAL_NOT_FINITE;
	return force ? find_forces(form, state, input, work, udot, force) : CAL_OK;
}

/* ---- speeds, norms -------------------------------------------------------------------------- */

double cal_system_form_project(const CalSystemForm *form, double *u) {
	if (!form || !u || !form->known || form->acting == form->space.count)
		return 0;
	const int nu = form->nu;
	double lost = 0;
	for (int i = 0; i < nu; i++) { // momenta of the free speeds, before any of them changes
		form->f[i] = 0;
		for (int k = 0; k < form->free; k++)
			form->f[i] += form->M[(size_t)i * (size_t)nu + (size_t)form->speed[k]] * u[form->speed[k]];
	}
	for (int k = form->acting; k < form->space.count; k++) {
		const double *mode = form->R + (size_t)k * (size_t)nu;
		const double speed = dot_product(nu, mode, form->f);
		lost += 0.5 * speed * speed;
		for (int i = 0; i < nu; i++)
			u[i] -= speed * mode[i];
	}
	return lost;
}

double cal_system_form_norm(const CalSystemForm *form, const double *a) {
	double sum = 0;
	if (!form || !a || !form->known)
		return 0;
	for (int i = 0; i < form->nu; i++)
		form->z[i] = dot_product(form->nu, form->M + (size_t)i * (size_t)form->nu, a);
	if (!has_modes(form))
		return sqrt(fmax(0, dot_product(form->nu, a, form->z)));
	for (int k = 0; k < form->info.retained; k++) {
		const double part = dot_product(form->nu, form->R + (size_t)k * (size_t)form->nu, form->z);
		sum += part * part;
	}
	return sqrt(sum);
}

void cal_system_form_filter(const CalSystemForm *form, double *tau) {
	if (!form || !tau || !form->known || !has_modes(form))
		return;
	for (int k = form->info.retained; k < form->space.count; k++) {
		const double *mode = form->R + (size_t)k * (size_t)form->nu;
		const double part = dot_product(form->nu, mode, form->f);
		for (int i = 0; i < form->nu; i++)
			tau[i] -= part * dot_product(form->nu, form->M + (size_t)i * (size_t)form->nu, mode);
	}
}

double cal_system_form_missing_energy(const CalSystemForm *form) {
	double sum = 0;
	for (int k = form ? form->info.retained : 0; form && form->known && k < form->space.count; k++) {
		const double part = dot_product(form->nu, form->R + (size_t)k * (size_t)form->nu, form->f);
		sum += 0.5 * part * part / form->squared[k];
	}
	return sum;
}

CalSystemFormInfo cal_system_form_info(const CalSystemForm *form) { return form ? form->info : (CalSystemFormInfo){0}; }

/* ---- checkpoints ---------------------------------------------------------------------------- */

void system_form_walk(CalSystemForm *form, Serializer *a) {
	serializer_i64_within(a, &form->info.updates, 0, INT64_MAX / 4);
	serializer_finite(a, &form->info.time, 1);
	serializer_finite(a, &form->at.t, 1);
	serializer_finite(a, form->at.q, cal_model_q_count(form->model));
	serializer_bool(a, &form->known);
	for (int i = 0; i < form->nu; i++) {
		bool frozen = form->space.frozen[i];
		serializer_bool(a, &frozen);
		form->space.frozen[i] = frozen;
	}
}

CalStatus system_form_restore(CalSystemForm *form, CalWork *work) {
	if (!form->known)
		return CAL_OK;
	form->known = false;
	return form_at(form, work);
}
