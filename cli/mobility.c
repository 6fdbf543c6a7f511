// SPDX-License-Identifier: Apache-2.0
/*
 * mobility.c — what the loops of a group leave of its degrees of freedom.
 *
 * At the initial state, or, if that does not close the loops, at the state that a run would start from. Rank and
 * independent degrees of freedom are those of the speeds that are not driven.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mobility.h"

enum { MOST_NAMES = 20 }; // in a line of text

static const double CLOSED = 1e-9; // residuals below it are round-off of the numbers in a file

/* The largest residual of the state as it is. */
static CalStatus find_violations(Mobility *m, const CalState *state, CalWork *work) {
	const int rows = cal_model_row_count(m->model);
	double *g = calloc((size_t)rows + 1, sizeof *g);
	CalStatus status = g ? cal_loop_residual(m->model, state, work, g, NULL) : CAL_ERR_MEMORY;
	for (int i = 0; status == CAL_OK && i < rows; i++) {
		if (fabs(g[i]) > fmax(m->residual, CLOSED)) {
			m->residual = fabs(g[i]);
			m->residual_row = i;
		}
	}
	free(g);
	return status;
}

static CalStatus find_ranks(Mobility *m, const CalState *state, CalWork *work) {
	const int dofs = cal_model_u_count(m->model);
	CalMobility all;
	uint8_t *none = calloc((size_t)dofs + 1, 1);
	CalStatus status = none ? cal_loop_mobility(m->model, state, none, work, &all, NULL, NULL) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_loop_mobility(m->model, state, m->held, work, &m->left, m->independent, m->chosen);
	if (status == CAL_OK)
		m->overdriven = all.rank - m->left.rank;
	free(none);
	return status;
}

/* Without loops. */
static void count_free(Mobility *m) {
	for (int i = 0; i < cal_model_u_count(m->model); i++) {
		m->chosen[i] = !m->held[i];
		m->left.dofs += !m->held[i];
	}
	m->left.mobility = m->left.dofs;
}

CalStatus mobility_find(Mobility *m, CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	const CalState *state = cal_sim_state(sim, group);
	const size_t dofs = (size_t)cal_model_u_count(model);
	const int rows = cal_model_row_count(model);
	CalSimView view = {0};
	CalWork *work = NULL;
	*m = (Mobility){.model = model, .residual_row = -1, .moved_as_given = cal_sim_is_moved(sim, group)};
	m->independent = calloc((size_t)rows + 1, 1);
	m->held = calloc(dofs + 1, 1);
	m->chosen = calloc(dofs + 1, 1);
	CalStatus status = m->independent && m->held && m->chosen ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK && rows > 0)
		status = cal_work_create(model, &work);
	if (status == CAL_OK && work)
		status = find_violations(m, state, work);
	if (status == CAL_OK) {
		CalAssembly assembly = {0};
		m->status = cal_sim_assemble(sim, group, NULL, &m->error);
		(void)cal_sim_assembly(sim, group, &assembly);
		(void)cal_sim_assembly_text(sim, group, m->moved, sizeof m->moved);
		m->doubtful = assembly.doubtful;
		m->refused = cal_sim_check_assembly(sim, group, &m->why_refused);
		(void)cal_sim_observe(sim, group, &view); // what acts is there even if accelerations are not
		for (size_t i = 0; i < dofs; i++) {
			CalDofInfo dof = {0};
			(void)cal_model_dof(model, (int)i, &dof);
			m->held[i] = view.input.prescribed ? view.input.prescribed[i] != 0 : dof.prescribed != 0;
			m->driven += m->held[i];
		}
		status = work ? find_ranks(m, state, work) : CAL_OK;
	}
	if (status == CAL_OK && !work)
		count_free(m);
	cal_work_destroy(work);
	return status;
}

void mobility_free(Mobility *m) {
	free(m->independent);
	free(m->held);
	free(m->chosen);
	*m = (Mobility){0};
}

/* ---- names ------------------------------------------------------------------------------------- */

typedef int (*NameFn)(const CalModel *model, int index, char *buffer, size_t size);

