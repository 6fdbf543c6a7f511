// SPDX-License-Identifier: Apache-2.0
/*
 * modal_report.c — what is in a flexible body: mass properties, modes held and free, effective masses, soundness.
 *
 * In the canonical coordinates of the held body (M_ee = 1) the coupling E = M_re C has one column per mode; the
 * squares of its entries are the effective masses and inertias, whose sums over all modes of a complete set are the
 * mass and the inertia about B's origin. The largest eigenvalue of E'M_rr^+E is the part of a shape's kinetic energy
 * that a rigid motion of the body would carry as well: 1 for a shape that is a rigid motion.
 */
#include "flexbody/modal_report.h"

#include <math.h>

#include "base/memory.h"
#include "math/eigen.h"

static const double NO_MASS = 1e-12; // of a rigid motion of the body scaled to unit diagonal

static double largest_coupling(int m, const double *M) {
	double worst = 0;
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < i; j++) {
			double scale = sqrt(M[i * m + i] * M[j * m + j]);
			worst = fmax(worst, scale > 0 ? fabs(M[i * m + j]) / scale : 0);
		}
	}
	return worst;
}

/** Smallest eigenvalue of K scaled to unit diagonal; 0 if a diagonal element is not positive. */
static CalStatus smallest_stiffness(int m, const double *K, double *work, double *smallest) {
	double *A = work, *values = A + m * m;
	*smallest = 0;
	for (int i = 0; i < m; i++) {
		if (!(K[i * m + i] > 0)) {
			return CAL_OK;
		}
		for (int j = 0; j < m; j++) {
			A[i * m + j] = K[i * m + j] / sqrt(K[i * m + i]) / sqrt(fabs(K[j * m + j]));
		}
	}
	CalStatus status = eigen_symmetric(m, A, values, values + m);
	*smallest = status == CAL_OK ? values[0] : 0;
	return status;
}

/** Largest eigenvalue of E'rr^+E; E[6][m]. */
static CalStatus rigid_share(int m, const double *rr, const double *E, double *share) {
	double V[36], G[36], values[6], scratch[12], scale[6];
	for (int i = 0; i < 6; i++) {
		scale[i] = rr[7 * i] > 0 ? 1 / sqrt(rr[7 * i]) : 0;
	}
	for (int i = 0; i < 36; i++) {
		V[i] = scale[i / 6] * rr[i] * scale[i % 6];
	}
	CalStatus status = eigen_symmetric(6, V, values, scratch);
	for (int i = 0; status == CAL_OK && i < 36; i++) {
		int a = i / 6, b = i % 6;
		double sum = 0;
		for (int k = 0; k < m; k++) {
			double left = 0, right = 0;
			for (int c = 0; c < 6; c++) {
				left += V[6 * c + a] * scale[c] * E[c * m + k];
				right += V[6 * c + b] * scale[c] * E[c * m + k];
			}
			sum += left * right;
		}
		G[i] = fmin(values[a], values[b]) > NO_MASS ? sum / sqrt(values[a]) / sqrt(values[b]) : 0;
	}
	status = status == CAL_OK ? eigen_symmetric(6, G, values, scratch) : status;
	*share = status == CAL_OK ? fmin(fmax(values[5], 0), 1) : 0;
	return status;
}

static double damping_ratio(const CalFlexDef *flex, const ModalForm *form, int k) {
	return flex->damping && form->w2[k] > 0 ? form->D[k * flex->modes + k] / (2 * sqrt(form->w2[k])) : 0;
}

static void fill_mode(const CalFlexDef *flex, const ModalForm *form, const double *E, int k, CalFlexMode *mode) {
	int m = flex->modes;
	double free_w2 = form->free_w2[k];
	*mode = (CalFlexMode){.frequency = sqrt(form->w2[k]), .free_frequency = sqrt(fmax(free_w2, 0))};
	if (isnan(free_w2)) {
		mode->free_frequency = NAN;
	}
	mode->damping_ratio = mode->bounded_damping = damping_ratio(flex, form, k);
	mode->bounded_frequency = mode->frequency;
	mode->bounded_free = mode->free_frequency;
	mode->bounded = flex->frequency_bound > 0 && mode->free_frequency > flex->frequency_bound;
	for (int i = 0; i < 3; i++) {
		mode->effective_inertia[i] = E[i * m + k] * E[i * m + k];
		mode->effective_mass[i] = E[(3 + i) * m + k] * E[(3 + i) * m + k];
	}
}

