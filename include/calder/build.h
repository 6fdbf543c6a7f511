// SPDX-License-Identifier: Apache-2.0
/*
 * calder/build.h — the description: what the user edits before a model is compiled.
 *
 * A description holds groups, bodies, nodes on bodies, and attachments (node - joint - node).
 * Nothing is derived here; cal_desc_check() and cal_model_compile() say what is wrong with it.
 * Ids are values; {0} is "none" (for nodes and bodies: the ground). They stay valid as long as
 * the description lives, whatever is added later.
 */
#ifndef CALDER_BUILD_H
#define CALDER_BUILD_H

#include <calder/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalDesc CalDesc;

typedef struct CalGroupId {
	uint32_t value;
} CalGroupId;
typedef struct CalBodyId {
	uint32_t value;
} CalBodyId;
typedef struct CalNodeId {
	uint32_t value;
} CalNodeId;
typedef struct CalJointId {
	uint32_t value;
} CalJointId;
typedef struct CalLoopId {
	uint32_t value;
} CalLoopId;

/** How a group is propagated, with its name in files. In a run: cal_sim_set_propagation() (calder/transition.h). */
#define CAL_PROPAGATION_LIST(X)                                                                \
	X(CAL_PROPAGATE_FLEXIBLE, "flexible")   /* joints and modes move by the dynamics */        \
	X(CAL_PROPAGATE_RIGID, "rigid")         /* modes are prescribed: they keep their values */ \
	X(CAL_PROPAGATE_KINEMATIC, "kinematic") /* everything is prescribed: speeds stay, nothing moves it */
typedef enum CalPropagation {
#define CAL_PROPAGATION_ENUM(name, text) name,
	CAL_PROPAGATION_LIST(CAL_PROPAGATION_ENUM)
#undef CAL_PROPAGATION_ENUM
		CAL_PROPAGATION_COUNT
} CalPropagation;
CAL_API const char *cal_propagation_name(CalPropagation propagation); // as in files; NULL: there is none

/** A group: one independent system in one gravity field, compiled to one CalModel. */
typedef struct CalGroupDef {
	const char *name;           // required, unique among groups
	CalVec3 gravity;            // uniform gravitational acceleration [m/s^2]
	CalPropagation propagation; //
	const char *place;          // where it was defined ("arm.yaml:12:3"), for messages; may be NULL
} CalGroupDef;

/** A rigid body. */
typedef struct CalBodyDef {
	const char *name;  // required, unique among bodies
	CalGroupId group;  // {0}: the default group
	double mass;       // [kg], >= 0
	CalVec3 com;       // center of mass in the body frame [m]
	CalMat3 inertia;   // about the center of mass, body axes, I = +sum m(r.r 1 - r r') [kg m^2]
	int idealized;     // nonzero: a triangle inequality that is violated is a warning (textbook tops)
	const char *place; // for messages; may be NULL
} CalBodyDef;

/** A frame fixed on a body (or on the ground): joints, loads and outputs refer to nodes. */
typedef struct CalNodeDef {
	const char *name;       // required, unique on its body
	CalPlacement placement; // in the body frame
	const char *place;      // for messages; may be NULL
} CalNodeDef;

/*
 * The joint types: the name in C and that in files, which is also the name of the file in src/joint that says all about
 * it. The numbers are in checkpoints: append only.
 */
#define CAL_JOINT_TYPE_LIST(X)            \
	X(CAL_JOINT_WELD, weld)               \
	X(CAL_JOINT_REVOLUTE, revolute)       \
	X(CAL_JOINT_PRISMATIC, prismatic)     \
	X(CAL_JOINT_SCREW, screw)             \
	X(CAL_JOINT_UNIVERSAL, universal)     \
	X(CAL_JOINT_CYLINDRICAL, cylindrical) \
	X(CAL_JOINT_PLANAR, planar)           \
	X(CAL_JOINT_SPHERICAL, spherical)     \
	X(CAL_JOINT_FREE, free)               \
	X(CAL_JOINT_SEQUENCE, sequence)       \
	X(CAL_JOINT_USER, user)               \
	X(CAL_JOINT_PIN_SLOT, pin_slot)

typedef enum CalJointType {
#define CAL_JOINT_TYPE_ENUM(name, text) name,
	CAL_JOINT_TYPE_LIST(CAL_JOINT_TYPE_ENUM)
#undef CAL_JOINT_TYPE_ENUM
		CAL_JOINT_TYPE_COUNT
} CalJointType;

