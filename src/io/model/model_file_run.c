// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_run.c — run settings: duration, method, steps, tolerances, what is written.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/model/model_file.h"

typedef struct OutputInput {
	double interval;
	const TreeNode *signals;
	const char *name, *file;
} OutputInput;

static const Field output_keys[] = {
	{"interval", FIELD_NOT_NEGATIVE, offsetof(OutputInput, interval), DIM_TIME, .doc = "default 0: every step"},
	{"signals", FIELD_SIGNALS, offsetof(OutputInput, signals), .flags = FIELD_AS_TREE,
     .doc = "default the set that the program chooses"},
	{"name", FIELD_TEXT, offsetof(OutputInput, name),
     .doc = "of the stream in the file; default `main`, `stream2`, `stream3` and so on"},
	{"file", FIELD_TEXT, offsetof(OutputInput, file),
     .doc = "where it is written, from the folder in which the program runs: `.h5` is HDF5, which "
            "several outputs may share, anything else CSV; default: where the options of the program "
            "say, or nowhere"},
};
const FieldTable output_table = {FIELDS("output", output_keys), .doc = "Signals that are written at one rate."};

typedef struct RunInput {
	double duration, step, rtol, atol, min_step, max_step, max_steps;
	const TreeNode *method, *projection, *threads, *branches, *assemble, *output;
} RunInput;

static const char *method_word(int i) { return i < CAL_METHOD_COUNT ? cal_method_name((CalMethod)i) : NULL; }

static const Field run_keys[] = {
	{"duration", FIELD_NOT_NEGATIVE, offsetof(RunInput, duration), DIM_TIME, .flags = FIELD_REQUIRED,
     .doc = "simulated time"},
	{"method", FIELD_CHOICE, offsetof(RunInput, method), .flags = FIELD_AS_TREE,
     .doc = "default `dopri5`, which is adaptive; the others have a fixed step. `implicit`: implicit in "
            "springs, dampers and modes, order 1; `implicit-midpoint`: the same, order 2",
     .word_at = method_word},
	{"step", FIELD_POSITIVE, offsetof(RunInput, step), DIM_TIME,
     .doc = "required for a fixed step; the first step of an adaptive method"},
	{"rtol", FIELD_POSITIVE, offsetof(RunInput, rtol),
     .doc = "relative local error of an adaptive method; default 1e-9"},
	{"atol", FIELD_POSITIVE, offsetof(RunInput, atol), .doc = "absolute local error; default 1e-12"},
	{"min_step", FIELD_POSITIVE, offsetof(RunInput, min_step), DIM_TIME, .doc = "the run stops with an error below it"},
	{"max_step", FIELD_POSITIVE, offsetof(RunInput, max_step), DIM_TIME,
     .doc = "of an adaptive method; default none, and where a `when` of [events](#event) reads an "
            "output of a device, a hundredth of `duration`"},
	{"max_steps", FIELD_POSITIVE, offsetof(RunInput, max_steps), .doc = "most steps between two outputs"},
	{"projection", FIELD_WHOLE, offsetof(RunInput, projection), .flags = FIELD_AS_TREE,
     .doc = "steps from one projection on the [loops](loops.md#how-it-is-solved) to the next; default "
            "1. With more than 1 give the loops a [stabilisation](#stabilisation)",
     .words = FIELD_WORDS("none")},
	{"threads", FIELD_WHOLE, offsetof(RunInput, threads), .flags = FIELD_AS_TREE,
     .doc = "that share the work of a step; default 1. [When it helps](parallel.md)"},
	{"branches", FIELD_WHOLE, offsetof(RunInput, branches), .flags = FIELD_AS_TREE,
     .doc = "workers that each group is partitioned for; default as many as `threads`. The same number "
            "gives the same bits with any number of threads"},
	{"assemble", FIELD_NUMBER, offsetof(RunInput, assemble), DIM_ANGLE, .flags = FIELD_AS_TREE,
     .doc = "how far closing [loops](loops.md#assembly) may move what the [state](#state) gives "
            "(lengths: times the lever arm of the loops; speeds: times the fastest); default 0.1 rad. "
            "Beyond it the run does not start",
     .words = FIELD_WORDS("any")},
	{"output", FIELD_MAPS, offsetof(RunInput, output), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "what is written", .table = &output_table},
};
const FieldTable run_table = {FIELDS("run", run_keys), .doc = "Run settings."};

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

