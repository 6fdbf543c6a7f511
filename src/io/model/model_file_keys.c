// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_keys.c — the messages of the reader, the list of all tables of fields, and named items.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name_index.h"
#include "base/text_reader.h"
#include "io/model/model_file.h"
#include "io/model/schema/format_text.h"
#include "io/model/schema/format_types.h"

const FieldTable *const model_file_tables[] = {
	&file_table,          &group_table,          &ground_table,   &body_table,          &node_table,
	&placement_table,     &rotation_table,       &inertia_table,  &box_table,           &sphere_table,
	&rod_table,           &mass_mesh_table,      &joint_table,    &element_table,       &dof_table,
	&joint_limits_table,  &joint_friction_table, &cylinder_table, &state_table,         &load_table,
	&run_table,           &output_table,         &flexible_table, &flexible_node_table, &beam_table,
	&beam_mass_table,     &section_table,        &panel_table,    &invariants_table,    &position_table,
	&shape_table,         &modal_table,          &loop_table,     &term_table,          &drive_table,
	&stabilisation_table, &applied_wrench_table, &table_table,    &contact_shape_table, &contact_material_table,
	&motion_table,        &pendulum_table,       &event_table,    &action_table,        &attach_table,
	&add_body_table,      &visual_table,         &view_table,     &camera_table,        &step_table,
	&subsystem_table,     &attachment_table,

};
const int model_file_table_count = (int)(sizeof model_file_tables / sizeof model_file_tables[0]);

static Format model_format(void) {
	return (Format){.title = "Calder file, format 1 (docs/format.md)",
	                .tables = model_file_tables,
	                .count = model_file_table_count,
	                .devices = true};
}

CalStatus cal_format_write_schema(FILE *out, CalError *error) {
	const Format format = model_format();
	return out ? format_write_schema(&format, out, error) : error_null(error, __func__, "out");
}

CalStatus cal_format_write_tables(FILE *out, CalError *error) {
	const Format format = model_format();
	if (!out)
		return error_null(error, __func__, "out");
	format_write_types(out);
	return format_write_tables(&format, out, error);
}

/* ---- messages ------------------------------------------------------------------------------- */

bool reader_fail(Reader *r, const TreeNode *node, const char *format, ...) {
	char text[600];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	r->status = tree_error(r->error, tree_name(r->file->tree), node, CAL_ERR_INPUT, "%s%s%s", r->subject,
	                       r->subject[0] ? ": " : "", text);
	return false;
}

