// SPDX-License-Identifier: Apache-2.0
/*
 * plan_read.c — the parameters of a plan, how they vary, and the design.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/serializer.h"
#include "campaign/plan.h"
#include "io/model/schema/format_text.h"
#include "math/sobol.h"

typedef struct ParameterInput {
	const TreeNode *target, *apply, *uniform, *normal, *lognormal, *triangular, *choice, *weights, *values, *range,
		*constant, *formula;
} ParameterInput;

typedef struct SpreadInput {
	const TreeNode *min, *max, *mean, *std, *median, *sigma, *mode, *from, *to, *count;
} SpreadInput;

#define SPREAD(name, more, meaning) \
	{ #name, FIELD_NUMBER, offsetof(SpreadInput, name), .flags = FIELD_AS_TREE | (more), .doc = meaning }
static const Field uniform_fields[] = {
	SPREAD(min, FIELD_REQUIRED, "lower end"),
	SPREAD(max, FIELD_REQUIRED, "upper end"),
};
static const FieldTable uniform_table = {FIELDS("uniform", uniform_fields), .doc = "A uniform distribution."};
static const Field normal_fields[] = {
	SPREAD(mean, FIELD_REQUIRED, "of the distribution, before any truncation"),
	SPREAD(std, FIELD_REQUIRED, "standard deviation, before any truncation"),
	SPREAD(min, 0, "lower bound; default none"),
	SPREAD(max, 0, "upper bound; default none"),
};
static const FieldTable normal_table = {FIELDS("normal", normal_fields), .doc = "A normal distribution."};
static const Field lognormal_fields[] = {
	SPREAD(median, FIELD_REQUIRED, "> 0"),
	SPREAD(sigma, FIELD_REQUIRED, "standard deviation of the natural logarithm"),
};
static const FieldTable lognormal_table = {FIELDS("lognormal", lognormal_fields), .doc = "A lognormal distribution."};
static const Field triangular_fields[] = {
	SPREAD(min, FIELD_REQUIRED, "lower end"),
	SPREAD(mode, FIELD_REQUIRED, "most likely value"),
	SPREAD(max, FIELD_REQUIRED, "upper end"),
};
static const FieldTable triangular_table = {FIELDS("triangular", triangular_fields),
                                            .doc = "A triangular distribution."};
static const Field range_fields[] = {
	SPREAD(from, FIELD_REQUIRED, "first value"),
	SPREAD(to, FIELD_REQUIRED, "last value"),
	SPREAD(count, FIELD_REQUIRED, "number of values, evenly spaced"),
};
static const FieldTable range_table = {FIELDS("range", range_fields), .doc = "Values evenly spaced."};

static const Field parameter_fields[] = {
	{"target", FIELD_TEXT, offsetof(ParameterInput, target), .flags = FIELD_AS_TREE | FIELD_OR_LIST,
     .doc = "path in the model file: [targets](#targets). None: used by formulas only"},
	{"apply", FIELD_CHOICE, offsetof(ParameterInput, apply), .flags = FIELD_AS_TREE,
     .doc = "`set` (default): replace the value in the model; `add`: add to it; `scale`: multiply it",
     .words = FIELD_WORDS("set", "add", "scale")},
	{"uniform", FIELD_MAP, offsetof(ParameterInput, uniform), .flags = FIELD_AS_TREE, .doc = "uniform distribution",
     .table = &uniform_table},
	{"normal", FIELD_MAP, offsetof(ParameterInput, normal), .flags = FIELD_AS_TREE,
     .doc = "normal distribution, truncated if it has bounds", .table = &normal_table},
	{"lognormal", FIELD_MAP, offsetof(ParameterInput, lognormal), .flags = FIELD_AS_TREE,
     .doc = "lognormal distribution", .table = &lognormal_table},
	{"triangular", FIELD_MAP, offsetof(ParameterInput, triangular), .flags = FIELD_AS_TREE,
     .doc = "triangular distribution", .table = &triangular_table},
	{"choice", FIELD_TEXTS, offsetof(ParameterInput, choice), .flags = FIELD_AS_TREE,
     .doc = "numbers or texts, equally likely unless there are `weights`"},
	{"weights", FIELD_NUMBERS, offsetof(ParameterInput, weights), .flags = FIELD_AS_TREE,
     .doc = "for `choice` or `values`: one nonnegative number each"},
	{"values", FIELD_TEXTS, offsetof(ParameterInput, values), .flags = FIELD_AS_TREE,
     .doc = "numbers or texts: an axis of a grid; in other designs the same as `choice`"},
	{"range", FIELD_MAP, offsetof(ParameterInput, range), .flags = FIELD_AS_TREE,
     .doc = "an axis of a grid; in other designs one of its values", .table = &range_table},
	{"constant", FIELD_NUMBER, offsetof(ParameterInput, constant), .flags = FIELD_AS_TREE,
     .doc = "the same in every case"},
	{"formula", FIELD_FORMULA, offsetof(ParameterInput, formula), .flags = FIELD_AS_TREE,
     .doc = "of parameters listed before it, e.g. `\"0.5*mass*radius^2\"`, without `t`. Values and "
            "result are in SI units"},
};
const FieldTable plan_parameter_table = {FIELDS("parameter", parameter_fields),
                                         .doc = "A quantity that varies from case to case."};

static const FieldTable *const plan_tables[] = {&plan_table,   &plan_parameter_table, &uniform_table,
                                                &normal_table, &lognormal_table,      &triangular_table,
                                                &range_table,  &plan_output_table,    &plan_series_table};
static const int plan_table_count = (int)(sizeof plan_tables / sizeof plan_tables[0]);

static Format plan_format(void) {
	return (Format){
		.title = "Calder campaign plan, format 1 (docs/sweep.md)", .tables = plan_tables, .count = plan_table_count};
}

CalStatus cal_plan_write_schema(FILE *out, CalError *error) {
	const Format format = plan_format();
	return out ? format_write_schema(&format, out, error) : error_null(error, __func__, "out");
}

CalStatus cal_plan_write_tables(FILE *out, CalError *error) {
	const Format format = plan_format();
	return out ? format_write_tables(&format, out, error) : error_null(error, __func__, "out");
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* All numbers of a parameter have one unit; that of the first one. *first: none was read yet. */
static bool read_number(Reader *r, const TreeNode *node, PlanParameter *p, bool *first, double *out) {
	char message[200], text[UNIT_TEXT];
	Unit unit;
	if (node->kind != TREE_SCALAR)
		return reader_fail(r, node, "expected a number, with a unit if it has one (\"5 mm\"), not a list or a map");
	if (!quantity_parse_any(node->text, out, &unit, message, sizeof message))
		return reader_fail(r, node, "%s", message);
	if (!*first && !unit_same(unit, p->unit)) {
		const bool both = !unit_is_none(unit) && !unit_is_none(p->unit);
		unit_format(unit_is_none(unit) || both ? p->unit : unit, text);
		return both ? reader_fail(r, node, "its unit is not that of the numbers before it (%s)", text)
		            : reader_fail(r, node, "some numbers have a unit (%s) and others have none", text);
	}
	p->unit = unit;
	*first = false;
	return true;
}

