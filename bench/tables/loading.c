// SPDX-License-Identifier: Apache-2.0
/*
 * loading.c — what it costs to read robot files of 100 to 100000 bodies, against expat alone on the same text, and meshes of
 * 1000 to 1000000 triangles (docs/import.md, Size).
 *
 *   loading [urdf | mjcf | lean | sdf | stl | obj]... [--most N] [--once]
 *
 * lean: MJCF with as little text per body as there can be. --most N: no file of more than N bodies or triangles. --once: one
 * round, for counts of instructions; no expat beside it.
 *
 * Trees in which each body carries three. CPU time, least of interleaved rounds. `tree` is what reading the text into a tree
 * takes beyond expat, `builder` adding the same bodies and joints to an empty description, `reader` the rest. The exponent is
 * the slope from the smallest to the largest file, in logarithms.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime, open_memstream, mkdtemp

#include <expat.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <calder/io.h>
#include <calder/mesh.h>

#include "io/xml/xml_tree.h"

static double cpu_seconds(void) {
	struct timespec t = {0};
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why) {
	fprintf(stderr, "loading: %s\n", why);
	exit(1);
}

/* ---- robot files ------------------------------------------------------------------------------------- */

static void write_urdf(FILE *out, int n) {
	fputs("<?xml version=\"1.0\"?>\n<robot name=\"tree\">\n", out);
	for (int i = 0; i < n; i++) {
		fprintf(out,
		        "  <link name=\"link_%d\">\n    <inertial>\n      <origin xyz=\"0 0.01 0.12\" rpy=\"0 0 0\"/>\n"
		        "      <mass value=\"1.25\"/>\n      <inertia ixx=\"0.013\" ixy=\"0\" ixz=\"0.0001\" iyy=\"0.012\" "
		        "iyz=\"0\" izz=\"0.004\"/>\n    </inertial>\n  </link>\n",
		        i);
		if (i > 0)
			fprintf(
				out,
				"  <joint name=\"joint_%d\" type=\"revolute\">\n    <parent link=\"link_%d\"/>\n    <child "
				"link=\"link_%d\"/>\n    <origin xyz=\"0 0 0.25\" rpy=\"0 0 0.1\"/>\n    <axis xyz=\"0 1 0\"/>\n    "
				"<limit lower=\"-2.5\" upper=\"2.5\" effort=\"80\" velocity=\"3\"/>\n    <dynamics "
				"damping=\"0.1\" friction=\"0.05\"/>\n  </joint>\n",
				i, (i - 1) / 3, i);
	}
	fputs("</robot>\n", out);
}

static void write_mjcf_body(FILE *out, int i, int n, bool lean) {
	if (lean)
		fprintf(out, "<body pos='0 0 .2'><joint/><geom size='.1'/>");
	else
		fprintf(out,
		        "<body name=\"body_%d\" pos=\"0 0 0.25\">\n<inertial pos=\"0 0.01 0.12\" mass=\"1.25\" "
		        "diaginertia=\"0.013 0.012 0.004\"/>\n<joint name=\"joint_%d\" type=\"hinge\" axis=\"0 1 0\" "
		        "range=\"-140 140\" damping=\"0.1\" frictionloss=\"0.05\"/>\n<geom type=\"capsule\" size=\"0.04\" "
		        "fromto=\"0 0 0 0 0 0.25\" rgba=\"0.2 0.2 0.2 1\" contype=\"0\" conaffinity=\"0\"/>\n",
		        i, i);
	for (int child = 3 * i + 1; child <= 3 * i + 3 && child < n; child++) // as deep as the logarithm of n
		write_mjcf_body(out, child, n, lean);
	fputs("</body>\n", out);
}

static void write_mjcf(FILE *out, int n) {
	fputs("<mujoco model=\"tree\">\n<worldbody>\n", out);
	write_mjcf_body(out, 0, n, false);
	fputs("</worldbody>\n</mujoco>\n", out);
}

static void write_lean(FILE *out, int n) {
	fputs("<mujoco><worldbody>\n", out);
	write_mjcf_body(out, 0, n, true);
	fputs("</worldbody></mujoco>\n", out);
}

static void write_sdf(FILE *out, int n) {
	fputs("<?xml version=\"1.0\"?>\n<sdf version=\"1.9\">\n<model name=\"tree\">\n", out);
	for (int i = 0; i < n; i++) {
		if (i > 0)
			fprintf(out, "  <link name=\"link_%d\">\n    <pose relative_to=\"joint_%d\">0 0 0 0 0 0</pose>\n", i, i);
		else
			fprintf(out, "  <link name=\"link_%d\">\n", i);
		fputs(
			"    <inertial>\n      <pose>0 0.01 0.12 0 0 0</pose>\n      <mass>1.25</mass>\n      <inertia>\n        "
			"<ixx>0.013</ixx><ixy>0</ixy><ixz>0.0001</ixz>\n        <iyy>0.012</iyy><iyz>0</iyz><izz>0.004</izz>\n      "
			"</inertia>\n    </inertial>\n  </link>\n",
			out);
		if (i > 0)
			fprintf(out,
			        "  <joint name=\"joint_%d\" type=\"revolute\">\n    <pose relative_to=\"link_%d\">0 0 0.25 0 0 "
			        "0.1</pose>\n    <parent>link_%d</parent>\n    <child>link_%d</child>\n    <axis>\n      <xyz>0 1 "
			        "0</xyz>\n      <limit><lower>-2.5</lower><upper>2.5</upper></limit>\n      "
			        "<dynamics><damping>0.1</damping><friction>0.05</friction></dynamics>\n    </axis>\n  </joint>\n",
			        i, (i - 1) / 3, (i - 1) / 3, i);
	}
	fputs("</model>\n</sdf>\n", out);
}

