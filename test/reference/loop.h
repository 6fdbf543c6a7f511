// SPDX-License-Identifier: Apache-2.0
/*
 * loop.h — closed loops and other constraints of a RefModel: what each of them means.
 *
 * A loop ties frame A to frame B; each is fixed in a node (of any body or of the ground). With a_i, b_i their
 * axes, rho = r_B - r_A, d = R_A' rho and S = R_A' R_B (S_ij = a_i . b_j), its rows g = 0 are, in this order:
 *
 *   translation along axis k of A, for each k of a set in the order x, y, z:           d_k
 *   rotation, three axes locked (S is symmetric):      (S32 - S23)/2, (S13 - S31)/2, (S21 - S12)/2
 *   rotation, two locked, free axis f common to A and B (k locked):  component k of (e_f x S e_f);
 *                                                  x,y: -S23, S13    y,z: -S31, S21    x,z: S32, -S12
 *   rotation, one locked (Hooke, the two free axes i of A and j of B at a right angle):  S_ij;
 *                                                  z: S12    x: S23    y: S31
 *
 * type          rows                                                                        multiplier
 * weld          translation xyz, rotation xyz                                               3 N, 3 N m
 * prismatic     translation xy, rotation xyz (slides along z)                               2 N, 3 N m
 * revolute      translation xyz, rotation xy (turns about z)                                3 N, 2 N m
 * cylindrical   translation xy, rotation xy (turns about and slides along z)                2 N, 2 N m
 * universal     translation xyz, rotation z (turns about x of A and y of B)                 3 N, 1 N m
 * point         translation xyz (a ball joint)                                              3 N
 * inplane       translation z (the origin of B in the xy plane of A)                        N
 * planar        translation z, rotation xy (slides in xy, turns about z)                    N, 2 N m
 * directions    any set of translations and of rotations
 * screw         d_x, d_y, d_z - pitch theta, -S23, S13 with theta as for angle              3 N, 2 N m
 * angle         theta = atan2(S21 - S12, S11 + S22), the twist of B about z; modulo 2 pi    N m
 * distance      |rho| - length                                                              N
 * coupling      sum of factor times coordinate (joint angles and lengths, modal ones): gears, one locked dof
 * knife         A alone: a_y . v(r_A) = 0; no position row                                  N
 * disk          B is a disk about z_B with its center at r_B, which rolls on the plane z of A: c = r_B - radius p,
 *               p the direction of a_z - (a_z . b_z) b_z; rows a_k . v_rel(c) = 0, k = x, y, z, where v_rel(c) is
 *               the velocity of the point of B at c less that of the point of A there. x and y have no position
 *               row; that of z is d_z - radius sqrt(1 - S33^2).                              3 N
 * ball          the same for a sphere: p = a_z, position row d_z - radius
 *
 * A row may be driven: g - s(t) = 0. The names follow: residual = g - s (0 for rows without position), rate = its
 * derivative (velocity rows: a . v - s'), G = d rate/d u, and gamma = -(dG/dt) u + s'', so that G udot = gamma.
 * Stabilised, the right-hand side is gamma - 2 damping frequency rate - frequency^2 residual.
 * A multiplier lambda acts with the generalized force G' lambda: on B as a wrench at r_B, on A as the opposite
 * wrench at the same point.
 */
#ifndef TEST_REFERENCE_LOOP_H
#define TEST_REFERENCE_LOOP_H

#include <calder/base.h>

#include <stdint.h>

/*
 * X(type, name in the library, axes of A locked in translation and in rotation, equations that are not of axes).
 * Random draws depend on the order: new types go to the end.
 */
