// SPDX-License-Identifier: Apache-2.0
/*
 * beam.c — the beam generator: checks the definition, picks shapes of all families by frequency, places nodes.
 *
 * Nodes "root", "n1", ..., "tip" are at the element ends and carry no mass but what the user puts there. The beam's
 * own mass sits at the Gauss points ("mass1", ...) with the shapes interpolated by the element's polynomials. The
 * rotary inertia of the section is there too, so that the inertia of the rigid beam is exact; in Euler-Bernoulli
 * theory it does not turn with the slope, hence these nodes have no slopes then, only the twist.
 *
 * Foreshortening: an inextensible axis with slopes w'eta has at x been drawn in by half the integral of (w'eta)^2
 * from the root on, which is phi2 [THEORY 2.5].
 */
#include "flexgen/beam.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "flexgen/flex_builder.h"

enum { ELEMENTS_MAX = 400, MODES_MAX = 1000 };

CalBeamDef cal_beam_def(void) {
	const CalSection steel = {.poissons_ratio = 0.3};
	return (CalBeamDef){.root = steel,
	                    .tip = steel,
	                    .deformation = CAL_BEAM_BENDING,
	                    .elements = 8,
	                    .order = 5,
	                    .choice = {.boundary = CAL_FLEX_CLAMPED, .modes = 4}};
}

/* ---- checking ------------------------------------------------------------------------------ */

static CalStatus refuse_beam(const CalBeamDef *def, const char *what, CalError *error) {
	return error_set(error, CAL_ERR_MODEL, "%s%sbeam \"%s\": %s", PLACE_ARGS(def->place), def->name, what);
}

/** What is missing in one section for the ways of deforming that are wanted, or NULL. */
static const char *values_fault(const CalBeamDef *def, const CalSection *section) {
	SectionValues v = section_values(section);
	int d = def->deformation;
	if (d & CAL_BEAM_BEND_Y && !(v.EIz > 0)) {
		return "bending along y needs EIz > 0";
	}
	if (d & CAL_BEAM_BEND_Z && !(v.EIy > 0)) {
		return "bending along z needs EIy > 0";
	}
	if (d & CAL_BEAM_TORSION && !(v.GJ > 0)) {
		return "torsion needs GJ > 0";
	}
	if (d & CAL_BEAM_AXIAL && !(v.EA > 0)) {
		return "stretching needs EA > 0";
	}
	bool shear_y = !(d & CAL_BEAM_BEND_Y) || v.kGAy > 0, shear_z = !(d & CAL_BEAM_BEND_Z) || v.kGAz > 0;
	if (def->timoshenko && !(shear_y && shear_z)) {
		return "a Timoshenko beam needs kGAy and kGAz > 0; set them, or timoshenko = 0";
	}
	return NULL;
}

static const char *sections_fault(const CalBeamDef *def) {
	const char *fault = section_fault(&def->root);
	if (!fault && def->tapered) {
		fault = section_fault(&def->tip);
		if (!fault && def->root.shape != def->tip.shape) {
			fault = "root and tip sections have different shapes; a taper keeps the shape";
		}
	}
	fault = fault ? fault : values_fault(def, &def->root);
	return fault || !def->tapered ? fault : values_fault(def, &def->tip);
}

static const char *numbers_fault(const CalBeamDef *def) {
	if (!(def->length > 0) || !isfinite(def->length)) {
		return "the length must be positive";
	}
	if (def->elements < 1 || def->elements > ELEMENTS_MAX) {
		return "elements must be 1 ... 400";
	}
	if (def->order < 3 || def->order > CAL_BEAM_MAX_ORDER) {
		return "order must be 3 ... 9";
	}
	if (def->deformation <= 0 || def->deformation > CAL_BEAM_ALL) {
		return "deformation must be a sum of CAL_BEAM_...";
	}
	if (def->choice.modes > MODES_MAX) {
		return "more than 1000 modes";
	}
	return choice_fault(&def->choice);
}

