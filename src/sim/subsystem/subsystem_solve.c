// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_solve.c — the forces of ties between groups, components and compiled subsystems [THEORY 6.5]
 * (docs/decisions/0021-black-boxes.md, 0039-components.md).
 *
 * The rows of a tie are those of a loop between its two sides. A level has nodes with the compliance K (that of the
 * groups, of compiled subsystems and of its child levels, in blocks) and the accelerations a that they have without its
 * ties; a multiplier puts D on them. With g the second derivatives of the rows at a,
 *   inward   H = D'K D,  lambda_0 = -H^+ g,  G = H^+ D'K E
 *            Lambda = E'K E - E'K D G,  b = E'(a + K D lambda_0)        as the level above sees it, E: its edges
 *   outward  lambda = lambda_0 - G F,  wrenches on the nodes D lambda + E F
 * Neither K nor Lambda is inverted: a node that cannot move is allowed on either side.
 *
 * What steps leave open is closed after the step by the same equations: the inner ties of a component by its own level, its
 * edges by the level above.
 *   positions   H lambda = -g,  groups move by M^-1 J'F, compiled subsystems by their correct() of F
 *   speeds      the same with the rates of the rows
 * Loops and driven dofs are held meanwhile. What is closed to round-off is left alone, so that an adaptive method seldom
 * has to start afresh.
 */
#include "sim/subsystem/subsystem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/finite.h"
#include "math/min_norm.h"
#include "model/model.h"

static const double DEPENDENT = 1e-11; // as of loops (loops.c)
static const double SYMMETRY = 1e-9;   // of Lambda, relative to its diagonal
enum { ITERATIONS = 4 };
static const double NEAR = 1e-11; // [m], [rad]: positions that are left as they are
static const double SLOW = 1e-10; // of speeds, relative to 1 m/s or 1 rad/s
static const double OPEN = 1e-6;  // [m], [rad]: a projection that leaves more is looked into

/* ---- compiled subsystems ------------------------------------------------------------------------------------------ */

const char *subsystem_response_fault(const Subsystem *subsystem) {
	const int n = 6 * subsystem->def.interface_node_count;
	const double *Lambda = subsystem->Lambda;
	if (!all_finite(Lambda, n * n) || !all_finite(subsystem->b, n))
		return "respond() gives numbers that are not finite";
	for (int i = 0; i < n; i++) {
		if (Lambda[i * n + i] < 0)
			return "respond() gives a Lambda with a negative diagonal; accelerations go with the forces";
		for (int j = 0; j < i; j++) {
			const double scale = fmax(sqrt(fabs(Lambda[i * n + i] * Lambda[j * n + j])), 1e-300);
			if (fabs(Lambda[i * n + j] - Lambda[j * n + i]) > SYMMETRY * scale)
				return "respond() gives a Lambda that is not symmetric; is it in world axes, at the nodes' origins, "
					   "angular first?";
			if (fabs(Lambda[i * n + j]) > (1 + 1e-6) * scale)
				return "respond() gives a Lambda that is not positive semidefinite";
		}
	}
	return NULL;
}

static CalStatus evaluate_compiled(CalEvalContext *context, int device, TiePurpose purpose) {
	Subsystem *subsystem = sim_subsystem(context->sim, device);
	const double *x = context->x + context->sim->devices[device].x_at;
	const CalStatus status = subsystem_interface_nodes(context, device);
	if (status != CAL_OK || purpose == TIE_VALUES)
		return status;
	if (subsystem->def.ops->respond(subsystem->def.self, context->t, x, subsystem->Lambda, subsystem->b) != 0)
		return subsystem_failed(context, device, "respond() failed");
	const char *wrong = subsystem_response_fault(subsystem);
	if (wrong)
		return subsystem_failed(context, device, wrong);
	if (purpose != TIE_FORCES) // nothing moves by itself
		memset(subsystem->b, 0, 6 * sizeof(double) * (size_t)subsystem->def.interface_node_count);
	return CAL_OK;
}

/* ---- a level ------------------------------------------------------------------------------------------------------- */

/* The matrix that a node's part of K is in, and how many nodes it is of. */
static const double *source_matrix(const CalSim *sim, const TiePoint *point, const LevelSource *source, int *count) {
	const struct SimSubsystems *all = sim->subsystems;
	if (source->child >= 0) {
		*count = all->levels[source->child].edge_count;
		return all->levels[source->child].Lambda;
	}
	if (point->group >= 0) {
		*count = all->groups[point->group].count;
		return all->groups[point->group].C;
	}
	const Subsystem *subsystem = sim_subsystem(sim, point->device);
	*count = subsystem->def.interface_node_count;
	return subsystem->Lambda;
}

