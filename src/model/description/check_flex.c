// SPDX-License-Identifier: Apache-2.0
/*
 * check_flex.c — flexible bodies that cannot be, and the mistake that is the likely cause.
 *
 * Errors are what leaves no equations of motion: masses or inertias below zero, modes that move no mass or are
 * combinations of others, shapes at the frame in which shapes are given, a stiffness that is not symmetric or pushes
 * away, damping that feeds energy; and a singular stiffness, unless the definition says that it is meant. Warnings are
 * what is possible but rarely meant: frequencies beyond anything built (lengths or masses in other units than the
 * stiffness), normal modes that are not mass-orthogonal, joints on nodes that no mode moves. Modes are
 * numbered from 1 in the texts.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "flexbody/modal.h"
#include "math/eigen.h"
#include "math/eigen3.h"
#include "model/description/check.h"

static const double TWO_PI = 6.283185307179586;
static const double MAX_HERTZ = 1e6, MIN_HERTZ = 1e-6;
static const double ARITHMETIC = 1e-9; // relative error of numbers that went through some arithmetic
static const double DIGITS = 1e-4;     // coupling of orthogonal shapes that were written with few digits
static const double ORTHOGONAL = 1e-2; // coupling below which shapes are meant to be mass-orthogonal
static const double FLAT = 1e-12;      // of an inertia over what it was before others were eliminated: none is left
static const double SINGULAR =
	1e-12;                        // of a stiffness over what it was before other modes were eliminated: none is left
static const double SOFT = 1e-14; // of w^2 over the largest: no frequency
static const double SAME_PLACE = 1e-9; // distance of two nodes over the size of the body

/** What the parts of the check of one body share; numbers of the canonical form in one block. */
typedef struct FlexCheck {
	Check *check;
	const DescBody *body;
	const CalFlexDef *flex;
	CalVec3 *position; // [node_count]
	double *mass;      // [m*m] M_ee
	double *scratch;   // modal_scratch_size(m), at least m*m + 3m, and 36 + 6m + m*m if m > 1
	ModalForm form;
} FlexCheck;

static const char *node_name(const FlexCheck *f, int index) {
	return desc_node(f->check->desc, f->flex->nodes[index].node)->def.name;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static bool check_node_inertia(FlexCheck *f, int index) {
	const CalMat3 *J = &f->flex->nodes[index].inertia;
	double size = 0, asymmetry = 0, moments[3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			size = fmax(size, fabs(J->m[i][j]));
			asymmetry = fmax(asymmetry, fabs(J->m[i][j] - J->m[j][i]));
		}
	}
	if (asymmetry > ARITHMETIC * size) {
		check_error(
			f->check, f->body->def.place,
			"body \"%s\", node \"%s\": its rotary inertia is not symmetric, by %.3g%% of the largest element; a "
			"slip between row and column?",
			f->body->def.name, node_name(f, index), 100 * asymmetry / size);
		return false;
	}
	eigen3_values(J, moments);
	if (moments[0] < -ARITHMETIC * size) {
		check_error(
			f->check, f->body->def.place,
			"body \"%s\", node \"%s\": its rotary inertia is not positive: the principal moments are %.6g, %.6g "
			"and %.6g kg m^2; check the signs",
			f->body->def.name, node_name(f, index), moments[0], moments[1], moments[2]);
		return false;
	}
	return true;
}

static bool any_nonzero(const double *numbers, int count) {
	for (int i = 0; numbers && i < count; i++) {
		if (numbers[i] != 0) {
			return true;
		}
	}
	return false;
}

/** The body's own frame is where shapes are measured from: it may carry mass, but the modes cannot move it. */
static void check_frame(FlexCheck *f) {
	int m = f->flex->modes;
	for (int i = 0; i < f->flex->node_count; i++) {
		const CalFlexNode *node = &f->flex->nodes[i];
		bool moves =
			any_nonzero(node->phi, 3 * m) || any_nonzero(node->psi, 3 * m) || any_nonzero(node->phi2, 3 * m * m);
		if (node->node.value == f->body->frame.value && moves) {
			check_error(
				f->check, f->body->def.place,
				"body \"%s\": there are shapes at its own frame, node \"%s\", but shapes are motions relative to that "
				"frame; give them at a node of their own in the same place (a joint may be there too), or subtract this "
				"motion from the shapes of all nodes",
				f->body->def.name, node_name(f, i));
		}
	}
}

