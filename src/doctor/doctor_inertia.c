// SPDX-License-Identifier: Apache-2.0
/*
 * doctor_inertia.c — inertia against that of the body's shapes, filled with its mass.
 *
 * Real bodies are not homogeneous: their inertia differs from that of their shapes by tens of percent. But a slip leaves
 * a trace: undone, the inertia fits the shapes, and by far better than it stands. So each usual slip is undone in turn
 * and the fit before and after compared. What no slip explains is reported only where it is impossible: a radius of gyration
 * beyond the farthest corner of the shapes, or far less inertia than they have.
 */
#include <math.h>

#include "doctor/doctor.h"
#include "math/eigen3.h"

static const double FITS = 0.05;            // relative misfit of a slip undone, in the norm of the matrix
static const double FITS_ROUGHLY = 0.3;     // the same where the misfit before is a factor of units
static const double STANDS = 0.04;          // least misfit before that is worth a word
static const double BETTER = 8;             // misfit before over misfit after
static const double LEAST_SHARE = 1.0 / 50; // of the inertia of the shapes

/* |a - b| / |b| in the norm of Frobenius. */
static double misfit(const CalMat3 *a, const CalMat3 *b) {
	double difference = 0, size = 0;
	for (int i = 0; i < 9; i++) {
		const double x = a->m[i / 3][i % 3], y = b->m[i / 3][i % 3];
		difference += (x - y) * (x - y);
		size += y * y;
	}
	return sqrt(difference / size);
}

static CalMat3 scaled(const CalMat3 *a, double factor) {
	CalMat3 b = *a;
	for (int i = 0; i < 9; i++)
		b.m[i / 3][i % 3] *= factor;
	return b;
}

/* I - m (c.c 1 - c c'): about the center, if I is about the origin. */
static CalMat3 about_center(const CalBodyDef *body) {
	CalMat3 I = body->inertia;
	const double c[3] = {body->com.x, body->com.y, body->com.z}, square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			I.m[i][j] -= body->mass * ((i == j ? square : 0) - c[i] * c[j]);
	return I;
}

static bool is_possible(const CalMat3 *I) {
	double p[3];
	eigen3_values(I, p);
	return p[0] >= 0 && p[2] <= (p[0] + p[1]) * (1 + 1e-6);
}

static CalMat3 negated_products(const CalMat3 *I) {
	CalMat3 n = *I;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			n.m[i][j] = i == j ? I->m[i][j] : -I->m[i][j];
	return n;
}

/* Axis i of the result is axis order[i] of the matrix. */
static CalMat3 permuted(const CalMat3 *I, const int order[3]) {
	CalMat3 p;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			p.m[i][j] = I->m[order[i]][order[j]];
	return p;
}

static bool explains(double before, double after) { return after < FITS && before > STANDS && before > BETTER * after; }

static void matrix_text(char *text, size_t size, const CalMat3 *I) {
	if (inertia_is_diagonal(I))
		finding_text(text, size, "[%.4g, %.4g, %.4g]", I->m[0][0], I->m[1][1], I->m[2][2]);
	else
		finding_text(text, size, "{xx: %.4g, yy: %.4g, zz: %.4g, xy: %.4g, xz: %.4g, yz: %.4g}", I->m[0][0], I->m[1][1],
		             I->m[2][2], I->m[0][1], I->m[0][2], I->m[1][2]);
}

static void evidence_of(const Patient *p, const CalMat3 *expected, double before, double after, Finding *f) {
	char given[160], shape[160];
	matrix_text(given, sizeof given, &p->def->inertia);
	matrix_text(shape, sizeof shape, expected);
	if (before > 5)
		FINDING(f->evidence, "its inertia %s kg m^2 is %.3g times that of its shapes with its mass, %s", given,
		        before + 1, shape);
	else
		FINDING(
			f->evidence,
			"its inertia %s kg m^2 differs by %.3g%% from that of its shapes with its mass, %s; with the slip below "
			"undone, by %.2g%%",
			given, 100 * before, shape, 100 * after);
}

static void report_slip(const Doctor *doctor, Patient *p, Finding *f, CalDiagnosisKind kind, const CalMat3 *undone) {
	f->proposal = *p->def;
	f->proposal.inertia = *undone;
	doctor_report_body(doctor, p, f, kind, true);
	p->diagnosed = true;
}

/* ---- slips, each true if it explains the inertia ----------------------------------------------------------- */

static bool try_sign(const Doctor *doctor, Patient *p, const CalMat3 *expected, double before) {
	Finding f = {0};
	const CalMat3 undone = negated_products(&p->def->inertia);
	const double after = misfit(&undone, expected);
	if (!explains(before, after))
		return false;
	evidence_of(p, expected, before, after, &f);
	FINDING(
		f.cause,
		"its products of inertia have the wrong sign: many CAD programs print +sum m x y, the matrix has -sum m x y");
	FINDING(f.fix, "change the signs of xy, xz and yz");
	report_slip(doctor, p, &f, CAL_DIAGNOSIS_SIGN, &undone);
	return true;
}

