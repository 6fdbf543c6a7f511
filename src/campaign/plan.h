// SPDX-License-Identifier: Apache-2.0
/*
 * plan.h — what a plan holds once it is read (docs/sweep.md).
 */
#ifndef CALDER_CAMPAIGN_PLAN_H
#define CALDER_CAMPAIGN_PLAN_H

#include <calder/campaign.h>

#include "io/model/model_file.h"

typedef enum DrawKind {
	DRAW_CONSTANT,
	DRAW_UNIFORM,    // a to b
	DRAW_NORMAL,     // mean a, deviation b, within low and high
	DRAW_LOGNORMAL,  // median a, deviation b of the logarithm
	DRAW_TRIANGULAR, // low to high, most often a
	DRAW_LIST,       // one of values, by weights
	DRAW_FORMULA,    //
} DrawKind;

typedef enum Apply { APPLY_SET, APPLY_ADD, APPLY_SCALE } Apply;

typedef struct PlanTarget {
	const char *text;         // as the plan gives it
	const char *const *steps; // [step_count]
	int step_count;
	bool shared;      // below "define": changes wherever it is used
	const char *base; // what stands there in the model
} PlanTarget;

typedef struct PlanParameter {
	const char *name;
	uint64_t stream; // of its random numbers, by its name
	DrawKind kind;
	Apply apply;
	Unit unit; // of its values
	char unit_text[UNIT_TEXT];
	double a, b, low, high;
	double *values;     // [value_count] of a list
	double *cumulative; // [value_count] ends at 1
	const char **texts; // [value_count] where they are no numbers, else NULL
	int value_count;
	bool axis;           // of a grid
	int64_t stride;      // of an axis: cases from one value to the next
	int dimension;       // of Sobol's sequence, -1: it is not drawn
	const char *formula; //
	PlanTarget *targets; // [target_count]
	const char **target_texts;
	int target_count;
	const char *how; // in words
} PlanParameter;

typedef struct PlanOutput {
	CalPlanOutput out;
	Unit unit; // of its limits
	const TreeNode *place;
} PlanOutput;

struct CalPlan {
	Tree *tree; // holds all memory of this struct
	CalAllocator allocator;
	Tree *model; // as it stands
	CalPlanInfo info;
	size_t model_length;
	PlanParameter *parameters;
	PlanOutput *outputs;
};

extern const FieldTable plan_table, plan_output_table, plan_series_table, plan_parameter_table;

/** Reports that memory is short; always false. */
bool plan_no_memory(Reader *r);
bool plan_read_parameters(Reader *r, CalPlan *plan, const TreeNode *section);
/** Also sets the number of cases: the product of all axes of a grid, else `cases`. */
bool plan_set_design(Reader *r, CalPlan *plan, const TreeNode *root, double cases, double repeat);
/** Its word is in the catalogue of quantities; the rest is for the simulation to find. */
bool plan_check_signal(Reader *r, const TreeNode *node, const char *signal);
bool plan_read_outputs(Reader *r, CalPlan *plan, const TreeNode *section);
bool plan_read_targets(Reader *r, const CalPlan *plan, const TreeNode *node, PlanParameter *p);

/** A formula of the parameters before `index`: tried with 1 for each of them. */
bool plan_check_formula(Reader *r, const CalPlan *plan, const TreeNode *node, PlanParameter *p, int index);
/** values[index] are those of the parameters before; NaN where it is not defined. */
CalStatus plan_formula_value(const CalPlan *plan, int index, const double *values, double *value);

/** Checks that limits of outputs have the dimension of what they limit. */
CalStatus plan_check_units(const CalPlan *plan, const char *const *units, CalError *error);

#endif
