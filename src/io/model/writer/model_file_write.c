// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write.c — cal_desc_write() and cal_model_file_write(): a description, and a setup, as a model file
 * (docs/format.md).
 *
 * One line for each group, node, body, joint and loop. Shapes, beams and files that a body came from are gone by then:
 * what is written are its numbers. Other sections are carried over as they stand while the text of the file is there;
 * otherwise they are written from the setup.
 */
#include "io/model/writer/model_file_write.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/model/model_file.h"
#include "setup/setup.h"

/* ---- groups, nodes, bodies --------------------------------------------------------------------------- */

static void put_gravity(Writer *w) {
	const CalVec3 g = cal_desc_group(w->desc, (CalGroupId){0})->gravity;
	bool first = true;
	put_vector(w, &first, "gravity", g);
	if (!first)
		fputc('\n', w->out);
	if (cal_desc_group(w->desc, (CalGroupId){0})->propagation)
		fprintf(w->out, "propagation: %s\n",
		        cal_propagation_name(cal_desc_group(w->desc, (CalGroupId){0})->propagation));
}

static void write_groups(Writer *w) {
	const int count = cal_desc_group_count(w->desc);
	put_gravity(w);
	fputs(count > 1 ? "groups:\n" : "", w->out);
	for (int i = 2; i <= count; i++) {
		const CalGroupDef *group = cal_desc_group(w->desc, (CalGroupId){(uint32_t)i});
		bool first = true;
		fputs("  ", w->out);
		put_text(w, group->name);
		fputs(": {", w->out);
		put_vector(w, &first, "gravity", group->gravity);
		if (group->propagation)
			put_named(w, &first, "propagation", cal_propagation_name(group->propagation));
		fputs("}\n", w->out);
	}
}

/* The nodes of a body but its frame, or of the ground (0); each on a line of its own. */
static void write_nodes(Writer *w, uint32_t body, bool *first, const char *line) {
	const uint32_t frame = body ? cal_desc_body_node(w->desc, (CalBodyId){body}).value : 0;
	bool empty = true;
	for (uint32_t id = w->first_node[body]; id; id = w->next_node[id]) {
		if (id == frame)
			continue;
		const CalNodeDef *node = cal_desc_node(w->desc, (CalNodeId){id}, NULL);
		if (empty)
			put_key(w, first, "nodes");
		fprintf(w->out, "%s%s", empty ? "{" : ",", line);
		put_text(w, node->name);
		fputs(": ", w->out);
		put_placement_value(w, &node->placement);
		empty = false;
	}
	fputs(empty ? "" : "}", w->out);
}

/* Shapes about an axis have their z there. */
static void put_outline(Writer *w, const CalVisual *v) {
	bool first = true;
	switch (v->kind) {
	case CAL_VISUAL_BOX:
		put_numbers(w, &v->size.x, 3);
		break;
	case CAL_VISUAL_SPHERE:
		put_number(w, v->size.x);
		break;
	case CAL_VISUAL_PLANE:
		put_numbers(w, &v->size.x, 2);
		break;
	case CAL_VISUAL_MESH:
		put_text(w, v->file);
		put_key(w, &(bool){false}, "scale");
		if (v->size.x == v->size.y && v->size.y == v->size.z)
			put_number(w, v->size.x);
		else
			put_numbers(w, &v->size.x, 3);
		break;
	default:
		fputc('{', w->out);
		put_quantity(w, &first, "radius", v->size.x);
		put_quantity(w, &first, "length", v->size.z);
		fputc('}', w->out);
	}
}

static void write_visuals(Writer *w, uint32_t id, bool *first) {
	const CalVisual *visuals;
	const int count = w->setup ? cal_setup_visuals(w->setup, (CalBodyId){id}, &visuals) : 0;
	if (!count)
		return;
	put_key(w, first, "visual");
	for (int i = 0; i < count; i++) {
		const CalVisual *v = &visuals[i];
		bool inner = true;
		fputs(i ? ", {" : "[{", w->out);
		put_key(w, &inner, cal_visual_name(v->kind));
		put_outline(w, v);
		put_vector(w, &inner, "at", v->placement.position);
		put_orientation(w, &inner, "orientation", v->placement.orientation);
		if (v->color >= 0)
			fprintf(w->out, ", color: \"#%06x\"", (unsigned)v->color);
		fputc('}', w->out);
	}
	fputc(']', w->out);
}

static void write_body(Writer *w, uint32_t id) {
	const CalBodyDef *body = cal_desc_body(w->desc, (CalBodyId){id});
	CalFlexDef flex = {0};
	bool first = true;
	cal_flex_body(w->desc, (CalBodyId){id}, NULL, &flex);
	fputs("  ", w->out);
	put_text(w, body->name);
	fputs(": {", w->out);
	if (body->group.value > 1) {
		put_key(w, &first, "group");
		put_text(w, cal_desc_group(w->desc, body->group)->name);
	}
	put_quantity(w, &first, "mass", body->mass);
	put_vector(w, &first, "com", body->com);
	put_inertia(w, &first, &body->inertia);
	put_flag(w, &first, "idealized", body->idealized);
	write_visuals(w, id, &first);
	write_nodes(w, id, &first, "\n      ");
	if (flex.modes)
		write_flexible(w, &first, &flex, NULL);
	fputs("}\n", w->out);
}