/** "revolute" for CAL_JOINT_REVOLUTE; NULL for a value outside the list. */
CAL_API const char *cal_joint_type_name(CalJointType type);

/** Members of CalJointDef that a type uses. */
enum {
	CAL_JOINT_USES_AXIS = 1,
	CAL_JOINT_USES_AXIS2 = 2,
	CAL_JOINT_USES_PITCH = 4,
	CAL_JOINT_USES_ELEMENTS = 8,
	CAL_JOINT_USES_OPS = 16,
};

/** What a joint type is, for readers, writers and pages. */
typedef struct CalJointTypeInfo {
	const char *coordinates; // what q is, in a few words
	const char *speeds;      // what u is
	int uses;                // set of CAL_JOINT_USES_*
	int elementary;          // nonzero: may be an element of a sequence
	int reversible;          // nonzero: with its sides exchanged, its coordinates keep order and meaning
	// Their names, separated by blanks; "": none; NULL: they depend on the joint (cal_joint_coordinate)
	const char *coordinate_names, *speed_names;
} CalJointTypeInfo;
CAL_API CalStatus cal_joint_type_info(CalJointType type, CalJointTypeInfo *info);

enum {
	CAL_JOINT_MAX_DOF = 6,      // degrees of freedom of one joint
	CAL_JOINT_MAX_COORDS = 7,   // coordinates of one joint
	CAL_JOINT_MAX_ELEMENTS = 6, // elements of a sequence
};

/** One element of a sequence joint: acts in the frame left by the one before it. */
typedef struct CalElement {
	CalJointType type; // REVOLUTE, PRISMATIC, SCREW or SPHERICAL
	CalVec3 axis;      // in the running frame; normalized when read
	double pitch;      // SCREW: advance per angle [m/rad]
} CalElement;

/** Properties of one degree of freedom. Zero-initialized: free, no spring, no damper, no rotor. */
typedef struct CalDofDef {
	double stiffness;     // [N m/rad] or [N/m], >= 0: force -stiffness (q - rest)
	double rest;          // rest position [rad] or [m]; of a spherical joint: rotation vector components
	double damping;       // [N m s/rad] or [N s/m], >= 0: force -damping u
	double rotor_inertia; // of the motor rotor about its own axis [kg m^2] (kg for a linear motor), >= 0
	double gear_ratio;    // rotor speed over joint speed; 0 means 1
	int prescribed;       // nonzero: the acceleration is given, the force is an output
} CalDofDef;

/**
 * A joint of the caller's own: the motion of the outboard frame J relative to the inboard frame F.
 * Components are in F throughout. V_FJ = [w; v] = S(q) u, with v the velocity of J's origin in F.
 * The functions must be pure, thread-safe and must not allocate.
 */
typedef struct CalJointOps {
	const char *name;                                                  // required
	int nq, nu;                                                        // 0 <= nu <= 6, nu <= nq <= 7
	void (*pose)(const void *data, const double *q, CalPose *X_FJ);    // required
	void (*columns)(const void *data, const double *q, CalSpatial *S); // required: S[nu]
	void (*bias_acceleration)(const void *data, const double *q, const double *u, CalSpatial *Sdot_u); // NULL: zero
	void (*neutral)(const void *data, double *q);                                                      // NULL: zeros
	// q_out = q + dq over the coordinate manifold; required if nq != nu, NULL: plain addition
	void (*integrate)(const void *data, const double *q, const double *dq, double *q_out);
	// dq such that integrate(q0, dq) = q1; required if nq != nu, NULL: plain subtraction
	void (*difference)(const void *data, const double *q0, const double *q1, double *dq);
	// delta_dot for speeds u at integrate(q0, delta); required if nq != nu, NULL: u itself
	void (*rate)(const void *data, const double *delta, const double *u, double *delta_dot);
} CalJointOps;

