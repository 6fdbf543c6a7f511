// SPDX-License-Identifier: Apache-2.0
/*
 * panel_fem.c — stiffness, mass and particles of a lattice of beams; see panel_fem.h.
 *
 * A member has its own axes t (along), s (in the plane) and n (the panel's normal): its displacement is
 *   u = t sum L_a u_a.t + s sum (H_a u_a.s + H'_a r_a.n) + n sum (H_a u_a.n - H'_a r_a.s)
 * over its two ends a, with linear L and cubic H, H' (H' belongs to slopes). Twist is linear. The cover moves
 * bilinearly between the four corners of its cell, with 2 x 2 Gauss points, which keeps its inertia exact.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "flexgen/beam.h"
#include "flexgen/panel_fem.h"

enum { MEMBER_POINTS = 4, COVER_POINTS = 4 };

/* Members along x come first: row by row; then those along y, column by column. */
typedef struct Member {
	int a[2], b[2]; // grid indices of the ends
	int t, s;       // axes 0, 1, 2 along and across
	double s_sign;  // s points along s_sign times axis s, so that t, s, z are right-handed
	double length;
	const CalSection *section;
} Member;

static int members_x(const CalPanelDef *def) { return def->cells_x * (def->cells_y + 1); }
static int member_count(const CalPanelDef *def) { return members_x(def) + def->cells_y * (def->cells_x + 1); }

static Member member_at(const CalPanelDef *def, int index) {
	if (index < members_x(def)) {
		int i = index % def->cells_x, j = index / def->cells_x;
		return (Member){{i, j}, {i + 1, j}, 0, 1, 1, def->length / def->cells_x, &def->rib_x};
	}
	index -= members_x(def);
	int j = index % def->cells_y, i = index / def->cells_y;
	return (Member){{i, j}, {i, j + 1}, 1, 0, -1, def->width / def->cells_y, &def->rib_y};
}

CalVec3 panel_fem_position(const CalPanelDef *def, int i, int j) {
	return (CalVec3){def->length * i / def->cells_x, def->width * ((double)j / def->cells_y - 0.5), 0};
}

static int node_of(const CalPanelDef *def, const int at[2]) { return at[0] * (def->cells_y + 1) + at[1]; }

/* Rows of a member over its twelve degrees of freedom: the field along one of its axes, or a strain. */
typedef struct Row {
	double v[12];
} Row;

static Row stretch_row(const Member *m, const double *value) {
	Row row = {{0}};
	for (int a = 0; a < 2; a++) {
		row.v[6 * a + m->t] = value[a];
	}
	return row;
}

static Row twist_row(const Member *m, const double *value) {
	Row row = {{0}};
	for (int a = 0; a < 2; a++) {
		row.v[6 * a + 3 + m->t] = value[a];
	}
	return row;
}

/** Deflection across in the plane: u.s with slopes r.n. */
static Row across_row(const Member *m, const double *value) {
	Row row = {{0}};
	for (int a = 0; a < 2; a++) {
		row.v[6 * a + m->s] = m->s_sign * value[2 * a];
		row.v[6 * a + 5] = value[2 * a + 1];
	}
	return row;
}

/** Deflection along the normal: u.n with slopes -r.s. */
static Row normal_row(const Member *m, const double *value) {
	Row row = {{0}};
	for (int a = 0; a < 2; a++) {
		row.v[6 * a + 2] = value[2 * a];
		row.v[6 * a + 3 + m->s] = -m->s_sign * value[2 * a + 1];
	}
	return row;
}

static void add_product(const CalPanelDef *def, const Member *m, const Row *row, double weight, int n, double *K) {
	int first[2] = {6 * node_of(def, m->a), 6 * node_of(def, m->b)};
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 12; j++) {
			size_t at = (size_t)(first[i / 6] + i % 6) * (size_t)n + (size_t)(first[j / 6] + j % 6);
			K[at] += weight * row->v[i] * row->v[j];
		}
	}
}

