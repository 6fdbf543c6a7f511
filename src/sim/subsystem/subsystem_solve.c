// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_solve.c — the forces of ties between groups, components and compiled subsystems [THEORY 6.5]
 * (docs/decisions/0021-black-boxes.md, 0039-components.md).
 *
 * The rows of a tie are those of a loop between its two sides. A level has nodes with the compliance K (that of the
 * groups, of compiled subsystems and of its child levels, in blocks) and the accelerations a that they have without its
 * ties; a multiplier puts D on them. With g the second derivatives of the rows at a,
 *   inward   H = D'K D,  R = D'K E
 *            Lambda = E'K E - R'H^+ R,  b = E'a - R'H^+ g        as the level above sees it, E: its edges
 *   outward  lambda = -H^+ (g + R F),  wrenches on the nodes D lambda + E F
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
#include "sim/subsystem/tie_kernels.h"

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
	spread_nodes(subsystem->Lambda, subsystem->def.interface_node_count, subsystem->spread);
	if (purpose != TIE_FORCES) // nothing moves by itself
		memset(subsystem->b, 0, 6 * sizeof(double) * (size_t)subsystem->def.interface_node_count);
	return CAL_OK;
}

/* ---- a level ------------------------------------------------------------------------------------------------------- */

/* a of its nodes. */
static void fill_accelerations(const CalSim *sim, const TieLevel *level) {
	const struct SimSubsystems *all = sim->subsystems;
	for (int i = 0; i < level->node_count; i++) {
		const LevelSource *source = &level->sources[i];
		double *a = level->a + OCTET * (size_t)i;
		if (source->child < 0) {
			six_out(all->points[level->nodes[i]].A, a);
			continue;
		}
		const TieLevel *child = &all->levels[source->child];
		for (size_t k = 0; k < SIX; k++)
			a[k] = child->Lambda[(OCTET * (size_t)source->at + k) * child->width + SIX];
	}
}

/* The acceleration of a node, at a frame on it. */
static void add_acceleration(LoopFrame *f, vec3 node, spatial A) {
	f->al = A.a;
	f->a = add(f->a, add(A.l, cross(A.a, sub(f->r, node))));
}

/* One multiplier of a tie: a column of the wrenches on one of its sides. */
static void fill_column(double *D, int row, spatial d) {
	double six[SIX];
	six_out(d, six);
	for (int k = 0; k < SIX; k++)
		D[k * OCTET + row] = six[k];
}

