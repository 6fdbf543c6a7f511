// SPDX-License-Identifier: Apache-2.0
/*
 * linearize.h — the parts of `calder linearize`: what it prints, and its plots.
 */
#ifndef CALDER_CLI_LINEARIZE_H
#define CALDER_CLI_LINEARIZE_H

#include "cli.h"

/** A linearized model and its poles. */
typedef struct LinearModel {
	const char *path;  // of the model
	const char *title; // for plots
	CalStateSpace space;
	CalPole *poles; // [state_count]
	bool transfer;  // zeros and gains are printed
} LinearModel;

/** States, inputs, outputs and poles as text. */
CalStatus linearize_print(const LinearModel *model);
/** Everything as one JSON object. */
CalStatus linearize_json(const LinearModel *model);

/** Linearizations at several times of a run. */
typedef struct LinearSeries {
	const char *path;                    // of the model
	const CalStateSpaceOptions *options; //
	double first, every, until;          // times [s]
	const char *const *files;            // [file_count]
	int file_count;
	bool json;
} LinearSeries;
/** Runs the model from time to time, prints a line for each and writes the files; returns an exit code. */
int linearize_series(const LinearSeries *series, CalSim *sim);

/** Frequencies or times of a plot; 0: chosen by the poles. */
typedef struct PlotRange {
	double from, to; // frequencies [rad/s]
	double duration; // [s]
} PlotRange;

/** Frequency response of every output to every input; returns an exit code. */
int linearize_bode(const LinearModel *model, const PlotRange *range, const char *path);
/** Response of every output to a unit step of every input. */
int linearize_step(const LinearModel *model, const PlotRange *range, const char *path);

#endif
