// SPDX-License-Identifier: Apache-2.0
/*
 * fe_model.c — a finite element model as its readers fill it: storage, checks, mass properties.
 *
 * What an importer gets wrong most often shows in three numbers, which cal_fe_info() gives: the mass (units), its
 * difference between directions (fixed degrees of freedom), and the force that a rigid motion causes (supports that
 * were left in the model).
 */
#include "fe/fe_model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

CalFeModel *fe_model_new(const char *path, const char *format, const CalFeUnits *units, const CalAllocator *allocator) {
	Pool pool;
	pool_init(&pool, allocator);
	CalFeModel *fe = pool_alloc(&pool, sizeof *fe);
	if (!fe)
		return NULL;
	fe->pool = pool;
	fe->path = pool_text(&fe->pool, path, strlen(path));
	fe->format = format;
	fe->units.length = units && units->length > 0 ? units->length : 1;
	fe->units.mass = units && units->mass > 0 ? units->mass : 1;
	if (!fe->path) {
		cal_fe_destroy(fe);
		return NULL;
	}
	return fe;
}

static void matrix_free(const FeMatrix *A, const CalAllocator *allocator) {
	memory_free(allocator, A->row);
	memory_free(allocator, A->col);
	memory_free(allocator, A->value);
}

void cal_fe_destroy(CalFeModel *fe) {
	if (!fe)
		return;
	const CalAllocator allocator = fe->pool.allocator;
	memory_free(&allocator, fe->nodes);
	matrix_free(&fe->K, &allocator);
	matrix_free(&fe->M, &allocator);
	for (int i = 0; i < fe->load_count; i++)
		matrix_free(&fe->loads[i].K, &allocator);
	Pool pool = fe->pool; // the model itself is in its pool
	pool_free(&pool);
}

/* ---- files ------------------------------------------------------------------------------------- */

static bool add_source(CalFeModel *fe, const char *path) {
	FeSource *source = pool_alloc(&fe->pool, sizeof *source);
	char *copy = source ? pool_text(&fe->pool, path, strlen(path)) : NULL;
	if (!copy)
		return false;
	*source = (FeSource){.path = copy};
	*(fe->last_source ? &fe->last_source->next : &fe->sources) = source;
	fe->last_source = source;
	fe->source_count++;
	return true;
}

CalStatus fe_model_open(CalFeModel *fe, FeText *text, const char *path, CalError *error) {
	if (fe->source_count == FE_MAX_FILES)
		return fe_file_error(error, path, CAL_ERR_INPUT, "more than %d files are included; does one include itself?",
		                     FE_MAX_FILES);
	if (!add_source(fe, path))
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	return fe_text_open(text, path, &fe->pool.allocator, error);
}

int cal_fe_source_count(const CalFeModel *fe) { return fe ? fe->source_count : 0; }

const char *cal_fe_source(const CalFeModel *fe, int index) {
	const FeSource *source = fe && index >= 0 ? fe->sources : NULL;
	for (; source && index > 0; index--)
		source = source->next;
	return source ? source->path : NULL;
}

/* ---- entries ----------------------------------------------------------------------------------- */

bool fe_model_add_node(CalFeModel *fe, long id, CalVec3 position) {
	FeNode *nodes =
		array_reserve(&fe->pool.allocator, fe->nodes, fe->node_count, 1, &fe->node_capacity, sizeof *fe->nodes);
	if (!nodes)
		return false;
	fe->nodes = nodes;
	fe->nodes[fe->node_count++] = (FeNode){.id = id, .position = position, .dof = {-1, -1, -1, -1, -1, -1}};
	return true;
}

static void *grown(const CalFeModel *fe, void *array, int count, int capacity, size_t size) {
	size_t bytes;
	void *memory = size_mul((size_t)capacity, size, &bytes) ? memory_alloc(&fe->pool.allocator, bytes) : NULL;
	if (memory && count)
		memcpy(memory, array, (size_t)count * size);
	if (memory)
		memory_free(&fe->pool.allocator, array);
	return memory;
}

