// SPDX-License-Identifier: Apache-2.0
/*
 * native_run.c — run settings: duration, method, steps, tolerances, what is written.
 */
#include <stdio.h>
#include <string.h>

#include "io/native.h"

typedef struct OutputInput {
	double interval;
	const TreeNode *signals;
} OutputInput;

static const Key output_keys[] = {
	{"interval", key_not_negative, offsetof(OutputInput, interval), DIM_TIME, 0},
	{"signals", key_node, offsetof(OutputInput, signals), DIM_NUMBER, 0},
};
const KeyTable output_table = KEY_TABLE("output", output_keys);

typedef struct RunInput {
	double duration, step, rtol, atol, min_step, max_step, max_steps;
	const TreeNode *method, *output;
} RunInput;

static const Key run_keys[] = {
	{"duration", key_not_negative, offsetof(RunInput, duration), DIM_TIME, KEY_REQUIRED},
	{"method", key_node, offsetof(RunInput, method), DIM_NUMBER, 0},
	{"step", key_positive, offsetof(RunInput, step), DIM_TIME, 0},
	{"rtol", key_positive, offsetof(RunInput, rtol), DIM_NUMBER, 0},
	{"atol", key_positive, offsetof(RunInput, atol), DIM_NUMBER, 0},
	{"min_step", key_positive, offsetof(RunInput, min_step), DIM_TIME, 0},
	{"max_step", key_positive, offsetof(RunInput, max_step), DIM_TIME, 0},
	{"max_steps", key_positive, offsetof(RunInput, max_steps), DIM_NUMBER, 0},
	{"output", key_node, offsetof(RunInput, output), DIM_NUMBER, KEY_MAY_BE_EMPTY},
};
const KeyTable run_table = KEY_TABLE("run", run_keys);

static bool read_method(Reader *r, const TreeNode *node, CalMethod *method) {
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	if (cal_method_find(suggestion.word, method) == 0)
		return true;
	for (int i = 0; i < CAL_METHOD_COUNT; i++)
		suggestion_offer(&suggestion, cal_method_name((CalMethod)i));
	if (suggestion.best)
		return reader_unknown(r, node, "method", &suggestion);
	char names[200] = "";
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		const size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", cal_method_name((CalMethod)i));
	}
	return reader_fail(r, node, "unknown method \"%.40s\"; the methods are %s", suggestion.word, names);
}

/* ---- signals ---------------------------------------------------------------------------------- */

static const char *const plain_signals[] = {"q", "u", "udot", "energy", "momentum"};

/* What stands before the joint's name in "reaction:JOINT", "q:JOINT", ...; 0: none of them. */
static size_t joint_prefix(const char *signal) {
	static const char *const prefixes[] = {"reaction:", "q:", "u:", "udot:"};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (strncmp(signal, prefixes[i], strlen(prefixes[i])) == 0)
			return strlen(prefixes[i]);
	}
	return 0;
}

static bool check_signal(Reader *r, const Sections *s, const TreeNode *node, const char *signal) {
	CalNodeId id;
	const JointRecord *joint;
	if (strncmp(signal, "node:", 5) == 0)
		return native_find_node(r, s, node, signal + 5, &id);
	if (joint_prefix(signal))
		return native_find_joint(r, node, signal + joint_prefix(signal), &joint);
	Suggestion suggestion = {.word = signal};
	for (size_t i = 0; i < sizeof plain_signals / sizeof plain_signals[0]; i++) {
		if (strcmp(signal, plain_signals[i]) == 0)
			return true;
		suggestion_offer(&suggestion, plain_signals[i]);
	}
	if (suggestion.best)
		return reader_unknown(r, node, "signal", &suggestion);
	return reader_fail(r, node,
	                   "unknown signal \"%.80s\"; write q, u, udot, q:JOINT, u:JOINT, udot:JOINT, energy, momentum, "
	                   "node:BODY/NODE or reaction:JOINT",
	                   signal);
}

static bool read_signals(Reader *r, const Sections *s, const TreeNode *node, CalRunSettings *run) {
	if (!read_list(r, node, "signals, e.g. [q, u, energy, \"node:arm/tip\"]"))
		return false;
	const char **signals = reader_array(r, (size_t)node->count, sizeof *signals);
	if (!signals)
		return false;
	for (int i = 0; i < node->count; i++) {
		if (!read_text(r, node->items[i], &signals[i]) || !check_signal(r, s, node->items[i], signals[i]))
			return false;
	}
	run->signals = signals;
	run->signal_count = node->count;
	return true;
}

/* ---- the section ------------------------------------------------------------------------------- */

static bool read_output(Reader *r, const Sections *s, const TreeNode *map, CalRunSettings *run) {
	OutputInput in = {0};
	if (!keys_read(r, map, &output_table, &in))
		return false;
	run->output_interval = in.interval;
	return !in.signals || read_signals(r, s, in.signals, run);
}

bool native_read_run(Reader *r, const Sections *s) {
	CalRunSettings *run = &r->file->run;
	RunInput in = {0};
	run->title = s->title ? s->title : "";
	run->method.method = CAL_METHOD_DOPRI5;
	reader_subject(r, "run", NULL);
	if (!s->run)
		return true;
	if (!keys_read(r, s->run, &run_table, &in) || (in.method && !read_method(r, in.method, &run->method.method)))
		return false;
	if (run->method.method != CAL_METHOD_DOPRI5 && !(in.step > 0))
		return reader_fail(r, in.method, "the method %s has a fixed step; give \"step\", e.g. 1 ms",
		                   cal_method_name(run->method.method));
	if (in.max_steps > 1e15)
		return reader_fail(r, tree_get(s->run, "max_steps"), "\"max_steps\" is too large; the most is 1e15");
	run->duration = in.duration;
	run->method.step = in.step;
	run->method.rtol = in.rtol;
	run->method.atol = in.atol;
	run->method.min_step = in.min_step;
	run->method.max_step = in.max_step;
	run->method.max_steps = (int64_t)in.max_steps;
	return !in.output || read_output(r, s, in.output, run);
}
