// SPDX-License-Identifier: Apache-2.0
/*
 * operators.c — `calder operators`: the matrices of a model at its initial state, with its loops held.
 *
 * Of each group: mass matrix and map of the independent speeds, what they need to be at rest, the factors, and compliance
 * and inertia of nodes. As text the sizes and diagonals, as JSON everything.
 */
#define _GNU_SOURCE // getopt_long

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char help[] =
	"usage: calder operators [OPTION]... FILE\n"
	"\n"
	"Prints the operators of each group at the state in which a run starts, its loops held (docs/loops.md):\n"
	"independent speeds v, the map u = X v + drift, udot = X vdot + bias, the mass matrix X'M X, its factors\n"
	"L D L' and determinant, and the generalized forces that keep vdot = 0. Driven degrees of freedom are held.\n"
	"Text has sizes and diagonals.\n"
	"  --node PATH        of this node, \"body\" or \"body/node\" of the only group or of the first that has it: the\n"
	"                     operational-space compliance with loops held and with loops open, and the inertia; may be\n"
	"                     repeated\n"
	"  --independent DOF  a degree of freedom, \"joint\" or \"joint.axis\" as calder info lists them, whose speed is\n"
	"                     independent; may be repeated (chosen by rank)\n"
	"  --json             all of it as JSON, in SI units, matrices by rows\n"
	"\n"
	"example: calder operators --node coupler/end examples/four_bar.yaml\n";

enum { MOST = 64 }; // nodes, and chosen dofs

typedef struct Request {
	bool json;
	const char *path, *nodes[MOST], *chosen[MOST];
	bool printed[MOST]; // of the nodes
	int node_count, chosen_count;
} Request;

/* One group; arrays from malloc. */
typedef struct Operators {
	const CalModel *model;
	CalWork *work;
	CalProjection *projection;
	int nu, count;
	uint8_t *held, *independent;
	double *M, *D, *Q, logdet;
} Operators;

static void operators_free(Operators *o) {
	cal_projection_destroy(o->projection);
	cal_work_destroy(o->work);
	free(o->held), free(o->independent), free(o->M), free(o->D), free(o->Q);
}

static void dof_name(const CalModel *model, int u, char *text, size_t size) {
	text[0] = 0;
	cal_model_dof_name(model, u, text, size);
}

/* Dofs of the group that --independent names; returns how many. */
static int take_chosen(Operators *o, const Request *request) {
	int found = 0;
	for (int i = 0; i < request->chosen_count; i++)
		for (int u = 0; u < o->nu; u++) {
			char name[160];
			dof_name(o->model, u, name, sizeof name);
			if (strcmp(name, request->chosen[i]) != 0)
				continue;
			found += !o->independent[u];
			o->independent[u] = 1;
		}
	return found;
}

static CalStatus explain_choice(CalStatus status, int chosen, const Operators *o, CalError *error) {
	if (chosen && status == CAL_ERR_ARGUMENT)
		snprintf(error->text, sizeof error->text,
		         "group \"%s\": %d degrees of freedom are named by --independent, which is not its mobility, or one of "
		         "them is driven; calder info prints mobility and choices",
		         cal_model_name(o->model), chosen);
	if (chosen && status == CAL_SINGULAR)
		snprintf(error->text, sizeof error->text,
		         "group \"%s\": the degrees of freedom named by --independent do not determine the others in this "
		         "configuration; calder info prints some that do",
		         cal_model_name(o->model));
	return status;
}