/** False if the masses are such that no further check has a meaning. */
static bool check_masses(FlexCheck *f) {
	double total = f->body->def.mass;
	bool sound = total >= 0;
	for (int i = 0; i < f->flex->node_count; i++) {
		double mass = f->flex->nodes[i].mass;
		total += mass;
		if (mass < 0) {
			check_error(f->check, f->body->def.place,
			            "body \"%s\", node \"%s\": its mass is %g kg; it must not be negative", f->body->def.name,
			            node_name(f, i), mass);
			sound = false;
		}
		sound = check_node_inertia(f, i) && sound;
	}
	if (total == 0) {
		check_error(f->check, f->body->def.place,
		            "body \"%s\" is flexible but has no mass; give masses to its nodes, or to the body itself",
		            f->body->def.name);
		sound = false;
	}
	return sound;
}

/* ---- stiffness, shapes, frequencies -------------------------------------------------------- */

static void report_asymmetry(FlexCheck *f) {
	int m = f->flex->modes, i = f->form.mode, j = f->form.other;
	const double *K = f->flex->stiffness;
	double size = fmax(fabs(K[i * m + j]), fabs(K[j * m + i]));
	check_error(
		f->check, f->body->def.place,
		"body \"%s\": stiffness is not symmetric: element (%d, %d) is %.10g but (%d, %d) is %.10g, %.3g%% apart; "
		"a slip between row and column?",
		f->body->def.name, i + 1, j + 1, K[i * m + j], j + 1, i + 1, K[j * m + i], 100 * f->form.amount / size);
}

static void report_dependence(FlexCheck *f) {
	int mode = f->form.mode + 1;
	check_error(
		f->check, f->body->def.place,
		"body \"%s\": mode %d moves the masses as modes 1 to %d together do, so that its inertia is not its own; "
		"remove the mode, or lump mass at more nodes (%d are listed for %d modes)",
		f->body->def.name, mode, mode - 1, f->flex->node_count, f->flex->modes);
}

static void report_rigid(FlexCheck *f) {
	bool bound = f->flex->frequency_bound > 0;
	void (*report)(Check *, const char *, const char *, ...) = bound ? check_error : check_warning;
	report(
		f->check, f->body->def.place,
		"body \"%s\": mode %d%s moves all masses as a rigid motion of the body does%s; remove the mode (rigid motion is "
		"the joint's), or lump mass at more nodes",
		f->body->def.name, f->form.mode + 1, f->form.mode ? ", with those before it," : "",
		bound ? ", so that the free body has no frequency to be bounded" : "; a body that can move so is singular");
}

/** What kept a body from its canonical form. */
static void report_fault(FlexCheck *f) {
	const char *name = f->body->def.name, *place = f->body->def.place;
	int mode = f->form.mode + 1;
	switch (f->form.fault) {
	case MODAL_SOUND:
		break;
	case MODAL_STIFFNESS_ASYMMETRIC:
		report_asymmetry(f);
		break;
	case MODAL_STIFFNESS_NEGATIVE:
		check_error(
			f->check, place,
			"body \"%s\": stiffness is not positive semidefinite: a deflection mostly along mode %d has w^2 = %.4g "
			"1/s^2 and would grow; check the signs",
			name, mode, f->form.amount);
		break;
	case MODAL_MASSLESS:
		check_error(
			f->check, place,
			"body \"%s\": mode %d moves no mass: its shapes vanish at every node with mass or rotary inertia; lump "
			"mass at the nodes that it moves, or remove it",
			name, mode);
		break;
	case MODAL_DEPENDENT:
		report_dependence(f);
		break;
	case MODAL_RIGID:
		report_rigid(f);
		break;
	case MODAL_NUMERICS:
		check_error(f->check, place,
		            "body \"%s\": its modal masses and stiffnesses are too far apart to compute frequencies; check the "
		            "units of shapes, masses and stiffness",
		            name);
		break;
	}
}

