// SPDX-License-Identifier: Apache-2.0
/*
 * golden.c — cal_golden_run(): one case of schema golden-mbd-1 read, run and compared (docs/golden.md).
 *
 * What the library cannot do yet is a skip that names the feature (or repeats what the library said), never
 * a pass. A case that cannot be read, does not compile, stops in the numerics or compares nothing is a failure.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"

static void append_feature(char *text, size_t size, const char *feature) {
	if (strstr(text, feature))
		return;
	const size_t used = strlen(text);
	snprintf(text + used, size - used, "%s%s", used ? ", " : "", feature);
}

static int joint_dofs(const TreeNode *body) {
	const TreeNode *elements = golden_elements(body);
	int sum = 0;
	for (int i = 0; elements && i < elements->count && sum < 1000; i++) {
		const TreeNode *type = tree_get(elements->items[i], "type");
		if (type && type->kind == TREE_SCALAR && golden_element_nu(type->text) > 0)
			sum += golden_element_nu(type->text);
	}
	return sum;
}

/* What the case needs and the library lacks, as a list for people. */
static void missing_features(const TreeNode *root, char *text, size_t size) {
	const TreeNode *model = tree_get(root, "model"), *bodies = tree_get(model, "bodies");
	text[0] = 0;
	for (int i = 0; bodies && i < bodies->count; i++) {
		if (joint_dofs(bodies->items[i]) > CAL_JOINT_MAX_DOF)
			append_feature(text, size, "joints with more than six degrees of freedom");
	}
}

static CalStatus run_kind(GoldenCase *c, const char *kind) {
	CalStatus status = golden_describe(c);
	if (status == CAL_OK && strcmp(kind, "state") == 0)
		status = golden_run_state(c);
	else if (status == CAL_OK && strcmp(kind, "trajectory") == 0)
		status = golden_run_trajectory(c);
	else if (status == CAL_OK && strcmp(kind, "impulse") == 0)
		status = golden_run_impulse(c);
	else if (status == CAL_OK)
		status = golden_fail(c, tree_get(c->root, "kind"), "unknown kind of case");
	cal_desc_destroy(c->desc);
	return status;
}

static void set_verdict(const GoldenTally *tally, CalGoldenResult *result) {
	result->worst = tally->worst;
	result->tolerance = tally->tolerance;
	result->bits = tally->bits;
	snprintf(result->what, sizeof result->what, "%s", tally->count ? tally->what : "nothing to compare");
	result->verdict = tally->count && tally->ratio <= 1 ? CAL_GOLDEN_OK : CAL_GOLDEN_FAIL;
}

static CalStatus solve_tree(GoldenCase *c, CalGoldenResult *result) {
	const char *schema, *name, *kind;
	CalStatus status = golden_text(c, tree_get(c->root, "schema"), "", &schema);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(c->root, "name"), NULL, &name);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(c->root, "kind"), NULL, &kind);
	if (status == CAL_OK && strcmp(schema, "golden-mbd-1") != 0)
		status = golden_fail(c, c->root, "the schema is not \"golden-mbd-1\"");
	if (status != CAL_OK)
		return status;
	snprintf(result->name, sizeof result->name, "%s", name);
	missing_features(c->root, result->what, sizeof result->what);
	if (result->what[0]) {
		result->verdict = CAL_GOLDEN_SKIP;
		result->worst = 0;
		return CAL_OK;
	}
	status = run_kind(c, kind);
	if (status == CAL_OK)
		set_verdict(&c->tally, result);
	if (status != CAL_ERR_UNSUPPORTED)
		return status;
	result->verdict = CAL_GOLDEN_SKIP;
	result->worst = 0;
	snprintf(result->what, sizeof result->what, "%.*s", (int)sizeof result->what - 1, c->error.text);
	return CAL_OK;
}

/* The last part of a path without its ending. */
static void name_from_path(const char *path, char *name, size_t size) {
	const char *slash = strrchr(path, '/');
	snprintf(name, size, "%s", slash ? slash + 1 : path);
	char *dot = strrchr(name, '.');
	if (dot && dot != name)
		*dot = 0;
}

CalStatus cal_golden_run(const char *path, CalGoldenResult *result) {
	if (!path || !result)
		return CAL_ERR_ARGUMENT;
	GoldenCase c = {0};
	*result = (CalGoldenResult){.verdict = CAL_GOLDEN_FAIL, .worst = INFINITY};
	name_from_path(path, result->name, sizeof result->name);
	CalStatus status = tree_read(path, NULL, &c.tree, &c.error);
	if (status == CAL_OK) {
		c.root = tree_root(c.tree);
		status = solve_tree(&c, result);
		tree_destroy(c.tree);
	}
	if (status == CAL_OK)
		return CAL_OK;
	result->verdict = CAL_GOLDEN_FAIL;
	result->worst = INFINITY;
	snprintf(result->what, sizeof result->what, "%.*s", (int)sizeof result->what - 1, c.error.text);
	// Numerics and models that do not compile are verdicts on the library, not on the file.
	return status > 0 || status == CAL_ERR_MODEL ? CAL_OK : status;
}
