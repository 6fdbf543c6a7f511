// SPDX-License-Identifier: Apache-2.0
/*
 * fe_nastran.c — from entries by grid and component to the equations and matrices of a model; see fe_nastran.h.
 *
 * Differential stiffness per unit load has names that say the load: KGTX, KGTY, KGTZ an acceleration of the body frame,
 * KGRX, KGRY, KGRZ an angular acceleration about it, KGWXX, KGWYY, KGWZZ, KGWXY, KGWYZ, KGWXZ a product of angular
 * velocities, KGF11X a force along x at grid 11.
 */
#include "io/fe/fe_nastran.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/portable.h"

enum { MAX_FRAMES = 16 };

static CalStatus memory_error(const Nastran *n) {
	return fe_file_error(n->error, n->fe->path, CAL_ERR_MEMORY, "out of memory");
}

int nastran_find(const Nastran *n, const char *name) {
	for (int i = 0; i < n->name_count; i++)
		if (strcmp(n->names[i].name, name) == 0)
			return i;
	return -1;
}

CalStatus nastran_add_entry(Nastran *n, const NastranEntry *entry) {
	NastranEntry *entries =
		array_reserve(&n->fe->pool.allocator, n->entries, n->entry_count, 1, &n->entry_capacity, sizeof *entries);
	if (!entries)
		return memory_error(n);
	n->entries = entries;
	n->entries[n->entry_count++] = *entry;
	return CAL_OK;
}

void nastran_free(Nastran *n) {
	memory_free(&n->fe->pool.allocator, n->entries);
	if (n->modes.fe)
		punch_free(&n->modes);
}

/* "x", "y", "z" or a product of two, at the end of a name; -1: none of them. */
static int parse_axis(const char *text, bool product) {
	static const char *const axes[] = {"X", "Y", "Z"}, *const products[] = {"XX", "YY", "ZZ", "XY", "YZ", "XZ"};
	for (int i = 0; i < (product ? 6 : 3); i++)
		if (strcmp(text, product ? products[i] : axes[i]) == 0)
			return i;
	return -1;
}

/* The load of a matrix by its name; the number of the grid for a force. */
static bool parse_load(const char *name, FeLoadStiffness *out, long *grid) {
	static const char letters[] = "TRWF"; // as in FeLoad
	char number[16];
	const char *letter = strncmp(name, "KG", 2) == 0 && name[2] ? strchr(letters, name[2]) : NULL;
	const size_t digits = letter ? strspn(name + 3, "0123456789") : 0;
	if (!letter)
		return false;
	*out = (FeLoadStiffness){.load = (FeLoad)(letter - letters), .node = -1};
	out->axis = parse_axis(name + 3 + digits, out->load == FE_SPIN);
	snprintf(number, sizeof number, "%.*s", (int)digits, name + 3);
	return out->axis >= 0 && (out->load == FE_FORCE ? fe_integer(number, grid) : digits == 0);
}

static bool is_load(const char *name) {
	FeLoadStiffness load;
	long grid;
	return parse_load(name, &load, &grid);
}

/* The matrix of that name, or the only one that starts with the letter. */
static int choose_matrix(const Nastran *n, const char *wanted, const char *usual, char letter) {
	const int exact = nastran_find(n, wanted ? wanted : usual);
	int found = -1;
	if (wanted || exact >= 0)
		return exact;
	for (int i = 0; i < n->name_count; i++)
		if (toupper((unsigned char)n->names[i].name[0]) == letter && !is_load(n->names[i].name)) {
			if (found >= 0)
				return -1;
			found = i;
		}
	return found;
}

static CalStatus entry_error(const Nastran *n, const NastranEntry *entry, const char *what, long node) {
	if (entry->line == 0)
		return fe_file_error(n->error, n->fe->path, CAL_ERR_INPUT, "grid %ld: %s", node, what);
	return error_set(n->error, CAL_ERR_INPUT, "%.200s:%d: error: grid %ld: %s", n->fe->path, entry->line, node, what);
}

