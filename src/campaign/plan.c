// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c — cal_plan_read() and what a plan says about itself (docs/sweep.md).
 *
 * The plan is read by the same machinery as model files. Its tree holds all memory; the model file is kept as text, from
 * which every case makes its own tree, and as a tree, in which targets are looked up.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/serializer.h"
#include "base/text_reader.h"
#include "campaign/plan.h"

enum { PLAN_VERSION = 1 };

typedef struct PlanInput {
	double version, cases, repeat, seed, sample;
	const char *title, *model;
	const TreeNode *design, *parameters, *outputs, *series;
} PlanInput;

static const char *design_word(int i) { return cal_design_name((CalDesign)i); }

static const Field plan_fields[] = {
	{"sweep", FIELD_NUMBER, offsetof(PlanInput, version), .flags = FIELD_REQUIRED, .doc = "version of the format, `1`"},
	{"title", FIELD_TEXT, offsetof(PlanInput, title), .doc = "for people"},
	{"define", FIELD_ANYTHING, .flags = FIELD_MAY_BE_EMPTY, .doc = "not read: a place for YAML anchors"},
	{"model", FIELD_FILE, offsetof(PlanInput, model), .flags = FIELD_REQUIRED | FIELD_AS_TEXT, .doc = "the model file"},
	{"design", FIELD_CHOICE, offsetof(PlanInput, design), .flags = FIELD_AS_TREE,
     .doc = "default `random`: [designs](#designs)", .word_at = design_word},
	{"cases", FIELD_POSITIVE, offsetof(PlanInput, cases), .doc = "number of cases; not for grids"},
	{"repeat", FIELD_POSITIVE, offsetof(PlanInput, repeat), .doc = "for a grid: cases per combination; default 1"},
	{"seed", FIELD_NOT_NEGATIVE, offsetof(PlanInput, seed), .doc = "integer, default 0: selects the random draws"},
	{"sample", FIELD_NOT_NEGATIVE, offsetof(PlanInput, sample), DIM_TIME,
     .doc = "time between the samples used for outputs, 0: every step; default: the interval of the "
            "model's first output, or every step"},
	{"parameters", FIELD_ITEMS, offsetof(PlanInput, parameters), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "what varies", .table = &plan_parameter_table},
	{"outputs", FIELD_ITEMS, offsetof(PlanInput, outputs), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "what is kept of every case", .table = &plan_output_table},
	{"series", FIELD_MAP, offsetof(PlanInput, series), .flags = FIELD_AS_TREE, .doc = "samples to keep of every case",
     .table = &plan_series_table},
};
const FieldTable plan_table = {FIELDS("plan", plan_fields), .doc = "The map at the top."};

typedef struct SeriesInput {
	const TreeNode *signals;
	double interval;
} SeriesInput;

static const Field series_fields[] = {
	{"signals", FIELD_SIGNALS, offsetof(SeriesInput, signals), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "as of `calder run`"},
	{"interval", FIELD_NOT_NEGATIVE, offsetof(SeriesInput, interval), DIM_TIME,
     .doc = "time between samples; default: that of the outputs"},
};
const FieldTable plan_series_table = {FIELDS("series", series_fields), .doc = "Samples to keep of every case."};

static const char *const design_names[CAL_DESIGN_COUNT] = {"grid", "random", "latin-hypercube", "sobol"};

const char *cal_design_name(CalDesign design) {
	return design >= 0 && design < CAL_DESIGN_COUNT ? design_names[design] : NULL;
}

bool plan_no_memory(Reader *r) {
	r->status = tree_error(r->error, tree_name(r->file->tree), NULL, CAL_ERR_MEMORY, "out of memory");
	return false;
}

/* ---- the head ----------------------------------------------------------------------------------- */

static bool read_design(Reader *r, const TreeNode *node, CalDesign *design) {
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < CAL_DESIGN_COUNT; i++) {
		suggestion_offer(&suggestion, design_names[i]);
		if (strcmp(suggestion.word, design_names[i]) == 0) {
			*design = (CalDesign)i;
			return true;
		}
	}
	return suggestion.best ? reader_unknown(r, node, "design", &suggestion)
	                       : reader_fail(r, node, "the designs are grid, random, latin-hypercube and sobol");
}

static bool check_whole(Reader *r, const TreeNode *root, const char *key, double value, double most) {
	return (value == floor(value) && value <= most) ||
	       reader_fail(r, tree_get(root, key), "\"%s\" must be a whole number, %.0f at most", key, most);
}

