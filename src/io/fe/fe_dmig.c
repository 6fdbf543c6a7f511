// SPDX-License-Identifier: Apache-2.0
/*
 * fe_dmig.c — NASTRAN bulk data: DMIG matrices with GRID and SPOINT cards, as punched by EXTSEOUT or EXTOUT=DMIGPCH.
 *
 * Small field (8 columns), large field (16, "DMIG*") and free field (commas) cards; real symmetric (form 6) and real
 * square (form 1) matrices. A column card holds "name, grid, component" and then (grid, component, value) for its rows.
 * Component 0 is a scalar point. Grids must be in the basic coordinate system.
 *
 * Differential stiffness per unit load has names that say the load: KGTX, KGTY, KGTZ an acceleration of the body frame,
 * KGRX, KGRY, KGRZ an angular acceleration about it, KGWXX, KGWYY, KGWZZ, KGWXY, KGWYZ, KGWXZ a product of angular
 * velocities, KGF11X a force along x at grid 11.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_model.h"
#include "math/portable.h"

enum { MAX_FIELDS = 512, FIELD_SIZE = 24, MAX_NAMES = 128, INCLUDE_DEPTH = 8, PATH_SIZE = 1024, MAX_FRAMES = 16 };

/* An entry before the equations are numbered. */
typedef struct DmigEntry {
	long row_node, col_node;
	int row_component, col_component; // 0: scalar, 1..6
	int matrix;                       // which name
	int line;
	double value;
} DmigEntry;

typedef struct DmigName {
	char name[16];
	int form;
} DmigName;

typedef struct Dmig {
	CalFeModel *fe;
	CalError *error;
	DmigName names[MAX_NAMES];
	int name_count;
	DmigEntry *entries;
	int entry_count, entry_capacity;
} Dmig;

/* One card with its continuations, as fields without the first (the card's name). */
typedef struct Card {
	char name[16];
	char field[MAX_FIELDS][FIELD_SIZE];
	int count;
	int line; // where it starts
} Card;

static CalStatus memory_error(const Dmig *d) {
	return fe_file_error(d->error, d->fe->path, CAL_ERR_MEMORY, "out of memory");
}

/* ---- cards ------------------------------------------------------------------------------------- */

