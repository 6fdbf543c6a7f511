// SPDX-License-Identifier: Apache-2.0
/*
 * invariants.c — cal_flex_set_invariants(): checks inertia invariants, makes mass nodes of them and adds these.
 *
 * Most mistakes (another order of the modes, mass in tonnes, lengths in millimeters, a sign) already show in two
 * numbers that contradict each other, and are named by them; the Gram matrices of invariants_mass.c find the rest.
 * Modes are numbered from 1 in the texts.
 */
#include "flexgen/invariants.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "flexgen/mass_condensation.h"

static const double ROUNDED = INVARIANTS_ROUNDED;
static const char *const AXIS = "xyz";
enum { MODES_MAX = 1000 };

CalStatus invariants_refuse(const Invariants *v, CalStatus status, const char *format, ...) {
	char text[400];
	va_list args;
	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	return error_set(v->error, status, "%s%sbody \"%s\": %s", PLACE_ARGS(v->body->place), v->body->name, text);
}

/* ---- checking ------------------------------------------------------------------------------ */

static bool all_finite(const double *numbers, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(numbers[i])) {
			return false;
		}
	}
	return true;
}

static CalStatus check_numbers(const Invariants *v) {
	const CalFlexInvariants *in = v->in;
	size_t m = (size_t)v->m;
	const struct {
		const char *name;
		const double *numbers;
		size_t count;
		bool optional;
	} arrays[] = {
		{"com", &in->com.x, 3, false},
		{"inertia", &in->inertia.m[0][0], 9, false},
		{"linear", in->linear, 3 * m, false},
		{"angular", in->angular, 3 * m, true},
		{"position", in->position, 9 * m, false},
		{"shape", in->shape, 9 * m * m, false},
		{"modal_mass", in->modal_mass, m * m, true},
	};
	if (!(in->mass > 0) || !isfinite(in->mass)) {
		return invariants_refuse(v, CAL_ERR_MODEL, "its mass is %g kg; it must be positive", in->mass);
	}
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
		if (!arrays[i].numbers && !arrays[i].optional) {
			return invariants_refuse(v, CAL_ERR_MODEL, "the invariants lack \"%s\"", arrays[i].name);
		}
		if (arrays[i].numbers && !all_finite(arrays[i].numbers, arrays[i].count)) {
			return invariants_refuse(v, CAL_ERR_MODEL, "a number of the invariants' \"%s\" is not finite",
			                         arrays[i].name);
		}
	}
	return CAL_OK;
}

/** Moments of inertia symmetric, not negative and possible for masses at all. */
static CalStatus check_inertia(const Invariants *v) {
	const CalMat3 *I = &v->in->inertia;
	double trace = fabs(I->m[0][0]) + fabs(I->m[1][1]) + fabs(I->m[2][2]);
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		if (!(I->m[i][i] >= 0)) {
			return invariants_refuse(v, CAL_ERR_MODEL, "the moment of inertia about %c is negative (%g kg m^2)",
			                         AXIS[i], I->m[i][i]);
		}
		if (!(fabs(I->m[i][j] - I->m[j][i]) <= ROUNDED * trace)) {
			return invariants_refuse(v, CAL_ERR_MODEL, "the inertia is not symmetric: %c%c is %g, %c%c is %g", AXIS[i],
			                         AXIS[j], I->m[i][j], AXIS[j], AXIS[i], I->m[j][i]);
		}
	}
	return CAL_OK;
}

/** The moment of component k with itself, and as much more as rounding may have taken. */
static double own_moment(const CalFlexInvariants *in, int k) {
	return fmax(invariants_shape(in, k, k), 0) * (1 + ROUNDED) + ROUNDED * fmax(invariants_whole(in, k), 0);
}

/** Component k of the shapes against the mass. */
static CalStatus check_component(const Invariants *v, int k) {
	int mode = k % v->m + 1;
	char axis = AXIS[k / v->m];
	double own = invariants_shape(v->in, k, k), linear = v->in->linear[k];
	if (own < -ROUNDED * invariants_whole(v->in, k)) {
		return invariants_refuse(v, CAL_ERR_MODEL, "shape: the moment %c%c of mode %d with itself is negative (%g)",
		                         axis, axis, mode, own);
	}
	if (!(linear * linear <= own_moment(v->in, k) * v->in->mass)) {
		return invariants_refuse(
			v, CAL_ERR_MODEL,
			"linear: along %c it is %g for mode %d; with %g kg that needs a moment of shape %c%c of "
			"%g or more, but it is %g; is the mass in other units, or the shape scaled differently?",
			axis, linear, mode, v->in->mass, axis, axis, linear * linear / v->in->mass, own);
	}
	return CAL_OK;
}

