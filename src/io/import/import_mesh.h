// SPDX-License-Identifier: Apache-2.0
/*
 * import_mesh.h — mass properties of the meshes that robot files name.
 */
#ifndef CALDER_IO_IMPORT_IMPORT_MESH_H
#define CALDER_IO_IMPORT_IMPORT_MESH_H

#include <calder/mesh.h>

#include "io/import/import.h"

typedef struct MeshMass {
	CalVec3 scale;      // {0}: 1; negative factors mirror
	CalVec3 offset;     // subtracted from the coordinates of the file first (refpos of MJCF) ...
	CalQuat turned;     // ... then the inverse of this rotation is applied (refquat), then scale; {0}: none
	CalMeshSolid solid; //
	int unchecked;      // as in CalMeshMassOptions
} MeshMass;

/**
 * Mass properties of the mesh in a file, as import_locate() found it, with density 1, in the frame of the mesh. false: the
 * file cannot be read or bounds no solid; the error is that of the element.
 */
bool mass_of_mesh(Import *im, const XmlElement *element, const char *path, const MeshMass *options,
                  MassProperties *out);

#endif
