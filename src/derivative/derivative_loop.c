// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_loop.c — derivatives of forward dynamics with closed loops [THEORY 10.4].
 *
 * With multipliers lambda and accelerations z of the constraint equations (z = 0, drives and stabilization included)
 *   M dudot - G'dlambda = -d(ID - G'lambda),   G dudot = -dz
 *   dudot = X + M^-1 G' dlambda,  dlambda = -(G M^-1 G')^+ (dz + G X),  X = -M^-1 d(ID - G'lambda)
 * The wrench of a loop enters the tree's derivatives as one in world axes; what its directions and its point change is added:
 * both, and z, are functions of the two frames alone. They are differenced along the change of the frames that a dof makes:
 * by six points of order six with h = 4e-3 (error about h^6/140, round-off 1e-16/h); in speeds, z is quadratic and two points are exact.
 */
#include <calder/loops.h>
#include "derivative/derivative_loop.h"
#include "derivative/derivative_frame.h"
#include "dynamics/loop/loops.h"
#include "math/min_norm.h"

static const double STEP = 4e-3;
static const double DEPENDENT = 1e-10; // of the diagonal: equations that depend on others

CalStatus derivative_multipliers(const CalModel *model, const CalState *state, CalDerivatives *d) {
	CalStatus status = cal_loop_multipliers(model, d->work, d->lambda);
	if (status == CAL_OK)
		status = cal_loop_rank(model, d->work, &d->rank, NULL);
	return status == CAL_OK ? cal_loop_jacobian(model, state, d->work, d->G, NULL) : status;
}

/* ---- frames that move ------------------------------------------------------------------------------------ */

/* A loop at a state. */
typedef struct LoopPoint {
	const Loop *loop;
	LoopFrame frame[2];
	const FrameVariation *variation[2]; // [nu] of A and B
	LoopContext at;
	vec3 point;     // where its wrench acts
	spatial wrench; // on node `plus`
} LoopPoint;

static mat3 turned(const mat3 *R, vec3 theta) {
	const CalQuat q = dquat_exp((dvec3){theta.x, theta.y, theta.z});
	return mat_mul(quat_matrix(q.w, q.x, q.y, q.z), *R);
}

static LoopFrame moved_frame(const LoopFrame *f, const FrameVariation *v, double s, int speed) {
	LoopFrame out = *f;
	if (speed) {
		out.w = madd(f->w, s, v->theta);
		out.v = madd(f->v, s, v->r);
		out.al = madd(f->al, s, v->speed.a);
		out.a = madd(f->a, s, v->speed.l);
		return out;
	}
	out.R = turned(&f->R, scale(s, v->theta));
	out.r = madd(f->r, s, v->r);
	out.w = madd(f->w, s, v->w);
	out.v = madd(f->v, s, v->v);
	out.al = madd(f->al, s, v->al);
	out.a = madd(f->a, s, v->a);
	return out;
}

/* z[rows] and the wrench of lambda with the frames moved by s along dof j. */
static spatial evaluate(const LoopPoint *p, int j, double s, int speed, const double *lambda, double *z) {
	LoopRow row[CAL_LOOP_MAX_ROWS];
	const LoopFrame A = moved_frame(&p->frame[0], &p->variation[0][j], s, speed);
	const LoopFrame B = moved_frame(&p->frame[1], &p->variation[1][j], s, speed);
	spatial wrench = spatial_zero();
	loop_fill(p->loop, &A, &B, &p->at, row);
	for (int i = 0; i < p->loop->rows; ++i) {
		z[i] = row[i].acceleration;
		wrench = spatial_madd(wrench, lambda[i], row[i].direction);
	}
	return wrench;
}

/* dz[rows], and the change of the wrench. */
static spatial differentiate(const LoopPoint *p, int j, int speed, const double *lambda, double *dz) {
	static const double weight[] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
	const int points = speed ? 1 : 3;
	const double h = speed ? 1.0 : STEP;
	spatial change = spatial_zero();
	memset(dz, 0, sizeof(double) * CAL_LOOP_MAX_ROWS);
	for (int k = 1; k <= points; ++k) {
		const double w = (speed ? 0.5 : weight[k - 1]) / h;
		double ahead[CAL_LOOP_MAX_ROWS], back[CAL_LOOP_MAX_ROWS];
		const spatial f = evaluate(p, j, k * h, speed, lambda, ahead), b = evaluate(p, j, -k * h, speed, lambda, back);
		change = spatial_madd(change, w, spatial_sub(f, b));
		for (int i = 0; i < p->loop->rows; ++i)
			dz[i] += w * (ahead[i] - back[i]);
	}
	return change;
}

static int moves(const FrameVariation *v) {
	const double *x = &v->theta.x;
	for (size_t i = 0; i < sizeof *v / sizeof *x; ++i) {
		if (x[i] != 0)
			return 1;
	}
	return 0;
}

/* ---- forces ------------------------------------------------------------------------------------------------ */

/* Displacement of the material point of a side at the loop's point. */
static vec3 material(const LoopPoint *p, int side, int j) {
	const FrameVariation *v = &p->variation[side][j];
	return add(v->r, cross(v->theta, sub(p->point, p->frame[side].r)));
}

/* dq of all dofs i on a side, by coordinate j: sign times the column at the point times the change of the wrench. */
static void subtract_change(const LoopPoint *p, int side, double sign, int j, spatial change, vec3 displacement,
                            CalDerivatives *d) {
	const size_t wide = 2 * (size_t)d->stride;
	const vec3 slip = sub(displacement, material(p, side, j));
	const vec3 n = add(change.a, cross(slip, p->wrench.l));
	for (int i = 0; i < d->n; ++i) {
		const vec3 theta = p->variation[side][i].theta;
		d->dq[(size_t)i * wide + (size_t)j] -= sign * (dot(theta, n) + dot(material(p, side, i), change.l));
	}
}

/* A coupling reads coordinates and speeds themselves. */
static void coupling_terms(const Loop *loop, CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	double *row = d->dz + (size_t)loop->row * 2 * stride;
	for (int i = 0; i < loop->term_count; ++i) {
		const LoopTerm *term = &loop->term[i];
		row[term->u] += loop->frequency * loop->frequency * term->factor;
		row[stride + (size_t)term->u] += 2 * loop->damping * loop->frequency * term->factor;
	}
}

static void loop_terms(const LoopPoint *p, CalDerivatives *d) {
	const Loop *loop = p->loop;
	const int one = loop_type_has_one_side(loop->type);
	const size_t stride = (size_t)d->stride;
	double dz[CAL_LOOP_MAX_ROWS];
	for (int j = 0; j < d->n; ++j) {
		if (!moves(&p->variation[0][j]) && !moves(&p->variation[1][j]))
			continue;
		double *row = d->dz + (size_t)loop->row * 2 * stride + (size_t)j;
		const spatial change = differentiate(p, j, 0, d->lambda + loop->row, dz);
		for (int i = 0; i < loop->rows; ++i)
			row[(size_t)i * 2 * stride] = dz[i];
		const vec3 displacement = material(p, one ? 0 : 1, j);
		subtract_change(p, one ? 0 : 1, 1, j, change, displacement, d);
		if (!one)
			subtract_change(p, 0, -1, j, change, displacement, d);
		differentiate(p, j, 1, d->lambda + loop->row, dz);
		for (int i = 0; i < loop->rows; ++i)
			row[(size_t)i * 2 * stride + stride] = dz[i];
	}
}

/* ---- in the tree's derivatives --------------------------------------------------------------------------------- */

void derivative_loop_wrenches(const CalModel *model, const CalState *state, CalDerivatives *d) {
	CalWork *work = d->work;
	frame_prepare(model, state->u, d);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .udot = d->udot}, work);
	memcpy(work->loops.lambda, d->lambda, sizeof(double) * (size_t)model->row_count);
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const spatial f = loop_wrench(loop, &work->loops);
		derivative_world_wrench(model, loop->plus, work->loops.point[l], f, d);
		derivative_world_wrench(model, loop->minus, work->loops.point[l], (spatial){neg(f.a), neg(f.l)}, d);
	}
}

