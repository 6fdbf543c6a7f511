// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_robot.c — robot files (URDF, MJCF, SDFormat) as subsystems (docs/subsystems.md).
 *
 * A robot is translated into the text of a model file, as `calder convert` writes it, and used like any other file. Bodies,
 * joints and loops keep the places that they have in the robot file; what that says and the model does not is in the import
 * report of the model that uses it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/model/subsystem/model_file_part.h"

/* ---- places -------------------------------------------------------------------------------------------------- */

typedef struct Place {
	int line, column;
} Place;

/* Of "file:line:column"; the first line where there is none. */
static Place place_of(const char *text) {
	const char *column = text ? strrchr(text, ':') : NULL, *line = column;
	while (line && line > text && line[-1] != ':')
		line--;
	if (!line || line == text || line == column)
		return (Place){1, 1};
	const int l = atoi(line), c = atoi(column + 1);
	return l > 0 && c > 0 ? (Place){l, c} : (Place){1, 1};
}

/* The nodes are those of a tree that nobody else has yet. */
static void set_places(const TreeNode *node, Place place) {
	TreeNode *own = (TreeNode *)(uintptr_t)node;
	own->line = place.line;
	own->column = (unsigned)place.column & TREE_COLUMN_BITS;
	for (int i = 0; node->kind != TREE_SCALAR && i < node->count; i++) {
		set_places(node->items[i], place);
		if (node->kind == TREE_MAP)
			set_places(tree_key(node, i), place);
	}
}

static const char *place_of_body(const CalDesc *desc, const char *name) {
	const CalBodyDef *def = cal_desc_body(desc, cal_desc_find_body(desc, name));
	return def ? def->place : NULL;
}

static const char *place_of_joint(const CalDesc *desc, const char *name) {
	const CalJointDef *def = cal_desc_joint(desc, cal_desc_find_joint(desc, name), NULL, NULL);
	return def ? def->place : NULL;
}

static const char *place_of_loop(const CalDesc *desc, const char *name) {
	const CalLoopDef *def = cal_desc_loop(desc, cal_desc_find_loop(desc, name), NULL, NULL);
	return def ? def->place : NULL;
}

static void restore_places(const TreeNode *root, const CalDesc *desc) {
	static const struct {
		const char *section;
		const char *(*place)(const CalDesc *desc, const char *name);
	} sections[] = {{"bodies", place_of_body}, {"joints", place_of_joint}, {"loops", place_of_loop}};
	set_places(root, (Place){1, 1});
	for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
		const TreeNode *section = tree_get(root, sections[k].section);
		for (int i = 0; section && section->kind == TREE_MAP && i < section->count; i++) {
			const Place place = place_of(sections[k].place(desc, tree_key(section, i)->text));
			set_places(section->items[i], place);
			set_places(tree_key(section, i), place);
		}
	}
}

/* ---- the robot ----------------------------------------------------------------------------------------------- */

bool robot_is_likely(const char *path) {
	FILE *in = fopen(path, "rb");
	int c = in ? getc(in) : EOF;
	while (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xEF || c == 0xBB ||
	       c == 0xBF) // blanks, byte order mark
		c = getc(in);
	if (in)
		fclose(in);
	return c == '<';
}

/* The report and the sources of the robot become those of the model. */
static CalStatus take_report(CalSetup *to, const CalSetup *robot, CalError *error) {
	CalImportNote note;
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && cal_setup_import_note(robot, i, &note) == CAL_OK; i++)
		status = cal_setup_add_import_note(to, &note, error);
	for (int i = 0; status == CAL_OK && i < cal_setup_source_count(robot); i++)
		status = cal_setup_add_source(to, cal_setup_source(robot, i), error);
	return status;
}

CalStatus robot_read(Reader *r, const char *path, Tree **tree, CalError *error) {
	const ModelFileTranslator *t = r->file->translator;
	CalSetup *robot = NULL;
	char *text = NULL;
	size_t length = 0;
	*tree = NULL;
	if (!t)
		return tree_error(error, path, NULL, CAL_ERR_UNSUPPORTED,
		                  "a robot file; read the model that uses it by cal_model_read(), or convert the robot first: "
		                  "calder convert %.200s -o robot.yaml",
		                  path);
	CalStatus status = t->translate(t->user, path, &r->file->allocator, &robot, &text, &length, error);
	if (status == CAL_OK)
		status = tree_parse(text, length, path, &r->file->allocator, tree, error);
	if (status == CAL_OK) {
		restore_places(tree_root(*tree), cal_setup_desc(robot));
		status = take_report(r->file->setup, robot, error);
	}
	cal_setup_destroy(robot);
	free(text);
	if (status != CAL_OK) {
		tree_destroy(*tree);
		*tree = NULL;
	}
	return status;
}
