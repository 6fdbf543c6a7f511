// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_run.c — run settings: duration, method, steps, tolerances, what is written.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/quantity.h>

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
	double update;
	int formulation, unretained, metric, cross_loops, whole_steps;
	const TreeNode *method, *projection, *threads, *branches, *assemble, *retain, *output;
} RunInput;

enum { NOT_SAID = -1 }; // of a flag

static const char *method_word(int i) { return i < CAL_METHOD_COUNT ? cal_method_name((CalMethod)i) : NULL; }

static const char *cross_loops_word(int i) { return cal_cross_loops_name((CalCrossLoops)i); }

static const Field run_keys[] = {
	{"duration", FIELD_NOT_NEGATIVE, offsetof(RunInput, duration), DIM_TIME, .flags = FIELD_REQUIRED,
     .doc = "simulated time"},
	{"method", FIELD_CHOICE, offsetof(RunInput, method), .flags = FIELD_AS_TREE,
     .doc = "[which one](methods.md): what each is, which have a fixed step, and the default", .word_at = method_word},
	{"step", FIELD_POSITIVE, offsetof(RunInput, step), DIM_TIME,
     .doc = "required for a fixed step; the first step of an adaptive method"},
	{"rtol", FIELD_POSITIVE, offsetof(RunInput, rtol),
     .doc = "relative local error of an adaptive method; default 1e-9"},
	{"atol", FIELD_POSITIVE, offsetof(RunInput, atol), .doc = "absolute local error; default 1e-12"},
	{"min_step", FIELD_POSITIVE, offsetof(RunInput, min_step), DIM_TIME, .doc = "the run stops with an error below it"},
	{"max_step", FIELD_POSITIVE, offsetof(RunInput, max_step), DIM_TIME,
     .doc = "of an adaptive method; default none, and where a `when` of [events](#event) reads an "
            "output of a device, a hundredth of `duration`"},
	{"max_steps", FIELD_POSITIVE, offsetof(RunInput, max_steps), .doc = "largest number of steps between two outputs"},
	{"projection", FIELD_WHOLE, offsetof(RunInput, projection), .flags = FIELD_AS_TREE,
     .doc = "steps from one projection on the [loops](loops.md#how-it-is-solved) to the next; default "
            "1. With more than 1 give the loops a [stabilisation](#stabilisation)",
     .words = FIELD_WORDS("none")},
	{"projection_metric", FIELD_CHOICE, offsetof(RunInput, metric),
     .doc =
         "what is smallest in the change that closes loops and the ties of components after a step: it times the `mass` "
         "matrix, or it alone (`euclidean`: sum of the squares of all coordinates, in SI units); default `mass`",
     .words = FIELD_WORDS("mass", "euclidean")},
	{"threads", FIELD_WHOLE, offsetof(RunInput, threads), .flags = FIELD_AS_TREE,
     .doc = "number of threads that share the work of a step; default 1. [When it helps](parallel.md)"},
	{"branches", FIELD_WHOLE, offsetof(RunInput, branches), .flags = FIELD_AS_TREE,
     .doc = "workers that each group is partitioned for; default as many as `threads`. The same number "
            "gives the same bits with any number of threads"},
	{"cross_loops", FIELD_CHOICE, offsetof(RunInput, cross_loops),
     .doc = "whether loops may [span branches](parallel.md#loops); default `auto`: where the count of flops says that "
            "it is faster",
     .word_at = cross_loops_word},
	{"formulation", FIELD_CHOICE, offsetof(RunInput, formulation),
     .doc =
         "where accelerations come from: the recursion, or [system matrices](modes.md#runs-with-retained-modes) that "
         "are held between updates; default `order-n`",
     .words = FIELD_WORDS("order-n", "system")},
	{"update", FIELD_POSITIVE, offsetof(RunInput, update), DIM_TIME,
     .doc = "of `formulation: system`: time between updates of the matrices; required there"},
	{"retain", FIELD_POSITIVE, offsetof(RunInput, retain), DIM_RATE, .flags = FIELD_AS_TREE,
     .doc = "of `formulation: system`: frequency up to which modes of the system are retained, `40 Hz` or `40 rev/s`; "
            "default: all are"},
	{"unretained", FIELD_CHOICE, offsetof(RunInput, unretained),
     .doc = "what becomes of the others: `frozen`, they keep their displacement; `bounded`, they have the frequency "
            "`retain` and their static response; default `frozen`",
     .words = FIELD_WORDS("frozen", "bounded")},
	{"assemble", FIELD_NUMBER, offsetof(RunInput, assemble), DIM_ANGLE, .flags = FIELD_AS_TREE,
     .doc = "how far closing [loops](loops.md#assembly) may move what the [state](#state) gives "
            "(lengths: times the lever arm of the loops; speeds: times the fastest); default 0.1 rad. "
            "Beyond it the run does not start",
     .words = FIELD_WORDS("any")},
	{"whole_steps", FIELD_FLAG, offsetof(RunInput, whole_steps),
     .doc =
         "true: outputs are taken at the ends of steps, the first at or after their times, and no step ends because of them: "
         "the run has the same bits whatever their intervals. false: outputs are at their times exactly. Default true where "
         "a device [samples](devices.md#sampled-devices), else false"},
	{"output", FIELD_MAPS, offsetof(RunInput, output), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "what is written", .table = &output_table},
};
const FieldTable run_table = {FIELDS("run", run_keys), .doc = "Run settings."};

