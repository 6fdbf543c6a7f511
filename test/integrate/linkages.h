// SPDX-License-Identifier: Apache-2.0
/*
 * linkages.h — small mechanisms with closed loops on which integrators are tested.
 *
 * Rods of square section whose frames are parallel to the world's when all joints are at zero.
 */
#ifndef CALDER_TEST_LINKAGES_H
#define CALDER_TEST_LINKAGES_H

#include "integrate/systems.h"

#include <calder/loops.h>

/** A rod from its frame's origin along the vector given, on a revolute joint; its frame is at `at` of the parent. */
static inline CalBodyId add_rod(CalDesc *desc, CalBodyId parent, CalVec3 at, CalVec3 axis, CalVec3 along,
                                const char *name, double mass, double stiffness) {
	CalBodyDef body = cal_body_def();
	CalJointDef joint = joint_about(CAL_JOINT_REVOLUTE, axis.x, axis.y, axis.z);
	CalBodyId id;
	const double L2 = along.x * along.x + along.y * along.y + along.z * along.z, s = mass / 12, thin = 0.01 * L2;
	body.name = joint.name = name;
	body.mass = mass;
	body.com = (CalVec3){along.x / 2, along.y / 2, along.z / 2};
	body.inertia = (CalMat3){{{s * (L2 - along.x * along.x + thin), -s * along.x * along.y, -s * along.x * along.z},
	                          {-s * along.x * along.y, s * (L2 - along.y * along.y + thin), -s * along.y * along.z},
	                          {-s * along.x * along.z, -s * along.y * along.z, s * (L2 - along.z * along.z + thin)}}};
	joint.inboard.position = at;
	joint.dof[0].stiffness = stiffness;
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	assert_int_equal(
		cal_desc_attach(desc, cal_desc_body_node(desc, parent), &joint, cal_desc_body_node(desc, id), NULL, NULL),
		CAL_OK);
	return id;
}

/** A hinge between points of two bodies (ground {0}), about an axis that both have parallel to y or to x of the world. */
static inline void add_hinge(CalDesc *desc, CalBodyId a, CalVec3 at_a, CalBodyId b, CalVec3 at_b, char axis) {
	CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
	const CalQuat z_to_y = {sqrt(0.5), -sqrt(0.5), 0, 0}, z_to_x = {0.5, 0.5, 0.5, 0.5};
	loop.name = "pin";
	loop.a.position = at_a, loop.b.position = at_b;
	loop.a.orientation = loop.b.orientation = axis == 'y' ? z_to_y : z_to_x;
	assert_int_equal(
		cal_desc_close_loop(desc, cal_desc_body_node(desc, a), &loop, cal_desc_body_node(desc, b), NULL, NULL), CAL_OK);
}

/** The state on the loops nearest to the present one. */
static inline void close_loops(System *s) {
	assert_int_equal(cal_loop_project(s->model, &s->state, &(CalProjectOptions){.max_iterations = 100}, s->work, NULL),
	                 CAL_OK);
}

/** A crank of 0.2 m, a rod of 0.5 m and a slider along x in the plane x-z; the crank turns by 10 rad/s. */
static inline System slider_crank(double stiffness) {
	CalDesc *desc = desc_with_gravity(9.81);
	const CalVec3 y = {0, 1, 0};
	CalBodyId crank = add_rod(desc, ground, origin, y, (CalVec3){0.2, 0, 0}, "crank", 1, stiffness);
	CalBodyId rod = add_rod(desc, crank, (CalVec3){0.2, 0, 0}, y, (CalVec3){0.5, 0, 0}, "rod", 2, 0);
	CalJointDef rail = joint_about(CAL_JOINT_PRISMATIC, 1, 0, 0);
	CalBodyId slider = attach_body(desc, ground, origin, rail, "slider", 1.5, 0, (CalVec3){0.01, 0.01, 0.01});
	add_hinge(desc, rod, (CalVec3){0.5, 0, 0}, slider, origin, 'y');
	System s = system_of(desc);
	s.state.q[0] = -0.7, s.state.q[1] = 1, s.state.q[2] = 0.6;
	s.state.u[0] = -10;
	close_loops(&s);
	return s;
}

/** Six rods along the edges of a cube, six hinges (IFToMM A04): one dof although 5 - 5 = 0 are counted. */
static inline System bricard(void) {
	CalDesc *desc = desc_with_gravity(9.81);
	static const CalVec3 axis[] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	static const CalVec3 along[] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 1, 0}};
	static const char *const names[] = {"b1", "b2", "b3", "b4", "b5"};
	CalBodyId body = ground;
	for (int i = 0; i < 5; i++)
		body = add_rod(desc, body, i ? along[i - 1] : origin, axis[i], along[i], names[i], 1, 0);
	add_hinge(desc, ground, (CalVec3){0, 0, 1}, body, along[4], 'x');
	return system_of(desc);
}

/** Four rods of a pentagon with one side on the ground: two dofs; a spring holds the joint of the second rod. */
static inline System five_bar(double stiffness) {
	CalDesc *desc = desc_with_gravity(9.81);
	const CalVec3 y = {0, 1, 0}, rod = {0.5, 0, 0};
	CalBodyId a = add_rod(desc, ground, origin, y, rod, "a", 1, 0);
	CalBodyId b = add_rod(desc, a, rod, y, rod, "b", 1, stiffness);
	CalBodyId c = add_rod(desc, b, rod, y, rod, "c", 1, 0);
	CalBodyId d = add_rod(desc, c, rod, y, rod, "d", 1, 0);
	add_hinge(desc, ground, (CalVec3){0.6, 0, 0}, d, rod, 'y');
	System s = system_of(desc);
	s.state.q[0] = -1.2, s.state.q[2] = 2.8, s.state.q[3] = -0.5;
	return s;
}

static inline double energy_of(const System *s, const CalState *state) {
	CalEnergy energy;
	assert_int_equal(cal_energy(s->model, state, s->work, &energy), CAL_OK);
	return energy.total;
}

/** The larger of residuals and their rates. */
static inline double loop_error(const System *s, const CalState *state) {
	double g[6], rate[6], worst = 0;
	const int rows = cal_model_row_count(s->model);
	assert_true(rows <= 6);
	assert_int_equal(cal_loop_residual(s->model, state, s->work, g, rate), CAL_OK);
	for (int i = 0; i < rows; i++)
		worst = fmax(worst, fmax(fabs(g[i]), fabs(rate[i])));
	return worst;
}

#endif
