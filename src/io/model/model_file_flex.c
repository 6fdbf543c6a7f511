// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_flex.c — the key "flexible" of a body: modes given number by number, on nodes that the body has. Their
 * inertia is lumped there, or given by integrals (model_file_invariants.c).
 *
 * Stiffness is a matrix, its diagonal, or frequencies of mass-orthogonal shapes; damping is a matrix, its diagonal,
 * or a ratio for modes that neither mass nor stiffness couples. What the shapes are multiplied by has no unit of its
 * own (it depends on how they are normalized), so these are plain SI numbers; masses, inertias and frequencies
 * have their units checked. The rest is checked by the builder and the validation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/model/model_file.h"

enum { MAX_MODES = 1000 };

typedef struct FlexInput {
	const TreeNode *stiffness, *frequencies, *damping, *damping_ratio, *nodes, *invariants, *geometric;
	double frequency_bound;
	int unsprung;
} FlexInput;

/* A body while it is read. */
typedef struct FlexRead {
	CalFlexDef def;
	CalFlexInvariants inertia; // modes is 0 unless invariants are given
} FlexRead;

static const Field flexible_keys[] = {
	{"stiffness", FIELD_MATRIX, offsetof(FlexInput, stiffness), .flags = FIELD_AS_TREE,
     .doc = "one number per mode (the diagonal), or rows of a symmetric matrix; or instead"},
	{"frequencies", FIELD_NUMBERS, offsetof(FlexInput, frequencies), DIM_RATE, .flags = FIELD_AS_TREE,
     .doc = "one per mode, with the body frame held still (`3 rev/s` for 3 Hz). The shapes must be "
            "mass-orthogonal: the stiffness is the modal mass times the frequency squared"},
	{"damping", FIELD_MATRIX, offsetof(FlexInput, damping), .flags = FIELD_AS_TREE,
     .doc = "one number per mode, or rows of a matrix; default none"},
	{"damping_ratio", FIELD_NUMBERS, offsetof(FlexInput, damping_ratio), .flags = FIELD_AS_TREE,
     .doc = "instead of `damping`: a number for all modes, or a list. For modes that neither mass nor "
            "stiffness couples"},
	{"nodes", FIELD_ITEMS, offsetof(FlexInput, nodes), .flags = FIELD_REQUIRED | FIELD_LOCAL | FIELD_AS_TREE,
     .doc = "nodes of this body, by their names. Nodes that are not listed do not move", .table = &flexible_node_table},
	{"invariants", FIELD_MAP, offsetof(FlexInput, invariants), .flags = FIELD_AS_TREE,
     .doc = "the inertia as integrals instead of masses at nodes", .table = &invariants_table},
	{"frequency_bound", FIELD_POSITIVE, offsetof(FlexInput, frequency_bound), DIM_RATE,
     .doc = "no assembly of this body oscillates faster; faster modes of the free body are slowed down, "
            "their static flexibility stays; held modes below the bound become slower too "
            "([flexible.md](flexible.md#frequency-bound), `calder modes` lists them). Default none"},
	{"geometric", FIELD_MATRICES, offsetof(FlexInput, geometric), .flags = FIELD_AS_TREE,
     .doc = "geometric stiffness per unit acceleration field a + W r of the body frame: twelve matrices, for a_x, a_y, "
            "a_z (gravity subtracted), W_xx, W_xy, ... W_zz ([flexible.md](flexible.md#geometric-stiffness)); default "
            "none"},
	{"unsprung", FIELD_FLAG, offsetof(FlexInput, unsprung),
     .doc = "allows deflections without stiffness, which something else holds. Without this flag a singular "
            "stiffness is an error; an indefinite one always is"},
};
const FieldTable flexible_table = {FIELDS("flexible", flexible_keys), .doc = "Modes of a body."};

typedef struct FlexNodeInput {
	double mass;
	const TreeNode *inertia, *phi, *psi, *phi2;
} FlexNodeInput;

