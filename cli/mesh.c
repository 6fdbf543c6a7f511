// SPDX-License-Identifier: Apache-2.0
/*
 * mesh.c — `calder mesh`: what a mesh file holds: size, openings, volume, and the mass properties of the solid within.
 */
#define _GNU_SOURCE // getopt_long

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char help[] =
	"usage: calder mesh [OPTION]... FILE\n"
	"\n"
	"Prints what a mesh file (.stl, .obj, .gltf, .glb) holds: triangles, size, openings with their places, volume, and mass,\n"
	"center of mass and inertia of the solid within (docs/meshes.md). Exit code 0 if it bounds a solid, 1 if not, 3 if\n"
	"the file cannot be read.\n"
	"  --density D  of the solid, in kg/m^3 (default 1000), e.g. 2700 or '2.7 g/cm^3'; of a shell in kg/m^2\n"
	"  --mass M     instead of the density\n"
	"  --scale S    factor of lengths, or three of them: 0.001 for a file in mm, -1,1,1 to mirror it\n"
	"  --solid K    exact (default), convex: the convex hull, legacy: as MuJoCo does, shell: the surface\n"
	"  --json       as JSON on stdout\n"
	"\n"
	"example: calder mesh --density 2700 --scale 0.001 bracket.stl\n";

typedef struct MeshOptions {
	CalMeshMassOptions mass;
	CalVec3 scale;
	bool json;
} MeshOptions;

/* ---- options -------------------------------------------------------------------------------------- */

static int read_scale(const char *text, CalVec3 *scale) {
	double s[3];
	char *end = NULL;
	int count = 0;
	for (const char *at = text; count < 3; at = end + 1) {
		s[count++] = strtod(at, &end);
		if (end == at || !isfinite(s[count - 1]) || s[count - 1] == 0)
			return say_usage("mesh", "--scale needs one number or three with commas, none 0, not '%s'", text);
		if (*end != ',')
			break;
	}
	if (*end || count == 2)
		return say_usage("mesh", "--scale needs one number or three with commas, not '%s'", text);
	*scale = count == 1 ? (CalVec3){s[0], s[0], s[0]} : (CalVec3){s[0], s[1], s[2]};
	return EXIT_OK;
}

static int read_solid(const char *text, CalMeshSolid *solid) {
	for (int i = 0; i < CAL_MESH_SOLID_COUNT; i++) {
		*solid = (CalMeshSolid)i;
		if (strcmp(text, cal_mesh_solid_name(*solid)) == 0)
			return EXIT_OK;
	}
	return say_usage("mesh", "--solid is exact, convex, legacy or shell, not '%s'", text);
}

/* ---- text ------------------------------------------------------------------------------------------- */

static void print_openings(const CalMeshCheck *c) {
	if (c->closed) {
		printf("closed: it bounds a solid%s\n", c->inside_out ? ", but it is INSIDE OUT" : "");
		if (c->inverted > 0 && !c->inside_out)
			printf("  %d of %d parts have a negative volume: cavities, or parts that are inside out\n", c->inverted,
			       c->pieces);
		return;
	}
	printf("NOT CLOSED: %d open edge%s (one triangle), %d odd edge%s (more than two, or two that disagree)\n",
	       c->open_edges, plural(c->open_edges), c->odd_edges, plural(c->odd_edges));
	for (int i = 0; i < c->place_count; i++) {
		const CalMeshEdge *e = &c->places[i];
		printf("  (%.6g, %.6g, %.6g) - (%.6g, %.6g, %.6g): %d triangle%s\n", e->from.x, e->from.y, e->from.z, e->to.x,
		       e->to.y, e->to.z, e->triangles, plural(e->triangles));
	}
	if (c->open_edges + c->odd_edges > c->place_count)
		printf("  ...\n");
}

static void print_check(const CalMeshCheck *c, double unit) {
	printf("%d triangles, %d vertices, %d part%s", c->triangles, c->vertices, c->pieces, plural(c->pieces));
	if (c->dropped)
		printf(", %d triangles without area left out", c->dropped);
	printf("\nbox (%.6g, %.6g, %.6g) ... (%.6g, %.6g, %.6g) m, area %.6g m^2\n", c->lower.x, c->lower.y, c->lower.z,
	       c->upper.x, c->upper.y, c->upper.z, c->area);
	if (unit != 1)
		printf("  is it in millimeters? Try --scale %g\n", unit);
	print_openings(c);
}

