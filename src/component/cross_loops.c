// SPDX-License-Identifier: Apache-2.0
/*
 * cross_loops.c — loops that span branches: their frames, their columns, their multipliers.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "component/cross_loops.h"
#include "dynamics/tree/kinematics.h"
#include "loop/loop_type.h"
#include "math/min_norm.h"
#include "math/octet.h"

/* A pivot below this part of what its row came with is redundant; one that is nothing beside all is round-off of the
 * joins: as small as a row next to a singular position is. */
static const double DEPENDENT = 1e-11, SINGULAR = LOOP_SINGULAR;
static const double ROUND_OFF = 1e-15; // of a pivot, as part of its row's compliance
// with less left, round-off of others may be a good part of what is (loop_elimination.c)
static const double DOUBTFUL = 1e-4;
static const double JOINED = 1e-5; // of what joins take away: a pivot below has lost digits to their round-off

/* ---- life ----------------------------------------------------------------------------------------- */

static void place_side(const PieceMap *p, const Loop *loop, int side, CrossLoopEnd *end) {
	const int node = side ? loop->minus : loop->plus, frame_node = side ? loop->node_b : loop->node_a;
	end->node_branch = node >= 0 ? p->node[node].piece : -1;
	end->node = end->node_branch >= 0 ? p->node[node].own : -1;
	end->frame_loop = *loop;
	LoopSide *own = &end->frame_loop.side[side];
	end->frame_branch = -1;
	if (own->link >= 0) {
		end->frame_branch = p->link[own->link].piece;
		own->link = p->link[own->link].own;
	} else if (own->moves) {
		end->frame_branch = p->node[frame_node].piece;
	}
	const int own_node = frame_node >= 0 && end->frame_branch >= 0 ? p->node[frame_node].own : -1;
	end->frame_loop.node_a = end->frame_loop.node_b = own_node;
}

/* Links between an end of a loop and the ground are on its path, unless they are so for both ends. */
static void mark_path(const CalModel *model, int node, uint8_t bit, uint8_t *mark) {
	for (int i = node < 0 ? -1 : model->nodes[node].link; i >= 0; i = model->links[i].parent)
		mark[i] ^= bit;
}

/* Links whose joints move rows, branch by branch. */
static void list_paths(const CalModel *model, const PieceMap *piece_map, int branches, uint8_t *mark, CrossLoops *r) {
	enum { HERE = 1, ANY = 2 };
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		mark_path(model, loop->plus, HERE, mark);
		mark_path(model, loop->minus, HERE, mark);
		for (int i = 0; i < model->link_count; ++i)
			mark[i] = mark[i] ? ANY : 0;
	}
	for (int i = 0; i < model->link_count; ++i)
		r->path_first[piece_map->link[i].piece + 1] += mark[i] != 0;
	for (int k = 0; k < branches; ++k)
		r->path_first[k + 1] += r->path_first[k];
	const int total = r->path_first[branches];
	for (int i = model->link_count - 1; i >= 0; --i) { // from the back: the ends of runs move to their beginnings
		if (mark[i])
			r->path[--r->path_first[piece_map->link[i].piece + 1]] = piece_map->link[i].own;
	}
	memmove(r->path_first, r->path_first + 1, (size_t)branches * sizeof *r->path_first);
	r->path_first[branches] = total;
}

static bool has_end_on(const CrossLoop *loop, int branch) {
	bool has = false;
	for (int side = 0; side < 2; ++side)
		has |= loop->side[side].node_branch == branch || loop->side[side].frame_branch == branch;
	return has;
}

/* Whether a branch is another one, or outboard of it. */
static bool is_outboard(const Partition *partition, int branch, int of) {
	while (branch > of)
		branch = partition->pieces[branch].parent;
	return branch == of;
}

static void list_outboard(const Partition *partition, CrossLoops *r) {
	int made = 0;
	for (int b = 0; b < partition->count; ++b) {
		r->outboard_first[b] = made;
		for (int l = 0; l < r->loops; ++l) {
			bool any = false;
			for (int k = b; k < partition->count && !any; ++k)
				any = has_end_on(&r->list[l], k) && is_outboard(partition, k, b);
			if (any)
				r->outboard[made++] = l;
		}
	}
	r->outboard_first[partition->count] = made;
}

