// SPDX-License-Identifier: Apache-2.0
/*
 * fmu.c — `calder fmu`: a model as a functional mock-up unit (FMI 2.0 or 3.0, co-simulation), for other simulators (docs/fmi.md).
 *
 * A unit is an archive: modelDescription.xml, the model with every number written out, the list of its variables, and the same
 * shared object for every model. Before it is written it is started once, as an importer would.
 */
#define _GNU_SOURCE // getopt_long, open_memstream

#include "fmu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "zip.h"

static const char help[] =
	"usage: calder fmu [OPTION]... FILE -o OUT.fmu\n"
	"\n"
	"Writes a model as a functional mock-up unit for co-simulation, which other simulators import (docs/fmi.md). It\n"
	"contains Calder itself and needs nothing but the C library.\n"
	"  -o OUT            the unit, an archive\n"
	"  --fmi VERSION     of the interface: 3 (default) or 2\n"
	"  --input NAME      force:JOINT, force:JOINT.DOF, wrench:NODE or wrench:NODE.fx (mx .. fz); may be repeated\n"
	"                    (the forces on all joints; none: --input none)\n"
	"  --parameter NAME  a number that can be set before and during a run, as calder parameters lists them; may be repeated\n"
	"  --output NAME     a quantity, as calder signals lists them; may be repeated (what the run of the file records, or q and u)\n"
	"\n"
	"example: calder fmu examples/double_pendulum.yaml --input force:shoulder --output q --output u -o pendulum.fmu\n";

enum { MOST_NAMES = 256 };

typedef struct Names {
	const char *of[MOST_NAMES];
	int count;
} Names;

typedef struct Unit {
	const char *input, *output;
	int version;
	Names inputs, parameters, outputs;
	char *model, *variables, *description; // texts of its files
	size_t model_length, variables_length, description_length;
} Unit;

/* ---- variables --------------------------------------------------------------------------------------------- */

/* The columns of a name, one line each; prefix: the names that count, NULL: all. */
static CalStatus list_columns(FILE *out, const char *kind, CalSampler *sampler, CalSim *sim, const char *name,
                              const char *prefix, CalError *error) {
	const int before = cal_sampler_column_count(sampler);
	CalStatus status = cal_sampler_add(sampler, sim, name, error);
	for (int i = before; status == CAL_OK && i < cal_sampler_column_count(sampler); i++) {
		CalSamplerColumn column;
		status = cal_sampler_column(sampler, i, &column);
		if (strpbrk(column.name, "\t\n"))
			return snprintf(error->text, sizeof error->text, "\"%.200s\": a name with a tab or a line break",
			                column.name),
			       CAL_ERR_UNSUPPORTED;
		if (status == CAL_OK && (!prefix || strncmp(column.name, prefix, strlen(prefix)) == 0))
			fprintf(out, "%s\t%s\t%s\n", kind, column.unit, column.name);
	}
	return status;
}

static CalStatus list_joint(FILE *out, CalSampler *sampler, CalSim *sim, const char *joint, CalError *error) {
	char name[320];
	snprintf(name, sizeof name, "force:%s", joint);
	return list_columns(out, "input", sampler, sim, name, name, error);
}

/* The forces on all joints that have degrees of freedom. */
static CalStatus list_joints(FILE *out, CalSampler *sampler, const Loaded *loaded) {
	const CalDesc *desc = cal_setup_desc(loaded->setup);
	for (int i = 0; i < cal_desc_joint_count(desc); i++) {
		CalError none = {0};
		const CalJointDef *joint = cal_desc_joint(desc, (CalJointId){(uint32_t)i + 1}, NULL, NULL);
		const CalStatus status =
			joint && joint->name ? list_joint(out, sampler, loaded->sim, joint->name, &none) : CAL_OK;
		if (status == CAL_ERR_MEMORY || status == CAL_ERR_UNSUPPORTED)
			return status;
	}
	return CAL_OK;
}

