// SPDX-License-Identifier: Apache-2.0
/*
 * contact.c — contact between shapes on nodes (calder/contact.h) as a device: poses and velocities of the nodes that carry
 * shapes go to the contact set, its wrenches come back on them. Forces, energies and powers are those of docs/contact.md.
 * Shapes whose node has gone with its body are left out.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/device_type.h"

enum { GONE = -2 }; // group of a node that is not there; -1 is the ground
enum {
	SHOWN_POINTS = 4,
	MOST_POINTS = 64
}; // points of contact among the outputs; those of which the strongest are chosen

typedef struct Contact {
	CalAllocator allocator;
	CalContactSet *set;
	CalContactWork *work;
	int slots;
	bool bound;            // it has found all of its nodes once
	bool evaluated;        // poses and motions are those of the last evaluation
	CalPose *pose;         // [nodes] and what follows, in one block
	CalNodeRef *node_refs; //
	CalSpatial *motion;    //
	CalSpatial *wrench;    //
	CalSpatial *bend;      // accelerations ahead
} Contact;

/* Where a node is that is left out: always the same, so that nothing depends on where it was. */
static void exclude_node(const Contact *c, int node_index) {
	c->node_refs[node_index].group = GONE;
	c->pose[node_index] = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	c->motion[node_index] = (CalSpatial){0};
}

static int contact_bind(const CalDevice *device, const CalEvalContext *context) {
	Contact *c = device->data;
	int here = 0;
	for (int i = 0; i < c->slots; i++) {
		int group, node;
		if (cal_contact_node(c->set, i, &group, &node) != CAL_OK)
			return 1;
		const CalNodeId id = {node < 0 ? 0 : (uint32_t)node};
		const int found = cal_context_find_node(context, id, &c->node_refs[i]);
		if (!found && !c->bound)
			return 1;
		if (!found)
			exclude_node(c, i);
		cal_contact_exclude_node(c->work, i, !found);
		here += found != 0;
	}
	c->bound = true;
	return here > 0 ? 0 : 1;
}

static CalStatus place_slots(const Contact *c, CalEvalContext *context, bool ahead) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < c->slots && status == CAL_OK; i++) {
		if (c->node_refs[i].group == GONE)
			continue;
		status = cal_context_node_motion(context, c->node_refs[i], &c->pose[i], &c->motion[i]);
		if (status == CAL_OK && ahead)
			status = cal_context_node_acceleration(context, c->node_refs[i], &c->bend[i]);
	}
	return status;
}

static CalStatus touch(const Contact *c, CalEvalContext *context, CalContactSummary *summary) {
	const CalStatus status = place_slots(c, context, false);
	if (status != CAL_OK)
		return status;
	return cal_contact_evaluate(c->set, c->pose, c->motion, c->work, c->wrench, summary);
}

/* ---- what is ahead ------------------------------------------------------------------------------- */

/* The smallest gap of pairs that were apart at the last lookahead. */
static int contact_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Contact *c = device->data;
	*value = 1;
	if (!cal_contact_in_reach(c->work))
		return 0;
	double gap;
	if (place_slots(c, context, false) != CAL_OK || cal_contact_gap(c->set, c->pose, c->work, &gap) != CAL_OK)
		return 1;
	*value = isfinite(gap) ? gap : 1;
	return 0;
}

/* Of states that count: at lookaheads, and at evaluations of fixed steps. */
static void doubt_overlap(const Contact *c, CalEvalContext *context, const CalContactOverlap *overlap) {
	if (overlap->a < 0 || !(overlap->depth > overlap->limit))
		return;
	const char *a = cal_contact_shape_name(c->set, overlap->a), *b = cal_contact_shape_name(c->set, overlap->b);
	CalDoubt doubt = {
		.kind = CAL_DOUBT_CONTACT, .time = cal_context_time(context), .value = overlap->depth, .limit = overlap->limit};
	snprintf(doubt.object, sizeof doubt.object, "shapes \"%.36s\" and \"%.36s\"", a, b);
	snprintf(
		doubt.text, sizeof doubt.text,
		"shapes \"%.60s\" and \"%.60s\" overlap by %.4g m at t = %.6g s; beyond %.4g m their force may jump from one "
		"side to the other; check where they start, give them a stiffer material, or keep the pair apart by layers",
		a, b, overlap->depth, cal_context_time(context), overlap->limit);
	cal_context_add_doubt(context, &doubt);
}

