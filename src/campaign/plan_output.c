// SPDX-License-Identifier: Apache-2.0
/*
 * plan_output.c — what a plan keeps of every case, and how it is made of samples.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/quantity.h>

#include "campaign/plan.h"

static const char *const keep_names[CAL_STATISTIC_COUNT] = {
	"final", "initial", "min", "max", "peak", "range", "mean", "rms", "time_of_min", "time_of_max", "at"};

const char *cal_statistic_name(CalStatistic statistic) {
	return statistic >= 0 && statistic < CAL_STATISTIC_COUNT ? keep_names[statistic] : NULL;
}

typedef struct OutputInput {
	const char *signal;
	const TreeNode *statistic, *at, *above, *below;
} OutputInput;

static const char *statistic_word(int i) { return cal_statistic_name((CalStatistic)i); }

static const Field output_fields[] = {
	{"signal", FIELD_TEXT, offsetof(OutputInput, signal), .flags = FIELD_REQUIRED,
     .doc = "a single column among the signals of `calder run` (`q:hinge`, `velocity:satellite.wy`, "
            "`event:docked`), or `t`"},
	{"statistic", FIELD_CHOICE, offsetof(OutputInput, statistic), .former = "keep",
     .flags = FIELD_AS_TREE | FIELD_OR_LIST,
     .doc = "of its samples; default `final`; `peak`: largest absolute value; a list gives "
            "one column each",
     .word_at = statistic_word},
	{"at", FIELD_NUMBER, offsetof(OutputInput, at), DIM_TIME, .flags = FIELD_AS_TREE,
     .doc = "time of `statistic: at`, which may then be omitted"},
	{"above", FIELD_NUMBER, offsetof(OutputInput, above), .flags = FIELD_AS_TREE,
     .doc = "limit: the value must be greater"},
	{"below", FIELD_NUMBER, offsetof(OutputInput, below), .flags = FIELD_AS_TREE,
     .doc = "limit: the value must be less"},
};
const FieldTable plan_output_table = {FIELDS("output", output_fields), .doc = "What is kept of every case."};

static bool read_statistic(Reader *r, const TreeNode *node, CalStatistic *statistic) {
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < CAL_STATISTIC_COUNT; i++) {
		suggestion_offer(&suggestion, keep_names[i]);
		if (strcmp(suggestion.word, keep_names[i]) == 0) {
			*statistic = (CalStatistic)i;
			return true;
		}
	}
	if (suggestion.best)
		return reader_unknown(r, node, "statistic", &suggestion);
	return reader_fail(
		r, node, "\"statistic\" is final, initial, min, max, peak, range, mean, rms, time_of_min, time_of_max or at");
}

static bool read_limit(Reader *r, const TreeNode *node, PlanOutput *output, double *limit) {
	char message[200];
	if (!node)
		return true;
	if (node->kind != TREE_SCALAR)
		return reader_fail(r, node, "expected a number, with a unit if it has one (\"5 mm\"), not a list or a map");
	return quantity_parse_any(node->text, limit, &output->unit, message, sizeof message) ||
	       reader_fail(r, node, "%s", message);
}

static bool read_one(Reader *r, const Item *item, const OutputInput *in, const TreeNode *statistic,
                     PlanOutput *output) {
	*output = (PlanOutput){.place = item->place, .out = {.name = item->name, .signal = in->signal}};
	output->out.above = -INFINITY;
	output->out.below = INFINITY;
	output->out.statistic = in->at ? CAL_STATISTIC_AT : CAL_STATISTIC_FINAL;
	if ((statistic && !read_statistic(r, statistic, &output->out.statistic)) ||
	    (in->at && !read_quantity(r, in->at, DIM_TIME, &output->out.at)))
		return false;
	if (output->out.statistic == CAL_STATISTIC_AT && !in->at)
		return reader_fail(r, statistic, "\"statistic: at\" needs the time \"at\", e.g. at: 2 s");
	if (output->out.at < 0)
		return reader_fail(r, in->at, "a run starts at the time 0");
	return read_limit(r, in->above, output, &output->out.above) && read_limit(r, in->below, output, &output->out.below);
}

bool plan_check_signal(Reader *r, const TreeNode *node, const char *signal) {
	const char *word = reader_text(r, "%.*s", (int)strcspn(signal, ":"), signal);
	Suggestion suggestion = {.word = word};
	if (!word)
		return false;
	if (strcmp(signal, "t") == 0 || cal_quantity_find(word) >= 0)
		return true;
	for (int i = 0; i < cal_quantity_count(); i++) {
		CalQuantityInfo info;
		if (cal_quantity(i, &info) == CAL_OK)
			suggestion_offer(&suggestion, info.word);
	}
	return suggestion.best ? reader_unknown(r, node, "signal", &suggestion)
	                       : reader_fail(r, node, "unknown signal \"%.80s\"; 'calder signals' lists them", signal);
}

/* One output for each statistic of the signal. */
static bool read_output(Reader *r, CalPlan *plan, const Item *item) {
	OutputInput in = {0};
	reader_subject(r, "output", item->name);
	if (!fields_read(r, item->value, &plan_output_table, &in) ||
	    !plan_check_signal(r, tree_get(item->value, "signal"), in.signal))
		return false;
	const bool several = in.statistic && in.statistic->kind == TREE_LIST;
	if (several && (in.statistic->count < 1 || in.statistic->count > CAL_STATISTIC_COUNT))
		return reader_fail(r, in.statistic, "\"statistic\" is a word, or a list of up to %d of them",
		                   CAL_STATISTIC_COUNT);
	for (int i = 0; i < (several ? in.statistic->count : 1); i++) {
		PlanOutput *output = &plan->outputs[plan->info.output_count++];
		if (!read_one(r, item, &in, several ? in.statistic->items[i] : in.statistic, output))
			return false;
		if (several)
			output->out.name = reader_text(r, "%s %s", item->name, keep_names[output->out.statistic]);
		if (!output->out.name)
			return false;
	}
	return true;
}

