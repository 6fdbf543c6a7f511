// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.c — see ranks.h.
 *
 * Structs that are sent are plain numbers and are sent as they are in memory. A rank on which an evaluation went wrong,
 * and which does not send everything to all, must not stop: others wait for its messages. It continues with what it
 * has, and whoever asked for the run finds out when states are brought together (branches_failed).
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "component/branches.h"
#include "loop/loop_type.h"
#include "math/octet.h"

_Static_assert(sizeof(mat3) + sizeof(vec3) == RANKS_BASE_MOTION * sizeof(double),
               "a base motion is sent as plain numbers");
_Static_assert(sizeof(ArticulatedBody) == RANKS_BASE_INERTIA * sizeof(double),
               "a base inertia is sent as plain numbers");
_Static_assert(sizeof(spatial) == RANKS_BASE_ACCELERATION * sizeof(double),
               "a base acceleration is sent as plain numbers");

_Static_assert(sizeof(LoopFrame) == RANKS_FRAME * sizeof(double), "a frame is sent as plain numbers");
_Static_assert(sizeof(BranchPlace) == (RANKS_PLACE - RANKS_BASE_MOTION) * sizeof(double),
               "a place is sent as plain numbers");
_Static_assert(sizeof(Mobility) == RANKS_MOBILITY * sizeof(double), "a mobility is sent as plain numbers");

enum { MESSAGE_MOTION, MESSAGE_POSITION, MESSAGE_INERTIA, MESSAGE_ACCELERATION, MESSAGE_KINDS };
enum {
	VERDICT = 4
}; // numbers beside the accelerations of a branch: failed dof, whether it is no number, status, doubt

/* ---- messages ------------------------------------------------------------------------------------------ */

static void send_tagged(Ranks *r, int to, int tag, const double *x, int count) {
	if (r->lost)
		return;
	r->lost = r->transport.send(r->transport.user, to, tag, x, count);
	r->messages++;
	r->numbers += count;
}

static void receive_tagged(Ranks *r, int from, int tag, double *x, int count) {
	if (!r->lost)
		r->lost = r->transport.receive(r->transport.user, from, tag, x, count);
	if (r->lost)
		memset(x, 0, (size_t)count * sizeof(double));
}

static void send_message(Ranks *r, int to, int branch, int kind, const double *x, int count) {
	send_tagged(r, to, MESSAGE_KINDS * branch + kind, x, count);
}

static void receive_message(Ranks *r, int from, int branch, int kind, double *x, int count) {
	receive_tagged(r, from, MESSAGE_KINDS * branch + kind, x, count);
}

/* Tags after those of branches: of both ends of loops, and of measures, up and down. */
static int frame_tag(const Ranks *r, int loop, int side) { return MESSAGE_KINDS * r->count + 2 * loop + side; }
static int measure_tag(const Ranks *r, int down) {
	return frame_tag(r, r->cross_loops ? r->cross_loops->loops : 0, down);
}

static CalStatus gather_all(Ranks *r, const int *starts, double *x) {
	if (!r->lost)
		r->lost = r->transport.gather(r->transport.user, starts, x);
	r->gathers++;
	r->gathered += starts[r->transport.rank + 1] - starts[r->transport.rank];
	return r->lost ? CAL_ERR_LOST : CAL_OK;
}

void ranks_send_base_motion(Ranks *r, const Branch *child, const SweepBase *base) {
	double x[RANKS_BASE_MOTION];
	memcpy(x, &base->R, sizeof base->R);
	memcpy(x + 9, &base->w, sizeof base->w);
	send_message(r, r->rank_of[child->index], child->index, MESSAGE_MOTION, x, RANKS_BASE_MOTION);
}

void ranks_receive_base_motion(Ranks *r, Branch *b) {
	double x[RANKS_BASE_MOTION];
	receive_message(r, r->rank_of[b->parent], b->index, MESSAGE_MOTION, x, RANKS_BASE_MOTION);
	memcpy(&b->base.R, x, sizeof b->base.R);
	memcpy(&b->base.w, x + 9, sizeof b->base.w);
}

