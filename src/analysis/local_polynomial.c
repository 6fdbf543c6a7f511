// SPDX-License-Identifier: Apache-2.0
/*
 * local_polynomial.c — values and rates of noisy samples by polynomials that are nearest to the samples around each (Savitzky and
 * Golay 1964), here at any times. A fit that is centered has no lag; its rates pass low frequencies and damp what is faster than
 * the window.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <calder/identify.h>

#include "math/eigen.h"

enum { MOST_DEGREE = 5 };

/* Coefficients c of sum c_k ((t - t_at)/h)^k through samples first ... last by least squares. */
static bool fit(const double *time, const double *value, int first, int last, double at, double h, int degree,
                double *c) {
	const int n = degree + 1;
	double A[(MOST_DEGREE + 1) * (MOST_DEGREE + 1)] = {0};
	memset(c, 0, (size_t)n * sizeof *c);
	for (int i = first; i <= last; i++) {
		double power[MOST_DEGREE + 1] = {1};
		for (int k = 1; k < n; k++)
			power[k] = power[k - 1] * (time[i] - at) / h;
		for (int k = 0; k < n; k++) {
			c[k] += power[k] * value[i];
			for (int l = 0; l <= k; l++)
				A[k * n + l] += power[k] * power[l];
		}
	}
	if (cholesky_factor(n, A, NULL, 0) >= 0)
		return false;
	cholesky_solve(n, A, c);
	return true;
}

/* Samples first ... last within half of time i, at least degree + 1 of them. */
static void find_window(int count, const double *time, int i, double half, int degree, int *first, int *last) {
	*first = *last = i;
	while (*first > 0 && time[*first - 1] >= time[i] - half)
		--*first;
	while (*last + 1 < count && time[*last + 1] <= time[i] + half)
		++*last;
	while (*last - *first < degree) { // the nearest on either side
		const bool up = *last + 1 < count, down = *first > 0;
		if (up && (!down || time[*last + 1] - time[i] < time[i] - time[*first - 1]))
			++*last;
		else
			--*first;
	}
}

CalStatus cal_estimate_rates(int count, const double *time, const double *value, double window, int degree,
                             double *smooth, double *rate, double *acceleration) {
	if (!time || !value || degree < 2 || degree > MOST_DEGREE || count <= degree || !(window >= 0) || !isfinite(window))
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < count; i++)
		if (!isfinite(time[i]) || !isfinite(value[i]) || (i > 0 && !(time[i] > time[i - 1])))
			return CAL_ERR_ARGUMENT;
	const double half = 0.5 * window * (1 + 1e-9);
	for (int i = 0, first, last; i < count; i++) {
		double c[MOST_DEGREE + 1];
		find_window(count, time, i, half, degree, &first, &last);
		const double h = fmax(time[last] - time[i], time[i] - time[first]);
		if (!fit(time, value, first, last, time[i], h, degree, c))
			return CAL_ERR_ARGUMENT;
		if (smooth)
			smooth[i] = c[0];
		if (rate)
			rate[i] = c[1] / h;
		if (acceleration)
			acceleration[i] = 2 * c[2] / (h * h);
	}
	return CAL_OK;
}
