// SPDX-License-Identifier: Apache-2.0
/*
 * fe_sid_write.c — a modal body as a SID file; fe_sid.h has the format.
 *
 * All integrals follow from the moments of fe_mass.h. Gr is written with its M1, from which a reader gets the terms of
 * second order too. Frames and display nodes become nodes of the file, numbered; masses at nodes do not appear.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_reader.h"
#include "io/fe/fe_file.h"
#include "io/fe/fe_sid.h"

typedef struct SidWriter {
	FILE *out;
	const CalModal *modal;
	int n, D;
	const double *A; // [D][D]
	const ModalMass *mass;
	const double *geometric; // [CAL_FLEX_GEOMETRIC][n][n]; NULL: none
} SidWriter;

/* 1.5D+00, with a point whatever the locale. */
static void put_number(FILE *out, double value) {
	char text[40];
	snprintf(text, sizeof text, "%.16e", value);
	for (char *c = text; *c; c++)
		*c = *c == ',' ? '.' : *c == 'e' ? 'D' : *c;
	fprintf(out, " = %s\n", text);
}

static void put_m0(SidWriter *w, int row, int col, double value) {
	if (value == 0)
		return;
	fprintf(w->out, "               m0(%4d,%4d)          ", row + 1, col + 1);
	put_number(w->out, value);
}

static void put_m1(SidWriter *w, int row, int mode, int col, double value) {
	if (value == 0)
		return;
	fprintf(w->out, "               m1(%4d,%4d,%4d)     ", row + 1, mode + 1, col + 1);
	put_number(w->out, value);
}

static void open_matrix(SidWriter *w, const char *name, int order, int rows, int cols, int structure) {
	fprintf(w->out,
	        "          %s\n               order                     = %d\n"
	        "               nrow                      = %d\n               ncol                      = %d\n"
	        "               nq                        = %d\n               nqn                       = 0\n"
	        "               structure                 = %d\n",
	        name, order, rows, cols, order ? w->n : 0, structure);
}

static void close_matrix(SidWriter *w, const char *name) { fprintf(w->out, "          end %s\n", name); }

/* ---- nodes ------------------------------------------------------------------------------------- */

