// SPDX-License-Identifier: Apache-2.0
/*
 * calder/integrate.h — advancing a state in time.
 *
 * All schemes work on the configuration manifold: within a step the unknown is the displacement
 * delta[nu] from the configuration at its start, so that rotations advance by the exponential map and
 * quaternions stay unit. Memory is sized by query; a step does not allocate. With loops every step (or every so many,
 * see the options) ends with a projection on them (calder/loops.h); one that fails, or does not converge, is the step's
 * status.
 *
 * An integrator advances one model (cal_integrator_create), or a system of several that act on each other
 * (cal_integrator_create_system): all of them are then at the same stage of the same step whenever forces are asked for.
 */
#ifndef CALDER_INTEGRATE_H
#define CALDER_INTEGRATE_H

#include <calder/branches.h>
#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All methods; what there is to say of each is in its file (src/integrate). New ones go to the end: numbers are stored. */
#define CAL_METHOD_LIST(X)          \
	X(CAL_METHOD_EULER_CROMER)      \
	X(CAL_METHOD_RK4)               \
	X(CAL_METHOD_IMPLICIT)          \
	X(CAL_METHOD_IMPLICIT_MIDPOINT) \
	X(CAL_METHOD_DOPRI5)            \
	X(CAL_METHOD_CVODE_ADAMS)       \
	X(CAL_METHOD_CVODE_BDF)         \
	X(CAL_METHOD_ROSENBROCK)

typedef enum CalMethod {
#define CAL_METHOD_ENUM(name) name,
	CAL_METHOD_LIST(CAL_METHOD_ENUM)
#undef CAL_METHOD_ENUM
		CAL_METHOD_COUNT,
	CAL_METHOD_DEFAULT = CAL_METHOD_DOPRI5 // of a run that names none; adaptive, always built
} CalMethod;

/** What a method is and can do. All methods take loops, devices, events, branches and ranks. */
typedef struct CalMethodInfo {
	const char *name;       // in files, options and messages
	const char *doc;        // one line
	int order;              // errors over a fixed time go with step^order; of variable order: the highest
	int evaluations;        // of the dynamics in a step; 0: varies
	int adaptive;           // nonzero: chooses its steps by rtol and atol, and interpolates; 0: has to be given a step
	double rtol, atol;      // adaptive: defaults
	double implicit_share;  // of a step, by which springs, dampers and modes are taken ahead implicitly; 0: explicit
	double imaginary_limit; // h |lambda| is stable below it for oscillations; of what is explicit. 0: adapts its step
	double real_limit;      // the same for decay
	double damping;         // an undamped oscillation w loses damping (w h)^damping_order of its amplitude in a step
	int damping_order;      //
	int subsystems;         // nonzero: works with compiled subsystems (calder/subsystem.h)
	int held_matrices;      // nonzero: works with system matrices that are held (CAL_FORMULATION_SYSTEM)
	int exact_resume;       // nonzero: a run resumed from a checkpoint has the same bits
	const char *missing;    // NULL: it can be used; otherwise what this build lacks
} CalMethodInfo;

/** NULL outside the list. */
CAL_API const CalMethodInfo *cal_method_info(CalMethod method);
CAL_API const char *cal_method_name(CalMethod method); // NULL outside the list
CAL_API int cal_method_order(CalMethod method);        // of convergence; 0 outside the list
/** 0 and *method on success, -1 if no method has that name. */
CAL_API int cal_method_find(const char *name, CalMethod *method);
/** The names of all methods as "a, b or c"; returns the length that takes, as snprintf does. */
CAL_API int cal_method_names(char *text, size_t size);

/** Fills *input for (t, q, u) of state. Returns nonzero to stop the integration with CAL_ERR_USER. */
typedef int (*CalInputFn)(void *user, const CalModel *model, const CalState *state, CalInput *input);

