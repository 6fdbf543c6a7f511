// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_list.c — the list of all that has a pose, and what names mean.
 *
 * A name belongs to the model that it stands in. "a::b" leads from there into the model a; nothing leads outward, but the
 * world is known everywhere. Models with version 1.6 and older may use one name for a link and a joint: the link is meant.
 * A merged model keeps its frame, on which what it holds is posed, but its names are those of the model around it; from within
 * only what it holds is known, as if it were still a file of its own.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/sdf/sdf_reader.h"

/* ---- version ----------------------------------------------------------------------------------------- */

bool sdf_read_version(Sdf *s, XmlElement *root, int *version) {
	const char *text = xml_get(root, "version");
	int minor = 0, used = 0;
	if (!text || sscanf(text, "1.%2d%n", &minor, &used) != 1 || text[used])
		return import_fail(s->im, root, "<sdf> needs version=\"1.4\" or later, and has %s%.20s",
		                   text ? "version " : "none", text ? text : "");
	if (minor < 4)
		return import_fail(
			s->im, root, "SDFormat %.10s is older than 1.4, the first that is read; convert it by \"gz sdf -p\"", text);
	*version = 100 + minor;
	return minor <= 12 || import_note(s->im, CAL_IMPORT_ASSUMED, root, "version",
	                                  "SDFormat %.10s is newer than 1.12, the last that is known; read as that", text);
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* The model whose names those in a scope are. */
static int named_in(const Sdf *s, int scope) {
	while (s->frames[scope].is_merged)
		scope = s->frames[scope].scope;
	return scope;
}

static bool is_inside(const Sdf *s, int frame, int scope) {
	while (frame != scope && frame != SDF_WORLD_FRAME)
		frame = s->frames[frame].scope;
	return frame == scope;
}

static int find_here(const Sdf *s, int scope, const char *name, size_t length) {
	uint32_t cursor = 0, value;
	int found = SDF_NONE;
	scope = named_in(s, scope);
	while ((value = name_index_next(&s->names, name_hash((uint32_t)scope + 1, name, length), &cursor)) != 0) {
		const SdfFrame *frame = &s->frames[value - 1];
		if (named_in(s, frame->scope) != scope || strlen(frame->name) != length ||
		    memcmp(frame->name, name, length) != 0)
			continue;
		if (frame->kind != SDF_JOINT || found == SDF_NONE)
			found = (int)value - 1;
	}
	return found;
}

static int find_anywhere(const Sdf *s, int scope, const char *name) {
	const int whole = strstr(name, "::") ? find_here(s, scope, name, strlen(name)) : SDF_NONE;
	if (whole != SDF_NONE) // of files before 1.8, in which programs wrote models within models as one
		return whole;
	for (const char *cut; (cut = strstr(name, "::")); name = cut + 2) {
		scope = find_here(s, scope, name, (size_t)(cut - name));
		if (scope == SDF_NONE || s->frames[scope].kind != SDF_MODEL)
			return SDF_NONE;
	}
	if (strcmp(name, "__model__") == 0)
		return scope;
	if (strcmp(name, "world") == 0)
		return SDF_WORLD_FRAME;
	return find_here(s, scope, name, strlen(name));
}

int sdf_find(const Sdf *s, int scope, const char *name) {
	const int found = find_anywhere(s, scope, name);
	return found == SDF_WORLD_FRAME || found == SDF_NONE || is_inside(s, found, scope) ? found : SDF_NONE;
}

int sdf_find_required(Sdf *s, int scope, const XmlElement *element, const char *name) {
	const int found = sdf_find(s, scope, name);
	if (found == SDF_NONE)
		import_fail(s->im, element, "<%.40s>: there is no \"%.100s\" in %s", element->name, name,
		            scope == SDF_WORLD_FRAME ? "the world" : "the model");
	return found;
}

/* ---- the list ---------------------------------------------------------------------------------------- */

static bool room(Sdf *s, void **array, int count, int extra, int *capacity, size_t size) {
	void *moved = array_reserve(&s->im->allocator, *array, count, extra, capacity, size);
	if (moved)
		*array = moved;
	return moved || import_no_memory(s->im);
}

/* Room for so many more frames with their names, links and joints. */
static bool reserve_lists(Sdf *s, int frames, int links, int joints) {
	return (name_index_reserve_many(&s->im->allocator, &s->names, (uint32_t)frames) || import_no_memory(s->im)) &&
	       room(s, (void **)(void *)&s->frames, s->frame_count, frames, &s->frame_capacity, sizeof *s->frames) &&
	       room(s, (void **)(void *)&s->links, s->link_count, links, &s->link_capacity, sizeof *s->links) &&
	       room(s, (void **)(void *)&s->joints, s->joint_count, joints, &s->joint_capacity, sizeof *s->joints);
}

/* Room for what an element holds, included files aside. */
static bool reserve_inside(Sdf *s, const XmlElement *owner) {
	int links = 0, joints = 0, others = 0;
	for (const XmlElement *e = owner->first; e; e = e->next) {
		links += xml_is(e, "link");
		joints += xml_is(e, "joint");
		others += xml_is(e, "frame") || xml_is(e, "model");
	}
	return reserve_lists(s, links + joints + others, links, joints);
}

static bool name_frame(Sdf *s, SdfFrame *frame) {
	const SdfFrame *scope = &s->frames[named_in(s, frame->scope)];
	const char *around = scope->full_name;
	// the only model of a file needs no mention
	if (!around || (scope->scope == SDF_WORLD_FRAME && s->model_count == 1))
		around = "";
	const size_t size = strlen(around) + strlen(frame->name) + 2;
	char *name = xml_array(s->im->tree, size, 1);
	if (!name)
		return import_no_memory(s->im);
	snprintf(name, size, "%s%s%s", around, around[0] ? "/" : "", frame->name);
	frame->full_name = name;
	return true;
}

/* "world" would be taken for the ground by joints; __name__ and "::" have a meaning of their own. */
static bool check_name(Sdf *s, const XmlElement *element, const char *name, int version) {
	const size_t length = strlen(name);
	if (strcmp(name, "world") == 0 ||
	    (version >= 107 && length > 3 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 2, "__") == 0))
		return import_fail(s->im, element, "\"%.100s\" is a name that SDFormat reserves; rename the %.20s", name,
		                   element->name);
	return version < 108 || !strstr(name, "::") ||
	       import_fail(s->im, element, "\"%.100s\": names have no \"::\" since SDFormat 1.8; rename the %.20s", name,
	                   element->name);
}