static void rotation_of(CalQuat q, double R[3][3]) {
	const double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
	const double w = norm > 0 ? q.w / norm : 1, x = norm > 0 ? q.x / norm : 0, y = norm > 0 ? q.y / norm : 0,
				 z = norm > 0 ? q.z / norm : 0;
	const double M[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
	                        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
	                        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
	memcpy(R, M, sizeof M);
}

/* The M1 of phi is 2 phi2: phi + 2 phi2 q takes a force to the modes. */
static void put_shape(SidWriter *w, const char *name, const double *shape, const double *shape2) {
	open_matrix(w, name, shape2 != NULL, 3, w->n, 3);
	for (int c = 0; c < 3; c++)
		for (int a = 0; a < w->n; a++)
			put_m0(w, c, a, shape[c * w->n + a]);
	for (int k = 0; shape2 && k < 3 * w->n * w->n; k++)
		put_m1(w, k / (w->n * w->n), k / w->n % w->n, k % w->n, 2 * shape2[k]);
	close_matrix(w, name);
}

/* AP = (1 + [psi q]x) E */
static void put_orientation(SidWriter *w, const ModalNode *node) {
	double R[3][3];
	rotation_of(node->placement.orientation, R);
	open_matrix(w, "AP", 1, 3, 3, 3);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			put_m0(w, i, j, R[i][j]);
	for (int i = 0; i < 3; i++) {
		const int y = (i + 1) % 3, z = (i + 2) % 3; // ([psi]x R)_ij = psi_y R_zj - psi_z R_yj
		for (int a = 0; a < w->n; a++)
			for (int j = 0; j < 3; j++)
				put_m1(w, i, a, j, node->psi[y * w->n + a] * R[z][j] - node->psi[z * w->n + a] * R[y][j]);
	}
	close_matrix(w, "AP");
}

static void put_node(SidWriter *w, const ModalNode *node, int index) {
	const CalVec3 p = node->placement.position;
	const double at[3] = {p.x, p.y, p.z};
	char *end;
	const long own = strncmp(node->name, "node", 4) == 0 ? strtol(node->name + 4, &end, 10) : 0;
	fprintf(w->out, "          new node                       = %ld\n", own > 0 && !*end ? own : (long)index);
	fprintf(w->out, "               rframe                    = body ref\n");
	open_matrix(w, "origin", 1, 3, 1, 3);
	for (int c = 0; c < 3; c++)
		put_m0(w, c, 0, at[c]);
	for (int c = 0; c < 3; c++)
		for (int a = 0; a < w->n; a++)
			put_m1(w, c, a, 0, node->phi[c * w->n + a]);
	close_matrix(w, "origin");
	put_shape(w, "phi", node->phi, node->phi2);
	put_shape(w, "psi", node->psi, NULL);
	put_orientation(w, node);
	fprintf(w->out, "          end node\n");
}

/* ---- the matrices of the body ------------------------------------------------------------------ */

/* sum m of product of numbers s and t of z; shape(a, c) is where component c of shape a stands in z. */
static double moment(const SidWriter *w, int s, int t) { return w->A[s * w->D + t]; }
static int shape(int a, int c) { return 4 + 3 * a + c; }

/* Element (i, j) of -sum m [u]x[v]x = (u.v) 1 - v u', u and v starting at positions u and v of z. */
static double crossed(const SidWriter *w, int u, int v, int i, int j) {
	double dot = 0;
	for (int c = 0; c < 3; c++)
		dot += moment(w, u + c, v + c);
	return (i == j ? dot : 0) - moment(w, u + j, v + i);
}

static void put_mass_center(SidWriter *w) {
	open_matrix(w, "mdCM", 1, 3, 1, 3);
	for (int c = 0; c < 3; c++)
		put_m0(w, c, 0, w->mass->first[c]);
	for (int c = 0; c < 3; c++)
		for (int a = 0; a < w->n; a++)
			put_m1(w, c, a, 0, w->mass->linear[c * w->n + a]);
	close_matrix(w, "mdCM");
}

static void put_inertia(SidWriter *w) {
	open_matrix(w, "J", 1, 3, 3, 3);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			put_m0(w, i, j, w->mass->inertia[i][j]);
	for (int i = 0; i < 3; i++)
		for (int a = 0; a < w->n; a++)
			for (int j = 0; j < 3; j++)
				put_m1(w, i, a, j, crossed(w, 1, shape(a, 0), i, j) + crossed(w, 1, shape(a, 0), j, i));
	close_matrix(w, "J");
}

/* Matrix k of the geometric stiffness per unit acceleration field: 0..2 of a, 3 + 3 i + j of W_ij. */
static double geometric(const SidWriter *w, int k, int row, int column) {
	return w->geometric ? w->geometric[(k * w->n + row) * w->n + column] : 0;
}

static void put_coupling(SidWriter *w) {
	open_matrix(w, "Ct", w->geometric != NULL, w->n, 3, 3);
	for (int a = 0; a < w->n; a++)
		for (int c = 0; c < 3; c++)
			put_m0(w, a, c, w->mass->linear[c * w->n + a]);
	for (int k = 0; w->geometric && k < 3 * w->n * w->n; k++)
		put_m1(w, k / (3 * w->n), k / 3 % w->n, k % 3, geometric(w, k % 3, k / (3 * w->n), k / 3 % w->n));
	close_matrix(w, "Ct");
	open_matrix(w, "Cr", 1, w->n, 3, 3);
	for (int a = 0; a < w->n; a++)
		for (int c = 0; c < 3; c++)
			put_m0(w, a, c, w->mass->angular[c * w->n + a]);
	for (int a = 0; a < w->n; a++)
		for (int k = 0; k < w->n; k++)
			for (int c = 0; c < 3; c++) {
				const int y = (c + 1) % 3, z = (c + 2) % 3;
				const double turning = geometric(w, 3 + 3 * z + y, a, k) - geometric(w, 3 + 3 * y + z, a, k);
				put_m1(w, a, k, c, moment(w, shape(k, y), shape(a, z)) - moment(w, shape(k, z), shape(a, y)) + turning);
			}
	close_matrix(w, "Cr");
}

static void put_square(SidWriter *w, const char *name, const double *matrix) {
	open_matrix(w, name, 0, w->n, w->n, matrix ? 3 : 0);
	for (int i = 0; matrix && i < w->n; i++)
		for (int j = 0; j < w->n; j++)
			put_m0(w, i, j, matrix[i * w->n + j]);
	close_matrix(w, name);
}

static void put_gyroscopic(SidWriter *w) {
	const int n = w->n;
	open_matrix(w, "Gr", 1, 3, 3 * n, 3);
	for (int i = 0; i < 3; i++)
		for (int a = 0; a < n; a++)
			for (int j = 0; j < 3; j++)
				put_m0(w, i, 3 * a + j, 2 * crossed(w, 1, shape(a, 0), i, j));
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < n; k++)
			for (int a = 0; a < n; a++)
				for (int j = 0; j < 3; j++)
					put_m1(w, i, k, 3 * a + j, 2 * crossed(w, shape(k, 0), shape(a, 0), i, j));
	close_matrix(w, "Gr");
	open_matrix(w, "Ge", 0, n, 3 * n, 3);
	for (int i = 0; i < n; i++)
		for (int a = 0; a < n; a++)
			for (int c = 0; c < 3; c++) {
				const int y = (c + 1) % 3, z = (c + 2) % 3;
				put_m0(w, i, 3 * a + c,
				       2 * (moment(w, shape(a, y), shape(i, z)) - moment(w, shape(a, z), shape(i, y))));
			}
	close_matrix(w, "Ge");
}

