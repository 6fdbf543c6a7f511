// SPDX-License-Identifier: Apache-2.0
/*
 * mesh.c — fuzz target: any bytes as a triangle mesh; the first one says of which format.
 */
#include <string.h>

#include <calder/contact.h>
#include <calder/mesh.h>

#include "fuzz.h"

/* All that is made of triangles that were read: whatever they are, it ends and stays in its memory. */
static void measure(const char *path, CalVec3 scale) {
	CalMeshFile *file = NULL;
	CalMeshCheck check;
	CalMassProperties m;
	if (cal_mesh_file_read(path, scale, NULL, &file, NULL) != CAL_OK)
		return;
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	cal_mesh_check(&mesh, NULL, &check, NULL);
	for (int solid = 0; solid < CAL_MESH_SOLID_COUNT; solid++) {
		const CalMeshMassOptions options = {.solid = (CalMeshSolid)solid, .unchecked = 1};
		cal_mesh_mass_properties("fuzz", &mesh, &options, NULL, &m, NULL);
	}
	cal_mesh_file_destroy(file);
}

static void run(const uint8_t *data, size_t size) {
	CalMesh *mesh = NULL;
	CalError error;
	if (size < 1)
		return;
	static const char *const names[] = {"a.stl", "a.obj", "a.gltf", "a.glb"};
	const char *path = fuzz_write(names[(data[0] & 1) + (data[0] & 4 ? 2 : 0)], data + 1, size - 1);
	const CalVec3 scale = data[0] & 2 ? (CalVec3){0.001, 0.001, -0.001} : (CalVec3){1, 1, 1};
	memset(&error, 0x5a, sizeof error);
	if (cal_mesh_read(path, scale, NULL, &mesh, &error) == CAL_OK)
		(void)cal_mesh_info(mesh);
	else
		fuzz_expect_error(&error);
	cal_mesh_destroy(mesh);
	measure(path, scale);
}

const FuzzTarget fuzz_mesh = {"mesh", NULL, run};
