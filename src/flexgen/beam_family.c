// SPDX-License-Identifier: Apache-2.0
/*
 * beam_family.c — one way of deforming of a beam: assembly over the Gauss points, reduction, evaluation.
 *
 * Strain energy per length: EA u'^2, GJ t'^2, EI r'^2 + kGA (w' - r)^2, each times one half; kinetic energy:
 * rhoA w^2 + rhoI r^2, the latter for Timoshenko beams and for masses on the beam. Degrees of freedom are numbered
 * node by node, then element by element for the bubbles.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "flexgen/beam.h"

static const char *const FAMILY_NAME[BEAM_FAMILIES] = {"bending along y", "bending along z", "torsion", "stretching"};

int beam_gauss_count(const CalBeamDef *def) { return def->order + (def->tapered ? 3 : 1); }

/* What a family takes from a section: strain with derivative, shear, mass of w and of r. */
typedef struct FamilyValues {
	double stiffness, shear, mass, rotary;
} FamilyValues;

static FamilyValues family_values(const CalBeamDef *def, BeamFamilyId id, double x) {
	CalSection section = def->tapered ? section_between(&def->root, &def->tip, x / def->length) : def->root;
	SectionValues v = section_values(&section);
	switch (id) {
	case BEAM_BEND_Y:
		return (FamilyValues){v.EIz, v.kGAy, v.rhoA, v.rhoIz};
	case BEAM_BEND_Z:
		return (FamilyValues){v.EIy, v.kGAz, v.rhoA, v.rhoIy};
	case BEAM_TORSION:
		return (FamilyValues){v.GJ, 0, v.rhoIy + v.rhoIz, 0};
	case BEAM_AXIAL:
	case BEAM_FAMILIES:
		break;
	}
	return (FamilyValues){v.EA, 0, v.rhoA, 0};
}

/** What a mass on the beam adds to a family: to w and to r. */
static FamilyValues family_mass(BeamFamilyId id, const CalBeamMass *m) {
	switch (id) {
	case BEAM_BEND_Y:
		return (FamilyValues){.mass = m->mass, .rotary = m->inertia.m[2][2]};
	case BEAM_BEND_Z:
		return (FamilyValues){.mass = m->mass, .rotary = m->inertia.m[1][1]};
	case BEAM_TORSION:
		return (FamilyValues){.mass = m->inertia.m[0][0]};
	case BEAM_AXIAL:
	case BEAM_FAMILIES:
		break;
	}
	return (FamilyValues){.mass = m->mass};
}

/** Global number of local function a of element e. */
static int global_dof(const CalBeamDef *def, const BeamFamily *f, int e, int a) {
	int nodal = 2 * f->per_node;
	return a < nodal ? e * f->per_node + a : (def->elements + 1) * f->per_node + e * f->bubbles + a - nodal;
}

/** The element that holds x, and xi in it. */
static int locate_element(const CalBeamDef *def, double x, double *xi) {
	double h = def->length / def->elements;
	int e = (int)(x / h);
	e = e < 0 ? 0 : e >= def->elements ? def->elements - 1 : e;
	*xi = 2 * (x - e * h) / h - 1;
	return e;
}

static void add_mass(const CalBeamDef *def, const BeamFamily *f, int e, const BeamBasis *b, double mass, double rotary,
                     double *M) {
	for (int i = 0; i < b->count; i++) {
		for (int j = 0; j < b->count; j++) {
			size_t at = (size_t)global_dof(def, f, e, i) * (size_t)f->n + (size_t)global_dof(def, f, e, j);
			M[at] += mass * b->w[i] * b->w[j] + rotary * b->r[i] * b->r[j];
		}
	}
}

static void add_stiffness(const CalBeamDef *def, const BeamFamily *f, int e, const BeamBasis *b, const FamilyValues *v,
                          double weight, double *K) {
	for (int i = 0; i < b->count; i++) {
		for (int j = 0; j < b->count; j++) {
			size_t at = (size_t)global_dof(def, f, e, i) * (size_t)f->n + (size_t)global_dof(def, f, e, j);
			double strain = f->kind == BEAM_SCALAR ? b->dw[i] * b->dw[j] : b->dr[i] * b->dr[j];
			double shear = f->kind == BEAM_TIMOSHENKO ? (b->dw[i] - b->r[i]) * (b->dw[j] - b->r[j]) : 0;
			K[at] += weight * (v->stiffness * strain + v->shear * shear);
		}
	}
}

