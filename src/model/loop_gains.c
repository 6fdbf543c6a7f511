// SPDX-License-Identifier: Apache-2.0
/*
 * loop_gains.c — gains of the equations of a loop on columns of joints, and how many of them these columns can satisfy.
 */
#include <math.h>

#include "base/cursor.h"
#include "loop/loop_type.h"
#include "model/loop_gains.h"

/* ---- the generic configuration -------------------------------------------------------------------- */

void generic_links_layout(GenericLinks *at, Cursor *cursor) {
	CURSOR_ARRAY(cursor, at->pose, at->model->link_count);
	CURSOR_ARRAY(cursor, at->position, at->model->link_count);
	CURSOR_ARRAY(cursor, at->q, at->model->nq);
	CURSOR_ARRAY(cursor, at->dq, at->model->nu);
	CURSOR_ARRAY(cursor, at->used, at->model->nu);
}

void generic_links_place(GenericLinks *at) {
	generic_configuration(at->model, at->q, at->dq);
	memset(at->dq, 0, sizeof(double) * (size_t)at->model->nu);
	memset(at->used, 0, (size_t)at->model->nu);
	for (int i = 0; i < at->model->link_count; ++i) {
		const int parent = at->model->links[i].parent;
		at->pose[i] = generic_pose(at->model, at->q, i, parent >= 0 ? &at->pose[parent] : NULL);
		at->position[i] = parent >= 0 ? add(at->position[parent], at->pose[i].r) : at->pose[i].r;
	}
}

/* ---- equations ------------------------------------------------------------------------------------ */

static LoopFrame frame_of(const GenericLinks *at, const Loop *loop, int side) {
	const LoopSide *on = &loop->side[side];
	const int node = side ? loop->node_b : loop->node_a;
	const dpose in_link = on->moves ? dpose_mul(at->model->nodes[node].in_link, on->on) : on->on;
	LoopFrame f = {.R = mat_from(in_link.R), .r = vec_from(in_link.r)};
	if (on->link >= 0) {
		const mat3 R = at->pose[on->link].R;
		f.r = add(at->position[on->link], mat_mul_vec(R, f.r));
		f.R = mat_mul(R, f.R);
	}
	return f;
}

