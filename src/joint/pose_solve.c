// SPDX-License-Identifier: Apache-2.0
/*
 * pose_solve.c — coordinates and speeds of a joint from where its outboard side is and how it moves.
 *
 * A type that can be solved in closed form says how (JointType.solve); sequences and the caller's own joints are solved
 * by Gauss and Newton, damped, from several starts. Turns beyond half a revolution cannot be seen in a pose.
 */
#include <math.h>
#include <string.h>

#include "joint/pose_solve.h"

#include "math/portable.h"

#if CAL_LANES == 1

enum { STARTS = 12, ITERATIONS = 60 };

/* ---- rotations ------------------------------------------------------------------------------------ */

double twist_about(dmat3 R, CalVec3 axis) {
	const CalQuat q = quat_of_matrix(R);
	return 2 * portable_atan2(q.x * axis.x + q.y * axis.y + q.z * axis.z, q.w);
}

dmat3 matrix_about(CalVec3 axis, double angle) {
	const double s = portable_sin(angle), c = portable_cos(angle), k = 1 - c;
	const dvec3 a = dvec_in(axis);
	return (dmat3){{c + k * a.x * a.x, k * a.x * a.y + s * a.z, k * a.x * a.z - s * a.y},
	               {k * a.x * a.y - s * a.z, c + k * a.y * a.y, k * a.y * a.z + s * a.x},
	               {k * a.x * a.z + s * a.y, k * a.y * a.z - s * a.x, c + k * a.z * a.z}};
}

/* ---- axes of a loop ------------------------------------------------------------------------------- */

dmat3 joint_axes_z(CalVec3 axis) {
	const dvec3 a = dvec_in(axis);
	dvec3 x = fabs(a.x) < 0.9 ? (dvec3){1, 0, 0} : (dvec3){0, 1, 0};
	x = dadd(x, dscale(-ddot(x, a), a));
	x = dscale(1.0 / sqrt(ddot(x, x)), x);
	return (dmat3){x, dcross(a, x), a};
}

/* ---- forward -------------------------------------------------------------------------------------- */

static dvec3 joint_frame_def(vec3 v) { return (dvec3){v.x, v.y, v.z}; }

/* One element from the frame that the element before left: its pose and columns there. */
static dpose element_evaluate(const JointElement *element, const CalJointDef *def, const double *q, spatial *S) {
	const vec3 a = vec_in(element->axis);
	if (element->motion == PRIMITIVE_ROTATION || element->motion == PRIMITIVE_SCREW) {
		S[0] = (spatial){a, scale(element->pitch, a)};
		return (dpose){matrix_about(element->axis, q[0]), dscale(element->pitch * q[0], joint_frame_def(a))};
	}
	if (element->motion == PRIMITIVE_TRANSLATION) {
		S[0] = (spatial){vec_zero(), a};
		return (dpose){dmat_identity(), dscale(q[0], joint_frame_def(a))};
	}
	RelativeMotion motion;
	const PrimitiveData data = {element->pitch, def->ops, def->ops_data};
	primitive_evaluate_x1(element->motion, &data, q, NULL, &motion);
	for (int k = 0; k < primitive_u_count(element->motion, def->ops); ++k)
		S[k] = motion.S[k];
	return (dpose){{joint_frame_def(motion.R.x), joint_frame_def(motion.R.y), joint_frame_def(motion.R.z)},
	               joint_frame_def(motion.r)};
}

