// SPDX-License-Identifier: Apache-2.0
/*
 * test_joint.c — every joint type on its own: pose, velocity, bias acceleration, configuration.
 *
 * One body on the ground, placements on both sides, so that what is seen at its node is the joint. The
 * expected pose is a product of the elementary transforms of its row (joint_rows.h), formed here once more; the
 * motion is that of numerically differentiated positions.
 */
#include "support/random_tree.h"

#include "reference/joint_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 40 };

/* ---- elementary transforms ------------------------------------------------------------------ */

typedef struct Transform {
	double R[3][3], r[3];
} Transform;

static Transform compose(Transform a, Transform b) {
	Transform c = {{{0}}, {a.r[0], a.r[1], a.r[2]}};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			c.r[i] += a.R[i][j] * b.r[j];
			for (int k = 0; k < 3; k++)
				c.R[i][j] += a.R[i][k] * b.R[k][j];
		}
	return c;
}

static CalVec3 unit(CalVec3 a) {
	double n = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
	return (CalVec3){a.x / n, a.y / n, a.z / n};
}

/* Rodrigues: cos 1 + sin [n]x + (1 - cos) n n' */
static Transform turn(CalVec3 axis, double angle) {
	CalVec3 n = unit(axis);
	double c = cos(angle), s = sin(angle), v[3] = {n.x, n.y, n.z};
	double cross[3][3] = {{0, -n.z, n.y}, {n.z, 0, -n.x}, {-n.y, n.x, 0}};
	Transform t = {{{0}}, {0}};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			t.R[i][j] = (i == j ? c : 0) + s * cross[i][j] + (1 - c) * v[i] * v[j];
	return t;
}

static Transform slide(CalVec3 axis, double length) {
	CalVec3 n = unit(axis);
	return (Transform){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {length * n.x, length * n.y, length * n.z}};
}

static Transform attitude(const double *q) {
	double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	double w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
	return (Transform){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
	                    {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
	                    {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}},
	                   {0}};
}

static Transform placed(const CalPlacement *p) {
	double q[4] = {p->orientation.w, p->orientation.x, p->orientation.y, p->orientation.z};
	Transform t = attitude(q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0 ? (double[]){1, 0, 0, 0} : q);
	t.r[0] = p->position.x, t.r[1] = p->position.y, t.r[2] = p->position.z;
	return t;
}

static Transform element(const CalElement *e, const double *q) {
	if (e->type == CAL_JOINT_SPHERICAL)
		return attitude(q);
	if (e->type == CAL_JOINT_PRISMATIC)
		return slide(e->axis, q[0]);
	return compose(slide(e->axis, e->type == CAL_JOINT_SCREW ? e->pitch * q[0] : 0), turn(e->axis, q[0]));
}

static CalVec3 axis_named(const CalJointDef *d, char name) {
	CalVec3 a = d->axis, b = d->axis2;
	CalVec3 c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
	return name == 'a' ? a : name == 'b' ? b : name == 'c' ? c : (CalVec3){name == 'x', name == 'y', name == 'z'};
}

/* The joint alone, by its row. */
static Transform row_transform(const CalJointDef *d, const char *motion, const double *q) {
	Transform t = slide((CalVec3){1, 0, 0}, 0);
	for (const char *p = motion; *p; p += 1 + (p[1] == ' ')) {
		if (*p == 'B') {
			t = compose(t, attitude(q));
			q += 4;
			continue;
		}
		const char kind = *p++;
		const CalVec3 axis = axis_named(d, *p);
		if (kind != 'R')
			t = compose(t, slide(axis, kind == 'H' ? d->pitch * *q : *q));
		if (kind != 'T')
			t = compose(t, turn(axis, *q));
		q++;
	}
	return t;
}

static Transform joint_transform(const CalJointDef *d, const double *q) {
	Transform t = slide((CalVec3){1, 0, 0}, 0);
	for (int k = 0; d->type == CAL_JOINT_SEQUENCE && k < d->element_count; k++) {
		t = compose(t, element(&d->elements[k], q));
		q += d->elements[k].type == CAL_JOINT_SPHERICAL ? 4 : 1;
	}
	if (d->type == CAL_JOINT_USER) {
		CalPose pose;
		d->ops->pose(d->ops_data, q, &pose);
		memcpy(t.R, pose.R.m, sizeof t.R);
		t.r[0] = pose.r.x, t.r[1] = pose.r.y, t.r[2] = pose.r.z;
	}
	for (int i = 0; i < JOINT_ROWS; i++)
		if (joint_rows[i].type == d->type && joint_rows[i].motion[0] != '*')
			return row_transform(d, joint_rows[i].motion, q);
	return t;
}