/* After a step the last evaluation was that at its end: it shows whether there is anything to look for. */
static int contact_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	Contact *c = device->data;
	CalContactLookahead own = {.horizon = lookahead->horizon};
	const bool at_end = c->evaluated;
	c->evaluated = false;
	if (at_end && cal_contact_has_room(c->set, c->pose, c->motion, lookahead->horizon, c->work))
		return 0;
	if (place_slots(c, context, true) != CAL_OK ||
	    cal_contact_look_ahead(c->set, c->pose, c->motion, c->bend, c->work, &own) != CAL_OK)
		return 1;
	doubt_overlap(c, context, &own.overlap);
	lookahead->event_free = own.contact_free;
	lookahead->max_step = own.max_step;
	return 0;
}

static const char *contact_value_text(const CalDevice *device, int event) {
	(void)device;
	(void)event;
	return "a pair of shapes that begins to touch";
}

/* With fixed steps nothing ends a step at a contact: it can only be said that it may have been passed. */
static void doubt_leaps(const Contact *c, CalEvalContext *context) {
	const double step = cal_context_fixed_step(context);
	CalContactTunneling tunneling;
	if (!(step > 0) || !cal_contact_tunneling(c->set, c->pose, c->motion, step, c->work, &tunneling))
		return;
	const char *a = cal_contact_shape_name(c->set, tunneling.a), *b = cal_contact_shape_name(c->set, tunneling.b);
	CalDoubt doubt = {.kind = CAL_DOUBT_CONTACT,
	                  .time = cal_context_time(context),
	                  .value = tunneling.speed * step,
	                  .limit = tunneling.size};
	snprintf(doubt.object, sizeof doubt.object, "shapes \"%.36s\" and \"%.36s\"", a, b);
	snprintf(
		doubt.text, sizeof doubt.text,
		"shapes \"%.60s\" and \"%.60s\" close at %.4g m/s: %.4g m in a step of %.4g s, more than half their thickness "
		"(%.4g m); they may have passed through each other unseen; take a step below %.2g s, or %s",
		a, b, tunneling.speed, tunneling.speed * step, step, tunneling.size, 0.25 * tunneling.size / tunneling.speed,
		cal_method_name(CAL_METHOD_DEFAULT));
	cal_context_add_doubt(context, &doubt);
}

static int contact_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	Contact *c = device->data;
	CalContactSummary summary;
	c->evaluated = true;
	if (touch(c, context, &summary) != CAL_OK)
		return 1;
	doubt_leaps(c, context);
	if (cal_context_fixed_step(context) > 0)
		doubt_overlap(c, context, &summary.overlap);
	for (int i = 0; i < c->slots; i++) {
		const CalVec3 f = c->wrench[i].linear, n = c->wrench[i].angular;
		if (f.x != 0 || f.y != 0 || f.z != 0 || n.x != 0 || n.y != 0 || n.z != 0)
			cal_context_apply_wrench(context, c->node_refs[i], CAL_FRAME_WORLD, c->wrench[i]);
	}
	cal_context_add_stored_energy(context, summary.stored);
	cal_context_add_dissipated_power(context, summary.dissipated + summary.friction);
	return 0;
}

/* The place of the strongest points and the force on the second shape of each there; zero: there are fewer. */
static void strongest(const Contact *c, double *output) {
	CalContactPoint best[SHOWN_POINTS] = {0}, point;
	for (int i = 0; cal_contact_point(c->work, i, &point) == CAL_OK; i++)
		for (int k = 0; k < SHOWN_POINTS; k++) {
			if (point.force <= best[k].force)
				continue;
			const CalContactPoint weaker = best[k];
			best[k] = point;
			point = weaker;
		}
	for (int k = 0; k < SHOWN_POINTS; k++) {
		const CalContactPoint *p = &best[k];
		const double values[6] = {p->position.x,
		                          p->position.y,
		                          p->position.z,
		                          p->force * p->normal.x - p->friction.x,
		                          p->force * p->normal.y - p->friction.y,
		                          p->force * p->normal.z - p->friction.z};
		memcpy(output + 6 * k, values, sizeof values);
	}
}

static int contact_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	CalContactSummary summary;
	((Contact *)device->data)->evaluated = false;
	if (touch(device->data, context, &summary) != CAL_OK)
		return 1;
	output[0] = summary.touching;
	output[1] = summary.points;
	output[2] = summary.deepest;
	output[3] = summary.stored;
	strongest((const Contact *)device->data, output + 4);
	return 0;
}

static void contact_destroy(void *data) {
	Contact *c = data;
	cal_contact_work_destroy(c->work);
	cal_contact_set_destroy(c->set);
	memory_free(&c->allocator, c->pose);
}

