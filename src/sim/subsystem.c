// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.c — black boxes as devices: adding them, their start, their frames, what is cleaned up after steps.
 */
#include "sim/subsystem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/placement.h"
#include "model/description/desc.h"

static const double START_TOLERANCE = 1e-6; // [m], [rad], and of speeds, relative to the fastest
static const double FREQUENCY = 10;         // of the stabilisation where none is given [rad/s]

typedef struct BoxData {
	SimBox *box;
} BoxData;

static SimBox *box_of(const CalDevice *device) { return ((const BoxData *)device->data)->box; }

static const CalDeviceOps box_ops;

SimBox *sim_box(const CalSim *sim, int device) {
	const SimDevice *d = device >= 0 && device < sim->device_count ? &sim->devices[device] : NULL;
	return d && d->def.ops == &box_ops ? box_of(&d->is) : NULL;
}

/* What is wrong, in the box's own words too, and where it comes from. */
static void explain(CalScene *scene, const SimBox *box, const char *what) {
	const char *own = box->def.ops->explain ? box->def.ops->explain(box->def.self) : NULL;
	const bool from = box->origin[0] != 0;
	char text[320];
	snprintf(text, sizeof text, "%.200s%s%.100s%s%.80s%s", what, own && own[0] ? ": " : "", own ? own : "",
	         from ? " (" : "", box->origin, from ? ")" : "");
	cal_scene_explain(scene, text);
}

CalStatus box_failed(CalScene *scene, int device, const char *what) {
	explain(scene, sim_box(scene->sim, device), what);
	return scene_failed(scene, device, 1);
}

static const char *border_name(const SimBox *box, int border, char *buffer, size_t size) {
	if (box->def.border_names && box->def.border_names[border])
		snprintf(buffer, size, "\"%.60s\"", box->def.border_names[border]);
	else
		snprintf(buffer, size, "%d", border + 1);
	return buffer;
}

/* ---- frames ---------------------------------------------------------------------------------------------- */

/* A frame on a node: `on` in its axes. Accelerations are added by the solver. */
static LoopFrame frame_on(const CalPose *pose, const CalSpatial *V, CalPlacement on) {
	const dpose node = {dmat_in(&pose->R), dvec_in(pose->r)}, frame = dpose_mul(node, pose_of(on));
	const vec3 w = vec_in(V->angular), e = vec_from(dadd(frame.r, dscale(-1, node.r)));
	return (LoopFrame){.R = mat_from(frame.R),
	                   .r = vec_from(frame.r),
	                   .w = w,
	                   .v = add(vec_in(V->linear), cross(w, e)),
	                   .al = vec_zero(),
	                   .a = cross(w, cross(w, e))};
}

CalStatus box_frames(CalScene *scene, int device, const BoxTie *tie, const CalBorder *border, LoopFrame *A,
                     LoopFrame *B) {
	CalPose pose;
	CalSpatial velocity;
	const CalStatus status = cal_scene_node(scene, tie->site, &pose, &velocity);
	if (status != CAL_OK)
		return scene_failed(scene, device, 0);
	*A = frame_on(&pose, &velocity, tie->loop.def_a);
	*B = frame_on(&border[tie->border].pose, &border[tie->border].velocity, tie->loop.def_b);
	return CAL_OK;
}

static bool border_is_finite(const CalBorder *b) {
	const double *n = &b->pose.R.m[0][0];
	double sum = b->pose.r.x + b->pose.r.y + b->pose.r.z + b->velocity.angular.x + b->velocity.angular.y +
	             b->velocity.angular.z + b->velocity.linear.x + b->velocity.linear.y + b->velocity.linear.z;
	for (int i = 0; i < 9; i++)
		sum += n[i];
	return isfinite(sum);
}

CalStatus box_border(CalScene *scene, int device) {
	SimBox *box = sim_box(scene->sim, device);
	const double *x = scene->x + scene->sim->devices[device].x_at;
	if (box->def.ops->border(box->def.self, scene->t, x, box->border) != 0)
		return box_failed(scene, device, "border() failed");
	for (int i = 0; i < box->def.border_count; i++)
		if (!border_is_finite(&box->border[i]))
			return box_failed(scene, device, "border() gives poses or velocities that are not finite");
	return CAL_OK;
}