static void put_field(Card *card, const char *text, size_t width) {
	if (card->count == MAX_FIELDS)
		return;
	const char *zero = memchr(text, '\0', width);
	size_t length = zero ? (size_t)(zero - text) : width;
	while (length && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	if (length >= FIELD_SIZE)
		length = FIELD_SIZE - 1;
	memcpy(card->field[card->count], text, length);
	card->field[card->count++][length] = '\0';
}

/* Splits a line after its first field; comments are gone. */
static void put_line(Card *card, const char *line) {
	const char *comma = strchr(line, ',');
	if (comma) {
		const int count = memchr(line, '*', (size_t)(comma - line)) ? 4 : 8;
		for (int i = 0; i < count; i++) { // what is left out at the end is blank
			const char *next = comma ? strchr(comma + 1, ',') : NULL;
			put_field(card, comma ? comma + 1 : "", next ? (size_t)(next - comma - 1) : comma ? strlen(comma + 1) : 0);
			comma = next;
		}
		return;
	}
	const size_t length = strlen(line);
	const bool large = memchr(line, '*', length < 8 ? length : 8) != NULL;
	const int fields = large ? 4 : 8, width = large ? 16 : 8;
	for (int i = 0; i < fields; i++) {
		const size_t at = 8 + (size_t)(i * width);
		put_field(card, at < length ? line + at : "", (size_t)width);
	}
}

static void card_name(const char *line, char *name, size_t size) {
	size_t n = 0;
	for (; n + 1 < size && n < 8 && (isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_'); n++)
		name[n] = line[n];
	name[n] = '\0';
}

static bool is_continuation(const char *line) {
	return line[0] == ' ' || line[0] == '*' || line[0] == '+' || line[0] == ',' || line[0] == '\t';
}

/* ---- what the cards say ------------------------------------------------------------------------ */

static CalStatus card_error(FeText *t, const Card *card, const char *what) {
	t->line_number = card->line;
	return fe_text_error(t, CAL_ERR_INPUT, "%s: %s", card->name, what);
}

static CalStatus read_grid(FeText *t, Dmig *d, const Card *card) {
	long id, system;
	double x[3] = {0, 0, 0};
	if (card->count < 1 || !fe_integer(card->field[0], &id))
		return card_error(t, card, "expected the number of the grid");
	for (int i = 1; i <= 5 && i < card->count; i += 4)
		if (card->field[i][0] && (!fe_integer(card->field[i], &system) || system != 0))
			return card_error(t, card,
			                  "only the basic coordinate system (CP and CD blank or 0) is understood; "
			                  "transform the model first");
	for (int i = 0; i < 3 && 2 + i < card->count; i++)
		if (card->field[2 + i][0] && !fe_number(card->field[2 + i], &x[i]))
			return card_error(t, card, "a coordinate is no number");
	return fe_model_add_node(d->fe, id, (CalVec3){x[0], x[1], x[2]}) ? CAL_OK : memory_error(d);
}

static int find_name(const Dmig *d, const char *name) {
	for (int i = 0; i < d->name_count; i++)
		if (strcmp(d->names[i].name, name) == 0)
			return i;
	return -1;
}

static CalStatus read_header(FeText *t, Dmig *d, const Card *card) {
	long form, type;
	if (card->count < 4 || !fe_integer(card->field[2], &form) || !fe_integer(card->field[3], &type))
		return card_error(t, card, "the header needs name, 0, form, type");
	if (type > 2)
		return card_error(t, card, "complex matrices are not understood (type 3 and 4); punch a real one");
	if (form != 6 && form != 1)
		return card_error(t, card, "only symmetric (form 6) and square (form 1) matrices are understood");
	if (find_name(d, card->field[0]) >= 0)
		return card_error(t, card, "this matrix has a header already");
	if (d->name_count == MAX_NAMES)
		return card_error(t, card, "too many matrices in one file");
	DmigName *name = &d->names[d->name_count++];
	snprintf(name->name, sizeof name->name, "%.15s", card->field[0]);
	name->form = (int)form;
	return CAL_OK;
}

static bool parse_component(const char *field, int *component) {
	long value = 0;
	if (field[0] && !fe_integer(field, &value))
		return false;
	*component = (int)value;
	return value >= 0 && value <= 6;
}

static CalStatus read_column(FeText *t, Dmig *d, const Card *card) {
	DmigEntry entry = {.matrix = find_name(d, card->field[0]), .line = card->line};
	if (entry.matrix < 0)
		return card_error(t, card, "a column comes before the header of its matrix");
	if (card->count < 3 || !fe_integer(card->field[1], &entry.col_node) ||
	    !parse_component(card->field[2], &entry.col_component))
		return card_error(t, card, "expected the grid and component (0 to 6) of the column");
	for (int i = 4; i + 2 < card->count; i += 4) {
		if (!card->field[i][0] && !card->field[i + 2][0])
			continue;
		if (!fe_integer(card->field[i], &entry.row_node) ||
		    !parse_component(card->field[i + 1], &entry.row_component) || !fe_number(card->field[i + 2], &entry.value))
			return card_error(t, card, "expected grid, component and a finite value for each row");
		DmigEntry *entries =
			array_reserve(&d->fe->pool.allocator, d->entries, d->entry_count, 1, &d->entry_capacity, sizeof *entries);
		if (!entries)
			return memory_error(d);
		d->entries = entries;
		d->entries[d->entry_count++] = entry;
	}
	return CAL_OK;
}

static CalStatus read_card(FeText *t, Dmig *d, Card *card) {
	const int line = t->line_number;
	CalStatus status = CAL_OK;
	if (card->count == MAX_FIELDS)
		return card_error(t, card, "the card has too many continuations");
	for (char *c = card->name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (strcmp(card->name, "GRID") == 0)
		status = read_grid(t, d, card);
	else if (strcmp(card->name, "DMIG") == 0 && card->count > 1)
		status = strcmp(card->field[1], "0") == 0 ? read_header(t, d, card) : read_column(t, d, card);
	t->line_number = line;
	return status;
}

static CalStatus read_file(Dmig *d, const char *path, int depth);

static CalStatus read_include(FeText *t, Dmig *d, int depth) {
	char path[PATH_SIZE];
	char *name = fe_trim(t->line + 7);
	if (*name == '\'' || *name == '"') {
		const char quote = *name++;
		name[strcspn(name, quote == '"' ? "\"" : "'")] = '\0';
	}
	if (depth >= INCLUDE_DEPTH || !*name || !fe_path_beside(t->path, name, path, sizeof path))
		return fe_text_error(t, CAL_ERR_INPUT, "INCLUDE goes too deep or names no file");
	return read_file(d, path, depth + 1);
}

/* Lines gather in a card until the next one starts. */
static CalStatus read_lines(FeText *t, Dmig *d, Card *card, int depth) {
	CalStatus status = CAL_OK;
	while (status == CAL_OK && fe_text_next(t, &status)) {
		t->line[strcspn(t->line, "$")] = '\0';
		if (!t->line[strspn(t->line, " \t")])
			continue;
		if (is_continuation(t->line)) {
			if (card->name[0])
				put_line(card, t->line);
			continue;
		}
		if (card->name[0])
			status = read_card(t, d, card);
		card->count = 0;
		card->line = t->line_number;
		card_name(t->line, card->name, sizeof card->name);
		if (status == CAL_OK && strncmp(t->lower, "include", 7) == 0) {
			card->name[0] = '\0';
			status = read_include(t, d, depth);
		} else {
			put_line(card, t->line);
		}
	}
	return status == CAL_OK && card->name[0] ? read_card(t, d, card) : status;
}

static CalStatus read_file(Dmig *d, const char *path, int depth) {
	FeText t;
	CalStatus status = fe_model_open(d->fe, &t, path, d->error);
	if (status != CAL_OK)
		return status;
	Card *card = memory_alloc(&d->fe->pool.allocator, sizeof *card);
	if (card) {
		card->name[0] = '\0';
		card->count = 0;
		status = read_lines(&t, d, card, depth);
		memory_free(&d->fe->pool.allocator, card);
	} else {
		status = memory_error(d);
	}
	fe_text_close(&t);
	return status;
}

/* ---- equations --------------------------------------------------------------------------------- */

/* "x", "y", "z" or a product of two, at the end of a name; -1: none of them. */
static int parse_axis(const char *text, bool product) {
	static const char *const axes[] = {"X", "Y", "Z"}, *const products[] = {"XX", "YY", "ZZ", "XY", "YZ", "XZ"};
	for (int i = 0; i < (product ? 6 : 3); i++)
		if (strcmp(text, product ? products[i] : axes[i]) == 0)
			return i;
	return -1;
}

/* The load of a matrix by its name; the number of the grid for a force. */
static bool parse_load(const char *name, FeLoadStiffness *out, long *grid) {
	static const char letters[] = "TRWF"; // as in FeLoad
	char number[16];
	const char *letter = strncmp(name, "KG", 2) == 0 && name[2] ? strchr(letters, name[2]) : NULL;
	const size_t digits = letter ? strspn(name + 3, "0123456789") : 0;
	if (!letter)
		return false;
	*out = (FeLoadStiffness){.load = (FeLoad)(letter - letters), .node = -1};
	out->axis = parse_axis(name + 3 + digits, out->load == FE_SPIN);
	snprintf(number, sizeof number, "%.*s", (int)digits, name + 3);
	return out->axis >= 0 && (out->load == FE_FORCE ? fe_integer(number, grid) : digits == 0);
}

static bool is_load(const char *name) {
	FeLoadStiffness load;
	long grid;
	return parse_load(name, &load, &grid);
}

/* The matrix of that name, or the only one that starts with the letter. */
static int choose_matrix(const Dmig *d, const char *wanted, const char *usual, char letter) {
	const int exact = find_name(d, wanted ? wanted : usual);
	int found = -1;
	if (wanted || exact >= 0)
		return exact;
	for (int i = 0; i < d->name_count; i++)
		if (toupper((unsigned char)d->names[i].name[0]) == letter && !is_load(d->names[i].name)) {
			if (found >= 0)
				return -1;
			found = i;
		}
	return found;
}

static CalStatus entry_error(const Dmig *d, const DmigEntry *entry, const char *what, long node) {
	return error_set(d->error, CAL_ERR_INPUT, "%.200s:%d: error: grid %ld: %s", d->fe->path, entry->line, node, what);
}

/* Equation of a grid and component, numbered when first met; -1: no such grid, -2: no memory left for it. */
static int equation(Dmig *d, long node, int component) {
	CalFeModel *fe = d->fe;
	int index = fe_model_find(fe, node);
	if (component > 0 && index < 0)
		return -1;
	if (component == 0) { // scalar points stand in for themselves by their number
		for (int i = 0; i < fe->dof_count; i++)
			if (fe->dofs[i].node == -1 - (int)node)
				return i;
	} else if (fe->nodes[index].dof[component - 1] >= 0) {
		return fe->nodes[index].dof[component - 1];
	}
	if (fe->dof_count == FE_MAX_DOFS)
		return -2;
	fe->dofs[fe->dof_count] = component ? (FeDof){index, component - 1} : (FeDof){-1 - (int)node, 0};
	if (component)
		fe->nodes[index].dof[component - 1] = fe->dof_count;
	return fe->dof_count++;
}

static CalStatus add_entries(Dmig *d, int matrix, FeMatrix *to) {
	const bool square = d->names[matrix].form == 1;
	for (int e = 0; e < d->entry_count; e++) {
		const DmigEntry *entry = &d->entries[e];
		if (entry->matrix != matrix)
			continue;
		const int row = equation(d, entry->row_node, entry->row_component);
		const int col = equation(d, entry->col_node, entry->col_component);
		if (row == -1 || col == -1)
			return entry_error(d, entry,
			                   "there is no GRID card for it; append the GRID cards to the file, or INCLUDE them",
			                   row == -1 ? entry->row_node : entry->col_node);
		if (row < 0 || col < 0)
			return fe_file_error(d->error, d->fe->path, CAL_ERR_UNSUPPORTED, "more than %d equations", FE_MAX_DOFS);
		// A square matrix has both triangles: each entry and its mirror image count half.
		if (!fe_matrix_add(d->fe, to, row, col, square && row != col ? entry->value / 2 : entry->value))
			return memory_error(d);
	}
	return CAL_OK;
}

/* Compares A x with A'x for an x without pattern: a square matrix must be symmetric all the same. */
static CalStatus check_symmetry(const Dmig *d, int matrix) {
	double difference = 0, size = 0;
	if (d->names[matrix].form == 6)
		return CAL_OK;
	for (int e = 0; e < d->entry_count; e++) {
		const DmigEntry *entry = &d->entries[e];
		const double row = portable_sin((double)(7 * entry->row_node + entry->row_component));
		const double col = portable_sin((double)(7 * entry->col_node + entry->col_component));
		if (entry->matrix != matrix)
			continue;
		difference += entry->value * (row * col * col - col * row * row);
		size += fabs(entry->value);
	}
	if (fabs(difference) <= 1e-6 * size)
		return CAL_OK;
	return fe_file_error(d->error, d->fe->path, CAL_ERR_INPUT, "matrix %s is not symmetric; a structure's matrix is",
	                     d->names[matrix].name);
}

static CalStatus add_frames(Dmig *d) {
	CalFeModel *fe = d->fe;
	fe->frames = pool_array(&fe->pool, MAX_FRAMES, sizeof *fe->frames);
	if (!fe->frames)
		return memory_error(d);
	for (int i = 0; i < fe->node_count; i++) {
		char name[32];
		if (!fe_node_is_frame(&fe->nodes[i]))
			continue;
		if (fe->frame_count == MAX_FRAMES) { // a whole model with six components per grid: the user has to choose
			fe->frame_count = 0;
			return CAL_OK;
		}
		snprintf(name, sizeof name, "grid%ld", fe->nodes[i].id);
		const char *copy = pool_text(&fe->pool, name, strlen(name));
		if (!copy)
			return memory_error(d);
		fe->frames[fe->frame_count++] = (FeFrame){copy, i};
	}
	return CAL_OK;
}

/* Matrices of differential stiffness; they have the equations of the stiffness. */
static CalStatus add_loads(Dmig *d) {
	CalFeModel *fe = d->fe;
	const int known = fe->dof_count;
	CalStatus status = CAL_OK;
	fe->loads = pool_array(&fe->pool, (size_t)d->name_count, sizeof *fe->loads);
	if (!fe->loads)
		return memory_error(d);
	for (int i = 0; i < d->name_count && status == CAL_OK; i++) {
		FeLoadStiffness *load = &fe->loads[fe->load_count];
		long grid = 0;
		if (!parse_load(d->names[i].name, load, &grid))
			continue;
		fe->load_count++;
		load->node = fe_model_find(fe, grid);
		if (load->load == FE_FORCE && load->node < 0)
			return fe_file_error(d->error, fe->path, CAL_ERR_INPUT, "matrix %s: there is no GRID card for %ld",
			                     d->names[i].name, grid);
		status = check_symmetry(d, i);
		if (status == CAL_OK)
			status = add_entries(d, i, &load->K);
		if (status == CAL_OK && fe->dof_count != known)
			status = fe_file_error(d->error, fe->path, CAL_ERR_INPUT,
			                       "%s has equations that the stiffness does not know; are they of one run?",
			                       d->names[i].name);
	}
	return status;
}

static CalStatus number_equations(Dmig *d, const char *stiffness, const char *mass) {
	CalFeModel *fe = d->fe;
	const long twice = fe_model_sort_nodes(fe);
	if (twice >= 0)
		return fe_file_error(d->error, fe->path, CAL_ERR_INPUT, "grid %ld is given twice in different places", twice);
	const int k = choose_matrix(d, stiffness, "KAAX", 'K'), m = choose_matrix(d, mass, "MAAX", 'M');
	if (k < 0 || m < 0)
		return fe_file_error(d->error, fe->path, CAL_ERR_INPUT,
		                     "the file has %d DMIG matrices, none of them the %s matrix (%s); name it", d->name_count,
		                     k < 0 ? "stiffness" : "mass",
		                     k < 0 ? (stiffness ? stiffness : "KAAX") : (mass ? mass : "MAAX"));
	fe->dofs = pool_array(&fe->pool, FE_MAX_DOFS, sizeof *fe->dofs);
	if (!fe->dofs)
		return memory_error(d);
	CalStatus status = check_symmetry(d, k);
	if (status == CAL_OK)
		status = check_symmetry(d, m);
	if (status == CAL_OK)
		status = add_entries(d, k, &fe->K);
	const int in_stiffness = fe->dof_count;
	if (status == CAL_OK)
		status = add_entries(d, m, &fe->M);
	if (status == CAL_OK && fe->dof_count != in_stiffness)
		status = fe_file_error(d->error, fe->path, CAL_ERR_INPUT,
		                       "%s has %d equations, %s adds %d that it does not know; are they of one run?",
		                       d->names[k].name, in_stiffness, d->names[m].name, fe->dof_count - in_stiffness);
	if (status == CAL_OK)
		status = add_loads(d);
	for (int i = 0; i < fe->dof_count; i++)
		if (fe->dofs[i].node < 0)
			fe->dofs[i].node = -1;
	return status == CAL_OK ? add_frames(d) : status;
}

CalStatus cal_fe_read_dmig(const char *path, const char *stiffness, const char *mass, const CalFeUnits *units,
                           const CalAllocator *allocator, CalFeModel **fe, CalError *error) {
	if (!path || !fe)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_dmig: path or fe is NULL");
	*fe = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_dmig: the allocator needs both functions or none");
	CalFeModel *made = fe_model_new(path, "DMIG", units, allocator);
	if (!made)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	Dmig d = {.fe = made, .error = error};
	CalStatus status = read_file(&d, path, 0);
	if (status == CAL_OK)
		status = number_equations(&d, stiffness, mass);
	memory_free(&made->pool.allocator, d.entries);
	return fe_model_complete(made, status, fe, error);
}
