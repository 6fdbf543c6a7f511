// SPDX-License-Identifier: Apache-2.0
/*
 * soak_loops.c — do loops stay closed? N four-bar windows (IFToMM A02) swing through singular positions for a long time.
 *
 *   soak_loops [DURATION [WINDOWS...]]     1000 s, 2 3 10
 *
 * Prints a table in Markdown: the largest residual of a constraint after any step, and the largest change of energy, which has to
 * fall with the order of the method as the step is halved. Exit status 1: a limit was not met.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "linkages.h"

static const double residual_limit = 1e-12; // [m]

/* Largest values after any step. */
typedef struct Drift {
	double residual, energy, scale; // [m], [J], largest kinetic energy [J]
	CalSimStats stats;
} Drift;

/* The larger of two; once one is not a number, it stays so. */
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

static CalStatus observe(CalSim *sim, CalWork *work, double *g, Drift *drift) {
	const CalModel *model = cal_sim_model(sim, 0);
	CalSimMonitor monitor;
	CalStatus status = cal_sim_monitor(sim, 0, &monitor);
	if (status == CAL_OK)
		status = cal_loop_residual(model, cal_sim_state(sim, 0), work, g, NULL);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < cal_model_row_count(model); i++)
		drift->residual = larger(drift->residual, fabs(g[i]));
	drift->energy = larger(drift->energy, fabs(monitor.energy_change));
	drift->scale = monitor.energy_scale;
	return CAL_OK;
}

static CalStatus advance(CalSim *sim, double step, double duration, CalWork *work, double *g, Drift *drift,
                         CalError *error) {
	CalStatus status = CAL_OK;
	const long steps = lround(duration / step);
	for (long i = 1; status == CAL_OK && i <= steps; i++) {
		status = cal_sim_advance(sim, step * (double)i, error);
		if (status == CAL_OK)
			status = observe(sim, work, g, drift);
	}
	return status;
}

/* RK4 from upright, tops at 1 m/s. */
static CalStatus swing(int windows, double step, double duration, Drift *drift) {
	CalDesc *desc = linkage_windows(windows);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = step}};
	CalSim *sim = NULL;
	CalWork *work = NULL;
	CalError error = {0};
	double *g = calloc(5 * (size_t)windows, sizeof *g);
	CalStatus status = desc && g ? cal_sim_create(desc, &options, &sim, &error) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_work_create(cal_sim_model(sim, 0), &work);
	if (status == CAL_OK) {
		linkage_set_angle(cal_sim_model(sim, 0), acos(0), -1, cal_sim_state(sim, 0));
		status = cal_sim_restart(sim, &error);
	}
	*drift = (Drift){0};
	if (status == CAL_OK)
		status = advance(sim, step, duration, work, g, drift, &error);
	if (status == CAL_OK)
		drift->stats = cal_sim_stats(sim);
	else
		fprintf(stderr, "soak_loops: %s\n", error.text[0] ? error.text : cal_status_text(status));
	cal_work_destroy(work);
	cal_sim_destroy(sim);
	free(g);
	cal_desc_destroy(desc);
	return status;
}

/* Two steps, one half of the other. Returns how many limits were not met. */
static int soak(int windows, double duration) {
	const double step[2] = {10e-3, 5e-3};
	Drift drift[2];
	int missed = 0;
	for (int i = 0; i < 2; i++) {
		char order[16] = "";
		if (swing(windows, step[i], duration, &drift[i]) != CAL_OK)
			return 1;
		if (i == 1) {
			const double falls = log2(drift[0].energy / drift[1].energy);
			missed += !(falls > cal_method_order(CAL_METHOD_RK4) - 0.3);
			snprintf(order, sizeof order, " %.1f", falls);
		}
		missed += !(drift[i].residual <= residual_limit);
		printf("| %d | %g ms | %g s | %lld | %.1e | %.1e |%s | %.1f |\n", windows, 1e3 * step[i], duration,
		       (long long)drift[i].stats.steps, drift[i].residual, drift[i].energy / drift[i].scale, order,
		       drift[i].stats.cpu_s);
		fflush(stdout);
	}
	return missed;
}

int main(int argc, char **argv) {
	static const int all[] = {2, 3, 10};
	const double duration = argc > 1 ? strtod(argv[1], NULL) : 1000;
	const int count = argc > 2 ? argc - 2 : (int)(sizeof all / sizeof *all);
	int missed = 0;
	if (!(duration >= 0.01) || !isfinite(duration)) {
		fprintf(stderr, "usage: soak_loops [DURATION_S [WINDOWS...]]\n");
		return 2;
	}
	printf(
		"| windows | step | simulated | steps | largest residual [m] | energy drift, of the largest kinetic | order | CPU [s] |\n"
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (int i = 0; i < count; i++) {
		const long windows = argc > 2 ? strtol(argv[i + 2], NULL, 10) : all[i];
		if (windows < 1 || windows > 1000) {
			fprintf(stderr, "soak_loops: '%s' is not a number of windows from 1 to 1000\n", argv[i + 2]);
			return 2;
		}
		missed += soak((int)windows, duration);
	}
	if (missed)
		fprintf(stderr, "soak_loops: %d limits not met (residual %g m, order 4)\n", missed, residual_limit);
	return missed > 0;
}