/* ---- the device --------------------------------------------------------------------------------------------- */

static int bind(const CalDevice *device, const CalScene *scene) {
	SimBox *box = box_of(device);
	for (int i = 0; i < box->tie_count; i++)
		if (!cal_scene_find_node(scene, box->ties[i].id, &box->ties[i].site))
			return 1;
	return 0;
}

/* Where the tie puts its border node with the joint at zero, moving with the node of the model. */
static CalStatus wanted(CalScene *scene, const BoxTie *tie, CalBorder *border) {
	CalPose pose;
	CalSpatial V;
	const CalStatus status = cal_scene_node(scene, tie->site, &pose, &V);
	const dpose node = {dmat_in(&pose.R), dvec_in(pose.r)};
	const dpose at = dpose_mul(dpose_mul(node, pose_of(tie->loop.def_a)), dpose_inverse(pose_of(tie->loop.def_b)));
	const dvec3 e = dadd(at.r, dscale(-1, node.r));
	const dvec3 v = dadd(dvec_in(V.linear), dcross(dvec_in(V.angular), e));
	*border = (CalBorder){dpose_out(at), {V.angular, dvec_out(v)}};
	return status;
}

/* The rows that a start leaves open are an error. */
static int check_tie(const SimBox *box, CalScene *scene, const BoxTie *tie) {
	LoopFrame A, B;
	LoopRow row[CAL_LOOP_MAX_ROWS];
	CalPose pose;
	CalSpatial V;
	char name[80], text[300];
	if (cal_scene_node(scene, tie->site, &pose, &V) != CAL_OK)
		return 1;
	A = frame_on(&pose, &V, tie->loop.def_a);
	B = frame_on(&box->border[tie->border].pose, &box->border[tie->border].velocity, tie->loop.def_b);
	const double fast = fmax(1, fmax(sqrt(dot(B.v, B.v)), sqrt(dot(B.w, B.w))));
	const int count = loop_fill(&tie->loop, &A, &B, &(LoopContext){.t = scene->t, .plain = 1}, row);
	for (int i = 0; i < count; i++) {
		const bool far = !(fabs(row[i].value) <= START_TOLERANCE),
				   fast_off = !(fabs(row[i].rate) <= START_TOLERANCE * fast);
		if (!far && !fast_off)
			continue;
		snprintf(
			text, sizeof text,
			"its border node %s does not meet the node that it is tied to at the start: row %d of the %s is off by %.3g, "
			"its rate by %.3g; give states that fit",
			border_name(box, tie->border, name, sizeof name), i + 1, cal_loop_type_name(tie->loop.type), row[i].value,
			row[i].rate);
		explain(scene, box, text);
		return 1;
	}
	return 0;
}

static int start(const CalDevice *device, CalScene *scene, double *x) {
	SimBox *box = box_of(device);
	const CalSubsystemOps *ops = box->def.ops;
	const CalPose identity = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	for (int i = 0; i < box->def.border_count; i++)
		box->border[i] = (CalBorder){.pose = identity};
	for (int i = box->tie_count - 1; i >= 0; i--) // of several ties of a node the first counts
		if (wanted(scene, &box->ties[i], &box->border[box->ties[i].border]) != CAL_OK)
			return 1;
	if (ops->start(box->def.self, scene->t, box->border, x) != 0 ||
	    ops->border(box->def.self, scene->t, x, box->border) != 0 ||
	    ops->respond(box->def.self, scene->t, x, box->Phi, box->b) != 0) {
		explain(scene, box, "it refuses to start");
		return 1;
	}
	const char *fault = box_response_fault(box);
	if (fault) {
		explain(scene, box, fault);
		return 1;
	}
	for (int i = 0; i < box->tie_count; i++)
		if (check_tie(box, scene, &box->ties[i]) != 0)
			return 1;
	return 0;
}

