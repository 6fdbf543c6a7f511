// SPDX-License-Identifier: Apache-2.0
/*
 * fe_calculix_mesh.c — *ELEMENT, *NSET, *ELSET, *ELASTIC and *SOLID SECTION of a CalculiX deck; see fe_calculix_mesh.h.
 */
#include "io/fe/fe_calculix_mesh.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 1 << 22 };

static void fault(DeckMesh *mesh, const char *format, ...) ERROR_PRINTF(2, 3);

/* Keeps the first reason. */
static void fault(DeckMesh *mesh, const char *format, ...) {
	va_list args;
	va_start(args, format);
	if (!mesh->fe->mesh_fault[0])
		text_format(mesh->fe->mesh_fault, sizeof mesh->fe->mesh_fault, format, args);
	va_end(args);
}

/* Room for one more item of *array. */
static bool grow(DeckMesh *mesh, void **array, int count, int *capacity, size_t size) {
	if (count < *capacity)
		return true;
	const int more = 2 * *capacity + 16;
	void *copy = more > MOST_IDS ? NULL : pool_array(&mesh->fe->pool, (size_t)more, size);
	mesh->no_memory |= !copy;
	if (!copy)
		return false;
	if (count)
		memcpy(copy, *array, (size_t)count * size);
	*array = copy;
	*capacity = more;
	return true;
}

char *deck_next_field(char **rest) {
	if (!*rest)
		return NULL;
	char *field = *rest, *comma = strchr(field, ',');
	if (comma)
		*comma = '\0';
	*rest = comma ? comma + 1 : NULL;
	return fe_trim(field);
}

/* ---- sets -------------------------------------------------------------------------------------- */

static int find_set(const DeckMesh *mesh, const char *name, bool of_elements) {
	for (int i = 0; i < mesh->set_count; i++)
		if (mesh->sets[i].of_elements == of_elements && strcmp(mesh->sets[i].name, name) == 0)
			return i;
	return -1;
}

static int need_set(DeckMesh *mesh, const char *name, bool of_elements) {
	const int known = find_set(mesh, name, of_elements);
	if (known >= 0 || !*name)
		return known;
	void *sets = mesh->sets;
	if (!grow(mesh, &sets, mesh->set_count, &mesh->set_capacity, sizeof *mesh->sets))
		return -1;
	mesh->sets = sets;
	DeckSet *set = &mesh->sets[mesh->set_count];
	*set = (DeckSet){.of_elements = of_elements};
	snprintf(set->name, sizeof set->name, "%.63s", name);
	return mesh->set_count++;
}

static void add_to_set(DeckMesh *mesh, int index, long id) {
	DeckSet *set = index < 0 ? NULL : &mesh->sets[index];
	void *ids = set ? set->ids : NULL;
	if (!set || !grow(mesh, &ids, set->count, &set->capacity, sizeof *set->ids))
		return;
	set->ids = ids;
	set->ids[set->count++] = id;
}

void deck_mesh_node(DeckMesh *mesh, long id) { add_to_set(mesh, mesh->set, id); }

static void read_generated(DeckMesh *mesh, char *line) {
	long range[3] = {0, 0, 1};
	for (int i = 0; i < 3; i++) {
		const char *field = deck_next_field(&line);
		if (field && *field && !fe_integer(field, &range[i]))
			fault(mesh, "a set with GENERATE needs first, last and step");
	}
	if (range[0] < 1 || range[1] > INT_MAX || range[2] < 1 || range[2] > INT_MAX ||
	    (range[1] - range[0]) / range[2] > MOST_IDS) {
		fault(mesh, "a set is generated from %ld to %ld with the step %ld", range[0], range[1], range[2]);
		return;
	}
	for (long id = range[0]; id <= range[1]; id += range[2])
		add_to_set(mesh, mesh->set, id);
}

