// SPDX-License-Identifier: Apache-2.0
/*
 * operations.c — what one stabilization of the pendulum of Kasper and Vlasenko costs in floating-point operations, all
 * constraints at once and by components, counted as they are done.
 *
 * The paper counts pseudo-inverses: of a 54 x 42 and a 54 x 36 matrix at once, of four 18 x 18 and two 12 x 12 ones by
 * components. They are done here on matrices of these sizes, by singular values (one-sided Jacobi). The second line is
 * the projection that the library does on the same pendulum (theory, section 6.5, in the Euclidean metric): eight hinges
 * of six free bars, or the three hinges of each triangle and the two that are left. Both ways must give the same
 * displacements.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"

enum { BODIES = 6, HINGES = 8, ROWS = 5, MOST = 64 };
static const double length = 0.5;

/* A matrix in rows; operations on it add to a count. */
typedef struct Matrix {
	int rows, columns;
	double x[MOST][MOST];
} Matrix;

/* ---- counted algebra ----------------------------------------------------------------------------- */

static double dot_counted(int n, const double *a, int a_step, const double *b, int b_step, double *count) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i * a_step] * b[i * b_step];
	*count += 2.0 * n;
	return sum;
}

/* c = a b'. */
static void multiply_transposed(const Matrix *a, const Matrix *b, Matrix *c, double *count) {
	c->rows = a->rows, c->columns = b->rows;
	for (int i = 0; i < a->rows; i++)
		for (int j = 0; j < b->rows; j++)
			c->x[i][j] = dot_counted(a->columns, a->x[i], 1, b->x[j], 1, count);
}

/* A turn of two columns by which they become orthogonal; returns whether they were not. */
static int turn_columns(Matrix *a, Matrix *v, int p, int q, double *count) {
	const int m = a->rows, n = v->rows;
	const double alpha = dot_counted(m, &a->x[0][p], MOST, &a->x[0][p], MOST, count);
	const double beta = dot_counted(m, &a->x[0][q], MOST, &a->x[0][q], MOST, count);
	const double gamma = dot_counted(m, &a->x[0][p], MOST, &a->x[0][q], MOST, count);
	if (!(fabs(gamma) > 1e-15 * sqrt(alpha * beta)))
		return 0;
	const double zeta = (beta - alpha) / (2 * gamma), t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	const double c = 1 / sqrt(1 + t * t), s = c * t;
	for (int i = 0; i < m + n; i++) {
		double *row = i < m ? a->x[i] : v->x[i - m];
		const double old = row[p];
		row[p] = c * old - s * row[q];
		row[q] = s * old + c * row[q];
	}
	*count += 6.0 * (m + n) + 12;
	return 1;
}

/* The pseudo-inverse of a matrix that is not wider than high, by its singular values; a becomes U S. */
static void pseudo_inverse(Matrix *a, Matrix *inverse, double *count) {
	enum { SWEEPS = 40 };
	static Matrix v;
	v = (Matrix){.rows = a->columns, .columns = a->columns};
	for (int i = 0; i < v.rows; i++)
		v.x[i][i] = 1;
	for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
		turned = 0;
		for (int p = 0; p < a->columns; p++)
			for (int q = p + 1; q < a->columns; q++)
				turned |= turn_columns(a, &v, p, q, count);
	}
	double square[MOST], most = 0;
	for (int k = 0; k < a->columns; k++) {
		square[k] = dot_counted(a->rows, &a->x[0][k], MOST, &a->x[0][k], MOST, count);
		most = fmax(most, square[k]);
	}
	for (int k = 0; k < a->columns; k++) // V S^-2, so that its product with (U S)' is V S^-1 U'
		for (int i = 0; i < v.rows; i++)
			v.x[i][k] *= square[k] > 1e-20 * most ? 1 / square[k] : 0;
	*count += (double)v.rows * v.columns;
	multiply_transposed(&v, a, inverse, count);
}

