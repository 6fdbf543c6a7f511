// SPDX-License-Identifier: Apache-2.0
/*
 * branches.c — forward dynamics of a model by its branches.
 *
 * Every worker goes through its branches three times: how they turn within themselves (what others stand on first), then
 * from the tips inward the sweeps of each branch as soon as what it waits for is there, then outward the accelerations.
 * Inward all workers go in the order of the assembly, in which whoever is needed comes before who needs it, and outward the
 * other way round: so nobody waits for ever, with any number of workers. What is told across a cut is written by one worker and read by others once its mark is set.
 */
#include <math.h>
#include <string.h>

#include <calder/branches.h>
#include "base/error.h"
#include "base/memory.h"
#include "branch/assembly.h"
#include "branch/ranks.h"
#include "branch/rows.h"
#include "dynamics/forces.h"
#include "dynamics/kinematics.h"
#include "dynamics/loop_front.h"
#include "dynamics/loop_local.h"
#include "math/finite.h"

/* The call at hand. */
typedef struct Call {
	uint64_t number;
	const CalState *state, *elastic;
	const CalInput *input;
	double h; // not zero: an implicit step
	double *udot;
	BranchFn then; // NULL: nothing
	void *user;
	bool still; // everything is at rest and weighs nothing: what multipliers alone bring about
	RowsCall rows;
	double *value, *rate; // [rows] of branches_residual()
} Call;

typedef struct Told {
	Seat seat;
	Burden burden;
	Push push;
} Told;

struct CalBranches {
	const CalModel *model;
	CalAllocator allocator;
	Branch *branches; // parents before children
	int count;
	Cut cut;
	Places places;
	Team *team; // NULL: one thread
	bool own_team;
	int threads;
	int *worker_of; // [count] -1: on another rank
	Ranks *ranks;   // NULL: all are here
	Told *told;     // [count]
	Assembly assembly;
	double *numbers; // [2 rows + nu + nq] scratch of a projection
	Rows *rows;      // loops that reach from branch to branch, NULL: there are none
	void *memory;
	Call call;
	int culprit;
	CalStatus *bad; // [count]
};

/* ---- a branch ------------------------------------------------------------------------------------- */

static const uint8_t *take_prescribed(const Call *call, Branch *b) {
	if (!call->input || !call->input->prescribed)
		return b->model.any_prescribed ? b->model.prescribed : NULL;
	for (int k = 0; k < b->u_segments; ++k)
		memcpy(b->prescribed + b->u_segment[k].own, call->input->prescribed + b->u_segment[k].whole,
		       (size_t)b->u_segment[k].count);
	return b->prescribed;
}

static SweepInput sweep_input(const CalBranches *s, Branch *b) {
	const Call *call = &s->call;
	SweepInput in = {.q = b->q, .u = b->u, .tau = b->work->tau, .prepared = 1, .base = &b->base};
	in.prescribed = take_prescribed(call, b);
	in.udot = in.prescribed && call->input && call->input->udot ? b->udot_given : NULL;
	in.rotor = call->h != 0 ? b->work->rotor : NULL;
	in.arriving = b->arriving;
	in.leaving = &b->burden->slot;
	in.loops = b->model.plan ? loop_mode(&b->model) : LOOPS_NONE;
	return in;
}

/* Takes its part of the state; how it turns within itself. */
static void begin(CalBranches *s, Branch *b) {
	const Call *call = &s->call;
	segments_gather(b->q_segment, b->q_segments, call->state->q, b->q);
	if (call->still) {
		memset(b->u, 0, sizeof(double) * (size_t)b->model.nu);
	} else {
		segments_gather(b->u_segment, b->u_segments, call->state->u, b->u);
	}
	b->gravity = call->still ? (dvec3){0, 0, 0} : b->model.gravity;
	if (call->input && call->input->udot)
		segments_gather(b->u_segment, b->u_segments, call->input->udot, b->udot_given);
	const SweepInput in = sweep_input(s, b);
	b->work->implicit_step = call->h;
	forward_kernels(b->model.isa)->spine(&b->model, &in, b->spine, b->spine_count, b->work);
	for (int k = 0; k < b->child_count; ++k) {
		Branch *child = &s->branches[b->children[k]];
		child->seat->R = b->work->links[child->seat_link].R;
		child->seat->w = b->work->links[child->seat_link].w;
		team_post(&child->seat->told, call->number);
	}
}

