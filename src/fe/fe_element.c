// SPDX-License-Identifier: Apache-2.0
/*
 * fe_element.c — shape functions of bricks, wedges and tetrahedra, linear and quadratic, in the node order of CalculiX.
 *
 * In each of its three coordinates a shape function is a polynomial of degree two at most, so that a central difference
 * is its exact derivative, whatever the step.
 */
#include "fe/fe_element.h"

#include <math.h>
#include <string.h>

typedef enum Family { TETRAHEDRON, WEDGE, BRICK } Family;

typedef struct ElementType {
	const char *name;
	Family family;
	int nodes, points;
} ElementType;

static const ElementType types[] = {
#define FE_ELEMENT_ROW(name, family, nodes, points) {name, family, nodes, points},
	FE_ELEMENT_LIST(FE_ELEMENT_ROW)
#undef FE_ELEMENT_ROW
};

int fe_element_type(const char *name) {
	for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
		if (strcmp(types[i].name, name) == 0)
			return i;
	return -1;
}

int fe_element_node_count(int type) { return types[type].nodes; }

/* ---- shape functions --------------------------------------------------------------------------- */

static const signed char brick_nodes[20][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1},
                                               {1, -1, 1},   {1, 1, 1},   {-1, 1, 1}, {0, -1, -1}, {1, 0, -1},
                                               {0, 1, -1},   {-1, 0, -1}, {0, -1, 1}, {1, 0, 1},   {0, 1, 1},
                                               {-1, 0, 1},   {-1, -1, 0}, {1, -1, 0}, {1, 1, 0},   {-1, 1, 0}};

static void brick_values(int nodes, const double s[3], double *N) {
	for (int a = 0; a < nodes; a++) {
		double product = 0.125, sum = -2;
		for (int c = 0; c < 3; c++) {
			const double along = brick_nodes[a][c] * s[c];
			product *= brick_nodes[a][c] ? 1 + along : 2 * (1 - s[c] * s[c]);
			sum += along;
		}
		N[a] = nodes == 20 && a < 8 ? product * sum : product;
	}
}

/* Edges of the triangle between nodes 0, 1, 2, and of the tetrahedron with its apex 3. */
static const signed char edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

static void tetrahedron_values(int nodes, const double s[3], double *N) {
	const double L[4] = {1 - s[0] - s[1] - s[2], s[0], s[1], s[2]};
	for (int a = 0; a < 4; a++)
		N[a] = nodes == 4 ? L[a] : L[a] * (2 * L[a] - 1);
	for (int a = 4; a < nodes; a++)
		N[a] = 4 * L[edges[a - 4][0]] * L[edges[a - 4][1]];
}

static void wedge_values(int nodes, const double s[3], double *N) {
	const double L[3] = {1 - s[0] - s[1], s[0], s[1]}, z = s[2];
	for (int a = 0; a < 6; a++) {
		const double l = L[a % 3], side = 1 + (a < 3 ? -z : z);
		N[a] = nodes == 6 ? l * side / 2 : l * ((2 * l - 1) * side - (1 - z * z)) / 2;
	}
	for (int a = 6; a < nodes && a < 12; a++)
		N[a] = 2 * L[edges[a % 3][0]] * L[edges[a % 3][1]] * (1 + (a < 9 ? -z : z));
	for (int a = 12; a < nodes; a++)
		N[a] = L[a - 12] * (1 - z * z);
}

static void shape_values(const ElementType *type, const double s[3], double *N) {
	if (type->family == BRICK)
		brick_values(type->nodes, s, N);
	else if (type->family == WEDGE)
		wedge_values(type->nodes, s, N);
	else
		tetrahedron_values(type->nodes, s, N);
}

/* ---- integration points ------------------------------------------------------------------------ */

static void gauss_line(int count, double *x, double *w) {
	const double far = count == 2 ? sqrt(1 / 3.0) : sqrt(0.6);
	for (int i = 0; i < count; i++) {
		x[i] = count == 1 ? 0 : (i - (count - 1) / 2.0) * (count == 2 ? 2 : 1) * far;
		w[i] = count == 1 ? 2 : count == 2 ? 1 : i == 1 ? 8 / 9.0 : 5 / 9.0;
	}
}

/* Point i in the coordinates of the family; returns its weight, 0 past the last. */
static double point_at(const ElementType *type, int i, double s[3]) {
	double x[3], w[3];
	const int n = type->points;
	if (type->family == TETRAHEDRON) {
		const double near = n == 1 ? 0.25 : (5 - sqrt(5)) / 20;
		for (int c = 0; c < 3; c++)
			s[c] = n == 4 && i == c + 1 ? 1 - 3 * near : near;
		return i < n ? 1 / (6.0 * n) : 0;
	}
	gauss_line(n, x, w);
	if (type->family == WEDGE) {
		s[0] = i % 3 == 1 ? 2 / 3.0 : 1 / 6.0;
		s[1] = i % 3 == 2 ? 2 / 3.0 : 1 / 6.0;
		s[2] = i < 3 * n ? x[i / 3] : 0;
		return i < 3 * n ? w[i / 3] / 6 : 0;
	}
	if (i >= n * n * n)
		return 0;
	s[0] = x[i % n];
	s[1] = x[i / n % n];
	s[2] = x[i / (n * n)];
	return w[i % n] * w[i / n % n] * w[i / (n * n)];
}

/* J_ij = dx_i/ds_j; inverse and determinant. */
static double invert(double J[3][3], double inverse[3][3]) {
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
			inverse[i][j] = J[a][c] * J[b][d] - J[a][d] * J[b][c];
		}
	const double det = J[0][0] * inverse[0][0] + J[0][1] * inverse[1][0] + J[0][2] * inverse[2][0];
	for (int k = 0; k < 9; k++)
		inverse[k / 3][k % 3] /= det;
	return det;
}

int fe_element_points(int kind, const double (*x)[3], FePoint point[FE_ELEMENT_POINTS]) {
	const ElementType *type = &types[kind];
	const double step = 0.5;
	int count = 0;
	double s[3], weight;
	for (; count < FE_ELEMENT_POINTS && (weight = point_at(type, count, s)) > 0; count++) {
		double dN[FE_ELEMENT_NODES][3] = {{0}}, J[3][3] = {{0}}, inverse[3][3];
		for (int c = 0; c < 3; c++) {
			double more[FE_ELEMENT_NODES], less[FE_ELEMENT_NODES], at[3] = {s[0], s[1], s[2]};
			at[c] = s[c] + step;
			shape_values(type, at, more);
			at[c] = s[c] - step;
			shape_values(type, at, less);
			for (int a = 0; a < type->nodes; a++) {
				dN[a][c] = (more[a] - less[a]) / (2 * step);
				for (int i = 0; i < 3; i++)
					J[i][c] += x[a][i] * dN[a][c];
			}
		}
		const double det = invert(J, inverse);
		if (!(det > 0))
			return 0;
		point[count].volume = weight * det;
		for (int a = 0; a < type->nodes; a++)
			for (int i = 0; i < 3; i++)
				point[count].gradient[a][i] =
					dN[a][0] * inverse[0][i] + dN[a][1] * inverse[1][i] + dN[a][2] * inverse[2][i];
	}
	return count;
}
