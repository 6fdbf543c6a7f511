// SPDX-License-Identifier: Apache-2.0
/*
 * modes_system.c — `calder modes --system`: frequencies, damping ratios and shapes of the groups of a model as a whole.
 *
 * The run of the file is taken to the time that is asked for, each group is linearized there (cal_sim_linearize), and its
 * modes are printed with the joints and flexible bodies that move in them, by their share of the kinetic energy.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"
#include "output.h"

static const double two_pi = 6.283185307179586;
enum { MOST_SHARES = 3 };
static const double least_share = 0.05; // that is named in the table

/* Participation of a joint, or of the modes of a flexible body. */
typedef struct Share {
	const char *name;
	const char *of; // "joint" or "body"
	double value;
} Share;

static int by_share(const void *a, const void *b) {
	const double x = ((const Share *)a)->value, y = ((const Share *)b)->value;
	return (x < y) - (x > y);
}

/* Shares of all joints and flexible bodies, the largest first; shares[2 bodies]. */
static int collect_shares(const CalModel *model, const CalSystemMode *mode, Share *shares) {
	int count = 0;
	for (int i = 0; i < cal_model_body_count(model); i++) {
		CalBodyInfo info;
		double joint = 0, modes = 0;
		if (cal_model_body(model, i, &info) != CAL_OK)
			continue;
		for (int u = info.u; u < info.u + info.nu; u++)
			joint += mode->participation[u];
		for (int u = info.u + info.nu; u < info.u + info.nu + info.modes; u++)
			modes += mode->participation[u];
		if (info.nu > 0)
			shares[count++] = (Share){info.joint, "joint", joint};
		if (info.modes > 0)
			shares[count++] = (Share){info.name, "body", modes};
	}
	qsort(shares, (size_t)count, sizeof *shares, by_share);
	return count;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_shares(const Share *shares, int count) {
	for (int i = 0; i < count && i < MOST_SHARES && (i == 0 || shares[i].value >= least_share); i++)
		printf("%s%s %s %.0f %%", i ? ", " : "  ", shares[i].of, shares[i].name, 100 * shares[i].value);
	putchar('\n');
}

/* mass NULL: not asked for. */
static void print_mode(const CalModel *model, const CalSystemMode *mode, const double *mass, int number,
                       Share *shares) {
	if (mode->kind == CAL_MODE_RIGID)
		printf("  %4d  rigid-body                ", number);
	else if (mode->kind == CAL_MODE_OSCILLATION)
		printf("  %4d  %12.6g Hz  %10.4g ", number, mode->frequency / two_pi, mode->damping);
	else
		printf("  %4d  aperiodic %10.4g 1/s  %s", number, mode->real, mode->real > 0 ? "GROWS" : "     ");
	print_shares(shares, collect_shares(model, mode, shares));
	if (mass)
		printf("        effective mass %10.4g %10.4g %10.4g kg, inertia %10.4g %10.4g %10.4g kg m^2\n", mass[0],
		       mass[1], mass[2], mass[3], mass[4], mass[5]);
}

static void print_sum(const CalSystemModes *modes, const double (*mass)[6]) {
	double sum[6] = {0};
	for (int i = 0; i < modes->count; i++)
		for (int k = 0; k < 6; k++)
			sum[k] += mass[i][k];
	printf("  all   effective mass %10.4g %10.4g %10.4g kg, inertia %10.4g %10.4g %10.4g kg m^2\n", sum[0], sum[1],
	       sum[2], sum[3], sum[4], sum[5]);
}

/* What is known of the modes of a group. */
typedef struct GroupModes {
	const CalModel *model;
	const CalLinear *linear;
	const CalSystemModes *modes;
	const double (*mass)[6]; // [modes]; NULL: not asked for
	double time;
	Share *shares; // scratch
} GroupModes;

static void print_group(const GroupModes *g) {
	const CalLinear *linear = g->linear;
	const CalSystemModes *modes = g->modes;
	printf("  group       \"%s\" at t = %g s: %d independent degrees of freedom of %d, %d rigid-body mode%s%s\n",
	       cal_model_name(g->model), g->time, linear->count, linear->nu, modes->rigid, plural(modes->rigid),
	       modes->damped ? "" : ", undamped");
	if (linear->imbalance > 1e-6)
		printf(
			"  note        not in equilibrium: it accelerates by %.3g (rad/s^2 and m/s^2, mean by mass); the modes are "
			"those about the present motion\n",
			linear->imbalance);
	printf("  mode     frequency  damping ratio   moves, by kinetic energy\n");
	for (int i = 0; i < modes->count; i++)
		print_mode(g->model, &modes->mode[i], g->mass ? g->mass[i] : NULL, i + 1, g->shares);
	if (g->mass && !modes->damped) // pairs of real eigenvalues would count twice
		print_sum(modes, g->mass);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_numbers(const char *name, const double *numbers, int count) {
	printf(", \"%s\": [", name);
	for (int i = 0; i < count; i++) {
		if (i)
			fputs(", ", stdout);
		json_number(stdout, numbers[i]);
	}
	putchar(']');
}

static void json_value(const char *name, double value) {
	printf(", \"%s\": ", name);
	json_number(stdout, value);
}

static void json_mode(const CalModel *model, const CalSystemMode *mode, const double *mass, bool damped,
                      Share *shares) {
	static const char *const kinds[] = {"rigid", "oscillation", "aperiodic"};
	const int nu = cal_model_u_count(model), count = collect_shares(model, mode, shares);
	printf("\n      {\"kind\": \"%s\"", kinds[mode->kind]);
	json_value("frequency_hz", mode->frequency / two_pi);
	json_value("damping_ratio", mode->damping);
	json_value("real", mode->real);
	json_value("imag", mode->imag);
	fputs(", \"participation\": {", stdout);
	for (int i = 0; i < count; i++) {
		char name[160];
		snprintf(name, sizeof name, "%s:%.140s", shares[i].of, shares[i].name);
		fputs(i ? ", " : "", stdout);
		json_string(stdout, name);
		fputs(": ", stdout);
		json_number(stdout, shares[i].value);
	}
	putchar('}');
	if (mass) {
		json_numbers("effective_mass", mass, 3);
		json_numbers("effective_inertia", mass + 3, 3);
	}
	json_numbers("shape", mode->shape, nu);
	if (damped)
		json_numbers("shape_imag", mode->shape_imag, nu);
	putchar('}');
}

static void json_group(const GroupModes *g) {
	const CalModel *model = g->model;
	const CalLinear *linear = g->linear;
	const CalSystemModes *modes = g->modes;
	printf("  {\"group\": ");
	json_string(stdout, cal_model_name(model));
	json_value("time", g->time);
	printf(", \"dof\": %d, \"independent\": %d, \"rigid_body_modes\": %d, \"damped\": %s", linear->nu, linear->count,
	       modes->rigid, modes->damped ? "true" : "false");
	json_value("imbalance", linear->imbalance);
	fputs(",\n    \"speeds\": [", stdout);
	for (int i = 0; i < linear->nu; i++) {
		char name[128] = "";
		cal_model_dof_name(model, i, name, sizeof name);
		fputs(i ? ", " : "", stdout);
		json_string(stdout, name);
	}
	fputs("],\n    \"modes\": [", stdout);
	for (int i = 0; i < modes->count; i++) {
		fputs(i ? "," : "", stdout);
		json_mode(model, &modes->mode[i], g->mass ? g->mass[i] : NULL, modes->damped, g->shares);
	}
	printf("]}");
}

/* ---- command ----------------------------------------------------------------------------------- */

static CalStatus show_group(const SystemModesOptions *o, CalSim *sim, int group, Animation *animation,
                            CalError *error) {
	const CalModel *model = cal_sim_model(sim, group);
	const CalSystemModesOptions which = {.most = o->most, .max_frequency = o->max_frequency};
	const CalLinearOptions how = {.structural = o->structural};
	Share *shares = calloc(2 * (size_t)cal_model_body_count(model) + 1, sizeof *shares);
	CalLinear linear = {0};
	CalSystemModes modes = {0};
	CalStatus status = shares ? cal_sim_linearize(sim, group, &how, &linear, error) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_linear_modes(&linear, &which, NULL, &modes, error);
	double(*mass)[6] = o->masses ? calloc((size_t)modes.count + 1, sizeof *mass) : NULL;
	if (status == CAL_OK && o->masses)
		status = mass ? cal_sim_mode_masses(sim, group, &linear, &modes, mass, error) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		(o->json ? json_group : print_group)(
			&(GroupModes){model, &linear, &modes, (const double(*)[6])mass, cal_sim_time(sim), shares});
	if (status == CAL_OK && o->animate)
		status = animation_add(animation, sim, group, &modes);
	free(mass);
	cal_system_modes_release(&modes);
	cal_linear_release(&linear);
	free(shares);
	return status;
}

static int show_groups(const SystemModesOptions *o, CalSim *sim, Animation *animation) {
	CalError error = {0};
	int shown = 0, code = EXIT_OK;
	if (o->json)
		printf("[\n");
	else
		printf("%s: modes of the system\n", input_name(o->path));
	for (int g = 0; g < cal_sim_group_count(sim) && code == EXIT_OK; g++) {
		if (o->group && strcmp(o->group, cal_model_name(cal_sim_model(sim, g))) != 0)
			continue;
		if (shown++ && o->json)
			printf(",\n");
		code = say_status(input_name(o->path), show_group(o, sim, g, animation, &error), &error);
	}
	if (o->json)
		printf("\n]\n");
	return code;
}

static int find_group(const SystemModesOptions *o, const CalSim *sim) {
	char text[500];
	int used = snprintf(text, sizeof text, "there is no group \"%.80s\"; there are ", o->group ? o->group : "");
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const char *name = cal_model_name(cal_sim_model(sim, g));
		if (!o->group || strcmp(o->group, name) == 0)
			return EXIT_OK;
		if (used < 400)
			used += snprintf(text + used, sizeof text - (size_t)used, "%s\"%.60s\"", g ? ", " : "", name);
	}
	say_error(input_name(o->path), text);
	return EXIT_INPUT;
}

/* The table, then what is drawn of it. */
static int show_and_animate(const SystemModesOptions *o, CalSim *sim, const AnimationModel *of) {
	Animation animation = {0};
	int code = show_groups(o, sim, &animation);
	if (code == EXIT_OK && o->animate)
		code = animation_write(&animation, sim, o->animate, o->scale, of);
	animation_free(&animation);
	return code;
}

/* The model as a file, from malloc. */
static CalStatus write_text(const CalSetup *setup, char **text, CalError *error) {
	size_t size = 0;
	FILE *out = open_memstream(text, &size);
	if (!out)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_model_file_write(setup, out, error);
	return fclose(out) != 0 && status == CAL_OK ? CAL_ERR_MEMORY : status;
}

static int prepare_animation(const SystemModesOptions *o, const CalSetup *setup, char **text) {
	CalError error = {0};
	if (!o->animate)
		return EXIT_OK;
	const int code = output_spares_model("modes", (Written){o->animate, "--animate"}, o->path, setup);
	return code == EXIT_OK ? say_status(input_name(o->path), write_text(setup, text, &error), &error) : code;
}

int modes_system(const SystemModesOptions *o) {
	CalSetup *setup = NULL;
	char *text = NULL;
	Loaded loaded = {.refuses_code = true}; // without it, modes would be those of another model
	int code = input_open(o->path, &setup);
	if (code == EXIT_OK)
		code = prepare_animation(o, setup, &text);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		free(text);
		return code;
	}
	code = loaded_at(&loaded, setup, input_name(o->path), o->at);
	if (code == EXIT_OK)
		code = find_group(o, loaded.sim);
	const char *title = loaded.settings.title && loaded.settings.title[0] ? loaded.settings.title : input_name(o->path);
	if (code == EXIT_OK)
		code = o->speed ? modes_campbell(o, loaded.sim, title)
		                : show_and_animate(o, loaded.sim, &(AnimationModel){title, input_name(o->path), text});
	loaded_destroy(&loaded);
	free(text);
	return code;
}