void derivative_loop_terms(const CalModel *model, const CalState *state, CalDerivatives *d) {
	const CalWork *work = d->work;
	memset(d->dz, 0, sizeof(double) * 2 * (size_t)model->row_count * (size_t)d->stride);
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		if (loop_type_has_terms(loop->type)) {
			coupling_terms(loop, d);
			continue;
		}
		LoopPoint p = {.loop = loop, .point = work->loops.point[l], .wrench = loop_wrench(loop, &work->loops)};
		p.at = (LoopContext){.t = state->t, .q = state->q, .u = state->u, .udot = d->udot};
		for (int side = 0; side < 2; ++side) {
			FrameVariation *v = d->variations + side * d->n;
			FramePoint at = {.node = side ? loop->node_b : loop->node_a};
			loop_frame(model, work, loop, side, LOOP_BIAS, &at.motion);
			frame_variations(model, &at, d, v);
			p.frame[side] = at.motion;
			p.variation[side] = v;
		}
		loop_terms(&p, d);
	}
}

/* ---- solution --------------------------------------------------------------------------------------------------- */

/* GX = G M^-1 and the factor of G M^-1 G'. */
static int factor_loops(const CalModel *model, CalDerivatives *d) {
	const size_t n = (size_t)d->n, stride = (size_t)d->stride, rows = (size_t)model->row_count;
	for (size_t r = 0; r < rows; ++r) {
		double *x = d->GX + r * stride;
		memset(x, 0, sizeof(double) * stride);
		for (size_t k = 0; k < n; ++k) {
			const double g = d->G[r * n + k];
			for (size_t j = 0; g != 0 && j < n; ++j)
				x[j] += g * d->inverse[k * stride + j];
		}
		d->unit[r] = loop_row_unit(model, (int)r);
	}
	for (size_t r = 0; r < rows; ++r) {
		for (size_t s = 0; s <= r; ++s) {
			double sum = 0;
			for (size_t k = 0; k < n; ++k)
				sum += d->GX[r * stride + k] * d->G[s * n + k];
			d->Lambda[r * rows + s] = d->Lambda[s * rows + r] = sum;
		}
	}
	MinNormRows how = {.tolerance = DEPENDENT, .known = d->rank, .unit = d->unit};
	return min_norm_factor_rows((int)rows, d->Lambda, &how, d->order, d->independent, d->loop_scratch);
}

