// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.c — components and compiled subsystems as devices: adding them, their frames, what is cleaned up after steps.
 */
#include "sim/subsystem/subsystem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "component/free_root.h"
#include "loop/loop_type.h"
#include "integrate/scheme.h"
#include "math/placement.h"
#include "model/description/desc.h"

static const double START_TOLERANCE = 1e-6; // [m], [rad], and of speeds, relative to the fastest
static const char STATES[] = "give states that fit";

typedef struct SubsystemData {
	Subsystem *box;
} SubsystemData;

static Subsystem *subsystem_of(const CalDevice *device) { return ((const SubsystemData *)device->data)->box; }

static const CalDeviceOps compiled_ops, watched_ops, looking_ops, component_ops;

Subsystem *sim_subsystem(const CalSim *sim, int device) {
	const SimDevice *d = device >= 0 && device < sim->device_count ? &sim->devices[device] : NULL;
	const CalDeviceOps *ops = d ? d->def.ops : NULL;
	const bool is_one =
		ops && (ops == &compiled_ops || ops == &watched_ops || ops == &looking_ops || ops == &component_ops);
	return is_one ? subsystem_of(&d->is) : NULL;
}

Subsystem *sim_active_subsystem(const CalSim *sim, int device) {
	return sim->devices[device].active ? sim_subsystem(sim, device) : NULL;
}

/* What is wrong, in the subsystem's own words too, and where it comes from. */
static void explain_failure(CalEvalContext *context, const Subsystem *subsystem, const char *what) {
	const bool says = subsystem_is_compiled(subsystem) && subsystem->def.ops->explain;
	const char *own = says ? subsystem->def.ops->explain(subsystem->def.self) : NULL;
	const bool from = subsystem->origin[0] != 0;
	char text[400];
	snprintf(text, sizeof text, "%.200s%s%.100s%s%.80s%s", what, own && own[0] ? ": " : "", own ? own : "",
	         from ? " (" : "", subsystem->origin, from ? ")" : "");
	cal_context_explain_failure(context, text);
}

CalStatus subsystem_failed(CalEvalContext *context, int device, const char *what) {
	explain_failure(context, sim_subsystem(context->sim, device), what);
	return context_failed(context, device, 1);
}

static const char *interface_node_name(const CalSim *sim, const Subsystem *subsystem, const SubsystemTie *tie,
                                       char *buffer, size_t size) {
	const int interface_node = tie->interface_node;
	CalNodeInfo node;
	CalBodyInfo body;
	const CalModel *model = subsystem_is_compiled(subsystem) ? NULL : sim->groups[tie->ref[TIE_B].group].model;
	if (model && cal_model_node(model, tie->ref[TIE_B].node, &node) == CAL_OK &&
	    cal_model_body(model, node.body, &body) == CAL_OK)
		snprintf(buffer, size, "\"%.35s%s%.35s\"", body.name, node.name ? "/" : "", node.name ? node.name : "");
	else if (subsystem->def.interface_node_names && subsystem->def.interface_node_names[interface_node])
		snprintf(buffer, size, "\"%.60s\"", subsystem->def.interface_node_names[interface_node]);
	else
		snprintf(buffer, size, "%d", interface_node + 1);
	return buffer;
}

/* ---- frames ---------------------------------------------------------------------------------------------- */

LoopFrame subsystem_frame(const CalInterfaceNode *at, CalPlacement on) {
	const dpose node = {dmat_in(&at->pose.R), dvec_in(at->pose.r)}, frame = dpose_mul(node, pose_of(on));
	const CalSpatial *V = &at->velocity;
	const vec3 w = vec_in(V->angular), e = vec_from(dadd(frame.r, dscale(-1, node.r)));
	return (LoopFrame){.R = mat_from(frame.R),
	                   .r = vec_from(frame.r),
	                   .w = w,
	                   .v = add(vec_in(V->linear), cross(w, e)),
	                   .al = vec_zero(),
	                   .a = cross(w, cross(w, e))};
}

static bool interface_node_is_finite(const CalInterfaceNode *b) {
	const double *n = &b->pose.R.m[0][0];
	double sum = b->pose.r.x + b->pose.r.y + b->pose.r.z + b->velocity.angular.x + b->velocity.angular.y +
	             b->velocity.angular.z + b->velocity.linear.x + b->velocity.linear.y + b->velocity.linear.z;
	for (int i = 0; i < 9; i++)
		sum += n[i];
	return isfinite(sum);
}

