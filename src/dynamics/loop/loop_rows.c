// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.c — the rows of loop constraints [THEORY (5.1)-(5.4)], in the order and with the signs of calder/loops.h.
 *
 * Axes a_i of frame A, b_j of frame B, rho = r_B - r_A. All derivatives are those that an observer on A sees (x°): with
 * w = w_B - w_A,  w° = al_B - al_A - w_A x w_B,
 *   rho°  = v_B - v_A - w_A x rho
 *   rho°° = a_B - a_A - 2 w_A x (v_B - v_A) - al_A x rho + w_A x (w_A x rho)
 *   b_j°  = w x b_j,  b_j°° = w° x b_j + w x (w x b_j)
 * are formed once; a_i is at rest there, and a row is a dot product with it:
 *   translation   a_i.rho                          force a_i
 *   rotation      s a_i.b_j                        moment s b_j x a_i
 *   twist         atan2(S21 - S12, S11 + S22)      S_ij = a_i.b_j
 *   distance      |rho| - length                   force rho/|rho|
 *   rolling       a_i.(rho° + w x s)               force a_i at the point of contact, s from the origin of B
 * The wrench acts on B at its origin, the opposite at the same point on A.
 */
#include "dynamics/loop/loop_rows.h"

#include "math/portable.h"

#if CAL_LANES == 1

/* A vector and its derivatives, seen from A. */
typedef struct Seen {
	vec3 x, d, dd;
} Seen;

/* Angular velocity of B and its derivative, seen from A. */
typedef struct Turning {
	vec3 w, al;
} Turning;

