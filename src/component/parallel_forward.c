// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_forward.c — forward dynamics of a model by its branches.
 *
 * Every worker goes through its branches three times: how they turn within themselves (parents first),
 * then from the tips inward the sweeps of each branch as soon as its children have arrived, then outward the
 * accelerations. Inward all workers go in the order of the join tree, in which whoever is needed comes before who needs
 * it, and outward the other way round: so there is no deadlock with any number of workers. What is sent across an
 * interface is written by one worker and read by others once its mark is set.
 */
#include <math.h>
#include <string.h>

#include "component/branches.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_round_off.h"
#include "dynamics/loop/loop_rows.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "math/finite.h"

/* ---- a branch ------------------------------------------------------------------------------------- */

static const uint8_t *gather_prescribed(const Evaluation *evaluation, Branch *b) {
	if (!evaluation->input.prescribed)
		return b->model->any_prescribed ? b->model->prescribed : NULL;
	for (int k = 0; k < b->u_segments; ++k)
		memcpy(b->prescribed + b->u_segment[k].own, evaluation->input.prescribed + b->u_segment[k].whole,
		       (size_t)b->u_segment[k].count);
	return b->prescribed;
}

static SweepInput sweep_input(const CalBranches *s, Branch *b) {
	const Evaluation *evaluation = &s->evaluation;
	SweepInput in = {.q = b->q, .u = b->u, .tau = b->work->tau, .prepared = 1, .base = &b->base};
	in.prescribed = gather_prescribed(evaluation, b);
	in.udot = in.prescribed && evaluation->input.udot ? b->udot_given : NULL;
	in.rotor = evaluation->h != 0 ? b->work->rotor : NULL;
	in.arriving = b->arriving;
	in.leaving = &b->base_inertia->body;
	in.loops = b->model->loop_schedule ? loop_hooks(b->model) : NULL;
	return in;
}

/* Takes its part of the state; how it turns within itself. */
static void gather_state(CalBranches *s, Branch *b) {
	const Evaluation *evaluation = &s->evaluation;
	segments_gather(b->q_segment, b->q_segments, evaluation->state.q, b->q);
	if (evaluation->at_rest) {
		memset(b->u, 0, sizeof(double) * (size_t)b->model->nu);
	} else {
		segments_gather(b->u_segment, b->u_segments, evaluation->state.u, b->u);
	}
	b->gravity = evaluation->at_rest ? (dvec3){0, 0, 0} : b->model->gravity;
	if (evaluation->input.udot)
		segments_gather(b->u_segment, b->u_segments, evaluation->input.udot, b->udot_given);
	const SweepInput in = sweep_input(s, b);
	b->work->implicit_step = evaluation->h;
	interface_kernels(b->model->isa)->base_path(b->model, &in, b->base_path, b->base_path_count, b->work);
	for (int k = 0; k < b->child_count; ++k) {
		Branch *child = &s->branches[b->children[k]];
		child->base_motion->R = b->work->links[child->base_link].R;
		child->base_motion->w = b->work->links[child->base_link].w;
		progress_post(&child->base_motion->ready, evaluation->number);
	}
}

/* How its base turns in the world: from the base of its parent, if that is known, or from the ground. */
static void find_base(const CalBranches *s, Branch *b) {
	int path[WORKER_POOL_MAX * 4], count = 0;
	const int worker = s->worker_of[b->index];
	if (b->parent >= 0 && !ranks_has(s->ranks, b->parent)) {
		ranks_receive_base_motion(s->ranks, b);
		return;
	}
	b->base.R = mat_from(dmat_identity());
	b->base.w = vec_zero();
	for (int k = b->index; s->branches[k].parent >= 0; k = s->branches[k].parent) {
		path[count++] = k;
		const Branch *parent = &s->branches[s->branches[k].parent];
		if (s->worker_of[parent->index] == worker) { // it was found before
			b->base.R = parent->base.R;
			b->base.w = parent->base.w;
			break;
		}
	}
	while (count > 0) {
		const BaseMotion *base_motion = s->branches[path[--count]].base_motion;
		progress_wait(&base_motion->ready, s->evaluation.number);
		b->base.w = add(b->base.w, mat_mul_vec(b->base.R, base_motion->w));
		b->base.R = mat_mul(b->base.R, base_motion->R);
	}
}

