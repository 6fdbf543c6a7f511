// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_solve.c — the forces between the model and its black boxes (docs/decisions/0021-black-boxes.md).
 *
 * The rows of all ties are those of loops between a node of the model and a border node. With the accelerations that both
 * sides have without each other, their second derivatives are g. A multiplier lambda puts the wrench d on the box and -d on
 * the model, so that
 *   (D_b'Phi D_b + D_m'C D_m) lambda = -g,   C = J M^-1 J' of the model's nodes, loops and driven freedoms held
 * where D_b, D_m are the rows' wrenches at the nodes. C is that of the recursion where the tree is free. Otherwise it is
 * found from forward dynamics under large wrenches, which are linear in them: nothing of the other forces is left then.
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
static const double SYMMETRY = 1e-9;   // of Phi, relative to its diagonal

/* ---- the boxes' side ---------------------------------------------------------------------------------------- */

const char *box_response_fault(const SimBox *box) {
	const int n = 6 * box->def.border_count;
	const double *Phi = box->Phi;
	if (!all_finite(Phi, n * n) || !all_finite(box->b, n))
		return "respond() gives numbers that are not finite";
	for (int i = 0; i < n; i++) {
		if (Phi[i * n + i] < 0)
			return "respond() gives a Phi with a negative diagonal; accelerations go with the forces";
		for (int j = 0; j < i; j++) {
			const double scale = fmax(sqrt(fabs(Phi[i * n + i] * Phi[j * n + j])), 1e-300);
			if (fabs(Phi[i * n + j] - Phi[j * n + i]) > SYMMETRY * scale)
				return "respond() gives a Phi that is not symmetric; is it in world axes, at the nodes' origins, angular "
					   "first?";
			if (fabs(Phi[i * n + j]) > (1 + 1e-6) * scale)
				return "respond() gives a Phi that is not positive semidefinite";
		}
	}
	return NULL;
}

static CalStatus ask_box(CalScene *scene, int device) {
	SimBox *box = sim_box(scene->sim, device);
	const double *x = scene->x + scene->sim->devices[device].x_at;
	const CalStatus status = box_border(scene, device);
	if (status != CAL_OK)
		return status;
	if (box->def.ops->respond(box->def.self, scene->t, x, box->Phi, box->b) != 0)
		return box_failed(scene, device, "respond() failed");
	const char *wrong = box_response_fault(box);
	return wrong ? box_failed(scene, device, wrong) : CAL_OK;
}

/* The acceleration of a node, at a frame on it. */
static void accelerate(LoopFrame *f, vec3 node, spatial A) {
	f->al = A.a;
	f->a = add(f->a, add(A.l, cross(A.a, sub(f->r, node))));
}

static spatial at(const double *six) { return (spatial){{six[0], six[1], six[2]}, {six[3], six[4], six[5]}}; }

/* ---- the model's side --------------------------------------------------------------------------------------- */

/* Calls for every tie of every active box on a group (-1: the ground). */
typedef struct TieWalk {
	int device, tie;
} TieWalk;

static BoxTie *next_tie(const CalSim *sim, TieWalk *w, int group) {
	for (; w->device < sim->device_count; w->device++, w->tie = -1) {
		const SimBox *box = sim->devices[w->device].active ? sim_box(sim, w->device) : NULL;
		while (box && ++w->tie < box->tie_count)
			if (box->ties[w->tie].site.group == group)
				return &box->ties[w->tie];
	}
	return NULL;
}

static CalWork *work_of(const CalScene *scene, int group) {
	return scene->viewing ? scene->sim->groups[group].view_work : scene->sim->groups[group].work;
}

static CalStatus group_failed(CalScene *scene, int device, const CalModel *model, CalStatus status) {
	char text[300];
	snprintf(text, sizeof text, "the forces on group \"%.100s\" cannot be found: %s", cal_model_name(model),
	         cal_status_text(status));
	cal_scene_explain(scene, text);
	scene->status = scene->status == CAL_OK ? status : scene->status;
	return scene_failed(scene, device, 0);
}

