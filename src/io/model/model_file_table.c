// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_table.c — functions of time by their values: a number, a list of points, or a map with points or the name
 * of a CSV file, and their shape.
 */
#include <string.h>

#include "io/model/model_file.h"

typedef struct TableInput {
	const TreeNode *points, *csv, *column, *shape;
} TableInput;

static const char *shape_word(int i) { return cal_table_shape_name((CalTableShape)i); }

static const Field table_keys[] = {
	{"points", FIELD_POINTS, offsetof(TableInput, points), .flags = FIELD_AS_TREE,
     .doc = "`[time, value]`, times ascending; or"},
	{"csv", FIELD_FILE, offsetof(TableInput, csv), .flags = FIELD_AS_TREE,
     .doc = "a CSV file. Its first column is the time, ascending; lines that begin with `#` are skipped. A first "
            "line that is not a number names the columns, with the unit in brackets: `t [s],q:crank [deg]`, as "
            "`calder run -o` writes it. Without a unit numbers are SI"},
	{"column", FIELD_TEXT, offsetof(TableInput, column), .flags = FIELD_AS_TREE,
     .doc = "of the CSV file: its name in the first line, with or without the unit, or its number (the "
            "time is 1); default 2"},
	{"shape", FIELD_CHOICE, offsetof(TableInput, shape), .flags = FIELD_AS_TREE,
     .doc =
         "`step`: each value holds from its time on; `cubic`: rate continuous, at rest at both ends; "
         "`smooth`: quintic pieces from rest to rest; `spline`: rate and acceleration continuous, for sampled motions",
     .word_at = shape_word},
};
const FieldTable table_table = {FIELDS("table", table_keys), .doc = "A function of time by its values."};

static bool read_shape(Reader *r, const TreeNode *node, CalTableShape *shape) {
	Suggestion suggestion = {0};
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < CAL_TABLE_SHAPE_COUNT; i++) {
		const char *name = cal_table_shape_name((CalTableShape)i);
		if (strcmp(name, suggestion.word) == 0) {
			*shape = (CalTableShape)i;
			return true;
		}
		suggestion_offer(&suggestion, name);
	}
	if (suggestion.best)
		return reader_unknown(r, node, "shape", &suggestion);
	return reader_fail(r, node, "unknown shape \"%.40s\"; write step, linear, cubic, smooth or spline",
	                   suggestion.word);
}

static bool read_points(Reader *r, const TreeNode *node, Dimension dimension, CalTable *table) {
	if (!read_list(r, node, "points, each [time, value]"))
		return false;
	double *time = reader_array(r, (size_t)node->count, sizeof *time);
	double *value = reader_array(r, (size_t)node->count, sizeof *value);
	if (!time || !value)
		return false;
	for (int i = 0; i < node->count; i++) {
		const TreeNode *point = node->items[i];
		if (point->kind != TREE_LIST || point->count != 2)
			return reader_fail(r, point, "expected a point as a list of two numbers, [time, value]");
		if (!read_quantity(r, point->items[0], DIM_TIME, &time[i]) ||
		    !read_quantity(r, point->items[1], dimension, &value[i]))
			return false;
		if (i > 0 && !(time[i] > time[i - 1]))
			return reader_fail(r, point, "the times of a table ascend; %g s follows %g s", time[i], time[i - 1]);
	}
	table->count = node->count;
	table->time = time;
	table->value = value;
	return true;
}

bool model_file_read_table(Reader *r, const TreeNode *node, Dimension dimension, CalTable *table) {
	TableInput in = {0};
	if (node->kind == TREE_LIST)
		return read_points(r, node, dimension, table);
	if (node->kind == TREE_MAP) {
		if (!fields_read(r, node, &table_table, &in) || (in.shape && !read_shape(r, in.shape, &table->shape)))
			return false;
		if (!in.points == !in.csv)
			return reader_fail(r, node, "a table has \"points\", or a file \"csv\"");
		if (in.column && !in.csv)
			return reader_fail(r, in.column, "\"column\" is one of a file \"csv\"");
		return in.csv ? model_file_read_csv(r, in.csv, in.column, dimension, table)
		              : read_points(r, in.points, dimension, table);
	}
	double *constant = reader_array(r, 2, sizeof *constant);
	if (!constant || !read_quantity(r, node, dimension, &constant[1]))
		return false;
	table->count = 1;
	table->time = constant;
	table->value = constant + 1;
	return true;
}