static bool try_origin(const Doctor *doctor, Patient *p, const CalMat3 *expected, double before) {
	Finding f = {0};
	const CalMat3 undone = about_center(p->def);
	const double after = misfit(&undone, expected);
	if (!is_possible(&undone) || !(explains(before, after) || (before > 1 && after < FITS_ROUGHLY)))
		return false;
	evidence_of(p, expected, before, after, &f);
	FINDING(f.cause, "it is about the origin of the body frame instead of the center of mass");
	FINDING(f.fix, "subtract m (c.c 1 - c c'), or say mass_node: head in a model file");
	report_slip(doctor, p, &f, CAL_DIAGNOSIS_ORIGIN, &undone);
	return true;
}

static bool try_axes(const Doctor *doctor, Patient *p, const CalMat3 *expected, double before) {
	static const int orders[5][3] = {{1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
	for (int i = 0; i < 5; i++) {
		Finding f = {0};
		const CalMat3 undone = permuted(&p->def->inertia, orders[i]);
		const double after = misfit(&undone, expected);
		if (!explains(before, after))
			continue;
		evidence_of(p, expected, before, after, &f);
		FINDING(
			f.cause,
			"its moments are at the wrong axes: a frame with another axis up, a rotation by a quarter turn that was lost, or a shape that is drawn along the wrong axis");
		FINDING(f.fix, "write about x, y, z what is now about %c, %c, %c", "xyz"[orders[i][0]], "xyz"[orders[i][1]],
		        "xyz"[orders[i][2]]);
		report_slip(doctor, p, &f, CAL_DIAGNOSIS_AXES, &undone);
		return true;
	}
	return false;
}

/* The same principal moments in other axes. */
static bool try_rotation(const Doctor *doctor, Patient *p, const CalMat3 *expected, double before) {
	Finding f = {0};
	double a[3], b[3], square = 0, size = 0;
	eigen3_values(&p->def->inertia, a);
	eigen3_values(expected, b);
	for (int i = 0; i < 3; i++) {
		square += (a[i] - b[i]) * (a[i] - b[i]);
		size += b[i] * b[i];
	}
	const double after = sqrt(square / size);
	if (!explains(before, after))
		return false;
	const bool diagonal = inertia_is_diagonal(&p->def->inertia);
	evidence_of(p, expected, before, after, &f);
	if (diagonal)
		FINDING(f.cause, "its diagonal holds the moments about principal axes, which are not those of the body frame");
	else
		FINDING(f.cause, "a rotation of the inertial frame (<inertial> <origin rpy>, quat) was lost or applied twice");
	FINDING(f.fix, "rotate it into the body frame: R I R'");
	report_slip(doctor, p, &f, diagonal ? CAL_DIAGNOSIS_PRINCIPAL : CAL_DIAGNOSIS_ROTATION, expected);
	return true;
}

static bool try_units(const Doctor *doctor, Patient *p, const CalMat3 *expected) {
	static const struct {
		double factor;
		const char *what;
	} units[] = {{1e6, "kg mm^2"},
	             {1e3, "g m^2"},
	             {1e9, "g mm^2"},
	             {1e4, "kg cm^2"},
	             {1e7, "g cm^2"},
	             {1e-6, "kg m^2 divided by 10^6 once too often"},
	             {1e-3, "t m^2, or divided by 1000 once too often"}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		Finding f = {0};
		const CalMat3 undone = scaled(&p->def->inertia, 1 / units[i].factor);
		const double after = misfit(&undone, expected);
		if (after > FITS_ROUGHLY)
			continue;
		evidence_of(p, expected, misfit(&p->def->inertia, expected), after, &f);
		FINDING(f.cause, "it is in %s", units[i].what);
		FINDING(f.fix, "%s it by %g", units[i].factor > 1 ? "divide" : "multiply",
		        units[i].factor > 1 ? units[i].factor : 1 / units[i].factor);
		report_slip(doctor, p, &f, CAL_DIAGNOSIS_UNIT, &undone);
		return true;
	}
	return false;
}

/* ---- what no slip explains --------------------------------------------------------------------------------- */

static double gyration(const CalBodyDef *body) {
	double moments[3];
	eigen3_values(&body->inertia, moments);
	return sqrt(moments[2] / body->mass);
}

static void propose_shape(const Patient *p, const CalMat3 *expected, Finding *f) {
	f->proposal = *p->def;
	f->proposal.inertia = *expected;
}

/* No mass within the shapes can have a larger radius of gyration than their farthest corner; double that is reported. */
static void examine_large(const Doctor *doctor, Patient *p, const CalMat3 *expected) {
	Finding f = {0};
	const double k = gyration(p->def), reach = box_reach(p->shape.lower, p->shape.upper, p->def->com);
	if (!(k > 2 * reach))
		return;
	FINDING(f.evidence,
	        "its radius of gyration is %.3g m, but the farthest corner of its shapes is %.3g m from its center of mass",
	        k, reach);
	FINDING(f.cause, "the inertia has another unit or belongs to another body, or the mass is too small");
	FINDING(f.fix, expected ? "take the inertia of the shapes, which is proposed, or that of the CAD model"
	                        : "take the inertia of the CAD model");
	if (expected)
		propose_shape(p, expected, &f);
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_LARGE, expected != NULL);
	p->diagnosed = true;
}

static void examine_small(const Doctor *doctor, Patient *p, const CalMat3 *expected) {
	Finding f = {0};
	const double share = inertia_trace(&p->def->inertia) / inertia_trace(expected);
	if (!(share < LEAST_SHARE))
		return;
	FINDING(
		f.evidence,
		"its inertia is %.2g of that of its shapes with its mass (radius of gyration %.3g m, largest side of its shapes %.3g m)",
		share, gyration(p->def), geometry_size(&p->shape));
	FINDING(f.cause, "the inertia is a placeholder, or has another unit");
	FINDING(f.fix, "take the inertia of the shapes, which is proposed, or that of the CAD model");
	propose_shape(p, expected, &f);
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_SMALL, true);
	p->diagnosed = true;
}