static void take_block(const TieLevel *level, int i, int j, const double *matrix, int count) {
	const size_t n = 6 * (size_t)level->node_count, m = 6 * (size_t)count;
	const size_t row = 6 * (size_t)level->sources[i].at, column = 6 * (size_t)level->sources[j].at;
	for (size_t k = 0; k < 6; k++)
		memcpy(level->K + (6 * (size_t)i + k) * n + 6 * (size_t)j, matrix + (row + k) * m + column, 6 * sizeof(double));
}

static void fill_compliance(const CalSim *sim, TieLevel *level) {
	const struct SimSubsystems *all = sim->subsystems;
	for (int i = 0; i < level->node_count; i++) {
		const TiePoint *point = &all->points[level->nodes[i]];
		const LevelSource *source = &level->sources[i];
		int count;
		const double *matrix = source_matrix(sim, point, source, &count);
		for (int j = source->first; j < source->first + source->count; j++)
			take_block(level, i, j, matrix, count);
		if (source->child >= 0)
			memcpy(level->a + 6 * (size_t)i, all->levels[source->child].b + 6 * (size_t)source->at, 6 * sizeof(double));
		else
			six_out(point->A, level->a + 6 * (size_t)i);
	}
}

/* The acceleration of a node, at a frame on it. */
static void add_acceleration(LoopFrame *f, vec3 node, spatial A) {
	f->al = A.a;
	f->a = add(f->a, add(A.l, cross(A.a, sub(f->r, node))));
}

/* Rows of a tie from the motion of its two sides, and the wrenches of their multipliers. */
static void fill_tie(const CalEvalContext *context, TieLevel *level, const LevelTie *listed, TiePurpose purpose,
                     int first) {
	const SubsystemTie *tie = listed->tie;
	const int *node = listed->node;
	const CalInterfaceNode ground = {.pose = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
	const CalPlacement on[TIE_SIDES] = {tie->loop.def_a, tie->loop.def_b};
	LoopFrame frame[TIE_SIDES];
	vec3 origin[TIE_SIDES];
	for (int s = 0; s < TIE_SIDES; s++) {
		const int point = tie->point[s];
		const CalInterfaceNode *at = point >= 0 ? &context->sim->subsystems->points[point].motion : &ground;
		frame[s] = subsystem_frame(at, on[s]);
		origin[s] = vec_in(at->pose.r);
		if (node[s] >= 0)
			add_acceleration(&frame[s], origin[s], six_in(level->a + 6 * (size_t)node[s]));
	}
	const LoopContext loop_context = {.t = context->t, .depth = LOOP_MOTION, .plain = purpose != TIE_FORCES};
	loop_fill(&tie->loop, &frame[TIE_A], &frame[TIE_B], &loop_context, level->values + first);
	for (int r = first; r < first + tie->loop.rows; r++) {
		const spatial d = level->values[r].direction; // on side B, at the origin of its frame
		level->rows[r] = (LevelRow){{node[TIE_A], node[TIE_B]},
		                            {force_shift((spatial){neg(d.a), neg(d.l)}, sub(frame[TIE_B].r, origin[TIE_A])),
		                             force_shift(d, sub(frame[TIE_B].r, origin[TIE_B]))}};
	}
}

static void fill_rows(const CalEvalContext *context, TieLevel *level, TiePurpose purpose) {
	int first = 0;
	for (int i = 0; i < level->tie_count; i++) {
		fill_tie(context, level, &level->ties[i], purpose, first);
		first += level->ties[i].tie->loop.rows;
	}
}

/* What row r does along another one, or along the accelerations a: sum of d.x over its nodes. */
INLINE double along_row(const LevelRow *row, const double *x) {
	double sum = 0;
	for (int s = 0; s < TIE_SIDES; s++)
		sum += row->node[s] >= 0 ? spatial_dot(row->d[s], six_in(x + 6 * (size_t)row->node[s])) : 0;
	return sum;
}

/* w[count] = (adds: w +) d'K of six rows of K. */
INLINE void combine_rows(const double d[6], const double *restrict K, size_t n, size_t count, bool adds,
                         double *restrict w) {
	for (size_t i = 0; i < count; i++) {
		double sum = d[0] * K[i];
		for (size_t k = 1; k < 6; k++)
			sum += d[k] * K[k * n + i];
		w[i] = adds ? w[i] + sum : sum;
	}
}

/* Column r of D through K, which is symmetric, to row r of W. */
static void respond_to_row(const TieLevel *level, const LevelRow *row, double *w) {
	const size_t n = 6 * (size_t)level->node_count;
	int before = -1;
	for (int s = 0; s < TIE_SIDES; s++) {
		double d[6];
		if (row->node[s] < 0)
			continue;
		six_out(row->d[s], d);
		const LevelSource *source = &level->sources[row->node[s]];
		const size_t from = 6 * (size_t)source->first;
		const double *K = level->K + 6 * (size_t)row->node[s] * n + from;
		if (source->count == 1)
			combine_rows(d, K, n, 6, source->first == before, w + from);
		else
			combine_rows(d, K, n, 6 * (size_t)source->count, source->first == before, w + from);
		before = source->first;
	}
}

/* W = K D, H = D'W. */
static void fill_matrix(TieLevel *level) {
	const size_t n = 6 * (size_t)level->node_count, m = (size_t)level->row_count;
	for (size_t r = 0; r < m; r++)
		respond_to_row(level, &level->rows[r], level->W + r * n);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j <= i; j++)
			level->H[i * m + j] = along_row(&level->rows[i], level->W + j * n);
}