typedef struct CalIntegratorOptions {
	CalMethod method;  //
	double step;       // fixed step, or first step of an adaptive method (0: chosen) [s]
	double rtol, atol; // adaptive: relative and absolute local error (0: 1e-9, 1e-12)
	double min_step;   // adaptive: CAL_STEP_TOO_SMALL below it (0: 1e-14 of the time span)
	double max_step;   // adaptive (0: none)
	int64_t max_steps; // per call of cal_integrator_advance or cal_sim_advance (0: 10^9)
	int projection;    // loops: steps from one projection to the next; 0: 1, negative: none (CalLoopDef.frequency)
	int euclidean;     // projections: nonzero: smallest change in coordinates; 0: smallest in the metric of M
	CalInputFn input;  // NULL: no inputs
	void *user;        // handed to input
} CalIntegratorOptions;

/** The options as an integrator uses them: defaults in place of zeros; tolerances of fixed-step methods are 0. */
CAL_API CalIntegratorOptions cal_integrator_options(const CalIntegratorOptions *options);

/* ---- systems ------------------------------------------------------------------------------ */

/**
 * A motion that is given as a function of time: fills q[nq], u[nu] and udot[nu] at t. u is the derivative of q and udot
 * that of u; nothing checks that. Pure, without allocation; returns nonzero to stop with CAL_ERR_USER.
 */
typedef int (*CalMotionFn)(void *user, const CalModel *model, double t, double *q, double *u, double *udot);

/**
 * Sets those of q[nq] and u[nu] that are given functions of time, at t. Their accelerations are the input's: prescribed,
 * with udot the derivative of u. Pure, without allocation; returns nonzero to stop with CAL_ERR_USER.
 */
typedef int (*CalPrescribedFn)(void *user, const CalModel *model, double t, double *q, double *u);

/** Accelerations from held system matrices (calder/linear.h). */
typedef struct CalSystemForm CalSystemForm;

/** Where a power comes from: prescribed dofs (force times speed), driven constraint equations (multiplier times rate). */
typedef enum CalPower { CAL_POWER_PRESCRIBED, CAL_POWER_LOOPS, CAL_POWER_COUNT } CalPower;

/** One model of a system. */
typedef struct CalSystemPart {
	const CalModel *model;
	CalWork *work;
	CalMotionFn motion;    // NULL: it moves by its dynamics; otherwise as this says, without dynamics and loops
	void *motion_user;     // handed to motion
	CalBranches *branches; // of the model: solved and advanced by their threads; NULL: by the caller's alone
	CalSystemForm *form;   // accelerations come from it, and not from the recursion; NULL: they do. Not with branches
	CalPrescribedFn drive; // NULL: none; otherwise called before every evaluation and at the end of every step
	void *drive_user;      // handed to drive
	double *force;         // [nu] scratch, forces of prescribed dofs; NULL: power is not wanted
	double *power;         // [CAL_POWER_COUNT] that was supplied in the last evaluation [W]; NAN: not found (ranks)
} CalSystemPart;

/**
 * Fills what acts at a state of a system. state: everything, the arrays of the models one after another; parts[count]:
 * the same seen as the state of each model; inputs[count] and xdot[nx] are zero before the call. Must not allocate.
 * A status other than CAL_OK stops the integration with it (positive: adaptive methods try a smaller step first).
 */
typedef CalStatus (*CalSystemFn)(void *user, const CalState *state, const CalState *parts, CalInput *inputs,
                                 double *xdot);

/**
 * The size that adaptive methods measure errors of quadratures by, beside that of the quadratures themselves, at a state of
 * the system; asked only where a step would fail without it.
 */
typedef double (*CalSystemScaleFn)(void *user, const CalState *state);

/** Called when all models have been evaluated: what follows from the powers of the parts is added to xdot. */
typedef void (*CalSystemDoneFn)(void *user, double *xdot);

