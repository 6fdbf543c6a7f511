// SPDX-License-Identifier: Apache-2.0
/*
 * memory.c — what an integrator carries from one call to the next, for checkpoints: counts (every so many steps loops are
 * projected), and of adaptive schemes the step size, the last error and the stage that the next step begins with. The
 * rest is computed before it is used; so is the dense output, which is that of the step at hand.
 */
#include "integrate/scheme.h"

void integrator_walk(CalIntegrator *ig, Archive *a) {
	archive_i64(a, &ig->stats.steps);
	archive_i64(a, &ig->stats.rejected);
	archive_i64(a, &ig->stats.evaluations);
	archive_double(a, &ig->stats.last_step);
	archive_int(a, &ig->culprit);
	if (!ig->scheme->adaptive) {
		return;
	}
	StepControl *c = &ig->control;
	archive_double(a, &c->h_next);
	archive_double(a, &c->error_last);
	archive_bool(a, &c->reusable);
	const bool kept = c->reusable; // otherwise nobody has written them
	archive_double(a, &c->t_last);
	archive_doubles(a, kept ? c->q_last : NULL, ig->nq);
	archive_doubles(a, kept ? c->u_last : NULL, ig->nu);
	archive_doubles(a, kept ? c->x_last : NULL, ig->nx);
	archive_doubles(a, kept ? ig->u_rate[MAX_STAGES - 1] : NULL, ig->nu);
	archive_doubles(a, kept ? ig->x_rate[MAX_STAGES - 1] : NULL, ig->nx);
}

void integrator_set_motion(CalIntegrator *ig, int part, CalMotionFn motion, void *user) {
	ig->parts[part].is.motion = motion;
	ig->parts[part].is.motion_user = user;
}
