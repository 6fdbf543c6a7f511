// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_tree.c — links and joints by name, and the tree that they form.
 *
 * URDF knows trees only: every link but one is the child of one joint. What is not a tree is refused with both places.
 */
#include <string.h>

#include "io/urdf/urdf_reader.h"

/* ---- names ------------------------------------------------------------------------------------------ */

int urdf_find_link(const Urdf *u, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&u->link_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(u->links[value - 1].name, name) == 0)
			return (int)value - 1;
	return -1;
}

int urdf_find_joint(const Urdf *u, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&u->joint_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(u->joints[value - 1].name, name) == 0)
			return (int)value - 1;
	return -1;
}

static void add_name(NameIndex *index, const char *name, int number) {
	name_index_insert(index, name_hash(0, name, strlen(name)), (uint32_t)number + 1);
}

/* ---- lists ------------------------------------------------------------------------------------------ */

/* Transmissions of old files have joints too, but those are not children of <robot>. */
static int count_children(XmlElement *parent, const char *name) {
	int count = 0;
	for (XmlElement *e = xml_child(parent, name); e; e = xml_again(e))
		count++;
	return count;
}

static bool list_links(Urdf *u) {
	const int count = count_children(u->robot, "link");
	u->links = xml_array(u->im->tree, (size_t)count + 1, sizeof *u->links);
	if (!u->links || !name_index_reserve_many(&u->im->allocator, &u->link_names, (uint32_t)count))
		return import_no_memory(u->im);
	for (XmlElement *e = xml_child(u->robot, "link"); e; e = xml_again(e)) {
		const char *name = import_required(u->im, e, "name");
		const int same = name ? urdf_find_link(u, name) : -1;
		if (same >= 0)
			return import_fail(u->im, e, "link \"%.80s\" is there twice, also at line %d; give one another name", name,
			                   u->links[same].element->line);
		if (!name)
			return false;
		add_name(&u->link_names, name, u->link_count);
		u->links[u->link_count++] = (UrdfLink){.element = e, .name = name, .joint = -1, .first_joint = -1};
	}
	return u->link_count > 0 || import_fail(u->im, u->robot, "<robot> has no <link>; a robot has at least one");
}

/* One of the links of a joint by its name. */
static bool read_link_of(Urdf *u, XmlElement *joint, const char *joint_name, const char *side, int *link) {
	XmlElement *e = xml_child(joint, side);
	if (!e)
		return import_fail(u->im, joint, "joint \"%.80s\" has no <%s link=\"...\"/>", joint_name, side);
	const char *name = import_required(u->im, e, "link");
	if (!name)
		return false;
	*link = urdf_find_link(u, name);
	if (*link >= 0)
		return true;
	const char *near = NULL;
	for (int i = 0; i < u->link_count && u->link_count < 1000 && !near; i++)
		near = cal_name_nearest(name, &u->links[i].name, 1);
	return near ? import_fail(u->im, e, "joint \"%.80s\": there is no link \"%.80s\"; did you mean \"%.80s\"?",
	                          joint_name, name, near)
	            : import_fail(u->im, e, "joint \"%.80s\": there is no link \"%.80s\"; add it, or correct the name",
	                          joint_name, name);
}

static bool list_joint(Urdf *u, XmlElement *e) {
	UrdfJoint *joint = &u->joints[u->joint_count];
	const char *name = import_required(u->im, e, "name");
	if (!name)
		return false;
	const int same = urdf_find_joint(u, name);
	if (same >= 0)
		return import_fail(u->im, e, "joint \"%.80s\" is there twice, also at line %d; give one another name", name,
		                   u->joints[same].element->line);
	*joint = (UrdfJoint){.element = e, .name = name, .next_joint = -1, .mimic.leader = -1};
	add_name(&u->joint_names, name, u->joint_count);
	if (!read_link_of(u, e, name, "parent", &joint->parent) || !read_link_of(u, e, name, "child", &joint->child))
		return false;
	if (joint->parent == joint->child)
		return import_fail(u->im, e, "joint \"%.80s\" joins link \"%.80s\" to itself", name,
		                   u->links[joint->child].name);
	u->joint_count++;
	return true;
}