static bool read_count(Reader *r, const TreeNode *node, const char *key, double most, double *out) {
	if (!read_quantity(r, node, DIM_NUMBER, out))
		return false;
	return (*out >= 1 && *out <= most && *out == floor(*out)) ||
	       reader_fail(r, node, "\"%s\" must be a whole number from 1 to %.0f", key, most);
}

/* ---- distributions ------------------------------------------------------------------------------ */

static bool read_uniform(Reader *r, const TreeNode *node, PlanParameter *p) {
	SpreadInput in = {0};
	bool first = true;
	p->kind = DRAW_UNIFORM;
	if (!fields_read(r, node, &uniform_table, &in) || !read_number(r, in.min, p, &first, &p->a) ||
	    !read_number(r, in.max, p, &first, &p->b))
		return false;
	p->how = reader_text(r, "uniform(%g, %g)", p->a, p->b);
	return p->a <= p->b ? p->how != NULL : reader_fail(r, in.max, "\"max\" is less than \"min\"");
}

static bool read_normal(Reader *r, const TreeNode *node, PlanParameter *p) {
	SpreadInput in = {0};
	bool first = true;
	p->kind = DRAW_NORMAL;
	p->low = -INFINITY;
	p->high = INFINITY;
	if (!fields_read(r, node, &normal_table, &in) || !read_number(r, in.mean, p, &first, &p->a) ||
	    !read_number(r, in.std, p, &first, &p->b) || (in.min && !read_number(r, in.min, p, &first, &p->low)) ||
	    (in.max && !read_number(r, in.max, p, &first, &p->high)))
		return false;
	if (p->b < 0)
		return reader_fail(r, in.std, "a standard deviation cannot be negative");
	if (!(p->low < p->high))
		return reader_fail(r, in.max, "\"max\" must be greater than \"min\"");
	p->how = in.min || in.max ? reader_text(r, "normal(%g, %g) within [%g, %g]", p->a, p->b, p->low, p->high)
	                          : reader_text(r, "normal(%g, %g)", p->a, p->b);
	return p->how != NULL;
}

