// SPDX-License-Identifier: Apache-2.0
/*
 * info.c — `calder info`: what a model consists of, as a table or as JSON.
 *
 * Of flexible bodies it prints the range of the modes and how the compiled model evaluates them; `calder modes` has the
 * modes one by one. The mass points of generated bodies need not be on the body: they are counted, not listed.
 */
#define _GNU_SOURCE // getopt_long

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "info_results.h"
#include "mobility.h"
#include "options.h"
#include "read_options.h"

static const char help[] =
	"usage: calder info [OPTION]... FILE\n"
	"\n"
	"Prints the groups of a model with their bodies, joints, degrees of freedom (of the joint and, after a +,\n"
	"modes), mass and solver; of flexible bodies the range of their modes (calder modes lists them); of closed\n"
	"loops the mobility, redundant constraint equations, and degrees of freedom that can be chosen. Subsystems are\n"
	"listed with their files, interface nodes by their paths.\n"
	"  --branches P        the partition of each group for P threads (docs/parallel.md): the parent of each branch, its\n"
	"                      first body, its bodies, degrees of freedom and loops, its share of the work, and whether its\n"
	"                      parent waits for it (sequential) or is joined with it later (joined)\n"
	"  --cross-loops WHEN  whether loops may span branches: auto, never or always (default: as the file says)\n"
	"  --json              all of it as JSON\n"
	"FILE is YAML or JSON (docs/format.md); - reads it from stdin. Of a result file (.h5): its run, method and\n"
	"tolerances, streams, and what there is to doubt (docs/doubts.md).\n"
	"\n"
	"example: calder info examples/free_flying_arm.yaml\n";

static const char *solver_name(const CalModel *model) {
	return cal_model_solver(model) == CAL_SOLVER_DENSE ? "dense" : "recursive";
}

/* ---- flexible bodies --------------------------------------------------------------------------- */

/* What is known about a flexible body; modes from malloc. */
typedef struct Flexible {
	CalFlexReport report;
	CalFlexMode *modes; // [report.modes]; NULL: rigid, or not available
	CalFlexEvaluation evaluation;
	double bound; // [rad/s], 0: none
	double damping_low, damping_high;
} Flexible;

static Flexible flexible_of(const CalDesc *desc, const CalModel *model, int index) {
	CalBodyInfo body;
	CalFlexDef flex;
	Flexible f = {.damping_low = INFINITY};
	if (cal_model_body(model, index, &body) != CAL_OK || body.modes == 0 ||
	    cal_flex_body(desc, body.id, NULL, &flex) != CAL_OK ||
	    cal_flex_evaluation(model, index, &f.evaluation) != CAL_OK)
		return f;
	f.bound = flex.frequency_bound;
	f.modes = calloc((size_t)body.modes, sizeof *f.modes);
	if (f.modes && cal_flex_report(desc, body.id, &f.report, f.modes, body.modes, NULL) != CAL_OK) {
		free(f.modes);
		f.modes = NULL;
	}
	for (int i = 0; f.modes && i < f.report.modes; i++) {
		f.damping_low = fmin(f.damping_low, f.modes[i].damping_ratio);
		f.damping_high = fmax(f.damping_high, f.modes[i].damping_ratio);
	}
	return f;
}

static bool is_mass_point(const CalBodyInfo *body, const char *name) {
	return body->modes > 0 && strncmp(name, "mass", 4) == 0 && isdigit((unsigned char)name[4]);
}

