// SPDX-License-Identifier: Apache-2.0
/*
 * plan_target.c — the places in the model file that a parameter changes.
 */
#include <stdio.h>
#include <string.h>

#include "campaign/plan.h"

/* "bodies.boom.mass" at its dots. */
static bool split_steps(Reader *r, const TreeNode *node, PlanTarget *target) {
	char *text = reader_text(r, "%s", node->text);
	size_t count = 1;
	for (const char *c = node->text; *c; c++)
		count += *c == '.';
	const char **steps = reader_array(r, count, sizeof *steps);
	if (!text || !steps)
		return false;
	target->text = node->text;
	target->steps = steps;
	for (char *at = text; at; target->step_count++) {
		char *dot = strchr(at, '.');
		steps[target->step_count] = at;
		if (dot)
			*dot = 0;
		at = dot ? dot + 1 : NULL;
	}
	return true;
}

/* [bodies, "a.b", mass] */
static bool list_steps(Reader *r, const TreeNode *node, PlanTarget *target) {
	const char **steps = reader_array(r, (size_t)node->count, sizeof *steps);
	const char *text = "";
	if (!steps)
		return false;
	for (int i = 0; i < node->count; i++) {
		if (!read_text(r, node->items[i], &steps[i]))
			return false;
		text = reader_text(r, "%s%s%s", text, i ? "." : "", steps[i]);
		if (!text)
			return false;
	}
	target->text = text;
	target->steps = steps;
	target->step_count = node->count;
	return true;
}

/* Where the path ends too early: what was meant, perhaps. */
static bool no_such_place(Reader *r, const CalPlan *plan, const TreeNode *node, const PlanTarget *target, int reached) {
	int unused;
	const TreeNode *there = tree_find(tree_root(plan->model), target->steps, reached, &unused);
	Suggestion suggestion = {.word = target->steps[reached]};
	char hint[128];
	for (int i = 0; there->kind != TREE_SCALAR && i < there->count; i++) {
		const TreeNode *name = there->kind == TREE_MAP ? tree_key(there, i) : tree_get(there->items[i], "name");
		if (name && name->kind == TREE_SCALAR)
			suggestion_offer(&suggestion, name->text);
	}
	return reader_fail(r, node, "target \"%.120s\": there is no \"%.60s\" %s%.60s%s in %.120s%s", target->text,
	                   target->steps[reached], reached ? "in \"" : "at the top",
	                   reached ? target->steps[reached - 1] : "", reached ? "\"" : "", plan->info.model,
	                   suggestion_text(&suggestion, hint, sizeof hint));
}

/* What is to be added or multiplied must be a number. */
static bool check_base(Reader *r, const CalPlan *plan, const TreeNode *node, const PlanParameter *p,
                       const PlanTarget *target) {
	double value;
	Unit unit;
	char message[200];
	if (p->apply == APPLY_SET)
		return true;
	if (!quantity_parse_any(target->base, &value, &unit, message, sizeof message))
		return reader_fail(r, node, "target \"%.120s\" is \"%.60s\" in %.120s, which cannot be added to or scaled: %s",
		                   target->text, target->base, plan->info.model, message);
	if (p->apply == APPLY_ADD && !unit_is_none(p->unit) && !unit_is_none(unit) && !unit_same(p->unit, unit))
		return reader_fail(r, node, "target \"%.120s\" is \"%.60s\" in %.120s: %s cannot be added to that",
		                   target->text, target->base, plan->info.model, p->unit_text);
	return true;
}

static bool find_target(Reader *r, const CalPlan *plan, const TreeNode *node, const PlanParameter *p,
                        PlanTarget *target) {
	int reached;
	const TreeNode *there = tree_find(tree_root(plan->model), target->steps, target->step_count, &reached);
	if (!there)
		return no_such_place(r, plan, node, target, reached);
	if (there->kind != TREE_SCALAR)
		return reader_fail(r, node,
		                   "target \"%.120s\" is a %s in %.120s, not a single value; continue the path with %s",
		                   target->text, there->kind == TREE_MAP ? "map" : "list", plan->info.model,
		                   there->kind == TREE_MAP ? "one of its keys" : "the place of an item, from 0");
	target->base = there->text;
	target->shared = strcmp(target->steps[0], "define") == 0;
	return check_base(r, plan, node, p, target);
}

bool plan_read_targets(Reader *r, const CalPlan *plan, const TreeNode *node, PlanParameter *p) {
	const bool several = node->kind == TREE_LIST;
	const int count = several ? node->count : 1;
	p->targets = reader_array(r, (size_t)count, sizeof *p->targets);
	p->target_texts = reader_array(r, (size_t)count, sizeof *p->target_texts);
	if (!p->targets || !p->target_texts)
		return false;
	for (int i = 0; i < count; i++) {
		const TreeNode *item = several ? node->items[i] : node;
		PlanTarget *target = &p->targets[i];
		if (item->kind == TREE_MAP || (item->kind == TREE_LIST && item->count == 0))
			return reader_fail(
				r, item,
				"a target is a path in the model file such as bodies.boom.mass; where names hold dots, a "
				"list of a list: [[bodies, \"boom.1\", mass]]");
		if (!(item->kind == TREE_LIST ? list_steps(r, item, target) : split_steps(r, item, target)) ||
		    !find_target(r, plan, item, p, target))
			return false;
		p->target_texts[i] = target->text;
	}
	p->target_count = count;
	return true;
}