static bool read_lognormal(Reader *r, const TreeNode *node, PlanParameter *p) {
	SpreadInput in = {0};
	bool first = true;
	p->kind = DRAW_LOGNORMAL;
	if (!fields_read(r, node, &lognormal_table, &in) || !read_number(r, in.median, p, &first, &p->a) ||
	    !read_quantity(r, in.sigma, DIM_NUMBER, &p->b))
		return false;
	if (!(p->a > 0))
		return reader_fail(r, in.median, "the median of a lognormal distribution must be greater than zero");
	if (p->b < 0)
		return reader_fail(r, in.sigma, "a standard deviation cannot be negative");
	p->how = reader_text(r, "lognormal(%g, %g)", p->a, p->b);
	return p->how != NULL;
}

static bool read_triangular(Reader *r, const TreeNode *node, PlanParameter *p) {
	SpreadInput in = {0};
	bool first = true;
	p->kind = DRAW_TRIANGULAR;
	if (!fields_read(r, node, &triangular_table, &in) || !read_number(r, in.min, p, &first, &p->low) ||
	    !read_number(r, in.mode, p, &first, &p->a) || !read_number(r, in.max, p, &first, &p->high))
		return false;
	if (!(p->low <= p->a && p->a <= p->high && p->low < p->high))
		return reader_fail(r, node, "it must be min <= mode <= max and min < max");
	p->how = reader_text(r, "triangular(%g, %g, %g)", p->low, p->a, p->high);
	return p->how != NULL;
}

/* ---- lists -------------------------------------------------------------------------------------- */

static bool make_room(Reader *r, PlanParameter *p, int count) {
	p->kind = DRAW_LIST;
	p->value_count = count;
	p->values = reader_array(r, (size_t)count, sizeof *p->values);
	p->cumulative = reader_array(r, (size_t)count, sizeof *p->cumulative);
	for (int i = 0; p->cumulative && i < count; i++)
		p->cumulative[i] = (i + 1.0) / count;
	return p->values && p->cumulative;
}

/* Is every scalar in it a number with or without unit? */
static bool all_numbers(const TreeNode *list) {
	double value;
	Unit unit;
	char message[200];
	for (int i = 0; i < list->count; i++)
		if (list->items[i]->kind == TREE_SCALAR &&
		    !quantity_parse_any(list->items[i]->text, &value, &unit, message, sizeof message))
			return false;
	return true;
}

