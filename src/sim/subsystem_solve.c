// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_solve.c — the forces between the model and its compiled subsystems (docs/decisions/0021-black-boxes.md).
 *
 * The rows of all ties are those of loops between a node of the model and an interface node. With the accelerations
 * that both sides have without each other, their second derivatives are g. A multiplier lambda puts the wrench d on the
 * subsystem and -d on the model, so that
 *   (D_b'Lambda D_b + D_m'C D_m) lambda = -g,   C = J M^-1 J' of the model's nodes, loops and driven dofs held
 * where D_b, D_m are the rows' wrenches at the nodes. C is that of the recursion where the tree is free. Otherwise it
 * is found from forward dynamics under large wrenches, which are linear in them: nothing of the other forces is left
 * then.
 */
#include "sim/subsystem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/finite.h"
#include "math/min_norm.h"
#include "model/model.h"

static const double DEPENDENT = 1e-11; // as of loops (loops.c)
static const double PROBE = 1048576;   // of the wrenches that find C: a power of two
static const double SYMMETRY = 1e-9;   // of Lambda, relative to its diagonal

/* ---- the subsystems' side ---------------------------------------------------------------------------------------- */

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

static CalStatus evaluate_subsystem(CalEvalContext *context, int device) {
	Subsystem *subsystem = sim_subsystem(context->sim, device);
	const double *x = context->x + context->sim->devices[device].x_at;
	const CalStatus status = subsystem_interface_nodes(context, device);
	if (status != CAL_OK)
		return status;
	if (subsystem->def.ops->respond(subsystem->def.self, context->t, x, subsystem->Lambda, subsystem->b) != 0)
		return subsystem_failed(context, device, "respond() failed");
	const char *wrong = subsystem_response_fault(subsystem);
	return wrong ? subsystem_failed(context, device, wrong) : CAL_OK;
}

/* The acceleration of a node, at a frame on it. */
static void add_acceleration(LoopFrame *f, vec3 node, spatial A) {
	f->al = A.a;
	f->a = add(f->a, add(A.l, cross(A.a, sub(f->r, node))));
}

static spatial at(const double *six) { return (spatial){{six[0], six[1], six[2]}, {six[3], six[4], six[5]}}; }

/* ---- the model's side --------------------------------------------------------------------------------------- */

/* Calls for every tie of every active subsystem on a group (-1: the ground). */
typedef struct TieWalk {
	int device, tie;
} TieWalk;

static SubsystemTie *next_tie(const CalSim *sim, TieWalk *w, int group) {
	for (; w->device < sim->device_count; w->device++, w->tie = -1) {
		const Subsystem *subsystem = sim->devices[w->device].active ? sim_subsystem(sim, w->device) : NULL;
		while (subsystem && ++w->tie < subsystem->tie_count)
			if (subsystem->ties[w->tie].node_ref.group == group)
				return &subsystem->ties[w->tie];
	}
	return NULL;
}

static CalWork *work_of(const CalEvalContext *context, int group) {
	return context->viewing ? context->sim->groups[group].view_work : context->sim->groups[group].work;
}

static CalStatus group_failed(CalEvalContext *context, int device, const CalModel *model, CalStatus status) {
	char text[300];
	snprintf(text, sizeof text, "the forces on group \"%.100s\" cannot be found: %s", cal_model_name(model),
	         cal_status_text(status));
	cal_context_explain_failure(context, text);
	context->status = context->status == CAL_OK ? status : context->status;
	return context_failed(context, device, 0);
}

/* Fills frames, values and the rows' wrenches of the ties on a group; A: of their nodes without the subsystems. */
static CalStatus fill_rows(CalEvalContext *context, int group, const spatial *A, int plain) {
	struct SimSubsystems *all = context->sim->subsystems;
	TieWalk w = {0, -1};
	for (int n = 0;; n++) {
		const SubsystemTie *tie = next_tie(context->sim, &w, group);
		if (!tie)
			return CAL_OK;
		const Subsystem *subsystem = sim_subsystem(context->sim, w.device);
		LoopFrame a, b;
		CalPose pose = {0};
		CalStatus status = subsystem_frames(context, w.device, tie, subsystem->interface_nodes, &a, &b);
		if (status == CAL_OK)
			status = cal_context_node_motion(context, tie->node_ref, &pose, NULL);
		if (status != CAL_OK)
			return status;
		const vec3 model_node = vec_in(pose.r),
				   box_node = vec_in(subsystem->interface_nodes[tie->interface_node].pose.r);
		add_acceleration(&a, model_node, A ? A[n] : spatial_zero());
		add_acceleration(&b, box_node, at(subsystem->b + 6 * tie->interface_node));
		const LoopContext loop_context = {.t = context->t, .depth = LOOP_MOTION, .plain = plain};
		loop_fill(&tie->loop, &a, &b, &loop_context, all->values + tie->row);
		for (int r = tie->row; r < tie->row + tie->loop.rows; r++) {
			const spatial d = all->values[r].direction; // on the subsystem, at the origin of b
			all->rows[r] = (SubsystemRow){.device = w.device,
			                              .tie = w.tie,
			                              .on_subsystem = force_shift(d, sub(b.r, box_node)),
			                              .on_model = force_shift((spatial){neg(d.a), neg(d.l)}, sub(b.r, model_node))};
			all->z[r] = -all->values[r].acceleration;
		}
	}
}

