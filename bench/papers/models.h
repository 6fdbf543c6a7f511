// SPDX-License-Identifier: Apache-2.0
/*
 * models.h — the systems of the order-N papers of NASA JSC: three legs, a top plate, two manipulators with a test object
 * (the 16 cases of Ghosh and Quiocho 2013, and 49 bodies), and 128 bodies as a chain and as a star (Huynh et al. 2016).
 *
 * The papers give topology, counts and timings. Masses, lengths, stiffnesses and loads are choices; docs/papers/cases.md
 * lists them.
 */
#ifndef BENCH_PAPERS_MODELS_H
#define BENCH_PAPERS_MODELS_H

#include <calder/calder.h>

enum { PAPER_NAME = 32, PAPER_STARTS = 16, PAPER_TORQUES = 8, PAPER_LOADS = 2 };

/** What the papers leave open beside the data of the bodies. */
typedef struct PaperOptions {
	double damping;       // of the booms: D = damping K [s]
	double bound;         // on the frequencies of the booms [rad/s]; 0: none
	double stabilisation; // of loops, critically damped [rad/s]; 0: none
} PaperOptions;

/** Start angle of a joint. */
typedef struct PaperStart {
	char joint[PAPER_NAME];
	double q;
} PaperStart;

/** A wrench in world axes on a node. */
typedef struct PaperLoad {
	const char *node;
	CalSpatial f;
} PaperLoad;

/** A description, how it starts and what drives it. Joints have the names of the bodies that they carry. */
typedef struct PaperModel {
	char name[PAPER_NAME]; // "1" ... "16", "49", "128chain", "128star"
	CalDesc *desc;
	double step; // that of the paper [s]
	double hold; // the drive changes its sign after each such time [s]; 0: never
	int start_count;
	PaperStart start[PAPER_STARTS]; // all others are at zero
	double object[7];               // place of an object that floats free; all zero: there is none
	int torque_count;
	char torque_joint[PAPER_TORQUES][PAPER_NAME];
	double torque; // on each of them [N m]
	int load_count;
	PaperLoad load[PAPER_LOADS];
} PaperModel;

/** Builds the system of that name; to be released by paper_model_free(), also after a failure. */
CalStatus paper_model(const char *name, const PaperOptions *options, PaperModel *model, CalError *error);
void paper_model_free(PaperModel *model);

/** Multiplies all that drives it. */
void paper_scale_drive(PaperModel *model, double factor);

/** The start of a model compiled from it: at rest, nothing deflected. */
void paper_set_start(const PaperModel *paper, const CalModel *model, CalState *state);

#endif
