// SPDX-License-Identifier: Apache-2.0
/*
 * cvode_problem.h — what a step of CVODE (cvode.c) knows, and the functions that CVODE calls in it (cvode_problem.c).
 */
#ifndef CALDER_INTEGRATE_CVODE_PROBLEM_H
#define CALDER_INTEGRATE_CVODE_PROBLEM_H

#include "integrate/scheme.h"
#include "integrate/system_jacobian.h"

#ifdef CALDER_WITH_SUNDIALS

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>

enum { START_STEPS = 10 }; // after a restart that CVODE lets grow tenfold: they have a smaller tolerance

typedef struct Cvode {
	int n;                // numbers of y
	double *memory;       // of the arrays below
	double *q_base;       // [nq]
	double *q_raw;        // [nq] before a projection
	double *moved;        // [2 nu] what it did
	double *before, *way; // [nu] delta before the step at hand; how much the last one changed it
	double t_start;       // of the step at hand
	double t_end;         // it must not pass
	double t_base, clock; // where CVODE's clock is zero, and what it shows
	double clock_before;  // at the start of the last step
	double h_last;        // size of the last step
	double energy;        // scale of quadratures
	int steps;            // since the restart, counted up to START_STEPS
	long failed;          // error tests since the restart that are in the statistics
	bool forward;         // direction of the history
	bool idle;            // of its first call, while it is created: nothing moves
	bool gap;             // y is no longer that of the history
	CalStatus status;     // of the last right-hand side
	CalStatus fatal;      // what no smaller step can mend; CVODE's fixed-point solver would retry and forget it
	SUNContext context;
	void *cvode;
	N_Vector y, weights, dense; // dense: of the interpolation
	SystemJacobian system;      // of BDF
	bool analytical;            // it is used; false: differences, where the whole state is not known here
	double *tangent;            // [4 nu] scratch of the Jacobian
	SUNNonlinearSolver fixed_point;
	SUNMatrix jacobian;
	SUNLinearSolver linear;
} Cvode;

static inline double *numbers(N_Vector v) { return N_VGetArrayPointer(v); }

/** Of CVODE's clock; its stop time is t_end itself, and rounding leads not beyond it. */
double problem_time(const Cvode *c, double clock);
/** The state of y, without what is imposed on it, in the stage. */
void problem_stage(CalIntegrator *integrator, const double *y, double t);
/** 1 / (share (atol + rtol size)), scaled so that only what counts does in CVODE's mean over all of y. */
void problem_weigh(const CalIntegrator *integrator, const double *y, double share, double *w);
/** c->moved: what a projection of the stage did to (delta, u), by c->q_raw and the y that the stage was made from. */
void problem_find_moved(CalIntegrator *integrator, const double *y);

/** A CVRhsFn, y' = (rate(delta, u), udot, xdot): 0, > 0 if a smaller step may help, < 0 if not. */
int problem_rate(realtype clock, N_Vector y, N_Vector ydot, void *integrator);
/** A CVEwtFn: the weights of the tolerance, or of a part of it after a restart. */
int problem_error_weights(N_Vector y, N_Vector weights, void *integrator);
/** A CVLsJacFn. */
int problem_jacobian(realtype clock, N_Vector y, N_Vector fy, SUNMatrix J, void *integrator, N_Vector forward,
                     N_Vector backward, N_Vector other);
/** A CVProjFn: the correction that puts y on the loops. */
int problem_project(realtype clock, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error,
                    void *integrator);

#endif

#endif
