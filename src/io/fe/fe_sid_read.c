// SPDX-License-Identifier: Apache-2.0
/*
 * fe_sid_read.c — a SID file as a modal body; fe_sid.h has the format.
 *
 * SID has integrals instead of masses at nodes. They are the moments of fe_mass.h, from which mass points are made:
 * everything the file says about inertia is then met exactly, to the first order in q that SID has. The terms of
 * second order come from Gr's M1 where the file has it; otherwise they are taken alike in all directions, and the notes
 * of the body say so. Geometric stiffness becomes that of CalFlexDef: per unit acceleration Ct's M1, the symmetric
 * part of Cr's M1 (the inertia has an odd one), what Oe's M1 has beyond the inertia of the body; per unit force at a
 * node the M1 of its phi, which is 2 phi2; and ksigma's M1 is part of the stiffness. A modal force ksigma and the M1
 * of a node's psi have no place in CalFlexDef: they are refused unless the caller leaves geometric stiffness out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_reader.h"
#include "io/fe/fe_file.h"
#include "io/fe/fe_sid.h"

typedef struct SidReader {
	FeText *t;
	CalModal *modal;
	Pool *pool;
	int modes;
	double mass;
	SidTaylor matrix[SID_MATRIX_COUNT];
	bool have[SID_MATRIX_COUNT];
	bool ignore;    // geometric stiffness
	bool turned;    // a psi has an M1
	bool geometric; // terms of it were met
} SidReader;

static CalStatus memory_error(const SidReader *r) { return fe_text_error(r->t, CAL_ERR_MEMORY, "out of memory"); }

/* ---- lines ------------------------------------------------------------------------------------- */

/* The next line that is not empty, split into the name before and the value after its "=". */
static bool next_line(SidReader *r, char **name, char **value, CalStatus *status) {
	while (fe_text_next(r->t, status)) {
		char *equals = strchr(r->t->line, '=');
		if (equals)
			*equals = '\0';
		*name = fe_trim(r->t->line);
		*value = equals ? fe_trim(equals + 1) : *name + strlen(*name);
		if (**name)
			return true;
	}
	if (*status == CAL_OK)
		*status = fe_text_error(r->t, CAL_ERR_INPUT, "the file ends here; \"end part\" is missing");
	return false;
}

/* Indices of "m1( 1, 2, 3)": true if there are `count` of them. */
static bool indices(const char *text, int count, int *index) {
	const char *at = strchr(text, '(');
	for (int i = 0; i < count; i++) {
		char *end;
		if (!at)
			return false;
		const long value = strtol(at + 1, &end, 10);
		end += strspn(end, " \t");
		if (value < 1 || value > 1 << 20 || *end != (i == count - 1 ? ')' : ','))
			return false;
		index[i] = (int)value - 1;
		at = end;
	}
	return true;
}

/* ---- Taylor matrices --------------------------------------------------------------------------- */

static CalStatus set_entry(SidReader *r, SidTaylor *m, const char *name, const char *value, bool symmetric) {
	int k[3];
	double number;
	if (!fe_number(value, &number))
		return fe_text_error(r->t, CAL_ERR_INPUT, "\"%.40s\" is no finite number", value);
	if (strncmp(name, "m0", 2) == 0) {
		if (!indices(name, 2, k) || k[0] >= m->rows || k[1] >= m->cols)
			return fe_text_error(r->t, CAL_ERR_INPUT, "\"%.40s\" is outside of this %d x %d matrix", name, m->rows,
			                     m->cols);
		m->m0[k[0] * m->cols + k[1]] = number;
		if (symmetric && k[0] < m->cols && k[1] < m->rows)
			m->m0[k[1] * m->cols + k[0]] = number;
		return CAL_OK;
	}
	if (!m->m1 || !indices(name, 3, k) || k[0] >= m->rows || k[1] >= m->nq || k[2] >= m->cols)
		return fe_text_error(r->t, CAL_ERR_INPUT,
		                     "\"%.40s\" is outside of this matrix: order %d, m1(row <= %d, mode <= %d, column <= %d)",
		                     name, m->order, m->rows, m->nq, m->cols);
	m->m1[(k[0] * m->nq + k[1]) * m->cols + k[2]] = number;
	if (symmetric && k[0] < m->cols && k[2] < m->rows)
		m->m1[(k[2] * m->nq + k[1]) * m->cols + k[0]] = number;
	return CAL_OK;
}