static void assemble_matrices(const CalBeamDef *def, const BeamFamily *f, double *K, double *M) {
	double xi[GAUSS_MAX], w[GAUSS_MAX], h = def->length / def->elements;
	int points = beam_gauss_count(def);
	BeamBasis b;
	gauss_rule(points, xi, w);
	for (int e = 0; e < def->elements; e++) {
		for (int g = 0; g < points; g++) {
			FamilyValues v = family_values(def, f->id, h * (e + 0.5 * (1 + xi[g])));
			beam_basis(f->kind, def->order, h, xi[g], &b);
			add_stiffness(def, f, e, &b, &v, 0.5 * h * w[g], K);
			double rotary = f->kind == BEAM_TIMOSHENKO ? v.rotary : 0;
			add_mass(def, f, e, &b, 0.5 * h * w[g] * v.mass, 0.5 * h * w[g] * rotary, M);
		}
	}
	for (int i = 0; i < def->mass_count; i++) {
		double at;
		int e = locate_element(def, def->masses[i].x, &at);
		FamilyValues v = family_mass(f->id, &def->masses[i]);
		beam_basis(f->kind, def->order, h, at, &b);
		add_mass(def, f, e, &b, v.mass, v.rotary, M);
	}
}

/** Roles of the root's and the tip's degrees of freedom. Deflection and stretch are translations. */
static void assign_roles(const CalBeamDef *def, const BeamFamily *f, unsigned char *role) {
	memset(role, ROLE_INTERIOR, (size_t)f->n);
	for (int j = 0; j < f->per_node; j++) {
		bool rotation = j == 1 || f->id == BEAM_TORSION;
		CalFlexBoundary boundary = def->choice.boundary;
		bool frame = boundary == CAL_FLEX_FREE || (boundary == CAL_FLEX_PINNED && rotation);
		role[j] = frame ? ROLE_FRAME : ROLE_HELD;
		if (boundary == CAL_FLEX_CRAIG_BAMPTON) {
			role[def->elements * f->per_node + j] = ROLE_UNIT;
		}
	}
}

static CalStatus solve_failed(const CalBeamDef *def, BeamFamilyId id, CalStatus status, CalError *error) {
	if (status == CAL_SINGULAR) {
		return error_set(
			error, CAL_ERR_MODEL,
			"%s%sbeam \"%s\": no stiffness against %s; give its section one, or leave this deformation out",
			PLACE_ARGS(def->place), def->name, FAMILY_NAME[id]);
	}
	return error_set(error, status, "%s%sbeam \"%s\": %s: %s", PLACE_ARGS(def->place), def->name, FAMILY_NAME[id],
	                 cal_status_text(status));
}

/** Matrices of n equations, and how each is treated; K, which comes first, is what memory_free() releases. */
typedef struct Matrices {
	double *K, *M;       // [n][n]
	unsigned char *role; // [n]
} Matrices;

static void layout_matrices(size_t n, Matrices *m, Cursor *cursor) {
	CURSOR_ARRAY(cursor, m->K, n * n);
	CURSOR_ARRAY(cursor, m->M, n * n);
	CURSOR_ARRAY(cursor, m->role, n);
}

CalStatus beam_family_solve(const CalBeamDef *def, BeamFamilyId id, int limit, BeamFamily *f, CalError *error) {
	bool scalar = id == BEAM_TORSION || id == BEAM_AXIAL;
	int p = def->order;
	*f = (BeamFamily){.id = id, .per_node = scalar ? 1 : 2};
	f->kind = scalar ? BEAM_SCALAR : def->timoshenko ? BEAM_TIMOSHENKO : BEAM_EULER;
	f->bubbles = f->kind == BEAM_SCALAR ? p - 1 : f->kind == BEAM_EULER ? p - 3 : 2 * p - 3;
	f->n = (def->elements + 1) * f->per_node + def->elements * f->bubbles;
	CalAllocator allocator = allocator_or_default(NULL);
	Matrices m;
	Cursor cursor = {.align = sizeof(double)};
	layout_matrices((size_t)f->n, &m, &cursor);
	if (!cursor_alloc_at_start(&cursor, &allocator)) {
		return solve_failed(def, id, CAL_ERR_MEMORY, error);
	}
	cursor_clear(&cursor);
	layout_matrices((size_t)f->n, &m, &cursor);
	assemble_matrices(def, f, m.K, m.M);
	assign_roles(def, f, m.role);
	CalStatus status = dense_modes_create(&(DenseBody){.n = f->n,
	                                                   .K = m.K,
	                                                   .M = m.M,
	                                                   .role = m.role,
	                                                   .modes = limit,
	                                                   .max_frequency = def->choice.max_frequency,
	                                                   .mean = !def->choice.attached},
	                                      &f->modes);
	memory_free(&allocator, m.K);
	return status == CAL_OK ? CAL_OK : solve_failed(def, id, status, error);
}

BeamPoint beam_family_at(const CalBeamDef *def, const BeamFamily *f, int k, double x) {
	double xi;
	int e = locate_element(def, x, &xi);
	BeamBasis b;
	BeamPoint point = {0};
	beam_basis(f->kind, def->order, def->length / def->elements, xi, &b);
	for (int a = 0; a < b.count; a++) {
		double c = f->modes.shape[(size_t)k * (size_t)f->n + (size_t)global_dof(def, f, e, a)];
		point.w += c * b.w[a];
		point.dw += c * b.dw[a];
		point.r += c * b.r[a];
	}
	return point;
}