/* To ranks of its children. */
static void send_base_motions(const CalBranches *s, const Branch *b) {
	for (int k = 0; s->ranks && k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (ranks_has(s->ranks, child->index))
			continue;
		const SweepBase base = {.R = mat_mul(b->base.R, child->base_motion->R),
		                        .w = add(b->base.w, mat_mul_vec(b->base.R, child->base_motion->w))};
		ranks_send_base_motion(s->ranks, child, &base);
	}
}

/* Whether another rank has the link that carries a node. */
static bool is_carried_by_other_rank(const CalBranches *s, const JoinNode *node) {
	const Branch *first = &s->branches[node->first];
	return s->ranks && first->chain == node && first->parent >= 0 && !ranks_has(s->ranks, first->parent);
}

static void send_base_inertia(const CalBranches *s, const JoinNode *node) {
	if (is_carried_by_other_rank(s, node)) {
		ranks_send_base_inertia(s->ranks, &s->branches[node->first]);
	} else {
		progress_post(&node->base_inertia->ready, s->evaluation.number);
	}
}

static void wait_for_base_inertia(const CalBranches *s, const JoinNode *node) {
	if (ranks_has(s->ranks, node->first)) {
		progress_wait(&node->base_inertia->ready, s->evaluation.number);
	} else {
		ranks_receive_base_inertia(s->ranks, &s->branches[node->first]);
	}
}

static void wait_for_base_acceleration(const CalBranches *s, const JoinNode *node) {
	if (is_carried_by_other_rank(s, node)) {
		ranks_receive_base_acceleration(s->ranks, &s->branches[node->first]);
	} else {
		progress_wait(&node->base_acceleration->ready, s->evaluation.number);
	}
}

/* Wrenches of the input on its nodes, and known ones of its loops; NULL: there are none. */
static const spatial *collect_wrenches(const CalBranches *s, Branch *b) {
	const CalInput *input = &s->evaluation.input;
	spatial *force = b->work->force;
	bool any = b->model->any_applied_wrench && !s->evaluation.at_rest;
	if (any) {
		forces_collect(b->model, NULL, b->work);
		forces_add_modal(b->model, b->work, NULL, b->work->tau);
	}
	for (int i = 0; i < input->wrench_count; ++i) {
		const PieceIndex place = s->piece_map.node[input->wrenches[i].node];
		if (place.piece != b->index)
			continue;
		for (int k = 0; !any && k < b->model->link_count; ++k)
			force[k] = spatial_zero();
		any = true;
		CalWrench wrench = input->wrenches[i];
		wrench.node = place.own;
		const int link = b->model->nodes[place.own].link;
		force[link] = spatial_add(force[link], forces_wrench_at_link(b->model, b->work, &wrench));
		forces_add_wrench_modal(b->model, b->work, &wrench, b->work->tau);
	}
	return any ? force : NULL;
}

static void gather_forces(const CalBranches *s, Branch *b) {
	const Evaluation *evaluation = &s->evaluation;
	const CalState own = {.t = evaluation->state.t, .q = b->q, .u = b->u};
	const double *applied = NULL;
	if (evaluation->at_rest) {
		memset(b->work->tau, 0, sizeof(double) * (size_t)b->model->nu);
		return;
	}
	if (evaluation->input.tau) {
		segments_gather(b->u_segment, b->u_segments, evaluation->input.tau, b->applied);
		applied = b->applied;
	}
	if (evaluation->h == 0) {
		forces_total(b->model, &own, applied, b->work);
		return;
	}
	CalState elastic = own;
	if (evaluation->elastic.q != evaluation->state.q || evaluation->elastic.u != evaluation->state.u) {
		segments_gather(b->q_segment, b->q_segments, evaluation->elastic.q, b->elastic_q);
		segments_gather(b->u_segment, b->u_segments, evaluation->elastic.u, b->elastic_u);
		elastic = (CalState){.t = evaluation->elastic.t, .q = b->elastic_q, .u = b->elastic_u};
	}
	forces_total_implicit(b->model, &own, &elastic, evaluation->h, applied, b->work);
}

