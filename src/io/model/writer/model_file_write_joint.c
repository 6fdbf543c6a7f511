// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_joint.c — joints and the modes of flexible bodies.
 */
#include <calder/mechanism.h>

#include "io/model/writer/model_file_write.h"

/* ---- joints ---------------------------------------------------------------------------------------- */

static int uses_of(CalJointType type) {
	CalJointTypeInfo info = {0};
	cal_joint_type_info(type, &info);
	return info.uses;
}

static void put_elements(Writer *w, bool *first, const CalJointDef *def) {
	put_key(w, first, "elements");
	fputc('[', w->out);
	for (int i = 0; i < def->element_count; i++) {
		const CalElement *e = &def->elements[i];
		bool inner = true;
		fputs(i ? ", {" : "{", w->out);
		put_key(w, &inner, "type");
		fputs(cal_joint_type_name(e->type), w->out);
		if (uses_of(e->type) & CAL_JOINT_USES_AXIS)
			put_vector(w, &inner, "axis", e->axis);
		if (uses_of(e->type) & CAL_JOINT_USES_PITCH) {
			put_key(w, &inner, "pitch");
			put_number(w, e->pitch);
		}
		fputc('}', w->out);
	}
	fputc(']', w->out);
}

static void put_dof(Writer *w, const CalDofDef *dof) {
	bool first = true;
	fputc('{', w->out);
	put_quantity(w, &first, "stiffness", dof->stiffness);
	put_quantity(w, &first, "rest", dof->rest);
	put_quantity(w, &first, "damping", dof->damping);
	put_quantity(w, &first, "rotor_inertia", dof->rotor_inertia);
	if (dof->gear_ratio != 1) {
		put_key(w, &first, "gear_ratio");
		put_number(w, dof->gear_ratio);
	}
	put_flag(w, &first, "prescribed", dof->prescribed);
	fputc('}', w->out);
}

static void put_dofs(Writer *w, bool *first, const CalJointDef *def) {
	const int count = cal_joint_speed_count(def);
	bool given = false;
	for (int i = 0; i < count; i++) {
		const CalDofDef *d = &def->dof[i];
		const double numbers[] = {d->stiffness, d->rest, d->damping, d->rotor_inertia};
		given = given || !all_zero(numbers, 4) || d->gear_ratio != 1 || d->prescribed;
	}
	if (!given)
		return;
	put_key(w, first, "dof");
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_dof(w, &def->dof[i]);
	}
	fputc(']', w->out);
}

void put_joint(Writer *w, bool *first, const CalJointDef *def) {
	const int uses = uses_of(def->type);
	if (uses & CAL_JOINT_USES_AXIS)
		put_vector(w, first, "axis", def->axis);
	if (uses & CAL_JOINT_USES_AXIS2)
		put_vector(w, first, "axis2", def->axis2);
	if (uses & CAL_JOINT_USES_PITCH) {
		put_key(w, first, "pitch");
		put_number(w, def->pitch);
	}
	if (uses & CAL_JOINT_USES_ELEMENTS)
		put_elements(w, first, def);
	put_placement(w, first, "inboard", &def->inboard);
	put_placement(w, first, "outboard", &def->outboard);
	put_dofs(w, first, def);
}

static void write_joint(Writer *w, CalJointId id) {
	CalNodeId inboard, outboard;
	const CalJointDef *def = cal_desc_joint(w->desc, id, &inboard, &outboard);
	bool first = true;
	fputs("  ", w->out);
	put_text(w, def->name);
	fputs(": {", w->out);
	put_key(w, &first, "type");
	fputs(cal_joint_type_name(def->type), w->out);
	if (inboard.value) {
		put_key(w, &first, "from");
		put_path(w, inboard);
	}
	put_key(w, &first, "to");
	put_path(w, outboard);
	put_joint(w, &first, def);
	put_flag(w, &first, "independent", cal_desc_joint_independent(w->desc, id));
	fputs("}\n", w->out);
}

void write_joints(Writer *w) {
	const int count = cal_desc_joint_count(w->desc);
	fputs(count ? "joints:\n" : "", w->out);
	for (int i = 1; i <= count; i++)
		write_joint(w, (CalJointId){(uint32_t)i});
}

