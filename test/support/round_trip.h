// SPDX-License-Identifier: Apache-2.0
/*
 * round_trip.h — a setup written in another format and read again: is it the same mechanism?
 *
 * Bodies are found by name. A joint may come back as a chain over massless bodies, which the first model has not: the
 * coordinates of a body are then those of the chain up to the next body that both have. Mass matrix, bias forces and forward
 * accelerations under random forces are compared at random states, on the constraints where there are loops.
 */
#ifndef TEST_SUPPORT_ROUND_TRIP_H
#define TEST_SUPPORT_ROUND_TRIP_H

#define ROUND_TRIP_STATES 4

#include <stdbool.h>

#include <calder/loops.h>

#include "support/rng.h"
#include "support/robot.h"

/** What was written; text and report are the caller's. */
typedef struct Written {
	CalStatus status;
	CalError error;
	char *text;
	size_t length;
	CalExportReport *report;
} Written;

static inline Written write_setup(const CalSetup *setup, CalFormat format, int partial) {
	Written w = {0};
	FILE *out = open_memstream(&w.text, &w.length);
	assert_non_null(out);
	w.status = cal_model_write(setup, format, &(CalWriteOptions){.partial = partial}, out, NULL, &w.report, &w.error);
	fclose(out);
	return w;
}

static inline void written_free(Written *w) {
	cal_export_report_destroy(w->report);
	free(w->text);
}

static inline int written_count(const Written *w, CalImportKind kind) {
	CalExportNote note;
	int count = 0;
	for (int i = 0; cal_export_note(w->report, i, &note) == CAL_OK; i++)
		count += note.kind == kind;
	return count;
}

/** A line of that kind whose element and text hold what is given. */
static inline void written_expect_note(const Written *w, CalImportKind kind, const char *element, const char *said) {
	CalExportNote note;
	for (int i = 0; cal_export_note(w->report, i, &note) == CAL_OK; i++)
		if (note.kind == kind && strstr(note.element, element) && strstr(note.text, said))
			return;
	for (int i = 0; cal_export_note(w->report, i, &note) == CAL_OK; i++)
		print_message("%s: %s: %s\n", cal_import_name(note.kind), note.element, note.text);
	fail_msg("no note \"%s\" on %s", said, element);
}

/** What was written, read again; partial: as a partial model. */
static inline CalSetup *read_again(const Written *w, int partial) {
	CalSetup *again = NULL;
	CalError error = {0};
	if (w->status != CAL_OK)
		fail_msg("%s", w->error.text);
	if (cal_model_parse(w->text, w->length, "again.xml", &(CalReadOptions){.partial = partial}, NULL, &again, &error) !=
	    CAL_OK)
		fail_msg("%s\n%s", error.text, w->text);
	return again;
}

/* ---- two models ------------------------------------------------------------------------------------------ */

typedef struct Pair {
	const char *name;
	CalModel *a, *b;
	CalState sa, sb;
	CalWork *wa, *wb;
	int *q_of, *u_of; // from a to b
	double *zero;     // coordinates of a where those of b are zero
	double worst[3];  // mass matrix, bias forces, accelerations
} Pair;

static inline int body_named(const CalModel *model, const char *name) {
	CalBodyInfo info;
	for (int i = 0; cal_model_body(model, i, &info) == CAL_OK; i++)
		if (strcmp(info.name, name) == 0)
			return i;
	return -1;
}

/* Coordinates of the chain that ends at body `at` of b, its first ones last; where to continue: q and u of a. */
static inline void match_chain(Pair *p, int at, int q, int u, int nq, int nu) {
	CalBodyInfo info;
	if (at < 0 || (nq == 0 && nu == 0))
		return;
	assert_int_equal(cal_model_body(p->b, at, &info), CAL_OK);
	if (info.nq > nq || info.nu > nu)
		fail_msg("%s: body %s has too many coordinates", p->name, info.name);
	for (int i = 0; i < info.nq; i++)
		p->q_of[q + nq - info.nq + i] = info.q + i;
	for (int i = 0; i < info.nu; i++)
		p->u_of[u + nu - info.nu + i] = info.u + i;
	match_chain(p, info.parent, q, u, nq - info.nq, nu - info.nu);
}

