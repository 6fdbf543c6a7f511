// SPDX-License-Identifier: Apache-2.0
/*
 * trim.c — `calder trim`: equilibria of a model, their stability, and the model with one of them as its initial state
 * (docs/trim.md).
 *
 * Each start is trimmed in a simulation of its own; solutions that differ by less than 1e-6, or by whole turns, are one.
 */
#define _GNU_SOURCE // getopt_long

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "trim.h"

static const char help[] =
	"usage: calder trim [OPTION]... FILE\n"
	"\n"
	"Finds equilibria: states in which nothing accelerates under gravity, springs, loads, devices and loops as they act at the\n"
	"start of the run. Driven joints keep their speed: a steady rotation. Prints each with its stability, by the poles of\n"
	"the linearized model (docs/trim.md).\n"
	"  --at T              from the state at a time of the run, with what acts then, e.g. 2.5 or 100ms (0: the start)\n"
	"  --starts N          N starts: the initial state, and others drawn at random about it (1)\n"
	"  --spread X          how far: angles in rad, lengths as many of their scale (pi)\n"
	"  --seed S            of the random starts (1)\n"
	"  --tolerance A       accelerations that count as zero, in SI units (1e-9)\n"
	"  -o OUT.yaml         write the model with an equilibrium as its initial state, for calder run (- for stdout)\n"
	"  --solution N        which one (the first that is stable, or the first)\n"
	"  --along INPUT       follow an equilibrium while an input (as calder linearize names them) is added to what acts,\n"
	"  --from A, --to B    from one value to another, in SI units, past limit points; --step S: longest (0.1)\n"
	"                      --back X: so far beyond A, in parts of B - A, if the path comes back (0)\n"
	"                      -o OUT.csv writes the points\n"
	"  --json              solutions as JSON\n"
	"\n"
	"example: calder trim examples/pendulum.yaml --starts 10 -o hanging.yaml\n"
	"         calder trim examples/pendulum.yaml --along force:hinge --from 0 --to 20\n";

enum { MOST_STARTS = 100000, MOST_SOLUTIONS = 200 };
static const double two_pi = 6.283185307179586, same = 1e-6;

typedef struct Request {
	const char *path, *out;
	int starts, solution; // solution 0: chosen
	uint64_t seed;
	double spread, tolerance, at; // at [s]
	const char *along;            // a path: its parameter; NULL: none
	double from, to, step, back;
	bool json;
} Request;

/* An equilibrium: coordinates of all groups one after the other. */
typedef struct Solution {
	CalTrim trim;
	int start, found; // the first start that led to it; how many did
	double *q, *u;
	double *x; // states of devices
} Solution;

typedef struct Solutions {
	Solution *of;
	int count;
	int failed;     // starts without one
	CalError first; // why the first of these had none
} Solutions;

static void solution_free(Solution *s) { free(s->q), free(s->u), free(s->x); }

static void solutions_free(Solutions *s) {
	for (int i = 0; i < s->count; i++)
		solution_free(&s->of[i]);
	free(s->of);
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static int total(const CalSim *sim, int (*count)(const CalModel *model)) {
	int sum = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		sum += count(cal_sim_model(sim, g));
	return sum;
}

/* Whole turns of a joint are the same place. */
static double distance(const CalModel *model, int u, double difference) {
	CalCoordinateInfo info;
	if (cal_model_speed(model, u, &info) == CAL_OK && info.kind == CAL_COORDINATE_ANGLE)
		difference -= two_pi * floor(difference / two_pi + 0.5);
	return fabs(difference);
}

static bool is_same(const CalSim *sim, const double *a, const double *b, double *scratch) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		cal_config_difference(model, a, b, scratch);
		for (int u = 0; u < cal_model_u_count(model); u++)
			if (!(distance(model, u, scratch[u]) < same))
				return false;
		a += cal_model_q_count(model);
		b += cal_model_q_count(model);
	}
	return true;
}

static int device_states(CalSim *sim) {
	int sum = 0;
	CalDeviceInfo info;
	for (int i = 0; i < cal_sim_device_count(sim); i++)
		sum += cal_sim_device(sim, i, &info) == CAL_OK ? info.nx : 0;
	return sum;
}

