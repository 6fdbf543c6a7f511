// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_shapes.c — flexible bodies in pictures.
 *
 * Points are the nodes, and the body frame's origin; those without shapes do not move. Lines join neighbors; where
 * lines close quadrilaterals, as on panels, these are surfaces.
 */
#include "view/flexible_shapes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/flex.h>

#include "base/error.h"
#include "math/eigen.h"

typedef struct Point {
	CalVec3 at;
	const double *phi; // [3][modes], NULL: it does not move
} Point;

typedef struct Skeleton {
	int modes, count;
	Point *points; // [count]
	CalVec3 *places;
	int (*lines)[2];
	int line_count;
	int (*faces)[3];
	int face_count;
} Skeleton;

int flexible_modes(const CalDesc *desc, CalBodyId body) {
	CalFlexDef flex = {0};
	return cal_flex_body(desc, body, NULL, &flex) == CAL_OK ? flex.modes : 0;
}

bool flexible_is(const CalDesc *desc, CalBodyId body) { return flexible_modes(desc, body) > 0; }

/* ---- points ------------------------------------------------------------------------------------------- */

static bool is_lumped(const char *name) { return strncmp(name, "mass", 4) == 0 && isdigit((unsigned char)name[4]); }

static int count_nodes(const CalDesc *desc, CalBodyId body) {
	CalFlexNodeInfo info;
	int count = 0;
	while (cal_flex_node(desc, body, count, &info) == CAL_OK)
		count++;
	return count;
}

static void add_point(Skeleton *s, CalVec3 at, const double *phi) {
	for (int i = 0; i < s->count; i++)
		if (fabs(s->places[i].x - at.x) + fabs(s->places[i].y - at.y) + fabs(s->places[i].z - at.z) < 1e-9) {
			s->points[i].phi = phi ? phi : s->points[i].phi;
			return;
		}
	s->places[s->count] = at;
	s->points[s->count++] = (Point){at, phi};
}

/* ---- lines and faces ------------------------------------------------------------------------------------ */

static bool is_joined(const Skeleton *s, int a, int b) {
	for (int i = 0; i < s->line_count; i++)
		if ((s->lines[i][0] == a && s->lines[i][1] == b) || (s->lines[i][0] == b && s->lines[i][1] == a))
			return true;
	return false;
}

/* The other end of line i from a, -1: it does not begin there. */
static int far_node(const Skeleton *s, int i, int a) {
	return s->lines[i][0] == a ? s->lines[i][1] : s->lines[i][1] == a ? s->lines[i][0] : -1;
}

static void add_face(Skeleton *s, int capacity, int a, int b, int c) {
	if (s->face_count < capacity) {
		s->faces[s->face_count][0] = a;
		s->faces[s->face_count][1] = b;
		s->faces[s->face_count][2] = c;
	}
	s->face_count++;
}

/* Quadrilaterals a-b-c-d whose smallest number is a, each once (b < d), without a line across. */
static void find_faces_at(Skeleton *s, int capacity, int a) {
	for (int i = 0; i < s->line_count; i++) {
		const int b = far_node(s, i, a);
		for (int k = 0; k < s->line_count && b > a; k++) {
			const int d = far_node(s, k, a);
			for (int l = 0; l < s->line_count && d > b; l++) {
				const int c = far_node(s, l, b);
				if (c <= a || c == d || !is_joined(s, c, d) || is_joined(s, b, d) || is_joined(s, a, c))
					continue;
				add_face(s, capacity, a, b, c);
				add_face(s, capacity, a, c, d);
			}
		}
	}
}

/* Whether face b passes an edge of face a in the same direction: then one of them is the wrong way round. */
static int edge_between(const int *a, const int *b) {
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			if (a[i] == b[k] && a[(i + 1) % 3] == b[(k + 1) % 3])
				return -1;
			if (a[i] == b[(k + 1) % 3] && a[(i + 1) % 3] == b[k])
				return 1;
		}
	return 0;
}

