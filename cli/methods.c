// SPDX-License-Identifier: Apache-2.0
/*
 * methods.c — `calder methods`: the integration methods and what each can do, as a table, as JSON, or as the table of
 * docs/methods.md.
 */
#define _GNU_SOURCE // getopt_long

#include <getopt.h>
#include <string.h>

#include "cli.h"
#include "options.h"

static const char help[] =
	"usage: calder methods [OPTION]...\n"
	"\n"
	"Lists the integration methods that run: {method: NAME} and `calder run --method NAME` take.\n"
	"      --json             as JSON\n"
	"      --markdown         as a table in Markdown\n"
	"  -h, --help             print this\n"
	"\n"
	"example: calder methods --json\n";

static const char *steps_of(const CalMethodInfo *info) { return info->adaptive ? "adaptive" : "fixed"; }

static void print_text(const CalMethodInfo *info) {
	printf("%-18s order %-3d %-9s %s", info->name, info->order, steps_of(info), info->doc);
	if (info->missing)
		printf(" (not built: lacks %s)", info->missing);
	putchar('\n');
}

/* A stability limit, or a dash where there is none. */
static void print_limit(double limit) {
	if (limit > 0)
		printf(" %.3g |", limit);
	else
		printf(" – |");
}

static void print_markdown(const CalMethodInfo *info) {
	printf("| `%s` | %d | %s |", info->name, info->order, steps_of(info));
	if (info->evaluations > 0)
		printf(" %d |", info->evaluations);
	else
		printf(" varies |");
	print_limit(info->imaginary_limit);
	print_limit(info->real_limit);
	printf(" %s | %s | %s |\n", info->subsystems ? "yes" : "no", info->exact_resume ? "yes" : "no", info->doc);
}

static void print_json(const CalMethodInfo *info) {
	printf("  {\"name\": ");
	json_string(stdout, info->name);
	printf(", \"doc\": ");
	json_string(stdout, info->doc);
	printf(", \"order\": %d, \"evaluations\": %d, \"adaptive\": %s, \"rtol\": %g, \"atol\": %g, \"implicit_share\": %g",
	       info->order, info->evaluations, info->adaptive ? "true" : "false", info->rtol, info->atol,
	       info->implicit_share);
	printf(", \"imaginary_limit\": %.6g, \"real_limit\": %.6g, \"subsystems\": %s, \"exact_resume\": %s, \"missing\": ",
	       info->imaginary_limit, info->real_limit, info->subsystems ? "true" : "false",
	       info->exact_resume ? "true" : "false");
	if (info->missing)
		json_string(stdout, info->missing);
	else
		printf("null");
	putchar('}');
}

int command_methods(int argc, char **argv) {
	enum { OPTION_JSON = 256, OPTION_MARKDOWN };
	static const struct option long_options[] = {{"json", no_argument, NULL, OPTION_JSON},
	                                             {"markdown", no_argument, NULL, OPTION_MARKDOWN},
	                                             {"help", no_argument, NULL, 'h'},
	                                             {0}};
	int form = 0;
	for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("methods", argv, long_options);
		form = option;
	}
	if (optind < argc)
		return say_usage("methods", "it takes no argument, but '%s' was given", argv[optind]);
	if (form == OPTION_MARKDOWN)
		printf(
			"| method | order | steps | evaluations in a step | stable h ω | stable h / decay time | compiled subsystems "
			"| bit-identical resume | |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		const CalMethodInfo *info = cal_method_info((CalMethod)i);
		if (form == OPTION_JSON)
			fputs(i ? ",\n" : "[\n", stdout);
		(form == OPTION_JSON ? print_json : form == OPTION_MARKDOWN ? print_markdown : print_text)(info);
	}
	if (form == OPTION_JSON)
		fputs("\n]\n", stdout);
	return EXIT_OK;
}