/* x = A^+ b of a symmetric positive semidefinite A = L L', rows by their pivots: L (L'L)^-2 L'b. A is lost. */
static void cholesky(Matrix *A, Matrix *L, int *rank, double *count) {
	const int n = A->rows;
	double most = 0;
	memset(L, 0, sizeof *L);
	L->rows = n;
	for (int i = 0; i < n; i++)
		most = fmax(most, A->x[i][i]);
	for (*rank = 0; *rank < n; ++*rank) {
		int p = 0;
		for (int i = 1; i < n; i++)
			p = A->x[i][i] > A->x[p][p] ? i : p;
		if (!(A->x[p][p] > 1e-12 * most))
			break;
		const double root = sqrt(A->x[p][p]);
		for (int i = 0; i < n; i++)
			L->x[i][*rank] = A->x[i][p] / root;
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				A->x[i][j] -= L->x[i][*rank] * L->x[j][*rank];
		*count += n + 1 + 1.0 * n * (n + 1); // of one triangle
		A->x[p][p] = 0;
	}
	L->columns = *rank;
}

static void solve_normal(const Matrix *L, Matrix *factor, double *x, double *count) {
	for (int i = 0; i < L->columns; i++) {
		for (int k = 0; k < i; k++)
			x[i] -= factor->x[i][k] * x[k];
		x[i] /= factor->x[i][i];
	}
	for (int i = L->columns - 1; i >= 0; i--) {
		for (int k = i + 1; k < L->columns; k++)
			x[i] -= factor->x[k][i] * x[k];
		x[i] /= factor->x[i][i];
	}
	*count += 2.0 * L->columns * L->columns;
}

/* L'L = R R'. */
static void normal_factor(const Matrix *L, Matrix *R, double *count) {
	for (int i = 0; i < L->columns; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = dot_counted(L->rows, &L->x[0][i], MOST, &L->x[0][j], MOST, count);
			for (int k = 0; k < j; k++)
				sum -= R->x[i][k] * R->x[j][k];
			*count += 2.0 * j + 1;
			R->x[i][j] = i == j ? sqrt(sum) : sum / R->x[j][j];
		}
	}
}

static void min_norm(const Matrix *L, Matrix *R, const double *b, double *x, double *count) {
	double y[MOST];
	for (int k = 0; k < L->columns; k++)
		y[k] = dot_counted(L->rows, &L->x[0][k], MOST, b, 1, count);
	solve_normal(L, R, y, count);
	solve_normal(L, R, y, count);
	for (int i = 0; i < L->rows; i++)
		x[i] = dot_counted(L->columns, L->x[i], 1, y, 1, count);
}

/* ---- the pendulum ------------------------------------------------------------------------------------ */

/* A hinge about z at a point between two bodies (-1: the ground). */
typedef struct Hinge {
	int a, b;
	double at[2];
} Hinge;

/* Rows of a hinge on the twists (omega, v of the center) of the bodies: five for each. */
static void hinge_rows(const Hinge *hinge, double center[BODIES][2], double G[ROWS][6 * BODIES]) {
	const int bodies[2] = {hinge->a, hinge->b};
	memset(G, 0, sizeof(double) * ROWS * 6 * BODIES);
	for (int s = 0; s < 2; s++) {
		const double sign = s ? 1 : -1;
		if (bodies[s] < 0)
			continue;
		double(*g)[6 * BODIES] = G;
		const int at = 6 * bodies[s];
		const double x = hinge->at[0] - center[bodies[s]][0], y = hinge->at[1] - center[bodies[s]][1];
		g[0][at + 3] = g[1][at + 4] = g[2][at + 5] = g[3][at] = g[4][at + 1] = sign; // v, and omega across the axis
		g[0][at + 2] = -sign * y;                                                    // v + omega x e
		g[1][at + 2] = sign * x;
		g[2][at] = sign * y;
		g[2][at + 1] = -sign * x;
	}
}

