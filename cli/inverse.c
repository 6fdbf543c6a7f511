// SPDX-License-Identifier: Apache-2.0
/*
 * inverse.c — `calder inverse`: the forces that a motion takes, as a table, a picture and a summary.
 */
#define _GNU_SOURCE // getopt_long

#include "inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubts.h"
#include "options.h"
#include "output.h"

static const char help[] =
	"usage: calder inverse [OPTION]... MODEL [MOTION.csv|RUN.h5]\n"
	"\n"
	"Prints the generalized forces that a motion takes, with gravity, devices, loads, flexible bodies and loops. MOTION has a\n"
	"column of times and columns of joint coordinates, \"t [s],elbow [deg]\", as calder run -o writes them; a spline passes\n"
	"through its points. Joints that it does not give move by the dynamics.\n"
	"  -o, --output FILE      a table (CSV, - is stdout): motion, force and power of each actuator\n"
	"      --plot FILE        forces as a picture (.svg, .png, .pdf)\n"
	"      --drive J=FORMULA  joint J follows a formula of t; may be repeated\n"
	"      --joints J,K...    follow these columns of MOTION alone: with loops, those that determine the others\n"
	"      --actuators J,K... joints that act; of redundant ones the smallest forces. Default: those that follow\n"
	"      --interval T       between rows (those of MOTION; a 200th of the duration for formulas)\n"
	"      --duration T       of formulas (that of the model)\n"
	"      --stream NAME      of an HDF5 file (its first)\n"
	"      --assemble         closing the loops may move stated coordinates by any distance\n"
	"\n"
	"example: calder inverse examples/driven_four_bar.yaml --actuators rocker -o torque.csv\n";

/* ---- options ---------------------------------------------------------------------------------------- */

static int split_names(const char *option, const char *text, char **copy, const char **names, int *count) {
	free(*copy);
	*copy = strdup(text);
	*count = 0;
	for (char *name = *copy ? strtok(*copy, ",") : NULL; name; name = strtok(NULL, ",")) {
		if (*count == INVERSE_NAMES)
			return say_usage("inverse", "--%s takes at most %d names", option, INVERSE_NAMES);
		names[(*count)++] = name + strspn(name, " ");
	}
	return *count ? EXIT_OK : say_usage("inverse", "--%s takes names of joints, separated by commas", option);
}

static int take_option(InverseRequest *r, int option) {
	switch (option) {
	case 'o':
		r->output = optarg;
		return EXIT_OK;
	case 'p':
		r->plot = optarg;
		return EXIT_OK;
	case 's':
		r->stream = optarg;
		return EXIT_OK;
	case 'f':
		if (r->formula_count == INVERSE_NAMES)
			return say_usage("inverse", "--drive may be given %d times at most", INVERSE_NAMES);
		r->formulas[r->formula_count++] = optarg;
		return EXIT_OK;
	case 'j':
		return split_names("joints", optarg, &r->joint_text, r->joints, &r->joint_count);
	case 'a':
		return split_names("actuators", optarg, &r->actuator_text, r->actuators, &r->actuator_count);
	case 'i':
		return option_quantity("inverse", "interval", optarg, "s", &r->interval);
	case 'd':
		return option_quantity("inverse", "duration", optarg, "s", &r->duration);
	default:
		r->assemble = true;
		return EXIT_OK;
	}
}

