// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_gltf.c — triangle meshes from glTF 2.0 files, .gltf and .glb: the nodes of the scene with their transforms, the
 * triangles of their meshes, and the base colors of materials.
 *
 * Coordinates stay as they are in the file: meters, and y is up where the program that wrote it keeps to the standard. Skins,
 * animations, textures and cameras have no part in a mesh. Compressed geometry (Draco, meshopt) is refused by name. A transform
 * that mirrors reverses the order of vertices, so that the outside stays outside.
 */
#include "io/mesh/mesh_gltf.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/portable.h"

enum { NODE_DEPTH = 256, TRIANGLES_MOST = 1 << 26 };

typedef struct Transform {
	double m[3][4]; // rows of [R t]
} Transform;

bool gltf_fail(Gltf *g, const char *format, ...) {
	char text[512];
	va_list args;
	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	g->status = fe_file_error(g->text->error, g->text->path, CAL_ERR_INPUT, "%s", text);
	return false;
}

bool gltf_no_memory(Gltf *g) {
	g->status = mesh_no_memory(g->text);
	return false;
}

bool gltf_index(Gltf *g, int object, const char *name, int most, int *index) {
	size_t number = 0;
	const int member = json_flat_member(&g->json, object, name);
	if (member < 0)
		return true;
	if (!json_flat_whole(&g->json, member, INT_MAX, &number) || number >= (size_t)most)
		return gltf_fail(g, "\"%s\" names number %zu; there are %d", name, number, most);
	*index = (int)number;
	return true;
}

static bool fill_table(Gltf *g, const char *name, GltfTable *table) {
	const int list = json_flat_member(&g->json, 0, name);
	if (list >= 0 && g->json.values[list].kind != JSON_LIST)
		return gltf_fail(g, "\"%s\" is no list", name);
	table->count = 0;
	table->values =
		memory_alloc(&g->json.allocator, (list >= 0 ? (size_t)g->json.values[list].count : 0) * sizeof(int));
	if (!table->values)
		return gltf_no_memory(g);
	for (int v = list >= 0 ? g->json.values[list].first : -1; v >= 0; v = g->json.values[v].next)
		table->values[table->count++] = v;
	return true;
}

/* ---- transforms ---------------------------------------------------------------------------------------- */

static Transform identity(void) { return (Transform){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}; }

static Transform compose(const Transform *a, const Transform *b) {
	Transform c;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 4; j++)
			c.m[i][j] =
				a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
	return c;
}

static bool is_mirror(const Transform *t) {
	const double(*m)[4] = t->m;
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) <
	       0;
}

/* Exactly count numbers; missing: they stay. */
static bool read_numbers(Gltf *g, int object, const char *name, double *numbers, int count) {
	const int list = json_flat_member(&g->json, object, name);
	if (list < 0)
		return true;
	int v =
		g->json.values[list].kind == JSON_LIST && g->json.values[list].count == count ? g->json.values[list].first : -1;
	for (int i = 0; i < count; i++, v = g->json.values[v].next)
		if (v < 0 || !json_flat_double(&g->json, v, &numbers[i]) || !isfinite(numbers[i]))
			return gltf_fail(g, "\"%s\" must be a list of %d numbers", name, count);
	return true;
}

/* By its matrix, or by translation, rotation (x, y, z, w) and scale. */
static bool read_transform(Gltf *g, int node, Transform *out) {
	double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, t[3] = {0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
	if (!read_numbers(g, node, "matrix", m, 16) || !read_numbers(g, node, "translation", t, 3) ||
	    !read_numbers(g, node, "rotation", q, 4) || !read_numbers(g, node, "scale", s, 3))
		return false;
	if (json_flat_member(&g->json, node, "matrix") >= 0) { // by columns
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 4; j++)
				out->m[i][j] = m[4 * j + i];
		return true;
	}
	const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], k = 2 / n;
	if (!(fabs(sqrt(n) - 1) < 1e-3))
		return gltf_fail(g, "\"rotation\" has the length %g; a rotation has the length 1", sqrt(n));
	const double x = q[0], y = q[1], z = q[2], w = q[3];
	*out =
		(Transform){{{s[0] * (1 - k * (y * y + z * z)), s[1] * k * (x * y - w * z), s[2] * k * (x * z + w * y), t[0]},
	                 {s[0] * k * (x * y + w * z), s[1] * (1 - k * (x * x + z * z)), s[2] * k * (y * z - w * x), t[1]},
	                 {s[0] * k * (x * z - w * y), s[1] * k * (y * z + w * x), s[2] * (1 - k * (x * x + y * y)), t[2]}}};
	return true;
}