static CalStatus check_pair(const Invariants *v, int k, int l) {
	int m = v->m;
	double one = invariants_shape(v->in, k, l), other = invariants_shape(v->in, l, k);
	double most = sqrt(own_moment(v->in, k) * own_moment(v->in, l));
	double size = sqrt(fmax(invariants_whole(v->in, k) * invariants_whole(v->in, l), 0));
	if (!(fabs(one - other) <= ROUNDED * size)) {
		return invariants_refuse(
			v, CAL_ERR_MODEL,
			"shape is not symmetric: %c%c of modes %d and %d is %g, %c%c of modes %d and %d is %g; a "
			"slip between row and column?",
			AXIS[k / m], AXIS[l / m], k % m + 1, l % m + 1, one, AXIS[l / m], AXIS[k / m], l % m + 1, k % m + 1, other);
	}
	if (!(fabs(one) <= most)) {
		return invariants_refuse(
			v, CAL_ERR_MODEL, "shape: the moment %c%c of modes %d and %d is %g, more than their own moments allow (%g)",
			AXIS[k / m], AXIS[l / m], k % m + 1, l % m + 1, one, most);
	}
	return CAL_OK;
}

static CalStatus check_shapes(const Invariants *v) {
	CalStatus status = CAL_OK;
	for (int k = 0; status == CAL_OK && k < 3 * v->m; k++) {
		status = check_component(v, k);
		for (int l = 0; status == CAL_OK && l < k; l++) {
			status = check_pair(v, k, l);
		}
	}
	return status;
}

/** Modal masses against the shapes, angular against position: what is left is of rotary inertia. */
static CalStatus check_mode(const Invariants *v, int a) {
	int m = v->m;
	double mass = v->modal[a * m + a], spin = v->spin[a * m + a];
	if (!(mass > 0)) {
		return invariants_refuse(v, CAL_ERR_MODEL, "mode %d moves no mass: its modal mass is %g", a + 1, mass);
	}
	if (spin < -ROUNDED * mass) {
		return invariants_refuse(
			v, CAL_ERR_MODEL,
			"modal_mass of mode %d is %g, but its moments of shape xx + yy + zz are %g; is it scaled "
			"differently?",
			a + 1, mass, mass - spin);
	}
	for (int b = 0; b < a; b++) {
		double difference = fabs(v->modal[a * m + b] - v->modal[b * m + a]);
		if (!(difference <= ROUNDED * sqrt(mass * v->modal[b * m + b]))) {
			return invariants_refuse(v, CAL_ERR_MODEL, "modal_mass is not symmetric: (%d, %d) is %g, (%d, %d) is %g",
			                         a + 1, b + 1, v->modal[a * m + b], b + 1, a + 1, v->modal[b * m + a]);
		}
	}
	for (int i = 0; i < 3 && v->in->angular; i++) {
		double turn = v->turn[i * m + a], size = sqrt(v->in->inertia.m[i][i]);
		double digits = ROUNDED * fabs(v->in->angular[i * m + a]);
		if (!(fabs(turn) <= size * (sqrt(fmax(spin, 0)) + 10 * ROUNDED * sqrt(mass)) + digits)) {
			return invariants_refuse(
				v, CAL_ERR_MODEL,
				"angular: about %c it is %g for mode %d, but position gives %g; the difference can "
				"only be of rotary inertia, for which modal_mass leaves %g; check the signs, and that "
				"both are about the body frame's origin",
				AXIS[i], v->in->angular[i * m + a], a + 1, v->in->angular[i * m + a] - turn, fmax(spin, 0));
		}
	}
	return CAL_OK;
}

static CalStatus check_invariants(const Invariants *v) {
	CalStatus status = check_inertia(v);
	if (status == CAL_OK) {
		status = check_shapes(v);
	}
	for (int a = 0; status == CAL_OK && a < v->m; a++) {
		status = check_mode(v, a);
	}
	return status;
}

/* ---- the sums they are made of -------------------------------------------------------------------- */

static void layout_invariants(Invariants *v, Cursor *cursor) {
	const size_t m = (size_t)v->m, points = (size_t)mass_points_limit(v->m);
	CURSOR_ARRAY(cursor, v->modal, m * m);
	CURSOR_ARRAY(cursor, v->spin, m * m);
	CURSOR_ARRAY(cursor, v->turn, 3 * m);
	CURSOR_ARRAY(cursor, v->couple, 9 * m);
	inertia_gram_layout(&v->shapes, 1 + 3 * v->m, cursor);
	inertia_gram_layout(&v->spins, v->m, cursor);
	inertia_gram_layout(&v->points, 4 + 3 * v->m, cursor);
	inertia_gram_layout(&v->rotors, 3 + v->m, cursor);
	CURSOR_ARRAY(cursor, v->room, points * points);
}

/** sum m phi'phi of modes a and b. */
static double trace_of(const CalFlexInvariants *in, int a, int b) {
	double sum = 0;
	for (int c = 0; c < 3; c++) {
		sum += invariants_shape(in, c * in->modes + a, c * in->modes + b);
	}
	return sum;
}