static const SubsystemTie *tie_of(const CalSim *sim, const SubsystemRow *row) {
	return &sim_subsystem(sim, row->device)->ties[row->tie];
}

/* Adds d_i'C d_j for the rows on a group, C being that of its ties in order. */
static void add_compliance(const CalSim *sim, int group, const double *C, int count) {
	struct SimSubsystems *all = sim->subsystems;
	TieWalk w = {0, -1};
	const SubsystemTie *tie;
	for (int n = 0; (tie = next_tie(sim, &w, group)) != NULL; n++) {
		TieWalk v = {0, -1};
		const SubsystemTie *other;
		for (int o = 0; (other = next_tie(sim, &v, group)) != NULL; o++) {
			for (int i = tie->row; i < tie->row + tie->loop.rows; i++)
				for (int j = other->row; j < other->row + other->loop.rows; j++) {
					const spatial p = all->rows[i].on_model, q = all->rows[j].on_model;
					const double a[6] = {p.a.x, p.a.y, p.a.z, p.l.x, p.l.y, p.l.z};
					const double b[6] = {q.a.x, q.a.y, q.a.z, q.l.x, q.l.y, q.l.z};
					double sum = 0;
					for (int k = 0; k < 6; k++)
						for (int l = 0; l < 6; l++)
							sum += a[k] * C[(6 * n + k) * 6 * count + 6 * o + l] * b[l];
					all->Lambda[i * all->row_count + j] += sum;
				}
		}
	}
}

static bool is_free(const SimGroup *group, const CalInput *input) {
	return group->model->row_count == 0 && !input->prescribed && !group->model->any_prescribed;
}

/* Forward dynamics with one more wrench on a node, and the kinematics of the result. */
static CalStatus probe_node(CalEvalContext *context, int group, int node, CalSpatial wrench) {
	SimGroup *g = &context->sim->groups[group];
	CalInput *input = &context->inputs[group];
	CalWork *work = work_of(context, group);
	const int count = input->wrench_count;
	CalStatus status = CAL_OK;
	if (node >= 0) {
		context->room = 1;
		status = cal_context_apply_wrench(context, (CalNodeRef){group, node}, CAL_FRAME_WORLD, wrench);
	}
	if (status == CAL_OK)
		status = cal_forward_dynamics(g->model, &context->parts[group], input, work, g->udot);
	if (status == CAL_OK)
		status = cal_kinematics(g->model, &context->parts[group], g->udot, work);
	input->wrench_count = count;
	return status;
}

static CalStatus read_accelerations(const CalEvalContext *context, int group, spatial *A, int *nodes, int *count) {
	TieWalk w = {0, -1};
	const SubsystemTie *tie;
	CalStatus status = CAL_OK;
	for (*count = 0; status == CAL_OK && (tie = next_tie(context->sim, &w, group)) != NULL; (*count)++) {
		CalSpatial a = {0};
		status =
			cal_node_acceleration(context->sim->groups[group].model, work_of(context, group), tie->node_ref.node, &a);
		A[*count] = spatial_in(a);
		nodes[*count] = tie->node_ref.node;
	}
	return status;
}

/* C by wrenches along each axis of each node. A: accelerations without; what comes is their difference. */
static CalStatus probe_compliance(CalEvalContext *context, int group, const spatial *A, int count) {
	struct SimSubsystems *all = context->sim->subsystems;
	const int n = 6 * count;
	CalStatus status = CAL_OK;
	for (int j = 0; j < n && status == CAL_OK; j++) {
		double e[6] = {0};
		e[j % 6] = PROBE;
		status = probe_node(context, group, all->nodes[j / 6], (CalSpatial){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}});
		for (int i = 0; i < count && status == CAL_OK; i++) {
			CalSpatial a = {0};
			status =
				cal_node_acceleration(context->sim->groups[group].model, work_of(context, group), all->nodes[i], &a);
			const spatial d = spatial_sub(spatial_in(a), A[i]);
			const double six[6] = {d.a.x, d.a.y, d.a.z, d.l.x, d.l.y, d.l.z};
			for (int k = 0; k < 6; k++)
				all->C[(6 * i + k) * n + j] = six[k] / PROBE;
		}
	}
	for (int i = 0; i < n; i++) // round-off
		for (int j = 0; j < i; j++)
			all->C[i * n + j] = all->C[j * n + i] = 0.5 * (all->C[i * n + j] + all->C[j * n + i]);
	return status;
}

