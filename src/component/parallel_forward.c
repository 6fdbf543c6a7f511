// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_forward.c — forward dynamics of a model by its branches.
 *
 * Every worker goes through its branches three times: how they turn within themselves (what others stand on first), then
 * from the tips inward the sweeps of each branch as soon as what it waits for is there, then outward the accelerations.
 * Inward all workers go in the order of the assembly, in which whoever is needed comes before who needs it, and outward the
 * other way round: so nobody waits for ever, with any number of workers. What is told across a cut is written by one worker
 * and read by others once its mark is set.
 */
#include <math.h>
#include <string.h>

#include "component/branches.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_rows.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "math/finite.h"

/* ---- a branch ------------------------------------------------------------------------------------- */

static const uint8_t *take_prescribed(const Call *call, Branch *b) {
	if (!call->input.prescribed)
		return b->model.any_prescribed ? b->model.prescribed : NULL;
	for (int k = 0; k < b->u_segments; ++k)
		memcpy(b->prescribed + b->u_segment[k].own, call->input.prescribed + b->u_segment[k].whole,
		       (size_t)b->u_segment[k].count);
	return b->prescribed;
}

static SweepInput sweep_input(const CalBranches *s, Branch *b) {
	const Call *call = &s->call;
	SweepInput in = {.q = b->q, .u = b->u, .tau = b->work->tau, .prepared = 1, .base = &b->base};
	in.prescribed = take_prescribed(call, b);
	in.udot = in.prescribed && call->input.udot ? b->udot_given : NULL;
	in.rotor = call->h != 0 ? b->work->rotor : NULL;
	in.arriving = b->arriving;
	in.leaving = &b->burden->slot;
	in.loops = b->model.plan ? loop_mode(&b->model) : LOOPS_NONE;
	return in;
}