static double row_error(const TieLevel *level, int row, TiePurpose purpose) {
	const LoopRow *value = &level->values[row];
	if (purpose == TIE_FORCES)
		return value->acceleration;
	return (purpose == TIE_POSITIONS ? value->value : value->rate) + along_row(&level->rows[row], level->a);
}

/* W at the edges, by rows. */
static void take_edges(const TieLevel *level, double *out) {
	const size_t n = 6 * (size_t)level->node_count, m = (size_t)level->row_count;
	for (size_t r = 0; r < m; r++)
		for (int e = 0; e < level->edge_count; e++, out += 6)
			memcpy(out, level->W + r * n + 6 * (size_t)level->edges[e], 6 * sizeof(double));
}

/* Lambda and b of the edges without the ties. */
static void begin_edges(const TieLevel *level) {
	const size_t n = 6 * (size_t)level->node_count;
	double *Lambda = level->Lambda;
	for (int i = 0; i < level->edge_count; i++) {
		const size_t at = 6 * (size_t)level->edges[i];
		memcpy(level->b + 6 * (size_t)i, level->a + at, 6 * sizeof(double));
		for (size_t k = 0; k < 6; k++)
			for (int j = 0; j < level->edge_count; j++, Lambda += 6)
				memcpy(Lambda, level->K + (at + k) * n + 6 * (size_t)level->edges[j], 6 * sizeof(double));
	}
}

/* Lambda -= W_E' G, b += W_E' lambda. */
INLINE void add_ties(const TieLevel *level, size_t e) {
	for (int r = 0; r < level->row_count; r++) {
		const double *restrict w = level->E + (size_t)r * e, *restrict g = level->G + (size_t)r * e;
		for (size_t i = 0; i < e; i++) {
			double *restrict row = level->Lambda + i * e;
			level->b[i] += w[i] * level->lambda[r];
			for (size_t j = 0; j < e; j++)
				row[j] -= w[i] * g[j];
		}
	}
}

/* Lambda and b of the edges. */
static void condense(TieLevel *level) {
	const size_t e = 6 * (size_t)level->edge_count, m = (size_t)level->row_count;
	begin_edges(level);
	if (m == 0 || e == 0)
		return;
	take_edges(level, level->G);
	min_norm_solve_columns((int)m, level->rank, (int)e, level->H, level->order, level->solve, level->E, level->G);
	take_edges(level, level->E);
	if (e == 6)
		add_ties(level, 6);
	else
		add_ties(level, e);
	for (size_t i = 0; i < e; i++)
		for (size_t j = 0; j < i; j++)
			level->Lambda[j * e + i] = level->Lambda[i * e + j];
}

static void solve_level(const CalEvalContext *context, TieLevel *level, TiePurpose purpose) {
	const int m = level->row_count;
	fill_compliance(context->sim, level);
	fill_rows(context, level, purpose);
	fill_matrix(level);
	for (int r = 0; r < m; r++)
		level->z[r] = -row_error(level, r, purpose);
	level->rank = min_norm_factor(m, level->H, DEPENDENT, level->order, level->independent, level->solve);
	min_norm_solve(m, level->rank, level->H, level->order, level->solve, level->z, level->lambda);
	condense(level);
}

