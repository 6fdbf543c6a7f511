// SPDX-License-Identifier: Apache-2.0
/*
 * integrator_checkpoint.c — what an integrator carries from one call to the next, for checkpoints: counts (every so
 * many steps loops are projected), and of adaptive schemes the step size, the last error and the stage that the next
 * step begins with. The rest is computed before it is used; so is the dense output, which is that of the step at hand.
 */
#include <float.h>

#include "integrate/scheme.h"

void stats_walk(CalIntegratorStats *stats, Serializer *a) {
	const int64_t most = INT64_MAX / 4; // sums of them and counting on stay within 64 bits
	serializer_i64_within(a, &stats->steps, 0, most);
	serializer_i64_within(a, &stats->rejected, 0, most);
	serializer_i64_within(a, &stats->evaluations, 0, most);
	serializer_finite(a, &stats->last_step, 1);
}

static void walk_kept(Serializer *a, bool kept, double *data, int count) {
	if (kept)
		serializer_finite(a, data, count);
	else
		serializer_doubles(a, NULL, count);
}

void integrator_walk(CalIntegrator *ig, Serializer *a) {
	stats_walk(&ig->stats, a);
	serializer_int_within(a, &ig->failed_dof, -1, ig->part_count - 1);
	if (!ig->scheme->adaptive) {
		return;
	}
	StepControl *c = &ig->control;
	serializer_double_within(a, &c->h_next, 0, DBL_MAX);
	serializer_double_within(a, &c->error_last, DBL_MIN, DBL_MAX);
	const bool kept = serializer_bool(a, &c->reusable); // otherwise nobody has written them
	walk_kept(a, kept, &c->t_last, 1);
	walk_kept(a, kept, c->q_last, ig->nq);
	walk_kept(a, kept, c->u_last, ig->nu);
	walk_kept(a, kept, c->x_last, ig->nx);
	walk_kept(a, kept, ig->u_rate[MAX_STAGES - 1], ig->nu);
	walk_kept(a, kept, ig->x_rate[MAX_STAGES - 1], ig->nx);
}

void integrator_set_motion(CalIntegrator *ig, int part, CalMotionFn motion, void *user) {
	ig->parts[part].is.motion = motion;
	ig->parts[part].is.motion_user = user;
}

void integrator_set_drive(CalIntegrator *ig, int part, CalPrescribedFn drive, void *user) {
	ig->parts[part].is.drive = drive;
	ig->parts[part].is.drive_user = user;
}

void integrator_note_motions(CalIntegrator *ig) {
	ig->has_motions = false;
	for (int i = 0; i < ig->part_count; i++) {
		ig->has_motions |= ig->parts[i].is.motion || ig->parts[i].is.drive;
	}
}
