// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_stl.h — triangles from files: a growing list, and the readers that fill it.
 */
#ifndef CALDER_IO_MESH_MESH_STL_H
#define CALDER_IO_MESH_MESH_STL_H

#include <calder/contact.h>

#include "base/text_reader.h"

typedef struct TriangleList {
	CalAllocator allocator;
	CalVec3 *vertices;
	int vertex_count, vertex_capacity;
	int *indices; // three per triangle
	int index_count, index_capacity;
} TriangleList;

/** False if memory is short. */
bool triangle_list_triangle(TriangleList *list, int a, int b, int c);

/** The next word of a line, cut off in place; NULL at its end. */
char *mesh_word(char **rest);
CalStatus mesh_no_memory(FeText *text);
/** x y z; more: a weight or a color may follow them. */
CalStatus mesh_read_vertex(FeText *text, char *rest, bool more, TriangleList *list);

CalStatus mesh_read_stl(FeText *text, TriangleList *list);
CalStatus mesh_read_obj(FeText *text, TriangleList *list);

#endif