/** A joint: how the outboard node moves relative to the inboard node. */
typedef struct CalJointDef {
	const char *name;  // required, unique among joints
	CalJointType type; //
	CalVec3 axis;      // in the joint frame; normalized when read; {0}: z
	CalVec3 axis2;     // of types that use it: second axis; {0}: perpendicular to axis, x-like
	double pitch;      // SCREW [m/rad]
	int element_count; // SEQUENCE
	CalElement elements[CAL_JOINT_MAX_ELEMENTS];
	const CalJointOps *ops;           // USER: must outlive every model compiled from the description
	const void *ops_data;             // USER: handed to the functions
	CalPlacement inboard;             // joint frame in the inboard node's frame
	CalPlacement outboard;            // outboard node's frame in the joint's moved frame
	CalDofDef dof[CAL_JOINT_MAX_DOF]; // in the order of the joint's speeds
	const char *place;                // for messages; may be NULL
} CalJointDef;

/** What a coordinate or a speed measures. */
typedef enum CalCoordinateKind {
	CAL_COORDINATE_ANGLE,      // [rad], [rad/s]; angular velocities too
	CAL_COORDINATE_LENGTH,     // [m], [m/s]
	CAL_COORDINATE_QUATERNION, // component of a unit quaternion
	CAL_COORDINATE_MODE,       // modal, in units of the mode shapes
	CAL_COORDINATE_USER,       // of a joint of the caller's own: unit unknown
} CalCoordinateKind;

/** One coordinate or one speed of a joint. Names of a joint's coordinates and speeds are all different. */
typedef struct CalCoordinateInfo {
	char name[24]; // "angle", "x", "qw"; of a speed "rate", "vx", "wx"; in a sequence with its element: "angle2"
	CalCoordinateKind kind;
} CalCoordinateInfo;

/** Number of coordinates and of speeds; -1: the definition is not complete. */
CAL_API int cal_joint_coordinate_count(const CalJointDef *def);
CAL_API int cal_joint_speed_count(const CalJointDef *def);
/** Coordinate or speed i of a joint, from 0. */
CAL_API CalStatus cal_joint_coordinate(const CalJointDef *def, int i, CalCoordinateInfo *info);
CAL_API CalStatus cal_joint_speed(const CalJointDef *def, int i, CalCoordinateInfo *info);

/**
 * How the modes move one node of a flexible body, and the mass that is lumped there. In the body frame B the
 * node sits at p + phi eta (+ eta'phi2 eta) with axes exp([psi eta]x) E, (p, E) its placement.
 */
typedef struct CalFlexNode {
	CalNodeId node;     // a node of the body
	double mass;        // point mass at the node [kg], >= 0
	CalMat3 inertia;    // rotary inertia about the node, constant in B [kg m^2]
	const double *phi;  // [3][modes] translation per modal coordinate; NULL: zero
	const double *psi;  // [3][modes] rotation vector per modal coordinate; NULL: zero
	const double *phi2; // [3][modes][modes] second-order translation (foreshortening); NULL: none
} CalFlexNode;

/**
 * Modal flexibility of a body. Its CalBodyDef is the rigid part, attached to B; every lumped node adds to it.
 * Modal coordinates and speeds follow those of the body's joint in q and u. Force: -stiffness eta - damping eta_dot.
 */
typedef struct CalFlexDef {
	int modes;               // > 0
	const double *stiffness; // [modes][modes] symmetric, positive definite (semidefinite: see unsprung)
	const double *damping;   // [modes][modes]; NULL: none
	int node_count;
	const CalFlexNode *nodes; // [node_count]; nodes that are not listed do not move in B
	double frequency_bound;   // no assembly oscillates faster than this [rad/s]; 0: no bound (docs/flexible.md)
	int unsprung;             // nonzero: deflections that meet no stiffness are meant; otherwise they are an error
	/*
	 * [CAL_FLEX_GEOMETRIC][modes][modes] geometric stiffness per unit acceleration field a + W r in B: of a_x, a_y,
	 * a_z (less gravity), then of W_xx, W_xy, ... W_zz, W = [alpha]x + w w' - w.w 1. It is 2 sum m phi2 and 2 sum m
	 * phi2 p' of the mass whose nodes have no phi2 of their own; NULL: none (docs/flexible.md).
	 */
	const double *geometric;
} CalFlexDef;

enum { CAL_FLEX_GEOMETRIC = 12 }; // matrices of CalFlexDef.geometric

/* ---- links of the caller's own ---- */

/** How the frame B of a link moves, in the axes of B. */
typedef struct CalLinkBase {
	CalVec3 w;  // angular velocity [rad/s]
	CalVec3 al; // angular acceleration [rad/s^2]
	CalVec3 a;  // acceleration of the origin less gravity [m/s^2]
} CalLinkBase;