/* Equations of a tie from the motion of its two sides, and the wrenches of their multipliers. */
static void fill_tie(const CalEvalContext *context, TieLevel *level, int index, TiePurpose purpose, LoopRow *values) {
	static const CalInterfaceNode ground = {.pose = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
	const LevelTie *listed = &level->ties[index];
	const SubsystemTie *tie = listed->tie;
	const CalPlacement on[TIE_SIDES] = {tie->loop.def_a, tie->loop.def_b};
	double *D = level->D + (size_t)index * (TIE_SIDES * SIX * OCTET);
	LoopFrame frame[TIE_SIDES];
	vec3 origin[TIE_SIDES];
	for (int s = 0; s < TIE_SIDES; s++) {
		const int point = tie->point[s];
		const CalInterfaceNode *at = point >= 0 ? &context->sim->subsystems->points[point].motion : &ground;
		frame[s] = subsystem_frame(at, on[s]);
		origin[s] = vec_in(at->pose.r);
		if (listed->node[s] >= 0)
			add_acceleration(&frame[s], origin[s], six_in(level->a + OCTET * (size_t)listed->node[s]));
	}
	const LoopContext loop_context = {.t = context->t, .depth = LOOP_MOTION, .plain = purpose != TIE_FORCES};
	loop_fill(&tie->loop, &frame[TIE_A], &frame[TIE_B], &loop_context, values);
	const vec3 arm[TIE_SIDES] = {sub(frame[TIE_B].r, origin[TIE_A]), sub(frame[TIE_B].r, origin[TIE_B])};
	for (int r = 0; r < listed->rows; r++) {
		const spatial d = values[r].direction; // on side B, at the origin of its frame
		fill_column(D, r, force_shift((spatial){neg(d.a), neg(d.l)}, arm[TIE_A]));
		fill_column(D + SIX * OCTET, r, force_shift(d, arm[TIE_B]));
	}
}

static void fill_rows(const CalEvalContext *context, TieLevel *level, TiePurpose purpose) {
	LoopRow *values = level->values;
	for (int i = 0; i < level->tie_count; values += level->ties[i++].rows)
		fill_tie(context, level, i, purpose, values);
}

/* What row r of a tie does along the accelerations a. */
static double along_row(const TieLevel *level, int tie, int r) {
	double sum = 0;
	for (int s = 0; s < TIE_SIDES; s++) {
		const double *D = level->D + (size_t)(TIE_SIDES * tie + s) * (SIX * OCTET) + r;
		const int node = level->ties[tie].node[s];
		for (int k = 0; k < SIX && node >= 0; k++)
			sum += D[k * OCTET] * level->a[OCTET * (size_t)node + (size_t)k];
	}
	return sum;
}

/* Column 6: what is wrong with the equations, and a of the edges. */
static void fill_known(TieLevel *level, TiePurpose purpose) {
	const LoopRow *value = level->values;
	for (int i = 0; i < level->tie_count; i++)
		for (int r = 0; r < level->ties[i].rows; r++, value++)
			level->R[(OCTET * (size_t)i + (size_t)r) * level->width + SIX] =
				purpose == TIE_FORCES
					? value->acceleration
					: (purpose == TIE_POSITIONS ? value->value : value->rate) + along_row(level, i, r);
	for (int e = 0; e < level->edge_count; e++)
		for (size_t k = 0; k < SIX; k++)
			level->Lambda[(OCTET * (size_t)e + k) * level->width + SIX] = level->a[OCTET * (size_t)level->edges[e] + k];
}

/* Rows side by side, in place of eight for each tie. */
static void gather_rows(const TieLevel *level) {
	const size_t columns = OCTET * (size_t)level->tie_count, m = (size_t)level->row_count;
	size_t row = 0;
	memset(level->A, 0, m * m * sizeof(double));
	for (int i = 0; i < level->tie_count; i++)
		for (size_t r = 0; r < (size_t)level->ties[i].rows; r++, row++) {
			const size_t from = OCTET * (size_t)i + r;
			memcpy(level->X + row * level->width, level->R + from * level->width, level->width * sizeof(double));
			size_t column = 0;
			for (int k = 0; k < level->tie_count; k++)
				for (size_t c = 0; c < (size_t)level->ties[k].rows; c++, column++)
					if (column >= row)
						level->A[column * m + row] = level->H[from * columns + OCTET * (size_t)k + c];
		}
}

/* Where equations are redundant: the multipliers of smallest norm, R = H^+ R. */
static void solve_dependent(TieLevel *level) {
	const int m = level->row_count, width = (int)level->width;
	gather_rows(level);
	memcpy(level->G, level->X, (size_t)m * level->width * sizeof(double));
	const int rank = min_norm_factor(m, level->A, DEPENDENT, level->order, level->independent, level->solve);
	min_norm_solve_columns(m, rank, width, level->A, level->order, level->solve, level->solve + m * (m + 2), level->G);
	for (int e = 0; e < level->edge_count; e++)
		for (int k = 0; k < SIX; k++)
			for (int r = 0; r < m; r++)
				for (int c = 0; c < width; c++)
					level->Lambda[(OCTET * e + k) * width + c] -=
						level->X[r * width + OCTET * e + k] * level->G[r * width + c];
	const double *G = level->G;
	for (int i = 0; i < level->tie_count; i++)
		for (int r = 0; r < level->ties[i].rows; r++, G += width)
			memcpy(level->R + (OCTET * i + r) * width, G, level->width * sizeof(double));
}

static void solve_level(const CalEvalContext *context, const TieKernels *kernels, TieLevel *level, TiePurpose purpose) {
	fill_accelerations(context->sim, level);
	fill_rows(context, level, purpose);
	kernels->fill(level);
	fill_known(level, purpose);
	level->dependent = !kernels->eliminate(level);
	if (!level->dependent)
		return;
	kernels->fill(level);
	fill_known(level, purpose);
	solve_dependent(level);
}

/* With the forces on its edges known (level->force): those on all of its nodes, handed to points and child levels. */
static void resolve_level(struct SimSubsystems *all, const TieKernels *kernels, TieLevel *level) {
	level->edge_force[SIX] = 1;
	for (int e = 0; e < level->edge_count; e++)
		memcpy(level->edge_force + OCTET * (size_t)e, level->force + OCTET * (size_t)level->edges[e],
		       SIX * sizeof(double));
	kernels->resolve(level);
	for (int i = 0; i < level->node_count; i++) {
		const LevelSource *source = &level->sources[i];
		const double *force = level->force + OCTET * (size_t)i;
		if (source->child >= 0) {
			const TieLevel *child = &all->levels[source->child];
			memcpy(child->force + OCTET * (size_t)child->edges[source->at], force, SIX * sizeof(double));
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
	const TieKernels *kernels = tie_kernels(context->sim->groups[0].model->isa);
	const CalStatus status = all->planned ? evaluate_sides(context, purpose) : CAL_ERR_MEMORY;
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < all->level_count && purpose == TIE_VALUES; i++) {
		memset(all->levels[i].a, 0, OCTET * sizeof(double) * (size_t)all->levels[i].node_count);
		fill_rows(context, &all->levels[i], purpose);
	}
	if (purpose == TIE_VALUES)
		return CAL_OK;
	for (int i = all->level_count - 1; i >= 0; i--)
		solve_level(context, kernels, &all->levels[i], purpose);
	for (int i = 0; i < all->level_count; i++)
		memset(all->levels[i].force, 0, OCTET * sizeof(double) * (size_t)all->levels[i].node_count);
	for (int i = 0; i < all->level_count; i++)
		resolve_level(all, kernels, &all->levels[i]);
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

/* Doubts that a compiled subsystem has had since it was last asked. */
static void take_doubts(CalSim *sim, int device) {
	Subsystem *subsystem = sim_subsystem(sim, device);
	CalDoubt doubt, named;
	while (subsystem->def.ops->doubt && subsystem->def.ops->doubt(subsystem->def.self, subsystem->doubts, &doubt)) {
		named = doubt;
		snprintf(named.text, sizeof named.text, "subsystem \"%.60s\": %.*s", sim->devices[device].def.name,
		         (int)sizeof named.text - 90, doubt.text);
		cal_sim_add_doubt(sim, &named);
		subsystem->doubts++;
	}
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
		if (subsystem && subsystem_is_compiled(subsystem))
			take_doubts(sim, i);
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