/* How its base turns in the world: from the base of the branch that it stands on, if that is known, or from the ground. */
static void find_base(const CalBranches *s, Branch *b) {
	int way[TEAM_MOST * 4], count = 0;
	const int worker = s->worker_of[b->index];
	if (b->parent >= 0 && !ranks_has(s->ranks, b->parent)) {
		ranks_take_base(s->ranks, b);
		return;
	}
	b->base.R = mat_from(dmat_identity());
	b->base.w = vec_zero();
	for (int k = b->index; s->branches[k].parent >= 0; k = s->branches[k].parent) {
		way[count++] = k;
		const Branch *parent = &s->branches[s->branches[k].parent];
		if (s->worker_of[parent->index] == worker) { // it was found before
			b->base.R = parent->base.R;
			b->base.w = parent->base.w;
			break;
		}
	}
	while (count > 0) {
		const Seat *seat = s->branches[way[--count]].seat;
		team_wait(&seat->told, s->call.number);
		b->base.w = add(b->base.w, mat_mul_vec(b->base.R, seat->w));
		b->base.R = mat_mul(b->base.R, seat->R);
	}
}

/* To ranks of branches that stand on it. */
static void tell_bases(const CalBranches *s, const Branch *b) {
	for (int k = 0; s->ranks && k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (ranks_has(s->ranks, child->index))
			continue;
		const SweepBase base = {.R = mat_mul(b->base.R, child->seat->R),
		                        .w = add(b->base.w, mat_mul_vec(b->base.R, child->seat->w))};
		ranks_tell_base(s->ranks, child, &base);
	}
}

/* Whether another rank has what a node stands on. */
static bool is_carried_elsewhere(const CalBranches *s, const AssemblyNode *node) {
	const Branch *first = &s->branches[node->first];
	return s->ranks && first->chain == node && first->parent >= 0 && !ranks_has(s->ranks, first->parent);
}

static void tell_burden(const CalBranches *s, const AssemblyNode *node) {
	if (is_carried_elsewhere(s, node)) {
		ranks_tell_burden(s->ranks, &s->branches[node->first]);
	} else {
		team_post(&node->burden->told, s->call.number);
	}
}

static void await_burden(const CalBranches *s, const AssemblyNode *node) {
	if (ranks_has(s->ranks, node->first)) {
		team_wait(&node->burden->told, s->call.number);
	} else {
		ranks_take_burden(s->ranks, &s->branches[node->first]);
	}
}

static void await_push(const CalBranches *s, const AssemblyNode *node) {
	if (is_carried_elsewhere(s, node)) {
		ranks_take_push(s->ranks, &s->branches[node->first]);
	} else {
		team_wait(&node->push->told, s->call.number);
	}
}

/* Wrenches of the input on its nodes, and known ones of its loops; NULL: there are none. */
static const spatial *collect(const CalBranches *s, Branch *b) {
	const CalInput *input = s->call.input;
	spatial *force = b->work->force;
	bool any = b->model.any_known && !s->call.still;
	if (any) {
		forces_collect(&b->model, NULL, b->work);
		forces_add_modal(&b->model, b->work, NULL, b->work->tau);
	}
	for (int i = 0; input && i < input->wrench_count; ++i) {
		const Place place = s->places.node[input->wrenches[i].node];
		if (place.piece != b->index)
			continue;
		for (int k = 0; !any && k < b->model.link_count; ++k)
			force[k] = spatial_zero();
		any = true;
		CalWrench wrench = input->wrenches[i];
		wrench.node = place.own;
		const int link = b->model.nodes[place.own].link;
		force[link] = spatial_add(force[link], forces_wrench_at_link(&b->model, b->work, &wrench));
		forces_add_wrench_modal(&b->model, b->work, &wrench, b->work->tau);
	}
	return any ? force : NULL;
}

static void take_forces(const CalBranches *s, Branch *b) {
	const Call *call = &s->call;
	const CalState own = {.t = call->state->t, .q = b->q, .u = b->u};
	const double *applied = NULL;
	if (call->still) {
		memset(b->work->tau, 0, sizeof(double) * (size_t)b->model.nu);
		return;
	}
	if (call->input && call->input->tau) {
		segments_gather(b->u_segment, b->u_segments, call->input->tau, b->applied);
		applied = b->applied;
	}
	if (call->h == 0) {
		forces_total(&b->model, &own, applied, b->work->tau);
		return;
	}
	CalState elastic = own;
	if (call->elastic != call->state) {
		segments_gather(b->q_segment, b->q_segments, call->elastic->q, b->elastic_q);
		segments_gather(b->u_segment, b->u_segments, call->elastic->u, b->elastic_u);
		elastic = (CalState){.t = call->elastic->t, .q = b->elastic_q, .u = b->elastic_u};
	}
	forces_total_implicit(&b->model, &own, &elastic, call->h, applied, b->work->tau, b->work->rotor);
}

static void add_slot(Slot *to, const Slot *from) {
	to->M = artic_add(to->M, from->M);
	to->b = spatial_add(to->b, from->b);
}

/* Branches that it waits for; at u' = 0 their bases accelerate as its own links do. */
static void receive(const CalBranches *s, Branch *b) {
	for (int i = 0; i < b->model.slot_count; ++i)
		b->arriving[i] = (Slot){artic_zero(), spatial_zero()};
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (child->apart)
			continue;
		await_burden(s, child->chain);
		Slot slot = child->chain->burden->slot;
		slot.b = spatial_add(slot.b, artic_mul(&slot.M, branch_seat_bias(b, child)));
		add_slot(&b->arriving[child->slot], &slot);
	}
}

