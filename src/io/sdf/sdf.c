// SPDX-License-Identifier: Apache-2.0
/*
 * sdf.c — the whole of an SDFormat file.
 *
 * A file is a world, or models without one. What is not tied to the world moves freely, as the format has it. Everything
 * that acts on the motion is taken over or named; what belongs to a program that runs the file (plugins, sensors, lights,
 * settings of its physics) is named in the report.
 */
#include "base/memory.h"
#include "io/sdf/sdf_reader.h"

static bool read_gravity(Sdf *s) {
	XmlElement *e = xml_child(s->world, "gravity"), *root = xml_root(s->im->tree);
	CalVec3 gravity = {0, 0, -9.8}; // of the format
	if (e)
		return import_vec3(s->im, e, NULL, &gravity, NULL) && import_gravity(s->im, e, gravity);
	return import_gravity(s->im, root, gravity) &&
	       import_note(s->im, CAL_IMPORT_ASSUMED, s->world ? s->world : root, NULL,
	                   "gravity is not given; taken: 9.8 m/s^2 along -z, the default of SDFormat");
}

static bool ignore_children(Sdf *s, XmlElement *owner, const char *const *names, const char *why) {
	for (; *names; names++)
		for (XmlElement *e = xml_child(owner, *names); e; e = xml_again(e))
			if (!import_ignore(s->im, e, "%s", why))
				return false;
	return true;
}

static bool read_world(Sdf *s) {
	static const char *const of_program[] = {"physics",        "scene",      "gui",   "plugin",
	                                         "audio",          "atmosphere", "light", "spherical_coordinates",
	                                         "magnetic_field", "road",       "actor", NULL};
	XmlElement *wind = xml_child(s->world, "wind"), *state = xml_child(s->world, "state"),
			   *population = xml_child(s->world, "population");
	return ignore_children(s, s->world, of_program, "a matter of the program that runs the file") &&
	       (!wind || import_ignore(s->im, wind, "there is no wind: bodies have no drag")) &&
	       (!state || import_missing(s->im, state, "states of a world are not read")) &&
	       (!population || import_missing(s->im, population, "populations of models are not read"));
}

static bool read_all(Sdf *s) {
	return sdf_list(s) && sdf_find_poses(s) && sdf_read_links(s) && sdf_read_joints(s) && sdf_choose_tree(s) &&
	       sdf_build(s) && sdf_read_visuals(s);
}

static void free_lists(Sdf *s) {
	memory_free(&s->im->allocator, s->frames);
	memory_free(&s->im->allocator, s->links);
	memory_free(&s->im->allocator, s->joints);
	name_index_free(&s->im->allocator, &s->names);
}

bool sdf_import(Import *im) {
	Sdf s = {.im = im};
	XmlElement *root = xml_root(im->tree);
	s.world = xml_child(root, "world");
	if (s.world && xml_again(s.world))
		return import_fail(im, s.world->next, "the file has several worlds; keep one");
	const bool done = read_gravity(&s) && (!s.world || read_world(&s)) && read_all(&s);
	free_lists(&s);
	return done;
}
