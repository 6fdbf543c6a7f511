// SPDX-License-Identifier: Apache-2.0
/*
 * fe_reduce_mass.c — the moments of mass of a finite element model in given shapes, and mass points that have them.
 *
 * Solids have the same scalar mass matrix in each direction, and a rigid interface moves the points attached to it by
 * u + theta x d. Both are read off M as it is, entry by entry, so that the moments of fe_mass.h are those of the finite
 * element model and not of a lumped one (docs/fe.md). M of another kind gives an estimate in the same way; what acts at
 * rest is taken from M itself.
 */
#include "fe/fe_reduce.h"

static double dot(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/*
 * Rows of z: one per node with translations, and for a node that turns three more: how (1, p, phi) changes with a
 * unit step of d along each axis after it.
 */
typedef struct Rows {
	int D, shapes;
	int *first; // [nodes] row of its translations, -1: none
	double *Z;  // [rows][D]
	double *Y;  // [rows][D] scalar mass matrix times Z
	int count;
} Rows;

double fe_shape_at(const Reduce *r, int shape, const FeNode *node, int component) {
	const int equation = node->dof[component];
	return equation < 0 ? 0 : r->T[(size_t)shape * (size_t)r->n + (size_t)equation];
}

static void fill_rows(const Reduce *r, Rows *rows, int index) {
	const FeNode *node = &r->fe->nodes[index];
	double *z = rows->Z + (size_t)rows->first[index] * (size_t)rows->D;
	z[0] = 1;
	z[1] = node->position.x - r->origin.x;
	z[2] = node->position.y - r->origin.y;
	z[3] = node->position.z - r->origin.z;
	for (int a = 0; a < rows->shapes; a++)
		for (int c = 0; c < 3; c++)
			z[4 + 3 * a + c] = fe_shape_at(r, a, node, c);
	if (node->dof[3] < 0 && node->dof[4] < 0 && node->dof[5] < 0)
		return;
	for (int e = 0; e < 3; e++) { // psi x e
		const int next = (e + 1) % 3, last = (e + 2) % 3;
		z += rows->D;
		z[1 + e] = 1;
		for (int a = 0; a < rows->shapes; a++) {
			z[4 + 3 * a + next] = fe_shape_at(r, a, node, 3 + last);
			z[4 + 3 * a + last] = -fe_shape_at(r, a, node, 3 + next);
		}
	}
}

static bool make_rows(Reduce *r, Rows *rows, int shapes) {
	rows->shapes = shapes;
	rows->D = fe_moment_size(shapes);
	rows->first = pool_array(&r->pool, (size_t)r->fe->node_count, sizeof *rows->first);
	if (!rows->first)
		return false;
	for (int i = 0; i < r->fe->node_count; i++) {
		const int *dof = r->fe->nodes[i].dof;
		const bool moves = dof[0] >= 0 || dof[1] >= 0 || dof[2] >= 0, turns = dof[3] >= 0 || dof[4] >= 0 || dof[5] >= 0;
		rows->first[i] = moves || turns ? rows->count : -1;
		rows->count += turns ? 4 : moves;
	}
	rows->Z = pool_array(&r->pool, (size_t)rows->count * (size_t)rows->D, sizeof *rows->Z);
	rows->Y = pool_array(&r->pool, (size_t)rows->count * (size_t)rows->D, sizeof *rows->Y);
	if (!rows->Z || !rows->Y)
		return false;
	for (int i = 0; i < r->fe->node_count; i++)
		if (rows->first[i] >= 0)
			fill_rows(r, rows, i);
	return true;
}

/* Y += m Z for one entry of the scalar mass matrix; `mirror`: and for its mirror image. */
static void add_coupling(Rows *rows, int i, int j, double m, bool mirror) {
	const size_t D = (size_t)rows->D;
	for (size_t k = 0; k < D; k++)
		rows->Y[(size_t)i * D + k] += m * rows->Z[(size_t)j * D + k];
	for (size_t k = 0; mirror && k < D; k++)
		rows->Y[(size_t)j * D + k] += m * rows->Z[(size_t)i * D + k];
}

/*
 * Where the model is of points with scalar masses m and rigid pieces u + theta x d, a 3 x 3 block B of M is
 *   translation, translation: m 1         -> m = tr B / 3
 *   translation, rotation:    -[sum m d]x -> (sum m d)_e = eps_abe B_ab / 2
 *   rotation, rotation:       tr(N) 1 - N', N = sum m d d' -> N = (tr B / 2 - B)'
 * Each entry of M adds its share.
 */
static void add_mass_entry(Rows *rows, const FeDof *a, const FeDof *b, double m, bool mirror) {
	const int i = rows->first[a->node], j = rows->first[b->node];
	const bool a_turns = a->component > 2, b_turns = b->component > 2;
	const int p = a->component % 3, q = b->component % 3;
	if (!a_turns && !b_turns) {
		if (p == q)
			add_coupling(rows, i, j, m / 3, mirror);
	} else if (a_turns && b_turns) {
		add_coupling(rows, i + 1 + q, j + 1 + p, -m, mirror);
		for (int e = 0; e < 3 && p == q; e++)
			add_coupling(rows, i + 1 + e, j + 1 + e, m / 2, mirror);
	} else if (p != q) {
		const int t = b_turns ? p : q, w = b_turns ? q : p; // of the translation, of the rotation
		const int e = 3 - p - q;
		const double share = (w == (t + 1) % 3 ? m : -m) / 2;
		if (b_turns)
			add_coupling(rows, i, j + 1 + e, share, mirror);
		else
			add_coupling(rows, i + 1 + e, j, share, mirror);
	}
}

/* Y = the scalar mass matrix times Z. */
static void multiply_mass(const Reduce *r, Rows *rows) {
	for (int e = 0; e < r->fe->M.count; e++) {
		const FeDof *a = &r->fe->dofs[r->fe->M.row[e]], *b = &r->fe->dofs[r->fe->M.col[e]];
		// Off the diagonal an entry stands for two; inside a block of one node both may fall on the same rows.
		if (a->node >= 0 && b->node >= 0)
			add_mass_entry(rows, a, b, r->fe->M.value[e], r->fe->M.row[e] != r->fe->M.col[e]);
	}
}

static double *full_moments(Reduce *r, int shapes) {
	Rows rows = {0};
	if (!make_rows(r, &rows, shapes))
		return NULL;
	const size_t D = (size_t)rows.D;
	double *A = pool_array(&r->pool, D * D, sizeof *A);
	if (!A)
		return NULL;
	multiply_mass(r, &rows);
	for (int k = 0; k < rows.count; k++)
		for (size_t s = 0; s < D; s++)
			for (size_t t = 0; t < D; t++)
				A[s * D + t] += rows.Z[(size_t)k * D + s] * rows.Y[(size_t)k * D + t];
	for (size_t s = 0; s < D; s++)
		for (size_t t = 0; t < s; t++)
			A[s * D + t] = A[t * D + s] = (A[s * D + t] + A[t * D + s]) / 2;
	return A;
}

/*
 * Field k of the twelve is e_i z_j, i = its direction and z = (1, p): k = i for 1, 3 + 3 i + j for p_j. Its force on a
 * translation is that of the row, its moment on a rotation sum m d x e_i z_j, of the rows that go with d.
 */
bool fe_inertia_loads(Reduce *r, double *loads) {
	Rows rows = {0};
	if (!make_rows(r, &rows, 0))
		return false;
	multiply_mass(r, &rows);
	for (int k = 0; k < CAL_FLEX_GEOMETRIC; k++) {
		const int i = k < 3 ? k : (k - 3) / 3, z = k < 3 ? 0 : 1 + (k - 3) % 3;
		for (int e = 0; e < r->n; e++) {
			const FeDof *dof = &r->fe->dofs[e];
			const double *Y = dof->node < 0 ? NULL : rows.Y + (size_t)rows.first[dof->node] * (size_t)rows.D + z;
			double *load = &loads[(size_t)k * (size_t)r->n + (size_t)e];
			const int c = dof->component - 3, next = (c + 1) % 3, last = (c + 2) % 3;
			if (Y && c < 0)
				*load = dof->component == i ? -Y[0] : 0;
			else if (Y) // (d x e_i)_c = d_next [i = last] - d_last [i = next]
				*load = (i == next ? Y[(size_t)(1 + last) * (size_t)rows.D] : 0) -
				        (i == last ? Y[(size_t)(1 + next) * (size_t)rows.D] : 0);
		}
	}
	return true;
}

/* sum m p_c phi_c: the shape times a unit stretch along the axis. */
static double stretch_of(const Reduce *r, int axis, const double *MT) {
	double sum = 0;
	for (int i = 0; i < r->n; i++) {
		const FeDof *dof = &r->fe->dofs[i];
		if (dof->node < 0 || dof->component != axis)
			continue;
		const CalVec3 p = r->fe->nodes[dof->node].position;
		const double at[3] = {p.x - r->origin.x, p.y - r->origin.y, p.z - r->origin.z};
		sum += at[axis] * MT[i];
	}
	return sum;
}

/* R'MR, R'MT and T'MT, and from them what FeMoments asks for. */
CalStatus fe_reduce_mass(Reduce *r, CalModal *modal) {
	const int m = modal->modes;
	const size_t n = (size_t)r->n, s = (size_t)m;
	double *R = pool_array(&r->pool, 6 * n + s * n, sizeof *R);
	double *linear = pool_array(&r->pool, 18 * s + s * s, sizeof *linear);
	double *full = full_moments(r, m);
	if (!R || !linear || !full)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	double *MT = R + 6 * n, *angular = linear + 3 * s, *position = angular + 3 * s, *stretch = position + 9 * s,
		   *ee = stretch + 3 * s;
	FeMoments moments = {
		.modes = m, .linear = linear, .position = position, .stretch = stretch, .modal = ee, .full = full};
	const int D = fe_moment_size(m);
	fe_rigid_motions(r->fe, r->origin, R);
	fe_project(r, &r->fe->M, m, MT, ee);
	for (int a = 0; a < m; a++)
		for (int c = 0; c < 3; c++) {
			angular[c * m + a] = dot(r->n, R + (size_t)c * n, MT + (size_t)a * n);
			linear[c * m + a] = dot(r->n, R + (size_t)(3 + c) * n, MT + (size_t)a * n);
			stretch[c * m + a] = stretch_of(r, c, MT + (size_t)a * n);
		}
	for (int a = 0; a < m; a++) // sum m p phi': symmetric part of the nodes, the other of M
		for (int c = 0; c < 3; c++)
			for (int d = 0; d < 3; d++) {
				const double even = (full[(1 + c) * D + 4 + 3 * a + d] + full[(1 + d) * D + 4 + 3 * a + c]) / 2;
				const int e = 3 - c - d;
				const double odd = c == d ? 0 : (d == (c + 1) % 3 ? 1 : -1) * angular[e * m + a] / 2;
				position[9 * a + 3 * c + d] = even + odd;
			}
	const CalVec3 com = {r->info.com.x - r->origin.x, r->info.com.y - r->origin.y, r->info.com.z - r->origin.z};
	const double p[3] = {com.x, com.y, com.z};
	moments.mass = r->info.mass;
	fe_second_moment((const double(*)[3])r->info.inertia.m, moments.second);
	for (int i = 0; i < 3; i++) {
		moments.first[i] = moments.mass * p[i];
		for (int j = 0; j < 3; j++)
			moments.second[i][j] += moments.mass * p[i] * p[j];
	}
	return fe_modal_add_mass_points(modal, &moments, angular, r->error);
}