static void add_articulated_body(ArticulatedBody *to, const ArticulatedBody *from) {
	to->M = articulated_add(to->M, from->M);
	to->b = spatial_add(to->b, from->b);
}

/* All lines of what another worker has written, side by side and not one after the other. */
static void prefetch(const void *data, size_t bytes) {
	for (size_t at = 0; at < bytes; at += BRANCH_ALIGN / 2)
		__builtin_prefetch((const char *)data + at);
}

/* Its children that are not decoupled; at u' = 0 their bases accelerate as its own links do. */
static void receive_base_inertias(const CalBranches *s, Branch *b) {
	for (int i = 0; i < b->model->accumulator_count; ++i)
		b->arriving[i] = (ArticulatedBody){articulated_zero(), spatial_zero()};
	for (int k = 0; k < b->child_count; ++k) { // lines of the first come while the marks of the others are read
		const Branch *child = &s->branches[b->children[k]];
		if (child->decoupled)
			continue;
		wait_for_base_inertia(s, child->chain);
		prefetch(child->chain->base_inertia, sizeof(BaseInertia));
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (!child->decoupled)
			add_articulated_body(&b->arriving[child->accumulator], &child->chain->base_inertia->body);
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		ArticulatedBody *arriving = &b->arriving[child->accumulator];
		if (!child->decoupled && child->first_on_base_link)
			arriving->b = spatial_add(arriving->b, articulated_mul(&arriving->M, branch_base_bias(b, child)));
	}
}

/* Its own failed dof, or that of a chain of children. */
static void note_failed_dof(const CalBranches *s, const Branch *b) {
	BaseInertia *own = b->base_inertia;
	own->failed_dof = b->failed_dof;
	own->not_a_number = b->not_a_number;
	for (int k = 0; k < b->child_count && own->failed_dof < 0; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (child->decoupled)
			continue;
		own->failed_dof = child->chain->base_inertia->failed_dof;
		own->not_a_number = child->chain->base_inertia->not_a_number;
	}
}

/* udot as far as it is prescribed, which only couplings ask for: NULL, if it is zero. */
static const double *prescribed_part(const Branch *b, const SweepInput *in) {
	if (!b->model->any_coupling || !in->prescribed || !in->udot)
		return NULL;
	for (int k = 0; k < b->model->nu; ++k)
		b->work->rhs[k] = in->prescribed[k] ? in->udot[k] : 0;
	return b->work->rhs;
}

/* Inward sweep of loops that close within it. */
static int sweep_loops(const CalBranches *s, Branch *b, const SweepInput *in) {
	const CalState *state = &s->evaluation.state;
	CalWork *work = b->work;
	kinematics_origins(b->model, b->u, work);
	const LoopContext at = {
		.t = state->t, .q = b->q, .u = b->u, .udot = prescribed_part(b, in), .plain = s->evaluation.cross_loops.plain};
	loop_rows(b->model, &at, work);
	if (s->evaluation.cross_loops.positions)
		loop_drop_speed_rows(b->model, &work->loops);
	for (int l = 0; l < s->model->loop_count; ++l) {
		if (s->piece_map.loop[l].piece != b->index)
			continue;
		const Loop *whole = &s->model->loops[l], *own = &b->model->loops[s->piece_map.loop[l].own];
		for (int r = 0; r < own->rows; ++r)
			work->loops.z[own->row + r] = s->evaluation.cross_loops.z ? s->evaluation.cross_loops.z[whole->row + r]
			                                                          : work->loops.row[own->row + r].acceleration;
	}
	return loop_kernels(b->model->isa)->inward(b->model, in, work);
}

