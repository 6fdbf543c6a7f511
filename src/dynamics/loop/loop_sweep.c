// SPDX-License-Identifier: Apache-2.0
/*
 * loop_sweep.c — loops in the sweeps of forward dynamics, O(n + m) [THEORY 5.3, (5.7)-(5.10)].
 *
 * A constraint equation acts with the wrench gamma lambda on its ends. On every link outboard of where it closes it is
 * carried inwards like any force, but with lambda not known yet:
 *   p = S'gamma,  Lambda += p p'/D,  beta += p eps/D,  gamma^a = X'(gamma - K p)
 * so that on each link  (its acceleration) = beta + gamma'A + Lambda lambda.  Where both ends have come together
 * nothing else can change it: it is eliminated there (loop_elimination.c), which changes the inertia and the force
 * of the link, and the sweep continues as if the loop were a part of it. Outward, lambda follows from A of that
 * link, and outboard of it eps += p lambda. Modes are columns like those of a joint: h = L^-1(Phi'gamma),
 * Lambda += h'h/D.
 *
 * What the wrench of an independent equation could not move on the path of its loop, neither side can move: then its two
 * ends cancel where it closes. So no equation is ever left over to be passed on.
 *
 * Gains that are nothing but round-off are made zero: a planar mechanism in space has equations that are exactly redundant.
 * Equations are side by side, a pack of them at a time.
 *
 * p, h, Lambda and its factors depend on positions and masses alone. A sweep at the positions of the last one, as in a
 * forward dynamics after a projection, a turn of refinement or a product with M_c, finds them in place (held): what is
 * left is beta and the forces, with the same bits.
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

enum { STRIDE = LOOP_STRIDE };

INLINE const LoopLink *link_loops(const CalWork *work, const Link *link) {
	return &work->loops.plan->links[link->loop_link];
}

INLINE double size_of(vec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

/* ---- before the inward sweep ------------------------------------------------------------------------ */

/* What a wrench on a node does on the modes that move it, and what of that would be round-off. */
static void load_modal_gains(const CalModel *model, const Loop *loop, const LoopEnds *ends, int side, vec3 arm,
                             CalWork *work) {
	const LoopWork *w = &work->loops;
	const NodePlace place = kinematics_node(model, work, side ? loop->minus : loop->plus);
	const vec3 from_node = sub(arm, place.c);
	for (int k = 0; k < place.flex->m; ++k) {
		const spatial column = kinematics_node_column(&place, k);
		const int at = ends->modal[side] + k * ends->gamma_width[side];
		for (int r = 0; r < loop->rows; ++r) {
			const double gain = spatial_dot(column, force_shift(w->row[loop->row + r].direction, from_node));
			w->modal[at + r] += side ? -gain : gain;
			w->modal_tiny[at + r] += size_of(column.a) * w->tiny[ends->row_offset + r] +
			                         size_of(column.l) * w->tiny_slide[ends->row_offset + r];
		}
	}
}

INLINE void load_end_wrenches(const CalModel *model, const Loop *loop, const LoopEnds *ends, int side, vec3 point,
                              CalWork *work) {
	const LoopWork *w = &work->loops;
	if (ends->gamma[side] < 0)
		return;
	const int node = side ? loop->minus : loop->plus, n = ends->gamma_width[side];
	const vec3 arm = sub(point, work->position[model->nodes[node].link]);
	const double sign = side ? -1 : 1;
	const int added = side && ends->shared;
	double *gamma = w->gamma + ends->gamma[side];
	for (int r = 0; r < loop->rows; ++r, ++gamma) {
		spatial f = force_shift(w->row[loop->row + r].direction, arm);
		f = (spatial){scale(sign, f.a), scale(sign, f.l)};
		if (UNLIKELY(added))
			f = spatial_add(f,
			                (spatial){{gamma[0], gamma[n], gamma[2 * n]}, {gamma[3 * n], gamma[4 * n], gamma[5 * n]}});
		gamma[0] = f.a.x, gamma[n] = f.a.y, gamma[2 * n] = f.a.z;
		gamma[3 * n] = f.l.x, gamma[4 * n] = f.l.y, gamma[5 * n] = f.l.z;
	}
	if (UNLIKELY(ends->modal[side] >= 0))
		load_modal_gains(model, loop, ends, side, arm, work);
}