static void add_member(const CalPanelDef *def, const Member *m, const double *xi, const double *w, int n, double *K) {
	SectionValues v = section_values(m->section);
	BeamBasis line, bend;
	for (int g = 0; g < MEMBER_POINTS; g++) {
		double weight = 0.5 * m->length * w[g];
		beam_basis(BEAM_SCALAR, 1, m->length, xi[g], &line);
		beam_basis(BEAM_EULER, 3, m->length, xi[g], &bend);
		Row rows[] = {stretch_row(m, line.dw), twist_row(m, line.dw), across_row(m, bend.dr), normal_row(m, bend.dr)};
		double stiffness[] = {v.EA, v.GJ, v.EIz, v.EIy};
		for (int r = 0; r < 4; r++) {
			add_product(def, m, &rows[r], weight * stiffness[r], n, K);
		}
	}
}

static double row_times(const CalPanelDef *def, const Member *m, const Row *row, const double *d) {
	int first[2] = {6 * node_of(def, m->a), 6 * node_of(def, m->b)};
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		sum += row->v[i] * d[first[i / 6] + i % 6];
	}
	return sum;
}

void panel_fem_stretch_forces(const CalPanelDef *def, const double *a, const double *b, double *force) {
	double xi[MEMBER_POINTS], w[MEMBER_POINTS];
	gauss_rule(MEMBER_POINTS, xi, w);
	for (int e = 0; e < member_count(def); e++) {
		Member m = member_at(def, e);
		int first[2] = {6 * node_of(def, m.a), 6 * node_of(def, m.b)};
		for (int g = 0; g < MEMBER_POINTS; g++) {
			BeamBasis line, bend;
			beam_basis(BEAM_SCALAR, 1, m.length, xi[g], &line);
			beam_basis(BEAM_EULER, 3, m.length, xi[g], &bend);
			Row along = stretch_row(&m, line.dw), across = across_row(&m, bend.dw), normal = normal_row(&m, bend.dw);
			double slopes = row_times(def, &m, &across, a) * row_times(def, &m, &across, b) +
			                row_times(def, &m, &normal, a) * row_times(def, &m, &normal, b);
			double pull = 0.5 * m.length * w[g] * section_values(m.section).EA * slopes;
			for (int i = 0; i < 12; i++) {
				force[first[i / 6] + i % 6] += pull * along.v[i];
			}
		}
	}
}

/* ---- particles ----------------------------------------------------------------------------- */

static PanelParticle member_particle(const CalPanelDef *def, int index) {
	double xi[MEMBER_POINTS], w[MEMBER_POINTS];
	gauss_rule(MEMBER_POINTS, xi, w);
	Member m = member_at(def, index / MEMBER_POINTS);
	double at = xi[index % MEMBER_POINTS], share = 0.5 * w[index % MEMBER_POINTS];
	PanelParticle out = {.mass = share * m.length * section_values(m.section).rhoA, .node_count = 2};
	CalVec3 a = panel_fem_position(def, m.a[0], m.a[1]), b = panel_fem_position(def, m.b[0], m.b[1]);
	out.p[0] = 0.5 * ((1 - at) * a.x + (1 + at) * b.x);
	out.p[1] = 0.5 * ((1 - at) * a.y + (1 + at) * b.y);
	out.node[0] = node_of(def, m.a);
	out.node[1] = node_of(def, m.b);
	BeamBasis line, bend;
	beam_basis(BEAM_SCALAR, 1, m.length, at, &line);
	beam_basis(BEAM_EULER, 3, m.length, at, &bend);
	Row along = stretch_row(&m, line.w), across = across_row(&m, bend.w), normal = normal_row(&m, bend.w);
	for (int i = 0; i < 12; i++) {
		out.U[m.t][i] = along.v[i];
		out.U[m.s][i] = m.s_sign * across.v[i];
		out.U[2][i] = normal.v[i];
	}
	return out;
}