/** A pair of modes and how much of their modal masses couples them. */
typedef struct Coupling {
	double amount;
	int mode, other;
} Coupling;

/** The worst of A, over the diagonal of `scale`. */
static Coupling worst_coupling(int m, const double *A, const double *scale) {
	Coupling worst = {0, 0, 0};
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < i; j++) {
			double amount = fabs(A[i * m + j]) / sqrt(fabs(scale[i * m + i])) / sqrt(fabs(scale[j * m + j]));
			worst = amount > worst.amount ? (Coupling){amount, j, i} : worst;
		}
	}
	return worst;
}

/** Eliminates row p of rr [6][6] and re [6][m] from the rows below and from ee; not if its inertia is within limit. */
static void release_rigid_motion(int m, int p, double limit, double *rr, double *re, double *ee) {
	double pivot = rr[p * 6 + p];
	if (pivot <= limit) {
		return;
	}
	for (int i = 0; i < m * m; i++) {
		ee[i] -= re[p * m + i / m] * re[p * m + i % m] / pivot;
	}
	for (int k = p + 1; k < 6; k++) {
		double factor = rr[k * 6 + p] / pivot;
		for (int l = p; l < 6; l++) {
			rr[k * 6 + l] -= factor * rr[p * 6 + l];
		}
		for (int j = 0; j < m; j++) {
			re[k * m + j] -= factor * re[p * m + j];
		}
	}
}

/**
 * Whether the shapes are normal modes of the body hinged at B's origin, or of the free body, seen from a frame B that
 * goes with one of its points: then the mass couples them by their rigid parts only. Sections with rotary inertia
 * that these modes do without leave a little.
 */
static bool orthogonal_when_released(FlexCheck *f, const ModalBody *modal) {
	int m = f->flex->modes;
	double *rr = f->scratch, *re = rr + 36, *ee = re + 6 * m, limit[6], hinged = 0;
	modal_mass(modal, rr, re, ee);
	for (int p = 0; p < 6; p++) {
		limit[p] = FLAT * rr[p * 6 + p];
	}
	for (int p = 0; p < 6; p++) {
		release_rigid_motion(m, p, limit[p], rr, re, ee);
		hinged = p == 2 ? worst_coupling(m, ee, f->mass).amount : hinged;
	}
	return fmin(hinged, worst_coupling(m, ee, f->mass).amount) < ORTHOGONAL;
}

/**
 * Any shapes will do, so that only those are checked that are given as normal modes: the stiffness does not couple
 * them, or the mass hardly does.
 */
static void check_orthogonality(FlexCheck *f, const ModalBody *modal) {
	int m = f->flex->modes;
	Coupling mass = worst_coupling(m, f->mass, f->mass);
	double stiffness = worst_coupling(m, f->flex->stiffness, f->flex->stiffness).amount;
	bool nearly = mass.amount < ORTHOGONAL, normal = stiffness <= DIGITS;
	if (mass.amount > DIGITS && (nearly || (normal && !orthogonal_when_released(f, modal)))) {
		check_warning(
			f->check, f->body->def.place,
			"body \"%s\": its stiffness or masses are those of normal modes, but modes %d and %d are not "
			"mass-orthogonal (%.3g of their modal masses); they are made so, with frequencies of their own; if "
			"they come from elsewhere, check the masses at the nodes and the digits of the shapes",
			f->body->def.name, mass.mode + 1, mass.other + 1, mass.amount);
	}
}

