// SPDX-License-Identifier: Apache-2.0
/*
 * golden.h — the parts of the golden runner: a case read into a model, and the tally of comparisons.
 *
 * A case (schema golden-mbd-1, docs/golden.md) gives bodies in its own order; `speed` maps its
 * generalized speeds to those of the compiled model. Everything a case needs is taken when it is bound
 * to a model; the comparisons then only compute.
 */
#ifndef TEST_GOLDEN_GOLDEN_H
#define TEST_GOLDEN_GOLDEN_H

#include <calder/io.h>
#include <calder/loops.h>

#include "golden/golden_runner.h"
#include "io/yaml/yaml_tree.h"

/** The worst comparison so far: largest error in units of its tolerance. */
typedef struct GoldenTally {
	double ratio;     // error over tolerance of the worst
	double worst;     // its relative error
	double tolerance; // its tolerance
	int count;        // comparisons made
	char what[192];   // the quantity of the worst
	uint64_t bits;    // of every number that was compared
} GoldenTally;

/** A body of the file in the model. */
typedef struct GoldenBody {
	const char *name;     //
	const TreeNode *node; // in the file
	CalBodyInfo info;     // in the model
	int u;                // first speed in the file's order
} GoldenBody;

/** One end of a point-to-point spring: a point fixed in a node (or on the ground). */
typedef struct GoldenEnd {
	int node; // in the model, -1: ground
	CalVec3 r;
} GoldenEnd;

/** A spring-damper of the case: tension k (l - l0) + c ldot. */
typedef struct GoldenSpring {
	GoldenEnd a, b;
	double k, c, l0;
} GoldenSpring;

typedef struct GoldenCase {
	Tree *tree;
	const TreeNode *root;
	CalError error;  // why a function returned a status that is not CAL_OK
	CalDesc *desc;   //
	CalModel *model; //
	CalWork *work;   //
	CalState state;  // as in the file's `state`
	GoldenBody *bodies;
	int body_count;
	int nu;          // speeds, modal ones included
	int *speed;      // [nu] file's speed -> model's speed
	double *scratch; // [GOLDEN_VECTORS nu]
	double *square;  // [nu nu]
	double *numbers; // [max(nu, rows)] of the file, in golden_compare
	int rows;        // of all constraints
	int *row;        // [rows] file's row -> model's row
	double *by_row;  // [GOLDEN_VECTORS rows]
	double *matrix;  // [rows nu]
	CalInput input;  // made by golden_set_input
	double *tau, *udot_given;
	uint8_t *prescribed;
	CalWrench *wrenches; // those of `applied`, then two for each spring
	int wrench_capacity, applied_wrenches;
	GoldenSpring *springs;
	int spring_count;
	CalWork *spring_work; // kinematics of the springs' ends
	double spring_energy; // at the state of the last golden_springs_apply
	double tolerance;     // of quantities that follow from accelerations
	GoldenTally tally;
} GoldenCase;

/** Natural sizes of a case, from the numbers of the file alone. */
typedef struct GoldenSizes {
	double length, mass, gravity, velocity, acceleration, momentum, energy, force, generalized;
} GoldenSizes;

enum { GOLDEN_VECTORS = 3 };

/* ---- reading (golden_read.c, golden_model.c, golden_flex.c, golden_loop.c, golden_bind.c, golden_spring.c) ---- */

/** "file:line:col: error: ..." into c->error. */
CalStatus golden_fail(GoldenCase *c, const TreeNode *node, const char *message);
/** n numbers of a list (nested lists are read row by row); node NULL: zeros. */
CalStatus golden_numbers(GoldenCase *c, const TreeNode *node, double *out, int n);
CalStatus golden_number(GoldenCase *c, const TreeNode *node, double absent, double *out);
/** Number of modes of a body of the file: its `nm`, 0 if it has none. */
CalStatus golden_modes(GoldenCase *c, const TreeNode *body, int *modes);
/** The text of a scalar, or `absent` (which may be NULL: then it is required). */
CalStatus golden_text(GoldenCase *c, const TreeNode *node, const char *absent, const char **out);