/* Freedom of the whole model. */
static int whole_number(const Branch *b, int own) {
	for (int k = 0; k < b->u_segments; ++k) {
		const Segment *segment = &b->u_segment[k];
		if (own >= segment->own && own < segment->own + segment->count)
			return segment->whole + own - segment->own;
	}
	return -1;
}

/* Its own culprit, or that of a chain that it waited for. */
static void note_culprit(const CalBranches *s, const Branch *b) {
	Burden *own = b->burden;
	own->culprit = b->culprit;
	own->not_a_number = b->not_a_number;
	for (int k = 0; k < b->child_count && own->culprit < 0; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (child->apart)
			continue;
		own->culprit = child->chain->burden->culprit;
		own->not_a_number = child->chain->burden->not_a_number;
	}
}

/* udot as far as it is prescribed, which only couplings ask for: NULL, if it is zero. */
static const double *prescribed_part(const Branch *b, const SweepInput *in) {
	if (!b->model.any_coupling || !in->prescribed || !in->udot)
		return NULL;
	for (int k = 0; k < b->model.nu; ++k)
		b->work->rhs[k] = in->prescribed[k] ? in->udot[k] : 0;
	return b->work->rhs;
}

/* Inward sweep of loops that close within it. */
static int sweep_loops(const CalBranches *s, Branch *b, const SweepInput *in) {
	const CalState *state = s->call.state;
	CalWork *work = b->work;
	kinematics_origins(&b->model, b->u, work);
	const LoopContext at = {
		.t = state->t, .q = b->q, .u = b->u, .udot = prescribed_part(b, in), .plain = s->call.rows.plain};
	loop_rows(&b->model, &at, work);
	if (s->call.rows.positions)
		loop_leave_out_speeds(&b->model, &work->loops);
	for (int l = 0; l < s->model->loop_count; ++l) {
		if (s->places.loop[l].piece != b->index)
			continue;
		const Loop *whole = &s->model->loops[l], *own = &b->model.loops[s->places.loop[l].own];
		for (int r = 0; r < own->rows; ++r)
			work->loops.z[own->row + r] =
				s->call.rows.z ? s->call.rows.z[whole->row + r] : work->loops.row[own->row + r].acceleration;
	}
	return forward_kernels(b->model.isa)->closed(&b->model, in, work);
}

/* Its sweeps, columns included. What it brings to its base is complete if it carries none. */
static void sweep(CalBranches *s, Branch *b) {
	const ForwardKernels *kernels = forward_kernels(b->model.isa);
	SweepInput in = sweep_input(s, b);
	if (!s->rows)
		kernels->outward_in(&b->model, b->gravity, &in, b->work);
	take_forces(s, b);
	in.external = collect(s, b);
	receive(s, b);
	const int culprit = b->model.plan ? sweep_loops(s, b, &in) : kernels->inward(&b->model, &in, b->work);
	b->culprit = culprit >= 0 ? whole_number(b, culprit) : -1;
	b->not_a_number = culprit >= 0 && isnan(b->work->dofs[culprit].d);
	if (s->rows) {
		rows_fill(s->rows, b, s->call.state, s->call.number, &s->call.rows);
		rows_receive(s->rows, s->branches, b);
	}
	if (b->border.width > 0)
		kernels->border(&b->model, in.prescribed, b->work, &b->border);
	if (s->rows)
		rows_add(s->rows, s->branches, b);
	if (b->apart_child >= 0)
		b->seat_bias = branch_seat_bias(b, &s->branches[b->apart_child]);
	note_culprit(s, b);
	tell_burden(s, &s->assembly.nodes[b->index]);
}

/* Two components become one. */
static void join(CalBranches *s, AssemblyNode *node) {
	const AssemblyNode *inner = &s->assembly.nodes[node->inner], *outer = &s->assembly.nodes[node->outer];
	const Branch *last = &s->branches[inner->last];
	await_burden(s, inner);
	await_burden(s, outer);
	Burden *burden = node->burden;
	burden->slot = inner->burden->slot;
	if (s->rows) {
		rows_join(s->rows, inner, last->seat_bias, outer, node);
	} else {
		forward_kernels(last->model.isa)
			->join(&inner->columns, last->seat_bias, &outer->burden->slot, &outer->columns, &node->join, &burden->slot,
		           node->has_columns ? &node->columns : NULL);
	}
	const Burden *bad = outer->burden->culprit >= 0 ? outer->burden : inner->burden;
	burden->culprit = bad->culprit;
	burden->not_a_number = bad->not_a_number;
	tell_burden(s, node);
}