void ranks_send_place(Ranks *r, const Branch *child, const SweepBase *base, const BranchPlace *place) {
	double x[RANKS_PLACE];
	memcpy(x, &base->R, sizeof base->R);
	memcpy(x + 9, &base->w, sizeof base->w);
	memcpy(x + RANKS_BASE_MOTION, place, sizeof *place);
	send_message(r, r->rank_of[child->index], child->index, MESSAGE_POSITION, x, RANKS_PLACE);
}

void ranks_receive_place(Ranks *r, Branch *b, BranchPlace *place) {
	double x[RANKS_PLACE];
	receive_message(r, r->rank_of[b->parent], b->index, MESSAGE_POSITION, x, RANKS_PLACE);
	memcpy(&b->base.R, x, sizeof b->base.R);
	memcpy(&b->base.w, x + 9, sizeof b->base.w);
	memcpy(place, x + RANKS_BASE_MOTION, sizeof *place);
}

/* ---- columns and multipliers of loops that span branches ------------------------------------------------ */

/* Constraint equations of loops with an end on a branch or outboard of it. */
static int outboard_rows(const Ranks *r, int branch) {
	const CrossLoops *c = r->cross_loops;
	int rows = 0;
	for (int k = c ? c->outboard_first[branch] : 0; c && k < c->outboard_first[branch + 1]; ++k)
		rows += c->list[c->outboard[k]].loop->rows;
	return rows;
}

/* The column of one of these rows, in their order. */
typedef struct RowColumns {
	const CrossLoops *cross_loops;
	int at, end; // of outboard
	int row;     // of the loop at hand
} RowColumns;

static RowColumns row_columns(const Ranks *r, int branch) {
	const CrossLoops *c = r->cross_loops;
	return (RowColumns){c, c ? c->outboard_first[branch] : 0, c ? c->outboard_first[branch + 1] : 0, 0};
}

static bool next_column(RowColumns *rows, int *column) {
	if (rows->at == rows->end)
		return false;
	const int loop = rows->cross_loops->outboard[rows->at];
	*column = OCTET * (1 + loop) + rows->row;
	if (++rows->row == rows->cross_loops->list[loop].loop->rows) {
		rows->at++;
		rows->row = 0;
	}
	return true;
}

/* Between columns in memory and a message; what there is of columns that are not sent stays zero. */
static void move_columns(const Ranks *r, const Branch *b, bool with_base, bool send, double *x) {
	const InterfaceColumns *c = &b->chain->columns;
	const int W = r->cross_loops->width;
	RowColumns rows = row_columns(r, b->index), others;
	for (int i, j; next_column(&rows, &i);) {
		for (int k = 0; with_base && k < 6; ++k, ++x)
			*(send ? x : &c->gamma[k * W + i]) = send ? c->gamma[k * W + i] : *x;
		*(send ? x : &c->beta[i]) = send ? c->beta[i] : *x;
		++x;
		for (others = row_columns(r, b->index); next_column(&others, &j); ++x)
			*(send ? x : &c->Lambda[i * W + j]) = send ? c->Lambda[i * W + j] : *x;
	}
	Mobility *mobility = &r->cross_loops->place[b->index].mobility;
	memcpy(send ? (void *)x : mobility, send ? (const void *)mobility : x, sizeof *mobility);
}

static void write_multipliers(const Ranks *r, int branch, double *x) {
	RowColumns rows = row_columns(r, branch);
	for (int i; next_column(&rows, &i);)
		*x++ = r->cross_loops->x[i];
}

static void read_multipliers(const Ranks *r, int branch, const double *x) {
	RowColumns rows = row_columns(r, branch);
	for (int i; next_column(&rows, &i);)
		r->cross_loops->x[i] = *x++;
}

static int column_numbers(const Ranks *r, const Branch *b, bool with_base) {
	const int rows = outboard_rows(r, b->index);
	return r->cross_loops ? rows * (rows + 1 + (with_base ? 6 : 0)) + RANKS_MOBILITY : 0;
}

void ranks_send_columns(Ranks *r, const Branch *b) {
	move_columns(r, b, false, true, r->packet);
	send_message(r, r->rank_of[0], b->index, MESSAGE_INERTIA, r->packet, column_numbers(r, b, false));
}

void ranks_receive_columns(Ranks *r, const Branch *b) {
	receive_message(r, r->rank_of[b->index], b->index, MESSAGE_INERTIA, r->packet, column_numbers(r, b, false));
	move_columns(r, b, false, false, r->packet);
}