/* Sizes are there: checks them and makes room. */
static CalStatus open_taylor(SidReader *r, SidTaylor *m, const char *what, int rows, int cols, long structure) {
	if (m->rows != rows || m->cols != cols)
		return fe_text_error(r->t, CAL_ERR_INPUT, "%s is %d x %d; with %d modes it must be %d x %d", what, m->rows,
		                     m->cols, r->modes, rows, cols);
	if (m->order < 0 || m->order > 1)
		return fe_text_error(r->t, CAL_ERR_UNSUPPORTED, "%s has terms of order %d; 0 and 1 are understood", what,
		                     m->order);
	if (m->order == 1 && m->nq != r->modes)
		return fe_text_error(r->t, CAL_ERR_INPUT, "%s is expanded in %d coordinates, but there are %d modes", what,
		                     m->nq, r->modes);
	const size_t size = (size_t)rows * (size_t)cols;
	m->m0 = pool_array(r->pool, size, sizeof *m->m0);
	m->m1 = m->order ? pool_array(r->pool, size * (size_t)m->nq, sizeof *m->m1) : NULL;
	if (!m->m0 || (m->order && !m->m1))
		return memory_error(r);
	for (int i = 0; structure == 4 && i < rows && i < cols; i++)
		m->m0[i * cols + i] = 1;
	return CAL_OK;
}

/* From after the matrix's name to its "end". */
static CalStatus read_taylor(SidReader *r, const char *what, int rows, int cols, SidTaylor *m) {
	const char *const keys[] = {"order", "nrow", "ncol", "nq", "nqn", "structure"};
	long given[6] = {0, rows, cols, 0, 0, 3};
	bool open = false;
	CalStatus status = CAL_OK;
	char *name, *value;
	*m = (SidTaylor){0};
	while (status == CAL_OK && next_line(r, &name, &value, &status)) {
		int key = 0;
		while (key < 6 && strcmp(name, keys[key]) != 0)
			key++;
		const bool end = strncmp(name, "end", 3) == 0;
		if (key < 6) {
			if (!fe_integer(value, &given[key]))
				return fe_text_error(r->t, CAL_ERR_INPUT, "%s is no number: \"%.40s\"", keys[key], value);
			continue;
		}
		if (!open) {
			m->order = (int)given[0];
			m->rows = (int)given[1];
			m->cols = (int)given[2];
			m->nq = (int)given[3];
			status = open_taylor(r, m, what, rows, cols, given[5]);
			open = true;
		}
		if (end)
			break;
		if (status == CAL_OK && name[0] == 'm' && (name[1] == '0' || name[1] == '1'))
			status = set_entry(r, m, name, value, given[5] == 2);
		else if (status == CAL_OK)
			status = fe_text_error(r->t, name[0] == 'm' ? CAL_ERR_UNSUPPORTED : CAL_ERR_INPUT,
			                       "%s: \"%.40s\" is not understood here", what, name);
	}
	return status;
}

static bool is_zero(const double *x, size_t count) {
	for (size_t i = 0; x && i < count; i++)
		if (x[i] != 0)
			return false;
	return true;
}

/* ---- parts of the file ------------------------------------------------------------------------- */

static CalStatus read_refmod(SidReader *r) {
	CalStatus status = CAL_OK;
	char *name, *value;
	long modes;
	while (next_line(r, &name, &value, &status) && strncmp(name, "end", 3) != 0) {
		if (strcmp(name, "mass") == 0 && (!fe_number(value, &r->mass) || !(r->mass > 0)))
			return fe_text_error(r->t, CAL_ERR_INPUT, "the mass must be a positive number");
		if (strcmp(name, "nelastq") == 0 && (!fe_integer(value, &modes) || modes != r->modes))
			return fe_text_error(r->t, CAL_ERR_INPUT, "nelastq is \"%.20s\"; the first line says %d modes", value,
			                     r->modes);
	}
	return status;
}

