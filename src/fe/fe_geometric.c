// SPDX-License-Identifier: Apache-2.0
/*
 * fe_geometric.c — geometric stiffness of a finite-element model in the shapes of its reduction [THEORY 2.6].
 *
 * With the reference held, each load f gives displacements u = K^-1 f and, in the elements, stresses sigma. The work
 * of these stresses on the quadratic part of the strain is the geometric stiffness in the shapes phi of the body,
 *   K_kl = int sigma_ij (d phi_k/dx_i).(d phi_l/dx_j) dV
 * Loads are the inertia forces of twelve unit acceleration fields, a + W r, and unit forces at the other interfaces: a
 * force at a node does the work -1/2 eta'K eta on the second-order displacement of that node, hence phi2 = -K/2.
 * Where the file has the matrices of such loads instead of elements (DMIG), they are projected on the shapes.
 */
#include <string.h>

#include "fe/fe_reduce.h"

/* One field of displacements: a shape or a load case. */
typedef const double *Field;

typedef struct Fields {
	int shapes, loads;
	Field *at; // [shapes + loads]
	double *K; // [loads][shapes][shapes]
} Fields;

/* Displacement of a node: its own, or that of the rigid body that carries it. */
static void node_displacement(const CalFeModel *fe, Field field, int index, double u[3]) {
	const int frame = fe->tied[index];
	const FeNode *node = &fe->nodes[index], *on = frame < 0 ? node : &fe->nodes[frame];
	double x[6];
	for (int c = 0; c < 6; c++)
		x[c] = on->dof[c] < 0 ? 0 : field[on->dof[c]];
	const double d[3] = {node->position.x - on->position.x, node->position.y - on->position.y,
	                     node->position.z - on->position.z};
	for (int c = 0; c < 3; c++) {
		const int a = (c + 1) % 3, b = (c + 2) % 3;
		u[c] = x[c] + x[3 + a] * d[b] - x[3 + b] * d[a];
	}
}

/* grad[c][i] = du_c/dx_i */
static void field_gradient(const FePoint *point, int nodes, const double (*u)[3], double grad[9]) {
	memset(grad, 0, 9 * sizeof *grad);
	for (int a = 0; a < nodes; a++)
		for (int k = 0; k < 9; k++)
			grad[k] += u[a][k / 3] * point->gradient[a][k % 3];
}

/* Stress times volume of a linear, isotropic material. */
static void stress(const FeElement *element, const FePoint *point, const double grad[9], double sigma[9]) {
	const double nu = element->poisson, mu = element->young / (2 * (1 + nu));
	const double lambda = 2 * mu * nu / (1 - 2 * nu), trace = grad[0] + grad[4] + grad[8];
	for (int k = 0; k < 9; k++)
		sigma[k] = point->volume * (mu * (grad[k] + grad[k % 3 * 3 + k / 3]) + (k % 4 == 0 ? lambda * trace : 0));
}

/* K_kl += sigma_ij (d phi_k/dx_i).(d phi_l/dx_j) for one load; grad of the shapes [shapes][9]. */
static void add_point(int shapes, const double sigma[9], const double *grad, double *K) {
	for (int l = 0; l < shapes; l++) {
		double pulled[9];
		for (int k = 0; k < 9; k++) {
			const double *of_row = grad + 9 * l + k / 3 * 3, *column = sigma + k % 3 * 3;
			pulled[k] = column[0] * of_row[0] + column[1] * of_row[1] + column[2] * of_row[2];
		}
		for (int k = 0; k <= l; k++) {
			double sum = 0;
			for (int i = 0; i < 9; i++)
				sum += grad[9 * k + i] * pulled[i];
			K[k * shapes + l] += sum;
		}
	}
}

