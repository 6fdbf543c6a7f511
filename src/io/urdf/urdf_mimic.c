// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_mimic.c — joints that follow others: q = multiplier q_leader + offset, at all times (couplings, urdf_build.c).
 *
 * A leader may come after its follower in the file and may follow another joint itself. Coordinates at the start are
 * found along these chains: a joint that follows none starts at zero, or at the limit that is nearest to zero.
 */
#include <math.h>

#include "io/urdf/urdf_reader.h"

static bool find_leader(Urdf *u, UrdfJoint *joint) {
	UrdfMimic *mimic = &joint->mimic;
	const char *name = xml_get(mimic->element, "joint");
	mimic->leader = urdf_find_joint(u, name);
	const UrdfJoint *leader = mimic->leader >= 0 ? &u->joints[mimic->leader] : NULL;
	if (leader && urdf_is_scalar(leader))
		return true;
	XmlElement *e = mimic->element;
	mimic->element = NULL;
	if (leader)
		return import_missing(
			u->im, e,
			"joint \"%.80s\" follows joint \"%.80s\" (line %d), which does not have exactly one degree of "
			"freedom; name another leader, or remove <mimic>",
			joint->name, name, leader->element->line);
	return import_missing(u->im, e, "joint \"%.80s\" follows joint \"%.80s\", which does not exist; correct the name",
	                      joint->name, name);
}

static bool set_start(Urdf *u, UrdfJoint *joint) {
	if (joint->mimic.element) {
		joint->start = joint->mimic.multiplier * u->joints[joint->mimic.leader].start + joint->mimic.offset;
		if (joint->start >= joint->lower && joint->start <= joint->upper)
			return true;
		return import_note(u->im, CAL_IMPORT_ASSUMED, joint->mimic.element, NULL,
		                   "joint \"%.80s\" starts at %g %s, outside of its limits, because it follows joint \"%.80s\"",
		                   joint->name, joint->start, urdf_unit(joint), u->joints[joint->mimic.leader].name);
	}
	joint->start = fmin(fmax(0, joint->lower), joint->upper);
	return joint->start == 0 || joint->lower == joint->upper ||
	       import_note(u->im, CAL_IMPORT_ASSUMED, joint->limit, NULL,
	                   "0 is outside of its limits; taken: it starts at %g %s", joint->start, urdf_unit(joint));
}

static bool refuse_cycle(Urdf *u, const UrdfJoint *joint) {
	return import_fail(
		u->im, joint->mimic.element,
		"joint \"%.80s\" follows joint \"%.80s\", which by itself or others follows it again; one joint of "
		"a chain of mimics follows none",
		joint->name, u->joints[joint->mimic.leader].name);
}

/* From a joint to the first of its chain that is ordered or follows none, then back. */
static bool order_chain(Urdf *u, int first, int *chain) {
	int count = 0;
	for (int i = first; !u->joints[i].ordered; i = u->joints[i].mimic.leader) {
		if (count == u->joint_count)
			return refuse_cycle(u, &u->joints[first]);
		chain[count++] = i;
		if (!u->joints[i].mimic.element)
			break;
	}
	while (count-- > 0) {
		UrdfJoint *joint = &u->joints[chain[count]];
		joint->ordered = true;
		if (urdf_is_scalar(joint) && !set_start(u, joint))
			return false;
	}
	return true;
}

bool urdf_order_mimics(Urdf *u) {
	int *chain = xml_array(u->im->tree, (size_t)u->joint_count + 1, sizeof *chain);
	if (!chain)
		return import_no_memory(u->im);
	for (int i = 0; i < u->joint_count; i++)
		if (u->joints[i].mimic.element && !find_leader(u, &u->joints[i]))
			return false;
	for (int i = 0; i < u->joint_count; i++)
		if (!order_chain(u, i, chain))
			return false;
	return true;
}
