// SPDX-License-Identifier: Apache-2.0
/*
 * modes.c — `calder modes`: the modes of flexible bodies, from finite element matrices, SID, modal and model files; with
 * --system those of a whole model (modes_system.c).
 *
 * Every input becomes a body of a description, and what is printed is what the library says about that body
 * (cal_flex_report), not about the input: what was lost on the way shows. Finite element models are reduced first, and
 * --write keeps the result as a SID or modal file.
 */
#define _GNU_SOURCE // getopt_long

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"
#include "options.h"
#include "output.h"

static const char help[] =
	"usage: calder modes [OPTION]... FILE\n"
	"\n"
	"Frequencies, effective masses, boundary conditions and checks of flexible bodies. FILE is a CalculiX job\n"
	"(.inp, with .dof .sti .mas beside it), NASTRAN matrices (DMIG: .pch .dmig .bdf .nas .dat; OUTPUT4: .op4), a SID file\n"
	"(.SID_FEM, .sid), a modal file or a model file (YAML or JSON). docs/fe.md explains each. Exit code 1 if a check fails.\n"
	"  --bound F           frequency bound of the body, '50 Hz' or '300 rad/s'; marks the free modes that it changes\n"
	"  --json              results as JSON on stdout\n"
	"  --plot OUT.svg      draw the shapes\n"
	"  --write OUT         write the body: SID if OUT ends in .SID_FEM or .sid, else a modal file\n"
	"  --name NAME         of the body that is written\n"
	"model files, the modes of the system (docs/modes.md):\n"
	"  --system            frequencies, damping ratios and shapes of each group as a whole, loops held\n"
	"  --at T              at a time of the run, e.g. 2.5 or 100ms (0: the initial state)\n"
	"  --structural        inertia, springs, dampers and modes alone: at rest, without gravity, loads and devices\n"
	"  --group NAME        this group only\n"
	"  --masses            effective masses of the modes, as a shaking ground feels them\n"
	"  --speed DOF         at several speeds of a joint that turns steadily, a table of frequencies (Campbell diagram):\n"
	"  --from W, --to W    its speeds, '0 rad/s' to '6000 rpm'; --points N of them (21)\n"
	"  --campbell OUT.svg  draw it\n"
	"  --animate OUT.h5    oscillations one after the other, for calder view; --scale F: of their amplitudes (1)\n"
	"  --modes N, --max-frequency F  only the lowest N modes, and those up to F\n"
	"model files:\n"
	"  --body NAME         this body only; needed for --plot and --write if several are flexible\n"
	"SID and model files:\n"
	"  --ignore-geometric  leave geometric stiffness and second-order shapes out\n"
	"finite element models (Craig-Bampton reduction):\n"
	"  --modes N           modes with all interfaces held that are kept (12); 0: none\n"
	"  --max-frequency F   keep only those up to it, '50 Hz' or '300 rad/s' (as max_frequency in model files)\n"
	"  --interface NAME    an interface by its name or node number; may be repeated (all that the file offers)\n"
	"  --reference NAME    the interface that carries the body frame (the first)\n"
	"  --geometric         geometric stiffness too, from the elements of a CalculiX deck or DMIG matrices\n"
	"  --free              no interfaces: free modes about the center of mass\n"
	"  --mass M            what the mass should be, in kg or with its unit; more than 1 % off is an error\n"
	"  --units mm-t        millimeters, tonnes, seconds, newtons (m-kg)\n"
	"  --matrices K,M      names of the stiffness and the mass matrix of NASTRAN (KAAX,MAAX or the only ones with K and M)\n"
	"  --bulk FILE         GRID and ASET1 cards of an .op4 file (those of the same name beside it)\n"
	"  --memory GIB        of the factor of the stiffness; more is an error (8)\n"
	"  --display N         nodes of the model that are kept for drawing (300); 0: none\n"
	"  --damping RATIO     damping ratio of every mode (0)\n"
	"\n"
	"example: calder modes test/data/fe/rod.inp --plot rod.svg\n"
	"         calder modes examples/flexible_arm.yaml --system\n";

enum { MAX_INTERFACES = 64 };