/* scratch[shapes + loads][FE_ELEMENT_NODES][3], grad[shapes + loads][9] */
static bool add_element(const CalFeModel *fe, const FeElement *element, Fields *f, double (*u)[3], double *grad) {
	const int nodes = fe_element_node_count(element->type), all = f->shapes + f->loads;
	double x[FE_ELEMENT_NODES][3];
	FePoint points[FE_ELEMENT_POINTS];
	for (int a = 0; a < nodes; a++) {
		const CalVec3 p = fe->nodes[element->node[a]].position;
		x[a][0] = p.x, x[a][1] = p.y, x[a][2] = p.z;
		for (int s = 0; s < all; s++)
			node_displacement(fe, f->at[s], element->node[a], u[s * FE_ELEMENT_NODES + a]);
	}
	const int count = fe_element_points(element->type, (const double(*)[3])x, points);
	for (int p = 0; p < count; p++) {
		for (int s = 0; s < all; s++)
			field_gradient(&points[p], nodes, (const double(*)[3])(u + (size_t)s * FE_ELEMENT_NODES), grad + 9 * s);
		for (int load = 0; load < f->loads; load++) {
			double sigma[9];
			stress(element, &points[p], grad + 9 * (f->shapes + load), sigma);
			add_point(f->shapes, sigma, grad, f->K + (size_t)load * (size_t)(f->shapes * f->shapes));
		}
	}
	return count > 0;
}

static CalStatus add_elements(Reduce *r, Fields *f) {
	const size_t all = (size_t)(f->shapes + f->loads);
	double(*u)[3] = pool_array(&r->pool, all * FE_ELEMENT_NODES, sizeof *u);
	double *grad = pool_array(&r->pool, all * 9, sizeof *grad);
	if (!u || !grad)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int e = 0; e < r->fe->element_count; e++)
		if (!add_element(r->fe, &r->fe->elements[e], f, u, grad))
			return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT, "element %ld is turned inside out",
			                     r->fe->elements[e].id);
	for (int k = 0; k < f->loads * f->shapes * f->shapes; k++) {
		const int i = k / f->shapes % f->shapes, j = k % f->shapes, matrix = k - i * f->shapes - j;
		if (i > j)
			f->K[k] = f->K[matrix + j * f->shapes + i];
	}
	return CAL_OK;
}

/* Solves K u = f with the reference held; loads[count][n] become displacements. */
static CalStatus solve_loads(Reduce *r, int count, double *loads) {
	bool *inside = pool_array(&r->pool, (size_t)r->n, sizeof *inside);
	if (!inside)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int i = 0; i < r->n; i++)
		inside[i] = r->fe->dofs[i].node != r->frames[0].node;
	CalStatus status = fe_solver_open(&r->solver, r->fe, inside, r->how->max_memory, r->error);
	if (status == CAL_OK)
		status = fe_solver_factor(&r->solver, 0, r->error);
	if (status == CAL_OK)
		fe_solver_solve(&r->solver, count, loads);
	fe_solver_free(&r->solver);
	return status;
}

static bool make_room(Reduce *r, CalModal *modal) {
	const size_t square = (size_t)modal->modes * (size_t)modal->modes;
	bool there = true;
	modal->geometric = pool_array(&modal->pool, CAL_FLEX_GEOMETRIC * square, sizeof *modal->geometric);
	for (int i = 1; i < r->frame_count; i++) { // frames come first (fe_reduce.c); no shape moves that of the reference
		modal->nodes[i].phi2 = pool_array(&modal->pool, 3 * square, sizeof(double));
		there &= modal->nodes[i].phi2 != NULL;
	}
	return there && modal->geometric;
}

static void store(const Reduce *r, CalModal *modal, const Fields *f) {
	const size_t square = (size_t)modal->modes * (size_t)modal->modes;
	memcpy(modal->geometric, f->K, CAL_FLEX_GEOMETRIC * square * sizeof *f->K);
	for (int i = 1; i < r->frame_count; i++)
		for (size_t k = 0; k < 3 * square; k++)
			modal->nodes[i].phi2[k] = -0.5 * f->K[(CAL_FLEX_GEOMETRIC + 3 * (size_t)(i - 1)) * square + k];
}

/* ---- matrices per unit load ---------------------------------------------------------------------- */

