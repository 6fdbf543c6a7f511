// SPDX-License-Identifier: Apache-2.0
/*
 * work.h — the workspace: everything that an evaluation computes, in one block sized by the model.
 *
 * World axes throughout; a link's quantities refer to its origin. `stage` says what is valid. The struct
 * is over `real`: the same source serves one state or CAL_LANES of them.
 */
#ifndef CALDER_MODEL_WORK_H
#define CALDER_MODEL_WORK_H

#include "math/wide.h"
#include "model/model.h"

enum {
	STAGE_POSE = 1,         // R, r, S and Phi
	STAGE_VELOCITY = 2,     // w, velocity and position of the origins
	STAGE_BIAS = 4,         // al, a: accelerations at udot = 0 (shifted by -work->gravity)
	STAGE_ACCELERATION = 8, // A: what udot adds to them
	STAGE_FACTOR = 16,      // gain, D_inv, articulated inertias
	STAGE_CLOSED = 32,      // constraint equations at CalWork.factored_q, or by cut joints their factor
	STAGE_REACTION = 64,    // reactions of the bodies
	STAGE_INWARD = 128,     // all of a forward dynamics but its last sweep (dynamics/forward_halves.h)
	STAGE_SWEPT = 256,      // the outward sweep of a forward dynamics at swept_q, swept_u (kinematics_begin())
	STAGE_REACHED = 512,    // poses and velocities at swept_q, swept_u (kinematics_reach())
};

typedef struct LinkWork {
	mat3 R;  // orientation
	vec3 r;  // from the parent's origin to this one
	vec3 w;  // angular velocity
	vec3 al; // angular acceleration at udot = 0 (or with the prescribed part)
	vec3 a;  // acceleration of the origin at udot = 0 (or with the prescribed part), minus gravity
	union {
		vec3 W[3]; // outward, then inward: field of accelerations, a TrioField
		spatial A; // last: acceleration that udot adds
	};
	real pad[2]; // vectors are stored four numbers at a time, in the order of addresses (math/trio.h)
} LinkWork;

/*
 * A degree of freedom in the recursion. gain refers to the link's own origin. A forward dynamics keeps other
 * things here for two kinds of links, which its last sweep wants (articulated.c): for a free rotation the gain at the
 * parent's origin; for the three rotations of a free ball or free root X = I^-1 H in gain.l, by cyclic diagonals, and g in
 * gain.a of the first; for the translations of a free root its acceleration in gain.a of the first.
 */
typedef struct DofWork {
	spatial gain; // gain M^ S / D; of a prescribed degree of freedom: M^ S itself
	real eps;     // tau - S'b
	real D_inv;   // 1 / D; of a prescribed degree of freedom: 0
} DofWork;

/* Accumulator of the inward sweeps. */
typedef struct ArticulatedBody {
	ArticulatedInertia M;
	spatial b;
} ArticulatedBody;

/* A link in its own axes: what inverse dynamics works on. Vectors are stored in this order, each with the number after it. */
typedef struct LocalWork {
	vec3 Qd, Qn, Qp; // orientation in the parent link, by cyclic diagonals (math/trio.h)
	vec3 d;          // origin in the parent link; of rotations and balls that of the model
	vec3 w;          // angular velocity; as the next two of links with more than one child
	vec3 al;         // angular acceleration
	vec3 a;          // acceleration of the origin, minus gravity
	vec3 n, f;       // moment and force that this link and all outboard of it need, at its origin
	real unused;     //
} LocalWork;

/* A rigid inertia about a link's origin: what a link and all outboard of it weigh as one body. */
typedef struct Composite {
	real m;     // mass [kg]
	vec3 mc;    // first moment sum m r [kg m]
	sym3 Sigma; // second moment sum m r r' [kg m^2]
} Composite;

