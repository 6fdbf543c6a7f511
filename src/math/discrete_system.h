// SPDX-License-Identifier: Apache-2.0
/*
 * discrete_system.h — linear systems in continuous time, and what they are at the samples of a controller.
 *
 * x' = A x + B u, y = C x + D u becomes x[k+1] = A x[k] + B u[k], y[k] = C x[k] + D u[k] with the period T.
 */
#ifndef CALDER_MATH_DISCRETE_SYSTEM_H
#define CALDER_MATH_DISCRETE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct StateMatrices {
	int n, m, p;           // states, inputs, outputs
	double *A, *B, *C, *D; // row-major: n x n, n x m, p x n, p x m
} StateMatrices;

/** E = exp(M), n x n; M is scaled; power and next: scratch of that size. */
void matrix_exponential(int n, double *M, double *E, double *power, double *next);

/** How many doubles the functions below need as scratch. */
size_t discretize_scratch(int n, int m, int p);
/** Exact for inputs that are held from sample to sample: exp of [[A, B], [0, 0]] T. Replaces A and B. */
void discretize_hold(StateMatrices *s, double T, double *scratch);
/** Tustin's rule s = (2/T) (z - 1)/(z + 1), the trapezoidal rule. Replaces all. False: I - A T/2 is singular. */
bool discretize_tustin(StateMatrices *s, double T, double *scratch);
/**
 * The controllable canonical form of (num[0] s^n + ... + num[n])/(den[0] s^n + ... + den[n]), den[0] not zero: m = p = 1.
 * The first state is the highest derivative. The same for powers of z.
 */
void system_of_transfer(const double *num, const double *den, StateMatrices *s);

#endif
