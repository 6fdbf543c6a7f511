// SPDX-License-Identifier: Apache-2.0
/*
 * doctor_pairs.c — bodies against each other: placeholders, inertias that were copied, left and right that do not mirror.
 *
 * A matrix with products of the wrong sign is as possible as the right one: only the mirror image shows it. Frames of left
 * and right differ by mirrors and half turns about their axes, S = diag(+-1, +-1, +-1): center S c and inertia S I S. Where
 * numbers agree but for signs and no S explains both, a sign is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "doctor/doctor.h"

static bool is_candidate(const Patient *p) {
	return !p->flexible && !p->checked && !p->diagnosed && p->def->mass > 0 && inertia_trace(&p->def->inertia) > 0;
}

/* ---- placeholders -------------------------------------------------------------------------------------------- */

/* 1, 0.1, 0.01 ...: the same power of ten on all three axes. */
static bool is_round(const CalMat3 *I) {
	const double x = I->m[0][0];
	if (!inertia_is_diagonal(I) || I->m[1][1] != x || I->m[2][2] != x)
		return false;
	for (int e = -12; e <= 1; e++) {
		char text[16];
		snprintf(text, sizeof text, "1e%d", e);
		if (strtod(text, NULL) == x)
			return true;
	}
	return false;
}

/* A radius of gyration that does not fit the size of the body by a factor of 5 either way. */
static bool is_misfit(const Patient *p, double *gyration, double *size) {
	*gyration = sqrt(inertia_trace(&p->def->inertia) / 3 / p->def->mass);
	*size = fmax(geometry_size(&p->shape), 2 * box_reach(p->def->com, p->def->com, (CalVec3){0, 0, 0}));
	return *size > 0 && (*gyration > 2 * *size || *gyration < *size / 25);
}

static void examine_placeholder(const Doctor *doctor, Patient *p) {
	Finding f = {.proposal = *p->def};
	double gyration, size;
	if (!is_round(&p->def->inertia) || !is_misfit(p, &gyration, &size))
		return;
	FINDING(
		f.evidence,
		"its inertia is %g kg m^2 about all three axes: with %.4g kg a radius of gyration of %.3g m, for a body of %.3g m",
		p->def->inertia.m[0][0], p->def->mass, gyration, size);
	FINDING(f.cause, "a placeholder that was never replaced");
	FINDING(f.fix, "take the inertia of the CAD model, or of a shape with this mass");
	const double factor = p->shape.has_solid ? p->def->mass / p->shape.solid.mass : 0;
	for (int i = 0; i < 9; i++)
		f.proposal.inertia.m[i / 3][i % 3] = factor * p->shape.solid.inertia.m[i / 3][i % 3];
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_PLACEHOLDER, p->shape.has_solid);
	p->diagnosed = true;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static int order_of(const CalMat3 *a, const CalMat3 *b) {
	int order = 0;
	for (int i = 0; i < 9 && order == 0; i++)
		order = (a->m[i / 3][i % 3] > b->m[i / 3][i % 3]) - (a->m[i / 3][i % 3] < b->m[i / 3][i % 3]);
	return order;
}

static int compare_inertias(const void *left, const void *right) {
	const Patient *a = *(Patient *const *)left, *b = *(Patient *const *)right;
	const int order = order_of(&a->def->inertia, &b->def->inertia);
	return order ? order : (a->id.value > b->id.value) - (a->id.value < b->id.value);
}

/* The same numbers on a body of other mass or size cannot be right for both. */
static bool differs(const Patient *a, const Patient *b, const char **what) {
	const double mass = a->def->mass / b->def->mass, size = geometry_size(&a->shape) / geometry_size(&b->shape);
	const bool sized = a->shape.has_box && b->shape.has_box && isfinite(size);
	*what = mass > 1.2 || mass < 1 / 1.2 ? "mass" : "size";
	return mass > 1.2 || mass < 1 / 1.2 || (sized && (size > 1.2 || size < 1 / 1.2));
}

static void report_copy(const Doctor *doctor, Patient *first, Patient *p, const char *what) {
	Finding f = {0};
	const double a = strcmp(what, "mass") == 0 ? first->def->mass : geometry_size(&first->shape);
	const double b = strcmp(what, "mass") == 0 ? p->def->mass : geometry_size(&p->shape);
	FINDING(f.evidence,
	        "its inertia is that of body \"%.100s\", digit by digit, but their %s differs: %.4g and %.4g %s",
	        first->def->name, what, b, a, strcmp(what, "mass") == 0 ? "kg" : "m");
	FINDING(f.cause, "the inertia was copied from one body to the other");
	FINDING(f.fix, "give each body its own inertia");
	doctor_report_body(doctor, p, &f, CAL_DIAGNOSIS_COPIED, false);
	p->diagnosed = true;
}

static void examine_copies(Doctor *doctor) {
	Patient **list = memory_alloc(&doctor->allocator, (size_t)doctor->count * sizeof(Patient *));
	int count = 0;
	for (int i = 0; list && i < doctor->count; i++)
		if (is_candidate(&doctor->bodies[i]))
			list[count++] = &doctor->bodies[i];
	if (count > 1)
		qsort(list, (size_t)count, sizeof *list, compare_inertias);
	for (int i = 1, first = 0; i < count; i++) {
		const char *what;
		if (order_of(&list[i]->def->inertia, &list[first]->def->inertia) != 0)
			first = i;
		else if (differs(list[i], list[first], &what))
			report_copy(doctor, list[first], list[i], what);
	}
	memory_free(&doctor->allocator, list);
}