/* A joint on a flexible body whose modes are eliminated by flexible_linear.c. */
typedef struct FlexPort {
	double G[6][8]; // inertia of what is outboard of it, then G' of it; two columns of zeros
	double b[8];    // force that it needs, and two zeros
} FlexPort;

/* Shapes and slopes of a node times eta and eta_dot, in B, and the coefficients of its turn (flexbody/flex_pose.h). */
typedef struct NodeSums {
	vec3 t, rho;            // psi eta, phi eta
	vec3 rate, v;           // psi eta_dot, phi eta_dot
	real a, b, c, b_s, c_s; //
} NodeSums;

/* A flexible body in one evaluation; world axes, at the origin of its link. Rows over modes: math/pack.h. */
typedef struct FlexWork {
	real *E;                        // [6][n] force per modal acceleration: own, then with what outboard links add
	real *Y;                        // [6][n] scratch; of four free modes then columns of L'^-1
	real *K;                        // [6][n] gains: what is left of E_k when its turn comes, over D_k
	real *be;                       // [n] modal forces needed at udot = 0, then with what outboard links add
	real *y;                        // [n] L^-1 (be - tau)
	real *inverse;                  // [n] 1/D; of a prescribed mode 0
	real *x;                        // [n] modal accelerations beyond the prescribed ones
	real *M;                        // [m][n] modal mass, then L (flexible.c)
	real *eta, *eta_dot, *eta_ddot; // [n] as evaluated; eta_ddot: the prescribed part
	real *left, *diagonal;          // [n] of the elimination: modes to come, and M_kk at the start
	real *weight;                   // [n] of the linear elimination
	real *scratch;                  // [3][n]
	int given, accelerated;         // some mode is prescribed; some of eta_ddot is given
	int by_ports;                   // modes are eliminated by flexible_linear.c in this evaluation
	int fused;                      // node and modes are taken at once, inward
	int lazy;                       // own terms are formed inward, at the next flexible body, which is fused too
	NodeSums kept;                  // of the one NODE that base_path_outward() passed; Link.interface says which
	FlexPort *port;                 // [ports], of the linear elimination as all that follows
	double *W, *Q;                  // [6 ports][row of 6 ports]
	double *X, *R;                  // [6 ports][8]
	double *user;                   // [13 m + m m] numbers of the functions of a link of the caller's own
	real *user_columns;             // [nodes][6][n] of its nodes, world axes
	void *user_scratch;             // of these functions
	Composite own;                  // inertia of the body, and in most sweeps of all that the link carries
	spatial b;                      // force that it needs
} FlexWork;

enum { LOOP_STRIDE = 8, LOOP_BLOCK = CAL_LOOP_MAX_ROWS * LOOP_STRIDE }; // of the rows of blocks between two loops

/*
 * A constraint whose point hardly moves along its direction, whatever moves, is singular. Next to such a position, at an
 * angle e, positions that are right to 1e-16 leave accelerations wrong by 1e-16/e^2; without it, they are wrong by any amount.
 * A fixed step seldom meets it: the equation is left out where nothing is right any more, within 1e-7. A step that is adapted
 * to errors would shrink in the noise around it, and instead takes steps across a window of 1e-4 without it.
 */
#define LOOP_SINGULAR 1e-14
#define LOOP_SINGULAR_ADAPTIVE 1e-8

/* A loop that was eliminated where it closes (dynamics/loop/loop_elimination.c): its independent equations, or combinations. */
typedef struct LoopFactor {
	int rows, count; // of the loop; of those kept
	int mixed;       // they are combinations Q of equations
	int dropped;     // how many of them are redundant, with other loops
	int held;        // as many were independent when hold_rank was last clear; all, unless the rest was round-off
	int row[CAL_LOOP_MAX_ROWS];      // independent equations, in the order of elimination
	double pivot[CAL_LOOP_MAX_ROWS]; // D, 0: dropped
	double inverse[CAL_LOOP_MAX_ROWS];
	double y[CAL_LOOP_MAX_ROWS]; // L^-1 Q'beta
	double L[CAL_LOOP_MAX_ROWS * LOOP_STRIDE];
	double Q[CAL_LOOP_MAX_ROWS * LOOP_STRIDE]; // rows by combinations
	spatial A[CAL_LOOP_MAX_ROWS];              // L^-1 Q'Gamma'
} LoopFactor;

