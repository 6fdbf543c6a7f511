// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_plan.c — the tables of a model for the kernels of a device: which motions are kept, where sums of branches go, segments.
 */
#include "gpu/gpu_plan.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/model.h"

enum { UNDO_MOST = 32 }; // rotations that the fast mode undoes before it reads a kept motion again: round-off adds up

/* ---- what the kernels do not have ------------------------------------------------------------------ */

static CalStatus refuse_link(const CalModel *model, const Link *link, CalError *error) {
	const Body *body = &model->bodies[link->body];
	return error_set(
		error, CAL_ERR_UNSUPPORTED,
		"cal_batch_to_device: body \"%s\": user-defined joint \"%s\" cannot run on a device; use a built-in joint "
		"or keep the batch on the processor",
		body->name, body->joint);
}

static CalStatus refuse(CalError *error, int count, const char *what, const char *remedy) {
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "cal_batch_to_device: the model has %d %s, which devices do not support; %s", count, what, remedy);
}

static int prescribed_count(const CalModel *model) {
	int count = 0;
	for (int i = 0; i < model->nu; ++i)
		count += model->prescribed[i] != 0;
	return count;
}

static CalStatus check_supported(const CalModel *model, bool exact, CalError *error) {
	static const char keep[] = "keep the batch on the processor";
	if (model->flex_count > 0)
		return refuse(error, model->flex_count, "flexible bodies", keep);
	if (model->loop_count > 0)
		return refuse(error, model->loop_count, "loops", keep);
	if (model->mechanism_count > 0)
		return refuse(error, model->mechanism_count, "embedded mechanisms", keep);
	if (model->any_prescribed)
		return refuse(error, prescribed_count(model), "prescribed degrees of freedom", keep);
	if (model->ball_spring_count > 0)
		return refuse(error, model->ball_spring_count, "springs of spherical joints",
		              "apply them as generalized forces");
	for (int i = 0; i < model->link_count; ++i) {
		if (model->links[i].motion == PRIMITIVE_USER)
			return refuse_link(model, &model->links[i], error);
	}
	if (exact && model->solver == CAL_SOLVER_DENSE)
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"cal_batch_to_device: the model is compiled for the dense solver, whose bits a device does not give; "
			"compile it with CAL_SOLVER_RECURSIVE or use the fast mode");
	return CAL_OK;
}

/* ---- links ----------------------------------------------------------------------------------------- */

/* Balls and free roots without rotors are eliminated at once (is_free_ball()). */
static int is_at_once(const CalModel *model, const Link *link) {
	if (link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_FREE)
		return 0;
	for (int k = 0; k < link->nu; ++k) {
		if (model->rotor[link->u + k] != 0)
			return 0;
	}
	return 1;
}

static void fill_link(const CalModel *model, int i, GpuLink *to) {
	const Link *link = &model->links[i];
	*to = (GpuLink){.motion = link->motion,
	                .u = link->u,
	                .q = link->q,
	                .nu = link->nu,
	                .pure_rx = link->pure_rx,
	                .zero_offset = link->zero_offset,
	                .massless = link->massless,
	                .at_once = is_at_once(model, link),
	                .keep = -1,
	                .accumulator = link->accumulator,
	                .give_to = -1,
	                .offset = link->motion == PRIMITIVE_ROTATION ? model->trig_offset[link->trig] : 0,
	                .pitch = link->data.pitch,
	                .E = link->E,
	                .p = link->p,
	                .inertia = link->inertia};
}

static void fill_dofs(const CalModel *model, GpuDof *dofs) {
	for (int i = 0; i < model->nu; ++i)
		dofs[i] = (GpuDof){.rotor = model->rotor[i], .damping = model->any_damping ? model->damping[i] : 0, .q = -1};
	for (int i = 0; i < model->spring_count; ++i) {
		const int j = model->spring_dof[i];
		const Dof *dof = &model->dofs[j];
		dofs[j].q = dof->q;
		dofs[j].stiffness = dof->stiffness;
		dofs[j].rest = dof->rest;
	}
}

/* ---- what is kept ------------------------------------------------------------------------------------ */

static int keep_motion(GpuPlan *plan, int link) {
	if (plan->links[link].keep < 0)
		plan->links[link].keep = plan->model.slot_count++;
	return plan->links[link].keep;
}