static bool read_head(Reader *r, CalPlan *plan, PlanInput *in) {
	const TreeNode *root = tree_root(plan->tree);
	*in = (PlanInput){.sample = -1, .repeat = 1, .title = ""};
	if (root->kind != TREE_MAP)
		return reader_fail(r, root, "not a plan: expected a map that starts with \"sweep: 1\"");
	if (!fields_read(r, root, &plan_table, in))
		return false;
	if (in->version != PLAN_VERSION)
		return reader_fail(r, tree_get(root, "sweep"), "plans of version %g are not known; this build reads version %d",
		                   in->version, PLAN_VERSION);
	plan->info.design = CAL_DESIGN_RANDOM;
	if (!check_whole(r, root, "cases", in->cases, 1e12) || !check_whole(r, root, "repeat", in->repeat, 1e12) ||
	    !check_whole(r, root, "seed", in->seed, 0x1p53) ||
	    (in->design && !read_design(r, in->design, &plan->info.design)))
		return false;
	plan->info.title = in->title;
	plan->info.seed = (uint64_t)in->seed;
	plan->info.sample = in->sample;
	return true;
}

/* ---- the model ---------------------------------------------------------------------------------- */

static bool keep_model_text(Reader *r, CalPlan *plan, const char *text, size_t length) {
	char *kept = reader_array(r, length + 1, 1);
	if (kept && length)
		memcpy(kept, text, length);
	plan->info.model_text = kept;
	plan->model_length = length;
	return kept != NULL;
}

static bool read_model(Reader *r, CalPlan *plan, const char *name, const char *text, size_t length) {
	char path[1024], *read = NULL;
	CalError error = {0};
	const TreeNode *node = tree_get(tree_root(plan->tree), "model");
	if (!fe_path_beside(tree_name(plan->tree), name, path, sizeof path))
		return reader_fail(r, node, "the name of the model file is too long");
	plan->info.model = name;
	plan->info.model_path = reader_text(r, "%s", path);
	if (!plan->info.model_path)
		return false;
	const CalStatus status = text ? CAL_OK : tree_text(path, &plan->allocator, &read, &length, &error);
	if (status != CAL_OK)
		return status == CAL_ERR_MEMORY ? plan_no_memory(r) : reader_fail(r, node, "%s", error.text);
	const bool kept = keep_model_text(r, plan, text ? text : read, length);
	memory_free(&plan->allocator, read);
	if (kept)
		r->status = tree_parse(plan->info.model_text, length, path, &plan->allocator, &plan->model, r->error);
	return kept && r->status == CAL_OK;
}

/* A hash of files; out of memory: it is not one of all of them. */
typedef struct Hash {
	uint64_t value;
	bool failed;
	const char *beside; // files are sought in its folder
	const CalAllocator *allocator;
} Hash;

static void hash_text(Hash *hash, const char *text, size_t length) {
	hash->value = serializer_hash(serializer_hash(hash->value, &length, sizeof length), text, length);
}

/* What is no file that can be read is for others to complain about. */
static void hash_file(Hash *hash, const char *name) {
	char path[1024], *text;
	size_t length;
	if (!name[0] || !fe_path_beside(hash->beside, name, path, sizeof path))
		return;
	const CalStatus status = tree_text(path, hash->allocator, &text, &length, NULL);
	hash->failed |= status == CAL_ERR_MEMORY;
	if (status != CAL_OK)
		return;
	hash_text(hash, text, length);
	memory_free(hash->allocator, text);
}

/* Keys of model files whose values are files. */
static bool names_file(const char *key) {
	return strcmp(key, "modal") == 0 || strcmp(key, "mesh") == 0 || strcmp(key, "library") == 0 ||
	       strcmp(key, "file") == 0;
}

static void hash_files(Hash *hash, const TreeNode *node) {
	for (int i = 0; node->kind != TREE_SCALAR && i < node->count; i++) {
		const TreeNode *item = node->items[i];
		const char *key = node->kind == TREE_MAP ? tree_key(node, i)->text : "";
		if (item->kind != TREE_SCALAR && strcmp(key, "run") != 0) // whose files are results
			hash_files(hash, item);
		else if (item->kind == TREE_SCALAR && names_file(key))
			hash_file(hash, item->text);
	}
}