/* What gains of a loop's rows might be. */
typedef struct LoopScale {
	double most, least; // of lever^2/D of the free columns of joints on its path
	int modes;          // there are modes on its path too
	double turn, both,
		arm; // sums over the free columns on its path, over D: turn^2, turn lever, lever^2 (loop_sweep.c)
} LoopScale;

/* What the joints of a cluster of loops do under a unit force along them, speeds in their units [1/(kg m^2)]. */
typedef struct LoopMobility {
	double most, least; // 1/D
	double moved;       // the largest of M^-1 on the diagonal
} LoopMobility;

/* Accelerations and multipliers of twice the digits, and what they leave of the equations (dynamics/loop/loop_residual.c). */
typedef struct LoopRefined {
	Twofold *udot, *lambda; // [n], [m] so far
	wide6 *A, *f;      // [links] what udot adds to accelerations; forces needed, those of all outboard added inward
	spatial *external; // [links] wrenches that are applied
	double *tau;       // [n] forces that are applied
	double *residual;  // [n] of the equations of motion
	double *force;     // [n] what a correction does to forces of what is prescribed
} LoopRefined;

/* What compliances of the equations of a loop have been and might be (dynamics/loop/loop_coupled.c). */
typedef struct CoupledScale {
	double whole[CAL_LOOP_MAX_ROWS];   // compliances before other loops took of them
	double natural[CAL_LOOP_MAX_ROWS]; // what they would be, if each column moved the point along its direction
	double most, least;                // of lever^2/D of the columns
} CoupledScale;

/* Links and loops in an order in which few are coupled (model/coupled_plan.h): K x + h = 0. */
typedef struct CoupledWork {
	double *diagonal;    // [links + loops] COUPLED_BLOCK
	double *h, *x;       // [links + loops] COUPLED_SIZE
	double *block;       // [blocks] COUPLED_BLOCK
	double *factor;      // [factor_count] gains of columns; factors of loops
	CoupledScale *scale; // [loops]
} CoupledWork;

/* What the factors of the last sweep with loops were made with, so that another one at the same positions finds them in place. */
typedef struct LoopKept {
	double *q;                   // [nq]
	spatial *direction;          // [m] of the rows
	uint8_t *prescribed;         // [n]
	int valid;                   // there are such factors
	int prescribes, accelerates; // dofs were prescribed, their accelerations given
	CpuIsa isa;
	int hold_rank;
	double singular;
	int doubtful, uneven, hopeless, unsatisfied; // what they have shown
} LoopKept;

