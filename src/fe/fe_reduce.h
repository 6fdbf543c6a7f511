// SPDX-License-Identifier: Apache-2.0
/*
 * fe_reduce.h — a reduction in progress, shared by the shapes (fe_reduce.c) and their mass (fe_reduce_mass.c).
 */
#ifndef CALDER_FE_FE_REDUCE_H
#define CALDER_FE_FE_REDUCE_H

#include "fe/fe_modal.h"
#include "fe/fe_model.h"
#include "fe/fe_solver.h"
#include "flexbody/mode_synthesis.h"

enum { FE_MAX_INTERFACES = 64 };

typedef struct Reduce {
	const CalFeModel *fe;
	const CalFeReduction *how;
	CalError *error;
	CalFeInfo info;
	Pool pool;
	FeFrame frames[FE_MAX_INTERFACES]; // the reference first
	int frame_count;
	CalVec3 origin;      // of B in the model
	bool *inside;        // [n] neither held nor of an interface
	int n;               // equations
	int static_count;    // shapes
	int mode_count;      // kept
	int modes_there;     // with all interfaces held
	double dropped_from; // [rad/s]
	double *T;           // [shapes][n]
	double *values;      // [shapes] squared frequencies
	Synthesis synthesis; // holds both
	FeSolver solver;     // the stiffness with the interfaces held, factored
} Reduce;

/** Component of a shape at a node; zero where it has no such equation. */
double fe_shape_at(const Reduce *r, int shape, const FeNode *node, int component);

/** Gives the body mass points that have the moments of the finite element model in these shapes. */
CalStatus fe_reduce_mass(Reduce *r, CalModal *modal);

/**
 * The inertia forces -sum m (a + W r) of the twelve unit acceleration fields of CalFlexDef.geometric; false: out of
 * memory.
 */
bool fe_inertia_loads(Reduce *r, double *loads);

/** Geometric stiffness of the body per unit acceleration field, and phi2 of its interfaces. */
CalStatus fe_reduce_geometric(Reduce *r, CalModal *modal);

/** Takes the shapes from the modes of the file, and the frame at which they were held to the front. */
CalStatus fe_take_modes(Reduce *r);
/** K of these shapes, diagonal, from their frequencies and modal masses M; an error if they are not orthogonal. */
CalStatus fe_stiffness_of_modes(const Reduce *r, int shapes, const double *M, double *K);

/** T A T' for A = K or M, symmetric to the last bit; product[shapes][n] becomes A T. */
void fe_project(const Reduce *r, const FeMatrix *A, int shapes, double *product, double *out);

#endif
