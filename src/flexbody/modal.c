// SPDX-License-Identifier: Apache-2.0
/*
 * modal.c — mass matrices of a flexible body, the frequency bound, the canonical form.
 *
 * M_ff = M_ee - M_er M_rr^+ M_re is the least kinetic energy that a modal speed can have while the body moves
 * freely. It is not computed as that difference, which cancels: mode j together with the rigid motion that makes
 * its energy least moves node i by phi_ij + v_j + w_j x d_i and turns it by psi_ij + w_j, and M_ff is the mass
 * matrix of these shapes. So a shape that is a rigid motion shows as zero and not as round-off.
 *
 * The bound: with the free-body modes Y (Y'M_ff Y = 1, Y'KY = diag(w^2)), mode i above w_max gets the modal mass
 * w_i^2/w_max^2: Y'M_ee Y gets w_i^2/w_max^2 - 1 on its diagonal. Modal damping 2 zeta w_i becomes 2 zeta w_i^2/w_max,
 * that is, Y'DY is scaled by sqrt(w_i/w_max) from both sides. From there on Y is the basis: the added mass may be
 * millions of times the body's, which on a diagonal harms nothing. What is added is at most K/w_max^2, so that a
 * frequency w of any assembly becomes w' with w^2/(1 + w^2/w_max^2) <= w'^2 <= w^2.
 */
#include "flexbody/modal.h"

#include <math.h>
#include <string.h>

#include "math/eigen.h"

static const double ASYMMETRY = 1e-9;  // of K_ij over sqrt(K_ii K_jj)
static const double NOISE = 1e-12;     // of an element of K over the largest
static const double NEGATIVE = 1e-11;  // of a value of w^2 over the largest: more is no round-off
static const double DEPENDENT = 1e-12; // sin^2 of the angle of a shape to the span of those before it
static const double FLAT = 1e-12;      // of a moment of inertia over the largest: a line of masses
static const double AT_BOUND = 1e-12;  // excess of a frequency over the bound that is round-off

/* ---- nodes --------------------------------------------------------------------------------- */

typedef struct Vec {
	double v[3];
} Vec;

static Vec vec_of(CalVec3 a) { return (Vec){{a.x, a.y, a.z}}; }

static Vec vec_minus(Vec a, Vec b) { return (Vec){{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}}; }

static Vec vec_plus(Vec a, Vec b) { return (Vec){{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}}; }

static Vec vec_scaled(double s, Vec a) { return (Vec){{s * a.v[0], s * a.v[1], s * a.v[2]}}; }

static Vec vec_cross(Vec a, Vec b) {
	return (Vec){
		{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

static double vec_dot(Vec a, Vec b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }

static Vec mat_times(const CalMat3 *A, Vec x) {
	Vec y;
	for (int i = 0; i < 3; i++) {
		y.v[i] = A->m[i][0] * x.v[0] + A->m[i][1] * x.v[1] + A->m[i][2] * x.v[2];
	}
	return y;
}

/** Column j of shapes [3][m]; zero for NULL. */
static Vec column(const double *shapes, int m, int j) {
	return shapes ? (Vec){{shapes[j], shapes[m + j], shapes[2 * m + j]}} : (Vec){{0, 0, 0}};
}

/** I += mass (r.r 1 - r r') + J */
static void inertia_add(CalMat3 *I, double mass, Vec r, const CalMat3 *J) {
	double square = vec_dot(r, r);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			I->m[i][j] += mass * ((i == j ? square : 0) - r.v[i] * r.v[j]) + J->m[i][j];
		}
	}
}

/** The inertia of the whole body about the point at `origin` of B. */
static CalMat3 inertia_about(const ModalBody *b, Vec origin) {
	CalMat3 I = {{{0}}};
	inertia_add(&I, b->body->mass, vec_minus(vec_of(b->body->com), origin), &b->body->inertia);
	for (int i = 0; i < b->flex->node_count; i++) {
		const CalFlexNode *node = &b->flex->nodes[i];
		inertia_add(&I, node->mass, vec_minus(vec_of(b->position[i]), origin), &node->inertia);
	}
	return I;
}

/** Mass and first moment about B's origin. */
static double first_moment(const ModalBody *b, Vec *moment) {
	double mass = b->body->mass;
	*moment = vec_scaled(mass, vec_of(b->body->com));
	for (int i = 0; i < b->flex->node_count; i++) {
		mass += b->flex->nodes[i].mass;
		*moment = vec_plus(*moment, vec_scaled(b->flex->nodes[i].mass, vec_of(b->position[i])));
	}
	return mass;
}

ModalRigid modal_rigid(const ModalBody *b) {
	Vec moment;
	double mass = first_moment(b, &moment);
	Vec com = mass > 0 ? vec_scaled(1 / mass, moment) : (Vec){{0, 0, 0}};
	return (ModalRigid){mass, {com.v[0], com.v[1], com.v[2]}, inertia_about(b, com)};
}

/* ---- mass matrices ------------------------------------------------------------------------- */

static void mass_rr(const ModalBody *b, double *rr) {
	Vec s;
	double mass = first_moment(b, &s);
	CalMat3 I = inertia_about(b, (Vec){{0, 0, 0}});
	const double skew[3][3] = {{0, -s.v[2], s.v[1]}, {s.v[2], 0, -s.v[0]}, {-s.v[1], s.v[0], 0}};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			rr[i * 6 + j] = I.m[i][j];
			rr[i * 6 + j + 3] = skew[i][j];
			rr[(i + 3) * 6 + j] = -skew[i][j];
			rr[(i + 3) * 6 + j + 3] = i == j ? mass : 0;
		}
	}
}

