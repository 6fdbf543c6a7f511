// SPDX-License-Identifier: Apache-2.0
/*
 * trajectory.h — motions that joints are made to follow: columns of a table that `calder run -o` or another program wrote, or
 * formulas of the command line.
 */
#ifndef CALDER_CLI_TRAJECTORY_H
#define CALDER_CLI_TRAJECTORY_H

#include "cli.h"

/** One coordinate of a joint, and its function of time. */
typedef struct Followed {
	char name[160]; // as `calder info` prints it: "elbow", "base.x"
	CalJointId joint;
	int dof;             // which of the joint's
	bool turns;          // rad, otherwise m
	double *value;       // [count] of the trajectory; from malloc
	const char *formula; // NULL: the values
} Followed;

typedef struct Trajectory {
	Followed *items; // [count]
	int count;
	double *time; // [points], ascending; from malloc; NULL: formulas alone
	int points;
} Trajectory;

/**
 * Takes the columns of coordinates from a table in CSV or HDF5 (stream NULL: the first); what else it holds is passed over
 * with a note. chosen[chosen_count]: these coordinates alone. Returns an exit code.
 */
int trajectory_read(Trajectory *t, const CalDesc *desc, const char *path, const char *stream, const char *const *chosen,
                    int chosen_count);
/** Adds "elbow=30 deg*sin(t)". Returns an exit code. */
int trajectory_add_formula(Trajectory *t, const CalDesc *desc, const char *command, const char *text);
/** Adds a joint_drive to the setup for each coordinate. Returns an exit code. */
int trajectory_drive(const Trajectory *t, CalSetup *setup, const char *path);
void trajectory_free(Trajectory *t);

#endif
