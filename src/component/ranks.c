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
#include "component/ranks.h"

_Static_assert(sizeof(mat3) + sizeof(vec3) == RANKS_BASE_MOTION * sizeof(double),
               "a base motion is sent as plain numbers");
_Static_assert(sizeof(ArticulatedBody) == RANKS_BASE_INERTIA * sizeof(double),
               "a base inertia is sent as plain numbers");
_Static_assert(sizeof(spatial) == RANKS_BASE_ACCELERATION * sizeof(double),
               "a base acceleration is sent as plain numbers");

enum { BASE_MOTION, BASE_INERTIA, BASE_ACCELERATION, MESSAGE_KINDS };
enum {
	VERDICT = 4
}; // numbers beside the accelerations of a branch: failed dof, whether it is no number, status, doubt

/* ---- messages ------------------------------------------------------------------------------------------ */

static void send_message(Ranks *r, int to, int branch, int kind, const double *x, int count) {
	if (r->lost)
		return;
	r->lost = r->transport.send(r->transport.user, to, MESSAGE_KINDS * branch + kind, x, count);
	r->messages++;
	r->numbers += count;
}

static void receive_message(Ranks *r, int from, int branch, int kind, double *x, int count) {
	if (!r->lost)
		r->lost = r->transport.receive(r->transport.user, from, MESSAGE_KINDS * branch + kind, x, count);
	if (r->lost)
		memset(x, 0, (size_t)count * sizeof(double));
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
	send_message(r, r->rank_of[child->index], child->index, BASE_MOTION, x, RANKS_BASE_MOTION);
}

void ranks_receive_base_motion(Ranks *r, Branch *b) {
	double x[RANKS_BASE_MOTION];
	receive_message(r, r->rank_of[b->parent], b->index, BASE_MOTION, x, RANKS_BASE_MOTION);
	memcpy(&b->base.R, x, sizeof b->base.R);
	memcpy(&b->base.w, x + 9, sizeof b->base.w);
}

void ranks_send_base_inertia(Ranks *r, const Branch *b) {
	double x[RANKS_BASE_INERTIA];
	memcpy(x, &b->chain->base_inertia->body, sizeof b->chain->base_inertia->body);
	send_message(r, r->rank_of[b->parent], b->index, BASE_INERTIA, x, RANKS_BASE_INERTIA);
}

void ranks_receive_base_inertia(Ranks *r, const Branch *child) {
	double x[RANKS_BASE_INERTIA];
	receive_message(r, r->rank_of[child->index], child->index, BASE_INERTIA, x, RANKS_BASE_INERTIA);
	BaseInertia *base_inertia = child->chain->base_inertia;
	memcpy(&base_inertia->body, x, sizeof base_inertia->body);
	base_inertia->failed_dof = -1; // what went wrong is sent separately
	base_inertia->not_a_number = 0;
}

void ranks_send_base_acceleration(Ranks *r, const Branch *child) {
	double x[RANKS_BASE_ACCELERATION];
	memcpy(x, &child->chain->base_acceleration->A, sizeof child->chain->base_acceleration->A);
	send_message(r, r->rank_of[child->index], child->index, BASE_ACCELERATION, x, RANKS_BASE_ACCELERATION);
}

void ranks_receive_base_acceleration(Ranks *r, const Branch *b) {
	double x[RANKS_BASE_ACCELERATION];
	receive_message(r, r->rank_of[b->parent], b->index, BASE_ACCELERATION, x, RANKS_BASE_ACCELERATION);
	memcpy(&b->chain->base_acceleration->A, x, sizeof b->chain->base_acceleration->A);
}

/* ---- everything to everybody ---------------------------------------------------------------------------- */

static int result_width(const Branch *b) { return b->model->nu + VERDICT; }
static int width_of_state(const Branch *b) { return b->model->nq + b->model->nu; }

/* Branches follow one another in a packet, so those of a rank do too. */
static void find_starts(Ranks *r, int (*width)(const Branch *b)) {
	int at = 0, k = 0;
	for (int rank = 0; rank < r->transport.size; ++rank) {
		r->starts[rank] = at;
		for (; k < r->count && r->rank_of[k] == rank; ++k)
			at += width(&r->branches[k]);
	}
	r->starts[r->transport.size] = at;
}

static void write_result(const Branch *b, double *x) {
	memcpy(x, b->udot, (size_t)b->model->nu * sizeof(double));
	x += b->model->nu;
	x[0] = b->failed_dof;
	x[1] = b->not_a_number;
	x[2] = (double)b->bad;
	x[3] = b->base_inertia->doubtful;
}

static void read_result(const CalState *state, Branch *b, const double *x) {
	memcpy(b->udot, x, (size_t)b->model->nu * sizeof(double));
	x += b->model->nu;
	b->failed_dof = (int)x[0];
	b->not_a_number = (int)x[1];
	b->bad = (CalStatus)x[2];
	b->base_inertia->doubtful = (int)x[3];
	segments_gather(b->q_segment, b->q_segments, state->q, b->q);
	segments_gather(b->u_segment, b->u_segments, state->u, b->u);
}

CalStatus ranks_gather_udot(Ranks *r, const CalState *state) {
	find_starts(r, result_width);
	double *x = r->packet;
	for (int k = 0; k < r->count; x += result_width(&r->branches[k]), ++k) {
		if (ranks_has(r, k))
			write_result(&r->branches[k], x);
	}
	const CalStatus status = gather_all(r, r->starts, r->packet);
	x = r->packet;
	for (int k = 0; k < r->count && status == CAL_OK; x += result_width(&r->branches[k]), ++k) {
		if (!ranks_has(r, k))
			read_result(state, &r->branches[k], x);
	}
	return status;
}

CalStatus ranks_gather_state(Ranks *r, double *q, double *u) {
	find_starts(r, width_of_state);
	double *x = r->packet;
	for (int k = 0; k < r->count; x += width_of_state(&r->branches[k]), ++k) {
		const Branch *b = &r->branches[k];
		if (!ranks_has(r, k))
			continue;
		segments_gather(b->q_segment, b->q_segments, q, x);
		segments_gather(b->u_segment, b->u_segments, u, x + b->model->nq);
	}
	const CalStatus status = gather_all(r, r->starts, r->packet);
	x = r->packet;
	for (int k = 0; k < r->count && status == CAL_OK; x += width_of_state(&r->branches[k]), ++k) {
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
	CURSOR_ARRAY(cursor, r->packet, model->nq + model->nu + VERDICT * r->count + 1);
	CURSOR_ARRAY(cursor, r->rank_of, r->count + 1);
	CURSOR_ARRAY(cursor, r->starts, r->transport.size + 1);
}

CalStatus ranks_create(const CalTransport *transport, Branch *branches, int count, const CalModel *model,
                       Ranks **ranks) {
	Ranks made = {.transport = *transport, .branches = branches, .count = count, .whole = true};
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