CalStatus subsystem_interface_nodes(CalEvalContext *context, int device) {
	Subsystem *subsystem = sim_subsystem(context->sim, device);
	const double *x = context->x + context->sim->devices[device].x_at;
	if (subsystem->def.ops->interface_motion(subsystem->def.self, context->t, x, subsystem->interface_nodes) != 0)
		return subsystem_failed(context, device, "interface_motion() failed");
	for (int i = 0; i < subsystem->def.interface_node_count; i++)
		if (!interface_node_is_finite(&subsystem->interface_nodes[i]))
			return subsystem_failed(context, device,
			                        "interface_motion() gives poses or velocities that are not finite");
	return CAL_OK;
}

/* ---- the device --------------------------------------------------------------------------------------------- */

static int bind_subsystem(const CalDevice *device, const CalEvalContext *context) {
	Subsystem *subsystem = subsystem_of(device);
	for (int i = 0; i < subsystem->tie_count; i++) {
		SubsystemTie *tie = &subsystem->ties[i];
		if (!cal_context_find_node(context, tie->id[TIE_A], &tie->ref[TIE_A]))
			return 1;
		if (!subsystem_is_compiled(subsystem) &&
		    (!tie->id[TIE_B].value || !cal_context_find_node(context, tie->id[TIE_B], &tie->ref[TIE_B])))
			return 1;
	}
	return 0;
}

/* Where the tie puts its interface node with the joint at zero, moving with the node that it is attached to. */
static CalStatus wanted_node_motion(CalEvalContext *context, const SubsystemTie *tie,
                                    CalInterfaceNode *interface_node) {
	CalPose pose;
	CalSpatial V;
	const CalStatus status = cal_context_node_motion(context, tie->ref[TIE_A], &pose, &V);
	const dpose node = {dmat_in(&pose.R), dvec_in(pose.r)};
	const dpose at = dpose_mul(dpose_mul(node, pose_of(tie->loop.def_a)), dpose_inverse(pose_of(tie->loop.def_b)));
	const dvec3 e = dadd(at.r, dscale(-1, node.r));
	const dvec3 v = dadd(dvec_in(V.linear), dcross(dvec_in(V.angular), e));
	*interface_node = (CalInterfaceNode){dpose_out(at), {V.angular, dvec_out(v)}};
	return status;
}

/* Rows that are open are an error, whose text ends with the remedy; speeds: their rates too. */
static int check_tie(const Subsystem *subsystem, CalEvalContext *context, const SubsystemTie *tie, bool speeds,
                     const char *remedy) {
	LoopRow row[CAL_LOOP_MAX_ROWS];
	CalInterfaceNode at[TIE_SIDES];
	char name[80], text[300];
	if (cal_context_node_motion(context, tie->ref[TIE_A], &at[TIE_A].pose, &at[TIE_A].velocity) != CAL_OK)
		return 1;
	if (subsystem_is_compiled(subsystem))
		at[TIE_B] = subsystem->interface_nodes[tie->interface_node];
	else if (cal_context_node_motion(context, tie->ref[TIE_B], &at[TIE_B].pose, &at[TIE_B].velocity) != CAL_OK)
		return 1;
	const LoopFrame A = subsystem_frame(&at[TIE_A], tie->loop.def_a);
	const LoopFrame B = subsystem_frame(&at[TIE_B], tie->loop.def_b);
	const double fast = fmax(1, fmax(sqrt(dot(B.v, B.v)), sqrt(dot(B.w, B.w))));
	const int count = loop_fill(&tie->loop, &A, &B, &(LoopContext){.t = context->t, .plain = 1}, row);
	for (int i = 0; i < count; i++) {
		const bool far = !(fabs(row[i].value) <= START_TOLERANCE),
				   fast_off = speeds && !(fabs(row[i].rate) <= START_TOLERANCE * fast);
		if (!far && !fast_off)
			continue;
		snprintf(
			text, sizeof text,
			"its interface node %s does not meet the node that it is tied to: row %d of the %s is off by %.3g, its rate by "
			"%.3g; %s",
			interface_node_name(context->sim, subsystem, tie, name, sizeof name), i + 1,
			cal_loop_type_name(tie->loop.type), row[i].value, row[i].rate, remedy);
		explain_failure(context, subsystem, text);
		return 1;
	}
	return 0;
}