void ranks_send_multipliers(Ranks *r, const Branch *b) {
	const int rows = outboard_rows(r, b->index);
	write_multipliers(r, b->index, r->packet);
	if (rows > 0)
		send_message(r, r->rank_of[b->index], b->index, MESSAGE_ACCELERATION, r->packet, rows);
}

void ranks_receive_multipliers(Ranks *r, const Branch *b) {
	const int rows = outboard_rows(r, b->index);
	if (rows > 0)
		receive_message(r, r->rank_of[0], b->index, MESSAGE_ACCELERATION, r->packet, rows);
	read_multipliers(r, b->index, r->packet);
}

/* ---- where things are ------------------------------------------------------------------------------------- */

void ranks_send_base_position(Ranks *r, const Branch *child) {
	const Branch *b = &r->branches[child->parent];
	const CrossLoopBase *place = &r->cross_loops->place[b->index];
	if (outboard_rows(r, child->index) == 0)
		return;
	const vec3 base[2] = {add(place->r, b->work->position[child->base_link]),
	                      add(place->v, b->work->velocity[child->base_link])};
	double x[RANKS_BASE_POSITION];
	memcpy(x, base, sizeof base);
	send_message(r, r->rank_of[child->index], child->index, MESSAGE_POSITION, x, RANKS_BASE_POSITION);
}

void ranks_receive_base_position(Ranks *r, const Branch *b) {
	double x[RANKS_BASE_POSITION] = {0};
	if (outboard_rows(r, b->index) > 0)
		receive_message(r, r->rank_of[b->parent], b->index, MESSAGE_POSITION, x, RANKS_BASE_POSITION);
	CrossLoopBase *place = &r->cross_loops->place[b->index];
	memcpy(&place->r, x, sizeof place->r);
	memcpy(&place->v, x + 3, sizeof place->v);
}

/* The ranks that have the ends of a loop differ; a loop with one side does not look at the other one. */
static bool spans_ranks(const Ranks *r, const CrossLoop *loop, int rank[2]) {
	for (int side = 0; side < 2; ++side) {
		const int branch = loop->side[side].frame_branch;
		rank[side] = branch >= 0 ? r->rank_of[branch] : -1;
	}
	return rank[0] >= 0 && rank[1] >= 0 && rank[0] != rank[1] && !loop_type_has_one_side(loop->loop->type);
}

void ranks_exchange_frames(Ranks *r, uint64_t evaluation) {
	const int here = r->transport.rank;
	double x[RANKS_FRAME];
	int rank[2];
	for (int pass = 0; pass < 2; ++pass) { // all that is sent, then what is to come
		for (int l = 0; l < r->cross_loops->loops; ++l) {
			CrossLoop *loop = &r->cross_loops->list[l];
			for (int side = 0; spans_ranks(r, loop, rank) && side < 2; ++side) {
				CrossLoopEnd *end = &loop->side[side];
				if (pass == 0 && rank[side] == here) {
					memcpy(x, &end->frame, sizeof end->frame);
					send_tagged(r, rank[!side], frame_tag(r, l, side), x, RANKS_FRAME);
				} else if (pass == 1 && rank[!side] == here) {
					receive_tagged(r, rank[side], frame_tag(r, l, side), x, RANKS_FRAME);
					memcpy(&end->frame, x, sizeof end->frame);
					ProgressMark *ready = &r->cross_loops->place[end->frame_branch].ready;
					if (!progress_is_posted(ready, evaluation)) // by another loop on that branch
						progress_post(ready, evaluation);
				}
			}
		}
	}
}

/* ---- inertias and accelerations ---------------------------------------------------------------------------- */

void ranks_send_base_inertia(Ranks *r, const Branch *b) {
	memcpy(r->packet, &b->chain->base_inertia->body, sizeof b->chain->base_inertia->body);
	if (r->cross_loops)
		move_columns(r, b, true, true, r->packet + RANKS_BASE_INERTIA);
	send_message(r, r->rank_of[b->parent], b->index, MESSAGE_INERTIA, r->packet,
	             RANKS_BASE_INERTIA + column_numbers(r, b, true));
}