typedef struct Options {
	const char *path, *plot, *write, *name, *body;
	const char *group;
	bool json, ignore_geometric, free, system, structural, masses;
	const char *speed, *campbell; // --speed
	const char *animate;
	double scale;    // 0: not given
	double from, to; // [rad/s]
	long points;
	double at;    // [s]
	double bound; // [rad/s]
	CalFeUnits units;
	CalFeReduction how;
	const char *interfaces[MAX_INTERFACES];
	const char *bulk;     // of an .op4 file
	char matrices[2][16]; // names of stiffness and mass, "": the usual ones
} Options;

/* ---- one body ---------------------------------------------------------------------------------- */

static int report_body(ModesBody *body, const CalDesc *desc, CalBodyId id, bool json) {
	CalError error = {0};
	CalFlexDef flex = {0};
	CalStatus status = cal_flex_report(desc, id, &body->report, NULL, 0, &error);
	cal_flex_body(desc, id, NULL, &flex);
	body->unsprung = flex.unsprung;
	if (status == CAL_OK) {
		body->modes = calloc((size_t)body->report.modes, sizeof *body->modes);
		status = body->modes ? cal_flex_report(desc, id, &body->report, body->modes, body->report.modes, &error)
		                     : CAL_ERR_MEMORY;
	}
	int code = say_status(body->path, status, &error);
	if (code == EXIT_OK) {
		char why[256];
		(json ? modes_json : modes_print)(body);
		if (!modes_verdict(body, why, sizeof why)) {
			say_error(body->path, why);
			code = EXIT_CHECK;
		}
	}
	free(body->modes);
	return code;
}

static int write_modal(const Options *o, const CalModal *modal) {
	CalError error = {0};
	int code = EXIT_OK;
	if (o->plot)
		code = modes_plot(modal, o->path, o->plot);
	if (code == EXIT_OK && o->write)
		code = say_status(o->write, cal_modal_write(modal, o->write, &error), &error);
	return code;
}

/* The modal body as the only one of a description, held on the ground. */
static int show_modal(const Options *o, CalModal *modal, const CalFeModel *fe) {
	CalError error = {0};
	CalDesc *desc = NULL;
	CalBodyId id = {0};
	ModesBody body = {.path = o->path, .modal = modal, .bound = o->bound, .has_fe = fe != NULL};
	CalStatus status = o->name ? cal_modal_set_name(modal, o->name) : CAL_OK;
	body.name = cal_modal_info(modal).name;
	if (fe)
		body.fe = cal_fe_info(fe);
	if (status == CAL_OK)
		status = cal_desc_create(NULL, &desc);
	if (status == CAL_OK)
		status = cal_modal_add(modal, desc, body.name[0] ? body.name : "body", (CalGroupId){0}, o->bound, &id, &error);
	int code = say_status(o->path, status, &error);
	if (code == EXIT_OK)
		code = report_body(&body, desc, id, o->json);
	if (code == EXIT_OK)
		code = write_modal(o, modal);
	cal_desc_destroy(desc);
	return code;
}

/* ---- outputs ----------------------------------------------------------------------------------- */

static int spare_input(const Options *o) {
	const Written outputs[] = {{o->plot, "--plot"}, {o->write, "--write"}};
	int code = outputs_differ("modes", outputs, 2);
	for (int i = 0; i < 2 && code == EXIT_OK; i++)
		code = output_spares("modes", outputs[i], o->path, "the input");
	return code;
}

/* A finite element model has more files than the one that is named: matrices beside it, and what the deck includes. */
static int spare_sources(const Options *o, const CalFeModel *fe) {
	const Written outputs[] = {{o->plot, "--plot"}, {o->write, "--write"}};
	const int sources = cal_fe_source_count(fe);
	int code = EXIT_OK;
	for (int i = 0; i < 2 * sources && code == EXIT_OK; i++)
		code = output_spares("modes", outputs[i / sources], cal_fe_source(fe, i % sources), "a file of the input");
	return code;
}

/* ---- inputs ------------------------------------------------------------------------------------ */