#define REF_LOOP_TYPE_LIST(X)                                               \
	X(REF_LOOP_WELD, "weld", REF_XYZ, REF_XYZ, 0)                           \
	X(REF_LOOP_PRISMATIC, "prismatic", REF_X | REF_Y, REF_XYZ, 0)           \
	X(REF_LOOP_REVOLUTE, "revolute", REF_XYZ, REF_X | REF_Y, 0)             \
	X(REF_LOOP_CYLINDRICAL, "cylindrical", REF_X | REF_Y, REF_X | REF_Y, 0) \
	X(REF_LOOP_UNIVERSAL, "universal", REF_XYZ, REF_Z, 0)                   \
	X(REF_LOOP_SPHERICAL, "spherical", REF_XYZ, 0, 0)                       \
	X(REF_LOOP_INPLANE, "inplane", REF_Z, 0, 0)                             \
	X(REF_LOOP_PLANAR, "planar", REF_Z, REF_X | REF_Y, 0)                   \
	X(REF_LOOP_DIRECTIONS, "directions", 0, 0, 0)                           \
	X(REF_LOOP_SCREW, "screw", REF_XYZ, REF_X | REF_Y, 0)                   \
	X(REF_LOOP_ANGLE, "angle", 0, 0, 1)                                     \
	X(REF_LOOP_DISTANCE, "distance", 0, 0, 1)                               \
	X(REF_LOOP_COUPLING, "coupling", 0, 0, 1)                               \
	X(REF_LOOP_KNIFE, "knife", 0, 0, 1)                                     \
	X(REF_LOOP_DISK, "disk", 0, 0, 3)                                       \
	X(REF_LOOP_BALL, "ball", 0, 0, 3)

typedef enum RefLoopType {
#define REF_LOOP_TYPE_ENUM(type, name, translation, rotation, other) type,
	REF_LOOP_TYPE_LIST(REF_LOOP_TYPE_ENUM)
#undef REF_LOOP_TYPE_ENUM
		REF_LOOP_TYPE_COUNT
} RefLoopType;

enum { REF_X = 1, REF_Y = 2, REF_Z = 4, REF_XYZ = 7 }; // sets of axes of A
enum { REF_LOOP_MAX_ROWS = 6, REF_LOOP_MAX_TERMS = 4 };

/* s(t) = offset + speed t + acceleration t^2/2 + amplitude sin(frequency t + phase) */
typedef struct RefDrive {
	double offset, speed, acceleration;
	double amplitude, frequency, phase;
} RefDrive;

/* A coordinate by the name of its body, so that it does not depend on the order of the bodies. */
typedef struct RefTerm {
	char body[32];
	int dof; // speeds of the joint, then modal ones; not of a ball
	double factor;
} RefTerm;

typedef struct RefLoop {
	char name[32];
	RefLoopType type;
	int node_a, node_b;            // -1: the ground's origin
	CalPlacement frame_a, frame_b; // A and B in the frames of their nodes
	int translation, rotation;     // DIRECTIONS: sets of axes
	double pitch;                  // SCREW [m/rad]
	double length;                 // DISTANCE, > 0 [m]
	double radius;                 // DISK, BALL [m]
	int term_count;                // COUPLING
	RefTerm term[REF_LOOP_MAX_TERMS];
	RefDrive drive[REF_LOOP_MAX_ROWS];
	double frequency, damping; // stabilisation [rad/s], [-]; 0: none
	CalSpatial applied_wrench; // wrench of a spring or motor on B at r_B, axes of A; the opposite one on A
} RefLoop;

int ref_loop_row_count(const RefLoop *l);
/** The sets of a loop that is given by directions (a screw: of the revolute it is made from); both 0 for others. */
void ref_loop_directions(const RefLoop *l, int *translation, int *rotation);
/** "revolute" and so on. */
const char *ref_loop_type_name(RefLoopType type);

/* Results of a solution with loops; any pointer may be NULL. */
typedef struct RefSolution {
	double *udot;          // [nu]
	double *lambda;        // [rows] of minimum Euclidean norm
	double *constraint;    // [nu] G' lambda
	double *prescribed;    // [nu] what prescribed speeds need beyond input->tau, 0 for the others
	double *mismatch;      // [rows] G udot - right-hand side: zero unless rows contradict each other
	double *redundancy;    // [rows] squared length of the part of each row's unit vector in the null space of G'
	int rank;              // of G over the free speeds
	double rank_tolerance; // given: smallest part of the largest eigenvalue that counts, 0: the usual
	double kept;           // smallest eigenvalue of G M^-1 G' that counts, over the largest (1 without rows)
	double dropped;        // largest one that does not (0: none)
} RefSolution;

typedef enum RefWeight { REF_EUCLIDEAN, REF_MASS } RefWeight;

/* Result of a projection on the constraints. */
typedef struct RefProjection {
	int iterations;
	double residual; // largest |residual| or |rate| left
	int rank;
} RefProjection;

/* Forces of a loop, world axes: on A at its origin and on B at its own. */
typedef struct RefLoopForce {
	CalVec3 point_a, point_b;
	CalSpatial on_a, on_b;
} RefLoopForce;

#endif