/*
 * Nodes and accelerations of the ties on a group under everything but the subsystems; plain: as far as they are needed.
 */
static CalStatus prepare_group(CalEvalContext *context, int group, int plain, int *count) {
	struct SimSubsystems *all = context->sim->subsystems;
	SimGroup *g = &context->sim->groups[group];
	CalStatus status = CAL_OK;
	if (!plain || !is_free(g, &context->inputs[group])) {
		status = probe_node(context, group, -1, (CalSpatial){0});
		g->kinematics_known = status == CAL_OK;
		return status == CAL_OK ? read_accelerations(context, group, all->A, all->nodes, count) : status;
	}
	TieWalk w = {0, -1};
	const SubsystemTie *tie;
	for (*count = 0; (tie = next_tie(context->sim, &w, group)) != NULL; (*count)++) {
		all->A[*count] = spatial_zero();
		all->nodes[*count] = tie->node_ref.node;
	}
	return status;
}

/* The rows of all ties on a group and what the group adds to Lambda. */
static CalStatus solve_group(CalEvalContext *context, int group, int plain) {
	struct SimSubsystems *all = context->sim->subsystems;
	SimGroup *g = &context->sim->groups[group];
	TieWalk w = {0, -1};
	int count = 0;
	if (!next_tie(context->sim, &w, group))
		return CAL_OK;
	if (g->motion) {
		cal_context_explain_failure(
			context, "a compiled subsystem cannot be tied to a group whose motion is given; release the group");
		return context_failed(context, w.device, 1);
	}
	CalStatus status = prepare_group(context, group, plain, &count);
	if (status == CAL_OK)
		status = fill_rows(context, group, all->A, plain);
	if (status == CAL_OK && is_free(g, &context->inputs[group])) {
		CalWork *work = work_of(context, group);
		status = cal_mass_factor(g->model, &context->parts[group], work);
		if (status == CAL_OK)
			status = cal_node_compliance(g->model, work, all->nodes, count, g->force, all->C);
	} else if (status == CAL_OK) {
		status = probe_compliance(context, group, all->A, count);
	}
	g->kinematics_known = false;
	if (status == CAL_OK)
		add_compliance(context->sim, group, all->C, count);
	return status == CAL_OK || context->status != CAL_OK ? status : group_failed(context, w.device, g->model, status);
}

/* ---- together ------------------------------------------------------------------------------------------------ */

static void add_subsystems(const CalSim *sim) {
	struct SimSubsystems *all = sim->subsystems;
	const int m = all->row_count;
	for (int i = 0; i < m; i++) {
		if (all->rows[i].device < 0)
			continue;
		const Subsystem *subsystem = sim_subsystem(sim, all->rows[i].device);
		const int n = 6 * subsystem->def.interface_node_count, p = 6 * tie_of(sim, &all->rows[i])->interface_node;
		for (int j = 0; j < m; j++) {
			if (all->rows[j].device != all->rows[i].device)
				continue;
			const int q = 6 * tie_of(sim, &all->rows[j])->interface_node;
			spatial column = spatial_zero();
			const spatial d = all->rows[j].on_subsystem;
			const double six[6] = {d.a.x, d.a.y, d.a.z, d.l.x, d.l.y, d.l.z};
			for (int l = 0; l < 6; l++) {
				const double *c = subsystem->Lambda + (size_t)(q + l) * (size_t)n + p; // symmetric: row for column
				column = spatial_madd(column, six[l], at(c));
			}
			all->Lambda[i * m + j] += spatial_dot(all->rows[i].on_subsystem, column);
		}
	}
}

static CalStatus apply_forces(CalEvalContext *context) {
	const CalSim *sim = context->sim;
	struct SimSubsystems *all = sim->subsystems;
	for (int i = 0; i < sim->device_count; i++) {
		Subsystem *subsystem = sim->devices[i].active ? sim_subsystem(sim, i) : NULL;
		if (!subsystem)
			continue;
		memset(subsystem->wrench, 0, (size_t)subsystem->def.interface_node_count * sizeof *subsystem->wrench);
		context->room = subsystem->tie_count;
		for (int k = 0; k < subsystem->tie_count; k++) {
			const SubsystemTie *tie = &subsystem->ties[k];
			spatial model = spatial_zero(), own = spatial_in(subsystem->wrench[tie->interface_node]);
			for (int r = tie->row; r < tie->row + tie->loop.rows; r++) {
				model = spatial_madd(model, all->lambda[r], all->rows[r].on_model);
				own = spatial_madd(own, all->lambda[r], all->rows[r].on_subsystem);
			}
			subsystem->wrench[tie->interface_node] = spatial_out(own);
			const CalStatus status =
				cal_context_apply_wrench(context, tie->node_ref, CAL_FRAME_WORLD, spatial_out(model));
			if (status != CAL_OK)
				return context_failed(context, i, 0);
		}
	}
	return CAL_OK;
}

