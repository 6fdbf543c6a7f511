// SPDX-License-Identifier: Apache-2.0
/*
 * mesh.c — fuzz target: any bytes as a triangle mesh; the first one says of which format.
 */
#include <string.h>

#include <calder/contact.h>

#include "fuzz.h"

static void run(const uint8_t *data, size_t size) {
	CalMesh *mesh = NULL;
	CalError error;
	if (size < 1)
		return;
	const char *path = fuzz_write(data[0] & 1 ? "a.obj" : "a.stl", data + 1, size - 1);
	memset(&error, 0x5a, sizeof error);
	if (cal_mesh_read(path, data[0] & 2 ? (CalVec3){0.001, 0.001, -0.001} : (CalVec3){1, 1, 1}, NULL, &mesh, &error) == CAL_OK)
		(void)cal_mesh_info(mesh);
	else
		fuzz_expect_error(&error);
	cal_mesh_destroy(mesh);
}

const FuzzTarget fuzz_mesh = {"mesh", NULL, run};
