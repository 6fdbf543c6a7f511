// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_include.c — models from other files.
 *
 * A uri names a file, or the folder of a model, whose model.config says which of its files to take. The included model stands
 * in the place of the <include>, with the name, pose and placement frame that this gives; its version is that of its file. What
 * a merged model holds has its names in the model around it (sdf_list.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/text_reader.h"
#include "io/sdf/sdf_reader.h"

enum { PATH_SIZE = 1024 };

/* The file that <sdf> of model.config names, the one of the highest version. */
static bool read_config(Sdf *s, const XmlElement *uri, const char *path, char *file, size_t size) {
	XmlTree *config;
	if (!import_read(s->im, uri, path, &config))
		return false;
	int best = -1;
	for (XmlElement *e = xml_child(xml_root(config), "sdf"); e; e = xml_again(e)) {
		int minor = 0;
		const char *version = xml_get(e, "version");
		if (version && sscanf(version, "1.%2d", &minor) == 1 && minor > best && e->text[0]) {
			best = minor;
			snprintf(file, size, "%.200s", e->text);
		}
	}
	xml_destroy(config);
	return true;
}

/* The file that a uri means. found false: none. */
static bool locate(Sdf *s, const XmlElement *uri, char *path, bool *found, char *tried, size_t tried_size) {
	char in_folder[PATH_SIZE], file[256] = "model.sdf";
	const char *name = uri->text;
	const size_t length = strlen(name);
	if (length > PATH_SIZE - 300)
		return import_fail(s->im, uri, "the uri is too long");
	if (fe_ends_with(name, ".sdf") || fe_ends_with(name, ".world"))
		return import_locate(s->im, uri, name, path, PATH_SIZE, found, tried, tried_size);
	snprintf(in_folder, sizeof in_folder, "%s/model.config", name);
	if (!import_locate(s->im, uri, in_folder, path, PATH_SIZE, found, NULL, 0) ||
	    (*found && !read_config(s, uri, path, file, sizeof file)))
		return false;
	snprintf(in_folder, sizeof in_folder, "%s/%s", name, file);
	return import_locate(s->im, uri, in_folder, path, PATH_SIZE, found, tried, tried_size);
}

/* A child of the include takes the place of that of the model. */
static void override_child(XmlElement *include, XmlElement *model, const char *name) {
	XmlElement *given = xml_child(include, name), *own = xml_child(model, name);
	if (!given)
		return;
	xml_remove(given);
	if (own)
		xml_remove(own);
	xml_insert(model, NULL, given);
}

static bool adapt_model(Sdf *s, XmlElement *include, XmlElement *model, int version) {
	XmlElement *name = xml_child(include, "name"), *placement = xml_child(include, "placement_frame");
	char text[16];
	snprintf(text, sizeof text, "%d", version);
	if (!xml_set(s->im->tree, model, "sdf-version", text) ||
	    (name && name->text[0] && !xml_set(s->im->tree, model, "name", xml_content(name))) ||
	    (placement && !xml_set(s->im->tree, model, "placement_frame", xml_content(placement))))
		return import_no_memory(s->im);
	static const char *const of_program[] = {"plugin", "namespace"};
	for (int i = 0; i < 2; i++)
		for (XmlElement *e = xml_child(include, of_program[i]); e; e = xml_again(e))
			if (!import_ignore(s->im, e, "a matter of the program that runs the file"))
				return false;
	override_child(include, model, "pose");
	override_child(include, model, "static");
	return true;
}

static int files_around(const XmlElement *element) {
	int count = 0;
	for (; element; element = element->parent)
		count += xml_peek(element, "sdf-version") != NULL;
	return count;
}

/* Of the other file: its first model stands in the place of the include; it has no other. */
static bool graft(Sdf *s, XmlElement *include, XmlTree *other, XmlElement **model) {
	int version = 0;
	XmlElement *found = xml_child(xml_root(other), "model");
	bool fits = xml_is(xml_root(other), "sdf") && found && sdf_read_version(s, xml_root(other), &version);
	if (s->im->status == CAL_OK && (!fits || xml_again(found)))
		fits = import_fail(s->im, include, "the included file is not an SDFormat file with one model");
	if (!fits || !adapt_model(s, include, found, version) || !import_report_parts(s->im, xml_root(other)) ||
	    !import_report_unused(s->im, include)) {
		xml_destroy(other);
		return false;
	}
	if (xml_replace(s->im->tree, include, other) != CAL_OK) {
		xml_destroy(other);
		return import_fail(s->im, include, "the file and those that it includes have more than %d elements",
		                   XML_MAX_ELEMENTS);
	}
	*model = found;
	return true;
}

/* Models of Gazebo that most worlds include, from its own folders or its server. */
static bool is_scenery(const char *uri) {
	const char *name = strrchr(uri, '/');
	static const char *const names[] = {"sun", "Sun", "ground_plane", "Ground Plane", "Ground%20Plane"};
	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		if (strcmp(name + 1, names[i]) == 0)
			return true;
	return false;
}

bool sdf_include(Sdf *s, XmlElement *include, bool in_model, XmlElement **model, bool *merged) {
	char path[PATH_SIZE], tried[400] = "";
	bool found = false;
	XmlElement *uri = xml_child(include, "uri");
	*model = NULL;
	*merged = false;
	if (!uri || !xml_content(uri)[0])
		return import_fail(s->im, include, "<include> needs a <uri>");
	if (!import_bool(s->im, include, "merge", merged, NULL))
		return false;
	if (*merged && !in_model)
		return import_missing(s->im, include,
		                      "models can be merged into a model, not into a world; include it without merge=\"true\"");
	if (files_around(include) > 16)
		return import_fail(s->im, include, "files include each other more than 16 deep; does one include itself?");
	if (!locate(s, uri, path, &found, tried, sizeof tried))
		return false;
	if (!found && is_scenery(uri->text))
		return import_ignore(s->im, include,
		                     "a light or the ground of Gazebo: it does not move, and links do not touch it");
	if (!found)
		return import_missing(s->im, include, "\"%.200s\" was not found; tried: %s. Name its folder with --root",
		                      uri->text, tried);
	XmlTree *other;
	if (!import_read(s->im, uri, path, &other))
		return false;
	return import_ok(s->im, cal_setup_add_source(s->im->setup, path, s->im->error)) ? graft(s, include, other, model)
	                                                                                : (xml_destroy(other), false);
}
