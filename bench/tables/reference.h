// SPDX-License-Identifier: Apache-2.0
/*
 * reference.h — what the benchmark motions should be, from equations of motion written down by hand or from published tables.
 *
 * None of it uses the library. The equations are integrated with steps so small that their error does not count.
 */
#ifndef BENCH_TABLES_REFERENCE_H
#define BENCH_TABLES_REFERENCE_H

enum { REFERENCE_SIZE = 4 };

/** A motion by its own equation y' = rate(y); advance it to growing times only. */
typedef struct Reference {
	double t;
	double y[REFERENCE_SIZE];
	double step;  // [s]
	double value; // a constant of the equation
	void (*rate)(const struct Reference *reference, const double *y, double *dy);
} Reference;

/** Advances by the classical Runge-Kutta method to t. */
void reference_advance(Reference *reference, double t);

/** th'' = -c cos(th), y = {th, th'}. */
Reference reference_pendulum(double c, double th, double rate);
/** c of N four-bar windows. */
double reference_windows(int windows);
/** The stiff flyball governor, both rods alike: y = {s, s', angle of the rods below level, its rate}. */
Reference reference_governor(void);

#endif