/* Steps from one projection on the loops to the next, or none at all. */
static bool read_projection(Reader *r, const TreeNode *node, int *projection) {
	double steps = 0;
	if (node->kind == TREE_SCALAR && strcmp(node->text, "none") == 0) {
		*projection = -1;
		return true;
	}
	if (!read_quantity(r, node, DIM_NUMBER, &steps))
		return false;
	if (!(steps >= 1 && steps <= 1e9) || steps != (double)(int)steps)
		return reader_fail(
			r, node,
			"\"projection\" is the number of steps from one projection on the loops to the next, a whole "
			"number from 1 to 1e9, or none");
	*projection = (int)steps;
	return true;
}

/* A number of threads or branches. */
static bool read_workers(Reader *r, const TreeNode *node, const char *key, int *workers) {
	enum { MOST = 256 };
	double number = 0;
	if (!read_quantity(r, node, DIM_NUMBER, &number))
		return false;
	if (!(number >= 1 && number <= MOST) || number != (double)(int)number)
		return reader_fail(r, node, "\"%s\" is a whole number from 1 to %d", key, MOST);
	*workers = (int)number;
	return true;
}

/* How far the start may be from the given state; "any": as far as it takes. */
static bool read_assemble(Reader *r, const TreeNode *node, double *limit) {
	if (node->kind == TREE_SCALAR && strcmp(node->text, "any") == 0) {
		*limit = INFINITY;
		return true;
	}
	if (!read_quantity(r, node, DIM_ANGLE, limit))
		return false;
	return *limit > 0 || reader_fail(r, node,
	                                 "\"assemble\" is how far closing loops may move what the state gives: any, or an "
	                                 "angle above zero, e.g. 5 deg");
}

/* ---- signals ---------------------------------------------------------------------------------- */

/*
 * What a signal is about is looked up here; which columns it has ("momentum:Lz", "node:arm/tip:x") is for the program
 * that records it.
 */

typedef enum SignalAbout {
	ABOUT_ALL,
	ABOUT_COORDINATE,
	ABOUT_NODE,
	ABOUT_JOINT,
	ABOUT_LOOP,
	ABOUT_DEVICE,
	ABOUT_EVENT
} SignalAbout;

static const struct {
	const char *word;
	SignalAbout about; // of what stands behind "word:"
	bool alone;        // may stand without it
} signal_words[] = {
	{"q", ABOUT_COORDINATE, true},      {"u", ABOUT_COORDINATE, true},       {"udot", ABOUT_COORDINATE, true},
	{"force", ABOUT_COORDINATE, true},  {"energy", ABOUT_ALL, true},         {"momentum", ABOUT_ALL, true},
	{"node", ABOUT_NODE, false},        {"pose", ABOUT_NODE, true},          {"velocity", ABOUT_NODE, true},
	{"acceleration", ABOUT_NODE, true}, {"wrench", ABOUT_NODE, false},       {"deflection", ABOUT_NODE, false},
	{"reaction", ABOUT_JOINT, true},    {"loop", ABOUT_LOOP, false},         {"residual", ABOUT_LOOP, true},
	{"multiplier", ABOUT_LOOP, true},   {"device", ABOUT_DEVICE, true},      {"event", ABOUT_EVENT, true},
	{"balance", ABOUT_ALL, true},       {"total_momentum", ABOUT_ALL, true},
};

/* The number behind the last "dot" of a name, e.g. ".eta" or "."; -1: there is none. *length: what stands before. */
static int trailing_number(const char *name, const char *dot, size_t *length) {
	const char *at = NULL;
	for (const char *p = name; (p = strstr(p, dot)) != NULL; p++)
		at = p;
	if (!at || !at[strlen(dot)] || strlen(at + strlen(dot)) > 4 ||
	    strspn(at + strlen(dot), "0123456789") != strlen(at + strlen(dot)))
		return -1;
	*length = (size_t)(at - name);
	int number = 0;
	for (const char *digit = at + strlen(dot); *digit; digit++)
		number = 10 * number + *digit - '0';
	return number;
}

/*
 * A single coordinate or speed: "flight.3" of a joint with several, "boom.eta0" of a flexible body. The name is cut at the
 * dot and made whole again.
 */