/** Momentum per modal speed: angular about `origin` in re[0..2], linear in re[3..5]. */
static void mass_re(const ModalBody *b, Vec origin, double *re) {
	int m = b->flex->modes;
	memset(re, 0, 6 * (size_t)m * sizeof *re);
	for (int i = 0; i < b->flex->node_count; i++) {
		const CalFlexNode *node = &b->flex->nodes[i];
		Vec r = vec_minus(vec_of(b->position[i]), origin);
		for (int j = 0; j < m; j++) {
			Vec p = vec_scaled(node->mass, column(node->phi, m, j));
			Vec h = vec_plus(vec_cross(r, p), mat_times(&node->inertia, column(node->psi, m, j)));
			for (int k = 0; k < 3; k++) {
				re[k * m + j] += h.v[k];
				re[(k + 3) * m + j] += p.v[k];
			}
		}
	}
}

/** ee += mass x'x + y'Jy, lower triangle, for the shapes x, y [3][m] of one node. */
static void inertia_gram_add(int m, double mass, const double *x, const CalMat3 *J, const double *y, double *ee) {
	for (int j = 0; j < m; j++) {
		Vec p = vec_scaled(mass, column(x, m, j)), h = mat_times(J, column(y, m, j));
		for (int k = 0; k <= j; k++) {
			ee[j * m + k] += vec_dot(p, column(x, m, k)) + vec_dot(h, column(y, m, k));
		}
	}
}

static void fill_upper(int m, double *A) {
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < i; j++) {
			A[j * m + i] = A[i * m + j];
		}
	}
}

static void mass_ee(const ModalBody *b, double *ee) {
	int m = b->flex->modes;
	memset(ee, 0, (size_t)m * (size_t)m * sizeof *ee);
	for (int i = 0; i < b->flex->node_count; i++) {
		const CalFlexNode *node = &b->flex->nodes[i];
		if (node->phi || node->psi) {
			inertia_gram_add(m, node->mass, node->phi, &node->inertia, node->psi, ee);
		}
	}
	fill_upper(m, ee);
}

void modal_mass(const ModalBody *b, double *rr, double *re, double *ee) {
	if (rr) {
		mass_rr(b, rr);
	}
	if (re) {
		mass_re(b, (Vec){{0, 0, 0}}, re);
	}
	if (ee) {
		mass_ee(b, ee);
	}
}

/* ---- the free body ------------------------------------------------------------------------- */

