// SPDX-License-Identifier: Apache-2.0
/*
 * xml_tree.h — an XML document as a tree of elements that know their places and whether anybody looked at them.
 *
 * expat reads the text. Looking up an attribute or a child marks it as used; what is left unused at the end is what a
 * reader does not know, and goes to the import report (io/import). So nothing of a file is dropped without a word, and no
 * reader keeps a list of what it ignores.
 *
 * Input that could hurt is refused with its place: document types and entities of its own, depth, size, too many elements.
 * Namespaces are not resolved: a name is what stands in the text. Comments and processing instructions are skipped.
 * Without expat (CALDER_WITH_EXPAT) xml_parse() returns CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_IO_XML_XML_TREE_H
#define CALDER_IO_XML_XML_TREE_H

#include <calder/base.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
	XML_MAX_DEPTH = 1024,       // nesting
	XML_MAX_BYTES = 1 << 28,    // of a document
	XML_MAX_ELEMENTS = 1 << 22, // of a document with all that it includes
	XML_MAX_ATTRIBUTE = 1 << 24 // bytes of one attribute, and of the text of one element
};

typedef struct XmlAttribute {
	const char *name, *value;
	bool used;
} XmlAttribute;

typedef struct XmlElement XmlElement;
struct XmlElement {
	const char *name;
	const char *text; // character data of its own, blanks at its ends cut off; "": none
	const char *file; // that it stands in, as it was opened
	int line, column; // of its tag, from 1
	int attribute_count : 30;
	bool used : 1;                         // a reader knows the element
	bool text_used : 1;                    // and its text
	uint16_t attribute_marks, child_marks; // xml_mark() of all attributes and children: most lookups find nothing
	XmlAttribute *attributes;
	XmlElement *parent, *first, *last, *next; // children in the order of the file
};

typedef struct XmlTree XmlTree;

/** name stands for the file in messages. */
CalStatus xml_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, XmlTree **tree,
                    CalError *error);
CalStatus xml_read(const char *path, const CalAllocator *allocator, XmlTree **tree, CalError *error);
void xml_destroy(XmlTree *tree); // accepts NULL

XmlElement *xml_root(const XmlTree *tree);
/** Bytes of the text that it was read from. */
size_t xml_length(const XmlTree *tree);
/** Zeroed memory that lives as long as the tree, and a copy of a text in it; NULL: out of memory. */
void *xml_array(XmlTree *tree, size_t count, size_t size);
char *xml_text(XmlTree *tree, const char *text);

/** Whether text begins like an XML document, and the name of its root element into root ("" if it has none). */
bool xml_find_root(const char *text, size_t length, char *root, size_t size);

/** Whether the text of the document has neither '$' nor ':' anywhere: no macro in it, no name with a prefix. */
bool xml_is_plain(const XmlTree *tree);

/** False: no element of the document, with all that it includes, has or had that name; true: look. */
bool xml_may_hold(const XmlTree *tree, const char *name);

/** One of 16 bits for a name, by its first two letters. */
static inline unsigned xml_mark(const char *name) {
	return 1u << (((unsigned char)name[0] + 3u * (unsigned char)name[1]) & 15u);
}
/** False: the element has no such attribute; true: look. */
static inline bool xml_may_have(const XmlElement *element, const char *attribute) {
	return element && (element->attribute_marks & xml_mark(attribute));
}

/* ---- looking, which marks as used ----------------------------------------------------------------- */

/** Value of an attribute; NULL: it is not there. */
const char *xml_get(XmlElement *element, const char *attribute);
/** First child of that name; NULL: there is none. element may be NULL. */
XmlElement *xml_child(XmlElement *element, const char *name);
/** The next sibling of the same name. */
XmlElement *xml_again(XmlElement *element);
/** Text of the element; "": it has none. */
const char *xml_content(XmlElement *element);
/** Marks an element and all inside: it was dealt with as a whole. */
void xml_use_all(XmlElement *element);

/* ---- looking without marking ---------------------------------------------------------------------- */

bool xml_is(const XmlElement *element, const char *name);
const char *xml_peek(const XmlElement *element, const char *attribute);

/* ---- editing: files in files, elements that stand for several ------------------------------------- */

/** Puts the children of another document's root in the place of an element, which is gone; the tree adopts the document. */
CalStatus xml_replace(XmlTree *tree, XmlElement *element, XmlTree *other);
/** A deep copy, unused, without parent; NULL: out of memory or of XML_MAX_ELEMENTS. */
XmlElement *xml_copy(XmlTree *tree, const XmlElement *element);
/** Whether the tree has XML_MAX_ELEMENTS. */
bool xml_is_full(const XmlTree *tree);
/** Hangs an element without parent after a child of parent; after NULL: as the first. */
void xml_insert(XmlElement *parent, XmlElement *after, XmlElement *element);
/** Takes an element out of its parent. */
void xml_remove(XmlElement *element);
/** Sets an attribute, which may be new; false: out of memory. It is not used yet. */
bool xml_set(XmlTree *tree, XmlElement *element, const char *attribute, const char *value);

/* ---- messages ------------------------------------------------------------------------------------- */

/** "file:line:column: error: ..." into error, and status back. */
CalStatus xml_error(CalError *error, const XmlElement *element, CalStatus status, const char *format, ...)
	ERROR_PRINTF(4, 5);
/** "file:line:column" into buffer, as the builder's `place`. */
const char *xml_place(const XmlElement *element, char *buffer, size_t size);

#endif