static void tell(const CalBranches *s, const AssemblyNode *node, spatial A, const double *x) {
	node->push->A = A;
	if (x)
		memcpy(node->push->x, x, sizeof node->push->x);
	if (ranks_has(s->ranks, node->first)) {
		team_post(&node->push->told, s->call.number);
	} else {
		ranks_tell_push(s->ranks, &s->branches[node->first]);
	}
}

/* What acts between the two. */
static void part(CalBranches *s, const AssemblyNode *node) {
	const AssemblyNode *inner = &s->assembly.nodes[node->inner], *outer = &s->assembly.nodes[node->outer];
	const ForwardKernels *kernels = forward_kernels(s->model->isa);
	double F[BORDER_CUT];
	await_push(s, node);
	const spatial A0 = node->push->A;
	const double *x = node->has_columns ? node->push->x : NULL;
	const spatial A =
		s->rows ? rows_part(s->rows, inner, node, A0, x, F) : kernels->part(&inner->columns, &node->join, A0, x, F);
	tell(s, outer, A, x);
	tell(s, inner, A0, F);
}

/* Its accelerations are known: to whoever wants them. A rank that goes on alone goes on with finite numbers. */
static void conclude(CalBranches *s, Branch *b) {
	const CalStatus status = all_finite(b->udot, b->model.nu) ? CAL_OK : CAL_NOT_FINITE;
	if (status != CAL_OK && s->ranks && !s->ranks->whole)
		memset(b->udot, 0, (size_t)b->model.nu * sizeof(double));
	if (s->call.udot)
		segments_scatter(b->u_segment, b->u_segments, b->udot, s->call.udot);
	const CalStatus then = s->call.then ? s->call.then(s->call.user, &b->slice) : CAL_OK;
	s->bad[b->index] = status == CAL_OK ? then : status;
}

static void outward(CalBranches *s, Branch *b) {
	const ForwardKernels *kernels = forward_kernels(b->model.isa);
	await_push(s, &s->assembly.nodes[b->index]);
	b->base.A = b->push->A;
	if (s->rows) {
		memcpy(b->border.beta, s->rows->x, sizeof(double) * (size_t)s->rows->width); // of no use any more
		if (b->apart_child >= 0)
			memcpy(b->border.beta, b->push->x, sizeof b->push->x);
		kernels->border_push(&b->model, b->border.beta, &b->border, b->work);
	} else if (b->apart_child >= 0) {
		kernels->border_push(&b->model, b->push->x, &b->border, b->work);
	}
	const SweepInput in = sweep_input(s, b);
	kernels->accelerate(&b->model, &in, b->work, b->udot, NULL);
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (!child->apart)
			tell(s, child->chain, spatial_add(b->work->links[child->seat_link].A, branch_seat_bias(b, child)), NULL);
	}
	if (!s->ranks || !s->ranks->whole)
		conclude(s, b);
}

/* ---- all of them ----------------------------------------------------------------------------------- */

/* The ground does not accelerate. */
static void stand_still(CalBranches *s, int worker) {
	for (int k = 0; k < s->count; ++k) {
		const int root = s->assembly.root_of[k];
		if (root >= 0 && s->branches[k].parent < 0 && s->worker_of[k] == worker)
			tell(s, &s->assembly.nodes[root], spatial_zero(), NULL);
	}
}

/* With loops that cross, everything has its place before the sweeps inward. */
static void place(CalBranches *s, Branch *b) {
	const SweepInput in = sweep_input(s, b);
	forward_kernels(b->model.isa)->outward_in(&b->model, b->gravity, &in, b->work);
	rows_place(s->rows, s->branches, b, s->call.number);
}

static void work_as(void *context, int worker) {
	CalBranches *s = context;
	const Assembly *a = &s->assembly;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			begin(s, &s->branches[k]);
	}
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] != worker)
			continue;
		find_base(s, &s->branches[k]);
		tell_bases(s, &s->branches[k]);
	}
	for (int k = 0; s->rows && k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			place(s, &s->branches[k]);
	}
	for (int i = 0; i < a->count; ++i) {
		AssemblyNode *node = &a->nodes[a->order[i]];
		if (s->worker_of[node->first] != worker)
			continue;
		if (node->inner < 0) {
			sweep(s, &s->branches[node->first]);
		} else {
			join(s, node);
		}
	}
	if (s->rows && worker == 0)
		rows_solve(s->rows, s->branches, s->count, a, s->call.state, s->call.number, &s->call.rows);
	if (s->rows)
		team_wait(&s->rows->solved, s->call.number);
	stand_still(s, worker);
	for (int i = a->count - 1; i >= 0; --i) {
		const AssemblyNode *node = &a->nodes[a->order[i]];
		if (s->worker_of[node->first] != worker)
			continue;
		if (node->inner < 0) {
			outward(s, &s->branches[node->first]);
		} else {
			part(s, node);
		}
	}
}