/** x <- -J^+ x for each of the m columns of x [3][m]. False if the eigenvalues of J cannot be found. */
static bool minus_pseudo_solve(const CalMat3 *J, int m, double *x) {
	double V[9], values[3], scratch[6];
	memcpy(V, J->m, sizeof V);
	if (eigen_symmetric(3, V, values, scratch) != CAL_OK) {
		return false;
	}
	for (int j = 0; j < m; j++) {
		Vec b = column(x, m, j), w = {{0, 0, 0}};
		for (int k = 0; k < 3; k++) {
			Vec axis = column(V, 3, k);
			if (values[k] > FLAT * values[2]) {
				w = vec_plus(w, vec_scaled(-vec_dot(axis, b) / values[k], axis));
			}
		}
		for (int k = 0; k < 3; k++) {
			x[k * m + j] = w.v[k];
		}
	}
	return true;
}

/** The rigid motions (w; v at the center of mass) [6][m] that make the energy of each shape least. */
static bool companion_motions(const ModalBody *b, const ModalRigid *rigid, double *motion) {
	int m = b->flex->modes;
	mass_re(b, vec_of(rigid->com), motion);
	for (int j = 0; j < 3 * m; j++) {
		motion[3 * m + j] *= rigid->mass > 0 ? -1 / rigid->mass : 0;
	}
	return minus_pseudo_solve(&rigid->inertia, m, motion);
}

/** x = shapes + v + w x d, y = slopes + w: the shapes of a node at d from the center of mass in the free body. */
static void free_shapes(int m, const CalFlexNode *node, Vec d, const double *motion, double *x, double *y) {
	for (int j = 0; j < m; j++) {
		Vec w = column(motion, m, j), v = column(motion + 3 * m, m, j);
		Vec translation = vec_plus(v, vec_cross(w, d)), rotation = w;
		if (node) {
			translation = vec_plus(column(node->phi, m, j), translation);
			rotation = vec_plus(column(node->psi, m, j), rotation);
		}
		for (int k = 0; k < 3; k++) {
			x[k * m + j] = translation.v[k];
			y[k * m + j] = rotation.v[k];
		}
	}
}

/** M_ff; shapes[6*m] and motion[6*m] are scratch. */
static bool mass_ff(const ModalBody *b, double *ff, double *motion, double *shapes) {
	int m = b->flex->modes;
	double *x = shapes, *y = shapes + 3 * m;
	ModalRigid rigid = modal_rigid(b);
	if (!companion_motions(b, &rigid, motion)) {
		return false;
	}
	Vec com = vec_of(rigid.com);
	memset(ff, 0, (size_t)m * (size_t)m * sizeof *ff);
	free_shapes(m, NULL, vec_minus(vec_of(b->body->com), com), motion, x, y);
	inertia_gram_add(m, b->body->mass, x, &b->body->inertia, y, ff);
	for (int i = 0; i < b->flex->node_count; i++) {
		const CalFlexNode *node = &b->flex->nodes[i];
		free_shapes(m, node, vec_minus(vec_of(b->position[i]), com), motion, x, y);
		inertia_gram_add(m, node->mass, x, &node->inertia, y, ff);
	}
	fill_upper(m, ff);
	return true;
}

/* ---- canonical form ------------------------------------------------------------------------ */

/** Scratch of modal_canonicalize, all [m*m] but vector[2m], reference[m], w2[m], motion and shapes [6m]. */
typedef struct Scratch {
	double *mass, *stiffness, *ff, *modes, *damping, *factor;
	double *vector, *reference, *w2, *motion, *shapes;
} Scratch;

size_t modal_scratch_size(int m) { return 6 * (size_t)m * (size_t)m + 16 * (size_t)m; }

static Scratch scratch_of(int m, double *memory) {
	size_t n = (size_t)m, square = n * n;
	double *tail = memory + 6 * square;
	return (Scratch){
		memory, memory + square, memory + 2 * square, memory + 3 * square, memory + 4 * square, memory + 5 * square,
		tail,   tail + 2 * n,    tail + 3 * n,        tail + 4 * n,        tail + 10 * n};
}

static CalStatus set_fault(ModalForm *form, ModalFault what, int mode, int other, double amount) {
	form->fault = what;
	form->mode = mode;
	form->other = other;
	form->amount = amount;
	return what == MODAL_NUMERICS ? CAL_NOT_CONVERGED : CAL_ERR_MODEL;
}

