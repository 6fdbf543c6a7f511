// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_kinematics.c — derivatives of the motion of nodes, of momentum and of energy [THEORY 10.5].
 *
 * Momentum: a unit of speed of a dof gives its subtree, about the origin of the dof's link, the momentum
 *   I theta + mc x x,  m x + theta x mc      with the rate   I'theta + I theta' + p x x + mc x x',  m x' + theta' x mc + theta x p
 * where I' = (N + N')/2. Energy: with w = u held, dT/dq_j = 1/2 w'(d(M w)/dq_j), the derivative of inverse dynamics at rest
 * without gravity, with w for accelerations.
 */
#include "derivative/derivative_flex.h"
#include "derivative/derivative_frame.h"
#include "derivative/derivative_kernels.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/forces.h"

static CalStatus check_node(const CalModel *model, const CalState *state, int node, const CalDerivatives *d) {
	if (!model || !state || !state->q || !state->u || !d || d->model != model || node < 0 || node >= model->node_count)
		return CAL_ERR_ARGUMENT;
	return d->exact ? CAL_OK : CAL_ERR_UNSUPPORTED;
}

/* Motion of a node and its variations in d->variations. */
static CalStatus node_variations(const CalModel *model, const CalState *state, const double *udot, int node,
                                 CalDerivatives *d) {
	CalStatus status = check_node(model, state, node, d);
	if (status != CAL_OK)
		return status;
	derivative_outward(model, &(DerivativePoint){.q = state->q, .u = state->u, .udot = udot}, d);
	frame_prepare(model, state->u, d);
	const int link = model->nodes[node].link;
	FramePoint at = {.node = node};
	if (link >= 0) {
		const NodePlace place = kinematics_node(model, d->work, node);
		const spatial V = kinematics_node_velocity(d->work, link, &place);
		spatial A = kinematics_node_bias(d->work, &d->work->links[link], &place);
		for (int k = 0; place.flex && udot && k < place.flex->m; ++k)
			A = spatial_madd(A, udot[place.flex->u + k], kinematics_node_column(&place, k));
		at.motion = (LoopFrame){
			.R = place.R, .r = add(d->work->position[link], place.c), .w = V.a, .v = V.l, .al = A.a, .a = A.l};
	}
	frame_variations(model, &at, d, d->variations);
	return CAL_OK;
}

static void put_column(double *matrix, size_t n, size_t j, vec3 a, vec3 l) {
	const double column[6] = {a.x, a.y, a.z, l.x, l.y, l.z};
	for (size_t i = 0; matrix && i < 6; ++i)
		matrix[i * n + j] = column[i];
}

CalStatus cal_node_derivatives(const CalModel *model, const CalState *state, const double *udot, int node,
                               CalDerivatives *derivatives, double *dV_dq, double *dA_dq, double *dA_du) {
	const CalStatus status = node_variations(model, state, udot, node, derivatives);
	for (size_t j = 0; status == CAL_OK && j < (size_t)derivatives->n; ++j) {
		const FrameVariation *v = &derivatives->variations[j];
		put_column(dV_dq, (size_t)model->nu, j, v->w, v->v);
		put_column(dA_dq, (size_t)model->nu, j, v->al, v->a);
		put_column(dA_du, (size_t)model->nu, j, v->speed.a, v->speed.l);
	}
	return status;
}

CalStatus cal_node_jacobian_rate(const CalModel *model, const CalState *state, int node, CalDerivatives *derivatives,
                                 double *J, double *Jdot) {
	const CalStatus status = node_variations(model, state, NULL, node, derivatives);
	for (size_t j = 0; status == CAL_OK && j < (size_t)derivatives->n; ++j) {
		const FrameVariation *v = &derivatives->variations[j];
		put_column(J, (size_t)model->nu, j, v->theta, v->r);
		put_column(Jdot, (size_t)model->nu, j, v->axis_rate, v->r_rate);
	}
	return status;
}

/* ---- momentum --------------------------------------------------------------------------------------------- */

/* Momentum of a unit of speed, about the origin of the link, and its rate. */
typedef struct UnitMomentum {
	spatial h, rate;
} UnitMomentum;

static UnitMomentum unit_momentum(const Subtree *s, const DofMotion *m, vec3 turning) {
	const vec3 x_rate = scale(0.5, m->speed.l);
	const spatial moving = {turning, x_rate};
	const vec3 grown = scale(0.5, add(mat_mul_vec(s->N, m->S.a), mat_tmul_vec(s->N, m->S.a)));
	UnitMomentum u = {composite_mul(&s->c, m->S), composite_mul(&s->c, moving)};
	u.rate.a = add(u.rate.a, add(grown, cross(s->p, m->S.l)));
	u.rate.l = add(u.rate.l, cross(m->S.a, s->p));
	return u;
}

/* The center of mass, from the origin of the ground, and its velocity. */
typedef struct MassCenter {
	vec3 r, v;
} MassCenter;

/* Adds a unit momentum about o, which moves with v, to column u of A and of its rate. */
static void add_momentum(const MassCenter *com, vec3 o, vec3 v, const UnitMomentum *m, int u, double *A, double *Adot,
                         int n) {
	const vec3 r = sub(o, com->r), r_rate = sub(v, com->v);
	const spatial h = force_shift(m->h, r);
	const vec3 n_rate = add(m->rate.a, add(cross(r_rate, m->h.l), cross(r, m->rate.l)));
	const double value[6] = {h.a.x, h.a.y, h.a.z, h.l.x, h.l.y, h.l.z};
	const double rate[6] = {n_rate.x, n_rate.y, n_rate.z, m->rate.l.x, m->rate.l.y, m->rate.l.z};
	for (int i = 0; i < 6; ++i) {
		A[i * n + u] += value[i];
		if (Adot)
			Adot[i * n + u] += rate[i];
	}
}