/* Neighbors the same way round, as far as they are connected: light then falls evenly on them. */
static void orient_faces(Skeleton *s) {
	enum { MANY = 4000 };
	bool *done = s->face_count <= MANY ? calloc((size_t)s->face_count + 1, sizeof *done) : NULL;
	int *queue = malloc(((size_t)s->face_count + 1) * sizeof *queue);
	for (int seed = 0; done && queue && seed < s->face_count; seed++) {
		int head = 0, tail = 0;
		if (done[seed])
			continue;
		done[seed] = true;
		for (queue[tail++] = seed; head < tail; head++)
			for (int k = 0; k < s->face_count; k++) {
				const int way = done[k] ? 0 : edge_between(s->faces[queue[head]], s->faces[k]);
				if (way == 0)
					continue;
				if (way < 0) {
					const int first = s->faces[k][0];
					s->faces[k][0] = s->faces[k][1];
					s->faces[k][1] = first;
				}
				done[k] = true;
				queue[tail++] = k;
			}
	}
	free(done);
	free(queue);
}

static bool skeleton_wire(Skeleton *s) {
	enum { LARGE = 2000 }; // beyond it points only: the search is cubic
	if (s->count > LARGE)
		return true;
	const int most = 16 * s->count + 16;
	s->lines = malloc((size_t)most * sizeof *s->lines);
	s->faces = malloc((size_t)most * sizeof *s->faces);
	if (!s->lines || !s->faces)
		return false;
	s->line_count = cal_wire_lines(s->places, s->count, s->lines, most);
	s->line_count = s->line_count < most ? s->line_count : most;
	for (int a = 0; a < s->count; a++)
		find_faces_at(s, most, a);
	s->face_count = s->face_count < most ? s->face_count : most;
	orient_faces(s);
	return true;
}

static void skeleton_free(Skeleton *s) {
	free(s->points);
	free(s->places);
	free(s->lines);
	free(s->faces);
}

