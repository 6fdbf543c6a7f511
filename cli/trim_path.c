// SPDX-License-Identifier: Apache-2.0
/*
 * trim_path.c — `calder trim --along`: equilibria over a parameter, as text, JSON and a table.
 */
#include "trim.h"

#include <math.h>
#include <string.h>

#include "output.h"

typedef struct PathPrint {
	const TrimPathRequest *r;
	FILE *table;   // NULL: none
	bool is_alone; // it is stdout, which then has nothing else
	int count;
	double last, turn; // the last value, and the one before the last limit point
	bool turned;
} PathPrint;

typedef void (*CoordinateFn)(PathPrint *p, const char *name, double value);

static void each_coordinate(PathPrint *p, CalSim *sim, CoordinateFn with) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		for (int i = 0; i < cal_model_q_count(model); i++) {
			char name[128] = "";
			cal_model_q_name(model, i, name, sizeof name);
			with(p, name, cal_sim_state(sim, g)->q[i]);
		}
	}
}

static void put_name(PathPrint *p, const char *name, double value) {
	(void)value;
	fprintf(p->table, ",q:%s", name);
}

static void put_value(PathPrint *p, const char *name, double value) {
	(void)name;
	fprintf(p->table, ",%.17g", value);
}

static void json_value(PathPrint *p, const char *name, double value) {
	fputs(p->count++ ? ", " : "", stdout);
	json_string(stdout, name);
	fputs(": ", stdout);
	json_number(stdout, value);
}

static void json_point(const PathPrint *p, CalSim *sim, const CalTrimPoint *point) {
	PathPrint inner = {.r = p->r};
	printf("%s{\"value\": ", p->count ? ",\n " : "");
	json_number(stdout, point->value);
	printf(", \"stability\": \"%s\", \"turns\": %s, \"growth\": ", cal_stability_name(point->stability),
	       point->turns ? "true" : "false");
	json_number(stdout, point->growth);
	fputs(", \"q\": {", stdout);
	each_coordinate(&inner, sim, json_value);
	fputs("}}", stdout);
}

static int take_point(void *user, CalSim *sim, const CalTrimPoint *point) {
	PathPrint *p = user;
	if (p->r->json)
		json_point(p, sim, point);
	else if (!p->is_alone)
		printf("  %12.6g  %-8s  %12.4g%s\n", point->value, cal_stability_name(point->stability), point->growth,
		       point->turns ? "  limit point before" : "");
	if (p->table && p->count == 0) {
		fprintf(p->table, "%s,stability,growth", p->r->input);
		each_coordinate(p, sim, put_name);
		putc('\n', p->table);
	}
	if (p->table) {
		fprintf(p->table, "%.17g,%s,%.17g", point->value, cal_stability_name(point->stability), point->growth);
		each_coordinate(p, sim, put_value);
		putc('\n', p->table);
	}
	if (point->turns)
		p->turn = p->last, p->turned = true;
	p->last = point->value;
	p->count++;
	return 0;
}

/* A path may end without an error before the value that was asked for. */
static void warn_of_end(const PathPrint *p) {
	char text[300], turn[80] = "";
	if (p->turned)
		snprintf(turn, sizeof turn, ", after a limit point near %.6g", p->turn);
	if (p->count == 0 || p->last == p->r->to)
		return;
	if (p->count >= CAL_TRIM_PATH_POINTS)
		snprintf(text, sizeof text,
		         "%s does not get to %g: the path ends after %d points at %.6g%s; give a longer --step", p->r->input,
		         p->r->to, p->count, p->last, turn);
	else
		snprintf(text, sizeof text, "%s does not get to %g: the path comes back to %.6g%s; --back follows it further",
		         p->r->input, p->r->to, p->last, turn);
	say_warning(input_name(p->r->path), text);
}

int trim_path_file(const TrimPathRequest *r, CalSim *sim) {
	CalError error = {0};
	OutputFile out;
	int code = r->out ? output_open(&out, r->out) : EXIT_OK;
	if (code != EXIT_OK)
		return code;
	PathPrint print = {.r = r, .table = r->out ? out.stream : NULL, .is_alone = r->out && strcmp(r->out, "-") == 0};
	if (!r->json && !print.is_alone)
		printf("%s: equilibria over %s\n         value  stability  largest real part of a pole [1/s]\n",
		       input_name(r->path), r->input);
	else if (r->json)
		fputs("[", stdout);
	const CalTrimPathOptions options = {.input = r->input,
	                                    .from = r->from,
	                                    .to = r->to,
	                                    .step = r->step,
	                                    .back = r->back,
	                                    .point = take_point,
	                                    .user = &print};
	const CalStatus status = cal_sim_trim_path(sim, &options, NULL, &error);
	if (r->json)
		puts("]");
	code = say_status(input_name(r->path), status, &error);
	if (code == EXIT_OK)
		warn_of_end(&print);
	return r->out ? output_close(&out, code) : code;
}
