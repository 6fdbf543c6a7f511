// SPDX-License-Identifier: Apache-2.0
/*
 * test_pose_solve.c — joints the other way round: coordinates and speeds from poses and velocities are the inverse of
 * the forward map; what a joint holds does no work in it; a reversed joint is the inverse motion with the same
 * coordinates.
 */
#include <math.h>
#include <string.h>

#include "joint/pose_solve.h"
#include "model/description/desc.h"
#include "support/random_tree.h"

enum { CASES = 200 };

static CalJointDef random_joint(Rng *r, CalJointType type) {
	CalJointDef def = cal_joint_def(type);
	CalError error;
	def.name = "joint";
	def.axis = rng_direction(r);
	def.axis2 = rng_direction(r);
	def.pitch = type == CAL_JOINT_SCREW ? rng_uniform(r, 0.1, 1) : 0;
	def.inboard = rng_placement(r), def.outboard = rng_placement(r);
	if (type == CAL_JOINT_SEQUENCE) {
		static const CalJointType kinds[] = {CAL_JOINT_REVOLUTE, CAL_JOINT_PRISMATIC, CAL_JOINT_SCREW};
		def.element_count = 1 + rng_int(r, 4);
		for (int i = 0; i < def.element_count; i++)
			def.elements[i] = (CalElement){kinds[rng_int(r, 3)], rng_direction(r), 0.3};
		if (rng_chance(r, 0.3))
			def.elements[0].type = CAL_JOINT_SPHERICAL;
	}
	check_ok(0, joint_def_resolve(&def, &error));
	return def;
}

static void random_state(Rng *r, const CalJointDef *def, double *q, double *u) {
	JointElement step[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, step);
	rng_fill(r, 1, joint_speed_count(def), u);
	for (int i = 0; i < count; i++) {
		const PrimitiveData data = {0};
		double neutral[CAL_JOINT_MAX_COORDS], dq[CAL_JOINT_MAX_DOF];
		rng_fill(r, 1.2, 6, dq);
		primitive_neutral(step[i].motion, &data, neutral);
		primitive_integrate(step[i].motion, &data, neutral, dq, q);
		q += primitive_q_count(step[i].motion, NULL);
	}
}

static spatial velocity(int n, const spatial *S, const double *u) {
	spatial V = spatial_zero();
	for (int k = 0; k < n; k++)
		V = spatial_madd(V, u[k], S[k]);
	return V;
}

static void check_pose(uint64_t seed, dpose got, dpose want) {
	check_close_scaled(seed, "position", 3, &got.r.x, &want.r.x, 1, 1e-13);
	check_close_scaled(seed, "orientation", 9, &got.R.x.x, &want.R.x.x, 1, 1e-13);
}

/* All but USER, whose functions the caller brings. */
static CalJointType types[CAL_JOINT_TYPE_COUNT];
enum { TYPES = CAL_JOINT_TYPE_COUNT - 1 };

static int list_types(void **state) {
	int count = 0;
	(void)state;
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++)
		if (i != CAL_JOINT_USER)
			types[count++] = (CalJointType)i;
	return 0;
}

static void poses_and_velocities_give_the_state_back(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		for (int t = 0; t < TYPES; t++) {
			const CalJointDef def = random_joint(&r, types[t]);
			double q[7], u[6], got_q[7], got_u[6];
			const int n = joint_speed_count(&def), nq = joint_coordinate_count(&def);
			dpose X, back;
			spatial S[6];
			random_state(&r, &def, q, u);
			joint_evaluate(&def, q, &X, S);
			check_that(seed, joint_solve_pose(&def, &X, got_q) < 1e-12);
			joint_evaluate(&def, got_q, &back, NULL);
			check_pose(seed, back, X);
			if (types[t] == CAL_JOINT_SEQUENCE)
				continue;                  // may have other coordinates for the same pose
			double same = 0, opposite = 0; // quaternions have two signs
			for (int i = 0; i < nq; i++)
				same = fmax(same, fabs(got_q[i] - q[i])),
				opposite = fmax(opposite, fabs(got_q[i] + q[i]) * (i >= nq - 4));
			check_that(seed, same < 1e-12 || (nq >= 4 && opposite < 1e-12));
			joint_solve_speeds(&def, q, velocity(n, S, u), got_u);
			check_close_scaled(seed, "speeds", n, got_u, u, 1, 1e-11);
		}
	}
}

static void a_screw_counts_its_turns(void **state) {
	(void)state;
	CalJointDef def = cal_joint_def(CAL_JOINT_SCREW);
	def.pitch = 0.1;
	for (int i = -20; i <= 20; i++) {
		const double q = 1.7 * i;
		double got;
		dpose X;
		joint_evaluate(&def, &q, &X, NULL);
		check_that(0, joint_solve_pose(&def, &X, &got) < 1e-13);
		check_close_scaled(0, "angle", 1, &got, &q, 1, 1e-12);
	}
}