/* From where embedded loops are closed, in a file without a state of its own. */
void write_references(Writer *w) {
	bool any = false;
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_joint_count(w->desc); i++) {
		const double *q = cal_desc_joint_reference(w->desc, (CalJointId){i});
		const CalJointDef *def = cal_desc_joint(w->desc, (CalJointId){i}, NULL, NULL);
		const int count = q ? cal_joint_coordinate_count(def) : 0;
		if (!q)
			continue;
		fputs(any ? "  " : "state:\n  ", w->out);
		any = true;
		put_text(w, def->name);
		fputs(count == 1 ? ": {q: " : ": {q: [", w->out);
		for (int k = 0; k < count; k++) {
			fputs(k ? ", " : "", w->out);
			put_number(w, q[k]);
		}
		fputs(count == 1 ? "}\n" : "]}\n", w->out);
	}
}

/* ---- flexible bodies ----------------------------------------------------------------------------------- */

static bool is_diagonal(const double *matrix, int n) {
	for (int i = 0; i + 1 < n; i++) { // n zeros stand between two elements of the diagonal
		if (!all_zero(matrix + (size_t)i * (size_t)(n + 1) + 1, n))
			return false;
	}
	return true;
}

/* Rows, or the diagonal alone where that is all there is. */
static void put_matrix(Writer *w, const double *matrix, int n) {
	if (!is_diagonal(matrix, n)) {
		put_rows(w, matrix, n, n);
		return;
	}
	for (int i = 0; i < n; i++) {
		fputs(i ? ", " : "[", w->out);
		put_number(w, matrix[(size_t)i * (size_t)(n + 1)]);
	}
	fputc(']', w->out);
}

static void put_shape(Writer *w, bool *first, const char *key, const double *shape, int modes) {
	if (!shape)
		return;
	put_key(w, first, key);
	put_rows(w, shape, 3, modes);
}

static void put_matrices(Writer *w, bool *first, const char *key, const double *matrices, int count, int modes) {
	if (!matrices)
		return;
	put_key(w, first, key);
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_matrix(w, matrices + (size_t)i * (size_t)modes * (size_t)modes, modes);
	}
	fputc(']', w->out);
}

/* A node of a body of the description, or of one that an action adds. */
static const char *flex_node_name(const Writer *w, const CalNewBody *added, CalNodeId node) {
	return !added ? cal_desc_node(w->desc, node, NULL)->name : node.value ? added->nodes[node.value - 1].name : "head";
}

static void put_flex_node(Writer *w, const char *name, const CalFlexNode *node, int modes) {
	bool first = true;
	put_text(w, name);
	fputs(": {", w->out);
	put_quantity(w, &first, "mass", node->mass);
	put_inertia(w, &first, &node->inertia);
	put_shape(w, &first, "phi", node->phi, modes);
	put_shape(w, &first, "psi", node->psi, modes);
	put_matrices(w, &first, "phi2", node->phi2, 3, modes);
	fputc('}', w->out);
}

void write_flexible(Writer *w, bool *outer, const CalFlexDef *flex, const CalNewBody *added) {
	bool first = true;
	fputs(*outer ? "" : ",", w->out);
	*outer = false;
	fputs("\n    flexible: {", w->out);
	put_key(w, &first, "stiffness");
	put_matrix(w, flex->stiffness, flex->modes);
	if (flex->damping) {
		put_key(w, &first, "damping");
		put_matrix(w, flex->damping, flex->modes);
	}
	put_quantity(w, &first, "frequency_bound", flex->frequency_bound);
	put_flag(w, &first, "unsprung", flex->unsprung);
	put_matrices(w, &first, "geometric", flex->geometric, CAL_FLEX_GEOMETRIC, flex->modes);
	put_key(w, &first, "nodes");
	fputc('{', w->out);
	for (int i = 0; i < flex->node_count; i++) {
		fputs(i ? ",\n      " : "\n      ", w->out);
		put_flex_node(w, flex_node_name(w, added, flex->nodes[i].node), &flex->nodes[i], flex->modes);
	}
	fputs("}}", w->out);
}