/* Equation of a grid and component, numbered when first met; -1: no such grid, -2: no memory left for it. */
static int equation(Nastran *n, long node, int component) {
	CalFeModel *fe = n->fe;
	int index = fe_model_find(fe, node);
	if (component > 0 && index < 0)
		return -1;
	if (component == 0) { // scalar points stand in for themselves by their number
		for (int i = 0; i < fe->dof_count; i++)
			if (fe->dofs[i].node == -1 - (int)node)
				return i;
	} else if (fe->nodes[index].dof[component - 1] >= 0) {
		return fe->nodes[index].dof[component - 1];
	}
	if (fe->dof_count == FE_MAX_DOFS)
		return -2;
	fe->dofs[fe->dof_count] = component ? (FeDof){index, component - 1} : (FeDof){-1 - (int)node, 0};
	if (component)
		fe->nodes[index].dof[component - 1] = fe->dof_count;
	return fe->dof_count++;
}

static CalStatus add_entries(Nastran *n, int matrix, FeMatrix *to) {
	for (int e = 0; e < n->entry_count; e++) {
		const NastranEntry *entry = &n->entries[e];
		if (entry->matrix != matrix)
			continue;
		const int row = equation(n, entry->row_node, entry->row_component);
		const int col = equation(n, entry->col_node, entry->col_component);
		if (row == -1 || col == -1)
			return entry_error(n, entry,
			                   "there is no GRID card for it; append the GRID cards to the file, or INCLUDE them",
			                   row == -1 ? entry->row_node : entry->col_node);
		if (row < 0 || col < 0)
			return fe_file_error(n->error, n->fe->path, CAL_ERR_UNSUPPORTED, "more than %d equations", FE_MAX_DOFS);
		if (n->names[matrix].square && row < col)
			continue; // the other triangle is the same
		if (!fe_matrix_add(n->fe, to, row, col, entry->value))
			return memory_error(n);
	}
	return CAL_OK;
}

/* Compares A x with A'x for an x without pattern: a square matrix must be symmetric all the same. */
static CalStatus check_symmetry(const Nastran *n, int matrix) {
	double difference = 0, size = 0;
	if (!n->names[matrix].square)
		return CAL_OK;
	for (int e = 0; e < n->entry_count; e++) {
		const NastranEntry *entry = &n->entries[e];
		const double row = portable_sin((double)(7 * entry->row_node + entry->row_component));
		const double col = portable_sin((double)(7 * entry->col_node + entry->col_component));
		if (entry->matrix != matrix)
			continue;
		difference += entry->value * (row * col * col - col * row * row);
		size += fabs(entry->value);
	}
	if (fabs(difference) <= 1e-6 * size)
		return CAL_OK;
	return fe_file_error(n->error, n->fe->path, CAL_ERR_INPUT, "matrix %s is not symmetric; a structure's matrix is",
	                     n->names[matrix].name);
}

static CalStatus add_frames(Nastran *n) {
	CalFeModel *fe = n->fe;
	fe->frames = pool_array(&fe->pool, MAX_FRAMES, sizeof *fe->frames);
	if (!fe->frames)
		return memory_error(n);
	for (int i = 0; i < fe->node_count; i++) {
		char name[32];
		if (!fe_node_is_frame(&fe->nodes[i]))
			continue;
		if (fe->frame_count == MAX_FRAMES) { // a whole model with six components per grid: the user has to choose
			fe->frame_count = 0;
			return CAL_OK;
		}
		snprintf(name, sizeof name, "grid%ld", fe->nodes[i].id);
		const char *copy = pool_text(&fe->pool, name, strlen(name));
		if (!copy)
			return memory_error(n);
		fe->frames[fe->frame_count++] = (FeFrame){copy, i};
	}
	return CAL_OK;
}

