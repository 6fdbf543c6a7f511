// SPDX-License-Identifier: Apache-2.0
/*
 * integrator_checkpoint.c — what an integrator carries from one call to the next, for checkpoints: counts (every so
 * many steps loops are projected), and what the scheme adds (Scheme.walk). The rest is computed before it is used; so is
 * the dense output, which is that of the step at hand.
 */
#include "integrate/scheme.h"

void stats_walk(CalIntegratorStats *stats, Serializer *a) {
	const int64_t most = INT64_MAX / 4; // sums of them and counting on stay within 64 bits
	serializer_i64_within(a, &stats->steps, 0, most);
	serializer_i64_within(a, &stats->rejected, 0, most);
	serializer_i64_within(a, &stats->evaluations, 0, most);
	serializer_finite(a, &stats->last_step, 1);
}

void integrator_walk(CalIntegrator *ig, Serializer *a) {
	stats_walk(&ig->stats, a);
	serializer_int_within(a, &ig->failed_dof, -1, ig->part_count - 1);
	if (ig->scheme->walk) {
		ig->scheme->walk(ig, a);
	}
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
