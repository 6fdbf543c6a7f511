// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_stl.c — triangle meshes from STL files, binary and text.
 *
 * A binary file is known by its length, 84 + 50 per triangle: many begin with "solid" like text files. Normals in the
 * file are not used; the order of the vertices gives the outside. Numbers of text files do not depend on the locale.
 */
#include "io/mesh/mesh_file.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

CalStatus mesh_no_memory(FeText *t) { return fe_file_error(t->error, t->path, CAL_ERR_MEMORY, "out of memory"); }

/* ---- binary ------------------------------------------------------------------------------------ */

enum { STL_HEADER = 84, STL_FACET = 50, STL_NORMAL = 12 };

static uint32_t read_u32(const unsigned char *p) {
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double read_float(const unsigned char *p) {
	const uint32_t bits = read_u32(p);
	float value;
	memcpy(&value, &bits, sizeof value);
	return (double)value;
}

static CalStatus read_binary(FeText *t, uint32_t count, TriangleList *list) {
	const unsigned char *facet = (const unsigned char *)t->text + STL_HEADER;
	if (!triangle_list_reserve(list, 3 * (int)count, (int)count))
		return mesh_no_memory(t);
	for (uint32_t i = 0; i < count; i++, facet += STL_FACET) {
		for (int k = 0; k < 3; k++) {
			const unsigned char *p = facet + STL_NORMAL + 12 * k;
			const CalVec3 v = {read_float(p), read_float(p + 4), read_float(p + 8)};
			if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z))
				return fe_file_error(t->error, t->path, CAL_ERR_INPUT, "triangle %lu: a coordinate is not finite",
				                     (unsigned long)i);
			if (!triangle_list_vertex(list, v))
				return mesh_no_memory(t);
		}
		const int n = list->vertex_count;
		if (!triangle_list_triangle(list, n - 3, n - 2, n - 1))
			return mesh_no_memory(t);
	}
	return CAL_OK;
}

/* ---- text -------------------------------------------------------------------------------------- */

char *mesh_word(char **rest) {
	char *word = *rest + strspn(*rest, " \t");
	if (!*word)
		return NULL;
	char *end = word + strcspn(word, " \t");
	*rest = end + (*end != '\0');
	*end = '\0';
	return word;
}

CalStatus mesh_read_vertex(FeText *t, char *rest, bool more, TriangleList *list) {
	double x[3];
	for (int i = 0; i < 3; i++) {
		const char *word = mesh_word(&rest);
		if (!word || !fe_number(word, &x[i]))
			return fe_text_error(t, CAL_ERR_INPUT, "a vertex needs three numbers; \"%s\" is none", word ? word : "");
	}
	if (!more && mesh_word(&rest))
		return fe_text_error(t, CAL_ERR_INPUT, "a vertex has three numbers; here are more");
	return triangle_list_vertex(list, (CalVec3){x[0], x[1], x[2]}) ? CAL_OK : mesh_no_memory(t);
}

/* One line; *corners counts the vertices of the facet, -1 outside of one. */
static CalStatus read_line(FeText *t, int *corners, TriangleList *list) {
	char *rest = t->lower;
	const char *word = mesh_word(&rest);
	if (!word || strcmp(word, "outer") == 0 || strcmp(word, "endloop") == 0 || strcmp(word, "solid") == 0)
		return CAL_OK;
	if (strcmp(word, "facet") == 0) {
		*corners = 0;
		return CAL_OK;
	}
	if (strcmp(word, "vertex") == 0) {
		if (*corners < 0)
			return fe_text_error(t, CAL_ERR_INPUT, "a vertex outside of a facet");
		++*corners;
		return mesh_read_vertex(t, rest, false, list);
	}
	if (strcmp(word, "endfacet") == 0) {
		const int n = list->vertex_count, got = *corners;
		*corners = -1;
		if (got != 3)
			return fe_text_error(t, CAL_ERR_INPUT, "the facet has %d vertices; a triangle has 3", got < 0 ? 0 : got);
		return triangle_list_triangle(list, n - 3, n - 2, n - 1) ? CAL_OK : mesh_no_memory(t);
	}
	if (strcmp(word, "endsolid") == 0)
		return CAL_OK;
	return fe_text_error(t, CAL_ERR_INPUT, "\"%s\" is no word of an STL file; expected facet, vertex or endfacet",
	                     word);
}

static CalStatus read_text(FeText *t, TriangleList *list) {
	CalStatus status = CAL_OK;
	int corners = -1;
	while (status == CAL_OK && fe_text_next(t, &status))
		status = read_line(t, &corners, list);
	if (status == CAL_OK && corners >= 0)
		return fe_text_error(t, CAL_ERR_INPUT, "the file ends within a facet; is it cut off?");
	return status;
}

CalStatus mesh_read_stl(FeText *t, TriangleList *list) {
	const bool counted = t->length >= STL_HEADER;
	const uint32_t count = counted ? read_u32((const unsigned char *)t->text + 80) : 0;
	if (counted && t->length == STL_HEADER + (size_t)STL_FACET * count)
		return count <= INT_MAX / 8 ? read_binary(t, count, list)
		                            : fe_file_error(t->error, t->path, CAL_ERR_INPUT, "too many triangles");
	size_t blank = 0;
	while (blank < t->length && strchr(" \t\r\n", t->text[blank]))
		blank++;
	if (t->length - blank >= 5 && strncasecmp(t->text + blank, "solid", 5) == 0 && !memchr(t->text, '\0', t->length))
		return read_text(t, list);
	if (counted)
		return fe_file_error(
			t->error, t->path, CAL_ERR_INPUT,
			"no STL file: binary, it would have %zu bytes for its %lu triangles, but has %zu; text, it "
			"would begin with \"solid\"",
			STL_HEADER + (size_t)STL_FACET * count, (unsigned long)count, t->length);
	return fe_file_error(t->error, t->path, CAL_ERR_INPUT,
	                     "no STL file: it does not begin with \"solid\", and %zu bytes are too few for a binary one",
	                     t->length);
}
