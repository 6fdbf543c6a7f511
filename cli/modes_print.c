// SPDX-License-Identifier: Apache-2.0
/*
 * modes_print.c — what `calder modes` says about one body: in words and a table, or as JSON.
 *
 * The checks: nothing of the mass was lost between the matrices and the body, no shape is a rigid motion, the stiffness
 * is not singular (unless that is meant), and the effective masses do not exceed the mass.
 */
#include <math.h>
#include <string.h>

#include "modes.h"

static const double two_pi = 6.283185307179586;

/* ---- checks ------------------------------------------------------------------------------------ */

static double effective_share(const ModesBody *body, int axis) {
	double sum = 0;
	for (int i = 0; i < body->report.modes; i++)
		sum += body->modes[i].effective_mass[axis];
	return body->report.mass > 0 ? sum / body->report.mass : 0;
}

bool modes_verdict(const ModesBody *body, char *why, size_t size) {
	why[0] = '\0';
	if (body->has_fe && !(fabs(body->report.mass - body->fe.mass) <= 1e-6 * body->fe.mass))
		snprintf(why, size, "the body has %.9g kg, the finite element model %.9g kg", body->report.mass, body->fe.mass);
	else if (body->modal && !(cal_modal_fidelity(body->modal).modal_mass <= 1e-6))
		snprintf(why, size, "the mass points miss the modal masses by %.2g",
		         cal_modal_fidelity(body->modal).modal_mass);
	else if (!(body->report.min_stiffness > 0) && !body->unsprung)
		snprintf(why, size, "the stiffness is singular: smallest value %.2g of a unit diagonal",
		         body->report.min_stiffness);
	else if (!(body->report.rigid_content < 1 - 1e-9))
		snprintf(why, size, "a shape is nothing but a rigid motion; leave rigid modes out");
	for (int axis = 0; axis < 3 && !why[0]; axis++)
		if (!(effective_share(body, axis) <= 1 + 1e-6))
			snprintf(why, size, "effective masses along %c sum up to %.6g of the mass; is it in other units?",
			         "xyz"[axis], effective_share(body, axis));
	return !why[0];
}

/* ---- words ------------------------------------------------------------------------------------- */

static void print_fe(const CalFeInfo *fe, const CalModal *modal) {
	printf("  model       %s, %d node%s, %d equation%s, box %.6g x %.6g x %.6g m\n", fe->format, fe->node_count,
	       plural(fe->node_count), fe->dof_count, plural(fe->dof_count), fe->size.x, fe->size.y, fe->size.z);
	printf("  rigid check rigid motion meets %.1e of the stiffness (1e-3 allowed), mass differs by %.1e between axes\n",
	       fe->rigid_residual, fe->mass_spread);
	const CalModalFidelity f = cal_modal_fidelity(modal);
	printf("  mass check  model %.9g kg; lost in the body: mass %.1e, center %.1e, inertia %.1e,\n"
	       "              modal mass %.1e, coupling %.1e\n",
	       fe->mass, f.mass, f.com, f.inertia, f.modal_mass, f.coupling);
}

static void print_modal(const CalModal *modal) {
	const CalModalInfo info = cal_modal_info(modal);
	int frames = 0, masses = 0;
	for (int i = 0; i < info.node_count; i++) {
		CalModalNode node;
		if (cal_modal_node(modal, i, &node) != CAL_OK)
			continue;
		frames += node.kind == CAL_MODAL_FRAME;
		masses += node.mass > 0;
	}
	if (info.boundary[0])
		printf("  boundary    %s\n", info.boundary);
	if (info.dropped_from > 0)
		printf("  dropped     %d mode%s with all interfaces held, from %.6g Hz on\n", info.dropped,
		       plural(info.dropped), info.dropped_from / two_pi);
	printf("  nodes       %d frame%s, %d with mass\n", frames, plural(frames), masses);
	for (const char *note = info.notes; *note;) {
		const size_t length = strcspn(note, "\n");
		printf("  note        %.*s\n", (int)length, note);
		note += length + (note[length] != '\0');
	}
}

/* What the frequency bound makes of each mode: also of those below it. */
static void print_bounded(const ModesBody *body) {
	printf("  with the bound:\n  mode   held [Hz]   change  damping    free [Hz]\n");
	for (int i = 0; i < body->report.modes; i++) {
		const CalFlexMode *m = &body->modes[i];
		const double change = m->frequency > 0 ? 100 * (m->bounded_frequency / m->frequency - 1) : 0;
		printf("  %4d %11.6g  %6.2f%%  %7.4f  %11.6g\n", i + 1, m->bounded_frequency / two_pi, change,
		       m->bounded_damping, m->bounded_free / two_pi);
	}
}

static int count_bounded(const ModesBody *body) {
	int count = 0;
	for (int i = 0; i < body->report.modes; i++)
		count += body->modes[i].bounded != 0;
	return count;
}