static CalStatus masses_check(const CalBeamDef *def, CalError *error) {
	for (int i = 0; i < def->mass_count; i++) {
		const CalBeamMass *m = &def->masses[i];
		bool finite = isfinite(m->mass);
		for (int j = 0; j < 9; j++) {
			finite = finite && isfinite(m->inertia.m[j / 3][j % 3]);
		}
		if (!finite || m->mass < 0) {
			return error_set(error, CAL_ERR_MODEL, "%s%sbeam \"%s\": mass %d on it is negative or not finite",
			                 PLACE_ARGS(def->place), def->name, i + 1);
		}
		if (!(m->x >= 0 && m->x <= def->length)) {
			return error_set(error, CAL_ERR_MODEL,
			                 "%s%sbeam \"%s\": mass %d is at x = %g m, outside of the beam's 0 ... %g m",
			                 PLACE_ARGS(def->place), def->name, i + 1, m->x, def->length);
		}
	}
	return CAL_OK;
}

static CalStatus beam_check(const CalBeamDef *def, CalError *error) {
	if (!def->name || !def->name[0]) {
		return error_set(error, CAL_ERR_MODEL, "%s%sa beam has no name; give it one", PLACE_ARGS(def->place));
	}
	const char *fault = numbers_fault(def);
	fault = fault ? fault : sections_fault(def);
	if (!fault && (def->mass_count < 0 || (def->mass_count > 0 && !def->masses))) {
		fault = "mass_count does not fit masses";
	}
	return fault ? refuse_beam(def, fault, error) : masses_check(def, error);
}

/* ---- choosing shapes ----------------------------------------------------------------------- */

typedef struct Pick {
	const BeamFamily *family;
	int column;
} Pick;

typedef struct Beam {
	const CalBeamDef *def;
	BeamFamily families[BEAM_FAMILIES];
	int family_count;
	Pick *picks; // static shapes family by family, then modes by frequency
	int pick_count;
} Beam;

static CalStatus solve_families(Beam *beam, CalError *error) {
	static const int BIT[BEAM_FAMILIES] = {CAL_BEAM_BEND_Y, CAL_BEAM_BEND_Z, CAL_BEAM_TORSION, CAL_BEAM_AXIAL};
	const CalFlexChoice *choice = &beam->def->choice;
	int limit = choice->modes > 0 || choice->max_frequency == 0 ? choice->modes : -1;
	CalStatus status = CAL_OK;
	for (int id = 0; status == CAL_OK && id < BEAM_FAMILIES; id++) {
		if (beam->def->deformation & BIT[id]) {
			BeamFamily *f = &beam->families[beam->family_count++];
			status = beam_family_solve(beam->def, (BeamFamilyId)id, limit, f, error);
		}
	}
	return status;
}

/** The lowest mode that no pick has taken yet; next[] counts what each family has given. */
static int lowest_family(const Beam *beam, const int *next) {
	int best = -1;
	double best_frequency = INFINITY;
	for (int i = 0; i < beam->family_count; i++) {
		const DenseModes *r = &beam->families[i].modes;
		// Equal frequencies of both planes differ by round-off: the first plane goes first.
		if (next[i] < r->shapes && r->frequency[next[i]] < best_frequency * (1 - 1e-9)) {
			best = i;
			best_frequency = r->frequency[next[i]];
		}
	}
	return best;
}

static CalStatus pick_shapes(Beam *beam, CalError *error) {
	int total = 0, next[BEAM_FAMILIES], statics = 0, wanted = beam->def->choice.modes;
	for (int i = 0; i < beam->family_count; i++) {
		total += beam->families[i].modes.shapes;
		statics += beam->families[i].modes.statics;
	}
	CalAllocator allocator = allocator_or_default(NULL);
	beam->picks = memory_alloc(&allocator, (size_t)total * sizeof(Pick));
	if (!beam->picks) {
		return error_set(error, CAL_ERR_MEMORY, "beam \"%s\": out of memory", beam->def->name);
	}
	for (int i = 0; i < beam->family_count; i++) {
		next[i] = beam->families[i].modes.statics;
		for (int k = 0; k < next[i]; k++) {
			beam->picks[beam->pick_count++] = (Pick){&beam->families[i], k};
		}
	}
	int i;
	while ((wanted == 0 || beam->pick_count < statics + wanted) && (i = lowest_family(beam, next)) >= 0) {
		beam->picks[beam->pick_count++] = (Pick){&beam->families[i], next[i]++};
	}
	if (beam->pick_count < statics + wanted && beam->def->choice.max_frequency == 0) {
		return refuse_beam(beam->def, "the elements have fewer modes than asked for; take more elements or fewer modes",
		                   error);
	}
	if (beam->pick_count == 0) {
		return refuse_beam(beam->def, "no mode is below max_frequency; raise it, or add the beam as a rigid body",
		                   error);
	}
	return CAL_OK;
}

