// SPDX-License-Identifier: Apache-2.0
/*
 * world.h — free bodies with shapes, driven by contact through the input function of an integrator.
 *
 * This is how a device uses calder/contact.h: kinematics of the nodes that carry shapes, one evaluation, and a wrench
 * for each of them. The workspace of the kinematics is not that of the integrator.
 */
#ifndef CALDER_TEST_CONTACT_WORLD_H
#define CALDER_TEST_CONTACT_WORLD_H

#include <calder/calder.h>

#include "integrate/systems.h"
#include "support/check.h"
#include "support/rng.h"

enum { WORLD_SLOTS = 8, WORLD_POINTS = 64 };

typedef struct World {
	System system;
	CalWork *kinematics;
	CalContactSet *set;
	CalContactWork *work;
	CalWrench wrenches[WORLD_SLOTS];
	CalContactSummary summary; // of the last evaluation
} World;

static inline int world_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	World *w = user;
	CalPose poses[WORLD_SLOTS];
	CalSpatial velocities[WORLD_SLOTS], forces[WORLD_SLOTS];
	const int slots = cal_contact_node_count(w->set);
	if (cal_kinematics(model, state, NULL, w->kinematics) != CAL_OK)
		return 1;
	for (int i = 0; i < slots; i++) {
		int group, node;
		if (cal_contact_node(w->set, i, &group, &node) != CAL_OK ||
		    cal_node_pose(model, w->kinematics, node, &poses[i]) != CAL_OK ||
		    cal_node_velocity(model, w->kinematics, node, &velocities[i]) != CAL_OK)
			return 1;
		w->wrenches[i] = (CalWrench){.node = node, .frame = CAL_FRAME_WORLD};
	}
	if (cal_contact_evaluate(w->set, poses, velocities, w->work, forces, &w->summary) != CAL_OK)
		return 1;
	for (int i = 0; i < slots; i++)
		w->wrenches[i].f = forces[i];
	input->wrenches = w->wrenches;
	input->wrench_count = slots;
	return 0;
}

typedef struct FreeBody {
	double mass;
	CalVec3 moments;
} FreeBody;

/** Free bodies "b0", "b1" ... and shapes whose node is the number of a body (-1: the world). */
static inline World *world_create(CalVec3 gravity, const FreeBody *bodies, int body_count, CalShapeDef *shapes,
                                  int shape_count) {
	World *w = test_alloc(1, sizeof *w);
	CalError error = {0};
	CalDesc *desc = desc_with_gravity(0);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, gravity), CAL_OK);
	for (int i = 0; i < body_count; i++) {
		char name[8] = {'b', (char)('0' + i), 0};
		attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_FREE), name, bodies[i].mass, 0, bodies[i].moments);
	}
	w->system = system_of(desc);
	for (int i = 0; i < shape_count; i++) {
		char name[8] = {'b', (char)('0' + shapes[i].node), 0};
		if (shapes[i].node >= 0)
			shapes[i].node = cal_model_find_node(w->system.model, name);
	}
	if (cal_contact_set_create(shapes, shape_count, NULL, &w->set, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_contact_work_create(w->set, WORLD_POINTS, &w->work), CAL_OK);
	assert_int_equal(cal_work_create(w->system.model, &w->kinematics), CAL_OK);
	return w;
}

static inline void world_destroy(World *w) {
	cal_contact_work_destroy(w->work);
	cal_contact_set_destroy(w->set);
	cal_work_destroy(w->kinematics);
	system_free(&w->system);
	free(w);
}

static inline CalIntegrator *world_integrator(World *w, CalIntegratorOptions options) {
	options.input = world_input;
	options.user = w;
	return integrator_for(&w->system, options);
}

/** Advances the world's state by t seconds. */
static inline void world_advance(World *w, CalIntegratorOptions options, double t) {
	CalIntegrator *integrator = world_integrator(w, options);
	assert_int_equal(cal_integrator_advance(integrator, &w->system.state, w->system.state.t + t), CAL_OK);
	cal_integrator_destroy(integrator);
}

/** w->summary of the present state. */
static inline void world_observe(World *w) {
	CalInput input = {0};
	assert_int_equal(world_input(w, w->system.model, &w->system.state, &input), 0);
}

static inline CalContactPoint world_point(const World *w, int i) {
	CalContactPoint point;
	assert_int_equal(cal_contact_point(w->work, i, &point), CAL_OK);
	return point;
}

static inline CalShapeDef shape_def(const char *name, CalShapeType type, int node, CalContactMaterial material) {
	return (CalShapeDef){.name = name, .type = type, .node = node, .material = material};
}

static inline CalMat3 rotation_of(CalQuat q) {
	return (CalMat3){{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
	                  {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
	                  {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}

#endif
