// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.c — `calder sweep`: runs the cases of a plan, wherever it is started, and merges what they gave.
 *
 * Which cases a process runs is said by options or, where there are none, by the launcher that started it. Cases whose
 * result is in the folder are not run again. Whoever finds that none is missing any more writes tables and report.
 */
#define _GNU_SOURCE // getopt_long, isatty, sched_getaffinity

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "output.h"
#include "campaign.h"

static const char help[] =
	"usage: calder sweep [OPTION]... PLAN\n"
	"       calder sweep --merge DIR\n"
	"\n"
	"Runs a model many times with other numbers in it, as PLAN says (docs/sweep.md). Started again, it resumes.\n"
	"  -o, --out DIR          folder of the results (default: the name of PLAN, .sweep for its ending)\n"
	"  -j, --jobs N           cases at a time (default: one for each core; 1 under mpirun or Slurm)\n"
	"      --case K           run case K only, from 0\n"
	"      --cases A:B        run cases A to B-1\n"
	"      --shard I/N        run every Nth case from case I on, I from 0;\n"
	"                         without these three, mpirun, srun and Slurm's job arrays assign cases to a process\n"
	"      --timeout S        a case that takes longer has failed\n"
	"      --no-code          refuse a model that names a shared object (library: ...) instead of running its code\n"
	"      --retry            run cases again that failed, crashed or took too long\n"
	"      --merge DIR        write the tables and the report of what is in DIR, complete or not\n"
	"  -l, --list, --dry-run  print the cases and run none\n"
	"      --strict           exit code 1 if a case failed or is out of limits\n"
	"      --json             the summary, or the list, as JSON\n"
	"  -q, --quiet            no progress and no summary\n"
	"In DIR: cases.csv, cases.h5 (parameters, outputs and status of all cases), report.html.\n"
	"Exit codes: 0 all cases that were asked for have been run, 1 not all well (--strict), 2 usage, 3 input or disk,\n"
	"128 + signal if interrupted.\n"
	"\n"
	"example: calder sweep examples/sweep/separation.yaml -o separation\n";

typedef struct CampaignOptions {
	const char *plan, *out, *merge;
	double jobs, timeout; // 0: default
	int64_t first, last;  // cases [first, last); last < 0: all
	Place place;          // from: NULL: by the environment
	bool retry, no_code, list, strict, json, quiet;
} CampaignOptions;

enum {
	OPTION_CASE = 256,
	OPTION_CASES,
	OPTION_SHARD,
	OPTION_TIMEOUT,
	OPTION_RETRY,
	OPTION_MERGE,
	OPTION_NO_CODE,
	OPTION_STRICT
};

static const struct option long_options[] = {
	{"out", required_argument, NULL, 'o'},
	{"output", required_argument, NULL, 'o'},
	{"jobs", required_argument, NULL, 'j'},
	{"case", required_argument, NULL, OPTION_CASE},
	{"cases", required_argument, NULL, OPTION_CASES},
	{"shard", required_argument, NULL, OPTION_SHARD},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"no-code", no_argument, NULL, OPTION_NO_CODE},
	{"retry", no_argument, NULL, OPTION_RETRY},
	{"merge", required_argument, NULL, OPTION_MERGE},
	{"list", no_argument, NULL, 'l'},
	{"dry-run", no_argument, NULL, 'l'},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"json", no_argument, NULL, 'J'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* ---- options ----------------------------------------------------------------------------------- */

static bool parse_positive(const char *text, double most, double *value) {
	char *end;
	*value = strtod(text, &end);
	return end != text && *end == 0 && *value > 0 && *value <= most;
}

static bool parse_whole(const char *text, const char **rest, int64_t *value) {
	char *end;
	errno = 0;
	*value = strtoll(text, &end, 10);
	*rest = end;
	return end != text && errno == 0 && *value >= 0 && *value < INT64_MAX;
}

static bool parse_case(const char *text, int64_t *first, int64_t *last) {
	const char *rest;
	const bool good = parse_whole(text, &rest, first) && *rest == 0;
	*last = good ? *first + 1 : -1;
	return good;
}

