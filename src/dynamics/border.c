// SPDX-License-Identifier: Apache-2.0
/*
 * border.c — columns of unknown forces carried through a branch (border.h), four at a time.
 *
 * Each pull is walked from its link to the base with its four columns in registers; gains are kept. Pulls of the same
 * columns from different links add up, since all of it is linear. Phi and beta are then sums over the gains.
 */
#include "body/flex_pose.h"
#include "dynamics/border.h"
#include "dynamics/flexible.h"

#if CAL_LANES == 1

/* ---- outward: only what turns ------------------------------------------------------------------ */

/* A node on its body: R exp([theta]x) E, and T theta_dot. */
static void spine_node(const CalModel *model, const Link *link, const LinkWork *base, const CalWork *work,
                       LinkWork *l) {
	const FlexShape *shape = &model->shapes[link->shape];
	const Flex *flex = &model->flexes[link->flex];
	const FlexWork *w = &work->flex[link->flex];
	const mat3 axes = flexible_axes(flex, base);
	pvec3 t = pvec_zero(), rate = pvec_zero();
	for (int k = 0; k < flex->n; k += PACK) {
		const pvec3 psi = pvec_const(shape->psi + k, flex->n);
		t = pvec_mac(t, psi, pack_load(w->eta + k));
		rate = pvec_mac(rate, psi, pack_load(w->eta_dot + k));
	}
	const Sums a = pack_sums(t.x, t.y, t.z, rate.x);
	const vec3 theta = {a.a, a.b, a.c}, theta_dot = {a.d, pack_sum(rate.y), pack_sum(rate.z)};
	const ExpCoefficients e = exp_coefficients(dot(theta, theta));
	const vec3 turned = cross(theta, theta_dot);
	const vec3 own = madd(madd(theta_dot, e.b, turned), e.c, cross(theta, turned));
	const trio3 R = trio3_from(axes), P = trio3_cross(R, theta);
	trio3 N = trio3_madd(trio3_madd(R, e.a, P), e.b, trio3_cross(P, theta));
	if (shape->turned)
		N = trio3_mul_dmat(N, shape->E);
	l->R = trio3_mat(N);
	l->w = add(base->w, trio_vec(trio3_mul(R, own)));
}

void LANED(border_spine)(const CalModel *model, const SweepInput *in, const int32_t *links, int count, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, in->q, work);
	LANED(flexible_load)(model, in->q, in->u, in->prescribed, in->udot, work);
	for (int k = 0; k < count; ++k) {
		const Link *link = &model->links[links[k]];
		const LinkWork *base = &work->links[link->parent];
		LinkWork *l = &work->links[links[k]];
		if (LIKELY(link->motion == MOTION_ROTATION)) {
			l->R = turn_about_z(link_inboard(link, &base->R), work->sine[link->trig], work->cosine[link->trig]);
			l->w = madd(base->w, in->u[link->u], l->R.z);
		} else if (link->motion == MOTION_NODE) {
			spine_node(model, link, base, work, l);
		} else {
			link_motion(link, base, in->q, in->u, work, l);
		}
	}
}

/* ---- inward -------------------------------------------------------------------------------------- */

INLINE void keep_gain(double *gain, int adds, pack g) {
	if (UNLIKELY(adds))
		g = pack_add(g, pack_load(gain));
	pack_store(gain, g);
}

/* h = L^-1 s of four free modes: column j of L'^-1, less its diagonal, is row j - 1 of w->Y. */
INLINE void solve_four(const FlexWork *w, double *s) {
	const real *N = w->Y;
	const pack s0 = pack_load(s), s1 = pack_load(s + PACK), s2 = pack_load(s + 2 * PACK), s3 = pack_load(s + 3 * PACK);
	pack_store(s + PACK, pack_madd(s1, N[0], s0));
	pack_store(s + 2 * PACK, pack_madd(pack_madd(s2, N[4], s0), N[5], s1));
	pack_store(s + 3 * PACK, pack_madd(pack_madd(pack_madd(s3, N[8], s0), N[9], s1), N[10], s2));
}

/* The same for any modes, as flexible_reduce does for a force. */
static void solve_modes(const Flex *flex, const FlexWork *w, double *s) {
	const int m = flex->m, n = flex->n;
	for (int j = 0; j < m; ++j) {
		if (w->inverse[j] == 0)
			continue; // prescribed
		const pack own = pack_load(s + j * PACK);
		for (int k = w->given ? 0 : j + 1; k < m; ++k) {
			if (k != j)
				pack_store(s + k * PACK, pack_msub(pack_load(s + k * PACK), w->M[j * n + k], own));
		}
	}
}