static void write_ground(Writer *w) {
	bool first = true;
	const CalVisual *visuals;
	if (!w->first_node[0] && !(w->setup && cal_setup_visuals(w->setup, (CalBodyId){0}, &visuals)))
		return;
	fputs("ground: {", w->out);
	write_visuals(w, 0, &first);
	write_nodes(w, 0, &first, "\n  ");
	fputs("}\n", w->out);
}

static void write_desc(Writer *w) {
	const int count = cal_desc_body_count(w->desc);
	write_groups(w);
	write_ground(w);
	fputs(count ? "bodies:\n" : "bodies: {}\n", w->out);
	for (int i = 1; i <= count; i++)
		write_body(w, (uint32_t)i);
	write_joints(w);
	write_loops(w);
	if (!w->setup)
		write_references(w);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* Nodes by body, and the joint that carries each body; backwards, so that lists are in the order of the ids. */
static void index_fill(Writer *w) {
	for (int i = cal_desc_node_count(w->desc); i > 0; i--) {
		CalBodyId body = {0};
		cal_desc_node(w->desc, (CalNodeId){(uint32_t)i}, &body);
		w->next_node[i] = w->first_node[body.value];
		w->first_node[body.value] = (uint32_t)i;
	}
	for (int i = cal_desc_joint_count(w->desc); i > 0; i--) {
		CalNodeId outboard = {0};
		CalBodyId body = {0};
		cal_desc_joint(w->desc, (CalJointId){(uint32_t)i}, NULL, &outboard);
		cal_desc_node(w->desc, outboard, &body);
		w->carrier[body.value] = (uint32_t)i;
	}
}

static bool index_create(Writer *w) {
	const size_t bodies = (size_t)cal_desc_body_count(w->desc) + 1, nodes = (size_t)cal_desc_node_count(w->desc) + 1;
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t count = 2 * bodies + nodes;
	uint32_t *block = memory_alloc(&allocator, count * sizeof *block);
	if (!block)
		return false;
	memset(block, 0, count * sizeof *block);
	w->first_node = block;
	w->carrier = block + bodies;
	w->next_node = block + 2 * bodies;
	index_fill(w);
	return true;
}

static void index_free(Writer *w) {
	const CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, w->first_node);
}

static void put_section(Writer *w, const TreeNode *root, const char *key) {
	const TreeNode *node = tree_get(root, key);
	if (!node || tree_is_null(node))
		return;
	fprintf(w->out, "%s: ", key);
	put_tree(w, node);
	fputc('\n', w->out);
}

/* The sections beside the description: as the text of the file gives them, or from the setup. */
static void write_sections(Writer *w, const TreeNode *root) {
	static const char *const sections[] = {"state", "loads", "devices",   "group_motions", "motions",   "events",
	                                       "run",   "view",  "interface", "border",        "subsystems"};
	const bool of_joints =
		root && w->setup && model_file_has_joint_devices(root); // devices that the section does not have
	for (size_t i = 0; root && i < sizeof sections / sizeof *sections; i++) {
		if (of_joints && strcmp(sections[i], "devices") == 0)
			write_devices(w);
		else
			put_section(w, root, sections[i]);
	}
	if (root || !w->setup)
		return;
	write_state(w);
	write_loads(w);
	write_devices(w);
	write_motions(w);
	write_events(w);
	write_run(w);
	write_view(w);
	write_subsystems(w);
}

static void write_title(Writer *w, const TreeNode *root) {
	const char *title = w->setup && !root ? cal_setup_run(w->setup).title : "";
	put_section(w, root, "title");
	if (!title[0])
		return;
	fputs("title: ", w->out);
	put_text(w, title);
	fputc('\n', w->out);
}

/* setup NULL: the description alone. */
static CalStatus write_all(const CalDesc *desc, const CalSetup *setup, FILE *out, CalError *error) {
	const TreeNode *root = setup && setup->source.object ? tree_root(setup->source.object) : NULL;
	Writer w = {.out = out, .desc = desc, .setup = setup, .error = error};
	if (!index_create(&w))
		return error_set(error, CAL_ERR_MEMORY, "out of memory for writing the description");
	CalStatus status = write_check(&w);
	if (status == CAL_OK && setup && !root)
		status = write_check_setup(&w);
	if (status == CAL_OK) {
		fputs("calder: 1\n", out);
		write_title(&w, root);
		write_desc(&w);
		write_sections(&w, root);
		if (fflush(out) != 0 || ferror(out))
			status = error_set(error, CAL_ERR_IO, "the file could not be written; is the disk full?");
	}
	index_free(&w);
	return status;
}

CalStatus cal_desc_write(const CalDesc *desc, FILE *out, CalError *error) {
	if (!desc || !out)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_write: desc or out is NULL");
	return write_all(desc, NULL, out, error);
}

CalStatus cal_model_file_write(const CalSetup *setup, FILE *out, CalError *error) {
	if (!setup || !out)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_file_write: setup or out is NULL");
	return write_all(setup->desc, setup, out, error);
}
