// SPDX-License-Identifier: Apache-2.0
/*
 * calder/identify.h — masses, inertias, friction and rotors from recorded motion and forces (docs/identify.md).
 *
 * Inverse dynamics is linear in these parameters. Each instant of a recording gives one equation for each degree of freedom
 * whose force is known; of n instants only their triangular factor is kept. What the equations determine are combinations of
 * parameters (base parameters), found by rank; of all values that give these combinations the result is the physically
 * possible one that is nearest to the model. Springs, rotors, dampers and bodies that are not asked for are known. Devices do
 * not count: the force of a degree of freedom is everything that acts there beside its own spring and damper.
 */
#ifndef CALDER_IDENTIFY_H
#define CALDER_IDENTIFY_H

#include <calder/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is unknown. Zero-initialized: the ten inertial parameters of each body. */
typedef struct CalIdentificationOptions {
	const uint8_t *bodies;  // [bodies] nonzero: unknown; NULL: all
	const uint8_t *viscous; // [nu] nonzero: the damping of the joint is unknown; NULL: none
	const uint8_t *coulomb; // [nu] nonzero: friction F tanh(u/friction_speed) of unknown F >= 0; NULL: none
	const uint8_t *rotor;   // [nu] nonzero: the inertia of the rotor, as the joint feels it, is unknown; NULL: none
	double friction_speed;  // [rad/s or m/s]; 0: 0.01
	double prior;           // how far parameters may be from the model, as part of them (standard deviation); 0: 100
	double rank_tolerance;  // what is left of a column, as part of it, that counts as nothing; 0: 1e-9
	int unconstrained;      // nonzero: bodies that cannot exist are possible results
	CalAllocator allocator; // {0}: malloc
} CalIdentificationOptions;

/** Equations and results for one model, which must outlive it. */
typedef struct CalIdentification CalIdentification;

/** options NULL: as {0}. CAL_ERR_ARGUMENT: nothing is unknown. */
CAL_API CalStatus cal_identification_create(const CalModel *model, const CalIdentificationOptions *options,
                                            CalIdentification **identification, CalError *error);
CAL_API void cal_identification_destroy(CalIdentification *identification); // accepts NULL

/**
 * The equations of one instant: udot[nu], tau[nu] the forces, measured[nu] nonzero where they are known (NULL: everywhere),
 * wrenches of input, of which nothing else is read (NULL: none). With loops, whose state must be closed, all forces must be
 * known, zero where nothing acts: the equations are those of the independent speeds. CAL_NOT_FINITE: nothing was added.
 */
CAL_API CalStatus cal_identification_add(CalIdentification *identification, const CalState *state, const double *udot,
                                         const CalInput *input, const double *tau, const uint8_t *measured);

/**
 * Finds combinations and parameters from what has been added; more can be added afterwards. Each degree of freedom is weighed by
 * the scatter of its own residuals. CAL_ERR_ARGUMENT: fewer equations than combinations. CAL_NOT_CONVERGED.
 */
CAL_API CalStatus cal_identification_solve(CalIdentification *identification, CalError *error);

/* ---- what was found: after cal_identification_solve() ----------------------------------------------------- */

typedef struct CalIdentified {
	int parameters;   // that are unknown
	int combinations; // of them that the motion determines: the rank
	size_t equations; //
	double condition; // of the scaled equations in the combinations: above 100 the motion excites some of them badly
	double
		conflict; // sum of squares that physical consistency costs, in variances; below about `combinations`: no conflict
	int at_limit;   // bodies at the limit of what is possible, e.g. with a moment of inertia of zero
	int iterations; //
} CalIdentified;
/** The result as a whole. */
CAL_API CalStatus cal_identification_result(const CalIdentification *identification, CalIdentified *result);

typedef enum CalIdentifiedKind {
	CAL_IDENTIFIED_INERTIAL, // of calder/derivatives.h: mass, mx my mz, Ixx Iyy Izz Ixy Ixz Iyz in the frame of the body
	CAL_IDENTIFIED_VISCOUS,
	CAL_IDENTIFIED_COULOMB,
	CAL_IDENTIFIED_ROTOR,
} CalIdentifiedKind;

typedef struct CalIdentifiedParameter {
	CalIdentifiedKind kind;
	int object;       // body, or degree of freedom
	int index;        // of an inertial parameter
	char name[112];   // "payload.Ixx", "elbow.viscous"
	const char *unit; //
	double model;     // value in the model
	double value;     // found
	double deviation; // standard deviation, without what consistency adds; where it is not determined that of the prior
	int determined;   // nonzero: by the motion alone; otherwise it is one of many that are as good
} CalIdentifiedParameter;
/** Known before solving too, but for value, deviation and determined. */
CAL_API CalStatus cal_identification_parameter(const CalIdentification *identification, int index,
                                               CalIdentifiedParameter *parameter);

/** A combination: one parameter plus factors of others. */
typedef struct CalCombination {
	int parameter;        // that it is named after, with the factor 1
	const double *factor; // [parameters]
	double model;         // value in the model
	double value;         // by least squares alone
	double deviation;     // standard deviation of it
	double consistent;    // value of the parameters found
} CalCombination;
CAL_API CalStatus cal_identification_combination(const CalIdentification *identification, int index,
                                                 CalCombination *combination);
/** "upper.mx + 0.9 lower.mass"; returns the length as snprintf does, -1: there is none. */
CAL_API int cal_identification_combination_text(const CalIdentification *identification, int index, char *buffer,
                                                size_t size);

/** How well the equations of a degree of freedom are met. */
typedef struct CalForceFit {
	size_t equations;
	double force;    // root mean square of what is left of the force where known effects are taken away
	double model;    // residual of the model as it was
	double residual; // of what was found
} CalForceFit;
CAL_API CalStatus cal_identification_fit(const CalIdentification *identification, int dof, CalForceFit *fit);

/** Mass, center of mass and inertia of a body as found (as in the model if it is known); other members are not touched. */
CAL_API CalStatus cal_identification_body(const CalIdentification *identification, int body, CalBodyDef *def);
/** tau[nu] that the motion takes with the parameters found. */
CAL_API CalStatus cal_identification_predict(CalIdentification *identification, const CalState *state,
                                             const double *udot, const CalInput *input, double *tau);

/* ---- recordings ---------------------------------------------------------------------------------------------- */

/**
 * Value, rate and acceleration at each sample, from the polynomial of `degree` (2 to 5) that is nearest to the samples within
 * window/2 of it; a window too short for degree + 1 samples takes as many. Where the window reaches beyond an end, the samples
 * there are: the first and last rows are less accurate. time[count] ascends. Any output may be NULL. CAL_ERR_ARGUMENT.
 */
CAL_API CalStatus cal_estimate_rates(int count, const double *time, const double *value, double window, int degree,
                                     double *smooth, double *rate, double *acceleration);

#ifdef __cplusplus
}
#endif
#endif
