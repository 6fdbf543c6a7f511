// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_part.h — a file as the reader puts it together with its subsystems (docs/subsystems.md).
 *
 * A part is the sections of one file, as pairs of a name and a value; subsystems are parts too, whose names are given
 * a prefix before they are appended. What comes out is one tree without subsystems, which is read like any other.
 */
#ifndef CALDER_IO_MODEL_SUBSYSTEM_MODEL_FILE_PART_H
#define CALDER_IO_MODEL_SUBSYSTEM_MODEL_FILE_PART_H

#include "base/name_index.h"
#include "io/model/model_file.h"
#include "io/yaml/yaml_tree_build.h"

typedef enum PartSection {
	PART_GROUPS,
	PART_BODIES,
	PART_JOINTS,
	PART_PENDULUMS,
	PART_LOOPS,
	PART_STATE,
	PART_DEVICES,
	PART_MOTIONS,
	PART_GROUP_MOTIONS,
	PART_EVENTS,
	PART_NODES,   // of the ground
	PART_BOXES,   // subsystems that stay: those of a library
	PART_LOADS,   // a list: keys are the values themselves
	PART_VISUALS, // of the ground; likewise
	PART_SECTION_COUNT
} PartSection;

typedef struct PartItem {
	const TreeNode *key, *value;
} PartItem;

typedef struct PartList {
	PartItem *items;
	int count, capacity;
	NameIndex index; // of the keys of the first `indexed` items, made when one is looked for; values: place + 1
	int indexed;
} PartList;

typedef struct Part {
	const TreeNode *root;      // of the file
	const TreeNode *interface; // list of paths, NULL: none
	PartList lists[PART_SECTION_COUNT];
	CalSetupInstance *instances;
	int instance_count, instance_capacity;
} Part;

/* How the names of a part are seen from the file that uses it. */
typedef struct Scope {
	Reader *r;
	const char *prefix; // "arm1/"
	const char *main;   // group that its "main" becomes a part of
	const char *folder; // of its file as seen from the other one, "" or with a '/' at its end
} Scope;

/** False, after seeing to it that the reader has a status: memory, unless something was reported. */
bool part_failed(Reader *r);
/** Where a section stands in a file: "bodies", "ground.nodes" ... */
const char *part_section_name(PartSection section);
bool part_append(Reader *r, PartList *list, PartItem item);
/** The value of that name, or NULL. */
const TreeNode *part_find(Reader *r, PartList *list, const char *name);
/** The name of the body or pendulum of a path; NULL: there is none, or it is on the ground. */
const char *part_body_of(Reader *r, Part *part, const char *path);

/** The tree of a file with the values of a map of paths (model_file_set.c); set NULL: as it is. NULL after reporting. */
const TreeNode *part_with_settings(Reader *r, const TreeNode *root, const TreeNode *set);
/** Gives every name in the part its prefix. */
bool part_rename(const Scope *scope, Part *part);
/** A path as the scope sees it; NULL after reporting. */
const char *scope_path(const Scope *scope, const char *path);

/**
 * Makes the interface node the one by which the part is carried: the joint on the ground becomes `joint`, and those between
 * it and the interface are passed the other way round. carrier: name of the joint that was replaced.
 */
bool part_carry(Reader *r, Part *part, const TreeNode *place, const char *interface, const TreeNode *joint,
                const char **carrier);

/** Whether a file begins like XML, as robot files do and model files do not. */
bool robot_is_likely(const char *path);
/** A robot file as the tree of a model file; its import report joins that of the reader's setup. */
CalStatus robot_read(Reader *r, const char *path, Tree **tree, CalError *error);

/** The map with one more pair, which replaces the one of that key. value NULL: without that key. */
const TreeNode *map_with(Reader *r, const TreeNode *map, const char *key, const TreeNode *value);
const TreeNode *make_scalar(Reader *r, const TreeNode *like, const char *text);

#endif
