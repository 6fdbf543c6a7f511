// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_response.c — what follows from A, B, C and D: poles, frequency response, step response; and how far a simulation
 * is from the state at which it was linearized.
 *
 * The frequency response solves (i w - A) X = B by elimination with row exchanges in complex numbers. The step response is exact:
 * x and u are advanced together by exp([A B; 0 0] dt).
 */
#include <math.h>
#include <string.h>

#include "analysis/state_space_poles.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "math/discrete_system.h"
#include "math/portable.h"
#include "sim/sim_internal.h"

#include <calder/state_space.h>

static bool is_valid(const CalStateSpace *space) { return space && space->memory; }

/* ---- poles ---------------------------------------------------------------------------------------------- */

CalPole pole_of(Complex value) {
	const double size = portable_hypot(value.re, value.im);
	return (CalPole){value.re, value.im, size, size > 0 ? -value.re / size : 0};
}

/* By frequency; of a pair, whose frequencies differ by round-off, the upper one first. */
static bool is_before(const CalPole *a, const CalPole *b) {
	static const double same = 1e-9;
	if (fabs(a->frequency - b->frequency) > same * fmax(a->frequency, b->frequency))
		return a->frequency < b->frequency;
	if (fabs(a->real - b->real) > same * a->frequency)
		return a->real < b->real;
	return a->imag > b->imag;
}

void sort_poles(CalPole *poles, int count) {
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0 && is_before(&poles[k], &poles[k - 1]); k--) {
			const CalPole kept = poles[k];
			poles[k] = poles[k - 1], poles[k - 1] = kept;
		}
}

CalStatus cal_state_space_poles(const CalStateSpace *space, CalPole *poles) {
	if (!is_valid(space) || !poles)
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)space->state_count;
	Complex *values, *vectors, *scratch;
	Cursor cursor = {0};
	void *memory = NULL;
	for (int pass = 0; pass < 2; pass++) {
		CURSOR_ARRAY(&cursor, values, n);
		CURSOR_ARRAY(&cursor, vectors, n * n);
		CURSOR_ARRAY(&cursor, scratch, n * n + 2 * n);
		if (pass == 0 && !(memory = cursor_alloc(&cursor, &space->allocator)))
			return CAL_ERR_MEMORY;
	}
	const CalStatus status = n > 0 ? eigen_general((int)n, space->A, values, vectors, scratch) : CAL_OK;
	for (size_t i = 0; i < n && status == CAL_OK; i++)
		poles[i] = pole_of(values[i]);
	if (status == CAL_OK)
		sort_poles(poles, (int)n);
	memory_free(&space->allocator, memory);
	return status;
}

/* ---- frequency response ------------------------------------------------------------------------------------ */

