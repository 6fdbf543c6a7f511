// SPDX-License-Identifier: Apache-2.0
/*
 * test_gltf.c — glTF 2.0 files: buffers in the document, beside it and in a .glb, transforms of nodes, colors, and documents
 * that declare what is not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/mesh.h>

#include "io/json/json_flat.h"
#include "support/failing_allocator.h"

/* The corner (0,0,0), (1,0,0), (0,2,0), (0,0,3): four vertices of three floats, then four triangles of three shorts. */
#define BASE64 "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAEBAAAACAAEAAAABAAMAAAADAAIAAQACAAMA"
#define DATA "data:application/octet-stream;base64," BASE64
#define PARTS(uri, count)                                                                                                          \
	"\"asset\":{\"version\":\"2.0\"},\"buffers\":[{" uri                                                                           \
	"\"byteLength\":72}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},"                                                       \
	"{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":" count \
	",\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}],"
#define MESH \
	"\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0.2140411,0,1]}}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0}]}]"
#define DOCUMENT(nodes) "{" PARTS("\"uri\":\"" DATA "\",", "4") MESH nodes "}"
#define ONE ",\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}],\"scene\":0"

static void write_file(const char *path, const void *data, size_t size) {
	FILE *stream = fopen(path, "wb");
	assert_non_null(stream);
	assert_true(fwrite(data, 1, size, stream) == size);
	assert_int_equal(fclose(stream), 0);
}

