// SPDX-License-Identifier: Apache-2.0
/*
 * realtime.c — pacing, and what became of it.
 *
 * The deadline of a step is the wall time at which its end is due. A step that is ready later is a miss; nothing is skipped,
 * and the run catches up if the following steps are fast enough. Times of steps go to a histogram with bins of powers of two.
 * A run that may be ahead starts that much before its clock does.
 */
#define _GNU_SOURCE // mlockall, sched_setscheduler

#include <math.h>
#include <sched.h>
#include <sys/mman.h>

#include "clock.h"
#include "realtime.h"

void realtime_start(RealTime *r, CalSim *sim) {
	const struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_FIFO) + 10};
	r->locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	r->prior = sched_setscheduler(0, SCHED_FIFO, &param) == 0 && cal_sim_follow_priority(sim) == CAL_OK;
	r->t0 = cal_sim_time(sim);
	r->wall = clock_now() + r->ahead;
}

static double due_time(const RealTime *r, const CalSim *sim) { return r->wall + (cal_sim_time(sim) - r->t0) / r->rate; }

static int bin_of(double seconds) {
	int bin = 0;
	for (double limit = 1e-6; seconds >= limit && bin < REALTIME_BINS - 1; limit *= 2)
		bin++;
	return bin;
}

CalStatus realtime_step(RealTime *r, CalSim *sim, double t_limit, CalError *error) {
	const double begin = clock_now();
	const CalStatus status = cal_sim_step(sim, t_limit, error);
	if (status != CAL_OK)
		return status;
	const double end = clock_now(), limit = due_time(r, sim);
	r->steps++;
	r->bins[bin_of(end - begin)]++;
	r->longest = fmax(r->longest, end - begin);
	if (end > limit) {
		r->missed++;
		r->late = fmax(r->late, end - limit);
	} else if (end < limit - r->ahead) {
		clock_sleep_until(limit - r->ahead);
	}
	return CAL_OK;
}

void realtime_end(const RealTime *r, const CalSim *sim) { clock_sleep_until(due_time(r, sim)); }

static int64_t most_of(const RealTime *r) {
	int64_t most = 1;
	for (int i = 0; i < REALTIME_BINS; i++)
		most = r->bins[i] > most ? r->bins[i] : most;
	return most;
}

void realtime_print(const RealTime *r, FILE *out) {
	static const char bar[] = "########################################";
	fprintf(out, "  paced       %lld steps at %g x real time, %lld late (worst by %.3g ms), longest step %.3g ms\n",
	        (long long)r->steps, r->rate, (long long)r->missed, 1e3 * r->late, 1e3 * r->longest);
	fprintf(out, "              memory %s, priority %s", r->locked ? "locked" : "not locked",
	        r->prior ? "real-time" : "as usual");
	if (r->ahead > 0)
		fprintf(out, ", up to %.3g ms ahead", 1e3 * r->ahead);
	fprintf(out, "\n");
	const int64_t most = most_of(r);
	for (int i = 0; i < REALTIME_BINS; i++) {
		if (r->bins[i])
			fprintf(out, "  %10.4g us %9lld %.*s\n", i < REALTIME_BINS - 1 ? ldexp(1, i) : INFINITY,
			        (long long)r->bins[i], 1 + (int)(39 * r->bins[i] / most), bar);
	}
}

void realtime_print_json(const RealTime *r, FILE *out) {
	fprintf(
		out,
		",\n  \"paced\": {\"rate\": %.17g, \"ahead_s\": %.17g, \"steps\": %lld, \"missed\": %lld, \"worst_late_s\": %.17g, ",
		r->rate, r->ahead, (long long)r->steps, (long long)r->missed, r->late);
	fprintf(out, "\"longest_step_s\": %.17g, \"memory_locked\": %s, \"priority\": %s, \"below_us\": {", r->longest,
	        r->locked ? "true" : "false", r->prior ? "true" : "false");
	const char *comma = "";
	for (int i = 0; i < REALTIME_BINS; i++) {
		if (!r->bins[i])
			continue;
		fprintf(out, "%s\"%.0f\": %lld", comma, ldexp(1, i), (long long)r->bins[i]);
		comma = ", ";
	}
	fprintf(out, "}}");
}
