// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_file.h — triangles from files: a growing list, and the readers that fill it.
 */
#ifndef CALDER_IO_MESH_MESH_FILE_H
#define CALDER_IO_MESH_MESH_FILE_H

#include <calder/mesh.h>

#include "base/text_reader.h"

typedef struct TriangleList {
	CalAllocator allocator;
	CalVec3 *vertices;
	int vertex_count, vertex_capacity;
	int *corners; // three per triangle
	int corner_count, corner_capacity;
	int *colors; // one per triangle
	int color_count, color_capacity;
	int color;       // of the triangles that follow, -1: none
	bool has_colors; // some triangle has one
} TriangleList;

/** False if memory is short. */
bool triangle_list_vertex(TriangleList *list, CalVec3 vertex);
bool triangle_list_triangle(TriangleList *list, int a, int b, int c);
/** Room for so many more, so that memory is taken once. */
bool triangle_list_reserve(TriangleList *list, int vertices, int triangles);
void triangle_list_free(TriangleList *list);

/** 0xrrggbb of three parts, 0 ... 1. */
int mesh_color(double red, double green, double blue);

/** The next word of a line, cut off in place; NULL at its end. */
char *mesh_word(char **rest);
CalStatus mesh_no_memory(FeText *text);
/** x y z; more: a weight or a color may follow them. */
CalStatus mesh_read_vertex(FeText *text, char *rest, bool more, TriangleList *list);

CalStatus mesh_read_stl(FeText *text, TriangleList *list);
CalStatus mesh_read_obj(FeText *text, TriangleList *list);
CalStatus mesh_read_gltf(FeText *text, TriangleList *list);

#endif
