// SPDX-License-Identifier: Apache-2.0
/*
 * fe_calculix.c — a CalculiX job that was run with *FREQUENCY, SOLVER=MATRIXSTORAGE.
 *
 * JOB.dof names the equations, one "node.direction" per line; JOB.sti and JOB.mas hold the upper triangles of K and
 * M as "row column value". Coordinates and interfaces come from JOB.inp (*NODE, *RIGID BODY, *INCLUDE): in the .frd of
 * such a run there are none. A *RIGID BODY with REF NODE a and ROT NODE b is an interface frame: the directions 1..3
 * of b are the rotations of a. It takes the name of its NSET or ELSET.
 *
 * Some equations belong to nodes that CalculiX makes: the incompatible modes of C3D8I have numbers after all others; shells,
 * beams and other elements that are expanded to solids have several nodes under the number of the one in the deck. What they
 * are and where follows from the stiffness (fe_model_place()).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/fe/fe_calculix_mesh.h"
#include "io/fe/fe_file.h"

enum { PATH_SIZE = 1024, INCLUDE_DEPTH = 8, MAX_FRAMES = 64 };

typedef struct RigidBody {
	char name[DECK_NAME], set[DECK_NAME];
	bool of_elements;
	long ref, rot;
} RigidBody;

typedef struct Deck {
	CalFeModel *fe;
	CalError *error;
	RigidBody rigid[MAX_FRAMES];
	int rigid_count;
	FeUnplaced *unplaced;
	int unplaced_count, unplaced_capacity;
	DeckMesh mesh;
} Deck;

static CalStatus memory_error(const CalFeModel *fe, CalError *error) {
	return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
}

/* ---- the deck ---------------------------------------------------------------------------------- */

/* Text without any blanks, in place: "REF NODE = 5" is REFNODE=5 to CalculiX. */
static void squeeze(char *text) {
	char *to = text;
	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
	*to = '\0';
}

static CalStatus read_node(FeText *t, Deck *deck) {
	char *rest = t->line;
	const char *field = deck_next_field(&rest);
	long id;
	double x[3] = {0, 0, 0}; // coordinates that are left out are zero
	if (!field || !fe_integer(field, &id) || id < 1)
		return fe_text_error(t, CAL_ERR_INPUT, "expected a node: number, x, y, z");
	for (int i = 0; i < 3 && (field = deck_next_field(&rest)) && *field; i++)
		if (!fe_number(field, &x[i]))
			return fe_text_error(t, CAL_ERR_INPUT, "coordinate %d of node %ld is no number: \"%.40s\"", i + 1, id,
			                     field);
	deck_mesh_node(&deck->mesh, id);
	return fe_model_add_node(deck->fe, id, (CalVec3){x[0], x[1], x[2]}) ? CAL_OK : memory_error(deck->fe, t->error);
}

/* keyword is lower case without blanks; original keeps the case of names. */
static CalStatus read_rigid_body(FeText *t, Deck *deck, char *keyword) {
	RigidBody body = {.name = "", .ref = -1, .rot = -1};
	char *rest = keyword;
	for (char *field; (field = deck_next_field(&rest));) {
		if (strncmp(field, "nset=", 5) == 0 || strncmp(field, "elset=", 6) == 0) {
			snprintf(body.name, sizeof body.name, "%.60s", strchr(field, '=') + 1);
			snprintf(body.set, sizeof body.set, "%.63s", strchr(field, '=') + 1);
			body.of_elements = field[0] == 'e';
		}
		if (strncmp(field, "refnode=", 8) == 0 && !fe_integer(field + 8, &body.ref))
			return fe_text_error(t, CAL_ERR_INPUT, "REF NODE is no number");
		if (strncmp(field, "rotnode=", 8) == 0 && !fe_integer(field + 8, &body.rot))
			return fe_text_error(t, CAL_ERR_INPUT, "ROT NODE is no number");
	}
	if (body.ref < 0 || body.rot < 0)
		return fe_text_error(t, CAL_ERR_INPUT,
		                     "a *RIGID BODY that serves as an interface needs REF NODE and ROT NODE; add them");
	if (deck->rigid_count == MAX_FRAMES)
		return fe_text_error(t, CAL_ERR_UNSUPPORTED, "more than %d *RIGID BODY frames", MAX_FRAMES);
	deck->rigid[deck->rigid_count++] = body;
	return CAL_OK;
}

