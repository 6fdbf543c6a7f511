// SPDX-License-Identifier: Apache-2.0
/*
 * flex_form.c — see flex_form.h: everything about a flexible body that takes long and does not depend on what carries it.
 */
#include "model/compile/flex_form.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "flexbody/flex_body.h"
#include "flexbody/modal.h"
#include "math/vec.h"

/* ---- shapes -------------------------------------------------------------------------------------- */

/* A [3][m] array as three rows; zeros for NULL. */
static double *put_rows(double *to, const double *from, int m, int n) {
	for (int i = 0; from && i < 3; ++i)
		memcpy(to + i * n, from + i * m, sizeof(double) * (size_t)m);
	return to + 3 * n;
}

/* A [rows][m][m] array as m times so many rows, made symmetric; nothing for NULL. */
static double *put_second_order(double *to, const double *from, int rows, int m, int n) {
	for (int i = 0; from && i < rows * m * m; ++i) {
		const int row = i / (m * m), k = i / m % m, l = i % m;
		to[(rows * k + row) * n + l] = 0.5 * (from[i] + from[(row * m + l) * m + k]);
	}
	return to + (from ? rows * m * n : 0);
}

static void put_shapes(const CalFlexDef *def, FlexForm *form) {
	double *to = form->numbers;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *node = &def->nodes[i];
		if (!flex_node_moves(node))
			continue;
		to = put_rows(to, node->phi, form->m, form->n);
		to = put_rows(to, node->psi, form->m, form->n);
		to = put_second_order(to, node->phi2, 3, form->m, form->n);
	}
}

/* ---- modal matrices -------------------------------------------------------------------------------- */

static dvec3 row_vector(const double *rows, int m, int k) {
	return rows ? (dvec3){rows[k], rows[m + k], rows[2 * m + k]} : (dvec3){0, 0, 0};
}

static void add_to_rows(double *rows, int n, int k, dvec3 v) {
	rows[k] += v.x;
	rows[n + k] += v.y;
	rows[2 * n + k] += v.z;
}

/* Modal mass, s1 and c of all nodes; masses that phi2 moves are left to the evaluation. */
static void put_modal_mass(const CalFlexDef *def, FlexForm *form) {
	const int m = form->m, n = form->n;
	double *M = form->numbers + form->Mee, *s1 = form->numbers + form->s1, *rotary = form->numbers + form->c;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *node = &def->nodes[i];
		const dmat3 J = dmat_in(&node->inertia);
		for (int k = 0; k < m; ++k) {
			const dvec3 mphi = dscale(node->phi2 ? 0.0 : node->mass, row_vector(node->phi, m, k));
			const dvec3 Jpsi = dmat_mul_vec(J, row_vector(node->psi, m, k));
			add_to_rows(s1, n, k, mphi);
			add_to_rows(rotary, n, k, Jpsi);
			for (int l = 0; l < m; ++l)
				M[k * n + l] += ddot(mphi, row_vector(node->phi, m, l)) + ddot(Jpsi, row_vector(node->psi, m, l));
		}
	}
	for (int k = 0; k < m; ++k) { // exactly symmetric
		for (int l = 0; l < k; ++l)
			M[l * n + k] = M[k * n + l];
	}
	for (int k = 0; k < 3 * n; ++k)
		form->rotary |= rotary[k] != 0;
}

static const double ROUNDING = 1e-12; // of matrices that a generator made diagonal

/* Diagonal to round-off, relative to the diagonal. n: length of a row. */
static int is_diagonal(const double *A, int m, int n) {
	for (int i = 0; i < m * m; ++i) {
		const int k = i / m, l = i % m;
		if (k != l && fabs(A[k * n + l]) > ROUNDING * sqrt(fabs(A[k * (n + 1)] * A[l * (n + 1)])))
			return 0;
	}
	return 1;
}

/* The same, and then made so exactly. */
static int make_diagonal(double *A, int m) {
	if (!is_diagonal(A, m, m))
		return 0;
	for (int i = 0; i < m * m; ++i)
		A[i] = i % (m + 1) == 0 ? A[i] : 0.0;
	return 1;
}