static CalQuat quat_of(const double *R) { // row-major rotation matrix
	const double trace = R[0] + R[4] + R[8];
	double q[4];
	int big = 0;
	for (int i = 1; i < 3; i++)
		big = R[4 * i] > R[4 * big] ? i : big;
	if (trace > R[4 * big]) {
		q[0] = 1 + trace;
		q[1] = R[7] - R[5];
		q[2] = R[2] - R[6];
		q[3] = R[3] - R[1];
	} else {
		const int i = big, j = (i + 1) % 3, k = (i + 2) % 3;
		q[0] = R[3 * k + j] - R[3 * j + k];
		q[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
		q[1 + j] = R[3 * j + i] + R[3 * i + j];
		q[1 + k] = R[3 * k + i] + R[3 * i + k];
	}
	const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	return (CalQuat){q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm};
}

static bool is_rotation(const double *R) {
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			double sum = 0;
			for (int k = 0; k < 3; k++)
				sum += R[3 * k + i] * R[3 * k + j];
			if (!(fabs(sum - (i == j)) < 1e-5))
				return false;
		}
	return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
	           R[2] * (R[3] * R[7] - R[4] * R[6]) >
	       0;
}

/* phi(q) = phi + 2 phi2 q, symmetric in the modes. */
static CalStatus set_second_order(SidReader *r, ModalNode *node, const SidTaylor *m) {
	const int n = r->modes;
	node->phi2 = pool_array(&r->modal->pool, 3 * (size_t)n * (size_t)n, sizeof *node->phi2);
	if (!node->phi2)
		return memory_error(r);
	for (int i = 0; i < 3 * n * n; i++)
		node->phi2[i] = (m->m1[i] + m->m1[(i / (n * n) * n + i % n) * n + i / n % n]) / 4;
	return CAL_OK;
}

static CalStatus set_node(SidReader *r, ModalNode *node, const char *part, const SidTaylor *m) {
	const int n = r->modes;
	if (strcmp(part, "origin") == 0) {
		node->placement.position = (CalVec3){m->m0[0], m->m0[1], m->m0[2]};
	} else if (strcmp(part, "AP") == 0) {
		if (!is_rotation(m->m0))
			return fe_text_error(r->t, CAL_ERR_INPUT, "node %s: AP is no rotation matrix", node->name);
		node->placement.orientation = quat_of(m->m0);
	} else {
		const bool phi = strcmp(part, "phi") == 0, second = m->m1 && !is_zero(m->m1, 3 * (size_t)n * (size_t)n);
		memcpy(phi ? node->phi : node->psi, m->m0, 3 * (size_t)n * sizeof *m->m0);
		r->geometric |= second;
		r->turned |= second && !phi;
		return second && phi && !r->ignore ? set_second_order(r, node, m) : CAL_OK;
	}
	return CAL_OK;
}

/* Skips to the "end" of a part that has no use here, such as the stresses of a node. */
static CalStatus skip_part(SidReader *r) {
	CalStatus status = CAL_OK;
	char *name, *value;
	while (next_line(r, &name, &value, &status) && strncmp(name, "end", 3) != 0) {
	}
	return status;
}

static CalStatus read_node(SidReader *r, const char *label) {
	char text[48], *name, *value;
	snprintf(text, sizeof text, "node%.32s", label);
	ModalNode *made = fe_modal_add_node(r->modal, text, CAL_MODAL_FRAME);
	if (!made)
		return memory_error(r);
	made->place.line = r->t->line_number;
	const int index = r->modal->node_count - 1;
	CalStatus status = CAL_OK;
	while (status == CAL_OK && next_line(r, &name, &value, &status)) {
		SidTaylor m;
		char part[16];
		if (strncmp(name, "end", 3) == 0)
			break;
		if (strcmp(name, "rframe") == 0)
			continue;
		snprintf(part, sizeof part, "%.15s", name);
		const bool shape = strcmp(part, "phi") == 0 || strcmp(part, "psi") == 0;
		if (!shape && strcmp(part, "origin") != 0 && strcmp(part, "AP") != 0) {
			status = skip_part(r);
			continue;
		}
		status = read_taylor(r, part, 3, shape ? r->modes : part[0] == 'o' ? 1 : 3, &m);
		if (status == CAL_OK)
			status = set_node(r, &r->modal->nodes[index], part, &m);
	}
	return status;
}