static int start_subsystem(const CalDevice *device, CalEvalContext *context, double *x) {
	Subsystem *subsystem = subsystem_of(device);
	const CalSubsystemOps *ops = subsystem->def.ops;
	const CalPose identity = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	for (int i = 0; i < subsystem->def.interface_node_count; i++)
		subsystem->interface_nodes[i] = (CalInterfaceNode){.pose = identity};
	for (int i = subsystem->tie_count - 1; i >= 0; i--) // of several ties of a node the first counts
		if (wanted_node_motion(context, &subsystem->ties[i],
		                       &subsystem->interface_nodes[subsystem->ties[i].interface_node]) != CAL_OK)
			return 1;
	if (ops->start(subsystem->def.self, context->t, subsystem->interface_nodes, x) != 0 ||
	    ops->interface_motion(subsystem->def.self, context->t, x, subsystem->interface_nodes) != 0 ||
	    ops->respond(subsystem->def.self, context->t, x, subsystem->Lambda, subsystem->b) != 0) {
		explain_failure(context, subsystem, "it refuses to start");
		return 1;
	}
	const char *fault = subsystem_response_fault(subsystem);
	if (fault) {
		explain_failure(context, subsystem, fault);
		return 1;
	}
	for (int i = 0; i < subsystem->tie_count; i++)
		if (check_tie(subsystem, context, &subsystem->ties[i], true, STATES) != 0)
			return 1;
	return 0;
}

/* Forces and rates follow when everything else is known (subsystems_solve). */
static int account_energy(const CalDevice *device, CalEvalContext *context, double *xdot) {
	Subsystem *subsystem = subsystem_of(device);
	CalSubsystemEnergy energy = {0};
	(void)xdot;
	if (!subsystem->def.ops->energy)
		return 0;
	if (subsystem->def.ops->energy(subsystem->def.self, context->t, device->x, &energy) != 0)
		return 1;
	cal_context_add_stored_energy(context, energy.stored);
	cal_context_add_dissipated_power(context, energy.dissipated);
	cal_context_add_supplied_power(context, energy.supplied);
	cal_context_add_momentum(context, energy.linear, energy.angular);
	return 0;
}

static void destroy_subsystem(void *data) {
	Subsystem *subsystem = ((SubsystemData *)data)->box;
	if (subsystem_is_compiled(subsystem) && subsystem->def.ops->destroy)
		subsystem->def.ops->destroy(subsystem->def.self);
	const CalAllocator allocator = subsystem->allocator;
	memory_free(&allocator, subsystem);
}

/* Of driven ties, and of what is in it. */
static double next_switch_of(const CalDevice *device, double t) {
	const Subsystem *subsystem = subsystem_of(device);
	const bool by_itself = subsystem_is_compiled(subsystem) && subsystem->def.ops->next_switch;
	double next = by_itself ? subsystem->def.ops->next_switch(subsystem->def.self, t) : INFINITY;
	next = next > t ? next : INFINITY;
	for (int i = 0; i < subsystem->tie_count; i++)
		next = fmin(next, loop_next_switch(&subsystem->ties[i].loop, t));
	return next;
}

static int find_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Subsystem *subsystem = subsystem_of(device);
	if (subsystem->def.ops->values(subsystem->def.self, context->t, device->x, value) == 0)
		return 0;
	explain_failure(context, subsystem, "values() failed");
	return 1;
}

static int look_ahead(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Subsystem *subsystem = subsystem_of(device);
	if (subsystem->def.ops->lookahead(subsystem->def.self, context->t, device->x, subsystem->wrench, lookahead) == 0)
		return 0;
	explain_failure(context, subsystem, "lookahead() failed");
	return 1;
}

/* What its ties do at their two sides cancels. */
static int evaluate_component(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

#define COMPILED_OPS                                                                                   \
	.type = "subsystem", .bind = bind_subsystem, .start = start_subsystem, .evaluate = account_energy, \
	.next_switch = next_switch_of, .destroy = destroy_subsystem
static const CalDeviceOps compiled_ops = {COMPILED_OPS};
static const CalDeviceOps watched_ops = {COMPILED_OPS, .values = find_values};
static const CalDeviceOps looking_ops = {COMPILED_OPS, .values = find_values, .lookahead = look_ahead};
static const CalDeviceOps component_ops = {.type = "component",
                                           .bind = bind_subsystem,
                                           .evaluate = evaluate_component,
                                           .next_switch = next_switch_of,
                                           .destroy = destroy_subsystem};

/* ---- adding -------------------------------------------------------------------------------------------------- */

static CalStatus refuse_def(CalError *error, const char *name, const char *what) {
	return error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": %s", name, what);
}

