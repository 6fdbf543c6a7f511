// SPDX-License-Identifier: Apache-2.0
/*
 * urdf.c — a URDF file, versions 1.0 to 1.2, as a setup (docs/urdf.md).
 *
 * A link is a body in its own frame, a joint is a joint of the same name whose frame is that of the child link; mimics are
 * couplings, limits, Coulomb friction and motors devices. A root link "world" is the ground. The format says nothing of gravity,
 * the state, how the root is held and how stiff stops are: what is taken is in the import report.
 */
#include "io/urdf/urdf.h"

#include <string.h>

#include "io/urdf/urdf_reader.h"

/* Some attributes of <robot> belong to XML and to xacro. */
static void use_namespaces(XmlElement *robot) {
	for (int i = 0; i < robot->attribute_count; i++)
		if (strncmp(robot->attributes[i].name, "xmlns", 5) == 0)
			robot->attributes[i].used = true;
}

static bool read_version(Urdf *u) {
	static const char *const words[] = {"1.0", "1.1", "1.2", "1", NULL};
	int word = 0;
	bool given = false;
	if (!import_word(u->im, u->robot, "version", words, &word, &given))
		return false;
	u->minor = word < 3 ? word : 0;
	return true;
}

static bool read_head(Urdf *u) {
	const char *name = xml_get(u->robot, "name");
	use_namespaces(u->robot);
	if (name && name[0] && !import_ok(u->im, cal_setup_set_title(u->im->setup, name, u->im->error)))
		return false;
	return read_version(u);
}

static bool set_gravity(Urdf *u) {
	cal_desc_set_gravity(u->im->desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	return import_note(u->im, CAL_IMPORT_ASSUMED, u->robot, NULL,
	                   "URDF has no gravity; taken: 9.81 m/s^2 along -z of the ground");
}

static bool read_robot(Urdf *u) {
	return urdf_refuse_xacro(u) && read_head(u) && urdf_read_structure(u) && urdf_read_links(u) &&
	       urdf_find_transmissions(u) && urdf_read_joints(u) && urdf_read_transmissions(u) &&
	       urdf_report_extensions(u) && urdf_weigh_joints(u) && urdf_order_mimics(u) && urdf_question_efforts(u) &&
	       set_gravity(u) && urdf_build(u) && urdf_build_motors(u) && urdf_read_visuals(u);
}

bool urdf_import(Import *im) {
	Urdf u = {.im = im, .robot = xml_root(im->tree)};
	const bool done = read_robot(&u);
	name_index_free(&im->allocator, &u.link_names);
	name_index_free(&im->allocator, &u.joint_names);
	name_index_free(&im->allocator, &u.material_names);
	name_index_free(&im->allocator, &u.motor_names);
	return done;
}