/** The symmetric part of the stiffness; a fault if there is more to it. */
static CalStatus symmetrize_stiffness(const CalFlexDef *flex, double *K, ModalForm *form) {
	int m = flex->modes, row = -1, col = -1;
	const double *stiffness = flex->stiffness;
	double largest = 0, worst = 0;
	for (int i = 0; i < m * m; i++) {
		largest = fmax(largest, fabs(stiffness[i]));
	}
	for (int i = 0; i < m; i++) {
		for (int j = 0; j <= i; j++) {
			double size = sqrt(fabs(stiffness[i * m + i])) * sqrt(fabs(stiffness[j * m + j]));
			double difference = fabs(stiffness[i * m + j] - stiffness[j * m + i]);
			if (difference > ASYMMETRY * size + NOISE * largest && difference > worst) {
				worst = difference;
				row = i;
				col = j;
			}
			K[i * m + j] = K[j * m + i] = 0.5 * stiffness[i * m + j] + 0.5 * stiffness[j * m + i];
		}
	}
	return row < 0 ? CAL_OK : set_fault(form, MODAL_STIFFNESS_ASYMMETRIC, col, row, worst);
}

/** A fault if a mode, or a combination of modes, moves no mass. */
static CalStatus check_mass(int m, const double *mass, double *factor, ModalForm *form) {
	for (int j = 0; j < m; j++) {
		if (!(mass[j * m + j] > 0)) {
			return set_fault(form, MODAL_MASSLESS, j, j, mass[j * m + j]);
		}
	}
	memcpy(factor, mass, (size_t)m * (size_t)m * sizeof *factor);
	int bad = cholesky_factor(m, factor, NULL, DEPENDENT);
	return bad < 0 ? CAL_OK : set_fault(form, MODAL_DEPENDENT, bad, bad, 0);
}

/** K v = w2 M v, with what is wrong in the form. K becomes the vectors. */
static CalStatus modes_of(int m, double *K, double *M, double *w2, const Scratch *s, ModalForm *form) {
	if (eigen_generalized(m, K, M, w2, s->vector) != CAL_OK) {
		return set_fault(form, MODAL_NUMERICS, 0, 0, 0);
	}
	double largest = fmax(fabs(w2[0]), fabs(w2[m - 1]));
	if (w2[0] < -NEGATIVE * largest) {
		int mode = 0;
		for (int i = 1; i < m; i++) {
			// the share of a shape in the vector, by the mass that it moves
			if (fabs(K[i * m]) * s->reference[i] > fabs(K[mode * m]) * s->reference[mode]) {
				mode = i;
			}
		}
		return set_fault(form, MODAL_STIFFNESS_NEGATIVE, mode, mode, w2[0]);
	}
	return CAL_OK;
}

/** Free-body modes: M_ff in s->ff, the vectors in s->modes, w^2 in s->w2. */
static CalStatus free_modes(const ModalBody *b, const Scratch *s, ModalForm *form) {
	int m = b->flex->modes;
	size_t bytes = (size_t)m * (size_t)m * sizeof(double);
	if (!mass_ff(b, s->ff, s->motion, s->shapes)) {
		return set_fault(form, MODAL_NUMERICS, 0, 0, 0);
	}
	for (int j = 0; j < m; j++) {
		s->vector[j] = s->reference[j] * s->reference[j];
	}
	memcpy(s->factor, s->ff, bytes);
	int bad = cholesky_factor(m, s->factor, s->vector, DEPENDENT);
	if (bad >= 0) {
		return set_fault(form, MODAL_RIGID, bad, bad, 0);
	}
	memcpy(s->factor, s->ff, bytes);
	memcpy(s->modes, s->stiffness, bytes);
	return modes_of(m, s->modes, s->factor, s->w2, s, form);
}

/** out = A B, or A'B if transposed, m x m each. */
static void multiply(int m, const double *A, bool transposed, const double *B, double *out) {
	for (int i = 0; i < m; i++) {
		double *row = &out[i * m];
		memset(row, 0, (size_t)m * sizeof *row);
		for (int k = 0; k < m; k++) {
			double a = transposed ? A[k * m + i] : A[i * m + k];
			for (int j = 0; a != 0 && j < m; j++) {
				row[j] += a * B[k * m + j];
			}
		}
	}
}