static void print_flexible(const CalDesc *desc, const CalModel *model, int index) {
	const double two_pi = 6.283185307179586;
	CalBodyInfo body;
	Flexible f = flexible_of(desc, model, index);
	if (!f.modes || cal_model_body(model, index, &body) != CAL_OK)
		return;
	const CalFlexMode *first = &f.modes[0], *last = &f.modes[f.report.modes - 1];
	printf("  modes  %s: %d, held %.6g to %.6g Hz", body.name, f.report.modes, first->frequency / two_pi,
	       last->frequency / two_pi);
	if (first->free_frequency > 0) // a shape that is a rigid motion leaves none
		printf(", free %.6g to %.6g Hz", first->free_frequency / two_pi, last->free_frequency / two_pi);
	printf(", damping ratio %.4g to %.4g\n", f.damping_low, f.damping_high);
	if (f.bound > 0)
		printf("         frequency bound %.6g Hz\n", f.bound / two_pi);
	printf("         inertia by ");
	if (f.evaluation.invariant_masses)
		printf("invariants of %d masses%s", f.evaluation.invariant_masses, f.evaluation.summed_masses ? " and " : "");
	if (f.evaluation.summed_masses || !f.evaluation.invariant_masses)
		printf("sums over %d masses", f.evaluation.summed_masses);
	printf("; modes eliminated %s\n", f.evaluation.linear ? "at linear cost"
	                                  : cal_model_solver(model) == CAL_SOLVER_DENSE
	                                      ? "with all other degrees of freedom"
	                                      : "directly");
	free(f.modes);
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_body(const CalModel *model, int index) {
	CalBodyInfo body, parent;
	if (cal_model_body(model, index, &body) != CAL_OK)
		return;
	bool has_parent = body.parent >= 0 && cal_model_body(model, body.parent, &parent) == CAL_OK;
	char dof[32];
	snprintf(dof, sizeof dof, body.modes ? "%d+%d" : "%d", body.nu, body.modes);
	printf("  %5d  %-20s %-20s %-20s %-12s %5s  %.6g\n", index, body.name, has_parent ? parent.name : "(ground)",
	       body.joint, cal_joint_type_name(body.type), dof, body.mass + body.lumped_mass);
}

static void print_nodes(const CalModel *model) {
	for (int i = 0; i < cal_model_node_count(model); i++) {
		CalNodeInfo node;
		CalBodyInfo body;
		if (cal_model_node(model, i, &node) != CAL_OK || node.body < 0 ||
		    cal_model_body(model, node.body, &body) != CAL_OK || body.node == i || is_mass_point(&body, node.name))
			continue;
		printf("  node   %s/%s at (%.6g, %.6g, %.6g) m\n", body.name, node.name, node.pose.r.x, node.pose.r.y,
		       node.pose.r.z);
	}
}

/* Joints of a mechanism: independent ones, or the others; between: what stands between two. */
static void print_joints_of(const CalModel *model, int mechanism, bool independent, const char *between, bool quoted) {
	bool any = false;
	for (int i = 0; i < cal_model_body_count(model); i++) {
		CalBodyInfo body;
		if (cal_model_body(model, i, &body) != CAL_OK || body.mechanism != mechanism + 1 ||
		    (body.nu > 0) != independent)
			continue;
		printf("%s", any ? between : "");
		any = true;
		if (quoted)
			json_string(stdout, body.joint);
		else
			printf("%s", body.joint);
	}
}

static void print_mechanisms(const CalModel *model) {
	for (int i = 0; i < cal_model_mechanism_count(model); i++) {
		CalMechanismInfo m;
		CalBodyInfo base = {.name = "the ground"};
		if (cal_model_mechanism(model, i, &m) != CAL_OK)
			continue;
		if (m.base >= 0)
			cal_model_body(model, m.base, &base);
		printf("  embedded %s on %s: %d loop%s, %d equations; independent ", m.name, base.name, m.loops,
		       plural(m.loops), m.rows);
		print_joints_of(model, i, true, ", ", false);
		printf("; dependent ");
		print_joints_of(model, i, false, ", ", false);
		printf("\n");
	}
}

static const char *loop_solver_name(CalLoopSolver solver) {
	return solver == CAL_LOOPS_EARLY         ? "early elimination"
	       : solver == CAL_LOOPS_COUPLED     ? "coupled elimination"
	       : solver == CAL_LOOPS_ELIMINATION ? "elimination where they close"
	                                         : "cut joints";
}

enum { MANY_EQUATIONS = 60 }; // on one joint: the loops cost more than all bodies on their path

static void print_loop_cost(const CalModel *model) {
	CalLoopCost cost;
	const int loops = cal_model_loop_count(model), rows = cal_model_row_count(model);
	if (loops == 0 || cal_model_loop_cost(model, &cost) != CAL_OK)
		return;
	printf("  loops    %d with %d equation%s by %s", loops, rows, plural(rows), loop_solver_name(cost.solver));
	if (cost.early)
		printf(" of %d", cost.early);
	printf(": at most %d %s%s on a joint, %d coupling%s, about %.0f products\n", cost.carried,
	       cost.solver == CAL_LOOPS_COUPLED ? "coupled number" : "open equation", plural(cost.carried), cost.couplings,
	       plural(cost.couplings), cost.products);
	if (cost.carried > MANY_EQUATIONS)
		printf(
			"           the cost grows with the cube of what meets on a joint: a tree with loops between neighbors is cheaper "
			"(docs/loops.md)\n");
}

static void json_loop_cost(const CalModel *model) {
	CalLoopCost cost;
	if (cal_model_loop_count(model) == 0 || cal_model_loop_cost(model, &cost) != CAL_OK)
		return;
	printf("\"loop_cost\": {\"solver\": \"%s\", \"early\": %d, \"carried\": %d, \"couplings\": %d, \"products\": ",
	       loop_solver_name(cost.solver), cost.early, cost.carried, cost.couplings);
	json_number(stdout, cost.products);
	printf("},\n      ");
}

static CalStatus print_group(const CalDesc *desc, CalSim *sim, int group, const Mobility *mobility, BranchesAsked asked,
                             CalError *error) {
	const CalModel *model = cal_sim_model(sim, group);
	CalVec3 g = cal_model_gravity(model);
	int bodies = cal_model_body_count(model), dofs = cal_model_u_count(model);
	int coordinates = cal_model_q_count(model), nodes = cal_model_node_count(model);
	CalSimMonitor now = {0};
	printf("group \"%s\": %d %s, %d %s of freedom, %d coordinate%s, %d node%s\n", cal_model_name(model), bodies,
	       bodies == 1 ? "body" : "bodies", dofs, dofs == 1 ? "degree" : "degrees", coordinates, plural(coordinates),
	       nodes, plural(nodes));
	printf("  solver   %s (about %.0f flops for one forward dynamics), model %zu bytes\n", solver_name(model),
	       cal_model_flops(model, cal_model_solver(model)), cal_model_size(model));
	printf("  gravity  (%.6g, %.6g, %.6g) m/s^2\n", g.x, g.y, g.z);
	if (cal_sim_propagation(sim, group) != CAL_PROPAGATE_FLEXIBLE)
		printf("  propagation  %s\n", cal_propagation_name(cal_sim_propagation(sim, group)));
	if (cal_sim_monitor(sim, group, &now) == CAL_OK)
		printf("  mass     %.6g kg, center at (%.6g, %.6g, %.6g) m in the initial state\n", now.momentum.mass,
		       now.momentum.com.x, now.momentum.com.y, now.momentum.com.z);
	printf("  %5s  %-20s %-20s %-20s %-12s %4s  %s\n", "index", "body", "parent", "joint", "type", "dof", "mass [kg]");
	for (int i = 0; i < cal_model_body_count(model); i++)
		print_body(model, i);
	for (int i = 0; i < cal_model_body_count(model); i++)
		print_flexible(desc, model, i);
	print_nodes(model);
	print_mechanisms(model);
	print_loop_cost(model);
	if (cal_model_loop_count(model) > 0)
		mobility_print(mobility, stdout);
	return asked.workers > 0 ? branches_print(model, asked, stdout, error) : CAL_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_numbers(const char *name, const CalFlexMode *modes, int count, size_t offset, double unit) {
	printf(", \"%s\": [", name);
	for (int i = 0; i < count; i++) {
		double value;
		memcpy(&value, (const char *)&modes[i] + offset, sizeof value);
		printf("%s", i ? ", " : "");
		json_number(stdout, value / unit);
	}
	printf("]");
}

static void json_flexible(const CalDesc *desc, const CalModel *model, int index) {
	const double two_pi = 6.283185307179586;
	Flexible f = flexible_of(desc, model, index);
	if (!f.modes)
		return;
	const int count = f.report.modes;
	json_numbers("frequencies_hz", f.modes, count, offsetof(CalFlexMode, frequency), two_pi);
	json_numbers("free_frequencies_hz", f.modes, count, offsetof(CalFlexMode, free_frequency), two_pi);
	json_numbers("damping_ratios", f.modes, count, offsetof(CalFlexMode, damping_ratio), 1);
	if (f.bound > 0) {
		printf(", \"frequency_bound_hz\": ");
		json_number(stdout, f.bound / two_pi);
	}
	printf(", \"invariant_masses\": %d, \"summed_masses\": %d, \"linear_elimination\": %s",
	       f.evaluation.invariant_masses, f.evaluation.summed_masses, f.evaluation.linear ? "true" : "false");
	free(f.modes);
}

static void json_body(const CalDesc *desc, const CalModel *model, int index) {
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
	json_flexible(desc, model, index);
	printf("}");
}

static void json_mechanism(const CalModel *model, int index) {
	CalMechanismInfo m;
	CalBodyInfo base;
	if (cal_model_mechanism(model, index, &m) != CAL_OK)
		return;
	printf("%s\n        {\"name\": ", index ? "," : "");
	json_string(stdout, m.name);
	printf(", \"base\": ");
	if (m.base >= 0 && cal_model_body(model, m.base, &base) == CAL_OK)
		json_string(stdout, base.name);
	else
		printf("null");
	printf(", \"loops\": %d, \"equations\": %d, \"independent\": [", m.loops, m.rows);
	print_joints_of(model, index, true, ", ", true);
	printf("], \"dependent\": [");
	print_joints_of(model, index, false, ", ", true);
	printf("]}");
}

static CalStatus json_group(const CalDesc *desc, CalSim *sim, int group, const Mobility *mobility, BranchesAsked asked,
                            CalError *error) {
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
	printf(", \"propagation\": \"%s\"", cal_propagation_name(cal_sim_propagation(sim, group)));
	if (cal_sim_monitor(sim, group, &now) == CAL_OK) {
		printf(",\n      \"mass\": ");
		json_number(stdout, now.momentum.mass);
		printf(", \"center_of_mass\": ");
		json_vec3(stdout, now.momentum.com);
	}
	printf(",\n      \"body_list\": [");
	for (int i = 0; i < cal_model_body_count(model); i++)
		json_body(desc, model, i);
	printf("],\n      \"embedded\": [");
	for (int i = 0; i < cal_model_mechanism_count(model); i++)
		json_mechanism(model, i);
	printf("],\n      ");
	json_loop_cost(model);
	mobility_json(mobility, stdout);
	CalStatus status = CAL_OK;
	if (asked.workers > 0) {
		printf(",\n      \"branches\": ");
		status = branches_json(model, asked, stdout, error);
	}
	printf("}");
	return status;
}

static void json_instances(const CalSetup *setup) {
	printf(",\n  \"subsystems\": [");
	for (int i = 0; i < cal_setup_instance_count(setup); i++) {
		CalSetupInstance it;
		if (cal_setup_instance(setup, i, &it) != CAL_OK)
			continue;
		printf("%s\n    {\"name\": ", i ? "," : "");
		json_string(stdout, it.name);
		printf(", \"file\": ");
		json_string(stdout, it.file);
		printf(", \"joint\": ");
		if (it.joint)
			json_string(stdout, it.joint);
		else
			printf("null");
		printf(", \"bodies\": %d, \"compiled\": %s, \"component\": %s}", it.body_count,
		       it.is_compiled ? "true" : "false", it.is_component ? "true" : "false");
	}
	printf("],\n  \"interface\": [");
	for (int i = 0; i < cal_setup_interface_node_count(setup); i++) {
		printf("%s", i ? ", " : "");
		json_string(stdout, cal_setup_interface_node(setup, i));
	}
	printf("]");
}

static void print_instances(const CalSetup *setup) {
	for (int i = 0; i < cal_setup_instance_count(setup); i++) {
		CalSetupInstance it;
		const CalStatus status = cal_setup_instance(setup, i, &it);
		if (status == CAL_OK && it.is_compiled)
			printf("subsystem \"%s\": %s, compiled\n", it.name, it.file);
		else if (status == CAL_OK)
			printf("%s \"%s\": %s, %d %s, %s%s\n", it.is_component ? "component" : "subsystem", it.name, it.file,
			       it.body_count, it.body_count == 1 ? "body" : "bodies",
			       it.joint ? "carried by joint " : "not attached", it.joint ? it.joint : "");
	}
	for (int i = 0; i < cal_setup_interface_node_count(setup); i++)
		printf("interface node %s\n", cal_setup_interface_node(setup, i));
}

static CalStatus print_json(const Loaded *loaded, const Mobility *mobility, BranchesAsked asked, CalError *error) {
	CalStatus status = CAL_OK;
	printf("{\n  \"title\": ");
	json_string(stdout, loaded->settings.title ? loaded->settings.title : "");
	printf(",\n  \"groups\": [");
	for (int i = 0; i < cal_sim_group_count(loaded->sim) && status == CAL_OK; i++)
		status = json_group(cal_setup_desc(loaded->setup), loaded->sim, i, &mobility[i], asked, error);
	printf("]");
	json_instances(loaded->setup);
	printf("\n}\n");
	return status;
}

static CalStatus print_text(const Loaded *loaded, const Mobility *mobility, BranchesAsked asked, CalError *error) {
	CalStatus status = CAL_OK;
	if (loaded->settings.title && loaded->settings.title[0])
		printf("%s\n", loaded->settings.title);
	print_instances(loaded->setup);
	for (int i = 0; i < cal_sim_group_count(loaded->sim) && status == CAL_OK; i++)
		status = print_group(cal_setup_desc(loaded->setup), loaded->sim, i, &mobility[i], asked, error);
	return status;
}

/* Mobility is found first: the start of the simulation closes the loops. */
static int print_loaded(Loaded *loaded, const char *path, bool json, BranchesAsked asked) {
	const int groups = cal_sim_group_count(loaded->sim);
	CalError error = {0};
	Mobility *mobility = calloc((size_t)groups, sizeof *mobility);
	CalStatus status = mobility ? CAL_OK : CAL_ERR_MEMORY;
	for (int i = 0; i < groups && status == CAL_OK; i++)
		status = mobility_find(&mobility[i], loaded->sim, i);
	if (status == CAL_OK)
		status = cal_sim_restart(loaded->sim, &error);
	if (status == CAL_OK)
		status = (json ? print_json : print_text)(loaded, mobility, asked, &error);
	int code = say_status(path, status, &error);
	for (int i = 0; mobility && i < groups; i++)
		mobility_free(&mobility[i]);
	free(mobility);
	return code;
}

int command_info(int argc, char **argv) {
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
	                                        {"branches", required_argument, NULL, 'b'},
	                                        {"cross-loops", required_argument, NULL, 'x'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	bool json = false;
	BranchesAsked asked = {0};
	const char *cross_loops = NULL;
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("info", argv, options);
		json |= option == 'j';
		char *end = "";
		if (option == 'b' && (!branches_parse(strtod(optarg, &end), &asked.workers) || *end))
			return say_usage("info", "--branches takes a whole number from 1 to %d, not '%s'", BRANCHES_MOST, optarg);
		cross_loops = option == 'x' ? optarg : cross_loops;
		if (option == 'x' && !cross_loops_parse(optarg, &asked.cross_loops))
			return say_usage("info", "--cross-loops is auto, never or always, not '%s'", optarg);
	}
	if (argc - optind != 1)
		return say_usage("info", "name one model file (or - for stdin)");
	if (cal_results_is_hdf5(argv[optind]))
		return info_results(argv[optind], json);
	CalSetup *setup;
	int code = input_open(argv[optind], &setup);
	if (code != EXIT_OK)
		return code;
	if (!cross_loops)
		asked.cross_loops = cal_setup_run(setup).cross_loops;
	Loaded loaded = {0};
	CalError error = {0};
	code = say_status(input_name(argv[optind]), loaded_build(&loaded, setup, NULL, &error), &error);
	if (code == EXIT_OK)
		say_left_out(input_name(argv[optind]), loaded.sim);
	if (code == EXIT_OK)
		code = print_loaded(&loaded, input_name(argv[optind]), json, asked);
	loaded_destroy(&loaded);
	return code;
}
