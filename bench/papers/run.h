// SPDX-License-Identifier: Apache-2.0
/*
 * run.h — a system of the papers, compiled, at its start, with its drive; and the clock of the tables.
 */
#ifndef BENCH_PAPERS_RUN_H
#define BENCH_PAPERS_RUN_H

#include <stdbool.h>

#include "models.h"

/** How it is solved. */
typedef struct PaperWay {
	CalSolver solver;
	CalLoopSolver loops;
	int projection; // as CalIntegratorOptions.projection
	int branches;   // workers that it is partitioned for, where that is faster; below 2: in one piece
	int threads;    // 0: 1
	bool cut_loops; // divided even where it is not faster, through loops
} PaperWay;

typedef struct PaperRun {
	const PaperModel *paper;
	CalModel *model;
	CalWork *work;
	CalBranches *branches; // NULL: in one piece
	CalState state;
	CalIntegrator *integrator; // Euler-Cromer
	double *memory;            // the drives' tau, and udot
	double *udot;              // for the caller
	CalWrench wrenches[2][PAPER_LOADS];
	CalInput drive[2]; // with both signs
} PaperRun;

/** To be released by paper_run_close(), also after a failure. */
CalStatus paper_run_open(const PaperModel *paper, const PaperWay *way, PaperRun *run, CalError *error);
void paper_run_close(PaperRun *run);

/** What acts at t. */
const CalInput *paper_drive(const PaperRun *run, double t);
/** Steps of the paper's size. */
CalStatus paper_run_step(PaperRun *run, int64_t steps);
/** Largest residual and largest rate of all loops. */
CalStatus paper_run_residual(PaperRun *run, double *residual, double *rate);
/** Place of a node, by a kinematics of the state. */
CalStatus paper_run_place(PaperRun *run, const char *node, CalVec3 *place);

/** Time that this thread has used [s]. */
double cpu_seconds(void);
/** Time since some instant [s]. */
double wall_seconds(void);

double distance(CalVec3 a, CalVec3 b);
/** The larger of two; once one is not a number, it stays so. */
double larger(double a, double b);

#endif