/* The object itself, and its arrays after it, each in lines of its own; mark: scratch, one byte for each link. */
static void layout_cross_loops(const CalModel *model, int branches, CrossLoops *r, uint8_t **mark, Cursor *cursor) {
	const size_t m = (size_t)model->row_count;
	cursor_array(cursor, 1, sizeof *r);
	CURSOR_ARRAY(cursor, r->place, branches);
	CURSOR_ARRAY(cursor, r->list, r->loops);
	CURSOR_ARRAY(cursor, r->x, r->width);
	CURSOR_ARRAY(cursor, r->lambda, m);
	CURSOR_ARRAY(cursor, r->z, m);
	CURSOR_ARRAY(cursor, r->right, m);
	CURSOR_ARRAY(cursor, r->Lambda, m * m);
	CURSOR_ARRAY(cursor, r->scratch, (m + 2) * m);
	CURSOR_ARRAY(cursor, r->unit, m);
	CURSOR_ARRAY(cursor, r->path, model->link_count);
	CURSOR_ARRAY(cursor, r->path_first, branches + 1);
	CURSOR_ARRAY(cursor, r->outboard, branches * r->loops);
	CURSOR_ARRAY(cursor, r->outboard_first, branches + 1);
	CURSOR_ARRAY(cursor, r->order, m);
	CURSOR_ARRAY(cursor, r->independent, m);
	CURSOR_ARRAY(cursor, *mark, model->link_count);
}

