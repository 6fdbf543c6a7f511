// SPDX-License-Identifier: Apache-2.0
/*
 * fe_support.h — fixtures of the tests of finite element import: paths, temporary copies, mass matrices of a body.
 */
#ifndef TEST_SUPPORT_FE_SUPPORT_H
#define TEST_SUPPORT_FE_SUPPORT_H

#define _POSIX_C_SOURCE 200809L // mkdtemp

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <calder/fe.h>
#include <calder/flex.h>

#include "support/check.h"

#define FIXTURE(name) TEST_DATA_DIR "/fe/" name

#ifdef CALDER_WITH_YAML
#define NEEDS_LIBYAML() ((void)0)
#else
#define NEEDS_LIBYAML() skip()
#endif

static char temp_folder[64];

static inline void temp_remove(void) {
	char path[512];
	DIR *dir = opendir(temp_folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		snprintf(path, sizeof path, "%s/%s", temp_folder, entry->d_name);
		unlink(path); // not "." and ".."
	}
	if (dir)
		closedir(dir);
	rmdir(temp_folder);
}

/** A folder of its own for the files of a test; it goes with the program. */
static inline const char *temp_dir(void) {
	if (!temp_folder[0]) {
		snprintf(temp_folder, sizeof temp_folder, "fe_test_XXXXXX");
		if (!mkdtemp(temp_folder))
			fail_msg("no temporary folder");
		atexit(temp_remove);
	}
	return temp_folder;
}

static inline const char *temp_path(const char *name) {
	static char path[4][256];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", temp_dir(), name);
	return path[next];
}

static inline char *text_of(const char *path) {
	FILE *in = fopen(path, "rb");
	if (!in)
		fail_msg("%s cannot be opened", path);
	char *text = calloc(1, 1 << 22);
	assert_non_null(text);
	const size_t got = fread(text, 1, (1 << 22) - 1, in);
	assert_true(got > 0);
	fclose(in);
	return text;
}

static inline const char *write_text(const char *name, const char *text) {
	const char *path = temp_path(name);
	FILE *out = fopen(path, "wb");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	return path;
}

/** A copy of a fixture in which the first `from` has become `to`; `from` must be there (NULL: plain copy). */
static inline const char *changed_copy(const char *fixture, const char *name, const char *from, const char *to) {
	char *text = text_of(fixture);
	char *made = calloc(1, strlen(text) + (to ? strlen(to) : 0) + 1);
	assert_non_null(made);
	char *at = from ? strstr(text, from) : NULL;
	if (from && !at)
		fail_msg("%s has no \"%s\"", fixture, from);
	if (at)
		sprintf(made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	else
		strcpy(made, text);
	const char *path = write_text(name, made);
	free(made);
	free(text);
	return path;
}

static inline CalFeModel *fe_of(const char *path) {
	CalFeModel *fe = NULL;
	CalError error = {0};
	if (cal_fe_read(path, NULL, NULL, &fe, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return fe;
}

static inline CalModal *reduced(const char *path, const CalFeReduction *how) {
	CalFeModel *fe = fe_of(path);
	CalModal *modal = NULL;
	CalError error = {0};
	if (cal_fe_reduce(fe, how, &modal, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_fe_destroy(fe);
	return modal;
}

static inline CalModal *modal_of(const char *path) {
	CalModal *modal = NULL;
	CalError error = {0};
	if (cal_modal_read(path, NULL, NULL, &modal, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return modal;
}

/** Frequencies [Hz] of the body held in B, as the library reports them once it is in a description. */
static inline CalFlexReport frequencies_of(const CalModal *modal, double *held, double *free_body, int count) {
	CalDesc *desc;
	CalError error = {0};
	CalBodyId body;
	CalFlexReport report;
	static CalFlexMode modes[512];
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	if (cal_modal_add(modal, desc, "body", (CalGroupId){0}, 0, &body, &error) != CAL_OK)
		fail_msg("%s", error.text);
	if (cal_flex_report(desc, body, &report, modes, 512, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_true(report.modes >= count);
	for (int i = 0; i < count; i++) {
		held[i] = modes[i].frequency / 6.283185307179586;
		if (free_body)
			free_body[i] = modes[i].free_frequency / 6.283185307179586;
	}
	cal_desc_destroy(desc);
	return report;
}

/**
 * All sums over mass that the kinetic energy of a deflected body has: mass, mc, J, M_re, M_ee at modal coordinates eta
 * [THEORY (2.7)], into out[count]; returns count. M_re angular first.
 */
static inline int inertia_at(const CalModal *modal, const double *eta, double *out) {
	const CalModalInfo info = cal_modal_info(modal);
	const int n = info.modes, count = 10 + 6 * n + n * n;
	memset(out, 0, (size_t)count * sizeof *out);
	assert_near(info.rigid_mass, 0, 0);
	for (int i = 0; i < info.node_count; i++) {
		CalModalNode node;
		assert_int_equal(cal_modal_node(modal, i, &node), CAL_OK);
		const CalVec3 p = node.placement.position;
		double r[3] = {p.x, p.y, p.z}, square = 0;
		for (int c = 0; c < 3; c++) {
			for (int a = 0; a < n; a++)
				r[c] += node.phi[c * n + a] * eta[a];
			square += r[c] * r[c];
		}
		out[0] += node.mass;
		for (int c = 0; c < 3; c++) {
			out[1 + c] += node.mass * r[c];
			out[4 + c] += node.mass * (square - r[c] * r[c]) + node.inertia.m[c][c];
			out[7 + c] += -node.mass * r[c] * r[(c + 1) % 3] + node.inertia.m[c][(c + 1) % 3];
		}
		for (int a = 0; a < n; a++)
			for (int c = 0; c < 3; c++) {
				const int y = (c + 1) % 3, z = (c + 2) % 3;
				out[10 + 6 * a + c] += node.mass * (r[y] * node.phi[z * n + a] - r[z] * node.phi[y * n + a]);
				out[10 + 6 * a + 3 + c] += node.mass * node.phi[c * n + a];
				for (int d = 0; d < 3; d++)
					out[10 + 6 * a + c] += node.inertia.m[c][d] * node.psi[d * n + a];
			}
		for (int a = 0; a < n; a++)
			for (int b = 0; b < n; b++)
				for (int c = 0; c < 3; c++) {
					out[10 + 6 * n + a * n + b] += node.mass * node.phi[c * n + a] * node.phi[c * n + b];
					for (int d = 0; d < 3; d++)
						out[10 + 6 * n + a * n + b] += node.psi[c * n + a] * node.inertia.m[c][d] * node.psi[d * n + b];
				}
	}
	return count;
}

#endif
