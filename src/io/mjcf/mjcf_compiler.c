// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_compiler.c — <compiler>, <option> and <size>: how the file is to be read, and how the model runs.
 *
 * There may be several of each; of an attribute the last in the document counts, for all of it.
 */
#include <ctype.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

static MjcfCompiler default_compiler(void) {
	return (MjcfCompiler){.degrees = true,
	                      .autolimits = true,
	                      .inertia_from_geom = MJCF_AUTO,
	                      .inertia_groups = {0, 5},
	                      .total_mass = -1,
	                      .euler = "xyz",
	                      .mesh_folder = ""};
}

static bool read_eulerseq(Mjcf *m, XmlElement *element, MjcfCompiler *c) {
	const char *text = xml_get(element, "eulerseq");
	if (!text)
		return true;
	if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
		return import_fail(m->im, element, "eulerseq=\"%.20s\": it must be three letters of xyzXYZ", text);
	memcpy(c->euler, text, 4);
	return true;
}

static bool read_groups(Mjcf *m, XmlElement *element, MjcfCompiler *c) {
	double range[2];
	bool given;
	if (!import_numbers(m->im, element, "inertiagrouprange", range, 2, &given))
		return false;
	for (int i = 0; i < 2 && given; i++)
		c->inertia_groups[i] = range[i] < 0 ? -1 : range[i] > 1000 ? 1000 : (int)range[i];
	return true;
}

static bool read_coordinate(Mjcf *m, XmlElement *element) {
	static const char *const words[] = {"local", "global", NULL};
	int word = 0;
	if (!import_word(m->im, element, "coordinate", words, &word, NULL))
		return false;
	return word == 0 || import_fail(m->im, element,
	                                "coordinate=\"global\": MuJoCo no longer reads such files; save the model with a "
	                                "version before 2.3.4, which converts it to local coordinates");
}

static bool read_folders(Mjcf *m, XmlElement *element, MjcfCompiler *c) {
	const char *assets = xml_get(element, "assetdir"), *meshes = xml_get(element, "meshdir");
	if (meshes || assets)
		c->mesh_folder = meshes ? meshes : assets;
	return import_bool(m->im, element, "strippath", &c->strip_path, NULL);
}

static bool read_one_compiler(Mjcf *m, XmlElement *element, MjcfCompiler *c) {
	static const char *const angles[] = {"radian", "degree", NULL};
	Import *im = m->im;
	int degrees = c->degrees;
	if (!(import_word(im, element, "angle", angles, &degrees, NULL) &&
	      import_bool(im, element, "autolimits", &c->autolimits, NULL) &&
	      import_bool(im, element, "balanceinertia", &c->balance_inertia, NULL) &&
	      import_bool(im, element, "alignfree", &c->align_free, NULL) &&
	      import_bool(im, element, "fitaabb", &c->fit_aabb, NULL) &&
	      import_number(im, element, "boundmass", &c->bound_mass, NULL) &&
	      import_number(im, element, "boundinertia", &c->bound_inertia, NULL) &&
	      import_number(im, element, "settotalmass", &c->total_mass, NULL) &&
	      mjcf_apply_switch(m, element, "inertiafromgeom", &c->inertia_from_geom)))
		return false;
	c->degrees = degrees;
	return read_groups(m, element, c) && read_eulerseq(m, element, c) && read_coordinate(m, element) &&
	       read_folders(m, element, c);
}

bool mjcf_read_compiler(Mjcf *m, MjcfFile *file) {
	file->compiler = default_compiler();
	for (XmlElement *e = xml_child(file->root, "compiler"); e; e = xml_again(e))
		if (!read_one_compiler(m, e, &file->compiler))
			return false;
	return true;
}

/* ---- options --------------------------------------------------------------------------------------------- */

static bool read_flag(Mjcf *m, XmlElement *element, const char *name, bool *on) {
	static const char *const words[] = {"disable", "enable", NULL};
	int word = *on;
	if (!import_word(m->im, element, name, words, &word, NULL))
		return false;
	*on = word;
	return true;
}