/* "A:B" */
static bool parse_range(const char *text, int64_t *first, int64_t *last) {
	const char *rest;
	return parse_whole(text, &rest, first) && *rest == ':' && parse_whole(rest + 1, &rest, last) && *rest == 0 &&
	       *last > *first;
}

static int set_value(CampaignOptions *options, int option, const char *value) {
	switch (option) {
	case 'j':
		return parse_positive(value, 4096, &options->jobs) && options->jobs == floor(options->jobs)
		           ? EXIT_OK
		           : say_usage("sweep", "--jobs takes a whole number from 1 to 4096, not '%s'", value);
	case OPTION_CASE:
		return parse_case(value, &options->first, &options->last)
		           ? EXIT_OK
		           : say_usage("sweep", "--case takes the number of a case, from 0, not '%s'", value);
	case OPTION_CASES:
		return parse_range(value, &options->first, &options->last)
		           ? EXIT_OK
		           : say_usage("sweep", "--cases takes A:B for cases A to B-1, not '%s'", value);
	case OPTION_SHARD:
		return place_parse(value, &options->place)
		           ? EXIT_OK
		           : say_usage("sweep", "--shard takes I/N with I from 0 to N-1, not '%s'", value);
	case OPTION_TIMEOUT:
		if (option_quantity("sweep", "timeout", value, "s", &options->timeout) != EXIT_OK)
			return EXIT_USAGE;
		return options->timeout > 0 && options->timeout <= 1e9
		           ? EXIT_OK
		           : say_usage("sweep", "--timeout takes a time above zero, not '%s'", value);
	default:
		return EXIT_USAGE;
	}
}

static int set_option(CampaignOptions *options, int option, const char *value) {
	switch (option) {
	case 'o':
		options->out = value;
		return EXIT_OK;
	case OPTION_MERGE:
		options->merge = value;
		return EXIT_OK;
	case OPTION_RETRY:
		options->retry = true;
		return EXIT_OK;
	case OPTION_NO_CODE:
		options->no_code = true;
		return EXIT_OK;
	case OPTION_STRICT:
		options->strict = true;
		return EXIT_OK;
	case 'l':
		options->list = true;
		return EXIT_OK;
	case 'J':
		options->json = true;
		return EXIT_OK;
	case 'q':
		options->quiet = true;
		return EXIT_OK;
	default:
		return set_value(options, option, value);
	}
}

