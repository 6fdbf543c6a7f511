// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_obj.c — triangle meshes from Wavefront OBJ files: lines `v x y z`, `f a b c ...`, `mtllib file` and `usemtl name`.
 *
 * A face of more than three vertices becomes a fan from its first: right for convex ones. Indices may be a, a/t, a//n
 * or a/t/n, counted from 1, or from the end if negative. Of a material its diffuse color Kd is taken. A material file is
 * sought in the folder of the mesh, and its absence is no error: it has colors only. A line that ends with a backslash continues
 * on the next one. All other lines (normals, groups) are passed over.
 */
#include <string.h>

#include "base/memory.h"

#include "io/mesh/mesh_file.h"

static CalStatus read_index(FeText *t, char *word, int count, int *index) {
	long value;
	word[strcspn(word, "/")] = '\0';
	if (!fe_integer(word, &value))
		return fe_text_error(t, CAL_ERR_INPUT, "a face needs numbers of vertices; \"%s\" is none", word);
	const long i = value < 0 ? count + value : value - 1;
	if (i < 0 || i >= count)
		return fe_text_error(t, CAL_ERR_INPUT, "the face names vertex %ld; there are %d before it", value, count);
	*index = (int)i;
	return CAL_OK;
}

static CalStatus read_face(FeText *t, char *rest, TriangleList *list) {
	int first = 0, last = 0, corners = 0;
	for (char *word = mesh_word(&rest); word; word = mesh_word(&rest), corners++) {
		int index = 0;
		const CalStatus status = read_index(t, word, list->vertex_count, &index);
		if (status != CAL_OK)
			return status;
		if (corners >= 2 && !triangle_list_triangle(list, first, last, index))
			return mesh_no_memory(t);
		if (corners == 0)
			first = index;
		last = index;
	}
	return corners >= 3 ? CAL_OK : fe_text_error(t, CAL_ERR_INPUT, "the face has %d vertices; it needs 3", corners);
}

/* ---- materials ----------------------------------------------------------------------------------- */

enum { MATERIAL_MOST = 4096, MATERIAL_NAME = 96 }; // what comes after has no color

typedef struct Material {
	char name[MATERIAL_NAME];
	int color;
} Material;

typedef struct Materials {
	CalAllocator allocator;
	Material *items;
	int count, capacity;
} Materials;

static bool add_material(Materials *m, const char *name) {
	Material *grown = array_reserve(&m->allocator, m->items, m->count, 1, &m->capacity, sizeof *grown);
	if (!grown)
		return false;
	m->items = grown;
	Material *added = &m->items[m->count++];
	added->color = -1;
	added->name[0] = '\0';
	strncat(added->name, name, MATERIAL_NAME - 1);
	return true;
}

static CalStatus read_material_line(FeText *t, Materials *m) {
	char *rest = t->lower;
	const char *word = mesh_word(&rest);
	double rgb[3];
	if (word && strcmp(word, "newmtl") == 0 && m->count < MATERIAL_MOST)
		return add_material(m, fe_trim(rest)) ? CAL_OK : mesh_no_memory(t);
	if (!word || strcmp(word, "kd") != 0 || m->count == 0)
		return CAL_OK;
	for (int i = 0; i < 3; i++) {
		const char *number = mesh_word(&rest);
		if (!number || !fe_number(number, &rgb[i]))
			return fe_text_error(t, CAL_ERR_INPUT, "a color Kd needs three numbers; \"%s\" is none",
			                     number ? number : "");
	}
	m->items[m->count - 1].color = mesh_color(rgb[0], rgb[1], rgb[2]);
	return CAL_OK;
}

/* Out of the folder of the mesh it does not go. */
static CalStatus read_materials(FeText *obj, const char *name, Materials *m) {
	char path[1024];
	CalError error;
	CalStatus status = CAL_OK;
	if (*name == '/' || *name == '\0' || strstr(name, "..") || !fe_path_beside(obj->path, name, path, sizeof path))
		return CAL_OK;
	FeText *t = memory_alloc(&m->allocator, sizeof *t); // it has two lines in it
	if (!t)
		return mesh_no_memory(obj);
	const CalStatus opened = fe_text_open(t, path, &m->allocator, &error);
	if (opened == CAL_OK) {
		t->error = obj->error;
		while (status == CAL_OK && fe_text_next(t, &status))
			status = read_material_line(t, m);
		fe_text_close(t);
	}
	memory_free(&m->allocator, t);
	return opened == CAL_ERR_MEMORY ? mesh_no_memory(obj) : status;
}

/* The last of that name counts; names are compared in lower case. */
static int find_color(const Materials *m, const char *name) {
	for (int i = m->count - 1; i >= 0; i--)
		if (strncmp(m->items[i].name, name, MATERIAL_NAME - 1) == 0)
			return m->items[i].color;
	return -1;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static CalStatus read_obj_line(FeText *t, Materials *materials, TriangleList *list) {
	char *rest = t->lower;
	const char *word = mesh_word(&rest);
	if (!word)
		return CAL_OK;
	if (strcmp(word, "v") == 0)
		return mesh_read_vertex(t, rest, true, list);
	if (strcmp(word, "f") == 0)
		return read_face(t, rest, list);
	if (strcmp(word, "mtllib") == 0)
		return read_materials(t, fe_trim(t->line + (rest - t->lower)), materials);
	if (strcmp(word, "usemtl") == 0)
		list->color = find_color(materials, fe_trim(rest));
	return CAL_OK;
}

/* Blanks instead of a backslash and the end of the line after it. */
static void join_lines(char *text, size_t length) {
	for (char *at = text, *end = text + length; length && (at = memchr(at, '\\', (size_t)(end - at))); at++) {
		const size_t ends = at + 1 < end && at[1] == '\n' ? 1 : at + 2 < end && at[1] == '\r' && at[2] == '\n' ? 2 : 0;
		if (ends)
			memset(at, ' ', ends + 1);
	}
}

CalStatus mesh_read_obj(FeText *t, TriangleList *list) {
	CalStatus status = CAL_OK;
	join_lines(t->text, t->length);
	Materials materials = {.allocator = list->allocator};
	while (status == CAL_OK && fe_text_next(t, &status))
		status = read_obj_line(t, &materials, list);
	memory_free(&materials.allocator, materials.items);
	return status;
}