static int first_not_finite(const Branch *b) {
	for (int i = 0; i < b->model.nu; ++i) {
		if (!isfinite(b->udot[i]))
			return whole_number(b, i);
	}
	return -1;
}

static CalStatus judge(CalBranches *s) {
	CalStatus status = CAL_OK;
	s->culprit = -1;
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		const Burden *burden = s->branches[k].burden;
		if (burden->culprit >= 0) {
			s->culprit = burden->culprit;
			status = burden->not_a_number ? CAL_NOT_FINITE : CAL_SINGULAR;
		}
	}
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		if (s->bad[k] != CAL_OK) {
			s->culprit = first_not_finite(&s->branches[k]); // none, if it came later
			status = s->bad[k];
		}
	}
	return status;
}

static void run_all(CalBranches *s, TeamFn work) {
	if (s->team) {
		team_run(s->team, work, s);
	} else {
		work(s, 0);
	}
}

/* All ranks get to know everything, and go on with every branch. */
static CalStatus conclude_all(CalBranches *s) {
	const CalStatus status = ranks_gather_udot(s->ranks, s->call.state);
	for (int k = s->count - 1; k >= 0 && status == CAL_OK; --k)
		note_culprit(s, &s->branches[k]);
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		conclude(s, &s->branches[k]);
	return status;
}

CalStatus branches_run(CalBranches *s, const CalState *state, const CalState *elastic, const CalInput *input, double h,
                       double *udot, BranchFn then, void *user) {
	if (!s || !state || !elastic || (!udot && !then) || !isfinite(h) || forces_check(s->model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	s->call = (Call){.number = s->call.number + 1,
	                 .state = state,
	                 .elastic = elastic,
	                 .input = input,
	                 .h = h,
	                 .udot = udot,
	                 .then = then,
	                 .user = user};
	run_all(s, work_as);
	if (!s->ranks)
		return judge(s);
	s->ranks->evaluations++;
	if (s->ranks->whole && conclude_all(s) != CAL_OK)
		return CAL_ERR_LOST;
	return ranks_verdict(s->ranks, judge(s));
}

CalStatus branches_correct(CalBranches *s, const CalState *state, const double *z, const uint8_t *frozen,
                           bool positions, double *dq) {
	const CalInput input = {.prescribed = frozen};
	s->call = (Call){.number = s->call.number + 1,
	                 .state = state,
	                 .elastic = state,
	                 .input = frozen ? &input : NULL,
	                 .udot = dq,
	                 .still = true,
	                 .rows = {.plain = true, .positions = positions, .z = z}};
	run_all(s, work_as);
	return judge(s);
}

/* Residuals of the loops that are closed within a branch. */
static void residual_within(const CalBranches *s, const Branch *b) {
	const LoopContext at = {.t = s->call.state->t, .q = b->q, .u = b->u, .plain = 1};
	kinematics_origins(&b->model, b->u, b->work);
	loop_rows(&b->model, &at, b->work);
	for (int l = 0; l < s->model->loop_count; ++l) {
		if (s->places.loop[l].piece != b->index)
			continue;
		const Loop *whole = &s->model->loops[l], *own = &b->model.loops[s->places.loop[l].own];
		for (int r = 0; r < own->rows; ++r) {
			s->call.value[whole->row + r] = b->work->loops.row[own->row + r].value;
			s->call.rate[whole->row + r] = b->work->loops.row[own->row + r].rate;
		}
	}
}

static void only_rows(void *context, int worker) {
	CalBranches *s = context;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			begin(s, &s->branches[k]);
	}
	for (int k = 0; k < s->count; ++k) {
		Branch *b = &s->branches[k];
		if (s->worker_of[k] != worker)
			continue;
		find_base(s, b);
		const SweepInput in = sweep_input(s, b);
		forward_kernels(b->model.isa)->outward_in(&b->model, b->gravity, &in, b->work);
		if (s->rows) {
			rows_place(s->rows, s->branches, b, s->call.number);
		} else if (b->model.loop_count > 0) {
			residual_within(s, b);
		}
	}
}

void branches_residual(CalBranches *s, const CalState *state, double *value, double *rate) {
	s->call = (Call){.number = s->call.number + 1, .state = state, .elastic = state, .value = value, .rate = rate};
	run_all(s, only_rows);
	if (s->rows)
		rows_residual(s->rows, state, s->call.number, value, rate);
}

static void only_call(void *context, int worker) {
	CalBranches *s = context;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker || (s->ranks && s->ranks->whole))
			s->bad[k] = s->call.then(s->call.user, &s->branches[k].slice);
	}
}

CalStatus branches_each(CalBranches *s, BranchFn run, void *user) {
	s->call = (Call){.number = s->call.number, .then = run, .user = user};
	run_all(s, only_call);
	CalStatus status = CAL_OK;
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = s->bad[k];
	return s->ranks ? ranks_verdict(s->ranks, status) : status;
}

