// SPDX-License-Identifier: Apache-2.0
/*
 * identify.c — `calder identify`: masses, inertias, friction and rotors of a model from a recorded motion.
 */
#define _GNU_SOURCE // getopt_long

#include "identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "panels.h"

static const char help[] =
	"usage: calder identify [OPTION]... MODEL [RECORDING.csv|RUN.h5]\n"
	"\n"
	"Finds inertial parameters, friction and rotors from coordinates and forces of joints. RECORDING has a column of times and\n"
	"columns \"q:JOINT\" (or \"JOINT\"), \"force:JOINT\" and, if they are there, \"u:JOINT\" and \"udot:JOINT\", as calder run and\n"
	"calder inverse write them. Which combinations of parameters the motion determines follows by rank; of all bodies that give\n"
	"them the result is the physically possible one nearest to the model. Without a recording: the combinations alone.\n"
	"  -o, --output FILE        the model with what was found\n"
	"      --plot FILE          forces, recorded and found, as a picture (.svg, .png, .pdf)\n"
	"      --bodies B,C...      these bodies are unknown, the others known; none: none (all)\n"
	"      --friction J,K...    viscous and Coulomb friction of these joints are unknown too; all: of all\n"
	"      --rotors J,K...      inertias of rotors, likewise\n"
	"      --friction-speed V   Coulomb friction is F tanh(speed/V) (0.01 rad/s, m/s)\n"
	"      --unactuated J,K...  nothing acts on these joints: their forces are zero\n"
	"      --window T           speeds and accelerations that are not recorded: from polynomials through the samples of this time\n"
	"                           (7 samples)\n"
	"      --prior S            how far parameters may be from the model, as part of them (100)\n"
	"      --level P            of confidence (0.95)\n"
	"      --stream NAME        of an HDF5 file (its first)\n"
	"      --json               everything as JSON\n"
	"\n"
	"example: calder identify examples/identify/arm.yaml examples/identify/recording.csv --bodies payload --friction all\n";

/* ---- options -------------------------------------------------------------------------------------------------------- */

static int split_names(const char *option, const char *text, NameList *list) {
	free(list->text);
	*list = (NameList){.text = strdup(text)};
	for (char *name = list->text ? strtok(list->text, ",") : NULL; name; name = strtok(NULL, ",")) {
		if (list->count == IDENTIFY_NAMES)
			return say_usage("identify", "--%s takes at most %d names", option, IDENTIFY_NAMES);
		list->names[list->count++] = name + strspn(name, " ");
	}
	return list->count ? EXIT_OK : say_usage("identify", "--%s takes names, separated by commas", option);
}

static int take_number(const char *option, const char *text, const char *unit, double most, double *number) {
	const int code = option_quantity("identify", option, text, unit, number);
	if (code != EXIT_OK)
		return code;
	return *number > 0 && *number < most
	           ? EXIT_OK
	           : say_usage("identify", "--%s takes a number above 0%s", option, most < INFINITY ? " and below 1" : "");
}

static int take_option(IdentifyRequest *r, int option) {
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
	case 'b':
		return split_names("bodies", optarg, &r->bodies);
	case 'f':
		return split_names("friction", optarg, &r->friction);
	case 'r':
		return split_names("rotors", optarg, &r->rotors);
	case 'u':
		return split_names("unactuated", optarg, &r->unactuated);
	case 'v':
		return take_number("friction-speed", optarg, "", INFINITY, &r->friction_speed);
	case 'w':
		return take_number("window", optarg, "s", INFINITY, &r->window);
	case 'q':
		return take_number("prior", optarg, "", INFINITY, &r->prior);
	case 'l':
		return take_number("level", optarg, "", 1, &r->level);
	default:
		r->json = true;
		return EXIT_OK;
	}
}

