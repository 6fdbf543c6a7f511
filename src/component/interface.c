// SPDX-License-Identifier: Apache-2.0
/*
 * interface.c — columns of unknown forces carried through a branch (interface.h), eight at a time.
 *
 * Each force is walked from its link to the base with its columns in registers; gains are kept. Forces of the same
 * columns from different links add up, since all of it is linear. Lambda and beta are then sums over the gains.
 */
#include "component/interface.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/flex/node_sums.h"
#include "flexbody/flex_pose.h"
#include "math/octet.h"
#include "math/trio.h"

#if CAL_LANES == 1

/* ---- outward: only what turns ------------------------------------------------------------------ */

/* Orientation and angular velocity of a link, in registers. */
typedef struct Turn {
	trio3 R;
	trio w;
} Turn;

INLINE Turn turn_of(const LinkWork *l) { return (Turn){trio3_load(&l->R), trio_load(&l->w)}; }

/* A rotation about z, after a turn about x or any other. */
INLINE Turn base_path_rotation(const Link *link, Turn base, real s, real c, real u) {
	trio3 F = base.R;
	if (LIKELY(link->pure_rx)) {
		const real ct = link->E.y.y, st = link->E.y.z;
		F.y = trio_madd(trio_times(ct, base.R.y), st, base.R.z);
		F.z = trio_sub(trio_times(ct, base.R.z), trio_times(st, base.R.y));
	} else {
		F = trio3_mul_dmat(base.R, link->E);
	}
	const trio3 R = {trio_madd(trio_times(c, F.x), s, F.y), trio_sub(trio_times(c, F.y), trio_times(s, F.x)), F.z};
	return (Turn){R, trio_madd(base.w, u, F.z)};
}

/* A node on its body: R exp([theta]x) E, and T theta_dot. The sums are kept for the sweep. */
INLINE Turn base_path_node(const Link *link, const FlexShape *shape, const Flex *flex, FlexWork *w, Turn base) {
	const trio3 R = flex->turned ? trio3_mul_dmat(base.R, flex->R) : base.R;
	const NodeSums s = flex->n == PACK ? node_sums(shape, PACK, w) : node_sums(shape, flex->n, w);
	if (link->interface & INTERFACE_SUMS)
		w->kept = s;
	const vec3 turned = cross(s.t, s.rate);
	const vec3 own = madd(madd(s.rate, s.b, turned), s.c, cross(s.t, turned));
	const trio3 P = trio3_cross(R, s.t);
	trio3 N = trio3_madd(trio3_madd(R, s.a, P), s.b, trio3_cross(P, s.t));
	if (shape->turned)
		N = trio3_mul_dmat(N, shape->E);
	return (Turn){N, trio_add(base.w, trio3_mul(R, own))};
}

void LANED(base_path_outward)(const CalModel *model, const SweepInput *in, const int32_t *links, int count,
                              CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, in->q, work);
	LANED(flexible_load)(model, in->q, in->u, in->prescribed, in->udot, work);
	Turn turn = turn_of(&work->links[-1]);
	for (int k = 0, last = -1; k < count; last = links[k++]) {
		const Link *link = &model->links[links[k]];
		LinkWork *l = &work->links[links[k]];
		if (link->parent != last)
			turn = turn_of(&work->links[link->parent]);
		if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
			turn = base_path_rotation(link, turn, work->sine[link->trig], work->cosine[link->trig], in->u[link->u]);
		} else if (link->motion == PRIMITIVE_NODE) {
			turn = base_path_node(link, &model->shapes[link->shape], &model->flexes[link->flex],
			                      &work->flex[link->flex], turn);
		} else {
			const LinkWork *base = &work->links[link->parent];
			const LinkMotion at = link_motion_load(base),
							 m = link_motion(link, (LinkBase){&at, base}, in->q, in->u, work, l);
			turn = (Turn){m.R, m.w};
			continue;
		}
		l->R = trio3_mat(turn.R);
		l->w = trio_vec(turn.w);
	}
}

/* ---- inward -------------------------------------------------------------------------------------- */

INLINE void keep_gain(double *gain, int adds, octet g) {
	if (UNLIKELY(adds))
		g = octet_add(g, octet_load(gain));
	octet_store(gain, g);
}