CalStatus cross_loops_create(const CalModel *model, const Partition *partition, const PieceMap *piece_map,
                             CrossLoops **cross_loops) {
	const int branches = partition->count;
	*cross_loops = NULL;
	if (model->loop_count == 0)
		return CAL_OK;
	CrossLoops made = {.model = model, .loops = model->loop_count, .width = OCTET * (1 + model->loop_count)};
	uint8_t *mark;
	Cursor cursor = {.align = BRANCH_ALIGN};
	layout_cross_loops(model, branches, &made, &mark, &cursor);
	made.memory = cursor_alloc(&cursor, &model->allocator);
	if (!made.memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	CrossLoops *r = (CrossLoops *)(void *)cursor.base;
	layout_cross_loops(model, branches, &made, &mark, &cursor);
	*r = made;
	list_paths(model, piece_map, branches, mark, r);
	for (int l = 0; l < r->loops; ++l) {
		const Loop *loop = &model->loops[l];
		r->list[l].loop = loop;
		r->reach = fmax(r->reach, loop->reach);
		memcpy(r->unit + loop->row, loop->unit, sizeof(double) * (size_t)loop->rows);
		place_side(piece_map, &model->loops[l], 0, &r->list[l].side[0]);
		place_side(piece_map, &model->loops[l], 1, &r->list[l].side[1]);
		const CrossLoopEnd *side = r->list[l].side;
		r->list[l].lead = side[0].node_branch >= 0 ? side[0].node_branch : side[1].node_branch;
	}
	list_outboard(partition, r);
	*cross_loops = r;
	return CAL_OK;
}

void cross_loops_free(CrossLoops *cross_loops) {
	if (cross_loops) {
		const CalAllocator allocator = cross_loops->model->allocator;
		memory_free(&allocator, cross_loops->memory);
	}
}

/* ---- forces ------------------------------------------------------------------------------------------ */

int cross_loops_force_count(const CrossLoops *cross_loops, const Branch *branches, const Branch *b) {
	int count = 0;
	for (int l = 0; l < cross_loops->loops; ++l)
		count += (cross_loops->list[l].side[0].node_branch == b->index) +
		         (cross_loops->list[l].side[1].node_branch == b->index);
	for (int k = 0; k < b->child_count; ++k) {
		const int *first = cross_loops->outboard_first + b->children[k];
		count += branches[b->children[k]].decoupled ? 0 : first[1] - first[0];
	}
	return count;
}

void cross_loops_list_forces(const CrossLoops *cross_loops, const Branch *branches, const Branch *b, int made) {
	InterfaceForce *force = b->interface.forces + made;
	for (int l = 0; l < cross_loops->loops; ++l) {
		for (int side = 0; side < 2; ++side) {
			const CrossLoopEnd *end = &cross_loops->list[l].side[side];
			if (end->node_branch != b->index)
				continue;
			force->link = b->model->nodes[end->node].link;
			if (b->model->nodes[end->node].shape < 0)
				force->modal = NULL;
			force->adds = 1;
			force++->column = OCTET * (1 + l);
		}
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &branches[b->children[k]];
		const int *first = cross_loops->outboard_first + child->index;
		for (int i = first[0]; i < first[1] && !child->decoupled; ++i) {
			force->link = child->base_link;
			force->modal = NULL;
			force->adds = 1;
			force++->column = OCTET * (1 + cross_loops->outboard[i]);
		}
	}
}

/* ---- frames ------------------------------------------------------------------------------------------- */

void cross_loops_place(CrossLoops *cross_loops, const Branch *branches, const Branch *b, bool base_known,
                       uint64_t evaluation) {
	CrossLoopBase *place = &cross_loops->place[b->index];
	kinematics_origins(b->model, b->u, b->work);
	if (b->parent < 0)
		place->r = place->v = vec_zero();
	if (b->parent >= 0 && !base_known) {
		const CrossLoopBase *under = &cross_loops->place[b->parent];
		progress_wait(&under->ready, evaluation);
		const CalWork *work = branches[b->parent].work;
		place->r = add(under->r, work->position[b->base_link]);
		place->v = add(under->v, work->velocity[b->base_link]);
	}
	for (int l = 0; l < cross_loops->loops; ++l) {
		for (int side = 0; side < 2; ++side) {
			CrossLoopEnd *end = &cross_loops->list[l].side[side];
			if (end->frame_branch != b->index)
				continue;
			loop_frame(b->model, b->work, &end->frame_loop, side, LOOP_BIAS, &end->frame);
			end->frame.r = add(end->frame.r, place->r);
			end->frame.v = add(end->frame.v, place->v);
		}
	}
	progress_post(&place->ready, evaluation);
}

static const LoopFrame *frame_at(const CrossLoops *cross_loops, int l, int side, uint64_t evaluation,
                                 LoopFrame *ground) {
	const CrossLoopEnd *end = &cross_loops->list[l].side[side];
	const bool counts = side == 0 || !loop_type_has_one_side(cross_loops->list[l].loop->type); // or nobody reads it
	if (end->frame_branch >= 0 && counts) {
		progress_wait(&cross_loops->place[end->frame_branch].ready, evaluation);
		return &end->frame;
	}
	const dpose *on = &cross_loops->list[l].loop->side[side].on;
	ground->R = mat_from(on->R);
	ground->r = vec_from(on->r);
	ground->w = ground->v = ground->al = ground->a = vec_zero();
	return ground;
}

/* The constraint equations of a loop, and where their wrenches act. */
static vec3 evaluate(const CrossLoops *cross_loops, int l, const CalState *state, uint64_t evaluation,
                     LoopRow row[CAL_LOOP_MAX_ROWS], const CrossLoopRequest *how) {
	LoopFrame ground[2];
	const LoopFrame *A = frame_at(cross_loops, l, 0, evaluation, &ground[0]),
					*B = frame_at(cross_loops, l, 1, evaluation, &ground[1]);
	const Loop *loop = cross_loops->list[l].loop;
	loop_fill(loop, A, B, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .plain = how->plain}, row);
	for (int r = 0; how->positions && r < loop->rows; ++r) {
		if (loop_row_is_speed(loop, r))
			row[r].direction = spatial_zero();
	}
	return loop_type_has_one_side(loop->type) ? A->r : B->r;
}