/** Inertia of a link at q, and the forces that a motion needs; axes of B, about its origin. All zero to begin with. */
typedef struct CalLinkInertia {
	double mass;          // [kg]
	CalVec3 first_moment; // mass times center of mass [kg m]
	CalMat3 inertia;      // about the origin [kg m^2]
	double *E;            // [6 dofs] moment, then force on B per acceleration of the dofs, row-major
	double *M;            // [dofs dofs] mass matrix of the dofs with B held
	CalSpatial force;     // that the motion needs on B while the dofs do not accelerate
	double *dof_force;    // [dofs] that it needs on the dofs; zero at rest: springs are not part of it
} CalLinkInertia;

/** A node of a link at q; axes of B, positions from its origin. All zero to begin with. */
typedef struct CalLinkNode {
	CalPose pose;    // frame of the node in B
	double *S;       // [6 dofs] its velocity in B per speed of the dofs, angular first, at its origin; row-major
	CalSpatial bias; // its acceleration in B at these speeds while the dofs do not accelerate
} CalLinkNode;

/**
 * A link whose columns and inertia are functions of its own coordinates: a mechanism, a gear train, a tank, any SKO link.
 * It is a body whose frame B a joint carries, with dofs of its own (speeds are rates of coordinates) that move its nodes
 * and change its inertia. u NULL: zero. The functions must be pure, thread-safe and must not allocate; scratch is a block
 * of scratch_size bytes for them alone, zeroed when a workspace is made, and must not change what they return. Nonzero:
 * no values here; the evaluation then fails with CAL_NOT_FINITE and names the link.
 */
typedef struct CalLinkOps {
	const char *name; // required
	size_t scratch_size;
	// base NULL: no forces are asked for
	int (*inertia)(const void *data, void *scratch, const double *q, const double *u, const CalLinkBase *base,
	               CalLinkInertia *out); // required
	int (*node)(const void *data, void *scratch, int node, const double *q, const double *u,
	            CalLinkNode *out); // required where there are nodes; index in CalLinkDef.nodes
	// adds the forces of its springs and dampers to force[dofs]; NULL: it has none
	int (*elastic)(const void *data, void *scratch, const double *q, const double *u, double *force);
	double (*potential)(const void *data, void *scratch, const double *q); // of these springs [J]; NULL: none
	// power that these dampers take [W]; NULL: none
	double (*dissipated)(const void *data, void *scratch, const double *q, const double *u);
} CalLinkOps;

typedef struct CalLinkDef {
	int dofs; // > 0
	int node_count;
	const CalNodeId *nodes; // [node_count] nodes of the body that its dofs move; the others stay in B
	const CalLinkOps *ops;  // must outlive every model compiled from the description
	const void *data;       // handed to the functions
} CalLinkDef;

/*
 * The types of loops: the name in C and that in files. src/loop has the constant loop_type_NAME, which says all about it.
 * The numbers are in checkpoints: append only.
 */
#define CAL_LOOP_TYPE_LIST(X)            \
	X(CAL_LOOP_WELD, weld)               \
	X(CAL_LOOP_REVOLUTE, revolute)       \
	X(CAL_LOOP_PRISMATIC, prismatic)     \
	X(CAL_LOOP_CYLINDRICAL, cylindrical) \
	X(CAL_LOOP_UNIVERSAL, universal)     \
	X(CAL_LOOP_SPHERICAL, spherical)     \
	X(CAL_LOOP_PLANAR, planar)           \
	X(CAL_LOOP_INPLANE, inplane)         \
	X(CAL_LOOP_DISTANCE, distance)       \
	X(CAL_LOOP_KNIFE, knife)             \
	X(CAL_LOOP_SCREW, screw)             \
	X(CAL_LOOP_ANGLE, angle)             \
	X(CAL_LOOP_DIRECTIONS, directions)   \
	X(CAL_LOOP_COUPLING, coupling)       \
	X(CAL_LOOP_DISK, disk)               \
	X(CAL_LOOP_BALL, ball)

typedef enum CalLoopType {
#define CAL_LOOP_TYPE_ENUM(name, text) name,
	CAL_LOOP_TYPE_LIST(CAL_LOOP_TYPE_ENUM)
#undef CAL_LOOP_TYPE_ENUM
		CAL_LOOP_TYPE_COUNT
} CalLoopType;

