// SPDX-License-Identifier: Apache-2.0
/*
 * doctor_mass.c — masses: against the volume of the shapes, where their center is, and ratios along the tree.
 *
 * Densities of matter span 1 (foams) to 22 590 kg/m^3 (osmium). A slip of units is a factor of 1000 in mass (g for kg) or of
 * 10^9 in volume (mm for m), so that limits well outside of that span find it and leave hollow and decorated bodies alone.
 * Within the span, a body that is 300 times as dense as the middle one of its model is questioned if 1000 brings it back.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "doctor/doctor.h"

static const double DENSEST = 1e5, LIGHTEST = 0.1; // [kg/m^3]
static const double ODD = 300;                     // times the median of the model
static const double CARRIES_MOST = 1e6;            // mass carried over own mass

static bool has_density(const Patient *p) { return p->shape.has_solid && !p->flexible && p->def->mass > 0; }
static double density_of(const Patient *p) { return p->def->mass / p->shape.solid.mass; }
static bool is_matter(double density) { return density >= 20 && density <= 23000; }

/* ---- density ----------------------------------------------------------------------------------------- */

static void propose_mass(const Patient *p, double factor, Finding *f) {
	f->proposal = *p->def;
	f->proposal.mass *= factor;
	for (int i = 0; i < 9; i++)
		f->proposal.inertia.m[i / 3][i % 3] *= factor;
}

/* The slip that brings the density back among those of matter. */
static bool explain_density(const Patient *p, double density, Finding *f) {
	if (is_matter(density / 1000) || is_matter(density * 1000)) {
		const bool heavy = is_matter(density / 1000);
		FINDING(f->cause, "the mass is in %s", heavy ? "grams" : "tonnes");
		FINDING(f->fix, "write %.6g kg, and check that the inertia has the same unit",
		        p->def->mass * (heavy ? 1e-3 : 1e3));
		propose_mass(p, heavy ? 1e-3 : 1e3, f);
		return true;
	}
	if (is_matter(density * 1e9) || is_matter(density / 1e9)) {
		const bool large = is_matter(density * 1e9);
		FINDING(f->cause, "the shapes are in %s", large ? "millimeters" : "kilometers, or scaled by 0.001 twice");
		FINDING(f->fix, "scale the shapes by %g", large ? 1e-3 : 1e3);
		return false;
	}
	FINDING(f->cause, "the mass is wrong, or the shapes are not those of the body");
	FINDING(f->fix, "weigh the part, or compute its mass from its volume");
	return false;
}

static void report_density(const Doctor *doctor, Patient *p, double density, double median) {
	Finding f = {0};
	const bool heavy = density > DENSEST || density > median;
	FINDING(f.evidence, "%.4g kg in shapes of %.3g m^3 are %.3g kg/m^3: %s (%.3g kg/m^3)", p->def->mass,
	        p->shape.solid.mass, density,
	        density > DENSEST    ? "denser than osmium"
	        : density < LIGHTEST ? "lighter than air"
	        : heavy              ? "far denser than the middle body of the model"
	                             : "far lighter than the middle body of the model",
	        density > DENSEST    ? 22590
	        : density < LIGHTEST ? 1.2
	                             : median);
	const bool proposal = explain_density(p, density, &f);
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_DENSITY, proposal);
	p->diagnosed = true;
}