/* Wrenches of a loop on one of its nodes, as columns: what is needed of a branch grows by them (interface.h: b += Gamma x). */
static void fill_force(const CrossLoops *cross_loops, const Branch *b, int l, int side, vec3 point, const LoopRow *row,
                       const InterfaceForce *force) {
	const NodePlace place = kinematics_node(b->model, b->work, cross_loops->list[l].side[side].node);
	const vec3 origin = add(cross_loops->place[b->index].r, b->work->position[force->link]);
	memset(force->gamma, 0, sizeof(double) * 6 * OCTET);
	if (force->modal)
		memset(force->modal, 0, sizeof(double) * (size_t)(OCTET * place.flex->m));
	for (int r = 0; r < cross_loops->list[l].loop->rows; ++r) {
		const double sign = side ? 1 : -1;
		const spatial d = {scale(sign, row[r].direction.a), scale(sign, row[r].direction.l)};
		const spatial here = force_shift(d, sub(point, add(origin, place.c))), f = force_shift(here, place.c);
		double *g = force->gamma + r;
		g[0] = f.a.x, g[OCTET] = f.a.y, g[2 * OCTET] = f.a.z;
		g[3 * OCTET] = f.l.x, g[4 * OCTET] = f.l.y, g[5 * OCTET] = f.l.z;
		for (int k = 0; force->modal && k < place.flex->m; ++k)
			force->modal[k * OCTET + r] = spatial_dot(kinematics_node_column(&place, k), here);
	}
}

void cross_loops_fill(CrossLoops *cross_loops, const Branch *b, const CalState *state, uint64_t evaluation,
                      const CrossLoopRequest *how) {
	const InterfaceForce *force = b->interface.forces + (b->decoupled_child >= 0);
	for (int l = 0; l < cross_loops->loops; ++l) {
		const CrossLoopEnd *side = cross_loops->list[l].side;
		if (side[0].node_branch != b->index && side[1].node_branch != b->index)
			continue;
		LoopRow row[CAL_LOOP_MAX_ROWS];
		const vec3 point = evaluate(cross_loops, l, state, evaluation, row, how);
		const Loop *loop = cross_loops->list[l].loop;
		for (int r = 0; r < loop->rows && cross_loops->list[l].lead == b->index; ++r)
			cross_loops->z[loop->row + r] = how->z ? how->z[loop->row + r] : row[r].acceleration;
		for (int s = 0; s < 2; ++s) {
			if (side[s].node_branch == b->index)
				fill_force(cross_loops, b, l, s, point, row, force++);
		}
	}
}

/* ---- columns of chains of children --------------------------------------------------------------- */

void cross_loops_receive(const CrossLoops *cross_loops, const Branch *branches, const Branch *b) {
	const InterfaceForce *force = b->interface.forces + b->interface.force_count;
	for (int k = b->child_count - 1; k >= 0; --k) {
		const Branch *child = &branches[b->children[k]];
		const int *first = cross_loops->outboard_first + child->index;
		for (int i = first[1] - 1; i >= first[0] && !child->decoupled; --i) {
			--force;
			for (int r = 0; r < 6; ++r)
				memcpy(force->gamma + r * OCTET, child->chain->columns.gamma + r * cross_loops->width + force->column,
				       OCTET * sizeof(double));
		}
	}
}

void cross_loops_add(const CrossLoops *cross_loops, const Branch *branches, const Branch *b) {
	const int W = cross_loops->width;
	for (int l = 0; l < cross_loops->loops; ++l) {
		const Loop *loop = cross_loops->list[l].loop;
		for (int r = 0; r < loop->rows && cross_loops->list[l].lead == b->index; ++r)
			b->interface.beta[OCTET * (1 + l) + r] -= cross_loops->z[loop->row + r];
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &branches[b->children[k]];
		if (child->decoupled)
			continue;
		const InterfaceColumns *from = &child->chain->columns;
		const spatial c = branch_base_bias(b, child);
		const double d[6] = {c.a.x, c.a.y, c.a.z, c.l.x, c.l.y, c.l.z};
		for (int i = OCTET; i < W; ++i) {
			b->interface.beta[i] += from->beta[i];
			for (int j = 0; j < 6; ++j)
				b->interface.beta[i] += from->gamma[j * W + i] * d[j];
			for (int j = OCTET; j < W; ++j)
				b->interface.Lambda[i * W + j] += from->Lambda[i * W + j];
		}
	}
}

/* Of the branches of both. */
static Mobility combine_mobility(Mobility a, const Mobility *b) {
	return (Mobility){.most = fmax(a.most, b->most),
	                  .least = fmin(a.least, b->least),
	                  .joined = fmax(a.joined, b->joined),
	                  .path_most = fmax(a.path_most, b->path_most),
	                  .path_least = fmin(a.path_least, b->path_least)};
}

/* ---- assembly ----------------------------------------------------------------------------------------------- */

