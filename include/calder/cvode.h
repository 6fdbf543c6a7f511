// SPDX-License-Identifier: Apache-2.0
/*
 * calder/cvode.h — optional: integration by CVODE of SUNDIALS (variable order and step; Adams or BDF).
 *
 * For long smooth runs (Adams, order 1 to 12) and stiff systems (BDF, order 1 to 5, with a dense Jacobian by
 * differences). Works on the manifold as calder/integrate.h does: the unknowns are the displacement from a
 * base configuration and the speeds; the base moves on, and the method restarts, when a quaternion has
 * turned by 2.5 rad. Needs a library built with SUNDIALS (CALDER_WITH_SUNDIALS); otherwise cal_cvode_create
 * returns CAL_ERR_UNSUPPORTED. With loops every state that it hands out is projected on them (cal_loop_project): within
 * the step by BDF; beside the method by Adams, which restarts where the two part. rtol and atol bound the error of one step,
 * and CVODE hands on the solution that it bounded: over a run the errors of all steps add up to about rtol times their
 * number (10 s of a swinging window: 30 rtol by Adams, 600 by BDF), with loops as without. Not included by calder.h. SUNDIALS allocates on its own when created.
 */
#ifndef CALDER_CVODE_H
#define CALDER_CVODE_H

#include <calder/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CalCvodeMethod {
	CAL_CVODE_ADAMS, // not stiff
	CAL_CVODE_BDF,   // stiff
	CAL_CVODE_METHOD_COUNT
} CalCvodeMethod;

typedef struct CalCvodeOptions {
	CalCvodeMethod method; //
	double step;           // first step (0: chosen) [s]
	double rtol, atol;     // local error of coordinates and speeds (0: 1e-9, 1e-12); a quaternion has size 1
	double max_step;       // (0: none)
	int64_t max_steps;     // per call of cal_cvode_advance (0: 10^9)
	CalInputFn input;      // NULL: no inputs
	void *user;            // handed to input
} CalCvodeOptions;

typedef struct CalCvode CalCvode;

/** The object keeps model and work; options are copied. */
CAL_API CalStatus cal_cvode_create(const CalModel *model, CalWork *work, const CalCvodeOptions *options,
                                   CalCvode **cvode, CalError *error);
CAL_API void cal_cvode_destroy(CalCvode *cvode); // accepts NULL

/**
 * Integrates until state->t == t_end exactly, never beyond. The method continues where it was if state is the one
 * that the last call left; otherwise it restarts. On failure state is that after the last good step.
 */
CAL_API CalStatus cal_cvode_advance(CalCvode *cvode, CalState *state, double t_end);
/** Call after inputs were changed from outside (discontinuity): the method restarts. */
CAL_API void cal_cvode_reset(CalCvode *cvode);

/** Counts since creation; rejected: failed error tests. */
CAL_API CalIntegratorStats cal_cvode_stats(const CalCvode *cvode);

#ifdef __cplusplus
}
#endif
#endif