static CalStatus list_input(FILE *out, CalSampler *sampler, CalSim *sim, const char *name, CalError *error) {
	if (strncmp(name, "force:", 6) == 0)
		return list_columns(out, "input", sampler, sim, name, name, error);
	if (strncmp(name, "wrench:", 7) == 0)
		return list_columns(out, "input", sampler, sim, name, NULL, error);
	snprintf(error->text, sizeof error->text,
	         "input \"%.100s\": inputs are force:JOINT, force:JOINT.DOF, wrench:NODE and wrench:NODE.fx (mx .. fz)",
	         name);
	return CAL_ERR_INPUT;
}

static CalStatus list_inputs(FILE *out, const Unit *unit, const Loaded *loaded, CalError *error) {
	CalSampler *sampler = NULL;
	const bool none = unit->inputs.count == 1 && strcmp(unit->inputs.of[0], "none") == 0;
	CalStatus status = cal_sampler_create(NULL, &sampler, error);
	if (status == CAL_OK && unit->inputs.count == 0)
		status = list_joints(out, sampler, loaded);
	for (int i = 0; i < unit->inputs.count && !none && status == CAL_OK; i++)
		status = list_input(out, sampler, loaded->sim, unit->inputs.of[i], error);
	cal_sampler_destroy(sampler);
	return status;
}

static CalStatus list_parameters(FILE *out, const Unit *unit, const Loaded *loaded, CalError *error) {
	CalStatus status = CAL_OK;
	if (unit->parameters.count > 0 && !cal_sim_reserved(loaded->sim, NULL))
		status = cal_sim_reserve(loaded->sim, cal_setup_desc(loaded->setup), NULL, error);
	for (int i = 0; i < unit->parameters.count && status == CAL_OK; i++) {
		CalParameter p = {.fixed = "there is none of this name; `calder parameters` lists them"};
		const int index = cal_sim_find_parameter(loaded->sim, unit->parameters.of[i]);
		if (index >= 0)
			status = cal_sim_parameter(loaded->sim, index, &p);
		if (status == CAL_OK && p.fixed) {
			snprintf(error->text, sizeof error->text, "parameter \"%.200s\": %s", unit->parameters.of[i], p.fixed);
			return CAL_ERR_INPUT;
		}
		fprintf(out, "parameter\t%s\t%s\t%.17g\n", p.unit[0] ? p.unit : "1", p.name, p.value);
	}
	return status;
}

