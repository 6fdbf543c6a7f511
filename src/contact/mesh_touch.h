// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_touch.h — what the contacts of meshes share.
 */
#ifndef CALDER_CONTACT_MESH_TOUCH_H
#define CALDER_CONTACT_MESH_TOUCH_H

#include "contact/mesh.h"
#include "contact/narrow.h"

/** Edge i of a triangle if it is sharp and this triangle speaks for it; an open edge has its own outside as a face. */
bool mesh_edge(const CalMesh *mesh, int triangle, int i, Edge *edge);

#endif
