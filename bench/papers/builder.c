// SPDX-License-Identifier: Apache-2.0
/*
 * builder.c — bodies of the order-N papers.
 *
 * Booms: five lumped masses, and the shapes f1 = s^2(3 - s)/2 and f2 = s^2 (s = x/L) in both planes, which are those of
 * a cantilever under a force and under a moment at its tip; the stiffness is that of Euler and Bernoulli for them.
 */
#include <math.h>
#include <stdio.h>

#include "builder.h"

static const double radius = 0.12; // of all rods [m]

/* ---- rotations ---------------------------------------------------------------------------------- */

CalQuat turn_about(CalVec3 axis, double angle) {
	const double s = sin(angle / 2);
	return (CalQuat){cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

CalQuat quat_product(CalQuat a, CalQuat b) {
	return (CalQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* By the largest of the four components, so that nothing cancels. */
CalQuat quat_of(const CalMat3 *R) {
	const double(*m)[3] = R->m;
	const double four[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
	                        1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
	int k = 0;
	for (int i = 1; i < 4; i++)
		k = four[i] > four[k] ? i : k;
	const double c = sqrt(four[k]) / 2, d = 1 / (4 * c);
	const double wx = d * (m[2][1] - m[1][2]), wy = d * (m[0][2] - m[2][0]), wz = d * (m[1][0] - m[0][1]);
	const double xy = d * (m[0][1] + m[1][0]), xz = d * (m[0][2] + m[2][0]), yz = d * (m[1][2] + m[2][1]);
	const CalQuat q[4] = {{c, wx, wy, wz}, {wx, c, xy, xz}, {wy, xy, c, yz}, {wz, xz, yz, c}};
	return q[k];
}

/* R'(v - r) of a pose, its axes and the origin apart. */
static CalVec3 turned_back(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
	                 R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
	                 R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z};
}

CalPlacement placement_from(const CalPose *from, const CalPose *X) {
	CalMat3 S;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			S.m[i][j] = 0;
			for (int k = 0; k < 3; k++)
				S.m[i][j] += from->R.m[k][i] * X->R.m[k][j];
		}
	const CalVec3 d = {X->r.x - from->r.x, X->r.y - from->r.y, X->r.z - from->r.z};
	return (CalPlacement){turned_back(&from->R, d), quat_of(&S)};
}

CalPose pose_at(const CalPose *frame, CalVec3 p) {
	const double(*m)[3] = frame->R.m;
	CalPose X = *frame;
	X.r.x += m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z;
	X.r.y += m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z;
	X.r.z += m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z;
	return X;
}

/* ---- bodies ------------------------------------------------------------------------------------- */

/* The reference accelerations were computed from data with so many digits. */
static double rounded(double x, double unit) { return round(x / unit) * unit; }

static CalMat3 diagonal(double x, double y, double z) { return (CalMat3){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

CalJointDef paper_joint(CalVec3 axis) {
	const int is_weld = axis.x == 0 && axis.y == 0 && axis.z == 0;
	CalJointDef joint = cal_joint_def(is_weld ? CAL_JOINT_WELD : CAL_JOINT_REVOLUTE);
	joint.axis = axis;
	return joint;
}

static CalBodyId add_body(Builder *b, const CalBodyDef *def) {
	CalBodyId id = {0};
	if (b->status == CAL_OK)
		b->status = cal_desc_add_body(b->made->desc, def, &id, b->error);
	return id;
}

static CalNodeId attach(Builder *b, CalBodyId body, Mount mount, CalJointDef joint, const char *name) {
	if (b->status != CAL_OK)
		return (CalNodeId){0};
	const CalNodeId head = cal_desc_body_node(b->made->desc, body);
	joint.name = name, joint.inboard = mount.placement;
	b->status = cal_desc_attach(b->made->desc, mount.node, &joint, head, NULL, b->error);
	return head;
}

CalNodeId add_rod(Builder *b, const char *name, Mount mount, CalVec3 axis, double mass, double length) {
	const double r2 = radius * radius, across = rounded(mass * (3 * r2 + length * length) / 12, 1e-6);
	CalBodyDef def = cal_body_def();
	def.name = name, def.mass = mass, def.com.x = length / 2;
	def.inertia = diagonal(mass * r2 / 2, across, across);
	return attach(b, add_body(b, &def), mount, paper_joint(axis), name);
}

CalNodeId add_plate(Builder *b, const char *name, Mount mount, CalJointDef joint, double mass, double width) {
	const double J = mass * width * width / 12, across = rounded(J, 1e-4);
	CalBodyDef def = cal_body_def();
	def.name = name, def.mass = mass;
	def.inertia = diagonal(across, across, rounded(2 * J, 1e-4));
	return attach(b, add_body(b, &def), mount, joint, name);
}

enum { MODES = 4, STATIONS = 5 };

typedef struct Shapes {
	double phi[3][MODES], psi[3][MODES];
} Shapes;

/* Modes 0, 1 bend along y, modes 2, 3 along z. */
static Shapes shapes_at(double s, double length) {
	const double f[2] = {s * s * (3 - s) / 2, s * s};
	const double slope[2] = {(6 * s - 3 * s * s) / 2 / length, 2 * s / length};
	Shapes at = {0};
	for (int i = 0; i < 2; i++) {
		at.phi[1][i] = at.phi[2][2 + i] = f[i];
		at.psi[2][i] = slope[i];
		at.psi[1][2 + i] = -slope[i];
	}
	return at;
}

static CalNodeId add_station(Builder *b, CalBodyId body, int k, double x) {
	CalNodeDef def = cal_node_def();
	CalNodeId id = {0};
	char name[16];
	snprintf(name, sizeof name, "n%d", k);
	def.name = name, def.placement.position.x = x;
	if (b->status == CAL_OK)
		b->status = cal_desc_add_node(b->made->desc, body, &def, &id, b->error);
	return id;
}

CalNodeId add_boom(Builder *b, const char *name, Mount mount, CalVec3 axis, const Boom *boom) {
	static const double bending[2][2] = {{3, 3}, {3, 4}}; // integrals of f_i'' f_j'', f'' = 3 - 3s and 2
	double K[MODES][MODES] = {0}, D[MODES][MODES] = {0};
	Shapes shapes[STATIONS];
	CalFlexNode nodes[STATIONS];
	CalBodyDef def = cal_body_def();
	def.name = name;
	const CalBodyId body = add_body(b, &def);
	for (int k = 0; k < STATIONS; k++) {
		const double s = 0.25 * k, m = boom->mass / (k == 0 || k == STATIONS - 1 ? 8 : 4), J = m * radius * radius;
		shapes[k] = shapes_at(s, boom->length);
		nodes[k] = (CalFlexNode){.node = add_station(b, body, k, s * boom->length), .mass = m};
		if (k > 0)
			nodes[k].inertia = diagonal(J, J / 2, J / 2), nodes[k].phi = shapes[k].phi[0],
			nodes[k].psi = shapes[k].psi[0];
	}
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			const double k = boom->stiffness / (boom->length * boom->length * boom->length) * bending[i][j];
			K[i][j] = K[2 + i][2 + j] = k;
			D[i][j] = D[2 + i][2 + j] = b->options.damping * k;
		}
	const CalFlexDef flex = {.modes = MODES,
	                         .stiffness = K[0],
	                         .damping = D[0],
	                         .node_count = STATIONS,
	                         .nodes = nodes,
	                         .frequency_bound = b->options.bound};
	if (b->status == CAL_OK)
		b->status = cal_desc_set_flexible(b->made->desc, body, &flex, b->error);
	attach(b, body, mount, paper_joint(axis), name);
	return nodes[STATIONS - 1].node;
}

/* ---- as things stand ---------------------------------------------------------------------------- */

CalPose pose_at_start(Builder *b, CalNodeId node) {
	CalPose pose = {.R = diagonal(1, 1, 1)};
	CalModel *model = NULL;
	CalWork *work = NULL;
	CalState state = {0};
	if (b->status == CAL_OK)
		b->status = cal_model_compile(b->made->desc, NULL, &model, b->error);
	if (b->status == CAL_OK)
		b->status = cal_state_create(model, &state);
	if (b->status == CAL_OK)
		b->status = cal_work_create(model, &work);
	if (b->status == CAL_OK) {
		paper_set_start(b->made, model, &state);
		b->status = cal_kinematics(model, &state, NULL, work);
	}
	if (b->status == CAL_OK)
		b->status = cal_node_pose(model, work, cal_model_node_index(model, node), &pose);
	cal_work_destroy(work);
	cal_state_destroy(&state);
	cal_model_destroy(model);
	return pose;
}

void weld_as_it_stands(Builder *b, const char *name, CalNodeId a, Mount end) {
	const CalPose from = pose_at_start(b, a), head = pose_at_start(b, end.node);
	const CalPose tip = pose_at(&head, end.placement.position);
	CalLoopDef loop = cal_loop_def(CAL_LOOP_WELD);
	loop.name = name, loop.a = placement_from(&from, &tip), loop.b = end.placement;
	loop.frequency = b->options.stabilisation, loop.damping = b->options.stabilisation > 0;
	if (b->status == CAL_OK)
		b->status = cal_desc_close_loop(b->made->desc, a, &loop, end.node, NULL, b->error);
}