/* Exit code, or -1 to continue. */
static int parse_options(CampaignOptions *options, int argc, char **argv) {
	*options = (CampaignOptions){.last = -1, .place = {0, 1, NULL}};
	for (int option; (option = getopt_long(argc, argv, "o:j:lqh", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		const int code =
			option == '?' ? option_wrong("sweep", argv, long_options) : set_option(options, option, optarg);
		if (code != EXIT_OK)
			return code;
	}
	if (options->merge)
		return optind == argc ? -1 : say_usage("sweep", "--merge DIR needs no plan: it is in DIR");
	if (argc - optind != 1)
		return say_usage("sweep", "name one plan file");
	options->plan = argv[optind];
	if (options->last >= 0 && options->place.from)
		return say_usage("sweep", "--shard goes with neither --case nor --cases");
	return -1;
}

static int cores(void) {
	cpu_set_t set;
	const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count > 0 ? count : 1;
}

/* "plans/arm.yaml" to "arm.sweep". */
static void default_folder(const char *plan, char *folder, size_t size) {
	const char *name = strrchr(plan, '/') ? strrchr(plan, '/') + 1 : plan;
	const char *dot = strrchr(name, '.');
	snprintf(folder, size, "%.*s.sweep", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
}

/* ---- the list ----------------------------------------------------------------------------------- */

typedef struct Range {
	int64_t first, last;
	Place place;
} Range;

static bool in_range(const Range *range, int64_t k) {
	return k >= range->first && k < range->last && k % range->place.count == range->place.index;
}

static void print_value(const CalPlanParameter *p, double value, bool json) {
	if (p->text_count && json)
		json_string(stdout, p->texts[(int)value]);
	else if (p->text_count)
		fputs(p->texts[(int)value], stdout);
	else if (json)
		json_number(stdout, value);
	else
		printf("%.9g", value);
}

static void print_case(const CalPlan *plan, int64_t k, const double *values, bool json) {
	CalPlanParameter p;
	printf(json ? "{\"case\": %lld" : "%lld", (long long)k);
	for (int i = 0; cal_plan_parameter(plan, i, &p) == CAL_OK; i++) {
		fputs(json ? ", " : "\t", stdout);
		if (json) {
			json_string(stdout, p.name);
			fputs(": ", stdout);
		}
		print_value(&p, values[i], json);
	}
	fputs(json ? "}" : "\n", stdout);
}

static int print_cases(const CalPlan *plan, const Range *range, bool json) {
	const CalPlanInfo info = cal_plan_info(plan);
	double *values = calloc((size_t)info.parameter_count + 1, sizeof *values);
	CalError error = {0};
	CalStatus status = values ? CAL_OK : CAL_ERR_MEMORY;
	const char *before = json ? "[\n" : "";
	CalPlanParameter p;
	fputs(json ? "" : "case", stdout);
	for (int i = 0; !json && cal_plan_parameter(plan, i, &p) == CAL_OK; i++)
		printf("\t%s%s%s%s", p.name, p.unit[0] ? " [" : "", p.unit, p.unit[0] ? "]" : "");
	fputs(json ? "" : "\n", stdout);
	for (int64_t k = range->first; k < range->last && status == CAL_OK; k++) {
		if (!in_range(range, k))
			continue;
		status = cal_plan_values(plan, k, values, &error);
		fputs(before, stdout);
		before = json ? ",\n" : "";
		if (status == CAL_OK)
			print_case(plan, k, values, json);
	}
	fputs(json ? "\n]\n" : "", stdout);
	free(values);
	return say_status(info.name, status, &error);
}

/* ---- the run ------------------------------------------------------------------------------------ */

static bool has_failed(CalCaseStatus status) { return status >= CAL_CASE_FAILED && status < CAL_CASE_MISSING; }

/* Cases that are ok and have something to doubt, which is then their message. */
static int64_t count_doubted(const CalCampaign *campaign, const Range *range) {
	const int64_t count = cal_plan_info(cal_campaign_plan(campaign)).case_count;
	int64_t doubted = 0;
	for (int64_t k = 0; k < count; k++) {
		CalCaseResult result;
		cal_campaign_result(campaign, k, &result);
		doubted += (!range || in_range(range, k)) && result.status == CAL_CASE_OK && result.message[0];
	}
	return doubted;
}

static void print_json(const CalCampaign *campaign, const char *folder) {
	fputs("{\"folder\": ", stdout);
	json_string(stdout, folder);
	printf(", \"cases\": %lld", (long long)cal_plan_info(cal_campaign_plan(campaign)).case_count);
	for (int i = 0; i < CAL_CASE_COUNT; i++)
		printf(", \"%s\": %lld", cal_case_status_name((CalCaseStatus)i),
		       (long long)cal_campaign_count(campaign, (CalCaseStatus)i));
	printf(", \"doubted\": %lld", (long long)count_doubted(campaign, NULL));
	printf(", \"complete\": %s}\n", cal_campaign_count(campaign, CAL_CASE_MISSING) ? "false" : "true");
}

static void print_summary(const CalCampaign *campaign, const char *folder) {
	enum { SHOWN = 5 };
	const int64_t count = cal_plan_info(cal_campaign_plan(campaign)).case_count;
	int64_t failed = 0;
	printf("%s: %lld case%s", folder, (long long)count, plural(count));
	for (int i = 0; i < CAL_CASE_COUNT; i++)
		if (cal_campaign_count(campaign, (CalCaseStatus)i))
			printf(", %lld %s", (long long)cal_campaign_count(campaign, (CalCaseStatus)i),
			       cal_case_status_name((CalCaseStatus)i));
	putchar('\n');
	for (int64_t k = 0; k < count; k++) {
		CalCaseResult result;
		cal_campaign_result(campaign, k, &result);
		if (has_failed(result.status) && failed++ < SHOWN)
			printf("  case %lld: %s\n", (long long)k, result.message);
	}
	if (failed > SHOWN)
		printf("  and %lld more\n", (long long)failed - SHOWN);
	const int64_t doubted = count_doubted(campaign, NULL);
	if (doubted > 0)
		printf("  %lld of the cases that are ok have something to DOUBT (docs/doubts.md): see their messages\n",
		       (long long)doubted);
}

static int merge(const CalCampaign *campaign, const char *folder) {
	CalError error = {0};
	const int code = say_status(folder, cal_campaign_merge(campaign, &error), &error);
	return code == EXIT_OK ? report_write(campaign, folder) : code;
}

static bool is_left(const CalCampaign *campaign, const Range *range, bool retry, int64_t k) {
	const CalCaseStatus status = cal_campaign_status(campaign, k);
	return in_range(range, k) && (status == CAL_CASE_MISSING || (retry && has_failed(status)));
}

/* What is to be run of a range: [*count], from malloc. */
static int64_t *cases_left(const CalCampaign *campaign, const Range *range, bool retry, int64_t *count) {
	*count = 0;
	for (int64_t k = range->first; k < range->last; k++)
		*count += is_left(campaign, range, retry, k);
	int64_t *list = malloc(((size_t)*count + 1) * sizeof *list), at = 0;
	for (int64_t k = range->first; list && k < range->last; k++)
		if (is_left(campaign, range, retry, k))
			list[at++] = k;
	return list;
}

static int run_cases(const CampaignOptions *options, const Range *range, CalCampaign *campaign, const char *folder,
                     int *ended_by) {
	const bool with_series = cal_plan_info(cal_campaign_plan(campaign)).series.signal_count > 0;
	char series[1100];
	int64_t count = 0;
	int64_t *cases = cases_left(campaign, range, options->retry, &count);
	if (!cases)
		return say_status(folder, CAL_ERR_MEMORY, NULL);
	snprintf(series, sizeof series, "%s/series", folder);
	if (with_series && mkdir(series, 0777) != 0 && errno != EEXIST) {
		say_error(series, strerror(errno));
		free(cases);
		return EXIT_INPUT;
	}
	const bool launched = range->place.from && !options->place.from; // the launcher shares the cores out
	const int jobs = options->jobs > 0 ? (int)options->jobs : launched ? 1 : cores();
	const PoolOptions pool = {.jobs = count > 0 && count < jobs ? (int)count : jobs,
	                          .timeout = options->timeout,
	                          .progress = !options->quiet && isatty(fileno(stderr)) && !getenv("CI"),
	                          .no_code = options->no_code,
	                          .cases = cases,
	                          .count = count,
	                          .series = with_series ? series : NULL};
	const int code = count > 0 ? process_pool_run(campaign, &pool, ended_by) : EXIT_OK;
	free(cases);
	return code;
}

/* Everything that needs the folder to be open. */
static int run_campaign(const CampaignOptions *options, const Range *range, CalCampaign *campaign, const char *folder) {
	int ended_by = 0;
	CalError error = {0};
	int code = run_cases(options, range, campaign, folder, &ended_by);
	if (code == EXIT_OK)
		code = say_status(folder, cal_campaign_refresh(campaign, &error), &error);
	const bool complete = cal_campaign_count(campaign, CAL_CASE_MISSING) == 0;
	if (code == EXIT_OK && complete)
		code = merge(campaign, folder);
	if (code != EXIT_OK)
		return code;
	if (options->json)
		print_json(campaign, folder);
	else if (!options->quiet && (complete || !range->place.from))
		print_summary(campaign, folder);
	if (ended_by) {
		fprintf(stderr, "calder sweep: ended by signal %d; the same command resumes from here\n", ended_by);
		return 128 + ended_by;
	}
	int64_t bad = 0;
	for (int64_t k = range->first; k < range->last; k++)
		bad += in_range(range, k) && cal_campaign_status(campaign, k) != CAL_CASE_OK;
	bad += count_doubted(campaign, range);
	return options->strict && bad ? EXIT_CHECK : EXIT_OK;
}

static int set_range(const CampaignOptions *options, const CalPlanInfo *info, Range *range) {
	*range = (Range){.last = info->case_count, .place = options->place};
	if (options->last >= 0) {
		range->first = options->first;
		range->last = options->last;
	} else if (!options->place.from && !options->list) {
		range->place = place_of_environment();
	}
	return range->last <= info->case_count
	           ? EXIT_OK
	           : say_usage("sweep", "%s has cases 0 to %lld", options->plan, (long long)info->case_count - 1);
}

/* The files of the folder that are replaced are not those that the cases are made of. */
static int spare_inputs(const CampaignOptions *options, const CalPlan *plan, const char *folder) {
	static const char *const names[] = {"cases.csv", "cases.h5", "report.html"};
	CalSetup *model = NULL;
	cal_plan_open_case(plan, -1, &model, NULL); // what is wrong with it is said elsewhere
	int code = EXIT_OK;
	for (size_t i = 0; i < sizeof names / sizeof *names && code == EXIT_OK; i++) {
		char path[1100];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		code = output_spares("sweep", (Written){path, "-o:"}, options->plan, "the plan");
		if (code == EXIT_OK)
			code = output_spares_model("sweep", (Written){path, "-o:"}, cal_plan_info(plan).model_path, model);
	}
	cal_setup_destroy(model);
	return code;
}

static int run_in_folder(const CampaignOptions *options, const CalPlan *plan, const Range *range, char **units) {
	char beside[1000];
	CalError error = {0};
	CalCampaign *campaign = NULL;
	default_folder(options->plan, beside, sizeof beside);
	const char *folder = options->out ? options->out : beside;
	int code = spare_inputs(options, plan, folder);
	if (code == EXIT_OK)
		code = case_check(plan, options->no_code, units);
	if (code == EXIT_OK) {
		const CalStatus status = cal_campaign_open(folder, plan, (const char *const *)units, NULL, &campaign, &error);
		const char *name = cal_plan_info(plan).name;
		code = say_status(strncmp(error.text, name, strlen(name)) == 0 ? name : folder, status, &error);
	}
	if (code == EXIT_OK && range->place.count > 1 && !options->quiet)
		fprintf(stderr, "calder sweep: %s: share %lld of %lld\n", range->place.from, (long long)range->place.index,
		        (long long)range->place.count);
	if (code == EXIT_OK)
		code = run_campaign(options, range, campaign, folder);
	cal_campaign_close(campaign);
	return code;
}

static int run_plan(const CampaignOptions *options, const CalPlan *plan) {
	const CalPlanInfo info = cal_plan_info(plan);
	Range range;
	int code = set_range(options, &info, &range);
	if (code != EXIT_OK || options->list)
		return code != EXIT_OK ? code : print_cases(plan, &range, options->json);
	char **units = calloc((size_t)info.output_count + 1, sizeof *units);
	code = units ? run_in_folder(options, plan, &range, units) : say_status(info.name, CAL_ERR_MEMORY, NULL);
	for (int i = 0; units && i < info.output_count; i++)
		free(units[i]);
	free(units);
	return code;
}

static int merge_folder(const CampaignOptions *options) {
	CalCampaign *campaign = NULL;
	CalError error = {0};
	int code = say_status(options->merge, cal_campaign_load(options->merge, NULL, &campaign, &error), &error);
	if (code == EXIT_OK)
		code = merge(campaign, options->merge);
	if (code == EXIT_OK && options->json)
		print_json(campaign, options->merge);
	else if (code == EXIT_OK && !options->quiet)
		print_summary(campaign, options->merge);
	if (code == EXIT_OK && options->strict &&
	    cal_campaign_count(campaign, CAL_CASE_OK) != cal_plan_info(cal_campaign_plan(campaign)).case_count)
		code = EXIT_CHECK;
	cal_campaign_close(campaign);
	return code;
}

int command_sweep(int argc, char **argv) {
	CampaignOptions options;
	CalPlan *plan = NULL;
	CalError error = {0};
	int code = parse_options(&options, argc, argv);
	if (code >= 0 || (!options.plan && !options.merge))
		return code;
	if (options.merge)
		return merge_folder(&options);
	code = say_status(options.plan, cal_plan_read(options.plan, NULL, &plan, &error), &error);
	if (code == EXIT_OK)
		code = run_plan(&options, plan);
	cal_plan_destroy(plan);
	return code;
}
