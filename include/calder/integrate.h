// SPDX-License-Identifier: Apache-2.0
/*
 * calder/integrate.h — advancing a state in time.
 *
 * All schemes work on the configuration manifold: within a step the unknown is the displacement
 * delta[nu] from the configuration at its start, so that rotations advance by the exponential map and
 * quaternions stay unit. Memory is sized by query; a step does not allocate. With loops every step (or every so
 * many, see the options) ends with a projection on them (calder/loops.h); one that fails, or does not converge, is the step's status.
 */
#ifndef CALDER_INTEGRATE_H
#define CALDER_INTEGRATE_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_METHOD_LIST(X)                                                                                   \
	X(CAL_METHOD_EULER_CROMER, "euler-cromer", 1) /* u first, then q with the new u */                       \
	X(CAL_METHOD_RK4, "rk4", 4)                   /* classical, fixed step */                                \
	X(CAL_METHOD_IMPLICIT, "implicit", 1)         /* Euler-Cromer, implicit in springs, dampers and modes */ \
	X(CAL_METHOD_IMPLICIT_MIDPOINT, "implicit-midpoint",                                                     \
	  2)                              /* the same centred: two evaluations, no damping of its own */         \
	X(CAL_METHOD_DOPRI5, "dopri5", 5) /* Dormand-Prince 5(4), adaptive, dense output */

typedef enum CalMethod {
#define CAL_METHOD_ENUM(name, text, order) name,
	CAL_METHOD_LIST(CAL_METHOD_ENUM)
#undef CAL_METHOD_ENUM
		CAL_METHOD_COUNT
} CalMethod;

CAL_API const char *cal_method_name(CalMethod method); // NULL outside the list
CAL_API int cal_method_order(CalMethod method);
/** 0 and *method on success, -1 if no method has that name. */
CAL_API int cal_method_find(const char *name, CalMethod *method);

/** Fills *input for (t, q, u) of state. Returns nonzero to stop the integration with CAL_ERR_USER. */
typedef int (*CalInputFn)(void *user, const CalModel *model, const CalState *state, CalInput *input);

typedef struct CalIntegratorOptions {
	CalMethod method;  //
	double step;       // fixed step, or first step of an adaptive method (0: chosen) [s]
	double rtol, atol; // adaptive: relative and absolute local error (0: 1e-9, 1e-12)
	double min_step;   // adaptive: CAL_STEP_TOO_SMALL below it (0: 1e-14 of the time span)
	double max_step;   // adaptive (0: none)
	int64_t max_steps; // per call of cal_integrator_advance (0: 10^9)
	int projection;    // loops: steps from one projection to the next; 0: 1, negative: none (CalLoopDef.frequency)
	CalInputFn input;  // NULL: no inputs
	void *user;        // handed to input
} CalIntegratorOptions;

typedef struct CalIntegrator CalIntegrator;

CAL_API size_t cal_integrator_size(const CalModel *model, CalMethod method);
/** memory aligned to 64 bytes; options are copied. The integrator keeps model and work. */
CAL_API CalStatus cal_integrator_init(const CalModel *model, CalWork *work, const CalIntegratorOptions *options,
                                      void *memory, size_t size, CalIntegrator **integrator);
CAL_API CalStatus cal_integrator_create(const CalModel *model, CalWork *work, const CalIntegratorOptions *options,
                                        CalIntegrator **integrator);
CAL_API void cal_integrator_destroy(CalIntegrator *integrator);

/** One step of size h (adaptive methods: one accepted step, at most h). On failure state is unchanged. */
CAL_API CalStatus cal_integrator_step(CalIntegrator *integrator, CalState *state, double h);
/** Steps until state->t == t_end exactly. On failure state is that after the last good step. */
CAL_API CalStatus cal_integrator_advance(CalIntegrator *integrator, CalState *state, double t_end);
/** Adaptive methods: the state at a time within the last step, to the order of the dense output (4). */
CAL_API CalStatus cal_integrator_interpolate(const CalIntegrator *integrator, double t, CalState *out);
/** Tell the integrator that state or inputs were changed from outside (discontinuity). */
CAL_API void cal_integrator_reset(CalIntegrator *integrator);

typedef struct CalIntegratorStats {
	int64_t steps;       // accepted
	int64_t rejected;    // adaptive
	int64_t evaluations; // forward dynamics calls
	double last_step;    // size of the last accepted step [s]
} CalIntegratorStats;
CAL_API CalIntegratorStats cal_integrator_stats(const CalIntegrator *integrator);

#ifdef __cplusplus
}
#endif
#endif