void joint_evaluate(const CalJointDef *def, const double *q, dpose *X, spatial *S) {
	JointElement element[CAL_JOINT_MAX_DOF];
	vec3 at[CAL_JOINT_MAX_DOF];
	spatial columns[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int nu = 0;
	*X = dpose_identity();
	for (int i = 0; i < count; ++i) {
		const int more = primitive_u_count(element[i].motion, def->ops);
		const dpose moved = element_evaluate(&element[i], def, q, columns + nu);
		const mat3 R = mat_from(X->R);
		*X = dpose_mul(*X, moved);
		for (int k = nu; k < nu + more; ++k) {
			columns[k] = (spatial){mat_mul_vec(R, columns[k].a), mat_mul_vec(R, columns[k].l)};
			at[k] = vec_from(X->r); // where its linear part is that of a point
		}
		nu += more;
		q += primitive_q_count(element[i].motion, def->ops);
	}
	for (int k = 0; S && k < nu; ++k)
		S[k] = motion_shift(columns[k], sub(vec_from(X->r), at[k]));
}

/* ---- small dense systems ---------------------------------------------------------------------------- */

/* Orthonormal vectors that span the columns; returns their number. */
static int span_of(int n, const spatial *S, spatial *Q) {
	int rank = 0;
	for (int k = 0; k < n; ++k) {
		const double size = sqrt(spatial_dot(S[k], S[k]));
		spatial v = spatial_madd(spatial_zero(), size > 0 ? 1 / size : 0, S[k]);
		for (int twice = 0; twice < 2; ++twice) {
			for (int i = 0; i < rank; ++i)
				v = spatial_madd(v, -spatial_dot(v, Q[i]), Q[i]);
		}
		const double left = sqrt(spatial_dot(v, v));
		if (left > 1e-10)
			Q[rank++] = spatial_madd(spatial_zero(), 1 / left, v);
	}
	return rank;
}

static spatial unit_spatial(int i) {
	double e[6] = {0};
	e[i] = 1;
	return (spatial){vec(e[0], e[1], e[2]), vec(e[3], e[4], e[5])};
}

int joint_directions(const CalJointDef *def, const double *q, spatial *C) {
	spatial S[CAL_JOINT_MAX_DOF], Q[6];
	dpose X;
	joint_evaluate(def, q, &X, S);
	const int rank = span_of(joint_speed_count(def), S, Q);
	for (int made = rank; made < 6; ++made) {
		spatial best = spatial_zero();
		double most = 0;
		for (int i = 0; i < 6; ++i) {
			spatial v = unit_spatial(i);
			for (int twice = 0; twice < 2; ++twice) {
				for (int k = 0; k < made; ++k)
					v = spatial_madd(v, -spatial_dot(v, Q[k]), Q[k]);
			}
			const double left = sqrt(spatial_dot(v, v));
			if (left > most * (1 + 1e-9)) { // of equals the first
				most = left;
				best = v;
			}
		}
		Q[made] = spatial_madd(spatial_zero(), 1 / most, best);
		C[made - rank] = Q[made];
	}
	return 6 - rank;
}

/* Solves A x = b, symmetric positive definite, n <= 6, in place; pivots below 1e-14 of their diagonal are left out. */
static void solve_small(int n, double A[6][6], double *b) {
	double diagonal[6] = {0};
	n = n < 6 ? n : 6;
	for (int i = 0; i < n; ++i)
		diagonal[i] = A[i][i];
	for (int j = 0; j < n; ++j) {
		for (int i = j; i < n; ++i) {
			for (int k = 0; k < j; ++k)
				A[i][j] -= A[i][k] * A[j][k];
		}
		const double root = A[j][j] > 1e-14 * diagonal[j] ? sqrt(A[j][j]) : 0;
		A[j][j] = root;
		for (int i = j + 1; i < n; ++i)
			A[i][j] = root > 0 ? A[i][j] / root : 0;
	}
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < i; ++k)
			b[i] -= A[i][k] * b[k];
		b[i] = A[i][i] > 0 ? b[i] / A[i][i] : 0;
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k)
			b[i] -= A[k][i] * b[k];
		b[i] = A[i][i] > 0 ? b[i] / A[i][i] : 0;
	}
}

/* x = (S'S + damping)^-1 S'V */
static void least_squares(int n, const spatial *S, spatial V, double damping, double *x) {
	double A[6][6] = {{0}};
	for (int i = 0; i < n; ++i) {
		x[i] = spatial_dot(S[i], V);
		for (int j = 0; j < n; ++j)
			A[i][j] = spatial_dot(S[i], S[j]) + (i == j ? damping : 0);
	}
	solve_small(n, A, x);
}