/* Forces and rates follow when everything else is known (boxes_solve). */
static int account(const CalDevice *device, CalScene *scene, double *xdot) {
	SimBox *box = box_of(device);
	CalSubsystemEnergy energy = {0};
	(void)xdot;
	if (!box->def.ops->energy)
		return 0;
	if (box->def.ops->energy(box->def.self, scene->t, device->x, &energy) != 0)
		return 1;
	cal_scene_store(scene, energy.stored);
	cal_scene_dissipate(scene, energy.dissipated);
	cal_scene_supply(scene, energy.supplied);
	cal_scene_carry(scene, energy.linear, energy.angular);
	return 0;
}

static void destroy(void *data) {
	SimBox *box = ((BoxData *)data)->box;
	if (box->def.ops->destroy)
		box->def.ops->destroy(box->def.self);
	const CalAllocator allocator = box->allocator;
	memory_free(&allocator, box);
}

/* Of driven ties. */
static double next_switch(const CalDevice *device, double t) {
	const SimBox *box = box_of(device);
	double next = INFINITY;
	for (int i = 0; i < box->tie_count; i++)
		next = fmin(next, loop_next_switch(&box->ties[i].loop, t));
	return next;
}

static const CalDeviceOps box_ops = {.type = "subsystem",
                                     .bind = bind,
                                     .start = start,
                                     .evaluate = account,
                                     .next_switch = next_switch,
                                     .destroy = destroy};

/* ---- adding -------------------------------------------------------------------------------------------------- */

static CalStatus refuse(CalError *error, const char *name, const char *what) {
	return error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": %s", name, what);
}

static CalStatus check_def(const CalSim *sim, const char *name, const CalSubsystemDef *def, CalError *error) {
	if (def->version != CAL_SUBSYSTEM_INTERFACE)
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"subsystem \"%.100s\": it was built for version %d of calder/subsystem.h, this library has version "
			"%d; compile it again",
			name, def->version, CAL_SUBSYSTEM_INTERFACE);
	const CalSubsystemOps *ops = def->ops;
	if (!ops || !ops->type || !ops->start || !ops->border || !ops->respond || !ops->rates)
		return refuse(error, name, "it needs a type and the functions start, border, respond and rates");
	if (def->nx < 0 || def->border_count < 1 || def->border_count > 1000)
		return refuse(error, name,
		              "the number of its states is negative, or that of its border nodes not from 1 to 1000");
	if (sim->method.method == CAL_METHOD_IMPLICIT || sim->method.method == CAL_METHOD_IMPLICIT_MIDPOINT)
		return refuse(error, name,
		              "steps of the method are implicit, which a black box cannot follow; choose dopri5, rk4 or "
		              "euler-cromer");
	return CAL_OK;
}

static int find_border(const SimBox *box, const CalSubsystemTie *tie) {
	for (int i = 0; tie->name && box->def.border_names && i < box->def.border_count; i++)
		if (box->def.border_names[i] && strcmp(box->def.border_names[i], tie->name) == 0)
			return i;
	return tie->name ? -1 : tie->border;
}