/* Where the projection of a matrix goes: rates[12][modes][modes], or phi2 of an interface. */
static double *place_of(const Reduce *r, const CalModal *modal, const FeLoadStiffness *load, double *rates) {
	static const int first[] = {[FE_ACCELERATION] = 0, [FE_TURNING] = 3, [FE_SPIN] = 6};
	const int square = modal->modes * modal->modes;
	if (load->load != FE_FORCE)
		return rates + (first[load->load] + load->axis) * square;
	for (int i = 1; i < r->frame_count; i++)
		if (r->frames[i].node == load->node)
			return modal->nodes[i].phi2 + load->axis * square;
	return NULL;
}

static CalStatus project_loads(Reduce *r, CalModal *modal) {
	const size_t m = (size_t)modal->modes, square = m * m;
	double *product = pool_array(&r->pool, m * (size_t)r->n, sizeof *product);
	double *K = pool_array(&r->pool, (1 + CAL_FLEX_GEOMETRIC) * square, sizeof *K);
	if (!product || !K || !make_room(r, modal))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	double *rates = K + square;
	for (int i = 0; i < r->fe->load_count; i++) {
		const FeLoadStiffness *load = &r->fe->loads[i];
		double *to = place_of(r, modal, load, rates);
		fe_project(r, &load->K, modal->modes, product, K);
		for (size_t k = 0; to && k < square; k++)
			to[k] = load->load == FE_FORCE ? -0.5 * K[k] : K[k];
	}
	for (size_t k = 0; k < square; k++) {
		double element[CAL_FLEX_GEOMETRIC], out[CAL_FLEX_GEOMETRIC];
		for (size_t c = 0; c < CAL_FLEX_GEOMETRIC; c++)
			element[c] = rates[c * square + k];
		fe_geometric_from_rates(element, out);
		for (size_t c = 0; c < CAL_FLEX_GEOMETRIC; c++)
			modal->geometric[c * square + k] = out[c];
	}
	return CAL_OK;
}

static CalStatus check_mesh(const Reduce *r) {
	if (r->frame_count == 0)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "geometric stiffness needs an interface at which the body is held; a free body has none");
	if (r->fe->load_count == 0 && (r->fe->element_count == 0 || r->fe->mesh_fault[0]))
		return fe_file_error(
			r->error, r->fe->path, CAL_ERR_INPUT,
			"geometric stiffness needs the elements of the model, or DMIG matrices KGTX ... of it: %.250s",
			r->fe->mesh_fault[0] ? r->fe->mesh_fault : "the file has neither");
	return CAL_OK;
}

CalStatus fe_reduce_geometric(Reduce *r, CalModal *modal) {
	const size_t n = (size_t)r->n, m = (size_t)modal->modes;
	CalStatus status = check_mesh(r);
	if (status != CAL_OK)
		return status;
	if (r->fe->load_count > 0)
		return project_loads(r, modal);
	Fields f = {.shapes = modal->modes, .loads = CAL_FLEX_GEOMETRIC + 3 * (r->frame_count - 1)};
	double *loads = pool_array(&r->pool, (size_t)f.loads * n, sizeof *loads);
	f.K = pool_array(&r->pool, (size_t)f.loads * m * m, sizeof *f.K);
	f.at = pool_array(&r->pool, m + (size_t)f.loads, sizeof *f.at);
	if (!loads || !f.K || !f.at || !make_room(r, modal) || !fe_inertia_loads(r, loads))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int i = 1; i < r->frame_count; i++)
		for (int c = 0; c < 3; c++) {
			const int load = CAL_FLEX_GEOMETRIC + 3 * (i - 1) + c;
			loads[(size_t)load * n + (size_t)r->fe->nodes[r->frames[i].node].dof[c]] = 1;
		}
	for (int k = 0; k < f.shapes + f.loads; k++)
		f.at[k] = k < f.shapes ? r->T + (size_t)k * n : loads + (size_t)(k - f.shapes) * n;
	status = solve_loads(r, f.loads, loads);
	if (status == CAL_OK)
		status = add_elements(r, &f);
	if (status == CAL_OK)
		store(r, modal, &f);
	return status;
}
