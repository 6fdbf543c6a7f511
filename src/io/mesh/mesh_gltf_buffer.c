// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_gltf_buffer.c — buffers of a glTF document and numbers in them. What a document declares is checked against the bytes
 * that are there before anything is made of it.
 */
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "io/mesh/mesh_gltf.h"

/* ---- base64 -------------------------------------------------------------------------------------- */

static int digit_of(char c) {
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'             ? 62
	       : c == '/'             ? 63
	                              : -1;
}

static bool decode_base64(Gltf *g, const char *text, size_t length, GltfBuffer *out) {
	while (length && text[length - 1] == '=')
		length--;
	out->owned = memory_alloc(&g->json.allocator, length / 4 * 3 + 3);
	if (!out->owned)
		return gltf_no_memory(g);
	uint32_t bits = 0;
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		const int digit = digit_of(text[i]);
		if (digit < 0)
			return gltf_fail(g, "a data: URI has a character that is not of base64");
		bits = bits << 6 | (uint32_t)digit;
		if (i % 4 != 0)
			out->owned[count++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	out->bytes = out->owned;
	out->length = count;
	return true;
}

/* ---- where they are -------------------------------------------------------------------------------- */

static int hex_of(char c) {
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* A URI relative to the document: %20 and the like resolved. */
static bool resolve_uri(const char *uri, size_t length, char *name, size_t size) {
	size_t used = 0;
	for (size_t i = 0; i < length; i++) {
		char c = uri[i];
		if (c == '\\')
			return false;
		if (c == '%' && i + 2 < length && hex_of(uri[i + 1]) >= 0 && hex_of(uri[i + 2]) >= 0) {
			c = (char)(16 * hex_of(uri[i + 1]) + hex_of(uri[i + 2]));
			i += 2;
		}
		if (!c || used + 1 >= size)
			return false;
		name[used++] = c;
	}
	name[used] = '\0';
	return used > 0 && name[0] != '/' && !strstr(name, "..") && !strchr(name, ':');
}

static bool read_buffer_file(Gltf *g, const char *uri, size_t length, GltfBuffer *out) {
	char name[512], path[1024];
	if (!resolve_uri(uri, length, name, sizeof name) || !fe_path_beside(g->text->path, name, path, sizeof path))
		return gltf_fail(g, "the buffer \"%.*s\" is not in the folder of the file", length > 80 ? 80 : (int)length,
		                 uri);
	FeText *file = memory_alloc(&g->json.allocator, sizeof *file);
	if (!file)
		return gltf_no_memory(g);
	g->status = fe_text_open(file, path, &g->json.allocator, g->text->error);
	if (g->status == CAL_OK) { // its text is kept
		out->owned = (unsigned char *)file->text;
		out->bytes = out->owned;
		out->length = file->length;
	}
	memory_free(&g->json.allocator, file);
	return g->status == CAL_OK;
}

static bool read_uri(Gltf *g, const JsonValue *v, GltfBuffer *out) {
	const char *uri = g->json.text + v->start;
	const size_t length = v->end - v->start;
	if (length < 5 || memcmp(uri, "data:", 5) != 0)
		return read_buffer_file(g, uri, length, out);
	const char *comma = memchr(uri, ',', length);
	if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
		return gltf_fail(g, "a data: URI of a buffer must be in base64");
	return decode_base64(g, comma + 1, length - (size_t)(comma + 1 - uri), out);
}

static bool read_buffer(Gltf *g, int object, int index, GltfBuffer *out) {
	size_t declared = 0;
	const int uri = json_flat_member(&g->json, object, "uri"), bytes = json_flat_member(&g->json, object, "byteLength");
	if (bytes < 0 || !json_flat_whole(&g->json, bytes, SIZE_MAX / 4, &declared))
		return gltf_fail(g, "buffer %d: byteLength is missing or no whole number", index);
	if (uri < 0) {
		out->bytes = g->chunk;
		out->length = index == 0 ? g->chunk_length : 0;
	} else if (g->json.values[uri].kind != JSON_TEXT || !read_uri(g, &g->json.values[uri], out)) {
		return g->status != CAL_OK ? false : gltf_fail(g, "buffer %d: its uri is no text", index);
	}
	if (out->length < declared)
		return gltf_fail(g, "buffer %d: it declares %zu bytes, but has %zu; is the file cut off?", index, declared,
		                 out->length);
	return true;
}

bool gltf_read_buffers(Gltf *g) {
	const int list = json_flat_member(&g->json, 0, "buffers");
	g->buffer_count = list >= 0 ? g->json.values[list].count : 0;
	g->buffers = memory_alloc(&g->json.allocator, (size_t)g->buffer_count * sizeof *g->buffers);
	if (!g->buffers)
		return gltf_no_memory(g);
	memset(g->buffers, 0, (size_t)g->buffer_count * sizeof *g->buffers);
	int index = 0;
	for (int v = list >= 0 ? g->json.values[list].first : -1; v >= 0; v = g->json.values[v].next, index++)
		if (!read_buffer(g, v, index, &g->buffers[index]))
			return false;
	return true;
}

void gltf_free_buffers(Gltf *g) {
	for (int i = 0; g->buffers && i < g->buffer_count; i++)
		memory_free(&g->json.allocator, g->buffers[i].owned);
	memory_free(&g->json.allocator, g->buffers);
}

/* ---- accessors ----------------------------------------------------------------------------------------- */

static size_t component_size(size_t component) {
	switch (component) {
	case 5120: // signed and unsigned bytes
	case 5121:
		return 1;
	case 5122: // and of two bytes
	case 5123:
		return 2;
	case 5125: // unsigned
	case 5126: // float
		return 4;
	default:
		return 0;
	}
}

/* The bytes of a view, [count] elements of `size` from `offset` on. */
static bool find_elements(Gltf *g, int accessor, int view, size_t offset, size_t size, GltfElements *out) {
	const int object = g->views.values[view];
	size_t start = 0, length = 0, stride = 0;
	int buffer = -1;
	if (!gltf_index(g, object, "buffer", g->buffer_count, &buffer) || buffer < 0 ||
	    !json_flat_whole(&g->json, json_flat_member(&g->json, object, "byteOffset"), SIZE_MAX / 4, &start) ||
	    !json_flat_whole(&g->json, json_flat_member(&g->json, object, "byteLength"), SIZE_MAX / 4, &length) ||
	    !json_flat_whole(&g->json, json_flat_member(&g->json, object, "byteStride"), 252, &stride))
		return g->status != CAL_OK ? false : gltf_fail(g, "bufferView %d: a number is missing or not possible", view);
	out->stride = stride ? stride : size;
	const size_t have = g->buffers[buffer].length;
	const bool fits = start <= have && length <= have - start && offset <= length &&
	                  (out->count == 0 ||
	                   (size <= length - offset && (size_t)(out->count - 1) <= (length - offset - size) / out->stride));
	if (!fits || out->stride < size)
		return gltf_fail(g, "accessor %d: its %d elements are not within bufferView %d of %zu bytes", accessor,
		                 out->count, view, length);
	out->bytes = g->buffers[buffer].bytes + start + offset;
	return true;
}

bool gltf_accessor(Gltf *g, int accessor, const char *type, GltfElements *out) {
	const int object = g->accessors.values[accessor];
	size_t offset = 0, component = 0, count = 0;
	int view = -1;
	*out = (GltfElements){0};
	if (!json_flat_is(&g->json, json_flat_member(&g->json, object, "type"), type))
		return gltf_fail(g, "accessor %d: its type must be %s here", accessor, type);
	if (json_flat_member(&g->json, object, "sparse") >= 0)
		return gltf_fail(g, "accessor %d: sparse accessors are not read; export without them", accessor);
	if (!json_flat_whole(&g->json, json_flat_member(&g->json, object, "byteOffset"), SIZE_MAX / 4, &offset) ||
	    !json_flat_whole(&g->json, json_flat_member(&g->json, object, "componentType"), 6000, &component) ||
	    !json_flat_whole(&g->json, json_flat_member(&g->json, object, "count"), INT_MAX / 8, &count) ||
	    !component_size(component))
		return gltf_fail(g, "accessor %d: count, componentType or byteOffset is missing or not possible", accessor);
	if (!gltf_index(g, object, "bufferView", g->views.count, &view))
		return false;
	if (view < 0)
		return gltf_fail(g, "accessor %d: it has no bufferView; is the geometry compressed?", accessor);
	const int normalized = json_flat_member(&g->json, object, "normalized");
	out->count = (int)count;
	out->component = (int)component;
	out->normalized = normalized >= 0 && g->json.text[g->json.values[normalized].start] == 't';
	return find_elements(g, accessor, view, offset, component_size(component) * (strcmp(type, "VEC3") == 0 ? 3 : 1),
	                     out);
}

static uint32_t read_u32(const unsigned char *p) {
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

double gltf_value(const GltfElements *e, int i, int k) {
	const unsigned char *p = e->bytes + (size_t)i * e->stride + (size_t)k * component_size((size_t)e->component);
	const double one = e->normalized ? 1 : 0;
	float value;
	uint32_t bits;
	switch (e->component) {
	case 5120:
		return (double)(int8_t)p[0] / (one != 0 ? 127 : 1);
	case 5121:
		return (double)p[0] / (one != 0 ? 255 : 1);
	case 5122:
		return (double)(int16_t)(p[0] | p[1] << 8) / (one != 0 ? 32767 : 1);
	case 5123:
		return (double)(p[0] | p[1] << 8) / (one != 0 ? 65535 : 1);
	case 5125:
		return (double)read_u32(p);
	default:
		bits = read_u32(p);
		memcpy(&value, &bits, sizeof value);
		return (double)value;
	}
}
