// SPDX-License-Identifier: Apache-2.0
/*
 * calder/flex.h — flexible bodies made here: beams, panels, bodies from inertia invariants; and what is in a flexible
 * body, whoever made it.
 *
 * Each generator solves its eigenproblem, chooses shapes for the boundary it is asked for, and adds one body with
 * its nodes and its CalFlexDef through the calls of build.h: the result is a body like any other. Masses are put
 * so that mass, center of mass, inertia and modal masses are those of the continuous body, not of a lumped
 * approximation: docs/flexible.md explains how, and what is exact.
 *
 * Input is checked before anything is added. Only running out of memory can leave a body without its flexibility.
 */
#ifndef CALDER_FLEX_H
#define CALDER_FLEX_H

#include <calder/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a body is held while its shapes are computed. It decides which shapes are good with few modes, not how the
 * body may be attached: every node can be a joint's, the head included.
 */
#define CAL_FLEX_BOUNDARY_LIST(X)                                                                                \
	X(CAL_FLEX_CLAMPED, "clamped")             /* first interface held: cantilever modes, B stays on it */       \
	X(CAL_FLEX_PINNED, "pinned")               /* translations of the first interface held, rotations free */    \
	X(CAL_FLEX_FREE, "free")                   /* nothing held: free-free modes */                               \
	X(CAL_FLEX_CRAIG_BAMPTON, "craig-bampton") /* static shapes of the other interfaces, then fixed-interface */ \
											   /* modes; B stays on the first interface */

typedef enum CalFlexBoundary {
#define CAL_FLEX_BOUNDARY_ENUM(name, text) name,
	CAL_FLEX_BOUNDARY_LIST(CAL_FLEX_BOUNDARY_ENUM)
#undef CAL_FLEX_BOUNDARY_ENUM
		CAL_FLEX_BOUNDARY_COUNT
} CalFlexBoundary;

/** "clamped" for CAL_FLEX_CLAMPED; NULL for a value outside the list. */
CAL_API const char *cal_flex_boundary_name(CalFlexBoundary boundary);

/** Which shapes a generator keeps. */
typedef struct CalFlexChoice {
	CalFlexBoundary boundary;
	int attached;         // PINNED, FREE: B stays on the first interface instead of following the mean motion
	int modes;            // normal modes, the lowest ones (CRAIG_BAMPTON: besides the static shapes); 0: by frequency
	double max_frequency; // keep modes up to this [rad/s]; 0: no limit. With modes > 0: whichever is less
	double damping_ratio; // of every mode of the reduced body with B held; 0: none
	double bound;         // CalFlexDef.frequency_bound [rad/s]; 0: none
} CalFlexChoice;

/* ---- beams --------------------------------------------------------------------------------- */

typedef enum CalSectionShape {
	CAL_SECTION_DIRECT, // stiffnesses and masses per length as given
	CAL_SECTION_CIRCLE, // diameter = height
	CAL_SECTION_TUBE,   // outer diameter = height, wall thickness
	CAL_SECTION_BOX,    // width (y) x height (z); wall thickness, 0: solid
} CalSectionShape;

/** A cross-section; y and z are principal axes through its center. */
typedef struct CalSection {
	CalSectionShape shape;
	double width, height, thickness;       // [m]; of CIRCLE, TUBE, BOX
	double youngs_modulus, poissons_ratio; // [Pa], 1; of CIRCLE, TUBE, BOX
	double density;                        // [kg/m^3]; of CIRCLE, TUBE, BOX
	double EA, GJ;                         // DIRECT: [N], [N m^2]
	double EIy, EIz;                       // DIRECT: bending in the xz plane and in the xy plane [N m^2]
	double kGAy, kGAz;                     // DIRECT, Timoshenko: shear in y, z with shear factor [N]
	double rhoA;                           // DIRECT: mass per length [kg/m]
	double rhoIy, rhoIz;                   // DIRECT: rotary inertia per length about y, z [kg m]; about x their sum
} CalSection;

/** A mass fixed on the axis of a beam; it turns with the slope there. */
typedef struct CalBeamMass {
	double x;        // distance from the root [m], 0 ... length
	double mass;     // [kg]
	CalMat3 inertia; // about its own center, which is on the axis [kg m^2]
} CalBeamMass;

/** Ways a beam can deform. */
enum {
	CAL_BEAM_BEND_Y = 1,  // deflection along y
	CAL_BEAM_BEND_Z = 2,  // deflection along z
	CAL_BEAM_TORSION = 4, // twist about x
	CAL_BEAM_AXIAL = 8,   // stretch along x
	CAL_BEAM_BENDING = 3, // both planes
	CAL_BEAM_ALL = 15,
};

enum { CAL_BEAM_MAX_ORDER = 9 };

