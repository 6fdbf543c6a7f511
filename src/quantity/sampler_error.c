// SPDX-License-Identifier: Apache-2.0
/*
 * sampler_error.c — what is wrong with the name of a quantity, and which one may have been meant.
 *
 * Names of earlier versions (pose:arm/tip:x, q:flight.3, energy@arm:total) are answered with those of today.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "quantity/sampler.h"

enum { HINT_SIZE = 300 };

static const char *object_word(CalQuantityAbout about) {
	static const char *const words[] = {
		[CAL_ABOUT_SYSTEM] = "component", [CAL_ABOUT_GROUP] = "group",   [CAL_ABOUT_COORDINATE] = "joint",
		[CAL_ABOUT_JOINT] = "joint",      [CAL_ABOUT_NODE] = "node",     [CAL_ABOUT_NODES] = "node",
		[CAL_ABOUT_LOOP] = "loop",        [CAL_ABOUT_DEVICE] = "device", [CAL_ABOUT_EVENT] = "event"};
	return words[about];
}

/* ---- objects ------------------------------------------------------------------------------------------------ */

/* The nearest name so far, copied: candidates may be made for the moment. */
typedef struct Nearest {
	Suggestion suggestion;
	char best[160];
} Nearest;

static void offer(Nearest *nearest, const char *candidate) {
	suggestion_offer(&nearest->suggestion, candidate);
	if (nearest->suggestion.best == candidate) {
		snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
		nearest->suggestion.best = nearest->best;
	}
}

static void offer_node(Nearest *nearest, const CalModel *model, int i) {
	const char *body, *node;
	char path[160];
	if (!sampler_node_names(model, i, &body, &node))
		return;
	snprintf(path, sizeof path, "%.79s%s%.79s", body, node[0] ? "/" : "", node);
	offer(nearest, path);
}

static void offer_of_group(Nearest *nearest, CalQuantityAbout about, const CalModel *model) {
	const bool node = about == CAL_ABOUT_NODE || about == CAL_ABOUT_NODES;
	const bool joint = about == CAL_ABOUT_COORDINATE || about == CAL_ABOUT_JOINT;
	CalBodyInfo body;
	CalLoopInfo loop;
	for (int i = 0; node && i < cal_model_node_count(model); i++)
		offer_node(nearest, model, i);
	for (int i = 0; joint && i < cal_model_body_count(model); i++)
		if (cal_model_body(model, i, &body) == CAL_OK)
			offer(nearest, body.joint);
	for (int i = 0; about == CAL_ABOUT_LOOP && i < cal_model_loop_count(model); i++)
		if (cal_model_loop(model, i, &loop) == CAL_OK)
			offer(nearest, loop.name);
	if (about == CAL_ABOUT_GROUP)
		offer(nearest, cal_model_name(model));
}

static void offer_objects(Nearest *nearest, CalSim *sim, CalQuantityAbout about) {
	CalDeviceInfo device;
	for (int group = 0; group < cal_sim_group_count(sim); group++)
		offer_of_group(nearest, about, cal_sim_model(sim, group));
	for (int i = 0; about == CAL_ABOUT_DEVICE && i < cal_sim_device_count(sim); i++)
		if (cal_sim_device(sim, i, &device) == CAL_OK)
			offer(nearest, device.name);
	for (int i = 0; about == CAL_ABOUT_EVENT && i < cal_sim_event_count(sim); i++)
		offer(nearest, cal_sim_event_name(sim, i));
}

static CalStatus refuse_object(CalSim *sim, const char *name, const SampledText *text, CalError *error) {
	const CalQuantityInfo *info = &text->quantity->info;
	Nearest nearest = {.suggestion = {.word = text->rest}};
	char hint[HINT_SIZE] = "; 'calder info' lists them";
	offer_objects(&nearest, sim, info->about);
	if (info->about == CAL_ABOUT_NODES)
		snprintf(hint, sizeof hint, "; write \"%s:BODY/NODE,BODY/NODE\"", info->word);
	else if (nearest.suggestion.best)
		snprintf(hint, sizeof hint, "; did you mean \"%s:%.150s\"?", info->word, nearest.best);
	return error_set(error, CAL_ERR_INPUT, "signal \"%.100s\": the model has no %s of that name%s", name,
	                 object_word(info->about), hint);
}

/* ---- components --------------------------------------------------------------------------------------------- */

/* What a joint, a loop or a device has: the columns of its name without the component show it. */
static CalStatus refuse_component(const char *name, const SampledText *text, CalError *error) {
	const CalQuantityInfo *info = &text->quantity->info;
	const char *dot = strrchr(text->rest, '.'), *component = info->object[0] && dot ? dot + 1 : text->rest;
	const int before = (int)(component - name) - 1;
	Suggestion suggestion = {.word = component};
	char hint[HINT_SIZE] = "";
	for (int i = 0; i < info->component_count; i++)
		suggestion_offer(&suggestion, info->components[i]);
	if (suggestion.best)
		snprintf(hint, sizeof hint, "; did you mean \"%.*s%c%s\"?", before < 150 ? before : 150, name, name[before],
		         suggestion.best);
	else
		snprintf(hint, sizeof hint, "; record \"%.*s\" to see them", before < 150 ? before : 150, name);
	return error_set(error, CAL_ERR_INPUT, "signal \"%.100s\": there is no \"%.60s\" among its components%s", name,
	                 component, hint);
}

