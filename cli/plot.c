// SPDX-License-Identifier: Apache-2.0
/*
 * plot.c — `calder plot`: columns of a result file as a picture, in the style of `calder run --plot`.
 *
 * For what a program with the library writes, and for plots of a run without running it again.
 */
#define _GNU_SOURCE // getopt_long

#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "doubts.h"
#include "options.h"
#include "output.h"

static const char help[] =
	"usage: calder plot [OPTION]... FILE [COLUMN]...\n"
	"\n"
	"Draws columns of a result file over its first column, as SVG: of an HDF5 file (.h5, .hdf5) that 'calder run'\n"
	"wrote, or of a CSV file (- reads stdin), whose first line names the columns, \"kind:label [unit]\". Columns of\n"
	"one kind and unit share a panel.\n"
	"  -o, --output FILE   the picture (- for stdout, the default); .png makes PNG, .pdf a page of PDF for LaTeX, both\n"
	"                      by rsvg-convert (librsvg2-bin)\n"
	"  -t, --title TEXT    above it (the title of the run, or the name of the file)\n"
	"      --stream NAME   of an HDF5 file (its first; the others are named on stderr and below the picture)\n"
	"COLUMN is a name without its unit (q:shoulder, momentum:Lz), or the beginning of several (q, node:arm/tip);\n"
	"without any, all are drawn, up to 8 panels of 24 lines. An empty cell is a gap in the line;\n"
	"up to 60 samples are marked.\n"
	"\n"
	"example: calder plot run.csv q momentum:Lz -o run.svg\n";

typedef struct PlotOptions {
	const char *path, *svg, *title, *stream;
	char **names; // [name_count]
	int name_count;
} PlotOptions;

/* Exit code, or -1 to continue. */
static int parse_options(PlotOptions *options, int argc, char **argv) {
	static const struct option long_options[] = {
		{"output", required_argument, NULL, 'o'},
		{"title", required_argument, NULL, 't'},
		{"stream", required_argument, NULL, 'S'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	*options = (PlotOptions){.svg = "-"};
	for (int option; (option = getopt_long(argc, argv, "o:t:h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == 'o')
			options->svg = optarg;
		else if (option == 't')
			options->title = optarg;
		else if (option == 'S')
			options->stream = optarg;
		else
			return option_wrong("plot", argv, long_options);
	}
	if (optind == argc)
		return say_usage("plot", "name a result file (or - for CSV from stdin)");
	options->path = argv[optind++];
	options->names = argv + optind;
	options->name_count = argc - optind;
	return -1;
}

/* Is it the column of that name, or one of the several that begin with it? */
static bool matches(const Column *column, const char *name) {
	size_t length = strlen(name);
	return strncmp(column->name, name, length) == 0 &&
	       (column->name[length] == 0 || column->name[length] == ':' || column->name[length] == '.');
}

/* Appends what the name stands for; false: nothing. */
static bool add_items(const Csv *csv, const char *name, bool *taken, PanelItem *items, int *count) {
	bool found = false;
	for (int i = 1; i < csv->column_count; i++) {
		if (!matches(&csv->columns[i], name))
			continue;
		const bool own = strcmp(csv->columns[i].name, name) == 0;
		if (!taken[i])
			items[(*count)++] = (PanelItem){.column = i, .label = own ? panels_own_label(name) : csv->columns[i].label};
		taken[i] = true;
		found = true;
	}
	return found;
}

static int choose(const PlotOptions *options, const Csv *csv, bool *taken, PanelItem *items, int *count) {
	for (int i = 0; i < options->name_count; i++) {
		if (add_items(csv, options->names[i], taken, items, count))
			continue;
		char text[300];
		snprintf(text, sizeof text, "there is no column \"%.80s\"; there is \"%.80s\" and so on", options->names[i],
		         csv->columns[csv->column_count > 1].name);
		say_error(input_name(options->path), text);
		return EXIT_INPUT;
	}
	for (int i = 1; i < csv->column_count && !options->name_count; i++)
		items[(*count)++] = (PanelItem){.column = i, .label = csv->columns[i].label};
	return EXIT_OK;
}

/* As given; else that of the run; else the name of the file without its folders. */
static const char *title_of(const PlotOptions *options, const Csv *csv) {
	const char *name = input_name(options->path), *slash = strrchr(name, '/');
	return options->title ? options->title : csv->title[0] ? csv->title : slash ? slash + 1 : name;
}

static int draw(const PlotOptions *options, const Csv *csv) {
	PanelItem *items = calloc((size_t)csv->column_count, sizeof *items);
	bool *taken = calloc((size_t)csv->column_count, sizeof *taken);
	int count = 0, code = items && taken ? choose(options, csv, taken, items, &count)
	                                     : say_status(options->svg, CAL_ERR_MEMORY, NULL);
	const Table table = {
		.columns = csv->columns, .column_count = csv->column_count, .rows = csv->rows, .count = csv->count};
	if (code == EXIT_OK)
		code = panels_write(options->svg, title_of(options, csv), &table, items, count, csv->note);
	free(items);
	free(taken);
	return code;
}

int command_plot(int argc, char **argv) {
	PlotOptions options;
	int code = parse_options(&options, argc, argv);
	if (code >= 0)
		return code;
	code = output_spares("plot", (Written){options.svg, "-o"}, options.path, "the result file");
	if (code != EXIT_OK)
		return code;
	Csv csv;
	code = cal_results_is_hdf5(options.path) ? csv_from_hdf5(options.path, options.stream, &csv)
	                                         : csv_read(options.path, &csv);
	if (code == EXIT_OK)
		code = draw(&options, &csv);
	if (code == EXIT_OK)
		doubts_warn_file(options.path);
	csv_free(&csv);
	return code;
}