static CalStatus read_deck(Deck *deck, const char *path, int depth);

static CalStatus read_include(FeText *t, Deck *deck, int depth) {
	char path[PATH_SIZE];
	char *rest = t->line;
	for (char *field; (field = deck_next_field(&rest));) {
		char *equals = strchr(field, '=');
		if (!equals || tolower((unsigned char)field[0]) != 'i')
			continue;
		char *name = fe_trim(equals + 1);
		if (*name == '"') {
			name++;
			name[strcspn(name, "\"")] = '\0';
		}
		if (depth >= INCLUDE_DEPTH || !*name || !fe_path_beside(t->path, name, path, sizeof path))
			return fe_text_error(t, CAL_ERR_INPUT, "*INCLUDE goes too deep or names no file");
		return read_deck(deck, path, depth + 1);
	}
	return fe_text_error(t, CAL_ERR_INPUT, "*INCLUDE needs INPUT=file");
}

static CalStatus read_keyword(FeText *t, Deck *deck, int depth) {
	char keyword[FE_LINE_MAX];
	memcpy(keyword, t->lower, sizeof keyword);
	squeeze(keyword);
	deck_mesh_keyword(&deck->mesh, keyword);
	if (strncmp(keyword, "*rigidbody", 10) == 0)
		return read_rigid_body(t, deck, keyword);
	if (strncmp(keyword, "*include", 8) == 0)
		return read_include(t, deck, depth);
	return CAL_OK;
}

static CalStatus read_deck(Deck *deck, const char *path, int depth) {
	FeText t;
	CalStatus status = fe_model_open(deck->fe, &t, path, deck->error);
	if (status != CAL_OK)
		return status;
	while (status == CAL_OK && fe_text_next(&t, &status)) {
		const char *start = t.line + strspn(t.line, " \t");
		if (!*start || strncmp(start, "**", 2) == 0)
			continue;
		if (*start == '*')
			status = read_keyword(&t, deck, depth);
		else if (deck->mesh.block == DECK_NODES)
			status = read_node(&t, deck);
		else
			deck_mesh_line(&deck->mesh, t.lower);
	}
	fe_text_close(&t);
	return status;
}

/* ---- equations --------------------------------------------------------------------------------- */

/* "9002.1" for direction 1 of node 9002. */
static bool parse_dof(char *line, long *node, long *direction) {
	char *text = fe_trim(line), *point = strchr(text, '.');
	if (!point)
		return false;
	*point = '\0';
	return fe_integer(text, node) && fe_integer(point + 1, direction) && *direction >= 1 && *direction <= 3;
}

/* An equation of a node without a place of its own; directions of one node ascend. */
static CalStatus add_unplaced(Deck *deck, long id, int direction) {
	CalFeModel *fe = deck->fe;
	FeUnplaced *last = deck->unplaced_count ? &deck->unplaced[deck->unplaced_count - 1] : NULL;
	const bool same = last && last->id == id && last->first + last->count == fe->dof_count &&
	                  fe->dofs[fe->dof_count - 1].component < direction;
	if (!same) {
		FeUnplaced *all = array_reserve(&fe->pool.allocator, deck->unplaced, deck->unplaced_count, 1,
		                                &deck->unplaced_capacity, sizeof *all);
		if (!all)
			return memory_error(fe, deck->error);
		deck->unplaced = all;
		last = &all[deck->unplaced_count++];
		*last = (FeUnplaced){.id = id, .first = fe->dof_count};
	}
	last->count++;
	fe->dofs[fe->dof_count++] = (FeDof){-1, direction};
	return CAL_OK;
}

static CalStatus add_equation(FeText *t, Deck *deck, long id, int direction) {
	CalFeModel *fe = deck->fe;
	int component = direction;
	bool of_frame = false;
	for (int i = 0; i < deck->rigid_count; i++) {
		of_frame |= deck->rigid[i].ref == id || deck->rigid[i].rot == id;
		if (deck->rigid[i].rot == id) {
			id = deck->rigid[i].ref;
			component = direction + 3;
		}
	}
	const int node = fe_model_find(fe, id);
	if (!of_frame && (deck->mesh.expanded[0] || (node < 0 && deck->mesh.internal[0])))
		return add_unplaced(deck, id, direction);
	if (node < 0)
		return fe_text_error(t, CAL_ERR_INPUT, "node %ld has an equation but no coordinates in the .inp file", id);
	if (fe->nodes[node].dof[component] >= 0)
		return fe_text_error(t, CAL_ERR_INPUT, "direction %d of node %ld stands here twice", direction + 1, id);
	fe->nodes[node].dof[component] = fe->dof_count;
	fe->dofs[fe->dof_count++] = (FeDof){node, component};
	return CAL_OK;
}

