// SPDX-License-Identifier: Apache-2.0
/*
 * loop_round_off.c — what round-off of forces does to the joints of loops [THEORY 5.5].
 *
 * Forces that pass through a link are rounded by 1e-16, and joint k answers by (M^-1)_kk of that (loop_compliance.c).
 */
#include "dynamics/loop/loop_round_off.h"
#include "dynamics/loop/loop_sweep.h"

#if CAL_LANES == 1

static const double ROUND_OFF = 1e-16; // of a force

static double force_of(const Loop *loop, const double *lambda) {
	double most = 0;
	for (int r = 0; lambda && r < loop->rows; ++r)
		most = fmax(most, fabs(lambda[loop->row + r]) * loop->unit[r]);
	return most;
}

LoopRoundOff loop_round_off_of(const CalModel *model, const double *lambda, CalWork *work) {
	LoopMobility *clusters = work->loops.mobility;
	LoopRoundOff all = {INFINITY, 1, 1, 0};
	for (int l = 0; l < model->loop_count; ++l)
		clusters[l] = (LoopMobility){0, INFINITY, 0};
	loop_kernels(model->isa)->compliances(model, loop_longest_reach(model), work, clusters);
	for (int l = 0; l < model->loop_count; ++l) {
		const LoopMobility *m = &clusters[model->loop_schedule ? model->loop_schedule->ends[l].cluster : 0];
		if (!(m->most > 0))
			continue;
		all.least = fmin(all.least, m->least);
		all.spread = fmax(all.spread, m->most / m->least);
		all.moved = fmax(all.moved, m->moved / m->least);
		all.acceleration = fmax(all.acceleration, ROUND_OFF * m->moved * force_of(&model->loops[l], lambda));
	}
	all.least = isfinite(all.least) ? all.least : 0;
	return all;
}

#endif