static void what_a_joint_holds_does_no_work(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		for (int t = 0; t < TYPES; t++) {
			const CalJointDef def = random_joint(&r, types[t]);
			double q[7], u[6];
			dpose X;
			spatial S[6], C[6];
			random_state(&r, &def, q, u);
			joint_evaluate(&def, q, &X, S);
			const int n = joint_speed_count(&def), held = joint_directions(&def, q, C);
			check_that(seed, held == 6 - n || types[t] == CAL_JOINT_SEQUENCE);
			for (int i = 0; i < held; i++) {
				for (int k = 0; k < n; k++)
					check_that(seed, fabs(spatial_dot(C[i], S[k])) < 1e-12);
				for (int k = 0; k < held; k++)
					check_that(seed, fabs(spatial_dot(C[i], C[k]) - (i == k)) < 1e-13);
			}
		}
	}
}

static dpose whole(const CalJointDef *def, const double *q) {
	dpose X;
	joint_evaluate(def, q, &X, NULL);
	return dpose_mul(pose_of(def->inboard), dpose_mul(X, pose_of(def->outboard)));
}

/* Node to node the reversed joint is the inverse pose, at the same coordinates, and moves backwards at the same speeds. */
static void a_reversed_joint_is_the_inverse_motion(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		for (int t = 0; t < TYPES; t++) {
			const CalJointDef def = random_joint(&r, types[t]);
			CalJointDef reversed, twice;
			double q[7], u[6], q1[7], u1[6], q2[7], u2[6], moved[7], moved1[7];
			const int n = joint_speed_count(&def);
			const double h = 1e-6;
			random_state(&r, &def, q, u);
			check_that(seed, joint_reverse(&def, &reversed) == NULL);
			check_that(seed, joint_speed_count(&reversed) == n);
			joint_reverse_state(&def, q, u, q1, u1);
			check_pose(seed, whole(&reversed, q1), dpose_inverse(whole(&def, q)));
			check_that(seed, joint_reverse(&reversed, &twice) == NULL);
			joint_reverse_state(&reversed, q1, u1, q2, u2);
			check_close_scaled(seed, "there and back, q", joint_coordinate_count(&def), q2, q, 1, 1e-14);
			check_close_scaled(seed, "there and back, u", n, u2, u, 1, 1e-14);
			check_pose(seed, whole(&twice, q), whole(&def, q));
			// speeds: the pose a little later, from both sides
			JointElement step[6], step1[6];
			const int count = joint_elements(&def, step), count1 = joint_elements(&reversed, step1);
			const PrimitiveData data = {0};
			for (int i = 0, a = 0, b = 0; i < count; i++) {
				double dq[6];
				for (int k = 0; k < primitive_u_count(step[i].motion, NULL); k++)
					dq[k] = h * u[b + k];
				primitive_integrate(step[i].motion, &data, q + a, dq, moved + a);
				a += primitive_q_count(step[i].motion, NULL), b += primitive_u_count(step[i].motion, NULL);
			}
			for (int i = 0, a = 0, b = 0; i < count1; i++) {
				double dq[6];
				for (int k = 0; k < primitive_u_count(step1[i].motion, NULL); k++)
					dq[k] = h * u1[b + k];
				primitive_integrate(step1[i].motion, &data, q1 + a, dq, moved1 + a);
				a += primitive_q_count(step1[i].motion, NULL), b += primitive_u_count(step1[i].motion, NULL);
			}
			const dpose later = whole(&reversed, moved1), want = dpose_inverse(whole(&def, moved));
			check_close_scaled(seed, "later", 3, &later.r.x, &want.r.x, 1, 20 * h * h);
			check_close_scaled(seed, "later", 9, &later.R.x.x, &want.R.x.x, 1, 20 * h * h);
		}
	}
}

static void springs_follow_their_dofs(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	CalJointDef def = random_joint(&r, CAL_JOINT_PLANAR), reversed;
	for (int k = 0; k < 3; k++)
		def.dof[k].stiffness = 1 + k;
	assert_null(joint_reverse(&def, &reversed));
	assert_int_equal(reversed.type, CAL_JOINT_SEQUENCE);
	for (int k = 0; k < 3; k++)
		assert_true(reversed.dof[joint_reverse_dof(&def, k)].stiffness == 1 + k);
	def = random_joint(&r, CAL_JOINT_SPHERICAL);
	for (int k = 0; k < 3; k++)
		def.dof[k].damping = 2, def.dof[k].rest = 0.1 * k;
	assert_null(joint_reverse(&def, &reversed));
	assert_true(reversed.dof[2].rest == -0.2);
	def.dof[1].damping = 3;
	assert_non_null(joint_reverse(&def, &reversed));
	def = random_joint(&r, CAL_JOINT_FREE);
	def.dof[4].rotor_inertia = 1;
	assert_non_null(joint_reverse(&def, &reversed));
	def = cal_joint_def(CAL_JOINT_USER);
	static const CalJointOps ops = {.name = "any", .nq = 1, .nu = 1};
	def.ops = &ops;
	assert_non_null(strstr(joint_reverse(&def, &reversed), "caller's own"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poses_and_velocities_give_the_state_back),
		cmocka_unit_test(a_screw_counts_its_turns),
		cmocka_unit_test(what_a_joint_holds_does_no_work),
		cmocka_unit_test(a_reversed_joint_is_the_inverse_motion),
		cmocka_unit_test(springs_follow_their_dofs),
	};
	return cmocka_run_group_tests(tests, list_types, NULL);
}
