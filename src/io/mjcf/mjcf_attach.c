// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_attach.c — models within models: <asset><model> and <attach>.
 *
 * The file of an attached model is read with a compiler and classes of its own, unlike an included one. Its content becomes
 * that of the <attach> element, which is then the root of its MjcfFile; its names get the prefix. Options and keyframes are
 * those of the main file.
 */
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

enum { MAX_DEPTH = 16, PATH_MAX_LENGTH = 4096 };

bool mjcf_open_file(Mjcf *m, MjcfFile *file) {
	void *files = (void *)m->files;
	if (!mjcf_grow(m, &files, m->file_count, &m->file_capacity, sizeof *m->files))
		return false;
	m->files = files;
	m->files[m->file_count++] = file;
	return mjcf_include(m, file->root) && mjcf_read_compiler(m, file) && mjcf_replicate(m, file) &&
	       mjcf_read_classes(m, file) && mjcf_read_assets(m, file);
}

/* The <model> of a name; without a name of its own it has that of its file, without the ending. */
static XmlElement *find_model(MjcfFile *file, const char *name) {
	const size_t length = strlen(name);
	for (XmlElement *asset = xml_child(file->root, "asset"); asset; asset = xml_again(asset))
		for (XmlElement *e = asset->first; e; e = e->next) {
			if (!xml_is(e, "model"))
				continue;
			const char *own = xml_peek(e, "name"), *path = xml_peek(e, "file");
			const char *base = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
			if (own ? strcmp(own, name) == 0 : base && strncmp(base, name, length) == 0 && base[length] == '.')
				return e;
		}
	return NULL;
}

static bool read_model(Mjcf *m, XmlElement *model, XmlTree **other) {
	char path[PATH_MAX_LENGTH], tried[600] = "";
	const char *file = import_required(m->im, model, "file");
	bool found = false;
	xml_get(model, "name");
	model->used = true;
	if (!file || !import_locate(m->im, model, file, path, sizeof path, &found, tried, sizeof tried))
		return false;
	if (!found)
		return import_fail(m->im, model, "<model file=\"%.200s\">: there is no such file%s%.200s", file,
		                   tried[0] ? "; tried " : "", tried);
	if (!import_read(m->im, model, path, other))
		return false;
	if (xml_is(xml_root(*other), "mujoco"))
		return import_ok(m->im, cal_setup_add_source(m->im->setup, path, m->im->error));
	return import_fail(m->im, model, "<model file=\"%.200s\">: its root is <%.40s>, not <mujoco>", file,
	                   xml_root(*other)->name);
}

/* Puts the content of the model into the element, which has none. */
static bool fill_element(Mjcf *m, XmlElement *element, XmlElement *model) {
	XmlTree *other = NULL;
	XmlElement *place = xml_copy(m->im->tree, element);
	if (!read_model(m, model, &other)) {
		xml_destroy(other);
		return false;
	}
	if (!place) {
		xml_destroy(other);
		return import_no_memory(m->im);
	}
	xml_insert(element, NULL, place);
	if (xml_replace(m->im->tree, place, other) == CAL_OK)
		return true;
	xml_destroy(other);
	return import_fail(m->im, element, "the file with all models that it attaches has more than %d elements",
	                   XML_MAX_ELEMENTS);
}

static bool ignore_sections(Mjcf *m, XmlElement *root) {
	static const char *const names[] = {"option", "keyframe"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (XmlElement *e = xml_child(root, names[i]); e; e = xml_again(e))
			if (!import_ignore(m->im, e, "options and keyframes are those of the main file"))
				return false;
	return true;
}

MjcfFile *mjcf_open_attached(Mjcf *m, MjcfFile *parent, XmlElement *e) {
	const char *name = xml_get(e, "model"), *prefix = xml_get(e, "prefix");
	MjcfFile *file = xml_array(m->im->tree, 1, sizeof *file);
	e->used = true;
	if (!file)
		return import_no_memory(m->im), NULL;
	if (!name)
		return import_fail(m->im, e,
		                   "<attach> needs the name of a model; a part of the same file is copied by <replicate>"),
		       NULL;
	if (parent->depth == MAX_DEPTH)
		return import_fail(m->im, e, "models are attached more than %d deep; does one attach itself?", MAX_DEPTH), NULL;
	XmlElement *model = find_model(parent, name);
	if (!model)
		return import_fail(m->im, e, "model=\"%.100s\": there is no such model in <asset>", name), NULL;
	*file = (MjcfFile){.root = e, .depth = parent->depth + 1};
	if (!(file->prefix = mjcf_format(m, "%s%s", parent->prefix, prefix ? prefix : "")) || !fill_element(m, e, model) ||
	    !mjcf_open_file(m, file) || !ignore_sections(m, e))
		return NULL;
	return file;
}

/* ---- parts of a model ------------------------------------------------------------------------------------------ */

static XmlElement *find_part(XmlElement *element, const char *kind, const char *name) {
	for (XmlElement *e = element->first; e; e = e->next) {
		const char *own = xml_is(e, kind) ? xml_peek(e, "name") : NULL;
		if (own && strcmp(own, name) == 0)
			return e;
		XmlElement *inside = find_part(e, kind, name);
		if (inside)
			return inside;
	}
	return NULL;
}

/* What is beside the part and beside what holds it does not take part. */
static bool ignore_the_rest(Mjcf *m, XmlElement *part, const XmlElement *root) {
	for (XmlElement *e = part; e->parent && e->parent != root; e = e->parent) {
		for (XmlElement *other = e->parent->first; other; other = other->next)
			if (other != e && !import_ignore(m->im, other, "it is not in the part that is attached"))
				return false;
		for (int i = 0; i < e->parent->attribute_count; i++)
			e->parent->attributes[i].used = true;
		e->parent->used = true;
		if (!xml_is(e->parent, "worldbody") &&
		    !import_note(m->im, CAL_IMPORT_IGNORED, e->parent, NULL, "a part of it is attached, not the element"))
			return false;
	}
	return true;
}

bool mjcf_attached_part(Mjcf *m, const MjcfFile *file, const char *kind, const char *name, XmlElement **part) {
	*part = NULL;
	for (XmlElement *e = xml_child(file->root, "worldbody"); e && !*part; e = xml_again(e))
		*part = find_part(e, kind, name);
	return !*part || ignore_the_rest(m, *part, file->root);
}

bool mjcf_is_left_out(Mjcf *m, const MjcfFile *file, XmlElement *e, bool *out) {
	*out = file->depth && !mjcf_references_resolve(m, file, e);
	return !*out || import_ignore(m->im, e, "it refers to something that was not attached");
}