static CalMassProperties mass_of(const char *path, CalVec3 scale, int *triangles, int *color) {
	CalMeshFile *file = NULL;
	CalMassProperties m;
	CalError error = {0};
	if (cal_mesh_file_read(path, scale, NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	*triangles = mesh.triangle_count;
	*color = mesh.colors ? mesh.colors[0] : -1;
	if (cal_mesh_mass_properties(path, &mesh, NULL, NULL, &m, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_mesh_file_destroy(file);
	remove(path);
	return m;
}

static CalMassProperties mass_of_text(const char *text) {
	int triangles, color;
	write_file("test_gltf.gltf", text, strlen(text));
	return mass_of("test_gltf.gltf", (CalVec3){0}, &triangles, &color);
}

static void near(double a, double b) {
	if (!(fabs(a - b) < 1e-12))
		fail_msg("%.17g is not %.17g", a, b);
}

static void near_center(CalMassProperties m, double mass, double x, double y, double z) {
	near(m.mass, mass);
	near(m.com.x, x);
	near(m.com.y, y);
	near(m.com.z, z);
}

static void buffers_are_found_everywhere(void **unused) {
	(void)unused;
	int triangles, color;
	static const char text[] = DOCUMENT(ONE);
	write_file("test_gltf.gltf", text, strlen(text));
	near_center(mass_of("test_gltf.gltf", (CalVec3){0}, &triangles, &color), 1, 0.25, 0.5, 0.75);
	assert_int_equal(triangles, 4);
	assert_int_equal(color, 0xff7f00); // the factors are linear

	static const char beside[] = "{" PARTS("\"uri\":\"test%20gltf.bin\",", "4") MESH ONE "}";
	static const char inside[] = "{" PARTS("", "4") MESH ONE "}";
	static const float v[12] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
	static const uint16_t f[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
	unsigned char bytes[72];
	memcpy(bytes, v, sizeof v);
	memcpy(bytes + 48, f, sizeof f);
	write_file("test gltf.bin", bytes, sizeof bytes);
	write_file("test_gltf.gltf", beside, strlen(beside));
	near_center(mass_of("test_gltf.gltf", (CalVec3){-1, 1, 1}, &triangles, &color), 1, -0.25, 0.5, 0.75);
	remove("test gltf.bin");

	unsigned char glb[2048];
	const uint32_t length = (uint32_t)(strlen(inside) + 3) / 4 * 4;
	const uint32_t header[5] = {0x46546c67, 2, 12 + 8 + length + 8 + 72, length, 0x4e4f534a},
				   chunk[2] = {72, 0x004e4942};
	memcpy(glb, header, 20);
	memset(glb + 20, ' ', length);
	memcpy(glb + 20, inside, strlen(inside));
	memcpy(glb + 20 + length, chunk, 8);
	memcpy(glb + 28 + length, bytes, 72);
	write_file("test_gltf.glb", glb, 100 + length);
	near_center(mass_of("test_gltf.glb", (CalVec3){0}, &triangles, &color), 1, 0.25, 0.5, 0.75);
}

/* Parent and child: translation, rotation about z by a quarter turn, scale with a mirror; a matrix by columns. */
static void nodes_transform(void **unused) {
	(void)unused;
	near_center(
		mass_of_text(DOCUMENT(
			",\"nodes\":[{\"translation\":[10,0,0],\"children\":[1]},{\"mesh\":0,\"rotation\":[0,0,0.70710678118654752,"
			"0.70710678118654752],\"scale\":[2,1,-1]}],\"scenes\":[{\"nodes\":[0]}]")),
		2, 10 - 0.5, 0.5, -0.75);
	near_center(
		mass_of_text(DOCUMENT(",\"nodes\":[{\"mesh\":0,\"matrix\":[0,1,0,0,-1,0,0,0,0,0,1,0,5,6,7,1]},{\"mesh\":0}],"
	                          "\"scenes\":[{\"nodes\":[0]}]")),
		1, 5 - 0.5, 6.25, 7.75);
	near_center(mass_of_text(DOCUMENT(
					",\"nodes\":[{\"mesh\":0,\"translation\":[-1,0,0]},{\"mesh\":0,\"translation\":[1,0,0]}]")),
	            2, 0.25, 0.5, 0.75);                             // no scene: all roots
	near_center(mass_of_text(DOCUMENT("")), 1, 0.25, 0.5, 0.75); // no nodes: all meshes
}

static void refused(const char *text, const char *words) {
	CalMeshFile *file = NULL;
	CalError error = {0};
	write_file("test_gltf.gltf", text, strlen(text));
	assert_int_equal(cal_mesh_file_read("test_gltf.gltf", (CalVec3){0}, NULL, &file, &error), CAL_ERR_INPUT);
	assert_null(file);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	remove("test_gltf.gltf");
}

static void wrong_documents_are_refused(void **unused) {
	(void)unused;
	refused("{" PARTS("\"uri\":\"" DATA "\",", "200000000") MESH ONE "}", "200000000 elements are not within");
	refused("{" PARTS("\"uri\":\"" DATA "\",", "1000000000") MESH ONE "}", "not possible");
	refused("{" PARTS("\"uri\":\"" DATA "\",", "2") MESH ONE "}", "names vertex 2; there are 2");
	refused("{" PARTS("\"uri\":\"../up.bin\",", "4") MESH ONE "}", "not in the folder");
	refused("{" PARTS("\"uri\":\"/etc/passwd\",", "4") MESH ONE "}", "not in the folder");
	refused("{" PARTS("\"uri\":\"%2e%2e/up.bin\",", "4") MESH ONE "}", "not in the folder");
	refused("{" PARTS("", "4") MESH ONE "}", "declares 72 bytes, but has 0");
	refused("{" PARTS("\"uri\":\"data:;base64,AAAA\",", "4") MESH ONE "}", "declares 72 bytes, but has 3");
	refused(DOCUMENT(",\"nodes\":[{\"children\":[1]},{\"children\":[0],\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}]"),
	        "twice");
	refused(DOCUMENT(",\"nodes\":[{\"mesh\":3}],\"scenes\":[{\"nodes\":[0]}]"), "names number 3; there are 1");
	refused(DOCUMENT(",\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[7]}]"), "node 7 is not there");
	refused(DOCUMENT(",\"nodes\":[{\"mesh\":0,\"scale\":[1,1]}]"), "list of 3 numbers");
	refused(DOCUMENT(",\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]"), "KHR_draco_mesh_compression");
	refused("{\"asset\":{\"version\":\"1.0\"}}", "version 2");
	refused("{\"asset\":{\"version\":\"2.0\"}}", "no triangles");
	refused("{\"asset\":\n{\"version\" \"2.0\"}}", "line 2: expected ':'");
	refused("glTF", "no .glb file");
}

static void memory_may_fail(void **unused) {
	(void)unused;
	static const char text[] = DOCUMENT(ONE);
	write_file("test_gltf.gltf", text, strlen(text));
	for (int i = 1;; i++) {
		FailingAllocator state = {.fail_at = i};
		const CalAllocator allocator = failing_allocator(&state);
		CalMeshFile *file = NULL;
		const CalStatus status = cal_mesh_file_read("test_gltf.gltf", (CalVec3){0}, &allocator, &file, NULL);
		if (status == CAL_OK) {
			cal_mesh_file_destroy(file);
			assert_int_equal(state.live, 0);
			break;
		}
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_int_equal(state.live, 0);
		assert_true(i < 200);
	}
	remove("test_gltf.gltf");
}

static void json_is_strict(void **unused) {
	(void)unused;
	static const char *const good[] = {"{}", "[]", " [1, -0.5e+3, \"a\\\"b\", true, null, {\"x\": [[]]}] ", "0"};
	static const char *const bad[] = {"",      "[1,]",  "{\"a\":1,}", "[01]",  "[1.]", "[+1]",    "[.5]",  "nul",
	                                  "[1] 2", "{a:1}", "[\"\\x\"]",  "[\"a]", "[1",   "{\"a\"}", "[1 2]", "[\"\n\"]"};
	JsonFlat tree;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_null(json_flat_parse(&tree, good[i], strlen(good[i]), NULL));
		json_flat_free(&tree);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (!json_flat_parse(&tree, bad[i], strlen(bad[i]), NULL))
			fail_msg("accepted: %s", bad[i]);
		json_flat_free(&tree);
	}
	char deep[200];
	memset(deep, '[', sizeof deep);
	assert_string_equal(json_flat_parse(&tree, deep, sizeof deep, NULL), "nested too deeply");
	json_flat_free(&tree);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_found_everywhere),
		cmocka_unit_test(nodes_transform),
		cmocka_unit_test(wrong_documents_are_refused),
		cmocka_unit_test(memory_may_fail),
		cmocka_unit_test(json_is_strict),
	};
	return cmocka_run_group_tests_name("glTF files", tests, NULL, NULL);
}
