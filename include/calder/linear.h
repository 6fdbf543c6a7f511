// SPDX-License-Identifier: Apache-2.0
/*
 * calder/linear.h — the linear equations of motion about a state, the modes of the system, and accelerations from system
 * matrices that are held for a while (docs/modes.md, docs/theory.md section 9).
 *
 * Displacements are those of the tangent space: q = cal_config_integrate(q0, delta), so that quaternions need no
 * special treatment. Of the displacements that the loops and the prescribed degrees of freedom allow, delta = N y:
 *   M y'' + C y' + K y = N' tau
 * with y the displacements of independent speeds of the model. Matrices are dense and row-major.
 */
#ifndef CALDER_LINEAR_H
#define CALDER_LINEAR_H

#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- linearization ------------------------------------------------------------------------- */

/**
 * A model linearized at a state. M and the stiffness and damping of modes, joint springs and joint dampers are exact;
 * everything else that depends on positions and speeds (gravity, velocity terms, loads, devices, forces of loops,
 * springs of spherical joints) is differenced, to about 1e-10 of the forces that act. Forces that jump have no
 * derivative: what is found is the slope across a displacement of 4e-4 rad.
 */
typedef struct CalLinear {
	int nu;                // speeds of the model
	int count;             // n: independent coordinates
	const int *dof;        // [n] the speed of the model that each one is
	const double *N;       // [nu n] delta = N y
	const double *M;       // [n n] symmetric
	const double *C;       // [n n]
	const double *K;       // [n n]
	const double *inertia; // [nu] diagonal of the mass matrix of the model
	const double *udot;    // [nu] accelerations at the state: zero in equilibrium
	double imbalance;      // sqrt(udot'M udot / trace M): mean acceleration, zero in equilibrium [rad/s^2, m/s^2]
	double squared_floor;  // error of K relative to M: squares of frequencies below it are zero [1/s^2]
	CalAllocator allocator;
	void *memory;
} CalLinear;

typedef struct CalLinearOptions {
	int structural; // nonzero: inertia, springs, dampers and modes alone, at rest; neither gravity nor loads nor devices
	CalAllocator allocator; // {0}: malloc
} CalLinearOptions;

/**
 * At `state`, under the inputs that `input` gives for the states about it (NULL: none). With speeds that are not zero the
 * equations are those about the motion at this instant.
 * options NULL: {0}. CAL_SINGULAR: a degree of freedom has no inertia. CAL_ERR_UNSUPPORTED: a loop constrains speeds alone
 * (rolling, knife edge), and the model moves or accelerates. To be released by cal_linear_release().
 */
CAL_API CalStatus cal_linearize(const CalModel *model, const CalState *state, CalInputFn input, void *user,
                                const CalLinearOptions *options, CalWork *work, CalLinear *linear, CalError *error);
/**
 * A group of a simulation at its present state, with its loads and devices; other groups and the states of devices stay
 * as they are. options NULL: {0}. Does not change the run.
 */
CAL_API CalStatus cal_sim_linearize(CalSim *sim, int group, const CalLinearOptions *options, CalLinear *linear,
                                    CalError *error);
CAL_API void cal_linear_release(CalLinear *linear);

/** A[2n 2n] of (y, y')' = A (y, y'). CAL_SINGULAR: M is not positive definite. */
CAL_API CalStatus cal_linear_state_matrix(const CalLinear *linear, double *A);

/* ---- modes ------------------------------------------------------------------------------------ */

typedef enum CalModeKind {
	CAL_MODE_RIGID,       // no stiffness: the displacement stays
	CAL_MODE_OSCILLATION, // a pair of eigenvalues -damping w +- i w sqrt(1 - damping^2)
	CAL_MODE_APERIODIC,   // a real eigenvalue: decay, or growth if it is positive
} CalModeKind;

typedef struct CalSystemMode {
	CalModeKind kind;    //
	double frequency;    // |eigenvalue| of an oscillation [rad/s]; 0 of the others
	double damping;      // ratio of an oscillation; negative: it grows
	double real, imag;   // eigenvalue [1/s]; imag >= 0
	const double *shape; // [nu] displacements of the model's speeds, real parts; the largest by kinetic energy is real
	const double *shape_imag;    // [nu] imaginary parts
	const double *participation; // [nu] shares of the speeds: |shape_i|^2 M_ii, sum 1
} CalSystemMode;

typedef struct CalSystemModes {
	int count;                 // modes: rigid ones first, then by frequency; aperiodic ones after them
	int rigid;                 // rigid-body modes
	int damped;                // nonzero: damping, gyroscopic or other unsymmetric terms were there
	const CalSystemMode *mode; // [count]
	CalAllocator allocator;
	void *memory;
} CalSystemModes;

typedef struct CalSystemModesOptions {
	double max_frequency; // undamped modes up to it [rad/s]; 0: all
	int most;             // the lowest so many undamped modes take part; 0: 150
} CalSystemModesOptions;

