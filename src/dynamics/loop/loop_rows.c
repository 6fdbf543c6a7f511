// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.c — the constraint equations of loops [THEORY (5.1)-(5.4)], in the order and with the signs of calder/loops.h.
 *
 * Here are those that lock axes of A, drives and stabilization; others are in the files of their types, with the
 * derivatives that an observer on A sees (loop/loop_equations.h). The wrench acts on B at its origin, the opposite at the
 * same point on A.
 */
#include "dynamics/loop/loop_rows.h"

#include "loop/loop_equations.h"

#if CAL_LANES == 1

/* ---- directions ------------------------------------------------------------------------------- */

INLINE void translation(LoopRow *row, vec3 a, const Seen *rho) {
	set_row(row, vec_zero(), a, dot(a, rho->x), dot(a, rho->d), dot(a, rho->dd));
}

/* a.b */
INLINE void rotation(LoopRow *row, vec3 a, const Seen *b) {
	set_row(row, cross(b->x, a), vec_zero(), dot(a, b->x), dot(a, b->d), dot(a, b->dd));
}

/* -a.b */
INLINE void rotation_back(LoopRow *row, vec3 a, const Seen *b) {
	set_row(row, cross(a, b->x), vec_zero(), -dot(a, b->x), -dot(a, b->d), -dot(a, b->dd));
}

/* (a.b - c.e)/2 */
INLINE void rotation_skew(LoopRow *row, vec3 a, const Seen *b, vec3 c, const Seen *e) {
	set_row(row, scale(0.5, add(cross(b->x, a), cross(c, e->x))), vec_zero(), 0.5 * (dot(a, b->x) - dot(c, e->x)),
	        0.5 * (dot(a, b->d) - dot(c, e->d)), 0.5 * (dot(a, b->dd) - dot(c, e->dd)));
}

static int translations(int set, const LoopFrame *A, const LoopFrame *B, LoopRow *row) {
	const Seen rho = displacement(A, B);
	int n = 0;
	if (set & CAL_AXIS_X)
		translation(&row[n++], A->R.x, &rho);
	if (set & CAL_AXIS_Y)
		translation(&row[n++], A->R.y, &rho);
	if (set & CAL_AXIS_Z)
		translation(&row[n++], A->R.z, &rho);
	return n;
}

/* Three locked: the skew part of R_A'R_B. */
static int rotations_all(const mat3 *A, const mat3 *B, const Turning *t, LoopRow *row) {
	const Seen x = axis_seen(t, B->x), y = axis_seen(t, B->y), z = axis_seen(t, B->z);
	rotation_skew(&row[0], A->z, &y, A->y, &z);
	rotation_skew(&row[1], A->x, &z, A->z, &x);
	rotation_skew(&row[2], A->y, &x, A->x, &y);
	return 3;
}

/* Two locked: components of a_f x b_f, f the free axis. One locked: two axes stay perpendicular. */
static int rotations(int set, const LoopFrame *A, const LoopFrame *B, LoopRow *row) {
	const Turning t = turning_of(A, B);
	Seen b;
	switch (set) {
	case CAL_AXIS_XYZ:
		return rotations_all(&A->R, &B->R, &t, row);
	case CAL_AXIS_X | CAL_AXIS_Y:
		b = axis_seen(&t, B->R.z);
		rotation_back(&row[0], A->R.y, &b);
		rotation(&row[1], A->R.x, &b);
		return 2;
	case CAL_AXIS_Y | CAL_AXIS_Z:
		b = axis_seen(&t, B->R.x);
		rotation_back(&row[0], A->R.z, &b);
		rotation(&row[1], A->R.y, &b);
		return 2;
	case CAL_AXIS_X | CAL_AXIS_Z:
		b = axis_seen(&t, B->R.y);
		rotation(&row[0], A->R.z, &b);
		rotation_back(&row[1], A->R.x, &b);
		return 2;
	default: {
		const int k = set == CAL_AXIS_X ? 0 : set == CAL_AXIS_Y ? 1 : 2;
		b = axis_seen(&t, axis(&B->R, (k + 2) % 3));
		rotation(&row[0], axis(&A->R, (k + 1) % 3), &b);
		return 1;
	}
	}
}

/* ---- drives and stabilisation ------------------------------------------------------------------ */

static void subtract_drive(const CalDrive *s, double t, LoopRow *row) {
	const double phase = s->frequency * t + s->phase, w = s->frequency;
	row->value -= s->offset + t * (s->speed + 0.5 * t * s->acceleration);
	row->rate -= s->speed + t * s->acceleration;
	row->acceleration -= s->acceleration;
	if (s->amplitude != 0) {
		const double sine = s->amplitude * portable_sin(phase), cosine = s->amplitude * portable_cos(phase);
		row->value -= sine;
		row->rate -= w * cosine;
		row->acceleration += w * w * sine;
	}
	if (s->fn) {
		double value = 0, rate = 0, acceleration = 0;
		s->fn(s->user, t, &value, &rate, &acceleration);
		row->value -= value, row->rate -= rate, row->acceleration -= acceleration;
	}
}

void loop_drive_at(const CalDrive *drive, double t, double jet[3]) {
	LoopRow row = {spatial_zero(), 0, 0, 0};
	subtract_drive(drive, t, &row);
	jet[0] = -row.value, jet[1] = -row.rate, jet[2] = -row.acceleration;
}

static int moves(const CalDrive *d) { return d->fn || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0; }

int loop_drives_move(const CalModel *model) {
	for (int l = 0; l < model->loop_count; l++)
		for (int i = 0; model->loops[l].driven && i < model->loops[l].rows; i++)
			if (moves(&model->loops[l].drive[i]))
				return 1;
	return 0;
}

double loop_drives_power(const CalModel *model, double t, const double *lambda) {
	double power = 0, jet[3];
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; loop->driven && i < loop->rows; ++i) {
			loop_drive_at(&loop->drive[i], t, jet);
			power += lambda[loop->row + i] * jet[1];
		}
	}
	return power;
}

static void subtract_drives_and_stabilize(const Loop *loop, const LoopContext *at, int n, LoopRow *row) {
	for (int i = 0; loop->driven && i < n; ++i) {
		subtract_drive(&loop->drive[i], at->t, &row[i]);
		if (loop_row_is_speed(loop, i))
			row[i].value = 0;
	}
	if (loop_type(loop->type)->wrap)
		loop_type(loop->type)->wrap(loop, row);
	const double w = loop->frequency;
	for (int i = 0; w > 0 && !at->plain && i < n; ++i)
		row[i].acceleration += 2 * loop->damping * w * row[i].rate + w * w * row[i].value;
}

/* ---- all types ---------------------------------------------------------------------------------- */

/* Translations and rotations of the sets of the type, then what is special about it. */
int loop_fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row) {
	int n = 0;
	if (loop->translation)
		n = translations(loop->translation, A, B, row);
	if (loop->rotation)
		n += rotations(loop->rotation, A, B, row + n);
	if (loop_type(loop->type)->fill)
		n = loop_type(loop->type)->fill(loop, A, B, at, row, n);
	subtract_drives_and_stabilize(loop, at, n, row);
	return n;
}

#endif