/* Multipliers with the forces on the edges known, and what they do on the nodes. */
static void resolve_row(const TieLevel *level, int r) {
	const LevelRow *row = &level->rows[r];
	const double *G = level->G + 6 * (size_t)r * (size_t)level->edge_count;
	double lambda = level->lambda[r];
	for (int e = 0; e < level->edge_count; e++)
		for (size_t k = 0; k < 6; k++)
			lambda -= *G++ * level->edge_force[6 * (size_t)e + k];
	level->lambda[r] = lambda;
	for (int s = 0; s < TIE_SIDES; s++) {
		if (row->node[s] < 0)
			continue;
		double *force = level->force + 6 * (size_t)row->node[s];
		six_out(spatial_madd(six_in(force), lambda, row->d[s]), force);
	}
}

/* With the forces on its edges known (level->force): those on all of its nodes, handed to points and child levels. */
static void resolve_level(struct SimSubsystems *all, int index) {
	TieLevel *level = &all->levels[index];
	for (int e = 0; e < level->edge_count; e++)
		memcpy(level->edge_force + 6 * (size_t)e, level->force + 6 * (size_t)level->edges[e], 6 * sizeof(double));
	for (int r = 0; r < level->row_count; r++)
		resolve_row(level, r);
	for (int i = 0; i < level->node_count; i++) {
		const LevelSource *source = &level->sources[i];
		const double *force = level->force + 6 * (size_t)i;
		if (source->child >= 0) {
			const TieLevel *child = &all->levels[source->child];
			memcpy(child->force + 6 * (size_t)child->edges[source->at], force, 6 * sizeof(double));
		} else {
			all->points[level->nodes[i]].F = six_in(force);
		}
	}
}

/* ---- all levels ---------------------------------------------------------------------------------------------------- */

static CalStatus group_failed(CalEvalContext *context, int group, CalStatus status) {
	const CalSim *sim = context->sim;
	char text[300];
	int device = 0;
	while (device < sim->device_count && !sim_active_subsystem(sim, device))
		device++;
	snprintf(text, sizeof text, "the forces on group \"%.100s\" cannot be found: %s",
	         cal_model_name(sim->groups[group].model), cal_status_text(status));
	cal_context_explain_failure(context, text);
	context->status = context->status == CAL_OK ? status : context->status;
	return context_failed(context, device, 0);
}

static CalStatus evaluate_sides(CalEvalContext *context, TiePurpose purpose) {
	const CalSim *sim = context->sim;
	struct SimSubsystems *all = sim->subsystems;
	for (int i = 0; i < sim->device_count; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		if (!subsystem || !subsystem_is_compiled(subsystem))
			continue;
		const CalStatus status = evaluate_compiled(context, i, purpose);
		if (status != CAL_OK)
			return status;
	}
	for (int i = 0; i < sim->group_count; i++) {
		const CalStatus status = all->groups[i].count > 0 ? tie_group_evaluate(context, i, purpose) : CAL_OK;
		if (status != CAL_OK)
			return group_failed(context, i, status);
	}
	for (int i = 0; i < all->point_count; i++) {
		TiePoint *point = &all->points[i];
		if (point->group >= 0)
			continue;
		const Subsystem *subsystem = sim_subsystem(sim, point->device);
		point->motion = subsystem->interface_nodes[point->interface_node];
		point->A = six_in(subsystem->b + 6 * (size_t)point->interface_node);
	}
	return CAL_OK;
}

/* Wrenches F on all points: forces, or what closes positions or speeds. For TIE_VALUES the values of all rows alone. */
static CalStatus subsystems_wrenches(CalEvalContext *context, TiePurpose purpose) {
	struct SimSubsystems *all = context->sim->subsystems;
	const CalStatus status = all->planned ? evaluate_sides(context, purpose) : CAL_ERR_MEMORY;
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < all->level_count && purpose == TIE_VALUES; i++) {
		memset(all->levels[i].a, 0, 6 * sizeof(double) * (size_t)all->levels[i].node_count);
		fill_rows(context, &all->levels[i], purpose);
	}
	if (purpose == TIE_VALUES)
		return CAL_OK;
	for (int i = all->level_count - 1; i >= 0; i--)
		solve_level(context, &all->levels[i], purpose);
	for (int i = 0; i < all->level_count; i++)
		memset(all->levels[i].force, 0, 6 * sizeof(double) * (size_t)all->levels[i].node_count);
	for (int i = 0; i < all->level_count; i++)
		resolve_level(all, i);
	return CAL_OK;
}