static void derive_couplings(Invariants *v) {
	const CalFlexInvariants *in = v->in;
	int m = v->m;
	for (int a = 0; a < m; a++) {
		for (int b = 0; b < m; b++) {
			double trace = trace_of(in, a, b);
			v->modal[a * m + b] = in->modal_mass ? in->modal_mass[a * m + b] : trace;
			v->spin[a * m + b] = v->modal[a * m + b] - trace;
		}
		for (int i = 0; i < 3; i++) {
			int y = (i + 1) % 3, z = (i + 2) % 3;
			double yz = in->position[(y * 3 + z) * m + a], zy = in->position[(z * 3 + y) * m + a];
			v->turn[i * m + a] = in->angular ? in->angular[i * m + a] - (yz - zy) : 0;
		}
	}
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3 * m; k++) {
			v->couple[i * 3 * m + k] = in->position[i * 3 * m + k] - v->com[i] * in->linear[k];
		}
	}
}

/* ---- into the description ------------------------------------------------------------------ */

/** Refuses names that the body already has. */
static CalStatus check_names(const Invariants *v, const CalDesc *desc, CalBodyId body, const FlexBuilder *builder) {
	CalFlexNodeInfo info;
	for (int i = 0; cal_flex_node(desc, body, i, &info) == CAL_OK; i++) {
		for (int k = 0; k < builder->node_count; k++) {
			if (strcmp(info.name, builder->nodes[k].name) == 0) {
				return invariants_refuse(
					v, CAL_ERR_MODEL,
					"node \"%s\" has a name that the invariants need for a node of their own; rename it", info.name);
			}
		}
	}
	return CAL_OK;
}

static CalStatus add_masses(const Invariants *v, CalDesc *desc, CalBodyId body, const CalFlexDef *def,
                            const FlexBuilder *builder) {
	CalAllocator allocator = allocator_or_default(NULL);
	size_t given = (size_t)def->node_count, made = (size_t)builder->node_count;
	CalStatus status = check_names(v, desc, body, builder);
	if (status != CAL_OK) {
		return status;
	}
	CalFlexNode *nodes = memory_alloc(&allocator, (given + made) * sizeof *nodes);
	if (!nodes) {
		return invariants_refuse(v, CAL_ERR_MEMORY, "out of memory");
	}
	if (given) {
		memcpy(nodes, def->nodes, given * sizeof *nodes);
	}
	flex_builder_flex_nodes(builder, nodes + given);
	status = flex_builder_add_nodes(builder, desc, body, v->body->place, nodes + given, v->error);
	if (status == CAL_OK) {
		CalFlexDef whole = *def;
		whole.nodes = nodes;
		whole.node_count = (int)(given + made);
		status = cal_desc_set_flexible(desc, body, &whole, v->error);
	}
	memory_free(&allocator, nodes);
	return status;
}

static CalStatus set_invariants(Invariants *v, CalDesc *desc, CalBodyId body, const CalFlexDef *def) {
	CalAllocator allocator = allocator_or_default(NULL);
	Cursor cursor = {.align = sizeof(double)};
	layout_invariants(v, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &allocator);
	if (!memory) {
		return invariants_refuse(v, CAL_ERR_MEMORY, "out of memory");
	}
	layout_invariants(v, &cursor);
	derive_couplings(v);
	FlexBuilder builder = {0};
	CalStatus status = check_invariants(v);
	if (status == CAL_OK) {
		status = invariants_masses(v, &builder);
	}
	if (status == CAL_OK) {
		status = add_masses(v, desc, body, def, &builder);
	}
	flex_builder_free(&builder);
	memory_free(&allocator, memory);
	return status;
}

CalStatus cal_flex_set_invariants(CalDesc *desc, CalBodyId id, const CalFlexDef *def,
                                  const CalFlexInvariants *invariants, CalError *error) {
	CalBodyDef body;
	CalFlexDef flex;
	if (!desc || !def || !invariants || cal_flex_body(desc, id, &body, &flex) != CAL_OK) {
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_flex_set_invariants: desc, def or invariants is NULL, or there is no such body");
	}
	if (flex.modes > 0 || def->modes <= 0 || def->node_count < 0 || (def->node_count > 0 && !def->nodes)) {
		return cal_desc_set_flexible(desc, id, def, error); // refuses and says why
	}
	Invariants v = {.in = invariants, .body = &body, .error = error, .m = def->modes};
	v.com[0] = invariants->com.x;
	v.com[1] = invariants->com.y;
	v.com[2] = invariants->com.z;
	if (def->modes > MODES_MAX) {
		return invariants_refuse(&v, CAL_ERR_MODEL, "%d modes; invariants are for at most %d", def->modes,
		                         (int)MODES_MAX);
	}
	if (invariants->modes != def->modes) {
		return invariants_refuse(&v, CAL_ERR_MODEL, "the invariants are of %d modes, the stiffness of %d",
		                         invariants->modes, def->modes);
	}
	CalStatus status = check_numbers(&v);
	return status == CAL_OK ? set_invariants(&v, desc, id, def) : status;
}