static CalStatus make_tie(const char *name, const SimBox *box, const CalSubsystemTie *from, BoxTie *to,
                          CalError *error) {
	CalLoopDef def = from->joint;
	const int border = find_border(box, from);
	def.name = name;
	const CalVec3 m = def.known.angular, f = def.known.linear;
	if (border < 0 && from->name)
		return error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": it has no border node \"%.80s\"", name,
		                 from->name);
	if (border < 0 || border >= box->def.border_count)
		return error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": it has %d border nodes, there is no number %d",
		                 name, box->def.border_count, from->border + 1);
	if (!cal_loop_type_name(def.type) || def.type == CAL_LOOP_KNIFE || def.type == CAL_LOOP_COUPLING || m.x != 0 ||
	    m.y != 0 || m.z != 0 || f.x != 0 || f.y != 0 || f.z != 0)
		return refuse(error, name, "a tie is a joint between two nodes: no knife, no coupling, no known wrench");
	CalStatus status = loop_def_check(&def, error);
	const char *wrong = placement_resolve(&def.a);
	wrong = wrong ? wrong : placement_resolve(&def.b);
	if (status != CAL_OK || wrong)
		return status != CAL_OK ? status : refuse(error, name, wrong);
	*to = (BoxTie){.id = from->node, .border = border, .site = {-1, -1}};
	to->loop = (Loop){.type = def.type,
	                  .rows = loop_def_rows(&def),
	                  .translation = loop_def_translation(&def),
	                  .rotation = loop_def_rotation(&def),
	                  .length = def.length,
	                  .pitch = def.pitch,
	                  .radius = def.radius,
	                  .frequency = def.frequency > 0 ? def.frequency : FREQUENCY,
	                  .damping = def.frequency > 0 ? def.damping : 1,
	                  .def_a = def.a,
	                  .def_b = def.b};
	for (int i = 0; i < to->loop.rows; i++) {
		const CalDrive *d = to->loop.drive + i;
		to->loop.drive[i] = def.drive[i];
		to->loop.driven |= d->fn || d->offset != 0 || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0;
	}
	return CAL_OK;
}