static CalStatus read_frame(SidReader *r) {
	CalStatus status = CAL_OK;
	char *name, *value;
	while (status == CAL_OK && next_line(r, &name, &value, &status)) {
		if (strncmp(name, "end", 3) == 0)
			break;
		if (strncmp(name, "new node", 8) != 0)
			return fe_text_error(r->t, CAL_ERR_INPUT, "expected \"new node\" or \"end frame\", found \"%.40s\"", name);
		char label[40];
		snprintf(label, sizeof label, "%.32s", value);
		status = read_node(r, label);
	}
	return status;
}

static CalStatus read_matrix(SidReader *r, const char *name) {
	static const struct {
		const char *name;
		int rows, cols;
	} list[] = {
#define SID_MATRIX_ROW(id, text, rows, cols, order) {text, rows, cols},
		SID_MATRIX_LIST(SID_MATRIX_ROW)
#undef SID_MATRIX_ROW
	};
	for (int i = 0; i < SID_MATRIX_COUNT; i++)
		if (strcmp(name, list[i].name) == 0) {
			r->have[i] = true;
			if (i == SID_KE)
				r->modal->stiffness_place.line = r->t->line_number;
			return read_taylor(r, list[i].name, sid_size(list[i].rows, r->modes), sid_size(list[i].cols, r->modes),
			                   &r->matrix[i]);
		}
	return fe_text_error(r->t, CAL_ERR_INPUT, "\"%.40s\" is no part of a SID file", name);
}

static CalStatus read_parts(SidReader *r) {
	CalStatus status = CAL_OK;
	char *name, *value, what[32];
	while (status == CAL_OK && next_line(r, &name, &value, &status)) {
		snprintf(what, sizeof what, "%.31s", name);
		if (strcmp(what, "part") == 0 || strncmp(what, "new modal", 9) == 0)
			continue;
		if (strncmp(what, "end", 3) == 0)
			return CAL_OK;
		if (strcmp(what, "refmod") == 0)
			status = read_refmod(r);
		else if (strcmp(what, "frame") == 0 || strcmp(what, "new frame") == 0)
			status = read_frame(r);
		else
			status = read_matrix(r, what);
	}
	return status;
}

/* ---- moments ----------------------------------------------------------------------------------- */

/* Element (c, d) of sum m phi_k phi_j' from -2 sum m [phi_k]x[phi_j]x = 2 (tr N 1 - N'), N_cd = sum m phi_k,c phi_j,d. */
static double from_gyroscopic(const double *G, int stride, int c, int d) {
	const double trace = (G[0] + G[stride + 1] + G[2 * stride + 2]) / 2; // 2 tr N
	return (c == d ? trace / 2 : 0) - G[d * stride + c] / 2;
}

/* sum m p_c phi_d: even part from the change of J, odd part from Cr. */
static void position_moments(const SidReader *r, double *position) {
	const int n = r->modes;
	const SidTaylor *J = &r->matrix[SID_J];
	for (int a = 0; a < n; a++) {
		double change[3][3] = {{0}}, even[3][3]; // sum m (p phi' + phi p') has the moments of this "inertia"
		for (int c = 0; c < 3; c++)
			for (int d = 0; d < 3; d++)
				change[c][d] = J->m1 ? J->m1[(c * n + a) * 3 + d] : 0;
		fe_second_moment((const double(*)[3])change, even);
		for (int c = 0; c < 3; c++)
			for (int d = 0; d < 3; d++) {
				const double turn = c == d ? 0 : r->matrix[SID_CR].m0[a * 3 + (3 - c - d)] / 2;
				position[9 * a + 3 * c + d] = even[c][d] / 2 + (d == (c + 1) % 3 ? turn : -turn);
			}
	}
}

/* N[c][d] = sum m phi_k,c phi_j,d, where Gr has its M1. */
static void shape_moment(const SidReader *r, int k, int j, double N[3][3]) {
	const int n = r->modes;
	double block[9];
	for (int c = 0; c < 3; c++)
		for (int d = 0; d < 3; d++)
			block[3 * c + d] = r->matrix[SID_GR].m1[(c * n + k) * 3 * n + 3 * j + d];
	for (int c = 0; c < 3; c++)
		for (int d = 0; d < 3; d++)
			N[c][d] = from_gyroscopic(block, 3, c, d);
}

