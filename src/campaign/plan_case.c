// SPDX-License-Identifier: Apache-2.0
/*
 * plan_case.c — case k of a plan: its values, and the model with them in it.
 *
 * Every number that is drawn is a function of the seed, the case and the name of the parameter (math/philox.h). Parameters
 * that are added, removed or moved leave the draws of the others as they are, but for Sobol's sequence, whose dimensions
 * are given out in the order of the plan.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "campaign/plan.h"
#include "math/philox.h"
#include "math/portable.h"
#include "math/quantile.h"
#include "math/sobol.h"

/* The number in (0, 1) that a value is made of. */
static double design_position(const CalPlan *plan, const PlanParameter *p, int64_t k) {
	const uint64_t seed = plan->info.seed, number = (uint64_t)k, count = (uint64_t)plan->info.case_count;
	const double within = unit_interval(draw(seed, number, p->stream).a);
	if (plan->info.design == CAL_DESIGN_LATIN) {
		const double u = ((double)permuted(seed, p->stream, count, number) + within) / (double)count;
		return fmin(u, 1 - 0x1p-53);
	}
	if (plan->info.design == CAL_DESIGN_SOBOL) { // shifted at random, all points alike: as even as before, and never 0
		const uint32_t shift = (uint32_t)draw(seed, UINT64_MAX, p->stream).a;
		return ((double)(sobol(p->dimension, (uint32_t)k) ^ shift) + 0.5) * 0x1p-32;
	}
	return within;
}

static double of_list(const PlanParameter *p, double u) {
	int i = 0;
	while (i + 1 < p->value_count && u >= p->cumulative[i])
		i++;
	return p->values[i];
}

static double draw_value(const CalPlan *plan, const PlanParameter *p, int64_t k) {
	if (p->axis && plan->info.design == CAL_DESIGN_GRID)
		return p->values[k / p->stride % p->value_count];
	const double u = design_position(plan, p, k);
	switch (p->kind) {
	case DRAW_UNIFORM:
		return fmin(p->a + u * (p->b - p->a), p->b);
	case DRAW_NORMAL:
		if (!(p->b > 0))
			return fmin(fmax(p->a, p->low), p->high);
		return isinf(p->low) && isinf(p->high) ? p->a + p->b * quantile_normal(u)
		                                       : quantile_truncated(u, p->a, p->b, p->low, p->high);
	case DRAW_LOGNORMAL:
		return p->a * portable_exp(p->b * quantile_normal(u));
	case DRAW_TRIANGULAR:
		return quantile_triangular(u, p->low, p->a, p->high);
	case DRAW_LIST:
		return of_list(p, u);
	default:
		return p->a;
	}
}

CalStatus cal_plan_values(const CalPlan *plan, int64_t k, double *values, CalError *error) {
	if (!plan || !values || k < 0 || k >= plan->info.case_count)
		return tree_error(error, plan ? plan->info.name : "cal_plan_values", NULL, CAL_ERR_ARGUMENT,
		                  "there is no case %lld", (long long)k);
	for (int i = 0; i < plan->info.parameter_count; i++) {
		const PlanParameter *p = &plan->parameters[i];
		const CalStatus status = p->kind == DRAW_FORMULA ? plan_formula_value(plan, i, values, &values[i]) : CAL_OK;
		if (status != CAL_OK)
			return tree_error(error, plan->info.name, NULL, status, "parameter \"%.80s\": %s", p->name,
			                  cal_status_text(status));
		if (p->kind != DRAW_FORMULA)
			values[i] = draw_value(plan, p, k);
	}
	return CAL_OK;
}

/* ---- the model ---------------------------------------------------------------------------------- */

/* What stands at a target instead, in text[size] where it is made here. */
static const char *replacement(const PlanParameter *p, const PlanTarget *target, double value, char *text,
                               size_t size) {
	char number[NUMBER_TEXT], unit_text[UNIT_TEXT], message[80];
	double base = 0;
	Unit unit = p->unit;
	if (p->texts)
		return p->texts[(int)value];
	if (p->apply != APPLY_SET && quantity_parse_any(target->base, &base, &unit, message, sizeof message)) {
		value = p->apply == APPLY_ADD ? base + value : base * value;
		if (p->apply == APPLY_ADD && !unit_is_none(p->unit))
			unit = p->unit;
	}
	number_format(value, number);
	unit_format(unit, unit_text);
	snprintf(text, size, "%s%s%s", number, unit_text[0] ? " " : "", unit_text);
	return text;
}

static CalStatus set_parameter(const CalPlan *plan, Tree *tree, const PlanParameter *p, double value, CalError *error) {
	if (!isfinite(value) && p->target_count)
		return tree_error(error, plan->info.model, NULL, CAL_NOT_FINITE, "parameter \"%.80s\" is not a finite number",
		                  p->name);
	for (int i = 0; i < p->target_count; i++) {
		char text[NUMBER_TEXT + UNIT_TEXT + 2];
		const PlanTarget *target = &p->targets[i];
		const CalStatus status = tree_set(tree, target->steps, target->step_count,
		                                  replacement(p, target, value, text, sizeof text), target->shared);
		if (status != CAL_OK)
			return tree_error(error, plan->info.model, NULL, status, "target \"%.120s\": %s", target->text,
			                  cal_status_text(status));
	}
	return CAL_OK;
}

static CalStatus set_values(const CalPlan *plan, int64_t k, Tree *tree, CalError *error) {
	const size_t count = (size_t)plan->info.parameter_count;
	double *values = memory_alloc(&plan->allocator, count * sizeof *values);
	if (!values)
		return tree_error(error, plan->info.model, NULL, CAL_ERR_MEMORY, "out of memory");
	CalStatus status = cal_plan_values(plan, k, values, error);
	for (size_t i = 0; i < count && status == CAL_OK; i++)
		status = set_parameter(plan, tree, &plan->parameters[i], values[i], error);
	memory_free(&plan->allocator, values);
	return status;
}

CalStatus cal_plan_open_case(const CalPlan *plan, int64_t k, CalSetup **setup, CalError *error) {
	Tree *tree;
	if (!plan || !setup)
		return tree_error(error, "cal_plan_open_case", NULL, CAL_ERR_ARGUMENT, "plan or setup is NULL");
	*setup = NULL;
	CalStatus status =
		tree_parse(plan->info.model_text, plan->model_length, plan->info.model_path, &plan->allocator, &tree, error);
	if (status != CAL_OK)
		return status;
	status = k >= 0 ? set_values(plan, k, tree, error) : CAL_OK;
	if (status == CAL_OK)
		return model_file_setup_from_tree(tree, NULL, &plan->allocator, setup, error);
	tree_destroy(tree);
	return status;
}
