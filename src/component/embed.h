// SPDX-License-Identifier: Apache-2.0
/*
 * embed.h — loops on their way to become mechanisms: the tree of a description, and what is refused (embed_check.c).
 */
#ifndef CALDER_COMPONENT_EMBED_H
#define CALDER_COMPONENT_EMBED_H

#include <calder/closed.h>
#include "model/description/desc.h"

typedef struct Embedding {
	CalDesc *desc;
	int *joint; // [bodies + 1] by body id: index + 1 of the joint that carries it
	int *depth; // [bodies + 1] joints from the ground
	int first;  // mechanisms from this number on are new
} Embedding;

/* While the reference configuration of a mechanism is found. */
typedef struct MechanismTrial {
	CalWork *work;
	CalProjection *projection;
	double *q, *u;   // [nq], [nu]
	int *known;      // [bodies] place in the list of guesses, from 1, of joints whose coordinates are known; 0: others
	uint8_t *frozen; // [nu] held while loops are closed; then: independent
} MechanismTrial;

uint32_t embed_parent(const Embedding *e, uint32_t body); // 0: the ground

CalStatus embed_refuse_loop(const DescLoop *loop, CalError *error, const char *why);
CalStatus embed_refuse_joint(const DescJoint *joint, CalError *error, const char *why);
/* Everything that is marked can be embedded. */
CalStatus embed_check(const Embedding *e, CalError *error);

#endif