/* Fills frames, values and the rows' wrenches of the ties on a group; A: of their nodes without the boxes. */
static CalStatus fill_rows(CalScene *scene, int group, const spatial *A, int plain) {
	struct SimBoxes *all = scene->sim->boxes;
	TieWalk w = {0, -1};
	for (int n = 0;; n++) {
		const BoxTie *tie = next_tie(scene->sim, &w, group);
		if (!tie)
			return CAL_OK;
		const SimBox *box = sim_box(scene->sim, w.device);
		LoopFrame a, b;
		CalPose pose = {0};
		CalStatus status = box_frames(scene, w.device, tie, box->border, &a, &b);
		if (status == CAL_OK)
			status = cal_scene_node(scene, tie->site, &pose, NULL);
		if (status != CAL_OK)
			return status;
		const vec3 model_node = vec_in(pose.r), box_node = vec_in(box->border[tie->border].pose.r);
		accelerate(&a, model_node, A ? A[n] : spatial_zero());
		accelerate(&b, box_node, at(box->b + 6 * tie->border));
		const LoopContext context = {.t = scene->t, .depth = LOOP_MOTION, .plain = plain};
		loop_fill(&tie->loop, &a, &b, &context, all->values + tie->row);
		for (int r = tie->row; r < tie->row + tie->loop.rows; r++) {
			const spatial d = all->values[r].direction; // on the box, at the origin of b
			all->rows[r] = (BoxRow){.box = w.device,
			                        .tie = w.tie,
			                        .on_box = force_shift(d, sub(b.r, box_node)),
			                        .on_model = force_shift((spatial){neg(d.a), neg(d.l)}, sub(b.r, model_node))};
			all->z[r] = -all->values[r].acceleration;
		}
	}
}

static const BoxTie *tie_of(const CalSim *sim, const BoxRow *row) { return &sim_box(sim, row->box)->ties[row->tie]; }