/**
 * Models that advance together, and states x beside theirs. The state of a system is a CalState with q, u and x: q of the
 * first model, then q of the second, and so on; u likewise.
 */
typedef struct CalSystem {
	const CalSystemPart *parts; // [count]
	int count;                  // >= 1
	int nx;                     // states beside q and u: xdot by input
	int quadratures;            // the last of them: sums over time on which nothing depends, all of one unit
	CalSystemFn input;          // NULL: CalIntegratorOptions.input is asked for each model, and x stays
	CalSystemScaleFn scale;     // NULL: quadratures are measured by themselves alone
	CalSystemDoneFn done;       // NULL: nothing follows
	void *user;                 // handed to all of them
} CalSystem;

typedef struct CalIntegrator CalIntegrator;

/** Bytes that cal_integrator_init() needs; 0: the model or the method is not valid. */
CAL_API size_t cal_integrator_size(const CalModel *model, CalMethod method);
/**
 * memory aligned to 64 bytes; options are copied. The integrator keeps model and work. The methods cvode-... and rosenbrock allocate beside
 * the memory, with malloc: cal_integrator_destroy() gives that back, for integrators in memory of the caller too.
 * CAL_ERR_UNSUPPORTED: the method is not built (CalMethodInfo.missing).
 */
CAL_API CalStatus cal_integrator_init(const CalModel *model, CalWork *work, const CalIntegratorOptions *options,
                                      void *memory, size_t size, CalIntegrator **integrator);
CAL_API CalStatus cal_integrator_create(const CalModel *model, CalWork *work, const CalIntegratorOptions *options,
                                        CalIntegrator **integrator);
CAL_API void cal_integrator_destroy(CalIntegrator *integrator);

/** The same for a system; its parts are copied. All calls below then take states of the system. */
CAL_API size_t cal_integrator_system_size(const CalSystem *system, CalMethod method);
CAL_API CalStatus cal_integrator_init_system(const CalSystem *system, const CalIntegratorOptions *options, void *memory,
                                             size_t size, CalIntegrator **integrator);
CAL_API CalStatus cal_integrator_create_system(const CalSystem *system, const CalIntegratorOptions *options,
                                               CalIntegrator **integrator);

/**
 * One step of size h (adaptive methods: one accepted step, at most h). On failure state is unchanged. Models whose motion
 * is given are set to it before and after the step.
 */
CAL_API CalStatus cal_integrator_step(CalIntegrator *integrator, CalState *state, double h);
/** Steps until state->t == t_end exactly. On failure state is that after the last good step. */
CAL_API CalStatus cal_integrator_advance(CalIntegrator *integrator, CalState *state, double t_end);
/** Adaptive methods: the state at a time within the last step, to the order of the dense output (4). */
CAL_API CalStatus cal_integrator_interpolate(const CalIntegrator *integrator, double t, CalState *out);
/** Adaptive methods: udot[nu] at a time within the last step, the derivative of the dense output. */
CAL_API CalStatus cal_integrator_acceleration(const CalIntegrator *integrator, double t, double *udot);
/** Call after state or inputs were changed from outside (discontinuity): the integrator restarts. */
CAL_API void cal_integrator_reset(CalIntegrator *integrator);
/** The same for a small jump: adaptive methods keep their step size. */
CAL_API void cal_integrator_renew(CalIntegrator *integrator);
/** After a failure: the model of the system that it came from, or -1 (the input of a system, the step size). */
CAL_API int cal_integrator_failed_dof(const CalIntegrator *integrator);

typedef struct CalIntegratorStats {
	int64_t steps;       // accepted
	int64_t rejected;    // adaptive
	int64_t evaluations; // forward dynamics calls, of all models
	double last_step;    // size of the last accepted step [s]
} CalIntegratorStats;
/** Since the integrator was made. */
CAL_API CalIntegratorStats cal_integrator_stats(const CalIntegrator *integrator);

#ifdef __cplusplus
}
#endif
#endif