/* y[n] += f x and y -= f x, n a multiple of eight. */
static void add_times(int n, double f, const double *x, double *y) {
	for (int k = 0; k < n; k += OCTET)
		octet_store(y + k, octet_madd(octet_load(y + k), f, octet_load(x + k)));
}

static void subtract_times(int n, double f, const double *x, double *y) {
	for (int k = 0; k < n; k += OCTET)
		octet_store(y + k, octet_msub(octet_load(y + k), f, octet_load(x + k)));
}

/* A X = B of six rows, B of `n` columns, with pivots from rows. */
static void solve_six(double A[6][6], double *B, int n) {
	for (int j = 0; j < 6; ++j) {
		int p = j;
		for (int i = j + 1; i < 6; ++i)
			p = fabs(A[i][j]) > fabs(A[p][j]) ? i : p;
		for (int k = 0; k < 6 && p != j; ++k) {
			const double swapped = A[j][k];
			A[j][k] = A[p][k], A[p][k] = swapped;
		}
		for (int k = 0; k < n && p != j; ++k) {
			const double swapped = B[j * n + k];
			B[j * n + k] = B[p * n + k], B[p * n + k] = swapped;
		}
		const double d = 1.0 / A[j][j];
		for (int i = 0; i < 6; ++i) {
			const double f = i == j ? 0 : A[i][j] * d;
			for (int k = 0; k < 6 && f != 0; ++k)
				A[i][k] -= f * A[j][k];
			if (f != 0)
				subtract_times(n, f, B + j * n, B + i * n);
		}
	}
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < n; ++k)
			B[i * n + k] /= A[i][i];
	}
}

/*
 * F = N A_0 + f + G x with x = (those of the outer one's interface, multipliers):
 *   (1 + M Lambda_aa) F = M (Gamma_a'A_0 + beta_a + c - Lambda_al lambda) + b + Gamma_c x
 * Indices: a the interface of the inner one, c that of the outer one, l the loops of both.
 * B[6][8 + W] becomes (N, f, -, G).
 */
static void find_wrench(int W, const InterfaceColumns *a, const double d[6], const JoinNode *outer, double *B) {
	const ArticulatedBody *base_inertia = &outer->base_inertia->body;
	const double *gamma = outer->columns.gamma;
	const spatial b = base_inertia->b;
	const double force[6] = {b.a.x, b.a.y, b.a.z, b.l.x, b.l.y, b.l.z};
	const int n = 8 + W;
	double M[6][6], A[6][6];
	articulated_rows(&base_inertia->M, M);
	for (int i = 0; i < 6; ++i) {
		double *row = B + i * n;
		memset(row, 0, sizeof(double) * (size_t)n);
		for (int j = 0; j < 6; ++j)
			A[i][j] = i == j;
		row[6] = force[i];
		for (int k = 0; k < 6; ++k) {
			for (int j = 0; j < 6; ++j) {
				A[i][j] += M[i][k] * a->Lambda[k * W + j];
				row[j] += M[i][k] * a->gamma[j * W + k];
			}
			row[6] += M[i][k] * d[k];
			subtract_times(W - OCTET, M[i][k], a->Lambda + k * W + OCTET, row + 8 + OCTET);
		}
		add_times(W, 1, gamma + i * W, row + 8);
	}
	solve_six(A, B, n);
}

/* What the wrench brings to the base of the inner one: Gamma_a (N, f). */
static void add_to_base(int W, const InterfaceColumns *a, const double *B, ArticulatedBody *body) {
	const int n = 8 + W;
	double added[6][8] = {{0}};
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < 6; ++k) {
			for (int j = 0; j < 7; ++j)
				added[i][j] += a->gamma[i * W + k] * B[k * n + j];
		}
	}
	for (int i = 0; i < 6; ++i) {
		for (int j = 0; j < i; ++j)
			added[j][i] = 0.5 * (added[i][j] + added[j][i]);
	}
	const ArticulatedInertia add_on = {{added[0][0], added[1][1], added[2][2], added[0][1], added[0][2], added[1][2]},
	                                   {{added[0][3], added[1][3], added[2][3]},
	                                    {added[0][4], added[1][4], added[2][4]},
	                                    {added[0][5], added[1][5], added[2][5]}},
	                                   {added[3][3], added[4][4], added[5][5], added[3][4], added[3][5], added[4][5]}};
	body->M = articulated_add(body->M, add_on);
	body->b = spatial_add(body->b,
	                      (spatial){{added[0][6], added[1][6], added[2][6]}, {added[3][6], added[4][6], added[5][6]}});
}