static CalStatus refuse_method(const CalSim *sim, const char *name, CalError *error) {
	return error_set(error, CAL_ERR_ARGUMENT,
	                 "subsystem \"%.100s\": a compiled subsystem cannot follow steps of the method %s; choose %s", name,
	                 cal_method_name(sim->method.method), cal_method_name(CAL_METHOD_DEFAULT));
}

/* Where something begins or ends in it nothing would end a fixed step, nor say that it was passed. */
static CalStatus refuse_fixed_steps(const CalSim *sim, const char *name, CalError *error) {
	return error_set(
		error, CAL_ERR_ARGUMENT,
		"subsystem \"%.100s\": forces in it begin and end (limits, contact, saturation), which fixed steps of the "
		"method %s would pass; choose %s",
		name, cal_method_name(sim->method.method), cal_method_name(CAL_METHOD_DEFAULT));
}

static CalStatus refuse_formulation(const CalSim *sim, const char *what, const char *name, CalError *error) {
	char text[160];
	snprintf(text, sizeof text, "%s \"%.100s\"", what, name);
	return formulation_refuse(sim, text, error);
}

static CalStatus check_def(const CalSim *sim, const char *name, const CalSubsystemDef *def, CalError *error) {
	if (def->version != CAL_SUBSYSTEM_API_VERSION)
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"subsystem \"%.100s\": it was built for version %d of calder/subsystem.h, this library has version "
			"%d; compile it again",
			name, def->version, CAL_SUBSYSTEM_API_VERSION);
	const CalSubsystemOps *ops = def->ops;
	if (!ops || !ops->type || !ops->start || !ops->interface_motion || !ops->respond || !ops->rates)
		return refuse_def(error, name, "it needs a type and the functions start, interface_motion, respond and rates");
	if (def->nx < 0 || def->interface_node_count < 1 || def->interface_node_count > 1000)
		return refuse_def(error, name,
		                  "the number of its states is negative, or that of its interface nodes not from 1 to 1000");
	if (def->event_count < 0 || (def->event_count > 0 && !ops->values))
		return refuse_def(error, name, "the number of its values is negative, or it has no function values()");
	if (def->event_count > 0 && method_is_fixed(sim->method.method))
		return refuse_fixed_steps(sim, name, error);
	return cal_method_info(sim->method.method)->subsystems ? CAL_OK : refuse_method(sim, name, error);
}

static int find_interface_node(const Subsystem *subsystem, const CalSubsystemTie *tie) {
	for (int i = 0; tie->name && subsystem->def.interface_node_names && i < subsystem->def.interface_node_count; i++)
		if (subsystem->def.interface_node_names[i] && strcmp(subsystem->def.interface_node_names[i], tie->name) == 0)
			return i;
	return tie->name ? -1 : tie->interface_node;
}

/* The interface node of a tie, -1 after saying what is wrong. */
static int tied_interface_node(const char *name, const Subsystem *subsystem, const CalSubsystemTie *from,
                               CalError *error) {
	if (!subsystem_is_compiled(subsystem))
		return 0;
	const int found = find_interface_node(subsystem, from);
	if (found >= 0 && found < subsystem->def.interface_node_count)
		return found;
	if (from->name)
		error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": it has no interface node \"%.80s\"", name,
		          from->name);
	else
		error_set(error, CAL_ERR_ARGUMENT, "subsystem \"%.100s\": it has %d interface nodes, there is no number %d",
		          name, subsystem->def.interface_node_count, from->interface_node + 1);
	return -1;
}

/* A joint between two nodes that can be tied, its placements resolved. */
static CalStatus check_joint(const char *name, CalLoopDef *def, CalError *error) {
	const CalVec3 m = def->applied_wrench.angular, f = def->applied_wrench.linear;
	if (!cal_loop_type_name(def->type) || !loop_type_has_two_sides(def->type) || m.x != 0 || m.y != 0 || m.z != 0 ||
	    f.x != 0 || f.y != 0 || f.z != 0)
		return refuse_def(error, name, "a tie is a joint between two nodes: no knife, no coupling, no applied wrench");
	const CalStatus status = loop_def_check(def, error);
	const char *wrong = placement_resolve(&def->a);
	wrong = wrong ? wrong : placement_resolve(&def->b);
	return status == CAL_OK && wrong ? refuse_def(error, name, wrong) : status;
}