static inline void match_bodies(Pair *p) {
	CalBodyInfo info;
	for (int i = 0; cal_model_body(p->a, i, &info) == CAL_OK; i++) {
		const int at = body_named(p->b, info.name);
		if (at < 0 && info.nu)
			fail_msg("%s: body %s is gone", p->name, info.name);
		match_chain(p, at, info.q, info.u, info.nq, info.nu);
	}
}

static inline Pair pair_open(const char *name, const CalSetup *a, const CalSetup *b) {
	Pair p = {.name = name, .a = model_of(a, NULL), .b = model_of(b, NULL)};
	const int nq = cal_model_q_count(p.a), nu = cal_model_u_count(p.a);
	if (cal_model_q_count(p.b) != nq || cal_model_u_count(p.b) != nu)
		fail_msg("%s: %d coordinates came back as %d", name, nq, cal_model_q_count(p.b));
	assert_int_equal(cal_state_create(p.a, &p.sa), CAL_OK);
	assert_int_equal(cal_state_create(p.b, &p.sb), CAL_OK);
	assert_int_equal(cal_work_create(p.a, &p.wa), CAL_OK);
	assert_int_equal(cal_work_create(p.b, &p.wb), CAL_OK);
	p.q_of = calloc((size_t)nq + 1, sizeof *p.q_of);
	p.u_of = calloc((size_t)nu + 1, sizeof *p.u_of);
	p.zero = calloc((size_t)nq + 1, sizeof *p.zero);
	assert_true(p.q_of && p.u_of && p.zero);
	match_bodies(&p);
	return p;
}

static inline void pair_close(Pair *p) {
	cal_work_destroy(p->wa);
	cal_work_destroy(p->wb);
	cal_state_destroy(&p->sa);
	cal_state_destroy(&p->sb);
	cal_model_destroy(p->a);
	cal_model_destroy(p->b);
	free(p->q_of);
	free(p->u_of);
	free(p->zero);
}

static inline void compare_values(Pair *p, int which, const double *a, const double *b, int count, const int *index) {
	double most = 0, scale = 0;
	for (int i = 0; i < count; i++) {
		const double d = fabs(a[i] - b[index[i]]);
		most = d >= most || isnan(d) ? d : most;
		scale = fmax(scale, fabs(a[i]));
	}
	const double error = most == 0 ? 0 : scale > 0 ? most / scale : INFINITY;
	p->worst[which] = error > p->worst[which] || isnan(error) ? error : p->worst[which];
}

static inline void compare_masses(Pair *p, int nu) {
	const size_t size = (size_t)nu * (size_t)nu + 1;
	double *A = calloc(size, sizeof *A), *B = calloc(size, sizeof *B);
	int *index = calloc(size, sizeof *index);
	assert_true(A && B && index);
	assert_int_equal(cal_mass_matrix(p->a, &p->sa, p->wa, A), CAL_OK);
	assert_int_equal(cal_mass_matrix(p->b, &p->sb, p->wb, B), CAL_OK);
	for (int i = 0; i < nu; i++)
		for (int k = 0; k < nu; k++)
			index[i * nu + k] = p->u_of[i] * nu + p->u_of[k];
	compare_values(p, 0, A, B, nu * nu, index);
	free(A);
	free(B);
	free(index);
}

static inline void compare_motion(Pair *p, Rng *rng, int nu) {
	double *v = calloc(4 * (size_t)nu + 4, sizeof *v), *a = v, *b = v + nu, *fa = v + 2 * nu, *fb = v + 3 * nu;
	assert_non_null(v);
	assert_int_equal(cal_bias_forces(p->a, &p->sa, p->wa, a), CAL_OK);
	assert_int_equal(cal_bias_forces(p->b, &p->sb, p->wb, b), CAL_OK);
	compare_values(p, 1, a, b, nu, p->u_of);
	rng_fill(rng, 1, nu, fa);
	for (int i = 0; i < nu; i++)
		fb[p->u_of[i]] = fa[i];
	const CalStatus sa = cal_forward_dynamics(p->a, &p->sa, &(CalInput){.tau = fa}, p->wa, a);
	const CalStatus sb = cal_forward_dynamics(p->b, &p->sb, &(CalInput){.tau = fb}, p->wb, b);
	if (sa != sb)
		fail_msg("%s: forward dynamics: %s, then %s", p->name, cal_status_text(sa), cal_status_text(sb));
	if (sa == CAL_OK)
		compare_values(p, 2, a, b, nu, p->u_of);
	free(v);
}