/** A straight beam along x from the body frame's origin. Nodes: "root", "n1", "n2", ..., "tip" at the element ends. */
typedef struct CalBeamDef {
	const char *name; // required, of the body
	CalGroupId group; // {0}: the default group
	double length;    // [m]
	CalSection root;  // section at x = 0
	CalSection tip;   // section at x = length: dimensions (DIRECT: properties) vary linearly between; see tapered
	int tapered;      // 0: the root's section throughout, tip is not read
	int timoshenko;   // nonzero: shear deformation and rotary inertia; 0: Euler-Bernoulli, neither of them
	int deformation;  // sum of CAL_BEAM_...
	int elements;     // of equal length
	int order;        // polynomial degree in an element, 3 ... CAL_BEAM_MAX_ORDER
	int mass_count;
	const CalBeamMass *masses; // [mass_count]
	CalFlexChoice choice;
	int second_order;  // nonzero: foreshortening by bending (phi2), the source of stiffening by rotation
	const char *place; // for messages; may be NULL
} CalBeamDef;

/** Bending in both planes, 8 elements of order 5, clamped, 4 modes; steel's Poisson ratio. */
CAL_API CalBeamDef cal_beam_def(void);
/** Adds the body, its nodes and its flexibility; *body may be NULL. */
CAL_API CalStatus cal_beam_add(CalDesc *desc, const CalBeamDef *def, CalBodyId *body, CalError *error);

/* ---- panels -------------------------------------------------------------------------------- */

enum { CAL_PANEL_MAX_HINGES = 16 };

/**
 * A flat rectangular lattice of beams in the xy plane, x from 0 to length, y from -width/2 to width/2: ribs along x and
 * y on a grid, rigidly joined, with an optional cover. CLAMPED holds the edge x = 0, or the hinge points on it: they
 * move as one piece with the body frame, which sits at the middle of that edge. Nodes: "root" (the body frame's place),
 * "tip" (the middle of the edge x = length; if cells_y is even), and the grid: "n_I_J", I along x, J along y from 0.
 * FREE and CRAIG_BAMPTON (interfaces "root" and "tip") need an even cells_y; a hinge line is CLAMPED on a revolute joint.
 */
typedef struct CalPanelDef {
	const char *name;                 // required, of the body
	CalGroupId group;                 // {0}: the default group
	double length;                    // along x [m]
	double width;                     // along y [m]
	int cells_x;                      // grid cells along x
	int cells_y;                      // grid cells along y
	CalSection rib_x;                 // members along x: their y axis is in the plane, their z axis is the normal
	CalSection rib_y;                 // members along y: likewise
	double cover_mass;                // evenly spread, without stiffness: cells, cover sheets [kg]
	int hinge_count;                  // points of the edge x = 0 that are held; 0: the whole edge
	int hinges[CAL_PANEL_MAX_HINGES]; // rows of the grid, 0 ... cells_y
	int in_plane;                     // nonzero: in-plane motion too; 0: bending out of the plane only
	CalFlexChoice choice;             // not PINNED
	int second_order;  // nonzero: motion in the plane caused by bending, the source of stiffening by rotation
	const char *place; // for messages; may be NULL
} CalPanelDef;

/** 6 x 4 cells, clamped along the edge, 4 modes, out of the plane. */
CAL_API CalPanelDef cal_panel_def(void);
CAL_API CalStatus cal_panel_add(CalDesc *desc, const CalPanelDef *def, CalBodyId *body, CalError *error);

/* ---- bodies from inertia invariants -------------------------------------------------------- */

/**
 * The inertia of a modal body as integrals over its mass, as other programs give it: r is the place of a mass in B when
 * nothing is deformed, phi_a its translation per modal coordinate a, psi_a its rotation, J its own rotary inertia.
 * From the nine invariants I1 ... I9 (s~ the cross product matrix of s = r): mass = I1, com = I2/I1,
 * inertia = I7 - mass (c.c 1 - c c'), linear = I3, angular = I4, modal_mass = I6,
 * position[i][j][a] = (I8_a)_ji - tr(I8_a)/2 (i == j) with I8_a = sum m s~ phi~_a, and
 * shape[i][j][a][b] = (I9_ab)_ji - tr(I9_ab)/2 (i == j) with I9_ab = sum m phi~_a phi~_b; I5 is in shape.
 */
