// SPDX-License-Identifier: Apache-2.0
/*
 * fe_model.h — a finite element model as its readers leave it: nodes, degrees of freedom, K and M.
 *
 * A degree of freedom is a component of a node: 0..2 translations, 3..5 rotations; or a scalar without place (a modal
 * coordinate of a matrix that was reduced elsewhere). Matrices are symmetric lists of entries: an entry off the
 * diagonal stands for its mirror image too, and entries of one place add up.
 */
#ifndef CALDER_FE_FE_MODEL_H
#define CALDER_FE_FE_MODEL_H

#include <calder/fe.h>
#include <stdbool.h>

#include "base/memory_pool.h"
#include "base/text_reader.h"
#include "fe/fe_element.h"

enum { FE_MAX_DOFS = 2000000, FE_MAX_FILES = 1000 };

typedef struct FeNode {
	long id;
	CalVec3 position;
	int dof[6]; // equation of each component, -1: none
} FeNode;

typedef struct FeDof {
	int node;      // index, -1: a scalar
	int component; // 0..5
} FeDof;

typedef struct FeMatrix {
	int count, capacity;
	int *row, *col;
	double *value;
} FeMatrix;

/* The load that a matrix of differential stiffness belongs to. */
typedef enum FeLoad {
	FE_ACCELERATION, // of the body frame along an axis
	FE_TURNING,      // its angular acceleration about an axis
	FE_SPIN,         // a product of its angular velocities: xx, yy, zz, xy, yz, xz
	FE_FORCE,        // at a node, along an axis
} FeLoad;

/* Differential stiffness per unit load. */
typedef struct FeLoadStiffness {
	FeLoad load;
	int axis; // or the product
	int node; // of FE_FORCE
	FeMatrix K;
} FeLoadStiffness;

typedef struct FeFrame {
	const char *name;
	int node; // index
} FeFrame;

/* A solid element of an isotropic material. */
typedef struct FeElement {
	long id;
	int type; // fe_element.h
	int node[FE_ELEMENT_NODES];
	double young, poisson; // [Pa], 1
} FeElement;

typedef struct FeSource {
	const char *path;
	struct FeSource *next;
} FeSource;

struct CalFeModel {
	Pool pool; // texts and arrays of known size
	const char *path, *format;
	FeSource *sources, *last_source; // in the order in which they were opened
	int source_count;
	CalFeUnits units;
	FeNode *nodes; // sorted by id
	int node_count, node_capacity;
	FeDof *dofs;
	int dof_count;
	FeMatrix K, M;
	FeFrame *frames;
	int frame_count;
	FeElement *elements; // for the geometric stiffness alone
	int element_count;
	int *tied;              // [node_count] frame node that moves a node without equations, rigidly; -1: none
	FeLoadStiffness *loads; // the same, where the file has it in matrices
	int load_count;
	int mode_count;                    // modes that the file has in place of a stiffness; 0: none
	double *mode_values, *mode_shapes; // [mode_count] squared frequencies, [mode_count][dof_count]
	char mesh_fault[256];              // why elements are missing or cannot be used; "": they are fine
};

/** An empty model, or NULL. */
CalFeModel *fe_model_new(const char *path, const char *format, const CalFeUnits *units, const CalAllocator *allocator);
/** Opens a file of the model and keeps its path for cal_fe_source(). */
CalStatus fe_model_open(CalFeModel *fe, FeText *text, const char *path, CalError *error);
/** False: out of memory. */
bool fe_model_add_node(CalFeModel *fe, long id, CalVec3 position);
bool fe_matrix_add(CalFeModel *fe, FeMatrix *matrix, int row, int col, double value);
/** Sorts the nodes; returns the id of one that was given twice with different places, or -1. */
long fe_model_sort_nodes(CalFeModel *fe);
/** Index of a node, -1: there is none. */
int fe_model_find(const CalFeModel *fe, long id);
bool fe_node_is_frame(const FeNode *node);
/** Once all is read: brings everything to SI, checks what is the same for all formats, and gives it to *fe; or destroys it. */
CalStatus fe_model_complete(CalFeModel *made, CalStatus status, CalFeModel **fe, CalError *error);

/* Equations of one node that the file does not place: `first` ... first + count - 1, FeDof.component their directions. */
typedef struct FeUnplaced {
	long id; // that the file gives it; of several nodes perhaps
	int first, count;
} FeUnplaced;

/**
 * Places nodes by the motion of their equations under rigid motions of the interface at node `frame` (fe_place.c). Equations
 * that do not move are internal to elements and stay scalars.
 */
CalStatus fe_model_place(CalFeModel *fe, int frame, const FeUnplaced *unplaced, int count, CalError *error);

/** What cal_fe_info() gives; false: out of memory, mass and residual are missing. */
bool fe_model_info(const CalFeModel *fe, CalFeInfo *info);

/** y = A x for `columns` vectors of length n stored one after the other. */
void fe_matrix_multiply(const FeMatrix *A, int n, int columns, const double *x, double *y);
/** The six rigid motions about a point, angular first: R[6][dof_count]. */
void fe_rigid_motions(const CalFeModel *fe, CalVec3 about, double *R);

#endif