/**
 * What the bound makes of the modes. It adds mass and no stiffness: the k-th frequency becomes less, or stays (Courant and
 * Fischer), so that modes before and after belong together by their order. A body that has no bound is as it was; not a
 * number where the bound cannot be applied, because a shape is a rigid motion.
 */
static void fill_bounded(const ModalBody *body, ModalForm *form, double *work, CalFlexMode *modes, int count) {
	const double bound = body->flex->frequency_bound;
	if (!(bound > 0)) {
		return;
	}
	const bool known = modal_canonicalize(body, form, work) == CAL_OK;
	for (int k = 0; k < count; k++) {
		modes[k].bounded_frequency = known ? sqrt(form->w2[k]) : NAN;
		modes[k].bounded_free = known ? fmin(modes[k].free_frequency, bound) : NAN;
		modes[k].bounded_damping = known ? damping_ratio(body->flex, form, k) : NAN;
	}
}

/** E = re C. */
static void modal_coupling(int m, const double *re, const double *C, double *E) {
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < m; k++) {
			double sum = 0;
			for (int j = 0; j < m; j++) {
				sum += re[i * m + j] * C[j * m + k];
			}
			E[i * m + k] = sum;
		}
	}
}

static CalStatus report_with(const ModalBody *body, CalFlexReport *report, CalFlexMode *modes, int capacity,
                             ModalForm *form, double *memory) {
	int m = body->flex->modes;
	size_t size = (size_t)m * (size_t)m;
	double rr[36], *M = memory, *re = M + size, *E = re + 6 * m, *work = E + 6 * m;
	form->C = work;
	form->D = form->C + size;
	form->w2 = form->D + size;
	form->free_w2 = form->w2 + m;
	work = form->free_w2 + m;
	modal_mass(body, rr, re, M);
	ModalRigid rigid = modal_rigid(body);
	*report = (CalFlexReport){.modes = m, .mass = rigid.mass, .com = rigid.com, .inertia = rigid.inertia};
	for (int i = 0; i < 3; i++) {
		report->total_inertia[i] = rr[7 * i];
	}
	report->coupling = largest_coupling(m, M);
	CalStatus status = smallest_stiffness(m, body->flex->stiffness, work, &report->min_stiffness);
	CalFlexDef unbound = *body->flex;
	unbound.frequency_bound = 0;
	const ModalBody plain = {body->body, &unbound, body->position};
	if (status == CAL_OK) {
		status = modal_canonicalize(&plain, form, work);
	}
	if (status != CAL_OK) {
		return status;
	}
	modal_coupling(m, re, form->C, E);
	const int count = !modes ? 0 : m < capacity ? m : capacity;
	for (int k = 0; k < count; k++) {
		fill_mode(body->flex, form, E, k, &modes[k]);
	}
	status = rigid_share(m, rr, E, &report->rigid_content);
	const ModalForm sound = *form;
	fill_bounded(body, form, work, modes, count);
	*form = sound;
	return status;
}

CalStatus report_body(const ModalBody *body, CalFlexReport *report, CalFlexMode *modes, int capacity,
                      ModalForm *fault) {
	int m = body->flex->modes;
	size_t size = (size_t)m * (size_t)m, scratch = modal_scratch_size(m), own = size + 3 * (size_t)m;
	size_t count = 3 * size + 14 * (size_t)m + (scratch > own ? scratch : own);
	CalAllocator allocator = allocator_or_default(NULL);
	*fault = (ModalForm){0};
	double *memory = memory_alloc(&allocator, count * sizeof(double));
	if (!memory) {
		return CAL_ERR_MEMORY;
	}
	CalStatus status = report_with(body, report, modes, capacity, fault, memory);
	fault->C = fault->D = fault->w2 = fault->free_w2 = NULL;
	memory_free(&allocator, memory);
	return status;
}