static void beam_free(Beam *beam) {
	CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; i < beam->family_count; i++) {
		dense_modes_free(&beam->families[i].modes);
	}
	memory_free(&allocator, beam->picks);
}

/* ---- placing nodes ------------------------------------------------------------------------- */

static void stiffness_fill(const Beam *beam, double *K) {
	int m = beam->pick_count;
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < m; j++) {
			const Pick *a = &beam->picks[i], *b = &beam->picks[j];
			const DenseModes *r = &a->family->modes;
			K[i * m + j] = a->family == b->family ? r->stiffness[a->column * r->shapes + b->column] : 0;
		}
	}
}

/** Shapes of all picks at x. slopes: of bending too, not only the twist. */
static void shapes_fill(const Beam *beam, double x, bool slopes, FlexBuilderNode *node) {
	int m = beam->pick_count;
	for (int k = 0; k < m; k++) {
		const BeamFamily *f = beam->picks[k].family;
		BeamPoint point = beam_family_at(beam->def, f, beam->picks[k].column, x);
		double r = slopes ? point.r : 0;
		switch (f->id) {
		case BEAM_BEND_Y:
			node->phi[m + k] = point.w;
			node->psi[2 * m + k] = r;
			break;
		case BEAM_BEND_Z:
			node->phi[2 * m + k] = point.w;
			node->psi[m + k] = -r;
			break;
		case BEAM_TORSION:
			node->psi[k] = point.w;
			break;
		case BEAM_AXIAL:
		case BEAM_FAMILIES:
			node->phi[k] = point.w;
			break;
		}
	}
}

static bool is_bending(const BeamFamily *f) { return f->id == BEAM_BEND_Y || f->id == BEAM_BEND_Z; }

/** phi2 += -1/2 weight w'w' at x. */
static void foreshorten(const Beam *beam, double x, double weight, double *phi2) {
	int m = beam->pick_count;
	for (int k = 0; k < m; k++) {
		const Pick *a = &beam->picks[k];
		double dw = is_bending(a->family) ? beam_family_at(beam->def, a->family, a->column, x).dw : 0;
		for (int l = 0; dw != 0 && l <= k; l++) {
			const Pick *b = &beam->picks[l];
			if (b->family == a->family) {
				double term = -0.5 * weight * dw * beam_family_at(beam->def, b->family, b->column, x).dw;
				phi2[k * m + l] += term;
				phi2[l * m + k] += l != k ? term : 0;
			}
		}
	}
}

/** phi2 at x: the integral from the root, exact element by element. */
static void phi2_fill(const Beam *beam, double x, double *phi2) {
	const CalBeamDef *def = beam->def;
	double h = def->length / def->elements, xi[GAUSS_MAX], w[GAUSS_MAX];
	gauss_rule(def->order, xi, w);
	for (int e = 0; e < def->elements && e * h < x; e++) {
		double from = e * h, size = fmin(x - from, h);
		for (int g = 0; g < def->order; g++) {
			foreshorten(beam, from + 0.5 * size * (1 + xi[g]), 0.5 * size * w[g], phi2);
		}
	}
}

static void node_fill(const Beam *beam, double x, bool slopes, FlexBuilderNode *node) {
	node->p = (CalVec3){x, 0, 0};
	shapes_fill(beam, x, slopes, node);
	if (node->phi2) {
		phi2_fill(beam, x, node->phi2);
	}
}