/* Columns of both as one: with e = beta_a + c - Lambda_aa f, and T[6][W] = Lambda_aa G + Lambda_al. */
static void carry_columns(int W, const InterfaceColumns *a, const double d[6], const InterfaceColumns *o,
                          const double *B, double *T, const InterfaceColumns *out) {
	const int n = 8 + W;
	double e[6];
	for (int k = 0; k < 6; ++k) {
		e[k] = d[k];
		for (int j = 0; j < 6; ++j)
			e[k] -= a->Lambda[k * W + j] * B[j * n + 6];
	}
	for (int r = 0; r < W; ++r) {
		out->beta[r] = o->beta[r] + (r < OCTET ? 0 : a->beta[r]);
		for (int k = 0; k < 6; ++k) {
			out->beta[r] += o->gamma[k * W + r] * e[k];
			if (r >= OCTET)
				out->beta[r] -= a->Lambda[r * W + k] * B[k * n + 6];
		}
	}
	for (int i = 0; i < 6; ++i) {
		double *sum = out->gamma + i * W, *own = T + i * W;
		memset(sum, 0, OCTET * sizeof(double));
		memset(own, 0, OCTET * sizeof(double));
		memcpy(sum + OCTET, a->gamma + i * W + OCTET, (size_t)(W - OCTET) * sizeof(double));
		memcpy(own + OCTET, a->Lambda + i * W + OCTET, (size_t)(W - OCTET) * sizeof(double));
		for (int k = 0; k < 6; ++k) {
			add_times(W, a->gamma[i * W + k], B + k * n + 8, sum);
			add_times(W, a->Lambda[i * W + k], B + k * n + 8, own);
		}
	}
	for (int r = 0; r < W; ++r) {
		double *sum = out->Lambda + r * W;
		memcpy(sum, o->Lambda + r * W, (size_t)W * sizeof(double));
		if (r >= OCTET)
			add_times(W - OCTET, 1, a->Lambda + r * W + OCTET, sum + OCTET);
		for (int k = 0; k < 6; ++k) {
			if (o->gamma[k * W + r] != 0)
				add_times(W, o->gamma[k * W + r], T + k * W, sum);
			if (r >= OCTET && a->Lambda[r * W + k] != 0)
				add_times(W, a->Lambda[r * W + k], B + k * n + 8, sum);
		}
	}
}

void cross_loops_join(CrossLoops *cross_loops, const JoinNode *inner, spatial c, const JoinNode *outer,
                      JoinNode *node) {
	const double bias[6] = {c.a.x, c.a.y, c.a.z, c.l.x, c.l.y, c.l.z};
	const InterfaceColumns *a = &inner->columns;
	double *d = node->join->d;
	for (int k = 0; k < 6; ++k)
		d[k] = a->beta[k] + bias[k];
	find_wrench(cross_loops->width, a, d, outer, node->solved);
	add_to_base(cross_loops->width, a, node->solved, &node->base_inertia->body);
	double *scratch = node->solved + 6 * (8 + cross_loops->width);
	carry_columns(cross_loops->width, a, d, &outer->columns, node->solved, scratch, &node->columns);
	Mobility *mobility = &cross_loops->place[node->first].mobility;
	*mobility = combine_mobility(*mobility, &cross_loops->place[outer->first].mobility);
}