typedef struct Robot {
	const char *name;
	void (*write)(FILE *out, int n);
} Robot;

static const Robot robots[] = {{"urdf", write_urdf}, {"mjcf", write_mjcf}, {"lean", write_lean}, {"sdf", write_sdf}};

static char *robot_text(const Robot *robot, int n, size_t *length) {
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	if (!out)
		stop("out of memory");
	robot->write(out, n);
	if (fclose(out) != 0)
		stop("out of memory");
	return text;
}

/* ---- the four ways through a text --------------------------------------------------------------------- */

static void skip_start(void *user, const char *name, const char **attributes) {
	(void)user, (void)name, (void)attributes;
}
static void skip_end(void *user, const char *name) { (void)user, (void)name; }
static void skip_text(void *user, const char *text, int length) { (void)user, (void)text, (void)length; }

static double time_expat(const char *text, size_t length) {
	const double begin = cpu_seconds();
	XML_Parser parser = XML_ParserCreate(NULL);
	XML_SetElementHandler(parser, skip_start, skip_end);
	XML_SetCharacterDataHandler(parser, skip_text);
	if (XML_Parse(parser, text, (int)length, 1) != XML_STATUS_OK)
		stop("expat refuses the file");
	XML_ParserFree(parser);
	return cpu_seconds() - begin;
}

static double time_tree(const char *text, size_t length) {
	const double begin = cpu_seconds();
	XmlTree *tree;
	CalError error = {0};
	if (xml_parse(text, length, "loading.xml", NULL, &tree, &error) != CAL_OK)
		stop(error.text);
	xml_destroy(tree);
	return cpu_seconds() - begin;
}

static double time_load(const char *text, size_t length, CalSetup **setup) {
	const double begin = cpu_seconds();
	CalError error = {0};
	if (cal_model_parse(text, length, "loading.xml", NULL, NULL, setup, &error) != CAL_OK)
		stop(error.text);
	return cpu_seconds() - begin;
}

/* The same bodies and joints once more; nodes are those of the bodies. */
static double time_builder(const CalDesc *desc) {
	const double begin = cpu_seconds();
	const int bodies = cal_desc_body_count(desc), joints = cal_desc_joint_count(desc);
	CalDesc *copy;
	if (cal_desc_create(NULL, &copy) != CAL_OK || cal_desc_reserve(copy, bodies, bodies, joints) != CAL_OK)
		stop("out of memory");
	for (uint32_t i = 1; i <= (uint32_t)bodies; i++)
		if (cal_desc_add_body(copy, cal_desc_body(desc, (CalBodyId){i}), NULL, NULL) != CAL_OK)
			stop("a body is refused");
	for (uint32_t i = 1; i <= (uint32_t)joints; i++) {
		CalNodeId inboard, outboard;
		const CalJointDef *def = cal_desc_joint(desc, (CalJointId){i}, &inboard, &outboard);
		if (cal_desc_attach(copy, inboard, def, outboard, NULL, NULL) != CAL_OK)
			stop("a joint is refused");
	}
	const double took = cpu_seconds() - begin;
	cal_desc_destroy(copy);
	return took;
}

/* ---- tables ---------------------------------------------------------------------------------------------- */

typedef struct Times {
	double expat, tree, load, builder;
} Times;

static Times measure_text(const char *text, size_t length, int rounds) {
	Times best = {INFINITY, INFINITY, INFINITY, INFINITY};
	for (int round = 0; round < rounds; round++) {
		CalSetup *setup = NULL;
		best.expat = fmin(best.expat, time_expat(text, length));
		best.tree = fmin(best.tree, time_tree(text, length));
		best.load = fmin(best.load, time_load(text, length, &setup));
		best.builder = fmin(best.builder, time_builder(cal_setup_desc(setup)));
		cal_setup_destroy(setup);
	}
	return best;
}

static int rounds_of(int n) { return n <= 1000 ? 60 : n <= 10000 ? 20 : 7; }