static vec3 axis_of(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

static void add_row(LoopRow *row, int *n, vec3 moment, vec3 force) { row[(*n)++].direction = (spatial){moment, force}; }

/* Directions of locked rotations, as loop_rows.c has them. */
static void add_rotations(int set, const mat3 *A, const mat3 *B, LoopRow *row, int *n) {
	for (int f = 0; f < 3; ++f) {
		const int next = (f + 1) % 3, last = (f + 2) % 3;
		if (set == CAL_AXIS_XYZ)
			add_row(row, n, cross(axis_of(B, next), axis_of(A, last)), vec_zero());
		else if (set == (CAL_AXIS_XYZ & ~(1 << f))) { // both are perpendicular to the free axis
			add_row(row, n, cross(axis_of(A, last), axis_of(B, f)), vec_zero());
			add_row(row, n, cross(axis_of(B, f), axis_of(A, next)), vec_zero());
		} else if (set == 1 << f)
			add_row(row, n, cross(axis_of(B, last), axis_of(A, next)), vec_zero());
	}
}

void loop_gains_begin(const GenericLinks *at, const Loop *loop, LoopGains *rows) {
	const LoopFrame A = frame_of(at, loop, 0), B = frame_of(at, loop, 1);
	LoopRow row[CAL_LOOP_MAX_ROWS + 1] = {0};
	int n = 0;
	for (int k = 0; k < 3; ++k) {
		if (loop->translation & 1 << k)
			add_row(row, &n, vec_zero(), axis_of(&A.R, k));
	}
	if (loop->rotation)
		add_rotations(loop->rotation, &A.R, &B.R, row, &n);
	const LoopContext context = {.q = at->q, .u = at->dq};
	if (loop_type(loop->type)->fill)
		n = loop_type(loop->type)->fill(loop, &A, &B, &context, row, n);
	rows->count = n;
	rows->columns = 0;
	rows->point[0] = loop_type_has_one_side(loop->type) ? A.r : B.r;
	rows->point[1] = A.r;
	rows->inner = 0;
	rows->longest = 0;
	for (int r = 0; r < n; ++r)
		rows->wrench[r] = row[r].direction;
}

bool loop_gains_add(const GenericLinks *at, int i, int side, LoopGains *rows) {
	const Link *link = &at->model->links[i];
	const vec3 arm = sub(rows->point[side], at->position[i]);
	for (int k = 0; k < link->nu; ++k) {
		const spatial S = motion_shift(at->pose[i].S[k], arm);
		if (rows->columns == LOOP_MOST_COLUMNS)
			return false;
		for (int r = 0; r < rows->count; ++r)
			rows->gain[r][rows->columns] = (side ? -1 : 1) * spatial_dot(rows->wrench[r], S);
		rows->slides[rows->columns] = primitive_column_kind((JointPrimitive)link->motion, k) == COLUMN_TRANSLATION;
		rows->u[rows->columns++] = link->u + k;
	}
	rows->longest = fmax(rows->longest, sqrt(dot(arm, arm)));
	return true;
}

LoopGains loop_gains_scaled(const LoopGains *rows) {
	const double length = rows->longest > 0 ? rows->longest : 1;
	LoopGains out = *rows;
	for (int r = 0; r < rows->count; ++r) {
		const vec3 f = rows->wrench[r].l;
		const double unit = dot(f, f) > 0 ? 1 / length : 1;
		out.wrench[r] = (spatial){scale(unit, rows->wrench[r].a), scale(unit, f)};
		for (int c = 0; c < rows->columns; ++c)
			out.gain[r][c] *= unit * (rows->slides[c] ? length : 1);
	}
	return out;
}

/* ---- pivots ----------------------------------------------------------------------------------------- */

static int counts(const GenericLinks *at, int u) { return !at->used[u] && !at->model->prescribed[u]; }

/* The largest gain that is left. */
static double find_pivot(const GenericLinks *at, const LoopGains *rows, int rank, const int *column, int *row,
                         int *pivot) {
	double most = 0;
	for (int r = rank; r < rows->count; ++r) {
		for (int c = 0; c < rows->columns; ++c) {
			int taken = !counts(at, rows->u[c]);
			for (int k = 0; k < rank; ++k)
				taken |= column[k] == c;
			if (taken || !(fabs(rows->gain[r][c]) > most))
				continue;
			most = fabs(rows->gain[r][c]);
			*row = r, *pivot = c;
		}
	}
	return most;
}

static void exchange(LoopGains *rows, int a, int b) {
	const spatial w = rows->wrench[a];
	rows->wrench[a] = rows->wrench[b], rows->wrench[b] = w;
	for (int c = 0; c < rows->columns; ++c) {
		const double t = rows->gain[a][c];
		rows->gain[a][c] = rows->gain[b][c], rows->gain[b][c] = t;
	}
}

int loop_gains_reduce(const GenericLinks *at, LoopGains *rows, int *column) {
	for (int rank = 0; rank < rows->count; ++rank) {
		int row = rank;
		const double pivot = find_pivot(at, rows, rank, column, &row, &column[rank]);
		if (pivot < LOOP_GAIN_GOOD)
			return pivot < LOOP_GAIN_NONE ? rank : -1;
		exchange(rows, rank, row);
		for (int r = rank + 1; r < rows->count; ++r) {
			const double factor = rows->gain[r][column[rank]] / rows->gain[rank][column[rank]];
			for (int c = 0; c < rows->columns; ++c)
				rows->gain[r][c] -= factor * rows->gain[rank][c];
			rows->wrench[r] = spatial_madd(rows->wrench[r], -factor, rows->wrench[rank]);
		}
	}
	return rows->count;
}
