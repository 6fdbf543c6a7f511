// SPDX-License-Identifier: Apache-2.0
/*
 * fe_modal_file.c — the project's own file of one modal body: YAML when read, JSON (which is YAML) when written.
 *
 * docs/fe.md describes it. Numbers are SI; a matrix is a list of rows, a diagonal one the list of its diagonal. The
 * mass that the file states is compared with the sum over its nodes: units that are off by 1000 show there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_reader.h"
#include "base/units.h"
#include "io/fe/fe_file.h"
#include "io/yaml/yaml_tree.h"

enum { FORMAT_VERSION = 1 };

typedef struct FileReader {
	const Tree *tree;
	CalError *error;
	CalModal *modal;
} FileReader;

static CalStatus fail(const FileReader *r, const TreeNode *node, const char *what, const char *detail) {
	return tree_error(r->error, tree_name(r->tree), node, CAL_ERR_INPUT, "%s%s", what, detail);
}

static CalStatus memory_error(const FileReader *r) {
	return tree_error(r->error, tree_name(r->tree), NULL, CAL_ERR_MEMORY, "out of memory");
}

/* ---- values ------------------------------------------------------------------------------------ */

static CalStatus read_number(const FileReader *r, const TreeNode *node, double *out) {
	if (node->kind != TREE_SCALAR || !fe_number(node->text, out))
		return fail(r, node, "expected a finite number", "");
	return CAL_OK;
}