/** "revolute" for CAL_LOOP_REVOLUTE; NULL for a value outside the list. */
CAL_API const char *cal_loop_type_name(CalLoopType type);

/** What a type of loop ties, and members of CalLoopDef that it uses. */
enum {
	CAL_LOOP_USES_A = 1,       // a node and frame A on it
	CAL_LOOP_USES_B = 2,       // a second node and frame B on it
	CAL_LOOP_USES_LENGTH = 4,  // length
	CAL_LOOP_USES_PITCH = 8,   // pitch
	CAL_LOOP_USES_RADIUS = 16, // radius
	CAL_LOOP_USES_AXES = 32,   // translation, rotation
	CAL_LOOP_USES_TERMS = 64,  // term
};

/** What a type of loop is, for readers, writers and pages. */
typedef struct CalLoopTypeInfo {
	const char *vanishes; // what its equations keep at zero, in a few words
	const char *motion;   // what motion is left
	int uses;             // set of CAL_LOOP_USES_*
} CalLoopTypeInfo;
CAL_API CalStatus cal_loop_type_info(CalLoopType type, CalLoopTypeInfo *info);

enum { CAL_LOOP_MAX_ROWS = 6, CAL_LOOP_MAX_TERMS = 4 };
enum { CAL_AXIS_X = 1, CAL_AXIS_Y = 2, CAL_AXIS_Z = 4, CAL_AXIS_XYZ = 7 }; // sets of axes

/** A function of time and its derivatives: pure, thread-safe, without allocation. */
typedef void (*CalDriveFn)(const void *user, double t, double *value, double *rate, double *acceleration);
/** The next time after t at which the function or one of its derivatives jumps, or INFINITY. */
typedef double (*CalDriveSwitchFn)(const void *user, double t);

/**
 * What moves a row: s(t) = offset + speed t + acceleration t^2/2 + amplitude sin(frequency t + phase), plus what fn gives.
 * In the units of the row: [m], [rad], of a coupling its sum. All zero: the row stays at zero.
 */
typedef struct CalDrive {
	double offset, speed, acceleration;
	double amplitude, frequency, phase; // frequency [rad/s], phase [rad]
	CalDriveFn fn;                      // NULL: none; it and user must outlive every model and simulation
	CalDriveSwitchFn next_switch;       // NULL: fn is smooth; steps of a simulation end at these times
	const void *user;  // handed to both; formulas and tables: cal_drive_function_of() (calder/motion.h)
	uint64_t identity; // differs where fn and user give another function: checkpoints compare it; 0: not known
} CalDrive;

/** One coordinate of a coupling: a degree of freedom of the joint that carries a body, or a mode of the body. */
typedef struct CalLoopTerm {
	CalBodyId body; //
	int dof;        // 0 ...: speeds of its joint, then its modes; not one of a quaternion
	double factor;  // not zero
} CalLoopTerm;

/**
 * A joint that closes a loop of the tree: ties a frame A on one node to a frame B on another, anywhere in the group or
 * on the ground. Its rows are functions of the relative pose that vanish, in the order of calder/loops.h. Zero
 * means none throughout.
 */
typedef struct CalLoopDef {
	const char *name;                     // required, unique among loops
	CalLoopType type;                     //
	CalPlacement a, b;                    // frame A in the first node, B in the second
	double length;                        // of types that use it (DISTANCE) [m], > 0
	double pitch;                         // SCREW: advance per angle [m/rad], not zero
	double radius;                        // DISK, BALL [m], > 0
	int translation, rotation;            // DIRECTIONS: sets of CAL_AXIS_*, locked
	int term_count;                       // COUPLING: 1 ... CAL_LOOP_MAX_TERMS
	CalLoopTerm term[CAL_LOOP_MAX_TERMS]; //
	CalDrive drive[CAL_LOOP_MAX_ROWS];    // of each row
	double frequency, damping; // stabilisation (Baumgarte): [rad/s] and damping ratio, >= 0; frequency 0: none
	CalSpatial
		applied_wrench; // constant wrench on B at its origin, axes of A; the opposite on A. KNIFE, COUPLING: none
	const char *place;  // for messages; may be NULL
} CalLoopDef;