static bool read_method(Reader *r, const TreeNode *node, CalMethod *method) {
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	if (cal_method_find(suggestion.word, method) == 0) {
		const CalMethodInfo *info = cal_method_info(*method);
		return !info->missing ||
		       reader_fail(r, node, "the method %s is not built: this library lacks %s", info->name, info->missing);
	}
	for (int i = 0; i < CAL_METHOD_COUNT; i++)
		suggestion_offer(&suggestion, cal_method_name((CalMethod)i));
	if (suggestion.best)
		return reader_unknown(r, node, "method", &suggestion);
	char names[200];
	cal_method_names(names, sizeof names);
	return reader_fail(r, node, "unknown method \"%.40s\"; write %s", suggestion.word, names);
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

/* A frequency. Hz is no unit of other keys, where it could mean 1/s; here it means cycles. */
static bool read_retain(Reader *r, const TreeNode *node, double *retain) {
	static const double two_pi = 6.283185307179586;
	char *unit;
	if (node->kind == TREE_SCALAR) {
		const double cycles = strtod(node->text, &unit);
		unit += strspn(unit, " ");
		if (unit > node->text && strcmp(unit, "Hz") == 0 && cycles > 0 && isfinite(cycles)) {
			*retain = two_pi * cycles;
			return true;
		}
	}
	return read_quantity(r, node, DIM_RATE, retain) &&
	       (*retain > 0 || reader_fail(r, node, "\"retain\" is a frequency above zero, e.g. 40 Hz"));
}

/* What belongs to a formulation by system matrices is refused without it. */
static bool read_formulation(Reader *r, const Sections *s, const RunInput *in, CalFormulationOptions *f) {
	static const char *const keys[] = {"update", "retain", "unretained"};
	*f = (CalFormulationOptions){
		.kind = (CalFormulation)in->formulation, .update = in->update, .unretained = (CalUnretained)in->unretained};
	for (size_t i = 0; i < sizeof keys / sizeof *keys && f->kind == CAL_FORMULATION_ORDER_N; i++)
		if (tree_get(s->run, keys[i]))
			return reader_fail(r, tree_get(s->run, keys[i]), "\"%s\" needs \"formulation: system\"", keys[i]);
	if (f->kind == CAL_FORMULATION_ORDER_N)
		return true;
	if (!(f->update > 0))
		return reader_fail(r, tree_get(s->run, "formulation"),
		                   "\"formulation: system\" needs the time between updates of the matrices; give \"update\", "
		                   "e.g. 10 ms");
	return !in->retain || read_retain(r, in->retain, &f->retain);
}

/* ---- signals ---------------------------------------------------------------------------------- */

/*
 * Words and objects are looked up here, in the catalogue of quantities and in the file; components ("momentum:Lz",
 * "node:arm/tip.x", "q:flight.qw") are found in the simulation, when it is set up.
 */

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

/* An event. */
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

static bool is_of_node(CalQuantityAbout about) { return about == CAL_ABOUT_NODE || about == CAL_ABOUT_NODES; }

static bool find_object(Reader *r, const Sections *s, const TreeNode *node, CalQuantityAbout about, const char *name) {
	CalNodeId id;
	const JointRecord *joint;
	return is_of_node(about)           ? model_file_find_node(r, s, node, name, &id)
	       : about == CAL_ABOUT_LOOP   ? find_loop(r, s, node, name)
	       : about == CAL_ABOUT_DEVICE ? model_file_find_device(r, s, node, name)
	       : about == CAL_ABOUT_EVENT  ? find_listed(r, s->events, node, "event", name)
	                                   : model_file_find_joint(r, node, name, &joint);
}

static bool is_object(const Reader *r, const Sections *s, CalQuantityAbout about, const char *name) {
	const CalDesc *desc = r->file->desc;
	return is_of_node(about)           ? cal_desc_find_node(desc, name).value != 0 || strcmp(name, "ground") == 0
	       : about == CAL_ABOUT_LOOP   ? cal_desc_find_loop(desc, name).value != 0
	       : about == CAL_ABOUT_DEVICE ? model_file_has_device(r, s, name)
	       : about == CAL_ABOUT_EVENT  ? model_file_find_item(s->events, name) != NULL
	                                   : cal_desc_find_joint(desc, name).value != 0;
}

/* Has the body so many modes that one is called "eta3", or its speed "etadot3"? */
static bool is_mode(const Reader *r, const char *body, const char *component) {
	const CalBodyId id = cal_desc_find_body(r->file->desc, body);
	const char *digits = component + strcspn(component, "0123456789");
	const size_t length = (size_t)(digits - component);
	const bool speed = length == 6 && strncmp(component, "etadot", 6) == 0;
	int number = 0;
	if (!id.value || !*digits || (!speed && (length != 3 || strncmp(component, "eta", 3) != 0)))
		return false;
	for (; *digits >= '0' && *digits <= '9' && number < 10000; digits++)
		number = 10 * number + (*digits - '0');
	return !*digits && number >= 1 && number <= r->file->modes[id.value - 1];
}

/* Has the joint a coordinate, or a speed, of that name? Otherwise they are named. */
static bool check_coordinate(Reader *r, const TreeNode *node, const char *joint, const char *component, bool speed) {
	const CalDesc *desc = r->file->desc;
	CalNodeId a, b;
	const CalJointDef *def = cal_desc_joint(desc, cal_desc_find_joint(desc, joint), &a, &b);
	CalCoordinateInfo info;
	char names[200] = "";
	for (int i = 0; (speed ? cal_joint_speed(def, i, &info) : cal_joint_coordinate(def, i, &info)) == CAL_OK; i++) {
		const size_t used = strlen(names);
		if (strcmp(info.name, component) == 0)
			return true;
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", info.name);
	}
	return reader_fail(r, node, "joint \"%.80s\" has no %s \"%.40s\"; it has %s", joint, speed ? "speed" : "coordinate",
	                   component, names[0] ? names : "none");
}

/* Finds the object; where there is none of that name, its last ".part" is taken for a component. */
static bool check_object(Reader *r, const Sections *s, const TreeNode *node, const CalQuantityInfo *info,
                         const char *name) {
	const CalQuantityAbout about = info->about;
	const char *dot = strrchr(name, '.'), *colon = strrchr(name, ':'), *end = dot ? dot : colon;
	if (is_object(r, s, about, name))
		return true;
	const char *object = end ? reader_text(r, "%.*s", (int)(end - name), name) : name;
	if (!object)
		return false;
	if (end && about == CAL_ABOUT_COORDINATE && is_mode(r, object, end + 1))
		return true;
	if (end && end == colon && is_object(r, s, about, object))
		return reader_fail(r, node, "components follow a dot: write \"%.100s.%.40s\"", object, colon + 1);
	if (dot && is_object(r, s, about, object))
		return about != CAL_ABOUT_COORDINATE ||
		       check_coordinate(r, node, object, dot + 1, strcmp(info->word, "q") != 0);
	return find_object(r, s, node, about, about == CAL_ABOUT_COORDINATE ? name : object);
}

/* "A,B": the component is after the second. */
static bool check_objects(Reader *r, const Sections *s, const TreeNode *node, const CalQuantityInfo *info,
                          const char *objects) {
	const char *comma = is_of_node(info->about) ? strchr(objects, ',') : NULL;
	if (!comma)
		return check_object(r, s, node, info, objects);
	size_t length = (size_t)(comma - objects);
	while (length > 0 && strchr(" \t", objects[length - 1]))
		length--;
	const char *first = reader_text(r, "%.*s", (int)length, objects);
	return first && (is_object(r, s, info->about, first) || find_object(r, s, node, info->about, first)) &&
	       check_object(r, s, node, info, comma + 1 + strspn(comma + 1, " \t"));
}

static bool unknown_signal(Reader *r, const TreeNode *node, const char *signal) {
	Suggestion suggestion = {.word = signal};
	char words[400] = "";
	for (int i = 0; i < cal_quantity_count(); i++) {
		CalQuantityInfo info;
		cal_quantity(i, &info);
		if (info.of_all)
			suggestion_offer(&suggestion, info.word);
		const size_t used = strlen(words);
		snprintf(words + used, sizeof words - used, "%s%s%s", i ? ", " : "", info.word,
		         info.of_all              ? ""
		         : is_of_node(info.about) ? ":BODY/NODE"
		                                  : ":NAME");
	}
	if (suggestion.best)
		return reader_unknown(r, node, "signal", &suggestion);
	return reader_fail(
		r, node,
		"unknown signal \"%.80s\"; write %s, also of one object (q:JOINT) and of one component (pose:BODY/NODE.x)",
		signal, words);
}

static bool check_signal(Reader *r, const Sections *s, const TreeNode *node, const char *signal) {
	const size_t length = strcspn(signal, ":");
	const char *word = reader_text(r, "%.*s", (int)length, signal);
	CalQuantityInfo info;
	if (!word)
		return false;
	if (cal_quantity(cal_quantity_find(word), &info) != CAL_OK || (!signal[length] && !info.of_all))
		return unknown_signal(r, node, signal);
	if (!signal[length] || info.about == CAL_ABOUT_SYSTEM || info.about == CAL_ABOUT_GROUP)
		return true;
	return check_objects(r, s, node, &info, signal + length + 1);
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
	RunInput in = {.whole_steps = NOT_SAID};
	if (!fields_read(r, s->run, &run_table, &in) || (in.method && !read_method(r, in.method, &run->method.method)) ||
	    (in.projection && !read_projection(r, in.projection, &run->method.projection)) ||
	    (in.threads && !read_workers(r, in.threads, "threads", &run->threads)) ||
	    (in.branches && !read_workers(r, in.branches, "branches", &run->branches)) ||
	    (in.assemble && !read_assemble(r, in.assemble, &run->assembly_limit)) ||
	    !read_formulation(r, s, &in, &run->formulation))
		return false;
	run->cross_loops = (CalCrossLoops)in.cross_loops;
	run->whole_steps = in.whole_steps == NOT_SAID ? 0 : in.whole_steps ? 1 : -1;
	if (!cal_method_info(run->method.method)->adaptive && !(in.step > 0))
		return reader_fail(r, in.method, "the method %s has a fixed step; give \"step\", e.g. 1 ms",
		                   cal_method_name(run->method.method));
	if (in.max_steps > 1e15)
		return reader_fail(r, tree_get(s->run, "max_steps"), "\"max_steps\" is too large; the most is 1e15");
	run->duration = in.duration;
	run->method.euclidean = in.metric;
	run->method.step = in.step;
	run->method.rtol = in.rtol;
	run->method.atol = in.atol;
	run->method.min_step = in.min_step;
	run->method.max_step = in.max_step;
	run->method.max_steps = (int64_t)in.max_steps;
	return !in.output || read_output(r, s, in.output, run);
}

bool model_file_read_run(Reader *r, const Sections *s) {
	CalRunSettings run = {.title = s->title ? s->title : "", .method.method = CAL_METHOD_DEFAULT};
	reader_subject(r, "run", NULL);
	return (!s->run || read_settings(r, s, &run)) && reader_added(r, s->run ? s->run : tree_root(r->file->tree),
	                                                              cal_setup_set_run(r->file->setup, &run, r->error));
}