/* Two triangles, the upper one on the ground; hinges of each, then the two that hold them. */
static void pendulum_rows(Matrix *G, double *g) {
	const double turn[2] = {0.17, 0.35};
	double corner[2][3][2], center[BODIES][2], at[2] = {0, 0};
	for (int t = 0; t < 2; t++) {
		for (int k = 0; k < 3; k++) {
			const double angle = turn[t] - (k == 2 ? 3.14159265358979323846 / 3 : 0);
			corner[t][k][0] = at[0] + (k ? length * cos(angle) : 0);
			corner[t][k][1] = at[1] + (k ? length * sin(angle) : 0);
		}
		for (int i = 0; i < 2; i++)
			at[i] = corner[t][2][i];
		for (int k = 0; k < 3; k++) // bars between corners k and k + 1
			for (int i = 0; i < 2; i++)
				center[3 * t + k][i] = 0.5 * (corner[t][k][i] + corner[t][(k + 1) % 3][i]);
	}
	*G = (Matrix){.rows = HINGES * ROWS, .columns = 6 * BODIES};
	for (int h = 0; h < HINGES; h++) {
		const int t = h < 6 ? h / 3 : h - 6, k = h < 6 ? h % 3 : 0;
		const Hinge hinge = {.a = h < 6 ? 3 * t + (k + 2) % 3
		                          : t   ? 2
		                                : -1,
		                     .b = 3 * t + k,
		                     .at = {corner[t][k][0], corner[t][k][1]}};
		double rows[ROWS][6 * BODIES];
		hinge_rows(&hinge, center, rows);
		for (int r = 0; r < ROWS; r++)
			memcpy(G->x[h * ROWS + r], rows[r], sizeof rows[r]);
	}
	double z[6 * BODIES], unused = 0; // residuals of a displacement, so that they can be closed
	for (int i = 0; i < 6 * BODIES; i++)
		z[i] = 1e-3 * sin(1 + 3.7 * i);
	for (int r = 0; r < G->rows; r++)
		g[r] = dot_counted(G->columns, G->x[r], 1, z, 1, &unused);
}

/* Z = -G'(G G')^+ g, all rows at once. */
static void close_all(const Matrix *G, const double *g, double *Z, double *count) {
	static Matrix H, L, R;
	double lambda[MOST], rhs[MOST];
	int rank;
	multiply_transposed(G, G, &H, count);
	cholesky(&H, &L, &rank, count);
	normal_factor(&L, &R, count);
	for (int i = 0; i < G->rows; i++)
		rhs[i] = -g[i];
	min_norm(&L, &R, rhs, lambda, count);
	for (int i = 0; i < G->columns; i++)
		Z[i] = dot_counted(G->rows, &G->x[0][i], MOST, lambda, 1, count);
}

/* One level: its rows on its n coordinates, of which it shows those of `edge`. Compliance K in, Lambda and b out. */
typedef struct Level {
	Matrix D, K, W, G; // rows, compliance, D K, H^+ W_E
	double a[MOST], lambda[MOST];
	int edge[MOST], edges;
} Level;

static void condense_level(Level *l, const double *g, double *count) {
	static Matrix H, L, R;
	double rhs[MOST];
	int rank;
	multiply_transposed(&l->D, &l->K, &l->W, count); // K is symmetric
	multiply_transposed(&l->W, &l->D, &H, count);
	cholesky(&H, &L, &rank, count);
	normal_factor(&L, &R, count);
	for (int i = 0; i < l->D.rows; i++)
		rhs[i] = -g[i] - dot_counted(l->D.columns, l->D.x[i], 1, l->a, 1, count);
	min_norm(&L, &R, rhs, l->lambda, count);
	l->G.rows = l->D.rows, l->G.columns = l->edges;
	for (int e = 0; e < l->edges; e++) {
		double column[MOST];
		for (int r = 0; r < l->D.rows; r++)
			rhs[r] = l->W.x[r][l->edge[e]];
		min_norm(&L, &R, rhs, column, count);
		for (int r = 0; r < l->D.rows; r++)
			l->G.x[r][e] = column[r];
	}
}

/* Lambda and b of its edges, into the compliance of the level above, from row and column `at`. */
static void show_edges(const Level *l, Level *above, int at, double *count) {
	for (int i = 0; i < l->edges; i++) {
		above->a[at + i] = l->a[l->edge[i]] + dot_counted(l->D.rows, &l->W.x[0][l->edge[i]], MOST, l->lambda, 1, count);
		for (int j = 0; j < l->edges; j++)
			above->K.x[at + i][at + j] = l->K.x[l->edge[i]][l->edge[j]] - dot_counted(l->D.rows, &l->W.x[0][l->edge[i]],
			                                                                          MOST, &l->G.x[0][j], MOST, count);
	}
}