/* h = L^-1 s of four free modes: column j of L'^-1, less its diagonal, is row j - 1 of w->Y. */
INLINE void solve_four(const FlexWork *w, octet s[PACK]) {
	const real *N = w->Y;
	const octet s0 = s[0], s1 = s[1], s2 = s[2];
	s[1] = octet_madd(s1, N[0], s0);
	s[2] = octet_madd(octet_madd(s2, N[4], s0), N[5], s1);
	s[3] = octet_madd(octet_madd(octet_madd(s[3], N[8], s0), N[9], s1), N[10], s2);
}

/* The same for any modes, as flexible_reduce does for a force. */
static void solve_modes(const Flex *flex, const FlexWork *w, double *s) {
	const int m = flex->m, n = flex->n;
	for (int j = 0; j < m; ++j) {
		if (w->inverse[j] == 0)
			continue; // prescribed
		const octet own = octet_load(s + j * OCTET);
		for (int k = w->given ? 0 : j + 1; k < m; ++k) {
			if (k != j)
				octet_store(s + k * OCTET, octet_msub(octet_load(s + k * OCTET), w->M[j * n + k], own));
		}
	}
}

/* What the columns at a NODE, or at a head that moves, do on each mode. */
INLINE void act_on_modes(const real *columns, int m, int n, int adds, const ospatial *gamma, double *s) {
	for (int k = 0; k < m; ++k) {
		octet x = ospatial_dot(rows_mode(columns, n, k), *gamma);
		if (adds)
			x = octet_add(x, octet_load(s + k * OCTET));
		octet_store(s + k * OCTET, x);
	}
}

/* The modes of the body that a link carries, on which the columns act with s. */
INLINE void pass_modes(const CalModel *model, const Link *link, const CalWork *work, const Interface *interface,
                       const InterfaceForce *force, double *s, ospatial *gamma) {
	const Flex *flex = &model->flexes[link->flex_body];
	const FlexWork *w = &work->flex[link->flex_body];
	double *gain = interface->gain + (size_t)flex->u * (size_t)interface->width + force->column;
	if (LIKELY(flex->m == PACK && !w->given && link->motion != PRIMITIVE_FLEX)) {
		octet h[PACK] = {octet_load(s), octet_load(s + OCTET), octet_load(s + 2 * OCTET), octet_load(s + 3 * OCTET)};
		solve_four(w, h);
#pragma GCC unroll 4
		for (int k = 0; k < PACK; ++k, gain += interface->width) {
			keep_gain(gain, force->adds, h[k]);
			*gamma = ospatial_sub_outer(*gamma, rows_mode(w->K, PACK, k), h[k]);
		}
		return;
	}
	if (link->motion == PRIMITIVE_FLEX && flex->head.moves)
		act_on_modes(work->modal_columns + link->columns, flex->m, flex->n, 1, gamma, s);
	solve_modes(flex, w, s);
	for (int k = 0; k < flex->m; ++k, gain += interface->width) {
		const octet h = octet_load(s + k * OCTET);
		keep_gain(gain, force->adds, h);
		*gamma = ospatial_sub_outer(*gamma, rows_mode(w->K, flex->n, k), h);
	}
}

/* The joint of a link, and on to the parent's origin. */
INLINE void pass_joint(const Link *link, int i, const uint8_t *prescribed, const CalWork *work,
                       const Interface *interface, const InterfaceForce *force, ospatial *gamma) {
	double *gain = interface->gain + (size_t)link->u * (size_t)interface->width + force->column;
	const LinkWork *l = &work->links[i];
	if (LIKELY(link->motion == PRIMITIVE_ROTATION && (!prescribed || !prescribed[link->u]))) {
		const octet g = ospatial_dot_angular(l->R.z, *gamma); // its gain is at the parent's origin
		keep_gain(gain, force->adds, g);
		if (LIKELY(!link->zero_offset))
			*gamma = ospatial_shift(*gamma, l->r);
		*gamma = ospatial_sub_outer(*gamma, work->dofs[link->u].gain, g);
		return;
	}
	for (int k = 0; k < link->nu; ++k, gain += interface->width) {
		if (prescribed && prescribed[link->u + k]) {
			octet_store(gain, octet_zero());
			continue;
		}
		const octet g = ospatial_dot(link_column(work, link, i, k), *gamma);
		keep_gain(gain, force->adds, g);
		*gamma = ospatial_sub_outer(*gamma, work->dofs[link->u + k].gain, g);
	}
	*gamma = ospatial_shift(*gamma, l->r);
}