/* Segments of the exact inward sweep: a link that begins one reads its parent's motion. */
static void divide_segments(const CalModel *model, GpuPlan *plan) {
	for (int i = 0; plan->segments && i < model->link_count; ++i) {
		const int parent = model->links[i].parent, count = plan->model.segment_count;
		GpuSegment *last = count > 0 ? &plan->segments[count - 1] : NULL;
		if (last && parent == i - 1 && last->count < GPU_SEGMENT) {
			last->count++;
			continue;
		}
		plan->segments[plan->model.segment_count++] = (GpuSegment){i, 1};
		plan->links[i].reload = parent < 0 ? GPU_PARENT_GROUND : keep_motion(plan, parent);
	}
}

/* The fast inward sweep undoes rotations; it reads motions of parents of other joints and of the ends of branches. */
static void choose_undone(const CalModel *model, GpuPlan *plan) {
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		const bool follows = link->parent == i - 1;
		if (!follows && i > 0)
			keep_motion(plan, i - 1);
		if (link->parent < 0)
			plan->links[i].reload = GPU_PARENT_GROUND;
		else if (follows && link->motion == PRIMITIVE_ROTATION && i % UNDO_MOST != 0)
			plan->links[i].reload = GPU_PARENT_BEFORE;
		else
			plan->links[i].reload = keep_motion(plan, link->parent);
	}
}

/* Where branches begin: motion and acceleration of the parent are kept, and its accumulator takes what they bring. */
static void connect_branches(const CalModel *model, GpuPlan *plan) {
	for (int i = model->link_count - 1; i >= 0; --i) {
		const int parent = model->links[i].parent;
		GpuLink *link = &plan->links[i];
		link->jump = parent < 0 ? GPU_PARENT_GROUND : GPU_PARENT_BEFORE;
		if (parent < 0 || parent == i - 1)
			continue;
		link->jump = keep_motion(plan, parent);
		link->give_to = plan->links[parent].accumulator;
		link->gives_first = !plan->links[parent].branches;
		plan->links[parent].branches = 1;
	}
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void layout_plan(const CalModel *model, GpuPlan *plan, Cursor *cursor) {
	CURSOR_ARRAY(cursor, plan->links, model->link_count);
	CURSOR_ARRAY(cursor, plan->dofs, model->nu);
	CURSOR_ARRAY(cursor, plan->segments, model->link_count);
}

CalStatus gpu_plan_create(const CalModel *model, bool exact, const CalAllocator *allocator, GpuPlan *plan,
                          CalError *error) {
	const CalStatus status = check_supported(model, exact, error);
	Cursor cursor = {0};
	*plan = (GpuPlan){.plain = model->link_count > 0};
	if (status != CAL_OK)
		return status;
	layout_plan(model, plan, &cursor);
	plan->memory = cursor_alloc_zeroed(&cursor, allocator);
	if (!plan->memory)
		return error_set(error, CAL_ERR_MEMORY, "cal_batch_to_device: out of memory");
	layout_plan(model, plan, &cursor);
	plan->model = (GpuModel){.link_count = model->link_count,
	                         .nq = model->nq,
	                         .nu = model->nu,
	                         .accumulator_count = model->accumulator_count,
	                         .any_damping = model->any_damping,
	                         .gravity = model->gravity};
	for (int i = 0; i < model->link_count; ++i) {
		fill_link(model, i, &plan->links[i]);
		plan->plain = plan->plain && model->links[i].motion == PRIMITIVE_ROTATION;
		plan->model.any_quaternion |= model->links[i].nq > model->links[i].nu;
	}
	fill_dofs(model, plan->dofs);
	if (exact)
		divide_segments(model, plan);
	else
		choose_undone(model, plan);
	connect_branches(model, plan);
	return CAL_OK;
}

void gpu_plan_destroy(GpuPlan *plan, const CalAllocator *allocator) {
	memory_free(allocator, plan->memory);
	*plan = (GpuPlan){0};
}

int64_t gpu_plan_far(const GpuModel *model, int near_dofs) {
	const int far_dofs = model->nu > near_dofs ? model->nu - near_dofs : 0;
	return (int64_t)model->slot_count * GPU_SLOT + (int64_t)model->accumulator_count * GPU_BODY +
	       (int64_t)far_dofs * GPU_GAIN;
}