/* The name that libsdformat gives the frame of a merged model. */
static const char *merged_name(Sdf *s, const char *name) {
	const size_t size = strlen(name) + sizeof "_merged____model__";
	char *text = xml_array(s->im->tree, size, 1);
	if (text)
		snprintf(text, size, "_merged__%s__model__", name);
	else
		import_no_memory(s->im);
	return text;
}

/* Appends a frame; its name must be free in its scope. */
static bool append_frame(Sdf *s, SdfFrame frame, int *added) {
	XmlElement *element = frame.element;
	const int scope = frame.scope, version = frame.version;
	const SdfKind kind = frame.kind;
	frame.attached_to = frame.link = SDF_NONE;
	frame.is_static = s->frames[scope].is_static;
	frame.name = import_required(s->im, element, "name");
	if (!frame.name || !check_name(s, element, frame.name, version))
		return false;
	if (frame.is_merged && !(frame.name = merged_name(s, frame.name)))
		return false;
	const int other = find_here(s, scope, frame.name, strlen(frame.name));
	if (other != SDF_NONE && (version >= 107 || s->frames[other].kind == kind))
		return import_fail(s->im, element, "\"%.100s\" is a name that line %d has already; names in a model differ",
		                   frame.name, s->frames[other].element->line);
	if (!name_frame(s, &frame) || !reserve_lists(s, 1, 0, 0))
		return false;
	s->frames[s->frame_count] = frame;
	*added = s->frame_count++;
	name_index_insert(&s->names, name_hash((uint32_t)named_in(s, scope) + 1, frame.name, strlen(frame.name)),
	                  (uint32_t)s->frame_count);
	return true;
}

static bool add_frame(Sdf *s, XmlElement *element, SdfKind kind, int scope, int version, int *added) {
	return append_frame(s, (SdfFrame){.element = element, .kind = kind, .scope = scope, .version = version}, added);
}

static bool add_link(Sdf *s, XmlElement *e, int scope, int version) {
	int frame = 0;
	if (!add_frame(s, e, SDF_LINK, scope, version, &frame) || !reserve_lists(s, 0, 1, 0))
		return false;
	s->frames[frame].link = s->link_count;
	s->links[s->link_count++] = (SdfLink){.frame = frame, .parent_joint = SDF_NONE};
	return true;
}