/** A deflection that nothing brings back: rigid motion among the shapes, or a forgotten number. */
static void check_singular(FlexCheck *f) {
	int m = f->flex->modes;
	const double *K = f->flex->stiffness;
	double *factor = f->scratch;
	memcpy(factor, K, (size_t)m * (size_t)m * sizeof *factor);
	int bad = cholesky_factor(m, factor, NULL, SINGULAR);
	if (bad < 0 || f->flex->unsprung) {
		return;
	}
	const char *remedy = "remove the mode if it is a rigid motion (that is the joint's) or give it stiffness; if "
						 "something else holds it, say that the body is unsprung";
	if (bad == 0 || K[bad * m + bad] <= 0) {
		check_error(f->check, f->body->def.place,
		            "body \"%s\": the stiffness is singular: mode %d has none (%g) and would drift; %s",
		            f->body->def.name, bad + 1, K[bad * m + bad], remedy);
	} else {
		check_error(f->check, f->body->def.place,
		            "body \"%s\": the stiffness is singular: modes 1 to %d together can deflect without resistance, "
		            "and would drift; %s",
		            f->body->def.name, bad + 1, remedy);
	}
}

static void check_frequencies(FlexCheck *f) {
	int m = f->flex->modes, soft = 0;
	const double *w2 = f->form.w2;
	for (int i = 0; i < m; i++) {
		soft += w2[i] <= SOFT * w2[m - 1];
	}
	double high = sqrt(w2[m - 1]) / TWO_PI, low = soft < m ? sqrt(w2[soft]) / TWO_PI : high;
	if (high > MAX_HERTZ || (low > 0 && low < MIN_HERTZ)) {
		check_warning(
			f->check, f->body->def.place,
			"body \"%s\": its frequencies reach from %.3g to %.3g Hz; is the stiffness in N/mm, or are masses in "
			"tonnes or lengths in millimeters?",
			f->body->def.name, low, high);
	}
	if (f->form.clamped > 0) {
		check_warning(
			f->check, f->body->def.place,
			"body \"%s\": round-off makes its stiffness negative for %d of its modes; it is taken as zero there",
			f->body->def.name, f->form.clamped);
	}
	if (f->form.bounded == m) {
		check_warning(
			f->check, f->body->def.place,
			"body \"%s\": all of its modes are above the frequency bound of %.4g rad/s (the lowest of the free "
			"body is at %.4g rad/s) and get mass; raise the bound",
			f->body->def.name, f->flex->frequency_bound, sqrt(f->form.free_w2[0]));
	}
}

/* ---- damping ------------------------------------------------------------------------------- */

/** Checks D with the modes scaled to modal mass 1, so that unequal units do not matter. */
static void check_damping(FlexCheck *f) {
	int m = f->flex->modes, row = 0, column = 0;
	const double *D = f->flex->damping;
	double *symmetric = f->scratch, *values = symmetric + m * m, *scratch = values + m, asymmetry = 0, size = 0;
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < m; j++) {
			double scale = sqrt(f->mass[i * m + i]) * sqrt(f->mass[j * m + j]);
			double difference = fabs(D[i * m + j] - D[j * m + i]) / scale;
			symmetric[i * m + j] = (0.5 * D[i * m + j] + 0.5 * D[j * m + i]) / scale;
			size = fmax(size, fabs(D[i * m + j]) / scale);
			if (difference > asymmetry) {
				asymmetry = difference;
				row = i;
				column = j;
			}
		}
	}
	if (asymmetry > ARITHMETIC * size) {
		check_warning(
			f->check, f->body->def.place,
			"body \"%s\": damping is not symmetric: element (%d, %d) is %.6g but (%d, %d) is %.6g; the difference "
			"acts as a gyroscopic force, not as damping",
			f->body->def.name, row + 1, column + 1, D[row * m + column], column + 1, row + 1, D[column * m + row]);
	}
	if (eigen_symmetric(m, symmetric, values, scratch) != CAL_OK || values[0] >= -ARITHMETIC * size) {
		return;
	}
	int mode = 0;
	for (int i = 1; i < m; i++) {
		mode = fabs(symmetric[i * m]) > fabs(symmetric[mode * m]) ? i : mode;
	}
	check_error(f->check, f->body->def.place,
	            "body \"%s\": damping is negative: a deflection mostly along mode %d gains energy (%.4g N s/m per "
	            "kg of modal mass); "
	            "check the signs (the modal force is -damping times speed)",
	            f->body->def.name, mode + 1, values[0]);
}

/* ---- one body ------------------------------------------------------------------------------ */

