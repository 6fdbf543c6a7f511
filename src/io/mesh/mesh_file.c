// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_file.c — triangle meshes from files of all formats, and the list that their readers fill.
 */
#include "io/mesh/mesh_file.h"

#include <calder/contact.h>
#include <math.h>

#include "base/memory.h"

struct CalMeshFile {
	TriangleList list;
};

/* ---- the list ----------------------------------------------------------------------------------- */

bool triangle_list_reserve(TriangleList *list, int vertices, int triangles) {
	const CalAllocator *a = &list->allocator;
	CalVec3 *grown =
		array_reserve(a, list->vertices, list->vertex_count, vertices, &list->vertex_capacity, sizeof *grown);
	if (!grown)
		return false;
	list->vertices = grown;
	int *corners =
		array_reserve(a, list->corners, list->corner_count, 3 * triangles, &list->corner_capacity, sizeof *corners);
	if (!corners)
		return false;
	list->corners = corners;
	int *colors = array_reserve(a, list->colors, list->color_count, triangles, &list->color_capacity, sizeof *colors);
	if (!colors)
		return false;
	list->colors = colors;
	return true;
}

bool triangle_list_vertex(TriangleList *list, CalVec3 v) {
	if (list->vertex_count == list->vertex_capacity && !triangle_list_reserve(list, 1, 1))
		return false;
	list->vertices[list->vertex_count++] = v;
	return true;
}

bool triangle_list_triangle(TriangleList *list, int a, int b, int c) {
	if ((list->corner_count + 3 > list->corner_capacity || list->color_count == list->color_capacity) &&
	    !triangle_list_reserve(list, 1, 1))
		return false;
	list->corners[list->corner_count++] = a;
	list->corners[list->corner_count++] = b;
	list->corners[list->corner_count++] = c;
	list->colors[list->color_count++] = list->color;
	list->has_colors |= list->color >= 0;
	return true;
}

void triangle_list_free(TriangleList *list) {
	memory_free(&list->allocator, list->vertices);
	memory_free(&list->allocator, list->corners);
	memory_free(&list->allocator, list->colors);
}

static int color_byte(double part) { return (int)lround(255 * fmin(1, fmax(0, part))); }

int mesh_color(double red, double green, double blue) {
	return color_byte(red) << 16 | color_byte(green) << 8 | color_byte(blue);
}

/* ---- any file ------------------------------------------------------------------------------------ */

static CalVec3 scale_or_one(CalVec3 s) { return s.x == 0 && s.y == 0 && s.z == 0 ? (CalVec3){1, 1, 1} : s; }

/* A mirrored triangle is seen from its other side: two of its vertices change places. */
static void scale_list(TriangleList *list, CalVec3 s) {
	for (int i = 0; i < list->vertex_count; i++) {
		CalVec3 *v = &list->vertices[i];
		*v = (CalVec3){s.x * v->x, s.y * v->y, s.z * v->z};
	}
	const bool mirrored = (s.x < 0) != ((s.y < 0) != (s.z < 0));
	for (int i = 0; mirrored && i < list->corner_count; i += 3) {
		const int swap = list->corners[i + 1];
		list->corners[i + 1] = list->corners[i + 2];
		list->corners[i + 2] = swap;
	}
}

static CalStatus read_list(FeText *t, CalVec3 scale, TriangleList *list) {
	const bool gltf = fe_ends_with(t->path, ".gltf") || fe_ends_with(t->path, ".glb");
	const CalStatus status = gltf                            ? mesh_read_gltf(t, list)
	                         : fe_ends_with(t->path, ".obj") ? mesh_read_obj(t, list)
	                                                         : mesh_read_stl(t, list);
	if (status != CAL_OK)
		return status;
	if (list->corner_count == 0)
		return fe_file_error(t->error, t->path, CAL_ERR_INPUT, "the file has no triangles");
	scale_list(list, scale);
	return CAL_OK;
}

static CalStatus open_list(const char *path, CalVec3 scale, const CalAllocator *allocator, TriangleList *list,
                           CalError *error) {
	if (!fe_ends_with(path, ".stl") && !fe_ends_with(path, ".obj") && !fe_ends_with(path, ".gltf") &&
	    !fe_ends_with(path, ".glb"))
		return fe_file_error(error, path, CAL_ERR_INPUT, "meshes are read from .stl, .obj, .gltf and .glb files");
	const CalVec3 s = scale_or_one(scale);
	if (!isfinite(s.x * s.y * s.z) || s.x == 0 || s.y == 0 || s.z == 0)
		return fe_file_error(error, path, CAL_ERR_INPUT, "the scale (%g, %g, %g) makes it flat; no factor may be zero",
		                     s.x, s.y, s.z);
	*list = (TriangleList){.allocator = allocator_or_default(allocator), .color = -1};
	FeText text;
	CalStatus status = fe_text_open(&text, path, allocator, error);
	if (status != CAL_OK)
		return status;
	status = read_list(&text, s, list);
	fe_text_close(&text);
	if (status != CAL_OK)
		triangle_list_free(list);
	return status;
}

CalStatus cal_mesh_file_read(const char *path, CalVec3 scale, const CalAllocator *allocator, CalMeshFile **file,
                             CalError *error) {
	if (!path || !file || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mesh_file_read: path and file are needed");
	TriangleList list;
	const CalStatus status = open_list(path, scale, allocator, &list, error);
	if (status != CAL_OK)
		return status;
	CalMeshFile *made = memory_alloc(&list.allocator, sizeof *made);
	if (!made) {
		triangle_list_free(&list);
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	}
	made->list = list;
	*file = made;
	return CAL_OK;
}

void cal_mesh_file_destroy(CalMeshFile *file) {
	if (!file)
		return;
	const CalAllocator allocator = file->list.allocator;
	triangle_list_free(&file->list);
	memory_free(&allocator, file);
}

CalTriangles cal_mesh_file_triangles(const CalMeshFile *file) {
	if (!file)
		return (CalTriangles){0};
	const TriangleList *l = &file->list;
	return (CalTriangles){.vertices = l->vertices,
	                      .vertex_count = l->vertex_count,
	                      .corners = l->corners,
	                      .colors = l->has_colors ? l->colors : NULL,
	                      .triangle_count = l->corner_count / 3};
}

CalStatus cal_mesh_read(const char *path, CalVec3 scale, const CalAllocator *allocator, CalMesh **mesh,
                        CalError *error) {
	if (!path || !mesh || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mesh_read: path and mesh are needed");
	TriangleList list;
	CalStatus status = open_list(path, scale, allocator, &list, error);
	if (status != CAL_OK)
		return status;
	status = cal_mesh_create(path, list.vertices, list.vertex_count, list.corners, list.corner_count / 3, allocator,
	                         mesh, error);
	triangle_list_free(&list);
	return status;
}
