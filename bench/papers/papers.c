// SPDX-License-Identifier: Apache-2.0
/*
 * papers.c — the tables and figures of the papers that this library follows, ours beside theirs.
 *
 *   papers [--quick|--full] [--jobs N] FOLDER [TABLE]...   writes tables (Markdown) and data of figures (CSV) to FOLDER
 *   papers --start FILE                                    compares the accelerations at the start with those in FILE
 *
 * ./dev papers runs it and puts what it writes into docs/papers. Exit status 1: a run failed or a limit was missed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"
#include "start.h"

static const struct {
	const char *name;
	int (*write)(const PaperJob *job);
} tables[] = {
	{"machine", write_machine},       {"cases", write_cases},       {"updates", write_updates},
	{"branches", write_branches},     {"pendulum", write_pendulum}, {"operations", write_operations},
	{"components", write_components},
};

FILE *paper_file(const PaperJob *job, const char *name) {
	char path[1024];
	const int length = snprintf(path, sizeof path, "%s/%s", job->folder, name);
	FILE *out = length > 0 && length < (int)sizeof path ? fopen(path, "w") : NULL;
	if (!out)
		fprintf(stderr, "papers: %s/%s cannot be written\n", job->folder, name);
	return out;
}

int paper_fail(const char *what, CalStatus status, const CalError *error) {
	fprintf(stderr, "papers: %s: %s\n", what, error && error->text[0] ? error->text : cal_status_text(status));
	return 1;
}

const char *paper_number(char *text, size_t size, const char *format, double value) {
	if (isnan(value))
		return "–";
	snprintf(text, size, format, value);
	return text;
}

static int wanted(const char *name, char **names) {
	if (!*names)
		return 1;
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return 1;
	return 0;
}

static int known(const char *name) {
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (strcmp(tables[i].name, name) == 0)
			return 1;
	return 0;
}

static int usage(void) {
	fprintf(stderr, "usage: papers [--quick|--full] [--jobs N] FOLDER "
	                "[machine|cases|updates|branches|pendulum|operations|components]...\n"
	                "       papers --start FILE\n");
	return 2;
}

int main(int argc, char **argv) {
	PaperJob job = {.scale = PAPER_NORMAL, .jobs = 1};
	char **at = argv + 1;
	if (argc == 3 && strcmp(argv[1], "--start") == 0)
		return check_start(argv[2]);
	if (*at && strcmp(*at, "--quick") == 0)
		job.scale = PAPER_QUICK, at++;
	else if (*at && strcmp(*at, "--full") == 0)
		job.scale = PAPER_FULL, at++;
	if (*at && strcmp(*at, "--jobs") == 0 && at[1])
		job.jobs = (int)strtol(at[1], NULL, 10), at += 2;
	if (!*at || **at == '-' || job.jobs < 1)
		return usage();
	job.folder = *at++;
	for (char **name = at; *name; name++)
		if (!known(*name))
			return usage();
	int failed = 0;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (wanted(tables[i].name, at))
			failed |= tables[i].write(&job);
	return failed;
}