/* Exit code, or -1 to continue. */
static int parse_options(InverseRequest *r, int argc, char **argv) {
	static const struct option long_options[] = {
		{"output", required_argument, NULL, 'o'},
		{"plot", required_argument, NULL, 'p'},
		{"drive", required_argument, NULL, 'f'},
		{"joints", required_argument, NULL, 'j'},
		{"actuators", required_argument, NULL, 'a'},
		{"interval", required_argument, NULL, 'i'},
		{"duration", required_argument, NULL, 'd'},
		{"stream", required_argument, NULL, 's'},
		{"assemble", no_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	*r = (InverseRequest){.interval = NAN, .duration = NAN};
	for (int option; (option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?' || option == ':')
			return option_wrong("inverse", argv, long_options);
		const int code = take_option(r, option);
		if (code != EXIT_OK)
			return code;
	}
	const int given = argc - optind;
	if (given < 1 || given > 2)
		return say_usage("inverse", "name a model, and perhaps the table of a motion");
	r->path = argv[optind];
	r->motion = given == 2 ? argv[optind + 1] : NULL;
	if (r->joint_count && !r->motion)
		return say_usage("inverse", "--joints chooses columns of a motion, and none is given");
	if (r->interval == 0 || r->duration == 0)
		return say_usage("inverse", "--interval and --duration take a time above zero");
	return -1;
}

/* ---- what is printed ----------------------------------------------------------------------------------- */

static int write_table(const Inverse *in, const char *path) {
	OutputFile out;
	int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	for (int i = 0; i < in->column_count; i++)
		fprintf(out.stream, "%s%s [%s]", i ? "," : "", in->columns[i].name, in->columns[i].unit);
	for (size_t r = 0; r < in->row_count; r++)
		for (int i = 0; i < in->column_count; i++)
			fprintf(out.stream, "%s%.17g", i ? "," : "\n", in->rows[r * (size_t)in->column_count + (size_t)i]);
	fputs("\n", out.stream);
	return output_close(&out, EXIT_OK);
}

static int draw(const Inverse *in, const char *path, const char *title) {
	const Table table = {in->columns, in->column_count, in->rows, in->row_count};
	PanelItem *items = calloc((size_t)in->acting_count + 1, sizeof *items);
	if (!items)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; i < in->acting_count; i++) {
		const int column = 1 + 3 * in->followed_count + 2 * i;
		items[i] = (PanelItem){column, in->columns[column].label};
	}
	const int code = panels_write(path, title, &table, items, in->acting_count, "");
	free(items);
	return code;
}

/* Of each actuator: the largest force and when, its root mean square over time, the largest power, the work. */
static void print_actuator(const Inverse *in, int i) {
	const size_t width = (size_t)in->column_count, column = 1 + 3 * (size_t)in->followed_count + 2 * (size_t)i;
	double most = 0, when = 0, square = 0, power = 0, work = 0, length = 0;
	for (size_t r = 0; r < in->row_count; r++) {
		const double *row = in->rows + r * width, force = row[column];
		if (fabs(force) > fabs(most))
			most = force, when = row[0];
		power = fmax(power, fabs(row[column + 1]));
		if (r == 0)
			continue;
		const double *last = row - width, h = row[0] - last[0];
		square += h / 2 * (force * force + last[column] * last[column]);
		work += h / 2 * (row[column + 1] + last[column + 1]);
		length += h;
	}
	printf("  %-28s %14.6g %12.6g %14.6g %14.6g %14.6g", in->acting[i].name, most, when,
	       length > 0 ? sqrt(square / length) : fabs(most), power, work);
	if (in->sampling[i] >= 0)
		printf(" %14.2g", in->sampling[i]);
	printf("\n");
}

/* Forces that the samples determine badly. */
static void warn_of_sampling(const Inverse *in, const char *path) {
	static const double SHARE = 0.02; // of the largest force
	const size_t width = (size_t)in->column_count;
	char text[400];
	for (int i = 0; i < in->acting_count; i++) {
		double most = 0;
		for (size_t r = 0; r < in->row_count; r++)
			most = fmax(most, fabs(in->rows[r * width + 1 + 3 * (size_t)in->followed_count + 2 * (size_t)i]));
		if (!(in->sampling[i] > SHARE * most))
			continue;
		snprintf(
			text, sizeof text,
			"force of \"%.120s\": the samples are too far apart to know accelerations well: %.2g %s of the force, %.0f %% "
			"of the largest, depend on what is between them; sample the motion more often",
			in->acting[i].name, in->sampling[i], in->acting[i].turns ? "N m" : "N", 100 * in->sampling[i] / most);
		say_warning(path, text);
	}
}

static void print_summary(const Inverse *in, const char *path, FILE *out) {
	if (out != stdout)
		return;
	printf("%s: %d coordinate%s followed from %.9g s to %.9g s, %zu rows\n", path, in->followed_count,
	       plural(in->followed_count), in->rows[0], in->rows[(in->row_count - 1) * (size_t)in->column_count],
	       in->row_count);
	printf("  %-28s %14s %12s %14s %14s %14s%s\n", "actuator", "peak [N m|N]", "at [s]", "rms", "peak power [W]",
	       "work [J]", in->sampling[0] >= 0 ? " sampling error" : "");
	for (int i = 0; i < in->acting_count; i++)
		print_actuator(in, i);
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int find_times(const InverseRequest *r, const Trajectory *t, double duration, InverseTimes *times) {
	const double length = isnan(r->duration) ? duration : r->duration;
	*times = (InverseTimes){.start = t->points ? t->time[0] : 0, .end = t->points ? t->time[t->points - 1] : length};
	if (t->points && isnan(r->interval)) {
		times->given = t->time;
		times->count = (size_t)t->points;
		return EXIT_OK;
	}
	if (!(times->end > times->start))
		return say_usage("inverse", "how long? The model has no run: duration; give --duration");
	times->interval = isnan(r->interval) ? (times->end - times->start) / 200 : r->interval;
	const double steps = ceil((times->end - times->start) / times->interval - 1e-9);
	if (!(steps < 1e7))
		return say_usage("inverse", "--interval: %.3g rows are too many", steps);
	times->count = (size_t)steps + 1;
	return EXIT_OK;
}

static int run_inverse(const InverseRequest *r, Loaded *loaded, const Trajectory *trajectory) {
	Inverse in = {.sim = loaded->sim, .trajectory = trajectory};
	InverseTimes times;
	int code = find_times(r, trajectory, loaded->settings.duration, &times);
	if (code == EXIT_OK)
		code = inverse_prepare(&in, r, loaded->setup, times.start);
	if (code == EXIT_OK)
		code = inverse_solve(&in, &times, r->path);
	if (code == EXIT_OK && r->output)
		code = write_table(&in, r->output);
	if (code == EXIT_OK && r->plot)
		code = draw(&in, r->plot, cal_setup_name(loaded->setup));
	if (code == EXIT_OK)
		print_summary(&in, r->path, r->output && strcmp(r->output, "-") == 0 ? NULL : stdout);
	if (code == EXIT_OK)
		warn_of_sampling(&in, r->motion ? r->motion : r->path);
	if (code == EXIT_OK)
		doubts_warn(loaded->sim, r->path);
	inverse_free(&in, cal_sim_group_count(loaded->sim));
	return code;
}

static int read_motion(const InverseRequest *r, CalSetup *setup, Trajectory *trajectory) {
	const CalDesc *desc = cal_setup_desc(setup);
	int code = EXIT_OK;
	if (r->motion)
		code = trajectory_read(trajectory, desc, r->motion, r->stream, r->joints, r->joint_count);
	for (int i = 0; i < r->formula_count && code == EXIT_OK; i++)
		code = trajectory_add_formula(trajectory, desc, "inverse", r->formulas[i]);
	return code == EXIT_OK ? trajectory_drive(trajectory, setup, r->path) : code;
}

static int spare_files(const InverseRequest *r, const CalSetup *setup) {
	const Written outputs[] = {{r->output, "-o"}, {r->plot, "--plot"}};
	int code = outputs_differ("inverse", outputs, 2);
	for (int i = 0; i < 2 && code == EXIT_OK; i++) {
		code = output_spares_model("inverse", outputs[i], r->path, setup);
		if (code == EXIT_OK)
			code = output_spares("inverse", outputs[i], r->motion, "the motion");
	}
	return code;
}

int command_inverse(int argc, char **argv) {
	InverseRequest r;
	CalSetup *setup = NULL;
	Loaded loaded = {.refuses_code = true}; // without them, forces would be missing
	Trajectory trajectory = {0};
	CalError error = {0};
	int code = parse_options(&r, argc, argv);
	if (code < 0)
		code = input_open(r.path, &setup);
	if (setup && code == EXIT_OK) {
		code = spare_files(&r, setup);
		if (code == EXIT_OK)
			code = read_motion(&r, setup, &trajectory);
		if (code == EXIT_OK) {
			CalRunSettings settings = cal_setup_run(setup);
			if (r.assemble)
				settings.assembly_limit = INFINITY;
			code = say_status(r.path, loaded_build(&loaded, setup, &settings, &error), &error);
			setup = NULL; // loaded owns it
		}
		if (code == EXIT_OK)
			code = run_inverse(&r, &loaded, &trajectory);
	}
	cal_setup_destroy(setup);
	loaded_destroy(&loaded);
	trajectory_free(&trajectory);
	free(r.joint_text), free(r.actuator_text);
	return code;
}
