// SPDX-License-Identifier: Apache-2.0
/*
 * panel.c — the panel generator: checks the definition, reduces its finite-element model, condenses its mass, places
 * nodes.
 *
 * A panel of a few dozen cells has many hundred particles; mass_condensation.h makes at most 4 + 3 modes of them, the
 * same body. The rotary inertia of the members' sections is on one of them, without slopes: it counts for the
 * inertia of the panel and is left out of its vibrations, as in Euler-Bernoulli theory.
 */
#include "flexgen/panel_second_order.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "flexgen/beam.h"
#include "flexgen/flex_builder.h"
#include "flexgen/mass_condensation.h"

enum { NODES_MAX = 400 };

CalPanelDef cal_panel_def(void) {
	const CalSection section = {.poissons_ratio = 0.3};
	return (CalPanelDef){.cells_x = 6,
	                     .cells_y = 4,
	                     .rib_x = section,
	                     .rib_y = section,
	                     .choice = {.boundary = CAL_FLEX_CLAMPED, .modes = 4}};
}

/* ---- checking ------------------------------------------------------------------------------ */

static const char *hinges_fault(const CalPanelDef *def) {
	if (def->hinge_count < 0 || def->hinge_count > CAL_PANEL_MAX_HINGES) {
		return "hinge_count must be 0 ... 16";
	}
	for (int i = 0; i < def->hinge_count; i++) {
		if (def->hinges[i] < 0 || def->hinges[i] > def->cells_y) {
			return "a hinge is not on the edge; hinges are rows of the grid, 0 ... cells_y";
		}
	}
	return NULL;
}

static const char *panel_fault(const CalPanelDef *def) {
	if (!(def->length > 0) || !isfinite(def->length) || !(def->width > 0) || !isfinite(def->width)) {
		return "length and width must be positive";
	}
	if (def->cells_x < 1 || def->cells_y < 1 || def->cells_x > NODES_MAX || def->cells_y > NODES_MAX ||
	    (def->cells_x + 1) * (def->cells_y + 1) > NODES_MAX) {
		return "cells_x and cells_y must be at least 1, with at most 400 grid points";
	}
	if (!(def->cover_mass >= 0) || !isfinite(def->cover_mass)) {
		return "cover_mass must not be negative";
	}
	CalFlexBoundary boundary = def->choice.boundary;
	if (boundary == CAL_FLEX_PINNED) {
		return "a panel cannot be pinned; hold it CLAMPED and attach it by a revolute joint";
	}
	if (boundary != CAL_FLEX_CLAMPED && def->cells_y % 2 != 0) {
		return "this boundary needs a grid point in the middle of the edge; make cells_y even";
	}
	const char *fault = choice_fault(&def->choice);
	fault = fault ? fault : hinges_fault(def);
	fault = fault ? fault : section_fault(&def->rib_x);
	return fault ? fault : section_fault(&def->rib_y);
}

static CalStatus panel_check(const CalPanelDef *def, CalError *error) {
	if (!def->name || !def->name[0]) {
		return error_set(error, CAL_ERR_MODEL, "%s%sa panel has no name; give it one", PLACE_ARGS(def->place));
	}
	const char *fault = panel_fault(def);
	return fault ? error_set(error, CAL_ERR_MODEL, "%s%spanel \"%s\": %s", PLACE_ARGS(def->place), def->name, fault)
	             : CAL_OK;
}

/* ---- reduction ----------------------------------------------------------------------------- */

static void set_roles(int node, SynthesisRole value, unsigned char *role) { memset(role + 6 * node, (int)value, 6); }

static void panel_roles(const CalPanelDef *def, const PanelFem *l, unsigned char *role) {
	memset(role, ROLE_INTERIOR, (size_t)l->n);
	int middle = def->cells_y / 2;
	if (def->choice.boundary == CAL_FLEX_CRAIG_BAMPTON) {
		set_roles(panel_fem_node(l, def->cells_x, middle), ROLE_UNIT, role);
	}
	if (def->choice.boundary == CAL_FLEX_FREE) {
		set_roles(panel_fem_node(l, 0, middle), ROLE_FRAME, role);
	} else {
		int held = def->hinge_count > 0 ? def->hinge_count : l->rows;
		for (int k = 0; k < held; k++) {
			set_roles(panel_fem_node(l, 0, def->hinge_count > 0 ? def->hinges[k] : k), ROLE_HELD, role);
		}
	}
	for (int i = 0; !def->in_plane && i < l->n; i++) {
		bool out_of_plane = i % 6 >= 2 && i % 6 <= 4;
		role[i] = out_of_plane ? role[i] : ROLE_HELD;
	}
}

static CalStatus panel_failed(const CalPanelDef *def, CalStatus status, int bad_dof, CalError *error) {
	static const char *const WAY[] = {"along x", "along y", "along z", "about x", "about y", "about z"};
	if (status == CAL_SINGULAR && bad_dof >= 0) {
		int node = bad_dof / 6, rows = def->cells_y + 1;
		return error_set(
			error, CAL_ERR_MODEL,
			"%s%spanel \"%s\": grid point n_%d_%d has no stiffness %s; the ribs need bending stiffness and, "
			"where nothing else holds them, GJ > 0",
			PLACE_ARGS(def->place), def->name, node / rows, node % rows, WAY[bad_dof % 6]);
	}
	return error_set(error, status, "%s%spanel \"%s\": %s", PLACE_ARGS(def->place), def->name, cal_status_text(status));
}