static void time_robot(const Robot *robot, int most) {
	double first_time = 0, last_time = 0, first_size = 0, last_size = 0;
	printf("\n%s\n| bodies | bytes each | expat [us per body] | tree | builder | reader | all over expat |\n"
	       "| --- | --- | --- | --- | --- | --- | --- |\n",
	       robot->name);
	for (int n = 100; n <= most && n <= 100000; n *= 10) {
		size_t length;
		char *text = robot_text(robot, n, &length);
		const Times t = measure_text(text, length, rounds_of(n));
		const double unit = 1e6 / n;
		printf("| %d | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", n, (double)length / n, unit * t.expat,
		       unit * (t.tree - t.expat), unit * t.builder, unit * (t.load - t.tree - t.builder), t.load / t.expat);
		fflush(stdout);
		free(text);
		first_time = n == 100 ? t.load : first_time, last_time = t.load;
		first_size = n == 100 ? (double)length : first_size, last_size = (double)length;
	}
	if (last_size > first_size)
		printf("exponent %.2f\n", log(last_time / first_time) / log(last_size / first_size));
}

/* For counts of instructions: nothing but the reader. */
static void load_once(const Robot *robot, int n) {
	size_t length;
	char *text = robot_text(robot, n, &length);
	CalSetup *setup = NULL;
	time_expat(text, length);
	time_load(text, length, &setup);
	cal_setup_destroy(setup);
	free(text);
}

/* ---- meshes ------------------------------------------------------------------------------------------------ */

/* A strip of triangles that rises and falls. */
static CalVec3 strip_vertex(int i) { return (CalVec3){0.01 * (i / 2), i % 2 ? 0.5 : -0.5, 0.001 * (i % 17)}; }

static void write_stl(FILE *out, int n) {
	const char head[80] = "strip";
	const uint32_t count = (uint32_t)n;
	const uint16_t none = 0;
	fwrite(head, 1, sizeof head, out);
	fwrite(&count, sizeof count, 1, out);
	for (int i = 0; i < n; i++) {
		float facet[12] = {0};
		for (int k = 0; k < 3; k++) {
			const CalVec3 v = strip_vertex(i + k);
			facet[3 + 3 * k] = (float)v.x, facet[4 + 3 * k] = (float)v.y, facet[5 + 3 * k] = (float)v.z;
		}
		fwrite(facet, sizeof *facet, 12, out);
		fwrite(&none, sizeof none, 1, out);
	}
}

static void write_obj(FILE *out, int n) {
	for (int i = 0; i < n + 2; i++) {
		const CalVec3 v = strip_vertex(i);
		fprintf(out, "v %.6f %.6f %.6f\n", v.x, v.y, v.z);
	}
	for (int i = 1; i <= n; i++)
		fprintf(out, "f %d %d %d\n", i, i + 1, i + 2);
}

static const Robot meshes[] = {{"stl", write_stl}, {"obj", write_obj}};

static double time_mesh(const char *path, int n) {
	double best = INFINITY;
	for (int round = 0; round < rounds_of(n / 10); round++) {
		const double begin = cpu_seconds();
		CalMeshFile *file;
		CalError error = {0};
		if (cal_mesh_file_read(path, (CalVec3){1, 1, 1}, NULL, &file, &error) != CAL_OK)
			stop(error.text);
		if (cal_mesh_file_triangles(file).triangle_count != n)
			stop("triangles are missing");
		cal_mesh_file_destroy(file);
		best = fmin(best, cpu_seconds() - begin);
	}
	return best;
}

static void time_meshes(const Robot *mesh, int most) {
	char folder[] = "loading.XXXXXX", path[64];
	double first = 0;
	if (!mkdtemp(folder))
		stop("no folder can be made here");
	snprintf(path, sizeof path, "%s/mesh.%s", folder, mesh->name);
	printf("\n%s\n| triangles | ns each |\n| --- | --- |\n", mesh->name);
	for (int n = 1000; n <= most && n <= 1000000; n *= 10) {
		FILE *out = fopen(path, "wb");
		if (!out)
			stop("no file can be written here");
		mesh->write(out, n);
		if (fclose(out) != 0)
			stop("no file can be written here");
		const double t = time_mesh(path, n);
		printf("| %d | %.0f |\n", n, 1e9 * t / n);
		fflush(stdout);
		if (n == 1000)
			first = t;
		else if (n == 1000000)
			printf("exponent %.2f\n", log(t / first) / log(1000));
	}
	unlink(path);
	rmdir(folder);
}

/* ---- command line ------------------------------------------------------------------------------------------ */

static bool is_asked(int argc, char **argv, const char *name) {
	bool any = false;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return true;
		if (strcmp(argv[i], "--most") == 0)
			i++;
		else
			any = any || argv[i][0] != '-';
	}
	return !any && name[0] != '-';
}

int main(int argc, char **argv) {
	int most = 1000000;
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--most") == 0)
			most = atoi(argv[i + 1]);
	for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
		if (!is_asked(argc, argv, robots[i].name))
			continue;
		if (is_asked(argc, argv, "--once"))
			load_once(&robots[i], most);
		else
			time_robot(&robots[i], most);
	}
	for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
		if (is_asked(argc, argv, meshes[i].name))
			time_meshes(&meshes[i], most);
	return 0;
}