/* What of the gains of each equation is nothing but round-off: lengths do not count beside angles. */
INLINE void bound_gains(const Loop *loop, const LoopEnds *ends, vec3 point, CalWork *work, LoopScale *scale) {
	const LoopWork *w = &work->loops;
	const vec3 origin = ends->place >= 0 ? work->position[ends->place] : vec_zero();
	const double lever = ends->reach + size_of(sub(point, origin));
	for (int r = 0; r < loop->rows; ++r) {
		const spatial *d = &w->row[loop->row + r].direction;
		const double force = LOOP_ROUND_OFF * size_of(d->l);
		w->tiny[ends->row_offset + r] = LOOP_ROUND_OFF * size_of(d->a) + lever * force;
		w->tiny_slide[ends->row_offset + r] = force;
		w->beta[ends->row_offset + r] = w->z[loop->row + r];
	}
	scale->turn = scale->both = scale->arm = scale->most = 0;
	scale->least = INFINITY;
	scale->modes = 0;
}

/* The same factors: only forces are new. */
static void clear_forces(const CalModel *model, LoopWork *w) {
	const LoopKept *kept = &w->kept;
	w->doubtful = kept->doubtful, w->uneven = kept->uneven;
	w->hopeless = kept->hopeless, w->unsatisfied = kept->unsatisfied;
	w->error = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		for (int r = 0; r < model->loops[l].rows; ++r)
			w->beta[w->plan->ends[l].row_offset + r] = w->z[model->loops[l].row + r];
	}
}

static void clear_loops(const CalModel *model, CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopSchedule *plan = w->plan;
	const size_t number = sizeof(double);
	w->doubtful = w->hopeless = w->unsatisfied = w->motion_known = 0;
	w->uneven = model->light_loops > 0;
	w->error = 0;
	if (model->any_coupling) // they begin without any wrench; others set theirs
		memset(w->gamma, 0, number * (size_t)plan->gamma_count);
	memset(w->modal, 0, number * (size_t)plan->modal_count);
	memset(w->modal_tiny, 0, number * (size_t)plan->modal_count);
	memset(w->natural, 0, number * (size_t)plan->row_offset_count);
	memset(w->own, 0, number * LOOP_BLOCK * (size_t)model->loop_count);
	memset(w->taken, 0, number * LOOP_BLOCK * (size_t)model->loop_count);
	memset(w->block, 0, number * LOOP_BLOCK * (size_t)plan->block_count);
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const LoopEnds *ends = &plan->ends[l];
		const vec3 point = vec(w->point[l].x, w->point[l].y, w->point[l].z);
		bound_gains(loop, ends, point, work, &w->scale[l]);
		load_end_wrenches(model, loop, ends, 0, point, work);
		load_end_wrenches(model, loop, ends, 1, point, work);
		for (int t = 0; t < loop->term_count; ++t) {
			if (ends->term[t] >= 0)
				w->modal[ends->term[t]] += loop->term[t].factor;
		}
	}
}

/* ---- inward ------------------------------------------------------------------------------------------- */

/* block += d p q'; zeros are common: equations of a planar mechanism that keep it in its plane do nothing. */
INLINE void add_block(double d, int rows, const double *p, int width, const double *q, double *block) {
	for (int r = 0; r < rows; ++r) {
		const double x = d * p[r];
		if (x == 0)
			continue;
		double *to = block + r * STRIDE;
		pack_store(to, pack_madd(pack_load(to), x, pack_load(q)));
		if (width > PACK)
			pack_store(to + PACK, pack_madd(pack_load(to + PACK), x, pack_load(q + PACK)));
	}
}

/* What one free column accelerates the equations by: gains p of the link's loops from `first` on. */
INLINE void add_force(const LoopLink *at, int first, const double *p, double d, double eps, LoopWork *w) {
	const LoopHere *here = w->plan->here + at->here;
	const double *gain = p - here[first].first;
	for (int k = first; k < at->count; ++k) {
		double *beta = w->beta + here[k].row_offset;
		for (int c = 0; c < here[k].width; c += PACK)
			pack_store(beta + c, pack_madd(pack_load(beta + c), d * eps, pack_load(gain + here[k].first + c)));
	}
}