/* ---- frequency bound ------------------------------------------------------------------------------------ */

/* A = A^-1 by Gauss and Jordan with row pivots; A is well conditioned where it is used. */
static void invert(double *A, double *inverse, int m) {
	for (int i = 0; i < m * m; ++i)
		inverse[i] = i % (m + 1) == 0;
	for (int k = 0; k < m; ++k) {
		int pivot = k;
		for (int i = k + 1; i < m; ++i) {
			if (fabs(A[i * m + k]) > fabs(A[pivot * m + k]))
				pivot = i;
		}
		for (int j = 0; j < m; ++j) {
			const double a = A[k * m + j], b = inverse[k * m + j];
			A[k * m + j] = A[pivot * m + j], inverse[k * m + j] = inverse[pivot * m + j];
			A[pivot * m + j] = a, inverse[pivot * m + j] = b;
		}
		const double scale_row = 1.0 / A[k * m + k];
		for (int j = 0; j < m; ++j)
			A[k * m + j] *= scale_row, inverse[k * m + j] *= scale_row;
		for (int i = 0; i < m; ++i) {
			const double f = A[i * m + k];
			for (int j = 0; i != k && j < m; ++j) {
				A[i * m + j] -= f * A[k * m + j];
				inverse[i * m + j] -= f * inverse[k * m + j];
			}
		}
	}
}

/* sum_ab W_ai X_ab W_bj, or W'W for X NULL. */
static double congruence(const double *W, const double *X, int m, int i, int j) {
	double sum = 0;
	for (int a = 0; a < m; ++a) {
		double Xw = X ? 0 : W[a * m + j];
		for (int b = 0; X && b < m; ++b)
			Xw += X[a * m + b] * W[b * m + j];
		sum += W[a * m + i] * Xw;
	}
	return sum;
}

/* Numbers of scratch that apply_bound() needs. */
static size_t bound_scratch(int modes, int nodes) {
	const size_t m = (size_t)modes;
	return modal_scratch_size(modes) + 4 * m * m + m + 3 * (size_t)nodes;
}

/*
 * The bound gives canonical coordinates eta = C xi in which the modal mass, with what it added, is 1. Back in
 * the user's: M_ee + added = W'W and D = W'D_c W with W = C^-1.
 */
static void apply_bound(const CalDesc *desc, int desc_body, FlexForm *form, double *scratch) {
	const CalFlexDef *def = desc->bodies[desc_body].flex;
	const int m = form->m;
	double *Mee = form->numbers + form->Mee, *D = form->D ? form->numbers + form->D : NULL;
	double *C = scratch, *W = C + m * m, *Dc = W + m * m, *total = Dc + m * m, *w2 = total + m * m;
	CalVec3 *position = (CalVec3 *)(void *)(w2 + m);
	for (int i = 0; i < def->node_count; ++i)
		position[i] = desc_node(desc, def->nodes[i].node)->def.placement.position;
	const ModalBody body = {&desc->bodies[desc_body].def, def, position};
	ModalForm modal = {.C = C, .w2 = w2, .D = Dc};
	if (modal_canonicalize(&body, &modal, w2 + m + 3 * def->node_count) != CAL_OK || modal.bounded == 0)
		return; // the check of the description has reported what is wrong
	modal_mass(&body, NULL, NULL, total);
	invert(C, W, m);
	for (int i = 0; i < m * m; ++i) {
		Mee[i / m * form->n + i % m] += congruence(W, NULL, m, i / m, i % m) - total[i];
		if (D)
			D[i] = congruence(W, Dc, m, i / m, i % m);
	}
}