/* ---- materials ------------------------------------------------------------------------------------------- */

/* Factors are linear, colors of screens are not. */
static double screen(double x) {
	return x <= 0.0031308 ? 12.92 * x : 1.055 * portable_pow(fmin(1, x), 1 / 2.4) - 0.055;
}

static bool read_color(Gltf *g, int primitive, int *color) {
	int material = -1;
	double rgba[4] = {1, 1, 1, 1};
	*color = -1;
	if (!gltf_index(g, primitive, "material", g->materials.count, &material) || material < 0)
		return g->status == CAL_OK;
	const int model = json_flat_member(&g->json, g->materials.values[material], "pbrMetallicRoughness");
	if (json_flat_member(&g->json, model, "baseColorFactor") < 0)
		return true;
	if (!read_numbers(g, model, "baseColorFactor", rgba, 4))
		return false;
	*color = mesh_color(screen(rgba[0]), screen(rgba[1]), screen(rgba[2]));
	return true;
}

/* ---- meshes ------------------------------------------------------------------------------------------------ */

static bool add_vertices(Gltf *g, const GltfElements *e, const Transform *X) {
	for (int i = 0; i < e->count; i++) {
		const double p[3] = {gltf_value(e, i, 0), gltf_value(e, i, 1), gltf_value(e, i, 2)};
		double q[3];
		for (int k = 0; k < 3; k++)
			q[k] = X->m[k][0] * p[0] + X->m[k][1] * p[1] + X->m[k][2] * p[2] + X->m[k][3];
		if (!isfinite(q[0]) || !isfinite(q[1]) || !isfinite(q[2]))
			return gltf_fail(g, "a position is not finite");
		if (!triangle_list_vertex(g->list, (CalVec3){q[0], q[1], q[2]}))
			return gltf_no_memory(g);
	}
	return true;
}

typedef struct Corners {
	GltfElements indices; // count 0: vertices in their order
	int count, first, vertices;
	int mode; // 4: triangles, 5: strip, 6: fan
	bool mirrored;
} Corners;

static bool corner(Gltf *g, const Corners *c, int i, int *vertex) {
	const double v = c->indices.count ? gltf_value(&c->indices, i, 0) : i;
	if (!(v >= 0 && v < c->vertices))
		return gltf_fail(g, "a triangle names vertex %.0f; there are %d", v, c->vertices);
	*vertex = c->first + (int)v;
	return true;
}

static bool add_triangles(Gltf *g, const Corners *c) {
	const int count = c->mode == 4 ? c->count / 3 : c->count - 2;
	for (int t = 0; t < count; t++) {
		const int at[3] = {c->mode == 4   ? 3 * t
		                   : c->mode == 5 ? t
		                                  : 0,
		                   c->mode == 4 ? 3 * t + 1 : t + 1, c->mode == 4 ? 3 * t + 2 : t + 2};
		const bool turned = c->mirrored != (c->mode == 5 && t % 2 == 1);
		int v[3] = {0};
		for (int k = 0; k < 3; k++)
			if (!corner(g, c, at[k], &v[k]))
				return false;
		if (!triangle_list_triangle(g->list, v[0], v[turned ? 2 : 1], v[turned ? 1 : 2]))
			return gltf_no_memory(g);
	}
	return true;
}