static bool ends_with(const char *path, const char *ending) {
	const size_t length = strlen(path), wanted = strlen(ending);
	if (length < wanted)
		return false;
	for (size_t i = 0; i < wanted; i++)
		if (tolower((unsigned char)path[length - wanted + i]) != ending[i])
			return false;
	return true;
}

static CalStatus read_fe(const Options *o, CalFeModel **fe, CalError *error) {
	const char *stiffness = o->matrices[0][0] ? o->matrices[0] : NULL, *mass = stiffness ? o->matrices[1] : NULL;
	if (ends_with(o->path, ".op4"))
		return cal_fe_read_op4(o->path, o->bulk, stiffness, mass, &o->units, NULL, fe, error);
	return stiffness ? cal_fe_read_dmig(o->path, stiffness, mass, &o->units, NULL, fe, error)
	                 : cal_fe_read(o->path, &o->units, NULL, fe, error);
}

static int show_fe(Options *o) {
	CalError error = {0};
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	int code = say_status(o->path, read_fe(o, &fe, &error), &error);
	if (code == EXIT_OK)
		code = spare_sources(o, fe);
	if (code == EXIT_OK)
		code = say_status(o->path, cal_fe_reduce(fe, &o->how, &modal, &error), &error);
	if (code == EXIT_OK)
		code = show_modal(o, modal, fe);
	cal_modal_destroy(modal);
	cal_fe_destroy(fe);
	return code;
}

static int show_modal_file(const Options *o) {
	CalError error = {0};
	CalModal *modal = NULL;
	const CalModalOptions options = {.ignore_geometric_stiffness = o->ignore_geometric};
	int code = say_status(o->path, cal_modal_read(o->path, &options, NULL, &modal, &error), &error);
	if (code == EXIT_OK)
		code = show_modal(o, modal, NULL);
	cal_modal_destroy(modal);
	return code;
}

/* ---- model files ------------------------------------------------------------------------------- */

/* The flexible bodies of a model file, in the order of its models. */
typedef struct Flexibles {
	const CalDesc *desc;
	CalBodyId *ids;
	int count;
} Flexibles;

static bool collect_flexible_bodies(const Loaded *loaded, Flexibles *all) {
	*all = (Flexibles){.desc = cal_setup_desc(loaded->setup)};
	all->ids = calloc((size_t)cal_desc_body_count(all->desc) + 1, sizeof *all->ids);
	for (int g = 0; all->ids && g < cal_sim_group_count(loaded->sim); g++) {
		const CalModel *model = cal_sim_model(loaded->sim, g);
		for (int i = 0; i < cal_model_body_count(model); i++) {
			CalBodyInfo info;
			if (cal_model_body(model, i, &info) == CAL_OK && info.modes > 0)
				all->ids[all->count++] = info.id;
		}
	}
	return all->ids != NULL;
}

static const char *body_name(const Flexibles *all, int index) {
	CalBodyDef def = {.name = ""};
	cal_flex_body(all->desc, all->ids[index], &def, NULL);
	return def.name;
}

/* "what; the flexible bodies are a, b, c" */
static int report_unknown_body(const Options *o, const Flexibles *all, const char *what) {
	char text[600];
	int used = snprintf(text, sizeof text, "%.200s; the flexible bodies are ", what);
	for (int i = 0; i < all->count && used < 500; i++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%s\"%.60s\"", i ? ", " : "", body_name(all, i));
	if (all->count == 0)
		snprintf(text, sizeof text, "%.200s; the model has no flexible body", what);
	say_error(input_name(o->path), text);
	return EXIT_INPUT;
}

/* Leaves the one body of --body, and sees that --plot and --write have no choice. */
static int choose(const Options *o, Flexibles *all) {
	char what[200];
	int found = -1;
	for (int i = 0; i < all->count && o->body; i++)
		if (strcmp(body_name(all, i), o->body) == 0)
			found = i;
	if (o->body && found < 0) {
		snprintf(what, sizeof what, "no flexible body has the name \"%.60s\"", o->body);
		return report_unknown_body(o, all, what);
	}
	if (o->body) {
		all->ids[0] = all->ids[found];
		all->count = 1;
	}
	if ((o->plot || o->write) && all->count != 1)
		return report_unknown_body(o, all, "--plot and --write are for one body: choose it by --body NAME");
	return EXIT_OK;
}

