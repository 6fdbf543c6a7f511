// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_hdf5.c — the cases of a campaign as an HDF5 file (layout: docs/sweep.md).
 *
 * No times are noted in the file, neither by us nor by HDF5: the same results give the same bytes.
 */
#include "campaign/campaign.h"

#include "base/error.h"

#ifdef CALDER_WITH_HDF5

#include <math.h>

#include "base/memory.h"
#include "io/results/results_hdf5.h"

enum { CAMPAIGN_FILE_VERSION = 1 };

/* ---- attributes and datasets -------------------------------------------------------------------- */

static hid_t text_type(void) {
	const hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	H5Tset_cset(type, H5T_CSET_UTF8);
	return type;
}

/* count < 0: one value and not a list of them. */
static hid_t space_of(int64_t count) {
	const hsize_t size = count > 0 ? (hsize_t)count : 0;
	return count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
}

static bool put_attribute(hid_t object, const char *name, hid_t type, int64_t count, const void *values) {
	const hid_t space = space_of(count), made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	const bool done = made >= 0 && (count == 0 || H5Awrite(made, type, values) >= 0);
	H5Aclose(made);
	H5Sclose(space);
	return done;
}

static bool put_texts(hid_t object, const char *name, int64_t count, const char *const *texts) {
	const hid_t type = text_type();
	const bool done = put_attribute(object, name, type, count, texts);
	H5Tclose(type);
	return done;
}

static bool put_text(hid_t object, const char *name, const char *text) { return put_texts(object, name, -1, &text); }

/* A dataset over a space, which it closes; -1: it failed. */
static hid_t put_dataset(hid_t place, const char *name, hid_t file_type, hid_t type, hid_t space, const void *values) {
	const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_obj_track_times(create, false);
	hid_t made = H5Dcreate2(place, name, file_type, space, H5P_DEFAULT, create, H5P_DEFAULT);
	if (made >= 0 && H5Sget_simple_extent_npoints(space) > 0 &&
	    H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
		H5Dclose(made);
		made = -1;
	}
	H5Pclose(create);
	H5Sclose(space);
	return made;
}

static hid_t put_text_dataset(hid_t place, const char *name, int64_t count, const char *const *texts) {
	const hid_t type = text_type(), made = put_dataset(place, name, type, type, space_of(count), texts);
	H5Tclose(type);
	return made;
}

static hid_t put_matrix(hid_t place, const char *name, int64_t rows, int columns, const double *values) {
	const hsize_t size[2] = {(hsize_t)rows, (hsize_t)columns};
	return put_dataset(place, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, NULL), values);
}

static bool close_dataset(hid_t dataset, bool done) {
	if (dataset >= 0)
		H5Dclose(dataset);
	return dataset >= 0 && done;
}

/* ---- the tables --------------------------------------------------------------------------------- */

static bool put_head(hid_t file, const CalPlanInfo *info) {
	const int version = CAMPAIGN_FILE_VERSION;
	return put_text(file, "format", "calder-sweep") &&
	       put_attribute(file, "format_version", H5T_NATIVE_INT, -1, &version) &&
	       put_text(file, "software", "calder") && put_text(file, "software_version", cal_version()) &&
	       put_text(file, "title", info->title) && put_text(file, "design", cal_design_name(info->design)) &&
	       put_attribute(file, "seed", H5T_NATIVE_UINT64, -1, &info->seed) &&
	       put_attribute(file, "fingerprint", H5T_NATIVE_UINT64, -1, &info->fingerprint);
}

static bool put_source(hid_t file, const char *what, const char *name, const char *text) {
	const hid_t dataset = put_text_dataset(file, what, -1, &text);
	return close_dataset(dataset, dataset >= 0 && put_text(dataset, "name", name));
}

static bool put_parameters(hid_t file, const CalCampaign *campaign, double *values, const char **names) {
	const CalPlan *plan = campaign->plan;
	const int count = plan->info.parameter_count;
	for (int64_t k = 0; k < plan->info.case_count; k++)
		if (cal_plan_values(plan, k, values + k * count, NULL) != CAL_OK)
			return false;
	const hid_t dataset = put_matrix(file, "parameters", plan->info.case_count, count, values);
	bool done = dataset >= 0;
	for (int i = 0; i < count; i++)
		names[i] = plan->parameters[i].name;
	done = done && put_texts(dataset, "names", count, names);
	for (int i = 0; i < count; i++)
		names[i] = plan->parameters[i].unit_text;
	done = done && put_texts(dataset, "units", count, names);
	for (int i = 0; i < count; i++)
		names[i] = plan->parameters[i].how;
	return close_dataset(dataset, done && put_texts(dataset, "distributions", count, names));
}