static CalStatus ask_rates(CalEvalContext *context, double *xdot) {
	const CalSim *sim = context->sim;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const Subsystem *subsystem = device->active ? sim_subsystem(sim, i) : NULL;
		if (!subsystem)
			continue;
		double *rate = xdot + device->x_at;
		if (subsystem->def.ops->rates(subsystem->def.self, context->t, context->x + device->x_at, subsystem->wrench,
		                              rate) != 0)
			return subsystem_failed(context, i, "rates() failed");
		if (!all_finite(rate, subsystem->def.nx))
			return subsystem_failed(context, i, "rates() gives numbers that are not finite");
	}
	return CAL_OK;
}

CalStatus subsystems_rows(CalEvalContext *context, int plain) {
	CalSim *sim = context->sim;
	struct SimSubsystems *all = sim->subsystems;
	const int m = all->row_count;
	CalStatus status = CAL_OK;
	for (int i = 0; i < m; i++)
		all->rows[i] = (SubsystemRow){.device = -1};
	memset(all->values, 0, (size_t)m * sizeof *all->values);
	memset(all->Lambda, 0, (size_t)m * (size_t)m * sizeof(double));
	memset(all->z, 0, (size_t)m * sizeof(double));
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++)
		if (sim->devices[i].active && sim_subsystem(sim, i))
			status = evaluate_subsystem(context, i);
	if (status == CAL_OK)
		status = fill_rows(context, -1, NULL, plain);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = solve_group(context, i, plain);
	if (status == CAL_OK)
		add_subsystems(sim);
	return status;
}

void subsystems_multipliers(struct SimSubsystems *all) {
	const int m = all->row_count;
	const int rank = min_norm_factor(m, all->Lambda, DEPENDENT, all->order, all->independent, all->solve);
	min_norm_solve(m, rank, all->Lambda, all->order, all->solve, all->z, all->lambda);
}

CalStatus subsystems_solve(CalEvalContext *context, double *xdot) {
	CalStatus status = subsystems_rows(context, 0);
	if (status != CAL_OK)
		return status;
	subsystems_multipliers(context->sim->subsystems);
	status = apply_forces(context);
	return status == CAL_OK ? ask_rates(context, xdot) : status;
}

/* ---- what the multipliers do to the model ----------------------------------------------------------------------- */

/* Wrenches of the multipliers on the nodes of a group, times a factor, beside what its input has. */
static CalStatus push_group(CalEvalContext *context, int group, double factor) {
	const struct SimSubsystems *all = context->sim->subsystems;
	TieWalk w = {0, -1};
	const SubsystemTie *tie;
	CalStatus status = CAL_OK;
	context->room = all->tie_count;
	while (status == CAL_OK && (tie = next_tie(context->sim, &w, group)) != NULL) {
		spatial sum = spatial_zero();
		for (int r = tie->row; r < tie->row + tie->loop.rows; r++)
			sum = spatial_madd(sum, factor * all->lambda[r], all->rows[r].on_model);
		status = cal_context_apply_wrench(context, tie->node_ref, CAL_FRAME_WORLD, spatial_out(sum));
	}
	return status;
}

bool subsystems_touch(const CalSim *sim, int group) { return next_tie(sim, &(TieWalk){0, -1}, group) != NULL; }

CalStatus subsystems_response(CalEvalContext *context, int group) {
	SimGroup *g = &context->sim->groups[group];
	CalInput *input = &context->inputs[group];
	CalWork *work = work_of(context, group);
	const int nu = g->model->nu;
	CalStatus status;
	g->kinematics_known = false;
	if (is_free(g, input)) {
		*input = (CalInput){0}; // nothing else counts
		status = push_group(context, group, 1);
		if (status == CAL_OK)
			status = cal_external_forces(g->model, &context->parts[group], input, work, g->force);
		if (status == CAL_OK)
			status = cal_mass_factor(g->model, &context->parts[group], work);
		return status == CAL_OK ? cal_mass_solve(g->model, work, g->force, g->udot) : status;
	}
	status = cal_forward_dynamics(g->model, &context->parts[group], input, work, g->force);
	if (status == CAL_OK)
		status = push_group(context, group, PROBE);
	if (status == CAL_OK)
		status = cal_forward_dynamics(g->model, &context->parts[group], input, work, g->udot);
	for (int k = 0; k < nu; k++)
		g->udot[k] = (g->udot[k] - g->force[k]) / PROBE;
	return status;
}