/* The same, and what it lets their compliance have. */
INLINE void add_column(const LoopLink *at, int first, const LoopPair *pairs, int pair_count, const double *p, double d,
                       double eps, LoopWork *w) {
	const LoopHere *here = w->plan->here + at->here;
	const double *gain = p - here[first].first;
	add_force(at, first, p, d, eps, w);
	for (int k = first; k < at->count; ++k) {
		const double *own = gain + here[k].first;
		add_block(d, here[k].rows, own, here[k].width, own, w->own + LOOP_BLOCK * here[k].loop);
	}
	for (int k = 0; k < pair_count; ++k) {
		const LoopHere *a = &here[pairs[k].a], *b = &here[pairs[k].b];
		add_block(d, a->rows, gain + a->first, b->width, gain + b->first, w->block + LOOP_BLOCK * pairs[k].block);
	}
}

/*
 * One free column of a joint that turns and slides: its gain for an equation (n, f) is at most turn |n| + lever |f| with the
 * lever turn |arm| + slide. Of the sum of their squares over D only three sums are needed.
 */
INLINE void add_natural(const LoopLink *at, double turn, double slide, double d, const CalWork *work) {
	const LoopWork *w = &work->loops;
	const LoopHere *here = w->plan->here + at->here;
	const vec3 *origin = &work->position[at->link];
	for (int j = at->closing; j < at->count; ++j) {
		const vec3 *point = &w->point[here[j].loop];
		LoopScale *scale = &w->scale[here[j].loop];
		const double arm = fabs(point->x - origin->x) + fabs(point->y - origin->y) + fabs(point->z - origin->z);
		const double lever = turn * arm + slide, longest = turn * w->plan->ends[here[j].loop].reach + slide;
		const double mobility = d * longest * longest;
		scale->most = mobility > scale->most ? mobility : scale->most;
		scale->least = mobility < scale->least ? mobility : scale->least;
		scale->turn += d * turn * turn;
		scale->both += d * turn * lever;
		scale->arm += d * lever * lever;
	}
}

/* What of the gains of a column that turns and slides is round-off, for a pack of equations. */
INLINE pack tiny_gains(const LoopWork *w, int slot, double turn, double slide) {
	return pack_madd(pack_times(turn, pack_load(w->tiny + slot)), slide, pack_load(w->tiny_slide + slot));
}

/* What the wrenches of one loop do on a mode with this column; rows of h and tiny at its place. */
INLINE void act_on_mode(const LoopHere *here, spatial column, const double *gamma, int n, const LoopWork *w, int at) {
	const double turn = size_of(column.a), slide = size_of(column.l);
	for (int c = 0; c < here->width; c += PACK) {
		const pack tiny = tiny_gains(w, here->row_offset + c, turn, slide);
		const pack gain = pspatial_dot(column, pspatial_load(gamma + c, n));
		pack_store(w->modal + at + c, pack_add(pack_load(w->modal + at + c), gain));
		pack_store(w->modal_tiny + at + c, pack_add(pack_load(w->modal_tiny + at + c), tiny));
	}
}

/* The head moves with the modes: what the equations of a link do on them there. */
static void act_on_head(const CalModel *model, const Link *link, const LoopLink *at, const CalWork *work) {
	const LoopWork *w = &work->loops;
	const LoopHere *here = w->plan->here + at->here;
	for (int k = 0; k < model->flexes[link->flex_body].m; ++k) {
		const spatial column = flexible_column(model, link, work, k);
		for (int j = 0; j < at->count; ++j)
			act_on_mode(&here[j], column, w->gamma + at->gamma + here[j].first, at->width, w,
			            at->modal + k * at->width + here[j].first);
	}
}

/* h = L^-1 modal for all equations of a link, as flexible_reduce does for a force; what is left of gamma. */
static void reduce_rows(const Flex *flex, const FlexWork *f, const LoopLink *at, const LoopWork *w) {
	const int m = flex->m, n = flex->n, width = at->width;
	double *h = w->modal + at->modal, *gamma = w->gamma + at->gamma;
	const double *tiny = w->modal_tiny + at->modal;
	for (int i = 0; i < m * width; i += PACK)
		pack_store(h + i, pack_unless_tiny(pack_load(h + i), pack_load(tiny + i)));
	for (int j = 0; j < m; ++j) {
		if (f->inverse[j] == 0)
			continue; // prescribed
		for (int k = f->given ? 0 : j + 1; k < m; ++k) {
			const double L = f->M[j * n + k];
			for (int c = 0; c < width; c += PACK)
				pack_store(h + k * width + c, pack_msub(pack_load(h + k * width + c), L, pack_load(h + j * width + c)));
		}
	}
	for (int k = 0; k < m; ++k) {
		const spatial K = rows_mode(f->K, n, k);
		for (int c = 0; c < width; c += PACK) {
			const pspatial left = pspatial_sub_outer(pspatial_load(gamma + c, width), K, pack_load(h + k * width + c));
			pspatial_store(gamma + c, width, left);
		}
	}
}

