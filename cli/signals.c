// SPDX-License-Identifier: Apache-2.0
/*
 * signals.c — `calder signals`: the catalogue of quantities (calder/quantity.h), or the columns that a model has.
 */
#define _GNU_SOURCE // getopt_long

#include <string.h>

#include "cli.h"
#include "options.h"

static const char help[] =
	"usage: calder signals [OPTION]... [FILE]\n"
	"\n"
	"Lists the quantities that can be recorded, plotted and read in formulas; with FILE, the columns of all objects of\n"
	"that model with their units.\n"
	"      --markdown      the table of docs/format.md\n"
	"A name is WORD (all objects), WORD:OBJECT or WORD:OBJECT.COMPONENT; in a formula WORD(OBJECT.COMPONENT).\n"
	"\n"
	"example: calder signals examples/slew.yaml\n";

/* ---- the catalogue ---------------------------------------------------------------------------------------------- */

/* "NODE or A,B": how the object is written. */
static void write_object(const CalQuantityInfo *info, char *text, size_t size) {
	snprintf(text, size, "%s%s", info->object, info->relative ? " or A,B" : "");
}

static void write_components(const CalQuantityInfo *info, char *text, size_t size) {
	size_t used = 0;
	text[0] = '\0';
	for (int i = 0; i < info->component_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", info->components[i]);
	if (info->component_count == 0)
		snprintf(text, size, "%s",
		         info->about == CAL_ABOUT_COORDINATE ? "of the joint"
		         : info->about == CAL_ABOUT_LOOP     ? "its equations"
		                                             : "its outputs");
}

/* Units, each once, in their order. */
static void write_units(const CalQuantityInfo *info, char *text, size_t size) {
	size_t used = 0;
	text[0] = '\0';
	for (int i = 0; i < info->component_count && used < size; i++)
		if (i == 0 || strcmp(info->units[i], info->units[i - 1]) != 0)
			used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", info->units[i]);
}

static const char *in_formulas(const CalQuantityInfo *info) {
	return info->formula_count == 0 ? "" : info->formula_count < 0 ? "yes" : "partly";
}

static void print_plain(const CalQuantityInfo *info) {
	char object[40], components[120], units[80];
	write_object(info, object, sizeof object);
	write_components(info, components, sizeof components);
	write_units(info, units, sizeof units);
	printf("%-15s%s\n", info->word, info->doc);
	if (info->object[0])
		printf("%15s%s of %s%s\n", "", info->of_all ? "all, or" : "only", object,
		       info->formula_count ? "; in formulas" : "");
	if (components[0])
		printf("%15scomponents: %s%s%s%s\n", "", components, units[0] ? " [" : "", units, units[0] ? "]" : "");
}

static void print_markdown(const CalQuantityInfo *info) {
	char object[40], components[120], units[80];
	write_object(info, object, sizeof object);
	write_components(info, components, sizeof components);
	write_units(info, units, sizeof units);
	const bool named = info->component_count > 0 && components[0];
	printf("| ");
	if (info->of_all)
		printf("`%s`%s", info->word, info->object[0] ? ", " : "");
	if (info->object[0])
		printf("`%s:%s`", info->word, info->object);
	if (info->relative)
		printf(", `%s:A,B`", info->word);
	printf(" | %s | %s%s%s | %s | %s |\n", info->doc, named ? "`" : "", components, named ? "`" : "", units,
	       in_formulas(info));
}

static int print_catalogue(bool markdown) {
	if (markdown)
		printf("| signal | value | components | units | in formulas |\n| --- | --- | --- | --- | --- |\n");
	for (int i = 0; i < cal_quantity_count(); i++) {
		CalQuantityInfo info;
		if (cal_quantity(i, &info) != CAL_OK)
			continue;
		if (markdown)
			print_markdown(&info);
		else
			print_plain(&info);
	}
	return EXIT_OK;
}

/* ---- a model ---------------------------------------------------------------------------------------------------- */

static CalStatus add_all(CalSampler *sampler, CalSim *sim, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < cal_quantity_count() && status == CAL_OK; i++) {
		CalQuantityInfo info;
		if (cal_quantity(i, &info) == CAL_OK && info.of_all)
			status = cal_sampler_add(sampler, sim, info.word, error);
	}
	return status;
}

static int print_columns(const char *path) {
	Loaded loaded = {0};
	CalSetup *setup = NULL;
	CalSampler *sampler = NULL;
	CalError error = {0};
	int code = input_open(path, &setup);
	if (code != EXIT_OK)
		return code;
	CalStatus status = loaded_build(&loaded, setup, NULL, &error);
	if (status == CAL_OK)
		status = cal_sampler_create(NULL, &sampler, &error);
	if (status == CAL_OK)
		status = add_all(sampler, loaded.sim, &error);
	code = say_status(input_name(path), status, &error);
	if (code == EXIT_OK)
		say_left_out(input_name(path), loaded.sim);
	for (int i = 0; code == EXIT_OK && i < cal_sampler_column_count(sampler); i++) {
		CalSamplerColumn column;
		if (cal_sampler_column(sampler, i, &column) == CAL_OK)
			printf("%s [%s]\n", column.name, column.unit);
	}
	cal_sampler_destroy(sampler);
	loaded_destroy(&loaded);
	return code;
}

int command_signals(int argc, char **argv) {
	static const struct option long_options[] = {
		{"markdown", no_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool markdown = false;
	for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option != 'm')
			return option_wrong("signals", argv, long_options);
		markdown = true;
	}
	if (argc - optind > 1 || (markdown && optind < argc))
		return say_usage("signals", "name one model file, or none");
	return optind < argc ? print_columns(argv[optind]) : print_catalogue(markdown);
}