static bool copy_state(CalSim *sim, Solution *solution) {
	double *q = solution->q = calloc((size_t)total(sim, cal_model_q_count) + 1, sizeof(double));
	double *u = solution->u = calloc((size_t)total(sim, cal_model_u_count) + 1, sizeof(double));
	double *x = solution->x = calloc((size_t)device_states(sim) + 1, sizeof(double));
	for (int g = 0; q && u && g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		const CalState *state = cal_sim_state(sim, g);
		memcpy(q, state->q, (size_t)cal_model_q_count(model) * sizeof *q);
		memcpy(u, state->u, (size_t)cal_model_u_count(model) * sizeof *u);
		q += cal_model_q_count(model);
		u += cal_model_u_count(model);
	}
	for (int i = 0; x && i < cal_sim_device_count(sim); i++) {
		CalDeviceInfo info;
		if (cal_sim_device(sim, i, &info) == CAL_OK && info.nx > 0)
			memcpy(x, info.x, (size_t)info.nx * sizeof *x), x += info.nx;
	}
	return q && u && x;
}

/* Adds what the simulation is at, unless it is known. */
static CalStatus add_solution(Solutions *s, CalSim *sim, const CalTrim *trim, int start) {
	Solution made = {.trim = *trim, .start = start, .found = 1};
	double *scratch = calloc((size_t)total(sim, cal_model_u_count) + 1, sizeof *scratch);
	int known = -1;
	const bool copied = s->of && copy_state(sim, &made) && scratch;
	for (int i = 0; copied && i < s->count && known < 0; i++)
		known = is_same(sim, s->of[i].q, made.q, scratch) ? i : -1;
	free(scratch);
	if (copied && known < 0 && s->count < MOST_SOLUTIONS) {
		s->of[s->count++] = made;
		return CAL_OK;
	}
	if (known >= 0)
		s->of[known].found++;
	solution_free(&made);
	return copied ? CAL_OK : CAL_ERR_MEMORY;
}

/* ---- searching ------------------------------------------------------------------------------------------ */

static int trim_once(const Request *r, CalSim *sim, int start, Solutions *s) {
	const CalTrimOptions options = {.start = start, .seed = r->seed, .spread = r->spread, .tolerance = r->tolerance};
	CalTrim trim;
	CalError error = {0};
	CalStatus status = cal_sim_trim(sim, &options, &trim, &error);
	if (status > 0) { // nothing from there
		if (s->failed++ == 0)
			s->first = error;
		return EXIT_OK;
	}
	if (status == CAL_OK)
		status = add_solution(s, sim, &trim, start);
	return say_status(input_name(r->path), status, &error);
}

static void put_state(CalSim *sim, const Solution *given) {
	const double *q = given->q, *u = given->u, *x = given->x;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		CalState *state = cal_sim_state(sim, g);
		memcpy(state->q, q, (size_t)cal_model_q_count(model) * sizeof *q);
		memcpy(state->u, u, (size_t)cal_model_u_count(model) * sizeof *u);
		q += cal_model_q_count(model);
		u += cal_model_u_count(model);
	}
	for (int i = 0; i < cal_sim_device_count(sim); i++) {
		CalDeviceInfo info;
		if (cal_sim_device(sim, i, &info) == CAL_OK && info.nx > 0)
			memcpy(info.x, x, (size_t)info.nx * sizeof *x), x += info.nx;
	}
}

/* Each start returns to the initial state. */
static int search_all(const Request *r, Loaded *loaded, Solutions *s) {
	Solution given = {0};
	int code = copy_state(loaded->sim, &given) ? EXIT_OK : say_status(input_name(r->path), CAL_ERR_MEMORY, NULL);
	for (int start = 0; start < r->starts && code == EXIT_OK; start++) {
		CalError error = {0};
		put_state(loaded->sim, &given);
		code = say_status(input_name(r->path), cal_sim_restart(loaded->sim, &error), &error);
		if (code == EXIT_OK)
			code = trim_once(r, loaded->sim, start, s);
	}
	solution_free(&given);
	return code;
}

/* ---- printing --------------------------------------------------------------------------------------------- */

static void print_solution(const Solution *one, int number, CalSim *sim) {
	const double *q = one->q;
	printf("  %4d  %-8s  largest real part of a pole %.4g 1/s, residual %.2g, found by %d start%s\n", number,
	       cal_stability_name(one->trim.stability), one->trim.growth, one->trim.residual, one->found,
	       plural(one->found));
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		for (int i = 0; i < cal_model_q_count(model); i++) {
			char name[128] = "";
			cal_model_q_name(model, i, name, sizeof name);
			printf("          q:%s = %.9g\n", name, q[i]);
		}
		q += cal_model_q_count(model);
	}
}