static int show_body(const Options *o, const Flexibles *all, int index) {
	CalFlexDef flex = {0};
	ModesBody body = {.path = input_name(o->path), .name = body_name(all, index)};
	cal_flex_body(all->desc, all->ids[index], NULL, &flex);
	body.bound = flex.frequency_bound;
	return report_body(&body, all->desc, all->ids[index], o->json);
}

/* A picture shows shapes of first order, whatever else there is; a file must not lose any unasked. */
static int keep_body(const Options *o, const Flexibles *all) {
	CalError error = {0};
	CalModal *modal = NULL;
	const int first_order = o->ignore_geometric || !o->write;
	CalStatus status = cal_flex_modal(all->desc, all->ids[0], first_order, NULL, &modal, &error);
	if (status == CAL_OK && o->name)
		status = cal_modal_set_name(modal, o->name);
	int code = say_status(input_name(o->path), status, &error);
	if (code == EXIT_OK)
		code = write_modal(o, modal);
	for (const char *note = code == EXIT_OK && o->write ? cal_modal_info(modal).notes : ""; *note;) {
		char line[256];
		const size_t length = strcspn(note, "\n");
		snprintf(line, sizeof line, "%.*s", (int)length, note);
		say_warning(o->write, line);
		note += length + (note[length] != '\0');
	}
	cal_modal_destroy(modal);
	return code;
}

static int show_bodies(const Options *o, const Loaded *loaded) {
	Flexibles all;
	if (!collect_flexible_bodies(loaded, &all))
		return say_status(input_name(o->path), CAL_ERR_MEMORY, NULL);
	int code = choose(o, &all);
	const bool chosen = code == EXIT_OK;
	if (chosen && o->json)
		printf("[");
	if (chosen && !o->json && all.count == 0)
		printf("%s: no flexible bodies\n", input_name(o->path));
	for (int i = 0; chosen && i < all.count; i++) {
		if (i && o->json)
			printf(",\n");
		const int this = show_body(o, &all, i);
		code = this != EXIT_OK ? this : code;
	}
	if (chosen && o->json)
		printf("]\n");
	if (code == EXIT_OK && (o->plot || o->write))
		code = keep_body(o, &all);
	free(all.ids);
	return code;
}

static int show_model_file(const Options *o) {
	CalSetup *setup;
	Loaded loaded = {0};
	if (o->bound > 0)
		return say_usage("modes", "--bound is not for model files; give the body its frequency_bound there");
	int code = input_open(o->path, &setup);
	if (code == EXIT_OK)
		code = output_spares_model("modes", (Written){o->plot, "--plot"}, o->path, setup);
	if (code == EXIT_OK)
		code = output_spares_model("modes", (Written){o->write, "--write"}, o->path, setup);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		return code;
	}
	code = loaded_create(&loaded, setup, input_name(o->path), NULL);
	if (code == EXIT_OK)
		code = show_bodies(o, &loaded);
	loaded_destroy(&loaded);
	return code;
}

/* ---- which input ------------------------------------------------------------------------------- */

/* A modal file says so in its first lines. */
static bool is_modal_file(const char *path) {
	char start[2048];
	FILE *in = fopen(path, "rb");
	if (!in)
		return false;
	const size_t got = fread(start, 1, sizeof start - 1, in);
	fclose(in);
	start[got] = '\0';
	return strstr(start, "calder_modal") != NULL;
}

static int show_input(Options *o) {
	static const char *const fe[] = {".inp", ".dof", ".sti", ".mas", ".pch", ".dmig", ".bdf", ".nas", ".dat", ".op4"};
	bool is_fe = false,
		 is_modal = ends_with(o->path, ".sid_fem") || ends_with(o->path, ".sid") || is_modal_file(o->path);
	for (size_t i = 0; i < sizeof fe / sizeof *fe; i++)
		is_fe |= ends_with(o->path, fe[i]);
	if (o->bulk && !ends_with(o->path, ".op4"))
		return say_usage("modes", "--bulk is for .op4 files; other files have their GRID cards in them");
	if (o->matrices[0][0] && (!is_fe || ends_with(o->path, ".inp")))
		return say_usage("modes", "--matrices is for NASTRAN files");
	if ((is_fe || is_modal) && o->body)
		return say_usage("modes", "--body is for model files; this file holds one body");
	return is_fe ? show_fe(o) : is_modal ? show_modal_file(o) : show_model_file(o);
}