static bool is_coordinate(const Reader *r, char *name, bool speed) {
	size_t length = 0;
	int number = trailing_number(name, ".eta", &length);
	if (number >= 0) {
		name[length] = 0;
		const CalBodyId body = cal_desc_find_body(r->file->desc, name);
		name[length] = '.';
		if (body.value && number < r->file->modes[body.value - 1])
			return true;
	}
	number = trailing_number(name, ".", &length);
	if (number < 0)
		return false;
	name[length] = 0;
	const CalJointId joint = cal_desc_find_joint(r->file->desc, name);
	name[length] = '.';
	const JointShape *shape = joint.value ? &r->file->joints[joint.value - 1].shape : NULL;
	const int count = !shape ? 0 : speed ? shape->nu : shape->nq;
	return count > 1 && number < count;
}

static bool find_loop(Reader *r, const Sections *s, const TreeNode *node, const char *name) {
	Suggestion suggestion = {.word = name};
	if (cal_desc_find_loop(r->file->desc, name).value)
		return true;
	const int count = items_count(r, s->loops, "loops");
	for (int i = 0; i < count; i++) {
		Item item;
		if (items_get(r, s->loops, i, "loop", &item))
			suggestion_offer(&suggestion, item.name);
	}
	return reader_unknown(r, node, "loop", &suggestion);
}

/* A device or an event. */
static bool find_listed(Reader *r, const TreeNode *section, const TreeNode *node, const char *what, const char *name) {
	Suggestion suggestion = {.word = name};
	if (model_file_find_item(section, name))
		return true;
	for (int i = 0; section && section->kind != TREE_SCALAR && i < section->count; i++) {
		Item item;
		if (items_get(r, section, i, what, &item))
			suggestion_offer(&suggestion, item.name);
	}
	return reader_unknown(r, node, what, &suggestion);
}

static bool find_object(Reader *r, const Sections *s, const TreeNode *node, SignalAbout about, const char *name) {
	CalNodeId id;
	const JointRecord *joint;
	return about == ABOUT_NODE     ? model_file_find_node(r, s, node, name, &id)
	       : about == ABOUT_LOOP   ? find_loop(r, s, node, name)
	       : about == ABOUT_DEVICE ? find_listed(r, s->devices, node, "device", name)
	       : about == ABOUT_EVENT  ? find_listed(r, s->events, node, "event", name)
	                               : model_file_find_joint(r, node, name, &joint);
}

static bool is_object(const Reader *r, const Sections *s, SignalAbout about, const char *name) {
	const CalDesc *desc = r->file->desc;
	return about == ABOUT_NODE     ? cal_desc_find_node(desc, name).value != 0
	       : about == ABOUT_LOOP   ? cal_desc_find_loop(desc, name).value != 0
	       : about == ABOUT_DEVICE ? model_file_find_item(s->devices, name) != NULL
	       : about == ABOUT_EVENT  ? model_file_find_item(s->events, name) != NULL
	                               : cal_desc_find_joint(desc, name).value != 0;
}

/* Finds the object; where there is none of that name, its last ":part" is taken for a column. */
static bool check_object(Reader *r, const Sections *s, const TreeNode *node, SignalAbout about, const char *object) {
	const char *colon = strrchr(object, ':');
	if (!is_object(r, s, about, object) && colon)
		object = reader_text(r, "%.*s", (int)(colon - object), object);
	return object && find_object(r, s, node, about, object);
}

static bool check_signal(Reader *r, const Sections *s, const TreeNode *node, const char *signal) {
	Suggestion suggestion = {.word = signal};
	const size_t length = strcspn(signal, ":");
	char *rest = signal[length] ? reader_text(r, "%s", signal + length + 1) : NULL;
	if (signal[length] && !rest)
		return false;
	for (size_t i = 0; i < sizeof signal_words / sizeof signal_words[0]; i++) {
		const char *word = signal_words[i].word;
		if (signal_words[i].alone)
			suggestion_offer(&suggestion, word);
		if (strlen(word) != length || strncmp(word, signal, length) != 0)
			continue;
		if (rest ? signal_words[i].about == ABOUT_ALL : signal_words[i].alone)
			return true;
		if (rest && signal_words[i].about == ABOUT_COORDINATE && is_coordinate(r, rest, word[0] != 'q'))
			return true;
		if (rest)
			return check_object(r, s, node, signal_words[i].about, rest);
	}
	if (suggestion.best)
		return reader_unknown(r, node, "signal", &suggestion);
	return reader_fail(
		r, node,
		"unknown signal \"%.80s\"; write q, u, udot or force (also q:JOINT), energy, momentum, pose, "
		"velocity or acceleration (also pose:BODY/NODE), node:BODY/NODE, wrench:BODY/NODE, "
		"deflection:BODY/NODE, reaction, reaction:JOINT, loop:LOOP, residual, residual:LOOP, multiplier, "
		"multiplier:LOOP, device, device:NAME, event, event:NAME, balance or total_momentum",
		signal);
}