static bool read_flags(Mjcf *m, XmlElement *e, MjcfFlags *on) {
	return read_flag(m, e, "constraint", &on->constraint) && read_flag(m, e, "equality", &on->equality) &&
	       read_flag(m, e, "frictionloss", &on->frictionloss) && read_flag(m, e, "limit", &on->limit) &&
	       read_flag(m, e, "contact", &on->contact) && read_flag(m, e, "spring", &on->spring) &&
	       read_flag(m, e, "damper", &on->damper) && read_flag(m, e, "gravity", &on->gravity) &&
	       read_flag(m, e, "actuation", &on->actuation) && read_flag(m, e, "filterparent", &on->filter_parent) &&
	       read_flag(m, e, "clampctrl", &on->clamp_control);
}

static bool read_passive_flag(Mjcf *m, XmlElement *e, MjcfFlags *on) {
	bool passive = true; // of versions before 3.3.6: springs and dampers at once
	if (!read_flag(m, e, "passive", &passive))
		return false;
	on->spring = on->spring && passive;
	on->damper = on->damper && passive;
	return true;
}

static bool read_medium(Mjcf *m, XmlElement *e) {
	double density = 0, viscosity = 0;
	if (!import_number(m->im, e, "density", &density, NULL) || !import_number(m->im, e, "viscosity", &viscosity, NULL))
		return false;
	if (density == 0 && viscosity == 0)
		return true;
	return mjcf_missing_attribute(m, e, density != 0 ? "density" : "viscosity",
	                              "Calder has no forces of a medium around the bodies");
}

static bool read_disabled_groups(Mjcf *m, XmlElement *e) {
	double groups[31];
	int count = 0;
	if (!xml_peek(e, "actuatorgroupdisable"))
		return true;
	if (!import_list(m->im, e, "actuatorgroupdisable", groups, 0, 31, &count))
		return false;
	for (int i = 0; i < count; i++)
		if (groups[i] >= 0 && groups[i] < 31)
			m->option.disabled_groups |= 1 << (int)groups[i];
	return true;
}

static bool read_one_option(Mjcf *m, XmlElement *e) {
	static const char *const integrators[] = {"Euler", "RK4", "implicit", "implicitfast", NULL};
	MjcfOption *o = &m->option;
	if (!(import_number(m->im, e, "timestep", &o->timestep, NULL) &&
	      import_vec3(m->im, e, "gravity", &o->gravity, NULL) &&
	      import_word(m->im, e, "integrator", integrators, &o->integrator, NULL) && read_medium(m, e) &&
	      read_disabled_groups(m, e)))
		return false;
	if (!(o->timestep > 0))
		return import_fail(m->im, e, "timestep=\"%g\": it must be above zero", o->timestep);
	if (xml_peek(e, "gravity"))
		o->gravity_element = e;
	XmlElement *flag = xml_child(e, "flag");
	return !flag || (read_flags(m, flag, &o->on) && read_passive_flag(m, flag, &o->on));
}

/* Steps and methods of fixed steps are MuJoCo's, but for RK4. */
static bool note_steps(Mjcf *m, const XmlElement *e) {
	if (m->option.integrator == MJCF_RK4)
		return true;
	return (!xml_peek(e, "integrator") ||
	        import_note(m->im, CAL_IMPORT_CHANGED, e, "integrator",
	                    "a run has Calder's default method, which chooses its steps; of MuJoCo's there is RK4")) &&
	       (!xml_peek(e, "timestep") ||
	        import_note(m->im, CAL_IMPORT_CHANGED, e, "timestep",
	                    "it says how hard stops are; a run has steps of this length with integrator=\"RK4\" only"));
}

bool mjcf_read_option(Mjcf *m) {
	m->option = (MjcfOption){.timestep = 0.002,
	                         .gravity = {0, 0, -9.81},
	                         .on = {true, true, true, true, true, true, true, true, true, true, true}};
	for (XmlElement *e = xml_child(m->file.root, "option"); e; e = xml_again(e))
		if (!read_one_option(m, e))
			return false;
	for (XmlElement *e = xml_child(m->file.root, "option"); e; e = xml_again(e))
		if (!note_steps(m, e))
			return false;
	MjcfFlags *on = &m->option.on;
	if (!on->constraint)
		on->equality = on->frictionloss = on->limit = on->contact = false;
	return true;
}
