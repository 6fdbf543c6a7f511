// SPDX-License-Identifier: Apache-2.0
/*
 * fe_reduce_modes.c — shapes of a body that are modes from a file, computed elsewhere, with the mass matrix of the model.
 *
 * The body frame is at the interface where all modes vanish: there the FE program held the structure. Without any, the modes
 * are those of the free structure: rigid ones are left out, and the body frame is at the center of mass. Eigenvectors have six
 * or seven digits, so that their modal masses are orthogonal to some 1e-6.
 */
#include <math.h>
#include <string.h>

#include "fe/fe_reduce.h"

static const double RIGID = 1e-3;      // squared frequency of a rigid mode over that of the first elastic one
static const double ORTHOGONAL = 1e-3; // coupling of two modes over their modal masses

static const double *mode_shape(const Reduce *r, int k) { return r->fe->mode_shapes + (size_t)k * (size_t)r->n; }

static double largest_translation(const Reduce *r) {
	double most = 0;
	for (int k = 0; k < r->fe->mode_count; k++)
		for (int i = 0; i < r->n; i++)
			if (r->fe->dofs[i].component < 3)
				most = fmax(most, fabs(mode_shape(r, k)[i]));
	return most;
}

/* No mode moves the node. */
static bool is_held(const Reduce *r, int node, double most) {
	for (int k = 0; k < r->fe->mode_count; k++)
		for (int c = 0; c < 6; c++)
			if (fabs(mode_shape(r, k)[r->fe->nodes[node].dof[c]]) > 1e-9 * most)
				return false;
	return true;
}

/* The frame that was held comes first; false: there is none, and the body is free. */
static bool held_frame_first(Reduce *r) {
	const double most = largest_translation(r);
	for (int f = 0; f < r->frame_count; f++)
		if (is_held(r, r->frames[f].node, most)) {
			const FeFrame held = r->frames[f];
			memmove(r->frames + 1, r->frames, (size_t)f * sizeof *r->frames);
			r->frames[0] = held;
			return true;
		}
	return false;
}

/* How many of the modes are rigid: all those far below the next one, six at most. */
static int count_rigid(const Reduce *r) {
	const double *value = r->fe->mode_values;
	int count = r->fe->mode_count < 6 ? r->fe->mode_count : 6;
	while (count > 0 && !(count < r->fe->mode_count && fabs(value[count - 1]) < RIGID * value[count]))
		count--;
	return count;
}

CalStatus fe_take_modes(Reduce *r) {
	const bool asked = r->how->reference != NULL;
	const char *wanted = asked ? r->frames[0].name : NULL;
	const bool held = held_frame_first(r);
	const int first = held ? 0 : count_rigid(r), there = r->fe->mode_count - first;
	if (asked && (!held || strcmp(wanted, r->frames[0].name) != 0))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "the modes of the file are not held at \"%.60s\"; they are %s%.60s", wanted,
		                     held ? "held at " : "free", held ? r->frames[0].name : "");
	if (!held)
		r->frame_count = 0;
	r->static_count = 0;
	r->modes_there = there;
	r->mode_count = r->mode_count < there ? r->mode_count : there;
	for (int k = 1; k < r->fe->mode_count; k++)
		if (r->fe->mode_values[k] < r->fe->mode_values[k - 1] && r->fe->mode_values[k] > 0)
			return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
			                     "mode %d of the file is below the one before it; punch one subcase only", k + 1);
	if (there > 0 && !(r->fe->mode_values[first] > 0))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT, "the eigenvalue of mode %d is %g: a mechanism",
		                     first + 1, r->fe->mode_values[first]);
	for (int k = 0; k < r->mode_count && r->how->max_frequency > 0; k++)
		if (sqrt(r->fe->mode_values[first + k]) > r->how->max_frequency)
			r->mode_count = k;
	if (r->mode_count < there)
		r->dropped_from = sqrt(r->fe->mode_values[first + r->mode_count]);
	r->T = pool_array(&r->pool, (size_t)r->mode_count * (size_t)r->n, sizeof *r->T);
	r->values = pool_array(&r->pool, (size_t)r->mode_count, sizeof *r->values);
	if (!r->T || !r->values)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int k = 0; k < r->mode_count; k++) {
		memcpy(r->T + (size_t)k * (size_t)r->n, mode_shape(r, first + k), (size_t)r->n * sizeof *r->T);
		r->values[k] = r->fe->mode_values[first + k];
	}
	return CAL_OK;
}

CalStatus fe_stiffness_of_modes(const Reduce *r, int shapes, const double *M, double *K) {
	for (int i = 0; i < shapes; i++)
		for (int j = 0; j < shapes; j++) {
			const double size = sqrt(M[i * shapes + i] * M[j * shapes + j]), coupling = fabs(M[i * shapes + j]) / size;
			K[i * shapes + j] = i == j ? r->values[i] * M[i * shapes + i] : 0;
			if (!(size > 0) || (i != j && !(coupling <= ORTHOGONAL)))
				return fe_file_error(
					r->error, r->fe->path, CAL_ERR_INPUT,
					"modes %d and %d of the file are coupled by %.2g of their modal masses (%g is allowed): the mass "
					"matrix is not that of the modes",
					i + 1, j + 1, size > 0 ? coupling : 1, ORTHOGONAL);
		}
	return CAL_OK;
}