/* The builder writes "place: text"; "error: " goes between the two, as in every other message of a file. */
bool reader_refused(Reader *r, const TreeNode *node, CalStatus status) {
	char place[256], text[sizeof r->error->text];
	r->status = status;
	if (!r->error)
		return false;
	tree_place(r->file->tree, node, place, sizeof place);
	const size_t length = strlen(place);
	snprintf(text, sizeof text, "%s", r->error->text);
	const char *rest =
		strncmp(text, place, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
	tree_error(r->error, tree_name(r->file->tree), node, status, "%s", rest);
	return false;
}

bool reader_added(Reader *r, const TreeNode *node, CalStatus status) {
	return status == CAL_OK || reader_refused(r, node, status);
}

void *reader_array(Reader *r, size_t count, size_t size) {
	void *memory = tree_array(r->file->tree, count, size);
	if (!memory)
		r->status = tree_error(r->error, tree_name(r->file->tree), NULL, CAL_ERR_MEMORY, "out of memory");
	return memory;
}

char *reader_text(Reader *r, const char *format, ...) {
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	const int length = vsnprintf(NULL, 0, format, arguments);
	char *text = reader_array(r, (size_t)length + 1, 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(arguments);
	return text;
}

bool reader_path(Reader *r, const TreeNode *node, const char *host, const char *name, char *path, size_t size) {
	if (!fe_path_beside(host ? host : tree_name(r->file->tree), name, path, size))
		return reader_fail(r, node, "the name of the file is too long");
	return !r->file->setup || reader_added(r, node, cal_setup_add_source(r->file->setup, path, r->error));
}

enum { WARNINGS_MOST = 32 }; // of one file; the last one says that there are more

bool reader_warn(Reader *r, const TreeNode *node, const char *format, ...) {
	char text[400], place[256];
	va_list arguments;
	const int count = cal_setup_warning_count(r->file->setup);
	if (count >= WARNINGS_MOST || !r->file->setup)
		return true;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	tree_place(r->file->tree, node, place, sizeof place);
	for (int i = 0; i < count; i++)
		if (strstr(cal_setup_warning(r->file->setup, i), text) &&
		    strncmp(cal_setup_warning(r->file->setup, i), place, strlen(place)) == 0)
			return true; // a file that is read twice
	const char *warning =
		count == WARNINGS_MOST - 1
			? reader_text(r, "%s: warning: there is more of this kind, which is not listed", tree_name(r->file->tree))
			: reader_text(r, "%s: warning: %s%s%s", place, r->subject, r->subject[0] ? ": " : "", text);
	return warning && reader_added(r, node, cal_setup_add_warning(r->file->setup, warning, r->error));
}

void reader_subject(Reader *r, const char *what, const char *name) {
	if (name)
		snprintf(r->subject, sizeof r->subject, "%s \"%.100s\"", what, name);
	else
		snprintf(r->subject, sizeof r->subject, "%s", what);
}

bool reader_unknown(Reader *r, const TreeNode *node, const char *what, const Suggestion *suggestion) {
	char hint[128];
	return reader_fail(r, node, "unknown %s \"%.80s\"%s", what, suggestion->word,
	                   suggestion_text(suggestion, hint, sizeof hint));
}

bool reader_unknown_of(Reader *r, const TreeNode *node, const char *what, const Suggestion *suggestion,
                       const char *words) {
	char hint[128];
	suggestion_text(suggestion, hint, sizeof hint);
	return reader_fail(r, node, "unknown %s \"%.80s\"%s%s types are %s", what, suggestion->word, hint,
	                   hint[0] ? " The" : "; the", words);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Words of other tools for keys of this format. */
static const struct {
	const char *word, *key;
} synonyms[] = {
	{"torque", "effort"},
	{"tau", "effort"},
	{"parent", "from"},
	{"child", "to"},
	{"inboard_node", "from"},
	{"outboard_node", "to"},
	{"position", "at"},
	{"origin", "inboard"},
	{"xyz", "at"},
	{"rpy", "orientation"},
	{"quaternion", "orientation"},
	{"rotation", "orientation"},
	{"links", "bodies"},
	{"friction", "damping"},
	{"armature", "rotor_inertia"},
	{"dt", "step"},
	{"timestep", "step"},
	{"t_end", "duration"},
	{"integrator", "method"},
	{"initial", "state"},
	{"forces", "loads"},
	{"speed", "u"},
	{"angle", "q"},
	{"center_of_mass", "com"},
	{"spring", "stiffness"},
	{"damper", "damping"},
	{"locked", "lock"},
	{"until", "end"},
	{"E", "youngs_modulus"},
	{"nu", "poissons_ratio"},
	{"rho", "density"},
	{"tip_mass", "masses"},
};

bool reader_unknown_key(Reader *r, const TreeNode *key, const FieldTable *table) {
	Suggestion suggestion = {.word = key->text};
	for (int i = 0; i < table->count; i++)
		suggestion_offer(&suggestion, table->fields[i].name);
	for (size_t i = 0; !suggestion.best && i < sizeof synonyms / sizeof synonyms[0]; i++) {
		if (edit_distance(synonyms[i].word, key->text) == 0 && field_find(table, synonyms[i].key))
			suggestion.best = synonyms[i].key;
	}
	char hint[400] = "";
	if (suggestion.best) {
		suggestion_text(&suggestion, hint, sizeof hint);
	} else if (key->text[0] >= '0' && key->text[0] <= '9') {
		snprintf(hint, sizeof hint, "; a comma ends a value in braces, and decimals follow a point");
	} else {
		size_t used = (size_t)snprintf(hint, sizeof hint, "; the keys of this map are");
		for (int i = 0; i < table->count && used + 40 < sizeof hint; i++)
			used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i ? "," : "", table->fields[i].name);
	}
	return reader_fail(r, key, "unknown key \"%.80s\"%s", key->text, hint);
}

/* ---- named items ------------------------------------------------------------------------------ */

int items_count(Reader *r, const TreeNode *section, const char *what) {
	if (!section || tree_is_null(section))
		return 0;
	if (section->kind == TREE_SCALAR) {
		reader_fail(r, section, "expected a map of %s by name, or a list of them with the key \"name\"", what);
		return -1;
	}
	return section->count;
}

bool model_file_check_name(Reader *r, const TreeNode *place, const char *name) {
	if (!name[0])
		return reader_fail(r, place, "a name is empty");
	for (const char *p = name; *p; p++) {
		if ((unsigned char)*p < ' ' || strchr(",\"", *p))
			return reader_fail(r, place,
			                   "the name \"%.80s\" holds a character that names cannot hold (, \" or a control "
			                   "character); rename it",
			                   name);
	}
	return name_slashes_are_sound(name) ||
	       reader_fail(r, place, "the name \"%.80s\" has a '/' at an end, twice, or after \"ground\"; rename it", name);
}

bool items_get(Reader *r, const TreeNode *section, int index, const char *what, Item *item) {
	const TreeNode *value = section->items[index];
	const TreeNode *inner = tree_get(value, "name");
	if (section->kind == TREE_MAP) {
		*item = (Item){tree_key(section, index)->text, tree_key(section, index), value};
		if (inner)
			return reader_fail(r, inner, "%s \"%.80s\" has a key \"name\" besides; remove it", what, item->name);
		return model_file_check_name(r, item->place, item->name);
	}
	if (!inner || inner->kind != TREE_SCALAR)
		return reader_fail(r, value, "a %s in a list needs the key \"name\"", what);
	*item = (Item){inner->text, value, value};
	return model_file_check_name(r, inner, item->name);
}
