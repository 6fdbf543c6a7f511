// SPDX-License-Identifier: Apache-2.0
/*
 * branches.c — see branches.h. The cut is that of a run with as many threads as branches.
 */
#include "branches.h"

#include <string.h>

bool branches_parse(double value, int *workers) {
	*workers = value >= 1 && value <= BRANCHES_MOST ? (int)value : 0;
	return *workers == value && *workers > 0;
}

bool cross_loops_parse(const char *word, CalCrossLoops *cross_loops) {
	for (CalCrossLoops k = CAL_CROSS_LOOPS_AUTO; cal_cross_loops_name(k); k++) {
		if (strcmp(word, cal_cross_loops_name(k)) == 0) {
			*cross_loops = k;
			return true;
		}
	}
	return false;
}

static CalStatus create_branches(const CalModel *model, BranchesAsked asked, CalBranches **branches, CalError *error) {
	const CalBranchOptions options = {
		.branches = asked.workers, .threads = asked.workers, .cross_loops = asked.cross_loops, .not_pinned = 1};
	return cal_branches_create(model, &options, branches, error);
}

/* Flops of all branches together: with what columns and joining add to those of the model. */
static double work_of_all(const CalBranches *branches) {
	double sum = 0;
	for (int k = 0; k < cal_branches_count(branches); k++) {
		CalBranchInfo info;
		if (cal_branches_info(branches, k, &info) == CAL_OK)
			sum += info.flops;
	}
	return sum;
}

static const char *body_name(const CalModel *model, int index) {
	CalBodyInfo body;
	return cal_model_body(model, index, &body) == CAL_OK ? body.name : "";
}

/* How its inertia and bias force reach its parent branch. */
static const char *way_of(const CalBranchInfo *info) {
	return info->parent < 0 ? "-" : info->decoupled ? "joined" : "sequential";
}

static void print_branch(const CalModel *model, const CalBranches *branches, int index, double all, FILE *out) {
	CalBranchInfo info;
	char on[16] = "ground";
	if (cal_branches_info(branches, index, &info) != CAL_OK)
		return;
	if (info.parent >= 0)
		snprintf(on, sizeof on, "%d", info.parent);
	fprintf(out, "  %6d  %9s  %-20s %6d %6d %6d  %5.1f %%  %-10s %6d\n", index, on, body_name(model, info.first_body),
	        info.bodies, info.dofs, info.loops, 100 * info.flops / all, way_of(&info), info.thread);
}

CalStatus branches_print(const CalModel *model, BranchesAsked asked, FILE *out, CalError *error) {
	CalBranches *branches;
	CalStatus status = create_branches(model, asked, &branches, error);
	if (status != CAL_OK)
		return status;
	const int count = cal_branches_count(branches);
	if (count <= 1) {
		fprintf(out, "  branches one for %d %s: a partition would not be faster\n", asked.workers,
		        asked.workers == 1 ? "worker" : "workers");
	} else {
		fprintf(out, "  branches %d for %d workers, predicted speedup %.2f%s\n", count, asked.workers,
		        cal_branches_speedup(branches), cal_branches_cross_loops(branches) ? ", loops span branches" : "");
		fprintf(out, "  %6s  %9s  %-20s %6s %6s %6s  %7s  %-10s %6s\n", "branch", "parent", "first body", "bodies",
		        "dof", "loops", "work", "way", "thread");
		const double all = work_of_all(branches);
		for (int k = 0; k < count; k++)
			print_branch(model, branches, k, all, out);
	}
	cal_branches_destroy(branches);
	return CAL_OK;
}

static void json_branch(const CalModel *model, const CalBranches *branches, int index, double all, FILE *out) {
	CalBranchInfo info;
	if (cal_branches_info(branches, index, &info) != CAL_OK)
		return;
	fprintf(out, "%s\n        {\"parent\": ", index ? "," : "");
	if (info.parent >= 0)
		fprintf(out, "%d", info.parent);
	else
		fputs("null", out);
	fputs(", \"first_body\": ", out);
	json_string(out, body_name(model, info.first_body));
	fprintf(out, ", \"bodies\": %d, \"dof\": %d, \"loops\": %d, \"work\": ", info.bodies, info.dofs, info.loops);
	json_number(out, info.flops / all);
	fprintf(out, ", \"way\": %s, \"thread\": %d}",
	        info.parent < 0  ? "null"
	        : info.decoupled ? "\"joined\""
	                         : "\"sequential\"",
	        info.thread);
}

CalStatus branches_json(const CalModel *model, BranchesAsked asked, FILE *out, CalError *error) {
	CalBranches *branches;
	CalStatus status = create_branches(model, asked, &branches, error);
	if (status != CAL_OK)
		return status;
	const int count = cal_branches_count(branches);
	fprintf(out, "{\"workers\": %d, \"partitioned\": %s, \"cross_loops\": %s, \"predicted_speedup\": ", asked.workers,
	        count > 1 ? "true" : "false", cal_branches_cross_loops(branches) ? "true" : "false");
	json_number(out, cal_branches_speedup(branches));
	fputs(", \"predicted_work\": ", out);
	json_number(out, cal_branches_work(branches));
	fputs(", \"list\": [", out);
	const double all = work_of_all(branches);
	for (int k = 0; k < count; k++)
		json_branch(model, branches, k, all, out);
	fputs("]}", out);
	cal_branches_destroy(branches);
	return CAL_OK;
}