static int compare_numbers(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of bodies with shapes; 0 for less than four of them. */
static double median_density(const Doctor *doctor) {
	double *list = memory_alloc(&doctor->allocator, (size_t)doctor->count * sizeof *list), median = 0;
	int count = 0;
	for (int i = 0; list && i < doctor->count; i++)
		if (has_density(&doctor->bodies[i]))
			list[count++] = density_of(&doctor->bodies[i]);
	if (count >= 4) {
		qsort(list, (size_t)count, sizeof *list, compare_numbers);
		median = list[count / 2];
	}
	memory_free(&doctor->allocator, list);
	return median;
}

/* Of a robot whose meshes are not at hand, only its feet may be left: what fits a box about all shapes and nodes is right. */
static bool fits_box(const Patient *p) {
	const Geometry *g = &p->shape;
	const double x = fmax(g->upper.x, g->high_node.x) - fmin(g->lower.x, g->low_node.x),
				 y = fmax(g->upper.y, g->high_node.y) - fmin(g->lower.y, g->low_node.y),
				 z = fmax(g->upper.z, g->high_node.z) - fmin(g->lower.z, g->low_node.z);
	return p->def->mass < DENSEST * x * y * z;
}

static void examine_density(const Doctor *doctor, Patient *p, double median) {
	const double density = density_of(p), ratio = median > 0 ? density / median : 1;
	const bool odd = (ratio > ODD || ratio < 1 / ODD) && is_matter(median) &&
	                 (is_matter(density / 1000) || is_matter(density * 1000)) && !is_matter(density);
	if ((density > DENSEST && !fits_box(p)) || density < LIGHTEST || odd)
		report_density(doctor, p, density, median);
}

/* ---- center of mass ------------------------------------------------------------------------------------ */

static double outside(double low, double high, double x) { return fmax(0, fmax(low - x, x - high)); }

/* Some shapes of the body may be missing: a center among its nodes is no finding, but for one that is zero. */
static bool is_among_nodes(const Patient *p) {
	const CalVec3 c = p->def->com, a = p->shape.low_node, b = p->shape.high_node;
	const bool zero = c.x == 0 && c.y == 0 && c.z == 0;
	const double size = fmax(b.x - a.x, fmax(b.y - a.y, b.z - a.z));
	return !zero && outside(a.x, b.x, c.x) + outside(a.y, b.y, c.y) + outside(a.z, b.z, c.z) < size;
}

static void examine_center(const Doctor *doctor, Patient *p) {
	const Geometry *g = &p->shape;
	const CalVec3 c = p->def->com;
	const double size = geometry_size(g);
	const double x = outside(g->lower.x, g->upper.x, c.x), y = outside(g->lower.y, g->upper.y, c.y),
				 z = outside(g->lower.z, g->upper.z, c.z), distance = sqrt(x * x + y * y + z * z);
	if (!(distance > 2 * size) || is_among_nodes(p))
		return;
	Finding f = {.proposal = *p->def};
	const double reach = sqrt(c.x * c.x + c.y * c.y + c.z * c.z);
	FINDING(f.evidence,
	        "its center of mass (%.4g, %.4g, %.4g) m is %.3g m outside of its shapes, whose largest side is %.3g m",
	        c.x, c.y, c.z, distance, size);
	f.proposal.com = (CalVec3){c.x / 1000, c.y / 1000, c.z / 1000};
	const bool mm = box_reach(g->lower, g->upper, f.proposal.com) < 3 * size && reach > 20 * size;
	const bool zero = reach == 0;
	FINDING(
		f.cause, "%s",
		mm ? "the center of mass is in millimeters"
		: zero
			? "the center of mass was left at the origin of the body frame, or the shapes are in the axes of the assembly"
			: "center of mass and shapes are in different frames");
	FINDING(f.fix, "%s", mm ? "divide its coordinates by 1000" : "give it in the body frame, as the shapes are");
	if (!mm && g->has_solid)
		f.proposal.com = g->solid.com;
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_CENTER, mm || (zero && g->has_solid));
	p->diagnosed = true;
}

/* ---- ratios ------------------------------------------------------------------------------------ */

static bool joint_is_movable(const CalJointDef *joint) {
	const int dof = joint ? cal_joint_speed_count(joint) : 0;
	int free_dof = 0;
	for (int i = 0; i < dof; i++)
		free_dof += !joint->dof[i].prescribed && joint->dof[i].rotor_inertia == 0;
	return free_dof > 0;
}

static void examine_ratio(const Doctor *doctor, Patient *p) {
	Finding f = {0};
	FINDING(f.evidence, "it weighs %.3g kg and carries %.3g kg, %.2g times as much", p->def->mass, p->carried,
	        p->carried / p->def->mass);
	FINDING(f.cause, "its mass is a placeholder, or in another unit than the others");
	FINDING(f.fix, "give its mass, or weld it to the body before it");
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_RATIO, false);
}

void doctor_examine_mass(Doctor *doctor) {
	const double median = median_density(doctor);
	for (int i = 0; i < doctor->count; i++) {
		Patient *p = &doctor->bodies[i];
		const CalJointDef *joint = cal_desc_joint(doctor->desc, p->joint, NULL, NULL);
		if (has_density(p))
			examine_density(doctor, p, median);
		if (p->shape.has_box && p->def->mass > 0 && !p->flexible && !p->checked && !p->diagnosed)
			examine_center(doctor, p);
		if (p->flexible || !joint || !joint_is_movable(joint))
			continue;
		if (p->def->mass > 0 && p->carried > CARRIES_MOST * p->def->mass)
			examine_ratio(doctor, p);
	}
}