/* All of A, where Gr has its M1. */
static void full_moments(const SidReader *r, const FeMoments *m, double *A) {
	const int n = r->modes, D = fe_moment_size(n);
	double N[3][3];
	A[0] = m->mass;
	for (int c = 0; c < 3; c++) {
		A[1 + c] = A[(1 + c) * D] = m->first[c];
		for (int d = 0; d < 3; d++)
			A[(1 + c) * D + 1 + d] = m->second[c][d];
	}
	for (int j = 0; j < n; j++)
		for (int d = 0; d < 3; d++) {
			const int s = 4 + 3 * j + d;
			A[s] = A[s * D] = m->linear[d * n + j];
			for (int c = 0; c < 3; c++)
				A[(1 + c) * D + s] = A[s * D + 1 + c] = m->position[9 * j + 3 * c + d];
		}
	for (int j = 0; j < n; j++)
		for (int k = 0; k < n; k++) {
			shape_moment(r, k, j, N);
			for (int c = 0; c < 3; c++)
				for (int d = 0; d < 3; d++)
					A[(4 + 3 * k + c) * D + 4 + 3 * j + d] = N[c][d];
		}
}

static CalStatus add_mass(SidReader *r) {
	const int n = r->modes;
	const size_t s = (size_t)n, D = (size_t)fe_moment_size(n);
	double *linear = pool_array(r->pool, 15 * s, sizeof *linear);
	double *A = r->matrix[SID_GR].m1 ? pool_array(r->pool, D * D, sizeof *A) : NULL;
	if (!linear || (r->matrix[SID_GR].m1 && !A))
		return memory_error(r);
	double *angular = linear + 3 * s, *position = angular + 3 * s;
	FeMoments m = {.modes = n, .mass = r->mass, .linear = linear, .position = position, .modal = r->matrix[SID_ME].m0};
	double inertia[3][3];
	for (int i = 0; i < 3; i++) {
		m.first[i] = r->matrix[SID_MDCM].m0[i];
		for (int j = 0; j < 3; j++)
			inertia[i][j] = r->matrix[SID_J].m0[3 * i + j];
		for (int a = 0; a < n; a++) {
			linear[i * n + a] = r->matrix[SID_CT].m0[3 * a + i];
			angular[i * n + a] = r->matrix[SID_CR].m0[3 * a + i];
		}
	}
	fe_second_moment((const double(*)[3])inertia, m.second);
	position_moments(r, position);
	if (A) {
		full_moments(r, &m, A);
		m.full = A;
	}
	return fe_modal_add_mass_points(r->modal, &m, angular, r->t->error);
}

/* ---- geometric stiffness ----------------------------------------------------------------------- */

static double taylor_m1(const SidReader *r, SidMatrix which, int i, int k, int c) {
	const SidTaylor *m = &r->matrix[which];
	return m->m1 ? m->m1[(i * r->modes + k) * m->cols + c] : 0;
}

/*
 * Of modes i and k per unit angular acceleration about axis c, and per product of angular velocities (xx, yy, zz, xy,
 * yz, xz): what the file has beyond N = sum m phi_k phi_i' of the mass points.
 */
static double turning_stiffness(const SidReader *r, int i, int k, int c) {
	return (taylor_m1(r, SID_CR, i, k, c) + taylor_m1(r, SID_CR, k, i, c)) / 2;
}

static double spin_stiffness(const SidReader *r, const double *A, int i, int k, int c) {
	const int D = fe_moment_size(r->modes), x = c % 3, y = (x + 1) % 3, z = (x + 2) % 3;
	const double *N = A + (4 + 3 * k) * D + 4 + 3 * i;
	const double inertia = c < 3 ? -N[y * D + y] - N[z * D + z] : N[x * D + y] + N[y * D + x];
	const double *M = A + (4 + 3 * i) * D + 4 + 3 * k;
	const double mirror = c < 3 ? -M[y * D + y] - M[z * D + z] : M[x * D + y] + M[y * D + x];
	if (!r->matrix[SID_OE].m1)
		return 0;
	return (taylor_m1(r, SID_OE, i, k, c) - inertia + taylor_m1(r, SID_OE, k, i, c) - mirror) / 2;
}