spatial cross_loops_split(const CrossLoops *cross_loops, const JoinNode *inner, const JoinNode *node, spatial A0,
                          const double *x, double *F) {
	const int W = cross_loops->width, n = 8 + W;
	const InterfaceColumns *a = &inner->columns;
	const double *B = node->solved;
	const double a0[6] = {A0.a.x, A0.a.y, A0.a.z, A0.l.x, A0.l.y, A0.l.z};
	double A[6];
	for (int i = 0; i < 6; ++i) {
		F[i] = B[i * n + 6];
		for (int k = 0; k < 6; ++k)
			F[i] += B[i * n + k] * a0[k];
		for (int j = 0; x && j < OCTET; ++j)
			F[i] += B[i * n + 8 + j] * x[j];
		for (int j = OCTET; j < W; ++j)
			F[i] += B[i * n + 8 + j] * cross_loops->x[j];
	}
	F[6] = F[7] = 0;
	for (int i = 0; i < 6; ++i) {
		A[i] = node->join->d[i];
		for (int k = 0; k < 6; ++k)
			A[i] += a->gamma[k * W + i] * a0[k] - a->Lambda[i * W + k] * F[k];
		for (int j = OCTET; j < W; ++j)
			A[i] -= a->Lambda[i * W + j] * cross_loops->x[j];
	}
	return (spatial){{A[0], A[1], A[2]}, {A[3], A[4], A[5]}};
}

/* ---- the ground ------------------------------------------------------------------------------------------------ */

static void add_chain(const CrossLoops *cross_loops, const InterfaceColumns *c) {
	const int W = cross_loops->width, m = cross_loops->model->row_count;
	for (int l = 0; l < cross_loops->loops; ++l) {
		const Loop *a = cross_loops->list[l].loop;
		for (int r = 0; r < a->rows; ++r) {
			const int i = OCTET * (1 + l) + r;
			cross_loops->right[a->row + r] += c->beta[i];
			for (int k = 0; k < cross_loops->loops; ++k) {
				const Loop *b = cross_loops->list[k].loop;
				for (int s = 0; s < b->rows; ++s) {
					const int j = OCTET * (1 + k) + s;
					cross_loops->Lambda[(a->row + r) * m + b->row + s] +=
						0.5 * (c->Lambda[i * W + j] + c->Lambda[j * W + i]);
				}
			}
		}
	}
}

void cross_loops_residual(const CrossLoops *cross_loops, const Branch *b, const CalState *state, uint64_t evaluation,
                          double *value, double *rate) {
	for (int l = 0; l < cross_loops->loops; ++l) {
		LoopRow row[CAL_LOOP_MAX_ROWS];
		const Loop *loop = cross_loops->list[l].loop;
		if (cross_loops->list[l].lead != b->index)
			continue;
		evaluate(cross_loops, l, state, evaluation, row, &(CrossLoopRequest){.plain = true});
		for (int r = 0; r < loop->rows; ++r) {
			value[loop->row + r] = row[r].value;
			rate[loop->row + r] = row[r].rate;
		}
	}
}

static double column_mobility(const CrossLoops *cross_loops, const Branch *b, const Link *link, int k) {
	const double d = b->work->dofs[link->u + k].D_inv;
	return primitive_column_kind((JointPrimitive)link->motion, k) == COLUMN_TRANSLATION
	           ? d / (cross_loops->reach * cross_loops->reach)
	           : d;
}

/* Without what is attached to the interface. */
static double joined_mobility(const CrossLoops *cross_loops, const Branch *b) {
	double most = 0;
	for (int p = 0; b->decoupled_child >= 0 && p < b->interface.path_count; ++p) {
		const Link *link = &b->model->links[b->interface.path[p]];
		for (int k = 0; k < link->nu; ++k)
			most = fmax(most, column_mobility(cross_loops, b, link, k));
	}
	return most;
}

static Mobility own_mobility(const CrossLoops *cross_loops, const Branch *b) {
	Mobility found = {0, INFINITY, joined_mobility(cross_loops, b), 0, INFINITY};
	if (b->model->flex_count > 0)
		found.least = 0; // what modes move rows by is not known
	for (int i = 0; i < b->model->link_count; ++i) {
		const Link *link = &b->model->links[i];
		for (int j = 0; j < link->nu; ++j) {
			const double mobility = column_mobility(cross_loops, b, link, j);
			found.most = fmax(found.most, mobility);
			found.least = mobility > 0 ? fmin(found.least, mobility) : found.least; // or it is prescribed
		}
	}
	for (int i = cross_loops->path_first[b->index]; i < cross_loops->path_first[b->index + 1]; ++i) {
		const Link *link = &b->model->links[cross_loops->path[i]];
		for (int k = 0; k < link->nu; ++k) {
			const double mobility = column_mobility(cross_loops, b, link, k);
			found.path_most = fmax(found.path_most, mobility);
			found.path_least = mobility > 0 ? fmin(found.path_least, mobility) : found.path_least;
		}
	}
	return found;
}