/* The same as add_natural() for all modes. */
static void add_natural_modes(const Flex *flex, const FlexWork *f, const LoopLink *at, const LoopWork *w) {
	const LoopHere *here = w->plan->here + at->here;
	for (int j = 0; j < at->count; ++j)
		w->scale[here[j].loop].modes = 1;
	for (int k = 0; k < flex->m; ++k) {
		const double *tiny = w->modal_tiny + at->modal + k * at->width;
		for (int j = 0; j < at->count; ++j) {
			for (int c = 0; c < here[j].width; c += PACK) {
				const pack x = pack_load(tiny + here[j].first + c);
				double *natural = w->natural + here[j].row_offset + c;
				pack_store(natural, pack_madd(pack_load(natural), f->inverse[k], pack_mul(x, x)));
			}
		}
	}
}

/* The modes of the body that a link carries: columns like those of a joint, with eps = -y. */
static void pass_modes(const CalModel *model, const Link *link, const LoopLink *at, CalWork *work) {
	LoopWork *w = &work->loops;
	const Flex *flex = &model->flexes[link->flex_body];
	const FlexWork *f = &work->flex[link->flex_body];
	if (link->motion == PRIMITIVE_FLEX && flex->head.moves)
		act_on_head(model, link, at, work);
	add_natural_modes(flex, f, at, w);
	reduce_rows(flex, f, at, w);
	for (int k = 0; k < flex->m; ++k) {
		if (f->inverse[k] != 0)
			add_column(at, 0, w->plan->pairs + at->modal_pairs, at->modal_pair_count,
			           w->modal + at->modal + k * at->width, f->inverse[k], -f->y[k], w);
	}
}

/* The same with h in place. */
static void pass_modal_forces(const CalModel *model, const Link *link, const LoopLink *at, CalWork *work) {
	const FlexWork *f = &work->flex[link->flex_body];
	for (int k = 0; k < model->flexes[link->flex_body].m; ++k) {
		if (f->inverse[k] != 0)
			add_force(at, 0, work->loops.modal + at->modal + k * at->width, f->inverse[k], -f->y[k], &work->loops);
	}
}

static void pass_modes_if_any(const CalModel *model, const Link *link, const LoopLink *at, CalWork *work) {
	if (at->modal < 0)
		return;
	if (work->loops.held)
		pass_modal_forces(model, link, at, work);
	else
		pass_modes(model, link, at, work);
}

void LANED(loop_close)(const CalModel *model, const Link *link, CalWork *work, ArticulatedBody *total) {
	const LoopLink *at = link_loops(work, link);
	pass_modes_if_any(model, link, at, work);
	for (int k = at->steps; k < at->steps + at->step_count; ++k)
		LANED(loop_eliminate)(model, &work->loops.plan->steps[k], work, &total->M, &total->b);
}

/* Adds the factors of couplings that name a dof of the link's joint. */
static void add_terms(const CalModel *model, const LoopWork *w, const LoopLink *at, int u, double *p) {
	const LoopHere *here = w->plan->here + at->here;
	for (int k = at->closing; k < at->count; ++k) {
		const Loop *loop = &model->loops[here[k].loop];
		for (int t = 0; t < loop->term_count; ++t) {
			if (loop->term[t].u == u)
				p[here[k].first - at->open] += loop->term[t].factor;
		}
	}
}

/* Wrenches for the parent link: the first that come, or with those that are there. */
INLINE void pass_to_parent(const LoopHere *here, double *to, pspatial wrenches) {
	const pspatial there = here->sets ? wrenches : pspatial_add(pspatial_load(to, here->to_width), wrenches);
	pspatial_store(to, here->to_width, there);
}

