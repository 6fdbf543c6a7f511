// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_plan.h — from a compiled model to the tables of the kernels, or why a model is not for them.
 */
#ifndef CALDER_GPU_GPU_PLAN_H
#define CALDER_GPU_GPU_PLAN_H

#include <stdbool.h>

#include <calder/model.h>

#include "gpu/gpu_model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GpuPlan {
	GpuModel model;
	GpuLink *links;       // [link_count]
	GpuDof *dofs;         // [nu]
	GpuSegment *segments; // [segment_count]
	bool plain;           // all links are rotations
	void *memory;         // of all of them
} GpuPlan;

/** Tables for the exact or the fast mode. CAL_ERR_UNSUPPORTED: error (may be NULL) names what the kernels do not have. */
CalStatus gpu_plan_create(const CalModel *model, bool exact, const CalAllocator *allocator, GpuPlan *plan,
                          CalError *error);
void gpu_plan_destroy(GpuPlan *plan, const CalAllocator *allocator);
/** Numbers of far memory that a thread needs for the sweeps, with the gains of near_dofs dofs on the chip. */
int64_t gpu_plan_far(const GpuModel *model, int near_dofs);
/** Its arrays in memory of the host. */
static inline GpuTables gpu_plan_tables(const GpuPlan *plan) {
	const GpuTables tables = {plan->links, plan->dofs, plan->segments};
	return tables;
}

#ifdef __cplusplus
}
#endif

#endif