static void layout_check(FlexCheck *f, Cursor *cursor) {
	const size_t m = (size_t)f->flex->modes;
	CURSOR_ARRAY(cursor, f->mass, m * m);
	CURSOR_ARRAY(cursor, f->form.C, m * m);
	CURSOR_ARRAY(cursor, f->form.w2, m);
	CURSOR_ARRAY(cursor, f->form.free_w2, m);
	CURSOR_ARRAY(cursor, f->scratch, modal_scratch_size(f->flex->modes));
	CURSOR_ARRAY(cursor, f->position, f->flex->node_count);
}

bool check_flexibility(Check *check, const DescBody *body) {
	FlexCheck f = {.check = check, .body = body, .flex = body->flex};
	check_frame(&f);
	if (!check_masses(&f)) {
		return true;
	}
	Cursor cursor = {.align = sizeof(double)};
	layout_check(&f, &cursor);
	void *block = cursor_alloc_at_start(&cursor, &check->desc->allocator);
	if (!block) {
		return false;
	}
	layout_check(&f, &cursor);
	for (int i = 0; i < f.flex->node_count; i++) {
		f.position[i] = desc_node(check->desc, f.flex->nodes[i].node)->def.placement.position;
	}
	const ModalBody modal = {&body->def, f.flex, f.position};
	CalStatus status = modal_canonicalize(&modal, &f.form, f.scratch);
	report_fault(&f);
	if (status == CAL_OK) {
		modal_mass(&modal, NULL, NULL, f.mass);
		check_orthogonality(&f, &modal);
		check_singular(&f);
		check_frequencies(&f);
	}
	if (status == CAL_OK && f.flex->damping) {
		check_damping(&f);
	}
	memory_free(&check->desc->allocator, block);
	return true;
}

/* ---- joints on nodes that do not move ------------------------------------------------------ */

static double distance(CalVec3 a, CalVec3 b) {
	double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
	return sqrt(x * x + y * y + z * z);
}

/** Index in flex of a listed node where `node` is, and how far the nodes reach; -1 if there is none. */
static int twin_of(const CalDesc *desc, const CalFlexDef *flex, const DescNode *node) {
	double reach = 0, nearest = INFINITY;
	int twin = -1;
	for (int i = 0; i < flex->node_count; i++) {
		CalVec3 p = desc_node(desc, flex->nodes[i].node)->def.placement.position;
		double d = distance(p, node->def.placement.position);
		reach = fmax(reach, distance(p, (CalVec3){0, 0, 0}));
		if (d < nearest) {
			nearest = d;
			twin = i;
		}
	}
	return nearest <= SAME_PLACE * reach ? twin : -1;
}

void check_interface(Check *check, const CalJointDef *joint, CalNodeId id) {
	const CalDesc *desc = check->desc;
	const DescNode *node = id.value ? desc_node(desc, id) : NULL;
	const DescBody *body = node && node->body.value ? desc_body(desc, node->body) : NULL;
	if (!body || !body->flex || body->frame.value == id.value) {
		return;
	}
	const CalFlexDef *flex = body->flex;
	for (int i = 0; i < flex->node_count; i++) {
		if (flex->nodes[i].node.value == id.value) {
			return;
		}
	}
	int twin = twin_of(desc, flex, node);
	if (twin >= 0 && (flex->nodes[twin].phi || flex->nodes[twin].psi)) {
		check_error(
			check, joint->place,
			"joint \"%s\": node \"%s\" of the flexible body \"%s\" is not among its flexible nodes, so the modes "
			"leave it behind, although node \"%s\" at the same place moves; attach to that one, or list \"%s\" with "
			"its shapes",
			joint->name, node->def.name, body->def.name, desc_node(desc, flex->nodes[twin].node)->def.name,
			node->def.name);
	} else {
		check_warning(
			check, joint->place,
			"joint \"%s\": node \"%s\" of the flexible body \"%s\" is not among its flexible nodes, so the modes "
			"do not move it; list it with its shapes (without any, if it really stays)",
			joint->name, node->def.name, body->def.name);
	}
}