/* Any joint, one column after the other; K is at the link's own origin. */
static void pass_joint(const CalModel *model, const Link *link, int i, const LoopLink *at, const uint8_t *prescribed,
                       CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopHere *here = w->plan->here + at->here;
	const int n = at->width, open = n - at->open;
	double *gamma = w->gamma + at->gamma + at->open;
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		const DofWork *dof = &work->dofs[u];
		const spatial S = link_column(work, link, i, k);
		const double turn = size_of(S.a), slide = size_of(S.l);
		double *p = w->gain + at->gains + k * open;
		for (int j = at->closing; j < at->count; ++j) {
			for (int c = 0; c < here[j].width; c += PACK) {
				const pack tiny = tiny_gains(w, here[j].row_offset + c, turn, slide);
				const int to = here[j].first - at->open + c;
				pack_store(p + to, pack_unless_tiny(pspatial_dot(S, pspatial_load(gamma + to, n)), tiny));
			}
		}
		if (UNLIKELY(model->any_coupling))
			add_terms(model, w, at, u, p);
		if (prescribed && prescribed[u])
			continue;
		add_column(at, at->closing, w->plan->pairs + at->joint_pairs, at->joint_pair_count, p, dof->D_inv, dof->eps, w);
		add_natural(at, turn, slide, dof->D_inv, work);
		for (int c = 0; c < open; c += PACK)
			pspatial_store(gamma + c, n, pspatial_sub_outer(pspatial_load(gamma + c, n), dof->gain, pack_load(p + c)));
	}
}

/* A free rotation: its K is at the parent's origin (articulated.c). */
static void pass_rotation(const CalModel *model, const Link *link, const LinkWork *l, const LoopLink *at,
                          CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopHere *here = w->plan->here + at->here;
	const DofWork *dof = &work->dofs[link->u];
	const int n = at->width;
	const double *gamma = w->gamma + at->gamma;
	double *p = w->gain + at->gains - at->open;
	for (int j = at->closing; j < at->count; ++j) {
		for (int c = 0; c < here[j].width; c += PACK) {
			const pack tiny = pack_load(w->tiny + here[j].row_offset + c);
			const pack gain = pvec_dot(l->R.z, pvec_load(gamma + here[j].first + c, n));
			pack_store(p + here[j].first + c, pack_unless_tiny(gain, tiny));
		}
	}
	if (UNLIKELY(model->any_coupling))
		add_terms(model, w, at, link->u, p + at->open);
	add_column(at, at->closing, w->plan->pairs + at->joint_pairs, at->joint_pair_count, p + at->open, dof->D_inv,
	           dof->eps, w);
	add_natural(at, 1, 0, dof->D_inv, work);
	for (int j = at->closing; j < at->count && link->parent >= 0; ++j) {
		double *to = w->gamma + here[j].to;
		for (int c = 0; c < here[j].width; c += PACK) {
			const pspatial moved = pforce_shift(pspatial_load(gamma + here[j].first + c, n), l->r);
			const pspatial left = pspatial_sub_outer(moved, dof->gain, pack_load(p + here[j].first + c));
			pass_to_parent(&here[j], to + c, left);
		}
	}
}

/* Wrenches of open loops on a node act on the modes of the body that it belongs to. */
static void act_on_modes(const CalModel *model, const Link *link, const LoopLink *at, const CalWork *work) {
	const LoopWork *w = &work->loops;
	const LoopHere *here = w->plan->here + at->here;
	const LoopLink *parent = link_loops(work, &model->links[link->parent]);
	for (int k = 0; k < model->flexes[link->flex].m; ++k) {
		const spatial column = flexible_column(model, link, work, k);
		for (int j = at->closing; j < at->count; ++j)
			act_on_mode(&here[j], column, w->gamma + at->gamma + here[j].first, at->width, w,
			            parent->modal + k * parent->width + here[j].to - parent->gamma);
	}
}

/* Any joint, with p in place. */
static void pass_joint_forces(const Link *link, const LoopLink *at, const uint8_t *prescribed, CalWork *work) {
	for (int k = 0; k < link->nu; ++k) {
		const DofWork *dof = &work->dofs[link->u + k];
		const double *p = work->loops.gain + at->gains + k * (at->width - at->open);
		if (!prescribed || !prescribed[link->u + k])
			add_force(at, at->closing, p, dof->D_inv, dof->eps, &work->loops);
	}
}