static void pair_stiffness(const SidReader *r, const double *A, int i, int k, double out[CAL_FLEX_GEOMETRIC]) {
	double rates[CAL_FLEX_GEOMETRIC];
	for (int c = 0; c < 6; c++)
		rates[6 + c] = spin_stiffness(r, A, i, k, c);
	for (int c = 0; c < 3; c++) {
		rates[c] = (taylor_m1(r, SID_CT, i, k, c) + taylor_m1(r, SID_CT, k, i, c)) / 2;
		rates[3 + c] = turning_stiffness(r, i, k, c);
	}
	fe_geometric_from_rates(rates, out);
}

/* Numbers that are round-off of the file: relative to sqrt(M_ii M_kk), which bounds the sums over m phi_i phi_k. */
static bool is_rounding(const SidReader *r, int i, int k, const double out[CAL_FLEX_GEOMETRIC]) {
	const double *Me = r->matrix[SID_ME].m0, bound = sqrt(fabs(Me[i * r->modes + i] * Me[k * r->modes + k]));
	double most = 0;
	for (int c = 3; c < CAL_FLEX_GEOMETRIC; c++)
		most = fmax(most, fabs(out[c]));
	return out[0] == 0 && out[1] == 0 && out[2] == 0 && most <= 1e-5 * bound;
}

static CalStatus add_geometric(SidReader *r) {
	const size_t n = (size_t)r->modes, D = (size_t)fe_moment_size(r->modes);
	double *A = pool_array(r->pool, D * D, sizeof *A);
	double *matrices = pool_array(&r->modal->pool, CAL_FLEX_GEOMETRIC * n * n, sizeof *matrices);
	bool any = false;
	if (!A || !matrices)
		return memory_error(r);
	fe_modal_moments(r->modal, A);
	for (size_t e = 0; e < n * n; e++) {
		double pair[CAL_FLEX_GEOMETRIC];
		pair_stiffness(r, A, (int)(e / n), (int)(e % n), pair);
		any |= !is_rounding(r, (int)(e / n), (int)(e % n), pair);
		for (size_t c = 0; c < CAL_FLEX_GEOMETRIC; c++)
			matrices[c * n * n + e] = pair[c];
	}
	r->geometric |= any;
	r->modal->geometric = any && !r->ignore ? matrices : NULL;
	return CAL_OK;
}

/* A stress at rest: its stiffness, and a force that a body has no place for. */
static CalStatus add_reference_stress(SidReader *r) {
	const size_t n = (size_t)r->modes;
	const SidTaylor *sigma = &r->matrix[SID_KSIGMA];
	const bool force = r->have[SID_KSIGMA] && !is_zero(sigma->m0, n);
	const char *what = force ? "the modal force of the reference stress, ksigma" : "the M1 of a node's psi";
	r->geometric |= force || (sigma->m1 && !is_zero(sigma->m1, n * n));
	for (size_t e = 0; sigma->m1 && !r->ignore && e < n * n; e++)
		r->modal->stiffness[e] += (sigma->m1[e] + sigma->m1[e % n * n + e / n]) / 2;
	if ((force || r->turned) && !r->ignore)
		return fe_file_error(r->t->error, r->t->path, CAL_ERR_UNSUPPORTED,
		                     "the file has %s, which a flexible body cannot carry; leave geometric stiffness out "
		                     "(--ignore-geometric), or export without it",
		                     what);
	return CAL_OK;
}

static CalStatus read_geometric(SidReader *r) {
	CalStatus status = add_geometric(r);
	if (status == CAL_OK)
		status = add_reference_stress(r);
	if (r->geometric && r->ignore)
		fe_modal_note(r->modal, "left out: geometric stiffness");
	return status;
}

