// SPDX-License-Identifier: Apache-2.0
/*
 * free_root.h — a body that a free joint carries by one of its nodes, which can be put anywhere.
 */
#ifndef CALDER_COMPONENT_FREE_ROOT_H
#define CALDER_COMPONENT_FREE_ROOT_H

#include <stdbool.h>

#include <calder/subsystem.h>

/** Where the coordinates of the joint are. */
typedef struct FreeRoot {
	int q, u;
} FreeRoot;

/** Whether a free joint on the ground's origin carries the body of the node by that node. */
bool free_root_find(const CalModel *model, int node, FreeRoot *root);
/** Sets the joint so that its node moves like this, q[nq] and u[nu] being those of the model. */
void free_root_place(const FreeRoot *root, const CalInterfaceNode *at, double *q, double *u);

#endif
