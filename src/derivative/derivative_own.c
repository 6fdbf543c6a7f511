// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_own.c — derivatives of the forces that a flexible body's own inertia needs.
 *
 * These are polynomials: of second degree in (w, eta_dot) together, linear in accelerations, and of second degree in eta
 * (fourth with second-order shapes). Differences of a polynomial of second degree by two points, of fourth degree by four
 *   f' = (f(h) - f(-h)) / 2h,   f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
 * are exact for any h: with h of the size of the body, to round-off.
 */
#include "derivative/derivative_flex.h"
#include "dynamics/flex/flexible.h"

/* A flexible body where its forces are evaluated. */
typedef struct OwnPoint {
	const CalModel *model;
	int f;
	CalWork *work;
	LinkWork l;
	int accelerated; // eta_ddot counts
} OwnPoint;

/* out[6 + m]: force at the link, modal forces. */
static void own_force_at(OwnPoint *at, double *out) {
	const Flex *flex = &at->model->flexes[at->f];
	FlexWork *w = &at->work->flex[at->f];
	const int accelerated = w->accelerated;
	w->accelerated = at->accelerated;
	flexible_own_x1(at->model, at->f, &flex->all, 1, at->work, &at->l);
	w->accelerated = accelerated;
	const double force[6] = {w->b.a.x, w->b.a.y, w->b.a.z, w->b.l.x, w->b.l.y, w->b.l.z};
	memcpy(out, force, sizeof force);
	memcpy(out + 6, w->be, sizeof(double) * (size_t)flex->m);
}

/* out[6 + m]: derivative by *x, which at->l or the workspace holds. scratch[6 + m]. */
static void own_derivative(OwnPoint *at, double *x, double h, int points, double *out, double *scratch) {
	static const struct {
		double by, two, four;
	} table[] = {{1, 0.5, 8.0 / 12}, {-1, -0.5, -8.0 / 12}, {2, 0, -1.0 / 12}, {-2, 0, 1.0 / 12}};
	const int count = 6 + at->model->flexes[at->f].m;
	const double x0 = *x;
	memset(out, 0, sizeof(double) * (size_t)count);
	for (int p = 0; p < points; ++p) {
		*x = x0 + table[p].by * h;
		own_force_at(at, scratch);
		const double weight = (points == 2 ? table[p].two : table[p].four) / h;
		for (int i = 0; i < count; ++i)
			out[i] += weight * scratch[i];
	}
	*x = x0;
}

/* Degree of the forces in eta: points of the difference. */
static int points_in_eta(const Flex *flex) {
	if (flex->geometric)
		return 4;
	for (int i = 0; i < flex->mass_count; ++i) {
		if (flex->masses[i].phi2)
			return 4;
	}
	return 2;
}

static spatial as_spatial(const double *x) { return (spatial){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

static void put_spatial(double *rows, int stride, spatial F) {
	const double all[6] = {F.a.x, F.a.y, F.a.z, F.l.x, F.l.y, F.l.z};
	for (int i = 0; i < 6; ++i)
		rows[i * stride] = all[i];
}

/* theta': N and p of the link, g of the modes. Speeds turn with the body, hence the accelerations theta' x w. */
static void derive_turn(OwnPoint *at, CalDerivatives *d, Subtree *s) {
	const Flex *flex = &at->model->flexes[at->f];
	const FlexWork *w = &at->work->flex[at->f];
	const vec3 speed = at->l.w;
	const double h = sqrt(dot(speed, speed)) + 1.0;
	double *x[3] = {&at->l.w.x, &at->l.w.y, &at->l.w.z};
	vec3 *N[3] = {&s->N.x, &s->N.y, &s->N.z};
	const sym3 I = inertia_from_second_moment(s->c.Sigma);
	for (int k = 0; k < 3; ++k) {
		double *out = d->own, *scratch = d->own + 6 + flex->m;
		const vec3 turned = cross(vec(k == 0, k == 1, k == 2), speed);
		own_derivative(at, x[k], h, 2, out, scratch);
		*N[k] = add(as_spatial(out).a, sym_mul_vec(I, turned));
		for (int j = 0; j < flex->m; ++j)
			d->rows[(ROW_G + k) * d->stride + flex->u + j] = out[6 + j] + dot(turned, rows_mode(w->E, flex->n, j).a);
	}
	s->p = cross(speed, s->c.mc);
	for (int j = 0; j < flex->m; ++j)
		s->p = madd(s->p, w->eta_dot[j], rows_mode(w->E, flex->n, j).l);
}

/* Columns of the modes by coordinate and by speed. */
static void derive_modes(OwnPoint *at, const LinkWork *moving, CalDerivatives *d, double size) {
	const Flex *flex = &at->model->flexes[at->f];
	FlexWork *w = &at->work->flex[at->f];
	const size_t stride = (size_t)d->stride;
	const int points = points_in_eta(flex);
	double *out = d->own, *scratch = d->own + 6 + flex->m;
	for (int k = 0; k < flex->m; ++k) {
		const int u = flex->u + k;
		const double mass = flex->Mee[k * flex->n + k], h = mass > 0 && size > 0 ? sqrt(size / mass) : 1.0;
		double *column = d->du + u;
		at->l.al = at->l.a = vec_zero(), at->accelerated = 0;
		own_derivative(at, &w->eta_dot[k], h, 2, out, scratch);
		put_spatial(d->rows + ROW_N4 * d->stride + u, d->stride, as_spatial(out));
		for (int l = 0; l < flex->m; ++l)
			column[(size_t)(flex->u + l) * 2 * stride] += out[6 + l];
		column = d->dq + u;
		at->l.al = moving->al, at->l.a = moving->a, at->accelerated = w->accelerated;
		own_derivative(at, &w->eta[k], h, points, out, scratch);
		put_spatial(d->rows + ROW_N3 * d->stride + u, d->stride, as_spatial(out));
		for (int l = 0; l < flex->m; ++l)
			column[(size_t)(flex->u + l) * 2 * stride] += out[6 + l];
	}
}

/* Force and inertia as they are; M halved, as in all blocks of a link (derivative_solve.c). */
static void take_own(OwnPoint *at, CalDerivatives *d, Subtree *s) {
	const Flex *flex = &at->model->flexes[at->f];
	FlexWork *w = &at->work->flex[at->f];
	double *out = d->own;
	own_force_at(at, out);
	s->c = w->own;
	s->f = w->b;
	for (int k = 0; k < flex->m; ++k) {
		put_spatial(d->rows + ROW_N1 * d->stride + flex->u + k, d->stride, rows_mode(w->E, flex->n, k));
		for (int l = 0; l < flex->m; ++l)
			d->M[(size_t)(flex->u + l) * (size_t)d->stride + (size_t)(flex->u + k)] =
				0.5 * flexible_mass(w, flex->n, l, k);
	}
}

void derivative_flex_own(const CalModel *model, int f, CalDerivatives *d) {
	const Flex *flex = &model->flexes[f];
	CalWork *work = d->work;
	FlexWork *w = &work->flex[f];
	const LinkWork *moving = &work->links[flex->link];
	Subtree *s = &d->subtree[flex->link];
	OwnPoint at = {.model = model, .f = f, .work = work, .l = *moving, .accelerated = w->accelerated};
	take_own(&at, d, s);
	const double size = s->c.Sigma.xx + s->c.Sigma.yy + s->c.Sigma.zz;
	at.l.al = at.l.a = vec_zero(), at.accelerated = 0;
	derive_turn(&at, d, s);
	derive_modes(&at, moving, d, size);
}