/**
 * Modes of a linear system: undamped ones of M and the symmetric part of K, in which the damped problem is then solved.
 * With all of them taking part that is exact; otherwise those above are left out of the damped modes.
 */
CAL_API CalStatus cal_linear_modes(const CalLinear *linear, const CalSystemModesOptions *options,
                                   const CalAllocator *allocator, CalSystemModes *modes, CalError *error);
CAL_API void cal_system_modes_release(CalSystemModes *modes);
/**
 * Effective masses of all modes, mass[count][6]: along x, y, z [kg] and about them through the center of mass [kg m^2], world axes,
 * |p'shape|^2 / (shape'M shape) with the momenta p of unit speeds. Of a model on the ground those of all modes together are the mass
 * that moves; modes of a free model that are not rigid have none. modes: of linear, which is of the group at its present state.
 * CAL_ERR_UNSUPPORTED: the model has functions of its own (cal_derivatives_exact).
 */
CAL_API CalStatus cal_sim_mode_masses(CalSim *sim, int group, const CalLinear *linear, const CalSystemModes *modes,
                                      double (*mass)[6], CalError *error);

/* ---- accelerations from held system matrices ------------------------------------------------------ */

/*
 * At an update the system matrices are formed at a state and decomposed: modes phi_i with phi_i'M phi_j = delta_ij of the
 * mass matrix and the stiffness of modes and joint springs, with loops held. Until the next update
 *   udot = sum_i weight_i phi_i phi_i' f + P gamma
 * with forces f and loop terms gamma of the present state. All modes with weight 1 and an update before every evaluation
 * are forward dynamics. Of the options `kind` and `update` are not read: the caller updates.
 */
CAL_API CalStatus cal_system_form_create(const CalModel *model, const CalFormulationOptions *options,
                                         const CalAllocator *allocator, CalSystemForm **form);
CAL_API void cal_system_form_destroy(CalSystemForm *form); // accepts NULL
/** Forms and decomposes the matrices at a state; prescribed[nu] as in CalInput. CAL_SINGULAR: no inertia somewhere. */
CAL_API CalStatus cal_system_form_update(CalSystemForm *form, const CalState *state, const uint8_t *prescribed,
                                         CalWork *work);
/** As cal_hybrid_dynamics(). Updates by itself before the first call and when other degrees of freedom are prescribed. */
CAL_API CalStatus cal_system_form_dynamics(CalSystemForm *form, const CalState *state, const CalInput *input,
                                           CalWork *work, double *udot, double *force);
/** Takes the speed of frozen modes out of u[nu]; returns the kinetic energy that is lost [J]. After an update. */
CAL_API double cal_system_form_project(const CalSystemForm *form, double *u);
/** sqrt(sum (phi_i'M a)^2) over the retained modes: the size of a[nu] as far as it is theirs. */
CAL_API double cal_system_form_norm(const CalSystemForm *form, const double *a);
/**
 * Takes the forces on modes that are not retained, f of the last evaluation, out of tau[nu]: under what is left order N
 * accelerates the retained modes alone, and can be compared.
 */
CAL_API void cal_system_form_filter(const CalSystemForm *form, double *tau);
/**
 * 1/2 sum (phi_i'f)^2 / w_i^2 over the modes that are not retained, f of the last evaluation: the strain energy of the
 * deflections that they have not got, or not yet [J].
 */
CAL_API double cal_system_form_missing_energy(const CalSystemForm *form);

typedef struct CalSystemFormInfo {
	int modes;       // of the last update
	int retained;    //
	double highest;  // frequency of the highest that is retained [rad/s]; 0: not known, all are retained
	double next;     // of the one after it; 0: there is none
	double time;     // of the last update [s]
	int64_t updates; //
} CalSystemFormInfo;
/** What there is to know of the last update. */
CAL_API CalSystemFormInfo cal_system_form_info(const CalSystemForm *form);

/** What `formulation: system` did in a run, all groups together (CalSimOptions.formulation). */
typedef struct CalFormulationReport {
	int64_t updates;      // 0: order N
	int modes, retained;  // at the last update
	double highest, next; // frequencies of the last retained and of the first that is not [rad/s]; 0: none
	double error;        // of accelerations of the retained modes against order N, before updates: root mean square, as
						 // part of that of the accelerations
	double last;         // the same before the last update alone
	double largest;      // the largest of them, as part of the largest acceleration
	double largest_time; // when [s]
	double missing_energy; // of deflections that modes have not got because they are not retained, the largest [J]
	double energy_removed; // with the speeds of modes when these were no longer retained [J]
} CalFormulationReport;
CAL_API CalFormulationReport cal_sim_formulation(const CalSim *sim);

#ifdef __cplusplus
}
#endif
#endif