void LANED(loop_pass)(const CalModel *model, const Link *link, int i, const uint8_t *prescribed, CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopLink *at = link_loops(work, link);
	const LoopHere *here = w->plan->here + at->here;
	if (at->count == at->closing)
		return;
	if (w->held) {
		pass_joint_forces(link, at, prescribed, work);
		return;
	}
	if (LIKELY(link->motion == PRIMITIVE_ROTATION && (!prescribed || !prescribed[link->u]))) {
		pass_rotation(model, link, &work->links[i], at, work);
		return;
	}
	pass_joint(model, link, i, at, prescribed, work);
	if (link->motion == PRIMITIVE_NODE)
		act_on_modes(model, link, at, work);
	for (int j = at->closing; j < at->count && link->parent >= 0; ++j) {
		const double *gamma = w->gamma + at->gamma + here[j].first;
		double *to = w->gamma + here[j].to;
		for (int c = 0; c < here[j].width; c += PACK) {
			const pspatial moved = pforce_shift(pspatial_load(gamma + c, at->width), work->links[i].r);
			pass_to_parent(&here[j], to + c, moved);
		}
	}
}

/* What loops do in the inward sweep, where they have no part in it. */
static void pass_on_ground(const CalModel *model, const SweepInput *in, CalWork *work) {
	const LoopSchedule *plan = work->loops.plan;
	for (int k = plan->link_count - 1; k >= 0; --k) {
		const LoopLink *at = &plan->links[k];
		const Link *link = &model->links[at->link];
		pass_modes_if_any(model, link, at, work);
		LANED(loop_pass)(model, link, at->link, in->prescribed, work);
	}
}

/* The same in the outward sweep. */
static void apply_on_ground(const CalModel *model, CalWork *work) {
	const LoopSchedule *plan = work->loops.plan;
	for (int k = 0; k < plan->link_count; ++k) {
		const Link *link = &model->links[plan->links[k].link];
		LANED(loop_apply)(model, link, work);
		if (plan->links[k].modal >= 0)
			LANED(loop_release)(model, link, work, NULL);
	}
}

/* One sweep inward; again: the poses are there, but flexible bodies were eliminated in place. */
static int sweep_inward(const CalModel *model, const SweepInput *in, int again, CalWork *work) {
	const LoopSchedule *plan = work->loops.plan;
	const int within = in->loops->within;
	int failed_dof = -1;
	if (again && within)
		LANED(forward_outward_in)(model, work->gravity, in, work);
	if (work->loops.held)
		clear_forces(model, &work->loops);
	else
		clear_loops(model, work);
	if (!again || within)
		failed_dof = LANED(forward_inward)(model, in, work);
	if (!within)
		pass_on_ground(model, in, work);
	for (int k = plan->ground_step; k < plan->step_count; ++k)
		LANED(loop_eliminate)(model, &plan->steps[k], work, NULL, NULL);
	return failed_dof;
}

/* ---- factors of the last sweep ------------------------------------------------------------------------ */

/* Branches get inertias from others, components eliminate modes one by one; implicit steps and links of users add to M. */
static int can_keep(const CalModel *model, const SweepInput *in, const CalWork *work) {
	if (work->loops.late || in->base || in->arriving || in->columns || in->rotor || work->implicit_step != 0)
		return 0;
	for (int f = 0; f < model->flex_count; ++f) {
		if (model->flexes[f].ops)
			return 0;
	}
	return 1;
}

static int have_same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* By the bits of positions and directions: equations without position take no part in some sweeps. */
static int are_in_place(const CalModel *model, const SweepInput *in, const LoopWork *w) {
	const LoopKept *kept = &w->kept;
	if (kept->isa != model->isa || kept->singular != w->singular || kept->hold_rank != w->hold_rank ||
	    kept->prescribes != (in->prescribed != NULL) || kept->accelerates != (in->udot != NULL) ||
	    !have_same_bits(kept->q, in->q, sizeof(double) * (size_t)model->nq) ||
	    (in->prescribed && !have_same_bits(kept->prescribed, in->prescribed, (size_t)model->nu)))
		return 0;
	for (int r = 0; r < model->row_count; ++r) {
		if (!have_same_bits(&kept->direction[r], &w->row[r].direction, sizeof(spatial)))
			return 0;
	}
	return 1;
}