/* Adds d_i'C d_j for the rows on a group, C being that of its ties in order. */
static void add_compliance(const CalSim *sim, int group, const double *C, int count) {
	struct SimBoxes *all = sim->boxes;
	TieWalk w = {0, -1};
	const BoxTie *tie;
	for (int n = 0; (tie = next_tie(sim, &w, group)) != NULL; n++) {
		TieWalk v = {0, -1};
		const BoxTie *other;
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
static CalStatus probe(CalScene *scene, int group, int node, CalSpatial wrench) {
	SimGroup *g = &scene->sim->groups[group];
	CalInput *input = &scene->inputs[group];
	CalWork *work = work_of(scene, group);
	const int count = input->wrench_count;
	CalStatus status = CAL_OK;
	if (node >= 0) {
		scene->room = 1;
		status = cal_scene_push(scene, (CalSite){group, node}, CAL_FRAME_WORLD, wrench);
	}
	if (status == CAL_OK)
		status = cal_forward_dynamics(g->model, &scene->parts[group], input, work, g->udot);
	if (status == CAL_OK)
		status = cal_kinematics(g->model, &scene->parts[group], g->udot, work);
	input->wrench_count = count;
	return status;
}

static CalStatus read_accelerations(const CalScene *scene, int group, spatial *A, int *nodes, int *count) {
	TieWalk w = {0, -1};
	const BoxTie *tie;
	CalStatus status = CAL_OK;
	for (*count = 0; status == CAL_OK && (tie = next_tie(scene->sim, &w, group)) != NULL; (*count)++) {
		CalSpatial a = {0};
		status = cal_node_acceleration(scene->sim->groups[group].model, work_of(scene, group), tie->site.node, &a);
		A[*count] = spatial_in(a);
		nodes[*count] = tie->site.node;
	}
	return status;
}

/* C by wrenches along each axis of each node. A: accelerations without; what comes is their difference. */
static CalStatus probe_compliance(CalScene *scene, int group, const spatial *A, int count) {
	struct SimBoxes *all = scene->sim->boxes;
	const int n = 6 * count;
	CalStatus status = CAL_OK;
	for (int j = 0; j < n && status == CAL_OK; j++) {
		double e[6] = {0};
		e[j % 6] = PROBE;
		status = probe(scene, group, all->nodes[j / 6], (CalSpatial){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}});
		for (int i = 0; i < count && status == CAL_OK; i++) {
			CalSpatial a = {0};
			status = cal_node_acceleration(scene->sim->groups[group].model, work_of(scene, group), all->nodes[i], &a);
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

/* Nodes and accelerations of the ties on a group under everything but the boxes; plain: as far as they are needed. */
static CalStatus look_at_group(CalScene *scene, int group, int plain, int *count) {
	struct SimBoxes *all = scene->sim->boxes;
	SimGroup *g = &scene->sim->groups[group];
	CalStatus status = CAL_OK;
	if (!plain || !is_free(g, &scene->inputs[group])) {
		status = probe(scene, group, -1, (CalSpatial){0});
		g->kinematics_known = status == CAL_OK;
		return status == CAL_OK ? read_accelerations(scene, group, all->A, all->nodes, count) : status;
	}
	TieWalk w = {0, -1};
	const BoxTie *tie;
	for (*count = 0; (tie = next_tie(scene->sim, &w, group)) != NULL; (*count)++) {
		all->A[*count] = spatial_zero();
		all->nodes[*count] = tie->site.node;
	}
	return status;
}

/* The rows of all ties on a group and what the group adds to Lambda. */
static CalStatus solve_group(CalScene *scene, int group, int plain) {
	struct SimBoxes *all = scene->sim->boxes;
	SimGroup *g = &scene->sim->groups[group];
	TieWalk w = {0, -1};
	int count = 0;
	if (!next_tie(scene->sim, &w, group))
		return CAL_OK;
	if (g->motion) {
		cal_scene_explain(scene, "a black box cannot be tied to a group whose motion is given; release the group");
		return scene_failed(scene, w.device, 1);
	}
	CalStatus status = look_at_group(scene, group, plain, &count);
	if (status == CAL_OK)
		status = fill_rows(scene, group, all->A, plain);
	if (status == CAL_OK && is_free(g, &scene->inputs[group])) {
		CalWork *work = work_of(scene, group);
		status = cal_mass_factor(g->model, &scene->parts[group], work);
		if (status == CAL_OK)
			status = cal_node_compliance(g->model, work, all->nodes, count, g->force, all->C);
	} else if (status == CAL_OK) {
		status = probe_compliance(scene, group, all->A, count);
	}
	g->kinematics_known = false;
	if (status == CAL_OK)
		add_compliance(scene->sim, group, all->C, count);
	return status == CAL_OK || scene->status != CAL_OK ? status : group_failed(scene, w.device, g->model, status);
}

/* ---- together ------------------------------------------------------------------------------------------------ */

static void add_boxes(const CalSim *sim) {
	struct SimBoxes *all = sim->boxes;
	const int m = all->row_count;
	for (int i = 0; i < m; i++) {
		if (all->rows[i].box < 0)
			continue;
		const SimBox *box = sim_box(sim, all->rows[i].box);
		const int n = 6 * box->def.border_count, p = 6 * tie_of(sim, &all->rows[i])->border;
		for (int j = 0; j < m; j++) {
			if (all->rows[j].box != all->rows[i].box)
				continue;
			const int q = 6 * tie_of(sim, &all->rows[j])->border;
			spatial column = spatial_zero();
			const spatial d = all->rows[j].on_box;
			const double six[6] = {d.a.x, d.a.y, d.a.z, d.l.x, d.l.y, d.l.z};
			for (int l = 0; l < 6; l++) {
				const double *c = box->Phi + (size_t)(q + l) * (size_t)n + p; // symmetric: row for column
				column = spatial_madd(column, six[l], at(c));
			}
			all->Lambda[i * m + j] += spatial_dot(all->rows[i].on_box, column);
		}
	}
}

static CalStatus push(CalScene *scene) {
	const CalSim *sim = scene->sim;
	struct SimBoxes *all = sim->boxes;
	for (int i = 0; i < sim->device_count; i++) {
		SimBox *box = sim->devices[i].active ? sim_box(sim, i) : NULL;
		if (!box)
			continue;
		memset(box->wrench, 0, (size_t)box->def.border_count * sizeof *box->wrench);
		scene->room = box->tie_count;
		for (int k = 0; k < box->tie_count; k++) {
			const BoxTie *tie = &box->ties[k];
			spatial model = spatial_zero(), own = spatial_in(box->wrench[tie->border]);
			for (int r = tie->row; r < tie->row + tie->loop.rows; r++) {
				model = spatial_madd(model, all->lambda[r], all->rows[r].on_model);
				own = spatial_madd(own, all->lambda[r], all->rows[r].on_box);
			}
			box->wrench[tie->border] = spatial_out(own);
			const CalStatus status = cal_scene_push(scene, tie->site, CAL_FRAME_WORLD, spatial_out(model));
			if (status != CAL_OK)
				return scene_failed(scene, i, 0);
		}
	}
	return CAL_OK;
}

static CalStatus ask_rates(CalScene *scene, double *xdot) {
	const CalSim *sim = scene->sim;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const SimBox *box = device->active ? sim_box(sim, i) : NULL;
		if (!box)
			continue;
		double *rate = xdot + device->x_at;
		if (box->def.ops->rates(box->def.self, scene->t, scene->x + device->x_at, box->wrench, rate) != 0)
			return box_failed(scene, i, "rates() failed");
		if (!all_finite(rate, box->def.nx))
			return box_failed(scene, i, "rates() gives numbers that are not finite");
	}
	return CAL_OK;
}

CalStatus boxes_rows(CalScene *scene, int plain) {
	CalSim *sim = scene->sim;
	struct SimBoxes *all = sim->boxes;
	const int m = all->row_count;
	CalStatus status = CAL_OK;
	for (int i = 0; i < m; i++)
		all->rows[i] = (BoxRow){.box = -1};
	memset(all->values, 0, (size_t)m * sizeof *all->values);
	memset(all->Lambda, 0, (size_t)m * (size_t)m * sizeof(double));
	memset(all->z, 0, (size_t)m * sizeof(double));
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++)
		if (sim->devices[i].active && sim_box(sim, i))
			status = ask_box(scene, i);
	if (status == CAL_OK)
		status = fill_rows(scene, -1, NULL, plain);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = solve_group(scene, i, plain);
	if (status == CAL_OK)
		add_boxes(sim);
	return status;
}

void boxes_multipliers(struct SimBoxes *all) {
	const int m = all->row_count;
	const int rank = min_norm_factor(m, all->Lambda, DEPENDENT, all->order, all->independent, all->solve);
	min_norm_solve(m, rank, all->Lambda, all->order, all->solve, all->z, all->lambda);
}

CalStatus boxes_solve(CalScene *scene, double *xdot) {
	CalStatus status = boxes_rows(scene, 0);
	if (status != CAL_OK)
		return status;
	boxes_multipliers(scene->sim->boxes);
	status = push(scene);
	return status == CAL_OK ? ask_rates(scene, xdot) : status;
}

/* ---- what the multipliers do to the model ----------------------------------------------------------------------- */

/* Wrenches of the multipliers on the nodes of a group, times a factor, beside what its input has. */
static CalStatus push_group(CalScene *scene, int group, double factor) {
	const struct SimBoxes *all = scene->sim->boxes;
	TieWalk w = {0, -1};
	const BoxTie *tie;
	CalStatus status = CAL_OK;
	scene->room = all->tie_count;
	while (status == CAL_OK && (tie = next_tie(scene->sim, &w, group)) != NULL) {
		spatial sum = spatial_zero();
		for (int r = tie->row; r < tie->row + tie->loop.rows; r++)
			sum = spatial_madd(sum, factor * all->lambda[r], all->rows[r].on_model);
		status = cal_scene_push(scene, tie->site, CAL_FRAME_WORLD, spatial_out(sum));
	}
	return status;
}

bool boxes_touch(const CalSim *sim, int group) { return next_tie(sim, &(TieWalk){0, -1}, group) != NULL; }

CalStatus boxes_response(CalScene *scene, int group) {
	SimGroup *g = &scene->sim->groups[group];
	CalInput *input = &scene->inputs[group];
	CalWork *work = work_of(scene, group);
	const int nu = g->model->nu;
	CalStatus status;
	g->kinematics_known = false;
	if (is_free(g, input)) {
		*input = (CalInput){0}; // nothing else counts
		status = push_group(scene, group, 1);
		if (status == CAL_OK)
			status = cal_external_forces(g->model, &scene->parts[group], input, work, g->force);
		if (status == CAL_OK)
			status = cal_mass_factor(g->model, &scene->parts[group], work);
		return status == CAL_OK ? cal_mass_solve(g->model, work, g->force, g->udot) : status;
	}
	status = cal_forward_dynamics(g->model, &scene->parts[group], input, work, g->force);
	if (status == CAL_OK)
		status = push_group(scene, group, PROBE);
	if (status == CAL_OK)
		status = cal_forward_dynamics(g->model, &scene->parts[group], input, work, g->udot);
	for (int k = 0; k < nu; k++)
		g->udot[k] = (g->udot[k] - g->force[k]) / PROBE;
	return status;
}
