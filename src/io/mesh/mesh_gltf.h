// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_gltf.h — between the parts of the glTF reader: the document with its tables, and the bytes of its buffers.
 */
#ifndef CALDER_IO_MESH_MESH_GLTF_H
#define CALDER_IO_MESH_MESH_GLTF_H

#include "io/json/json_flat.h"
#include "io/mesh/mesh_file.h"

/** A list of the document by number: accessors, buffer views, ... */
typedef struct GltfTable {
	int *values; // [count] in the tree
	int count;
} GltfTable;

typedef struct GltfBuffer {
	unsigned char *owned; // NULL: in the file
	const unsigned char *bytes;
	size_t length;
} GltfBuffer;

typedef struct Gltf {
	FeText *text;
	TriangleList *list;
	JsonFlat json;
	const unsigned char *chunk; // binary part of a .glb; NULL: none
	size_t chunk_length;
	GltfTable accessors, views, meshes, nodes, materials, scenes;
	GltfBuffer *buffers;
	int buffer_count;
	CalStatus status;
} Gltf;

/** "path: error: ..." and false; status is that of the reader then. */
bool gltf_fail(Gltf *g, const char *format, ...) ERROR_PRINTF(2, 3);
bool gltf_no_memory(Gltf *g);
/** The member of an object as a number 0 ... most - 1; missing: *index stays. false: it is something else. */
bool gltf_index(Gltf *g, int object, const char *name, int most, int *index);

/** Fills g->buffers: from data: URIs, files beside the document, or the chunk. */
bool gltf_read_buffers(Gltf *g);
void gltf_free_buffers(Gltf *g);

/** Elements of an accessor, checked against its buffer. */
typedef struct GltfElements {
	const unsigned char *bytes; // of the first; NULL: all are zero
	size_t stride;
	int count;
	int component;   // 5120 ... 5126
	bool normalized; // integers are fractions
} GltfElements;
/** type: "VEC3", "SCALAR". */
bool gltf_accessor(Gltf *g, int accessor, const char *type, GltfElements *out);
/** Component k of element i. */
double gltf_value(const GltfElements *e, int i, int k);

#endif