/* x[n][row_length] += sign GX' y[rows][row_length], of `columns`. */
static void add_response(const CalModel *model, const CalDerivatives *d, double sign, const double *y, size_t columns,
                         double *x) {
	for (size_t r = 0; r < (size_t)model->row_count; ++r) {
		for (size_t i = 0; i < (size_t)d->n; ++i) {
			const double g = sign * d->GX[r * (size_t)d->stride + i];
			for (size_t j = 0; g != 0 && j < columns; ++j)
				x[i * columns + j] += g * y[r * columns + j];
		}
	}
}

void derivative_close(const CalModel *model, CalDerivatives *d) {
	const size_t n = (size_t)d->n, stride = (size_t)d->stride, wide = 2 * stride, rows = (size_t)model->row_count;
	const int rank = factor_loops(model, d);
	for (size_t r = 0; r < rows; ++r) { // -(dz + G X)
		double *y = d->dz + r * wide;
		for (size_t j = 0; j < wide; ++j)
			y[j] = -y[j];
		for (size_t k = 0; k < n; ++k) {
			const double g = d->G[r * n + k];
			for (size_t j = 0; g != 0 && j < wide; ++j)
				y[j] -= g * d->dq[k * wide + j];
		}
	}
	min_norm_solve_columns((int)rows, rank, (int)wide, d->Lambda, d->order, d->loop_scratch, d->ordered, d->dz);
	add_response(model, d, 1, d->dz, wide, d->dq);
	memcpy(d->dz, d->GX, sizeof(double) * rows * stride);
	min_norm_solve_columns((int)rows, rank, (int)stride, d->Lambda, d->order, d->loop_scratch, d->ordered, d->dz);
	add_response(model, d, -1, d->dz, stride, d->inverse);
	for (size_t i = 0; i < n; ++i) {
		for (size_t j = 0; j < i; ++j)
			d->inverse[i * stride + j] = d->inverse[j * stride + i];
	}
}
