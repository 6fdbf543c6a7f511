// SPDX-License-Identifier: Apache-2.0
/*
 * options.c — see options.h. getopt_long() itself says nothing: main() has set opterr to 0.
 */
#define _GNU_SOURCE // getopt_long

#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64 };

static const struct option *find_option(const struct option *options, int value) {
	for (; options->name; options++)
		if (options->val == value)
			return options;
	return NULL;
}

const char *option_name(const struct option *options, int value) {
	const struct option *found = find_option(options, value);
	return found ? found->name : "";
}

/* A long option that is none, or the beginning of several. */
static int say_unknown(const char *command, const char *given, const struct option *options) {
	const char *names[MOST_OPTIONS], *first = NULL, *second = NULL;
	char word[64];
	int count = 0;
	const size_t length = strcspn(given, "=");
	snprintf(word, sizeof word, "%.*s", length < 60 ? (int)length : 60, given);
	for (; options->name && count < MOST_OPTIONS; options++) {
		if (strncmp(options->name, word, strlen(word)) == 0) {
			second = first && !second ? options->name : second;
			first = first ? first : options->name;
		}
		names[count++] = options->name;
	}
	if (second)
		return say_usage(command, "'--%s' may be '--%s' or '--%s'; write more of it", word, first, second);
	const char *near = cal_name_nearest(word, names, count);
	if (near)
		return say_usage(command, "there is no option '--%s'; did you mean '--%s'?", word, near);
	return say_usage(command, "there is no option '--%s'", word);
}

int option_wrong(const char *command, char **argv, const struct option *options) {
	const char *argument = argv[optind - 1];
	const bool is_long = strncmp(argument, "--", 2) == 0;
	if (is_long && optopt == 0)
		return say_unknown(command, argument + 2, options);
	const struct option *known = find_option(options, optopt);
	if (is_long && known && known->has_arg == no_argument)
		return say_usage(command, "'--%s' takes no value", known->name);
	if (is_long && known)
		return say_usage(command, "'--%s' needs a value", known->name);
	if (known && known->has_arg == required_argument && strchr(argument, optopt))
		return say_usage(command, "'-%c' (--%s) needs a value", optopt, known->name);
	return say_usage(command, "there is no option '-%c'", optopt);
}

int option_quantity(const char *command, const char *name, const char *text, const char *unit, double *number) {
	CalError error = {0};
	if (cal_quantity_parse(text, unit, number, &error) != CAL_OK)
		return say_usage(command, "--%s: %s", name, error.text);
	if (!(*number >= 0 && isfinite(*number)))
		return say_usage(command, "--%s: '%s' is below zero", name, text);
	return EXIT_OK;
}

bool option_frequency(const char *text, double *rate) {
	static const double two_pi = 6.283185307179586;
	char *unit;
	*rate = two_pi * strtod(text, &unit);
	unit += strspn(unit, " ");
	const bool hertz = unit > text && strcmp(unit, "Hz") == 0;
	if (!*unit || (!hertz && cal_quantity_parse(text, "rad/s", rate, NULL) != CAL_OK))
		return false;
	return *rate > 0 && *rate < 1e30;
}