/* Loops of a branch itself, after its inward sweep; its base is taken as held. */
static int loses_digits(const Branch *b) {
	const LoopWork *loops = &b->work->loops;
	return loops->doubtful || loops->hopeless || loops->uneven > 1 ||
	       (b->model->light_loops && loop_round_off_of(b->model, NULL, b->work).moved > loop_uneven(b->model));
}

/* Its sweeps, columns included. What it brings to its base is complete if it carries none. */
static void sweep_branch(CalBranches *s, Branch *b) {
	const ForwardKernels *kernels = forward_kernels(b->model->isa);
	SweepInput in = sweep_input(s, b);
	CAL_ASSERT(b->work->model == b->model && !progress_is_posted(&b->base_inertia->ready, s->evaluation.number));
	if (!s->cross_loops)
		kernels->outward_in(b->model, b->gravity, &in, b->work);
	gather_forces(s, b);
	in.external = collect_wrenches(s, b);
	receive_base_inertias(s, b);
	const int failed_dof = b->model->loop_schedule ? sweep_loops(s, b, &in) : kernels->inward(b->model, &in, b->work);
	b->failed_dof = failed_dof >= 0 ? model_dof(b, failed_dof) : -1;
	b->not_a_number = failed_dof >= 0 && isnan(b->work->dofs[failed_dof].D_inv);
	b->base_inertia->doubtful = b->model->loop_schedule && loses_digits(b);
	if (s->cross_loops) {
		cross_loops_fill(s->cross_loops, b, &s->evaluation.state, s->evaluation.number, &s->evaluation.cross_loops);
		cross_loops_receive(s->cross_loops, s->branches, b);
	}
	if (b->interface.width > 0)
		interface_kernels(b->model->isa)->inward(b->model, in.prescribed, b->work, &b->interface);
	if (s->cross_loops) {
		cross_loops_add(s->cross_loops, s->branches, b);
		cross_loops_find_mobility(s->cross_loops, s->branches, b);
	}
	if (b->decoupled_child >= 0)
		b->child_base_bias = branch_base_bias(b, &s->branches[b->decoupled_child]);
	note_failed_dof(s, b);
	send_base_inertia(s, &s->join_tree.nodes[b->index]);
}

/* Two components become one. */
static void join_node(CalBranches *s, JoinNode *node) {
	const JoinNode *inner = &s->join_tree.nodes[node->inner], *outer = &s->join_tree.nodes[node->outer];
	const Branch *last = &s->branches[inner->last];
	wait_for_base_inertia(s, inner);
	wait_for_base_inertia(s, outer);
	prefetch(outer->base_inertia, sizeof(BaseInertia));
	if (node->has_columns) {
		prefetch(outer->columns.gamma, 6 * INTERFACE_WIDTH * sizeof(double));
		prefetch(outer->columns.Lambda, 6 * INTERFACE_WIDTH * sizeof(double));
		prefetch(outer->columns.beta, INTERFACE_WIDTH * sizeof(double));
	}
	BaseInertia *base_inertia = node->base_inertia;
	base_inertia->body = inner->base_inertia->body;
	if (s->cross_loops) {
		cross_loops_join(s->cross_loops, inner, last->child_base_bias, outer, node);
	} else {
		interface_kernels(last->model->isa)
			->join(&inner->columns, last->child_base_bias, &outer->base_inertia->body, &outer->columns, node->join,
		           &base_inertia->body, node->has_columns ? &node->columns : NULL);
	}
	const BaseInertia *bad = outer->base_inertia->failed_dof >= 0 ? outer->base_inertia : inner->base_inertia;
	base_inertia->failed_dof = bad->failed_dof;
	base_inertia->not_a_number = bad->not_a_number;
	send_base_inertia(s, node);
}

static void send_base_acceleration(const CalBranches *s, const JoinNode *node, spatial A, const double *x) {
	node->base_acceleration->A = A;
	if (x)
		memcpy(node->base_acceleration->x, x, sizeof node->base_acceleration->x);
	if (ranks_has(s->ranks, node->first)) {
		progress_post(&node->base_acceleration->ready, s->evaluation.number);
	} else {
		ranks_send_base_acceleration(s->ranks, &s->branches[node->first]);
	}
}