/** The description from `model`. */
CalStatus golden_describe(GoldenCase *c);
/** Makes a body with modes flexible; its nodes, in the order of the file, exist. */
CalStatus golden_add_flexibility(GoldenCase *c, const TreeNode *body, CalBodyId id, const CalNodeId *nodes);
/** A frame `{"r":[3],"quat":[4]}`, both optional. */
CalStatus golden_placement(GoldenCase *c, const TreeNode *node, CalPlacement *placement);
/** The node "body/node" of the description; node "head" is the body frame. place: what names it. */
CalStatus golden_find_node(GoldenCase *c, const TreeNode *place, const char *body, const char *node, CalNodeId *id);
/** Closes the loops of `model.constraints`; bodies and joints exist. */
CalStatus golden_add_loops(GoldenCase *c);
/** The rows of the file's constraints in the model; their memory is taken. */
CalStatus golden_map_loops(GoldenCase *c);
/** Compiles and takes all memory; the state is set from `state`. */
CalStatus golden_bind(GoldenCase *c, CalSolver solver);
void golden_unbind(GoldenCase *c);
CalStatus golden_set_state(GoldenCase *c, const TreeNode *state);
/** c->input from `applied` and `prescribed`, each of which may be NULL, and the springs at c->state. */
CalStatus golden_set_input(GoldenCase *c, const TreeNode *applied, const TreeNode *prescribed);
/** Reads the springs of the case, whose wrenches come after those of `applied`. */
CalStatus golden_springs_bind(GoldenCase *c);
/** The springs' wrenches at a state into c->input, and their energy. */
CalStatus golden_springs_apply(GoldenCase *c, const CalState *state);
/** Elements of the joint of a body in the file, and the sizes of one. */
const TreeNode *golden_elements(const TreeNode *body);
int golden_element_nq(const char *type); // -1: unknown type
int golden_element_nu(const char *type);

/* ---- comparing (golden_compare.c) ---------------------------------------------------------- */

/** One comparison: |got - expected| <= tolerance * scale. what and object ("", or a name) make the label. */
void golden_tally(GoldenCase *c, const char *what, const char *object, double error, double scale, double tolerance);
/** n numbers against those of the file, all with one scale: the larger of max|expected| and floor. */
CalStatus golden_compare(GoldenCase *c, const char *what, const char *object, const TreeNode *expected,
                         const double *got, int n, double floor, double tolerance);
/** max |x| over the numbers of a node and its lists; 0 for NULL. */
double golden_magnitude(const TreeNode *node);
/** The same over a field of every entry of a map of maps: bodies or nodes. */
double golden_pool_magnitude(const TreeNode *map, const char *field);

/** got[nu] in the order of the model, expected in the order of the file. */
CalStatus golden_compare_speeds(GoldenCase *c, const char *what, const char *object, const TreeNode *expected,
                                const double *got, double floor, double tolerance);
CalStatus golden_compare_vec(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, CalVec3 got,
                             double floor, double tolerance);
/** What a call returned, as an error that names the call and the time of c->state. */
CalStatus golden_numeric(GoldenCase *c, CalStatus status, const char *call);

/** A whole number, and whether something is unique (true or false), against those of the file. */
CalStatus golden_compare_count(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, int got);
CalStatus golden_compare_flag(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, int got);
/** The rows of a matrix [rows][nu] by the model's order of speeds; row[i]: where row i of the file is in it. */
CalStatus golden_compare_matrix(GoldenCase *c, const char *what, const TreeNode *expected, const double *matrix,
                                const int *row, int rows, double tolerance);

/* ---- what a case may hold (golden_keys.c) ---------------------------------------------------- */

/** Refuses quantities that would not be compared. */
CalStatus golden_check_state_keys(GoldenCase *c, const TreeNode *expected);
CalStatus golden_check_sample_keys(GoldenCase *c, const TreeNode *sample);
CalStatus golden_check_impulse_keys(GoldenCase *c, const TreeNode *expected);

/* ---- constraints (golden_loop_state.c) ------------------------------------------------------ */

/** Multipliers, wrenches and rank of a forward dynamics that c->work holds. solver: for the label. */
CalStatus golden_check_multipliers(GoldenCase *c, const TreeNode *e, const char *solver, const GoldenSizes *s);
/** Residuals, Jacobian and gamma at c->state. */
CalStatus golden_check_rows(GoldenCase *c, const TreeNode *e, const GoldenSizes *s);
/** The constraints hold at a sample of a trajectory, position and speed; in the file up to its drift (may be NULL). */
CalStatus golden_check_closure(GoldenCase *c, const char *label, const TreeNode *drift);

/** Wrenches of loops: the key of each part, how messages call it, what errors are relative to. */
typedef struct GoldenPart {
	const char *key, *label;
	double scale;
} GoldenPart;
/** Those in a map by the loops' names, against what c->work holds: point, force, moment. */
CalStatus golden_check_wrenches(GoldenCase *c, const TreeNode *map, const GoldenPart part[3]);

/** What positions, velocities and angular velocities are compared beside. */
typedef struct GoldenMotionScales {
	double r, v, w;
} GoldenMotionScales;
/** Pose and velocity of a node in c->work against r, R, v, w of the file (golden_state.c). */
CalStatus golden_compare_motion(GoldenCase *c, const char *object, const TreeNode *e, int node,
                                const GoldenMotionScales *scales, double tolerance);

/* ---- the kinds of cases ------------------------------------------------------------------ */

CalStatus golden_run_state(GoldenCase *c);
CalStatus golden_run_trajectory(GoldenCase *c);
CalStatus golden_run_impulse(GoldenCase *c);

#endif