/* Points and lines are no surface. The document may name one mesh often: what they sum up to is limited. */
static bool add_primitive(Gltf *g, int primitive, const Transform *X) {
	GltfElements positions;
	Corners c = {.mode = 4, .first = g->list->vertex_count, .mirrored = is_mirror(X)};
	int position = -1, indices = -1;
	if (!gltf_index(g, primitive, "mode", 7, &c.mode) ||
	    !gltf_index(g, json_flat_member(&g->json, primitive, "attributes"), "POSITION", g->accessors.count,
	                &position) ||
	    !gltf_index(g, primitive, "indices", g->accessors.count, &indices))
		return false;
	if (c.mode < 4 || position < 0)
		return true;
	if (!gltf_accessor(g, position, "VEC3", &positions) ||
	    (indices >= 0 && !gltf_accessor(g, indices, "SCALAR", &c.indices)))
		return false;
	c.vertices = positions.count;
	c.count = indices >= 0 ? c.indices.count : positions.count;
	if (g->list->corner_count / 3 > TRIANGLES_MOST - c.count || g->list->vertex_count > TRIANGLES_MOST - c.vertices)
		return gltf_fail(g, "the scene has more than %d triangles or vertices", TRIANGLES_MOST);
	return (indices >= 0 && c.count == 0) ||
	       (read_color(g, primitive, &g->list->color) && add_vertices(g, &positions, X) && add_triangles(g, &c));
}

