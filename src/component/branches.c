// SPDX-License-Identifier: Apache-2.0
/*
 * branches.c — branches of a model: making and releasing them, giving them to threads and ranks, what is known of them.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "component/branches.h"
#include "dynamics/loop/loop_rows.h"

/* ---- life --------------------------------------------------------------------------------------------- */

static CalStatus make_branches(CalBranches *s, bool cross, bool linear) {
	CalStatus status = cross ? cross_loops_create(s->model, &s->partition, &s->piece_map, &s->cross_loops) : CAL_OK;
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = branch_extract(s->model, &s->partition, &s->piece_map, k, s->cross_loops != NULL, &s->branches[k]);
	for (int k = 0; k < s->count && status == CAL_OK; ++k)
		status = branch_connect(s->branches, k, s->cross_loops);
	for (int k = 0; k < s->count; ++k) {
		s->branches[k].base_motion = &s->messages[k].base_motion;
		s->branches[k].base_inertia = &s->messages[k].base_inertia;
		s->branches[k].base_acceleration = &s->messages[k].base_acceleration;
		s->branches[k].drives = status == CAL_OK && loop_drives_move(s->branches[k].model);
	}
	if (status == CAL_OK)
		status = join_tree_create(&s->allocator, s->branches, s->count, linear, s->cross_loops, &s->join_tree);
	for (int k = 0; k < s->count && status == CAL_OK; ++k) {
		const int root = s->join_tree.root_of[k];
		s->branches[k].chain = root >= 0 ? &s->join_tree.nodes[root] : NULL;
	}
	for (int k = 0; k < s->join_tree.count && linear; ++k) { // there is a chain that begins with any
		JoinNode *node = &s->join_tree.nodes[k];
		s->branches[node->first].chain = node;
	}
	return status;
}

static void layout_parts(CalBranches *s, Cursor *cursor) {
	const int n = s->partition.count + 1;
	CURSOR_ARRAY(cursor, s->messages, n);
	CURSOR_ARRAY(cursor, s->places, n);
	CURSOR_ARRAY(cursor, s->branches, n);
	CURSOR_ARRAY(cursor, s->worker_of, n);
}

