// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.c — see doctor.h. Nothing is changed without a word: each change is listed with the numbers before and after.
 */
#define _GNU_SOURCE // open_memstream

#include "doctor.h"

#include <stdlib.h>
#include <string.h>

typedef struct Proposal {
	CalBodyId body;
	CalDiagnosisKind kind;
	CalBodyDef def;
} Proposal;

const char *diagnosis_text(const CalDiagnosis *d, char *text, size_t size) {
	snprintf(text, size, "%s%s%s: %s; likely cause: %s; fix: %s [%s]", d->place ? d->place : "", d->place ? ": " : "",
	         d->object, d->evidence, d->cause, d->fix, cal_diagnosis_name(d->kind));
	return text;
}

static void put_member(FILE *out, const char *name, const char *text) {
	fprintf(out, ", \"%s\": ", name);
	json_string(out, text);
}

static void put_proposal(FILE *out, const CalBodyDef *b) {
	fprintf(out, ", \"proposal\": {\"mass\": %.17g, \"com\": [%.17g, %.17g, %.17g], \"inertia\": [", b->mass, b->com.x,
	        b->com.y, b->com.z);
	for (int i = 0; i < 3; i++)
		fprintf(out, "%s[%.17g, %.17g, %.17g]", i ? ", " : "", b->inertia.m[i][0], b->inertia.m[i][1],
		        b->inertia.m[i][2]);
	fputs("]}", out);
}

void diagnosis_json(const CalDiagnosis *d, FILE *out) {
	char text[1600];
	fprintf(out, "{\"severity\": \"warning\"");
	put_member(out, "text", diagnosis_text(d, text, sizeof text));
	put_member(out, "kind", cal_diagnosis_name(d->kind));
	put_member(out, "object", d->object);
	put_member(out, "evidence", d->evidence);
	put_member(out, "cause", d->cause);
	put_member(out, "fix", d->fix);
	if (d->place)
		put_member(out, "place", d->place);
	if (d->proposal)
		put_proposal(out, d->proposal);
	fputc('}', out);
}

/* ---- proposals ------------------------------------------------------------------------------------------- */

void proposals_add(Proposals *p, const CalDiagnosis *d) {
	for (int i = 0; d->proposal && i < p->count; i++)
		if (p->items[i].body.value == d->body.value)
			return;
	if (!d->proposal)
		return;
	if (p->count == p->capacity) {
		const int capacity = 2 * p->capacity + 16;
		Proposal *grown = realloc(p->items, (size_t)capacity * sizeof *grown);
		if (!grown)
			return;
		p->items = grown;
		p->capacity = capacity;
	}
	p->items[p->count++] = (Proposal){d->body, d->kind, *d->proposal};
}

void proposals_free(Proposals *p) { free(p->items); }

static void print_properties(const CalBodyDef *b) {
	fprintf(stderr, "mass %.6g, com (%.6g, %.6g, %.6g), inertia (xx %.6g, yy %.6g, zz %.6g, xy %.6g, xz %.6g, yz %.6g)",
	        b->mass, b->com.x, b->com.y, b->com.z, b->inertia.m[0][0], b->inertia.m[1][1], b->inertia.m[2][2],
	        b->inertia.m[0][1], b->inertia.m[0][2], b->inertia.m[1][2]);
}

static void list_changes(const Proposals *p, const CalDesc *desc, const char *output) {
	fprintf(stderr, "%s: a proposal, with %d change%s:\n", output, p->count, p->count == 1 ? "" : "s");
	for (int i = 0; i < p->count; i++) {
		const CalBodyDef *before = cal_desc_body(desc, p->items[i].body);
		fprintf(stderr, "  body \"%s\" [%s]\n    was ", before->name, cal_diagnosis_name(p->items[i].kind));
		print_properties(before);
		fputs("\n    now ", stderr);
		print_properties(&p->items[i].def);
		fputc('\n', stderr);
	}
}

/* All or nothing: the text is made in memory first. */
static int write_model(const CalSetup *setup, const char *path, const char *output) {
	char *text = NULL;
	size_t length = 0;
	CalError error = {0};
	FILE *memory = open_memstream(&text, &length);
	CalStatus status = memory ? cal_model_file_write(setup, memory, &error) : CAL_ERR_MEMORY;
	if (memory && fclose(memory) != 0 && status == CAL_OK)
		status = CAL_ERR_MEMORY;
	int code = say_status(path, status, &error);
	OutputFile file;
	if (code == EXIT_OK)
		code = output_open(&file, output);
	if (code == EXIT_OK) {
		fwrite(text, 1, length, file.stream);
		code = output_close(&file, EXIT_OK);
	}
	free(text);
	return code;
}

int proposals_write(const Proposals *p, const char *path, CalSetup *setup, const char *output) {
	if (p->count == 0) {
		fprintf(stderr, "%s: the doctor proposes no change; %s was not written\n", path, output);
		return EXIT_OK;
	}
	list_changes(p, cal_setup_desc(setup), output);
	for (int i = 0; i < p->count; i++) {
		CalError error = {0};
		const CalStatus status =
			cal_desc_set_mass_properties(cal_setup_edit_desc(setup), p->items[i].body, &p->items[i].def, &error);
		if (status != CAL_OK)
			return say_status(path, status, &error);
	}
	return write_model(setup, path, output);
}