/* Wrenches on the points of a compiled subsystem, into its own array. */
static void subsystem_collect_wrenches(const CalSim *sim, int device) {
	const struct SimSubsystems *all = sim->subsystems;
	Subsystem *subsystem = sim_subsystem(sim, device);
	memset(subsystem->wrench, 0, (size_t)subsystem->def.interface_node_count * sizeof *subsystem->wrench);
	for (int i = 0; i < all->point_count; i++)
		if (all->points[i].device == device)
			subsystem->wrench[all->points[i].interface_node] = spatial_out(all->points[i].F);
}

static CalStatus push_points(CalEvalContext *context) {
	const struct SimSubsystems *all = context->sim->subsystems;
	CalStatus status = CAL_OK;
	context->room = all->point_count;
	for (int i = 0; i < all->point_count && status == CAL_OK; i++) {
		const TiePoint *point = &all->points[i];
		if (point->group >= 0)
			status = cal_context_apply_wrench(context, (CalNodeRef){point->group, point->node}, CAL_FRAME_WORLD,
			                                  spatial_out(point->F));
	}
	return status;
}

static CalStatus ask_rates(CalEvalContext *context, int device, double *rate) {
	const Subsystem *subsystem = sim_subsystem(context->sim, device);
	const double *x = context->x + context->sim->devices[device].x_at;
	subsystem_collect_wrenches(context->sim, device);
	if (subsystem->def.ops->rates(subsystem->def.self, context->t, x, subsystem->wrench, rate) != 0)
		return subsystem_failed(context, device, "rates() failed");
	return all_finite(rate, subsystem->def.nx)
	           ? CAL_OK
	           : subsystem_failed(context, device, "rates() gives numbers that are not finite");
}

CalStatus subsystems_solve(CalEvalContext *context, double *xdot) {
	const CalSim *sim = context->sim;
	CalStatus status = subsystems_wrenches(context, TIE_FORCES);
	if (status == CAL_OK)
		status = push_points(context);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		if (sim->subsystems->groups[i].count > 0)
			tie_group_apply(context, i);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		if (subsystem && subsystem_is_compiled(subsystem))
			status = ask_rates(context, i, xdot + sim->devices[i].x_at);
	}
	return status;
}

/* ---- closing ties after steps, and impulses ---------------------------------------------------------------------- */

/* Driven dofs are prescribed too. */
static void hold_driven(SimGroup *group, CalInput *input) {
	const uint8_t *given = input->prescribed ? input->prescribed : group->model->prescribed;
	if (group->drive_count == 0)
		return;
	for (int k = 0; k < group->model->nu; k++)
		group->held[k] = given[k] || group->driven[k];
	input->prescribed = group->held;
}

/* The present states for observers, with the inputs of groups but no devices. */
static CalStatus open_context(CalSim *sim, CalEvalContext *context) {
	*context = context_now(sim, true);
	context->inputs = sim->system.inputs;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		sim->system.inputs[i] = (CalInput){0};
		if (!group->motion && group->input &&
		    group->input(group->user, group->model, &group->state, &sim->system.inputs[i]) != 0) {
			sim->refused_group = i;
			return CAL_ERR_USER;
		}
		hold_driven(group, &sim->system.inputs[i]);
	}
	return CAL_OK;
}

static double largest(const struct SimSubsystems *all, bool speeds) {
	double most = 0;
	for (int l = 0; l < all->level_count; l++) {
		const TieLevel *level = &all->levels[l];
		for (int i = 0; i < level->row_count; i++)
			most = fmax(most, fabs(speeds ? level->values[i].rate : level->values[i].value));
	}
	return most;
}

static CalStatus correct_groups(CalEvalContext *context, TiePurpose purpose) {
	const bool speeds = purpose != TIE_POSITIONS;
	CalSim *sim = context->sim;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *g = &sim->groups[i];
		if (sim->subsystems->groups[i].count == 0 || g->motion)
			continue;
		const CalStatus status = tie_group_response(context, i, purpose);
		if (status != CAL_OK)
			return status;
		if (!speeds)
			cal_config_integrate(g->model, g->state.q, g->udot, g->state.q);
		for (int k = 0; speeds && k < g->model->nu; k++)
			g->state.u[k] += g->udot[k];
	}
	return CAL_OK;
}