static size_t rounded(size_t size) { return (size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT; }

static void *take(char **at, size_t size) {
	void *place = *at;
	*at += rounded(size);
	return place;
}

static SimBox *box_alloc(const CalSim *sim, const CalSubsystemDef *def, int ties) {
	const size_t k = (size_t)def->border_count, n = 6 * k, d = sizeof(double);
	const size_t size = rounded(sizeof(SimBox)) + rounded((size_t)ties * sizeof(BoxTie)) +
	                    rounded(k * sizeof(CalBorder)) + rounded(n * n * d) + rounded(n * d) +
	                    2 * rounded(k * sizeof(CalSpatial));
	char *at = memory_alloc(&sim->allocator, size);
	if (!at)
		return NULL;
	memset(at, 0, size);
	SimBox *box = take(&at, sizeof *box);
	box->def = *def;
	box->allocator = sim->allocator;
	box->tie_count = ties;
	box->ties = take(&at, (size_t)ties * sizeof *box->ties);
	box->border = take(&at, k * sizeof *box->border);
	box->Phi = take(&at, n * n * d);
	box->b = take(&at, n * d);
	box->wrench = take(&at, k * sizeof *box->wrench);
	box->none = take(&at, k * sizeof *box->none);
	return box;
}

/* Room for the rows and ties of all boxes; NULL: no memory. */
static struct SimBoxes *boxes_alloc(const CalSim *sim, int rows, int ties) {
	const size_t m = (size_t)rows, n = (size_t)ties, d = sizeof(double);
	const size_t size = rounded(sizeof(struct SimBoxes)) + rounded(m * sizeof(BoxRow)) + rounded(m * sizeof(LoopRow)) +
	                    rounded(m * m * d) + 2 * rounded(m * d) + rounded((m + 2) * m * d) + rounded(m * sizeof(int)) +
	                    rounded(m) + rounded(n * sizeof(int)) + rounded(n * sizeof(spatial)) + rounded(36 * n * n * d);
	char *at = memory_alloc(&sim->allocator, size);
	if (!at)
		return NULL;
	struct SimBoxes *all = take(&at, sizeof *all);
	*all = (struct SimBoxes){.row_count = rows, .tie_count = ties};
	all->rows = take(&at, m * sizeof *all->rows);
	all->values = take(&at, m * sizeof *all->values);
	all->Lambda = take(&at, m * m * d);
	all->z = take(&at, m * d);
	all->lambda = take(&at, m * d);
	all->solve = take(&at, (m + 2) * m * d);
	all->order = take(&at, m * sizeof *all->order);
	all->independent = take(&at, m);
	all->nodes = take(&at, n * sizeof *all->nodes);
	all->A = take(&at, n * sizeof *all->A);
	all->C = take(&at, 36 * n * n * d);
	return all;
}

static CalStatus add_device(CalSim *sim, const char *name, SimBox *box, int *device, CalError *error) {
	const BoxData data = {box};
	bool driven = false;
	for (int i = 0; i < box->tie_count; i++)
		driven |= box->ties[i].loop.driven != 0;
	const CalDeviceDef def = {.name = name,
	                          .ops = &box_ops,
	                          .data = &data,
	                          .data_size = sizeof data,
	                          .nx = box->def.nx,
	                          .wrench_count = box->tie_count,
	                          .accounts = box->def.ops->energy && !driven};
	return cal_sim_add_device(sim, &def, device, error);
}

CalStatus cal_sim_add_subsystem(CalSim *sim, const char *name, const CalSubsystemDef *def, const CalSubsystemTie *ties,
                                int tie_count, int *device, CalError *error) {
	if (!sim || !name || !name[0] || !def || tie_count < 0 || (tie_count > 0 && !ties))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_add_subsystem: give a simulation, a name, a definition and ties");
	CalStatus status = check_def(sim, name, def, error);
	if (status != CAL_OK)
		return status;
	SimBox *box = box_alloc(sim, def, tie_count);
	int rows = sim->boxes ? sim->boxes->row_count : 0, index = -1;
	const int all_ties = (sim->boxes ? sim->boxes->tie_count : 0) + tie_count;
	for (int i = 0; box && status == CAL_OK && i < tie_count; i++) {
		status = make_tie(name, box, &ties[i], &box->ties[i], error);
		box->ties[i].row = rows;
		rows += box->ties[i].loop.rows;
	}
	struct SimBoxes *all = box && status == CAL_OK ? boxes_alloc(sim, rows, all_ties) : NULL;
	if (status == CAL_OK && !all)
		status = error_set(error, CAL_ERR_MEMORY, "subsystem \"%.100s\": out of memory", name);
	if (status == CAL_OK)
		status = add_device(sim, name, box, &index, error);
	if (status != CAL_OK || !all) {
		memory_free(&sim->allocator, box);
		memory_free(&sim->allocator, all);
		return status;
	}
	all->commits = (sim->boxes && sim->boxes->commits) || def->ops->commit || def->ops->correct;
	all->corrects = (!sim->boxes || sim->boxes->corrects) && def->ops->correct;
	memory_free(&sim->allocator, sim->boxes);
	sim->boxes = all;
	if (device)
		*device = index;
	return CAL_OK;
}

/* ---- after steps, and looking ------------------------------------------------------------------------------------ */

CalStatus boxes_commit(CalSim *sim) {
	bool changed = false;
	const CalStatus status = sim->boxes->corrects ? boxes_project(sim, &changed) : CAL_OK;
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < sim->device_count; i++) {
		const SimBox *box = sim_box(sim, i);
		if (!box || !box->def.ops->commit)
			continue;
		const int code = box->def.ops->commit(box->def.self, cal_sim_time(sim), sim->devices[i].x);
		if (code < 0) {
			sim->failed_device = i;
			snprintf(sim->why_failed, sizeof sim->why_failed, "commit() failed");
			return CAL_ERR_USER;
		}
		changed |= code > 0;
	}
	if (changed)
		cal_integrator_renew(sim->whole.integrator);
	return CAL_OK;
}

bool boxes_commit_steps(const CalSim *sim) { return sim->boxes && sim->boxes->commits; }

CalStatus cal_sim_subsystem_border(CalSim *sim, int device, int border, CalBorder *at) {
	const SimBox *box = sim ? sim_box(sim, device) : NULL;
	if (!box || !at || border < 0 || border >= box->def.border_count)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status != CAL_OK)
		return status;
	CalScene scene = scene_now(sim, true);
	status = box_border(&scene, device);
	*at = box->border[border];
	return status;
}

CalStatus cal_sim_subsystem_wrench(CalSim *sim, int device, int border, CalSpatial *wrench) {
	const SimBox *box = sim ? sim_box(sim, device) : NULL;
	if (!box || !wrench || border < 0 || border >= box->def.border_count)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	CalScene scene;
	if (status == CAL_OK)
		status = sim_view(sim, true, &scene);
	*wrench = box->wrench[border];
	return status;
}