static Complex c_mul(Complex a, Complex b) { return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static Complex c_div(Complex a, Complex b) {
	const double size = b.re * b.re + b.im * b.im;
	return (Complex){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

static double c_size(Complex a) { return fabs(a.re) + fabs(a.im); }

/* S[n n], X[n m] := S^-1 X; false: singular. */
static bool solve_complex(size_t n, size_t m, Complex *S, Complex *X) {
	for (size_t k = 0; k < n; k++) {
		size_t pivot = k;
		for (size_t i = k + 1; i < n; i++)
			pivot = c_size(S[i * n + k]) > c_size(S[pivot * n + k]) ? i : pivot;
		if (!(c_size(S[pivot * n + k]) > 0))
			return false;
		for (size_t j = 0; pivot != k && j < n; j++) {
			const Complex kept = S[k * n + j];
			S[k * n + j] = S[pivot * n + j], S[pivot * n + j] = kept;
		}
		for (size_t j = 0; pivot != k && j < m; j++) {
			const Complex kept = X[k * m + j];
			X[k * m + j] = X[pivot * m + j], X[pivot * m + j] = kept;
		}
		for (size_t i = k + 1; i < n; i++) {
			const Complex factor = c_div(S[i * n + k], S[k * n + k]);
			for (size_t j = k + 1; c_size(factor) > 0 && j < n; j++) {
				const Complex part = c_mul(factor, S[k * n + j]);
				S[i * n + j].re -= part.re, S[i * n + j].im -= part.im;
			}
			for (size_t j = 0; c_size(factor) > 0 && j < m; j++) {
				const Complex part = c_mul(factor, X[k * m + j]);
				X[i * m + j].re -= part.re, X[i * m + j].im -= part.im;
			}
		}
	}
	for (size_t k = n; k-- > 0;)
		for (size_t j = 0; j < m; j++) {
			for (size_t i = k + 1; i < n; i++) {
				const Complex part = c_mul(S[k * n + i], X[i * m + j]);
				X[k * m + j].re -= part.re, X[k * m + j].im -= part.im;
			}
			X[k * m + j] = c_div(X[k * m + j], S[k * n + k]);
		}
	return true;
}

static void add_outputs(const CalStateSpace *s, const Complex *X, double *H) {
	const size_t n = (size_t)s->state_count, m = (size_t)s->input_count, p = (size_t)s->output_count;
	for (size_t i = 0; i < p; i++)
		for (size_t j = 0; j < m; j++) {
			double *h = H + 2 * (i * m + j);
			h[0] = s->D[i * m + j];
			h[1] = 0;
			for (size_t k = 0; k < n; k++) {
				h[0] += s->C[i * n + k] * X[k * m + j].re;
				h[1] += s->C[i * n + k] * X[k * m + j].im;
			}
		}
}

CalStatus cal_state_space_response(const CalStateSpace *space, double frequency, double *H) {
	if (!is_valid(space) || !isfinite(frequency) || (!H && space->input_count > 0 && space->output_count > 0))
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)space->state_count, m = (size_t)space->input_count;
	Complex *S = memory_alloc(&space->allocator, (n * n + n * m) * sizeof *S), *X = S + n * n;
	if (!S)
		return CAL_ERR_MEMORY;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			S[i * n + j] = (Complex){-space->A[i * n + j], i == j ? frequency : 0};
	for (size_t i = 0; i < n * m; i++)
		X[i] = (Complex){space->B[i], 0};
	const bool solved = solve_complex(n, m, S, X);
	if (solved && H)
		add_outputs(space, X, H);
	memory_free(&space->allocator, S);
	return solved ? CAL_OK : CAL_SINGULAR;
}

/* ---- step response ------------------------------------------------------------------------------------------- */

typedef struct StepMemory {
	double *Z, *E, *term, *spare; // [n + 1, n + 1]
	double *x, *next;             // [n + 1]: states, then the input
} StepMemory;

static void layout_step(StepMemory *m, size_t size, Cursor *cursor) {
	double **const square[] = {&m->Z, &m->E, &m->term, &m->spare};
	for (size_t i = 0; i < 4; i++)
		CURSOR_ARRAY(cursor, *square[i], size * size);
	CURSOR_ARRAY(cursor, m->x, size);
	CURSOR_ARRAY(cursor, m->next, size);
}

/* y[p] of x and the input after it. */
static void put_outputs(const CalStateSpace *s, int input, const double *x, double *y) {
	const size_t n = (size_t)s->state_count;
	for (size_t i = 0; i < (size_t)s->output_count; i++) {
		y[i] = input >= 0 ? s->D[i * (size_t)s->input_count + (size_t)input] * x[n] : 0;
		for (size_t k = 0; k < n; k++)
			y[i] += s->C[i * n + k] * x[k];
	}
}

static void march(const CalStateSpace *s, int input, double dt, int count, const StepMemory *m, double *y) {
	const size_t n = (size_t)s->state_count, size = n + 1;
	memset(m->Z, 0, size * size * sizeof *m->Z);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			m->Z[i * size + j] = s->A[i * n + j] * dt;
		m->Z[i * size + n] = input >= 0 ? s->B[i * (size_t)s->input_count + (size_t)input] * dt : 0;
	}
	matrix_exponential((int)size, m->Z, m->E, m->term, m->spare);
	for (int t = 0; t < count; t++) {
		put_outputs(s, input, m->x, y + (size_t)t * (size_t)s->output_count);
		for (size_t i = 0; i < size; i++) {
			m->next[i] = 0;
			for (size_t j = 0; j < size; j++)
				m->next[i] += m->E[i * size + j] * m->x[j];
		}
		memcpy(m->x, m->next, size * sizeof *m->x);
	}
}

CalStatus cal_state_space_step(const CalStateSpace *space, int input, double size, const double *x0, double dt,
                               int count, double *y) {
	if (!is_valid(space) || input < -1 || input >= space->input_count || (input < 0 && !x0) || !(dt > 0) ||
	    !isfinite(dt) || count < 0 || !y)
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)space->state_count;
	StepMemory m;
	Cursor cursor = {0};
	layout_step(&m, n + 1, &cursor);
	void *memory = cursor_alloc_zeroed(&cursor, &space->allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	layout_step(&m, n + 1, &cursor);
	if (x0)
		memcpy(m.x, x0, n * sizeof *m.x);
	m.x[n] = size;
	march(space, input, dt, count, &m, y);
	memory_free(&space->allocator, memory);
	return CAL_OK;
}

/* ---- deviation ------------------------------------------------------------------------------------------------- */

/* Coordinates of a group at the state of the linearization. */
static const double *q_of_group(const CalStateSpace *space, const CalSim *sim, int group) {
	const double *q = space->q;
	for (int g = 0; g < group; g++)
		q += sim->groups[g].motion ? 0 : cal_model_q_count(sim->groups[g].model);
	return q;
}

CalStatus cal_state_space_deviation(const CalStateSpace *space, CalSim *sim, double *x) {
	if (!is_valid(space) || !sim || !x)
		return CAL_ERR_ARGUMENT;
	if (space->generation != cal_sim_generation(sim))
		return CAL_ERR_STAGE;
	int widest = 1, last = -1;
	for (int g = 0; g < sim->group_count; g++)
		widest = cal_model_u_count(sim->groups[g].model) > widest ? cal_model_u_count(sim->groups[g].model) : widest;
	double *moved = memory_alloc(&space->allocator, (size_t)widest * sizeof *moved);
	if (!moved)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < space->state_count; i++) {
		const CalStatePlace *at = &space->places[i];
		if (at->kind == CAL_STATE_COORDINATE && at->object != last) {
			last = at->object;
			cal_config_difference(sim->groups[last].model, q_of_group(space, sim, last), sim->groups[last].state.q,
			                      moved);
		}
		if (at->kind == CAL_STATE_COORDINATE)
			x[i] = moved[at->index];
		else if (at->kind == CAL_STATE_SPEED)
			x[i] = sim->groups[at->object].state.u[at->index] - space->origin[i];
		else
			x[i] = sim->devices[at->object].x[at->index] - space->origin[i];
	}
	memory_free(&space->allocator, moved);
	return CAL_OK;
}