static void json_solution(const Solution *one, CalSim *sim) {
	const double *q = one->q;
	printf("{\"stability\": \"%s\", \"growth\": ", cal_stability_name(one->trim.stability));
	json_number(stdout, one->trim.growth);
	printf(", \"zero_poles\": %d, \"residual\": ", one->trim.zero_poles);
	json_number(stdout, one->trim.residual);
	printf(", \"iterations\": %d, \"start\": %d, \"found\": %d, \"q\": {", one->trim.iterations, one->start,
	       one->found);
	bool first = true;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		for (int i = 0; i < cal_model_q_count(model); i++, first = false) {
			char name[128] = "";
			cal_model_q_name(model, i, name, sizeof name);
			fputs(first ? "" : ", ", stdout);
			json_string(stdout, name);
			fputs(": ", stdout);
			json_number(stdout, q[i]);
		}
		q += cal_model_q_count(model);
	}
	printf("}}");
}

static void print_all(const Request *r, const Solutions *s, CalSim *sim) {
	if (!r->json)
		printf("%s: %d equilibri%s from %d start%s, %d without\n", input_name(r->path), s->count,
		       s->count == 1 ? "um" : "a", r->starts, plural(r->starts), s->failed);
	else
		printf("[");
	for (int i = 0; i < s->count; i++) {
		if (r->json) {
			fputs(i ? ",\n " : "", stdout);
			json_solution(&s->of[i], sim);
		} else
			print_solution(&s->of[i], i + 1, sim);
	}
	if (r->json)
		printf("]\n");
}

/* ---- the model at an equilibrium ---------------------------------------------------------------------------- */

static int chosen_solution(const Request *r, const Solutions *s) {
	if (r->solution > 0)
		return r->solution <= s->count ? r->solution - 1 : -1;
	for (int i = 0; i < s->count; i++)
		if (s->of[i].trim.stability != CAL_STABILITY_UNSTABLE)
			return i;
	return 0;
}

static CalStatus set_states(CalSetup *setup, CalSim *sim, const Solution *solution, CalError *error) {
	const double *q = solution->q, *u = solution->u;
	CalStatus status = CAL_OK;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		for (int i = 0; i < cal_model_body_count(model) && status == CAL_OK; i++) {
			CalBodyInfo info;
			if (cal_model_body(model, i, &info) != CAL_OK || info.nu + info.modes == 0 || info.mechanism > 0)
				continue;
			const CalStateDef def = {.q = info.nq ? q + info.q : NULL,
			                         .u = info.nu ? u + info.u : NULL,
			                         .eta = info.modes ? q + info.q + info.nq : NULL,
			                         .eta_dot = info.modes ? u + info.u + info.nu : NULL};
			status = cal_setup_set_state(setup, info.joint_id, &def, error);
		}
		q += cal_model_q_count(model);
		u += cal_model_u_count(model);
	}
	return status;
}

static int write_model(const Request *r, const Solutions *s, Loaded *loaded) {
	const int index = chosen_solution(r, s);
	CalError error = {0};
	OutputFile out;
	if (index < 0)
		return say_usage("trim", "--solution %d: there are %d", r->solution, s->count);
	int code = say_status(r->out, set_states(loaded->setup, loaded->sim, &s->of[index], &error), &error);
	if (code == EXIT_OK)
		code = output_open(&out, r->out);
	if (code != EXIT_OK)
		return code;
	code = say_status(r->out, cal_model_file_write(loaded->setup, out.stream, &error), &error);
	return output_close(&out, code);
}

static int follow_path(const Request *r, CalSim *sim) {
	return trim_path_file(&(TrimPathRequest){.path = r->path,
	                                         .out = r->out,
	                                         .input = r->along,
	                                         .from = r->from,
	                                         .to = r->to,
	                                         .step = r->step,
	                                         .back = r->back,
	                                         .json = r->json},
	                      sim);
}

static int trim_file(const Request *r) {
	CalSetup *setup = NULL;
	Loaded loaded = {.refuses_code = true}; // without it, equilibria would be those of another model
	Solutions solutions = {0};
	int code = input_open(r->path, &setup);
	if (code == EXIT_OK)
		code = output_spares_model("trim", (Written){r->out, "-o"}, r->path, setup);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		return code;
	}
	code = loaded_at(&loaded, setup, input_name(r->path), r->at);
	if (code != EXIT_OK || r->along) {
		code = code == EXIT_OK ? follow_path(r, loaded.sim) : code;
		loaded_destroy(&loaded);
		return code;
	}
	solutions.of = calloc(MOST_SOLUTIONS, sizeof *solutions.of);
	if (code == EXIT_OK && !solutions.of)
		code = say_status(input_name(r->path), CAL_ERR_MEMORY, NULL);
	if (code == EXIT_OK)
		code = search_all(r, &loaded, &solutions);
	if (code == EXIT_OK && !(r->out && strcmp(r->out, "-") == 0))
		print_all(r, &solutions, loaded.sim);
	if (code == EXIT_OK && solutions.count == 0)
		code = say_status(input_name(r->path), CAL_NOT_CONVERGED, &solutions.first);
	if (code == EXIT_OK && r->out)
		code = write_model(r, &solutions, &loaded);
	solutions_free(&solutions);
	loaded_destroy(&loaded);
	return code;
}