void joint_solve_speeds(const CalJointDef *def, const double *q, spatial V, double *u) {
	spatial S[CAL_JOINT_MAX_DOF];
	dpose X;
	const int n = joint_speed_count(def);
	joint_evaluate(def, q, &X, S);
	least_squares(n, S, V, 0, u);
	spatial left = V; // once more with what is left, since the normal equations square the condition
	double more[CAL_JOINT_MAX_DOF];
	for (int k = 0; k < n; ++k)
		left = spatial_madd(left, -u[k], S[k]);
	least_squares(n, S, left, 0, more);
	for (int k = 0; k < n; ++k)
		u[k] += more[k];
}

/* ---- coordinates ---------------------------------------------------------------------------------------- */

/* From the pose at q to X: turn and displacement in F. */
static spatial pose_difference(const dpose *at, const dpose *X) {
	const dvec3 turn = dquat_log(quat_of_matrix(dmat_mul(X->R, dmat_transpose(at->R))));
	const dvec3 shift = dadd(X->r, dscale(-1, at->r));
	return (spatial){vec_from(turn), vec_from(shift)};
}

static double pose_error(spatial e) { return fmax(sqrt(dot(e.a, e.a)), sqrt(dot(e.l, e.l))); }

/* Steps of Newton from q; returns what is left. */
static double gauss_newton(const CalJointDef *def, const dpose *X, double *q) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element), n = joint_speed_count(def), nq = joint_coordinate_count(def);
	double damping = 1e-2, trial[CAL_JOINT_MAX_COORDS] = {0};
	dpose at;
	spatial S[CAL_JOINT_MAX_DOF];
	joint_evaluate(def, q, &at, S);
	spatial e = pose_difference(&at, X);
	for (int k = 0; k < ITERATIONS && pose_error(e) > 0 && damping < 1e6; ++k) {
		double dq[CAL_JOINT_MAX_DOF];
		int u = 0, c = 0;
		least_squares(n, S, e, damping, dq);
		for (int i = 0; i < count; ++i) {
			const PrimitiveData data = {element[i].pitch, def->ops, def->ops_data};
			primitive_integrate(element[i].motion, &data, q + c, dq + u, trial + c);
			u += primitive_u_count(element[i].motion, def->ops);
			c += primitive_q_count(element[i].motion, def->ops);
		}
		joint_evaluate(def, trial, &at, S);
		const spatial next = pose_difference(&at, X);
		const int better = spatial_dot(next, next) < spatial_dot(e, e);
		damping = better ? damping * 1e-2 : fmax(damping, 1e-10) * 10;
		if (better) {
			memcpy(q, trial, sizeof(double) * (size_t)nq);
			e = next;
		} else {
			joint_evaluate(def, q, &at, S);
		}
	}
	return pose_error(e);
}

/* Displacements that share no pattern; the first is none. */
static void set_start(const CalJointDef *def, int start, double *q) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	double phase = 0.38 * start;
	for (int i = 0; i < count; ++i) {
		const PrimitiveData data = {element[i].pitch, def->ops, def->ops_data};
		double dq[CAL_JOINT_MAX_DOF], neutral[CAL_JOINT_MAX_COORDS] = {0};
		primitive_neutral(element[i].motion, &data, neutral);
		for (int k = 0; k < primitive_u_count(element[i].motion, def->ops); ++k) {
			phase = fmod(phase + 0.61803398874989485, 1.0);
			dq[k] = start ? 5 * (phase - 0.5) : 0;
		}
		primitive_integrate(element[i].motion, &data, neutral, dq, q);
		q += primitive_q_count(element[i].motion, def->ops);
	}
}

static void solve_by_iteration(const CalJointDef *def, const dpose *X, double *q) {
	const size_t size = sizeof(double) * (size_t)joint_coordinate_count(def);
	double least = INFINITY, trial[CAL_JOINT_MAX_COORDS] = {0};
	for (int start = 0; start < STARTS && least > 1e-12; ++start) {
		set_start(def, start, trial);
		const double left = gauss_newton(def, X, trial);
		if (left < least) {
			least = left;
			memcpy(q, trial, size);
		}
	}
}

double joint_solve_pose(const CalJointDef *def, const dpose *X, double *q) {
	const JointType *type = joint_type(def->type);
	dpose at;
	if (type->solve)
		type->solve(def, X, q);
	else
		solve_by_iteration(def, X, q);
	joint_evaluate(def, q, &at, NULL);
	return pose_error(pose_difference(&at, X));
}

#endif