static CalStatus find_operators(Operators *o, CalSim *sim, int group, const Request *request, CalError *error) {
	CalSimView view = {0};
	const CalState *state = cal_sim_state(sim, group);
	o->model = cal_sim_model(sim, group);
	o->nu = cal_model_u_count(o->model);
	const size_t n = (size_t)o->nu;
	o->held = calloc(n + 1, 1), o->independent = calloc(n + 1, 1);
	o->M = calloc(n * n + 1, sizeof(double)), o->D = calloc(n + 1, sizeof(double)),
	o->Q = calloc(n + 1, sizeof(double));
	CalStatus status = o->held && o->independent && o->M && o->D && o->Q ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_work_create(o->model, &o->work);
	if (status == CAL_OK)
		status = cal_projection_create(o->model, &o->projection);
	if (status == CAL_OK)
		status = cal_sim_observe(sim, group, &view);
	if (status != CAL_OK)
		return status;
	for (int u = 0; u < o->nu; u++) {
		CalDofInfo dof = {0};
		(void)cal_model_dof(o->model, u, &dof);
		o->held[u] = view.input.prescribed ? view.input.prescribed[u] != 0 : dof.prescribed != 0;
	}
	const int chosen = take_chosen(o, request);
	const CalProjectionOptions options = {
		.independent = chosen ? o->independent : NULL, .held = o->held, .udot = view.input.udot};
	status = explain_choice(cal_projection_update(o->projection, state, &options, o->work), chosen, o, error);
	o->count = cal_projection_count(o->projection);
	if (status == CAL_OK)
		status = cal_projected_mass(o->projection, state, o->work, o->M);
	if (status == CAL_OK)
		status = cal_projected_inverse_dynamics(o->projection, state, NULL, &view.input, o->work, o->Q);
	if (status == CAL_OK)
		status = cal_projected_factor(o->projection, state, o->work);
	if (status == CAL_OK)
		status = cal_projected_innovations_diagonal(o->projection, o->D);
	return status == CAL_OK ? cal_projected_logdet(o->projection, &o->logdet) : status;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

typedef struct NodeMatrices {
	double closed[36], open[36], inertia[36];
	int rank;
} NodeMatrices;

static CalStatus find_node(const Operators *o, const CalState *state, int node, NodeMatrices *m) {
	double *scratch = calloc((size_t)o->nu + 54, sizeof *scratch);
	CalStatus status = scratch ? cal_mass_factor(o->model, state, o->work) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_node_compliance_tree(o->model, o->work, &node, 1, scratch, m->open);
	if (status == CAL_OK)
		status = cal_closed_factor(o->model, state, o->held, o->work);
	if (status == CAL_OK)
		status = cal_node_compliance(o->model, o->work, &node, 1, scratch, m->closed);
	if (status == CAL_OK)
		status = cal_node_inertia(o->model, o->work, &node, 1, scratch, m->inertia, &m->rank);
	free(scratch);
	return status;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_diagonal(const char *name, const double *matrix) {
	printf("           %-18s", name);
	for (int i = 0; i < 6; i++)
		printf(" %11.5g", matrix[7 * i]);
	printf("\n");
}

static void print_node(const char *path, const NodeMatrices *m) {
	printf("  node     %s: can move in %d independent direction%s; diagonals, rotations first\n", path, m->rank,
	       plural(m->rank));
	print_diagonal("compliance", m->closed);
	print_diagonal("with loops open", m->open);
	print_diagonal("inertia", m->inertia);
}

static void print_operators(const Operators *o) {
	printf("group \"%s\": %d degree%s of freedom, %d independent, log det X'M X = %.12g\n", cal_model_name(o->model),
	       o->nu, plural(o->nu), o->count, o->logdet);
	printf("  %-32s %14s %14s %14s\n", "independent speed", "X'M X", "D", "force, vdot = 0");
	const uint8_t *independent = cal_projection_independent(o->projection);
	for (int u = 0, j = 0; u < o->nu; u++) {
		char name[160];
		dof_name(o->model, u, name, sizeof name);
		if (!independent[u])
			continue;
		printf("  %-32s %14.6g %14.6g %14.6g\n", name, o->M[j * o->count + j], o->D[j], o->Q[j]);
		j++;
	}
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_row(const double *row, int count) {
	printf("[");
	for (int i = 0; i < count; i++) {
		printf("%s", i ? ", " : "");
		json_number(stdout, row[i]);
	}
	printf("]");
}

static void json_matrix(const char *name, const double *matrix, int rows, int columns) {
	printf(",\n      \"%s\": [", name);
	for (int i = 0; i < rows; i++) {
		printf("%s", i ? ",\n        " : "");
		json_row(matrix + (size_t)i * (size_t)columns, columns);
	}
	printf("]");
}

static void json_vector(const char *name, const double *vector, int count) {
	printf(",\n      \"%s\": ", name);
	json_row(vector, count);
}

static void json_names(const Operators *o, const char *name, const uint8_t *marks) {
	printf(",\n      \"%s\": [", name);
	for (int u = 0, said = 0; u < o->nu; u++) {
		char text[160];
		if (marks && !marks[u])
			continue;
		dof_name(o->model, u, text, sizeof text);
		printf("%s", said++ ? ", " : "");
		json_string(stdout, text);
	}
	printf("]");
}

static void json_operators(const Operators *o, int group) {
	printf("%s\n    {\"name\": ", group ? "," : "");
	json_string(stdout, cal_model_name(o->model));
	json_names(o, "dofs", NULL);
	json_names(o, "independent", cal_projection_independent(o->projection));
	json_names(o, "held", o->held);
	json_matrix("X", cal_projection_map(o->projection), o->nu, o->count);
	json_vector("drift", cal_projection_drift(o->projection), o->nu);
	json_vector("bias", cal_projection_bias(o->projection), o->nu);
	json_matrix("mass_matrix", o->M, o->count, o->count);
	json_vector("diagonal", o->D, o->count);
	json_vector("bias_forces", o->Q, o->count);
	printf(",\n      \"log_determinant\": ");
	json_number(stdout, o->logdet);
	printf(",\n      \"nodes\": [");
}

static void json_node(const char *path, const NodeMatrices *m, int index) {
	printf("%s\n     {\"path\": ", index ? "," : "");
	json_string(stdout, path);
	printf(", \"rank\": %d", m->rank);
	json_matrix("compliance", m->closed, 6, 6);
	json_matrix("compliance_tree", m->open, 6, 6);
	json_matrix("inertia", m->inertia, 6, 6);
	printf("}");
}

/* ---- command ----------------------------------------------------------------------------------- */

static CalStatus print_nodes(const Operators *o, const CalState *state, Request *request) {
	int said = 0;
	for (int i = 0; i < request->node_count; i++) {
		NodeMatrices m;
		const int node = request->printed[i] ? -1 : cal_model_find_node(o->model, request->nodes[i]);
		if (node < 0)
			continue;
		const CalStatus status = find_node(o, state, node, &m);
		if (status != CAL_OK)
			return status;
		request->printed[i] = true;
		if (request->json)
			json_node(request->nodes[i], &m, said++);
		else
			print_node(request->nodes[i], &m);
	}
	return CAL_OK;
}

static CalStatus print_group(CalSim *sim, int group, Request *request, CalError *error) {
	Operators o = {0};
	CalStatus status = find_operators(&o, sim, group, request, error);
	if (status == CAL_OK) {
		if (request->json)
			json_operators(&o, group);
		else
			print_operators(&o);
		status = print_nodes(&o, cal_sim_state(sim, group), request);
		if (request->json)
			printf("]}");
	}
	operators_free(&o);
	return status;
}

static bool has_node(CalSim *sim, const char *path) {
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		if (cal_model_find_node(cal_sim_model(sim, i), path) >= 0)
			return true;
	return false;
}

static bool has_dof(CalSim *sim, const char *name) {
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		const CalModel *model = cal_sim_model(sim, i);
		for (int u = 0; u < cal_model_u_count(model); u++) {
			char text[160];
			dof_name(model, u, text, sizeof text);
			if (strcmp(text, name) == 0)
				return true;
		}
	}
	return false;
}

/* EXIT_USAGE, after saying so, if no group has a name. */
static int check_names(CalSim *sim, const Request *request) {
	for (int i = 0; i < request->node_count; i++)
		if (!has_node(sim, request->nodes[i]))
			return say_usage("operators", "no node '%s' in %s; calder info lists them", request->nodes[i],
			                 request->path);
	for (int i = 0; i < request->chosen_count; i++)
		if (!has_dof(sim, request->chosen[i]))
			return say_usage("operators", "no degree of freedom '%s' in %s; calder info lists them", request->chosen[i],
			                 request->path);
	return EXIT_OK;
}

/* Operators are those of one group by itself. */
static int refuse_subsystems(const Loaded *loaded, const Request *request) {
	CalSubsystemUse use;
	CalError error = {0};
	if (cal_setup_subsystem_count(loaded->setup) == 0 || cal_setup_subsystem(loaded->setup, 0, &use) != CAL_OK)
		return EXIT_OK;
	snprintf(
		error.text, sizeof error.text,
		"subsystem \"%.100s\" is tied to other groups, which the operators of a group do not know; take it as part of "
		"its group (component: false), or the model without it",
		use.name);
	return say_status(request->path, CAL_ERR_UNSUPPORTED, &error);
}

static int print_loaded(Loaded *loaded, Request *request) {
	CalError error = {0};
	CalStatus status = CAL_OK;
	int code = refuse_subsystems(loaded, request);
	if (code == EXIT_OK)
		code = check_names(loaded->sim, request);
	if (code != EXIT_OK)
		return code;
	printf("%s", request->json ? "{\n  \"groups\": [" : "");
	for (int i = 0; i < cal_sim_group_count(loaded->sim) && status == CAL_OK; i++)
		status = print_group(loaded->sim, i, request, &error);
	printf("%s", request->json ? "]\n}\n" : "");
	return say_status(request->path, status, &error);
}

static int read_options(int argc, char **argv, Request *request) {
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
	                                        {"node", required_argument, NULL, 'n'},
	                                        {"independent", required_argument, NULL, 'i'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (option == '?')
			return option_wrong("operators", argv, options);
		request->json |= option == 'j';
		if ((option == 'n' && request->node_count == MOST) || (option == 'i' && request->chosen_count == MOST))
			return say_usage("operators", "at most %d of --%s", MOST, option_name(options, option));
		if (option == 'n')
			request->nodes[request->node_count++] = optarg;
		if (option == 'i')
			request->chosen[request->chosen_count++] = optarg;
	}
	return argc - optind == 1 ? EXIT_OK : say_usage("operators", "name one model file (or - for stdin)");
}

int command_operators(int argc, char **argv) {
	Request request = {0};
	CalSetup *setup;
	Loaded loaded = {.refuses_code = true}; // without it, forces would be missing
	int code = read_options(argc, argv, &request);
	if (code != EXIT_OK)
		return code < 0 ? EXIT_OK : code;
	request.path = input_name(argv[optind]);
	code = input_open(argv[optind], &setup);
	if (code != EXIT_OK)
		return code;
	code = loaded_at(&loaded, setup, request.path, 0);
	if (code == EXIT_OK)
		code = print_loaded(&loaded, &request);
	loaded_destroy(&loaded);
	return code;
}