static void carry_inward(const CalModel *model, const uint8_t *prescribed, CalWork *work, const Interface *interface,
                         const InterfaceForce *force) {
	ospatial gamma = ospatial_load(force->gamma, OCTET);
	double *s = interface->modal;
	int known = 0; // s is that of the body at hand
	if (force->modal) {
		const int m = model->flexes[model->links[force->link].flex_body].m;
		memcpy(s, force->modal, sizeof(double) * (size_t)(OCTET * m));
		known = 1;
	}
	for (int i = force->link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		if (link->motion == PRIMITIVE_NODE) {
			const Flex *flex = &model->flexes[link->flex];
			act_on_modes(work->modal_columns + link->columns, flex->m, flex->n, 0, &gamma, s);
			gamma = ospatial_shift(gamma, work->links[i].r);
			known = 1;
			continue;
		}
		if (link->flex_body >= 0) {
			if (!known) // the columns come to B itself, past its modes
				memset(s, 0, sizeof(double) * (size_t)(OCTET * model->flexes[link->flex_body].m));
			pass_modes(model, link, work, interface, force, s, &gamma);
			known = 0;
		}
		pass_joint(link, i, prescribed, work, interface, force, &gamma);
	}
	double *out = interface->gamma + force->column;
	if (force->adds)
		gamma = ospatial_add(gamma, ospatial_load(out, interface->width));
	ospatial_store(out, interface->width, gamma);
}

/* Six rows Lambda += d g own', beta += d eps own for one dof. */
INLINE void add_dof(const double *g, const double *own, double d, double eps, octet Lambda[6], octet *beta) {
	const octet dg = octet_times(d, octet_load(own));
	*beta = octet_madd(*beta, eps, dg);
#pragma GCC unroll 6
	for (int r = 0; r < 6; ++r)
		Lambda[r] = octet_madd(Lambda[r], g[r], dg);
}

/* Six rows from r on of eight columns from c on: the sums stay in registers. */
INLINE void sum_block(const CalModel *model, const CalWork *work, int r, int c, Interface *interface) {
	const size_t W = (size_t)interface->width;
	octet Lambda[6], beta = octet_zero();
	for (int k = 0; k < 6; ++k)
		Lambda[k] = octet_zero();
	for (int p = 0; p < interface->path_count; ++p) {
		const Link *link = &model->links[interface->path[p]];
		const double *g = interface->gain + (size_t)link->u * W;
		for (int k = link->u; k < link->u + link->nu; ++k, g += W)
			add_dof(g + r, g + c, work->dofs[k].D_inv, work->dofs[k].eps, Lambda, &beta);
		if (link->flex_body < 0)
			continue;
		const Flex *flex = &model->flexes[link->flex_body];
		const FlexWork *w = &work->flex[link->flex_body];
		g = interface->gain + (size_t)flex->u * W;
		for (int k = 0; k < flex->m; ++k, g += W)
			add_dof(g + r, g + c, w->inverse[k], -w->y[k], Lambda, &beta);
	}
	for (int k = 0; k < 6; ++k)
		octet_store(interface->Lambda + (size_t)(r + k) * W + c, Lambda[k]);
	octet_store(interface->beta + c, beta);
}

/* An interface and nothing else. */
static void sum_interface(const CalModel *model, const CalWork *work, Interface *interface) {
	sum_block(model, work, 0, 0, interface);
}

/* Several, each with eight columns of its own: what is above the diagonal is what is below it. */
static void sum_points(const CalModel *model, const CalWork *work, Interface *interface) {
	const int W = interface->width;
	for (int r = 0; r < W; r += OCTET) {
		for (int c = 0; c < r; c += OCTET) {
			sum_block(model, work, r, c, interface);
			for (int i = 0; i < 6; ++i)
				for (int k = 0; k < 6; ++k)
					interface->Lambda[(c + k) * W + r + i] = interface->Lambda[(r + i) * W + c + k];
		}
		sum_block(model, work, r, r, interface);
	}
}

static int is_all_zero(const double *g) {
	int any = 0;
	for (int k = 0; k < OCTET; ++k)
		any |= g[k] != 0;
	return !any;
}