static void keep_factors(const CalModel *model, const SweepInput *in, LoopWork *w) {
	LoopKept *kept = &w->kept;
	kept->valid = 1;
	kept->isa = model->isa;
	kept->singular = w->singular, kept->hold_rank = w->hold_rank;
	kept->prescribes = in->prescribed != NULL, kept->accelerates = in->udot != NULL;
	kept->doubtful = w->doubtful, kept->uneven = w->uneven;
	kept->hopeless = w->hopeless, kept->unsatisfied = w->unsatisfied;
	memcpy(kept->q, in->q, sizeof(double) * (size_t)model->nq);
	if (in->prescribed)
		memcpy(kept->prescribed, in->prescribed, (size_t)model->nu);
	for (int r = 0; r < model->row_count; ++r)
		kept->direction[r] = w->row[r].direction;
}

/* With factors that are made here; in the end they are those of the plan, or not kept. */
static int factor_inward(const CalModel *model, const SweepInput *in, CalWork *work) {
	LoopWork *w = &work->loops;
	w->kept.valid = 0;
	int failed_dof = sweep_inward(model, in, 0, work);
	if (UNLIKELY(w->unsatisfied || failed_dof >= 0) && w->plan->late && (w->plan->late_first || failed_dof >= 0)) {
		w->plan = w->plan->late;
		failed_dof = sweep_inward(model, in, 1, work);
	}
	const int wanted =
		in->u == w->rest || w->doubtful || w->uneven; // for the next evaluation or product, or for refinement
	if (wanted && failed_dof < 0 && w->plan == model->loop_schedule && can_keep(model, in, work))
		keep_factors(model, in, w);
	return failed_dof;
}

int LANED(loop_inward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	LoopWork *w = &work->loops;
	w->plan = UNLIKELY(w->late) ? model->loop_schedule->late : model->loop_schedule;
	w->whole = work;
	w->held = w->kept.valid && can_keep(model, in, work) && are_in_place(model, in, w);
	int failed_dof = w->held ? sweep_inward(model, in, 0, work) : factor_inward(model, in, work);
	if (LANED(loop_reconcile)(model, w, w->z)) {
		w->held = w->kept.valid;
		const int failed = sweep_inward(model, in, 1, work);
		failed_dof = in->loops->within ? failed : failed_dof;
	}
	w->held = 0;
	for (int k = w->plan->step_count - 1; k >= w->plan->ground_step; --k)
		LANED(loop_resolve)(&w->plan->steps[k], w, NULL);
	if (!in->loops->within)
		apply_on_ground(model, work);
	return failed_dof;
}

/* ---- outward -------------------------------------------------------------------------------------------- */

void LANED(loop_apply)(const CalModel *model, const Link *link, CalWork *work) {
	(void)model;
	const LoopWork *w = &work->loops;
	const LoopLink *at = link_loops(work, link);
	const LoopHere *here = w->plan->here + at->here;
	for (int k = 0; k < link->nu; ++k) {
		const double *p = w->gain + at->gains + k * (at->width - at->open) - at->open;
		pack sum = pack_zero();
		for (int j = at->closing; j < at->count; ++j) {
			for (int c = 0; c < here[j].width; c += PACK)
				sum = pack_mac(sum, pack_load(p + here[j].first + c), pack_load(w->force + here[j].row_offset + c));
		}
		work->dofs[link->u + k].eps += pack_sum(sum);
	}
}

void LANED(loop_release)(const CalModel *model, const Link *link, CalWork *work, const spatial *A) {
	LoopWork *w = &work->loops;
	const LoopLink *at = link_loops(work, link);
	const LoopHere *here = w->plan->here + at->here;
	for (int k = at->steps + at->step_count - 1; k >= at->steps; --k)
		LANED(loop_resolve)(&w->plan->steps[k], w, A);
	for (int k = 0; at->modal >= 0 && k < model->flexes[link->flex_body].m; ++k) {
		const double *h = w->modal + at->modal + k * at->width;
		pack sum = pack_zero();
		for (int j = 0; j < at->count; ++j) {
			for (int c = 0; c < here[j].width; c += PACK)
				sum = pack_mac(sum, pack_load(h + here[j].first + c), pack_load(w->force + here[j].row_offset + c));
		}
		work->flex[link->flex_body].y[k] -= pack_sum(sum);
	}
}

#endif