/* Adds by * eta_dot to eta. */
static void move_modes(const Flex *flex, FlexWork *w, double by) {
	for (int k = 0; k < flex->m; ++k)
		w->eta[k] += by * w->eta_dot[k];
}

/*
 * Own momentum of the modes per unit of speed: the columns E, polynomials of eta, whose rates along eta_dot are exact
 * differences (derivative_own.c).
 */
static void add_own_modes(const CalModel *model, int f, const MassCenter *com, CalDerivatives *d, double *A,
                          double *Adot) {
	static const struct {
		double at, weight;
	} points[] = {{1, 8.0 / 12}, {-1, -8.0 / 12}, {2, -1.0 / 12}, {-2, 1.0 / 12}, {0, 0}};
	const Flex *flex = &model->flexes[f];
	CalWork *work = d->work;
	FlexWork *w = &work->flex[f];
	const LinkWork *l = &work->links[flex->link];
	const vec3 o = work->position[flex->link], v = work->velocity[flex->link];
	double at = 0;
	for (size_t p = 0; p < sizeof points / sizeof *points; ++p) { // the last one is the state itself
		move_modes(flex, w, points[p].at - at);
		at = points[p].at;
		flexible_own_x1(model, f, &flex->all, 0, work, l);
		for (int k = 0; k < flex->m; ++k) {
			const spatial E = rows_mode(w->E, flex->n, k);
			const double s = points[p].weight;
			UnitMomentum m = {spatial_zero(), {scale(s, E.a), scale(s, E.l)}};
			if (s == 0)
				m = (UnitMomentum){E, {cross(l->w, E.a), cross(l->w, E.l)}};
			add_momentum(com, o, v, &m, flex->u + k, A, Adot, d->n);
		}
	}
}

static void add_link(const CalModel *model, int i, const MassCenter *com, CalDerivatives *d, double *A, double *Adot) {
	const Link *link = &model->links[i];
	const LinkColumns *c = &d->columns[i];
	const CalWork *work = d->work;
	for (int k = 0; k < c->count; ++k) {
		const DofMotion *m = &d->motions[c->motion + k];
		const vec3 turning = link->flex >= 0 ? m->rate : cross(work->links[i].w, m->S.a);
		const UnitMomentum unit = unit_momentum(&d->subtree[i], m, turning);
		add_momentum(com, work->position[i], work->velocity[i], &unit, c->u + k, A, Adot, d->n);
	}
}

CalStatus cal_momentum_matrix(const CalModel *model, const CalState *state, CalDerivatives *derivatives, double *A,
                              double *Adot) {
	CalDerivatives *d = derivatives;
	if (!A || !model || !state || !state->q || !state->u || !d || d->model != model)
		return CAL_ERR_ARGUMENT;
	if (!d->exact)
		return CAL_ERR_UNSUPPORTED;
	CalMomentum momentum;
	const CalStatus status = cal_momentum(model, state, d->work, &momentum);
	if (status != CAL_OK)
		return status;
	const MassCenter com = {vec_in(momentum.com),
	                        scale(momentum.mass > 0 ? 1.0 / momentum.mass : 0.0, vec_in(momentum.linear))};
	const size_t size = sizeof(double) * 6 * (size_t)model->nu;
	memset(A, 0, size);
	if (Adot)
		memset(Adot, 0, size);
	derivative_inverse(model, &(DerivativePoint){.q = state->q, .u = state->u}, d);
	kinematics_origins(model, state->u, d->work);
	for (int i = 0; i < model->link_count; ++i)
		add_link(model, i, &com, d, A, Adot);
	for (int f = 0; f < model->flex_count; ++f)
		add_own_modes(model, f, &com, d, A, Adot);
	return CAL_OK;
}

/* ---- energy ------------------------------------------------------------------------------------------------- */

/* dq -= forces of springs and gravity. */
static CalStatus subtract_potential(const CalModel *model, const CalState *state, CalDerivatives *d, double *dq) {
	const size_t n = (size_t)d->n;
	double *Q = d->scratch;
	const CalState rest = {.t = state->t, .q = state->q, .u = d->at.u};
	memset(d->at.u, 0, sizeof(double) * n);
	CalStatus status = cal_gravity_forces(model, &rest, d->work, Q);
	if (status == CAL_OK)
		status = cal_elastic_forces(model, &rest, d->work, Q + n);
	for (size_t i = 0; i < n; ++i)
		dq[i] -= Q[i] + Q[n + i];
	return status;
}

CalStatus cal_energy_gradient(const CalModel *model, const CalState *state, CalDerivatives *derivatives, double *dq,
                              double *du) {
	CalDerivatives *d = derivatives;
	if (!model || !state || !state->q || !state->u || !d || d->model != model)
		return CAL_ERR_ARGUMENT;
	if (!d->exact)
		return CAL_ERR_UNSUPPORTED;
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	memset(d->at.u, 0, sizeof(double) * n);
	derivative_inverse(model, &(DerivativePoint){.q = state->q, .u = d->at.u, .udot = state->u}, d);
	for (size_t j = 0; j < n; ++j) {
		double kinetic = 0, momentum = model->rotor[j] * state->u[j];
		for (size_t i = 0; i < n; ++i) {
			kinetic += state->u[i] * d->dq[i * 2 * stride + j];
			momentum += d->M[j * stride + i] * state->u[i];
		}
		if (dq)
			dq[j] = 0.5 * kinetic;
		if (du)
			du[j] = momentum;
	}
	return dq ? subtract_potential(model, state, d, dq) : CAL_OK;
}
