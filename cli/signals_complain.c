// SPDX-License-Identifier: Apache-2.0
/*
 * signals_complain.c — what is wrong with the name of a signal, and which one may have been meant.
 */
#include <stdlib.h>
#include <string.h>

#include "signals.h"

/* Names of objects that a kind of signal can be about. */
typedef struct Candidates {
	char **names;      // [count] of their own, NULL: the simulation has it
	const char **list; // [count]
	int count;
} Candidates;

static int object_count(const CalModel *model, SignalKind kind) {
	return signal_is_of_node(kind)   ? cal_model_node_count(model)
	       : signal_is_of_loop(kind) ? cal_model_loop_count(model)
	                                 : cal_model_body_count(model);
}

/* To be freed; NULL: it has none to offer, or out of memory. */
static char *object_name(const CalModel *model, SignalKind kind, int index) {
	CalBodyInfo body = {0};
	CalLoopInfo loop = {0};
	const char *first = "", *second = "";
	if (signal_is_of_node(kind)   ? !signal_node_names(model, index, &first, &second)
	    : signal_is_of_loop(kind) ? cal_model_loop(model, index, &loop) != CAL_OK
	                              : cal_model_body(model, index, &body) != CAL_OK)
		return NULL;
	if (!signal_is_of_node(kind))
		first = signal_is_of_loop(kind) ? loop.name : body.joint;
	if (!first || !second)
		return NULL;
	size_t size = strlen(first) + strlen(second) + 2;
	char *text = malloc(size);
	if (text)
		snprintf(text, size, "%s%s%s", first, second[0] ? "/" : "", second);
	return text;
}

/* Devices and events. */
static int sim_object_count(CalSim *sim, SignalKind kind) {
	return kind == SIGNAL_DEVICE ? cal_sim_device_count(sim) : kind == SIGNAL_EVENT ? cal_sim_event_count(sim) : 0;
}

static const char *sim_object_name(CalSim *sim, SignalKind kind, int i) {
	CalDeviceInfo info = {.name = ""};
	if (kind == SIGNAL_EVENT)
		return cal_sim_event_name(sim, i);
	cal_sim_device(sim, i, &info);
	return info.name;
}

static bool candidates_create(Candidates *all, CalSim *sim, SignalKind kind) {
	size_t most = 1 + (size_t)sim_object_count(sim, kind);
	for (int group = 0; group < cal_sim_group_count(sim) && !signal_is_of_sim(kind); group++)
		most += (size_t)object_count(cal_sim_model(sim, group), kind);
	*all = (Candidates){.names = calloc(most, sizeof *all->names), .list = calloc(most, sizeof *all->list)};
	if (!all->names || !all->list)
		return false;
	for (int i = 0; i < sim_object_count(sim, kind); i++)
		all->list[all->count++] = sim_object_name(sim, kind, i);
	for (int group = 0; group < cal_sim_group_count(sim) && !signal_is_of_sim(kind); group++) {
		const CalModel *model = cal_sim_model(sim, group);
		for (int i = 0; i < object_count(model, kind); i++) {
			char *name = object_name(model, kind, i);
			if (!name)
				continue;
			all->names[all->count] = name;
			all->list[all->count++] = name;
		}
	}
	return true;
}

static void candidates_free(Candidates *all) {
	for (int i = 0; i < all->count; i++)
		free(all->names[i]);
	free(all->names);
	free(all->list);
}

/* The word that a signal begins with, or NULL. */
static const SignalWord *find_word(const char *name) {
	size_t length = strcspn(name, ":");
	for (int i = 0; i < signal_word_count; i++)
		if (strlen(signal_words[i].word) == length && strncmp(signal_words[i].word, name, length) == 0)
			return &signal_words[i];
	return NULL;
}

/* "; did you mean "node:rod/tip"?" or what else helps. */
static void hint_object(char *hint, size_t size, CalSim *sim, const SignalWord *word, const char *object) {
	Candidates all;
	const char *nearest = NULL;
	if (candidates_create(&all, sim, word->kind))
		nearest = cal_name_nearest(object, all.list, all.count);
	if (nearest)
		snprintf(hint, size, "; did you mean \"%s:%.150s\"?", word->word, nearest);
	else
		snprintf(hint, size, "; 'calder info' lists them");
	candidates_free(&all);
}

static void complain_object(char *text, size_t size, CalSim *sim, const char *name) {
	const SignalWord *word = find_word(name);
	char hint[200] = "";
	const char *what = !word                           ? "object"
	                   : signal_is_of_node(word->kind) ? "node"
	                   : signal_is_of_loop(word->kind) ? "loop"
	                   : word->kind == SIGNAL_DEVICE   ? "device"
	                   : word->kind == SIGNAL_EVENT    ? "event"
	                                                   : "joint";
	if (word && strchr(name, ':'))
		hint_object(hint, sizeof hint, sim, word, strchr(name, ':') + 1);
	snprintf(text, size, "signal \"%.100s\": the model has no %s of that name%s", name, what, hint);
}

static void complain_unknown(char *text, size_t size, const char *name) {
	const char *words[64];
	char first[64], hint[200] = "";
	snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ":"), name);
	int count = 0;
	for (int i = 0; i < signal_word_count; i++)
		words[count++] = signal_words[i].word;
	const SignalWord *word = find_word(name);
	const char *nearest = word ? NULL : cal_name_nearest(first, words, count);
	if (word)
		snprintf(hint, sizeof hint, "; write \"%s%s\"", word->word,
		         word->with_object && !word->alone ? signal_is_of_node(word->kind) ? ":BODY/NODE" : ":NAME" : "");
	else if (nearest)
		snprintf(hint, sizeof hint, "; did you mean \"%s%.100s\"?", nearest, name + strlen(first));
	else
		snprintf(hint, sizeof hint, "; 'calder run --help' lists them");
	snprintf(text, size, "signal \"%.100s\" is not known%s", name, hint);
}

void signals_complain(char *text, size_t size, CalSim *sim, const char *name, SignalFound found) {
	const char *colon = strrchr(name, ':');
	if (found == SIGNAL_NO_OBJECT)
		complain_object(text, size, sim, name);
	else if (found == SIGNAL_NO_COLUMN && colon)
		snprintf(text, size,
		         "signal \"%.100s\": there is no \"%.60s\" among its columns; the CSV file of \"%.*s\" names them",
		         name, colon + 1, colon - name < 100 ? (int)(colon - name) : 100, name);
	else if (found == SIGNAL_UNKNOWN)
		complain_unknown(text, size, name);
	else
		snprintf(text, size, "signal \"%.100s\": out of memory", name);
}
