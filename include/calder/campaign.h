// SPDX-License-Identifier: Apache-2.0
/*
 * calder/campaign.h — campaigns: one model run many times with other numbers in it (docs/sweep.md).
 *
 * A plan file names a model file, the places in it that vary and how, the design of the cases, and what is kept of each.
 * Case k is a function of the plan and k alone: cases can be run in any order, anywhere, again. What they gave is appended
 * to a folder that any number of processes may share, survives their death, and is merged into tables at the end.
 *
 *   cal_plan_read(), cal_campaign_open();
 *   for every k that cal_campaign_status() calls missing: cal_plan_open_case(), run it, cal_campaign_put();
 *   cal_campaign_refresh(), cal_campaign_merge()
 *
 * Needs libyaml, as calder/io.h does. How a case is run is up to the caller; `calder sweep` is one.
 */
#ifndef CALDER_CAMPAIGN_H
#define CALDER_CAMPAIGN_H

#include <calder/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plans ---------------------------------------------------------------------------------- */

typedef struct CalPlan CalPlan;

typedef enum CalDesign {
	CAL_DESIGN_GRID,   // all combinations of listed values
	CAL_DESIGN_RANDOM, // independent draws
	CAL_DESIGN_LATIN,  // Latin hypercube: every parameter hits each of N equal strata once
	CAL_DESIGN_SOBOL,  // Sobol's sequence with a random shift
	CAL_DESIGN_COUNT
} CalDesign;
CAL_API const char *cal_design_name(CalDesign design); // as in files; NULL: there is none

/** The format of plans as a JSON schema, and the tables of docs/sweep.md in Markdown. CAL_ERR_IO: out cannot take it. */
CAL_API CalStatus cal_plan_write_schema(FILE *out, CalError *error);
CAL_API CalStatus cal_plan_write_tables(FILE *out, CalError *error);

/** Reads a plan and the model file that it names; every target is looked up. Errors carry file:line:col. */
CAL_API CalStatus cal_plan_read(const char *path, const CalAllocator *allocator, CalPlan **plan, CalError *error);
/**
 * The same with both texts at hand, neither need end with a zero. name stands for the plan in messages; the model is
 * sought in its folder. model_text NULL: it is read from there.
 */
CAL_API CalStatus cal_plan_parse(const char *text, size_t length, const char *name, const char *model_text,
                                 size_t model_length, const CalAllocator *allocator, CalPlan **plan, CalError *error);
CAL_API void cal_plan_destroy(CalPlan *plan); // accepts NULL

/** A series of samples that is kept of every case. */
typedef struct CalPlanSeries {
	int signal_count; // 0: none are kept
	const char *const *signals;
	double interval; // [s], 0: as the samples of the plan
} CalPlanSeries;

typedef struct CalPlanInfo {
	const char *title;              // may be ""
	const char *name, *text;        // of the plan
	const char *model, *model_text; // the name as the plan gives it
	const char *model_path;         // where the file is
	CalDesign design;
	int64_t case_count;
	uint64_t seed;
	uint64_t fingerprint; // of both texts, of the files that the model names, and of the version of this library
	int parameter_count, output_count;
	double sample; // [s] between samples, 0: every step, < 0: as the model says
	CalPlanSeries series;
} CalPlanInfo;
/** What the plan says beside parameters and outputs. */
CAL_API CalPlanInfo cal_plan_info(const CalPlan *plan);

typedef struct CalPlanParameter {
	const char *name;
	const char *unit;           // SI unit of its values, "": none was given
	const char *how;            // in words: "normal(10, 0.1)"
	const char *const *texts;   // [text_count] where its values are texts: they count from 0
	int text_count;             //
	int target_count;           // 0: it only serves formulas
	const char *const *targets; // as the plan gives them
} CalPlanParameter;
/** Parameter 0 .. parameter_count - 1. */
CAL_API CalStatus cal_plan_parameter(const CalPlan *plan, int index, CalPlanParameter *parameter);

/** What is made of the samples of a signal. */
typedef enum CalStatistic {
	CAL_STATISTIC_FINAL,
	CAL_STATISTIC_INITIAL,
	CAL_STATISTIC_MIN,
	CAL_STATISTIC_MAX,
	CAL_STATISTIC_PEAK,  // largest absolute value
	CAL_STATISTIC_RANGE, // max - min
	CAL_STATISTIC_MEAN,  // over time
	CAL_STATISTIC_RMS,   // over time
	CAL_STATISTIC_TIME_OF_MIN,
	CAL_STATISTIC_TIME_OF_MAX,
	CAL_STATISTIC_AT, // the value at a given time
	CAL_STATISTIC_COUNT
} CalStatistic;
CAL_API const char *cal_statistic_name(CalStatistic statistic); // as in files; NULL: there is none