static bool read_signals(Reader *r, const Sections *s, const TreeNode *node, CalRunStream *stream) {
	if (!read_list(r, node, "signals, e.g. [q, u, energy, \"node:arm/tip\"]"))
		return false;
	const char **signals = reader_array(r, (size_t)node->count, sizeof *signals);
	if (!signals)
		return false;
	for (int i = 0; i < node->count; i++) {
		if (!read_text(r, node->items[i], &signals[i]) || !check_signal(r, s, node->items[i], signals[i]))
			return false;
	}
	stream->signals = signals;
	stream->signal_count = node->count;
	return true;
}

/* ---- the section ------------------------------------------------------------------------------- */

static bool name_stream(Reader *r, const TreeNode *map, CalRunStream *streams, int index) {
	enum { NAME_SIZE = 24 };
	if (!streams[index].name) {
		char *name = reader_array(r, NAME_SIZE, 1);
		if (!name)
			return false;
		if (index)
			snprintf(name, NAME_SIZE, "stream%d", index + 1);
		else
			snprintf(name, NAME_SIZE, "main");
		streams[index].name = name;
	}
	const char *name = streams[index].name;
	if (!name[0] || strchr(name, '/') || strcmp(name, ".") == 0)
		return reader_fail(r, tree_get(map, "name"), "the name of an output may not be empty nor hold a '/'");
	for (int i = 0; i < index; i++)
		if (strcmp(streams[i].name, name) == 0)
			return reader_fail(r, map, "two outputs are called \"%.80s\"; give one another \"name\"", name);
	return true;
}

static bool read_stream(Reader *r, const Sections *s, const TreeNode *map, CalRunStream *streams, int index) {
	OutputInput in = {0};
	if (!fields_read(r, map, &output_table, &in))
		return false;
	if (in.file && !in.file[0])
		return reader_fail(r, tree_get(map, "file"), "\"file\" is empty; leave it out or name a file, e.g. run.h5");
	streams[index] = (CalRunStream){.name = in.name, .file = in.file, .interval = in.interval};
	return name_stream(r, map, streams, index) && (!in.signals || read_signals(r, s, in.signals, &streams[index]));
}

/* One output, or a list of them. */
static bool read_output(Reader *r, const Sections *s, const TreeNode *node, CalRunSettings *run) {
	const int count = node->kind == TREE_LIST ? node->count : 1;
	CalRunStream *streams = reader_array(r, (size_t)count, sizeof *streams);
	if (!streams)
		return false;
	for (int i = 0; i < count; i++)
		if (!read_stream(r, s, node->kind == TREE_LIST ? node->items[i] : node, streams, i))
			return false;
	run->streams = streams;
	run->stream_count = count;
	return true;
}

static bool read_settings(Reader *r, const Sections *s, CalRunSettings *run) {
	RunInput in = {0};
	if (!fields_read(r, s->run, &run_table, &in) || (in.method && !read_method(r, in.method, &run->method.method)) ||
	    (in.projection && !read_projection(r, in.projection, &run->method.projection)) ||
	    (in.threads && !read_workers(r, in.threads, "threads", &run->threads)) ||
	    (in.branches && !read_workers(r, in.branches, "branches", &run->branches)) ||
	    (in.assemble && !read_assemble(r, in.assemble, &run->assembly_limit)))
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

bool model_file_read_run(Reader *r, const Sections *s) {
	CalRunSettings run = {.title = s->title ? s->title : "", .method.method = CAL_METHOD_DOPRI5};
	reader_subject(r, "run", NULL);
	return (!s->run || read_settings(r, s, &run)) && reader_added(r, s->run ? s->run : tree_root(r->file->tree),
	                                                              cal_setup_set_run(r->file->setup, &run, r->error));
}