static bool set_fingerprint(Reader *r, CalPlan *plan) {
	CalPlanInfo *info = &plan->info;
	Hash hash = {SERIALIZER_HASH_START, false, info->model_path, &plan->allocator};
	hash_text(&hash, cal_version(), strlen(cal_version()));
	hash_text(&hash, info->text, strlen(info->text));
	hash_text(&hash, info->model_text, plan->model_length);
	hash_files(&hash, tree_root(plan->model));
	for (int i = 0; i < info->parameter_count; i++)
		for (int k = 0; plan->parameters[i].texts && k < plan->parameters[i].value_count; k++)
			hash_file(&hash, plan->parameters[i].texts[k]);
	info->fingerprint = hash.value;
	return !hash.failed || plan_no_memory(r);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool read_series(Reader *r, const TreeNode *node, CalPlanSeries *series) {
	SeriesInput in = {0};
	reader_subject(r, "series", NULL);
	if (!node)
		return true;
	if (!fields_read(r, node, &plan_series_table, &in) || !read_list(r, in.signals, "signals"))
		return false;
	const char **signals = reader_array(r, (size_t)in.signals->count, sizeof *signals);
	for (int i = 0; signals && i < in.signals->count; i++)
		if (!read_text(r, in.signals->items[i], &signals[i]) || !plan_check_signal(r, in.signals->items[i], signals[i]))
			return false;
	*series = (CalPlanSeries){in.signals->count, signals, in.interval};
	return signals != NULL;
}

static bool read_plan(Reader *r, CalPlan *plan, const char *text, size_t length, const char *model,
                      size_t model_length) {
	PlanInput in;
	char *kept = reader_array(r, length + 1, 1);
	if (!kept)
		return false;
	memcpy(kept, text, length);
	plan->info.name = tree_name(plan->tree);
	plan->info.text = kept;
	if (!read_head(r, plan, &in) || !read_model(r, plan, in.model, model, model_length) ||
	    !plan_read_parameters(r, plan, in.parameters) ||
	    !plan_set_design(r, plan, tree_root(plan->tree), in.cases, in.repeat) ||
	    !plan_read_outputs(r, plan, in.outputs) || !read_series(r, in.series, &plan->info.series))
		return false;
	return set_fingerprint(r, plan);
}

CalStatus cal_plan_parse(const char *text, size_t length, const char *name, const char *model_text, size_t model_length,
                         const CalAllocator *allocator, CalPlan **plan, CalError *error) {
	Tree *tree;
	if (!plan || !text)
		return tree_error(error, "cal_plan_parse", NULL, CAL_ERR_ARGUMENT, "text or plan is NULL");
	*plan = NULL;
	const CalStatus status = tree_parse(text, length, name ? name : "plan", allocator, &tree, error);
	if (status != CAL_OK)
		return status;
	CalPlan *made = tree_array(tree, 1, sizeof *made);
	ModelFile *reading = tree_array(tree, 1, sizeof *reading); // a file of nothing but the tree: what a reader needs
	if (!made || !reading) {
		tree_destroy(tree);
		return tree_error(error, name ? name : "plan", NULL, CAL_ERR_MEMORY, "out of memory");
	}
	made->tree = reading->tree = tree;
	made->allocator = reading->allocator = allocator_or_default(allocator);
	Reader r = {.file = reading, .error = error, .page = "docs/sweep.md"};
	if (!read_plan(&r, made, text, length, model_text, model_length)) {
		cal_plan_destroy(made);
		return r.status;
	}
	*plan = made;
	return CAL_OK;
}

CalStatus cal_plan_read(const char *path, const CalAllocator *allocator, CalPlan **plan, CalError *error) {
	char *text;
	size_t length;
	if (!path || !plan)
		return tree_error(error, "cal_plan_read", NULL, CAL_ERR_ARGUMENT, "path or plan is NULL");
	*plan = NULL;
	CalStatus status = tree_text(path, allocator, &text, &length, error);
	if (status == CAL_OK) {
		const CalAllocator source = allocator_or_default(allocator);
		status = cal_plan_parse(text, length, path, NULL, 0, allocator, plan, error);
		memory_free(&source, text);
	}
	return status;
}

void cal_plan_destroy(CalPlan *plan) {
	if (!plan)
		return;
	tree_destroy(plan->model);
	tree_destroy(plan->tree); // the plan itself is in the tree's memory
}

/* ---- what it says ------------------------------------------------------------------------------- */

CalPlanInfo cal_plan_info(const CalPlan *plan) { return plan ? plan->info : (CalPlanInfo){0}; }

CalStatus cal_plan_parameter(const CalPlan *plan, int index, CalPlanParameter *parameter) {
	if (!plan || !parameter || index < 0 || index >= plan->info.parameter_count)
		return CAL_ERR_ARGUMENT;
	const PlanParameter *p = &plan->parameters[index];
	*parameter = (CalPlanParameter){.name = p->name,
	                                .unit = p->unit_text,
	                                .how = p->how,
	                                .texts = p->texts,
	                                .text_count = p->texts ? p->value_count : 0,
	                                .target_count = p->target_count,
	                                .targets = p->target_texts};
	return CAL_OK;
}

CalStatus cal_plan_output(const CalPlan *plan, int index, CalPlanOutput *output) {
	if (!plan || !output || index < 0 || index >= plan->info.output_count)
		return CAL_ERR_ARGUMENT;
	*output = plan->outputs[index].out;
	return CAL_OK;
}