static bool add_joint(Sdf *s, XmlElement *e, int scope, int version) {
	int frame = 0;
	if (!add_frame(s, e, SDF_JOINT, scope, version, &frame) || !reserve_lists(s, 0, 0, 1))
		return false;
	s->frames[frame].joint = s->joint_count;
	s->joints[s->joint_count++] = (SdfJoint){.frame = frame};
	return true;
}

static bool list_model(Sdf *s, XmlElement *e, SdfFrame frame, int depth);

/* What may stand in a world and in a model: models, included ones too, joints and frames. */
static bool list_inside(Sdf *s, XmlElement *owner, int scope, int version, int depth) {
	int added;
	if (!reserve_inside(s, owner))
		return false;
	for (XmlElement *e = owner->first, *next; e; e = next) {
		const bool in_model = scope != SDF_WORLD_FRAME;
		bool merged = false;
		next = e->next;
		if (xml_is(e, "include")) {
			XmlElement *model = NULL;
			e->used = true;
			if (!sdf_include(s, e, in_model, &model, &merged))
				return false;
			if (!model)
				continue;
			e = model;
		}
		e->used = e->used || xml_is(e, "model") || xml_is(e, "joint") || xml_is(e, "frame") ||
		          (in_model && xml_is(e, "link"));
		const SdfFrame model = {
			.element = e, .kind = SDF_MODEL, .scope = scope, .version = version, .is_merged = merged};
		if ((xml_is(e, "model") && !list_model(s, e, model, depth + 1)) ||
		    (xml_is(e, "joint") && !add_joint(s, e, scope, version)) ||
		    (xml_is(e, "frame") && !add_frame(s, e, SDF_FRAME, scope, version, &added)) ||
		    (in_model && xml_is(e, "link") && !add_link(s, e, scope, version)))
			return false;
	}
	return true;
}

static bool ignore_namespace(Sdf *s, XmlElement *model) {
	return !xml_get(model, "namespace") ||
	       import_note(s->im, CAL_IMPORT_IGNORED, model, "namespace", "it names topics");
}

static bool list_model(Sdf *s, XmlElement *e, SdfFrame model, int depth) {
	static const char *const of_program[] = {
		"self_collide", "allow_auto_disable", "enable_wind", "plugin", "gripper", NULL};
	XmlElement *fixed = xml_child(e, "static");
	const char *own_version = xml_get(e, "sdf-version"); // of an included file
	int frame = SDF_NONE;
	if (depth > 32)
		return import_fail(s->im, e, "models are nested more than 32 deep");
	if (own_version && sscanf(own_version, "%d", &model.version) != 1)
		return import_fail(s->im, e, "the version of the included file is not known");
	if (!append_frame(s, model, &frame))
		return false;
	bool is_static = s->frames[frame].is_static;
	if (fixed && !import_bool(s->im, fixed, NULL, &is_static, NULL))
		return false;
	s->frames[frame].is_static = is_static || s->frames[model.scope].is_static;
	XmlElement *state = xml_child(e, "model_state");
	if (!state)
		state = xml_child(e, "joint_state");
	if (state && !import_missing(s->im, state, "states of a model are not read; give joints an <initial_position>"))
		return false;
	for (int i = 0; of_program[i]; i++)
		for (XmlElement *p = xml_child(e, of_program[i]); p; p = xml_again(p))
			if (!import_ignore(s->im, p, "a matter of the program that runs the file"))
				return false;
	return ignore_namespace(s, e) && list_inside(s, e, frame, model.version, depth);
}

static int count_models(const XmlElement *owner) {
	int count = 0;
	for (const XmlElement *e = owner ? owner->first : NULL; e; e = e->next)
		count += xml_is(e, "model") || xml_is(e, "include");
	return count;
}

bool sdf_list(Sdf *s) {
	XmlElement *root = xml_root(s->im->tree);
	int version = 0;
	if (!sdf_read_version(s, root, &version) || !reserve_lists(s, 1, 1, 1))
		return false;
	s->frames[s->frame_count++] = (SdfFrame){.element = s->world,
	                                         .kind = SDF_WORLD,
	                                         .version = version,
	                                         .name = "world",
	                                         .state = 2,
	                                         .in_scope = placement_identity(),
	                                         .in_world = placement_identity(),
	                                         .link = SDF_NONE};
	s->model_count = count_models(root) + count_models(s->world);
	if (s->world)
		xml_get(s->world, "name");
	return list_inside(s, root, SDF_WORLD_FRAME, version, 0) &&
	       (!s->world || list_inside(s, s->world, SDF_WORLD_FRAME, version, 0)) &&
	       (s->link_count > 0 || import_fail(s->im, root, "the file has no link; a model needs one"));
}
