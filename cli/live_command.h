// SPDX-License-Identifier: Apache-2.0
/*
 * live_command.h — what a page asks for: flat JSON objects with the key "command" (docs/replay.md). Whatever else comes is no
 * command.
 */
#ifndef CALDER_CLI_LIVE_COMMAND_H
#define CALDER_CLI_LIVE_COMMAND_H

#include "cli.h"

bool command_is(const char *text, const char *name);
/** False: the key is not there, or has no finite number. */
bool command_number(const char *text, const char *key, double *value);
/** The same of a whole number from 0 to count - 1. */
bool command_index(const char *text, const char *key, int count, int *index);
/** The same of a list of three. */
bool command_vector(const char *text, const char *key, CalVec3 *v);

#endif