static int put_bound(const CalDesc *desc, int body, FlexForm *form, const CalAllocator *allocator) {
	const CalFlexDef *def = desc->bodies[body].flex;
	if (!(def->frequency_bound > 0))
		return 1;
	double *scratch = memory_alloc(allocator, sizeof(double) * bound_scratch(def->modes, def->node_count));
	if (scratch)
		apply_bound(desc, body, form, scratch);
	memory_free(allocator, scratch);
	return scratch != NULL;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* Sizes and places of all that a form holds. */
static FlexForm form_layout(const CalFlexDef *def, CalModalInertia how) {
	const size_t m = (size_t)def->modes, n = (size_t)row_length(def->modes);
	FlexForm form = {.m = def->modes, .n = (int)n, .block_count = invariants_count(def, how)};
	form.invariants = form.block_count >= 0;
	form.block_count = form.invariants ? form.block_count : 0;
	for (int i = 0; i < def->node_count; ++i) {
		form.shape_count += flex_node_moves(&def->nodes[i]);
		form.Mee += flex_node_moves(&def->nodes[i]) ? 6 * n + (def->nodes[i].phi2 ? 3 * m * n : 0) : 0;
	}
	form.s1 = form.Mee + m * n;
	form.c = form.s1 + 3 * n;
	form.K = form.c + 3 * n;
	form.D = def->damping ? form.K + m * m : 0;
	form.number_count = form.K + m * m + (def->damping ? m * m : 0);
	form.geometric = def->geometric ? form.number_count : 0;
	form.number_count += def->geometric ? CAL_FLEX_GEOMETRIC * m * n : 0;
	return form;
}

static size_t index_count(const FlexForm *form) {
	return (size_t)FLEX_COMPONENTS * (size_t)(form->n / PACK) + 1 + (size_t)form->block_count;
}

static size_t block_size(const FlexForm *form) {
	const size_t numbers = form->number_count + PACK * (size_t)form->block_count;
	return sizeof *form + numbers * sizeof(double) + index_count(form) * sizeof(int32_t);
}

FlexForm *flex_form_create(const CalDesc *desc, int body, CalModalInertia how, const CalAllocator *allocator) {
	const CalFlexDef *def = desc->bodies[body].flex;
	const size_t square = (size_t)def->modes * (size_t)def->modes;
	const FlexForm layout = form_layout(def, how);
	FlexForm *form = memory_alloc(allocator, block_size(&layout));
	if (!form)
		return NULL;
	memset(form, 0, block_size(&layout));
	*form = layout;
	form->numbers = (double *)(void *)(form + 1);
	form->G = form->numbers + form->number_count;
	form->first = (int32_t *)(void *)(form->G + PACK * form->block_count);
	form->mode = form->first + FLEX_COMPONENTS * (form->n / PACK) + 1;
	put_shapes(def, form);
	put_modal_mass(def, form);
	memcpy(form->numbers + form->K, def->stiffness, square * sizeof(double));
	if (def->damping)
		memcpy(form->numbers + form->D, def->damping, square * sizeof(double));
	put_second_order(form->numbers + form->geometric, def->geometric, CAL_FLEX_GEOMETRIC, form->m, form->n);
	if (!put_bound(desc, body, form, allocator)) {
		memory_free(allocator, form);
		return NULL;
	}
	form->diagonal = make_diagonal(form->numbers + form->K, form->m) &&
	                 (!def->damping || make_diagonal(form->numbers + form->D, form->m));
	form->mass_diagonal = is_diagonal(form->numbers + form->Mee, form->m, form->n);
	if (form->invariants)
		invariants_make(def, how, form);
	return form;
}

size_t flex_form_room(int modes, int nodes, int second_order) {
	const size_t m = (size_t)modes, n = (size_t)row_length(modes);
	FlexForm form = {.n = (int)n, .block_count = (int)(FLEX_COMPONENTS * n * n / PACK)};
	form.number_count = m * n + 6 * n + 2 * m * m + (size_t)nodes * (6 * n + (second_order ? 3 * m * n : 0));
	form.number_count += second_order ? CAL_FLEX_GEOMETRIC * m * n : 0;
	return block_size(&form) + sizeof(double) * bound_scratch(modes, nodes);
}