/* ---- left and right ---------------------------------------------------------------------------------------------- */

static bool near(double a, double b, double size) { return fabs(a - b) <= 1e-3 * size; }

/* c' = S c for these signs, numbers near zero having any. */
static bool center_agrees(CalVec3 a, CalVec3 b, const int s[3]) {
	const double size = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
	return near(b.x, s[0] * a.x, size) && near(b.y, s[1] * a.y, size) && near(b.z, s[2] * a.z, size);
}

static bool inertia_agrees(const CalMat3 *a, const CalMat3 *b, const int s[3]) {
	const double size = inertia_trace(a);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (!near(b->m[i][j], s[i] * s[j] * a->m[i][j], size))
				return false;
	return true;
}

/* The same numbers but for signs of products; some product is not negligible. */
static bool same_but_for_signs(const CalMat3 *a, const CalMat3 *b) {
	const double size = inertia_trace(a);
	double most = 0;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			if (!near(fabs(a->m[i][j]), fabs(b->m[i][j]), size))
				return false;
			most = i == j ? most : fmax(most, fabs(a->m[i][j]));
		}
	return most > 4e-3 * size;
}

/* Signs that explain the centers, and whether some of them explain the inertias too. */
static bool is_mirror_image(const CalBodyDef *a, const CalBodyDef *b, bool *centers) {
	*centers = false;
	for (int k = 0; k < 8; k++) {
		const int s[3] = {k & 1 ? -1 : 1, k & 2 ? -1 : 1, k & 4 ? -1 : 1};
		if (!center_agrees(a->com, b->com, s))
			continue;
		*centers = true;
		if (inertia_agrees(&a->inertia, &b->inertia, s))
			return true;
	}
	return false;
}

static void examine_pair(const Doctor *doctor, Patient *left, Patient *right) {
	bool centers;
	const CalBodyDef *a = left->def, *b = right->def;
	if (!near(a->mass, b->mass, a->mass) || !same_but_for_signs(&a->inertia, &b->inertia) ||
	    is_mirror_image(a, b, &centers) || !centers)
		return;
	Finding f = {0};
	FINDING(
		f.evidence,
		"its products of inertia (xy %.3g, xz %.3g, yz %.3g) and those of body \"%.80s\" (%.3g, %.3g, %.3g) are equal but for "
		"signs, and do not mirror as their centers of mass do",
		b->inertia.m[0][1], b->inertia.m[0][2], b->inertia.m[1][2], a->name, a->inertia.m[0][1], a->inertia.m[0][2],
		a->inertia.m[1][2]);
	FINDING(f.cause, "a sign was lost when one was made from the other, or CAD printed +sum m x y for one of them");
	FINDING(f.fix, "mirrored in y, xy and yz change their signs and xz does not; correct one of the two");
	doctor_report_body(doctor, right, &f, CAL_DIAGNOSIS_MIRROR, false);
	right->diagnosed = true;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The body that is named alike, with the word at `at` in place of another. */
static Patient *find_partner(const Doctor *doctor, const char *name, size_t at, size_t length, const char *word) {
	char other[256];
	if (strlen(name) + strlen(word) >= sizeof other)
		return NULL;
	finding_text(other, sizeof other, "%.*s%s%s", (int)at, name, word, name + at + length);
	const CalBodyId id = cal_desc_find_body(doctor->desc, other);
	return id.value ? &doctor->bodies[id.value - 1] : NULL;
}

static Patient *find_right(const Doctor *doctor, const char *name) {
	static const char *const words[][2] = {{"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}};
	static const char *const tokens[][2] = {{"l", "r"},   {"L", "R"},   {"FL", "FR"}, {"fl", "fr"}, {"RL", "RR"},
	                                        {"rl", "rr"}, {"HL", "HR"}, {"hl", "hr"}, {"BL", "BR"}, {"bl", "br"},
	                                        {"LF", "RF"}, {"lf", "rf"}, {"LH", "RH"}, {"lh", "rh"}};
	Patient *found = NULL;
	for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++) {
		const char *at = strstr(name, words[i][0]);
		found = at ? find_partner(doctor, name, (size_t)(at - name), strlen(words[i][0]), words[i][1]) : NULL;
	}
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens && !found; i++) {
		const size_t length = strlen(tokens[i][0]);
		for (const char *at = strstr(name, tokens[i][0]); at && !found; at = strstr(at + 1, tokens[i][0]))
			if ((at == name || !is_letter(at[-1])) && !is_letter(at[length]))
				found = find_partner(doctor, name, (size_t)(at - name), length, tokens[i][1]);
	}
	return found;
}

void doctor_examine_pairs(Doctor *doctor) {
	for (int i = 0; i < doctor->count; i++)
		if (is_candidate(&doctor->bodies[i]))
			examine_placeholder(doctor, &doctor->bodies[i]);
	examine_copies(doctor);
	for (int i = 0; i < doctor->count; i++) {
		Patient *left = &doctor->bodies[i], *right = is_candidate(left) ? find_right(doctor, left->def->name) : NULL;
		if (right && right != left && is_candidate(right))
			examine_pair(doctor, left, right);
	}
}
