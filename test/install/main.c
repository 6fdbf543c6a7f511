// SPDX-License-Identifier: Apache-2.0
/*
 * main.c — the smallest user of an installed Calder: compares the version that it was compiled with to the
 * one that it runs with, and asks each optional part whether it is there, so that all of them are linked.
 */
#include <calder/calder.h>
#include <stdio.h>
#include <string.h>

int main(void) {
	char compiled[32];
	snprintf(compiled, sizeof compiled, "%d.%d.%d", CAL_VERSION_MAJOR, CAL_VERSION_MINOR, CAL_VERSION_PATCH);
	CalSetup *file = NULL;
	CalStatus status = cal_model_file_parse("{", 1, "text", NULL, &file, NULL);
	printf("compiled with %s, runs with %s\n", compiled, cal_version());
	return strcmp(compiled, cal_version()) != 0 || status == CAL_OK;
}