CalStatus cal_branches_forward(CalBranches *branches, const CalState *state, const CalInput *input, double *udot) {
	return branches_run(branches, state, state, input, 0, udot, NULL, NULL);
}

CalStatus cal_branches_implicit(CalBranches *branches, const CalState *state, const CalState *elastic,
                                const CalInput *input, double h, double *udot) {
	return branches_run(branches, state, elastic, input, h, udot, NULL, NULL);
}

/* ---- cuts that cannot be ------------------------------------------------------------------------------ */

/*
 * Without what was cut off, a joint that carries columns may have next to no inertia, as one about the line of masses of the
 * last body. Whether it does is seen at a few configurations: the recursion of the whole model has an inertia D there for
 * every freedom, that of the branch a smaller one.
 */
enum { PROBES = 3 };
static const double LARGEST_RATIO = 1e6; // of the two that is allowed

/* A state somewhere near the neutral one, the same in every run. */
static void probe_state(const CalModel *model, int probe, CalState *state) {
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(probe + 1);
	cal_config_neutral(model, state->q);
	for (int k = 0; k < model->nu; ++k) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const double size = model->dofs[k].link >= 0 && model->links[model->dofs[k].link].carries >= 0 &&
		                            k >= model->flexes[model->links[model->dofs[k].link].carries].u
		                        ? 1e-3
		                        : 0.7;
		state->u[k] = size * (2.0 * (double)(x >> 11) * 0x1p-53 - 1.0);
	}
	cal_config_integrate(model, state->q, state->u, state->q);
	memset(state->u, 0, sizeof(double) * (size_t)model->nu);
}

/* The first link of the branch that this one can carry no columns of; -1: it can. */
static int find_bad_cut(const CalBranches *s, const Branch *b, const CalWork *whole) {
	for (int p = 0; b->apart_child >= 0 && p < b->border.path_count; ++p) {
		const Link *link = &b->model.links[b->border.path[p]];
		for (int k = 0; k < link->nu; ++k) {
			const double with = whole->dofs[whole_number(b, link->u + k)].d;
			const double without = b->work->dofs[link->u + k].d;
			if (!(without <= LARGEST_RATIO * with) || !(without >= 0))
				return s->cut.pieces[b->apart_child].first;
		}
	}
	return -1;
}

/* Runs both at some states; returns the first link of a branch that must not be one, -1: all can, -2: no memory. */
static int probe_cuts(CalBranches *s) {
	CalState state;
	CalWork *work;
	int bad = -1;
	if (cal_work_create(s->model, &work) != CAL_OK)
		return -2;
	if (cal_state_create(s->model, &state) != CAL_OK) {
		cal_work_destroy(work);
		return -2;
	}
	for (int probe = 0; probe < PROBES && bad == -1; ++probe) {
		probe_state(s->model, probe, &state);
		if (cal_implicit_dynamics(s->model, &state, &state, NULL, 0, work, work->rhs) != CAL_OK)
			continue;
		branches_run(s, &state, &state, NULL, 0, work->rhs, NULL, NULL);
		for (int k = 0; k < s->count && bad == -1; ++k)
			bad = find_bad_cut(s, &s->branches[k], work);
	}
	cal_state_destroy(&state);
	cal_work_destroy(work);
	return bad;
}

/* ---- life --------------------------------------------------------------------------------------------- */

static CalStatus make_branches(CalBranches *s, bool cross, bool linear) {
	CalStatus status = cross ? rows_make(s->model, &s->places, s->count, &s->rows) : CAL_OK;
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = branch_extract(s->model, &s->cut, &s->places, k, &s->branches[k]);
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = branch_connect(s->branches, s->count, k, s->rows);
	for (int k = 0; k < s->count; ++k) {
		s->branches[k].seat = &s->told[k].seat;
		s->branches[k].burden = &s->told[k].burden;
		s->branches[k].push = &s->told[k].push;
	}
	if (status == CAL_OK)
		status = assembly_make(&s->allocator, s->branches, s->count, linear, s->rows, &s->assembly);
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		const int root = s->assembly.root_of[k];
		s->branches[k].chain = root >= 0 ? &s->assembly.nodes[root] : NULL;
	}
	for (int k = 0; k < s->assembly.count && linear; ++k) { // there is a chain that begins with any
		AssemblyNode *node = &s->assembly.nodes[k];
		s->branches[node->first].chain = node;
	}
	return status;
}