void ranks_receive_base_inertia(Ranks *r, const Branch *child) {
	receive_message(r, r->rank_of[child->index], child->index, MESSAGE_INERTIA, r->packet,
	                RANKS_BASE_INERTIA + column_numbers(r, child, true));
	BaseInertia *base_inertia = child->chain->base_inertia;
	memcpy(&base_inertia->body, r->packet, sizeof base_inertia->body);
	if (r->cross_loops)
		move_columns(r, child, true, false, r->packet + RANKS_BASE_INERTIA);
	base_inertia->failed_dof = -1; // what went wrong is sent separately
	base_inertia->not_a_number = 0;
}

void ranks_send_base_acceleration(Ranks *r, const Branch *child) {
	memcpy(r->packet, &child->chain->base_acceleration->A, sizeof child->chain->base_acceleration->A);
	write_multipliers(r, child->index, r->packet + RANKS_BASE_ACCELERATION);
	send_message(r, r->rank_of[child->index], child->index, MESSAGE_ACCELERATION, r->packet,
	             RANKS_BASE_ACCELERATION + outboard_rows(r, child->index));
}

void ranks_receive_base_acceleration(Ranks *r, const Branch *b) {
	receive_message(r, r->rank_of[b->parent], b->index, MESSAGE_ACCELERATION, r->packet,
	                RANKS_BASE_ACCELERATION + outboard_rows(r, b->index));
	memcpy(&b->chain->base_acceleration->A, r->packet, sizeof b->chain->base_acceleration->A);
	read_multipliers(r, b->index, r->packet + RANKS_BASE_ACCELERATION);
}

/* ---- measures --------------------------------------------------------------------------------------------- */

static void keep_larger(double *x, const double *other) {
	if (other[0] > x[0] || (other[0] == x[0] && other[1] < x[1]))
		x[1] = other[1];
	for (int k = 0; k < RANKS_MEASURES; ++k)
		x[k] = k != 1 && other[k] > x[k] ? other[k] : x[k];
}

void ranks_find_largest(Ranks *r, double *x) {
	const int first = r->rank_of[0], size = r->rank_of[r->count - 1] - first + 1, own = r->transport.rank - first;
	const int up = measure_tag(r, 0), down = measure_tag(r, 1);
	double other[RANKS_MEASURES];
	for (int child = 2 * own + 1; child <= 2 * own + 2 && child < size; ++child) {
		receive_tagged(r, first + child, up, other, RANKS_MEASURES);
		keep_larger(x, other);
	}
	if (own > 0) {
		send_tagged(r, first + (own - 1) / 2, up, x, RANKS_MEASURES);
		receive_tagged(r, first + (own - 1) / 2, down, x, RANKS_MEASURES);
	}
	for (int child = 2 * own + 1; child <= 2 * own + 2 && child < size; ++child)
		send_tagged(r, first + child, down, x, RANKS_MEASURES);
}

/* ---- everything to everybody ---------------------------------------------------------------------------- */

/* Of branch 0 also what was found of loops that span branches: a doubt, and the multipliers. */
static int result_width(const Ranks *r, const Branch *b) {
	const int solved = b->index == 0 && r->cross_loops ? 1 + r->cross_loops->model->row_count : 0;
	return b->model->nu + VERDICT + solved;
}
static int state_width(const Ranks *r, const Branch *b) {
	(void)r;
	return b->model->nq + b->model->nu;
}

/* Branches follow one another in a packet, so those of a rank do too. */
static void find_starts(Ranks *r, int (*width)(const Ranks *r, const Branch *b)) {
	int at = 0, k = 0;
	for (int rank = 0; rank < r->transport.size; ++rank) {
		r->starts[rank] = at;
		for (; k < r->count && r->rank_of[k] == rank; ++k)
			at += width(r, &r->branches[k]);
	}
	r->starts[r->transport.size] = at;
}

static void write_result(const Ranks *r, const Branch *b, double *x) {
	memcpy(x, b->udot, (size_t)b->model->nu * sizeof(double));
	x += b->model->nu;
	x[0] = b->failed_dof;
	x[1] = b->not_a_number;
	x[2] = (double)b->bad;
	x[3] = b->base_inertia->doubtful;
	if (b->index > 0 || !r->cross_loops)
		return;
	x[VERDICT] = r->cross_loops->doubtful;
	memcpy(x + VERDICT + 1, r->cross_loops->lambda, (size_t)r->cross_loops->model->row_count * sizeof(double));
}