/* ---- one body on one joint ------------------------------------------------------------------ */

static Fixture *single(CalJointType type, uint64_t seed) {
	Rng r = rng_make(seed * CAL_JOINT_TYPE_COUNT + (uint64_t)type);
	Fixture *f = NULL;
	TreeOptions options = {.bodies = 1, .joints = 1u << type};
	f = fixture_create(random_tree(&r, options), seed, CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	return f;
}

static void for_every_type(void (*check)(Fixture *)) {
	for (int type = 0; type < CAL_JOINT_TYPE_COUNT; type++)
		for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
			Fixture *f = single((CalJointType)type, seed);
			check(f);
			fixture_destroy(f);
		}
}

static void pose_of(Fixture *f) {
	const RefBody *b = &f->ref->bodies[0];
	CalBodyInfo info;
	CalPose pose;
	Transform at = slide((CalVec3){1, 0, 0}, 0);
	if (b->parent_node >= 0)
		at = placed(&f->ref->nodes[b->parent_node].placement);
	at = compose(at, placed(&b->joint.inboard));
	at = compose(at, joint_transform(&b->joint, f->state.q));
	at = compose(at, placed(&b->joint.outboard));
	check_ok(f->seed, cal_kinematics(f->model, &f->state, NULL, f->work));
	check_ok(f->seed, cal_model_body(f->model, 0, &info));
	check_ok(f->seed, cal_node_pose(f->model, f->work, info.head_node, &pose));
	check_close(f->seed, cal_joint_type_name(b->joint.type), 9, pose.R.m[0], at.R[0], 4e-15);
	check_close_scaled(f->seed, cal_joint_type_name(b->joint.type), 3, &pose.r.x, at.r, 1, 4e-15);
}

static void pose_is_the_product_of_elementary_transforms(void **state) {
	(void)state;
	for_every_type(pose_of);
}

static void motion_of(Fixture *f) {
	int n = f->ref->node_count;
	const char *type = cal_joint_type_name(f->ref->bodies[0].joint.type);
	RefMotion *want = test_alloc((size_t)n, sizeof *want);
	refq_kinematics_numeric(f->ref, f->state.q, f->state.u, f->udot, NULL, want);
	check_ok(f->seed, cal_kinematics(f->model, &f->state, f->udot, f->work));
	for (int i = 0; i < n; i++) {
		CalSpatial v, a;
		check_ok(f->seed, cal_node_velocity(f->model, f->work, f->node[i], &v));
		check_ok(f->seed, cal_node_acceleration(f->model, f->work, f->node[i], &a));
		check_close_scaled(f->seed, type, 6, &v.angular.x, &want[i].velocity.angular.x, 1, 1e-13);
		check_close_scaled(f->seed, type, 6, &a.angular.x, &want[i].acceleration.angular.x, 1, 1e-13);
	}
	free(want);
}

static void motion_is_the_derivative_of_the_pose(void **state) {
	(void)state;
	for_every_type(motion_of);
}

static void dynamics_of(Fixture *f) {
	double *udot = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
	refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want);
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
	check_close(f->seed, cal_joint_type_name(f->ref->bodies[0].joint.type), f->nu, udot, want, 1e-11);
}

static void one_body_accelerates_as_the_reference_says(void **state) {
	(void)state;
	for_every_type(dynamics_of);
}

static void joint_type_names_are_those_of_the_list(void **state) {
	(void)state;
#define NAME_OF(type, name) assert_string_equal(cal_joint_type_name(type), #name);
	CAL_JOINT_TYPE_LIST(NAME_OF)
#undef NAME_OF
	assert_null(cal_joint_type_name(CAL_JOINT_TYPE_COUNT));
	assert_null(cal_joint_type_name((CalJointType)-1));
}

/* ---- defaults ------------------------------------------------------------------------------- */