static const Field flexible_node_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"mass", FIELD_NOT_NEGATIVE, offsetof(FlexNodeInput, mass), DIM_MASS, .doc = "point mass; default 0"},
	{"inertia", FIELD_MAP, offsetof(FlexNodeInput, inertia), DIM_INERTIA, .flags = FIELD_AS_TREE,
     .doc = "rotary inertia about the node, body axes; default 0", .table = &inertia_table},
	{"phi", FIELD_ROWS, offsetof(FlexNodeInput, phi), .flags = FIELD_AS_TREE,
     .doc = "translation per modal coordinate; default none"},
	{"psi", FIELD_ROWS, offsetof(FlexNodeInput, psi), .flags = FIELD_AS_TREE,
     .doc = "rotation vector per modal coordinate; default none"},
	{"phi2", FIELD_MATRICES, offsetof(FlexNodeInput, phi2), .flags = FIELD_AS_TREE,
     .doc = "for x, y and z: second-order translation (foreshortening) eta'phi2 eta; default none"},
};
const FieldTable flexible_node_table = {FIELDS("flexible_node", flexible_node_keys),
                                        .doc = "How the modes move a node, and the mass that is lumped there."};

/* ---- matrices of plain numbers ------------------------------------------------------------------ */

bool model_file_read_row(Reader *r, const TreeNode *node, const char *key, int n, Dimension dimension, double *out) {
	if (node->kind == TREE_SCALAR && n == 1)
		return read_quantity(r, node, dimension, out);
	if (node->kind != TREE_LIST || node->count != n)
		return reader_fail(r, node, "\"%s\": expected a list of %d number%s, one for each mode", key, n,
		                   n == 1 ? "" : "s");
	for (int i = 0; i < n; i++) {
		if (!read_quantity(r, node->items[i], dimension, &out[i]))
			return false;
	}
	return true;
}

bool model_file_read_rows(Reader *r, const TreeNode *node, const char *key, int rows, int n, double *out) {
	if (node->kind != TREE_LIST || node->count != rows)
		return reader_fail(r, node, "\"%s\": expected a list of %d rows, each with %d number%s, one for each mode", key,
		                   rows, n, n == 1 ? "" : "s");
	for (int i = 0; i < rows; i++) {
		if (!model_file_read_row(r, node->items[i], key, n, DIM_NUMBER, out + i * n))
			return false;
	}
	return true;
}

/* A shape: three rows, one for each axis; NULL stays NULL. */
static bool read_shape(Reader *r, const TreeNode *node, const char *key, int modes, const double **out) {
	*out = NULL;
	if (!node)
		return true;
	double *shape = reader_array(r, 3 * (size_t)modes, sizeof *shape);
	*out = shape;
	return shape && model_file_read_rows(r, node, key, 3, modes, shape);
}

bool model_file_read_matrix(Reader *r, const TreeNode *node, const char *key, int n, double *out) {
	const bool rows = node->kind == TREE_LIST && node->count > 0 && node->items[0]->kind == TREE_LIST;
	if (rows)
		return model_file_read_rows(r, node, key, n, n, out);
	double *diagonal = reader_array(r, (size_t)n, sizeof *diagonal);
	if (!diagonal || !model_file_read_row(r, node, key, n, DIM_NUMBER, diagonal))
		return false;
	for (int i = 0; i < n; i++)
		out[i * n + i] = diagonal[i];
	return true;
}