/* ---- words -------------------------------------------------------------------------------------------------- */

static CalStatus refuse_word(const char *name, const SampledText *text, CalError *error) {
	const size_t length = strcspn(name, ":");
	char word[64], hint[HINT_SIZE] = "; 'calder signals' lists them";
	snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
	Suggestion suggestion = {.word = word};
	for (int i = 0; i < cal_quantity_count() && !text->quantity; i++)
		suggestion_offer(&suggestion, quantity_at(i)->info.word);
	if (text->quantity)
		snprintf(hint, sizeof hint, "; write \"%s:%s\"", word,
		         text->quantity->info.about == CAL_ABOUT_NODE ? "BODY/NODE" : text->quantity->info.object);
	else if (suggestion.best)
		snprintf(hint, sizeof hint, "; did you mean \"%s%.100s\"?", suggestion.best, name + length);
	return error_set(error, CAL_ERR_INPUT, "signal \"%.100s\" is not known%s", name, hint);
}

/* ---- names of earlier versions -------------------------------------------------------------------------------- */

/* "q:flight.3": by number, from 0; "q:boom.eta0": modes, from 0. */
static bool old_coordinate(CalSim *sim, const SampledText *text, char *now, size_t size) {
	const char *dot = strrchr(text->rest, '.'), *digits = dot ? dot + 1 : "";
	const bool speed = text->quantity->order != ORDER_Q, mode = strncmp(digits, "eta", 3) == 0;
	digits += mode ? 3 : 0;
	char object[200];
	int number = 0;
	JointCoordinate c;
	if (!*digits || strlen(digits) > 4 || strspn(digits, "0123456789") != strlen(digits))
		return false;
	for (const char *d = digits; *d; d++)
		number = 10 * number + (*d - '0');
	snprintf(object, sizeof object, "%.*s", (int)(dot - text->rest < 190 ? dot - text->rest : 190), text->rest);
	for (int group = 0; group < cal_sim_group_count(sim); group++) {
		const CalModel *model = cal_sim_model(sim, group);
		const int joint = cal_model_find_joint(model, object);
		CalBodyInfo body;
		const bool found = mode ? cal_model_body(model, cal_model_find_body(model, object), &body) == CAL_OK &&
		                              mode_info(model, &body, speed, number, &c.info)
		                        : joint >= 0 && joint_coordinate(sim, group, joint, speed, number, &c);
		if (!found)
			continue;
		const bool single = !mode && !joint_coordinate(sim, group, joint, speed, 1, &(JointCoordinate){0});
		snprintf(now, size, "%s:%s%s%s", text->quantity->info.word, object, single ? "" : ".",
		         single ? "" : c.info.name);
		return true;
	}
	return false;
}

/* The name of today; false: the name is not of an earlier version. */
static bool name_of_today(CalSim *sim, const char *name, char *now, size_t size) {
	const SampledText text = sampled_text(name);
	const size_t word = strcspn(name, ":@");
	const char *colon = strrchr(name, ':');
	if (name[word] == '@' && colon && quantity_of_word(name, word)) {
		snprintf(now, size, "%.*s:%.*s.%s", (int)word, name, (int)(colon - name - (ptrdiff_t)word - 1), name + word + 1,
		         colon + 1);
		return true;
	}
	if (!text.quantity || !text.rest)
		return false;
	if (colon > text.rest && text.quantity->info.component_count != 1) {
		snprintf(now, size, "%.*s.%s", (int)(colon - name), name, colon + 1);
		return true;
	}
	return text.quantity->info.about == CAL_ABOUT_COORDINATE && old_coordinate(sim, &text, now, size);
}

CalStatus sampler_refuse(const CalSampler *sampler, CalSim *sim, const char *name, NameFault fault, CalError *error) {
	const SampledText text = sampled_text(name);
	char now[HINT_SIZE];
	(void)sampler;
	if (name_of_today(sim, name, now, sizeof now))
		return error_set(error, CAL_ERR_INPUT, "signal \"%.100s\" is a name of earlier versions; write \"%.200s\"",
		                 name, now);
	if (text.quantity && text.quantity->info.about == CAL_ABOUT_GROUP && text.rest && !strchr(text.rest, '.'))
		fault = NAME_NO_COMPONENT; // of the only group, or of all
	if (fault == NAME_EMBEDDED)
		return error_set(
			error, CAL_ERR_INPUT,
			"signal \"%.100s\": the joint is part of an embedded loop, in which forces are not known; do not "
			"embed the loop",
			name);
	if (fault == NAME_NO_OBJECT && text.quantity && text.rest)
		return refuse_object(sim, name, &text, error);
	if (fault == NAME_NO_COMPONENT && text.quantity && text.rest)
		return refuse_component(name, &text, error);
	return refuse_word(name, &text, error);
}
