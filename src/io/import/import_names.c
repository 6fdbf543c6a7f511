// SPDX-License-Identifier: Apache-2.0
/*
 * import_names.c — names that are still free in a description, and that it takes: slashes stand between names, and the ground
 * has its own.
 */
#include <stdio.h>
#include <string.h>

#include "base/name_index.h"
#include "io/import/import.h"

static bool body_is_taken(const CalDesc *desc, const char *name) { return cal_desc_find_body(desc, name).value != 0; }
static bool joint_is_taken(const CalDesc *desc, const char *name) { return cal_desc_find_joint(desc, name).value != 0; }

static bool loop_is_taken(const CalDesc *desc, const char *name) { return cal_desc_find_loop(desc, name).value != 0; }

static bool is_sound(const char *name) { return name_slashes_are_sound(name) && strcmp(name, "ground") != 0; }

static void make_sound(char *name, size_t size) {
	if (!name_slashes_are_sound(name))
		for (char *c = name; *c; c++)
			*c = *c == '/' ? '_' : *c;
	if (strcmp(name, "ground") == 0)
		snprintf(name, size, "ground_body");
}

/* Numbers grow with `count`, how many such objects there are: names that all want the same take no search through all. */
static const char *free_name(Import *im, const char *wanted, bool (*is_taken)(const CalDesc *desc, const char *name),
                             int count) {
	if (is_sound(wanted) && !is_taken(im->desc, wanted))
		return wanted;
	const size_t size = strlen(wanted) + 32;
	char *name = xml_array(im->tree, size, 1);
	if (!name) {
		import_no_memory(im);
		return NULL;
	}
	snprintf(name, size, "%s", wanted);
	make_sound(name, size);
	const size_t length = strlen(name);
	enum { PLAIN_NUMBERS = 64 };
	for (int i = 2; is_taken(im->desc, name); i = i < PLAIN_NUMBERS ? i + 1 : i + 1 + count / 4)
		snprintf(name + length, size - length, "_%d", i);
	return name;
}

const char *import_body_name(Import *im, const char *wanted) {
	return free_name(im, wanted, body_is_taken, cal_desc_body_count(im->desc));
}
const char *import_joint_name(Import *im, const char *wanted) {
	return free_name(im, wanted, joint_is_taken, cal_desc_joint_count(im->desc));
}
const char *import_loop_name(Import *im, const char *wanted) {
	return free_name(im, wanted, loop_is_taken, cal_desc_loop_count(im->desc));
}