static bool read_values(Reader *r, const TreeNode *node, PlanParameter *p) {
	bool first = true;
	if (!read_list(r, node, "values"))
		return false;
	if (node->count == 0)
		return reader_fail(r, node, "the list is empty");
	p->how = reader_text(r, "one of %d values", node->count);
	if (!p->how || !make_room(r, p, node->count))
		return false;
	if (all_numbers(node)) {
		for (int i = 0; i < node->count; i++)
			if (!read_number(r, node->items[i], p, &first, &p->values[i]))
				return false;
		return true;
	}
	p->texts = reader_array(r, (size_t)node->count, sizeof *p->texts);
	for (int i = 0; p->texts && i < node->count; i++) {
		p->values[i] = i;
		if (!read_text(r, node->items[i], &p->texts[i]))
			return false;
	}
	return p->texts != NULL;
}

static bool read_weights(Reader *r, const TreeNode *node, PlanParameter *p) {
	double sum = 0;
	if (!read_list(r, node, "weights"))
		return false;
	if (node->count != p->value_count)
		return reader_fail(r, node, "there are %d weights for %d values", node->count, p->value_count);
	for (int i = 0; i < node->count; i++) {
		double weight = 0;
		if (!read_quantity(r, node->items[i], DIM_NUMBER, &weight))
			return false;
		if (weight < 0)
			return reader_fail(r, node->items[i], "a weight cannot be negative");
		p->cumulative[i] = sum += weight;
	}
	if (!(sum > 0 && isfinite(sum)))
		return reader_fail(r, node, "the weights add up to %g; at least one must be greater than zero", sum);
	for (int i = 0; i < node->count; i++)
		p->cumulative[i] /= sum;
	return true;
}

static bool read_range(Reader *r, const TreeNode *node, PlanParameter *p) {
	SpreadInput in = {0};
	bool first = true;
	double from = 0, to = 0, count = 0;
	if (!fields_read(r, node, &range_table, &in) || !read_number(r, in.from, p, &first, &from) ||
	    !read_number(r, in.to, p, &first, &to) || !read_count(r, in.count, "count", 1e6, &count) ||
	    !make_room(r, p, (int)count))
		return false;
	for (int i = 0; i < p->value_count; i++)
		p->values[i] = i && i + 1 == p->value_count ? to : from + i * ((to - from) / fmax(count - 1, 1));
	p->how = reader_text(r, "%d values from %g to %g", p->value_count, from, to);
	return p->how != NULL;
}

/* ---- a parameter -------------------------------------------------------------------------------- */

static bool read_apply(Reader *r, const TreeNode *node, PlanParameter *p) {
	static const char *const words[] = {"set", "add", "scale"};
	for (int i = 0; node->kind == TREE_SCALAR && i < 3; i++)
		if (strcmp(node->text, words[i]) == 0) {
			p->apply = (Apply)i;
			return true;
		}
	return reader_fail(r, node, "\"apply\" is set, add or scale");
}

static bool read_constant(Reader *r, const TreeNode *node, PlanParameter *p) {
	bool first = true;
	p->kind = DRAW_CONSTANT;
	if (!read_number(r, node, p, &first, &p->a))
		return false;
	p->how = reader_text(r, "%g", p->a);
	return p->how != NULL;
}

static bool read_how(Reader *r, const CalPlan *plan, const TreeNode *map, const ParameterInput *in, PlanParameter *p,
                     int index) {
	const int given = !!in->uniform + !!in->normal + !!in->lognormal + !!in->triangular + !!in->choice + !!in->values +
	                  !!in->range + !!in->constant + !!in->formula;
	if (given != 1)
		return reader_fail(r, map,
		                   "it needs exactly one of uniform, normal, lognormal, triangular, choice, values, range, "
		                   "constant and formula");
	if (in->weights && !in->choice && !in->values)
		return reader_fail(r, in->weights, "\"weights\" belong to \"choice\" or \"values\"");
	p->axis = in->values || in->range;
	if (in->choice || in->values)
		return read_values(r, in->choice ? in->choice : in->values, p) &&
		       (!in->weights || read_weights(r, in->weights, p));
	return in->uniform      ? read_uniform(r, in->uniform, p)
	       : in->normal     ? read_normal(r, in->normal, p)
	       : in->lognormal  ? read_lognormal(r, in->lognormal, p)
	       : in->triangular ? read_triangular(r, in->triangular, p)
	       : in->range      ? read_range(r, in->range, p)
	       : in->constant   ? read_constant(r, in->constant, p)
	                        : plan_check_formula(r, plan, in->formula, p, index);
}

