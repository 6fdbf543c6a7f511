// SPDX-License-Identifier: Apache-2.0
/*
 * fe_modal.h — the inside of a CalModal: a modal body between a file or a reduction and a description.
 */
#ifndef CALDER_FE_FE_MODAL_H
#define CALDER_FE_FE_MODAL_H

#include <calder/fe.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory_pool.h"
#include "fe/fe_mass.h"

enum { FE_MAX_MODES = 512 };

/** Where something stands in the file that a body was read from; 0: not known. */
typedef struct ModalPlace {
	int line, column;
} ModalPlace;

typedef struct ModalNode {
	const char *name;
	ModalPlace place;
	CalModalNodeKind kind;
	CalPlacement placement;
	double mass;
	CalMat3 inertia;
	double *phi, *psi; // [3][modes]
	double *phi2;      // [3][modes][modes]; NULL: none
} ModalNode;

struct CalModal {
	Pool pool; // holds everything, this struct included
	const char *path, *name, *source, *boundary;
	int modes;
	double *stiffness, *damping; // [modes][modes]; damping may be NULL
	double *geometric;           // [CAL_FLEX_GEOMETRIC][modes][modes] as in CalFlexDef; NULL: none
	ModalPlace stiffness_place;  //
	double rigid_mass;           // the part that does not deform
	CalVec3 rigid_com;
	CalMat3 rigid_inertia; // about rigid_com
	ModalNode *nodes;
	int node_count, node_capacity;
	int dropped;
	double dropped_from;
	CalModalFidelity fidelity;
	char notes[1024];
};

/** Everything in the kinetic energy at rest, about the origin of B. */
typedef struct ModalMass {
	double mass;
	double first[3];      // sum m p
	double inertia[3][3]; // about the origin of B
	double *linear;       // [3][modes] sum m phi
	double *angular;      // [3][modes] sum m p x phi + J psi
	double *modal;        // [modes][modes] M_ee
} ModalMass;

CalModal *fe_modal_new(const char *path, const char *source, int modes, const CalAllocator *allocator);
/** A node with zeroed shapes, or NULL. name is copied. `room` more nodes must have been asked for. */
ModalNode *fe_modal_add_node(CalModal *modal, const char *name, CalModalNodeKind kind);
/** Room for so many nodes in all; false: out of memory. */
bool fe_modal_reserve_nodes(CalModal *modal, int capacity);
void fe_modal_note(CalModal *modal, const char *format, ...) ERROR_PRINTF(2, 3);

/** mass->linear, angular and modal are allocated by the caller. */
void fe_modal_mass(const CalModal *modal, ModalMass *mass);
/** The matrix A of fe_mass.h over all mass, rotary inertia left out: A[D][D], memory of the caller. */
void fe_modal_moments(const CalModal *modal, double *A);

/**
 * An element of the matrices of CalFlexDef.geometric, out[12], from those of unit rates: accelerations (x, y, z),
 * angular accelerations (x, y, z), products of angular velocities (xx, yy, zz, xy, yz, xz); W = [al]x + [w]x[w]x.
 */
void fe_geometric_from_rates(const double rates[CAL_FLEX_GEOMETRIC], double out[CAL_FLEX_GEOMETRIC]);
/**
 * Geometric stiffness of all mass, out[CAL_FLEX_GEOMETRIC][modes][modes]: that of the body and 2 sum m phi2 (1, p')
 * of nodes with second-order shapes. False: there is none.
 */
bool fe_modal_geometric(const CalModal *modal, double *out);
/** Adds points with these moments as nodes of the kind CAL_MODAL_MASS and says in modal->fidelity what they lose. */
CalStatus fe_modal_add_mass_points(CalModal *modal, const FeMoments *moments, const double *angular, CalError *error);

/** Numbers finite, K symmetric and positive definite, mass positive, names unique. */
CalStatus fe_modal_check(const CalModal *modal, CalError *error);

/** cal_modal_add() with the place that messages give for the body and its nodes. */
CalStatus fe_modal_add_body(const CalModal *modal, CalDesc *desc, const char *name, CalGroupId group, const char *place,
                            double frequency_bound, CalBodyId *body, CalError *error);

#endif
