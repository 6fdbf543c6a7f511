// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_fields.c — reads a map by its table of fields (base/field.h): refuses unknown keys, asks for required ones and
 * stores every value as its kind says.
 */
#include <stdio.h>
#include <string.h>

#include "device/device_type.h"
#include "io/model/model_file.h"

/* ---- the joint that a map names --------------------------------------------------------------------- */

static bool read_joint(Reader *r, const TreeNode *value, CalJointId *id) {
	const char *name;
	if (!read_text(r, value, &name) || !model_file_find_joint(r, value, name, &r->joint))
		return false;
	*id = cal_desc_find_joint(r->file->desc, name);
	r->dof = -1;
	return true;
}

static bool read_dof(Reader *r, const TreeNode *value, int *dof) {
	if (!r->joint)
		return reader_fail(r, value, "\"dof\" counts the degrees of freedom of a joint; name the \"joint\" too");
	if (!read_index(r, value, "dof", r->joint->shape.nu, "the degrees of freedom of joint", r->joint->name, dof))
		return false;
	r->dof = *dof;
	return true;
}

static bool read_body(Reader *r, const TreeNode *value, CalBodyId *id) {
	const char *name;
	if (!read_text(r, value, &name) || !model_file_find_body(r, r->sections, value, name, id))
		return false;
	r->body = *id;
	return true;
}

static bool read_mode(Reader *r, const TreeNode *value, int *mode) {
	if (!r->body.value)
		return reader_fail(r, value, "\"mode\" counts the modes of a body; name the \"body\" too");
	return read_index(r, value, "mode", r->file->modes[r->body.value - 1], "the modes of body",
	                  cal_desc_body(r->file->desc, r->body)->name, mode);
}

/* The unit of a field, which may follow the dof of the joint; false after reporting that it is not known which. */
static bool find_dimension(Reader *r, const TreeNode *value, const Field *field, Dimension *out) {
	*out = field->dimension;
	if (!(field->flags & FIELD_BY_DOF))
		return true;
	if (!r->joint && r->body.value) { // units of modes are those of the shapes
		*out = DIM_NUMBER;
		return true;
	}
	if (!r->joint)
		return reader_fail(r, value, "it needs a \"joint\" to act on");
	if (r->joint->shape.nu != 1 && r->dof < 0)
		return reader_fail(r, value, "joint \"%.80s\" has %d degrees of freedom; say with \"dof\" which one, from 1",
		                   r->joint->name, r->joint->shape.nu);
	if (r->joint->shape.linear[r->dof < 0 ? 0 : r->dof])
		*out = dimension_of_sliding(field->dimension);
	return true;
}

/* ---- kinds ---------------------------------------------------------------------------------------- */

static bool read_number(Reader *r, const TreeNode *value, const Field *field, Dimension dimension, double *x) {
	if (!read_quantity(r, value, dimension, x))
		return false;
	if (field->kind == FIELD_POSITIVE && !(*x > 0))
		return reader_fail(r, value, "the key \"%s\" must be greater than zero", field->name);
	return field->kind != FIELD_NOT_NEGATIVE || *x >= 0 ||
	       reader_fail(r, value, "the key \"%s\" must not be negative", field->name);
}

static bool read_choice(Reader *r, const TreeNode *value, const Field *field, int *out) {
	Suggestion suggestion = {0};
	char words[300] = "";
	if (!read_text(r, value, &suggestion.word))
		return false;
	for (int i = 0; field_word(field, i); i++) {
		const char *word = field_word(field, i);
		if (strcmp(word, suggestion.word) == 0) {
			*out = i;
			return true;
		}
		const size_t used = strlen(words);
		suggestion_offer(&suggestion, word);
		snprintf(words + used, sizeof words - used, "%s%s",
		         i == 0                     ? ""
		         : field_word(field, i + 1) ? ", "
		                                    : " or ",
		         word);
	}
	if (suggestion.best)
		return reader_unknown(r, value, field->name, &suggestion);
	return reader_fail(r, value, "unknown %s \"%.40s\"; write %s", field->name, suggestion.word, words);
}