/* So many matrices; NULL stays NULL. */
static bool read_matrices(Reader *r, const TreeNode *node, const char *key, int count, int modes, const double **out) {
	*out = NULL;
	if (!node)
		return true;
	const int size = modes * modes;
	double *matrices = reader_array(r, (size_t)count * (size_t)size, sizeof *matrices);
	*out = matrices;
	if (!matrices)
		return false;
	if (node->kind != TREE_LIST || node->count != count)
		return reader_fail(r, node, "\"%s\": expected %s", key,
		                   count == 3 ? "three matrices, for x, y and z"
		                              : "twelve matrices, for a_x, a_y, a_z and W_xx, W_xy, ... W_zz");
	for (int i = 0; i < count; i++) {
		if (!model_file_read_matrix(r, node->items[i], key, modes, matrices + i * size))
			return false;
	}
	return true;
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

static bool find_body_node(Reader *r, const TreeNode *nodes, const Item *item, const char *body, CalNodeId *id) {
	const char *path = reader_text(r, "%s/%s", body, item->name);
	if (!path)
		return false;
	*id = cal_desc_find_node(r->file->desc, path);
	if (id->value)
		return true;
	Suggestion suggestion = {.word = item->name};
	for (int i = 0; nodes && nodes->kind != TREE_SCALAR && i < nodes->count; i++) {
		const TreeNode *name = nodes->kind == TREE_MAP ? tree_key(nodes, i) : tree_get(nodes->items[i], "name");
		if (name && name->kind == TREE_SCALAR)
			suggestion_offer(&suggestion, name->text);
	}
	char hint[128];
	return reader_fail(r, item->place, "the body has no node \"%.80s\"%s; add it to the \"nodes\" of the body",
	                   item->name, suggestion_text(&suggestion, hint, sizeof hint));
}

static bool read_flex_node(Reader *r, const TreeNode *nodes, const Item *item, const char *body, int modes,
                           CalFlexNode *out) {
	FlexNodeInput input = {0};
	char what[160];
	if (!find_body_node(r, nodes, item, body, &out->node))
		return false;
	snprintf(what, sizeof what, "%.70s/%.70s", body, item->name);
	reader_subject(r, "flexible node", what);
	if (!fields_read(r, item->value, &flexible_node_table, &input) ||
	    (input.inertia && !model_file_read_tensor(r, input.inertia, &out->inertia)) ||
	    !read_shape(r, input.phi, "phi", modes, &out->phi) || !read_shape(r, input.psi, "psi", modes, &out->psi) ||
	    !read_matrices(r, input.phi2, "phi2", 3, modes, &out->phi2))
		return false;
	out->mass = input.mass;
	reader_subject(r, "body", body);
	return true;
}

static bool read_flex_nodes(Reader *r, const TreeNode *nodes, const TreeNode *section, const char *body,
                            CalFlexDef *def) {
	const int count = items_count(r, section, "nodes");
	CalFlexNode *list = count < 0 ? NULL : reader_array(r, (size_t)count, sizeof *list);
	if (!list)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, section, i, "node", &item) || !read_flex_node(r, nodes, &item, body, def->modes, &list[i]))
			return false;
	}
	def->nodes = list;
	def->node_count = count;
	return true;
}

/* ---- stiffness and damping --------------------------------------------------------------------------- */

/* sum over nodes of m phi'phi + psi'J psi at no deflection, and what the invariants have */
static double modal_mass(const FlexRead *flex, int i, int j) {
	const CalFlexDef *def = &flex->def;
	const CalFlexInvariants *in = &flex->inertia;
	const int at = i * def->modes + j;
	double sum = in->modes && in->modal_mass ? in->modal_mass[at] : 0;
	for (int c = 0; c < 3 && in->modes && !in->modal_mass; c++)
		sum += in->shape[4 * c * def->modes * def->modes + at];
	for (int k = 0; k < def->node_count; k++) {
		const CalFlexNode *n = &def->nodes[k];
		for (int a = 0; a < 3; a++) {
			if (n->phi)
				sum += n->mass * n->phi[a * def->modes + i] * n->phi[a * def->modes + j];
			for (int b = 0; n->psi && b < 3; b++)
				sum += n->psi[a * def->modes + i] * n->inertia.m[a][b] * n->psi[b * def->modes + j];
		}
	}
	return sum;
}

/* Refuses modes that the mass couples, or that have none. */
static bool check_orthogonal(Reader *r, const TreeNode *node, const FlexRead *flex, const char *key) {
	for (int i = 0; i < flex->def.modes; i++) {
		const double mass = modal_mass(flex, i, i);
		if (!(mass > 0))
			return reader_fail(r, node, "\"%s\": mode %d moves no mass; give masses to the nodes that it moves", key,
			                   i + 1);
		for (int j = 0; j < i; j++) {
			const double part = fabs(modal_mass(flex, i, j)) / sqrt(mass * modal_mass(flex, j, j));
			if (!(part < 1e-3))
				return reader_fail(r, node,
				                   "\"%s\" is for shapes that are mass-orthogonal, but modes %d and %d are coupled by "
				                   "the mass (%.2g of their modal masses); give the matrices \"stiffness\" and "
				                   "\"damping\", or correct the shapes or the masses",
				                   key, j + 1, i + 1, part);
		}
	}
	return true;
}

static bool read_stiffness(Reader *r, const FlexInput *in, const FlexRead *flex, double *K) {
	const int n = flex->def.modes;
	if (in->stiffness)
		return model_file_read_matrix(r, in->stiffness, "stiffness", n, K);
	double *rate = reader_array(r, (size_t)n, sizeof *rate);
	if (!rate || !model_file_read_row(r, in->frequencies, "frequencies", n, DIM_RATE, rate) ||
	    !check_orthogonal(r, in->frequencies, flex, "frequencies"))
		return false;
	for (int i = 0; i < n; i++) {
		if (!(rate[i] > 0))
			return reader_fail(r, in->frequencies, "\"frequencies\" must be greater than zero");
		K[i * n + i] = rate[i] * rate[i] * modal_mass(flex, i, i);
	}
	return true;
}