/* What the numbers of parameters stand for whose values are texts. */
static bool put_choices(hid_t file, const CalPlan *plan) {
	const hid_t create = H5Pcreate(H5P_GROUP_CREATE);
	H5Pset_obj_track_times(create, false);
	const hid_t group = H5Gcreate2(file, "texts", H5P_DEFAULT, create, H5P_DEFAULT);
	bool done = group >= 0;
	for (int i = 0; i < plan->info.parameter_count && done; i++) {
		const PlanParameter *p = &plan->parameters[i];
		if (p->texts)
			done = close_dataset(put_text_dataset(group, p->name, p->value_count, p->texts), true);
	}
	H5Gclose(group);
	H5Pclose(create);
	return done;
}

static bool put_outputs(hid_t file, const CalCampaign *campaign, double *values, const char **names) {
	const CalPlan *plan = campaign->plan;
	const int count = plan->info.output_count;
	for (int64_t k = 0; k < plan->info.case_count; k++)
		for (int i = 0; i < count; i++)
			values[k * count + i] = campaign->cases[k].outputs ? campaign->cases[k].outputs[i] : (double)NAN;
	const hid_t dataset = put_matrix(file, "outputs", plan->info.case_count, count, values);
	bool done = dataset >= 0;
	for (int i = 0; i < count; i++)
		names[i] = plan->outputs[i].out.name;
	done = done && put_texts(dataset, "names", count, names) &&
	       put_texts(dataset, "units", count, (const char *const *)campaign->units);
	for (int i = 0; i < count; i++)
		names[i] = plan->outputs[i].out.signal;
	done = done && put_texts(dataset, "signals", count, names);
	for (int i = 0; i < count; i++)
		names[i] = cal_statistic_name(plan->outputs[i].out.statistic);
	return close_dataset(dataset, done && put_texts(dataset, "kept", count, names));
}

static bool put_status(hid_t file, const CalCampaign *campaign, int *status, const char **messages) {
	const int64_t count = campaign->plan->info.case_count;
	const char *names[CAL_CASE_COUNT];
	for (int i = 0; i < CAL_CASE_COUNT; i++)
		names[i] = cal_case_status_name((CalCaseStatus)i);
	for (int64_t k = 0; k < count; k++) {
		status[k] = (int)campaign->cases[k].status;
		messages[k] = campaign->cases[k].message;
	}
	const hid_t dataset = put_dataset(file, "status", H5T_STD_I32LE, H5T_NATIVE_INT, space_of(count), status);
	return close_dataset(dataset, dataset >= 0 && put_texts(dataset, "names", CAL_CASE_COUNT, names)) &&
	       close_dataset(put_text_dataset(file, "message", count, messages), true);
}

/* The same memory serves all tables, one after the other. */
static bool put_tables(hid_t file, const CalCampaign *campaign) {
	const CalPlanInfo *info = &campaign->plan->info;
	const int most = info->parameter_count > info->output_count ? info->parameter_count : info->output_count;
	const size_t cases = (size_t)info->case_count, columns = (size_t)most + 1;
	size_t size = 0;
	if (!size_mul(cases, columns, &size) || !size_mul(size, sizeof(double), &size))
		return false;
	double *values = memory_alloc(&campaign->allocator, size);
	int *status = memory_alloc(&campaign->allocator, cases * sizeof *status);
	const char **texts = memory_alloc(&campaign->allocator, (cases + columns) * sizeof *texts);
	const bool done = values && status && texts && put_parameters(file, campaign, values, texts) &&
	                  put_choices(file, campaign->plan) && put_outputs(file, campaign, values, texts) &&
	                  put_status(file, campaign, status, texts) &&
	                  put_source(file, "plan", campaign_last_part(info->name), info->text) &&
	                  put_source(file, "model", info->model, info->model_text);
	memory_free(&campaign->allocator, values);
	memory_free(&campaign->allocator, status);
	memory_free(&campaign->allocator, texts);
	return done;
}

CalStatus campaign_write_hdf5(const CalCampaign *campaign, const char *path, CalError *error) {
	Hdf5Turn turn;
	CrashSafe state;
	hdf5_enter(&turn);
	const hid_t create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_obj_track_times(create, false);
	H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
	const hid_t file = hdf5_create_whole(path, create, access, &state);
	bool done = file >= 0 && put_head(file, &campaign->plan->info) && put_tables(file, campaign);
	done = hdf5_close_whole(file, &state) && done;
	H5Pclose(create);
	H5Pclose(access);
	hdf5_leave(&turn);
	return done ? CAL_OK
	            : error_set(error, CAL_ERR_IO, "%.400s: cannot be written; is there room on the disk, and memory left?",
	                        path);
}

#else

CalStatus campaign_write_hdf5(const CalCampaign *campaign, const char *path, CalError *error) {
	(void)campaign;
	return error_set(error, CAL_ERR_UNSUPPORTED, "%.400s: this build writes no HDF5", path);
}

#endif