/* Names of those with the given mark, "a, b and 3 more". */
static void list_names(const CalModel *model, const uint8_t *marks, int count, uint8_t mark, NameFn name, char *text,
                       size_t size) {
	int named = 0, left = 0;
	size_t used = 0;
	text[0] = 0;
	for (int i = 0; i < count; i++) {
		char one[128] = "";
		if (marks[i] != mark)
			continue;
		name(model, i, one, sizeof one);
		if (named == MOST_NAMES || used + strlen(one) + 24 > size) {
			left++;
			continue;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s", named++ ? ", " : "", one);
	}
	if (left)
		snprintf(text + used, size - used, " and %d more", left);
}

void mobility_redundant(const Mobility *m, char *text, size_t size) {
	list_names(m->model, m->independent, cal_model_row_count(m->model), 0, cal_model_row_name, text, size);
}

void mobility_driven(const Mobility *m, char *text, size_t size) {
	list_names(m->model, m->held, cal_model_u_count(m->model), 1, cal_model_dof_name, text, size);
}

/* "ground", "body" or "body/node". */
static void node_path(const CalModel *model, int node, char *text, size_t size) {
	CalNodeInfo info;
	CalBodyInfo body;
	if (node < 0 || cal_model_node(model, node, &info) != CAL_OK)
		snprintf(text, size, "ground");
	else if (info.body < 0 || cal_model_body(model, info.body, &body) != CAL_OK)
		snprintf(text, size, "ground/%s", info.name);
	else if (body.node == node)
		snprintf(text, size, "%s", body.name);
	else
		snprintf(text, size, "%s/%s", body.name, info.name);
}

static int loop_rank(const Mobility *m, const CalLoopInfo *loop) {
	int rank = 0;
	for (int i = 0; i < loop->rows; i++)
		rank += m->independent[loop->row + i];
	return rank;
}

/* Which sides a loop of the type has. */
static int uses_of(CalLoopType type) {
	CalLoopTypeInfo info = {0};
	cal_loop_type_info(type, &info);
	return info.uses;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_loop(const Mobility *m, int index, FILE *out) {
	CalLoopInfo loop;
	char from[160], to[160];
	if (cal_model_loop(m->model, index, &loop) != CAL_OK)
		return;
	node_path(m->model, loop.node_a, from, sizeof from);
	node_path(m->model, loop.node_b, to, sizeof to);
	fprintf(out, "  loop   %s: %s", loop.name, cal_loop_type_name(loop.type));
	if (uses_of(loop.type) & CAL_LOOP_USES_A)
		fprintf(out, ", %s", from);
	if (uses_of(loop.type) & CAL_LOOP_USES_B)
		fprintf(out, " to %s", to);
	fprintf(out, ", %d constraint equation%s, %d independent", loop.rows, plural(loop.rows), loop_rank(m, &loop));
	for (int i = 0, said = 0; i < loop.rows; i++) {
		char name[160] = "";
		if (!(loop.driven >> i & 1))
			continue;
		cal_model_row_name(m->model, loop.row + i, name, sizeof name);
		fprintf(out, "%s%s", said++ ? ", " : "; driven: ", name);
	}
	fputc('\n', out);
}

void mobility_print(const Mobility *m, FILE *out) {
	const int dofs = cal_model_u_count(m->model), rows = cal_model_row_count(m->model);
	char names[1024];
	for (int i = 0; i < cal_model_loop_count(m->model); i++)
		print_loop(m, i, out);
	if (m->residual_row >= 0 && m->status != CAL_OK) {
		cal_model_row_name(m->model, m->residual_row, names, sizeof names);
		fprintf(out, "  state    violates %s by %.3g; the following is for the closest state\n", names, m->residual);
	} else if (m->moved[0]) {
		fprintf(out, "  state    %s\n           The following is for the assembled state\n", m->moved);
	}
	mobility_driven(m, names, sizeof names);
	if (m->moved_as_given)
		fprintf(out, "  driven   the whole group: it moves as given (group_motions), without dynamics\n");
	else if (m->driven)
		fprintf(out, "  driven   %s\n", names);
	fprintf(out, "  mobility %d: %d degree%s of freedom", m->left.mobility, dofs, plural(dofs));
	if (m->driven)
		fprintf(out, ", %d of them driven,", m->driven);
	if (rows == 0) {
		fprintf(out, "%s no loops\n", m->driven ? "" : ",");
		return;
	}
	fprintf(out, " less %d independent constraint equation%s of %d", m->left.rank, plural(m->left.rank), rows);
	mobility_redundant(m, names, sizeof names);
	fprintf(out, "%s%s\n", names[0] ? "; redundant: " : "", names);
	list_names(m->model, m->chosen, dofs, 1, cal_model_dof_name, names, sizeof names);
	if (names[0])
		fprintf(out, "  independent %s; the others follow\n", names);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_names(const Mobility *m, const char *key, const uint8_t *marks, int first, int count, uint8_t mark,
                       NameFn name, FILE *out) {
	int said = 0;
	fprintf(out, "\"%s\": [", key);
	for (int i = first; i < first + count; i++) {
		char one[128] = "";
		if (marks[i] != mark)
			continue;
		name(m->model, i, one, sizeof one);
		fputs(said++ ? ", " : "", out);
		json_string(out, one);
	}
	fputc(']', out);
}

static void json_loop(const Mobility *m, int index, FILE *out) {
	CalLoopInfo loop;
	char path[160];
	if (cal_model_loop(m->model, index, &loop) != CAL_OK)
		return;
	fprintf(out, "%s\n        {\"name\": ", index ? "," : "");
	json_string(out, loop.name);
	fprintf(out, ", \"type\": \"%s\", \"from\": ", cal_loop_type_name(loop.type));
	node_path(m->model, loop.node_a, path, sizeof path);
	json_string(out, path);
	node_path(m->model, loop.node_b, path, sizeof path);
	fputs(", \"to\": ", out);
	if (!(uses_of(loop.type) & CAL_LOOP_USES_B))
		fputs("null", out);
	else
		json_string(out, path);
	fprintf(out, ", \"rows\": %d, \"rank\": %d, ", loop.rows, loop_rank(m, &loop));
	json_names(m, "redundant", m->independent, loop.row, loop.rows, 0, cal_model_row_name, out);
	fputs(", \"driven\": [", out);
	for (int i = 0, said = 0; i < loop.rows; i++) {
		if (!(loop.driven >> i & 1))
			continue;
		cal_model_row_name(m->model, loop.row + i, path, sizeof path);
		fputs(said++ ? ", " : "", out);
		json_string(out, path);
	}
	fputs("]}", out);
}

void mobility_json(const Mobility *m, FILE *out) {
	const int dofs = cal_model_u_count(m->model), rows = cal_model_row_count(m->model);
	fprintf(out, "\"loops\": [");
	for (int i = 0; i < cal_model_loop_count(m->model); i++)
		json_loop(m, i, out);
	fprintf(out,
	        "],\n      \"mobility\": {\"dof\": %d, \"driven\": %d, \"rows\": %d, \"rank\": %d, \"mobility\": %d, "
	        "\"overdriven\": %d,\n        ",
	        dofs, m->driven, rows, m->left.rank, m->left.mobility, m->overdriven);
	json_names(m, "redundant", m->independent, 0, rows, 0, cal_model_row_name, out);
	fputs(", ", out);
	json_names(m, "independent", m->chosen, 0, dofs, 1, cal_model_dof_name, out);
	fputs(", ", out);
	json_names(m, "driven_dof", m->held, 0, dofs, 1, cal_model_dof_name, out);
	fprintf(out, ", \"group_motion\": %s", m->moved_as_given ? "true" : "false");
	fprintf(out, ",\n        \"closed\": %s, \"initial_residual\": ", m->status == CAL_OK ? "true" : "false");
	json_number(out, m->residual);
	fprintf(out, ", \"starts\": %s, \"assembled\": ", m->status == CAL_OK && m->refused == CAL_OK ? "true" : "false");
	json_string(out, m->moved);
	fputc('}', out);
}