/* Numbers, or names of sets of the same kind that were given before. */
static void read_set(DeckMesh *mesh, char *line) {
	if (mesh->set < 0)
		return;
	if (mesh->generate) {
		read_generated(mesh, line);
		return;
	}
	for (char *field; (field = deck_next_field(&line));) {
		long id;
		if (!*field)
			continue;
		if (fe_integer(field, &id)) {
			add_to_set(mesh, mesh->set, id);
			continue;
		}
		const int other = find_set(mesh, field, mesh->sets[mesh->set].of_elements);
		for (int i = 0; other >= 0 && other != mesh->set && i < mesh->sets[other].count; i++)
			add_to_set(mesh, mesh->set, mesh->sets[other].ids[i]);
	}
}

/* ---- elements and materials ---------------------------------------------------------------------- */

/* A line holds an element, or continues the last one. */
static void read_element(DeckMesh *mesh, char *line) {
	const int wanted = mesh->type < 0 ? 0 : fe_element_node_count(mesh->type);
	DeckElement *last = mesh->element_count ? &mesh->elements[mesh->element_count - 1] : NULL;
	bool open = last && last->given < fe_element_node_count(last->type);
	if (wanted == 0)
		return;
	for (char *field; (field = deck_next_field(&line));) {
		long number;
		if (!*field)
			continue;
		if (!fe_integer(field, &number) || (open && last->given == fe_element_node_count(last->type))) {
			fault(mesh, "the line after element %ld is no element", last ? last->id : 0);
			return;
		}
		if (open) {
			last->node[last->given++] = number;
			continue;
		}
		void *elements = mesh->elements;
		if (!grow(mesh, &elements, mesh->element_count, &mesh->element_capacity, sizeof *mesh->elements))
			return;
		mesh->elements = elements;
		last = &mesh->elements[mesh->element_count++];
		*last = (DeckElement){.id = number, .type = mesh->type};
		add_to_set(mesh, mesh->set, number);
		open = true;
	}
}

static void read_elastic(DeckMesh *mesh, char *line) {
	DeckMaterial *material = mesh->material_count ? &mesh->materials[mesh->material_count - 1] : NULL;
	const char *young = deck_next_field(&line), *poisson = deck_next_field(&line);
	if (!material || material->young > 0) // further lines are for other temperatures
		return;
	if (!young || !poisson || !fe_number(young, &material->young) || !fe_number(poisson, &material->poisson) ||
	    !(material->young > 0) || !(material->poisson > -1 && material->poisson < 0.5))
		fault(mesh, "*ELASTIC needs Young's modulus and Poisson's ratio of an isotropic material");
}

void deck_mesh_line(DeckMesh *mesh, char *line) {
	if (mesh->block == DECK_ELEMENTS)
		read_element(mesh, line);
	else if (mesh->block == DECK_SET)
		read_set(mesh, line);
	else if (mesh->block == DECK_ELASTIC)
		read_elastic(mesh, line);
}

/* ---- keywords ---------------------------------------------------------------------------------- */