/* Eight rows of Lambda[..][width] += d g own'. */
INLINE void add_block(const double *g, double d, octet own, int width, double *Lambda) {
	for (int r = 0; r < OCTET; ++r, Lambda += width) {
		if (g[r] != 0)
			octet_store(Lambda, octet_madd(octet_load(Lambda), d * g[r], own));
	}
}

/* The same for any columns, eight at a time; those of loops that do not pass the link of the dof are zero. */
static void add_any(const double *g, double d, double eps, Interface *interface) {
	const int W = interface->width;
	for (int c = 0; c < W; c += OCTET) {
		if (is_all_zero(g + c))
			continue;
		const octet own = octet_load(g + c);
		octet_store(interface->beta + c, octet_madd(octet_load(interface->beta + c), eps, octet_times(d, own)));
		for (int r = 0; r < W; r += OCTET) {
			if (!is_all_zero(g + r))
				add_block(g + r, d, own, W, interface->Lambda + (size_t)r * (size_t)W + c);
		}
	}
}

static void sum_any(const CalModel *model, const CalWork *work, Interface *interface) {
	const size_t W = (size_t)interface->width;
	memset(interface->Lambda, 0, sizeof(double) * W * W);
	memset(interface->beta, 0, sizeof(double) * W);
	for (int p = 0; p < interface->path_count; ++p) {
		const Link *link = &model->links[interface->path[p]];
		for (int k = link->u; k < link->u + link->nu; ++k)
			add_any(interface->gain + (size_t)k * W, work->dofs[k].D_inv, work->dofs[k].eps, interface);
		if (link->flex_body < 0)
			continue;
		const Flex *flex = &model->flexes[link->flex_body];
		const FlexWork *w = &work->flex[link->flex_body];
		for (int k = 0; k < flex->m; ++k)
			add_any(interface->gain + (size_t)(flex->u + k) * W, w->inverse[k], -w->y[k], interface);
	}
}

/* What forces add to must be there before. */
static void clear(const CalModel *model, Interface *interface) {
	memset(interface->gain, 0, sizeof(double) * (size_t)(model->nu * interface->width));
	memset(interface->gamma, 0, sizeof(double) * (size_t)(6 * interface->width));
}

void LANED(interface_inward)(const CalModel *model, const uint8_t *prescribed, CalWork *work, Interface *interface) {
	const int cut_alone = interface->width == INTERFACE_WIDTH && interface->force_count == 1;
	if (!cut_alone)
		clear(model, interface);
	for (int p = 0; p < interface->force_count; ++p)
		carry_inward(model, prescribed, work, interface, &interface->forces[p]);
	if (cut_alone) {
		sum_interface(model, work, interface);
	} else if (interface->points) {
		sum_points(model, work, interface);
	} else {
		sum_any(model, work, interface);
	}
}

/* ---- outward ------------------------------------------------------------------------------------- */

INLINE pack products(const double *g, int width, const double *x) {
	octet sum = octet_mul(octet_load(g), octet_load(x));
	for (int c = OCTET; c < width; c += OCTET)
		sum = octet_add(sum, octet_mul(octet_load(g + c), octet_load(x + c)));
	return octet_halves(sum);
}

INLINE double act_on_dofs(const double *g, int width, const double *x) { return pack_sum(products(g, width, x)); }

void LANED(interface_apply)(const CalModel *model, const double *x, const Interface *interface, CalWork *work) {
	const int W = interface->width;
	for (int p = 0; p < interface->path_count; ++p) {
		const Link *link = &model->links[interface->path[p]];
		for (int k = link->u; k < link->u + link->nu; ++k)
			work->dofs[k].eps -= act_on_dofs(interface->gain + (size_t)k * (size_t)W, W, x);
		if (link->flex_body < 0)
			continue;
		const Flex *flex = &model->flexes[link->flex_body];
		const double *gain = interface->gain + (size_t)flex->u * (size_t)W;
		real *y = work->flex[link->flex_body].y;
		if (flex->m == PACK) {
			const pack sums = pack_sums_row(products(gain, W, x), products(gain + W, W, x),
			                                products(gain + 2 * W, W, x), products(gain + 3 * W, W, x));
			pack_store(y, pack_add(pack_load(y), sums));
			continue;
		}
		for (int k = 0; k < flex->m; ++k)
			y[k] += act_on_dofs(gain + k * W, W, x);
	}
}

#endif