/* ---- command line ------------------------------------------------------------------------------ */

static bool positive(const char *text, double *value) {
	char *end;
	*value = strtod(text, &end);
	return end != text && !*end && *value > 0 && *value < 1e30;
}

static bool set_units(const char *text, CalFeUnits *units) {
	if (strcmp(text, "mm-t") == 0)
		*units = (CalFeUnits){1e-3, 1e3};
	else if (strcmp(text, "m-kg") != 0)
		return false;
	return true;
}

/* 0, which means none, is -1 in the options of a reduction. */
static bool number_or_none(const char *text, int *number) {
	char *end;
	const long given = strtol(text, &end, 10);
	*number = given ? (int)given : -1;
	return end != text && !*end && given >= 0;
}

/* "KAA,MAA" */
static bool set_matrices(const char *text, char names[2][16]) {
	const char *comma = strchr(text, ',');
	if (!comma || comma == text || !comma[1] || comma - text > 15 || strlen(comma + 1) > 15)
		return false;
	snprintf(names[0], sizeof names[0], "%.*s", (int)(comma - text), text);
	snprintf(names[1], sizeof names[1], "%s", comma + 1);
	return true;
}

static bool set_option(Options *o, int option, const char *text) {
	switch (option) {
	case 'b':
		return option_frequency(text, &o->bound);
	case 'F':
		return cal_quantity_parse(text, "rad/s", &o->from, NULL) == CAL_OK;
	case 'T':
		return cal_quantity_parse(text, "rad/s", &o->to, NULL) == CAL_OK;
	case 'P':
		o->points = strtol(text, NULL, 10);
		return o->points >= 2 && o->points <= 10000;
	case 'm':
		return number_or_none(text, &o->how.modes);
	case 'v':
		return number_or_none(text, &o->how.display_count);
	case 'x':
		return option_frequency(text, &o->how.max_frequency);
	case 'L':
		return positive(text, &o->scale);
	case 'k':
		return cal_quantity_parse(text, "kg", &o->how.expected_mass, NULL) == CAL_OK && o->how.expected_mass > 0;
	case 'd':
		return positive(text, &o->how.damping_ratio);
	case 'z':
		return set_matrices(text, o->matrices);
	case 'y':
		if (!positive(text, &o->how.max_memory))
			return false;
		o->how.max_memory *= 1073741824.0;
		return true;
	case 'u':
		return set_units(text, &o->units);
	case 'i':
		if (o->how.interface_count == MAX_INTERFACES)
			return false;
		o->interfaces[o->how.interface_count++] = text;
		return true;
	default:
		return true;
	}
}

static int run_bodies(Options *o) {
	if (o->at > 0 || o->group || o->structural || o->masses || o->speed || o->campbell || o->animate || o->scale > 0)
		return say_usage(
			"modes", "--at, --group, --structural, --masses, --speed, --campbell, --animate and --scale need --system");
	const int code = spare_input(o);
	return code == EXIT_OK ? show_input(o) : code;
}

static int run_system(const Options *o) {
	if (o->plot || o->write || o->body || o->name || o->bound > 0 || o->how.interface_count != 0)
		return say_usage("modes", "--system takes --at, --group, --structural, --masses, --speed, --animate, "
		                          "--modes, --max-frequency and --json only");
	if (!o->speed && (o->campbell || o->points > 0 || o->from != 0 || o->to != 0))
		return say_usage("modes", "--campbell, --from, --to and --points need --speed");
	if (o->animate && (o->speed || !cal_results_is_hdf5(o->animate)))
		return say_usage("modes", "--animate takes a result file that ends in .h5, and no --speed");
	if (o->scale > 0 && !o->animate)
		return say_usage("modes", "--scale needs --animate");
	if (o->speed && (o->to == o->from || o->masses))
		return say_usage("modes", "--speed takes --from and --to, which differ, and no --masses");
	return modes_system(&(SystemModesOptions){.path = o->path,
	                                          .group = o->group,
	                                          .at = o->at,
	                                          .most = o->how.modes,
	                                          .max_frequency = o->how.max_frequency,
	                                          .json = o->json,
	                                          .structural = o->structural,
	                                          .masses = o->masses,
	                                          .speed = o->speed,
	                                          .from = o->from,
	                                          .to = o->to,
	                                          .points = o->points > 0 ? (int)o->points : 21,
	                                          .campbell = o->campbell,
	                                          .animate = o->animate,
	                                          .scale = o->scale > 0 ? o->scale : 1});
}

