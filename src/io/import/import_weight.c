// SPDX-License-Identifier: Apache-2.0
/*
 * import_weight.c — bodies that gravity does not act on, or only in part (gravcomp of MJCF, <gravity> of SDFormat).
 *
 * Gravity of a description acts on all bodies of a group. So a constant force in world axes at the center of mass lifts the
 * weight. Writers find it by the name of its node (export_forces.c).
 */
#include "io/import/import.h"

/* With a number if the file has a frame or site of that name; {0}: the error is set. */
static CalNodeId add_node(Import *im, CalBodyId body, CalNodeDef def) {
	static const char *const names[] = {"gravcomp", "gravcomp_2", "gravcomp_3"};
	CalNodeId id = {0};
	CalStatus status = CAL_ERR_INPUT;
	for (int i = 0; i < 3 && status != CAL_OK && status != CAL_ERR_MEMORY; i++) {
		def.name = names[i];
		status = cal_desc_add_node(im->desc, body, &def, &id, im->error);
	}
	return import_ok(im, status) ? id : (CalNodeId){0};
}

bool import_lift_weight(Import *im, const XmlElement *element, CalBodyId body, const char *name, double part) {
	char place[240];
	const CalBodyDef *def = cal_desc_body(im->desc, body);
	const CalVec3 g = cal_desc_group(im->desc, def->group)->gravity;
	const double factor = -part * def->mass;
	CalNodeDef node = cal_node_def();
	node.placement.position = def->com;
	node.place = xml_place(element, place, sizeof place);
	const CalNodeId id = add_node(im, body, node);
	if (id.value == 0)
		return false;
	const CalAppliedLoadDef load = {
		.name = name,
		.node = id,
		.frame = CAL_FRAME_WORLD,
		.force = {{.number = factor * g.x}, {.number = factor * g.y}, {.number = factor * g.z}},
		.place = place};
	return import_ok(im, cal_setup_add_device(im->setup, "applied_load", &load, im->error));
}
