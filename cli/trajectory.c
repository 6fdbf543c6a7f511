// SPDX-License-Identifier: Apache-2.0
/*
 * trajectory.c — see trajectory.h.
 */
#include "trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

/* ---- names --------------------------------------------------------------------------------------- */

static bool has_quaternion(const CalJointDef *def) {
	CalCoordinateInfo info;
	for (int i = 0; cal_joint_coordinate(def, i, &info) == CAL_OK; i++)
		if (info.kind == CAL_COORDINATE_QUATERNION)
			return true;
	return false;
}

/* The coordinate "joint", or "joint.x" where it has several; its kind. False: there is no such coordinate. */
static bool find_coordinate(const CalDesc *desc, const char *name, Followed *found, CalCoordinateKind *kind) {
	char joint[160];
	const char *point = strrchr(name, '.');
	CalCoordinateInfo info;
	snprintf(found->name, sizeof found->name, "%s", name);
	snprintf(joint, sizeof joint, "%s", name);
	found->joint = cal_desc_find_joint(desc, joint);
	if (found->joint.value) {
		const CalJointDef *def = cal_desc_joint(desc, found->joint, NULL, NULL);
		found->dof = 0;
		if (cal_joint_coordinate_count(def) != 1 || cal_joint_coordinate(def, 0, &info) != CAL_OK)
			return false;
		*kind = info.kind;
		return true;
	}
	if (!point || (size_t)(point - name) >= sizeof joint)
		return false;
	joint[point - name] = 0;
	found->joint = cal_desc_find_joint(desc, joint);
	const CalJointDef *def = found->joint.value ? cal_desc_joint(desc, found->joint, NULL, NULL) : NULL;
	for (int i = 0; def && cal_joint_coordinate(def, i, &info) == CAL_OK; i++) {
		if (strcmp(info.name, point + 1) != 0)
			continue;
		found->dof = i; // coordinates and speeds have the same numbers where there is no quaternion
		*kind = has_quaternion(def) ? CAL_COORDINATE_QUATERNION : info.kind;
		return true;
	}
	return false;
}

static const char *nearest_joint(const CalDesc *desc, const char *name) {
	const int count = cal_desc_joint_count(desc);
	const char **names = calloc((size_t)count + 1, sizeof *names), *found = NULL;
	for (int i = 0; names && i < count; i++)
		names[i] = cal_desc_joint(desc, (CalJointId){(uint32_t)i + 1}, NULL, NULL)->name;
	if (names)
		found = cal_name_nearest(name, names, count);
	free(names);
	return found;
}

static int say_unknown(const CalDesc *desc, const char *path, const char *name) {
	char text[400];
	const char *near = nearest_joint(desc, name);
	snprintf(text, sizeof text, "there is no joint coordinate \"%.120s\"%s%.120s%s", name,
	         near ? "; did you mean \"" : "; calder info lists them", near ? near : "", near ? "\"?" : "");
	say_error(path, text);
	return EXIT_INPUT;
}

/* ---- what is followed ------------------------------------------------------------------------------ */

static int append(Trajectory *t, const Followed *item, const char *path) {
	char text[300];
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->items[i].name, item->name) == 0) {
			snprintf(text, sizeof text, "coordinate \"%.160s\" is given twice", item->name);
			say_error(path, text);
			return EXIT_INPUT;
		}
	Followed *items = realloc(t->items, (size_t)(t->count + 1) * sizeof *items);
	if (!items)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	t->items = items;
	items[t->count++] = *item;
	return EXIT_OK;
}

/* Rows of the table that have a time of their own: the last of several at one time is that after an event. */
static int take_times(Trajectory *t, const Csv *csv, const char *path) {
	double scale;
	if (!column_scale(&csv->columns[0], "s", path, &scale))
		return EXIT_INPUT;
	t->time = malloc((csv->count + 1) * sizeof *t->time);
	if (!t->time)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (size_t i = 0; i < csv->count; i++) {
		const double time = scale * csv->rows[i * (size_t)csv->column_count];
		t->points += !(t->points && t->time[t->points - 1] == time);
		t->time[t->points - 1] = time;
	}
	if (t->points >= 2)
		return EXIT_OK;
	say_error(path, "a motion needs at least two rows of different times");
	return EXIT_INPUT;
}

static int say_column(const char *path, const Column *column, double t, const char *what) {
	char text[300];
	snprintf(text, sizeof text, "column \"%.120s\" %s at t = %.9g s", column->name, what, t);
	say_error(path, text);
	return EXIT_INPUT;
}

static int take_values(const Trajectory *t, const Csv *csv, int column, Followed *item, const char *path) {
	const Column *from = &csv->columns[column];
	double scale, time_scale;
	if (!column_scale(from, item->turns ? "rad" : "m", path, &scale) ||
	    !column_scale(&csv->columns[0], "s", path, &time_scale))
		return EXIT_INPUT;
	item->value = malloc((size_t)t->points * sizeof *item->value);
	if (!item->value)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	int point = -1;
	for (size_t i = 0; i < csv->count; i++) {
		const double *row = csv->rows + i * (size_t)csv->column_count, value = scale * row[column];
		const bool again = point >= 0 && t->time[point] == time_scale * row[0];
		if (!isfinite(value))
			return say_column(path, from, time_scale * row[0], "has no value");
		if (again && value != item->value[point])
			return say_column(path, from, time_scale * row[0], "jumps: no force can follow it");
		point += !again;
		item->value[point] = value;
	}
	return EXIT_OK;
}