static void print_table(const ModesBody *body) {
	printf("  mode   held [Hz]    free [Hz]  damping   effective mass [%% of mass]      inertia [%% of total]\n"
	       "                                              x       y       z           x       y       z\n");
	double sum[6] = {0};
	for (int i = 0; i < body->report.modes; i++) {
		const CalFlexMode *m = &body->modes[i];
		printf("  %4d %11.6g  %11.6g  %7.4f  ", i + 1, m->frequency / two_pi, m->free_frequency / two_pi,
		       m->damping_ratio);
		for (int c = 0; c < 6; c++) {
			const double whole = c < 3 ? body->report.mass : body->report.total_inertia[c - 3];
			const double share = 100 * (c < 3 ? m->effective_mass[c] : m->effective_inertia[c - 3]);
			sum[c] += whole > 0 ? share / whole : 0;
			printf("%s%7.2f ", c == 3 ? "    " : "", whole > 0 ? share / whole : 0);
		}
		printf("%s\n", m->bounded ? " free mode bounded" : "");
	}
	printf("   sum                                  ");
	for (int c = 0; c < 6; c++)
		printf("%s%7.2f ", c == 3 ? "    " : "", sum[c]);
	printf("\n");
	if (count_bounded(body) > 0)
		print_bounded(body);
}

void modes_print(const ModesBody *body) {
	const CalFlexReport *r = &body->report;
	printf("%s%s%s%s: %d mode%s\n", body->path, body->name[0] ? ": body \"" : "", body->name, body->name[0] ? "\"" : "",
	       r->modes, plural(r->modes));
	printf("  mass        %.9g kg, center of mass %.6g %.6g %.6g m\n", r->mass, r->com.x, r->com.y, r->com.z);
	printf("  inertia     %.6g %.6g %.6g kg m^2 about it (products %.3g %.3g %.3g)\n", r->inertia.m[0][0],
	       r->inertia.m[1][1], r->inertia.m[2][2], r->inertia.m[0][1], r->inertia.m[0][2], r->inertia.m[1][2]);
	if (r->modes > 1)
		printf("  shapes      coupled by %.1e of their modal masses%s\n", r->coupling,
		       r->coupling < 1e-4 ? " (mass-orthogonal)" : ": no normal modes; made so when the model is compiled");
	if (body->has_fe)
		print_fe(&body->fe, body->modal);
	if (body->modal)
		print_modal(body->modal);
	if (body->bound > 0)
		printf("  bound       %.6g Hz: %d of %d free modes get mass\n", body->bound / two_pi, count_bounded(body),
		       r->modes);
	print_table(body);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_field(const char *name, double value) {
	printf(", \"%s\": ", name);
	json_number(stdout, value);
}

static void json_triple(const char *name, const double x[3]) {
	printf(", \"%s\": ", name);
	json_vec3(stdout, (CalVec3){x[0], x[1], x[2]});
}

static void json_mode(const CalFlexMode *m, int index) {
	printf("%s\n    {\"mode\": %d", index ? "," : "", index + 1);
	json_field("frequency_hz", m->frequency / two_pi);
	json_field("free_frequency_hz", m->free_frequency / two_pi);
	json_field("damping_ratio", m->damping_ratio);
	json_field("bounded_frequency_hz", m->bounded_frequency / two_pi);
	json_field("bounded_free_frequency_hz", m->bounded_free / two_pi);
	json_field("bounded_damping_ratio", m->bounded_damping);
	json_triple("effective_mass", m->effective_mass);
	json_triple("effective_inertia", m->effective_inertia);
	printf(", \"bounded\": %s}", m->bounded ? "true" : "false");
}

static void json_fe(const ModesBody *body) {
	const CalModalFidelity f = cal_modal_fidelity(body->modal);
	printf(",\n  \"fe\": {\"format\": ");
	json_string(stdout, body->fe.format);
	printf(", \"nodes\": %d, \"equations\": %d", body->fe.node_count, body->fe.dof_count);
	json_field("mass", body->fe.mass);
	json_field("rigid_residual", body->fe.rigid_residual);
	json_field("mass_spread", body->fe.mass_spread);
	printf("},\n  \"lost\": {\"mass\": ");
	json_number(stdout, f.mass);
	json_field("center_of_mass", f.com);
	json_field("inertia", f.inertia);
	json_field("modal_mass", f.modal_mass);
	json_field("coupling", f.coupling);
	printf("}");
}

void modes_json(const ModesBody *body) {
	const CalFlexReport *r = &body->report;
	char why[256];
	printf("{\n  \"name\": ");
	json_string(stdout, body->name);
	json_field("mass", r->mass);
	printf(", \"center_of_mass\": ");
	json_vec3(stdout, r->com);
	json_field("coupling", r->coupling);
	if (body->modal) {
		const CalModalInfo info = cal_modal_info(body->modal);
		printf(",\n  \"source\": ");
		json_string(stdout, info.source);
		printf(", \"boundary\": ");
		json_string(stdout, info.boundary);
		printf(", \"dropped\": %d", info.dropped);
		json_field("dropped_from_hz", info.dropped_from / two_pi);
		printf(", \"notes\": ");
		json_string(stdout, info.notes);
	}
	if (body->has_fe)
		json_fe(body);
	printf(",\n  \"modes\": [");
	for (int i = 0; i < r->modes; i++)
		json_mode(&body->modes[i], i);
	printf("],\n  \"check\": ");
	json_string(stdout, modes_verdict(body, why, sizeof why) ? "ok" : why);
	printf("\n}\n");
}