/* Lines of a file: no more equations than these. */
static size_t count_lines(const FeText *t) {
	size_t lines = 1;
	for (size_t i = 0; i < t->length; i++)
		lines += t->text[i] == '\n';
	return lines;
}

static CalStatus read_equations(Deck *deck, const char *path) {
	CalFeModel *fe = deck->fe;
	FeText t;
	CalStatus status = fe_model_open(fe, &t, path, deck->error);
	if (status != CAL_OK)
		return status;
	fe->dofs = pool_array(&fe->pool, count_lines(&t), sizeof *fe->dofs);
	if (!fe->dofs) {
		fe_text_close(&t);
		return memory_error(fe, deck->error);
	}
	while (status == CAL_OK && fe_text_next(&t, &status)) {
		long node, direction;
		if (!t.line[strspn(t.line, " \t")])
			continue;
		if (!parse_dof(t.line, &node, &direction))
			status = fe_text_error(&t, CAL_ERR_INPUT, "expected node.direction with a direction of 1, 2 or 3");
		else
			status = add_equation(&t, deck, node, (int)direction - 1);
	}
	if (status == CAL_OK && (fe->dof_count == 0 || fe->dof_count > FE_MAX_DOFS))
		status = fe_file_error(deck->error, path, fe->dof_count ? CAL_ERR_UNSUPPORTED : CAL_ERR_INPUT,
		                       "the file lists %d equations; 1 to %d can be read", fe->dof_count, FE_MAX_DOFS);
	fe_text_close(&t);
	return status;
}

static CalStatus read_entry(FeText *t, CalFeModel *fe, FeMatrix *matrix, const char *dof_path) {
	char *row_text = t->line + strspn(t->line, " \t");
	char *col_text = row_text + strcspn(row_text, " \t");
	long row, col;
	double value;
	if (*col_text)
		*col_text++ = '\0';
	col_text += strspn(col_text, " \t");
	char *value_text = col_text + strcspn(col_text, " \t");
	if (*value_text)
		*value_text++ = '\0';
	if (!fe_integer(row_text, &row) || !fe_integer(col_text, &col) || !fe_number(value_text, &value))
		return fe_text_error(t, CAL_ERR_INPUT, "expected row, column and a finite value");
	if (row < 1 || col < 1 || row > fe->dof_count || col > fe->dof_count)
		return fe_text_error(t, CAL_ERR_INPUT, "entry (%ld, %ld), but %.100s lists %d equations; are they of one run?",
		                     row, col, dof_path, fe->dof_count);
	if (value == 0 && row != col)
		return CAL_OK;
	return fe_matrix_add(fe, matrix, (int)row - 1, (int)col - 1, value) ? CAL_OK : memory_error(fe, t->error);
}

static CalStatus read_matrix(Deck *deck, const char *path, FeMatrix *matrix, const char *dof_path) {
	FeText t;
	CalStatus status = fe_model_open(deck->fe, &t, path, deck->error);
	if (status != CAL_OK)
		return status;
	int last = -1;
	while (status == CAL_OK && fe_text_next(&t, &status))
		if (t.line[strspn(t.line, " \t")])
			status = read_entry(&t, deck->fe, matrix, dof_path);
	for (int e = 0; e < matrix->count; e++)
		last = matrix->row[e] > last ? matrix->row[e] : last;
	if (status == CAL_OK && last + 1 != deck->fe->dof_count)
		status = fe_text_error(&t, CAL_ERR_INPUT,
		                       "the matrix ends at row %d, but %.100s lists %d equations; was the "
		                       "run cut short?",
		                       last + 1, dof_path, deck->fe->dof_count);
	fe_text_close(&t);
	return status;
}

/* ---- all together ------------------------------------------------------------------------------ */