/** "dx", "rx", "distance" ... of row 0, 1 ... of a loop; NULL where there is none. */
CAL_API const char *cal_loop_row_name(const CalLoopDef *def, int row);
/** What the row measures; of a coupling CAL_COORDINATE_USER: its factors have the units. */
CAL_API CalCoordinateKind cal_loop_row_kind(const CalLoopDef *def, int row);

/** Definitions with every default in place; fill in the rest. */
CAL_API CalGroupDef cal_group_def(void);
/**
 * Mass properties that are known in the frame of a node, given by its placement in the body: def->com from its origin and
 * def->inertia about its origin, both in its axes. They become those of the body frame: inertia about the center of mass.
 */
CAL_API CalStatus cal_body_def_from_node(CalBodyDef *def, CalPlacement node);
CAL_API CalBodyDef cal_body_def(void);
CAL_API CalNodeDef cal_node_def(void);
CAL_API CalJointDef cal_joint_def(CalJointType type);
CAL_API CalLoopDef cal_loop_def(CalLoopType type);

/**
 * The same joint with its sides exchanged, for an attachment in the other direction: coordinates and speeds of weld,
 * revolute, prismatic, screw and cylindrical joints keep their meaning; those of others change order or axes.
 */
CAL_API CalStatus cal_joint_def_reverse(const CalJointDef *def, CalJointDef *reversed, CalError *error);

/** A new description with one group, "main", without gravity. allocator NULL: malloc. */
CAL_API CalStatus cal_desc_create(const CalAllocator *allocator, CalDesc **desc);
CAL_API void cal_desc_destroy(CalDesc *desc); // accepts NULL
/**
 * Makes room for so many more bodies, nodes (each body has one for its frame) and joints: a large description then takes no
 * more memory than it needs, and is not copied as it grows. More can still be added. CAL_ERR_MEMORY.
 */
CAL_API CalStatus cal_desc_reserve(CalDesc *desc, int bodies, int nodes, int joints);

/*
 * Each call copies what it is given (names included) and returns the id of the new object.
 * What can be checked at once (missing or duplicate name, unknown id, numbers that are not finite)
 * is refused with a message and leaves the description unchanged.
 */
CAL_API CalStatus cal_desc_add_group(CalDesc *desc, const CalGroupDef *def, CalGroupId *id, CalError *error);
CAL_API CalStatus cal_desc_add_body(CalDesc *desc, const CalBodyDef *def, CalBodyId *id, CalError *error);
/** body {0}: a node of the ground. */
CAL_API CalStatus cal_desc_add_node(CalDesc *desc, CalBodyId body, const CalNodeDef *def, CalNodeId *id,
                                    CalError *error);
/**
 * Appends to the attachment list: inboard node - joint - outboard node (the head of its body).
 * inboard {0}: the ground's origin; use cal_desc_body_node() for a body's own frame.
 */
CAL_API CalStatus cal_desc_attach(CalDesc *desc, CalNodeId inboard, const CalJointDef *joint, CalNodeId outboard,
                                  CalJointId *id, CalError *error);

/**
 * Closes a loop: ties node a to node b ({0}: the ground's origin). KNIFE needs no b, COUPLING neither. Both sides belong
 * to one group, and at least one of them to a body; they are not on one rigid body.
 */
CAL_API CalStatus cal_desc_close_loop(CalDesc *desc, CalNodeId a, const CalLoopDef *def, CalNodeId b, CalLoopId *id,
                                      CalError *error);
/**
 * A pendulum on a node, such as liquid in a tank: a point mass on a universal joint. Body and joint have its name; the mass
 * is at the body's node "mass". Its two angles are zero where it hangs along `down`; the second stays below a right angle.
 */
typedef struct CalPendulumDef {
	const char *name;  // required, unique among bodies and among joints
	CalNodeId node;    // that it is attached to; {0}: the ground's origin
	CalGroupId group;  // on the ground only; {0}: the default one
	CalVec3 pivot;     // in the node's frame [m]
	CalVec3 down;      // from the pivot to the mass at rest, in the node's axes; normalized
	double mass;       // [kg], > 0
	double length;     // from the pivot to the mass [m], > 0
	double damping;    // of each angle [N m s/rad], >= 0
	double stiffness;  // of each angle [N m/rad], >= 0
	const char *place; // for messages; may be NULL
} CalPendulumDef;
CAL_API CalPendulumDef cal_pendulum_def(void); // down: -z
/** Where memory runs short, the body may be there without its joint. */
CAL_API CalStatus cal_desc_add_pendulum(CalDesc *desc, const CalPendulumDef *def, CalBodyId *body, CalError *error);

