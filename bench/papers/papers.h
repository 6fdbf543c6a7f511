// SPDX-License-Identifier: Apache-2.0
/*
 * papers.h — the tables of the papers: one function each, and what they have in common.
 *
 * Each writes a table in Markdown to FOLDER/NAME.md and the data of its figures as CSV. They return 0, or 1 after a
 * message: a run failed, or missed a limit that holds for every machine. A further table is a further function in the
 * list of papers.c, and a page with its marks in docs/papers.
 */
#ifndef BENCH_PAPERS_PAPERS_H
#define BENCH_PAPERS_PAPERS_H

#include <stdio.h>

#include "run.h"

/** How much is run. */
typedef enum PaperScale {
	PAPER_QUICK,  // some steps of everything, for a test
	PAPER_NORMAL, // minutes: what is slow is run in part and its time scaled up
	PAPER_FULL,   // everything as long as in the papers
} PaperScale;

typedef struct PaperJob {
	const char *folder;
	PaperScale scale;
	int jobs; // runs at the same time, where a table consists of several
} PaperJob;

int write_cases(const PaperJob *job);      // Ghosh and Quiocho, table 2, figures 2 and 3
int write_updates(const PaperJob *job);    // Huynh et al., table 1
int write_branches(const PaperJob *job);   // Huynh et al., table 2
int write_pendulum(const PaperJob *job);   // Kasper and Vlasenko, figures 5 and 6
int write_operations(const PaperJob *job); // Kasper and Vlasenko, the operations of section 6
int write_components(const PaperJob *job); // Kasper and Vlasenko, what a component costs outside
int write_machine(const PaperJob *job);    // what all of it was run on

/** Opens FOLDER/name for writing; NULL after a message. */
FILE *paper_file(const PaperJob *job, const char *name);
/** Calls `work` with 0 to count - 1, on `job->jobs` threads; none is begun after a failure. Returns 0 if all returned 0. */
int paper_share(const PaperJob *job, int count, int (*work)(void *user, int index), void *user);
/** Prints why something failed; returns 1. */
int paper_fail(const char *what, CalStatus status, const CalError *error);
/** "1.23e-10" cells and the like: a number, or a dash if it is not one. */
const char *paper_number(char *text, size_t size, const char *format, double value);

#endif