static void place_ends(const Beam *beam, FlexBuilderNode *nodes) {
	const CalBeamDef *def = beam->def;
	for (int i = 0; i <= def->elements; i++) {
		const char *end = i == 0 ? "root" : "tip";
		if (i == 0 || i == def->elements) {
			snprintf(nodes[i].name, sizeof nodes[i].name, "%s", end);
		} else {
			snprintf(nodes[i].name, sizeof nodes[i].name, "n%d", i);
		}
		node_fill(beam, i < def->elements ? def->length / def->elements * i : def->length, true, &nodes[i]);
	}
}

static void place_gauss(const Beam *beam, FlexBuilderNode *nodes) {
	const CalBeamDef *def = beam->def;
	double xi[GAUSS_MAX], w[GAUSS_MAX], h = def->length / def->elements;
	int points = beam_gauss_count(def);
	gauss_rule(points, xi, w);
	for (int i = 0; i < points * def->elements; i++) {
		int e = i / points, g = i % points;
		double x = h * (e + 0.5 * (1 + xi[g])), dx = 0.5 * h * w[g];
		CalSection section = def->tapered ? section_between(&def->root, &def->tip, x / def->length) : def->root;
		SectionValues v = section_values(&section);
		FlexBuilderNode *node = &nodes[i];
		snprintf(node->name, sizeof node->name, "mass%d", i + 1);
		node->mass = dx * v.rhoA;
		node->inertia = (CalMat3){{{dx * (v.rhoIy + v.rhoIz), 0, 0}, {0, dx * v.rhoIy, 0}, {0, 0, dx * v.rhoIz}}};
		node_fill(beam, x, def->timoshenko != 0, node);
	}
}

/** Masses of the user: on the node at an element's end if there is one, else on a node of their own. */
static int place_masses(const Beam *beam, FlexBuilderNode *ends, FlexBuilderNode *own) {
	const CalBeamDef *def = beam->def;
	int own_count = 0;
	for (int i = 0; i < def->mass_count; i++) {
		const CalBeamMass *m = &def->masses[i];
		int near = (int)(m->x / def->length * def->elements + 0.5);
		FlexBuilderNode *node = &ends[near];
		if (fabs(node->p.x - m->x) > 1e-9 * def->length) {
			node = &own[own_count++];
			snprintf(node->name, sizeof node->name, "point%d", i + 1);
			node_fill(beam, m->x, true, node);
		}
		node->mass += m->mass;
		for (int j = 0; j < 9; j++) {
			node->inertia.m[j / 3][j % 3] += m->inertia.m[j / 3][j % 3];
		}
	}
	return own_count;
}

static CalStatus beam_place(const Beam *beam, CalDesc *desc, CalBodyId *body, CalError *error) {
	const CalBeamDef *def = beam->def;
	int ends = def->elements + 1, inside = def->elements * beam_gauss_count(def);
	FlexBuilder builder;
	if (flex_builder_create(ends + inside + def->mass_count, beam->pick_count, def->second_order != 0, &builder) !=
	    CAL_OK) {
		return error_set(error, CAL_ERR_MEMORY, "beam \"%s\": out of memory", def->name);
	}
	stiffness_fill(beam, builder.stiffness);
	place_ends(beam, builder.nodes);
	place_gauss(beam, builder.nodes + ends);
	builder.node_count = ends + inside + place_masses(beam, builder.nodes, builder.nodes + ends + inside);
	CalBodyDef rigid = cal_body_def();
	rigid.name = def->name;
	rigid.group = def->group;
	rigid.place = def->place;
	CalStatus status = flex_builder_add(&builder, desc, &rigid, &def->choice, body, error);
	flex_builder_free(&builder);
	return status;
}

CalStatus cal_beam_add(CalDesc *desc, const CalBeamDef *def, CalBodyId *body, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_beam_add: no description or no definition given");
	}
	CalStatus status = beam_check(def, error);
	if (status != CAL_OK) {
		return status;
	}
	Beam beam = {.def = def};
	status = solve_families(&beam, error);
	if (status == CAL_OK) {
		status = pick_shapes(&beam, error);
	}
	if (status == CAL_OK) {
		status = beam_place(&beam, desc, body, error);
	}
	beam_free(&beam);
	return status;
}