/* What acts between the two. */
static void split_node(CalBranches *s, const JoinNode *node) {
	const JoinNode *inner = &s->join_tree.nodes[node->inner], *outer = &s->join_tree.nodes[node->outer];
	const InterfaceKernels *kernels = interface_kernels(s->model->isa);
	double F[INTERFACE_WIDTH];
	wait_for_base_acceleration(s, node);
	const spatial A0 = node->base_acceleration->A;
	const double *x = node->has_columns ? node->base_acceleration->x : NULL;
	const spatial A = s->cross_loops ? cross_loops_split(s->cross_loops, inner, node, A0, x, F)
	                                 : kernels->split(&inner->columns, node->join, A0, x, F);
	send_base_acceleration(s, outer, A, x);
	send_base_acceleration(s, inner, A0, F);
}

/* A rank that continues alone does so with finite numbers. */
void solver_conclude(CalBranches *s, Branch *b) {
	const CalStatus status = all_finite(b->udot, b->model->nu) ? CAL_OK : CAL_NOT_FINITE;
	if (status != CAL_OK && s->ranks && !s->ranks->whole)
		memset(b->udot, 0, (size_t)b->model->nu * sizeof(double));
	if (s->evaluation.udot)
		segments_scatter(b->u_segment, b->u_segments, b->udot, s->evaluation.udot);
	const BranchCallback *callback = &s->evaluation.callback;
	const CalStatus own = callback->run ? callback->run(callback->user, &b->slice) : CAL_OK;
	b->bad = status == CAL_OK ? own : status;
}

static void accelerate_branch(CalBranches *s, Branch *b) {
	const InterfaceKernels *kernels = interface_kernels(b->model->isa);
	wait_for_base_acceleration(s, &s->join_tree.nodes[b->index]);
	b->base.A = b->base_acceleration->A;
	if (s->cross_loops) {
		memcpy(b->interface.beta, s->cross_loops->x,
		       sizeof(double) * (size_t)s->cross_loops->width); // of no use any more
		if (b->decoupled_child >= 0)
			memcpy(b->interface.beta, b->base_acceleration->x, sizeof b->base_acceleration->x);
		kernels->apply(b->model, b->interface.beta, &b->interface, b->work);
	} else if (b->decoupled_child >= 0) {
		kernels->apply(b->model, b->base_acceleration->x, &b->interface, b->work);
	}
	const SweepInput in = sweep_input(s, b);
	forward_kernels(b->model->isa)->accelerate(b->model, &in, b->work, b->udot, NULL);
	if (UNLIKELY(b->drives) && !s->evaluation.at_rest) {
		min_norm_multipliers_x1(b->model, in.prescribed, &b->work->loops, NULL);
		b->drive_power = loop_drives_power(b->model, s->evaluation.state.t, b->work->loops.lambda);
	}
	for (int k = 0; k < b->child_count; ++k) {
		const Branch *child = &s->branches[b->children[k]];
		if (!child->decoupled)
			send_base_acceleration(s, child->chain,
			                       spatial_add(b->work->links[child->base_link].A, branch_base_bias(b, child)), NULL);
	}
	if (!s->ranks || !s->ranks->whole)
		solver_conclude(s, b);
}

/* ---- all of them ----------------------------------------------------------------------------------- */

/* The node of a chain on the ground that begins with a branch; NULL: there is none. */
static JoinNode *chain_on_ground(const CalBranches *s, int branch) {
	const int root = s->join_tree.root_of[branch];
	return root >= 0 && s->branches[branch].parent < 0 ? &s->join_tree.nodes[root] : NULL;
}

/* The ground does not accelerate. */
static void set_at_rest(CalBranches *s, int worker) {
	for (int k = 0; k < s->count; ++k) {
		const JoinNode *chain = chain_on_ground(s, k);
		if (chain && s->worker_of[k] == worker)
			send_base_acceleration(s, chain, spatial_zero(), NULL);
	}
}

