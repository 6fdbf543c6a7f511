// SPDX-License-Identifier: Apache-2.0
/*
 * modes_campbell.c — `calder modes --system --speed`: frequencies of a model over the speed of a rotor (Campbell diagram).
 *
 * The speed is set at the state of the run, and all others are zero; a rotor that is symmetric about its axis then turns
 * steadily. Frequencies are those of the coordinates of the model: a tilt before the joint that turns is one in fixed axes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"
#include "output.h"
#include "svg.h"

static const double two_pi = 6.283185307179586;

typedef struct Campbell {
	const SystemModesOptions *o;
	int group, dof;
	int lines;         // frequencies at each speed, the most that there are
	double *speed;     // [points]
	double *frequency; // [lines][points] Hz, ascending; NAN: there are fewer
} Campbell;

static bool find_dof(const SystemModesOptions *o, CalSim *sim, Campbell *c) {
	for (c->group = 0; c->group < cal_sim_group_count(sim); c->group++) {
		const CalModel *model = cal_sim_model(sim, c->group);
		if (o->group && strcmp(o->group, cal_model_name(model)) != 0)
			continue;
		for (c->dof = 0; c->dof < cal_model_u_count(model); c->dof++) {
			char name[160] = "";
			cal_model_dof_name(model, c->dof, name, sizeof name);
			if (strcmp(name, o->speed) == 0)
				return true;
		}
	}
	return false;
}

/* Frequencies of all oscillations at one speed, in the column of that point. */
static CalStatus find_frequencies(Campbell *c, CalSim *sim, int point, CalError *error) {
	const CalSystemModesOptions which = {.most = c->o->most, .max_frequency = c->o->max_frequency};
	const CalLinearOptions how = {.structural = c->o->structural};
	CalLinear linear = {0};
	CalSystemModes modes = {0};
	double *u = cal_sim_state(sim, c->group)->u;
	memset(u, 0, (size_t)cal_model_u_count(cal_sim_model(sim, c->group)) * sizeof *u);
	u[c->dof] = c->speed[point];
	CalStatus status = cal_sim_restart(sim, error);
	if (status == CAL_OK)
		status = cal_sim_linearize(sim, c->group, &how, &linear, error);
	if (status == CAL_OK)
		status = cal_linear_modes(&linear, &which, NULL, &modes, error);
	int line = 0;
	for (int i = 0; status == CAL_OK && i < modes.count; i++)
		if (modes.mode[i].kind == CAL_MODE_OSCILLATION)
			c->frequency[(size_t)line++ * (size_t)c->o->points + (size_t)point] = modes.mode[i].frequency / two_pi;
	c->lines = line > c->lines ? line : c->lines;
	cal_system_modes_release(&modes);
	cal_linear_release(&linear);
	return status;
}

/* ---- output ---------------------------------------------------------------------------------------------- */

static void print_table(const Campbell *c) {
	printf("%s: frequencies [Hz] over the speed of \"%s\"\n  speed [rad/s]\n", input_name(c->o->path), c->o->speed);
	for (int p = 0; p < c->o->points; p++) {
		printf("  %12.6g", c->speed[p]);
		for (int i = 0; i < c->lines; i++) {
			const double f = c->frequency[(size_t)i * (size_t)c->o->points + (size_t)p];
			if (isfinite(f))
				printf(" %12.6g", f);
		}
		putchar('\n');
	}
}

static void print_json(const Campbell *c) {
	printf("{\"speed\": ");
	json_string(stdout, c->o->speed);
	printf(", \"points\": [");
	for (int p = 0; p < c->o->points; p++) {
		printf("%s{\"rad_per_s\": ", p ? ",\n " : "");
		json_number(stdout, c->speed[p]);
		printf(", \"frequencies_hz\": [");
		for (int i = 0; i < c->lines; i++) {
			const double f = c->frequency[(size_t)i * (size_t)c->o->points + (size_t)p];
			if (!isfinite(f))
				break;
			fputs(i ? ", " : "", stdout);
			json_number(stdout, f);
		}
		printf("]}");
	}
	printf("]}\n");
}

/* With the line of one oscillation per turn, at which an unbalance excites. */
static int write_lines(const Campbell *c, const char *title, SvgLine *lines, double *once) {
	const size_t points = (size_t)c->o->points;
	char text[400];
	OutputFile out;
	const int code = output_open(&out, c->o->campbell);
	if (code != EXIT_OK)
		return code;
	for (int i = 0; i < c->lines; i++)
		lines[i] = (SvgLine){"", c->frequency + (size_t)i * points};
	for (size_t p = 0; p < points; p++)
		once[p] = fabs(c->speed[p]) / two_pi;
	lines[c->lines] = (SvgLine){"once per turn", once};
	snprintf(text, sizeof text, "%.200s: frequencies over the speed of %.150s", title, c->o->speed);
	const SvgPanel panel = {"frequency", "Hz", lines, c->lines + 1};
	svg_write(out.stream, &(SvgPlot){.title = text,
	                                 .x_title = c->o->speed,
	                                 .x_unit = "rad/s",
	                                 .x = c->speed,
	                                 .count = points,
	                                 .stride = 1,
	                                 .panels = &panel,
	                                 .panel_count = 1});
	return output_close(&out, EXIT_OK);
}

static int draw(const Campbell *c, const char *title) {
	SvgLine *lines = calloc((size_t)c->lines + 1, sizeof *lines);
	double *once = calloc((size_t)c->o->points, sizeof *once);
	const int code =
		lines && once ? write_lines(c, title, lines, once) : say_status(input_name(c->o->path), CAL_ERR_MEMORY, NULL);
	free(once);
	free(lines);
	return code;
}

static int find_all(Campbell *c, CalSim *sim, size_t most) {
	const size_t points = (size_t)c->o->points;
	CalError error = {0};
	CalStatus status = CAL_OK;
	for (size_t i = 0; i < points * most; i++)
		c->frequency[i] = NAN;
	for (int p = 0; p < c->o->points && status == CAL_OK; p++) {
		c->speed[p] = c->o->from + (c->o->to - c->o->from) * p / (c->o->points - 1);
		status = find_frequencies(c, sim, p, &error);
	}
	return say_status(input_name(c->o->path), status, &error);
}

static int show(Campbell *c, CalSim *sim, const char *title, size_t most) {
	const int code = find_all(c, sim, most);
	if (code != EXIT_OK)
		return code;
	(c->o->json ? print_json : print_table)(c);
	return c->o->campbell ? draw(c, title) : EXIT_OK;
}

int modes_campbell(const SystemModesOptions *o, CalSim *sim, const char *title) {
	Campbell c = {.o = o};
	if (!find_dof(o, sim, &c)) {
		say_error(input_name(o->path), "--speed: no degree of freedom has this name; calder info lists them");
		return EXIT_INPUT;
	}
	const size_t points = (size_t)o->points, most = 2 * (size_t)cal_model_u_count(cal_sim_model(sim, c.group)) + 1;
	c.speed = calloc(points, sizeof *c.speed);
	c.frequency = calloc(points * most, sizeof *c.frequency);
	const int code =
		c.speed && c.frequency ? show(&c, sim, title, most) : say_status(input_name(o->path), CAL_ERR_MEMORY, NULL);
	free(c.frequency);
	free(c.speed);
	return code;
}