/* 2 zeta sqrt(K M) of each mode by itself. */
static bool read_ratio(Reader *r, const FlexInput *in, const FlexRead *flex, double *D) {
	const TreeNode *node = in->damping_ratio;
	const double *K = flex->def.stiffness;
	const int n = flex->def.modes;
	double *ratio = reader_array(r, (size_t)n, sizeof *ratio);
	if (!ratio || !check_orthogonal(r, node, flex, "damping_ratio"))
		return false;
	if (node->kind == TREE_SCALAR) {
		if (!read_quantity(r, node, DIM_NUMBER, &ratio[0]))
			return false;
		for (int i = 1; i < n; i++)
			ratio[i] = ratio[0];
	} else if (!model_file_read_row(r, node, "damping_ratio", n, DIM_NUMBER, ratio)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const double k = K[i * n + i];
		if (!(ratio[i] >= 0))
			return reader_fail(r, node, "\"damping_ratio\" must not be negative");
		for (int j = 0; j < i; j++) {
			if (!(fabs(K[i * n + j]) <= 1e-3 * sqrt(fabs(k * K[j * n + j]))))
				return reader_fail(r, node,
				                   "\"damping_ratio\" is for modes that the stiffness does not couple, but it couples "
				                   "modes %d and %d; give the matrix \"damping\"",
				                   j + 1, i + 1);
		}
		D[i * n + i] = 2 * ratio[i] * sqrt(fmax(k, 0) * modal_mass(flex, i, i));
	}
	return true;
}

/* Modes are as many as there are rows, numbers of the diagonal, or frequencies. */
static bool count_modes(Reader *r, const TreeNode *map, const FlexInput *in, int *modes) {
	const TreeNode *list = in->stiffness ? in->stiffness : in->frequencies;
	if (!in->stiffness == !in->frequencies)
		return reader_fail(r, map, "a flexible body needs either \"stiffness\" or \"frequencies\"");
	if (in->damping && in->damping_ratio)
		return reader_fail(r, in->damping_ratio, "give either \"damping\" or \"damping_ratio\", not both");
	*modes = list->kind == TREE_LIST ? list->count : list->kind == TREE_SCALAR ? 1 : 0;
	if (*modes < 1 || *modes > MAX_MODES)
		return reader_fail(r, list, "expected a list with one entry for each mode, 1 to %d", MAX_MODES);
	return true;
}

static bool read_forces(Reader *r, const FlexInput *in, FlexRead *flex) {
	const size_t size = (size_t)flex->def.modes * (size_t)flex->def.modes;
	double *K = reader_array(r, size, sizeof *K), *D = K ? reader_array(r, size, sizeof *D) : NULL;
	if (!D || !read_stiffness(r, in, flex, K))
		return false;
	flex->def.stiffness = K;
	if (in->damping ? !model_file_read_matrix(r, in->damping, "damping", flex->def.modes, D)
	                : in->damping_ratio && !read_ratio(r, in, flex, D))
		return false;
	flex->def.damping = in->damping || in->damping_ratio ? D : NULL;
	flex->def.frequency_bound = in->frequency_bound;
	flex->def.unsprung = in->unsprung;
	return read_matrices(r, in->geometric, "geometric", CAL_FLEX_GEOMETRIC, flex->def.modes, &flex->def.geometric);
}

bool model_file_read_flexible(Reader *r, const Item *item, const BodyInput *body, const CalBodyDef *whole,
                              CalBodyId id) {
	FlexInput in = {0};
	FlexRead flex = {0};
	const TreeNode *map = body->flexible;
	if (!fields_read(r, map, &flexible_table, &in) || !count_modes(r, map, &in, &flex.def.modes) ||
	    !read_flex_nodes(r, body->nodes, in.nodes, item->name, &flex.def) ||
	    (in.invariants && !model_file_read_invariants(r, in.invariants, flex.def.modes, &flex.inertia)) ||
	    !read_forces(r, &in, &flex))
		return false;
	flex.inertia.mass = whole->mass;
	flex.inertia.com = whole->com;
	flex.inertia.inertia = whole->inertia;
	const CalStatus status = in.invariants
	                             ? cal_flex_set_invariants(r->file->desc, id, &flex.def, &flex.inertia, r->error)
	                             : cal_desc_set_flexible(r->file->desc, id, &flex.def, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	r->file->modes[id.value - 1] = flex.def.modes;
	return true;
}
