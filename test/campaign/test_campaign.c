// SPDX-License-Identifier: Apache-2.0
/*
 * test_campaign.c — the folder of a campaign: results survive, torn records are dropped, others' folders are refused,
 * tables depend on the results alone.
 */
#define _POSIX_C_SOURCE 200809L // mkdtemp, truncate

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan_support.h"
#include "support/failing_allocator.h"

enum { CASES = 20 };

static char base[64]; // folder of all folders

static CalPlan *plan_with(const char *seed) {
	char head[80];
	snprintf(head, sizeof head, "cases: 20\nseed: %s", seed);
	return plan_of(head, "  m: {target: bodies.rod.mass, uniform: {min: 1 kg, max: 2 kg}}\n"
	                     "  how: {target: run.method, choice: [rk4, euler-cromer]}\n");
}

static const char *const units[] = {"rad", "rad"};

static CalCampaign *open_in(const char *name, const CalPlan *plan) {
	char path[128];
	CalCampaign *campaign = NULL;
	CalError error;
	snprintf(path, sizeof path, "%s/%s", base, name);
	if (cal_campaign_open(path, plan, units, NULL, &campaign, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return campaign;
}

/* A result that is a function of k, as those of cases are. */
static void put(CalCampaign *campaign, int64_t k) {
	const double outputs[2] = {sin((double)k), k == 3 ? NAN : 1.0 / (double)(k + 1)};
	const CalCaseResult result = {.k = k,
	                              .status = k == 3 ? CAL_CASE_FAILED : CAL_CASE_OK,
	                              .message = k == 3 ? "dir/m.yaml:5:3: error: \"no\", it said" : "",
	                              .outputs = outputs};
	CalError error;
	if (cal_campaign_put(campaign, &result, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static void path_of(char *path, size_t size, const char *name, const char *file) {
	snprintf(path, size, "%s/%s/%s", base, name, file);
}

/* The only shard of a folder. */
static void shard_path(char *path, size_t size, const char *name) {
	char folder[128];
	int count = 0;
	snprintf(folder, sizeof folder, "%s/%s", base, name);
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (strncmp(entry->d_name, "shard-", 6) == 0) {
			path_of(path, size, name, entry->d_name);
			count++;
		}
	closedir(dir);
	assert_int_equal(count, 1);
}

static off_t size_of(const char *path) {
	struct stat about;
	assert_int_equal(stat(path, &about), 0);
	return about.st_size;
}

static char *all_of(const char *name, const char *file, size_t *size) {
	char path[512];
	path_of(path, sizeof path, name, file);
	*size = (size_t)size_of(path);
	char *text = malloc(*size + 1);
	FILE *stream = fopen(path, "rb");
	assert_non_null(text);
	assert_non_null(stream);
	assert_int_equal(fread(text, 1, *size, stream), *size);
	text[*size] = 0;
	fclose(stream);
	return text;
}

static void same_file(const char *one, const char *two, const char *file) {
	size_t a, b;
	char *first = all_of(one, file, &a), *second = all_of(two, file, &b);
	assert_int_equal(a, b);
	assert_memory_equal(first, second, a);
	free(first);
	free(second);
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void results_are_read_back(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	CalCampaign *campaign = open_in("back", plan);
	CalCaseResult result;
	put(campaign, 5);
	put(campaign, 3);
	assert_int_equal(cal_campaign_status(campaign, 5), CAL_CASE_OK);
	cal_campaign_close(campaign);
	campaign = open_in("back", plan);
	assert_int_equal(cal_campaign_count(campaign, CAL_CASE_OK), 1);
	assert_int_equal(cal_campaign_count(campaign, CAL_CASE_FAILED), 1);
	assert_int_equal(cal_campaign_count(campaign, CAL_CASE_MISSING), CASES - 2);
	assert_int_equal(cal_campaign_result(campaign, 5, &result), CAL_OK);
	assert_true(result.outputs[0] == sin(5) && result.outputs[1] == 1.0 / 6);
	assert_int_equal(cal_campaign_result(campaign, 3, &result), CAL_OK);
	assert_string_equal(result.message, "m.yaml:5:3: error: \"no\", it said"); // without the folder
	assert_true(isnan(result.outputs[1]));
	assert_int_equal(cal_campaign_result(campaign, 4, &result), CAL_OK);
	assert_null(result.outputs);
	assert_int_equal(cal_campaign_result(campaign, CASES, &result), CAL_ERR_ARGUMENT);
	const CalCaseResult beyond = {.k = CASES};
	assert_int_equal(cal_campaign_put(campaign, &beyond, NULL), CAL_ERR_ARGUMENT);
	cal_campaign_close(campaign);
	cal_plan_destroy(plan);
}

/* Cut at every byte of the last record, the ones before stay, and the next writer continues after them. */
static void torn_records_are_dropped(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	char path[512];
	CalCampaign *campaign = open_in("torn", plan);
	put(campaign, 0);
	put(campaign, 1);
	shard_path(path, sizeof path, "torn");
	const off_t whole = size_of(path);
	put(campaign, 2);
	const off_t longer = size_of(path);
	cal_campaign_close(campaign);
	for (off_t size = longer - 1; size > whole; size--) {
		assert_int_equal(truncate(path, size), 0);
		campaign = open_in("torn", plan);
		assert_int_equal(cal_campaign_count(campaign, CAL_CASE_OK), 2);
		assert_int_equal(cal_campaign_status(campaign, 2), CAL_CASE_MISSING);
		cal_campaign_close(campaign);
	}
	campaign = open_in("torn", plan);
	put(campaign, 2);
	cal_campaign_close(campaign);
	assert_int_equal(size_of(path), longer);
	campaign = open_in("torn", plan);
	assert_int_equal(cal_campaign_count(campaign, CAL_CASE_OK), 3);
	cal_campaign_close(campaign);
	cal_plan_destroy(plan);
}

/* A bit that flips in the middle is seen; what stands before it is kept. */
static void checksums_are_checked(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	char path[512];
	CalCampaign *campaign = open_in("flip", plan);
	put(campaign, 0);
	shard_path(path, sizeof path, "flip");
	const off_t first = size_of(path);
	put(campaign, 1);
	cal_campaign_close(campaign);
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	fseek(file, (long)first + 30, SEEK_SET);
	const int byte = getc(file);
	fseek(file, (long)first + 30, SEEK_SET);
	putc(byte ^ 4, file);
	fclose(file);
	campaign = open_in("flip", plan);
	assert_int_equal(cal_campaign_status(campaign, 0), CAL_CASE_OK);
	assert_int_equal(cal_campaign_status(campaign, 1), CAL_CASE_MISSING);
	cal_campaign_close(campaign);
	cal_plan_destroy(plan);
}

/* Two writers at once have a file each; of two results of a case the better one counts. */
static void writers_do_not_meet(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	CalCampaign *one = open_in("two", plan), *two = open_in("two", plan);
	const CalCaseResult crashed = {.k = 7, .status = CAL_CASE_CRASHED, .message = "signal"};
	for (int64_t k = 0; k < CASES; k++)
		put(k % 2 ? one : two, k);
	assert_int_equal(cal_campaign_put(two, &crashed, NULL), CAL_OK);
	assert_int_equal(cal_campaign_refresh(one, NULL), CAL_OK);
	assert_int_equal(cal_campaign_count(one, CAL_CASE_MISSING), 0);
	assert_int_equal(cal_campaign_status(one, 7), CAL_CASE_OK);
	assert_int_equal(cal_campaign_count(one, CAL_CASE_OK), CASES - 1);
	cal_campaign_close(one);
	cal_campaign_close(two);
	cal_plan_destroy(plan);
}

static void tables_depend_on_results_alone(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	CalCampaign *campaign = open_in("forth", plan);
	for (int64_t k = 0; k < CASES; k++)
		put(campaign, k);
	assert_int_equal(cal_campaign_merge(campaign, NULL), CAL_OK);
	cal_campaign_close(campaign);
	for (int part = 1; part >= 0; part--) { // backwards, by two
		campaign = open_in("aback", plan);
		for (int64_t k = CASES - 1; k >= 0; k--)
			if (k % 2 == part)
				put(campaign, k);
		cal_campaign_close(campaign);
	}
	cal_plan_destroy(plan);
	char path[128];
	CalError error;
	snprintf(path, sizeof path, "%s/aback", base);
	if (cal_campaign_load(path, NULL, &campaign, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_string_equal(cal_campaign_unit(campaign, 1), "rad");
	assert_int_equal(cal_campaign_merge(campaign, NULL), CAL_OK);
	cal_campaign_close(campaign);
	same_file("forth", "aback", "cases.csv");
#ifdef CALDER_WITH_HDF5
	same_file("forth", "aback", "cases.h5");
#endif
	size_t size;
	char *text = all_of("forth", "cases.csv", &size);
	assert_non_null(strstr(text, "case,status,m [kg],how,angle final [rad],angle max [rad],message\n0,ok,1."));
	assert_non_null(strstr(text, ",nan,\"m.yaml:5:3: error: \"\"no\"\", it said\"\n"));
	free(text);
}

static void other_campaigns_are_refused(void **state) {
	(void)state;
	CalPlan *one = plan_with("1"), *two = plan_with("2");
	CalCampaign *campaign = open_in("mine", one);
	CalError error;
	char path[128];
	cal_campaign_close(campaign);
	campaign = NULL;
	snprintf(path, sizeof path, "%s/mine", base);
	assert_int_equal(cal_campaign_open(path, two, units, NULL, &campaign, &error), CAL_ERR_ARGUMENT);
	assert_null(campaign);
	assert_non_null(strstr(error.text, "dir/p.yaml has changed since the campaign in this folder began"));
	assert_true(cal_campaign_load(base, NULL, &campaign, &error) < 0);
	assert_non_null(strstr(error.text, "not the folder of a campaign"));
	cal_plan_destroy(one);
	cal_plan_destroy(two);
}

static void limits_have_the_unit_of_the_signal(void **state) {
	(void)state;
	static const char text[] = "sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {}\noutputs:\n"
							   "  a: {signal: 'q:hinge', below: 5 mm}\n";
	CalPlan *plan = NULL;
	CalCampaign *campaign = NULL;
	CalError error;
	char path[128];
	snprintf(path, sizeof path, "%s/units", base);
	assert_int_equal(plan_parse(text, NULL, &plan, &error), CAL_OK);
	assert_int_equal(cal_campaign_open(path, plan, units, NULL, &campaign, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "dir/p.yaml:6:3: error: output \"a\": a limit has not the unit of the signal"));
	cal_plan_destroy(plan);
}

/* Words are those of the catalogue; the rest of a name is found in the simulation of each case. */
static void signals_are_of_the_catalogue(void **state) {
	(void)state;
	static const char text[] = "sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {}\noutputs:\n"
							   "  a: {signal: 'velocty:arm.vx'}\n";
	CalPlan *plan = NULL;
	CalError error;
	assert_int_equal(plan_parse(text, NULL, &plan, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, "p.yaml:6:15: error: output \"a\": unknown signal \"velocty\"; did you mean \"velocity\"?"))
		fail_msg("%s", error.text);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Tables that lack memory are reported as files that cannot be written. */
static void every_allocation_may_fail(void **state) {
	(void)state;
	CalPlan *plan = plan_with("1");
	char path[128];
	snprintf(path, sizeof path, "%s/memory", base);
	for (int load = 0; load < 2; load++)
		for (long k = 1;; k++) {
			FailingAllocator counter = {.fail_at = k};
			const CalAllocator allocator = failing_allocator(&counter);
			const CalCaseResult result = {.k = 2, .status = CAL_CASE_OK};
			CalCampaign *campaign = NULL;
			CalStatus status = load ? cal_campaign_load(path, &allocator, &campaign, NULL)
			                        : cal_campaign_open(path, plan, units, &allocator, &campaign, NULL);
			if (status == CAL_OK)
				status = cal_campaign_put(campaign, &result, NULL);
			if (status == CAL_OK)
				status = cal_campaign_merge(campaign, NULL);
			cal_campaign_close(campaign);
			assert_int_equal(counter.live, 0);
			if (status == CAL_OK)
				break;
			assert_true(status == CAL_ERR_MEMORY || status == CAL_ERR_IO);
			assert_true(k < 10000);
		}
	cal_plan_destroy(plan);
}

static int make_base(void **state) {
	(void)state;
	snprintf(base, sizeof base, "calder_sweep_XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static void remove_all(const char *path) {
	DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
		char inner[512];
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		if (unlink(inner) != 0)
			remove_all(inner);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static int remove_base(void **state) {
	(void)state;
	remove_all(base);
	return 0;
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_read_back),
		cmocka_unit_test(torn_records_are_dropped),
		cmocka_unit_test(checksums_are_checked),
		cmocka_unit_test(writers_do_not_meet),
		cmocka_unit_test(tables_depend_on_results_alone),
		cmocka_unit_test(other_campaigns_are_refused),
		cmocka_unit_test(limits_have_the_unit_of_the_signal),
		cmocka_unit_test(signals_are_of_the_catalogue),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, make_base, remove_base);
}
