// SPDX-License-Identifier: Apache-2.0
/*
 * modes.h — the parts of `calder modes`: what is known about one body, its table, and the picture of its shapes.
 */
#ifndef CALDER_CLI_MODES_H
#define CALDER_CLI_MODES_H

#include "cli.h"

typedef struct ModesBody {
	const char *path;      // of the input
	const char *name;      // of the body, "" if it has none
	const CalModal *modal; // NULL: from a model file
	bool has_fe;
	CalFeInfo fe; // if has_fe
	double bound; // frequency bound [rad/s], 0: none
	int unsprung; // modes without stiffness are meant
	CalFlexReport report;
	CalFlexMode *modes; // [report.modes]
} ModesBody;

/** The checks that decide about the exit code: true if all are passed. why[size] says what is not, or "". */
bool modes_verdict(const ModesBody *body, char *why, size_t size);
void modes_print(const ModesBody *body);
/** One JSON object. */
void modes_json(const ModesBody *body);

/**
 * Lines between neighboring nodes: numbers of nodes, each stroke ended by -1, in *strokes from malloc. Returns their
 * count; 0 and NULL if there are none or memory is short.
 */
int modes_wire(const CalVec3 *places, int count, int **strokes);

/** Draws the shapes of the modal coordinates, at most 24; returns an exit code. */
int modes_plot(const CalModal *modal, const char *title, const char *path);

/** `calder modes --system`: modes of the groups of a model file at a time of its run. */
typedef struct SystemModesOptions {
	const char *path, *group; // group NULL: all
	double at;                // [s]
	int most;                 // modes that are shown; 0: all
	double max_frequency;     // of them [rad/s]; 0: any
	bool json, structural, masses;
	const char *speed;    // NULL: none; a degree of freedom that turns at `from` to `to` [rad/s], in `points` steps
	double from, to;      //
	int points;           //
	const char *campbell; // NULL: no picture
	const char *animate;  // NULL: no file of oscillations
	double scale;         // of their amplitudes
} SystemModesOptions;
int modes_system(const SystemModesOptions *options);
/** `--speed`: the modes of a group at several speeds of a degree of freedom; returns an exit code. */
int modes_campbell(const SystemModesOptions *options, CalSim *sim, const char *title);

/** `--animate`: oscillations of the groups of a model, one after the other. */
enum { ANIMATED_MODES = 30 }; // most

typedef struct AnimatedMode {
	int group;
	double *shape; // [2 nu] real parts, imaginary parts; from malloc
	char name[96], text[96];
} AnimatedMode;

typedef struct Animation {
	AnimatedMode modes[ANIMATED_MODES];
	int count, left_out;
} Animation;

/** Adds the oscillations among the modes of a group. */
CalStatus animation_add(Animation *animation, const CalSim *sim, int group, const CalSystemModes *modes);
void animation_free(Animation *animation);

/** The model that a result file holds. */
typedef struct AnimationModel {
	const char *title, *name, *text;
} AnimationModel;

/** Writes them as a result file (HDF5) about the present state of the simulation; returns an exit code. */
int animation_write(const Animation *animation, CalSim *sim, const char *path, double scale, const AnimationModel *of);

#endif
