// SPDX-License-Identifier: Apache-2.0
/*
 * start.h — are the generated systems those of the reference accelerations?
 */
#ifndef BENCH_PAPERS_START_H
#define BENCH_PAPERS_START_H

/**
 * Compares accelerations at the start, under the first segment of the drive, with the lines of a file: system, bodies, speeds,
 * rows, mass, body, linear and angular acceleration of its frame, world axes. Both ways of solving. Prints a line per
 * system; 0: all agree, 1: some do not, 2: the file cannot be read.
 */
int check_start(const char *path);

#endif