static Loop tie_loop(const CalLoopDef *def) {
	Loop loop = {.type = def->type,
	             .rows = loop_def_rows(def),
	             .translation = loop_def_translation(def),
	             .rotation = loop_def_rotation(def),
	             .length = def->length,
	             .pitch = def->pitch,
	             .radius = def->radius,
	             .frequency = def->frequency,
	             .damping = def->frequency > 0 ? def->damping : 1,
	             .def_a = def->a,
	             .def_b = def->b};
	for (int i = 0; i < loop.rows; i++) {
		const CalDrive *d = &def->drive[i];
		loop.drive[i] = *d;
		loop.driven |= d->fn || d->offset != 0 || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0;
	}
	return loop;
}

static CalStatus make_tie(const char *name, const Subsystem *subsystem, const CalSubsystemTie *from, SubsystemTie *to,
                          CalError *error) {
	CalLoopDef def = from->joint;
	const int interface_node = tied_interface_node(name, subsystem, from, error);
	def.name = name;
	const CalStatus status = interface_node < 0 ? CAL_ERR_ARGUMENT : check_joint(name, &def, error);
	if (status != CAL_OK)
		return status;
	*to = (SubsystemTie){.id = {from->node, from->inner},
	                     .ref = {{-1, -1}, {-1, -1}},
	                     .interface_node = interface_node,
	                     .loop = tie_loop(&def),
	                     .own_frequency = def.frequency > 0,
	                     .level = -1};
	return CAL_OK;
}

/* The object itself, and its arrays after it. */
static void layout_subsystem(Subsystem *s, Cursor *cursor) {
	const size_t k = (size_t)s->def.interface_node_count, n = 6 * k;
	cursor_array(cursor, 1, sizeof *s);
	CURSOR_ARRAY(cursor, s->ties, s->tie_count);
	CURSOR_ARRAY(cursor, s->interface_nodes, k);
	CURSOR_ARRAY(cursor, s->Lambda, n * n);
	CURSOR_ARRAY(cursor, s->spread, OCTET * OCTET * k * k);
	CURSOR_ARRAY(cursor, s->b, n);
	CURSOR_ARRAY(cursor, s->wrench, k);
	CURSOR_ARRAY(cursor, s->none, k);
}

static Subsystem *subsystem_alloc(const CalSim *sim, const CalSubsystemDef *def, int ties) {
	Subsystem counted = {.def = *def, .allocator = sim->allocator, .tie_count = ties};
	Cursor cursor = {0};
	layout_subsystem(&counted, &cursor);
	Subsystem *subsystem = cursor_alloc_at_start(&cursor, &sim->allocator);
	if (!subsystem)
		return NULL;
	cursor_clear(&cursor);
	*subsystem = counted;
	layout_subsystem(subsystem, &cursor);
	return subsystem;
}

static CalStatus add_device(CalSim *sim, const char *name, Subsystem *subsystem, int *device, CalError *error) {
	const SubsystemData data = {subsystem};
	const CalSubsystemOps *own = subsystem->def.ops;
	bool driven = false;
	for (int i = 0; i < subsystem->tie_count; i++)
		driven |= subsystem->ties[i].loop.driven != 0;
	const CalDeviceDef def = {.name = name,
	                          .ops = !own                              ? &component_ops
	                                 : subsystem->def.event_count == 0 ? &compiled_ops
	                                 : own->lookahead                  ? &looking_ops
	                                                                   : &watched_ops,
	                          .event_count = own ? subsystem->def.event_count : 0,
	                          .data = &data,
	                          .data_size = sizeof data,
	                          .nx = subsystem->def.nx,
	                          .wrench_count = TIE_SIDES * subsystem->tie_count,
	                          .accounts = !driven && (!subsystem_is_compiled(subsystem) || subsystem->def.ops->energy)};
	return cal_sim_add_device(sim, &def, device, error);
}