int command_modes(int argc, char **argv) {
	static const struct option options[] = {{"bound", required_argument, NULL, 'b'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"plot", required_argument, NULL, 'p'},
	                                        {"write", required_argument, NULL, 'w'},
	                                        {"name", required_argument, NULL, 'n'},
	                                        {"body", required_argument, NULL, 'o'},
	                                        {"ignore-geometric", no_argument, NULL, 'g'},
	                                        {"geometric", no_argument, NULL, 'e'},
	                                        {"modes", required_argument, NULL, 'm'},
	                                        {"max-frequency", required_argument, NULL, 'x'},
	                                        {"interface", required_argument, NULL, 'i'},
	                                        {"reference", required_argument, NULL, 'r'},
	                                        {"free", no_argument, NULL, 'f'},
	                                        {"mass", required_argument, NULL, 'k'},
	                                        {"units", required_argument, NULL, 'u'},
	                                        {"matrices", required_argument, NULL, 'z'},
	                                        {"bulk", required_argument, NULL, 'l'},
	                                        {"memory", required_argument, NULL, 'y'},
	                                        {"display", required_argument, NULL, 'v'},
	                                        {"damping", required_argument, NULL, 'd'},
	                                        {"system", no_argument, NULL, 's'},
	                                        {"at", required_argument, NULL, 'a'},
	                                        {"group", required_argument, NULL, 'q'},
	                                        {"structural", no_argument, NULL, 't'},
	                                        {"masses", no_argument, NULL, 'M'},
	                                        {"speed", required_argument, NULL, 'S'},
	                                        {"from", required_argument, NULL, 'F'},
	                                        {"to", required_argument, NULL, 'T'},
	                                        {"points", required_argument, NULL, 'P'},
	                                        {"campbell", required_argument, NULL, 'C'},
	                                        {"animate", required_argument, NULL, 'A'},
	                                        {"scale", required_argument, NULL, 'L'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	Options o = {0};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("modes", argv, options);
		o.json |= option == 'j';
		o.ignore_geometric |= option == 'g';
		o.how.geometric |= option == 'e';
		o.free |= option == 'f';
		o.system |= option == 's';
		o.structural |= option == 't';
		o.masses |= option == 'M';
		o.speed = option == 'S' ? optarg : o.speed;
		o.campbell = option == 'C' ? optarg : o.campbell;
		o.animate = option == 'A' ? optarg : o.animate;
		o.group = option == 'q' ? optarg : o.group;
		if (option == 'a' && option_quantity("modes", "at", optarg, "s", &o.at) != EXIT_OK)
			return EXIT_USAGE;
		o.plot = option == 'p' ? optarg : o.plot;
		o.write = option == 'w' ? optarg : o.write;
		o.name = option == 'n' ? optarg : o.name;
		o.body = option == 'o' ? optarg : o.body;
		o.bulk = option == 'l' ? optarg : o.bulk;
		o.how.reference = option == 'r' ? optarg : o.how.reference;
		if (!set_option(&o, option, optarg))
			return say_usage(
				"modes", "--%s: '%s' is no value for it%s", option_name(options, option), optarg,
				option == 'b' || option == 'x' ? "; write a frequency with its unit, '50 Hz' or '300 rad/s'" : "");
	}
	if (argc - optind != 1)
		return say_usage("modes", "name one file");
	o.path = argv[optind];
	o.how.interfaces = o.interfaces;
	o.how.interface_count = o.free ? -1 : o.how.interface_count;
	return o.system ? run_system(&o) : run_bodies(&o);
}