/* Of every shape the two coefficients of friction. */
static double *contact_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	const Contact *c = device->data;
	CalContactMaterial *material = index < 0 ? NULL : cal_contact_material(c->set, index / 2);
	const bool at_rest = index % 2;
	if (!material)
		return NULL;
	*about = (CalDeviceParameter){.unit = "1", .high = DBL_MAX};
	snprintf(about->name, sizeof about->name, "%.100s.%s", cal_contact_shape_name(c->set, index / 2),
	         at_rest ? "friction_static" : "friction_dynamic");
	return at_rest ? &material->friction_static : &material->friction_dynamic;
}

#define POINT_NAMES(k) "x" k, "y" k, "z" k, "fx" k, "fy" k, "fz" k
#define POINT_UNITS "m", "m", "m", "N", "N", "N"
static const char *const names[] = {"pairs",          "points",         "depth",          "energy",
                                    POINT_NAMES("1"), POINT_NAMES("2"), POINT_NAMES("3"), POINT_NAMES("4")};
static const char *const units[] = {"1", "1", "m", "J", POINT_UNITS, POINT_UNITS, POINT_UNITS, POINT_UNITS};
static const CalDeviceOps ops = {.type = "contact",
                                 .bind = contact_bind,
                                 .evaluate = contact_evaluate,
                                 .values = contact_values,
                                 .lookahead = contact_outlook,
                                 .value_text = contact_value_text,
                                 .outputs = contact_outputs,
                                 .destroy = contact_destroy,
                                 .parameter = contact_parameter,
                                 .output_count = 4 + 6 * SHOWN_POINTS,
                                 .output_names = names,
                                 .output_units = units};

/* The set knows nodes by number: here that is their id, -1 the world. */
static CalStatus make_set(const CalContactDef *def, Contact *c, CalError *error) {
	CalShapeDef *shapes = memory_alloc(&c->allocator, sizeof *shapes * (size_t)def->shape_count);
	if (!shapes)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < def->shape_count && def->shapes && def->nodes; i++) {
		shapes[i] = def->shapes[i];
		shapes[i].group = 0;
		shapes[i].node = def->nodes[i].value ? (int)def->nodes[i].value : -1;
	}
	const CalStatus status = cal_contact_set_create(shapes, def->shape_count, NULL, &c->set, error);
	memory_free(&c->allocator, shapes);
	return status;
}

static void layout_arrays(Contact *c, Cursor *cursor) {
	CURSOR_ARRAY(cursor, c->pose, c->slots);
	CURSOR_ARRAY(cursor, c->motion, c->slots);
	CURSOR_ARRAY(cursor, c->wrench, c->slots);
	CURSOR_ARRAY(cursor, c->bend, c->slots);
	CURSOR_ARRAY(cursor, c->node_refs, c->slots);
}

static CalStatus make_arrays(Contact *c) {
	c->slots = cal_contact_node_count(c->set);
	Cursor cursor = {.align = sizeof(double)};
	layout_arrays(c, &cursor);
	if (!cursor_alloc_at_start(&cursor, &c->allocator))
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_arrays(c, &cursor);
	return CAL_OK;
}

CalStatus cal_sim_add_contact(CalSim *sim, const CalContactDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	device_check(&d, def->shape_count > 1 && def->shapes && def->nodes, "it has %d shapes; two are the least",
	             def->shape_count);
	if (d.status != CAL_OK)
		return d.status;
	Contact c = {.allocator = allocator_or_default(NULL)};
	CalStatus status = make_set(def, &c, error);
	if (status == CAL_OK)
		status = make_arrays(&c);
	if (status == CAL_OK)
		status = cal_contact_work_create(c.set, MOST_POINTS, &c.work);
	if (status == CAL_ERR_MEMORY)
		device_check(&d, false, "%s", cal_status_text(status));
	d.def.wrench_count = c.slots;
	d.def.accounts = 1;
	d.def.event_count = 1;
	if (status == CAL_OK)
		status = device_add(&d, &c, sizeof c, device);
	if (status != CAL_OK)
		contact_destroy(&c);
	return status;
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalContactDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalContactDef),
	{"shapes", FIELD_SHAPES, 0, .flags = FIELD_REQUIRED, .doc = "two or more"},
	{"material", FIELD_MATERIAL, 0, .doc = "of the shapes that give none"},
};
#undef AT
DEVICE_ADD(add_contact, CalContactDef, cal_sim_add_contact)

const DeviceType contact_type = {
	.table = {FIELDS("contact", fields),
              .doc = "Contact with friction between shapes on nodes of any groups and on the ground."},
	DEVICE_DEF(CalContactDef),
	.add = add_contact,
	.ops = &ops};