/* Without an interface to follow, internal equations stay scalars; expanded elements need one. */
static CalStatus place_equations(Deck *deck) {
	CalFeModel *fe = deck->fe;
	const int node = deck->rigid_count ? fe_model_find(fe, deck->rigid[0].ref) : -1;
	const bool frame = node >= 0 && fe_node_is_frame(&fe->nodes[node]);
	if (deck->unplaced_count == 0 || (!frame && deck->rigid_count && !deck->mesh.expanded[0]))
		return CAL_OK; // add_frames() says what is wrong with an interface
	if (frame)
		return fe_model_place(fe, node, deck->unplaced, deck->unplaced_count, deck->error);
	if (!deck->mesh.expanded[0])
		return CAL_OK;
	return fe_file_error(
		deck->error, fe->path, CAL_ERR_UNSUPPORTED,
		"CalculiX expands elements of type %s to solids with nodes of its own; to place them, the first "
		"*RIGID BODY must have all six directions free: of nodes that are not on one line, without "
		"*BOUNDARY. Or mesh with solid elements",
		deck->mesh.expanded);
}

static CalStatus add_frames(Deck *deck) {
	CalFeModel *fe = deck->fe;
	fe->frames = pool_array(&fe->pool, (size_t)deck->rigid_count, sizeof *fe->frames);
	if (!fe->frames)
		return memory_error(fe, deck->error);
	for (int i = 0; i < deck->rigid_count; i++) {
		RigidBody *body = &deck->rigid[i];
		const int node = fe_model_find(fe, body->ref);
		if (node < 0 || !fe_node_is_frame(&fe->nodes[node]))
			return fe_file_error(deck->error, fe->path, CAL_ERR_INPUT,
			                     "interface \"%s\": of nodes %ld (REF NODE) and %ld (ROT NODE) not all six directions "
			                     "are free; remove the *BOUNDARY on them, supports belong to the multibody model",
			                     body->name, body->ref, body->rot);
		if (!body->name[0])
			snprintf(body->name, sizeof body->name, "node%ld", body->ref);
		const char *name = pool_text(&fe->pool, body->name, strlen(body->name));
		if (!name)
			return memory_error(fe, deck->error);
		fe->frames[fe->frame_count++] = (FeFrame){name, node};
		deck_mesh_tie(&deck->mesh, body->set, body->of_elements, node);
	}
	return deck_mesh_complete(&deck->mesh) ? CAL_OK : memory_error(fe, deck->error);
}

static CalStatus read_job(Deck *deck, const char *base) {
	char path[PATH_SIZE], dof_path[PATH_SIZE];
	snprintf(path, sizeof path, "%s.inp", base);
	snprintf(dof_path, sizeof dof_path, "%s.dof", base);
	CalStatus status = read_deck(deck, path, 0);
	const long twice = status == CAL_OK ? fe_model_sort_nodes(deck->fe) : -1;
	if (twice >= 0)
		status = fe_file_error(deck->error, path, CAL_ERR_INPUT, "node %ld is given twice in different places", twice);
	if (status == CAL_OK)
		status = read_equations(deck, dof_path);
	snprintf(path, sizeof path, "%s.sti", base);
	if (status == CAL_OK)
		status = read_matrix(deck, path, &deck->fe->K, dof_path);
	snprintf(path, sizeof path, "%s.mas", base);
	if (status == CAL_OK)
		status = read_matrix(deck, path, &deck->fe->M, dof_path);
	if (status == CAL_OK)
		status = place_equations(deck);
	if (status == CAL_OK)
		status = add_frames(deck);
	return status;
}

CalStatus fe_read_calculix(const char *path, const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe,
                           CalError *error) {
	static const char *const endings[] = {".inp", ".dof", ".sti", ".mas"};
	char base[PATH_SIZE - 8];
	*fe = NULL;
	const int length = snprintf(base, sizeof base, "%s", path);
	if (length < 0 || (size_t)length >= sizeof base)
		return error_set(error, CAL_ERR_ARGUMENT, "the path is too long");
	for (int i = 0; i < 4; i++)
		if (fe_ends_with(base, endings[i])) {
			base[length - 4] = '\0';
			break;
		}
	CalFeModel *made = fe_model_new(path, "CalculiX", units, allocator);
	if (!made)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	Deck deck = {.fe = made, .error = error, .mesh = {.fe = made, .set = -1}};
	CalStatus status = read_job(&deck, base);
	memory_free(&made->pool.allocator, deck.unplaced);
	return fe_model_complete(made, status, fe, error);
}