static void print_mass(const MeshOptions *o, const CalMassProperties *m, double volume) {
	printf("%s: ", cal_mesh_solid_name(o->mass.solid));
	if (o->mass.solid == CAL_MESH_SHELL)
		printf("area %.9g m^2, mass %.9g kg (%.6g kg/m^2)\n", volume, m->mass, m->mass / volume);
	else
		printf("volume %.9g m^3, mass %.9g kg (%.6g kg/m^3)\n", volume, m->mass, m->mass / volume);
	printf("center of mass (%.9g, %.9g, %.9g) m\n", m->com.x, m->com.y, m->com.z);
	printf("inertia about it {xx: %.9g, yy: %.9g, zz: %.9g, xy: %.9g, xz: %.9g, yz: %.9g} kg m^2\n", m->inertia.m[0][0],
	       m->inertia.m[1][1], m->inertia.m[2][2], m->inertia.m[0][1], m->inertia.m[0][2], m->inertia.m[1][2]);
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void put_vector(const char *name, CalVec3 v) { printf("\"%s\": [%.17g, %.17g, %.17g]", name, v.x, v.y, v.z); }

static void json_check(const char *path, const CalMeshCheck *c, double unit) {
	printf("{\n  \"file\": ");
	json_string(stdout, path);
	printf(",\n  \"triangles\": %d, \"vertices\": %d, \"parts\": %d, \"dropped\": %d,\n  ", c->triangles, c->vertices,
	       c->pieces, c->dropped);
	put_vector("lower", c->lower);
	printf(", ");
	put_vector("upper", c->upper);
	printf(",\n  \"area\": %.17g, \"closed\": %s, \"inside_out\": %s, \"inverted_parts\": %d, \"open_edges\": %d, "
	       "\"odd_edges\": %d, \"suggested_scale\": %g,\n  \"places\": [",
	       c->area, c->closed ? "true" : "false", c->inside_out ? "true" : "false", c->inverted, c->open_edges,
	       c->odd_edges, unit);
	for (int i = 0; i < c->place_count; i++) {
		printf("%s{", i ? ", " : "");
		put_vector("from", c->places[i].from);
		printf(", ");
		put_vector("to", c->places[i].to);
		printf(", \"triangles\": %d}", c->places[i].triangles);
	}
	printf("]");
}

static void json_mass(const MeshOptions *o, const CalMassProperties *m, double volume) {
	printf(",\n  \"solid\": \"%s\", \"%s\": %.17g, \"mass\": %.17g,\n  ", cal_mesh_solid_name(o->mass.solid),
	       o->mass.solid == CAL_MESH_SHELL ? "shell_area" : "volume", volume, m->mass);
	put_vector("com", m->com);
	printf(",\n  \"inertia\": [");
	for (int i = 0; i < 3; i++)
		printf("%s[%.17g, %.17g, %.17g]", i ? ", " : "", m->inertia.m[i][0], m->inertia.m[i][1], m->inertia.m[i][2]);
	printf("]");
}

/* ---- the command ----------------------------------------------------------------------------------------- */

static int print_solid(const char *path, const CalTriangles *mesh, const MeshOptions *o) {
	CalMassProperties m, unit;
	CalError error = {0};
	CalMeshMassOptions plain = o->mass;
	plain.mass = 0;
	plain.density = 1;
	CalStatus status = cal_mesh_mass_properties(path, mesh, &o->mass, NULL, &m, &error);
	if (status == CAL_OK)
		status = cal_mesh_mass_properties(path, mesh, &plain, NULL, &unit, &error);
	if (status != CAL_OK) {
		say_error(path, error.text);
		return EXIT_CHECK;
	}
	(o->json ? json_mass : print_mass)(o, &m, unit.mass);
	return EXIT_OK;
}

static int inspect(const char *path, const MeshOptions *o) {
	CalMeshFile *file = NULL;
	CalMeshCheck check = {0};
	CalError error = {0};
	CalStatus status = cal_mesh_file_read(path, o->scale, NULL, &file, &error);
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	if (status == CAL_OK)
		status = cal_mesh_check(&mesh, NULL, &check, &error);
	int code = say_status(path, status, &error);
	if (code == EXIT_OK) {
		const double unit = cal_mesh_question_unit(check.lower, check.upper, 0);
		if (o->json)
			json_check(path, &check, unit);
		else
			print_check(&check, unit);
		code = print_solid(path, &mesh, o);
		if (o->json)
			printf("\n}\n");
	}
	cal_mesh_file_destroy(file);
	return code;
}

int command_mesh(int argc, char **argv) {
	static const struct option options[] = {{"density", required_argument, NULL, 'd'},
	                                        {"mass", required_argument, NULL, 'm'},
	                                        {"scale", required_argument, NULL, 's'},
	                                        {"solid", required_argument, NULL, 'k'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	MeshOptions o = {.scale = {1, 1, 1}};
	int code = EXIT_OK;
	for (int option; code == EXIT_OK && (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("mesh", argv, options);
		if (option == 'd')
			code = option_quantity("mesh", "--density", optarg, "kg/m^3", &o.mass.density);
		else if (option == 'm')
			code = option_quantity("mesh", "--mass", optarg, "kg", &o.mass.mass);
		else if (option == 's')
			code = read_scale(optarg, &o.scale);
		else if (option == 'k')
			code = read_solid(optarg, &o.mass.solid);
		o.json |= option == 'j';
	}
	if (code != EXIT_OK)
		return code;
	if (argc - optind != 1)
		return say_usage("mesh", "name one mesh file");
	if (o.mass.density < 0 || o.mass.mass < 0 || (o.mass.density > 0 && o.mass.mass > 0))
		return say_usage("mesh", "give a density or a mass, not both, and not negative");
	if (o.mass.density == 0 && o.mass.mass == 0)
		o.mass.density = o.mass.solid == CAL_MESH_SHELL ? 1 : 1000;
	return inspect(argv[optind], &o);
}