/* Loops in one evaluation: m rows, n speeds. World axes. */
typedef struct LoopWork {
	const LoopSchedule *plan; // of the last sweep, where loops are eliminated
	const CalWork *whole;     // that it is a part of, from then on
	LoopRow *row;             // [m]
	vec3 *point;              // [loops] where their wrenches act
	double *G, *X;            // [m][n] of each block (model/loop_blocks.h): Jacobian, and M^-1 G' by rows
	double *Lambda;           // [m][m] of each block: G M^-1 G', then its factor
	double *z, *lambda;       // [m]
	double *scratch;          // [(m + 2) m] of each block, of the solve
	double *gathered;         // [2 m] right-hand side and solution, block after block
	int *block_rank;          // [blocks]
	double *q, *dq;           // [nq], [n] of a projection
	double *factored_q;       // [nq] of cal_mass_factor() and cal_closed_factor()
	double *rest;             // [n] zeros: speeds at rest
	double time;              // of the rows of cal_closed_factor()
	double *at, *base;        // [nq] of loop_search.c
	double *unit;             // [m] of the rows (Loop.unit), block after block
	int *order;               // [m] of each block: its rows by pivot
	// of loops that are eliminated where they close; rows with padding (model/loop_plan.h)
	double *gamma;              // wrenches of rows on the links that they reach, at the link's origin
	double *gain;               // S'gamma for each column of a joint
	double *modal, *modal_tiny; // the same for each mode of a body; what of it is nothing but round-off
	double *own;                // [loops] LOOP_BLOCK: compliance of the equations of a loop
	double *taken;              // [loops] what is gone of it with the loops eliminated before
	double *block;              // compliance between two loops, rows of the one eliminated first
	double *beta;               // acceleration of the rows at lambda = 0
	double *force;              // lambda
	double *tiny, *tiny_slide;  // gains that are nothing but round-off: of a rotation, of a translation
	double *natural;            // `own` of rows, if all modes moved them along their directions, times LOOP_ROUND_OFF^2
	LoopScale *scale;           // [loops]
	double *null;               // [5] scratch of the smallest lambda
	double *change;             // what that changed
	LoopFactor *factor;         // [loops]
	double singular;            // part of what the compliance of a row might be, below which the row is left out
	int hold_rank;              // equations that were redundant when it was clear stay so
	int dropped;                // combinations of rows that follow from other loops
	int doubtful;               // some rows that were kept have little left: accelerations are to be refined
	int uneven;                 // inertias along a loop differ somewhat (1) or by much (2): perhaps they are, too
	int hopeless;               // so little that nothing can be trusted
	int unsatisfied;            // some equation cannot be eliminated well on its early place
	int held;                   // this sweep is made with the factors of the last one
	LoopKept kept;              // of these
	int late;                   // nonzero: sweeps are made without early places (LoopSchedule.late)
	int motion_known;           // `motion` is that of this evaluation
	ArticulatedInertia *motion; // [links] of loop_early.c, where loops have early places
	LoopMobility *mobility;     // [loops] of their clusters, of loop_compliance.c
	LoopRefined refined;        // of loop_refine.c
	CoupledWork coupled;        // of loop_coupled.c
	double error;         // of accelerations and multipliers, relative, as far as there was a doubt; 0: there was none
	double worst;         // the largest of those that were accepted, since it was last set to 0
	int *column;          // [m] of the elimination in loop_mobility.c
	uint8_t *independent; // [m]
	int rank;
	int acting; // lambda is among the external forces

	const double *weight; // [n] W of a Euclidean projection, NULL: 1
} LoopWork;

/* How a link is passed: a free hinge without modes, the same where r is zero, a free ball, a free root, all others. */
enum { COLUMN_WAY_HINGE, COLUMN_WAY_IN_PLACE, COLUMN_WAY_BALL, COLUMN_WAY_FREE, COLUMN_WAY_ANY };

/* A link of the factored mass matrix as the sweeps over columns read it again and again (dynamics/tree/columns.c). */
typedef struct ColumnLink {
	int32_t parent; // link index, -1: ground
	int32_t row;    // of its first dof in ColumnWork.x
	int32_t way;    // COLUMN_WAY_*
	int32_t kept;   // children other than the next link need its acceleration
	vec3 r;         // from the parent's origin to this one
	vec3 z;         // of a hinge, as all that follows: its axis
	spatial gain;   //
	real D_inv;     //
	real unused;    // to two cache lines
} ColumnLink;

/* Four right-hand sides side by side: rows of four numbers. */
typedef struct ColumnWork {
	ColumnLink *link; // [link_count + 1]
	double *x;        // [nu][4] right-hand sides, then residual forces, then solutions
	double *modal;    // [nu][4] forces that outboard links need from modes; NULL: there are no modes
	double *motion;   // [link_count][6][4] inward: force that a link and all outboard of it need; outward: acceleration
	int *links;       // [link_count] a list of links: those on a path, or flags
} ColumnWork;