static bool skeleton_make(Skeleton *s, const CalDesc *desc, CalBodyId body) {
	const int nodes = count_nodes(desc, body);
	*s = (Skeleton){.modes = flexible_modes(desc, body)};
	s->points = malloc((size_t)(nodes + 1) * sizeof *s->points);
	s->places = malloc((size_t)(nodes + 1) * sizeof *s->places);
	if (!s->points || !s->places)
		return false;
	add_point(s, (CalVec3){0, 0, 0}, NULL);
	for (int i = 0; i < nodes; i++) {
		CalFlexNodeInfo info;
		cal_flex_node(desc, body, i, &info);
		if (!is_lumped(info.name))
			add_point(s, info.placement.position, info.flex.phi);
	}
	return skeleton_wire(s);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void write_points(JsonWriter *d, const Skeleton *s) {
	json_writer_key(d, "points");
	json_writer_array(d, "f32", 2, (size_t[]){(size_t)s->count, 3});
	for (int i = 0; i < s->count; i++) {
		json_writer_f32(d, s->places[i].x);
		json_writer_f32(d, s->places[i].y);
		json_writer_f32(d, s->places[i].z);
	}
	json_writer_array_end(d);
	json_writer_key(d, "shapes");
	json_writer_array(d, "f32", 3, (size_t[]){(size_t)s->modes, (size_t)s->count, 3});
	for (int a = 0; a < s->modes; a++)
		for (int i = 0; i < s->count; i++)
			for (int k = 0; k < 3; k++)
				json_writer_f32(d, s->points[i].phi ? s->points[i].phi[k * s->modes + a] : 0);
	json_writer_array_end(d);
}

static void write_indices(JsonWriter *d, const char *key, const int *indices, int count, int width) {
	if (count == 0)
		return;
	json_writer_key(d, key);
	json_writer_array(d, "u32", 2, (size_t[]){(size_t)count, (size_t)width});
	for (int i = 0; i < count * width; i++)
		json_writer_u32(d, (uint32_t)indices[i]);
	json_writer_array_end(d);
}

/* M = sum m phi'phi + psi'I psi: the mass of the modal coordinates while the body frame is held. */
static void modal_mass(const CalFlexDef *flex, double *M) {
	const int n = flex->modes;
	memset(M, 0, (size_t)(n * n) * sizeof *M);
	for (int i = 0; i < flex->node_count; i++) {
		const CalFlexNode *node = &flex->nodes[i];
		for (int a = 0; a < n; a++)
			for (int b = 0; b < n; b++)
				for (int k = 0; k < 3; k++) {
					if (node->phi)
						M[a * n + b] += node->mass * node->phi[k * n + a] * node->phi[k * n + b];
					for (int l = 0; node->psi && l < 3; l++)
						M[a * n + b] += node->psi[k * n + a] * node->inertia.m[k][l] * node->psi[l * n + b];
				}
	}
}

static bool is_diagonal(const double *A, int n) {
	for (int i = 0; i < n * n; i++)
		if (i / n != i % n && fabs(A[i]) > 1e-6 * sqrt(fabs(A[i / n * (n + 1)] * A[i % n * (n + 1)])))
			return false;
	return true;
}

/* Modes with the body frame held: coordinates as they are where these are modes, otherwise combinations of them. */
static bool write_modes(JsonWriter *d, const CalFlexDef *flex) {
	static const double two_pi = 6.283185307179586;
	const int n = flex->modes;
	const size_t size = (size_t)(n * n);
	double *memory = calloc(2 * size + 3 * (size_t)n, sizeof *memory);
	if (!memory)
		return false;
	double *M = memory, *K = memory + size, *lambda = memory + 2 * size, *scratch = lambda + n;
	modal_mass(flex, M);
	memcpy(K, flex->stiffness, size * sizeof *K);
	const bool plain = is_diagonal(M, n) && is_diagonal(K, n);
	bool known = true;
	for (int i = 0; plain && i < n; i++)
		lambda[i] = K[i * (n + 1)] / M[i * (n + 1)];
	if (!plain)
		known = eigen_generalized(n, K, M, lambda, scratch) == CAL_OK; // K: the modes as columns
	if (known) {
		json_writer_key(d, "frequencies");
		json_writer_open(d, '[');
		for (int i = 0; i < n; i++)
			json_writer_number(d, sqrt(fmax(lambda[i], 0)) / two_pi);
		json_writer_close(d);
	}
	if (known && !plain) {
		json_writer_key(d, "modes");
		json_writer_array(d, "f32", 2, (size_t[]){(size_t)n, (size_t)n});
		for (int i = 0; i < n * n; i++)
			json_writer_f32(d, K[i % n * n + i / n]);
		json_writer_array_end(d);
	}
	free(memory);
	return true;
}

static void write_stiffness(JsonWriter *d, const CalFlexDef *flex) {
	json_writer_key(d, "stiffness");
	json_writer_array(d, "f64", 2, (size_t[]){(size_t)flex->modes, (size_t)flex->modes});
	for (int i = 0; i < flex->modes * flex->modes; i++)
		json_writer_f64(d, flex->stiffness[i]);
	json_writer_array_end(d);
}

CalStatus flexible_write(JsonWriter *d, const CalDesc *desc, CalBodyId body, CalError *error) {
	CalFlexDef flex = {0};
	Skeleton s;
	cal_flex_body(desc, body, NULL, &flex);
	if (flex.modes == 0)
		return CAL_OK;
	bool made = skeleton_make(&s, desc, body);
	if (made) {
		json_writer_key(d, "flexible");
		json_writer_open(d, '{');
		write_points(d, &s);
		write_indices(d, "lines", s.line_count ? s.lines[0] : NULL, s.line_count, 2);
		write_indices(d, "triangles", s.face_count ? s.faces[0] : NULL, s.face_count, 3);
		made = write_modes(d, &flex);
		write_stiffness(d, &flex);
		json_writer_close(d);
	}
	skeleton_free(&s);
	return made ? CAL_OK : error_set(error, CAL_ERR_MEMORY, "out of memory for the picture of a flexible body");
}

void flexible_write_node(JsonWriter *d, const CalDesc *desc, CalBodyId body, CalNodeId node) {
	CalFlexNodeInfo info;
	const int modes = body.value ? flexible_modes(desc, body) : 0;
	for (int i = 0; modes && cal_flex_node(desc, body, i, &info) == CAL_OK; i++) {
		if (info.flex.node.value != node.value || !info.flex.phi)
			continue;
		json_writer_key(d, "shapes");
		json_writer_array(d, "f32", 2, (size_t[]){(size_t)modes, 6});
		for (int a = 0; a < modes; a++)
			for (int k = 0; k < 6; k++) {
				const double *of = k < 3 ? info.flex.phi : info.flex.psi;
				json_writer_f32(d, of ? of[k % 3 * modes + a] : 0);
			}
		json_writer_array_end(d);
		return;
	}
}