INLINE vec3 axis(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

INLINE Seen displacement(const LoopFrame *A, const LoopFrame *B) {
	const vec3 rho = sub(B->r, A->r), rate = sub(B->v, A->v), turning = cross(A->w, rho);
	const vec3 coriolis = cross(A->w, sub(turning, scale(2, rate)));
	return (Seen){rho, sub(rate, turning), add(sub(sub(B->a, A->a), cross(A->al, rho)), coriolis)};
}

INLINE Turning turning_of(const LoopFrame *A, const LoopFrame *B) {
	return (Turning){sub(B->w, A->w), sub(sub(B->al, A->al), cross(A->w, B->w))};
}

INLINE Seen axis_seen(const Turning *t, vec3 b) {
	const vec3 d = cross(t->w, b);
	return (Seen){b, d, add(cross(t->al, b), cross(t->w, d))};
}

INLINE void set_row(LoopRow *row, vec3 n, vec3 f, double value, double rate, double acceleration) {
	row->direction.a = n, row->direction.l = f;
	row->value = value, row->rate = rate, row->acceleration = acceleration;
}

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

/* Three locked: the skew part of S. */
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

/* ---- other rows ------------------------------------------------------------------------------- */

/* theta = atan2(y, x): theta° = (x y° - y x°)/(x^2 + y^2). Undefined, and taken as zero, where z of B is opposite to A's. */
static LoopRow twist(const LoopFrame *A, const LoopFrame *B) {
	const Turning t = turning_of(A, B);
	const Seen bx = axis_seen(&t, B->R.x), by = axis_seen(&t, B->R.y);
	const vec3 ax = A->R.x, ay = A->R.y;
	const double y = dot(ay, bx.x) - dot(ax, by.x), x = dot(ax, bx.x) + dot(ay, by.x);
	const double y1 = dot(ay, bx.d) - dot(ax, by.d), x1 = dot(ax, bx.d) + dot(ay, by.d);
	const double y2 = dot(ay, bx.dd) - dot(ax, by.dd), x2 = dot(ax, bx.dd) + dot(ay, by.dd);
	const double r = x * x + y * y, c = r > 0 ? x / r : 0, s = r > 0 ? y / r : 0, rate = c * y1 - s * x1;
	const vec3 y_moment = sub(cross(bx.x, ay), cross(by.x, ax)), x_moment = add(cross(bx.x, ax), cross(by.x, ay));
	LoopRow row;
	set_row(&row, sub(scale(c, y_moment), scale(s, x_moment)), vec_zero(), portable_atan2(y, x), rate,
	        c * y2 - s * x2 - 2 * rate * (c * x1 + s * y1));
	return row;
}

/* Along z with the thread. */
static void advance(LoopRow *row, double pitch, const LoopRow *theta) {
	row->direction.a = madd(row->direction.a, -pitch, theta->direction.a);
	row->value -= pitch * theta->value;
	row->rate -= pitch * theta->rate;
	row->acceleration -= pitch * theta->acceleration;
}

static void distance(LoopRow *row, const LoopFrame *A, const LoopFrame *B, double length) {
	const Seen rho = displacement(A, B);
	const double d = sqrt(dot(rho.x, rho.x));
	const vec3 f = d > 0 ? scale(1 / d, rho.x) : A->R.x;
	const double d_rate = dot(f, rho.d);
	const double turning = d > 0 ? (dot(rho.d, rho.d) - d_rate * d_rate) / d : 0;
	set_row(row, vec_zero(), f, d - length, d_rate, dot(f, rho.dd) + turning);
}

/* y_A.v_A: acts on A itself. */
static void knife(LoopRow *row, const LoopFrame *A) {
	const vec3 y = A->R.y;
	set_row(row, vec_zero(), y, 0, dot(y, A->v), dot(y, A->a) + dot(cross(A->w, y), A->v));
}

/*
 * From the origin of B to the contact of a disk about b_z: s = -radius p, p = (a_z - c b_z)/n with c = a_z.b_z. Returns n, the
 * height of the centre over radius. A disk that lies flat touches everywhere; x of B is taken then.
 */
static double disk_arm(const LoopFrame *A, const LoopFrame *B, const Turning *t, double radius, vec3 *s, vec3 *s_rate) {
	const Seen b = axis_seen(t, B->R.z);
	const double c = dot(A->R.z, b.x), c_rate = dot(A->R.z, b.d);
	const vec3 m = madd(A->R.z, -c, b.x), m_rate = neg(madd(scale(c_rate, b.x), c, b.d));
	const double n = sqrt(dot(m, m));
	*s = scale(-radius, n > 0 ? scale(1 / n, m) : B->R.x);
	*s_rate = vec_zero();
	if (n > 0) {
		const vec3 p = scale(1 / n, m);
		*s_rate = scale(-radius / n, madd(m_rate, -dot(p, m_rate), p));
	}
	return n;
}

static int rolling(const Loop *loop, const LoopFrame *A, const LoopFrame *B, LoopRow *row) {
	const Seen rho = displacement(A, B);
	const Turning t = turning_of(A, B);
	vec3 s = scale(-loop->radius, A->R.z), s_rate = vec_zero();
	double height = 1;
	if (loop->type == CAL_LOOP_DISK)
		height = disk_arm(A, B, &t, loop->radius, &s, &s_rate);
	const vec3 v = add(rho.d, cross(t.w, s));
	const vec3 v_rate = add(rho.dd, add(cross(t.al, s), cross(t.w, s_rate)));
	for (int k = 0; k < 3; ++k) {
		const vec3 a = axis(&A->R, k);
		set_row(&row[k], cross(s, a), a, 0, dot(a, v), dot(a, v_rate));
	}
	row[2].value = dot(A->R.z, rho.x) - loop->radius * height;
	return 3;
}

static LoopRow coupling(const Loop *loop, const LoopContext *at) {
	LoopRow row = {spatial_zero(), 0, 0, 0};
	for (int i = 0; i < loop->term_count; ++i) {
		const LoopTerm *term = &loop->term[i];
		row.value += term->factor * at->q[term->q];
		row.rate += term->factor * at->u[term->u];
		if (at->udot)
			row.acceleration += term->factor * at->udot[term->u];
	}
	return row;
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

static const double TURN = 6.283185307179586476925;

static void subtract_drives_and_stabilize(const Loop *loop, const LoopContext *at, int n, LoopRow *row) {
	for (int i = 0; loop->driven && i < n; ++i) {
		subtract_drive(&loop->drive[i], at->t, &row[i]);
		if (loop_row_is_speed(loop, i))
			row[i].value = 0;
	}
	if (loop->type == CAL_LOOP_ANGLE) // whole turns do not count
		row[0].value = remainder(row[0].value, TURN);
	if (loop->type == CAL_LOOP_SCREW)
		row[2].value = remainder(row[2].value, TURN * loop->pitch);
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
	switch (loop->type) {
	case CAL_LOOP_SCREW: {
		const LoopRow theta = twist(A, B);
		advance(&row[2], loop->pitch, &theta);
		break;
	}
	case CAL_LOOP_ANGLE:
		row[n++] = twist(A, B);
		break;
	case CAL_LOOP_DISTANCE:
		distance(&row[n++], A, B, loop->length);
		break;
	case CAL_LOOP_KNIFE:
		knife(&row[n++], A);
		break;
	case CAL_LOOP_COUPLING:
		row[n++] = coupling(loop, at);
		break;
	case CAL_LOOP_DISK:
	case CAL_LOOP_BALL:
		n = rolling(loop, A, B, row);
		break;
	default:
		break;
	}
	subtract_drives_and_stabilize(loop, at, n, row);
	return n;
}

#endif
