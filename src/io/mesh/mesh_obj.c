// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_obj.c — triangle meshes from Wavefront OBJ files: lines `v x y z` and `f a b c ...`.
 *
 * A face of more than three vertices becomes a fan from its first: right for convex ones. Indices may be a, a/t, a//n
 * or a/t/n, counted from 1, or from the end if negative. All other lines (normals, groups, materials) are passed over.
 */
#include <string.h>

#include "io/mesh/mesh_stl.h"

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

CalStatus mesh_read_obj(FeText *t, TriangleList *list) {
	CalStatus status = CAL_OK;
	while (status == CAL_OK && fe_text_next(t, &status)) {
		char *rest = t->lower;
		const char *word = mesh_word(&rest);
		if (word && strcmp(word, "v") == 0)
			status = mesh_read_vertex(t, rest, true, list);
		else if (word && strcmp(word, "f") == 0)
			status = read_face(t, rest, list);
	}
	return status;
}