/* The three arrays grow together; capacity counts only when all have grown. */
static bool matrix_reserve(CalFeModel *fe, FeMatrix *m) {
	if (m->count < m->capacity)
		return true;
	if (m->capacity > INT_MAX / 4)
		return false;
	const int capacity = m->capacity ? 2 * m->capacity : 4096;
	int *row = grown(fe, m->row, m->count, capacity, sizeof *row);
	if (!row)
		return false;
	m->row = row;
	int *col = grown(fe, m->col, m->count, capacity, sizeof *col);
	if (!col)
		return false;
	m->col = col;
	double *value = grown(fe, m->value, m->count, capacity, sizeof *value);
	if (!value)
		return false;
	m->value = value;
	m->capacity = capacity;
	return true;
}

bool fe_matrix_add(CalFeModel *fe, FeMatrix *matrix, int row, int col, double value) {
	if (!matrix_reserve(fe, matrix))
		return false;
	matrix->row[matrix->count] = row;
	matrix->col[matrix->count] = col;
	matrix->value[matrix->count++] = value;
	return true;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
	const long x = ((const FeNode *)a)->id, y = ((const FeNode *)b)->id;
	return (x > y) - (x < y);
}

static bool same_place(CalVec3 a, CalVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

long fe_model_sort_nodes(CalFeModel *fe) {
	if (fe->node_count == 0)
		return -1;
	qsort(fe->nodes, (size_t)fe->node_count, sizeof *fe->nodes, by_id);
	int kept = 1;
	for (int i = 1; i < fe->node_count; i++) {
		const FeNode *last = &fe->nodes[kept - 1], *node = &fe->nodes[i];
		if (node->id != last->id)
			fe->nodes[kept++] = *node;
		else if (!same_place(node->position, last->position))
			return node->id;
	}
	fe->node_count = kept;
	return -1;
}

int fe_model_find(const CalFeModel *fe, long id) {
	int low = 0, high = fe->node_count - 1;
	while (low <= high) {
		const int middle = low + (high - low) / 2;
		if (fe->nodes[middle].id == id)
			return middle;
		if (fe->nodes[middle].id < id)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

bool fe_node_is_frame(const FeNode *node) {
	for (int i = 0; i < 6; i++)
		if (node->dof[i] < 0)
			return false;
	return true;
}

/* ---- matrices ---------------------------------------------------------------------------------- */

static void scale_matrix(const CalFeModel *fe, FeMatrix *A, double unit) {
	const double length = fe->units.length;
	for (int e = 0; e < A->count; e++) {
		const FeDof *a = &fe->dofs[A->row[e]], *b = &fe->dofs[A->col[e]];
		const int rotations = (a->component > 2) + (b->component > 2);
		A->value[e] *= unit * (rotations == 2 ? length * length : rotations == 1 ? length : 1);
	}
}

static void scale_to_si(CalFeModel *fe) {
	const double length = fe->units.length, mass = fe->units.mass;
	for (int i = 0; i < fe->node_count; i++) {
		CalVec3 *p = &fe->nodes[i].position;
		*p = (CalVec3){p->x * length, p->y * length, p->z * length};
	}
	for (int e = 0; e < fe->element_count; e++)
		fe->elements[e].young *= mass / length;
	for (int k = 0; k < fe->mode_count; k++)
		for (int i = 0; i < fe->dof_count; i++)
			fe->mode_shapes[(size_t)k * (size_t)fe->dof_count + (size_t)i] *= fe->dofs[i].component > 2 ? 1 : length;
	scale_matrix(fe, &fe->K, mass);
	scale_matrix(fe, &fe->M, mass);
	for (int i = 0; i < fe->load_count; i++) {
		const FeLoad load = fe->loads[i].load;
		scale_matrix(fe, &fe->loads[i].K,
		             load == FE_ACCELERATION ? mass / length
		             : load == FE_FORCE      ? 1 / length
		                                     : mass);
	}
}

void fe_matrix_multiply(const FeMatrix *A, int n, int columns, const double *x, double *y) {
	memset(y, 0, (size_t)n * (size_t)columns * sizeof *y);
	for (int k = 0; k < columns; k++) {
		const double *xk = x + (size_t)k * (size_t)n;
		double *yk = y + (size_t)k * (size_t)n;
		for (int e = 0; e < A->count; e++) {
			const int i = A->row[e], j = A->col[e];
			yk[i] += A->value[e] * xk[j];
			if (i != j)
				yk[j] += A->value[e] * xk[i];
		}
	}
}

void fe_rigid_motions(const CalFeModel *fe, CalVec3 about, double *R) {
	const size_t n = (size_t)fe->dof_count;
	memset(R, 0, 6 * n * sizeof *R);
	for (int i = 0; i < fe->dof_count; i++) {
		const FeDof *d = &fe->dofs[i];
		if (d->node < 0)
			continue;
		const CalVec3 p = fe->nodes[d->node].position;
		const double r[3] = {p.x - about.x, p.y - about.y, p.z - about.z};
		if (d->component > 2) {
			R[(size_t)(d->component - 3) * n + (size_t)i] = 1;
			continue;
		}
		const int c = d->component, next = (c + 1) % 3, last = (c + 2) % 3; // (w x r)_c = w_next r_last - w_last r_next
		R[(size_t)next * n + (size_t)i] = r[last];
		R[(size_t)last * n + (size_t)i] = -r[next];
		R[(size_t)(3 + c) * n + (size_t)i] = 1;
	}
}

/* Every equation stands in K with a positive diagonal, and no diagonal of M is negative beyond round-off. */
static CalStatus check_model(const CalFeModel *fe, CalError *error) {
	double *diagonal = memory_alloc(&fe->pool.allocator, 2 * (size_t)fe->dof_count * sizeof *diagonal);
	if (!diagonal)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	const int n = fe->dof_count;
	memset(diagonal, 0, 2 * (size_t)n * sizeof *diagonal);
	const FeMatrix *both[] = {&fe->K, &fe->M};
	for (int k = 0; k < 2; k++)
		for (int e = 0; e < both[k]->count; e++)
			if (both[k]->row[e] == both[k]->col[e])
				diagonal[k * n + both[k]->row[e]] += both[k]->value[e];
	double heaviest = 0;
	for (int i = 0; i < n; i++)
		heaviest = fmax(heaviest, diagonal[n + i]);
	CalStatus status = CAL_OK;
	for (int i = 0; i < n && status == CAL_OK; i++) {
		const FeDof *d = &fe->dofs[i];
		const long id = d->node >= 0 ? fe->nodes[d->node].id : -1;
		if (!(diagonal[i] > 0) && fe->mode_count == 0)
			status = fe_file_error(error, fe->path, CAL_ERR_INPUT,
			                       "the stiffness matrix is singular: equation %d (node %ld, component %d) has no "
			                       "stiffness of its own; is the matrix complete?",
			                       i + 1, id, d->component + 1);
		else if (diagonal[n + i] < -1e-14 * heaviest) // less is round-off
			status = fe_file_error(error, fe->path, CAL_ERR_INPUT,
			                       "the mass of equation %d (node %ld, component %d) is negative: %g", i + 1, id,
			                       d->component + 1, diagonal[n + i]);
	}
	memory_free(&fe->pool.allocator, diagonal);
	return status;
}

CalStatus fe_model_complete(CalFeModel *made, CalStatus status, CalFeModel **fe, CalError *error) {
	if (status == CAL_OK) {
		scale_to_si(made);
		status = check_model(made, error);
	}
	if (status == CAL_OK)
		*fe = made;
	else
		cal_fe_destroy(made);
	return status;
}

/* ---- what the user may know -------------------------------------------------------------------- */

static void subsystem_of(const CalFeModel *fe, CalVec3 *size) {
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
	for (int i = 0; i < fe->node_count; i++) {
		const double p[3] = {fe->nodes[i].position.x, fe->nodes[i].position.y, fe->nodes[i].position.z};
		for (int c = 0; c < 3; c++) {
			low[c] = fmin(low[c], p[c]);
			high[c] = fmax(high[c], p[c]);
		}
	}
	if (fe->node_count)
		*size = (CalVec3){high[0] - low[0], high[1] - low[1], high[2] - low[2]};
}

static double dot(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* max |K R| over what it could be if nothing cancelled. */
static double rigid_residual(const CalFeModel *fe, const double *R, double *force, double *bound) {
	const int n = fe->dof_count;
	double worst = 0;
	for (int k = 0; k < 6; k++) {
		const double *r = R + (size_t)k * (size_t)n;
		double largest = 0, most = 0;
		memset(bound, 0, (size_t)n * sizeof *bound);
		fe_matrix_multiply(&fe->K, n, 1, r, force);
		for (int e = 0; e < fe->K.count; e++) {
			const int i = fe->K.row[e], j = fe->K.col[e];
			bound[i] += fabs(fe->K.value[e] * r[j]);
			bound[j] += i != j ? fabs(fe->K.value[e] * r[i]) : 0;
		}
		for (int i = 0; i < n; i++) {
			largest = fmax(largest, fabs(force[i]));
			most = fmax(most, bound[i]);
		}
		if (most > 0)
			worst = fmax(worst, largest / most);
	}
	return worst;
}

/* Mass, center and inertia from R'MR, R about the origin. */
static void mass_of(CalFeInfo *info, const double G[6][6]) {
	const double mass[3] = {G[3][3], G[4][4], G[5][5]};
	const double low = fmin(mass[0], fmin(mass[1], mass[2])), high = fmax(mass[0], fmax(mass[1], mass[2]));
	info->mass = mass[0];
	info->mass_spread = high > 0 ? (high - low) / high : 0;
	if (!(mass[0] > 0))
		return;
	const double s[3] = {(G[1][5] - G[2][4]) / (2 * mass[0]), (G[2][3] - G[0][5]) / (2 * mass[0]),
	                     (G[0][4] - G[1][3]) / (2 * mass[0])};
	const double square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
	info->com = (CalVec3){-s[0], -s[1], -s[2]};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			info->inertia.m[i][j] = G[i][j] - mass[0] * ((i == j ? square : 0) - s[i] * s[j]);
}

bool fe_model_info(const CalFeModel *fe, CalFeInfo *info) {
	*info = (CalFeInfo){
		.format = fe->format, .node_count = fe->node_count, .dof_count = fe->dof_count, .frame_count = fe->frame_count};
	subsystem_of(fe, &info->size);
	const size_t n = (size_t)fe->dof_count;
	double *R = memory_alloc(&fe->pool.allocator, 8 * n * sizeof *R);
	if (!R)
		return false;
	double *v = R + 6 * n, G[6][6];
	fe_rigid_motions(fe, (CalVec3){0}, R);
	for (int k = 0; k < 6; k++) {
		fe_matrix_multiply(&fe->M, fe->dof_count, 1, R + (size_t)k * n, v);
		for (int l = 0; l < 6; l++)
			G[k][l] = dot(fe->dof_count, R + (size_t)l * n, v);
	}
	mass_of(info, (const double(*)[6])G);
	info->rigid_residual = rigid_residual(fe, R, v, v + n);
	memory_free(&fe->pool.allocator, R);
	return true;
}

CalFeInfo cal_fe_info(const CalFeModel *fe) {
	CalFeInfo info = {0};
	if (fe)
		fe_model_info(fe, &info);
	return info;
}

CalStatus cal_fe_frame(const CalFeModel *fe, int index, CalFeFrame *frame) {
	if (!fe || !frame || index < 0 || index >= fe->frame_count)
		return CAL_ERR_ARGUMENT;
	const FeFrame *f = &fe->frames[index];
	*frame = (CalFeFrame){f->name, fe->nodes[f->node].id, fe->nodes[f->node].position};
	return CAL_OK;
}
