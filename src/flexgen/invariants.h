// SPDX-License-Identifier: Apache-2.0
/*
 * invariants.h — inertia invariants while they are checked and turned into mass nodes.
 *
 * The inertia of a modal body is two sums [THEORY 2.2]: over point masses, of products of two of the functions 1,
 * x, y, z and the components of the shapes; and over rotary inertias, [1 psi]'J[1 psi]. Each is a Gram matrix
 * (inertia_gram.h), and each column of a factor of the latter is a rotor, J = aa' with slopes psi = ab'/a'a. What is
 * given determines all of both but how the inertia of the undeformed body is shared between them, which acts in no way and
 * is free.
 */
#ifndef CALDER_FLEXGEN_INVARIANTS_H
#define CALDER_FLEXGEN_INVARIANTS_H

#include <calder/flex.h>

#include "base/error.h"
#include "flexgen/flex_builder.h"
#include "flexgen/inertia_gram.h"

/** Relative differences up to this come from numbers written with few digits. */
#define INVARIANTS_ROUNDED 1e-7

typedef struct Invariants {
	const CalFlexInvariants *in;
	const CalBodyDef *body; // for messages
	CalError *error;
	int m;
	double com[3];
	double *modal;      // [m][m] M_ee
	double *turn;       // [3][m] sum J psi
	double *spin;       // [m][m] sum psi'J psi
	double *couple;     // [3][3m] sum m (r - com) phi'
	int rotary;         // nonzero: turn or spin are more than round-off
	InertiaGram shapes; // of 1 and the shapes, 1 + 3m
	InertiaGram spins;  // of spin, measured by modal
	InertiaGram points; // 4 + 3m
	InertiaGram rotors; // 3 + m
	double *room;       // [4 + 3m][4 + 3m] for the points
} Invariants;

/** sum m phi_k phi_l, k = c m + a being component c of mode a. */
static inline double invariants_shape(const CalFlexInvariants *in, int k, int l) {
	int m = in->modes;
	return in->shape[((k / m * 3 + l / m) * m + k % m) * m + l % m];
}

/** sum m phi'phi of the mode of component k. */
static inline double invariants_whole(const CalFlexInvariants *in, int k) {
	double sum = 0;
	for (int c = 0; c < 3; c++) {
		int l = c * in->modes + k % in->modes;
		sum += invariants_shape(in, l, l);
	}
	return sum;
}

/**
 * Refuses what no masses have. Creates *builder and fills its nodes; on failure flex_builder_free() it all the same.
 */
CalStatus invariants_masses(Invariants *v, FlexBuilder *builder);

/** "place: body "name": ..." */
CalStatus invariants_refuse(const Invariants *v, CalStatus status, const char *format, ...) ERROR_PRINTF(3, 4);

#endif
