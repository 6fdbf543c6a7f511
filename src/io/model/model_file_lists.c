// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_lists.c — lists of any length: numbers, matrices by their rows, and components that are numbers, tables or
 * formulas.
 */
#include <limits.h>

#include "device/device_type.h"
#include "io/model/model_file.h"

bool model_file_read_whole(Reader *r, const TreeNode *node, const char *key, int *out) {
	double number;
	if (!read_quantity(r, node, DIM_NUMBER, &number))
		return false;
	if (!(number >= 0 && number <= INT_MAX) || number != (double)(int)number)
		return reader_fail(r, node, "\"%s\" must be a whole number, zero or more", key);
	*out = (int)number;
	return true;
}

/* A number counts as a list of one. */
static const TreeNode *item_of(const TreeNode *node, int i) { return node->kind == TREE_LIST ? node->items[i] : node; }

bool model_file_read_numbers(Reader *r, const TreeNode *node, Dimension dimension, NumberList *list) {
	const int count = node->kind == TREE_LIST ? node->count : 1;
	double *values = reader_array(r, (size_t)count + 1, sizeof *values);
	if (!values)
		return false;
	for (int i = 0; i < count; i++)
		if (!read_quantity(r, item_of(node, i), dimension, &values[i]))
			return false;
	*list = (NumberList){count, values};
	return true;
}

/* A list of numbers, or one number, is a diagonal. */
static bool read_diagonal(Reader *r, const TreeNode *node, Dimension dimension, NumberMatrix *matrix) {
	NumberList list;
	if (!model_file_read_numbers(r, node, dimension, &list))
		return false;
	double *values = reader_array(r, (size_t)list.count * (size_t)list.count + 1, sizeof *values);
	if (!values)
		return false;
	for (int i = 0; i < list.count; i++)
		values[i * list.count + i] = list.value[i];
	*matrix = (NumberMatrix){list.count, list.count, values};
	return true;
}

bool model_file_read_number_matrix(Reader *r, const TreeNode *node, Dimension dimension, NumberMatrix *matrix) {
	const TreeNode *first = node->kind == TREE_LIST && node->count > 0 ? node->items[0] : NULL;
	if (!first || first->kind != TREE_LIST)
		return read_diagonal(r, node, dimension, matrix);
	const int rows = node->count, columns = first->count;
	double *values = reader_array(r, (size_t)rows * (size_t)columns + 1, sizeof *values);
	if (!values)
		return false;
	for (int i = 0; i < rows; i++) {
		const TreeNode *row = node->items[i];
		if (row->kind != TREE_LIST || row->count != columns)
			return reader_fail(r, row, "row %d does not have %d numbers, as the first row has", i + 1, columns);
		for (int k = 0; k < columns; k++)
			if (!read_quantity(r, row->items[k], dimension, &values[i * columns + k]))
				return false;
	}
	*matrix = (NumberMatrix){rows, columns, values};
	return true;
}

/* [[time, value], ...] is one table and not a list of components. */
static bool is_points(const TreeNode *node) {
	const TreeNode *first = node->kind == TREE_LIST && node->count > 0 ? node->items[0] : NULL;
	return first && first->kind == TREE_LIST && first->count > 0 && first->items[0]->kind == TREE_SCALAR;
}

bool model_file_read_load_list(Reader *r, const TreeNode *node, Dimension dimension, LoadValueList *list) {
	const bool several = node->kind == TREE_LIST && !is_points(node);
	const int count = several ? node->count : 1;
	CalLoadValue *values = reader_array(r, (size_t)count + 1, sizeof *values);
	if (!values)
		return false;
	for (int i = 0; i < count; i++) {
		values[i] = (CalLoadValue){.table.shape = CAL_TABLE_LINEAR};
		if (!model_file_read_load_value(r, several ? node->items[i] : node, dimension, &values[i]))
			return false;
	}
	*list = (LoadValueList){count, values};
	return true;
}