static CalStatus correct_compiled(CalEvalContext *context, int device, bool speeds) {
	const Subsystem *subsystem = sim_subsystem(context->sim, device);
	subsystem_collect_wrenches(context->sim, device);
	memset(subsystem->none, 0, (size_t)subsystem->def.interface_node_count * sizeof *subsystem->none);
	const int code =
		subsystem->def.ops->correct(subsystem->def.self, context->t, speeds ? subsystem->none : subsystem->wrench,
	                                speeds ? subsystem->wrench : subsystem->none, context->sim->devices[device].x);
	return code != 0 ? subsystem_failed(context, device, "correct() failed") : CAL_OK;
}

/* One step for positions, speeds or impulses, if they are off by more than `enough`; *off: by how much. */
static CalStatus correct_once(CalSim *sim, TiePurpose purpose, double enough, double *off) {
	const bool speeds = purpose != TIE_POSITIONS;
	struct SimSubsystems *all = sim->subsystems;
	CalEvalContext context;
	CalStatus status = open_context(sim, &context);
	if (status == CAL_OK)
		status = subsystems_wrenches(&context, TIE_VALUES);
	*off = largest(all, speeds);
	if (status != CAL_OK || *off <= enough)
		return status;
	status = subsystems_wrenches(&context, purpose);
	if (status == CAL_OK)
		status = correct_groups(&context, purpose);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		if (subsystem && subsystem_is_compiled(subsystem))
			status = correct_compiled(&context, i, speeds);
	}
	return status;
}

bool subsystems_take_impulses(const CalSim *sim) { return !sim->subsystems || sim->subsystems->corrects; }

/* Of all groups and devices. */
static double energy_of_all(CalSim *sim) {
	double energy = balance_stored(sim);
	for (int i = 0; i < sim->group_count; i++)
		energy += balance_energy(&sim->groups[i]);
	return energy;
}

double subsystems_pass_impulse(CalSim *sim) {
	enum { ROUNDS = 3 }; // the second is for the last digits
	double off = INFINITY;
	if (!sim->subsystems)
		return 0;
	const double before = energy_of_all(sim);
	for (int i = 0; i < ROUNDS && off > 0; i++)
		if (correct_once(sim, TIE_IMPULSES, 1e-15, &off) != CAL_OK)
			break; // the next step refuses it
	const double lost = before - energy_of_all(sim);
	balance_add_loss(sim, lost);
	return lost;
}

CalStatus subsystems_project(CalSim *sim, bool *changed) {
	double off = INFINITY, before = INFINITY;
	CalStatus status = CAL_OK;
	for (int i = 0; i < ITERATIONS && status == CAL_OK; i++) {
		status = correct_once(sim, TIE_POSITIONS, NEAR, &off);
		if (off <= NEAR || off >= 0.5 * before)
			break;
		*changed = true;
		before = off;
	}
	sim->subsystems->left_open = off;
	if (status == CAL_OK)
		status = correct_once(sim, TIE_SPEEDS, SLOW, &off);
	*changed |= off > SLOW;
	return status;
}

CalStatus subsystems_commit(CalSim *sim) {
	bool changed = false;
	const int every = sim->method.projection > 0 ? sim->method.projection : 1;
	const bool due = subsystems_are_projected(sim) && sim_counts(sim).steps % every == 0;
	CalStatus status = due ? subsystems_project(sim, &changed) : CAL_OK;
	if (status == CAL_OK && due && !(sim->subsystems->left_open <= OPEN))
		status = subsystems_check_ties(sim, false, "it cannot be closed; do both of its sides move as given?");
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < sim->device_count; i++) {
		const Subsystem *subsystem = sim_subsystem(sim, i);
		if (!subsystem || !subsystem_is_compiled(subsystem) || !subsystem->def.ops->commit)
			continue;
		const int code = subsystem->def.ops->commit(subsystem->def.self, cal_sim_time(sim), sim->devices[i].x);
		if (code < 0) {
			sim->failed_device = i;
			snprintf(sim->why_failed, sizeof sim->why_failed, "commit() failed");
			return CAL_ERR_USER;
		}
		changed |= code > 0;
	}
	if (changed)
		cal_integrator_renew(sim->system.integrator);
	return CAL_OK;
}