static CalStatus finish_modal(SidReader *r) {
	const size_t n = (size_t)r->modes;
	static const SidMatrix needed[] = {SID_MDCM, SID_J, SID_CT, SID_CR, SID_ME, SID_KE};
	static const char *const names[] = {"mdCM", "J", "Ct", "Cr", "Me", "Ke"};
	for (int i = 0; i < 6; i++)
		if (!r->have[needed[i]])
			return fe_text_error(r->t, CAL_ERR_INPUT, "the file has no %s", names[i]);
	if (!(r->mass > 0))
		return fe_text_error(r->t, CAL_ERR_INPUT, "refmod has no mass");
	memcpy(r->modal->stiffness, r->matrix[SID_KE].m0, n * n * sizeof(double));
	if (r->have[SID_DE] && !is_zero(r->matrix[SID_DE].m0, n * n)) {
		r->modal->damping = pool_array(&r->modal->pool, n * n, sizeof(double));
		if (!r->modal->damping)
			return memory_error(r);
		memcpy(r->modal->damping, r->matrix[SID_DE].m0, n * n * sizeof(double));
	}
	if (r->matrix[SID_KE].m1 || (r->have[SID_ME] && r->matrix[SID_ME].m1))
		return fe_text_error(r->t, CAL_ERR_UNSUPPORTED,
		                     "Me or Ke has terms of order 1, which a flexible body cannot carry");
	CalStatus status = add_mass(r);
	if (status == CAL_OK)
		status = read_geometric(r);
	return status == CAL_OK ? fe_modal_check(r->modal, r->t->error) : status;
}

/* Says where the shapes vanish. */
static CalStatus describe_source(CalModal *modal) {
	for (int i = 0; i < modal->node_count; i++) {
		const ModalNode *node = &modal->nodes[i];
		if (node->kind != CAL_MODAL_FRAME || !is_zero(node->phi, 6 * (size_t)modal->modes))
			continue;
		char text[96];
		snprintf(text, sizeof text, "all shapes vanish at \"%.40s\"", node->name);
		modal->boundary = pool_text(&modal->pool, text, strlen(text));
		return modal->boundary ? CAL_OK : CAL_ERR_MEMORY;
	}
	modal->boundary = "no node of the file stays at rest in the body frame (free or mean axes)";
	return CAL_OK;
}

static CalStatus read_all(FeText *t, const CalModalOptions *options, Pool *pool, CalModal **modal) {
	CalStatus status = CAL_OK;
	char *end;
	if (!fe_text_next(t, &status))
		return status == CAL_OK ? fe_text_error(t, CAL_ERR_INPUT, "the file is empty") : status;
	const long nodes = strtol(t->line, &end, 10), modes = strtol(end, &end, 10);
	if (nodes < 0 || modes < 1 || modes > FE_MAX_MODES)
		return fe_text_error(t, CAL_ERR_INPUT, "the first line must give the numbers of nodes and of modes (1 to %d)",
		                     FE_MAX_MODES);
	SidReader *r = pool_alloc(pool, sizeof *r);
	CalModal *made = r ? fe_modal_new(t->path, "SID", (int)modes, &t->allocator) : NULL;
	if (!made)
		return fe_text_error(t, CAL_ERR_MEMORY, "out of memory");
	*r = (SidReader){.t = t, .modal = made, .pool = pool, .modes = (int)modes};
	r->ignore = options && options->ignore_geometric_stiffness;
	status = read_parts(r);
	if (status == CAL_OK && made->node_count != nodes)
		status =
			fe_text_error(t, CAL_ERR_INPUT, "there are %d nodes; the first line says %ld", made->node_count, nodes);
	if (status == CAL_OK)
		status = describe_source(made) == CAL_OK ? finish_modal(r) : memory_error(r);
	if (status == CAL_OK)
		*modal = made;
	else
		cal_modal_destroy(made);
	return status;
}

CalStatus fe_modal_read_sid(const char *path, const CalModalOptions *options, const CalAllocator *allocator,
                            CalModal **modal, CalError *error) {
	FeText t;
	Pool pool;
	CalStatus status = fe_text_open(&t, path, allocator, error);
	if (status != CAL_OK)
		return status;
	pool_init(&pool, allocator);
	status = read_all(&t, options, &pool, modal);
	pool_free(&pool);
	fe_text_close(&t);
	return status;
}
