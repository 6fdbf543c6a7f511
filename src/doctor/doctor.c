// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.c — cal_setup_diagnose(): what is known of all bodies is gathered once, then each part of the examination reads
 * it. Parts that know a cause run before those that see a symptom only; a body whose inertia was reported is not
 * reported again.
 */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

const char *cal_diagnosis_name(CalDiagnosisKind kind) {
	static const char *const names[] = {
#define DIAGNOSIS_NAME(name, text) text,
		CAL_DIAGNOSIS_LIST(DIAGNOSIS_NAME)
#undef DIAGNOSIS_NAME
	};
	return (unsigned)kind < CAL_DIAGNOSIS_COUNT ? names[kind] : NULL;
}

/* ---- findings ------------------------------------------------------------------------------------- */

void finding_text(char *text, size_t size, const char *format, ...) {
	va_list args;
	va_start(args, format);
	text_format(text, size, format, args);
	va_end(args);
}

void doctor_report(const Doctor *doctor, Finding *f, CalDiagnosisKind kind, const char *place) {
	f->d.kind = kind;
	f->d.object = f->object;
	f->d.evidence = f->evidence;
	f->d.cause = f->cause;
	f->d.fix = f->fix;
	f->d.place = place;
	if (doctor->report)
		doctor->report(doctor->user, &f->d);
}

void doctor_report_body(const Doctor *doctor, Patient *p, Finding *f, CalDiagnosisKind kind, bool proposal) {
	FINDING(f->object, "body \"%.120s\"", p->def->name);
	f->d.body = p->id;
	f->d.proposal = proposal ? &f->proposal : NULL;
	doctor_report(doctor, f, kind, p->def->place);
}

double inertia_trace(const CalMat3 *I) { return I->m[0][0] + I->m[1][1] + I->m[2][2]; }

bool inertia_is_diagonal(const CalMat3 *I) {
	const double most = fmax(fabs(I->m[0][1]), fmax(fabs(I->m[0][2]), fabs(I->m[1][2])));
	return most <= 1e-9 * inertia_trace(I);
}

/* ---- what is known ---------------------------------------------------------------------------------- */

/* Of findings such as: body "NAME": inertia violates ... */
static void note_checked(void *user, const CalFinding *finding) {
	Doctor *doctor = user;
	char name[160];
	const char *start = strstr(finding->text, "body \"");
	const char *end = start ? strstr(start + 6, "\":") : NULL;
	if (!end || end - start - 6 >= (ptrdiff_t)sizeof name)
		return;
	snprintf(name, sizeof name, "%.*s", (int)(end - start - 6), start + 6);
	const CalBodyId id = cal_desc_find_body(doctor->desc, name);
	if (id.value)
		doctor->bodies[id.value - 1].checked = true;
}

static void find_parents(Doctor *doctor) {
	for (int i = 1; i <= cal_desc_joint_count(doctor->desc); i++) {
		CalNodeId inboard, outboard;
		CalBodyId parent = {0}, child = {0};
		cal_desc_joint(doctor->desc, (CalJointId){(uint32_t)i}, &inboard, &outboard);
		cal_desc_node(doctor->desc, inboard, &parent);
		cal_desc_node(doctor->desc, outboard, &child);
		if (!child.value || doctor->bodies[child.value - 1].joint.value)
			continue; // an error that cal_desc_check() reports
		Patient *p = &doctor->bodies[child.value - 1];
		p->joint = (CalJointId){(uint32_t)i};
		p->parent = (int)parent.value - 1;
		if (p->parent >= 0) {
			doctor->bodies[p->parent].children++;
			doctor->bodies[p->parent].has_children = true;
		}
	}
}

/* Inward from the tips; bodies of a cycle are never reached. */
static void sum_carried(Doctor *doctor) {
	for (int i = 0; i < doctor->count; i++) {
		int b = i;
		while (b >= 0 && doctor->bodies[b].children == 0) {
			Patient *p = &doctor->bodies[b];
			p->children = -1;
			if (p->parent >= 0) {
				doctor->bodies[p->parent].children--;
				doctor->bodies[p->parent].carried += p->def->mass + p->carried;
			}
			b = p->parent >= 0 && p->parent <= i ? p->parent : -1; // later ones are met by the loop
		}
	}
}

static void gather_bodies(Doctor *doctor) {
	for (int i = 0; i < doctor->count; i++) {
		Patient *p = &doctor->bodies[i];
		CalFlexDef flex;
		*p = (Patient){.id = {(uint32_t)i + 1}, .parent = -1};
		p->def = cal_desc_body(doctor->desc, p->id);
		p->flexible = cal_flex_body(doctor->desc, p->id, NULL, &flex) == CAL_OK && flex.modes > 0;
	}
	find_parents(doctor);
	sum_carried(doctor);
	cal_desc_check(doctor->desc, note_checked, doctor);
}

CalStatus cal_setup_diagnose(const CalSetup *setup, CalDiagnosisFn report, void *user, CalError *error) {
	if (!setup)
		return error_null(error, "cal_setup_diagnose", "setup");
	Doctor doctor = {.setup = setup, .desc = cal_setup_desc(setup), .report = report, .user = user};
	doctor.allocator = allocator_or_default(NULL);
	doctor.count = cal_desc_body_count(doctor.desc);
	doctor.bodies = memory_alloc(&doctor.allocator, (size_t)doctor.count * sizeof *doctor.bodies);
	if (!doctor.bodies)
		return error_set(error, CAL_ERR_MEMORY, "%s: out of memory", cal_setup_name(setup));
	gather_bodies(&doctor);
	doctor_measure(&doctor);
	doctor_examine_mass(&doctor);
	doctor_examine_pairs(&doctor);
	doctor_examine_inertia(&doctor);
	doctor_examine_joints(&doctor);
	memory_free(&doctor.allocator, doctor.bodies);
	return CAL_OK;
}