/* All subsystems, made with the first one; NULL: no memory. */
static struct SimSubsystems *subsystems_of(CalSim *sim) {
	if (!sim->subsystems) {
		sim->subsystems = memory_alloc(&sim->allocator, sizeof *sim->subsystems);
		if (sim->subsystems)
			*sim->subsystems = (struct SimSubsystems){.corrects = true};
	}
	return sim->subsystems;
}

void subsystems_release(CalSim *sim) {
	if (!sim->subsystems)
		return;
	memory_free(&sim->allocator, sim->subsystems->memory);
	memory_free(&sim->allocator, sim->subsystems->matrices);
	memory_free(&sim->allocator, sim->subsystems);
	sim->subsystems = NULL;
}

/* On failure nothing is left of it. */
static CalStatus add_subsystem(CalSim *sim, const char *name, const CalSubsystemDef *def, const CalSubsystemTie *ties,
                               int tie_count, int *device, CalError *error) {
	CalStatus status = CAL_OK;
	const bool first = !sim->subsystems;
	Subsystem *subsystem = subsystem_alloc(sim, def, tie_count);
	struct SimSubsystems *all = subsystem ? subsystems_of(sim) : NULL;
	if (!all) {
		memory_free(&sim->allocator, subsystem);
		return error_set(error, CAL_ERR_MEMORY, "subsystem \"%.100s\": out of memory", name);
	}
	for (int i = 0; status == CAL_OK && i < tie_count; i++)
		status = make_tie(name, subsystem, &ties[i], &subsystem->ties[i], error);
	const CalSubsystemOps *ops = def->ops;
	const bool corrected = all->corrects;
	all->tie_count += tie_count; // before devices are bound, which lays out what ties need
	all->corrects &= !ops || ops->correct;
	if (status == CAL_OK)
		status = add_device(sim, name, subsystem, device, error);
	if (status != CAL_OK) {
		all->tie_count -= tie_count;
		all->corrects = corrected;
		if (first)
			subsystems_release(sim);
		memory_free(&sim->allocator, subsystem);
		return status;
	}
	all->commits |= !ops || ops->commit || ops->correct || ops->doubt;
	return CAL_OK;
}

CalStatus cal_sim_add_subsystem(CalSim *sim, const char *name, const CalSubsystemDef *def, const CalSubsystemTie *ties,
                                int tie_count, int *device, CalError *error) {
	if (!sim || !name || !name[0] || !def || tie_count < 0 || (tie_count > 0 && !ties))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_add_subsystem: give a simulation, a name, a definition and ties");
	CalStatus status = check_def(sim, name, def, error);
	if (status == CAL_OK)
		status = refuse_formulation(sim, "compiled subsystem", name, error);
	return status == CAL_OK ? add_subsystem(sim, name, def, ties, tie_count, device, error) : status;
}

/* A tie of a component is between nodes of the simulation, the inner one in another group. */
static CalStatus check_ends(const CalSim *sim, const char *name, const CalSubsystemTie *tie, CalError *error) {
	const int inner = tie->inner.value ? sim_group_of(sim, MODEL_NODES, tie->inner.value) : -1;
	const int outer = tie->node.value ? sim_group_of(sim, MODEL_NODES, tie->node.value) : -1;
	if (inner < 0)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "component \"%.100s\": its interface node (id %u) is not on a body of the simulation", name,
		                 (unsigned)tie->inner.value);
	if (outer < 0 && tie->node.value)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "component \"%.100s\": the node (id %u) that it is tied to is not in the simulation", name,
		                 (unsigned)tie->node.value);
	return inner != outer
	           ? CAL_OK
	           : error_set(error, CAL_ERR_ARGUMENT,
	                       "component \"%.100s\": both sides of a tie are in group \"%.100s\"; put the component "
	                       "into a group of its own, or use a loop",
	                       name, cal_model_name(sim->groups[inner].model));
}

CalStatus cal_sim_add_component(CalSim *sim, const char *name, const CalSubsystemTie *ties, int tie_count, int *device,
                                CalError *error) {
	if (!sim || !name || !name[0] || tie_count < 1 || !ties)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_add_component: give a simulation, a name and ties");
	const CalSubsystemDef none = {0};
	CalStatus status = refuse_formulation(sim, "component", name, error);
	for (int i = 0; i < tie_count && status == CAL_OK; i++)
		status = check_ends(sim, name, &ties[i], error);
	return status != CAL_OK ? status : add_subsystem(sim, name, &none, ties, tie_count, device, error);
}

