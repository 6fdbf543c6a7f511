// SPDX-License-Identifier: Apache-2.0
/*
 * options.h — what the commands share in reading their options: messages in our own words, and quantities with units.
 */
#ifndef CALDER_CLI_OPTIONS_H
#define CALDER_CLI_OPTIONS_H

#include <getopt.h>

#include "cli.h"

/** Says what is wrong with the option for which getopt_long() has just returned '?'. Returns EXIT_USAGE. */
int option_wrong(const char *command, char **argv, const struct option *options);
/** The long name of an option, "step"; "" if there is none. */
const char *option_name(const struct option *options, int value);
/**
 * A quantity that is zero or more, with a unit as in files or in `unit` ("" for a plain number), into *number in SI.
 * Returns an exit code.
 */
int option_quantity(const char *command, const char *name, const char *text, const char *unit, double *number);

/**
 * A frequency above zero, '50 Hz' or '300 rad/s', into *rate in rad/s. The unit is needed: a plain number is rad/s by the
 * rule of files, and would be Hz by the habit of those who look at a table. Hz is no unit of most keys of files
 * (docs/format.md); here it is that of the tables.
 */
bool option_frequency(const char *text, double *rate);

#endif