void cross_loops_find_mobility(CrossLoops *cross_loops, const Branch *branches, const Branch *b) {
	Mobility found = own_mobility(cross_loops, b);
	for (int k = 0; k < b->child_count; ++k) {
		if (!branches[b->children[k]].decoupled)
			found = combine_mobility(found, &cross_loops->place[b->children[k]].mobility);
	}
	cross_loops->place[b->index].mobility = found;
}

/* Equations that nothing moves, beside what columns could move them by, have no multiplier. */
static void drop_immobile_rows(const CrossLoops *cross_loops, double most) {
	const int m = cross_loops->model->row_count;
	const double *unit = cross_loops->unit;
	double *Lambda = cross_loops->Lambda;
	for (int i = 0; i < m; ++i)
		most = fmax(most, Lambda[i * m + i] / (unit[i] * unit[i]));
	for (int i = 0; i < m; ++i) {
		if (Lambda[i * m + i] > SINGULAR * most * unit[i] * unit[i])
			continue;
		cross_loops->right[i] = 0;
		for (int j = 0; j < m; ++j)
			Lambda[i * m + j] = Lambda[j * m + i] = 0;
	}
}

/* Of the equations that are kept, in their units. */
static double smallest_pivot(const CrossLoops *cross_loops, int rank) {
	double least = INFINITY;
	for (int k = 0; k < rank; ++k) {
		const double root =
			cross_loops->Lambda[k * (cross_loops->model->row_count + 1)] / cross_loops->unit[cross_loops->order[k]];
		least = fmin(least, root * root);
	}
	return least;
}

/* By how much compliances on the paths of loops differ. */
static double path_spread(const Mobility *mobility) {
	return mobility->path_most > 0 ? mobility->path_most / mobility->path_least : 1;
}

/* Factors Lambda. Kept equations with little left have lost digits; those left out may be what only heavy links move. */
static int factor_compliance(CrossLoops *cross_loops, const Mobility *mobility) {
	const int m = cross_loops->model->row_count;
	MinNormRows found = {.tolerance = DEPENDENT, .unit = cross_loops->unit};
	drop_immobile_rows(cross_loops, mobility->most);
	const int rank = min_norm_factor_rows(m, cross_loops->Lambda, &found, cross_loops->order, cross_loops->independent,
	                                      cross_loops->scratch);
	cross_loops->doubtful = found.left < DOUBTFUL || smallest_pivot(cross_loops, rank) < JOINED * mobility->joined ||
	                        path_spread(mobility) > loop_uneven(cross_loops->model) ||
	                        cross_loops->model->light_loops > 1; // which D_inv of branches alone need not show
	if (rank < m && fmax(found.rest, ROUND_OFF) * mobility->most > DEPENDENT * mobility->least)
		cross_loops->doubtful = true;
	return rank;
}

void cross_loops_solve(CrossLoops *cross_loops, const Branch *branches, int count, const JoinTree *join_tree) {
	const int m = cross_loops->model->row_count;
	Mobility mobility = {0, INFINITY, 0, 0, INFINITY};
	memset(cross_loops->Lambda, 0, sizeof(double) * (size_t)(m * m));
	memset(cross_loops->right, 0, sizeof(double) * (size_t)m);
	for (int k = 0; k < count; ++k) {
		const int root = join_tree->root_of[k];
		if (root < 0 || branches[k].parent >= 0)
			continue;
		add_chain(cross_loops, &join_tree->nodes[root].columns);
		mobility = combine_mobility(mobility, &cross_loops->place[k].mobility);
	}
	const int rank = factor_compliance(cross_loops, &mobility);
	min_norm_solve(m, rank, cross_loops->Lambda, cross_loops->order, cross_loops->scratch, cross_loops->right,
	               cross_loops->lambda);
	for (int l = 0; l < cross_loops->loops; ++l) {
		const Loop *loop = cross_loops->list[l].loop;
		for (int r = 0; r < loop->rows; ++r)
			cross_loops->x[OCTET * (1 + l) + r] = cross_loops->lambda[loop->row + r];
	}
}