bool plan_read_outputs(Reader *r, CalPlan *plan, const TreeNode *section) {
	const int count = items_count(r, section, "outputs");
	if (count < 0)
		return false;
	if (count == 0)
		return reader_fail(r, section, "nothing is kept; name at least one output");
	plan->outputs = reader_array(r, (size_t)count * CAL_STATISTIC_COUNT, sizeof *plan->outputs);
	if (!plan->outputs)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, section, i, "output", &item) || !read_output(r, plan, &item))
			return false;
	}
	return true;
}

CalStatus plan_check_units(const CalPlan *plan, const char *const *units, CalError *error) {
	for (int i = 0; units && i < plan->info.output_count; i++) {
		const PlanOutput *output = &plan->outputs[i];
		const bool time =
			output->out.statistic == CAL_STATISTIC_TIME_OF_MIN || output->out.statistic == CAL_STATISTIC_TIME_OF_MAX;
		const char *name = time ? "s" : units[i];
		Unit unit = {0};
		double one;
		char text[80], message[200];
		snprintf(text, sizeof text, "1 %s", name);
		if (unit_is_none(output->unit) || !quantity_parse_any(text, &one, &unit, message, sizeof message))
			continue;
		if (!unit_same(unit, output->unit))
			return tree_error(error, plan->info.name, output->place, CAL_ERR_INPUT,
			                  "output \"%.80s\": a limit has not the unit of the signal, which is in %s",
			                  output->out.name, name);
	}
	return CAL_OK;
}

/* ---- samples ------------------------------------------------------------------------------------ */

static void first_sample(CalStatisticAccumulator *k, double t, double value) {
	*k = (CalStatisticAccumulator){.first = value, .low = value, .high = value, .peak = fabs(value)};
	k->start = k->time_of_low = k->time_of_high = t;
}

void cal_statistic_add(CalStatisticAccumulator *k, const CalPlanOutput *output, double t, double value) {
	if (!k || !output)
		return;
	if (k->count == 0) {
		first_sample(k, t, value);
	} else { // trapezia; the square of a straight line exactly
		const double dt = t - k->time;
		k->integral += 0.5 * dt * (k->last + value);
		k->square += dt / 3 * (k->last * k->last + k->last * value + value * value);
	}
	if (value < k->low || isnan(value)) {
		k->low = value;
		k->time_of_low = t;
	}
	if (value > k->high || isnan(value)) {
		k->high = value;
		k->time_of_high = t;
	}
	if (fabs(value) > k->peak || isnan(value))
		k->peak = fabs(value);
	if (output->statistic == CAL_STATISTIC_AT && !k->at_seen && t >= output->at) {
		k->at = value;
		k->at_seen = 1;
	}
	k->count++;
	k->last = value;
	k->time = t;
}

double cal_statistic_value(const CalStatisticAccumulator *k, const CalPlanOutput *output) {
	if (!k || !output)
		return NAN;
	const double span = k->time - k->start;
	if (k->count == 0)
		return NAN;
	switch (output->statistic) {
	case CAL_STATISTIC_FINAL:
		return k->last;
	case CAL_STATISTIC_INITIAL:
		return k->first;
	case CAL_STATISTIC_MIN:
		return k->low;
	case CAL_STATISTIC_MAX:
		return k->high;
	case CAL_STATISTIC_PEAK:
		return k->peak;
	case CAL_STATISTIC_RANGE:
		return k->high - k->low;
	case CAL_STATISTIC_MEAN:
		return span > 0 ? k->integral / span : k->last;
	case CAL_STATISTIC_RMS:
		return span > 0 ? sqrt(k->square / span) : fabs(k->last);
	case CAL_STATISTIC_TIME_OF_MIN:
		return k->time_of_low;
	case CAL_STATISTIC_TIME_OF_MAX:
		return k->time_of_high;
	case CAL_STATISTIC_AT:
		return k->at_seen ? k->at : (double)NAN;
	default:
		return NAN;
	}
}