typedef struct CalFlexInvariants {
	int modes;                // as in the CalFlexDef
	double mass;              // of the whole body [kg]
	CalVec3 com;              // in B, undeformed [m]
	CalMat3 inertia;          // about the center of mass, undeformed, rotary inertias included [kg m^2]
	const double *linear;     // [3][modes] sum m phi
	const double *angular;    // [3][modes] sum m r x phi + J psi, about B's origin; NULL: without rotary inertia
	const double *position;   // [3][3][modes] sum m r_i phi_j
	const double *shape;      // [3][3][modes][modes] sum m phi_i phi_j', element (a, b) of modes a and b
	const double *modal_mass; // [modes][modes] sum m phi'phi + psi'J psi; NULL: without rotary inertia, from shape
} CalFlexInvariants;

/**
 * cal_desc_set_flexible() for a body whose inertia is given by invariants: adds nodes "mass1", "mass2", ... at most
 * 4 + 3 modes of them, whose masses and rotary inertias have exactly these integrals (docs/format.md), and makes the
 * body flexible with them and the nodes of def. Those need shapes and no mass; mass that they or the body have comes on
 * top. Integrals that no mass has are refused by name; what differs by less than 1e-7 of its size is taken as rounded.
 * Invariants are checked before anything is added; nodes stay where cal_desc_set_flexible() refuses def.
 */
CAL_API CalStatus cal_flex_set_invariants(CalDesc *desc, CalBodyId body, const CalFlexDef *def,
                                          const CalFlexInvariants *invariants, CalError *error);

/* ---- what is in a flexible body ------------------------------------------------------------ */

/**
 * A body as the description holds it: rigid part and flexibility (flex->modes is 0 for a rigid body); NULL: not wanted.
 * Arrays and names live as long as the description. CAL_ERR_ARGUMENT: no such body.
 */
CAL_API CalStatus cal_flex_body(const CalDesc *desc, CalBodyId body, CalBodyDef *rigid, CalFlexDef *flex);

/** A node of a body, and how the modes move it: phi, psi, phi2 as given, all NULL if they do not. */
typedef struct CalFlexNodeInfo {
	const char *name;
	CalPlacement placement; // in B, undeformed
	CalFlexNode flex;       // its id, mass and shapes
} CalFlexNodeInfo;

/**
 * Nodes of a body: first those of its CalFlexDef in their order, then the others, its own frame ("head") left out.
 * CAL_ERR_ARGUMENT from the end of the list on.
 */
CAL_API CalStatus cal_flex_node(const CalDesc *desc, CalBodyId body, int index, CalFlexNodeInfo *info);

/** How a compiled model evaluates a flexible body: chosen for each by estimated cost, the same to round-off. */
typedef struct CalFlexEvaluation {
	int summed_masses;    // masses that are summed over whenever the inertia is needed
	int invariant_masses; // masses that precomputed invariants stand for
	int linear;           // nonzero: forward dynamics eliminates the modes at a cost linear in their number
} CalFlexEvaluation;

/** body: index in the model. CAL_ERR_ARGUMENT: there is no such body, or it is rigid. */
CAL_API CalStatus cal_flex_evaluation(const CalModel *model, int body, CalFlexEvaluation *evaluation);

/** One mode of a body whose frame B is held, and the free body's mode of the same number. */
typedef struct CalFlexMode {
	double frequency;            // B held [rad/s]
	double free_frequency;       // body free in space [rad/s]
	double damping_ratio;        // of the held mode
	double bounded_frequency;    // B held, after the body's frequency bound [rad/s]; without one as `frequency`
	double bounded_free;         // body free in space, after it [rad/s]
	double bounded_damping;      // of the held mode, after it
	double effective_mass[3];    // along x, y, z of B [kg]
	double effective_inertia[3]; // about x, y, z through B's origin [kg m^2]
	int bounded;                 // nonzero: the free mode is above the body's frequency bound
} CalFlexMode;

/** Mass properties and modes of a flexible body in its undeformed state, rigid part and lumped nodes together. */
typedef struct CalFlexReport {
	int modes;               // of the body
	double mass;             // [kg]
	CalVec3 com;             // in B [m]
	CalMat3 inertia;         // about the center of mass [kg m^2]
	double total_inertia[3]; // about x, y, z through B's origin: what effective inertias sum up to at most [kg m^2]
	double rigid_content;    // 0 ... 1: 1 if some shape is nothing but a rigid motion of the mass, which is an error
	double coupling;      // largest |M_ij| / sqrt(M_ii M_jj), i != j, of the modal mass as given; 0: orthogonal shapes
	double min_stiffness; // smallest eigenvalue of the stiffness scaled to unit diagonal; <= 0: singular
} CalFlexReport;

/**
 * Reports on a flexible body; modes[min(capacity, report->modes)] in ascending order (NULL: none wanted).
 * CAL_ERR_ARGUMENT for a rigid one.
 */
CAL_API CalStatus cal_flex_report(const CalDesc *desc, CalBodyId body, CalFlexReport *report, CalFlexMode *modes,
                                  int capacity, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