/* With forces F on its edges: the displacement K (D'lambda + E F) + a of its coordinates. */
static void resolve_level(Level *l, const double *F, double *force, double *count) {
	for (int r = 0; r < l->D.rows; r++)
		l->lambda[r] -= dot_counted(l->edges, l->G.x[r], 1, F, 1, count);
	for (int i = 0; i < l->D.columns; i++)
		force[i] = dot_counted(l->D.rows, &l->D.x[0][i], MOST, l->lambda, 1, count);
	for (int e = 0; e < l->edges; e++)
		force[l->edge[e]] += F[e];
}

/* Two triangles, each of three bars that end up in two (of the ground and of the other triangle) or one; then both. */
static void close_by_components(const Matrix *G, const double *g, double *Z, double *count) {
	static Level level[3];
	static const int edge_body[2][2] = {{0, 2}, {0, -1}};
	double force[MOST], on_edges[MOST] = {0};
	memset(level, 0, sizeof level);
	Level *top = &level[2];
	int at = 0;
	top->D = (Matrix){.rows = 2 * ROWS, .columns = 18};
	top->K = (Matrix){.rows = 18, .columns = 18};
	for (int t = 0; t < 2; t++) {
		Level *l = &level[t];
		l->D = (Matrix){.rows = 3 * ROWS, .columns = 18};
		l->K = (Matrix){.rows = 18, .columns = 18};
		for (int i = 0; i < 18; i++)
			l->K.x[i][i] = 1;
		for (int r = 0; r < 3 * ROWS; r++)
			memcpy(l->D.x[r], G->x[3 * ROWS * t + r] + 18 * t, 18 * sizeof(double));
		for (int s = 0; s < 2 && edge_body[t][s] >= 0; s++)
			for (int i = 0; i < 6; i++)
				l->edge[l->edges++] = 6 * edge_body[t][s] + i;
		condense_level(l, g + 3 * ROWS * t, count);
		show_edges(l, top, at, count);
		for (int r = 0; r < 2 * ROWS; r++)
			for (int e = 0; e < l->edges; e++)
				top->D.x[r][at + e] = G->x[6 * ROWS + r][18 * t + l->edge[e]];
		at += l->edges;
	}
	condense_level(top, g + 6 * ROWS, count);
	resolve_level(top, on_edges, force, count);
	at = 0;
	for (int t = 0; t < 2; t++) { // K of a bar is one: the force is its displacement
		resolve_level(&level[t], force + at, Z + 18 * t, count);
		at += level[t].edges;
	}
}

/* ---- the table --------------------------------------------------------------------------------------- */

static double count_inverse(int rows, int columns) {
	static Matrix a, inverse;
	double count = 0;
	a = (Matrix){.rows = rows, .columns = columns};
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++)
			a.x[i][k] = sin(1 + 12.9898 * i + 78.233 * k + 0.37 * i * k);
	pseudo_inverse(&a, &inverse, &count);
	return count;
}

int write_operations(const PaperJob *job) {
	static Matrix G;
	double g[MOST], Z[2][MOST], apart = 0, most = 0, all = 0, parts = 0;
	FILE *out = paper_file(job, "operations.md");
	if (!out)
		return 1;
	const double whole = count_inverse(54, 42) + count_inverse(54, 36);
	const double divided = 4 * count_inverse(18, 18) + 2 * count_inverse(12, 12);
	pendulum_rows(&G, g);
	close_all(&G, g, Z[0], &all);
	close_by_components(&G, g, Z[1], &parts);
	for (int i = 0; i < 6 * BODIES; i++) {
		apart = fmax(apart, fabs(Z[0][i] - Z[1][i]));
		most = fmax(most, fabs(Z[0][i]));
	}
	fprintf(
		out,
		"| stabilization of positions and velocities | all at once | by components | ratio |\n| --- | --- | --- | --- |\n");
	fprintf(out, "| paper | 3e7 | 5e6 | 6 |\n");
	fprintf(out, "| pseudo-inverses of the paper's sizes, counted | %.1e | %.1e | %.1f |\n", whole, divided,
	        whole / divided);
	fprintf(out, "| projection of theory 6.5, counted | %.1e | %.1e | %.1f |\n", 2 * all, 2 * parts, all / parts);
	fclose(out);
	if (apart <= 1e-12 * most)
		return 0;
	fprintf(stderr, "papers: displacements by components are off by %g of %g\n", apart, most);
	return 1;
}