static CalStatus panel_reduce(const CalPanelDef *def, const PanelFem *l, DenseModes *reduced, CalError *error) {
	CalAllocator allocator = allocator_or_default(NULL);
	unsigned char *role = memory_alloc(&allocator, (size_t)l->n);
	if (!role) {
		panel_failed(def, CAL_ERR_MEMORY, -1, error);
		return CAL_ERR_MEMORY;
	}
	panel_roles(def, l, role);
	const CalFlexChoice *c = &def->choice;
	CalStatus status = dense_modes_create(&(DenseBody){.n = l->n,
	                                                   .K = l->K,
	                                                   .M = l->M,
	                                                   .role = role,
	                                                   .modes = c->modes > 0 || c->max_frequency == 0 ? c->modes : -1,
	                                                   .max_frequency = c->max_frequency,
	                                                   .mean = !c->attached},
	                                      reduced);
	memory_free(&allocator, role);
	if (status != CAL_OK) {
		panel_failed(def, status, reduced->bad_dof, error);
		return status == CAL_SINGULAR ? CAL_ERR_MODEL : status;
	}
	if (reduced->shapes == 0 || (c->max_frequency == 0 && reduced->shapes < reduced->statics + c->modes)) {
		error_set(error, CAL_ERR_MODEL,
		          "%s%spanel \"%s\": it has %d modes of the kind asked for; ask for fewer, raise max_frequency or "
		          "take more cells",
		          PLACE_ARGS(def->place), def->name, reduced->shapes - reduced->statics);
		return CAL_ERR_MODEL;
	}
	return CAL_OK;
}

/* ---- mass ---------------------------------------------------------------------------------- */

static void particle_fill(const PanelParticle *p, const DenseModes *r, double *f) {
	for (int c = 0; c < 3; c++) {
		f[c] = p->p[c];
		for (int k = 0; k < r->shapes; k++) {
			double sum = 0;
			for (int i = 0; i < 6 * p->node_count; i++) {
				sum += p->U[c][i] * r->shape[(size_t)k * (size_t)r->synthesis.n + (size_t)(6 * p->node[i / 6] + i % 6)];
			}
			f[3 + c * r->shapes + k] = sum;
		}
	}
}

/** few->mass, which comes first, is what memory_free() releases. */
static void layout_points(int limit, int count, int width, MassPoints *few, MassPoints *many, Cursor *cursor) {
	CURSOR_ARRAY(cursor, few->mass, limit);
	CURSOR_ARRAY(cursor, few->f, (size_t)limit * (size_t)width);
	CURSOR_ARRAY(cursor, many->mass, count);
	CURSOR_ARRAY(cursor, many->f, (size_t)count * (size_t)width);
}

/** Condensed particles of the panel; few->mass is one block that the caller frees. */
static CalStatus panel_points(const CalPanelDef *def, const DenseModes *r, MassPoints *few) {
	int count = panel_particle_count(def), width = 3 + 3 * r->shapes, limit = mass_points_limit(r->shapes);
	CalAllocator allocator = allocator_or_default(NULL);
	MassPoints many = {.count = count, .modes = r->shapes};
	*few = (MassPoints){0};
	Cursor cursor = {.align = sizeof(double)};
	layout_points(limit, count, width, few, &many, &cursor);
	if (!cursor_alloc_at_start(&cursor, &allocator)) {
		return CAL_ERR_MEMORY;
	}
	layout_points(limit, count, width, few, &many, &cursor);
	for (int i = 0; i < count; i++) {
		PanelParticle p = panel_particle(def, i);
		many.mass[i] = p.mass;
		particle_fill(&p, r, many.f + (size_t)i * (size_t)width);
	}
	CalStatus status = mass_points_condense(&many, few);
	if (status != CAL_OK) {
		memory_free(&allocator, few->mass);
	}
	return status;
}

/* ---- placing nodes ------------------------------------------------------------------------- */

static void grid_fill(const DenseModes *r, int node, FlexBuilderNode *out) {
	const int m = r->shapes;
	for (int k = 0; k < m; k++) {
		const double *at = r->shape + (size_t)k * (size_t)r->synthesis.n + 6 * (size_t)node;
		for (int c = 0; c < 3; c++) {
			out->phi[c * m + k] = at[c];
			out->psi[c * m + k] = at[3 + c];
		}
	}
}

static void place_node(const DenseModes *r, const PanelSecondOrder *second, int node, FlexBuilderNode *out) {
	grid_fill(r, node, out);
	if (second->u) {
		panel_second_order_node(second, node, out);
	}
}

