// SPDX-License-Identifier: Apache-2.0
/*
 * live_lab.c — see live_lab.h.
 */
#include "live_lab.h"

#include <stdlib.h>
#include <string.h>

#include "live_command.h"

enum { MAX_MOMENTS = 17 };                           // the first is the start
static const size_t most_memory = (size_t)512 << 20; // of all of them [bytes]

typedef struct Moment {
	double t;
	void *memory; // NULL: the place is free
	size_t size;
} Moment;

struct Lab {
	CalSim *sim;
	CalScenario *scenario;
	const char *forbidden; // why nobody returns to a moment; NULL: they may
	Moment moments[MAX_MOMENTS];
};

Lab *lab_create(CalSim *sim, CalScenario *scenario) {
	Lab *made = calloc(1, sizeof *made);
	if (made)
		*made = (Lab){.sim = sim, .scenario = scenario};
	return made;
}

static void forget(Moment *moment) {
	free(moment->memory);
	*moment = (Moment){0};
}

void lab_destroy(Lab *lab) {
	for (int i = 0; lab && i < MAX_MOMENTS; i++)
		forget(&lab->moments[i]);
	free(lab);
}

void lab_forbid_returns(Lab *lab, const char *why) { lab->forbidden = why; }

/* ---- moments ----------------------------------------------------------------------------------------- */

static LabResult refuse(CalError *error, const char *text) {
	snprintf(error->text, sizeof error->text, "%s", text);
	return LAB_REFUSED;
}

static LabResult keep(Lab *lab, int place, CalError *error) {
	Moment *moment = &lab->moments[place];
	const size_t size = cal_checkpoint_size(lab->sim);
	size_t used = size;
	for (int i = 0; i < MAX_MOMENTS; i++)
		used += lab->moments[i].size;
	void *memory = used <= most_memory ? malloc(size) : NULL;
	if (!memory)
		return refuse(error, "there is no memory for another moment; forget one");
	const CalStatus status = cal_checkpoint_take(lab->sim, memory, size, NULL);
	if (status != CAL_OK) {
		free(memory);
		return refuse(error, cal_status_text(status));
	}
	*moment = (Moment){cal_sim_time(lab->sim), memory, size};
	return LAB_MOMENTS;
}

void lab_keep_start(Lab *lab) {
	CalError ignored;
	if (!lab->forbidden && !lab->moments[0].memory && keep(lab, 0, &ignored) != LAB_MOMENTS)
		lab->forbidden = "the start takes too much memory to be kept";
}

static LabResult keep_now(Lab *lab, CalError *error) {
	if (lab->forbidden)
		return refuse(error, lab->forbidden);
	for (int i = 1; i < MAX_MOMENTS; i++)
		if (!lab->moments[i].memory)
			return keep(lab, i, error);
	return refuse(error, "as many moments are kept as can be; forget one");
}

static LabResult return_to(Lab *lab, int place, CalError *error) {
	const Moment *moment = &lab->moments[place];
	if (lab->forbidden || !moment->memory)
		return refuse(error, lab->forbidden ? lab->forbidden : "this moment is not kept");
	CalStatus status = cal_checkpoint_restore(lab->sim, moment->memory, moment->size, error);
	if (status == CAL_OK && lab->scenario)
		status = cal_scenario_resume(lab->scenario);
	if (status != CAL_OK && !error->text[0])
		refuse(error, cal_status_text(status));
	return status == CAL_OK ? LAB_RETURNED : LAB_REFUSED;
}

void lab_write_moments(const Lab *lab, char *text, size_t size) {
	size_t used = (size_t)snprintf(text, size, "{\"moments\":[");
	for (int i = 0, count = 0; i < MAX_MOMENTS && used < size; i++)
		if (lab->moments[i].memory && !lab->forbidden)
			used += (size_t)snprintf(text + used, size - used, "%s{\"moment\":%d,\"t\":%.17g}", count++ ? "," : "", i,
			                         lab->moments[i].t);
	if (used < size)
		snprintf(text + used, size - used, "]}");
}

/* ---- parameters ---------------------------------------------------------------------------------------- */

static LabResult set_parameter(Lab *lab, const char *command, int *parameter, CalError *error) {
	double value;
	if (!command_index(command, "parameter", cal_sim_parameter_count(lab->sim), parameter) ||
	    !command_number(command, "value", &value))
		return refuse(error, "a change of a parameter needs its number and a finite value");
	const CalStatus status = lab->scenario ? cal_scenario_set_parameter(lab->scenario, *parameter, value, error)
	                                       : cal_sim_set_parameter(lab->sim, *parameter, value, NULL, error);
	if (status != CAL_OK && !error->text[0])
		refuse(error, cal_status_text(status));
	return status == CAL_OK ? LAB_PARAMETER : LAB_REFUSED;
}

LabResult lab_obey(Lab *lab, const char *command, int *parameter, CalError *error) {
	int place;
	*error = (CalError){0};
	if (command_is(command, "parameter"))
		return set_parameter(lab, command, parameter, error);
	if (command_is(command, "reset"))
		return return_to(lab, 0, error);
	if (command_is(command, "keep"))
		return keep_now(lab, error);
	if (command_is(command, "return"))
		return command_index(command, "moment", MAX_MOMENTS, &place) ? return_to(lab, place, error)
		                                                             : refuse(error, "there is no such moment");
	if (!command_is(command, "forget"))
		return LAB_NOTHING;
	if (!command_index(command, "moment", MAX_MOMENTS, &place) || place == 0)
		return refuse(error, "there is no such moment");
	forget(&lab->moments[place]);
	return LAB_MOMENTS;
}