/* Matrices of differential stiffness; they have the equations of the stiffness. */
static CalStatus add_loads(Nastran *n) {
	CalFeModel *fe = n->fe;
	const int known = fe->dof_count;
	CalStatus status = CAL_OK;
	fe->loads = pool_array(&fe->pool, (size_t)n->name_count, sizeof *fe->loads);
	if (!fe->loads)
		return memory_error(n);
	for (int i = 0; i < n->name_count && status == CAL_OK; i++) {
		FeLoadStiffness *load = &fe->loads[fe->load_count];
		long grid = 0;
		if (!parse_load(n->names[i].name, load, &grid))
			continue;
		fe->load_count++;
		load->node = fe_model_find(fe, grid);
		if (load->load == FE_FORCE && load->node < 0)
			return fe_file_error(n->error, fe->path, CAL_ERR_INPUT, "matrix %s: there is no GRID card for %ld",
			                     n->names[i].name, grid);
		status = check_symmetry(n, i);
		if (status == CAL_OK)
			status = add_entries(n, i, &load->K);
		if (status == CAL_OK && fe->dof_count != known)
			status = fe_file_error(n->error, fe->path, CAL_ERR_INPUT,
			                       "%s has equations that the stiffness does not know; are they of one run?",
			                       n->names[i].name);
	}
	return status;
}

static int equation_of_mode(void *user, long grid, int component) { return equation(user, grid, component); }

/* Equations, matrices and modes. k < 0: modes take the place of the stiffness. */
static CalStatus add_matrices(Nastran *n, int k, int m) {
	CalFeModel *fe = n->fe;
	CalStatus status = k < 0 ? punch_complete(&n->modes, equation_of_mode, n, n->error) : check_symmetry(n, k);
	if (status == CAL_OK)
		status = check_symmetry(n, m);
	if (status == CAL_OK && k >= 0)
		status = add_entries(n, k, &fe->K);
	const int in_stiffness = fe->dof_count;
	if (status == CAL_OK)
		status = add_entries(n, m, &fe->M);
	if (status == CAL_OK && fe->dof_count != in_stiffness)
		status = fe_file_error(n->error, fe->path, CAL_ERR_INPUT,
		                       "%s %d equations, %s adds %d that are not in there; are they of one run?",
		                       k < 0 ? "the eigenvectors have" : "the stiffness has", in_stiffness, n->names[m].name,
		                       fe->dof_count - in_stiffness);
	return status;
}

CalStatus nastran_complete(Nastran *n, const char *stiffness, const char *mass) {
	CalFeModel *fe = n->fe;
	const long twice = fe_model_sort_nodes(fe);
	if (twice >= 0)
		return fe_file_error(n->error, fe->path, CAL_ERR_INPUT, "grid %ld is given twice in different places", twice);
	const int k = choose_matrix(n, stiffness, "KAAX", 'K'), m = choose_matrix(n, mass, "MAAX", 'M');
	if ((k < 0 && (stiffness || n->modes.count == 0)) || m < 0)
		return fe_file_error(n->error, fe->path, CAL_ERR_INPUT,
		                     "the file has %d matrices, none of them the %s matrix (%s); name it", n->name_count,
		                     k < 0 ? "stiffness" : "mass",
		                     k < 0 ? (stiffness ? stiffness : "KAAX") : (mass ? mass : "MAAX"));
	const size_t most = 2 * (size_t)n->entry_count + 6 * (size_t)n->modes.row_count + 1;
	fe->dofs = pool_array(&fe->pool, most, sizeof *fe->dofs); // an entry has no more than two equations, a grid six
	if (!fe->dofs)
		return memory_error(n);
	CalStatus status = add_matrices(n, k, m);
	if (status == CAL_OK)
		status = add_loads(n);
	for (int i = 0; i < fe->dof_count; i++)
		if (fe->dofs[i].node < 0)
			fe->dofs[i].node = -1;
	return status == CAL_OK ? add_frames(n) : status;
}