/* The modes of the body that a link carries, on which the columns act with s. */
static void pass_modes(const CalModel *model, const Link *link, const CalWork *work, const Border *border,
                       const BorderPull *pull, double *s, pspatial *gamma) {
	const Flex *flex = &model->flexes[link->carries];
	const FlexWork *w = &work->flex[link->carries];
	const int m = flex->m, n = flex->n;
	const int head = link->motion == MOTION_FLEX && flex->head.moves;
	for (int k = 0; k < m && head; ++k)
		pack_store(s + k * PACK,
		           pack_add(pack_load(s + k * PACK), pspatial_dot(flexible_column(model, link, work, k), *gamma)));
	if (m == PACK && !w->given && link->motion != MOTION_FLEX) {
		solve_four(w, s);
	} else {
		solve_modes(flex, w, s);
	}
	double *gain = border->gain + (size_t)flex->u * (size_t)border->width + pull->column;
	for (int k = 0; k < m; ++k, gain += border->width) {
		const pack h = pack_load(s + k * PACK);
		keep_gain(gain, pull->adds, h);
		*gamma = pspatial_sub_outer(*gamma, rows_mode(w->K, n, k), h);
	}
}

/* The joint of a link, and on to the parent's origin. */
INLINE void pass_joint(const Link *link, int i, const uint8_t *prescribed, const CalWork *work, const Border *border,
                       const BorderPull *pull, pspatial *gamma) {
	double *gain = border->gain + (size_t)link->u * (size_t)border->width + pull->column;
	const LinkWork *l = &work->links[i];
	if (LIKELY(link->motion == MOTION_ROTATION && (!prescribed || !prescribed[link->u]))) {
		const pack g = pvec_dot(l->R.z, gamma->a); // its K is at the parent's origin
		keep_gain(gain, pull->adds, g);
		*gamma = pspatial_sub_outer(pforce_shift(*gamma, l->r), work->dofs[link->u].K, g);
		return;
	}
	for (int k = 0; k < link->nu; ++k, gain += border->width) {
		if (prescribed && prescribed[link->u + k]) {
			pack_store(gain, pack_zero());
			continue;
		}
		const pack g = pspatial_dot(link_column(work, link, i, k), *gamma);
		keep_gain(gain, pull->adds, g);
		*gamma = pspatial_sub_outer(*gamma, work->dofs[link->u + k].K, g);
	}
	*gamma = pforce_shift(*gamma, l->r);
}

static void walk(const CalModel *model, const uint8_t *prescribed, CalWork *work, const Border *border,
                 const BorderPull *pull) {
	pspatial gamma = pspatial_load(pull->gamma, PACK);
	double *s = border->modal;
	const int first = model->links[pull->link].carries;
	for (int k = 0; first >= 0 && k < model->flexes[first].m; ++k)
		pack_store(s + k * PACK, pull->modal ? pack_load(pull->modal + k * PACK) : pack_zero());
	for (int i = pull->link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		if (link->motion == MOTION_NODE) {
			for (int k = 0; k < model->flexes[link->flex].m; ++k)
				pack_store(s + k * PACK, pspatial_dot(flexible_column(model, link, work, k), gamma));
			gamma = pforce_shift(gamma, work->links[i].r);
			continue;
		}
		if (link->carries >= 0)
			pass_modes(model, link, work, border, pull, s, &gamma);
		pass_joint(link, i, prescribed, work, border, pull, &gamma);
		const int parent = link->parent;
		if (parent >= 0 && model->links[parent].carries >= 0 && model->links[i].motion != MOTION_NODE) {
			for (int k = 0; k < model->flexes[model->links[parent].carries].m; ++k) // on B itself: nothing on its modes
				pack_store(s + k * PACK, pack_zero());
		}
	}
	double *out = border->gamma + pull->column;
	if (pull->adds)
		gamma = pspatial_add(gamma, pspatial_load(out, border->width));
	pspatial_store(out, border->width, gamma);
}

/* Phi += d g g', beta += d eps g for one freedom; of a cut, six rows of eight. */
INLINE void add_freedom(const double *g, int width, double d, double eps, pack *Phi, pack *beta) {
	const int packs = width / PACK;
	for (int c = 0; c < packs; ++c)
		beta[c] = pack_madd(beta[c], d * eps, pack_load(g + c * PACK));
	for (int r = 0; r < 6; ++r) {
		const double x = d * g[r];
		for (int c = 0; c < packs; ++c)
			Phi[r * packs + c] = pack_madd(Phi[r * packs + c], x, pack_load(g + c * PACK));
	}
}

