// SPDX-License-Identifier: Apache-2.0
/*
 * info.c — `calder info`: what a model consists of, as a table or as JSON.
 */
#define _GNU_SOURCE // getopt_long

#include <getopt.h>

#include "cli.h"

static const char help[] =
	"usage: calder info [--json] FILE\n"
	"\n"
	"Prints the groups of a model with their bodies, joints, degrees of freedom, mass and solver.\n"
	"FILE is YAML or JSON (docs/format.md); - reads it from stdin.\n"
	"\n"
	"example: calder info examples/free_flying_arm.yaml\n";

static const char *solver_name(const CalModel *model) {
	return cal_model_solver(model) == CAL_SOLVER_DENSE ? "dense" : "recursive";
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_body(const CalModel *model, int index) {
	CalBodyInfo body, parent;
	if (cal_model_body(model, index, &body) != CAL_OK)
		return;
	bool has_parent = body.parent >= 0 && cal_model_body(model, body.parent, &parent) == CAL_OK;
	printf("  %5d  %-20s %-20s %-20s %-12s %4d  %.6g\n", index, body.name, has_parent ? parent.name : "(ground)",
	       body.joint, cal_joint_type_name(body.type), body.nu + body.modes, body.mass + body.lumped_mass);
}

static void print_nodes(const CalModel *model) {
	for (int i = 0; i < cal_model_node_count(model); i++) {
		CalNodeInfo node;
		CalBodyInfo body;
		if (cal_model_node(model, i, &node) != CAL_OK || node.body < 0 ||
		    cal_model_body(model, node.body, &body) != CAL_OK || body.node == i)
			continue;
		printf("  node   %s/%s at (%.6g, %.6g, %.6g) m\n", body.name, node.name, node.pose.r.x, node.pose.r.y,
		       node.pose.r.z);
	}
}

static void print_group(CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	CalVec3 g = cal_model_gravity(model);
	int bodies = cal_model_body_count(model), dofs = cal_model_u_count(model);
	CalSimMonitor now = {0};
	printf("group \"%s\": %d %s, %d %s of freedom, %d coordinates, %d nodes\n", cal_model_name(model), bodies,
	       bodies == 1 ? "body" : "bodies", dofs, dofs == 1 ? "degree" : "degrees", cal_model_q_count(model),
	       cal_model_node_count(model));
	printf("  solver   %s (about %.0f flops for one forward dynamics), model %zu bytes\n", solver_name(model),
	       cal_model_flops(model, cal_model_solver(model)), cal_model_size(model));
	printf("  gravity  (%.6g, %.6g, %.6g) m/s^2\n", g.x, g.y, g.z);
	if (cal_sim_monitor(sim, group, &now) == CAL_OK)
		printf("  mass     %.6g kg, centre at (%.6g, %.6g, %.6g) m in the initial state\n", now.momentum.mass,
		       now.momentum.com.x, now.momentum.com.y, now.momentum.com.z);
	printf("  %5s  %-20s %-20s %-20s %-12s %4s  %s\n", "index", "body", "parent", "joint", "type", "dof", "mass [kg]");
	for (int i = 0; i < cal_model_body_count(model); i++)
		print_body(model, i);
	print_nodes(model);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_body(const CalModel *model, int index) {
	CalBodyInfo body, parent;
	if (cal_model_body(model, index, &body) != CAL_OK)
		return;
	printf("%s\n        {\"name\": ", index ? "," : "");
	json_string(stdout, body.name);
	printf(", \"parent\": ");
	if (body.parent >= 0 && cal_model_body(model, body.parent, &parent) == CAL_OK)
		json_string(stdout, parent.name);
	else
		printf("null");
	printf(", \"joint\": ");
	json_string(stdout, body.joint);
	printf(", \"type\": ");
	json_string(stdout, cal_joint_type_name(body.type));
	printf(", \"q\": %d, \"nq\": %d, \"u\": %d, \"nu\": %d, \"modes\": %d, \"mass\": ", body.q, body.nq, body.u,
	       body.nu, body.modes);
	json_number(stdout, body.mass + body.lumped_mass);
	printf("}");
}

static void json_group(CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	CalSimMonitor now = {0};
	printf("%s\n    {\"name\": ", group ? "," : "");
	json_string(stdout, cal_model_name(model));
	printf(", \"bodies\": %d, \"dof\": %d, \"coordinates\": %d, \"nodes\": %d,\n", cal_model_body_count(model),
	       cal_model_u_count(model), cal_model_q_count(model), cal_model_node_count(model));
	printf("      \"solver\": \"%s\", \"flops\": ", solver_name(model));
	json_number(stdout, cal_model_flops(model, cal_model_solver(model)));
	printf(", \"model_bytes\": %zu, \"gravity\": ", cal_model_size(model));
	json_vec3(stdout, cal_model_gravity(model));
	if (cal_sim_monitor(sim, group, &now) == CAL_OK) {
		printf(",\n      \"mass\": ");
		json_number(stdout, now.momentum.mass);
		printf(", \"center_of_mass\": ");
		json_vec3(stdout, now.momentum.com);
	}
	printf(",\n      \"body_list\": [");
	for (int i = 0; i < cal_model_body_count(model); i++)
		json_body(model, i);
	printf("]}");
}

static void print_json(const Loaded *loaded) {
	printf("{\n  \"title\": ");
	json_string(stdout, loaded->settings.title ? loaded->settings.title : "");
	printf(",\n  \"groups\": [");
	for (int i = 0; i < cal_sim_group_count(loaded->sim); i++)
		json_group(loaded->sim, i);
	printf("]\n}\n");
}

int command_info(int argc, char **argv) {
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option != 'j')
			return say_usage("info", "that option is not known");
		json = true;
	}
	if (argc - optind != 1)
		return say_usage("info", "name one model file (or - for stdin)");
	CalFile *file;
	int code = input_open(argv[optind], &file);
	if (code != EXIT_OK)
		return code;
	Loaded loaded;
	code = loaded_create(&loaded, file, input_name(argv[optind]), NULL);
	if (code == EXIT_OK && json) {
		print_json(&loaded);
	} else if (code == EXIT_OK) {
		if (loaded.settings.title && loaded.settings.title[0])
			printf("%s\n", loaded.settings.title);
		for (int i = 0; i < cal_sim_group_count(loaded.sim); i++)
			print_group(loaded.sim, i);
	}
	loaded_destroy(&loaded);
	return code;
}
