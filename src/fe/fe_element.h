// SPDX-License-Identifier: Apache-2.0
/*
 * fe_element.h — solid elements of a finite-element model: shape functions, and the points at which stresses are
 * integrated.
 *
 * The matrices of a model say nothing about stress. Its elements do: the geometric stiffness (fe_geometric.c) needs the
 * gradient of a displacement field at the points of each element, and nothing else.
 */
#ifndef CALDER_FE_FE_ELEMENT_H
#define CALDER_FE_FE_ELEMENT_H

#include <calder/base.h>
#include <stdbool.h>

enum { FE_ELEMENT_NODES = 20, FE_ELEMENT_POINTS = 27 };

/* CalculiX's name, in lower case; family; nodes; points along an edge (of a tetrahedron: all of them). */
#define FE_ELEMENT_LIST(X)         \
	X("c3d4", TETRAHEDRON, 4, 1)   \
	X("c3d10", TETRAHEDRON, 10, 4) \
	X("c3d6", WEDGE, 6, 2)         \
	X("c3d15", WEDGE, 15, 3)       \
	X("c3d8", BRICK, 8, 2)         \
	X("c3d8r", BRICK, 8, 1)        \
	X("c3d8i", BRICK, 8, 2)        \
	X("c3d20", BRICK, 20, 3)       \
	X("c3d20r", BRICK, 20, 2)

/** Index of a type by its name, -1: not a solid element that is known. */
int fe_element_type(const char *name);
int fe_element_node_count(int type);

/** One integration point: its volume, and the gradient of the shape function of each node. */
typedef struct FePoint {
	double volume;
	double gradient[FE_ELEMENT_NODES][3];
} FePoint;

/** The points of an element with nodes at x[node_count]; returns their number, 0: the element is turned inside out. */
int fe_element_points(int type, const double (*x)[3], FePoint point[FE_ELEMENT_POINTS]);

#endif