/* Multipliers of loops that span branches: where branch 0 is, once all chains on the ground have arrived there. */
static void solve_cross_loops(CalBranches *s, int worker) {
	const int solver = s->worker_of[0];
	for (int k = 0; s->ranks && worker != solver && k < s->count; ++k) {
		if (chain_on_ground(s, k) && s->worker_of[k] == worker)
			ranks_send_columns(s->ranks, &s->branches[k]);
	}
	for (int k = 0; worker == solver && k < s->count; ++k) {
		const JoinNode *chain = chain_on_ground(s, k);
		if (chain && ranks_has(s->ranks, k)) {
			progress_wait(&chain->base_inertia->ready, s->evaluation.number);
		} else if (chain) {
			ranks_receive_columns(s->ranks, &s->branches[k]);
		}
	}
	if (worker == solver) {
		cross_loops_solve(s->cross_loops, s->branches, s->count, &s->join_tree);
		progress_post(&s->cross_loops->solved, s->evaluation.number);
	}
	for (int k = 0; s->ranks && k < s->count; ++k) {
		if (!chain_on_ground(s, k))
			continue;
		if (worker == solver && !ranks_has(s->ranks, k)) {
			ranks_send_multipliers(s->ranks, &s->branches[k]);
		} else if (worker != solver && ranks_has(s->ranks, k)) {
			ranks_receive_multipliers(s->ranks, &s->branches[k]);
		}
	}
	if (!s->ranks)
		progress_wait(&s->cross_loops->solved, s->evaluation.number);
}

/* With loops that span branches, everything has its place before the sweeps inward. */
static void place_cross_loops(CalBranches *s, Branch *b) {
	const bool elsewhere = b->parent >= 0 && !ranks_has(s->ranks, b->parent);
	if (elsewhere)
		ranks_receive_base_position(s->ranks, b);
	cross_loops_place(s->cross_loops, s->branches, b, elsewhere, s->evaluation.number);
	for (int k = 0; s->ranks && k < b->child_count; ++k) {
		if (!ranks_has(s->ranks, b->children[k]))
			ranks_send_base_position(s->ranks, &s->branches[b->children[k]]);
	}
}

/* All branches of a worker; where ends of a loop are on two ranks, each gets the frame of the other. */
static void place_all_cross_loops(CalBranches *s, int worker) {
	for (int k = 0; k < s->count; ++k) {
		Branch *b = &s->branches[k];
		if (s->worker_of[k] != worker)
			continue;
		const SweepInput in = sweep_input(s, b);
		forward_kernels(b->model->isa)->outward_in(b->model, b->gravity, &in, b->work);
	}
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			place_cross_loops(s, &s->branches[k]);
	}
	if (s->ranks)
		ranks_exchange_frames(s->ranks, s->evaluation.number);
}

/* What the caller wrote, all lines at once; and what a worker will need at the end, two lines each: by then they are there. */
static void prefetch_call(const Evaluation *evaluation) {
	const BranchCallback *callback = &evaluation->callback;
	prefetch(evaluation, sizeof *evaluation);
	if (callback->run)
		prefetch(callback->user, BRANCH_ALIGN);
	if (callback->argument)
		prefetch(callback->argument, BRANCH_ALIGN);
}

/* Whether something is wrong with a branch of a worker. */
static int is_any_bad(const CalBranches *s, int worker) {
	int any = 0;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			any |= s->branches[k].failed_dof >= 0 || s->branches[k].bad != CAL_OK;
	}
	return any;
}