static bool list_joints(Urdf *u) {
	const int count = count_children(u->robot, "joint");
	u->joints = xml_array(u->im->tree, (size_t)count + 1, sizeof *u->joints);
	if (!u->joints || !name_index_reserve_many(&u->im->allocator, &u->joint_names, (uint32_t)count))
		return import_no_memory(u->im);
	for (XmlElement *e = xml_child(u->robot, "joint"); e; e = xml_again(e))
		if (!list_joint(u, e))
			return false;
	return true;
}

/* ---- the tree ---------------------------------------------------------------------------------------- */

/* From the last to the first, so that the joints of a link are in the order of the file. */
static bool connect_links(Urdf *u) {
	for (int i = u->joint_count - 1; i >= 0; i--) {
		UrdfJoint *joint = &u->joints[i];
		UrdfLink *child = &u->links[joint->child], *parent = &u->links[joint->parent];
		if (child->joint >= 0) {
			const UrdfJoint *other = &u->joints[child->joint];
			return import_fail(u->im, other->element,
			                   "link \"%.80s\" is the child of two joints, \"%.80s\" (line %d) and \"%.80s\"; URDF has "
			                   "trees only: leave one out, convert the rest, and close the loop in the model file "
			                   "(docs/loops.md)",
			                   child->name, joint->name, joint->element->line, other->name);
		}
		child->joint = i;
		joint->next_joint = parent->first_joint;
		parent->first_joint = i;
	}
	return true;
}

static bool find_root(Urdf *u) {
	int count = 0, second = -1;
	u->root = -1;
	for (int i = 0; i < u->link_count; i++) {
		if (u->links[i].joint >= 0)
			continue;
		u->root = count == 0 ? i : u->root;
		second = count == 1 ? i : second;
		count++;
	}
	if (count == 0)
		return import_fail(u->im, u->robot,
		                   "every link is the child of a joint: the joints form a cycle, and there is "
		                   "no root");
	if (count > 1)
		return import_fail(
			u->im, u->links[second].element,
			"%d links are the child of no joint, \"%.80s\" (line %d) and \"%.80s\" among them; a robot has "
			"one root: join the others by a joint, or put them into files of their own",
			count, u->links[u->root].name, u->links[u->root].element->line, u->links[second].name);
	u->root_is_ground = strcmp(u->links[u->root].name, "world") == 0;
	return true;
}

/* Depth first without recursion: after a link its first child, else the next child of an ancestor. */
static bool order_links(Urdf *u) {
	int count = 0;
	u->order = xml_array(u->im->tree, (size_t)u->link_count, sizeof *u->order);
	if (!u->order)
		return import_no_memory(u->im);
	for (int link = u->root; link >= 0 && count < u->link_count;) {
		u->order[count++] = link;
		int joint = u->links[link].first_joint;
		for (; joint < 0 && u->links[link].joint >= 0; link = u->joints[u->links[link].joint].parent)
			joint = u->joints[u->links[link].joint].next_joint;
		link = joint >= 0 ? u->joints[joint].child : -1;
	}
	if (count == u->link_count)
		return true;
	for (int i = 0; i < count; i++)
		u->links[u->order[i]].connected = true;
	for (int i = 0; i < u->link_count; i++)
		if (!u->links[i].connected)
			return import_fail(u->im, u->links[i].element,
			                   "link \"%.80s\" is not connected to the root \"%.80s\": its joints form a cycle",
			                   u->links[i].name, u->links[u->root].name);
	return true;
}

bool urdf_read_structure(Urdf *u) {
	return list_links(u) && list_joints(u) && connect_links(u) && find_root(u) && order_links(u);
}
