// SPDX-License-Identifier: Apache-2.0
/*
 * fe_place.c — what the equations are whose nodes a file does not give: found from the stiffness.
 *
 * A free body follows a rigid motion of one of its interfaces without any force, so that the motion of every other equation
 * is the solution of K x = -K_b r, six times. An equation that moves by 1 with a unit translation is a translation, and what
 * it does under rotations says where its node is; one that only turns is a rotation; one that never moves is internal
 * to an element (incompatible modes). CalculiX expands shells and beams to solids whose nodes are in no file; their
 * coordinates come from here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_solver.h"

static const double SURE = 1e-3; // how far a unit motion may be off: K is stored with 14 digits

/* R[6][n]: all equations under the rigid motions about a frame, angular first. */
static CalStatus follow_frame(const CalFeModel *fe, const FeNode *frame, double *R, Pool *pool, CalError *error) {
	const size_t n = (size_t)fe->dof_count;
	bool *inside = pool_array(pool, n, sizeof *inside);
	FeSolver solver = {0};
	if (!inside)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	memset(inside, 1, n);
	for (int c = 0; c < 6; c++) {
		inside[frame->dof[c]] = false;
		R[(size_t)((c + 3) % 6) * n + (size_t)frame->dof[c]] = 1;
	}
	CalStatus status = fe_solver_open(&solver, fe, inside, 0, error);
	if (status == CAL_OK && fe_solver_factor(&solver, 0, NULL) != CAL_OK)
		status = fe_file_error(
			error, fe->path, CAL_ERR_INPUT,
			"nodes that the FE program made cannot be placed, since the body moves freely with the interface "
			"at node %ld held: that must have nodes that are not on one line, and all parts must be "
			"connected to it",
			frame->id);
	double *force = pool_array(pool, 6 * n, sizeof *force);
	if (status == CAL_OK && !force)
		status = fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	if (status == CAL_OK) {
		fe_matrix_multiply(&fe->K, fe->dof_count, 6, R, force);
		fe_solver_solve(&solver, 6, force);
		for (size_t i = 0; i < 6 * n; i++)
			R[i] -= force[i];
	}
	fe_solver_free(&solver);
	return status;
}

/* What an equation is: 0..2 a translation, 3..5 a rotation, -1 internal to an element, -2 none of them. */
static int classify(const double *R, size_t n, int equation, int direction) {
	double turn[3], move[3], most = 0;
	for (int c = 0; c < 3; c++) {
		turn[c] = R[(size_t)c * n + (size_t)equation];
		move[c] = R[(size_t)(3 + c) * n + (size_t)equation];
		most = fmax(most, fabs(move[c]));
	}
	bool translation = true, rotation = most < SURE;
	for (int c = 0; c < 3; c++) {
		translation = translation && fabs(move[c] - (c == direction)) < SURE;
		rotation = rotation && fabs(turn[c] - (c == direction)) < SURE;
	}
	if (translation || rotation)
		return translation ? direction : 3 + direction;
	return most < SURE && fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) < SURE ? -1 : -2;
}

/* Where a node is, from its equations kind[count] that start at `first`; a coordinate that none of them shows stays. */
static CalVec3 find_place(const double *R, size_t n, int first, int count, const int *kind, CalVec3 about,
                          CalVec3 known) {
	double sum[3] = {0}, place[3] = {known.x, known.y, known.z};
	const double center[3] = {about.x, about.y, about.z};
	int shown[3] = {0};
	for (int k = 0; k < count; k++) {
		if (kind[k] < 0 || kind[k] > 2)
			continue;
		const int c = kind[k], next = (c + 1) % 3, last = (c + 2) % 3; // (w x r)_c = w_next r_last - w_last r_next
		sum[last] += R[(size_t)next * n + (size_t)(first + k)];
		sum[next] -= R[(size_t)last * n + (size_t)(first + k)];
		shown[last]++;
		shown[next]++;
	}
	for (int c = 0; c < 3; c++)
		place[c] = shown[c] ? center[c] + sum[c] / shown[c] : place[c];
	return (CalVec3){place[0], place[1], place[2]};
}

static double distance(CalVec3 a, CalVec3 b) {
	return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static bool node_is_bare(const FeNode *node) {
	for (int c = 0; c < 6; c++)
		if (node->dof[c] >= 0)
			return false;
	return true;
}

/* The node of a group: the one of the file where it is, otherwise a new one after all others. -1: out of memory. */
static int node_of_group(CalFeModel *fe, const FeUnplaced *u, CalVec3 place, double size) {
	const int known = fe_model_find(fe, u->id);
	if (known >= 0 && node_is_bare(&fe->nodes[known]) && distance(fe->nodes[known].position, place) <= 1e-6 * size)
		return known;
	const long id = fe->node_count ? fe->nodes[fe->node_count - 1].id + 1 : 1;
	return fe_model_add_node(fe, id, place) ? fe->node_count - 1 : -1;
}

static CalStatus place_group(CalFeModel *fe, const FeUnplaced *u, const double *R, CalVec3 about, double size,
                             CalError *error) {
	const size_t n = (size_t)fe->dof_count;
	int kind[3], moving = 0;
	for (int k = 0; k < u->count; k++) {
		kind[k] = classify(R, n, u->first + k, fe->dofs[u->first + k].component);
		moving += kind[k] >= 0;
		if (kind[k] == -2)
			return fe_file_error(
				error, fe->path, CAL_ERR_UNSUPPORTED,
				"equation %d (node %ld, direction %d) is neither a translation nor a rotation nor internal to "
				"an element: the model is supported or not connected, or has a local coordinate system",
				u->first + k + 1, u->id, fe->dofs[u->first + k].component + 1);
	}
	if (moving == 0)
		return CAL_OK;
	const int known = fe_model_find(fe, u->id);
	const CalVec3 place =
		find_place(R, n, u->first, u->count, kind, about, known >= 0 ? fe->nodes[known].position : about);
	const int node = node_of_group(fe, u, place, size);
	if (node < 0)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int k = 0; k < u->count; k++)
		if (kind[k] >= 0) {
			fe->nodes[node].dof[kind[k]] = u->first + k;
			fe->dofs[u->first + k] = (FeDof){node, kind[k]};
		}
	return CAL_OK;
}

CalStatus fe_model_place(CalFeModel *fe, int frame, const FeUnplaced *unplaced, int count, CalError *error) {
	const FeNode at = fe->nodes[frame];
	Pool pool;
	pool_init(&pool, &fe->pool.allocator);
	double *R = pool_array(&pool, 6 * (size_t)fe->dof_count, sizeof *R), size = 0;
	if (!R)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory"); // the pool has nothing then
	CalStatus status = follow_frame(fe, &at, R, &pool, error);
	for (int i = 0; i < fe->node_count; i++)
		size = fmax(size, distance(fe->nodes[i].position, at.position));
	for (int k = 0; k < count && status == CAL_OK; k++)
		status = place_group(fe, &unplaced[k], R, at.position, size, error);
	pool_free(&pool);
	return status;
}