static int worker_evaluate(void *context, int worker) {
	CalBranches *s = context;
	const JoinTree *a = &s->join_tree;
	prefetch_call(&s->evaluation);
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			gather_state(s, &s->branches[k]);
	}
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] != worker)
			continue;
		find_base(s, &s->branches[k]);
		send_base_motions(s, &s->branches[k]);
	}
	if (s->cross_loops)
		place_all_cross_loops(s, worker);
	for (int i = 0; i < a->count; ++i) {
		JoinNode *node = &a->nodes[a->order[i]];
		if (s->worker_of[node->first] != worker)
			continue;
		if (node->inner < 0) {
			sweep_branch(s, &s->branches[node->first]);
		} else {
			join_node(s, node);
		}
	}
	if (s->cross_loops)
		solve_cross_loops(s, worker);
	if (!s->ranks && UNLIKELY(solver_is_doubtful(s)))
		return 0; // no branch is solved outward
	set_at_rest(s, worker);
	for (int i = a->count - 1; i >= 0; --i) {
		const JoinNode *node = &a->nodes[a->order[i]];
		if (s->worker_of[node->first] != worker)
			continue;
		if (node->inner < 0) {
			accelerate_branch(s, &s->branches[node->first]);
		} else {
			split_node(s, node);
		}
	}
	return is_any_bad(s, worker);
}

static int first_not_finite(const Branch *b) {
	for (int i = 0; i < b->model->nu; ++i) {
		if (!isfinite(b->udot[i]))
			return model_dof(b, i);
	}
	return -1;
}

static CalStatus check_result(CalBranches *s) {
	CalStatus status = CAL_OK;
	s->failed_dof = -1;
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		const BaseInertia *base_inertia = s->branches[k].base_inertia;
		if (base_inertia->failed_dof >= 0) {
			s->failed_dof = base_inertia->failed_dof;
			status = base_inertia->not_a_number ? CAL_NOT_FINITE : CAL_SINGULAR;
		}
	}
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		if (s->branches[k].bad != CAL_OK) {
			s->failed_dof = first_not_finite(&s->branches[k]); // none, if it came later
			status = s->branches[k].bad;
		}
	}
	return status;
}

static int run_workers(CalBranches *s, WorkerFn work) {
	return s->pool ? worker_pool_run(s->pool, work, s) : work(s, 0);
}

/*
 * Multipliers are where the loops were solved: by the whole model, across branches, or within each. Of a rank that knows
 * its own branches alone: its share.
 */
static double sum_drive_power(const CalBranches *s, bool by_whole) {
	double power = 0;
	if (by_whole || s->cross_loops)
		return !by_whole && !ranks_has(s->ranks, 0)
		           ? 0
		           : loop_drives_power(s->model, s->evaluation.state.t,
		                               by_whole ? s->whole->loops.lambda : s->cross_loops->lambda);
	for (int k = 0; k < s->count; ++k)
		power += s->branches[k].drives && s->worker_of[k] >= 0 ? s->branches[k].drive_power : 0;
	return power;
}

/* After the work of this rank. Whole: all ranks receive everything and continue with every branch. */
static CalStatus run_among_ranks(CalBranches *s) {
	s->ranks->evaluations++;
	if (!s->ranks->whole) { // only the whole state can dispel a doubt: the run detects it and solves the whole model
		s->drive_power = s->drives ? sum_drive_power(s, false) : 0;
		return ranks_agree_status(s->ranks, solver_is_doubtful(s) ? CAL_NOT_CONVERGED : check_result(s));
	}
	if (ranks_gather_udot(s->ranks, &s->evaluation.state) != CAL_OK)
		return CAL_ERR_LOST;
	if (solver_is_doubtful(s))
		return ranks_agree_status(s->ranks, solver_run_whole(s));
	for (int k = s->count - 1; k >= 0; --k)
		note_failed_dof(s, &s->branches[k]);
	for (int k = 0; k < s->count; ++k)
		solver_conclude(s, &s->branches[k]);
	return ranks_agree_status(s->ranks, check_result(s));
}