/** A <- B'AB */
static void congruence(int m, const double *B, double *A, double *product) {
	multiply(m, A, false, B, product);
	multiply(m, B, true, product, A);
}

/**
 * If free-body modes are above the bound: mass, stiffness and damping in coordinates along these modes, with mass
 * added and damping to match.
 */
static void apply_bound(int m, double bound, const Scratch *s, ModalForm *form) {
	double limit = bound * (1 + AT_BOUND);
	for (int i = 0; i < m; i++) {
		form->bounded += s->w2[i] > limit * limit;
	}
	if (form->bounded == 0) {
		return;
	}
	congruence(m, s->modes, s->mass, s->factor);
	congruence(m, s->modes, s->damping, s->factor);
	memset(s->stiffness, 0, (size_t)m * (size_t)m * sizeof(double));
	for (int i = 0; i < m; i++) {
		double ratio = i < m - form->bounded ? 1 : sqrt(s->w2[i]) / bound, scale = sqrt(ratio);
		form->clamped += s->w2[i] < 0;
		s->stiffness[i * m + i] = fmax(s->w2[i], 0);
		s->mass[i * m + i] += ratio * ratio - 1;
		for (int j = 0; j < m; j++) {
			s->damping[i * m + j] *= scale;
			s->damping[j * m + i] *= scale;
		}
	}
}

static bool is_identity(int m, const double *A) {
	for (int i = 0; i < m * m; i++) {
		if (A[i] != (i / m == i % m)) {
			return false;
		}
	}
	return true;
}

/** The canonical coordinates of s->mass and s->stiffness, and the damping in them. */
static CalStatus write_form(int m, const Scratch *s, ModalForm *form) {
	size_t bytes = (size_t)m * (size_t)m * sizeof(double);
	memcpy(form->C, s->stiffness, bytes);
	CalStatus status = modes_of(m, form->C, s->mass, form->w2, s, form);
	if (status != CAL_OK) {
		return status;
	}
	for (int i = 0; i < m && form->w2[i] < 0; i++) {
		form->w2[i] = 0;
		form->clamped++;
	}
	if (form->D) {
		memcpy(form->D, s->damping, bytes);
		congruence(m, form->C, form->D, s->factor);
	}
	if (form->bounded > 0) {
		memcpy(s->factor, form->C, bytes);
		multiply(m, s->modes, false, s->factor, form->C);
	}
	form->identity = is_identity(m, form->C);
	return CAL_OK;
}

static void report_free_frequencies(CalStatus status, int m, const Scratch *s, ModalForm *form) {
	for (int i = 0; form->free_w2 && i < m; i++) {
		form->free_w2[i] = status == CAL_OK ? s->w2[i] : NAN;
	}
}

CalStatus modal_canonicalize(const ModalBody *b, ModalForm *form, double *scratch) {
	const CalFlexDef *flex = b->flex;
	int m = flex->modes;
	size_t square = (size_t)m * (size_t)m;
	Scratch s = scratch_of(m, scratch);
	*form = (ModalForm){.C = form->C, .w2 = form->w2, .D = form->D, .free_w2 = form->free_w2};
	CalStatus status = symmetrize_stiffness(flex, s.stiffness, form);
	if (status != CAL_OK) {
		return status;
	}
	mass_ee(b, s.mass);
	status = check_mass(m, s.mass, s.factor, form);
	if (status != CAL_OK) {
		return status;
	}
	for (int j = 0; j < m; j++) {
		s.reference[j] = sqrt(s.mass[j * m + j]);
	}
	if (flex->damping) {
		memcpy(s.damping, flex->damping, square * sizeof(double));
	} else {
		memset(s.damping, 0, square * sizeof(double));
	}
	if (flex->frequency_bound > 0) {
		status = free_modes(b, &s, form);
		report_free_frequencies(status, m, &s, form);
		if (status != CAL_OK) {
			return status;
		}
		apply_bound(m, flex->frequency_bound, &s, form);
		return write_form(m, &s, form);
	}
	status = write_form(m, &s, form);
	if (status == CAL_OK && form->free_w2) {
		report_free_frequencies(free_modes(b, &s, form), m, &s, form);
		form->fault = form->fault == MODAL_RIGID ? MODAL_RIGID : MODAL_SOUND; // a note at most
	}
	return status;
}