static bool read_parameter(Reader *r, CalPlan *plan, const Item *item, int index) {
	PlanParameter *p = &plan->parameters[index];
	ParameterInput in = {0};
	reader_subject(r, "parameter", item->name);
	p->name = item->name;
	p->stream = serializer_hash(SERIALIZER_HASH_START, item->name, strlen(item->name));
	for (int i = 0; i < index; i++)
		if (plan->parameters[i].stream == p->stream)
			return reader_fail(r, item->place, "another parameter has the same name, or one with the same hash");
	if (!fields_read(r, item->value, &plan_parameter_table, &in) || (in.apply && !read_apply(r, in.apply, p)) ||
	    !read_how(r, plan, item->value, &in, p, index))
		return false;
	unit_format(p->unit, p->unit_text);
	if (p->texts && p->apply != APPLY_SET)
		return reader_fail(r, in.apply, "texts cannot be added or multiplied");
	if (p->apply == APPLY_SCALE && !unit_is_none(p->unit))
		return reader_fail(r, in.apply, "a factor has no unit");
	return !in.target || plan_read_targets(r, plan, in.target, p);
}

bool plan_read_parameters(Reader *r, CalPlan *plan, const TreeNode *section) {
	const int count = items_count(r, section, "parameters");
	if (count < 0)
		return false;
	plan->parameters = reader_array(r, (size_t)count, sizeof *plan->parameters);
	if (!plan->parameters)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, section, i, "parameter", &item) || !read_parameter(r, plan, &item, i))
			return false;
		plan->info.parameter_count = i + 1;
	}
	return true;
}

/* ---- the design --------------------------------------------------------------------------------- */

/* The last axis varies fastest. */
static bool set_grid(Reader *r, CalPlan *plan, const TreeNode *root, double repeat) {
	const double most = 1e12;
	double product = repeat;
	for (int i = plan->info.parameter_count; i-- > 0;) {
		PlanParameter *p = &plan->parameters[i];
		if (!p->axis)
			continue;
		p->stride = (int64_t)product;
		product *= p->value_count;
		if (product > most)
			return reader_fail(r, root, "the grid has more than %.0g cases", most);
	}
	plan->info.case_count = (int64_t)product;
	return true;
}

bool plan_set_design(Reader *r, CalPlan *plan, const TreeNode *root, double cases, double repeat) {
	int dimension = 0;
	reader_subject(r, "design", NULL);
	for (int i = 0; i < plan->info.parameter_count; i++) {
		PlanParameter *p = &plan->parameters[i];
		p->dimension = p->kind == DRAW_CONSTANT || p->kind == DRAW_FORMULA ? -1 : dimension++;
	}
	if (plan->info.design == CAL_DESIGN_GRID) {
		if (tree_get(root, "cases"))
			return reader_fail(r, tree_get(root, "cases"),
			                   "the number of cases of a grid is the product of its \"values\" and \"range\"s; leave "
			                   "\"cases\" out, or ask for several of each with \"repeat\"");
		return set_grid(r, plan, root, repeat);
	}
	if (tree_get(root, "repeat"))
		return reader_fail(r, tree_get(root, "repeat"), "\"repeat\" is for grids only");
	if (!tree_get(root, "cases"))
		return reader_fail(r, root, "the key \"cases\" is missing: how many there are (see \"plan\" in docs/sweep.md)");
	if (plan->info.design == CAL_DESIGN_SOBOL && dimension > SOBOL_DIMENSIONS)
		return reader_fail(r, tree_get(root, "design"),
		                   "sobol is known for %d parameters and there are %d; use latin-hypercube", SOBOL_DIMENSIONS,
		                   dimension);
	if (plan->info.design == CAL_DESIGN_SOBOL && cases > 0x1p32)
		return reader_fail(r, tree_get(root, "cases"), "sobol has 2^32 cases at most");
	plan->info.case_count = (int64_t)cases;
	return true;
}