/* ---- without a solid: from the nodes of a link ---------------------------------------------------------------- */

/*
 * About its origin, a slender link between two joints has a radius of gyration beyond both of them; about its center it has
 * half of that. Only where the parallel-axis term is most of the inertia, and the rest is possible.
 */
static void examine_nodes(const Doctor *doctor, Patient *p) {
	Finding f = {0};
	const Geometry *g = &p->shape;
	const CalVec3 low = g->has_box ? g->lower : g->low_node, high = g->has_box ? g->upper : g->high_node;
	const double reach = box_reach(low, high, p->def->com), k = gyration(p->def);
	CalBodyDef undone = *p->def;
	undone.inertia = about_center(p->def);
	if (!(reach > 0) || !is_possible(&undone.inertia) || !(k > 1.1 * reach))
		return;
	const double after = gyration(&undone);
	if (!(after < 0.8 * reach) || after * after > 0.4 * k * k)
		return;
	FINDING(
		f.evidence,
		"its radius of gyration is %.3g m, but all its nodes are within %.3g m of its center of mass; with the parallel-axis "
		"term m (c.c 1 - c c') subtracted it is %.3g m",
		k, reach, after);
	FINDING(f.cause, "it is about the origin of the body frame instead of the center of mass");
	FINDING(f.fix, "subtract m (c.c 1 - c c'), or say mass_node: head in a model file");
	report_slip(doctor, p, &f, CAL_DIAGNOSIS_ORIGIN, &undone.inertia);
}

/* ---- a center of mass that was left at zero ------------------------------------------------------------------ */

/* The inertia is that of the shapes about their own center, and the center of mass is exactly zero, well away from there. */
static void examine_zero_center(const Doctor *doctor, Patient *p, double misfit_of_inertia, double off) {
	const CalVec3 c = p->def->com, s = p->shape.solid.com;
	if (c.x != 0 || c.y != 0 || c.z != 0 || !(misfit_of_inertia < FITS) || !(off > 0.2 * geometry_size(&p->shape)))
		return;
	Finding f = {.proposal = *p->def};
	FINDING(
		f.evidence,
		"its inertia differs by %.2g%% from that of its shapes about their center (%.4g, %.4g, %.4g) m, but its center of "
		"mass is the origin of the body frame",
		100 * misfit_of_inertia, s.x, s.y, s.z);
	FINDING(f.cause, "the center of mass was not written");
	FINDING(f.fix, "take the center of the shapes, which is proposed, or that of the CAD model");
	f.proposal.com = s;
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_CENTER, true);
	p->diagnosed = true;
}

/* ---- all bodies ------------------------------------------------------------------------------------------------ */

/* Slips that leave an inertia of the right size are known only if the center of mass is about that of the shapes. */
static void examine_solid(const Doctor *doctor, Patient *p) {
	const Geometry *g = &p->shape;
	const CalMat3 expected = scaled(&g->solid.inertia, p->def->mass / g->solid.mass);
	const double before = misfit(&p->def->inertia, &expected);
	const double off = box_reach(p->def->com, p->def->com, g->solid.com);
	if (off < 0.1 * geometry_size(g) &&
	    (try_axes(doctor, p, &expected, before) || try_sign(doctor, p, &expected, before) ||
	     try_origin(doctor, p, &expected, before) || try_rotation(doctor, p, &expected, before)))
		return;
	if (try_units(doctor, p, &expected))
		return;
	examine_zero_center(doctor, p, before, off);
	if (p->diagnosed)
		return;
	examine_large(doctor, p, &expected);
	if (!p->diagnosed)
		examine_small(doctor, p, &expected);
}

void doctor_examine_inertia(Doctor *doctor) {
	for (int i = 0; i < doctor->count; i++) {
		Patient *p = &doctor->bodies[i];
		if (p->flexible || p->checked || p->diagnosed || !(p->def->mass > 0) || !(inertia_trace(&p->def->inertia) > 0))
			continue;
		if (p->shape.has_solid)
			examine_solid(doctor, p);
		else if (p->shape.has_box)
			examine_large(doctor, p, NULL);
		if (!p->diagnosed)
			examine_nodes(doctor, p);
	}
}
