// SPDX-License-Identifier: Apache-2.0
/*
 * calder/mechanism.h — constraint embedding: the bodies of local loops as one link with the independent coordinates.
 *
 * An embedded loop is no constraint any more. The bodies between its two sides and the body on which it closes, the base,
 * become one aggregated link: its degrees of freedom are independent coordinates of their joints, all else follows from
 * them. Mass matrix, inverse and forward dynamics, factors, compliances and linearization then treat the machine as a
 * tree; there are no multipliers, no drift and nothing to project. Bodies and nodes keep names, ids and motion; loads,
 * devices, other loops and further bodies act on them as before. A joint inside is either independent, then its
 * coordinates are those of the model, or dependent, then it has none there; calls below give them.
 *
 * Dependent coordinates are solved for whenever they are needed, from the configuration in which the description was
 * embedded, in steps towards the one asked for: they are a function of the independent ones alone, the same for any
 * history and any number of threads. Where the independent coordinates do not determine the others (a dead center), or the
 * loops cannot be closed, an evaluation fails with CAL_NOT_FINITE; cal_mechanism_fault() says why. docs/loops.md
 */
#ifndef CALDER_MECHANISM_H
#define CALDER_MECHANISM_H

#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Coordinates of a joint from which loops are closed. */
typedef struct CalJointGuess {
	CalJointId joint;
	const double *q; // [coordinates of the joint]
	int known;       // nonzero: not a mere guess; the joint is independent rather than others, in the order of the list
} CalJointGuess;

typedef struct CalEmbedDef {
	const CalLoopId *loops; // [loop_count] those with common bodies become one mechanism
	int loop_count;         //
	const CalJointId *
		independent; // [independent_count] joints whose coordinates stay; none in a mechanism: those known, the rest by rank
	int independent_count;        //
	const CalJointGuess *guesses; // [guess_count] the others start from zero; independent ones are kept if listed
	int guess_count;              //
} CalEmbedDef;

/**
 * Embeds loops of a description, once its bodies, joints and loops are complete; compile it afterwards. Refused by name:
 * loops with drives, applied wrenches or equations of speeds; flexible bodies, user-defined joints and links, springs, dampers and
 * rotors inside; moving nodes of a flexible base; loops that cannot be closed from the guesses; mechanisms that cannot
 * move; independent joints that are too many, too few, that do not determine the others, or have quaternions; a joint of
 * which only some degrees of freedom would be independent. The description is then unchanged. Such a model is evaluated
 * in one branch, its group's topology cannot change in a run, and reactions of joints inside are not known.
 */
CAL_API CalStatus cal_desc_embed(CalDesc *desc, const CalEmbedDef *def, CalError *error);
/** Mechanism, counted from 1, that a loop or joint of the description was embedded in; 0: none. */
CAL_API int cal_desc_loop_mechanism(const CalDesc *desc, CalLoopId loop);
CAL_API int cal_desc_joint_mechanism(const CalDesc *desc, CalJointId joint);
/** Nonzero: it is an independent joint of a mechanism. */
CAL_API int cal_desc_joint_independent(const CalDesc *desc, CalJointId joint);
/** q[coordinates of the joint] where the loops of its mechanism were closed; NULL: it is part of none. */
CAL_API const double *cal_desc_joint_reference(const CalDesc *desc, CalJointId joint);

/** An embedded mechanism of a model. */
typedef struct CalMechanismInfo {
	const char *name;      // of its first loop
	int base;              // body that carries it, -1: the ground
	int dofs;              // independent coordinates: q .. q + dofs - 1, u .. u + dofs - 1
	int q, u;              //
	int dependent;         // degrees of freedom that follow from them
	int loops, rows;       // of which it has, and their equations
	const CalModel *model; // of its bodies alone with their loops, the base being the ground; with inertias of one
} CalMechanismInfo;

/** Mechanisms of a model, counted from 0, and one of them. */
CAL_API int cal_model_mechanism_count(const CalModel *model);
CAL_API CalStatus cal_model_mechanism(const CalModel *model, int mechanism, CalMechanismInfo *info);

/**
 * Coordinates, speeds and, where udot[nu] is given, accelerations of all joints of a mechanism at a state, as its own
 * model has them; any of q, u, accelerations may be NULL. They point into work and are valid until its next use.
 */
CAL_API CalStatus cal_mechanism_motion(const CalModel *model, int mechanism, const CalState *state, const double *udot,
                                       CalWork *work, const double **q, const double **u, const double **accelerations);
/** Why a mechanism of the model has no values at a state, in error; CAL_OK: all have. */
CAL_API CalStatus cal_mechanism_fault(const CalModel *model, const CalState *state, CalWork *work, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