static void axis_is_z_by_default(void **state) {
	(void)state;
	const CalJointType types[] = {CAL_JOINT_REVOLUTE, CAL_JOINT_PRISMATIC, CAL_JOINT_CYLINDRICAL};
	for (int k = 0; k < 3; k++) {
		RefModel *m = ref_model_create();
		Rng r = rng_make(test_seed());
		ref_model_add_body(m, -1, types[k]);
		rng_mass(&r, 1, &m->bodies[0].mass, &m->bodies[0].com, &m->bodies[0].inertia);
		m->bodies[0].joint.axis = (CalVec3){0, 0, 0};
		ref_model_index(m);
		Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
		double J[12], z[2] = {0, 1};
		check_ok(0, cal_kinematics(f->model, &f->state, NULL, f->work));
		check_ok(0, cal_node_jacobian(f->model, f->work, 0, J));
		int row = types[k] == CAL_JOINT_PRISMATIC ? 5 : 2;
		check_close(0, "z", 1, &J[row * f->nu], &z[1], 0);
		check_close(0, "x", 1, &J[(row - 2) * f->nu], &z[0], 0);
		fixture_destroy(f);
	}
}

/* A joint of the library and the same one written by a user move alike. */
static void user_joint_equals_built_in_joint(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		RefModel *built_in = random_tree(&r, (TreeOptions){.bodies = 4, .joints = 1u << CAL_JOINT_PRISMATIC});
		r = rng_make(seed);
		RefModel *user = random_tree(&r, (TreeOptions){.bodies = 4, .joints = 1u << CAL_JOINT_PRISMATIC});
		for (int i = 0; i < user->body_count; i++) {
			RefBody *b = &user->bodies[i];
			b->user = test_alloc(1, sizeof *b->user);
			*b->user = b->elements;
			b->joint =
				(CalJointDef){.type = CAL_JOINT_USER, .inboard = b->joint.inboard, .outboard = b->joint.outboard};
			b->joint.ops = user_joint_ops(USER_SLIDER);
			b->joint.ops_data = b->user;
		}
		ref_model_index(user);
		Fixture *f = fixture_create(built_in, seed, CAL_SOLVER_RECURSIVE);
		Fixture *g = fixture_create(user, seed, CAL_SOLVER_RECURSIVE);
		fixture_sample(f, &r);
		double *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu);
		cal_state_copy(f->model, &f->state, &g->state);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
		check_ok(seed, cal_forward_dynamics(g->model, &g->state, &f->input, g->work, b));
		check_close(seed, "udot", f->nu, b, a, 1e-12);
		fixture_destroy(f);
		fixture_destroy(g);
	}
}

/* A spring on a joint of the caller's own acts on its coordinate, or the model is refused; it is never ignored. */
static void springs_of_user_joints_are_not_ignored(void **state) {
	(void)state;
	for (int kind = 0; kind < USER_JOINT_COUNT; kind++) {
		Rng r = rng_make(test_seed());
		CalDesc *desc;
		CalModel *model = NULL;
		CalBodyDef body = cal_body_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_USER);
		CalBodyId id;
		CalJointId joint_id;
		CalError error;
		RefElements *data = user_joint_random(&r, (UserJoint)kind);
		body.name = "b", joint.name = "j", joint.ops = user_joint_ops((UserJoint)kind), joint.ops_data = data;
		rng_mass(&r, 1, &body.mass, &body.com, &body.inertia);
		joint.dof[0].stiffness = 7, joint.dof[0].rest = 0.25;
		check_ok(0, cal_desc_create(NULL, &desc));
		check_ok(0, cal_desc_add_body(desc, &body, &id, &error));
		check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, id), &joint_id, &error));
		if (cal_model_compile(desc, NULL, &model, &error) == CAL_OK) {
			CalState s;
			CalWork *work;
			double Q[6] = {0}, want = 7 * 0.25;
			check_ok(0, cal_state_create(model, &s));
			check_ok(0, cal_work_create(model, &work));
			check_ok(0, cal_elastic_forces(model, &s, work, Q));
			check_close(0, joint.ops->name, 1, Q, &want, 1e-14);
			cal_work_destroy(work);
			cal_state_destroy(&s);
		} else {
			assert_non_null(strstr(error.text, "\"j\""));
		}
		cal_model_destroy(model);
		cal_desc_destroy(desc);
		free(data);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pose_is_the_product_of_elementary_transforms),
		cmocka_unit_test(motion_is_the_derivative_of_the_pose),
		cmocka_unit_test(one_body_accelerates_as_the_reference_says),
		cmocka_unit_test(joint_type_names_are_those_of_the_list),
		cmocka_unit_test(axis_is_z_by_default),
		cmocka_unit_test(springs_of_user_joints_are_not_ignored),
		cmocka_unit_test(user_joint_equals_built_in_joint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