CalStatus branches_run(CalBranches *s, const CalState *state, const CalState *elastic, const CalInput *input, double h,
                       double *udot, BranchCallback callback) {
	if (!s || !state || !elastic || (!udot && !callback.run) || !isfinite(h) || forces_check(s->model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	s->evaluation = (Evaluation){.number = s->evaluation.number + 1,
	                             .state = *state,
	                             .elastic = *elastic,
	                             .input = input ? *input : (CalInput){0},
	                             .h = h,
	                             .udot = udot,
	                             .callback = callback};
	const int bad = run_workers(s, worker_evaluate);
	s->failed_dof = -1;
	s->error = 0;
	if (s->ranks)
		return run_among_ranks(s);
	const bool by_whole = UNLIKELY(solver_is_doubtful(s));
	const CalStatus status = by_whole ? solver_run_whole(s) : bad ? check_result(s) : CAL_OK;
	if (UNLIKELY(s->drives) && status == CAL_OK)
		s->drive_power = sum_drive_power(s, by_whole);
	return status;
}

CalStatus branches_correct(CalBranches *s, const CalState *state, const double *z, const uint8_t *frozen,
                           bool positions, double *dq) {
	s->evaluation = (Evaluation){.number = s->evaluation.number + 1,
	                             .state = *state,
	                             .elastic = *state,
	                             .input = {.prescribed = frozen},
	                             .udot = dq,
	                             .at_rest = true,
	                             .cross_loops = {.plain = true, .positions = positions, .z = z}};
	run_workers(s, worker_evaluate);
	if (s->ranks)
		s->ranks->corrections++;
	return solver_is_doubtful(s) ? CAL_NOT_CONVERGED : check_result(s);
}

/* Residuals of the loops that are closed within a branch. */
static void residual_within(const CalBranches *s, const Branch *b) {
	const LoopContext at = {.t = s->evaluation.state.t, .q = b->q, .u = b->u, .plain = 1};
	kinematics_origins(b->model, b->u, b->work);
	loop_rows(b->model, &at, b->work);
	for (int l = 0; l < s->model->loop_count; ++l) {
		if (s->piece_map.loop[l].piece != b->index)
			continue;
		const Loop *whole = &s->model->loops[l], *own = &b->model->loops[s->piece_map.loop[l].own];
		for (int r = 0; r < own->rows; ++r) {
			s->evaluation.value[whole->row + r] = b->work->loops.row[own->row + r].value;
			s->evaluation.rate[whole->row + r] = b->work->loops.row[own->row + r].rate;
		}
	}
}

static int worker_residuals(void *context, int worker) {
	CalBranches *s = context;
	const Evaluation *evaluation = &s->evaluation;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker)
			gather_state(s, &s->branches[k]);
	}
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] != worker)
			continue;
		find_base(s, &s->branches[k]);
		send_base_motions(s, &s->branches[k]);
	}
	if (s->cross_loops)
		place_all_cross_loops(s, worker);
	for (int k = 0; k < s->count; ++k) {
		Branch *b = &s->branches[k];
		if (s->worker_of[k] != worker)
			continue;
		if (s->cross_loops) {
			cross_loops_residual(s->cross_loops, b, &evaluation->state, evaluation->number, evaluation->value,
			                     evaluation->rate);
		} else if (b->model->loop_count > 0) {
			const SweepInput in = sweep_input(s, b);
			forward_kernels(b->model->isa)->outward_in(b->model, b->gravity, &in, b->work);
			residual_within(s, b);
		}
	}
	return 0;
}

void branches_residual(CalBranches *s, const CalState *state, double *value, double *rate) {
	s->evaluation = (Evaluation){
		.number = s->evaluation.number + 1, .state = *state, .elastic = *state, .value = value, .rate = rate};
	run_workers(s, worker_residuals);
	if (s->ranks)
		s->ranks->residuals++;
}

static int worker_callbacks(void *context, int worker) {
	CalBranches *s = context;
	for (int k = 0; k < s->count; ++k) {
		if (s->worker_of[k] == worker || (s->ranks && s->ranks->whole))
			s->branches[k].bad = s->evaluation.callback.run(s->evaluation.callback.user, &s->branches[k].slice);
	}
	return 0;
}

CalStatus branches_each(CalBranches *s, BranchFn run, void *user) {
	s->evaluation = (Evaluation){.number = s->evaluation.number, .callback = {.run = run, .user = user}};
	run_workers(s, worker_callbacks);
	CalStatus status = CAL_OK;
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = s->branches[k].bad;
	return s->ranks ? ranks_agree_status(s->ranks, status) : status;
}