static bool is_chosen(const char *name, const char *const *chosen, int count) {
	for (int i = 0; i < count; i++)
		if (strcmp(chosen[i], name) == 0)
			return true;
	return count == 0;
}

/* Names of columns that are passed over, for one note. */
typedef struct Passed {
	char text[200];
	int count;
} Passed;

static void pass_over(Passed *passed, const char *name) {
	const size_t used = strlen(passed->text);
	if (passed->count++ < 4)
		snprintf(passed->text + used, sizeof passed->text - used, "%s%.40s", used ? ", " : "", name);
}

/* A column "q:elbow" or "elbow". Those of other quantities ("u:elbow", "energy:total") and of quaternions are passed over. */
static int take_column(Trajectory *t, const CalDesc *desc, const Csv *csv, int column, const char *const *chosen,
                       int chosen_count, Passed *passed, const char *path) {
	const char *label = csv->columns[column].name;
	const bool q = strncmp(label, "q:", 2) == 0;
	const char *name = q ? label + 2 : label;
	Followed item = {0};
	CalCoordinateKind kind = CAL_COORDINATE_USER;
	const bool found = find_coordinate(desc, name, &item, &kind);
	if (!found && !q && strchr(label, ':')) {
		pass_over(passed, label);
		return EXIT_OK;
	}
	if (!is_chosen(name, chosen, chosen_count))
		return EXIT_OK;
	if (!found && q && strstr(name, ".eta")) { // modes follow from the dynamics
		pass_over(passed, label);
		return EXIT_OK;
	}
	if (!found)
		return say_unknown(desc, path, name);
	if (kind != CAL_COORDINATE_ANGLE && kind != CAL_COORDINATE_LENGTH) {
		pass_over(passed, label);
		return EXIT_OK;
	}
	item.turns = kind == CAL_COORDINATE_ANGLE;
	int code = take_values(t, csv, column, &item, path);
	if (code == EXIT_OK)
		code = append(t, &item, path);
	if (code != EXIT_OK)
		free(item.value);
	return code;
}

static int check_chosen(const Trajectory *t, const char *path, const char *const *chosen, int count) {
	char text[300];
	for (int i = 0; i < count; i++) {
		bool found = false;
		for (int k = 0; k < t->count; k++)
			found |= strcmp(t->items[k].name, chosen[i]) == 0;
		if (found)
			continue;
		snprintf(text, sizeof text, "there is no column of coordinate \"%.160s\"", chosen[i]);
		say_error(path, text);
		return EXIT_INPUT;
	}
	return EXIT_OK;
}

int trajectory_read(Trajectory *t, const CalDesc *desc, const char *path, const char *stream, const char *const *chosen,
                    int chosen_count) {
	Csv csv = {0};
	Passed passed = {0};
	char text[300];
	int code = cal_results_is_hdf5(path) ? csv_from_hdf5(path, stream, &csv) : csv_read(path, &csv);
	if (code == EXIT_OK)
		code = take_times(t, &csv, path);
	for (int i = 1; i < csv.column_count && code == EXIT_OK; i++)
		code = take_column(t, desc, &csv, i, chosen, chosen_count, &passed, path);
	if (code == EXIT_OK)
		code = check_chosen(t, path, chosen, chosen_count);
	if (code == EXIT_OK && passed.count) {
		snprintf(text, sizeof text, "not followed: %s%s (%d column%s)", passed.text, passed.count > 4 ? ", ..." : "",
		         passed.count, plural(passed.count));
		say_note(path, text);
	}
	csv_free(&csv);
	return code;
}

int trajectory_add_formula(Trajectory *t, const CalDesc *desc, const char *command, const char *text) {
	const char *equals = strchr(text, '=');
	char name[160];
	Followed item = {0};
	CalCoordinateKind kind = CAL_COORDINATE_USER;
	if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
		return say_usage(command, "--drive takes JOINT=FORMULA, not '%s'", text);
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	if (!find_coordinate(desc, name, &item, &kind))
		return say_unknown(desc, "--drive", name);
	if (kind == CAL_COORDINATE_QUATERNION || kind == CAL_COORDINATE_MODE)
		return say_usage(command, "--drive: \"%s\" has a quaternion; only joints without one can be driven", name);
	item.turns = kind == CAL_COORDINATE_ANGLE;
	item.formula = equals + 1;
	return append(t, &item, "--drive");
}

int trajectory_drive(const Trajectory *t, CalSetup *setup, const char *path) {
	for (int i = 0; i < t->count; i++) {
		const Followed *item = &t->items[i];
		char name[200];
		CalError error = {0};
		snprintf(name, sizeof name, "follow_%s", item->name);
		const CalJointDriveDef def = {
			.name = name,
			.joint = item->joint,
			.dof = item->dof,
			.q = {.formula = item->formula,
		          .table = {CAL_TABLE_SPLINE, item->formula ? 0 : t->points, t->time, item->value}}};
		const CalStatus status = cal_setup_add_device(setup, "joint_drive", &def, &error);
		if (status != CAL_OK)
			return say_status(path, status, &error);
	}
	return EXIT_OK;
}

void trajectory_free(Trajectory *t) {
	for (int i = 0; i < t->count; i++)
		free(t->items[i].value);
	free(t->items), free(t->time);
	*t = (Trajectory){0};
}