struct CalWork {
	const CalModel *model;
	void *memory;                  // to be freed, or NULL
	int stage;                     // bits of STAGE_*
	int failed_dof;                // degree of freedom of the last numerical failure, -1: none
	dvec3 gravity;                 // what was subtracted from a
	LinkWork *links;               // [link_count], and links[-1]: the ground
	LocalWork *local;              // [link_count], and local[-1]: the ground
	DofWork *dofs;                 // [nu]
	ArticulatedBody *accumulators; // [accumulator_count]
	spatial *columns; // [nu] S, world axes, about the link's origin: of the motions that link_column() does not know
	real *sine, *cosine, *angle;     // [trig_count]
	spatial *force;                  // [link_count] external wrenches, then scratch of the force sweeps
	vec3 *position;                  // [link_count] of the origins (kinematics only)
	vec3 *velocity;                  // [link_count] of the origins (kinematics only)
	double *swept_q, *swept_u;       // [nq], [nu] of STAGE_SWEPT and STAGE_REACHED
	real *tau;                       // [nu] total applied generalized force
	uint8_t *all_prescribed;         // [nu] ones
	double *rotor;                   // [nu] of an implicit step
	double *jump;                    // [4 nu + rows] of an impulse
	uint8_t *held;                   // [nu] of an impulse, and of cal_closed_factor()
	const uint8_t *closed_held;      // `held`, or NULL: none are held (STAGE_CLOSED)
	double closed_step;              // > 0: the same with M + h D + h^2 K, whose joints are in `rotor`
	double implicit_step;            // > 0: modal mass includes h D + h^2 K
	real *rhs;                       // [nu]
	ArticulatedInertia *articulated; // [link_count] after cal_mass_factor
	Composite *composite;            // [link_count] of the mass matrix
	FlexWork *flex;                  // [flex_count]
	real *modal_columns; // [modal_columns] Phi of FLEX and NODE links, six rows each, world axes, at the link's origin
	spatial *reaction;   // [body_count]
	ColumnWork column;   // of a single state, nothing with lanes
	LoopWork loops;
	real *dense; // [nu (nu + 1)] dense solver: matrix and right-hand side; NULL if recursive
};

size_t LANED(work_size)(const CalModel *model);
CalStatus LANED(work_init)(const CalModel *model, void *memory, size_t size, CalWork **work);
/** The same in memory that is zero, of which nothing is touched before it is needed. */
CalStatus LANED(work_init_zeroed)(const CalModel *model, void *memory, size_t size, CalWork **work);

/* Column k of S of link i: world axes, about its origin. */
INLINE spatial link_column(const CalWork *work, const Link *link, int i, int k) {
	const mat3 *R = &work->links[i].R;
	if (link->motion == PRIMITIVE_ROTATION)
		return (spatial){R->z, vec_zero()};
	if (link->motion == PRIMITIVE_TRANSLATION)
		return (spatial){vec_zero(), R->z};
	if (link->motion == PRIMITIVE_SPHERICAL)
		return (spatial){k == 0 ? R->x : k == 1 ? R->y : R->z, vec_zero()};
	return work->columns[link->u + k];
}

/* The frame before a link's own motion: parent's R times E. */
INLINE mat3 link_inboard(const Link *link, const mat3 *R) {
	if (LIKELY(link->pure_rx)) { // E = Rx: mixes two columns
		const double c = link->E.y.y, s = link->E.y.z;
		return (mat3){R->x,
		              {R->y.x * c + R->z.x * s, R->y.y * c + R->z.y * s, R->y.z * c + R->z.z * s},
		              {R->z.x * c - R->y.x * s, R->z.y * c - R->y.y * s, R->z.z * c - R->y.z * s}};
	}
	return mat_mul_dmat(*R, link->E);
}

#endif