static PanelParticle cover_particle(const CalPanelDef *def, int index) {
	double xi[2], w[2];
	gauss_rule(2, xi, w);
	int cell = index / COVER_POINTS, i = cell % def->cells_x, j = cell / def->cells_x;
	double s[2] = {xi[index % 2], xi[index / 2 % 2]};
	PanelParticle out = {.mass = def->cover_mass / (COVER_POINTS * def->cells_x * def->cells_y), .node_count = 4};
	for (int c = 0; c < 4; c++) {
		int at[2] = {i + c % 2, j + c / 2};
		double weight = 0.25 * (1 + (c % 2 ? s[0] : -s[0])) * (1 + (c / 2 ? s[1] : -s[1]));
		CalVec3 p = panel_fem_position(def, at[0], at[1]);
		out.node[c] = node_of(def, at);
		out.p[0] += weight * p.x;
		out.p[1] += weight * p.y;
		for (int axis = 0; axis < 3; axis++) {
			out.U[axis][6 * c + axis] = weight;
		}
	}
	return out;
}

int panel_particle_count(const CalPanelDef *def) {
	return MEMBER_POINTS * member_count(def) + (def->cover_mass > 0 ? COVER_POINTS * def->cells_x * def->cells_y : 0);
}

PanelParticle panel_particle(const CalPanelDef *def, int index) {
	int members = MEMBER_POINTS * member_count(def);
	return index < members ? member_particle(def, index) : cover_particle(def, index - members);
}

static void add_particle(const PanelParticle *p, int n, double *M) {
	for (int i = 0; i < 6 * p->node_count; i++) {
		for (int j = 0; j < 6 * p->node_count; j++) {
			double sum = p->U[0][i] * p->U[0][j] + p->U[1][i] * p->U[1][j] + p->U[2][i] * p->U[2][j];
			size_t at = (size_t)(6 * p->node[i / 6] + i % 6) * (size_t)n + (size_t)(6 * p->node[j / 6] + j % 6);
			M[at] += p->mass * sum;
		}
	}
}

/* ---- assembly ------------------------------------------------------------------------------ */

static void assemble_matrices(const CalPanelDef *def, PanelFem *l) {
	double xi[MEMBER_POINTS], w[MEMBER_POINTS];
	gauss_rule(MEMBER_POINTS, xi, w);
	for (int e = 0; e < member_count(def); e++) {
		Member m = member_at(def, e);
		SectionValues v = section_values(m.section);
		add_member(def, &m, xi, w, l->n, l->K);
		l->rotary[m.t] += m.length * (v.rhoIy + v.rhoIz);
		l->rotary[m.s] += m.length * v.rhoIy;
		l->rotary[2] += m.length * v.rhoIz;
	}
	for (int i = 0; i < panel_particle_count(def); i++) {
		PanelParticle p = panel_particle(def, i);
		add_particle(&p, l->n, l->M);
	}
}

static void layout_matrices(PanelFem *l, Cursor *cursor) {
	const size_t size = (size_t)l->n * (size_t)l->n;
	CURSOR_ARRAY(cursor, l->K, size);
	CURSOR_ARRAY(cursor, l->M, size);
}

CalStatus panel_fem_create(const CalPanelDef *def, PanelFem *l) {
	*l = (PanelFem){.columns = def->cells_x + 1, .rows = def->cells_y + 1};
	l->nodes = l->columns * l->rows;
	l->n = 6 * l->nodes;
	CalAllocator allocator = allocator_or_default(NULL);
	Cursor cursor = {.align = sizeof(double)};
	layout_matrices(l, &cursor);
	l->memory = cursor_alloc_at_start(&cursor, &allocator);
	if (!l->memory) {
		return CAL_ERR_MEMORY;
	}
	cursor_clear(&cursor);
	layout_matrices(l, &cursor);
	assemble_matrices(def, l);
	return CAL_OK;
}

void panel_fem_free(PanelFem *l) {
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, l->memory);
	*l = (PanelFem){0};
}