/* Everything but the branches' threads. */
static CalStatus create_parts(CalBranches *s, const CalBranchOptions *options, int wanted, const uint8_t *barred) {
	CalStatus status =
		partition_model(s->model, wanted, options->forced != 0, options->cross_loops, barred, &s->partition);
	const bool cross = s->partition.cross;
	if (status == CAL_OK)
		status = piece_map_create(s->model, s->partition.piece_of, s->partition.count, !cross, &s->piece_map);
	if (status != CAL_OK)
		return status;
	Cursor cursor = {.align = BRANCH_ALIGN};
	layout_parts(s, &cursor);
	s->memory = cursor_alloc(&cursor, &s->allocator);
	if (!s->memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_parts(s, &cursor);
	s->count = s->partition.count;
	s->drives = loop_drives_move(s->model) != 0;
	return make_branches(s, cross, options->transport != NULL);
}

static void destroy_parts(CalBranches *s) {
	for (int k = 0; k < s->count; ++k)
		branch_release(s->model, &s->branches[k]);
	ranks_destroy(s->model, s->ranks);
	s->ranks = NULL;
	join_tree_free(&s->allocator, &s->join_tree);
	cross_loops_free(s->cross_loops);
	s->cross_loops = NULL;
	piece_map_free(s->model, &s->piece_map);
	partition_free(s->model, &s->partition);
	memory_free(&s->allocator, s->memory);
	s->memory = NULL;
	s->count = 0;
}

/* Parts whose every interface leaves its joints with inertia: each round bars a link more. */
static CalStatus create_sound_parts(CalBranches *s, const CalBranchOptions *options, int wanted, uint8_t *barred) {
	memset(barred, 0, (size_t)s->model->link_count + 1);
	s->probe_doubtful = false;
	CalStatus status = create_parts(s, options, wanted, barred);
	while (status == CAL_OK) {
		const int bad = solver_probe(s);
		if (bad < 0)
			return bad == -2 ? CAL_ERR_MEMORY : CAL_OK;
		barred[bad] = 1;
		destroy_parts(s);
		status = create_parts(s, options, wanted, barred);
	}
	return status;
}

static CalStatus create_solver(CalBranches *s, const CalBranchOptions *options) {
	const int threads = options->threads > 0 ? options->threads : 1;
	const int wanted = options->branches > 0 ? options->branches : threads;
	const size_t numbers = 2 * (size_t)s->model->row_count + (size_t)s->model->nu + (size_t)s->model->nq;
	s->numbers = memory_alloc(&s->allocator, numbers * sizeof(double));
	if (!s->numbers || (s->model->row_count > 0 && cal_work_create(s->model, &s->whole) != CAL_OK))
		return CAL_ERR_MEMORY;
	uint8_t *barred = memory_alloc(&s->allocator, (size_t)s->model->link_count + 1);
	if (!barred)
		return CAL_ERR_MEMORY;
	CalStatus status = create_sound_parts(s, options, wanted, barred);
	if (status == CAL_OK && s->probe_doubtful && options->cross_loops == CAL_CROSS_LOOPS_AUTO) {
		CalBranchOptions within = *options;
		within.cross_loops = CAL_CROSS_LOOPS_NEVER;
		destroy_parts(s);
		status = create_sound_parts(s, &within, wanted, barred);
	}
	memory_free(&s->allocator, barred);
	return status;
}

/*
 * Assigns the branches to the workers of a worker pool, NULL: to the caller. A worker pool may have more than are
 * needed.
 */
static void assign_workers(CalBranches *s, WorkerPool *pool) {
	const int workers = pool ? worker_pool_workers(pool) : 1;
	s->threads = workers < s->count ? workers : s->count > 0 ? s->count : 1;
	s->pool = s->threads > 1 ? pool : NULL;
	partition_assign(&s->partition, s->threads, s->worker_of);
}

/* ---- ranks ------------------------------------------------------------------------------------------- */

/* Of a chain on another rank come only those that are not zero. */
static void clear_columns(const InterfaceColumns *c, size_t width) {
	memset(c->gamma, 0, 6 * width * sizeof(double));
	memset(c->Lambda, 0, width * width * sizeof(double));
	memset(c->beta, 0, width * sizeof(double));
}

void branches_place(CalBranches *s, const int *rank_of, uint8_t *own) {
	memcpy(s->ranks->rank_of, rank_of, (size_t)s->count * sizeof *rank_of);
	for (int k = 0; k < s->count; ++k) {
		const Branch *b = &s->branches[k];
		const bool here = ranks_has(s->ranks, k);
		s->worker_of[k] = here ? 0 : -1;
		for (int i = 0; own && i < b->u_segments; ++i)
			memset(own + b->u_segment[i].whole, here, (size_t)b->u_segment[i].count);
		if (!here && s->cross_loops)
			clear_columns(&b->chain->columns, (size_t)s->cross_loops->width);
	}
}

int branches_rank_of(const CalBranches *s, int body) {
	const int link = s->model->bodies[body].link; // -1: it is welded to the ground
	return link >= 0 ? s->ranks->rank_of[s->partition.piece_of[link]] : s->ranks->rank_of[0];
}

void branches_set_whole(CalBranches *s, bool whole) {
	s->ranks->whole = whole;
	s->ranks->failed = false;
	if (s->cross_loops)
		s->cross_loops->doubtful = false; // found where branch 0 is
	for (int k = 0; k < s->count; ++k) {  // of other ranks nobody fills these in
		s->branches[k].base_inertia->failed_dof = -1;
		s->branches[k].base_inertia->doubtful = 0;
		s->branches[k].bad = CAL_OK;
	}
}

bool branches_failed(const CalBranches *s) { return s->ranks->failed; }

CalStatus branches_bring_state(CalBranches *s, double *q, double *u) { return ranks_gather_state(s->ranks, q, u); }

void branches_count_messages(const CalBranches *s, CalDistributionInfo *info) {
	const Ranks *r = s->ranks;
	for (int k = 0; k < s->count; ++k) {
		const int parent = s->branches[k].parent;
		info->own += ranks_has(r, k);
		info->interfaces += parent >= 0 && r->rank_of[parent] != r->rank_of[k];
	}
	info->branches += s->count;
	info->lost = info->lost ? info->lost : r->lost;
	info->evaluations += r->evaluations;
	info->corrections += r->corrections;
	info->residuals += r->residuals;
	info->messages += r->messages;
	info->numbers += r->numbers;
	info->gathers += r->gathers;
	info->gathered += r->gathered;
}

static CalStatus assign_ranks(CalBranches *s, const CalTransport *transport) {
	int *rank_of = memory_alloc(&s->allocator, ((size_t)s->count + 1) * sizeof *rank_of);
	CalStatus status = rank_of ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = ranks_create(transport, s->branches, s->count, s->model, s->cross_loops, &s->ranks);
	if (status == CAL_OK) {
		partition_assign(&s->partition, transport->size, rank_of);
		branches_place(s, rank_of, NULL);
		branches_set_whole(s, true);
	}
	memory_free(&s->allocator, rank_of);
	return status;
}

static int has_user_links(const CalModel *model) {
	for (int f = 0; f < model->flex_count; ++f) {
		if (model->flexes[f].ops)
			return 1;
	}
	return 0;
}

CalStatus branches_create(const CalModel *model, const CalBranchOptions *options, WorkerPool *pool,
                          CalBranches **branches) {
	Cursor cursor = {.align = BRANCH_ALIGN, .used = sizeof(CalBranches)};
	void *block = cursor_alloc(&cursor, &model->allocator);
	if (!block)
		return CAL_ERR_MEMORY;
	CalBranches *made = (CalBranches *)(void *)cursor.base;
	*made = (CalBranches){.model = model, .allocator = model->allocator, .block = block, .failed_dof = -1};
	CalBranchOptions used = *options;
	if (has_user_links(model)) // the messages between branches know joints and modes
		used.branches = 1;
	if (pool && (used.threads == 0 || used.threads > worker_pool_workers(pool)))
		used.threads = worker_pool_workers(pool);
	if (used.transport && used.branches == 0)
		used.branches = used.transport->size < WORKER_POOL_MAX ? used.transport->size : WORKER_POOL_MAX;
	CalStatus status = create_solver(made, &used);
	if (status == CAL_OK)
		assign_workers(made, pool);
	if (status == CAL_OK && used.transport)
		status = assign_ranks(made, used.transport);
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
	if (options->branches < 0 || options->branches > WORKER_POOL_MAX || options->threads < 0 ||
	    options->threads > WORKER_POOL_MAX)
		return error_set(error, CAL_ERR_ARGUMENT, "model \"%s\": branches and threads must be between 0 and %d",
		                 model->name, WORKER_POOL_MAX);
	if (!cal_cross_loops_name(options->cross_loops))
		return error_set(error, CAL_ERR_ARGUMENT, "model \"%s\": cross_loops is none of CAL_CROSS_LOOPS_*",
		                 model->name);
	if (options->transport && options->threads > 1)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "model \"%s\": a rank works with one thread, not with %d; start more ranks instead",
		                 model->name, options->threads);
	CalBranches *made = NULL;
	CalStatus status = branches_create(model, options, NULL, &made);
	const int workers = made && options->threads < made->count ? options->threads : made ? made->count : 1;
	if (status == CAL_OK && workers > 1) {
		WorkerPool *pool;
		status = worker_pool_create(workers, !options->not_pinned, &made->allocator, &pool);
		if (status == CAL_OK)
			assign_workers(made, pool);
		made->owns_pool = status == CAL_OK;
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
	if (branches->owns_pool)
		worker_pool_destroy(branches->pool);
	destroy_parts(branches);
	cal_work_destroy(branches->whole);
	memory_free(&allocator, branches->numbers);
	memory_free(&allocator, branches->block);
}

/* ---- calls, and what they found --------------------------------------------------------------------------- */

CalStatus cal_branches_forward(CalBranches *branches, const CalState *state, const CalInput *input, double *udot) {
	return branches_run(branches, state, state, input, 0, udot, (BranchCallback){0});
}

CalStatus cal_branches_implicit(CalBranches *branches, const CalState *state, const CalState *elastic,
                                const CalInput *input, double h, double *udot) {
	return branches_run(branches, state, elastic, input, h, udot, (BranchCallback){0});
}

bool branches_are_here(const CalBranches *branches) { return !branches->ranks; }
bool branches_know_all(const CalBranches *branches) { return !branches->ranks || branches->ranks->whole; }
double branches_drive_power(const CalBranches *branches) { return branches->drive_power; }
const CalModel *branches_model(const CalBranches *branches) { return branches->model; }
CalWork *branches_whole(CalBranches *branches) { return branches->whole; }
double *branches_numbers(CalBranches *branches) { return branches->numbers; }

int cal_branches_count(const CalBranches *branches) { return branches ? branches->count : 0; }
int cal_branches_threads(const CalBranches *branches) { return branches ? branches->threads : 0; }
const char *cal_cross_loops_name(CalCrossLoops cross_loops) {
	static const char *const names[] = {
		[CAL_CROSS_LOOPS_AUTO] = "auto", [CAL_CROSS_LOOPS_NEVER] = "never", [CAL_CROSS_LOOPS_ALWAYS] = "always"};
	return (int)cross_loops >= 0 && (size_t)cross_loops < sizeof names / sizeof *names ? names[cross_loops] : NULL;
}

int cal_branches_cross_loops(const CalBranches *branches) { return branches && branches->cross_loops; }

CalStatus cal_branches_multipliers(const CalBranches *branches, double *lambda) {
	if (!branches || !lambda)
		return CAL_ERR_ARGUMENT;
	if (!branches->cross_loops)
		return CAL_ERR_STAGE;
	memcpy(lambda, branches->cross_loops->lambda, sizeof(double) * (size_t)branches->model->row_count);
	return CAL_OK;
}

double cal_branches_speedup(const CalBranches *branches) {
	if (!branches)
		return 0;
	return branches->count > 1 && branches->partition.makespan > 0
	           ? branches->partition.flops / branches->partition.makespan
	           : 1;
}
double cal_branches_work(const CalBranches *branches) {
	const Partition *partition = branches ? &branches->partition : NULL;
	return partition && partition->flops > 0 ? partition->work / partition->flops : 1;
}
double cal_branches_error(const CalBranches *branches) { return branches ? branches->error : 0; }
int cal_branches_failed_dof(const CalBranches *branches) { return branches ? branches->failed_dof : -1; }

CalStatus cal_branches_info(const CalBranches *branches, int branch, CalBranchInfo *info) {
	if (!branches || !info || branch < 0 || branch >= branches->count)
		return CAL_ERR_ARGUMENT;
	const Branch *b = &branches->branches[branch];
	const PartitionPiece *piece = &branches->partition.pieces[branch];
	*info = (CalBranchInfo){.parent = b->parent,
	                        .first_body = branches->model->links[piece->first].body,
	                        .bodies = b->model->body_count,
	                        .dofs = b->model->nu,
	                        .loops = b->model->loop_count,
	                        .decoupled = b->decoupled,
	                        .thread = branches->worker_of[branch],
	                        .rank = branches->ranks ? branches->ranks->rank_of[branch] : 0,
	                        .flops = piece->flops};
	return CAL_OK;
}