static void place_grid(const CalPanelDef *def, const PanelFem *l, const DenseModes *r, const PanelSecondOrder *second,
                       FlexBuilder *builder) {
	for (int i = 0; i < l->columns; i++) {
		for (int j = 0; j < l->rows; j++) {
			FlexBuilderNode *node = &builder->nodes[builder->node_count++];
			snprintf(node->name, sizeof node->name, "n_%d_%d", i, j);
			node->p = panel_fem_position(def, i, j);
			place_node(r, second, panel_fem_node(l, i, j), node);
		}
	}
	int middle = def->cells_y / 2;
	FlexBuilderNode *root = &builder->nodes[builder->node_count++];
	snprintf(root->name, sizeof root->name, "root");
	if (def->choice.boundary == CAL_FLEX_FREE) {
		place_node(r, second, panel_fem_node(l, 0, middle), root);
	}
	if (def->cells_y % 2 == 0) {
		FlexBuilderNode *tip = &builder->nodes[builder->node_count++];
		snprintf(tip->name, sizeof tip->name, "tip");
		tip->p = panel_fem_position(def, def->cells_x, middle);
		place_node(r, second, panel_fem_node(l, def->cells_x, middle), tip);
	}
}

/** The particles; the members' own rotary inertia is with the first, without slopes. */
static void place_points(const MassPoints *few, const PanelFem *l, FlexBuilder *builder) {
	int m = few->modes, width = 3 + 3 * m;
	for (int i = 0; i < few->count; i++) {
		FlexBuilderNode *node = &builder->nodes[builder->node_count++];
		const double *f = few->f + i * width;
		snprintf(node->name, sizeof node->name, "mass%d", i + 1);
		node->mass = few->mass[i];
		node->p = (CalVec3){f[0], f[1], f[2]};
		memcpy(node->phi, f + 3, (size_t)(3 * m) * sizeof(double));
		for (int c = 0; c < 3 && i == 0; c++) {
			node->inertia.m[c][c] = l->rotary[c];
		}
	}
}

/** Second-order shapes where they are asked for; otherwise none. */
static CalStatus panel_bend_in_plane(const CalPanelDef *def, const PanelFem *l, const DenseModes *r,
                                     PanelSecondOrder *second, CalError *error) {
	*second = (PanelSecondOrder){0};
	if (!def->second_order) {
		return CAL_OK;
	}
	CalPanelDef free_plane = *def;
	free_plane.in_plane = 1;
	int bad_dof = -1;
	CalAllocator allocator = allocator_or_default(NULL);
	unsigned char *role = memory_alloc(&allocator, (size_t)l->n);
	CalStatus status = role ? CAL_OK : CAL_ERR_MEMORY;
	if (role) {
		panel_roles(&free_plane, l, role);
		status = panel_second_order_create(def, l, r, role, second, &bad_dof);
	}
	memory_free(&allocator, role);
	if (status == CAL_OK) {
		return CAL_OK;
	}
	panel_failed(def, status, bad_dof, error);
	return status == CAL_SINGULAR ? CAL_ERR_MODEL : status;
}

static CalStatus panel_place(const CalPanelDef *def, const PanelFem *l, const DenseModes *r,
                             const PanelSecondOrder *second, CalDesc *desc, CalBodyId *body, CalError *error) {
	MassPoints few;
	CalStatus status = panel_points(def, r, &few);
	if (status != CAL_OK) {
		return panel_failed(def, status, -1, error);
	}
	FlexBuilder builder;
	status = flex_builder_create(l->nodes + 2 + few.count, r->shapes, second->u != NULL, &builder);
	if (status == CAL_OK) {
		builder.node_count = 0;
		memcpy(builder.stiffness, r->stiffness, (size_t)r->shapes * (size_t)r->shapes * sizeof(double));
		place_grid(def, l, r, second, &builder);
		if (second->u) {
			panel_second_order_mass(def, second, builder.geometric);
		}
		place_points(&few, l, &builder);
		CalBodyDef rigid = cal_body_def();
		rigid.name = def->name;
		rigid.group = def->group;
		rigid.place = def->place;
		status = flex_builder_add(&builder, desc, &rigid, &def->choice, body, error);
		flex_builder_free(&builder);
	} else {
		panel_failed(def, status, -1, error);
	}
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, few.mass);
	return status;
}

CalStatus cal_panel_add(CalDesc *desc, const CalPanelDef *def, CalBodyId *body, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_panel_add: no description or no definition given");
	}
	CalStatus status = panel_check(def, error);
	if (status != CAL_OK) {
		return status;
	}
	PanelFem fem;
	status = panel_fem_create(def, &fem);
	if (status != CAL_OK) {
		return panel_failed(def, status, -1, error);
	}
	DenseModes reduced = {0};
	status = panel_reduce(def, &fem, &reduced, error);
	PanelSecondOrder second = {0};
	if (status == CAL_OK) {
		status = panel_bend_in_plane(def, &fem, &reduced, &second, error);
	}
	if (status == CAL_OK) {
		status = panel_place(def, &fem, &reduced, &second, desc, body, error);
	}
	panel_second_order_free(&second);
	dense_modes_free(&reduced);
	panel_fem_free(&fem);
	return status;
}