/* Value of "key=value" among the parameters, "" if there is none. */
static void parameter(const char *keyword, const char *key, char value[DECK_NAME]) {
	const size_t length = strlen(key);
	value[0] = '\0';
	for (const char *at = strchr(keyword, ','); at; at = strchr(at, ',')) {
		at++;
		if (strncmp(at, key, length) == 0 && at[length] == '=')
			snprintf(value, DECK_NAME, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
	}
}

static bool is_keyword(const char *keyword, const char *name) {
	const size_t length = strlen(name);
	return strncmp(keyword, name, length) == 0 && (keyword[length] == '\0' || keyword[length] == ',');
}

/* Shells, beams, trusses, membranes and plane elements become solids in CalculiX; masses, springs and the like do not. */
static bool is_expanded(const char *type) {
	static const char *const kinds[] = {"b2",  "b3",  "b1",  "s3",  "s4",  "s6", "s8",
	                                    "cps", "cpe", "cax", "m3d", "t3d", "t2d"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strncmp(type, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static void open_elements(DeckMesh *mesh, const char *keyword) {
	char name[DECK_NAME];
	parameter(keyword, "type", name);
	mesh->block = DECK_ELEMENTS;
	mesh->type = fe_element_type(name);
	if (is_expanded(name) && !mesh->expanded[0])
		memcpy(mesh->expanded, name, sizeof mesh->expanded);
	if (strcmp(name, "c3d8i") == 0) {
		memcpy(mesh->internal, name, sizeof mesh->internal);
		fault(mesh, "the stresses of elements of type C3D8I (incompatible modes) are not known; use C3D20R");
	}
	if (mesh->type < 0)
		fault(mesh, "elements of type \"%.20s\" are not known: solids are C3D4, 6, 8, 8R, 10, 15, 20 and 20R", name);
	parameter(keyword, "elset", name);
	mesh->set = need_set(mesh, name, true);
}

static void open_material(DeckMesh *mesh, const char *keyword) {
	void *materials = mesh->materials;
	if (!grow(mesh, &materials, mesh->material_count, &mesh->material_capacity, sizeof *mesh->materials))
		return;
	mesh->materials = materials;
	DeckMaterial *material = &mesh->materials[mesh->material_count++];
	*material = (DeckMaterial){0};
	parameter(keyword, "name", material->name);
}

static void add_section(DeckMesh *mesh, const char *keyword) {
	void *sections = mesh->sections;
	if (!grow(mesh, &sections, mesh->section_count, &mesh->section_capacity, sizeof *mesh->sections))
		return;
	mesh->sections = sections;
	DeckSection *section = &mesh->sections[mesh->section_count++];
	parameter(keyword, "elset", section->elset);
	parameter(keyword, "material", section->material);
}

void deck_mesh_keyword(DeckMesh *mesh, const char *keyword) {
	char name[DECK_NAME];
	const bool nset = is_keyword(keyword, "*nset"), elset = is_keyword(keyword, "*elset");
	mesh->block = DECK_OTHER;
	mesh->set = -1;
	mesh->generate = strstr(keyword, ",generate") != NULL;
	if (is_keyword(keyword, "*node")) {
		mesh->block = DECK_NODES;
		parameter(keyword, "nset", name);
		mesh->set = need_set(mesh, name, false);
	} else if (is_keyword(keyword, "*element")) {
		open_elements(mesh, keyword);
	} else if (nset || elset) {
		mesh->block = DECK_SET;
		parameter(keyword, nset ? "nset" : "elset", name);
		mesh->set = need_set(mesh, name, elset);
	} else if (is_keyword(keyword, "*material")) {
		open_material(mesh, keyword);
	} else if (is_keyword(keyword, "*elastic")) {
		parameter(keyword, "type", name);
		mesh->block = DECK_ELASTIC;
		if (*name && strcmp(name, "iso") != 0)
			fault(mesh, "only isotropic materials are understood (*ELASTIC, TYPE=ISO)");
	} else if (is_keyword(keyword, "*solidsection")) {
		add_section(mesh, keyword);
	}
}

/* ---- all together ------------------------------------------------------------------------------ */

static bool make_ties(DeckMesh *mesh) {
	CalFeModel *fe = mesh->fe;
	if (fe->tied)
		return true;
	fe->tied = pool_array(&fe->pool, (size_t)fe->node_count, sizeof *fe->tied);
	for (int i = 0; fe->tied && i < fe->node_count; i++)
		fe->tied[i] = -1;
	mesh->no_memory |= !fe->tied;
	return fe->tied != NULL;
}

static void tie(DeckMesh *mesh, long id, int node) {
	const int index = fe_model_find(mesh->fe, id);
	if (index >= 0 && index != node)
		mesh->fe->tied[index] = node;
}

static int by_number(const void *a, const void *b) {
	const long x = ((const DeckElement *)a)->id, y = ((const DeckElement *)b)->id;
	return (x > y) - (x < y);
}

/* Elements are sorted. */
static const DeckElement *find_element(const DeckMesh *mesh, long id) {
	const DeckElement key = {.id = id};
	return mesh->element_count ? bsearch(&key, mesh->elements, (size_t)mesh->element_count, sizeof key, by_number)
	                           : NULL;
}

void deck_mesh_tie(DeckMesh *mesh, const char *name, bool of_elements, int node) {
	const int found = find_set(mesh, name, of_elements);
	const DeckSet *set = found < 0 ? NULL : &mesh->sets[found];
	if (of_elements && mesh->element_count)
		qsort(mesh->elements, (size_t)mesh->element_count, sizeof *mesh->elements, by_number);
	if (!set)
		fault(mesh, "the set of a *RIGID BODY is not in the deck");
	for (int i = 0; set && make_ties(mesh) && i < set->count; i++) {
		const DeckElement *element = of_elements ? find_element(mesh, set->ids[i]) : NULL;
		for (int k = 0; element && k < element->given; k++)
			tie(mesh, element->node[k], node);
		if (!of_elements)
			tie(mesh, set->ids[i], node);
	}
}

/* Material of a set of elements, NULL: the deck gives none. */
static const DeckMaterial *section_material(const DeckMesh *mesh, const DeckSection *section) {
	for (int k = 0; k < mesh->material_count; k++)
		if (strcmp(section->material, mesh->materials[k].name) == 0 && mesh->materials[k].young > 0)
			return &mesh->materials[k];
	return NULL;
}

static int by_id(const void *a, const void *b) {
	const long x = ((const FeElement *)a)->id, y = ((const FeElement *)b)->id;
	return (x > y) - (x < y);
}

static void set_materials(DeckMesh *mesh) {
	CalFeModel *fe = mesh->fe;
	if (fe->element_count)
		qsort(fe->elements, (size_t)fe->element_count, sizeof *fe->elements, by_id);
	for (int s = 0; s < mesh->section_count; s++) {
		const DeckMaterial *material = section_material(mesh, &mesh->sections[s]);
		const int set = find_set(mesh, mesh->sections[s].elset, true);
		for (int i = 0; material && set >= 0 && i < mesh->sets[set].count; i++) {
			const FeElement key = {.id = mesh->sets[set].ids[i]};
			FeElement *found = bsearch(&key, fe->elements, (size_t)fe->element_count, sizeof key, by_id);
			if (found)
				found->young = material->young, found->poisson = material->poisson;
		}
	}
	for (int e = 0; e < fe->element_count; e++)
		if (!(fe->elements[e].young > 0))
			fault(mesh, "element %ld has no *SOLID SECTION with an isotropic *ELASTIC material", fe->elements[e].id);
}

static bool node_moves(const CalFeModel *fe, int node) {
	const int *dof = fe->nodes[node].dof;
	return fe->tied[node] >= 0 || (dof[0] >= 0 && dof[1] >= 0 && dof[2] >= 0);
}

static void set_nodes(DeckMesh *mesh, const DeckElement *from, FeElement *to) {
	*to = (FeElement){.id = from->id, .type = from->type};
	if (from->given < fe_element_node_count(from->type))
		fault(mesh, "element %ld has too few nodes", from->id);
	for (int k = 0; k < from->given; k++) {
		to->node[k] = fe_model_find(mesh->fe, from->node[k]);
		if (to->node[k] < 0)
			fault(mesh, "element %ld has a node without coordinates", from->id);
		else if (!node_moves(mesh->fe, to->node[k]))
			fault(mesh,
			      "node %ld has no equations of its own and is on no *RIGID BODY: other constraints (*EQUATION, "
			      "*MPC, *TIE) are not understood",
			      from->node[k]);
	}
}

bool deck_mesh_complete(DeckMesh *mesh) {
	CalFeModel *fe = mesh->fe;
	fe->elements = pool_array(&fe->pool, (size_t)mesh->element_count, sizeof *fe->elements);
	if (mesh->no_memory || !fe->elements || !make_ties(mesh))
		return false;
	for (int e = 0; e < mesh->element_count; e++)
		set_nodes(mesh, &mesh->elements[e], &fe->elements[e]);
	fe->element_count = mesh->element_count;
	set_materials(mesh);
	if (fe->element_count == 0)
		fault(mesh, "the deck has no elements");
	return true;
}
