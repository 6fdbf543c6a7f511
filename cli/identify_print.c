// SPDX-License-Identifier: Apache-2.0
/*
 * identify_print.c — what `calder identify` found, as tables or as JSON.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify.h"

/* Half the width of an interval that covers this part of a normal distribution, in deviations: bisection of erf. */
static double interval_factor(double level) {
	double low = 0, high = 40;
	for (int i = 0; i < 100; i++) {
		const double middle = 0.5 * (low + high);
		*(erf(middle / sqrt(2)) < level ? &low : &high) = middle;
	}
	return 0.5 * (low + high);
}

static void print_head(const IdentifyRequest *request, const CalIdentified *all, const Recording *recording) {
	printf("%s: %d parameter%s unknown, %d combination%s determined", input_name(request->path), all->parameters,
	       plural(all->parameters), all->combinations, plural(all->combinations));
	if (!request->data) {
		printf(" by motions at random\n");
		return;
	}
	printf(" by %zu equations of %zu instants (%s)\n  condition %.3g", all->equations, recording->count, request->data,
	       all->condition);
	if (recording->left_out > 0)
		printf(", %zu row%s left out", recording->left_out, plural((long long)recording->left_out));
	if (recording->estimated)
		printf(", rates from windows of %.3g s", recording->window);
	printf("\n");
}

static void print_forces(const CalIdentification *id, const Recording *recording) {
	char name[160];
	printf("\n  %-28s %14s %16s %16s\n", "force [N m|N]", "rms", "residual, model", "residual, found");
	for (int u = 0; u < recording->nu; u++) {
		CalForceFit fit;
		if (cal_identification_fit(id, u, &fit) != CAL_OK || fit.equations == 0)
			continue;
		cal_model_dof_name(recording->model, u, name, sizeof name);
		printf("  %-28s %14.6g %16.6g %16.6g\n", name, fit.force, fit.model, fit.residual);
	}
}

static bool has_several(const CalCombination *c, int parameters) {
	for (int k = 0; k < parameters; k++)
		if (k != c->parameter && c->factor[k] != 0)
			return true;
	return false;
}

/* Of a recording those of several parameters: the others are among the parameters. */
static void print_combinations(const IdentifyRequest *request, const CalIdentification *id, const CalIdentified *all) {
	const double factor = interval_factor(request->level);
	char text[2000];
	bool first = true;
	for (int i = 0; i < all->combinations; i++) {
		CalCombination c;
		cal_identification_combination(id, i, &c);
		cal_identification_combination_text(id, i, text, sizeof text);
		if (request->data && !has_several(&c, all->parameters))
			continue;
		if (first && request->data)
			printf("\n  %14s %14s %14s %14s  %s\n", "model", "found", "+-", "possible", "combination");
		else if (first)
			printf("\n");
		first = false;
		if (request->data)
			printf("  %14.6g %14.6g %14.3g %14.6g  %s\n", c.model, c.value, factor * c.deviation, c.consistent, text);
		else
			printf("  %s\n", text);
	}
}

/* Parameters one by one; what the motion does not determine alone is in brackets. */
static void print_parameters(const IdentifyRequest *request, const CalIdentification *id, int count) {
	const double factor = interval_factor(request->level);
	printf("\n  %-28s %14s %14s %14s\n", "parameter", "model", "found", "+-");
	for (int i = 0; i < count; i++) {
		CalIdentifiedParameter p;
		cal_identification_parameter(id, i, &p);
		printf("  %-28s %14.6g ", p.name, p.model);
		if (p.determined)
			printf("%14.6g %14.3g  %s\n", p.value, factor * p.deviation, p.unit);
		else
			printf("%14.6g %14s  %s\n", p.value, "(not alone)", p.unit);
	}
	printf(
		"\n+-: %g %% confidence, of errors in the forces alone. (not alone): the value nearest to the model of those that give the\n"
		"combinations found.\n",
		100 * request->level);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

static void put(const char *key, double value) {
	printf(", \"%s\": ", key);
	json_number(stdout, value);
}

static void put_combination(const CalIdentification *id, int index, int parameters) {
	char text[2000];
	CalCombination c;
	CalIdentifiedParameter p;
	cal_identification_combination(id, index, &c);
	cal_identification_combination_text(id, index, text, sizeof text);
	printf("%s\n    {\"text\": ", index ? "," : "");
	json_string(stdout, text);
	put("model", c.model), put("value", c.value), put("deviation", c.deviation), put("consistent", c.consistent);
	printf(", \"factors\": {");
	for (int k = 0, first = 1; k < parameters; k++) {
		if (c.factor[k] == 0)
			continue;
		cal_identification_parameter(id, k, &p);
		printf("%s", first ? "" : ", ");
		json_string(stdout, p.name);
		printf(": ");
		json_number(stdout, c.factor[k]);
		first = 0;
	}
	printf("}}");
}

static void print_json(const CalIdentification *id, const CalIdentified *all, const Recording *recording) {
	char name[160];
	printf("{\n  \"equations\": %zu, \"instants\": %zu, \"combinations_determined\": %d, \"at_limit\": %d",
	       all->equations, recording->count, all->combinations, all->at_limit);
	put("condition", all->condition), put("conflict", all->conflict);
	printf(",\n  \"forces\": {");
	for (int u = 0, first = 1; u < recording->nu; u++) {
		CalForceFit fit;
		if (cal_identification_fit(id, u, &fit) != CAL_OK || fit.equations == 0)
			continue;
		cal_model_dof_name(recording->model, u, name, sizeof name);
		printf("%s\n    ", first ? "" : ",");
		json_string(stdout, name);
		printf(": {\"equations\": %zu", fit.equations);
		put("rms", fit.force), put("residual_model", fit.model), put("residual", fit.residual);
		printf("}");
		first = 0;
	}
	printf("},\n  \"combinations\": [");
	for (int i = 0; i < all->combinations; i++)
		put_combination(id, i, all->parameters);
	printf("],\n  \"parameters\": {");
	for (int i = 0; i < all->parameters; i++) {
		CalIdentifiedParameter p;
		cal_identification_parameter(id, i, &p);
		printf("%s\n    ", i ? "," : "");
		json_string(stdout, p.name);
		printf(": {\"determined\": %s", p.determined ? "true" : "false");
		put("model", p.model), put("value", p.value), put("deviation", p.deviation);
		printf(", \"unit\": \"%s\"}", p.unit);
	}
	printf("}\n}\n");
}

void identify_print(const IdentifyRequest *request, const CalIdentification *id, const Recording *recording) {
	CalIdentified all;
	cal_identification_result(id, &all);
	if (request->json) {
		print_json(id, &all, recording);
		return;
	}
	print_head(request, &all, recording);
	if (request->data)
		print_forces(id, recording);
	print_combinations(request, id, &all);
	if (request->data)
		print_parameters(request, id, all.parameters);
}