static CalStatus read_numbers(const FileReader *r, const TreeNode *node, const char *what, int count, double *out) {
	if (node->kind != TREE_LIST || node->count != count)
		return tree_error(r->error, tree_name(r->tree), node, CAL_ERR_INPUT,
		                  "%s must be a list of %d numbers; it has %d", what, count,
		                  node->kind == TREE_LIST ? node->count : 0);
	for (int i = 0; i < count; i++) {
		const CalStatus status = read_number(r, node->items[i], &out[i]);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus read_rows(const FileReader *r, const TreeNode *node, const char *what, int rows, int cols,
                           double *out) {
	if (node->kind != TREE_LIST || node->count != rows)
		return tree_error(r->error, tree_name(r->tree), node, CAL_ERR_INPUT, "%s must have %d rows; it has %d", what,
		                  rows, node->kind == TREE_LIST ? node->count : 0);
	for (int i = 0; i < rows; i++) {
		const CalStatus status = read_numbers(r, node->items[i], what, cols, out + (size_t)i * (size_t)cols);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

/* Rows, or the diagonal alone. */
static CalStatus read_square(const FileReader *r, const TreeNode *node, const char *what, int n, double *out) {
	if (node->kind != TREE_LIST || node->count == 0 || node->items[0]->kind == TREE_LIST)
		return read_rows(r, node, what, n, n, out);
	CalStatus status = read_numbers(r, node, what, n, out);
	for (int i = n - 1; i >= 0 && status == CAL_OK; i--) { // spread from the end: out[i] moves to out[i * n + i]
		const double value = out[i];
		out[i] = 0;
		out[i * n + i] = value;
	}
	return status;
}

static CalStatus check_keys(const FileReader *r, const TreeNode *map, const char *const *known) {
	if (map->kind != TREE_MAP)
		return fail(r, map, "expected a map", "");
	for (int i = 0; i < map->count; i++) {
		int k = 0;
		while (known[k] && strcmp(known[k], tree_key(map, i)->text) != 0)
			k++;
		if (!known[k])
			return fail(r, tree_key(map, i), "unknown key: ", tree_key(map, i)->text);
	}
	return CAL_OK;
}

/* ---- parts of the file ------------------------------------------------------------------------- */

static CalStatus read_text(FileReader *r, const TreeNode *node, const char **out) {
	if (!node)
		return CAL_OK;
	if (node->kind != TREE_SCALAR)
		return fail(r, node, "expected a text", "");
	*out = pool_text(&r->modal->pool, node->text, strlen(node->text));
	return *out ? CAL_OK : memory_error(r);
}

static CalStatus read_vector(const FileReader *r, const TreeNode *node, const char *what, CalVec3 *out) {
	double x[3];
	const CalStatus status = read_numbers(r, node, what, 3, x);
	if (status == CAL_OK)
		*out = (CalVec3){x[0], x[1], x[2]};
	return status;
}

static CalStatus read_rigid(FileReader *r, const TreeNode *map) {
	static const char *const known[] = {"mass", "com", "inertia", NULL};
	const TreeNode *mass = tree_get(map, "mass"), *com = tree_get(map, "com"), *inertia = tree_get(map, "inertia");
	CalStatus status = check_keys(r, map, known);
	if (status == CAL_OK && mass)
		status = read_number(r, mass, &r->modal->rigid_mass);
	if (status == CAL_OK && com)
		status = read_vector(r, com, "com", &r->modal->rigid_com);
	if (status == CAL_OK && inertia)
		status = read_rows(r, inertia, "inertia", 3, 3, &r->modal->rigid_inertia.m[0][0]);
	return status;
}

static CalStatus read_kind(const FileReader *r, const TreeNode *node, CalModalNodeKind *kind) {
	static const char *const names[] = {"frame", "mass", "display"};
	*kind = CAL_MODAL_FRAME;
	if (!node)
		return CAL_OK;
	for (int i = 0; i < 3 && node->kind == TREE_SCALAR; i++)
		if (strcmp(node->text, names[i]) == 0) {
			*kind = (CalModalNodeKind)i;
			return CAL_OK;
		}
	return fail(r, node, "kind is frame, mass or display", "");
}

/* So many square matrices into memory of the body; a missing one stays NULL. */
static CalStatus read_matrices(FileReader *r, const TreeNode *node, const char *what, int count, double **out) {
	const size_t n = (size_t)r->modal->modes;
	if (!node)
		return CAL_OK;
	if (node->kind != TREE_LIST || node->count != count)
		return tree_error(r->error, tree_name(r->tree), node, CAL_ERR_INPUT,
		                  "%s must be a list of %d matrices; it has %d", what, count,
		                  node->kind == TREE_LIST ? node->count : 0);
	*out = pool_array(&r->modal->pool, (size_t)count * n * n, sizeof **out);
	CalStatus status = *out ? CAL_OK : memory_error(r);
	for (int i = 0; i < count && status == CAL_OK; i++)
		status = read_square(r, node->items[i], what, (int)n, *out + (size_t)i * n * n);
	return status;
}

static CalStatus read_shapes(FileReader *r, const TreeNode *map, ModalNode *node) {
	const TreeNode *phi = tree_get(map, "phi"), *psi = tree_get(map, "psi");
	CalStatus status = CAL_OK;
	if (phi)
		status = read_rows(r, phi, "phi", 3, r->modal->modes, node->phi);
	if (status == CAL_OK && psi)
		status = read_rows(r, psi, "psi", 3, r->modal->modes, node->psi);
	return status == CAL_OK ? read_matrices(r, tree_get(map, "phi2"), "phi2", 3, &node->phi2) : status;
}

static CalStatus read_node(FileReader *r, const TreeNode *map) {
	static const char *const known[] = {"name",    "kind", "position", "orientation", "mass",
	                                    "inertia", "phi",  "psi",      "phi2",        NULL};
	const TreeNode *name = tree_get(map, "name"), *position = tree_get(map, "position"), *value;
	CalModalNodeKind kind;
	CalStatus status = check_keys(r, map, known);
	if (status == CAL_OK)
		status = read_kind(r, tree_get(map, "kind"), &kind);
	if (status != CAL_OK)
		return status;
	if (!name || name->kind != TREE_SCALAR || !position)
		return fail(r, map, "a node needs a name and a position", "");
	ModalNode *node = fe_modal_add_node(r->modal, name->text, kind);
	if (!node)
		return memory_error(r);
	node->place = (ModalPlace){map->line, map->column};
	status = read_vector(r, position, "position", &node->placement.position);
	if (status == CAL_OK && (value = tree_get(map, "orientation"))) {
		double q[4] = {0};
		status = read_numbers(r, value, "orientation (w, x, y, z)", 4, q);
		if (status == CAL_OK && !(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0))
			status = fail(r, value, "the quaternion is zero", "");
		if (status == CAL_OK)
			node->placement.orientation = (CalQuat){q[0], q[1], q[2], q[3]};
	}
	if (status == CAL_OK && (value = tree_get(map, "mass")))
		status = read_number(r, value, &node->mass);
	if (status == CAL_OK && (value = tree_get(map, "inertia")))
		status = read_rows(r, value, "inertia", 3, 3, &node->inertia.m[0][0]);
	return status == CAL_OK ? read_shapes(r, map, node) : status;
}

static CalStatus read_nodes(FileReader *r, const TreeNode *list) {
	if (list->kind != TREE_LIST || list->count == 0)
		return fail(r, list, "nodes must be a list with at least one node", "");
	if (!fe_modal_reserve_nodes(r->modal, list->count))
		return memory_error(r);
	CalStatus status = CAL_OK;
	for (int i = 0; i < list->count && status == CAL_OK; i++)
		status = read_node(r, list->items[i]);
	return status;
}

static CalStatus check_mass(const FileReader *r, const TreeNode *stated) {
	const double mass = cal_modal_info(r->modal).mass;
	double value = 0;
	if (!stated)
		return CAL_OK;
	const CalStatus status = read_number(r, stated, &value);
	if (status == CAL_OK && !(fabs(value - mass) <= 1e-3 * fabs(mass)))
		return tree_error(r->error, tree_name(r->tree), stated, CAL_ERR_INPUT,
		                  "the mass is stated as %g kg, but the nodes sum up to %g kg (%.4g times as much); %s", value,
		                  mass, mass / value,
		                  ratio_is_of_units(mass / value) ? "the units are probably off: masses are in kg, lengths in m"
		                                                  : "check the masses of the nodes");
	return status;
}

static CalStatus read_body(FileReader *r, const TreeNode *root) {
	const TreeNode *stiffness = tree_get(root, "stiffness"), *damping = tree_get(root, "damping");
	const TreeNode *rigid = tree_get(root, "rigid"), *nodes = tree_get(root, "nodes");
	const int n = r->modal->modes;
	if (!stiffness || !nodes)
		return fail(r, root, "a modal file needs modes, stiffness and nodes", "");
	r->modal->stiffness_place = (ModalPlace){stiffness->line, stiffness->column};
	CalStatus status = read_text(r, tree_get(root, "name"), &r->modal->name);
	if (status == CAL_OK)
		status = read_text(r, tree_get(root, "boundary"), &r->modal->boundary);
	if (status == CAL_OK)
		status = read_square(r, stiffness, "stiffness", n, r->modal->stiffness);
	if (status == CAL_OK && damping) {
		r->modal->damping = pool_array(&r->modal->pool, (size_t)n * (size_t)n, sizeof(double));
		status = r->modal->damping ? read_square(r, damping, "damping", n, r->modal->damping) : memory_error(r);
	}
	if (status == CAL_OK)
		status = read_matrices(r, tree_get(root, "geometric"), "geometric", CAL_FLEX_GEOMETRIC, &r->modal->geometric);
	if (status == CAL_OK && rigid)
		status = read_rigid(r, rigid);
	if (status == CAL_OK)
		status = read_nodes(r, nodes);
	if (status == CAL_OK)
		status = check_mass(r, tree_get(root, "mass"));
	return status == CAL_OK ? fe_modal_check(r->modal, r->error) : status;
}

static CalStatus read_root(FileReader *r, const char *path, const CalAllocator *allocator) {
	static const char *const known[] = {"calder_modal", "name",    "boundary",  "mass",  "modes", "rigid",
	                                    "stiffness",    "damping", "geometric", "nodes", NULL};
	const TreeNode *root = tree_root(r->tree), *version = tree_get(root, "calder_modal"),
				   *modes = tree_get(root, "modes");
	double value = 0;
	if (!version)
		return fail(r, root, "not a modal file: expected a map that starts with \"calder_modal: 1\"", "");
	CalStatus status = check_keys(r, root, known);
	if (status == CAL_OK)
		status = read_number(r, version, &value);
	if (status == CAL_OK && value != FORMAT_VERSION)
		return fail(r, version, "only version 1 of the format is known", "");
	if (status == CAL_OK && !modes)
		return fail(r, root, "a modal file needs modes, stiffness and nodes", "");
	if (status == CAL_OK)
		status = read_number(r, modes, &value);
	if (status == CAL_OK && !(value >= 1 && value <= FE_MAX_MODES && value == floor(value)))
		return fail(r, modes, "modes must be a whole number from 1 to 512", "");
	if (status != CAL_OK)
		return status;
	r->modal = fe_modal_new(path, "modal file", (int)value, allocator);
	return r->modal ? read_body(r, root) : memory_error(r);
}

CalStatus fe_modal_read_file(const char *path, const CalAllocator *allocator, CalModal **modal, CalError *error) {
	Tree *tree;
	CalStatus status = tree_read(path, allocator, &tree, error);
	if (status != CAL_OK)
		return status;
	FileReader r = {.tree = tree, .error = error};
	status = read_root(&r, path, allocator);
	if (status == CAL_OK)
		*modal = r.modal;
	else
		cal_modal_destroy(r.modal);
	tree_destroy(tree);
	return status;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* 17 digits read back as the same number; a point whatever the locale. */
static void put_number(FILE *out, double value) {
	char text[40];
	snprintf(text, sizeof text, "%.17g", value);
	for (char *c = text; *c; c++)
		*c = *c == ',' ? '.' : *c;
	fputs(text, out);
}

static void put_numbers(FILE *out, const double *x, int count) {
	putc('[', out);
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		put_number(out, x[i]);
	}
	putc(']', out);
}

static void put_rows(FILE *out, const char *name, const double *x, int rows, int cols) {
	fprintf(out, ", \"%s\": [", name);
	for (int i = 0; i < rows; i++) {
		fputs(i ? ", " : "", out);
		put_numbers(out, x + (size_t)i * (size_t)cols, cols);
	}
	putc(']', out);
}

static void put_text(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else
			putc(*c, out);
	}
	putc('"', out);
}

static void put_square(FILE *out, const char *name, const double *x, int n) {
	fprintf(out, "  \"%s\": [", name);
	for (int i = 0; i < n; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		put_numbers(out, x + (size_t)i * (size_t)n, n);
	}
	fputs("],\n", out);
}

/* Matrices as a list of lists of rows. */
static void put_matrices(FILE *out, const char *before, const char *name, const double *x, int count, int n) {
	fprintf(out, "%s\"%s\": [", before, name);
	for (int i = 0; i < count; i++) {
		fputs(i ? ",\n    [" : "\n    [", out);
		for (int k = 0; k < n; k++) {
			fputs(k ? ", " : "", out);
			put_numbers(out, x + ((size_t)i * (size_t)n + (size_t)k) * (size_t)n, n);
		}
		putc(']', out);
	}
	putc(']', out);
}

static void put_node(FILE *out, const CalModal *modal, const ModalNode *node) {
	static const char *const kinds[] = {"frame", "mass", "display"};
	const double p[3] = {node->placement.position.x, node->placement.position.y, node->placement.position.z};
	const CalQuat q = node->placement.orientation;
	const double w[4] = {q.w, q.x, q.y, q.z};
	fputs("    {\"name\": ", out);
	put_text(out, node->name);
	fprintf(out, ", \"kind\": \"%s\", \"position\": ", kinds[node->kind]);
	put_numbers(out, p, 3);
	if (w[0] != 1 && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3] > 0) {
		fputs(", \"orientation\": ", out);
		put_numbers(out, w, 4);
	}
	if (node->mass != 0) {
		fputs(", \"mass\": ", out);
		put_number(out, node->mass);
	}
	bool turns = false, heavy = false;
	for (int i = 0; i < 3 * modal->modes; i++)
		turns |= node->psi[i] != 0;
	for (int i = 0; i < 9; i++)
		heavy |= node->inertia.m[i / 3][i % 3] != 0;
	if (heavy)
		put_rows(out, "inertia", &node->inertia.m[0][0], 3, 3);
	put_rows(out, "phi", node->phi, 3, modal->modes);
	if (turns)
		put_rows(out, "psi", node->psi, 3, modal->modes);
	if (node->phi2)
		put_matrices(out, ", ", "phi2", node->phi2, 3, modal->modes);
	putc('}', out);
}

static void put_all(FILE *out, const CalModal *modal) {
	const double com[3] = {modal->rigid_com.x, modal->rigid_com.y, modal->rigid_com.z};
	fprintf(out, "{\n  \"calder_modal\": %d,\n  \"name\": ", FORMAT_VERSION);
	put_text(out, modal->name);
	fputs(",\n  \"boundary\": ", out);
	put_text(out, modal->boundary);
	fputs(",\n  \"mass\": ", out);
	put_number(out, cal_modal_info(modal).mass);
	fprintf(out, ",\n  \"modes\": %d,\n", modal->modes);
	if (modal->rigid_mass > 0) {
		fputs("  \"rigid\": {\"mass\": ", out);
		put_number(out, modal->rigid_mass);
		fputs(", \"com\": ", out);
		put_numbers(out, com, 3);
		put_rows(out, "inertia", &modal->rigid_inertia.m[0][0], 3, 3);
		fputs("},\n", out);
	}
	put_square(out, "stiffness", modal->stiffness, modal->modes);
	if (modal->damping)
		put_square(out, "damping", modal->damping, modal->modes);
	if (modal->geometric) {
		put_matrices(out, "  ", "geometric", modal->geometric, CAL_FLEX_GEOMETRIC, modal->modes);
		fputs(",\n", out);
	}
	fputs("  \"nodes\": [\n", out);
	for (int i = 0; i < modal->node_count; i++) {
		put_node(out, modal, &modal->nodes[i]);
		fputs(i + 1 < modal->node_count ? ",\n" : "\n", out);
	}
	fputs("  ]\n}\n", out);
}

static void put_modal(FILE *out, const void *modal) { put_all(out, modal); }

CalStatus fe_modal_write_file(const CalModal *modal, const char *path, CalError *error) {
	return fe_write_whole(path, put_modal, modal, error);
}