static bool add_mesh(Gltf *g, int mesh, const Transform *X) {
	const int list = json_flat_member(&g->json, g->meshes.values[mesh], "primitives");
	for (int v = list >= 0 ? g->json.values[list].first : -1; v >= 0; v = g->json.values[v].next)
		if (!add_primitive(g, v, X))
			return false;
	return true;
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

/* A node has one parent; seen[]: it was met before. */
static bool add_node(Gltf *g, int node, const Transform *parent, unsigned char *seen,
                     int depth) { // NOLINT(misc-no-recursion)
	Transform own;
	int mesh = -1;
	if (seen[node] || depth > NODE_DEPTH)
		return gltf_fail(g, "node %d is in the scene twice, or nested too deeply", node);
	seen[node] = 1;
	const int object = g->nodes.values[node], children = json_flat_member(&g->json, object, "children");
	if (!read_transform(g, object, &own) || !gltf_index(g, object, "mesh", g->meshes.count, &mesh))
		return false;
	const Transform X = compose(parent, &own);
	if (mesh >= 0 && !add_mesh(g, mesh, &X))
		return false;
	for (int v = children >= 0 ? g->json.values[children].first : -1; v >= 0; v = g->json.values[v].next) {
		size_t child = 0;
		if (!json_flat_whole(&g->json, v, INT_MAX, &child) || child >= (size_t)g->nodes.count)
			return gltf_fail(g, "node %d: its child %zu is not there", node, child);
		if (!add_node(g, (int)child, &X, seen, depth + 1))
			return false;
	}
	return true;
}

/* Marks the nodes that are children of others. */
static void mark_children(const Gltf *g, unsigned char *child) {
	for (int i = 0; i < g->nodes.count; i++) {
		const int children = json_flat_member(&g->json, g->nodes.values[i], "children");
		for (int v = children >= 0 ? g->json.values[children].first : -1; v >= 0; v = g->json.values[v].next) {
			size_t number = 0;
			if (json_flat_whole(&g->json, v, INT_MAX, &number) && number < (size_t)g->nodes.count)
				child[number] = 1;
		}
	}
}

/* The nodes of the scene; without scenes, all that are nobody's children; without nodes, all meshes. */
static bool add_scene(Gltf *g, unsigned char *seen, unsigned char *child) {
	const Transform X = identity();
	int scene = 0;
	if (g->nodes.count == 0) {
		for (int i = 0; i < g->meshes.count; i++)
			if (!add_mesh(g, i, &X))
				return false;
		return true;
	}
	if (!gltf_index(g, 0, "scene", g->scenes.count, &scene))
		return false;
	mark_children(g, child);
	if (g->scenes.count > 0) {
		const int list = json_flat_member(&g->json, g->scenes.values[scene], "nodes");
		memset(child, 1, (size_t)g->nodes.count);
		for (int v = list >= 0 ? g->json.values[list].first : -1; v >= 0; v = g->json.values[v].next) {
			size_t node = 0;
			if (!json_flat_whole(&g->json, v, INT_MAX, &node) || node >= (size_t)g->nodes.count)
				return gltf_fail(g, "scene %d: its node %zu is not there", scene, node);
			child[node] = 0;
		}
	}
	for (int i = 0; i < g->nodes.count; i++)
		if (!child[i] && !add_node(g, i, &X, seen, 0))
			return false;
	return true;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

/* Extensions that have nothing to do with the geometry, or whose geometry is read. */
static bool is_harmless(const char *name, size_t length) {
	static const char *const known[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
	                                    "KHR_lights_",    "KHR_xmp",      "KHR_mesh_quantization"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (length >= strlen(known[i]) && memcmp(name, known[i], strlen(known[i])) == 0)
			return true;
	return false;
}

static bool check_document(Gltf *g) {
	const int version = json_flat_member(&g->json, json_flat_member(&g->json, 0, "asset"), "version");
	if (version < 0 || g->json.values[version].end == g->json.values[version].start ||
	    g->json.text[g->json.values[version].start] != '2')
		return gltf_fail(g, "no glTF file of version 2: \"asset\": {\"version\": \"2.0\"} is missing");
	const int list = json_flat_member(&g->json, 0, "extensionsRequired");
	for (int v = list >= 0 ? g->json.values[list].first : -1; v >= 0; v = g->json.values[v].next) {
		const char *name = g->json.text + g->json.values[v].start;
		const size_t length = g->json.values[v].end - g->json.values[v].start;
		if (!is_harmless(name, length))
			return gltf_fail(g, "it requires the extension %.*s, which is not read; export without it",
			                 length > 60 ? 60 : (int)length, name);
	}
	return true;
}

static bool read_document(Gltf *g) {
	if (!check_document(g) || !fill_table(g, "accessors", &g->accessors) || !fill_table(g, "bufferViews", &g->views) ||
	    !fill_table(g, "meshes", &g->meshes) || !fill_table(g, "nodes", &g->nodes) ||
	    !fill_table(g, "materials", &g->materials) || !fill_table(g, "scenes", &g->scenes) || !gltf_read_buffers(g))
		return false;
	unsigned char *marks = memory_alloc(&g->json.allocator, 2 * (size_t)g->nodes.count);
	if (!marks)
		return gltf_no_memory(g);
	memset(marks, 0, 2 * (size_t)g->nodes.count);
	const bool added = add_scene(g, marks, marks + g->nodes.count);
	memory_free(&g->json.allocator, marks);
	return added;
}

static uint32_t chunk_word(const char *p) {
	const unsigned char *u = (const unsigned char *)p;
	return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Of a .glb: header, the chunk of the document, and that of the bytes. */
static bool split_chunks(Gltf *g, const char **document, size_t *length) {
	const char *text = g->text->text;
	const size_t have = g->text->length;
	if (have < 20 || chunk_word(text + 4) != 2 || memcmp(text + 16, "JSON", 4) != 0)
		return gltf_fail(g, "no .glb file of version 2");
	*length = chunk_word(text + 12);
	*document = text + 20;
	if (*length > have - 20)
		return gltf_fail(g, "its document of %zu bytes is cut off", *length);
	const size_t next = 20 + *length;
	if (have - next < 8)
		return true;
	g->chunk_length = chunk_word(text + next);
	if (memcmp(text + next + 4, "BIN", 4) != 0 || g->chunk_length > have - next - 8)
		return gltf_fail(g, "its binary chunk of %zu bytes is cut off", g->chunk_length);
	g->chunk = (const unsigned char *)text + next + 8;
	return true;
}

CalStatus mesh_read_gltf(FeText *t, TriangleList *list) {
	Gltf g = {.text = t, .list = list, .json.allocator = list->allocator};
	const char *document = t->text;
	size_t length = t->length;
	const bool binary = length >= 4 && memcmp(document, "glTF", 4) == 0;
	if (!binary || split_chunks(&g, &document, &length)) {
		const char *wrong = json_flat_parse(&g.json, document, length, &list->allocator);
		if (wrong && strcmp(wrong, "out of memory") == 0)
			gltf_no_memory(&g);
		else if (wrong)
			gltf_fail(&g, "line %d: %s", json_flat_line(&g.json), wrong);
		else
			read_document(&g);
	}
	gltf_free_buffers(&g);
	GltfTable *const tables[] = {&g.accessors, &g.views, &g.meshes, &g.nodes, &g.materials, &g.scenes};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		memory_free(&list->allocator, tables[i]->values);
	json_flat_free(&g.json);
	return g.status;
}