/** Makes a body flexible; its nodes must exist. Everything is copied. A body can be made flexible once. */
CAL_API CalStatus cal_desc_set_flexible(CalDesc *desc, CalBodyId body, const CalFlexDef *def, CalError *error);

/**
 * Makes a body a link of the caller's own. The mass of its CalBodyDef, fixed in B, comes on top. Its dofs come after those of
 * its joint in q and u, as modes do, and take part in everything that modes do; they are named as modes are. The head
 * of its joint must not be one of the nodes. Such a model is evaluated in one branch.
 */
CAL_API CalStatus cal_desc_set_link(CalDesc *desc, CalBodyId body, const CalLinkDef *def, CalError *error);

/** Mass, center of mass and inertia of a body, and whether it is idealized, as in def; its other members are not read. */
CAL_API CalStatus cal_desc_set_mass_properties(CalDesc *desc, CalBodyId body, const CalBodyDef *def, CalError *error);

/** Spring, damper and rotor of degree of freedom `dof` of a joint, from 0. */
CAL_API CalStatus cal_desc_set_joint_dof(CalDesc *desc, CalJointId joint, int dof, const CalDofDef *def,
                                         CalError *error);

/** Gravity of a group ({0}: the default one). */
CAL_API CalStatus cal_desc_set_gravity(CalDesc *desc, CalGroupId group, CalVec3 gravity);
/** How it is propagated from the start. */
CAL_API CalStatus cal_desc_set_propagation(CalDesc *desc, CalGroupId group, CalPropagation propagation);

/** The node that every body has: its own frame, named "head". */
CAL_API CalNodeId cal_desc_body_node(const CalDesc *desc, CalBodyId body);

/* Look-up by name; {0} if there is none. A node is "body/node", "body" (its frame) or "ground/node". */
CAL_API CalGroupId cal_desc_find_group(const CalDesc *desc, const char *name);
CAL_API CalBodyId cal_desc_find_body(const CalDesc *desc, const char *name);
CAL_API CalNodeId cal_desc_find_node(const CalDesc *desc, const char *path);
CAL_API CalJointId cal_desc_find_joint(const CalDesc *desc, const char *name);

/** What the description holds so far; the id of the k-th object is {k + 1}. find_loop: {0} if there is none. */
CAL_API int cal_desc_group_count(const CalDesc *desc);
CAL_API int cal_desc_body_count(const CalDesc *desc);
CAL_API int cal_desc_joint_count(const CalDesc *desc);
CAL_API int cal_desc_loop_count(const CalDesc *desc);
CAL_API CalLoopId cal_desc_find_loop(const CalDesc *desc, const char *name);
CAL_API int cal_desc_node_count(const CalDesc *desc); // of all bodies and of the ground

/*
 * Definitions as the description holds them: defaults filled in, axes and quaternions unit. They stay valid until
 * something is added. NULL: no such id. The flexibility of a body: cal_flex_body(). What is not wanted may be NULL.
 */
CAL_API const CalGroupDef *cal_desc_group(const CalDesc *desc, CalGroupId id); // {0}: the default group
CAL_API const CalBodyDef *cal_desc_body(const CalDesc *desc, CalBodyId id);
CAL_API const CalNodeDef *cal_desc_node(const CalDesc *desc, CalNodeId id, CalBodyId *body);
CAL_API const CalJointDef *cal_desc_joint(const CalDesc *desc, CalJointId id, CalNodeId *inboard, CalNodeId *outboard);
CAL_API const CalLoopDef *cal_desc_loop(const CalDesc *desc, CalLoopId id, CalNodeId *a, CalNodeId *b);

/** One finding of cal_desc_check(). */
typedef struct CalFinding {
	CalStatus status; // < 0: an error, CAL_OK: a warning
	const char *text; // a sentence, valid during the call
} CalFinding;
typedef void (*CalFindingFn)(void *user, const CalFinding *finding);

/**
 * Reports everything that is wrong or suspicious in the whole description: cycles, bodies with two
 * parents or none, impossible inertias, singular joints. Returns CAL_ERR_MODEL if there was an error.
 */
CAL_API CalStatus cal_desc_check(const CalDesc *desc, CalFindingFn report, void *user);

#ifdef __cplusplus
}
#endif
#endif