/* A cut and nothing else: the sums stay in registers. */
static void sum_cut(const CalModel *model, const CalWork *work, Border *border) {
	enum { W = BORDER_CUT, C = W / PACK };
	pack Phi[6 * C], beta[C];
	for (int i = 0; i < 6 * C; ++i)
		Phi[i] = pack_zero();
	for (int i = 0; i < C; ++i)
		beta[i] = pack_zero();
	for (int p = 0; p < border->path_count; ++p) {
		const Link *link = &model->links[border->path[p]];
		for (int k = link->u; k < link->u + link->nu; ++k)
			add_freedom(border->gain + k * W, W, work->dofs[k].d, work->dofs[k].eps, Phi, beta);
		if (link->carries < 0)
			continue;
		const Flex *flex = &model->flexes[link->carries];
		const FlexWork *w = &work->flex[link->carries];
		for (int k = 0; k < flex->m; ++k)
			add_freedom(border->gain + (flex->u + k) * W, W, w->inverse[k], -w->y[k], Phi, beta);
	}
	for (int r = 0; r < 6; ++r) {
		for (int c = 0; c < C; ++c)
			pack_store(border->Phi + r * W + c * PACK, Phi[r * C + c]);
	}
	for (int c = 0; c < C; ++c)
		pack_store(border->beta + c * PACK, beta[c]);
}

static void add_any(const double *g, double d, double eps, Border *border) {
	const int W = border->width;
	for (int r = 0; r < W; ++r) {
		const double x = d * g[r];
		border->beta[r] += x * eps;
		for (int c = 0; c < W && x != 0; c += PACK) {
			double *to = border->Phi + r * W + c;
			pack_store(to, pack_madd(pack_load(to), x, pack_load(g + c)));
		}
	}
}

static void sum_any(const CalModel *model, const CalWork *work, Border *border) {
	const size_t W = (size_t)border->width;
	memset(border->Phi, 0, sizeof(double) * W * W);
	memset(border->beta, 0, sizeof(double) * W);
	for (int p = 0; p < border->path_count; ++p) {
		const Link *link = &model->links[border->path[p]];
		for (int k = link->u; k < link->u + link->nu; ++k)
			add_any(border->gain + (size_t)k * W, work->dofs[k].d, work->dofs[k].eps, border);
		if (link->carries < 0)
			continue;
		const Flex *flex = &model->flexes[link->carries];
		const FlexWork *w = &work->flex[link->carries];
		for (int k = 0; k < flex->m; ++k)
			add_any(border->gain + (size_t)(flex->u + k) * W, w->inverse[k], -w->y[k], border);
	}
}

/* What pulls add to must be there before. */
static void clear(const CalModel *model, Border *border) {
	memset(border->gain, 0, sizeof(double) * (size_t)(model->nu * border->width));
	memset(border->gamma, 0, sizeof(double) * (size_t)(6 * border->width));
}

void LANED(border_inward)(const CalModel *model, const uint8_t *prescribed, CalWork *work, Border *border) {
	const int cut_alone = border->width == BORDER_CUT && border->pull_count == 2 && !border->pulls[0].adds;
	if (!cut_alone)
		clear(model, border);
	for (int p = 0; p < border->pull_count; ++p)
		walk(model, prescribed, work, border, &border->pulls[p]);
	if (cut_alone) {
		sum_cut(model, work, border);
	} else {
		sum_any(model, work, border);
	}
}

/* ---- outward ------------------------------------------------------------------------------------- */

INLINE double act(const double *g, int width, const double *x) {
	pack sum = pack_zero();
	for (int c = 0; c < width; c += PACK)
		sum = pack_mac(sum, pack_load(g + c), pack_load(x + c));
	return pack_sum(sum);
}

void LANED(border_push)(const CalModel *model, const double *x, const Border *border, CalWork *work) {
	const int W = border->width;
	for (int p = 0; p < border->path_count; ++p) {
		const Link *link = &model->links[border->path[p]];
		for (int k = link->u; k < link->u + link->nu; ++k)
			work->dofs[k].eps -= act(border->gain + (size_t)k * (size_t)W, W, x);
		if (link->carries < 0)
			continue;
		const Flex *flex = &model->flexes[link->carries];
		for (int k = 0; k < flex->m; ++k)
			work->flex[link->carries].y[k] += act(border->gain + (size_t)(flex->u + k) * (size_t)W, W, x);
	}
}

#endif