/* Everything but the branches' threads. */
static CalStatus make(CalBranches *s, const CalBranchOptions *options, int wanted, const uint8_t *barred) {
	const bool cross = options->cross && !s->model->any_coupling && !s->model->any_known && !options->transport;
	CalStatus status = cut_model(s->model, wanted, options->forced != 0, cross, barred, &s->cut);
	if (status == CAL_OK)
		status = places_find(s->model, &s->cut, cross, &s->places);
	if (status != CAL_OK)
		return status;
	const size_t n = (size_t)s->cut.count + 1;
	const size_t size = n * (sizeof(Told) + sizeof(Branch) + sizeof(int) + sizeof(CalStatus)) + BRANCH_LINES;
	s->memory = memory_alloc(&s->allocator, size);
	if (!s->memory)
		return CAL_ERR_MEMORY;
	memset(s->memory, 0, size);
	const uintptr_t at = (uintptr_t)s->memory;
	s->told = (Told *)(void *)((char *)s->memory + (BRANCH_LINES - at % BRANCH_LINES) % BRANCH_LINES);
	s->branches = (Branch *)(void *)(s->told + n);
	s->worker_of = (int *)(void *)(s->branches + n);
	s->bad = (CalStatus *)(void *)(s->worker_of + n);
	s->count = s->cut.count;
	return make_branches(s, cross, options->transport != NULL);
}

static void unmake(CalBranches *s) {
	for (int k = 0; k < s->count; ++k)
		branch_release(&s->branches[k]);
	ranks_destroy(s->model, s->ranks);
	s->ranks = NULL;
	assembly_free(&s->allocator, &s->assembly);
	rows_free(s->rows);
	s->rows = NULL;
	places_free(s->model, &s->places);
	cut_free(s->model, &s->cut);
	memory_free(&s->allocator, s->memory);
	s->memory = NULL;
	s->count = 0;
}

static CalStatus fill(CalBranches *s, const CalBranchOptions *options) {
	const int threads = options->threads > 0 ? options->threads : 1;
	const int wanted = options->branches > 0 ? options->branches : threads;
	const size_t numbers = 2 * (size_t)s->model->row_count + (size_t)s->model->nu + (size_t)s->model->nq;
	s->numbers = memory_alloc(&s->allocator, numbers * sizeof(double));
	if (!s->numbers)
		return CAL_ERR_MEMORY;
	uint8_t *barred = memory_alloc(&s->allocator, (size_t)s->model->link_count + 1);
	if (!barred)
		return CAL_ERR_MEMORY;
	memset(barred, 0, (size_t)s->model->link_count + 1);
	CalStatus status = make(s, options, wanted, barred);
	for (int bad = 0; status == CAL_OK && bad >= 0;) { // every round bars a link more
		bad = probe_cuts(s);
		if (bad == -2)
			status = CAL_ERR_MEMORY;
		if (bad < 0)
			break;
		barred[bad] = 1;
		unmake(s);
		status = make(s, options, wanted, barred);
	}
	memory_free(&s->allocator, barred);
	if (status != CAL_OK)
		return status;
	return CAL_OK;
}

/* Deals the branches out to the workers of a team, NULL: to the caller. A team may have more than are needed. */
static void share(CalBranches *s, Team *team) {
	const int workers = team ? team_workers(team) : 1;
	s->threads = workers < s->count ? workers : s->count > 0 ? s->count : 1;
	s->team = s->threads > 1 ? team : NULL;
	cut_share(&s->cut, s->threads, s->worker_of);
}

/* ---- ranks ------------------------------------------------------------------------------------------- */

void branches_place(CalBranches *s, const int *rank_of, uint8_t *own) {
	memcpy(s->ranks->rank_of, rank_of, (size_t)s->count * sizeof *rank_of);
	for (int k = 0; k < s->count; ++k) {
		const Branch *b = &s->branches[k];
		const bool here = ranks_has(s->ranks, k);
		s->worker_of[k] = here ? 0 : -1;
		for (int i = 0; own && i < b->u_segments; ++i)
			memset(own + b->u_segment[i].whole, here, (size_t)b->u_segment[i].count);
	}
}

void branches_set_whole(CalBranches *s, bool whole) {
	s->ranks->whole = whole;
	s->ranks->failed = false;
	for (int k = 0; k < s->count; ++k) { // of other ranks nobody fills these in
		s->branches[k].burden->culprit = -1;
		s->bad[k] = CAL_OK;
	}
}

bool branches_failed(const CalBranches *s) { return s->ranks->failed; }

CalStatus branches_bring_state(CalBranches *s, double *q, double *u) { return ranks_gather_state(s->ranks, q, u); }

void branches_count_messages(const CalBranches *s, CalDistributionInfo *info) {
	const Ranks *r = s->ranks;
	for (int k = 0; k < s->count; ++k) {
		const int parent = s->branches[k].parent;
		info->own += ranks_has(r, k);
		info->cuts += parent >= 0 && r->rank_of[parent] != r->rank_of[k];
	}
	info->branches += s->count;
	info->lost = info->lost ? info->lost : r->lost;
	info->evaluations += r->evaluations;
	info->messages += r->messages;
	info->numbers += r->numbers;
	info->gathers += r->gathers;
	info->gathered += r->gathered;
}

