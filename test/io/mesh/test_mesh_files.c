// SPDX-License-Identifier: Apache-2.0
/*
 * test_mesh_files.c — STL (binary and text) and OBJ files: what is read, and what is said about files that are wrong.
 */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/contact.h>
#include <calder/mesh.h>

#include "support/failing_allocator.h"

static char path[64];

static void write_file(const char *suffix, const void *data, size_t size) {
	snprintf(path, sizeof path, "test_mesh_files.%s", suffix);
	FILE *stream = fopen(path, "wb");
	assert_non_null(stream);
	assert_true(fwrite(data, 1, size, stream) == size);
	assert_int_equal(fclose(stream), 0);
}

static void write_text(const char *suffix, const char *text) { write_file(suffix, text, strlen(text)); }

static CalMeshInfo read_info(double scale) {
	CalMesh *mesh = NULL;
	CalError error = {0};
	if (cal_mesh_read(path, (CalVec3){scale, scale, scale}, NULL, &mesh, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalMeshInfo info = cal_mesh_info(mesh);
	cal_mesh_destroy(mesh);
	remove(path);
	return info;
}

static void refused(CalStatus status, const char *words) {
	CalMesh *mesh = NULL;
	CalError error = {0};
	assert_int_equal(cal_mesh_read(path, (CalVec3){1, 1, 1}, NULL, &mesh, &error), status);
	assert_null(mesh);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	remove(path);
}

static const double tetra[4][3][3] = {{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                      {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                      {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
                                      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static size_t binary_tetra(unsigned char *out) {
	memset(out, 0, 84 + 4 * 50);
	memcpy(out, "solid but binary", 16); // as some programs write it
	out[80] = 4;
	for (int t = 0; t < 4; t++) {
		for (int i = 0; i < 9; i++) {
			const float x = (float)tetra[t][i / 3][i % 3];
			uint32_t bits;
			memcpy(&bits, &x, sizeof bits);
			for (int k = 0; k < 4; k++)
				out[84 + 50 * t + 12 + 4 * i + k] = (unsigned char)(bits >> (8 * k));
		}
	}
	return 84 + 4 * 50;
}

static void text_tetra(char *out) {
	out += sprintf(out, "solid tetra\r\n");
	for (int t = 0; t < 4; t++) {
		out += sprintf(out, " facet normal 0 0 0\n  outer loop\n");
		for (int i = 0; i < 3; i++)
			out += sprintf(out, "   vertex %.3e %g %g\n", tetra[t][i][0], tetra[t][i][1], tetra[t][i][2]);
		out += sprintf(out, "  endloop\n endfacet\n");
	}
	sprintf(out, "endsolid tetra\n");
}

static void check_tetra(CalMeshInfo info, double scale) {
	assert_int_equal(info.vertices, 4);
	assert_int_equal(info.triangles, 4);
	assert_true(info.closed);
	assert_true(fabs(info.volume - scale * scale * scale / 6) < 1e-15);
}

static void binary_stl_is_read(void **state) {
	(void)state;
	unsigned char data[84 + 4 * 50];
	write_file("stl", data, binary_tetra(data));
	check_tetra(read_info(0), 1);
	write_file("STL", data, sizeof data);
	check_tetra(read_info(0.5), 0.5);
}

static void text_stl_is_read(void **state) {
	(void)state;
	char text[2000];
	text_tetra(text);
	write_text("stl", text);
	check_tetra(read_info(1), 1);
}

static void obj_is_read(void **state) {
	(void)state;
	write_text("obj",
	           "# a tetrahedron and one quadrangle\nmtllib x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0 1.0\nv 0 0 1\nvn 0 0 1\n"
	           "f 1/1/1 3/2/1 2/3/1\nf 1//1 2//1 4//1\nf 1 4 3\nf -3 -2 -1\n");
	check_tetra(read_info(1), 1);
	write_text("obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
	const CalMeshInfo info = read_info(1);
	assert_int_equal(info.triangles, 2);
	assert_int_equal(info.open_edges, 4);
}

/* Capitals in STL, lines that continue in OBJ. */
static void files_of_other_programs_are_read(void **state) {
	(void)state;
	char text[4096];
	text_tetra(text);
	for (char *c = text; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	write_text("stl", text);
	check_tetra(read_info(1), 1);
	write_text("obj",
	           "v 0 0 0\nv 1 0 \\\n 0\nv 0 1 0\r\nv 0 0 1\nf 1 3 2\nf 1 \\\r\n2 4\nf 1 4 3\nf 2 3 4\n# end \\\n");
	check_tetra(read_info(1), 1);
}

static void wrong_files_are_reported_by_line(void **state) {
	(void)state;
	unsigned char data[84 + 4 * 50];
	binary_tetra(data);
	write_file("stl", data, sizeof data - 7);
	refused(CAL_ERR_INPUT, "it would have 284 bytes for its 4 triangles, but has 277");
	memset(data + 84 + 12, 0xff, 4);
	write_file("stl", data, sizeof data);
	refused(CAL_ERR_INPUT, "triangle 0: a coordinate is not finite");
	write_text("stl", "no mesh");
	refused(CAL_ERR_INPUT, "does not begin with \"solid\", and 7 bytes are too few");
	write_text("stl", "");
	refused(CAL_ERR_INPUT, "0 bytes are too few");
	write_text("stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 zero 0\n");
	refused(CAL_ERR_INPUT, "test_mesh_files.stl:4: error: a vertex needs three numbers; \"zero\" is none");
	write_text("stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nendloop\nendfacet\n");
	refused(CAL_ERR_INPUT, "stl:7: error: the facet has 2 vertices; a triangle has 3");
	write_text("stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n");
	refused(CAL_ERR_INPUT, "ends within a facet");
	write_text("stl", "solid x\nvertex 0 0 0\n");
	refused(CAL_ERR_INPUT, "a vertex outside of a facet");
	write_text("stl", "solid x\nfacets\n");
	refused(CAL_ERR_INPUT, "\"facets\" is no word of an STL file");
	write_text("stl", "solid x\nendsolid x\n");
	refused(CAL_ERR_INPUT, "no triangles");
	write_text("obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n");
	refused(CAL_ERR_INPUT, "obj:3: error: the face names vertex 3; there are 2");
	write_text("obj", "v 0 0 0\nv 1 0 0\nf 1 2\n");
	refused(CAL_ERR_INPUT, "the face has 2 vertices; it needs 3");
	write_text("obj", "v 0 0 0\nf 1 b 2\n");
	refused(CAL_ERR_INPUT, "\"b\" is none");
	write_text("ply", "ply\n");
	refused(CAL_ERR_INPUT, "read from .stl, .obj, .gltf and .glb");
	snprintf(path, sizeof path, "no_such_file.stl");
	refused(CAL_ERR_IO, "no_such_file.stl: error: the file could not be opened");
}

/* Any cut and any changed byte gives a mesh or an error, never a fault (the sanitizers watch). */
static void damaged_files_are_survived(void **state) {
	(void)state;
	unsigned char data[84 + 4 * 50];
	char text[2000];
	CalMesh *mesh;
	const size_t size = binary_tetra(data);
	text_tetra(text);
	for (size_t cut = 0; cut < size; cut += 3) {
		write_file("stl", data, cut);
		mesh = NULL;
		assert_int_equal(cal_mesh_read(path, (CalVec3){1, 1, 1}, NULL, &mesh, NULL), CAL_ERR_INPUT);
	}
	for (size_t i = 0; i < strlen(text); i += 5) {
		char copy[2000];
		strcpy(copy, text);
		copy[i] = (char)(i * 37 % 255 + 1);
		write_text("stl", copy);
		mesh = NULL;
		if (cal_mesh_read(path, (CalVec3){1, 1, 1}, NULL, &mesh, NULL) == CAL_OK)
			cal_mesh_destroy(mesh);
	}
	remove(path);
}

static void failing_memory_leaves_nothing(void **state) {
	(void)state;
	char text[2000];
	text_tetra(text);
	write_text("stl", text);
	int k = 1;
	for (CalStatus status = CAL_ERR_MEMORY; status != CAL_OK; k++) {
		FailingAllocator f = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&f);
		CalMesh *mesh = NULL;
		status = cal_mesh_read(path, (CalVec3){1, 1, 1}, &allocator, &mesh, NULL);
		assert_true(status == CAL_OK || status == CAL_ERR_MEMORY);
		cal_mesh_destroy(mesh);
		assert_int_equal(f.live, 0);
	}
	assert_true(k > 4);
	remove(path);
}

/* Mirrored meshes keep their outside: the volume stays positive, and the center changes its side. */
static void negative_scale_mirrors(void **unused) {
	(void)unused;
	unsigned char data[84 + 4 * 50];
	static const CalVec3 scales[] = {{-2, 1, 1}, {1, -2, 1}, {1, 1, -2}, {-1, -2, 1}, {-1, -1, -2}, {2, 1, 1}};
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		const CalVec3 s = scales[i];
		CalMeshFile *file = NULL;
		CalMassProperties m;
		write_file("stl", data, binary_tetra(data));
		assert_int_equal(cal_mesh_file_read(path, s, NULL, &file, NULL), CAL_OK);
		const CalTriangles mesh = cal_mesh_file_triangles(file);
		assert_int_equal(cal_mesh_mass_properties(path, &mesh, NULL, NULL, &m, NULL), CAL_OK);
		assert_true(fabs(m.mass - 2.0 / 6) < 1e-15);
		assert_true(fabs(m.com.x - s.x / 4) < 1e-15 && fabs(m.com.y - s.y / 4) < 1e-15 &&
		            fabs(m.com.z - s.z / 4) < 1e-15);
		assert_true(fabs(m.inertia.m[0][1] - m.mass * s.x * s.y / 80) < 1e-15); // of the corner of a cube
		cal_mesh_file_destroy(file);
	}
	CalMesh *mesh = NULL;
	CalError error = {0};
	assert_int_equal(cal_mesh_read(path, (CalVec3){1, 0, 1}, NULL, &mesh, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "no factor may be zero"));
	remove(path);
}

static void materials_color_faces(void **unused) {
	(void)unused;
	CalMeshFile *file = NULL;
	FILE *mtl = fopen("test_mesh_files.mtl", "w");
	assert_non_null(mtl);
	fputs("# colors\nnewmtl Red Paint\nKa 0 0 0\nKd 1 0.5 0\nnewmtl none\n", mtl);
	fclose(mtl);
	write_text("obj",
	           "mtllib test_mesh_files.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nusemtl Red Paint\nf 1 2 4\n"
	           "usemtl none\nf 1 4 3\nusemtl other\nf 2 3 4\n");
	assert_int_equal(cal_mesh_file_read(path, (CalVec3){0}, NULL, &file, NULL), CAL_OK);
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	assert_int_equal(mesh.triangle_count, 4);
	assert_non_null(mesh.colors);
	assert_int_equal(mesh.colors[0], -1);
	assert_int_equal(mesh.colors[1], 0xff8000);
	assert_int_equal(mesh.colors[2], -1);
	assert_int_equal(mesh.colors[3], -1);
	cal_mesh_file_destroy(file);
	remove("test_mesh_files.mtl"); // without it there are no colors
	assert_int_equal(cal_mesh_file_read(path, (CalVec3){0}, NULL, &file, NULL), CAL_OK);
	assert_null(cal_mesh_file_triangles(file).colors);
	cal_mesh_file_destroy(file);
	remove(path);
}

/* 10^9 triangles that the header declares, and the file has not: nothing is allocated for them. */
static void declared_triangles_are_not_believed(void **unused) {
	(void)unused;
	unsigned char data[84 + 50] = {0};
	FailingAllocator state = {0};
	const CalAllocator allocator = failing_allocator(&state);
	CalMesh *mesh = NULL;
	CalError error = {0};
	data[80] = 0x00, data[81] = 0xca, data[82] = 0x9a, data[83] = 0x3b; // 10^9
	write_file("stl", data, sizeof data);
	assert_int_equal(cal_mesh_read(path, (CalVec3){0}, &allocator, &mesh, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "1000000000 triangles"));
	assert_true(state.calls <= 2 && state.live == 0); // that of the text
	remove(path);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary_stl_is_read),
		cmocka_unit_test(text_stl_is_read),
		cmocka_unit_test(obj_is_read),
		cmocka_unit_test(files_of_other_programs_are_read),
		cmocka_unit_test(wrong_files_are_reported_by_line),
		cmocka_unit_test(damaged_files_are_survived),
		cmocka_unit_test(failing_memory_leaves_nothing),
		cmocka_unit_test(negative_scale_mirrors),
		cmocka_unit_test(materials_color_faces),
		cmocka_unit_test(declared_triangles_are_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
