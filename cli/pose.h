// SPDX-License-Identifier: Apache-2.0
/*
 * pose.h — what `calder pose` asks for, and its search for coordinates at which nodes are where they are wanted.
 */
#ifndef CALDER_CLI_POSE_H
#define CALDER_CLI_POSE_H

#include "cli.h"

enum { POSE_NODES = 16, POSE_HELD = 64 };

typedef struct Wanted {
	const char *node;
	CalNodeTarget target;
} Wanted;

typedef struct Request {
	const char *path;
	Wanted wanted[POSE_NODES];
	int count;
	char *held_text; // cut at commas; from malloc
	const char *held[POSE_HELD];
	int held_count;
	double starts, seed;
	bool no_limits, json;
	const char *way, *output, *stream; // --path; NULL: a single pose
} Request;

typedef struct Search {
	const CalModel *model;
	CalWork *work;
	CalState start, state, best;
	CalNodeTarget targets[POSE_NODES];
	int count, nu;
	double *lower, *upper, *way; // [nu]
	uint8_t *frozen;             // [nu]
	CalReach reach;              // of the best
	bool reached;
	double moved; // of the best: how far from the start
} Search;

/** Turns about the fixed axes x, y and z, in this order. */
CalMat3 pose_matrix_of_rpy(const double angles[3]);
/** Sets `best`, from the given state and so many random ones. */
CalStatus pose_search(Search *s, const Request *r, const CalState *start, int starts);
/** Coordinates along the path of the request, as a table. Returns an exit code. */
int pose_follow(Search *s, const Request *r, CalSim *sim, int group);

#endif