static void read_result(const Ranks *r, const CalState *state, Branch *b, const double *x) {
	memcpy(b->udot, x, (size_t)b->model->nu * sizeof(double));
	x += b->model->nu;
	b->failed_dof = (int)x[0];
	b->not_a_number = (int)x[1];
	b->bad = (CalStatus)x[2];
	b->base_inertia->doubtful = (int)x[3];
	segments_gather(b->q_segment, b->q_segments, state->q, b->q);
	segments_gather(b->u_segment, b->u_segments, state->u, b->u);
	if (b->index > 0 || !r->cross_loops)
		return;
	r->cross_loops->doubtful = x[VERDICT] != 0;
	memcpy(r->cross_loops->lambda, x + VERDICT + 1, (size_t)r->cross_loops->model->row_count * sizeof(double));
}

CalStatus ranks_gather_udot(Ranks *r, const CalState *state) {
	find_starts(r, result_width);
	double *x = r->packet;
	for (int k = 0; k < r->count; x += result_width(r, &r->branches[k]), ++k) {
		if (ranks_has(r, k))
			write_result(r, &r->branches[k], x);
	}
	const CalStatus status = gather_all(r, r->starts, r->packet);
	x = r->packet;
	for (int k = 0; k < r->count && status == CAL_OK; x += result_width(r, &r->branches[k]), ++k) {
		if (!ranks_has(r, k))
			read_result(r, state, &r->branches[k], x);
	}
	return status;
}

CalStatus ranks_gather_state(Ranks *r, double *q, double *u) {
	find_starts(r, state_width);
	double *x = r->packet;
	for (int k = 0; k < r->count; x += state_width(r, &r->branches[k]), ++k) {
		const Branch *b = &r->branches[k];
		if (!ranks_has(r, k))
			continue;
		segments_gather(b->q_segment, b->q_segments, q, x);
		segments_gather(b->u_segment, b->u_segments, u, x + b->model->nq);
	}
	const CalStatus status = gather_all(r, r->starts, r->packet);
	x = r->packet;
	for (int k = 0; k < r->count && status == CAL_OK; x += state_width(r, &r->branches[k]), ++k) {
		const Branch *b = &r->branches[k];
		segments_scatter(b->q_segment, b->q_segments, x, q);
		segments_scatter(b->u_segment, b->u_segments, x + b->model->nq, u);
	}
	return status;
}

CalStatus ranks_agree_status(Ranks *r, CalStatus status) {
	if (r->lost)
		return CAL_ERR_LOST;
	if (r->whole || status == CAL_OK)
		return status;
	r->failed = true;
	return CAL_OK;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

/* The object itself, and its arrays after it. */
static void layout_ranks(const CalModel *model, Ranks *r, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *r);
	const size_t m = r->cross_loops ? (size_t)model->row_count : 0;
	const size_t all = (size_t)(model->nq + model->nu + VERDICT * r->count + 1) + m;
	const size_t columns = RANKS_BASE_INERTIA + RANKS_MOBILITY + m * (m + 7);
	CURSOR_ARRAY(cursor, r->packet, all > columns ? all : columns);
	CURSOR_ARRAY(cursor, r->rank_of, r->count + 1);
	CURSOR_ARRAY(cursor, r->starts, r->transport.size + 1);
}

CalStatus ranks_create(const CalTransport *transport, Branch *branches, int count, const CalModel *model,
                       CrossLoops *cross_loops, Ranks **ranks) {
	Ranks made = {
		.transport = *transport, .branches = branches, .count = count, .cross_loops = cross_loops, .whole = true};
	Cursor cursor = {.align = sizeof(double)};
	layout_ranks(model, &made, &cursor);
	Ranks *r = cursor_alloc_at_start(&cursor, &model->allocator);
	if (!r)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	*r = made;
	layout_ranks(model, r, &cursor);
	*ranks = r;
	return CAL_OK;
}

void ranks_destroy(const CalModel *model, Ranks *ranks) { memory_free(&model->allocator, ranks); }