static bool read_group(Reader *r, const TreeNode *value, const char **name) {
	if (!read_text(r, value, name))
		return false;
	return cal_desc_find_group(r->file->desc, *name).value ||
	       reader_fail(r, value, "there is no group \"%.80s\"", *name);
}

static bool read_node_path(Reader *r, const TreeNode *value, CalNodeId *id) {
	const char *path;
	return read_text(r, value, &path) && model_file_find_node(r, r->sections, value, path, id);
}

/* A file beside the one that names it. */
static bool read_file_path(Reader *r, const TreeNode *value, const char **out) {
	const char *name;
	char path[1024];
	if (!read_text(r, value, &name) || !reader_path(r, value, NULL, name, path, sizeof path))
		return false;
	*out = reader_text(r, "%s", path);
	return *out != NULL;
}

/* One of each for x, y and z. */
static bool check_three(Reader *r, const TreeNode *value, const char *what) {
	return (value->kind == TREE_LIST && value->count == 3) ||
	       reader_fail(r, value, "expected a list of three %s, for x, y and z; write 0 for none", what);
}

static bool read_load_values(Reader *r, const TreeNode *value, Dimension dimension, CalLoadValue values[3]) {
	return check_three(r, value, "numbers, tables or formulas") &&
	       model_file_read_load_value(r, value->items[0], dimension, &values[0]) &&
	       model_file_read_load_value(r, value->items[1], dimension, &values[1]) &&
	       model_file_read_load_value(r, value->items[2], dimension, &values[2]);
}

/* [start, end] of each pulse: a table of steps that begins with zero. */
static bool read_pulses(Reader *r, const TreeNode *node, CalTable *table) {
	if (!read_list(r, node, "pulses, each [start, end]"))
		return false;
	double *time = reader_array(r, 2 * (size_t)node->count + 1, sizeof *time);
	double *value = reader_array(r, 2 * (size_t)node->count + 1, sizeof *value);
	if (!time || !value)
		return false;
	time[0] = -1e30;
	value[0] = 0;
	for (int i = 0; i < node->count; i++) {
		const TreeNode *pulse = node->items[i];
		if (pulse->kind != TREE_LIST || pulse->count != 2)
			return reader_fail(r, pulse, "expected a pulse as a list of two times, [start, end]");
		if (!read_quantity(r, pulse->items[0], DIM_TIME, &time[2 * i + 1]) ||
		    !read_quantity(r, pulse->items[1], DIM_TIME, &time[2 * i + 2]))
			return false;
		value[2 * i + 1] = 1;
		value[2 * i + 2] = 0;
	}
	*table = (CalTable){CAL_TABLE_STEP, 2 * node->count + 1, time, value};
	return true;
}

static bool read_by_kind(Reader *r, const TreeNode *value, const Field *field, void *member) {
	Dimension dimension;
	if (!find_dimension(r, value, field, &dimension))
		return false;
	switch (field->kind) {
	case FIELD_NUMBER:
	case FIELD_POSITIVE:
	case FIELD_NOT_NEGATIVE:
		return read_number(r, value, field, dimension, member);
	case FIELD_VECTOR:
		return read_vector(r, value, dimension, member);
	case FIELD_SCALE:
		return read_scale(r, value, member);
	case FIELD_AXIS:
		return read_axis(r, value, member);
	case FIELD_ORIENTATION:
		return read_orientation(r, value, member);
	case FIELD_PLACEMENT:
		return read_placement(r, value, member);
	case FIELD_TEXT:
		return read_text(r, value, member);
	case FIELD_FLAG:
		return read_flag(r, value, member);
	case FIELD_CHOICE:
		return read_choice(r, value, field, member);
	case FIELD_FILE:
		return read_file_path(r, value, member);
	case FIELD_TABLE:
		return model_file_read_table(r, value, dimension, member);
	case FIELD_LOAD_VALUE:
		if (!model_file_read_load_value(r, value, dimension, member))
			return false;
		device_field_count_zero(field, member);
		return true;
	case FIELD_LOAD_VALUES:
		return read_load_values(r, value, dimension, member);
	case FIELD_LOAD_LIST:
		return model_file_read_load_list(r, value, dimension, member);
	case FIELD_NUMBERS:
		return model_file_read_numbers(r, value, dimension, member);
	case FIELD_MATRIX:
		return model_file_read_number_matrix(r, value, dimension, member);
	case FIELD_WHOLE:
		return model_file_read_whole(r, value, field->name, member);
	case FIELD_PULSES:
		return read_pulses(r, value, member);
	case FIELD_FUNCTION:
		return model_file_read_function(r, value, dimension, member);
	case FIELD_FORMULA:
		return model_file_read_formula(r, value, member);
	case FIELD_NODE:
		return read_node_path(r, value, member);
	case FIELD_JOINT:
		return read_joint(r, value, member);
	case FIELD_DOF:
		return read_dof(r, value, member);
	case FIELD_BODY:
		return read_body(r, value, member);
	case FIELD_MODE:
		return read_mode(r, value, member);
	case FIELD_GROUP:
		return read_group(r, value, member);
	case FIELD_SHAPES:
		return model_file_read_contact(r, value, member);
	default: // not stored
		return true;
	}
}

