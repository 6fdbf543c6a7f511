// SPDX-License-Identifier: Apache-2.0
/*
 * start.c — accelerations at the start against a table of references.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers.h"
#include "start.h"
#include "system.h"

static const double limit = 1e-8; // relative to the largest component

typedef struct Expected {
	char system[16], body[16];
	int bodies, speeds, rows;
	double mass;
	double a[6]; // linear, angular
} Expected;

static int parse(const char *line, Expected *e) {
	return sscanf(line, "%15[^,],%d,%d,%d,%lf,%15[^,],%lf,%lf,%lf,%lf,%lf,%lf", e->system, &e->bodies, &e->speeds,
	              &e->rows, &e->mass, e->body, &e->a[0], &e->a[1], &e->a[2], &e->a[3], &e->a[4], &e->a[5]) == 12;
}

static double norm(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Linear and angular parts apart, each relative to its own size. */
static double difference(const CalSpatial *a, const double *theirs) {
	const double d[6] = {a->linear.x - theirs[0],  a->linear.y - theirs[1],  a->linear.z - theirs[2],
	                     a->angular.x - theirs[3], a->angular.y - theirs[4], a->angular.z - theirs[5]};
	double worst = 0;
	for (int k = 0; k < 6; k += 3) {
		const double size = norm(theirs + k);
		worst = larger(worst, size > 1e-12 ? norm(d + k) / size : norm(d + k)); // what should be zero: as it is
	}
	return worst;
}

static int counts_differ(const PaperRun *run, const Expected *e) {
	CalMomentum momentum = {0};
	if (cal_momentum(run->model, &run->state, run->work, &momentum) != CAL_OK)
		return 1;
	return cal_model_body_count(run->model) != e->bodies || cal_model_u_count(run->model) != e->speeds ||
	       cal_model_row_count(run->model) != e->rows || fabs(momentum.mass - e->mass) > 1e-9 * e->mass;
}

/* By the recursion and by the dense way. */
static CalStatus compare(const Expected *e, PaperRun *run, double *worst) {
	const int node = cal_model_find_node(run->model, e->body);
	System system = {0};
	CalSpatial a;
	CalStatus status = cal_forward_dynamics(run->model, &run->state, paper_drive(run, 0), run->work, run->udot);
	if (status == CAL_OK)
		status = cal_node_acceleration(run->model, run->work, node, &a);
	if (status == CAL_OK)
		worst[0] = difference(&a, e->a);
	if (status == CAL_OK)
		status = system_open(run, &system);
	if (status == CAL_OK)
		status = system_update(&system);
	if (status == CAL_OK)
		status = system_accelerate(&system);
	if (status == CAL_OK)
		status = cal_kinematics(run->model, &run->state, system.udot, run->work);
	if (status == CAL_OK)
		status = cal_node_acceleration(run->model, run->work, node, &a);
	if (status == CAL_OK)
		worst[1] = difference(&a, e->a);
	system_close(&system);
	return status;
}

static int check_line(const Expected *e) {
	static const PaperOptions options = {.damping = 2e-3};
	static const PaperWay way = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_ELIMINATION, .projection = -1};
	PaperModel paper;
	PaperRun run = {0};
	CalError error;
	double worst[2] = {NAN, NAN};
	CalStatus status = paper_model(e->system, &options, &paper, &error);
	if (status == CAL_OK)
		status = paper_run_open(&paper, &way, &run, &error);
	int wrong = status != CAL_OK ? paper_fail(e->system, status, &error) : counts_differ(&run, e);
	if (status == CAL_OK && wrong)
		fprintf(stderr, "papers: %s: bodies, speeds, rows or mass are not those of the reference\n", e->system);
	if (status == CAL_OK) {
		status = compare(e, &run, worst);
		wrong |= status != CAL_OK || !(worst[0] <= limit) || !(worst[1] <= limit);
		printf("%-9s %-7s order N %.1e  dense %.1e%s\n", e->system, e->body, worst[0], worst[1],
		       wrong ? "  WRONG" : "");
	}
	paper_run_close(&run);
	paper_model_free(&paper);
	return wrong;
}

int check_start(const char *path) {
	FILE *in = fopen(path, "r");
	char line[512];
	int wrong = 0, count = 0;
	if (!in)
		return fprintf(stderr, "papers: %s cannot be read\n", path), 2;
	while (fgets(line, sizeof line, in)) {
		Expected expected;
		if (line[0] == '#' || strncmp(line, "system,", 7) == 0)
			continue;
		if (!parse(line, &expected)) {
			wrong = 2;
			fprintf(stderr, "papers: %s: not a line of the table: %s", path, line);
			break;
		}
		wrong |= check_line(&expected);
		count++;
	}
	fclose(in);
	printf("%d accelerations compared\n", count);
	return count == 0 ? 2 : wrong;
}