static CalStatus list_outputs(FILE *out, const Unit *unit, const Loaded *loaded, CalError *error) {
	static const char *const usual[] = {"q", "u"};
	const CalRunSettings *run = &loaded->settings;
	const bool recorded = run->stream_count > 0 && run->streams[0].signal_count > 0;
	const char *const *names = unit->outputs.count ? unit->outputs.of : recorded ? run->streams[0].signals : usual;
	const int count = unit->outputs.count ? unit->outputs.count : recorded ? run->streams[0].signal_count : 2;
	CalSampler *sampler = NULL;
	CalStatus status = cal_sampler_create(NULL, &sampler, error);
	for (int i = 0; i < count && status == CAL_OK; i++)
		status = list_columns(out, "output", sampler, loaded->sim, names[i], NULL, error);
	cal_sampler_destroy(sampler);
	return status;
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

static uint64_t hash(const char *text, uint64_t h) {
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3U; // FNV-1a
	return h;
}

/* Of the contents: the same model and variables give the same token. */
static void write_token(const Unit *unit, const char *lines, char token[48]) {
	const uint64_t a = hash(unit->model, hash(lines, 0xcbf29ce484222325U)),
				   b = hash(lines, hash(unit->model, a ^ 0x9e3779b97f4a7c15U));
	snprintf(token, 48, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffffU,
	         (unsigned)a & 0xffffU, (unsigned)(b >> 48), (unsigned long long)b & 0xffffffffffffULL);
}

static CalStatus close_text(FILE *memory, CalStatus status) {
	return memory && fclose(memory) != 0 && status == CAL_OK ? CAL_ERR_MEMORY : status;
}

static CalStatus write_model(Unit *unit, const CalSetup *setup, CalError *error) {
	FILE *memory = open_memstream(&unit->model, &unit->model_length);
	return close_text(memory, memory ? cal_model_file_write(setup, memory, error) : CAL_ERR_MEMORY);
}

static CalStatus write_variables(Unit *unit, const Loaded *loaded, CalError *error) {
	char *lines = NULL, token[48];
	size_t length = 0;
	FILE *memory = open_memstream(&lines, &length);
	CalStatus status = memory ? list_inputs(memory, unit, loaded, error) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = list_parameters(memory, unit, loaded, error);
	if (status == CAL_OK)
		status = list_outputs(memory, unit, loaded, error);
	status = close_text(memory, status);
	memory = status == CAL_OK ? open_memstream(&unit->variables, &unit->variables_length) : NULL;
	if (memory) {
		write_token(unit, lines, token);
		fprintf(memory, "calder-fmu 1 %s\n%s", token, lines);
	}
	status = close_text(memory, status == CAL_OK && !memory ? CAL_ERR_MEMORY : status);
	free(lines);
	return status;
}

/* The name of the file, as a name in C. */
static void write_identifier(const char *path, char *text, size_t size) {
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = 0;
	if (!isalpha((unsigned char)*name))
		length = (size_t)snprintf(text, size, "calder_");
	for (; *name && *name != '.' && length + 1 < size; name++)
		text[length++] = isalnum((unsigned char)*name) ? *name : '_';
	text[length] = 0;
}

/* Whether outputs have derivatives by inputs, by trying one. */
static int has_derivatives(FmuModel *model) {
	const int count = fmu_model_variable_count(model);
	const unsigned input = 1, output = (unsigned)count - 1;
	const double seed = 1;
	double sensitivity;
	return count > 2 && fmu_model_variable(model, 1).kind == FMU_INPUT &&
	       fmu_model_variable(model, count - 1).kind == FMU_OUTPUT &&
	       fmu_model_sensitivity(model, &output, 1, &input, 1, &seed, &sensitivity, NULL) == CAL_OK;
}

static CalStatus write_description(Unit *unit, const char *identifier, const char *title, CalError *error) {
	FmuModel *model = NULL;
	CalStatus status = fmu_model_create(unit->model, unit->variables, input_name(unit->input), &model, error);
	if (status == CAL_OK)
		status = fmu_model_start(model, 0, 0, error);
	FILE *memory = status == CAL_OK ? open_memstream(&unit->description, &unit->description_length) : NULL;
	if (memory) {
		const FmuDescription description = {.version = unit->version,
		                                    .model_name = title[0] ? title : identifier,
		                                    .identifier = identifier,
		                                    .has_derivatives = has_derivatives(model)};
		fmu_write_description(memory, &description, model);
	}
	status = close_text(memory, status == CAL_OK && !memory ? CAL_ERR_MEMORY : status);
	fmu_model_destroy(model);
	return status;
}

/* ---- the archive --------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static const char platforms[2][20] = {"linux64", "x86_64-linux"}; // of FMI 2.0, 3.0
#elif defined(__aarch64__)
static const char platforms[2][20] = {"aarch64-linux", "aarch64-linux"};
#else
static const char platforms[2][20] = {"linux32", "x86-linux"};
#endif

static int write_archive(const Unit *unit, const char *identifier) {
	char binary[160];
	size_t size;
	const void *bytes = fmu_binary(&size);
	OutputFile out;
	int code = output_open(&out, unit->output);
	if (code != EXIT_OK)
		return code;
	snprintf(binary, sizeof binary, "binaries/%s/%s.so", platforms[unit->version - 2], identifier);
	ZipWriter zip = {.out = out.stream};
	zip_add(&zip, "modelDescription.xml", unit->description, unit->description_length);
	zip_add(&zip, binary, bytes, size);
	zip_add(&zip, "resources/" FMU_MODEL_FILE, unit->model, unit->model_length);
	zip_add(&zip, "resources/" FMU_VARIABLES_FILE, unit->variables, unit->variables_length);
	zip_add(&zip, unit->version == 3 ? "documentation/licenses/licenses.txt" : "documentation/licenses.txt",
	        fmu_licenses(), strlen(fmu_licenses()));
	if (zip_finish(&zip)) {
		say_error(unit->output, "the unit would be larger than 2 GiB");
		code = EXIT_INPUT;
	}
	return output_close(&out, code);
}

static void say_counts(const Unit *unit) {
	int inputs = 0, outputs = 0;
	for (const char *at = strchr(unit->variables, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
		inputs += at[1] == 'i', outputs += at[1] == 'o';
	const int parameters = unit->parameters.count;
	if (strcmp(unit->output, "-") != 0)
		printf("%s: FMI %d.0, co-simulation, %d input%s, %d parameter%s, %d output%s\n", unit->output, unit->version,
		       inputs, plural(inputs), parameters, plural(parameters), outputs, plural(outputs));
}

static int make_unit(Unit *unit) {
	CalSetup *setup = NULL;
	Loaded loaded = {.refuses_code = true};
	CalError error = {0};
	char identifier[80];
	int code = input_open(unit->input, &setup);
	if (code == EXIT_OK)
		code = output_spares_model("fmu", (Written){unit->output, "-o"}, unit->input, setup);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		return code;
	}
	write_identifier(unit->input, identifier, sizeof identifier);
	CalStatus status = loaded_build(&loaded, setup, NULL, &error);
	if (status == CAL_OK)
		status = write_model(unit, setup, &error);
	if (status == CAL_OK)
		status = write_variables(unit, &loaded, &error);
	if (status == CAL_OK)
		status = write_description(unit, identifier, loaded.settings.title ? loaded.settings.title : "", &error);
	code = say_status(input_name(unit->input), status, &error);
	if (code == EXIT_OK)
		code = write_archive(unit, identifier);
	if (code == EXIT_OK)
		say_counts(unit);
	loaded_destroy(&loaded);
	return code;
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

static bool add_name(Names *names, const char *name) {
	if (names->count == MOST_NAMES)
		return false;
	names->of[names->count++] = name;
	return true;
}

/* False: no value for it. */
static bool set_option(Unit *unit, int option, const char *text) {
	if (option == 'f') {
		unit->version = strcmp(text, "2") == 0 || strcmp(text, "2.0") == 0   ? 2
		                : strcmp(text, "3") == 0 || strcmp(text, "3.0") == 0 ? 3
		                                                                     : 0;
		return unit->version != 0;
	}
	if (option == 'o')
		unit->output = text;
	return option == 'o' || add_name(option == 'i'   ? &unit->inputs
	                                 : option == 'p' ? &unit->parameters
	                                                 : &unit->outputs,
	                                 text);
}

int command_fmu(int argc, char **argv) {
	static const struct option options[] = {{"fmi", required_argument, NULL, 'f'},
	                                        {"input", required_argument, NULL, 'i'},
	                                        {"parameter", required_argument, NULL, 'p'},
	                                        {"output", required_argument, NULL, 'u'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	size_t size;
	Unit unit = {.version = 3};
	for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("fmu", argv, options);
		if (!set_option(&unit, option, optarg))
			return option == 'f' ? say_usage("fmu", "--fmi is 2 or 3, not '%s'", optarg)
			                     : say_usage("fmu", "more than %d names", MOST_NAMES);
	}
	if (argc - optind != 1)
		return say_usage("fmu", "name one model file (or - for stdin)");
	if (!unit.output)
		return say_usage("fmu", "say where to write: -o OUT.fmu");
	if (!fmu_binary(&size)) {
		say_error("calder fmu",
		          "this program was built without units: they need static libraries of libyaml and what else "
		          "Calder was built with (docs/fmi.md)");
		return EXIT_INPUT;
	}
	unit.input = argv[optind];
	const int code = make_unit(&unit);
	free(unit.model), free(unit.variables), free(unit.description);
	return code;
}