bool field_read(Reader *r, const TreeNode *value, const Field *field, void *target) {
	void *member = (char *)target + field->offset;
	if (field->flags & FIELD_AS_TREE) {
		memcpy(member, &value, sizeof value);
		return true;
	}
	if (field->flags & FIELD_AS_TEXT)
		return read_text(r, value, member);
	return read_by_kind(r, value, field, member);
}

/* ---- maps ------------------------------------------------------------------------------------------ */

/* Another field that the map gives for the same member; NULL: none. */
static const Field *given_otherwise(const TreeNode *map, const FieldTable *table, const Field *field) {
	for (int i = 0; field->kind == FIELD_PULSES && i < table->count; i++) {
		const Field *other = &table->fields[i];
		if (other != field && other->kind == FIELD_LOAD_VALUE && tree_get(map, other->name) &&
		    other->offset + offsetof(CalLoadValue, table) == field->offset)
			return other;
	}
	return NULL;
}

const TreeNode *field_value(const TreeNode *map, const Field *field) {
	const TreeNode *value = tree_get(map, field->name);
	return value || !field->former ? value : tree_get(map, field->former);
}

/* False after reporting: a former name beside the present one. It alone is a warning. */
static bool check_former(Reader *r, const TreeNode *map, const Field *field) {
	const TreeNode *old = field->former ? tree_get(map, field->former) : NULL;
	if (old && tree_get(map, field->name))
		return reader_fail(r, old, "\"%s\" is the former name of \"%s\"; give one of them", field->former, field->name);
	return !old || reader_warn(r, old, "the key \"%s\" is now called \"%s\"; write that", field->former, field->name);
}

bool fields_read(Reader *r, const TreeNode *map, const FieldTable *table, void *target) {
	const char *page = r->page ? r->page : "docs/format.md";
	if (map->kind != TREE_MAP)
		return reader_fail(r, map, "expected a map (see \"%s\" in %s)", table->what, page);
	for (int i = 0; i < map->count; i++) {
		if (!field_find(table, tree_key(map, i)->text))
			return reader_unknown_key(r, tree_key(map, i), table);
	}
	for (int i = 0; i < table->count; i++) {
		const Field *field = &table->fields[i];
		const TreeNode *value = field_value(map, field);
		if (!check_former(r, map, field))
			return false;
		if (!value && (field->flags & FIELD_REQUIRED))
			return reader_fail(r, map, "the key \"%s\" is missing (see \"%s\" in %s)", field->name, table->what, page);
		if (!value || ((field->flags & FIELD_MAY_BE_EMPTY) && tree_is_null(value)))
			continue;
		if (tree_is_null(value))
			return reader_fail(r, value, "the key \"%s\" has no value; give it one or remove it", field->name);
		const Field *other = given_otherwise(map, table, field);
		if (other)
			return reader_fail(r, value, "give \"%s\" or \"%s\", not both", other->name, field->name);
		if (!(field->read ? field->read : field_read)(r, value, field, target))
			return false;
	}
	return true;
}