static CalStatus share_among_ranks(CalBranches *s, const CalTransport *transport) {
	int *rank_of = memory_alloc(&s->allocator, ((size_t)s->count + 1) * sizeof *rank_of);
	CalStatus status = rank_of ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = ranks_create(transport, s->branches, s->count, s->model, s->bad, &s->ranks);
	if (status == CAL_OK) {
		cut_share(&s->cut, transport->size, rank_of);
		branches_place(s, rank_of, NULL);
		branches_set_whole(s, true);
	}
	memory_free(&s->allocator, rank_of);
	return status;
}

CalStatus branches_create(const CalModel *model, const CalBranchOptions *options, Team *team, CalBranches **branches) {
	CalBranches *made = memory_alloc(&model->allocator, sizeof *made);
	if (!made)
		return CAL_ERR_MEMORY;
	*made = (CalBranches){.model = model, .allocator = model->allocator, .culprit = -1};
	CalBranchOptions used = *options;
	if (team && (used.threads == 0 || used.threads > team_workers(team)))
		used.threads = team_workers(team);
	if (used.transport && used.branches == 0)
		used.branches = used.transport->size < TEAM_MOST ? used.transport->size : TEAM_MOST;
	CalStatus status = fill(made, &used);
	if (status == CAL_OK)
		share(made, team);
	if (status == CAL_OK && used.transport)
		status = share_among_ranks(made, used.transport);
	if (status != CAL_OK) {
		cal_branches_destroy(made);
		return status;
	}
	*branches = made;
	return CAL_OK;
}

CalStatus cal_branches_create(const CalModel *model, const CalBranchOptions *options, CalBranches **branches,
                              CalError *error) {
	const CalBranchOptions defaults = {0};
	options = options ? options : &defaults;
	if (!model || !branches)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_branches_create: give a model, and where to put the branches");
	if (options->branches < 0 || options->branches > TEAM_MOST || options->threads < 0 || options->threads > TEAM_MOST)
		return error_set(error, CAL_ERR_ARGUMENT, "model \"%s\": branches and threads must be between 0 and %d",
		                 model->name, TEAM_MOST);
	if (options->transport && options->threads > 1)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "model \"%s\": a rank works with one thread, not with %d; start more ranks instead",
		                 model->name, options->threads);
	CalBranches *made = NULL;
	CalStatus status = branches_create(model, options, NULL, &made);
	const int workers = made && options->threads < made->count ? options->threads : made ? made->count : 1;
	if (status == CAL_OK && workers > 1) {
		Team *team;
		status = team_create(workers, !options->not_pinned, &made->allocator, &team);
		if (status == CAL_OK)
			share(made, team);
		made->own_team = status == CAL_OK;
	}
	if (status != CAL_OK) {
		cal_branches_destroy(made);
		return error_set(error, status, "model \"%s\": cannot make its branches: %s", model->name,
		                 cal_status_text(status));
	}
	*branches = made;
	return CAL_OK;
}

void cal_branches_destroy(CalBranches *branches) {
	if (!branches)
		return;
	const CalAllocator allocator = branches->allocator;
	if (branches->own_team)
		team_destroy(branches->team);
	unmake(branches);
	memory_free(&allocator, branches->numbers);
	memory_free(&allocator, branches);
}

bool branches_are_here(const CalBranches *branches) { return !branches->ranks; }
const CalModel *branches_model(const CalBranches *branches) { return branches->model; }
double *branches_numbers(CalBranches *branches) { return branches->numbers; }

int cal_branches_count(const CalBranches *branches) { return branches->count; }
int cal_branches_threads(const CalBranches *branches) { return branches->threads; }
CalStatus cal_branches_multipliers(const CalBranches *branches, double *lambda) {
	if (!branches || !lambda)
		return CAL_ERR_ARGUMENT;
	if (!branches->rows)
		return CAL_ERR_STAGE;
	memcpy(lambda, branches->rows->lambda, sizeof(double) * (size_t)branches->model->row_count);
	return CAL_OK;
}

double cal_branches_speedup(const CalBranches *branches) {
	return branches->count > 1 && branches->cut.makespan > 0 ? branches->cut.flops / branches->cut.makespan : 1;
}
int cal_branches_culprit(const CalBranches *branches) { return branches->culprit; }

CalStatus cal_branches_info(const CalBranches *branches, int branch, CalBranchInfo *info) {
	if (!branches || !info || branch < 0 || branch >= branches->count)
		return CAL_ERR_ARGUMENT;
	const Branch *b = &branches->branches[branch];
	const CutPiece *piece = &branches->cut.pieces[branch];
	*info = (CalBranchInfo){.parent = b->parent,
	                        .first_body = branches->model->links[piece->first].body,
	                        .bodies = b->model.body_count,
	                        .freedoms = b->model.nu,
	                        .loops = b->model.loop_count,
	                        .apart = b->apart,
	                        .thread = branches->worker_of[branch],
	                        .rank = branches->ranks ? branches->ranks->rank_of[branch] : 0,
	                        .flops = piece->flops};
	return CAL_OK;
}