/* ---- start ------------------------------------------------------------------------------------------------------ */

/* Puts a component where its first tie wants it, if a free joint carries it by that node. */
static CalStatus fit_component(CalEvalContext *context, const Subsystem *component) {
	const SubsystemTie *tie = &component->ties[0];
	SimGroup *group = &context->sim->groups[tie->ref[TIE_B].group];
	FreeRoot root;
	CalInterfaceNode wanted;
	if (group->motion || !free_root_find(group->model, tie->ref[TIE_B].node, &root))
		return CAL_OK;
	const CalStatus status = wanted_node_motion(context, tie, &wanted);
	if (status == CAL_OK)
		free_root_place(&root, &wanted, group->state.q, group->state.u);
	group->kinematics_known = false;
	return status;
}

CalStatus subsystems_fit(CalSim *sim) {
	const struct SimSubsystems *all = sim->subsystems;
	CalEvalContext context = context_now(sim, true);
	CalStatus status = CAL_OK;
	for (int i = 1; all && i < all->level_count && status == CAL_OK; i++) // parents first
		if (!sim->devices[all->levels[i].device].started)
			status = fit_component(&context, sim_subsystem(sim, all->levels[i].device));
	return status;
}

CalStatus subsystem_fits(CalSim *sim, int device, CalError *error) {
	const Subsystem *subsystem = sim_active_subsystem(sim, device);
	CalEvalContext context = context_now(sim, true);
	for (int k = 0; subsystem && !subsystem_is_compiled(subsystem) && k < subsystem->tie_count; k++)
		if (check_tie(subsystem, &context, &subsystem->ties[k], false, STATES) != 0)
			return error_set(error, CAL_ERR_ARGUMENT, "component \"%.100s\": %s", sim->devices[device].def.name,
			                 sim->why_failed);
	return CAL_OK;
}

CalStatus subsystems_check_ties(CalSim *sim, bool speeds, const char *remedy) {
	CalEvalContext context = context_now(sim, true);
	for (int i = 0; i < sim->device_count; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		for (int k = 0; subsystem && !subsystem_is_compiled(subsystem) && k < subsystem->tie_count; k++)
			if (check_tie(subsystem, &context, &subsystem->ties[k], speeds, remedy) != 0)
				return context_failed(&context, i, 1);
	}
	return CAL_OK;
}

CalStatus subsystems_start(CalSim *sim) {
	enum { ROUNDS = 20 };
	struct SimSubsystems *all = sim->subsystems;
	bool changed = all && all->level_count > 1 && all->corrects;
	CalStatus status = CAL_OK;
	for (int i = 0; i < ROUNDS && changed && status == CAL_OK; i++) {
		changed = false;
		status = subsystems_project(sim, &changed);
	}
	return status == CAL_OK && all ? subsystems_check_ties(sim, true, STATES) : status;
}

/* ---- looking ------------------------------------------------------------------------------------ */

const char *subsystems_first(const CalSim *sim) {
	for (int i = 0; i < sim->device_count; i++)
		if (sim_active_subsystem(sim, i))
			return sim->devices[i].def.name;
	return NULL;
}

bool subsystems_commit_steps(const CalSim *sim) { return sim->subsystems && sim->subsystems->commits; }

CalStatus cal_sim_subsystem_interface_node(CalSim *sim, int device, int interface_node, CalInterfaceNode *at) {
	const Subsystem *subsystem = sim ? sim_subsystem(sim, device) : NULL;
	if (!subsystem || !at || interface_node < 0 || interface_node >= subsystem->def.interface_node_count)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status != CAL_OK)
		return status;
	CalEvalContext context = context_now(sim, true);
	status = subsystem_interface_nodes(&context, device);
	*at = subsystem->interface_nodes[interface_node];
	return status;
}

CalStatus cal_sim_subsystem_wrench(CalSim *sim, int device, int interface_node, CalSpatial *wrench) {
	const Subsystem *subsystem = sim ? sim_subsystem(sim, device) : NULL;
	if (!subsystem || !wrench || interface_node < 0 || interface_node >= subsystem->def.interface_node_count)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	CalEvalContext context;
	if (status == CAL_OK)
		status = sim_evaluate_for_observers(sim, true, &context);
	*wrench = subsystem->wrench[interface_node];
	return status;
}