/* Takes its part of the state; how it turns within itself. */
static void begin(CalBranches *s, Branch *b) {
	const Call *call = &s->call;
	segments_gather(b->q_segment, b->q_segments, call->state.q, b->q);
	if (call->still) {
		memset(b->u, 0, sizeof(double) * (size_t)b->model.nu);
	} else {
		segments_gather(b->u_segment, b->u_segments, call->state.u, b->u);
	}
	b->gravity = call->still ? (dvec3){0, 0, 0} : b->model.gravity;
	if (call->input.udot)
		segments_gather(b->u_segment, b->u_segments, call->input.udot, b->udot_given);
	const SweepInput in = sweep_input(s, b);
	b->work->implicit_step = call->h;
	interface_kernels(b->model.isa)->base_path(&b->model, &in, b->spine, b->spine_count, b->work);
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
	const CalInput *input = &s->call.input;
	spatial *force = b->work->force;
	bool any = b->model.any_known && !s->call.still;
	if (any) {
		forces_collect(&b->model, NULL, b->work);
		forces_add_modal(&b->model, b->work, NULL, b->work->tau);
	}
	for (int i = 0; i < input->wrench_count; ++i) {
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
	const CalState own = {.t = call->state.t, .q = b->q, .u = b->u};
	const double *applied = NULL;
	if (call->still) {
		memset(b->work->tau, 0, sizeof(double) * (size_t)b->model.nu);
		return;
	}
	if (call->input.tau) {
		segments_gather(b->u_segment, b->u_segments, call->input.tau, b->applied);
		applied = b->applied;
	}
	if (call->h == 0) {
		forces_total(&b->model, &own, applied, b->work->tau);
		return;
	}
	CalState elastic = own;
	if (call->elastic.q != call->state.q || call->elastic.u != call->state.u) {
		segments_gather(b->q_segment, b->q_segments, call->elastic.q, b->elastic_q);
		segments_gather(b->u_segment, b->u_segments, call->elastic.u, b->elastic_u);
		elastic = (CalState){.t = call->elastic.t, .q = b->elastic_q, .u = b->elastic_u};
	}
	forces_total_implicit(&b->model, &own, &elastic, call->h, applied, b->work->tau, b->work->rotor);
}

static void add_slot(Slot *to, const Slot *from) {
	to->M = artic_add(to->M, from->M);
	to->b = spatial_add(to->b, from->b);
}

/* All lines of what another worker has written, side by side and not one after the other. */
static void fetch(const void *data, size_t bytes) {
	for (size_t at = 0; at < bytes; at += BRANCH_LINES / 2)
		__builtin_prefetch((const char *)data + at);
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
		add_slot(&b->arriving[child->slot], &child->chain->burden->slot);
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		Slot *slot = &b->arriving[child->slot];
		if (!child->apart && child->first_on_seat)
			slot->b = spatial_add(slot->b, artic_mul(&slot->M, branch_seat_bias(b, child)));
	}
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
	const CalState *state = &s->call.state;
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
	b->burden->doubtful = b->model.plan && (b->work->loops.doubtful || b->work->loops.hopeless);
	if (s->rows) {
		rows_fill(s->rows, b, &s->call.state, s->call.number, &s->call.rows);
		rows_receive(s->rows, s->branches, b);
	}
	if (b->border.width > 0)
		interface_kernels(b->model.isa)->inward(&b->model, in.prescribed, b->work, &b->border);
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
	fetch(outer->burden, sizeof(Burden));
	if (node->has_columns) {
		fetch(outer->columns.gamma, 6 * BORDER_CUT * sizeof(double));
		fetch(outer->columns.Phi, 6 * BORDER_CUT * sizeof(double));
		fetch(outer->columns.beta, BORDER_CUT * sizeof(double));
	}
	Burden *burden = node->burden;
	burden->slot = inner->burden->slot;
	if (s->rows) {
		rows_join(s->rows, inner, last->seat_bias, outer, node);
	} else {
		interface_kernels(last->model.isa)
			->join(&inner->columns, last->seat_bias, &outer->burden->slot, &outer->columns, node->join, &burden->slot,
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
	const InterfaceKernels *kernels = interface_kernels(s->model->isa);
	double F[BORDER_CUT];
	await_push(s, node);
	const spatial A0 = node->push->A;
	const double *x = node->has_columns ? node->push->x : NULL;
	const spatial A =
		s->rows ? rows_part(s->rows, inner, node, A0, x, F) : kernels->split(&inner->columns, node->join, A0, x, F);
	tell(s, outer, A, x);
	tell(s, inner, A0, F);
}

/* A rank that goes on alone goes on with finite numbers. */
void solver_conclude(CalBranches *s, Branch *b) {
	const CalStatus status = all_finite(b->udot, b->model.nu) ? CAL_OK : CAL_NOT_FINITE;
	if (status != CAL_OK && s->ranks && !s->ranks->whole)
		memset(b->udot, 0, (size_t)b->model.nu * sizeof(double));
	if (s->call.udot)
		segments_scatter(b->u_segment, b->u_segments, b->udot, s->call.udot);
	const BranchThen *then = &s->call.then;
	const CalStatus own = then->run ? then->run(then->user, &b->slice) : CAL_OK;
	b->bad = status == CAL_OK ? own : status;
}

static void outward(CalBranches *s, Branch *b) {
	const InterfaceKernels *kernels = interface_kernels(b->model.isa);
	await_push(s, &s->assembly.nodes[b->index]);
	b->base.A = b->push->A;
	if (s->rows) {
		memcpy(b->border.beta, s->rows->x, sizeof(double) * (size_t)s->rows->width); // of no use any more
		if (b->apart_child >= 0)
			memcpy(b->border.beta, b->push->x, sizeof b->push->x);
		kernels->apply(&b->model, b->border.beta, &b->border, b->work);
	} else if (b->apart_child >= 0) {
		kernels->apply(&b->model, b->push->x, &b->border, b->work);
	}
	const SweepInput in = sweep_input(s, b);
	forward_kernels(b->model.isa)->accelerate(&b->model, &in, b->work, b->udot, NULL);
	if (UNLIKELY(b->drives) && !s->call.still) {
		loop_settle_x1(&b->model, in.prescribed, &b->work->loops, NULL);
		b->rows_power = loop_drives_power(&b->model, s->call.state.t, b->work->loops.lambda);
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (!child->apart)
			tell(s, child->chain, spatial_add(b->work->links[child->seat_link].A, branch_seat_bias(b, child)), NULL);
	}
	if (!s->ranks || !s->ranks->whole)
		solver_conclude(s, b);
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

/* What a worker will need at the end, two lines each; by then they are there. */
static void fetch_ahead(const BranchThen *then) {
	if (then->run)
		fetch(then->user, BRANCH_LINES);
	if (then->argument)
		fetch(then->argument, BRANCH_LINES);
}

/* Whether something is wrong with a branch of a worker. */
static int is_any_bad(const CalBranches *s, int worker) {
	int any = 0;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			any |= s->branches[k].culprit >= 0 || s->branches[k].bad != CAL_OK;
	}
	return any;
}

static int work_as(void *context, int worker) {
	CalBranches *s = context;
	const Assembly *a = &s->assembly;
	fetch_ahead(&s->call.then);
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
		rows_solve(s->rows, s->branches, s->count, a, &s->call.state, s->call.number, &s->call.rows);
	if (s->rows)
		team_wait(&s->rows->solved, s->call.number);
	if (!s->ranks && UNLIKELY(solver_is_doubtful(s)))
		return 0; // nobody goes on from there
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
	return is_any_bad(s, worker);
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
		if (s->branches[k].bad != CAL_OK) {
			s->culprit = first_not_finite(&s->branches[k]); // none, if it came later
			status = s->branches[k].bad;
		}
	}
	return status;
}

static int run_all(CalBranches *s, TeamFn work) { return s->team ? team_run(s->team, work, s) : work(s, 0); }

/* Behind the work of this rank. Whole: all ranks get to know everything, and go on with every branch. */
static CalStatus run_among_ranks(CalBranches *s) {
	s->ranks->evaluations++;
	if (!s->ranks->whole) // only the whole state can dispel a doubt: the run finds out, and goes that way
		return ranks_verdict(s->ranks, solver_is_doubtful(s) ? CAL_NOT_CONVERGED : judge(s));
	if (ranks_gather_udot(s->ranks, &s->call.state) != CAL_OK)
		return CAL_ERR_LOST;
	if (solver_is_doubtful(s))
		return ranks_verdict(s->ranks, solver_run_whole(s));
	for (int k = s->count - 1; k >= 0; --k)
		note_culprit(s, &s->branches[k]);
	for (int k = 0; k < s->count; ++k)
		solver_conclude(s, &s->branches[k]);
	return ranks_verdict(s->ranks, judge(s));
}

/* Multipliers are where the loops were solved: by the whole model, across branches, or within each. */
static double sum_rows_power(const CalBranches *s, bool by_whole) {
	double power = 0;
	if (by_whole || s->rows)
		return loop_drives_power(s->model, s->call.state.t, by_whole ? s->whole->loops.lambda : s->rows->lambda);
	for (int k = 0; k < s->count; ++k)
		power += s->branches[k].drives ? s->branches[k].rows_power : 0;
	return power;
}

CalStatus branches_run(CalBranches *s, const CalState *state, const CalState *elastic, const CalInput *input, double h,
                       double *udot, BranchThen then) {
	if (!s || !state || !elastic || (!udot && !then.run) || !isfinite(h) || forces_check(s->model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	s->call = (Call){.number = s->call.number + 1,
	                 .state = *state,
	                 .elastic = *elastic,
	                 .input = input ? *input : (CalInput){0},
	                 .h = h,
	                 .udot = udot,
	                 .then = then};
	const int bad = run_all(s, work_as);
	s->culprit = -1;
	if (s->ranks)
		return run_among_ranks(s);
	const bool by_whole = UNLIKELY(solver_is_doubtful(s));
	const CalStatus status = by_whole ? solver_run_whole(s) : bad ? judge(s) : CAL_OK;
	if (UNLIKELY(s->drives) && status == CAL_OK)
		s->rows_power = sum_rows_power(s, by_whole);
	return status;
}

CalStatus branches_correct(CalBranches *s, const CalState *state, const double *z, const uint8_t *frozen,
                           bool positions, double *dq) {
	s->call = (Call){.number = s->call.number + 1,
	                 .state = *state,
	                 .elastic = *state,
	                 .input = {.prescribed = frozen},
	                 .udot = dq,
	                 .still = true,
	                 .rows = {.plain = true, .positions = positions, .z = z}};
	run_all(s, work_as);
	return solver_is_doubtful(s) ? CAL_NOT_CONVERGED : judge(s);
}

/* Residuals of the loops that are closed within a branch. */
static void residual_within(const CalBranches *s, const Branch *b) {
	const LoopContext at = {.t = s->call.state.t, .q = b->q, .u = b->u, .plain = 1};
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

static int only_rows(void *context, int worker) {
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
	return 0;
}

void branches_residual(CalBranches *s, const CalState *state, double *value, double *rate) {
	s->call = (Call){.number = s->call.number + 1, .state = *state, .elastic = *state, .value = value, .rate = rate};
	run_all(s, only_rows);
	if (s->rows)
		rows_residual(s->rows, state, s->call.number, value, rate);
}

static int only_call(void *context, int worker) {
	CalBranches *s = context;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker || (s->ranks && s->ranks->whole))
			s->branches[k].bad = s->call.then.run(s->call.then.user, &s->branches[k].slice);
	}
	return 0;
}

CalStatus branches_each(CalBranches *s, BranchFn run, void *user) {
	s->call = (Call){.number = s->call.number, .then = {.run = run, .user = user}};
	run_all(s, only_call);
	CalStatus status = CAL_OK;
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = s->branches[k].bad;
	return s->ranks ? ranks_verdict(s->ranks, status) : status;
}