/* A random state near that of the setup; false: its loops cannot be closed from there. */
static inline bool draw_state(Pair *p, const CalSetup *a, Rng *rng, double size) {
	const int nq = cal_model_q_count(p->a), nu = cal_model_u_count(p->a);
	double *dq = calloc((size_t)nu + 1, sizeof *dq), *q = calloc((size_t)nq + 1, sizeof *q);
	CalError error = {0};
	assert_true(dq && q);
	cal_config_neutral(p->a, p->sa.q);
	if (cal_setup_apply_state(a, p->a, &p->sa, &error) != CAL_OK)
		fail_msg("%s", error.text);
	rng_fill(rng, size, nu, dq);
	cal_config_integrate(p->a, p->sa.q, dq, q);
	memcpy(p->sa.q, q, (size_t)nq * sizeof *q);
	rng_fill(rng, 1, nu, p->sa.u);
	free(dq);
	free(q);
	return cal_model_loop_count(p->a) == 0 || cal_loop_project(p->a, &p->sa, NULL, p->wa, NULL) == CAL_OK;
}

/* The same for both, on the constraints. */
static inline void choose_state(Pair *p, const CalSetup *a, Rng *rng, double size) {
	enum { TRIES = 12 };
	int tries = 0;
	while (!draw_state(p, a, rng, size) && ++tries < TRIES)
		size /= 2;
	if (tries == TRIES)
		fail_msg("%s: no closed state was found", p->name);
	for (int i = 0; i < cal_model_q_count(p->a); i++)
		p->sb.q[p->q_of[i]] = p->sa.q[i] - p->zero[i];
	for (int i = 0; i < cal_model_u_count(p->a); i++)
		p->sb.u[p->u_of[i]] = p->sa.u[i];
}

/* The initial state of a with its loops closed is the zero of b, but of coordinates of free and ball joints. */
static inline void move_zero(Pair *p, const CalSetup *a) {
	CalBodyInfo info;
	CalError error = {0};
	cal_config_neutral(p->a, p->sa.q);
	assert_int_equal(cal_setup_apply_state(a, p->a, &p->sa, &error), CAL_OK);
	assert_int_equal(cal_loop_project(p->a, &p->sa, NULL, p->wa, NULL), CAL_OK);
	for (int i = 0; cal_model_body(p->a, i, &info) == CAL_OK; i++)
		for (int k = 0; k < info.nq && info.nq == info.nu; k++)
			p->zero[info.q + k] = p->sa.q[info.q + k];
}

/** Largest differences, of the largest value, of mass matrix, bias forces and accelerations over some states. size: how far
 * these are from the initial one. moved: the zero of coordinates of b is the initial state of a. */
static inline void compare_dynamics(const char *name, const CalSetup *a, const CalSetup *b, double size, bool moved,
                                    double worst[3]) {
	Pair p = pair_open(name, a, b);
	if (moved)
		move_zero(&p, a);
	const int nu = cal_model_u_count(p.a);
	for (int i = 0; i < ROUND_TRIP_STATES; i++) {
		Rng rng = rng_make(test_seed() + (uint64_t)i);
		choose_state(&p, a, &rng, size);
		compare_masses(&p, nu);
		compare_motion(&p, &rng, nu);
	}
	memcpy(worst, p.worst, sizeof p.worst);
	pair_close(&p);
}

/** Both setups move alike: all values agree to `bound` of the largest. */
static inline void expect_same_dynamics_from(const char *name, const CalSetup *a, const CalSetup *b, double size,
                                             double bound, bool moved) {
	double worst[3];
	compare_dynamics(name, a, b, size, moved, worst);
	print_message("%-60s M %.1e bias %.1e qacc %.1e\n", name, worst[0], worst[1], worst[2]);
	for (int i = 0; i < 3; i++)
		if (!(worst[i] <= bound))
			fail_msg("%s: M %.3g bias %.3g qacc %.3g", name, worst[0], worst[1], worst[2]);
}

static inline void expect_same_dynamics(const char *name, const CalSetup *a, const CalSetup *b, double size,
                                        double bound) {
	expect_same_dynamics_from(name, a, b, size, bound, false);
}

#endif