/* ---- command line ----------------------------------------------------------------------------------------------- */

static bool whole_number(const char *text, long most, long *number) {
	char *end;
	*number = strtol(text, &end, 10);
	return end != text && !*end && *number >= 1 && *number <= most;
}

static bool any_number(const char *text, double *number) {
	char *end;
	*number = strtod(text, &end);
	return end != text && !*end && isfinite(*number);
}

static bool set_option(Request *r, int option, const char *text) {
	long number = 1;
	switch (option) {
	case 'n':
		if (!whole_number(text, MOST_STARTS, &number))
			return false;
		r->starts = (int)number;
		return true;
	case 's':
		if (!whole_number(text, MOST_SOLUTIONS, &number))
			return false;
		r->solution = (int)number;
		return true;
	case 'r':
		if (!whole_number(text, 1000000000, &number))
			return false;
		r->seed = (uint64_t)number;
		return true;
	case 'o':
		r->out = text;
		return true;
	case 'g':
		r->along = text;
		return true;
	case 'f':
		return any_number(text, &r->from);
	case 'l':
		return any_number(text, &r->to);
	case 'k':
		return any_number(text, &r->back) && r->back >= 0;
	case 'w':
		return any_number(text, &r->step) && r->step > 0;
	default:
		r->json |= option == 'j';
		return true;
	}
}

static int read_options(int argc, char **argv, Request *r, bool *done) {
	static const struct option options[] = {
		{"starts", required_argument, NULL, 'n'},   {"spread", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 'r'},     {"tolerance", required_argument, NULL, 't'},
		{"solution", required_argument, NULL, 's'}, {"at", required_argument, NULL, 'a'},
		{"along", required_argument, NULL, 'g'},    {"from", required_argument, NULL, 'f'},
		{"to", required_argument, NULL, 'l'},       {"step", required_argument, NULL, 'w'},
		{"back", required_argument, NULL, 'k'},     {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},           {0}};
	for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			*done = true;
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("trim", argv, options);
		if (option == 'p' && option_quantity("trim", "spread", optarg, "rad", &r->spread) != EXIT_OK)
			return EXIT_USAGE;
		if (option == 'a' && option_quantity("trim", "at", optarg, "s", &r->at) != EXIT_OK)
			return EXIT_USAGE;
		if (option == 't' && option_quantity("trim", "tolerance", optarg, "", &r->tolerance) != EXIT_OK)
			return EXIT_USAGE;
		if (!set_option(r, option, optarg))
			return say_usage("trim", "--%s: '%s' is no value for it; write a %s", option_name(options, option), optarg,
			                 strchr("flwk", option) ? "number" : "whole number from 1 on");
	}
	if (argc - optind != 1)
		return say_usage("trim", "name one model file");
	r->path = argv[optind];
	if (!r->along && (r->from != 0 || r->to != 0 || r->step > 0 || r->back > 0))
		return say_usage("trim", "--from, --to, --step and --back are those of --along");
	const char *ending = r->out ? strrchr(r->out, '.') : NULL;
	if (r->along && r->out && strcmp(r->out, "-") != 0 && (!ending || strcmp(ending, ".csv") != 0))
		return say_usage("trim", "--along writes points: -o NAME.csv, or - for stdout");
	if (r->along && (r->from == r->to || r->starts > 1 || r->solution > 0))
		return say_usage("trim", "--along takes --from and --to, which differ, and neither --starts nor --solution");
	if (r->solution > 0 && !r->out)
		return say_usage("trim", "--solution is for -o");
	if (r->json && r->out && strcmp(r->out, "-") == 0)
		return say_usage("trim", "the solutions are on stdout: write the model to a file");
	return EXIT_OK;
}

int command_trim(int argc, char **argv) {
	Request request = {.starts = 1, .seed = 1};
	bool done = false;
	const int code = read_options(argc, argv, &request, &done);
	return code != EXIT_OK || done ? code : trim_file(&request);
}
