// SPDX-License-Identifier: Apache-2.0
/*
 * fe_calculix_mesh.h — elements, sets and materials of a CalculiX deck: mainly for the geometric stiffness.
 *
 * A deck that cannot be understood in this respect is read without its elements; CalFeModel.mesh_fault says why.
 */
#ifndef CALDER_IO_FE_FE_CALCULIX_MESH_H
#define CALDER_IO_FE_FE_CALCULIX_MESH_H

#include "fe/fe_model.h"

enum { DECK_NAME = 64 };

typedef struct DeckSet {
	char name[DECK_NAME];
	bool of_elements;
	int count, capacity;
	long *ids;
} DeckSet;

typedef struct DeckElement {
	long id;
	int type;
	int given; // nodes read so far
	long node[FE_ELEMENT_NODES];
} DeckElement;

typedef struct DeckMaterial {
	char name[DECK_NAME];
	double young, poisson; // young 0: not given
} DeckMaterial;

typedef struct DeckSection {
	char elset[DECK_NAME], material[DECK_NAME];
} DeckSection;

typedef enum DeckBlock { DECK_OTHER, DECK_NODES, DECK_ELEMENTS, DECK_SET, DECK_ELASTIC } DeckBlock;

typedef struct DeckMesh {
	CalFeModel *fe;
	DeckBlock block;
	int set;       // that the lines of the block fill, -1: none
	int type;      // of the elements of the block
	bool generate; // first, last, step
	DeckSet *sets;
	int set_count, set_capacity;
	DeckElement *elements;
	int element_count, element_capacity;
	DeckMaterial *materials;
	int material_count, material_capacity;
	DeckSection *sections;
	int section_count, section_capacity;
	bool no_memory;
	char expanded[DECK_NAME]; // the first type of element that CalculiX expands to solids, "": none
	char internal[DECK_NAME]; // the first type with nodes of its own beside those of the deck
} DeckMesh;

/** A keyword line without blanks, in lower case. */
void deck_mesh_keyword(DeckMesh *mesh, const char *keyword);
/** A data line of one of its blocks; it is cut up. */
void deck_mesh_line(DeckMesh *mesh, char *line);
/** A node of the block that is being read. */
void deck_mesh_node(DeckMesh *mesh, long id);

/** Ties the nodes of a set (or of the elements of one) to a node. Nodes are sorted. */
void deck_mesh_tie(DeckMesh *mesh, const char *set, bool of_elements, int node);
/** Elements, their nodes and materials into the model; false: out of memory. */
bool deck_mesh_complete(DeckMesh *mesh);

/** The next comma-separated field of *rest, cut out of it; NULL at the end. */
char *deck_next_field(char **rest);

#endif