/* phi'[w]x[w]x r over (xx, yy, zz, xy, yz, xz), r starting at position r of z. */
static double centrifugal(const SidWriter *w, int a, int r, int column) {
	const int x = column % 3, y = (x + 1) % 3, z = (x + 2) % 3;
	if (column < 3)
		return -moment(w, shape(a, y), r + y) - moment(w, shape(a, z), r + z);
	return moment(w, shape(a, x), r + y) + moment(w, shape(a, y), r + x);
}

/* The same of the geometric stiffness: W = [w]x[w]x. */
static double centrifugal_stiffness(const SidWriter *w, int a, int k, int column) {
	const int x = column % 3, y = (x + 1) % 3, z = (x + 2) % 3;
	if (column < 3)
		return -geometric(w, 3 + 4 * y, a, k) - geometric(w, 3 + 4 * z, a, k);
	return geometric(w, 3 + 3 * x + y, a, k) + geometric(w, 3 + 3 * y + x, a, k);
}

static void put_centrifugal(SidWriter *w) {
	open_matrix(w, "Oe", 1, w->n, 6, 3);
	for (int a = 0; a < w->n; a++)
		for (int c = 0; c < 6; c++)
			put_m0(w, a, c, centrifugal(w, a, 1, c));
	for (int a = 0; a < w->n; a++)
		for (int k = 0; k < w->n; k++)
			for (int c = 0; c < 6; c++)
				put_m1(w, a, k, c, centrifugal(w, a, shape(k, 0), c) + centrifugal_stiffness(w, a, k, c));
	close_matrix(w, "Oe");
}

static void put_refmod(SidWriter *w) {
	fprintf(
		w->out,
		"part\n     new modal                            =\n          refmod\n               mass                     ");
	put_number(w->out, w->mass->mass);
	fprintf(w->out, "               nelastq                   = %d\n", w->n);
	for (int a = 0; a < w->n; a++) {
		const double m = w->mass->modal[a * w->n + a], k = w->modal->stiffness[a * w->n + a];
		fprintf(w->out, "               ielastq (%4d)            = Mode %d : %.3f Hz\n", a + 1, a + 1,
		        m > 0 && k > 0 ? sqrt(k / m) / 6.283185307179586 : 0.0);
	}
	fprintf(w->out, "          end refmod\n");
}

static void put_all(SidWriter *w) {
	int nodes = 0, index = 0;
	for (int i = 0; i < w->modal->node_count; i++)
		nodes += w->modal->nodes[i].kind != CAL_MODAL_MASS;
	fprintf(w->out, "%d %d : nodes and modes; written by Calder %s\n", nodes, w->n, cal_version());
	put_refmod(w);
	fprintf(w->out, "          frame\n");
	for (int i = 0; i < w->modal->node_count; i++)
		if (w->modal->nodes[i].kind != CAL_MODAL_MASS)
			put_node(w, &w->modal->nodes[i], ++index);
	fprintf(w->out, "          end frame\n");
	put_mass_center(w);
	put_inertia(w);
	put_coupling(w);
	put_square(w, "Me", w->mass->modal);
	put_gyroscopic(w);
	put_centrifugal(w);
	open_matrix(w, "ksigma", 0, w->n, 1, 0);
	close_matrix(w, "ksigma");
	put_square(w, "Ke", w->modal->stiffness);
	put_square(w, "De", w->modal->damping);
	fprintf(w->out, "     end modal\nend part\n");
}

static void put_sid(FILE *out, const void *writer) {
	SidWriter w = *(const SidWriter *)writer;
	w.out = out;
	put_all(&w);
}

CalStatus fe_modal_write_sid(const CalModal *modal, const char *path, CalError *error) {
	const CalAllocator *allocator = &modal->pool.allocator;
	const size_t n = (size_t)modal->modes, D = (size_t)fe_moment_size(modal->modes);
	double *A = memory_alloc(allocator, (D * D + 6 * n + (1 + CAL_FLEX_GEOMETRIC) * n * n) * sizeof *A);
	if (!A)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	ModalMass mass = {.linear = A + D * D, .angular = A + D * D + 3 * n, .modal = A + D * D + 6 * n};
	SidWriter w = {.modal = modal, .n = modal->modes, .D = (int)D, .A = A, .mass = &mass};
	fe_modal_moments(modal, A);
	fe_modal_mass(modal, &mass);
	double *geometric_stiffness = A + D * D + 6 * n + n * n;
	if (fe_modal_geometric(modal, geometric_stiffness))
		w.geometric = geometric_stiffness;
	const CalStatus status = fe_write_whole(path, put_sid, &w, error);
	memory_free(allocator, A);
	return status;
}
