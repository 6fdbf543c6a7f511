// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_notes.c — elements and attributes of MJCF that are known and not taken over, with the reason.
 *
 * They are what no other file of the reader looked at. Each place is a line of the import report. What is in no row is
 * unknown, and reported as such afterwards.
 */
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

#define APPEARANCE "it is for pictures"
#define SOLVER "it sets MuJoCo's constraint solver, which Calder has not"
#define FILES_ONLY "meshes are read from files only"
#define OTHER_KINDS "it is for actuators of other kinds: orientation, pid, dcmotor"
#define USER "data of the user's own"

typedef struct Row {
	const char *element;   // NULL: any
	const char *attribute; // NULL: the element with all inside
	CalImportKind kind;
	const char *text;
} Row;

static const Row rows[] = {
	{"visual", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"statistic", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"light", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"camera", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"texture", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"layer", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"skin", NULL, CAL_IMPORT_IGNORED, APPEARANCE},
	{"size", NULL, CAL_IMPORT_IGNORED, "sizes of MuJoCo's memory"},
	{"custom", NULL, CAL_IMPORT_IGNORED, USER},
	{"lengthrange", NULL, CAL_IMPORT_IGNORED, "it is for muscles"},
	{"sensor", NULL, CAL_IMPORT_IGNORED, "what to record is chosen in a run: calder signals lists what there is"},
	{"hfield", NULL, CAL_IMPORT_IGNORED, "Calder has no height fields"},
	{"model", NULL, CAL_IMPORT_IGNORED, "nothing attaches this model"},
	{"extension", NULL, CAL_IMPORT_IGNORED, "plugins are named where they are used"},

	{"key", "time", CAL_IMPORT_IGNORED, "a run starts at time 0"},
	{"geom", "group", CAL_IMPORT_IGNORED, APPEARANCE},
	{NULL, "rgba", CAL_IMPORT_IGNORED, APPEARANCE},
	{NULL, "material", CAL_IMPORT_IGNORED, APPEARANCE},
	{NULL, "user", CAL_IMPORT_IGNORED, USER},
	{NULL, "group", CAL_IMPORT_IGNORED, APPEARANCE},
	{"fixed", "width", CAL_IMPORT_IGNORED, APPEARANCE},
	{"spatial", "width", CAL_IMPORT_IGNORED, APPEARANCE},
	{"tendon", "width", CAL_IMPORT_IGNORED, APPEARANCE},
	{"site", "size", CAL_IMPORT_IGNORED, APPEARANCE},
	{"site", "type", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "texture", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "texrepeat", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "texuniform", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "emission", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "specular", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "shininess", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "reflectance", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "metallic", CAL_IMPORT_IGNORED, APPEARANCE},
	{"material", "roughness", CAL_IMPORT_IGNORED, APPEARANCE},
	{"mesh", "normal", CAL_IMPORT_IGNORED, APPEARANCE},
	{"mesh", "texcoord", CAL_IMPORT_IGNORED, APPEARANCE},
	{"mesh", "smoothnormal", CAL_IMPORT_IGNORED, APPEARANCE},
	{"mesh", "content_type", CAL_IMPORT_IGNORED, "the ending of the file's name says what it is"},
	{"model", "content_type", CAL_IMPORT_IGNORED, "the text of the file says what it is"},
	{"mesh", "vertex", CAL_IMPORT_IGNORED, FILES_ONLY},
	{"mesh", "face", CAL_IMPORT_IGNORED, FILES_ONLY},
	{"mesh", "builtin", CAL_IMPORT_IGNORED, FILES_ONLY},
	{"mesh", "params", CAL_IMPORT_IGNORED, FILES_ONLY},
	{"mesh", "maxhullvert", CAL_IMPORT_IGNORED, "Calder needs no convex hulls"},
	{"mesh", "octree_maxdepth", CAL_IMPORT_IGNORED, "Calder needs no octrees"},

	{"compiler", "texturedir", CAL_IMPORT_IGNORED, APPEARANCE},
	{"compiler", "usethread", CAL_IMPORT_IGNORED, "it sets how MuJoCo compiles"},
	{"compiler", "discardvisual", CAL_IMPORT_IGNORED, APPEARANCE},
	{"compiler", "fusestatic", CAL_IMPORT_IGNORED, "bodies without joints keep their names; the motion is the same"},
	{"compiler", "saveinertial", CAL_IMPORT_IGNORED, "it sets how MuJoCo saves files"},
	{"compiler", "exactmeshinertia", CAL_IMPORT_IGNORED, "meshes are integrated exactly anyway"},
	{"compiler", "convexhull", CAL_IMPORT_IGNORED, "Calder needs no convex hulls"},
	{"compiler", "conflict", CAL_IMPORT_IGNORED, "it concerns attached models"},
	{"body", "sleep", CAL_IMPORT_IGNORED, "bodies do not sleep"},
	{"body", "simple", CAL_IMPORT_IGNORED, "it sets how MuJoCo computes"},

	{"option", "impratio", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "ls_tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "noslip_tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "ccd_tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "sleep_tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "cone", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "jacobian", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "solver", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "ls_iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "noslip_iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "ccd_iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "mpr_iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "mpr_tolerance", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "sdf_iterations", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "sdf_initpoints", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "collision", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "apirate", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "o_margin", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "o_solref", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "o_solimp", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "o_friction", CAL_IMPORT_IGNORED, SOLVER},
	{"option", "wind", CAL_IMPORT_IGNORED, "it belongs to forces of a medium, which Calder has not"},
	{"option", "magnetic", CAL_IMPORT_IGNORED, "it is for magnetometers"},
	{"flag", "warmstart", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "refsafe", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "sensor", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "midphase", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "eulerdamp", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "autoreset", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "nativeccd", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "island", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "multiccd", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "override", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "energy", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "fwdinv", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "invdiscrete", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "sleep", CAL_IMPORT_IGNORED, SOLVER},
	{"flag", "diagexact", CAL_IMPORT_IGNORED, SOLVER},

	{"weld", "anchor", CAL_IMPORT_IGNORED, "where a compliant weld measures; this one is rigid"},
	{"weld", "torquescale", CAL_IMPORT_IGNORED, "how compliant a weld is; this one is rigid"},
	{NULL, "solref", CAL_IMPORT_CHANGED,
     "how compliant constraints are in MuJoCo; equalities are rigid, and contact has its own law"},
	{NULL, "solimp", CAL_IMPORT_CHANGED,
     "how compliant constraints are in MuJoCo; equalities are rigid, and contact has its own law"},
	{NULL, "solimplimit", CAL_IMPORT_CHANGED, "how compliant constraints are in MuJoCo; stops are springs and dampers"},
	{NULL, "solreffriction", CAL_IMPORT_CHANGED, "how compliant dry friction is in MuJoCo"},
	{NULL, "solimpfriction", CAL_IMPORT_CHANGED, "how compliant dry friction is in MuJoCo"},
	{"geom", "solmix", CAL_IMPORT_CHANGED, SOLVER},
	{"geom", "priority", CAL_IMPORT_CHANGED, "Calder takes the friction of a pair from both sides"},
	{"geom", "gap", CAL_IMPORT_IGNORED, SOLVER},
	{"geom", "fluidshape", CAL_IMPORT_IGNORED, "it belongs to forces of a medium, which Calder has not"},
	{"geom", "fluidcoef", CAL_IMPORT_IGNORED, "it belongs to forces of a medium, which Calder has not"},
	{"joint", "margin", CAL_IMPORT_IGNORED, SOLVER},
	{"pair", "margin", CAL_IMPORT_CHANGED, "Calder takes the margins of the two geoms"},
	{"pair", "gap", CAL_IMPORT_IGNORED, SOLVER},
	{"fixed", "margin", CAL_IMPORT_IGNORED, SOLVER},
	{"spatial", "margin", CAL_IMPORT_IGNORED, SOLVER},
	{"tendon", "margin", CAL_IMPORT_IGNORED, SOLVER},
	{NULL, "actdim", CAL_IMPORT_IGNORED, "inputs are constant"},
	{NULL, "actearly", CAL_IMPORT_IGNORED, "inputs are constant"},
	{NULL, "lengthrange", CAL_IMPORT_IGNORED, "it is for muscles"},
	{NULL, "cranklength", CAL_IMPORT_IGNORED, "it is for slider-cranks"},
	{NULL, "input", CAL_IMPORT_IGNORED, OTHER_KINDS},
	{NULL, "velrange", CAL_IMPORT_IGNORED, OTHER_KINDS},
	{NULL, "ffrange", CAL_IMPORT_IGNORED, OTHER_KINDS},
	{NULL, "nsample", CAL_IMPORT_IGNORED, "inputs are constant"},
	{NULL, "interp", CAL_IMPORT_IGNORED, "inputs are constant"},
	{NULL, "delay", CAL_IMPORT_IGNORED, "inputs are constant"},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* attribute NULL: the element itself. NULL: nothing is known of it. */
static const Row *find_row(const XmlElement *e, const char *attribute) {
	for (const Row *row = rows; row < rows + ROW_COUNT; row++)
		if ((!row->element || xml_is(e, row->element)) &&
		    (attribute ? row->attribute && strcmp(row->attribute, attribute) == 0 : !row->attribute))
			return row;
	return NULL;
}

static bool note_element(Mjcf *m, XmlElement *e) {
	const Row *row = find_row(e, NULL);
	if (!row)
		return true;
	xml_use_all(e);
	return import_note(m->im, row->kind, e, NULL, "%s", row->text);
}

static bool note_attribute(Mjcf *m, const XmlElement *e, XmlAttribute *attribute) {
	const Row *row = attribute->used ? NULL : find_row(e, attribute->name);
	if (!row)
		return true;
	attribute->used = true;
	return import_note(m->im, row->kind, e, row->attribute, "%s", row->text);
}

static bool note_unused(Mjcf *m, XmlElement *e) {
	if (!e->used)
		return note_element(m, e);
	for (int i = 0; i < e->attribute_count; i++)
		if (!note_attribute(m, e, &e->attributes[i]))
			return false;
	for (XmlElement *child = e->first; child; child = child->next)
		if (!note_unused(m, child))
			return false;
	return true;
}

static bool read_deformables(Mjcf *m, MjcfFile *file) {
	for (XmlElement *section = xml_child(file->root, "deformable"); section; section = xml_again(section))
		for (XmlElement *e = xml_child(section, "flex"); e; e = xml_again(e))
			if (!import_missing(m->im, e,
			                    "Calder has no flex objects; its flexible bodies have modes (docs/flexible.md)"))
				return false;
	return true;
}

bool mjcf_report(Mjcf *m, XmlElement *root) {
	for (int i = 0; i < m->file_count; i++)
		if (!read_deformables(m, m->files[i]))
			return false;
	return note_unused(m, root);
}