typedef struct CalPlanOutput {
	const char *name;   // of the column: "tip", or "tip max" where several are kept
	const char *signal; // of `calder run`, or "t"
	CalStatistic statistic;
	double at;           // [s] of CAL_STATISTIC_AT
	double above, below; // outside of these a case is out of limits; -INFINITY, INFINITY: none
} CalPlanOutput;
/** Output 0 .. output_count - 1. */
CAL_API CalStatus cal_plan_output(const CalPlan *plan, int index, CalPlanOutput *output);

/** values[parameter_count] of case k, SI; for texts their number. */
CAL_API CalStatus cal_plan_values(const CalPlan *plan, int64_t k, double *values, CalError *error);
/** The setup of the model file with the values of case k in it. k < 0: as it stands. */
CAL_API CalStatus cal_plan_open_case(const CalPlan *plan, int64_t k, CalSetup **setup, CalError *error);

/** Takes samples of one signal, in the order of time, and keeps what an output asks for. Start with {0}. */
typedef struct CalStatisticAccumulator {
	int64_t count;
	double first, last, low, high, peak, time_of_low, time_of_high;
	double start, time;          // of the first and last sample
	double integral, square, at; // over time; value at the time of CAL_STATISTIC_AT
	int at_seen;
} CalStatisticAccumulator;
CAL_API void cal_statistic_add(CalStatisticAccumulator *accumulator, const CalPlanOutput *output, double t,
                               double value);
/** NaN where there was no sample, or none at the time. */
CAL_API double cal_statistic_value(const CalStatisticAccumulator *accumulator, const CalPlanOutput *output);

/* ---- what cases gave ------------------------------------------------------------------------ */

/** How a case ended; one line each: name, number, word in tables. */
#define CAL_CASE_LIST(X)                  \
	X(CAL_CASE_OK, 0, "ok")               \
	X(CAL_CASE_LIMIT, 1, "out of limits") \
	X(CAL_CASE_FAILED, 2, "failed")       \
	X(CAL_CASE_CRASHED, 3, "crashed")     \
	X(CAL_CASE_TIMEOUT, 4, "timed out")   \
	X(CAL_CASE_MISSING, 5, "not run")
typedef enum CalCaseStatus {
#define CAL_CASE_ENUM(name, value, text) name = (value),
	CAL_CASE_LIST(CAL_CASE_ENUM)
#undef CAL_CASE_ENUM
		CAL_CASE_COUNT
} CalCaseStatus;
CAL_API const char *cal_case_status_name(CalCaseStatus status); // NULL: there is none

typedef struct CalCaseResult {
	int64_t k;
	CalCaseStatus status;
	const char *message;   // why; of one that is ok what there is to doubt, or ""
	const double *outputs; // [output_count]; NULL: NaN
} CalCaseResult;

typedef struct CalCampaign CalCampaign;

/**
 * Opens the folder of a campaign for writing, makes it if it is not there. units[output_count] of the outputs (NULL: none).
 * A folder of another plan, model or version is refused (CAL_ERR_ARGUMENT). Any number of processes may do so at once. The
 * plan must outlive it.
 */
CAL_API CalStatus cal_campaign_open(const char *folder, const CalPlan *plan, const char *const *units,
                                    const CalAllocator *allocator, CalCampaign **campaign, CalError *error);
/** Opens it for reading and merging; the plan is the one that was stored there (cal_campaign_plan). */
CAL_API CalStatus cal_campaign_load(const char *folder, const CalAllocator *allocator, CalCampaign **campaign,
                                    CalError *error);
CAL_API void cal_campaign_close(CalCampaign *campaign); // accepts NULL
CAL_API const CalPlan *cal_campaign_plan(const CalCampaign *campaign);
CAL_API const char *cal_campaign_unit(const CalCampaign *campaign, int output);

/**
 * Reads all that was put so far, by anybody. Of several results of one case the lowest status counts, then the first message
 * by alphabet.
 */
CAL_API CalStatus cal_campaign_refresh(CalCampaign *campaign, CalError *error);
/** How case k ended, as of the last refresh and what was put here since. */
CAL_API CalCaseStatus cal_campaign_status(const CalCampaign *campaign, int64_t k);
CAL_API int64_t cal_campaign_count(const CalCampaign *campaign, CalCaseStatus status);
/** The same in full. message and outputs live until the next refresh; outputs is NULL where it is missing. */
CAL_API CalStatus cal_campaign_result(const CalCampaign *campaign, int64_t k, CalCaseResult *result);
/**
 * Appends a result; when it returns, the death of the process does not lose it. A place in the model file at the beginning
 * of the message is written as the plan names the file, so that results do not depend on where they were made.
 */
CAL_API CalStatus cal_campaign_put(CalCampaign *campaign, const CalCaseResult *result, CalError *error);

/**
 * Writes cases.csv and, where the library was built with HDF5, cases.h5 to the folder, of what the last refresh found.
 * The bytes depend on the results alone, not on who made them.
 */
CAL_API CalStatus cal_campaign_merge(const CalCampaign *campaign, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
