// SPDX-License-Identifier: Apache-2.0
/*
 * contact.c — contact between shapes on nodes (calder/contact.h) as a device: poses and velocities of the nodes that carry
 * shapes go to the contact set, its wrenches come back on them. Forces, energies and powers are those of docs/contact.md.
 * Shapes whose node has gone with its body are left out.
 */
#include <string.h>

#include "base/memory.h"
#include "device/device.h"

enum { GONE = -2 }; // group of a site that is not there; -1 is the ground
enum {
	SHOWN_POINTS = 4,
	MOST_POINTS = 64
}; // points of contact among the outputs; those of which the strongest are chosen

typedef struct Contact {
	CalAllocator allocator;
	CalContactSet *set;
	CalContactWork *work;
	int slots;
	bool bound;         // it has found all of its nodes once
	CalPose *pose;      // [slots] and what follows, in one block
	CalSite *site;      //
	CalSpatial *motion; //
	CalSpatial *wrench; //
} Contact;

/* Where a slot is that is left out: always the same, so that nothing depends on where it was. */
static void put_away(const Contact *c, int slot) {
	c->site[slot].group = GONE;
	c->pose[slot] = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	c->motion[slot] = (CalSpatial){0};
}

static int contact_bind(const CalDevice *device, const CalScene *scene) {
	Contact *c = device->data;
	int here = 0;
	for (int i = 0; i < c->slots; i++) {
		int group, node;
		if (cal_contact_slot(c->set, i, &group, &node) != CAL_OK)
			return 1;
		const CalNodeId id = {node < 0 ? 0 : (uint32_t)node};
		const int found = cal_scene_find_node(scene, id, &c->site[i]);
		if (!found && !c->bound)
			return 1;
		if (!found)
			put_away(c, i);
		cal_contact_leave_out(c->work, i, !found);
		here += found != 0;
	}
	c->bound = true;
	return here > 0 ? 0 : 1;
}

static CalStatus touch(const Contact *c, CalScene *scene, CalContactSummary *summary) {
	for (int i = 0; i < c->slots; i++) {
		if (c->site[i].group == GONE)
			continue;
		const CalStatus status = cal_scene_node(scene, c->site[i], &c->pose[i], &c->motion[i]);
		if (status != CAL_OK)
			return status;
	}
	return cal_contact_evaluate(c->set, c->pose, c->motion, c->work, c->wrench, summary);
}

static int contact_evaluate(const CalDevice *device, CalScene *scene, double *xdot) {
	(void)xdot;
	const Contact *c = device->data;
	CalContactSummary summary;
	if (touch(c, scene, &summary) != CAL_OK)
		return 1;
	for (int i = 0; i < c->slots; i++) {
		const CalVec3 f = c->wrench[i].linear, n = c->wrench[i].angular;
		if (f.x != 0 || f.y != 0 || f.z != 0 || n.x != 0 || n.y != 0 || n.z != 0)
			cal_scene_push(scene, c->site[i], CAL_FRAME_WORLD, c->wrench[i]);
	}
	cal_scene_store(scene, summary.stored);
	cal_scene_dissipate(scene, summary.dissipated + summary.friction);
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

static int contact_outputs(const CalDevice *device, CalScene *scene, double *output) {
	CalContactSummary summary;
	if (touch(device->data, scene, &summary) != CAL_OK)
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

#define POINT_NAMES(k) "x" k, "y" k, "z" k, "fx" k, "fy" k, "fz" k
#define POINT_UNITS "m", "m", "m", "N", "N", "N"
static const char *const names[] = {"pairs",          "points",         "depth",          "energy",
                                    POINT_NAMES("1"), POINT_NAMES("2"), POINT_NAMES("3"), POINT_NAMES("4")};
static const char *const units[] = {"1", "1", "m", "J", POINT_UNITS, POINT_UNITS, POINT_UNITS, POINT_UNITS};
static const CalDeviceOps ops = {.type = "contact",
                                 .bind = contact_bind,
                                 .evaluate = contact_evaluate,
                                 .outputs = contact_outputs,
                                 .destroy = contact_destroy,
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

static CalStatus make_arrays(Contact *c) {
	c->slots = cal_contact_slot_count(c->set);
	const size_t n = (size_t)c->slots;
	const size_t each = sizeof *c->site + sizeof *c->pose + sizeof *c->motion + sizeof *c->wrench;
	char *block = memory_alloc(&c->allocator, n * each);
	if (!block)
		return CAL_ERR_MEMORY;
	memset(block, 0, n * each);
	c->pose = (CalPose *)(void *)block;
	c->motion = (CalSpatial *)(void *)(c->pose + n);
	c->wrench = c->motion + n;
	c->site = (CalSite *)(void *)(c->wrench + n);
	return CAL_OK;
}

CalStatus cal_sim_add_contact(CalSim *sim, const CalContactDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceDraft d = device_draft(sim, &ops, def->name, def->place, error);
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
	if (status == CAL_OK)
		status = device_add(&d, &c, sizeof c, device);
	if (status != CAL_OK)
		contact_destroy(&c);
	return status;
}