/* Exit code, or -1 to continue. */
static int parse_options(IdentifyRequest *r, int argc, char **argv) {
	static const struct option long_options[] = {
		{"output", required_argument, NULL, 'o'},
		{"plot", required_argument, NULL, 'p'},
		{"bodies", required_argument, NULL, 'b'},
		{"friction", required_argument, NULL, 'f'},
		{"rotors", required_argument, NULL, 'r'},
		{"friction-speed", required_argument, NULL, 'v'},
		{"unactuated", required_argument, NULL, 'u'},
		{"window", required_argument, NULL, 'w'},
		{"prior", required_argument, NULL, 'q'},
		{"level", required_argument, NULL, 'l'},
		{"stream", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	*r = (IdentifyRequest){.level = 0.95};
	for (int option; (option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?' || option == ':')
			return option_wrong("identify", argv, long_options);
		const int code = take_option(r, option);
		if (code != EXIT_OK)
			return code;
	}
	const int given = argc - optind;
	if (given < 1 || given > 2)
		return say_usage("identify", "name a model, and the recording of a motion");
	r->path = argv[optind];
	r->data = given == 2 ? argv[optind + 1] : NULL;
	if (!r->data && (r->output || r->plot))
		return say_usage("identify", "-o and --plot are for a recording, and none is given");
	return -1;
}

/* ---- what is unknown --------------------------------------------------------------------------------------------------- */

typedef struct Choice {
	uint8_t *bodies, *friction, *rotors; // [bodies], [nu]
} Choice;

static int choose_bodies(const NameList *names, const CalModel *model, const char *path, uint8_t *chosen) {
	char text[300];
	const bool none = names->count == 1 && strcmp(names->names[0], "none") == 0;
	for (int b = 0; b < cal_model_body_count(model); b++)
		chosen[b] = names->count == 0;
	for (int i = 0; i < names->count && !none; i++) {
		const int b = cal_model_find_body(model, names->names[i]);
		if (b < 0) {
			snprintf(text, sizeof text, "--bodies: the group has no body \"%.160s\"; calder info lists them",
			         names->names[i]);
			say_error(path, text);
			return EXIT_INPUT;
		}
		chosen[b] = 1;
	}
	return EXIT_OK;
}

/* Friction of a device would be found a second time. */
static int refuse_friction_devices(const CalSetup *setup, const CalModel *model, const uint8_t *friction) {
	for (int i = 0; i < cal_setup_device_count(setup); i++) {
		const char *type, *name;
		const void *def;
		if (cal_setup_device(setup, i, &type, &name, &def) != CAL_OK || strcmp(type, "friction") != 0)
			continue;
		const CalFrictionDef *f = def;
		CalBodyInfo body;
		if (cal_model_body(model, cal_model_joint_index(model, f->joint), &body) != CAL_OK ||
		    !friction[body.u + f->dof])
			continue;
		return say_usage("identify",
		                 "device \"%s\" is friction of joint \"%s\" already; take it out of the model, or leave the "
		                 "joint out of --friction",
		                 name, body.joint);
	}
	return EXIT_OK;
}

static int choose(Choice *choice, const IdentifyRequest *r, const CalSetup *setup, const CalModel *model) {
	const size_t nu = (size_t)cal_model_u_count(model) + 1;
	choice->bodies = calloc((size_t)cal_model_body_count(model) + 1, 1);
	choice->friction = calloc(nu, 1), choice->rotors = calloc(nu, 1);
	if (!choice->bodies || !choice->friction || !choice->rotors)
		return say_status(r->path, CAL_ERR_MEMORY, NULL);
	int code = choose_bodies(&r->bodies, model, r->path, choice->bodies);
	if (code == EXIT_OK)
		code = choose_dofs("--friction", &r->friction, model, r->path, choice->friction);
	if (code == EXIT_OK)
		code = choose_dofs("--rotors", &r->rotors, model, r->path, choice->rotors);
	return code == EXIT_OK ? refuse_friction_devices(setup, model, choice->friction) : code;
}

static int create(const IdentifyRequest *r, const CalSetup *setup, const CalModel *model, CalIdentification **id) {
	Choice choice = {0};
	CalError error = {0};
	int code = choose(&choice, r, setup, model);
	if (code == EXIT_OK) {
		const CalIdentificationOptions options = {.bodies = choice.bodies,
		                                          .viscous = choice.friction,
		                                          .coulomb = choice.friction,
		                                          .rotor = choice.rotors,
		                                          .friction_speed = r->friction_speed,
		                                          .prior = r->prior};
		code = say_status(r->path, cal_identification_create(model, &options, id, &error), &error);
	}
	free(choice.bodies), free(choice.friction), free(choice.rotors);
	return code;
}

/* ---- forces as found ------------------------------------------------------------------------------------------------------ */

/* found[count][nu]. */
static int predict(const Recording *recording, CalIdentification *id, const char *path, double **found) {
	const size_t nu = (size_t)recording->nu;
	CalStatus status = CAL_OK;
	*found = calloc(recording->count * nu + 1, sizeof **found);
	if (!*found)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (size_t i = 0; i < recording->count && status == CAL_OK; i++) {
		const CalState state = recording_state(recording, i);
		status = cal_identification_predict(id, &state, recording->udot + i * nu, NULL, *found + i * nu);
	}
	return say_status(path, status, NULL);
}

/* How much residuals of neighboring instants depend on each other: intervals take them for independent. */
static void warn_of_dependence(const Recording *recording, const double *found, const char *path) {
	static const double NOTICED = 0.3;
	char text[400], name[160];
	for (int u = 0; u < recording->nu; u++) {
		double square = 0, product = 0, before = 0;
		for (size_t i = 0; i < recording->count; i++) {
			const size_t at = i * (size_t)recording->nu + (size_t)u;
			const double left = recording->tau[at] - found[at];
			square += left * left, product += left * before;
			before = left;
		}
		const double r = square > 0 ? fmin(product / square, 0.999) : 0;
		if (!recording->recorded[u] || !(r > NOTICED))
			continue;
		cal_model_dof_name(recording->model, u, name, sizeof name);
		snprintf(
			text, sizeof text,
			"force of \"%.120s\": neighboring residuals depend on each other (correlation %.2f): something is missing in "
			"the model, or the force was filtered; confidence intervals are about %.1f times too narrow",
			name, r, sqrt((1 + r) / (1 - r)));
		say_warning(path, text);
	}
}

/* Least squares give one wrong sample the weight of its square, and the forces of its joint the less. */
static void warn_of_outliers(const Recording *recording, const double *found, const char *path) {
	static const double NOTICED = 0.25, SMALL = 1e-12; // residuals of a millionth of the force hide nothing
	enum { FEW = 40 };
	char text[400], name[160];
	for (int u = 0; u < recording->nu && recording->count >= FEW; u++) {
		double sum = 0, all = 0, most = 0, when = 0;
		for (size_t i = 0; i < recording->count; i++) {
			const size_t at = i * (size_t)recording->nu + (size_t)u;
			const double left = recording->tau[at] - found[at], square = left * left;
			sum += square, all += recording->tau[at] * recording->tau[at];
			when = square > most ? recording->time[i] : when;
			most = fmax(most, square);
		}
		if (!recording->recorded[u] || !(most > NOTICED * sum) || !(most > SMALL * all))
			continue;
		cal_model_dof_name(recording->model, u, name, sizeof name);
		snprintf(
			text, sizeof text,
			"force of \"%.120s\": %.0f %% of the squared residuals are those of t = %.9g s: if that sample is wrong, "
			"leave it out; it hides what the others say",
			name, 100 * most / sum, when);
		say_warning(path, text);
	}
}

static void warn(const CalIdentification *id, const IdentifyRequest *r) {
	CalIdentified all;
	char text[300];
	cal_identification_result(id, &all);
	if (all.condition > 100) {
		snprintf(text, sizeof text, "the motion excites some combinations badly (condition %.3g, better below 100)",
		         all.condition);
		say_warning(r->data, text);
	}
	if (all.conflict > all.combinations + 4 * sqrt(2.0 * all.combinations)) {
		snprintf(
			text, sizeof text,
			"no bodies that can exist give the forces as recorded: %.3g variances are left, %d would be usual; check scales "
			"and signs of the forces, friction, and what else acts",
			all.conflict, all.combinations);
		say_warning(r->data, text);
	}
}

/* Columns "recorded:JOINT" and "found:JOINT", a panel each. */
static int draw(const Recording *recording, const double *found, const IdentifyRequest *r, const char *title) {
	const size_t nu = (size_t)recording->nu, width = 1 + 2 * nu;
	Column *columns = calloc(width, sizeof *columns);
	PanelItem *items = calloc(width, sizeof *items);
	char(*names)[200] = calloc(width, sizeof *names);
	double *rows = calloc(recording->count * width + 1, sizeof *rows);
	const bool room = columns && items && names && rows;
	int count = 0, code = say_status(r->plot, room ? CAL_OK : CAL_ERR_MEMORY, NULL);
	for (size_t u = 0; room && u < nu; u++) {
		CalCoordinateInfo info;
		char name[160];
		cal_model_dof_name(recording->model, (int)u, name, sizeof name);
		cal_model_speed(recording->model, (int)u, &info);
		const char *unit = info.kind == CAL_COORDINATE_LENGTH ? "N" : "N m";
		for (size_t k = 0; k < 2; k++) {
			const size_t at = 1 + 2 * u + k;
			snprintf(names[at], sizeof names[at], "%.160s:%s", name, k == 0 ? "recorded" : "found");
			columns[at] = (Column){.name = names[at], .unit = unit, .label = panels_own_label(names[at])};
			if (recording->recorded[u])
				items[count++] = (PanelItem){(int)at, columns[at].label};
			for (size_t i = 0; i < recording->count; i++)
				rows[i * width + at] = (k == 0 ? recording->tau : found)[i * nu + u];
		}
	}
	if (room) {
		columns[0] = (Column){.name = "t", .unit = "s"};
		for (size_t i = 0; i < recording->count; i++)
			rows[i * width] = recording->time[i];
		const Table table = {columns, (int)width, rows, recording->count};
		code = panels_write(r->plot, title, &table, items, count, "");
	}
	free(columns), free(items), free(names), free(rows);
	return code;
}

/* ---- the model with what was found ------------------------------------------------------------------------------------------ */

static CalStatus write_bodies(CalDesc *desc, const CalIdentification *id, const CalModel *model, CalError *error) {
	CalIdentified all;
	CalStatus status = cal_identification_result(id, &all);
	for (int k = 0; k < all.parameters && status == CAL_OK; k++) {
		CalIdentifiedParameter p;
		CalBodyInfo info;
		CalBodyDef def = cal_body_def();
		cal_identification_parameter(id, k, &p);
		if (p.kind != CAL_IDENTIFIED_INERTIAL || p.index != 0)
			continue;
		cal_model_body(model, p.object, &info);
		status = cal_identification_body(id, p.object, &def);
		if (status == CAL_OK)
			status = cal_desc_set_mass_properties(desc, info.id, &def, error);
	}
	return status;
}

static CalStatus add_friction(CalSetup *setup, const CalIdentifiedParameter *p, CalJointId joint, int dof, double speed,
                              CalError *error) {
	char name[140];
	snprintf(name, sizeof name, "%.100s_friction", p->name);
	for (char *c = name; *c; c++)
		if (*c == '.')
			*c = '_';
	const CalFrictionDef def = {
		.name = name, .joint = joint, .dof = dof, .coulomb = p->value, .smoothing_speed = speed > 0 ? speed : 0.01};
	return cal_setup_add_device(setup, "friction", &def, error);
}

/* One parameter of a joint. */
static CalStatus write_joint(CalSetup *setup, const CalIdentifiedParameter *p, const CalModel *model, double speed,
                             CalError *error) {
	CalDesc *desc = cal_setup_edit_desc(setup);
	CalDofInfo info;
	CalBodyInfo body;
	cal_model_dof(model, p->object, &info);
	cal_model_body(model, info.body, &body);
	CalDofDef dof = cal_desc_joint(desc, body.joint_id, NULL, NULL)->dof[info.index];
	if (p->kind == CAL_IDENTIFIED_COULOMB) // what is next to nothing is left out
		return p->value > 1e-6 * p->deviation ? add_friction(setup, p, body.joint_id, info.index, speed, error)
		                                      : CAL_OK;
	if (p->kind == CAL_IDENTIFIED_VISCOUS)
		dof.damping = p->value;
	else
		dof.rotor_inertia = p->value / (dof.gear_ratio * dof.gear_ratio);
	return cal_desc_set_joint_dof(desc, body.joint_id, info.index, &dof, error);
}

static int write_model(const IdentifyRequest *r, CalSetup *setup, const CalIdentification *id, const CalModel *model) {
	CalError error = {0};
	OutputFile out;
	CalIdentified all;
	cal_identification_result(id, &all);
	cal_model_file_trim(
		setup); // devices are added to those of the file: it is written from the setup, not from its text
	CalStatus status = write_bodies(cal_setup_edit_desc(setup), id, model, &error);
	for (int k = 0; k < all.parameters && status == CAL_OK; k++) {
		CalIdentifiedParameter p;
		cal_identification_parameter(id, k, &p);
		if (p.kind != CAL_IDENTIFIED_INERTIAL)
			status = write_joint(setup, &p, model, r->friction_speed, &error);
	}
	int code = say_status(r->output, status, &error);
	if (code == EXIT_OK)
		code = output_open(&out, r->output);
	if (code != EXIT_OK)
		return code;
	return output_close(&out, say_status(r->output, cal_model_file_write(setup, out.stream, &error), &error));
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int spare_files(const IdentifyRequest *r, const CalSetup *setup) {
	const Written outputs[] = {{r->output, "-o"}, {r->plot, "--plot"}};
	int code = outputs_differ("identify", outputs, 2);
	for (int i = 0; i < 2 && code == EXIT_OK; i++) {
		code = output_spares_model("identify", outputs[i], r->path, setup);
		if (code == EXIT_OK)
			code = output_spares("identify", outputs[i], r->data, "the recording");
	}
	return code;
}

static int solve(const IdentifyRequest *r, const Recording *recording, CalIdentification *id) {
	const char *path = r->data ? r->data : r->path;
	CalError error = {0};
	char text[120];
	for (size_t i = 0; i < recording->count; i++) {
		const CalState state = recording_state(recording, i);
		const size_t at = i * (size_t)recording->nu;
		const CalStatus status =
			cal_identification_add(id, &state, recording->udot + at, NULL, recording->tau + at, recording->measured);
		if (status == CAL_OK)
			continue;
		snprintf(text, sizeof text, "t = %.9g s: %s", recording->time[i], cal_status_text(status));
		say_error(path, text);
		return exit_code_of(status);
	}
	return say_status(path, cal_identification_solve(id, &error), &error);
}

static int identify(const IdentifyRequest *r, CalSetup *setup) {
	Recording recording;
	CalIdentification *id = NULL;
	double *found = NULL;
	int code = r->data ? recording_read(&recording, r, cal_setup_desc(setup))
	                   : recording_random(&recording, cal_setup_desc(setup), r->path);
	if (code == EXIT_OK)
		code = create(r, setup, recording.model, &id);
	if (code == EXIT_OK)
		code = solve(r, &recording, id);
	if (code == EXIT_OK && r->data)
		code = predict(&recording, id, r->path, &found);
	if (code == EXIT_OK && r->plot)
		code = draw(&recording, found, r, cal_setup_name(setup));
	if (code == EXIT_OK && r->output)
		code = write_model(r, setup, id, recording.model);
	if (code == EXIT_OK)
		identify_print(r, id, &recording);
	if (code == EXIT_OK && r->data) {
		warn(id, r);
		if (cal_model_loop_count(recording.model) == 0)
			warn_of_dependence(&recording, found, r->data), warn_of_outliers(&recording, found, r->data);
	}
	free(found);
	cal_identification_destroy(id);
	recording_free(&recording);
	return code;
}

int command_identify(int argc, char **argv) {
	IdentifyRequest r;
	CalSetup *setup = NULL;
	int code = parse_options(&r, argc, argv);
	if (code < 0) {
		code = input_open(r.path, &setup);
		if (code == EXIT_OK)
			code = spare_files(&r, setup);
		if (code == EXIT_OK)
			code = identify(&r, setup);
	}
	cal_setup_destroy(setup);
	free(r.bodies.text), free(r.friction.text), free(r.rotors.text), free(r.unactuated.text);
	return code;
}
